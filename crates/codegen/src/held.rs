//! The vectors of a loop that stay in registers. A tile reads a vector once and multiplies it with
//! several others; GCC, which may as well read it again for each, makes the reads the limit of the
//! tile. So the text tells it to keep them, where all fit.

use std::collections::HashMap;

use lambada_loops::{Function, Nest, Op, Operand, Reg, Step, Stmt, Ty, visit};
use lambada_prim::{Cost, Precision, ScalarTy};

/// The registers for addresses of vectors, and for values on their way to a sum.
const OTHERS: usize = 3;

/// By register: whether it holds a vector read from memory, which several sums of a loop use.
pub(crate) fn held(function: &Function) -> Vec<bool> {
    let mut held = vec![false; function.regs.len()];
    visit(&function.body, &mut |stmt| {
        if let Stmt::Nest(Nest::For { body, .. }) = stmt {
            for reg in of_loop(function, body) {
                held[reg.0 as usize] = true;
            }
        }
    });
    held
}

/// The vectors of one loop, if it is a tile: it updates cells of vectors. Loops and functions
/// inside would need registers themselves.
fn of_loop(function: &Function, body: &[Stmt]) -> Vec<Reg> {
    let ty = |reg: Reg| function.regs[reg.0 as usize].0;
    // Of a vector: where it is read from memory, its last use, and the number of its uses.
    let (mut sums, mut lives) = (0, HashMap::<Reg, (usize, usize, usize)>::new());
    for (at, stmt) in body.iter().enumerate() {
        match stmt {
            Stmt::Nest(Nest::If { .. }) if !has_loops(stmt) => {}
            Stmt::Nest(_) => return Vec::new(),
            Stmt::Step(Step::Let(_, Op::Prim(prim, _))) if prim.cost() == Cost::Costly => {
                return Vec::new();
            }
            Stmt::Step(Step::Set(cell, _)) => {
                sums += usize::from(is_vector(function.cells[cell.0 as usize].0));
            }
            Stmt::Step(Step::Let(reg, Op::Load(_, offset))) if is_vector(ty(*reg)) => {
                let consecutive = match offset {
                    Operand::Reg(offset) => ty(*offset).lanes == 1,
                    Operand::Lit(_) => true,
                };
                if consecutive {
                    lives.insert(*reg, (at, at, 0));
                }
            }
            Stmt::Step(_) => {}
        }
        visit(std::slice::from_ref(stmt), &mut |inner| {
            inner.operands(&mut |operand| {
                if let Operand::Reg(reg) = operand
                    && let Some((_, last, uses)) = lives.get_mut(&reg)
                {
                    (*last, *uses) = (at, *uses + 1);
                }
            });
        });
    }
    lives.retain(|_, (_, _, uses)| *uses > 1);
    let (mut begin, mut end) = (vec![0; body.len()], vec![0; body.len()]);
    for (from, to, _) in lives.values() {
        begin[*from] += 1;
        end[*to] += 1;
    }
    let (mut now, mut most) = (0, 0);
    for (begin, end) in begin.into_iter().zip(end) {
        now += begin;
        most = most.max(now);
        now -= end;
    }
    let widest = lives.keys().map(|reg| bytes(function.precision, ty(*reg).lanes)).max();
    let fits = widest.is_some_and(|bytes| sums + most + OTHERS <= registers(bytes));
    if sums > 1 && fits { lives.into_keys().collect() } else { Vec::new() }
}

fn has_loops(stmt: &Stmt) -> bool {
    let mut found = false;
    visit(std::slice::from_ref(stmt), &mut |inner| {
        found |= matches!(inner, Stmt::Nest(nest) if !matches!(nest, Nest::If { .. }));
    });
    found
}

fn is_vector(ty: Ty) -> bool {
    ty.lanes > 1 && ty.elem == ScalarTy::Real
}

/// The bytes of a vector of reals.
fn bytes(precision: Precision, lanes: u16) -> u32 {
    u32::from(lanes) * precision.bytes(ScalarTy::Real)
}

/// The number of vector registers of processors with registers of this many bytes.
fn registers(bytes: u32) -> usize {
    if bytes >= 64 { 32 } else { 16 }
}

/// A macro that gives a variable of a vector type a register, for compilers and processors that
/// know this constraint.
pub(crate) fn text(precision: Precision, name: &str, lanes: u16) -> String {
    let has = match bytes(precision, lanes) {
        64 => "defined __AVX512F__",
        32 => "defined __AVX__",
        16 => "defined __SSE2__",
        _ => "0",
    };
    format!(
        "#if defined __GNUC__ && {has}\n#define {name}(x) __asm__(\"\" : \"+v\"(x))\n#else\n#define {name}(x) ((void)0)\n#endif\n"
    )
}
