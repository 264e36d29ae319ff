//! Loops split by decisions of their indices: equal results and failures at all sizes, without
//! tests and divisions per element.

use lambada_anf::{Atom, Builder, Function, Nest, Op, Ty};
use lambada_loops::{self as loops, Stmt, visit};
use lambada_prim::{Prim, Scalar, Tensor};
use lambada_source::{Site, Span};

use super::{agrees, collect, count, each, function, numbers, var, vector};

fn int(value: i64) -> Tensor {
    Tensor::scalar(Scalar::Int(value))
}

/// A function of integers, and of the array `x` of `[n]real`.
fn of_ints(
    count: usize,
    build: impl FnOnce(&mut Builder, Atom, &[Atom], Atom) -> Vec<(Atom, Ty)>,
) -> Function {
    let mut f = function(&[&["n"]], |_, _, _| Vec::new());
    let given: Vec<_> = (0..count).map(|_| f.names.fresh("k")).collect();
    let (x, n) = (f.params[0].var, f.sizes[0]);
    f.params.extend(given.iter().map(|var| lambada_anf::Param { var: *var, ty: Ty::int() }));
    let mut b = Builder::new(&mut f.names);
    let atoms: Vec<Atom> = given.iter().map(|var| Atom::Var(*var)).collect();
    let (results, types) = build(&mut b, n.into(), &atoms, x.into()).into_iter().unzip();
    f.body = b.finish(results);
    f.results = types;
    f
}

/// A check with a message of its own.
fn site(number: usize) -> Site {
    Site::new(Span::default(), format!("check {number}"))
}

/// The number of loops with this primitive in the innermost iterations.
fn innermost(f: &loops::Function, is: &dyn Fn(&Stmt) -> bool) -> usize {
    let mut found = 0;
    visit(&f.body, &mut |stmt| {
        if let Stmt::Nest(loops::Nest::For { body, .. }) = stmt
            && count(body, |stmt| matches!(stmt, Stmt::Nest(loops::Nest::For { .. }))) == 0
        {
            found += usize::from(count(body, is) > 0);
        }
    });
    found
}

fn branches(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Nest(loops::Nest::If { .. }))
}

fn divides(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Step(loops::Step::Let(_, loops::Op::Prim(Prim::DivInt | Prim::RemInt, _))))
}

/// `if cond then sin (x[at]) else at`
fn choice(b: &mut Builder, cond: Atom, x: Atom, n: Atom, at: Atom) -> Atom {
    let then = b.block(|b| {
        let e = b.index(var(x), &vector(n), vec![at]);
        vec![b.prim(Prim::Sin, [e])]
    });
    let otherwise = b.block(|b| vec![b.prim(Prim::ToReal, [at])]);
    b.bind("chosen", Ty::real(), Nest::If { cond, then, otherwise })
}

#[test]
fn a_test_of_the_index_splits_the_range() {
    type Compare = fn(&mut Builder, Atom, Atom) -> Atom;
    let kinds: [(Compare, bool); 4] = [
        (|b, i, k| b.prim(Prim::LtInt, [i, k]), true),
        (|b, i, k| b.prim(Prim::LeInt, [k, i]), true),
        (|b, i, _| b.prim(Prim::LeInt, [i, Atom::int(2)]), true),
        (|b, i, _| b.prim(Prim::LtInt, [Atom::int(2), i]), true),
    ];
    for (compare, is_split) in kinds {
        let f = of_ints(1, |b, n, given, x| {
            let ys = collect(b, n, &Ty::real(), |b, i| {
                let cond = compare(b, i, given[0]);
                choice(b, cond, x, n, i)
            });
            vec![(ys, vector(n))]
        });
        for size in [0, 1, 2, 3, 7] {
            for k in [i64::MIN, -1, 0, 1, 3, 7, 8, i64::MAX] {
                let lowered = agrees(&f, &[numbers(&[size]), int(k)]);
                assert_eq!(innermost(&lowered, &branches) == 0, is_split);
            }
        }
    }
}

#[test]
fn a_test_that_does_not_change_stands_outside() {
    let f = of_ints(1, |b, n, given, x| {
        let cond = b.prim(Prim::LtInt, [given[0], n]);
        let ys = collect(b, n, &Ty::real(), |b, i| choice(b, cond, x, n, i));
        vec![(ys, vector(n))]
    });
    for (size, k) in [(0, 0), (1, 0), (1, 1), (5, 3), (5, 8)] {
        let lowered = agrees(&f, &[numbers(&[size]), int(k)]);
        assert_eq!((innermost(&lowered, &branches), count(&lowered.body, branches)), (0, 1));
    }
}

/// The columns of a block matrix: `i / 6`, `i / 3 % 2` and `i % 3`, with two kinds of elements in a
/// row.
#[test]
fn quotients_and_rests_are_loops() {
    let f = of_ints(1, |b, n, given, _| {
        let extent = b.prim(Prim::MaxInt, [given[0], Atom::int(0)]);
        let ys = collect(b, extent, &Ty::int(), |b, i| {
            let block = b.prim(Prim::DivInt, [i, Atom::int(6)]);
            let row = b.prim(Prim::DivInt, [i, Atom::int(3)]);
            let column = b.prim(Prim::RemInt, [i, Atom::int(3)]);
            let cond = b.prim(Prim::LtInt, [column, Atom::int(2)]);
            let then = b.block(|b| vec![b.prim(Prim::MulInt, [block, Atom::int(100)])]);
            let otherwise = b.block(|b| {
                let row = b.prim(Prim::MulInt, [row, Atom::int(-10)]);
                vec![b.prim(Prim::AddInt, [row, n])]
            });
            let part = b.bind("part", Ty::int(), Nest::If { cond, then, otherwise });
            b.prim(Prim::AddInt, [part, column])
        });
        vec![(ys, Ty::int().array_of(extent))]
    });
    for size in [i64::MIN, -1, 0, 1, 2, 5, 6, 7, 11, 12, 13, 35, 36, 37] {
        let lowered = agrees(&f, &[numbers(&[2]), int(size)]);
        assert_eq!(innermost(&lowered, &divides), 1, "only in the loop for what is left over");
    }
}

/// The first failing check stays the same; additions before it are irrelevant.
#[test]
fn checks_keep_their_order() {
    let f = of_ints(2, |b, n, given, x| {
        let ys = collect(b, Atom::int(15), &Ty::real(), |b, i| {
            let (quotient, rest) =
                (b.prim(Prim::DivInt, [i, Atom::int(5)]), b.prim(Prim::RemInt, [i, Atom::int(5)]));
            for (k, value) in [(0, quotient), (1, rest)] {
                let cond = b.prim(Prim::LtInt, [value, given[k]]);
                b.effect(Op::Check { cond, site: site(k), values: vec![value, i] });
            }
            let cond = b.prim(Prim::LtInt, [rest, Atom::int(2)]);
            let at = b.prim(Prim::MinInt, [rest, n]);
            let in_range = b.prim(Prim::LtInt, [at, n]);
            b.effect(Op::Check { cond: in_range, site: site(2), values: vec![at, n] });
            choice(b, cond, x, n, at)
        });
        vec![(ys, vector(Atom::int(15)))]
    });
    for size in [0, 1, 4, 5] {
        for quotients in 0..4 {
            for rests in [0, 1, 4, 5] {
                agrees(&f, &[numbers(&[size]), int(quotients), int(rests)]);
            }
        }
    }
}

/// Sums are added up in the order of the indices, for any loops.
#[test]
fn sums_keep_their_order() {
    let f = of_ints(1, |b, n, given, x| {
        let zeros = b.bind("zeros", vector(Atom::int(3)), Op::Fill(Atom::real(0.0)));
        let acc = var(b.bind("acc", vector(Atom::int(3)), Op::Accumulator(zeros)));
        each(b, n, |b, i| {
            let at = b.prim(Prim::RemInt, [i, Atom::int(3)]);
            let cond = b.prim(Prim::LtInt, [i, given[0]]);
            let value = choice(b, cond, x, n, i);
            b.effect(Op::Accumulate { acc, index: vec![at], value });
        });
        let sums = b.bind("sums", vector(Atom::int(3)), Op::Freeze(acc));
        vec![(sums, vector(Atom::int(3)))]
    });
    for size in [0, 1, 3, 4, 10] {
        for k in [0, 2, 3, 7, 20] {
            agrees(&f, &[numbers(&[size]), int(k)]);
        }
    }
}
