//! Drawn programs as cases of the oracle matrix.

use std::sync::Arc;

use lambada::{Disk, Inputs, Operator, Options, Precision, Raw, Session};
use lambada_source::FileId;

use crate::oracle::Case;

/// The definition `f` of a text, at arguments in JSON.
pub fn case(text: &str, args: &[String]) -> Result<Case, String> {
    case_with(Precision::F64, text, args)
}

/// The definition `f` of a text, at arguments in JSON, with reals of this precision.
pub fn case_with(precision: Precision, text: &str, args: &[String]) -> Result<Case, String> {
    let options = Options { precision, ..Options::default() };
    let mut session = Session::with(Arc::new(Disk), options);
    let unit = session.load_text("drawn.lam", text, None).map_err(|p| session.render(&p, false))?;
    let call = unit.call("f", Operator::Value, None).map_err(|p| session.render(&p, false))?;
    let mut inputs = Inputs::new();
    for (name, value) in call.parameters().iter().zip(args) {
        let value: serde_json::Value =
            serde_json::from_str(value).map_err(|e| format!("{value}: {e}"))?;
        inputs.insert(&**name, Raw::Json(value.into()), "the draw");
    }
    let args = call.arguments(&inputs).map_err(|p| session.render(&p, false))?;
    Case::new(&unit, "f", args)
}

/// The derivative of `norm`, `logsumexp` and the like of no elements has a zero and an infinity to
/// multiply; as the book's page on special values says, engines may then give NaN or a number.
pub fn of_nothing(args: &[String], complaint: &str) -> bool {
    args.iter().any(|arg| arg.contains("[]"))
        && (complaint.contains("jvp") || complaint.contains("vjp"))
        && (complaint.ends_with(" nan differ") || complaint.contains(": nan and "))
}

/// The canonical layout of a text, which is a fixpoint of the formatter and means the same: its
/// core prints alike.
pub fn canonical(text: &str) -> Result<String, String> {
    let format = |text: &str| {
        lambada_surface::format(text, FileId(0)).map_err(|p| format!("no tree: {p:?}"))
    };
    let out = format(text)?;
    if format(&out)? != out {
        return Err(format!("the formatter changes what it has written:\n{out}"));
    }
    let core = |text: &str| {
        let mut session = Session::new();
        let unit =
            session.load_text("drawn.lam", text, None).map_err(|p| session.render(&p, false))?;
        let (program, _) = unit.definition("f").map_err(|p| session.render(&p, false))?;
        Ok::<_, String>(lambada_core::print_program(&program))
    };
    let (written, formatted) = (core(text)?, core(&out)?);
    if written != formatted {
        let other = written.lines().zip(formatted.lines()).find(|(a, b)| a != b);
        return Err(format!("formatted, it means something else: {other:?}\n{out}"));
    }
    Ok(out)
}
