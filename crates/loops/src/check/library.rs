//! The checks of libraries: node types, nodes, calls.

use lambada_prim::ScalarTy;

use super::{Checked, Checker, Origin, ensure, same};
use crate::{
    Arg, Buf, Field, FieldId, FieldValue, FnId, Library, NodeId, Operand, Param, ResultTarget,
    Return,
};

/// Checks the functions of a library: they have no libraries and no sizes of their own.
pub(super) fn check(library: &Library) -> Checked {
    for function in &library.functions {
        ensure(function.library.is_empty(), || {
            format!("{}: a function of a library has a library", function.name)
        })?;
        ensure(function.sizes == 0, || format!("{}: it has sizes", function.name))?;
    }
    Ok(())
}

/// Checks a parameter of the entry, to which callers only lend their arrays.
pub(super) fn of_entry(param: &Param) -> Checked {
    match param {
        Param::Scalar(_) | Param::Buffer(_) => Ok(()),
        Param::Owned(_) | Param::Shared(_) => {
            Err("a program may not write to its arguments".to_string())
        }
    }
}

impl Checker<'_> {
    pub(super) fn field(&self, id: FieldId) -> Checked<Field> {
        let fields = self.fields(id.node, id.tag)?;
        fields.get(id.field as usize).copied().ok_or_else(|| format!("there is no field {id:?}"))
    }

    fn fields(&self, NodeId(node): NodeId, tag: u32) -> Checked<&[Field]> {
        let node = self.library.nodes.get(node as usize);
        let fields = node.and_then(|node| node.constructors.get(tag as usize));
        fields.map(Vec::as_slice).ok_or_else(|| "there is no such constructor".to_string())
    }

    pub(super) fn node(&self, node: NodeId, tag: u32, parts: &[FieldValue]) -> Checked {
        let fields = self.fields(node, tag)?;
        ensure(fields.len() == parts.len(), || {
            format!("{} fields instead of {}", parts.len(), fields.len())
        })?;
        for (part, field) in parts.iter().zip(fields) {
            let (elem, array) = match part {
                FieldValue::Scalar(value) => (self.single(*value)?, false),
                FieldValue::Array(buf, len) => {
                    self.int(*len)?;
                    (self.buf(*buf)?, true)
                }
            };
            same(field.elem, elem)?;
            ensure(array == field.array, || "an array and a scalar".to_string())?;
        }
        Ok(())
    }

    pub(super) fn open(&mut self, buf: Buf, id: FieldId, of: Operand, dims: &[Operand]) -> Checked {
        self.int(of)?;
        dims.iter().try_for_each(|dim| self.int(*dim))?;
        let field = self.field(id)?;
        ensure(field.array || field.cell, || "that field is a value".to_string())?;
        let origin = if field.cell { Origin::View } else { Origin::Outside };
        same(field.elem, self.bind_buf(buf, origin)?)
    }

    pub(super) fn call(&self, FnId(id): FnId, args: &[Arg], results: &[ResultTarget]) -> Checked {
        let function = self.library.functions.get(id as usize);
        let function = function.ok_or_else(|| format!("there is no function {id}"))?;
        ensure(function.params.len() == args.len(), || {
            format!("{} arguments instead of {}", args.len(), function.params.len())
        })?;
        for (arg, param) in args.iter().zip(&function.params) {
            match (arg, param) {
                (Arg::Scalar(value), Param::Scalar(reg)) => {
                    same(function.regs[reg.0 as usize].0.elem, self.single(*value)?)?
                }
                (Arg::Buffer(buf), Param::Buffer(to)) => {
                    same(function.bufs[to.0 as usize].0, self.buf(*buf)?)?
                }
                (Arg::Buffer(buf), Param::Owned(to) | Param::Shared(to)) => {
                    same(function.bufs[to.0 as usize].0, self.writable(*buf)?)?
                }
                (Arg::Scalar(_), Param::Buffer(_) | Param::Owned(_) | Param::Shared(_))
                | (Arg::Buffer(_), Param::Scalar(_)) => {
                    return Err("a scalar and a buffer".to_string());
                }
            }
        }
        ensure(function.results.len() == results.len(), || {
            format!("{} results instead of {}", results.len(), function.results.len())
        })?;
        results.iter().zip(&function.results).try_for_each(|(given, result)| {
            let elem = function.result_elem(result);
            self.given(*given, result, elem)
        })
    }

    fn given(&self, given: ResultTarget, result: &Return, elem: ScalarTy) -> Checked {
        match (given, result) {
            (ResultTarget::Cell(cell), Return::Scalar(_)) => {
                let ty = self.cell(cell)?;
                ensure(ty.lanes == 1, || "a cell of several lanes".to_string())?;
                same(ty.elem, elem)
            }
            (ResultTarget::Buffer(buf), Return::Buffer(..)) => {
                same(self.buf(buf)?, elem)?;
                let here = *self.arenas.last().expect("there is an arena");
                ensure(self.origins[buf.0 as usize] == Origin::Alloc(here), || {
                    "a result goes to a name made by `alloc` in the same scope".to_string()
                })
            }
            (ResultTarget::Cell(_), Return::Buffer(..))
            | (ResultTarget::Buffer(_), Return::Scalar(_)) => {
                Err("a scalar and a buffer".to_string())
            }
        }
    }
}
