//! The laws on random programs that update arrays in nested loops: elements, rows, exchanges, in
//! branches, with reads of earlier versions.

use std::cell::RefCell;

use lambada_anf::{Atom, Builder, Random, Ty};
use lambada_prim::{Prim, ScalarTy, Tensor};
use lambada_testkit::parallel;

use crate::dsl::{Dsl, int};
use crate::laws::{CLOSELY, Outcome, laws, like};
use crate::program::{Point, Program, reals};
use crate::shrink::shrink;

use Prim::{Add, AddInt, LtInt, MaxInt, Mul, MulInt, RemInt, Sin, SubInt, Tanh};

/// What the code may mention. The arrays in `matrices` are all versions so far; the last one is
/// current.
#[derive(Clone)]
struct Scope {
    ints: Vec<Atom>,
    reals: Vec<Atom>,
    rows: Vec<Atom>,
    matrices: Vec<Atom>,
    vector: Atom,
}

impl Scope {
    fn matrix(&self) -> Atom {
        self.matrices[self.matrices.len() - 1]
    }
}

/// Draws programs over an n×n matrix and a vector of length n.
struct Draw {
    random: RefCell<Random>,
    n: Atom,
}

impl Draw {
    fn below(&self, bound: usize) -> usize {
        self.random.borrow_mut().below(bound)
    }

    fn pick(&self, atoms: &[Atom]) -> Atom {
        self.random.borrow_mut().recent(atoms)
    }

    fn types(&self) -> [Ty; 2] {
        [reals(&[self.n, self.n]), reals(&[self.n])]
    }

    /// An index in range: arithmetic of what is in scope, modulo n.
    fn index(&self, b: &mut Builder, scope: &Scope) -> Atom {
        let (i, j) = (self.pick(&scope.ints), self.pick(&scope.ints));
        let k = match self.below(4) {
            0 => i,
            1 => b.op(AddInt, &[i, j]),
            2 => b.op(SubInt, &[i, j]),
            _ => b.op(MulInt, &[i, int(2)]),
        };
        b.op(RemInt, &[k, self.n])
    }

    fn extent(&self, b: &mut Builder, scope: &Scope) -> Atom {
        let i = self.pick(&scope.ints);
        match self.below(5) {
            0 => int(2),
            1 => self.n,
            2 => b.op(AddInt, &[i, int(1)]),
            3 => b.op(SubInt, &[self.n, i]),
            _ => b.op(SubInt, &[i, int(1)]),
        }
    }

    /// A sum or an element of something, between -1 and 1.
    fn value(&self, b: &mut Builder, scope: &Scope) -> Atom {
        let (i, j) = (self.index(b, scope), self.index(b, scope));
        let matrix = self.pick(&scope.matrices);
        let x = match self.below(5) {
            0 => b.at(matrix, &[i, j]),
            1 => b.at(scope.vector, &[i]),
            2 => {
                let extent = self.extent(b, scope);
                b.sum(extent, |b, k| {
                    let k = b.op(RemInt, &[k, self.n]);
                    let (p, q) = (b.at(matrix, &[i, k]), b.at(matrix, &[j, k]));
                    b.op(Mul, &[p, q])
                })
            }
            3 if !scope.rows.is_empty() => b.at(self.pick(&scope.rows), &[i]),
            _ => {
                let bound = b.op(MaxInt, &[i, int(1)]);
                let z = b.loop_(bound, &[(self.pick(&scope.reals), Ty::real())], |b, k, s| {
                    let k = b.op(RemInt, &[k, self.n]);
                    let e = b.at(matrix, &[k, j]);
                    let p = b.op(Mul, &[s[0], e]);
                    vec![b.op(Sin, &[p])]
                });
                z[0]
            }
        };
        let y = self.pick(&scope.reals);
        let both = b.op(self.random.borrow_mut().pick(&[Add, Mul]), &[x, y]);
        b.op(self.random.borrow_mut().pick(&[Sin, Tanh]), &[both])
    }

    fn steps(&self, b: &mut Builder, scope: &mut Scope, depth: usize) {
        for _ in 0..1 + self.below(3) {
            self.step(b, scope, depth);
        }
    }

    fn step(&self, b: &mut Builder, scope: &mut Scope, depth: usize) {
        let [matrix_ty, vector_ty] = self.types();
        let n = self.n;
        let (i, j) = (self.index(b, scope), self.index(b, scope));
        match self.below(if depth > 0 { 13 } else { 8 }) {
            0 | 1 => {
                let v = self.value(b, scope);
                let next = b.with(scope.matrix(), &matrix_ty, &[i, j], v);
                scope.matrices.push(next);
            }
            2 => {
                let (matrix, y) = (scope.matrix(), self.pick(&scope.reals));
                let row = b.map(n, &[], |b, k| {
                    let e = b.at(matrix, &[j, k]);
                    let e = b.op(Mul, &[e, y]);
                    b.op(Sin, &[e])
                });
                let next = b.with(matrix, &matrix_ty, &[i], row);
                scope.matrices.push(next);
            }
            3 => {
                let v = self.value(b, scope);
                scope.vector = b.with(scope.vector, &vector_ty, &[i], v);
            }
            4 => {
                let (p, q) = (b.at(scope.vector, &[i]), b.at(scope.vector, &[j]));
                let half = b.with(scope.vector, &vector_ty, &[i], q);
                scope.vector = b.with(half, &vector_ty, &[j], p);
            }
            5 => {
                let matrix = scope.matrix();
                let (p, q) = (b.row(matrix, &[i], &[n]), b.row(matrix, &[j], &[n]));
                let half = b.with(matrix, &matrix_ty, &[i], q);
                scope.matrices.push(half);
                scope.matrices.push(b.with(half, &matrix_ty, &[j], p));
            }
            6 => {
                let v = self.value(b, scope);
                scope.reals.push(v);
            }
            7 => {
                let row = b.row(scope.matrix(), &[i], &[n]);
                scope.rows.push(row);
            }
            8 | 9 => {
                let parity = b.op(AddInt, &[i, j]);
                let parity = b.op(RemInt, &[parity, int(2)]);
                let cond = b.op(LtInt, &[parity, int(1)]);
                let branch = |b: &mut Builder| {
                    let mut inner = scope.clone();
                    if self.below(3) > 0 {
                        self.steps(b, &mut inner, depth - 1);
                    }
                    vec![inner.matrix(), inner.vector]
                };
                let z = b.if_(cond, &self.types(), branch, branch);
                scope.matrices.push(z[0]);
                scope.vector = z[1];
            }
            _ => {
                let extent = self.extent(b, scope);
                let x = self.pick(&scope.reals);
                let state =
                    [(scope.matrix(), matrix_ty), (scope.vector, vector_ty), (x, Ty::real())];
                let counted = self.below(3) > 0;
                let z = repeated(b, counted, extent, &state, |b, k, s| {
                    let mut inner = scope.clone();
                    inner.matrices =
                        if self.below(4) == 0 { scope.matrices.clone() } else { vec![] };
                    inner.matrices.push(s[0]);
                    inner.vector = s[1];
                    inner.reals.push(s[2]);
                    inner.ints.push(k);
                    self.steps(b, &mut inner, depth - 1);
                    let x = self.value(b, &inner);
                    vec![inner.matrix(), inner.vector, x]
                });
                scope.matrices.push(z[0]);
                scope.vector = z[1];
                scope.reals.push(z[2]);
            }
        }
    }
}

/// A loop, counted or as a `while` that counts.
fn repeated(
    b: &mut Builder,
    counted: bool,
    extent: Atom,
    state: &[(Atom, Ty)],
    body: impl FnOnce(&mut Builder, Atom, &[Atom]) -> Vec<Atom>,
) -> Vec<Atom> {
    if counted {
        return b.loop_(extent, state, body);
    }
    let state = [&[(int(0), Ty::int())], state].concat();
    let step = |b: &mut Builder, s: &[Atom]| {
        let next = b.op(AddInt, &[s[0], int(1)]);
        [vec![next], body(b, s[0], &s[1..])].concat()
    };
    b.while_(&state, |b, s| b.op(LtInt, &[s[0], extent]), step).split_off(1)
}

fn program(seed: u64) -> Program {
    Program::new(|w| {
        let n = w.size("n");
        let (m, v) = (w.param("m", &[n, n]), w.param("v", &[n]));
        let x = w.param("x", &[]);
        let draw = Draw { random: RefCell::new(Random(seed)), n };
        let [matrix_ty, vector_ty] = draw.types();
        let state = [(m, matrix_ty.clone()), (v, vector_ty.clone())];
        let z = repeated(&mut w.b, !seed.is_multiple_of(4), n, &state, |b, k, s| {
            let mut scope = Scope {
                ints: vec![int(1), k],
                reals: vec![x],
                rows: vec![],
                matrices: vec![s[0]],
                vector: s[1],
            };
            draw.steps(b, &mut scope, 2);
            draw.step(b, &mut scope, 2);
            vec![scope.matrix(), scope.vector]
        });
        vec![(z[0], matrix_ty), (z[1], vector_ty)]
    })
}

fn point(program: &Program, n: usize, random: &mut Random) -> Point {
    let shapes: Vec<Tensor> = program
        .f
        .params
        .iter()
        .map(|p| {
            let dims = vec![n; p.ty.dims.len()];
            Tensor::reals(dims.clone(), vec![0.0; dims.iter().product()])
        })
        .collect();
    Point { constants: vec![], params: like(random, &shapes) }
}

fn verdict(program: &Program, at: &Point, closely: f64) -> Result<Outcome, String> {
    let tested = std::panic::catch_unwind(|| laws(program, at, &mut Random(11), closely));
    tested.unwrap_or_else(|_| Err("panic".into()))
}

fn seeds(few: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
    match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SEEDS").unwrap_or(few),
    }
}

fn test(program: &Program, at: &Point, closely: f64, what: &str) {
    match verdict(program, at, closely) {
        Ok(Outcome::Holds(_)) => {}
        Ok(outcome @ (Outcome::Fails | Outcome::Nan)) => panic!("{what}: {outcome:?}"),
        Err(message) => {
            let first = message.lines().next().unwrap_or_default();
            let small = shrink(program, &|p| verdict(p, at, closely).is_err());
            let shown = verdict(&small, at, closely).err().unwrap_or_default();
            panic!("{what}: {first}\n{}\n{shown}", small.show());
        }
    }
}

#[test]
fn first_order() {
    let all: Vec<u64> = seeds(200).collect();
    let found = parallel(&all, |&seed| {
        let program = program(seed);
        let derivative = program.reverse().show();
        for n in [1, 3, 4] {
            let at = point(&program, n, &mut Random(seed));
            test(&program, &at, CLOSELY, &format!("seed {seed}"));
        }
        (derivative.contains("_old_tape"), derivative.contains("_starts"))
    });
    let (logs, flat) = (found.iter().filter(|f| f.0).count(), found.iter().filter(|f| f.1).count());
    let count = all.len();
    // The log is there, also of inner loops of different lengths.
    assert!(count < 100 || 2 * logs > count && 10 * flat > count, "{logs} {flat} of {count}");
}

#[test]
fn second_order() {
    parallel(&seeds(40).collect::<Vec<_>>(), |&seed| {
        let (program, mut random) = (program(seed), Random(seed));
        let at = point(&program, 3, &mut random);
        let mut primal = program.run(&at).expect("the program runs").0;
        primal.retain(|t| t.elem() == ScalarTy::Real);
        for (what, derivative, extra) in [
            ("forward", program.forward(), like(&mut random, &at.params)),
            ("reverse", program.reverse(), like(&mut random, &primal)),
        ] {
            let at = Point { params: [at.params.clone(), extra].concat(), ..at.clone() };
            test(
                &derivative,
                &at,
                10.0 * CLOSELY,
                &format!("seed {seed}, of the {what} derivative"),
            );
        }
    });
}
