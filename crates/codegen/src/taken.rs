//! Arrays that a node takes over instead of copying them.
//!
//! An array and a node made by the same body live equally long. If no later statement writes to the
//! array or passes it on, the node may as well refer to it: this is so for almost all arrays of
//! tapes.

use std::collections::{HashMap, HashSet};

use lambada_loops::{Binding, Buf, FieldValue, Function, Library, Reg, Return, Step, Stmt, visit};

/// The fields of nodes, by handle and number, that take over their arrays, with the memory of
/// these. Buffers with the same `memory` share theirs; `local` memory is the C function's own.
pub(crate) fn taken(
    function: &Function,
    library: &Library,
    memory: &[u32],
    local: &dyn Fn(Buf) -> bool,
) -> HashMap<(Reg, u32), u32> {
    // Memory that comes from one `Alloc`, and is not a result.
    let mut sources: HashMap<u32, usize> = HashMap::new();
    let mut views = HashSet::new();
    visit(&function.body, &mut |stmt| {
        if let Stmt::Step(Step::View { buf, .. }) = stmt {
            views.insert(*buf);
        }
    });
    for (k, of) in (0..).zip(memory) {
        *sources.entry(*of).or_default() += usize::from(!views.contains(&Buf(k)));
    }
    for result in &function.results {
        match result {
            Return::Scalar(_) => {}
            Return::Buffer(buf, _) => *sources.entry(memory[buf.0 as usize]).or_default() += 1,
        }
    }
    let is_own = |buf: Buf| sources.get(&memory[buf.0 as usize]) == Some(&1) && !local(buf);
    let mut all = HashMap::new();
    let mut bodies = vec![&function.body];
    visit(&function.body, &mut |stmt| bodies.extend(stmt.bodies()));
    for body in bodies {
        // The memory that the body has made and not passed on, with the field that takes it over.
        let mut made: HashMap<u32, Option<(Reg, u32)>> = HashMap::new();
        for stmt in body {
            // Nested statements are read only for arrays that wait, so not at each depth.
            let nested = if made.is_empty() { &[] } else { std::slice::from_ref(stmt) };
            visit(nested, &mut |inner| {
                // If a field has taken the array over, it must copy it instead.
                for buf in inner.writes() {
                    if let Some(Some(field)) = made.get(&memory[buf.0 as usize]) {
                        all.remove(field);
                    }
                }
                for buf in given(inner) {
                    if let Some(Some(field)) = made.remove(&memory[buf.0 as usize]) {
                        all.remove(&field);
                    }
                }
            });
            match stmt {
                Stmt::Step(Step::Alloc { buf, .. }) if is_own(*buf) => {
                    made.insert(memory[buf.0 as usize], None);
                }
                Stmt::Step(Step::Node { reg, node, tag, fields, .. }) => {
                    let kinds = &library.nodes[node.0 as usize].constructors[*tag as usize];
                    for ((field, part), kind) in (0..).zip(fields).zip(kinds) {
                        if let FieldValue::Array(buf, _) = part
                            && !kind.cell
                            && !views.contains(buf)
                            && let Some(owner @ None) = made.get_mut(&memory[buf.0 as usize])
                        {
                            *owner = Some((*reg, field));
                            all.insert((*reg, field), memory[buf.0 as usize]);
                        }
                    }
                }
                Stmt::Step(_) | Stmt::Nest(_) => {}
            }
        }
    }
    all
}

/// The buffers that a statement passes to code that may write to them or pass them on.
fn given(stmt: &Stmt) -> Vec<Buf> {
    let mut all = Vec::new();
    match stmt {
        Stmt::Step(step @ (Step::Call { .. } | Step::Swap(..))) => {
            step.places(&mut |place| match place {
                Binding::Buf(buf) => all.push(buf),
                Binding::Reg(_) | Binding::Cell(_) => {}
            });
        }
        Stmt::Step(_) | Stmt::Nest(_) => {}
    }
    all
}
