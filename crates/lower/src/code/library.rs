//! Parameters of functions of the library, nodes and calls.

use std::rc::Rc;
use std::sync::Arc;

use lambada_loops::{
    Arg, Buf, FieldId, FieldValue, FnId, NodeId, Op, Operand, Param, Reg, ResultTarget, Step,
};
use lambada_prim::ScalarTy;
use lambada_source::{Site, Span};

use super::Code;

impl Code {
    /// An array parameter that is the function's own.
    pub(crate) fn owned_param(&mut self, elem: ScalarTy, hint: Rc<str>) -> Buf {
        let buf = self.function.buf(elem, hint);
        self.function.params.push(Param::Owned(buf));
        buf
    }

    /// An accumulator of the caller.
    pub(crate) fn shared_param(&mut self, elem: ScalarTy, hint: Rc<str>) -> Buf {
        let buf = self.function.buf(elem, hint);
        self.function.params.push(Param::Shared(buf));
        buf
    }

    /// The site that failures at a place in the program, or near it, refer to.
    fn blamed(&mut self, origin: Option<Span>, message: impl Into<Arc<str>>) -> u32 {
        let span = origin.or(self.near).unwrap_or_default();
        self.site(&Site::new(span, message))
    }

    pub(crate) fn node(
        &mut self,
        (node, tag): (NodeId, u32),
        fields: Vec<FieldValue>,
        hint: Rc<str>,
        origin: Option<Span>,
    ) -> Operand {
        let site = self.blamed(origin, "");
        let reg: Reg = self.reg(ScalarTy::Int, self.level(), hint);
        self.push(Step::Node { reg, node, tag, fields, site });
        self.innermost().allocates = true;
        reg.into()
    }

    pub(crate) fn tag(&mut self, of: Operand, hint: Rc<str>) -> Operand {
        self.bind(ScalarTy::Int, Op::Tag(of), hint)
    }

    pub(crate) fn field(
        &mut self,
        elem: ScalarTy,
        field: FieldId,
        of: Operand,
        hint: Rc<str>,
    ) -> Operand {
        self.bind(elem, Op::Field(field, of), hint)
    }

    /// A name for an array or a cell of a node.
    pub(crate) fn open_field(
        &mut self,
        elem: ScalarTy,
        field: FieldId,
        of: Operand,
        dims: &[Operand],
        (hint, origin): (Rc<str>, Option<Span>),
    ) -> Buf {
        let buf = self.function.buf(elem, hint);
        self.function.origins.extend(origin.or(self.near).map(|span| (buf, span)));
        self.push(Step::Open { buf, field, of, dims: dims.to_vec() });
        self.innermost().allocates = true;
        buf
    }

    /// A call; `leaves`: whether it leaves behind memory that it has allocated.
    pub(crate) fn call(
        &mut self,
        function: FnId,
        args: Vec<Arg>,
        results: Vec<ResultTarget>,
        (message, origin, leaves): (String, Option<Span>, bool),
    ) {
        let site = self.blamed(origin, message);
        self.push(Step::Call { function, args, results, site });
        self.innermost().allocates |= leaves;
    }
}
