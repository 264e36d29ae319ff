//! Random arguments for definitions without data. Each size variable is drawn once; computed sizes
//! follow from sizes and `int` parameters.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use lambada_compare::Random;
use lambada_core::data::Data;
use lambada_core::{Program, Signature, Size, SizedTy, Ty, TypeId, sized};
use lambada_prim::{Data as Elements, Scalar, ScalarTy, Tensor};
use lambada_source::FileId;
use lambada_surface::ast::{BinaryOp, Expr, ExprKind, UnaryOp};

use crate::data::{scalar_leaf, unsized_ty};

/// Size of unnamed axes. One for all, because they are often meant to be equal.
const UNNAMED: usize = 3;

/// Maximal nesting of constructors in recursive values.
const DEEPEST: usize = 3;

/// Arithmetic that may overflow.
type Compute = fn(i64, i64) -> Option<i64>;

/// The operators of computed sizes.
const ARITHMETIC: [(BinaryOp, Compute); 6] = [
    (BinaryOp::Add, i64::checked_add),
    (BinaryOp::Sub, i64::checked_sub),
    (BinaryOp::Mul, i64::checked_mul),
    (BinaryOp::FloorDiv, i64::checked_div_euclid),
    (BinaryOp::Rem, i64::checked_rem_euclid),
    (BinaryOp::Pow, |a, b| a.checked_pow(u32::try_from(b).ok()?)),
];

/// Draws one value for each parameter, with reals from a range.
pub(crate) fn draw(
    program: &Program,
    signature: &Signature,
    random: &mut Random,
    reals: Range<f64>,
) -> Vec<Data> {
    let mut draw = Draw { program, random, reals, sizes: HashMap::new() };
    let is_int = |ty: &SizedTy| *ty == SizedTy::Scalar(ScalarTy::Int);
    // `int` parameters first: sizes may mention them.
    for (name, _) in signature.params.iter().filter(|(_, ty)| is_int(ty)) {
        draw.size_named(name);
    }
    let params = signature.params.iter();
    params
        .map(|(name, ty)| match is_int(ty) {
            true => Data::from(draw.size_named(name)),
            false => draw.value(ty, 0),
        })
        .collect()
}

struct Draw<'a> {
    program: &'a Program,
    random: &'a mut Random,
    reals: Range<f64>,
    sizes: HashMap<Arc<str>, i64>,
}

impl Draw<'_> {
    fn value(&mut self, ty: &SizedTy, depth: usize) -> Data {
        if let Some((elem, _)) = scalar_leaf(ty) {
            return Data::Tensor(self.tensor(elem, ty));
        }
        if let Some((sizes, id)) = sized::of(ty) {
            let sizes = sizes.map(|size| self.size(size)).collect();
            return self.sized(sizes, id, depth);
        }
        match ty {
            SizedTy::Scalar(elem) => Data::from(self.scalar(*elem)),
            SizedTy::Tuple(types) => {
                Data::Tuple(types.iter().map(|ty| self.value(ty, depth)).collect())
            }
            SizedTy::Record(fields) => {
                let field =
                    |(name, ty): &(Rc<str>, SizedTy)| (Arc::from(&**name), self.value(ty, depth));
                Data::Record(fields.iter().map(field).collect())
            }
            SizedTy::Array(size, elem) => {
                Data::Array((0..self.size(size)).map(|_| self.value(elem, depth)).collect())
            }
            SizedTy::Variant(id) => self.variant(*id, depth),
            SizedTy::Fun(..) => unreachable!("definitions that take functions are not run"),
        }
    }

    fn tensor(&mut self, elem: ScalarTy, ty: &SizedTy) -> Tensor {
        let (mut dims, mut at) = (Vec::new(), ty);
        while let SizedTy::Array(size, inner) = at {
            dims.push(self.size(size));
            at = inner;
        }
        let mut data = Elements::zeros(elem, dims.iter().product());
        (0..data.len()).for_each(|k| data.set(k, self.scalar(elem)));
        Tensor { dims, data }
    }

    /// Draws a scalar. Integers are small, because they are often indices.
    fn scalar(&mut self, elem: ScalarTy) -> Scalar {
        match elem {
            ScalarTy::Real => Scalar::Real(self.random.between(self.reals.start, self.reals.end)),
            ScalarTy::Int => Scalar::Int(self.random.below(2) as i64),
            ScalarTy::Bool => Scalar::Bool(self.random.once_in(2)),
        }
    }

    /// Draws a constructor. At the depth limit it prefers one without arguments of a variant type.
    fn variant(&mut self, id: TypeId, depth: usize) -> Data {
        let tag = self.constructor(id, depth);
        let (name, types) = &self.program.type_decl(id).constructors[tag];
        let args = types.iter().map(|ty| self.value(&unsized_ty(ty), depth + 1)).collect();
        Data::Con { name: Arc::from(&**name), tag, args }
    }

    /// Draws a sized variant, with the names of its sizes in scope for the arguments of the
    /// constructor.
    fn sized(&mut self, sizes: Vec<usize>, id: TypeId, depth: usize) -> Data {
        let tag = self.constructor(id, depth);
        let decl = self.program.type_decl(id);
        let names = decl.sizes.iter().map(|name| Arc::from(&**name));
        let inside = names.zip(sizes.iter().map(|size| *size as i64)).collect();
        let outside = std::mem::replace(&mut self.sizes, inside);
        let args = decl.written[tag].iter().map(|ty| self.value(ty, depth + 1)).collect();
        self.sizes = outside;
        let value = Data::Con { name: Arc::from(&*decl.constructors[tag].0), tag, args };
        let mut fields: Vec<(Arc<str>, Data)> = Vec::with_capacity(sizes.len() + 1);
        for (k, size) in sizes.into_iter().enumerate() {
            fields.push((sized::label(k).into(), Data::units(size)));
        }
        fields.push((sized::VALUE.into(), value));
        Data::Record(fields)
    }

    fn constructor(&mut self, id: TypeId, depth: usize) -> usize {
        let constructors = &self.program.type_decl(id).constructors;
        let labels =
            |fields: &[(Rc<str>, Ty)]| sized::is_sized(fields.iter().map(|(label, _)| &**label));
        let with_sizes = |ty: &Ty| matches!(ty, Ty::Record(fields) if labels(fields));
        let is_variant = |ty: &Ty| matches!(ty, Ty::Variant(_)) || with_sizes(ty);
        let flat = |args: &[Ty]| !args.iter().any(is_variant);
        let ends: Vec<usize> =
            (0..constructors.len()).filter(|k| flat(&constructors[*k].1)).collect();
        match depth >= DEEPEST && !ends.is_empty() {
            true => self.random.pick(&ends),
            false => self.random.below(constructors.len()),
        }
    }

    fn size(&mut self, size: &Size) -> usize {
        let drawn = match size {
            Size::Any => return UNNAMED,
            Size::Const(n) => return *n as usize,
            Size::Var(name) => Some(self.size_named(name)),
            Size::Expr(text) => self.computed(&lambada_surface::parse_expr(text, FileId(0)).0),
        };
        drawn.and_then(|n| usize::try_from(n).ok()).unwrap_or(UNNAMED)
    }

    fn size_named(&mut self, name: &str) -> i64 {
        if let Some(known) = self.sizes.get(name) {
            return *known;
        }
        let drawn = 2 + self.random.below(3) as i64;
        self.sizes.insert(name.into(), drawn);
        drawn
    }

    /// Evaluates a computed size.
    fn computed(&mut self, expr: &Expr) -> Option<i64> {
        if let ExprKind::Int(n) = &expr.kind {
            Some(*n)
        } else if let ExprKind::Var(name) = &expr.kind {
            Some(self.size_named(name))
        } else if let ExprKind::Unary(UnaryOp::Neg, of) = &expr.kind {
            self.computed(of)?.checked_neg()
        } else if let ExprKind::Binary(op, a, b) = &expr.kind {
            let (a, b) = (self.computed(a)?, self.computed(b)?);
            let known = ARITHMETIC.iter().find(|(known, _)| known == op);
            known.and_then(|(_, compute)| compute(a, b))
        } else {
            None
        }
    }
}
