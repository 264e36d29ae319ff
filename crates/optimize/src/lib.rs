//! anf to anf: one rewrite per file. The tables [`FIRST`], [`ROUND`] and [`FINAL`] are the
//! pipeline; the round runs until nothing changes.

mod accumulators;
mod algebra;
mod arrays;
mod base_cases;
mod calls;
mod checks;
mod columns;
mod common_subexpressions;
mod control;
mod dead_code;
mod delinearization;
mod ends;
mod factor;
mod failures;
mod handed_on;
mod inlining;
mod loop_fusion;
mod loop_invariant_code_motion;
mod nodes;
mod producer_inlining;
mod read_before_update;
mod recursion_unrolling;
mod reduction_recognition;
mod rewrite;
mod rules;
mod scalar_replacement;
mod scope;
mod staging;
mod tabulation;
mod unboxing;
mod unrolling;
mod unused;

use lambada_anf::{Audience, FnId, Function, Lambda, Library, Names, Param, print};

pub use algebra::{LAWS, Law, POWERS, Pattern};
use calls::Calls;
pub use handed_on::handed_on;
use rewrite::{Rule, rewrite};
pub use staging::{Staged, staged};

/// A pass of the optimizer.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Its name on the command line: `show --after NAME`.
    pub name: &'static str,
    /// A description, in a line.
    pub what: &'static str,
    how: How,
}

/// A pass itself; it says whether it has changed the program.
#[derive(Clone, Copy, Debug)]
enum How {
    /// It is about one function, which may call others.
    Each(fn(&mut Function, &Calls) -> bool),
    /// Like [`How::Each`], but it depends on the audience of the result.
    Read(fn(&mut Function, &Calls, Audience) -> bool),
    /// It is about one function of the library, and takes its id.
    Called(fn(&mut Function, FnId, &Calls) -> bool),
    /// It is about a program with its library.
    Whole(fn(&mut Function) -> bool),
}

impl Pass {
    /// Runs the pass on a program, the functions of its library included, and says whether that has
    /// changed it.
    pub fn run(&self, program: &mut Function) -> bool {
        self.run_knowing(program, &mut None, Audience::Machine)
    }

    /// [`Pass::run`] with the summaries of calls, if they are known already; otherwise they are
    /// computed if the pass needs them.
    fn run_knowing(
        &self,
        program: &mut Function,
        known: &mut Option<Calls>,
        audience: Audience,
    ) -> bool {
        if let How::Whole(run) = self.how {
            return run(program);
        }
        let mut library = std::mem::take(&mut program.library);
        let calls = &*known.get_or_insert_with(|| Calls::new(&library));
        let mut changed = false;
        for (k, function) in library.functions.iter_mut().enumerate() {
            let Some(function) = function else { continue };
            changed |= match self.how {
                How::Each(run) => run(function, calls),
                How::Read(run) => run(function, calls, audience),
                How::Called(run) => run(function, FnId(k as u32), calls),
                How::Whole(_) => false,
            };
        }
        changed |= match self.how {
            How::Each(run) => run(program, calls),
            How::Read(run) => run(program, calls, audience),
            How::Called(_) | How::Whole(_) => false,
        };
        program.library = library;
        changed
    }
}

/// The passes that run once, before the first round.
pub const FIRST: &[Pass] = &[
    Pass {
        name: "rules",
        what: "functions with derivatives of their own are functions like others, as no derivative follows",
        how: How::Whole(rules::rules),
    },
    Pass {
        name: "unboxing",
        what: "nodes that hold one handle or one integer are that",
        how: How::Whole(unboxing::unboxing),
    },
];

/// The passes that are repeated until the program no longer changes, in order.
pub const ROUND: &[Pass] = &[
    Pass {
        name: "inlining",
        what: "calls of small functions that do not call themselves are written out",
        how: How::Each(inlined),
    },
    Pass {
        name: "unused",
        what: "functions, and parameters and results of functions, that no call needs are removed",
        how: How::Whole(unused::unused),
    },
    Pass {
        name: "simplify",
        what: "constant folding, laws of arithmetic, reads of known arrays, decided control flow, evident checks",
        how: How::Each(local),
    },
    Pass {
        name: "common-subexpressions",
        what: "equal expressions are computed once",
        how: How::Each(common_subexpressions::common_subexpressions),
    },
    Pass {
        name: "accumulators",
        what: "accumulators of known shape become loops, reductions and additions",
        how: How::Read(accumulators::accumulators),
    },
    Pass {
        name: "dead-code",
        what: "what no result and no check needs is removed",
        how: How::Each(dead_code::dead_code),
    },
    Pass {
        name: "recursion-unrolling",
        what: "recursive functions that branch are straight-line code close to their ends",
        how: How::Called(recursion_unrolling::recursion_unrolling),
    },
    Pass {
        name: "base-cases",
        what: "calls of recursive functions test whether the recursion ends",
        how: How::Each(base_cases::base_cases),
    },
    Pass {
        name: "factor",
        what: "invariant factors are moved out of sums",
        how: How::Each(factored),
    },
    Pass {
        name: "loop-fusion",
        what: "loops over the same range become one, so do branches on the same condition",
        how: How::Each(loop_fusion::loop_fusion),
    },
    Pass {
        name: "reduction-recognition",
        what: "sequential loops whose iterations are independent become parallel",
        how: How::Each(recognized),
    },
    Pass {
        name: "producer-inlining",
        what: "an element of a loop's array is computed where it is read",
        how: How::Each(producer_inlining::producer_inlining),
    },
    Pass {
        name: "unrolling",
        what: "short loops are unrolled, small arrays are replaced by scalars",
        how: How::Each(unrolled),
    },
    Pass {
        name: "loop-invariant-code-motion",
        what: "what does not change in a loop is computed before it",
        how: How::Read(loop_invariant_code_motion::loop_invariant_code_motion),
    },
    Pass {
        name: "tabulation",
        what: "a costly function of an element of a small array is computed once for each element",
        how: How::Read(tabulation::tabulation),
    },
];

/// The passes that run once, after the last round.
pub const FINAL: &[Pass] = &[
    Pass {
        name: "delinearization",
        what: "a loop over a product of sizes that takes its index apart is two loops",
        how: How::Each(delinearized),
    },
    Pass {
        name: "read-before-update",
        what: "an element is read before the update that overwrites it, so that the update can be in place",
        how: How::Each(read_before_update::read_before_update),
    },
];

/// All passes of the optimizer, in order.
pub fn passes() -> impl Iterator<Item = &'static Pass> {
    FIRST.iter().chain(ROUND).chain(FINAL)
}

/// The greatest number of rounds. Each only makes the program smaller or flatter, so few are
/// needed.
const ROUNDS: usize = 10;

/// Rules that keep derivatives too.
const DIFFERENTIABLE: &[Rule] =
    &[algebra::algebra, arrays::arrays, nodes::nodes, control::control, checks::checks];

/// [`DIFFERENTIABLE`] and rules that keep values only.
const LOCAL: &[Rule] = &[
    algebra::algebra,
    algebra::powers,
    arrays::arrays,
    nodes::nodes,
    control::control,
    checks::checks,
];

fn local(function: &mut Function, calls: &Calls) -> bool {
    rewrite(function, calls, LOCAL)
}

fn differentiable(function: &mut Function, calls: &Calls) -> bool {
    rewrite(function, calls, DIFFERENTIABLE)
}

fn inlined(function: &mut Function, calls: &Calls) -> bool {
    rewrite(function, calls, &[inlining::inlining])
}

fn recognized(function: &mut Function, calls: &Calls) -> bool {
    rewrite(function, calls, &[reduction_recognition::reduction_recognition])
}

fn factored(function: &mut Function, calls: &Calls) -> bool {
    rewrite(function, calls, &[factor::factor])
}

/// Additions to the elements of a matrix in such a loop become one addition for each element.
fn delinearized(function: &mut Function, calls: &Calls) -> bool {
    let changed = rewrite(function, calls, &[delinearization::delinearization]);
    if changed {
        accumulators::accumulators(function, calls, Audience::Machine);
        dead_code::dead_code(function, calls);
    }
    changed
}

fn unrolled(function: &mut Function, calls: &Calls) -> bool {
    let rules: &[Rule] =
        &[unrolling::unrolling, scalar_replacement::scalar_replacement, arrays::arrays];
    rewrite(function, calls, rules)
}

/// The passes that are for speed alone: they write the same computation out several times, or
/// change the types of the program.
const FOR_SPEED: &[&str] = &["unboxing", "recursion-unrolling", "base-cases"];

/// Runs the passes. In debug builds the result of every pass is checked.
pub fn optimize(function: Function) -> Function {
    if !cfg!(debug_assertions) {
        return optimize_observed(function, Audience::Machine, &mut |_, _, _| {});
    }
    let mut before = function.clone();
    optimize_observed(function, Audience::Machine, &mut |pass, after, changed| {
        if changed {
            verify(pass, &before, after);
            before = after.clone();
        }
    })
}

/// Runs the passes, and shows `observe` the result of each and whether it has changed the program.
pub fn optimize_observed(
    mut function: Function,
    audience: Audience,
    observe: &mut dyn FnMut(&'static Pass, &Function, bool),
) -> Function {
    let mut guarded = false;
    let mut calls = None;
    let mut run = |function: &mut Function, pass: &'static Pass| {
        if audience == Audience::People && FOR_SPEED.contains(&pass.name) {
            return false;
        }
        let before = cfg!(debug_assertions).then(|| function.clone());
        let mut changed = pass.run_knowing(function, &mut calls, audience);
        if let Some(before) = before {
            // Programs with NaN are equal to themselves only as text.
            let same = || is_same(&before, function) || print(&before) == print(function);
            let silent = !changed && !same();
            assert!(!silent, "the pass `{}` does not say that it changes a program", pass.name);
        }
        // An access that is no longer evidently in range after a pass gets a check of its own, so
        // that none stays unchecked.
        if changed || !guarded {
            changed |= lambada_anf::guard(function);
            guarded = true;
        }
        if changed {
            calls = None;
        }
        observe(pass, function, changed);
        changed
    };
    FIRST.iter().for_each(|pass| _ = run(&mut function, pass));
    // When each pass has found nothing to do since the last change, none of them will.
    let mut quiet = 0;
    for pass in std::iter::repeat_n(ROUND, ROUNDS).flatten() {
        quiet = if run(&mut function, pass) { 0 } else { quiet + 1 };
        if quiet == ROUND.len() {
            break;
        }
    }
    FINAL.iter().for_each(|pass| _ = run(&mut function, pass));
    function
}

/// Whether both are the same code. Names that are not in use do not count.
fn is_same(a: &Function, b: &Function) -> bool {
    let same = |pair: (&Option<Function>, &Option<Function>)| match pair {
        (Some(a), Some(b)) => is_same(a, b),
        (a, b) => a.is_none() && b.is_none(),
    };
    let (theirs, ours) = (&a.library.functions, &b.library.functions);
    a.params == b.params
        && a.accumulators == b.accumulators
        && a.results == b.results
        && a.body == b.body
        && theirs.len() == ours.len()
        && theirs.iter().zip(ours).all(same)
}

/// Stops the compiler at a pass whose result is ill-formed.
fn verify(pass: &Pass, before: &Function, after: &Function) {
    if let Err(message) = lambada_anf::check(after) {
        let (before, after) = (print(before), print(after));
        panic!(
            "the pass `{}` breaks the program: {message}\nbefore:\n{before}\nafter:\n{after}",
            pass.name
        );
    }
}

/// The cheap passes and fusion, on code with free variables: used before differentiation. Code that
/// the results and their sizes do not need goes away. Fusion turns arrays between loops into local
/// values, which the reverse sweep may recompute and need not keep. `library` has the callees,
/// which stay unchanged; the function may be one of them, `itself`. `captured` should have the
/// types of all captured variables: without them, a product of matrices is not known to have sizes
/// that fit, and stays in a loop.
pub fn simplify(
    library: &Library,
    names: &mut Names,
    f: &Lambda,
    captured: &[Param],
    itself: Option<FnId>,
    audience: Audience,
) -> Lambda {
    let reached = f.body.callees().into_iter().chain(itself).collect();
    let calls = &Calls::of(library, reached).capturing(captured);
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
        let mut changed = differentiable(&mut function, calls);
        changed |= common_subexpressions::common_subexpressions(&mut function, calls);
        changed |= dead_code::dead_code(&mut function, calls);
        changed |= loop_fusion::loop_fusion(&mut function, calls);
        if !changed {
            break;
        }
    }
    if let (Some(id), Audience::Machine) = (itself, audience) {
        recursion_unrolling::recursion_unrolling(&mut function, id, calls);
    }
    // Ends of recursions have no tape.
    if audience == Audience::Machine && base_cases::base_cases(&mut function, calls) {
        differentiable(&mut function, calls);
        common_subexpressions::common_subexpressions(&mut function, calls);
        differentiable(&mut function, calls);
        dead_code::dead_code(&mut function, calls);
    }
    // Loop-invariant values are differentiated once, and no tape holds them for each iteration.
    loop_invariant_code_motion::loop_invariant_code_motion(&mut function, calls, audience);
    tabulation::tabulation(&mut function, calls, audience);
    dead_code::dead_code(&mut function, calls);
    *names = function.names;
    Lambda { params: function.params, results: function.results, body: function.body }
}
