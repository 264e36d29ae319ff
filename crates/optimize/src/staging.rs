//! A program in two stages. The last parameters are known before the first call; values that depend
//! on them alone are *static* and computed once: whole statements, and expensive numbers inside of
//! loops, which become arrays over the indices of the loops.
//!
//! Assumes: the output of `normalize`. Gives: a function of the known parameters, and
//! the rest, which takes its results after all parameters. Keeps: values; failures of static
//! statements come before the first call; memory, because an array that no statement had to store
//! is stored only if it is about as large as the known parameters.

use std::collections::{BTreeSet, HashMap, HashSet};

use lambada_anf::{
    Atom, Block, Elem, Exp, Function, LoopKind, Names, Nest, Op, Out, Param, Renaming, Stm, Ty, Var,
};
use lambada_prim::{Cost, Scalar, ScalarTy};

use crate::columns::columns;

/// Indices of loops, with their extents.
type Loops = Vec<(Var, Atom)>;

/// A program in two stages.
#[derive(Clone, Debug)]
pub struct Staged {
    /// From the known parameters to the last parameters of the rest.
    pub first: Function,
    /// The rest.
    pub rest: Function,
}

/// Splits a function whose parameters from the `known`th on are known before the first call; `None`
/// if that saves nothing.
pub fn staged(function: &Function, known: usize) -> Option<Staged> {
    let params = &function.params[known..];
    let sizes: HashSet<Var> = params
        .iter()
        .flat_map(|p| &p.ty.dims)
        .filter_map(|dim| dim.as_var())
        .filter(|var| function.sizes.contains(var))
        .collect();
    let mut rest = function.clone();
    let mut stages = Stages {
        known: params.iter().map(|p| p.var).chain(sizes.iter().copied()).collect(),
        dims: params.iter().map(|p| p.ty.dims.clone()).collect(),
        sizes,
        first: Vec::new(),
        kept: Vec::new(),
    };
    stages.whole(&mut rest);
    stages.inside(&mut rest);
    columns(&mut rest, params, &mut stages.first, &mut stages.kept, SMALL);
    if stages.kept.is_empty() {
        return None;
    }
    let Stages { first: stms, kept, sizes, .. } = stages;
    let results = kept.iter().map(|p| p.var.into()).collect();
    let first = Function {
        name: format!("{} before", function.name),
        sizes: function.sizes.iter().copied().filter(|size| sizes.contains(size)).collect(),
        params: params.to_vec(),
        results: kept.iter().map(|p| p.ty.clone()).collect(),
        body: Block { stms, results },
        names: rest.names.clone(),
        ..function.clone()
    };
    rest.params.extend(kept);
    Some(Staged { first, rest })
}

/// Elements of an array that is always stored: 8 MB.
const SMALL: u64 = 1 << 20;

/// How many times as many elements as the known parameters an array may have beyond that.
const TIMES: u64 = 8;

/// The division of a function.
struct Stages {
    /// Static variables.
    known: HashSet<Var>,
    /// The sizes of the known parameters.
    dims: Vec<Vec<Atom>>,
    /// Sizes that known arrays have.
    sizes: HashSet<Var>,
    /// Statements of the first stage.
    first: Vec<Stm>,
    /// Results of the first stage.
    kept: Vec<Param>,
}

impl Stages {
    /// Moves whole statements of the body.
    fn whole(&mut self, rest: &mut Function) {
        let stms = self.divided(std::mem::take(&mut rest.body.stms), &mut rest.names);
        let moves = self.movable(&stms);
        let mut needed: HashSet<Var> =
            rest.body.results.iter().filter_map(|atom| atom.as_var()).collect();
        needed.extend(rest.results.iter().flat_map(|ty| &ty.dims).filter_map(|a| a.as_var()));
        let mut left = Vec::new();
        let mut kept = Vec::new();
        for (stm, moves) in stms.iter().zip(&moves).rev() {
            if !moves {
                needed.extend(stm.free_vars());
                left.push(stm.clone());
                continue;
            }
            let wanted = |p: &&Param| needed.contains(&p.var);
            let adds = stm.additions().iter().any(|acc| needed.contains(acc));
            if !adds && !stm.binds.iter().any(|p| needed.contains(&p.var)) {
                continue;
            }
            if !adds && self.keeps(stm) {
                kept.extend(stm.binds.iter().filter(wanted).cloned());
            } else {
                needed.extend(stm.free_vars());
                left.push(stm.clone());
            }
        }
        left.reverse();
        kept.reverse();
        rest.body.stms = left;
        self.kept = kept;
        // Checks stand in both stages, because accesses in both rely on them.
        let is_first = |stm: &Stm, moves: bool| {
            let check = matches!(stm.exp, Exp::Op(Op::Check { .. }));
            moves || check && stm.free_vars().iter().all(|var| self.known.contains(var))
        };
        let moved = stms.into_iter().zip(moves).filter(|(stm, moves)| is_first(stm, *moves));
        self.first = moved.map(|(stm, _)| stm).collect();
    }

    /// Divides each `for` into its static results and the others.
    fn divided(&self, stms: Vec<Stm>, names: &mut Names) -> Vec<Stm> {
        let mut known = self.known.clone();
        let mut all = Vec::new();
        for stm in stms {
            let new = all.len();
            match division(&stm, &known, names) {
                Some([own, others]) => all.extend([own, others]),
                None => all.push(stm),
            }
            for stm in &all[new..] {
                if stm.free_vars().iter().all(|var| known.contains(var)) {
                    known.extend(stm.binds.iter().map(|p| p.var));
                }
            }
        }
        all
    }

    /// The static statements of the body. The statements that add to an accumulator stay together.
    fn movable(&mut self, stms: &[Stm]) -> Vec<bool> {
        let mut fixed: HashSet<Var> = HashSet::new();
        loop {
            let mut known = self.known.clone();
            let mut moves = Vec::new();
            for stm in stms {
                let own = |p: &Param| fixed.contains(&p.var) || p.ty.elem.node().is_some();
                let stays = matches!(stm.exp, Exp::Op(Op::Check { .. }))
                    || stm.inspects()
                    || stm.touches_cells()
                    // The rest would add again to have the other results.
                    || !stm.binds.is_empty() && stm.adds()
                    || stm.binds.iter().any(own);
                let moved = !stays && stm.free_vars().iter().all(|var| known.contains(var));
                if moved {
                    known.extend(stm.binds.iter().map(|p| p.var));
                }
                moves.push(moved);
            }
            let left = stms.iter().zip(&moves).filter(|(_, moved)| !**moved);
            let added: HashSet<Var> = left.flat_map(|(stm, _)| stm.additions()).collect();
            let more: Vec<Var> =
                added.into_iter().filter(|acc| known.contains(acc) && fixed.insert(*acc)).collect();
            if more.is_empty() {
                self.known = known;
                return moves;
            }
        }
    }

    /// Whether the values of a statement are handed over. Truth values and whole numbers are
    /// computed again, because checks and indices are judged by how they come about, and so are
    /// values that take no more time than to read them.
    fn keeps(&self, stm: &Stm) -> bool {
        // The optimizer may fuse a `for` so that its array is never stored.
        let fuses = matches!(stm.exp, Exp::Nest(Nest::For { .. }));
        let handed = |p: &Param| {
            p.ty.elem == ScalarTy::Real
                && p.ty.dims.iter().all(|dim| self.is_size(*dim))
                && (!fuses || self.stores(&p.ty.dims))
        };
        stm.binds.iter().all(handed) && is_expensive(stm)
    }

    fn is_size(&self, atom: Atom) -> bool {
        match atom {
            Atom::Lit(_) => true,
            Atom::Var(var) => self.sizes.contains(&var),
        }
    }

    /// Whether an array of these sizes is about as large as the known parameters.
    fn stores(&self, dims: &[Atom]) -> bool {
        let constant = |dims: &[Atom]| -> u64 {
            let sizes = dims.iter().map(|dim| match dim {
                Atom::Lit(Scalar::Int(size)) => u64::try_from(*size).unwrap_or(0),
                Atom::Lit(_) | Atom::Var(_) => 1,
            });
            sizes.fold(1, u64::saturating_mul)
        };
        let open = |dims: &[Atom]| -> Vec<Atom> {
            dims.iter().copied().filter(|dim| dim.as_var().is_some()).collect()
        };
        // The sizes that are not constant are those of a parameter, each as often.
        let within = |known: &Vec<Atom>| {
            let mut left = open(known);
            open(dims).iter().all(|dim| {
                let place = left.iter().position(|other| other == dim);
                place.map(|place| left.swap_remove(place)).is_some()
            })
        };
        let all = self.dims.iter().map(|known| constant(known)).fold(0, u64::saturating_add);
        (open(dims).is_empty() || self.dims.iter().any(within))
            && constant(dims) <= SMALL.max(TIMES.saturating_mul(all))
    }

    /// Moves expensive numbers out of the loops of the rest.
    fn inside(&mut self, rest: &mut Function) {
        let Function { body, names, .. } = rest;
        let mut hoist = Hoist {
            stages: self,
            names,
            loops: Vec::new(),
            before: Vec::new(),
            expensive: HashSet::new(),
            reaches: HashMap::new(),
            checks: Reach::default(),
        };
        hoist.block(body);
    }
}

/// A `for` with the static results, and one with the others.
fn division(stm: &Stm, known: &HashSet<Var>, names: &mut Names) -> Option<[Stm; 2]> {
    let Exp::Nest(Nest::For { index, extent, outs, body }) = &stm.exp else { return None };
    if outs.len() < 2 || stm.adds() || extent.as_var().is_some_and(|var| !known.contains(&var)) {
        return None;
    }
    let mut inside = known.clone();
    inside.insert(*index);
    for stm in &body.stms {
        if stm.free_vars().iter().all(|var| inside.contains(var)) {
            inside.extend(stm.binds.iter().map(|p| p.var));
        }
    }
    let is_known = |atom: &Atom| atom.as_var().is_none_or(|var| inside.contains(&var));
    let mut part = |chosen: bool| {
        let of = |k: &usize| is_known(&body.results[*k]) == chosen;
        let places: Vec<usize> = (0..outs.len()).filter(of).collect();
        let results: Vec<Atom> = places.iter().map(|k| body.results[*k]).collect();
        let mut needed: HashSet<Var> = results.iter().filter_map(|a| a.as_var()).collect();
        let mut stms = Vec::new();
        for stm in body.stms.iter().rev() {
            let own = stm.free_vars().iter().all(|var| inside.contains(var));
            let stays = stm.may_fail() && (own || !chosen);
            let adds = stm.additions().iter().any(|acc| needed.contains(acc));
            if stays || adds || stm.binds.iter().any(|p| needed.contains(&p.var)) {
                needed.extend(stm.free_vars());
                stms.push(stm.clone());
            }
        }
        stms.reverse();
        let outs = places.iter().map(|k| outs[*k]).collect();
        let mut renaming = Renaming::new();
        let own = names.again(*index);
        renaming.insert(*index, own.into());
        let body = renaming.copy(&Block { stms, results }, names);
        let binds = places.iter().map(|k| stm.binds[*k].clone()).collect();
        Stm::new(binds, Nest::For { index: own, extent: *extent, outs, body })
    };
    let parts = [part(true), part(false)];
    parts.iter().all(|part| !part.binds.is_empty()).then_some(parts)
}

/// Whether a statement takes much more time than to read its result.
fn is_expensive(stm: &Stm) -> bool {
    stm.any(&mut |stm| match &stm.exp {
        Exp::Op(Op::Prim(prim, _)) => prim.row().cost == Cost::Costly,
        Exp::Op(Op::ArrayPrim(..) | Op::Call { .. } | Op::Freeze(_)) => true,
        Exp::Op(_) => false,
        Exp::Nest(Nest::Loop { .. }) => true,
        Exp::Nest(Nest::For { outs, .. }) => outs.iter().any(|out| matches!(out, Out::Reduce(_))),
        Exp::Nest(Nest::If { .. }) => false,
    })
}

/// The walk through loops.
struct Hoist<'a> {
    stages: &'a mut Stages,
    names: &'a mut Names,
    /// The indices of the loops around, with their extents.
    loops: Loops,
    /// Static statements before, in the loops around.
    before: Vec<Stm>,
    /// Static variables that are expensive to compute again.
    expensive: HashSet<Var>,
    /// Dependences of static variables inside of loops.
    reaches: HashMap<Var, Reach>,
    /// The dependences of the checks before.
    checks: Reach,
}

/// The indices of loops that a value depends on, and whether elements of arrays.
#[derive(Clone, Debug, Default)]
struct Reach {
    indices: BTreeSet<Var>,
    accesses: bool,
}

impl Reach {
    fn with(mut self, other: Option<&Reach>) -> Reach {
        if let Some(other) = other {
            self.indices.extend(&other.indices);
            self.accesses |= other.accesses;
        }
        self
    }
}

impl Hoist<'_> {
    fn block(&mut self, block: &mut Block) {
        let (outside, checks) = (self.before.len(), self.checks.clone());
        for stm in &mut block.stms {
            if !self.loops.is_empty() && self.is_known(stm) {
                self.note(stm);
                continue;
            }
            match &mut stm.exp {
                Exp::Nest(
                    Nest::For { index, extent, body, .. }
                    | Nest::Loop { kind: LoopKind::For { index, extent, .. }, body, .. },
                ) if self.stages.is_size(*extent) => {
                    self.loops.push((*index, *extent));
                    self.stages.known.insert(*index);
                    let own = Reach { indices: [*index].into(), accesses: false };
                    self.reaches.insert(*index, own);
                    self.block(body);
                    self.loops.pop();
                }
                Exp::Op(_) | Exp::Nest(_) => {}
            }
        }
        if !self.loops.is_empty() {
            self.replace(block);
        }
        self.before.truncate(outside);
        self.checks = checks;
    }

    /// Whether a statement is static, and may be computed elsewhere.
    fn is_known(&self, stm: &Stm) -> bool {
        let check = matches!(stm.exp, Exp::Op(Op::Check { .. }));
        (check || stm.is_pure())
            && stm.binds.iter().all(|p| p.ty.elem.node().is_none())
            && stm.free_vars().iter().all(|var| self.stages.known.contains(var))
    }

    /// Whether a statement accesses elements otherwise than by indices of loops, which are in range
    /// whatever other loops do.
    fn accesses(&self, stm: &Stm) -> bool {
        let mut indices: HashSet<Var> = self.loops.iter().map(|(index, _)| *index).collect();
        stm.any(&mut |stm| match &stm.exp {
            Exp::Op(op) => op.access().is_some_and(|(_, at)| {
                at.iter().any(|at| at.as_var().is_none_or(|var| !indices.contains(&var)))
            }),
            Exp::Nest(nest) => {
                if let Nest::For { index, .. } = nest {
                    indices.insert(*index);
                }
                false
            }
        })
    }

    fn note(&mut self, stm: &Stm) {
        let free = stm.free_vars();
        let accesses = self.accesses(stm);
        let mut reach = Reach { accesses, ..Reach::default() };
        for var in &free {
            reach = reach.with(self.reaches.get(var));
        }
        if stm.binds.is_empty() {
            self.checks = std::mem::take(&mut self.checks).with(Some(&reach));
        }
        let expensive = is_expensive(stm) || free.iter().any(|var| self.expensive.contains(var));
        for p in &stm.binds {
            self.stages.known.insert(p.var);
            self.reaches.insert(p.var, reach.clone());
            if expensive {
                self.expensive.insert(p.var);
            }
        }
        self.before.push(stm.clone());
    }

    /// Replaces the expensive numbers of a block that others need by elements of arrays. Those over
    /// the same indices are computed in one nest of loops, so that the first stage is not longer
    /// than the program.
    fn replace(&mut self, block: &mut Block) {
        let mut needed: HashSet<Var> = block.results.iter().filter_map(|a| a.as_var()).collect();
        for stm in block.stms.iter().filter(|stm| !self.is_known(stm)) {
            needed.extend(stm.free_vars());
        }
        let mut groups: Vec<(Loops, Vec<usize>)> = Vec::new();
        for (k, stm) in block.stms.iter().enumerate() {
            let [p] = &stm.binds[..] else { continue };
            let wanted = p.ty.rank() == 0
                && p.ty.elem == ScalarTy::Real
                && self.expensive.contains(&p.var)
                && needed.contains(&p.var)
                && self.is_known(stm);
            if !wanted {
                continue;
            }
            let loops = self.around(p.var);
            let dims: Vec<Atom> = loops.iter().map(|(_, extent)| *extent).collect();
            if loops.is_empty() || !self.stages.stores(&dims) {
                continue;
            }
            match groups.iter_mut().find(|(known, _)| *known == loops) {
                Some((_, places)) => places.push(k),
                None => groups.push((loops, vec![k])),
            }
        }
        for (loops, places) in groups {
            let values: Vec<Var> = places.iter().map(|k| block.stms[*k].binds[0].var).collect();
            let index: Vec<Atom> = loops.iter().map(|(index, _)| (*index).into()).collect();
            for (k, array) in places.into_iter().zip(self.arrays(&loops, &values)) {
                let binds = block.stms[k].binds.clone();
                block.stms[k] = Stm::new(binds, Op::Index(array, index.clone()));
            }
        }
    }

    /// The statements before that variables depend on, with all checks.
    fn slice(&self, values: &[Var]) -> Vec<&Stm> {
        let mut needs: HashSet<Var> = values.iter().copied().collect();
        let mut stms: Vec<&Stm> = Vec::new();
        for stm in self.before.iter().rev() {
            let check = matches!(stm.exp, Exp::Op(Op::Check { .. }));
            if check || stm.binds.iter().any(|p| needs.contains(&p.var)) {
                needs.extend(stm.free_vars());
                stms.push(stm);
            }
        }
        stms.reverse();
        stms
    }

    /// The loops around that a variable, or a check before it, depends on. An access may be in
    /// range because a loop runs at all.
    fn around(&self, var: Var) -> Loops {
        let reach = self.checks.clone().with(self.reaches.get(&var));
        let runs = |extent: Atom| matches!(extent, Atom::Lit(Scalar::Int(1..)));
        let kept = |(index, extent): &(Var, Atom)| {
            reach.indices.contains(index) || reach.accesses && !runs(*extent)
        };
        self.loops.iter().copied().filter(kept).collect()
    }

    /// New arrays of the first stage with the values of variables for all indices of loops.
    fn arrays(&mut self, loops: &[(Var, Atom)], values: &[Var]) -> Vec<Var> {
        let slice: Vec<Stm> = self.slice(values).into_iter().cloned().collect();
        let mut renaming = Renaming::new();
        let indices: Vec<Var> = loops.iter().map(|(index, _)| self.names.again(*index)).collect();
        for ((index, _), new) in loops.iter().zip(&indices) {
            renaming.insert(*index, (*new).into());
        }
        let stms = slice.iter().map(|stm| renaming.copy_stm(stm, self.names)).collect();
        let results = values.iter().map(|var| renaming.atom((*var).into())).collect();
        let mut body = Block { stms, results };
        let mut ty = Ty::scalar(Elem::REAL);
        for ((_, extent), index) in loops.iter().zip(&indices).rev() {
            ty = Ty { dims: [*extent].into_iter().chain(ty.dims).collect(), ..ty };
            let bind = |var: &Var| Param { var: self.names.again(*var), ty: ty.clone() };
            let binds: Vec<Param> = values.iter().map(bind).collect();
            let results = binds.iter().map(|p| p.var.into()).collect();
            let outs = vec![Out::Collect; values.len()];
            let stm = Stm::new(binds, Nest::For { index: *index, extent: *extent, outs, body });
            body = Block { stms: vec![stm], results };
        }
        let stm = body.stms.remove(0);
        let arrays = stm.binds.clone();
        self.stages.first.push(stm);
        self.stages.kept.extend(arrays.iter().cloned());
        arrays.into_iter().map(|p| p.var).collect()
    }
}
