//! The text of every construct, with types and checks: `show --stage anf` prints it, and so does
//! the report of a failing pass.

use std::collections::HashMap;
use std::fmt::Write;
use std::rc::Rc;

use lambada_prim::{Prim, Scalar, Spelling, Tensor};

use crate::labels::Labels;
use crate::naming::Naming;
use crate::{
    Atom, Block, Checkpoint, Elem, Exp, Field, Function, Kernel, Library, LoopKind, Names, Nest,
    NodeId, NodeType, Op, Out, Param, Rules, Scheduled, Stm, Ty, Var,
};

/// The program as text: its node types, its functions, and then the function itself. Names are
/// unique where they are in scope.
pub fn print(function: &Function) -> String {
    let labels = labels(&function.library);
    let mut text = String::new();
    let nodes = function.library.nodes.iter().enumerate();
    nodes.for_each(|(k, node)| node_type(&labels, NodeId(k as u32), node, &mut text));
    for (k, f) in function.library.functions.iter().enumerate() {
        let name = labels.function(crate::FnId(k as u32));
        match f {
            Some(f) => text.push_str(&definition(&labels, &format!("def {name}"), f)),
            None => _ = writeln!(text, "-- def {name} is under construction"),
        }
    }
    text + &definition(&labels, &function.name, function)
}

/// The labels for the text of a library.
pub(crate) fn labels(library: &Library) -> Labels {
    Labels::new(library, ["real", "int", "bool", "ref", "cell"])
}

fn definition(labels: &Labels, head: &str, function: &Function) -> String {
    let mut printer = Printer::new(&function.names, labels, 1);
    printer.function(head, function);
    printer.text
}

/// `type list { Nil; Cons (head : real, tail : ref list) }`, a constructor on a line.
fn node_type(labels: &Labels, id: NodeId, node: &NodeType, text: &mut String) {
    let _ = writeln!(text, "type {} {{", labels.node(id));
    for (tag, constructor) in node.constructors.iter().enumerate() {
        let tag = tag as u32;
        let name = |k: u32| labels.field(id, tag, k).unwrap_or("?");
        let field = |(k, field): (usize, &Field)| {
            let cell = if field.cell { "cell " } else { "" };
            let shape = if field.shape { "shape " } else { "" };
            let size = |d: &Atom| match d {
                Atom::Var(Var(k)) => format!("[{}]", name(*k)),
                Atom::Lit(value) => format!("[{}]", scalar(*value)),
            };
            let dims: String = field.ty.dims.iter().map(size).collect();
            format!("{cell}{shape}{} : {dims}{}", name(k as u32), elem(labels, field.ty.elem))
        };
        let fields: Vec<String> = constructor.fields.iter().enumerate().map(field).collect();
        let name = labels.constructor(id, tag).unwrap_or("?");
        let _ = if fields.is_empty() {
            writeln!(text, "  {name}")
        } else {
            writeln!(text, "  {name} ({})", fields.join(", "))
        };
    }
    text.push_str("}\n");
}

fn elem(labels: &Labels, elem: Elem) -> String {
    match elem {
        Elem::Scalar(ty) => ty.to_string(),
        Elem::Ref(node) => format!("ref {}", labels.node(node)),
    }
}

/// A block as text, with its free variables under their own names.
pub fn print_block(names: &Names, block: &Block) -> String {
    let labels = Labels::default();
    let mut printer = Printer::new(names, &labels, 0);
    crate::free_vars(block).into_iter().for_each(|var| _ = printer.naming.bind(var));
    printer.block(block);
    printer.text
}

/// The words of the language, which no variable is called.
fn words() -> impl Iterator<Item = &'static str> {
    const WORDS: &[&str] = &[
        "for",
        "loop",
        "while",
        "do",
        "if",
        "else",
        "with",
        "fill",
        "constant",
        "accumulator",
        "accumulate",
        "freeze",
        "check",
        "collect",
        "reduce",
        "real",
        "int",
        "bool",
        "ref",
        "call",
        "into",
        "node",
        "tag",
        "field",
        "open",
        "cell",
        "true",
        "false",
    ];
    WORDS.iter().copied().chain(Prim::ALL.iter().map(|op| op.name()))
}

struct Printer<'a> {
    naming: Naming<'a>,
    labels: &'a Labels,
    /// The types of the handles so far.
    handles: HashMap<Var, NodeId>,
    text: String,
    indent: usize,
}

impl<'a> Printer<'a> {
    fn new(names: &'a Names, labels: &'a Labels, indent: usize) -> Printer<'a> {
        let naming = Naming::new(names, words());
        Printer { naming, labels, handles: HashMap::new(), text: String::new(), indent }
    }

    fn function(&mut self, head: &str, function: &Function) {
        let sizes: String =
            function.sizes.iter().map(|s| format!(" [{}]", self.naming.bind(*s))).collect();
        let params: String =
            function.params.iter().map(|p| format!(" ({})", self.param(p))).collect();
        let accumulators: Vec<String> =
            function.accumulators.iter().map(|p| self.param(p)).collect();
        let into = if accumulators.is_empty() {
            String::new()
        } else {
            format!(" into ({})", accumulators.join(", "))
        };
        self.text = format!("{head}{sizes}{params}{into} {{\n");
        let mark = self.naming.mark();
        self.statements(&function.body);
        let results: Vec<String> = function
            .body
            .results
            .iter()
            .zip(&function.results)
            .map(|(a, ty)| format!("{} : {}", self.atom(*a), self.ty(ty)))
            .collect();
        self.line(&format!("=> {}", results.join(", ")));
        self.naming.release(mark);
        let rules = function.rules.as_ref().map(|rules| self.rules(rules));
        let _ = writeln!(self.text, "}}{}", rules.unwrap_or_default());
    }

    /// `captures 1 jvp f_jvp vjp f_vjp`
    fn rules(&self, rules: &Rules) -> String {
        let mut text = String::new();
        if rules.captured > 0 {
            let _ = write!(text, " captures {}", rules.captured);
        }
        for (word, rule) in [("jvp", &rules.jvp), ("vjp", &rules.vjp)] {
            if let Some(rule) = rule {
                let _ = write!(text, " {word} {}", self.labels.function(rule.function));
            }
        }
        text
    }

    fn line(&mut self, line: &str) {
        let (line, width) = (line.trim_end(), 2 * self.indent);
        let _ = writeln!(self.text, "{:width$}{line}", "");
    }

    fn atom(&self, atom: Atom) -> String {
        match atom {
            Atom::Var(var) => self.var(var).to_string(),
            Atom::Lit(value) => scalar(value),
        }
    }

    fn var(&self, var: Var) -> Rc<str> {
        self.naming.of(var)
    }

    fn atoms(&self, atoms: &[Atom]) -> String {
        atoms.iter().map(|a| self.atom(*a)).collect::<Vec<_>>().join(", ")
    }

    fn ty(&self, ty: &Ty) -> String {
        let dims: String = ty.dims.iter().map(|d| format!("[{}]", self.atom(*d))).collect();
        format!("{dims}{}", elem(self.labels, ty.elem))
    }

    fn param(&mut self, p: &Param) -> String {
        self.handles.extend(p.ty.elem.node().map(|node| (p.var, node)));
        let name = self.naming.bind(p.var);
        format!("{name} : {}", self.ty(&p.ty))
    }

    fn block(&mut self, block: &Block) {
        self.statements(block);
        self.line(&format!("=> {}", self.atoms(&block.results)));
    }

    fn statements(&mut self, block: &Block) {
        for stm in &block.stms {
            self.statement(stm);
        }
    }

    fn nested(&mut self, bound: &[Var], block: &Block) {
        let mark = self.naming.mark();
        bound.iter().for_each(|var| _ = self.naming.bind(*var));
        self.indent += 1;
        self.block(block);
        self.indent -= 1;
        self.naming.release(mark);
    }

    fn statement(&mut self, stm: &Stm) {
        let body = self.head(&stm.exp);
        // The blocks are printed before the bindings get their names, because these are not in
        // scope there; the text is put together after.
        let (head, rest) = body;
        let binds: Vec<String> = stm.binds.iter().map(|p| self.param(p)).collect();
        let equals = if binds.is_empty() { "" } else { " = " };
        self.line(&format!("{}{equals}{head}", binds.join(", ")));
        self.text.push_str(&rest);
    }

    /// The first line of an expression, and the lines of its blocks.
    fn head(&mut self, exp: &Exp) -> (String, String) {
        match exp {
            Exp::Op(op) => (self.op(op), String::new()),
            Exp::Nest(Nest::For { index, extent, outs, body }) => {
                let outs: Vec<String> = outs.iter().map(|o| out(*o)).collect();
                let text = self.aside(|p| p.nested(&[*index], body));
                let head = format!(
                    "for {} < {} ({}) {{",
                    self.var(*index),
                    self.atom(*extent),
                    outs.join(", ")
                );
                (head, self.closed(text))
            }
            Exp::Nest(Nest::Loop { params, inits, kind, body }) => {
                self.loop_(params, inits, kind, body)
            }
            Exp::Nest(Nest::If { cond, then, otherwise }) => {
                let then = self.aside(|p| p.nested(&[], then));
                let middle = self.aside(|p| p.line("} else {"));
                let otherwise = self.aside(|p| p.nested(&[], otherwise));
                (format!("if {} {{", self.atom(*cond)), self.closed(then + &middle + &otherwise))
            }
        }
    }

    fn kernel(&mut self, kernel: &Kernel) -> String {
        let (inputs, added) = (self.vars(&kernel.inputs), self.vars(&kernel.added));
        let mut text = format!("kernel ({inputs})");
        if !added.is_empty() {
            text += &format!(" adds ({added})");
        }
        if !kernel.is_total() {
            text += &format!(" when {}", self.atom(kernel.when));
        }
        let placed = lambada_graph::placed::print(&kernel.placed);
        let (inside, outside) = ("  ".repeat(self.indent + 1), "  ".repeat(self.indent));
        let lines: String = placed.lines().map(|line| format!("{inside}{line}\n")).collect();
        format!("{text} {{\n{lines}{outside}}}")
    }

    fn vars(&mut self, vars: &[Var]) -> String {
        vars.iter().map(|var| self.var(*var)).collect::<Vec<_>>().join(", ")
    }

    fn op(&mut self, op: &Op) -> String {
        match op {
            Op::Prim(op, args) => format!("{} {}", op.name(), self.atoms(args)),
            Op::Index(x, index) => format!("{}[{}]", self.var(*x), self.atoms(index)),
            Op::Fill(value) => format!("fill {}", self.atom(*value)),
            Op::Array(items) => format!("[{}]", self.atoms(items)),
            Op::Constant(tensor) => format!("constant {}", constant(tensor)),
            Op::Update { array, index, value } => {
                let (array, index) = (self.var(*array), self.atoms(index));
                format!("{array} with [{index}] = {}", self.atom(*value))
            }
            Op::Scheduled(Scheduled::Concat(parts)) => format!("concat {}", self.vars(parts)),
            Op::Scheduled(Scheduled::Kernel(kernel)) => self.kernel(kernel),
            Op::ArrayPrim(prim, args) => {
                let args: Vec<Rc<str>> = args.iter().map(|arg| self.var(*arg)).collect();
                match prim.row().spelling {
                    Spelling::Infix(operator) => args.join(&format!(" {operator} ")),
                    Spelling::Definition(_) => format!("{} {}", prim.name(), args.join(", ")),
                }
            }
            Op::Accumulator(value) => format!("accumulator {}", self.atom(*value)),
            Op::Accumulate { acc, index, value } => {
                let (acc, index) = (self.var(*acc), self.atoms(index));
                format!("accumulate {acc}[{index}] += {}", self.atom(*value))
            }
            Op::Freeze(acc) => format!("freeze {}", self.var(*acc)),
            Op::Check { cond, site, values } => {
                format!("check {} {:?} ({})", self.atom(*cond), site.message, self.atoms(values))
            }
            Op::Inspect { number, label, values } => {
                format!("inspect {number} {label:?} ({})", self.atoms(values))
            }
            Op::Call { function, args, accumulators } => {
                let accs: Vec<String> =
                    accumulators.iter().map(|acc| self.var(*acc).to_string()).collect();
                let into = if accs.is_empty() {
                    String::new()
                } else {
                    format!(" into {}", accs.join(", "))
                };
                format!("call {} ({}){into}", self.labels.function(*function), self.atoms(args))
            }
            Op::Node { node, tag, fields, cells: _ } => {
                let constructor = self.labels.constructor(*node, *tag);
                let constructor = constructor.map_or(tag.to_string(), String::from);
                format!("node {}.{constructor} ({})", self.labels.node(*node), self.atoms(fields))
            }
            Op::Tag(of) => format!("tag {}", self.atom(*of)),
            Op::Field { of, tag, field } => self.part("field", *of, *tag, *field),
            Op::Open { of, tag, field } => self.part("open", *of, *tag, *field),
            Op::Cell { of, tag, field } => self.part("cell", *of, *tag, *field),
        }
    }

    /// `field xs Cons.head`; of a node whose type is not known, by their numbers: `field 0 1:0`.
    fn part(&self, what: &str, of: Atom, tag: u32, field: u32) -> String {
        let node = of.as_var().and_then(|v| self.handles.get(&v).copied());
        let names = node.and_then(|node| {
            Some((self.labels.constructor(node, tag)?, self.labels.field(node, tag, field)?))
        });
        match names {
            Some((tag, field)) => format!("{what} {} {tag}.{field}", self.atom(of)),
            None => format!("{what} {} {tag}:{field}", self.atom(of)),
        }
    }

    fn loop_(
        &mut self,
        params: &[Param],
        inits: &[Atom],
        kind: &LoopKind,
        body: &Block,
    ) -> (String, String) {
        let inits: Vec<String> = inits.iter().map(|a| self.atom(*a)).collect();
        let mark = self.naming.mark();
        let params: Vec<String> = params.iter().map(|p| self.param(p)).collect();
        let state: Vec<String> =
            params.iter().zip(&inits).map(|(p, i)| format!("{p} = {i}")).collect();
        let state = state.join(", ");
        let (head, text) = match kind {
            LoopKind::For { index, extent, checkpoint } => {
                let policy = match checkpoint {
                    Checkpoint::All => String::new(),
                    Checkpoint::Entries => " checkpoint entries".into(),
                    Checkpoint::Sqrt => " checkpoint sqrt".into(),
                    Checkpoint::States(states) => format!(" checkpoint {}", self.atom(*states)),
                };
                let text = self.aside(|p| p.nested(&[*index], body));
                (
                    format!(
                        "loop ({state}) for {} < {}{policy} {{",
                        self.var(*index),
                        self.atom(*extent)
                    ),
                    text,
                )
            }
            LoopKind::While(cond) => {
                let cond = self.aside(|p| p.nested(&[], cond));
                let middle = self.aside(|p| p.line("} do {"));
                let text = self.aside(|p| p.nested(&[], body));
                (format!("loop ({state}) while {{"), cond + &middle + &text)
            }
        };
        self.naming.release(mark);
        (head, self.closed(text))
    }

    fn closed(&mut self, text: String) -> String {
        text + &self.aside(|p| p.line("}"))
    }

    /// The text that `f` prints, apart.
    fn aside(&mut self, f: impl FnOnce(&mut Self)) -> String {
        let before = std::mem::take(&mut self.text);
        f(self);
        std::mem::replace(&mut self.text, before)
    }
}

fn out(out: Out) -> String {
    match out {
        Out::Collect => "collect".into(),
        Out::Reduce(op) => format!("reduce {}", op.name()),
    }
}

fn scalar(value: Scalar) -> String {
    match value {
        Scalar::Real(x) => format!("{x:?}"),
        Scalar::Int(k) => k.to_string(),
        Scalar::Bool(b) => b.to_string(),
    }
}

fn constant(tensor: &Tensor) -> String {
    let items: Vec<String> = (0..tensor.data.len()).map(|k| scalar(tensor.data.get(k))).collect();
    let dims: String = tensor.dims.iter().map(|d| format!("[{d}]")).collect();
    format!("{dims}{} {{{}}}", tensor.elem(), items.join(", "))
}
