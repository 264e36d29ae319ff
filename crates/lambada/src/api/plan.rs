//! Marshalling of arguments for compiled code: dense data of the right type is borrowed, all other
//! data is copied once.
//!
//! Assumes: arguments in the order of the parameters, one for each. Gives: the leaves of the
//! layouts, then the sizes that the code takes. All sizes are checked against the declared ones.
//! Keeps: native code relies on these checks.

use std::borrow::Cow;
use std::sync::Arc;

use lambada_anf::bounds::LONGEST_AXIS;
use lambada_core::{Data, Size};
use lambada_normalize::{Constructor, Layout, Shape};
use lambada_prim::{Data as Elements, Scalar, ScalarTy, Tensor, tells};
use lambada_run::Argument;
use lambada_source::{Problem, stack};
use smallvec::{SmallVec, smallvec};

use super::arg::{Arg, ArgData};
use super::value::described;
use crate::messages::data as messages;

/// The parameters of a compiled program.
#[derive(Debug)]
pub(crate) struct Plan {
    pub slots: Vec<Slot>,
    /// Names of size variables.
    names: Vec<Arc<str>>,
    /// Leaf and axis of each size that the code takes.
    sizes: Vec<(usize, usize)>,
    /// The axes of all leaves, in order.
    axes: Vec<Axis>,
}

/// An axis of a leaf.
#[derive(Clone, Copy, Debug)]
struct Axis {
    /// The parameter of the leaf.
    slot: usize,
    leaf: usize,
    axis: usize,
    wanted: Wanted,
}

/// A parameter.
#[derive(Debug)]
pub(crate) struct Slot {
    pub name: Arc<str>,
    /// Printed type, for messages.
    expected: String,
    layout: Layout,
    /// Element type and rank, for a scalar or an array of scalars.
    plain: Option<(ScalarTy, usize)>,
}

/// Required size of an axis.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    Any,
    Exactly(usize),
    /// Equal on all axes with the same variable, an index into `names`.
    Named(usize),
}

/// A leaf of an argument.
#[derive(Clone, Copy)]
pub(crate) enum Leaf<'a> {
    /// The argument itself.
    Arg(&'a Arg<'a>),
    /// An integer where a real belongs.
    Integer(i64),
    /// A copy of part of an argument.
    Tensor(&'a Tensor),
}

/// The leaves of all arguments.
pub(crate) type Leaves<'a> = SmallVec<[Leaf<'a>; 12]>;

impl<'a> Leaf<'a> {
    /// The leaf as an argument of a kernel. Inlined so that the match disappears at the call site.
    #[inline(always)]
    pub(crate) fn argument(self) -> Argument<'a> {
        match self {
            Leaf::Arg(Arg(ArgData::Scalar(value))) => Argument::Scalar(*value),
            Leaf::Arg(Arg(ArgData::Array(dims, elements))) => {
                Argument::Array(dims.all(), *elements)
            }
            Leaf::Arg(Arg(ArgData::Data(data))) => match &**data {
                Data::Tensor(tensor) => tensor.into(),
                // `lend` never adds a leaf with such data, nor one of columns.
                Data::Tuple(_) | Data::Record(_) | Data::Array(_) | Data::Con { .. } => {
                    Argument::Scalar(Scalar::Bool(false))
                }
            },
            Leaf::Arg(Arg(ArgData::Columns(..))) => Argument::Scalar(Scalar::Bool(false)),
            Leaf::Integer(value) => Argument::Scalar(Scalar::Real(value as f64)),
            Leaf::Tensor(tensor) => tensor.into(),
        }
    }

    #[inline]
    fn dims(self) -> &'a [usize] {
        match self {
            Leaf::Arg(Arg(ArgData::Array(dims, _))) => dims.all(),
            Leaf::Arg(Arg(ArgData::Data(data))) => match &**data {
                Data::Tensor(tensor) => &tensor.dims,
                Data::Tuple(_) | Data::Record(_) | Data::Array(_) | Data::Con { .. } => &[],
            },
            Leaf::Tensor(tensor) => &tensor.dims,
            Leaf::Arg(Arg(ArgData::Scalar(_) | ArgData::Columns(..))) | Leaf::Integer(_) => &[],
        }
    }
}

impl Slot {
    fn new(name: Arc<str>, expected: String, layout: Layout) -> Slot {
        let plain = plain(layout.shape());
        Slot { name, expected, layout, plain }
    }

    /// Required sizes of each leaf's axes; adds new size variables to `names`.
    fn wanted(&self, names: &mut Vec<Arc<str>>) -> Vec<Vec<Wanted>> {
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
        let leaves = self.layout.leaves().into_iter();
        leaves.map(|leaf| leaf.dims.into_iter().map(&mut wanted).collect()).collect()
    }

    /// Its printed type.
    pub(crate) fn expected(&self) -> &str {
        &self.expected
    }

    /// The argument as a single leaf, if it can be borrowed: a scalar, or a dense array. A real
    /// parameter also accepts an integer.
    #[inline]
    fn whole<'a>(&self, arg: &'a Arg<'a>) -> Option<Leaf<'a>> {
        let (elem, rank) = self.plain?;
        let (found, axes) = match &arg.0 {
            ArgData::Scalar(Scalar::Int(value)) if elem == ScalarTy::Real && rank == 0 => {
                return Some(Leaf::Integer(*value));
            }
            ArgData::Scalar(value) => (value.ty(), 0),
            ArgData::Array(dims, elements) => (elements.ty(), dims.all().len()),
            ArgData::Data(data) => match &**data {
                Data::Tensor(tensor) if !tensor.dims.is_empty() => {
                    (tensor.elem(), tensor.dims.len())
                }
                Data::Tensor(_)
                | Data::Tuple(_)
                | Data::Record(_)
                | Data::Array(_)
                | Data::Con { .. } => return None,
            },
            ArgData::Columns(..) => return None,
        };
        (found == elem && axes == rank).then_some(Leaf::Arg(arg))
    }

    /// Adds the leaves of an argument that can be borrowed: of a whole one, or of columns whose
    /// fields are those of the records.
    #[inline]
    fn lend<'a>(&self, arg: &'a Arg<'a>, all: &mut Leaves<'a>) -> bool {
        if let Some(leaf) = self.whole(arg) {
            all.push(leaf);
            return true;
        }
        let (ArgData::Columns(_, columns), Shape::Array(_, elem)) = (&arg.0, self.layout.shape())
        else {
            return false;
        };
        let before = all.len();
        let is_lent = self.layout.table().types.is_empty() && lend_columns(elem, columns, all);
        if !is_lent {
            all.truncate(before);
        }
        is_lent
    }

    /// Copies the leaves of an argument that cannot be borrowed.
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
    /// A plan for parameters with their printed types. `sizes` lists leaf and axis of the sizes
    /// that the code takes.
    pub(crate) fn new(params: Vec<(Arc<str>, String, Layout)>, sizes: Vec<(usize, usize)>) -> Plan {
        let slot = |(name, expected, layout)| Slot::new(name, expected, layout);
        let slots: Vec<Slot> = params.into_iter().map(slot).collect();
        let (mut names, mut axes, mut leaf) = (Vec::new(), Vec::new(), 0);
        for (slot, each) in slots.iter().enumerate() {
            for wanted in each.wanted(&mut names) {
                let of = |(axis, wanted)| Axis { slot, leaf, axis, wanted };
                axes.extend(wanted.into_iter().enumerate().map(of));
                leaf += 1;
            }
        }
        Plan { slots, names, sizes, axes }
    }

    /// Adds all arguments by reference; returns false if one of them must be copied.
    pub(crate) fn lend<'a>(&self, given: &[Option<&'a Arg<'a>>], all: &mut Leaves<'a>) -> bool {
        self.slots.iter().zip(given.iter().flatten()).all(|(slot, arg)| slot.lend(arg, all))
    }

    /// Copies the arguments that cannot be borrowed, one entry for each.
    pub(crate) fn copies(&self, given: &[Option<&Arg<'_>>]) -> Result<Vec<Vec<Tensor>>, Problem> {
        let all = self.slots.iter().zip(given.iter().flatten());
        let copied = all.filter(|(slot, arg)| !slot.lend(arg, &mut Leaves::new()));
        copied.map(|(slot, arg)| slot.tensors(arg)).collect()
    }

    /// The leaves of the arguments of the last parameters.
    pub(crate) fn flattened(&self, data: &[Data]) -> Result<Vec<Tensor>, Problem> {
        let last = &self.slots[self.slots.len() - data.len()..];
        let leaves = last
            .iter()
            .zip(data)
            .map(|(slot, data)| slot.tensors(&Arg(ArgData::Data(Cow::Borrowed(data)))));
        leaves.collect::<Result<Vec<_>, _>>().map(|leaves| leaves.concat())
    }

    /// Adds the leaves of all arguments, borrowed or from `copies`.
    pub(crate) fn leaves<'a>(
        &self,
        given: &[Option<&'a Arg<'a>>],
        copies: &'a [Vec<Tensor>],
        all: &mut Leaves<'a>,
    ) {
        let mut copies = copies.iter();
        for (slot, arg) in self.slots.iter().zip(given.iter().flatten()) {
            if !slot.lend(arg, all) {
                all.extend(copies.next().into_iter().flatten().map(Leaf::Tensor));
            }
        }
    }

    /// The sizes that the code takes, in order.
    #[inline]
    pub(crate) fn sizes<'s>(
        &'s self,
        leaves: &'s [Leaf<'_>],
    ) -> impl ExactSizeIterator<Item = i64> + 's {
        self.sizes.iter().map(|(leaf, axis)| leaves[*leaf].dims()[*axis] as i64)
    }

    /// Checks the sizes against the declared ones. Returns replacements for arrays without
    /// elements, because the inner sizes of an empty array are unknown until its declaration
    /// supplies them.
    pub(crate) fn compare(&self, all: &[Leaf<'_>]) -> Result<Vec<(usize, Tensor)>, Problem> {
        let mut known: SmallVec<[Option<(usize, usize)>; 8]> = smallvec![None; self.names.len()];
        let mut unseen = false;
        for Axis { slot, leaf, axis, wanted } in &self.axes {
            let dims = all[*leaf].dims();
            let found = dims[*axis];
            if !tells(dims, *axis) {
                unseen = true;
                continue;
            }
            if found as u64 > LONGEST_AXIS as u64 {
                return Err(self.too_long(*slot, found));
            }
            match *wanted {
                Wanted::Any => {}
                Wanted::Exactly(size) if size == found => {}
                Wanted::Exactly(_) => return Err(self.wrong_sizes(*slot, dims)),
                Wanted::Named(name) => {
                    let known = &mut known[name];
                    let (value, first) = *known.get_or_insert((found, *slot));
                    if value != found {
                        return Err(self.conflict(*slot, name, found, value, first));
                    }
                }
            }
        }
        if unseen { Ok(self.filled_in(all, &known)) } else { Ok(Vec::new()) }
    }

    /// Empty arrays with the declared sizes filled in.
    #[cold]
    fn filled_in(
        &self,
        all: &[Leaf<'_>],
        known: &[Option<(usize, usize)>],
    ) -> Vec<(usize, Tensor)> {
        let empty = all.iter().enumerate().filter(|(_, leaf)| leaf.dims().contains(&0));
        let filled = empty.map(|(k, leaf)| {
            let mut tensor = leaf.argument().tensor();
            for Axis { axis, wanted, .. } in self.axes.iter().filter(|axis| axis.leaf == k) {
                let place = &mut tensor.dims[*axis];
                match *wanted {
                    Wanted::Any => {}
                    Wanted::Exactly(size) => *place = size,
                    Wanted::Named(name) => *place = known[name].map_or(*place, |(value, _)| value),
                }
            }
            (k, tensor)
        });
        filled.collect()
    }

    #[cold]
    fn too_long(&self, slot: usize, found: usize) -> Problem {
        let slot = &self.slots[slot];
        let found = format!("an axis of {found} elements; {LONGEST_AXIS} are the most");
        messages::mismatch(&slot.name, &slot.expected, &found)
    }

    #[cold]
    fn wrong_sizes(&self, slot: usize, dims: &[usize]) -> Problem {
        let slot = &self.slots[slot];
        let dims: String = dims.iter().map(|size| format!("[{size}]")).collect();
        messages::mismatch(&slot.name, &slot.expected, &format!("the sizes {dims}"))
    }

    #[cold]
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

/// Adds the columns of records of this shape, in its order; returns false if some do not fit.
fn lend_columns<'a>(
    shape: &Shape,
    columns: &'a [(Arc<str>, Arg<'a>)],
    all: &mut Leaves<'a>,
) -> bool {
    let Shape::Record(fields) = shape else { return false };
    let fits = |(name, shape): &(Arc<str>, Shape)| {
        let Some((_, column)) = columns.iter().find(|(known, _)| known == name) else {
            return false;
        };
        let (found, axes) = match &column.0 {
            ArgData::Columns(_, columns) => return lend_columns(shape, columns, all),
            ArgData::Array(dims, elements) => (elements.ty(), dims.all().len()),
            ArgData::Data(data) => {
                let Data::Tensor(tensor) = &**data else { return false };
                (tensor.elem(), tensor.dims.len())
            }
            ArgData::Scalar(_) => return false,
        };
        let is_plain = plain(shape).is_some_and(|(elem, rank)| found == elem && axes == rank + 1);
        if is_plain {
            all.push(Leaf::Arg(column));
        }
        is_plain
    };
    fields.len() == columns.len() && fields.iter().all(fits)
}

/// Element type and rank of a scalar or of an array of scalars.
fn plain(shape: &Shape) -> Option<(ScalarTy, usize)> {
    match shape {
        Shape::Scalar(elem) => Some((*elem, 0)),
        Shape::Array(_, elem) => plain(elem).map(|(elem, rank)| (elem, rank + 1)),
        Shape::Tuple(_) | Shape::Record(_) | Shape::Variant(_) | Shape::Node(_) => None,
    }
}

/// Converts integers to reals where the type requires it; `None` if nothing changes.
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
