//! Programs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lambada::InMemory;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::errors::problems;
use crate::options;
use crate::running::watched;

/// A checked program. The package's `Model` is made of it.
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

    /// Checks a text; `imports` are texts by the names under which it imports them.
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

    /// Makes a program again from its texts.
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

    /// What makes it again.
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

    /// What its file is called.
    #[getter]
    fn name(&self) -> String {
        self.model.name()
    }

    /// What is doubtful but not wrong.
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
