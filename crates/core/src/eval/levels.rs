//! The derivatives that a value carries, including the captured variables of functions: finding the
//! innermost level, and removing or replacing it.
//!
//! Derivatives inside of a pullback or the tangent of a function, at its own level, are *bound*:
//! they are not visible from outside.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_source::stack;

use super::derive::Pullback;
use super::real::{Active, Factor, Node, Tape};
use super::rules::{Tangent, Taped};
use super::value::{Array, Closure, Con, Value};

/// Result of a search.
#[derive(Default)]
pub(crate) struct Found {
    /// A real of the largest level.
    pub active: Option<Rc<Active>>,
    /// Whether a function adds to an accumulator.
    pub accumulator: bool,
    bound: HashSet<u64>,
    seen: HashSet<*const ()>,
}

/// The derivatives that values carry.
pub(crate) fn find<'v>(values: impl IntoIterator<Item = &'v Value>) -> Found {
    let mut found = Found::default();
    found.all(values);
    found
}

impl Found {
    pub fn level(&self) -> u64 {
        self.active.as_ref().map_or(0, |active| active.level())
    }

    fn all<'v>(&mut self, values: impl IntoIterator<Item = &'v Value>) {
        values.into_iter().for_each(|value| self.value(value));
    }

    fn is_new<T: ?Sized>(&mut self, shared: &Rc<T>) -> bool {
        self.seen.insert(Rc::as_ptr(shared).cast())
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Real(_) | Value::Int(_) | Value::Bool(_) | Value::Unit | Value::Absent => {}
            Value::Active(active) => self.active(active),
            Value::Tuple(items) => self.all(items.iter()),
            Value::Array(array) => self.all(&array.items),
            Value::Con(con) => stack::deeper(|| self.all(&con.args)),
            Value::Closure(closure) => {
                if self.is_new(closure) {
                    stack::deeper(|| self.all(closure.captured.iter().chain(&closure.args)));
                }
            }
            Value::Pullback(pullback) => {
                if self.is_new(pullback) {
                    self.bound.insert(pullback.tape.level);
                    self.tape(&pullback.tape);
                    self.all([&pullback.point, &pullback.result]);
                }
            }
            Value::Tangent(tangent) => {
                if self.is_new(tangent) {
                    self.bound.insert(tangent.level);
                    stack::deeper(|| self.value(&tangent.function));
                }
            }
            Value::Adder(_) | Value::Accumulator(_) => self.accumulator = true,
        }
    }

    fn active(&mut self, active: &Rc<Active>) {
        if !self.bound.contains(&active.level()) {
            if active.level() > self.level() {
                self.active = Some(active.clone());
            }
            return;
        }
        self.value(active.primal());
        if let Active::Forward { tangent, .. } = &**active {
            self.value(tangent);
        }
    }

    fn tape(&mut self, tape: &Rc<Tape>) {
        if !self.is_new(tape) {
            return;
        }
        for node in tape.nodes.borrow().iter() {
            for (_, factor) in node.parents.iter().flatten() {
                if let Factor::Times(value) = factor {
                    self.value(value);
                }
            }
        }
        for (_, call) in tape.calls.borrow().iter() {
            self.all(call.values());
        }
    }
}

/// The value with each free real of a level replaced.
pub(crate) fn replace(value: &Value, level: u64, with: &mut dyn FnMut(&Active) -> Value) -> Value {
    Replace { level, with, bound: HashSet::new(), seen: HashMap::new(), tapes: HashMap::new() }
        .value(value)
}

/// The value without the derivatives of a level.
pub(crate) fn without(value: &Value, level: u64) -> Value {
    replace(value, level, &mut |active| active.primal().clone())
}

struct Replace<'w> {
    level: u64,
    with: &'w mut dyn FnMut(&Active) -> Value,
    bound: HashSet<u64>,
    /// Results for functions, so that shared ones remain shared.
    seen: HashMap<*const (), Value>,
    tapes: HashMap<*const (), Rc<Tape>>,
}

impl Replace<'_> {
    pub fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::Real(_)
            | Value::Int(_)
            | Value::Bool(_)
            | Value::Unit
            | Value::Adder(_)
            | Value::Accumulator(_)
            | Value::Absent => value.clone(),
            Value::Active(active) => self.active(active),
            Value::Tuple(items) => Value::tuple(self.all(items)),
            Value::Array(array) => {
                let items = self.all(&array.items);
                Value::Array(Rc::new(Array::new(items, array.elem.clone())))
            }
            Value::Con(con) => stack::deeper(|| self.con(con)),
            Value::Closure(closure) => {
                self.once(closure, |this| stack::deeper(|| this.closure(closure)))
            }
            Value::Pullback(pullback) => self.once(pullback, |this| this.pullback(pullback)),
            Value::Tangent(tangent) => self.once(tangent, |this| {
                this.bound.insert(tangent.level);
                let function = stack::deeper(|| this.value(&tangent.function));
                let (level, nothing) = (tangent.level, tangent.nothing.clone());
                Value::Tangent(Rc::new(Tangent { function, level, nothing }))
            }),
        }
    }

    fn all(&mut self, values: &[Value]) -> Vec<Value> {
        values.iter().map(|value| self.value(value)).collect()
    }

    fn once<T>(&mut self, shared: &Rc<T>, make: impl FnOnce(&mut Self) -> Value) -> Value {
        let key = Rc::as_ptr(shared).cast();
        if let Some(value) = self.seen.get(&key) {
            return value.clone();
        }
        let value = make(self);
        self.seen.insert(key, value.clone());
        value
    }

    fn con(&mut self, con: &Con) -> Value {
        Value::con(con.tag, self.all(&con.args))
    }

    fn closure(&mut self, closure: &Closure) -> Value {
        let captured = self.all(&closure.captured).into();
        let args = self.all(&closure.args);
        Value::Closure(Rc::new(Closure::new(&closure.functions, closure.member, &captured, args)))
    }

    fn pullback(&mut self, pullback: &Pullback) -> Value {
        self.bound.insert(pullback.tape.level);
        Value::Pullback(Rc::new(Pullback {
            tape: self.tape(&pullback.tape),
            point: self.value(&pullback.point),
            result: self.value(&pullback.result),
            span: pullback.span,
        }))
    }

    fn active(&mut self, active: &Rc<Active>) -> Value {
        if active.level() == self.level {
            return (self.with)(active);
        }
        if !self.bound.contains(&active.level()) {
            return Value::Active(active.clone()); // what it consists of is older than the level
        }
        let primal = self.value(active.primal());
        Value::Active(Rc::new(match &**active {
            Active::Forward { level, kind, tangent, .. } => {
                let tangent = self.value(tangent);
                Active::Forward { level: *level, kind: *kind, primal, tangent }
            }
            Active::Traced { tape, node, .. } => {
                Active::Traced { tape: self.tape(tape), primal, node: *node }
            }
        }))
    }

    /// Copies the tape of a pullback.
    fn tape(&mut self, tape: &Rc<Tape>) -> Rc<Tape> {
        let key = Rc::as_ptr(tape).cast();
        if let Some(tape) = self.tapes.get(&key) {
            return tape.clone();
        }
        // Registered first, because its contents refer to it.
        let new = Rc::new(Tape::new(tape.level));
        self.tapes.insert(key, new.clone());
        let nodes = tape.nodes.borrow().iter().map(|node| self.node(node)).collect();
        *new.nodes.borrow_mut() = nodes;
        let calls: Vec<(usize, Rc<Taped>)> = tape.calls.borrow().clone();
        for (node, call) in calls {
            let call = call.map(&mut |value| self.value(value));
            new.calls.borrow_mut().push((node, Rc::new(call)));
        }
        new
    }

    fn node(&mut self, node: &Node) -> Node {
        let parents = node.parents.each_ref().map(|parent| {
            let (parent, factor) = parent.as_ref()?;
            Some((
                *parent,
                match factor {
                    Factor::One => Factor::One,
                    Factor::MinusOne => Factor::MinusOne,
                    Factor::Times(value) => Factor::Times(self.value(value)),
                },
            ))
        });
        Node { parents }
    }
}
