//! `==` of data: tuples and records by their parts, arrays by size and elements, variants by
//! constructor and arguments, with a function for each variant type, because it may be recursive.

use std::collections::HashMap;

use lambada_core::{self as core, Arm, Term, TermKind, Ty, TypeId, Var};
use lambada_prim::{Prim, ReduceOp, Scalar, Surface};
use lambada_source::Span;

use super::Specialize;
use super::spine::Spine;
use crate::builtin;

/// The functions that compare values of variant types, and those still to be written.
#[derive(Default)]
struct Functions {
    names: HashMap<TypeId, Var>,
    open: Vec<TypeId>,
}

impl Specialize<'_> {
    /// Whether two values are equal.
    pub(super) fn equality(&mut self, a: Term, b: Term, span: Span) -> Term {
        let mut spine = Spine::default();
        let a = self.share_as_var(&mut spine, "left", a);
        let b = self.share_as_var(&mut spine, "right", b);
        let mut functions = Functions::default();
        let mut equal = self.equal(&a, &b, &mut functions, span);
        let mut written = Vec::new();
        while let Some(id) = functions.open.pop() {
            let body = self.equal_constructors(id, &mut functions, span);
            written.push((functions.names[&id].clone(), body));
        }
        if !written.is_empty() {
            equal = core::let_rec(written, equal);
        }
        self.close(spine, equal)
    }

    fn equal(&mut self, a: &Term, b: &Term, functions: &mut Functions, span: Span) -> Term {
        match a.ty().clone() {
            Ty::Scalar(scalar) => {
                let prim = builtin::primitive(Surface::Infix("=="), &[scalar, scalar])
                    .expect("all scalars are compared");
                self.at(core::prim(prim, vec![a.clone(), b.clone()]), span)
            }
            Ty::Tuple(items) => self.equal_parts(a, b, items.len(), functions, span),
            Ty::Record(fields) => self.equal_parts(a, b, fields.len(), functions, span),
            Ty::Array(elem) => self.equal_arrays([a, b], &elem, functions, span),
            Ty::Variant(id) => {
                let function = self.equality_of(id, a.ty(), functions);
                let applied = core::app(core::app(core::var(&function), a.clone()), b.clone());
                self.at(applied, span)
            }
            Ty::Fun(..) => unreachable!("inference has found no function in compared values"),
        }
    }

    fn equal_parts(
        &mut self,
        a: &Term,
        b: &Term,
        count: usize,
        functions: &mut Functions,
        span: Span,
    ) -> Term {
        let parts = (0..count).map(|k| {
            let [a, b] = [a, b].map(|whole| core::proj(whole.clone(), k));
            self.equal(&a, &b, functions, span)
        });
        let parts: Vec<Term> = parts.collect();
        all(parts)
    }

    /// `length a == length b && 0 < minimum (for i < length a => if a[i] == b[i] then 1 else 0)`
    fn equal_arrays(
        &mut self,
        [a, b]: [&Term; 2],
        elem: &Ty,
        functions: &mut Functions,
        span: Span,
    ) -> Term {
        let [m, n] = [a, b].map(|array| core::dim(array.clone(), 0));
        let same_size = core::prim(Prim::EqInt, vec![m.clone(), n]);
        if *elem == Ty::unit() {
            return same_size;
        }
        let i = self.fresh("i", Ty::INT);
        let place = self.span(span);
        let [x, y] = [a, b].map(|array| core::index(array.clone(), vec![core::var(&i)], place));
        let mut spine = Spine::default();
        let x = self.share_as_var(&mut spine, "x", x);
        let y = self.share_as_var(&mut spine, "y", y);
        let equal = self.equal(&x, &y, functions, span);
        let equal = self.close(spine, equal);
        let mark = core::if_(equal, core::int(1), core::int(0));
        let marks = core::for_(i, m, mark);
        let least = core::reduce(ReduceOp::Min, marks);
        let same = core::prim(Prim::LtInt, vec![core::int(0), least]);
        self.at(all(vec![same_size, same]), span)
    }

    fn equality_of(&mut self, id: TypeId, ty: &Ty, functions: &mut Functions) -> Var {
        if let Some(known) = functions.names.get(&id) {
            return known.clone();
        }
        let ty = Ty::fun(ty.clone(), Ty::fun(ty.clone(), Ty::BOOL));
        let function = self.fresh("equal", ty);
        functions.names.insert(id, function.clone());
        functions.open.push(id);
        function
    }

    /// `\a -> \b -> match a | A -> tag b == 0 | B x -> match b | B y -> x == y | … -> false`,
    /// where a match of `b` gives its tag as a number.
    fn equal_constructors(&mut self, id: TypeId, functions: &mut Functions, span: Span) -> Term {
        let ty = Ty::Variant(id);
        let [a, b] = ["a", "b"].map(|hint| self.fresh(hint, ty.clone()));
        let constructors = self.program.type_decl(id).constructors.clone();
        let tags = (0..constructors.len()).map(|tag| Arm {
            vars: self.fields("_", &constructors[tag].1),
            body: core::int(tag as i64),
        });
        let tags: Vec<Arm> = tags.collect();
        let tag = self.fresh("tag", Ty::INT);
        let arms = (0..constructors.len()).map(|k| {
            let left = self.fields("x", &constructors[k].1);
            let body = if left.is_empty() {
                core::prim(Prim::EqInt, vec![core::var(&tag), core::int(k as i64)])
            } else {
                let inner = (0..constructors.len()).map(|other| {
                    let right = self.fields("y", &constructors[other].1);
                    let body = if other == k {
                        self.all_equal(&left, &right, functions, span)
                    } else {
                        core::lit(Scalar::Bool(false))
                    };
                    Arm { vars: right, body }
                });
                let inner: Vec<Arm> = inner.collect();
                Term::new(TermKind::Match(core::var(&b), inner), Ty::BOOL, self.span(span))
            };
            Arm { vars: left, body }
        });
        let arms: Vec<Arm> = arms.collect();
        let place = self.span(span);
        let tag_of_b = Term::new(TermKind::Match(core::var(&b), tags), Ty::INT, place);
        let compared = Term::new(TermKind::Match(core::var(&a), arms), Ty::BOOL, place);
        core::lam(a, core::lam(b, core::let_(tag, tag_of_b, compared)))
    }

    fn all_equal(
        &mut self,
        left: &[Var],
        right: &[Var],
        functions: &mut Functions,
        span: Span,
    ) -> Term {
        let pairs = left.iter().zip(right);
        let parts: Vec<Term> =
            pairs.map(|(x, y)| self.equal(&core::var(x), &core::var(y), functions, span)).collect();
        all(parts)
    }

    fn fields(&mut self, hint: &str, types: &[Ty]) -> Vec<Var> {
        types.iter().map(|ty| self.fresh(hint, ty.clone())).collect()
    }
}

/// Whether all conditions hold; the first that does not ends the comparison.
fn all(conditions: Vec<Term>) -> Term {
    let last = conditions.into_iter().rev();
    let joined =
        last.reduce(|rest, condition| core::if_(condition, rest, core::lit(Scalar::Bool(false))));
    joined.unwrap_or_else(|| core::lit(Scalar::Bool(true)))
}
