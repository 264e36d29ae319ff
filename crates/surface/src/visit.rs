//! Walking over syntax trees: the children of every construct, in one place.

use lambada_source::Span;

use crate::ast::{
    Arm, Checkpoint, Clause, Def, Expr, ExprKind, Item, LoopKind, Module, Param, Pattern,
    PatternKind, TypeBody, TypeExpr, TypeKind,
};

/// A visitor of all nodes. The defaults walk on; an override calls the `walk_…` of the same name to
/// go deeper. Recursive: needs stack for the depth of the tree.
pub trait Visit {
    /// At an item.
    fn item(&mut self, item: &Item) {
        walk_item(self, item);
    }
    /// At a definition, top-level or local.
    fn def(&mut self, def: &Def) {
        walk_def(self, def);
    }
    /// At an expression.
    fn expr(&mut self, expr: &Expr) {
        walk_expr(self, expr);
    }
    /// At a pattern.
    fn pattern(&mut self, pattern: &Pattern) {
        walk_pattern(self, pattern);
    }
    /// At a type.
    fn type_expr(&mut self, ty: &TypeExpr) {
        walk_type(self, ty);
    }
}

/// Visits all items of a module.
pub fn walk_module<V: Visit + ?Sized>(visit: &mut V, module: &Module) {
    module.items.iter().for_each(|item| visit.item(item));
}

/// Visits the parts of an item.
pub fn walk_item<V: Visit + ?Sized>(visit: &mut V, item: &Item) {
    match item {
        Item::Def(def) => visit.def(def),
        Item::Type(def) => match &def.body {
            TypeBody::Alias(ty) => visit.type_expr(ty),
            TypeBody::Variant(constructors) => {
                constructors.iter().flat_map(|(_, args)| args).for_each(|ty| visit.type_expr(ty))
            }
        },
        Item::Import(_) => {}
    }
}

/// Visits the parts of a definition.
pub fn walk_def<V: Visit + ?Sized>(visit: &mut V, def: &Def) {
    def.params.iter().for_each(|param| walk_param(visit, param));
    def.result.iter().for_each(|ty| visit.type_expr(ty));
    visit.expr(&def.body);
    for rule in &def.rules {
        rule.params.iter().chain(&rule.value).for_each(|param| walk_param(visit, param));
        visit.expr(&rule.body);
    }
}

/// Visits the parts of a parameter.
pub fn walk_param<V: Visit + ?Sized>(visit: &mut V, param: &Param) {
    visit.pattern(&param.pattern);
    param.ty.iter().for_each(|ty| visit.type_expr(ty));
}

/// Visits the parts of a clause of a `for`.
pub fn walk_clause<V: Visit + ?Sized>(visit: &mut V, clause: &Clause) {
    match clause {
        Clause::Range(_, e) | Clause::If(e) => visit.expr(e),
        Clause::Between(from, _, to) => {
            visit.expr(from);
            visit.expr(to);
        }
        Clause::In(pattern, array) => {
            visit.pattern(pattern);
            visit.expr(array);
        }
    }
}

/// Visits the parts of an expression, in source order.
pub fn walk_expr<V: Visit + ?Sized>(visit: &mut V, expr: &Expr) {
    match &expr.kind {
        ExprKind::Lambda(params, _) => params.iter().for_each(|param| walk_param(visit, param)),
        ExprKind::Let(param, ..) | ExprKind::Loop(param, ..) => walk_param(visit, param),
        ExprKind::LetFunctions(defs, body) => {
            defs.iter().for_each(|def| visit.def(def));
            return visit.expr(body);
        }
        ExprKind::For(clauses, body) => {
            clauses.iter().for_each(|clause| walk_clause(visit, clause));
            return visit.expr(body);
        }
        ExprKind::Match(subject, arms) => {
            visit.expr(subject);
            return arms.iter().for_each(|Arm { pattern, guard, body }| {
                visit.pattern(pattern);
                guard.iter().for_each(|guard| visit.expr(guard));
                visit.expr(body);
            });
        }
        ExprKind::Annotated(inner, ty) => {
            visit.expr(inner);
            return visit.type_expr(ty);
        }
        ExprKind::Var(_)
        | ExprKind::Con(_)
        | ExprKind::Int(_)
        | ExprKind::Real(_)
        | ExprKind::Bool(_)
        | ExprKind::InspectAs(_)
        | ExprKind::Check(..)
        | ExprKind::Fail(..)
        | ExprKind::Operator(_) => {}
        ExprKind::Tuple(_)
        | ExprKind::Record(_)
        | ExprKind::RecordUpdate(..)
        | ExprKind::Field(..)
        | ExprKind::Component(..) => {}
        ExprKind::Apply(..)
        | ExprKind::SectionLeft(..)
        | ExprKind::SectionRight(..)
        | ExprKind::Unary(..)
        | ExprKind::Binary(..) => {}
        ExprKind::If(..)
        | ExprKind::Array(_)
        | ExprKind::Index(..)
        | ExprKind::Slice(..)
        | ExprKind::Update(..) => {}
        ExprKind::UpdateSlice(..)
        | ExprKind::Accumulate(..)
        | ExprKind::Add(..)
        | ExprKind::Sequence(..)
        | ExprKind::Commented(..)
        | ExprKind::Broken(_)
        | ExprKind::Error => {}
    }
    if let ExprKind::Loop(_, _, LoopKind::For(clause, ..), _) = &expr.kind
        && let Clause::In(pattern, _) = &**clause
    {
        visit.pattern(pattern);
    }
    children(expr, &mut |child| visit.expr(child));
}

/// Visits the parts of a pattern.
pub fn walk_pattern<V: Visit + ?Sized>(visit: &mut V, pattern: &Pattern) {
    match &pattern.kind {
        PatternKind::Tuple(parts)
        | PatternKind::Con(_, parts)
        | PatternKind::Array(parts)
        | PatternKind::Or(parts) => parts.iter().for_each(|part| visit.pattern(part)),
        PatternKind::Record(fields) => fields.iter().for_each(|(_, part)| visit.pattern(part)),
        PatternKind::Annotated(inner, ty) => {
            visit.pattern(inner);
            visit.type_expr(ty);
        }
        PatternKind::Wildcard
        | PatternKind::Var(_)
        | PatternKind::Int(_)
        | PatternKind::Real(_)
        | PatternKind::Bool(_) => {}
        PatternKind::Error => {}
    }
}

/// Visits the parts of a type.
pub fn walk_type<V: Visit + ?Sized>(visit: &mut V, ty: &TypeExpr) {
    match &ty.kind {
        TypeKind::Name(_, sizes, parts) => {
            sizes.iter().flatten().for_each(|size| visit.expr(size));
            parts.iter().for_each(|part| visit.type_expr(part));
        }
        TypeKind::Tuple(parts) => parts.iter().for_each(|part| visit.type_expr(part)),
        TypeKind::Record(fields) => fields.iter().for_each(|(_, part)| visit.type_expr(part)),
        TypeKind::Array(size, element) => {
            size.iter().for_each(|size| visit.expr(size));
            visit.type_expr(element);
        }
        TypeKind::Function(domain, codomain) => {
            visit.type_expr(domain);
            visit.type_expr(codomain);
        }
        TypeKind::Error => {}
    }
}

/// Defines the two variants of `children`, shared and exclusive, from one list.
macro_rules! children {
    ($name:ident, $($mutable:ident)?) => {
        /// The expressions directly inside `expr` in the order of the text, those in local
        /// definitions, clauses and arms too, but not the sizes in types.
        pub fn $name(expr: &$($mutable)? Expr, f: &mut dyn FnMut(&$($mutable)? Expr)) {
            match &$($mutable)? expr.kind {
                ExprKind::Var(_) | ExprKind::Con(_) | ExprKind::Int(_) | ExprKind::Real(_) | ExprKind::Bool(_) | ExprKind::InspectAs(_) => {}
                ExprKind::Operator(_) | ExprKind::Error => {}
                ExprKind::Tuple(parts) | ExprKind::Array(parts) => parts.into_iter().for_each(f),
                ExprKind::Check(_, parts) | ExprKind::Fail(_, parts) => parts.into_iter().for_each(f),
                ExprKind::Record(fields) => fields.into_iter().for_each(|(_, part)| f(part)),
                ExprKind::RecordUpdate(record, fields) => {
                    f(record);
                    fields.into_iter().for_each(|(_, part)| f(part));
                }
                ExprKind::Field(inner, _) | ExprKind::Component(inner, ..) | ExprKind::Lambda(_, inner) => f(inner),
                ExprKind::SectionLeft(inner, _) | ExprKind::SectionRight(_, inner) | ExprKind::Unary(_, inner) => f(inner),
                ExprKind::Annotated(inner, _) | ExprKind::Commented(_, inner) | ExprKind::Broken(inner) => f(inner),
                ExprKind::Accumulate(accumulators, body) => {
                    accumulators.into_iter().for_each(|(_, init)| f(init));
                    f(body);
                }
                ExprKind::Apply(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Let(_, a, b) => {
                    f(a);
                    f(b);
                }
                ExprKind::Sequence(a, b) => {
                    f(a);
                    f(b);
                }
                ExprKind::LetFunctions(defs, body) => {
                    for def in defs {
                        f(&$($mutable)? def.body);
                        for rule in &$($mutable)? def.rules {
                            f(&$($mutable)? rule.body);
                        }
                    }
                    f(body);
                }
                ExprKind::If(condition, yes, no) => {
                    f(condition);
                    f(yes);
                    f(no);
                }
                ExprKind::Match(subject, arms) => {
                    f(subject);
                    for arm in arms {
                        (&$($mutable)? arm.guard).into_iter().for_each(|guard| f(guard));
                        f(&$($mutable)? arm.body);
                    }
                }
                ExprKind::For(clauses, body) => {
                    for clause in clauses {
                        match clause {
                            Clause::Range(_, e) | Clause::In(_, e) | Clause::If(e) => f(e),
                            Clause::Between(from, _, to) => {
                                f(from);
                                f(to);
                            }
                        }
                    }
                    f(body);
                }
                ExprKind::Index(array, places) => {
                    f(array);
                    places.into_iter().for_each(f);
                }
                ExprKind::Slice(array, from, to) => {
                    f(array);
                    from.into_iter().chain(to).for_each(|e| f(e));
                }
                ExprKind::Update(array, places, value) => {
                    f(array);
                    places.into_iter().for_each(&mut *f);
                    f(value);
                }
                ExprKind::UpdateSlice(array, from, to, value) => {
                    f(array);
                    from.into_iter().chain(to).for_each(|e| f(e));
                    f(value);
                }
                ExprKind::Loop(_, init, kind, body) => {
                    f(init);
                    match kind {
                        LoopKind::While(condition) => f(condition),
                        LoopKind::For(clause, filter, checkpoint) => {
                            match &$($mutable)? **clause {
                                Clause::Range(_, e) | Clause::In(_, e) | Clause::If(e) => f(e),
                                Clause::Between(from, _, to) => {
                                    f(from);
                                    f(to);
                                }
                            }
                            filter.into_iter().for_each(|e| f(e));
                            if let Some(Checkpoint::States(states)) = checkpoint {
                                f(states);
                            }
                        }
                    }
                    f(body);
                }
                ExprKind::Add(_, places, value) => {
                    places.into_iter().for_each(&mut *f);
                    f(value);
                }
            }
        }
    };
}

children!(children,);
children!(children_mut, mut);

/// Trees may be deep without brackets (20 000 `let`s), so dropping one does not recurse.
impl Drop for Expr {
    fn drop(&mut self) {
        let mut pending = Vec::new();
        take_children(self, &mut pending);
        while let Some(mut expr) = pending.pop() {
            take_children(&mut expr, &mut pending);
        }
    }
}

/// Moves the children out; `Error` stands in for them.
fn take_children(expr: &mut Expr, pending: &mut Vec<Expr>) {
    children_mut(expr, &mut |child| {
        if !is_leaf(&child.kind) {
            pending.push(std::mem::replace(
                child,
                Expr { kind: ExprKind::Error, span: Span::default() },
            ));
        }
    });
}

/// Whether the form has no subexpressions.
fn is_leaf(kind: &ExprKind) -> bool {
    use ExprKind::{Bool, Con, Error, Int, Operator, Real, Var};
    matches!(kind, Var(_) | Con(_) | Int(_) | Real(_) | Bool(_) | Operator(_) | Error)
}
