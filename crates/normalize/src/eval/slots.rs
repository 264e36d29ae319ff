//! The slots of sketches: parameters for them, what fills them, and the values that they make.

use std::cell::Cell;
use std::rc::Rc;

use lambada_anf::{Atom, Elem, Param};
use lambada_core::Ty as CoreTy;
use lambada_source::Span;

use super::Evaluator;
use crate::merge::zeros;
use crate::messages;
use crate::sketch::{Filled, Sketch, Slot, Slots, Source};
use crate::val::{AccVal, Closure, Leaf, Val, part};
use crate::{Eval, ill_typed};

impl Evaluator<'_> {
    // Slots

    /// Adds the slots of a sketch.
    pub(crate) fn slots(&mut self, sketch: &Sketch, name: &str, slots: &mut Slots) {
        match sketch {
            Sketch::Leaf(elem) => slots.push(name, *elem),
            Sketch::Adds(elem) => {
                let slot = slots.slot(name.into(), *elem);
                slots.accumulators.push(slot);
            }
            Sketch::Zero(_) => {}
            Sketch::Tuple(items) => items.iter().for_each(|s| self.slots(s, name, slots)),
            Sketch::Array(elem) => {
                slots.enter(name);
                self.slots(elem, name, slots);
                slots.axes.pop();
            }
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
            Sketch::Acc(inside) => self.slots(inside, name, slots),
        }
    }

    /// New parameters for slots, of the innermost block.
    pub(crate) fn parameters(&mut self, slots: &Slots) -> (Vec<Param>, Vec<Param>) {
        let mut atoms = Vec::new();
        let params = self.variables(&slots.values, &mut atoms, &|_, _| None);
        let accumulators = slots.accumulators.iter().map(|slot| {
            let ty = Slots::ty(slot, &atoms);
            Param { var: self.emit.fresh(slot.name.clone(), ty.clone()), ty }
        });
        (params, accumulators.collect())
    }

    /// New variables for slots that stand behind those of some atoms. What fills them is added to
    /// the atoms: the variables, but for what is known from the position and the atoms before.
    pub(super) fn variables(
        &mut self,
        slots: &[Slot],
        atoms: &mut Vec<Atom>,
        known: &dyn Fn(usize, &[Atom]) -> Option<Atom>,
    ) -> Vec<Param> {
        let mut params = Vec::with_capacity(slots.len());
        for (k, slot) in slots.iter().enumerate() {
            let ty = Slots::ty(slot, atoms);
            let var = self.emit.fresh(slot.name.clone(), ty.clone());
            params.push(Param { var, ty });
            atoms.push(known(k, atoms).unwrap_or(var.into()));
        }
        params
    }

    // Values

    /// Takes the slots of a sketch from a value; those of an absent one are zeros, and of size 0.
    pub(crate) fn fill(&mut self, sketch: &Sketch, val: Option<&Val>, to: &mut Filled) -> Eval<()> {
        match sketch {
            Sketch::Leaf(elem) => self.store(*elem, part(val, Val::as_leaf)?, to),
            Sketch::Adds(_) => {
                let acc = part(val, Val::as_leaf)?.and_then(|leaf| leaf.atom.as_var());
                to.accumulators.push(acc.ok_or_else(ill_typed)?);
            }
            Sketch::Zero(_) => {}
            Sketch::Tuple(items) => self.fill_list(items, part(val, Val::as_tuple)?, to)?,
            Sketch::Array(elem) => {
                let array = part(val, Val::as_array)?;
                let extent = array.map_or(Atom::int(0), |array| array.extent);
                to.atoms.push(extent);
                to.extents.push(extent);
                self.fill(elem, array.map(|array| &array.elem), to)?;
                to.extents.pop();
            }
            Sketch::Variant { tag, fields } => {
                let variant = part(val, Val::as_variant)?;
                self.fill_tag(*tag, variant.map(|variant| &variant.tag), to);
                for (c, sketches) in fields.iter().enumerate() {
                    let vals = variant.and_then(|variant| variant.fields[c].as_deref());
                    self.fill_list(sketches.as_deref().unwrap_or_default(), vals, to)?;
                }
            }
            Sketch::Fun { tag, alternatives } => {
                let fun = part(val, Val::as_fun)?;
                self.fill_tag(*tag, fun.map(|fun| &fun.tag), to);
                for (number, env) in alternatives {
                    self.fill_list(env, fun.and_then(|fun| fun.env(*number)), to)?;
                }
            }
            Sketch::Node(ty) => self.fill_node(ty, val, to)?,
            Sketch::Acc(inside) => {
                let acc = part(val, Val::as_acc)?.ok_or_else(ill_typed)?;
                if acc.frozen.get() {
                    return Err(Box::new(messages::frozen("accumulator", Span::default())));
                }
                self.fill(inside, Some(&acc.structure), to)?;
            }
        }
        Ok(())
    }

    fn store(&mut self, elem: Elem, leaf: Option<&Leaf>, to: &mut Filled) {
        to.atoms.push(match leaf {
            Some(leaf) => self.emit.stored(leaf, &to.extents),
            None => zeros(&mut self.emit, elem, &vec![true; to.extents.len()], &to.extents),
        });
    }

    fn fill_tag(&mut self, known: Option<i64>, tag: Option<&Leaf>, to: &mut Filled) {
        if known.is_none() {
            self.store(Elem::INT, tag, to);
        }
    }

    fn fill_list(
        &mut self,
        sketches: &[Sketch],
        vals: Option<&[Val]>,
        to: &mut Filled,
    ) -> Eval<()> {
        let mut sketches = sketches.iter().enumerate();
        sketches.try_for_each(|(k, s)| self.fill(s, vals.map(|vals| &vals[k]), to))
    }

    fn fill_node(&mut self, ty: &CoreTy, val: Option<&Val>, to: &mut Filled) -> Eval<()> {
        let elem = Elem::Ref(self.node_type(ty));
        if let Some(Val::Fun(fun)) = val {
            let handle = self.dynamic_family(fun, ty, &to.extents)?;
            self.store(elem, Some(&handle), to);
        } else {
            self.store(elem, part(val, Val::as_node)?.map(|node| &node.handle), to);
        }
        Ok(())
    }

    /// The slots of several values.
    pub(crate) fn filled(&mut self, sketches: &[Sketch], vals: &[Val]) -> Eval<Filled> {
        let mut filled = Filled::default();
        self.fill_list(sketches, Some(vals), &mut filled)?;
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
            Sketch::Adds(_) => {
                let acc = from.accumulators.next().ok_or_else(ill_typed)?;
                Val::Leaf(Leaf::stored(acc.into(), rank))
            }
            Sketch::Zero(elem) => Val::Leaf(Leaf::same(Atom::Lit(elem.zero()), rank).of(*elem)),
            Sketch::Tuple(items) => Val::tuple(self.instantiate_all(items, from, rank)?),
            Sketch::Array(elem) => {
                let extent = from.atoms.next().ok_or_else(ill_typed)?;
                Val::array(extent, self.instantiate(elem, from, rank + 1)?)
            }
            Sketch::Variant { tag, fields } => {
                let tag = Self::tag(*tag, from, rank)?;
                let mut list = |fields: &Vec<Sketch>| self.instantiate_all(fields, from, rank);
                let fields = fields.iter().map(|f| f.as_ref().map(&mut list).transpose());
                Val::variant(tag, fields.collect::<Eval<_>>()?)
            }
            Sketch::Fun { tag, alternatives } => {
                let tag = Self::tag(*tag, from, rank)?;
                let mut closures = Vec::with_capacity(alternatives.len());
                for (number, env) in alternatives {
                    let env = self.instantiate_all(env, from, rank)?;
                    closures.push(Closure { code: self.codes.of(*number), env });
                }
                Val::fun(tag, closures)
            }
            Sketch::Node(ty) => {
                let elem = Elem::Ref(self.node_type(ty));
                self.node_val(ty, from.leaf(elem, rank)?)
            }
            Sketch::Acc(inside) => {
                let structure = self.instantiate(inside, from, rank)?;
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
}
