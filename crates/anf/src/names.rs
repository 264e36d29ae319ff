//! Variables, and the supply of them.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_prim::{Precision, Prim, Scalar};
use lambada_source::Span;

/// A variable, bound once in a function; [`Names`] has its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

/// The supply of variables of a function, with their names, and the precision of its reals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names {
    hints: Vec<Rc<str>>,
    /// By variable: its place, see [`Names::origin`].
    origins: Vec<Span>,
    /// The place of new variables.
    current: Span,
    /// By the bits of a real: the operation and the constants that computed it. No real derives
    /// from itself, with either sign, in any number of steps.
    folded: HashMap<u64, (Prim, Vec<Scalar>)>,
    /// The magnitudes of these constants. A real that is here before it is computed stays a number,
    /// so that there are no cycles.
    written: HashSet<u64>,
    precision: Precision,
}

impl Names {
    /// No variables, for reals of this precision.
    pub fn with(precision: Precision) -> Names {
        Names { precision, ..Names::default() }
    }

    /// The precision of reals.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// A new variable, called `hint` where people see it.
    pub fn fresh(&mut self, hint: impl Into<Rc<str>>) -> Var {
        self.hints.push(hint.into());
        self.origins.push(self.current);
        Var((self.hints.len() - 1) as u32)
    }

    /// A new variable with the name of an old one.
    pub fn again(&mut self, var: Var) -> Var {
        self.hints.push(self.hint(var));
        self.origins.push(self.origins[var.0 as usize]);
        Var((self.hints.len() - 1) as u32)
    }

    /// Sets the place in the program of new variables; returns the previous one. The default span
    /// is no place.
    pub fn come_from(&mut self, span: Span) -> Span {
        std::mem::replace(&mut self.current, span)
    }

    /// The place in the program that a variable comes from, if it is known: reported if there is no
    /// memory for an array.
    pub fn origin(&self, var: Var) -> Option<Span> {
        Some(self.origins[var.0 as usize]).filter(|span| *span != Span::default())
    }

    /// The value of a primitive on constants. The computation is recorded, for people.
    pub fn fold(&mut self, op: Prim, args: &[Scalar]) -> Scalar {
        let args: Vec<Scalar> = args.iter().map(|arg| self.precision.scalar(*arg)).collect();
        let value = self.precision.eval(op, &args);
        if let Scalar::Real(x) = value {
            let of: HashSet<u64> = args.iter().filter_map(magnitude).collect();
            let known = x.abs().to_bits();
            if !of.contains(&known) && !self.written.contains(&known) {
                self.folded.entry(x.to_bits()).or_insert_with(|| {
                    self.written.extend(of);
                    (op, args)
                });
            }
        }
        value
    }

    /// A primitive and constants that give exactly this real, if the program has computed it so.
    pub fn computed(&self, value: f64) -> Option<(Prim, &[Scalar])> {
        self.folded.get(&value.to_bits()).map(|(op, args)| (*op, &args[..]))
    }

    /// Renames a variable.
    pub fn rename(&mut self, var: Var, hint: impl Into<Rc<str>>) {
        self.hints[var.0 as usize] = hint.into();
    }

    /// The name of a variable.
    pub fn hint(&self, var: Var) -> Rc<str> {
        self.hints[var.0 as usize].clone()
    }

    /// Number of variables.
    pub fn len(&self) -> usize {
        self.hints.len()
    }

    /// Whether there are no variables.
    pub fn is_empty(&self) -> bool {
        self.hints.is_empty()
    }
}

/// The bits of a real without its sign.
fn magnitude(value: &Scalar) -> Option<u64> {
    match value {
        Scalar::Real(x) => Some(x.abs().to_bits()),
        Scalar::Int(_) | Scalar::Bool(_) => None,
    }
}
