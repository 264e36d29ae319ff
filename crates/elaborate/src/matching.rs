//! Matches as decision trees: each part of the value is looked at once at most. A tree also tells what is not covered, and which arms
//! never come to pass.
//!
//! After J. Jacobs, "How to compile pattern matching": the first row that still asks for something says what to look at next.
//!
//! A tree may be exponential in the patterns. So the rows are split into *groups*, each with a tree of a bounded size; what a group
//! does not match is left to the next one. Then `coverage` finds out what no row covers.

mod coverage;

pub(crate) use coverage::MOST_CASES;

use std::collections::HashMap;
use std::rc::Rc;

use lambada_core::sized;

use crate::solve::ty::VariantId;
use crate::typed::{LocalId, Pat, PatKind};

/// A part of the value that is matched; an index into [`Tree::parts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Part(pub usize);

/// Where a part comes from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Source {
    Whole,
    /// A component of a tuple.
    Component(Part, usize),
    /// A field of a record.
    Field(Part, Rc<str>),
    /// An argument of a constructor.
    Argument(Part, usize, usize),
}

/// Decision trees.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub parts: Vec<Source>,
    /// What one group of arms does not match is left to the next.
    pub groups: Vec<Node>,
    /// A value that no arm covers, as a pattern.
    pub missing: Option<String>,
    /// Whether it took too long to find out what is missing.
    pub undecided: bool,
    /// How many leaves each arm has.
    pub uses: Vec<usize>,
}

/// A literal of a pattern.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Literal {
    Number(i64),
    Real(f64),
}

/// What to do next.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// No arm is left.
    Fail,
    /// This arm, with its variables.
    Leaf {
        arm: usize,
        binds: Vec<(LocalId, Part)>,
    },
    /// One case per constructor, with the parts that are its arguments.
    Variant {
        on: Part,
        cases: Vec<(Vec<Part>, Node)>,
    },
    Bool {
        on: Part,
        yes: Box<Node>,
        no: Box<Node>,
    },
    Literal {
        on: Part,
        value: Literal,
        equal: Box<Node>,
        other: Box<Node>,
    },
}

/// What the compiler must know of variants: the names and arities of the constructors.
pub(crate) type Constructors<'a> = &'a dyn Fn(VariantId) -> Vec<(Rc<str>, usize)>;

#[derive(Clone)]
struct Row<'p> {
    tests: Vec<(Part, &'p Pat)>,
    binds: Vec<(LocalId, Part)>,
    arm: usize,
}

/// What has been found out about a part on the way to a node.
#[derive(Clone)]
enum Known {
    Con(Rc<str>, Vec<Part>),
    Bool(bool),
}

struct Builder<'a> {
    parts: Vec<Source>,
    /// The components that patterns ask of a part.
    tuples: HashMap<Part, Vec<Part>>,
    fields: HashMap<Part, Vec<(Rc<str>, Part)>>,
    constructors: Constructors<'a>,
    uses: Vec<usize>,
    missing: Option<String>,
    /// Nodes that the tree of the group may still have; negative if it has too many.
    left: isize,
    /// Whether the test that most rows share is made first.
    most_shared: bool,
}

/// Nodes of a tree for each pattern in its rows.
const NODES_PER_PATTERN: usize = 16;

/// Nodes of the smallest tree that is split.
const NODES: usize = 1024;

/// Compiles the patterns of a match.
pub(crate) fn compile(patterns: &[&Pat], constructors: Constructors) -> Tree {
    let mut builder = Builder {
        parts: vec![Source::Whole],
        tuples: HashMap::new(),
        fields: HashMap::new(),
        constructors,
        uses: vec![0; patterns.len()],
        missing: None,
        left: 0,
        most_shared: false,
    };
    let rows = patterns.iter().enumerate().map(|(arm, pattern)| Row {
        tests: vec![(Part(0), *pattern)],
        binds: Vec::new(),
        arm,
    });
    let rows: Vec<Row> = rows.collect();
    let mut groups = Vec::new();
    builder.groups(&rows, &mut groups);
    let mut undecided = false;
    if groups.len() > 1 {
        undecided = builder.cover(&rows);
    }
    let Builder { parts, missing, uses, .. } = builder;
    Tree { parts, groups, missing, undecided, uses }
}

/// Does the pattern match everything?
pub(crate) fn irrefutable(pattern: &Pat, constructors: Constructors) -> Result<(), String> {
    compile(&[pattern], constructors).missing.map_or(Ok(()), Err)
}

impl Builder<'_> {
    /// Trees of bounded size: of all rows if that is enough, else of the halves.
    fn groups(&mut self, rows: &[Row], groups: &mut Vec<Node>) {
        let patterns: usize = rows.iter().map(|row| size(row.tests[0].1)).sum();
        let (uses, most) = (self.uses.clone(), NODES + NODES_PER_PATTERN * patterns);
        // The order of the patterns reads best; that of the tests that most rows share is smaller.
        for (most_shared, most) in [(false, most), (true, 2 * most)] {
            self.most_shared = most_shared;
            // The tree of one row is linear in its pattern.
            self.left = if rows.len() > 1 { most as isize } else { isize::MAX };
            let node = self.node(rows.to_vec(), &mut Vec::new());
            if self.left >= 0 {
                return groups.push(node);
            }
            (self.uses, self.missing) = (uses.clone(), None);
        }
        let (first, second) = rows.split_at(rows.len() / 2);
        self.groups(first, groups);
        self.groups(second, groups);
    }

    /// The test of the first row to make next.
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
        if let Some(k) = self.parts.iter().position(|known| *known == source) {
            return Part(k);
        }
        self.parts.push(source);
        Part(self.parts.len() - 1)
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
                PatKind::Number(_) | PatKind::Real(_) | PatKind::Bool(_) | PatKind::Con(..) => {
                    k += 1;
                    continue;
                }
            };
            row.tests.splice(k..=k, inner);
        }
    }

    fn field(&mut self, of: Part, name: &Rc<str>) -> Part {
        let part = self.part(Source::Field(of, name.clone()));
        let known = self.fields.entry(of).or_default();
        if !known.iter().any(|(field, _)| field == name) {
            known.push((name.clone(), part));
        }
        part
    }

    fn node(&mut self, mut rows: Vec<Row>, known: &mut Vec<(Part, Known)>) -> Node {
        self.left -= 1;
        if self.left < 0 {
            return Node::Fail;
        }
        rows.iter_mut().for_each(|row| self.simplify(row));
        let Some(first) = rows.first() else {
            if self.missing.is_none() {
                self.missing = Some(self.describe(Part(0), known, false));
            }
            return Node::Fail;
        };
        let Some((part, pattern)) = self.next_test(&rows) else {
            self.uses[first.arm] += 1;
            return Node::Leaf { arm: first.arm, binds: first.binds.clone() };
        };
        match &pattern.kind {
            PatKind::Con(variant, ..) => self.variant(part, *variant, &rows, known),
            PatKind::Bool(_) => {
                let yes = self.case(part, &rows, Known::Bool(true), known, |p| {
                    matches!(p.kind, PatKind::Bool(true))
                });
                let no = self.case(part, &rows, Known::Bool(false), known, |p| {
                    matches!(p.kind, PatKind::Bool(false))
                });
                Node::Bool { on: part, yes: Box::new(yes), no: Box::new(no) }
            }
            PatKind::Number(_) | PatKind::Real(_) => self.literal(part, pattern, &rows, known),
            PatKind::Wildcard | PatKind::Var(_) | PatKind::Tuple(_) | PatKind::Record(_) => {
                unreachable!("simplified")
            }
        }
    }

    /// The rows that remain if `part` is what `matches` says, with that test gone.
    fn case(
        &mut self,
        part: Part,
        rows: &[Row],
        fact: Known,
        known: &mut Vec<(Part, Known)>,
        matches: impl Fn(&Pat) -> bool,
    ) -> Node {
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
        known: &mut Vec<(Part, Known)>,
    ) -> Node {
        let mut cases = Vec::new();
        for (tag, (name, arity)) in (self.constructors)(variant).into_iter().enumerate() {
            let args: Vec<Part> =
                (0..arity).map(|k| self.part(Source::Argument(part, tag, k))).collect();
            let kept =
                rows.iter().filter_map(|row| with_constructor(row, part, tag, &args)).collect();
            known.push((part, Known::Con(name, args.clone())));
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
        known: &mut Vec<(Part, Known)>,
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
        let equal = Box::new(self.node(equal, known));
        let other = Box::new(self.node(other, known));
        Node::Literal { on: part, value, equal, other }
    }

    /// A pattern for what is known of a part.
    fn describe(&self, part: Part, known: &[(Part, Known)], atomic: bool) -> String {
        match known.iter().find(|(p, _)| *p == part) {
            Some((_, Known::Bool(value))) => return value.to_string(),
            Some((_, Known::Con(name, args))) if args.is_empty() => return name.to_string(),
            Some((_, Known::Con(name, args))) => {
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
            // The value of a type with sizes, beside these.
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

/// How many patterns are in a pattern, itself included.
fn size(pattern: &Pat) -> usize {
    let inner: usize = match &pattern.kind {
        PatKind::Wildcard
        | PatKind::Var(_)
        | PatKind::Number(_)
        | PatKind::Real(_)
        | PatKind::Bool(_) => 0,
        PatKind::Tuple(items) | PatKind::Con(_, _, items) => items.iter().map(size).sum(),
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
        | PatKind::Con(..) => None,
    }
}

/// The same number, `1` and `1.0` included.
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
