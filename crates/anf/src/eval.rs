//! The evaluator: `⟦program⟧ : tensors → tensors or failure`, with counts of its work. It is the
//! meaning of the language for the tests of every pass, and its counts test the cost claims
//! (`reverse ≤ k · primal`).
//!
//! It keeps its own stack ([`control`]), so a recursion may be as deep as memory allows. Nodes live
//! in a pool ([`nodes`]).

use std::rc::Rc;

use lambada_prim::Memory as Limit;
use lambada_prim::{ArrayPrim, Data, Precision, Prim, ReduceOp, Scalar, ScalarTy, Tensor};
use lambada_source::{Failure, Span};

use crate::Function;
use crate::code::{Instr, Operand, Program, Routine, Step, compile};
use crate::counts::{Array, Counts, Memory, bytes, width};
use crate::room::Room;

mod control;
mod kernels;
mod nodes;

/// The results of a run, and the work it took.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// One per result of the function.
    pub results: Vec<Tensor>,
    /// The work.
    pub counts: Counts,
}

/// Runs a function on its parameters; sizes are those of the arguments. Arguments that do not fit,
/// and reads that no `Check` guards, are internal errors.
pub fn eval(function: &Function, args: &[Tensor]) -> Result<Outcome, Failure> {
    eval_within(function, args, Limit::default(), &|_, _| {})
}

/// [`eval`] with a limit on the memory for arrays; `seen` gets each inspected value, in order: its
/// number, and its parts.
pub fn eval_within(
    function: &Function,
    args: &[Tensor],
    limit: Limit,
    seen: &dyn Fn(u32, Vec<Tensor>),
) -> Result<Outcome, Failure> {
    let program = compile(function);
    let mut machine = Machine {
        program: &program,
        precision: function.names.precision(),
        frames: Vec::new(),
        slots: vec![Value::Empty; program.entry.slots],
        base: 0,
        pool: nodes::Pool::default(),
        counts: Counts::default(),
        room: Room { limit, meter: Rc::default() },
        seen,
    };
    machine.arguments(function, &program.entry, args)?;
    let results = machine.run()?;
    let counts = Counts {
        allocated: machine.room.meter.allocated(),
        peak: machine.room.meter.peak(),
        ..machine.counts
    };
    Ok(Outcome { results: results.into_iter().map(Value::into_tensor).collect(), counts })
}

#[derive(Clone, Debug, Default)]
enum Value {
    #[default]
    Empty,
    Scalar(Scalar),
    Array(Array),
    /// The accumulator in this slot of another call.
    Accumulator(usize),
    /// The cell in this place of the pool, as an accumulator.
    Cell(usize),
    /// A cell of null: additions are lost.
    Nowhere,
}

impl Value {
    fn into_tensor(self) -> Tensor {
        match self {
            Value::Empty | Value::Accumulator(_) | Value::Cell(_) | Value::Nowhere => {
                Tensor::scalar(Scalar::Int(0))
            }
            Value::Scalar(value) => Tensor::scalar(value),
            Value::Array(array) => Rc::unwrap_or_clone(array.tensor),
        }
    }

    fn of(tensor: &Tensor, precision: Precision) -> Value {
        match tensor.as_scalar() {
            Some(value) => Value::Scalar(precision.scalar(value)),
            None => {
                let mut tensor = tensor.clone();
                precision.elements(&mut tensor.data);
                Value::Array(Array::borrowed(Rc::new(tensor)))
            }
        }
    }
}

struct Machine<'c> {
    program: &'c Program,
    precision: Precision,
    /// The running blocks, the innermost last.
    frames: Vec<control::Frame<'c>>,
    /// The slots of all calls, the innermost last, which begin at `base`.
    slots: Vec<Value>,
    base: usize,
    pool: nodes::Pool,
    counts: Counts,
    room: Room,
    seen: &'c dyn Fn(u32, Vec<Tensor>),
}

type Run<T> = Result<T, Failure>;

fn internal<T>(message: impl std::fmt::Display) -> Run<T> {
    Err(Failure { span: Span::default(), message: format!("internal error: {message}") })
}

impl<'c> Machine<'c> {
    fn arguments(&mut self, function: &Function, routine: &Routine, args: &[Tensor]) -> Run<()> {
        if args.len() != function.params.len() {
            return internal(format!(
                "{} arguments for {} parameters",
                args.len(),
                function.params.len()
            ));
        }
        for ((p, (slot, sizes)), arg) in function.params.iter().zip(&routine.params).zip(args) {
            if arg.elem() != p.ty.elem.scalar() || arg.dims.len() != p.ty.rank() {
                return internal(format!(
                    "the argument {} is a {} of rank {}",
                    function.names.hint(p.var),
                    arg.elem(),
                    arg.dims.len()
                ));
            }
            self.slots[*slot] = Value::of(arg, self.precision);
            for (size, actual) in sizes.iter().zip(&arg.dims) {
                self.size(*size, *actual as i64)?;
            }
        }
        Ok(())
    }

    /// A size of a parameter: binds it, or compares it with what is known.
    fn size(&mut self, size: Operand, actual: i64) -> Run<()> {
        let expected = match size {
            Operand::Lit(value) => value.int(),
            Operand::Copy(slot) | Operand::Move(slot) => match &self.slots[slot] {
                Value::Scalar(known) => known.int(),
                _ => {
                    self.slots[slot] = Value::Scalar(Scalar::Int(actual));
                    actual
                }
            },
        };
        if expected == actual {
            Ok(())
        } else {
            internal(format!("a size is {actual}, not {expected}"))
        }
    }

    // Operands

    fn take(&mut self, operand: &Operand) -> Value {
        match *operand {
            Operand::Lit(value) => Value::Scalar(self.precision.scalar(value)),
            Operand::Copy(slot) => self.slots[self.base + slot].clone(),
            Operand::Move(slot) => self.taken(slot),
        }
    }

    fn taken(&mut self, slot: usize) -> Value {
        std::mem::replace(&mut self.slots[self.base + slot], Value::Empty)
    }

    fn take_all(&mut self, operands: &[Operand]) -> Vec<Value> {
        operands.iter().map(|r| self.take(r)).collect()
    }

    fn set(&mut self, slot: usize, value: Value) {
        self.slots[self.base + slot] = value;
    }

    fn scalar(&self, operand: &Operand) -> Scalar {
        match *operand {
            Operand::Lit(value) => self.precision.scalar(value),
            Operand::Copy(slot) | Operand::Move(slot) => match &self.slots[self.base + slot] {
                Value::Scalar(value) => *value,
                _ => panic!("slot {slot} holds no scalar: the function was not checked"),
            },
        }
    }

    fn int(&self, operand: &Operand) -> i64 {
        self.scalar(operand).int()
    }

    fn array(&self, slot: usize) -> &Rc<Tensor> {
        match &self.slots[self.base + slot] {
            Value::Array(array) => &array.tensor,
            _ => panic!("slot {slot} holds no array: the function was not checked"),
        }
    }

    /// The value of an operand, which stays where it is.
    fn value(&self, operand: &Operand) -> Value {
        match *operand {
            Operand::Lit(value) => Value::Scalar(self.precision.scalar(value)),
            Operand::Copy(slot) | Operand::Move(slot) => self.slots[self.base + slot].clone(),
        }
    }

    fn dims(&self, operands: &[Operand]) -> Vec<usize> {
        operands.iter().map(|d| self.int(d).max(0) as usize).collect()
    }

    /// The offset and the number of elements of `x[index]`.
    fn place(&self, dims: &[usize], index: &[Operand]) -> Run<(usize, usize)> {
        let mut at = 0;
        for (operand, size) in index.iter().zip(dims) {
            let i = self.int(operand);
            if i < 0 || i as usize >= *size {
                return internal(format!("index {i} is out of range for size {size}"));
            }
            at = at * size + i as usize;
        }
        let len = dims[index.len()..].iter().product();
        Ok((at * len, len))
    }

    // Blocks

    /// Frees the arrays that are dead after a statement.
    fn free(&mut self, step: &Step) {
        for slot in &step.frees {
            self.set(*slot, Value::Empty);
        }
    }

    fn bind(&mut self, step: &Step, value: Value) {
        self.set(step.binds[0], value);
    }

    fn bind_all(&mut self, step: &Step, values: Vec<Value>) {
        for (slot, value) in step.binds.iter().zip(values) {
            self.set(*slot, value);
        }
    }

    /// Runs a statement; enters it if it has blocks.
    fn step(&mut self, step: &'c Step) -> Run<()> {
        let value = match &step.op {
            Instr::Prim(op, args) => Value::Scalar(self.prim(*op, args)),
            Instr::Index(x, index) => self.index(*x, index)?,
            Instr::Fill(value) => self.fill(self.scalar(value), step)?,
            Instr::Array(items) => self.literal(items, step)?,
            Instr::Constant(tensor) => Value::Array(Array::borrowed(tensor.clone())),
            Instr::Concat(parts) => self.concat(parts, step)?,
            Instr::Update { array, index, value } => self.update(array, index, value)?,
            Instr::Kernel(kernel) => {
                let values = self.kernel(kernel, step)?;
                self.bind_all(step, values);
                self.free(step);
                return Ok(());
            }
            Instr::ArrayPrim(prim, args) => {
                let values = self.array_prim(*prim, args, &step.spans)?;
                self.bind_all(step, values);
                return Ok(());
            }
            Instr::Accumulator(value) => self.take(value),
            Instr::Freeze(acc) => self.taken(*acc),
            Instr::Node { tag, fields } => self.node(*tag, fields, step.spans[0])?,
            Instr::Tag(of) => self.tag(of)?,
            Instr::Field { of, tag, field, elem } => self.field(step, of, *tag, *field, *elem)?,
            Instr::Open { of, tag, field } => self.open(step, of, *tag, *field)?,
            Instr::Accumulate { acc, index, value } => {
                self.accumulate(*acc, index, value)?;
                self.free(step);
                return Ok(());
            }
            Instr::Check { cond, site, values } => {
                if !self.scalar(cond).bool() {
                    let values: Vec<i64> = values.iter().map(|v| self.int(v)).collect();
                    return Err(Failure { span: site.span, message: site.describe(&values) });
                }
                self.free(step);
                return Ok(());
            }
            Instr::Inspect { number, values } => {
                let values = values.iter().map(|v| self.value(v).into_tensor()).collect();
                (self.seen)(*number, values);
                self.free(step);
                return Ok(());
            }
            Instr::For { .. } | Instr::Loop { .. } | Instr::If { .. } | Instr::Call { .. } => {
                return self.enter(step);
            }
        };
        self.bind(step, value);
        self.free(step);
        Ok(())
    }

    // Constructs

    fn prim(&mut self, op: Prim, args: &[Operand]) -> Scalar {
        use Scalar::{Bool, Int, Real};
        let mut values = [Int(0); 3];
        args.iter().zip(&mut values).for_each(|(a, v)| *v = self.scalar(a));
        let result = match (op, values[0], values[1]) {
            // The common ones, without a call.
            (Prim::Add, Real(a), Real(b)) => Real(self.precision.round(a + b)),
            (Prim::Sub, Real(a), Real(b)) => Real(self.precision.round(a - b)),
            (Prim::Mul, Real(a), Real(b)) => Real(self.precision.round(a * b)),
            (Prim::AddInt, Int(a), Int(b)) => Int(a.wrapping_add(b)),
            (Prim::MulInt, Int(a), Int(b)) => Int(a.wrapping_mul(b)),
            (Prim::LtInt, Int(a), Int(b)) => Bool(a < b),
            (Prim::LeInt, Int(a), Int(b)) => Bool(a <= b),
            (_, _, _) => self.precision.eval(op, &values[..args.len()]),
        };
        let on_reals =
            matches!(result, Real(_)) || values[..args.len()].iter().any(|v| matches!(v, Real(_)));
        self.count(on_reals, 1);
        result
    }

    fn count(&mut self, on_reals: bool, many: u64) {
        if on_reals {
            self.counts.reals += many;
        } else {
            self.counts.ints += many;
        }
    }

    fn index(&mut self, x: usize, index: &[Operand]) -> Run<Value> {
        let tensor = self.array(x);
        let (at, len) = self.place(&tensor.dims, index)?;
        let value = if index.len() == tensor.dims.len() {
            Value::Scalar(tensor.data.get(at))
        } else {
            let dims = tensor.dims[index.len()..].to_vec();
            let view = Tensor { dims, data: part(&tensor.data, at, len) };
            Value::Array(Array::borrowed(Rc::new(view)))
        };
        self.counts.loads += len as u64;
        Ok(value)
    }

    fn fill(&mut self, value: Scalar, step: &Step) -> Run<Value> {
        let dims = self.dims(&step.dims[0]);
        if dims.is_empty() {
            return Ok(Value::Scalar(value));
        }
        let (room, span) = (&self.room, step.spans[0]);
        let (data, memory) = match value {
            Scalar::Real(a) => held(room.filled(a, &dims, span)?, Data::Real),
            Scalar::Int(a) => held(room.filled(a, &dims, span)?, Data::Int),
            Scalar::Bool(a) => held(room.filled(a, &dims, span)?, Data::Bool),
        };
        self.counts.stores += data.len() as u64;
        self.counts.written += bytes(&data);
        Ok(Value::Array(Array { tensor: Rc::new(Tensor { dims, data }), memory: Some(memory) }))
    }

    /// The array in memory that nothing else refers to: itself, or a copy.
    fn unshared(&mut self, array: Array) -> Array {
        if array.is_unshared() {
            return array;
        }
        let size = bytes(&array.tensor.data);
        self.counts.written += size;
        let memory = Some(self.room.meter.allocate(size));
        Array { tensor: Rc::new(Rc::unwrap_or_clone(array.tensor)), memory }
    }

    fn literal(&mut self, items: &[Operand], step: &Step) -> Run<Value> {
        let dims = self.dims(&step.dims[0]);
        let Some(first) = items.first() else {
            return internal("an array literal without elements");
        };
        let elem = match self.take(first) {
            Value::Array(array) => array.tensor.elem(),
            Value::Scalar(value) => value.ty(),
            _ => return internal("an array literal of nothing"),
        };
        let mut collected = self.collect(elem, dims, step.spans[0])?;
        for item in items {
            let value = self.take(item);
            collected.push(&value)?;
        }
        Ok(self.collected(collected))
    }

    fn collect(&mut self, elem: ScalarTy, dims: Vec<usize>, span: Span) -> Run<Collected> {
        Collected::new(elem, dims, span, &self.room)
    }

    fn collected(&mut self, collected: Collected) -> Value {
        self.counts.stores += collected.data.len() as u64;
        self.counts.written += bytes(&collected.data);
        let tensor = Rc::new(Tensor { dims: collected.dims, data: collected.data });
        Value::Array(Array { tensor, memory: Some(collected.memory) })
    }

    fn update(&mut self, array: &Operand, index: &[Operand], value: &Operand) -> Run<Value> {
        let value = self.take(value);
        let Value::Array(array) = self.take(array) else {
            return internal("an update of a scalar");
        };
        let (at, len) = self.place(&array.tensor.dims, index)?;
        let mut array = self.unshared(array);
        let target = &mut Rc::make_mut(&mut array.tensor).data;
        match value {
            Value::Scalar(scalar) => target.set(at, scalar),
            Value::Array(Array { tensor: part, .. }) if part.data.len() == len => {
                overwrite(target, at, &part.data)
            }
            Value::Array(Array { tensor: part, .. }) => {
                return internal(format!("an update of {len} elements by {}", part.data.len()));
            }
            _ => return internal("an update by nothing"),
        }
        self.counts.stores += len as u64;
        let size = len as u64 * width(target.ty());
        self.counts.written += size;
        self.counts.overwritten += size;
        Ok(Value::Array(array))
    }

    /// Evaluates the row of an array primitive, for arrays whose sizes fit.
    fn array_prim(&mut self, prim: ArrayPrim, args: &[usize], spans: &[Span]) -> Run<Vec<Value>> {
        let args: Vec<Rc<Tensor>> = args.iter().map(|arg| self.array(*arg).clone()).collect();
        let mut data: Vec<&[f64]> = Vec::new();
        for arg in &args {
            let Data::Real(elements) = &arg.data else {
                return internal(format!("`{}` of an array that is not real", prim.name()));
            };
            data.push(elements);
        }
        let dims: Vec<&[usize]> = args.iter().map(|arg| &arg.dims[..]).collect();
        let ranks: Vec<usize> = dims.iter().map(|dims| dims.len()).collect();
        let Some(version) = prim.version(&ranks) else {
            return internal(format!("no version of `{}` for ranks {ranks:?}", prim.name()));
        };
        if version.equal_axes().any(|[(a, j), (b, k)]| dims[a][j] != dims[b][k]) {
            return internal(format!("`{}` of arrays whose sizes differ", prim.name()));
        }
        let (sizes, dims) = (version.sizes(prim, &dims, 1), version.result_dims(&dims));
        let rooms = dims
            .iter()
            .zip(prim.row().results)
            .zip(spans)
            .map(|((dims, ty), span)| match ty {
                ScalarTy::Real => Ok(self.room.make::<f64>(dims, *span)?.1),
                ScalarTy::Int => Ok(self.room.make::<i64>(dims, *span)?.1),
                ScalarTy::Bool => Ok(self.room.make::<bool>(dims, *span)?.1),
            })
            .collect::<Run<Vec<_>>>()?;
        let mut results = (prim.row().eval)(self.precision, &sizes, &data);
        results.iter_mut().for_each(|data| self.precision.elements(data));
        let sizes: Vec<u64> = sizes.into_iter().map(|size| size as u64).collect();
        self.counts.reals += (prim.row().work)(&sizes);
        self.counts.loads += data.iter().map(|part| part.len() as u64).sum::<u64>();
        let mut values = Vec::new();
        for ((data, dims), memory) in results.into_iter().zip(dims).zip(rooms) {
            self.counts.stores += data.len() as u64;
            self.counts.written += data.len() as u64 * width(data.ty());
            let tensor = Rc::new(Tensor { dims, data });
            values.push(Value::Array(Array { tensor, memory: Some(memory) }));
        }
        Ok(values)
    }

    fn accumulate(&mut self, acc: usize, index: &[Operand], value: &Operand) -> Run<()> {
        let value = self.take(value);
        self.add(acc, index, value)
    }

    fn add(&mut self, acc: usize, index: &[Operand], value: Value) -> Run<()> {
        let Some(mut target) = self.accumulator(acc).map(std::mem::take) else {
            return Ok(());
        };
        if let Value::Array(array) = target {
            target = Value::Array(self.unshared(array));
        }
        let (len, elem) = match &mut target {
            Value::Scalar(sum) => {
                let Value::Scalar(value) = value else {
                    return internal("an array is added to a scalar");
                };
                *sum = combine(self.precision, ReduceOp::Add, *sum, value);
                (1, sum.ty())
            }
            Value::Array(Array { tensor, .. }) => {
                let (at, len) = self.place(&tensor.dims, index)?;
                add_at(self.precision, &mut Rc::make_mut(tensor).data, (at, len), &value)?;
                (len, tensor.elem())
            }
            _ => return internal("an addition to an accumulator that is frozen"),
        };
        if let Value::Array(_) = target {
            self.counts.written += len as u64 * width(elem);
        }
        if let Some(place) = self.accumulator(acc) {
            *place = target;
        }
        self.count(elem == ScalarTy::Real, len as u64);
        self.counts.stores += len as u64;
        Ok(())
    }
}

struct Collected {
    dims: Vec<usize>,
    data: Data,
    memory: Rc<Memory>,
}

impl Collected {
    fn new(elem: ScalarTy, dims: Vec<usize>, span: Span, room: &Room) -> Run<Collected> {
        let (data, memory) = match elem {
            ScalarTy::Real => held(room.make(&dims, span)?, Data::Real),
            ScalarTy::Int => held(room.make(&dims, span)?, Data::Int),
            ScalarTy::Bool => held(room.make(&dims, span)?, Data::Bool),
        };
        Ok(Collected { dims, data, memory })
    }

    fn push(&mut self, value: &Value) -> Run<()> {
        match (&mut self.data, value) {
            (Data::Real(all), Value::Scalar(Scalar::Real(x))) => all.push(*x),
            (Data::Int(all), Value::Scalar(Scalar::Int(x))) => all.push(*x),
            (Data::Bool(all), Value::Scalar(Scalar::Bool(x))) => all.push(*x),
            (_, Value::Array(Array { tensor, .. })) if tensor.dims[..] == self.dims[1..] => {
                return self.extend(&tensor.data);
            }
            (Data::Real(_) | Data::Int(_) | Data::Bool(_), _) => {
                return internal("elements of another size or type");
            }
        }
        Ok(())
    }

    fn extend(&mut self, part: &Data) -> Run<()> {
        match (&mut self.data, part) {
            (Data::Real(all), Data::Real(part)) => all.extend_from_slice(part),
            (Data::Int(all), Data::Int(part)) => all.extend_from_slice(part),
            (Data::Bool(all), Data::Bool(part)) => all.extend_from_slice(part),
            (Data::Real(_) | Data::Int(_) | Data::Bool(_), _) => {
                return internal("elements of another type");
            }
        }
        Ok(())
    }
}

fn held<T>(
    (elements, memory): (Vec<T>, Rc<Memory>),
    data: fn(Vec<T>) -> Data,
) -> (Data, Rc<Memory>) {
    (data(elements), memory)
}

fn part(data: &Data, at: usize, len: usize) -> Data {
    match data {
        Data::Real(v) => Data::Real(v[at..at + len].to_vec()),
        Data::Int(v) => Data::Int(v[at..at + len].to_vec()),
        Data::Bool(v) => Data::Bool(v[at..at + len].to_vec()),
    }
}

fn overwrite(target: &mut Data, at: usize, part: &Data) {
    match (target, part) {
        (Data::Real(t), Data::Real(p)) => t[at..at + p.len()].copy_from_slice(p),
        (Data::Int(t), Data::Int(p)) => t[at..at + p.len()].copy_from_slice(p),
        (Data::Bool(t), Data::Bool(p)) => t[at..at + p.len()].copy_from_slice(p),
        (Data::Real(_) | Data::Int(_) | Data::Bool(_), _) => {
            panic!("an update by another type: the function was not checked")
        }
    }
}

fn add_at(
    precision: Precision,
    target: &mut Data,
    (at, len): (usize, usize),
    value: &Value,
) -> Run<()> {
    match (target, value) {
        (target, Value::Scalar(x)) if len == 1 => {
            target.set(at, combine(precision, ReduceOp::Add, target.get(at), *x))
        }
        (Data::Real(t), Value::Array(Array { tensor: part, .. })) if part.data.len() == len => {
            let Data::Real(p) = &part.data else { return internal("an addition of another type") };
            t[at..at + len].iter_mut().zip(p).for_each(|(t, p)| *t = precision.round(*t + p));
        }
        (Data::Int(t), Value::Array(Array { tensor: part, .. })) if part.data.len() == len => {
            let Data::Int(p) = &part.data else { return internal("an addition of another type") };
            t[at..at + len].iter_mut().zip(p).for_each(|(t, p)| *t = t.wrapping_add(*p));
        }
        (Data::Real(_) | Data::Int(_) | Data::Bool(_), _) => {
            return internal("an addition of another size");
        }
    }
    Ok(())
}

fn combine(precision: Precision, op: ReduceOp, a: Scalar, b: Scalar) -> Scalar {
    precision.eval(op.prim(a.ty()), &[a, b])
}
