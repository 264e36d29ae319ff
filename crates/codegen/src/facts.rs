//! Facts about a function, known before it is printed: which registers may be printed at their use,
//! and which buffers may share memory.

use std::collections::HashSet;

use lambada_loops::{
    Arg, Buf, FnId, Function, Library, Nest, Operand, Param, Reg, ResultTarget, Return, Step, Stmt,
    uses, visit,
};

use crate::held::held;
use crate::taken::taken;

pub(crate) struct Facts {
    /// By register: whether it is mentioned once, in the body that assigns it, and not in a body
    /// nested there.
    pub once: Vec<bool>,
    /// By register: whether it is never mentioned.
    pub dead: Vec<bool>,
    /// By register: whether it is to stay in a register of the processor.
    pub held: Vec<bool>,
    /// By buffer: a number for its memory. Buffers with different numbers share none.
    pub memory: Vec<u32>,
    /// By memory: whether it is ever written.
    pub written: Vec<bool>,
    /// By buffer: whether it may only be read.
    pub outside: Vec<bool>,
    /// By buffer: whether its pointer ever changes.
    pub swapped: Vec<bool>,
    /// By buffer: its number of elements, if its memory can be the C function's own.
    pub local: Vec<Option<i64>>,
    /// The fields of nodes, by handle and number, that take over their arrays.
    pub taken: HashSet<(Reg, u32)>,
    /// The memory of the arrays that they take over, by number.
    kept: HashSet<u32>,
}

/// The most elements of an array that is the C function's own.
const LOCAL: i64 = 32;

impl Facts {
    pub fn of(function: &Function, library: &Library) -> Facts {
        let counts = uses(function);
        let places = Places::of(function);
        let once = counts
            .iter()
            .enumerate()
            .map(|(k, count)| *count == 1 && places.bound[k] == places.used[k])
            .collect();
        let dead = counts.iter().map(|count| *count == 0).collect();
        let memory = memories(function, library);
        let mut facts = Facts {
            once,
            dead,
            held: held(function),
            memory,
            written: vec![false; function.bufs.len()],
            outside: Vec::new(),
            swapped: Vec::new(),
            local: vec![None; function.bufs.len()],
            taken: HashSet::new(),
            kept: HashSet::new(),
        };
        facts.outside = outside(function, library);
        facts.swapped = vec![false; function.bufs.len()];
        shared(function, library).into_iter().for_each(|buf| facts.write(buf));
        visit(&function.body, &mut |stmt| facts.note(stmt, library));
        visit(&function.body, &mut |stmt| {
            if let Stmt::Nest(Nest::Scope(_, body)) = stmt {
                facts.locals(body);
            }
        });
        let is_local = |buf: Buf| facts.local[buf.0 as usize].is_some();
        let taken = taken(function, library, &facts.memory, &is_local);
        facts.kept = taken.values().copied().collect();
        facts.taken = taken.into_keys().collect();
        facts
    }

    /// Whether a node takes over the memory of the buffer.
    pub fn is_taken(&self, buf: Buf) -> bool {
        self.kept.contains(&self.memory[buf.0 as usize])
    }

    fn write(&mut self, buf: Buf) {
        self.written[self.memory[buf.0 as usize] as usize] = true;
    }

    fn note(&mut self, stmt: &Stmt, library: &Library) {
        stmt.writes().into_iter().for_each(|buf| self.write(buf));
        if let Stmt::Step(Step::Call { function, args, results, .. }) = stmt {
            written_by_call(library, *function, args).for_each(|buf| self.write(buf));
            for given in results {
                match given {
                    ResultTarget::Cell(_) => {}
                    ResultTarget::Buffer(buf) => {
                        self.swapped[buf.0 as usize] = true;
                        self.write(*buf);
                    }
                }
            }
        }
        if let Stmt::Step(Step::Swap(a, b)) = stmt {
            // The pointer of a name changes, which to a reader is as if the memory were written.
            for buf in [a, b] {
                self.swapped[buf.0 as usize] = true;
                self.write(*buf);
            }
        }
    }

    /// The allocations of a scope are dead after it. If no statement in it passes memory on, small
    /// arrays need no arena.
    fn locals(&mut self, scope: &[Stmt]) {
        let (mut found, mut is_closed) = (Vec::new(), true);
        visit(scope, &mut |stmt| match stmt {
            Stmt::Step(Step::Alloc { buf, dims }) => {
                found.extend(constant(dims).filter(|len| *len <= LOCAL).map(|len| (*buf, len)));
            }
            Stmt::Step(Step::Call { .. } | Step::Swap(..) | Step::Inspect { .. }) => {
                is_closed = false;
            }
            Stmt::Step(_) | Stmt::Nest(_) => {}
        });
        for (buf, len) in found.into_iter().filter(|_| is_closed) {
            self.local[buf.0 as usize] = Some(len);
        }
    }

    /// The memory of a buffer, if it is ever written.
    pub fn changing(&self, buf: Buf) -> Option<u32> {
        let memory = self.memory[buf.0 as usize];
        self.written[memory as usize].then_some(memory)
    }
}

/// The product of sizes, if they are constants.
fn constant(dims: &[Operand]) -> Option<i64> {
    dims.iter().try_fold(1i64, |product, dim| match dim {
        Operand::Lit(value) => product.checked_mul(value.int().max(0)),
        Operand::Reg(_) => None,
    })
}

/// By register: the body that assigns it and the body that mentions it last, as numbers.
struct Places {
    bound: Vec<u32>,
    used: Vec<u32>,
    next: u32,
}

impl Places {
    fn of(function: &Function) -> Places {
        let count = function.regs.len();
        let mut places =
            Places { bound: vec![u32::MAX; count], used: vec![u32::MAX - 1; count], next: 1 };
        places.body(&function.body, 0);
        for result in &function.results {
            match result {
                Return::Scalar(value) => places.mention(*value, 0),
                Return::Buffer(_, dims) => dims.iter().for_each(|dim| places.mention(*dim, 0)),
            }
        }
        places
    }

    fn mention(&mut self, operand: Operand, body: u32) {
        if let Operand::Reg(reg) = operand {
            self.used[reg.0 as usize] = body;
        }
    }

    fn body(&mut self, stmts: &[Stmt], body: u32) {
        for stmt in stmts {
            if let Stmt::Step(Step::Let(reg, _)) = stmt {
                self.bound[reg.0 as usize] = body;
            }
            let nested = self.next;
            // The test of a `while` is evaluated in its first nested body.
            let place = if matches!(stmt, Stmt::Nest(Nest::While { .. })) { nested } else { body };
            stmt.operands(&mut |operand| self.mention(operand, place));
            self.next += 2;
            for (k, inner) in stmt.bodies().into_iter().enumerate() {
                self.body(inner, nested + k as u32);
            }
        }
    }
}

/// The buffers among the arguments that a call writes to.
fn written_by_call(library: &Library, function: FnId, args: &[Arg]) -> impl Iterator<Item = Buf> {
    let params = &library.function(function).params;
    params.iter().zip(args).filter_map(|(param, arg)| match (param, arg) {
        (Param::Owned(_) | Param::Shared(_), Arg::Buffer(buf)) => Some(*buf),
        (Param::Scalar(_) | Param::Buffer(_), _) | (_, Arg::Scalar(_)) => None,
    })
}

/// The buffers that others may add to by other names: accumulators of the caller, and cells of
/// nodes.
fn shared(function: &Function, library: &Library) -> Vec<Buf> {
    let mut shared = Vec::new();
    for param in &function.params {
        if let Param::Shared(buf) = param {
            shared.push(*buf);
        }
    }
    visit(&function.body, &mut |stmt| match stmt {
        Stmt::Step(Step::Open { buf, field, .. }) if library.field(*field).cell => {
            shared.push(*buf)
        }
        Stmt::Step(_) | Stmt::Nest(_) => {}
    });
    shared
}

/// Union-find: buffers joined by views and exchanges have one memory, and so have those that are
/// shared.
fn memories(function: &Function, library: &Library) -> Vec<u32> {
    let mut parents: Vec<u32> = (0..function.bufs.len() as u32).collect();
    fn root(parents: &mut [u32], k: u32) -> u32 {
        let mut k = k;
        while parents[k as usize] != k {
            parents[k as usize] = parents[parents[k as usize] as usize];
            k = parents[k as usize];
        }
        k
    }
    for pair in shared(function, library).windows(2) {
        let (a, b) = (root(&mut parents, pair[0].0), root(&mut parents, pair[1].0));
        parents[a as usize] = b;
    }
    visit(&function.body, &mut |stmt| {
        if let Stmt::Step(Step::View { buf: a, base: b, .. } | Step::Swap(a, b)) = stmt {
            let (a, b) = (root(&mut parents, a.0), root(&mut parents, b.0));
            parents[a as usize] = b;
        }
    });
    (0..function.bufs.len() as u32).map(|k| root(&mut parents, k)).collect()
}

/// By buffer: whether it is a parameter, a constant or an array of a node that may only be read, or
/// a view of one.
fn outside(function: &Function, library: &Library) -> Vec<bool> {
    let mut outside = vec![false; function.bufs.len()];
    for param in &function.params {
        if let Param::Buffer(buf) = param {
            outside[buf.0 as usize] = true;
        }
    }
    visit(&function.body, &mut |stmt| match stmt {
        Stmt::Step(Step::Constant(buf, _)) => outside[buf.0 as usize] = true,
        Stmt::Step(Step::Open { buf, field, .. }) => {
            outside[buf.0 as usize] = !library.field(*field).cell;
        }
        Stmt::Step(Step::View { buf, base, .. }) => {
            outside[buf.0 as usize] = outside[base.0 as usize]
        }
        Stmt::Step(_) | Stmt::Nest(_) => {}
    });
    outside
}
