//! Regions: maximal runs of statements of a block that a graph can represent. The statements
//! between them (calls, nodes, `while`) stay as they are, with the regions in their own blocks.
//!
//! *Assumes* a function that `lambada_anf::check` accepts. *Gives* to each region its live-in and
//! its live-out variables.

use lambada_anf::{
    Atom, Block, Elem, Exp, Function, LoopKind, Names, Nest, Op, Param, Renaming, Stm, Ty, Var,
};
use lambada_prim::{Prim, Scalar};
use rustc_hash::{FxHashMap, FxHashSet};

/// A maximal run of statements.
#[derive(Debug)]
pub struct Region<'a> {
    /// The statements.
    pub stms: &'a [Stm],
    /// The live-out variables, sizes before the arrays that have them.
    pub outputs: Vec<Param>,
    /// The types of all variables of the function.
    pub types: &'a FxHashMap<Var, Ty>,
    /// Arrays of the function whose elements are all one constant.
    pub fills: &'a FxHashMap<Var, Scalar>,
    /// Integers of the function of the form `v + constant`, for a parameter or a size of one.
    pub sums: &'a FxHashMap<Var, (Var, i64)>,
}

/// The replacement of a region: statements, and an atom for each output.
pub type Replaced = (Vec<Stm>, Vec<Atom>);

/// Replaces each region of a function and of its library.
pub fn replace_regions(
    function: &mut Function,
    replace: &mut dyn FnMut(&mut Names, &Region) -> Replaced,
) {
    for callee in function.library.functions.iter_mut().flatten() {
        replace_regions(callee, replace);
    }
    let (types, mentions, fills) = (types(function), mentions(function), fills(function));
    let sums = sums(function, &types);
    let mut body = std::mem::take(&mut function.body);
    let mut pass = Pass {
        types: &types,
        fills: &fills,
        sums: &sums,
        mentions: &mentions,
        names: &mut function.names,
        replace,
        renaming: Renaming::new(),
    };
    pass.block(&mut body);
    let renaming = pass.renaming;
    renaming.apply(&mut body);
    function.results = function.results.iter().map(|ty| renaming.ty(ty)).collect();
    function.body = body;
}

/// The types of all variables.
pub(crate) fn types(function: &Function) -> FxHashMap<Var, Ty> {
    let mut types: FxHashMap<Var, Ty> = function.sizes.iter().map(|s| (*s, Ty::int())).collect();
    let given = function.params.iter().chain(&function.accumulators);
    types.extend(given.map(|p| (p.var, p.ty.clone())));
    function.body.each(&mut |stm| {
        types.extend(stm.binds.iter().map(|p| (p.var, p.ty.clone())));
        match &stm.exp {
            Exp::Op(_) | Exp::Nest(Nest::If { .. }) => {}
            Exp::Nest(Nest::For { index, .. }) => _ = types.insert(*index, Ty::int()),
            Exp::Nest(Nest::Loop { params, kind, .. }) => {
                types.extend(params.iter().map(|p| (p.var, p.ty.clone())));
                if let LoopKind::For { index, .. } = kind {
                    types.insert(*index, Ty::int());
                }
            }
        }
    });
    types
}

/// The arrays whose elements are all one constant.
pub(crate) fn fills(function: &Function) -> FxHashMap<Var, Scalar> {
    let mut fills = FxHashMap::default();
    function.body.each(&mut |stm| {
        if let Exp::Op(Op::Fill(Atom::Lit(value))) = &stm.exp {
            fills.insert(stm.binds[0].var, *value);
        }
    });
    fills
}

/// The integers of the form `v + constant`, for a parameter or a size of one, which is in scope
/// everywhere. Sizes of arrays stand for themselves.
pub(crate) fn sums(function: &Function, types: &FxHashMap<Var, Ty>) -> FxHashMap<Var, (Var, i64)> {
    let params = function.params.iter().map(|p| p.var);
    let given: FxHashSet<Var> = function.sizes.iter().copied().chain(params).collect();
    let mut sums = FxHashMap::default();
    function.body.each(&mut |stm| {
        if let Exp::Op(Op::Prim(Prim::AddInt, args)) = &stm.exp
            && let [Atom::Var(var), Atom::Lit(Scalar::Int(more))] = args[..]
            && given.contains(&var)
        {
            sums.insert(stm.binds[0].var, (var, more));
        }
    });
    let sizes = types.values().flat_map(|ty| &ty.dims).filter_map(|dim| dim.as_var());
    sizes.for_each(|size| _ = sums.remove(&size));
    sums
}

/// The number of mentions of each variable.
pub(crate) fn mentions(function: &Function) -> FxHashMap<Var, usize> {
    let mut count = FxHashMap::default();
    let mut add = |var: Var| *count.entry(var).or_default() += 1;
    function.body.stms.iter().for_each(|stm| stm.mentioned(&mut add));
    let sizes = function.results.iter().flat_map(|ty| &ty.dims);
    let given = function.body.results.iter().chain(sizes);
    given.filter_map(|a| a.as_var()).for_each(add);
    count
}

struct Pass<'a> {
    types: &'a FxHashMap<Var, Ty>,
    fills: &'a FxHashMap<Var, Scalar>,
    sums: &'a FxHashMap<Var, (Var, i64)>,
    mentions: &'a FxHashMap<Var, usize>,
    names: &'a mut Names,
    replace: &'a mut dyn FnMut(&mut Names, &Region) -> Replaced,
    renaming: Renaming,
}

impl Pass<'_> {
    fn block(&mut self, block: &mut Block) {
        let mut stms = std::mem::take(&mut block.stms);
        let allowed = Allowed { loops: true, additions: false, accumulators: true };
        let fitting = fitting(&stms, allowed, self.mentions, &|_| false);
        let mut at = 0;
        while at < stms.len() {
            let len = fitting[at..].iter().take_while(|fits| **fits == fitting[at]).count();
            let run = at..at + len;
            if fitting[at] {
                let region = &stms[run];
                let outputs = needed(region, self.mentions);
                let (types, fills, sums) = (self.types, self.fills, self.sums);
                let region = Region { stms: region, outputs, types, fills, sums };
                let (new, atoms) = (self.replace)(self.names, &region);
                for (output, atom) in region.outputs.iter().zip(atoms) {
                    // The atom may be an input that has been replaced itself.
                    self.renaming.insert(output.var, self.renaming.atom(atom));
                }
                block.stms.extend(new);
            } else {
                for stm in &mut stms[run.clone()] {
                    stm.exp.blocks_mut().into_iter().for_each(|inner| self.block(inner));
                }
                block.stms.extend_from_slice(&stms[run]);
            }
            at += len;
        }
    }
}

/// The live-out variables of a run of statements.
pub(crate) fn needed(stms: &[Stm], mentions: &FxHashMap<Var, usize>) -> Vec<Param> {
    let mut inside: FxHashMap<Var, usize> = FxHashMap::default();
    stms.iter().for_each(|stm| stm.mentioned(&mut |var| *inside.entry(var).or_default() += 1));
    let accumulates = |stm: &&Stm| !matches!(stm.exp, Exp::Op(Op::Accumulator(_)));
    let bound: Vec<&Param> = stms.iter().filter(accumulates).flat_map(|s| &s.binds).collect();
    let count = |of: &FxHashMap<Var, usize>, var: Var| of.get(&var).copied().unwrap_or(0);
    let outside = |p: &&&Param| count(mentions, p.var) > count(&inside, p.var);
    let mut needed: FxHashSet<Var> = bound.iter().filter(outside).map(|p| p.var).collect();
    // The type of a live-out variable mentions its sizes.
    for p in bound.iter().rev() {
        if needed.contains(&p.var) {
            needed.extend(p.ty.dims.iter().filter_map(|d| d.as_var()));
        }
    }
    bound.into_iter().filter(|p| needed.contains(&p.var)).cloned().collect()
}

/// Optional constructs of a region.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowed {
    /// Sequential loops, and updates.
    pub(crate) loops: bool,
    /// Additions to outer accumulators.
    pub(crate) additions: bool,
    /// Accumulators of its own. If these are not allowed and additions are, each accumulator of the
    /// block counts as an outer one, so that parts of a run are runs.
    pub(crate) accumulators: bool,
}

/// Whether each statement of a block belongs to a region. An accumulator belongs to one if a single
/// run has all statements about it. Statements that stand apart belong to none.
pub(crate) fn fitting(
    stms: &[Stm],
    allowed: Allowed,
    mentions: &FxHashMap<Var, usize>,
    apart: &dyn Fn(&Stm) -> bool,
) -> Vec<bool> {
    let makes = |stm: &Stm| match &stm.exp {
        Exp::Op(Op::Accumulator(_)) => Some(stm.binds[0].var),
        Exp::Op(_) | Exp::Nest(_) => None,
    };
    let mut own: FxHashSet<Var> = if allowed.accumulators {
        stms.iter().filter_map(makes).collect()
    } else {
        FxHashSet::default()
    };
    let mut inside: FxHashMap<Var, usize> = own.iter().map(|acc| (*acc, 0)).collect();
    let mut count = |var: Var| inside.get_mut(&var).into_iter().for_each(|count| *count += 1);
    stms.iter().for_each(|stm| stm.mentioned(&mut count));
    own.retain(|acc| mentions.get(acc).is_none_or(|all| *all == inside[acc]));
    loop {
        let fits = |stm: &Stm| !apart(stm) && fits(stm, &own, allowed);
        let fitting: Vec<bool> = stms.iter().map(fits).collect();
        let before = own.len();
        let (mut run, mut runs) = (0, FxHashMap::default());
        for (stm, fits) in stms.iter().zip(&fitting) {
            run += usize::from(!fits);
            let place = (run, *fits);
            stm.mentioned(&mut |var| {
                if own.contains(&var) && (!fits || *runs.entry(var).or_insert(place) != place) {
                    runs.insert(var, (usize::MAX, false));
                }
            });
            if let Some(acc) = makes(stm) {
                runs.insert(acc, place);
            }
        }
        own.retain(|acc| runs.get(acc).is_some_and(|(_, fits)| *fits));
        if own.len() == before {
            return fitting;
        }
    }
}

/// Whether a graph can represent the statement, with additions to these accumulators.
fn fits(stm: &Stm, accumulators: &FxHashSet<Var>, allowed: Allowed) -> bool {
    let scalars = |params: &[Param]| params.iter().all(|p| matches!(p.ty.elem, Elem::Scalar(_)));
    if !scalars(&stm.binds) {
        return false;
    }
    match &stm.exp {
        Exp::Op(op) => match op {
            Op::Prim(..)
            | Op::Index(..)
            | Op::Fill(_)
            | Op::Array(_)
            | Op::Constant(_)
            | Op::Check { .. } => true,
            Op::ArrayPrim(prim, _) => prim.is_contraction(),
            Op::Update { .. } => allowed.loops,
            Op::Accumulator(_) => accumulators.contains(&stm.binds[0].var),
            Op::Accumulate { acc, .. } => allowed.additions || accumulators.contains(acc),
            Op::Freeze(acc) => accumulators.contains(acc),
            Op::Call { .. }
            | Op::Node { .. }
            | Op::Tag(_)
            | Op::Field { .. }
            | Op::Open { .. }
            | Op::Cell { .. }
            | Op::Inspect { .. }
            | Op::Scheduled(_) => false,
        },
        Exp::Nest(nest) => {
            let state = match nest {
                Nest::For { .. } | Nest::If { .. } => true,
                Nest::Loop { kind: LoopKind::While(_), .. } => false,
                Nest::Loop { .. } if !allowed.loops => false,
                Nest::Loop { params, .. } => {
                    let own: FxHashSet<Atom> = params.iter().map(|p| p.var.into()).collect();
                    let sizes = params.iter().chain(&stm.binds).flat_map(|p| &p.ty.dims);
                    let bound: FxHashSet<Atom> = stm.binds.iter().map(|p| p.var.into()).collect();
                    scalars(params)
                        && !sizes.into_iter().any(|d| own.contains(d) || bound.contains(d))
                }
            };
            state && nest.blocks().into_iter().all(|block| block_fits(block, accumulators, allowed))
        }
    }
}

fn block_fits(block: &Block, accumulators: &FxHashSet<Var>, allowed: Allowed) -> bool {
    let mut known = accumulators.clone();
    known.extend(block.accumulators());
    block.stms.iter().all(|stm| fits(stm, &known, allowed))
}
