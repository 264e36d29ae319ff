//! Types as text.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::Solver;
use super::constraint::Constraint;
use super::scheme::Scheme;
use super::size::AtomKind;
use super::size::{Atom, Poly};
use super::ty::{Bases, Node, Shapes, Ty, UnknownKind};

/// Names for unknowns, shared by all types displayed together.
#[derive(Debug, Default)]
pub(crate) struct Namer {
    types: HashMap<Ty, Rc<str>>,
    sizes: HashMap<Atom, Rc<str>>,
    taken: HashSet<Rc<str>>,
    /// Number of names tried from each alphabet.
    tried: HashMap<&'static str, usize>,
}

impl Namer {
    /// Reserves a name.
    pub fn avoid(&mut self, name: Rc<str>) {
        self.taken.insert(name);
    }

    /// The first free name of an alphabet: `a`, `b`, …, `a1`, `b1`, …
    fn pick(&mut self, letters: &'static str) -> Rc<str> {
        let tried = self.tried.entry(letters).or_default();
        loop {
            let round = *tried / letters.len();
            let letter = &letters[*tried % letters.len()..][..1];
            *tried += 1;
            let name = if round == 0 { letter.to_string() } else { format!("{letter}{round}") };
            let name: Rc<str> = name.into();
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// Precedence of the context.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Precedence {
    Result,
    Argument,
    Atomic,
}

impl Solver {
    /// A type by itself.
    pub fn show(&self, ty: Ty) -> String {
        self.show_all(&[ty]).remove(0)
    }

    /// Types with consistent names.
    pub fn show_all(&self, types: &[Ty]) -> Vec<String> {
        let mut namer = Namer::default();
        types.iter().for_each(|ty| self.reserve(*ty, &mut namer));
        types.iter().map(|ty| self.show_with(*ty, &mut namer)).collect()
    }

    /// Types with consistent names; an undecided number or scalar is shown as such.
    pub fn show_expected(&self, types: &[Ty]) -> Vec<String> {
        let shown = self.show_all(types);
        let class = |ty: &Ty| match self.get(*ty) {
            Node::Unknown(unknown) => match unknown.kind {
                UnknownKind::Data { bases: Bases::REAL, .. } => Some("real"),
                UnknownKind::Data { bases: Bases::NUM, .. } => Some("number"),
                UnknownKind::Data { .. } => Some("scalar"),
                UnknownKind::Any => None,
            },
            _ => None,
        };
        types.iter().zip(shown).map(|(ty, shown)| class(ty).map_or(shown, str::to_string)).collect()
    }

    /// A scheme: the constraints visible in its type, and the type. `num a` says that `a` is `int`,
    /// `real` or an array of these; `c = a + b` that `c` is the result of the operator.
    pub fn show_scheme(&self, scheme: &Scheme) -> String {
        let mut namer = Namer::default();
        self.reserve(scheme.ty, &mut namer);
        let ty = self.show_with(scheme.ty, &mut namer);
        let mut visible = self.unknowns(scheme.ty);
        visible.dedup();
        let mut relations = Relations::of(self, scheme, &visible);
        let mut said = Vec::new();
        for constraint in &scheme.constraints {
            let Some((result, operands)) = relation(constraint) else { continue };
            if relations.named.contains(&self.root(result)) {
                let text = operands.map(|ty| self.show_operand(ty, &mut relations, &mut namer));
                relations.covered.insert(self.root(result));
                said.push(format!(
                    "{} = {}",
                    self.show_with(result, &mut namer),
                    join(constraint, &text)
                ));
            }
        }
        for unknown in visible {
            if relations.covered.insert(unknown) {
                said.extend(self.show_kind(unknown, &mut namer));
            }
        }
        if said.is_empty() { ty } else { format!("{} => {ty}", said.join(", ")) }
    }

    /// An operand; an intermediate result is shown as its operation.
    fn show_operand(&self, ty: Ty, relations: &mut Relations, namer: &mut Namer) -> String {
        let root = self.root(ty);
        if let Some(constraint) = relations.between.remove(&root)
            && let Some((_, operands)) = relation(constraint)
        {
            let text = operands.map(|ty| self.show_operand(ty, relations, namer));
            return format!("({})", join(constraint, &text));
        }
        relations.covered.extend(self.unknowns(root));
        self.show_in(root, Precedence::Atomic, namer)
    }

    fn show_kind(&self, unknown: Ty, namer: &mut Namer) -> Option<String> {
        let Node::Unknown(info) = self.get(unknown) else { return None };
        let UnknownKind::Data { bases, shapes } = info.kind else { return None };
        let class = match (bases, shapes) {
            (Bases::REAL, _) => "real",
            (Bases::NUM, Shapes::Scalars) => "scalar num",
            (Bases::NUM, _) => "num",
            (_, Shapes::Scalars) => "scalar",
            (_, _) => "data",
        };
        Some(format!("{class} {}", self.show_with(unknown, namer)))
    }

    /// Reserves the names that users gave.
    pub fn reserve(&self, ty: Ty, namer: &mut Namer) {
        self.visit(ty, &mut |solver, part| match solver.get(part) {
            Node::Unknown(unknown) => namer.taken.extend(unknown.rigid.clone()),
            Node::Array(size, _) => {
                let mut atoms = Vec::new();
                solver.sizes.atoms(size, &mut atoms);
                namer.taken.extend(atoms.iter().filter_map(|atom| solver.given_name(*atom)));
            }
            _ => {}
        });
    }

    fn given_name(&self, atom: Atom) -> Option<Rc<str>> {
        match self.sizes.kind(atom) {
            AtomKind::Named(name, _) | AtomKind::Value(name) => Some(name.clone()),
            AtomKind::Flexible(_)
            | AtomKind::Solved(_)
            | AtomKind::Opaque
            | AtomKind::Quotient(..) => None,
        }
    }

    /// A type with names from `namer`.
    pub fn show_with(&self, ty: Ty, namer: &mut Namer) -> String {
        self.show_in(ty, Precedence::Result, namer)
    }

    fn show_in(&self, ty: Ty, precedence: Precedence, namer: &mut Namer) -> String {
        let text = match self.get(ty) {
            Node::Unknown(unknown) => {
                return unknown
                    .rigid
                    .as_ref()
                    .map_or_else(|| self.unknown_name(ty, namer), |name| name.to_string());
            }
            Node::Link(_) => unreachable!("`get` follows links"),
            Node::Scalar(scalar) => return scalar.to_string(),
            Node::Error => return "_".to_string(),
            Node::Tuple(items) => return format!("({})", self.list(items.iter(), namer)),
            Node::Record(fields) if let Some((sizes, value)) = self.sized_variant(fields) => {
                self.show_sized(&sizes, value, namer)
            }
            Node::Record(fields) => {
                let mut fields = fields.to_vec();
                self.fields.sort(&mut fields, |(name, _)| name);
                let shown: Vec<String> = fields
                    .iter()
                    .map(|(name, ty)| {
                        format!("{name} : {}", self.show_in(*ty, Precedence::Result, namer))
                    })
                    .collect();
                return format!("{{{}}}", shown.join(", "));
            }
            Node::Array(size, elem) => {
                let size = self.show_size_of_array(size, namer);
                return format!("[{size}]{}", self.show_in(*elem, Precedence::Atomic, namer));
            }
            Node::Variant(id, args) if args.is_empty() => {
                return self.variant(*id).name.to_string();
            }
            Node::Variant(id, args) => {
                let args: Vec<String> =
                    args.iter().map(|ty| self.show_in(*ty, Precedence::Atomic, namer)).collect();
                format!("{} {}", self.variant(*id).name, args.join(" "))
            }
            Node::Fun(from, to) => {
                let text = format!(
                    "{} -> {}",
                    self.show_in(*from, Precedence::Argument, namer),
                    self.show_in(*to, Precedence::Result, namer)
                );
                return if precedence == Precedence::Result { text } else { format!("({text})") };
            }
        };
        if precedence == Precedence::Atomic { format!("({text})") } else { text }
    }

    /// `tree [d] real`
    fn show_sized(&self, sizes: &[Poly], value: Ty, namer: &mut Namer) -> String {
        let Node::Variant(id, args) = self.get(value) else { return "_".to_string() };
        let mut text = self.variant(*id).name.to_string();
        for size in sizes {
            text += &format!(" [{}]", self.show_size_of_array(size, namer));
        }
        for arg in args.iter() {
            text += &format!(" {}", self.show_in(*arg, Precedence::Atomic, namer));
        }
        text
    }

    fn list<'t>(&self, items: impl Iterator<Item = &'t Ty>, namer: &mut Namer) -> String {
        items.map(|ty| self.show_in(*ty, Precedence::Result, namer)).collect::<Vec<_>>().join(", ")
    }

    fn unknown_name(&self, ty: Ty, namer: &mut Namer) -> String {
        let root = self.root(ty);
        if !namer.types.contains_key(&root) {
            let name = namer.pick("abcdefgh");
            namer.types.insert(root, name);
        }
        namer.types[&root].to_string()
    }

    /// The size of an array; empty for a size that cannot be written.
    fn show_size_of_array(&self, size: &Poly, namer: &mut Namer) -> String {
        let mut atoms = Vec::new();
        self.sizes.atoms(size, &mut atoms);
        let hidden = atoms.iter().any(|atom| matches!(self.sizes.kind(*atom), AtomKind::Opaque));
        if hidden { String::new() } else { self.show_size(size, namer) }
    }

    /// A size.
    pub fn show_size(&self, size: &Poly, namer: &mut Namer) -> String {
        let size = self.sizes.expand(size);
        let mut factors =
            |atoms: &[Atom]| atoms.iter().map(|atom| self.show_atom(*atom, namer)).collect();
        let mut terms: Vec<(i64, Vec<String>)> =
            size.terms().map(|(atoms, count)| (count, factors(atoms))).collect();
        // Sums read better when they start with a positive term.
        terms.sort_by_key(|(count, atoms)| (*count < 0, atoms.is_empty()));
        let mut text = String::new();
        for (k, (count, factors)) in terms.iter().enumerate() {
            let sign = match (k, *count < 0) {
                (0, true) => "-",
                (0, false) => "",
                (_, true) => " - ",
                (_, false) => " + ",
            };
            let number =
                (factors.is_empty() || count.abs() != 1).then(|| count.unsigned_abs().to_string());
            let product: Vec<String> = number.into_iter().chain(factors.iter().cloned()).collect();
            text += &format!("{sign}{}", product.join("*"));
        }
        if text.is_empty() { "0".to_string() } else { text }
    }

    /// A size as an operand of a quotient.
    fn show_factor(&self, size: &Poly, namer: &mut Namer) -> String {
        let text = self.show_size(size, namer);
        let simple = text.chars().all(|c| c.is_alphanumeric() || c == '_');
        if simple { text } else { format!("({text})") }
    }

    fn show_atom(&self, atom: Atom, namer: &mut Namer) -> String {
        match self.sizes.kind(atom) {
            AtomKind::Named(name, _) | AtomKind::Value(name) => name.to_string(),
            AtomKind::Solved(value) => format!("({})", self.show_size(value, namer)),
            AtomKind::Quotient(a, b) => {
                format!("{}//{}", self.show_factor(a, namer), self.show_factor(b, namer))
            }
            AtomKind::Flexible(_) | AtomKind::Opaque => {
                if !namer.sizes.contains_key(&atom) {
                    let name = namer.pick("nmkpqrst");
                    namer.sizes.insert(atom, name);
                }
                namer.sizes[&atom].to_string()
            }
        }
    }
}

/// The relations of a scheme, for showing it.
struct Relations<'s> {
    /// Named unknowns: those in the type, and operands of several constraints.
    named: HashSet<Ty>,
    /// The constraints with unnamed results.
    between: HashMap<Ty, &'s Constraint>,
    /// Unknowns that the text mentions.
    covered: HashSet<Ty>,
}

impl<'s> Relations<'s> {
    fn of(solver: &Solver, scheme: &'s Scheme, visible: &[Ty]) -> Relations<'s> {
        let mut named: HashSet<Ty> = visible.iter().copied().collect();
        let mut operands = HashSet::new();
        let relations = || scheme.constraints.iter().filter_map(|c| Some((c, relation(c)?)));
        for ty in relations().flat_map(|(_, (_, operands))| operands) {
            let root = solver.root(ty);
            if !operands.insert(root) {
                named.insert(root);
            }
        }
        let mut between = HashMap::new();
        for (constraint, (result, _)) in relations() {
            let root = solver.root(result);
            if solver.is_unknown(root) && !named.contains(&root) {
                between.entry(root).or_insert(constraint);
            }
        }
        Relations { named, between, covered: HashSet::new() }
    }
}

/// Result and operands of a constraint that determines its result.
fn relation(constraint: &Constraint) -> Option<(Ty, [Ty; 2])> {
    match constraint {
        Constraint::Arith { a, b, result, .. } | Constraint::Contraction { a, b, result, .. } => {
            Some((*result, [*a, *b]))
        }
        Constraint::Pow { base, exponent, result, .. } => Some((*result, [*base, *exponent])),
        Constraint::Jacobian { from, to, result, .. } => Some((*result, [*from, *to])),
        Constraint::Extremum { .. }
        | Constraint::Base { .. }
        | Constraint::Serves { .. }
        | Constraint::Part { .. }
        | Constraint::Field { .. }
        | Constraint::Component { .. }
        | Constraint::FirstOrder { .. }
        | Constraint::Point { .. }
        | Constraint::Accumulated { .. }
        | Constraint::Units { .. } => None,
    }
}

/// The operator of a relation between its operands.
fn join(constraint: &Constraint, operands: &[String; 2]) -> String {
    let operator = constraint.origin().what.trim_matches('`');
    let [a, b] = operands;
    if operator.starts_with(char::is_alphabetic) {
        format!("{operator} {a} {b}")
    } else {
        format!("{a} {operator} {b}")
    }
}
