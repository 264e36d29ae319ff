//! Fusion: two `for`s over the same range become one, and so do two `if`s on the same condition.
//!
//! ```text
//!   ys = for i < n { b₁ }
//!   between
//!   zs = for j < n { b₂ reads ys[j, …] }
//! becomes
//!   between, as far as it does not depend on ys
//!   ys, zs = for i < n { b₁; b₂[ys[j, …] := b₁'s value, j := i] }
//!   between, as far as it does
//! ```
//!
//! Assumes: nothing. Gives: no two loops over the same extent in one block that could run together.
//! This is where a primal loop, its reductions and its reverse loop become one nest, and where
//! arrays stored between them become local values. Keeps: values and failures, and updates in
//! place: nothing moves behind a statement that takes over the memory of an array that it needs.
//! The first loop moves down to the second, so if it may fail, no statement between may fail. Its
//! dependents move below the second, so they must not fail at all. If both may fail, the second
//! fails only where the same iteration of the first has failed before ([`failures`]).

use std::cell::OnceCell;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Block, Effect, Exp, Function, Nest, Op, Out, Renaming, Stm, Var};
use lambada_prim::Scalar;

use crate::calls::{Calls, Summary};
use crate::common_subexpressions::{Key, key};
use crate::failures;

/// The greatest number of earlier loops over the same extent that are tried for each loop.
const TRIED: usize = 12;
/// The number of statements to look back for them.
const WINDOW: usize = 2000;

/// The pass.
pub(crate) fn loop_fusion(function: &mut Function, calls: &Calls) -> bool {
    // An accumulator parameter may be a cell too.
    let mut cells: HashSet<Var> = function.accumulators.iter().map(|p| p.var).collect();
    function.body.each(&mut |stm| {
        if stm.exp.effect() == Effect::OpensCell {
            cells.insert(stm.binds[0].var);
        }
    });
    block(&mut function.body, &Effects { calls, cells }, &mut Image::default(), false)
}

/// The inputs to judge the effects of statements.
struct Effects<'a> {
    calls: &'a Calls,
    /// The names of cells.
    cells: HashSet<Var>,
}

/// A substitution for the block at hand, a branch of an `if` that another one has joined: results
/// of the branch for those of the `if`. A block is rewritten when the pass comes there, because
/// rewriting everything inside of an `if` takes time for each `if` around.
#[derive(Default)]
struct Image(HashMap<Var, Atom>);

impl Image {
    fn atom(&self, mut atom: Atom) -> Atom {
        while let Some(image) = atom.as_var().and_then(|var| self.0.get(&var)) {
            atom = *image;
        }
        atom
    }

    /// Substitutes in the operands of a statement; inside of loops, too, since these are compared
    /// as a whole.
    fn put(&self, stm: &mut Stm) {
        if self.0.is_empty() {
            return;
        }
        stm.exp.atoms_mut(&mut |a| *a = self.atom(*a));
        stm.binds.iter_mut().flat_map(|p| &mut p.ty.dims).for_each(|d| *d = self.atom(*d));
        if stm.exp.repeats() {
            stm.exp.blocks_mut().into_iter().for_each(|inner| self.put_inside(inner));
        }
    }

    fn put_inside(&self, block: &mut Block) {
        for stm in &mut block.stms {
            self.put(stm);
            if !stm.exp.repeats() {
                stm.exp.blocks_mut().into_iter().for_each(|inner| self.put_inside(inner));
            }
        }
        block.results.iter_mut().for_each(|a| *a = self.atom(*a));
    }

    /// Whether an earlier statement of the block, which is among those known, computes the same.
    fn is_known(&mut self, stm: &Stm, known: &mut HashMap<Key, Var>) -> bool {
        let ([p], Exp::Op(op)) = (&stm.binds[..], &stm.exp) else { return false };
        if op.effect() != Effect::None {
            return false;
        }
        match known.entry(key(stm)) {
            Entry::Occupied(known) => _ = self.0.insert(p.var, Atom::Var(*known.get())),
            Entry::Vacant(new) => _ = new.insert(p.var),
        }
        self.0.contains_key(&p.var)
    }
}

/// Fuses statements of the block and of blocks inside; gives whether there were any. In a branch of
/// fused `if`s, conditions that both have computed become one, so that inner `if`s are fused too.
fn block(b: &mut Block, effects: &Effects, image: &mut Image, fused: bool) -> bool {
    let before = b.stms.len();
    let mut known = HashMap::new();
    b.stms.retain_mut(|stm| {
        image.put(stm);
        !(fused && image.is_known(stm, &mut known))
    });
    b.results.iter_mut().for_each(|a| *a = image.atom(*a));
    let joined = if has_candidates(&b.stms) { fuse_all(b, effects, image) } else { Vec::new() };
    let mut changed = b.stms.len() < before;
    for (k, stm) in b.stms.iter_mut().enumerate() {
        let joined = joined.get(k).map_or(&[][..], |joined| joined);
        for (side, inner) in stm.exp.blocks_mut().into_iter().enumerate() {
            joined.iter().for_each(|(var, given)| _ = image.0.insert(*var, given[side]));
            changed |= block(inner, effects, image, !joined.is_empty());
            joined.iter().for_each(|(var, _)| _ = image.0.remove(var));
        }
    }
    changed
}

/// Whether two statements have the same range. Otherwise the mentions of statements need not be
/// computed.
fn has_candidates(stms: &[Stm]) -> bool {
    let mut seen = HashSet::new();
    stms.iter().filter_map(range).any(|range| !seen.insert(range.code()))
}

/// Fuses the statements of a block. Gives, for each statement, the results that its branches still
/// mention.
fn fuse_all(b: &mut Block, effects: &Effects, image: &Image) -> Vec<Vec<Joined>> {
    let infos = b.stms.iter().map(Info::new).collect();
    let mut row = Row { stms: std::mem::take(&mut b.stms), infos, effects, image };
    let mut second = 0;
    while second < row.stms.len() {
        // A statement that has been fused may be fused again.
        match row
            .candidates(second)
            .into_iter()
            .find_map(|first| row.dependents(first, second).map(|d| (first, d)))
        {
            Some((first, dependents)) => second = row.fuse(first, second, &dependents),
            None => second += 1,
        }
    }
    b.stms = row.stms;
    row.infos.into_iter().map(|info| info.joined).collect()
}

/// The range that two statements must share to be fused.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Range {
    For(Atom),
    If(Atom),
}

impl Range {
    /// A distinct number for each range; reals are no ranges.
    fn code(self) -> (bool, Option<Var>, i64) {
        let (is_if, atom) = match self {
            Range::For(extent) => (false, extent),
            Range::If(cond) => (true, cond),
        };
        let number = match atom {
            Atom::Lit(Scalar::Int(n)) => n,
            Atom::Lit(Scalar::Bool(b)) => i64::from(b),
            Atom::Lit(Scalar::Real(_)) | Atom::Var(_) => 0,
        };
        (is_if, atom.as_var(), number)
    }
}

fn range(stm: &Stm) -> Option<Range> {
    match &stm.exp {
        Exp::Nest(Nest::For { extent, .. }) => Some(Range::For(*extent)),
        Exp::Nest(Nest::If { cond, .. }) => Some(Range::If(*cond)),
        Exp::Op(_) | Exp::Nest(Nest::Loop { .. }) => None,
    }
}

/// A result of an `if` with the result of each branch.
type Joined = (Var, [Atom; 2]);

/// Facts about a statement for others that move past it. A walk through all that is inside is made
/// on demand: `if`s next to each other need none.
struct Info {
    /// Its bindings, by position.
    binds: HashMap<Var, usize>,
    mentions: OnceCell<HashSet<Var>>,
    adds_to: OnceCell<HashSet<Var>>,
    /// Arrays whose memory it takes over: reads of them stay before it.
    consumes: OnceCell<HashSet<Var>>,
    /// Its effects on cells: additions and reads keep their order.
    summary: OnceCell<Summary>,
    /// The results that its branches still mention: the first that it binds.
    joined: Vec<Joined>,
}

impl Info {
    fn new(stm: &Stm) -> Info {
        Info {
            binds: stm.binds.iter().enumerate().map(|(k, p)| (p.var, k)).collect(),
            mentions: OnceCell::new(),
            adds_to: OnceCell::new(),
            consumes: OnceCell::new(),
            summary: OnceCell::new(),
            joined: Vec::new(),
        }
    }

    /// Merges the infos of two statements that become one. Values between them count as still
    /// mentioned, which only makes later fusions more careful.
    fn and(mut self, other: Info, joined: Vec<Joined>) -> Info {
        let count = self.binds.len();
        self.binds.extend(other.binds.into_iter().map(|(var, k)| (var, count + k)));
        self.joined.extend(joined.into_iter().chain(other.joined));
        Info {
            binds: self.binds,
            mentions: both(self.mentions, other.mentions, union),
            adds_to: both(self.adds_to, other.adds_to, union),
            consumes: both(self.consumes, other.consumes, union),
            summary: both(self.summary, other.summary, Summary::and),
            joined: self.joined,
        }
    }
}

/// A fact about two statements together, if it has been found of both.
fn both<T>(a: OnceCell<T>, b: OnceCell<T>, and: impl Fn(T, T) -> T) -> OnceCell<T> {
    match (a.into_inner(), b.into_inner()) {
        (Some(a), Some(b)) => OnceCell::from(and(a, b)),
        (_, _) => OnceCell::new(),
    }
}

/// Whether a variable is in both.
fn mentions_any(mentions: &HashSet<Var>, binds: &HashMap<Var, usize>) -> bool {
    if mentions.len() < binds.len() {
        mentions.iter().any(|v| binds.contains_key(v))
    } else {
        binds.keys().any(|v| mentions.contains(v))
    }
}

/// Adds the smaller set to the larger one.
fn union(a: HashSet<Var>, b: HashSet<Var>) -> HashSet<Var> {
    let (mut large, small) = if a.len() < b.len() { (b, a) } else { (a, b) };
    large.extend(small);
    large
}

/// The statements of a block.
struct Row<'a> {
    stms: Vec<Stm>,
    infos: Vec<Info>,
    effects: &'a Effects<'a>,
    image: &'a Image,
}

impl Row<'_> {
    fn mentions(&self, k: usize) -> &HashSet<Var> {
        self.infos[k].mentions.get_or_init(|| {
            let mut found = HashSet::new();
            let mut add = |v: Var| found.extend(self.image.atom(v.into()).as_var());
            self.stms[k].mentioned(&mut add);
            found
        })
    }

    fn adds_to(&self, k: usize) -> &HashSet<Var> {
        self.infos[k].adds_to.get_or_init(|| self.stms[k].additions())
    }

    fn consumes(&self, k: usize) -> &HashSet<Var> {
        self.infos[k].consumes.get_or_init(|| {
            let mut found = HashSet::new();
            let mut add = |x: Var| found.extend(self.image.atom(x.into()).as_var());
            self.stms[k].each(&mut |s| s.exp.consumed(&mut add));
            found
        })
    }

    fn summary(&self, k: usize) -> Summary {
        *self.infos[k].summary.get_or_init(|| {
            let mut summary = self.effects.calls.summary(&self.stms[k]);
            summary.adds_to_cells |= !self.adds_to(k).is_disjoint(&self.effects.cells);
            summary
        })
    }

    fn fails(&self, k: usize) -> bool {
        self.summary(k).fails
    }

    /// Whether a later statement takes over an array that moved ones mention, which would have to
    /// be copied then, or conflicts with them on cells.
    fn loses_to(&self, mentions: &HashSet<Var>, summary: Summary, later: usize) -> bool {
        let consumes = self.consumes(later);
        !consumes.is_empty() && !consumes.is_disjoint(mentions)
            || summary.conflicts(self.summary(later))
    }

    /// Earlier statements over the same range, the closest first.
    fn candidates(&self, second: usize) -> Vec<usize> {
        let Some(wanted) = range(&self.stms[second]) else { return Vec::new() };
        (0..second)
            .rev()
            .take(WINDOW)
            .filter(|k| range(&self.stms[*k]) == Some(wanted))
            .take(TRIED)
            .collect()
    }

    /// The statements between the two that depend on the first and must move behind the second;
    /// none if the two cannot be fused.
    fn dependents(&self, first: usize, second: usize) -> Option<Vec<usize>> {
        let (a, b) = (&self.stms[first], &self.stms[second]);
        if (first + 1..second).any(|k| self.fails(k)) && self.fails(first) {
            return None;
        }
        let own = &self.infos[first];
        let mut dependents = Vec::new();
        // Of the dependents: their bindings, the accumulators that they add to, what they mention,
        // and their effects.
        let (mut made, mut added): (HashSet<Var>, HashSet<Var>) = Default::default();
        let (mut needed, mut summary) = (HashSet::new(), Summary::NOTHING);
        for k in first + 1..second {
            let (stm, mentions) = (&self.stms[k], self.mentions(k));
            let waits = matches!(stm.exp.effect(), Effect::Freezes(acc) if self.adds_to(first).contains(&acc) || added.contains(&acc));
            let depends = mentions_any(mentions, &own.binds) || !mentions.is_disjoint(&made);
            if waits || depends {
                if self.fails(k) {
                    return None;
                }
                made.extend(stm.binds.iter().map(|p| p.var));
                added.extend(self.adds_to(k));
                needed.extend(mentions);
                summary = summary.and(self.summary(k));
                dependents.push(k);
            } else if self.loses_to(self.mentions(first), self.summary(first), k)
                || self.loses_to(&needed, summary, k)
            {
                return None;
            }
        }
        if self.loses_to(&needed, summary, second) {
            return None;
        }
        if !made.is_empty() && !made.is_disjoint(self.mentions(second)) {
            return None;
        }
        let fusible = match (&a.exp, &b.exp) {
            (Exp::Nest(Nest::For { body, .. }), Exp::Nest(Nest::For { .. })) => {
                // If the first does not fail, the second's failures may come earlier, which is not
                // observable.
                let covered = || failures::covered(&fused_body(a, &own.binds, b), body.stms.len());
                let (own_summary, last) = (self.summary(first), self.summary(second));
                reads_elementwise(a, &own.binds, b)
                    && !own_summary.conflicts(last)
                    && (!own_summary.fails || !last.fails || !last.inspects && covered())
            }
            // The branches of an `if` run one after the other, fused or not.
            (Exp::Nest(Nest::If { .. }), Exp::Nest(Nest::If { .. })) => true,
            (_, _) => false,
        };
        fusible.then_some(dependents)
    }

    /// Puts the fused statement in the place of the second one, and the dependents of the first one
    /// behind it. Gives its place.
    fn fuse(&mut self, first: usize, second: usize, dependents: &[usize]) -> usize {
        let rest = self.stms.split_off(second + 1);
        let rest_infos = self.infos.split_off(second + 1);
        let part: Vec<(Stm, Info)> =
            self.stms.drain(first..).zip(self.infos.drain(first..)).collect();
        let (mut ends, mut behind) = (Vec::new(), Vec::new());
        for (k, (stm, info)) in part.into_iter().enumerate() {
            if k == 0 || first + k == second {
                ends.push((stm, info));
            } else if dependents.binary_search(&(first + k)).is_ok() {
                behind.push((stm, info));
            } else {
                self.stms.push(stm);
                self.infos.push(info);
            }
        }
        let (b, of_b) = ends.pop().expect("the second one");
        let (a, of_a) = ends.pop().expect("the first one");
        let place = self.stms.len();
        let mut joined = Vec::new();
        if let Exp::Nest(Nest::If { then, otherwise, .. }) = &a.exp {
            let given = then.results.iter().zip(&otherwise.results);
            let all = a.binds.iter().zip(given).map(|(p, (x, y))| (p.var, [*x, *y]));
            joined.extend(all.skip(of_a.joined.len()));
        }
        self.stms.push(merge(a, &of_a.binds, b));
        self.infos.push(of_a.and(of_b, joined));
        for (stm, info) in behind {
            self.stms.push(stm);
            self.infos.push(info);
        }
        self.stms.extend(rest);
        self.infos.extend(rest_infos);
        place
    }
}

/// The body of the two loops as one.
fn fused_body(a: &Stm, results: &HashMap<Var, usize>, b: &Stm) -> Block {
    match merge(a.clone(), results, b.clone()).exp {
        Exp::Nest(Nest::For { body, .. }) => body,
        Exp::Op(_) | Exp::Nest(Nest::Loop { .. } | Nest::If { .. }) => {
            unreachable!("two loops are one loop")
        }
    }
}

/// Whether the second loop uses `results`, those of the first, only by reading the element at its
/// own index.
fn reads_elementwise(a: &Stm, results: &HashMap<Var, usize>, b: &Stm) -> bool {
    let (Exp::Nest(Nest::For { outs, .. }), Exp::Nest(Nest::For { index, body, .. })) =
        (&a.exp, &b.exp)
    else {
        return false;
    };
    let results = Results { results, outs };
    !b.binds.iter().flat_map(|p| &p.ty.dims).any(|d| results.has(*d))
        && (results.results.is_empty() || body_reads(body, &results, *index))
}

/// The results of a loop.
struct Results<'a> {
    results: &'a HashMap<Var, usize>,
    outs: &'a [Out],
}

impl Results<'_> {
    fn has(&self, atom: Atom) -> bool {
        atom.as_var().is_some_and(|v| self.results.contains_key(&v))
    }

    fn collects(&self, x: Var) -> bool {
        self.results.get(&x).is_some_and(|k| self.outs[*k] == Out::Collect)
    }
}

fn body_reads(block: &Block, results: &Results, index: Var) -> bool {
    block.stms.iter().all(|stm| {
        let mut fine = !stm.binds.iter().flat_map(|p| &p.ty.dims).any(|d| results.has(*d));
        match &stm.exp {
            Exp::Op(Op::Index(x, at)) if results.collects(*x) => {
                fine &= at[0] == index.into() && !at[1..].iter().any(|a| results.has(*a))
            }
            Exp::Op(_) | Exp::Nest(_) => stm.exp.atoms(&mut |a| fine &= !results.has(a)),
        }
        fine && stm.exp.blocks().into_iter().all(|b| body_reads(b, results, index))
    }) && !block.results.iter().any(|a| results.has(*a))
}

/// `a_binds`: the bindings of the first one, by position.
fn merge(a: Stm, a_binds: &HashMap<Var, usize>, b: Stm) -> Stm {
    let binds = a.binds.iter().chain(&b.binds).cloned().collect();
    let exp = match (a.exp, b.exp) {
        (
            Exp::Nest(Nest::For { index, extent, mut outs, mut body }),
            Exp::Nest(Nest::For { index: second_index, outs: more_outs, body: second, .. }),
        ) => {
            let mut renaming = Renaming::new();
            renaming.insert(second_index, index.into());
            let mut second = second;
            renaming.apply(&mut second);
            let mut image = Renaming::new();
            let made = Made { binds: a_binds, outs: &outs, values: &body.results };
            replace_reads(&mut second, &made, &mut image);
            image.apply(&mut second);
            body.stms.extend(second.stms);
            body.results.extend(second.results);
            outs.extend(more_outs);
            Exp::Nest(Nest::For { index, extent, outs, body })
        }
        (
            Exp::Nest(Nest::If { cond, then, otherwise }),
            Exp::Nest(Nest::If { then: second_then, otherwise: second_otherwise, .. }),
        ) => {
            let then = in_sequence(then, second_then);
            let otherwise = in_sequence(otherwise, second_otherwise);
            Exp::Nest(Nest::If { cond, then, otherwise })
        }
        (_, _) => unreachable!("only loops, and only branches, are fused"),
    };
    Stm::new(binds, exp)
}

/// The second block still mentions the results of the first `if`: see [`Image`].
fn in_sequence(mut first: Block, second: Block) -> Block {
    first.stms.extend(second.stms);
    first.results.extend(second.results);
    first
}

/// The results of the first loop, by position, and its body's value for each.
struct Made<'a> {
    binds: &'a HashMap<Var, usize>,
    outs: &'a [Out],
    values: &'a [Atom],
}

impl Made<'_> {
    /// The body's value for `x`; none if `x` is a reduction's result, which is no element.
    fn value(&self, x: Var) -> Option<Atom> {
        let k = *self.binds.get(&x)?;
        (self.outs[k] == Out::Collect).then(|| self.values[k])
    }
}

/// Replaces `ys[i]` by the value of the first body, and `ys[i, k]` by an index of it.
fn replace_reads(block: &mut Block, made: &Made, image: &mut Renaming) {
    block.stms.retain_mut(|stm| {
        if let Exp::Op(Op::Index(x, at)) = &mut stm.exp
            && let Some(value) = made.value(*x)
        {
            match value {
                Atom::Var(row) if at.len() > 1 => {
                    *x = row;
                    at.remove(0);
                }
                Atom::Var(_) | Atom::Lit(_) => {
                    image.insert(stm.binds[0].var, value);
                    return false;
                }
            }
        }
        stm.exp.blocks_mut().into_iter().for_each(|b| replace_reads(b, made, image));
        true
    });
}
