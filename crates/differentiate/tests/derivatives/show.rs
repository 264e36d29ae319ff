use crate::dsl::*;
use crate::program::*;
use lambada_anf::Ty;
use lambada_prim::Prim::*;
#[test]
#[ignore]
fn show() {
    let p = Program::new(|w| {
        let (n, m) = (w.size("n"), w.size("m"));
        let (a, x, t) = (w.param("a", &[n, m]), w.param("x", &[m]), w.param("t", &[]));
        let ys = w.b.map(n, &[], |b, i| {
            let s = b.sum(m, |b, j| {
                let (aij, xj) = (b.at(a, &[i, j]), b.at(x, &[j]));
                let p = b.op(Mul, &[aij, xj]);
                b.op(Exp, &[p])
            });
            let l = b.op(Log, &[s]);
            b.op(Mul, &[l, t])
        });
        vec![(ys, reals(&[n]))]
    });
    eprintln!("{}\n{}\n{}", p.show(), p.forward().show(), p.reverse().show());
    let p = Program::new(|w| {
        let n = w.size("n");
        let (xs, t) = (w.param("xs", &[n]), w.param("t", &[]));
        let ty = reals(&[n]);
        let zeros = w.b.zero(&ty);
        let z = w.b.loop_(n, &[(t, Ty::real()), (zeros, ty.clone())], |b, k, s| {
            let e = b.at(xs, &[k]);
            let p = b.op(Mul, &[s[0], e]);
            let c = b.op(Lt, &[p, real(1.0)]);
            let p = b.if_(c, &[Ty::real()], |b| vec![b.op(Sin, &[p])], |b| vec![b.op(Mul, &[p, t])])[0];
            let out = b.with(s[1], &ty, &[k], p);
            vec![p, out]
        });
        vec![(z[1], ty), (z[0], Ty::real())]
    });
    eprintln!("{}\n{}\n{}", p.show(), p.forward().show(), p.reverse().show());
}
