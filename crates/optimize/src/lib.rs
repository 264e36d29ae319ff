//! anf to anf: one rewrite per file. The table [`PASSES`] is the pipeline; it runs until nothing changes.

mod accumulators;
mod algebra;
mod array_beta;
mod arrays;
mod checks;
mod control;
mod cse;
mod dce;
mod early;
mod factor;
mod facts;
mod failures;
mod fuse;
mod hoist;
mod loop_to_reduce;
mod overwritten;
mod rewrite;
mod scope;
mod unroll;

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
    /// The pass itself.
    pub run: fn(Function) -> Function,
}

/// The pipeline, in order.
pub const PASSES: &[Pass] = &[
    Pass {
        name: "simplify",
        what: "constants, laws of arithmetic, known arrays, decided control flow, evident checks",
        run: local,
    },
    Pass { name: "cse", what: "what has been computed is not computed again", run: cse::cse },
    Pass {
        name: "accumulators",
        what: "accumulators of known shape become loops, reductions and additions",
        run: accumulators::accumulators,
    },
    Pass { name: "dce", what: "what nobody needs is not computed", run: dce::dce },
    Pass { name: "factor", what: "factors that do not change leave sums", run: factored },
    Pass { name: "early", what: "an array is reduced where it is made", run: early::early },
    Pass { name: "fuse", what: "loops over the same range run together", run: fuse::fuse },
    Pass {
        name: "loop-to-reduce",
        what: "sequential loops whose iterations are independent become parallel",
        run: reduce,
    },
    Pass {
        name: "array-beta",
        what: "an element of a loop's array is what the loop computes for it",
        run: array_beta::array_beta,
    },
    Pass {
        name: "unroll",
        what: "small loops are written out, small arrays become their elements",
        run: unrolled,
    },
    Pass {
        name: "hoist",
        what: "what does not change in a loop is computed before it",
        run: hoist::hoist,
    },
];

/// Runs once, after the pipeline.
const LAST: Pass = Pass {
    name: "overwritten",
    what: "what an update overwrites is read before it",
    run: overwritten::overwritten,
};

/// How often the pipeline runs at most. Each round only makes the program smaller or flatter, so few are needed.
const ROUNDS: usize = 10;

const LOCAL: &[Rule] = &[algebra::algebra, arrays::arrays, control::control, checks::checks];

fn local(function: Function) -> Function {
    rewrite(function, LOCAL)
}

fn reduce(function: Function) -> Function {
    rewrite(function, &[loop_to_reduce::loop_to_reduce])
}

fn factored(function: Function) -> Function {
    rewrite(function, &[factor::factor])
}

fn unrolled(function: Function) -> Function {
    rewrite(function, &[unroll::unroll, unroll::split, arrays::arrays])
}

/// Runs the pipeline until nothing changes. In debug builds the result of every pass is checked.
pub fn optimize(function: Function) -> Function {
    optimize_checking(function, cfg!(debug_assertions))
}

/// As `optimize`; if asked, the result of every pass is checked.
pub fn optimize_checking(function: Function, check: bool) -> Function {
    checked(&LAST, fixed_point(function, PASSES, check), check)
}

/// The cheap passes, on code with free variables: used between levels of differentiation. What the results and their sizes do not need
/// goes away.
pub fn simplify(names: &mut Names, f: &Lambda) -> Lambda {
    let function = Function {
        name: String::new(),
        sizes: Vec::new(),
        params: f.params.clone(),
        results: f.results.clone(),
        body: f.body.clone(),
        names: std::mem::take(names),
    };
    let mut function = function;
    for _ in 0..3 {
        let next = dce::dce(cse::cse(local(function.clone())));
        let done = next == function;
        function = next;
        if done {
            break;
        }
    }
    *names = function.names;
    Lambda { params: function.params, results: function.results, body: function.body }
}

fn fixed_point(mut function: Function, passes: &[Pass], check: bool) -> Function {
    for _ in 0..ROUNDS {
        let before = function.body.clone();
        for pass in passes {
            function = checked(pass, function, check);
        }
        if function.body == before {
            break;
        }
    }
    function
}

/// Runs one pass; what it gives is checked if that is asked for, and shown if it is broken.
fn checked(pass: &Pass, function: Function, check: bool) -> Function {
    if !check {
        return (pass.run)(function);
    }
    let before = function.clone();
    let after = (pass.run)(function);
    if let Err(message) = lambada_anf::check(&after) {
        let (before, after) = (lambada_anf::print(&before), lambada_anf::print(&after));
        panic!(
            "the pass `{}` breaks the program: {message}\nbefore:\n{before}\nafter:\n{after}",
            pass.name
        );
    }
    after
}
