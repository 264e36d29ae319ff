//! Tokens to syntax tree, by recursive descent.
//!
//! Never fails: panic-mode recovery. A function that cannot continue reports a problem and returns
//! `Err(Halt)`. The expression around it becomes `Error`, and an enclosing construct continues at
//! its next synchronizing token ([`recovery`]): a `,`, the closing bracket, an `in`, `else` or `|`,
//! and at last the next item. So each mistake is reported once, and costs no more than the
//! expression around it.

mod atoms;
mod clauses;
mod expr;
mod foreign;
mod forms;
mod infix;
mod items;
mod lets;
mod pattern;
mod recovery;
mod statements;
mod types;

pub(crate) use atoms::{is_open, level};
pub(crate) use expr::{ADDITIVE, COMPARISON, PIPE, POWER, UNARY};

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_source::{FileId, Fix, Problem, Span, stack};

use crate::ast::{Expr, ExprKind, Module, Name, TypeExpr};
use crate::capitals;
use crate::lexer::tokenize;
use crate::messages::forms as messages;
use crate::messages::syntax::{self, GapPosition, Missing};
use crate::token::{Bracket, DocComment, Keyword, Token, TokenKind, Tokens};

/// Limit on the nesting of constructs, without `let`s, `else if`s and `;`.
const DEPTH: usize = 1024;

/// Limit on consecutive operators, arguments or updates.
const LENGTH: usize = 10_000;

/// Limit on the constructs around a problem that search for their synchronizing tokens up to the
/// end of the item. Further ones give up at once, so that the time stays linear in the length.
const SEARCHES: usize = 16;

/// The syntax tree of a text, and its problems. Unreadable parts are [`ExprKind::Error`] and the
/// like; the body of a definition with a problem is [`ExprKind::Broken`], so that later phases do
/// not report on it.
pub fn parse(text: &str, file: FileId) -> (Module, Vec<Problem>) {
    let mut parser = Parser::new(text, file);
    let mut module = parser.module();
    capitals::resolve(&mut module);
    module.written = Some(text.into());
    (module, parser.problems)
}

/// The syntax tree of a single expression, as typed into a shell, and its problems.
pub fn parse_expr(text: &str, file: FileId) -> (Expr, Vec<Problem>) {
    let mut parser = Parser::new(text, file);
    let mut expr = parser.only_expr();
    capitals::resolve_expr(&mut expr);
    (expr, parser.problems)
}

/// Whether a text is incomplete but could continue, such as `def f x =` and `let x = 1`.
pub fn is_incomplete(text: &str) -> bool {
    let mut items = Parser::new(text, FileId::default());
    items.module();
    let mut expr = Parser::new(text, FileId::default());
    let _ = expr.only_expr();
    let complete = |parser: &Parser| parser.problems.is_empty();
    !complete(&items) && !complete(&expr) && (items.ended || expr.ended)
}

/// The syntax tree of a single type, as in messages; `None` if the text is no type.
pub fn parse_type(text: &str) -> Option<TypeExpr> {
    let mut parser = Parser::new(text, FileId::default());
    let mut ty = parser.type_expr().ok()?;
    capitals::resolve_type(&mut ty);
    (parser.kind() == TokenKind::End && parser.problems.is_empty()).then_some(ty)
}

/// A problem has been reported; the caller must recover.
#[derive(Debug)]
struct Halt;

type Parse<T> = Result<T, Halt>;

struct Parser<'a> {
    text: &'a str,
    file: FileId,
    tokens: Vec<Token>,
    docs: Vec<DocComment>,
    /// The current token.
    at: usize,
    problems: Vec<Problem>,
    /// Number of problems from the lexer; these come first, in source order.
    lexical: usize,
    depth: usize,
    /// The open brackets.
    open: Vec<Bracket>,
    /// Number of problems before the current item.
    told: usize,
    /// The column of the current item. A definition that starts there, or left of it, ends all open
    /// constructs.
    item_column: u32,
    /// Whether the current item starts with `let`, which has been reported.
    item_is_let: bool,
    /// The token at which arguments of applications end: the first pattern of a `match` without
    /// `|`.
    barrier: usize,
    /// Whether a `then` branch is being read, where `elif` is no name.
    in_then: bool,
    /// Whether a `let rec` is being read, where `and` starts the next function.
    in_rec: bool,
    /// Whether the dimension of a `for` is being read, after which `if` starts a filter.
    in_clause: bool,
    /// Whether a condition is being read, in which a single `=` compares.
    in_condition: bool,
    /// Whether the file defines a function `or`.
    defines_or: bool,
    /// Whether the file defines a function `solve`, which `\` does not mean.
    defines_solve: bool,
    /// Whether the pattern of a case is being read, which may have alternatives.
    in_case: bool,
    /// The columns of the `let`s around the current token, back to the last bracket.
    columns: Vec<(u32, lets::Layout)>,
    /// The constructors of the types of the file.
    constructors: HashSet<&'a str>,
    /// The token after a bracket with a problem inside: a problem there is probably the same
    /// mistake.
    recovered: usize,
    /// Whether the parser is recovering from a problem; then it reports nothing.
    lost: bool,
    /// Number of searches for synchronizing tokens that have ended at the end of this item.
    fruitless: usize,
    /// Whether recovery has succeeded in this item outside of brackets; a token missing later may
    /// have been skipped.
    resumed: bool,
    /// Reserved words reported as names in this item, each once.
    reserved: Vec<Keyword>,
    /// Whether `_` has been reported as a value in this item. A pattern without its `let` has
    /// several.
    wildcard: bool,
    /// Number of problems after a report of an `=` in the place of an operator.
    stray_equals: Option<usize>,
    names: HashMap<&'a str, Rc<str>>,
    /// Whether the first problem is the end of the text.
    ended: bool,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, file: FileId) -> Parser<'a> {
        let lexed = tokenize(text, file);
        let constructors = items::constructors(text, &lexed.tokens);
        Parser::of_tokens(text, file, lexed, constructors)
    }

    fn of_tokens(
        text: &'a str,
        file: FileId,
        lexed: Tokens,
        constructors: HashSet<&'a str>,
    ) -> Parser<'a> {
        let [defines_or, defines_solve] =
            ["or", "solve"].map(|name| items::defines(text, &lexed.tokens, name));
        Parser {
            constructors,
            text,
            file,
            tokens: lexed.tokens,
            docs: lexed.docs,
            at: 0,
            lexical: lexed.problems.len(),
            problems: lexed.problems,
            depth: 0,
            open: Vec::new(),
            told: 0,
            item_column: 0,
            item_is_let: false,
            barrier: usize::MAX,
            in_then: false,
            in_rec: false,
            in_clause: false,
            in_condition: false,
            defines_or,
            defines_solve,
            in_case: false,
            columns: Vec::new(),
            recovered: usize::MAX,
            lost: false,
            fruitless: 0,
            resumed: false,
            reserved: Vec::new(),
            wildcard: false,
            stray_equals: None,
            names: HashMap::new(),
            ended: false,
        }
    }

    fn only_expr(&mut self) -> Expr {
        let result = self.expr();
        if result.is_ok() && self.kind() != TokenKind::End {
            self.expected(Missing::Expression, "the end of the expression");
        }
        match result {
            Ok(expr) if self.problems.is_empty() => *expr,
            Ok(expr) => broken(*expr, Span::new(self.file, 0, self.text.len())),
            Err(Halt) => {
                Expr { kind: ExprKind::Error, span: Span::new(self.file, 0, self.text.len()) }
            }
        }
    }

    // Looking at tokens.

    fn token(&self) -> Token {
        self.tokens[self.at]
    }

    fn kind(&self) -> TokenKind {
        self.tokens[self.at].kind
    }

    fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// The token `ahead` of the current one, or the last.
    fn ahead(&self, ahead: usize) -> Token {
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    fn is(&self, keyword: Keyword) -> bool {
        self.kind() == TokenKind::Keyword(keyword)
    }

    fn text_at(&self, at: usize) -> &'a str {
        let span = self.tokens[at].span;
        &self.text[span.start as usize..span.end as usize]
    }

    fn text_of(&self, span: Span) -> &'a str {
        &self.text[span.start as usize..span.end as usize]
    }

    fn here(&self) -> &'a str {
        self.text_at(self.at)
    }

    /// From the token `start` to the last one read.
    fn span_from(&self, start: usize) -> Span {
        let last = self.at.saturating_sub(1).max(start);
        self.tokens[start].span.to(self.tokens[last].span)
    }

    // Taking tokens.

    fn bump(&mut self) -> Token {
        let token = self.token();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.kind() == kind;
        if found {
            self.bump();
        }
        found
    }

    fn eat_keyword(&mut self, keyword: Keyword) -> bool {
        self.eat(TokenKind::Keyword(keyword))
    }

    fn intern(&mut self, text: &'a str) -> Rc<str> {
        self.names.entry(text).or_insert_with(|| text.into()).clone()
    }

    /// The current token as a name, of any kind.
    fn bump_name(&mut self) -> Name {
        let text = self.intern(self.here());
        Name { text, span: self.bump().span }
    }

    // Reporting.

    /// Reports a problem, unless it probably has been reported: after a bracket with a problem, or
    /// at a token that the lexer has reported.
    fn report(&mut self, problem: Problem) {
        let lexical =
            problem.labels.first().is_some_and(|label| self.lexical_problem_at(label.span));
        if self.at != self.recovered && !lexical && !self.lost {
            self.ended |= self.problems.is_empty() && self.kind() == TokenKind::End;
            self.problems.push(problem);
        }
    }

    /// Whether the lexer has reported a problem at the start of this span.
    fn lexical_problem_at(&self, span: Span) -> bool {
        let start = |problem: &Problem| problem.labels.first().map_or(0, |label| label.span.start);
        self.problems[..self.lexical].binary_search_by_key(&span.start, start).is_ok()
    }

    fn halt<T>(&mut self, problem: Problem) -> Parse<T> {
        self.report(problem);
        Err(Halt)
    }

    /// Reports a missing token, unless recovery may have skipped it, and starts recovery.
    fn missing(&mut self, problem: Problem) {
        if !self.resumed && self.kind() != TokenKind::Bad {
            self.report(problem);
        }
        self.lost = true;
    }

    /// The current token in words.
    fn found(&self) -> String {
        match self.kind() {
            TokenKind::End => "the end of the file".into(),
            _ => format!("`{}`", self.here()),
        }
    }

    /// Place for a missing token.
    fn gap(&self) -> GapPosition {
        let token = self.token();
        let after = self.at > 0 && (token.starts_line || token.kind == TokenKind::End);
        GapPosition { span: if after { self.tokens[self.at - 1].span } else { token.span }, after }
    }

    /// Reports that `what` was expected, unless the lexer has reported this token.
    fn expected(&mut self, missing: Missing, what: &str) -> Halt {
        self.expected_in(missing, what, "")
    }

    /// Like `expected`, with a hint, if it is not empty.
    fn expected_in(&mut self, missing: Missing, what: &str, form: &str) -> Halt {
        if self.kind() != TokenKind::Bad {
            let problem = match self.enclosing() {
                Some((opener, bracket)) if self.ends_item() => {
                    syntax::unclosed(opener, bracket, self.gap())
                }
                _ => syntax::expected(missing, what, &self.found(), self.gap()),
            };
            self.report(if form.is_empty() { problem } else { problem.hint(form) });
        }
        Halt
    }

    fn expect(&mut self, kind: TokenKind, missing: Missing, what: &str) -> Parse<()> {
        if self.eat(kind) { Ok(()) } else { Err(self.expected(missing, what)) }
    }

    /// Reports a reserved word in the place of a name, once for each item.
    fn report_reserved(&mut self, keyword: Keyword) {
        if !self.reserved.contains(&keyword) {
            self.reserved.push(keyword);
            let problem = syntax::reserved(self.span(), self.here());
            self.report(problem);
        }
    }

    // Structure.

    /// Whether a new item starts here, so that open constructs will not be closed.
    fn ends_item(&self) -> bool {
        let token = self.token();
        match token.kind {
            TokenKind::End => true,
            TokenKind::Keyword(Keyword::Def | Keyword::Type | Keyword::Import) => {
                token.starts_line && token.column <= self.item_column
            }
            _ => false,
        }
    }

    /// Reads a construct that may contain itself.
    fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= DEPTH {
            // Nesting that is too deep is reported once per item, and not at every token after it.
            self.fruitless = SEARCHES;
            return self.halt(syntax::too_deep(self.span(), DEPTH));
        }
        self.depth += 1;
        let result = stack::deeper(|| inside(self));
        self.depth -= 1;
        result
    }

    /// Guards against trees that are deep because of long chains without brackets.
    fn count(&mut self, length: &mut usize) -> Parse<()> {
        *length += 1;
        if *length > LENGTH { self.halt(syntax::too_long(self.span(), LENGTH)) } else { Ok(()) }
    }

    /// The innermost bracket that is open before the current token.
    fn enclosing(&self) -> Option<(Span, Bracket)> {
        let bracket = *self.open.last()?;
        let mut depth = 0usize;
        for token in self.tokens[..self.at].iter().rev() {
            match token.kind {
                TokenKind::Close(_) => depth += 1,
                TokenKind::Open(_) if depth > 0 => depth -= 1,
                TokenKind::Open(found) if found == bracket => return Some((token.span, bracket)),
                _ => {}
            }
        }
        None
    }

    /// Reads the opening bracket at the current token, its content, and the closing bracket. `None`
    /// if the content had a problem and parsing can continue after the closing bracket. `what`:
    /// alternatives to a wrong token, for the message.
    fn brackets<T>(
        &mut self,
        what: &str,
        inside: impl FnOnce(&mut Self) -> Parse<T>,
    ) -> Parse<Option<T>> {
        let opener = self.bump();
        let TokenKind::Open(bracket) = opener.kind else { return Err(Halt) };
        let (barrier, in_then, in_rec) = (self.barrier, self.in_then, self.in_rec);
        (self.barrier, self.in_then, self.in_rec) = (usize::MAX, false, false);
        let in_clause = std::mem::replace(&mut self.in_clause, false);
        let in_condition = self.in_condition;
        self.in_condition &= bracket == Bracket::Round;
        let columns = std::mem::take(&mut self.columns);
        self.open.push(bracket);
        let depth = self.depth;
        let result = inside(self).map(|value| {
            let closed = !self.lost && self.close(opener.span, bracket, what).is_ok();
            (value, closed)
        });
        self.depth = depth;
        self.open.pop();
        (self.barrier, self.in_then, self.in_rec) = (barrier, in_then, in_rec);
        (self.in_clause, self.columns) = (in_clause, columns);
        self.in_condition = in_condition;
        match result {
            Ok((value, closed)) => {
                // If nothing closes the bracket, outer constructs search for their own tokens.
                let _lost = closed || self.behind(bracket).is_ok();
                Ok(Some(value))
            }
            Err(Halt) => self.behind(bracket).map(|()| None),
        }
    }

    /// Skips the rest of a bracket with a problem.
    fn behind(&mut self, bracket: Bracket) -> Parse<()> {
        self.lost = true;
        let place = self.at;
        if self.fruitless < SEARCHES && self.skip_to(bracket).is_ok() {
            self.lost = false;
            self.recovered = self.at;
            return Ok(());
        }
        if self.ends_item() {
            self.at = place;
            self.fruitless += 1;
        }
        Err(Halt)
    }

    fn close(&mut self, opener: Span, bracket: Bracket, what: &str) -> Parse<()> {
        if self.eat(TokenKind::Close(bracket)) {
            return Ok(());
        }
        let what = if what.is_empty() {
            format!("`{}`", bracket.closing())
        } else {
            format!("{what} or `{}`", bracket.closing())
        };
        match self.kind() {
            TokenKind::Bad => Err(Halt),
            TokenKind::Close(found) => {
                self.halt(syntax::mismatched(opener, bracket, self.span(), found))
            }
            _ if self.ends_item() => self.halt(syntax::unclosed(opener, bracket, self.gap())),
            _ => {
                let lambda = self.lambda_without_sign(opener);
                let found = self.found();
                self.halt(syntax::in_brackets(&what, &found, self.gap(), opener, bracket, lambda))
            }
        }
    }

    /// The edits that make `(x => e)` a function, if an arrow follows the first name in parentheses.
    fn lambda_without_sign(&self, opener: Span) -> Option<Fix> {
        let arrow = matches!(self.kind(), TokenKind::Arrow | TokenKind::FatArrow);
        let name = *self.tokens[..self.at].last()?;
        let alone = name.kind == TokenKind::Lower && opener.end == name.span.start;
        (arrow && alone).then(|| Fix::before(name.span, "\\").and(Fix::replace(self.span(), "->")))
    }

    /// Skips to the partner of an opening bracket, over nested pairs.
    fn skip_to(&mut self, bracket: Bracket) -> Parse<()> {
        let mut inner: Vec<Bracket> = Vec::new();
        while !self.ends_item() {
            match self.kind() {
                TokenKind::Open(found) => inner.push(found),
                TokenKind::Close(found) if inner.is_empty() && found == bracket => {
                    self.bump();
                    return Ok(());
                }
                TokenKind::Close(found) if inner.is_empty() && self.open.contains(&found) => {
                    return Err(Halt);
                }
                TokenKind::Close(found) if inner.contains(&found) => {
                    while inner.pop() != Some(found) {}
                }
                TokenKind::Close(found) if found == bracket || self.open.contains(&found) => {
                    inner.clear();
                    continue;
                }
                _ => {}
            }
            self.bump();
        }
        Err(Halt)
    }

    /// One or more, separated by commas, up to a closing bracket, which is not consumed. A comma
    /// may stand before it.
    fn separated<T>(&mut self, one: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        self.separated_from(1, one)
    }

    /// Like `separated`; a comma after the last of fewer than `least` is a problem.
    fn separated_from<T>(
        &mut self,
        least: usize,
        mut one: impl FnMut(&mut Self) -> Parse<T>,
    ) -> Parse<Vec<T>> {
        let mut all = vec![one(self)?];
        let mut semicolon = None;
        let mut commas = false;
        while self.another() || self.at_list_semicolon(least) {
            if self.kind() == TokenKind::Semicolon {
                semicolon.get_or_insert(self.span());
            } else {
                commas = true;
            }
            // In brackets, semicolons between commas mean rows elsewhere.
            if let Some(semicolon) = semicolon
                && commas
                && self.open.last() == Some(&Bracket::Square)
            {
                let rows = self.rows();
                return self.halt(messages::semicolon_in_list(semicolon, rows));
            }
            let comma = self.bump().span;
            if matches!(self.kind(), TokenKind::Close(_)) {
                if all.len() < least {
                    self.report(messages::trailing_comma(comma));
                }
                break;
            }
            all.push(one(self)?);
        }
        Ok(all)
    }

    /// The edits that make each row of `[a, b; c, d]`, which is open here, an array.
    fn rows(&self) -> Option<Fix> {
        let (opener, bracket) = self.enclosing().filter(|(_, b)| *b == Bracket::Square)?;
        let mut fix = Fix::behind(opener, bracket.opening());
        let first = self.tokens.partition_point(|token| token.span.end <= opener.end);
        for (depth, token) in self.within(first) {
            match token.kind {
                TokenKind::Semicolon if depth == 0 => {
                    fix = fix.and(Fix::replace(token.span, "],")).and(self.opens_row(token.span));
                }
                TokenKind::Close(Bracket::Square) if depth == 0 => {
                    return Some(fix.and(Fix::before(token.span, bracket.closing())));
                }
                _ => {}
            }
        }
        None
    }

    /// A `[` before the token after this span.
    fn opens_row(&self, after: Span) -> Fix {
        let next = self.tokens.partition_point(|token| token.span.end <= after.end);
        Fix::before(self.tokens[next.min(self.tokens.len() - 1)].span, "[")
    }

    /// The tokens from one on up to the bracket that closes around them, with the number of
    /// brackets that are open before each.
    fn within(&self, first: usize) -> impl Iterator<Item = (usize, Token)> {
        let mut depth = 0_usize;
        let tokens = self.tokens[first..].iter().map(move |token| {
            let before = depth;
            match token.kind {
                TokenKind::Open(_) => depth += 1,
                TokenKind::Close(_) => depth = depth.saturating_sub(1),
                _ => {}
            }
            (before, *token)
        });
        let mut over = false;
        tokens.take_while(move |(depth, token)| {
            let taken = !over;
            over |= *depth == 0 && matches!(token.kind, TokenKind::Close(_) | TokenKind::End);
            taken
        })
    }

    /// The edits that replace each `,` outside of inner brackets, from here to the closing bracket.
    fn each_comma(&self, text: &str) -> Fix {
        let commas = self
            .within(self.at)
            .filter(|(depth, token)| *depth == 0 && token.kind == TokenKind::Comma);
        let fixes = commas.map(|(_, token)| {
            let next = self.tokens.partition_point(|other| other.span.end <= token.span.end);
            let next = self.tokens[next.min(self.tokens.len() - 1)].span;
            Fix::replace(token.span.to(next.start()), text)
        });
        fixes.reduce(Fix::and).unwrap_or_else(|| Fix::replace(self.span(), text))
    }

    /// Whether a `;` separates the elements of an array or the fields of a record.
    fn at_list_semicolon(&self, least: usize) -> bool {
        let list = matches!(self.open.last(), Some(Bracket::Square | Bracket::Curly));
        list && least == 1 && !self.lost && self.kind() == TokenKind::Semicolon
    }

    /// Reads a condition, in which a single `=` compares.
    fn in_condition<T>(&mut self, inside: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        let around = std::mem::replace(&mut self.in_condition, true);
        let result = inside(self);
        self.in_condition = around;
        result
    }

    /// Whether a `,` follows, perhaps behind a problem.
    fn another(&mut self) -> bool {
        self.find(|kind| kind == TokenKind::Comma);
        !self.lost && self.kind() == TokenKind::Comma
    }

    fn error_expr(&self, start: usize) -> Expr {
        Expr { kind: ExprKind::Error, span: self.span_from(start) }
    }
}

/// The readable part of an expression with a problem.
fn broken(expr: Expr, span: Span) -> Expr {
    match expr.kind {
        ExprKind::Error => Expr { kind: ExprKind::Error, span },
        _ => Expr { kind: ExprKind::Broken(Box::new(expr)), span },
    }
}
