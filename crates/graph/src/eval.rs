//! The evaluator: `⟦graph⟧ : tensors → tensors or failure`. It computes on demand, each scalar once
//! for each combination of the indices that it depends on, so its counts are the least work of a
//! placement of the definitions.

use rustc_hash::FxHashMap;
use std::rc::Rc;

use lambada_prim::{Data, ReduceOp, Scalar, ScalarTy, Tensor};
use lambada_source::{Failure, Span, stack};

use super::{Array, ArrayId, Axes, AxisId, Effect, Graph, LoopId, Node, NodeId, Term};

/// The results of a run, and the work it took.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// One per output.
    pub results: Vec<Tensor>,
    /// The number of operations on reals.
    pub reals: u64,
    /// The number of other operations.
    pub others: u64,
}

type Run<T> = Result<T, Failure>;

/// Runs a program. An access out of range whose value is needed is an internal error.
pub fn eval(graph: &Graph, args: &[Tensor]) -> Run<Outcome> {
    let mut machine = Machine::new(graph, args)?;
    machine.effects(&graph.effects)?;
    let outputs = graph.outputs.iter();
    let results = outputs.map(|o| Ok((*machine.whole(o.array)?).clone())).collect::<Run<_>>()?;
    Ok(Outcome { results, reals: machine.reals, others: machine.others })
}

/// Runs the checks of a program.
pub fn eval_checks(graph: &Graph, args: &[Tensor]) -> Run<()> {
    Machine::new(graph, args)?.effects(&graph.effects)
}

/// The sizes of an input. Other arrays are not read.
pub fn eval_sizes(graph: &Graph, args: &[Tensor], input: usize) -> Run<Vec<usize>> {
    let mut machine = Machine::new(graph, args)?;
    let sizes = graph.inputs[input].dims.iter();
    sizes.map(|size| Ok(machine.node(*size)?.int().max(0) as usize)).collect()
}

fn internal<T>(message: impl std::fmt::Display) -> Run<T> {
    Err(Failure { span: Span::default(), message: format!("internal error: {message}") })
}

/// The values of the indices that a definition depends on.
type Key = Rc<[i64]>;

/// One tensor per part of the state of a loop.
type State = Rc<[Rc<Tensor>]>;

struct Machine<'a> {
    graph: &'a Graph,
    args: Vec<Rc<Tensor>>,
    /// The current index of each axis.
    at: Vec<i64>,
    scalars: FxHashMap<(NodeId, Key), Scalar>,
    arrays: FxHashMap<(ArrayId, Key), Rc<Tensor>>,
    /// The states of a loop, from the first one on.
    states: FxHashMap<(LoopId, Key), Vec<State>>,
    reals: u64,
    others: u64,
}

impl<'a> Machine<'a> {
    fn new(graph: &'a Graph, args: &[Tensor]) -> Run<Machine<'a>> {
        if args.len() != graph.inputs.len() {
            return internal(format!("{} arguments for {}", args.len(), graph.inputs.len()));
        }
        Ok(Machine {
            graph,
            args: args.iter().map(|a| Rc::new(a.clone())).collect(),
            at: vec![0; graph.axes.len()],
            scalars: FxHashMap::default(),
            arrays: FxHashMap::default(),
            states: FxHashMap::default(),
            reals: 0,
            others: 0,
        })
    }

    fn key(&self, free: &Axes) -> Key {
        free.iter().map(|axis| self.at[axis.0 as usize]).collect()
    }

    fn set(&mut self, axis: AxisId, index: i64) {
        self.at[axis.0 as usize] = index;
    }

    fn int(&mut self, node: NodeId) -> Run<i64> {
        Ok(self.node(node)?.int())
    }

    fn extent(&mut self, axis: AxisId) -> Run<i64> {
        Ok(self.int(self.graph.axis(axis).extent)?.max(0))
    }

    fn count(&mut self, ty: ScalarTy) {
        match ty {
            ScalarTy::Real => self.reals += 1,
            ScalarTy::Int | ScalarTy::Bool => self.others += 1,
        }
    }

    fn node(&mut self, id: NodeId) -> Run<Scalar> {
        let graph = self.graph;
        match graph.node(id) {
            Node::Lit(value) => return Ok(*value),
            Node::Index(axis) => return Ok(Scalar::Int(self.at[axis.0 as usize])),
            Node::Prim(..) | Node::Choose(..) | Node::At(..) | Node::Reduce(..) => {}
        }
        let key = (id, self.key(graph.free(id)));
        if let Some(value) = self.scalars.get(&key) {
            return Ok(*value);
        }
        let value = stack::deeper(|| self.compute(graph.node(id)))?;
        self.scalars.insert(key, value);
        Ok(value)
    }

    fn compute(&mut self, node: &Node) -> Run<Scalar> {
        match node {
            Node::Lit(value) => Ok(*value),
            Node::Index(axis) => Ok(Scalar::Int(self.at[axis.0 as usize])),
            Node::Prim(op, args) => {
                let args = args.iter().map(|a| self.node(*a)).collect::<Run<Vec<_>>>()?;
                let on_reals = args.iter().any(|a| a.ty() == ScalarTy::Real);
                self.count(if on_reals { ScalarTy::Real } else { op.result() });
                Ok(op.eval(&args))
            }
            Node::Choose(c, a, b) => {
                let taken = if self.node(*c)?.bool() { a } else { b };
                self.node(*taken)
            }
            Node::At(array, index) => {
                let index = index.iter().map(|i| self.int(*i)).collect::<Run<Vec<_>>>()?;
                self.element(*array, &index)
            }
            Node::Reduce(op, axes, body) => self.reduce(*op, axes, *body),
        }
    }

    fn reduce(&mut self, op: ReduceOp, axes: &Axes, body: NodeId) -> Run<Scalar> {
        let elem = self.graph.facts(body).elem;
        let mut total = op.unit(elem);
        let axes: Vec<AxisId> = axes.iter().collect();
        self.each(&axes, &mut |machine, _| {
            if machine.is_none(body, op)? {
                return Ok(());
            }
            let value = machine.node(body)?;
            total = op.prim(elem).eval(&[total, value]);
            machine.count(elem);
            Ok(())
        })?;
        Ok(total)
    }

    /// Whether a condition leaves a term out: it is the unit of the reduction then, and takes no
    /// operation.
    fn is_none(&mut self, body: NodeId, op: ReduceOp) -> Run<bool> {
        let Node::Choose(cond, _, none) = self.graph.node(body) else { return Ok(false) };
        let unit = op.unit(self.graph.facts(body).elem);
        Ok(self.graph.lit(*none) == Some(unit) && !self.node(*cond)?.bool())
    }

    /// Calls `f` for each combination of indices of the axes, in order.
    fn each(
        &mut self,
        axes: &[AxisId],
        f: &mut dyn FnMut(&mut Self, &[i64]) -> Run<()>,
    ) -> Run<()> {
        let extents = axes.iter().map(|a| self.extent(*a)).collect::<Run<Vec<_>>>()?;
        let outside: Vec<i64> = axes.iter().map(|a| self.at[a.0 as usize]).collect();
        let mut index = vec![0; axes.len()];
        let mut done = extents.contains(&0);
        while !done {
            axes.iter().zip(&index).for_each(|(axis, i)| self.set(*axis, *i));
            f(self, &index)?;
            done = true;
            for (i, extent) in index.iter_mut().zip(&extents).rev() {
                *i += 1;
                if i < &mut extent.clone() {
                    done = false;
                    break;
                }
                *i = 0;
            }
        }
        axes.iter().zip(outside).for_each(|(axis, i)| self.set(*axis, i));
        Ok(())
    }

    fn element(&mut self, array: ArrayId, index: &[i64]) -> Run<Scalar> {
        match self.graph.array(array) {
            Array::Map(axes, body) => {
                for (axis, i) in axes.iter().zip(index) {
                    let extent = self.extent(*axis)?;
                    in_range(*i, extent)?;
                }
                let outside: Vec<i64> = axes.iter().map(|a| self.at[a.0 as usize]).collect();
                axes.iter().zip(index).for_each(|(axis, i)| self.set(*axis, *i));
                let value = self.node(*body);
                axes.iter().zip(outside).for_each(|(axis, i)| self.set(*axis, i));
                value
            }
            Array::Items(items) => {
                in_range(index[0], items.len() as i64)?;
                self.node(items[index[0] as usize])
            }
            Array::Input(_)
            | Array::Constant(_)
            | Array::Scatter(..)
            | Array::Update(..)
            | Array::Carried(..)
            | Array::Final(..) => {
                let tensor = self.whole(array)?;
                Ok(tensor.data.get(place(&tensor.dims, index)?))
            }
        }
    }

    /// All elements of an array.
    fn whole(&mut self, id: ArrayId) -> Run<Rc<Tensor>> {
        let graph = self.graph;
        match graph.array(id) {
            Array::Input(k) => return Ok(self.args[*k as usize].clone()),
            Array::Constant(k) => return Ok(graph.constants[*k as usize].clone()),
            Array::Carried(l, k) => {
                let t = self.at[graph.loop_(*l).axis.0 as usize];
                return Ok(self.state(*l, t)?[*k as usize].clone());
            }
            Array::Final(l, k) => {
                let t = self.extent(graph.loop_(*l).axis)?;
                return Ok(self.state(*l, t)?[*k as usize].clone());
            }
            Array::Items(_) | Array::Map(..) | Array::Scatter(..) | Array::Update(..) => {}
        }
        let key = (id, self.key(&graph.array_facts(id).free));
        if let Some(tensor) = self.arrays.get(&key) {
            return Ok(tensor.clone());
        }
        let tensor = match graph.array(id) {
            Array::Items(items) => {
                let mut tensor = Tensor::zeros(graph.array_facts(id).elem, vec![items.len()]);
                for (k, item) in items.iter().enumerate() {
                    tensor.data.set(k, self.node(*item)?);
                }
                tensor
            }
            Array::Map(axes, body) => self.map(axes, *body)?,
            Array::Scatter(init, terms) => self.scatter(*init, terms)?,
            Array::Update(init, index, part) => self.update(*init, index, *part)?,
            Array::Input(_) | Array::Constant(_) | Array::Carried(..) | Array::Final(..) => {
                return internal("an array that has been given above");
            }
        };
        let tensor = Rc::new(tensor);
        self.arrays.insert(key, tensor.clone());
        Ok(tensor)
    }

    fn map(&mut self, axes: &[AxisId], body: NodeId) -> Run<Tensor> {
        let extents = axes.iter().map(|a| Ok(self.extent(*a)? as usize));
        let dims = extents.collect::<Run<Vec<usize>>>()?;
        let mut data = Data::zeros(self.graph.facts(body).elem, dims.iter().product());
        let mut k = 0;
        self.each(axes, &mut |machine, _| {
            data.set(k, machine.node(body)?);
            k += 1;
            Ok(())
        })?;
        Ok(Tensor { dims, data })
    }

    fn scatter(&mut self, init: ArrayId, terms: &[Term]) -> Run<Tensor> {
        let mut tensor = (*self.whole(init)?).clone();
        let add = ReduceOp::Add.prim(tensor.elem());
        for term in terms {
            self.nested(&term.over, &mut |machine| {
                if let Some(when) = term.when
                    && !machine.node(when)?.bool()
                {
                    return Ok(());
                }
                let index = term.index.iter().map(|i| machine.int(*i)).collect::<Run<Vec<_>>>()?;
                let (k, value) = (place(&tensor.dims, &index)?, machine.node(term.value)?);
                tensor.data.set(k, add.eval(&[tensor.data.get(k), value]));
                machine.count(tensor.elem());
                Ok(())
            })?;
        }
        Ok(tensor)
    }

    fn update(&mut self, init: ArrayId, index: &[NodeId], part: ArrayId) -> Run<Tensor> {
        let mut tensor = (*self.whole(init)?).clone();
        let part = self.whole(part)?;
        let index = index.iter().map(|i| self.int(*i)).collect::<Run<Vec<_>>>()?;
        let first = place(&tensor.dims[..index.len()], &index)? * part.data.len();
        (0..part.data.len()).for_each(|k| tensor.data.set(first + k, part.data.get(k)));
        Ok(tensor)
    }

    /// Nested loops, whose extents may depend on outer indices.
    fn nested(&mut self, axes: &[AxisId], f: &mut dyn FnMut(&mut Self) -> Run<()>) -> Run<()> {
        let [axis, inner @ ..] = axes else { return f(self) };
        self.each(&[*axis], &mut |machine, _| machine.nested(inner, f))
    }

    /// The state of a loop after this number of iterations.
    fn state(&mut self, l: LoopId, after: i64) -> Run<State> {
        let known = self.graph.loop_(l);
        let free = known.carries.iter().fold(Axes::default(), |free, carry| {
            let own = &self.graph.array_facts(carry.init).free;
            free.union(own).union(&self.graph.array_facts(carry.next).free)
        });
        let key = (l, self.key(&free.without(&Axes::one(known.axis))));
        let mut states = self.states.remove(&key).unwrap_or_default();
        if states.is_empty() {
            let first = known.carries.iter().map(|c| self.whole(c.init));
            states.push(first.collect::<Run<_>>()?);
        }
        let outside = self.at[known.axis.0 as usize];
        while (states.len() as i64) <= after {
            self.set(known.axis, states.len() as i64 - 1);
            // The next state needs the state before.
            self.states.insert(key.clone(), states);
            let next = known.carries.iter().map(|c| self.whole(c.next)).collect::<Run<_>>();
            states = self.states.remove(&key).unwrap_or_default();
            states.push(next?);
        }
        self.set(known.axis, outside);
        let state = states[after.max(0) as usize].clone();
        self.states.insert(key, states);
        Ok(state)
    }

    fn effects(&mut self, effects: &[Effect]) -> Run<()> {
        effects.iter().try_for_each(|effect| self.effect(effect))
    }

    fn effect(&mut self, effect: &Effect) -> Run<()> {
        match effect {
            Effect::Check { cond, site, values } => {
                if self.node(*cond)?.bool() {
                    return Ok(());
                }
                let values = values.iter().map(|v| self.int(*v)).collect::<Run<Vec<_>>>()?;
                Err(Failure { span: site.span, message: site.describe(&values) })
            }
            Effect::For(axis, body) => self.each(&[*axis], &mut |m, _| m.effects(body)),
            Effect::If(cond, then, otherwise) => {
                let taken = if self.node(*cond)?.bool() { then } else { otherwise };
                self.effects(taken)
            }
        }
    }
}

fn in_range(index: i64, size: i64) -> Run<()> {
    if 0 <= index && index < size {
        return Ok(());
    }
    internal(format!("index {index} is out of range for size {size}"))
}

/// The offset of an element.
fn place(dims: &[usize], index: &[i64]) -> Run<usize> {
    let mut at = 0;
    for (i, size) in index.iter().zip(dims) {
        in_range(*i, *size as i64)?;
        at = at * size + *i as usize;
    }
    Ok(at)
}
