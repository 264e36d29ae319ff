//! The library under extension: node types of tangents and shadows, derived functions, and the
//! tables of those that exist.
//!
//! ```text
//!   T = C (x : real) (n : int) (ys : [n]real) (b : bool) (t : ref T)
//!
//!   tangents   Ṫ = C (x : real) (n : int) (ys : [n]real) (t : ref Ṫ)
//!   shadows    T̄ = C (x : cell real) (n : int) (ys : cell [n]real) (t : ref T̄)
//! ```
//!
//! Cotangents that are values ([`crate::values`]) have the type of tangents. Derived types keep the
//! fields that carry derivatives, and the sizes that these need. A null is a zero tangent, and the
//! shadow of a value without a cotangent. A cell has a cell in both, since its content has a
//! tangent and a cotangent.
//!
//! A function is derived once for each set of active parameters. It gets its number before its body
//! is derived, so recursion closes; the bodies wait in a queue.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_anf::{
    Atom, Block, Constructor, Elem, Field, FnId, Function, Lambda, Library, Names, NodeId,
    NodeType, Op, Ty, Var,
};
use lambada_prim::{Precision, ScalarTy};
use lambada_source::Problem;

use crate::Request;
use crate::flow;
use crate::known::{Handles, LibraryFacts};
use crate::prepare::Whiles;

/// The kind of a derived type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mode {
    /// Tangents.
    Tangent,
    /// Cells for cotangents.
    Shadow,
}

/// A conversion at the boundary ([`crate::crossing`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Crossing {
    Shadow,
    Seed,
    Harvest,
    Tangent,
    Untangent,
    Zero,
    Marked,
    Gathered,
}

/// A function and the choice of its active parts, which determine a derivative.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) function: FnId,
    /// Activity of the parameters.
    pub(crate) params: Vec<bool>,
    /// Activity of the caller's accumulators.
    pub(crate) accumulators: Vec<bool>,
    /// Parameters that are arrays whose cotangents the pullback returns; other array cotangents are
    /// added to accumulators of the caller.
    pub(crate) returned: Vec<bool>,
}

impl Key {
    /// Whether the parameter is an array that the recursion threads through its calls.
    pub(crate) fn is_state(&self, k: usize) -> bool {
        self.returned.get(k).is_some_and(|returned| *returned)
    }

    pub(crate) fn is_active(&self) -> bool {
        self.params.iter().chain(&self.accumulators).any(|active| *active)
    }
}

/// `f→`
#[derive(Debug)]
pub(crate) struct Pushforward {
    pub(crate) key: Key,
    /// Whether each result has a tangent.
    pub(crate) results: Vec<bool>,
    pub(crate) id: FnId,
}

/// `f⇒` and `f⇐`
#[derive(Debug)]
pub(crate) struct Pullback {
    pub(crate) key: Key,
    /// Activity of the results.
    pub(crate) results: Vec<bool>,
    pub(crate) sweep: FnId,
    pub(crate) pull: FnId,
    pub(crate) tape: NodeId,
}

/// A function whose body is still to be derived.
pub(crate) enum Task {
    Forward(Rc<Pushforward>),
    Reverse(Rc<Pullback>),
}

/// For each function with rules that a block calls, and each of its results or parameters: whether
/// some reals of the tangent or cotangent that the rule gives may be absent.
pub(crate) type Partial = HashMap<FnId, Rc<[bool]>>;

/// The library that derivatives extend.
pub(crate) struct Context {
    pub(crate) library: Library,
    /// Number of bits of reals.
    pub(crate) precision: Precision,
    pub(crate) known: Rc<LibraryFacts>,
    types: HashMap<(NodeId, Mode), NodeId>,
    boxes: HashMap<Vec<Ty>, NodeId>,
    pushforwards: HashMap<Key, Rc<Pushforward>>,
    pullbacks: HashMap<Key, Rc<Pullback>>,
    by_sweep: HashMap<FnId, Rc<Pullback>>,
    pub(crate) crossings: HashMap<(Crossing, NodeId), FnId>,
    pub(crate) queue: Vec<Task>,
    pub(crate) request: Request,
    /// The transposes of rules.
    pub(crate) transposes: HashMap<FnId, FnId>,
    /// The rules under transposition, outermost first.
    pub(crate) transposing: Vec<FnId>,
    /// The first problem of the program's rules.
    pub(crate) problem: Option<Box<Problem>>,
    /// Whether tangents are marks, by the rules of [`crate::reach`].
    pub(crate) reach: bool,
    /// Whether these are the marks of a rule, in which a call of a function with rules marks all
    /// its results.
    pub(crate) in_rule: bool,
    /// The rules on marks, by the rules on tangents and by whether these stand beside the marks.
    pub(crate) marks: HashMap<(FnId, bool), FnId>,
    /// For each result of a rule: whether some reals of it may be absent.
    pub(crate) partial: HashMap<FnId, Rc<[bool]>>,
    pub(crate) whiles: Whiles,
    pub(crate) handles: Handles,
    /// Name suffix of tangents, and of cotangents of the same type.
    pub(crate) suffix: &'static str,
    /// The functions that add cotangents, by type.
    pub(crate) sums: HashMap<NodeId, FnId>,
}

impl Context {
    /// A context for derivatives of a block.
    pub(crate) fn new(
        library: Library,
        precision: Precision,
        block: &Block,
        request: Request,
    ) -> Context {
        let known = Rc::new(flow::known(&library, block));
        Context {
            library,
            precision,
            known,
            types: HashMap::new(),
            boxes: HashMap::new(),
            pushforwards: HashMap::new(),
            pullbacks: HashMap::new(),
            by_sweep: HashMap::new(),
            crossings: HashMap::new(),
            queue: Vec::new(),
            request,
            transposes: HashMap::new(),
            transposing: Vec::new(),
            problem: None,
            reach: false,
            in_rule: false,
            marks: HashMap::new(),
            partial: HashMap::new(),
            whiles: Whiles::default(),
            handles: Handles::default(),
            suffix: "tan",
            sums: HashMap::new(),
        }
    }

    /// A function of the library as the pipeline prepares it.
    pub(crate) fn prepared(&self, names: &mut Names, f: &Lambda, itself: Option<FnId>) -> Lambda {
        let Request { prepare, audience } = self.request;
        prepare(&self.library, names, f, &[], itself, audience)
    }

    /// A function that is still to be derived.
    pub(crate) fn next(&mut self) -> Option<Task> {
        self.queue.pop()
    }

    // Types

    /// The type of tangents, or of shadows, of values of a type.
    pub(crate) fn ty(&mut self, mode: Mode, ty: &Ty) -> Ty {
        let elem = match ty.elem {
            Elem::Scalar(_) => ty.elem,
            Elem::Ref(node) => Elem::Ref(self.node(mode, node)),
        };
        Ty { elem, dims: ty.dims.clone() }
    }

    /// Whether the cotangent of an active value of this type is a value; else the cells of a shadow
    /// hold it.
    pub(crate) fn valued(&self, ty: &Ty) -> bool {
        match ty.elem {
            Elem::Scalar(_) => ty.elem == Elem::REAL,
            Elem::Ref(_) => self.handles == Handles::Values,
        }
    }

    /// Whether the pullback returns the cotangent of this parameter.
    pub(crate) fn returns(&self, key: &Key, k: usize, ty: &Ty) -> bool {
        let added = !ty.dims.is_empty() && ty.elem == Elem::REAL && !key.returned[k];
        key.params[k] && self.valued(ty) && !added
    }

    /// Whether the pullback takes the cotangent so far of this parameter and continues it in place,
    /// as for arrays of handles.
    pub(crate) fn is_continued(&self, key: &Key, k: usize, ty: &Ty) -> bool {
        self.returns(key, k, ty) && ty.elem.node().is_some() && !ty.dims.is_empty()
    }

    /// The node type of tangents or of shadows.
    pub(crate) fn node(&mut self, mode: Mode, of: NodeId) -> NodeId {
        if let Some(known) = self.types.get(&(of, mode)) {
            return *known;
        }
        let NodeType { name, constructors } = self.library.node(of).clone();
        let suffix = match mode {
            Mode::Tangent => self.suffix,
            Mode::Shadow => "shadow",
        };
        let id = self.new_node(format!("{name}_{suffix}"));
        self.types.insert((of, mode), id);
        let derive = |constructor: &Constructor| self.constructor(mode, constructor);
        let constructors = constructors.iter().map(derive).collect();
        self.library.nodes[id.0 as usize].constructors = constructors;
        id
    }

    fn new_node(&mut self, name: String) -> NodeId {
        self.library.nodes.push(NodeType { name, constructors: Vec::new() });
        NodeId(self.library.nodes.len() as u32 - 1)
    }

    fn constructor(&mut self, mode: Mode, of: &Constructor) -> Constructor {
        let kept = self.kept(of);
        let place = |dim: &Atom| match dim {
            Atom::Lit(_) => *dim,
            Atom::Var(Var(k)) => {
                let at = kept.iter().position(|kept| kept == k);
                Var(at.expect("a size stands before") as u32).into()
            }
        };
        let fields = kept.iter().map(|k| {
            let Field { name, ty, cell, shape } = &of.fields[*k as usize];
            let dims = ty.dims.iter().map(place).collect();
            let ty = Ty { elem: self.ty_of_field(mode, ty.elem), dims };
            let cell = *cell || mode == Mode::Shadow && ty.elem == Elem::REAL;
            Field { name: name.clone(), ty, cell, shape: *shape }
        });
        Constructor { name: of.name.clone(), fields: fields.collect() }
    }

    fn ty_of_field(&mut self, mode: Mode, elem: Elem) -> Elem {
        self.ty(mode, &Ty::scalar(elem)).elem
    }

    /// The fields of a constructor that tangents and shadows keep: those that carry derivatives,
    /// and their sizes.
    pub(crate) fn kept(&self, of: &Constructor) -> Vec<u32> {
        let carries = |field: &&Field| self.known.carries(field.ty.elem);
        let is_size = |k: u32| {
            let mut dims = of.fields.iter().filter(carries).flat_map(|field| &field.ty.dims);
            dims.any(|dim| *dim == Var(k).into())
        };
        let fields = of.fields.iter().zip(0..);
        fields.filter(|(field, k)| carries(field) || is_size(*k)).map(|(_, k)| k).collect()
    }

    /// The field of the tangent or shadow that corresponds to a field.
    pub(crate) fn field(&self, of: NodeId, tag: u32, field: u32) -> Option<u32> {
        let constructor = &self.library.node(of).constructors[tag as usize];
        let at = self.kept(constructor).iter().position(|kept| *kept == field);
        at.map(|at| at as u32)
    }

    /// Whether the type has cells, which give its nodes an identity beyond equal fields.
    pub(crate) fn has_cells(&self, node: NodeId) -> bool {
        let constructors = &self.library.node(node).constructors;
        constructors.iter().flat_map(|c| &c.fields).any(|field| field.cell)
    }

    /// A new type of tapes, whose fields are decided later.
    pub(crate) fn new_tape(&mut self, of: &str) -> NodeId {
        self.new_node(format!("{of}_tape"))
    }

    pub(crate) fn set_tape(&mut self, tape: NodeId, fields: Vec<Field>) {
        let name = self.library.nodes[tape.0 as usize].name.clone();
        self.library.nodes[tape.0 as usize].constructors = vec![Constructor { name, fields }];
    }

    /// A node type that boxes values behind a handle.
    pub(crate) fn boxed(&mut self, fields: Vec<Field>) -> NodeId {
        let types: Vec<Ty> = fields.iter().map(|field| field.ty.clone()).collect();
        if let Some(known) = self.boxes.get(&types) {
            return *known;
        }
        let id = self.new_node("kept".into());
        self.set_tape(id, fields);
        self.boxes.insert(types, id);
        id
    }

    /// A node type for the residuals of one of two branches.
    pub(crate) fn either(&mut self, fields: [Vec<Field>; 2]) -> NodeId {
        let id = self.new_node("kept".into());
        let named = ["then", "otherwise"].into_iter().zip(fields);
        let constructors = named.map(|(name, fields)| Constructor { name: name.into(), fields });
        self.library.nodes[id.0 as usize].constructors = constructors.collect();
        id
    }

    // Functions

    /// A new function, to be completed later.
    pub(crate) fn new_function(&mut self) -> FnId {
        self.library.functions.push(None);
        FnId(self.library.functions.len() as u32 - 1)
    }

    pub(crate) fn complete(&mut self, id: FnId, mut function: Function) {
        lambada_anf::guard(&mut function);
        self.library.functions[id.0 as usize] = Some(function);
    }

    /// A function of the program.
    pub(crate) fn primal(&self, id: FnId) -> &Function {
        self.library.function(id).expect("functions that are called are complete")
    }

    /// Results of a function that have derivatives if the active parameters of `key` have.
    fn active_results(&self, key: &Key) -> Vec<bool> {
        let types = &self.primal(key.function).results;
        let Some(flows) = self.known.flows(key.function) else { return vec![false; types.len()] };
        let depends = |inputs| LibraryFacts::depends(inputs, &|k| key.params[k]);
        let carries = |ty: &Ty| self.known.carries(ty.elem);
        let results = flows.results.iter().zip(types);
        results.map(|(inputs, ty)| carries(ty) && depends(inputs)).collect()
    }

    pub(crate) fn pushforward(&mut self, key: Key) -> Rc<Pushforward> {
        if let Some(known) = self.pushforwards.get(&key) {
            return known.clone();
        }
        let (results, id) = (self.active_results(&key), self.new_function());
        let derived = Rc::new(Pushforward { key: key.clone(), results, id });
        self.pushforwards.insert(key, derived.clone());
        self.queue.push(Task::Forward(derived.clone()));
        derived
    }

    pub(crate) fn pullback(&mut self, key: Key) -> Rc<Pullback> {
        if let Some(known) = self.pullbacks.get(&key) {
            return known.clone();
        }
        let results = self.active_results(&key);
        let (sweep, pull) = (self.new_function(), self.new_function());
        let name = self.primal(key.function).name.clone();
        let tape = self.new_tape(&name);
        let derived = Rc::new(Pullback { key: key.clone(), results, sweep, pull, tape });
        self.pullbacks.insert(key, derived.clone());
        self.by_sweep.insert(sweep, derived.clone());
        self.queue.push(Task::Reverse(derived.clone()));
        derived
    }

    /// The pullback to a forward sweep.
    pub(crate) fn pullback_of(&self, sweep: FnId) -> Option<Rc<Pullback>> {
        self.by_sweep.get(&sweep).cloned()
    }

    /// Whether the block, or a function that it calls, makes cells.
    pub(crate) fn makes_cells(&self, block: &Block) -> bool {
        let makes = |block: &Block| {
            block.any(&mut |stm| {
                matches!(stm.exp, lambada_anf::Exp::Op(Op::Node { cells: true, .. }))
            })
        };
        let called = crate::known::called(&self.library, block);
        let mut bodies = called.iter().filter_map(|id| self.library.function(*id));
        makes(block) || bodies.any(|function| makes(&function.body))
    }
}

/// Whether it is an `int`.
pub(crate) fn is_int(ty: &Ty) -> bool {
    ty.elem == Elem::Scalar(ScalarTy::Int) && ty.dims.is_empty()
}

/// The type of a field of a node, with the node's `fields` for its sizes.
pub(crate) fn sized(ty: &Ty, fields: &[Atom]) -> Ty {
    let size = |dim: &Atom| dim.as_var().map_or(*dim, |Var(k)| fields[k as usize]);
    Ty { elem: ty.elem, dims: ty.dims.iter().map(size).collect() }
}
