//! Let-polymorphism over types, sizes and overloads.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_source::Span;

use super::Solver;
use super::constraint::Constraint;
use super::size::AtomKind;
use super::size::{Atom, Poly};
use super::ty::{EQUALITIES, GENERIC, Node, Origin, RULES, Ty, Unknown};

/// The type of a definition: for all `vars` and `atoms` such that `constraints`, `ty`.
#[derive(Clone, Debug)]
pub(crate) struct Scheme {
    pub vars: Vec<Ty>,
    pub atoms: Vec<(Atom, Quantified)>,
    pub constraints: Vec<Constraint>,
    pub ty: Ty,
}

/// Instantiation of a quantified size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantified {
    /// By any size.
    Free,
    /// By the value of this argument.
    Parameter(usize),
    /// By an unknown size.
    Result,
}

/// A scheme at one use.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub ty: Ty,
    /// Instances of the scheme's `vars`.
    pub args: Rc<[Ty]>,
    /// Instances of the scheme's `atoms` that are not free.
    pub bound: Vec<(Atom, Quantified)>,
}

/// The quantification of a size in a definition's own scope.
pub(crate) type Classify<'c> = &'c dyn Fn(Atom) -> Option<Quantified>;

impl Solver {
    /// Quantifies the unknowns that belong only to levels deeper than the current one. `classify`
    /// decides how the atoms of the definition's own scope are instantiated. Constraints since
    /// `mark` on quantified types become part of the scheme; at the outermost level, those that
    /// need an annotation are returned.
    pub fn generalize(
        &mut self,
        ty: Ty,
        mark: usize,
        classify: Classify,
    ) -> (Scheme, Vec<Constraint>) {
        let (mut schemes, stuck) = self.generalize_all(&[(ty, classify)], mark);
        (schemes.remove(0), stuck)
    }

    /// Generalizes functions that call each other: they quantify the same types, with the same
    /// constraints.
    pub fn generalize_all(
        &mut self,
        types: &[(Ty, Classify)],
        mark: usize,
    ) -> (Vec<Scheme>, Vec<Constraint>) {
        let level = self.level;
        let deeper = |solver: &Solver, c: &Constraint| {
            c.types().iter().any(|ty| solver.deepest(*ty) > level)
        };
        let functions: Vec<Ty> = types.iter().map(|(ty, _)| *ty).collect();
        self.decide_extrema(mark, deeper);
        self.decide_conversions(&functions, mark, deeper);
        let stuck = self.take_pending(mark, |solver, c| c.needs_annotation() && deeper(solver, c));
        let stuck = if level == 0 { stuck } else { self.keep_monomorphic(stuck) };
        if !stuck.is_empty() {
            let error = self.error();
            stuck.iter().flat_map(Constraint::types).for_each(|ty| {
                let _ = self.equal(ty, error);
            });
            self.settle();
        }
        self.simplify(mark, deeper);
        let constraints = self.take_pending(mark, deeper);
        let parts: Vec<Ty> = constraints.iter().flat_map(Constraint::types).collect();
        let (mut vars, mut schemes) = (Vec::new(), Vec::new());
        for (ty, classify) in types {
            let (constraints, ty) = (constraints.clone(), *ty);
            let mut scheme = Scheme { vars: Vec::new(), atoms: Vec::new(), constraints, ty };
            self.quantify(ty, classify, &mut scheme);
            parts.iter().for_each(|part| self.quantify(*part, classify, &mut scheme));
            vars.append(&mut scheme.vars);
            schemes.push(scheme);
        }
        schemes.iter_mut().for_each(|scheme| scheme.vars = vars.clone());
        (schemes, stuck)
    }

    /// Keeps the constraints, and their unknowns, at the current level.
    fn keep_monomorphic(&mut self, constraints: Vec<Constraint>) -> Vec<Constraint> {
        for constraint in constraints {
            constraint.types().into_iter().for_each(|ty| self.raise(ty));
            self.add(constraint);
        }
        Vec::new()
    }

    pub(super) fn raise(&mut self, ty: Ty) {
        let level = self.level;
        for part in self.unknowns(ty) {
            let unknown = self.unknown_mut(part);
            unknown.level = unknown.level.min(level);
        }
    }

    /// The deepest level of an unknown in a type; 0 if there is none.
    pub(super) fn deepest(&self, ty: Ty) -> u32 {
        let level = |ty: &Ty| match self.get(*ty) {
            Node::Unknown(unknown) if unknown.level != GENERIC => unknown.level,
            _ => 0,
        };
        self.unknowns(ty).iter().map(level).max().unwrap_or(0)
    }

    /// The unknowns in a type, in order, with repetitions.
    pub fn unknowns(&self, ty: Ty) -> Vec<Ty> {
        let mut found = Vec::new();
        self.visit(ty, &mut |solver, ty| {
            if solver.is_unknown(ty) {
                found.push(solver.root(ty));
            }
        });
        found
    }

    /// Every node of a type, outermost first.
    pub fn visit(&self, ty: Ty, at: &mut impl FnMut(&Solver, Ty)) {
        at(self, ty);
        match self.get(ty) {
            Node::Unknown(_) | Node::Scalar(_) | Node::Error => {}
            Node::Link(_) => unreachable!("`get` follows links"),
            Node::Tuple(items) | Node::Variant(_, items) => {
                items.iter().for_each(|t| self.visit(*t, at))
            }
            Node::Record(fields) => fields.iter().for_each(|(_, t)| self.visit(*t, at)),
            Node::Array(_, elem) => self.visit(*elem, at),
            Node::Fun(from, to) => {
                self.visit(*from, at);
                self.visit(*to, at);
            }
        }
    }

    /// Whether both types contain the same unknown size.
    pub fn share_open_size(&mut self, a: Ty, b: Ty) -> bool {
        let [a, b] = [a, b].map(|ty| self.open_sizes(ty));
        a.iter().any(|atom| b.contains(atom))
    }

    fn open_sizes(&mut self, ty: Ty) -> Vec<Atom> {
        let (mut sizes, mut found) = (Vec::new(), Vec::new());
        self.visit(ty, &mut |solver, part| {
            if let Node::Array(size, _) = solver.get(part) {
                sizes.push(size.clone());
            }
        });
        for size in sizes {
            let size = self.sizes.resolve(&size);
            self.sizes.atoms(&size, &mut found);
        }
        found.retain(|atom| matches!(self.sizes.kind(*atom), AtomKind::Flexible(_)));
        found
    }

    fn quantify(&mut self, ty: Ty, classify: Classify, scheme: &mut Scheme) {
        let mut parts = Vec::new();
        self.visit(ty, &mut |_, part| parts.push(part));
        for part in parts {
            let root = self.find(part);
            match self.nodes[root.0 as usize].clone() {
                Node::Unknown(unknown)
                    if unknown.level > self.level && unknown.level != GENERIC =>
                {
                    self.unknown_mut(root).level = GENERIC;
                    scheme.vars.push(root);
                }
                Node::Array(size, _) => self.quantify_size(&size, classify, scheme),
                _ => {}
            }
        }
    }

    fn quantify_size(&mut self, size: &Poly, classify: Classify, scheme: &mut Scheme) {
        let size = self.sizes.resolve(size);
        let mut atoms = Vec::new();
        self.sizes.atoms(&size, &mut atoms);
        for atom in atoms {
            if scheme.atoms.iter().any(|(known, _)| *known == atom) {
                continue;
            }
            let how = match self.sizes.kind(atom) {
                AtomKind::Flexible(level) if *level > self.level => Some(Quantified::Free),
                AtomKind::Flexible(_) | AtomKind::Solved(_) | AtomKind::Quotient(..) => None,
                AtomKind::Named(..) | AtomKind::Value(_) | AtomKind::Opaque => classify(atom),
            };
            scheme.atoms.extend(how.map(|how| (atom, how)));
        }
    }

    /// The scheme with fresh unknowns for its quantified variables.
    pub fn instantiate(&mut self, scheme: &Scheme, name: &str, span: Span) -> Instance {
        self.instantiate_with_atoms(scheme, name, span).0
    }

    /// Like `instantiate`, with the instances of the quantified sizes.
    pub(super) fn instantiate_with_atoms(
        &mut self,
        scheme: &Scheme,
        name: &str,
        span: Span,
    ) -> (Instance, HashMap<Atom, Poly>) {
        let mut vars = HashMap::new();
        let mut args = Vec::with_capacity(scheme.vars.len());
        for var in &scheme.vars {
            let Node::Unknown(Unknown { kind, origin, .. }) = self.get(*var).clone() else {
                unreachable!("quantified types stay unknown")
            };
            let origin = origin.map(|_| Origin::new(name, span));
            let fresh = self.unknown(kind, origin);
            vars.insert(*var, fresh);
            args.push(fresh);
        }
        let (atoms, bound) = self.fresh_atoms(&scheme.atoms);
        let ty = self.copy(scheme.ty, &vars, &atoms);
        for constraint in &scheme.constraints {
            let copy = constraint.map(
                |origin| origin_at(constraint, origin, name, span),
                |ty| self.copy(ty, &vars, &atoms),
            );
            self.add(copy);
        }
        (Instance { ty, args: args.into(), bound }, atoms)
    }

    fn fresh_atoms(
        &mut self,
        quantified: &[(Atom, Quantified)],
    ) -> (HashMap<Atom, Poly>, Vec<(Atom, Quantified)>) {
        let mut atoms = HashMap::new();
        let mut bound = Vec::new();
        for (atom, how) in quantified {
            let kind = if *how == Quantified::Result {
                AtomKind::Opaque
            } else {
                AtomKind::Flexible(self.level)
            };
            let fresh = self.sizes.fresh(kind);
            atoms.insert(*atom, Poly::var(fresh));
            if *how != Quantified::Free {
                bound.push((fresh, *how));
            }
        }
        (atoms, bound)
    }

    /// A type with unknowns and size atoms replaced.
    pub fn copy(&mut self, ty: Ty, vars: &HashMap<Ty, Ty>, atoms: &HashMap<Atom, Poly>) -> Ty {
        self.copy_with(ty, vars, &mut |solver, size| {
            solver.sizes.replace(size, &mut |atom| atoms.get(&atom).cloned())
        })
    }

    /// A type with unknowns and sizes replaced; sizes come in the order of `visit`.
    pub fn copy_with(
        &mut self,
        ty: Ty,
        vars: &HashMap<Ty, Ty>,
        size_of: &mut dyn FnMut(&mut Solver, &Poly) -> Poly,
    ) -> Ty {
        let root = self.find(ty);
        match self.nodes[root.0 as usize].clone() {
            Node::Unknown(_) => vars.get(&root).copied().unwrap_or(root),
            Node::Scalar(_) | Node::Error => root,
            Node::Link(_) => unreachable!("`find` follows links"),
            Node::Tuple(items) => {
                let items = self.copy_all(&items, vars, size_of);
                self.node(Node::Tuple(items))
            }
            Node::Variant(_, items) if items.is_empty() => root,
            Node::Variant(id, items) => {
                let items = self.copy_all(&items, vars, size_of);
                self.node(Node::Variant(id, items))
            }
            Node::Record(fields) => {
                let fields = fields
                    .iter()
                    .map(|(name, ty)| (name.clone(), self.copy_with(*ty, vars, size_of)))
                    .collect();
                self.node(Node::Record(fields))
            }
            Node::Array(size, elem) => {
                let size = size_of(self, &size);
                let elem = self.copy_with(elem, vars, size_of);
                self.array(size, elem)
            }
            Node::Fun(from, to) => {
                let from = self.copy_with(from, vars, size_of);
                let to = self.copy_with(to, vars, size_of);
                self.fun(from, to)
            }
        }
    }

    fn copy_all(
        &mut self,
        items: &[Ty],
        vars: &HashMap<Ty, Ty>,
        size_of: &mut dyn FnMut(&mut Solver, &Poly) -> Poly,
    ) -> Rc<[Ty]> {
        items.iter().map(|ty| self.copy_with(*ty, vars, size_of)).collect()
    }
}

/// A requirement on differentiated functions gets the definition that uses them as its origin;
/// other constraints keep their operator.
fn origin_at(constraint: &Constraint, origin: &Origin, name: &str, span: Span) -> Origin {
    match constraint {
        Constraint::FirstOrder { .. }
            if &*origin.what != RULES && !EQUALITIES.contains(&&*origin.what) =>
        {
            Origin::new(name, span)
        }
        Constraint::FirstOrder { .. }
        | Constraint::Point { .. }
        | Constraint::Arith { .. }
        | Constraint::Serves { .. }
        | Constraint::Base { .. }
        | Constraint::Part { .. }
        | Constraint::Pow { .. }
        | Constraint::Contraction { .. }
        | Constraint::Extremum { .. }
        | Constraint::Field { .. }
        | Constraint::Component { .. }
        | Constraint::Jacobian { .. }
        | Constraint::Accumulated { .. }
        | Constraint::Units { .. } => Origin { what: origin.what.clone(), span },
    }
}
