//! The fragment of `core` that is the paper's source language: real numbers, arrays of them of
//! known sizes, tuples, functions, `let`.
//!
//! Arrays of real numbers have the type `real^n` for a size n that is known when the program is
//! read. So reading is partial evaluation: sizes, indices and functions of arrays are evaluated
//! (`PartiallyStatic`); the residual program is the term. A `for` or `loop` goes over the elements
//! of vectors and becomes a primitive of Appendix F or an elementwise operation (`loops`).

mod known;
mod loops;
mod outside;

use std::collections::HashMap;
use std::rc::Rc;

use lambada_core::{self as core, DefId, LoopKind, Program, SizedTy, TermKind};
use lambada_prim::{ArrayPrim, Prim, ReduceOp, Scalar, ScalarTy, Surface, Version};
use lambada_source::{FileId, Span};

use super::{
    Kind, REAL, Term, Ty, Var, abs, app, constant, fold, fst, lam, op, op_at, snd, tuple, var,
};
use crate::op::Op;
use crate::var::Name;
use known::{PartiallyStatic, lift};
use loops::Loop;
pub use outside::Outside;
use outside::{
    BRANCHES, CHECKS, DERIVATIVES, INTEGERS, ITERATIONS, REALS, RECURSION, ROWS, RULES, SIZES,
    SMALLER, UPDATES, VARIANTS, outside,
};

/// Whether a definition is in the fragment.
pub fn is_source(program: &Program, entry: DefId) -> bool {
    of_core(program, entry).is_ok()
}

/// The names of a definition's parameters.
pub fn parameters(program: &Program, entry: DefId) -> Vec<Rc<str>> {
    let (mut names, mut body) = (Vec::new(), &program.def(entry).body);
    while let TermKind::Lam(x, inside) = body.kind() {
        names.push(x.hint.clone());
        body = inside;
    }
    names
}

/// A definition as `x : T ⊢ t : S`, where `x` is the tuple of its parameters; the sizes of arrays
/// are those of its signature.
pub fn of_core(program: &Program, entry: DefId) -> Result<(Var, Term), Outside> {
    let def = program.def(entry);
    if program.is_recursive(entry) {
        return outside(def.span, "a function that calls itself", RECURSION);
    }
    let (mut params, mut body) = (Vec::new(), &def.body);
    while let TermKind::Lam(x, inside) = body.kind() {
        params.push((x, def.signature.params.get(params.len()).map(|(_, sized)| sized)));
        body = inside;
    }
    let mut reader = CoreReader {
        program,
        env: HashMap::new(),
        blocks: vec![],
        loops: vec![],
        file: def.span.file,
        site: def.span,
    };
    let types = params
        .iter()
        .map(|(x, sized)| {
            reader.ty(&x.ty, *sized, def.span).map_err(|outside| outside.parameter(&x.hint))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let hint = if params.len() == 1 { &*params[0].0.hint } else { "x" };
    let x = Var::fresh(hint, types.into_iter().reduce(Ty::times).unwrap_or(Ty::Unit));
    for (k, (param, sized)) in params.iter().enumerate() {
        reader.env.insert(
            param.id,
            PartiallyStatic::of_type(&param.ty, *sized, component(var(&x), k, params.len())),
        );
    }
    let (known, lets) = reader.block(vec![x.clone()], |reader| reader.read(body, vec![]))?;
    Ok((x, wrap(&lets, known.term(body.span())?.called(&Name::at(body.span())))))
}

/// The k-th of n components of a product that nests to the left.
fn component(t: Term, k: usize, n: usize) -> Term {
    match (n, k + 1 == n) {
        (1, _) => t,
        (_, true) => snd(t),
        (_, false) => component(fst(t), k, n - 1),
    }
}

struct CoreReader<'a> {
    program: &'a Program,
    /// The values of the variables of `core`.
    env: HashMap<u32, PartiallyStatic>,
    /// The binders around, outermost first.
    blocks: Vec<Block>,
    /// The loops around that go over vectors, outermost first.
    loops: Vec<Loop>,
    /// The file of the definition: terms of other files have the places of their calls.
    file: FileId,
    /// The innermost construct of that file that is being read.
    site: Span,
}

/// The inside of a binder: `let`s are gathered there and written around the residual body.
struct Block {
    bound: Vec<Var>,
    lets: Vec<Let>,
}

/// `let x = t`, either `written` in the program, or for the parameter of a definition that was
/// called.
struct Let {
    x: Var,
    t: Term,
    written: bool,
    place: Span,
}

/// `let x1 = t1 in .. t`, without those that are not in the program and would be used once.
fn wrap(lets: &[Let], t: Term) -> Term {
    lets.iter().rev().fold(t, |body, Let { x, t, written, place }| {
        let (count, below) = occurrences(&body, x);
        let once = count == 0 || count == 1 && (!below || matches!(t.kind(), Kind::Lam(..)));
        match (once && !written, t.kind()) {
            (true, Kind::Lam(..)) => called(&body.subst(x, t)),
            (true, _) => body.subst(x, t),
            (false, _) => app(abs(x.clone(), body), t.clone()).called(&Name::at(*place)),
        }
    })
}

/// β-reduces calls of λs that were substituted for a variable, if the argument is an atom.
fn called(t: &Term) -> Term {
    let t = t.map(&mut called);
    if let Kind::App(f, s) = t.kind()
        && let (Kind::Lam(x, body), true) = (f.kind(), is_atom(s))
    {
        return called(&body.subst(x, s));
    }
    t
}

/// How often a variable occurs, and whether below a λ that is not that of a `let`.
fn occurrences(t: &Term, x: &Var) -> (usize, bool) {
    let all = |terms: &[&Term]| {
        terms
            .iter()
            .map(|t| occurrences(t, x))
            .fold((0, false), |(n, below), (m, b)| (n + m, below || b))
    };
    if let Kind::Var(y) = t.kind() {
        return (usize::from(x == y), false);
    }
    if let Kind::Lam(_, body) = t.kind() {
        let (count, _) = occurrences(body, x);
        return (count, count > 0);
    }
    if let Kind::App(f, s) = t.kind()
        && let Kind::Lam(_, body) = f.kind()
    {
        return all(&[body, s]);
    }
    all(&t.children())
}

type Read = Result<PartiallyStatic, Outside>;

/// The largest size of an array: the indices of a loop are known one by one.
const LARGEST: usize = 1 << 20;

impl CoreReader<'_> {
    fn ty(&self, ty: &core::Ty, sized: Option<&SizedTy>, span: Span) -> Result<Ty, Outside> {
        match ty {
            core::Ty::Scalar(ScalarTy::Real) => Ok(REAL),
            core::Ty::Scalar(scalar) => outside(span, format!("of type `{scalar}`"), INTEGERS),
            core::Ty::Tuple(_) | core::Ty::Record(_) => {
                let items = ty.components().into_iter().enumerate();
                let items = items
                    .map(|(k, item)| self.ty(&item, known::sized_component(sized, k), span))
                    .collect::<Result<Vec<_>, _>>()?;
                Ok(items.into_iter().reduce(Ty::times).unwrap_or(Ty::Unit))
            }
            core::Ty::Fun(a, b) => Ok(self.ty(a, None, span)?.to(self.ty(b, None, span)?)),
            core::Ty::Array(_) => match known::dimensions(ty, sized) {
                Some(dims) => {
                    match dims.iter().try_fold(1, |product: usize, n| product.checked_mul(*n)) {
                        Some(n) if n <= LARGEST => Ok(Ty::Real(n)),
                        _ => outside(
                            span,
                            format!("an array of more than {LARGEST} elements"),
                            SMALLER,
                        ),
                    }
                }
                None if known::of_reals(ty) => {
                    outside(span, "an array without a literal size such as `[3]real`", SIZES)
                }
                None => outside(span, "an array of something else than reals", ROWS),
            },
            core::Ty::Variant(_) => outside(
                span,
                format!("of the variant type `{}`", core::print_type(self.program, ty)),
                VARIANTS,
            ),
        }
    }

    /// Runs under a binder.
    fn block(
        &mut self,
        bound: Vec<Var>,
        run: impl FnOnce(&mut Self) -> Read,
    ) -> Result<(PartiallyStatic, Vec<Let>), Outside> {
        self.blocks.push(Block { bound, lets: vec![] });
        let known = run(self)?;
        let block = self.blocks.pop().expect("the block that was pushed");
        Ok((known, block.lets))
    }

    /// Runs in another environment.
    fn inside(
        &mut self,
        env: HashMap<u32, PartiallyStatic>,
        run: impl FnOnce(&mut Self) -> Read,
    ) -> Read {
        let outer = std::mem::replace(&mut self.env, env);
        let result = run(self);
        self.env = outer;
        result
    }

    /// The meaning of a term applied to arguments, the first last.
    fn read(&mut self, t: &core::Term, args: Vec<PartiallyStatic>) -> Read {
        let around = self.site;
        // The place of a call is not that of the name of the function.
        if args.is_empty() && t.span().file == self.file {
            self.site = t.span();
        }
        let known = self.meaning(t, args);
        let here = std::mem::replace(&mut self.site, around);
        known.map(|known| known.at(here))
    }

    /// A place in the file of the definition, or else the construct that is being read.
    fn here(&self, span: Span) -> Span {
        if span.file == self.file { span } else { self.site }
    }

    fn meaning(&mut self, t: &core::Term, mut args: Vec<PartiallyStatic>) -> Read {
        let span = t.span();
        let known = match t.kind() {
            TermKind::Var(x) => match self.env.get(&x.id) {
                Some(known) => known.again(self.here(span)),
                None => return outside(span, format!("the free variable `{}`", x.hint), REALS),
            },
            TermKind::Global(id) if self.program.is_recursive(*id) => {
                return outside(span, "a function that calls itself", RECURSION);
            }
            TermKind::Global(id) => {
                let (def, whole) = (self.program.def(*id), args.is_empty());
                let known = self.inside(HashMap::new(), |reader| reader.read(&def.body, args))?;
                return Ok(if whole { self.name(&def.name, known, false) } else { known });
            }
            TermKind::Lit(Scalar::Real(value)) => PartiallyStatic::Term(constant([*value])),
            TermKind::Lit(value) => PartiallyStatic::Static(*value),
            TermKind::Lam(x, body) => match args.pop() {
                Some(argument) => {
                    self.bind(x, argument, false);
                    return self.read(body, args);
                }
                None => self.function(t, x, body)?,
            },
            TermKind::App(f, s) => {
                args.push(self.read(s, vec![])?);
                return self.read(f, args);
            }
            TermKind::Let(x, s, body) => {
                let s = self.read(s, vec![])?;
                self.bind(x, s, true);
                return self.read(body, args);
            }
            TermKind::Tuple(items) => PartiallyStatic::Tuple(self.each(items)?),
            TermKind::Proj(t, k) => match self.read(t, vec![])? {
                PartiallyStatic::Tuple(items) => items[*k].clone(),
                other => PartiallyStatic::Term(component(
                    other.term(span)?,
                    *k,
                    t.ty().components().len(),
                )),
            },
            TermKind::Prim(prim, items) => self.prim(*prim, items, span)?,
            TermKind::If(c, a, b) => match self.read(c, vec![]) {
                Ok(PartiallyStatic::Static(Scalar::Bool(holds))) => {
                    return self.read(if holds { a } else { b }, args);
                }
                _ => return outside(span, "`if`", BRANCHES),
            },
            TermKind::Check { cond, body, .. } => match self.read(cond, vec![]) {
                Ok(PartiallyStatic::Static(Scalar::Bool(true))) => return self.read(body, args),
                Ok(PartiallyStatic::Static(Scalar::Bool(false))) => {
                    return outside(span, "a check that fails", CHECKS);
                }
                _ => return outside(span, "a check that can fail", CHECKS),
            },
            // The paper's programs do not print.
            TermKind::Inspect(_, value) => return self.read(value, args),
            TermKind::Array(items) => self.array(t.ty(), items, span)?,
            TermKind::For(i, n, body) => self.for_(i, n, body, span)?,
            TermKind::Dim(array, axis) => PartiallyStatic::Static(Scalar::Int(
                self.read(array, vec![])?.size(*axis, span)? as i64,
            )),
            TermKind::Index(array, indices) => {
                let array = self.read(array, vec![])?;
                let indices = self.each(indices)?;
                self.index(&array, &indices, span)?
            }
            TermKind::Reduce(reduce, array) => self.reduce(*reduce, array, span)?,
            TermKind::ArrayPrim(prim, args) => self.contraction(*prim, args, span)?,
            TermKind::Loop { state, init, kind: LoopKind::For(i, n, checkpoint), body } => {
                checkpoint.states().map(|states| self.read(states, vec![])).transpose()?;
                self.fold(state, init, (i, n), body, span)?
            }
            TermKind::Loop { kind: LoopKind::While(_), .. } => {
                return outside(span, "`while`", ITERATIONS);
            }
            TermKind::LetRec(..) => return outside(span, "`let rec`", RECURSION),
            TermKind::Con(..) => return outside(span, "a constructor", VARIANTS),
            TermKind::Match(..) | TermKind::Never => return outside(span, "`match`", VARIANTS),
            TermKind::Update(..) => return outside(span, "an update", UPDATES),
            TermKind::Accumulate { .. } | TermKind::Add { .. } => {
                return outside(span, "`accumulate`", UPDATES);
            }
            TermKind::Jvp(..) => return outside(span, "`jvp`", DERIVATIVES),
            TermKind::Vjp(..) => return outside(span, "`vjp`", DERIVATIVES),
            // A library's rule only improves on the derivative of the function's definition, so the
            // definition is read here; except where the function is constant by its rule alone.
            TermKind::Ruled(ruled) if ruled.library && !ruled.is_constant() => {
                return self.read(&ruled.function, args);
            }
            TermKind::Ruled(_) => return outside(span, "a function with rules", RULES),
            TermKind::Reach(..) | TermKind::Band(..) => {
                return outside(span, "`reach`", DERIVATIVES);
            }
        };
        self.call(known, args, span)
    }

    fn call(&mut self, f: PartiallyStatic, mut args: Vec<PartiallyStatic>, span: Span) -> Read {
        match (f, args.is_empty()) {
            (f, true) => Ok(f),
            (PartiallyStatic::Code(t, env), false) => {
                self.inside(env, |reader| reader.read(&t, args))
            }
            (f, false) => {
                let mut f = f.term(span)?;
                while let Some(argument) = args.pop() {
                    f = app(f, argument.term(span)?);
                }
                Ok(PartiallyStatic::Term(f))
            }
        }
    }

    /// The paper has one product: that of a matrix and a vector.
    fn contraction(&mut self, prim: ArrayPrim, args: &[core::Term], span: Span) -> Read {
        let (ranks, args): (Vec<usize>, Vec<PartiallyStatic>) = self
            .each(args)?
            .into_iter()
            .map(|arg| {
                (if let PartiallyStatic::Array(_, dims) = &arg { dims.len() } else { 0 }, arg)
            })
            .unzip();
        let applies = |version: &Version| match version.args {
            [matrix, vector] => **matrix == format!("{}{vector}", version.result()),
            _ => false,
        };
        match (prim.version(&ranks), &args[..]) {
            (Some(version), [PartiallyStatic::Array(a, rows), PartiallyStatic::Array(x, size)])
                if applies(version) && rows.len() == 2 && *size == rows[1..] =>
            {
                let product = op_at(Op::MatVec(rows[0], rows[1]), &[a.clone(), x.clone()]);
                Ok(PartiallyStatic::Array(product, vec![rows[0]]))
            }
            _ => outside(span, "`@` of something else than a matrix and a vector", ROWS),
        }
    }

    fn each(&mut self, items: &[core::Term]) -> Result<Vec<PartiallyStatic>, Outside> {
        items.iter().map(|item| self.read(item, vec![])).collect()
    }

    /// A function is a term where its type is one of the source language, and read at its calls
    /// where not.
    fn function(&mut self, t: &core::Term, x: &core::Var, body: &core::Term) -> Read {
        let Ok(Ty::Fun(from, _)) = self.ty(t.ty(), None, t.span()) else {
            return Ok(PartiallyStatic::Code(t.clone(), self.env.clone()));
        };
        let y = Var::fresh(&x.hint, (*from).clone());
        self.env.insert(x.id, PartiallyStatic::Term(var(&y)));
        let (known, lets) = self.block(vec![y.clone()], |reader| reader.read(body, vec![]))?;
        let t = known.term(body.span())?.called(&Name::at(self.here(body.span())));
        Ok(PartiallyStatic::Term(abs(y, wrap(&lets, t))))
    }

    fn bind(&mut self, x: &core::Var, known: PartiallyStatic, written: bool) {
        let known = self.name(&x.hint, known, written);
        self.env.insert(x.id, known);
    }

    /// Names a computed value, so that it is computed once.
    fn name(&mut self, hint: &str, known: PartiallyStatic, written: bool) -> PartiallyStatic {
        match known {
            PartiallyStatic::Term(t) => PartiallyStatic::Term(self.name_term(hint, t, written)),
            PartiallyStatic::Array(t, dims) => {
                PartiallyStatic::Array(self.name_term(hint, t, written), dims)
            }
            PartiallyStatic::Tuple(items) => {
                match items.iter().map(|item| item.plain()).collect::<Option<Vec<_>>>() {
                    Some(terms) if terms.iter().all(is_atom) => PartiallyStatic::Tuple(items),
                    Some(terms) => {
                        PartiallyStatic::Term(self.name_term(hint, tuple(&terms), written))
                    }
                    None => PartiallyStatic::Tuple(
                        items.into_iter().map(|item| self.name(hint, item, written)).collect(),
                    ),
                }
            }
            PartiallyStatic::Rows(n, items) => PartiallyStatic::Rows(
                n,
                items.into_iter().map(|item| self.name(hint, item, written)).collect(),
            ),
            PartiallyStatic::Static(_)
            | PartiallyStatic::Each(..)
            | PartiallyStatic::Table(_)
            | PartiallyStatic::Code(..) => known,
        }
    }

    fn name_term(&mut self, hint: &str, t: Term, written: bool) -> Term {
        self.loops.iter_mut().for_each(|l| l.call_element(&t, hint));
        if is_atom(&t) {
            return t;
        }
        let x = Var::fresh(hint, t.ty().clone());
        let block = self.blocks.last_mut().expect("terms are read inside of a block");
        block.lets.push(Let { x: x.clone(), t, written, place: self.site });
        block.bound.push(x.clone());
        var(&x)
    }

    fn prim(&mut self, prim: Prim, items: &[core::Term], span: Span) -> Read {
        let args = self.each(items)?;
        if Op::is_real(prim) {
            let args = args.iter().map(|arg| arg.term(span)).collect::<Result<Vec<_>, _>>()?;
            return Ok(PartiallyStatic::Term(op_at(Op::Each(prim, 1), &args)));
        }
        if let (Prim::PowInt, [base, PartiallyStatic::Static(Scalar::Int(n))]) = (prim, &args[..]) {
            let base = base.term(span)?;
            let PartiallyStatic::Term(base) = self.name("t", PartiallyStatic::Term(base), false)
            else {
                unreachable!("a term has a name")
            };
            return Ok(PartiallyStatic::Term(power(&base, *n)));
        }
        match lift(&args, |args| Some(prim.eval(args))) {
            Some(PartiallyStatic::Static(Scalar::Real(value))) => {
                Ok(PartiallyStatic::Term(constant([value])))
            }
            Some(PartiallyStatic::Each(l, values)) if prim.result() == ScalarTy::Real => {
                let values = values.iter().map(|value| value.real()).collect::<Vec<_>>();
                Ok(PartiallyStatic::Term(self.element(l, constant(values), span)?))
            }
            Some(known) => Ok(known),
            None => outside(span, format!("the operation `{}`", spelling(prim)), REALS),
        }
    }

    fn array(&mut self, ty: &core::Ty, items: &[core::Term], span: Span) -> Read {
        let items = self.each(items)?;
        if *ty != core::Ty::array(core::Ty::REAL)
            && let Some(values) =
                items.iter().map(PartiallyStatic::scalar).collect::<Option<Vec<_>>>()
        {
            return Ok(PartiallyStatic::Table(values));
        }
        let Some(terms) = items.iter().map(PartiallyStatic::plain).collect::<Option<Vec<_>>>()
        else {
            return outside(span, "an array of arrays", ROWS);
        };
        if terms.iter().any(|t| *t.ty() != REAL) {
            return outside(span, "an array of something else than reals", ROWS);
        }
        Ok(PartiallyStatic::Array(vector(&terms), vec![terms.len()]))
    }

    fn reduce(&mut self, reduce: ReduceOp, array: &core::Term, span: Span) -> Read {
        let PartiallyStatic::Array(v, dims) = self.read(array, vec![])? else {
            return outside(
                span,
                format!("the reduction `{}` of something else than reals", reduce.name()),
                ROWS,
            );
        };
        let [n] = dims[..] else { return outside(span, "a reduction of a matrix", ROWS) };
        let unit = || constant([reduce.unit(ScalarTy::Real).real()]);
        Ok(PartiallyStatic::Term(match reduce {
            ReduceOp::Add => op(Op::Sum(n), v),
            ReduceOp::Mul | ReduceOp::Min | ReduceOp::Max if n == 0 => unit(),
            ReduceOp::Mul | ReduceOp::Min | ReduceOp::Max => {
                let step =
                    lam("p", REAL.times(REAL), |p| op(Op::Each(reduce.prim(ScalarTy::Real), 1), p));
                fold(step, unit(), v)
            }
            ReduceOp::And | ReduceOp::Or => {
                return outside(span, format!("the reduction `{}`", reduce.name()), REALS);
            }
        }))
    }
}

/// As users write it.
fn spelling(prim: Prim) -> &'static str {
    match prim.row().surface {
        Surface::Infix(name) | Surface::Prefix(name) | Surface::Call(name) => name,
        Surface::If => "if",
    }
}

/// Costs nothing to write twice.
fn is_atom(t: &Term) -> bool {
    match t.kind() {
        Kind::Var(_) | Kind::Unit => true,
        Kind::Op(o, _) => matches!(o, Op::Const(values) if values.0.len() == 1),
        Kind::Fst(t) | Kind::Snd(t) => is_atom(t),
        Kind::Prim(..) | Kind::Pair(..) | Kind::Lam(..) | Kind::App(..) | Kind::Own(_) => false,
    }
}

/// Numbers side by side.
fn vector(items: &[Term]) -> Term {
    let number = |t: &Term| {
        if let Kind::Op(Op::Const(values), _) = t.kind() { Some(values.0[0]) } else { None }
    };
    match items.iter().map(number).collect::<Option<Vec<_>>>() {
        Some(values) => constant(values),
        None => op_at(Op::Vector(items.len()), items),
    }
}

/// `x` to a known power, by squaring.
fn power(x: &Term, n: i64) -> Term {
    let mul = |a: Term, b: Term| op_at(Op::Each(Prim::Mul, 1), &[a, b]);
    match n {
        0 => constant([1.0]),
        1 => x.clone(),
        ..0 => op_at(Op::Each(Prim::Div, 1), &[constant([1.0]), power(x, n.saturating_neg())]),
        _ if n % 2 == 1 => mul(power(x, n - 1), x.clone()),
        2 => mul(x.clone(), x.clone()),
        _ => super::let_("q", power(x, n / 2), |q| mul(q.clone(), q)),
    }
}
