//! Statements.

use super::{Parsed, Parser};
use crate::ast::{BinaryOp, Expr, ExprKind, Stmt, StmtKind};
use crate::lexer::Kind;
use crate::messages;

/// Operators of assignments.
const ASSIGNMENTS: [(&str, Option<BinaryOp>); 9] = [
    ("=", None),
    ("<-", None),
    ("+=", Some(BinaryOp::Add)),
    ("-=", Some(BinaryOp::Sub)),
    ("*=", Some(BinaryOp::Mul)),
    ("/=", Some(BinaryOp::Div)),
    (".*=", Some(BinaryOp::TimesEach)),
    ("./=", Some(BinaryOp::DivEach)),
    ("%/%=", Some(BinaryOp::IntDiv)),
];

impl Parser<'_> {
    /// Statements up to the closing brace.
    pub(super) fn statements(&mut self) -> Parsed<Vec<Stmt>> {
        let mut out = Vec::new();
        while !self.is("}") {
            if self.is_end() {
                return Err(self.expected("`}`"));
            }
            self.statement(&mut out)?;
        }
        self.comments_before();
        self.expect("}")?;
        Ok(out)
    }

    fn statement(&mut self, out: &mut Vec<Stmt>) -> Parsed<()> {
        if self.take(";") {
            return Ok(());
        }
        if self.begins_type() {
            return self.declaration(out);
        }
        let mut doc = self.comments_before();
        let start = self.peek().span;
        let kind = self.deeper(Parser::statement_kind)?;
        doc.extend(self.comment_after());
        out.push(Stmt { kind, span: start.to(self.last_end()), doc });
        Ok(())
    }

    /// A statement as the body of another.
    fn body(&mut self) -> Parsed<Vec<Stmt>> {
        if self.take("{") {
            self.comment_after();
            return self.statements();
        }
        let mut out = Vec::new();
        self.statement(&mut out)?;
        Ok(out)
    }

    fn statement_kind(&mut self) -> Parsed<StmtKind> {
        let Kind::Word(word) = self.peek().kind.clone() else {
            if self.take("{") {
                return Ok(StmtKind::Block(self.statements()?));
            }
            return self.simple();
        };
        match word.as_str() {
            "for" => self.for_(),
            "while" => {
                self.next();
                self.expect("(")?;
                let condition = self.expr()?;
                self.expect(")")?;
                Ok(StmtKind::While(condition, self.body()?))
            }
            "if" => self.if_(),
            "target" if matches!(self.after(1), Kind::Sign("+=")) => {
                self.next();
                self.next();
                let value = self.expr()?;
                self.expect(";")?;
                Ok(StmtKind::Target(value))
            }
            "return" => {
                self.next();
                let value = if self.is(";") { None } else { Some(self.expr()?) };
                self.expect(";")?;
                Ok(StmtKind::Return(value))
            }
            "break" | "continue" => {
                self.next();
                self.expect(";")?;
                Ok(StmtKind::Jump(if word == "break" { "break" } else { "continue" }))
            }
            "print" | "reject" | "fatal_error" => {
                self.next();
                self.expect("(")?;
                let args = self.arguments(")")?;
                self.expect(";")?;
                Ok(if word == "print" { StmtKind::Print } else { StmtKind::Reject(args) })
            }
            "profile" if matches!(self.after(1), Kind::Sign("(")) => {
                self.next();
                self.next();
                self.arguments(")")?;
                self.expect("{")?;
                Ok(StmtKind::Block(self.statements()?))
            }
            _ => self.simple(),
        }
    }

    fn for_(&mut self) -> Parsed<StmtKind> {
        self.next();
        self.expect("(")?;
        let var = self.name()?;
        if !self.take_word("in") {
            return Err(self.expected("`in`"));
        }
        let from = self.expr()?;
        if self.take(":") {
            let to = self.expr()?;
            self.expect(")")?;
            return Ok(StmtKind::For { var, from, to, body: self.body()? });
        }
        self.expect(")")?;
        Ok(StmtKind::Each { var, over: from, body: self.body()? })
    }

    fn if_(&mut self) -> Parsed<StmtKind> {
        self.next();
        self.expect("(")?;
        let condition = self.expr()?;
        self.expect(")")?;
        let yes = self.body()?;
        self.comments_before();
        let no = if self.take_word("else") { self.body()? } else { Vec::new() };
        Ok(StmtKind::If(condition, yes, no))
    }

    /// An assignment, a sampling statement or a call.
    fn simple(&mut self) -> Parsed<StmtKind> {
        let left = self.expr()?;
        if self.take("~") {
            return self.tilde(left);
        }
        if let Kind::Sign(sign) = self.peek().kind
            && let Some(&(_, op)) = ASSIGNMENTS.iter().find(|row| row.0 == sign)
        {
            self.next();
            let value = self.expr()?;
            self.expect(";")?;
            return assignment(left, op, value);
        }
        self.expect(";")?;
        match left.kind {
            ExprKind::Call(name, mut args)
                if name.text == "increment_log_prob" && args.len() == 1 =>
            {
                Ok(StmtKind::Target(args.remove(0)))
            }
            ExprKind::Call(name, args) => Ok(StmtKind::Call(name, args)),
            _ => Err(messages::expected("a statement", "", left.span)),
        }
    }

    fn tilde(&mut self, value: Expr) -> Parsed<StmtKind> {
        let name = self.name()?;
        self.expect("(")?;
        let args = self.arguments(")")?;
        let mut truncation = None;
        if self.is_word("T") && matches!(self.after(1), Kind::Sign("[")) {
            self.next();
            self.next();
            let lower = if self.is(",") { None } else { Some(self.expr()?) };
            self.expect(",")?;
            let upper = if self.is("]") { None } else { Some(self.expr()?) };
            self.expect("]")?;
            truncation = Some((lower, upper));
        }
        self.expect(";")?;
        Ok(StmtKind::Tilde { value, name, args, truncation })
    }
}

/// `x[i][j, k] = e` with its indices in one list.
fn assignment(left: Expr, op: Option<BinaryOp>, value: Expr) -> Parsed<StmtKind> {
    let span = left.span;
    let mut indices = Vec::new();
    let mut left = left;
    loop {
        match left.kind {
            ExprKind::Index(base, outer) => {
                indices.splice(0..0, outer);
                left = *base;
            }
            ExprKind::Name(text) => {
                let target = crate::ast::Name { text, span: left.span };
                return Ok(StmtKind::Assign { target, indices, op, value });
            }
            _ => return Err(messages::assignment(span)),
        }
    }
}
