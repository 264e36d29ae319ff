//! Random well-typed functions with arguments, for tests: every construct, with checks that pass
//! and some that fail. Their reals stay moderate, so that passes which add in another order agree
//! up to rounding.

use std::rc::Rc;

pub use lambada_compare::Random;
use lambada_prim::{ArrayPrim, Prim, ReduceOp, Scalar, ScalarTy, Tensor};
use lambada_source::{FileId, Site, Span};

use crate::{
    Atom, Block, Builder, Checkpoint, Elem, Exp, Function, LoopKind, Names, Nest, NodeId, Op, Out,
    Param, Stm, Ty, Var,
};

mod library;

pub use library::generate_with_library;

/// A function and arguments for it. Equal seeds give equal functions.
pub fn generate(seed: u64) -> (Function, Vec<Tensor>) {
    let mut generator = Generator {
        random: Random(Random(seed).bits()),
        names: Names::default(),
        checks: 0,
        signatures: Vec::new(),
        calls: 0,
    };
    generator.function()
}

/// The variables that a block may mention.
#[derive(Clone, Default)]
struct Scope {
    reals: Vec<Atom>,
    ints: Vec<Atom>,
    bools: Vec<Atom>,
    arrays: Vec<(Var, Ty)>,
    /// Atoms that may be extents and sizes.
    extents: Vec<Atom>,
    /// Indices that are in range for an extent.
    indices: Vec<(Atom, Atom)>,
    accumulators: Vec<(Var, Ty)>,
    handles: Vec<(Atom, NodeId)>,
    /// Whether it is the body of the entry, not of a callee.
    is_entry: bool,
    /// A depth less than that of the function, where it may call others.
    less: Option<Atom>,
}

impl Scope {
    fn add(&mut self, atom: Atom, ty: &Ty) {
        match (atom, ty.rank(), ty.elem) {
            (Atom::Var(var), 1.., Elem::Scalar(_)) => self.arrays.push((var, ty.clone())),
            (_, _, Elem::Scalar(ScalarTy::Real)) => self.reals.push(atom),
            (_, _, Elem::Scalar(ScalarTy::Int)) => self.ints.push(atom),
            (_, _, Elem::Scalar(ScalarTy::Bool)) => self.bools.push(atom),
            (_, 0, Elem::Ref(node)) => self.handles.push((atom, node)),
            (_, _, Elem::Ref(_)) => {}
        }
    }

    fn knows(&self, ty: &Ty) -> bool {
        ty.dims.iter().all(|d| d.as_lit().is_some() || self.extents.contains(d))
    }
}

struct Generator {
    random: Random,
    names: Names,
    checks: usize,
    /// The functions that may be called; without any, there are no nodes either.
    signatures: Vec<library::Signature>,
    /// The number of calls that may still be written here.
    calls: usize,
}

impl Generator {
    fn function(&mut self) -> (Function, Vec<Tensor>) {
        let sizes: Vec<Var> = ["n", "m"].iter().map(|hint| self.names.fresh(*hint)).collect();
        let actual: Vec<usize> = sizes
            .iter()
            .map(|_| if self.random.once_in(8) { 0 } else { 1 + self.random.below(4) })
            .collect();
        let (n, m) = (Atom::Var(sizes[0]), Atom::Var(sizes[1]));
        let shapes =
            [vec![n], vec![m], vec![n, m], vec![m, n], vec![n, Atom::int(3)], vec![], vec![]];
        let mut scope = Scope {
            extents: vec![n, m, Atom::int(2), Atom::int(3)],
            ints: vec![n, m, Atom::int(1)],
            is_entry: true,
            ..Scope::default()
        };
        scope.reals.extend([Atom::real(0.5), Atom::real(1.0), Atom::real(0.0)]);
        let (mut params, mut args) = (Vec::new(), Vec::new());
        for dims in shapes {
            let ty = Ty { elem: Elem::REAL, dims };
            let var = self.names.fresh(["x", "y", "z"][self.random.below(3)]);
            let value = |d: &Atom| {
                if *d == n {
                    actual[0]
                } else if *d == m {
                    actual[1]
                } else {
                    3
                }
            };
            let dims: Vec<usize> = ty.dims.iter().map(value).collect();
            let data = (0..dims.iter().product()).map(|_| self.random.real()).collect();
            args.push(Tensor::reals(dims, data));
            scope.add(var.into(), &ty);
            params.push(Param { var, ty });
        }
        let k = self.names.fresh("k");
        args.push(Tensor::scalar(Scalar::Int(self.random.below(5) as i64 - 1)));
        scope.ints.push(k.into());
        params.push(Param { var: k, ty: Ty::int() });
        let mut stms = Vec::new();
        let count = 6 + self.random.below(14);
        self.statements(&mut stms, &mut scope, 0, count);
        self.mix(&mut stms, &mut scope);
        let count = 6 + self.random.below(9);
        let (results, types) = self.results(&scope, count);
        let body = Block { stms, results };
        (
            Function {
                name: "generated".into(),
                sizes,
                params,
                results: types,
                body,
                names: std::mem::take(&mut self.names),
                ..Function::default()
            },
            args,
        )
    }

    fn results(&self, scope: &Scope, count: usize) -> (Vec<Atom>, Vec<Ty>) {
        let mut all: Vec<(Atom, Ty)> =
            scope.reals.iter().rev().take(10).map(|a| (*a, Ty::real())).collect();
        all.extend(
            scope
                .arrays
                .iter()
                .rev()
                .take(10)
                .filter(|(_, ty)| scope.knows(ty))
                .map(|(v, ty)| (Atom::Var(*v), ty.clone())),
        );
        let step = all.len().div_ceil(count).max(1);
        all.into_iter().step_by(step).unzip()
    }

    fn statements(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope, depth: usize, count: usize) {
        for _ in 0..count {
            self.statement(stms, scope, depth);
        }
    }

    fn push(
        &mut self,
        stms: &mut Vec<Stm>,
        scope: &mut Scope,
        hint: &str,
        ty: Ty,
        exp: impl Into<Exp>,
    ) -> Atom {
        let var = self.names.fresh(hint);
        scope.add(var.into(), &ty);
        stms.push(Stm::new(vec![Param { var, ty }], exp));
        var.into()
    }

    fn statement(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope, depth: usize) {
        let nested = depth < 3;
        if !self.signatures.is_empty() && self.random.once_in(4) {
            return self.about_library(stms, scope, depth);
        }
        match self.random.below(26) {
            0..=4 => self.real(stms, scope),
            5 => self.int(stms, scope),
            6 => self.comparison(stms, scope),
            7 | 8 => self.index(stms, scope),
            9 => self.checked_index(stms, scope),
            10 => self.array(stms, scope),
            11..=13 if nested => self.for_(stms, scope, depth),
            14 if nested => self.loop_(stms, scope, depth),
            15 if nested => self.while_(stms, scope, depth),
            16 if nested => self.if_(stms, scope, depth),
            17 => self.update(stms, scope),
            18 | 19 if nested => self.accumulator(stms, scope, depth),
            20 => self.product(stms, scope),
            21..=23 => self.index(stms, scope),
            _ => self.accumulate(stms, scope),
        }
    }

    /// A real that depends on several of the last values, so that little is dead.
    fn mix(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope) {
        self.index(stms, scope);
        self.index(stms, scope);
        let reals: Vec<Atom> = scope.reals.iter().rev().take(5).copied().collect();
        let mut sum = reals[0];
        for real in &reals[1..] {
            sum = self.push(stms, scope, "mix", Ty::real(), Op::Prim(Prim::Add, vec![sum, *real]));
            scope.reals.pop();
        }
        self.push(
            stms,
            scope,
            "mixed",
            Ty::real(),
            Op::Prim(Prim::Mul, vec![sum, Atom::real(0.25)]),
        );
    }

    fn real(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope) {
        let (a, b) = (self.random.recent(&scope.reals), self.random.recent(&scope.reals));
        let exp = match self.random.below(10) {
            0 | 1 => Op::Prim(Prim::Add, vec![a, b]),
            2 => Op::Prim(Prim::Sub, vec![a, b]),
            3 => Op::Prim(Prim::Neg, vec![a]),
            4 => Op::Prim(Prim::Max, vec![a, b]),
            5 => Op::Prim(Prim::Atan, vec![a]),
            6 if !scope.bools.is_empty() => {
                Op::Prim(Prim::Select, vec![self.random.recent(&scope.bools), a, b])
            }
            7 => Op::Prim(Prim::ToReal, vec![self.random.pick(&scope.ints)]),
            8 => Op::Prim(Prim::Mul, vec![a, Atom::real(0.5)]),
            _ => {
                let product =
                    self.push(stms, scope, "p", Ty::real(), Op::Prim(Prim::Mul, vec![a, b]));
                scope.reals.pop(); // products may grow: only their tangents are used
                Op::Prim(Prim::Tanh, vec![product])
            }
        };
        self.push(stms, scope, "t", Ty::real(), exp);
    }

    fn int(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope) {
        let a = self.random.pick(&scope.ints);
        let op = self.random.pick(&[Prim::AddInt, Prim::SubInt, Prim::MinInt, Prim::MaxInt]);
        let small = Atom::int(self.random.below(4) as i64);
        let sum = self.push(stms, scope, "j", Ty::int(), Op::Prim(op, vec![a, small]));
        if self.random.once_in(2) {
            let bounded = self.push(
                stms,
                scope,
                "j",
                Ty::int(),
                Op::Prim(Prim::MinInt, vec![sum, Atom::int(4)]),
            );
            let extent = self.push(
                stms,
                scope,
                "len",
                Ty::int(),
                Op::Prim(Prim::MaxInt, vec![bounded, Atom::int(0)]),
            );
            scope.extents.push(extent);
        }
    }

    fn comparison(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope) {
        let exp = if self.random.once_in(2) {
            Op::Prim(
                Prim::Lt,
                vec![self.random.recent(&scope.reals), self.random.recent(&scope.reals)],
            )
        } else {
            let op = self.random.pick(&[Prim::LtInt, Prim::LeInt, Prim::EqInt]);
            Op::Prim(op, vec![self.random.pick(&scope.ints), self.random.pick(&scope.ints)])
        };
        self.push(stms, scope, "c", Ty::bool(), exp);
    }

    /// Indices in range for the sizes, as many as are known.
    fn in_range(&mut self, scope: &Scope, dims: &[Atom]) -> Vec<Atom> {
        let mut index = Vec::new();
        for size in dims {
            let fits = |extent: Atom| match (extent, *size) {
                (Atom::Lit(Scalar::Int(e)), Atom::Lit(Scalar::Int(s))) => e <= s,
                (_, _) => extent == *size,
            };
            let fitting: Vec<Atom> =
                scope.indices.iter().filter(|(_, extent)| fits(*extent)).map(|(i, _)| *i).collect();
            match size.as_lit() {
                _ if !fitting.is_empty() => index.push(self.random.pick(&fitting)),
                Some(Scalar::Int(k)) if k > 0 => {
                    index.push(Atom::int(self.random.below(k as usize) as i64))
                }
                Some(_) | None => break,
            }
            if self.random.once_in(6) {
                break;
            }
        }
        index
    }

    fn index(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope) {
        if scope.arrays.is_empty() {
            return;
        }
        let (x, ty) = self.random.recent(&scope.arrays);
        let index = self.in_range(scope, &ty.dims);
        if !index.is_empty() {
            self.push(stms, scope, "e", ty.indexed(index.len()), Op::Index(x, index));
        }
    }

    fn checked_index(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope) {
        let (x, ty) = self.random.recent(&scope.arrays);
        // Mostly in range, so that most functions have a result.
        let fitting: Vec<Atom> = scope
            .indices
            .iter()
            .filter(|(_, extent)| *extent == ty.dims[0])
            .map(|(i, _)| *i)
            .collect();
        let at = match (self.random.below(20), ty.dims[0].as_lit()) {
            (0, _) => self.random.pick(&scope.ints),
            (_, Some(_)) => Atom::int(self.random.below(2) as i64),
            (_, None) if !fitting.is_empty() => self.random.pick(&fitting),
            (1..=4, None) => Atom::int(0),
            (_, None) => return,
        };
        let mut b = Builder { names: &mut self.names, stms: std::mem::take(stms) };
        let low = b.prim(Prim::LeInt, [Atom::int(0), at]);
        let high = b.prim(Prim::LtInt, [at, ty.dims[0]]);
        let cond = b.prim(Prim::And, [low, high]);
        self.checks += 1;
        let span = Span::new(FileId(0), self.checks, self.checks + 1);
        b.effect(Op::Check {
            cond,
            site: Site::new(span, "index {0} is out of range for size {1}"),
            values: vec![at, ty.dims[0]],
        });
        *stms = b.stms;
        self.push(stms, scope, "e", ty.indexed(1), Op::Index(x, vec![at]));
    }

    fn array(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope) {
        match self.random.below(3) {
            0 => {
                let dims: Vec<Atom> = (0..1 + self.random.below(2))
                    .map(|_| self.random.pick(&scope.extents))
                    .collect();
                let value = self.random.recent(&scope.reals);
                self.push(stms, scope, "fill", Ty { elem: Elem::REAL, dims }, Op::Fill(value));
            }
            1 => {
                let items: Vec<Atom> = (0..2 + self.random.below(2))
                    .map(|_| self.random.recent(&scope.reals))
                    .collect();
                self.push(
                    stms,
                    scope,
                    "lit",
                    Ty::real().array_of(Atom::int(items.len() as i64)),
                    Op::Array(items),
                );
            }
            _ => {
                let data = (0..6).map(|_| self.random.real()).collect();
                let ty = Ty { elem: Elem::REAL, dims: vec![Atom::int(2), Atom::int(3)] };
                self.push(
                    stms,
                    scope,
                    "const",
                    ty,
                    Op::Constant(Rc::new(Tensor::reals(vec![2, 3], data))),
                );
            }
        }
    }

    /// A nested block, and the results that make sense outside.
    fn nested(
        &mut self,
        outer: &Scope,
        inner: &mut Scope,
        depth: usize,
    ) -> (Vec<Stm>, Vec<(Atom, Ty)>) {
        let mut stms = Vec::new();
        if let Some((i, extent)) = inner.indices.last().copied()
            && self.random.once_in(4)
        {
            // The same range, from its end.
            let last = self.push(
                &mut stms,
                inner,
                "last",
                Ty::int(),
                Op::Prim(Prim::SubInt, vec![extent, Atom::int(1)]),
            );
            let mirrored = self.push(
                &mut stms,
                inner,
                "mirrored",
                Ty::int(),
                Op::Prim(Prim::SubInt, vec![last, i]),
            );
            inner.indices.push((mirrored, extent));
        }
        let count = 2 + self.random.below(5);
        self.statements(&mut stms, inner, depth + 1, count);
        self.mix(&mut stms, inner);
        let mut gives: Vec<(Atom, Ty)> =
            inner.reals.iter().rev().take(3).map(|a| (*a, Ty::real())).collect();
        let arrays = inner.arrays.iter().rev().take(4).filter(|(_, ty)| outer.knows(ty));
        gives.extend(arrays.map(|(v, ty)| (Atom::Var(*v), ty.clone())));
        (stms, gives)
    }

    fn for_(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope, depth: usize) {
        let extent = self.random.pick(&scope.extents);
        let index = self.names.fresh("i");
        let mut inner = scope.clone();
        inner.indices.push((index.into(), extent));
        inner.ints.push(index.into());
        let (body, gives) = self.nested(scope, &mut inner, depth);
        let (mut outs, mut results, mut binds) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..self.random.below(4) {
            let (atom, ty) = self.random.pick(&gives);
            let reduce = ty.dims.is_empty() && self.random.once_in(2);
            let (out, ty) = if reduce {
                (Out::Reduce(self.random.pick(&[ReduceOp::Add, ReduceOp::Max, ReduceOp::Min])), ty)
            } else {
                (Out::Collect, ty.array_of(extent))
            };
            outs.push(out);
            results.push(atom);
            binds.push(Param { var: self.names.fresh("ys"), ty });
        }
        binds.iter().for_each(|p| scope.add(p.var.into(), &p.ty));
        stms.push(Stm::new(
            binds,
            Nest::For { index, extent, outs, body: Block { stms: body, results } },
        ));
    }

    /// The state of a loop: initial values and parameters.
    fn state(&mut self, scope: &Scope) -> (Vec<Atom>, Vec<Param>) {
        let mut inits: Vec<(Atom, Ty)> = vec![(self.random.recent(&scope.reals), Ty::real())];
        let known: Vec<&(Var, Ty)> =
            scope.arrays.iter().filter(|(_, ty)| scope.knows(ty)).collect();
        if self.random.once_in(2) && !known.is_empty() {
            let (var, ty) = self.random.pick(&known).clone();
            inits.push((var.into(), ty));
        }
        if self.random.once_in(3) {
            inits.push((self.random.recent(&scope.reals), Ty::real()));
        }
        let params = inits
            .iter()
            .map(|(_, ty)| Param { var: self.names.fresh("s"), ty: ty.clone() })
            .collect();
        (inits.into_iter().map(|(a, _)| a).collect(), params)
    }

    fn next_state(&mut self, inner: &Scope, params: &[Param]) -> Vec<Atom> {
        params
            .iter()
            .map(|p| {
                let same = |ty: &Ty| *ty == p.ty;
                let mut fitting: Vec<Atom> = inner
                    .arrays
                    .iter()
                    .filter(|(_, ty)| same(ty))
                    .map(|(v, _)| Atom::Var(*v))
                    .collect();
                if p.ty.dims.is_empty() {
                    fitting.extend(inner.reals.iter().rev().take(3));
                }
                fitting[fitting.len() - 1 - self.random.below(fitting.len().min(3))]
            })
            .collect()
    }

    fn loop_(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope, depth: usize) {
        let extent = self.random.pick(&scope.extents);
        let index = self.names.fresh("i");
        // By the number of the variable, so that checkpoints do not change the random draws.
        let checkpoint = match index.0 % 8 {
            0 => Checkpoint::Sqrt,
            1 => Checkpoint::States(Atom::int(1 + i64::from(index.0 / 8 % 4))),
            2 => Checkpoint::Entries,
            _ => Checkpoint::All,
        };
        let (inits, params) = self.state(scope);
        let mut inner = scope.clone();
        params.iter().for_each(|p| inner.add(p.var.into(), &p.ty));
        inner.indices.push((index.into(), extent));
        inner.ints.push(index.into());
        let (mut body, _) = self.nested(scope, &mut inner, depth);
        let mut results = self.next_state(&inner, &params);
        if self.random.once_in(3) {
            let sum = self.push(
                &mut body,
                &mut inner,
                "sum",
                Ty::real(),
                Op::Prim(
                    Prim::Add,
                    vec![params[0].var.into(), self.random.clone().recent(&scope.reals)],
                ),
            );
            results[0] = sum;
        }
        self.end_loop(
            stms,
            scope,
            (inits, params),
            LoopKind::For { index, extent, checkpoint },
            Block { stms: body, results },
        );
    }

    fn while_(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope, depth: usize) {
        let (mut inits, mut params) = self.state(scope);
        let mut inner = scope.clone();
        params.iter().for_each(|p| inner.add(p.var.into(), &p.ty));
        let (mut body, _) = self.nested(scope, &mut inner, depth);
        let mut results = self.next_state(&inner, &params);
        // A counter, which the body does not see, ends the loop.
        let counter = self.names.fresh("count");
        inits.push(Atom::int(0));
        params.push(Param { var: counter, ty: Ty::int() });
        let mut b = Builder { names: &mut self.names, stms: std::mem::take(&mut body) };
        results.push(b.prim(Prim::AddInt, [counter.into(), Atom::int(1)]));
        body = b.stms;
        let limit = self.random.below(4) as i64;
        let first: Atom = params[0].var.into();
        let cond = Builder::new(&mut self.names).block(|b| {
            let few = b.prim(Prim::LtInt, [counter.into(), Atom::int(limit)]);
            let small = b.prim(Prim::Lt, [first, Atom::real(100.0)]);
            vec![b.prim(Prim::And, [few, small])]
        });
        self.end_loop(
            stms,
            scope,
            (inits, params),
            LoopKind::While(cond),
            Block { stms: body, results },
        );
    }

    fn end_loop(
        &mut self,
        stms: &mut Vec<Stm>,
        scope: &mut Scope,
        (inits, params): (Vec<Atom>, Vec<Param>),
        kind: LoopKind,
        body: Block,
    ) {
        let binds: Vec<Param> =
            params.iter().map(|p| Param { var: self.names.fresh("r"), ty: p.ty.clone() }).collect();
        binds
            .iter()
            .filter(|p| p.ty.elem == ScalarTy::Real)
            .for_each(|p| scope.add(p.var.into(), &p.ty));
        stms.push(Stm::new(binds, Nest::Loop { params, inits, kind, body }));
    }

    fn if_(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope, depth: usize) {
        self.comparison(stms, scope);
        let cond = self.random.recent(&scope.bools);
        let branch = |g: &mut Self| {
            let mut inner = scope.clone();
            let (body, _) = g.nested(scope, &mut inner, depth);
            (body, inner)
        };
        let ((mut then, inner_then), (mut otherwise, inner_otherwise)) =
            (branch(self), branch(self));
        let mut types = vec![Ty::real()];
        types.extend(
            scope
                .arrays
                .iter()
                .rev()
                .take(1)
                .filter(|(_, ty)| scope.knows(ty))
                .map(|(_, ty)| ty.clone()),
        );
        let finish = |g: &mut Self, inner: &Scope, body: &mut Vec<Stm>| {
            let params: Vec<Param> =
                types.iter().map(|ty| Param { var: Var(0), ty: ty.clone() }).collect();
            Block { stms: std::mem::take(body), results: g.next_state(inner, &params) }
        };
        let then = finish(self, &inner_then, &mut then);
        let otherwise = finish(self, &inner_otherwise, &mut otherwise);
        let binds: Vec<Param> =
            types.into_iter().map(|ty| Param { var: self.names.fresh("b"), ty }).collect();
        binds.iter().for_each(|p| scope.add(p.var.into(), &p.ty));
        stms.push(Stm::new(binds, Nest::If { cond, then, otherwise }));
    }

    fn update(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope) {
        let (array, ty) = self.random.recent(&scope.arrays);
        let index = self.in_range(scope, &ty.dims);
        if index.is_empty() {
            return;
        }
        let Some(value) = self.of_type(scope, &ty.indexed(index.len())) else { return };
        self.push(stms, scope, "u", ty, Op::Update { array, index, value });
    }

    fn of_type(&mut self, scope: &Scope, ty: &Ty) -> Option<Atom> {
        if ty.dims.is_empty() {
            return Some(self.random.recent(&scope.reals));
        }
        let fitting: Vec<Atom> =
            scope.arrays.iter().filter(|(_, t)| t == ty).map(|(v, _)| Atom::Var(*v)).collect();
        (!fitting.is_empty()).then(|| self.random.pick(&fitting))
    }

    fn accumulator(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope, depth: usize) {
        let (init, ty) = match self.random.below(3) {
            0 => (self.random.recent(&scope.reals), Ty::real()),
            1 => {
                let ty = Ty { elem: Elem::REAL, dims: vec![self.random.pick(&scope.extents)] };
                (self.push(stms, scope, "zeros", ty.clone(), Op::Fill(Atom::real(0.0))), ty)
            }
            _ => {
                let (var, ty) = self.random.recent(&scope.arrays);
                (var.into(), ty)
            }
        };
        let acc = self.names.fresh("acc");
        stms.push(Stm::new(vec![Param { var: acc, ty: ty.clone() }], Op::Accumulator(init)));
        scope.accumulators.push((acc, ty.clone()));
        self.for_(stms, scope, depth);
        let count = self.random.below(4);
        self.statements(stms, scope, depth, count);
        self.accumulate(stms, scope);
        scope.accumulators.retain(|(a, _)| *a != acc);
        self.push(stms, scope, "frozen", ty, Op::Freeze(acc));
    }

    fn accumulate(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope) {
        if scope.accumulators.is_empty() {
            return self.real(stms, scope);
        }
        let (acc, ty) = self.random.pick(&scope.accumulators);
        let index = self.in_range(scope, &ty.dims);
        if let Some(value) = self.of_type(scope, &ty.indexed(index.len())) {
            stms.push(Stm::effect(Op::Accumulate { acc, index, value }));
        }
    }

    fn product(&mut self, stms: &mut Vec<Stm>, scope: &mut Scope) {
        let (a, x) = self.random.recent(&scope.arrays);
        let fits = |y: &Ty| {
            matches!((x.rank(), y.rank()), (2, 2) | (2, 1) | (1, 2))
                && x.dims[x.rank() - 1] == y.dims[0]
        };
        let fitting: Vec<(Var, Ty)> =
            scope.arrays.iter().filter(|(_, y)| fits(y)).cloned().collect();
        if fitting.is_empty() {
            return;
        }
        let (b, y) = self.random.pick(&fitting);
        let dims = x.dims[..x.rank() - 1].iter().chain(&y.dims[1..]).copied().collect();
        self.push(
            stms,
            scope,
            "mm",
            Ty { elem: Elem::REAL, dims },
            Op::ArrayPrim(ArrayPrim::MatMul, vec![a, b]),
        );
        scope.arrays.pop(); // products may grow: they are computed, and rarely looked at
        if self.random.once_in(3) {
            let (var, ty) = (self.names.len() as u32 - 1, stms[stms.len() - 1].binds[0].ty.clone());
            scope.arrays.push((Var(var), ty));
        }
    }
}
