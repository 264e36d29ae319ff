//! A definition, and its derivatives, along a range of one of its parameters.

use std::rc::Rc;

use lambada_core::data::Data;
use lambada_core::{DefId, Program, SizedTy, Ty};
use lambada_prim::ScalarTy;
use lambada_source::{Failure, Problem};

use crate::data::{self, names_match, split_assignment};
use crate::messages::{data as inputs, plot as messages};
use crate::numbers::{Kind, lists_of, numbers};
use crate::operators::{self, Operator};
use crate::vectors::{reals, with_reals};
use crate::{Call, Executable, Inputs, Options, Unit};

/// A range that a word of the command line gives a parameter: `x=0..10`, or `0..10` in its place.
#[derive(Clone, Debug)]
pub struct Range {
    /// The word.
    pub word: String,
    /// The number in its place.
    pub number: String,
    /// The name of the parameter, if the word has it.
    name: Option<String>,
    /// Number of words without names before this one.
    place: usize,
    /// The ends, as expressions.
    pub ends: [String; 2],
}

impl Range {
    /// Finds the range among words, and replaces it by a number. There may be none.
    ///
    /// # Errors
    /// E0667, if there are two.
    pub fn take(words: &mut [String]) -> Result<Option<Range>, Problem> {
        let mut found: Option<Range> = None;
        let mut place = 0;
        for word in words {
            let (name, value) = match split_assignment(word) {
                Some((name, value)) => (Some(name.to_string()), value.to_string()),
                None => (None, word.trim().to_string()),
            };
            // Quotes: a string of JSON.
            if let Some((low, high)) = value.split_once("..").filter(|_| !value.contains('"')) {
                if let Some(first) = &found {
                    return Err(messages::second_range(&first.word, word));
                }
                let ends = [low, high].map(|end| end.trim().to_string());
                let number = name.as_ref().map_or("0".into(), |name| format!("{name}=0"));
                let word = std::mem::replace(word, number.clone());
                found = Some(Range { word, number, name: name.clone(), place, ends });
            }
            place += usize::from(name.is_none());
        }
        Ok(found)
    }

    /// Checks the values of the ends.
    ///
    /// # Errors
    /// E0669 and E0673, if the range is empty or not finite.
    pub fn between(&self, low: f64, high: f64) -> Result<(f64, f64), Problem> {
        for (end, value) in self.ends.iter().zip([low, high]) {
            if !value.is_finite() {
                return Err(self.no_end(end));
            }
        }
        if low < high { Ok((low, high)) } else { Err(messages::empty_range(&self.word, low, high)) }
    }

    /// The problem of an end that is no finite number.
    pub fn no_end(&self, end: &str) -> Problem {
        messages::no_end(&self.word, end)
    }

    /// Index of the parameter.
    fn parameter(&self, definition: &str, names: &[&str]) -> Result<usize, Problem> {
        let origin = format!("the argument `{}`", self.word);
        match &self.name {
            Some(name) => names
                .iter()
                .position(|known| names_match(known, name))
                .ok_or_else(|| inputs::unknown(definition, name, &origin, names)),
            None if self.place < names.len() => Ok(self.place),
            None => Err(inputs::too_many(definition, &origin, names)),
        }
    }
}

/// A request for derivatives.
#[derive(Clone, Copy, Debug)]
pub struct Slopes<'a> {
    /// The parameters to differentiate with respect to [default: that of the range; without a
    /// range, all that hold reals].
    pub wrt: Option<&'a [String]>,
    /// By gradients of a real result, instead of tangents.
    pub reverse: bool,
}

/// A request for evaluation along a range.
#[derive(Clone, Copy)]
pub struct Along<'a> {
    /// The definition.
    pub definition: &'a str,
    /// Its name in messages and curves.
    pub name: &'a str,
    /// The range with its ends.
    pub range: Option<(&'a Range, (f64, f64))>,
    /// Values of the parameters; the range's word stands as a number among them
    /// ([`Range::take`]).
    pub inputs: &'a Inputs,
    /// Derivatives.
    pub slopes: Option<Slopes<'a>>,
}

/// A definition that can be evaluated at all points of a range, with its derivatives.
pub struct Sweep {
    /// Name of the definition.
    name: String,
    /// Index of the parameter, and its name.
    parameter: Option<(usize, Rc<str>)>,
    /// Whether the parameter is an integer.
    whole: bool,
    /// The parameters that are numbers.
    numbers: Vec<String>,
    value: Evaluated,
    slopes: Vec<Evaluated>,
    /// Whether the derivatives are gradients.
    reverse: bool,
}

/// A function with its arguments, and the second component of its result, if that is a derivative.
struct Evaluated {
    executable: Rc<Executable>,
    args: Vec<Data>,
    /// The parameters of a gradient; the number that a tangent is of: `w[2]`.
    wrt: Vec<String>,
}

/// Values and derivatives, each with its name: at a point, or along an index.
#[derive(Clone, Debug, PartialEq)]
pub struct Swept<T> {
    /// The values.
    pub values: Vec<(String, T)>,
    /// The derivatives; `None` unless requested.
    pub slopes: Option<Vec<(String, T)>>,
}

impl<T> Swept<T> {
    /// The values, and the derivatives if there are any.
    pub fn panels(self) -> Vec<Vec<(String, T)>> {
        let slopes = self.slopes.filter(|slopes| !slopes.is_empty());
        std::iter::once(self.values).chain(slopes).collect()
    }
}

impl Sweep {
    /// Prepares a definition for evaluation along a range. `options` depend on the arguments.
    ///
    /// # Errors
    /// Problems of the request and of the inputs.
    pub fn new(
        unit: &Unit,
        what: &Along,
        options: impl Fn(&[Data]) -> Options,
    ) -> Result<Sweep, Vec<Problem>> {
        let Along { definition, name, range, inputs, slopes } = *what;
        let call = unit.call_at(definition, Operator::Value, None, inputs)?;
        let parameter = match range {
            Some((range, ends)) => Some(parameter(&call, range, ends).map_err(|p| vec![p])?),
            None => None,
        };
        let whole = parameter.as_ref().is_some_and(|(_, _, whole)| *whole);
        let parameter = parameter.map(|(place, name, _)| (place, name));
        drawable(&call.program, call.entry, name).map_err(|p| vec![p])?;
        let is_real = operators::split(call.program.def(call.entry)).1 == Ty::REAL;
        let args = call.arguments(inputs)?;
        let numbers = number_names(&call).into_iter().map(str::to_string).collect();
        let value = Evaluated::new(call, args.clone(), Vec::new(), &options(&args))?;
        let mut sweep = Sweep {
            name: name.into(),
            parameter,
            whole,
            numbers,
            value,
            slopes: Vec::new(),
            reverse: slopes.is_some_and(|slopes| slopes.reverse),
        };
        let Some(request) = slopes else { return Ok(sweep) };
        if request.reverse && !is_real {
            return Err(vec![messages::no_reverse(name)]);
        }
        let own = sweep.parameter.as_ref().map(|(_, name)| vec![name.to_string()]);
        let wrt = request.wrt.map(<[String]>::to_vec).or(own);
        let options = options(&args);
        sweep.slopes = match request.reverse {
            true => vec![Sweep::gradient(unit, definition, wrt, inputs, &options)?],
            false => Sweep::tangents(unit, definition, wrt, inputs, &options)?,
        };
        Ok(sweep)
    }

    fn gradient(
        unit: &Unit,
        definition: &str,
        wrt: Option<Vec<String>>,
        inputs: &Inputs,
        options: &Options,
    ) -> Result<Evaluated, Vec<Problem>> {
        let call = unit.call_at(definition, Operator::Grad, wrt.as_deref(), inputs)?;
        let args = call.arguments(inputs)?;
        let names = call.wrt_names().iter().map(ToString::to_string).collect();
        Evaluated::new(call, args, names, options)
    }

    /// A tangent for each real of the parameters.
    fn tangents(
        unit: &Unit,
        definition: &str,
        wrt: Option<Vec<String>>,
        inputs: &Inputs,
        options: &Options,
    ) -> Result<Vec<Evaluated>, Vec<Problem>> {
        let call = unit.call_at(definition, Operator::Jvp, wrt.as_deref(), inputs)?;
        let args = call.arguments(inputs)?;
        let (names, point) = (call.wrt_names(), call.point(&args));
        let executable = Rc::new(Executable::with(call.program, call.entry, options)?);
        let mut all = Vec::new();
        for (k, name) in names.iter().enumerate() {
            for (real, (place, _)) in numbers(&point[k], Kind::Reals).iter().enumerate() {
                let mut tangents: Vec<Data> =
                    point.iter().map(|part| with_unit(part, None)).collect();
                tangents[k] = with_unit(&point[k], Some(real));
                let tangent = match tangents.len() {
                    1 => tangents.remove(0),
                    _ => Data::Tuple(tangents),
                };
                let args = args.iter().cloned().chain([tangent]).collect();
                let wrt = vec![format!("{name}{place}")];
                all.push(Evaluated { executable: executable.clone(), args, wrt });
            }
        }
        Ok(all)
    }
}

/// A tangent: one at a real, zero elsewhere.
fn with_unit(point: &Data, real: Option<usize>) -> Data {
    let count = reals(point).len();
    let mut ones = (0..count).map(|k| f64::from(Some(k) == real));
    with_reals(point, &mut || ones.next().unwrap_or(0.0))
}

/// The parameter of a range: its index and name, and whether it is an integer.
fn parameter(
    call: &Call,
    range: &Range,
    (low, high): (f64, f64),
) -> Result<(usize, Rc<str>, bool), Problem> {
    let (definition, params) = (call.name(), &call.signature().params);
    let names: Vec<&str> = params.iter().map(|(name, _)| &**name).collect();
    let place = range.parameter(definition, &names)?;
    let (name, ty) = &params[place];
    match ty {
        SizedTy::Scalar(ScalarTy::Real) => Ok((place, name.clone(), false)),
        SizedTy::Scalar(ScalarTy::Int) => {
            match [low, high].into_iter().find(|end| end.fract() != 0.0) {
                Some(end) => Err(messages::no_integer(name, &range.word, end)),
                None => Ok((place, name.clone(), true)),
            }
        }
        ty => {
            let ty = data::print_type(&call.program, ty);
            Err(messages::range_of(definition, name, &ty, &range.word, &number_names(call)))
        }
    }
}

/// The parameters that are reals or integers.
fn number_names(call: &Call) -> Vec<&str> {
    let number = |ty: &SizedTy| {
        *ty == SizedTy::Scalar(ScalarTy::Real) || *ty == SizedTy::Scalar(ScalarTy::Int)
    };
    let params = call.signature().params.iter().filter(|(_, ty)| number(ty));
    params.map(|(name, _)| &**name).collect()
}

/// Checks that the result consists of numbers.
fn drawable(program: &Program, entry: DefId, definition: &str) -> Result<(), Problem> {
    fn numeric(ty: &Ty) -> bool {
        match ty {
            Ty::Scalar(_) => true,
            Ty::Tuple(items) => items.iter().all(numeric),
            Ty::Record(fields) => fields.iter().all(|(_, ty)| numeric(ty)),
            Ty::Array(elem) => numeric(elem),
            Ty::Fun(..) | Ty::Variant(_) => false,
        }
    }
    let (_, result) = operators::split(program.def(entry));
    if numeric(&result) {
        return Ok(());
    }
    let ty = data::print_type(program, &data::unsized_ty(&result));
    Err(messages::no_numbers(definition, &ty))
}

impl Evaluated {
    fn new(
        call: Call,
        args: Vec<Data>,
        wrt: Vec<String>,
        options: &Options,
    ) -> Result<Evaluated, Vec<Problem>> {
        let executable = Executable::with(call.program, call.entry, options)?;
        Ok(Evaluated { executable: Rc::new(executable), args, wrt })
    }

    /// The result with another argument.
    fn run(&self, change: Option<(usize, Data)>) -> Result<Data, Failure> {
        match change {
            None => self.executable.run(&self.args),
            Some((place, x)) => {
                let mut args = self.args.clone();
                args[place] = x;
                self.executable.run(&args)
            }
        }
    }

    /// The derivatives in a result, each with its parameter. A tangent is one, a gradient has one
    /// for each parameter.
    fn slopes(&self, result: Data) -> Vec<(String, Data)> {
        let Data::Tuple(mut pair) = result else { return Vec::new() };
        match (pair.pop(), &self.wrt[..]) {
            (Some(derivative), [one]) => vec![(one.clone(), derivative)],
            (Some(Data::Tuple(items)), names) => names.iter().cloned().zip(items).collect(),
            _ => Vec::new(),
        }
    }
}

impl Sweep {
    /// Name of the parameter of the range.
    pub fn parameter(&self) -> Option<&str> {
        self.parameter.as_ref().map(|(_, name)| &**name)
    }

    /// Whether the parameter of the range is an integer.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// Whether derivatives are requested.
    pub fn draws_slopes(&self) -> bool {
        !self.slopes.is_empty()
    }

    /// The numbers of the result and of its derivatives at a point of the range.
    ///
    /// # Errors
    /// Failures of the program at this point.
    pub fn at(&self, x: f64) -> Result<Swept<f64>, Failure> {
        let (place, _) = self.parameter.as_ref().expect("there is a range");
        let x: Data = if self.whole { (x as i64).into() } else { x.into() };
        self.swept(Some((*place, x)), numbers)
    }

    /// The lists of the result and of its derivatives, without a range.
    ///
    /// # Errors
    /// Failures of the program.
    pub fn lists(&self) -> Result<Swept<Vec<f64>>, Failure> {
        self.swept(None, lists_of)
    }

    /// The problem of a result without lists.
    pub fn no_range(&self) -> Problem {
        messages::no_range(&self.name, self.numbers.first().map(String::as_str))
    }

    /// Checks a picture by its number of panels, and by whether any point is visible.
    ///
    /// # Errors
    /// No point is visible, or derivatives are requested of a result without reals.
    pub fn judge(&self, panels: usize, is_visible: bool) -> Result<(), Problem> {
        match (self.draws_slopes() && panels < 2, is_visible) {
            (true, _) => Err(messages::no_slope(&self.name)),
            (false, false) => Err(messages::nothing_visible(&self.name)),
            (false, true) => Ok(()),
        }
    }

    fn swept<T>(
        &self,
        change: Option<(usize, Data)>,
        take: impl Fn(&Data, Kind) -> Vec<(String, T)>,
    ) -> Result<Swept<T>, Failure> {
        let name = &self.name;
        let values = take(&self.value.run(change.clone())?, Kind::All);
        let values = values.into_iter().map(|(place, x)| (format!("{name}{place}"), x)).collect();
        let mut slopes = Vec::new();
        for evaluated in &self.slopes {
            for (wrt, derivative) in evaluated.slopes(evaluated.run(change.clone())?) {
                // A tangent has places of the result, a gradient those of the parameter.
                let named = |place: String| match self.reverse {
                    true => format!("d {name}/d {wrt}{place}"),
                    false => format!("d {name}{place}/d {wrt}"),
                };
                let all = take(&derivative, Kind::Reals).into_iter();
                slopes.extend(all.map(|(place, x)| (named(place), x)));
            }
        }
        Ok(Swept { values, slopes: (!self.slopes.is_empty()).then_some(slopes) })
    }
}
