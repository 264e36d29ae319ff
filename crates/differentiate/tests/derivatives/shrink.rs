//! Makes a failing program small: drops results, statements, outs and states for as long as it
//! still fails.

use lambada_anf::{Block, Exp, Nest};

use crate::program::Program;

/// The smallest program found with the property. Only programs that pass the checker are
/// candidates.
pub fn shrink(program: &Program, fails: &dyn Fn(&Program) -> bool) -> Program {
    let mut best = program.clone();
    loop {
        let smaller =
            candidates(&best).find(|p| lambada_anf::check(&p.function()).is_ok() && fails(p));
        match smaller {
            Some(smaller) => best = smaller,
            None => return best,
        }
    }
}

fn candidates(program: &Program) -> impl Iterator<Item = Program> + '_ {
    let count = program.f.results.len();
    let fewer = (0..count).filter(move |_| count > 1).map(|k| {
        let mut p = program.clone();
        p.f.results.remove(k);
        p.f.body.results.remove(k);
        p
    });
    let edits = (0..).map_while(|k| {
        let mut p = program.clone();
        edit(&mut p.f.body, &mut { k }).then_some(p)
    });
    fewer.chain(edits)
}

/// Makes edit `number`; false if the block has fewer edits.
fn edit(block: &mut Block, number: &mut usize) -> bool {
    if let Some(k) = hit(number, block.stms.len()) {
        block.stms.remove(k);
        return true;
    }
    for stm in &mut block.stms {
        match &mut stm.exp {
            Exp::Nest(Nest::For { outs, body, .. }) => {
                if let Some(k) = hit(number, outs.len()) {
                    outs.remove(k);
                    body.results.remove(k);
                    stm.binds.remove(k);
                    return true;
                }
            }
            Exp::Nest(Nest::If { then, otherwise, .. }) => {
                if let Some(k) = hit(number, stm.binds.len()) {
                    then.results.remove(k);
                    otherwise.results.remove(k);
                    stm.binds.remove(k);
                    return true;
                }
            }
            Exp::Nest(Nest::Loop { params, inits, body, .. }) => {
                if let Some(k) = hit(number, params.len()) {
                    params.remove(k);
                    inits.remove(k);
                    body.results.remove(k);
                    stm.binds.remove(k);
                    return true;
                }
            }
            Exp::Op(_) => {}
        }
        for inner in stm.exp.blocks_mut() {
            if edit(inner, number) {
                return true;
            }
        }
    }
    false
}

/// Whether `number` is one of the next `many` edits; subtracts `many` if not.
fn hit(number: &mut usize, many: usize) -> Option<usize> {
    let k = *number;
    if k >= many {
        *number -= many;
    }
    (k < many).then_some(k)
}
