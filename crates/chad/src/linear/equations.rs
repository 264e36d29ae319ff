//! Figure 4: the equations of the linear target language, as rows, the laws that the paper derives
//! from them last.
//!
//! Figure 2's laws hold in both judgements: for linear terms, they are L-20; for Cartesian terms,
//! `lambda::equations` and [`linear_eta`].

use super::*;
use crate::op::{LOp, Op};
use crate::primitives::LPrim;

/// The instance of a row. Linear terms are over `v : σ` unless another variable is stated.
#[derive(Clone, Debug)]
pub struct Instance {
    /// A Cartesian variable `y : T`.
    pub y: Var,
    /// `Γ ⊢ t : T`
    pub t: Term,
    /// Three terms of one linear type τ.
    pub l: [Lin; 3],
    /// Two terms `Γ, y : T; v : τ ⊢ k : ρ`
    pub k: [Lin; 2],
    /// Two terms `Γ; v : σ ⊢ p : !T (x) τ`
    pub p: [Lin; 2],
    /// `Γ; v : !T (x) τ ⊢ r : ρ`
    pub r: Lin,
    /// `Γ ⊢ f : τ -o ρ`
    pub f: Term,
    /// `Γ; v : σ ⊢ u : 1`
    pub u: Lin,
    /// `Γ; v : σ ⊢ q : τ * ρ`
    pub q: Lin,
    /// `Γ; v : σ ⊢ g : T -> ρ`
    pub g: Lin,
    /// A linear operation and `Γ ⊢ c : Dom(lop)`.
    pub lop: (LOp, Term),
    /// Two terms `Γ; v : σ ⊢ d : LDom(lop)`
    pub d: [Lin; 2],
}

/// A row: its id, its name, its two sides.
pub struct Equation {
    /// L-20 … L-30.
    pub id: &'static str,
    /// The law in words.
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
        self.k[0].subst(&self.y, &self.t)
    }

    /// The abstracted `k` after a term of type τ: `\y. k[l/v]`
    fn abstracted(&self, k: &Lin) -> Lin {
        labs(self.y.clone(), k.after(&self.a()))
    }

    fn case(&self, l: Lin) -> Lin {
        case(l, self.y.clone(), self.k[0].clone())
    }

    fn lop(&self, d: Lin) -> Lin {
        lop(self.lop.0, self.lop.1.clone(), d)
    }

    /// Zero of the type of `l`.
    fn none(&self) -> Lin {
        self.zero(self.l[0].to())
    }

    fn rho(&self) -> LTy {
        self.k[0].to().clone()
    }
}

/// βη+, for linear terms.
pub fn equations() -> &'static [Equation] {
    &[
        Equation {
            id: "L-20",
            name: "unit-eta",
            sides: |i| (i.u.clone(), lunit(i.u.from().clone())),
        },
        Equation {
            id: "L-20",
            name: "fst-beta",
            sides: |i| (lfst(lpair(i.a(), i.q.clone())), i.a()),
        },
        Equation {
            id: "L-20",
            name: "snd-beta",
            sides: |i| (lsnd(lpair(i.q.clone(), i.a())), i.a()),
        },
        Equation {
            id: "L-20",
            name: "pair-eta",
            sides: |i| (i.q.clone(), lpair(lfst(i.q.clone()), lsnd(i.q.clone()))),
        },
        Equation {
            id: "L-20",
            name: "fun-beta",
            sides: |i| (lapp(i.abstracted(&i.k[0]), i.t.clone()), i.k_at_t().after(&i.a())),
        },
        Equation {
            id: "L-20",
            name: "fun-eta",
            sides: |i| (i.g.clone(), llam("x", i.y.ty.clone(), |x| lapp(i.g.clone(), x))),
        },
        Equation {
            id: "L-21",
            name: "case-beta",
            sides: |i| (i.case(tensor(i.t.clone(), i.a())), i.k_at_t().after(&i.a())),
        },
        Equation {
            id: "L-22",
            name: "case-eta",
            sides: |i| {
                let y = i.y.refresh();
                let one = tensor(var(&y), v(i.a().to().clone()));
                (i.r.after(&i.p[0]), case(i.p[0].clone(), y, i.r.after(&one)))
            },
        },
        Equation {
            id: "L-23",
            name: "linear-beta",
            sides: |i| (linapp(linlam(i.k_at_t()), i.a()), i.k_at_t().after(&i.a())),
        },
        Equation {
            id: "L-24",
            name: "linear-eta",
            sides: |i| (linapp(i.f.clone(), i.a()), linapp(linear_eta(&i.f), i.a())),
        },
        Equation { id: "L-25", name: "plus-zero", sides: |i| (plus(i.a(), i.none()), i.a()) },
        Equation { id: "L-26", name: "zero-plus", sides: |i| (plus(i.none(), i.a()), i.a()) },
        Equation {
            id: "L-27",
            name: "plus-assoc",
            sides: |i| (plus(plus(i.a(), i.b()), i.c()), plus(i.a(), plus(i.b(), i.c()))),
        },
        Equation {
            id: "L-28",
            name: "plus-comm",
            sides: |i| (plus(i.a(), i.b()), plus(i.b(), i.a())),
        },
        Equation {
            id: "L-29",
            name: "map-zero",
            sides: |i| (i.k_at_t().after(&i.none()), i.zero(&i.rho())),
        },
        Equation {
            id: "L-30",
            name: "map-plus",
            sides: |i| {
                (
                    i.k_at_t().after(&plus(i.a(), i.b())),
                    plus(i.k_at_t().after(&i.a()), i.k_at_t().after(&i.b())),
                )
            },
        },
        Equation {
            id: "derived",
            name: "fst-zero",
            sides: |i| (lfst(i.zero(&i.a().to().clone().times(i.rho()))), i.none()),
        },
        Equation {
            id: "derived",
            name: "snd-zero",
            sides: |i| (lsnd(i.zero(&i.rho().times(i.a().to().clone()))), i.none()),
        },
        Equation {
            id: "derived",
            name: "pair-zero",
            sides: |i| {
                (i.zero(&i.a().to().clone().times(i.rho())), lpair(i.none(), i.zero(&i.rho())))
            },
        },
        Equation {
            id: "derived",
            name: "pair-plus",
            sides: |i| {
                (
                    plus(lpair(i.a(), i.b()), lpair(i.b(), i.c())),
                    lpair(plus(i.a(), i.b()), plus(i.b(), i.c())),
                )
            },
        },
        Equation {
            id: "derived",
            name: "fun-plus",
            sides: |i| {
                let [k, j] = [&i.k[0], &i.k[1]].map(|k| k.after(&i.a()));
                let both = labs(i.y.clone(), plus(k, j));
                (plus(i.abstracted(&i.k[0]), i.abstracted(&i.k[1])), both)
            },
        },
        Equation {
            id: "derived",
            name: "fun-zero",
            sides: |i| {
                (
                    llam("y", i.y.ty.clone(), |_| i.none()),
                    i.zero(&i.a().to().clone().under(i.y.ty.clone())),
                )
            },
        },
        Equation {
            id: "derived",
            name: "linear-zero",
            sides: |i| (linapp(i.f.clone(), i.none()), i.zero(&i.rho())),
        },
        Equation {
            id: "derived",
            name: "linear-plus",
            sides: |i| {
                (
                    linapp(i.f.clone(), plus(i.a(), i.b())),
                    plus(linapp(i.f.clone(), i.a()), linapp(i.f.clone(), i.b())),
                )
            },
        },
        Equation {
            id: "derived",
            name: "tensor-zero",
            sides: |i| (tensor(i.t.clone(), i.none()), i.zero(i.p[0].to())),
        },
        Equation {
            id: "derived",
            name: "tensor-plus",
            sides: |i| {
                let t = &i.t;
                (
                    tensor(t.clone(), plus(i.a(), i.b())),
                    plus(tensor(t.clone(), i.a()), tensor(t.clone(), i.b())),
                )
            },
        },
        Equation {
            id: "derived",
            name: "case-zero",
            sides: |i| (i.case(i.zero(i.p[0].to())), i.zero(&i.rho())),
        },
        Equation {
            id: "derived",
            name: "case-plus",
            sides: |i| {
                let [p, q] = &i.p;
                (i.case(plus(p.clone(), q.clone())), plus(i.case(p.clone()), i.case(q.clone())))
            },
        },
        Equation {
            id: "derived",
            name: "lop-zero",
            sides: |i| (i.lop(i.zero(i.d[0].to())), i.zero(&LTy::Real(i.lop.0.cod()))),
        },
        Equation {
            id: "derived",
            name: "lop-plus",
            sides: |i| {
                let [d, e] = &i.d;
                (i.lop(plus(d.clone(), e.clone())), plus(i.lop(d.clone()), i.lop(e.clone())))
            },
        },
        Equation {
            id: "derived",
            name: "lprim-zero",
            sides: |_| preserves_zero(&zipped, LTy::Real(2)),
        },
        Equation {
            id: "derived",
            name: "lprim-plus",
            sides: |_| preserves_plus(&zipped, LTy::Real(2)),
        },
    ]
}

/// L-24 for Cartesian terms: at `σ -o τ`, `m` is equal to `\_v. m{v}`.
pub fn linear_eta(m: &Term) -> Term {
    let Ty::Own(Lolli(from, _)) = m.ty() else { panic!("{m} is not a linear function") };
    linlam(linapp(m.clone(), v((**from).clone())))
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

/// `lzip([2.0, 3.0]; l)`
fn zipped(l: Lin) -> Lin {
    lprim(LPrim::Zip { arity: 1, n: 2 }, op(Op::constant([2.0, 3.0]), unit()), l)
}
