//! Memory is allocated where it is first mentioned. Where an array belongs is decided when its block begins, or even before; what the
//! program checks in between is checked before there is memory for the array. So an index that is out of range is reported as such,
//! also where the array would be too large.

use std::collections::HashMap;

use lambada_loops::{Binding, Buf, Step, Stmt, visit};

/// Moves every allocation of the body down to the first statement that mentions its buffer. One that nothing mentions stays where it is.
pub(super) fn sink(body: Vec<Stmt>) -> Vec<Stmt> {
    let mut first: HashMap<Buf, usize> = HashMap::new();
    for (k, stmt) in body.iter().enumerate() {
        visit(std::slice::from_ref(stmt), &mut |stmt| match stmt {
            Stmt::Step(step) => step.places(&mut |place| match place {
                Binding::Buf(buf) => drop(first.entry(buf).or_insert(k)),
                Binding::Cell(_) | Binding::Reg(_) => {}
            }),
            Stmt::Nest(_) => {}
        });
    }
    let mut places: Vec<(usize, bool, Stmt)> = Vec::with_capacity(body.len());
    for (k, stmt) in body.into_iter().enumerate() {
        let mentioned = match &stmt {
            Stmt::Step(Step::Alloc { buf, .. }) => first.get(buf).copied(),
            Stmt::Step(_) | Stmt::Nest(_) => None,
        };
        places.push((mentioned.unwrap_or(k), mentioned.is_none(), stmt));
    }
    // Stable: allocations for one statement keep their order.
    places.sort_by_key(|(at, is_other, _)| (*at, *is_other));
    places.into_iter().map(|(_, _, stmt)| stmt).collect()
}
