//! Integers that are only used as indices: they count from 0 in the translation.
//!
//! A variable qualifies if every use is an index, an index more or less a constant, a category of a
//! distribution, or the definition of another variable that qualifies.

use std::collections::HashSet;

use crate::ast::{Base, BinaryOp, Decl, Expr, ExprKind, Index, Name, Program, Stmt, StmtKind};
use crate::functions::{distribution, of_distribution};

/// The names of variables that qualify.
pub(crate) fn zero_based(program: &Program) -> HashSet<String> {
    let mut uses = Uses::default();
    program.data.iter().for_each(|decl| uses.declaration(decl));
    program.parameters.iter().for_each(|decl| uses.declaration(decl));
    let mut outputs: Vec<&Stmt> = Vec::new();
    for block in [
        &program.transformed_data,
        &program.transformed_parameters,
        &program.model,
        &program.generated,
    ] {
        uses.statements(block);
    }
    outputs.extend(program.transformed_parameters.iter().chain(&program.generated));
    for stmt in outputs {
        if let StmtKind::Declare(decl) = &stmt.kind {
            uses.values.insert(decl.name.text.clone());
        }
    }
    for function in &program.functions {
        uses.statements(function.body.as_deref().unwrap_or(&[]));
        uses.values.extend(function.params.iter().map(|(_, name)| name.text.clone()));
    }
    let sources = uses.flows.iter().map(|(from, _)| from);
    let mut found: HashSet<String> = uses.indices.iter().chain(sources).cloned().collect();
    found.retain(|name| uses.integers.contains(name) && !uses.values.contains(name));
    loop {
        let wrong =
            uses.flows.iter().find(|(from, to)| found.contains(from) && !found.contains(to));
        match wrong {
            Some((from, _)) => found.remove(from),
            None => return found,
        };
    }
}

#[derive(Default)]
struct Uses {
    /// Names of integers and arrays of them.
    integers: HashSet<String>,
    /// Names used as indices.
    indices: HashSet<String>,
    /// Names used otherwise.
    values: HashSet<String>,
    /// `b = a` as a pair of `a` and `b`.
    flows: Vec<(String, String)>,
}

impl Uses {
    fn statements(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|stmt| self.statement(stmt));
    }

    fn declaration(&mut self, decl: &Decl) {
        if decl.ty.base == Base::Int {
            self.integers.insert(decl.name.text.clone());
        } else {
            self.values.insert(decl.name.text.clone());
        }
        let bounds = &decl.ty.bounds;
        let bounds = [&bounds.offset, &bounds.multiplier];
        let sizes = decl.ty.dims.iter().chain(&decl.ty.sizes).flatten();
        sizes.chain(bounds.into_iter().flatten()).for_each(|e| self.value(e));
        if decl.ty.base == Base::Real {
            let bounds = [&decl.ty.bounds.lower, &decl.ty.bounds.upper];
            bounds.into_iter().flatten().for_each(|e| self.value(e));
        }
        if let Some(value) = &decl.value {
            self.assigned(&decl.name.text, value);
        }
    }

    fn assigned(&mut self, name: &str, value: &Expr) {
        match root(value) {
            Some((from, indices)) => {
                self.flows.push((from.to_string(), name.to_string()));
                indices.iter().for_each(|one| self.index(one));
            }
            None => self.value(value),
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Declare(decl) => self.declaration(decl),
            StmtKind::Assign { target, indices, op, value } => {
                indices.iter().for_each(|one| self.index(one));
                match op {
                    None => self.assigned(&target.text, value),
                    Some(_) => {
                        self.values.insert(target.text.clone());
                        self.value(value);
                    }
                }
            }
            StmtKind::For { from, to, body, .. } => {
                self.place(from);
                self.value(to);
                self.statements(body);
            }
            StmtKind::Each { var, over, body } => {
                self.integers.insert(var.text.clone());
                self.assigned(&var.text, over);
                self.statements(body);
            }
            StmtKind::While(condition, body) => {
                self.value(condition);
                self.statements(body);
            }
            StmtKind::If(condition, yes, no) => {
                self.value(condition);
                self.statements(yes);
                self.statements(no);
            }
            StmtKind::Block(stmts) => self.statements(stmts),
            StmtKind::Target(value) => self.value(value),
            StmtKind::Return(value) => value.iter().for_each(|value| self.value(value)),
            StmtKind::Tilde { value, name, args, truncation } => {
                let all: Vec<Expr> = std::iter::once(value).chain(args).cloned().collect();
                self.call(name, &all, Some(&name.text));
                let bounds = truncation.iter().flat_map(|(lower, upper)| lower.iter().chain(upper));
                bounds.for_each(|bound| self.value(bound));
            }
            StmtKind::Call(name, args) => self.call(name, args, None),
            StmtKind::Reject(args) => args.iter().for_each(|arg| self.value(arg)),
            StmtKind::Jump(_) | StmtKind::Print => {}
        }
    }

    fn call(&mut self, name: &Name, args: &[Expr], distributed: Option<&str>) {
        let of = distributed.or_else(|| of_distribution(&name.text).map(|(base, _)| base));
        let forms = of.and_then(distribution).map_or("", |known| known.forms);
        for (k, arg) in args.iter().enumerate() {
            match forms.chars().nth(k) {
                Some('k' | 'c') => self.place(arg),
                _ => self.value(arg),
            }
        }
    }

    /// An expression whose value matters.
    fn value(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Name(name) => {
                self.values.insert(name.clone());
            }
            ExprKind::Index(base, indices) => {
                self.value(base);
                indices.iter().for_each(|one| self.index(one));
            }
            ExprKind::Call(name, args) => self.call(name, args, None),
            ExprKind::Binary(_, a, b) => {
                self.value(a);
                self.value(b);
            }
            ExprKind::Neg(a) | ExprKind::Not(a) | ExprKind::Transpose(a) => self.value(a),
            ExprKind::If(a, b, c) => [a, b, c].into_iter().for_each(|e| self.value(e)),
            ExprKind::Array(items) | ExprKind::Row(items) | ExprKind::Tuple(items) => {
                items.iter().for_each(|item| self.value(item));
            }
            ExprKind::Int(_) | ExprKind::Real(_) | ExprKind::Text(_) => {}
        }
    }

    fn index(&mut self, one: &Index) {
        match one {
            Index::At(e) => self.place(e),
            Index::Range(from, to) => {
                from.iter().for_each(|e| self.place(e));
                to.iter().for_each(|e| self.value(e));
            }
        }
    }

    /// An expression that is an index.
    fn place(&mut self, e: &Expr) {
        if let Some((name, indices)) = root(e) {
            self.indices.insert(name.to_string());
            return indices.iter().for_each(|one| self.index(one));
        }
        match &e.kind {
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, a, b)
                if matches!(b.kind, ExprKind::Int(_)) =>
            {
                self.place(a);
            }
            ExprKind::Array(items) | ExprKind::Row(items) => {
                items.iter().for_each(|item| self.place(item));
            }
            _ => self.value(e),
        }
    }
}

/// The variable of `x` and `x[i][j]`, with its indices.
fn root(e: &Expr) -> Option<(&str, Vec<&Index>)> {
    match &e.kind {
        ExprKind::Name(name) => Some((name, Vec::new())),
        ExprKind::Index(base, indices) => {
            let (name, mut all) = root(base)?;
            all.extend(indices);
            Some((name, all))
        }
        _ => None,
    }
}
