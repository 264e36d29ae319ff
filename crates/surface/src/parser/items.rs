//! Definitions, types and imports, and recovery at the next item.

use std::collections::HashSet;
use std::rc::Rc;

use lambada_source::{Fix, Problem, Span};

use super::{Halt, Parse, Parser, broken, foreign, statements};
use crate::ast::{
    BinaryOp, Def, Expr, ExprKind, Import, Item, Mode, Module, Name, Param, Rule, TypeBody,
    TypeDef, TypeExpr, TypeKind,
};
use crate::messages::syntax::Missing;
use crate::messages::{forms, items, syntax};
use crate::token::{Bracket, Keyword, Token, TokenKind};

/// Words of other languages for `def`, `type` and `import`.
const DEF_WORDS: &[&str] =
    &["fun", "func", "fn", "function", "define", "val", "var", "const", "entry"];
const TYPE_WORDS: &[&str] = &["data", "datatype", "enum", "struct", "newtype", "record"];
const IMPORT_WORDS: &[&str] = &["open", "include", "use", "from", "require", "using"];

/// The constructors of the types of a file.
pub(super) fn constructors<'a>(text: &'a str, tokens: &[Token]) -> HashSet<&'a str> {
    let (mut found, mut in_type, mut depth) = (HashSet::new(), false, 0_usize);
    for (k, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Keyword(Keyword::Type) if token.starts_line => (in_type, depth) = (true, 0),
            TokenKind::Keyword(_) => in_type = false,
            TokenKind::Open(_) => depth += 1,
            TokenKind::Close(_) => depth = depth.saturating_sub(1),
            TokenKind::Upper if in_type && depth == 0 && k > 0 => {
                if let TokenKind::Equals | TokenKind::Bar = tokens[k - 1].kind {
                    found.insert(&text[token.span.start as usize..token.span.end as usize]);
                }
            }
            _ => {}
        }
    }
    found
}

/// Whether a definition of a file, or a local function or variable, has this name.
pub(super) fn defines(text: &str, tokens: &[Token], name: &str) -> bool {
    tokens.windows(2).any(|pair| {
        let TokenKind::Keyword(keyword) = pair[0].kind else { return false };
        let binds = matches!(keyword, Keyword::Def | Keyword::Let | Keyword::Rec);
        binds && &text[pair[1].span.start as usize..pair[1].span.end as usize] == name
    })
}

/// The part of a definition between its keyword and its `=`.
#[derive(Default)]
struct Head {
    sizes: Vec<Name>,
    params: Vec<Param>,
    result: Option<TypeExpr>,
}

impl Parser<'_> {
    pub(super) fn module(&mut self) -> Module {
        let doc = self.module_doc();
        let mut items = Vec::new();
        while self.kind() != TokenKind::End {
            let start = self.at;
            self.begin_item();
            match self.item() {
                Ok(item) => items.extend(item),
                Err(Halt) => self.next_item(start),
            }
        }
        Module { doc, items, written: None }
    }

    /// The first doc comment belongs to the file if an empty line follows it.
    fn module_doc(&mut self) -> Option<Rc<str>> {
        let first = self.docs.first()?;
        let own = first.before == 0 && first.detached;
        own.then(|| self.docs.remove(0).text)
    }

    /// The doc comments before the current token.
    fn doc(&mut self) -> Option<Rc<str>> {
        let texts: Vec<&str> =
            self.docs.iter().filter(|doc| doc.before == self.at).map(|doc| &*doc.text).collect();
        (!texts.is_empty()).then(|| texts.join("\n\n").into())
    }

    fn begin_item(&mut self) {
        self.told = self.problems.len();
        self.item_column = self.token().column;
        self.item_is_let = self.is(Keyword::Let);
        (self.barrier, self.recovered) = (usize::MAX, usize::MAX);
        self.open.clear();
        self.reserved.clear();
        self.wildcard = false;
        (self.depth, self.in_then, self.in_rec) = (0, false, false);
        (self.in_clause, self.in_case) = (false, false);
        self.columns.clear();
        (self.lost, self.resumed, self.fruitless) = (false, false, 0);
    }

    /// Skips to a possible start of an item, at least one token after `start`.
    fn next_item(&mut self, start: usize) {
        self.at = self.at.max(start + 1).min(self.tokens.len() - 1);
        while !self.at_item() {
            self.bump();
        }
    }

    /// Whether an item, or a misspelled one, starts here.
    fn at_item(&self) -> bool {
        let token = self.token();
        let here = token.starts_line && token.column <= self.item_column;
        self.ends_item()
            || (here && (self.is(Keyword::Let) || self.foreign_word(self.at)))
            || self.forgotten_def()
    }

    /// Whether this is a word of another language for `def`, `type` or `import`.
    pub(super) fn foreign_word(&self, at: usize) -> bool {
        let word = self.text_at(at);
        let known =
            DEF_WORDS.contains(&word) || TYPE_WORDS.contains(&word) || IMPORT_WORDS.contains(&word);
        known
            && at + 1 < self.tokens.len()
            && matches!(
                self.tokens[at + 1].kind,
                TokenKind::Lower | TokenKind::Upper | TokenKind::Text
            )
    }

    fn item(&mut self) -> Parse<Option<Item>> {
        match self.kind() {
            TokenKind::Keyword(Keyword::Def) => self.def_item(true).map(Some),
            TokenKind::Keyword(Keyword::Type) => self.type_item().map(Some),
            TokenKind::Keyword(Keyword::Import) => self.import().map(Some),
            TokenKind::Keyword(Keyword::Let) => {
                let rec = self.ahead(1).kind == TokenKind::Keyword(Keyword::Rec);
                let span = if rec { self.span().to(self.ahead(1).span) } else { self.span() };
                self.report(items::let_at_top(span, rec));
                self.def_item(true).map(Some)
            }
            TokenKind::Lower => self.word_item(),
            TokenKind::Close(bracket) => self.halt(syntax::unopened(self.span(), bracket)),
            TokenKind::Bad => Err(Halt),
            _ => {
                let problem = items::not_an_item(self.span(), &self.found());
                self.halt(problem)
            }
        }
    }

    /// An item that starts with a name: another language's keyword, or none.
    fn word_item(&mut self) -> Parse<Option<Item>> {
        let (word, span) = (self.here(), self.span());
        let next = self.ahead(1).kind;
        let named = matches!(next, TokenKind::Lower | TokenKind::Upper);
        if DEF_WORDS.contains(&word) && named {
            self.report(items::other_word_for(
                span,
                word,
                "def",
                "a definition is written `def f x = …`",
            ));
            return self.def_item(true).map(Some);
        }
        if TYPE_WORDS.contains(&word) && named {
            self.report(items::other_word_for(
                span,
                word,
                "type",
                "a type is written `type shape = Circle real | Rect real real`",
            ));
            return self.type_item().map(Some);
        }
        if IMPORT_WORDS.contains(&word) && (named || next == TokenKind::Text) {
            let fix = self.as_import(next == TokenKind::Text);
            return self.halt(items::foreign_import(span, word, fix));
        }
        if next == TokenKind::Colon {
            foreign::signature(self);
            return if self.forgotten_def() { self.def_item(false).map(Some) } else { Err(Halt) };
        }
        if self.forgotten_def() {
            if self.problems.last().is_none_or(|problem| problem.labels[0].span != span) {
                self.report(items::missing_def(span, word));
            }
            return self.def_item(false).map(Some);
        }
        let problem = items::not_an_item(span, &self.found());
        self.halt(problem)
    }

    /// Whether `f x y = …` stands at the column of the item.
    fn forgotten_def(&self) -> bool {
        let token = self.token();
        let mut at = self.at;
        if !token.starts_line || token.column > self.item_column {
            return false;
        }
        while self.tokens[at].kind == TokenKind::Lower {
            at += 1;
        }
        at > self.at && self.tokens[at].kind == TokenKind::Equals
    }

    fn import(&mut self) -> Parse<Item> {
        let start = self.at;
        self.bump();
        if self.kind() != TokenKind::Text {
            if self.kind() == TokenKind::Bad {
                return Err(Halt);
            }
            let name = matches!(self.kind(), TokenKind::Lower | TokenKind::Upper);
            let whole = self.ahead(1).starts_line || self.ahead(1).kind == TokenKind::End;
            let quoted = Fix::around(self.span(), "\"", "\"").probable();
            let quoted = (name && whole && !self.token().starts_line).then_some(quoted);
            let problem = items::import_path(self.gap().span, &self.found(), quoted);
            return self.halt(problem);
        }
        let path = self.text();
        let alias = self.import_alias()?;
        let listed = !self.starts_item() && self.kind() == TokenKind::Open(Bracket::Round);
        let names = if listed { Some(self.import_names()?) } else { None };
        let span = self.span_from(start);
        self.end_item()?;
        Ok(Item::Import(Import { path, alias, names, span }))
    }

    /// The edits that make `open "path"`, `open path` and `from path import a, b` an import.
    fn as_import(&self, quoted: bool) -> Option<Fix> {
        let (word, path) = (self.span(), self.ahead(1).span);
        let line = self.tokens[self.at + 1..].iter();
        let line: Vec<&Token> =
            line.take_while(|t| !t.starts_line && t.kind != TokenKind::End).collect();
        let import = Fix::replace(word, "import");
        let import = match line.get(1..)? {
            [] => import,
            [keyword, first, ..] if keyword.kind == TokenKind::Keyword(Keyword::Import) => {
                let (opener, last) = (keyword.span.to(first.span.start()), line.last()?.span);
                let names = line[2..].iter().all(|token| {
                    matches!(token.kind, TokenKind::Lower | TokenKind::Upper | TokenKind::Comma)
                });
                names.then(|| import.and(Fix::replace(opener, "(")).and(Fix::behind(last, ")")))?
            }
            _ => return None,
        };
        if quoted {
            Some(import)
        } else {
            Some(import.and(Fix::around(path, "\"", "\"")).probable())
        }
    }

    /// `as name`, if it is there; `as` is no reserved word.
    fn import_alias(&mut self) -> Parse<Option<Name>> {
        if self.starts_item() || self.kind() != TokenKind::Lower || self.here() != "as" {
            return Ok(None);
        }
        self.bump();
        self.value_name().map(Some)
    }

    /// `(a, Circle, shape)`
    fn import_names(&mut self) -> Parse<Vec<Name>> {
        let one = |p: &mut Self| match p.kind() {
            TokenKind::Lower | TokenKind::Upper => Ok(p.bump_name()),
            _ => Err(p.expected_in(Missing::Name, "a name", items::IMPORT_LIST)),
        };
        self.brackets("`,`", |p| p.separated(one))?.ok_or(Halt)
    }

    /// Whether the token stands where items begin.
    pub(super) fn starts_item(&self) -> bool {
        self.token().starts_line && self.token().column <= self.item_column
    }

    /// Reports tokens after the end of an item.
    fn end_item(&mut self) -> Parse<()> {
        match self.kind() {
            TokenKind::End | TokenKind::Keyword(Keyword::Def | Keyword::Type | Keyword::Import) => {
                Ok(())
            }
            TokenKind::Bad => Err(Halt),
            TokenKind::Close(bracket) => self.halt(syntax::unopened(self.span(), bracket)),
            TokenKind::Lower
                if self.token().starts_line && self.token().column <= self.item_column =>
            {
                Ok(())
            }
            TokenKind::Keyword(Keyword::Let)
                if self.token().starts_line && self.token().column <= self.item_column =>
            {
                Ok(())
            }
            TokenKind::Equals => self.halt(forms::single_equals(self.span(), None)),
            // Reported at the `let`.
            TokenKind::Keyword(Keyword::In) if self.item_is_let => Err(Halt),
            // Possibly the end of a skipped construct.
            _ if self.resumed => Err(Halt),
            _ => {
                let problem = items::after_item(self.span(), &self.found(), self.here());
                self.halt(problem)
            }
        }
    }

    // Definitions.

    /// `def rec f [n] x : t = e with jvp dx = e`, from the keyword on, which may be wrong or
    /// missing.
    fn def_item(&mut self, keyword: bool) -> Parse<Item> {
        let (start, problems) = (self.at, self.problems.len());
        let doc = self.doc();
        if keyword {
            self.bump();
        }
        let recursive = self.eat_keyword(Keyword::Rec);
        if matches!(self.kind(), TokenKind::Open(Bracket::Round | Bracket::Curly)) {
            return self.halt(items::needs_name(self.span()));
        }
        let name = self.value_name()?;
        let mut head = Head::default();
        let body = self.def_body(&mut head, start);
        let ended = body.is_err() || self.end_item().is_ok();
        let span = self.span_from(start);
        let error = Expr { kind: ExprKind::Error, span };
        let (mut body, rules) = body.unwrap_or((error, Vec::new()));
        if (self.problems.len() > self.told || statements::returns(self, start))
            && let Some(problem) = statements::statements(self, start)
        {
            self.problems.truncate(self.told);
            self.problems.push(problem);
            body = Expr { kind: ExprKind::Error, span };
        }
        if self.problems.len() > problems || self.lexical_problem(span) {
            body = broken(body, span);
        }
        if !ended || matches!(body.kind, ExprKind::Error | ExprKind::Broken(_)) {
            self.resynchronize(start);
        }
        let Head { sizes, params, result } = head;
        Ok(Item::Def(Def { doc, recursive, name, sizes, params, result, body, rules, span }))
    }

    /// Skips the rest of an item with a problem.
    fn resynchronize(&mut self, start: usize) {
        if !self.at_item() || self.at <= start {
            self.next_item(start.max(self.at.saturating_sub(1)));
        }
    }

    /// Whether the lexer has reported a problem in this span.
    fn lexical_problem(&self, span: Span) -> bool {
        let start = |problem: &Problem| problem.labels.first().map_or(0, |label| label.span.start);
        let lexical = &self.problems[..self.lexical];
        let first = lexical.partition_point(|problem| start(problem) < span.start);
        lexical.get(first).is_some_and(|problem| start(problem) < span.end)
    }

    fn def_body(&mut self, head: &mut Head, start: usize) -> Parse<(Expr, Vec<Rule>)> {
        self.head(head)?;
        let body = self.expr()?;
        self.find_where(Self::at_rule);
        let mut rules = Vec::new();
        self.rules(&mut rules).unwrap_or_else(|Halt| self.lost = true);
        debug_assert!(self.at > start);
        Ok((*body, rules))
    }

    /// `[n] (x : [n]real) : real =`
    fn head(&mut self, head: &mut Head) -> Parse<()> {
        while self.kind() == TokenKind::Open(Bracket::Square) && !self.at_array_pattern() {
            head.sizes.push(self.size_variable()?);
        }
        let body = foreign::braced_body(self);
        head.params = self.params_until(|p| {
            p.kind() == TokenKind::Equals || body == Some(p.kind()) || p.at_size_variable()
        })?;
        if let Some(end) = self.at_other_head() {
            head.result = Some(self.other_head(end)?);
            return Ok(());
        }
        match self.kind() {
            TokenKind::Open(Bracket::Square) => {
                return self.halt(items::sizes_come_first(self.span()));
            }
            TokenKind::Open(Bracket::Curly) => {
                let inside = self.within(self.at + 1).filter(|(depth, _)| *depth == 0);
                let closers = inside.filter(|(_, t)| t.kind == TokenKind::Close(Bracket::Curly));
                let closer = closers.map(|(_, token)| token.span).last();
                return self.halt(forms::braces_around_body(self.span(), closer));
            }
            TokenKind::Arrow | TokenKind::FatArrow => {
                let typed = self.equals_follows();
                let better = if typed { ":" } else { "=" };
                let problem = forms::wrong_arrow(
                    self.span(),
                    self.here(),
                    better,
                    "a definition is written `def f x : t = e` or `def f x = e`",
                );
                self.report(problem);
                self.bump();
                if !typed {
                    return Ok(());
                }
                head.result = Some(self.type_expr()?);
            }
            _ => {}
        }
        if self.eat(TokenKind::Colon) {
            if !self.starts_type() || self.at_body() {
                let colon = self.tokens[self.at - 1];
                let follows = self.kind() == TokenKind::Equals;
                let defines = follows.then(|| colon.span.to(self.span().start()));
                return self.halt(forms::body_after_colon(colon.span, colon.touches, defines));
            }
            let colon = self.tokens[self.at - 1].span;
            head.result = Some(self.type_expr()?);
            if !matches!(
                self.kind(),
                TokenKind::Equals | TokenKind::Op(BinaryOp::Eq) | TokenKind::Bad
            ) {
                let problem = forms::body_after_type(colon, &self.found(), self.gap());
                return self.halt(problem);
            }
        }
        if self.ends_item() {
            let problem = items::no_body(&self.found(), self.gap());
            return self.halt(problem);
        }
        if self.lost {
            // Half of the parameters would mislead callers, so the head is dropped.
            *head = Head::default();
            self.find(|kind| kind == TokenKind::Equals);
        }
        self.equals("a definition is written `def f x = e`")
    }

    /// Whether the body follows and not a type, because an operator or a form that no type has
    /// comes before any `=`.
    fn at_body(&self) -> bool {
        for token in &self.tokens[self.at..] {
            match token.kind {
                TokenKind::Op(BinaryOp::Mul) | TokenKind::Keyword(Keyword::With) => {}
                TokenKind::Real(_) | TokenKind::Op(_) | TokenKind::Keyword(_) => {
                    return !matches!(
                        token.kind,
                        TokenKind::Op(BinaryOp::Eq)
                            | TokenKind::Keyword(Keyword::Def | Keyword::Type | Keyword::Import)
                    );
                }
                TokenKind::Open(Bracket::Square) | TokenKind::Equals | TokenKind::End => {
                    return false;
                }
                _ => {}
            }
        }
        false
    }

    /// Whether an `=` follows on this line.
    fn equals_follows(&self) -> bool {
        let mut rest = self.tokens[self.at + 1..].iter().take_while(|token| !token.starts_line);
        rest.any(|token| token.kind == TokenKind::Equals)
    }

    /// Whether `[n]` follows.
    fn at_size_variable(&self) -> bool {
        self.kind() == TokenKind::Open(Bracket::Square)
            && matches!(self.ahead(1).kind, TokenKind::Lower | TokenKind::Upper)
            && self.ahead(2).kind == TokenKind::Close(Bracket::Square)
    }

    /// Whether `[a, b]`, a parameter, follows.
    fn at_array_pattern(&self) -> bool {
        let (mut at, mut depth) = (self.at, 0_usize);
        loop {
            match self.tokens[at].kind {
                TokenKind::Open(_) => depth += 1,
                TokenKind::Close(_) if depth == 1 => return false,
                TokenKind::Close(_) => depth -= 1,
                TokenKind::Comma if depth == 1 => return true,
                TokenKind::Equals if depth < 2 => return false,
                TokenKind::End => return false,
                _ => {}
            }
            at += 1;
        }
    }

    fn size_variable(&mut self) -> Parse<Name> {
        let start = self.at;
        if self.token().touches && !self.at_size_variable() {
            let name = self.text_at(start - 1);
            let local =
                start > 1 && self.tokens[start - 2].kind == TokenKind::Keyword(Keyword::Let);
            let place = self.tokens[start - 1].span;
            let update = local.then(|| Fix::behind(place, format!(" = {name} with ")));
            return self.halt(items::element_assignment(self.span(), name, update));
        }
        let name = self.brackets("", |p| match (p.kind(), p.ahead(1).kind) {
            (TokenKind::Lower | TokenKind::Upper, TokenKind::Close(_)) => Ok(p.bump_name()),
            _ => {
                let split = p.each_name_in_brackets();
                p.halt(items::size_is_a_name(p.span(), split))
            }
        })?;
        Ok(name.unwrap_or(Name { text: "_".into(), span: self.span_from(start) }))
    }

    /// A local function after its `let`, `let rec` or `and`.
    pub(super) fn local_function(&mut self, start: usize, recursive: bool) -> Parse<Def> {
        let name = self.value_name()?;
        let mut head = Head::default();
        self.head(&mut head)?;
        let body = *self.expr()?;
        let mut rules = Vec::new();
        self.rules(&mut rules)?;
        let Head { sizes, params, result } = head;
        Ok(Def {
            doc: None,
            recursive,
            name,
            sizes,
            params,
            result,
            body,
            rules,
            span: self.span_from(start),
        })
    }

    /// The rules after the body of a function.
    fn rules(&mut self, rules: &mut Vec<Rule>) -> Parse<()> {
        while !self.lost && self.is(Keyword::With) {
            rules.push(self.rule()?);
            self.find_where(Self::at_rule);
        }
        Ok(())
    }

    /// Whether a rule starts here, and not an update.
    fn at_rule(&self) -> bool {
        self.is(Keyword::With) && matches!(self.text_at(self.at + 1), "jvp" | "vjp" | "pseudo")
    }

    /// `with jvp dx = e`, `with pseudo vjp dy of y = e`; `pseudo` and `of` are words only here.
    fn rule(&mut self) -> Parse<Rule> {
        let start = self.at;
        self.bump();
        let pseudo = self.eat_word("pseudo");
        let mode = match (self.kind(), self.here()) {
            (TokenKind::Lower, "jvp") => Mode::Forward,
            (TokenKind::Lower, "vjp") => Mode::Reverse,
            _ => {
                let problem = items::rule_mode(self.span(), &self.found());
                return self.halt(problem);
            }
        };
        self.bump();
        let params = self.params_until(|p| p.kind() == TokenKind::Equals || p.here() == "of")?;
        if params.is_empty() {
            return self.halt(items::rule_params(self.tokens[self.at - 1].span));
        }
        let value =
            if self.eat_word("of") { Some(Self::into_param(self.atomic_pattern()?)) } else { None };
        self.equals("a derivative is written `with jvp dx = …` or `with vjp dy = …`")?;
        let body = *self.expr()?;
        Ok(Rule { pseudo, mode, params, value, body, span: self.span_from(start) })
    }

    /// Consumes a contextual keyword.
    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.kind() == TokenKind::Lower && self.here() == word;
        if found {
            self.bump();
        }
        found
    }

    // Types.

    /// `type shape a = Circle real | Rect a a`
    fn type_item(&mut self) -> Parse<Item> {
        let start = self.at;
        let doc = self.doc();
        self.bump();
        let name = self.type_def_name()?;
        let (mut sizes, mut params) = (Vec::new(), Vec::new());
        while self.kind() == TokenKind::Open(Bracket::Square) {
            sizes.push(self.size_variable()?);
        }
        while self.kind() == TokenKind::Lower {
            params.push(self.bump_name());
        }
        let mut constructors = Vec::new();
        let body =
            self.type_body(&mut constructors).and_then(|body| self.end_item().map(|()| body));
        let span = self.span_from(start);
        if body.is_err() {
            self.resynchronize(start);
        }
        let body = body.unwrap_or_else(|Halt| match constructors.is_empty() {
            true => TypeBody::Alias(TypeExpr { kind: TypeKind::Error, span }),
            false => TypeBody::Variant(constructors),
        });
        Ok(Item::Type(TypeDef { doc, name, sizes, params, body, span }))
    }

    fn type_def_name(&mut self) -> Parse<Name> {
        if self.kind() == TokenKind::Upper {
            let problem = items::type_name_case(self.span(), self.here());
            self.report(problem);
            return Ok(self.bump_name());
        }
        self.value_name()
    }

    /// A variant if it starts with a constructor, otherwise an alias.
    fn type_body(&mut self, constructors: &mut Vec<(Name, Vec<TypeExpr>)>) -> Parse<TypeBody> {
        self.equals("a type is written `type shape = Circle real | Rect real real` or `type vec3 = [3]real`")?;
        let bar = self.eat(TokenKind::Bar);
        let alias = self.kind() != TokenKind::Upper && !bar;
        if alias {
            let ty = self.type_expr()?;
            if self.kind() == TokenKind::Bar {
                let text = self.text_of(ty.span);
                let name = text.split_whitespace().next().unwrap_or(text);
                let span = Span { end: ty.span.start + name.len() as u32, ..ty.span };
                let others = self.lower_alternatives();
                return self.halt(items::constructor_case(span, name, &others));
            }
            return Ok(TypeBody::Alias(ty));
        }
        loop {
            let name = self.constructor_name()?;
            let mut arguments = Vec::new();
            while self.starts_type() && !self.forgotten_def() {
                arguments.push(self.constructor_argument()?);
            }
            constructors.push((name, arguments));
            if !self.eat(TokenKind::Bar) {
                return Ok(TypeBody::Variant(std::mem::take(constructors)));
            }
        }
    }

    /// The name of a value.
    pub(super) fn value_name(&mut self) -> Parse<Name> {
        match self.kind() {
            TokenKind::Lower | TokenKind::Upper => Ok(self.bump_name()),
            TokenKind::Keyword(keyword) if !self.ends_item() => {
                self.report_reserved(keyword);
                Ok(self.bump_name())
            }
            _ => Err(self.expected(Missing::Name, "a name")),
        }
    }

    fn constructor_argument(&mut self) -> Parse<TypeExpr> {
        if self.kind() == TokenKind::Lower && self.here() == "of" {
            let arguments = self.without_of();
            return self.halt(items::constructor_of(self.span(), arguments));
        }
        self.atomic_type()
    }

    fn constructor_name(&mut self) -> Parse<Name> {
        match self.kind() {
            TokenKind::Upper => Ok(self.bump_name()),
            TokenKind::Lower => {
                let problem = items::constructor_case(self.span(), self.here(), &[]);
                self.report(problem);
                Ok(self.bump_name())
            }
            _ => Err(self.expected(Missing::Name, "the name of a constructor")),
        }
    }
}
