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

/// A checked program. It is cheap to clone, and may be used from many threads.
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
    /// What has been read, so that the program stays as it was.
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

/// What can be compiled: a definition, or what is derived of it with respect to parameters.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Task {
    pub entry: Arc<str>,
    pub what: What,
    pub wrt: Option<Vec<String>>,
    /// What arguments say of types that the definition leaves open; nothing if they are not asked.
    pub given: Arc<[Shape]>,
}

/// What is computed of a definition.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum What {
    Plain(Operator),
    /// The Hessian times a tangent.
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
    /// Its type, with what it is overloaded for.
    pub scheme: String,
    /// Whether it takes parameters.
    pub is_function: bool,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name; a pattern stands for itself, as `(a, b)`.
    pub name: Arc<str>,
    /// Its type.
    pub ty: Type,
    /// Can be differentiated with respect to it?
    pub is_real: bool,
}

/// How a program is loaded.
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
    /// How it is compiled.
    #[must_use]
    pub fn options(self, options: Options) -> Builder {
        Builder { options, ..self }
    }

    /// Where files are, those that it imports too. Those of the disk unless it is said; none for a
    /// text.
    #[must_use]
    pub fn files(self, files: Arc<dyn Files>) -> Builder {
        Builder { files: Some(files), ..self }
    }

    /// What a text imports under a name: `import "NAME"`.
    #[must_use]
    pub fn import(self, name: &str, source: &str) -> Builder {
        let file = if name.ends_with(".lam") { name.to_string() } else { format!("{name}.lam") };
        Builder { imports: self.imports.with(file, source), ..self }
    }

    /// Reads and checks a file and all that it imports.
    ///
    /// # Errors
    /// It cannot be read, or has mistakes; all are told.
    pub fn load(self, path: impl AsRef<Path>) -> Result<Model, Error> {
        let main = Main::File(path.as_ref().to_path_buf());
        let files = self.files.unwrap_or_else(|| Arc::new(Disk));
        Model::loaded(main, files, self.options)
    }

    /// Checks a text, which is called by the name in messages.
    ///
    /// # Errors
    /// It has mistakes; all are told.
    pub fn compile(self, name: &str, source: &str) -> Result<Model, Error> {
        let main = Main::Text(name.to_string(), source.into());
        let files = self.files.unwrap_or_else(|| Arc::new(self.imports));
        Model::loaded(main, files, self.options)
    }
}

impl Model {
    /// Reads and checks a file and all that it imports. Functions are compiled when they are called
    /// first.
    ///
    /// # Errors
    /// It cannot be read, or has mistakes; all are told.
    pub fn load(path: impl AsRef<Path>) -> Result<Model, Error> {
        Model::builder().load(path)
    }

    /// Checks a text, which is called by the name in messages. It imports modules of the library
    /// only; see [`Builder::import`].
    ///
    /// # Errors
    /// It has mistakes; all are told.
    pub fn compile(name: &str, source: &str) -> Result<Model, Error> {
        Model::builder().compile(name, source)
    }

    /// A program that is loaded in another way.
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

    /// What the file defines, in its order.
    pub fn definitions(&self) -> &[Definition] {
        &self.0.definitions
    }

    /// What is doubtful but not wrong.
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

    /// What the program's own file is called: its path, or the name that a text was given. With
    /// [`files`](Model::files) it makes the program again.
    pub fn name(&self) -> String {
        match &self.0.main {
            Main::File(path) => path.display().to_string(),
            Main::Text(name, _) => name.clone(),
        }
    }

    /// Whether it has been a file, or only a text.
    pub fn is_file(&self) -> bool {
        matches!(self.0.main, Main::File(_))
    }

    /// How it is compiled.
    pub fn options(&self) -> &Options {
        &self.0.options
    }

    /// The same program with other options.
    ///
    /// # Errors
    /// None that loading it did not have.
    pub fn with_options(&self, options: Options) -> Result<Model, Error> {
        Model::loaded(self.0.main.clone(), self.0.files.clone(), options)
    }

    /// The program's texts: its own name and text, and the files that it imports. It can be
    /// compiled again from them elsewhere.
    pub fn files(&self) -> &InMemory {
        &self.0.files
    }

    /// Does something with the program as the compiler has it. It is elaborated anew, for syntax
    /// trees are bound to their thread.
    pub(crate) fn with_unit<T>(
        &self,
        run: impl FnOnce(&Unit) -> Result<T, Vec<Problem>>,
    ) -> Result<T, Error> {
        let mut session = Session::with(self.0.files.clone(), self.0.options.clone());
        let result = self.0.main.unit(&mut session).and_then(|unit| run(&unit));
        result.map_err(|problems| Error::program(session.sources(), &problems))
    }

    /// What has been compiled, or is compiled now.
    pub(crate) fn compiled(&self, task: &Task) -> Result<Arc<Compiled>, Error> {
        let kept = || self.0.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(compiled) = kept().get(task) {
            return Ok(compiled.clone());
        }
        let made = self.with_unit(|unit| {
            let (call, extra) = task.prepare(unit)?;
            Compiled::new(&call, extra, &self.0.sources, &self.0.options)
        })?;
        // Two threads may have compiled the same; then one of the two is kept.
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
    /// The program that is compiled, and what it takes besides the arguments of the definition.
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
