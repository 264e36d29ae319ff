//! The forward sweep with shadows: the first step of the reverse mode.
//!
//! ```text
//!   Γ ⊢ b   becomes   Γ, x̄… ⊢ b with t̄ = node C̄ (0…, h̄…) after t = node C (x…, h…)
//! ```
//!
//! The code hands shadows around like their handles ([`crate::tangents`], for handles only), and
//! calls become calls of forward sweeps. All later passes see primal code: the reverse sweep
//! mentions and stores shadows like any value.
//!
//! * Assumes: the rewritings of the reverse mode are done.
//! * Gives: the same block with additions, and the shadow of each active handle in scope.

use std::collections::HashMap;

use lambada_anf::{
    Atom, Block, Checkpoint, Exp, Lambda, Library, LoopKind, Names, Nest, Op, Param, Var,
};

use crate::activity::Activity;
use crate::derived::{Context, Mode};
use crate::effects::calls_or_makes;
use crate::tangents::{ShadowCell, Tangents};
use crate::threaded::last_uses;

/// The shadows of a function's handles.
#[derive(Debug, Default)]
pub(crate) struct Shadows {
    /// The handle parameters, each with its shadow.
    pub(crate) params: Vec<(Param, Param)>,
    of: HashMap<Var, Atom>,
    cells: HashMap<Var, ShadowCell>,
}

impl Shadows {
    /// The shadow of a handle, if it has one.
    pub(crate) fn get(&self, x: impl Into<Atom>) -> Option<Atom> {
        self.of.get(&x.into().as_var()?).copied()
    }

    /// The cell of a field that is read, or of an opened cell.
    pub(crate) fn cell(&self, x: Var) -> Option<ShadowCell> {
        self.cells.get(&x).copied()
    }
}

/// Adds the shadows to a function, but not to its parameter list. The pullback returns the
/// cotangents of `returned`.
pub(crate) fn shadowed(
    cx: &mut Context,
    names: &mut Names,
    activity: &Activity,
    f: &Lambda,
    returned: &[Param],
) -> (Lambda, Shadows) {
    if cx.library.is_empty() {
        return (f.clone(), Shadows::default());
    }
    let mut f = f.clone();
    keep_all(&cx.library, &mut f.body);
    let last_uses = last_uses(&cx.known, &f, returned);
    let mut tangents = Tangents::new(cx, names, activity, Mode::Shadow);
    tangents.last_uses = last_uses;
    let handles = f.params.iter().filter(|p| activity.handle(p.var));
    let params = handles.map(|p| (p.clone(), tangents.param(p))).collect();
    tangents.stms(&f.body.stms);
    f.body.stms = std::mem::take(&mut tangents.b.stms);
    let (of, cells) = tangents.into_shadows();
    (f, Shadows { params, of, cells })
}

/// Makes loops that call functions or make nodes keep all residuals, because they must not rerun.
/// Functions with rules leave no tape.
fn keep_all(library: &Library, block: &mut Block) {
    for stm in &mut block.stms {
        let calls =
            stm.any(&mut |stm| calls_or_makes(&stm.exp) && !calls_a_rule(library, &stm.exp));
        if let Exp::Nest(Nest::Loop { kind: LoopKind::For { checkpoint, .. }, .. }) = &mut stm.exp
            && calls
        {
            *checkpoint = Checkpoint::All;
        }
        stm.exp.blocks_mut().into_iter().for_each(|block| keep_all(library, block));
    }
}

/// Whether it is a call of a function with rules that may run twice: without nodes, calls and
/// inspections.
fn calls_a_rule(library: &Library, exp: &Exp) -> bool {
    let Exp::Op(Op::Call { function, .. }) = exp else { return false };
    let Some(function) = library.function(*function).filter(|f| f.rules.is_some()) else {
        return false;
    };
    let mut types = function.params.iter().map(|p| &p.ty).chain(&function.results);
    let plain = types.all(|ty| ty.elem.node().is_none());
    let shows = |exp: &Exp| matches!(exp, Exp::Op(Op::Inspect { .. }));
    plain && !function.body.any(&mut |stm| calls_or_makes(&stm.exp) || shows(&stm.exp))
}
