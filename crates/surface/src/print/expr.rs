//! Expressions.
//!
//! Parentheses stand where the [`level`] of an expression is lower than its place requires, and
//! around an open expression that would absorb the token after it ([`Follow`]).

use std::rc::Rc;

use lambada_source::{About, Doc, Side};

use super::operators::{chain, is_negative, left_level, level, right_level};
use super::types::{case, param, pattern, ty};
use super::{brackets, equation, function, let_param};
use crate::ast::{
    Arm, BinaryOp, Checkpoint, Clause, Def, Expr, ExprKind, LoopKind, Name, Param, PatternKind,
    UnaryOp,
};
use crate::parser::{ADDITIVE, PIPE, POWER, UNARY, is_open};

/// The token after an expression, before the next closing bracket or word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Follow(u8);

impl Follow {
    pub(super) const NOTHING: Follow = Follow(0);
    /// `|`, which a `match` would absorb.
    const BAR: Follow = Follow(1);
    /// `;`, which every form that extends to the right would absorb.
    const SEMICOLON: Follow = Follow(2);
    /// An operator, `with`, an argument, an index or a field.
    pub(super) const OPERATOR: Follow = Follow(4);

    fn has(self, other: Follow) -> bool {
        self.0 & other.0 != 0
    }
}

/// An expression in a place that requires a level, followed by a token.
pub(super) fn expr(e: &Expr, least: u8, follow: Follow) -> Doc {
    if is_not(e) {
        return "(not)".into();
    }
    if needs_parentheses(e, least, follow) {
        parens(bare(e, Follow::NOTHING))
    } else {
        bare(e, follow)
    }
}

/// Whether the λ is the function `not`, which the parser reads as `\x -> not x` at one place.
fn is_not(e: &Expr) -> bool {
    let ExprKind::Lambda(params, body) = &e.kind else { return false };
    let ExprKind::Unary(UnaryOp::Not, operand) = &body.kind else { return false };
    let x = |name: &str| name == "x";
    let [Param { pattern, ty: None }] = &params[..] else { return false };
    matches!(&pattern.kind, PatternKind::Var(name) if x(name))
        && matches!(&operand.kind, ExprKind::Var(name) if x(name))
        && pattern.span == operand.span
}

fn parens(doc: Doc) -> Doc {
    Doc::text("(") + doc.nest(1) + ")".into()
}

fn needs_parentheses(e: &Expr, least: u8, follow: Follow) -> bool {
    let swallows = follow.has(Follow::SEMICOLON) || follow.has(Follow::OPERATOR);
    if is_open(e) {
        return swallows || (matches!(e.kind, ExprKind::Match(..)) && follow.has(Follow::BAR));
    }
    let sequence = matches!(e.kind, ExprKind::Sequence(..)) && swallows;
    let addition = matches!(e.kind, ExprKind::Add(..)) && follow.has(Follow::OPERATOR);
    sequence || addition || level(e) < least
}

/// An expression that a bracket or a word ends.
fn closed(e: &Expr) -> Doc {
    expr(e, 0, Follow::NOTHING)
}

/// Like `closed`, where no `;` may stand.
fn single(e: &Expr) -> Doc {
    expr(e, 1, Follow::NOTHING)
}

fn text(text: impl Into<String>) -> Doc {
    Doc::text(text)
}

/// `check "text {x}"`, on one line.
fn with_text(word: &str, words: &[Rc<str>], values: &[Expr]) -> String {
    let mut out = format!("{word} \"");
    for (k, word) in words.iter().enumerate() {
        out += &word.replace('{', "{{").replace('}', "}}");
        if let Some(value) = values.get(k) {
            out += &format!("{{{}}}", closed(value).group().render(usize::MAX).trim());
        }
    }
    out + "\""
}

/// A literal that parses to the same real.
pub(super) fn real(value: f64) -> String {
    if value.is_finite() { format!("{value:?}") } else { value.to_string().to_lowercase() }
}

/// An expression without parentheses around it.
fn bare(e: &Expr, follow: Follow) -> Doc {
    match &e.kind {
        ExprKind::Var(name) | ExprKind::Con(name) => text(&**name),
        ExprKind::Int(value) => text(value.to_string()),
        ExprKind::Real(value) => text(real(*value)),
        ExprKind::Bool(value) => text(value.to_string()),
        ExprKind::InspectAs(name) => text(format!("inspect_as \"{name}\"")),
        ExprKind::Check(words, values) => text(with_text("check", words, values)),
        ExprKind::Fail(words, values) => text(with_text("error", words, values)),
        ExprKind::Tuple(parts) if is_filled(parts) => filled(parts.iter().map(single).collect()),
        ExprKind::Tuple(parts) => brackets("(", parts.iter().map(single), ")"),
        ExprKind::Record(fields) => brackets("{", fields.iter().map(field), "}"),
        ExprKind::RecordUpdate(record, fields) => {
            let open = text("{") + expr(record, POWER + 1, Follow::OPERATOR) + " with ".into();
            (open
                + Doc::join(&(text(",") + Doc::line()), fields.iter().map(field)).nest(2)
                + "}".into())
            .group()
        }
        ExprKind::Field(inner, name) => base(inner) + text(format!(".{}", name.text)),
        ExprKind::Component(inner, k, _) => base(inner) + text(format!(".{k}")),
        ExprKind::Apply(..) => application(e, follow),
        ExprKind::Lambda(params, body) => lambda(params, body, follow),
        ExprKind::Operator(op) => text(format!("({})", op.spelling())),
        ExprKind::SectionLeft(inner, op) => {
            text("(")
                + expr(inner, left_level(*op), Follow::OPERATOR)
                + text(format!(" {})", op.spelling()))
        }
        ExprKind::SectionRight(op, inner) => section_right(*op, inner),
        ExprKind::Unary(op, inner) => unary(*op, inner, follow),
        ExprKind::Binary(BinaryOp::Pow, a, b) => {
            expr(a, POWER + 1, Follow::OPERATOR) + " ** ".into() + expr(b, UNARY, follow)
        }
        ExprKind::Binary(op, a, b) => chain(*op, a, b, follow),
        ExprKind::Let(..) | ExprKind::LetFunctions(..) => lets(e, follow, false),
        ExprKind::If(..) => choice(e, follow),
        ExprKind::Match(subject, arms) => matching(subject, arms, follow),
        ExprKind::For(clauses, body) => {
            let clauses = Doc::concat(clauses.iter().enumerate().map(|(k, one)| match one {
                Clause::If(condition) => filter(condition),
                _ if k == 0 => clause(one),
                _ => text(", ") + clause(one),
            }));
            with_body(text("for ") + clauses + " =>".into(), body, follow)
        }
        ExprKind::Array(parts) => array(parts),
        ExprKind::Index(array, places) => base(array) + indices(places),
        ExprKind::Slice(array, from, to) => base(array) + slice(from.as_deref(), to.as_deref()),
        ExprKind::Update(array, places, value) => update(array, indices(places), value, follow),
        ExprKind::UpdateSlice(array, from, to, value) => {
            update(array, slice(from.as_deref(), to.as_deref()), value, follow)
        }
        ExprKind::Loop(state, init, kind, body) => looping(state, init, kind, body, follow),
        ExprKind::Accumulate(accumulators, body) => {
            let one = |(name, init): &(Name, Expr)| equation(text(&*name.text), init, 2);
            let all = Doc::join(&(text(",") + Doc::line()), accumulators.iter().map(one));
            let head = (text("accumulate ") + all.nest(4)).group();
            with_body(head + " in".into(), body, follow)
        }
        ExprKind::Add(name, places, value) => {
            let places = if places.is_empty() { Doc::nil() } else { indices(places) };
            text(&*name.text) + places + " += ".into() + expr(value, 1, follow)
        }
        ExprKind::Sequence(..) => sequence(e, follow),
        ExprKind::Commented(comment, inner) => comment_lines(comment) + leading(inner, 0, follow),
        ExprKind::Annotated(inner, t) => {
            text("(") + closed(inner).nest(1) + " : ".into() + ty(t) + ")".into()
        }
        ExprKind::Broken(inner) => bare(inner, follow),
        ExprKind::Error => "_".into(),
    }
}

/// An expression that begins its line if the group around it is broken, so that a `let` needs no
/// `in`.
pub(super) fn leading(e: &Expr, least: u8, follow: Follow) -> Doc {
    let is_let = matches!(e.kind, ExprKind::Let(..) | ExprKind::LetFunctions(..));
    if is_let && !needs_parentheses(e, least, follow) {
        lets(e, follow, true)
    } else {
        expr(e, least, follow)
    }
}

/// `head body`, with the body on its own line where it does not fit.
fn with_body(head: Doc, body: &Expr, follow: Follow) -> Doc {
    (head + (Doc::line() + leading(body, 0, follow)).nest(2)).group()
}

/// The base of an index or a field. A number gets parentheses, because the index or field would be
/// read as part of it.
fn base(e: &Expr) -> Doc {
    if matches!(e.kind, ExprKind::Int(_) | ExprKind::Real(_)) {
        return parens(bare(e, Follow::NOTHING));
    }
    expr(e, POWER + 2, Follow::OPERATOR)
}

fn indices(places: &[Expr]) -> Doc {
    brackets("[", places.iter().map(single), "]")
}

/// `[a:b]`, with spaces around the colon where an operator stands beside it.
fn slice(from: Option<&Expr>, to: Option<&Expr>) -> Doc {
    let operated = |e: &Expr| matches!(e.kind, ExprKind::Binary(..));
    let wide = from.zip(to).is_some_and(|(from, to)| operated(from) || operated(to));
    text("[")
        + from.map_or(Doc::nil(), single)
        + text(if wide { " : " } else { ":" })
        + to.map_or(Doc::nil(), single)
        + "]".into()
}

/// `array with [i] = e with …`: on one line, or one line for each `with`; a single one stays on the
/// line of the array's name.
fn update(array: &Expr, places: Doc, value: &Expr, follow: Follow) -> Doc {
    let named = matches!(array.kind, ExprKind::Var(_));
    let line = if named { text(" ") } else { Doc::line() };
    let rest = line + assigned(text("with ") + places, leading(value, PIPE, follow));
    let array = expr(array, 1, Follow::OPERATOR);
    (array + rest.nest(2)).group()
}

fn assigned(head: Doc, value: Doc) -> Doc {
    (head + " =".into() + (Doc::line() + value).nest(2)).group()
}

/// `x` for `x = x`.
fn field((name, value): &(Name, Expr)) -> Doc {
    let same = matches!(&value.kind, ExprKind::Var(variable) if *variable == name.text);
    let name = text(&*name.text);
    if same {
        name
    } else {
        (name + " =".into() + (Doc::line() + leading(value, 1, Follow::NOTHING)).nest(2)).group()
    }
}

/// Number of atoms from which a tuple fills lines instead of using one line for each.
pub(super) const MANY: usize = 5;

/// Parts that fill lines, in parentheses.
pub(super) fn filled(parts: Vec<Doc>) -> Doc {
    let last = parts.len().saturating_sub(1);
    let part = |(k, part)| if k < last { part + ",".into() } else { part };
    text("(") + Doc::fill(parts.into_iter().enumerate().map(part)).nest(1) + ")".into()
}

fn is_filled(parts: &[Expr]) -> bool {
    parts.len() >= MANY && parts.iter().all(is_atom)
}

fn is_atom(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Var(_) | ExprKind::Int(_) | ExprKind::Real(_) | ExprKind::Bool(_))
}

/// Literals fill lines; other elements are on one line or each on its own.
fn array(parts: &[Expr]) -> Doc {
    let literal = |e: &Expr| {
        matches!(
            e.kind,
            ExprKind::Int(_) | ExprKind::Real(_) | ExprKind::Bool(_) | ExprKind::Unary(..)
        )
    };
    if parts.len() < 2 || !parts.iter().all(literal) {
        return brackets("[", parts.iter().map(single), "]");
    }
    let last = parts.len() - 1;
    let element =
        |(k, e): (usize, &Expr)| if k < last { single(e) + ",".into() } else { single(e) };
    text("[") + Doc::fill(parts.iter().enumerate().map(element)).nest(1) + "]".into()
}

fn application(e: &Expr, follow: Follow) -> Doc {
    let mut arguments = Vec::new();
    let mut function = e;
    while let ExprKind::Apply(inner, argument) = &function.kind {
        arguments.push(&**argument);
        function = inner;
    }
    let last = *arguments.first().unwrap_or(&function);
    let trailing = matches!(last.kind, ExprKind::Lambda(..))
        && !is_not(last)
        && !needs_parentheses(last, 0, follow);
    let hanging = matches!(last.kind, ExprKind::For(..) | ExprKind::Loop(..));
    let plain = arguments
        .iter()
        .rev()
        .take(arguments.len() - usize::from(trailing || hanging))
        .map(|argument| Doc::line() + self_contained(argument));
    let head = (expr(function, POWER + 1, Follow::OPERATOR) + Doc::concat(plain).nest(2)).group();
    if trailing {
        head + " ".into() + bare(last, follow)
    } else if hanging {
        head + " (".into() + bare(last, Follow::NOTHING) + ")".into()
    } else {
        head
    }
}

/// An argument, in parentheses if it is an open form; `application` handles a final λ, which needs
/// none.
fn self_contained(e: &Expr) -> Doc {
    if is_not(e) {
        return "not".into();
    }
    expr(e, POWER + 2, Follow::OPERATOR)
}

fn lambda(params: &[Param], body: &Expr, follow: Follow) -> Doc {
    let params = Doc::join(&" ".into(), params.iter().map(param));
    with_body(text("\\") + params + " ->".into(), body, follow)
}

/// `(- x)` would be a negation, so the section of `-` adds the negation.
fn section_right(op: BinaryOp, inner: &Expr) -> Doc {
    if op == BinaryOp::Sub {
        return text("(+ ") + unary(UnaryOp::Neg, inner, Follow::NOTHING) + ")".into();
    }
    text(format!("({} ", op.spelling()))
        + expr(inner, right_level(op), Follow::NOTHING)
        + ")".into()
}

/// A negation. Two signs in a row would start a comment.
fn unary(op: UnaryOp, inner: &Expr, follow: Follow) -> Doc {
    let signed = matches!(inner.kind, ExprKind::Unary(UnaryOp::Neg, _)) || is_negative(inner);
    match op {
        UnaryOp::Neg if signed => text("-") + parens(bare(inner, Follow::NOTHING)),
        UnaryOp::Neg => text("-") + expr(inner, UNARY, follow),
        UnaryOp::Not => text("not ") + expr(inner, UNARY, follow),
    }
}

/// `-- text`, each line with its line break.
fn comment_lines(comment: &str) -> Doc {
    let line = |line: &str| text(format!("-- {line}").trim_end()) + Doc::hard_line();
    Doc::concat(comment.split('\n').map(line))
}

/// Limit on the width of a `let` that may stand on one line, if an author wrote it so.
const SHORT_LET: usize = 60;

/// Consecutive `let`s, each on a line of its own, and their body below; a single short `let` on one
/// line, with an `in`, if an author wrote it so. A single `let` that does not lead its line needs
/// the `in`, too.
fn lets(e: &Expr, follow: Follow, leads: bool) -> Doc {
    let mut bindings = Vec::new();
    let mut body = e;
    let mut comments = Doc::nil();
    loop {
        if let ExprKind::Let(left, value, rest) = &body.kind {
            let comments = std::mem::replace(&mut comments, Doc::nil());
            bindings.push(comments + equation(text("let ") + let_param(left).nest(4), value, 2));
            body = rest;
        } else if let ExprKind::LetFunctions(defs, rest) = &body.kind {
            let comments = std::mem::replace(&mut comments, Doc::nil());
            bindings.push(comments + local_functions(defs));
            body = rest;
        } else if let ExprKind::Commented(comment, rest) = &body.kind {
            comments = comments + comment_lines(comment);
            body = rest;
        } else {
            break;
        }
    }
    let single = bindings.len() == 1;
    let bindings = Doc::join(&Doc::hard_line(), bindings);
    if !single {
        return bindings + Doc::hard_line() + comments + expr(body, 0, follow);
    }
    let (word, deeper) = if leads { (Doc::nil(), 0) } else { (text("in "), 3) };
    let word = Doc::if_broken(word, "in ".into());
    let line = Doc::choice(About::Break, Doc::line(), Doc::hard_line(), Side::Apart) + word;
    (bindings + line + comments + expr(body, 0, follow).nest(deeper)).short_group(SHORT_LET)
}

/// `let rec f x = … and g y = …`
fn local_functions(defs: &[Def]) -> Doc {
    let word = |k: usize, def: &Def| match (k, def.recursive) {
        (0, true) => "let rec ",
        (0, false) => "let ",
        _ => "and ",
    };
    Doc::join(
        &Doc::line(),
        defs.iter().enumerate().map(|(k, def)| text(word(k, def)) + function(def)),
    )
}

/// `if … else if … else`: on one line, or one line for each branch that fits.
fn choice(e: &Expr, follow: Follow) -> Doc {
    let mut parts = Vec::new();
    let mut rest = e;
    let mut word = "if ";
    while let ExprKind::If(condition, yes, no) = &rest.kind {
        let branch = text(word) + closed(condition) + " then".into();
        let yes = leading(yes, 0, Follow::NOTHING);
        parts.push((branch + (Doc::line() + yes).nest(2)).group());
        (rest, word) = (no, "else if ");
    }
    parts.push((text("else") + (Doc::line() + leading(rest, 0, follow)).nest(2)).group());
    Doc::join(&Doc::line(), parts).group()
}

fn matching(subject: &Expr, arms: &[Arm], follow: Follow) -> Doc {
    let last = arms.len().saturating_sub(1);
    let arm = |(k, arm): (usize, &Arm)| {
        let follow = if k < last { Follow::BAR } else { follow };
        Doc::hard_line()
            + "| ".into()
            + with_body(case(&arm.pattern) + guard(arm) + " ->".into(), &arm.body, follow).nest(2)
    };
    text("match ") + expr(subject, 1, Follow::BAR) + Doc::concat(arms.iter().enumerate().map(arm))
}

fn guard(arm: &Arm) -> Doc {
    arm.guard.as_ref().map_or(Doc::nil(), filter)
}

/// ` if c`, behind the dimensions of a `for` or the pattern of a case.
fn filter(condition: &Expr) -> Doc {
    text(" if ") + single(condition)
}

fn clause(clause: &Clause) -> Doc {
    match clause {
        Clause::Range(name, bound) => {
            text(format!("{} < ", name.text)) + expr(bound, ADDITIVE, Follow::NOTHING)
        }
        Clause::Between(from, name, to) => {
            expr(from, ADDITIVE, Follow::OPERATOR)
                + text(format!(" <= {} < ", name.text))
                + expr(to, ADDITIVE, Follow::NOTHING)
        }
        Clause::In(p, array) => pattern(p) + " in ".into() + single(array),
        Clause::If(condition) => single(condition),
    }
}

fn looping(state: &Param, init: &Expr, kind: &LoopKind, body: &Expr, follow: Follow) -> Doc {
    let driver = match kind {
        LoopKind::For(one, condition, policy) => {
            let condition = condition.as_ref().map_or(Doc::nil(), |c| filter(c));
            let policy = policy.as_ref().map(|policy| text(" checkpoint ") + checkpoint(policy));
            text("for ") + clause(one) + condition + policy.unwrap_or_else(Doc::nil)
        }
        LoopKind::While(condition) => text("while ") + closed(condition),
    };
    let state = text("loop ") + let_param(state).nest(5) + " =".into();
    let init = (state + (Doc::line() + leading(init, 1, Follow::NOTHING)).nest(4)).group();
    with_body((init + Doc::line() + driver).group() + " do".into(), body, follow)
}

fn checkpoint(policy: &Checkpoint) -> Doc {
    match policy {
        Checkpoint::All => "all".into(),
        Checkpoint::Sqrt => "sqrt".into(),
        Checkpoint::States(states) => match &states.kind {
            ExprKind::Var(name) if !matches!(&**name, "all" | "sqrt") => closed(states),
            ExprKind::Int(value) if *value >= 0 => closed(states),
            ExprKind::Tuple(_) | ExprKind::Annotated(..) | ExprKind::Operator(_) => closed(states),
            _ => parens(closed(states)),
        },
    }
}

/// `a; b; c`
fn sequence(e: &Expr, follow: Follow) -> Doc {
    let mut parts = Vec::new();
    let mut rest = e;
    while let ExprKind::Sequence(first, others) = &rest.kind {
        parts.push(expr(first, 1, Follow::SEMICOLON) + ";".into() + Doc::line());
        rest = others;
    }
    (Doc::concat(parts) + leading(rest, 1, follow)).group()
}
