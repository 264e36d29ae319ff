//! The memory that a call takes, as a function of its sizes: a slice of the code, in which only the
//! allocations are left and the integers that their sizes depend on. Where a size depends on
//! data, and in functions that call each other, there is none.

use std::collections::{BTreeSet, HashMap};

use lambada_anf::bounds::LONGEST_AXIS;
use lambada_loops::{Function as Loops, Nest, Op, Operand, Param, Reg, Step, Stmt};
use lambada_prim::{CText, Prim, Scalar, ScalarTy};

use super::describe::Input;
use super::interface::{Interface, Word};
use super::sizes::{Extent, Spelling};

/// A function that counts bytes.
pub(crate) struct Room {
    /// The integers among the arguments of C that it takes.
    params: Vec<String>,
    lines: Vec<Line>,
}

struct Line {
    /// The name that the line defines and does nothing else.
    defines: Option<String>,
    text: String,
}

/// The memory of calls of a function, if sizes determine it.
pub(crate) fn room(interface: &Interface, versions: &[Loops]) -> Option<Room> {
    let [code] = versions else { return None };
    let mut slice = Slice { code, known: HashMap::new(), lines: Vec::new(), depth: 1, marks: 0 };
    for (param, word) in code.params.iter().zip(&interface.words) {
        let text = match word {
            Word::Size(extent) => Some(extent.text(Spelling::C)),
            Word::Scalar(name, elem) => (*elem == ScalarTy::Int).then(|| name.clone()),
            Word::Array(_) | Word::Zero(..) => None,
        };
        if let (Param::Scalar(reg), Some(text)) = (param, text) {
            slice.define(*reg, &text);
        }
    }
    for word in &interface.words {
        if let Word::Size(extent @ (Extent::Argument(_) | Extent::Computed(..))) = word {
            let size = extent.text(Spelling::C);
            slice.line(format!(
                "if ({size} < 0 || {size} > {LONGEST_AXIS}) return (uint64_t)1 << 60;"
            ));
        }
        let Word::Zero(elem, dims) = word else { continue };
        if !dims.is_empty() {
            let sizes: Vec<String> = dims.iter().map(|dim| dim.text(Spelling::C)).collect();
            slice.takes(&sizes, code.precision.bytes(*elem));
            // At the end of the arena, aligned.
            slice.line("in_use += 64;".to_string());
        }
    }
    slice.stmts(&code.body)?;
    let is_integer = |input: &&Input| {
        input.dims.is_empty() && input.elem == ScalarTy::Int && input.constructors.is_empty()
    };
    let inputs = interface.function.inputs.iter();
    let params = inputs.filter(is_integer).map(|input| input.name.clone()).collect();
    let mut used = BTreeSet::new();
    let mut lines: Vec<Line> = Vec::new();
    for line in slice.lines.into_iter().rev() {
        if line.defines.as_ref().is_some_and(|name| !used.contains(name)) {
            continue;
        }
        used.extend(words(&line.text).map(str::to_string));
        lines.push(line);
    }
    lines.reverse();
    Some(Room { params, lines })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

impl Room {
    /// The declaration, without a semicolon.
    pub fn prototype(&self, library: &str, function: &str) -> String {
        let params: Vec<String> =
            self.params.iter().map(|name| format!("int64_t {name}")).collect();
        let params = if params.is_empty() { "void".to_string() } else { params.join(", ") };
        format!("uint64_t {library}_{function}_bytes({params})")
    }

    /// The function; the code takes memory for the struct `frame` first, if there is one.
    pub fn definition(&self, library: &str, function: &str, frame: Option<String>) -> String {
        let prototype = self.prototype(library, function);
        let frame = frame.map(|frame| {
            format!("    in_use = lam_room(&most, in_use, 1, sizeof(struct {frame}));\n")
        });
        let unused = self.params.iter().map(|name| format!("    (void){name};\n"));
        let lines = self.lines.iter().map(|line| &*line.text);
        format!(
            "{prototype} {{\n    uint64_t in_use = 0, most = 0;\n{}{}{}    return most + LAM_BESIDE;\n}}\n",
            unused.collect::<String>(),
            frame.unwrap_or_default(),
            lines.collect::<String>()
        )
    }
}

/// A loop with a known trip count.
struct Counted {
    index: Reg,
    start: String,
    end: String,
    step: i64,
}

struct Slice<'a> {
    code: &'a Loops,
    /// The registers that the arguments determine, by their names in C.
    known: HashMap<Reg, String>,
    lines: Vec<Line>,
    depth: usize,
    /// How many marks of memory there are.
    marks: usize,
}

impl Slice<'_> {
    fn line(&mut self, text: String) {
        let text = format!("{}{text}\n", "    ".repeat(self.depth));
        self.lines.push(Line { defines: None, text });
    }

    fn define(&mut self, reg: Reg, value: &str) {
        let name = format!("lam_{}", reg.0);
        let text = format!("{}const int64_t {name} = {value};\n", "    ".repeat(self.depth));
        self.lines.push(Line { defines: Some(name.clone()), text });
        self.known.insert(reg, name);
    }

    fn operand(&self, operand: &Operand) -> Option<String> {
        match operand {
            Operand::Reg(reg) => self.known.get(reg).cloned(),
            Operand::Lit(Scalar::Int(value)) => Some(match *value {
                i64::MIN => "INT64_MIN".to_string(),
                value if value < 0 => format!("({value})"),
                value => value.to_string(),
            }),
            Operand::Lit(Scalar::Bool(value)) => Some(i64::from(*value).to_string()),
            Operand::Lit(Scalar::Real(_)) => None,
        }
    }

    /// The value of a primitive on integers that are known.
    fn prim(&self, prim: Prim, args: &[Operand]) -> Option<String> {
        if prim.result() == ScalarTy::Real {
            return None;
        }
        let args: Option<Vec<String>> = args.iter().map(|arg| self.operand(arg)).collect();
        let args = args?;
        Some(match (prim.row().c, &args[..]) {
            (CText::Infix(op), [a, b]) => format!("{a} {op} {b}"),
            (CText::Prefix(op), [a]) => format!("{op}{a}"),
            (CText::Call(name), args) => format!("{name}({})", args.join(", ")),
            (CText::Template(text), args) => {
                let numbered = args.iter().enumerate();
                numbered
                    .fold(text.to_string(), |text, (k, arg)| text.replace(&format!("${k}"), arg))
            }
            (CText::Infix(_) | CText::Prefix(_) | CText::Math { .. }, _) => return None,
        })
    }

    fn takes(&mut self, sizes: &[String], bytes: u32) {
        let mut count = "1".to_string();
        for size in sizes {
            count = if count == "1" { size.clone() } else { format!("lam_count({count}, {size})") };
        }
        self.line(format!("in_use = lam_room(&most, in_use, {count}, {bytes});"));
    }

    /// Nothing if the memory depends on data.
    fn stmts(&mut self, stmts: &[Stmt]) -> Option<()> {
        stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Option<()> {
        match stmt {
            Stmt::Step(Step::Let(reg, Op::Prim(prim, args))) => {
                if let Some(value) = self.prim(*prim, args) {
                    self.define(*reg, &value);
                }
            }
            Stmt::Step(Step::Alloc { buf, dims }) => {
                let sizes: Option<Vec<String>> = dims.iter().map(|dim| self.operand(dim)).collect();
                let code = self.code;
                let elem = code.bufs[buf.0 as usize].0;
                self.takes(&sizes?, code.precision.bytes(elem));
            }
            Stmt::Step(Step::Node { .. } | Step::Open { .. } | Step::Call { .. }) => return None,
            Stmt::Step(_) => {}
            Stmt::Nest(nest) => return self.nest(nest),
        }
        Some(())
    }

    fn nest(&mut self, nest: &Nest) -> Option<()> {
        match nest {
            Nest::Scope(_, body) => self.scope(body),
            Nest::For { index, start, end, step, body, .. } => {
                let bounds = self.operand(start).zip(self.operand(end));
                let (index, step) = (*index, *step);
                let counted = |(start, end)| Counted { index, start, end, step };
                self.repeated(body, bounds.map(counted))
            }
            Nest::While { cond, body } => {
                self.repeated(&cond.before, None)?;
                self.repeated(body, None)
            }
            Nest::If { cond, then, otherwise } => self.branches(cond, then, otherwise),
            Nest::Parallel { index, count, body, merge } => {
                let (index, start, step) = (*index, "0".to_string(), 1);
                let counted = self.operand(count).map(|end| Counted { index, start, end, step });
                let all: Vec<Stmt> = body.iter().chain(merge).cloned().collect();
                let scope = [Stmt::Nest(Nest::Scope(lambada_loops::Release::All, all))];
                self.repeated(&scope, counted)
            }
        }
    }

    /// A mark of the memory in use.
    fn mark(&mut self) -> String {
        self.marks += 1;
        format!("lam_mark_{}", self.marks)
    }

    fn scope(&mut self, body: &[Stmt]) -> Option<()> {
        let mark = self.mark();
        let before = self.lines.len();
        self.line("{".to_string());
        self.depth += 1;
        self.line(format!("const uint64_t {mark} = in_use;"));
        self.stmts(body)?;
        self.line(format!("in_use = {mark};"));
        self.depth -= 1;
        self.line("}".to_string());
        self.drop_idle(before);
        Some(())
    }

    /// Removes lines without an allocation.
    fn drop_idle(&mut self, before: usize) {
        if !self.lines[before..].iter().any(|line| line.text.contains("lam_room(")) {
            self.lines.truncate(before);
        }
    }

    /// A body that runs any number of times. Where all its memory is free after each, and no size
    /// depends on the number of the iteration, one stands for all.
    fn repeated(&mut self, body: &[Stmt], counted: Option<Counted>) -> Option<()> {
        let before = self.lines.len();
        self.depth += 1;
        let name = counted.as_ref().map(|counted| format!("lam_{}", counted.index.0));
        if let (Some(counted), Some(name)) = (&counted, &name) {
            self.known.insert(counted.index, name.clone());
        }
        let done = self.stmts(body);
        self.depth -= 1;
        done?;
        self.drop_idle(before);
        if self.lines.len() == before {
            return Some(());
        }
        let lines = &self.lines[before..];
        let mentions = |name: &String| {
            let mut used = BTreeSet::new();
            for line in lines.iter().rev() {
                let idle = line.defines.as_ref().is_some_and(|own| !used.contains(&**own));
                if !idle {
                    used.extend(words(&line.text));
                }
            }
            used.contains(&**name)
        };
        let one_is_all = keeps(body) && !name.as_ref().is_some_and(mentions);
        let head = match counted {
            _ if one_is_all => "{".to_string(),
            Some(Counted { index, start, end, step }) => {
                let name = format!("lam_{}", index.0);
                format!("for (int64_t {name} = {start}; {name} < {end}; {name} += {step}) {{")
            }
            None => return None,
        };
        let text = format!("{}{head}\n", "    ".repeat(self.depth));
        self.lines.insert(before, Line { defines: None, text });
        self.line("}".to_string());
        Some(())
    }

    fn branches(&mut self, cond: &Operand, then: &[Stmt], otherwise: &[Stmt]) -> Option<()> {
        let before = self.lines.len();
        let (mark, most) = (self.mark(), self.mark());
        self.line("{".to_string());
        self.depth += 1;
        let known = self.operand(cond);
        match &known {
            Some(cond) => self.line(format!("if ({cond}) {{")),
            None => {
                self.line(format!("const uint64_t {mark} = in_use;"));
                self.line(format!("uint64_t {most};"));
                self.line("{".to_string());
            }
        }
        self.depth += 1;
        self.stmts(then)?;
        self.depth -= 1;
        let end = self.lines.len();
        match &known {
            Some(_) => self.line("} else {".to_string()),
            None => {
                self.line("}".to_string());
                self.line(format!("{most} = in_use;"));
                self.line(format!("in_use = {mark};"));
                self.line("{".to_string());
            }
        }
        self.depth += 1;
        let start = self.lines.len();
        self.stmts(otherwise)?;
        self.drop_idle(start);
        if known.is_some() && self.lines.len() == start {
            self.lines.truncate(end);
        }
        self.depth -= 1;
        self.line("}".to_string());
        if known.is_none() {
            self.line(format!("if ({most} > in_use) in_use = {most};"));
        }
        self.depth -= 1;
        self.line("}".to_string());
        self.drop_idle(before);
        Some(())
    }
}

/// Whether all memory that statements take is free after them.
fn keeps(stmts: &[Stmt]) -> bool {
    stmts.iter().all(|stmt| match stmt {
        Stmt::Step(Step::Alloc { .. }) => false,
        Stmt::Step(_) => true,
        Stmt::Nest(Nest::Scope(..) | Nest::Parallel { .. }) => true,
        Stmt::Nest(Nest::For { body, .. }) => keeps(body),
        Stmt::Nest(Nest::While { cond, body }) => keeps(&cond.before) && keeps(body),
        Stmt::Nest(Nest::If { then, otherwise, .. }) => keeps(then) && keeps(otherwise),
    })
}
