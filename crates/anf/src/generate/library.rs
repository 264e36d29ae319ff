//! Random libraries: functions that call each other and themselves, to a depth that decreases, and
//! nodes of four types.

use lambada_prim::{Prim, Tensor};

use super::{Generator, Random, Scope};
use crate::{
    Atom, Block, Constructor, Elem, Exp, Field, FnId, Function, Library, LoopKind, Names, Nest,
    NodeId, NodeType, Op, Out, Param, Stm, Ty, Var,
};

/// A program with a library, and arguments for it. Equal seeds give equal programs.
pub fn generate_with_library(seed: u64) -> (Function, Vec<Tensor>) {
    let mut generator = Generator {
        random: Random(Random(seed ^ 0x5eed).bits()),
        names: Names::default(),
        checks: 0,
        signatures: Vec::new(),
        calls: 0,
    };
    let mut library = Library { nodes: node_types(), functions: Vec::new() };
    generator.signatures = (0..2).map(|_| generator.signature()).collect();
    for k in 0..generator.signatures.len() {
        let function = generator.callee(k);
        library.functions.push(Some(function));
    }
    generator.calls = CALLS;
    let (mut function, args) = generator.function();
    function.library = library;
    (function, args)
}

/// The most calls in a function.
const CALLS: usize = 3;
/// The depth of the calls of the entry.
const DEPTH: i64 = 2;

const LIST: NodeId = NodeId(0);
const TREE: NodeId = NodeId(1);
const CHUNK: NodeId = NodeId(2);
const BOX: NodeId = NodeId(3);

fn node_types() -> Vec<NodeType> {
    let field = Field::new;
    let cell = |name: &str, ty: Ty| Field { cell: true, ..field(name, ty) };
    let constructor = |name: &str, fields| Constructor { name: name.into(), fields };
    let node = |name: &str, constructors| NodeType { name: name.into(), constructors };
    let array = Ty::real().array_of(Atom::Var(Var(0)));
    vec![
        node(
            "list",
            vec![
                constructor("Nil", vec![]),
                constructor(
                    "Cons",
                    vec![field("head", Ty::real()), field("tail", Ty::handle(LIST))],
                ),
            ],
        ),
        node(
            "tree",
            vec![
                constructor("Leaf", vec![field("x", Ty::real())]),
                constructor(
                    "Node",
                    vec![
                        field("left", Ty::handle(TREE)),
                        field("k", Ty::int()),
                        field("right", Ty::handle(TREE)),
                    ],
                ),
            ],
        ),
        node(
            "chunk",
            vec![constructor(
                "Chunk",
                vec![
                    field("n", Ty::int()),
                    field("xs", array.clone()),
                    field("flag", Ty::bool()),
                    field("next", Ty::handle(CHUNK)),
                ],
            )],
        ),
        node(
            "box",
            vec![constructor(
                "Box",
                vec![field("n", Ty::int()), cell("sum", Ty::real()), cell("sums", array)],
            )],
        ),
    ]
}

/// The parameters and results of a function besides a depth, a size and a real, and a real.
#[derive(Clone)]
pub(super) struct Signature {
    /// An array of `m` reals.
    array: bool,
    /// A handle, as a parameter and a result.
    handle: Option<NodeId>,
    /// An accumulator of `m` reals.
    accumulator: bool,
    /// An array of `m` reals as a result.
    gives_array: bool,
}

impl Generator {
    fn signature(&mut self) -> Signature {
        let handle = [None, Some(LIST), Some(TREE), Some(CHUNK)];
        Signature {
            array: self.random.once_in(2),
            handle: self.random.pick(&handle),
            accumulator: self.random.once_in(2),
            gives_array: self.random.once_in(3),
        }
    }

    /// `f (d : int) (m : int) (x : real) … { …; if 0 < d { … f (d - 1) … } else { … } }`
    fn callee(&mut self, k: usize) -> Function {
        let signature = self.signatures[k].clone();
        let mut param = |hint: &str, ty: Ty| Param { var: self.names.fresh(hint), ty };
        let (d, m) = (param("d", Ty::int()), param("m", Ty::int()));
        let of_m = Ty::real().array_of(m.var.into());
        let mut params = vec![d.clone(), m.clone(), param("x", Ty::real())];
        if signature.array {
            params.push(param("xs", of_m.clone()));
        }
        params.extend(signature.handle.map(|node| param("t", Ty::handle(node))));
        let accumulators: Vec<Param> =
            signature.accumulator.then(|| param("acc", of_m.clone())).into_iter().collect();
        let mut scope = Scope {
            reals: vec![Atom::real(0.5), Atom::real(1.0)],
            ints: vec![d.var.into()],
            extents: vec![m.var.into(), Atom::int(2)],
            ..Scope::default()
        };
        params[2..].iter().for_each(|p| scope.add(p.var.into(), &p.ty));
        scope.accumulators.extend(accumulators.iter().map(|p| (p.var, p.ty.clone())));
        let mut stms = Vec::new();
        let two = Ty::real().array_of(Atom::int(2));
        self.push(&mut stms, &mut scope, "pair", two, Op::Fill(Atom::real(0.5)));
        self.calls = 0;
        let count = 1 + self.random.below(3);
        self.statements(&mut stms, &mut scope, 2, count);
        let goes_on =
            self.prim(&mut stms, &mut scope, Prim::LtInt, vec![Atom::int(0), d.var.into()]);
        let types = self.result_types(&signature, of_m);
        let mut inner = scope.clone();
        self.calls = CALLS;
        let mut then = Vec::new();
        let less = self.prim(&mut then, &mut inner, Prim::SubInt, vec![d.var.into(), Atom::int(1)]);
        inner.less = Some(less);
        let count = 2 + self.random.below(4);
        self.call(&mut then, &mut inner);
        self.statements(&mut then, &mut inner, 1, count);
        self.mix(&mut then, &mut inner);
        let then = self.giving(then, &mut inner, &types);
        self.calls = 0;
        let mut inner = scope.clone();
        let otherwise = self.giving(Vec::new(), &mut inner, &types);
        let binds: Vec<Param> =
            types.iter().map(|ty| Param { var: self.names.fresh("r"), ty: ty.clone() }).collect();
        let results = binds.iter().map(|p| p.var.into()).collect();
        stms.push(Stm::new(binds, Nest::If { cond: goes_on, then, otherwise }));
        Function {
            name: format!("f{k}"),
            params,
            accumulators,
            results: types,
            body: Block { stms, results },
            names: std::mem::take(&mut self.names),
            ..Function::default()
        }
    }

    fn result_types(&self, signature: &Signature, of_m: Ty) -> Vec<Ty> {
        let mut types = vec![Ty::real()];
        types.extend(signature.handle.map(Ty::handle));
        types.extend(signature.gives_array.then_some(of_m));
        types
    }

    /// The block with results of these types.
    fn giving(&mut self, mut stms: Vec<Stm>, scope: &mut Scope, types: &[Ty]) -> Block {
        let results = types.iter().map(|ty| self.a(&mut stms, scope, ty)).collect();
        Block { stms, results }
    }

    /// A value of a type, made if there is none.
    fn a(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope, ty: &Ty) -> Atom {
        if let (Some(node), 0) = (ty.elem.node(), ty.rank()) {
            let known: Vec<Atom> =
                scope.handles.iter().filter(|(_, n)| *n == node).map(|(a, _)| *a).collect();
            if known.is_empty() || self.random.once_in(6) {
                return Atom::int(0);
            }
            return self.random.recent(&known);
        }
        match self.of_type(scope, ty) {
            Some(atom) => atom,
            None => {
                let value = self.random.recent(&scope.reals);
                self.push(stms, scope, "fill", ty.clone(), Op::Fill(value))
            }
        }
    }

    fn prim(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope, op: Prim, args: Vec<Atom>) -> Atom {
        self.push(stms, scope, "t", Ty::scalar(op.result()), Op::Prim(op, args))
    }

    /// A statement about the library.
    pub(super) fn about_library(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope, depth: usize) {
        match self.random.below(10) {
            0 | 1 => self.node(stms, scope),
            2 | 3 => self.inspect(stms, scope),
            4 | 5 => self.call(stms, scope),
            6 => self.list_in_loop(stms, scope),
            7 => self.handles_in_array(stms, scope),
            8 if depth < 2 => self.cells(stms, scope, depth),
            _ => self.chunk(stms, scope),
        }
    }

    fn node(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope) {
        let x = self.random.recent(&scope.reals);
        let (node, tag, fields) = match self.random.below(4) {
            0 => (LIST, 0, vec![]),
            1 => (LIST, 1, vec![x, self.a(stms, scope, &Ty::handle(LIST))]),
            2 => (TREE, 0, vec![x]),
            _ => {
                let left = self.a(stms, scope, &Ty::handle(TREE));
                let right = self.a(stms, scope, &Ty::handle(TREE));
                (TREE, 1, vec![left, self.random.pick(&scope.ints), right])
            }
        };
        let op = Op::Node { node, tag, fields, cells: false };
        self.push(stms, scope, "node", Ty::handle(node), op);
    }

    /// `if tag h == 1 { field h … } else { … }`: a real and a handle.
    fn inspect(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope) {
        let node = self.random.pick(&[LIST, TREE]);
        let of = self.a(stms, scope, &Ty::handle(node));
        let tag = self.push(stms, scope, "tag", Ty::int(), Op::Tag(of));
        scope.ints.pop(); // of null it is negative, and would be a strange depth
        let is = self.prim(stms, scope, Prim::EqInt, vec![tag, Atom::int(1)]);
        let (real, handle) = if node == LIST { (0, 1) } else { (1, 2) };
        let mut inner = scope.clone();
        let mut then = Vec::new();
        let value = if node == LIST {
            let field = Op::Field { of, tag: 1, field: real };
            self.push(&mut then, &mut inner, "head", Ty::real(), field)
        } else {
            let field = Op::Field { of, tag: 1, field: real };
            let k = self.push(&mut then, &mut inner, "k", Ty::int(), field);
            let small = self.prim(&mut then, &mut inner, Prim::MinInt, vec![k, Atom::int(3)]);
            self.prim(&mut then, &mut inner, Prim::ToReal, vec![small])
        };
        let field = Op::Field { of, tag: 1, field: handle };
        let next = self.push(&mut then, &mut inner, "next", Ty::handle(node), field);
        let value = self.prim(&mut then, &mut inner, Prim::Tanh, vec![value]);
        let then = Block { stms: then, results: vec![value, next] };
        let otherwise = Block { stms: Vec::new(), results: vec![Atom::real(0.25), of] };
        let mut bind = |hint: &str, ty: Ty| Param { var: self.names.fresh(hint), ty };
        let binds = vec![bind("y", Ty::real()), bind("rest", Ty::handle(node))];
        binds.iter().for_each(|p| scope.add(p.var.into(), &p.ty));
        stms.push(Stm::new(binds, Nest::If { cond: is, then, otherwise }));
    }

    fn call(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope) {
        let entry = Atom::int(DEPTH - self.random.below(2) as i64);
        let depth = if scope.is_entry { Some(entry) } else { scope.less };
        let Some(depth) = depth else { return };
        if self.calls == 0 {
            return;
        }
        let k = self.random.below(self.signatures.len());
        let signature = self.signatures[k].clone();
        // The size is that of the accumulator, or of an array.
        let fits = |ty: &Ty| ty.elem == Elem::REAL && ty.rank() == 1;
        let known: Vec<(Var, Ty)> = if signature.accumulator {
            scope.accumulators.iter().filter(|(_, ty)| fits(ty)).cloned().collect()
        } else {
            let arrays = scope.arrays.iter().filter(|(_, ty)| fits(ty) && scope.knows(ty));
            arrays.cloned().collect()
        };
        if known.is_empty() {
            return;
        }
        self.calls -= 1;
        let (var, ty) = self.random.pick(&known);
        let mut args = vec![depth, ty.dims[0], self.random.recent(&scope.reals)];
        if signature.array {
            args.push(self.a(stms, scope, &ty));
        }
        if let Some(node) = signature.handle {
            args.push(self.a(stms, scope, &Ty::handle(node)));
        }
        let accumulators = if signature.accumulator { vec![var] } else { vec![] };
        let types = self.result_types(&signature, ty);
        let binds: Vec<Param> =
            types.into_iter().map(|ty| Param { var: self.names.fresh("r"), ty }).collect();
        binds.iter().for_each(|p| scope.add(p.var.into(), &p.ty));
        stms.push(Stm::new(binds, Op::Call { function: FnId(k as u32), args, accumulators }));
    }

    /// A loop whose state is a list that grows.
    fn list_in_loop(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope) {
        let extent = self.random.pick(&scope.extents);
        let first = self.a(stms, scope, &Ty::handle(LIST));
        let inits = vec![self.random.recent(&scope.reals), first];
        let index = self.names.fresh("i");
        let mut bind = |hint: &str| {
            vec![
                Param { var: self.names.fresh(hint), ty: Ty::real() },
                Param { var: self.names.fresh(hint), ty: Ty::handle(LIST) },
            ]
        };
        let (params, binds) = (bind("s"), bind("grown"));
        let mut inner = scope.clone();
        inner.less = None;
        inner.indices.push((index.into(), extent));
        params.iter().for_each(|p| inner.add(p.var.into(), &p.ty));
        let mut body = Vec::new();
        self.index(&mut body, &mut inner);
        let next = self.random.recent(&inner.reals);
        let next = self.prim(&mut body, &mut inner, Prim::Atan, vec![next]);
        let (node, tag, fields) = (LIST, 1, vec![params[0].var.into(), params[1].var.into()]);
        let op = Op::Node { node, tag, fields, cells: false };
        let longer = self.push(&mut body, &mut inner, "longer", Ty::handle(LIST), op);
        let body = Block { stms: body, results: vec![next, longer] };
        binds.iter().for_each(|p| scope.add(p.var.into(), &p.ty));
        let kind = LoopKind::counted(index, extent);
        stms.push(Stm::new(binds, Nest::Loop { params, inits, kind, body }));
    }

    /// An array of handles: made by a loop, perhaps updated, and read.
    fn handles_in_array(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope) {
        let extent = self.random.pick(&scope.extents);
        let ty = Ty::handle(LIST).array_of(extent);
        let (index, made) = (self.names.fresh("i"), self.names.fresh("lists"));
        let mut inner = scope.clone();
        inner.less = None;
        inner.indices.push((index.into(), extent));
        let mut body = Vec::new();
        self.index(&mut body, &mut inner);
        let x = self.random.recent(&inner.reals);
        let tail = self.a(&mut body, &mut inner, &Ty::handle(LIST));
        let op = Op::Node { node: LIST, tag: 1, fields: vec![x, tail], cells: false };
        let node = self.push(&mut body, &mut inner, "node", Ty::handle(LIST), op);
        let body = Block { stms: body, results: vec![node] };
        let binds = vec![Param { var: made, ty: ty.clone() }];
        stms.push(Stm::new(binds, Nest::For { index, extent, outs: vec![Out::Collect], body }));
        let at = self.in_range(scope, &ty.dims);
        let Some(at) = at.first().copied() else { return };
        let mut array = made;
        if self.random.once_in(2) {
            let value = self.a(stms, scope, &Ty::handle(LIST));
            array = self.names.fresh("lists");
            let exp = Exp::Op(Op::Update { array: made, index: vec![at], value });
            stms.push(Stm::new(vec![Param { var: array, ty }], exp));
        }
        self.push(stms, scope, "list", Ty::handle(LIST), Op::Index(array, vec![at]));
    }

    /// A node with cells, perhaps null, to which a loop adds and which is read afterwards.
    fn cells(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope, depth: usize) {
        let n = self.random.pick(&scope.extents);
        let ty = Ty::real().array_of(n);
        let zeros = self.push(stms, scope, "zeros", ty.clone(), Op::Fill(Atom::real(0.0)));
        let fields = vec![n, self.random.recent(&scope.reals), zeros];
        let var = self.names.fresh("box");
        let made = Op::Node { node: BOX, tag: 0, fields, cells: true };
        stms.push(Stm::new(vec![Param { var, ty: Ty::handle(BOX) }], made));
        let of = if self.random.once_in(5) { Atom::int(0) } else { var.into() };
        let cells = [(1, Ty::real()), (2, ty)];
        for (field, ty) in &cells {
            let acc = self.names.fresh("cell");
            let bind = vec![Param { var: acc, ty: ty.clone() }];
            stms.push(Stm::new(bind, Op::Open { of, tag: 0, field: *field }));
            scope.accumulators.push((acc, ty.clone()));
            self.for_(stms, scope, depth + 1);
            self.accumulate(stms, scope);
            scope.accumulators.retain(|(a, _)| *a != acc);
        }
        for (field, ty) in cells {
            self.push(stms, scope, "sum", ty, Op::Cell { of, tag: 0, field });
        }
    }

    /// A node with an array whose size is a field; it is read again.
    fn chunk(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope) {
        let known: Vec<Atom> =
            scope.handles.iter().filter(|(_, n)| *n == CHUNK).map(|(a, _)| *a).collect();
        if known.is_empty() || self.random.once_in(2) {
            let n = self.random.pick(&scope.extents);
            let xs = self.a(stms, scope, &Ty::real().array_of(n));
            let next = self.a(stms, scope, &Ty::handle(CHUNK));
            let fields = vec![n, xs, Atom::bool(true), next];
            let op = Op::Node { node: CHUNK, tag: 0, fields, cells: false };
            self.push(stms, scope, "chunk", Ty::handle(CHUNK), op);
            return;
        }
        let of = self.random.recent(&known);
        let n = self.push(stms, scope, "n", Ty::int(), Op::Field { of, tag: 0, field: 0 });
        let xs = Op::Field { of, tag: 0, field: 1 };
        self.push(stms, scope, "xs", Ty::real().array_of(n), xs);
        let index = self.names.fresh("i");
        let mut inner = scope.clone();
        inner.less = None;
        inner.indices.push((index.into(), n));
        let mut body = Vec::new();
        self.index(&mut body, &mut inner);
        self.accumulate(&mut body, &mut inner);
        let results = vec![self.random.recent(&inner.reals)];
        let binds = vec![Param { var: self.names.fresh("total"), ty: Ty::real() }];
        scope.add(binds[0].var.into(), &Ty::real());
        let outs = vec![Out::Reduce(lambada_prim::ReduceOp::Add)];
        let body = Block { stms: body, results };
        stms.push(Stm::new(binds, Nest::For { index, extent: n, outs, body }));
        let next = Op::Field { of, tag: 0, field: 3 };
        self.push(stms, scope, "next", Ty::handle(CHUNK), next);
    }
}
