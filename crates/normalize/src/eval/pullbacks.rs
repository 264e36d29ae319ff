//! Pullbacks: closures whose environment is the part of the forward sweep that they need, and their
//! application. A pullback that adds to cells of the forward sweep can do so only once. In the
//! block of the forward sweep it does; elsewhere it reruns the forward sweep. A pullback whose
//! arrays were kept with other size names gets the sizes of its types.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_anf as anf;
use lambada_anf::{Atom, Param, Renaming, free_vars, without_rules};
use lambada_source::Span;

use super::arrays::stored;
use super::leaves::{ANOTHER_SIZE, is_active, with_reals};
use super::{Evaluator, arrays, leaves};
use crate::emit::Emit;
use crate::val::{Code, CodeKind, Leaf, Pullback, Val};
use crate::{Eval, ill_typed};

/// The pullback of a function with this result at this point. `once`: the map that may be placed
/// once, in the block of the forward sweep.
pub(super) fn pullback(
    of: &mut Evaluator,
    map: anf::Lambda,
    once: Option<anf::Lambda>,
    [result, point]: [&Val; 2],
    span: Span,
) -> Eval<Val> {
    let skeletons = [leaves::skeleton(of, result)?, leaves::skeleton(of, point)?];
    let free = captures(of, &map);
    let captured = free.iter().map(|p| stored(p.var.into(), &p.ty.dims));
    let env = skeletons.into_iter().chain(captured).collect();
    let hints = hints(of, &map);
    let (home, own) = (of.local.home, free.iter().map(|p| p.var).collect());
    let code = of.codes.pullback(Pullback { map, free, span, home, hints });
    if let Some(map) = once {
        let level = of.emit.level();
        of.sweeps.push(Sweep { code: code.clone(), own, home, level, map });
    }
    Ok(Val::closure(code, env))
}

/// Names of the variables that a map binds.
fn hints(of: &Evaluator, map: &anf::Lambda) -> HashMap<anf::Var, Rc<str>> {
    let mut hints = HashMap::new();
    map.body.bound(&mut |var| _ = hints.insert(var, of.emit.names.hint(var)));
    hints
}

/// A skeleton with the sizes of its active leaves' types, because it may have been kept with other
/// size names.
fn with_sizes_of(of: &mut Evaluator, skeleton: &Val, types: &[anf::Ty], span: Span) -> Eval<Val> {
    Sizes { emit: &mut of.emit, types: types.iter(), span }.of(skeleton, 0)
}

/// The captured variables of a pullback, arrays first, because they determine the sizes.
fn captures(of: &Evaluator, map: &anf::Lambda) -> Vec<Param> {
    let mut free = free_vars(&map.body);
    let sizes = map.params.iter().map(|p| &p.ty).chain(&map.results).flat_map(|ty| &ty.dims);
    free.extend(sizes.filter_map(|d| d.as_var()));
    let mut seen: HashSet<anf::Var> = map.params.iter().map(|p| p.var).collect();
    let visible = free.into_iter().filter(|v| of.emit.in_scope(*v));
    let mut captured: Vec<Param> = Vec::new();
    for var in visible {
        if seen.insert(var) {
            captured.push(Param { var, ty: of.emit.ty(var.into()) });
        }
    }
    captured.sort_by_key(|p| p.ty.dims.is_empty()); // stable
    captured
}

/// A pullback applied to a cotangent.
pub(super) fn pull(
    of: &mut Evaluator,
    pullback: &Pullback,
    env: &[Val],
    cotangent: &Val,
) -> Eval<Val> {
    let [result, point, captured @ ..] = env else { return Err(ill_typed()) };
    let mut renaming = Renaming::new();
    let mut known: HashMap<anf::Var, Atom> = HashMap::new();
    // Whether the pullback was made outside the current block, which may apply it to many
    // cotangents.
    let mut made_before = !captured.is_empty();
    for (p, value) in pullback.free.iter().zip(captured) {
        let (atom, dims) = arrays::matrix(of, value)?;
        made_before &= of.emit.is_outside(atom, of.emit.level());
        let sizes = p.ty.dims.iter().zip(dims).filter_map(|(d, atom)| Some((d.as_var()?, atom)));
        for (var, atom) in sizes.chain([(p.var, atom)]) {
            match known.get(&var) {
                None => {
                    known.insert(var, atom);
                    renaming.insert(var, atom);
                }
                // One size, kept with each array.
                Some(first) => {
                    of.emit.check_equal(*first, atom, pullback.span, ANOTHER_SIZE);
                }
            }
        }
    }
    let here = |ty: &anf::Ty| renaming.ty(ty);
    let params: Vec<anf::Ty> = pullback.map.params.iter().map(|p| here(&p.ty)).collect();
    let results: Vec<anf::Ty> = pullback.map.results.iter().map(here).collect();
    let result = with_sizes_of(of, result, &params, pullback.span)?;
    let point = &with_sizes_of(of, point, &results, pullback.span)?;
    let cotangents = leaves::along(
        of,
        &result,
        cotangent,
        pullback.span,
        "the cotangent has another constructor than the result",
    )?;
    if let Some(once) = sweep_of(of, pullback, &renaming) {
        let body = actual(&once.params, &cotangents).copy(&once.body, &mut of.emit.names);
        body.stms.into_iter().for_each(|stm| of.emit.adopt(stm));
        return Ok(with_reals(&of.emit, point, &body.results));
    }
    of.local.directions.cotangents += usize::from(made_before);
    pullback.map.params.iter().zip(cotangents).for_each(|(p, atom)| renaming.insert(p.var, atom));
    let (body, names) = (&pullback.map.body, &mut of.emit.names);
    let mut body = match pullback.home == of.local.home {
        true => renaming.copy(body, names),
        false => renaming.import(body, &pullback.hints, names),
    };
    adopt(of, &mut body);
    Ok(with_reals(&of.emit, point, &body.results))
}

/// A linear map that may be placed once, in the block of its forward sweep.
#[derive(Debug)]
pub(super) struct Sweep {
    /// The code and environment of the map that may be placed anywhere.
    code: Rc<Code>,
    own: Vec<anf::Var>,
    home: usize,
    level: usize,
    map: anf::Lambda,
}

/// The map for a pullback with this environment, if its forward sweep is in the current block and
/// unused.
fn sweep_of(of: &mut Evaluator, pullback: &Pullback, env: &Renaming) -> Option<anf::Lambda> {
    let is = |sweep: &Sweep| {
        let same = matches!(&sweep.code.kind, CodeKind::Pullback(p) if std::ptr::eq(p, pullback));
        let mut own = pullback.free.iter().zip(&sweep.own);
        let here = sweep.home == of.local.home && sweep.level == of.emit.level();
        same && here
            && own.all(|(p, x)| env.atom(p.var.into()) == (*x).into())
            && in_block(of, &sweep.map)
    };
    let at = of.sweeps.iter().position(is)?;
    Some(of.sweeps.swap_remove(at).map)
}

/// Whether all free variables of the map are in scope, and the current block binds at least one.
fn in_block(of: &Evaluator, map: &anf::Lambda) -> bool {
    let bound = |x: &anf::Var| map.params.iter().any(|p| p.var == *x);
    let free: Vec<anf::Var> = free_vars(&map.body).into_iter().filter(|x| !bound(x)).collect();
    let own = |x: &anf::Var| !of.emit.is_outside((*x).into(), of.emit.level());
    free.iter().all(|x| of.emit.in_scope(*x)) && free.iter().any(own)
}

/// Sets the sizes of a skeleton's arrays to those of its active leaves' types, in order.
struct Sizes<'a> {
    emit: &'a mut Emit,
    types: std::slice::Iter<'a, anf::Ty>,
    span: Span,
}

impl Sizes<'_> {
    /// The value inside `axes` arrays.
    fn of(&mut self, value: &Val, axes: usize) -> Eval<Val> {
        let emit = &self.emit;
        let active = |leaf: &Leaf| is_active(emit.elem_of(leaf));
        let Val::Array(array) = value else {
            if value.own_leaf().is_some_and(active) {
                self.types.next();
            }
            return value.try_map(&mut |value| self.of(value, axes));
        };
        let first = self.types.as_slice().first().filter(|_| array.elem.any_leaf(&active));
        let extent = first.map_or(array.extent, |ty| ty.dims[axes]);
        let elem = self.of(&array.elem, axes + 1)?;
        // The constructors of the elements were kept with the other size.
        if axes == 0 && extent != array.extent {
            self.emit.check_equal(extent, array.extent, self.span, ANOTHER_SIZE);
        }
        Ok(Val::array(extent, elem))
    }
}

/// Maps parameters to atoms.
pub(super) fn actual(params: &[Param], actuals: &[Atom]) -> Renaming {
    let mut renaming = Renaming::new();
    params.iter().zip(actuals).for_each(|(p, atom)| renaming.insert(p.var, *atom));
    renaming
}

/// Appends the statements of a block. Where no derivative follows, calls of functions with rules
/// become ordinary.
pub(super) fn adopt(of: &mut Evaluator, block: &mut anf::Block) -> Renaming {
    let written = match of.may_be_differentiated() {
        true => Renaming::new(),
        false => without_rules(&of.emit.library, &mut of.emit.names, block),
    };
    std::mem::take(&mut block.stms).into_iter().for_each(|stm| of.emit.adopt(stm));
    written
}
