//! Generated functions that mix up memory: few types, so that any array can be a view, an update or
//! the next state of any other.

use lambada_anf::{
    Atom, Block, Builder, Exp, Function, LoopKind, Nest, Op, Out, Param, Random, Ty, Var,
};
use lambada_prim::{Prim, Tensor};

use super::{agrees, each, function, numbers, var, vector};

/// Vectors and matrices of size `n`, reals.
#[derive(Clone)]
struct Pool {
    n: Atom,
    scalars: Vec<Atom>,
    vectors: Vec<Atom>,
    matrices: Vec<Atom>,
    /// Indices that are in range.
    indices: Vec<Atom>,
}

impl Pool {
    fn ty(&self, rank: usize) -> Ty {
        (0..rank).fold(Ty::real(), |ty, _| ty.array_of(self.n))
    }

    fn of(&mut self, rank: usize) -> &mut Vec<Atom> {
        match rank {
            0 => &mut self.scalars,
            1 => &mut self.vectors,
            _ => &mut self.matrices,
        }
    }

    fn add(&mut self, rank: usize, atom: Atom) -> Atom {
        self.of(rank).push(atom);
        atom
    }

    /// Picks an array, recent ones more often.
    fn pick(&mut self, r: &mut Random, rank: usize) -> Atom {
        let all = self.of(rank);
        let back = r.below(all.len()).min(r.below(all.len()));
        all[all.len() - 1 - back]
    }
}

struct Draw<'r> {
    r: &'r mut Random,
}

impl Draw<'_> {
    fn rank(&mut self) -> usize {
        [1, 1, 1, 2, 2, 0][self.r.below(6)]
    }

    fn statements(&mut self, b: &mut Builder, pool: &mut Pool, depth: usize, count: usize) {
        for _ in 0..count {
            self.statement(b, pool, depth);
        }
    }

    fn statement(&mut self, b: &mut Builder, pool: &mut Pool, depth: usize) {
        match self.r.below(if depth < 3 { 20 } else { 9 }) {
            0 => self.sum(b, pool),
            1 => self.element(b, pool),
            2 | 3 => self.row(b, pool),
            4..=6 => self.update(b, pool),
            7 => self.fresh(b, pool),
            8 => self.literal(b, pool),
            9 | 10 => self.collect(b, pool, depth),
            11..=13 => self.loop_(b, pool, depth),
            14 | 15 => self.if_(b, pool, depth),
            16 | 17 => self.part(b, pool, depth),
            _ => self.accumulator(b, pool),
        }
    }

    fn sum(&mut self, b: &mut Builder, pool: &mut Pool) {
        let (x, y) = (pool.pick(self.r, 0), pool.pick(self.r, 0));
        let half = b.prim(Prim::Mul, [x, Atom::real(0.5)]);
        let sum = b.prim(Prim::Add, [half, y]);
        pool.add(0, sum);
    }

    fn element(&mut self, b: &mut Builder, pool: &mut Pool) {
        let (x, i) = (pool.pick(self.r, 1), self.index(pool));
        let e = b.index(var(x), &pool.ty(1), vec![i]);
        pool.add(0, e);
    }

    fn index(&mut self, pool: &Pool) -> Atom {
        self.r.pick(&pool.indices)
    }

    fn row(&mut self, b: &mut Builder, pool: &mut Pool) {
        let (x, i) = (pool.pick(self.r, 2), self.index(pool));
        let row = b.index(var(x), &pool.ty(2), vec![i]);
        pool.add(1, row);
    }

    fn update(&mut self, b: &mut Builder, pool: &mut Pool) {
        let rank = 1 + self.r.below(2);
        let count = 1 + self.r.below(rank);
        let (array, value) = (pool.pick(self.r, rank), pool.pick(self.r, rank - count));
        let index = (0..count).map(|_| self.index(pool)).collect();
        let new = b.bind("u", pool.ty(rank), Op::Update { array: var(array), index, value });
        pool.add(rank, new);
    }

    /// A row built for the matrix that receives it.
    fn part(&mut self, b: &mut Builder, pool: &mut Pool, depth: usize) {
        self.fresh_row(b, pool);
        let row = pool.vectors[pool.vectors.len() - 1];
        if self.r.once_in(3) {
            self.statement(b, pool, depth + 1);
        }
        let (array, index) = (pool.pick(self.r, 2), vec![self.index(pool)]);
        let new = b.bind("u", pool.ty(2), Op::Update { array: var(array), index, value: row });
        pool.vectors.retain(|v| *v != row);
        pool.add(2, new);
    }

    fn fresh_row(&mut self, b: &mut Builder, pool: &mut Pool) {
        let (x, value) = (pool.pick(self.r, 1), pool.pick(self.r, 0));
        let ty = pool.ty(1);
        let row = super::collect(b, pool.n, &Ty::real(), |b, j| {
            let e = b.index(var(x), &ty, vec![j]);
            b.prim(Prim::Add, [e, value])
        });
        pool.add(1, row);
    }

    fn fresh(&mut self, b: &mut Builder, pool: &mut Pool) {
        let rank = 1 + self.r.below(2);
        let value = pool.pick(self.r, 0);
        let fill = b.bind("fill", pool.ty(rank), Op::Fill(value));
        pool.add(rank, fill);
    }

    /// `[a, b][i]`, so that a row of a literal becomes a vector.
    fn literal(&mut self, b: &mut Builder, pool: &mut Pool) {
        let (x, y) = (pool.pick(self.r, 1), pool.pick(self.r, 1));
        let ty = pool.ty(1).array_of(Atom::int(2));
        let mut both = b.bind("lit", ty.clone(), Op::Array(vec![x, y]));
        if self.r.once_in(2) {
            let value = pool.pick(self.r, 1);
            both = b.bind(
                "u",
                ty.clone(),
                Op::Update { array: var(both), index: vec![Atom::int(1)], value },
            );
        }
        let row = b.index(var(both), &ty, vec![Atom::int(self.r.below(2) as i64)]);
        pool.add(1, row);
    }

    fn block(&mut self, b: &mut Builder, inner: &mut Pool, depth: usize, ranks: &[usize]) -> Block {
        let count = 1 + self.r.below(5);
        b.block(|b| {
            self.statements(b, inner, depth + 1, count);
            ranks.iter().map(|rank| inner.pick(self.r, *rank)).collect()
        })
    }

    fn collect(&mut self, b: &mut Builder, pool: &mut Pool, depth: usize) {
        let ranks: Vec<usize> = (0..1 + self.r.below(2)).map(|_| self.r.below(2)).collect();
        let index = b.names.fresh("i");
        let mut inner = pool.clone();
        inner.indices.push(index.into());
        let body = self.block(b, &mut inner, depth, &ranks);
        let binds = ranks.iter().map(|rank| ("ys".into(), pool.ty(rank + 1))).collect();
        let outs = vec![Out::Collect; ranks.len()];
        let all = b.bind_all(binds, Nest::For { index, extent: pool.n, outs, body });
        ranks.iter().zip(all).for_each(|(rank, ys)| _ = pool.add(rank + 1, ys));
    }

    fn loop_(&mut self, b: &mut Builder, pool: &mut Pool, depth: usize) {
        let ranks: Vec<usize> = (0..1 + self.r.below(4)).map(|_| self.rank()).collect();
        let inits = ranks.iter().map(|rank| pool.pick(self.r, *rank)).collect();
        let params: Vec<Param> = ranks
            .iter()
            .map(|rank| Param { var: b.names.fresh("s"), ty: pool.ty(*rank) })
            .collect();
        let mut inner = pool.clone();
        ranks.iter().zip(&params).for_each(|(rank, p)| _ = inner.add(*rank, p.var.into()));
        let kind = if self.r.once_in(3) { self.while_(b, &inner, depth) } else { None };
        let kind = kind.unwrap_or_else(|| {
            let index = b.names.fresh("i");
            let extent = if self.r.once_in(3) { Atom::int(self.r.below(4) as i64) } else { pool.n };
            if extent == pool.n {
                inner.indices.push(index.into());
            }
            LoopKind::counted(index, extent)
        });
        let body = self.block(b, &mut inner, depth, &ranks);
        let binds = ranks.iter().map(|rank| ("r".into(), pool.ty(*rank))).collect();
        let exp = self.counted(b, Exp::Nest(Nest::Loop { params, inits, kind, body }), binds);
        ranks.iter().zip(exp).for_each(|(rank, r)| _ = pool.add(*rank, r));
    }

    /// A condition that may build arrays; [`Draw::counted`] makes it end.
    fn while_(&mut self, b: &mut Builder, inner: &Pool, depth: usize) -> Option<LoopKind> {
        let mut seen = inner.clone();
        let mut cond = self.block(b, &mut seen, depth + 1, &[0]);
        cond.results.push(Atom::bool(true));
        Some(LoopKind::While(cond))
    }

    /// The loop with a counter if it is a `while`: a computed scalar decides as well.
    fn counted(
        &mut self,
        b: &mut Builder,
        exp: Exp,
        mut binds: Vec<(std::rc::Rc<str>, Ty)>,
    ) -> Vec<Atom> {
        let Exp::Nest(Nest::Loop {
            mut params,
            mut inits,
            kind: LoopKind::While(mut cond),
            mut body,
        }) = exp
        else {
            return b.bind_all(binds, exp);
        };
        let counter = b.names.fresh("count");
        params.push(Param { var: counter, ty: Ty::int() });
        inits.push(Atom::int(0));
        let limit = Atom::int(self.r.below(4) as i64);
        let value = cond.results[0];
        let ends = b.block(|b| {
            let few = b.prim(Prim::LtInt, [counter.into(), limit]);
            let small = b.prim(Prim::Lt, [value, Atom::real(1e3)]);
            vec![b.prim(Prim::And, [few, small])]
        });
        cond.stms.extend(ends.stms);
        cond.results = ends.results;
        let next = b.block(|b| vec![b.prim(Prim::AddInt, [counter.into(), Atom::int(1)])]);
        body.stms.extend(next.stms);
        body.results.extend(next.results);
        binds.push(("count".into(), Ty::int()));
        b.bind_all(binds, Nest::Loop { params, inits, kind: LoopKind::While(cond), body })
    }

    fn if_(&mut self, b: &mut Builder, pool: &mut Pool, depth: usize) {
        let x = pool.pick(self.r, 0);
        let cond = b.prim(Prim::Lt, [x, Atom::real(1.0)]);
        let ranks: Vec<usize> = (0..1 + self.r.below(3)).map(|_| self.rank()).collect();
        let then = self.block(b, &mut pool.clone(), depth, &ranks);
        let otherwise = self.block(b, &mut pool.clone(), depth, &ranks);
        let binds = ranks.iter().map(|rank| ("b".into(), pool.ty(*rank))).collect();
        let all = b.bind_all(binds, Nest::If { cond, then, otherwise });
        ranks.iter().zip(all).for_each(|(rank, r)| _ = pool.add(*rank, r));
    }

    fn accumulator(&mut self, b: &mut Builder, pool: &mut Pool) {
        let rank = self.rank();
        let init = pool.pick(self.r, rank);
        let acc = var(b.bind("acc", pool.ty(rank), Op::Accumulator(init)));
        let count = self.r.below(rank + 1);
        let value = pool.pick(self.r, rank - count);
        let indices = pool.indices.clone();
        let many = self.r.once_in(2);
        let mut fixed: Vec<Atom> = (0..count).map(|_| self.r.pick(&indices)).collect();
        if many && count > 0 {
            each(b, pool.n, |b, i| {
                fixed[count - 1] = i;
                b.effect(Op::Accumulate { acc, index: fixed, value });
            });
        } else {
            b.effect(Op::Accumulate { acc, index: fixed, value });
        }
        let frozen = b.bind("frozen", pool.ty(rank), Op::Freeze(acc));
        pool.add(rank, frozen);
    }
}

/// A function of two vectors, two matrices and a real.
fn draw(seed: u64) -> (Function, Vec<Tensor>) {
    let mut r = Random(seed);
    let f = function(&[&["n"], &["n"], &["n", "n"], &["n", "n"], &[]], |b, params, sizes| {
        let atoms: Vec<Atom> = params.iter().map(|v: &Var| (*v).into()).collect();
        let mut pool = Pool {
            n: sizes[0],
            scalars: vec![Atom::real(0.5), atoms[4]],
            vectors: atoms[..2].to_vec(),
            matrices: atoms[2..4].to_vec(),
            indices: vec![Atom::int(0)],
        };
        let count = 4 + r.below(12);
        Draw { r: &mut r }.statements(b, &mut pool, 0, count);
        let vector = vector(sizes[0]);
        let picked: Vec<usize> = (0..2 + r.below(3)).map(|_| r.below(3)).collect();
        picked
            .into_iter()
            .map(|rank| {
                (
                    pool.pick(&mut r, rank),
                    [Ty::real(), vector.clone(), vector.array_of(sizes[0])][rank].clone(),
                )
            })
            .collect()
    });
    let n = 1 + r.below(3);
    let args = vec![numbers(&[n]), numbers(&[n]), numbers(&[n, n]), numbers(&[n, n]), numbers(&[])];
    (f, args)
}

#[test]
fn whatever_shares_memory_agrees() {
    for seed in 0..5_000 {
        let (f, args) = draw(seed);
        agrees(&f, &args);
    }
}
