//! The syntax. A block is a list of statements and result atoms; nested blocks are regions, not
//! jumps. Values are scalars, handles of nodes, or regular arrays of these whose sizes are atoms in
//! scope; there are no tuples, and functions are called by their number.

use std::rc::Rc;

use lambada_graph::placed::Placed;
use lambada_graph::{NodeId as GraphNode, Runs};
use lambada_prim::{ArrayPrim, Prim, ReduceOp, Scalar, ScalarTy, Tensor};
use lambada_source::Site;

use crate::known::Known;
use crate::names::{Names, Var};
use crate::rules::Rules;

/// An operand of a statement: a variable or a scalar constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Atom {
    /// A variable: a scalar or an array.
    Var(Var),
    /// A scalar constant.
    Lit(Scalar),
}

/// Index of a node type in [`Library::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// Index of a function in [`Library::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FnId(pub u32);

/// The type of a scalar, or of the elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Elem {
    /// `real`, `int`, `bool`.
    Scalar(ScalarTy),
    /// A handle: a node of this type, or null, which is written as the constant 0. At run time it
    /// is an `int`. It has no derivative and no arithmetic.
    Ref(NodeId),
}

/// The type of a value: a scalar where `dims` is empty. The sizes are `int` atoms that are in scope
/// where the value is bound, or earlier variables of the same binding list (a size that a statement
/// computes together with the array).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ty {
    /// The elements.
    pub elem: Elem,
    /// The sizes, outermost first.
    pub dims: Vec<Atom>,
}

/// A bound variable with its type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Param {
    /// The variable.
    pub var: Var,
    /// Its type.
    pub ty: Ty,
}

/// Statements and results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// In order; each may mention bindings of earlier ones.
    pub stms: Vec<Stm>,
    /// The results.
    pub results: Vec<Atom>,
}

/// `binds = exp`. `Accumulate`, `Check` and `Inspect` bind nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Stm {
    /// The bound variables.
    pub binds: Vec<Param>,
    /// The expression.
    pub exp: Exp,
}

/// The combination of the results of a `for`'s iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Out {
    /// Into an array with one more axis in front.
    Collect,
    /// With a commutative monoid, in an order that is not specified. The values are scalars.
    Reduce(ReduceOp),
}

/// The checkpoints of a loop: the values of the forward sweep that the reverse sweep keeps, and
/// need not recompute. Results do not depend on them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Checkpoint {
    /// All values that each iteration needs.
    #[default]
    All,
    /// The state at the beginning of each iteration; the iteration is recomputed.
    Entries,
    /// The state at the beginning of each of about √n segments; the segments are recomputed.
    Sqrt,
    /// At most this number of states (at least one), by the binomial schedule.
    States(Atom),
}

/// The driver of a `loop`.
#[derive(Clone, Debug, PartialEq)]
pub enum LoopKind {
    /// `for index < extent`, from 0 upwards.
    For {
        /// Bound in the body.
        index: Var,
        /// Trip count; none if ≤ 0.
        extent: Atom,
        /// The checkpoints of its reverse sweep.
        checkpoint: Checkpoint,
    },
    /// `while` the one `bool` result of the block, which may mention the parameters of the loop.
    While(Block),
}

/// The expression of a statement. The constructs have two levels, so that code without interest in
/// blocks need not mention them.
#[derive(Clone, Debug, PartialEq)]
pub enum Exp {
    /// Without blocks.
    Op(Op),
    /// With blocks.
    Nest(Nest),
}

/// The constructs without blocks. `walk` has their operands, `effects` their effects.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// A scalar primitive.
    Prim(Prim, Vec<Atom>),
    /// `x[i, j]`: an element or, with fewer indices than axes, a sub-array. The indices are in
    /// range: a `Check` stands before, where that is not evident.
    Index(Var, Vec<Atom>),
    /// An array of the bound type with every element equal to the scalar.
    Fill(Atom),
    /// `[a, b, c]`: atoms of one type, scalars or arrays of equal sizes.
    Array(Vec<Atom>),
    /// A constant array.
    Constant(Rc<Tensor>),
    /// `array with [index] = value`; fewer indices than axes replace a sub-array. In range, as for
    /// `Index`. Done in place where `array` is not used afterwards.
    Update {
        /// The array before the update.
        array: Var,
        /// The indices.
        index: Vec<Atom>,
        /// The new element or sub-array.
        value: Atom,
    },
    /// An array primitive, in the version that the ranks of the arguments choose; axes of the same
    /// name have equal sizes.
    ArrayPrim(ArrayPrim, Vec<Var>),
    /// A new accumulator of the bound type with an initial value: the abstract monoid (0, +) of the
    /// paper's linear types. The bound variable is a name for `Accumulate` and `Freeze` only, not a
    /// value; each accumulator is frozen exactly once, in the block that made it, after all its
    /// additions.
    Accumulator(Atom),
    /// `acc[index] += value`, the one effect of the language; it commutes with itself. The value
    /// may be a sub-array. In range, as for `Index`.
    Accumulate {
        /// The accumulator.
        acc: Var,
        /// The indices.
        index: Vec<Atom>,
        /// The addend.
        value: Atom,
    },
    /// The final value of an accumulator.
    Freeze(Var),
    /// Fails with the site's message unless the condition holds.
    Check {
        /// A `bool`.
        cond: Atom,
        /// The message, and its place.
        site: Site,
        /// `int` atoms for the message.
        values: Vec<Atom>,
    },
    /// Shows values to the user: the parts of one value of the program.
    Inspect {
        /// The number of the `inspect` in the program, which identifies the value that has these
        /// parts.
        number: u32,
        /// The label of the value; may be empty.
        label: Rc<str>,
        /// Scalars and arrays, no handles.
        values: Vec<Atom>,
    },
    /// `f(args…)` for a function of the library: binds its results, and adds to its accumulators.
    Call {
        /// The callee.
        function: FnId,
        /// One per parameter.
        args: Vec<Atom>,
        /// One per accumulator that the function takes.
        accumulators: Vec<Var>,
    },
    /// A new node; binds its handle, which is not null.
    Node {
        /// Its type.
        node: NodeId,
        /// Its constructor.
        tag: u32,
        /// One per field of the constructor; for a cell, the initial value.
        fields: Vec<Atom>,
        /// Whether the type has cells. Then nodes with equal fields differ.
        cells: bool,
    },
    /// The constructor of a node, or -1 for null.
    Tag(Atom),
    /// A field of a node; zeros, of the sizes of the bound type, for null. The engine checks that
    /// the node has this constructor or is null, and that an array has the sizes of the bound type,
    /// because neither is evident.
    Field {
        /// The node.
        of: Atom,
        /// Its constructor.
        tag: u32,
        /// The number of the field in the constructor; not a cell.
        field: u32,
    },
    /// A cell of a node as an accumulator of the bound type, which is a name for `Accumulate` and
    /// `Call` only and is not frozen. Additions to the cell of null are lost. The cell has the
    /// sizes of the bound type.
    Open {
        /// The node.
        of: Atom,
        /// Its constructor.
        tag: u32,
        /// The number of the field in the constructor; a cell.
        field: u32,
    },
    /// The final value of a cell, after all additions that are ever made to it; zeros for null.
    Cell {
        /// The node.
        of: Atom,
        /// Its constructor.
        tag: u32,
        /// The number of the field in the constructor; a cell.
        field: u32,
    },
    /// A construct made by scheduling, the last pass before lowering.
    Scheduled(Scheduled),
}

/// The constructs that scheduling makes.
#[derive(Clone, Debug, PartialEq)]
pub enum Scheduled {
    /// A placed program.
    Kernel(Box<Kernel>),
    /// Concatenation: the arrays together have the elements of the bound type, in its order.
    Concat(Vec<Var>),
}

/// A run of statements as a placed program. It binds the outputs of the program except the new
/// values of accumulators, and then, unless it is total, a `bool`: whether they are valid. Invalid
/// outputs are zeros in the evaluator, and undefined in other engines.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// The program.
    pub placed: Rc<Placed>,
    /// One per input of the program; the accumulators to which it adds are among them.
    pub inputs: Vec<Var>,
    /// Accumulators of arrays. The last outputs of the program, but for the check, are these inputs
    /// plus the sums of the additions.
    pub added: Vec<Var>,
    /// A `bool`: whether the program runs.
    pub when: Atom,
    /// A lower bound that `when` demands of an extent, and that extent.
    pub least: Option<(i64, GraphNode)>,
    /// Whether the last output of the program is the validity of the others.
    pub checked: bool,
    /// Whether it runs once, or often.
    pub runs: Runs,
}

impl Kernel {
    /// Whether the program always runs and is valid.
    pub fn is_total(&self) -> bool {
        self.when == Atom::Lit(Scalar::Bool(true)) && !self.checked
    }
}

/// The constructs with blocks.
#[derive(Clone, Debug, PartialEq)]
pub enum Nest {
    /// `for index < extent { body }`: independent iterations; one `Out` per result of the body, one
    /// binding per `Out`. It has no results if it only accumulates. A part gathered by `Collect`
    /// has the sizes of its binding in every iteration, and these are in scope outside.
    For {
        /// The index, bound in the body.
        index: Var,
        /// Trip count; none if ≤ 0.
        extent: Atom,
        /// One per result of the body.
        outs: Vec<Out>,
        /// The iteration.
        body: Block,
    },
    /// `loop (params = inits) for … { body }`: sequential; the body's results are the next values
    /// of the parameters, of the same types.
    Loop {
        /// The state.
        params: Vec<Param>,
        /// Its initial value.
        inits: Vec<Atom>,
        /// Its driver.
        kind: LoopKind,
        /// The next state.
        body: Block,
    },
    /// `if cond { then } else { otherwise }`
    If {
        /// A `bool`.
        cond: Atom,
        /// If true.
        then: Block,
        /// If false.
        otherwise: Block,
    },
}

/// A type of nodes: immutable values in memory, referred to by handles, for recursive data, for
/// functions known only at run time, and for tapes.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeType {
    /// The name for users.
    pub name: String,
    /// The constructors, by tag.
    pub constructors: Vec<Constructor>,
}

/// A constructor of a node type.
#[derive(Clone, Debug, PartialEq)]
pub struct Constructor {
    /// The name for users.
    pub name: String,
    /// The fields.
    pub fields: Vec<Field>,
}

/// A field of a constructor.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The name for users.
    pub name: String,
    /// Its type. A size is a constant, or `Var(k)` for the value of field `k`, which is an `int`
    /// and stands before.
    pub ty: Ty,
    /// A cell: it is only added to, and read after all additions.
    pub cell: bool,
    /// An `int` that belongs to the shape of the value although it is the size of no other field: a
    /// tag, or the size of an array whose elements take no field. The tangent copies it from its
    /// point.
    pub shape: bool,
}

impl Field {
    /// A field that is no cell and, unless a later field has it as a size, part of the value.
    pub fn new(name: &str, ty: Ty) -> Field {
        Field { name: name.into(), ty, cell: false, shape: false }
    }
}

impl Constructor {
    /// Whether the k-th field belongs to the shape of the value, which a tangent copies from its
    /// point.
    pub fn is_shape(&self, k: usize) -> bool {
        let size = Atom::from(Var(k as u32));
        self.fields[k].shape || self.fields.iter().any(|field| field.ty.dims.contains(&size))
    }
}

/// The targets of calls and handles: the node types and the functions of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Library {
    /// The node types.
    pub nodes: Vec<NodeType>,
    /// The functions; `None` for one under construction. Their own libraries are empty, and their
    /// `sizes` too, because their sizes are ordinary parameters. The sizes of their results are
    /// constants, `int` parameters, or `int` results that stand before.
    pub functions: Vec<Option<Function>>,
}

/// A function. A program is a function with the library of its callees.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Implicit `int` parameters: the sizes that the shapes of the arguments determine. A variable
    /// here occurs as a size in `params`; where it occurs more than once, the caller checks that
    /// the sizes agree.
    pub sizes: Vec<Var>,
    /// The parameters.
    pub params: Vec<Param>,
    /// Accumulators of the caller, to which the function adds.
    pub accumulators: Vec<Param>,
    /// The types of the results; sizes are constants, `sizes`, `int` parameters, or variables that
    /// the body binds at its top level.
    pub results: Vec<Ty>,
    /// The body.
    pub body: Block,
    /// The names of all variables in it.
    pub names: Names,
    /// The node types and functions that it uses.
    pub library: Library,
    /// The rules of its author, which take the place of its derivatives.
    pub rules: Option<Rules>,
    /// How the text for people calls it, if it is not written out there.
    pub known: Option<Known>,
}

impl From<ScalarTy> for Elem {
    fn from(ty: ScalarTy) -> Elem {
        Elem::Scalar(ty)
    }
}

/// As the printer writes it; node types by number.
impl std::fmt::Display for Elem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Elem::Scalar(ty) => write!(f, "{ty}"),
            Elem::Ref(NodeId(node)) => write!(f, "ref_{node}"),
        }
    }
}

impl PartialEq<ScalarTy> for Elem {
    fn eq(&self, other: &ScalarTy) -> bool {
        match self {
            Elem::Scalar(ty) => ty == other,
            Elem::Ref(_) => false,
        }
    }
}

impl Elem {
    /// `real`
    pub const REAL: Elem = Elem::Scalar(ScalarTy::Real);
    /// `int`
    pub const INT: Elem = Elem::Scalar(ScalarTy::Int);
    /// `bool`
    pub const BOOL: Elem = Elem::Scalar(ScalarTy::Bool);

    /// Its type at run time: a handle is an `int`.
    pub fn scalar(self) -> ScalarTy {
        match self {
            Elem::Scalar(ty) => ty,
            Elem::Ref(_) => ScalarTy::Int,
        }
    }

    /// Zero, or null.
    pub fn zero(self) -> Scalar {
        self.scalar().zero()
    }

    /// The node type of a handle.
    pub fn node(self) -> Option<NodeId> {
        match self {
            Elem::Ref(node) => Some(node),
            Elem::Scalar(_) => None,
        }
    }
}

impl Library {
    /// A function, if it is complete.
    pub fn function(&self, id: FnId) -> Option<&Function> {
        self.functions.get(id.0 as usize).and_then(Option::as_ref)
    }

    /// A node type.
    pub fn node(&self, id: NodeId) -> &NodeType {
        &self.nodes[id.0 as usize]
    }

    /// Whether it has no node types and no functions.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.functions.is_empty()
    }
}

impl NodeType {
    /// Whether one of its constructors has a cell.
    pub fn has_cells(&self) -> bool {
        self.constructors.iter().flat_map(|c| &c.fields).any(|field| field.cell)
    }
}

impl From<Op> for Exp {
    fn from(op: Op) -> Exp {
        Exp::Op(op)
    }
}

impl From<Nest> for Exp {
    fn from(nest: Nest) -> Exp {
        Exp::Nest(nest)
    }
}

impl Stm {
    /// `binds = exp`
    pub fn new(binds: Vec<Param>, exp: impl Into<Exp>) -> Stm {
        Stm { binds, exp: exp.into() }
    }

    /// A statement that binds nothing.
    pub fn effect(exp: impl Into<Exp>) -> Stm {
        Stm::new(Vec::new(), exp)
    }
}

impl From<Var> for Atom {
    fn from(var: Var) -> Atom {
        Atom::Var(var)
    }
}

impl Atom {
    /// An integer constant.
    pub fn int(value: i64) -> Atom {
        Atom::Lit(Scalar::Int(value))
    }

    /// A real constant.
    pub fn real(value: f64) -> Atom {
        Atom::Lit(Scalar::Real(value))
    }

    /// A truth value.
    pub fn bool(value: bool) -> Atom {
        Atom::Lit(Scalar::Bool(value))
    }

    /// The variable, if it is one.
    pub fn as_var(self) -> Option<Var> {
        match self {
            Atom::Var(var) => Some(var),
            Atom::Lit(_) => None,
        }
    }

    /// The constant, if it is one.
    pub fn as_lit(self) -> Option<Scalar> {
        match self {
            Atom::Lit(value) => Some(value),
            Atom::Var(_) => None,
        }
    }
}

impl LoopKind {
    /// `for index < extent`, whose reverse sweep keeps all values.
    pub fn counted(index: Var, extent: Atom) -> LoopKind {
        LoopKind::For { index, extent, checkpoint: Checkpoint::All }
    }
}

impl Checkpoint {
    /// The number of states, of `Checkpoint::States`.
    pub fn states(self) -> Option<Atom> {
        match self {
            Checkpoint::All | Checkpoint::Entries | Checkpoint::Sqrt => None,
            Checkpoint::States(states) => Some(states),
        }
    }
}

impl Ty {
    /// A scalar type.
    pub fn scalar(elem: impl Into<Elem>) -> Ty {
        Ty { elem: elem.into(), dims: Vec::new() }
    }

    /// A handle of a node.
    pub fn handle(node: NodeId) -> Ty {
        Ty::scalar(Elem::Ref(node))
    }

    /// `real`
    pub fn real() -> Ty {
        Ty::scalar(ScalarTy::Real)
    }

    /// `int`
    pub fn int() -> Ty {
        Ty::scalar(ScalarTy::Int)
    }

    /// `bool`
    pub fn bool() -> Ty {
        Ty::scalar(ScalarTy::Bool)
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// `[extent]self`
    #[must_use]
    pub fn array_of(&self, extent: Atom) -> Ty {
        let dims = std::iter::once(extent).chain(self.dims.iter().copied()).collect();
        Ty { elem: self.elem, dims }
    }

    /// The type after `count` indices.
    #[must_use]
    pub fn indexed(&self, count: usize) -> Ty {
        Ty { elem: self.elem, dims: self.dims[count..].to_vec() }
    }
}
