//! Sizes that are equal because of a check.
//!
//! * *Assumes* code whose checks dominate the code that relies on them.
//! * *Gives* whether its types rest on the equality of sizes with different names, and which checks
//!   compare sizes.

use std::collections::{HashMap, HashSet};

use lambada_anf::{Atom, Exp, Library, Nest, Op, Out, Param, Renaming, Stm, Ty, Var};
use lambada_prim::{Prim, ScalarTy};

/// Atoms with the types that their context requires, such as the results of a block. In a type, the
/// variables stand for the atoms.
pub(super) struct Wanted {
    pub vars: Vec<Atom>,
    pub types: Vec<Ty>,
}

impl Wanted {
    pub(super) fn params(params: &[Param]) -> Wanted {
        let (vars, types) = params.iter().map(|p| (Atom::Var(p.var), p.ty.clone())).unzip();
        Wanted { vars, types }
    }

    pub(super) fn types(types: Vec<Ty>) -> Wanted {
        Wanted { vars: Vec::new(), types }
    }

    /// The types of these atoms.
    pub(super) fn of(&self, atoms: &[Atom]) -> Vec<Ty> {
        let mut renaming = Renaming::new();
        for (var, atom) in self.vars.iter().zip(atoms) {
            if let Atom::Var(var) = var {
                renaming.insert(*var, *atom);
            }
        }
        self.types.iter().map(|ty| renaming.ty(ty)).collect()
    }
}

/// Facts about the variables of a block, free ones included.
#[derive(Default)]
pub(super) struct Sizes {
    /// The sizes of arrays and accumulators.
    pub types: HashMap<Var, Vec<Atom>>,
    /// Conditions that do not depend on the equality of integers.
    unequal: HashSet<Var>,
}

impl Sizes {
    pub(super) fn bind(&mut self, params: &[Param]) {
        self.types.extend(params.iter().map(|p| (p.var, p.ty.dims.clone())));
    }

    /// Records the variables of statements.
    pub(super) fn read(&mut self, stms: &[Stm]) {
        for stm in stms {
            stm.each(&mut |stm| {
                self.bind(&stm.binds);
                match &stm.exp {
                    Exp::Nest(Nest::Loop { params, .. }) => self.bind(params),
                    Exp::Op(Op::Prim(prim, args)) if *prim != Prim::EqInt => {
                        let mut vars = args.iter().filter_map(|arg| arg.as_var());
                        let numbers = !prim.args().contains(&ScalarTy::Bool);
                        if numbers || vars.all(|var| self.unequal.contains(&var)) {
                            self.unequal.insert(stm.binds[0].var);
                        }
                    }
                    Exp::Op(_) | Exp::Nest(_) => {}
                }
            });
        }
    }

    /// Whether it is a check that may compare sizes.
    pub(super) fn compares(&self, stm: &Stm) -> bool {
        matches!(&stm.exp, Exp::Op(Op::Check { cond: Atom::Var(var), .. }) if !self.unequal.contains(var))
    }

    /// Whether types here rest on the equality of sizes with different names.
    pub(super) fn relied_on(&self, stms: &[Stm], library: &Library) -> bool {
        stms.iter().any(|stm| stm.any(&mut |stm| !self.fits(stm, library)))
    }

    /// Whether each atom has its required type.
    fn against(&self, atoms: &[Atom], wanted: &Wanted) -> bool {
        atoms.iter().zip(wanted.of(atoms)).all(|(atom, ty)| self.dims(*atom) == ty.dims)
    }

    fn dims(&self, atom: Atom) -> &[Atom] {
        atom.as_var().and_then(|var| self.types.get(&var)).map_or(&[], |dims| &dims[..])
    }

    fn fits(&self, stm: &Stm, library: &Library) -> bool {
        match &stm.exp {
            Exp::Nest(Nest::For { extent, outs, body, .. }) => {
                let gathered = outs.iter().zip(&stm.binds).zip(&body.results);
                gathered.into_iter().all(|((out, bind), result)| match out {
                    Out::Collect => {
                        bind.ty.dims[0] == *extent && self.dims(*result) == &bind.ty.dims[1..]
                    }
                    Out::Reduce(_) => true,
                })
            }
            Exp::Nest(Nest::Loop { params, inits, body, .. }) => {
                let last: Vec<Atom> = stm.binds.iter().map(|p| p.var.into()).collect();
                let wanted = Wanted::params(params);
                [inits, &body.results, &last].iter().all(|state| self.against(state, &wanted))
            }
            Exp::Nest(Nest::If { then, otherwise, .. }) => {
                let wanted = Wanted::params(&stm.binds);
                [then, otherwise].iter().all(|block| self.against(&block.results, &wanted))
            }
            Exp::Op(Op::ArrayPrim(prim, args)) => {
                let types: Vec<&[Atom]> = args.iter().map(|arg| self.dims((*arg).into())).collect();
                let ranks: Vec<usize> = types.iter().map(|dims| dims.len()).collect();
                prim.version(&ranks).is_some_and(|version| {
                    let results = version.result_dims(&types);
                    version.equal_axes().all(|[(a, j), (b, k)]| types[a][j] == types[b][k])
                        && stm.binds.iter().zip(results).all(|(p, dims)| p.ty.dims == dims)
                })
            }
            Exp::Op(Op::Call { function, args, .. }) => library
                .function(*function)
                .is_some_and(|callee| self.against(args, &Wanted::params(&callee.params))),
            Exp::Op(Op::Node { node, tag, fields, .. }) => {
                let constructor = &library.nodes[node.0 as usize].constructors[*tag as usize];
                let vars = (0..).map(|k| Var(k).into()).take(fields.len()).collect();
                let types = constructor.fields.iter().map(|f| f.ty.clone()).collect();
                self.against(fields, &Wanted { vars, types })
            }
            Exp::Op(Op::Array(items)) => {
                items.iter().all(|item| self.dims(*item) == &stm.binds[0].ty.dims[1..])
            }
            Exp::Op(Op::Update { array, index, value }) => {
                let dims = self.dims((*array).into());
                self.dims(*value) == &dims[index.len()..] && stm.binds[0].ty.dims == dims
            }
            Exp::Op(Op::Accumulate { acc, index, value }) => {
                self.dims(*value) == &self.dims((*acc).into())[index.len()..]
            }
            Exp::Op(Op::Accumulator(value)) => self.dims(*value) == stm.binds[0].ty.dims,
            Exp::Op(Op::Index(array, index)) => {
                stm.binds[0].ty.dims == self.dims((*array).into())[index.len()..]
            }
            Exp::Op(Op::Freeze(acc)) => stm.binds[0].ty.dims == self.dims((*acc).into()),
            Exp::Op(
                Op::Prim(..)
                | Op::Fill(_)
                | Op::Constant(_)
                | Op::Check { .. }
                | Op::Inspect { .. }
                | Op::Tag(_)
                | Op::Field { .. }
                | Op::Open { .. }
                | Op::Cell { .. }
                | Op::Scheduled(_),
            ) => true,
        }
    }
}
