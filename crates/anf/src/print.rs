//! Every construct as it is, with types and checks: what `show --stage anf` prints, and what a failing pass is reported with.

use std::fmt::Write;
use std::rc::Rc;

use lambada_prim::{Prim, Scalar, Tensor};

use crate::naming::Naming;
use crate::{
    Atom, Block, Checkpoint, Exp, Function, LoopKind, Names, Nest, Op, Out, Param, Stm, Ty, Var,
};

/// The function as text. Names are unique where they are in scope.
pub fn print(function: &Function) -> String {
    let mut printer =
        Printer { naming: Naming::new(&function.names, words()), text: String::new(), indent: 1 };
    printer.function(function);
    printer.text
}

/// A block as text, with its free variables under their own names.
pub fn print_block(names: &Names, block: &Block) -> String {
    let mut printer =
        Printer { naming: Naming::new(names, words()), text: String::new(), indent: 0 };
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
        "true",
        "false",
    ];
    WORDS.iter().copied().chain(Prim::ALL.iter().map(|op| op.name()))
}

struct Printer<'a> {
    naming: Naming<'a>,
    text: String,
    indent: usize,
}

impl Printer<'_> {
    fn function(&mut self, function: &Function) {
        let sizes: String =
            function.sizes.iter().map(|s| format!(" [{}]", self.naming.bind(*s))).collect();
        let params: String =
            function.params.iter().map(|p| format!(" ({})", self.param(p))).collect();
        self.text = format!("{}{sizes}{params} {{\n", function.name);
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
        self.text.push_str("}\n");
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:width$}{line}", "", width = 2 * self.indent);
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
        format!("{dims}{}", ty.elem)
    }

    fn param(&mut self, p: &Param) -> String {
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
        // The blocks are printed before the binds get their names, as these are not in scope there; the text is put together after.
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
            Op::MatMul(a, b) => format!("{} @ {}", self.var(*a), self.var(*b)),
            Op::Accumulator(value) => format!("accumulator {}", self.atom(*value)),
            Op::Accumulate { acc, index, value } => {
                let (acc, index) = (self.var(*acc), self.atoms(index));
                format!("accumulate {acc}[{index}] += {}", self.atom(*value))
            }
            Op::Freeze(acc) => format!("freeze {}", self.var(*acc)),
            Op::Check { cond, site, values } => {
                format!("check {} {:?} ({})", self.atom(*cond), site.message, self.atoms(values))
            }
            Op::Call { function, args, accumulators } => {
                let accs: Vec<String> =
                    accumulators.iter().map(|acc| self.var(*acc).to_string()).collect();
                let into = if accs.is_empty() {
                    String::new()
                } else {
                    format!(" into {}", accs.join(", "))
                };
                format!("call f_{} ({}){into}", function.0, self.atoms(args))
            }
            Op::Node { node, tag, fields, cells } => {
                let cells = if *cells { " with cells" } else { "" };
                format!("node ref_{}.{tag} ({}){cells}", node.0, self.atoms(fields))
            }
            Op::Tag(of) => format!("tag {}", self.atom(*of)),
            Op::Field { of, tag, field } => format!("field {} {tag}.{field}", self.atom(*of)),
            Op::Open { of, tag, field } => format!("open {} {tag}.{field}", self.atom(*of)),
            Op::Cell { of, tag, field } => format!("cell {} {tag}.{field}", self.atom(*of)),
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

    /// What `f` prints, apart.
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
