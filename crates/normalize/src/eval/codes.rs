//! The codes of functions, and the marks of those that are not simply inlined: recursive functions,
//! functions called to limit program size, and functions with rules.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_core::{Ruled, Term, TermKind, Ty, Var};
use lambada_source::Span;

use crate::alpha::alike;
use crate::lambdas;
use crate::val::{Code, CodeKind, Pullback};

/// A λ of a function with rules: the one that takes the next parameter after the first `captured`
/// and some earlier parameters.
#[derive(Debug)]
pub(super) struct RuledAt {
    pub ruled: Ruled,
    pub span: Span,
    /// The environment of the λ: the free variables of function and rules, and the earlier
    /// parameters.
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
    /// Names of recursive functions, by the variables of their λs.
    recursive: HashMap<u32, Rc<str>>,
    /// The variables of the λs of functions called to limit program size.
    repeated: HashSet<u32>,
    /// Functions with rules, by the variables of their λs.
    ruled: HashMap<u32, Rc<RuledAt>>,
}

impl Codes {
    /// Keeps the codes for another attempt, except pullbacks, whose maps are written anew.
    pub fn again(self) -> Codes {
        Codes { pullbacks: Vec::new(), ..self }
    }

    /// A code with the next number.
    pub fn number(&mut self, kind: CodeKind) -> Rc<Code> {
        let code = Rc::new(Code { number: self.all.len() as i64, kind });
        self.all.push(code.clone());
        code
    }

    /// The code with this number.
    pub fn of(&self, number: i64) -> Rc<Code> {
        self.all[number as usize].clone()
    }

    /// The code of the λ of this variable, if any.
    pub fn known(&self, var: &Var) -> Option<Rc<Code>> {
        self.by_var.get(&var.id).cloned()
    }

    /// The code of a λ outside `let rec`.
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

    /// The code of a pullback: an existing one, if they are α-equivalent.
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

    /// Marks the curried parameters of a function as those of a recursive function with this name.
    pub fn mark_recursive(&mut self, body: &Term, name: &Rc<str>) {
        for var in lambdas(body.without_rules()).0 {
            self.recursive.entry(var.id).or_insert_with(|| name.clone());
        }
    }

    /// The name of the code's recursive function.
    pub fn recursive(&self, code: &Code) -> Option<Rc<str>> {
        self.recursive.get(&code.var()?.id).cloned()
    }

    /// Marks the curried parameters of a function as those of one called only to limit program
    /// size.
    pub fn mark_repeated(&mut self, body: &Term) {
        self.repeated.extend(lambdas(body).0.iter().map(|var| var.id));
    }

    /// Whether the function is called only to limit program size.
    pub fn is_repeated(&self, code: &Code) -> bool {
        code.var().is_some_and(|var| self.repeated.contains(&var.id))
    }

    /// The rules of a function that still lacks parameters.
    pub fn rules(&self, code: &Code) -> Option<Rc<RuledAt>> {
        self.ruled.get(&code.var()?.id).cloned()
    }

    /// Marks the λs of a function with rules. `free`: the environment, if it differs from the
    /// term's captured variables.
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
