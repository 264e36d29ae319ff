//! P0: Γ ⊢ statements becomes a graph of scalar definitions, by distributing every nest completely.
//!
//! A scalar inside of `for i { for c { … } }` becomes a function of the indices that it depends on;
//! an array becomes its elements; `array[index]` becomes the value written there, if evident.
//! Accumulators become sums if each place is one index, and scatters else. Checks keep their order.
//!
//! *Assumes* a region, see [`crate::regions`]. *Gives* a graph whose inputs are the live-in
//! variables. *Keeps* values up to the order of sums, and failures. It is legal because values are
//! immutable, iterations of `for` independent, and reductions and additions commutative.

use lambada_anf::{Atom, Block, Exp, Names, Op, Param, Stm, Ty, Var};
use lambada_prim::{ArrayPrim, Prim, ReduceOp, Scalar};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::regions::Region;
use lambada_graph::{
    Around, Array, ArrayId, Axes, AxisId, Builder, Effect, Graph, Input, NodeId, Output, cleaned,
};

mod accumulators;
mod arrays;
mod axes;
mod choices;
mod effects;
mod nests;

use accumulators::Accumulator;
use arrays::View;
use axes::Ranges;
use effects::Passed;

/// A region as a graph.
#[derive(Debug)]
pub struct Distributed {
    /// The graph; its outputs are those of the region.
    pub graph: Graph,
    /// The variables that its inputs stand for.
    pub inputs: Vec<Var>,
    /// The variables that its outputs stand for.
    pub outputs: Vec<Var>,
    /// Outer accumulators; their final values are further outputs.
    pub added: Vec<Var>,
}

/// The graph of a region.
pub fn distribute(names: &Names, region: &Region) -> Distributed {
    let mut bound = FxHashSet::default();
    for stm in region.stms {
        bound.extend(stm.binds.iter().map(|p| p.var));
        bound.extend(stm.exp.bound());
        stm.exp.blocks().into_iter().for_each(|block| block.bound(&mut |v| _ = bound.insert(v)));
    }
    let mut distributor = Distributor {
        names,
        types: region.types,
        fills: region.fills,
        sums: region.sums,
        bound,
        to: Builder::default(),
        values: FxHashMap::default(),
        accumulators: FxHashMap::default(),
        added: Vec::new(),
        inputs: Vec::new(),
        ranges: Ranges::default(),
        around: Vec::new(),
        effects: vec![Vec::new()],
    };
    region.stms.iter().for_each(|stm| distributor.statement(stm));
    distributor.finish(&region.outputs)
}

/// The value of a variable.
#[derive(Clone, Debug)]
enum GraphValue {
    Scalar(NodeId),
    Array(View),
}

/// A construct around the statement that is being distributed.
#[derive(Clone, Copy, Debug)]
enum Surrounding {
    Axis(AxisId),
    /// A branch that is taken if this holds.
    Branch(NodeId),
    /// The indices of the first axis for which the condition holds; it depends on the second axis.
    Part(AxisId, AxisId, NodeId),
}

struct Distributor<'a> {
    names: &'a Names,
    types: &'a FxHashMap<Var, Ty>,
    fills: &'a FxHashMap<Var, Scalar>,
    sums: &'a FxHashMap<Var, (Var, i64)>,
    /// The variables that the region binds.
    bound: FxHashSet<Var>,
    to: Builder,
    values: FxHashMap<Var, GraphValue>,
    accumulators: FxHashMap<Var, Accumulator>,
    /// Outer accumulators.
    added: Vec<Var>,
    inputs: Vec<Var>,
    ranges: Ranges,
    around: Vec<Surrounding>,
    /// The effects of the blocks around, the innermost last.
    effects: Vec<Vec<Effect>>,
}

impl Distributor<'_> {
    fn finish(mut self, outputs: &[Param]) -> Distributed {
        for p in outputs {
            let array = match self.var(p.var) {
                GraphValue::Scalar(node) => self.to.scalar(node),
                GraphValue::Array(view) => self.whole(&view),
            };
            self.to.graph.outputs.push(Output { hint: self.names.hint(p.var), array });
        }
        for acc in self.added.clone() {
            let array = self.sum_of_additions(acc);
            self.to.graph.outputs.push(Output { hint: self.names.hint(acc), array });
        }
        let effects = self.effects.pop().unwrap_or_default();
        self.to.graph.effects = Passed::default().without(effects);
        let outputs = outputs.iter().map(|p| p.var).collect();
        let (inputs, added) = (self.inputs, self.added);
        Distributed { graph: cleaned(&self.to.graph), inputs, outputs, added }
    }

    // Variables

    fn var(&mut self, var: Var) -> GraphValue {
        if let Some(value) = self.values.get(&var) {
            return value.clone();
        }
        let ty = self.types[&var].clone();
        if let Some(value) = self.fills.get(&var).filter(|_| ty.rank() > 0) {
            let around = std::mem::take(&mut self.to.around);
            let (axes, value) = (self.axes_of(&ty, None), self.to.lit(*value));
            let value = GraphValue::Array(View::of(self.to.map(axes, value)));
            self.to.around = around;
            self.values.insert(var, value.clone());
            return value;
        }
        // The sum is written out, so that indices and sizes can be compared.
        if let Some((other, more)) = self.sums.get(&var) {
            let around = std::mem::take(&mut self.to.around);
            let (other, more) = (self.scalar(Atom::Var(*other)), self.to.lit(Scalar::Int(*more)));
            let value = GraphValue::Scalar(self.to.prim(Prim::AddInt, [other, more]));
            self.to.around = around;
            self.values.insert(var, value.clone());
            return value;
        }
        let dims: Vec<NodeId> = ty.dims.iter().map(|d| self.scalar(*d)).collect();
        let rank = dims.len();
        let input = Input { hint: self.names.hint(var), elem: ty.elem.scalar(), dims };
        // An input is available in every branch.
        let around = std::mem::take(&mut self.to.around);
        let array = self.to.input(input);
        self.inputs.push(var);
        let value = match rank {
            0 => GraphValue::Scalar(self.to.at(array, Vec::new())),
            _ => GraphValue::Array(View::of(array)),
        };
        self.to.around = around;
        self.values.insert(var, value.clone());
        value
    }

    fn scalar(&mut self, atom: Atom) -> NodeId {
        match atom {
            Atom::Lit(value) => self.to.lit(value),
            Atom::Var(var) => match self.var(var) {
                GraphValue::Scalar(node) => node,
                GraphValue::Array(_) => {
                    unreachable!("{var:?} is an array where a scalar is asked for")
                }
            },
        }
    }

    fn scalars(&mut self, atoms: &[Atom]) -> Vec<NodeId> {
        atoms.iter().map(|a| self.scalar(*a)).collect()
    }

    fn view(&mut self, var: Var) -> View {
        match self.var(var) {
            GraphValue::Array(view) => view,
            GraphValue::Scalar(_) => {
                unreachable!("{var:?} is a scalar where an array is asked for")
            }
        }
    }

    fn value(&mut self, atom: Atom) -> GraphValue {
        match atom {
            Atom::Lit(value) => GraphValue::Scalar(self.to.lit(value)),
            Atom::Var(var) => self.var(var),
        }
    }

    /// An atom as an array, of rank 0 if it is a scalar.
    fn array(&mut self, atom: Atom) -> ArrayId {
        match self.value(atom) {
            GraphValue::Scalar(node) => self.to.scalar(node),
            GraphValue::Array(view) => self.whole(&view),
        }
    }

    fn bind(&mut self, p: &Param, value: GraphValue) {
        self.values.insert(p.var, value);
    }

    /// Binds an array, or its scalar at rank 0.
    fn bind_array(&mut self, p: &Param, array: ArrayId) {
        let value = match p.ty.rank() {
            0 => GraphValue::Scalar(self.to.at(array, Vec::new())),
            _ => GraphValue::Array(View::of(array)),
        };
        self.bind(p, value);
    }

    // Places

    /// Distributes the contents of a construct; returns its effects.
    fn inside<T>(
        &mut self,
        place: Surrounding,
        inside: impl FnOnce(&mut Self) -> T,
    ) -> (T, Vec<Effect>) {
        self.around.push(place);
        self.to.around.push(match place {
            Surrounding::Axis(axis) => Around::Axis(axis),
            Surrounding::Branch(_) => Around::Branch,
            Surrounding::Part(inner, outer, _) => Around::Part(inner, outer),
        });
        self.effects.push(Vec::new());
        let result = inside(self);
        let effects = self.effects.pop().unwrap_or_default();
        self.to.around.pop();
        self.around.pop();
        (result, effects)
    }

    fn effect(&mut self, effect: Effect) {
        self.effects.last_mut().expect("the block of the region").push(effect);
    }

    // Statements

    fn block(&mut self, block: &Block) -> Vec<GraphValue> {
        block.stms.iter().for_each(|stm| self.statement(stm));
        block.results.iter().map(|a| self.value(*a)).collect()
    }

    fn statement(&mut self, stm: &Stm) {
        match &stm.exp {
            Exp::Op(op) => self.op(stm, op),
            Exp::Nest(nest) => self.nest(stm, nest),
        }
    }

    fn op(&mut self, stm: &Stm, op: &Op) {
        match op {
            Op::Prim(op, args) => {
                let args = self.scalars(args);
                let node = self.to.prim(*op, args);
                self.bind(&stm.binds[0], GraphValue::Scalar(node));
            }
            Op::Index(x, index) => {
                let (view, index) = (self.view(*x), self.scalars(index));
                let value = self.indexed(&view, &index);
                self.bind(&stm.binds[0], value);
            }
            Op::Fill(value) => {
                let value = self.scalar(*value);
                let axes = self.axes_of(&stm.binds[0].ty, None);
                let array = self.to.map(axes, value);
                self.bind_array(&stm.binds[0], array);
            }
            Op::Array(items) => self.literal(&stm.binds[0], items),
            Op::Constant(tensor) => {
                let array = self.to.constant(tensor);
                self.bind_array(&stm.binds[0], array);
            }
            Op::ArrayPrim(prim, args) => self.contraction(&stm.binds[0], *prim, args),
            Op::Accumulator(value) => self.accumulator(stm.binds[0].var, *value),
            Op::Accumulate { acc, index, value } => self.accumulate(*acc, index, *value),
            Op::Freeze(acc) => self.freeze(&stm.binds[0], *acc),
            Op::Check { cond, site, values } => {
                let (cond, values) = (self.scalar(*cond), self.scalars(values));
                self.effect(Effect::Check { cond, site: site.clone(), values });
            }
            Op::Update { array, index, value } => {
                let (init, index) = (self.view(*array), self.scalars(index));
                let (init, part) = (self.whole(&init), self.array(*value));
                let array = self.to.update(init, index, part);
                self.bind_array(&stm.binds[0], array);
            }
            Op::Call { .. }
            | Op::Node { .. }
            | Op::Tag(_)
            | Op::Field { .. }
            | Op::Open { .. }
            | Op::Cell { .. }
            | Op::Inspect { .. }
            | Op::Scheduled(_) => unreachable!("such statements belong to no region"),
        }
    }

    /// A sum of products, over the axes that the result lacks. Dimensions with the same letter
    /// share an axis.
    fn contraction(&mut self, p: &Param, prim: ArrayPrim, args: &[Var]) {
        let views: Vec<View> = args.iter().map(|arg| self.view(*arg)).collect();
        let ranks: Vec<usize> = views.iter().map(|view| self.rank(view)).collect();
        let version = prim.version(&ranks).expect("the checker has seen the ranks");
        let (mut taken, mut axes) = (Vec::new(), FxHashMap::default());
        let summed = version.summed();
        for name in summed.iter().copied().chain(version.result().chars()) {
            let (arg, k, _) = version
                .axes()
                .find(|(_, _, other)| *other == name)
                .expect("an axis of the result is one of an argument");
            axes.insert(name, self.axis_along(&views[arg], k, &mut taken));
        }
        let mut product = None;
        for (view, names) in views.iter().zip(version.args) {
            let index: Vec<NodeId> = names.chars().map(|name| self.to.index(axes[&name])).collect();
            let element = self.element(view, &index);
            product = Some(match product {
                Some(product) => self.to.prim(Prim::Mul, [product, element]),
                None => element,
            });
        }
        let mut sum = product.expect("a primitive has arguments");
        for name in summed.iter().rev() {
            sum = self.to.reduce(ReduceOp::Add, Axes::one(axes[name]), sum);
        }
        let result = version.result().chars().map(|name| axes[&name]).collect();
        let array = self.to.map(result, sum);
        self.bind_array(p, array);
    }

    /// The axes of an array that is written with axes; inputs and results of loops have none.
    fn own_axes(&self, array: ArrayId) -> &[AxisId] {
        if let Array::Map(axes, _) = self.to.graph.array(array) { axes } else { &[] }
    }
}
