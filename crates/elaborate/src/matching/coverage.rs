//! Values that no row of a match covers, and rows that are never reached, without building a tree.
//!
//! The problem is hard in general, as satisfiability is. Three rules keep the search short: a row
//! without tests covers everything left; constructors that no row mentions are one case; cases with
//! the same rows left are examined once.

use std::collections::{HashMap, HashSet};

use super::{Builder, Part, PartFact, Row, differs, literal, same, with_constructor, with_length};
use crate::typed::{Pat, PatKind};

/// Limit on the cases examined in one match.
pub(crate) const MOST_CASES: usize = 50_000;

/// The rows left in a case, with the parts that they still test.
type Left = Vec<(usize, Vec<Part>)>;

/// A search through all cases.
#[derive(Default)]
struct Search {
    /// Rows known to cover everything.
    covered: HashSet<Left>,
    cases: usize,
}

impl Search {
    fn is_over(&self) -> bool {
        self.cases > MOST_CASES
    }
}

impl Builder<'_> {
    /// Sets `missing`, and clears the uses of arms that are never reached. Whether the search for a
    /// missing value was given up.
    pub(super) fn cover<'p>(&mut self, rows: &[Row<'p>]) -> bool {
        let mut search = Search::default();
        let covering = |rows: &[Row<'p>]| -> Vec<Row<'p>> {
            rows.iter().filter(|row| !row.guarded).cloned().collect()
        };
        self.missing = self.uncovered(covering(rows), &mut Vec::new(), &mut search);
        let undecided = self.missing.is_none() && search.is_over();
        search.cases = 0;
        for k in 0..rows.len() {
            let (before, row) = (covering(&rows[..k]), rows[k].clone());
            // After too long a search the arm counts as reached, which is no problem.
            if !self.is_reached(before, row, &mut search) {
                self.uses[rows[k].row] = 0;
            }
        }
        undecided
    }

    /// Whether the earlier rows leave a value that the row matches.
    fn is_reached(&mut self, mut before: Vec<Row>, mut row: Row, search: &mut Search) -> bool {
        loop {
            self.simplify(&mut row);
            before.iter_mut().for_each(|row| self.simplify(row));
            if before.iter().any(|row| row.tests.is_empty()) {
                return false;
            }
            let Some((part, pattern)) = row.tests.first().copied() else {
                let left = self.uncovered(before, &mut Vec::new(), search);
                return left.is_some() || search.is_over();
            };
            row.tests.remove(0);
            let wanted = literal(pattern);
            before = match &pattern.kind {
                PatKind::Con(variant, tag, items) => {
                    let arity = (self.constructors)(*variant)[*tag].1;
                    let args = self.arguments(part, *tag, arity);
                    row.tests.splice(0..0, args.iter().copied().zip(items));
                    let kept = before.iter().filter_map(|r| with_constructor(r, part, *tag, &args));
                    kept.collect()
                }
                PatKind::Bool(value) => kept(
                    &before,
                    part,
                    |pattern| matches!(pattern.kind, PatKind::Bool(other) if other == *value),
                ),
                PatKind::Number(_) | PatKind::Real(_) => kept(&before, part, |pattern| {
                    literal(pattern).zip(wanted).is_some_and(|(a, b)| same(a, b))
                }),
                PatKind::Array { items, .. } => {
                    let elements = self.elements(part, items.len());
                    row.tests.splice(0..0, elements.iter().copied().zip(items));
                    before.iter().filter_map(|r| with_length(r, part, &elements)).collect()
                }
                PatKind::Wildcard | PatKind::Var(_) | PatKind::Tuple(_) | PatKind::Record(_) => {
                    unreachable!("simplified")
                }
                PatKind::Or(_) => unreachable!("each alternative is a row"),
            };
        }
    }

    fn arguments(&mut self, part: Part, tag: usize, arity: usize) -> Vec<Part> {
        (0..arity).map(|k| self.part(super::Source::Argument(part, tag, k))).collect()
    }

    /// A value that no row covers, as a pattern.
    fn uncovered(
        &mut self,
        mut rows: Vec<Row>,
        known: &mut Vec<(Part, PartFact)>,
        search: &mut Search,
    ) -> Option<String> {
        rows.iter_mut().for_each(|row| self.simplify(row));
        if rows.iter().any(|row| row.tests.is_empty()) {
            return None;
        }
        let Some((part, pattern)) = most_asked(&rows) else {
            return Some(self.describe(Part(0), known, false));
        };
        search.cases += 1;
        let left: Left = rows.iter().map(left_of).collect();
        if search.is_over() || search.covered.contains(&left) {
            return None;
        }
        let found = match &pattern.kind {
            PatKind::Con(variant, ..) => {
                let mut others = false;
                let constructors = (self.constructors)(*variant);
                let mut cases = constructors.into_iter().enumerate();
                cases.find_map(|(tag, (name, arity))| {
                    let mentioned = rows.iter().any(|row| asks_for(row, part, tag));
                    if !mentioned && std::mem::replace(&mut others, true) {
                        return None;
                    }
                    let args = self.arguments(part, tag, arity);
                    let kept =
                        rows.iter().filter_map(|row| with_constructor(row, part, tag, &args));
                    let kept = kept.collect();
                    self.case_left(kept, (part, PartFact::Con(name, args)), known, search)
                })
            }
            PatKind::Bool(_) => [true, false].into_iter().find_map(|value| {
                let kept = kept(
                    &rows,
                    part,
                    |pattern| matches!(pattern.kind, PatKind::Bool(other) if other == value),
                );
                self.case_left(kept, (part, PartFact::Bool(value)), known, search)
            }),
            PatKind::Number(_) | PatKind::Real(_) => {
                let value = literal(pattern).expect("a literal pattern");
                let equal = kept(&rows, part, |pattern| {
                    literal(pattern).is_some_and(|other| same(other, value))
                });
                let differs = |row: &Row| {
                    let test = row.tests.iter().find(|(p, _)| *p == part);
                    let test = test.and_then(|(_, pattern)| literal(pattern));
                    test.is_none_or(|test| !same(test, value))
                };
                let other: Vec<Row> = rows.iter().filter(|row| differs(row)).cloned().collect();
                let first = self.uncovered(equal, known, search);
                first.or_else(|| self.uncovered(other, known, search))
            }
            PatKind::Array { items, .. } => {
                let elements = self.elements(part, items.len());
                let equal = rows.iter().filter_map(|r| with_length(r, part, &elements)).collect();
                let other = rows.iter().filter(|row| differs(row, part, items.len()));
                let other: Vec<Row> = other.cloned().collect();
                let fact = (part, PartFact::Elements(elements));
                let first = self.case_left(equal, fact, known, search);
                first.or_else(|| self.uncovered(other, known, search))
            }
            PatKind::Wildcard | PatKind::Var(_) | PatKind::Tuple(_) | PatKind::Record(_) => {
                unreachable!("simplified")
            }
            PatKind::Or(_) => unreachable!("each alternative is a row"),
        };
        if found.is_none() && !search.is_over() {
            search.covered.insert(left);
        }
        found
    }

    fn case_left(
        &mut self,
        rows: Vec<Row>,
        fact: (Part, PartFact),
        known: &mut Vec<(Part, PartFact)>,
        search: &mut Search,
    ) -> Option<String> {
        known.push(fact);
        let found = self.uncovered(rows, known, search);
        known.pop();
        found
    }
}

fn left_of(row: &Row) -> (usize, Vec<Part>) {
    let mut parts: Vec<Part> = row.tests.iter().map(|(part, _)| *part).collect();
    parts.sort_unstable();
    (row.row, parts)
}

/// The part that most rows test, with the first pattern for it.
fn most_asked<'p>(rows: &[Row<'p>]) -> Option<(Part, &'p Pat)> {
    let mut counts: HashMap<Part, usize> = HashMap::new();
    for (part, _) in rows.iter().flat_map(|row| &row.tests) {
        *counts.entry(*part).or_default() += 1;
    }
    let mut tests = rows.iter().flat_map(|row| row.tests.iter().copied());
    let (best, _) =
        counts.into_iter().max_by_key(|(part, count)| (*count, std::cmp::Reverse(*part)))?;
    tests.find(|(part, _)| *part == best)
}

/// Whether the row tests a part for this constructor.
fn asks_for(row: &Row, part: Part, tag: usize) -> bool {
    let mut tests = row.tests.iter().filter(|(p, _)| *p == part);
    tests.any(|(_, pattern)| matches!(pattern.kind, PatKind::Con(_, wanted, _) if wanted == tag))
}

/// The remaining rows if `part` satisfies `matches`, without that test.
fn kept<'p>(rows: &[Row<'p>], part: Part, matches: impl Fn(&Pat) -> bool) -> Vec<Row<'p>> {
    let remains =
        |row: &&Row<'p>| row.tests.iter().all(|(p, pattern)| *p != part || matches(pattern));
    let without = |row: &Row<'p>| {
        let mut row = row.clone();
        row.tests.retain(|(p, _)| *p != part);
        row
    };
    rows.iter().filter(remains).map(without).collect()
}
