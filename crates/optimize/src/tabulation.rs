//! Tabulation: `for i < n => log xs[at[i]]` is `let table = for k < m => log xs[k] in
//! for i < n => table[at[i]]`, if `xs` has at most half as many elements as the loop has
//! iterations.
//!
//! Assumes: nothing. Gives: costly functions of an element of a small array are computed once for
//! each element, and their derivatives, too. Keeps: values and failures: the functions are
//! arithmetic of reals, which cannot fail, and the read of the table is in range where that of
//! the array is.
//!
//! Both sizes are known numbers, and the read is one that each iteration makes. So the new work is
//! at most half of the old, whatever the data are. The pass does not run where NaNs are reported,
//! because an element that no iteration reads may make one.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_anf::{
    Atom, Audience, Block, Elem, Exp, Function, LoopKind, Names, Nest, Op, Out, Param, Stm, Ty, Var,
};
use lambada_prim::{Cost, Prim, Scalar, ScalarTy};

use crate::calls::Calls;

/// Operations of an element, counted with repetitions.
const LARGE: usize = 64;

/// The pass. People see the function where its value is used.
pub(crate) fn tabulation(function: &mut Function, _: &Calls, audience: Audience) -> bool {
    let mut pass = Tabulation { names: &mut function.names, types: HashMap::new(), changed: false };
    if audience == Audience::Machine {
        pass.bound(&function.params);
        pass.block(&mut function.body);
    }
    pass.changed
}

/// A function of the elements of arrays at one place.
#[derive(Clone, Debug, PartialEq)]
enum Entry {
    /// The element of this array.
    Element(Var),
    /// A constant, or a variable from outside of the loop.
    Fixed(Atom),
    Apply(Prim, Vec<Rc<Entry>>),
}

/// A variable of a loop that is such a function.
#[derive(Clone, Debug)]
struct Tabled {
    entry: Rc<Entry>,
    /// The place.
    at: Vec<Atom>,
    /// The sizes of the arrays.
    dims: Vec<i64>,
    size: usize,
    costly: bool,
    /// How often it is computed.
    count: i64,
}

/// A costly function that others than the function itself need.
struct Wanted {
    entry: Rc<Entry>,
    dims: Vec<i64>,
    /// Its variables, and how often they are computed together.
    vars: Vec<Var>,
    count: i64,
}

struct Tabulation<'a> {
    names: &'a mut Names,
    /// The types of the variables in scope.
    types: HashMap<Var, Ty>,
    changed: bool,
}

impl Tabulation<'_> {
    fn bound(&mut self, params: &[Param]) {
        self.types.extend(params.iter().map(|p| (p.var, p.ty.clone())));
    }

    fn block(&mut self, block: &mut Block) {
        for mut stm in std::mem::take(&mut block.stms) {
            if iterations(&stm.exp).is_some() {
                block.stms.extend(self.tables(&mut stm));
            }
            if let Exp::Nest(Nest::Loop { params, .. }) = &stm.exp {
                self.bound(params);
            }
            self.types.extend(index(&stm.exp).map(|index| (index, Ty::scalar(ScalarTy::Int))));
            stm.exp.blocks_mut().into_iter().for_each(|inner| self.block(inner));
            self.bound(&stm.binds);
            block.stms.push(stm);
        }
    }

    /// The tables of a loop, from which it reads afterwards.
    fn tables(&mut self, stm: &mut Stm) -> Vec<Stm> {
        let mut search = Search {
            types: &self.types,
            tabled: HashMap::new(),
            rows: HashMap::new(),
            wanted: Vec::new(),
        };
        search.nest(&stm.exp, 1);
        let Search { tabled, mut wanted, .. } = search;
        wanted.retain(|one| elements(&one.dims).is_some_and(|m| m <= one.count / 2));
        let mut groups: Vec<(Vec<i64>, Vec<usize>)> = Vec::new();
        for (k, one) in wanted.iter().enumerate() {
            match groups.iter_mut().find(|(dims, _)| *dims == one.dims) {
                Some((_, places)) => places.push(k),
                None => groups.push((one.dims.clone(), vec![k])),
            }
        }
        let (mut made, mut reads) = (Vec::new(), HashMap::new());
        for (dims, places) in groups {
            let entries: Vec<Rc<Entry>> = places.iter().map(|k| wanted[*k].entry.clone()).collect();
            let tables = self.table(&dims, &entries);
            for (k, p) in places.iter().zip(&tables.binds) {
                reads.extend(wanted[*k].vars.iter().map(|var| (*var, p.var)));
            }
            made.push(tables);
        }
        if !made.is_empty() {
            self.changed = true;
            read_tables(&mut stm.exp, &tabled, &reads);
        }
        made.iter().for_each(|stm| self.bound(&stm.binds));
        made
    }

    /// `for k < m => …`, with a result for each entry.
    fn table(&mut self, dims: &[i64], entries: &[Rc<Entry>]) -> Stm {
        let index: Vec<Var> = dims.iter().map(|_| self.names.fresh("k")).collect();
        let mut body = Block::default();
        for entry in entries {
            let result = self.emitted(entry, &index, &mut body.stms);
            body.results.push(result);
        }
        let mut sizes = Vec::new();
        let mut stm = None;
        for (index, size) in index.into_iter().zip(dims).rev() {
            sizes.insert(0, Atom::int(*size));
            let ty = Ty { elem: Elem::REAL, dims: sizes.clone() };
            let bind = |_: &Rc<Entry>| Param { var: self.names.fresh("table"), ty: ty.clone() };
            let binds: Vec<Param> = entries.iter().map(bind).collect();
            if let Some(inner) = stm.take() {
                let Stm { binds, .. } = &inner;
                body.results = binds.iter().map(|p| p.var.into()).collect();
                body.stms = vec![inner];
            }
            let outs = vec![Out::Collect; entries.len()];
            let extent = Atom::int(*size);
            let body = std::mem::take(&mut body);
            stm = Some(Stm::new(binds, Nest::For { index, extent, outs, body }));
        }
        stm.expect("an element has a place")
    }

    fn emitted(&mut self, entry: &Entry, index: &[Var], stms: &mut Vec<Stm>) -> Atom {
        let op = match entry {
            Entry::Fixed(atom) => return *atom,
            Entry::Element(array) => Op::Index(*array, index.iter().map(|i| (*i).into()).collect()),
            Entry::Apply(prim, args) => {
                let args = args.iter().map(|arg| self.emitted(arg, index, stms)).collect();
                Op::Prim(*prim, args)
            }
        };
        let var = self.names.fresh("entry");
        stms.push(Stm::new(vec![Param { var, ty: Ty::scalar(Elem::REAL) }], op));
        var.into()
    }
}

/// The search for costly functions of elements in a loop.
struct Search<'a> {
    /// The types of the variables outside of the loop.
    types: &'a HashMap<Var, Ty>,
    tabled: HashMap<Var, Tabled>,
    /// Rows of arrays, with their places.
    rows: HashMap<Var, (Var, Vec<Atom>)>,
    wanted: Vec<Wanted>,
}

impl Search<'_> {
    /// `count`: how often the loop runs.
    fn nest(&mut self, exp: &Exp, count: i64) {
        let Some(count) = iterations(exp).and_then(|n| n.checked_mul(count)) else { return };
        for block in exp.blocks() {
            self.block(block, count);
        }
    }

    fn block(&mut self, block: &Block, count: i64) {
        for stm in &block.stms {
            match &stm.exp {
                Exp::Op(op) => self.op(stm, op, count),
                Exp::Nest(_) => self.nest(&stm.exp, count),
            }
            let own = stm.binds.first().filter(|_| stm.binds.len() == 1);
            let own = own.and_then(|p| self.tabled.get(&p.var)).map(|tabled| tabled.at.clone());
            let mut used = Vec::new();
            stm.mentioned(&mut |var| used.push(var));
            // An array of the place itself is no use of the value by others.
            used.retain(|var| self.tabled.get(var).is_some_and(|t| Some(&t.at) != own.as_ref()));
            used.into_iter().for_each(|var| self.want(var));
        }
        block.results.iter().filter_map(|atom| atom.as_var()).for_each(|var| self.want(var));
    }

    fn op(&mut self, stm: &Stm, op: &Op, count: i64) {
        let [p] = &stm.binds[..] else { return };
        match op {
            Op::Index(array, at) => self.element(p, *array, at, count),
            Op::Prim(prim, args) if is_arithmetic(*prim) => {
                if let Some(tabled) = self.applied(*prim, args) {
                    self.tabled.insert(p.var, Tabled { count, ..tabled });
                }
            }
            _ => {} // no function of elements
        }
    }

    fn element(&mut self, p: &Param, array: Var, at: &[Atom], count: i64) {
        let (array, mut places) = self.rows.get(&array).cloned().unwrap_or((array, Vec::new()));
        places.extend(at);
        if p.ty.rank() > 0 {
            self.rows.insert(p.var, (array, places));
            return;
        }
        let Some(ty) = self.types.get(&array) else { return };
        let varies =
            places.iter().any(|at| at.as_var().is_some_and(|v| !self.types.contains_key(&v)));
        let dims: Option<Vec<i64>> = ty.dims.iter().map(known).collect();
        if let Some(dims) = dims
            && ty.elem == Elem::REAL
            && varies
        {
            let entry = Rc::new(Entry::Element(array));
            let element = Tabled { entry, at: places, dims, size: 1, costly: false, count };
            self.tabled.insert(p.var, element);
        }
    }

    fn applied(&self, prim: Prim, args: &[Atom]) -> Option<Tabled> {
        let of = |atom: &Atom| atom.as_var().and_then(|var| self.tabled.get(&var));
        let first = args.iter().find_map(of)?;
        let (mut size, mut costly) = (1, prim.row().cost == Cost::Costly);
        let mut entries = Vec::new();
        for arg in args {
            entries.push(match (of(arg), arg) {
                (Some(tabled), _) if tabled.at == first.at && tabled.dims == first.dims => {
                    size += tabled.size;
                    costly |= tabled.costly;
                    tabled.entry.clone()
                }
                (None, Atom::Lit(_)) => Rc::new(Entry::Fixed(*arg)),
                (None, Atom::Var(var)) if self.types.contains_key(var) => {
                    Rc::new(Entry::Fixed(*arg))
                }
                (Some(_) | None, _) => return None,
            });
        }
        let entry = Rc::new(Entry::Apply(prim, entries));
        (size <= LARGE).then(|| Tabled { entry, size, costly, ..first.clone() })
    }

    fn want(&mut self, var: Var) {
        let Some(tabled) = self.tabled.get(&var).filter(|tabled| tabled.costly) else { return };
        let Tabled { entry, dims, count, .. } = tabled;
        match self.wanted.iter_mut().find(|one| one.entry == *entry) {
            Some(one) if one.vars.contains(&var) => {}
            Some(one) => {
                one.vars.push(var);
                one.count = one.count.saturating_add(*count);
            }
            None => self.wanted.push(Wanted {
                entry: entry.clone(),
                dims: dims.clone(),
                vars: vec![var],
                count: *count,
            }),
        }
    }
}

/// Reads the values from the tables.
fn read_tables(exp: &mut Exp, tabled: &HashMap<Var, Tabled>, tables: &HashMap<Var, Var>) {
    for block in exp.blocks_mut() {
        for stm in &mut block.stms {
            match &stm.binds[..] {
                [p] if tables.contains_key(&p.var) => {
                    let read = Op::Index(tables[&p.var], tabled[&p.var].at.clone());
                    *stm = Stm::new(stm.binds.clone(), read);
                }
                _ => read_tables(&mut stm.exp, tabled, tables),
            }
        }
    }
}

/// The index of a loop.
fn index(exp: &Exp) -> Option<Var> {
    match exp {
        Exp::Nest(
            Nest::For { index, .. } | Nest::Loop { kind: LoopKind::For { index, .. }, .. },
        ) => Some(*index),
        Exp::Op(_) | Exp::Nest(Nest::Loop { .. } | Nest::If { .. }) => None,
    }
}

/// How often a loop runs.
fn iterations(exp: &Exp) -> Option<i64> {
    index(exp).and(exp.extent()).as_ref().and_then(known).filter(|n| *n > 0)
}

fn known(size: &Atom) -> Option<i64> {
    match size {
        Atom::Lit(Scalar::Int(n)) => Some(*n),
        Atom::Lit(_) | Atom::Var(_) => None,
    }
}

fn elements(dims: &[i64]) -> Option<i64> {
    dims.iter().try_fold(1_i64, |product, n| product.checked_mul(*n))
}

fn is_arithmetic(prim: Prim) -> bool {
    prim.result() == ScalarTy::Real && prim.args().iter().all(|ty| *ty == ScalarTy::Real)
}
