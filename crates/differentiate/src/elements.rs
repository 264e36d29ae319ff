//! Where cotangents of handles are values, makes each iteration read its own element of an array of
//! handles first, and only once:
//!
//! ```text
//!             for i < n { … if c { … ts[i] … } … ts[i, j] … }
//!   becomes   for i < n { t = ts[i]; … if c { … t … } … t[j] … }
//! ```
//!
//! So the cotangent of the element leaves branches and loops of the iteration like that of a
//! handle, and is a result of the iteration ([`crate::for_`]).
//!
//! * Gives: the same function.
//! * Keeps: checks. The read is in range, because the array has one element per iteration.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Block, Builder, Exp, Lambda, Names, Nest, Op, Param, Stm, Ty, Var};

use crate::activity::{Activity, Scope};
use crate::effects::bound_in;

/// Moves reads of own elements to the front, everywhere in the function.
pub(crate) fn read_first(names: &mut Names, scope: &Scope, f: &Lambda) -> Lambda {
    let activity = Activity::of(scope, f);
    let mut reads = Reads { names, activity, tables: HashMap::new() };
    reads.params(&f.params);
    Lambda { body: reads.block(&f.body), ..f.clone() }
}

struct Reads<'a> {
    names: &'a mut Names,
    activity: Activity,
    /// The active arrays of handles.
    tables: HashMap<Var, Ty>,
}

impl Reads<'_> {
    fn params(&mut self, params: &[Param]) {
        for p in params.iter().filter(|p| !p.ty.dims.is_empty()) {
            if self.activity.active(p.var) && self.activity.node(p.var.into()).is_some() {
                self.tables.insert(p.var, p.ty.clone());
            }
        }
    }

    fn block(&mut self, from: &Block) -> Block {
        let mut block = Block { stms: Vec::new(), results: from.results.clone() };
        for stm in &from.stms {
            let mut stm = stm.clone();
            if let Exp::Nest(Nest::Loop { params, .. }) = &stm.exp {
                self.params(params);
            }
            if let Exp::Nest(Nest::For { index, extent, body, .. }) = &mut stm.exp {
                self.iteration(*index, *extent, body);
            }
            for inner in stm.exp.blocks_mut() {
                *inner = self.block(inner);
            }
            self.params(&stm.binds);
            block.stms.push(stm);
        }
        block
    }

    fn iteration(&mut self, index: Var, extent: Atom, body: &mut Block) {
        let bound = bound_in(&[index], body);
        let mut read: Vec<Var> = Vec::new();
        body.each(&mut |stm| {
            if let Exp::Op(Op::Index(x, at)) = &stm.exp
                && at[0] == index.into()
                && !bound.contains(x)
                && self.tables.get(x).is_some_and(|ty| ty.dims[0] == extent)
                && !read.contains(x)
            {
                read.push(*x);
            }
        });
        let mut rows: HashMap<Var, Atom> = HashMap::new();
        let mut b = Builder::new(self.names);
        for x in read {
            let hint = b.names.hint(x);
            let ty = self.tables[&x].indexed(1);
            let row = b.bind(&hint, ty.clone(), Op::Index(x, vec![index.into()]));
            self.tables.extend(row.as_var().filter(|_| !ty.dims.is_empty()).map(|row| (row, ty)));
            rows.insert(x, row);
        }
        let mut stms = b.stms;
        replace(body, index, &rows);
        stms.append(&mut body.stms);
        body.stms = stms;
    }
}

/// Redirects reads of elements of rows to the rows.
fn replace(block: &mut Block, index: Var, rows: &HashMap<Var, Atom>) {
    let mut same: HashMap<Var, Atom> = HashMap::new();
    block.stms.retain_mut(|stm| {
        let Exp::Op(Op::Index(x, at)) = &mut stm.exp else {
            stm.exp.blocks_mut().into_iter().for_each(|inner| replace(inner, index, rows));
            return true;
        };
        let Some(Atom::Var(row)) = rows.get(x).filter(|_| at[0] == index.into()) else {
            return true;
        };
        if at.len() == 1 {
            same.insert(stm.binds[0].var, (*row).into());
            return false;
        }
        (*x, *at) = (*row, at[1..].to_vec());
        true
    });
    let mut renaming = lambada_anf::Renaming::new();
    same.into_iter().for_each(|(x, row)| renaming.insert(x, row));
    renaming.apply(block);
}

/// The own elements that an iteration reads first: their variables and arrays. `table` returns the
/// type of an array of handles.
pub(crate) fn own_elements<'a>(
    index: Var,
    extent: Atom,
    body: &Block,
    table: &dyn Fn(Var) -> Option<&'a Ty>,
) -> Vec<(Var, Var)> {
    let mut seen: HashSet<Var> = HashSet::new();
    let own = |stm: &Stm| match &stm.exp {
        Exp::Op(Op::Index(x, at)) if at[..] == [index.into()] => {
            let whole = table(*x).is_some_and(|ty| ty.dims[0] == extent);
            (whole && seen.insert(*x)).then(|| (stm.binds[0].var, *x))
        }
        Exp::Op(_) | Exp::Nest(_) => None,
    };
    body.stms.iter().map_while(own).collect()
}
