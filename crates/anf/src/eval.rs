//! The evaluator: `⟦function⟧ : tensors → tensors or failure`, counting what it does. It is the meaning of the language for the tests of
//! every pass, and the counts are what the cost claims (`reverse ≤ k · primal`) are tested with.

use std::rc::Rc;

use lambada_prim::Memory as Limit;
use lambada_prim::{Data, Prim, ReduceOp, Scalar, ScalarTy, Tensor};
use lambada_source::{Failure, Span};

use crate::code::{Code, Driver, Instr, Operand, Step, compile};
use crate::counts::{Array, Counts, Memory, bytes, width};
use crate::room::Room;
use crate::{Atom, Function, Out};

/// The results of a run, and the work it took.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// One per result of the function.
    pub results: Vec<Tensor>,
    /// The work.
    pub counts: Counts,
}

/// Runs a function on its parameters; sizes are those of the arguments. Arguments that do not fit, and reads that no `Check` guards, are
/// internal errors.
pub fn eval(function: &Function, args: &[Tensor]) -> Result<Outcome, Failure> {
    eval_within(function, args, Limit::default())
}

/// The same with a limit on the memory for arrays.
pub fn eval_within(function: &Function, args: &[Tensor], limit: Limit) -> Result<Outcome, Failure> {
    let code = compile(function);
    let mut machine = Machine {
        slots: vec![Value::Empty; function.names.len()],
        counts: Counts::default(),
        room: Room { names: &function.names, limit, meter: Rc::default() },
    };
    machine.arguments(function, args)?;
    let results = machine.run(&code)?;
    let counts = Counts {
        allocated: machine.room.meter.allocated(),
        peak: machine.room.meter.peak(),
        ..machine.counts
    };
    Ok(Outcome { results: results.into_iter().map(Value::into_tensor).collect(), counts })
}

#[derive(Clone, Debug)]
enum Value {
    Empty,
    Scalar(Scalar),
    Array(Array),
}

impl Value {
    fn into_tensor(self) -> Tensor {
        match self {
            Value::Empty => Tensor::scalar(Scalar::Int(0)),
            Value::Scalar(value) => Tensor::scalar(value),
            Value::Array(array) => Rc::unwrap_or_clone(array.tensor),
        }
    }

    fn of(tensor: &Tensor) -> Value {
        match tensor.as_scalar() {
            Some(value) => Value::Scalar(value),
            None => Value::Array(Array::borrowed(Rc::new(tensor.clone()))),
        }
    }
}

struct Machine<'a> {
    slots: Vec<Value>,
    counts: Counts,
    room: Room<'a>,
}

type Run<T> = Result<T, Failure>;

fn internal<T>(message: impl std::fmt::Display) -> Run<T> {
    Err(Failure { span: Span::default(), message: format!("internal error: {message}") })
}

impl Machine<'_> {
    fn arguments(&mut self, function: &Function, args: &[Tensor]) -> Run<()> {
        if args.len() != function.params.len() {
            return internal(format!(
                "{} arguments for {} parameters",
                args.len(),
                function.params.len()
            ));
        }
        for (p, arg) in function.params.iter().zip(args) {
            if arg.elem() != p.ty.elem.scalar() || arg.dims.len() != p.ty.rank() {
                return internal(format!(
                    "the argument {} is a {} of rank {}",
                    function.names.hint(p.var),
                    arg.elem(),
                    arg.dims.len()
                ));
            }
            self.slots[p.var.0 as usize] = Value::of(arg);
            for (size, actual) in p.ty.dims.iter().zip(&arg.dims) {
                self.size(function, *size, *actual as i64)?;
            }
        }
        Ok(())
    }

    /// A size of a parameter: binds it, or compares it with what is known.
    fn size(&mut self, function: &Function, size: Atom, actual: i64) -> Run<()> {
        let expected = match size {
            Atom::Lit(value) => value.int(),
            Atom::Var(var) => match &self.slots[var.0 as usize] {
                Value::Scalar(known) => known.int(),
                Value::Empty | Value::Array(_) => {
                    self.slots[var.0 as usize] = Value::Scalar(Scalar::Int(actual));
                    actual
                }
            },
        };
        if expected == actual {
            Ok(())
        } else {
            internal(format!("{}: a size is {actual}, not {expected}", function.name))
        }
    }

    // Operands

    fn take(&mut self, operand: &Operand) -> Value {
        match *operand {
            Operand::Lit(value) => Value::Scalar(value),
            Operand::Copy(slot) => self.slots[slot].clone(),
            Operand::Move(slot) => std::mem::replace(&mut self.slots[slot], Value::Empty),
        }
    }

    fn scalar(&self, operand: &Operand) -> Scalar {
        match *operand {
            Operand::Lit(value) => value,
            Operand::Copy(slot) | Operand::Move(slot) => match &self.slots[slot] {
                Value::Scalar(value) => *value,
                Value::Array(_) | Value::Empty => {
                    panic!("slot {slot} holds no scalar: the function was not checked")
                }
            },
        }
    }

    fn int(&self, operand: &Operand) -> i64 {
        self.scalar(operand).int()
    }

    fn array(&self, slot: usize) -> &Rc<Tensor> {
        match &self.slots[slot] {
            Value::Array(array) => &array.tensor,
            Value::Scalar(_) | Value::Empty => {
                panic!("slot {slot} holds no array: the function was not checked")
            }
        }
    }

    fn dims(&self, operands: &[Operand]) -> Vec<usize> {
        operands.iter().map(|d| self.int(d).max(0) as usize).collect()
    }

    /// Where `x[index]` starts, and how many elements it has.
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

    fn run(&mut self, code: &Code) -> Run<Vec<Value>> {
        self.steps(code)?;
        Ok(code.results.iter().map(|r| self.take(r)).collect())
    }

    fn steps(&mut self, code: &Code) -> Run<()> {
        for step in &code.steps {
            self.step(step)?;
            for slot in &step.frees {
                self.slots[*slot] = Value::Empty;
            }
        }
        Ok(())
    }

    fn bind(&mut self, step: &Step, value: Value) {
        self.slots[step.binds[0]] = value;
    }

    fn bind_all(&mut self, step: &Step, values: Vec<Value>) {
        for (slot, value) in step.binds.iter().zip(values) {
            self.slots[*slot] = value;
        }
    }

    fn step(&mut self, step: &Step) -> Run<()> {
        match &step.op {
            Instr::Prim(op, args) => {
                let value = self.prim(*op, args);
                self.bind(step, Value::Scalar(value));
            }
            Instr::Index(x, index) => {
                let value = self.index(*x, index)?;
                self.bind(step, value);
            }
            Instr::Fill(value) => {
                let value = self.fill(self.scalar(value), &step.dims[0], step.binds[0])?;
                self.bind(step, value);
            }
            Instr::Array(items) => {
                let value = self.literal(items, step)?;
                self.bind(step, value);
            }
            Instr::Constant(tensor) => {
                self.bind(step, Value::Array(Array::borrowed(tensor.clone())));
            }
            Instr::For { index, extent, outs, body } => {
                self.for_(step, *index, extent, outs, body)?
            }
            Instr::Loop { params, inits, driver, body } => {
                self.loop_(step, params, inits, driver, body)?
            }
            Instr::If { cond, then, otherwise } => {
                let values = self.run(if self.scalar(cond).bool() { then } else { otherwise })?;
                self.bind_all(step, values);
            }
            Instr::Update { array, index, value } => {
                let value = self.update(array, index, value)?;
                self.bind(step, value);
            }
            Instr::MatMul(a, b) => {
                let value = self.matmul(*a, *b, step.binds[0])?;
                self.bind(step, value);
            }
            Instr::Accumulator(value) => {
                let value = self.take(value);
                self.bind(step, value);
            }
            Instr::Accumulate { acc, index, value } => self.accumulate(*acc, index, value)?,
            Instr::Freeze(acc) => {
                let value = std::mem::replace(&mut self.slots[*acc], Value::Empty);
                self.bind(step, value);
            }
            Instr::Check { cond, site, values } => {
                if !self.scalar(cond).bool() {
                    let values: Vec<i64> = values.iter().map(|v| self.int(v)).collect();
                    return Err(Failure { span: site.span, message: site.describe(&values) });
                }
            }
        }
        Ok(())
    }

    // Constructs

    fn prim(&mut self, op: Prim, args: &[Operand]) -> Scalar {
        use Scalar::{Bool, Int, Real};
        let mut values = [Int(0); 3];
        args.iter().zip(&mut values).for_each(|(a, v)| *v = self.scalar(a));
        let result = match (op, values[0], values[1]) {
            // The common ones, without a call.
            (Prim::Add, Real(a), Real(b)) => Real(a + b),
            (Prim::Sub, Real(a), Real(b)) => Real(a - b),
            (Prim::Mul, Real(a), Real(b)) => Real(a * b),
            (Prim::AddInt, Int(a), Int(b)) => Int(a.wrapping_add(b)),
            (Prim::MulInt, Int(a), Int(b)) => Int(a.wrapping_mul(b)),
            (Prim::LtInt, Int(a), Int(b)) => Bool(a < b),
            (Prim::LeInt, Int(a), Int(b)) => Bool(a <= b),
            (_, _, _) => op.eval(&values[..args.len()]),
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

    fn fill(&mut self, value: Scalar, dims: &[Operand], slot: usize) -> Run<Value> {
        let dims = self.dims(dims);
        if dims.is_empty() {
            return Ok(Value::Scalar(value));
        }
        let room = &self.room;
        let (data, memory) = match value {
            Scalar::Real(a) => held(room.filled(a, &dims, slot)?, Data::Real),
            Scalar::Int(a) => held(room.filled(a, &dims, slot)?, Data::Int),
            Scalar::Bool(a) => held(room.filled(a, &dims, slot)?, Data::Bool),
        };
        self.counts.stores += data.len() as u64;
        self.counts.written += bytes(&data);
        Ok(Value::Array(Array { tensor: Rc::new(Tensor { dims, data }), memory: Some(memory) }))
    }

    /// The array with memory of its own that nothing else refers to: itself, or a copy.
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
            Value::Empty => return internal("an array literal of nothing"),
        };
        let mut collected = self.collect(elem, dims, step.binds[0])?;
        for item in items {
            let value = self.take(item);
            collected.push(&value)?;
        }
        Ok(self.collected(collected))
    }

    fn collect(&mut self, elem: ScalarTy, dims: Vec<usize>, slot: usize) -> Run<Collected> {
        Collected::new(elem, dims, slot, &self.room)
    }

    fn collected(&mut self, collected: Collected) -> Value {
        self.counts.stores += collected.data.len() as u64;
        self.counts.written += bytes(&collected.data);
        let tensor = Rc::new(Tensor { dims: collected.dims, data: collected.data });
        Value::Array(Array { tensor, memory: Some(collected.memory) })
    }

    fn for_(
        &mut self,
        step: &Step,
        index: usize,
        extent: &Operand,
        outs: &[(Out, ScalarTy)],
        body: &Code,
    ) -> Run<()> {
        let extent = self.int(extent);
        let mut gathered: Vec<Gathered> = Vec::with_capacity(outs.len());
        for (((out, elem), dims), slot) in outs.iter().zip(&step.dims).zip(&step.binds) {
            gathered.push(match out {
                Out::Collect => Gathered::Array(self.collect(*elem, self.dims(dims), *slot)?),
                Out::Reduce(op) => Gathered::Scalar(*op, op.unit(*elem)),
            });
        }
        for i in 0..extent {
            self.slots[index] = Value::Scalar(Scalar::Int(i));
            self.steps(body)?;
            for (result, out) in body.results.iter().zip(&mut gathered) {
                self.gather(result, out)?;
            }
        }
        for (slot, out) in step.binds.iter().zip(gathered) {
            self.slots[*slot] = match out {
                Gathered::Array(collected) => self.collected(collected),
                Gathered::Scalar(_, value) => Value::Scalar(value),
            };
        }
        Ok(())
    }

    fn gather(&mut self, result: &Operand, out: &mut Gathered) -> Run<()> {
        match out {
            Gathered::Array(collected) => {
                let value = self.take(result);
                collected.push(&value)
            }
            Gathered::Scalar(op, value) => {
                *value = combine(*op, *value, self.scalar(result));
                self.count(value.ty() == ScalarTy::Real, 1);
                Ok(())
            }
        }
    }

    fn loop_(
        &mut self,
        step: &Step,
        params: &[usize],
        inits: &[Operand],
        driver: &Driver,
        body: &Code,
    ) -> Run<()> {
        let mut state: Vec<Value> = inits.iter().map(|i| self.take(i)).collect();
        let extent = match driver {
            Driver::For { extent, .. } => self.int(extent),
            Driver::While(_) => i64::MAX,
        };
        for i in 0..extent {
            for (slot, value) in params.iter().zip(&mut state) {
                self.slots[*slot] = std::mem::replace(value, Value::Empty);
            }
            match driver {
                Driver::For { index, .. } => self.slots[*index] = Value::Scalar(Scalar::Int(i)),
                Driver::While(cond) => {
                    self.steps(cond)?;
                    if !self.scalar(&cond.results[0]).bool() {
                        state = params
                            .iter()
                            .map(|p| std::mem::replace(&mut self.slots[*p], Value::Empty))
                            .collect();
                        break;
                    }
                }
            }
            let before: Vec<Option<*const Memory>> =
                params.iter().map(|p| self.memory(*p)).collect();
            state = self.run(body)?;
            self.replaced(&before, &state);
        }
        self.bind_all(step, state);
        Ok(())
    }

    /// The memory of its own that an array has.
    fn memory(&self, slot: usize) -> Option<*const Memory> {
        match &self.slots[slot] {
            Value::Array(array) => array.memory.as_ref().map(Rc::as_ptr),
            Value::Scalar(_) | Value::Empty => None,
        }
    }

    /// Counts what an iteration has replaced: scalars, and arrays that have not been updated in place.
    fn replaced(&mut self, before: &[Option<*const Memory>], state: &[Value]) {
        for (before, value) in before.iter().zip(state) {
            self.counts.overwritten += match value {
                Value::Scalar(value) => width(value.ty()),
                Value::Array(Array { memory: Some(memory), .. })
                    if Some(Rc::as_ptr(memory)) == *before =>
                {
                    0
                }
                Value::Array(array) => bytes(&array.tensor.data),
                Value::Empty => 0,
            };
        }
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
            Value::Empty => return internal("an update by nothing"),
        }
        self.counts.stores += len as u64;
        let size = len as u64 * width(target.ty());
        self.counts.written += size;
        self.counts.overwritten += size;
        Ok(Value::Array(array))
    }

    fn matmul(&mut self, a: usize, b: usize, slot: usize) -> Run<Value> {
        let (x, y) = (self.array(a).clone(), self.array(b).clone());
        let (Data::Real(u), Data::Real(v)) = (&x.data, &y.data) else {
            return internal("a product of matrices that are not real");
        };
        let (inner, columns) = (y.dims[0], y.dims.get(1).copied().unwrap_or(1));
        let rows = if x.dims.len() == 2 { x.dims[0] } else { 1 };
        if x.dims[x.dims.len() - 1] != inner {
            return internal("a product of matrices whose inner sizes differ");
        }
        let (mut data, memory) = self.room.filled(0.0, &[rows, columns], slot)?;
        for i in 0..rows {
            for k in 0..inner {
                let factor = u[i * inner + k];
                let row = &v[k * columns..(k + 1) * columns];
                data[i * columns..(i + 1) * columns]
                    .iter_mut()
                    .zip(row)
                    .for_each(|(sum, b)| *sum += factor * b);
            }
        }
        self.counts.reals += 2 * (rows * inner * columns) as u64;
        self.counts.loads += (u.len() + v.len()) as u64;
        self.counts.stores += data.len() as u64;
        self.counts.written += data.len() as u64 * width(ScalarTy::Real);
        let dims = x.dims[..x.dims.len() - 1].iter().chain(&y.dims[1..]).copied().collect();
        let tensor = Rc::new(Tensor { dims, data: Data::Real(data) });
        Ok(Value::Array(Array { tensor, memory: Some(memory) }))
    }

    fn accumulate(&mut self, acc: usize, index: &[Operand], value: &Operand) -> Run<()> {
        let value = self.take(value);
        let mut target = std::mem::replace(&mut self.slots[acc], Value::Empty);
        if let Value::Array(array) = target {
            target = Value::Array(self.unshared(array));
        }
        let (len, elem) = match &mut target {
            Value::Scalar(sum) => {
                let Value::Scalar(value) = value else {
                    return internal("an array is added to a scalar");
                };
                *sum = combine(ReduceOp::Add, *sum, value);
                (1, sum.ty())
            }
            Value::Array(Array { tensor, .. }) => {
                let (at, len) = self.place(&tensor.dims, index)?;
                add_at(&mut Rc::make_mut(tensor).data, at, len, &value)?;
                (len, tensor.elem())
            }
            Value::Empty => return internal("an addition to an accumulator that is frozen"),
        };
        if let Value::Array(_) = target {
            self.counts.written += len as u64 * width(elem);
        }
        self.slots[acc] = target;
        self.count(elem == ScalarTy::Real, len as u64);
        self.counts.stores += len as u64;
        Ok(())
    }
}

/// An out of a `for` while it runs.
enum Gathered {
    Array(Collected),
    Scalar(ReduceOp, Scalar),
}

struct Collected {
    dims: Vec<usize>,
    data: Data,
    memory: Rc<Memory>,
}

impl Collected {
    fn new(elem: ScalarTy, dims: Vec<usize>, slot: usize, room: &Room) -> Run<Collected> {
        let (data, memory) = match elem {
            ScalarTy::Real => held(room.make(&dims, slot)?, Data::Real),
            ScalarTy::Int => held(room.make(&dims, slot)?, Data::Int),
            ScalarTy::Bool => held(room.make(&dims, slot)?, Data::Bool),
        };
        Ok(Collected { dims, data, memory })
    }

    fn push(&mut self, value: &Value) -> Run<()> {
        match (&mut self.data, value) {
            (Data::Real(all), Value::Scalar(Scalar::Real(x))) => all.push(*x),
            (Data::Int(all), Value::Scalar(Scalar::Int(x))) => all.push(*x),
            (Data::Bool(all), Value::Scalar(Scalar::Bool(x))) => all.push(*x),
            (all, Value::Array(Array { tensor, .. })) if tensor.dims[..] == self.dims[1..] => {
                match (all, &tensor.data) {
                    (Data::Real(all), Data::Real(part)) => all.extend_from_slice(part),
                    (Data::Int(all), Data::Int(part)) => all.extend_from_slice(part),
                    (Data::Bool(all), Data::Bool(part)) => all.extend_from_slice(part),
                    (Data::Real(_) | Data::Int(_) | Data::Bool(_), _) => {
                        return internal("elements of another type");
                    }
                }
            }
            (Data::Real(_) | Data::Int(_) | Data::Bool(_), _) => {
                return internal("elements of another size or type");
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

fn add_at(target: &mut Data, at: usize, len: usize, value: &Value) -> Run<()> {
    match (target, value) {
        (target, Value::Scalar(x)) if len == 1 => {
            target.set(at, combine(ReduceOp::Add, target.get(at), *x))
        }
        (Data::Real(t), Value::Array(Array { tensor: part, .. })) if part.data.len() == len => {
            let Data::Real(p) = &part.data else { return internal("an addition of another type") };
            t[at..at + len].iter_mut().zip(p).for_each(|(t, p)| *t += p);
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

fn combine(op: ReduceOp, a: Scalar, b: Scalar) -> Scalar {
    op.prim(a.ty()).eval(&[a, b])
}
