//! Arrays that a recursion threads through its calls as state, and the calls that use one last.
//!
//! ```text
//!   f xs k = if … then … else … f (xs with [k] = v) (k - 1) …
//! ```
//!
//! A pullback usually adds the cotangent of an array argument to the caller's accumulator. But each
//! call makes a new array for state, and with it an accumulator of zeros: O(n) per call. Where the
//! call is the last use of the array, the reverse sweep has no earlier contribution, so the
//! pullback of the call *returns* the cotangent, and the caller continues it in place.
//!
//! An array that a recursion only reads and passes on is no state: it keeps the accumulator of the
//! outermost caller.

use std::collections::{BTreeSet, HashMap, HashSet};

use lambada_anf::{Atom, Block, Elem, Exp, FnId, Lambda, Library, Nest, Op, Param, Stm, Var};

use crate::known::{LibraryFacts, Threaded, called};

/// By the first variable that a call binds: the arguments whose last use it is.
pub(crate) type LastUses = HashMap<Var, Vec<bool>>;

/// The state of the recursions among these functions: parameters that some call in the recursion
/// supplies with an array of the caller's own.
pub(crate) fn threaded(library: &Library, functions: &BTreeSet<FnId>) -> Threaded {
    let calls = inner_calls(library, functions);
    let made: HashMap<FnId, HashSet<Var>> =
        calls.iter().map(|(caller, ..)| (*caller, made_anew(library, *caller))).collect();
    let mut threaded = Threaded::new();
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for (caller, callee, args) in &calls {
            let params = library.function(*caller).map_or(&[][..], |f| &f.params[..]);
            for (k, arg) in args.iter().enumerate() {
                let own = params.iter().position(|p| Atom::from(p.var) == *arg);
                let handed_on = || arg.as_var().is_some_and(|x| !made[caller].contains(&x));
                let is_state = own.map_or_else(handed_on, |j| threaded.contains(&(*caller, j)));
                changed |= is_state && threaded.insert((*callee, k));
            }
        }
    }
    threaded
}

/// The arrays that a function makes element by element. An accumulator of zeros for such an array
/// costs no more than the array.
fn made_anew(library: &Library, function: FnId) -> HashSet<Var> {
    let mut made = HashSet::new();
    if let Some(function) = library.function(function) {
        function.body.each(&mut |stm| match &stm.exp {
            Exp::Nest(Nest::For { .. }) | Exp::Op(Op::Array(_) | Op::Fill(_) | Op::Constant(_)) => {
                made.extend(stm.binds.iter().filter(|p| is_array(p)).map(|p| p.var));
            }
            Exp::Op(_) | Exp::Nest(_) => {}
        });
    }
    made
}

/// The calls that lead back to their caller.
fn inner_calls(library: &Library, functions: &BTreeSet<FnId>) -> Vec<(FnId, FnId, Vec<Atom>)> {
    let mut calls = Vec::new();
    for caller in functions {
        let Some(function) = library.function(*caller) else { continue };
        function.body.each(&mut |stm| {
            if let Exp::Op(Op::Call { function, args, .. }) = &stm.exp {
                calls.push((*caller, *function, args.clone()));
            }
        });
    }
    let mut reached: HashMap<FnId, BTreeSet<FnId>> = HashMap::new();
    calls.retain(|(caller, callee, _)| {
        let from = reached.entry(*callee).or_insert_with(|| {
            library.function(*callee).map_or_else(BTreeSet::new, |f| called(library, &f.body))
        });
        caller == callee || from.contains(caller)
    });
    calls
}

/// The last uses of state in the calls of a function; its own pullback returns the cotangents of
/// `returned`.
pub(crate) fn last_uses(known: &LibraryFacts, f: &Lambda, returned: &[Param]) -> LastUses {
    let mut search = Search { known, found: LastUses::new() };
    if !known.threaded.is_empty() {
        let own = returned.iter().map(|p| p.var).collect();
        search.block(&f.body, &own, &HashSet::new());
    }
    search.found
}

struct Search<'a> {
    known: &'a LibraryFacts,
    found: LastUses,
}

impl Search<'_> {
    /// `own`: arrays whose cotangents end in this block, or around it with only branches between;
    /// `after`: variables that later code mentions.
    fn block(&mut self, block: &Block, own: &HashSet<Var>, after: &HashSet<Var>) {
        let (mut own, mut live) = (own.clone(), after.clone());
        own.extend(block.stms.iter().filter(|stm| !is_of_a_node(stm)).flat_map(|stm| {
            let arrays = stm.binds.iter().filter(|p| is_array(p));
            arrays.map(|p| p.var)
        }));
        live.extend(block.results.iter().filter_map(|x| x.as_var()));
        for stm in block.stms.iter().rev() {
            match &stm.exp {
                Exp::Op(Op::Call { function, args, .. }) => {
                    self.call(stm, *function, args, &own, &live)
                }
                Exp::Op(_) => {}
                Exp::Nest(Nest::If { then, otherwise, .. }) => {
                    self.block(then, &own, &live);
                    self.block(otherwise, &own, &live);
                }
                Exp::Nest(Nest::For { .. } | Nest::Loop { .. }) => {
                    let blocks = stm.exp.blocks();
                    blocks.into_iter().for_each(|block| self.block(block, &HashSet::new(), &live));
                }
            }
            live.extend(stm.free_vars());
        }
    }

    fn call(
        &mut self,
        stm: &Stm,
        function: FnId,
        args: &[Atom],
        own: &HashSet<Var>,
        live: &HashSet<Var>,
    ) {
        let Some(first) = stm.binds.first() else { return };
        let last = |(k, arg): (usize, &Atom)| {
            let once = args.iter().filter(|other| *other == arg).count() == 1;
            let ends = arg.as_var().is_some_and(|x| own.contains(&x) && !live.contains(&x));
            once && ends && self.known.threaded.contains(&(function, k))
        };
        let last: Vec<bool> = args.iter().enumerate().map(last).collect();
        if last.contains(&true) {
            self.found.insert(first.var, last);
        }
    }
}

fn is_array(p: &Param) -> bool {
    p.ty.elem == Elem::REAL && !p.ty.dims.is_empty()
}

/// Cotangents of fields end in cells.
fn is_of_a_node(stm: &Stm) -> bool {
    matches!(stm.exp, Exp::Op(Op::Field { .. } | Op::Cell { .. } | Op::Open { .. }))
}
