//! A program as text: each definition on a line, before its uses. Constants, indices and inputs
//! that are scalars stand where they are used.

use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;
use std::rc::Rc;

use lambada_prim::{Scalar, Tensor};
use lambada_source::stack;

use super::{Array, ArrayId, AxisId, Effect, Graph, LoopId, Node, NodeId, Output, Term};

/// The program as text, with the names in it.
pub struct Printed {
    /// The text.
    pub text: String,
    /// The numbers of scalars with a line of their own.
    pub nodes: FxHashMap<NodeId, usize>,
    /// The numbers of arrays.
    pub arrays: FxHashMap<ArrayId, usize>,
    /// The names of axes.
    pub axes: FxHashMap<AxisId, Rc<str>>,
}

/// The program as text.
pub fn print(graph: &Graph) -> String {
    printed(graph).text
}

/// The program as text, with its names.
pub fn printed(graph: &Graph) -> Printed {
    let mut printer = Printer::new(graph);
    printer.head();
    printer.effects(&graph.effects);
    let outputs: Vec<String> = graph.outputs.iter().map(|o| printer.output(o)).collect();
    printer.line(&format!("=> {}", outputs.join(", ")));
    printer.text.push_str("}\n");
    let Printer { text, nodes, arrays, axes, .. } = printer;
    Printed { text, nodes, arrays, axes }
}

struct Printer<'a> {
    graph: &'a Graph,
    text: String,
    depth: usize,
    taken: FxHashSet<Rc<str>>,
    inputs: Vec<Rc<str>>,
    axes: FxHashMap<AxisId, Rc<str>>,
    /// The axes in order.
    declared: Vec<AxisId>,
    nodes: FxHashMap<NodeId, usize>,
    arrays: FxHashMap<ArrayId, usize>,
    loops: FxHashMap<LoopId, usize>,
}

/// The reserved words.
const WORDS: &[&str] = &[
    "true", "false", "inf", "NaN", "map", "items", "constant", "scatter", "update", "choose",
    "reduce", "loop",
];

/// A constant as text.
pub(super) fn scalar(value: Scalar) -> String {
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

impl<'a> Printer<'a> {
    fn new(graph: &'a Graph) -> Printer<'a> {
        Printer {
            graph,
            text: String::new(),
            depth: 1,
            taken: WORDS.iter().copied().map(Rc::from).collect(),
            inputs: Vec::new(),
            axes: FxHashMap::default(),
            declared: Vec::new(),
            nodes: FxHashMap::default(),
            arrays: FxHashMap::default(),
            loops: FxHashMap::default(),
        }
    }

    /// A unique name like the hint.
    fn name(&mut self, hint: &str) -> Rc<str> {
        let base: String = hint.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
        // `v1`, `a1` and `l1` are definitions.
        let base =
            if base.starts_with(|c: char| c.is_ascii_alphabetic()) { base } else { "x".into() };
        let base = base.trim_end_matches(|c: char| c.is_ascii_digit()).to_string() + "_";
        let plain = base.trim_end_matches('_');
        let candidates = std::iter::once(plain.to_string());
        let mut candidates = candidates.chain((1..).map(|k| format!("{base}{k}")));
        let name = candidates.find(|name| !self.taken.contains(name.as_str()));
        let name: Rc<str> = name.unwrap_or_default().into();
        self.taken.insert(name.clone());
        name
    }

    fn head(&mut self) {
        let mut inputs = Vec::new();
        for input in &self.graph.inputs {
            let name = self.name(&input.hint);
            let sizes: String = input.dims.iter().map(|d| format!("[{}]", self.node(*d))).collect();
            inputs.push(format!("{name} : {sizes}{}", input.elem));
            self.inputs.push(name);
        }
        self.text = format!("graph ({}) {{\n", inputs.join(", "));
    }

    fn output(&mut self, output: &Output) -> String {
        let array = self.array(output.array);
        format!("{} = {array}", self.name(&output.hint))
    }

    fn line(&mut self, line: &str) {
        let width = 2 * self.depth;
        let _ = writeln!(self.text, "{:width$}{line}", "");
    }

    fn list(&mut self, nodes: &[NodeId]) -> String {
        nodes.iter().map(|n| self.node(*n)).collect::<Vec<_>>().join(", ")
    }

    fn ranges(&mut self, axes: impl Iterator<Item = AxisId>) -> String {
        axes.map(|a| self.axis(a).to_string()).collect::<Vec<_>>().join(", ")
    }

    fn axis(&mut self, axis: AxisId) -> Rc<str> {
        if let Some(name) = self.axes.get(&axis) {
            return name.clone();
        }
        let known = self.graph.axis(axis);
        let extent = self.node(known.extent);
        // The extent may be the state of a loop that runs over the axis itself.
        if let Some(name) = self.axes.get(&axis) {
            return name.clone();
        }
        let name = self.name(&known.hint);
        let sequential = if known.sequential { " sequential" } else { "" };
        self.line(&format!("axis {name} < {extent}{sequential}"));
        self.axes.insert(axis, name.clone());
        self.declared.push(axis);
        name
    }

    fn node(&mut self, node: NodeId) -> String {
        if let Some(k) = self.nodes.get(&node) {
            return format!("v{k}");
        }
        let text = match stack::deeper(|| self.definition(node)) {
            Ok(text) => text,
            Err(operand) => return operand,
        };
        // The loop whose state it is may have defined it.
        if let Some(k) = self.nodes.get(&node) {
            return format!("v{k}");
        }
        let k = self.nodes.len();
        self.nodes.insert(node, k);
        let lazy = if self.graph.facts(node).lazy { "lazy " } else { "" };
        self.line(&format!("{lazy}v{k} = {text}"));
        format!("v{k}")
    }

    /// The right side; as an error, the text for each use.
    fn definition(&mut self, node: NodeId) -> Result<String, String> {
        Ok(match self.graph.node(node) {
            Node::Lit(value) => return Err(scalar(*value)),
            Node::Index(axis) => return Err(self.axis(*axis).to_string()),
            Node::Prim(op, args) => format!("{} {}", op.name(), self.list(args)),
            Node::Choose(c, a, b) => format!("choose {}", self.list(&[*c, *a, *b])),
            Node::At(array, index) => {
                if let (Array::Input(k), []) = (self.graph.array(*array), &index[..]) {
                    return Err(self.inputs[*k as usize].to_string());
                }
                format!("{}[{}]", self.array(*array), self.list(index))
            }
            Node::Reduce(op, axes, body) => {
                let body = self.node(*body);
                // In the order of the lines that declare them.
                let mut axes: Vec<AxisId> = axes.iter().collect();
                axes.iter().for_each(|axis| _ = self.axis(*axis));
                axes.sort_by_key(|axis| self.declared.iter().position(|known| known == axis));
                format!("reduce {} [{}] {body}", op.name(), self.ranges(axes.into_iter()))
            }
        })
    }

    fn array(&mut self, array: ArrayId) -> String {
        if let Some(k) = self.arrays.get(&array) {
            return format!("a{k}");
        }
        let (mut terms, text) = (
            Vec::new(),
            match self.graph.array(array) {
                Array::Input(k) => return self.inputs[*k as usize].to_string(),
                Array::Carried(l, k) => return format!("l{}.{k}", self.loop_(*l)),
                Array::Final(l, k) => return format!("l{}!{k}", self.loop_(*l)),
                Array::Constant(k) => {
                    format!("constant {}", constant(&self.graph.constants[*k as usize]))
                }
                Array::Items(items) => format!("items {}", self.list(items)),
                Array::Map(axes, body) => {
                    let body = self.node(*body);
                    format!("map [{}] {body}", self.ranges(axes.iter().copied()))
                }
                Array::Scatter(init, _) => format!("scatter {}", self.array(*init)),
                Array::Update(init, index, part) => {
                    let (init, index) = (self.array(*init), self.list(index));
                    format!("update {init}, [{index}], {}", self.array(*part))
                }
            },
        );
        if let Array::Scatter(_, added) = self.graph.array(array) {
            terms = added.iter().map(|term| self.term(term)).collect();
        }
        if let Some(k) = self.arrays.get(&array) {
            return format!("a{k}");
        }
        let k = self.arrays.len();
        self.arrays.insert(array, k);
        let lazy = if self.graph.array_facts(array).lazy { "lazy " } else { "" };
        self.line(&format!("{lazy}a{k} = {text}"));
        terms.iter().for_each(|term| self.line(&format!("  {term}")));
        format!("a{k}")
    }

    fn term(&mut self, term: &Term) -> String {
        let over = self.ranges(term.over.iter().copied());
        let when = term.when.map_or(String::new(), |c| format!(" if {}", self.node(c)));
        let (index, value) = (self.list(&term.index), self.node(term.value));
        format!("add [{over}]{when} : [{index}] += {value}")
    }

    /// The number of a loop. Its next state follows it.
    fn loop_(&mut self, l: LoopId) -> usize {
        if let Some(k) = self.loops.get(&l) {
            return *k;
        }
        let known = self.graph.loop_(l);
        let axis = self.axis(known.axis);
        self.graph.loop_facts(l).0.iter().for_each(|outer| _ = self.axis(outer));
        let inits: Vec<String> = known.carries.iter().map(|c| self.array(c.init)).collect();
        // The way to the first state may have led to the loop itself.
        if let Some(k) = self.loops.get(&l) {
            return *k;
        }
        let k = self.loops.len();
        self.loops.insert(l, k);
        self.line(&format!("l{k} = loop {axis} ({})", inits.join(", ")));
        let nexts: Vec<String> = known.carries.iter().map(|c| self.array(c.next)).collect();
        self.line(&format!("next l{k} = {}", nexts.join(", ")));
        k
    }

    fn effects(&mut self, effects: &[Effect]) {
        effects.iter().for_each(|effect| self.effect(effect));
    }

    fn inside(&mut self, effects: &[Effect]) {
        self.depth += 1;
        self.effects(effects);
        self.depth -= 1;
    }

    fn effect(&mut self, effect: &Effect) {
        match effect {
            Effect::Check { cond, site, values } => {
                let (cond, values) = (self.node(*cond), self.list(values));
                self.line(&format!("check {cond} {:?} ({values})", site.message));
            }
            Effect::For(axis, body) => {
                let axis = self.axis(*axis);
                self.line(&format!("for {axis} {{"));
                self.inside(body);
                self.line("}");
            }
            Effect::If(cond, then, otherwise) => {
                let cond = self.node(*cond);
                self.line(&format!("if {cond} {{"));
                self.inside(then);
                self.line("} else {");
                self.inside(otherwise);
                self.line("}");
            }
        }
    }
}
