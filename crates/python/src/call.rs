//! The arguments of calls by position and name, and tangents by parameter.

use std::collections::HashSet;

use lambada::{Args, Gradient, Type};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::arrays::said;
use crate::input::{Reader, listed};
use crate::output::Writer;
use crate::wrt::Wrt;

/// The arguments of a call, with the objects that they borrow.
pub(crate) struct Point {
    pub args: Args<'static>,
    /// Objects whose memory is borrowed.
    pub kept: Vec<Py<PyAny>>,
    /// Number of elements of the arguments plus the magnitudes of their integers, a measure for the
    /// time of the call.
    pub size: u64,
}

/// Positional and keyword arguments of a derivative method.
pub(crate) type Given<'a, 'py> = (&'a Bound<'py, PyTuple>, Option<&'a Bound<'py, PyDict>>);

/// Conversion of a function's arguments and results.
#[derive(Clone, Copy)]
pub(crate) struct Interface<'f>(pub &'f lambada::Function);

impl<'f> Interface<'f> {
    pub(crate) fn name(self) -> &'f str {
        self.0.name()
    }

    pub(crate) fn names(self) -> Vec<&'f str> {
        self.0.parameters().iter().map(|param| &*param.name).collect()
    }

    /// The arguments of a call, one for each parameter.
    pub(crate) fn point<'py>(self, (args, kwargs): Given<'_, 'py>) -> PyResult<Point> {
        let parameters = self.0.parameters();
        if args.len() > parameters.len() {
            let names = self.names();
            let takes = match names.len() {
                0 => "no arguments".to_string(),
                1 => format!("1 argument, {}", listed(&names)),
                n => format!("{n} arguments, {}", listed(&names)),
            };
            let text = format!("`{}` takes {takes}, but {} were given", self.name(), args.len());
            return Err(PyTypeError::new_err(text));
        }
        let mut values: Vec<Option<Bound<'py, PyAny>>> = args.iter().map(Some).collect();
        values.resize(parameters.len(), None);
        for (name, value) in kwargs.into_iter().flatten() {
            let name = name.cast::<PyString>()?.to_str()?;
            let place = parameters.iter().position(|param| &*param.name == name);
            let place = place.ok_or_else(|| self.no_parameter(name))?;
            if values[place].replace(value).is_some() {
                let text = format!(
                    "`{}` is given its parameter `{name}` twice, by position and by name",
                    self.name()
                );
                return Err(PyTypeError::new_err(text));
            }
        }
        let missing = parameters.iter().zip(&values).filter(|(_, value)| value.is_none());
        let missing: Vec<String> =
            missing.map(|(param, _)| format!("`{} : {}`", param.name, param.ty)).collect();
        if !missing.is_empty() {
            let plural = if missing.len() == 1 { "its parameter" } else { "its parameters" };
            let text =
                format!("`{}` needs a value for {plural} {}", self.name(), missing.join(", "));
            return Err(PyTypeError::new_err(text));
        }
        let mut kept = Vec::new();
        let mut all = Vec::with_capacity(parameters.len());
        let mut size = 0u64;
        for (param, value) in parameters.iter().zip(values.iter().flatten()) {
            let (name, ty, variants) = (&*param.name, &param.ty, self.0.variants());
            let mut reader = Reader { name, ty, variants, kept: &mut kept, inside: HashSet::new() };
            let arg = reader.arg(value)?;
            size = size.saturating_add(arg.extent());
            all.push((None, arg));
        }
        kept.extend(values.into_iter().flatten());
        let kept = kept.into_iter().map(Bound::unbind).collect();
        Ok(Point { args: Args::from(all), kept, size })
    }

    pub(crate) fn no_parameter(self, name: &str) -> PyErr {
        let names = self.names();
        let hint = match lambada::suggest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if names.is_empty() => "it takes no parameters".into(),
            None => format!("its parameters are {}", listed(&names)),
        };
        PyTypeError::new_err(format!("`{}` has no parameter `{name}`; {hint}", self.name()))
    }

    /// The type of a parameter, or of a field: `p.mu`.
    pub(crate) fn type_of(self, path: &str) -> Option<&'f Type> {
        let parameters = self.0.parameters();
        if let Some(param) = parameters.iter().find(|param| *param.name == *path) {
            return Some(&param.ty);
        }
        let (outer, inner) = path.rsplit_once('.')?;
        let Type::Record(fields) = self.type_of(outer)? else { return None };
        fields.iter().find(|(name, _)| **name == *inner).map(|(_, ty)| ty)
    }

    /// The parameters of `wrt`, or all that hold reals.
    pub(crate) fn chosen(self, wrt: &Wrt) -> Vec<String> {
        match wrt.names.is_empty() {
            false => wrt.names.clone(),
            true => {
                let real = self.0.parameters().iter().filter(|param| param.is_real);
                real.map(|param| param.name.to_string()).collect()
            }
        }
    }

    /// Tangents by parameter, or the tangent of the only parameter.
    pub(crate) fn tangents<'py>(
        &self,
        given: &Bound<'py, PyAny>,
        wrt: &Wrt,
        what: &str,
    ) -> PyResult<(Vec<String>, Point)> {
        let chosen = self.chosen(wrt);
        let items: Vec<(String, Bound<'py, PyAny>)> = match given.cast::<PyDict>() {
            Ok(given) => {
                let items = given.iter().map(|(name, value)| Ok((name.extract()?, value)));
                items.collect::<PyResult<_>>()?
            }
            Err(_) => match &chosen[..] {
                [only] => vec![(only.clone(), given.clone())],
                names => {
                    let text = format!(
                        "{what} should be a dict with values for some of {}, but it is {}",
                        listed(names),
                        said(given)
                    );
                    return Err(PyTypeError::new_err(text));
                }
            },
        };
        let mut kept = Vec::new();
        let mut args = Args::new();
        let mut names = Vec::new();
        for (name, value) in items {
            // The tangent of a field is a tangent of its parameter, zero elsewhere.
            let is_field = |known: &String| {
                name.strip_prefix(&**known).is_some_and(|rest| rest.starts_with('.'))
            };
            let is_own = chosen.iter().any(|known| *known == name || is_field(known));
            if !is_own && (!wrt.names.is_empty() || self.type_of(&name).is_none()) {
                let text =
                    format!("{what} has a value for `{name}`, but it is by {}", listed(&chosen));
                return Err(PyValueError::new_err(text));
            }
            let Some(ty) = self.type_of(&name) else { return Err(self.no_parameter(&name)) };
            let called = format!("{what}[{name:?}]");
            let variants = self.0.variants();
            let mut reader =
                Reader { name: &called, ty, variants, kept: &mut kept, inside: HashSet::new() };
            let arg = reader.arg(&value)?;
            kept.push(value);
            args.insert(name.clone(), arg);
            names.push(name);
        }
        let kept = kept.into_iter().map(Bound::unbind).collect();
        Ok((names, Point { args, kept, size: 0 }))
    }

    pub(crate) fn writer<'py>(self, py: Python<'py>) -> Writer<'f, 'py> {
        Writer { py, variants: self.0.variants(), precision: self.0.model().options().precision }
    }

    /// A gradient in the form that `wrt` requests.
    pub(crate) fn by_parameter<'py>(
        self,
        py: Python<'py>,
        gradient: Gradient,
        wrt: &Wrt,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.writer(py).gradient(gradient, wrt.alone, |name| self.type_of(name))
    }
}
