//! The forms that start with a keyword and extend as far right as possible: λ, `let`, `if`,
//! `match`, `for`, `loop`, `accumulate`.

use lambada_source::Span;

use super::expr::ADDITIVE;
use super::{Halt, Parse, Parser};
use crate::ast::{
    Arm, BinaryOp, Checkpoint, Clause, Def, Expr, ExprKind, LoopKind, Name, Param, Pattern,
    PatternKind,
};
use crate::messages::syntax::Missing;
use crate::messages::{forms, items};
use crate::token::{Bracket, Keyword, TokenKind};

/// A `let` without its body.
enum Binding {
    Value(Param, Box<Expr>),
    Functions(Vec<Def>),
}

impl Parser<'_> {
    pub(super) fn at_form(&self) -> bool {
        use Keyword::{Accumulate, For, If, Let, Loop, Match};
        matches!(self.kind(), TokenKind::Keyword(Let | If | Match | For | Loop | Accumulate))
    }

    pub(super) fn form(&mut self) -> Parse<Box<Expr>> {
        match self.kind() {
            TokenKind::Keyword(Keyword::Let) => self.lets(),
            TokenKind::Keyword(Keyword::If) => self.choice(),
            TokenKind::Keyword(Keyword::Match) => self.matching(),
            TokenKind::Keyword(Keyword::For) => self.array_for(),
            TokenKind::Keyword(Keyword::Loop) => self.looping(),
            TokenKind::Keyword(Keyword::Accumulate) => self.accumulating(),
            _ => self.no_expression(),
        }
    }

    /// `\x y -> e`
    pub(super) fn lambda(&mut self) -> Parse<Box<Expr>> {
        let start = self.at;
        self.bump();
        self.lambda_after(start)
    }

    fn lambda_after(&mut self, start: usize) -> Parse<Box<Expr>> {
        let params = self.params_until(|p| {
            matches!(p.kind(), TokenKind::Arrow | TokenKind::FatArrow | TokenKind::Dot)
        })?;
        if params.is_empty() {
            return Err(self.expected(Missing::Pattern, "a parameter"));
        }
        let comma = self.kind() == TokenKind::Comma;
        let form = if comma {
            "parameters are separated by spaces: `\\x y -> e`"
        } else {
            "a function is written `\\x -> e`"
        };
        if comma {
            let Halt = self.expected_in(Missing::Sign, "`->`", form);
            self.lost = true;
            self.bump();
        }
        self.find(|kind| kind == TokenKind::Arrow);
        self.arrow(TokenKind::Arrow, "->", form)?;
        let body = self.expr()?;
        Ok(self.make(start, ExprKind::Lambda(params, body)))
    }

    /// Whether `fun x -> e` follows.
    pub(super) fn lambda_word(&self) -> bool {
        let word = matches!(self.here(), "fun" | "fn" | "lambda" | "function");
        let mut at = self.at + 1;
        // Nobody writes a λ with a hundred parameters, and searching further would be slow in a
        // long line of names.
        while word && at <= self.at + 100 && matches!(self.tokens[at].kind, TokenKind::Lower) {
            at += 1;
        }
        let end = self.tokens[at].kind;
        word && at > self.at + 1
            && (matches!(end, TokenKind::Arrow | TokenKind::FatArrow)
                || (self.here() == "lambda" && end == TokenKind::Colon))
    }

    pub(super) fn lambda_with_word(&mut self) -> Parse<Box<Expr>> {
        let start = self.at;
        let problem = forms::lambda_word(self.span(), self.here());
        self.report(problem);
        self.bump();
        let params = self.params_until(|p| p.kind() != TokenKind::Lower)?;
        self.bump();
        let body = self.nested(Self::expr)?;
        Ok(self.make(start, ExprKind::Lambda(params, body)))
    }

    /// An arrow; reports the wrong arrow.
    fn arrow(&mut self, arrow: TokenKind, spelling: &'static str, form: &str) -> Parse<()> {
        let swapped =
            matches!(self.kind(), TokenKind::Arrow | TokenKind::FatArrow) && self.kind() != arrow;
        if swapped || (self.kind() == TokenKind::Dot && arrow == TokenKind::Arrow) {
            let problem = forms::wrong_arrow(self.span(), self.here(), spelling, form);
            self.report(problem);
            self.bump();
            return Ok(());
        }
        if self.eat(arrow) {
            Ok(())
        } else {
            Err(self.expected_in(Missing::Sign, &format!("`{spelling}`"), form))
        }
    }

    /// Consecutive `let`s, without recursion.
    fn lets(&mut self) -> Parse<Box<Expr>> {
        let mut bindings = Vec::new();
        let body = loop {
            let start = self.at;
            let keyword = self.bump().span;
            let binding = self.binding(start).unwrap_or_else(|Halt| self.lost_binding(start));
            bindings.push((keyword, binding));
            self.find_in(start);
            let mut more = !self.lost && self.eat_keyword(Keyword::In);
            if !more && !self.lost && !self.is(Keyword::Let) {
                self.missing_in(start, keyword);
                self.find_in(start);
                more = !self.lost && self.eat_keyword(Keyword::In);
            }
            if !self.lost && self.is(Keyword::Let) {
                continue;
            }
            break if more { self.expr()? } else { self.nothing() };
        };
        Ok(bindings.into_iter().rfold(body, |body, (keyword, binding)| {
            let span = keyword.to(body.span);
            let kind = match binding {
                Binding::Value(param, value) => ExprKind::Let(param, value, body),
                Binding::Functions(defs) => ExprKind::LetFunctions(defs, body),
            };
            Box::new(Expr { kind, span })
        }))
    }

    /// A `let` without a readable name.
    fn lost_binding(&mut self, start: usize) -> Binding {
        self.lost = true;
        let value = Box::new(self.error_expr(start));
        let pattern = Pattern { kind: PatternKind::Error, span: value.span };
        Binding::Value(Param { pattern, ty: None }, value)
    }

    /// Behind a problem, finds the `in` of a `let`, or the next `let` below it.
    fn find_in(&mut self, start: usize) {
        let column = self.tokens[start].column;
        self.find_where(|p| match p.kind() {
            TokenKind::Keyword(Keyword::In) => true,
            TokenKind::Keyword(Keyword::Let) => p.token().starts_line && p.token().column == column,
            _ => false,
        });
    }

    /// Reports a missing `in`, which probably belongs before a line indented no deeper than its
    /// `let`.
    fn missing_in(&mut self, start: usize, keyword: Span) {
        let end = self.at;
        let edge = self.tokens[start].column;
        let line = (start + 1..=end)
            .find(|k| self.tokens[*k].starts_line && self.tokens[*k].column <= edge);
        if self.is(Keyword::And) {
            return self.missing(forms::and_without_rec(self.span()));
        }
        self.at = line.unwrap_or(end);
        let problem = forms::missing_in(keyword, &self.found(), self.gap());
        self.at = end;
        self.missing(problem);
    }

    /// `p = e`, `f x = e`, `rec f x = e and g y = e`
    fn binding(&mut self, start: usize) -> Parse<Binding> {
        if self.kind() == TokenKind::Keyword(Keyword::Rec)
            && self.ahead(1).kind == TokenKind::Equals
        {
            self.report_reserved(Keyword::Rec);
            return Err(Halt);
        }
        if self.eat_keyword(Keyword::Rec) {
            let in_rec = std::mem::replace(&mut self.in_rec, true);
            let functions = self.rec_functions(start);
            self.in_rec = in_rec;
            return Ok(Binding::Functions(functions?));
        }
        let next = self.ahead(1).kind;
        let params = matches!(
            next,
            TokenKind::Lower
                | TokenKind::Upper
                | TokenKind::Int(_)
                | TokenKind::Real(_)
                | TokenKind::Open(_)
        );
        if self.kind() == TokenKind::Lower
            && self.here() != "_"
            && (params || matches!(next, TokenKind::Keyword(Keyword::True | Keyword::False)))
        {
            return Ok(Binding::Functions(vec![self.local_function(start, false)?]));
        }
        let param = self.let_param()?;
        if self.kind() == TokenKind::Comma {
            return self.halt(items::tuple_pattern(self.span()));
        }
        self.find(|kind| kind == TokenKind::Equals);
        let start = self.at;
        let value = match self.equals("a local name is written `let x = e in …`") {
            Ok(()) => self.expr(),
            Err(halt) => Err(halt),
        };
        let value = self.or_error(start, value);
        Ok(Binding::Value(param, value))
    }

    fn rec_functions(&mut self, start: usize) -> Parse<Vec<Def>> {
        let mut defs = vec![self.local_function(start, true)?];
        while self.is(Keyword::And) {
            let start = self.at;
            self.bump();
            defs.push(self.local_function(start, true)?);
        }
        Ok(defs)
    }

    /// A pattern, perhaps with a type: `x : t`, `(a, b)`.
    fn let_param(&mut self) -> Parse<Param> {
        let mut param = Self::into_param(self.pattern()?);
        if self.eat(TokenKind::Colon) {
            param = Param { pattern: Self::from_param(param), ty: Some(self.type_expr()?) };
        }
        Ok(param)
    }

    /// `if c then a else if d then b else e`, without recursion over the chain.
    fn choice(&mut self) -> Parse<Box<Expr>> {
        let mut branches = Vec::new();
        let otherwise = loop {
            let keyword = self.bump().span;
            let condition = self.condition(keyword)?;
            let yes = if self.lost { self.nothing() } else { self.then_branch(keyword)? };
            branches.push((keyword, condition, yes));
            if self.lost {
                break self.nothing();
            }
            if self.kind() == TokenKind::Lower {
                let problem = forms::else_if(self.span(), self.here());
                self.report(problem);
                continue;
            }
            self.bump();
            if !self.is(Keyword::If) {
                break self.expr()?;
            }
        };
        Ok(branches.into_iter().rfold(otherwise, |otherwise, (keyword, condition, yes)| {
            let span = keyword.to(otherwise.span);
            Box::new(Expr { kind: ExprKind::If(condition, yes, otherwise), span })
        }))
    }

    fn condition(&mut self, keyword: Span) -> Parse<Box<Expr>> {
        let condition = self.expr()?;
        if !self.lost && !self.is(Keyword::Then) {
            let problem = forms::missing_then(keyword, &self.found(), self.gap());
            self.missing(problem);
        }
        self.find(|kind| kind == TokenKind::Keyword(Keyword::Then));
        if !self.lost {
            self.bump();
        }
        Ok(condition)
    }

    /// A branch up to its `else` or `elif`, which is not consumed.
    fn then_branch(&mut self, keyword: Span) -> Parse<Box<Expr>> {
        let in_then = std::mem::replace(&mut self.in_then, true);
        let yes = self.expr();
        self.in_then = in_then;
        let yes = yes?;
        if !self.lost
            && (self.is(Keyword::Else)
                || (self.kind() == TokenKind::Lower && self.here().starts_with("el")))
        {
            return Ok(yes);
        }
        if !self.lost {
            let problem = forms::missing_else(keyword, &self.found(), self.gap());
            self.missing(problem);
        }
        self.find(|kind| kind == TokenKind::Keyword(Keyword::Else));
        Ok(yes)
    }

    /// `match e | P -> a | Q -> b`
    fn matching(&mut self) -> Parse<Box<Expr>> {
        let start = self.at;
        let keyword = self.bump().span;
        let first = self.first_pattern();
        let barrier = std::mem::replace(&mut self.barrier, first);
        let subject = self.nested(Self::single);
        self.barrier = barrier;
        let subject = subject?;
        self.find(|kind| kind == TokenKind::Bar);
        if self.lost {
            return Ok(self.make(start, ExprKind::Match(subject, Vec::new())));
        }
        if self.is(Keyword::With) {
            let span = self.bump().span;
            self.report(forms::match_with(span));
        }
        let first_without_bar = self.kind() != TokenKind::Bar && self.at_pattern();
        if self.kind() != TokenKind::Bar && !first_without_bar {
            if self.kind() == TokenKind::Bad {
                return Err(Halt);
            }
            let problem = forms::no_cases(keyword, &self.found(), self.gap());
            return self.halt(problem);
        }
        let mut arms = Vec::new();
        if first_without_bar {
            arms.push(self.arm()?);
        }
        while self.another_case() {
            self.bump();
            arms.push(self.arm()?);
        }
        Ok(self.make(start, ExprKind::Match(subject, arms)))
    }

    /// Whether a `|` follows, perhaps behind a problem.
    fn another_case(&mut self) -> bool {
        self.find(|kind| kind == TokenKind::Bar);
        !self.lost && self.kind() == TokenKind::Bar
    }

    /// Start of the first case of a `match` without its `|`: the last line before the first `->`.
    fn first_pattern(&self) -> usize {
        let mut depth = 0usize;
        let mut line = usize::MAX;
        let mut lambdas = 0usize;
        for at in self.at..self.tokens.len() {
            let token = self.tokens[at];
            if depth == 0 && token.starts_line && at > self.at {
                line = at;
            }
            match token.kind {
                TokenKind::Open(_) => depth += 1,
                TokenKind::Close(_) if depth == 0 => return usize::MAX,
                TokenKind::Close(_) => depth -= 1,
                TokenKind::Backslash if depth == 0 => lambdas += 1,
                TokenKind::Arrow if depth == 0 && lambdas > 0 => lambdas -= 1,
                TokenKind::Arrow if depth == 0 => return line,
                TokenKind::Bar | TokenKind::Keyword(Keyword::With) if depth == 0 => {
                    return usize::MAX;
                }
                TokenKind::Keyword(Keyword::Def) => return usize::MAX,
                _ => {}
            }
        }
        usize::MAX
    }

    fn arm(&mut self) -> Parse<Arm> {
        let start = self.at;
        let pattern = self.pattern_or_error();
        let arrow = self.case_arrow();
        let body = arrow.and_then(|()| self.expr());
        Ok(Arm { pattern, body: *self.or_error(start, body) })
    }

    /// The arrow after the pattern of a case.
    fn case_arrow(&mut self) -> Parse<()> {
        if !self.lost {
            let problem = match self.kind() {
                TokenKind::Bar => Some(forms::or_pattern(self.span())),
                TokenKind::Keyword(Keyword::If) => Some(forms::guard(self.span(), "if")),
                TokenKind::Lower if self.here() == "when" => {
                    Some(forms::guard(self.span(), "when"))
                }
                TokenKind::Colon => Some(forms::colon_in_case(self.span())),
                _ => None,
            };
            if let Some(problem) = problem {
                self.report(problem);
                self.lost = true;
            }
        }
        self.find(|kind| kind == TokenKind::Arrow);
        self.arrow(TokenKind::Arrow, "->", "a case is written `| p -> e`")
    }

    /// `for i < n, x in xs => e`
    fn array_for(&mut self) -> Parse<Box<Expr>> {
        let start = self.at;
        let keyword = self.bump().span;
        let clauses = self.clauses()?;
        self.find(|kind| kind == TokenKind::FatArrow);
        if self.is(Keyword::Checkpoint) {
            return self.halt(forms::checkpoint_array(self.span()));
        }
        if self.is(Keyword::Do) {
            let problem = forms::for_do(keyword);
            self.report(problem);
            self.bump();
        } else {
            self.arrow(
                TokenKind::FatArrow,
                "=>",
                "an array is written `for i < n => e` or `for x in xs => e`",
            )?;
        }
        let body = self.expr()?;
        Ok(self.make(start, ExprKind::For(clauses, body)))
    }

    /// One or more clauses, separated by commas. Behind a problem, parsing continues at the next
    /// comma or arrow.
    fn clauses(&mut self) -> Parse<Vec<Clause>> {
        let mut all = vec![self.clause()?];
        loop {
            self.find(|kind| matches!(kind, TokenKind::Comma | TokenKind::FatArrow));
            if self.lost || !self.eat(TokenKind::Comma) {
                return Ok(all);
            }
            all.push(self.clause()?);
        }
    }

    /// `i < n` or `p in xs`
    fn clause(&mut self) -> Parse<Clause> {
        if self.kind() == TokenKind::Lower
            && matches!(self.ahead(1).kind, TokenKind::Op(BinaryOp::Lt | BinaryOp::Le))
        {
            let name = self.bump_name();
            if self.kind() == TokenKind::Op(BinaryOp::Le) {
                let problem = forms::inclusive_for(self.span());
                self.report(problem);
            }
            self.bump();
            return Ok(Clause::Range(name, *self.nested(|p| p.binary(ADDITIVE))?));
        }
        let pattern = self.pattern()?;
        if self.kind() == TokenKind::Equals {
            return self.halt(forms::range_for(self.span()));
        }
        if !self.eat_keyword(Keyword::In) {
            return Err(self.expected_in(
                Missing::Sign,
                "`<` or `in`",
                "each part of a `for` is written `i < n` or `x in xs`",
            ));
        }
        let array = *self.nested(Self::single)?;
        if self.kind() == TokenKind::DotDot {
            return self.halt(forms::range_for(self.span()));
        }
        Ok(Clause::In(pattern, array))
    }

    /// `loop p = e for i < n do e`
    fn looping(&mut self) -> Parse<Box<Expr>> {
        let start = self.at;
        let keyword = self.bump().span;
        let param = self.let_param()?;
        if self.kind() == TokenKind::Comma {
            return self.halt(items::tuple_pattern(self.span()));
        }
        self.find(|kind| kind == TokenKind::Equals);
        self.equals("a loop is written `loop x = e for i < n do …`")?;
        let init = self.nested(Self::single)?;
        self.find(|kind| {
            matches!(kind, TokenKind::Keyword(Keyword::For | Keyword::While | Keyword::Do))
        });
        let kind = match self.kind() {
            TokenKind::Keyword(Keyword::For) => {
                self.bump();
                let clause = self.clause()?;
                LoopKind::For(Box::new(clause), self.checkpoint()?)
            }
            TokenKind::Keyword(Keyword::While) => {
                self.bump();
                let condition = self.expr()?;
                if self.is(Keyword::Checkpoint) {
                    return self.halt(forms::checkpoint_while(self.span()));
                }
                LoopKind::While(condition)
            }
            TokenKind::Bad => return Err(Halt),
            _ => {
                let problem = forms::loop_without_driver(keyword, &self.found(), self.gap());
                return self.halt(problem);
            }
        };
        self.find(|kind| kind == TokenKind::Keyword(Keyword::Do));
        self.loop_do()?;
        let body = self.expr()?;
        Ok(self.make(start, ExprKind::Loop(param, init, kind, body)))
    }

    /// `checkpoint all`, `checkpoint sqrt`, `checkpoint k`, or nothing
    fn checkpoint(&mut self) -> Parse<Option<Checkpoint>> {
        if !self.eat_keyword(Keyword::Checkpoint) {
            return Ok(None);
        }
        let policy = match self.kind() {
            TokenKind::Lower if self.here() == "all" => {
                self.bump();
                Checkpoint::All
            }
            TokenKind::Lower if self.here() == "sqrt" => {
                self.bump();
                Checkpoint::Sqrt
            }
            TokenKind::Lower | TokenKind::Int(_) | TokenKind::Open(Bracket::Round) => {
                Checkpoint::States(self.nested(Self::atom)?)
            }
            TokenKind::Bad => return Err(Halt),
            _ => {
                let problem = forms::checkpoint_policy(&self.found(), self.gap());
                return self.halt(problem);
            }
        };
        match self.kind() {
            TokenKind::Keyword(_) | TokenKind::Comma | TokenKind::FatArrow | TokenKind::Arrow => {
                Ok(Some(policy))
            }
            TokenKind::Bad => Err(Halt),
            _ => {
                let problem = forms::checkpoint_operand(&self.found(), self.gap());
                self.halt(problem)
            }
        }
    }

    fn loop_do(&mut self) -> Parse<()> {
        match self.kind() {
            TokenKind::Comma => self.halt(forms::one_clause(self.span())),
            TokenKind::FatArrow | TokenKind::Arrow => {
                let problem = forms::wrong_arrow(
                    self.span(),
                    self.here(),
                    "do",
                    "a loop is written `loop x = e for i < n do …`",
                );
                self.report(problem);
                self.bump();
                Ok(())
            }
            _ => self.expect(TokenKind::Keyword(Keyword::Do), Missing::Sign, "`do`"),
        }
    }

    /// `accumulate h = e in e`, `accumulate a = e, b = e in e`
    fn accumulating(&mut self) -> Parse<Box<Expr>> {
        let start = self.at;
        let keyword = self.bump().span;
        let mut accumulators = vec![self.accumulator()?];
        while !self.lost && self.eat(TokenKind::Comma) {
            accumulators.push(self.accumulator()?);
        }
        self.find(|kind| kind == TokenKind::Keyword(Keyword::In));
        if !self.eat_keyword(Keyword::In) {
            if self.kind() == TokenKind::Bad {
                return Err(Halt);
            }
            let problem = forms::accumulate_in(keyword, &self.found(), self.gap());
            return self.halt(problem);
        }
        let body = self.expr()?;
        Ok(self.make(start, ExprKind::Accumulate(accumulators, body)))
    }

    /// `h = e`
    fn accumulator(&mut self) -> Parse<(Name, Expr)> {
        let name = self.value_name()?;
        if self.kind() == TokenKind::Open(Bracket::Square) {
            return self.halt(forms::accumulator_name(self.span()));
        }
        self.equals("write `accumulate h = start in body`, where the body adds with `h[i] += v`")?;
        Ok((name, *self.expr()?))
    }

    /// The name of a value.
    pub(super) fn value_name(&mut self) -> Parse<Name> {
        match self.kind() {
            TokenKind::Lower => Ok(self.bump_name()),
            TokenKind::Upper => {
                let problem = items::name_case(self.span(), self.here());
                self.report(problem);
                Ok(self.bump_name())
            }
            TokenKind::Keyword(keyword) if !self.ends_item() => {
                self.report_reserved(keyword);
                Ok(self.bump_name())
            }
            _ => Err(self.expected(Missing::Name, "a name")),
        }
    }
}
