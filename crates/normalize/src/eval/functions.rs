//! Functions: closures are static values, application is inlining. Where one of several closures may be meant, application tests the tag.

use std::rc::Rc;

use lambada_anf::{Atom, Exp, LoopKind, Stm};
use lambada_core::{DefId, Term, TermKind, Ty, Var};

use super::{Evaluator, Hint};
use crate::Eval;
use crate::merge::ill_typed;
use crate::val::{Closure, Code, CodeKind, FunVal, Leaf, Val, VariantVal};

impl Evaluator<'_> {
    /// `λx. body` with the values of its free variables.
    pub(super) fn lambda(&mut self, var: &Var, body: &Term) -> Eval<Val> {
        let code = self.code(var, body);
        let CodeKind::Lambda { free, .. } = &code.kind else { return Err(ill_typed()) };
        let env = free.iter().map(|x| self.lookup(x)).collect::<Eval<Vec<Val>>>()?;
        Ok(Val::closure(code, env))
    }

    fn code(&mut self, var: &Var, body: &Term) -> Rc<Code> {
        if let Some(code) = self.codes.get(&var.id) {
            return code.clone();
        }
        let free = body.free_vars().into_iter().filter(|x| x != var).collect();
        let code = self.number(CodeKind::Lambda { var: var.clone(), body: body.clone(), free });
        self.codes.insert(var.id, code.clone());
        code
    }

    /// A code with the next number.
    pub(super) fn number(&mut self, kind: CodeKind) -> Rc<Code> {
        self.numbers += 1;
        Rc::new(Code { number: self.numbers - 1, kind })
    }

    /// `f x`, of the given type.
    pub(super) fn apply(&mut self, f: &Val, x: Val, ty: &Ty, hint: Hint) -> Eval<Val> {
        let Val::Fun(fun) = f else { return Err(ill_typed()) };
        if let Some(closure) = fun.known() {
            return self.call(closure, x, hint);
        }
        if fun.alternatives.is_empty() {
            return Ok(absent(self.program, ty));
        }
        let tag = self.emit.force(&fun.tag);
        let numbers: Vec<i64> = fun.alternatives.iter().map(|c| c.code.number).collect();
        self.select(tag, &numbers, hint, &mut |this, k| {
            this.call(&fun.alternatives[k], x.clone(), hint)
        })
    }

    fn call(&mut self, closure: &Closure, x: Val, hint: Hint) -> Eval<Val> {
        match &closure.code.kind {
            CodeKind::Lambda { var, body, free } => self.scoped(|this| {
                free.iter().zip(&closure.env).for_each(|(y, value)| this.bind(y, value.clone()));
                this.emit.hint = Some(var.hint.clone());
                this.bind(var, x);
                this.emit.hint = None;
                this.eval(body, hint)
            }),
            CodeKind::Pullback(pullback) => self.pull(pullback, &closure.env, &x),
        }
    }

    /// The entry point, applied to all its arguments.
    pub fn entry(&mut self, id: DefId, arguments: Vec<Val>, ty: &Ty) -> Eval<Val> {
        let mut value = self.global(id)?;
        for x in arguments {
            value = self.apply(&value, x, ty, None)?;
        }
        Ok(value)
    }

    /// A definition. One that is not a function is evaluated once: at the beginning, if it cannot fail.
    pub(super) fn global(&mut self, id: DefId) -> Eval<Val> {
        let body = self.program.def(id).body.clone();
        if let TermKind::Lam(x, inner) = body.kind() {
            return self.lambda(x, inner);
        }
        if let Some(value) = self.constants.get(&id)
            && self.is_visible(value)
        {
            return Ok(value.clone());
        }
        let value = match self.at_the_beginning(&body)? {
            Some(value) => value,
            None => self.eval(&body, Some(&self.program.def(id).name))?,
        };
        self.constants.insert(id, value.clone());
        Ok(value)
    }

    /// The value of a closed term, computed in the body of the function; none if that may fail where the program does not.
    fn at_the_beginning(&mut self, term: &Term) -> Eval<Option<Val>> {
        if self.emit.level() == 0 {
            return Ok(None);
        }
        let inner = self.emit.open.split_off(1);
        let mark = self.emit.checkpoint();
        let value = self.eval(term, None)?;
        let fails = self.emit.stms()[mark.stms..].iter().any(may_fail);
        if fails {
            self.emit.rewind(mark);
        }
        self.emit.open.extend(inner);
        Ok((!fails).then_some(value))
    }

    fn is_visible(&self, value: &Val) -> bool {
        let mut visible = true;
        let mut leaves = true;
        value.visit(
            &mut |leaf| leaves &= leaf.atoms().all(|a| self.emit.is_visible(a)),
            &mut |size| visible &= self.emit.is_visible(size),
        );
        visible && leaves
    }
}

impl FunVal {
    /// The closure, if it is known which.
    fn known(&self) -> Option<&Closure> {
        match self.tag.constant() {
            Some(tag) => self.alternatives.iter().find(|c| c.code.number == tag.int()),
            None => self.alternatives.first().filter(|_| self.alternatives.len() == 1),
        }
    }
}

/// May running it fail, or not end?
pub(crate) fn may_fail(stm: &Stm) -> bool {
    matches!(&stm.exp, Exp::Check { .. } | Exp::Loop { kind: LoopKind::While(_), .. })
        || stm.exp.blocks().iter().any(|block| block.stms.iter().any(may_fail))
}

/// Some value of the type, for code that is never reached: the element of an empty array.
pub(super) fn absent(program: &lambada_core::Program, ty: &Ty) -> Val {
    match ty {
        Ty::Scalar(elem) => Val::scalar(Atom::Lit(elem.zero())),
        Ty::Tuple(_) | Ty::Record(_) => {
            Val::tuple(ty.components().iter().map(|t| absent(program, t)).collect::<Vec<_>>())
        }
        Ty::Array(elem) => Val::array(Atom::int(0), same(&absent(program, elem))),
        Ty::Fun(..) => {
            Val::Fun(Rc::new(FunVal { tag: Leaf::scalar(Atom::int(0)), alternatives: Vec::new() }))
        }
        Ty::Variant(id) => {
            let fields = vec![None; program.type_decl(*id).constructors.len()];
            Val::Variant(Rc::new(VariantVal { tag: Leaf::scalar(Atom::int(0)), fields }))
        }
    }
}

/// The family of equal elements.
pub(super) fn same(value: &Val) -> Val {
    let on_leaf = &mut |leaf: &Leaf| {
        let axes = std::iter::once(false).chain(leaf.axes.iter().copied()).collect();
        Leaf { axes, ..leaf.clone() }
    };
    value.map(on_leaf, &mut |size| size)
}
