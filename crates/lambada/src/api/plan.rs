//! How a compiled program is given its arguments. What is dense and of the right type is lent; all else is copied once.
//!
//! Assumes: arguments in the order of the parameters, one for each. Gives: the leaves of the layouts, then the sizes that the code takes, all compared with
//! what the parameters declare. Keeps: native code relies on these comparisons.

use std::sync::Arc;

use lambada_anf::bounds::LONGEST_AXIS;
use lambada_core::{Data, Size};
use lambada_normalize::{Constructor, Layout, Shape};
use lambada_prim::{Data as Elements, Scalar, ScalarTy, Tensor};
use lambada_run::Lent;
use lambada_source::{Problem, stack};
use smallvec::{SmallVec, smallvec};

use super::arg::{Arg, Given};
use super::value::described;
use crate::messages::data as messages;

/// The parameters of a compiled program.
#[derive(Debug)]
pub(crate) struct Plan {
    pub slots: Vec<Slot>,
    /// The variables in the sizes.
    names: Vec<Arc<str>>,
    /// Where the sizes are that the code takes: a leaf, and its axis.
    sizes: Vec<(usize, usize)>,
}

/// A parameter.
#[derive(Debug)]
pub(crate) struct Slot {
    pub name: Arc<str>,
    /// Its type, for messages.
    expected: String,
    layout: Layout,
    /// Of a scalar or an array of scalars: its elements and the number of its axes.
    plain: Option<(ScalarTy, usize)>,
    /// The sizes that its leaves should have.
    leaves: Vec<Vec<Wanted>>,
}

/// What a size should be.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    Any,
    Exactly(usize),
    /// As much as all of this name.
    Named(usize),
}

/// A leaf of an argument.
#[derive(Clone, Copy)]
pub(crate) enum Leaf<'a> {
    Scalar(Scalar),
    /// The elements, and where its sizes stand among those of all.
    Array(Lent<'a>, usize, usize),
}

/// The leaves of all arguments, and their sizes.
#[derive(Default)]
pub(crate) struct Leaves<'a> {
    pub leaves: SmallVec<[Leaf<'a>; 12]>,
    pub dims: SmallVec<[usize; 24]>,
}

impl Leaves<'_> {
    fn dims(&self, leaf: usize) -> &[usize] {
        match self.leaves[leaf] {
            Leaf::Scalar(_) => &[],
            Leaf::Array(_, from, to) => &self.dims[from..to],
        }
    }
}

impl Slot {
    fn new(name: Arc<str>, expected: String, layout: Layout, names: &mut Vec<Arc<str>>) -> Slot {
        let mut wanted = |size: Size| match size {
            Size::Any | Size::Expr(_) => Wanted::Any,
            Size::Const(size) => Wanted::Exactly(usize::try_from(size).unwrap_or(usize::MAX)),
            Size::Var(name) => {
                let known = names.iter().position(|other| *other == name);
                Wanted::Named(known.unwrap_or_else(|| {
                    names.push(name);
                    names.len() - 1
                }))
            }
        };
        let leaves = layout.leaves().into_iter();
        let leaves = leaves.map(|leaf| leaf.dims.into_iter().map(&mut wanted).collect()).collect();
        let plain = plain(layout.shape());
        Slot { name, expected, layout, plain, leaves }
    }

    /// Its type.
    pub(crate) fn expected(&self) -> &str {
        &self.expected
    }

    /// The argument itself, if it can be lent.
    fn lend<'a>(&self, arg: &'a Arg<'a>) -> Option<(&'a [usize], Lent<'a>)> {
        let (elem, rank) = self.plain?;
        let (dims, elements) = match &arg.0 {
            Given::Array(dims, elements) => (dims.all(), *elements),
            Given::Data(data) => match &**data {
                Data::Tensor(tensor) => (&tensor.dims[..], Lent::from(&tensor.data)),
                Data::Tuple(_) | Data::Record(_) | Data::Array(_) | Data::Con { .. } => {
                    return None;
                }
            },
            Given::Scalar(_) => return None,
        };
        (elements.ty() == elem && dims.len() == rank && rank > 0).then_some((dims, elements))
    }

    /// The argument itself, if it is the scalar that belongs here. A real may be written as an integer.
    fn scalar(&self, arg: &Arg) -> Option<Scalar> {
        match (self.plain?, &arg.0) {
            ((elem, 0), Given::Scalar(value)) if value.ty() == elem => Some(*value),
            ((ScalarTy::Real, 0), Given::Scalar(Scalar::Int(value))) => {
                Some(Scalar::Real(*value as f64))
            }
            (_, Given::Scalar(_) | Given::Array(..) | Given::Data(_)) => None,
        }
    }

    /// The leaves of an argument that cannot be lent.
    fn tensors(&self, arg: &Arg) -> Result<Vec<Tensor>, Problem> {
        let given = arg.data();
        let data = as_reals(self.layout.shape(), &self.layout, &given);
        let tensors = self.layout.flatten(data.as_ref().unwrap_or(&given));
        tensors.map_err(|why| {
            let found = described(&given);
            let problem = messages::mismatch(&self.name, &self.expected, &found);
            if self.plain.is_some() { problem } else { problem.hint(why) }
        })
    }
}

impl Plan {
    /// The parameters, with the types that messages tell. `sizes` are places of sizes among the leaves.
    pub(crate) fn new(params: Vec<(Arc<str>, String, Layout)>, sizes: Vec<(usize, usize)>) -> Plan {
        let mut names = Vec::new();
        let slot = |(name, expected, layout)| Slot::new(name, expected, layout, &mut names);
        let slots = params.into_iter().map(slot).collect();
        Plan { slots, names, sizes }
    }

    /// Copies of what cannot be lent, one entry for each such argument.
    pub(crate) fn copies(&self, given: &[Option<&Arg<'_>>]) -> Result<Vec<Vec<Tensor>>, Problem> {
        let mut copies = Vec::new();
        for (slot, arg) in self.slots.iter().zip(given.iter().flatten()) {
            if slot.scalar(arg).is_none() && slot.lend(arg).is_none() {
                copies.push(slot.tensors(arg)?);
            }
        }
        Ok(copies)
    }

    /// The leaves of all arguments.
    pub(crate) fn leaves<'a>(
        &self,
        given: &[Option<&'a Arg<'a>>],
        copies: &'a [Vec<Tensor>],
    ) -> Result<Leaves<'a>, Problem> {
        let mut all = Leaves::default();
        let mut copies = copies.iter();
        for (slot, arg) in self.slots.iter().zip(given.iter().flatten()) {
            if let Some(value) = slot.scalar(arg) {
                all.leaves.push(Leaf::Scalar(value));
            } else if let Some((dims, elements)) = slot.lend(arg) {
                all.array(dims, elements);
            } else {
                copies.next().into_iter().flatten().for_each(|tensor| all.tensor(tensor));
            }
        }
        self.compare(&mut all)?;
        Ok(all)
    }

    /// The sizes that the code takes, in order.
    pub(crate) fn sizes<'s>(&'s self, leaves: &'s Leaves) -> impl Iterator<Item = i64> + 's {
        self.sizes.iter().map(|(leaf, axis)| leaves.dims(*leaf)[*axis] as i64)
    }

    /// Compares the sizes with those that the parameters declare, and fills in those that cannot be seen, inside of arrays without elements.
    fn compare(&self, all: &mut Leaves) -> Result<(), Problem> {
        let mut known: SmallVec<[Option<(usize, usize)>; 8]> = smallvec![None; self.names.len()];
        let mut unseen = false;
        let leaves = self.slots.iter().enumerate();
        let leaves = leaves.flat_map(|(s, slot)| slot.leaves.iter().map(move |leaf| (s, leaf)));
        for (k, (s, wanted)) in leaves.clone().enumerate() {
            let dims = all.dims(k);
            for (axis, wanted) in wanted.iter().enumerate() {
                let found = dims[axis];
                if dims[..axis].contains(&0) {
                    unseen = true;
                    continue;
                }
                let slot = &self.slots[s];
                if found as u64 > LONGEST_AXIS as u64 {
                    let found = format!("an axis of {found} elements; {LONGEST_AXIS} are the most");
                    return Err(messages::mismatch(&slot.name, &slot.expected, &found));
                }
                match *wanted {
                    Wanted::Any => {}
                    Wanted::Exactly(size) if size == found => {}
                    Wanted::Exactly(_) => return Err(self.wrong_sizes(s, dims)),
                    Wanted::Named(name) => {
                        let known = &mut known[name];
                        let (value, first) = *known.get_or_insert((found, s));
                        if value != found {
                            return Err(self.conflict(s, name, found, value, first));
                        }
                    }
                }
            }
        }
        if unseen {
            for (k, (_, wanted)) in leaves.enumerate() {
                all.fill_in(k, wanted, &known);
            }
        }
        Ok(())
    }

    fn wrong_sizes(&self, slot: usize, dims: &[usize]) -> Problem {
        let slot = &self.slots[slot];
        let dims: String = dims.iter().map(|size| format!("[{size}]")).collect();
        messages::mismatch(&slot.name, &slot.expected, &format!("the sizes {dims}"))
    }

    fn conflict(
        &self,
        slot: usize,
        name: usize,
        found: usize,
        value: usize,
        first: usize,
    ) -> Problem {
        let origin = format!("the shape of `{}`", self.slots[first].name);
        let slot = &self.slots[slot];
        let size = &self.names[name];
        messages::size_conflict(&slot.name, &slot.expected, found, size, value, &origin)
    }
}

impl<'a> Leaves<'a> {
    fn array(&mut self, dims: &[usize], elements: Lent<'a>) {
        let from = self.dims.len();
        dims.iter().for_each(|size| self.dims.push(*size));
        self.leaves.push(Leaf::Array(elements, from, from + dims.len()));
    }

    fn tensor(&mut self, tensor: &'a Tensor) {
        match tensor.as_scalar() {
            Some(value) => self.leaves.push(Leaf::Scalar(value)),
            None => self.array(&tensor.dims, (&tensor.data).into()),
        }
    }

    fn fill_in(&mut self, leaf: usize, wanted: &[Wanted], known: &[Option<(usize, usize)>]) {
        let Leaf::Array(_, from, to) = self.leaves[leaf] else { return };
        for (place, wanted) in self.dims[from..to].iter_mut().zip(wanted) {
            match *wanted {
                Wanted::Any => {}
                Wanted::Exactly(size) => *place = size,
                Wanted::Named(name) => *place = known[name].map_or(*place, |(value, _)| value),
            }
        }
    }
}

/// The elements and the number of axes of a scalar, or of an array of scalars.
fn plain(shape: &Shape) -> Option<(ScalarTy, usize)> {
    match shape {
        Shape::Scalar(elem) => Some((*elem, 0)),
        Shape::Array(_, elem) => plain(elem).map(|(elem, rank)| (elem, rank + 1)),
        Shape::Tuple(_) | Shape::Record(_) | Shape::Variant(_) | Shape::Node(_) => None,
    }
}

/// The same value with integers as reals where reals belong; nothing if there are none such.
fn as_reals(shape: &Shape, layout: &Layout, data: &Data) -> Option<Data> {
    let all = |shapes: &mut dyn Iterator<Item = &Shape>, items: &[Data]| {
        let new =
            shapes.zip(items).map(|(shape, item)| stack::deeper(|| as_reals(shape, layout, item)));
        let new: Vec<Option<Data>> = new.collect();
        let changed = new.iter().any(Option::is_some);
        let or_old = |(new, old): (Option<Data>, &Data)| new.unwrap_or_else(|| old.clone());
        changed.then(|| new.into_iter().zip(items).map(or_old).collect::<Vec<Data>>())
    };
    let constructed = |constructors: &[Constructor], name: &Arc<str>, tag: usize, args: &[Data]| {
        let (_, shapes) = constructors.iter().find(|(known, _)| known == name)?;
        let args = all(&mut shapes.iter(), args)?;
        Some(Data::Con { name: name.clone(), tag, args: args.into() })
    };
    match (shape, data) {
        (_, Data::Tensor(tensor)) => {
            let (ScalarTy::Real, _) = plain(shape)? else { return None };
            let Elements::Int(values) = &tensor.data else { return None };
            let values = values.iter().map(|value| *value as f64).collect();
            Some(Data::Tensor(Tensor::reals(tensor.dims.clone(), values)))
        }
        (Shape::Tuple(shapes), Data::Tuple(items)) if shapes.len() == items.len() => {
            all(&mut shapes.iter(), items).map(Data::Tuple)
        }
        (Shape::Record(shapes), Data::Record(fields)) => {
            let items: Vec<Data> = fields.iter().map(|(_, item)| item.clone()).collect();
            let found = |(name, _): &(Arc<str>, Data)| {
                Some(&shapes.iter().find(|(known, _)| known == name)?.1)
            };
            let shapes: Vec<&Shape> = fields.iter().map(found).collect::<Option<_>>()?;
            let items = all(&mut shapes.into_iter(), &items)?;
            let names = fields.iter().map(|(name, _)| name.clone());
            Some(Data::Record(names.zip(items).collect()))
        }
        (Shape::Array(_, elem), Data::Array(items)) => {
            all(&mut items.iter().map(|_| &**elem), items).map(Data::Array)
        }
        (Shape::Variant(constructors), Data::Con { name, tag, args }) => {
            constructed(constructors, name, *tag, args)
        }
        (Shape::Node(id), Data::Con { name, tag, args }) => {
            let (_, constructors) = layout.table().types.iter().find(|(known, _)| known == id)?;
            constructed(constructors, name, *tag, args)
        }
        (
            Shape::Scalar(_)
            | Shape::Tuple(_)
            | Shape::Record(_)
            | Shape::Array(..)
            | Shape::Variant(_)
            | Shape::Node(_),
            _,
        ) => None,
    }
}
