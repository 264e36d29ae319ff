//! A call as the body of the function that is called.

use std::rc::Rc;

use crate::{Atom, Block, Function, Names, Renaming, Var};

/// The body of a function under fresh names, with these arguments and accumulators for its parameters.
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
    /// A new variable that is called, and comes from, what a variable of another function is and does.
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
