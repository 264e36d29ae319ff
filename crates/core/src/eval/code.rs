//! Compiled terms: variables are slots of a frame, functions list their captured variables.

use std::rc::Rc;

use lambada_prim::{ArrayPrim, Prim, ReduceOp, ScalarTy, Version};
use lambada_source::{Site, Span};

use super::shape::Form;
use super::value::Value;
use crate::Ty;

/// A slot of the frame of the running function.
pub(crate) type Slot = usize;

/// An expression.
#[derive(Debug)]
pub(crate) enum Code {
    Const(Value),
    /// Never evaluated.
    Never(Ty),
    /// A variable; the last mention moves the value out of its slot.
    Local(Slot, Last),
    Global(usize),
    /// The first of the functions; the others are its rules.
    Lambda(Rc<[Function]>, Vec<(Slot, Last)>),
    Call(Box<Code>, Vec<Code>, Span),
    /// A spine of `let`s and checks.
    Block(Vec<Step>, Box<Code>),
    Tuple(Vec<Code>),
    Proj(Box<Code>, usize),
    Con(usize, Vec<Code>, Span),
    Match(Box<Code>, Vec<ArmCode>),
    If(Box<Code>, Box<Branch>, Box<Branch>),
    Prim1(Prim, Box<Code>),
    Prim2(Prim, Box<[Code; 2]>),
    Prim3(Prim, Box<[Code; 3]>),
    Array(Vec<Code>, Box<ForInfo>),
    For(Slot, Box<[Code; 2]>, Box<ForInfo>),
    Dim(Box<Code>, usize),
    /// The array stands last: it is read once the indices are known, so a variable need not be
    /// copied. Then the form and the type of the element.
    Index(Vec<Code>, Box<Code>, Box<(ForInfo, Ty)>),
    /// The array, the indices, the new value with its form.
    Update(Box<[Code; 2]>, Vec<Code>, Box<ForInfo>),
    Reduce(ReduceOp, ScalarTy, Box<Code>, Span),
    /// A primitive that fails if it makes a NaN out of numbers.
    Trapped(Box<Code>, Span),
    /// A printed value, with its type.
    Inspect(Box<(Site, Ty)>, Box<Code>),
    /// A sum of products.
    ArrayPrim(ArrayPrim, &'static Version, Vec<Code>, Span),
    Loop(Box<LoopCode>),
    Accumulate(Slot, Box<[Code; 2]>),
    Add(Slot, Vec<Code>, Box<Code>, Box<ForInfo>),
    Jvp(Box<[Code; 3]>, Span),
    Vjp(Box<[Code; 2]>, Span),
    Reach(Box<[Code; 3]>, Span),
}

/// Whether it is the last mention.
pub(crate) type Last = bool;

/// Destination of a value.
#[derive(Debug)]
pub(crate) enum Destination {
    /// Nowhere, because the variable is unused.
    Nowhere,
    Slot(Slot),
    /// A tuple mentioned only by its components: a slot for each mentioned component.
    Components(Vec<Option<Slot>>),
}

/// A step of a block.
#[derive(Debug)]
pub(crate) enum Step {
    Bind(Destination, Code),
    /// Functions that may call each other, and their captured values.
    Functions(Vec<Destination>, Rc<[Function]>, Vec<(Slot, Last)>),
    Check(Code, Site, Vec<Code>),
}

/// A branch of an `if`, with the slots whose values it does not need and the other branch does.
#[derive(Debug)]
pub(crate) struct Branch {
    pub drops: Vec<Slot>,
    pub body: Code,
}

/// An arm of a match.
#[derive(Debug)]
pub(crate) struct ArmCode {
    pub destinations: Vec<Destination>,
    pub branch: Branch,
}

/// Form of values whose sizes are compared, and the place to blame.
#[derive(Debug)]
pub(crate) struct ForInfo {
    /// The form of the elements.
    pub form: Form,
    pub span: Span,
}

/// A loop.
#[derive(Debug)]
pub(crate) struct LoopCode {
    pub state: Destination,
    pub init: Code,
    pub kind: LoopKindCode,
    pub body: Code,
    pub info: ForInfo,
}

/// The iteration of a loop.
#[derive(Debug)]
pub(crate) enum LoopKindCode {
    /// The index, the extent, and the number of states of a `checkpoint`, which is evaluated only
    /// for its failures.
    For(Slot, Code, Option<Code>),
    /// The condition, and the place of the state in it.
    While(Destination, Code),
}

/// A function of one or more parameters.
#[derive(Debug)]
pub(crate) struct Function {
    pub params: Vec<Destination>,
    /// The captured values in use, by index, with their slots.
    pub captures: Vec<(usize, Slot)>,
    /// The functions defined together with this one that it mentions, possibly itself, with their
    /// slots.
    pub together: Vec<(usize, Slot)>,
    /// Size of its frame in slots.
    pub slots: usize,
    pub body: Code,
    /// Custom derivatives.
    pub rules: Option<Box<Rules>>,
}

/// The custom derivatives of a function.
#[derive(Debug)]
pub(crate) struct Rules {
    pub name: Rc<str>,
    pub jvp: Option<RuleCode>,
    pub vjp: Option<RuleCode>,
}

/// A rule: one of the functions that were defined together.
#[derive(Debug)]
pub(crate) struct RuleCode {
    pub member: usize,
    pub takes_value: bool,
    pub adds: bool,
    pub span: Span,
}

impl Destination {
    /// The slots that receive a value.
    pub fn slots(&self) -> Vec<Slot> {
        match self {
            Destination::Nowhere => Vec::new(),
            Destination::Slot(slot) => vec![*slot],
            Destination::Components(slots) => slots.iter().flatten().copied().collect(),
        }
    }
}
