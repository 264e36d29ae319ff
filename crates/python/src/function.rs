//! Definitions of a program, callable and differentiable.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use lambada::{Output, Parts, ResultMemory, Shape, Value};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use crate::call::{Given, Interface, Point};
use crate::model::Model;
use crate::names;
use crate::output::Writer;
use crate::places::Places;
use crate::pullback::Pullback;
use crate::running::{Experience, watched};
use crate::shapes::shapes;
use crate::types::{sizes, tree};
use crate::wrt::Wrt;

/// A definition of a program, the base class of the package's `Function`.
#[pyclass(subclass, frozen, module = "lambada._lambada")]
pub(crate) struct Function {
    pub function: lambada::Function,
    /// Derivatives prepared so far.
    prepared: Mutex<Vec<Known>>,
    experience: Arc<Experience>,
    /// Functions for the types that arguments determine, if the definition leaves types open.
    settled: Mutex<HashMap<Vec<Shape>, Arc<Function>>>,
}

/// A prepared derivative: its name, its parameters, itself, and its timing.
type Known = (&'static str, Vec<String>, Box<dyn Any + Send + Sync>, Arc<Experience>);

/// Name and constructor of a derivative. Derivatives of the same Rust type have different names.
type Derive<D> = (&'static str, fn(&lambada::Function, &[&str]) -> Result<D, lambada::Error>);

impl Function {
    fn of(function: lambada::Function) -> Function {
        let (prepared, experience, settled) = Default::default();
        Function { function, prepared, experience, settled }
    }

    /// The function for the types of the arguments; `None` if the definition leaves none open.
    fn at(&self, py: Python<'_>, given: Given<'_, '_>) -> PyResult<Option<Arc<Function>>> {
        if !self.function.is_open() {
            return Ok(None);
        }
        let shapes = shapes(&self.interface().names(), given);
        let kept = || self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = kept().get(&shapes) {
            return Ok(Some(function.clone()));
        }
        let given = shapes.clone();
        let made = self.run(py, move |function| function.at_shapes(&given))?;
        Ok(Some(kept().entry(shapes).or_insert_with(|| Arc::new(Function::of(made))).clone()))
    }

    pub(crate) fn interface(&self) -> Interface<'_> {
        Interface(&self.function)
    }

    /// Runs a long operation.
    fn run<R: Send + 'static>(
        &self,
        py: Python<'_>,
        run: impl FnOnce(&lambada::Function) -> Result<R, lambada::Error> + Send + 'static,
    ) -> PyResult<R> {
        let f = self.function.clone();
        watched(py, (), move || run(&f))
    }

    /// A derivative, compiled on first use.
    fn prepared<D: Clone + Send + Sync + 'static>(
        &self,
        py: Python<'_>,
        wrt: &Wrt,
        (what, derive): Derive<D>,
    ) -> PyResult<(D, Arc<Experience>)> {
        let kept = || self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        for (known, names, made, experience) in kept().iter() {
            if let Some(made) = made.downcast_ref::<D>()
                && *known == what
                && *names == wrt.names
            {
                return Ok((made.clone(), experience.clone()));
            }
        }
        let names = wrt.names.clone();
        let made = self.run(py, move |f| {
            let names: Vec<&str> = names.iter().map(|name| &**name).collect();
            derive(f, &names)
        })?;
        let experience = Arc::<Experience>::default();
        kept().push((what, wrt.names.clone(), Box::new(made.clone()), experience.clone()));
        Ok((made, experience))
    }
}

/// The function with a callable as observer, which receives the message and the value of each
/// `inspect`.
fn inspected(function: &lambada::Function, tell: Py<PyAny>) -> lambada::Function {
    let (variants, precision) =
        (function.variants().to_vec(), function.model().options().precision);
    function.with_observer(Arc::new(move |site, value| {
        Python::try_attach(|py| {
            let writer = Writer { py, variants: &variants, precision };
            let value = writer.value(Value::from(value.clone()), None);
            // A failing observer must not end the call.
            if let Err(error) = value.and_then(|value| tell.call1(py, (&*site.message, value))) {
                error.write_unraisable(py, Some(tell.bind(py)));
            }
        });
    }))
}

/// Destinations of a value and of a derivative for each parameter.
struct WithValue(f64, Places<'static>);

impl Output for WithValue {
    fn receive(&mut self, parts: &mut Parts<'_>) -> Result<(), lambada::Error> {
        self.0.receive(parts)?;
        self.1.receive(parts)
    }

    fn lend<'o>(&'o mut self, memory: &mut ResultMemory<'o>) {
        self.0.lend(memory);
        self.1.lend(memory);
    }
}

#[pymethods]
impl Function {
    #[new]
    #[pyo3(signature = (model, name, tell=None))]
    fn new(
        py: Python<'_>,
        model: &Model,
        name: &str,
        tell: Option<Py<PyAny>>,
    ) -> PyResult<Function> {
        let (model, name) = (model.model.clone(), name.to_string());
        let function = watched(py, (), move || model.function(&name))?;
        let function = match tell {
            Some(tell) => inspected(&function, tell),
            None => function,
        };
        Ok(Function::of(function))
    }

    /// `Function[float]`, for annotations: the type of its results.
    #[classmethod]
    fn __class_getitem__<'py>(
        class: &Bound<'py, PyType>,
        result: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        class.py().import("types")?.getattr("GenericAlias")?.call1((class, result))
    }

    /// Its name.
    #[getter]
    fn __name__(&self) -> &str {
        self.function.name()
    }

    /// Its doc comment.
    #[getter]
    fn _doc(&self) -> Option<&str> {
        self.function.doc()
    }

    /// Its parameters: name, type, and whether it can be differentiated with respect to them.
    #[getter]
    fn _parameters(&self) -> Vec<(String, String, bool)> {
        let parameters = self.function.parameters().iter();
        parameters.map(|p| (p.name.to_string(), p.ty.to_string(), p.is_real)).collect()
    }

    /// The type of its result.
    #[getter]
    fn _result(&self) -> Option<String> {
        self.function.result().map(ToString::to_string)
    }

    /// The type of each parameter, as a tree: `"real"`, `("array", …, size)`,
    /// `("tuple", […])`, `("record", {…})`, `("variant", name)`.
    fn _types<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let types = PyDict::new(py);
        for param in self.function.parameters() {
            types.set_item(&*param.name, tree(py, &param.ty)?)?;
        }
        Ok(types)
    }

    /// The type of its result, as a tree; `None` if it is not known.
    fn _result_type<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.function.result().map(|ty| tree(py, ty)).transpose()
    }

    /// Makes it callable by XLA under a key.
    fn _register(&self, py: Python<'_>, key: &str) -> PyResult<()> {
        self.run(py, lambada::Function::prepare)?;
        crate::xla::register(key, &self.function);
        Ok(())
    }

    /// The sizes of the arrays among parameters and result, as written: `["n", "2 * n"]`.
    fn _sizes(&self) -> (Vec<Option<Vec<String>>>, Option<Vec<String>>) {
        let params = self.function.parameters().iter().map(|param| sizes(&param.ty)).collect();
        (params, self.function.result().and_then(sizes))
    }

    /// Its declaration.
    fn _declaration(&self) -> String {
        self.function.to_string()
    }

    /// Compiles it.
    fn prepare(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py, lambada::Function::prepare)
    }

    /// The engine that runs it.
    #[getter]
    fn engine(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(match self.run(py, lambada::Function::engine)? {
            lambada::Engine::Native => "native",
            lambada::Engine::Jit => "jit",
            lambada::Engine::Loops | lambada::Engine::Anf | lambada::Engine::Core => "interpreter",
        })
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let settled = self.at(py, (args, kwargs))?;
        let this = settled.as_deref().unwrap_or(self);
        let is_own = this.function.parameters().iter().any(|param| &*param.name == "out");
        if let (Some(names), false) = (kwargs, is_own)
            && let Some(out) = names.get_item("out")?
        {
            let names = names.copy()?;
            names.del_item("out")?;
            let point = this.interface().point((args, Some(&names)))?;
            if !out.is_none() {
                let mut places = Places::read(&out, "out", this.function.result())?;
                let Point { args, mut kept, size } = point;
                kept.push(out.clone().unbind());
                let f = this.function.clone();
                let write = move || f.call_into(&args, &mut places).map(|()| places);
                let places = this.experience.run(py, size, kept, write)?;
                return places.filled(&out, this.interface().writer(py));
            }
            return this.called(py, point);
        }
        let point = this.interface().point((args, kwargs))?;
        this.called(py, point)
    }

    /// The value and the gradient of a function whose result is a real.
    #[pyo3(signature = (*args, wrt=None, out=None, **kwargs))]
    fn value_and_grad<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        wrt: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<(f64, Bound<'py, PyAny>)> {
        let settled = self.at(py, (args, kwargs))?;
        let this = settled.as_deref().unwrap_or(self);
        let wrt = Wrt::read(wrt)?;
        let point = this.interface().point((args, kwargs))?;
        let derive: Derive<_> = ("gradient", lambada::Function::value_and_grad);
        let (f, experience) = this.prepared(py, &wrt, derive)?;
        if let Some(out) = out {
            let (interface, names) = (this.interface(), this.interface().chosen(&wrt));
            let ty = |name: &str| interface.type_of(name);
            let places = Places::by_name(out, &names, wrt.alone, ty)?;
            let Point { args, mut kept, size } = point;
            kept.push(out.clone().unbind());
            let WithValue(value, places) = experience.run(py, size, kept, move || {
                let mut both = WithValue(0.0, places);
                f.call_into(&args, &mut both)?;
                Ok(both)
            })?;
            return Ok((value, places.filled_by_name(out, &names, interface.writer(py))?));
        }
        let (value, gradient) =
            experience.run(py, point.size, point.kept, move || f.call(point.args))?;
        Ok((value, this.interface().by_parameter(py, gradient, &wrt)?))
    }

    /// The gradient of a function whose result is a real.
    #[pyo3(signature = (*args, wrt=None, out=None, **kwargs))]
    fn grad<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        wrt: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.value_and_grad(py, args, wrt, out, kwargs)?.1)
    }

    /// The value, and its tangent along tangents of the parameters; those that are missing are
    /// zero.
    #[pyo3(signature = (*args, tangents, **kwargs))]
    fn jvp<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        tangents: &Bound<'py, PyAny>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let settled = self.at(py, (args, kwargs))?;
        let this = settled.as_deref().unwrap_or(self);
        let point = this.interface().point((args, kwargs))?;
        let (names, tangents) = this.interface().tangents(tangents, &Wrt::default(), "tangents")?;
        let wrt = Wrt { names, alone: false };
        let derive: Derive<_> = ("jvp", lambada::Function::jvp);
        let (f, experience) = this.prepared(py, &wrt, derive)?;
        let (value, tangent) =
            experience.run(py, point.size, (point.kept, tangents.kept), move || {
                f.call(point.args, tangents.args)
            })?;
        let (writer, ty) = (this.interface().writer(py), this.function.result());
        Ok((writer.value(value, ty)?, writer.value(tangent, ty)?))
    }

    /// The value, and the pullback from cotangents of it to those of the parameters.
    #[pyo3(signature = (*args, wrt=None, **kwargs))]
    fn vjp<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        wrt: Option<&Bound<'py, PyAny>>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<(Bound<'py, PyAny>, Pullback)> {
        let py = slf.py();
        let settled = slf.get().at(py, (args, kwargs))?;
        let this = settled.as_deref().unwrap_or(slf.get());
        let wrt = Wrt::read(wrt)?;
        let point = this.interface().point((args, kwargs))?;
        let derive: Derive<_> = ("vjp", lambada::Function::vjp);
        let (f, experience) = this.prepared(py, &wrt, derive)?;
        let (value, pullback) =
            experience.run(py, point.size, point.kept, move || f.call(point.args))?;
        let value = this.interface().writer(py).value(value, this.function.result())?;
        Ok((
            value,
            Pullback {
                function: this.function.clone(),
                of: slf.clone().into_any().unbind(),
                pullback,
                wrt,
                experience,
            },
        ))
    }

    /// The Jacobian: the axes of the result, then those of the parameter.
    #[pyo3(signature = (*args, wrt=None, **kwargs))]
    fn jacobian<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        wrt: Option<&Bound<'py, PyAny>>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let settled = self.at(py, (args, kwargs))?;
        let this = settled.as_deref().unwrap_or(self);
        let wrt = Wrt::read(wrt)?;
        let point = this.interface().point((args, kwargs))?;
        let derive: Derive<_> = ("jacobian", lambada::Function::jacobian);
        let (f, experience) = this.prepared(py, &wrt, derive)?;
        let (_, jacobian) =
            experience.run(py, point.size, point.kept, move || f.call(point.args))?;
        this.interface().writer(py).gradient(jacobian, wrt.alone, |_| None)
    }

    /// The Hessian, by pairs of parameters: `h["a"]["b"]`, `h["a", "b"]`.
    #[pyo3(signature = (*args, wrt=None, **kwargs))]
    fn hessian<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        wrt: Option<&Bound<'py, PyAny>>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let settled = self.at(py, (args, kwargs))?;
        let this = settled.as_deref().unwrap_or(self);
        let wrt = Wrt::read(wrt)?;
        let point = this.interface().point((args, kwargs))?;
        let derive: Derive<_> = ("hessian", lambada::Function::hessian);
        let (f, experience) = this.prepared(py, &wrt, derive)?;
        let (_, blocks) = experience.run(py, point.size, point.kept, move || f.call(point.args))?;
        let writer = this.interface().writer(py);
        let rows = PyDict::new(py);
        for (name, row) in blocks.into_rows() {
            let row = writer.gradient(row, wrt.alone, |_| None)?;
            if wrt.alone {
                return Ok(row);
            }
            rows.set_item(&*name, row)?;
        }
        writer.parts(rows)
    }

    /// The Hessian times a tangent, at a few times the cost of the value.
    #[pyo3(signature = (*args, v, wrt=None, **kwargs))]
    fn hvp<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        v: &Bound<'py, PyAny>,
        wrt: Option<&Bound<'py, PyAny>>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let settled = self.at(py, (args, kwargs))?;
        let this = settled.as_deref().unwrap_or(self);
        let wrt = Wrt::read(wrt)?;
        let point = this.interface().point((args, kwargs))?;
        let (_, along) = this.interface().tangents(v, &wrt, "v")?;
        let derive: Derive<_> = ("hvp", lambada::Function::hvp);
        let (f, experience) = this.prepared(py, &wrt, derive)?;
        let gradient = experience.run(py, point.size, (point.kept, along.kept), move || {
            f.call(point.args, along.args)
        })?;
        this.interface().by_parameter(py, gradient, &wrt)
    }

    /// The value and the entries of a sparse matrix: shape, rows, columns, values.
    fn _sparse<'py>(
        &self,
        py: Python<'py>,
        hessian: bool,
        wrt: Option<&Bound<'py, PyAny>>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let settled = self.at(py, (args, kwargs))?;
        let this = settled.as_deref().unwrap_or(self);
        let wrt = Wrt::read(wrt)?;
        let point = this.interface().point((args, kwargs))?;
        let derive: Derive<_> = match hessian {
            true => ("sparse Hessian", lambada::Function::sparse_hessian),
            false => ("sparse Jacobian", lambada::Function::sparse_jacobian),
        };
        let (f, experience) = this.prepared(py, &wrt, derive)?;
        let (_, triplets) =
            experience.run(py, point.size, point.kept, move || f.call(point.args))?;
        let rows = numpy::PyArray1::from_vec(py, triplets.rows);
        let cols = numpy::PyArray1::from_vec(py, triplets.cols);
        let values = numpy::PyArray1::from_vec(py, triplets.values);
        (triplets.shape, rows, cols, values).into_pyobject(py)
    }

    /// Its derivative as source.
    fn _derive(
        &self,
        py: Python<'_>,
        mode: &str,
        wrt: Option<&Bound<'_, PyAny>>,
        stage: &str,
    ) -> PyResult<String> {
        let direction = names::direction(mode)?;
        let stage = names::derivation(stage)?;
        let wrt = Wrt::read(wrt)?;
        self.run(py, move |f| f.derive(direction, &wrt.all(), stage))
    }

    /// The function at a stage of the compiler, as text.
    fn _show(
        &self,
        py: Python<'_>,
        stage: &str,
        of: &str,
        wrt: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let (stage, operator) = (names::stage(stage)?, names::operator(of)?);
        let wrt = Wrt::read(wrt)?;
        self.run(py, move |f| f.show(stage, operator, &wrt.all()))
    }

    /// A table of checks of its derivatives, and the wrong ones.
    #[pyo3(signature = (args, kwargs))]
    fn _verify<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<(String, Vec<String>)> {
        let settled = self.at(py, (args, kwargs))?;
        let this = settled.as_deref().unwrap_or(self);
        let is_given = !args.is_empty() || kwargs.is_some_and(|kwargs| !kwargs.is_empty());
        let point = match is_given {
            true => Some(this.interface().point((args, kwargs))?),
            false => None,
        };
        let (args, kept) = point.map_or_else(Default::default, |point| (point.args, point.kept));
        let f = this.function.clone();
        watched(py, kept, move || {
            let found = f.verify(&args)?;
            let wrong = found.problems().into_iter().map(|problem| problem.title).collect();
            Ok((found.to_string(), wrong))
        })
    }
}

impl Function {
    fn called<'py>(&self, py: Python<'py>, point: Point) -> PyResult<Bound<'py, PyAny>> {
        let value = {
            let f = self.function.clone();
            self.experience.run(py, point.size, point.kept, move || f.call(point.args))?
        };
        self.interface().writer(py).value(value, self.function.result())
    }
}
