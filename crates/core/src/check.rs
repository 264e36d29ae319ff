//! The checker: `Γ ⊢ t : τ` for every node, by rules that share no code with the smart
//! constructors.
//!
//! *Gives*, for a program that passes:
//!
//! - Every node has the type it carries; every variable is in scope, has one type and is bound
//!   once.
//! - A definition is closed and mentions only definitions of earlier groups and of its own;
//!   recursive definitions are functions.
//! - An accumulator is mentioned only by `Add`s inside its `accumulate`, whose body has a
//!   first-order type, so none outlives it.
//! - Only functions between first-order types are differentiated; rules have the types that `rules`
//!   defines.

use std::collections::{HashMap, HashSet};

use lambada_prim::{ArrayPrim, Prim, ReduceOp, ScalarTy};
use lambada_source::Site;

use crate::print::print_type;
use crate::{Arm, Def, DefId, LoopKind, Program, Ruled, SizedTy, Term, TermKind, Ty, TypeId, Var};

/// Checks that the program is well-formed and well-typed. The error describes the mistake in terms
/// of core: it is a bug in the compiler.
pub fn check(program: &Program) -> Result<(), String> {
    let mut checker = Checker {
        program,
        def: 0,
        bound: HashSet::new(),
        scope: HashMap::new(),
        accumulators: HashMap::new(),
    };
    for decl in &program.types {
        for (name, args) in &decl.constructors {
            args.iter()
                .try_for_each(|ty| checker.ty(ty))
                .map_err(|e| format!("type `{}`, constructor `{name}`: {e}", decl.name))?;
        }
    }
    let ordered = program.defs.windows(2).all(|pair| pair[0].group <= pair[1].group);
    require(ordered, || "the groups of the definitions are not in order".to_string())?;
    for (k, def) in program.defs.iter().enumerate() {
        checker.def = k;
        checker.definition(def).map_err(|e| format!("definition `{}`: {e}", def.name))?;
    }
    Ok(())
}

/// Whether the type is free of functions, also in the fields of its variants.
pub fn first_order(program: &Program, ty: &Ty) -> bool {
    fn visit(program: &Program, ty: &Ty, seen: &mut HashSet<TypeId>) -> bool {
        match ty {
            Ty::Scalar(_) => true,
            Ty::Tuple(items) => items.iter().all(|ty| visit(program, ty, seen)),
            Ty::Record(fields) => fields.iter().all(|(_, ty)| visit(program, ty, seen)),
            Ty::Array(elem) => visit(program, elem, seen),
            Ty::Fun(..) => false,
            Ty::Variant(id) => {
                !seen.insert(*id)
                    || program
                        .type_decl(*id)
                        .constructors
                        .iter()
                        .all(|(_, args)| args.iter().all(|ty| visit(program, ty, seen)))
            }
        }
    }
    visit(program, ty, &mut HashSet::new())
}

type Checked<T = ()> = Result<T, String>;

struct Checker<'a> {
    program: &'a Program,
    /// The definition that is being checked.
    def: usize,
    /// All variables bound so far, anywhere.
    bound: HashSet<u32>,
    /// The variables in scope, with their types.
    scope: HashMap<u32, Ty>,
    /// The accumulators in scope, with the types of their contents.
    accumulators: HashMap<u32, Ty>,
}

/// Succeeds if `ok`.
fn require(ok: bool, message: impl FnOnce() -> String) -> Checked {
    if ok { Ok(()) } else { Err(message()) }
}

impl Checker<'_> {
    fn definition(&mut self, def: &Def) -> Checked {
        self.term(&def.body)?;
        let mut ty = def.body.ty();
        for (name, param) in &def.signature.params {
            let Ty::Fun(from, to) = ty else {
                return Err(format!("the signature has a parameter `{name}` too many"));
            };
            require(self.sized(param, from), || {
                format!("the signature's parameter `{name}` does not have type {}", self.show(from))
            })?;
            ty = to;
        }
        match &def.signature.result {
            Some(result) => require(self.sized(result, ty), || {
                format!("the signature's result does not have type {}", self.show(ty))
            }),
            None => Ok(()),
        }
    }

    /// Whether the sized type has this type.
    fn sized(&self, sized: &SizedTy, ty: &Ty) -> bool {
        match (sized, ty) {
            (SizedTy::Scalar(a), Ty::Scalar(b)) => a == b,
            (SizedTy::Tuple(items), Ty::Tuple(types)) => {
                items.len() == types.len()
                    && items.iter().zip(types.iter()).all(|(item, ty)| self.sized(item, ty))
            }
            (SizedTy::Record(fields), Ty::Record(types)) => {
                fields.len() == types.len()
                    && fields
                        .iter()
                        .zip(types.iter())
                        .all(|((a, item), (b, ty))| a == b && self.sized(item, ty))
            }
            (SizedTy::Array(_, item), Ty::Array(elem)) => self.sized(item, elem),
            (SizedTy::Fun(from, to), Ty::Fun(a, b)) => self.sized(from, a) && self.sized(to, b),
            (SizedTy::Variant(a), Ty::Variant(b)) => a == b,
            (
                SizedTy::Scalar(_)
                | SizedTy::Tuple(_)
                | SizedTy::Record(_)
                | SizedTy::Array(..)
                | SizedTy::Fun(..)
                | SizedTy::Variant(_),
                _,
            ) => false,
        }
    }

    /// Checks that a type is well-formed.
    fn ty(&self, ty: &Ty) -> Checked {
        match ty {
            Ty::Scalar(_) => Ok(()),
            Ty::Tuple(items) => items.iter().try_for_each(|ty| self.ty(ty)),
            Ty::Record(fields) => {
                let sorted = fields.windows(2).all(|pair| pair[0].0 < pair[1].0);
                require(sorted, || {
                    "the fields of a record are not in alphabetical order".to_string()
                })?;
                fields.iter().try_for_each(|(_, ty)| self.ty(ty))
            }
            Ty::Array(elem) => self.ty(elem),
            Ty::Fun(from, to) => self.ty(from).and_then(|()| self.ty(to)),
            Ty::Variant(id) => require((id.0 as usize) < self.program.types.len(), || {
                format!("there is no variant type {}", id.0)
            }),
        }
    }

    fn show(&self, ty: &Ty) -> String {
        print_type(self.program, ty)
    }

    fn bind(&mut self, var: &Var) -> Checked {
        self.ty(&var.ty)?;
        require(var.id < self.program.next_var, || {
            format!("variable `{}` has an id that `next_var` does not know", var.hint)
        })?;
        require(self.bound.insert(var.id), || format!("variable `{}` is bound twice", var.hint))?;
        self.scope.insert(var.id, var.ty.clone());
        Ok(())
    }

    /// Runs a check inside the scope of variables.
    fn within<T>(
        &mut self,
        vars: &[&Var],
        inside: impl FnOnce(&mut Self) -> Checked<T>,
    ) -> Checked<T> {
        vars.iter().try_for_each(|var| self.bind(var))?;
        let result = inside(self)?;
        vars.iter().for_each(|var| drop(self.scope.remove(&var.id)));
        Ok(result)
    }

    fn same(&self, what: &str, found: &Ty, expected: &Ty) -> Checked {
        require(is_shared(found, expected) || found == expected, || {
            format!("{what} has type {}, not {}", self.show(found), self.show(expected))
        })
    }

    /// Checks a child and its type.
    fn expect(&mut self, what: &str, term: &Term, ty: &Ty) -> Checked {
        self.term(term)?;
        self.same(what, term.ty(), ty)
    }

    fn indices(&mut self, at: &[Term]) -> Checked {
        at.iter().try_for_each(|index| self.expect("an index", index, &Ty::INT))
    }

    /// Checks a term; iterates over its spine of `let`s.
    fn term(&mut self, term: &Term) -> Checked {
        let (mut rest, mut bound) = (term, Vec::new());
        while let TermKind::Let(x, t, s) = rest.kind() {
            self.expect(&format!("the value of `{}`", x.hint), t, &x.ty)?;
            self.same("a `let`", rest.ty(), s.ty())?;
            self.bind(x)?;
            bound.push(x.id);
            rest = s;
        }
        let ty = self.node(rest)?;
        self.same(&format!("a node that says so: {}", describe(rest.kind())), rest.ty(), &ty)?;
        bound.iter().for_each(|id| drop(self.scope.remove(id)));
        Ok(())
    }

    /// The type of a node, by the rule of its construct.
    fn node(&mut self, term: &Term) -> Checked<Ty> {
        match term.kind() {
            TermKind::Var(x) => self.variable(x),
            TermKind::Global(id) => self.global(*id),
            TermKind::Lit(value) => Ok(Ty::Scalar(value.ty())),
            TermKind::Never => Ok(term.ty().clone()),
            TermKind::Lam(x, body) => self
                .within(&[x], |c| c.term(body))
                .map(|()| Ty::fun(x.ty.clone(), body.ty().clone())),
            TermKind::App(..) => self.application(term),
            TermKind::Let(..) => self.term(term).map(|()| term.ty().clone()),
            TermKind::LetRec(functions, body) => self.let_rec(functions, body),
            TermKind::Tuple(items) => self.tuple(items, term.ty()),
            TermKind::Proj(t, k) => self.projection(t, *k),
            TermKind::Con(tag, args) => self.constructor(*tag, args, term.ty()),
            TermKind::Match(t, arms) => self.match_(t, arms),
            TermKind::If(c, t, s) => {
                self.expect("the condition of `if`", c, &Ty::BOOL)?;
                self.term(t)?;
                self.expect("the `else` branch", s, t.ty()).map(|()| t.ty().clone())
            }
            TermKind::Prim(prim, args) => self.prim(*prim, args),
            TermKind::Array(items) => self.array(items, term.ty()),
            TermKind::For(i, n, body) => {
                self.expect("the extent of `for`", n, &Ty::INT)?;
                self.same("the index of `for`", &i.ty, &Ty::INT)?;
                self.within(&[i], |c| c.term(body)).map(|()| Ty::array(body.ty().clone()))
            }
            TermKind::Dim(xs, axis) => {
                self.term(xs)?;
                self.elem(xs.ty(), axis + 1).map(|_| Ty::INT)
            }
            TermKind::Index(xs, at) => {
                self.term(xs)?;
                self.indices(at)?;
                require(!at.is_empty(), || "an index without indices".to_string())?;
                self.elem(xs.ty(), at.len())
            }
            TermKind::Update(xs, at, value) => {
                self.term(xs)?;
                self.indices(at)?;
                require(!at.is_empty(), || "an update without indices".to_string())?;
                let elem = self.elem(xs.ty(), at.len())?;
                self.expect("the new value", value, &elem).map(|()| xs.ty().clone())
            }
            TermKind::Reduce(op, xs) => self.reduce(*op, xs),
            TermKind::Inspect(_, value) => self.term(value).map(|()| value.ty().clone()),
            TermKind::ArrayPrim(prim, args) => self.array_prim(*prim, args),
            TermKind::Loop { state, init, kind, body } => self.loop_(state, init, kind, body),
            TermKind::Accumulate { acc, init, body } => self.accumulate(acc, init, body),
            TermKind::Add { acc, index, value } => self.add(acc, index, value),
            TermKind::Check { cond, site, values, body } => {
                self.expect("the condition of a check", cond, &Ty::BOOL)?;
                values
                    .iter()
                    .try_for_each(|value| self.expect("a value in a message", value, &Ty::INT))?;
                placeholders(site, values.len())?;
                self.term(body).map(|()| body.ty().clone())
            }
            TermKind::Jvp(f, x, dx) => {
                let (from, to) = self.differentiated(f)?;
                self.expect("the point", x, &from)?;
                self.expect("the tangent", dx, &from).map(|()| Ty::tuple([to.clone(), to]))
            }
            TermKind::Reach(f, x, marks) => {
                let (from, to) = self.differentiated(f)?;
                self.expect("the point", x, &from)?;
                self.expect("the marks", marks, &from).map(|()| to)
            }
            TermKind::Band(f, x) => {
                let (from, _) = self.differentiated(f)?;
                self.expect("the point", x, &from).map(|()| Ty::tuple([Ty::INT, Ty::INT]))
            }
            TermKind::Vjp(f, x) => {
                let (from, to) = self.differentiated(f)?;
                self.expect("the point", x, &from)
                    .map(|()| Ty::tuple([to.clone(), Ty::fun(to, from)]))
            }
            TermKind::Ruled(ruled) => self.ruled(ruled),
        }
    }

    fn variable(&self, x: &Var) -> Checked<Ty> {
        require(!self.accumulators.contains_key(&x.id), || {
            format!("accumulator `{}` is used as a value", x.hint)
        })?;
        let ty = self
            .scope
            .get(&x.id)
            .ok_or_else(|| format!("variable `{}` is not in scope", x.hint))?;
        self.same(&format!("a mention of `{}`", x.hint), &x.ty, ty)?;
        Ok(ty.clone())
    }

    fn global(&self, id: DefId) -> Checked<Ty> {
        let group = self.program.defs[self.def].group;
        let found = self.program.defs.get(id.0 as usize).filter(|def| def.group <= group);
        let found = found
            .ok_or_else(|| format!("it mentions definition {}, which is not earlier", id.0))?;
        if found.group == group {
            let both = self.program.defs[self.def].body.is_function() && found.body.is_function();
            require(both, || "a definition of a recursive group is not a function".to_string())?;
        }
        Ok(self.program.def(id).body.ty().clone())
    }

    /// An application; iterates over its spine.
    fn application(&mut self, term: &Term) -> Checked<Ty> {
        let (mut head, mut spine) = (term, Vec::new());
        while let TermKind::App(f, x) = head.kind() {
            spine.push((x, head));
            head = f;
        }
        self.term(head)?;
        let mut ty = head.ty().clone();
        for (x, node) in spine.into_iter().rev() {
            let Ty::Fun(from, to) = &ty else {
                return Err(format!("a value of type {} is applied", self.show(&ty)));
            };
            self.expect("an argument", x, from)?;
            self.same("an application", node.ty(), to)?;
            ty = (**to).clone();
        }
        Ok(ty)
    }

    fn let_rec(&mut self, functions: &[(Var, Term)], body: &Term) -> Checked<Ty> {
        let vars: Vec<&Var> = functions.iter().map(|(f, _)| f).collect();
        self.within(&vars, |c| {
            for (f, t) in functions {
                require(t.is_function(), || {
                    format!("`{}` of a `let rec` is not a function", f.hint)
                })?;
                c.expect(&format!("the value of `{}`", f.hint), t, &f.ty)?;
            }
            c.term(body)
        })?;
        Ok(body.ty().clone())
    }

    fn tuple(&mut self, items: &[Term], ty: &Ty) -> Checked<Ty> {
        self.ty(ty)?;
        require(matches!(ty, Ty::Tuple(_) | Ty::Record(_)), || {
            format!("a tuple has type {}", self.show(ty))
        })?;
        let types = ty.components();
        require(types.len() == items.len(), || {
            format!("a tuple of {} components has type {}", items.len(), self.show(ty))
        })?;
        items.iter().zip(&types).try_for_each(|(item, ty)| self.expect("a component", item, ty))?;
        Ok(ty.clone())
    }

    fn projection(&mut self, t: &Term, k: usize) -> Checked<Ty> {
        self.term(t)?;
        require(matches!(t.ty(), Ty::Tuple(_) | Ty::Record(_)), || {
            format!("a component of a value of type {}", self.show(t.ty()))
        })?;
        let component = if let Ty::Tuple(items) = t.ty() {
            items.get(k)
        } else if let Ty::Record(fields) = t.ty() {
            fields.get(k).map(|(_, ty)| ty)
        } else {
            None
        };
        component
            .cloned()
            .ok_or_else(|| format!("component {k} of a value of type {}", self.show(t.ty())))
    }

    /// The constructors of a variant type.
    fn variant(&self, ty: &Ty) -> Checked<&[(std::rc::Rc<str>, Vec<Ty>)]> {
        self.ty(ty)?;
        match ty {
            Ty::Variant(id) => Ok(&self.program.type_decl(*id).constructors),
            Ty::Scalar(_) | Ty::Tuple(_) | Ty::Record(_) | Ty::Array(_) | Ty::Fun(..) => {
                Err(format!("{} is not a variant", self.show(ty)))
            }
        }
    }

    fn constructor(&mut self, tag: usize, args: &[Term], ty: &Ty) -> Checked<Ty> {
        let (name, types) = self
            .variant(ty)?
            .get(tag)
            .cloned()
            .ok_or_else(|| format!("{} has no constructor {tag}", self.show(ty)))?;
        require(args.len() == types.len(), || {
            format!("constructor `{name}` has {} arguments, not {}", args.len(), types.len())
        })?;
        args.iter()
            .zip(&types)
            .try_for_each(|(arg, ty)| self.expect(&format!("an argument of `{name}`"), arg, ty))?;
        Ok(ty.clone())
    }

    fn match_(&mut self, t: &Term, arms: &[Arm]) -> Checked<Ty> {
        self.term(t)?;
        let constructors = self.variant(t.ty())?.to_vec();
        require(arms.len() == constructors.len(), || {
            format!("a match has {} arms, not {}", arms.len(), constructors.len())
        })?;
        for (arm, (name, types)) in arms.iter().zip(&constructors) {
            let found = arm.vars.len();
            require(found == types.len(), || {
                format!("the arm of `{name}` binds {found} variables, not {}", types.len())
            })?;
            for (var, ty) in arm.vars.iter().zip(types) {
                self.same(&format!("variable `{}` of the arm of `{name}`", var.hint), &var.ty, ty)?;
            }
            self.within(&arm.vars.iter().collect::<Vec<_>>(), |c| c.term(&arm.body))?;
            self.same(&format!("the arm of `{name}`"), arm.body.ty(), arms[0].body.ty())?;
        }
        arms.first()
            .map(|arm| arm.body.ty().clone())
            .ok_or_else(|| "a match without arms".to_string())
    }

    fn prim(&mut self, prim: Prim, args: &[Term]) -> Checked<Ty> {
        let types = prim.args();
        require(args.len() == types.len(), || {
            format!("`{}` has {} arguments, not {}", prim.name(), args.len(), types.len())
        })?;
        for (arg, ty) in args.iter().zip(types) {
            self.expect(&format!("an argument of `{}`", prim.name()), arg, &Ty::Scalar(*ty))?;
        }
        Ok(Ty::Scalar(prim.result()))
    }

    fn array(&mut self, items: &[Term], ty: &Ty) -> Checked<Ty> {
        self.ty(ty)?;
        let elem = self.elem(ty, 1)?;
        items.iter().try_for_each(|item| self.expect("an element", item, &elem))?;
        Ok(ty.clone())
    }

    /// The type of the elements below `axes` axes.
    fn elem(&self, ty: &Ty, axes: usize) -> Checked<Ty> {
        let mut elem = ty;
        for _ in 0..axes {
            let Ty::Array(inner) = elem else {
                return Err(format!("a value of type {} does not have {axes} axes", self.show(ty)));
            };
            elem = inner;
        }
        Ok(elem.clone())
    }

    /// The rank of an array of scalars, and its scalar type.
    fn scalars(&self, ty: &Ty) -> Checked<(usize, ScalarTy)> {
        let (mut rank, mut elem) = (0, ty);
        while let Ty::Array(inner) = elem {
            (rank, elem) = (rank + 1, inner);
        }
        match elem {
            Ty::Scalar(scalar) => Ok((rank, *scalar)),
            Ty::Tuple(_) | Ty::Record(_) | Ty::Array(_) | Ty::Fun(..) | Ty::Variant(_) => {
                Err(format!("{} is not an array of scalars", self.show(ty)))
            }
        }
    }

    fn reduce(&mut self, op: ReduceOp, xs: &Term) -> Checked<Ty> {
        self.term(xs)?;
        let (rank, scalar) = self.scalars(xs.ty())?;
        let ok = op.accepts(scalar) && (rank == 1 || rank > 1 && op == ReduceOp::Add);
        require(ok, || {
            format!("no reduction `{}` of a value of type {}", op.name(), self.show(xs.ty()))
        })?;
        self.elem(xs.ty(), 1)
    }

    /// The type from the primitive's row. A primitive with rules is a function of the library.
    fn array_prim(&mut self, prim: ArrayPrim, args: &[Term]) -> Checked<Ty> {
        args.iter().try_for_each(|arg| self.term(arg).map(drop))?;
        let kinds = args.iter().map(|arg| self.scalars(arg.ty())).collect::<Checked<Vec<_>>>()?;
        let ranks: Vec<usize> = kinds.iter().map(|(rank, _)| *rank).collect();
        let reals = kinds.iter().all(|(_, scalar)| *scalar == ScalarTy::Real);
        let version = prim.version(&ranks).filter(|_| reals && prim.is_contraction());
        let version = version.ok_or_else(|| {
            let types: Vec<String> = args.iter().map(|arg| self.show(arg.ty())).collect();
            format!("no `{}` of values of types {}", prim.name(), types.join(" and "))
        })?;
        Ok((0..version.result().len()).fold(Ty::REAL, |ty, _| Ty::array(ty)))
    }

    fn loop_(&mut self, state: &Var, init: &Term, kind: &LoopKind, body: &Term) -> Checked<Ty> {
        self.expect("the first state", init, &state.ty)?;
        let inside = |c: &mut Self| c.expect("the next state", body, &state.ty);
        match kind {
            LoopKind::For(i, n, checkpoint) => {
                self.expect("the extent of `loop`", n, &Ty::INT)?;
                if let Some(states) = checkpoint.states() {
                    self.expect("the number of states of `checkpoint`", states, &Ty::INT)?;
                }
                self.same("the index of `loop`", &i.ty, &Ty::INT)?;
                self.within(&[state, i], inside)?;
            }
            LoopKind::While(cond) => self.within(&[state], |c| {
                c.expect("the condition of `while`", cond, &Ty::BOOL)?;
                inside(c)
            })?,
        }
        Ok(state.ty.clone())
    }

    fn accumulate(&mut self, acc: &Var, init: &Term, body: &Term) -> Checked<Ty> {
        self.expect("the first value of an accumulator", init, &acc.ty)?;
        let (_, scalar) = self.scalars(&acc.ty)?;
        require(scalar != ScalarTy::Bool, || {
            format!("accumulator `{}` does not hold numbers", acc.hint)
        })?;
        self.bind(acc)?;
        self.scope.remove(&acc.id);
        self.accumulators.insert(acc.id, acc.ty.clone());
        self.term(body)?;
        self.accumulators.remove(&acc.id);
        require(first_order(self.program, body.ty()), || {
            format!("the body of an `accumulate` has type {}", self.show(body.ty()))
        })?;
        Ok(Ty::tuple([body.ty().clone(), acc.ty.clone()]))
    }

    fn add(&mut self, acc: &Var, index: &[Term], value: &Term) -> Checked<Ty> {
        let missing = || format!("accumulator `{}` is not in scope", acc.hint);
        let ty = self.accumulators.get(&acc.id).cloned().ok_or_else(missing)?;
        self.same(&format!("a mention of `{}`", acc.hint), &acc.ty, &ty)?;
        self.indices(index)?;
        let elem = self.elem(&ty, index.len())?;
        self.expect("what is added", value, &elem).map(|()| Ty::unit())
    }

    /// A function with rules: one λ for each parameter, and for each argument that a rule takes.
    fn ruled(&mut self, ruled: &Ruled) -> Checked<Ty> {
        let (params, result) = ruled.signature();
        require(first_order(self.program, &result), || {
            format!("`{}` has rules and gives a value of type {}", ruled.name, self.show(&result))
        })?;
        require(ruled.rules().next().is_some(), || format!("`{}` has no rules", ruled.name))?;
        self.lambdas(&ruled.function, params.len())?;
        if let Some(rule) = &ruled.jvp {
            require(!rule.adds, || "a rule `jvp` adds to cotangents".to_string())?;
            self.same("a rule `jvp`", rule.function.ty(), &ruled.jvp_ty(rule.takes_value))?;
            self.lambdas(&rule.function, 2 * params.len() + usize::from(rule.takes_value))?;
        }
        if let Some(rule) = &ruled.vjp {
            let ty = ruled.vjp_ty(rule.takes_value, rule.adds);
            self.same("a rule `vjp`", rule.function.ty(), &ty)?;
            let adders = params.iter().filter(|ty| rule.adds && matches!(ty, Ty::Fun(..))).count();
            let lambdas = params.len() + 1 + usize::from(rule.takes_value) + adders;
            self.lambdas(&rule.function, lambdas)?;
        }
        Ok(ruled.function.ty().clone())
    }

    /// Checks a term that begins with at least `count` λs, where `count` is positive.
    fn lambdas(&mut self, term: &Term, count: usize) -> Checked {
        let (mut inside, mut found) = (term, 0);
        while found < count
            && let TermKind::Lam(_, body) = inside.kind()
        {
            (inside, found) = (body, found + 1);
        }
        require(found == count && count > 0, || {
            format!("a function with rules, or a rule, has {found} λs and not {count}")
        })?;
        self.term(term)
    }

    /// Argument and result type of a differentiated function.
    fn differentiated(&mut self, f: &Term) -> Checked<(Ty, Ty)> {
        self.term(f)?;
        let Ty::Fun(from, to) = f.ty() else {
            return Err(format!("a value of type {} is differentiated", self.show(f.ty())));
        };
        let ok = first_order(self.program, from) && first_order(self.program, to);
        require(ok, || {
            format!(
                "a function of type {} is differentiated, which is not first-order",
                self.show(f.ty())
            )
        })?;
        Ok(((**from).clone(), (**to).clone()))
    }
}

/// Checks that a message mentions only existing values.
fn placeholders(site: &Site, values: usize) -> Checked {
    let mentioned = site
        .message
        .split('{')
        .skip(1)
        .filter_map(|piece| piece.split_once('}')?.0.parse::<usize>().ok());
    let missing = mentioned.max().filter(|k| *k >= values);
    require(missing.is_none(), || format!("the message {:?} has {values} values", site.message))
}

/// The name of a construct.
fn describe(kind: &TermKind) -> &'static str {
    match kind {
        TermKind::Var(_) => "variable",
        TermKind::Global(_) => "definition",
        TermKind::Lit(_) => "literal",
        TermKind::Never => "never",
        TermKind::Lam(..) => "function",
        TermKind::App(..) => "application",
        TermKind::Let(..) => "let",
        TermKind::LetRec(..) => "let rec",
        TermKind::Tuple(_) => "tuple",
        TermKind::Proj(..) => "projection",
        TermKind::Con(..) => "constructor",
        TermKind::Match(..) => "match",
        TermKind::If(..) => "if",
        TermKind::Prim(..) => "primitive",
        TermKind::Array(_) => "array",
        TermKind::For(..) => "for",
        TermKind::Dim(..) => "dim",
        TermKind::Index(..) => "index",
        TermKind::Update(..) => "update",
        TermKind::Reduce(..) => "reduce",
        TermKind::Inspect(..) => "inspect",
        TermKind::ArrayPrim(..) => "array primitive",
        TermKind::Loop { .. } => "loop",
        TermKind::Accumulate { .. } => "accumulate",
        TermKind::Add { .. } => "add",
        TermKind::Check { .. } => "check",
        TermKind::Jvp(..) => "jvp",
        TermKind::Vjp(..) => "vjp",
        TermKind::Ruled(_) => "function with rules",
        TermKind::Reach(..) => "reach",
        TermKind::Band(..) => "band",
    }
}

/// Whether two types are the same object: comparing all fields of a record at every mention would
/// be quadratic.
fn is_shared(a: &Ty, b: &Ty) -> bool {
    if let (Ty::Tuple(a), Ty::Tuple(b)) = (a, b) {
        return std::rc::Rc::ptr_eq(a, b);
    }
    matches!((a, b), (Ty::Record(a), Ty::Record(b)) if std::rc::Rc::ptr_eq(a, b))
}
