//! Enumerations that Python names by strings.

use lambada::paper::PaperStage;
use lambada::{Derivation, Direction, Operator, Stage};
use pyo3::prelude::*;

use crate::options::unknown;

/// A mode of differentiation.
pub(crate) fn direction(name: &str) -> PyResult<Direction> {
    Ok(match name {
        "forward" => Direction::Forward,
        "reverse" => Direction::Reverse,
        _ => return Err(unknown("mode", name, &["forward", "reverse"])),
    })
}

/// The form of a printed derivative.
pub(crate) fn derivation(name: &str) -> PyResult<Derivation> {
    Ok(match name {
        "simplified" => Derivation::Simplified,
        "combinators" => Derivation::Paper(PaperStage::Combinators),
        "linear" => Derivation::Paper(PaperStage::Linear),
        "applied" => Derivation::Paper(PaperStage::Applied),
        "shared" => Derivation::Paper(PaperStage::Shared),
        _ => {
            return Err(unknown(
                "stage",
                name,
                &["simplified", "combinators", "linear", "applied", "shared"],
            ));
        }
    })
}

/// A stage of the compiler.
pub(crate) fn stage(name: &str) -> PyResult<Stage> {
    Ok(match name {
        "surface" => Stage::Surface,
        "core" => Stage::Core,
        "anf" => Stage::Anf,
        "schedule" => Stage::Schedule,
        "loops" => Stage::Loops,
        "c" => Stage::C,
        _ => {
            return Err(unknown(
                "stage",
                name,
                &["surface", "core", "anf", "schedule", "loops", "c"],
            ));
        }
    })
}

/// The definition or a derivative, for printing.
pub(crate) fn operator(name: &str) -> PyResult<Operator> {
    Ok(match name {
        "value" => Operator::Value,
        "grad" => Operator::Grad,
        "jvp" => Operator::Jvp,
        "vjp" => Operator::Vjp,
        "jacobian" => Operator::Jacobian,
        "hessian" => Operator::Hessian,
        _ => {
            return Err(unknown(
                "derivative",
                name,
                &["value", "grad", "jvp", "vjp", "jacobian", "hessian"],
            ));
        }
    })
}
