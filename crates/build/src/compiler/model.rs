//! What a build script says: which definitions of a program become a module of Rust.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lambada::{Disk, Operator, Options, Precision, Session};
use lambada_source::Problem;

use super::library::library;
use super::names::name_of;
use super::package::write_static;
use super::request::{Entry, Request};
use super::rust::rust_module;

/// A program that is compiled when the program that uses it is built.
#[derive(Clone, Debug)]
pub struct Model {
    file: PathBuf,
    name: String,
    entries: Vec<Entry>,
    native: bool,
    precision: Precision,
    folder: Option<PathBuf>,
}

/// Why a model cannot be compiled; as the command prints it.
#[derive(Clone)]
pub struct Error(String);

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// As `Display`: a build script that fails shows this.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\n{self}")
    }
}

impl std::error::Error for Error {}

impl Model {
    /// The program in a file, whose path is relative to the package.
    pub fn new(file: impl AsRef<Path>) -> Model {
        let file = file.as_ref().to_path_buf();
        let name = name_of(&file);
        let precision = Precision::default();
        Model { file, name, entries: Vec::new(), native: false, precision, folder: None }
    }

    /// Calls the module something else than the file.
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Model {
        Model { name: name.into(), ..self }
    }

    /// Offers a definition.
    #[must_use]
    pub fn entry(mut self, name: &str) -> Model {
        self.own(name);
        self
    }

    /// Offers `NAME_grad`: value and gradient by these parameters, or by all that hold reals if
    /// none is named.
    #[must_use]
    pub fn grad(self, name: &str, wrt: &[&str]) -> Model {
        self.derive(name, Operator::Grad, wrt)
    }

    /// Offers `NAME_jvp`: value and tangent, for tangents of these parameters.
    #[must_use]
    pub fn jvp(self, name: &str, wrt: &[&str]) -> Model {
        self.derive(name, Operator::Jvp, wrt)
    }

    /// Offers `NAME_vjp`: value and cotangents of these parameters, for a cotangent of the value.
    #[must_use]
    pub fn vjp(self, name: &str, wrt: &[&str]) -> Model {
        self.derive(name, Operator::Vjp, wrt)
    }

    /// Makes code for the processor that it is built on only, instead of code for all of the
    /// architecture, which has versions for vectors of 128, 256 and 512 bits and takes the widest
    /// that the processor has.
    #[must_use]
    pub fn native(self, native: bool) -> Model {
        Model { native, ..self }
    }

    /// Computes with reals of so many bits: with [`Precision::F32`], functions take and give arrays
    /// of `f32`.
    #[must_use]
    pub fn precision(self, precision: Precision) -> Model {
        Model { precision, ..self }
    }

    /// Writes the files into this folder, instead of the one that Cargo has for the build script.
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

    /// Compiles the library, writes the module, and tells Cargo about both.
    ///
    /// # Errors
    /// What is wrong with the program, and no C compiler.
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
        let request = Request { name, entries, portable: !self.native };
        let sources = library(session, &unit, &self.file.display().to_string(), &request)?;
        let text = rust_module(&sources.library);
        write_static(&sources, folder).map_err(|problem| vec![problem])?;
        let place = folder.join(format!("{}.rs", self.name));
        std::fs::write(&place, text)
            .map_err(|error| vec![super::messages::not_written(&place, &error)])
    }
}
