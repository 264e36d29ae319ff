//! A `for` that does the same to the elements of whole arrays is arithmetic of arrays.
//!
//! ```text
//!   for i < n => exp x[i] * c - y[k, i]              exp x * c - y[k]
//!   for i < n, j < m => x[j, i]                      transpose x
//!   sum (for i < n => let d = x[i] - c in d * d)     let d = x - c … dot d d
//!   minimum (for i < n => if x[i] == maximum x … )   argmax x
//! ```
//!
//! * Assumes: arithmetic and scalar functions of reals serve arrays.
//! * Gives: nothing for a body with anything else, or with an array that is larger than the range.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Block, Effect, Elem, Exp, Nest, Op, Out, Param, Stm, Var};
use lambada_prim::{Prim, ReduceOp, ScalarTy, Surface};
use lambada_surface::ast::Expr;
use lambada_surface::{build, print_expr};

use crate::checking::is_written_check;
use crate::lines::Line;
use crate::pieces::call;
use crate::printer::Printer;

/// A body as it is read.
#[derive(Default)]
struct Reading {
    /// The indices of the nested `for`s, outermost first, with the sizes of their ranges.
    axes: Vec<(Var, Atom)>,
    /// Elements: the variable, the array, the places of the row in it, and whether its axes are
    /// exchanged.
    elements: Vec<(Var, Var, Vec<Atom>, bool)>,
    /// Rows of arrays, with their places.
    rows: HashMap<Var, (Var, Vec<Atom>)>,
    prims: Vec<(Var, Prim, Vec<Atom>)>,
    /// The variables that are arrays in the text.
    arrays: HashSet<Var>,
}

/// The factors of products of two arrays.
type Factors = HashMap<Var, [Expr; 2]>;

/// A `for`: its index and range, its body, and the outputs that are used, each with its result in
/// the body.
pub(crate) struct Each<'a> {
    pub(crate) axis: (Var, Atom),
    pub(crate) body: &'a Block,
    pub(crate) outputs: Vec<(Out, &'a Param, Atom)>,
}

/// Prints a `for` as arithmetic of arrays, and says whether that can be done.
pub(crate) fn elementwise(of: &mut Printer, each: &Each, lines: &mut Vec<Line>) -> bool {
    let Each { axis, body, outputs } = each;
    let reduces = |(out, p, _): &(Out, &Param, Atom)| match out {
        Out::Collect => true,
        Out::Reduce(ReduceOp::Add) => p.ty.dims.is_empty(),
        Out::Reduce(ReduceOp::Max | ReduceOp::Min) => of.fors.has_iterations(p.var),
        Out::Reduce(_) => false,
    };
    let results: Vec<Atom> = outputs.iter().map(|(_, _, result)| *result).collect();
    if outputs.is_empty() || !outputs.iter().all(reduces) {
        return false;
    }
    let Some((last, factors)) = arrays(of, vec![*axis], body, &results, lines) else {
        return false;
    };
    let mut named: HashMap<Var, Var> = HashMap::new();
    for ((out, p, _), result) in outputs.iter().zip(&last) {
        let several = last.iter().filter(|other| *other == result).count() > 1;
        let value = of.atom((*result).into());
        if *out == Out::Collect && several {
            // An array that is summed, too, has a name.
            let name = of.tokens.bind(p.var);
            lines.push(Line::named(&name, value, Some(p.var)));
            named.insert(*result, p.var);
        } else if *out == Out::Collect {
            of.define(p.var, value, lines);
        }
    }
    for ((out, p, _), result) in outputs.iter().zip(&last) {
        let Out::Reduce(op) = out else { continue };
        let array = match named.get(result) {
            Some(array) => of.name(*array),
            None => of.atom((*result).into()),
        };
        let value = match factors.get(result) {
            Some(factors) if *op == ReduceOp::Add && !named.contains_key(result) => {
                call("dot", factors.clone())
            }
            _ => of.reduced(*op, p, array),
        };
        of.define(p.var, value, lines);
    }
    true
}

/// The place of an extremum in an array: the first element that is equal to it, or NaN.
pub(crate) fn place(of: &mut Printer, each: &Each, lines: &mut Vec<Line>) -> bool {
    let Each { axis, body, outputs } = each;
    let [(Out::Reduce(ReduceOp::Min), p, result)] = &outputs[..] else { return false };
    let Some((before, [equal, differs, either, select])) = body.stms.split_last_chunk() else {
        return false;
    };
    let (Some(equal), Some(differs), Some(either), Some(select)) =
        (prim(equal), prim(differs), prim(either), prim(select))
    else {
        return false;
    };
    let ((x, Prim::Eq, [e, extremum]), (y, Prim::Ne, [a, b])) = (equal, differs) else {
        return false;
    };
    let ((z, Prim::Or, [s, t]), (w, Prim::SelectInt, [c, at, _])) = (either, select) else {
        return false;
    };
    let joined = *s == x.into() && *t == y.into() && *c == z.into() && *result == w.into();
    if !joined || a != e || b != e || *at != axis.0.into() || !of.fors.has_iterations(p.var) {
        return false;
    }
    let Some((op, text)) = extremum.as_var().and_then(|x| of.extrema.get(&x)).cloned() else {
        return false;
    };
    let block = Block { stms: before.to_vec(), results: vec![*e] };
    let (count, inline) = (lines.len(), of.inline.clone());
    let array = arrays(of, vec![*axis], &block, &[*e], lines);
    let array = array.map(|(last, _)| of.atom(last[0].into()));
    match array.filter(|array| lines.len() == count && print_expr(array) == text) {
        Some(array) => {
            let name = if op == ReduceOp::Max { "argmax" } else { "argmin" };
            of.define(p.var, call(name, [array]), lines);
            true
        }
        None => {
            lines.truncate(count);
            of.inline = inline;
            false
        }
    }
}

/// Makes the results of a body texts for whole arrays; returns their variables, and the factors
/// of products of arrays.
pub(crate) fn arrays(
    of: &mut Printer,
    axes: Vec<(Var, Atom)>,
    body: &Block,
    results: &[Atom],
    lines: &mut Vec<Line>,
) -> Option<(Vec<Var>, Factors)> {
    let mut reading = Reading { axes, ..Reading::default() };
    let last = read(of, body, results, &mut reading)?;
    if last.iter().any(|x| !reading.arrays.contains(x)) {
        return None;
    }
    for (var, array, row, exchanged) in &reading.elements {
        let array = of.atom((*array).into());
        let whole = if row.is_empty() { array } else { build::index(array, of.atoms(row)) };
        let whole = if *exchanged { call("transpose", [whole]) } else { whole };
        of.inline.insert(*var, whole);
    }
    let mut factors = HashMap::new();
    for (var, op, args) in &reading.prims {
        let is_array = |x: &Atom| x.as_var().is_some_and(|x| reading.arrays.contains(&x));
        if *op == Prim::Mul && args.iter().all(is_array) {
            factors.insert(*var, [of.atom(args[0]), of.atom(args[1])]);
        }
        let value = of.prim(*op, args);
        if of.uses.count(*var) > 1 && !last.contains(var) {
            let name = of.tokens.bind(*var);
            lines.push(Line::named(&name, value, Some(*var)));
        } else {
            of.inline.insert(*var, value);
        }
    }
    Some((last, factors))
}

/// Reads a body; returns the variables of its results.
fn read(of: &Printer, body: &Block, results: &[Atom], reading: &mut Reading) -> Option<Vec<Var>> {
    let last: Vec<Var> = results.iter().map(|a| a.as_var()).collect::<Option<_>>()?;
    for (k, stm) in body.stms.iter().enumerate() {
        if stm.exp.effect() == Effect::Fails && !is_written_check(stm) {
            continue;
        }
        let [p] = &stm.binds[..] else { return None };
        match &stm.exp {
            Exp::Op(Op::Index(array, at)) => element(of, p, *array, at, reading)?,
            Exp::Op(Op::Prim(op, args)) => {
                let is_index =
                    |a: &Atom| reading.axes.iter().any(|(index, _)| *a == (*index).into());
                if !serves_arrays(*op) || args.iter().any(is_index) {
                    return None;
                }
                let is_array = |a: &Atom| a.as_var().is_some_and(|x| reading.arrays.contains(&x));
                if args.iter().any(is_array) {
                    reading.arrays.insert(p.var);
                }
                reading.prims.push((p.var, *op, args.clone()));
            }
            Exp::Nest(Nest::For { index, extent, outs, body: inner })
                if k + 1 == body.stms.len() && outs[..] == [Out::Collect] && last == [p.var] =>
            {
                reading.axes.push((*index, *extent));
                return read(of, inner, &inner.results, reading);
            }
            Exp::Op(_) | Exp::Nest(_) => return None,
        }
    }
    // An element of fewer axes would make a smaller array.
    let axes = reading.axes.len();
    let deep = |(_, array, row, _): &(Var, Var, Vec<Atom>, bool)| {
        of.fors.ty(*array).is_some_and(|ty| ty.dims.len() == row.len() + axes)
    };
    reading.elements.iter().all(deep).then_some(last)
}

/// Reads an element or a row of an array.
fn element(of: &Printer, p: &Param, array: Var, at: &[Atom], reading: &mut Reading) -> Option<()> {
    let (array, mut places) = reading.rows.get(&array).cloned().unwrap_or((array, Vec::new()));
    places.extend(at);
    if !p.ty.dims.is_empty() {
        reading.rows.insert(p.var, (array, places));
        return Some(());
    }
    let ty = of.fors.ty(array)?;
    let first = places.len().checked_sub(reading.axes.len())?;
    let (row, own) = places.split_at(first);
    let is_index = |a: &Atom| reading.axes.iter().any(|(index, _)| *a == (*index).into());
    let fits = |own: &[Atom]| {
        let axes = reading.axes.iter().zip(own).zip(&ty.dims[first..]);
        axes.into_iter()
            .all(|(((index, n), place), m)| *place == Atom::Var(*index) && of.fors.equal(*n, *m))
    };
    let crosswise = || {
        let ([(i, n), (j, m)], [a, b]) = (&reading.axes[..], own) else { return false };
        *a == Atom::Var(*j)
            && *b == Atom::Var(*i)
            && of.fors.equal(*n, ty.dims[first + 1])
            && of.fors.equal(*m, ty.dims[first])
    };
    let exchanged = match fits(own) {
        true => false,
        false if crosswise() => true,
        false => return None,
    };
    if ty.elem != Elem::REAL || ty.dims.len() != places.len() || row.iter().any(is_index) {
        return None;
    }
    reading.elements.push((p.var, array, row.to_vec(), exchanged));
    reading.arrays.insert(p.var);
    Some(())
}

/// A scalar primitive, with what it binds.
fn prim(stm: &Stm) -> Option<(Var, Prim, &[Atom])> {
    let Exp::Op(Op::Prim(op, args)) = &stm.exp else { return None };
    Some((stm.binds[0].var, *op, args))
}

fn serves_arrays(op: Prim) -> bool {
    let reals = op.args().iter().all(|ty| *ty == ScalarTy::Real) && op.result() == ScalarTy::Real;
    reals && matches!(op.row().surface, Surface::Infix(_) | Surface::Prefix(_) | Surface::Call(_))
}
