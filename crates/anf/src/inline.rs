//! Inlining: a call as the body of its callee.

use std::collections::HashSet;
use std::rc::Rc;

use crate::{Atom, Block, Exp, FnId, Function, Library, Names, Op, Renaming, Stm, Var};

/// The body of a function under fresh names, with arguments and accumulators for its parameters.
pub fn written_out(
    callee: &Function,
    names: &mut Names,
    args: &[Atom],
    accumulators: &[Var],
) -> Block {
    let mut image = Renaming::new();
    callee.params.iter().zip(args).for_each(|(p, arg)| image.insert(p.var, *arg));
    let given = callee.accumulators.iter().zip(accumulators);
    given.for_each(|(p, acc)| image.insert(p.var, Atom::Var(*acc)));
    image.imported(&callee.body, &callee.names, names)
}

impl Names {
    /// A new variable with the name and the place of a variable of another function.
    fn adopted(&mut self, from: &Names, var: Var) -> Var {
        let outside = self.come_from(from.origin(var).unwrap_or_default());
        let hint: Rc<str> = from.hint(var);
        let new = self.fresh(hint);
        self.come_from(outside);
        new
    }
}

impl Renaming {
    /// A copy of a block of another function, whose variables `from` names.
    pub fn imported(&mut self, block: &Block, from: &Names, names: &mut Names) -> Block {
        self.copied(block, &mut |var| names.adopted(from, var))
    }
}

/// Inlines the calls of functions with rules, where no derivative will be taken, except for
/// recursive functions and those under construction. The renaming maps the variables that the calls
/// have bound.
pub fn without_rules(library: &Library, names: &mut Names, block: &mut Block) -> Renaming {
    let circles = library.circles(block.callees());
    let ruled = |id: &&FnId| {
        let ruled = library.function(**id).is_some_and(|f| f.rules.is_some() && f.known.is_none());
        ruled && !circles.recursive.contains(id)
    };
    let inlined: HashSet<FnId> = circles.all.iter().flatten().filter(ruled).copied().collect();
    if inlined.is_empty() {
        return Renaming::new();
    }
    let mut writer = Writer { library, names, inlined, renaming: Renaming::new() };
    writer.block(block);
    writer.renaming
}

struct Writer<'a> {
    library: &'a Library,
    names: &'a mut Names,
    inlined: HashSet<FnId>,
    renaming: Renaming,
}

impl Writer<'_> {
    fn block(&mut self, block: &mut Block) {
        let mut written = Vec::with_capacity(block.stms.len());
        std::mem::take(&mut block.stms).into_iter().for_each(|stm| self.stm(stm, &mut written));
        block.stms = written;
        block.results.iter_mut().for_each(|a| *a = self.renaming.atom(*a));
    }

    fn stm(&mut self, mut stm: Stm, to: &mut Vec<Stm>) {
        stm.exp.atoms_mut(&mut |a| *a = self.renaming.atom(*a));
        if let Exp::Op(Op::Call { function, args, accumulators }) = &stm.exp
            && self.inlined.contains(function)
            && let Some(callee) = self.library.function(*function)
        {
            let body = written_out(callee, self.names, args, accumulators);
            body.stms.into_iter().for_each(|stm| self.stm(stm, to));
            for (bind, result) in stm.binds.iter().zip(body.results) {
                let result = self.renaming.atom(result);
                self.renaming.insert(bind.var, result);
            }
            return;
        }
        stm.exp.blocks_mut().into_iter().for_each(|inner| self.block(inner));
        for dim in stm.binds.iter_mut().flat_map(|p| &mut p.ty.dims) {
            *dim = self.renaming.atom(*dim);
        }
        to.push(stm);
    }
}
