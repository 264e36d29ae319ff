//! Constant folding and the laws of arithmetic, as rows of two tables.
//!
//! Assumes: nothing. Gives: no primitive with constant arguments only, none that a row of the
//! tables matches. Keeps: values; [`LAWS`] keep derivatives of every order too, [`POWERS`] do not.
//!
//! **"Keeps values", for reals.** The laws are those of IEEE arithmetic: they hold for both zeros,
//! infinities and NaN. So `x - 0` is `x`, but `x + 0` is not (`-0 + 0 = +0`), nor is `0 - x` the
//! same as `-x`, nor `-(x - y)` the same as `y - x`; and `0 * x` and `x - x` stay. A law may round
//! once less (`x ** 2 = x * x`). Derivatives do not need more, since a cotangent that is absent is
//! never computed. Sums are not reassociated here. Integers wrap, and all laws of a ring hold for
//! them.

use std::rc::Rc;

use lambada_anf::{Atom, Exp, NAMELESS, Op, Param, Stm, Ty, negative};
use lambada_prim::{Prim, Scalar, ScalarTy};

use crate::rewrite::{Context, Replacement};
use crate::scope::Scope;

/// One side of a rule.
#[derive(Clone, Copy, Debug)]
pub enum Pattern {
    /// Anything; the same thing where the number is the same.
    Any(usize),
    /// This real; the two zeros differ.
    Real(f64),
    /// This integer.
    Int(i64),
    /// This truth value.
    Bool(bool),
    /// A primitive of these arguments.
    Op(Prim, &'static [Pattern]),
}

/// `left = right`
#[derive(Clone, Copy, Debug)]
pub struct Law {
    /// Its name.
    pub name: &'static str,
    /// The primitive of the left side.
    pub op: Prim,
    /// The arguments of the left side.
    pub args: &'static [Pattern],
    /// The right side.
    pub right: Pattern,
}

const X: Pattern = Pattern::Any(0);
const Y: Pattern = Pattern::Any(1);
const C: Pattern = Pattern::Any(2);
const ZERO: Pattern = Pattern::Real(0.0);
const NEGATIVE_ZERO: Pattern = Pattern::Real(-0.0);
const ONE: Pattern = Pattern::Real(1.0);
const I0: Pattern = Pattern::Int(0);
const I1: Pattern = Pattern::Int(1);
const TRUE: Pattern = Pattern::Bool(true);
const FALSE: Pattern = Pattern::Bool(false);

macro_rules! law {
    ($name:literal: $op:ident $args:tt = $right:expr) => {
        Law { name: $name, op: Prim::$op, args: &$args, right: $right }
    };
}

macro_rules! op {
    ($op:ident $args:tt) => {
        Pattern::Op(Prim::$op, &$args)
    };
}

/// Constants of commutative operations are moved to the right before, so no row has them on the
/// left.
pub const LAWS: &[Law] = &[
    law!("add negative zero": Add [X, NEGATIVE_ZERO] = X),
    law!("add negative": Add [X, op!(Neg [Y])] = op!(Sub [X, Y])),
    law!("negative add": Add [op!(Neg [X]), Y] = op!(Sub [Y, X])),
    law!("subtract zero": Sub [X, ZERO] = X),
    law!("subtract from negative zero": Sub [NEGATIVE_ZERO, X] = op!(Neg [X])),
    law!("subtract negative": Sub [X, op!(Neg [Y])] = op!(Add [X, Y])),
    law!("negate twice": Neg [op!(Neg [X])] = X),
    law!("multiply by one": Mul [X, ONE] = X),
    law!("multiply by minus one": Mul [X, Pattern::Real(-1.0)] = op!(Neg [X])),
    law!("negative times": Mul [op!(Neg [X]), Y] = op!(Neg [op!(Mul [X, Y])])),
    law!("times negative": Mul [X, op!(Neg [Y])] = op!(Neg [op!(Mul [X, Y])])),
    law!("divide by one": Div [X, ONE] = X),
    law!("divide by minus one": Div [X, Pattern::Real(-1.0)] = op!(Neg [X])),
    law!("negative over": Div [op!(Neg [X]), Y] = op!(Neg [op!(Div [X, Y])])),
    law!("min same": Min [X, X] = X),
    law!("max same": Max [X, X] = X),
    law!("abs twice": Abs [op!(Abs [X])] = op!(Abs [X])),
    law!("abs negative": Abs [op!(Neg [X])] = op!(Abs [X])),
    law!("cos negative": Cos [op!(Neg [X])] = op!(Cos [X])),
    law!("add int zero": AddInt [X, I0] = X),
    law!("subtract int zero": SubInt [X, I0] = X),
    law!("subtract int same": SubInt [X, X] = I0),
    law!("subtract from int zero": SubInt [I0, X] = op!(NegInt [X])),
    law!("add int difference": AddInt [X, op!(SubInt [Y, X])] = Y),
    law!("int difference add": AddInt [op!(SubInt [X, Y]), Y] = X),
    law!("subtract what was added": SubInt [op!(AddInt [X, Y]), Y] = X),
    law!("subtract what was added first": SubInt [op!(AddInt [X, Y]), X] = Y),
    law!("subtract difference": SubInt [X, op!(SubInt [X, Y])] = Y),
    law!("negate int twice": NegInt [op!(NegInt [X])] = X),
    law!("multiply by int zero": MulInt [X, I0] = I0),
    law!("multiply by int one": MulInt [X, I1] = X),
    law!("divide by int one": DivInt [X, I1] = X),
    law!("remainder by int one": RemInt [X, I1] = I0),
    law!("int power of int one": PowIntInt [X, I1] = X),
    law!("min int same": MinInt [X, X] = X),
    law!("max int same": MaxInt [X, X] = X),
    law!("int not less than itself": LtInt [X, X] = FALSE),
    law!("int at most itself": LeInt [X, X] = TRUE),
    law!("int equals itself": EqInt [X, X] = TRUE),
    law!("int does not differ from itself": NeInt [X, X] = FALSE),
    law!("bool equals itself": EqBool [X, X] = TRUE),
    law!("bool does not differ from itself": NeBool [X, X] = FALSE),
    law!("equals true": EqBool [X, TRUE] = X),
    law!("equals false": EqBool [X, FALSE] = op!(Not [X])),
    law!("and true": And [X, TRUE] = X),
    law!("and false": And [X, FALSE] = FALSE),
    law!("and same": And [X, X] = X),
    law!("or true": Or [X, TRUE] = TRUE),
    law!("or false": Or [X, FALSE] = X),
    law!("or same": Or [X, X] = X),
    law!("not twice": Not [op!(Not [X])] = X),
    law!("not less int": Not [op!(LtInt [X, Y])] = op!(LeInt [Y, X])),
    law!("not at most int": Not [op!(LeInt [X, Y])] = op!(LtInt [Y, X])),
    law!("not equal int": Not [op!(EqInt [X, Y])] = op!(NeInt [X, Y])),
    law!("not different int": Not [op!(NeInt [X, Y])] = op!(EqInt [X, Y])),
    law!("real of a truncated int": ToInt [op!(ToReal [X])] = X),
    law!("select true": Select [TRUE, X, Y] = X),
    law!("select false": Select [FALSE, X, Y] = Y),
    law!("select same": Select [C, X, X] = X),
    law!("select not": Select [op!(Not [C]), X, Y] = op!(Select [C, Y, X])),
    law!("select int true": SelectInt [TRUE, X, Y] = X),
    law!("select int false": SelectInt [FALSE, X, Y] = Y),
    law!("select int same": SelectInt [C, X, X] = X),
    law!("select bool true": SelectBool [TRUE, X, Y] = X),
    law!("select bool false": SelectBool [FALSE, X, Y] = Y),
    law!("select bool same": SelectBool [C, X, X] = X),
    law!("select the condition": SelectBool [C, TRUE, FALSE] = C),
    law!("select its negation": SelectBool [C, FALSE, TRUE] = op!(Not [C])),
];

/// Laws of powers, for programs that are not differentiated any more. Their sides have equal
/// values, but different derivatives: the third derivative of `x ** 2` is a computed zero, which
/// makes NaN of an infinite tangent; `x * x` has none.
pub const POWERS: &[Law] = &[
    law!("power one": Pow [X, ONE] = X),
    law!("power two": Pow [X, Pattern::Real(2.0)] = op!(Mul [X, X])),
    law!("int power zero": PowInt [X, I0] = ONE),
    law!("int power one": PowInt [X, I1] = X),
    law!("int power two": PowInt [X, Pattern::Int(2)] = op!(Mul [X, X])),
    law!("int power three": PowInt [X, Pattern::Int(3)] = op!(Mul [op!(Mul [X, X]), X])),
    law!("int power minus one": PowInt [X, Pattern::Int(-1)] = op!(Div [ONE, X])),
];

/// Folds a primitive with constant arguments, or applies one of the [`LAWS`].
pub(crate) fn algebra(context: &mut Context, stm: &Stm) -> Option<Replacement> {
    let Exp::Op(Op::Prim(op, args)) = &stm.exp else { return None };
    if let Some(constants) = args.iter().map(|a| a.as_lit()).collect::<Option<Vec<Scalar>>>() {
        return Replacement::value(Atom::Lit(context.names.fold(*op, &constants)));
    }
    if let [Atom::Lit(c), x @ Atom::Var(_)] = args[..]
        && commutative(*op)
    {
        return Replacement::exp(stm, Op::Prim(*op, vec![x, Atom::Lit(c)]));
    }
    let special = constants_together(context, stm, *op, args)
        .or_else(|| at_most_or_nan(context, stm, *op, args))
        .or_else(|| chosen_constant(context, stm, *op, args));
    special.or_else(|| lawful(context, stm, LAWS))
}

/// Applies one of the laws of [`POWERS`].
pub(crate) fn powers(context: &mut Context, stm: &Stm) -> Option<Replacement> {
    lawful(context, stm, POWERS)
}

/// Applies the first of the laws that matches.
fn lawful(context: &mut Context, stm: &Stm, laws: &[Law]) -> Option<Replacement> {
    let Exp::Op(Op::Prim(op, args)) = &stm.exp else { return None };
    laws.iter().filter(|law| law.op == *op).find_map(|law| {
        let mut found = [None; 3];
        let matches =
            law.args.iter().zip(args).all(|(p, a)| matches(context.scope, *p, *a, &mut found));
        matches.then(|| instance(context, stm, law.right, &found))
    })
}

/// `(x + a) + b = x + (a + b)` on integers, and subtraction of a constant as addition.
fn constants_together(
    context: &mut Context,
    stm: &Stm,
    op: Prim,
    args: &[Atom],
) -> Option<Replacement> {
    match (op, args) {
        (Prim::SubInt, [x, Atom::Lit(Scalar::Int(k))]) if *k != 0 => {
            Replacement::exp(stm, Op::Prim(Prim::AddInt, vec![*x, Atom::int(k.wrapping_neg())]))
        }
        (Prim::AddInt | Prim::MulInt, [x, Atom::Lit(Scalar::Int(k))]) => {
            let Exp::Op(Op::Prim(inner, parts)) = context.scope.definition(*x)? else {
                return None;
            };
            let [y, Atom::Lit(Scalar::Int(j))] = parts[..] else { return None };
            let both = op.eval(&[Scalar::Int(j), Scalar::Int(*k)]);
            (*inner == op).then(|| Replacement::exp(stm, Op::Prim(op, vec![y, Atom::Lit(both)])))?
        }
        (_, _) => None,
    }
}

/// `x <= c or x != x` is `not (c < x)`, and `c <= x or x != x` is `not (x < c)`, for a constant `c`
/// that is not NaN: the derivatives of `max` and `min` have this condition.
fn at_most_or_nan(
    context: &mut Context,
    stm: &Stm,
    op: Prim,
    args: &[Atom],
) -> Option<Replacement> {
    let (Prim::Or, [at_most, nan]) = (op, args) else { return None };
    let Some(Exp::Op(Op::Prim(Prim::Ne, same))) = context.scope.definition(*nan) else {
        return None;
    };
    let Some(Exp::Op(Op::Prim(Prim::Le, sides))) = context.scope.definition(*at_most) else {
        return None;
    };
    let ([x, other], [a, b]) = (&same[..], &sides[..]) else { return None };
    let constant = |c: &Atom| matches!(c, Atom::Lit(Scalar::Real(c)) if !c.is_nan());
    if x != other || !((a == x && constant(b)) || (b == x && constant(a))) {
        return None;
    }
    let less = Param { var: context.names.fresh(NAMELESS), ty: Ty::scalar(ScalarTy::Bool) };
    let not = Op::Prim(Prim::Not, vec![less.var.into()]);
    let mut replacement = Replacement::exp(stm, not)?;
    let exp = Op::Prim(Prim::Lt, vec![*b, *a]);
    replacement.stms.insert(0, Stm::new(vec![less], exp));
    Some(replacement)
}

/// `(if c then a else b) == k` is `c`, its negation or a constant, for integer constants: which of
/// two closures is meant.
fn chosen_constant(
    context: &mut Context,
    stm: &Stm,
    op: Prim,
    args: &[Atom],
) -> Option<Replacement> {
    let (Prim::EqInt, [x, Atom::Lit(k)]) = (op, args) else { return None };
    let Some(Exp::Op(Op::Prim(Prim::SelectInt, parts))) = context.scope.definition(*x) else {
        return None;
    };
    let [c, Atom::Lit(a), Atom::Lit(b)] = parts[..] else { return None };
    match (a == *k, b == *k) {
        (true, false) => Replacement::value(c),
        (false, true) => Replacement::exp(stm, Op::Prim(Prim::Not, vec![c])),
        (both, _) => Replacement::value(Atom::bool(both)),
    }
}

pub(crate) fn commutative(op: Prim) -> bool {
    matches!(
        op,
        Prim::Add
            | Prim::Mul
            | Prim::AddInt
            | Prim::MulInt
            | Prim::MinInt
            | Prim::MaxInt
            | Prim::BitAnd
            | Prim::BitOr
            | Prim::BitXor
            | Prim::And
            | Prim::Or
            | Prim::Eq
            | Prim::Ne
            | Prim::EqInt
            | Prim::NeInt
            | Prim::EqBool
            | Prim::NeBool
    )
}

fn matches(scope: &Scope, pattern: Pattern, atom: Atom, found: &mut [Option<Atom>; 3]) -> bool {
    match (pattern, atom) {
        (Pattern::Any(k), _) => *found[k].get_or_insert(atom) == atom,
        (Pattern::Real(x), Atom::Lit(Scalar::Real(y))) => x.to_bits() == y.to_bits(),
        (Pattern::Int(x), Atom::Lit(Scalar::Int(y))) => x == y,
        (Pattern::Bool(x), Atom::Lit(Scalar::Bool(y))) => x == y,
        (Pattern::Real(_) | Pattern::Int(_) | Pattern::Bool(_), _) => false,
        (Pattern::Op(op, parts), _) => match scope.definition(atom) {
            Some(Exp::Op(Op::Prim(defined, args))) if *defined == op => {
                parts.iter().zip(args).all(|(p, a)| matches(scope, *p, *a, found))
            }
            Some(_) | None => false,
        },
    }
}

/// The right side as statements. The last one, if any, binds what the old statement did.
fn instance(
    context: &mut Context,
    stm: &Stm,
    pattern: Pattern,
    found: &[Option<Atom>; 3],
) -> Replacement {
    let mut stms = Vec::new();
    // If the last operation is a negation, its operand has the opposite sign, so its name is
    // negative.
    let own = context.names.hint(stm.binds[0].var);
    let hint: Rc<str> = match pattern {
        Pattern::Op(Prim::Neg, _) => negative(&own),
        _ => own, // the value itself, or part of it
    };
    let mut value = build(context, pattern, stm.binds[0].ty.elem.scalar(), &hint, found, &mut stms);
    if let Some(last) = stms.last_mut() {
        last.binds = stm.binds.clone();
        value = stm.binds[0].var.into();
    }
    Replacement { stms, values: vec![value] }
}

fn build(
    context: &mut Context,
    pattern: Pattern,
    ty: ScalarTy,
    hint: &Rc<str>,
    found: &[Option<Atom>; 3],
    stms: &mut Vec<Stm>,
) -> Atom {
    match pattern {
        Pattern::Any(k) => {
            found[k].expect("a law's right side mentions what its left side does not")
        }
        Pattern::Real(x) => Atom::real(x),
        Pattern::Int(k) => Atom::int(k),
        Pattern::Bool(b) => Atom::bool(b),
        Pattern::Op(op, parts) => {
            let args = parts
                .iter()
                .zip(op.args())
                .map(|(p, ty)| build(context, *p, *ty, hint, found, stms))
                .collect();
            let var = context.names.fresh(hint.clone());
            stms.push(Stm::new(vec![Param { var, ty: Ty::scalar(ty) }], Op::Prim(op, args)));
            var.into()
        }
    }
}
