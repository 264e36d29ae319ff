//! Pullbacks: closures whose environment is what they need of the forward sweep, and how they are
//! applied. One that adds to cells of the forward sweep can do so once: if that is in the same
//! block, it does, and otherwise it runs the forward sweep again. One whose arrays have been kept
//! with sizes of their own gets the sizes that its types say.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_anf as anf;
use lambada_anf::{Atom, Param, Renaming, free_vars};
use lambada_source::Span;

use super::Evaluator;
use super::arrays::stored;
use super::derivatives::actual;
use super::leaves::{ANOTHER_SIZE, is_active, with_reals};
use crate::emit::Emit;
use crate::val::{Code, CodeKind, Leaf, Pullback, Val};
use crate::{Eval, ill_typed};

impl Evaluator<'_> {
    /// The pullback of a function with this result at this point. `once`: the map for the block of
    /// the forward sweep, if it may be placed once there.
    pub(super) fn pullback(
        &mut self,
        map: anf::Lambda,
        once: Option<anf::Lambda>,
        [result, point]: [&Val; 2],
        span: Span,
    ) -> Eval<Val> {
        let skeletons = [self.skeleton(result)?, self.skeleton(point)?];
        let free = self.captures(&map);
        let captured = free.iter().map(|p| stored(p.var.into(), &p.ty.dims));
        let env = skeletons.into_iter().chain(captured).collect();
        let hints = self.hints(&map);
        let (home, own) = (self.local.home, free.iter().map(|p| p.var).collect());
        let code = self.codes.pullback(Pullback { map, free, span, home, hints });
        if let Some(map) = once {
            let level = self.emit.level();
            self.sweeps.push(Sweep { code: code.clone(), own, home, level, map });
        }
        Ok(Val::closure(code, env))
    }

    /// What the variables that a map binds are called.
    fn hints(&self, map: &anf::Lambda) -> HashMap<anf::Var, Rc<str>> {
        let mut hints = HashMap::new();
        map.body.bound(&mut |var| _ = hints.insert(var, self.emit.names.hint(var)));
        hints
    }

    /// A skeleton with the sizes that the types of its active leaves have: it may have been kept
    /// with sizes of its own.
    fn with_sizes_of(&mut self, skeleton: &Val, types: &[anf::Ty], span: Span) -> Eval<Val> {
        Sizes { emit: &mut self.emit, types: types.iter(), span }.of(skeleton, 0)
    }

    /// What a pullback needs of its surroundings, arrays first: they say what their sizes are.
    fn captures(&self, map: &anf::Lambda) -> Vec<Param> {
        let mut free = free_vars(&map.body);
        let sizes = map.params.iter().map(|p| &p.ty).chain(&map.results).flat_map(|ty| &ty.dims);
        free.extend(sizes.filter_map(|d| d.as_var()));
        let mut seen: HashSet<anf::Var> = map.params.iter().map(|p| p.var).collect();
        let visible = free.into_iter().filter(|v| self.emit.in_scope(*v));
        let mut captured: Vec<Param> = Vec::new();
        for var in visible {
            if seen.insert(var) {
                captured.push(Param { var, ty: self.emit.ty(var.into()) });
            }
        }
        captured.sort_by_key(|p| p.ty.dims.is_empty()); // stable
        captured
    }

    /// A pullback applied to a cotangent.
    pub(super) fn pull(&mut self, pullback: &Pullback, env: &[Val], cotangent: &Val) -> Eval<Val> {
        let [result, point, captured @ ..] = env else { return Err(ill_typed()) };
        let mut renaming = Renaming::new();
        let mut known: HashMap<anf::Var, Atom> = HashMap::new();
        // A pullback that was made before may be applied to many cotangents.
        let mut made_before = !captured.is_empty();
        for (p, value) in pullback.free.iter().zip(captured) {
            let (atom, dims) = self.matrix(value)?;
            made_before &= self.emit.is_outside(atom, self.emit.level());
            let sizes =
                p.ty.dims.iter().zip(dims).filter_map(|(d, atom)| Some((d.as_var()?, atom)));
            for (var, atom) in sizes.chain([(p.var, atom)]) {
                match known.get(&var) {
                    None => {
                        known.insert(var, atom);
                        renaming.insert(var, atom);
                    }
                    // One size, which was kept with each array.
                    Some(first) => {
                        self.emit.check_equal(*first, atom, pullback.span, ANOTHER_SIZE);
                    }
                }
            }
        }
        let here = |ty: &anf::Ty| renaming.ty(ty);
        let params: Vec<anf::Ty> = pullback.map.params.iter().map(|p| here(&p.ty)).collect();
        let results: Vec<anf::Ty> = pullback.map.results.iter().map(here).collect();
        let result = self.with_sizes_of(result, &params, pullback.span)?;
        let point = &self.with_sizes_of(point, &results, pullback.span)?;
        let cotangents = self.along(
            &result,
            cotangent,
            pullback.span,
            "the cotangent has another constructor than the result",
        )?;
        if let Some(once) = self.sweep_of(pullback, &renaming) {
            let body = actual(&once.params, &cotangents).copy(&once.body, &mut self.emit.names);
            body.stms.into_iter().for_each(|stm| self.emit.adopt(stm));
            return Ok(with_reals(&self.emit, point, &body.results));
        }
        self.local.directions.cotangents += usize::from(made_before);
        pullback
            .map
            .params
            .iter()
            .zip(cotangents)
            .for_each(|(p, atom)| renaming.insert(p.var, atom));
        let (body, names) = (&pullback.map.body, &mut self.emit.names);
        let mut body = match pullback.home == self.local.home {
            true => renaming.copy(body, names),
            false => renaming.import(body, &pullback.hints, names),
        };
        self.adopt(&mut body);
        Ok(with_reals(&self.emit, point, &body.results))
    }
}

/// A linear map that may be placed once, in the block of its forward sweep.
#[derive(Debug)]
pub(super) struct Sweep {
    /// The code of the map that may be placed anywhere, and its environment.
    code: Rc<Code>,
    own: Vec<anf::Var>,
    home: usize,
    level: usize,
    map: anf::Lambda,
}

impl Evaluator<'_> {
    /// The map for a pullback with this environment, if its forward sweep is in this block and has
    /// not been used.
    fn sweep_of(&mut self, pullback: &Pullback, env: &Renaming) -> Option<anf::Lambda> {
        let is = |sweep: &Sweep| {
            let same =
                matches!(&sweep.code.kind, CodeKind::Pullback(p) if std::ptr::eq(p, pullback));
            let mut own = pullback.free.iter().zip(&sweep.own);
            let here = sweep.home == self.local.home && sweep.level == self.emit.level();
            same && here
                && own.all(|(p, x)| env.atom(p.var.into()) == (*x).into())
                && self.in_block(&sweep.map)
        };
        let at = self.sweeps.iter().position(is)?;
        Some(self.sweeps.swap_remove(at).map)
    }

    /// Is all in scope that the map mentions, and something of it bound in this very block?
    fn in_block(&self, map: &anf::Lambda) -> bool {
        let bound = |x: &anf::Var| map.params.iter().any(|p| p.var == *x);
        let free: Vec<anf::Var> = free_vars(&map.body).into_iter().filter(|x| !bound(x)).collect();
        let own = |x: &anf::Var| !self.emit.is_outside((*x).into(), self.emit.level());
        free.iter().all(|x| self.emit.in_scope(*x)) && free.iter().any(own)
    }
}

/// Gives the arrays in a skeleton the sizes that the types of their active leaves have, in order.
struct Sizes<'a> {
    emit: &'a mut Emit,
    types: std::slice::Iter<'a, anf::Ty>,
    span: Span,
}

impl Sizes<'_> {
    /// The value under so many arrays.
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
        // Which constructors its elements have was kept with the other size.
        if axes == 0 && extent != array.extent {
            self.emit.check_equal(extent, array.extent, self.span, ANOTHER_SIZE);
        }
        Ok(Val::array(extent, elem))
    }
}
