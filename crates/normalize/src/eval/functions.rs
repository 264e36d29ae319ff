//! Functions: closures are static values, application is inlining. If one of several closures may
//! be applied, the code tests the tag.

use lambada_anf::{Atom, Elem, Stm};
use lambada_core::{DefId, Term, TermKind, Ty, Var};

use super::calls::parameters;
use super::rules::functions;
use super::rules::kernels;
use super::{Evaluator, Hint, pullbacks, rules, shared, sketches, slots, state, unroll};
use crate::val::{Closure, CodeKind, Leaf, Val};
use crate::{Eval, ill_typed, lambdas, taken};

impl Evaluator<'_> {
    /// `λx. body` with the values of its free variables.
    pub(super) fn lambda(&mut self, var: &Var, body: &Term) -> Eval<Val> {
        let code = self.codes.lambda(var, body);
        let CodeKind::Lambda { free, .. } = &code.kind else { return Err(ill_typed()) };
        let env = free.iter().map(|x| self.lookup(x)).collect::<Eval<Vec<Val>>>()?;
        Ok(Val::closure(code, env))
    }

    /// `f x y …`: a curried function is entered once, with all its arguments.
    pub(super) fn application(&mut self, term: &Term, hint: Hint) -> Eval<Val> {
        let mut arguments = Vec::new();
        let mut head = term;
        while let TermKind::App(f, x) = head.kind() {
            arguments.push((x, head.ty()));
            head = f;
        }
        let mut value = self.eval(head, None)?;
        while !arguments.is_empty() {
            let first = arguments.len().saturating_sub(arity(&value));
            let (mut xs, mut ty) = (Vec::new(), term.ty());
            for (x, result) in arguments.drain(first..).rev() {
                xs.push(self.eval(x, None)?);
                ty = result;
            }
            let hint = if arguments.is_empty() { hint } else { None };
            value = self.apply_to(&value, xs, ty, hint)?;
        }
        Ok(value)
    }

    /// `f x`, of type `ty`.
    pub(super) fn apply(&mut self, f: &Val, x: Val, ty: &Ty, hint: Hint) -> Eval<Val> {
        self.apply_to(f, vec![x], ty, hint)
    }

    /// `f x y …`, of type `ty`, with at most as many arguments as the function's known arity.
    fn apply_to(&mut self, f: &Val, xs: Vec<Val>, ty: &Ty, hint: Hint) -> Eval<Val> {
        if let Val::Node(node) = f {
            return self.apply_dynamic(node, &xs[0], hint);
        }
        let fun = f.as_fun()?;
        if let Some(closure) = fun.known() {
            return self.call(closure, xs, ty, hint);
        }
        if fun.alternatives.is_empty() {
            return Ok(self.absent(ty));
        }
        let tag = self.emit.force(&fun.tag);
        let numbers: Vec<i64> = fun.alternatives.iter().map(|c| c.code.number).collect();
        self.select(tag, &numbers, hint, &mut |this, k| {
            this.call(&fun.alternatives[k], xs.clone(), ty, hint)
        })
    }

    fn call(&mut self, closure: &Closure, xs: Vec<Val>, ty: &Ty, hint: Hint) -> Eval<Val> {
        self.growth.enter(&closure.code, self.emit.written)?;
        let is_complete = xs.len() == parameters(&closure.code).len();
        let is_called = is_complete && self.codes.recursive(&closure.code).is_some();
        let value = match self.codes.rules(&closure.code).filter(|_| is_complete) {
            Some(at) if is_called || at.ruled.known.is_some() || self.may_be_differentiated() => {
                rules::invoke_ruled(self, &at, closure, &xs, ty, hint)?
            }
            Some(at) if !is_called => kernels::inlined_with_rules(self, &at, closure, xs, hint)?,
            None if !is_called => self.inlined(closure, xs, hint)?,
            None if self.codes.is_repeated(&closure.code) => self.invoke(closure, &xs, ty, hint)?,
            Some(_) | None => match unroll::unrolled(self, closure, &xs, hint)? {
                Some(value) => value,
                None => self.invoke(closure, &xs, ty, hint)?,
            },
        };
        self.growth.leave();
        Ok(value)
    }

    /// A call as the body of the function.
    pub(super) fn inlined(&mut self, closure: &Closure, xs: Vec<Val>, hint: Hint) -> Eval<Val> {
        match &closure.code.kind {
            CodeKind::Lambda { var, body, free, siblings } => self.scoped(|this| {
                this.bind_siblings(siblings, &closure.env)?;
                free.iter().zip(&closure.env).for_each(|(y, value)| this.bind(y, value.clone()));
                let own = body.span().file == this.file;
                let (vars, body) = taken(var, body, xs.len());
                for (var, x) in vars.into_iter().zip(xs) {
                    if own {
                        state::name_value(this, var, &x);
                    }
                    this.emit.hint = Some(var.hint.clone());
                    this.bind(var, x);
                    this.emit.hint = None;
                }
                this.eval(body, hint)
            }),
            CodeKind::Tangent { ty, span } => {
                functions::tangent_at(self, ty, *span, &closure.env, &xs[0])
            }
            CodeKind::Adder { to, span } => {
                functions::add_term(self, to, *span, &closure.env, &xs[0])
            }
            CodeKind::Pullback(pullback) => pullbacks::pull(self, pullback, &closure.env, &xs[0]),
        }
    }

    /// The entry point, applied to all its arguments.
    pub fn entry(&mut self, id: DefId, arguments: Vec<Val>, ty: &Ty) -> Eval<Val> {
        self.file = self.program.def(id).span.file;
        let mut value = self.global(id)?;
        let body = self.program.def(id).body.clone();
        let mut arguments = arguments.into_iter();
        let mut rest = body.ty();
        while arguments.len() > 0 {
            let xs: Vec<Val> = arguments.by_ref().take(arity(&value)).collect();
            // A function made at run time takes the remaining arguments.
            for _ in &xs {
                if let Ty::Fun(_, to) = rest {
                    rest = to;
                }
            }
            let own = if arguments.len() == 0 { ty } else { rest };
            value = self.apply_to(&value, xs, own, None)?;
        }
        Ok(value)
    }

    /// The value of a definition. A definition other than a function is evaluated once, at the
    /// start if it cannot fail.
    pub(super) fn global(&mut self, id: DefId) -> Eval<Val> {
        let body = self.program.def(id).body.clone();
        if body.is_function() {
            let name = &self.program.def(id).name;
            if self.program.is_recursive(id) {
                self.codes.mark_recursive(&body, name);
            } else if self.repeated.contains(&id) {
                self.codes.mark_recursive(&body, name);
                self.codes.mark_repeated(&body);
            }
            let value = self.eval(&body, None)?;
            self.growth.name(&value, &self.program.def(id).name);
            return Ok(value);
        }
        if let Some(value) = shared::evaluated(self, id) {
            return Ok(value.clone());
        }
        let value = match self.at_the_beginning(&body)? {
            Some(value) => value,
            None => self.eval(&body, Some(&self.program.def(id).name))?,
        };
        self.local.env.set_constant(id, Some(value.clone()));
        Ok(value)
    }

    /// The value of a closed term, computed at the start of the function's body; `None` if it may
    /// fail where the program does not.
    pub(super) fn at_the_beginning(&mut self, term: &Term) -> Eval<Option<Val>> {
        if self.emit.level() == 0 {
            return Ok(None);
        }
        let inner = self.emit.suspend(0);
        let mark = self.emit.checkpoint();
        let value = self.eval(term, None)?;
        let fails = self.emit.stms()[mark.stms..].iter().any(Stm::may_not_return);
        if fails {
            self.emit.rewind(mark);
        }
        self.emit.resume(inner);
        Ok((!fails).then_some(value))
    }

    pub(super) fn is_visible(&self, value: &Val) -> bool {
        let (mut leaves, mut sizes) = (true, true);
        value.visit(
            &mut |leaf| leaves &= leaf.atoms().all(|a| self.emit.is_visible(a)),
            &mut |size| sizes &= self.emit.is_visible(size),
        );
        leaves && sizes
    }
}

/// The number of curried arguments of a function, as far as known, at least 1. No code runs between
/// these.
fn arity(f: &Val) -> usize {
    let known = if let Val::Fun(fun) = f { fun.known() } else { None };
    let Some(CodeKind::Lambda { body, .. }) = known.map(|closure| &closure.code.kind) else {
        return 1;
    };
    1 + lambdas(body).0.len()
}

impl Evaluator<'_> {
    /// A value of the type, for unreachable code: the element of an empty array.
    pub(super) fn absent(&mut self, ty: &Ty) -> Val {
        match ty {
            Ty::Scalar(elem) => Val::scalar(Atom::Lit(elem.zero())),
            Ty::Tuple(_) | Ty::Record(_) => {
                let items = ty.components();
                Val::tuple(items.iter().map(|t| self.absent(t)).collect::<Vec<_>>())
            }
            Ty::Array(elem) => Val::array(Atom::int(0), self.absent(elem).same()),
            Ty::Fun(..) => Val::fun(Leaf::scalar(Atom::int(0)), Vec::new()),
            Ty::Variant(id) if self.types.is_recursive(*id) => {
                let node = slots::node_type(self, ty);
                sketches::node_val(self, ty, Leaf::scalar(Atom::int(0)).of(Elem::Ref(node)))
            }
            Ty::Variant(id) => {
                let fields = vec![None; self.program.type_decl(*id).constructors.len()];
                Val::variant(Leaf::scalar(Atom::int(0)), fields)
            }
        }
    }
}
