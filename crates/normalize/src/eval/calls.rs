//! Calls of recursive functions: `f x…` is a call of a copy of `f` in the library, made for the
//! static part of its arguments.
//!
//! * *Assumes* that all recursion goes through a definition or a `let rec` applied to all its
//!   arguments; a partial application is a closure.
//! * *Gives* a copy for every sketch of closure and arguments. Sketches of data are their types,
//!   and no code occurs in its own environment there, so the sketches are finitely many. The sketch
//!   of the result follows from its type, because the body is unknown when a function calls itself.

use std::rc::Rc;

use lambada_anf as anf;
use lambada_anf::{Atom, FnId, Op, Param, Ty};
use lambada_core::{Term, TermKind, Ty as CoreTy, Var};

use super::library::{Key, expected_results, known_results};
use super::{Evaluator, Hint, Local, shared, sketches, slots};
use crate::emit::Emit;
use crate::sketch::{Filled, Sketch, Slots, Source};
use crate::val::{Closure, Code, CodeKind, Val};
use crate::{Eval, ill_typed, lambdas};

/// Maximal number of functions of a library.
const FUNCTIONS: usize = 10_000;

/// State of the function under construction.
pub(super) struct Surroundings {
    emit: Emit,
    local: Local,
}

/// A function's head: its parameters, and the values made of them.
struct Head {
    params: Vec<Param>,
    accumulators: Vec<Param>,
    vals: Vec<Val>,
}

impl Evaluator<'_> {
    // Recursive functions

    /// `let rec f = \x -> t …`: binds the functions, until the scope ends.
    pub(super) fn let_rec(&mut self, functions: &[(Var, Term)]) -> Eval<()> {
        let siblings: Rc<[(Var, Term)]> = functions.into();
        let mut free: Vec<Var> = Vec::new();
        for var in functions.iter().flat_map(|(_, term)| term.free_vars()) {
            if !free.contains(&var) && functions.iter().all(|(f, _)| *f != var) {
                free.push(var);
            }
        }
        let free: Rc<[Var]> = free.into();
        let env = free.iter().map(|x| self.lookup(x)).collect::<Eval<Vec<Val>>>()?;
        for (f, term) in functions {
            let TermKind::Lam(var, body) = term.without_rules().kind() else {
                return Err(ill_typed());
            };
            self.codes.mark_recursive(term, &f.hint);
            self.codes.mark_rules(term, Some(free.clone()));
            self.codes.sibling(var, body, free.clone(), siblings.clone());
        }
        self.bind_siblings(&siblings, &env)
    }

    /// Binds the functions of a `let rec`, which share the environment.
    pub(super) fn bind_siblings(&mut self, siblings: &[(Var, Term)], env: &[Val]) -> Eval<()> {
        for (f, term) in siblings {
            let TermKind::Lam(var, _) = term.without_rules().kind() else {
                return Err(ill_typed());
            };
            let code = self.codes.known(var).ok_or_else(ill_typed)?;
            let value = Val::closure(code, env.to_vec());
            self.growth.name(&value, &f.hint);
            self.bind(f, value);
        }
        Ok(())
    }

    // Calls

    /// A recursive function applied to all its arguments.
    pub(super) fn invoke(
        &mut self,
        closure: &Closure,
        xs: &[Val],
        ty: &CoreTy,
        hint: Hint,
    ) -> Eval<Val> {
        let CodeKind::Lambda { free, .. } = &closure.code.kind else { return Err(ill_typed()) };
        let own = parameters(&closure.code);
        let mut vals: Vec<Val> = closure.env.iter().chain(xs).cloned().collect();
        let (mut path, mut sketches) = (vec![closure.code.number], Vec::new());
        for (val, var) in vals.iter().zip(free.iter().chain(&own)) {
            sketches.push(sketches::sketch(self, val, &var.ty, &mut path)?);
        }
        let (shared, constants) = shared::shared(self, closure.code.number, &sketches)?;
        sketches.extend(
            shared.iter().map(|id| sketches::canonical(self, self.program.def(*id).body.ty())),
        );
        vals.extend(constants);
        let filled = slots::filled(self, &sketches, &vals)?;
        let key = (closure.code.number, shared, sketches);
        let function = match self.library.copy(&key) {
            Some(function) => function,
            None => self.specialize(key, &closure.code, ty)?,
        };
        self.named(hint, |this| this.call_function(function, filled, ty))
    }

    /// A call of a function of the library with a result of type `result`.
    pub(crate) fn call_function(
        &mut self,
        function: FnId,
        arguments: Filled,
        ty: &CoreTy,
    ) -> Eval<Val> {
        let result = sketches::canonical(self, ty);
        let mut slots = Slots::default();
        let hint = self.emit.hint.take().unwrap_or_else(|| anf::NAMELESS.into());
        slots::add_slots(self, &result, &hint, &mut slots);
        let Filled { atoms: args, accumulators, .. } = arguments;
        // Sizes among the results that are arguments or constants are known at the call.
        let known = match self.emit.library.function(function) {
            Some(function) => known_results(function),
            None => self.library.expected(function),
        };
        let mut atoms = Vec::new();
        let known = |k: usize, _: &[Atom]| Some(known.get(k).copied().flatten()?.among(&args));
        let binds = slots::variables(self, &slots.values, &mut atoms, &known);
        self.emit.push(binds, Op::Call { function, args, accumulators });
        Ok(slots::instances(self, std::slice::from_ref(&result), atoms)?.remove(0))
    }

    /// A place in the library.
    pub(crate) fn reserve(&mut self) -> Eval<FnId> {
        let functions = &mut self.emit.library.functions;
        functions.push(None);
        let count = functions.len();
        if count > FUNCTIONS {
            return Err(self.growth.too_many(FUNCTIONS));
        }
        Ok(FnId(count as u32 - 1))
    }

    fn specialize(&mut self, key: Key, code: &Rc<Code>, ty: &CoreTy) -> Eval<FnId> {
        let CodeKind::Lambda { free, .. } = &code.kind else { return Err(ill_typed()) };
        let id = self.reserve()?;
        let (shared, sketches, own) = (key.1.clone(), key.2.clone(), parameters(code));
        self.library.add_copy(key, id);
        let name = self.codes.recursive(code).unwrap_or_else(|| "function".into());
        let mut hints: Vec<Rc<str>> = free.iter().chain(&own).map(|x| x.hint.clone()).collect();
        hints.extend(shared.iter().map(|id| self.program.def(*id).name.clone()));
        let (captured, arguments) = (free.len(), own.len());
        self.function(id, &name, &sketches, &hints, ty, &mut |this, mut vals| {
            let constants = vals.split_off(captured + arguments);
            for (id, value) in shared.iter().zip(constants) {
                this.local.env.set_constant(*id, Some(value));
            }
            let xs = vals.split_off(captured);
            this.inlined(&Closure { code: code.clone(), env: vals }, xs, None)
        })?;
        Ok(id)
    }

    /// Writes a function of the library: its parameters are the slots of some sketches, and its
    /// result has type `ty`.
    ///
    /// If an empty `for` inside needs the sizes of the function's own results, the function is
    /// written a second time. It then expects the sizes on which all branches without such a call
    /// agree. If the second version has these sizes, all calls have them, by induction.
    pub(crate) fn function(
        &mut self,
        id: FnId,
        name: &str,
        sketches: &[Sketch],
        hints: &[Rc<str>],
        ty: &CoreTy,
        body: &mut dyn FnMut(&mut Self, Vec<Val>) -> Eval<Val>,
    ) -> Eval<()> {
        let (mut function, awaited) = self.write_once(id, name, sketches, hints, ty, body)?;
        let expected = if awaited { expected_results(&function, id) } else { Vec::new() };
        if expected.iter().any(Option::is_some) {
            let before = self.emit.library.functions.len();
            self.library.expect(id, expected.clone());
            let (again, _) = self.write_once(id, name, sketches, hints, ty, body)?;
            self.library.expect(id, Vec::new());
            let found = known_results(&again);
            if expected.iter().zip(&found).all(|(e, found)| e.is_none() || e == found) {
                function = again;
            } else {
                self.library.forget_from(before);
            }
        }
        self.emit.library.functions[id.0 as usize] = Some(function);
        Ok(())
    }

    /// The function, and whether it needs the sizes of its own results.
    fn write_once(
        &mut self,
        id: FnId,
        name: &str,
        sketches: &[Sketch],
        hints: &[Rc<str>],
        ty: &CoreTy,
        body: &mut dyn FnMut(&mut Self, Vec<Val>) -> Eval<Val>,
    ) -> Eval<(anf::Function, bool)> {
        self.library.begin(id, name);
        let outside = self.leave_function();
        let head = self.head(sketches, hints)?;
        let value = body(self, head.vals)?;
        let result = sketches::canonical(self, ty);
        let results = self.results(&result, &value)?;
        let awaited = self.emit.awaited.contains(&id);
        let function = self.enter_function(outside, |emit| {
            emit.library_function((id, name.to_string()), head.params, head.accumulators, results)
        });
        self.library.end();
        Ok((function, awaited))
    }

    fn head(&mut self, sketches: &[Sketch], hints: &[Rc<str>]) -> Eval<Head> {
        let mut slots = Slots::default();
        for (sketch, hint) in sketches.iter().zip(hints) {
            slots::add_slots(self, sketch, hint, &mut slots);
        }
        let (params, accumulators) = slots::parameters(self, &slots);
        let mut atoms = params.iter().map(|p| p.var.into());
        let mut accs = accumulators.iter().map(|p| p.var);
        let mut from = Source { atoms: &mut atoms, accumulators: &mut accs };
        let vals = sketches.iter().map(|s| slots::instantiate(self, s, &mut from, 0));
        let vals = vals.collect::<Eval<Vec<Val>>>()?;
        Ok(Head { params, accumulators, vals })
    }

    /// The results of a function, with their types.
    fn results(&mut self, sketch: &Sketch, value: &Val) -> Eval<Vec<(Atom, Ty)>> {
        let mut slots = Slots::default();
        slots::add_slots(self, sketch, anf::NAMELESS, &mut slots);
        let mut filled = Filled::default();
        slots::fill(self, sketch, Some(value), &mut filled)?;
        let types = slots.values.iter().map(|slot| Slots::ty(slot, &filled.atoms));
        Ok(filled.atoms.iter().copied().zip(types).collect())
    }

    /// Puts the function under construction aside, and begins another.
    pub(super) fn leave_function(&mut self) -> Surroundings {
        let mut emit = Emit::with(self.emit.names.precision());
        emit.library = std::mem::take(&mut self.emit.library);
        emit.written = self.emit.written;
        emit.enter();
        let local = Local { home: self.library.next_home(), ..Local::default() };
        Surroundings {
            emit: std::mem::replace(&mut self.emit, emit),
            local: std::mem::replace(&mut self.local, local),
        }
    }

    /// Ends the new function, and continues with the one put aside.
    pub(super) fn enter_function<T>(
        &mut self,
        outside: Surroundings,
        finish: impl FnOnce(Emit) -> T,
    ) -> T {
        let mut emit = std::mem::replace(&mut self.emit, outside.emit);
        self.emit.library = std::mem::take(&mut emit.library);
        self.emit.written = emit.written;
        self.local = outside.local;
        finish(emit)
    }
}

/// The curried parameters of a function.
pub(super) fn parameters(code: &Code) -> Vec<Var> {
    let CodeKind::Lambda { var, body, .. } = &code.kind else { return Vec::new() };
    std::iter::once(var).chain(lambdas(body).0).cloned().collect()
}
