//! Sequential loops. Other loops over the same axis read the states from a tape.

use super::*;

impl Restorer<'_> {
    /// The state in the iteration that is being written, if the innermost loop over the axis is
    /// `l`.
    pub(super) fn state(&self, l: LoopId, k: u32) -> Option<Atom> {
        let axis = self.graph.loop_(l).axis;
        let inner = self.levels.iter().rev().find(|level| level.index(axis).is_some())?;
        let Around::Loop(own, _, _, state) = &inner.around else { return None };
        (*own == l).then(|| state[k as usize])
    }

    /// The states after the last iteration.
    pub(super) fn last(&mut self, l: LoopId) -> Vec<Atom> {
        let home = self.home_of_loop(l);
        if let Some(finals) = self.known(home, |level| level.finals.get(&l).cloned()) {
            return finals;
        }
        self.at(home, |r| {
            let (finals, _) = r.run(l, false);
            r.top().finals.insert(l, finals.clone());
            finals
        })
    }

    /// The state at the beginning of an iteration, read from a tape in another loop.
    pub(super) fn taped(&mut self, id: ArrayId, l: LoopId, k: u32) -> Atom {
        let home = self.home_of_loop(l);
        let known = self.known(home, |level| level.tapes.get(&l).cloned());
        let tapes = known.unwrap_or_else(|| {
            self.at(home, |r| {
                let (_, tapes) = r.run(l, true);
                r.top().tapes.insert(l, tapes.clone());
                tapes
            })
        });
        let (ty, index) = (self.ty(id), self.index(self.graph.loop_(l).axis));
        let tape = tapes[k as usize].as_var().expect("a tape is an array");
        self.bind("state", ty, Op::Index(tape, vec![index]))
    }

    fn home_of_loop(&self, l: LoopId) -> usize {
        let (free, lazy) = self.graph.loop_facts(l);
        self.home(free, *lazy)
    }

    /// Writes a loop; returns its last states, and with `tapes` all states, as arrays.
    fn run(&mut self, l: LoopId, tapes: bool) -> (Vec<Atom>, Vec<Atom>) {
        let known = self.graph.loop_(l);
        let extent = self.node(self.graph.axis(known.axis).extent);
        let mut inits: Vec<Atom> = known.carries.iter().map(|c| self.array(c.init)).collect();
        let mut types: Vec<Ty> = known.carries.iter().map(|c| self.ty(c.init)).collect();
        let count = inits.len();
        if tapes {
            for k in 0..count {
                let ty = types[k].array_of(extent);
                let zero = Atom::Lit(ty.elem.zero());
                inits.push(self.bind("tape", ty.clone(), Op::Fill(zero)));
                types.push(ty);
            }
        }
        let hint = |k: usize| known.carries[k % count].hint.clone();
        let param =
            |names: &mut Names, k: usize| Param { var: names.fresh(hint(k)), ty: types[k].clone() };
        let params: Vec<Param> = (0..types.len()).map(|k| param(self.names, k)).collect();
        let binds: Vec<Param> = (0..types.len()).map(|k| param(self.names, k)).collect();
        let index = self.names.fresh(self.graph.axis(known.axis).hint.clone());
        let state = params.iter().map(|p| p.var.into()).collect();
        let around = Around::Loop(l, known.axis, index.into(), state);
        let (body, ()) = self.block(around, |r| {
            let mut nexts: Vec<Atom> = known.carries.iter().map(|c| r.array(c.next)).collect();
            for k in count..params.len() {
                let (array, value) = (params[k].var, params[k - count].var.into());
                let update = Op::Update { array, index: vec![index.into()], value };
                nexts.push(r.bind("tape", types[k].clone(), update));
            }
            (nexts, ())
        });
        let mut all: Vec<Atom> = binds.iter().map(|p| p.var.into()).collect();
        let kind = LoopKind::counted(index, extent);
        self.push(Stm::new(binds, Nest::Loop { params, inits, kind, body }));
        let tapes = all.split_off(count);
        (all, tapes)
    }
}
