//! Error-prone programs, one by one.

use lambada_anf::{Atom, Builder, Exp, Function, LoopKind, Nest, Op, Param, Ty};
use lambada_prim::{Prim, Scalar, Tensor};
use lambada_source::{Site, Span};

use super::{agrees, collect, each, function, loop_for, numbers, update, var, vector};

/// A function of `x : [n]real` and `y : [n][n]real`.
fn on_square(build: impl FnOnce(&mut Builder, Atom, Atom, Atom) -> Vec<(Atom, Ty)>) -> Function {
    function(&[&["n"], &["n", "n"]], |b, params, sizes| {
        build(b, params[0].into(), params[1].into(), sizes[0])
    })
}

fn agrees_on_square(f: &Function) {
    for n in 1..4 {
        agrees(f, &[numbers(&[n]), numbers(&[n, n])]);
    }
}

fn zero() -> Atom {
    Atom::int(0)
}

/// `y + 0` elementwise, a writable copy.
fn own(b: &mut Builder, y: Atom, n: Atom) -> Atom {
    let ty = vector(n);
    collect(b, n, &ty, |b, i| {
        let row = b.index(var(y), &ty.array_of(n), vec![i]);
        collect(b, n, &Ty::real(), |b, j| b.index(var(row), &ty, vec![j]))
    })
}

#[test]
fn a_row_outlives_the_update_of_its_matrix() {
    let f = on_square(|b, x, y, n| {
        let (row_ty, ty) = (vector(n), vector(n).array_of(n));
        let a = own(b, y, n);
        let row = b.index(var(a), &ty, vec![zero()]);
        let changed = update(b, &ty, a, &[zero()], x);
        let e = b.index(var(row), &row_ty, vec![zero()]);
        vec![(changed, ty), (row, row_ty), (e, Ty::real())]
    });
    agrees_on_square(&f);
}

#[test]
fn rows_change_places() {
    let f = on_square(|b, _, y, n| {
        let ty = vector(n).array_of(n);
        let a = own(b, y, n);
        let all = loop_for(b, n, vec![(a, ty.clone())], |b, i, s| {
            let (first, other) = (b.index(s[0], &ty, vec![zero()]), b.index(s[0], &ty, vec![i]));
            let once = update(b, &ty, s[0].into(), &[zero()], other);
            vec![update(b, &ty, once, &[i], first)]
        });
        vec![(all[0], ty)]
    });
    agrees_on_square(&f);
    let lowered = crate::lower(&f);
    let body = super::loop_bodies(&lowered)[1];
    let n = lambada_loops::Operand::Reg(lambada_loops::Reg(0));
    assert_eq!(super::copies(body), 4, "two rows to save them, two to write them");
    assert_eq!(
        super::count(
            body,
            |stmt| matches!(stmt, lambada_loops::Stmt::Step(lambada_loops::Step::Copy { len, .. }) if *len != n)
        ),
        0,
        "no matrix"
    );
}

#[test]
fn a_row_is_copied_over_itself() {
    let f = on_square(|b, _, y, n| {
        let ty = vector(n).array_of(n);
        let a = own(b, y, n);
        let row = b.index(var(a), &ty, vec![zero()]);
        let same = update(b, &ty, a, &[zero()], row);
        vec![(same, ty)]
    });
    agrees_on_square(&f);
}

#[test]
fn one_array_starts_two_states_and_is_used_after() {
    let f = on_square(|b, x, _, n| {
        let ty = vector(n);
        let start = b.bind("start", ty.clone(), Op::Fill(Atom::real(1.0)));
        let all = loop_for(b, n, vec![(start, ty.clone()), (start, ty.clone())], |b, i, s| {
            let e = b.index(var(x), &ty, vec![i]);
            let a = update(b, &ty, s[0].into(), &[i], e);
            let old = b.index(s[1], &ty, vec![zero()]);
            let sum = b.prim(Prim::Add, [old, e]);
            vec![a, update(b, &ty, s[1].into(), &[zero()], sum)]
        });
        vec![(all[0], ty.clone()), (all[1], ty.clone()), (start, ty)]
    });
    agrees_on_square(&f);
}

#[test]
fn an_array_is_used_after_its_update() {
    let f = on_square(|b, x, _, n| {
        let ty = vector(n);
        let new = update(b, &ty, x, &[zero()], Atom::real(7.0));
        let newer = update(b, &ty, new, &[zero()], Atom::real(8.0));
        let e = b.index(var(new), &ty, vec![zero()]);
        vec![(newer, ty.clone()), (e, Ty::real()), (x, ty)]
    });
    agrees_on_square(&f);
}

#[test]
fn states_exchange_their_roles() {
    let f = on_square(|b, x, y, n| {
        let ty = vector(n);
        let z = b.index(var(y), &ty.array_of(n), vec![zero()]);
        let w = b.bind("w", ty.clone(), Op::Fill(Atom::real(3.0)));
        let scalars = [(Atom::real(1.0), Ty::real()), (Atom::real(2.0), Ty::real())];
        let states = [(x, ty.clone()), (z, ty.clone()), (w, ty.clone())]
            .into_iter()
            .chain(scalars)
            .collect();
        let all = loop_for(b, Atom::int(4), states, |_, _, s| {
            [1, 2, 0, 4, 3].map(|k| Atom::Var(s[k])).to_vec()
        });
        all.into_iter().zip([ty.clone(), ty.clone(), ty, Ty::real(), Ty::real()]).collect()
    });
    agrees_on_square(&f);
}

#[test]
fn states_become_equal() {
    let f = on_square(|b, x, y, n| {
        let ty = vector(n);
        let z = b.index(var(y), &ty.array_of(n), vec![zero()]);
        let states = vec![(x, ty.clone()), (z, ty.clone()), (z, ty.clone())];
        let all = loop_for(b, n, states, |b, i, s| {
            let fresh = collect(b, n, &Ty::real(), |b, j| b.index(s[2], &ty, vec![j]));
            let changed = update(b, &ty, s[0].into(), &[i], Atom::real(9.0));
            vec![s[1].into(), s[1].into(), if n == i { fresh } else { changed }]
        });
        all.into_iter().map(|a| (a, ty.clone())).collect()
    });
    agrees_on_square(&f);
}

#[test]
fn an_accumulator_starts_from_what_is_still_used() {
    let f = on_square(|b, x, y, n| {
        let ty = vector(n);
        let start = collect(b, n, &Ty::real(), |b, i| b.index(var(x), &ty, vec![i]));
        let acc = var(b.bind("acc", ty.clone(), Op::Accumulator(start)));
        each(b, n, |b, i| {
            let row = b.index(var(y), &ty.array_of(n), vec![i]);
            b.effect(Op::Accumulate { acc, index: vec![], value: row });
            let e = b.index(var(start), &ty, vec![i]);
            b.effect(Op::Accumulate { acc, index: vec![zero()], value: e });
        });
        let sum = b.bind("sum", ty.clone(), Op::Freeze(acc));
        vec![(sum, ty.clone()), (start, ty)]
    });
    agrees_on_square(&f);
}

#[test]
fn a_branch_updates_what_the_other_needs() {
    let f = on_square(|b, x, _, n| {
        let ty = vector(n);
        let start = b.bind("start", ty.clone(), Op::Fill(Atom::real(1.0)));
        let all = loop_for(b, n, vec![(start, ty.clone()), (start, ty.clone())], |b, i, s| {
            let e = b.index(var(x), &ty, vec![i]);
            let cond = b.prim(Prim::Lt, [e, Atom::real(1.0)]);
            let then = b.block(|b| {
                let u = update(b, &ty, s[0].into(), &[i], e);
                vec![u, s[0].into()]
            });
            let otherwise = b.block(|b| {
                let u = update(b, &ty, s[1].into(), &[zero()], e);
                vec![u, s[1].into()]
            });
            b.bind_all(
                vec![("a".into(), ty.clone()), ("b".into(), ty.clone())],
                Nest::If { cond, then, otherwise },
            )
        });
        all.into_iter().map(|a| (a, ty.clone())).collect()
    });
    agrees_on_square(&f);
}

#[test]
fn one_branch_builds_a_row_in_place_and_the_other_reads() {
    let f = on_square(|b, x, y, n| {
        let ty = vector(n).array_of(n);
        let start = own(b, y, n);
        let all = loop_for(b, n, vec![(start, ty.clone())], |b, i, s| {
            let e = b.index(var(x), &vector(n), vec![i]);
            let cond = b.prim(Prim::Lt, [e, Atom::real(1.0)]);
            let then = b.block(|b| {
                let row = b.bind("row", vector(n), Op::Fill(e));
                vec![update(b, &ty, s[0].into(), &[i], row)]
            });
            let otherwise = b.block(|b| {
                let fill = b.bind("fill", ty.clone(), Op::Fill(Atom::real(2.0)));
                let old = b.index(s[0], &ty, vec![zero(), zero()]);
                vec![update(b, &ty, fill, &[i, zero()], old)]
            });
            vec![b.bind("b", ty.clone(), Nest::If { cond, then, otherwise })]
        });
        vec![(all[0], ty)]
    });
    agrees_on_square(&f);
}

/// `loop (k, xs : [k]) = (n, x) for … do (k + 1, for j < k + 1 => …)`
#[test]
fn a_state_grows() {
    let f = on_square(|b, x, _, n| {
        let (k, xs) = (b.names.fresh("k"), b.names.fresh("xs"));
        let ty = vector(k.into());
        let body = b.block(|b| {
            let next = b.prim(Prim::AddInt, [k.into(), Atom::int(1)]);
            let ys = collect(b, next, &Ty::real(), |b, j| {
                let last = b.prim(Prim::SubInt, [k.into(), Atom::int(1)]);
                let at = b.prim(Prim::MinInt, [j, last]);
                let e = b.index(xs, &ty, vec![at]);
                b.prim(Prim::Add, [e, e])
            });
            vec![next, ys]
        });
        let params = vec![Param { var: k, ty: Ty::int() }, Param { var: xs, ty }];
        let index = b.names.fresh("i");
        let exp = Nest::Loop {
            params,
            inits: vec![n, x],
            kind: LoopKind::counted(index, Atom::int(3)),
            body,
        };
        let (len, ys) = (b.names.fresh("len"), b.names.fresh("ys"));
        let ty = vector(len.into());
        let binds = vec![Param { var: len, ty: Ty::int() }, Param { var: ys, ty: ty.clone() }];
        b.stms.push(lambada_anf::Stm::new(binds, exp));
        // Another loop continues it: its second buffer must have the new size.
        let again = loop_for(b, Atom::int(3), vec![(ys.into(), ty.clone())], |b, _, s| {
            vec![collect(b, len.into(), &Ty::real(), |b, j| {
                let e = b.index(s[0], &ty, vec![j]);
                b.prim(Prim::Add, [e, Atom::real(1.0)])
            })]
        });
        // A later array must not take the initial memory of the state.
        let other = collect(b, n, &Ty::real(), |b, j| b.index(var(x), &vector(n), vec![j]));
        vec![(len.into(), Ty::int()), (again[0], ty.clone()), (ys.into(), ty), (other, vector(n))]
    });
    agrees_on_square(&f);
}

#[test]
fn a_branch_decides_the_size() {
    let f = on_square(|b, x, _, n| {
        let e = b.index(var(x), &vector(n), vec![zero()]);
        let cond = b.prim(Prim::Lt, [e, Atom::int(0).as_lit().map_or(e, |_| Atom::real(0.5))]);
        let then = b.block(|b| {
            let k = b.prim(Prim::AddInt, [n, Atom::int(2)]);
            let fill = b.bind("fill", vector(k), Op::Fill(e));
            vec![k, fill, fill]
        });
        let otherwise = b.block(|_| vec![n, x, x]);
        let (k, ys, zs) = (b.names.fresh("k"), b.names.fresh("ys"), b.names.fresh("zs"));
        let ty = vector(k.into());
        let bind = |var, ty: &Ty| Param { var, ty: ty.clone() };
        let binds = vec![bind(k, &Ty::int()), bind(ys, &ty), bind(zs, &ty)];
        b.stms.push(lambada_anf::Stm::new(binds, Nest::If { cond, then, otherwise }));
        let changed = update(b, &ty, ys.into(), &[zero()], Atom::real(5.0));
        vec![(k.into(), Ty::int()), (changed, ty.clone()), (zs.into(), ty)]
    });
    agrees_on_square(&f);
    agrees(&f, &[Tensor::reals(vec![2], vec![3.0, 4.0]), numbers(&[2, 2])]);
}

#[test]
fn nothing_runs_for_a_negative_extent() {
    let f = on_square(|b, x, y, n| {
        let k = b.prim(Prim::SubInt, [Atom::int(0), n]);
        let ys = collect(b, k, &vector(n), |b, i| b.index(var(y), &vector(n).array_of(n), vec![i]));
        let fill = b.bind("fill", vector(k), Op::Fill(Atom::real(1.0)));
        let all = loop_for(b, k, vec![(x, vector(n))], |b, i, s| {
            vec![update(b, &vector(n), s[0].into(), &[i], Atom::real(0.0))]
        });
        vec![(ys, vector(n).array_of(k)), (fill, vector(k)), (all[0], vector(n))]
    });
    agrees_on_square(&f);
}

#[test]
fn failures_are_the_same() {
    let f = on_square(|b, x, _, n| {
        let all = loop_for(b, Atom::int(5), vec![(x, vector(n))], |b, i, s| {
            let cond = b.prim(Prim::LtInt, [i, n]);
            let site = Site::new(Span::default(), "index {0} is out of range for size {1}");
            b.effect(Op::Check { cond, site, values: vec![i, n] });
            vec![update(b, &vector(n), s[0].into(), &[i], Atom::real(1.0))]
        });
        vec![(all[0], vector(n))]
    });
    agrees_on_square(&f);
}

#[test]
fn a_condition_may_build_arrays_and_may_not_change_the_state() {
    let f = on_square(|b, x, _, n| {
        let (s, count) = (b.names.fresh("s"), b.names.fresh("count"));
        let cond = b.block(|b| {
            let changed = update(b, &vector(n), s.into(), &[zero()], Atom::real(0.0));
            let e = b.index(var(changed), &vector(n), vec![zero()]);
            let small = b.prim(Prim::Lt, [e, Atom::real(1.0)]);
            let few = b.prim(Prim::LtInt, [count.into(), Atom::int(3)]);
            vec![b.prim(Prim::And, [small, few])]
        });
        let body = b.block(|b| {
            let doubled = collect(b, n, &Ty::real(), |b, j| {
                let e = b.index(s, &vector(n), vec![j]);
                b.prim(Prim::Add, [e, e])
            });
            vec![doubled, b.prim(Prim::AddInt, [count.into(), Atom::int(1)])]
        });
        let params = vec![Param { var: s, ty: vector(n) }, Param { var: count, ty: Ty::int() }];
        let exp = Exp::Nest(Nest::Loop {
            params,
            inits: vec![x, Atom::int(0)],
            kind: LoopKind::While(cond),
            body,
        });
        let all = b.bind_all(vec![("r".into(), vector(n)), ("count".into(), Ty::int())], exp);
        vec![(all[0], vector(n)), (all[1], Ty::int())]
    });
    agrees_on_square(&f);
}

#[test]
fn elements_and_constants_need_no_memory() {
    let f = on_square(|b, x, _, n| {
        let e = b.index(var(x), &vector(n), vec![zero()]);
        let three = vector(Atom::int(3));
        let pair = b.bind("pair", three.clone(), Op::Array(vec![e, Atom::real(2.0), e]));
        let first = b.index(var(pair), &three, vec![zero()]);
        let second = b.index(var(pair), &three, vec![Atom::int(1)]);
        let product = b.prim(Prim::Mul, [first, second]);
        let fixed =
            b.bind("fixed", three.clone(), Op::Array([1.0, 2.0, 3.0].map(Atom::real).to_vec()));
        let one = std::rc::Rc::new(Tensor::scalar(Scalar::Real(4.0)));
        let four = b.bind("four", Ty::real(), Op::Constant(one));
        vec![(product, Ty::real()), (fixed, three), (four, Ty::real())]
    });
    agrees_on_square(&f);
    assert_eq!(super::allocs(&crate::lower(&f).body), 0);
}
