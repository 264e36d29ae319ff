//! A definition or a derivative, run once on inputs; inputs to begin with.

use std::rc::Rc;

use lambada_compare::Random;
use lambada_core::data::Data;
use lambada_source::{Problem, stack};

use crate::bench::Stopped;
use crate::operators::{self, Operator};
use crate::session::label;
use crate::vectors::{reals, with_reals};
use crate::{Call, Executable, Inputs, Parameter, Type, Unit, verify};

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The value of the definition.
    pub value: Data,
    /// The derivative, by the names of the parameters if there are several; `None` for
    /// [`Operator::Value`].
    pub derivative: Option<Data>,
    /// The parameters to differentiate with respect to.
    pub wrt: Vec<Rc<str>>,
}

/// Digits behind the point of drawn reals, which people read.
const HUNDREDTHS: f64 = 100.0;

/// Range of drawn reals: positive, because many parameters are.
const DRAWN: std::ops::Range<f64> = 0.2..1.8;

/// Runs a definition, or a derivative that takes only its arguments: [`Operator::Grad`],
/// [`Operator::Jacobian`], [`Operator::Hessian`].
///
/// # Errors
/// Problems of the request and of the inputs, and failures of the program.
pub fn answer(
    unit: &Unit,
    entry: &str,
    operator: Operator,
    wrt: Option<&[String]>,
    inputs: &Inputs,
) -> Result<Answer, Stopped> {
    let call = unit.call_at(entry, operator, wrt, inputs)?;
    let args = call.arguments(inputs)?;
    let wrt = call.wrt_names();
    let options = unit.options.for_run(&args);
    let result = Executable::with(call.program, call.entry, &options)?.run(&args)?;
    let (value, derivative) = match (operator, result) {
        (Operator::Value, value) => (value, None),
        (_, Data::Tuple(pair)) if pair.len() == 2 => {
            let mut pair = pair.into_iter();
            let (value, derivative) = (pair.next(), pair.next());
            let value = value.unwrap_or_else(|| Data::Tuple(Vec::new()));
            (value, derivative.map(|derivative| label(operator, &wrt, derivative)))
        }
        (_, value) => (value, None),
    };
    Ok(Answer { value, derivative, wrt })
}

/// The parameters of a definition that can be run, and the type of its result, if its signature
/// lists all parameters that it takes.
///
/// # Errors
/// No definition has the name, or it cannot be run because it takes functions or its type is
/// ambiguous.
pub fn signature(unit: &Unit, entry: &str) -> Result<(Vec<Parameter>, Option<Type>), Vec<Problem>> {
    let call = unit.call(entry, Operator::Value, None)?;
    Ok((call.typed_parameters(), call.result()))
}

/// Values of the parameters to begin with, in their order. The sizes fit each other, integers are
/// small, and reals are numbers of two digits.
///
/// # Errors
/// As [`signature`].
pub fn drawn_arguments(unit: &Unit, entry: &str) -> Result<Vec<Data>, Vec<Problem>> {
    let call = unit.call(entry, Operator::Value, None)?;
    let drawn = || verify::draw(&call.program, call.signature(), &mut Random(1), DRAWN);
    Ok(stack::roomy(drawn).iter().map(rounded).collect())
}

impl Call {
    /// The parameters, with their types.
    pub(crate) fn typed_parameters(&self) -> Vec<Parameter> {
        let params = self.signature().params.iter();
        let parameter = params.map(|(name, ty)| Parameter {
            name: (&**name).into(),
            ty: Type::of(&self.program, ty),
            is_real: operators::carries_derivative(&self.program, ty),
        });
        parameter.collect()
    }

    /// The type of the result, if the signature lists all parameters.
    pub(crate) fn result(&self) -> Option<Type> {
        self.signature().result.as_ref().map(|ty| Type::of(&self.program, ty))
    }
}

fn rounded(data: &Data) -> Data {
    let rounded = |x: f64| (x * HUNDREDTHS).round() / HUNDREDTHS;
    let mut reals = reals(data).into_iter().map(rounded);
    with_reals(data, &mut || reals.next().unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::{answer, drawn_arguments, signature};
    use crate::{Inputs, Operator, Session, to_json};

    #[test]
    fn drawn_arguments_fit_each_other_and_run() {
        let text = "def loss [n] (w : [n]real) (x : [n]real) (k : int) : real = k * sum (w * x)";
        let unit = Session::new().load_text("loss.lam", text, None).unwrap();
        let args = drawn_arguments(&unit, "loss").unwrap();
        let (parameters, result) = signature(&unit, "loss").unwrap();
        assert_eq!(result.map(|ty| ty.to_string()).as_deref(), Some("real"));
        let mut inputs = Inputs::new();
        for (parameter, value) in parameters.iter().zip(&args) {
            inputs.read_argument(&format!("{}={}", parameter.name, to_json(value))).unwrap();
        }
        let answer = answer(&unit, "loss", Operator::Grad, None, &inputs).unwrap();
        assert_eq!(answer.wrt.len(), 2);
        assert!(answer.derivative.is_some(), "{answer:?}");
    }
}
