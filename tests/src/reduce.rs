//! Smaller programs that are as bad: delta debugging over the syntax tree and the arguments.
//!
//! A step leaves out an item, a parameter with its argument, or an element of a list; or an
//! expression gives way to one of those inside it or to something short; or an argument loses the
//! last element along one of its sizes, or has a simpler number. A step counts if the smaller
//! program is as bad, which the caller decides, so steps that give no program do not count. They
//! are tried until none counts, or the time is over.

use std::time::Instant;

use lambada_surface::ast::{Def, Expr, ExprKind, Item, Module};
use lambada_surface::visit::{children, children_mut};
use lambada_surface::{parse, print_module};
use serde_json::{Value, json};

/// A program whose definition `f` is run on arguments in JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The text.
    pub text: String,
    /// One JSON text per parameter.
    pub args: Vec<String>,
}

/// A program that is as bad and from which no step leads to another such program, if there is time
/// to find it.
pub fn reduce(program: &Program, until: Instant, bad: &mut dyn FnMut(&Program) -> bool) -> Program {
    let Some(tree) = tree(&program.text) else { return program.clone() };
    let mut best = Best { tree, args: program.args.clone(), until, bad };
    loop {
        let steps = [Best::items, Best::expressions, Best::parameters, Best::sizes, Best::numbers];
        // Every step is taken each time.
        let smaller = steps.map(|step| step(&mut best));
        if !smaller.contains(&true) {
            return best.program();
        }
    }
}

fn tree(text: &str) -> Option<Module> {
    let (module, problems) = parse(text, lambada_source::FileId(0));
    problems.is_empty().then_some(Module { written: None, ..module })
}

struct Best<'a> {
    tree: Module,
    args: Vec<String>,
    until: Instant,
    bad: &'a mut dyn FnMut(&Program) -> bool,
}

impl Best<'_> {
    fn program(&self) -> Program {
        Program { text: print_module(&self.tree), args: self.args.clone() }
    }

    /// Goes on with this tree and these arguments if they are as bad.
    fn take(&mut self, tree: Module, args: Vec<String>) -> bool {
        if Instant::now() >= self.until {
            return false;
        }
        let accepted = (self.bad)(&Program { text: print_module(&tree), args: args.clone() });
        if accepted {
            (self.tree, self.args) = (tree, args);
        }
        accepted
    }

    /// Leaves out definitions, types and imports, the last first.
    fn items(&mut self) -> bool {
        let mut smaller = false;
        for k in (0..self.tree.items.len()).rev() {
            let mut tree = self.tree.clone();
            tree.items.remove(k);
            smaller |= self.take(tree, self.args.clone());
        }
        smaller
    }

    /// Replaces expressions, the outermost first.
    fn expressions(&mut self) -> bool {
        let (mut smaller, mut k) = (false, 0);
        while let Some(expr) = nth(&self.tree, k) {
            let accepted = replacements(&expr)
                .into_iter()
                .any(|with| self.take(replaced(&self.tree, k, &with), self.args.clone()));
            smaller |= accepted;
            // The replacement may give way, too.
            k += usize::from(!accepted);
        }
        smaller
    }

    /// Leaves out parameters of `f` with their arguments, and size variables.
    fn parameters(&mut self) -> bool {
        let mut smaller = false;
        let less = |tree: &Module, change: &dyn Fn(&mut Def) -> bool| {
            let mut tree = tree.clone();
            let mut defs = tree.items.iter_mut().filter_map(|item| match item {
                Item::Def(def) => Some(def),
                Item::Type(_) | Item::Import(_) => None,
            });
            let changed = defs.find(|def| &*def.name.text == "f").is_some_and(change);
            changed.then_some(tree)
        };
        for k in (0..self.args.len()).rev() {
            let count = self.args.len();
            let without = less(&self.tree, &|f| {
                f.params.len() == count && {
                    f.params.remove(k);
                    true
                }
            });
            if let Some(tree) = without {
                let args = [&self.args[..k], &self.args[k + 1..]].concat();
                smaller |= self.take(tree, args);
            }
        }
        while let Some(tree) = less(&self.tree, &|f| f.sizes.pop().is_some()) {
            if !self.take(tree, self.args.clone()) {
                break;
            }
            smaller = true;
        }
        smaller
    }

    /// Takes the last element away from all arrays of one length, for each length.
    fn sizes(&mut self) -> bool {
        let mut smaller = false;
        loop {
            let values = self.values();
            let mut lengths = Vec::new();
            values.iter().for_each(|value| collect_lengths(value, &mut lengths));
            lengths.sort_unstable();
            lengths.dedup();
            let accepted = lengths.into_iter().rev().any(|length| {
                let args = values.iter().map(|value| shorter(value, length).to_string()).collect();
                self.take(self.tree.clone(), args)
            });
            if !accepted {
                return smaller;
            }
            smaller = true;
        }
    }

    /// Makes the numbers in the arguments simpler.
    fn numbers(&mut self) -> bool {
        let mut smaller = false;
        let mut place = 0;
        loop {
            let values = self.values();
            let mut leaves = Vec::new();
            values.iter().for_each(|value| collect_leaves(value, &mut leaves));
            let Some(leaf) = leaves.get(place) else { return smaller };
            smaller |= simpler(leaf).into_iter().any(|with| {
                let mut next = 0;
                let args = values.iter().map(|v| leaf_replaced(v, &mut next, place, &with));
                let args = args.map(|value| value.to_string()).collect();
                self.take(self.tree.clone(), args)
            });
            place += 1;
        }
    }

    fn values(&self) -> Vec<Value> {
        let parse = |arg: &String| serde_json::from_str(arg).unwrap_or(Value::Null);
        self.args.iter().map(parse).collect()
    }
}

/// The expression at a place, counted from the outside in the order of the text.
fn nth(tree: &Module, k: usize) -> Option<Expr> {
    fn visit(expr: &Expr, left: &mut usize, found: &mut Option<Expr>) {
        if found.is_some() {
            return;
        }
        if *left == 0 {
            *found = Some(expr.clone());
            return;
        }
        *left -= 1;
        children(expr, &mut |child| visit(child, left, found));
    }
    let (mut left, mut found) = (k, None);
    bodies(tree).for_each(|body| visit(body, &mut left, &mut found));
    found
}

fn bodies(tree: &Module) -> impl Iterator<Item = &Expr> {
    tree.items.iter().filter_map(|item| match item {
        Item::Def(def) => Some(&def.body),
        Item::Type(_) | Item::Import(_) => None,
    })
}

/// The tree with another expression at a place.
fn replaced(tree: &Module, k: usize, with: &Expr) -> Module {
    fn visit(expr: &mut Expr, left: &mut Option<usize>, with: &Expr) {
        match left {
            None => {}
            Some(0) => {
                *expr = with.clone();
                *left = None;
            }
            Some(k) => {
                *k -= 1;
                children_mut(expr, &mut |child| visit(child, left, with));
            }
        }
    }
    let (mut tree, mut left) = (tree.clone(), Some(k));
    for item in &mut tree.items {
        match item {
            Item::Def(def) => visit(&mut def.body, &mut left, with),
            Item::Type(_) | Item::Import(_) => {}
        }
    }
    tree
}

/// Replacements of a term, if the types agree.
const SHORT: [&str; 9] = ["0.0", "0", "1.5", "x", "xs", "m", "is", "true", "Dot"];

/// The greatest number of inner expressions that are tried in place of an expression.
const INSIDE: usize = 24;

/// Replacements of an expression: something short; the expressions inside it, the nearest first;
/// itself without an element or a clause.
fn replacements(expr: &Expr) -> Vec<Expr> {
    let size = size(expr);
    if size == 1 && matches!(expr.kind, ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Con(_)) {
        return Vec::new();
    }
    let short =
        SHORT.iter().map(|text| lambada_surface::parse_expr(text, lambada_source::FileId(0)).0);
    // A name or a number gives way only to earlier ones in `SHORT`, so that this ends.
    let rank = |e: &Expr| SHORT.iter().position(|text| *text == lambada_surface::print_expr(e));
    let here = rank(expr).filter(|_| size == 1).unwrap_or(SHORT.len());
    let mut found: Vec<Expr> = short.take(here).collect();
    let mut ring = vec![expr.clone()];
    let mut inside = Vec::new();
    while inside.len() < INSIDE && !ring.is_empty() {
        let mut next = Vec::new();
        ring.iter().for_each(|e| children(e, &mut |child| next.push(child.clone())));
        inside.extend(next.iter().cloned());
        ring = next;
    }
    found.extend(inside.into_iter().take(INSIDE));
    found.extend(without_a_part(expr));
    found
}

/// Itself with one element, clause, index or accumulator less.
fn without_a_part(expr: &Expr) -> Vec<Expr> {
    let with = |kind: ExprKind| Expr { kind, span: expr.span };
    let fewer = |k: usize, all: &[Expr]| [&all[..k], &all[k + 1..]].concat();
    match &expr.kind {
        ExprKind::Array(items) if items.len() > 1 => {
            (0..items.len()).map(|k| with(ExprKind::Array(fewer(k, items)))).collect()
        }
        ExprKind::For(clauses, body) if clauses.len() > 1 => {
            let less = |k: usize| [&clauses[..k], &clauses[k + 1..]].concat();
            (0..clauses.len()).map(|k| with(ExprKind::For(less(k), body.clone()))).collect()
        }
        ExprKind::Index(array, places) if places.len() > 1 => {
            let last = places.len() - 1;
            vec![with(ExprKind::Index(array.clone(), fewer(last, places)))]
        }
        ExprKind::Accumulate(all, body) if all.len() > 1 => {
            let less = |k: usize| [&all[..k], &all[k + 1..]].concat();
            (0..all.len()).map(|k| with(ExprKind::Accumulate(less(k), body.clone()))).collect()
        }
        _ => Vec::new(),
    }
}

fn size(expr: &Expr) -> usize {
    let mut sum = 1;
    children(expr, &mut |child| sum += size(child));
    sum
}

fn collect_lengths(value: &Value, lengths: &mut Vec<usize>) {
    if let Value::Array(items) = value {
        lengths.extend((!items.is_empty()).then_some(items.len()));
        items.iter().for_each(|item| collect_lengths(item, lengths));
    }
}

fn shorter(value: &Value, length: usize) -> Value {
    let Value::Array(items) = value else { return value.clone() };
    let kept = items.len() - usize::from(items.len() == length);
    items[..kept].iter().map(|item| shorter(item, length)).collect()
}

fn collect_leaves(value: &Value, leaves: &mut Vec<Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_leaves(item, leaves)),
        Value::Object(members) => members.values().for_each(|item| collect_leaves(item, leaves)),
        leaf => leaves.push(leaf.clone()),
    }
}

fn leaf_replaced(value: &Value, next: &mut usize, place: usize, with: &Value) -> Value {
    match value {
        Value::Array(items) => {
            items.iter().map(|item| leaf_replaced(item, next, place, with)).collect()
        }
        Value::Object(members) => {
            let one = |(name, item): (&String, &Value)| {
                (name.clone(), leaf_replaced(item, next, place, with))
            };
            Value::Object(members.iter().map(one).collect())
        }
        leaf => {
            *next += 1;
            if *next == place + 1 { with.clone() } else { leaf.clone() }
        }
    }
}

/// Simpler numbers of the same type, the simplest first; none for the simplest.
fn simpler(leaf: &Value) -> Vec<Value> {
    let before = |all: Vec<Value>| all.into_iter().take_while(|simple| simple != leaf).collect();
    match leaf {
        Value::Number(number) if number.is_f64() => {
            let rounded = number.as_f64().map_or(0.0, |x| (x * 10.0).round() / 10.0);
            before(vec![json!(0.0), json!(1.0), json!(0.5), json!(2.0), json!(rounded)])
        }
        Value::Number(_) => before(vec![json!(0), json!(1), json!(2)]),
        Value::String(_) => before(vec![json!(0.0), json!(1.0), json!("inf")]),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Reduces a program as long as the predicate holds.
    fn smallest(text: &str, args: &[&str], bad: fn(&Program) -> bool) -> Program {
        let args = args.iter().map(|arg| (*arg).to_string()).collect();
        let until = Instant::now() + Duration::from_secs(60);
        reduce(&Program { text: text.into(), args }, until, &mut |p| bad(p))
    }

    const TEXT: &str = "type shape = Dot | Circle real\n\ndef g y = y * y\n\n\
        def f (x : real) (xs : [3]real) (m : [2][3]real) =\n  \
        let a = sum (for i < 3 => sin (xs[i] * g x)) in (if a < 0.5 then [a, m[1, 2], tanh a] else for r in m => sum r)";

    #[test]
    fn what_matters_is_left() {
        let args = ["0.123", "[1.25, 2.5, 3.5]", "[[1.5, 2.5, 3.5], [4.5, 5.5, 6.25]]"];
        let small = smallest(TEXT, &args, |p| p.text.contains("sin") && p.text.contains("def f"));
        assert_eq!(small.text, "def f = sin\n");
        assert_eq!(small.args, [""; 0]);
        let small = smallest(TEXT, &args, |p| p.text.contains("m[1, 2]") && p.args.len() == 3);
        assert_eq!(
            small.text.lines().last(),
            Some("def f (x : real) (xs : [3]real) (m : [2][3]real) = m[1, 2]")
        );
        assert_eq!(small.args, ["0.0", "[]", "[]"]);
    }

    #[test]
    fn numbers_become_simple_and_lengths_stay_equal() {
        let both = |p: &Program| {
            let read = |k: usize| serde_json::from_str::<Vec<f64>>(&p.args[k]).unwrap_or_default();
            p.args.len() == 2 && read(0).len() == read(1).len() && read(0).iter().sum::<f64>() > 2.5
        };
        let text = "def f [n] (xs : [n]real) (ys : [n]real) = sum xs + sum ys";
        let small = smallest(text, &["[1.234, 0.5, 7.25]", "[1.5, 2.5, 3.5]"], both);
        assert_eq!(small.args, ["[0.0,0.0,7.3]", "[0.0,0.0,0.0]"]);
    }

    #[test]
    fn what_is_no_program_stays() {
        let text = "def f = (";
        assert_eq!(smallest(text, &[], |_| true).text, text);
    }
}
