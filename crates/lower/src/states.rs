//! `loop`: the state lives in cells and buffers.
//!
//! An array of the state has one buffer if the next state is made from the current one in place: an
//! iteration then costs only its changes. If the next state is built anew, it has a second buffer,
//! in which the body builds it, and the two swap names at the end of the iteration. A state that
//! changes size takes, in each iteration, the buffer that the body has made for it.
//!
//! The initial state takes over the memory of its initial value if no other code needs it.

use lambada_anf::{Atom, Block, LoopKind, Param, Stm};
use lambada_loops::{Cell, Mode, Nest, Operand, While};
use lambada_prim::ScalarTy;

use crate::Lower;
use crate::branches::is_sized_by;
use crate::code::BodyKind;
use crate::memory::{Home, LoweredValue, Place};

/// The parts of a loop.
pub(crate) struct Loop<'a> {
    stm: &'a Stm,
    pub(crate) params: &'a [Param],
    inits: &'a [Atom],
    body: &'a Block,
    /// All blocks that an iteration runs.
    blocks: Vec<&'a Block>,
    /// By parameter: how its next value is made.
    roles: Vec<Role>,
    /// Whether iterations leave nodes behind.
    keeps_nodes: bool,
}

/// How the next value of an array of the state is made, as far as known before lowering.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// In place, from its own current value only.
    Kept,
    /// Arrays of the state may swap roles.
    Exchanged,
    /// Anew.
    Fresh,
    /// Its size depends on the state.
    Grows,
}

/// A part of the state.
pub(crate) enum State {
    Cell(Cell),
    Array(Held),
}

/// An array of the state.
pub(crate) struct Held {
    /// The current value.
    pub(crate) place: Place,
    /// The place for the next value, if it is built anew.
    pub(crate) spare: Option<Place>,
    /// Whether it changes its size.
    pub(crate) grows: bool,
}

impl<'a> Lower<'a> {
    pub(crate) fn loop_(
        &mut self,
        stm: &'a Stm,
        params: &'a [Param],
        inits: &'a [Atom],
        kind: &'a LoopKind,
        body: &'a Block,
    ) {
        let blocks = match kind {
            LoopKind::For { .. } => vec![body],
            LoopKind::While(cond) => vec![cond, body],
        };
        let roles = self.roles(params, body);
        let keeps_nodes = self.signatures.keeps_nodes(params, body);
        let plan = Loop { stm, params, inits, body, blocks, roles, keeps_nodes };
        let states = self.first_states(&plan);
        match kind {
            LoopKind::For { index, extent, checkpoint: _ } => {
                let end = self.env.operand(*extent);
                self.code.open(plan.level());
                let counter = self.code.index(self.env.hint(*index));
                self.body(&plan, &states, Some((*index, counter.into())));
                let body = self.code.close();
                self.code.push(Nest::For {
                    index: counter,
                    start: Operand::int(0),
                    end,
                    step: 1,
                    mode: Mode::Sequential,
                    body,
                });
            }
            LoopKind::While(cond) => {
                let cond = self.condition(&plan, &states, cond);
                self.code.open(plan.level());
                self.body(&plan, &states, None);
                let body = self.code.close();
                self.code.push(Nest::While { cond, body });
            }
        }
        for (bind, state) in stm.binds.iter().zip(states) {
            self.last_state(bind, state);
        }
    }

    fn roles(&self, params: &[Param], body: &Block) -> Vec<Role> {
        // By parameter: the parameters whose memory its next value may take in place.
        let from: Vec<Vec<usize>> = body
            .results
            .iter()
            .map(|result| {
                let origins = self.env.facts().origins_of(*result);
                (0..params.len()).filter(|k| origins.contains(&params[*k].var)).collect()
            })
            .collect();
        let role = |k: usize| {
            if is_sized_by(&params[k], params) {
                return Role::Grows;
            }
            let to_others = from.iter().enumerate().any(|(j, from)| j != k && from.contains(&k));
            match from[k].as_slice() {
                [] => Role::Fresh,
                [only] if *only == k && !to_others => Role::Kept,
                [_, ..] => Role::Exchanged,
            }
        };
        (0..params.len()).map(role).collect()
    }

    // The first state

    fn first_states(&mut self, plan: &Loop<'a>) -> Vec<State> {
        let mut taken = Vec::new();
        let mut states = Vec::with_capacity(plan.params.len());
        for (k, p) in plan.params.iter().enumerate() {
            if p.ty.dims.is_empty() {
                let first = self.env.operand(plan.inits[k]);
                states.push(State::Cell(self.code.cell(
                    p.ty.elem.scalar(),
                    first,
                    self.env.hint(p.var),
                )));
            } else {
                let held = self.first_array(plan, k, &taken);
                taken.push(held.place.clone());
                states.push(State::Array(held));
            }
        }
        states
    }

    fn first_array(&mut self, plan: &Loop<'a>, k: usize, taken: &[Place]) -> Held {
        let init = self.env.place(plan.inits[k]);
        let role = plan.roles[k];
        let place = if self.may_take_state(plan, role, &init, taken) {
            self.take(&init);
            init
        } else {
            let place = self.state_place(plan, k, &init, taken);
            self.copy(&init, &place);
            place
        };
        let spare = (role == Role::Fresh).then(|| self.spare(&place));
        Held { place, spare, grows: role == Role::Grows }
    }

    /// Whether the state may take over the memory of its initial value.
    fn may_take_state(&self, plan: &Loop<'a>, role: Role, init: &Place, taken: &[Place]) -> bool {
        let names = self.memory.names(init.storage);
        let home = self.memory.whole(init);
        let fits = match role {
            Role::Kept => true,
            Role::Exchanged | Role::Fresh => home.is_some(),
            Role::Grows => home.is_some_and(|home| home.level == self.code.level()),
        };
        fits && self.is_spent(init.storage)
            && self.is_apart(init, taken)
            && !names
                .into_iter()
                .any(|v| plan.blocks.iter().any(|block| self.env.mentions(block, v)))
    }

    /// Memory for the state: the place where the result is wanted, if one buffer suffices; else
    /// new.
    fn state_place(&mut self, plan: &Loop<'a>, k: usize, init: &Place, taken: &[Place]) -> Place {
        let bind = &plan.stm.binds[k];
        if plan.roles[k] == Role::Kept
            && let Some(wanted) = self.memory.wanted(bind.var)
            && self.is_free(wanted, &[])
            && self.is_apart(wanted, taken)
        {
            return wanted.clone();
        }
        let level = self.code.level();
        let origin = self.env.origin(bind.var);
        self.alloc_at(
            level,
            bind.ty.elem.scalar(),
            init.dims.clone(),
            self.env.hint(bind.var),
            origin,
        )
    }

    /// A second buffer like that of the state, whose name may be swapped with it.
    pub(crate) fn spare(&mut self, place: &Place) -> Place {
        let Home { level, len } =
            self.memory.home(place.storage).expect("the state has a buffer of its own");
        let like = self.memory.buf(place.storage);
        let (elem, hint) = (self.code.elem(like), self.code.hint(like));
        let origin = self.code.origin(like);
        let buf = self.code.alloc(level, elem, &place.dims, format!("{hint}_next").into(), origin);
        Place { storage: self.memory.own(buf, Home { level, len }), ..place.clone() }
    }

    // Iterations

    fn body(
        &mut self,
        plan: &Loop<'a>,
        states: &[State],
        counter: Option<(lambada_anf::Var, Operand)>,
    ) {
        self.within(plan.body, &plan.blocks, |lower| {
            if let Some((index, counter)) = counter {
                lower.bind(index, LoweredValue::Scalar(counter));
            }
            lower.bind_state(plan, states, plan.body);
            let wants: Vec<Option<Place>> =
                states.iter().zip(&plan.roles).map(|(state, role)| state.want(*role)).collect();
            let results = lower.block(plan.body, &wants);
            lower.advance(states, results);
        });
    }

    /// Binds the parameters to the current state, for a block that mentions them.
    fn bind_state(&mut self, plan: &Loop<'a>, states: &[State], block: &Block) {
        for (p, state) in plan.params.iter().zip(states) {
            match state {
                State::Cell(cell) => {
                    let is_size = plan.params.iter().any(|q| q.ty.dims.contains(&p.var.into()));
                    if is_size || self.env.mentions(block, p.var) {
                        let value = self.code.get(*cell);
                        self.bind(p.var, LoweredValue::Scalar(value));
                    }
                }
                State::Array(held) => {
                    // The buffer of a state that changes size has no length known outside, so it is
                    // not offered for a swap.
                    let storage = if held.grows {
                        self.memory.slot(held.place.storage)
                    } else {
                        held.place.storage
                    };
                    let place =
                        Place { storage, offset: held.place.offset, dims: self.env.dims(&p.ty) };
                    self.bind(p.var, LoweredValue::Array(place));
                }
            }
        }
    }

    /// The condition of a `while`. It must not overwrite the state, which is the result if the
    /// condition fails.
    fn condition(&mut self, plan: &Loop<'a>, states: &[State], cond: &'a Block) -> While {
        self.code.open(BodyKind::Loop);
        self.protect(states, true);
        let test = self.within(cond, &plan.blocks, |lower| {
            lower.bind_state(plan, states, cond);
            lower.block(cond, &[]);
            lower.env.operand(cond.results[0])
        });
        self.protect(states, false);
        if !self.code.allocates() {
            return While { before: self.code.close(), test };
        }
        // A cell carries the test out of the scope, because names of allocations end before it.
        let cell = self.code.outer_cell(ScalarTy::Bool, "test");
        self.code.set(cell, test);
        let scope = self.code.close();
        self.code.open(BodyKind::Loop);
        scope.into_iter().for_each(|stmt| self.code.push(stmt));
        let test = self.code.get(cell);
        While { before: self.code.close(), test }
    }

    fn protect(&mut self, states: &[State], on: bool) {
        for state in states {
            if let State::Array(held) = state {
                self.memory.set_writable(held.place.storage, !on);
            }
        }
    }

    fn last_state(&mut self, bind: &Param, state: State) {
        let value = match state {
            State::Cell(_) if self.env.last_mention(bind.var).is_none() => return,
            State::Cell(cell) => LoweredValue::Scalar(self.code.get(cell)),
            State::Array(held) if held.grows => {
                LoweredValue::Array(self.named(self.memory.buf(held.place.storage), bind))
            }
            State::Array(held) => {
                LoweredValue::Array(Place { dims: self.env.dims(&bind.ty), ..held.place })
            }
        };
        self.bind(bind.var, value);
    }
}

impl Loop<'_> {
    fn level(&self) -> BodyKind {
        if self.roles.contains(&Role::Grows) {
            BodyKind::Growing
        } else if self.keeps_nodes {
            BodyKind::Keeping
        } else {
            BodyKind::Loop
        }
    }
}

impl State {
    /// The place in which the body should build the next value.
    fn want(&self, role: Role) -> Option<Place> {
        match (self, role) {
            (State::Array(held), Role::Kept) => Some(held.place.clone()),
            (State::Array(held), Role::Fresh) => held.spare.clone(),
            (State::Array(_), Role::Exchanged | Role::Grows) | (State::Cell(_), _) => None,
        }
    }
}
