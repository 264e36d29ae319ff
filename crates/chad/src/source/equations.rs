//! Figure 2: the equations, as rows. A row takes terms that fit and gives both sides; each row is a property test.

use super::{Term, Ty, Var, abs, app, fst, let_, pair, snd, unit, var};

/// What an equation is instantiated with: `x : T`, `Γ, x:T ⊢ body : S`, `Γ ⊢ s : T`, and any `p : T * S`, `f : T -> S`, `u : 1`.
#[derive(Clone, Debug)]
pub struct Instance {
    /// A variable.
    pub x: Var,
    /// A term that may mention it.
    pub body: Term,
    /// A term of its type.
    pub s: Term,
    /// A term of a product type.
    pub p: Term,
    /// A term of a function type.
    pub f: Term,
    /// A term of type `1`.
    pub u: Term,
}

/// A row: its id, its name, its two sides.
pub struct Equation {
    /// S-10 … S-15.
    pub id: &'static str,
    /// As the literature calls it.
    pub name: &'static str,
    /// `(left, right)`
    pub sides: fn(&Instance) -> (Term, Term),
}

/// βη.
pub fn equations() -> &'static [Equation] {
    &[
        Equation { id: "S-10", name: "unit-eta", sides: |i| (i.u.clone(), unit()) },
        Equation {
            id: "S-11",
            name: "fst-beta",
            sides: |i| (fst(pair(i.s.clone(), i.f.clone())), i.s.clone()),
        },
        Equation {
            id: "S-12",
            name: "snd-beta",
            sides: |i| (snd(pair(i.f.clone(), i.s.clone())), i.s.clone()),
        },
        Equation {
            id: "S-13",
            name: "pair-eta",
            sides: |i| (i.p.clone(), pair(fst(i.p.clone()), snd(i.p.clone()))),
        },
        Equation {
            id: "S-14",
            name: "fun-beta",
            sides: |i| {
                (app(abs(i.x.clone(), i.body.clone()), i.s.clone()), i.body.subst(&i.x, &i.s))
            },
        },
        Equation { id: "S-15", name: "fun-eta", sides: |i| (i.f.clone(), fun_eta(&i.f)) },
        Equation {
            id: "S-9",
            name: "let",
            sides: |i| {
                (let_("z", i.s.clone(), |z| i.body.subst(&i.x, &z)), i.body.subst(&i.x, &i.s))
            },
        },
    ]
}

/// `\#x. t x`
fn fun_eta(f: &Term) -> Term {
    let Ty::Fun(from, _) = f.ty() else { panic!("{} is not a function type", f.ty()) };
    let x = Var::fresh("x", (**from).clone());
    abs(x.clone(), app(f.clone(), var(&x)))
}
