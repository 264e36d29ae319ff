//! What an update overwrites is read before it:
//!
//! ```text
//!   ys = xs with [i] = row;  for j < n { x = xs[i, j]; … }
//!   becomes   old = xs[i];  ys = xs with [i] = row;  for j < n { x = old[j]; … }
//! ```
//!
//! Assumes: nothing; runs once, after all other passes, since they put reads of rows together again. Gives: an update of an array of which
//! only the overwritten part is read later is the array's last use, so it is done in place. Keeps: values and failures: the part is in range
//! where the update is done.

use lambada_anf::{Atom, Block, Exp, Function, Names, Op, Param, Renaming, Stm, Var};

use crate::calls::Calls;

/// The pass.
pub(crate) fn read_before_update(function: &mut Function, _: &Calls) -> bool {
    let (mut image, before) = (Renaming::new(), function.names.len());
    block(&mut function.names, &mut function.body, &mut image);
    image.apply(&mut function.body);
    function.results.iter_mut().for_each(|ty| *ty = image.ty(ty));
    // Each part that is read earlier has a name of its own.
    function.names.len() > before
}

fn block(names: &mut Names, b: &mut Block, image: &mut Renaming) {
    let mut k = 0;
    while k < b.stms.len() {
        b.stms[k].exp.blocks_mut().into_iter().for_each(|inner| block(names, inner, image));
        if let Some((x, part)) = read_later(b, k) {
            let ty = b.stms[k].binds[0].ty.indexed(part.len());
            let old = names.again(x);
            let mut later = Block { stms: b.stms.split_off(k + 1), results: Vec::new() };
            redirect(&mut later, x, part.len(), old, image);
            b.stms.append(&mut later.stms);
            b.stms.insert(k, Stm::new(vec![Param { var: old, ty }], Op::Index(x, part)));
            k += 1;
        }
        k += 1;
    }
}

/// The array and the part of it that the statement overwrites, if that part is read later and nothing else of the array.
fn read_later(b: &Block, k: usize) -> Option<(Var, Vec<Atom>)> {
    let Exp::Op(Op::Update { array, index, .. }) = &b.stms[k].exp else { return None };
    let mut found = false;
    let fine = b.stms[k + 1..].iter().all(|stm| only_part(stm, *array, index, &mut found))
        && !b.results.contains(&(*array).into());
    (fine && found).then(|| (*array, index.clone()))
}

/// Does the statement read only that part of the array?
fn only_part(stm: &Stm, x: Var, part: &[Atom], found: &mut bool) -> bool {
    let own = match &stm.exp {
        Exp::Op(Op::Index(y, index)) if *y == x => {
            *found = true;
            index.starts_with(part)
        }
        exp => {
            let mut mentioned = false;
            exp.atoms(&mut |a| mentioned |= a == x.into());
            !mentioned
        }
    };
    let inside = |b: &&Block| {
        b.stms.iter().all(|stm| only_part(stm, x, part, found)) && !b.results.contains(&x.into())
    };
    own && stm.exp.blocks().iter().all(inside)
}

/// Reads the part from its new name.
fn redirect(b: &mut Block, x: Var, shared: usize, old: Var, image: &mut Renaming) {
    b.stms.retain_mut(|stm| {
        stm.exp.blocks_mut().into_iter().for_each(|inner| redirect(inner, x, shared, old, image));
        let Exp::Op(Op::Index(y, index)) = &mut stm.exp else { return true };
        if *y != x {
            return true;
        }
        if index.len() == shared {
            image.insert(stm.binds[0].var, old.into());
            return false;
        }
        (*y, *index) = (old, index.split_off(shared));
        true
    });
}
