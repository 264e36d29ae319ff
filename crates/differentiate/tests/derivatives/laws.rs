//! The laws that every derivative obeys.

use lambada_anf::Random;
use lambada_prim::{ScalarTy, Tensor};

use crate::program::{Point, Program, axpy, dot, elements};

/// Random reals of the shape of others.
pub fn like(random: &mut Random, tensors: &[Tensor]) -> Vec<Tensor> {
    let one = |t: &Tensor, random: &mut Random| {
        Tensor::reals(t.dims.clone(), elements(t).iter().map(|_| random.real()).collect())
    };
    tensors.iter().map(|t| one(t, random)).collect()
}

fn bits(tensors: &[Tensor]) -> Vec<u64> {
    tensors
        .iter()
        .flat_map(|t| (0..t.data.len()).map(|k| t.data.get(k)))
        .map(|s| if s.ty() == ScalarTy::Real { s.real().to_bits() } else { 0 })
        .collect()
}

fn close(a: f64, b: f64, tolerance: f64, scale: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + scale + a.abs().max(b.abs()))
        || a == b
        || (a.is_nan() && b.is_nan())
}

fn scale(tensors: &[Tensor]) -> f64 {
    tensors.iter().flat_map(elements).fold(0.0, |m, x| m.max(x.abs()))
}

/// How closely differences must agree.
#[derive(Clone, Copy)]
pub struct Strictness {
    pub differences: Option<f64>,
    pub dot: f64,
}

pub const STRICT: Strictness = Strictness { differences: Some(1e-5), dot: 1e-9 };

/// Checks all laws at a point; false where the program fails there, as its derivatives then must.
pub fn laws(
    program: &Program,
    at: &Point,
    random: &mut Random,
    strictness: Strictness,
) -> Result<bool, String> {
    program.check("the program");
    let (jvp, vjp) = (program.forward(), program.reverse());
    let explain = |what: &str| {
        format!("{what}\n{}\nforward {}\nreverse {}", program.show(), jvp.show(), vjp.show())
    };
    let primal = match program.run(at) {
        Ok((primal, _)) => primal,
        Err(message) => {
            return fails(&jvp, &vjp, program, at, random, &message)
                .map(|()| false)
                .map_err(|what| explain(&what));
        }
    };
    let real: Vec<Tensor> = primal.iter().filter(|t| t.elem() == ScalarTy::Real).cloned().collect();
    let (dx, w) = (like(random, &at.params), like(random, &real));
    let with = |extra: &[Tensor]| Point {
        constants: at.constants.clone(),
        params: [&at.params, extra].concat(),
    };
    let (forward, _) = jvp.run(&with(&dx)).map_err(|e| explain(&format!("forward fails: {e}")))?;
    let (reverse, _) = vjp.run(&with(&w)).map_err(|e| explain(&format!("reverse fails: {e}")))?;
    let (dy, gradient) = (&forward[primal.len()..], &reverse[primal.len()..]);
    if bits(&primal) != bits(&forward[..primal.len()])
        || bits(&primal) != bits(&reverse[..primal.len()])
    {
        return Err(explain("the primal is not kept"));
    }
    let (left, right) = (dot(dy, &w), dot(&dx, gradient));
    // Infinities in the middle, from extrema of nothing, meet zeros in different orders.
    if left.is_nan() || right.is_nan() {
        return Ok(true);
    }
    if !close(left, right, strictness.dot, scale(dy) + scale(gradient)) {
        return Err(explain(&format!("⟨Jv, w⟩ = {left}, ⟨v, Jᵀw⟩ = {right}")));
    }
    let w2 = like(random, &real);
    let (second, _) = vjp.run(&with(&w2)).map_err(|e| explain(&e))?;
    let (both, _) = vjp.run(&with(&axpy(&w, -3.0, &w2))).map_err(|e| explain(&e))?;
    let expected = axpy(gradient, -3.0, &second[primal.len()..]);
    same(&both[primal.len()..], &expected, 1e-9)
        .map_err(|e| explain(&format!("the pullback is not linear: {e}")))?;
    let finite = real.iter().chain(dy).flat_map(elements).all(|x| x.abs() < 100.0);
    if let Some(tolerance) = strictness.differences.filter(|_| finite) {
        differences(program, at, &dx, dy, tolerance).map_err(|e| explain(&e))?;
    }
    Ok(true)
}

/// Where the primal fails, so do the derivatives, with the same message.
fn fails(
    jvp: &Program,
    vjp: &Program,
    program: &Program,
    at: &Point,
    random: &mut Random,
    message: &str,
) -> Result<(), String> {
    let forward = jvp.run(&Point {
        params: [at.params.clone(), like(random, &at.params)].concat(),
        ..at.clone()
    });
    if forward.as_ref().err().is_none_or(|m| m != message) {
        return Err(format!("the primal fails ({message}), forward gives {forward:?}"));
    }
    // Sizes of results may be unknown where the program fails: a pullback with scalars only.
    let scalars = program.f.results.iter().all(|ty| ty.dims.is_empty());
    if scalars {
        let seeds = program
            .f
            .results
            .iter()
            .filter(|ty| ty.elem == ScalarTy::Real)
            .map(|_| Tensor::reals(vec![], vec![1.0]))
            .collect();
        let reverse = vjp.run(&Point { params: [at.params.clone(), seeds].concat(), ..at.clone() });
        if reverse.as_ref().err().is_none_or(|m| m != message) {
            return Err(format!("the primal fails ({message}), reverse gives {reverse:?}"));
        }
    }
    Ok(())
}

pub fn same(a: &[Tensor], b: &[Tensor], tolerance: f64) -> Result<(), String> {
    let scale = scale(a);
    for (k, (a, b)) in a.iter().zip(b).enumerate() {
        if a.dims != b.dims {
            return Err(format!("result {k} has sizes {:?} and {:?}", a.dims, b.dims));
        }
        if !elements(a).iter().zip(elements(b)).all(|(a, b)| close(*a, *b, tolerance, scale)) {
            return Err(format!("result {k}: {a:?} and {b:?}"));
        }
    }
    Ok(())
}

/// Central differences along `dx` against the tangents.
fn differences(
    program: &Program,
    at: &Point,
    dx: &[Tensor],
    dy: &[Tensor],
    tolerance: f64,
) -> Result<(), String> {
    let at_step = |h: f64| {
        let point = Point { params: axpy(&at.params, h, dx), ..at.clone() };
        let results = program.run(&point).map_err(|e| format!("a neighbor fails: {e}"))?.0;
        Ok::<_, String>(
            results.into_iter().filter(|t| t.elem() == ScalarTy::Real).collect::<Vec<_>>(),
        )
    };
    let slope =
        |h: f64| Ok::<_, String>(axpy(&scaled(&at_step(h)?, 0.5 / h), -0.5 / h, &at_step(-h)?));
    // Two steps and their extrapolation: the error is of order h⁴.
    let (coarse, fine) = (slope(2e-4)?, slope(1e-4)?);
    let expected = axpy(&scaled(&fine, 4.0 / 3.0), -1.0 / 3.0, &coarse);
    same(dy, &expected, tolerance).map_err(|e| format!("forward and differences: {e}"))
}

fn scaled(a: &[Tensor], k: f64) -> Vec<Tensor> {
    a.iter()
        .map(|t| Tensor::reals(t.dims.clone(), elements(t).iter().map(|x| k * x).collect()))
        .collect()
}
