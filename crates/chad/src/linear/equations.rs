//! Figure 4: the equations of the linear target language, as rows, the laws that the paper derives from them last.
//!
//! Figure 2's laws hold in both judgements; the rows here are those for linear terms.

use super::*;
use crate::op::{LOp, Op};
use crate::primitives::LPrim;

/// What a row is instantiated with. All linear terms are over `v : σ` where nothing else is said.
#[derive(Clone, Debug)]
pub struct Instance {
    /// A Cartesian variable `y : T`.
    pub y: Var,
    /// `Γ ⊢ t : T`
    pub t: Term,
    /// Three terms of one linear type τ.
    pub l: [Lin; 3],
    /// `Γ, y : T; v : τ ⊢ k : ρ`
    pub k: Lin,
    /// `Γ; v : σ ⊢ p : !T (x) τ`
    pub p: Lin,
    /// `Γ; v : !T (x) τ ⊢ r : ρ`
    pub r: Lin,
    /// `Γ ⊢ f : τ -o ρ`
    pub f: Term,
}

/// A row: its id, its name, its two sides.
pub struct Equation {
    /// L-20 … L-30.
    pub id: &'static str,
    /// What it says.
    pub name: &'static str,
    /// `(left, right)`
    pub sides: fn(&Instance) -> (Lin, Lin),
}

impl Instance {
    fn a(&self) -> Lin {
        self.l[0].clone()
    }

    fn b(&self) -> Lin {
        self.l[1].clone()
    }

    fn c(&self) -> Lin {
        self.l[2].clone()
    }

    fn zero(&self, to: &LTy) -> Lin {
        zero_lin(self.a().from().clone(), to.clone())
    }

    /// `k[t/y]` as a term over `v : τ`
    fn k_at_t(&self) -> Lin {
        self.k.subst(&self.y, &self.t)
    }

    fn case(&self, l: Lin) -> Lin {
        case(l, self.y.clone(), self.k.clone())
    }

    /// Zero of the type of `l`.
    fn none(&self) -> Lin {
        self.zero(self.l[0].to())
    }

    fn rho(&self) -> LTy {
        self.k.to().clone()
    }
}

/// βη+.
pub fn equations() -> &'static [Equation] {
    &[
        Equation { id: "L-20", name: "unit-eta", sides: |i| (i.zero(&LTy::Unit), lunit(i.a().from().clone())) },
        Equation { id: "L-20", name: "fst-beta", sides: |i| (lfst(lpair(i.a(), i.p.clone())), i.a()) },
        Equation { id: "L-20", name: "snd-beta", sides: |i| (lsnd(lpair(i.p.clone(), i.a())), i.a()) },
        Equation {
            id: "L-20",
            name: "pair-eta",
            sides: |i| {
                let both = v(i.a().to().clone().times(i.rho()));
                (both.clone(), lpair(lfst(both.clone()), lsnd(both)))
            },
        },
        Equation { id: "L-20", name: "fun-beta", sides: |i| (lapp(labs(i.y.clone(), i.k.clone()), i.t.clone()), i.k_at_t()) },
        Equation {
            id: "L-20",
            name: "fun-eta",
            sides: |i| {
                let f = v(i.rho().under(i.y.ty.clone()));
                (f.clone(), llam("x", i.y.ty.clone(), |x| lapp(f.clone(), x)))
            },
        },
        Equation { id: "L-21", name: "case-beta", sides: |i| (i.case(tensor(i.t.clone(), i.a())), i.k_at_t().after(&i.a())) },
        Equation {
            id: "L-22",
            name: "case-eta",
            sides: |i| {
                let y = i.y.refresh();
                let one = tensor(var(&y), v(i.a().to().clone()));
                (i.r.after(&i.p), case(i.p.clone(), y, i.r.after(&one)))
            },
        },
        Equation { id: "L-23", name: "linear-beta", sides: |i| (linapp(linlam(i.k_at_t()), i.a()), i.k_at_t().after(&i.a())) },
        Equation {
            id: "L-24",
            name: "linear-eta",
            sides: |i| (linapp(i.f.clone(), i.a()), linapp(linlam(linapp(i.f.clone(), v(i.a().to().clone()))), i.a())),
        },
        Equation { id: "L-25", name: "plus-zero", sides: |i| (plus(i.a(), i.none()), i.a()) },
        Equation { id: "L-26", name: "zero-plus", sides: |i| (plus(i.none(), i.a()), i.a()) },
        Equation { id: "L-27", name: "plus-assoc", sides: |i| (plus(plus(i.a(), i.b()), i.c()), plus(i.a(), plus(i.b(), i.c()))) },
        Equation { id: "L-28", name: "plus-comm", sides: |i| (plus(i.a(), i.b()), plus(i.b(), i.a())) },
        Equation { id: "L-29", name: "map-zero", sides: |i| (i.k_at_t().after(&i.none()), i.zero(&i.rho())) },
        Equation {
            id: "L-30",
            name: "map-plus",
            sides: |i| (i.k_at_t().after(&plus(i.a(), i.b())), plus(i.k_at_t().after(&i.a()), i.k_at_t().after(&i.b()))),
        },
        Equation { id: "derived", name: "fst-zero", sides: |i| (lfst(i.zero(&i.a().to().clone().times(i.rho()))), i.none()) },
        Equation {
            id: "derived",
            name: "pair-zero",
            sides: |i| (i.zero(&i.a().to().clone().times(i.rho())), lpair(i.none(), i.zero(&i.rho()))),
        },
        Equation {
            id: "derived",
            name: "pair-plus",
            sides: |i| (plus(lpair(i.a(), i.b()), lpair(i.b(), i.c())), lpair(plus(i.a(), i.b()), plus(i.b(), i.c()))),
        },
        Equation {
            id: "derived",
            name: "fun-plus",
            sides: |i| {
                let (y, k) = (i.y.clone(), i.k.clone());
                (plus(labs(y.clone(), k.clone()), labs(y.clone(), k.clone())), labs(y, plus(k.clone(), k)))
            },
        },
        Equation {
            id: "derived",
            name: "fun-zero",
            sides: |i| (llam("y", i.y.ty.clone(), |_| i.none()), i.zero(&i.a().to().clone().under(i.y.ty.clone()))),
        },
        Equation { id: "derived", name: "linear-zero", sides: |i| (linapp(i.f.clone(), i.none()), i.zero(&i.rho())) },
        Equation {
            id: "derived",
            name: "linear-plus",
            sides: |i| (linapp(i.f.clone(), plus(i.a(), i.b())), plus(linapp(i.f.clone(), i.a()), linapp(i.f.clone(), i.b()))),
        },
        Equation { id: "derived", name: "tensor-zero", sides: |i| (tensor(i.t.clone(), i.none()), i.zero(i.p.to())) },
        Equation {
            id: "derived",
            name: "tensor-plus",
            sides: |i| {
                let t = &i.t;
                (tensor(t.clone(), plus(i.a(), i.b())), plus(tensor(t.clone(), i.a()), tensor(t.clone(), i.b())))
            },
        },
        Equation { id: "derived", name: "case-zero", sides: |i| (i.case(i.zero(i.p.to())), i.zero(&i.rho())) },
        Equation {
            id: "derived",
            name: "case-plus",
            sides: |i| {
                let q = tensor(i.t.clone(), i.a());
                (i.case(plus(i.p.clone(), q.clone())), plus(i.case(i.p.clone()), i.case(q)))
            },
        },
        Equation { id: "derived", name: "lop-zero", sides: |_| preserves_zero(&doubled, LTy::Real(1)) },
        Equation { id: "derived", name: "lop-plus", sides: |_| preserves_plus(&doubled, LTy::Real(1)) },
        Equation { id: "derived", name: "lprim-zero", sides: |_| preserves_zero(&zipped, LTy::Real(2)) },
        Equation { id: "derived", name: "lprim-plus", sides: |_| preserves_plus(&zipped, LTy::Real(2)) },
    ]
}

/// `f(0) = 0`, out of another type.
fn preserves_zero(f: &dyn Fn(Lin) -> Lin, from: LTy) -> (Lin, Lin) {
    (f(zero_lin(LTy::Unit, from.clone())), zero_lin(LTy::Unit, f(v(from)).to().clone()))
}

/// `f(x + y) = f(x) + f(y)`, where `x` and `y` are the components of the linear variable.
fn preserves_plus(f: &dyn Fn(Lin) -> Lin, from: LTy) -> (Lin, Lin) {
    let two = v(from.clone().times(from));
    let (x, y) = (lfst(two.clone()), lsnd(two));
    (f(plus(x.clone(), y.clone())), plus(f(x), f(y)))
}

/// `lmul(2.0; l)`
fn doubled(l: Lin) -> Lin {
    lop(LOp::Mul(1), op(Op::constant([2.0]), unit()), l)
}

/// `lzip([2.0, 3.0]; l)`
fn zipped(l: Lin) -> Lin {
    lprim(LPrim::Zip { arity: 1, n: 2 }, op(Op::constant([2.0, 3.0]), unit()), l)
}
