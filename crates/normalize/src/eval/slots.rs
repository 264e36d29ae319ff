//! The slots of sketches: parameters for them, what fills them, and the values that they make.

use std::cell::Cell;
use std::rc::Rc;

use lambada_anf::{Atom, Elem, Param};
use lambada_core::Ty as CoreTy;
use lambada_source::Span;

use super::Evaluator;
use crate::{Eval, ill_typed};
use crate::merge::zeros;
use crate::messages;
use crate::sketch::{Filled, Role, Sketch, Slot, Slots, Source, is_number};
use crate::val::{AccVal, Closure, FunVal, Leaf, Val, VariantVal};

impl Evaluator<'_> {
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
                    slots.push_tag(name, Some(fields.len() as i64));
                }
                slots.variants += 1;
                fields.iter().flatten().flatten().for_each(|s| self.slots(s, name, slots));
                slots.variants -= 1;
            }
            Sketch::Fun { tag, alternatives } => {
                if tag.is_none() {
                    slots.push_tag(name, None);
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
        let (name_of_size, elem) = (format!("{name}_size").into(), Elem::INT);
        let slot = slots.slot(name_of_size, elem);
        let size = Slot { dims: Vec::new(), role: Role::Size, ..slot };
        slots.axes.push(slots.values.len());
        slots.values.push(size);
        inside(self, slots);
        slots.axes.pop();
    }

    fn accumulator_slots(&mut self, sketch: &Sketch, name: &str, slots: &mut Slots) {
        match sketch {
            Sketch::Leaf(elem) if is_number(*elem) => {
                let slot = slots.slot(name.into(), *elem);
                slots.accumulators.push(slot);
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
    pub(crate) fn fill(&mut self, sketch: &Sketch, val: Option<&Val>, to: &mut Filled) -> Eval<()> {
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
                    let vals = fun.env(*number);
                    self.fill_list(Some(env), vals, to)?;
                }
            }
            (Sketch::Fun { tag, alternatives }, None) => {
                self.fill_tag(*tag, None, to);
                alternatives.iter().try_for_each(|(_, env)| self.fill_list(Some(env), None, to))?;
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
            Some(Val::Leaf(_) | Val::Tuple(_) | Val::Array(_) | Val::Variant(_) | Val::Acc(_)) => {
                return Err(ill_typed());
            }
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
}
