//! Constructors.

use std::rc::Rc;

use lambada_source::Span;
use lambada_surface::ast::Expr;

use crate::messages::{self, Why};
use crate::solve::ty::{Node, Ty, VariantId};
use crate::typed::{Claim, Exp, ExpKind, Function, Pat, PatKind, Said, Step};

use super::Infer;
use super::apply::variable_of;

impl Infer<'_> {
    /// A constructor with its arguments; with fewer, a function of the others.
    pub(super) fn construct(
        &mut self,
        name: &Rc<str>,
        args: &[&Expr],
        head: Span,
        span: Span,
    ) -> Exp {
        let Some((variant, tag)) = self.constructor_named(name) else {
            self.report_unknown_constructor(name, head, args.is_empty());
            args.iter().for_each(|arg| {
                self.infer(arg);
            });
            return self.wrong(span);
        };
        let (whole, fields) = self.instantiate_constructor(variant, tag);
        if args.len() > fields.len() {
            self.problems.push(messages::constructor_arity(name, fields.len(), args.len(), span));
            return self.wrong(span);
        }
        let of: Rc<str> = format!("`{name}`").into();
        let pairs = args.iter().zip(&fields).enumerate();
        let given: Vec<Exp> = pairs
            .map(|(k, (arg, ty))| {
                self.field_of_constructor(arg, *ty, &Why::Argument(of.clone(), k + 1))
            })
            .collect();
        self.saturate(tag, given, &fields, whole, span)
    }

    /// An argument of a constructor. What its type says of sizes is checked when the value is made, if it is not evident.
    fn field_of_constructor(&mut self, arg: &Expr, ty: Ty, why: &Why) -> Exp {
        let undecided = self.solver.undecided.len();
        let value = self.check(arg, ty, why);
        if self.solver.undecided.len() == undecided {
            return value;
        }
        let mut claims = Vec::new();
        self.constant_claims(ty, &mut Vec::new(), value.span, &mut claims);
        let (ty, span) = (value.ty, value.span);
        if claims.is_empty() {
            value
        } else {
            Exp { kind: ExpKind::Claimed(Box::new(value), claims), ty, span }
        }
    }

    /// The constant sizes of a type, as claims.
    fn constant_claims(
        &mut self,
        ty: Ty,
        path: &mut Vec<Step>,
        span: Span,
        claims: &mut Vec<Claim>,
    ) {
        let parts: Vec<(Step, Ty)> = match self.solver.get(ty).clone() {
            Node::Array(size, elem) => {
                if let Some(constant) = self.solver.sizes.resolve(&size).as_constant() {
                    let value =
                        Exp { kind: ExpKind::Number(constant), ty: self.solver.int(), span };
                    let what = Said::Equals(Box::new(value), constant.to_string().into());
                    claims.push(Claim {
                        param: 0,
                        path: path.clone(),
                        what,
                        owner: "this".into(),
                        span,
                    });
                }
                vec![(Step::Element, elem)]
            }
            Node::Tuple(items) => {
                items.iter().enumerate().map(|(k, ty)| (Step::Part(k), *ty)).collect()
            }
            Node::Record(fields) => {
                fields.iter().enumerate().map(|(k, (_, ty))| (Step::Part(k), *ty)).collect()
            }
            Node::Unknown(_)
            | Node::Link(_)
            | Node::Scalar(_)
            | Node::Fun(..)
            | Node::Variant(..)
            | Node::Error => Vec::new(),
        };
        for (step, ty) in parts {
            path.push(step);
            self.constant_claims(ty, path, span, claims);
            path.pop();
        }
    }

    fn saturate(
        &mut self,
        tag: usize,
        mut given: Vec<Exp>,
        fields: &[Ty],
        whole: Ty,
        span: Span,
    ) -> Exp {
        let missing = &fields[given.len()..];
        if missing.is_empty() {
            return Exp { kind: ExpKind::Con(tag, given), ty: whole, span };
        }
        let params: Vec<Pat> = missing
            .iter()
            .map(|ty| Pat { kind: PatKind::Var(self.local(&"field".into(), *ty)), ty: *ty, span })
            .collect();
        given.extend(params.iter().map(variable_of));
        let body = Exp { kind: ExpKind::Con(tag, given), ty: whole, span };
        let ty = self.solver.funs(missing, whole);
        let names = (0..params.len()).map(super::patterns::by_place).collect();
        Exp {
            kind: ExpKind::Lambda(Rc::new(Function {
                names,
                params,
                claims: Vec::new(),
                body,
                result_claims: Vec::new(),
                rules: None,
            })),
            ty,
            span,
        }
    }

    /// The constructor of this name, which may say its module: `shapes.Circle`.
    pub(super) fn constructor_named(&self, name: &str) -> Option<(VariantId, usize)> {
        if let Some((module, name)) = name.split_once('.') {
            return self.scopes[self.module_named(module)?].constructors.get(name).copied();
        }
        let mut imports: Vec<usize> = self.scopes[self.module].imports.values().copied().collect();
        imports.sort_unstable();
        let modules = std::iter::once(self.module).chain(imports).chain(std::iter::once(0));
        modules.into_iter().find_map(|k| self.scopes[k].constructors.get(name)).copied()
    }

    /// The name of the constructor that `module.Name` is.
    pub(super) fn qualified_constructor(
        &self,
        module: usize,
        module_name: &str,
        name: &str,
    ) -> Option<Rc<str>> {
        let found = self.scopes[module].constructors.contains_key(name);
        found.then(|| format!("{module_name}.{name}").into())
    }
}
