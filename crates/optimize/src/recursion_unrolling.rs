//! Recursion unrolling: a recursive function that calls itself several times, with a smaller `int`,
//! tests whether it is close to its end, and is straight-line code there.
//!
//! ```text
//!   f n a = if n == 1 { a[0, 0] } else { for j < n (reduce add) { … f (n - 1) … } }
//!   f n a = if n == 1 { a[0, 0] } else {
//!     if n == 3 { 9 products } else { if n == 2 { 2 products } else { for … } }
//!   }
//! ```
//!
//! Most calls of a recursion that branches are close to its end. There its loops are short, its
//! arrays small and its calls known, so all of them disappear; and a derivative keeps the operands
//! of a few products instead of a tree of tapes.
//!
//! Assumes: nothing. Gives: functions that test for a few numbers above their end, with a bounded
//! number of statements each. Keeps: values and failures, in order; a function that tests for such
//! numbers already stays unchanged.

use std::collections::HashMap;

use lambada_anf::{
    Atom, Block, Exp, FnId, Function, Names, Nest, Op, Renaming, Stm, Ty, Var, written_out,
};
use lambada_prim::{Prim, Scalar, ScalarTy};

use crate::calls::Calls;
use crate::ends::{End, end};
use crate::rewrite::rewrite;
use crate::{How, ROUND, arrays, scalar_replacement, unrolling};

/// The greatest number of tested numbers above the end.
const LEVELS: i64 = 4;
/// The greatest number of statements for each.
const STATEMENTS: usize = 200;
/// The range in which to look for the end, the largest number that is one.
const ENDS: std::ops::RangeInclusive<i64> = -1..=4;
/// The number of repetitions of the passes.
const ROUNDS: usize = 6;

/// The pass, for the function of this number.
pub(crate) fn recursion_unrolling(function: &mut Function, id: FnId, calls: &Calls) -> bool {
    let Some(levels) = Recursion::of(function, id).map(|r| r.levels(calls, &mut function.names))
    else {
        return false;
    };
    let Some(Stm { exp: Exp::Nest(Nest::If { then, otherwise, .. }), binds }) =
        function.body.stms.last_mut()
    else {
        return false;
    };
    let ends_first = calls_itself(otherwise, id);
    let goes_on = if ends_first { otherwise } else { then };
    let changed = !levels.is_empty();
    // The largest number, which is met first, is tested for first.
    for Level { number, mut block, size } in levels {
        let names = &mut function.names;
        let is = names.fresh("is");
        let test = Stm::new(
            vec![lambada_anf::Param { var: is, ty: Ty::bool() }],
            Op::Prim(Prim::EqInt, vec![size.into(), Atom::int(number)]),
        );
        let own: Vec<_> = binds
            .iter()
            .map(|p| lambada_anf::Param { var: names.again(p.var), ty: p.ty.clone() })
            .collect();
        let results = own.iter().map(|p| p.var.into()).collect();
        let places = function.body.results.iter().map(|result| {
            binds.iter().position(|p| Atom::Var(p.var) == *result).expect("an end gives them so")
        });
        // The function's result for each result of the branch.
        let by_result: HashMap<usize, Atom> = places.zip(block.results.iter().copied()).collect();
        let given = (0..binds.len()).map(|k| by_result.get(&k).copied());
        let Some(given) = given.collect::<Option<Vec<Atom>>>() else { return false };
        block.results = given;
        let before = std::mem::take(goes_on);
        let choice = Nest::If { cond: is.into(), then: block, otherwise: before };
        *goes_on = Block { stms: vec![test, Stm::new(own, choice)], results };
    }
    changed
}

/// The body of a function where its parameter is a constant.
struct Level {
    number: i64,
    /// The results are those of the function.
    block: Block,
    /// The parameter.
    size: Var,
}

/// A recursive function to unroll.
struct Recursion {
    id: FnId,
    end: End,
    /// The position of the `int` that measures the distance to the end.
    size: usize,
    /// The largest number that is an end.
    last: i64,
}

impl Recursion {
    fn of(function: &Function, id: FnId) -> Option<Recursion> {
        let end = end(function)?;
        let goes_on = branch(&function.body, !end.then)?;
        let scalar = |ty: &Ty| ty.dims.is_empty() && ty.elem.node().is_none();
        let fits = function.accumulators.is_empty() && function.results.iter().all(scalar);
        if !fits || !branches(goes_on, id) {
            return None;
        }
        let known = ScalarDefinitions::of(&function.body);
        let cond = condition(&function.body)?;
        let ints = (0..function.params.len()).filter(|k| function.params[*k].ty == Ty::int());
        let ends = |size: usize, number: i64| {
            let value = known.value(cond, &[(function.params[size].var, number)])?;
            Some(value == Scalar::Bool(end.then))
        };
        for size in ints {
            // The test depends on this parameter alone, and the next numbers are no ends.
            let Some(last) = ENDS.rev().find(|k| ends(size, *k) == Some(true)) else { continue };
            let above = (last + 1..=last + LEVELS).all(|k| ends(size, k) == Some(false));
            let var = function.params[size].var;
            if above && !tests(goes_on, var) {
                return Some(Recursion { id, end, size, last });
            }
        }
        None
    }

    /// The levels that are straight-line code, the smallest first. Their names go to `names`.
    fn levels(&self, calls: &Calls, names: &mut Names) -> Vec<Level> {
        let mut levels = Vec::new();
        for number in self.last + 1..=self.last + LEVELS {
            let mut level = self.end.function.clone();
            level.names = names.clone();
            let size = level.params[self.size].var;
            let args: Vec<Atom> = level.params.iter().map(|p| p.var.into()).collect();
            let mut statements = 0;
            let Some(body) = self.body(number, &args, &mut level.names, &mut statements) else {
                break;
            };
            level.body = body;
            let mut image = Renaming::new();
            image.insert(size, Atom::int(number));
            level.params.iter_mut().for_each(|p| p.ty = image.ty(&p.ty));
            settle(&mut level, calls);
            if level.body.size() > STATEMENTS || !is_straight(&level.body) {
                break;
            }
            *names = level.names;
            levels.push(Level { number, block: level.body, size });
        }
        levels
    }

    /// The function at a number, its calls written out.
    fn body(
        &self,
        number: i64,
        args: &[Atom],
        names: &mut Names,
        statements: &mut usize,
    ) -> Option<Block> {
        let mut args = args.to_vec();
        args[self.size] = Atom::int(number);
        let mut block = written_out(&self.end.function, names, &args, &[]);
        let stm = block.stms.pop()?;
        let Exp::Nest(Nest::If { then, otherwise, .. }) = stm.exp else { return None };
        let is_end = number <= self.last;
        let taken = if is_end == self.end.then { then } else { otherwise };
        let place = |result: &Atom| stm.binds.iter().position(|p| Atom::Var(p.var) == *result);
        let places: Vec<usize> = block.results.iter().map(place).collect::<Option<_>>()?;
        block.results = places.iter().map(|k| taken.results[*k]).collect();
        block.stms.extend(taken.stms);
        *statements += block.size();
        if *statements > LEVELS as usize * STATEMENTS {
            return None;
        }
        let known = ScalarDefinitions::of(&block);
        self.written(&mut block, number, &known, names, statements)?;
        Some(block)
    }

    /// Writes the calls in a block out.
    fn written(
        &self,
        block: &mut Block,
        number: i64,
        known: &ScalarDefinitions,
        names: &mut Names,
        statements: &mut usize,
    ) -> Option<()> {
        let mut image = Renaming::new();
        for mut stm in std::mem::take(&mut block.stms) {
            image.apply_stm(&mut stm);
            if let Exp::Op(Op::Call { function, args, accumulators }) = &stm.exp {
                let Scalar::Int(next) = known.value(args[self.size], &[])? else { return None };
                // Every call has to be one of this function, nearer to its end.
                if *function != self.id || !accumulators.is_empty() || next >= number {
                    return None;
                }
                let called = self.body(next, args, names, statements)?;
                for (p, result) in stm.binds.iter().zip(&called.results) {
                    image.insert(p.var, *result);
                }
                block.stms.extend(called.stms);
            } else {
                for inner in stm.exp.blocks_mut() {
                    self.written(inner, number, known, names, statements)?;
                }
                block.stms.push(stm);
            }
        }
        block.results.iter_mut().for_each(|result| *result = image.atom(*result));
        Some(())
    }
}

/// Numbers that are computed from numbers.
struct ScalarDefinitions {
    computed: HashMap<Var, (Prim, Vec<Atom>)>,
}

impl ScalarDefinitions {
    fn of(block: &Block) -> ScalarDefinitions {
        let mut computed = HashMap::new();
        block.each(&mut |stm| {
            if let (Exp::Op(Op::Prim(op, args)), [p]) = (&stm.exp, &stm.binds[..])
                && op.result() != ScalarTy::Real
            {
                computed.insert(p.var, (*op, args.clone()));
            }
        });
        ScalarDefinitions { computed }
    }

    /// The value of an atom where some variables are these numbers.
    fn value(&self, atom: Atom, at: &[(Var, i64)]) -> Option<Scalar> {
        let var = match atom {
            Atom::Lit(value) => return Some(value),
            Atom::Var(var) => var,
        };
        if let Some((_, number)) = at.iter().find(|(known, _)| *known == var) {
            return Some(Scalar::Int(*number));
        }
        let (op, args) = self.computed.get(&var)?;
        let args = args.iter().map(|arg| self.value(*arg, at));
        Some(op.eval(&args.collect::<Option<Vec<Scalar>>>()?))
    }
}

fn condition(body: &Block) -> Option<Atom> {
    match &body.stms.last()?.exp {
        Exp::Nest(Nest::If { cond, .. }) => Some(*cond),
        Exp::Op(_) | Exp::Nest(_) => None,
    }
}

fn branch(body: &Block, first: bool) -> Option<&Block> {
    match &body.stms.last()?.exp {
        Exp::Nest(Nest::If { then, otherwise, .. }) => Some(if first { then } else { otherwise }),
        Exp::Op(_) | Exp::Nest(_) => None,
    }
}

fn is_call_of(stm: &Stm, id: FnId) -> bool {
    matches!(&stm.exp, Exp::Op(Op::Call { function, .. }) if *function == id)
}

fn calls_itself(block: &Block, id: FnId) -> bool {
    block.any(&mut |stm| is_call_of(stm, id))
}

/// Whether the function has several calls of itself, or one in a loop.
fn branches(block: &Block, id: FnId) -> bool {
    let mut count = 0;
    block.each(&mut |stm| count += usize::from(is_call_of(stm, id)));
    let repeated = |stm: &Stm| match &stm.exp {
        Exp::Nest(Nest::For { body, .. } | Nest::Loop { body, .. }) => calls_itself(body, id),
        Exp::Op(_) | Exp::Nest(Nest::If { .. }) => false,
    };
    count > 1 || block.any(&mut |stm| repeated(stm))
}

/// Whether a block chooses by comparing the variable with a constant.
fn tests(block: &Block, size: Var) -> bool {
    let known = ScalarDefinitions::of(block);
    block.stms.iter().any(|stm| {
        let Exp::Nest(Nest::If { cond: Atom::Var(cond), .. }) = &stm.exp else { return false };
        let Some((Prim::EqInt, args)) = known.computed.get(cond) else { return false };
        args.contains(&size.into()) && args.iter().any(|arg| arg.as_lit().is_some())
    })
}

/// Passes that take a fold of `max` for the extremum of an array, or the other way round. These
/// have different derivatives where elements are equal, and the function may be differentiated
/// afterwards.
const EXTREMA: &[&str] = &["reduction-recognition", "unrolling"];

/// Runs the passes on one function until nothing changes.
fn settle(function: &mut Function, calls: &Calls) {
    for _ in 0..ROUNDS {
        let mut changed = false;
        for pass in ROUND.iter().filter(|pass| !EXTREMA.contains(&pass.name)) {
            if let How::Each(run) = pass.how {
                changed |= run(function, calls);
            }
        }
        changed |= rewrite(
            function,
            calls,
            &[unrolling::unrolling_at_end, scalar_replacement::scalar_replacement, arrays::arrays],
        );
        if !changed {
            return;
        }
    }
}

/// Whether no loop and no call is left.
fn is_straight(block: &Block) -> bool {
    block.stms.iter().all(|stm| match &stm.exp {
        Exp::Op(Op::Prim(..) | Op::Check { .. } | Op::Index(..)) => {
            stm.binds.iter().all(|p| p.ty.dims.is_empty())
        }
        Exp::Nest(Nest::If { then, otherwise, .. }) => is_straight(then) && is_straight(otherwise),
        Exp::Op(_) | Exp::Nest(_) => false,
    })
}
