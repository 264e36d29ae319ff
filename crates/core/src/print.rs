//! Programs as text: Lambada's own syntax with the fewest parentheses and canonical names, so that
//! equal text means α-equivalence. Constructs without surface syntax are printed as calls: `check`,
//! `dim`, `reduce`, `select`.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_prim::{Prim, ReduceOp, Scalar, Spelling, Surface};
use lambada_source::Doc;

use crate::sized;
use crate::{Arm, Checkpoint, Def, DefId, LoopKind, Program, Ruled, Term, TermKind, Ty, Var};

/// The program, with its types.
pub fn print_program(program: &Program) -> String {
    let mut printer = Printer::new(program);
    let types = program.types.iter().map(|decl| printer.type_decl(&decl.name, &decl.constructors));
    let mut pieces: Vec<String> = types.collect();
    for (k, def) in program.defs.iter().enumerate() {
        printer.locals.clear();
        printer.used = printer.reserved.clone();
        let name = printer.globals[k].clone();
        pieces.push(render(&printer.def(DefId(k as u32), &name, def)));
    }
    pieces.join("\n\n") + "\n"
}

/// A term of the program.
pub fn print_term(program: &Program, term: &Term) -> String {
    render(&Printer::new(program).term(term, LOWEST))
}

/// A type of the program.
pub fn print_type(program: &Program, ty: &Ty) -> String {
    Printer::new(program).ty(ty, LOWEST)
}

/// Limit on the width of a line.
const WIDTH: usize = 100;

fn text(text: impl Into<String>) -> Doc {
    Doc::text(text)
}

fn concat(docs: impl IntoIterator<Item = Doc>) -> Doc {
    Doc::concat(docs)
}

fn group(doc: Doc) -> Doc {
    doc.group()
}

fn nest(doc: Doc) -> Doc {
    doc.nest(2)
}

fn separated(docs: Vec<Doc>, separator: &str) -> Doc {
    Doc::join(&(Doc::text(separator) + Doc::line()), docs)
}

/// `open`, the documents with commas, `close`.
fn enclosed(open: &str, docs: Vec<Doc>, close: &str) -> Doc {
    if docs.is_empty() { text(format!("{open}{close}")) } else { Doc::brackets(open, docs, close) }
}

fn render(doc: &Doc) -> String {
    doc.render(WIDTH)
}

/// Precedences, loosest first.
const LOWEST: u8 = 0;
const WITH: u8 = 1;
const OR: u8 = 2;
const AND: u8 = 3;
const COMPARE: u8 = 4;
const SUM: u8 = 5;
const PRODUCT: u8 = 6;
const NEGATION: u8 = 7;
const POWER: u8 = 8;
const APPLICATION: u8 = 9;
const ATOM: u8 = 10;

const KEYWORDS: [&str; 25] = [
    "def",
    "rec",
    "let",
    "in",
    "if",
    "then",
    "else",
    "match",
    "for",
    "loop",
    "accumulate",
    "do",
    "while",
    "with",
    "type",
    "import",
    "and",
    "true",
    "false",
    "not",
    "jvp",
    "vjp",
    "check",
    "dim",
    "reduce",
];

struct Printer<'a> {
    program: &'a Program,
    /// The names of the definitions, made unique.
    globals: Vec<String>,
    /// Names that no local variable may have.
    reserved: HashSet<String>,
    /// Names that no further local variable may have.
    used: HashSet<String>,
    locals: HashMap<u32, String>,
}

/// The hint, or the hint with the least number that makes it unique.
fn unique(hint: &str, used: &mut HashSet<String>) -> String {
    // The hint for the state of a loop may be its pattern, `(x, y)`.
    let hint = if hint.starts_with('(') { "state" } else { hint };
    let numbered = (1..).map(|k| format!("{hint}_{k}"));
    let name = std::iter::once(hint.to_string())
        .chain(numbered)
        .find(|name| !used.contains(name))
        .unwrap_or_default();
    used.insert(name.clone());
    name
}

/// In parentheses, if the context binds tighter.
fn parens(own: u8, context: u8, doc: Doc) -> Doc {
    if own < context { concat([text("("), doc, text(")")]) } else { doc }
}

impl Printer<'_> {
    fn new(program: &Program) -> Printer<'_> {
        let mut reserved: HashSet<String> = KEYWORDS.iter().map(ToString::to_string).collect();
        for prim in Prim::ALL {
            if let Surface::Call(name) = prim.row().surface {
                reserved.insert(name.to_string());
            }
        }
        let globals = program.defs.iter().map(|def| unique(&def.name, &mut reserved)).collect();
        Printer { program, globals, used: reserved.clone(), reserved, locals: HashMap::new() }
    }

    fn type_decl(&self, name: &str, constructors: &[(std::rc::Rc<str>, Vec<Ty>)]) -> String {
        let constructor = |(name, args): &(std::rc::Rc<str>, Vec<Ty>)| {
            let args = args.iter().map(|ty| format!(" {}", self.ty(ty, ATOM)));
            format!("{name}{}", args.collect::<String>())
        };
        format!(
            "type {name} = {}",
            constructors.iter().map(constructor).collect::<Vec<_>>().join(" | ")
        )
    }

    fn ty(&self, ty: &Ty, context: u8) -> String {
        let list = |items: &mut dyn Iterator<Item = String>| items.collect::<Vec<_>>().join(", ");
        match ty {
            Ty::Scalar(scalar) => scalar.to_string(),
            Ty::Tuple(items) => {
                format!("({})", list(&mut items.iter().map(|ty| self.ty(ty, LOWEST))))
            }
            Ty::Record(fields) if is_sized(fields) => {
                fields.last().map_or_else(String::new, |(_, value)| self.ty(value, context))
            }
            Ty::Record(fields) => {
                format!(
                    "{{{}}}",
                    list(
                        &mut fields
                            .iter()
                            .map(|(name, ty)| format!("{name} : {}", self.ty(ty, LOWEST)))
                    )
                )
            }
            Ty::Array(elem) => format!("[]{}", self.ty(elem, ATOM)),
            Ty::Fun(from, to) => {
                let arrow = format!("{} -> {}", self.ty(from, WITH), self.ty(to, LOWEST));
                if context > LOWEST { format!("({arrow})") } else { arrow }
            }
            Ty::Variant(id) => {
                let name = self.program.types.get(id.0 as usize).map_or("?", |decl| &decl.name);
                if context == ATOM && name.contains(' ') {
                    format!("({name})")
                } else {
                    name.to_string()
                }
            }
        }
    }

    /// Names a variable that is being bound.
    fn bind(&mut self, var: &Var) -> String {
        let name = unique(&var.hint, &mut self.used);
        self.locals.insert(var.id, name.clone());
        name
    }

    fn name(&mut self, var: &Var) -> String {
        match self.locals.get(&var.id) {
            Some(name) => name.clone(),
            None => self.bind(var),
        }
    }

    fn params<'t>(&mut self, mut term: &'t Term) -> (Vec<String>, &'t Term) {
        let mut params = Vec::new();
        while let TermKind::Lam(x, body) = term.kind() {
            let name = self.bind(x);
            params.push(format!("({name} : {})", self.ty(&x.ty, LOWEST)));
            term = body;
        }
        (params, term)
    }

    fn def(&mut self, id: DefId, name: &str, def: &Def) -> Doc {
        let word = if self.program.is_recursive(id) { "def rec" } else { "def" };
        self.function(word, name, &def.body)
    }

    /// A function defined by `word`: `def`, `let rec` or `and`.
    fn function(&mut self, word: &str, name: &str, term: &Term) -> Doc {
        let (params, body) = self.params(term.without_rules());
        let params: String = params.iter().map(|param| format!(" {param}")).collect();
        let head = text(format!("{word} {name}{params} : {} =", self.ty(body.ty(), LOWEST)));
        let body = nest(concat([Doc::line(), self.term(body, LOWEST)]));
        let function = group(concat([head, body]));
        let TermKind::Ruled(ruled) = term.kind() else { return function };
        concat([function, self.rules(ruled)])
    }

    /// `with jvp (\x dx -> t)`, each rule on a line of its own; `of` marks a rule that takes the
    /// value, `adding` one that takes adding functions.
    fn rules(&mut self, ruled: &Ruled) -> Doc {
        let rules = [("jvp", &ruled.jvp), ("vjp", &ruled.vjp)];
        let rules = rules.into_iter().filter_map(|(mode, rule)| Some((mode, rule.as_ref()?)));
        concat(rules.map(|(mode, rule)| {
            let pseudo = if rule.pseudo { "pseudo " } else { "" };
            let value = if rule.takes_value { " of" } else { "" };
            let adds = if rule.adds { " adding" } else { "" };
            let head = text(format!("with {pseudo}{mode}{value}{adds} "));
            nest(concat([Doc::hard_line(), head, self.term(&rule.function, ATOM)]))
        }))
    }

    fn terms(&mut self, terms: &[Term], context: u8) -> Vec<Doc> {
        terms.iter().map(|term| self.term(term, context)).collect()
    }

    /// A term, in parentheses where the context binds tighter than it does.
    fn term(&mut self, term: &Term, context: u8) -> Doc {
        match term.kind() {
            TermKind::Var(x) => text(self.name(x)),
            TermKind::Global(id) => {
                text(self.globals.get(id.0 as usize).map_or("?", String::as_str))
            }
            TermKind::Lit(value) => literal(*value, context),
            TermKind::Never => text("never"),
            TermKind::Lam(..) => {
                let (params, body) = self.params(term);
                let body = self.term(body, LOWEST);
                let head = text(format!("\\{} ->", params.join(" ")));
                parens(LOWEST, context, group(concat([head, nest(concat([Doc::line(), body]))])))
            }
            TermKind::App(..) => self.application(term, context),
            TermKind::Let(..) | TermKind::LetRec(..) | TermKind::Check { .. } => {
                self.spine(term, context)
            }
            TermKind::Tuple(items) => self.tuple(items, term.ty()),
            TermKind::Proj(t, k) => {
                let field = match t.ty() {
                    Ty::Record(fields) => sized::shown(&fields[*k].0),
                    Ty::Scalar(_) | Ty::Tuple(_) | Ty::Array(_) | Ty::Fun(..) | Ty::Variant(_) => {
                        k.to_string()
                    }
                };
                concat([self.term(t, ATOM), text(format!(".{field}"))])
            }
            TermKind::Con(tag, args) => {
                let name = self.constructor(term.ty(), *tag);
                let args = self.terms(args, ATOM);
                call(text(name), args, context)
            }
            TermKind::Match(t, arms) => self.match_(t, arms, context),
            TermKind::If(c, t, s) => {
                let (c, t, s) = (self.term(c, LOWEST), self.term(t, LOWEST), self.term(s, LOWEST));
                let branch = |word, doc| concat([Doc::line(), text(word), nest(doc)]);
                parens(
                    LOWEST,
                    context,
                    group(concat([text("if "), nest(c), branch("then ", t), branch("else ", s)])),
                )
            }
            TermKind::Prim(prim, args) => self.prim(*prim, args, context),
            TermKind::Array(items) => enclosed("[", self.terms(items, LOWEST), "]"),
            TermKind::For(i, n, body) => {
                let n = self.term(n, SUM);
                let head = concat([text(format!("for {} < ", self.bind(i))), n, text(" =>")]);
                let body = self.term(body, LOWEST);
                parens(LOWEST, context, group(concat([head, nest(concat([Doc::line(), body]))])))
            }
            TermKind::Dim(xs, axis) => {
                call(text("dim"), vec![self.term(xs, ATOM), text(axis.to_string())], context)
            }
            TermKind::Index(xs, at) => concat([self.term(xs, ATOM), self.indices(at)]),
            TermKind::Update(xs, at, value) => {
                let docs = [
                    self.term(xs, WITH),
                    text(" with "),
                    self.indices(at),
                    text(" = "),
                    self.term(value, OR),
                ];
                parens(WITH, context, group(concat(docs)))
            }
            TermKind::Reduce(op, xs) => {
                call(text("reduce"), vec![text(operator(*op)), self.term(xs, ATOM)], context)
            }
            TermKind::Inspect(site, value) => {
                let head = text(format!("inspect_as \"{}\"", site.message));
                call(head, vec![self.term(value, ATOM)], context)
            }
            TermKind::ArrayPrim(prim, args) => match (prim.row().spelling, &args[..]) {
                (Spelling::Infix(operator), [a, b]) => {
                    let (a, b) = (self.term(a, PRODUCT), self.term(b, NEGATION));
                    parens(PRODUCT, context, infix(a, operator, b))
                }
                (Spelling::Infix(name) | Spelling::Definition(name), _) => {
                    let args = args.iter().map(|arg| self.term(arg, ATOM)).collect();
                    call(text(name), args, context)
                }
            },
            TermKind::Loop { state, init, kind, body } => {
                parens(LOWEST, context, self.loop_(state, init, kind, body))
            }
            TermKind::Accumulate { acc, init, body } => {
                let init = self.term(init, LOWEST);
                let head = concat([
                    text(format!("accumulate {} = ", self.bind(acc))),
                    nest(init),
                    text(" in"),
                ]);
                let body = self.term(body, LOWEST);
                parens(LOWEST, context, group(concat([head, nest(concat([Doc::line(), body]))])))
            }
            TermKind::Add { acc, index, value } => {
                let at = if index.is_empty() { text("") } else { self.indices(index) };
                let head = concat([text(self.name(acc)), at, text(" += ")]);
                parens(LOWEST, context, group(concat([head, nest(self.term(value, WITH))])))
            }
            TermKind::Jvp(f, x, dx) => {
                let args = vec![self.term(f, ATOM), self.term(x, ATOM), self.term(dx, ATOM)];
                call(text("jvp"), args, context)
            }
            TermKind::Reach(f, x, marks) => {
                let args = vec![self.term(f, ATOM), self.term(x, ATOM), self.term(marks, ATOM)];
                call(text("reach"), args, context)
            }
            TermKind::Band(f, x) => {
                call(text("band"), vec![self.term(f, ATOM), self.term(x, ATOM)], context)
            }
            TermKind::Vjp(f, x) => {
                call(text("vjp"), vec![self.term(f, ATOM), self.term(x, ATOM)], context)
            }
            TermKind::Ruled(ruled) => {
                let function = self.term(&ruled.function, OR);
                parens(WITH, context, concat([function, self.rules(ruled)]))
            }
        }
    }

    fn application(&mut self, term: &Term, context: u8) -> Doc {
        let (mut head, mut args) = (term, Vec::new());
        while let TermKind::App(f, x) = head.kind() {
            args.push(x.clone());
            head = f;
        }
        args.reverse();
        let head = self.term(head, APPLICATION);
        let args = self.terms(&args, ATOM);
        call(head, args, context)
    }

    /// Bindings and checks, one to a line, and their body.
    fn spine(&mut self, mut term: &Term, context: u8) -> Doc {
        let mut docs = Vec::new();
        loop {
            if let TermKind::Let(x, t, s) = term.kind() {
                let value = self.term(t, LOWEST);
                let head = text(format!("let {} =", self.bind(x)));
                docs.push(group(concat([head, nest(concat([Doc::line(), value]))])));
                term = s;
            } else if let TermKind::LetRec(functions, body) = term.kind() {
                docs.push(self.functions(functions));
                term = body;
            } else if let TermKind::Check { cond, site, values, body } = term.kind() {
                let mut args = vec![self.term(cond, ATOM), text(format!("{:?}", site.message))];
                args.extend(self.terms(values, ATOM));
                docs.push(concat([text("let () = "), call(text("check"), args, LOWEST)]));
                term = body;
            } else {
                break;
            }
            docs.push(Doc::hard_line());
        }
        docs.extend([text("in "), nest(self.term(term, LOWEST))]);
        parens(LOWEST, context, concat(docs))
    }

    /// `let rec f (x : a) : b = t and …`
    fn functions(&mut self, functions: &[(Var, Term)]) -> Doc {
        let names: Vec<String> = functions.iter().map(|(f, _)| self.bind(f)).collect();
        let mut docs = Vec::new();
        for (k, (name, (_, t))) in names.iter().zip(functions).enumerate() {
            let word = if k == 0 { "let rec" } else { "and" };
            let doc = self.function(word, name, t);
            docs.extend([Doc::hard_line(), doc]);
        }
        concat(docs.into_iter().skip(1))
    }

    fn tuple(&mut self, items: &[Term], ty: &Ty) -> Doc {
        let docs = self.terms(items, LOWEST);
        match ty {
            Ty::Record(fields) => {
                let docs = fields.iter().zip(docs).map(|((name, _), doc)| {
                    concat([text(format!("{} = ", sized::shown(name))), doc])
                });
                enclosed("{", docs.collect(), "}")
            }
            Ty::Scalar(_) | Ty::Tuple(_) | Ty::Array(_) | Ty::Fun(..) | Ty::Variant(_) => {
                enclosed("(", docs, ")")
            }
        }
    }

    fn constructor(&self, ty: &Ty, tag: usize) -> String {
        match ty {
            Ty::Variant(id) => {
                self.program.types.get(id.0 as usize).and_then(|decl| decl.constructors.get(tag))
            }
            Ty::Scalar(_) | Ty::Tuple(_) | Ty::Record(_) | Ty::Array(_) | Ty::Fun(..) => None,
        }
        .map_or_else(|| format!("Constructor{tag}"), |(name, _)| name.to_string())
    }

    fn match_(&mut self, t: &Term, arms: &[Arm], context: u8) -> Doc {
        let mut docs = vec![concat([text("match "), self.term(t, LOWEST)])];
        for (tag, arm) in arms.iter().enumerate() {
            let vars: String = arm.vars.iter().map(|var| format!(" {}", self.bind(var))).collect();
            let head = text(format!("| {}{vars} ->", self.constructor(t.ty(), tag)));
            let closed = tag + 1 == arms.len() || !ends_in_match(&arm.body);
            let body = self.term(&arm.body, if closed { LOWEST } else { WITH });
            docs.extend([
                Doc::hard_line(),
                group(concat([head, nest(concat([Doc::line(), body]))])),
            ]);
        }
        parens(LOWEST, context, concat(docs))
    }

    fn prim(&mut self, prim: Prim, args: &[Term], context: u8) -> Doc {
        match prim.row().surface {
            Surface::Infix(op) => {
                let (own, left, right) = precedence(op);
                let (a, b) = (self.term(&args[0], left), self.term(&args[1], right));
                parens(own, context, infix(a, op, b))
            }
            Surface::Prefix("-") => {
                parens(NEGATION, context, concat([text("-"), self.term(&args[0], POWER)]))
            }
            Surface::Prefix(word) | Surface::Call(word) => {
                let args = self.terms(args, ATOM);
                call(text(word), args, context)
            }
            Surface::If => {
                let args = self.terms(args, ATOM);
                call(text("select"), args, context)
            }
        }
    }

    fn indices(&mut self, at: &[Term]) -> Doc {
        enclosed("[", self.terms(at, LOWEST), "]")
    }

    fn loop_(&mut self, state: &Var, init: &Term, kind: &LoopKind, body: &Term) -> Doc {
        let init = self.term(init, LOWEST);
        let bound = match kind {
            LoopKind::For(i, n, checkpoint) => {
                let n = self.term(n, LOWEST);
                let policy = match checkpoint {
                    Checkpoint::All => Doc::nil(),
                    Checkpoint::Sqrt => text(" checkpoint sqrt"),
                    Checkpoint::States(states) => {
                        concat([text(" checkpoint "), self.term(states, APPLICATION + 1)])
                    }
                };
                let state = self.bind(state);
                concat([
                    text(format!("loop {state} = ")),
                    nest(init),
                    text(format!(" for {} < ", self.bind(i))),
                    n,
                    policy,
                ])
            }
            LoopKind::While(c) => {
                let state = self.bind(state);
                concat([
                    text(format!("loop {state} = ")),
                    nest(init),
                    text(" while "),
                    self.term(c, LOWEST),
                ])
            }
        };
        let body = self.term(body, LOWEST);
        group(concat([bound, text(" do"), nest(concat([Doc::line(), body]))]))
    }
}

/// A function and its arguments.
fn call(head: Doc, args: Vec<Doc>, context: u8) -> Doc {
    if args.is_empty() {
        return head;
    }
    let args = args.into_iter().flat_map(|arg| [Doc::line(), arg]);
    parens(APPLICATION, context, group(concat([head, nest(concat(args))])))
}

fn infix(a: Doc, op: &str, b: Doc) -> Doc {
    group(separated(vec![a, concat([text(format!("{op} ")), b])], ""))
}

/// The precedence of an infix operator and those of its operands.
fn precedence(op: &str) -> (u8, u8, u8) {
    match op {
        "||" => (OR, OR, AND),
        "&&" => (AND, AND, COMPARE),
        "+" | "-" => (SUM, SUM, PRODUCT),
        "*" | "/" | "//" | "%" => (PRODUCT, PRODUCT, NEGATION),
        "**" => (POWER, APPLICATION, POWER),
        _ => (COMPARE, SUM, SUM),
    }
}

/// A constant; a negative one binds as a negation does.
fn literal(value: Scalar, context: u8) -> Doc {
    let number = match value {
        Scalar::Real(x) if x.is_nan() => "nan".to_string(),
        Scalar::Real(x) => format!("{x:?}"),
        Scalar::Int(n) => n.to_string(),
        Scalar::Bool(b) => b.to_string(),
    };
    let own = if number.starts_with('-') { NEGATION } else { ATOM };
    parens(own, context, text(number))
}

fn operator(op: ReduceOp) -> &'static str {
    match op {
        ReduceOp::Add => "(+)",
        ReduceOp::Mul => "(*)",
        ReduceOp::Min => "min",
        ReduceOp::Max => "max",
        ReduceOp::And => "(&&)",
        ReduceOp::Or => "(||)",
    }
}

/// Whether the term would absorb the arms of a match that follows it.
fn ends_in_match(term: &Term) -> bool {
    match term.kind() {
        TermKind::Match(..) => true,
        TermKind::Lam(_, body)
        | TermKind::Let(_, _, body)
        | TermKind::LetRec(_, body)
        | TermKind::If(_, _, body)
        | TermKind::For(_, _, body)
        | TermKind::Loop { body, .. }
        | TermKind::Accumulate { body, .. }
        | TermKind::Check { body, .. } => ends_in_match(body),
        TermKind::Var(_)
        | TermKind::Global(_)
        | TermKind::Lit(_)
        | TermKind::Never
        | TermKind::App(..)
        | TermKind::Tuple(_)
        | TermKind::Proj(..)
        | TermKind::Con(..)
        | TermKind::Prim(..)
        | TermKind::Array(_)
        | TermKind::Dim(..)
        | TermKind::Index(..)
        | TermKind::Update(..)
        | TermKind::Reduce(..)
        | TermKind::Inspect(..)
        | TermKind::ArrayPrim(..)
        | TermKind::Add { .. }
        | TermKind::Jvp(..)
        | TermKind::Vjp(..)
        | TermKind::Ruled(_)
        | TermKind::Reach(..)
        | TermKind::Band(..) => false,
    }
}

/// Whether the record is a variant with its sizes.
fn is_sized(fields: &[(Rc<str>, Ty)]) -> bool {
    sized::is_sized(fields.iter().map(|(label, _)| &**label))
}
