//! Fields of records over all programs that imports connect. They have no declaration: a record is
//! its fields, so the names of a field are those that belong to records with the same fields.

use std::collections::HashSet;
use std::path::PathBuf;
use std::rc::Rc;

use lambada::Symbol;
use lambada_source::Span;

use crate::analysis::Analysis;
use crate::world::World;

/// The fields, in alphabetical order, of the record that the field at a place belongs to.
pub(crate) fn record_at(analysis: &Analysis, place: Span) -> Option<Vec<Rc<str>>> {
    let labels = analysis.survey.labels().into_iter();
    labels.filter(|label| label.span == place).find_map(|label| label.record)
}

/// The places of a field of such records in a file, in order.
pub(crate) fn places_in(analysis: &Analysis, name: &str, record: &[Rc<str>]) -> Vec<Span> {
    let is_meant = |span: Span| {
        let is_name = |symbol: &Symbol| matches!(symbol, Symbol::Field(own) if **own == *name);
        analysis.occurrences().iter().any(|one| one.span == span && is_name(&one.symbol))
    };
    let labels = analysis.survey.labels().into_iter();
    let own = labels.filter(|label| label.record.as_deref() == Some(record));
    let mut places: Vec<Span> =
        own.map(|label| label.span).filter(|span| is_meant(*span)).collect();
    places.sort();
    places.dedup();
    places
}

/// The programs that exchange values with one, because one imports the other or a third imports
/// both.
pub(crate) fn connected(world: &mut World, analysis: &Rc<Analysis>) -> Vec<Rc<Analysis>> {
    let mut others: Vec<Rc<Analysis>> = Vec::new();
    for path in world.programs() {
        others.extend(world.analysis(&path).filter(|_| path != analysis.path));
    }
    let mut found = vec![analysis.clone()];
    let mut known: HashSet<PathBuf> = analysis.reads.iter().cloned().collect();
    known.insert(analysis.path.clone());
    loop {
        let touches = |one: &Rc<Analysis>| {
            known.contains(&one.path) || one.reads.iter().any(|read| known.contains(read))
        };
        let (near, far): (Vec<_>, Vec<_>) = others.into_iter().partition(touches);
        if near.is_empty() {
            return found;
        }
        known.extend(near.iter().flat_map(|one| &one.reads).cloned());
        known.extend(near.iter().map(|one| one.path.clone()));
        found.extend(near);
        others = far;
    }
}
