//! The library of a kernel: the names and types of its functions in C.

use lambada_loops::{Buf, Function, Library, Param, Return, Ty, identifier};

use crate::lanes::{memory_type, register_type};

/// The library of a kernel, with the names of its functions in C.
pub(crate) struct Program<'a> {
    pub library: &'a Library,
    pub names: Vec<String>,
}

impl<'a> Program<'a> {
    pub fn of(function: &'a Function, kernel: &str) -> Program<'a> {
        let library = &function.library;
        // No local variable begins like this.
        let name =
            |(k, f): (usize, &Function)| format!("lam_fn_{k}_{}_of_{kernel}", identifier(&f.name));
        let names = library.functions.iter().enumerate().map(name).collect();
        Program { library, names }
    }

    /// Prototypes, because functions may call later ones.
    pub fn declarations(&self) -> String {
        let mut out = String::new();
        for (name, function) in self.names.iter().zip(&self.library.functions) {
            let params = function.params.iter().map(|param| param_type(function, *param));
            let results = function.results.iter().map(|result| result_type(function, result));
            let types: String = params.chain(results).map(|ty| format!(", {ty}")).collect();
            out += &format!(
                "static int {name}(struct lambada_context *, union lambada_word *{types});\n"
            );
        }
        if out.is_empty() { out } else { out + "\n" }
    }
}

fn param_type(function: &Function, param: Param) -> String {
    let elem = |buf: Buf| memory_type(function.precision, function.bufs[buf.0 as usize].0);
    match param {
        Param::Scalar(reg) => register_type(function.precision, function.regs[reg.0 as usize].0),
        Param::Buffer(buf) => format!("const {} *restrict", elem(buf)),
        Param::Owned(buf) => format!("{} *restrict", elem(buf)),
        Param::Shared(buf) => format!("{} *", elem(buf)),
    }
}

/// `double *`, `double **`
pub(crate) fn result_type(function: &Function, result: &Return) -> String {
    let elem = function.result_elem(result);
    match result {
        Return::Scalar(_) => format!("{} *", register_type(function.precision, Ty::scalar(elem))),
        Return::Buffer(..) => format!("{} **", memory_type(function.precision, elem)),
    }
}
