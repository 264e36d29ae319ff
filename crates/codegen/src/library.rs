//! Libraries: calls and nodes. A function of the library is a C function of its parameters and of a
//! target for each result. A handle is the address of a node; a node is an array of slots; the first
//! holds the tag.

use lambada_loops::{
    Arg, Buf, FieldId, FieldValue, FnId, NodeId, Operand, Reg, ResultTarget, identifier,
};
use lambada_prim::ScalarTy;

use crate::function::Printer;
use crate::text::{Level, Text};

impl Printer<'_> {
    pub fn call(
        &mut self,
        FnId(function): FnId,
        args: &[Arg],
        results: &[ResultTarget],
        site: u32,
    ) {
        let args: Vec<String> = args
            .iter()
            .map(|arg| match arg {
                Arg::Scalar(value) => self.operand(*value).text,
                Arg::Buffer(buf) => self.buf(*buf),
            })
            .collect();
        // The callee may write to all memory that may change.
        self.declare(|waiting| !waiting.is_constant());
        let results = results.iter().map(|given| match given {
            ResultTarget::Cell(cell) => format!("&{}", self.cell(*cell)),
            ResultTarget::Buffer(buf) => format!("&{}", self.buf(*buf)),
        });
        let operands: String =
            args.into_iter().chain(results).map(|text| format!(", {text}")).collect();
        let (number, remark) = (self.site(site), self.remark(site));
        self.needs.calls();
        self.line(&format!(
            "if (unlikely(lam_is_deep(ctx))) return lam_too_deep(ctx, results, {number}); // {remark}"
        ));
        let name = &self.program.names[function as usize];
        self.line(&format!(
            "{{ int status = {name}(ctx, results{operands}); if (unlikely(status)) return status; }}"
        ));
    }

    pub fn new_node(&mut self, reg: Reg, node: NodeId, tag: u32, parts: &[FieldValue], site: u32) {
        self.needs.nodes();
        let library = self.program.library;
        let layout = library.node(node);
        let slots = layout.words();
        let hint = self.function.regs[reg.0 as usize].1.clone();
        let name = self.fresh(&format!("{hint}_slots"));
        let site = self.site(site);
        self.line(&format!(
            "union lam_slot *const {name} = lam_node(ctx, {slots}, {tag}); // {}:{tag}",
            identifier(&layout.name)
        ));
        let missing = |bytes: &str| format!("return lam_no_node(ctx, results, {site}, {bytes});");
        self.line(&format!("if (unlikely(!{name})) {}", missing(&(8 * slots).to_string())));
        for (part, field) in parts.iter().zip(0..) {
            let id = FieldId { node, tag, field };
            let slot = format!("{name}[{}]", library.word(id));
            match part {
                FieldValue::Scalar(value) => {
                    let value = self.operand(*value).text;
                    self.line(&format!("{slot}.{} = {value};", member(library.field(id).elem)));
                }
                FieldValue::Array(buf, len) if self.facts.taken.contains(&(reg, field)) => {
                    let (buf, len) = (self.buf(*buf), self.operand(*len).text);
                    self.line(&format!("lam_take(&{slot}, {buf}, {len});"));
                }
                FieldValue::Array(buf, len) => {
                    let (buf, len) = (self.buf(*buf), self.operand(*len).text);
                    let size = self.memory_size(library.field(id).elem);
                    self.line(&format!(
                        "if (unlikely(!lam_keep(ctx, &{slot}, {buf}, {len}, {size}))) {}",
                        missing(&format!("lam_count({len}, {size})"))
                    ));
                }
            }
        }
        self.declare_one(crate::function::Waiting {
            reg,
            value: Text::atom(format!("(int64_t)(uintptr_t){name}")),
        });
    }

    pub fn open(&mut self, buf: Buf, id: FieldId, of: Operand, dims: &[Operand]) {
        self.needs.nodes();
        let library = self.program.library;
        let (tag, slot, field) = (id.tag, library.word(id), library.field(id));
        let of = self.operand(of).text;
        let len = self.count(dims);
        let pointer = self.pointer(buf, "");
        if field.array {
            let size = self.memory_size(field.elem);
            self.line(&format!("{pointer} = lam_array(ctx, {of}, {tag}, {slot}, {len}, {size});"));
        } else {
            self.line(&format!("{pointer} = lam_cell(ctx, {of}, {tag}, {slot});"));
        }
        self.is_there(buf);
    }

    pub fn tag(&mut self, node: Operand) -> Text {
        self.needs.nodes();
        let node = self.operand(node);
        Text::atom(format!("lam_tag({})", node.text)).reading(&[node])
    }

    pub fn field(&mut self, id: FieldId, node: Operand) -> Text {
        self.needs.nodes();
        let library = self.program.library;
        let (slot, member) = (library.word(id), member(library.field(id).elem));
        let node = self.operand(node);
        Text::new(format!("lam_{member}({}, {slot})", node.text), Level::Atom).reading(&[node])
    }
}

/// The member of a slot that holds a scalar.
fn member(elem: ScalarTy) -> &'static str {
    match elem {
        ScalarTy::Real => "real",
        ScalarTy::Int | ScalarTy::Bool => "integer",
    }
}
