//! The forms that start with a keyword and extend as far right as possible: λ, `let`, `if`,
//! `match`, `for`, `loop`, `accumulate`.

use lambada_source::{Fix, Span};

use super::lets::Layout;
use super::{Halt, Parse, Parser};
use crate::ast::{Arm, BinaryOp, Checkpoint, Expr, ExprKind, LoopKind, Name, PatternKind};
use crate::messages::syntax::Missing;
use crate::messages::{forms, items};
use crate::token::{Bracket, Keyword, TokenKind};

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

    /// `\x y -> e`, `fun x y -> e`
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

    /// Whether `fun x -> e` follows, perhaps with another word for `fun`.
    pub(super) fn lambda_word(&self) -> bool {
        matches!(self.here(), "fun" | "fn" | "lambda" | "function")
            && self.after_params().is_some_and(|end| {
                matches!(end, TokenKind::Arrow | TokenKind::FatArrow)
                    || (self.here() == "lambda" && end == TokenKind::Colon)
            })
    }

    /// The token after the parameters that follow the current token, if there are any.
    pub(super) fn after_params(&self) -> Option<TokenKind> {
        let (mut at, mut depth) = (self.at + 1, 0_usize);
        // Nobody writes a λ with a hundred tokens of parameters, and searching further would be
        // slow in a long line of names.
        while at < self.tokens.len() && at <= self.at + 100 {
            match self.tokens[at].kind {
                TokenKind::Lower
                | TokenKind::Upper
                | TokenKind::Int(_)
                | TokenKind::Real(_)
                | TokenKind::Keyword(Keyword::True | Keyword::False) => {}
                TokenKind::Open(_) => depth += 1,
                TokenKind::Close(_) if depth > 0 => depth -= 1,
                TokenKind::End => return Some(TokenKind::End),
                _ if depth > 0 => {}
                TokenKind::Keyword(_) => return Some(TokenKind::End),
                end => return (at > self.at + 1).then_some(end),
            }
            at += 1;
        }
        None
    }

    /// `fun x -> e`; other words for `fun` have a problem.
    pub(super) fn lambda_with_word(&mut self) -> Parse<Box<Expr>> {
        let start = self.at;
        if self.here() == "fun" {
            return self.nested(Self::lambda);
        }
        let (word, first) = (self.span(), self.ahead(1).span);
        let name = self.here();
        self.bump();
        let params = self.params_until(|p| {
            matches!(p.kind(), TokenKind::Arrow | TokenKind::FatArrow | TokenKind::Colon)
        });
        let sign = (self.kind() != TokenKind::Arrow).then(|| self.span());
        self.report(forms::lambda_word(word, name, first, sign));
        let params = params?;
        self.bump();
        let body = self.nested(Self::expr)?;
        Ok(self.make(start, ExprKind::Lambda(params, body)))
    }

    /// An arrow; reports the wrong arrow.
    fn arrow(&mut self, arrow: TokenKind, spelling: &'static str, form: &str) -> Parse<()> {
        let swapped =
            matches!(self.kind(), TokenKind::Arrow | TokenKind::FatArrow) && self.kind() != arrow;
        let other = match self.kind() {
            TokenKind::Dot => arrow == TokenKind::Arrow,
            TokenKind::Colon => arrow == TokenKind::Arrow && !self.arrow_follows(),
            _ => false,
        };
        if swapped || other {
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

    /// Whether a `->` follows on this line, so that a `:` begins a type.
    fn arrow_follows(&self) -> bool {
        let mut rest = self.tokens[self.at + 1..].iter().take_while(|token| !token.starts_line);
        rest.any(|token| token.kind == TokenKind::Arrow)
    }

    /// `if c then a else if d then b else e`, without recursion over the chain.
    fn choice(&mut self) -> Parse<Box<Expr>> {
        let (mut branches, mut colons) = (Vec::new(), false);
        let otherwise = loop {
            let keyword = self.bump().span;
            let condition = self.condition(keyword, &mut colons)?;
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
            if colons {
                self.eat(TokenKind::Colon);
            }
            if !self.is(Keyword::If) {
                break self.expr()?;
            }
        };
        Ok(branches.into_iter().rfold(otherwise, |otherwise, (keyword, condition, yes)| {
            let span = keyword.to(otherwise.span);
            Box::new(Expr { kind: ExprKind::If(condition, yes, otherwise), span })
        }))
    }

    /// The condition and its `then`. `colons` says whether a `:` stood in the place of a `then`.
    fn condition(&mut self, keyword: Span, colons: &mut bool) -> Parse<Box<Expr>> {
        let condition = self.in_condition(Self::expr)?;
        if !self.lost && self.kind() == TokenKind::Colon {
            *colons = true;
            let fix = self.without_colons();
            let problem = forms::missing_then(keyword, &self.found(), self.gap(), Some(fix));
            self.report(problem);
            self.bump();
            return Ok(condition);
        }
        if !self.lost && !self.is(Keyword::Then) {
            let problem = forms::missing_then(keyword, &self.found(), self.gap(), None);
            self.missing(problem);
        }
        self.find(|kind| kind == TokenKind::Keyword(Keyword::Then));
        if !self.lost {
            self.bump();
        }
        Ok(condition)
    }

    /// The edits for the colon here, and the one behind the `else` if the next `else` has one.
    fn without_colons(&self) -> Fix {
        let touches = if self.token().touches { " then" } else { "then" };
        let then = Fix::replace(self.span(), touches);
        let mut keywords = self.tokens[self.at..].windows(2).filter(|pair| {
            matches!(pair[0].kind, TokenKind::Keyword(Keyword::Else | Keyword::If | Keyword::Def))
        });
        match keywords.next() {
            Some([word, colon])
                if word.kind == TokenKind::Keyword(Keyword::Else)
                    && colon.kind == TokenKind::Colon =>
            {
                then.and(Fix::remove(colon.span))
            }
            _ => then,
        }
    }

    /// Whether the `if` here stands behind the value that it chooses: `a if c else b`.
    pub(super) fn at_condition_between(&self) -> bool {
        if !self.is(Keyword::If) {
            return false;
        }
        let inside = self.within(self.at + 1).filter(|(depth, _)| *depth == 0);
        let mut keywords = inside.filter_map(|(_, token)| match token.kind {
            TokenKind::Keyword(keyword @ (Keyword::Then | Keyword::Else | Keyword::Def)) => {
                Some(keyword)
            }
            _ => None,
        });
        keywords.next() == Some(Keyword::Else)
    }

    /// Reports `a if c else b`, and reads it.
    pub(super) fn condition_between(&mut self, value: Box<Expr>) -> Parse<Box<Expr>> {
        let keyword = self.bump().span;
        let condition = self.in_condition(|p| p.nested(Self::single))?;
        if !self.is(Keyword::Else) {
            return Ok(value);
        }
        let otherwise = self.bump().span;
        let [c, a] = [condition.span, value.span].map(|span| self.text_of(span));
        let better = format!("if {c} then {a} else");
        let whole = value.span.to(otherwise);
        self.report(forms::condition_between(keyword, value.span, whole, &better));
        let other = self.nested(Self::single)?;
        let span = value.span.to(other.span);
        Ok(Box::new(Expr { kind: ExprKind::If(condition, value, other), span }))
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

    /// `match e | P -> a | Q -> b`, perhaps with a `with` after `e`
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
        self.eat_keyword(Keyword::With);
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
        // After a `:` outside of brackets an arrow belongs to the type of a local function.
        let mut typed = false;
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
                TokenKind::Colon if depth == 0 => typed = true,
                TokenKind::Equals if depth == 0 => typed = false,
                TokenKind::Arrow if depth == 0 && typed => {}
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

    /// `p -> e`, `p if c -> e`
    fn arm(&mut self) -> Parse<Arm> {
        let start = self.at;
        let in_case = std::mem::replace(&mut self.in_case, true);
        let pattern = self.pattern_or_error();
        self.in_case = in_case;
        let guard = if self.lost { None } else { self.guard()? };
        let arrow = self.case_arrow();
        let body = arrow.and_then(|()| self.expr());
        Ok(Arm { pattern, guard, body: *self.or_error(start, body) })
    }

    /// `if c` or `when c`, between the pattern of a case and its arrow.
    fn guard(&mut self) -> Parse<Option<Expr>> {
        if !self.is(Keyword::If) && !self.at_when() {
            return Ok(None);
        }
        self.bump();
        Ok(Some(*self.in_condition(|p| p.nested(Self::single))?))
    }

    /// Whether `when c` follows, a condition in the spelling of another language.
    pub(super) fn at_when(&self) -> bool {
        let next = self.ahead(1).kind;
        let condition = matches!(
            next,
            TokenKind::Lower
                | TokenKind::Upper
                | TokenKind::Int(_)
                | TokenKind::Real(_)
                | TokenKind::Keyword(_)
                | TokenKind::Open(_)
                | TokenKind::Op(BinaryOp::Sub)
        );
        self.kind() == TokenKind::Lower && self.here() == "when" && condition
    }

    /// The arrow after the pattern of a case.
    fn case_arrow(&mut self) -> Parse<()> {
        if !self.lost && self.kind() == TokenKind::Colon {
            self.report(forms::colon_in_case(self.span(), self.token().touches));
            self.lost = true;
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
            let problem = forms::for_do(keyword, self.span());
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
        Ok(self.make(start, Self::array_over(clauses, body)))
    }

    /// `loop p = e for i < n do e`
    fn looping(&mut self) -> Parse<Box<Expr>> {
        let start = self.at;
        let keyword = self.bump().span;
        let first = self.at;
        let param = self.let_param()?;
        if self.kind() == TokenKind::Comma {
            let tuple = self.up_to_equals(first);
            return self.halt(items::tuple_pattern(self.span(), tuple));
        }
        let init = match &param.pattern.kind {
            // `loop x for …` begins with the `x` around it.
            PatternKind::Var(name) if self.at_driver() => {
                Box::new(Expr { kind: ExprKind::Var(name.clone()), span: param.pattern.span })
            }
            _ => {
                self.find(|kind| kind == TokenKind::Equals);
                self.equals("a loop is written `loop x = e for i < n do …`")?;
                self.nested(Self::single)?
            }
        };
        self.find(|kind| {
            matches!(kind, TokenKind::Keyword(Keyword::For | Keyword::While | Keyword::Do))
        });
        let kind = match self.kind() {
            TokenKind::Keyword(Keyword::For) => {
                self.bump();
                let clause = self.clause()?;
                let filter = self.filter()?.map(Box::new);
                LoopKind::For(Box::new(clause), filter, self.checkpoint()?)
            }
            TokenKind::Keyword(Keyword::While) => {
                self.bump();
                let condition = self.in_condition(Self::expr)?;
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

    fn at_driver(&self) -> bool {
        matches!(self.kind(), TokenKind::Keyword(Keyword::For | Keyword::While))
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
            TokenKind::Lower
            | TokenKind::Upper
            | TokenKind::Int(_)
            | TokenKind::Open(Bracket::Round) => Checkpoint::States(self.nested(Self::atom)?),
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
        let (keyword, around) = (self.bump().span, self.columns.len());
        self.enter_let(start, Layout::Value);
        let accumulators = self.accumulators();
        self.find_in(start);
        self.columns.truncate(around);
        let accumulators = accumulators?;
        if self.kind() == TokenKind::Bad {
            return Err(Halt);
        }
        let Some(layout) = self.body_follows(start) else {
            let problem = forms::accumulate_in(
                keyword,
                &self.found(),
                self.gap(),
                self.starts_expression() && !self.ends_item(),
            );
            return self.halt(problem);
        };
        let body = self.body(start, layout)?;
        Ok(self.make(start, ExprKind::Accumulate(accumulators, body)))
    }

    fn accumulators(&mut self) -> Parse<Vec<(Name, Expr)>> {
        let mut accumulators = vec![self.accumulator()?];
        while !self.lost && self.eat(TokenKind::Comma) {
            accumulators.push(self.accumulator()?);
        }
        Ok(accumulators)
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
}
