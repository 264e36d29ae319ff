//! No copy, no allocation, no arithmetic in a loop that does not need it.

use lambada_anf::{Atom, Builder, Nest, Op, Out, Ty};
use lambada_loops::{self as loops, Step, Stmt};
use lambada_prim::{Prim, ReduceOp, Scalar, Tensor};

use super::{
    agrees, allocs, collect, copies, count, each, function, loop_bodies, loop_for, numbers, update,
    var, vector,
};

fn element(b: &mut Builder, x: Atom, ty: &Ty, index: &[Atom]) -> Atom {
    b.index(var(x), ty, index.to_vec())
}

fn swaps(body: &[Stmt]) -> usize {
    count(body, |stmt| matches!(stmt, Stmt::Step(Step::Swap(..))))
}

fn prims(body: &[Stmt], prim: Prim) -> usize {
    count(
        body,
        |stmt| matches!(stmt, Stmt::Step(Step::Let(_, loops::Op::Prim(op, _))) if *op == prim),
    )
}

#[test]
fn a_tape_is_written_in_place() {
    let f = function(&[&["n"], &["n", "m"]], |b, params, sizes| {
        let (n, m) = (sizes[0], sizes[1]);
        let (ty, rows) = (vector(n), vector(m).array_of(n));
        let tape = b.bind("tape", ty.clone(), Op::Fill(Atom::real(0.0)));
        let records = b.bind("records", rows.clone(), Op::Fill(Atom::real(0.0)));
        let states =
            vec![(Atom::real(1.0), Ty::real()), (tape, ty.clone()), (records, rows.clone())];
        let all = loop_for(b, n, states, |b, i, s| {
            let e = element(b, params[0].into(), &ty, &[i]);
            let next = b.prim(Prim::Mul, [s[0].into(), e]);
            let tape = update(b, &ty, s[1].into(), &[i], s[0].into());
            let record = element(b, params[1].into(), &rows, &[i]);
            vec![next, tape, update(b, &rows, s[2].into(), &[i], record)]
        });
        vec![(all[0], Ty::real()), (all[1], ty), (all[2], rows)]
    });
    let lowered = agrees(&f, &[numbers(&[4]), numbers(&[4, 5])]);
    let [body] = loop_bodies(&lowered)[..] else { panic!("one loop") };
    assert_eq!(
        (copies(body), allocs(body), swaps(body)),
        (1, 0, 0),
        "the record, and nothing else"
    );
    assert_eq!((copies(&lowered.body), allocs(&lowered.body)), (1, 2));
}

#[test]
fn branches_and_inner_loops_update_in_place() {
    let f = function(&[&["n"]], |b, params, sizes| {
        let (n, x) = (sizes[0], Atom::Var(params[0]));
        let ty = vector(n);
        let start = b.bind("start", ty.clone(), Op::Fill(Atom::real(0.0)));
        let all = loop_for(b, n, vec![(start, ty.clone())], |b, i, s| {
            let e = element(b, x, &ty, &[i]);
            let cond = b.prim(Prim::Lt, [e, Atom::real(2.0)]);
            let then = b.block(|b| vec![update(b, &ty, s[0].into(), &[i], e)]);
            let otherwise = b.block(|_| vec![s[0].into()]);
            let joined = b.bind("b", ty.clone(), Nest::If { cond, then, otherwise });
            let inner = loop_for(b, n, vec![(joined, ty.clone())], |b, j, s| {
                let acc = var(b.bind("acc", ty.clone(), Op::Accumulator(s[0].into())));
                each(b, n, |b, k| b.effect(Op::Accumulate { acc, index: vec![k], value: e }));
                let frozen = b.bind("frozen", ty.clone(), Op::Freeze(acc));
                vec![update(b, &ty, frozen, &[j], e)]
            });
            vec![inner[0]]
        });
        vec![(all[0], ty)]
    });
    let lowered = agrees(&f, &[numbers(&[4])]);
    assert_eq!((copies(&lowered.body), allocs(&lowered.body), swaps(&lowered.body)), (0, 1, 0));
}

/// Each branch hands out the squares of all branches inside: `depth²` results.
fn nested_squares(b: &mut Builder, x: Atom, depth: usize) -> Vec<Atom> {
    if depth == 0 {
        return Vec::new();
    }
    let cond = b.prim(Prim::Lt, [x, Atom::real(depth as f64)]);
    let then = b.block(|b| {
        let square = b.prim(Prim::Mul, [x, x]);
        let inner = nested_squares(b, square, depth - 1);
        [vec![square], inner].concat()
    });
    let otherwise = b.block(|_| vec![Atom::real(0.0); depth]);
    b.bind_all(vec![("r".into(), Ty::real()); depth], Nest::If { cond, then, otherwise })
}

#[test]
fn results_of_nested_branches_move_once() {
    let f = function(&[&[]], |b, params, _| {
        let all = nested_squares(b, params[0].into(), 8);
        all.into_iter().map(|result| (result, Ty::real())).collect()
    });
    let lowered = agrees(&f, &[numbers(&[])]);
    let sets = count(&lowered.body, |stmt| matches!(stmt, Stmt::Step(Step::Set(..))));
    assert_eq!(sets, 8);
}

#[test]
fn a_state_made_anew_exchanges_buffers() {
    let f = function(&[&["n"]], |b, params, sizes| {
        let (n, ty) = (sizes[0], vector(sizes[0]));
        let all = loop_for(b, n, vec![(params[0].into(), ty.clone())], |b, _, s| {
            vec![collect(b, n, &Ty::real(), |b, j| {
                let e = element(b, s[0].into(), &ty, &[j]);
                b.prim(Prim::Add, [e, e])
            })]
        });
        vec![(all[0], ty)]
    });
    let lowered = agrees(&f, &[numbers(&[3])]);
    let body = loop_bodies(&lowered)[0];
    assert_eq!((copies(body), allocs(body), swaps(body)), (0, 0, 1));
    assert_eq!(
        (copies(&lowered.body), allocs(&lowered.body)),
        (1, 2),
        "the first value is a parameter"
    );
}

/// `(before, now) ← (now, 2 now - before)`: three buffers take turns.
#[test]
fn a_state_moves_on_to_the_next() {
    let f = function(&[&["n"]], |b, params, sizes| {
        let (n, x, ty) = (sizes[0], Atom::Var(params[0]), vector(sizes[0]));
        let all = loop_for(b, n, vec![(x, ty.clone()), (x, ty.clone())], |b, _, s| {
            let next = collect(b, n, &Ty::real(), |b, j| {
                let (e, before) =
                    (element(b, s[1].into(), &ty, &[j]), element(b, s[0].into(), &ty, &[j]));
                let twice = b.prim(Prim::Add, [e, e]);
                b.prim(Prim::Sub, [twice, before])
            });
            vec![s[1].into(), next]
        });
        vec![(all[0], ty.clone()), (all[1], ty)]
    });
    let lowered = agrees(&f, &[numbers(&[5])]);
    let body = loop_bodies(&lowered)[0];
    assert_eq!((copies(body), allocs(body)), (0, 0));
}

#[test]
fn rows_are_built_in_their_slots() {
    let f = function(&[&["n", "m"]], |b, params, sizes| {
        let ((n, m), x) = ((sizes[0], sizes[1]), Atom::Var(params[0]));
        let (row, ty) = (vector(m), vector(m).array_of(n));
        let ys = collect(b, n, &row, |b, i| {
            let zeros = b.bind("zeros", row.clone(), Op::Fill(Atom::real(0.0)));
            let acc = var(b.bind("acc", row.clone(), Op::Accumulator(zeros)));
            each(b, m, |b, j| {
                let e = element(b, x, &ty, &[i, j]);
                b.effect(Op::Accumulate { acc, index: vec![j], value: e });
            });
            b.bind("frozen", row.clone(), Op::Freeze(acc))
        });
        let pair = collect(b, n, &row.array_of(Atom::int(2)), |b, i| {
            let first = collect(b, m, &Ty::real(), |b, j| {
                let e = element(b, x, &ty, &[i, j]);
                b.prim(Prim::Neg, [e])
            });
            let second = b.bind("second", row.clone(), Op::Fill(Atom::real(2.0)));
            b.bind("pair", row.array_of(Atom::int(2)), Op::Array(vec![first, second]))
        });
        vec![(ys, ty), (pair, row.array_of(Atom::int(2)).array_of(n))]
    });
    let lowered = agrees(&f, &[numbers(&[2, 3])]);
    assert_eq!((copies(&lowered.body), allocs(&lowered.body)), (0, 2));
}

#[test]
fn views_cost_nothing() {
    let f = function(&[&["n", "m"]], |b, params, sizes| {
        let ((n, m), x) = ((sizes[0], sizes[1]), Atom::Var(params[0]));
        let (row_ty, ty) = (vector(m), vector(m).array_of(n));
        let ys = collect(b, n, &Ty::real(), |b, i| {
            let row = element(b, x, &ty, &[i]);
            let index = b.names.fresh("j");
            let body = b.block(|b| vec![element(b, row, &row_ty, &[index.into()])]);
            b.bind(
                "sum",
                Ty::real(),
                Nest::For { index, extent: m, outs: vec![Out::Reduce(ReduceOp::Add)], body },
            )
        });
        vec![(ys, vector(n))]
    });
    let lowered = agrees(&f, &[numbers(&[2, 3])]);
    let outer = loop_bodies(&lowered)[0];
    assert_eq!((copies(&lowered.body), allocs(outer)), (0, 0));
    assert_eq!(prims(&lowered.body, Prim::MulInt), 1, "the start of the row, once per row");
    assert_eq!(prims(&lowered.body, Prim::AddInt), 1, "the place in the row");
}

/// `x[j, i]` in a loop over `j` in a loop over `i`, and invariant reads.
#[test]
fn addresses_are_computed_where_they_change() {
    let f = function(&[&["n", "m"], &["m", "n"]], |b, params, sizes| {
        let ((n, m), (x, y)) = ((sizes[0], sizes[1]), (Atom::Var(params[0]), Atom::Var(params[1])));
        let ys = collect(b, m, &vector(n), |b, i| {
            collect(b, n, &Ty::real(), |b, j| {
                let e = element(b, x, &vector(m).array_of(n), &[j, i]);
                let twice = b.prim(Prim::AddInt, [n, m]);
                let real = b.prim(Prim::ToReal, [twice]);
                let e = b.prim(Prim::Mul, [e, real]);
                let other = element(b, y, &vector(n).array_of(m), &[i, j]);
                b.prim(Prim::Add, [e, other])
            })
        });
        vec![(ys, vector(n).array_of(m))]
    });
    let lowered = agrees(&f, &[numbers(&[2, 3]), numbers(&[3, 2])]);
    let [Stmt::Nest(loops::Nest::For { body: inner, .. })] = &loop_bodies(&lowered)[0][1..] else {
        panic!("{}", lambada_loops::print(&lowered))
    };
    assert_eq!(prims(inner, Prim::MulInt), 1, "j·m");
    assert_eq!(prims(inner, Prim::AddInt), 2, "… + i, and i·n + j for both the read and the write");
    assert_eq!(prims(inner, Prim::ToReal), 0);
}

#[test]
fn long_programs_are_fine() {
    let f = function(&[&["n"]], |b, params, sizes| {
        let ty = vector(sizes[0]);
        let mut x = Atom::Var(params[0]);
        for _ in 0..10_000 {
            let e = element(b, x, &ty, &[Atom::int(0)]);
            let e = b.prim(Prim::Add, [e, Atom::real(1.0)]);
            x = update(b, &ty, x, &[Atom::int(0)], e);
        }
        vec![(x, ty)]
    });
    let lowered = agrees(&f, &[numbers(&[3])]);
    assert_eq!(copies(&lowered.body), 1);
}

#[test]
fn rows_of_a_tape_are_built_in_the_tape() {
    let f = function(&[&["n", "m"]], |b, params, sizes| {
        let ((n, m), x) = ((sizes[0], sizes[1]), Atom::Var(params[0]));
        let ty = vector(m).array_of(n);
        let tape = b.bind("tape", ty.clone(), Op::Fill(Atom::real(0.0)));
        let all = loop_for(b, n, vec![(tape, ty.clone())], |b, i, s| {
            let zeros = b.bind("zeros", vector(m), Op::Fill(Atom::real(1.0)));
            let acc = var(b.bind("acc", vector(m), Op::Accumulator(zeros)));
            each(b, m, |b, j| {
                let e = element(b, x, &ty, &[i, j]);
                b.effect(Op::Accumulate { acc, index: vec![j], value: e });
            });
            let row = b.bind("row", vector(m), Op::Freeze(acc));
            vec![update(b, &ty, s[0].into(), &[i], row)]
        });
        vec![(all[0], ty)]
    });
    let lowered = agrees(&f, &[numbers(&[3, 2])]);
    assert_eq!((copies(&lowered.body), allocs(&lowered.body)), (0, 1));
}

/// `map f (map f (… x))`: two buffers take turns.
#[test]
fn memory_is_used_again() {
    let f = function(&[&["n"]], |b, params, sizes| {
        let (n, ty) = (sizes[0], vector(sizes[0]));
        let mut x = Atom::Var(params[0]);
        for _ in 0..10 {
            x = collect(b, n, &Ty::real(), |b, i| {
                let e = element(b, x, &ty, &[i]);
                b.prim(Prim::Sin, [e])
            });
        }
        vec![(x, ty)]
    });
    let lowered = agrees(&f, &[numbers(&[3])]);
    assert_eq!(allocs(&lowered.body), 2);
}

/// A tape is not filled before a loop that writes all of its rows, unless other code could see the
/// fill.
#[test]
fn what_nobody_sees_is_not_filled() {
    let program = |rows: &str, body: &str, after: &str| {
        format!(
            "
f [n] (x : [n]real) (m : int) {{
  more : int = add_int m, 1
  tape : [{rows}][n]real = fill 0.5
  y : [n]real, all : [{rows}][n]real = loop (y : [n]real = x, all : [{rows}][n]real = tape) for k < m {{
    {body}
    z : [n]real = for i < n (collect) {{
      y1 : real = y[i]
      z1 : real = sin y1
      => z1
    }}
    => z, new
  }}
  {after}
  => y : [n]real, all : [{rows}][n]real
}}
"
        )
    };
    let replaced = "new : [m][n]real = all with [k] = y";
    let cases = [
        (program("m", replaced, ""), 0),
        // More rows than iterations.
        (program("more", "new : [more][n]real = all with [k] = y", ""), 1),
        // Another row.
        (
            program(
                "m",
                "t1 : int = sub_int m, 1
    last : int = sub_int t1, k
    new : [m][n]real = all with [last] = y",
                "",
            ),
            1,
        ),
        // The body reads.
        (
            program(
                "m",
                "first : real = all[0, 0]
    row : [n]real = fill first
    new : [m][n]real = all with [k] = row",
                "",
            ),
            2,
        ),
        // Writes in some iterations only.
        (
            program(
                "m",
                "odd : bool = lt_int 1, k
    new : [m][n]real = if odd {
      all1 : [m][n]real = all with [k] = y
      => all1
    } else {
      => all
    }",
                "",
            ),
            1,
        ),
    ];
    for (text, fills) in cases {
        let f = lambada_anf::read(&text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
        for m in [0, 1, 3] {
            let args = [numbers(&[2]), Tensor::scalar(Scalar::Int(m))];
            let lowered = agrees(&f, &args);
            let fill = |stmt: &Stmt| matches!(stmt, Stmt::Step(Step::Fill { .. }));
            assert_eq!(count(&lowered.body, fill), fills, "{text}");
        }
    }
}
