//! Sizes: what is proved, what is hoisted, what fails.

use super::*;

/// How many checks are left.
fn checks(m: &Make) -> usize {
    fn count(block: &anf::Block) -> usize {
        let own = |s: &anf::Stm| usize::from(matches!(s.exp, anf::Exp::Op(anf::Op::Check { .. })));
        block
            .stms
            .iter()
            .map(|s| own(s) + s.exp.blocks().into_iter().map(count).sum::<usize>())
            .sum()
    }
    count(&m.normalized().expect("it can be normalized").function.body)
}

#[test]
fn evident_indices_are_not_checked() {
    // for i < n - 1 => xs[i + 1] - xs[i], xs[n - 1 - i]
    let mut m = Make::new();
    let main = m.lam("xs", reals(), |m, xs| {
        let n = length(xs.clone());
        m.for_(sub(n.clone(), int(1)), |_, i| {
            let step = sub(at(xs.clone(), add(i.clone(), int(1))), at(xs.clone(), i.clone()));
            mul(step, at(xs, sub(sub(n, int(1)), i)))
        })
    });
    m.def("main", main);
    assert_eq!(checks(&m), 0);
    m.check(&[vec![1.0, 2.0, 4.0].into()], vec![4.0, 4.0]);
    m.check(&[Vec::<f64>::new().into()], Vec::<f64>::new());
}

#[test]
fn conditions_prove_indices() {
    // for i < n => if 0 < i then xs[i - 1] else 0.0
    let mut m = Make::new();
    let main = m.lam("xs", reals(), |m, xs| {
        m.for_(length(xs.clone()), |_, i| {
            if_(less(int(0), i.clone()), at(xs, sub(i, int(1))), real(0.0))
        })
    });
    m.def("main", main);
    assert_eq!(checks(&m), 0);
    m.check(&[vec![1.0, 2.0, 4.0].into()], vec![0.0, 1.0, 2.0]);
}

#[test]
fn short_circuited_conditions_prove_indices() {
    // for i < n => if 0 < i && i + 1 < n then xs[i - 1] + xs[i + 1] else if 1 < i || n <= 1 then 0.0 else xs[1]
    let mut m = Make::new();
    let main = m.lam("xs", reals(), |m, xs| {
        let n = length(xs.clone());
        m.for_(n.clone(), |_, i| {
            let inside = if_(
                less(int(0), i.clone()),
                less(add(i.clone(), int(1)), n.clone()),
                lit(Scalar::Bool(false)),
            );
            let outside = if_(
                less(int(1), i.clone()),
                lit(Scalar::Bool(true)),
                prim(Prim::LeInt, vec![n, int(1)]),
            );
            let sum = add(at(xs.clone(), sub(i.clone(), int(1))), at(xs.clone(), add(i, int(1))));
            if_(inside, sum, if_(outside, real(0.0), at(xs, int(1))))
        })
    });
    m.def("main", main);
    assert_eq!(checks(&m), 0);
    m.check(&[vec![1.0, 2.0, 4.0].into()], vec![2.0, 5.0, 0.0]);
}

#[test]
fn flattened_indices_are_proved() {
    // for i < n, j < m => flat[i * m + j] where flat has n * m elements
    let mut m = Make::new();
    let main = m.lam("a", Ty::array(reals()), |m, a| {
        let (rows, columns) = (length(a.clone()), dim(a, 1));
        let flat = m.for_(mul(rows.clone(), columns.clone()), |_, k| prim(Prim::ToReal, vec![k]));
        m.let_("flat", flat, |m, flat| {
            m.for_(rows, |m, i| m.for_(columns.clone(), |_, j| at(flat, add(mul(i, columns), j))))
        })
    });
    m.def("main", main);
    assert_eq!(checks(&m), 0);
    m.check(
        &[Data::matrix(&[&[0.0, 0.0], &[0.0, 0.0]])],
        Data::matrix(&[&[0.0, 1.0], &[2.0, 3.0]]),
    );
}

#[test]
fn wrapping_arithmetic_proves_nothing() {
    // xs[k + 1] for a parameter k, and `k < k + 1`, which is false for the largest k
    let mut m = Make::new();
    let main = m.lam("k", Ty::INT, |_, k| less(k.clone(), add(k, int(1))));
    m.def("main", main);
    m.check(&[i64::MAX.into()], false);
    m.check(&[0.into()], true);
}

#[test]
fn sizes_of_rows_are_constant_or_checked() {
    // for i < n => for j < (i + 3) - i => 1.0
    let mut m = Make::new();
    let main = m.lam("n", Ty::INT, |m, n| {
        m.for_(n, |m, i| {
            let size = sub(add(i.clone(), int(2)), i);
            m.for_(size, |_, _| real(1.0))
        })
    });
    m.def("main", main);
    assert_eq!(checks(&m), 0);
    m.check(&[2.into()], Data::matrix(&[&[1.0, 1.0], &[1.0, 1.0]]));

    // for i < n => for j < i => 1.0
    let mut m = Make::new();
    let main = m.lam("n", Ty::INT, |m, n| {
        m.for_(n, |m, i| m.for_(add(i, int(1)), |_, j| prim(Prim::ToReal, vec![j])))
    });
    m.def("main", main);
    m.check(&[1.into()], Data::matrix(&[&[0.0]]));
    m.check_fails(&[3.into()], "elements have different sizes: 1 and 2");
}

#[test]
fn sizes_from_data() {
    // for i < n => for j < ks[i + d] => j: the size is read outside, if there is a first iteration
    let mut m = Make::new();
    let main = m.lam("ks", Ty::array(Ty::INT), |m, ks| {
        m.lam("n", Ty::INT, |m, n| {
            m.lam("d", Ty::INT, |m, d| {
                m.for_(n, |m, i| m.for_(at(ks, add(i, d)), |_, j| prim(Prim::ToReal, vec![j])))
            })
        })
    });
    m.def("main", main);
    let ks = || Data::from(vec![2, 2, 3]);
    m.check(&[ks(), 2.into(), 0.into()], Data::matrix(&[&[0.0, 1.0], &[0.0, 1.0]]));
    m.check_fails(&[ks(), 3.into(), 0.into()], "elements have different sizes: 2 and 3");
    m.check_fails(&[ks(), 1.into(), 3.into()], "index 3 is out of range for size 3");
    m.check(&[ks(), 0.into(), 7.into()], Data::Tensor(Tensor::reals(vec![0, 0], vec![])));
}

#[test]
fn sizes_from_loops() {
    // the size of a row is the result of a while loop
    let mut m = Make::new();
    let main = m.lam("n", Ty::INT, |m, n| {
        m.lam("b", Ty::INT, |m, b| {
            m.for_(n, |m, i| {
                let size = m.while_(int(1), |s| less(s, b), |_, s| add(s.clone(), s));
                m.let_("size", size, |m, size| m.for_(size, |_, _| i))
            })
        })
    });
    m.def("main", main);
    m.check(
        &[2.into(), 3.into()],
        Data::Tensor(Tensor {
            dims: vec![2, 4],
            data: lambada_prim::Data::Int(vec![0, 0, 0, 0, 1, 1, 1, 1]),
        }),
    );
}

#[test]
fn loops_keep_sizes() {
    // loop xs = xs for i < n do (for j < m => xs[0] + 1)
    let mut m = Make::new();
    let main = m.lam("xs", reals(), |m, xs| {
        m.lam("n", Ty::INT, |m, n| {
            m.lam("k", Ty::INT, |m, k| {
                m.loop_(xs, n, |m, s, _| m.for_(k, |_, _| add(at(s, int(0)), real(1.0))))
            })
        })
    });
    m.def("main", main);
    let xs = || Data::from(vec![1.0, 2.0]);
    m.check(&[xs(), 2.into(), 2.into()], vec![3.0, 3.0]);
    m.check(&[xs(), 0.into(), 5.into()], vec![1.0, 2.0]);
    m.check_fails(&[xs(), 2.into(), 5.into()], "the loop's state changes size: 2 becomes 5");
}

#[test]
fn elements_of_literals_have_one_size() {
    let mut m = Make::new();
    let main = m.lam("x", reals(), |m, x| m.lam("y", reals(), |_, y| array(vec![x, y])));
    m.def("main", main);
    m.check(&[vec![1.0].into(), vec![2.0].into()], Data::matrix(&[&[1.0], &[2.0]]));
    m.check_fails(
        &[vec![1.0].into(), vec![2.0, 3.0].into()],
        "elements have different sizes: 1 and 2",
    );
}
