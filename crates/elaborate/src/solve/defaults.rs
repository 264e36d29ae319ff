//! Default instances: types at which a definition runs by itself, chosen jointly, so that all of
//! its constraints hold.
//!
//! `def f a b = transpose (a @ b)` works for two matrices only, although each version of `@` alone
//! would do for `a` and `b`. So a constraint that waits is a *decision* with a few options,
//! smallest shapes first, and the options are searched depth first. An attempt instantiates the
//! scheme anew and replays its decisions, because unifications cannot be undone.
//!
//! *Assumes*: a scheme without problems.
//! *Gives*: an instance that satisfies every constraint, or `None`. Its total rank is the least
//! among those found in [`IMPROVEMENTS`] attempts after the first success.

use std::collections::HashMap;

use lambada_prim::{ArrayPrim, ScalarTy, Version};
use lambada_source::Span;

use super::Solver;
use super::constraint::Constraint;
use super::scheme::{Instance, Scheme};
use super::size::{Atom, Poly};
use super::ty::{Bases, Node, Ty, UnknownKind};

/// Attempts at smaller shapes after the first instance that fits.
const IMPROVEMENTS: usize = 64;

/// Attempts at any instance.
const ATTEMPTS: usize = 4096;

/// Shape of a value from outside of the program, such as data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// An unknown shape.
    Unknown,
    /// An int or a real.
    Number,
    /// A bool.
    Bool,
    /// An array, or perhaps a tuple: the first elements.
    List(Vec<Shape>),
    /// An array with this many axes of something.
    Axes(usize, Box<Shape>),
    /// A record with these fields, or some of them.
    Record(Vec<(String, Shape)>),
}

/// An instance that satisfies its constraints.
pub(crate) struct DefaultInstance {
    /// Instances of the scheme's `vars`.
    pub args: std::rc::Rc<[Ty]>,
    /// The type; sizes named in the scheme keep their names.
    pub ty: Ty,
}

/// Equations that settle a decision.
type Choice = Vec<(Ty, Ty)>;

/// A decision of an attempt: the option taken, and the number of options.
type Taken = (usize, usize);

impl Solver {
    /// The smallest instance found, with parameters of the shapes in `given`.
    pub fn default_instance(
        &mut self,
        scheme: &Scheme,
        (name, span): (&str, Span),
        given: &[Shape],
    ) -> Option<DefaultInstance> {
        let level = std::mem::replace(&mut self.level, 1);
        let mut best: Option<(usize, DefaultInstance)> = None;
        let (mut path, mut attempts) = (Vec::new(), 0);
        loop {
            let bound = best.as_ref().map(|(cost, _)| *cost);
            let (found, taken) = self.attempt(scheme, (name, span), given, &path, bound);
            if let Some(found) = found {
                if best.is_none() {
                    attempts = ATTEMPTS.saturating_sub(IMPROVEMENTS);
                }
                best = Some(found);
            }
            attempts += 1;
            path = next_path(taken);
            if path.is_empty() || attempts >= ATTEMPTS {
                break;
            }
        }
        self.level = level;
        best.map(|(_, instance)| instance)
    }

    /// The instance at these types of the scheme's `vars`, for all sizes.
    pub fn instance_at(
        &mut self,
        scheme: &Scheme,
        (name, span): (&str, Span),
        args: &[Ty],
    ) -> Option<DefaultInstance> {
        let level = std::mem::replace(&mut self.level, 1);
        let (mark, failed, undecided) = (self.mark(), self.failed.len(), self.undecided.len());
        let (instance, atoms) = self.instantiate_with_atoms(scheme, name, span);
        let mut fits = true;
        for (ty, arg) in instance.args.iter().zip(args) {
            let of_any_size =
                self.copy_with(*arg, &HashMap::new(), &mut |solver, _| solver.fresh_size());
            fits &= self.equal(*ty, of_any_size).is_ok();
        }
        self.settle();
        fits = fits && self.decide_all(&instance, mark, (failed, None), &[], &mut Vec::new());
        self.forget_pending(mark);
        self.failed.truncate(failed);
        self.undecided.truncate(undecided);
        self.level = level;
        fits.then(|| {
            let ty = self.under_their_names(instance.ty, scheme, &atoms);
            DefaultInstance { args: instance.args, ty }
        })
    }

    /// One instance, by the options of `path` and the first options afterwards; `None` if a
    /// constraint fails or the rank reaches the bound.
    fn attempt(
        &mut self,
        scheme: &Scheme,
        (name, span): (&str, Span),
        given: &[Shape],
        path: &[usize],
        bound: Option<usize>,
    ) -> (Option<(usize, DefaultInstance)>, Vec<Taken>) {
        let (mark, failed, undecided) = (self.mark(), self.failed.len(), self.undecided.len());
        let (instance, atoms) = self.instantiate_with_atoms(scheme, name, span);
        self.shape_parameters(instance.ty, given);
        self.settle();
        let mut taken = Vec::new();
        let complete = self.decide_all(&instance, mark, (failed, bound), path, &mut taken);
        self.forget_pending(mark);
        self.failed.truncate(failed);
        self.undecided.truncate(undecided);
        let found = complete.then(|| {
            let ty = self.under_their_names(instance.ty, scheme, &atoms);
            (self.total_rank(&instance), DefaultInstance { args: instance.args, ty })
        });
        (found, taken)
    }

    /// Makes all decisions; false as soon as a constraint fails.
    fn decide_all(
        &mut self,
        instance: &Instance,
        mark: usize,
        (failed, bound): (usize, Option<usize>),
        path: &[usize],
        taken: &mut Vec<Taken>,
    ) -> bool {
        let mut at = mark;
        loop {
            let too_large = bound.is_some_and(|bound| self.total_rank(instance) >= bound);
            if self.failed.len() > failed || too_large {
                return false;
            }
            let Some(mut choices) = self.next_decision(&mut at) else { break };
            let k = path.get(taken.len()).copied().unwrap_or(0);
            taken.push((k, choices.len()));
            for (a, b) in choices.swap_remove(k) {
                if self.equal(a, b).is_err() {
                    return false;
                }
            }
            self.settle();
        }
        for arg in instance.args.iter() {
            let base = self.base(*arg);
            if let Node::Unknown(unknown) = self.get(base) {
                let scalar = self.scalar(unknown.kind.default());
                if self.equal(base, scalar).is_err() {
                    return false;
                }
            }
        }
        self.settle();
        self.failed.len() == failed
    }

    /// The options of the first pending constraint that has any.
    fn next_decision(&mut self, at: &mut usize) -> Option<Vec<Choice>> {
        while *at < self.mark() {
            if let Some(constraint) = self.pending(*at) {
                let choices = self.choices(&constraint);
                if !choices.is_empty() {
                    return Some(choices);
                }
            }
            *at += 1;
        }
        None
    }

    /// Ways in which a pending constraint can hold.
    fn choices(&mut self, constraint: &Constraint) -> Vec<Choice> {
        match *constraint {
            // Two arrays of one shape, or at least one scalar.
            Constraint::Arith { a, b, .. } => {
                let (left, right) = (self.any_scalar(), self.any_scalar());
                vec![vec![(a, left)], vec![(b, right)], vec![(a, b)]]
            }
            Constraint::Base { whole, scalar, .. } => {
                let choices = self.scalars(scalar);
                if choices.is_empty() { self.scalars(whole) } else { choices }
            }
            Constraint::Part { part, whole, .. } => {
                let scalar = self.any_scalar();
                vec![vec![(part, scalar)], vec![(part, whole)]]
            }
            Constraint::Pow { base, exponent, .. } => self.powers(base, exponent),
            Constraint::Contraction { prim, a, b, result, .. } => {
                self.contractions(prim, [a, b], result)
            }
            // Any number will do.
            Constraint::Serves { .. } | Constraint::Point { .. } => Vec::new(),
            // Generalization has decided it.
            Constraint::Extremum { .. } => Vec::new(),
            // Pending ones are errors of the definition.
            Constraint::Field { .. } | Constraint::Component { .. } => Vec::new(),
            Constraint::FirstOrder { ty, .. } => {
                let open = self.unknowns(ty).into_iter().find(|ty| self.is_free(*ty));
                let real = self.real();
                open.map(|ty| vec![(ty, real)]).into_iter().collect()
            }
            Constraint::Jacobian { to, .. } => {
                let base = self.base(to);
                if !self.is_free(base) {
                    return Vec::new();
                }
                let real = self.real();
                let [vector, row] = [(); 2].map(|()| {
                    let size = self.fresh_size();
                    self.array(size, real)
                });
                let size = self.fresh_size();
                let matrix = self.array(size, row);
                vec![vec![(base, real)], vec![(base, vector)], vec![(base, matrix)]]
            }
            Constraint::Accumulated { body, .. } => {
                let base = self.base(body);
                if !self.is_free(base) {
                    return Vec::new();
                }
                let (real, unit) = (self.real(), self.tuple(Vec::new()));
                vec![vec![(base, real)], vec![(base, unit)]]
            }
            Constraint::Units { ty, .. } => {
                let (base, unit) = (self.base(ty), self.tuple(Vec::new()));
                if self.is_free(base) { vec![vec![(base, unit)]] } else { Vec::new() }
            }
        }
    }

    fn any_scalar(&mut self) -> Ty {
        self.unknown(UnknownKind::scalar(Bases::ALL), None)
    }

    fn is_free(&self, ty: Ty) -> bool {
        matches!(self.get(ty), Node::Unknown(unknown) if unknown.rigid.is_none())
    }

    /// The possible scalars inside of a type, real first.
    fn scalars(&mut self, ty: Ty) -> Vec<Choice> {
        let base = self.base(ty);
        let Node::Unknown(unknown) = self.get(base) else { return Vec::new() };
        let allowed = match unknown.kind {
            UnknownKind::Any => Bases::ALL,
            UnknownKind::Data { bases, .. } => bases,
        };
        let all = [ScalarTy::Real, ScalarTy::Int, ScalarTy::Bool].into_iter();
        all.filter(|scalar| !allowed.intersect(Bases::of(*scalar)).is_empty())
            .map(|scalar| vec![(base, self.scalar(scalar))])
            .collect()
    }

    /// Options for a power: integers have integer powers, reals have both.
    fn powers(&mut self, base: Ty, exponent: Ty) -> Vec<Choice> {
        let mut choices = Vec::new();
        if self.as_scalar(self.base(base)) == Some(ScalarTy::Int) && self.is_unknown(exponent) {
            let int = self.int();
            choices.push(vec![(exponent, int)]);
        } else if self.is_free(self.base(exponent)) {
            choices = self.scalars(exponent);
        } else {
            choices = self.scalars(base);
        }
        if self.is_unknown(exponent) && !self.is_scalar(exponent) {
            choices.push(vec![(exponent, base)]);
        }
        choices
    }

    /// The versions that fit the known ranks, those with the fewest axes first.
    fn contractions(&mut self, prim: ArrayPrim, args: [Ty; 2], result: Ty) -> Vec<Choice> {
        let fits = |ty: Ty, rank: usize| {
            if self.is_unknown(self.base(ty)) {
                self.rank(ty) <= rank
            } else {
                self.rank(ty) == rank
            }
        };
        let versions = prim.row().versions.iter().filter(|version| {
            (0..2).all(|k| fits(args[k], version.args[k].len()))
                && fits(result, version.result().len())
        });
        let mut versions: Vec<&Version> = versions.collect();
        versions.sort_by_key(|version| version.axes().count());
        let choice = |version| {
            let (types, product) = self.axes(prim, version);
            vec![(args[0], types[0]), (args[1], types[1]), (result, product)]
        };
        versions.into_iter().map(choice).collect()
    }

    /// Number of axes of all types that a scheme leaves open.
    fn total_rank(&self, instance: &Instance) -> usize {
        let mut rank = 0;
        for arg in instance.args.iter() {
            self.visit(*arg, &mut |solver, part| {
                rank += usize::from(matches!(solver.get(part), Node::Array(..)));
            });
        }
        rank
    }

    /// Gives parameters the shapes of values. Shapes that do not fit are reported later, when data
    /// are compared with types.
    fn shape_parameters(&mut self, ty: Ty, given: &[Shape]) {
        let mut at = ty;
        for shape in given {
            let Node::Fun(from, to) = *self.get(at) else { return };
            self.shape(from, shape);
            at = to;
        }
    }

    fn shape(&mut self, ty: Ty, shape: &Shape) {
        match (self.get(ty).clone(), shape) {
            (_, Shape::Unknown) => {}
            (Node::Unknown(_), Shape::Number) => {
                let number = self.unknown(UnknownKind::NUMBER, None);
                self.shaped(ty, number);
            }
            (Node::Unknown(_), Shape::Bool) => {
                let bool = self.bool();
                self.shaped(ty, bool);
            }
            (Node::Unknown(_) | Node::Array(..), Shape::Axes(0, elem)) => self.shape(ty, elem),
            (Node::Unknown(_), Shape::List(_) | Shape::Axes(..)) => {
                let (size, elem) = (self.fresh_size(), self.fresh());
                let array = self.array(size, elem);
                if self.shaped(ty, array) {
                    self.shape(array, shape);
                }
            }
            (Node::Unknown(unknown), Shape::Record(fields)) if unknown.kind == UnknownKind::Any => {
                let mut fields: Vec<_> = fields.iter().collect();
                fields.sort_by(|a, b| a.0.cmp(&b.0));
                let types = fields.iter().map(|(name, _)| (name.as_str().into(), self.fresh()));
                let types: Vec<(std::rc::Rc<str>, Ty)> = types.collect();
                let record = self.node(Node::Record(types.into()));
                if self.shaped(ty, record) {
                    self.shape(record, shape);
                }
            }
            (Node::Array(_, elem), Shape::List(items)) => {
                items.iter().for_each(|item| self.shape(elem, item));
            }
            (Node::Array(_, elem), Shape::Axes(axes, inner)) => {
                self.shape(elem, &Shape::Axes(axes - 1, inner.clone()));
            }
            (Node::Tuple(types), Shape::List(items)) => {
                types.iter().zip(items).for_each(|(ty, item)| self.shape(*ty, item));
            }
            (Node::Record(types), Shape::Record(fields)) => {
                for (name, ty) in types.iter() {
                    if let Some((_, shape)) = fields.iter().find(|(field, _)| **field == **name) {
                        self.shape(*ty, shape);
                    }
                }
            }
            (Node::Link(_), _) => unreachable!("`get` follows links"),
            (
                Node::Unknown(_)
                | Node::Scalar(_)
                | Node::Tuple(_)
                | Node::Record(_)
                | Node::Array(..)
                | Node::Fun(..)
                | Node::Variant(..)
                | Node::Error,
                _,
            ) => {}
        }
    }

    /// Unifies an unknown with a type; whether that succeeds.
    fn shaped(&mut self, unknown: Ty, ty: Ty) -> bool {
        self.equal(unknown, ty).is_ok()
    }

    /// A type of an instance, with sizes named as in the scheme.
    fn under_their_names(&mut self, ty: Ty, scheme: &Scheme, atoms: &HashMap<Atom, Poly>) -> Ty {
        let mut names: HashMap<Atom, Poly> = HashMap::new();
        for (atom, _) in &scheme.atoms {
            let now = self.sizes.resolve(&atoms[atom]);
            if let Some(now) = now.as_var() {
                names.entry(now).or_insert_with(|| Poly::var(*atom));
            }
        }
        self.copy_with(ty, &HashMap::new(), &mut |solver, size| {
            solver.sizes.replace(size, &mut |atom| names.get(&atom).cloned())
        })
    }
}

/// The next path of a depth-first search; empty at the end.
fn next_path(mut taken: Vec<Taken>) -> Vec<usize> {
    while let Some((k, count)) = taken.pop() {
        if k + 1 < count {
            let mut path: Vec<usize> = taken.iter().map(|(k, _)| *k).collect();
            path.push(k + 1);
            return path;
        }
    }
    Vec::new()
}
