//! One step for each constraint: it holds, fails, becomes simpler constraints, or waits.

use lambada_prim::{ArrayPrim, ScalarTy, Version};

use super::Solver;
use super::constraint::{Constraint, ConstraintError, Operation, Scalars, Step};
use super::ty::{Bases, Node, Origin, Shapes, Ty, UnknownKind, VariantId};
use super::unify::Clash;

pub(super) type Result = std::result::Result<Step, ConstraintError>;

impl From<Clash> for ConstraintError {
    fn from(clash: Clash) -> ConstraintError {
        ConstraintError::Clash(clash)
    }
}

impl Solver {
    pub(super) fn step(&mut self, constraint: &Constraint) -> Result {
        match constraint {
            Constraint::Arith { op, scalars: Scalars::Same, a, b, result, origin } => {
                self.arith(*op, [*a, *b], *result, origin)
            }
            Constraint::Arith { op, scalars, a, b, result, origin } => {
                self.converting_arith((*op, *scalars), [*a, *b], *result, origin)
            }
            Constraint::Serves { from, to, depth, origin } => {
                self.serves(*from, *to, *depth, origin)
            }
            Constraint::Base { whole, scalar, origin } => self.is_base(*whole, *scalar, origin),
            Constraint::Part { part, whole, origin } => self.part(*part, *whole, origin),
            Constraint::Pow { base, exponent, result, origin } => {
                self.pow(*base, *exponent, *result, origin)
            }
            Constraint::Contraction { prim, a, b, result, .. } => {
                self.contraction(*prim, [*a, *b], *result)
            }
            Constraint::Extremum { a, result, origin } => self.extremum(*a, *result, origin),
            Constraint::Field { record, name, ty, .. } => self.field(*record, name, *ty),
            Constraint::Component { tuple, index, ty, .. } => self.component(*tuple, *index, *ty),
            Constraint::FirstOrder { ty, .. } => self.first_order(*ty),
            Constraint::Point { ty, .. } => Ok(self.point(*ty)),
            Constraint::Jacobian { from, to, result, origin } => {
                self.jacobian(*from, *to, *result, origin)
            }
            Constraint::Accumulated { body, alone, both, result, origin } => {
                self.accumulated(*body, *alone, *both, *result, origin)
            }
            Constraint::Units { ty, .. } => self.units(*ty),
        }
    }

    pub(super) fn same(&mut self, a: Ty, b: Ty) -> Result {
        self.equal(a, b)?;
        Ok(Step::Done)
    }

    /// Requires that all types, scalars or arrays, contain scalars of one type.
    fn share_bases(
        &mut self,
        types: &[Ty],
        origin: &Origin,
    ) -> std::result::Result<(), ConstraintError> {
        self.share_bases_of(types, Shapes::Arrays, origin)
    }

    /// Requires that all types, of these shapes, contain scalars of one type.
    fn share_bases_of(
        &mut self,
        types: &[Ty],
        shapes: Shapes,
        origin: &Origin,
    ) -> std::result::Result<(), ConstraintError> {
        let mut shared = Bases::ALL;
        for ty in types {
            if let UnknownKind::Data { bases, .. } = self.base_kind(*ty) {
                shared = shared.intersect(bases);
            }
        }
        if shared.is_empty() {
            return Err(self.mixed(types));
        }
        for ty in types {
            let kind = UnknownKind::Data { bases: shared, shapes };
            self.restrict(*ty, kind, Some(origin.clone()))?;
        }
        Ok(())
    }

    fn mixed(&self, types: &[Ty]) -> ConstraintError {
        let scalars: Vec<ScalarTy> =
            types.iter().filter_map(|ty| self.base_kind(*ty).single()).collect();
        match scalars[..] {
            [a, b, ..] if a != b => ConstraintError::Mixed(a, b),
            [a, _, b] => ConstraintError::Mixed(a, b),
            _ => ConstraintError::Clash(Clash::Types(types[0], types[1])),
        }
    }

    pub(super) fn any_error(&self, types: &[Ty]) -> bool {
        types.iter().any(|ty| self.is_error(self.base(*ty)))
    }

    fn arith(&mut self, op: Operation, [a, b]: [Ty; 2], result: Ty, origin: &Origin) -> Result {
        if self.any_error(&[a, b]) {
            let error = self.error();
            return self.same(result, error);
        }
        if [a, b, result].into_iter().any(|ty| self.has_parts(ty)) {
            return self.vector_arith(op, [a, b], result, origin);
        }
        self.share_bases_of(&[a, b, result], Shapes::Vectors, origin)?;
        for (ty, kind) in [a, b, result].into_iter().zip(op.kinds(Bases::ALL)) {
            self.restrict(ty, kind, Some(origin.clone()))?;
        }
        let base = |whole, scalar| {
            Step::Become(vec![Constraint::Base { whole, scalar, origin: origin.clone() }])
        };
        let part = |part, whole| {
            Step::Become(vec![Constraint::Part { part, whole, origin: origin.clone() }])
        };
        let (array_a, array_b) = (self.rank(a) > 0, self.rank(b) > 0);
        if self.root(a) == self.root(b) {
            if op != Operation::Sum {
                self.restrict(a, UnknownKind::shaped(Bases::NUM), Some(origin.clone()))?;
            }
            return self.same(result, a);
        }
        if self.is_scalar(a) {
            self.beside_scalar(op, b, origin)?;
            self.equal(result, b)?;
            return Ok(base(b, a));
        }
        if self.is_scalar(b) {
            self.beside_scalar(op, a, origin)?;
            self.equal(result, a)?;
            return Ok(base(a, b));
        }
        if self.is_scalar(result) {
            self.equal(a, result)?;
            return self.same(b, result);
        }
        match (array_a, array_b) {
            (true, true) => {
                self.same_rank(a, b)?;
                self.equal(a, b)?;
                self.same(result, a)
            }
            (true, false) => {
                self.equal(result, a)?;
                let open = self.may_have_parts(a);
                if open { Ok(Step::Wait(vec![a, b])) } else { Ok(part(b, a)) }
            }
            (false, true) => {
                self.equal(result, b)?;
                let open = self.may_have_parts(b);
                if open { Ok(Step::Wait(vec![a, b])) } else { Ok(part(a, b)) }
            }
            (false, false) => Ok(Step::Wait(vec![a, b, result])),
        }
    }

    /// Whether the type, or that of the elements, is a tuple or a record.
    pub fn has_parts(&self, ty: Ty) -> bool {
        matches!(self.get(self.base(ty)), Node::Tuple(_) | Node::Record(_))
    }

    /// Whether the type may become one with parts.
    pub(super) fn may_have_parts(&self, ty: Ty) -> bool {
        match self.get(self.base(ty)) {
            Node::Unknown(unknown) => match unknown.kind {
                UnknownKind::Any => true,
                UnknownKind::Data { shapes, .. } => shapes == Shapes::Vectors,
            },
            _ => false,
        }
    }

    /// The type of the operand beside a scalar: only products and quotients take vectors.
    pub(super) fn beside_scalar(
        &mut self,
        op: Operation,
        ty: Ty,
        origin: &Origin,
    ) -> std::result::Result<(), ConstraintError> {
        if op == Operation::Sum {
            self.restrict(ty, UnknownKind::shaped(Bases::NUM), Some(origin.clone()))?;
        }
        Ok(())
    }

    /// One step of an operation on vectors with parts.
    pub(super) fn vector_arith(
        &mut self,
        op: Operation,
        [a, b]: [Ty; 2],
        result: Ty,
        origin: &Origin,
    ) -> Result {
        let of_scalar = |solver: &mut Solver, scalar: Ty, vector: Ty| {
            let reals = UnknownKind::scalar(Bases::REAL);
            solver.restrict(scalar, reals, Some(origin.clone()))?;
            solver.equal(result, vector)?;
            solver.restrict(vector, UnknownKind::vectors(Bases::REAL), Some(origin.clone()))?;
            Ok(Step::Done)
        };
        match op {
            Operation::Sum => {
                self.equal(a, b)?;
                self.equal(result, a)?;
                self.restrict(a, UnknownKind::vectors(Bases::REAL), Some(origin.clone()))?;
                Ok(Step::Done)
            }
            Operation::Product if self.has_parts(a) => of_scalar(self, b, a),
            Operation::Product if self.has_parts(b) || self.is_scalar(a) => of_scalar(self, a, b),
            Operation::Product if self.is_scalar(b) => of_scalar(self, b, a),
            Operation::Product => Ok(Step::Wait(vec![a, b])),
            Operation::Quotient => of_scalar(self, b, a),
            Operation::Other => {
                for ty in [a, b, result] {
                    self.restrict(ty, UnknownKind::shaped(Bases::NUM), Some(origin.clone()))?;
                }
                Ok(Step::Done)
            }
        }
    }

    /// Fails if the ranks of two arrays certainly differ.
    fn same_rank(&self, a: Ty, b: Ty) -> std::result::Result<(), ConstraintError> {
        let (m, n) = (self.rank(a), self.rank(b));
        let exact = |ty| self.is_scalar(self.base(ty));
        let differ = (m > n && exact(b)) || (n > m && exact(a));
        if differ { Err(ConstraintError::Ranks(a, b)) } else { Ok(()) }
    }

    fn is_base(&mut self, whole: Ty, scalar: Ty, origin: &Origin) -> Result {
        if self.any_error(&[whole, scalar]) {
            return Ok(Step::Done);
        }
        if self.has_parts(whole) {
            self.restrict(whole, UnknownKind::vectors(Bases::REAL), Some(origin.clone()))?;
            let real = self.real();
            return self.same(scalar, real);
        }
        self.share_bases_of(&[whole, scalar], Shapes::Vectors, origin)?;
        let base = self.base(whole);
        if self.is_scalar(base) {
            return self.same(base, scalar);
        }
        if self.as_scalar(scalar).is_some() {
            // The bases are shared, so any later shape of `whole` has this scalar.
            return Ok(Step::Done);
        }
        Ok(Step::Wait(vec![base, scalar]))
    }

    fn part(&mut self, part: Ty, whole: Ty, origin: &Origin) -> Result {
        if self.any_error(&[part, whole]) {
            return Ok(Step::Done);
        }
        self.share_bases(&[part, whole], origin)?;
        if self.is_scalar(part) {
            return Ok(Step::Become(vec![Constraint::Base {
                whole,
                scalar: part,
                origin: origin.clone(),
            }]));
        }
        if self.rank(part) > 0 {
            self.same_rank(part, whole)?;
            return self.same(part, whole);
        }
        Ok(Step::Wait(vec![part]))
    }

    fn pow(&mut self, base: Ty, exponent: Ty, result: Ty, origin: &Origin) -> Result {
        if self.any_error(&[base, exponent]) {
            let error = self.error();
            return self.same(result, error);
        }
        let scalar = self.as_scalar(self.base(exponent));
        if scalar == Some(ScalarTy::Real) {
            let (a, b, origin) = (base, exponent, origin.clone());
            let (op, scalars) = (Operation::Other, Scalars::Reals);
            let reals = Constraint::Arith { op, scalars, a, b, result, origin };
            return Ok(Step::Become(vec![reals]));
        }
        let int = self.as_scalar(self.base(base)) == Some(ScalarTy::Int);
        if int && scalar.is_none() {
            return Ok(Step::Wait(vec![exponent]));
        }
        if self.is_scalar(result) && !self.is_scalar(base) {
            self.restrict(base, UnknownKind::NUMBER, Some(origin.clone()))?;
            self.restrict(exponent, UnknownKind::NUMBER, Some(origin.clone()))?;
        }
        self.share_bases(&[base, result], origin)?;
        if self.is_scalar(exponent) || self.rank(base) > 0 {
            self.equal(result, base)?;
        }
        match scalar {
            None => Ok(Step::Wait(vec![base, exponent, result])),
            Some(_) => self.integer_power(base, exponent, result, origin),
        }
    }

    /// An integer power: for elementwise shapes the exponent counts as an array of the base's
    /// scalar type.
    fn integer_power(&mut self, base: Ty, exponent: Ty, result: Ty, origin: &Origin) -> Result {
        if self.is_scalar(exponent) {
            return self.same(result, base);
        }
        let scalar = self.base(base);
        if !self.is_scalar(scalar) {
            return Ok(Step::Wait(vec![base, result]));
        }
        let shaped = self.rebase(exponent, scalar);
        Ok(Step::Become(vec![Constraint::Arith {
            op: Operation::Other,
            scalars: Scalars::Same,
            a: base,
            b: shaped,
            result,
            origin: origin.clone(),
        }]))
    }

    /// An array of the same shape with another scalar type.
    pub fn rebase(&mut self, ty: Ty, scalar: Ty) -> Ty {
        match self.get(ty).clone() {
            Node::Array(size, elem) => {
                let elem = self.rebase(elem, scalar);
                self.array(size, elem)
            }
            _ => scalar,
        }
    }

    fn contraction(&mut self, prim: ArrayPrim, args: [Ty; 2], result: Ty) -> Result {
        if self.any_error(&args) {
            let error = self.error();
            return self.same(result, error);
        }
        let versions = prim.row().versions;
        let most = |k: usize| versions.iter().map(|version| version.args[k].len()).max();
        for (k, ty) in args.into_iter().enumerate() {
            if self.is_scalar(ty)
                || Some(self.rank(ty)) > most(k)
                || !matches!(self.base_kind(ty), UnknownKind::Data { .. })
            {
                return Err(ConstraintError::NotMatrix(ty));
            }
        }
        // Only two vectors have a number as their product.
        if self.is_scalar(result) {
            return self.inner_product(args, result);
        }
        // A type with as many axes as any version has cannot get more.
        let exact =
            |k: usize| self.is_scalar(self.base(args[k])) || Some(self.rank(args[k])) == most(k);
        if !exact(0) || !exact(1) {
            return Ok(Step::Wait(args.to_vec()));
        }
        let ranks = args.map(|ty| self.rank(ty));
        let Some(version) = prim.version(&ranks) else {
            return self.inner_product(args, result);
        };
        let (types, product) = self.axes(prim, version);
        for (ty, expected) in args.into_iter().zip(types) {
            self.equal(ty, expected)?;
        }
        self.same(result, product)
    }

    /// `x @ y` of two vectors of reals.
    fn inner_product(&mut self, args: [Ty; 2], result: Ty) -> Result {
        let real = self.real();
        let vector = self.vector_of(real);
        for ty in args {
            self.equal(ty, vector)?;
        }
        self.same(result, real)
    }

    /// An array of a new size.
    pub(super) fn vector_of(&mut self, elem: Ty) -> Ty {
        let size = self.fresh_size();
        self.array(size, elem)
    }

    /// Argument and result types of a version, with a new size for each axis.
    pub(super) fn axes(&mut self, prim: ArrayPrim, version: &Version) -> (Vec<Ty>, Ty) {
        let sizes: Vec<_> = prim.row().axes.chars().map(|_| self.fresh_size()).collect();
        let mut of_axes = |axes: &str| {
            axes.chars().rev().fold(self.real(), |elem, axis| {
                let k = prim.row().axes.find(axis).expect("versions speak of the axes of the row");
                self.array(sizes[k].clone(), elem)
            })
        };
        let args = version.args.iter().map(|axes| of_axes(axes)).collect();
        (args, of_axes(version.result()))
    }

    fn field(&mut self, record: Ty, name: &str, ty: Ty) -> Result {
        match self.get(record).clone() {
            Node::Unknown(unknown) if self.may_have_parts(record) && unknown.rigid.is_none() => {
                Ok(Step::Wait(vec![record]))
            }
            Node::Error => {
                let error = self.error();
                self.same(ty, error)
            }
            Node::Record(fields) => match fields.iter().find(|(field, _)| &**field == name) {
                Some((_, found)) => self.same(ty, *found),
                None => Err(ConstraintError::NoField(record)),
            },
            Node::Link(_) => unreachable!("`get` follows links"),
            Node::Unknown(_)
            | Node::Scalar(_)
            | Node::Tuple(_)
            | Node::Array(..)
            | Node::Fun(..)
            | Node::Variant(..) => Err(ConstraintError::NotRecord(record)),
        }
    }

    fn component(&mut self, tuple: Ty, index: usize, ty: Ty) -> Result {
        match self.get(tuple).clone() {
            Node::Unknown(unknown) if self.may_have_parts(tuple) && unknown.rigid.is_none() => {
                Ok(Step::Wait(vec![tuple]))
            }
            Node::Error => {
                let error = self.error();
                self.same(ty, error)
            }
            Node::Tuple(items) => match items.get(index) {
                Some(found) => self.same(ty, *found),
                None => Err(ConstraintError::NoComponent(tuple)),
            },
            Node::Link(_) => unreachable!("`get` follows links"),
            Node::Unknown(_)
            | Node::Scalar(_)
            | Node::Record(_)
            | Node::Array(..)
            | Node::Fun(..)
            | Node::Variant(..) => Err(ConstraintError::NotTuple(tuple)),
        }
    }

    fn first_order(&mut self, ty: Ty) -> Result {
        let mut unknowns = Vec::new();
        match self.find_function(ty, &mut unknowns, &mut Vec::new()) {
            Some(function) => Err(ConstraintError::Function(function)),
            None if unknowns.is_empty() => Ok(Step::Done),
            None => Ok(Step::Wait(unknowns)),
        }
    }

    /// Finds a function inside a type; collects the unknowns that may become one.
    fn find_function(
        &self,
        ty: Ty,
        unknowns: &mut Vec<Ty>,
        seen: &mut Vec<VariantId>,
    ) -> Option<Ty> {
        let mut all =
            |types: &[Ty]| types.iter().find_map(|ty| self.find_function(*ty, unknowns, seen));

        match self.get(ty) {
            Node::Unknown(unknown) => {
                if unknown.kind == UnknownKind::Any && unknown.level != super::ty::GENERIC {
                    unknowns.push(ty);
                }
                None
            }
            Node::Scalar(_) | Node::Error => None,
            Node::Link(_) => unreachable!("`get` follows links"),
            Node::Fun(..) => Some(ty),
            Node::Array(_, elem) => all(&[*elem]),
            Node::Tuple(items) => all(items),
            Node::Record(fields) => all(&fields.iter().map(|(_, t)| *t).collect::<Vec<_>>()),
            Node::Variant(id, args) => {
                let found = all(args);
                if found.is_some() || seen.contains(id) {
                    return found;
                }
                seen.push(*id);
                let fields = self.variant(*id).constructors.iter().flat_map(|(_, fields)| fields);
                fields.copied().find_map(|ty| self.find_function(ty, unknowns, seen))
            }
        }
    }

    fn jacobian(&mut self, from: Ty, to: Ty, result: Ty, origin: &Origin) -> Result {
        match self.get(to).clone() {
            Node::Error => {
                let error = self.error();
                self.same(result, error)
            }
            Node::Scalar(ScalarTy::Real) => self.same(result, from),
            Node::Array(size, elem) => {
                let rows = self.fresh();
                let array = self.array(size, rows);
                self.equal(result, array)?;
                Ok(Step::Become(vec![Constraint::Jacobian {
                    from,
                    to: elem,
                    result: rows,
                    origin: origin.clone(),
                }]))
            }
            Node::Unknown(_) => Ok(Step::Wait(vec![to])),
            Node::Link(_) => unreachable!("`get` follows links"),
            Node::Scalar(ScalarTy::Int | ScalarTy::Bool)
            | Node::Tuple(_)
            | Node::Record(_)
            | Node::Fun(..)
            | Node::Variant(..) => Err(ConstraintError::NotReals(to)),
        }
    }

    fn accumulated(
        &mut self,
        body: Ty,
        alone: Ty,
        both: Ty,
        result: Ty,
        origin: &Origin,
    ) -> Result {
        match self.get(body).clone() {
            Node::Tuple(items) if items.is_empty() => self.same(result, alone),
            Node::Array(_, elem) => Ok(Step::Become(vec![Constraint::Accumulated {
                body: elem,
                alone,
                both,
                result,
                origin: origin.clone(),
            }])),
            Node::Unknown(unknown) if unknown.kind == UnknownKind::Any => {
                Ok(Step::Wait(vec![body]))
            }
            Node::Error => {
                let error = self.error();
                self.same(result, error)
            }
            Node::Link(_) => unreachable!("`get` follows links"),
            Node::Unknown(_)
            | Node::Scalar(_)
            | Node::Tuple(_)
            | Node::Record(_)
            | Node::Fun(..)
            | Node::Variant(..) => self.same(result, both),
        }
    }

    fn units(&mut self, ty: Ty) -> Result {
        let base = self.base(ty);
        match self.get(base) {
            Node::Tuple(items) if items.is_empty() => Ok(Step::Done),
            Node::Error => Ok(Step::Done),
            Node::Unknown(unknown) if unknown.kind == UnknownKind::Any => {
                Ok(Step::Wait(vec![base]))
            }
            Node::Link(_) | Node::Array(..) => unreachable!("`base` goes through them"),
            Node::Unknown(_)
            | Node::Scalar(_)
            | Node::Tuple(_)
            | Node::Record(_)
            | Node::Fun(..)
            | Node::Variant(..) => Err(ConstraintError::NotUnits(ty)),
        }
    }
}
