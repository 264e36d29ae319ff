//! The checker: `⊢ function`. It shares no code with the passes it checks.
//!
//! * Every variable is bound once, and mentioned only where it is in scope; sizes in types count as
//!   mentions.
//! * Every construct has operands of the right types, and its bindings have the types that it
//!   gives.
//! * Where sizes must be equal they are the same atom, or equal as polynomials modulo the `Check`s
//!   that dominate ([`crate::bounds`]).
//! * Every index is evidently in range where it is used: by the ranges of loops, the conditions
//!   around, and the `Check`s that dominate ([`crate::bounds`]). So the checker finds a pass that
//!   moves an access before its check, or drops a check that is needed.
//! * Accumulators are linear: mentioned by `Accumulate`, `Call` and `Freeze` only, frozen exactly
//!   once, in the block that made them, after all additions; accumulators of a caller, and cells,
//!   are never frozen.
//! * The library is well formed, and calls and nodes agree with it ([`library`]).

use lambada_prim::{ArrayPrim, Prim, ReduceOp, Scalar, ScalarTy};

use crate::bounds::{ProgramPoint, ScopedFacts};
use crate::{
    Atom, Block, Elem, Exp, Function, Library, LoopKind, Nest, Op, Out, Param, Renaming, Scheduled,
    Stm, Ty, Var,
};

mod library;
mod rules;
mod scheduled;

type Check<T = ()> = Result<T, String>;

/// Checks a program: a function with its library. The error names the function, the statement and
/// the variable.
pub fn check(function: &Function) -> Result<(), String> {
    library::library(&function.library)?;
    let mut checker = Checker::new(function, &function.library);
    checker.program().map_err(|message| format!("{}: {message}", function.name))
}

/// Checks one function of a library.
pub fn check_callee(function: &Function, library: &Library) -> Result<(), String> {
    Checker::new(function, library).callee()
}

/// Checks that the entry of a program takes and gives arrays and scalars only, as engines do. An
/// entry that becomes source may take and give handles.
pub fn check_entry(function: &Function) -> Result<(), String> {
    let handles = |ty: &Ty| ty.elem.node().is_some();
    if function.params.iter().map(|p| &p.ty).chain(&function.results).any(handles) {
        return Err(format!("{}: the entry takes or gives handles", function.name));
    }
    Ok(())
}

/// A variable in scope.
#[derive(Clone)]
enum ScopeEntry {
    Value(Ty),
    /// An accumulator, and the block that made it: `None` for a parameter or cell, never frozen.
    Accumulator {
        ty: Ty,
        block: Option<usize>,
        frozen: bool,
    },
}

struct Checker<'a> {
    function: &'a Function,
    library: &'a Library,
    /// By variable; `None` where it is not in scope.
    scope: Vec<Option<ScopeEntry>>,
    /// By variable: whether it has been bound anywhere.
    bound: Vec<bool>,
    /// Variables in scope, innermost last.
    stack: Vec<Var>,
    known: ScopedFacts,
    /// Whether nothing need be evident, because kernels hide the statements that made it so.
    is_scheduled: bool,
    blocks: usize,
}

impl<'a> Checker<'a> {
    fn new(function: &'a Function, library: &'a Library) -> Checker<'a> {
        let count = function.names.len();
        Checker {
            function,
            library,
            scope: vec![None; count],
            bound: vec![false; count],
            stack: Vec::new(),
            known: ScopedFacts::default(),
            is_scheduled: function.is_scheduled(),
            blocks: 0,
        }
    }

    fn evident(&self, what: impl FnOnce(ProgramPoint<'_>) -> bool) -> bool {
        self.is_scheduled || self.known.ask(what)
    }

    fn program(&mut self) -> Check {
        let function = self.function;
        if !function.accumulators.is_empty() || function.rules.is_some() {
            return Err("the entry takes accumulators, or has rules".into());
        }
        for size in &function.sizes {
            self.bind(*size, ScopeEntry::Value(Ty::int()))?;
            if !function.params.iter().any(|p| p.ty.dims.contains(&Atom::Var(*size))) {
                return Err(format!("the size {} occurs in no parameter", self.show(*size)));
            }
        }
        self.params(&function.params)?;
        self.known.sizes(function);
        self.body(function)
    }

    fn body(&mut self, function: &Function) -> Check {
        let results = &function.results;
        self.scoped(|c| {
            c.statements(&function.body)?;
            results.iter().try_for_each(|ty| c.well_formed(ty))?;
            c.same_types("the results", &function.body.results, results)
        })
    }

    // Scopes

    fn show(&self, var: Var) -> String {
        if (var.0 as usize) < self.function.names.len() {
            format!("{}_{}", self.function.names.hint(var), var.0)
        } else {
            format!("?_{}", var.0)
        }
    }

    fn show_atom(&self, atom: Atom) -> String {
        match atom {
            Atom::Var(var) => self.show(var),
            Atom::Lit(value) => format!("{value:?}"),
        }
    }

    fn show_ty(&self, ty: &Ty) -> String {
        let dims: String = ty.dims.iter().map(|d| format!("[{}]", self.show_atom(*d))).collect();
        format!("{dims}{}", self.show_elem(ty.elem))
    }

    fn show_elem(&self, elem: Elem) -> String {
        let named = elem.node().and_then(|node| self.library.nodes.get(node.0 as usize));
        named.map_or_else(|| elem.to_string(), |node| format!("ref {}", node.name))
    }

    fn bind(&mut self, var: Var, entry: ScopeEntry) -> Check {
        let k = var.0 as usize;
        if k >= self.bound.len() {
            return Err(format!("{} is unknown to the names of the function", self.show(var)));
        }
        if std::mem::replace(&mut self.bound[k], true) {
            return Err(format!("{} is bound twice", self.show(var)));
        }
        self.scope[k] = Some(entry);
        self.stack.push(var);
        Ok(())
    }

    /// Runs `inside` in a scope of its own: its bindings and facts are forgotten.
    fn scoped<T>(&mut self, inside: impl FnOnce(&mut Self) -> Check<T>) -> Check<T> {
        let (depth, mark) = (self.stack.len(), self.known.mark());
        let result = inside(self)?;
        for var in self.stack.drain(depth..) {
            self.scope[var.0 as usize] = None;
        }
        self.known.reset(mark);
        Ok(result)
    }

    fn params(&mut self, params: &[Param]) -> Check {
        for p in params {
            self.well_formed(&p.ty)?;
            self.bind(p.var, ScopeEntry::Value(p.ty.clone()))?;
        }
        Ok(())
    }

    fn entry(&self, var: Var) -> Check<&ScopeEntry> {
        self.scope
            .get(var.0 as usize)
            .and_then(Option::as_ref)
            .ok_or_else(|| format!("{} is not in scope", self.show(var)))
    }

    // Types

    fn var_ty(&self, var: Var) -> Check<&Ty> {
        match self.entry(var)? {
            ScopeEntry::Value(ty) => Ok(ty),
            ScopeEntry::Accumulator { .. } => {
                Err(format!("the accumulator {} is used as a value", self.show(var)))
            }
        }
    }

    fn atom_ty(&self, atom: Atom) -> Check<Ty> {
        match atom {
            Atom::Var(var) => self.var_ty(var).cloned(),
            Atom::Lit(value) => Ok(Ty::scalar(value.ty())),
        }
    }

    /// An inspected value is data: no handle, no accumulator.
    fn inspected(&self, atom: Atom) -> Check {
        let Atom::Var(var) = atom else { return Ok(()) };
        match self.var_ty(var)?.elem.node() {
            None => Ok(()),
            Some(_) => Err(format!("{} is a handle, which cannot be shown", self.show_atom(atom))),
        }
    }

    fn scalar(&self, atom: Atom, elem: impl Into<Elem>) -> Check {
        let elem = elem.into();
        match atom {
            Atom::Lit(value) if elem == value.ty() || is_null(value, elem) => return Ok(()),
            Atom::Lit(_) => {}
            Atom::Var(var) => {
                let ty = self.var_ty(var)?;
                if ty.elem == elem && ty.dims.is_empty() {
                    return Ok(());
                }
            }
        }
        Err(format!(
            "{} is {}, not {}",
            self.show_atom(atom),
            self.show_ty(&self.atom_ty(atom)?),
            self.show_elem(elem)
        ))
    }

    /// The sizes of a type are `int`s in scope.
    fn well_formed(&self, ty: &Ty) -> Check {
        if let Elem::Ref(node) = ty.elem
            && node.0 as usize >= self.library.nodes.len()
        {
            return Err(format!("there is no node type {}", node.0));
        }
        ty.dims
            .iter()
            .try_for_each(|d| self.scalar(*d, ScalarTy::Int))
            .map_err(|e| format!("in the type {}: {e}", self.show_ty(ty)))
    }

    fn same_ty(&mut self, what: &str, actual: &Ty, expected: &Ty) -> Check {
        let sizes_agree = |c: &mut Self| {
            actual
                .dims
                .iter()
                .zip(&expected.dims)
                .all(|(a, b)| c.evident(|place| place.equal(*a, *b)))
        };
        if actual.elem == expected.elem && actual.rank() == expected.rank() && sizes_agree(self) {
            return Ok(());
        }
        Err(format!("{what} has type {}, not {}", self.show_ty(actual), self.show_ty(expected)))
    }

    fn same_types(&mut self, what: &str, actual: &[Atom], expected: &[Ty]) -> Check {
        if actual.len() != expected.len() {
            return Err(format!("{what} are {}, not {}", actual.len(), expected.len()));
        }
        for (atom, ty) in actual.iter().zip(expected) {
            self.fits(&format!("{what}: {}", self.show_atom(*atom)), *atom, ty)?;
        }
        Ok(())
    }

    /// The atom has the type; null has every handle type.
    fn fits(&mut self, what: &str, atom: Atom, ty: &Ty) -> Check {
        if atom.as_lit().is_some_and(|value| is_null(value, ty.elem)) && ty.dims.is_empty() {
            return Ok(());
        }
        let found = self.atom_ty(atom)?;
        self.same_ty(what, &found, ty)
    }

    /// Elements of this type can be summed.
    fn sums(&self, elem: Elem) -> Check {
        match elem {
            Elem::Scalar(ScalarTy::Real | ScalarTy::Int) => Ok(()),
            Elem::Scalar(ScalarTy::Bool) | Elem::Ref(_) => Err(format!("an accumulator of {elem}")),
        }
    }

    /// Atoms against a list of parameters whose sizes may mention earlier ones.
    fn against(&mut self, what: &str, actual: &[Atom], params: &[Param]) -> Check {
        let mut renaming = Renaming::new();
        params.iter().zip(actual).for_each(|(p, a)| renaming.insert(p.var, *a));
        let expected: Vec<Ty> = params.iter().map(|p| renaming.ty(&p.ty)).collect();
        self.same_types(what, actual, &expected)
    }

    // Blocks and statements

    fn statements(&mut self, block: &Block) -> Check {
        self.blocks += 1;
        let number = self.blocks;
        let depth = self.stack.len();
        for stm in &block.stms {
            self.statement(stm, number).map_err(|e| self.in_statement(stm, &e))?;
            self.known.pass(stm);
        }
        for var in &self.stack[depth..] {
            if let Some(ScopeEntry::Accumulator { frozen: false, block: Some(_), .. }) =
                &self.scope[var.0 as usize]
            {
                return Err(format!(
                    "the accumulator {} is not frozen in its block",
                    self.show(*var)
                ));
            }
        }
        block.results.iter().try_for_each(|a| self.atom_ty(*a).map(|_| ()))
    }

    fn in_statement(&self, stm: &Stm, message: &str) -> String {
        let binds: Vec<String> = stm.binds.iter().map(|p| self.show(p.var)).collect();
        let name = construct(&stm.exp);
        if binds.is_empty() {
            format!("in {name}: {message}")
        } else {
            format!("in {} = {name}: {message}", binds.join(", "))
        }
    }

    fn statement(&mut self, stm: &Stm, block: usize) -> Check {
        match &stm.exp {
            Exp::Op(op) => self.op(stm, op, block),
            Exp::Nest(Nest::For { index, extent, outs, body }) => {
                self.for_(stm, *index, *extent, outs, body)
            }
            Exp::Nest(Nest::Loop { params, inits, kind, body }) => {
                self.loop_(stm, params, inits, kind, body)
            }
            Exp::Nest(Nest::If { cond, then, otherwise }) => self.if_(stm, *cond, then, otherwise),
        }
    }

    fn op(&mut self, stm: &Stm, op: &Op, block: usize) -> Check {
        match op {
            Op::Prim(op, args) => self.prim(stm, *op, args),
            Op::Index(x, index) => self.index(stm, *x, index),
            Op::Fill(value) => {
                let ty = self.one(stm)?.ty.clone();
                self.scalar(*value, ty.elem)?;
                self.bind_values(&stm.binds)
            }
            Op::Array(items) => self.array(stm, items),
            Op::Constant(tensor) => {
                let dims = tensor.dims.iter().map(|d| Atom::int(*d as i64)).collect();
                self.value(stm, &Ty { elem: tensor.elem().into(), dims })
            }
            Op::Update { array, index, value } => {
                let ty = self.var_ty(*array)?.clone();
                self.element("the new value", &ty, index, *value)?;
                self.value(stm, &ty)
            }
            Op::ArrayPrim(prim, args) => self.array_prim(stm, *prim, args),
            Op::Scheduled(Scheduled::Concat(parts)) => self.concat(stm, parts),
            Op::Scheduled(Scheduled::Kernel(kernel)) => self.kernel(stm, kernel),
            Op::Accumulator(value) => self.accumulator(stm, *value, block),
            Op::Accumulate { acc, index, value } => self.accumulate(stm, *acc, index, *value),
            Op::Freeze(acc) => self.freeze(stm, *acc, block),
            Op::Check { cond, values, .. } => {
                self.none(stm)?;
                self.scalar(*cond, ScalarTy::Bool)?;
                values.iter().try_for_each(|v| self.scalar(*v, ScalarTy::Int))
            }
            Op::Inspect { values, .. } => {
                self.none(stm)?;
                values.iter().try_for_each(|value| self.inspected(*value))
            }
            Op::Call { function, args, accumulators } => {
                self.call(stm, *function, args, accumulators)
            }
            Op::Node { .. } => self.node(stm, op),
            Op::Tag(of) => self.tag(stm, *of),
            Op::Field { of, tag, field } => {
                self.field(stm, *of, *tag, *field, false)?;
                self.bind_values(&stm.binds)
            }
            Op::Open { of, tag, field } => self.open_cell(stm, *of, *tag, *field),
            Op::Cell { of, tag, field } => {
                self.field(stm, *of, *tag, *field, true)?;
                self.bind_values(&stm.binds)
            }
        }
    }

    fn one<'s>(&self, stm: &'s Stm) -> Check<&'s Param> {
        match stm.binds.as_slice() {
            [bind] => Ok(bind),
            binds => Err(format!("it binds {} variables, not one", binds.len())),
        }
    }

    fn none(&self, stm: &Stm) -> Check {
        if stm.binds.is_empty() { Ok(()) } else { Err("it binds nothing".into()) }
    }

    /// The one binding has the given type; binds it.
    fn value(&mut self, stm: &Stm, ty: &Ty) -> Check {
        let bind = self.one(stm)?;
        let what = self.show(bind.var);
        self.same_ty(&what, &bind.ty, ty)?;
        self.bind_values(&stm.binds)
    }

    fn bind_values(&mut self, binds: &[Param]) -> Check {
        self.params(binds)
    }

    fn prim(&mut self, stm: &Stm, op: Prim, args: &[Atom]) -> Check {
        let params = op.args();
        if params.len() != args.len() {
            return Err(format!("{} arguments instead of {}", args.len(), params.len()));
        }
        args.iter().zip(params).try_for_each(|(a, ty)| self.scalar(*a, *ty))?;
        self.value(stm, &Ty::scalar(op.result()))
    }

    fn indices(&self, ty: &Ty, index: &[Atom]) -> Check {
        if index.len() > ty.rank() {
            return Err(format!("{} indices for {}", index.len(), self.show_ty(ty)));
        }
        index.iter().try_for_each(|i| self.scalar(*i, ScalarTy::Int))?;
        for (i, size) in index.iter().zip(&ty.dims) {
            if !self.evident(|place| place.in_range(*i, *size)) {
                return Err(format!(
                    "the index {} is not evidently in range for the size {}",
                    self.show_atom(*i),
                    self.show_atom(*size)
                ));
            }
        }
        Ok(())
    }

    /// `value` has the type of `ty[index]`.
    fn element(&mut self, what: &str, ty: &Ty, index: &[Atom], value: Atom) -> Check {
        self.indices(ty, index)?;
        self.fits(what, value, &ty.indexed(index.len()))
    }

    fn index(&mut self, stm: &Stm, x: Var, index: &[Atom]) -> Check {
        let ty = self.var_ty(x)?.clone();
        self.indices(&ty, index)?;
        if index.is_empty() {
            return Err("no indices".into());
        }
        self.value(stm, &ty.indexed(index.len()))
    }

    fn array(&mut self, stm: &Stm, items: &[Atom]) -> Check {
        let ty = &self.one(stm)?.ty;
        if ty.dims.first() != Some(&Atom::int(items.len() as i64)) {
            return Err(format!("{} elements for {}", items.len(), self.show_ty(ty)));
        }
        let elem = ty.indexed(1);
        for item in items {
            self.fits("an element", *item, &elem)?;
        }
        self.bind_values(&stm.binds)
    }

    fn for_(&mut self, stm: &Stm, index: Var, extent: Atom, outs: &[Out], body: &Block) -> Check {
        self.scalar(extent, ScalarTy::Int)?;
        if stm.binds.len() != outs.len() || body.results.len() != outs.len() {
            return Err(format!(
                "{} outs, {} bindings, {} results",
                outs.len(),
                stm.binds.len(),
                body.results.len()
            ));
        }
        for (out, bind) in outs.iter().zip(&stm.binds) {
            self.out(*out, bind, extent)?;
        }
        let expected: Vec<Ty> =
            outs.iter().zip(&stm.binds).map(|(out, bind)| element_of(*out, &bind.ty)).collect();
        self.scoped(|c| {
            c.bind(index, ScopeEntry::Value(Ty::int()))?;
            c.known.enter(&stm.exp);
            c.statements(body)?;
            c.same_types("the results of the body", &body.results, &expected)
        })?;
        self.bind_values(&stm.binds)
    }

    /// Checks the type of an out, which is in scope before the `for`.
    fn out(&mut self, out: Out, bind: &Param, extent: Atom) -> Check {
        self.well_formed(&bind.ty)?;
        match out {
            Out::Collect => match bind.ty.dims.first() {
                Some(size) if self.evident(|place| place.equal(*size, extent)) => Ok(()),
                Some(_) | None => Err(format!(
                    "{} collects {} iterations as {}",
                    self.show(bind.var),
                    self.show_atom(extent),
                    self.show_ty(&bind.ty)
                )),
            },
            Out::Reduce(op) if bind.ty.dims.is_empty() && reduces(op, bind.ty.elem) => Ok(()),
            Out::Reduce(op) => Err(format!(
                "{} of type {} cannot be reduced with {op:?}",
                self.show(bind.var),
                self.show_ty(&bind.ty)
            )),
        }
    }

    fn loop_(
        &mut self,
        stm: &Stm,
        params: &[Param],
        inits: &[Atom],
        kind: &LoopKind,
        body: &Block,
    ) -> Check {
        self.against("the first state", inits, params)?;
        if stm.binds.len() != params.len() {
            return Err(format!("{} bindings for {} parameters", stm.binds.len(), params.len()));
        }
        let mut renaming = Renaming::new();
        for (p, bind) in params.iter().zip(&stm.binds) {
            let what = self.show(bind.var);
            self.same_ty(&what, &bind.ty, &renaming.ty(&p.ty))?;
            renaming.insert(p.var, bind.var.into());
        }
        if let LoopKind::For { extent, checkpoint, .. } = kind {
            self.scalar(*extent, ScalarTy::Int)?;
            if let Some(states) = checkpoint.states() {
                self.scalar(states, ScalarTy::Int)?;
            }
        }
        self.scoped(|c| {
            c.params(params)?;
            match kind {
                LoopKind::For { index, .. } => {
                    c.bind(*index, ScopeEntry::Value(Ty::int()))?;
                    c.known.enter(&stm.exp);
                }
                LoopKind::While(cond) => {
                    c.known.enter(&stm.exp);
                    c.scoped(|c| {
                        c.statements(cond)?;
                        c.same_types("the condition", &cond.results, &[Ty::bool()])
                    })?;
                    c.known.assume(cond.results[0], true);
                }
            }
            c.statements(body)?;
            c.against("the next state", &body.results, params)
        })?;
        self.bind_values(&stm.binds)
    }

    fn if_(&mut self, stm: &Stm, cond: Atom, then: &Block, otherwise: &Block) -> Check {
        self.scalar(cond, ScalarTy::Bool)?;
        for (block, holds, what) in
            [(then, true, "the results of then"), (otherwise, false, "the results of else")]
        {
            self.scoped(|c| {
                c.known.assume(cond, holds);
                c.statements(block)?;
                c.against(what, &block.results, &stm.binds)
            })?;
        }
        self.bind_values(&stm.binds)
    }

    fn array_prim(&mut self, stm: &Stm, prim: ArrayPrim, args: &[Var]) -> Check {
        let types = args
            .iter()
            .map(|arg| self.var_ty(*arg).cloned())
            .collect::<std::result::Result<Vec<Ty>, String>>()?;
        let ranks: Vec<usize> = types.iter().map(Ty::rank).collect();
        let shown = |c: &Self| {
            let types: Vec<String> = types.iter().map(|ty| c.show_ty(ty)).collect();
            format!("`{}` of {}", prim.name(), types.join(" and "))
        };
        let reals = types.iter().all(|ty| ty.elem == ScalarTy::Real);
        let Some(version) = prim.version(&ranks).filter(|_| reals) else {
            return Err(format!("there is no {}", shown(self)));
        };
        for [(a, j), (b, k)] in version.equal_axes() {
            let (x, y) = (types[a].dims[j], types[b].dims[k]);
            if !self.evident(|place| place.equal(x, y)) {
                return Err(format!("in {}, sizes are not known to be equal", shown(self)));
            }
        }
        let dims: Vec<&[Atom]> = types.iter().map(|ty| &ty.dims[..]).collect();
        let elems = prim.row().results.iter();
        let results: Vec<Ty> = elems
            .zip(version.result_dims(&dims))
            .map(|(elem, dims)| Ty { elem: (*elem).into(), dims })
            .collect();
        if stm.binds.len() != results.len() {
            return Err(format!("it binds {} variables, not {}", stm.binds.len(), results.len()));
        }
        for (bind, ty) in stm.binds.iter().zip(&results) {
            self.same_ty(&self.show(bind.var), &bind.ty, ty)?;
        }
        self.bind_values(&stm.binds)
    }

    fn accumulator(&mut self, stm: &Stm, value: Atom, block: usize) -> Check {
        let bind = self.one(stm)?;
        let found = self.atom_ty(value)?;
        self.well_formed(&bind.ty)?;
        self.same_ty("the first value", &found, &bind.ty)?;
        self.sums(bind.ty.elem)?;
        let entry =
            ScopeEntry::Accumulator { ty: bind.ty.clone(), block: Some(block), frozen: false };
        self.bind(bind.var, entry)
    }

    /// The type of an accumulator that may still be added to.
    fn open(&self, acc: Var) -> Check<(Ty, Option<usize>)> {
        match self.entry(acc)? {
            ScopeEntry::Accumulator { ty, block, frozen: false } => Ok((ty.clone(), *block)),
            ScopeEntry::Accumulator { .. } => Err(format!("{} is frozen already", self.show(acc))),
            ScopeEntry::Value(_) => Err(format!("{} is not an accumulator", self.show(acc))),
        }
    }

    fn accumulate(&mut self, stm: &Stm, acc: Var, index: &[Atom], value: Atom) -> Check {
        self.none(stm)?;
        let (ty, _) = self.open(acc)?;
        self.element("what is added", &ty, index, value)
    }

    fn freeze(&mut self, stm: &Stm, acc: Var, block: usize) -> Check {
        let (ty, made_in) = self.open(acc)?;
        if made_in != Some(block) {
            return Err(format!("{} was made in another block", self.show(acc)));
        }
        self.scope[acc.0 as usize] =
            Some(ScopeEntry::Accumulator { ty: ty.clone(), block: made_in, frozen: true });
        self.value(stm, &ty)
    }
}

/// The type of an iteration's contribution to an out.
fn element_of(out: Out, ty: &Ty) -> Ty {
    match out {
        Out::Collect => ty.indexed(1),
        Out::Reduce(_) => ty.clone(),
    }
}

/// Whether a constant is null, which is written as 0.
fn is_null(value: Scalar, elem: Elem) -> bool {
    elem.node().is_some() && value == Scalar::Int(0)
}

fn reduces(op: ReduceOp, elem: Elem) -> bool {
    let Elem::Scalar(elem) = elem else { return false };
    match op {
        ReduceOp::Add | ReduceOp::Mul | ReduceOp::Min | ReduceOp::Max => elem != ScalarTy::Bool,
        ReduceOp::And | ReduceOp::Or => elem == ScalarTy::Bool,
    }
}

/// The name of a construct in messages.
fn construct(exp: &Exp) -> String {
    let name = match exp {
        Exp::Op(Op::Prim(op, _)) => return format!("{op:?}"),
        Exp::Op(Op::Check { site, .. }) => return format!("check \"{}\"", site.message),
        Exp::Op(Op::Index(..)) => "index",
        Exp::Op(Op::Fill(_)) => "fill",
        Exp::Op(Op::Array(_)) => "array",
        Exp::Op(Op::Constant(_)) => "constant",
        Exp::Op(Op::Update { .. }) => "update",
        Exp::Op(Op::ArrayPrim(prim, _)) => prim.name(),
        Exp::Op(Op::Scheduled(Scheduled::Concat(_))) => "concat",
        Exp::Op(Op::Scheduled(Scheduled::Kernel(_))) => "kernel",
        Exp::Op(Op::Accumulator(_)) => "accumulator",
        Exp::Op(Op::Accumulate { .. }) => "accumulate",
        Exp::Op(Op::Freeze(_)) => "freeze",
        Exp::Op(Op::Inspect { .. }) => "inspect",
        Exp::Op(Op::Call { .. }) => "call",
        Exp::Op(Op::Node { .. }) => "node",
        Exp::Op(Op::Tag(_)) => "tag",
        Exp::Op(Op::Field { .. }) => "field",
        Exp::Op(Op::Open { .. }) => "open",
        Exp::Op(Op::Cell { .. }) => "cell",
        Exp::Nest(Nest::For { .. }) => "for",
        Exp::Nest(Nest::Loop { .. }) => "loop",
        Exp::Nest(Nest::If { .. }) => "if",
    };
    name.into()
}
