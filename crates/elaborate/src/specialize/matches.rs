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
    /// The function of the next group, if there is one.
    others: Option<Term>,
    ty: Ty,
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
            others: None,
            ty,
        };
        for (arm, uses) in tree.uses.iter().enumerate() {
            if *uses > 1 {
                self.share_arm(arm, &mut context, &mut spine);
            }
        }
        let term = self.groups(&mut context, &mut spine);
        let term = self.at(term, span);
        self.close(spine, term)
    }

    /// The trees of all groups: each is a function that those before call where they fail.
    fn groups(&mut self, context: &mut Context, spine: &mut Spine) -> Term {
        let mut groups = context.tree.groups.iter();
        let first = groups.next().expect("a match has an arm");
        for group in groups.rev() {
            let term = self.node(group, context);
            let nothing = self.fresh("_", Ty::unit());
            let function = self.share_as_var(spine, "others", core::lam(nothing, term));
            context.others = Some(function);
        }
        self.node(first, context)
    }

    /// `let arm = \x y -> body`, for an arm that several leaves lead to.
    fn share_arm(&mut self, arm: usize, context: &mut Context, spine: &mut Spine) {
        let mut groups = context.tree.groups.iter();
        let mut locals: Vec<LocalId> = groups
            .find_map(|group| leaf_binds(group, arm))
            .unwrap_or_default()
            .iter()
            .map(|(local, _)| *local)
            .collect();
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
            Node::Fail => match context.others.clone() {
                Some(others) => core::app(others, core::tuple(Vec::new())),
                None => unreachable!("a match that does not cover everything is a problem"),
            },
            Node::Leaf { arm, binds } => self.leaf(*arm, binds, context),
            Node::Variant { on, cases, .. } => {
                let value = self.part(*on, context);
                let arms = cases
                    .iter()
                    .enumerate()
                    .map(|(tag, (parts, node))| self.case(&value, tag, parts, node, context))
                    .collect();
                core::match_(value, arms)
            }
            Node::Bool { on, yes, no } => {
                let value = self.part(*on, context);
                let yes = self.node(yes, context);
                let no = self.node(no, context);
                core::if_(value, yes, no)
            }
            Node::Literal { on, value, equal, other } => {
                let test = self.literal_test(*on, *value, context);
                let equal = self.node(equal, context);
                let other = self.node(other, context);
                core::if_(test, equal, other)
            }
        }
    }

    fn case(
        &mut self,
        value: &Term,
        tag: usize,
        parts: &[Part],
        node: &Node,
        context: &mut Context,
    ) -> Arm {
        let Ty::Variant(id) = value.ty() else { panic!("a match on {:?}", value.ty()) };
        let fields = self.program.type_decl(*id).constructors[tag].1.clone();
        let vars: Vec<Var> = fields.into_iter().map(|ty| self.fresh("field", ty)).collect();
        for (part, var) in parts.iter().zip(&vars) {
            context.parts.insert(*part, core::var(var));
        }
        let body = self.node(node, context);
        Arm { vars, body }
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
