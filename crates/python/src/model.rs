//! Programs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lambada::InMemory;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::errors::problems;
use crate::options;
use crate::running::watched;

/// A checked program, the base class of the package's `Model`.
#[pyclass(subclass, frozen, module = "lambada._lambada")]
pub(crate) struct Model {
    pub model: lambada::Model,
}

/// The name of a program, whether it is a file, and all its texts by path.
type Texts = (String, bool, Vec<(String, String)>);

#[pymethods]
impl Model {
    /// Reads and checks a file and all that it imports.
    #[staticmethod]
    fn _load(py: Python<'_>, path: PathBuf, options: &Bound<'_, PyDict>) -> PyResult<Model> {
        let builder = lambada::Model::builder().options(options::read(options)?);
        let model = watched(py, (), move || builder.load(path))?;
        Ok(Model { model })
    }

    /// Checks a text; `imports` are the texts that it can import, by name.
    #[staticmethod]
    fn _compile(
        py: Python<'_>,
        source: &str,
        name: &str,
        imports: Vec<(String, String)>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Model> {
        let builder = lambada::Model::builder().options(options::read(options)?);
        let builder =
            imports.iter().fold(builder, |builder, (name, text)| builder.import(name, text));
        let (name, source) = (name.to_string(), source.to_string());
        let model = watched(py, (), move || builder.compile(&name, &source))?;
        Ok(Model { model })
    }

    /// Loads a program from its texts.
    #[staticmethod]
    fn _again(
        py: Python<'_>,
        texts: Texts,
        source: &str,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Model> {
        let (name, is_file, texts) = texts;
        let files =
            texts.iter().fold(InMemory::new(), |files, (path, text)| files.with(path, text));
        let builder = lambada::Model::builder().options(options::read(options)?);
        let builder = builder.files(Arc::new(files));
        let source = source.to_string();
        let model = watched(py, (), move || match is_file {
            true => builder.load(Path::new(&name)),
            false => builder.compile(&name, &source),
        })?;
        Ok(Model { model })
    }

    /// The texts of the program, which `_again` takes.
    fn _texts(&self) -> Texts {
        let text = |(path, text): (&Path, &str)| (path.display().to_string(), text.to_string());
        let files = self.model.files().iter().map(text).collect();
        (self.model.name(), self.model.is_file(), files)
    }

    /// The text of its own file.
    #[getter]
    fn source(&self) -> String {
        self.model.source()
    }

    /// The name of its file.
    #[getter]
    fn name(&self) -> String {
        self.model.name()
    }

    /// Its warnings.
    #[getter]
    fn problems<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        problems(py, self.model.warnings())
    }

    /// Its definitions: name, type, doc comment, whether it takes parameters.
    #[getter]
    fn _definitions(&self) -> Vec<(String, String, Option<String>, bool)> {
        let definitions = self.model.definitions().iter();
        definitions
            .map(|def| (def.name.clone(), def.scheme.clone(), def.doc.clone(), def.is_function))
            .collect()
    }
}
