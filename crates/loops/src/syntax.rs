//! The syntax. Scalars and small vectors live in registers that are assigned once; mutable scalars
//! in cells; arrays in buffers, which are typed pointers into an arena. There are no shapes left:
//! offsets are computed, row-major. A program is a function with its library.
//!
//! Vectors. A register or cell has 1, 2, 4, 8 or 16 lanes of one type; truth values with lanes are
//! masks. As text, for eight lanes:
//!
//! ```text
//! v : real x 8 = xs[i ..+ 8]           consecutive elements
//! v : real x 8 = xs[i ..+ m of 8]      the first m of these; other lanes repeat the last of them
//! v : real x 8 = xs[at]                a gather, where at : int x 8
//! ys[i ..+ 8] := v                     the same three to store; the last of equal offsets stays
//! ys[i ..+ m of 8] := v
//! ys[at] := v
//! w : real x 8 = v * 2.0               primitives go lane by lane; one lane is broadcast
//! m : bool x 8 = v < w                 comparisons give masks
//! u : real x 8 = select(m, v, w)       both sides are there
//! any = fold or m                      one lane: `if any`, `if all` test branches of all lanes
//! s = fold add w                       (w0 + w4) + (w2 + w6) + …: halves, on every engine
//! k : int x 8 = iota                   0, 1, …, 7
//! cell acc : real x 8 = 0.0            a cell with lanes; a private sum for each
//! ```

use std::collections::BTreeMap;
use std::rc::Rc;

use lambada_prim::{ArrayPrim, Precision, Prim, ReduceOp, Scalar, ScalarTy, Tensor};
use lambada_source::{Site, Span};

use crate::nodes::{FieldId, FnId, NodeId, NodeType};

/// A register: assigned once, by the statement that binds it. The function knows its type and hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u32);

/// A mutable scalar: loop-carried values and accumulators of rank 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell(pub u32);

/// A name of a buffer: a pointer to elements of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Buf(pub u32);

/// The type of a register or cell: `lanes` values of one scalar type side by side; 1 for a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ty {
    /// The type of each lane.
    pub elem: ScalarTy,
    /// The number of lanes: a power of two.
    pub lanes: u16,
}

/// A register or a constant (broadcast where lanes are needed).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// A constant.
    Lit(Scalar),
}

/// The value that a register is assigned.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// A primitive, lane by lane; operands of one lane are broadcast.
    Prim(Prim, Vec<Operand>),
    /// With one offset, counted in elements: `lanes` consecutive elements of a buffer from there
    /// on. With as many offsets as lanes: the element at each, a gather.
    Load(Buf, Operand),
    /// The first elements from an offset on; the second operand is their number, at most `lanes`.
    /// The other lanes repeat the last of these, or are zero if there are none. No other memory is
    /// touched.
    LoadSome(Buf, [Operand; 2]),
    /// The current value of a cell.
    Get(Cell),
    /// All lanes combined into one.
    Fold(ReduceOp, Operand),
    /// Two vectors, one after the other: as many lanes as each has, from the lane of this number
    /// on, which is at least 1 and less than their number.
    Splice([Operand; 2], u16),
    /// `0, 1, 2, …`, one per lane, of type `int`.
    Iota,
    /// The constructor of a node; -1 for null.
    Tag(Operand),
    /// A scalar field of a node that never changes; zero for null.
    Field(FieldId, Operand),
}

/// The relation between the iterations of a loop. All modes mean the same when run in order; the
/// others are promises that allow more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// An iteration may need the effects of the one before.
    Sequential,
    /// No iteration reads what another writes, and no two write to the same place.
    Independent,
    /// As `Independent`, but for cells and buffers that all iterations only add to (or combine with
    /// another commutative monoid).
    Reduction,
}

/// The memory that a [`Nest::Scope`] releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Release {
    /// All memory taken in it.
    All,
    /// The memory of arrays. Nodes, with the arrays in them, stay, because handles of them leave
    /// the block.
    Arrays,
}

/// A `while` condition: statements, then the operand that decides.
#[derive(Clone, Debug, PartialEq)]
pub struct While {
    /// Run before each test.
    pub before: Vec<Stmt>,
    /// A `bool`.
    pub test: Operand,
}

/// Statements, in two levels, so that code without interest in bodies need not mention them.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// Without bodies.
    Step(Step),
    /// With bodies.
    Nest(Nest),
}

/// The statements without bodies.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// `reg = op`
    Let(Reg, Op),
    /// A new cell with an initial value. It lives to the end of the enclosing body.
    Cell(Cell, Operand),
    /// `cell = operand`
    Set(Cell, Operand),
    /// `buf[offset] = value`: as many elements as the value has lanes, one after the other from one
    /// offset, or each at its own. If lanes have the same offset, the last one stays.
    Store {
        /// The target.
        buf: Buf,
        /// In elements.
        offset: Operand,
        /// The value.
        value: Operand,
    },
    /// The first lanes of a value, one after the other; the memory of the others is not touched.
    StoreSome {
        /// The target.
        buf: Buf,
        /// In elements.
        offset: Operand,
        /// The number of lanes stored, at most all.
        count: Operand,
        /// The value.
        value: Operand,
    },
    /// A new buffer, not initialized, in the arena. It lives to the end of the enclosing `Scope`,
    /// or of the function.
    Alloc {
        /// Its name.
        buf: Buf,
        /// Its number of elements is the product of these sizes; a negative one counts as 0. A
        /// product that is too large is a failure.
        dims: Vec<Operand>,
    },
    /// A new name for a part of a buffer, from an offset on.
    View {
        /// The new name.
        buf: Buf,
        /// The buffer.
        base: Buf,
        /// In elements.
        offset: Operand,
    },
    /// Exchanges the pointers of two names: the two buffers of a loop's state. Both have been made
    /// by `Alloc` in the same scope.
    Swap(Buf, Buf),
    /// A name for constant data.
    Constant(Buf, Rc<Tensor>),
    /// `len` elements from one buffer to another; they do not overlap.
    Copy {
        /// The target.
        to: Buf,
        /// The source.
        from: Buf,
        /// In elements.
        len: Operand,
    },
    /// Transposes a matrix: `to[c · to_row + r] = from[r · from_row + c]` for all `r < rows` and `c
    /// < cols`. The buffers do not overlap.
    Transpose {
        /// The target.
        to: Buf,
        /// The distance between rows, in elements.
        to_row: Operand,
        /// The source.
        from: Buf,
        /// The distance between rows, in elements.
        from_row: Operand,
        /// The number of rows of `from`.
        rows: Operand,
        /// The number of columns of `from`.
        cols: Operand,
        /// The number of rows and columns that are fast at once.
        lanes: u16,
    },
    /// `len` elements set to one value.
    Fill {
        /// The buffer.
        buf: Buf,
        /// The value.
        value: Operand,
        /// In elements.
        len: Operand,
    },
    /// The results of an array primitive: all elements of `to`, from those of the arguments. No two
    /// of the results and arguments share memory, but two arguments may.
    Kernel {
        /// The primitive.
        prim: ArrayPrim,
        /// The results.
        to: Vec<Buf>,
        /// The arguments.
        args: Vec<Buf>,
        /// The size of each axis of its row, in this order; 1 for an axis that its version lacks.
        /// None is negative.
        sizes: Vec<Operand>,
    },
    /// Leaves the function with a failure unless the condition holds.
    Check {
        /// A `bool`.
        cond: Operand,
        /// Index into the function's sites.
        site: u32,
        /// `int` operands for the message.
        values: Vec<Operand>,
    },
    /// Shows values to the user.
    Inspect {
        /// The number of the `inspect` in the program.
        number: u32,
        /// Scalars and arrays, in the form of results.
        values: Vec<Return>,
    },
    /// A new node in the arena, allocated as arrays are; binds its handle.
    Node {
        /// The handle.
        reg: Reg,
        /// Its type.
        node: NodeId,
        /// Its constructor.
        tag: u32,
        /// One per field. Arrays are copied.
        fields: Vec<FieldValue>,
        /// Index into the function's sites: the failure if there is no memory for it.
        site: u32,
    },
    /// A name for the memory of a field of a node that is an array or a cell; a scalar cell is a
    /// buffer of one element. If the node is null, or has another constructor, the name of new
    /// memory, which is all zeros.
    Open {
        /// The name.
        buf: Buf,
        /// The field.
        field: FieldId,
        /// The node.
        of: Operand,
        /// The number of elements is the product of these sizes.
        dims: Vec<Operand>,
    },
    /// Calls a function of the library; leaves this one with its failure if it fails.
    Call {
        /// The callee.
        function: FnId,
        /// One per parameter.
        args: Vec<Arg>,
        /// One per result: its target.
        results: Vec<ResultTarget>,
        /// Index into the function's sites: the failure if there is no room for another call.
        site: u32,
    },
}

/// An argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg {
    /// A scalar.
    Scalar(Operand),
    /// A buffer, by reference.
    Buffer(Buf),
}

/// The value of a field of a new node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldValue {
    /// A scalar.
    Scalar(Operand),
    /// The first elements of a buffer, and their number.
    Array(Buf, Operand),
}

/// The target of a result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultTarget {
    /// A cell is set to the scalar.
    Cell(Cell),
    /// A name, made by `Alloc` in the same scope, stands for the array from now on. The array lives
    /// as if it had been made here.
    Buffer(Buf),
}

/// The statements with bodies.
#[derive(Clone, Debug, PartialEq)]
pub enum Nest {
    /// `for (index = start; index < end; index += step) body`
    For {
        /// An `int` register, bound in the body.
        index: Reg,
        /// The first index.
        start: Operand,
        /// One past the last.
        end: Operand,
        /// A positive constant.
        step: i64,
        /// The promise about its iterations.
        mode: Mode,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `while (cond) body`
    While {
        /// The condition.
        cond: While,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `if (cond) then else otherwise`
    If {
        /// A `bool`.
        cond: Operand,
        /// If true.
        then: Vec<Stmt>,
        /// If false.
        otherwise: Vec<Stmt>,
    },
    /// A block that releases memory taken in it from the arena.
    Scope(Release, Vec<Stmt>),
    /// `for (index = 0; index < count; index++) { body; merge }`, each iteration in a scope of its
    /// own. Several bodies may run at the same time, on threads. No body touches memory from
    /// outside that another iteration, or any `merge`, writes. The `merge`s run one after the other
    /// in order, so their effect is the same for any number of threads. No cell from outside is
    /// set, and nothing fails but for lack of memory.
    Parallel {
        /// An `int` register, bound in both.
        index: Reg,
        /// Trip count.
        count: Operand,
        /// The part that may run at the same time.
        body: Vec<Stmt>,
        /// The part that runs in order; it sees the names of the body.
        merge: Vec<Stmt>,
    },
}

/// A parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param {
    /// A scalar, or a size.
    Scalar(Reg),
    /// An array, which is only read.
    Buffer(Buf),
    /// An array that only the function reads and writes during the call. Only in functions of a
    /// library.
    Owned(Buf),
    /// An array to which the function only adds, as others may by other names. Only in functions of
    /// a library.
    Shared(Buf),
}

/// A result.
#[derive(Clone, Debug, PartialEq)]
pub enum Return {
    /// A scalar.
    Scalar(Operand),
    /// An array: a buffer and its sizes.
    Buffer(Buf, Vec<Operand>),
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name; a C identifier.
    pub name: String,
    /// First the sizes, as `int` scalars, then the parameters of the source.
    pub params: Vec<Param>,
    /// The number of sizes in `params`.
    pub sizes: usize,
    /// The body.
    pub body: Vec<Stmt>,
    /// The results, of the scope of the body.
    pub results: Vec<Return>,
    /// By register: type, and a name for users.
    pub regs: Vec<(Ty, Rc<str>)>,
    /// By cell: type, and a name for users.
    pub cells: Vec<(Ty, Rc<str>)>,
    /// By buffer: the type of the elements, and a name for users.
    pub bufs: Vec<(ScalarTy, Rc<str>)>,
    /// The sites of checks.
    pub sites: Vec<Site>,
    /// The place in the program of each allocated array, if it is known, for failures to allocate
    /// it.
    pub origins: BTreeMap<Buf, Span>,
    /// The precision of reals in registers, cells and buffers; the same in all functions of a
    /// program.
    pub precision: Precision,
    /// Its callees, and the types of its nodes. Empty for a function of a library.
    pub library: Library,
}

/// The functions and node types of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Library {
    /// The types of nodes.
    pub nodes: Vec<NodeType>,
    /// The functions. Their own libraries are empty.
    pub functions: Vec<Function>,
}

impl Ty {
    /// One lane.
    pub fn scalar(elem: ScalarTy) -> Ty {
        Ty { elem, lanes: 1 }
    }
}

impl Operand {
    /// An integer constant.
    pub fn int(value: i64) -> Operand {
        Operand::Lit(Scalar::Int(value))
    }
}

impl From<Step> for Stmt {
    fn from(step: Step) -> Stmt {
        Stmt::Step(step)
    }
}

impl From<Nest> for Stmt {
    fn from(nest: Nest) -> Stmt {
        Stmt::Nest(nest)
    }
}

impl From<Reg> for Operand {
    fn from(reg: Reg) -> Operand {
        Operand::Reg(reg)
    }
}

impl Function {
    /// A function without a body.
    pub fn new(name: impl Into<String>) -> Function {
        Function {
            name: name.into(),
            params: Vec::new(),
            sizes: 0,
            body: Vec::new(),
            results: Vec::new(),
            regs: Vec::new(),
            cells: Vec::new(),
            bufs: Vec::new(),
            sites: Vec::new(),
            origins: BTreeMap::new(),
            precision: Precision::default(),
            library: Library::default(),
        }
    }

    /// The function and its library, with reals of this precision.
    #[must_use]
    pub fn with_precision(mut self, precision: Precision) -> Function {
        self.precision = precision;
        self.library.functions.iter_mut().for_each(|each| each.precision = precision);
        self
    }

    /// A new register.
    pub fn reg(&mut self, ty: Ty, hint: impl Into<Rc<str>>) -> Reg {
        self.regs.push((ty, hint.into()));
        Reg((self.regs.len() - 1) as u32)
    }

    /// A new cell.
    pub fn cell(&mut self, ty: Ty, hint: impl Into<Rc<str>>) -> Cell {
        self.cells.push((ty, hint.into()));
        Cell((self.cells.len() - 1) as u32)
    }

    /// A new name of a buffer.
    pub fn buf(&mut self, elem: ScalarTy, hint: impl Into<Rc<str>>) -> Buf {
        self.bufs.push((elem, hint.into()));
        Buf((self.bufs.len() - 1) as u32)
    }

    /// A new check.
    pub fn site(&mut self, site: Site) -> u32 {
        self.sites.push(site);
        (self.sites.len() - 1) as u32
    }
}
