//! What libraries hold, and what a function has with its library.

use lambada_prim::ScalarTy;
use lambada_source::Site;

use crate::{Field, FieldId, FnId, Function, Library, NodeId, NodeType, Operand, Return};

impl Library {
    /// No functions and no nodes?
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

    /// What a field is.
    pub fn field(&self, id: FieldId) -> Field {
        self.node(id.node).constructors[id.tag as usize][id.field as usize]
    }

    /// At which word of its node a field begins.
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

    /// The function, then those that its library has.
    pub fn all(&self) -> impl Iterator<Item = &Function> {
        std::iter::once(self).chain(&self.library.functions)
    }

    /// The checks of the program: those of the function, then those of its library. What fails
    /// tells its number among these.
    pub fn all_sites(&self) -> Vec<Site> {
        self.all().flat_map(|function| function.sites.iter().cloned()).collect()
    }
}
