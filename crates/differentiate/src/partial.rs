//! Presence of the reals that a rule returns.
//!
//! ```text
//!   with vjp dy = if n == 0 then 0 else real n * x ** (n - 1) * dy      present if n ≠ 0
//!   with vjp dy = [dy, 0.0]                                            present at [true, false]
//! ```
//!
//! A real is present if it depends on an argument tangent or cotangent of the rule, or if it is not
//! zero. Dependence is a mark ([`crate::reach`]) and no test for zero, because a zero that a
//! product has computed is a number: behind an infinite factor it must become NaN.
//!
//! Marks cost a second program beside the rule. So a rule has none if its results surely depend on
//! its arguments, or if only bounded partial derivatives follow.
//!
//! * Assumes: the rule is complete, and its parameters hold no handles.
//! * Gives: which results may be absent in part, and presences as code.

use std::collections::HashSet;
use std::rc::Rc;

use lambada_anf::{
    Atom, Block, Builder, Exp, FnId, Function, Lambda, Nest, Op, Rules, Stm, Ty, Var,
    differentiable,
};
use lambada_prim::{Prim, Scalar};

use crate::absence::{Finder, NOWHERE, Presence};
use crate::activity::{Activity, Scope};
use crate::arrays;
use crate::derived::{Context, Partial};
use crate::flow;
use crate::known::Handles;

/// The results of a rule: tangents of results, or cotangents of parameters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gives {
    Tangents,
    Cotangents,
}

impl Context {
    /// The functions with rules that a block calls.
    pub(crate) fn ruled(&mut self, block: &Block, gives: Gives) -> Partial {
        let mut found = Vec::new();
        let mut note = |stm: &Stm| {
            if let Exp::Op(Op::Call { function, .. }) = &stm.exp {
                found.push(*function);
            }
        };
        block.stms.iter().for_each(|stm| stm.each(&mut note));
        let mut ruled = Partial::new();
        for id in found {
            if let (false, Some(rules)) = (ruled.contains_key(&id), self.rules(id)) {
                let partial = self.partial_at(id, &rules, gives);
                ruled.insert(id, partial);
            }
        }
        ruled
    }

    /// By the positions of all results, or of all parameters, of the function.
    fn partial_at(&mut self, id: FnId, rules: &Rules, gives: Gives) -> Rc<[bool]> {
        let f = self.primal(id);
        let first = f.params.len() + f.results.len();
        let carries: Vec<bool> = match gives {
            Gives::Tangents => f.results.iter().map(differentiable).collect(),
            Gives::Cotangents => {
                let params = f.params.iter().enumerate();
                params.map(|(k, p)| k >= rules.captured && differentiable(&p.ty)).collect()
            }
        };
        let rules = match gives {
            Gives::Tangents => [&rules.jvp, &rules.vjp],
            Gives::Cotangents => [&rules.vjp, &rules.jvp],
        };
        let partial = match rules.map(|rule| rule.map(|rule| rule.function)) {
            [Some(rule), _] => self.partial(rule, first),
            [None, Some(given)] => {
                // The transpose is not made before it is needed, because that may fail.
                let chooses = self.library.function(given).is_some_and(|g| chooses(&g.body));
                vec![chooses; carries.len()].into()
            }
            [None, None] => Rc::from([]),
        };
        let mut partial = partial.iter();
        let at = |carries: bool| carries && partial.next() == Some(&true);
        carries.into_iter().map(at).collect()
    }

    /// The rule with marks, if some reals that it gives may be absent.
    pub(crate) fn marked_if_partial(&mut self, rule: FnId, first: usize) -> Option<FnId> {
        let any = self.partial(rule, first).contains(&true);
        any.then(|| self.with_marks(rule, first)).flatten()
    }

    /// Whether some reals of each result of a rule may not depend on the parameters from `first` on.
    pub(crate) fn partial(&mut self, rule: FnId, first: usize) -> Rc<[bool]> {
        if let Some(known) = self.partial.get(&rule) {
            return known.clone();
        }
        let Some(g) = self.library.function(rule) else { return Rc::new([]) };
        let partial = partial(self, g, first);
        self.partial.insert(rule, partial.clone());
        partial
    }
}

fn partial(cx: &Context, g: &Function, first: usize) -> Rc<[bool]> {
    if g.params.iter().any(|p| p.ty.elem.node().is_some()) {
        return vec![false; g.results.len()].into();
    }
    let known = Rc::new(flow::known(&cx.library, &g.body));
    let varied = g.params[first..].to_vec();
    let (accumulators, given) = (Vec::new(), Vec::new());
    let scope = Scope { known, handles: Handles::Shadows, varied, accumulators, given };
    let f = Lambda { params: g.params.clone(), results: g.results.clone(), body: g.body.clone() };
    let activity = Activity::of(&scope, &f);
    // In a rule, all that another rule gives is marked.
    let ruled = |id| cx.rules(id).map(|_| Rc::from([]));
    let finder = Finder::of(&g.body, &activity, &ruled);
    // Elements of an accumulator that nobody adds to are absent.
    let mut added = HashSet::new();
    let mut note = |stm: &Stm| {
        if let Exp::Op(Op::Freeze(_)) = &stm.exp {
            added.extend(stm.binds.iter().map(|p| p.var));
        }
    };
    g.body.stms.iter().for_each(|stm| stm.each(&mut note));
    let from_added = |x: &Atom| x.as_var().is_some_and(|x| added.contains(&x));
    g.body.results.iter().map(|x| finder.is(*x) || from_added(x)).collect()
}

/// Whether a linear map drops parts: by a branch, by an index, or by a literal zero.
fn chooses(block: &Block) -> bool {
    let zero = |x: &Atom| *x == Atom::real(0.0);
    block.results.iter().any(zero)
        || block.any(&mut |stm| match &stm.exp {
            Exp::Op(Op::Prim(Prim::Select, _) | Op::Index(..) | Op::Update { .. }) => true,
            Exp::Op(Op::Array(items)) => items.iter().any(zero),
            Exp::Op(Op::Fill(x)) => zero(x),
            Exp::Op(_) => false,
            Exp::Nest(nest) => !matches!(nest, Nest::For { .. }),
        })
}

/// The presence of a value with its mark; `None` if it is surely present.
pub(crate) fn presence(b: &mut Builder, ty: &Ty, value: Atom, mark: Atom) -> Option<Presence> {
    if ty.dims.is_empty() {
        return match (value, mark) {
            (_, Atom::Lit(Scalar::Real(m))) if m != 0.0 => None,
            (Atom::Lit(Scalar::Real(v)), _) if v != 0.0 => None,
            (Atom::Lit(_), Atom::Lit(_)) => Some(NOWHERE),
            _ => Some(Presence::Whole(scalar(b, value, mark))),
        };
    }
    let (Some(value), Some(mark)) = (value.as_var(), mark.as_var()) else { return None };
    let flags = Ty { elem: Ty::bool().elem, dims: ty.dims.clone() };
    let each = arrays::tabulate(b, "present", &flags, &mut |b, at| {
        let [value, mark] =
            [value, mark].map(|x| b.bind("part", Ty::real(), Op::Index(x, at.to_vec())));
        scalar(b, value, mark)
    });
    each.as_var().map(|each| Presence::Each(each, flags))
}

fn scalar(b: &mut Builder, value: Atom, mark: Atom) -> Atom {
    let [value, mark] = [value, mark].map(|x| b.prim(Prim::Ne, [x, Atom::real(0.0)]));
    b.prim(Prim::Or, [mark, value])
}

/// The mark of a present or an absent tangent.
pub(crate) fn mark(b: &mut Builder, ty: &Ty, there: bool) -> Atom {
    arrays::filled(b, "mark", ty, Atom::real(if there { 1.0 } else { 0.0 }))
}

/// Counts of contributions that encode the presence of the elements of an array.
pub(crate) fn counts(b: &mut Builder, flags: Var, ty: &Ty) -> Atom {
    arrays::tabulate(b, "present", ty, &mut |b, at| {
        let there = b.bind("present", Ty::bool(), Op::Index(flags, at.to_vec()));
        b.prim(Prim::Select, [there, Atom::real(1.0), Atom::real(0.0)])
    })
}
