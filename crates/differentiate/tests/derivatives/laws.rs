//! The laws that every derivative obeys.

use lambada_anf::{Block, Exp, Nest, Out, Random};
use lambada_prim::{ReduceOp, ScalarTy, Tensor};
use lambada_testkit::{Confirmed, Tolerance, all_close, close, confirm};

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

fn scale(tensors: &[Tensor]) -> f64 {
    tensors.iter().flat_map(elements).filter(|x| x.is_finite()).fold(0.0, |m, x| m.max(x.abs()))
}

/// Result of the laws at a point where they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The program fails, and so do its derivatives.
    Fails,
    /// Both derivatives are NaN; or one of them, of a program with extrema: that of no elements is
    /// an infinity, which meets zeros in different orders.
    Nan,
    /// The laws hold; the counts of components that differences confirmed.
    Holds(Confirmed),
}

/// How closely forward and reverse derivatives agree.
pub const CLOSELY: f64 = 1e-9;

/// Checks all laws at a point.
pub fn laws(
    program: &Program,
    at: &Point,
    random: &mut Random,
    closely: f64,
) -> Result<Outcome, String> {
    program.check("the program");
    let (jvp, vjp) = (program.forward(), program.reverse());
    let explain = |what: &str| {
        format!("{what}\n{}\nforward {}\nreverse {}", program.show(), jvp.show(), vjp.show())
    };
    let primal = match program.run(at) {
        Ok((primal, _)) => primal,
        Err(message) => {
            return fails(&jvp, &vjp, program, at, random, &message)
                .map(|()| Outcome::Fails)
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
    let size = 1.0 + scale(dy) + scale(gradient);
    let tolerance = Tolerance::relative(closely).and_absolute(closely * size);
    let nan = left.is_nan() || right.is_nan();
    if nan && (left.is_nan() == right.is_nan() || has_extrema(&program.f.body)) {
        return Ok(Outcome::Nan);
    }
    close(&"⟨v, Jᵀw⟩ against ⟨Jv, w⟩", right, left, tolerance).map_err(|e| explain(&e))?;
    let w2 = like(random, &real);
    let (second, _) = vjp.run(&with(&w2)).map_err(|e| explain(&e))?;
    let (both, _) = vjp.run(&with(&axpy(&w, -3.0, &w2))).map_err(|e| explain(&e))?;
    let expected = axpy(gradient, -3.0, &second[primal.len()..]);
    same(&both[primal.len()..], &expected, 1e-9)
        .map_err(|e| explain(&format!("the pullback is not linear: {e}")))?;
    let confirmed =
        differences(program, at, &dx, dy).map_err(|e| explain(&format!("forward: {e}")))?;
    Ok(Outcome::Holds(confirmed))
}

fn has_extrema(block: &Block) -> bool {
    block.stms.iter().any(|stm| {
        let reduced = match &stm.exp {
            Exp::Nest(Nest::For { outs, .. }) => outs
                .iter()
                .any(|out| matches!(out, Out::Reduce(ReduceOp::Min) | Out::Reduce(ReduceOp::Max))),
            Exp::Op(_) | Exp::Nest(Nest::If { .. } | Nest::Loop { .. }) => false,
        };
        reduced || stm.exp.blocks().into_iter().any(has_extrema)
    })
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

/// Requires equal sizes, and elements close relative to the largest.
pub fn same(a: &[Tensor], b: &[Tensor], tolerance: f64) -> Result<(), String> {
    let tolerance = Tolerance::relative(tolerance).and_absolute(tolerance * (1.0 + scale(a)));
    for (k, (a, b)) in a.iter().zip(b).enumerate() {
        if a.dims != b.dims {
            return Err(format!("result {k} has sizes {:?} and {:?}", a.dims, b.dims));
        }
        all_close(&format!("result {k}"), elements(a), elements(b), tolerance)?;
    }
    Ok(())
}

/// Differences along `dx` against the tangents, component by component.
fn differences(
    program: &Program,
    at: &Point,
    dx: &[Tensor],
    dy: &[Tensor],
) -> Result<Confirmed, String> {
    let numbers = |tensors: &[Tensor]| tensors.iter().flat_map(elements).copied().collect();
    let derivative: Vec<f64> = numbers(dy);
    confirm(&derivative, &mut |h| {
        let point = Point { params: axpy(&at.params, h, dx), ..at.clone() };
        program.run(&point).ok().map(|(results, _)| numbers(&results))
    })
}
