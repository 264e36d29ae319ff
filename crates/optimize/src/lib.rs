//! anf to anf: one rewrite per file. The tables [`ROUND`] and [`FINAL`] are the pipeline; the round runs until nothing changes.

mod accumulators;
mod algebra;
mod arrays;
mod checks;
mod common_subexpressions;
mod control;
mod dead_code;
mod factor;
mod failures;
mod loop_fusion;
mod loop_invariant_code_motion;
mod producer_inlining;
mod read_before_update;
mod reduction_fusion;
mod reduction_recognition;
mod rewrite;
mod scalar_replacement;
mod scope;
mod unrolling;

#[cfg(test)]
mod tests;

use lambada_anf::{Function, Lambda, Names};

use rewrite::{Rule, rewrite};

/// A pass of the optimizer.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// What it is called on the command line: `show --after NAME`.
    pub name: &'static str,
    /// What it does, in a line.
    pub what: &'static str,
    /// The pass itself; it says whether it has changed the program.
    pub run: fn(&mut Function) -> bool,
}

/// The passes that are repeated until the program no longer changes, in order.
pub const ROUND: &[Pass] = &[
    Pass {
        name: "simplify",
        what: "constant folding, laws of arithmetic, reads of known arrays, decided control flow, evident checks",
        run: local,
    },
    Pass {
        name: "common-subexpressions",
        what: "equal expressions are computed once",
        run: common_subexpressions::common_subexpressions,
    },
    Pass {
        name: "accumulators",
        what: "accumulators of known shape become loops, reductions and additions",
        run: accumulators::accumulators,
    },
    Pass {
        name: "dead-code",
        what: "what no result and no check needs is removed",
        run: dead_code::dead_code,
    },
    Pass { name: "factor", what: "invariant factors are moved out of sums", run: factored },
    Pass {
        name: "reduction-fusion",
        what: "a reduction is fused into the loop that produces its array",
        run: reduction_fusion::reduction_fusion,
    },
    Pass {
        name: "loop-fusion",
        what: "loops over the same range become one, so do branches on the same condition",
        run: loop_fusion::loop_fusion,
    },
    Pass {
        name: "reduction-recognition",
        what: "sequential loops whose iterations are independent become parallel",
        run: recognized,
    },
    Pass {
        name: "producer-inlining",
        what: "an element of a loop's array is computed where it is read",
        run: producer_inlining::producer_inlining,
    },
    Pass {
        name: "unrolling",
        what: "short loops are unrolled, small arrays are replaced by scalars",
        run: unrolled,
    },
    Pass {
        name: "loop-invariant-code-motion",
        what: "what does not change in a loop is computed before it",
        run: loop_invariant_code_motion::loop_invariant_code_motion,
    },
];

/// The passes that run once, after the last round.
pub const FINAL: &[Pass] = &[Pass {
    name: "read-before-update",
    what: "an element is read before the update that overwrites it, so that the update can be in place",
    run: read_before_update::read_before_update,
}];

/// All passes of the optimizer, in order.
pub fn passes() -> impl Iterator<Item = &'static Pass> {
    ROUND.iter().chain(FINAL)
}

/// How often the round runs at most. Each only makes the program smaller or flatter, so few are needed.
const ROUNDS: usize = 10;

const LOCAL: &[Rule] = &[algebra::algebra, arrays::arrays, control::control, checks::checks];

fn local(function: &mut Function) -> bool {
    rewrite(function, LOCAL)
}

fn recognized(function: &mut Function) -> bool {
    rewrite(function, &[reduction_recognition::reduction_recognition])
}

fn factored(function: &mut Function) -> bool {
    rewrite(function, &[factor::factor])
}

fn unrolled(function: &mut Function) -> bool {
    let rules: &[Rule] =
        &[unrolling::unrolling, scalar_replacement::scalar_replacement, arrays::arrays];
    rewrite(function, rules)
}

/// Runs the passes. In debug builds the result of every pass is checked.
pub fn optimize(function: Function) -> Function {
    if !cfg!(debug_assertions) {
        return optimize_observed(function, &mut |_, _| {});
    }
    let mut before = function.clone();
    optimize_observed(function, &mut |pass, after| {
        verify(pass, &before, after);
        before = after.clone();
    })
}

/// Runs the passes, and shows what each of them gives.
pub fn optimize_observed(
    mut function: Function,
    observe: &mut dyn FnMut(&'static Pass, &Function),
) -> Function {
    let mut run = |function: &mut Function, pass: &'static Pass| {
        let changed = (pass.run)(function);
        // An access whose evidence a pass has lost gets a check of its own, so that no pass can leave one without.
        let guarded = lambada_anf::guard(function);
        observe(pass, function);
        changed || guarded
    };
    for _ in 0..ROUNDS {
        let mut changed = false;
        for pass in ROUND {
            changed |= run(&mut function, pass);
        }
        if !changed {
            break;
        }
    }
    FINAL.iter().for_each(|pass| _ = run(&mut function, pass));
    function
}

/// Stops the compiler at a pass whose result is ill-formed.
fn verify(pass: &Pass, before: &Function, after: &Function) {
    if let Err(message) = lambada_anf::check(after) {
        let (before, after) = (lambada_anf::print(before), lambada_anf::print(after));
        panic!(
            "the pass `{}` breaks the program: {message}\nbefore:\n{before}\nafter:\n{after}",
            pass.name
        );
    }
}

/// The cheap passes and fusion, on code with free variables: used before differentiation. What the results and their sizes do not need
/// goes away. Loops are fused so that what they hand to each other is a local value, which the reverse sweep may compute again, and no
/// array that it would have to keep.
pub fn simplify(names: &mut Names, f: &Lambda) -> Lambda {
    let mut function = Function {
        name: String::new(),
        sizes: Vec::new(),
        params: f.params.clone(),
        results: f.results.clone(),
        body: f.body.clone(),
        names: std::mem::take(names),
        ..Function::default()
    };
    for _ in 0..3 {
        let mut changed = local(&mut function);
        changed |= common_subexpressions::common_subexpressions(&mut function);
        changed |= dead_code::dead_code(&mut function);
        changed |= loop_fusion::loop_fusion(&mut function);
        if !changed {
            break;
        }
    }
    // What does not change in a loop is differentiated once, and no tape holds it for each iteration.
    loop_invariant_code_motion::loop_invariant_code_motion(&mut function);
    dead_code::dead_code(&mut function);
    *names = function.names;
    Lambda { params: function.params, results: function.results, body: function.body }
}
