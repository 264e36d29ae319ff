//! The interface for build scripts: compiles definitions of a program into a Rust module.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lambada::{Disk, Operator, Options, Precision, Session};
use lambada_source::Problem;

use super::library::library;
use super::names::name_of;
use super::package::write_static;
use super::request::{Entry, Platform, Request};
use super::rust::rust_module;

/// A program to compile into the program that uses it.
#[derive(Clone, Debug)]
pub struct Model {
    file: PathBuf,
    name: String,
    entries: Vec<Entry>,
    native: bool,
    precision: Precision,
    folder: Option<PathBuf>,
}

/// Why a model cannot be compiled, as the command prints it.
#[derive(Clone)]
pub struct Error(String);

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// As `Display`, because a failing build script prints this.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\n{self}")
    }
}

impl std::error::Error for Error {}

impl Model {
    /// The program in a file; the path is relative to the package.
    pub fn new(file: impl AsRef<Path>) -> Model {
        let file = file.as_ref().to_path_buf();
        let name = name_of(&file);
        let precision = Precision::default();
        Model { file, name, entries: Vec::new(), native: false, precision, folder: None }
    }

    /// Sets the name of the module [default: the name of the file].
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Model {
        Model { name: name.into(), ..self }
    }

    /// Adds a definition.
    #[must_use]
    pub fn entry(mut self, name: &str) -> Model {
        self.own(name);
        self
    }

    /// Adds `NAME_grad`: value and gradient by `wrt` [default: all parameters that hold reals].
    #[must_use]
    pub fn grad(self, name: &str, wrt: &[&str]) -> Model {
        self.derive(name, Operator::Grad, wrt)
    }

    /// Adds `NAME_jvp`: value and tangent, for tangents of the parameters in `wrt`.
    #[must_use]
    pub fn jvp(self, name: &str, wrt: &[&str]) -> Model {
        self.derive(name, Operator::Jvp, wrt)
    }

    /// Adds `NAME_vjp`: value and cotangents of the parameters in `wrt`, for a cotangent of the
    /// value.
    #[must_use]
    pub fn vjp(self, name: &str, wrt: &[&str]) -> Model {
        self.derive(name, Operator::Vjp, wrt)
    }

    /// Whether to compile for the build machine only [default: for all processors of the
    /// architecture, in versions for vectors of 128, 256 and 512 bits, of which the widest
    /// supported one runs].
    #[must_use]
    pub fn native(self, native: bool) -> Model {
        Model { native, ..self }
    }

    /// Sets the width of reals. With [`Precision::F32`], functions take and return arrays of `f32`.
    #[must_use]
    pub fn precision(self, precision: Precision) -> Model {
        Model { precision, ..self }
    }

    /// Sets the folder for the files [default: Cargo's output folder of the build script].
    #[must_use]
    pub fn output(self, folder: impl Into<PathBuf>) -> Model {
        Model { folder: Some(folder.into()), ..self }
    }

    fn own(&mut self, name: &str) -> &mut Entry {
        let place = self.entries.iter().position(|entry| entry.name == name).unwrap_or_else(|| {
            self.entries.push(Entry::new(name));
            self.entries.len() - 1
        });
        &mut self.entries[place]
    }

    fn derive(mut self, name: &str, operator: Operator, wrt: &[&str]) -> Model {
        let names = (!wrt.is_empty()).then(|| wrt.iter().map(|name| name.to_string()).collect());
        self.own(name).derive(operator, names);
        self
    }

    /// Compiles the library, writes the module, and prints Cargo's instructions for both.
    ///
    /// # Errors
    /// Problems of the program, or a missing C compiler.
    pub fn compile(self) -> Result<(), Error> {
        let folder = self.folder.clone().or_else(|| std::env::var_os("OUT_DIR").map(PathBuf::from));
        let folder = folder.unwrap_or_else(|| PathBuf::from("."));
        let options = Options { precision: self.precision, ..Options::default() };
        let mut session = Session::with(Arc::new(Disk), options);
        println!("cargo:rerun-if-changed={}", self.file.display());
        let result = self.made(&mut session, &folder);
        result.map_err(|problems| Error(session.render(&problems, false)))?;
        for file in session.sources().files() {
            if Path::new(&file.name).is_file() {
                println!("cargo:rerun-if-changed={}", file.name);
            }
        }
        ["LAMBADA_CC", "CC", "AR"]
            .iter()
            .for_each(|name| println!("cargo:rerun-if-env-changed={name}"));
        println!("cargo:rustc-link-search=native={}", folder.display());
        if cfg!(unix) {
            println!("cargo:rustc-link-lib=m");
        }
        Ok(())
    }

    fn made(&self, session: &mut Session, folder: &Path) -> Result<(), Vec<Problem>> {
        let unit = session.load(&self.file)?;
        if !unit.warnings.is_empty() {
            for line in session.render(&unit.warnings, false).lines() {
                println!("cargo:warning={line}");
            }
        }
        let (name, entries) = (self.name.clone(), self.entries.clone());
        let platform = if self.native { Platform::Native } else { Platform::Portable };
        let request = Request { name, entries, platform };
        let sources = library(session, &unit, &self.file.display().to_string(), &request)?;
        let text = rust_module(&sources.library);
        write_static(&sources, folder).map_err(|problem| vec![problem])?;
        let place = folder.join(format!("{}.rs", self.name));
        std::fs::write(&place, text)
            .map_err(|error| vec![super::messages::not_written(&place, &error)])
    }
}
