//! Last mentions, which move a value out of its slot instead of copying it, so that an unshared
//! array is updated in place.
//!
//! A backward dataflow analysis: code is walked against the order of evaluation, with the set of
//! slots that are read later. Inside of a loop, a slot bound outside is always read later, by the
//! next iteration.

use super::code::*;

/// Marks the last mentions of a function; `depths`: loop depth of each slot's binding.
pub(crate) fn mark(params: &mut [Destination], body: &mut Code, depths: &[usize]) {
    let mut marker = Marker { depths, depth: 0, live: Slots(vec![0; depths.len().div_ceil(64)]) };
    marker.code(body);
    params.iter_mut().for_each(|destination| marker.bind(destination));
}

/// A set of slots.
#[derive(Clone)]
struct Slots(Vec<u64>);

impl Slots {
    fn contains(&self, slot: Slot) -> bool {
        self.0[slot / 64] >> (slot % 64) & 1 == 1
    }

    fn insert(&mut self, slot: Slot) {
        self.0[slot / 64] |= 1 << (slot % 64);
    }

    fn remove(&mut self, slot: Slot) {
        self.0[slot / 64] &= !(1 << (slot % 64));
    }

    fn unite(&mut self, other: &Slots) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    /// The slots that the other set lacks.
    fn without(&self, other: &Slots) -> Vec<Slot> {
        let words = self.0.iter().zip(&other.0).enumerate().filter(|(_, (a, b))| *a & !*b != 0);
        words
            .flat_map(|(k, (a, b))| {
                (0..64).filter(move |bit| (a & !b) >> bit & 1 == 1).map(move |bit| 64 * k + bit)
            })
            .collect()
    }
}

struct Marker<'a> {
    depths: &'a [usize],
    depth: usize,
    /// The slots that are read later.
    live: Slots,
}

impl Marker<'_> {
    /// A mention; whether it is the last.
    fn read(&mut self, slot: Slot) -> Last {
        let last = self.depths[slot] == self.depth && !self.live.contains(slot);
        self.live.insert(slot);
        last
    }

    /// The place where a value is bound; drops slots that are never read.
    fn bind(&mut self, destination: &mut Destination) {
        match destination {
            Destination::Nowhere => {}
            Destination::Slot(slot) if self.live.contains(*slot) => self.live.remove(*slot),
            Destination::Slot(_) => *destination = Destination::Nowhere,
            Destination::Components(slots) => {
                for component in slots {
                    *component = component.filter(|slot| self.live.contains(*slot));
                    component.iter().for_each(|slot| self.live.remove(*slot));
                }
            }
        }
    }

    fn all(&mut self, codes: &mut [Code]) {
        codes.iter_mut().rev().for_each(|code| self.code(code));
    }

    fn inside_loop(&mut self, inside: impl FnOnce(&mut Self)) {
        self.depth += 1;
        inside(self);
        self.depth -= 1;
    }

    fn code(&mut self, code: &mut Code) {
        match code {
            Code::Const(_) | Code::Never(_) | Code::Global(_) => {}
            Code::Local(slot, last) => *last = self.read(*slot),
            Code::Lambda(_, captured) => {
                captured.iter_mut().rev().for_each(|(slot, last)| *last = self.read(*slot))
            }
            Code::Call(f, args, _) => {
                self.all(args);
                self.code(f);
            }
            Code::Block(steps, body) => {
                self.code(body);
                steps.iter_mut().rev().for_each(|step| self.step(step));
            }
            Code::Tuple(items)
            | Code::Con(_, items, _)
            | Code::Array(items, _)
            | Code::ArrayPrim(_, _, items, _) => self.all(items),
            Code::Proj(a, _)
            | Code::Prim1(_, a)
            | Code::Dim(a, _)
            | Code::Reduce(_, _, a, _)
            | Code::Inspect(_, a)
            | Code::Trapped(a, _) => self.code(a),
            Code::Match(t, arms) => {
                let arms = arms
                    .iter_mut()
                    .map(|arm| (&mut arm.destinations[..], &mut arm.branch))
                    .collect();
                self.branches(arms);
                self.code(t);
            }
            Code::If(c, yes, no) => {
                self.branches(vec![(&mut [], yes), (&mut [], no)]);
                self.code(c);
            }
            Code::Prim2(_, ab) | Code::Vjp(ab, _) => self.all(&mut ab[..]),
            Code::Prim3(_, abc) | Code::Jvp(abc, _) | Code::Reach(abc, _) => self.all(&mut abc[..]),
            Code::For(index, parts, _) => {
                self.inside_loop(|m| m.code(&mut parts[1]));
                self.live.remove(*index);
                self.code(&mut parts[0]);
            }
            Code::Index(at, xs, _) => {
                if matches!(**xs, Code::Local(..)) {
                    self.code(xs);
                    self.all(at);
                } else {
                    self.all(at);
                    self.code(xs);
                }
            }
            Code::Update(parts, at, _) => {
                self.code(&mut parts[1]);
                self.all(at);
                self.code(&mut parts[0]);
            }
            Code::Loop(code) => self.loop_(code),
            Code::Accumulate(slot, parts) => {
                self.code(&mut parts[1]);
                self.live.remove(*slot);
                self.code(&mut parts[0]);
            }
            Code::Add(slot, at, value, _) => {
                self.live.insert(*slot);
                self.code(value);
                self.all(at);
            }
        }
    }

    fn step(&mut self, step: &mut Step) {
        match step {
            Step::Bind(destination, value) => {
                self.bind(destination);
                self.code(value);
            }
            Step::Functions(destinations, _, captured) => {
                destinations.iter_mut().for_each(|destination| self.bind(destination));
                captured.iter_mut().rev().for_each(|(slot, last)| *last = self.read(*slot));
            }
            Step::Check(cond, _, values) => {
                // The values are read only if the program fails, so their variables are never
                // moved.
                self.inside_loop(|m| m.all(values));
                self.code(cond);
            }
        }
    }

    /// Alternative branches, with their bindings.
    fn branches(&mut self, branches: Vec<(&mut [Destination], &mut Branch)>) {
        let after = self.live.clone();
        let mut any = after.clone();
        let mut entries = Vec::new();
        for (destinations, branch) in branches {
            self.live = after.clone();
            self.code(&mut branch.body);
            destinations.iter_mut().for_each(|destination| self.bind(destination));
            any.unite(&self.live);
            entries.push((self.live.clone(), branch));
        }
        for (live, branch) in entries {
            branch.drops = any
                .without(&live)
                .into_iter()
                .filter(|slot| self.depths[*slot] == self.depth)
                .collect();
        }
        self.live = any;
    }

    fn loop_(&mut self, code: &mut LoopCode) {
        self.inside_loop(|m| {
            m.code(&mut code.body);
            m.bind(&mut code.state);
            match &mut code.kind {
                LoopKindCode::For(index, ..) => m.live.remove(*index),
                LoopKindCode::While(destination, cond) => {
                    m.code(cond);
                    m.bind(destination);
                }
            }
        });
        if let LoopKindCode::For(_, extent, states) = &mut code.kind {
            states.iter_mut().for_each(|states| self.code(states));
            self.code(extent);
        }
        self.code(&mut code.init);
    }
}
