//! Terms → syntax trees of Lambada.

use std::cell::RefCell;
use std::rc::Rc;

use lambada_surface::ast::{
    self, Def, Expr, ExprKind, Import, Item, LoopKind, Module, Param, PatternKind, TypeExpr,
    UnaryOp,
};
use lambada_surface::build as make;

use crate::term::{Clause, Names, Op, Pat, Term};

/// A definition.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The comment before it.
    pub doc: Vec<String>,
    /// Its name.
    pub name: String,
    /// Its size variables.
    pub sizes: Vec<Rc<str>>,
    /// Its parameters.
    pub params: Vec<(Rc<str>, TypeExpr)>,
    /// The type of its result.
    pub result: Option<TypeExpr>,
    /// Its body.
    pub body: Term,
}

/// Modules of the library that programs import.
const MODULES: [&str; 7] = ["dist", "linalg", "ode", "random", "space", "special", "fft"];

/// The file with these definitions, and the imports that they need.
pub fn module(definitions: &[Definition], marks: &Marks) -> Module {
    let mut used = Names::new();
    for def in definitions {
        def.body.called(&mut used);
        let types = def.params.iter().map(|(_, ty)| ty).chain(&def.result);
        types.for_each(|ty| named(ty, &mut used));
    }
    // A variable of the program may have the name of a module.
    let mut hidden = Names::new();
    definitions.iter().for_each(|def| hidden.append(&mut names(def)));
    hidden.retain(|name| MODULES.contains(&&**name));
    let import = |name: &&&str| used.iter().any(|one| one.starts_with(&format!("{name}.")));
    let imports = MODULES.iter().filter(import).map(|name| {
        Item::Import(Import {
            path: format!("std/{name}").into(),
            alias: hidden.contains(*name).then(|| make::name(alias(name))),
            names: None,
            span: Default::default(),
        })
    });
    let items =
        imports.chain(definitions.iter().map(|def| Item::Def(item(def, marks, &hidden)))).collect();
    Module { doc: None, items, written: None }
}

/// The name of a module that a variable of the program hides.
fn alias(module: &str) -> String {
    format!("std_{module}")
}

/// All names of variables in a definition.
fn names(def: &Definition) -> Names {
    let mut names = Names::new();
    def.body.variables(&mut names);
    names.extend(def.params.iter().map(|(name, _)| name.clone()));
    names
}

/// The type with the names of modules that are not hidden.
fn aliased(ty: &TypeExpr, hidden: &Names) -> TypeExpr {
    let mut ty = ty.clone();
    match &mut ty.kind {
        ast::TypeKind::Name(name, ..) => {
            if let Some((module, own)) = name.text.split_once('.')
                && hidden.contains(module)
            {
                name.text = format!("{}.{own}", alias(module)).into();
            }
        }
        ast::TypeKind::Array(_, elem) => **elem = aliased(elem, hidden),
        _ => {}
    }
    ty
}

fn named(ty: &TypeExpr, names: &mut Names) {
    match &ty.kind {
        ast::TypeKind::Name(name, ..) => {
            names.insert(name.text.clone());
        }
        ast::TypeKind::Array(_, elem) => named(elem, names),
        ast::TypeKind::Tuple(parts) => parts.iter().for_each(|part| named(part, names)),
        ast::TypeKind::Record(_) | ast::TypeKind::Function(..) | ast::TypeKind::Error => {}
    }
}

fn item(def: &Definition, marks: &Marks, hidden: &Names) -> Def {
    let own = names(def);
    let params = def.params.iter().map(|(name, ty)| Param {
        pattern: make::binds(name.clone()),
        ty: Some(aliased(ty, hidden)),
    });
    Def {
        doc: if def.doc.is_empty() { None } else { Some(def.doc.join("\n").into()) },
        recursive: false,
        name: make::name(def.name.as_str()),
        sizes: def.sizes.iter().map(|size| make::name(size.clone())).collect(),
        params: params.collect(),
        result: def.result.as_ref().map(|ty| aliased(ty, hidden)),
        body: Writer { own: &own, hidden, marks }.expr(&def.body),
        rules: Vec::new(),
        span: Default::default(),
    }
}

/// A size as an expression.
pub fn size(term: &Term) -> Expr {
    Writer { own: &Names::new(), hidden: &Names::new(), marks: &Marks::default() }.expr(term)
}

struct Writer<'a> {
    /// The names of the definition, which hide those of the library.
    own: &'a Names,
    /// Modules whose names variables of the program have.
    hidden: &'a Names,
    marks: &'a Marks,
}

/// Texts of comments inside of sums. A tree has no place for them: a name as long as a line stands
/// there, so that the line breaks around it.
pub type Marks = RefCell<Vec<String>>;

fn mark(k: usize) -> String {
    format!("stan_comment_{k}{}", "_".repeat(90))
}

/// The text with the comments in place of their marks.
pub fn with_comments(text: &str, marks: &Marks) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let start = line.find("+ stan_comment_");
        let comment = start.and_then(|start| {
            let k = line[start..].trim_start_matches("+ stan_comment_").trim_end_matches('_');
            Some((start, marks.borrow().get(k.parse::<usize>().ok()?)?.clone()))
        });
        match comment {
            Some((start, text)) => {
                lines.extend(text.lines().map(|line| format!("{}-- {line}", " ".repeat(start))));
            }
            None => lines.push(line.to_string()),
        }
    }
    lines.join("\n") + "\n"
}

impl Writer<'_> {
    fn mark(&self, text: &str) -> String {
        let mut marks = self.marks.borrow_mut();
        marks.push(text.to_string());
        mark(marks.len() - 1)
    }

    fn expr(&self, term: &Term) -> Expr {
        let boxed = |term: &Term| Box::new(self.expr(term));
        let end = |end: &Option<Box<Term>>| end.as_ref().map(|end| boxed(end));
        let list = |terms: &[Term]| terms.iter().map(|term| self.expr(term)).collect::<Vec<_>>();
        match term {
            Term::Var(name) => make::var(name.clone()),
            Term::Int(k) if *k < 0 => make::unary(UnaryOp::Neg, make::int(-k)),
            Term::Int(k) => make::int(*k),
            Term::Real(x) if *x < 0.0 => make::unary(UnaryOp::Neg, make::real(-x)),
            Term::Real(x) => make::real(*x),
            Term::Bool(b) => make::expr(ExprKind::Bool(*b)),
            Term::Call(name, args) => make::call(self.function(name), list(args)),
            Term::Bin(op @ (Op::Add | Op::Sub), a, b) => {
                let Term::Commented(text, b) = &**b else {
                    return make::binary(*op, self.expr(a), self.expr(b));
                };
                let with_mark = make::binary(Op::Add, self.expr(a), make::var(self.mark(text)));
                make::binary(*op, with_mark, self.expr(b))
            }
            Term::Bin(op, a, b) => make::binary(*op, self.expr(a), self.expr(b)),
            Term::Neg(a) => make::unary(UnaryOp::Neg, self.expr(a)),
            Term::Not(a) => make::unary(UnaryOp::Not, self.expr(a)),
            Term::If(c, a, b) => make::if_(self.expr(c), self.expr(a), self.expr(b)),
            Term::For(clauses, filter, body) => {
                let clauses = clauses.iter().map(|clause| self.clause(clause));
                let filter = filter.iter().map(|filter| ast::Clause::If(self.expr(filter)));
                make::expr(ExprKind::For(clauses.chain(filter).collect(), boxed(body)))
            }
            Term::Index(a, places) => make::index(self.expr(a), list(places)),
            Term::Slice(a, from, to) => make::expr(ExprKind::Slice(boxed(a), end(from), end(to))),
            Term::Set(a, places, value) => {
                make::expr(ExprKind::Update(boxed(a), list(places), boxed(value)))
            }
            Term::SetSlice(a, from, to, value) => {
                make::expr(ExprKind::UpdateSlice(boxed(a), end(from), end(to), boxed(value)))
            }
            Term::Array(parts) => make::expr(ExprKind::Array(list(parts))),
            Term::Tuple(parts) => make::expr(ExprKind::Tuple(list(parts))),
            Term::Record(fields) => {
                let field =
                    |(name, value): &(Rc<str>, Term)| (make::name(name.clone()), self.expr(value));
                make::expr(ExprKind::Record(fields.iter().map(field).collect()))
            }
            Term::Component(a, k) => make::component(self.expr(a), *k),
            Term::Field(a, name) => make::field(self.expr(a), name),
            Term::Lambda(names, body) => {
                let params =
                    names.iter().map(|name| Param { pattern: make::binds(name.clone()), ty: None });
                make::expr(ExprKind::Lambda(params.collect(), boxed(body)))
            }
            Term::Let(pat, value, body) => {
                make::let_(pattern(pat), self.expr(value), self.expr(body))
            }
            Term::Loop(pat, init, clause, body) => {
                let kind = LoopKind::For(Box::new(self.clause(clause)), None, None);
                let param = Param { pattern: pattern(pat), ty: None };
                make::expr(ExprKind::Loop(param, boxed(init), kind, boxed(body)))
            }
            Term::While(pat, init, condition, body) => {
                let kind = LoopKind::While(boxed(condition));
                let param = Param { pattern: pattern(pat), ty: None };
                make::expr(ExprKind::Loop(param, boxed(init), kind, boxed(body)))
            }
            Term::Check(text, condition, value) => make::call(
                make::expr(ExprKind::Check(vec![text.clone()], Vec::new())),
                [self.expr(condition), self.expr(value)],
            ),
            Term::Commented(text, inner) => {
                make::expr(ExprKind::Commented(text.clone(), boxed(inner)))
            }
        }
    }

    fn clause(&self, clause: &Clause) -> ast::Clause {
        match clause {
            Clause::Range(name, from, to) if **from == Term::Int(0) => {
                ast::Clause::Range(make::name(name.clone()), self.expr(to))
            }
            Clause::Range(name, from, to) => {
                ast::Clause::Between(self.expr(from), make::name(name.clone()), self.expr(to))
            }
            Clause::In(name, xs) => ast::Clause::In(make::binds(name.clone()), self.expr(xs)),
        }
    }

    fn module(&self, name: &str) -> String {
        if self.hidden.contains(name) { alias(name) } else { name.to_string() }
    }

    /// A function; one of the prelude by its full name, if a name of the definition hides it.
    fn function(&self, name: &Rc<str>) -> Expr {
        match name.split_once('.') {
            Some((module, name)) => make::field(make::var(self.module(module)), &name.into()),
            None if self.own.contains(name) => make::field(make::var("prelude"), name),
            None => make::var(name.clone()),
        }
    }
}

fn pattern(pat: &Pat) -> ast::Pattern {
    match pat {
        Pat::Names(names) => {
            make::tuple_pattern(names.iter().map(|name| make::binds(name.clone())).collect())
        }
        Pat::Record(fields) => {
            let field = |(field, name): &(Rc<str>, Rc<str>)| {
                (make::name(field.clone()), make::binds(name.clone()))
            };
            make::pattern(PatternKind::Record(fields.iter().map(field).collect()))
        }
    }
}
