//! A recursion that counts with a real although the order of differentiation depends on the count,
//! e.g. `def rec d n f x = if n == 0 then f x else grad (d (n - 1) f) x`. Without a type for `n` it
//! is a real, and only integers are followed at compile time.

use std::collections::BTreeSet;
use std::rc::Rc;

use lambada_core::{DefId, Program, Term, TermKind, Var};
use lambada_prim::Prim;
use lambada_source::{Problem, stack};

use crate::{lambdas, messages};

/// The problem, with the parameter that needs a type in the program.
pub(crate) fn explained(program: &Program, entry: DefId, problem: Problem) -> Problem {
    if !messages::is_circle(&problem) {
        return problem;
    }
    let (mut found, mut open) = (BTreeSet::from([entry]), vec![entry]);
    while let Some(id) = open.pop() {
        let body = &program.def(id).body;
        let is_own = |head: &Term| matches!(head.kind(), TermKind::Global(own) if *own == id);
        if let Some(count) = counted(body, &is_own).or_else(|| local(body)) {
            return messages::count_is_real(problem, &count);
        }
        open.extend(body.globals().into_iter().filter(|id| found.insert(*id)));
    }
    problem
}

/// [`counted`] for the local recursive functions of a term.
fn local(term: &Term) -> Option<Rc<str>> {
    if let TermKind::LetRec(functions, _) = term.kind() {
        for (f, body) in functions {
            let is_own = |head: &Term| matches!(head.kind(), TermKind::Var(own) if own == f);
            if let Some(count) = counted(body, &is_own) {
                return Some(count);
            }
        }
    }
    stack::deeper(|| term.scoped_children().into_iter().find_map(|(_, child)| local(child)))
}

/// The parameter of a function to which its recursive calls pass a real plus or minus a constant.
fn counted(function: &Term, is_own: &dyn Fn(&Term) -> bool) -> Option<Rc<str>> {
    let (params, body) = lambdas(function);
    counted_in(body, &params, is_own)
}

fn counted_in(term: &Term, params: &[&Var], is_own: &dyn Fn(&Term) -> bool) -> Option<Rc<str>> {
    let (mut args, mut head) = (Vec::new(), term);
    while let TermKind::App(f, x) = head.kind() {
        args.push(x);
        head = f;
    }
    if is_own(head) {
        let mut pairs = params.iter().zip(args.iter().rev());
        if let Some((p, _)) = pairs.find(|(p, arg)| is_step(p, arg)) {
            return Some(p.hint.clone());
        }
    }
    let mut children = term.scoped_children().into_iter();
    stack::deeper(|| children.find_map(|(_, child)| counted_in(child, params, is_own)))
}

/// `n - 1` or `n + 1`, of a real.
fn is_step(p: &Var, arg: &Term) -> bool {
    let TermKind::Prim(Prim::Add | Prim::Sub, items) = arg.kind() else { return false };
    let is_own = |term: &Term| matches!(term.kind(), TermKind::Var(x) if x == p);
    is_own(&items[0]) && matches!(items[1].kind(), TermKind::Lit(_))
}
