//! `==` of data: tuples and records by their parts, arrays by size and elements, variants by
//! constructor and arguments, with a function for each variant type, because it may be recursive.

use std::collections::HashMap;

use lambada_core::{self as core, Arm, Term, TermKind, Ty, TypeId, Var};
use lambada_prim::{Prim, ReduceOp, Scalar, Surface};
use lambada_source::Span;

use super::Specialize;
use super::spine::Spine;
use crate::builtin;

/// A comparison that is being written.
struct Equality<'s, 'e> {
    to: &'s mut Specialize<'e>,
    span: Span,
    /// The functions that compare values of variant types.
    functions: HashMap<TypeId, Var>,
    /// The variant types whose functions are still to be written.
    open: Vec<TypeId>,
}

/// Whether two values are equal.
pub(super) fn equality(to: &mut Specialize<'_>, a: Term, b: Term, span: Span) -> Term {
    let (functions, open) = (HashMap::new(), Vec::new());
    Equality { to, span, functions, open }.whole(a, b)
}

impl Equality<'_, '_> {
    fn whole(&mut self, a: Term, b: Term) -> Term {
        let mut spine = Spine::default();
        let a = self.to.share_as_var(&mut spine, "left", a);
        let b = self.to.share_as_var(&mut spine, "right", b);
        let mut equal = self.equal(&a, &b);
        let mut written = Vec::new();
        while let Some(id) = self.open.pop() {
            let body = self.constructors(id);
            written.push((self.functions[&id].clone(), body));
        }
        if !written.is_empty() {
            equal = core::let_rec(written, equal);
        }
        self.to.close(spine, equal)
    }

    fn equal(&mut self, a: &Term, b: &Term) -> Term {
        match a.ty().clone() {
            Ty::Scalar(scalar) => {
                let prim = builtin::primitive(Surface::Infix("=="), &[scalar, scalar])
                    .expect("all scalars are compared");
                self.to.at(core::prim(prim, vec![a.clone(), b.clone()]), self.span)
            }
            Ty::Tuple(items) => self.equal_parts(a, b, items.len()),
            Ty::Record(fields) => self.equal_parts(a, b, fields.len()),
            Ty::Array(elem) => self.equal_arrays([a, b], &elem),
            Ty::Variant(id) => {
                let function = self.equality_of(id, a.ty());
                let applied = core::app(core::app(core::var(&function), a.clone()), b.clone());
                self.to.at(applied, self.span)
            }
            Ty::Fun(..) => unreachable!("inference has found no function in compared values"),
        }
    }

    fn equal_parts(&mut self, a: &Term, b: &Term, count: usize) -> Term {
        let parts = (0..count).map(|k| {
            let [a, b] = [a, b].map(|whole| core::proj(whole.clone(), k));
            self.equal(&a, &b)
        });
        let parts: Vec<Term> = parts.collect();
        all(parts)
    }

    /// `length a == length b && 0 < minimum (for i < length a => if a[i] == b[i] then 1 else 0)`
    fn equal_arrays(&mut self, [a, b]: [&Term; 2], elem: &Ty) -> Term {
        let [m, n] = [a, b].map(|array| core::dim(array.clone(), 0));
        let same_size = core::prim(Prim::EqInt, vec![m.clone(), n]);
        if *elem == Ty::unit() {
            return same_size;
        }
        let i = self.to.fresh("i", Ty::INT);
        let place = self.to.span(self.span);
        let [x, y] = [a, b].map(|array| core::index(array.clone(), vec![core::var(&i)], place));
        let mut spine = Spine::default();
        let x = self.to.share_as_var(&mut spine, "x", x);
        let y = self.to.share_as_var(&mut spine, "y", y);
        let equal = self.equal(&x, &y);
        let equal = self.to.close(spine, equal);
        let mark = core::if_(equal, core::int(1), core::int(0));
        let marks = core::for_(i, m, mark);
        let least = core::reduce(ReduceOp::Min, marks);
        let same = core::prim(Prim::LtInt, vec![core::int(0), least]);
        self.to.at(all(vec![same_size, same]), self.span)
    }

    fn equality_of(&mut self, id: TypeId, ty: &Ty) -> Var {
        if let Some(known) = self.functions.get(&id) {
            return known.clone();
        }
        let ty = Ty::fun(ty.clone(), Ty::fun(ty.clone(), Ty::BOOL));
        let function = self.to.fresh("equal", ty);
        self.functions.insert(id, function.clone());
        self.open.push(id);
        function
    }

    /// `\a -> \b -> match a | A -> tag b == 0 | B x -> match b | B y -> x == y | … -> false`,
    /// where a match of `b` gives its tag as a number.
    fn constructors(&mut self, id: TypeId) -> Term {
        let ty = Ty::Variant(id);
        let [a, b] = ["a", "b"].map(|hint| self.to.fresh(hint, ty.clone()));
        let constructors = self.to.program.type_decl(id).constructors.clone();
        let tags = (0..constructors.len()).map(|tag| Arm {
            vars: self.fields("_", &constructors[tag].1),
            body: core::int(tag as i64),
        });
        let tags: Vec<Arm> = tags.collect();
        let tag = self.to.fresh("tag", Ty::INT);
        let arms = (0..constructors.len()).map(|k| {
            let left = self.fields("x", &constructors[k].1);
            let body = if left.is_empty() {
                core::prim(Prim::EqInt, vec![core::var(&tag), core::int(k as i64)])
            } else {
                let inner = (0..constructors.len()).map(|other| {
                    let right = self.fields("y", &constructors[other].1);
                    let body = if other == k {
                        self.all_equal(&left, &right)
                    } else {
                        core::lit(Scalar::Bool(false))
                    };
                    Arm { vars: right, body }
                });
                let inner: Vec<Arm> = inner.collect();
                Term::new(TermKind::Match(core::var(&b), inner), Ty::BOOL, self.to.span(self.span))
            };
            Arm { vars: left, body }
        });
        let arms: Vec<Arm> = arms.collect();
        let place = self.to.span(self.span);
        let tag_of_b = Term::new(TermKind::Match(core::var(&b), tags), Ty::INT, place);
        let compared = Term::new(TermKind::Match(core::var(&a), arms), Ty::BOOL, place);
        core::lam(a, core::lam(b, core::let_(tag, tag_of_b, compared)))
    }

    fn all_equal(&mut self, left: &[Var], right: &[Var]) -> Term {
        let pairs = left.iter().zip(right);
        let parts: Vec<Term> =
            pairs.map(|(x, y)| self.equal(&core::var(x), &core::var(y))).collect();
        all(parts)
    }

    fn fields(&mut self, hint: &str, types: &[Ty]) -> Vec<Var> {
        types.iter().map(|ty| self.to.fresh(hint, ty.clone())).collect()
    }
}

/// Whether all conditions hold; the first that does not ends the comparison.
fn all(conditions: Vec<Term>) -> Term {
    let last = conditions.into_iter().rev();
    let joined =
        last.reduce(|rest, condition| core::if_(condition, rest, core::lit(Scalar::Bool(false))));
    joined.unwrap_or_else(|| core::lit(Scalar::Bool(true)))
}
