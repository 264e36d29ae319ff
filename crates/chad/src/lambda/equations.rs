//! Figure 2: the equations, as rows. A row takes terms that fit and gives both sides; each row is a
//! property test, in the source language and for the Cartesian terms of the linear target language.

use super::{Language, Term, Var, abs, app, fst, lam, let_, pair, snd, unit};

/// The instance of an equation: `x : T`, `Γ, x:T ⊢ body : S`, `Γ ⊢ s : T`, and any `p : T * S`,
/// `f : T -> S`, `u : 1`.
#[derive(Clone, Debug)]
pub struct Instance<L: Language> {
    /// A variable.
    pub x: Var<L>,
    /// A term that may mention it.
    pub body: Term<L>,
    /// A term of its type.
    pub s: Term<L>,
    /// A term of a product type.
    pub p: Term<L>,
    /// A term of a function type.
    pub f: Term<L>,
    /// A term of type `1`.
    pub u: Term<L>,
}

/// The left and the right side.
pub type Sides<L> = (Term<L>, Term<L>);

/// A row: its id, its name, its two sides.
pub struct Equation<L: Language> {
    /// S-9 … S-15.
    pub id: &'static str,
    /// As the literature calls it.
    pub name: &'static str,
    /// For terms that fit.
    pub sides: fn(&Instance<L>) -> Sides<L>,
}

/// βη.
pub fn equations<L: Language>() -> [Equation<L>; 7] {
    [
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
        Equation {
            id: "S-15",
            name: "fun-eta",
            sides: |i| (i.f.clone(), lam("x", i.x.ty.clone(), |x| app(i.f.clone(), x))),
        },
        Equation {
            id: "S-9",
            name: "let",
            sides: |i| {
                (let_("z", i.s.clone(), |z| i.body.subst(&i.x, &z)), i.body.subst(&i.x, &i.s))
            },
        },
    ]
}
