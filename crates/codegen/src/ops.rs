//! The operations of registers, as expressions. An operand that waits is taken from the list and
//! becomes part of the expression.

use lambada_loops::{Buf, Op, Operand, Reg, Ty};
use lambada_prim::{Prim, Scalar, ScalarTy};

use crate::function::Printer;
use crate::lanes::{Helper, Spelling, mask_of_integers, mask_type, spelling};
use crate::text::{self, Text};

impl Printer<'_> {
    pub fn op(&mut self, ty: Ty, op: &Op) -> Text {
        self.needs.lanes(ty.lanes);
        match op {
            Op::Prim(prim, args) => self.prim(ty, *prim, args),
            Op::Load(buf, offset) => self.load(ty, *buf, *offset),
            Op::LoadSome(buf, [offset, count]) => self.load_some(ty, *buf, *offset, *count),
            Op::Get(cell) => Text { cells: vec![cell.0], ..Text::atom(self.cell(*cell)) },
            Op::Fold(op, value) => {
                let from = self.operand_ty(*value);
                let value = self.operand(*value);
                if from.lanes == 1 {
                    return value;
                }
                let helper = self.needs.vector(Helper::Fold(*op, from.elem, from.lanes));
                text::call(&helper, std::slice::from_ref(&value)).reading(&[value])
            }
            Op::Splice(both, from) => {
                let both = both.map(|value| self.operand(value));
                let helper = self.needs.vector(Helper::Splice(ty.elem, ty.lanes, *from));
                text::call(&helper, &both).reading(&both)
            }
            Op::Tag(node) => self.tag(*node),
            Op::Field(field, node) => self.field(*field, *node),
            Op::Iota if ty.lanes == 1 => Text::atom("0"),
            Op::Iota => {
                let lanes: Vec<String> = (0..ty.lanes).map(|lane| lane.to_string()).collect();
                Text::atom(format!("({}){{{}}}", self.register_type(ty), lanes.join(", ")))
            }
        }
    }

    fn load(&mut self, ty: Ty, buf: Buf, offset: Operand) -> Text {
        let each = self.operand_ty(offset).lanes > 1;
        let offset = self.operand(offset);
        let text = if ty.lanes == 1 {
            format!("{}[{}]", self.buf(buf), offset.text)
        } else if each {
            let helper = self.needs.vector(Helper::Gather(ty.elem, ty.lanes));
            format!("{helper}({}, {})", self.buf(buf), offset.text)
        } else {
            let place = self.address(buf, &offset);
            format!("{}({place})", self.needs.vector(Helper::Load(ty.elem, ty.lanes)))
        };
        self.reads(buf, Text::atom(text).reading(&[offset]))
    }

    fn load_some(&mut self, ty: Ty, buf: Buf, offset: Operand, count: Operand) -> Text {
        let (offset, count) = (self.operand(offset), self.operand(count));
        let place = self.address(buf, &offset);
        let helper = self.needs.vector(Helper::LoadSome(ty.elem, ty.lanes));
        let text = Text::atom(format!("{helper}({place}, {})", count.text));
        self.reads(buf, text.reading(&[offset, count]))
    }

    fn reads(&self, buf: Buf, mut text: Text) -> Text {
        text.memories.extend(self.facts.changing(buf));
        text
    }

    pub fn address(&self, buf: Buf, offset: &Text) -> String {
        match offset.text.as_str() {
            "0" => self.buf(buf),
            _ => text::infix("+", &Text::atom(self.buf(buf)), offset).text,
        }
    }

    fn prim(&mut self, ty: Ty, prim: Prim, args: &[Operand]) -> Text {
        let lanes = args.iter().map(|arg| self.operand_ty(*arg).lanes).max().unwrap_or(1);
        if lanes > 1 {
            return self.vector_prim(lanes, prim, args);
        }
        let args = self.scalar_args(prim, args);
        self.needs.prim(prim);
        let value = text::apply(self.precision(), prim.row().c, &args);
        if ty.lanes == 1 { value } else { self.splat(value, ty) }
    }

    /// The operands of a primitive. If all its integers are constants, they are wide, because C
    /// would compute in `int`.
    fn scalar_args(&mut self, prim: Prim, args: &[Operand]) -> Vec<Text> {
        let ints = |elem: &ScalarTy| *elem == ScalarTy::Int;
        let all = args
            .iter()
            .zip(prim.args())
            .filter(|(_, elem)| ints(elem))
            .all(|(arg, _)| matches!(arg, Operand::Lit(_)));
        let text = |arg: &Operand| match arg {
            Operand::Lit(Scalar::Int(value)) if all => text::wide_literal(*value),
            Operand::Lit(_) | Operand::Reg(_) => self.operand(*arg),
        };
        args.iter().map(text).collect()
    }

    fn vector_prim(&mut self, lanes: u16, prim: Prim, args: &[Operand]) -> Text {
        let full = |printer: &mut Self, k: usize| {
            printer.spread(args[k], Ty { elem: prim.args()[k], lanes })
        };
        let Some(spelling) = spelling(prim) else {
            let args: Vec<Text> = (0..args.len()).map(|k| full(self, k)).collect();
            let helper = self.needs.vector(match prim.row().c.on_lanes() {
                Some(math) => Helper::Math(math.name, lanes),
                None => Helper::Each(prim, lanes),
            });
            return text::call(&helper, &args).reading(&args);
        };
        match spelling {
            Spelling::Arithmetic(op) => {
                let args = [self.operand(args[0]), self.operand(args[1])];
                text::infix(op, &args[0], &args[1]).reading(&args)
            }
            Spelling::Comparison(op) => {
                let args = [self.operand(args[0]), self.operand(args[1])];
                let (mask, precision) = (text::infix(op, &args[0], &args[1]), self.precision());
                let mask = match prim.args()[0] {
                    ScalarTy::Real => {
                        text::prefix(&format!("({})", mask_type(precision, lanes)), &mask)
                    }
                    ScalarTy::Int | ScalarTy::Bool => mask_of_integers(precision, lanes, &mask),
                };
                mask.reading(&args)
            }
            Spelling::Masks(op) => {
                let args = [full(self, 0), full(self, 1)];
                Text { parts: None, ..text::infix(op, &args[0], &args[1]) }.reading(&args)
            }
            Spelling::Prefix(op) => {
                let arg = full(self, 0);
                text::prefix(op, &arg).reading(&[arg])
            }
            Spelling::SameMasks => {
                let args = [full(self, 0), full(self, 1)];
                text::prefix("~", &text::infix("^", &args[0], &args[1])).reading(&args)
            }
            Spelling::Convert => {
                let arg = full(self, 0);
                Text::atom(format!(
                    "__builtin_convertvector({}, {}x{lanes})",
                    arg.text,
                    self.precision()
                ))
                .reading(&[arg])
            }
            Spelling::Select => {
                let args = [full(self, 0), full(self, 1), full(self, 2)];
                let helper = self.needs.vector(Helper::Select(prim.result(), lanes));
                text::call(&helper, &args).reading(&args)
            }
        }
    }

    /// The operand with all lanes of the type.
    pub fn spread(&mut self, operand: Operand, ty: Ty) -> Text {
        let single = self.operand_ty(operand).lanes == 1;
        let value = self.operand(operand);
        if single && ty.lanes > 1 { self.splat(value, ty) } else { value }
    }

    fn splat(&mut self, value: Text, ty: Ty) -> Text {
        let helper = self.needs.vector(Helper::Splat(ty.elem, ty.lanes));
        text::call(&helper, std::slice::from_ref(&value)).reading(&[value])
    }

    /// A register's expression, if it waits, or its name; a constant.
    pub fn operand(&mut self, operand: Operand) -> Text {
        match operand {
            Operand::Lit(value) => text::literal(self.precision(), value),
            Operand::Reg(reg) => {
                match self.waiting.iter().rposition(|waiting| waiting.reg == reg) {
                    Some(at) => self.waiting.remove(at).value,
                    None => Text::atom(self.regs[reg.0 as usize].clone()),
                }
            }
        }
    }

    pub fn operand_ty(&self, operand: Operand) -> Ty {
        match operand {
            Operand::Reg(reg) => self.reg_ty(reg),
            Operand::Lit(value) => Ty::scalar(value.ty()),
        }
    }

    pub fn reg_ty(&self, reg: Reg) -> Ty {
        self.function.regs[reg.0 as usize].0
    }
}
