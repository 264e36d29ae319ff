//! Functions with accumulator parameters become local functions in the region of these accumulators
//! and add to them directly, because the language has no accumulators as arguments.
//!
//! ```text
//!   g (n : int) (x : real) into (h : [n]real) { … h[i] += v; call g (n, y) into h … }
//!   acc = accumulator zeros; call g (n, x) into acc; y = freeze acc
//!
//!   let y = accumulate acc = zeros in
//!     let rec g (n : int) (x : real) = … acc[i] += v; g n y …
//!     in g n x
//! ```
//!
//! A function is written once for each combination of accumulators that it gets, in the innermost
//! region that makes one of them. A function that is called recursively with accumulators of its
//! own would have to be written inside of itself, without end.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Block, Exp, FnId, Function, Library, Op, Param, Renaming, Stm, Var};

/// A function specialized to accumulators of its host.
#[derive(Debug)]
pub(crate) struct Local {
    pub(crate) of: FnId,
    /// Its variables are the host's: parameters and body have fresh names, accumulators are those
    /// of the calls.
    pub(crate) function: Function,
    /// The local function that makes the innermost of its accumulators; `None` if the host does.
    within: Option<usize>,
}

/// A function that would have to be written inside of itself.
pub(crate) struct Endless(pub(crate) FnId);

/// Local functions that call each other.
pub(crate) struct Group {
    pub(crate) locals: Vec<usize>,
    pub(crate) recursive: bool,
}

/// A call with accumulators.
type Called = (FnId, Vec<Var>);

/// The local functions that a function needs.
pub(crate) fn locals(host: &mut Function, library: &Library) -> Result<Vec<Local>, Endless> {
    let mut all: Vec<Local> = Vec::new();
    // For each accumulator the local function that makes it.
    let mut makers: HashMap<Var, usize> = HashMap::new();
    let mut todo = calls(&host.body);
    while let Some((of, accumulators)) = todo.pop() {
        let Some(callee) = library.function(of) else { continue };
        if find(&all, of, &accumulators).is_some() {
            continue;
        }
        // A local function comes after the one that makes its accumulators, so the last maker is
        // the innermost.
        let within = accumulators.iter().filter_map(|acc| makers.get(acc)).max().copied();
        let mut around = within;
        while let Some(outer) = around {
            if all[outer].of == of {
                return Err(Endless(of));
            }
            around = all[outer].within;
        }
        let function = adopted(callee, host, &accumulators);
        function.body.each(&mut |stm| {
            if let Exp::Op(Op::Accumulator(_)) = &stm.exp {
                makers.extend(stm.binds.iter().map(|p| (p.var, all.len())));
            }
        });
        todo.extend(calls(&function.body));
        all.push(Local { of, function, within });
    }
    Ok(all)
}

/// The function under names of the host, with accumulators of the host.
fn adopted(callee: &Function, host: &mut Function, accumulators: &[Var]) -> Function {
    let mut image = Renaming::new();
    let given = callee.accumulators.iter().zip(accumulators);
    given.for_each(|(p, acc)| image.insert(p.var, (*acc).into()));
    for p in &callee.params {
        let var = host.names.fresh(callee.names.hint(p.var));
        image.insert(p.var, var.into());
    }
    let body = image.imported(&callee.body, &callee.names, &mut host.names);
    let param = |p: &Param| {
        let var = image.atom(p.var.into()).as_var().unwrap_or(p.var);
        Param { var, ty: image.ty(&p.ty) }
    };
    Function {
        name: callee.name.clone(),
        params: callee.params.iter().map(param).collect(),
        accumulators: callee.accumulators.iter().map(param).collect(),
        results: callee.results.iter().map(|ty| image.ty(ty)).collect(),
        body,
        ..Function::default()
    }
}

/// The calls with accumulators in a block.
fn calls(block: &Block) -> Vec<Called> {
    let mut found = Vec::new();
    block.each(&mut |stm| found.extend(call(stm)));
    found
}

fn call(stm: &Stm) -> Option<Called> {
    match &stm.exp {
        Exp::Op(Op::Call { function, accumulators, .. }) if !accumulators.is_empty() => {
            Some((*function, accumulators.clone()))
        }
        Exp::Op(_) | Exp::Nest(_) => None,
    }
}

/// Index of the local function for these accumulators.
pub(crate) fn find(all: &[Local], of: FnId, accumulators: &[Var]) -> Option<usize> {
    let is = |local: &Local| {
        let own = local.function.accumulators.iter().map(|p| &p.var);
        local.of == of && own.eq(accumulators)
    };
    all.iter().position(is)
}

/// The local functions of a region with these statements, in groups, callees first. `here`: whether
/// the region makes the accumulator. `around`: whether an outer region does.
pub(crate) fn of_region<'s>(
    all: &[Local],
    stms: impl IntoIterator<Item = &'s Stm>,
    here: &dyn Fn(Var) -> bool,
    around: &dyn Fn(Var) -> bool,
) -> Vec<Group> {
    let belongs = |k: usize| {
        let mut given = all[k].function.accumulators.iter().map(|p| p.var);
        given.clone().any(here) && given.all(|acc| here(acc) || around(acc))
    };
    let mut called = Vec::new();
    stms.into_iter().for_each(|stm| stm.each(&mut |stm| called.extend(call(stm))));
    let mut own: Vec<usize> = reached(all, called).into_iter().collect();
    own.retain(|k| belongs(*k));
    own.sort_unstable();
    let all_of = |k: usize| reached(all, calls(&all[k].function.body));
    let reach: HashMap<usize, HashSet<usize>> = own.iter().map(|k| (*k, all_of(*k))).collect();
    let mut groups = Vec::new();
    let both = |k: usize, l: usize| reach[&k].contains(&l) && reach[&l].contains(&k);
    let needs = |k: usize, l: usize| reach[&k].contains(&l) && !reach[&l].contains(&k);
    while let Some(first) = own.iter().copied().find(|k| !own.iter().any(|l| needs(*k, *l))) {
        let recursive = reach[&first].contains(&first);
        let (locals, left) = own.into_iter().partition(|k| *k == first || both(*k, first));
        groups.push(Group { locals, recursive });
        own = left;
    }
    groups
}

/// The local functions reachable from these calls.
fn reached(all: &[Local], mut todo: Vec<Called>) -> HashSet<usize> {
    let mut found = HashSet::new();
    while let Some((of, accumulators)) = todo.pop() {
        if let Some(k) = find(all, of, &accumulators)
            && found.insert(k)
        {
            todo.extend(calls(&all[k].function.body));
        }
    }
    found
}
