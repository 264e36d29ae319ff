//! Syntax trees drawn from a list of numbers: every tree that the parser can produce, except for
//! places.

use std::rc::Rc;

use lambada_source::Span;
use lambada_surface::ast::*;
use lambada_surface::resolve;

/// A source of choices; when it is used up, every choice is the first, which is the smallest.
pub struct Draw<'a> {
    choices: &'a [u8],
    at: usize,
}

const LOWER: &[&str] = &["x", "y", "f", "xs", "_i", "map", "loop_", "x'", "n0"];
const UPPER: &[&str] = &["Circle", "Nil", "C'"];
const OPERATORS: &[BinaryOp] = &[
    BinaryOp::Add,
    BinaryOp::Pow,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::FloorDiv,
    BinaryOp::Rem,
    BinaryOp::MatMul,
    BinaryOp::Sub,
    BinaryOp::Eq,
    BinaryOp::Ne,
    BinaryOp::Lt,
    BinaryOp::Le,
    BinaryOp::Gt,
    BinaryOp::Ge,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Compose,
    BinaryOp::Pipe,
];

fn span() -> Span {
    Span::default()
}

fn e(kind: ExprKind) -> Expr {
    Expr { kind, span: span() }
}

impl<'a> Draw<'a> {
    pub fn new(choices: &'a [u8]) -> Draw<'a> {
        Draw { choices, at: 0 }
    }

    fn below(&mut self, n: usize) -> usize {
        let choice = self.choices.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(choice) % n
    }

    fn flip(&mut self) -> bool {
        self.below(2) == 1
    }

    fn some<T>(&mut self, one: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.flip() { Some(one(self)) } else { None }
    }

    fn many<T>(&mut self, least: usize, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = least + self.below(3);
        (0..count).map(|_| one(self)).collect()
    }

    fn lower(&mut self) -> Rc<str> {
        LOWER[self.below(LOWER.len())].into()
    }

    fn name(&mut self) -> Name {
        Name { text: self.lower(), span: span() }
    }

    fn upper(&mut self) -> Name {
        Name { text: UPPER[self.below(UPPER.len())].into(), span: span() }
    }

    fn operator(&mut self) -> BinaryOp {
        OPERATORS[self.below(OPERATORS.len())]
    }

    pub fn module(&mut self) -> Module {
        let items = self.many(1, Self::item);
        let mut module = Module { doc: self.some(Self::doc), items, written: None };
        resolve(&mut module);
        module
    }

    fn doc(&mut self) -> Rc<str> {
        ["one line", "two\nlines", "  indented\n\nand an empty line", "-- dashes | bars"]
            [self.below(4)]
        .into()
    }

    fn item(&mut self) -> Item {
        match self.below(4) {
            0 | 1 => Item::Def(self.def(true, 5)),
            2 => Item::Type(self.type_def()),
            _ => Item::Import(Import {
                path: "lib/linalg".into(),
                alias: self.some(Self::name),
                names: if self.flip() { Some(self.many(1, Self::name)) } else { None },
                span: span(),
            }),
        }
    }

    fn def(&mut self, top: bool, depth: usize) -> Def {
        Def {
            doc: if top { self.some(Self::doc) } else { None },
            recursive: top && self.flip(),
            name: self.name(),
            sizes: if self.below(4) == 1 { self.many(1, Self::name) } else { Vec::new() },
            params: self.many(usize::from(!top), |d| d.param(depth)),
            result: self.some(|d| d.ty(2)),
            body: self.expr(depth),
            rules: if self.below(3) == 1 { self.many(1, Self::rule) } else { Vec::new() },
            span: span(),
        }
    }

    fn rule(&mut self) -> Rule {
        let mode = if self.flip() { Mode::Forward } else { Mode::Reverse };
        let (pseudo, params) = (self.flip(), self.many(1, |d| d.param(1)));
        let value = self.some(|d| d.param(1));
        Rule { pseudo, mode, params, value, body: self.expr(3), span: span() }
    }

    fn type_def(&mut self) -> TypeDef {
        let body = if self.flip() {
            TypeBody::Alias(self.ty(3))
        } else {
            TypeBody::Variant(self.many(1, |d| (d.upper(), d.many(0, |d| d.ty(2)))))
        };
        TypeDef {
            doc: self.some(Self::doc),
            name: self.name(),
            sizes: self.many(0, Self::name),
            params: self.many(0, Self::name),
            body,
            span: span(),
        }
    }

    fn ty(&mut self, depth: usize) -> TypeExpr {
        let n = if depth == 0 { 1 } else { 6 };
        let kind = match self.below(n) {
            0 => TypeKind::Name(self.name(), Vec::new(), Vec::new()),
            1 => TypeKind::Name(
                self.name(),
                self.many(0, |d| d.some(|d| d.expr(1))),
                self.many(1, |d| d.ty(depth.max(1) - 1)),
            ),
            2 => TypeKind::Tuple(if self.flip() {
                Vec::new()
            } else {
                self.many(2, |d| d.ty(depth - 1))
            }),
            3 => TypeKind::Record(self.many(1, |d| (d.name(), d.ty(depth - 1)))),
            4 => TypeKind::Array(
                self.some(|d| Box::new(d.expr(depth - 1))),
                Box::new(self.ty(depth - 1)),
            ),
            _ => TypeKind::Function(Box::new(self.ty(depth - 1)), Box::new(self.ty(depth - 1))),
        };
        TypeExpr { kind, span: span() }
    }

    /// A parameter with its type in the parameter, as the parser produces it.
    fn param(&mut self, depth: usize) -> Param {
        let ty = if self.below(3) == 1 { Some(self.ty(depth.min(2))) } else { None };
        let pattern = self.pattern(depth.min(2));
        match pattern.kind {
            PatternKind::Annotated(inner, inner_ty) if ty.is_none() => {
                Param { pattern: *inner, ty: Some(inner_ty) }
            }
            kind => Param { pattern: Pattern { kind, span: span() }, ty },
        }
    }

    fn pattern(&mut self, depth: usize) -> Pattern {
        let n = if depth == 0 { 6 } else { 11 };
        let kind = match self.below(n) {
            0 => PatternKind::Var(self.lower()),
            1 => PatternKind::Wildcard,
            2 => PatternKind::Int([0, 7, -3, i64::MIN][self.below(4)]),
            3 => PatternKind::Real([1.0, -0.5, 1e100][self.below(3)]),
            4 => PatternKind::Bool(self.flip()),
            5 => PatternKind::Con(self.upper(), Vec::new()),
            6 => PatternKind::Tuple(if self.flip() {
                Vec::new()
            } else {
                self.many(2, |d| d.pattern(depth - 1))
            }),
            7 => PatternKind::Record(self.many(1, |d| (d.name(), d.pattern(depth - 1)))),
            8 => PatternKind::Con(self.upper(), self.many(1, |d| d.pattern(depth - 1))),
            9 => PatternKind::Array(self.many(0, |d| d.pattern(depth - 1))),
            _ => PatternKind::Annotated(Box::new(self.pattern(depth - 1)), self.ty(1)),
        };
        Pattern { kind, span: span() }
    }

    /// The pattern of a case, which may have alternatives.
    fn case(&mut self, depth: usize) -> Pattern {
        if self.flip() {
            return self.pattern(depth);
        }
        let alternatives = PatternKind::Or(self.many(2, |d| d.pattern(depth)));
        let kind = match self.below(3) {
            0 => alternatives,
            _ => {
                let inner = Pattern { kind: alternatives, span: span() };
                PatternKind::Tuple(vec![self.pattern(depth), inner])
            }
        };
        Pattern { kind, span: span() }
    }

    fn clause(&mut self, depth: usize) -> Clause {
        match self.below(5) {
            0 | 1 => Clause::Range(self.name(), self.expr(depth)),
            2 => Clause::Between(self.expr(depth), self.name(), self.expr(depth)),
            _ => Clause::In(self.pattern(1), self.expr(depth)),
        }
    }

    fn clauses(&mut self, depth: usize) -> Vec<Clause> {
        let mut clauses = self.many(1, |d| d.clause(depth));
        clauses.extend(self.some(|d| Clause::If(d.expr(depth))));
        clauses
    }

    fn boxed(&mut self, depth: usize) -> Box<Expr> {
        Box::new(self.expr(depth))
    }

    pub fn expr(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return self.leaf();
        }
        let depth = depth - 1;
        let choice = self.below(32);
        e(match choice {
            0..=3 => return self.leaf(),
            4..=7 => ExprKind::Binary(self.operator(), self.boxed(depth), self.boxed(depth)),
            8 => ExprKind::Unary(
                if self.flip() { UnaryOp::Neg } else { UnaryOp::Not },
                self.boxed(depth),
            ),
            9 | 10 => ExprKind::Apply(self.boxed(depth), self.boxed(depth)),
            11 => ExprKind::Lambda(self.many(1, |d| d.param(depth)), self.boxed(depth)),
            12 | 13 => self.postfix(depth),
            14 => ExprKind::Tuple(if self.flip() {
                Vec::new()
            } else {
                self.many(2, |d| d.expr(depth))
            }),
            15 => ExprKind::Record(self.many(1, |d| (d.name(), d.expr(depth)))),
            16 => ExprKind::RecordUpdate(
                self.boxed(depth),
                self.many(1, |d| (d.name(), d.expr(depth))),
            ),
            17 => ExprKind::Array(self.many(0, |d| d.expr(depth))),
            18 => ExprKind::SectionLeft(self.boxed(depth), self.operator()),
            19 => match self.operator() {
                BinaryOp::Sub => ExprKind::Operator(BinaryOp::Sub),
                op => ExprKind::SectionRight(op, self.boxed(depth)),
            },
            20 => {
                let mut param = self.param(1);
                // An unknown constructor with arguments would be a local function.
                if let PatternKind::Con(_, arguments) = &mut param.pattern.kind {
                    arguments.clear();
                }
                ExprKind::Let(param, self.boxed(depth), self.boxed(depth))
            }
            21 => self.functions(depth),
            22 => ExprKind::If(self.boxed(depth), self.boxed(depth), self.boxed(depth)),
            23 | 24 => ExprKind::Match(
                self.boxed(depth),
                self.many(1, |d| Arm {
                    pattern: d.case(2),
                    guard: d.some(|d| d.expr(depth)),
                    body: d.expr(depth),
                }),
            ),
            25 => ExprKind::For(self.clauses(depth), self.boxed(depth)),
            26 => {
                let kind = if self.flip() {
                    LoopKind::While(self.boxed(depth))
                } else {
                    let clause = Box::new(self.clause(depth));
                    let policy = self.some(|d| match d.below(3) {
                        0 => Checkpoint::All,
                        1 => Checkpoint::Sqrt,
                        _ => Checkpoint::States(d.boxed(depth)),
                    });
                    LoopKind::For(clause, self.some(|d| d.boxed(depth)), policy)
                };
                ExprKind::Loop(self.param(1), self.boxed(depth), kind, self.boxed(depth))
            }
            27 => {
                let one = |d: &mut Self| (d.name(), d.expr(depth));
                ExprKind::Accumulate(self.many(1, one), self.boxed(depth))
            }
            28 => ExprKind::Add(self.name(), self.many(0, |d| d.expr(depth)), self.boxed(depth)),
            29 => ExprKind::Sequence(self.boxed(depth), self.boxed(depth)),
            30 => self.update(depth),
            _ => ExprKind::Annotated(self.boxed(depth), self.ty(2)),
        })
    }

    fn functions(&mut self, depth: usize) -> ExprKind {
        let mut defs = self.many(1, |d| d.def(false, depth));
        let recursive = defs.len() > 1 || self.flip();
        defs.iter_mut().for_each(|def| def.recursive = recursive);
        ExprKind::LetFunctions(defs, self.boxed(depth))
    }

    fn postfix(&mut self, depth: usize) -> ExprKind {
        let base = self.boxed(depth);
        match self.below(4) {
            0 => ExprKind::Index(base, self.many(1, |d| d.expr(depth))),
            1 => {
                ExprKind::Slice(base, self.some(|d| d.boxed(depth)), self.some(|d| d.boxed(depth)))
            }
            2 => ExprKind::Field(base, if self.flip() { self.name() } else { self.upper() }),
            _ => ExprKind::Component(base, self.below(12), span()),
        }
    }

    fn update(&mut self, depth: usize) -> ExprKind {
        let base = self.boxed(depth);
        if self.flip() {
            ExprKind::Update(base, self.many(1, |d| d.expr(depth)), self.boxed(depth))
        } else {
            ExprKind::UpdateSlice(
                base,
                self.some(|d| d.boxed(depth)),
                self.some(|d| d.boxed(depth)),
                self.boxed(depth),
            )
        }
    }

    fn leaf(&mut self) -> Expr {
        e(match self.below(8) {
            0..=2 => ExprKind::Var(self.lower()),
            3 => ExprKind::Con(self.upper().text),
            4 => ExprKind::Int([0, 12, 1_000_000, i64::MAX, i64::MIN][self.below(5)]),
            5 => ExprKind::Real([1.0, 0.1, 1e-7, 1e22, 123.456][self.below(5)]),
            6 => ExprKind::Bool(self.flip()),
            _ => ExprKind::Operator(self.operator()),
        })
    }
}
