//! `jvp` and `vjp`: the function is applied to parameters in a block of its own, that block is differentiated, and the derivative is
//! placed here. A pullback is a closure like any other; its environment is what it needs of the forward sweep. One that adds to cells of the
//! forward sweep can do so once: if that is in the same block, it does, and otherwise it runs the forward sweep again.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_anf as anf;
use lambada_anf::{Atom, Elem, Nest, Param, Renaming, free_vars, without_rules};
use lambada_core::{Term, Ty as CoreTy};
use lambada_prim::{Prim, ScalarTy};
use lambada_source::Span;

use super::Evaluator;
use super::arrays::stored;
use crate::Eval;
use crate::alpha::alike;
use crate::emit::Emit;
use crate::guards::Guard;
use crate::merge::{Merge, Place, ill_typed, merge};
use crate::messages;
use crate::val::{Closure, Code, CodeKind, FunVal, Leaf, Pullback, Val, VariantVal};

const SIZES_DIFFER: &str = "sizes differ: {0} and {1}";

/// A function as a block: `f` applied to parameters that stand for the real leaves of the point.
pub(super) struct Traced {
    lambda: anf::Lambda,
    /// What the parameters stand for.
    pub(super) actuals: Vec<Atom>,
    /// The result, in terms of the block.
    value: Val,
    /// Which results of the block are the real leaves of the value, and which are its other leaves and sizes.
    reals: Vec<usize>,
    others: Vec<(Atom, usize)>,
}

/// What goes along with the values.
#[derive(Clone, Copy)]
enum Forward {
    Tangent,
    Marks,
}

impl Evaluator<'_> {
    /// `vjp f x`, of type `ty = (b, b -> a)`
    pub(super) fn vjp(&mut self, f: &Term, x: &Term, ty: &CoreTy, span: Span) -> Eval<Val> {
        let f = self.eval(f, None)?;
        let point = self.point(x, span)?;
        let traced = self.trace(&f, &point, &ty.components()[0], span)?;
        let anf::Reverse { mut forward, pullback, again } = self.reverse(&traced)?;
        let renaming = actual(&forward.params, &traced.actuals);
        let written = self.place(&mut forward, &renaming);
        let value = traced.rebuild(&self.emit, &forward.body.results);
        let here = |map| substituted(substituted(map, &renaming), &written);
        let (once, map) = match again {
            Some(again) => (Some(here(pullback)), here(again)),
            None => (None, here(pullback)),
        };
        let skeletons = [self.skeleton(&value)?, self.skeleton(&point)?];
        let free = self.captures(&map);
        let captured = free.iter().map(|p| stored(p.var.into(), &p.ty.dims));
        let env = skeletons.into_iter().chain(captured).collect();
        let hints = self.hints(&map);
        let (home, own) = (self.home, free.iter().map(|p| p.var).collect());
        let code = self.pullback(Pullback { map, free, span, home, hints });
        if let Some(map) = once {
            let level = self.emit.level();
            self.sweeps.push(Sweep { code: code.clone(), own, home, level, map });
        }
        Ok(Val::tuple([value, Val::closure(code, env)]))
    }

    /// `jvp f x dx`, of type `ty = (b, b)`
    pub(super) fn jvp(
        &mut self,
        f: &Term,
        x: &Term,
        dx: &Term,
        ty: &CoreTy,
        span: Span,
    ) -> Eval<Val> {
        self.forward(f, x, dx, &ty.components()[0], span, Forward::Tangent).map(Val::tuple)
    }

    /// `reach f x marks`, of type `ty = b`
    pub(super) fn reach(
        &mut self,
        f: &Term,
        x: &Term,
        marks: &Term,
        ty: &CoreTy,
        span: Span,
    ) -> Eval<Val> {
        self.forward(f, x, marks, ty, span, Forward::Marks).map(|[_, reached]| reached)
    }

    /// `band f x`: two literals.
    pub(super) fn band(&mut self, f: &Term, x: &Term, span: Span) -> Eval<Val> {
        let CoreTy::Fun(_, to) = f.ty() else { return Err(ill_typed()) };
        let f = self.eval(f, None)?;
        let point = self.point(x, span)?;
        let traced = self.trace(&f, &point, to, span)?;
        let (library, names) = (&self.emit.library, &mut self.emit.names);
        let found = self.derivatives.band(library, names, &traced.lambda);
        let (low, high) = found.unwrap_or((0, -1));
        Ok(Val::tuple([low, high].map(|k| Val::scalar(Atom::int(k)))))
    }

    /// The value of `f x`, and what comes of the tangents or marks.
    fn forward(
        &mut self,
        f: &Term,
        x: &Term,
        dx: &Term,
        ty: &CoreTy,
        span: Span,
        kind: Forward,
    ) -> Eval<[Val; 2]> {
        let f = self.eval(f, None)?;
        let point = self.point(x, span)?;
        let dx = self.eval(dx, None)?;
        let tangents =
            self.along(&point, &dx, span, "the tangent has another constructor than the point")?;
        let traced = self.trace(&f, &point, ty, span)?;
        self.pushed(&traced, &tangents, kind)
    }

    /// Value and tangent of a function that has been traced.
    pub(super) fn push(&mut self, traced: &Traced, tangents: &[Atom]) -> Eval<[Val; 2]> {
        self.pushed(traced, tangents, Forward::Tangent)
    }

    fn pushed(&mut self, traced: &Traced, tangents: &[Atom], kind: Forward) -> Eval<[Val; 2]> {
        let (library, names) = (&mut self.emit.library, &mut self.emit.names);
        let mut forward = match kind {
            Forward::Tangent => self.derivatives.forward(library, names, &traced.lambda)?,
            Forward::Marks => self.derivatives.reach(library, names, &traced.lambda)?,
        };
        self.directions.tangents += 1;
        let actuals: Vec<Atom> = traced.actuals.iter().chain(tangents).copied().collect();
        let renaming = actual(&forward.params, &actuals);
        self.place(&mut forward, &renaming);
        let (values, tangents) = forward.body.results.split_at(traced.lambda.results.len());
        let value = traced.rebuild(&self.emit, values);
        let skeleton = self.skeleton(&value)?;
        let tangent = with_reals(&self.emit, &skeleton, tangents);
        Ok([value, tangent])
    }

    /// The two sweeps of a function that has been traced.
    fn reverse(&mut self, traced: &Traced) -> Eval<anf::Reverse> {
        self.derivatives.reverse(&mut self.emit.library, &mut self.emit.names, &traced.lambda)
    }

    /// The cotangents of what a function that has been traced was applied to.
    pub(super) fn pull_traced(
        &mut self,
        traced: &Traced,
        cotangent: &Val,
        span: Span,
    ) -> Eval<Vec<Atom>> {
        let anf::Reverse { mut forward, mut pullback, .. } = self.reverse(traced)?;
        let mut renaming = actual(&forward.params, &traced.actuals);
        let written = self.place(&mut forward, &renaming);
        let value = traced.rebuild(&self.emit, &forward.body.results);
        let skeleton = self.skeleton(&value)?;
        let message = "the cotangent has another constructor than the result";
        let cotangents = self.along(&skeleton, cotangent, span, message)?;
        pullback.params.iter().zip(cotangents).for_each(|(p, a)| renaming.insert(p.var, a));
        written.apply(&mut pullback.body);
        self.place(&mut pullback, &renaming);
        Ok(pullback.body.results)
    }

    /// What the variables that a map binds are called.
    fn hints(&self, map: &anf::Lambda) -> HashMap<anf::Var, Rc<str>> {
        let mut hints = HashMap::new();
        map.body.bound(&mut |var| _ = hints.insert(var, self.emit.names.hint(var)));
        hints
    }

    /// The code of a pullback: one that is known already, if they are alike.
    fn pullback(&mut self, pullback: Pullback) -> Rc<Code> {
        let known = self.pullbacks.iter().find(
            |code| matches!(&code.kind, CodeKind::Pullback(other) if alike(other, &pullback)),
        );
        if let Some(code) = known {
            return code.clone();
        }
        let code = self.number(CodeKind::Pullback(pullback));
        self.pullbacks.push(code.clone());
        code
    }

    /// The point of a derivative; its real leaves are stored.
    fn point(&mut self, x: &Term, span: Span) -> Eval<Val> {
        let value = self.eval(x, None)?;
        first_order(&value, span)?;
        self.with_stored_reals(&value)
    }

    pub(super) fn with_stored_reals(&mut self, value: &Val) -> Eval<Val> {
        merge(&mut Store, &mut self.emit, &[Some(value)])
    }

    /// `f` at parameters, as a block.
    fn trace(&mut self, f: &Val, point: &Val, ty: &CoreTy, span: Span) -> Eval<Traced> {
        self.traced(point, span, &mut |this, x| this.apply(f, x, ty, None))
    }

    /// What depends on a value, as a block: the real leaves of the value are parameters.
    pub(super) fn traced(
        &mut self,
        point: &Val,
        span: Span,
        f: &mut dyn FnMut(&mut Self, Val) -> Eval<Val>,
    ) -> Eval<Traced> {
        self.emit.enter();
        let (mut params, mut actuals) = (Vec::new(), Vec::new());
        let emit = &mut self.emit;
        let mut parameter = |leaf: &Leaf| {
            if !is_active(emit.elem_of(leaf)) {
                return leaf.clone();
            }
            let ty = anf::Ty { elem: emit.elem_of(leaf), ..emit.ty(leaf.atom) };
            let hint =
                if leaf.atom.as_var().is_some() { emit.hint_of(leaf.atom) } else { "x".into() };
            let var = emit.fresh(hint, ty.clone());
            params.push(Param { var, ty });
            actuals.push(leaf.atom);
            Leaf { atom: var.into(), ..leaf.clone() }
        };
        let x = point.map(&mut parameter, &mut |size| size);
        self.derivatives_around += 1;
        let value = f(self, x);
        self.derivatives_around -= 1;
        let value = value?;
        first_order(&value, span)?;
        let mut results = Results {
            level: self.emit.level(),
            atoms: Vec::new(),
            types: Vec::new(),
            reals: Vec::new(),
            others: Vec::new(),
        };
        let value = merge(&mut results, &mut self.emit, &[Some(&value)])?;
        let mut body = self.emit.leave().finish(results.atoms);
        // What derivatives inside have left out, before its loops are fused.
        self.emit.guard(&mut body);
        self.ready(&body)?;
        let lambda = anf::Lambda { params, results: results.types, body };
        Ok(Traced { lambda, actuals, value, reals: results.reals, others: results.others })
    }

    /// Appends the body of a lambda, with atoms for its parameters. Gives the new names of what calls have bound that are written out.
    fn place(&mut self, lambda: &mut anf::Lambda, renaming: &Renaming) -> Renaming {
        renaming.apply(&mut lambda.body);
        self.adopt(&mut lambda.body)
    }

    /// Appends the statements of a block. Where no derivative follows, functions with rules are functions like others.
    fn adopt(&mut self, block: &mut anf::Block) -> Renaming {
        let written = match self.may_be_differentiated() {
            true => Renaming::new(),
            false => without_rules(&self.emit.library, &mut self.emit.names, block),
        };
        std::mem::take(&mut block.stms).into_iter().for_each(|stm| self.emit.adopt(stm));
        written
    }

    /// Sizes and constructors of a value; everything else is zero.
    fn skeleton(&mut self, value: &Val) -> Eval<Val> {
        merge(&mut Skeleton, &mut self.emit, &[Some(value)])
    }

    /// A skeleton with the sizes that the types of its active leaves have: it may have been kept with sizes of its own.
    fn with_sizes_of(&mut self, skeleton: &Val, types: &[anf::Ty], span: Span) -> Val {
        Sizes { emit: &mut self.emit, types: types.iter(), span }.of(skeleton, 0).0
    }

    /// The real leaves of a tangent or a cotangent of a value of this skeleton.
    pub(super) fn along(
        &mut self,
        skeleton: &Val,
        tangent: &Val,
        span: Span,
        message: &'static str,
    ) -> Eval<Vec<Atom>> {
        let mut along = Along { span, message, leaves: Vec::new() };
        merge(&mut along, &mut self.emit, &[Some(skeleton), Some(tangent)])?;
        Ok(along.leaves)
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
                        self.emit.check_equal(*first, atom, pullback.span, SIZES_DIFFER);
                    }
                }
            }
        }
        let here = |ty: &anf::Ty| renaming.ty(ty);
        let params: Vec<anf::Ty> = pullback.map.params.iter().map(|p| here(&p.ty)).collect();
        let results: Vec<anf::Ty> = pullback.map.results.iter().map(here).collect();
        let result = self.with_sizes_of(result, &params, pullback.span);
        let point = &self.with_sizes_of(point, &results, pullback.span);
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
        self.directions.cotangents += usize::from(made_before);
        pullback
            .map
            .params
            .iter()
            .zip(cotangents)
            .for_each(|(p, atom)| renaming.insert(p.var, atom));
        let (body, names) = (&pullback.map.body, &mut self.emit.names);
        let mut body = match pullback.home == self.home {
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
    /// The map for a pullback with this environment, if its forward sweep is in this block and has not been used.
    fn sweep_of(&mut self, pullback: &Pullback, env: &Renaming) -> Option<anf::Lambda> {
        let is = |sweep: &Sweep| {
            let same =
                matches!(&sweep.code.kind, CodeKind::Pullback(p) if std::ptr::eq(p, pullback));
            let mut own = pullback.free.iter().zip(&sweep.own);
            let here = sweep.home == self.home && sweep.level == self.emit.level();
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

impl Traced {
    /// The value, with the results of a differentiated block for those of the original.
    fn rebuild(&self, emit: &Emit, results: &[Atom]) -> Val {
        let reals: Vec<Atom> = self.reals.iter().map(|k| results[*k]).collect();
        let others: HashMap<Atom, Atom> =
            self.others.iter().map(|(atom, k)| (*atom, results[*k])).collect();
        let other = |atom: Atom| others.get(&atom).copied().unwrap_or(atom);
        let value = with_reals(emit, &self.value, &reals);
        let on_leaf = &mut |leaf: &Leaf| match emit.elem_of(leaf) {
            Elem::Scalar(ScalarTy::Real) | Elem::Ref(_) => leaf.clone(),
            Elem::Scalar(ScalarTy::Int | ScalarTy::Bool) => {
                Leaf { atom: other(leaf.atom), ..leaf.clone() }
            }
        };
        value.map(on_leaf, &mut |size| other(size))
    }
}

/// The structure with these real leaves, in order.
fn with_reals(emit: &Emit, structure: &Val, atoms: &[Atom]) -> Val {
    let mut atoms = atoms.iter();
    let on_leaf = &mut |leaf: &Leaf| match emit.elem_of(leaf) {
        elem @ (Elem::Scalar(ScalarTy::Real) | Elem::Ref(_)) => {
            let atom = *atoms.next().expect("one atom per active leaf");
            Leaf::stored(atom, leaf.axes.len()).of(elem)
        }
        Elem::Scalar(ScalarTy::Int | ScalarTy::Bool) => leaf.clone(),
    };
    structure.map(on_leaf, &mut |size| size)
}

/// Gives the arrays in a skeleton the sizes that the types of their active leaves have, in order.
struct Sizes<'a> {
    emit: &'a mut Emit,
    types: std::slice::Iter<'a, anf::Ty>,
    span: Span,
}

impl Sizes<'_> {
    /// The value under so many arrays, and the sizes of the first of its active leaves.
    fn of(&mut self, value: &Val, axes: usize) -> (Val, Option<Vec<Atom>>) {
        match value {
            Val::Leaf(leaf) => (value.clone(), self.leaf(leaf)),
            Val::Node(node) => (value.clone(), self.leaf(&node.handle)),
            Val::Acc(_) => (value.clone(), None),
            Val::Tuple(items) => {
                let (items, sizes) = self.all(items, axes);
                (Val::tuple(items), sizes)
            }
            Val::Array(array) => {
                let (elem, sizes) = self.of(&array.elem, axes + 1);
                let extent = sizes.as_ref().map_or(array.extent, |sizes| sizes[axes]);
                // Which constructors its elements have was kept with the other size.
                if axes == 0 && extent != array.extent {
                    self.emit.check_equal(extent, array.extent, self.span, SIZES_DIFFER);
                }
                (Val::array(extent, elem), sizes)
            }
            Val::Variant(variant) => {
                let mut sizes = self.leaf(&variant.tag);
                let fields = variant.fields.iter().map(|fields| {
                    let (fields, found) = self.all(fields.as_ref()?, axes);
                    sizes = sizes.take().or(found);
                    Some(fields)
                });
                let fields = fields.collect();
                let tag = variant.tag.clone();
                (Val::Variant(Rc::new(VariantVal { tag, fields })), sizes)
            }
            Val::Fun(fun) => {
                let mut sizes = self.leaf(&fun.tag);
                let alternatives = fun.alternatives.iter().map(|closure| {
                    let (env, found) = self.all(&closure.env, axes);
                    sizes = sizes.take().or(found);
                    Closure { code: closure.code.clone(), env }
                });
                let alternatives = alternatives.collect();
                let tag = fun.tag.clone();
                (Val::Fun(Rc::new(FunVal { tag, alternatives })), sizes)
            }
        }
    }

    fn all(&mut self, values: &[Val], axes: usize) -> (Vec<Val>, Option<Vec<Atom>>) {
        let mut sizes = None;
        let mut one = |value| {
            let (value, found) = self.of(value, axes);
            sizes = sizes.take().or(found);
            value
        };
        let values = values.iter().map(&mut one).collect();
        (values, sizes)
    }

    fn leaf(&mut self, leaf: &Leaf) -> Option<Vec<Atom>> {
        is_active(self.emit.elem_of(leaf)).then(|| self.types.next())?.map(|ty| ty.dims.clone())
    }
}

/// Atoms for parameters.
fn actual(params: &[Param], actuals: &[Atom]) -> Renaming {
    let mut renaming = Renaming::new();
    params.iter().zip(actuals).for_each(|(p, atom)| renaming.insert(p.var, *atom));
    renaming
}

fn substituted(mut lambda: anf::Lambda, renaming: &Renaming) -> anf::Lambda {
    renaming.apply(&mut lambda.body);
    lambda.params.iter_mut().for_each(|p| p.ty = renaming.ty(&p.ty));
    lambda.results.iter_mut().for_each(|ty| *ty = renaming.ty(ty));
    lambda
}

/// Has it a derivative: is it real, or a handle of nodes?
pub(super) fn is_active(elem: Elem) -> bool {
    match elem {
        Elem::Scalar(ScalarTy::Real) | Elem::Ref(_) => true,
        Elem::Scalar(ScalarTy::Int | ScalarTy::Bool) => false,
    }
}

/// Derivatives are of data.
fn first_order(value: &Val, span: Span) -> Eval<()> {
    if value.is_first_order() {
        return Ok(());
    }
    Err(Box::new(messages::not_first_order(span)))
}

/// Stores the real leaves.
struct Store;

impl Merge for Store {
    fn size(&mut self, _: &mut Emit, parts: &[Option<Atom>], _: &[Vec<Guard>]) -> Eval<Atom> {
        parts[0].ok_or_else(ill_typed)
    }

    fn leaf(&mut self, emit: &mut Emit, parts: &[Option<&Leaf>], place: &Place) -> Eval<Leaf> {
        let leaf = parts[0].ok_or_else(ill_typed)?;
        if !is_active(place.elem) {
            return Ok(leaf.clone());
        }
        let rank = leaf.axes.len();
        let atom = emit.broadcast(leaf, &vec![true; rank], &place.extents);
        Ok(Leaf::stored(atom, rank).of(place.elem))
    }
}

/// The results of the block under construction: every real leaf, and whatever else of the value the block binds.
struct Results {
    level: usize,
    atoms: Vec<Atom>,
    types: Vec<anf::Ty>,
    reals: Vec<usize>,
    others: Vec<(Atom, usize)>,
}

impl Results {
    fn other(&mut self, emit: &Emit, atom: Atom) {
        if self.others.iter().all(|(known, _)| *known != atom) {
            self.others.push((atom, self.atoms.len()));
            self.types.push(emit.ty(atom));
            self.atoms.push(atom);
        }
    }
}

impl Merge for Results {
    fn size(&mut self, emit: &mut Emit, parts: &[Option<Atom>], _: &[Vec<Guard>]) -> Eval<Atom> {
        let size = parts[0].ok_or_else(ill_typed)?;
        if let Some(outer) = emit.outer_form(size, self.level) {
            return Ok(outer);
        }
        self.other(emit, size);
        Ok(size)
    }

    fn leaf(&mut self, emit: &mut Emit, parts: &[Option<&Leaf>], place: &Place) -> Eval<Leaf> {
        let leaf = parts[0].ok_or_else(ill_typed)?;
        if is_active(place.elem) {
            let rank = leaf.axes.len();
            let atom = emit.broadcast(leaf, &vec![true; rank], &place.extents);
            self.reals.push(self.atoms.len());
            self.types.push(anf::Ty { elem: place.elem, ..emit.ty(atom) });
            self.atoms.push(atom);
            return Ok(Leaf::stored(atom, rank).of(place.elem));
        }
        if emit.is_static(leaf, &place.extents, self.level) {
            return Ok(leaf.clone());
        }
        let atom = emit.force(leaf);
        self.other(emit, atom);
        Ok(Leaf { axes: leaf.axes.clone(), ..Leaf::scalar(atom) })
    }
}

/// Forgets all numbers, keeps sizes and constructors.
struct Skeleton;

impl Merge for Skeleton {
    fn size(&mut self, _: &mut Emit, parts: &[Option<Atom>], _: &[Vec<Guard>]) -> Eval<Atom> {
        parts[0].ok_or_else(ill_typed)
    }

    fn leaf(&mut self, _: &mut Emit, parts: &[Option<&Leaf>], place: &Place) -> Eval<Leaf> {
        let leaf = parts[0].ok_or_else(ill_typed)?;
        if place.is_tag {
            Ok(leaf.clone())
        } else {
            Ok(Leaf::same(Atom::Lit(place.elem.zero()), leaf.axes.len()).of(place.elem))
        }
    }
}

/// Collects the real leaves of a tangent of a point.
struct Along {
    span: Span,
    /// What to say where the constructors differ.
    message: &'static str,
    leaves: Vec<Atom>,
}

impl Along {
    /// Fails where the constructors differ; they may be those of the elements of an array.
    fn same_constructor(&self, emit: &mut Emit, point: &Leaf, tangent: &Leaf, extents: &[Atom]) {
        let Some(extent) = extents.first() else {
            let (a, b) = (emit.force(point), emit.force(tangent));
            let cond = emit.prim(Prim::EqInt, &[a, b]);
            emit.check(cond, self.span, self.message, Vec::new());
            return;
        };
        if point == tangent {
            return;
        }
        emit.enter();
        let index = emit.index("i", *extent);
        self.same_constructor(
            emit,
            &point.at(index.into()),
            &tangent.at(index.into()),
            &extents[1..],
        );
        let block = emit.leave();
        if !block.is_empty() {
            let body = block.finish(Vec::new());
            emit.push(Vec::new(), Nest::For { index, extent: *extent, outs: Vec::new(), body });
        }
    }
}

impl Merge for Along {
    fn size(&mut self, emit: &mut Emit, parts: &[Option<Atom>], ways: &[Vec<Guard>]) -> Eval<Atom> {
        if let (Some(point), Some(tangent)) = (parts[0], parts[1])
            && !emit.facts.equal(point, tangent)
        {
            let active = emit.active(&ways[0]);
            emit.check_equal_if(active, point, tangent, self.span, SIZES_DIFFER);
        }
        parts[0].or(parts[1]).ok_or_else(ill_typed)
    }

    fn leaf(&mut self, emit: &mut Emit, parts: &[Option<&Leaf>], place: &Place) -> Eval<Leaf> {
        let present = parts[0].or(parts[1]).ok_or_else(ill_typed)?;
        if let (Some(point), Some(tangent), true) = (parts[0], parts[1], place.is_tag) {
            self.same_constructor(emit, point, tangent, &place.extents);
        }
        if parts[0].is_some() && is_active(place.elem) {
            let mask = vec![true; place.extents.len()];
            self.leaves.push(emit.fit(parts[1], 1, &mask, &[], place));
        }
        Ok(present.clone())
    }
}
