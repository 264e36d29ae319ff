//! Gives a check of its own to every access that is not evidently in range.
//!
//! The reverse sweep of a derivative reads and adds where the forward sweep has made a check, but
//! in other loops, where the check does not dominate. So the guard repeats it: one comparison,
//! which cannot fail unless the forward sweep has failed before. It also compares the sizes of
//! arrays passed to calls and nodes of the library with the signature. The results of a block that
//! a pass has copied without its checks are compared with their targets; so are the operands of
//! updates and additions, and arrays and the results that take over their sizes.
//!
//! *Gives* a function in which each index is evidently in range and sizes are evidently equal, as
//! [`crate::check()`] asks. *Keeps* all else.

use std::collections::HashMap;

use lambada_prim::Prim;
use lambada_source::{Site, Span};

use crate::bounds::ScopedFacts;
use crate::{
    Atom, Block, Exp, Function, Library, LoopKind, NAMELESS, Names, Nest, NodeType, Op, Param,
    Renaming, Stm, Ty, Var,
};

/// Adds the missing checks to the function and to its library. Whether there were any.
pub fn guard(function: &mut Function) -> bool {
    let signatures = Signatures::of(&function.library);
    let mut added = false;
    for callee in function.library.functions.iter_mut().flatten() {
        added |= guard_function(callee, &signatures);
    }
    guard_function(function, &signatures) || added
}

fn guard_function(function: &mut Function, signatures: &Signatures) -> bool {
    let mut known = ScopedFacts::default();
    known.sizes(function);
    let arrays: Vec<Param> =
        function.params.iter().chain(&function.accumulators).cloned().collect();
    Guards::new(&mut function.names, known, signatures).all(&arrays, &mut function.body)
}

/// Adds the missing checks to a block with free variables: `known` has the facts around it, `free`
/// the arrays among the variables. Whether there were any.
pub fn guard_block(
    names: &mut Names,
    known: ScopedFacts,
    free: &[Param],
    block: &mut Block,
) -> bool {
    Guards::new(names, known, &Signatures::default()).all(free, block)
}

/// The sizes of arrays in the signatures of a library.
#[derive(Default)]
struct Signatures {
    functions: Vec<Vec<Param>>,
    nodes: Vec<NodeType>,
}

impl Signatures {
    fn of(library: &Library) -> Signatures {
        let params = |f: &Option<Function>| f.as_ref().map_or_else(Vec::new, |f| f.params.clone());
        let functions = library.functions.iter().map(params).collect();
        Signatures { functions, nodes: library.nodes.clone() }
    }

    /// The arrays that an operation passes, with the sizes of the signature.
    fn passed(&self, op: &Op) -> Vec<(Atom, Vec<Atom>)> {
        if let Op::Call { function, args, .. } = op
            && let Some(params) = self.functions.get(function.0 as usize)
        {
            let at = |d: &Atom| params.iter().position(|p| Atom::Var(p.var) == *d);
            let size = |d: &Atom| at(d).map_or(*d, |k| args[k]);
            let sizes = params.iter().map(|p| p.ty.dims.iter().map(size).collect());
            return args.iter().copied().zip(sizes).collect();
        }
        if let Op::Node { node, tag, fields, .. } = op
            && let Some(declared) = self.nodes.get(node.0 as usize)
        {
            let declared = &declared.constructors[*tag as usize].fields;
            let size = |d: &Atom| d.as_var().map_or(*d, |Var(k)| fields[k as usize]);
            let sizes = declared.iter().map(|f| f.ty.dims.iter().map(size).collect());
            return fields.iter().copied().zip(sizes).collect();
        }
        Vec::new()
    }
}

struct Guards<'a> {
    names: &'a mut Names,
    known: ScopedFacts,
    signatures: &'a Signatures,
    types: HashMap<Var, Vec<Atom>>,
    /// The checks of indices so far, with their printed values: the index and the size.
    sites: Vec<(Atom, Atom, Site)>,
    added: bool,
}

impl<'a> Guards<'a> {
    fn new(names: &'a mut Names, known: ScopedFacts, signatures: &'a Signatures) -> Guards<'a> {
        let (types, sites) = (HashMap::new(), Vec::new());
        Guards { names, known, signatures, types, sites, added: false }
    }

    /// Guards a block with free variables. Whether it added a check.
    fn all(mut self, free: &[Param], block: &mut Block) -> bool {
        self.declare(free);
        self.block(block);
        self.added
    }

    fn declare(&mut self, params: &[Param]) {
        for p in params {
            if !p.ty.dims.is_empty() {
                self.types.insert(p.var, p.ty.dims.clone());
            }
        }
    }

    fn block(&mut self, block: &mut Block) {
        let mark = self.known.mark();
        self.statements(block);
        self.known.reset(mark);
    }

    fn statements(&mut self, block: &mut Block) {
        for mut stm in std::mem::take(&mut block.stms) {
            if let Exp::Nest(Nest::Loop { params, inits, .. }) = &stm.exp {
                self.against(inits, params, 0, &mut block.stms);
            }
            self.nested(&mut stm);
            if let Exp::Op(op) = &stm.exp {
                self.operation(op, &mut block.stms);
                self.result(op, &stm.binds, &mut block.stms);
            }
            self.declare(&stm.binds);
            self.known.pass(&stm);
            if let Exp::Op(Op::Check { site, values, .. }) = &stm.exp
                && let [index, size] = values[..]
                && site.message.starts_with(OUT_OF_RANGE)
            {
                self.sites.push((index, size, site.clone()));
            }
            block.stms.push(stm);
        }
    }

    fn operation(&mut self, op: &Op, stms: &mut Vec<Stm>) {
        if let Some((array, index)) = op.access() {
            let sizes = self.types.get(&array).cloned().unwrap_or_default();
            for (i, size) in index.iter().zip(sizes) {
                self.in_range(*i, size, stms);
            }
        }
        for (array, wanted) in self.signatures.passed(op) {
            self.sizes(array, &wanted, stms);
        }
        if let Op::Update { array: to, index, value } | Op::Accumulate { acc: to, index, value } =
            op
            && let Some(sizes) = self.types.get(to).cloned()
        {
            self.sizes(*value, sizes.get(index.len()..).unwrap_or_default(), stms);
        }
    }

    /// Compares the sizes of an array with those of the result that takes them over. A branch is
    /// given a cotangent with the sizes of the whole `if`, and a row of it has those of the branch.
    fn result(&mut self, op: &Op, binds: &[Param], stms: &mut Vec<Stm>) {
        let (of, axes) = match op {
            Op::Index(array, index) => (*array, index.len()),
            Op::Update { array, .. } => (*array, 0),
            Op::Accumulator(Atom::Var(array)) | Op::Freeze(array) => (*array, 0),
            _ => return, // sizes of its own
        };
        let sizes = self.types.get(&of).cloned().unwrap_or_default();
        for (size, wanted) in sizes.iter().skip(axes).zip(binds.iter().flat_map(|p| &p.ty.dims)) {
            self.equal(*size, *wanted, stms);
        }
    }

    /// Compares the sizes of arrays with those of their targets, without the outer `axes`.
    fn against(&mut self, arrays: &[Atom], targets: &[Param], axes: usize, stms: &mut Vec<Stm>) {
        let mut naming = Renaming::new();
        for (array, p) in arrays.iter().zip(targets) {
            let wanted = naming.ty(&p.ty).dims;
            naming.insert(p.var, *array);
            self.sizes(*array, wanted.get(axes..).unwrap_or_default(), stms);
        }
    }

    fn sizes(&mut self, array: Atom, wanted: &[Atom], stms: &mut Vec<Stm>) {
        let sizes = array.as_var().and_then(|x| self.types.get(&x)).cloned();
        for (size, wanted) in sizes.unwrap_or_default().into_iter().zip(wanted) {
            self.equal(size, *wanted, stms);
        }
    }

    /// Checks that two sizes are equal, unless that is evident.
    fn equal(&mut self, a: Atom, b: Atom, stms: &mut Vec<Stm>) {
        if self.known.ask(|place| place.equal(a, b)) {
            return;
        }
        let cond = self.prim(Prim::EqInt, [a, b], stms);
        let site = Site::new(Span::default(), "sizes differ: {0} and {1}".to_string());
        self.check(cond, site, [a, b], stms);
    }

    fn check(&mut self, cond: Atom, site: Site, values: [Atom; 2], stms: &mut Vec<Stm>) {
        let check = Stm::effect(Op::Check { cond, site, values: values.to_vec() });
        self.known.pass(&check);
        stms.push(check);
        self.added = true;
    }

    fn nested(&mut self, stm: &mut Stm) {
        let mark = self.known.mark();
        self.known.enter(&stm.exp);
        let binds = &stm.binds;
        match &mut stm.exp {
            Exp::Nest(Nest::For { body, .. }) => {
                self.statements(body);
                self.against(&body.results, binds, 1, &mut body.stms);
            }
            Exp::Nest(Nest::Loop { params, kind, body, .. }) => {
                self.declare(params);
                if let LoopKind::While(cond) = kind {
                    self.block(cond);
                    self.known.assume(cond.results[0], true);
                }
                self.statements(body);
                self.against(&body.results, params, 0, &mut body.stms);
            }
            Exp::Nest(Nest::If { cond, then, otherwise }) => {
                for (branch, holds) in [(then, true), (otherwise, false)] {
                    let mark = self.known.mark();
                    self.known.assume(*cond, holds);
                    self.statements(branch);
                    self.against(&branch.results, binds, 0, &mut branch.stms);
                    self.known.reset(mark);
                }
            }
            Exp::Op(_) => {}
        }
        self.known.reset(mark);
    }

    /// Checks the part of `0 ≤ index < size` that is not evident.
    fn in_range(&mut self, index: Atom, size: Atom, stms: &mut Vec<Stm>) {
        if self.known.ask(|place| place.in_range(index, size)) {
            return;
        }
        let (low, high) = self
            .known
            .ask(|place| (place.at_least(index, Atom::int(0), 0), place.at_least(size, index, 1)));
        let mut conds = Vec::new();
        if !low {
            conds.push(self.prim(Prim::LeInt, [Atom::int(0), index], stms));
        }
        if !high {
            conds.push(self.prim(Prim::LtInt, [index, size], stms));
        }
        let cond = match conds[..] {
            [] => return,
            [cond] => cond,
            [a, b, ..] => self.prim(Prim::And, [a, b], stms),
        };
        let site = self.site(index, size);
        self.check(cond, site, [index, size], stms);
    }

    fn prim(&mut self, op: Prim, args: [Atom; 2], stms: &mut Vec<Stm>) -> Atom {
        if let [Atom::Lit(a), Atom::Lit(b)] = args {
            return Atom::Lit(op.eval(&[a, b]));
        }
        let var = self.names.fresh(NAMELESS);
        let binds = vec![Param { var, ty: Ty::scalar(op.result()) }];
        let stm = Stm::new(binds, Op::Prim(op, args.to_vec()));
        self.known.pass(&stm);
        stms.push(stm);
        var.into()
    }

    /// The site of an earlier check: of an index and a size of these names, or else of this size.
    fn site(&self, index: Atom, size: Atom) -> Site {
        let hint = |atom: Atom| atom.as_var().map(|v| self.names.hint(v));
        let alike = |a: Atom, b: Atom| a == b || a.as_var().is_some() && hint(a) == hint(b);
        let like = self.sites.iter().rev().find(|(i, n, _)| alike(*i, index) && alike(*n, size));
        let found = like.or_else(|| self.sites.iter().rev().find(|(_, n, _)| alike(*n, size)));
        match found.or(self.sites.last()) {
            Some((.., site)) => site.clone(),
            None => Site::new(Span::default(), format!("{OUT_OF_RANGE} for size {{1}}")),
        }
    }
}

const OUT_OF_RANGE: &str = "index {0} is out of range";
