//! Decision trees to core: tests of tags, truth values and literals, one at a time. An arm that several ways lead to becomes a function.

use std::collections::HashMap;

use lambada_core::{self as core, Arm, Term, Ty, Var};
use lambada_prim::{Scalar, ScalarTy, Surface};
use lambada_source::Span;

use super::Specialize;
use super::spine::Spine;
use crate::builtin;
use crate::matching::{Literal, Node, Part, Source, Tree};
use crate::solve::ty as solve;
use crate::typed::{Exp, LocalId};

/// The terms of the parts of the value, and the functions of arms.
struct Context<'t> {
    tree: &'t Tree,
    arms: &'t [Exp],
    parts: HashMap<Part, Term>,
    /// Arms that several leaves share, with the parts that their function takes.
    shared: HashMap<usize, (Term, Vec<LocalId>)>,
    /// What stands where no arm of a group is left.
    failed: Failed,
    ty: Ty,
}

/// What stands where no arm of a group is left.
#[derive(Clone)]
enum Failed {
    /// Nothing: one tree covers everything.
    Never,
    /// The group has been asked whether it has an arm, so this is not reached: a call of an arm that has what it takes everywhere.
    Excluded(Term),
    /// A call of the function of the next group.
    Next(Term),
}

impl Specialize<'_> {
    pub(super) fn matching(
        &mut self,
        value: &Exp,
        tree: &Tree,
        arms: &[Exp],
        ty: solve::Ty,
        span: Span,
    ) -> Term {
        let mut spine = Spine::default();
        let value = self.exp(value);
        let value = self.share_as_var(&mut spine, "value", value);
        let ty = self.mono(ty);
        let mut context = Context {
            tree,
            arms,
            parts: HashMap::from([(Part(0), value)]),
            shared: HashMap::new(),
            failed: Failed::Never,
            ty,
        };
        let anywhere = if tree.groups.len() > 1 { anywhere(tree, arms) } else { None };
        for (arm, uses) in tree.uses.iter().enumerate() {
            if *uses > 1 || anywhere == Some(arm) {
                self.share_arm(arm, &mut context, &mut spine);
            }
        }
        let term = self.groups(anywhere, &mut context, &mut spine);
        let term = self.at(term, span);
        self.close(spine, term)
    }

    /// The trees of all groups. Each group but the last is asked first whether it has an arm, so what follows is called from one place: calls
    /// from every place where a tree has no arm left would multiply with the groups where calls are written out.
    fn groups(
        &mut self,
        anywhere: Option<usize>,
        context: &mut Context,
        spine: &mut Spine,
    ) -> Term {
        let [before @ .., last] = &context.tree.groups[..] else {
            unreachable!("a match has an arm")
        };
        let excluded = anywhere
            .map(|arm| Failed::Excluded(self.leaf(arm, binds_of(context.tree, arm), context)));
        context.failed = excluded.clone().unwrap_or(Failed::Never);
        let mut term = self.node(last, context);
        for group in before.iter().rev() {
            let nothing = self.fresh("_", Ty::unit());
            let function = self.share_as_var(spine, "others", core::lam(nothing, term));
            term = match &excluded {
                Some(excluded) => {
                    let matches = self.matches(group, context);
                    context.failed = excluded.clone();
                    let arms = self.node(group, context);
                    core::if_(matches, arms, core::app(function, core::tuple(Vec::new())))
                }
                None => {
                    context.failed = Failed::Next(function);
                    self.node(group, context)
                }
            };
        }
        term
    }

    /// Whether an arm of the group matches.
    fn matches(&mut self, node: &Node, context: &mut Context) -> Term {
        match node {
            Node::Fail => core::lit(Scalar::Bool(false)),
            Node::Leaf { .. } => core::lit(Scalar::Bool(true)),
            Node::Variant { .. } | Node::Bool { .. } | Node::Literal { .. } => {
                self.test(node, context, Self::matches)
            }
        }
    }

    /// `let arm = \x y -> body`, for an arm that several leaves lead to.
    fn share_arm(&mut self, arm: usize, context: &mut Context, spine: &mut Spine) {
        let binds = binds_of(context.tree, arm);
        let mut locals: Vec<LocalId> = binds.iter().map(|(local, _)| *local).collect();
        locals.sort_unstable();
        let mut vars: Vec<Var> = locals.iter().map(|local| self.declare(*local)).collect();
        if vars.is_empty() {
            vars.push(self.fresh("_", Ty::unit()));
        }
        let body = self.exp(&context.arms[arm]);
        let function = vars.into_iter().rev().fold(body, |body, var| core::lam(var, body));
        let function = self.share_as_var(spine, "arm", function);
        context.shared.insert(arm, (function, locals));
    }

    fn node(&mut self, node: &Node, context: &mut Context) -> Term {
        match node {
            Node::Fail => match context.failed.clone() {
                Failed::Next(others) => core::app(others, core::tuple(Vec::new())),
                Failed::Excluded(term) => term,
                Failed::Never => {
                    unreachable!("a match that does not cover everything is a problem")
                }
            },
            Node::Leaf { arm, binds } => self.leaf(*arm, binds, context),
            Node::Variant { .. } | Node::Bool { .. } | Node::Literal { .. } => {
                self.test(node, context, Self::node)
            }
        }
    }

    /// A test, with what `inner` makes of its outcomes.
    fn test(
        &mut self,
        node: &Node,
        context: &mut Context,
        inner: fn(&mut Self, &Node, &mut Context) -> Term,
    ) -> Term {
        match node {
            Node::Fail | Node::Leaf { .. } => inner(self, node, context),
            Node::Variant { on, cases, .. } => {
                let value = self.part(*on, context);
                let arms = cases
                    .iter()
                    .enumerate()
                    .map(|(tag, (parts, node))| {
                        let vars = self.case(&value, tag, parts, context);
                        Arm { vars, body: inner(self, node, context) }
                    })
                    .collect();
                core::match_(value, arms)
            }
            Node::Bool { on, yes, no } => {
                let value = self.part(*on, context);
                let yes = inner(self, yes, context);
                let no = inner(self, no, context);
                core::if_(value, yes, no)
            }
            Node::Literal { on, value, equal, other } => {
                let test = self.literal_test(*on, *value, context);
                let equal = inner(self, equal, context);
                let other = inner(self, other, context);
                core::if_(test, equal, other)
            }
        }
    }

    /// The variables of the fields of a constructor, which are parts from here on.
    fn case(
        &mut self,
        value: &Term,
        tag: usize,
        parts: &[Part],
        context: &mut Context,
    ) -> Vec<Var> {
        let Ty::Variant(id) = value.ty() else { panic!("a match on {:?}", value.ty()) };
        let fields = self.program.type_decl(*id).constructors[tag].1.clone();
        let vars: Vec<Var> = fields.into_iter().map(|ty| self.fresh("field", ty)).collect();
        for (part, var) in parts.iter().zip(&vars) {
            context.parts.insert(*part, core::var(var));
        }
        vars
    }

    fn leaf(&mut self, arm: usize, binds: &[(LocalId, Part)], context: &mut Context) -> Term {
        if let Some((function, locals)) = context.shared.get(&arm).cloned() {
            let part_of = |local: &LocalId| {
                binds.iter().find(|(bound, _)| bound == local).map(|(_, part)| *part)
            };
            let args: Vec<Part> = locals.iter().filter_map(part_of).collect();
            let args: Vec<Term> = args.into_iter().map(|part| self.part(part, context)).collect();
            let args = if args.is_empty() { vec![core::tuple(Vec::new())] } else { args };
            return args.into_iter().fold(function, core::app);
        }
        let mut spine = Spine::default();
        for (local, part) in binds {
            let value = self.part(*part, context);
            let var = self.declare(*local);
            self.let_in(&mut spine, var, value);
        }
        let body = self.exp(&context.arms[arm]);
        debug_assert_eq!(*body.ty(), context.ty);
        self.close(spine, body)
    }

    fn literal_test(&mut self, on: Part, value: Literal, context: &mut Context) -> Term {
        let part = self.part(on, context);
        let literal = match (value, part.ty()) {
            (Literal::Number(value), ty) => super::expr::number(value, ty),
            (Literal::Real(value), _) => core::lit(Scalar::Real(value)),
        };
        let Ty::Scalar(scalar) = *part.ty() else {
            panic!("a literal pattern for {:?}", part.ty())
        };
        debug_assert!(scalar != ScalarTy::Bool);
        let prim = builtin::primitive(Surface::Infix("=="), &[scalar, scalar])
            .expect("scalars are compared");
        core::prim(prim, vec![part, literal])
    }

    /// A part of the value.
    fn part(&mut self, part: Part, context: &mut Context) -> Term {
        if let Some(term) = context.parts.get(&part) {
            return term.clone();
        }
        match context.tree.parts[part.0].clone() {
            Source::Component(of, k) => {
                let whole = self.part(of, context);
                core::proj(whole, k)
            }
            Source::Field(of, name) => {
                let whole = self.part(of, context);
                self.field_of(whole, &name)
            }
            Source::Whole | Source::Argument(..) => unreachable!("bound before it is looked at"),
        }
    }
}

/// The shortest arm whose variables are no fields of constructors: it can be called anywhere.
fn anywhere(tree: &Tree, arms: &[Exp]) -> Option<usize> {
    let is_part_of_all = |part: Part| {
        let mut part = part;
        loop {
            part = match tree.parts[part.0] {
                Source::Whole => return true,
                Source::Component(of, _) | Source::Field(of, _) => of,
                Source::Argument(..) => return false,
            }
        }
    };
    let can_be_called = |arm: &usize| {
        tree.uses[*arm] > 0 && binds_of(tree, *arm).iter().all(|(_, part)| is_part_of_all(*part))
    };
    let length = |arm: &usize| arms[*arm].span.end.saturating_sub(arms[*arm].span.start);
    (0..arms.len()).filter(can_be_called).min_by_key(length)
}

/// The variables of an arm.
fn binds_of(tree: &Tree, arm: usize) -> &[(LocalId, Part)] {
    tree.groups.iter().find_map(|group| leaf_binds(group, arm)).unwrap_or_default()
}

/// The variables of the first leaf of an arm.
fn leaf_binds(node: &Node, wanted: usize) -> Option<&[(LocalId, Part)]> {
    match node {
        Node::Fail => None,
        Node::Leaf { arm, binds } => (*arm == wanted).then_some(&binds[..]),
        Node::Variant { cases, .. } => cases.iter().find_map(|(_, node)| leaf_binds(node, wanted)),
        Node::Bool { yes, no, .. } => leaf_binds(yes, wanted).or_else(|| leaf_binds(no, wanted)),
        Node::Literal { equal, other, .. } => {
            leaf_binds(equal, wanted).or_else(|| leaf_binds(other, wanted))
        }
    }
}
