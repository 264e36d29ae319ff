//! Matches as decision trees, which examine each part of the value at most once. A tree also shows
//! uncovered values and unreachable arms.
//!
//! After J. Jacobs, "How to compile pattern matching": the first row with a test left decides the
//! next test.
//!
//! Equal subtrees, with the same rows and tests left, are one node. A tree may be exponential in
//! the patterns if each row tests a few of many parts; its nodes are then fewer. If the order of
//! tests does not fit the rows, the nodes may be exponential too. So the rows are split into
//! *groups* with a bounded number of nodes each; unmatched values go to the next group. `coverage`
//! then finds values that no row covers.

mod coverage;

pub(crate) use coverage::MOST_CASES;

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use lambada_core::sized;

use crate::solve::ty::VariantId;
use crate::typed::{LocalId, Pat, PatKind};

/// A part of the scrutinee; an index into [`Tree::parts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Part(pub usize);

/// Origin of a part.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    Whole,
    /// A component of a tuple.
    Component(Part, usize),
    /// A field of a record.
    Field(Part, Rc<str>),
    /// An argument of a constructor.
    Argument(Part, usize, usize),
    /// An element of an array.
    Element(Part, usize),
}

/// A node of a tree; an index into [`Tree::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodeAt(pub usize);

/// A decision tree that shares equal subtrees.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub parts: Vec<Source>,
    pub nodes: Vec<Node>,
    /// The root node.
    pub root: NodeAt,
    /// The variables of each row.
    pub binds: Vec<Vec<(LocalId, Part)>>,
    /// The arm of each row. An arm has a row for each of its alternatives.
    pub arms: Vec<usize>,
    /// A value that no arm covers, as a pattern.
    pub missing: Option<String>,
    /// Whether the search for `missing` was given up.
    pub undecided: bool,
    /// Number of leaves of each arm, without sharing.
    pub uses: Vec<usize>,
}

/// A literal of a pattern.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Literal {
    Number(i64),
    Real(f64),
}

/// A step of the decision.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// No arm is left.
    Fail,
    /// No arm of the group is left: the next group.
    Next(NodeAt),
    /// This row.
    Leaf(usize),
    /// This row, if the condition of its arm holds.
    Guard {
        row: usize,
        yes: NodeAt,
        no: NodeAt,
    },
    /// Whether an array has this length.
    Length {
        on: Part,
        length: usize,
        equal: NodeAt,
        other: NodeAt,
    },
    /// One case per constructor, with the parts that are its arguments.
    Variant {
        on: Part,
        cases: Vec<(Vec<Part>, NodeAt)>,
    },
    Bool {
        on: Part,
        yes: NodeAt,
        no: NodeAt,
    },
    Literal {
        on: Part,
        value: Literal,
        equal: NodeAt,
        other: NodeAt,
    },
}

impl Node {
    /// The successors of a node.
    pub fn next(&self) -> Vec<NodeAt> {
        match self {
            Node::Fail | Node::Leaf(_) => Vec::new(),
            Node::Next(group) => vec![*group],
            Node::Variant { cases, .. } => cases.iter().map(|(_, node)| *node).collect(),
            Node::Bool { yes, no, .. } | Node::Guard { yes, no, .. } => vec![*yes, *no],
            Node::Literal { equal, other, .. } | Node::Length { equal, other, .. } => {
                vec![*equal, *other]
            }
        }
    }
}

/// Names and arities of a variant's constructors, for the compiler of matches.
pub(crate) type Constructors<'a> = &'a dyn Fn(VariantId) -> Vec<(Rc<str>, usize)>;

#[derive(Clone)]
struct Row<'p> {
    tests: Vec<(Part, &'p Pat)>,
    binds: Vec<(LocalId, Part)>,
    /// Its number.
    row: usize,
    /// Whether its arm has a condition, so that it may not cover what it matches.
    guarded: bool,
}

/// A fact about a part on the way to a node.
#[derive(Clone)]
enum PartFact {
    Con(Rc<str>, Vec<Part>),
    Bool(bool),
    Elements(Vec<Part>),
}

/// The rows left at a node, each with its remaining tests.
type Left = Vec<(usize, Vec<(Part, *const Pat)>)>;

struct Builder<'a> {
    parts: Vec<Source>,
    /// The index of each source in `parts`.
    numbers: HashMap<Source, Part>,
    nodes: Vec<Node>,
    /// The nodes of the group, by the rows left.
    known: HashMap<Left, NodeAt>,
    binds: Vec<Vec<(LocalId, Part)>>,
    /// The components of a part that patterns test.
    tuples: HashMap<Part, Vec<Part>>,
    fields: HashMap<Part, Vec<(Rc<str>, Part)>>,
    constructors: Constructors<'a>,
    uses: Vec<usize>,
    missing: Option<String>,
    /// Number of nodes that the group may still have; negative if it has too many.
    left: isize,
    /// Whether to make the test first that most rows share.
    most_shared: bool,
}

/// Nodes of a group for each pattern in its rows.
const NODES_PER_PATTERN: usize = 16;

/// Nodes of the smallest group that is split.
const NODES: usize = 1024;

/// Limit on the rows of one pattern with alternatives inside of each other.
pub(crate) const ALTERNATIVES: usize = 4096;

/// Compiles the patterns of a match, each with whether its arm has a condition.
pub(crate) fn compile(patterns: &[(&Pat, bool)], constructors: Constructors) -> Tree {
    let mut alternatives = Vec::new();
    for (arm, (pattern, guarded)) in patterns.iter().enumerate() {
        alternatives.extend(expanded(pattern).into_iter().map(|one| (one, arm, *guarded)));
    }
    let mut builder = Builder {
        parts: vec![Source::Whole],
        numbers: HashMap::from([(Source::Whole, Part(0))]),
        nodes: Vec::new(),
        known: HashMap::new(),
        binds: vec![Vec::new(); alternatives.len()],
        tuples: HashMap::new(),
        fields: HashMap::new(),
        constructors,
        uses: vec![0; alternatives.len()],
        missing: None,
        left: 0,
        most_shared: false,
    };
    let rows = alternatives.iter().enumerate().map(|(row, (pattern, _, guarded))| Row {
        tests: vec![(Part(0), &**pattern)],
        binds: Vec::new(),
        row,
        guarded: *guarded,
    });
    let rows: Vec<Row> = rows.collect();
    let mut groups = Vec::new();
    builder.groups(&rows, &mut groups);
    builder.uses = builder.leaves(groups[0]);
    let undecided = groups.len() > 1 && builder.cover(&rows);
    let Builder { parts, nodes, binds, missing, uses: of_rows, .. } = builder;
    let mut uses = vec![0_usize; patterns.len()];
    for ((_, arm, _), of_row) in alternatives.iter().zip(of_rows) {
        uses[*arm] = uses[*arm].saturating_add(of_row);
    }
    let arms = alternatives.iter().map(|(_, arm, _)| *arm).collect();
    Tree { parts, nodes, root: groups[0], binds, arms, missing, undecided, uses }
}

/// Checks that a pattern matches every value; otherwise returns one that it does not match.
pub(crate) fn irrefutable(pattern: &Pat, constructors: Constructors) -> Result<(), String> {
    compile(&[(pattern, false)], constructors).missing.map_or(Ok(()), Err)
}

impl Builder<'_> {
    /// Number of leaves of each row.
    fn leaves(&self, root: NodeAt) -> Vec<usize> {
        let mut uses = vec![0; self.uses.len()];
        let mut times = vec![0_usize; self.nodes.len()];
        times[root.0] = 1;
        for node in in_order(&self.nodes, root) {
            let here = times[node.0];
            if let Node::Leaf(row) = self.nodes[node.0] {
                uses[row] += here;
            }
            for next in self.nodes[node.0].next() {
                times[next.0] = times[next.0].saturating_add(here);
            }
        }
        uses
    }

    /// Adds a group for all rows if its number of nodes is within the bound, otherwise groups for
    /// the two halves.
    fn groups(&mut self, rows: &[Row], groups: &mut Vec<NodeAt>) {
        let patterns: usize = rows.iter().map(|row| size(row.tests[0].1)).sum();
        let most = NODES + NODES_PER_PATTERN * patterns;
        let before = self.nodes.len();
        // The order of the patterns reads best; testing the part that most rows share first gives a
        // smaller tree.
        for (most_shared, most) in [(false, most), (true, 2 * most)] {
            self.most_shared = most_shared;
            // The tree of one row is linear in its pattern.
            self.left = if rows.len() > 1 { most as isize } else { isize::MAX };
            self.known.clear();
            let node = self.node(rows.to_vec(), &mut Vec::new());
            if self.left >= 0 {
                self.left_to(before, node);
                groups.push(node);
                return;
            }
            self.nodes.truncate(before);
            self.missing = None;
        }
        let (first, second) = rows.split_at(rows.len() / 2);
        self.groups(first, groups);
        self.groups(second, groups);
    }

    /// Sends values that the earlier groups do not match to this group.
    fn left_to(&mut self, before: usize, group: NodeAt) {
        for node in &mut self.nodes[..before] {
            if let Node::Fail = node {
                *node = Node::Next(group);
            }
        }
    }

    /// The next test of the first row.
    fn next_test<'p>(&self, rows: &[Row<'p>]) -> Option<(Part, &'p Pat)> {
        let tests = &rows.first()?.tests;
        if !self.most_shared {
            return tests.first().copied();
        }
        let shared = |part: Part| {
            rows.iter().filter(|row| row.tests.iter().any(|(p, _)| *p == part)).count()
        };
        tests.iter().rev().max_by_key(|(part, _)| shared(*part)).copied()
    }

    fn part(&mut self, source: Source) -> Part {
        let new = Part(self.parts.len());
        let part = *self.numbers.entry(source.clone()).or_insert(new);
        if part == new {
            self.parts.push(source);
        }
        part
    }

    /// Variables become bindings, tuples and records tests of their components.
    fn simplify<'p>(&mut self, row: &mut Row<'p>) {
        let mut k = 0;
        while k < row.tests.len() {
            let (part, pattern) = row.tests[k];
            let inner: Vec<(Part, &'p Pat)> = match &pattern.kind {
                PatKind::Wildcard => Vec::new(),
                PatKind::Var(local) => {
                    row.binds.push((*local, part));
                    Vec::new()
                }
                PatKind::Tuple(items) => {
                    let parts: Vec<Part> =
                        (0..items.len()).map(|i| self.part(Source::Component(part, i))).collect();
                    self.tuples.insert(part, parts.clone());
                    parts.into_iter().zip(items).collect()
                }
                PatKind::Record(fields) => {
                    fields.iter().map(|(name, item)| (self.field(part, name), item)).collect()
                }
                PatKind::Array { items, known: true } => {
                    self.elements(part, items.len()).into_iter().zip(items).collect()
                }
                PatKind::Number(_) | PatKind::Real(_) | PatKind::Bool(_) | PatKind::Con(..) => {
                    k += 1;
                    continue;
                }
                PatKind::Array { known: false, .. } => {
                    k += 1;
                    continue;
                }
                PatKind::Or(_) => unreachable!("each alternative is a row"),
            };
            row.tests.splice(k..=k, inner);
        }
    }

    fn elements(&mut self, of: Part, length: usize) -> Vec<Part> {
        (0..length).map(|k| self.part(Source::Element(of, k))).collect()
    }

    fn field(&mut self, of: Part, name: &Rc<str>) -> Part {
        let part = self.part(Source::Field(of, name.clone()));
        let known = self.fields.entry(of).or_default();
        if !known.iter().any(|(field, _)| field == name) {
            known.push((name.clone(), part));
        }
        part
    }

    fn node(&mut self, mut rows: Vec<Row>, known: &mut Vec<(Part, PartFact)>) -> NodeAt {
        rows.iter_mut().for_each(|row| self.simplify(row));
        // No row after one without tests and condition is reached.
        if let Some(k) = rows.iter().position(|row| row.tests.is_empty() && !row.guarded) {
            rows.truncate(k + 1);
        }
        let tests =
            |row: &Row| row.tests.iter().map(|(part, p)| (*part, std::ptr::from_ref(*p))).collect();
        let left: Left = rows.iter().map(|row| (row.row, tests(row))).collect();
        if let Some(node) = self.known.get(&left) {
            return *node;
        }
        self.left -= 1;
        let node = if self.left < 0 { Node::Fail } else { self.new_node(&rows, known) };
        self.nodes.push(node);
        let node = NodeAt(self.nodes.len() - 1);
        self.known.insert(left, node);
        node
    }

    fn new_node(&mut self, rows: &[Row], known: &mut Vec<(Part, PartFact)>) -> Node {
        let Some(first) = rows.first() else {
            if self.missing.is_none() {
                self.missing = Some(self.describe(Part(0), known, false));
            }
            return Node::Fail;
        };
        let Some((part, pattern)) = self.next_test(rows) else {
            self.binds[first.row].clone_from(&first.binds);
            if !first.guarded {
                return Node::Leaf(first.row);
            }
            self.nodes.push(Node::Leaf(first.row));
            let yes = NodeAt(self.nodes.len() - 1);
            let no = self.node(rows[1..].to_vec(), known);
            return Node::Guard { row: first.row, yes, no };
        };
        match &pattern.kind {
            PatKind::Con(variant, ..) => self.variant(part, *variant, rows, known),
            PatKind::Bool(_) => {
                let yes = self.case(part, rows, PartFact::Bool(true), known, |p| {
                    matches!(p.kind, PatKind::Bool(true))
                });
                let no = self.case(part, rows, PartFact::Bool(false), known, |p| {
                    matches!(p.kind, PatKind::Bool(false))
                });
                Node::Bool { on: part, yes, no }
            }
            PatKind::Number(_) | PatKind::Real(_) => self.literal(part, pattern, rows, known),
            PatKind::Array { items, .. } => self.length(part, items.len(), rows, known),
            PatKind::Wildcard | PatKind::Var(_) | PatKind::Tuple(_) | PatKind::Record(_) => {
                unreachable!("simplified")
            }
            PatKind::Or(_) => unreachable!("each alternative is a row"),
        }
    }

    fn length(
        &mut self,
        part: Part,
        length: usize,
        rows: &[Row],
        known: &mut Vec<(Part, PartFact)>,
    ) -> Node {
        let elements = self.elements(part, length);
        let equal = rows.iter().filter_map(|row| with_length(row, part, &elements)).collect();
        let other = rows.iter().filter(|row| differs(row, part, length)).cloned().collect();
        known.push((part, PartFact::Elements(elements)));
        let equal = self.node(equal, known);
        known.pop();
        let other = self.node(other, known);
        Node::Length { on: part, length, equal, other }
    }

    /// The remaining rows if `part` satisfies `matches`, without that test.
    fn case(
        &mut self,
        part: Part,
        rows: &[Row],
        fact: PartFact,
        known: &mut Vec<(Part, PartFact)>,
        matches: impl Fn(&Pat) -> bool,
    ) -> NodeAt {
        let remains =
            |row: &Row| row.tests.iter().all(|(p, pattern)| *p != part || matches(pattern));
        let kept = rows.iter().filter(|row| remains(row)).cloned().map(|mut row| {
            row.tests.retain(|(p, _)| *p != part);
            row
        });
        let kept: Vec<Row> = kept.collect();
        known.push((part, fact));
        let node = self.node(kept, known);
        known.pop();
        node
    }

    fn variant(
        &mut self,
        part: Part,
        variant: VariantId,
        rows: &[Row],
        known: &mut Vec<(Part, PartFact)>,
    ) -> Node {
        let mut cases = Vec::new();
        for (tag, (name, arity)) in (self.constructors)(variant).into_iter().enumerate() {
            let args: Vec<Part> =
                (0..arity).map(|k| self.part(Source::Argument(part, tag, k))).collect();
            let kept =
                rows.iter().filter_map(|row| with_constructor(row, part, tag, &args)).collect();
            known.push((part, PartFact::Con(name, args.clone())));
            let node = self.node(kept, known);
            known.pop();
            cases.push((args, node));
        }
        Node::Variant { on: part, cases }
    }

    fn literal(
        &mut self,
        part: Part,
        pattern: &Pat,
        rows: &[Row],
        known: &mut Vec<(Part, PartFact)>,
    ) -> Node {
        let value = literal(pattern).expect("a literal pattern");
        let mut equal = Vec::new();
        let mut other = Vec::new();
        for row in rows {
            let test = row
                .tests
                .iter()
                .find(|(p, _)| *p == part)
                .and_then(|(_, pattern)| literal(pattern));
            if test.is_none_or(|test| same(test, value)) {
                let mut row = row.clone();
                row.tests.retain(|(p, _)| *p != part);
                equal.push(row);
            }
            if test.is_none_or(|test| !same(test, value)) {
                other.push(row.clone());
            }
        }
        let equal = self.node(equal, known);
        let other = self.node(other, known);
        Node::Literal { on: part, value, equal, other }
    }

    /// A pattern for the facts known about a part.
    fn describe(&self, part: Part, known: &[(Part, PartFact)], atomic: bool) -> String {
        match known.iter().find(|(p, _)| *p == part) {
            Some((_, PartFact::Bool(value))) => return value.to_string(),
            Some((_, PartFact::Elements(parts))) => {
                let parts: Vec<String> =
                    parts.iter().map(|part| self.describe(*part, known, false)).collect();
                return format!("[{}]", parts.join(", "));
            }
            Some((_, PartFact::Con(name, args))) if args.is_empty() => return name.to_string(),
            Some((_, PartFact::Con(name, args))) => {
                let args: Vec<String> =
                    args.iter().map(|arg| self.describe(*arg, known, true)).collect();
                let text = format!("{name} {}", args.join(" "));
                return if atomic { format!("({text})") } else { text };
            }
            None => {}
        }
        let items = |parts: &mut dyn Iterator<Item = String>| parts.collect::<Vec<_>>();
        if let Some(parts) = self.tuples.get(&part) {
            let shown = items(&mut parts.iter().map(|p| self.describe(*p, known, false)));
            return if shown.iter().all(|s| s == "_") {
                "_".to_string()
            } else {
                format!("({})", shown.join(", "))
            };
        }
        if let Some(fields) = self.fields.get(&part) {
            // The value of a type with sizes stands beside them.
            if let [(label, value)] = &fields[..]
                && &**label == sized::VALUE
            {
                return self.describe(*value, known, atomic);
            }
            let shown = items(&mut fields.iter().map(|(_, p)| self.describe(*p, known, false)));
            if shown.iter().any(|s| s != "_") {
                let shown: Vec<String> = fields
                    .iter()
                    .zip(shown)
                    .map(|((name, _), s)| format!("{name} = {s}"))
                    .collect();
                return format!("{{{}}}", shown.join(", "));
            }
        }
        "_".to_string()
    }
}

/// The nodes reachable from a node, in topological order.
pub(crate) fn in_order(nodes: &[Node], root: NodeAt) -> Vec<NodeAt> {
    let (mut seen, mut found, mut open) =
        (vec![false; nodes.len()], Vec::new(), vec![(root, false)]);
    while let Some((node, done)) = open.pop() {
        if done {
            found.push(node);
        } else if !std::mem::replace(&mut seen[node.0], true) {
            open.push((node, true));
            open.extend(nodes[node.0].next().into_iter().rev().map(|next| (next, false)));
        }
    }
    found.reverse();
    found
}

fn with_constructor<'p>(row: &Row<'p>, part: Part, tag: usize, args: &[Part]) -> Option<Row<'p>> {
    let Some(k) = row.tests.iter().position(|(p, _)| *p == part) else { return Some(row.clone()) };
    let PatKind::Con(_, wanted, items) = &row.tests[k].1.kind else { return None };
    if *wanted != tag {
        return None;
    }
    let mut row = row.clone();
    row.tests.splice(k..=k, args.iter().copied().zip(items));
    Some(row)
}

/// The row if the array `part` has these elements.
fn with_length<'p>(row: &Row<'p>, part: Part, elements: &[Part]) -> Option<Row<'p>> {
    let Some(k) = row.tests.iter().position(|(p, _)| *p == part) else { return Some(row.clone()) };
    let PatKind::Array { items, .. } = &row.tests[k].1.kind else { return None };
    if items.len() != elements.len() {
        return None;
    }
    let mut row = row.clone();
    row.tests.splice(k..=k, elements.iter().copied().zip(items));
    Some(row)
}

/// Whether the row remains if the array `part` has another length.
fn differs(row: &Row, part: Part, length: usize) -> bool {
    let mut tests = row.tests.iter().filter(|(p, _)| *p == part);
    !tests.any(|(_, p)| matches!(&p.kind, PatKind::Array { items, .. } if items.len() == length))
}

/// Number of rows of a pattern: one for each choice of its alternatives.
pub(crate) fn alternatives(pattern: &Pat) -> usize {
    let product = |items: &mut dyn Iterator<Item = &Pat>| {
        items.fold(1_usize, |product, item| product.saturating_mul(alternatives(item)))
    };
    match &pattern.kind {
        PatKind::Wildcard
        | PatKind::Var(_)
        | PatKind::Number(_)
        | PatKind::Real(_)
        | PatKind::Bool(_) => 1,
        PatKind::Tuple(items) | PatKind::Con(_, _, items) | PatKind::Array { items, .. } => {
            product(&mut items.iter())
        }
        PatKind::Record(fields) => product(&mut fields.iter().map(|(_, item)| item)),
        PatKind::Or(items) => {
            items.iter().fold(0_usize, |sum, item| sum.saturating_add(alternatives(item)))
        }
    }
}

/// The pattern without alternatives, once for each choice of them.
fn expanded(pattern: &Pat) -> Vec<Cow<'_, Pat>> {
    if alternatives(pattern) == 1 {
        return vec![Cow::Borrowed(pattern)];
    }
    let all = |items: &[Pat]| -> Vec<Vec<Pat>> {
        items.iter().fold(vec![Vec::new()], |rows, item| {
            let choices = expanded(item);
            let with =
                |row: &Vec<Pat>, choice: &Pat| [&row[..], std::slice::from_ref(choice)].concat();
            rows.iter().flat_map(|row| choices.iter().map(move |one| with(row, one))).collect()
        })
    };
    let (ty, span) = (pattern.ty, pattern.span);
    let of = |kind: PatKind| Cow::Owned(Pat { kind, ty, span });
    match &pattern.kind {
        PatKind::Or(items) => items.iter().flat_map(expanded).collect(),
        PatKind::Tuple(items) => all(items).into_iter().map(PatKind::Tuple).map(of).collect(),
        PatKind::Con(variant, tag, items) => {
            let kinds = all(items).into_iter().map(|items| PatKind::Con(*variant, *tag, items));
            kinds.map(of).collect()
        }
        PatKind::Array { items, known } => {
            let kinds = all(items).into_iter().map(|items| PatKind::Array { items, known: *known });
            kinds.map(of).collect()
        }
        PatKind::Record(fields) => {
            let items: Vec<Pat> = fields.iter().map(|(_, item)| item.clone()).collect();
            let names = || fields.iter().map(|(name, _)| name.clone());
            let kinds =
                all(&items).into_iter().map(|items| PatKind::Record(names().zip(items).collect()));
            kinds.map(of).collect()
        }
        PatKind::Wildcard
        | PatKind::Var(_)
        | PatKind::Number(_)
        | PatKind::Real(_)
        | PatKind::Bool(_) => vec![Cow::Borrowed(pattern)],
    }
}

/// Number of patterns in a pattern, itself included.
fn size(pattern: &Pat) -> usize {
    let inner: usize = match &pattern.kind {
        PatKind::Wildcard
        | PatKind::Var(_)
        | PatKind::Number(_)
        | PatKind::Real(_)
        | PatKind::Bool(_) => 0,
        PatKind::Tuple(items)
        | PatKind::Con(_, _, items)
        | PatKind::Array { items, .. }
        | PatKind::Or(items) => items.iter().map(size).sum(),
        PatKind::Record(fields) => fields.iter().map(|(_, item)| size(item)).sum(),
    };
    inner + 1
}

fn literal(pattern: &Pat) -> Option<Literal> {
    match pattern.kind {
        PatKind::Number(value) => Some(Literal::Number(value)),
        PatKind::Real(value) => Some(Literal::Real(value)),
        PatKind::Wildcard
        | PatKind::Var(_)
        | PatKind::Bool(_)
        | PatKind::Tuple(_)
        | PatKind::Record(_)
        | PatKind::Con(..)
        | PatKind::Array { .. }
        | PatKind::Or(_) => None,
    }
}

/// Whether the literals are the same number, as `1` and `1.0` are.
fn same(a: Literal, b: Literal) -> bool {
    let real = |literal| match literal {
        Literal::Number(value) => value as f64,
        Literal::Real(value) => value,
    };
    match (a, b) {
        (Literal::Number(a), Literal::Number(b)) => a == b,
        _ => real(a) == real(b),
    }
}
