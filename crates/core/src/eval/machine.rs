//! The evaluator proper: code and a stack of frames to values.

use std::cell::RefCell;
use std::rc::Rc;

use lambada_prim::{MOST_FOR_CALLS, Memory, TOO_DEEP, made_nan};
use lambada_source::stack::{self, Depth};
use lambada_source::{Failure, Site, Span};

use super::arrays;
use super::code::*;
use super::compile::compile;
use super::derive;
use super::heap::held;
use super::real::{apply, apply2, comes_from, made};
use super::shape::{Form, Shape};
use super::value::{Accumulator, Closure, Value};
use crate::{Program, Ty};

/// A result that may be a failure. The failure is boxed so that a result is as small as a value.
pub(crate) type Run<T> = Result<T, Box<Failure>>;

/// A failure.
#[cold]
pub(crate) fn fail<T>(span: Span, message: impl Into<String>) -> Run<T> {
    Err(Box::new(Failure { span, message: message.into() }))
}

/// Minimum share of [`MOST_FOR_CALLS`] for a call, measured without optimization: the evaluator
/// recurses on a call.
const CALL: u64 = 2048;

/// A program that is running.
pub(crate) struct Machine<'p> {
    program: &'p Program,
    /// The values of the definitions mentioned so far.
    globals: Vec<Option<Value>>,
    /// Stack depth at the start of the evaluation.
    began: Depth,
    /// The frames of the running functions, in order.
    stack: Vec<Value>,
    /// Start of the running function's frame.
    base: usize,
    /// Depth of nested calls.
    calls: u64,
    /// The level of the latest application of `jvp` or `vjp`.
    pub(super) level: u64,
    /// Depth of nested transpositions of rules.
    pub transposing: usize,
    /// The bodies of empty `for`s that are evaluated to learn the shape of their first element
    /// ([`super::rehearsal`]), innermost last.
    pub(super) rehearsals: Vec<*const Code>,
    /// Whether values are moved at their last mention. Results do not depend on it; tests check
    /// that.
    pub moves: bool,
    /// Limit on the memory of values.
    pub limit: Memory,
    /// Whether making a NaN out of numbers is a failure.
    pub trap_nan: bool,
    /// Receives the inspected values.
    pub seen: &'p dyn Fn(&Site, &Value, &Ty),
}

impl<'p> Machine<'p> {
    pub fn new(program: &'p Program) -> Machine<'p> {
        let globals = vec![None; program.defs.len()];
        Machine {
            program,
            globals,
            began: Depth::here(),
            stack: Vec::new(),
            base: 0,
            calls: 0,
            level: 0,
            transposing: 0,
            rehearsals: Vec::new(),
            moves: true,
            limit: Memory::default(),
            trap_nan: false,
            seen: &|_, _, _| {},
        }
    }

    /// The running program.
    pub(super) fn program(&self) -> &'p Program {
        self.program
    }

    /// Memory of the nested calls: the larger of the known minimum and the measured use.
    fn taken(&self) -> u64 {
        let frames = (self.stack.len() * size_of::<Value>()) as u64;
        (self.calls * CALL).max(self.began.taken() + frames)
    }

    /// The level of a new application of `jvp` or `vjp`.
    pub fn fresh_level(&mut self) -> u64 {
        self.level += 1;
        self.level
    }

    /// The value of a definition, computed at its first mention.
    pub fn global(&mut self, k: usize) -> Run<Value> {
        if let Some(value) = &self.globals[k] {
            return Ok(value.clone());
        }
        let program = self.program;
        let function = compile(program, &program.defs[k].body, self.moves, self.trap_nan);
        // The definition is no part of a rehearsed body, and may be mentioned later.
        let around = std::mem::take(&mut self.rehearsals);
        let value = self.enter(&[function].into(), 0, &[].into(), []);
        self.rehearsals = around;
        let value = value?;
        self.globals[k] = Some(value.clone());
        Ok(value)
    }

    /// The value of a closed term.
    pub fn closed(&mut self, term: &crate::Term) -> Run<Value> {
        let function = compile(self.program, term, self.moves, self.trap_nan);
        self.enter(&[function].into(), 0, &[].into(), [])
    }

    /// A function applied to one or more arguments.
    pub fn call(&mut self, mut f: Value, mut args: Vec<Value>) -> Run<Value> {
        while !args.is_empty() {
            f = match f {
                Value::Closure(closure) => {
                    let missing = closure.function().params.len() - closure.args.len();
                    if args.len() < missing {
                        let args = closure.args.iter().cloned().chain(args).collect();
                        let Closure { functions, member, captured, .. } = &*closure;
                        let partial = Closure::new(functions, *member, captured, args);
                        return Ok(Value::Closure(Rc::new(partial)));
                    }
                    let rest = args.split_off(missing);
                    let supplied = closure.args.iter().cloned().chain(args);
                    let result = match &closure.function().rules {
                        None => self.run(&closure, supplied)?,
                        Some(_) => self.ruled(&closure, supplied.collect())?,
                    };
                    args = rest;
                    result
                }
                Value::Pullback(pullback) => self.pull_back(&pullback, &args.remove(0))?,
                Value::Tangent(tangent) => self.apply_tangent(&tangent, args.remove(0))?,
                Value::Adder(adder) => self.add_term(&adder, args.remove(0)),
                other => unreachable!("ill-typed core: {other:?} is applied"),
            };
        }
        Ok(f)
    }

    /// A saturated call, whether or not the function has rules.
    pub fn run(&mut self, closure: &Closure, args: impl IntoIterator<Item = Value>) -> Run<Value> {
        let Closure { functions, member, captured, .. } = closure;
        stack::deeper(|| self.enter(functions, *member, captured, args))
    }

    /// Runs a function in a new frame.
    fn enter(
        &mut self,
        functions: &Rc<[Function]>,
        member: usize,
        captured: &Rc<[Value]>,
        args: impl IntoIterator<Item = Value>,
    ) -> Run<Value> {
        let function = &functions[member];
        let around = std::mem::replace(&mut self.base, self.stack.len());
        self.stack.resize(self.base + function.slots, Value::Absent);
        for (k, slot) in &function.captures {
            self.set(*slot, captured[*k].clone());
        }
        for (member, slot) in &function.together {
            self.set(*slot, closure(functions, *member, captured));
        }
        for (destination, value) in function.params.iter().zip(args) {
            self.bind(destination, value);
        }
        let result = self.eval(&function.body);
        self.stack.truncate(self.base);
        self.base = around;
        result
    }

    pub(super) fn set(&mut self, slot: Slot, value: Value) {
        self.stack[self.base + slot] = value;
    }

    fn get(&self, slot: Slot) -> &Value {
        &self.stack[self.base + slot]
    }

    /// The value of a slot; the last mention moves it out.
    fn read(&mut self, slot: Slot, last: Last) -> Value {
        let place = &mut self.stack[self.base + slot];
        if last { std::mem::replace(place, Value::Absent) } else { place.clone() }
    }

    fn clear(&mut self, slots: &[Slot]) {
        slots.iter().for_each(|slot| self.set(*slot, Value::Absent));
    }

    fn bind(&mut self, destination: &Destination, value: Value) {
        match destination {
            Destination::Nowhere => {}
            Destination::Slot(slot) => self.set(*slot, value),
            Destination::Components(slots) => {
                for (slot, component) in slots.iter().zip(value.into_components()) {
                    if let Some(slot) = slot {
                        self.set(*slot, component);
                    }
                }
            }
        }
    }

    fn all(&mut self, codes: &[Code]) -> Run<Vec<Value>> {
        codes.iter().map(|code| self.eval(code)).collect()
    }

    fn ints(&mut self, codes: &[Code]) -> Run<Vec<i64>> {
        codes.iter().map(|code| Ok(self.eval(code)?.int())).collect()
    }

    /// The value of an expression. Tail positions are evaluated in a loop.
    pub fn eval(&mut self, mut code: &Code) -> Run<Value> {
        loop {
            match code {
                Code::Const(value) => return Ok(value.clone()),
                Code::Never(ty) => unreachable!("a value of type {ty:?} that cannot be"),
                Code::Local(slot, last) => return Ok(self.read(*slot, *last)),
                Code::Global(k) => return self.global(*k),
                Code::Lambda(functions, captured) => {
                    let captured =
                        captured.iter().map(|(slot, last)| self.read(*slot, *last)).collect();
                    return Ok(closure(functions, 0, &captured));
                }
                Code::Call(f, args, span) => {
                    let f = self.eval(f)?;
                    let args = self.all(args)?;
                    self.calls += 1;
                    let limit = self.limit.limit.saturating_sub(held()).min(MOST_FOR_CALLS);
                    if self.taken() > limit {
                        return fail(*span, TOO_DEEP);
                    }
                    let result = self.call(f, args);
                    self.calls -= 1;
                    return result;
                }
                Code::Block(steps, body) => {
                    steps.iter().try_for_each(|step| self.step(step))?;
                    code = body;
                }
                Code::Tuple(items) => return Ok(Value::tuple(self.all(items)?)),
                Code::Proj(t, k) => return Ok(self.eval(t)?.component(*k).clone()),
                Code::Con(tag, args, span) => {
                    let args = self.all(args)?;
                    self.room_for(Value::size_of_con(args.len()), *span)?;
                    return Ok(Value::con(*tag, args));
                }
                Code::Match(t, arms) => {
                    let value = self.eval(t)?;
                    let arm = &arms[value.as_con().tag];
                    self.bind_fields(&arm.destinations, value);
                    self.clear(&arm.branch.drops);
                    code = &arm.branch.body;
                }
                Code::If(c, yes, no) => {
                    let branch = if self.eval(c)?.bool() { yes } else { no };
                    self.clear(&branch.drops);
                    code = &branch.body;
                }
                Code::Prim1(prim, a) => return Ok(apply(*prim, &[self.eval(a)?])),
                Code::Prim2(prim, args) => {
                    let a = self.eval(&args[0])?;
                    let b = self.eval(&args[1])?;
                    return Ok(apply2(*prim, &a, &b));
                }
                Code::Prim3(prim, args) => {
                    return Ok(apply(
                        *prim,
                        &[self.eval(&args[0])?, self.eval(&args[1])?, self.eval(&args[2])?],
                    ));
                }
                Code::Array(items, info) => {
                    return {
                        let items = self.all(items)?;
                        self.regular(items, info)
                    };
                }
                Code::For(index, parts, info) => {
                    return self.for_(*index, &parts[0], &parts[1], info);
                }
                Code::Dim(xs, axis) => return Ok(Value::Int(self.dim(xs, *axis)? as i64)),
                Code::Index(at, xs, info) => return self.index(at, xs, info),
                Code::Update(parts, at, info) => {
                    let xs = self.eval(&parts[0])?;
                    let at = self.ints(at)?;
                    let value = self.eval(&parts[1])?;
                    if self.rehearsing() && arrays::index(&xs, &at, info.span).is_err() {
                        return Ok(xs);
                    }
                    return arrays::update(xs, &at, value, info);
                }
                Code::Reduce(op, ty, xs, span) => {
                    return arrays::reduce(*op, *ty, &self.eval(xs)?, *span);
                }
                Code::Trapped(code, span) => {
                    let value = self.eval(code)?;
                    comes_from(&value, *span);
                    return match made() {
                        None => Ok(value),
                        Some(op) => fail(*span, made_nan(op)),
                    };
                }
                Code::Inspect(what, value) => {
                    let value = self.eval(value)?;
                    if !self.rehearsing() {
                        let (site, ty) = &**what;
                        (self.seen)(site, &value, ty);
                    }
                    return Ok(value);
                }
                Code::ArrayPrim(prim, version, args, span) => {
                    let args =
                        args.iter().map(|arg| self.eval(arg)).collect::<Run<Vec<Value>>>()?;
                    return arrays::contract(*prim, version, &args, *span);
                }
                Code::Loop(code) => return self.loop_(code),
                Code::Accumulate(slot, parts) => {
                    return self.accumulate(*slot, &parts[0], &parts[1]);
                }
                Code::Add(slot, at, value, info) => {
                    let at = self.ints(at)?;
                    let value = self.eval(value)?;
                    return self.add(*slot, &at, &value, info);
                }
                Code::Jvp(parts, span) => {
                    let f = self.eval(&parts[0])?;
                    let x = self.eval(&parts[1])?;
                    let dx = self.eval(&parts[2])?;
                    return self.jvp(f, &x, &dx, *span);
                }
                Code::Reach(parts, span) => {
                    let f = self.eval(&parts[0])?;
                    let x = self.eval(&parts[1])?;
                    let marks = self.eval(&parts[2])?;
                    return self.reach(f, &x, &marks, *span);
                }
                Code::Vjp(parts, span) => {
                    let f = self.eval(&parts[0])?;
                    let x = self.eval(&parts[1])?;
                    return self.vjp(f, x, *span);
                }
            }
        }
    }

    fn step(&mut self, step: &Step) -> Run<()> {
        match step {
            Step::Bind(destination, value) => {
                let value = self.eval(value)?;
                self.bind(destination, value);
                Ok(())
            }
            Step::Functions(destinations, functions, captured) => {
                let captured =
                    captured.iter().map(|(slot, last)| self.read(*slot, *last)).collect();
                for (member, destination) in destinations.iter().enumerate() {
                    self.bind(destination, closure(functions, member, &captured));
                }
                Ok(())
            }
            Step::Check(cond, site, values) => {
                if self.rehearsing() || self.eval(cond)?.bool() {
                    return Ok(());
                }
                let values = self.ints(values)?;
                failed(site, &values)
            }
        }
    }

    /// Binds the arguments of a constructor; moves them if nothing else shares it.
    fn bind_fields(&mut self, destinations: &[Destination], value: Value) {
        let Value::Con(con) = value else { unreachable!("ill-typed core: {value:?} is matched") };
        match Rc::try_unwrap(con) {
            Ok(mut con) => destinations
                .iter()
                .zip(std::mem::take(&mut con.args))
                .for_each(|(destination, arg)| self.bind(destination, arg)),
            Err(con) => destinations
                .iter()
                .zip(&con.args)
                .for_each(|(destination, arg)| self.bind(destination, arg.clone())),
        }
    }

    fn for_(&mut self, index: Slot, extent: &Code, body: &Code, info: &ForInfo) -> Run<Value> {
        let extent = self.eval(extent)?.int();
        if extent <= 0 {
            return Ok(arrays::empty(self.rehearse(index, body, &info.form)));
        }
        self.make_room(extent, 1, info.span)?;
        let mut items = Vec::with_capacity(usize::try_from(extent).unwrap_or(0).min(1 << 20));
        for i in 0..extent {
            self.set(index, Value::Int(i));
            items.push(self.eval(body)?);
            if i == 0 && info.form != Form::Plain {
                self.make_room(extent, items[0].scalars(), info.span)?; // the others are as large
            }
        }
        self.regular(items, info)
    }

    /// Checks that there is room for an array of `extent` elements with `scalars` scalars each.
    fn make_room(&self, extent: i64, scalars: u64, span: Span) -> Run<()> {
        let scalars = i64::try_from(scalars).unwrap_or(i64::MAX);
        match self.limit.room([extent, scalars], size_of::<Value>() as u64, held()) {
            Ok(_) => Ok(()),
            Err(message) => fail(span, message),
        }
    }

    /// Checks that there is room for more bytes.
    fn room_for(&self, bytes: usize, span: Span) -> Run<()> {
        self.limit.more(bytes as u64, held()).or_else(|message| fail(span, message))
    }

    fn dim(&mut self, xs: &Code, axis: usize) -> Run<usize> {
        match xs {
            Code::Local(slot, false) => Ok(arrays::dim(self.get(*slot), axis)),
            _ => Ok(arrays::dim(&self.eval(xs)?, axis)),
        }
    }

    fn index(&mut self, at: &[Code], xs: &Code, info: &(ForInfo, Ty)) -> Run<Value> {
        match xs {
            Code::Local(slot, last) => {
                let item = match at {
                    [k] => {
                        let k = self.eval(k)?.int();
                        self.element(self.get(*slot), &[k], info)?
                    }
                    _ => {
                        let at = self.ints(at)?;
                        self.element(self.get(*slot), &at, info)?
                    }
                };
                if *last {
                    self.set(*slot, Value::Absent);
                }
                Ok(item)
            }
            _ => {
                let xs = self.eval(xs)?;
                let at = self.ints(at)?;
                self.element(&xs, &at, info)
            }
        }
    }

    fn loop_(&mut self, code: &LoopCode) -> Run<Value> {
        let mut state = self.eval(&code.init)?;
        let plain = code.info.form == Form::Plain;
        let mut shape = Shape::of(&state, &code.info.form);
        let extent = match &code.kind {
            LoopKindCode::For(_, extent, states) => {
                let extent = self.eval(extent)?.int();
                // The evaluator ignores the number of states of a derivative, but computing it may
                // fail.
                if let Some(states) = states {
                    self.eval(states)?;
                }
                extent
            }
            LoopKindCode::While(..) => i64::MAX,
        };
        for i in 0..extent {
            match &code.kind {
                LoopKindCode::For(index, ..) => self.set(*index, Value::Int(i)),
                LoopKindCode::While(destination, cond) => {
                    self.bind(destination, state.clone());
                    let again = self.eval(cond)?.bool();
                    // Clears the state after the condition, so that the body owns it.
                    self.clear(&destination.slots());
                    if !again {
                        break;
                    }
                }
            }
            self.bind(&code.state, state);
            state = self.eval(&code.body)?;
            // Arrays and tapes may have grown; a dropped state has released its memory.
            self.room_for(1, code.info.span)?;
            if !plain
                && !self.rehearsing()
                && let Err((old, new)) = shape.unite(Shape::of(&state, &code.info.form))
            {
                return fail(
                    code.info.span,
                    format!("the loop's state changes size: {old} becomes {new}"),
                );
            }
        }
        Ok(state)
    }

    fn accumulate(&mut self, slot: Slot, init: &Code, body: &Code) -> Run<Value> {
        let content = RefCell::new(self.eval(init)?);
        let accumulator = Rc::new(Accumulator { content, level: self.level });
        self.set(slot, Value::Accumulator(accumulator.clone()));
        let result = self.eval(body)?;
        self.set(slot, Value::Absent);
        let content = accumulator.content.replace(Value::Absent);
        Ok(Value::tuple(vec![result, content]))
    }

    fn add(&mut self, slot: Slot, at: &[i64], value: &Value, info: &ForInfo) -> Run<Value> {
        let accumulator = self.get(slot).as_accumulator().clone();
        if !self.rehearsing() {
            let value = if self.level > accumulator.level {
                &derive::strip(value, accumulator.level + 1)
            } else {
                value
            };
            arrays::add_at(&mut accumulator.content.borrow_mut(), at, value, info)?;
        }
        Ok(Value::Unit)
    }
}

/// A function without arguments so far.
pub(crate) fn closure(functions: &Rc<[Function]>, member: usize, captured: &Rc<[Value]>) -> Value {
    Value::Closure(Rc::new(Closure::new(functions, member, captured, Vec::new())))
}

fn failed(site: &Site, values: &[i64]) -> Run<()> {
    fail(site.span, site.describe(values))
}
