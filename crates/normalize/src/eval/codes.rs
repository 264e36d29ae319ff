//! The codes of functions, and what is known of those that are not simply written out: recursive
//! ones, those that are called for the size of the program, and those with rules.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_core::{Ruled, Term, TermKind, Ty, Var};
use lambada_source::Span;

use crate::alpha::alike;
use crate::lambdas;
use crate::val::{Code, CodeKind, Pullback};

/// A λ of a function with rules: the one that takes the next parameter after the first `captured`
/// and some parameters have been taken.
#[derive(Debug)]
pub(super) struct RuledAt {
    pub ruled: Ruled,
    pub span: Span,
    /// The environment of the λ: the free variables of function and rules, and the parameters
    /// before.
    pub free: Rc<[Var]>,
    pub captured: usize,
}

/// All codes.
#[derive(Default)]
pub(super) struct Codes {
    /// By number.
    all: Vec<Rc<Code>>,
    /// Codes of λs, by the variable.
    by_var: HashMap<u32, Rc<Code>>,
    pullbacks: Vec<Rc<Code>>,
    /// Codes of tangents, by the type of the function.
    tangents: HashMap<Ty, Rc<Code>>,
    /// By the variables of the λs that recursive functions are: what they are called.
    recursive: HashMap<u32, Rc<str>>,
    /// The variables of the λs of functions that are called as if they were recursive.
    repeated: HashSet<u32>,
    /// By the variables of the λs of functions with rules.
    ruled: HashMap<u32, Rc<RuledAt>>,
}

impl Codes {
    /// Keeps the codes for another attempt, but for pullbacks: their maps are written anew.
    pub fn again(self) -> Codes {
        Codes { pullbacks: Vec::new(), ..self }
    }

    /// A code with the next number.
    pub fn number(&mut self, kind: CodeKind) -> Rc<Code> {
        let code = Rc::new(Code { number: self.all.len() as i64, kind });
        self.all.push(code.clone());
        code
    }

    /// The code of this number.
    pub fn of(&self, number: i64) -> Rc<Code> {
        self.all[number as usize].clone()
    }

    /// The code of the λ of this variable, if it has one.
    pub fn known(&self, var: &Var) -> Option<Rc<Code>> {
        self.by_var.get(&var.id).cloned()
    }

    /// The code of a λ that belongs to no `let rec`.
    pub fn lambda(&mut self, var: &Var, body: &Term) -> Rc<Code> {
        let free = match self.ruled.get(&var.id) {
            Some(at) => at.free.clone(),
            None => body.free_vars().into_iter().filter(|x| x != var).collect(),
        };
        self.sibling(var, body, free, Rc::from([]))
    }

    /// The code of a λ with these free variables, which sees its siblings.
    pub fn sibling(
        &mut self,
        var: &Var,
        body: &Term,
        free: Rc<[Var]>,
        siblings: Rc<[(Var, Term)]>,
    ) -> Rc<Code> {
        if let Some(code) = self.known(var) {
            return code;
        }
        let kind = CodeKind::Lambda { var: var.clone(), body: body.clone(), free, siblings };
        let code = self.number(kind);
        self.by_var.insert(var.id, code.clone());
        code
    }

    /// The code of a pullback: one that is known already, if they are alike.
    pub fn pullback(&mut self, pullback: Pullback) -> Rc<Code> {
        let is_alike =
            |code: &&Rc<Code>| matches!(&code.kind, CodeKind::Pullback(p) if alike(p, &pullback));
        if let Some(code) = self.pullbacks.iter().find(is_alike) {
            return code.clone();
        }
        let code = self.number(CodeKind::Pullback(pullback));
        self.pullbacks.push(code.clone());
        code
    }

    /// The code of the tangents of functions of a type.
    pub fn tangent(&mut self, ty: &Ty, span: Span) -> Rc<Code> {
        if let Some(code) = self.tangents.get(ty) {
            return code.clone();
        }
        let code = self.number(CodeKind::Tangent { ty: ty.clone(), span });
        self.tangents.insert(ty.clone(), code.clone());
        code
    }

    /// The parameters that a function takes one after the other belong to a recursive function of
    /// this name.
    pub fn mark_recursive(&mut self, body: &Term, name: &Rc<str>) {
        for var in lambdas(body.without_rules()).0 {
            self.recursive.entry(var.id).or_insert_with(|| name.clone());
        }
    }

    /// The name of the recursive function that the code is of.
    pub fn recursive(&self, code: &Code) -> Option<Rc<str>> {
        self.recursive.get(&code.var()?.id).cloned()
    }

    /// The parameters that a function takes one after the other belong to one that is called for
    /// the size of the program alone.
    pub fn mark_repeated(&mut self, body: &Term) {
        self.repeated.extend(lambdas(body).0.iter().map(|var| var.id));
    }

    /// Whether the function is called for the size of the program alone.
    pub fn is_repeated(&self, code: &Code) -> bool {
        code.var().is_some_and(|var| self.repeated.contains(&var.id))
    }

    /// The rules of a function that waits for parameters.
    pub fn rules(&self, code: &Code) -> Option<Rc<RuledAt>> {
        self.ruled.get(&code.var()?.id).cloned()
    }

    /// The λs of a function, if it has rules, belong to it. `free`: the environment, if that is not
    /// what the term captures.
    pub fn mark_rules(&mut self, term: &Term, free: Option<Rc<[Var]>>) {
        let TermKind::Ruled(ruled) = term.kind() else { return };
        let captured: Vec<Var> = term.free_vars();
        let (mut before, mut function) = (captured.clone(), &ruled.function);
        let mut first = free;
        for _ in ruled.signature().0 {
            let TermKind::Lam(var, body) = function.kind() else { return };
            let free = first.take().unwrap_or_else(|| before.clone().into());
            let count = free.len() - (before.len() - captured.len());
            let at = RuledAt { ruled: (**ruled).clone(), span: term.span(), free, captured: count };
            self.ruled.entry(var.id).or_insert_with(|| Rc::new(at));
            before.push(var.clone());
            function = body;
        }
    }
}
