//! Sinks allocations to the first use of their buffer. An array is planned at the start of its
//! block, or even earlier; checks in between must run before its allocation. So an index out of
//! range is reported as such, even if the array would be too large.

use std::collections::{HashMap, HashSet};

use lambada_loops::{Binding, Buf, Step, Stmt, visit};

/// Moves every allocation of the body down to the first statement that mentions its buffer. An
/// unused allocation stays.
pub(super) fn sink(body: Vec<Stmt>) -> Vec<Stmt> {
    let mut waiting: HashSet<Buf> = HashSet::new();
    let mut first: HashMap<Buf, usize> = HashMap::new();
    for (k, stmt) in body.iter().enumerate() {
        // Nested statements are visited only while a buffer waits, so that deep nests are not
        // visited once per depth.
        if !waiting.is_empty() {
            visit(std::slice::from_ref(stmt), &mut |stmt| match stmt {
                Stmt::Step(step) => step.places(&mut |place| match place {
                    Binding::Buf(buf) => first.extend(waiting.take(&buf).map(|buf| (buf, k))),
                    Binding::Cell(_) | Binding::Reg(_) => {}
                }),
                Stmt::Nest(_) => {}
            });
        }
        waiting.extend(allocated(stmt));
    }
    let mut places: Vec<(usize, bool, Stmt)> = Vec::with_capacity(body.len());
    for (k, stmt) in body.into_iter().enumerate() {
        let mentioned = allocated(&stmt).and_then(|buf| first.get(&buf).copied());
        places.push((mentioned.unwrap_or(k), mentioned.is_none(), stmt));
    }
    // Stable: allocations for one statement keep their order.
    places.sort_by_key(|(at, is_other, _)| (*at, *is_other));
    places.into_iter().map(|(_, _, stmt)| stmt).collect()
}

/// The buffer that the statement itself allocates.
fn allocated(stmt: &Stmt) -> Option<Buf> {
    match stmt {
        Stmt::Step(Step::Alloc { buf, .. }) => Some(*buf),
        Stmt::Step(_) | Stmt::Nest(_) => None,
    }
}
