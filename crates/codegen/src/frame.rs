//! The frame that the parts of a large function share, and the parts; see [`crate::parts`].

use lambada_loops::Names;

use crate::needs::reserved;
use crate::parts::Shared;

/// The fields of the frame, and the functions that use it.
pub(crate) struct Frame {
    /// The kernel, whose name the frame and the parts have in theirs.
    kernel: String,
    names: Names,
    /// The declarations of the fields.
    fields: Vec<String>,
    /// By register and by buffer: its field.
    regs: Vec<Option<String>>,
    bufs: Vec<Option<String>>,
    /// The parts that are finished, inner ones first, and their prototypes.
    functions: Vec<String>,
    prototypes: String,
}

impl Frame {
    pub fn new(kernel: &str, regs: usize, bufs: usize) -> Frame {
        Frame {
            kernel: kernel.to_string(),
            names: Names::new(reserved()),
            fields: Vec::new(),
            regs: vec![None; regs],
            bufs: vec![None; bufs],
            functions: Vec::new(),
            prototypes: String::new(),
        }
    }

    /// The kernel, whose name the frame and the parts have in theirs.
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// A part that is finished.
    pub fn add_function(&mut self, head: &str, text: String) {
        self.functions.push(text);
        self.prototypes += &format!("@declare {head};\n");
    }

    /// A part that is unknown to other shares.
    pub fn add_static(&mut self, head: &str, text: &str) {
        self.functions.push(format!("static __attribute__((noinline)) {text}"));
        self.prototypes += &format!("static {head};\n");
    }

    /// Puts a shared value into a field from now on.
    pub fn hold(&mut self, shared: Shared, field: String) {
        match shared {
            Shared::Reg(reg) => self.regs[reg as usize] = Some(field),
            Shared::Buf(buf) => self.bufs[buf as usize] = Some(field),
        }
    }

    /// The field of a shared value.
    pub fn holder(&self, shared: Shared) -> String {
        let field = match shared {
            Shared::Reg(reg) => &self.regs[reg as usize],
            Shared::Buf(buf) => &self.bufs[buf as usize],
        };
        field.clone().expect("it is in the frame")
    }

    /// A new field, in the form of its mentions.
    pub fn field(&mut self, ty: &str, hint: &str) -> String {
        let name = self.names.fresh(hint);
        self.fields.push(format!("{ty}{name};"));
        format!("frame->{name}")
    }

    /// The struct, and the functions in an order in which they can call each other.
    pub fn text(&self) -> String {
        let fields: String = self.fields.iter().map(|field| format!("    {field}\n")).collect();
        let (prototypes, functions) = (&self.prototypes, self.functions.join("\n"));
        format!("struct {}_frame {{\n{fields}}};\n\n{prototypes}{functions}\n", self.kernel)
    }
}
