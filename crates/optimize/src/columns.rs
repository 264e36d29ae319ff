//! Static matrices by columns: `x @ b` of a matrix with many rows, known before the first call, is
//! `b @ y`, where the first stage makes `y`, the transpose of `x`. A vector of rows is then one
//! load, where it was one for each row. A matrix that no cache holds stays as it is.
//!
//! Assumes: the two stages of a program. Gives: a matrix that is static, has known sizes and is
//! only multiplied by vectors or read by indices of loops, by columns. Keeps: values, because sums
//! run over the same index; failures; and memory, up to a copy of the matrix.

use std::collections::HashSet;

use lambada_anf::{Atom, Block, Elem, Exp, Function, Names, Nest, Op, Out, Param, Stm, Ty, Var};
use lambada_prim::Scalar;

/// With fewer rows the vectors are not filled. Measured for 20, 100, 1000 and 5000 rows of 2 to
/// 100 columns: from 100 rows on it takes 0.3 to 1.0 of the time.
const ROWS: i64 = 64;

/// A matrix with fewer columns than a vector has lanes is read along its rows, whatever the loops.
const NARROW: i64 = 8;

/// Lays the known matrices out, if they have at most `limit` elements. `first` has the statements
/// of the first stage, and `kept` its results.
pub(crate) fn columns(
    rest: &mut Function,
    known: &[Param],
    first: &mut Vec<Stm>,
    kept: &mut Vec<Param>,
    limit: u64,
) {
    // Cheap static arrays are computed in both stages.
    let made: HashSet<Var> = first.iter().flat_map(|stm| &stm.binds).map(|p| p.var).collect();
    let again = rest.body.stms.iter().filter_map(|stm| match &stm.binds[..] {
        [p] if made.contains(&p.var) => Some(p),
        _ => None, // of the second stage, or several
    });
    let candidates: Vec<Param> = known.iter().chain(kept.iter()).chain(again).cloned().collect();
    for p in candidates {
        let Some([rows, columns]) = sizes(&p.ty).filter(|[n, m]| is_tall(*n, *m, limit)) else {
            continue;
        };
        let mut uses = Uses { of: p.var, narrow: columns < NARROW, indices: HashSet::new() };
        let mut gains = false;
        if !uses.block(&rest.body, &mut gains) || !gains {
            continue;
        }
        let var = rest.names.again(p.var);
        let ty = Ty { elem: Elem::REAL, dims: vec![Atom::int(columns), Atom::int(rows)] };
        let transposed = Param { var, ty };
        first.push(transpose(&p, &transposed, &mut rest.names));
        rest.body.stms.retain(|stm| stm.binds.iter().all(|bind| bind.var != p.var));
        multiply(&mut rest.body, p.var, var);
        kept.retain(|other| other.var != p.var);
        kept.push(transposed);
    }
}

fn is_tall(rows: i64, columns: i64, limit: u64) -> bool {
    let elements = rows.checked_mul(columns).and_then(|elements| u64::try_from(elements).ok());
    rows >= ROWS.max(columns) && columns > 1 && elements.is_some_and(|elements| elements <= limit)
}

fn sizes(ty: &Ty) -> Option<[i64; 2]> {
    match ty.dims[..] {
        [Atom::Lit(Scalar::Int(n)), Atom::Lit(Scalar::Int(m))] if ty.elem == Elem::REAL => {
            Some([n, m])
        }
        _ => None, // no matrix of known sizes
    }
}

/// The search for other uses of a matrix.
struct Uses {
    of: Var,
    narrow: bool,
    /// The indices of the `for`s around.
    indices: HashSet<Var>,
}

impl Uses {
    /// Whether the block has only uses that gain; `gains` becomes true if it has one.
    fn block(&mut self, block: &Block, gains: &mut bool) -> bool {
        block.results.iter().all(|atom| *atom != self.of.into())
            && block.stms.iter().all(|stm| self.stm(stm, gains))
    }

    fn stm(&mut self, stm: &Stm, gains: &mut bool) -> bool {
        match &stm.exp {
            Exp::Op(Op::ArrayPrim(prim, args))
                if prim.is_contraction() && args.contains(&self.of) =>
            {
                *gains = true;
                stm.binds.iter().all(|p| p.ty.rank() == 1)
            }
            Exp::Op(Op::Index(x, at)) if *x == self.of => {
                *gains = true;
                let is_index = |at: &Atom| at.as_var().is_some_and(|i| self.indices.contains(&i));
                self.narrow && at.len() == 2 && is_index(&at[0])
            }
            Exp::Nest(nest) => {
                if let Nest::For { index, .. } = nest {
                    self.indices.insert(*index);
                }
                let mut own = Vec::new();
                stm.exp.atoms(&mut |atom| own.push(atom));
                !own.contains(&self.of.into())
                    && stm.exp.blocks().into_iter().all(|block| self.block(block, gains))
            }
            Exp::Op(_) => {
                let mut uses = false;
                stm.mentioned(&mut |var| uses |= var == self.of);
                !uses
            }
        }
    }
}

/// `for j < m, i < n => x[i, j]`
fn transpose(x: &Param, transposed: &Param, names: &mut Names) -> Stm {
    let [i, j, element, column] = ["i", "j", "element", "column"].map(|hint| names.fresh(hint));
    let [n, m] = [x.ty.dims[0], x.ty.dims[1]];
    let read = Op::Index(x.var, vec![i.into(), j.into()]);
    let read = Stm::new(vec![Param { var: element, ty: Ty::scalar(Elem::REAL) }], read);
    let each = |index, extent, stm: Stm| {
        let results = vec![stm.binds[0].var.into()];
        let body = Block { stms: vec![stm], results };
        Nest::For { index, extent, outs: vec![Out::Collect], body }
    };
    let column = Param { var: column, ty: Ty { elem: Elem::REAL, dims: vec![n] } };
    let inner = Stm::new(vec![column], each(i, n, read));
    Stm::new(vec![transposed.clone()], each(j, m, inner))
}

/// Uses the transpose in place of the matrix.
fn multiply(block: &mut Block, x: Var, transposed: Var) {
    for stm in &mut block.stms {
        match &mut stm.exp {
            Exp::Op(Op::ArrayPrim(_, args)) => {
                if args.contains(&x) {
                    args.reverse();
                }
                args.iter_mut().filter(|arg| **arg == x).for_each(|arg| *arg = transposed);
            }
            Exp::Op(Op::Index(of, at)) if *of == x => {
                *of = transposed;
                at.reverse();
            }
            Exp::Op(_) => {}
            Exp::Nest(_) => {
                let blocks = stm.exp.blocks_mut().into_iter();
                blocks.for_each(|block| multiply(block, x, transposed));
            }
        }
    }
}
