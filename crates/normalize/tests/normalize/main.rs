//! `core::eval = anf::eval ∘ normalize` on generated programs and on one that is too long to write.
//! Programs that people write are in `tests/programs/normalize`.

mod generated;

use lambada_anf as anf;
use lambada_core::{Data, DefId, Program, Signature, Ty, Var, eval, lam, let_, prim, real, var};
use lambada_differentiate::Request;
use lambada_prim::{Prim, Tensor};
use lambada_source::{Failure, Span};

use lambada_normalize::{Normalized, normalize};

/// Defines `main` and returns its code.
fn normalized(program: &mut Program, main: lambada_core::Term) -> Normalized {
    program.define("main", main, Signature::default(), Span::default());
    normalize(program, DefId(0), &Request::default()).expect("it can be normalized")
}

/// The function on data; its code is checked.
fn run(normalized: &Normalized, args: &[Data]) -> Result<Data, Failure> {
    let function = &normalized.function;
    if let Err(message) = anf::check(function) {
        panic!("{message}\n{}", anf::print(function));
    }
    let tensors: Vec<Tensor> = normalized
        .params
        .iter()
        .zip(args)
        .flat_map(|((_, layout), data)| layout.flatten(data).expect("the argument fits"))
        .collect();
    let outcome = anf::eval(function, &tensors)?;
    Ok(normalized.result.unflatten(&mut outcome.results.into_iter()))
}

#[test]
fn a_long_spine() {
    let mut program = Program::default();
    let vars: Vec<Var> = (0..=20_000).map(|_| program.fresh("y", Ty::REAL)).collect();
    let value = |k: usize| prim(Prim::Add, vec![var(&vars[k - 1]), real(1.0)]);
    let body = (1..vars.len())
        .rev()
        .fold(var(&vars[20_000]), |body, k| let_(vars[k].clone(), value(k), body));
    let code = normalized(&mut program, lam(vars[0].clone(), body));
    assert_eq!(run(&code, &[0.5.into()]), Ok(20_000.5.into()));
    std::mem::forget(program); // core's terms are dropped recursively
}
