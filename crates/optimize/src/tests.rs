use lambada_anf::*;
use lambada_prim::{Data, Tensor};

use crate::{PASSES, checked, optimize};

fn close(a: &Tensor, b: &Tensor) -> bool {
    let equal = |x: &f64, y: &f64| x.is_nan() && y.is_nan() || x == y || (x - y).abs() <= 1e-9 * (1.0 + x.abs().max(y.abs()));
    match (&a.data, &b.data) {
        (Data::Real(u), Data::Real(v)) => a.dims == b.dims && u.iter().zip(v).all(|(x, y)| equal(x, y)),
        (Data::Int(_) | Data::Bool(_) | Data::Real(_), _) => a == b,
    }
}

/// The same results, or the same failure.
fn same(before: &Function, after: &Function, args: &[Tensor], what: &str) {
    let fail = |message: String| panic!("{what}: {message}\nbefore:\n{}\nafter:\n{}", print(before), print(after));
    match (eval(before, args), eval(after, args)) {
        (Ok(x), Ok(y)) => {
            if !x.results.iter().zip(&y.results).all(|(a, b)| close(a, b)) {
                fail(format!("{:?} is not {:?}", x.results, y.results));
            }
        }
        (Err(x), Err(y)) if x == y => {}
        (x, y) => fail(format!("{:?} is not {:?}", x.map(|o| o.results), y.map(|o| o.results))),
    }
}

#[test]
fn every_pass_keeps_generated_functions() {
    for seed in 0..600 {
        let (function, args) = generate(seed);
        for pass in PASSES {
            let after = checked(pass, function.clone());
            same(&function, &after, &args, &format!("seed {seed}, {}", pass.name));
        }
    }
}

#[test]
fn the_pipeline_keeps_generated_functions() {
    for seed in 0..1500 {
        let (function, args) = generate(seed);
        let after = optimize(function.clone());
        same(&function, &after, &args, &format!("seed {seed}"));
    }
}

#[test]
fn stats() {
    let (mut ok, mut stms, mut after, mut loops) = (0, 0, 0, 0);
    for seed in 0..600 {
        let (f, args) = generate(seed);
        if eval(&f, &args).is_ok() {
            ok += 1;
            stms += crate::facts::size(&f.body);
            let g = optimize(f);
            after += crate::facts::size(&g.body);
            loops += print(&g).matches("for ").count();
        }
    }
    println!("ok {ok} size {} after {} loops {}", stms / ok, after / ok, loops / ok);
}
