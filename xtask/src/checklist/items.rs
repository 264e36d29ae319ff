//! What the paper defines or promises, item by item, in its order. Where the paper has a misprint, the errata win.
//!
//! Statements are in Markdown; formulas are code, in the notation of the paper as far as letters have it.

use super::cite::Id;

/// Items that belong together.
pub struct Section {
    /// A heading.
    pub title: &'static str,
    /// In the order of the paper.
    pub items: &'static [Item],
}

/// Something that the paper defines or promises.
pub struct Item {
    /// As comments cite it.
    pub id: &'static str,
    /// What it says.
    pub text: &'static str,
    /// What it takes to have it.
    pub kind: Kind,
}

/// What it takes to have an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Code, and a test.
    Code,
    /// A test; what it states may be written down where the tests are.
    Property,
    /// A comment on why no code is concerned, which is this in short.
    TextOnly(&'static str),
}

impl Item {
    /// The id, parsed; a test sees to it that each can be.
    pub fn id(&self) -> Option<Id> {
        Id::parse(self.id)
    }
}

const fn code(id: &'static str, text: &'static str) -> Item {
    Item { id, text, kind: Kind::Code }
}

const fn property(id: &'static str, text: &'static str) -> Item {
    Item { id, text, kind: Kind::Property }
}

const fn text_only(id: &'static str, text: &'static str, reason: &'static str) -> Item {
    Item { id, text, kind: Kind::TextOnly(reason) }
}

/// The whole list.
pub const SECTIONS: &[Section] = &[
    Section { title: "Source language (§3, Figures 1 and 2)", items: SOURCE },
    Section { title: "Combinators (§3)", items: COMBINATORS },
    Section { title: "Linear target language (§4, Figures 3 and 4)", items: LINEAR },
    Section { title: "Applied target language (§9, Figure 5, Appendix C)", items: APPLIED },
    Section { title: "The macros on types (§7, Appendix A)", items: MACROS },
    Section { title: "Higher-order primitives (Appendix F)", items: PRIMITIVES },
    Section { title: "Theorems", items: THEOREMS },
    Section { title: "Operational semantics (Appendix E)", items: OPERATIONAL },
    Section { title: "Errata", items: ERRATA },
];

const SOURCE: &[Item] = &[
    code("S-1", r"`(x:T) in G  =>  G |- x : T`"),
    code("S-2", r"`G |- t : Dom(op)  =>  G |- op(t) : real^m`, for `op` in `Op^m_{n1,..,nk}`"),
    code("S-3", r"`G |- <> : 1`"),
    code("S-4", r"`G |- t : T`, `G |- s : S  =>  G |- <t,s> : T*S`"),
    code("S-5", r"`G |- t : T*S  =>  G |- fst t : T`"),
    code("S-6", r"`G |- t : T*S  =>  G |- snd t : S`"),
    code("S-7", r"`G, x:T |- t : S  =>  G |- \x.t : T->S`"),
    code("S-8", r"`G |- t : T->S`, `G |- s : T  =>  G |- t s : S`"),
    code(
        "S-9",
        r"derived: `G |- t : T`, `G, x:T |- s : S  =>  G |- let x=t in s : S`, an abbreviation of `(\x.s) t`",
    ),
    code("S-10", r"`t = <> : 1`"),
    code("S-11", r"`fst <t,s> = t`"),
    code("S-12", r"`snd <t,s> = s`"),
    code("S-13", r"`t = <fst t, snd t> : T*S`"),
    code("S-14", r"`(\x.t) s = t[s/x]`"),
    code("S-15", r"`t = \x. t x : T->S`, `x` fresh"),
];

const COMBINATORS: &[Item] = &[
    code("C-1", r"`id_T : T -> T`"),
    code("C-2", r"`t;s`, in diagrammatic order"),
    code("C-3", r"`<>_T : T -> 1`"),
    code("C-4", r"`<t,s> : T -> S*R`"),
    code("C-5", r"`fst : T*S -> T`"),
    code("C-6", r"`snd : T*S -> S`"),
    code("C-7", r"`ev : (T->S)*T -> S`"),
    code("C-8", r"`cur(t) : T -> (S->R)` for `t : T*S -> R`"),
    code("C-9", r"`op : Dom(op) -> real^m`"),
    code("C-10", r"λ-terms to combinators and back is the identity up to βη"),
];

const LINEAR: &[Item] = &[
    code("L-1", r"`G; x:τ |- x : τ`"),
    code("L-2", r"`G |- t : Dom(lop)`, `G; x:τ |- s : LDom(lop)  =>  G; x:τ |- lop(t;s) : real^m`"),
    code("L-3", r"`G; x:τ |- <> : 1`"),
    code("L-4", r"`G; x:τ |- t : σ`, `G; x:τ |- s : ρ  =>  G; x:τ |- <t,s> : σ*ρ`"),
    code("L-5", r"`G; x:τ |- t : σ*ρ  =>  G; x:τ |- fst t : σ`"),
    code("L-6", r"`G; x:τ |- t : σ*ρ  =>  G; x:τ |- snd t : ρ`"),
    code("L-7", r"`G, y:T; x:τ |- t : σ  =>  G; x:τ |- \y.t : T->σ`"),
    code("L-8", r"`G; x:τ |- t : T->σ`, `G |- s : T  =>  G; x:τ |- t s : σ`"),
    code("L-9", r"`G |- t : T`, `G; x:τ |- s : σ  =>  G; x:τ |- !t (x) s : !T (x) σ`"),
    code(
        "L-10",
        r"`G; x:τ |- t : !T (x) σ`, `G, y:T; z:σ |- s : ρ  =>  G; x:τ |- case t of !y (x) z -> s : ρ`",
    ),
    code("L-11", r"`G; x:τ |- t : σ  =>  G |- \_x.t : τ -o σ`"),
    code("L-12", r"`G |- t : σ -o ρ`, `G; x:τ |- s : σ  =>  G; x:τ |- t{s} : ρ`"),
    code("L-13", r"`G; x:τ |- 0 : σ`"),
    code("L-14", r"`G; x:τ |- t : σ`, `G; x:τ |- s : σ  =>  G; x:τ |- t+s : σ`"),
    code("L-15", r"derived: `G |- t : T`, `G, y:T; x:τ |- s : σ  =>  G; x:τ |- let y=t in s : σ`"),
    code("L-20", r"the laws of Figure 2, of linear products and functions"),
    code("L-21", r"`case !t (x) s of !y (x) z -> r = r[t/y, s/z]`"),
    code("L-22", r"`r[t/z] = case t of !y (x) z' -> r[!y (x) z' / z]`, `y` and `z'` fresh"),
    code("L-23", r"`(\_x.t){s} = t[s/x]`"),
    code("L-24", r"`t = \_x. t{x} : τ -o σ`, `x` fresh"),
    code("L-25", r"`t + 0 = t`"),
    code("L-26", r"`0 + t = t`"),
    code("L-27", r"`(t+s) + r = t + (s+r)`"),
    code("L-28", r"`t + s = s + t`"),
    code("L-29", r"`t[0/x] = 0`, for `G; x:τ |- t : σ`"),
    code("L-30", r"`t[(s+r)/x] = t[s/x] + t[r/x]`, for `G; x:τ |- t : σ`"),
];

const APPLIED: &[Item] = &[
    code("A-1", r"`G |- t : Dom(lop)  =>  G |- lop(t) : LFun(LDom(lop), real^m)`"),
    code("A-2", r"`G |- 0_T : T`"),
    code("A-3", r"`G |- t : T`, `G |- s : T  =>  G |- t+s : T`"),
    code("A-4", r"`G |- lid : LFun(T,T)`"),
    code("A-5", r"`G |- t : LFun(T,S)`, `G |- s : LFun(S,R)  =>  G |- t;;s : LFun(T,R)`"),
    code("A-6", r"`G |- t : LFun(T,S)`, `G |- s : T  =>  G |- lapp(t,s) : S`"),
    code("A-7", r"`G |- t : T->LFun(S,R)  =>  G |- lswap t : LFun(S, T->R)`"),
    code("A-8", r"`G |- t : T  =>  G |- leval_t : LFun(T->S, S)`"),
    code("A-9", r"`G |- t : T  =>  G |- {(t,-)} : LFun(S, Tens(T,S))`"),
    code("A-10", r"`G |- t : T->LFun(S,R)  =>  G |- lcur^-1 t : LFun(Tens(T,S), R)`"),
    code("A-11", r"`G |- lfst : LFun(T*S, T)`"),
    code("A-12", r"`G |- lsnd : LFun(T*S, S)`"),
    code("A-13", r"`G |- t : LFun(T,S)`, `G |- s : LFun(T,R)  =>  G |- lpair(t,s) : LFun(T, S*R)`"),
    code(
        "A-20",
        r"the translation `†`: `G; y:σ |- t : ρ` becomes `G† |- t† : LFun(σ†,ρ†)`, where `(!T (x) σ)† = Tens(T†,σ†)`",
    ),
    code("A-30", r"`0_T`, at every type: `0_LFun = \_.0`, `0_Tens = []`"),
    code("A-31", r"`t + s`, pointwise; at `Tens` it appends"),
    code("A-32", r"`lid = \x.x`"),
    code("A-33", r"`t;;s = \x. s (t x)`"),
    code("A-34", r"`lapp(t,s) = t s`"),
    code("A-35", r"`lswap t = \x.\y. t y x`"),
    code("A-36", r"`leval_t = \f. f t`"),
    code("A-37", r"`{(t,-)} = \x. [(t,x)]`"),
    code("A-38", r"`lcur^-1 t = \z. fold (t (fst x) (snd x) + acc) over x in z from 0`"),
    code("A-39", r"`lfst = \x. fst x`"),
    code("A-40", r"`lsnd = \x. snd x`"),
    code("A-41", r"`lpair(t,s) = \x. <t x, s x>`"),
];

const MACROS: &[Item] = &[
    code("M-1", r"`D→(real^n) = (real^n, real^n)`"),
    code("M-2", r"`D→(1) = (1, 1)`"),
    code("M-3", r"`D→(T*S) = (D→(T)_1 * D→(S)_1, D→(T)_2 * D→(S)_2)`"),
    code("M-4", r"`D→(T->S) = (D→(T)_1 -> D→(S)_1 * (D→(T)_2 -o D→(S)_2), D→(T)_1 -> D→(S)_2)`"),
    code("M-5", r"`D←(real^n) = (real^n, real^n)`"),
    code("M-6", r"`D←(1) = (1, 1)`"),
    code("M-7", r"`D←(T*S) = (D←(T)_1 * D←(S)_1, D←(T)_2 * D←(S)_2)`"),
    code("M-8", r"`D←(T->S) = (D←(T)_1 -> D←(S)_1 * (D←(S)_2 -o D←(T)_2), !D←(T)_1 (x) D←(S)_2)`"),
];

const PRIMITIVES: &[Item] = &[
    code("P-1", r"`map : (real->real) * real^n -> real^n`"),
    code("P-2", r"`zipWith : (real*real->real) * (real^n*real^n) -> real^n`"),
    code("P-3", r"`fold : ((real*real->real) * real) * real^n -> real`"),
    code("P-4", r"`replicate : real -> real^n`"),
    code("P-5", r"`sum : real^n -> real`"),
    code("P-6", r"`build : (real->real) -> real^n`"),
    code("P-7", r"`index_i : real^n -> real`"),
];

const THEOREMS: &[Item] = &[
    property("T-1", r"the equations are sound: if `t = s`, then `⟦t⟧ = ⟦s⟧`"),
    property("T-2", r"the macros respect equality: if `t = s`, then `D(t) = D(s)`"),
    property(
        "T-3",
        r"at first-order types, `⟦D(t)_1⟧ = ⟦t⟧`, `⟦D→(t)_2⟧ = D⟦t⟧` and `⟦D←(t)_2⟧ = (D⟦t⟧)^T` (Appendix A)",
    ),
    property("T-4", r"the same for the applied target language (Appendix C)"),
    property(
        "T-5",
        r"every second component is linear: `f(0) = 0`, `f(a+b) = f(a)+f(b)`, `f(c·a) = c·f(a)`",
    ),
    property(
        "T-6",
        r"the fundamental lemmas: every term and its derivative are related, at function types too",
    ),
    property(
        "T-7",
        r"soundness and adequacy of `⇓`: the result of running a term is its denotation",
    ),
    property("T-8", r"`†` keeps the meaning, and Appendix A through `†` is Appendix C"),
    property(
        "T-9",
        r"nothing depends on the order of the entries of a `Tens`, on merging them, or on zero entries",
    ),
    property(
        "T-10",
        r"the applied target language is pure, and every term of it has a normal form",
    ),
    property("T-11", r"`D(t)_1 = t` at first-order types"),
    property("T-12", r"mirror image: `D←` is the transpose of `D→`"),
];

const OPERATIONAL: &[Item] = &[
    code("E-1", r"`op(t)`: the leaves of `t` are run to constants `c`; `⟦op⟧(c)`"),
    code("E-2", r"`t ⇓ <t1,t2>`, `t1 ⇓ N  =>  fst t ⇓ N`"),
    code("E-3", r"`t ⇓ <t1,t2>`, `t2 ⇓ N  =>  snd t ⇓ N`"),
    code("E-4", r"`t ⇓ \x.t'`, `t'[s/x] ⇓ N  =>  t s ⇓ N`; so for `let`, which abbreviates it"),
    code("E-5", r"`t ⇓ 0_{T->S}`, `0_S ⇓ N  =>  t s ⇓ N`"),
    code("E-6", r"`t ⇓ t1+t2`, `(t1 s)+(t2 s) ⇓ N  =>  t s ⇓ N`"),
    code("E-7", r"`0_{real^n} ⇓ (0,..,0)`"),
    code("E-8", r"`0_1 ⇓ <>`"),
    code("E-9", r"`0_{T*S} ⇓ <0_T,0_S>`"),
    code("E-10", r"`t ⇓ c`, `s ⇓ c'  =>  t+s ⇓ c+c'`, at `real^n`"),
    code("E-11", r"`t+s ⇓ <>`, at `1`"),
    code("E-12", r"`t ⇓ <t1,t2>`, `s ⇓ <s1,s2>  =>  t+s ⇓ <t1+s1,t2+s2>`"),
    code("E-13", r"`lapp(f,s)` for `f ⇓ 0_{LFun(T,S)}`: as `0_S`"),
    code("E-14", r"`lapp(f,s)` for `f ⇓ f1+f2`: as `lapp(f1,s) + lapp(f2,s)`"),
    code("E-15", r"`lapp(f,s)` for `f ⇓ lid`: as `s`"),
    code("E-16", r"`lapp(f,s)` for `f ⇓ f1;;f2`: as `lapp(f2,lapp(f1,s))`"),
    code(
        "E-17",
        r"`lapp(f,s)` for `f ⇓ lop(t)`: the leaves of `t` and `s` are run to constants `c` and `c'`; `⟦lop⟧(c)(c')`",
    ),
    code("E-18", r"`lapp(f,s)` for `f ⇓ lfst`: as `fst s`"),
    code("E-19", r"`lapp(f,s)` for `f ⇓ lsnd`: as `snd s`"),
    code("E-20", r"`lapp(f,s)` for `f ⇓ lpair(f1,f2)`: `<lapp(f1,s),lapp(f2,s)>`"),
    code("E-21", r"`lapp(f,s)` for `f ⇓ leval_t`: as `s t`"),
    code("E-22", r"`lapp(f,s)` for `f ⇓ lswap g`: `\y. lapp(g y,s)`"),
    code("E-23", r"`lapp(f,s)` for `f ⇓ {(t,-)}`: a normal form, `lapp({(t,-)},s)`"),
    code(
        "E-24",
        r"`lapp(f,s)` for `f ⇓ lcur^-1 g`, by the normal form of `s`: `0` as `0_R`; `s1+s2` as `lapp(f,s1) + lapp(f,s2)`; `lapp({(t,-)},u)` as `lapp(g t,u)`",
    ),
];

const ERRATA: &[Item] = &[
    code("E1", r"Appendix C, `⟦t;;s⟧`: `⟦s⟧(v)(⟦t⟧(v)(x))`; printed is `t` twice"),
    code("E2", r"Appendix C, `⟦lapp(t,s)⟧`: `⟦t⟧(v)(⟦s⟧(v))`; printed is `⟦t⟧(v, ⟦s⟧(v))`"),
    code("E3", r"Appendix C, `⟦lcur^-1 t⟧`: the sum has indices, `Σ_i ⟦t⟧(v)(x_i)(y_i)`"),
    code("E4", r"§5, `⟦t{s}⟧`: first `⟦s⟧`, then `⟦t⟧`; printed is the opposite order"),
    code(
        "E5",
        r"§5, `⟦0⟧`: the zero morphism `τ -> σ`; printed is the map out of the initial object",
    ),
    text_only(
        "E6",
        r"§5, the isomorphism `Ψ` of λ at linear types: from `L(C×C')(L,L')` to `L(C)(L, C'=>L')`; printed is `L(C×C)(L,L')`",
        "a misprint in the index of a category; with it, `Ψ` would have no type",
    ),
    code(
        "E7",
        r"§5, `⟦lop⟧`: ends in `real^m`, from a product of linear `real^n'`; printed is `real^k`",
    ),
    code(
        "E8",
        r"§4, the grammar: `case t of !y (x) x -> s` and the linear `<>`, pairs, projections, `\`, application are missing",
    ),
    code("E9", r"§5: `!S` is the free *commutative* monoid, and `!f` of a sum needs its index"),
    text_only(
        "E10",
        r"§5, the diffeology on `!X` and `X (x) Y`: plots are sums of one length only locally",
        "diffeologies make the semantics smooth; nothing computes with plots",
    ),
    code("E11", r"§7, Appendix A: the second `D→(real^n)_2` is `D←(real^n)_2`"),
    code("E12", r"§2, the example `(*)`: its argument is `x : real^2`"),
    property(
        "E13",
        r"§8, the exponential of the subscone: *all* related arguments have related results; printed is one",
    ),
    property(
        "E14",
        r"§8, sketch of the proof: curves through `x`, `γ(0) = x` and `Dγ_i(0)(1) = e_i`; printed is `γ(0) = 0`",
    ),
    code(
        "E15",
        r"Appendix A, both modes, and Appendix C, forward, `Λ(t)_1`: its argument is `x : D(T)_1`; the subscript is missing",
    ),
    code("E16", r"Appendix C, the quotient of `Tens`: also `(t,0) ~ 0`"),
    text_only(
        "E17",
        r"Appendix D: `D←` for `D→`, `LFun` for `->`, subscripts, curried arguments, the base case of `op` and of the unit",
        "misprints in the formulas of a proof; what it proves is tested as T-4 and T-6",
    ),
    code(
        "E18",
        r"Appendix F: the reverse semantics of `map` is that of `D←`, `f_1(π_n f_2(x))` has an argument",
    ),
    code("E19", r"Appendix E, `lpair`: `lapp(t,r)` and `lapp(s,r)`; printed is `lapp(t,s)`"),
    code("E20", r"Appendix E: the rule for `0_{real^n}` is missing"),
    code(
        "E21",
        r"Appendix E, `op` and `lop`: the components of the argument are run; pairs are lazy normal forms",
    ),
    code(
        "E22",
        r"Appendix E, `lfst` and `lsnd`: the component is run; those of a pair are not normal",
    ),
    code(
        "E23",
        r"Appendix E, application: by name, as announced; printed is a rule that runs the argument",
    ),
    code(
        "E24",
        r"Appendix E, `lcur^-1` of `0`: the zero of the result; and `0` and `+` at function types are matched after the head has run",
    ),
    text_only(
        "E25",
        r"Appendix E, the lemma: for closed `|- t : T`, `⟦t⟧ = ⟦⇓t⟧`; the sentence is garbled",
        "a misprint in a statement; as corrected it is T-7",
    ),
    code(
        "E26",
        r"Appendices A and C: `(t;s)` mentions `t_1` twice, which is correct and exponential; `t_1` wants a name",
    ),
    property("E27", r"nothing in the paper differentiates the target language"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn ids() -> Vec<Id> {
        let items = SECTIONS.iter().flat_map(|section| section.items);
        items.map(|item| item.id().unwrap_or_else(|| panic!("{} is no id", item.id))).collect()
    }

    /// A section keeps to one family, errata and rules apart, and counts upwards.
    #[test]
    fn ids_are_in_order() {
        for section in SECTIONS {
            for pair in section.items.windows(2) {
                assert!(pair[0].id() < pair[1].id(), "{} and {}", pair[0].id, pair[1].id);
                assert_eq!(pair[0].id().map(|id| id.family), pair[1].id().map(|id| id.family));
            }
        }
    }

    /// Nothing was left out by mistake: the last number of each family, and the gaps that the checklist has.
    #[test]
    fn all_are_there() {
        let count = |family: &str| ids().iter().filter(|id| id.family == family).count();
        let expect = [
            ("S-", 15),
            ("C-", 10),
            ("L-", 26),
            ("A-", 26),
            ("M-", 8),
            ("P-", 7),
            ("T-", 12),
            ("E-", 24),
            ("E", 27),
        ];
        for (family, number) in expect {
            assert_eq!(count(family), number, "{family}");
        }
    }

    /// Outside of code, these would be markup.
    #[test]
    fn formulas_are_code() {
        let reasons =
            |item: &Item| if let Kind::TextOnly(reason) = item.kind { reason } else { "" };
        for item in SECTIONS.iter().flat_map(|section| section.items) {
            for text in [item.text, reasons(item)] {
                let parts: Vec<&str> = text.split('`').collect();
                assert_eq!(parts.len() % 2, 1, "{}: {text}", item.id);
                let prose: String = parts.iter().step_by(2).copied().collect();
                assert!(!prose.contains(['<', '|', '_', '\\', '[', '^']), "{}: {text}", item.id);
            }
        }
    }
}
