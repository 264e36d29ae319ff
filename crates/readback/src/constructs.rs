//! One method per construct.

use std::collections::HashSet;
use std::rc::Rc;

use lambada_anf::{
    Atom, Block, Checkpoint, Exp, FnId, LoopKind, NAMELESS, Nest, Op, Out, Param, Stm, Var,
};
use lambada_prim::{Prim, ReduceOp, Scalar, ScalarTy, Spelling, Surface, Tensor};
use lambada_source::{Part, Site};
use lambada_surface::ast::{self, BinaryOp, Clause, Expr, ExprKind, PatternKind, UnaryOp};
use lambada_surface::build;

use crate::choices;
use crate::elementwise::elementwise;
use crate::known::known_call;
use crate::lines::Line;
use crate::locals;
use crate::pieces::{call, infix, literal, reduced, width};
use crate::printer::{Items, Printer, is_update_of_a_value, mentioned};
use crate::reading::Each;
use crate::regions::Region;
use crate::sums::simple_sum;
use crate::uses::first_of_each;

/// Number of digits up to which a constant is printed as a number.
const SHORT: usize = 7;

/// Limit on the width of an expression printed for a constant.
const WRITTEN: usize = 32;

/// Whether a constant computed by this primitive is printed as its expression.
fn readable(op: Prim) -> bool {
    let reals = op.args().iter().all(|ty| *ty == ScalarTy::Real);
    let written = matches!(op.row().surface, Surface::Infix(_) | Surface::Call(_));
    op.result() == ScalarTy::Real && reals && written
}

/// Number of equal elements up to which they are listed.
const LISTED: i64 = 3;

/// Largest number of arrays that the library's `unzip…` functions return.
const UNZIPPED: usize = 8;

impl Printer<'_> {
    pub(crate) fn statement(&mut self, stm: &Stm, lines: &mut Vec<Line>) {
        let handles = stm.binds.iter().filter_map(|p| Some((p.var, p.ty.elem.node()?)));
        self.handles.types.extend(handles);
        let value = match &stm.exp {
            Exp::Op(Op::Prim(op, args)) => {
                if self.handles.test(stm.binds[0].var, *op, args) {
                    let value = self.prim(*op, args);
                    self.inline.insert(stm.binds[0].var, value);
                    return;
                }
                if op.result() == ScalarTy::Int {
                    self.ints.insert(stm.binds[0].var);
                }
                let value = self.prim(*op, args);
                if choices::is_test(&value) {
                    self.inline.insert(stm.binds[0].var, value);
                    return;
                }
                value
            }
            Exp::Op(Op::Index(x, index)) => {
                let places = self.atoms(index);
                let value = build::index(self.atom((*x).into()), places.clone());
                return self.define_element(stm.binds[0].var, *x, value, &places, lines);
            }
            Exp::Op(Op::Fill(value)) => {
                if matches!(value, Atom::Lit(zero) if *zero == zero.ty().zero()) {
                    self.tokens.suggest(stm.binds[0].var, "zeros");
                }
                let value = self.decided(*value);
                match stm.binds[0].ty.dims[..] {
                    [Atom::Lit(Scalar::Int(size @ 1..=LISTED))] => {
                        build::expr(ExprKind::Array(vec![value; size as usize]))
                    }
                    ref dims => self.filled(dims, value),
                }
            }
            Exp::Op(Op::Call { function, args, accumulators }) => {
                return self.call(stm, *function, args, accumulators, lines);
            }
            Exp::Op(Op::Node { node, tag, fields, .. }) => {
                let mut values: Vec<Expr> = fields.iter().map(|a| self.decided(*a)).collect();
                // An array that is indexed is bound to a name first.
                for k in self.table.indexed(*node, *tag) {
                    if !matches!(values[k].kind, ExprKind::Var(_)) {
                        let hint =
                            fields[k].as_var().map_or("part".into(), |x| self.tokens.hint(x));
                        let name = self.tokens.fresh(&hint);
                        let own = std::mem::replace(&mut values[k], build::var(name.clone()));
                        lines.push(Line::named(&name, own, None));
                    }
                }
                self.table.made(*node, *tag, values, &mut |hint| self.tokens.fresh(hint))
            }
            Exp::Op(Op::Tag(of)) => return self.tag(stm.binds[0].var, *of),
            Exp::Op(Op::Field { of, tag, field }) => match self.field(stm, *of, *tag, *field) {
                Some(value) => value,
                None => return,
            },
            Exp::Op(Op::Array(items)) if items.is_empty() => {
                let zero = literal(stm.binds[0].ty.elem.zero());
                self.filled(&stm.binds[0].ty.dims, zero)
            }
            Exp::Op(Op::Array(items)) => {
                let mut values = self.atoms(items);
                values[0] = self.decided(items[0]);
                build::expr(ExprKind::Array(values))
            }
            Exp::Op(Op::Constant(tensor)) => self.constant(tensor),
            Exp::Nest(Nest::For { index, extent, outs, body }) => {
                return self.for_(stm, *index, *extent, outs, body, lines);
            }
            Exp::Nest(Nest::Loop { params, inits, kind, body }) => {
                return self.loop_(stm, params, inits, kind, body, lines);
            }
            Exp::Nest(Nest::If { cond, then, otherwise }) => {
                return self.if_(stm, *cond, then, otherwise, lines);
            }
            Exp::Op(Op::Update { array, index, value }) => build::expr(ExprKind::Update(
                Box::new(self.atom((*array).into())),
                self.atoms(index),
                Box::new(self.atom(*value)),
            )),
            Exp::Op(Op::ArrayPrim(prim, args)) => {
                let args: Vec<Expr> = args.iter().map(|arg| self.atom((*arg).into())).collect();
                let value = match (prim.row().spelling, &args[..]) {
                    (Spelling::Infix(operator), [a, b]) => {
                        let operator = BinaryOp::spelled(operator)
                            .expect("an infix primitive is an operator of the language");
                        build::binary(operator, a.clone(), b.clone())
                    }
                    (Spelling::Infix(name) | Spelling::Definition(name), _) => {
                        build::call(build::var(name), args)
                    }
                };
                if stm.binds.len() > 1 {
                    return self.several(stm, value, lines);
                }
                value
            }
            Exp::Op(Op::Accumulate { acc, index, value }) => {
                let name = build::name(self.tokens.of(*acc));
                let add = ExprKind::Add(name, self.atoms(index), Box::new(self.atom(*value)));
                lines.push(Line::Effect { value: build::expr(add), unit: true });
                return;
            }
            Exp::Op(Op::Inspect { label, values, .. }) => {
                let mut parts: Vec<Expr> = values.iter().map(|a| self.decided(*a)).collect();
                let value = if parts.len() == 1 { parts.remove(0) } else { build::tuple(parts) };
                let inspect = match &**label {
                    "" => build::var("inspect"),
                    _ => build::expr(ExprKind::InspectAs(label.clone())),
                };
                let value = build::call(inspect, [value]);
                let (comment, vars) = (None, Vec::new());
                lines.push(Line::Let { comment, pattern: build::binds("_"), value, vars });
                return;
            }
            Exp::Op(Op::Check { cond, site, values }) if site.written => {
                let (words, shown) = self.text_of(site, values);
                let value = if *cond == Atom::bool(false) {
                    build::expr(ExprKind::Fail(words, shown))
                } else {
                    let check = build::expr(ExprKind::Check(words, shown));
                    build::call(check, [self.decided(*cond), build::tuple(Vec::new())])
                };
                lines.push(Line::Effect { value, unit: true });
                return;
            }
            // A program with cells has been refused.
            Exp::Op(
                Op::Accumulator(_)
                | Op::Freeze(_)
                | Op::Check { .. }
                | Op::Open { .. }
                | Op::Cell { .. }
                | Op::Scheduled(_),
            ) => return,
        };
        self.define(stm.binds[0].var, value, lines);
    }

    /// The text of a check, `"text {x}"`: its words and its values.
    fn text_of(&self, site: &Site, values: &[Atom]) -> (Vec<Rc<str>>, Vec<Expr>) {
        let (mut words, mut shown) = (vec![String::new()], Vec::new());
        for part in site.parts(values.len()) {
            match part {
                Part::Text(text) => *words.last_mut().expect("there are words") += text,
                Part::Value(k, _) => {
                    shown.push(self.decided(values[k]));
                    words.push(String::new());
                }
            }
        }
        (words.into_iter().map(Rc::from).collect(), shown)
    }

    /// `let (…, a, b) = accumulate a = x, b = y in …`
    pub(crate) fn region(&mut self, all: &Items, region: &Region, lines: &mut Vec<Line>) {
        let inits: Vec<Expr> = region.accs.iter().map(|it| self.decided(it.init)).collect();
        let leaving = &all.needed[&region.id()];
        let mut inside = HashSet::new();
        mentioned(all.block, &region.items, &mut inside);
        let only_leaving: Vec<Var> =
            leaving.iter().copied().filter(|var| !inside.contains(var)).collect();
        only_leaving.iter().for_each(|var| _ = self.exported.remove(var));
        self.leaving.extend(&only_leaving);
        let names: Vec<Rc<str>> = region.accs.iter().map(|it| self.tokens.bind(it.acc)).collect();
        let around = self.open.len();
        let functions = self.local_functions(all.block, region);
        let mut inner = Vec::new();
        self.items(all, &region.items, &mut inner);
        self.open.truncate(around);
        let results: Vec<Atom> = leaving.iter().map(|v| Atom::Var(*v)).collect();
        let body = self.finish(inner, &results, false);
        let body = functions
            .into_iter()
            .rev()
            .fold(body, |body, defs| build::expr(ExprKind::LetFunctions(defs, Box::new(body))));
        for var in &only_leaving {
            self.leaving.remove(var);
            self.inline.remove(var);
        }
        let leaving: Vec<Rc<str>> = leaving.iter().map(|v| self.tokens.bind(*v)).collect();
        let outs: Vec<Rc<str>> = region.accs.iter().map(|it| self.tokens.bind(it.out)).collect();
        let value = match simple_sum(self, all.block, region, &body, leaving.is_empty(), lines) {
            Some(value) if !is_update_of_a_value(&value) => {
                return self.define(region.id(), value, lines);
            }
            Some(value) => value,
            None => {
                let named = names.into_iter().map(build::name);
                build::expr(ExprKind::Accumulate(named.zip(inits).collect(), Box::new(body)))
            }
        };
        let line = match (&leaving[..], &outs[..]) {
            ([], [out]) => Line::named(out, value, Some(region.id())),
            ([], _) => Line::several(outs, value, region.accs.iter().map(|it| it.out).collect()),
            (_, _) => {
                let values = leaving.into_iter().map(build::binds).collect();
                let patterns = std::iter::once(build::tuple_pattern(values))
                    .chain(outs.into_iter().map(build::binds));
                let pattern = build::tuple_pattern(patterns.collect());
                Line::Let { comment: None, pattern, value, vars: Vec::new() }
            }
        };
        lines.push(line);
    }

    /// `let (a, b) = f x y`
    fn call(
        &mut self,
        stm: &Stm,
        function: FnId,
        args: &[Atom],
        accumulators: &[Var],
        lines: &mut Vec<Line>,
    ) {
        if let Some(known) = self.table.known(function) {
            return known_call(self, stm, &known.clone(), args, lines);
        }
        let mut values: Vec<Expr> = args.iter().map(|a| self.decided(*a)).collect();
        if values.is_empty() {
            values.push(build::tuple(Vec::new()));
        }
        let local = locals::find(self.locals, function, accumulators);
        let name = local.and_then(|k| self.local_names.get(&k)).cloned();
        let name = name.unwrap_or_else(|| self.table.function(function));
        let value = build::call(build::var(name), values);
        // A call that adds stays in its place.
        let adds = !accumulators.is_empty();
        match stm.binds.as_slice() {
            [] if adds => lines.push(Line::Effect { value, unit: true }),
            [p] if adds && self.uses.any(p.var) => {
                let name = self.tokens.bind(p.var);
                lines.push(Line::named(&name, value, Some(p.var)));
            }
            [p] if self.uses.any(p.var) => self.define(p.var, value, lines),
            _ => self.several(stm, value, lines),
        }
    }

    fn tag(&mut self, var: Var, of: Atom) {
        let known = of.as_var().and_then(|v| Some((v, *self.handles.types.get(&v)?)));
        let value = match known {
            Some((of, id)) => {
                self.handles.tags.insert(var, of);
                self.table.tag(id, self.atom(of.into()))
            }
            None => literal(Scalar::Int(-1)),
        };
        self.inline.insert(var, value);
    }

    /// A field; `None` if a pattern has already named it.
    fn field(&mut self, stm: &Stm, of: Atom, tag: u32, field: u32) -> Option<Expr> {
        let p = &stm.binds[0];
        let node = of.as_var().and_then(|v| Some((v, *self.handles.types.get(&v)?)));
        if let Some((of, _)) = node
            && let Some(value) = self.handles.field(of, tag, field)
        {
            self.inline.insert(p.var, value);
            return None;
        }
        let zero = self.table.zero(p.ty.elem);
        let zero = if p.ty.dims.is_empty() { zero } else { self.filled(&p.ty.dims, zero) };
        let Some((of, id)) = node else { return Some(zero) };
        let hint = self.part_hint(id, (tag, field), p.var);
        let name = self.tokens.fresh(&hint);
        let of = self.atom(of.into());
        let fresh = &mut |hint: &str| self.tokens.fresh(hint);
        Some(self.table.part(id, of, (tag, field), name, zero, fresh))
    }

    pub(crate) fn prim(&self, op: Prim, args: &[Atom]) -> Expr {
        let mut values = self.atoms(args);
        self.settle(op, args, &mut values);
        // A literal factor stands first, as people write it.
        if matches!(op, Prim::Mul | Prim::MulInt)
            && args[0].as_lit().is_none()
            && args[1].as_lit().is_some()
        {
            values.swap(0, 1);
        }
        let mut values = values.into_iter();
        let mut next = || values.next().expect("primitives have the arguments that their row says");
        match op.row().surface {
            Surface::Infix(symbol) => infix(symbol, next(), next()),
            Surface::Prefix("-") => build::unary(UnaryOp::Neg, next()),
            Surface::Prefix(_) => build::unary(UnaryOp::Not, next()),
            Surface::Call(f) => call(f, values),
            Surface::If => choices::if_(next(), next(), next()),
        }
    }

    /// An overloaded operation on integer literals alone would be one on reals: an annotation on
    /// one literal prevents that.
    fn settle(&self, op: Prim, args: &[Atom], values: &mut [Expr]) {
        let overloaded = !matches!(op, Prim::ToReal | Prim::PowInt | Prim::Polygamma);
        let ints: Vec<usize> = (0..args.len()).filter(|k| op.args()[*k] == ScalarTy::Int).collect();
        if overloaded && !ints.is_empty() && ints.iter().all(|k| args[*k].as_lit().is_some()) {
            values[ints[0]] = self.decided(args[ints[0]]);
        }
    }

    /// A constant as its author wrote it: `log 2.5`, and not the number.
    pub(crate) fn constant_of(&self, value: Scalar) -> Expr {
        let number = literal(value);
        let Scalar::Real(x) = value else { return number };
        if x.abs() == std::f64::consts::PI {
            let pi = build::var("pi");
            return if x < 0.0 { build::unary(UnaryOp::Neg, pi) } else { pi };
        }
        if !x.is_finite() || width(&number, SHORT).is_some() {
            return number;
        }
        match self.names.computed(x).or_else(|| self.names.computed(-x)) {
            Some((op, args)) if readable(op) => {
                let args: Vec<Atom> = args.iter().map(|arg| Atom::Lit(*arg)).collect();
                let written = self.prim(op, &args);
                let negated = self.names.computed(x).is_none();
                let written = if negated { build::unary(UnaryOp::Neg, written) } else { written };
                if width(&written, WRITTEN).is_some() { written } else { number }
            }
            Some(_) | None => number,
        }
    }

    fn filled(&mut self, dims: &[Atom], value: Expr) -> Expr {
        let mut clauses = Vec::with_capacity(dims.len());
        for dim in dims {
            let index = self.tokens.fresh("i");
            clauses.push(self.clause(&index, *dim));
        }
        build::expr(ExprKind::For(clauses, Box::new(value)))
    }

    fn constant(&mut self, tensor: &Tensor) -> Expr {
        if tensor.data.is_empty() {
            let dims: Vec<Atom> = tensor.dims.iter().map(|d| Atom::int(*d as i64)).collect();
            return self.filled(&dims, literal(tensor.elem().zero()));
        }
        let mut values: Vec<Expr> =
            (0..tensor.data.len()).map(|k| literal(tensor.data.get(k))).collect();
        values[0] = self.decided(Atom::Lit(tensor.data.get(0)));
        for size in tensor.dims.iter().rev() {
            let rows = values.chunks(*size).map(|row| build::expr(ExprKind::Array(row.to_vec())));
            values = rows.collect();
        }
        values.remove(0)
    }

    fn for_(
        &mut self,
        stm: &Stm,
        index: Var,
        extent: Atom,
        outs: &[Out],
        body: &Block,
        lines: &mut Vec<Line>,
    ) {
        let kept = self.uses.kept(stm);
        let listed = first_of_each(&body.results, &kept);
        let results: Vec<Atom> =
            body.results.iter().zip(&listed).filter(|(_, l)| **l).map(|(a, _)| *a).collect();
        if let [p] = &stm.binds[..]
            && let Some((op, array)) = self.fors.place(p.var)
        {
            let name = if op == ReduceOp::Max { "argmax" } else { "argmin" };
            let value = call(name, [self.atom(array.into())]);
            return self.define(p.var, value, lines);
        }
        if Each::of(stm, &kept).is_some_and(|each| elementwise(self, &each, lines)) {
            return;
        }
        let value = match stm.binds.first().and_then(|p| self.fors.array(p.var)) {
            Some(array) => self.atom(array.into()),
            None => {
                let name = self.tokens.bind(index);
                let inside = self.block(body, &results, has_rows_of_different_sizes(body, index));
                build::for_(self.clause(&name, extent), inside)
            }
        };
        // The used outputs: the way in which each is combined, its binding, and its place among the
        // results.
        let used: Vec<(Out, &Param, usize)> = (0..outs.len())
            .filter(|k| kept[*k])
            .map(|k| {
                let place = results.iter().position(|a| *a == body.results[k]);
                (outs[k], &stm.binds[k], place.expect("what is kept is listed"))
            })
            .collect();
        match used[..] {
            [] => lines.push(Line::Effect { value, unit: false }),
            [(Out::Collect, p, _)] => self.define(p.var, value, lines),
            [(Out::Reduce(op), p, _)] => {
                let value = self.reduced(op, p, value);
                self.define(p.var, value, lines);
            }
            _ => self.for_several(value, &results, &used, lines),
        }
    }

    /// A loop with several results: `let (a, b) = unzip (for …)`, and the reductions of these
    /// arrays.
    fn for_several(
        &mut self,
        value: Expr,
        results: &[Atom],
        used: &[(Out, &Param, usize)],
        lines: &mut Vec<Line>,
    ) {
        let collected = |place: usize| {
            let found = used.iter().find(|(out, _, at)| *at == place && *out == Out::Collect);
            found.map(|(_, p, _)| p.var)
        };
        let names: Vec<Rc<str>> = (0..results.len())
            .map(|place| match (collected(place), results[place]) {
                (Some(var), _) => self.tokens.bind(var),
                (None, term) => {
                    let hint = self.terms(term, used, place);
                    self.tokens.fresh(&hint)
                }
            })
            .collect();
        match names.len() {
            1 => lines.push(Line::named(&names[0], value, None)),
            count @ 2..=UNZIPPED => {
                let function = if count == 2 { "unzip".into() } else { format!("unzip{count}") };
                let unzip = call(&function, [value]);
                let vars: Option<Vec<Var>> = (0..count).map(collected).collect();
                lines.push(Line::several(names.clone(), unzip, vars.unwrap_or_default()));
            }
            _ => {
                let rows = self.tokens.fresh("rows");
                lines.push(Line::named(&rows, value, None));
                for (k, name) in names.iter().enumerate() {
                    let row = self.tokens.fresh("row");
                    let clause = Clause::In(build::binds(row.clone()), build::var(rows.clone()));
                    let part = build::for_(clause, build::component(build::var(row), k));
                    lines.push(Line::named(name, part, None));
                }
            }
        }
        for (out, p, place) in used {
            let array = build::var(names[*place].clone());
            match out {
                Out::Collect if collected(*place) == Some(p.var) => {}
                Out::Collect => _ = self.inline.insert(p.var, array),
                Out::Reduce(op) => {
                    let value = self.reduced(*op, p, array);
                    self.define(p.var, value, lines);
                }
            }
        }
    }

    /// The reduction of an array of terms to the bound value.
    pub(crate) fn reduced(&mut self, op: ReduceOp, bound: &Param, array: Expr) -> Expr {
        let function = match op {
            ReduceOp::Max if self.fors.has_iterations(bound.var) => "maximum",
            ReduceOp::Min if self.fors.has_iterations(bound.var) => "minimum",
            _ => return reduced(op, bound.ty.elem.scalar(), array), // needs no element
        };
        call(function, [array])
    }

    /// The name of an array of terms that are only summed: the author's name of the term, or a name
    /// made from the sum's.
    fn terms(&self, term: Atom, used: &[(Out, &Param, usize)], place: usize) -> Rc<str> {
        let nameless = |hint: &str| hint == NAMELESS;
        let own = term.as_var().map(|var| self.tokens.hint(var));
        let sum = used.iter().find(|(_, _, at)| *at == place);
        let sum = sum.map(|(_, p, _)| self.tokens.hint(p.var)).filter(|hint| !nameless(hint));
        own.filter(|hint| !nameless(hint) && Some(hint) != sum.as_ref())
            .or_else(|| sum.map(|sum| format!("{sum}_terms").into()))
            .unwrap_or_else(|| "terms".into())
    }

    fn loop_(
        &mut self,
        stm: &Stm,
        params: &[Param],
        inits: &[Atom],
        kind: &LoopKind,
        body: &Block,
        lines: &mut Vec<Line>,
    ) {
        let handles = params.iter().filter_map(|p| Some((p.var, p.ty.elem.node()?)));
        self.handles.types.extend(handles);
        let init = build::tuple(self.atoms(inits));
        let mut patterns = Vec::new();
        for (p, init) in params.iter().zip(inits) {
            let pattern = build::binds(self.tokens.bind(p.var));
            // Nothing else says that the literal is an int.
            let typed = matches!(init, Atom::Lit(Scalar::Int(_)));
            patterns.push(if typed {
                let int = build::named_ty("int");
                build::pattern(PatternKind::Annotated(Box::new(pattern), int))
            } else {
                pattern
            });
        }
        let (driver, body) = match kind {
            LoopKind::For { index, extent, checkpoint } => {
                let name = self.tokens.bind(*index);
                let clause = self.clause(&name, *extent);
                let policy = match checkpoint {
                    // Running every iteration again is a hint from one derivative to the next; the
                    // language has no syntax for it.
                    Checkpoint::All | Checkpoint::Entries => None,
                    Checkpoint::Sqrt => Some(ast::Checkpoint::Sqrt),
                    Checkpoint::States(states) => {
                        Some(ast::Checkpoint::States(Box::new(self.atom(*states))))
                    }
                };
                (
                    ast::LoopKind::For(Box::new(clause), None, policy),
                    self.block(body, &body.results, true),
                )
            }
            LoopKind::While(cond) => {
                let cond = self.block(cond, &cond.results, true);
                let body = self.block(body, &body.results, true);
                (ast::LoopKind::While(Box::new(cond)), body)
            }
        };
        let state = ast::Param { pattern: build::tuple_pattern(patterns), ty: None };
        let whole = ExprKind::Loop(state, Box::new(init), driver, Box::new(body));
        let value = build::expr(whole);
        match stm.binds.as_slice() {
            [p] if self.uses.any(p.var) => self.define(p.var, value, lines),
            _ => self.several(stm, value, lines),
        }
    }

    /// `let (a, _, b) = value`
    pub(crate) fn several(&mut self, stm: &Stm, value: Expr, lines: &mut Vec<Line>) {
        let kept = self.uses.kept(stm);
        if !kept.contains(&true) {
            lines.push(Line::named(&"_".into(), value, None));
            return;
        }
        let mut name = |(p, kept): (&Param, bool)| {
            if kept { self.tokens.bind(p.var) } else { Rc::from("_") }
        };
        let names = stm.binds.iter().zip(&kept).map(|(p, kept)| name((p, *kept))).collect();
        let all = if kept.contains(&false) { &[][..] } else { &stm.binds[..] };
        lines.push(Line::several(names, value, all.iter().map(|p| p.var).collect()));
    }

    fn if_(
        &mut self,
        stm: &Stm,
        cond: Atom,
        then: &Block,
        otherwise: &Block,
        lines: &mut Vec<Line>,
    ) {
        let kept = self.uses.kept(stm);
        let branch = |printer: &mut Self, block: &Block| {
            let results = block.results.iter().zip(&kept).filter(|(_, k)| **k).map(|(a, _)| *a);
            printer.block(block, &results.collect::<Vec<_>>(), true)
        };
        let matched = self.matched(cond, [then, otherwise], &mut { branch });
        let value = match matched {
            Some(value) => value,
            None => {
                let cond = self.atom(cond);
                let (then, otherwise) = (branch(self, then), branch(self, otherwise));
                conditional(cond, then, otherwise)
            }
        };
        let (places, binds): (Vec<usize>, Vec<&Param>) =
            stm.binds.iter().enumerate().filter(|(k, _)| kept[*k]).unzip();
        let differ = places.iter().any(|k| sizes_differ(&branch_sizes([then, otherwise], *k)));
        let value = if differ {
            let types = binds.iter().map(|p| self.table.ty(&p.ty, &|_| None));
            build::annotated(value, build::tuple_ty(types.collect()))
        } else {
            value
        };
        let used: Vec<Var> = binds.iter().map(|p| p.var).collect();
        match used[..] {
            [] => lines.push(Line::Effect { value, unit: true }),
            [one] => self.define(one, value, lines),
            _ => {
                let names = used.iter().map(|v| self.tokens.bind(*v)).collect();
                lines.push(Line::several(names, value, used));
            }
        }
    }
}

/// Whether the number of iterations of a `for` in this body depends on the iteration. If it only
/// adds, its units are no value of the body: rows have one size.
fn has_rows_of_different_sizes(body: &Block, index: Var) -> bool {
    let mut varying: HashSet<Atom> = HashSet::from([index.into()]);
    varying.extend(body.stms.iter().flat_map(|stm| &stm.binds).map(|p| Atom::from(p.var)));
    let varies = |stm: &Stm| matches!(&stm.exp, Exp::Nest(Nest::For { extent, .. }) if varying.contains(extent));
    body.stms.iter().any(varies)
}

/// The sizes of the k-th result in all branches of a choice between choices; `None` for a size
/// that is no constant.
fn branch_sizes(branches: [&Block; 2], k: usize) -> Vec<Vec<Option<i64>>> {
    let constant = |dim: &Atom| match dim {
        Atom::Lit(Scalar::Int(size)) => Some(*size),
        Atom::Lit(_) | Atom::Var(_) => None,
    };
    let of_branch = |block: &&Block| {
        let result = block.results[k].as_var();
        let made = block
            .stms
            .iter()
            .find_map(|stm| Some((stm, stm.binds.iter().position(|p| Some(p.var) == result)?)));
        match made {
            Some((Stm { exp: Exp::Nest(Nest::If { then, otherwise, .. }), .. }, k)) => {
                branch_sizes([then, otherwise], k)
            }
            Some((stm, k)) => vec![stm.binds[k].ty.dims.iter().map(constant).collect()],
            None => Vec::new(),
        }
    };
    branches.iter().flat_map(of_branch).collect()
}

/// Whether an axis has different constants as its sizes. The types refuse such a choice unless its
/// type is written.
fn sizes_differ(branches: &[Vec<Option<i64>>]) -> bool {
    let axes = branches.iter().map(Vec::len).max().unwrap_or(0);
    (0..axes).any(|axis| {
        let mut constants = branches.iter().filter_map(|sizes| sizes.get(axis).copied().flatten());
        constants.next().is_some_and(|first| constants.any(|other| other != first))
    })
}

/// `if c then a else b`; `c && a` where `b` is `false`, `c || b` where `a` is `true`.
fn conditional(cond: Expr, then: Expr, otherwise: Expr) -> Expr {
    let short =
        |e: &Expr| !matches!(e.kind, ExprKind::Let(..) | ExprKind::Match(..) | ExprKind::Loop(..));
    match (&then.kind, &otherwise.kind) {
        (ExprKind::Bool(true), _) if short(&otherwise) => {
            build::binary(BinaryOp::Or, cond, otherwise)
        }
        (_, ExprKind::Bool(false)) if short(&then) => build::binary(BinaryOp::And, cond, then),
        _ => choices::if_(cond, then, otherwise),
    }
}
