//! Recursive functions that begin by testing whether they end.

use lambada_anf::{Atom, Block, Exp, Function, Nest, Op, Stm};
use lambada_prim::Cost;

/// The greatest number of statements before the test, and in an end.
const STATEMENTS: usize = 8;

/// A recursive function that begins with a test, of which one branch is an end.
#[derive(Clone, Debug)]
pub(crate) struct End {
    pub(crate) function: Function,
    /// The function without its other branch, which no test of the end needs: it may be long, and
    /// the test is written out at each call.
    pub(crate) test: Function,
    /// Whether it is the first branch.
    pub(crate) then: bool,
}

/// The end of a recursive function, if it begins with a test, gives scalars and nodes, and updates
/// no array.
pub(crate) fn end(function: &Function) -> Option<End> {
    let (last, before) = function.body.stms.split_last()?;
    let Exp::Nest(Nest::If { then, otherwise, .. }) = &last.exp else { return None };
    let first = |stm: &Stm| match &stm.exp {
        Exp::Op(Op::Prim(op, _)) => op.cost() == Cost::Cheap,
        Exp::Op(Op::Check { .. } | Op::Tag(_)) => true,
        Exp::Op(_) | Exp::Nest(_) => false,
    };
    let simple = |stm: &Stm| match &stm.exp {
        Exp::Op(Op::Prim(..) | Op::Check { .. } | Op::Index(..)) => {
            stm.binds.iter().all(|p| p.ty.dims.is_empty())
        }
        Exp::Op(_) | Exp::Nest(_) => false,
    };
    let is_end = |block: &Block| block.stms.len() <= STATEMENTS && block.stms.iter().all(simple);
    let scalars = function.results.iter().all(|ty| ty.dims.is_empty());
    let given = function
        .body
        .results
        .iter()
        .all(|result| last.binds.iter().any(|p| Atom::Var(p.var) == *result));
    let fits = before.len() <= STATEMENTS && before.iter().all(first) && scalars && given;
    let which = match (is_end(then), is_end(otherwise)) {
        (true, false) => true,
        (false, true) => false,
        (true, true) | (false, false) => return None,
    };
    // An array that the recursion updates is threaded through its calls, each of which should be
    // its last use; a branch beside the call that reads it would be another use.
    let updates = function.body.any(&mut |stm| matches!(stm.exp, Exp::Op(Op::Update { .. })));
    (fits && !updates && function.rules.is_none()).then(|| End {
        function: function.clone(),
        test: without_other_branch(function, which),
        then: which,
    })
}

/// The parameters, the statements before the test, and the test, whose other branch is empty.
fn without_other_branch(function: &Function, then: bool) -> Function {
    let (params, accumulators) = (function.params.clone(), function.accumulators.clone());
    let (mut stms, results) = (Vec::new(), function.body.results.clone());
    for stm in &function.body.stms {
        let exp = match &stm.exp {
            Exp::Nest(Nest::If { cond, then: yes, otherwise: no }) => {
                let nothing = || Block { stms: Vec::new(), results: Vec::new() };
                let (yes, no) =
                    if then { (yes.clone(), nothing()) } else { (nothing(), no.clone()) };
                Exp::Nest(Nest::If { cond: *cond, then: yes, otherwise: no })
            }
            Exp::Op(_) | Exp::Nest(_) => stm.exp.clone(),
        };
        stms.push(Stm::new(stm.binds.clone(), exp));
    }
    let body = Block { stms, results };
    Function { params, accumulators, body, names: function.names.clone(), ..Function::default() }
}
