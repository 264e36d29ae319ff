//! Definitions that become functions of the library although they are not recursive: those whose
//! calls, if all were inlined, would make up most of a program that is too large.
//!
//! ```text
//!   def f2 x = f1 x + f0 x,  def f3 x = f2 x + f1 x,  …      f30 inlined has a million calls
//! ```
//!
//! * *Assumes* nothing. *Gives* the empty set for a program that is short enough if all calls are
//!   inlined, because inlined code is optimized together with its context.
//! * The count is of terms of core, for each definition including those that it mentions. So the
//!   answer is known before any code is emitted, in time linear in the program.

use std::collections::{HashMap, HashSet};

use lambada_core::{DefId, Program, Term, TermKind};

use crate::lambdas;
use crate::types::Types;

/// Minimal number of terms, with all calls inlined, of a program that calls functions.
const PROGRAM: usize = 1 << 19;

/// Minimal number of terms of a function that is called.
const FUNCTION: usize = 1 << 8;

/// The definitions to be called.
pub(crate) fn repeated(program: &Program, types: &Types, entry: DefId) -> HashSet<DefId> {
    let mut search = Search { program, found: Vec::new(), known: HashMap::new() };
    search.all(entry);
    let all = search.found;
    // Each definition follows those that it mentions, except in recursion, whose functions are
    // called anyway.
    let size = |called: &HashSet<DefId>,
                sizes: &HashMap<DefId, usize>,
                (own, mentions): &Mentions| {
        mentions.iter().fold(*own, |sum: usize, (id, times)| {
            let each = if called.contains(id) { 1 } else { sizes.get(id).copied().unwrap_or(1) };
            sum.saturating_add(each.saturating_mul(*times))
        })
    };
    let (mut called, mut sizes) = (HashSet::new(), HashMap::new());
    for (id, mentions) in &all {
        let size = if program.is_recursive(*id) { 1 } else { size(&called, &sizes, mentions) };
        sizes.insert(*id, size);
    }
    if sizes.get(&entry).is_none_or(|size| *size <= PROGRAM) {
        return called;
    }
    let mut mentioned: HashMap<DefId, usize> = HashMap::new();
    for (id, times) in all.iter().flat_map(|(_, (_, mentions))| mentions) {
        *mentioned.entry(*id).or_default() += times;
    }
    for (id, mentions) in &all {
        let recursive = program.is_recursive(*id);
        let size = if recursive { 1 } else { size(&called, &sizes, mentions) };
        sizes.insert(*id, size);
        let often = mentioned.get(id).is_some_and(|times| *times > 1);
        if often && size > FUNCTION && gives_data(program, types, *id) {
            called.insert(*id);
        }
    }
    called
}

/// Whether it is a function without rules that returns data when fully applied, because the type of
/// a library function determines its result.
fn gives_data(program: &Program, types: &Types, id: DefId) -> bool {
    let (params, body) = lambdas(&program.def(id).body);
    !params.is_empty() && types.is_data(program, body.ty())
}

/// The number of terms of a definition, and the definitions that it mentions with the number of
/// mentions.
type Mentions = (usize, Vec<(DefId, usize)>);

struct Search<'a> {
    program: &'a Program,
    /// Each after those that it mentions.
    found: Vec<(DefId, Mentions)>,
    /// Reached definitions, with their mentions until all of these have been found.
    known: HashMap<DefId, Option<Mentions>>,
}

impl Search<'_> {
    fn all(&mut self, entry: DefId) {
        let mut open = vec![entry];
        while let Some(id) = open.last().copied() {
            match self.known.get_mut(&id) {
                None => {
                    let mentions = mentions(&self.program.def(id).body);
                    let new = mentions.1.iter().map(|(id, _)| *id);
                    open.extend(new.filter(|id| !self.known.contains_key(id)));
                    self.known.insert(id, Some(mentions));
                }
                Some(mentions) => {
                    open.pop();
                    // A definition that waits twice was found the first time.
                    self.found.extend(mentions.take().map(|mentions| (id, mentions)));
                }
            }
        }
    }
}

fn mentions(body: &Term) -> Mentions {
    let (mut own, mut times, mut pending) = (0, HashMap::<DefId, usize>::new(), vec![body]);
    while let Some(term) = pending.pop() {
        own += 1;
        if let TermKind::Global(id) = term.kind() {
            *times.entry(*id).or_default() += 1;
        }
        pending.extend(term.children());
    }
    let mut times: Vec<(DefId, usize)> = times.into_iter().collect();
    times.sort_unstable_by_key(|(id, _)| id.0);
    (own, times)
}
