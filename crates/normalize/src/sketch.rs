//! What of a value is static where it crosses into a function of the library or into a node, and the slots of what is not.
//!
//! A [`Sketch`] is a value without its leaves: two values with one sketch can take the place of each other. Data is sketched by its type, so
//! it has one sketch; of functions the code is static, and what it captures is sketched in turn. `slots` says which scalars and arrays of
//! scalars a value of a sketch consists of, `fill` takes them from a value, `instantiate` makes a value of them, all in the same order:
//! sizes stand before the arrays that have them.

use std::cell::Cell;
use std::rc::Rc;

use lambada_anf::{Atom, Elem, Param, Ty, Var};
use lambada_core::Ty as CoreTy;
use lambada_prim::ScalarTy;
use lambada_source::Span;

use crate::Eval;
use crate::eval::Evaluator;
use crate::merge::{ill_typed, zeros};
use crate::messages;
use crate::val::{AccVal, Closure, CodeKind, FunVal, Leaf, NodeVal, Val, VariantVal};

/// The static part of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sketch {
    /// A scalar.
    Leaf(Elem),
    /// A scalar that is always zero.
    Zero(Elem),
    /// A tuple or a record.
    Tuple(Vec<Sketch>),
    /// An array.
    Array(Box<Sketch>),
    /// A variant, with the fields of the constructors that it may be, and the tag if it is known.
    Variant { tag: Option<i64>, fields: Vec<Option<Vec<Sketch>>> },
    /// One of several closures, by the numbers of their codes, and the tag if it is known.
    Fun { tag: Option<i64>, alternatives: Vec<(i64, Vec<Sketch>)> },
    /// A node: a value of a recursive type, or a function that only run time knows.
    Node(CoreTy),
    /// An accumulator.
    Acc(Box<Sketch>),
}

/// A scalar or an array of scalars that a value consists of.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    /// What it is called.
    pub name: Rc<str>,
    /// Its scalars.
    pub elem: Elem,
    /// Its sizes: slots that stand before.
    pub dims: Vec<usize>,
}

/// The slots of some sketches.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    /// The values.
    pub values: Vec<Slot>,
    /// The accumulators; their sizes are among the values.
    pub accumulators: Vec<Slot>,
    axes: Vec<usize>,
}

/// What fills slots.
#[derive(Debug, Default)]
pub(crate) struct Filled {
    /// By slot.
    pub atoms: Vec<Atom>,
    /// By accumulator.
    pub accumulators: Vec<Var>,
    pub extents: Vec<Atom>,
}

/// Where a value takes its leaves from.
pub(crate) struct Source<'a> {
    pub atoms: &'a mut dyn Iterator<Item = Atom>,
    pub accumulators: &'a mut dyn Iterator<Item = Var>,
}

/// Has an accumulator of such elements a sum?
fn is_number(elem: Elem) -> bool {
    match elem {
        Elem::Scalar(ScalarTy::Real | ScalarTy::Int) => true,
        Elem::Scalar(ScalarTy::Bool) | Elem::Ref(_) => false,
    }
}

impl Slots {
    fn push(&mut self, name: &str, elem: Elem) {
        self.values.push(Slot { name: name.into(), elem, dims: self.axes.clone() });
    }

    /// The type of a slot, if these atoms fill the slots.
    pub fn ty(slot: &Slot, atoms: &[Atom]) -> Ty {
        Ty { elem: slot.elem, dims: slot.dims.iter().map(|k| atoms[*k]).collect() }
    }
}

impl Filled {
    fn mask(&self) -> Vec<bool> {
        vec![true; self.extents.len()]
    }
}

impl Source<'_> {
    fn leaf(&mut self, elem: Elem, rank: usize) -> Eval<Leaf> {
        let atom = self.atoms.next().ok_or_else(ill_typed)?;
        Ok(Leaf::stored(atom, rank).of(elem))
    }
}

impl Evaluator<'_> {
    // Sketches

    /// The sketch of all values of a type. Functions in it are those that only run time knows.
    pub(crate) fn canonical(&self, ty: &CoreTy) -> Sketch {
        match ty {
            CoreTy::Scalar(elem) => Sketch::Leaf((*elem).into()),
            CoreTy::Tuple(_) | CoreTy::Record(_) => {
                Sketch::Tuple(ty.components().iter().map(|t| self.canonical(t)).collect())
            }
            CoreTy::Array(elem) => Sketch::Array(Box::new(self.canonical(elem))),
            CoreTy::Variant(id) if !self.types.is_recursive(*id) => {
                let constructors = &self.program.type_decl(*id).constructors;
                let fields = constructors.iter().map(|(_, fields)| Some(self.all(fields)));
                Sketch::Variant { tag: None, fields: fields.collect() }
            }
            CoreTy::Fun(..) | CoreTy::Variant(_) => Sketch::Node(ty.clone()),
        }
    }

    /// The sketches of all values of some types.
    pub(crate) fn all(&self, types: &[CoreTy]) -> Vec<Sketch> {
        types.iter().map(|ty| self.canonical(ty)).collect()
    }

    /// The sketch of a value of a type. `path`: the codes whose environments are around; one that occurs in its own environment is only known
    /// at run time.
    pub(crate) fn sketch(&self, val: &Val, ty: &CoreTy, path: &mut Vec<i64>) -> Eval<Sketch> {
        if let Val::Acc(_) = val {
            return self.untyped(val, path);
        }
        if self.types.is_data(self.program, ty) {
            return Ok(self.canonical(ty));
        }
        match (val, ty) {
            (Val::Tuple(items), CoreTy::Tuple(_) | CoreTy::Record(_)) => {
                let parts = items.iter().zip(ty.components());
                let parts = parts.map(|(v, t)| self.sketch(v, &t, path));
                Ok(Sketch::Tuple(parts.collect::<Eval<_>>()?))
            }
            (Val::Array(array), CoreTy::Array(elem)) => {
                Ok(Sketch::Array(Box::new(self.sketch(&array.elem, elem, path)?)))
            }
            (Val::Variant(variant), CoreTy::Variant(id)) => {
                let constructors = &self.program.type_decl(*id).constructors;
                let fields = variant.fields.iter().zip(constructors).map(|(fields, (_, types))| {
                    let list = |fields: &Vec<Val>| {
                        let pairs = fields.iter().zip(types);
                        pairs.map(|(v, t)| self.sketch(v, t, path)).collect::<Eval<Vec<_>>>()
                    };
                    fields.as_ref().map(list).transpose()
                });
                let fields = fields.collect::<Eval<_>>()?;
                Ok(Sketch::Variant { tag: constant(&variant.tag), fields })
            }
            (Val::Fun(fun), _) => self.closures(fun, ty, path),
            (Val::Node(_), _) => Ok(Sketch::Node(ty.clone())),
            (Val::Leaf(_) | Val::Tuple(_) | Val::Array(_) | Val::Variant(_) | Val::Acc(_), _) => {
                Err(ill_typed())
            }
        }
    }

    fn closures(&self, fun: &FunVal, ty: &CoreTy, path: &mut Vec<i64>) -> Eval<Sketch> {
        if fun.alternatives.iter().any(|c| path.contains(&c.code.number)) {
            return Ok(Sketch::Node(ty.clone()));
        }
        let alternatives = fun.alternatives.iter().map(|closure| {
            path.push(closure.code.number);
            let env = self.environment(closure, path);
            path.pop();
            Ok((closure.code.number, env?))
        });
        let alternatives = alternatives.collect::<Eval<_>>()?;
        Ok(Sketch::Fun { tag: constant(&fun.tag), alternatives })
    }

    /// The sketches of what a closure captures.
    fn environment(&self, closure: &Closure, path: &mut Vec<i64>) -> Eval<Vec<Sketch>> {
        match &closure.code.kind {
            CodeKind::Lambda { free, .. } => {
                let pairs = closure.env.iter().zip(free.iter());
                pairs.map(|(v, x)| self.sketch(v, &x.ty, path)).collect()
            }
            CodeKind::Pullback(_) => closure.env.iter().map(|v| self.untyped(v, path)).collect(),
        }
    }

    /// The sketches of what a closure captures, where functions in it are only known at run time.
    pub(crate) fn captured(&self, closure: &Closure) -> Eval<Vec<Sketch>> {
        match &closure.code.kind {
            CodeKind::Lambda { free, .. } => Ok(free.iter().map(|x| self.canonical(&x.ty)).collect()),
            CodeKind::Pullback(_) => self.environment(closure, &mut Vec::new()),
        }
    }

    /// The sketch of a value whose type is not known, such as the skeleton of a result.
    fn untyped(&self, val: &Val, path: &mut Vec<i64>) -> Eval<Sketch> {
        let list = |vals: &[Val], path: &mut Vec<i64>| {
            vals.iter().map(|v| self.untyped(v, path)).collect::<Eval<Vec<_>>>()
        };
        Ok(match val {
            Val::Leaf(leaf) => {
                let elem = self.emit.elem_of(leaf);
                let is_zero = leaf.constant().is_some_and(|value| value == elem.zero());
                if is_zero { Sketch::Zero(elem) } else { Sketch::Leaf(elem) }
            }
            Val::Tuple(items) => Sketch::Tuple(list(items, path)?),
            Val::Array(array) => Sketch::Array(Box::new(self.untyped(&array.elem, path)?)),
            Val::Variant(variant) => {
                let fields = variant.fields.iter();
                let fields = fields.map(|f| f.as_ref().map(|f| list(f, path)).transpose());
                let tag = constant(&variant.tag);
                Sketch::Variant { tag, fields: fields.collect::<Eval<_>>()? }
            }
            Val::Node(node) => Sketch::Node(node.ty.clone()),
            Val::Acc(acc) => Sketch::Acc(Box::new(self.untyped(&acc.structure, path)?)),
            Val::Fun(_) => return Err(ill_typed()),
        })
    }

    // Slots

    /// Adds the slots of a sketch.
    pub(crate) fn slots(&mut self, sketch: &Sketch, name: &str, slots: &mut Slots) {
        match sketch {
            Sketch::Leaf(elem) => slots.push(name, *elem),
            Sketch::Zero(_) => {}
            Sketch::Tuple(items) => items.iter().for_each(|s| self.slots(s, name, slots)),
            Sketch::Array(elem) => self.sized(name, slots, &mut |this, slots| {
                this.slots(elem, name, slots);
            }),
            Sketch::Variant { tag, fields } => {
                if tag.is_none() {
                    slots.push(name, Elem::INT);
                }
                fields.iter().flatten().flatten().for_each(|s| self.slots(s, name, slots));
            }
            Sketch::Fun { tag, alternatives } => {
                if tag.is_none() {
                    slots.push(name, Elem::INT);
                }
                let captured = alternatives.iter().flat_map(|(_, env)| env);
                captured.for_each(|s| self.slots(s, name, slots));
            }
            Sketch::Node(ty) => {
                let node = self.node_type(ty);
                slots.push(name, Elem::Ref(node));
            }
            Sketch::Acc(inside) => self.accumulator_slots(inside, name, slots),
        }
    }

    fn sized(
        &mut self,
        name: &str,
        slots: &mut Slots,
        inside: &mut dyn FnMut(&mut Self, &mut Slots),
    ) {
        let size = Slot { name: format!("{name}_size").into(), elem: Elem::INT, dims: Vec::new() };
        slots.axes.push(slots.values.len());
        slots.values.push(size);
        inside(self, slots);
        slots.axes.pop();
    }

    fn accumulator_slots(&mut self, sketch: &Sketch, name: &str, slots: &mut Slots) {
        match sketch {
            Sketch::Leaf(elem) if is_number(*elem) => {
                let dims = slots.axes.clone();
                slots.accumulators.push(Slot { name: name.into(), elem: *elem, dims });
            }
            Sketch::Array(elem) => self.sized(name, slots, &mut |this, slots| {
                this.accumulator_slots(elem, name, slots);
            }),
            Sketch::Tuple(items) => {
                items.iter().for_each(|s| self.accumulator_slots(s, name, slots));
            }
            Sketch::Leaf(_)
            | Sketch::Zero(_)
            | Sketch::Variant { .. }
            | Sketch::Fun { .. }
            | Sketch::Node(_)
            | Sketch::Acc(_) => self.slots(sketch, name, slots),
        }
    }

    /// New parameters for slots, of the innermost block.
    pub(crate) fn parameters(&mut self, slots: &Slots) -> (Vec<Param>, Vec<Param>) {
        let mut atoms = Vec::new();
        let mut params = Vec::new();
        for slot in &slots.values {
            let ty = Slots::ty(slot, &atoms);
            let var = self.emit.fresh(slot.name.clone(), ty.clone());
            atoms.push(var.into());
            params.push(Param { var, ty });
        }
        let accumulators = slots.accumulators.iter().map(|slot| {
            let ty = Slots::ty(slot, &atoms);
            Param { var: self.emit.fresh(slot.name.clone(), ty.clone()), ty }
        });
        let accumulators = accumulators.collect();
        (params, accumulators)
    }

    // Values

    /// Takes the slots of a sketch from a value; those of an absent one are zeros, and of size 0.
    pub(crate) fn fill(
        &mut self,
        sketch: &Sketch,
        val: Option<&Val>,
        to: &mut Filled,
    ) -> Eval<()> {
        match (sketch, val) {
            (Sketch::Leaf(elem), Some(Val::Leaf(leaf))) => self.store(*elem, Some(leaf), to),
            (Sketch::Leaf(elem), None) => self.store(*elem, None, to),
            (Sketch::Zero(_), _) => {}
            (Sketch::Tuple(items), Some(Val::Tuple(vals))) => {
                items.iter().zip(vals.iter()).try_for_each(|(s, v)| self.fill(s, Some(v), to))?;
            }
            (Sketch::Tuple(items), None) => {
                items.iter().try_for_each(|s| self.fill(s, None, to))?;
            }
            (Sketch::Array(elem), Some(Val::Array(array))) => {
                self.fill_array(elem, array.extent, Some(&array.elem), to)?;
            }
            (Sketch::Array(elem), None) => self.fill_array(elem, Atom::int(0), None, to)?,
            (Sketch::Variant { tag, fields }, Some(Val::Variant(variant))) => {
                self.fill_tag(*tag, Some(&variant.tag), to);
                for (sketches, vals) in fields.iter().zip(&variant.fields) {
                    self.fill_list(sketches.as_deref(), vals.as_deref(), to)?;
                }
            }
            (Sketch::Variant { tag, fields }, None) => {
                self.fill_tag(*tag, None, to);
                fields.iter().try_for_each(|s| self.fill_list(s.as_deref(), None, to))?;
            }
            (Sketch::Fun { tag, alternatives }, Some(Val::Fun(fun))) => {
                self.fill_tag(*tag, Some(&fun.tag), to);
                for (number, env) in alternatives {
                    let vals = fun.env(*number).cloned();
                    self.fill_list(Some(env), vals.as_deref(), to)?;
                }
            }
            (Sketch::Fun { tag, alternatives }, None) => {
                self.fill_tag(*tag, None, to);
                alternatives
                    .iter()
                    .try_for_each(|(_, env)| self.fill_list(Some(env), None, to))?;
            }
            (Sketch::Node(ty), val) => self.fill_node(ty, val, to)?,
            (Sketch::Acc(inside), Some(Val::Acc(acc))) => {
                if acc.frozen.get() {
                    return Err(Box::new(messages::frozen("accumulator", Span::default())));
                }
                self.fill_accumulator(inside, &acc.structure, to)?;
            }
            (
                Sketch::Leaf(_)
                | Sketch::Tuple(_)
                | Sketch::Array(_)
                | Sketch::Variant { .. }
                | Sketch::Fun { .. }
                | Sketch::Acc(_),
                _,
            ) => return Err(ill_typed()),
        }
        Ok(())
    }

    fn store(&mut self, elem: Elem, leaf: Option<&Leaf>, to: &mut Filled) {
        let mask = to.mask();
        let atom = match leaf {
            Some(leaf) => self.emit.broadcast(leaf, &mask, &to.extents),
            None => zeros(&mut self.emit, elem, &mask, &to.extents),
        };
        to.atoms.push(atom);
    }

    fn fill_tag(&mut self, known: Option<i64>, tag: Option<&Leaf>, to: &mut Filled) {
        if known.is_none() {
            self.store(Elem::INT, tag, to);
        }
    }

    fn fill_list(
        &mut self,
        sketches: Option<&[Sketch]>,
        vals: Option<&[Val]>,
        to: &mut Filled,
    ) -> Eval<()> {
        let mut sketches = sketches.unwrap_or_default().iter().enumerate();
        sketches.try_for_each(|(k, s)| self.fill(s, vals.map(|vals| &vals[k]), to))
    }

    fn fill_array(
        &mut self,
        sketch: &Sketch,
        extent: Atom,
        elem: Option<&Val>,
        to: &mut Filled,
    ) -> Eval<()> {
        to.atoms.push(extent);
        to.extents.push(extent);
        self.fill(sketch, elem, to)?;
        to.extents.pop();
        Ok(())
    }

    fn fill_node(&mut self, ty: &CoreTy, val: Option<&Val>, to: &mut Filled) -> Eval<()> {
        let elem = Elem::Ref(self.node_type(ty));
        match val {
            Some(Val::Node(node)) => self.store(elem, Some(&node.handle), to),
            Some(Val::Fun(fun)) => {
                let handle = self.dynamic_family(fun, ty, &to.extents)?;
                self.store(elem, Some(&handle), to);
            }
            None => self.store(elem, None, to),
            Some(
                Val::Leaf(_) | Val::Tuple(_) | Val::Array(_) | Val::Variant(_) | Val::Acc(_),
            ) => return Err(ill_typed()),
        }
        Ok(())
    }

    fn fill_accumulator(&mut self, sketch: &Sketch, val: &Val, to: &mut Filled) -> Eval<()> {
        match (sketch, val) {
            (Sketch::Leaf(elem), Val::Leaf(leaf)) if is_number(*elem) => {
                to.accumulators.push(leaf.atom.as_var().ok_or_else(ill_typed)?);
                Ok(())
            }
            (Sketch::Array(elem), Val::Array(array)) => {
                to.atoms.push(array.extent);
                to.extents.push(array.extent);
                self.fill_accumulator(elem, &array.elem, to)?;
                to.extents.pop();
                Ok(())
            }
            (Sketch::Tuple(items), Val::Tuple(vals)) => {
                let mut pairs = items.iter().zip(vals.iter());
                pairs.try_for_each(|(s, v)| self.fill_accumulator(s, v, to))
            }
            (
                Sketch::Leaf(_)
                | Sketch::Zero(_)
                | Sketch::Tuple(_)
                | Sketch::Array(_)
                | Sketch::Variant { .. }
                | Sketch::Fun { .. }
                | Sketch::Node(_)
                | Sketch::Acc(_),
                val,
            ) => self.fill(sketch, Some(val), to),
        }
    }

    /// The slots of several values.
    pub(crate) fn filled(&mut self, sketches: &[Sketch], vals: &[Val]) -> Eval<Filled> {
        let mut filled = Filled::default();
        self.fill_list(Some(sketches), Some(vals), &mut filled)?;
        Ok(filled)
    }

    /// The values of some sketches, from what fills their slots.
    pub(crate) fn instances(&mut self, sketches: &[Sketch], atoms: Vec<Atom>) -> Eval<Vec<Val>> {
        let mut atoms = atoms.into_iter();
        let mut from = Source { atoms: &mut atoms, accumulators: &mut std::iter::empty() };
        sketches.iter().map(|s| self.instantiate(s, &mut from, 0)).collect()
    }

    /// The value of a sketch inside of `rank` arrays.
    pub(crate) fn instantiate(
        &mut self,
        sketch: &Sketch,
        from: &mut Source,
        rank: usize,
    ) -> Eval<Val> {
        Ok(match sketch {
            Sketch::Leaf(elem) => Val::Leaf(from.leaf(*elem, rank)?),
            Sketch::Zero(elem) => Val::Leaf(Leaf::same(Atom::Lit(elem.zero()), rank).of(*elem)),
            Sketch::Tuple(items) => Val::tuple(self.instantiate_all(items, from, rank)?),
            Sketch::Array(elem) => {
                let extent = from.atoms.next().ok_or_else(ill_typed)?;
                Val::array(extent, self.instantiate(elem, from, rank + 1)?)
            }
            Sketch::Variant { tag, fields } => {
                let tag = Self::tag(*tag, from, rank)?;
                let list = |fields: &Vec<Sketch>| self.instantiate_all(fields, from, rank);
                let mut list = list;
                let fields = fields.iter().map(|f| f.as_ref().map(&mut list).transpose());
                let fields = fields.collect::<Eval<_>>()?;
                Val::Variant(Rc::new(VariantVal { tag, fields }))
            }
            Sketch::Fun { tag, alternatives } => {
                let tag = Self::tag(*tag, from, rank)?;
                let mut closures = Vec::with_capacity(alternatives.len());
                for (number, env) in alternatives {
                    let env = self.instantiate_all(env, from, rank)?;
                    closures.push(Closure { code: self.code_of(*number), env });
                }
                Val::Fun(Rc::new(FunVal { tag, alternatives: closures }))
            }
            Sketch::Node(ty) => {
                let elem = Elem::Ref(self.node_type(ty));
                self.node_val(ty, from.leaf(elem, rank)?)
            }
            Sketch::Acc(inside) => {
                let structure = self.accumulator(inside, from, rank)?;
                Val::Acc(Rc::new(AccVal { structure, frozen: Cell::new(false) }))
            }
        })
    }

    fn instantiate_all(
        &mut self,
        sketches: &[Sketch],
        from: &mut Source,
        rank: usize,
    ) -> Eval<Vec<Val>> {
        sketches.iter().map(|s| self.instantiate(s, from, rank)).collect()
    }

    fn tag(known: Option<i64>, from: &mut Source, rank: usize) -> Eval<Leaf> {
        match known {
            Some(tag) => Ok(Leaf::same(Atom::int(tag), rank)),
            None => from.leaf(Elem::INT, rank),
        }
    }

    fn accumulator(&mut self, sketch: &Sketch, from: &mut Source, rank: usize) -> Eval<Val> {
        match sketch {
            Sketch::Leaf(elem) if is_number(*elem) => {
                let acc = from.accumulators.next().ok_or_else(ill_typed)?;
                Ok(Val::Leaf(Leaf::stored(acc.into(), rank)))
            }
            Sketch::Array(elem) => {
                let extent = from.atoms.next().ok_or_else(ill_typed)?;
                Ok(Val::array(extent, self.accumulator(elem, from, rank + 1)?))
            }
            Sketch::Tuple(items) => {
                let items = items.iter().map(|s| self.accumulator(s, from, rank));
                Ok(Val::tuple(items.collect::<Eval<Vec<_>>>()?))
            }
            Sketch::Leaf(_)
            | Sketch::Zero(_)
            | Sketch::Variant { .. }
            | Sketch::Fun { .. }
            | Sketch::Node(_)
            | Sketch::Acc(_) => self.instantiate(sketch, from, rank),
        }
    }

    /// A node of which only the handle is known.
    pub(crate) fn node_val(&self, ty: &CoreTy, handle: Leaf) -> Val {
        let is_data = self.types.is_data_inside(self.program, ty);
        Val::Node(Rc::new(NodeVal { ty: ty.clone(), handle, known: None, is_data }))
    }
}

/// A tag that is known.
fn constant(tag: &Leaf) -> Option<i64> {
    tag.constant().map(|value| value.int())
}
