//! Libraries as text, and the statements about them. A type is `type list`, its constructors a line
//! each, by number: `1(real, int)`; a cell of arrays is `cell []real`. A field is `list:1:0`.

use super::Printer;
use crate::names::Names;
use crate::{Arg, Field, FieldId, FieldValue, FnId, Library, NodeId, Reg, ResultTarget};

/// The names of node types and functions.
pub(super) struct Labels {
    types: Vec<String>,
    pub(super) functions: Vec<String>,
}

impl Labels {
    pub(super) fn of(library: &Library) -> Labels {
        let mut names = Names::new([]);
        Labels {
            types: library.nodes.iter().map(|node| names.fresh(&node.name)).collect(),
            functions: library.functions.iter().map(|f| names.fresh(&f.name)).collect(),
        }
    }

    fn node(&self, NodeId(node): NodeId, tag: u32) -> String {
        let name = self.types.get(node as usize).map_or("?", String::as_str);
        format!("{name}:{tag}")
    }

    pub(super) fn field(&self, id: FieldId) -> String {
        format!("{}:{}", self.node(id.node, id.tag), id.field)
    }
}

/// The node types.
pub(super) fn types(library: &Library, labels: &Labels) -> String {
    let field = |field: &Field| {
        let cell = if field.cell { "cell " } else { "" };
        let array = if field.array { "[]" } else { "" };
        format!("{cell}{array}{}", field.elem)
    };
    let constructor = |(tag, fields): (usize, &Vec<Field>)| {
        let fields: Vec<String> = fields.iter().map(field).collect();
        format!("  {tag}({})\n", fields.join(", "))
    };
    let types = library.nodes.iter().zip(&labels.types).map(|(node, name)| {
        let lines: String = node.constructors.iter().enumerate().map(constructor).collect();
        format!("type {name}\n{lines}\n")
    });
    types.collect()
}

impl Printer<'_> {
    pub(super) fn new_node(
        &self,
        reg: Reg,
        node: NodeId,
        tag: u32,
        fields: &[FieldValue],
    ) -> String {
        let part = |part: &FieldValue| match part {
            FieldValue::Scalar(value) => self.operand(*value),
            FieldValue::Array(buf, len) => format!("{}[{}]", self.buf(*buf), self.operand(*len)),
        };
        let parts: Vec<String> = fields.iter().map(part).collect();
        format!("{} = node {}({})", self.reg(reg), self.labels.node(node, tag), parts.join(", "))
    }

    pub(super) fn call(
        &self,
        FnId(function): FnId,
        args: &[Arg],
        results: &[ResultTarget],
    ) -> String {
        let name = self.labels.functions.get(function as usize).map_or("?", String::as_str);
        let arg = |arg: &Arg| match arg {
            Arg::Scalar(value) => self.operand(*value),
            Arg::Buffer(buf) => self.buf(*buf),
        };
        let given = |given: &ResultTarget| match given {
            ResultTarget::Cell(cell) => self.cell(*cell),
            ResultTarget::Buffer(buf) => self.buf(*buf),
        };
        let args: Vec<String> = args.iter().map(arg).collect();
        let results: Vec<String> = results.iter().map(given).collect();
        let to = if results.is_empty() { "" } else { " => " };
        format!("call {name}({}){to}{}", args.join(", "), results.join(", "))
    }
}
