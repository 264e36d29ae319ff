//! The entries of libraries, and of a function with its library.

use lambada_prim::ScalarTy;
use lambada_source::Site;

use crate::{Field, FieldId, FnId, Function, Library, NodeId, NodeType, Operand, Return};

impl Library {
    /// Whether it has no functions and no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.functions.is_empty()
    }

    /// A function.
    pub fn function(&self, FnId(id): FnId) -> &Function {
        &self.functions[id as usize]
    }

    /// The type of a field's nodes.
    pub fn node(&self, NodeId(id): NodeId) -> &NodeType {
        &self.nodes[id as usize]
    }

    /// The field of this number.
    pub fn field(&self, id: FieldId) -> Field {
        self.node(id.node).constructors[id.tag as usize][id.field as usize]
    }

    /// The word of a node at which a field begins.
    pub fn word(&self, id: FieldId) -> usize {
        self.node(id.node).word(id.tag, id.field)
    }
}

impl Function {
    /// The type of a result, or of its elements.
    pub fn result_elem(&self, result: &Return) -> ScalarTy {
        match result {
            Return::Scalar(Operand::Reg(reg)) => self.regs[reg.0 as usize].0.elem,
            Return::Scalar(Operand::Lit(value)) => value.ty(),
            Return::Buffer(buf, _) => self.bufs[buf.0 as usize].0,
        }
    }

    /// The function, then the functions of its library.
    pub fn all(&self) -> impl Iterator<Item = &Function> {
        std::iter::once(self).chain(&self.library.functions)
    }

    /// The sites of the program: those of the function, then those of its library. A failure has
    /// its number among these.
    pub fn all_sites(&self) -> Vec<Site> {
        self.all().flat_map(|function| function.sites.iter().cloned()).collect()
    }
}
