//! Separates the two sweeps of a reverse derivative: first the statements that do not depend on the
//! cotangent, then those that do. Statements are pure except for additions, which commute, so
//! independent statements may change places.

use std::collections::HashSet;
use std::rc::Rc;

use lambada_anf::{Block, Exp, LoopKind, Nest, Op, Stm, Var};
use lambada_prim::Prim;

use crate::regions::mentions;

/// The statements of a block, reordered, and the number of those in the first sweep.
pub(crate) fn sweeps(block: &Block, seeds: &HashSet<Var>) -> (Block, usize) {
    let mut late: HashSet<Var> = seeds.clone();
    let (mut first, mut second): (Vec<Stm>, Vec<Stm>) = (Vec::new(), Vec::new());
    for stm in &block.stms {
        let mut mentioned = HashSet::new();
        mentions(stm, &mut mentioned);
        // A new accumulator belongs to the sweep of its additions.
        let adds = stm.additions();
        if mentioned.iter().any(|var| late.contains(var)) {
            late.extend(stm.binds.iter().map(|p| p.var));
            late.extend(adds);
            second.push(stm.clone());
        } else {
            first.push(stm.clone());
        }
    }
    let count = first.len();
    first.extend(second);
    (Block { stms: first, results: block.results.clone() }, count)
}

/// Comment before a line.
#[derive(Default)]
pub(crate) struct Comment {
    pub(crate) phase: Option<&'static str>,
    pub(crate) of_loop: Option<OfLoop>,
}

/// A loop that a comment announces.
pub(crate) struct OfLoop {
    /// The index of the program's loop.
    pub(crate) index: Var,
    reverse: bool,
    /// Its place in the program.
    pub(crate) place: Option<String>,
}

/// The announcement of a statement, if it is a loop with a tape, or the reverse of one.
pub(crate) fn of_loop(stm: &Stm, reverse: bool, is_tape: impl Fn(Var) -> bool) -> Option<OfLoop> {
    let Exp::Nest(Nest::Loop { kind: LoopKind::For { index, .. }, body, .. }) = &stm.exp else {
        return None;
    };
    if !reverse {
        let kept = stm.binds.iter().any(|p| is_tape(p.var));
        return kept.then_some(OfLoop { index: *index, reverse, place: None });
    }
    // The reverse of a loop counts down: the index of the primal loop is computed from its own.
    let primal = body.stms.iter().find(|first| {
        matches!(&first.exp, Exp::Op(Op::Prim(Prim::SubInt, args)) if args[1] == (*index).into())
    });
    primal.map(|first| OfLoop { index: first.binds[0].var, reverse, place: None })
}

impl Comment {
    /// `forward: loop over k (gp.lam:18), keeping what its reverse needs`; `name` gives the index's
    /// name.
    pub(crate) fn text(&self, name: impl Fn(Var) -> Rc<str>) -> Option<Rc<str>> {
        let Some(OfLoop { index, reverse, place }) = &self.of_loop else {
            return self.phase.map(Rc::from);
        };
        let of = format!("loop over {}", name(*index));
        let place = place.as_ref().map_or(String::new(), |place| format!(" ({place})"));
        let phase = self.phase.map_or(String::new(), |phase| format!("{phase}: "));
        Some(if *reverse {
            format!("reverse of the {of}{place}").into()
        } else {
            format!("{phase}{of}{place}, keeping what its reverse needs").into()
        })
    }
}
