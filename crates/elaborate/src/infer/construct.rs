//! Constructors.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_source::Span;
use lambada_surface::ast::{Expr, TypeBody};

use crate::messages::{self, Why};
use crate::solve::size::{Atom, Poly};
use crate::solve::ty::{Node, Ty, VariantId};
use crate::typed::{
    Claim, Clause, Exp, ExpKind, Function, LocalId, Pat, PatKind, SizeFact, Step, Stmt,
};

use super::Infer;
use super::apply::variable_of;
use super::missing::steps;
use super::types::ParamPath;

/// A constructor of a type with sizes.
struct Signature {
    /// Type of the constructed value.
    whole: Ty,
    fields: Vec<Ty>,
    /// The sizes of the type, as variables.
    sizes: Vec<LocalId>,
    claims: Vec<Claim>,
    /// Sizes that no field determines, with their names.
    missing: Vec<(Rc<str>, LocalId)>,
}

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
            self.report_unknown_constructor(name, head, true);
            args.iter().for_each(|arg| {
                self.infer(arg);
            });
            return self.wrong(span);
        };
        if !self.solver.variant(variant).sizes.is_empty() {
            return self.construct_sized((variant, tag), name, args, span);
        }
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

    /// A constructor of a type with sizes: a function of its fields, with claims on their sizes. A
    /// size that no field determines is looked up in scope.
    fn construct_sized(
        &mut self,
        (variant, tag): (VariantId, usize),
        name: &Rc<str>,
        args: &[&Expr],
        span: Span,
    ) -> Exp {
        let signature = self.signature_of_constructor((variant, tag), name);
        let Signature { whole, fields, sizes, mut claims, missing } = signature;
        if args.len() > fields.len() {
            self.problems.push(messages::constructor_arity(name, fields.len(), args.len(), span));
            return self.wrong(span);
        }
        let of: Rc<str> = format!("`{name}`").into();
        let undecided = self.solver.undecided.len();
        let pairs = args.iter().zip(&fields).enumerate();
        let given: Vec<Exp> = pairs
            .map(|(k, (arg, ty))| self.check(arg, *ty, &Why::Argument(of.clone(), k + 1)))
            .collect();
        for claim in &mut claims {
            claim.span = args.get(claim.param).map_or(span, |arg| arg.span);
        }
        if given.len() == fields.len() && self.solver.undecided.len() == undecided {
            // Inference has proved the equations, so only the claims that bind a size remain.
            claims.retain(|claim| matches!(claim.what, SizeFact::Bind(_)));
        }
        let params: Vec<Pat> = fields
            .iter()
            .map(|ty| Pat { kind: PatKind::Var(self.local(&"field".into(), *ty)), ty: *ty, span })
            .collect();
        let inner = params.iter().map(variable_of).collect();
        let mut result = self.with_sizes_beside(tag, inner, whole, &sizes, span);
        if !params.is_empty() {
            let ty = self.solver.funs(&fields, whole);
            let names = (0..params.len()).map(super::patterns::by_place).collect();
            let result_claims = Vec::new();
            let function =
                Function { names, params, claims, body: result, result_claims, rules: None };
            result = Exp { kind: ExpKind::Lambda(Rc::new(function)), ty, span };
        }
        for (k, arg) in given.into_iter().enumerate() {
            let ty = self.solver.funs(&fields[k + 1..], whole);
            result = Exp { kind: ExpKind::Apply(Box::new(result), Box::new(arg)), ty, span };
        }
        if missing.is_empty() {
            return result;
        }
        let mut stmts = Vec::new();
        for (size, local) in missing {
            let known = self.local_size(local);
            let value = self.missing_size(known, &size, name, span);
            let pat = Pat { kind: PatKind::Var(local), ty: value.ty, span };
            stmts.push(Stmt::Let(Box::new((pat, value, Vec::new()))));
        }
        let ty = result.ty;
        Exp { kind: ExpKind::Block(stmts, Box::new(result)), ty, span }
    }

    /// The declared signature of a constructor, at new sizes and types.
    fn signature_of_constructor(
        &mut self,
        (variant, tag): (VariantId, usize),
        name: &Rc<str>,
    ) -> Signature {
        let (module, def) = self.variant_defs[variant.0 as usize];
        let TypeBody::Variant(constructors) = &def.body else {
            unreachable!("declared as a variant")
        };
        let types: Vec<Ty> = def.params.iter().map(|_| self.solver.fresh()).collect();
        let vars = def.params.iter().map(|p| p.text.clone()).zip(types.iter().copied()).collect();
        let outer_vars = std::mem::replace(&mut self.type_vars, vars);
        let outer_module = std::mem::replace(&mut self.module, module);
        let outer_claims = std::mem::take(&mut self.claims);
        let outer_unbound = std::mem::take(&mut self.unbound);
        self.expanding.push((module, Rc::from("")));
        let scope = self.env.mark();
        let sizes = self.inferred_sizes(def, &[]);
        let polys: Vec<Poly> = sizes.iter().map(|local| self.local_size(*local)).collect();
        let mut fields = Vec::new();
        for (k, written) in constructors[tag].1.iter().enumerate() {
            let owner = format!("argument {} of `{name}`", k + 1);
            fields.push(self.ty(written, Some(&ParamPath::start(k, &owner))));
        }
        self.env.restore(scope);
        self.expanding.pop();
        self.module = outer_module;
        self.type_vars = outer_vars;
        let claims = std::mem::replace(&mut self.claims, outer_claims);
        let unbound = std::mem::replace(&mut self.unbound, outer_unbound);
        let is_missing = |local: &LocalId| unbound.iter().any(|(other, _)| other == local);
        let names = def.sizes.iter().map(|size| size.text.clone());
        let missing = names.zip(sizes.iter().copied()).filter(|(_, local)| is_missing(local));
        let missing = missing.collect();
        // Each `[]` in a field is a size of its own.
        let mut atoms: HashMap<Atom, Poly> = HashMap::new();
        for atom in polys.iter().filter_map(Poly::as_var) {
            atoms.insert(atom, Poly::var(atom));
        }
        fields.iter().for_each(|ty| self.loose_sizes(*ty, &mut atoms));
        let fields = fields.iter().map(|ty| self.solver.copy(*ty, &HashMap::new(), &atoms));
        let fields = fields.collect();
        let whole = self.solver.variant_at(variant, polys, types);
        Signature { whole, fields, sizes, claims, missing }
    }

    /// The value of a constructor together with the sizes of its type.
    fn with_sizes_beside(
        &mut self,
        tag: usize,
        args: Vec<Exp>,
        whole: Ty,
        sizes: &[LocalId],
        span: Span,
    ) -> Exp {
        let Node::Record(types) = self.solver.get(whole).clone() else {
            unreachable!("a variant with sizes is a record")
        };
        let (int, unit) = (self.solver.int(), self.solver.tuple(Vec::new()));
        let mut parts = Vec::with_capacity(types.len());
        for ((label, ty), size) in types.iter().zip(sizes) {
            let index = self.local(&"_".into(), int);
            let bound = Exp { kind: ExpKind::Local(*size), ty: int, span };
            let body = Exp { kind: ExpKind::Tuple(Vec::new()), ty: unit, span };
            let kind = ExpKind::For(Clause::Range(index, None, Box::new(bound)), Box::new(body));
            parts.push((label.clone(), Exp { kind, ty: *ty, span }));
        }
        let (label, ty) = types.last().expect("the value itself").clone();
        parts.push((label, Exp { kind: ExpKind::Con(tag, args), ty, span }));
        Exp { kind: ExpKind::Record(parts), ty: whole, span }
    }

    /// An argument of a constructor. Constant sizes in its type that inference cannot prove are
    /// checked at run time.
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
        let node = self.solver.get(ty).clone();
        if let Node::Array(size, _) = &node
            && let Some(constant) = self.solver.sizes.resolve(size).as_constant()
        {
            let value = Exp { kind: ExpKind::Number(constant), ty: self.solver.int(), span };
            let what = SizeFact::Equals(Box::new(value), constant.to_string().into());
            claims.push(Claim { param: 0, path: path.clone(), what, owner: "this".into(), span });
        }
        for (step, ty) in steps(&node) {
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

    /// The constructor of this name, perhaps qualified by its module: `shapes.Circle`.
    pub(super) fn constructor_named(&self, name: &str) -> Option<(VariantId, usize)> {
        if let Some((module, name)) = name.split_once('.') {
            return self.scopes[self.module_named(module)?].constructors.get(name).copied();
        }
        let modules = self.modules_of_type(name).into_iter();
        modules.map(|k| &self.scopes[k].constructors).find_map(|known| known.get(name)).copied()
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
