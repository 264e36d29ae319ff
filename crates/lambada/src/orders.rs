//! The order of differentiation is known before a program runs, on every engine. Compiling engines
//! derive every derivative at compile time. The evaluator of core could do without, but refuses the
//! same programs.
//!
//! E.g. `def rec d n f x = if n == 0 then f x else grad (d (n - 1) f) x` is accepted if the program
//! fixes `n`, and refused if `n` is an argument.

use std::collections::{BTreeSet, HashMap};

use lambada_anf::Derivatives;
use lambada_core::{DefId, Program, Term, TermKind, Ty};
use lambada_source::{Problem, stack};

/// Refuses a program of unknown order of differentiation. Only normalization decides that, so it
/// runs if a recursion reaches a derivative.
///
/// # Errors
/// E0530.
pub(crate) fn known(
    program: &Program,
    entry: DefId,
    derivatives: &dyn Derivatives,
) -> Result<(), Vec<Problem>> {
    if !may_grow(program, entry) {
        return Ok(());
    }
    match lambada_normalize::normalize(program, entry, derivatives) {
        Err(problems) if problems.iter().any(lambada_normalize::is_circle) => Err(problems),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Whether a derivative may occur in a recursion: a conservative syntactic test. Functions stored
/// in data can recur without a recursive definition.
fn may_grow(program: &Program, entry: DefId) -> bool {
    let mut reached = Reached { program, of: HashMap::new() };
    let all = reached.from(entry);
    if !all.iter().any(|id| has_derivative(&program.def(*id).body)) {
        return false;
    }
    let holds_function = program
        .types
        .iter()
        .flat_map(|ty| &ty.constructors)
        .any(|(_, fields)| fields.iter().any(mentions_function));
    holds_function
        || all.iter().any(|id| {
            let own = program.is_recursive(*id) && reached.leads(*id);
            own || reached.grows_in(&program.def(*id).body)
        })
}

/// Transitive closure of the definitions that each definition mentions.
struct Reached<'a> {
    program: &'a Program,
    of: HashMap<DefId, BTreeSet<DefId>>,
}

impl Reached<'_> {
    fn from(&mut self, id: DefId) -> BTreeSet<DefId> {
        if let Some(known) = self.of.get(&id) {
            return known.clone();
        }
        let found = self.all(BTreeSet::from([id]));
        self.of.insert(id, found.clone());
        found
    }

    fn all(&self, start: BTreeSet<DefId>) -> BTreeSet<DefId> {
        let mut open: Vec<DefId> = start.iter().copied().collect();
        let mut found = start;
        while let Some(id) = open.pop() {
            let next = self.program.def(id).body.globals();
            open.extend(next.into_iter().filter(|id| found.insert(*id)));
        }
        found
    }

    /// Whether a definition mentions a derivative, directly or transitively.
    fn leads(&mut self, id: DefId) -> bool {
        self.from(id).iter().any(|id| has_derivative(&self.program.def(*id).body))
    }

    /// Whether a recursive function in the term, or a loop whose state holds functions, mentions a
    /// derivative.
    fn grows_in(&mut self, term: &Term) -> bool {
        let mut again: Vec<&Term> = Vec::new();
        if let TermKind::LetRec(functions, _) = term.kind() {
            again.extend(functions.iter().map(|(_, function)| function));
        } else if let TermKind::Loop { state, body, .. } = term.kind()
            && mentions_function(&state.ty)
        {
            again.push(body);
        }
        for term in again {
            if has_derivative(term) || term.globals().into_iter().any(|id| self.leads(id)) {
                return true;
            }
        }
        let children = term.scoped_children();
        stack::deeper(|| children.into_iter().any(|(_, child)| self.grows_in(child)))
    }
}

fn has_derivative(term: &Term) -> bool {
    if let TermKind::Jvp(..) | TermKind::Vjp(..) | TermKind::Reach(..) = term.kind() {
        return true;
    }
    stack::deeper(|| term.scoped_children().iter().any(|(_, child)| has_derivative(child)))
}

fn mentions_function(ty: &Ty) -> bool {
    match ty {
        Ty::Fun(..) => true,
        Ty::Scalar(_) | Ty::Variant(_) => false,
        Ty::Array(elem) => mentions_function(elem),
        Ty::Tuple(_) | Ty::Record(_) => ty.components().iter().any(mentions_function),
    }
}
