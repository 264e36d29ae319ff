//! A `for` that does the same to the elements of whole arrays is arithmetic of arrays.
//!
//! ```text
//!   for i < n => exp x[i] * c - y[k, i]              exp x * c - y[k]
//!   for i < n, j < m => x[j, i]                      transpose x
//!   sum (for i < n => let d = x[i] - c in d * d)     let d = x - c … dot d d
//! ```
//!
//! * Assumes: such a `for` has one output, as [`crate::distributed`] leaves it.

use std::collections::HashMap;

use lambada_anf::{Atom, Out, Var};
use lambada_prim::{Prim, ReduceOp};
use lambada_surface::ast::Expr;
use lambada_surface::build;

use crate::lines::Line;
use crate::pieces::{call, transposed};
use crate::printer::Printer;
use crate::reading::{Each, Reading, Step};

/// The factors of products of two arrays.
type Factors = HashMap<Var, [Expr; 2]>;

/// Prints a `for` as arithmetic of arrays, and says whether that can be done.
pub(crate) fn elementwise(of: &mut Printer, each: &Each, lines: &mut Vec<Line>) -> bool {
    let Some((reading, last)) = each.whole(&of.fors) else { return false };
    let mut factors = arrays(of, &reading, &last, lines);
    let (out, p, _) = each.outputs[0];
    let value = of.atom(last[0].into());
    let value = match (out, factors.remove(&last[0])) {
        (Out::Collect, _) => value,
        (Out::Reduce(ReduceOp::Add), Some(factors)) => call("dot", factors),
        (Out::Reduce(op), _) => of.reduced(op, p, value),
    };
    of.define(p.var, value, lines);
    true
}

/// Makes the values of a body texts for whole arrays; returns the factors of products of arrays.
pub(crate) fn arrays(
    of: &mut Printer,
    reading: &Reading,
    last: &[Var],
    lines: &mut Vec<Line>,
) -> Factors {
    let mut factors = HashMap::new();
    for step in &reading.steps {
        let (var, value) = match step {
            Step::Element { var, array, row, exchanged } => {
                let array = of.atom((*array).into());
                let whole = if row.is_empty() { array } else { build::index(array, of.atoms(row)) };
                let whole = if *exchanged { transposed(whole) } else { whole };
                of.inline.insert(*var, whole);
                continue;
            }
            Step::Prim(var, op, args) => {
                let is_array = |x: &Atom| x.as_var().is_some_and(|x| reading.is_array(x));
                if *op == Prim::Mul && args.iter().all(is_array) {
                    factors.insert(*var, [of.atom(args[0]), of.atom(args[1])]);
                }
                (*var, of.prim(*op, args))
            }
            Step::Outer(var, args) => (*var, call("outer", of.atoms(args))),
            Step::Read(..) => continue, // such a body is no arithmetic
        };
        if of.uses.count(var) > 1 && !last.contains(&var) {
            let name = of.tokens.bind(var);
            lines.push(Line::named(&name, value, Some(var)));
        } else {
            of.inline.insert(var, value);
        }
    }
    factors
}
