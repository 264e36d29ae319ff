//! Derivatives in the form that `normalize` needs: between values, tangents and cotangents of the
//! program's own types ([`crate::crossing`]).
//!
//! * Gives: `D→f`, and the forward sweep and the pullback of `D←f`.

use std::rc::Rc;

use lambada_anf::{Atom, Block, Builder, Elem, Lambda, Names, Param, Renaming, Reverse, Ty};

use crate::activity::{Activity, Scope};
use crate::arrays;
use crate::call::finish;
use crate::cotangents::{Sweeps, sweeps};
use crate::crossing::{cross, zeroed};
use crate::derived::{Context, Crossing, Mode};
use crate::extrema;
use crate::prepare::rewritten;
use crate::shadows::shadowed;
use crate::tangents::Tangents;
use crate::trim::{trim, trim_first};

/// The scope in which all differentiable parameters are varied.
fn scope(cx: &Context, f: &Lambda) -> Scope {
    let carries = |p: &&Param| cx.known.carries(p.ty.elem);
    let varied = f.params.iter().filter(carries).cloned().collect();
    Scope {
        known: cx.known.clone(),
        handles: cx.handles,
        varied,
        accumulators: Vec::new(),
        given: Vec::new(),
    }
}

fn is_data(ty: &Ty) -> bool {
    ty.elem == Elem::REAL || ty.elem.node().is_some()
}

/// `D→f`
pub(crate) fn forward(cx: &mut Context, names: &mut Names, f: &Lambda) -> Lambda {
    let scope = scope(cx, f);
    let f = match cx.reach {
        true => f.clone(),
        false => extrema::rewrite_reductions(names, &scope, f),
    };
    let activity = Activity::of(&scope, &f);
    let mut tangents = Tangents::new(cx, names, &activity, Mode::Tangent).of_block(&f.body);
    let mut params = f.params.clone();
    for p in &f.params {
        let tangent = tangents.of_parameter(p);
        params.push(tangent);
    }
    tangents.stms(&f.body.stms);
    let (mut results, mut types) = (f.body.results.clone(), f.results.clone());
    for (result, ty) in f.body.results.iter().zip(&f.results).filter(|(_, ty)| is_data(ty)) {
        results.push(tangents.of_result(*result, ty));
        types.push(ty.clone());
    }
    let mut body = tangents.b.finish(results);
    trim_first(&mut body, &[]);
    finish(cx);
    Lambda { params, results: types, body }
}

impl Tangents<'_> {
    /// A parameter for the tangent of a parameter: a value of its type.
    fn of_parameter(&mut self, p: &Param) -> Param {
        if p.ty.elem.node().is_none() {
            return self.param(p);
        }
        let given = Param { var: self.b.names.fresh(self.hint(p.var)), ty: p.ty.clone() };
        if self.cx.known.carries(p.ty.elem) {
            let args = [p.var.into(), given.var.into()];
            let tangent = cross(self.cx, &mut self.b, Crossing::Tangent, &p.ty, &args);
            self.set(p.var, tangent.expect("a tangent"));
        }
        given
    }

    /// The tangent of a result, as a value of its type.
    fn of_result(&mut self, result: Atom, ty: &Ty) -> Atom {
        if ty.elem.node().is_none() {
            return self.or_zero(result, ty);
        }
        if !self.cx.known.carries(ty.elem) {
            return zeroed(self.cx, &mut self.b, ty, result);
        }
        let tangent = self.or_zero(result, ty);
        let value = cross(self.cx, &mut self.b, Crossing::Untangent, ty, &[result, tangent]);
        value.expect("a value")
    }
}

/// `D←f`. The cells of shadows hold one cotangent, so a pullback with shadows reruns the forward
/// sweep from its second call on.
pub(crate) fn reverse(cx: &mut Context, names: &mut Names, f: &Lambda) -> Reverse {
    let scope = scope(cx, f);
    let g = rewritten(cx.whiles, names, &scope, f);
    let activity = Rc::new(Activity::of(&scope, &g));
    let (g, shadows) = shadowed(cx, names, &activity, &g, &[]);
    let Sweeps { forward, params, reverse } = sweeps(cx, names, &activity, &shadows, &g);
    let mut b = Builder::new(names);
    for (p, shadow) in &shadows.params {
        cross(cx, &mut b, Crossing::Shadow, &p.ty, &[p.var.into()]);
        let last = b.stms.last_mut().expect("the call");
        last.binds = vec![shadow.clone()];
    }
    let mut body = Block { stms: b.stms, results: g.body.results.clone() };
    finish(cx);
    body.stms.extend(forward);
    let results: Vec<Ty> = f.params.iter().map(|p| p.ty.clone()).collect();
    let again = cx.makes_cells(&body).then(|| Lambda {
        params: params.clone(),
        results: results.clone(),
        body: again(names, &body, &params, reverse.clone()),
    });
    let forward = Lambda { params: f.params.clone(), results: f.results.clone(), body };
    Reverse { forward, pullback: Lambda { params, results, body: reverse }, again }
}

/// The forward sweep, under fresh names, and then the reverse sweep.
fn again(names: &mut Names, forward: &Block, params: &[Param], mut reverse: Block) -> Block {
    let mut renaming = Renaming::new();
    let forward = renaming.copy(forward, names);
    let mut b = Builder::new(names);
    b.stms = forward.stms;
    for p in params {
        let ty = renaming.ty(&p.ty);
        if ty != p.ty {
            let hint = b.names.hint(p.var);
            let resized = arrays::resized(&mut b, &hint, &ty, p.var.into());
            renaming.insert(p.var, resized);
        }
    }
    renaming.apply(&mut reverse);
    b.stms.extend(reverse.stms);
    let mut both = Block { stms: b.stms, results: reverse.results };
    trim(&mut both);
    both
}
