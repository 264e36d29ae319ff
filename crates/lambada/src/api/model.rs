//! A checked program, and the functions in it.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use lambada_elaborate::Shape;
use lambada_source::{Problem, Sources};

use super::compiled::{Compiled, Extra};
use super::error::{Diagnostic, Error};
use super::ty::Type;
use crate::data::print_type;
use crate::files::{Disk, Files, InMemory, Recorded};
use crate::{Call, Operator, Options, Session, Sparse, Unit};

/// A checked program. It is cheap to clone and may be used from many threads.
///
/// ```
/// use lambada::{Model, args};
/// use ndarray::{Ix1, array};
///
/// let model = Model::compile("loss.lam", "
///     --| Half the squared distance.
///     def loss [n] (w : [n]real) (x : [n]real) : real = 0.5 * sum ((w - x) * (w - x))")?;
/// let loss = model.function("loss")?;
/// assert_eq!(loss.doc(), Some("Half the squared distance."));
/// assert_eq!(loss.to_string(), "loss (w : [n]real) (x : [n]real) : real");
///
/// let (w, x) = (array![1.0, 2.0], array![0.0, 4.0]);
/// let value: f64 = loss.call(args![&w, x: x.view()])?.try_into()?;
/// let (same, gradient) = loss.value_and_grad(&["w"])?.call(args![&w, &x])?;
/// assert_eq!((value, same), (2.5, 2.5));
/// assert_eq!(gradient.get("w")?.view::<Ix1>(), array![1.0, -2.0]);
/// # Ok::<(), lambada::Error>(())
/// ```
#[derive(Clone)]
pub struct Model(Arc<Loaded>);

struct Loaded {
    main: Main,
    /// The text of every file that was read, so that the program cannot change later.
    files: Arc<InMemory>,
    options: Options,
    sources: Sources,
    definitions: Vec<Definition>,
    warnings: Vec<Diagnostic>,
    compiled: Mutex<HashMap<Task, Arc<Compiled>>>,
}

/// The program's own file.
#[derive(Clone)]
enum Main {
    File(PathBuf),
    Text(String, Arc<str>),
}

/// Key of a compiled program: a definition, or a derivative of it with respect to parameters.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Task {
    pub entry: Arc<str>,
    pub what: What,
    pub wrt: Option<Vec<String>>,
    /// Shapes of arguments that resolve open types; empty if the definition alone determines its
    /// types.
    pub given: Arc<[Shape]>,
}

/// Operation on a definition.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum What {
    Plain(Operator),
    /// Product of the Hessian with a tangent.
    Hvp,
    Sparse(Sparse),
}

/// A definition of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// Its doc comment.
    pub doc: Option<String>,
    /// Its type, with overloads.
    pub scheme: String,
    /// Whether it takes parameters.
    pub is_function: bool,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name; a pattern is printed, as `(a, b)`.
    pub name: Arc<str>,
    /// Its type.
    pub ty: Type,
    /// Whether the function can be differentiated with respect to it.
    pub is_real: bool,
}

/// Options for loading a program.
///
/// ```
/// use lambada::{Model, Options};
///
/// let model = Model::builder()
///     .options(Options { trap_nan: true, ..Options::default() })
///     .import("kernel", "def k (x : real) : real = exp (-x * x)")
///     .compile("main.lam", "import \"kernel\"\ndef twice (x : real) = 2.0 * kernel.k x")?;
/// assert_eq!(model.definitions()[0].name, "twice");
/// # Ok::<(), lambada::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Builder {
    options: Options,
    files: Option<Arc<dyn Files>>,
    imports: InMemory,
}

impl Builder {
    /// Sets the options of the compiler.
    #[must_use]
    pub fn options(self, options: Options) -> Builder {
        Builder { options, ..self }
    }

    /// Sets the file system for the file and its imports [default: the disk for a file, none for a
    /// text].
    #[must_use]
    pub fn files(self, files: Arc<dyn Files>) -> Builder {
        Builder { files: Some(files), ..self }
    }

    /// Adds a module that a text can import: `import "NAME"`.
    #[must_use]
    pub fn import(self, name: &str, source: &str) -> Builder {
        let file = if name.ends_with(".lam") { name.to_string() } else { format!("{name}.lam") };
        Builder { imports: self.imports.with(file, source), ..self }
    }

    /// Reads and checks a file and all that it imports.
    ///
    /// # Errors
    /// The file cannot be read, or the program has mistakes; all are reported.
    pub fn load(self, path: impl AsRef<Path>) -> Result<Model, Error> {
        let main = Main::File(path.as_ref().to_path_buf());
        let files = self.files.unwrap_or_else(|| Arc::new(Disk));
        Model::loaded(main, files, self.options)
    }

    /// Checks a text; messages call it by `name`.
    ///
    /// # Errors
    /// The program has mistakes; all are reported.
    pub fn compile(self, name: &str, source: &str) -> Result<Model, Error> {
        let main = Main::Text(name.to_string(), source.into());
        let files = self.files.unwrap_or_else(|| Arc::new(self.imports));
        Model::loaded(main, files, self.options)
    }
}

impl Model {
    /// Reads and checks a file and all that it imports. The first call of a function compiles it.
    ///
    /// # Errors
    /// The file cannot be read, or the program has mistakes; all are reported.
    pub fn load(path: impl AsRef<Path>) -> Result<Model, Error> {
        Model::builder().load(path)
    }

    /// Checks a text; messages call it by `name`. It can import only modules of the library; see
    /// [`Builder::import`].
    ///
    /// # Errors
    /// The program has mistakes; all are reported.
    pub fn compile(name: &str, source: &str) -> Result<Model, Error> {
        Model::builder().compile(name, source)
    }

    /// A builder with further options for loading.
    pub fn builder() -> Builder {
        Builder::default()
    }

    fn loaded(main: Main, files: Arc<dyn Files>, options: Options) -> Result<Model, Error> {
        let recorded = Arc::new(Recorded::new(files));
        let mut session = Session::with(recorded.clone(), options.clone());
        let unit = main.unit(&mut session);
        let unit = unit.map_err(|problems| Error::program(session.sources(), &problems))?;
        let definition = |def: lambada_elaborate::Definition| Definition {
            name: def.name.to_string(),
            doc: def.doc.map(|doc| doc.to_string()),
            scheme: def.scheme,
            is_function: def.is_function,
        };
        let sources = session.sources().clone();
        let warnings = unit.warnings.iter();
        Ok(Model(Arc::new(Loaded {
            main,
            files: Arc::new(recorded.copy()),
            options,
            definitions: unit.definitions().into_iter().map(definition).collect(),
            warnings: warnings.map(|problem| Diagnostic::of(&sources, problem)).collect(),
            sources,
            compiled: Mutex::default(),
        })))
    }

    /// The definitions of the file, in its order.
    pub fn definitions(&self) -> &[Definition] {
        &self.0.definitions
    }

    /// Warnings.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.0.warnings
    }

    /// The text of the program's own file.
    pub fn source(&self) -> String {
        match &self.0.main {
            Main::File(path) => self.0.files.read(path).unwrap_or_default(),
            Main::Text(_, text) => text.to_string(),
        }
    }

    /// The path of the program's own file, or the name of its text. Together with
    /// [`files`](Model::files) it suffices to load the program elsewhere.
    pub fn name(&self) -> String {
        match &self.0.main {
            Main::File(path) => path.display().to_string(),
            Main::Text(name, _) => name.clone(),
        }
    }

    /// Whether the program was loaded from a file and not from a text.
    pub fn is_file(&self) -> bool {
        matches!(self.0.main, Main::File(_))
    }

    /// The options of the compiler.
    pub fn options(&self) -> &Options {
        &self.0.options
    }

    /// The program loaded with other options.
    ///
    /// # Errors
    /// Only those of loading the program.
    pub fn with_options(&self, options: Options) -> Result<Model, Error> {
        Model::loaded(self.0.main.clone(), self.0.files.clone(), options)
    }

    /// All texts of the program, its own and those of its imports, from which it can be compiled
    /// elsewhere.
    pub fn files(&self) -> &InMemory {
        &self.0.files
    }

    /// Runs `run` on the checked unit. Elaborates the program once more, because syntax trees are
    /// bound to a thread.
    pub(crate) fn with_unit<T>(
        &self,
        run: impl FnOnce(&Unit) -> Result<T, Vec<Problem>>,
    ) -> Result<T, Error> {
        self.with_session(|_, unit| run(unit))
    }

    /// As [`with_unit`](Model::with_unit), with the session that loaded the unit.
    pub(crate) fn with_session<T>(
        &self,
        run: impl FnOnce(&mut Session, &Unit) -> Result<T, Vec<Problem>>,
    ) -> Result<T, Error> {
        let mut session = Session::with(self.0.files.clone(), self.0.options.clone());
        let unit = self.0.main.unit(&mut session);
        let result = unit.and_then(|unit| run(&mut session, &unit));
        result.map_err(|problems| Error::program(session.sources(), &problems))
    }

    /// The compiled program for `task`, from the cache or compiled now.
    pub(crate) fn compiled(&self, task: &Task) -> Result<Arc<Compiled>, Error> {
        let kept = || self.0.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(compiled) = kept().get(task) {
            return Ok(compiled.clone());
        }
        let made = self.with_unit(|unit| {
            let (call, extra) = task.prepare(unit)?;
            Compiled::new(&call, extra, &self.0.sources, &self.0.options)
        })?;
        // Another thread may have compiled the same task meanwhile; the first result is kept.
        Ok(kept().entry(task.clone()).or_insert_with(|| Arc::new(made)).clone())
    }
}

impl Main {
    fn unit(&self, session: &mut Session) -> Result<Unit, Vec<Problem>> {
        match self {
            Main::File(path) => session.load(path),
            Main::Text(name, text) => session.load_text(name, text, None),
        }
    }
}

impl Task {
    /// The program to compile, and its parameters besides the arguments of the definition.
    fn prepare(&self, unit: &Unit) -> Result<(Call, Extra), Vec<Problem>> {
        let (wrt, given) = (self.wrt.as_deref(), &*self.given);
        let tangents = |call: &Call| {
            let typed = call.chosen().iter();
            let typed = typed.map(|(n, ty)| ((&**n).into(), print_type(&call.program, ty)));
            Extra::Tangents(typed.collect())
        };
        Ok(match self.what {
            What::Plain(operator) => {
                let call = unit.call_of(&self.entry, operator, wrt, given)?;
                let extra = match operator {
                    Operator::Jvp => tangents(&call),
                    Operator::Vjp => Extra::Cotangent,
                    Operator::Value | Operator::Grad | Operator::Jacobian | Operator::Hessian => {
                        Extra::None
                    }
                };
                (call, extra)
            }
            What::Hvp => {
                let call =
                    unit.call_of(&self.entry, Operator::Grad, wrt, given)?.along_tangent()?;
                let extra = tangents(&call);
                (call, extra)
            }
            What::Sparse(matrix) => (unit.sparse_of(&self.entry, matrix, wrt, given)?, Extra::None),
        })
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.definitions.iter().map(|def| &*def.name).collect();
        f.debug_struct("Model").field("definitions", &names).finish_non_exhaustive()
    }
}
