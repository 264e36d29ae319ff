//! Lines that bind unused variables are not printed. They are known only once the text is complete:
//! checks mention variables that the text does not, and so do results of which only the size
//! matters.
//!
//! Assumes: names are tokens, so each is bound once. Keeps: additions to accumulators outside of a
//! line, and its output.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_surface::ast::{Def, Expr, ExprKind, Item, Param, Pattern, PatternKind};
use lambada_surface::build;
use lambada_surface::visit::{Visit, children_mut, walk_expr};

use crate::names::is_token;

/// Drops the lines of a definition that bind unused variables. `shows`: functions that print when
/// called.
pub(crate) fn drop_unused(def: &mut Def, shows: &HashSet<Rc<str>>) {
    let mut mentions = Mentions::default();
    mentions.def(def);
    let Mentions { counts, local } = mentions;
    let mut sweep = Sweep { counts, local, shows };
    sweep.expr(&mut def.body);
}

/// Drops the definitions that the last one does not need, because all calls of them were dropped.
pub(crate) fn drop_uncalled(items: &mut Vec<Item>) {
    let mentions = |item: &Item| {
        let mut mentions = Mentions::default();
        if let Item::Def(def) = item {
            mentions.def(def);
        }
        mentions.counts
    };
    let mut open: Vec<Rc<str>> =
        items.last().map_or_else(Vec::new, |last| mentions(last).into_keys().collect());
    let mut needed: HashSet<Rc<str>> = HashSet::new();
    let named =
        |item: &Item, name: &Rc<str>| matches!(item, Item::Def(def) if def.name.text == *name);
    while let Some(name) = open.pop() {
        if let Some(item) = items.iter().find(|item| named(item, &name))
            && needed.insert(name)
        {
            open.extend(mentions(item).into_keys());
        }
    }
    let last = items.len().saturating_sub(1);
    let mut k = 0..;
    items.retain(|item| {
        let is_last = k.next() == Some(last);
        let Item::Def(def) = item else { return true };
        is_last || needed.contains(&def.name.text)
    });
}

/// Number of mentions of each name, and the local functions.
#[derive(Default)]
struct Mentions {
    counts: HashMap<Rc<str>, usize>,
    local: HashSet<Rc<str>>,
}

impl Visit for Mentions {
    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Var(name) = &expr.kind {
            *self.counts.entry(name.clone()).or_default() += 1;
        } else if let ExprKind::Add(name, ..) = &expr.kind {
            *self.counts.entry(name.text.clone()).or_default() += 1;
        } else if let ExprKind::LetFunctions(defs, _) = &expr.kind {
            self.local.extend(defs.iter().map(|def| def.name.text.clone()));
        }
        walk_expr(self, expr);
    }
}

/// A line before the rest of a block.
enum Line {
    Let(Param, Box<Expr>),
    Functions(Vec<Def>),
    Comment(Rc<str>),
    Sequence(Box<Expr>),
}

struct Sweep<'s> {
    counts: HashMap<Rc<str>, usize>,
    local: HashSet<Rc<str>>,
    shows: &'s HashSet<Rc<str>>,
}

impl Sweep<'_> {
    /// Works from the last line to the first, so that variables mentioned only by a dropped line
    /// are dropped, too. Iterates, because a long text is no deep one.
    fn expr(&mut self, e: &mut Expr) {
        let mut lines = Vec::new();
        let mut rest = std::mem::replace(e, build::tuple(Vec::new()));
        loop {
            rest = match build::kind(rest) {
                ExprKind::Let(param, value, next) => {
                    lines.push(Line::Let(param, value));
                    *next
                }
                ExprKind::LetFunctions(defs, next) => {
                    lines.push(Line::Functions(defs));
                    *next
                }
                ExprKind::Commented(text, next) => {
                    lines.push(Line::Comment(text));
                    *next
                }
                ExprKind::Sequence(first, next) => {
                    lines.push(Line::Sequence(first));
                    *next
                }
                kind => {
                    rest = build::expr(kind);
                    break;
                }
            };
        }
        children_mut(&mut rest, &mut |child| self.expr(child));
        *e = lines.into_iter().rev().fold(rest, |rest, line| self.line(line, rest));
    }

    fn line(&mut self, line: Line, rest: Expr) -> Expr {
        let kind = match line {
            Line::Let(mut param, mut value) => {
                // A reading of fields uses the same names in its own arms, too.
                let mut own = Mentions::default();
                own.expr(&value);
                let unused = self.forget(&mut param.pattern, &own.counts);
                if unused && !self.has_effect(&value) {
                    self.gone(&value);
                    return rest;
                }
                self.expr(&mut value);
                if param.pattern.kind == PatternKind::Wildcard && is_idle(&value) {
                    self.gone(&value);
                    return rest;
                }
                ExprKind::Let(param, value, Box::new(rest))
            }
            Line::Functions(mut defs) => {
                defs.iter_mut().for_each(|def| self.expr(&mut def.body));
                ExprKind::LetFunctions(defs, Box::new(rest))
            }
            Line::Comment(text) => ExprKind::Commented(text, Box::new(rest)),
            Line::Sequence(mut first) => {
                self.expr(&mut first);
                ExprKind::Sequence(first, Box::new(rest))
            }
        };
        build::expr(kind)
    }

    /// Removes unused names from a pattern. Whether no name is left of some.
    fn forget(&self, pattern: &mut Pattern, own: &HashMap<Rc<str>, usize>) -> bool {
        if let PatternKind::Var(name) = &pattern.kind {
            let unused = is_token(name) && !self.is_mentioned(name, own);
            if unused {
                *pattern = build::binds("_");
            }
            return unused;
        }
        let PatternKind::Tuple(parts) = &mut pattern.kind else { return false };
        let unused: Vec<bool> = parts.iter_mut().map(|part| self.forget(part, own)).collect();
        let nothing = parts.iter().all(|part| part.kind == PatternKind::Wildcard);
        if nothing && !parts.is_empty() {
            *pattern = build::binds("_");
        }
        nothing && unused.contains(&true)
    }

    /// Whether the name is mentioned outside of its own value.
    fn is_mentioned(&self, name: &Rc<str>, own: &HashMap<Rc<str>, usize>) -> bool {
        let count = |counts: &HashMap<Rc<str>, usize>| counts.get(name).copied().unwrap_or(0);
        count(&self.counts) > count(own)
    }

    fn gone(&mut self, value: &Expr) {
        let mut mentions = Mentions::default();
        mentions.expr(value);
        for (name, count) in mentions.counts {
            let left = self.counts.entry(name).or_default();
            *left = left.saturating_sub(count);
        }
    }

    /// Whether the value adds to outer accumulators or prints. A local function may add.
    fn has_effect(&self, value: &Expr) -> bool {
        let mut effects = Effects::default();
        effects.expr(value);
        let Effects { used, own } = effects;
        let acts = |name: &Rc<str>| {
            matches!(&**name, "inspect" | "check")
                || self.local.contains(name)
                || self.shows.contains(name)
        };
        used.iter().any(|(name, added)| !own.contains(name) && (*added || acts(name)))
    }
}

/// Whether the value is a loop whose lines were all dropped.
fn is_idle(value: &Expr) -> bool {
    let ExprKind::For(_, body) = &value.kind else { return false };
    matches!(&body.kind, ExprKind::Tuple(parts) if parts.is_empty()) || is_idle(body)
}

/// Names that an expression mentions, and whether it adds to them; its own accumulators and
/// functions.
#[derive(Default)]
struct Effects {
    used: HashSet<(Rc<str>, bool)>,
    own: HashSet<Rc<str>>,
}

impl Visit for Effects {
    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Var(name) = &expr.kind {
            self.used.insert((name.clone(), false));
        } else if let ExprKind::Add(name, ..) = &expr.kind {
            self.used.insert((name.text.clone(), true));
        } else if let ExprKind::InspectAs(_) = &expr.kind {
            self.used.insert(("inspect".into(), false));
        } else if let ExprKind::Check(..) | ExprKind::Fail(..) = &expr.kind {
            self.used.insert(("check".into(), false));
        } else if let ExprKind::Accumulate(accumulators, _) = &expr.kind {
            self.own.extend(accumulators.iter().map(|(name, _)| name.text.clone()));
        } else if let ExprKind::LetFunctions(defs, _) = &expr.kind {
            self.own.extend(defs.iter().map(|def| def.name.text.clone()));
        }
        walk_expr(self, expr);
    }
}
