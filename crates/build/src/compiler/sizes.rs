//! Sizes of arrays as expressions over the arguments of a library function.

use lambada_anf::{Atom, Block, Exp, Op, Var};
use lambada_prim::{Prim, Scalar};
use lambada_source::FileId;
use lambada_surface::ast::{BinaryOp, Expr, ExprKind, Item};

/// A size.
#[derive(Clone, Debug, PartialEq)]
pub enum Extent {
    /// A constant.
    Constant(i64),
    /// An argument.
    Argument(String),
    /// Computed.
    Computed(Arithmetic, Box<[Extent; 2]>),
}

/// Operator of a computed size. Integers wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// `a / b`, rounded down; 0 if `b` is 0
    Div,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
}

/// Syntax of a printed size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// For readers.
    Plain,
    /// The C of a library, which defines `lam_quotient`, `lam_least` and `lam_most`.
    C,
    /// Declarations in Fortran.
    Fortran,
    /// A generated Rust module, which defines a function `quotient`.
    Rust,
    /// A generated module of JavaScript, with arguments in `sizes` and a function `quotient`.
    JavaScript,
}

impl Extent {
    /// The expression as text.
    pub fn text(&self, spelling: Spelling) -> String {
        self.at(spelling, 0)
    }

    /// Adds parentheses if the operator binds less tightly than `level`: 0 for sums, 1 for
    /// products, 2 for operands.
    fn at(&self, spelling: Spelling, level: u8) -> String {
        match self {
            Extent::Constant(value) if spelling == Spelling::Rust => format!("{value}_i64"),
            Extent::Constant(value) => value.to_string(),
            Extent::Argument(name) if spelling == Spelling::JavaScript => format!("sizes.{name}"),
            Extent::Argument(name) => name.clone(),
            Extent::Computed(op, operands) => op.text(operands, spelling, level),
        }
    }

    /// Adds the names that the size mentions.
    pub fn names<'a>(&'a self, all: &mut Vec<&'a str>) {
        match self {
            Extent::Constant(_) => {}
            Extent::Argument(name) => all.push(name),
            Extent::Computed(_, operands) => operands.iter().for_each(|e| e.names(all)),
        }
    }
}

impl Arithmetic {
    fn text(self, [a, b]: &[Extent; 2], spelling: Spelling, level: u8) -> String {
        let call = |name: &str| format!("{name}({}, {})", a.at(spelling, 0), b.at(spelling, 0));
        let method = |name: &str| format!("{}.{name}({})", a.at(spelling, 2), b.at(spelling, 0));
        let infix = |op: &str, own: u8| {
            let text = format!("{} {op} {}", a.at(spelling, own), b.at(spelling, own + 1));
            if own < level { format!("({text})") } else { text }
        };
        match (self, spelling) {
            (Arithmetic::Add, Spelling::Rust) => method("wrapping_add"),
            (Arithmetic::Sub, Spelling::Rust) => method("wrapping_sub"),
            (Arithmetic::Mul, Spelling::Rust) => method("wrapping_mul"),
            (Arithmetic::Div, Spelling::Rust) => call("quotient"),
            (Arithmetic::Min, Spelling::Rust) => method("min"),
            (Arithmetic::Max, Spelling::Rust) => method("max"),
            (Arithmetic::Add, _) => infix("+", 0),
            (Arithmetic::Sub, _) => infix("-", 0),
            (Arithmetic::Mul, _) => infix("*", 1),
            (Arithmetic::Div, Spelling::JavaScript) => call("quotient"),
            (Arithmetic::Min, Spelling::JavaScript) => call("Math.min"),
            (Arithmetic::Max, Spelling::JavaScript) => call("Math.max"),
            (Arithmetic::Div, Spelling::Plain) => infix("//", 1),
            (Arithmetic::Div, Spelling::Fortran) => infix("/", 1),
            (Arithmetic::Div, Spelling::C) => call("lam_quotient"),
            (Arithmetic::Min, Spelling::C) => call("lam_least"),
            (Arithmetic::Max, Spelling::C) => call("lam_most"),
            (Arithmetic::Min, Spelling::Plain | Spelling::Fortran) => call("min"),
            (Arithmetic::Max, Spelling::Plain | Spelling::Fortran) => call("max"),
        }
    }
}

fn computed(op: Arithmetic, a: Extent, b: Extent) -> Extent {
    Extent::Computed(op, Box::new([a, b]))
}

/// Parses a size expression in a signature, such as `d*(d-1)//2`, if `known` resolves all its
/// names.
pub(crate) fn written(text: &str, known: &dyn Fn(&str) -> Option<Extent>) -> Option<Extent> {
    let (module, problems) = lambada_surface::parse(&format!("def size = {text}\n"), FileId(0));
    match (&module.items[..], problems.is_empty()) {
        ([Item::Def(def)], true) => of_expr(&def.body, known),
        _ => None,
    }
}

fn of_expr(expr: &Expr, known: &dyn Fn(&str) -> Option<Extent>) -> Option<Extent> {
    if let ExprKind::Int(value) = &expr.kind {
        return Some(Extent::Constant(*value));
    }
    if let ExprKind::Var(name) = &expr.kind {
        return known(name);
    }
    let ExprKind::Binary(op, a, b) = &expr.kind else { return None };
    let op = [
        (BinaryOp::Add, Arithmetic::Add),
        (BinaryOp::Sub, Arithmetic::Sub),
        (BinaryOp::Mul, Arithmetic::Mul),
        (BinaryOp::FloorDiv, Arithmetic::Div),
    ]
    .into_iter()
    .find_map(|(written, ours)| (written == *op).then_some(ours))?;
    Some(computed(op, of_expr(a, known)?, of_expr(b, known)?))
}

/// Traces a size through the body of a function to sizes in `known`.
pub(crate) fn traced(
    atom: &Atom,
    body: &Block,
    known: &dyn Fn(Var) -> Option<Extent>,
) -> Option<Extent> {
    let var = match atom {
        Atom::Lit(Scalar::Int(value)) => return Some(Extent::Constant(*value)),
        Atom::Lit(Scalar::Real(_) | Scalar::Bool(_)) => return None,
        Atom::Var(var) => *var,
    };
    if let Some(extent) = known(var) {
        return Some(extent);
    }
    let stm = body.stms.iter().find(|stm| stm.binds.iter().any(|bind| bind.var == var))?;
    let Exp::Op(Op::Prim(prim, args)) = &stm.exp else { return None };
    let op = [
        (Prim::AddInt, Arithmetic::Add),
        (Prim::SubInt, Arithmetic::Sub),
        (Prim::MulInt, Arithmetic::Mul),
        (Prim::DivInt, Arithmetic::Div),
        (Prim::MinInt, Arithmetic::Min),
        (Prim::MaxInt, Arithmetic::Max),
    ]
    .into_iter()
    .find_map(|(computes, ours)| (computes == *prim).then_some(ours))?;
    let [a, b] = &args[..] else { return None };
    Some(computed(op, traced(a, body, known)?, traced(b, body, known)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Extent> {
        let known = |name: &str| (name != "z").then(|| Extent::Argument(name.to_string()));
        written(text, &known)
    }

    #[test]
    fn sizes_are_spelled_for_each_language() {
        let size = of("d * (d - 1) // 2 + (n - (k - 1))").expect("a size");
        assert_eq!(size.text(Spelling::Plain), "d * (d - 1) // 2 + (n - (k - 1))");
        assert_eq!(size.text(Spelling::C), "lam_quotient(d * (d - 1), 2) + (n - (k - 1))");
        assert_eq!(
            of("d * (d - 1) // 2").expect("a size").text(Spelling::Rust),
            "quotient(d.wrapping_mul(d.wrapping_sub(1_i64)), 2_i64)"
        );
    }

    #[test]
    fn what_is_not_arithmetic_is_no_size() {
        assert_eq!(of("z + 1"), None);
        assert_eq!(of("f n"), None);
        assert_eq!(of("n +"), None);
    }
}
