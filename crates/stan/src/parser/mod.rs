//! Tokens → syntax tree. The first mistake ends it.

mod declarations;
mod expr;
mod statements;

use lambada_source::{FileId, Problem, Span};

use crate::ast::{Function, Name, Program};
use crate::lexer::{Comment, Kind, Token, Tokens, tokens};
use crate::messages;

/// The syntax tree of a Stan program.
///
/// # Errors
/// The first mistake.
pub fn parse(text: &str, file: FileId) -> Result<Program, Problem> {
    let Tokens { tokens, comments } = tokens(text, file)?;
    let mut parser = Parser { text, tokens, comments, at: 0, told: 0, depth: 0 };
    parser.program()
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    comments: Vec<Comment>,
    at: usize,
    /// The first comment that belongs to no statement yet.
    told: usize,
    /// Nesting of expressions and statements.
    depth: usize,
}

type Parsed<T> = Result<T, Problem>;

/// Limit on nesting, because the parser is recursive.
const DEEPEST: usize = 200;

impl Parser<'_> {
    fn program(&mut self) -> Parsed<Program> {
        let mut program = Program { doc: self.comments_before(), ..Program::default() };
        while !self.is_end() {
            let name = self.name()?;
            let known = match name.text.as_str() {
                "transformed" | "generated" => {
                    let second = self.name()?;
                    format!("{} {}", name.text, second.text)
                }
                _ => name.text.clone(),
            };
            self.expect("{")?;
            match known.as_str() {
                "functions" => self.functions(&mut program.functions)?,
                "data" => program.data = self.declarations()?,
                "transformed data" => program.transformed_data = self.statements()?,
                "parameters" => program.parameters = self.declarations()?,
                "transformed parameters" => program.transformed_parameters = self.statements()?,
                "model" => program.model = self.statements()?,
                "generated quantities" => program.generated = self.statements()?,
                _ => return Err(messages::block(&known, name.span)),
            }
        }
        Ok(program)
    }

    /// Functions up to the closing brace.
    fn functions(&mut self, functions: &mut Vec<Function>) -> Parsed<()> {
        while !self.take("}") {
            let doc = self.comments_before();
            let result = if self.take_word("void") { None } else { Some(self.unsized_type()?) };
            let name = self.name()?;
            self.expect("(")?;
            let mut params = Vec::new();
            while !self.take(")") {
                self.take_word("data");
                let ty = self.unsized_type()?;
                params.push((ty, self.name()?));
                if !self.take(",") && !self.is(")") {
                    return Err(self.expected("`,` or `)`"));
                }
            }
            let body = if self.take(";") {
                None
            } else {
                self.expect("{")?;
                Some(self.statements()?)
            };
            functions.retain(|one: &Function| one.body.is_some() || one.name.text != name.text);
            functions.push(Function { name, result, params, body, doc });
        }
        Ok(())
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.at]
    }

    fn after(&self, k: usize) -> &Kind {
        &self.tokens[(self.at + k).min(self.tokens.len() - 1)].kind
    }

    fn is_end(&self) -> bool {
        self.peek().kind == Kind::End
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.peek().kind, Kind::Sign(found) if found == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(&self.peek().kind, Kind::Word(found) if found == word)
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    fn take(&mut self, sign: &str) -> bool {
        let is = self.is(sign);
        if is {
            self.next();
        }
        is
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        if is {
            self.next();
        }
        is
    }

    fn expect(&mut self, sign: &str) -> Parsed<Span> {
        if self.is(sign) { Ok(self.next().span) } else { Err(self.expected(&format!("`{sign}`"))) }
    }

    fn expected(&self, what: &str) -> Problem {
        let token = self.peek();
        let range = token.span.start as usize..token.span.end as usize;
        messages::expected(what, self.text.get(range).unwrap_or(""), token.span)
    }

    fn name(&mut self) -> Parsed<Name> {
        let Token { kind, span } = self.peek().clone();
        let Kind::Word(text) = kind else { return Err(self.expected("a name")) };
        self.next();
        Ok(Name { text, span })
    }

    /// The end of the last token.
    fn last_end(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    fn deeper<T>(&mut self, f: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(messages::too_deep(self.peek().span));
        }
        let out = f(self);
        self.depth -= 1;
        out
    }

    /// Comments between the last token and the next one that belong to no statement yet.
    fn comments_before(&mut self) -> Vec<String> {
        let start = self.peek().span.start;
        let mut lines = Vec::new();
        while let Some(comment) = self.comments.get(self.told)
            && comment.span.start < start
        {
            if comment.own_line {
                lines.extend(comment.lines.iter().cloned());
            }
            self.told += 1;
        }
        lines.retain(|line| !line.is_empty());
        lines
    }

    /// The comment behind the last token, on its line.
    fn comment_after(&mut self) -> Vec<String> {
        let end = self.last_end().end as usize;
        let Some(comment) = self.comments.get(self.told) else { return Vec::new() };
        let start = comment.span.start as usize;
        if start < end
            || self.text[end..start].contains('\n')
            || self.peek().span.start < start as u32
        {
            return Vec::new();
        }
        self.told += 1;
        let mut lines = comment.lines.clone();
        lines.retain(|line| !line.is_empty());
        lines
    }
}
