//! Decision trees to core: tests of tags, truth values and literals, one at a time.
//!
//! A tree is written as one, with functions for arms that several ways lead to, unless that would
//! be much larger than its nodes and arms, because calls are inlined and shared nodes copied. In
//! that case the arm is found first, as a number:
//!
//! ```text
//!   let found = match x | A -> 7 | B -> 2 | C -> 7    7 is a node with two ways to it, 2 is an arm
//!   let found = if found < 7 then found else …        one line for each step to such nodes
//!   in if found < 1 then … else …                     each arm, once
//! ```
//!
//! Only the number passes from line to line: fields of constructors that an earlier line has found
//! are read again, by a match whose other cases are `never`.

use std::collections::HashMap;

use lambada_core::{self as core, Arm, Term, Ty, Var};
use lambada_prim::{Prim, Scalar, ScalarTy, Surface};
use lambada_source::Span;

use super::Specialize;
use super::spine::Spine;
use crate::builtin;
use crate::matching::{Literal, Node, NodeAt, Part, Source, Tree, in_order};
use crate::solve::ty as solve;
use crate::typed::{Case, Exp, LocalId};

/// Limit on the size of a written tree, relative to its nodes and arms.
const COPIES: usize = 4;

/// Number of nodes below which a tree is always written as one.
const SMALL: usize = 128;

/// Number of bytes of an arm's text that count as a node.
const BYTES: usize = 8;

/// Number of nodes up to which a shared node is copied.
const SHORT: usize = 4;

/// Context of a written term.
struct Context<'t> {
    tree: &'t Tree,
    arms: &'t [Case],
    /// The terms of the parts of the value that are in scope.
    parts: HashMap<Part, Term>,
    /// The arguments of each constructor that the tree tests.
    arguments: HashMap<(Part, usize), Vec<Part>>,
    /// Arms that several leaves share, with the parts that their function takes.
    shared: HashMap<usize, (Term, Vec<LocalId>)>,
    /// Numbers of nodes while the arm is being found as a number.
    numbers: Option<HashMap<NodeAt, i64>>,
    ty: Ty,
}

/// The shared nodes, by the number of steps before them.
type Steps = Vec<Vec<NodeAt>>;

impl Specialize<'_> {
    pub(super) fn matching(
        &mut self,
        value: &Exp,
        tree: &Tree,
        arms: &[Case],
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
            arguments: arguments(tree),
            shared: HashMap::new(),
            numbers: None,
            ty,
        };
        let term = if is_short(tree, arms) {
            for (arm, uses) in tree.uses.iter().enumerate() {
                if *uses > 1 {
                    self.share_arm(arm, &mut context, &mut spine);
                }
            }
            self.node(tree.root, &mut context)
        } else {
            for arm in 0..arms.len() {
                if tree.arms.iter().filter(|of| **of == arm).count() > 1 {
                    self.share_arm(arm, &mut context, &mut spine);
                }
            }
            self.by_number(&mut context, &mut spine)
        };
        let term = self.at(term, span);
        self.close(spine, term)
    }

    /// Finds the number of the arm step by step, then selects the arm.
    fn by_number(&mut self, context: &mut Context, spine: &mut Spine) -> Term {
        let (tree, steps) = (context.tree, steps(context.tree));
        let mut numbers: HashMap<NodeAt, i64> = HashMap::new();
        let mut leaves: Vec<(i64, usize)> = Vec::new();
        for node in in_order(&tree.nodes, tree.root) {
            if let Node::Leaf(row) = tree.nodes[node.0] {
                numbers.insert(node, row as i64);
                leaves.push((row as i64, row));
            }
        }
        // The last step has the least numbers: a number below those of a step is left to later
        // steps.
        let all = steps.iter().rev().flatten().zip(tree.arms.len() as i64..);
        numbers.extend(all.map(|(node, number)| (*node, number)));
        let number_of = |node: &NodeAt| numbers[node];
        let starts: Vec<Vec<(i64, NodeAt)>> = steps
            .iter()
            .map(|step| step.iter().map(|node| (number_of(node), *node)).collect())
            .collect();
        context.numbers = Some(numbers);
        let mut found = self.node(tree.root, context);
        for step in &starts {
            found = self.share_as_var(spine, "found", found);
            let first = core::int(step[0].0);
            let is_earlier = core::prim(Prim::LtInt, vec![found.clone(), first]);
            let node = &mut |this: &mut Self, node: NodeAt| this.asked(node, context);
            let here = self.select(&found, step, node);
            found = core::if_(is_earlier, found, here);
        }
        context.numbers = None;
        leaves.sort_unstable();
        leaves.dedup();
        let found = self.share(spine, "found", found);
        self.select(&found, &leaves, &mut |this, row| {
            let parts = tree.binds[row].iter().map(|(_, part)| *part).collect::<Vec<_>>();
            this.with_parts(&parts, context, &mut |this, context| this.leaf(row, context))
        })
    }

    /// Binary search for a number in an ascending list.
    pub(super) fn select<T: Copy>(
        &mut self,
        found: &Term,
        among: &[(i64, T)],
        write: &mut dyn FnMut(&mut Self, T) -> Term,
    ) -> Term {
        if let [(_, only)] = among {
            return write(self, *only);
        }
        let (low, high) = among.split_at(among.len() / 2);
        let test = core::prim(Prim::LtInt, vec![found.clone(), core::int(high[0].0)]);
        let low = self.select(found, low, write);
        let high = self.select(found, high, write);
        core::if_(test, low, high)
    }

    /// Writes a term in which these parts are in scope; parts out of scope are read again.
    fn with_parts(
        &mut self,
        wanted: &[Part],
        context: &mut Context,
        write: &mut dyn FnMut(&mut Self, &mut Context) -> Term,
    ) -> Term {
        let missing = wanted.iter().find_map(|part| outermost_missing(*part, context));
        let Some((of, tag)) = missing else { return write(self, context) };
        let value = self.part(of, context);
        let Ty::Variant(id) = *value.ty() else { panic!("a match on {:?}", value.ty()) };
        let parts = context.arguments[&(of, tag)].clone();
        let vars = self.fields_of(&value, tag);
        let body = self.in_case(&vars, &parts, context, &mut |this, context| {
            this.with_parts(wanted, context, write)
        });
        let others = self.program.type_decl(id).constructors.len();
        let arms = (0..others).map(|other| {
            if other == tag {
                Arm { vars: vars.clone(), body: body.clone() }
            } else {
                let vars = self.fields_of(&value, other);
                Arm { vars, body: core::build::never(body.ty().clone()) }
            }
        });
        let arms = arms.collect();
        core::match_(value, arms)
    }

    /// `let arm = \x y -> body`, for an arm with several leaves.
    fn share_arm(&mut self, arm: usize, context: &mut Context, spine: &mut Spine) {
        // The alternatives of an arm bind the same variables; a row that is not reached has none.
        let rows = context.tree.arms.iter().zip(&context.tree.binds);
        let binds = rows.filter(|(of, _)| **of == arm).map(|(_, binds)| binds);
        let binds = binds.max_by_key(|binds| binds.len()).into_iter().flatten();
        let mut locals: Vec<LocalId> = binds.map(|(local, _)| *local).collect();
        locals.sort_unstable();
        let mut vars: Vec<Var> = locals.iter().map(|local| self.declare(*local)).collect();
        if vars.is_empty() {
            vars.push(self.fresh("_", Ty::unit()));
        }
        let body = self.exp(&context.arms[arm].body);
        let function = vars.into_iter().rev().fold(body, |body, var| core::lam(var, body));
        let function = self.share_as_var(spine, "arm", function);
        context.shared.insert(arm, (function, locals));
    }

    /// A node, or its number if it has one.
    fn node(&mut self, node: NodeAt, context: &mut Context) -> Term {
        if let Some(number) = context.numbers.as_ref().and_then(|numbers| numbers.get(&node)) {
            return core::int(*number);
        }
        self.asked(node, context)
    }

    fn asked(&mut self, node: NodeAt, context: &mut Context) -> Term {
        let tree = context.tree;
        match &tree.nodes[node.0] {
            // A value that no arm covers is a reported problem, or is left to a group that does not
            // exist.
            Node::Fail if context.numbers.is_some() => core::build::never(Ty::INT),
            Node::Fail => core::build::never(context.ty.clone()),
            Node::Next(group) => self.node(*group, context),
            Node::Leaf(row) => self.leaf(*row, context),
            Node::Guard { row, yes, no } => {
                let parts = tree.binds[*row].iter().map(|(_, part)| *part).collect::<Vec<_>>();
                self.with_parts(&parts, context, &mut |this, context| {
                    let test = this.guard(*row, context);
                    let yes = this.node(*yes, context);
                    let no = this.node(*no, context);
                    core::if_(test, yes, no)
                })
            }
            Node::Length { on, length, equal, other } => {
                self.with_parts(&[*on], context, &mut |this, context| {
                    let length = core::int(*length as i64);
                    let size = core::dim(this.part(*on, context), 0);
                    let test = core::prim(Prim::EqInt, vec![size, length]);
                    let equal = this.node(*equal, context);
                    let other = this.node(*other, context);
                    core::if_(test, equal, other)
                })
            }
            Node::Variant { on, cases } => {
                self.with_parts(&[*on], context, &mut |this, context| {
                    let value = this.part(*on, context);
                    let arms = cases.iter().enumerate().map(|(tag, (parts, node))| {
                        let vars = this.fields_of(&value, tag);
                        let body = this.in_case(&vars, parts, context, &mut |this, context| {
                            this.node(*node, context)
                        });
                        Arm { vars, body }
                    });
                    let arms = arms.collect();
                    core::match_(value, arms)
                })
            }
            Node::Bool { on, yes, no } => self.with_parts(&[*on], context, &mut |this, context| {
                let value = this.part(*on, context);
                let yes = this.node(*yes, context);
                let no = this.node(*no, context);
                core::if_(value, yes, no)
            }),
            Node::Literal { on, value, equal, other } => {
                let (among, rest) = integers(tree, node, context);
                self.with_parts(&[*on], context, &mut |this, context| {
                    if among.len() >= MANY && *this.part(*on, context).ty() == Ty::INT {
                        return this.among_integers(*on, (&among, rest), context);
                    }
                    let test = this.literal_test(*on, *value, context);
                    let equal = this.node(*equal, context);
                    let other = this.node(*other, context);
                    core::if_(test, equal, other)
                })
            }
        }
    }

    /// A binary search for one of many literals: code nested as deep as there are literals is slow
    /// to run and to compile.
    fn among_integers(
        &mut self,
        on: Part,
        (among, rest): (&[(i64, NodeAt)], NodeAt),
        context: &mut Context,
    ) -> Term {
        let value = self.part(on, context);
        let numbered = among.iter().zip(0..).map(|((literal, _), k)| (*literal, (*literal, k)));
        let numbered: Vec<(i64, (i64, i64))> = numbered.collect();
        let found = self.select(&value, &numbered, &mut |_, (literal, k)| {
            let test = core::prim(Prim::EqInt, vec![value.clone(), core::int(literal)]);
            core::if_(test, core::int(k), core::int(-1))
        });
        let mut spine = Spine::default();
        let found = self.share_as_var(&mut spine, "found", found);
        let nodes = (0..).zip(among).map(|(k, (_, node))| (k, *node));
        let nodes: Vec<(i64, NodeAt)> = std::iter::once((-1, rest)).chain(nodes).collect();
        let body = self.select(&found, &nodes, &mut |this, node| this.node(node, context));
        self.close(spine, body)
    }

    /// Variables for the fields of a constructor.
    fn fields_of(&mut self, value: &Term, tag: usize) -> Vec<Var> {
        let Ty::Variant(id) = value.ty() else { panic!("a match on {:?}", value.ty()) };
        let fields = self.program.type_decl(*id).constructors[tag].1.clone();
        fields.into_iter().map(|ty| self.fresh("field", ty)).collect()
    }

    /// Writes a term in which these variables are the parts.
    fn in_case(
        &mut self,
        vars: &[Var],
        parts: &[Part],
        context: &mut Context,
        write: &mut dyn FnMut(&mut Self, &mut Context) -> Term,
    ) -> Term {
        context.parts.extend(parts.iter().copied().zip(vars.iter().map(core::var)));
        let term = write(self, context);
        parts.iter().for_each(|part| drop(context.parts.remove(part)));
        term
    }

    /// The condition of an arm, in the scope of a row's variables.
    fn guard(&mut self, row: usize, context: &mut Context) -> Term {
        let guard = &context.arms[context.tree.arms[row]].guard;
        let guard = guard.as_ref().expect("an arm with a condition");
        self.in_row(row, context, guard)
    }

    /// An expression in the scope of a row's variables.
    fn in_row(&mut self, row: usize, context: &mut Context, exp: &Exp) -> Term {
        let mut spine = Spine::default();
        for (local, part) in &context.tree.binds[row] {
            let value = self.part(*part, context);
            let var = self.declare(*local);
            self.let_in(&mut spine, var, value);
        }
        let term = self.exp(exp);
        self.close(spine, term)
    }

    fn leaf(&mut self, row: usize, context: &mut Context) -> Term {
        let (arm, binds) = (context.tree.arms[row], &context.tree.binds[row]);
        if let Some((function, locals)) = context.shared.get(&arm).cloned() {
            let part_of = |local: &LocalId| {
                binds.iter().find(|(bound, _)| bound == local).map(|(_, part)| *part)
            };
            let args: Vec<Part> = locals.iter().filter_map(part_of).collect();
            let args: Vec<Term> = args.into_iter().map(|part| self.part(part, context)).collect();
            let args = if args.is_empty() { vec![core::tuple(Vec::new())] } else { args };
            return args.into_iter().fold(function, core::app);
        }
        let body = &context.arms[arm].body;
        let body = self.in_row(row, context, body);
        debug_assert_eq!(*body.ty(), context.ty);
        body
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
            Source::Element(of, k) => {
                let whole = self.part(of, context);
                let span = whole.span();
                self.failing += 1;
                core::index(whole, vec![core::int(k as i64)], span)
            }
            Source::Whole | Source::Argument(..) => unreachable!("bound before it is looked at"),
        }
    }
}

/// Number of literals from which a binary search is used.
const MANY: usize = 8;

/// The integers that a node and its successors compare one part with, in order, with their nodes,
/// and the node for all others.
fn integers(tree: &Tree, start: NodeAt, context: &Context) -> (Vec<(i64, NodeAt)>, NodeAt) {
    let (mut among, mut rest, mut part) = (Vec::new(), start, None);
    while let Node::Literal { on, value: Literal::Number(value), equal, other } =
        &tree.nodes[rest.0]
        && part.is_none_or(|part| part == *on)
    {
        among.push((*value, *equal));
        (part, rest) = (Some(*on), *other);
        // A shared node is written elsewhere.
        if context.numbers.as_ref().is_some_and(|numbers| numbers.contains_key(&rest)) {
            break;
        }
    }
    among.sort_unstable_by_key(|(value, _)| *value);
    (among, rest)
}

/// Whether the tree, written as one, is little larger than its nodes and arms.
fn is_short(tree: &Tree, arms: &[Case]) -> bool {
    let length = |exp: &Exp| 1 + exp.span.end.saturating_sub(exp.span.start) as usize / BYTES;
    let arm = |row: usize| &arms[tree.arms[row]];
    let order = in_order(&tree.nodes, tree.root);
    let (mut once, mut sizes) = (0, vec![0_usize; tree.nodes.len()]);
    for node in order.iter().rev() {
        let own = if let Node::Leaf(row) = tree.nodes[node.0] {
            length(&arm(row).body)
        } else if let Node::Guard { row, .. } = tree.nodes[node.0] {
            arm(row).guard.as_ref().map_or(1, length)
        } else {
            1
        };
        once += own;
        let next = tree.nodes[node.0].next();
        sizes[node.0] = next.iter().fold(own, |size, next| size.saturating_add(sizes[next.0]));
    }
    sizes[tree.root.0] <= SMALL + COPIES * once
}

/// The shared nodes that are not short, each in a later step than the nodes that lead to it.
fn steps(tree: &Tree) -> Steps {
    let order = in_order(&tree.nodes, tree.root);
    let mut ways = vec![0_usize; tree.nodes.len()];
    for next in order.iter().flat_map(|node| tree.nodes[node.0].next()) {
        ways[next.0] += 1;
    }
    let (mut sizes, mut meets) = (vec![1_usize; tree.nodes.len()], vec![false; tree.nodes.len()]);
    for node in order.iter().rev() {
        let next = tree.nodes[node.0].next();
        let size: usize = next.iter().map(|n| if meets[n.0] { 1 } else { sizes[n.0] }).sum();
        sizes[node.0] += size;
        let is_next = matches!(tree.nodes[node.0], Node::Next(_));
        meets[node.0] = ways[node.0] > 1 && sizes[node.0] > SHORT && !is_next;
    }
    let mut at = vec![0_usize; tree.nodes.len()];
    let mut steps = Steps::new();
    for node in order {
        let own = at[node.0] + usize::from(meets[node.0]);
        if meets[node.0] {
            if steps.len() < own {
                steps.resize(own, Vec::new());
            }
            steps[own - 1].push(node);
        }
        tree.nodes[node.0].next().iter().for_each(|next| at[next.0] = at[next.0].max(own));
    }
    steps
}

/// The parts that are arguments of each constructor, in order.
fn arguments(tree: &Tree) -> HashMap<(Part, usize), Vec<Part>> {
    let mut arguments: HashMap<(Part, usize), Vec<(usize, Part)>> = HashMap::new();
    for (part, source) in tree.parts.iter().enumerate() {
        if let Source::Argument(of, tag, k) = source {
            arguments.entry((*of, *tag)).or_default().push((*k, Part(part)));
        }
    }
    let in_order = |mut parts: Vec<(usize, Part)>| {
        parts.sort_unstable();
        parts.into_iter().map(|(_, part)| part).collect()
    };
    arguments.into_iter().map(|(of, parts)| (of, in_order(parts))).collect()
}

/// The outermost constructor around a part whose fields are not in scope here.
fn outermost_missing(part: Part, context: &Context) -> Option<(Part, usize)> {
    let (mut part, mut found) = (part, None);
    while !context.parts.contains_key(&part) {
        part = match context.tree.parts[part.0] {
            Source::Whole => break,
            Source::Component(of, _) | Source::Field(of, _) | Source::Element(of, _) => of,
            Source::Argument(of, tag, _) => {
                found = Some((of, tag));
                of
            }
        };
    }
    found
}
