//! The command line as data.

mod given;
mod models;
mod offered;
mod paper;
mod play;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as ArgGroup, Parser, Subcommand, ValueEnum};
use lambada::Precision;

pub use models::{Chart, Method, Metric, Model, Predicting, Sampling, Searching, Table};
pub use offered::Offered;
pub use paper::{Derived, Format, PaperStage};
pub use play::{PlayRole, PlayWorking, Playing};

const EXAMPLES: &str = "Examples:
  lambada check model.lam
  lambada run model.lam main x=1.5 'ys=[1, 2, 3]'
  lambada grad model.lam loss --data data.json --wrt w,b
  lambada derive model.lam loss
  lambada eval 'grad (\\x -> x ** 3) 2'

`lambada COMMAND --help` tells more about a command.";

const BUILD: &str =
    "A derivative is of the definitions that stand before it, back to the derivatives of others:
  lambada build model.lam loss --grad w,b --jvp x predict -o out --name model
offers model_loss, model_loss_grad (by w and b), model_loss_jvp (by x) and model_predict. 
`all` in the place of names stands for all parameters that hold reals.";

/// Differentiable functional programs: check them, run them, differentiate them, and read their
/// derivatives.
#[derive(Clone, Debug, Parser)]
#[command(name = "lambada", version, after_help = EXAMPLES)]
pub struct Args {
    /// The command
    #[command(subcommand)]
    pub command: Command,

    /// Color messages: auto (on a terminal), always or never
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Color::Auto, hide_possible_values = true)]
    #[arg(hide_default_value = true, display_order = 90)]
    pub color: Color,

    /// Have the compiler check its own work after every pass
    #[arg(long, global = true, display_order = 91)]
    pub check: bool,

    /// Run arithmetic over arrays one element after the other, in the order of the program, without
    /// lanes
    #[arg(long, global = true, display_order = 92)]
    pub no_nests: bool,

    /// Whether the C compiler is to be done soon or to make the fastest code; a single run on
    /// little data is better off with the former, unless given
    #[arg(long, global = true, value_enum, value_name = "EFFORT", hide_possible_values = true)]
    #[arg(display_order = 92)]
    pub effort: Option<Effort>,

    /// On how many threads programs run; what they give is the same for any number
    #[arg(long, global = true, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024))]
    #[arg(display_order = 92)]
    pub threads: Option<u16>,

    /// Arithmetic may take subnormal numbers, those below 2.2e-308, for zeros: faster where there
    /// are any
    #[arg(long, global = true, display_order = 92)]
    pub flush_subnormals: bool,

    /// How many bits reals have, in all arithmetic and data: f64 or f32
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        default_value = "f64",
        hide_default_value = true
    )]
    #[arg(value_parser = precision, display_order = 92)]
    pub precision: Precision,

    /// How much memory arrays may take, such as 500MB or 4GB; most of what the machine has free
    /// unless given
    #[arg(long, global = true, value_name = "SIZE", display_order = 93)]
    #[arg(value_parser = memory)]
    pub max_memory: Option<u64>,

    /// Tell on standard error how long each pass of the compiler took
    #[arg(long, global = true, display_order = 94)]
    pub timings: bool,

    /// The words of those options above that were given and concern programs
    #[arg(skip)]
    pub given: Vec<OsString>,
}

/// Choice of colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The commands.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Parse and type-check a file; list its definitions, or all problems
    Check {
        /// The program
        file: PathBuf,
        /// First write the fixes of all problems that have only one into the file
        #[arg(long)]
        fix: bool,
    },
    /// Evaluate a definition (`main` unless another is named)
    #[command(override_usage = "lambada run [OPTIONS] FILE [ENTRY] [[NAME=]VALUE]...")]
    Run {
        /// The program
        file: PathBuf,
        /// The definition, and values of its parameters in JSON, by name (x=1.5 'ys=[1, 2, 3]') or
        /// in their order (1.5 '[1, 2, 3]')
        #[arg(value_name = "ENTRY|[NAME=]VALUE", allow_negative_numbers = true)]
        words: Vec<String>,
        #[command(flatten)]
        data: DataArgs,
    },
    /// Value and gradient of a definition with a real result
    Grad {
        #[command(flatten)]
        target: Target,
        #[command(flatten)]
        data: DataArgs,
        #[command(flatten)]
        wrt: Wrt,
    },
    /// Value and tangent of a definition (forward mode)
    Jvp {
        #[command(flatten)]
        target: Target,
        #[command(flatten)]
        data: DataArgs,
        #[command(flatten)]
        wrt: Wrt,
        /// A tangent, as name=value; parameters without one have the tangent zero. May be repeated
        #[arg(long = "tangent", value_name = "NAME=VALUE")]
        tangents: Vec<String>,
        /// A file with tangents by parameter name
        #[arg(long, value_name = "FILE")]
        tangents_data: Option<PathBuf>,
    },
    /// Value of a definition and the cotangents of its parameters (reverse mode)
    Vjp {
        #[command(flatten)]
        target: Target,
        #[command(flatten)]
        data: DataArgs,
        #[command(flatten)]
        wrt: Wrt,
        /// The cotangent of the result, as JSON; 1 for a real result unless given
        #[arg(long, value_name = "VALUE", conflicts_with = "cotangent_data")]
        cotangent: Option<String>,
        /// A file with the cotangent: a .json file with the value, a .npz file with one array, or a
        /// .npy file
        #[arg(long, value_name = "FILE")]
        cotangent_data: Option<PathBuf>,
    },
    /// Value and Jacobian of a definition whose result is an array of reals
    Jacobian {
        #[command(flatten)]
        target: Target,
        #[command(flatten)]
        data: DataArgs,
        #[command(flatten)]
        wrt: Wrt,
        /// Only the entries that can be different from zero: rows, columns and values; an .npz file
        /// is one that SciPy reads
        #[arg(long)]
        sparse: bool,
    },
    /// Value and Hessian of a definition with a real result
    Hessian {
        #[command(flatten)]
        target: Target,
        #[command(flatten)]
        data: DataArgs,
        #[command(flatten)]
        wrt: Wrt,
        /// Only the entries that can be different from zero: rows, columns and values; an .npz file
        /// is one that SciPy reads
        #[arg(long)]
        sparse: bool,
    },
    /// Evaluate an expression
    Eval {
        /// The expression; it may use names of the library
        #[arg(value_name = "EXPR", allow_hyphen_values = true)]
        expression: String,
        /// Values in JSON of names that it mentions
        #[arg(value_name = "NAME=VALUE")]
        words: Vec<String>,
        #[command(flatten)]
        data: DataArgs,
    },
    /// Read definitions and expressions from a terminal, or from standard input, and evaluate them
    Repl {
        /// A program whose definitions are known from the beginning
        file: Option<PathBuf>,
        /// How to run the inputs
        #[arg(long, value_enum, default_value_t = Engine::Loops)]
        engine: Engine,
        #[command(flatten)]
        look: Look,
    },
    /// Write programs in the one canonical layout
    Fmt {
        /// Programs, folders of programs, or standard input (-), which goes to standard output
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Write nothing, but name the files whose layout is another; then the exit code is 1
        #[arg(long)]
        check: bool,
        /// Also write `//` for each `/` between integers, which was floor division in programs from
        /// before `/` divided reals
        #[arg(long)]
        upgrade: bool,
    },
    /// Serve an editor on standard input and output: problems, types, completions, derivatives
    Lsp {
        /// Accepted because many editors pass it
        #[arg(long, hide = true)]
        stdio: bool,
    },
    /// Open a page in the browser to try programs: values, derivatives, stages, pictures
    Play(Playing),
    /// Do the work of a page: a job, or a language server
    #[command(hide = true)]
    PlayWorker(PlayWorking),
    /// Make a folder with a small program, its data and how to run it
    New {
        /// The folder, which must not exist
        name: PathBuf,
    },
    /// Print a shell's completions of commands and options
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write those of all commands into a folder
    Man {
        /// The folder
        folder: Option<PathBuf>,
    },
    /// Print the derivative of a definition as Lambada source
    Derive {
        /// The program
        file: PathBuf,
        /// The definition
        entry: String,
        /// Tangents along with values, or cotangents back through them
        #[arg(long, value_enum, default_value_t = Mode::Reverse)]
        mode: Mode,
        /// Which form: the compiler's own, or a stage of the paper's construction
        #[arg(long, value_enum, default_value_t = PaperStage::Simplified)]
        stage: PaperStage,
        #[command(flatten)]
        wrt: Wrt,
    },
    /// Tell what the code of a message means, or walk through the paper's derivation of a
    /// definition's derivative
    #[command(
        override_usage = "lambada explain CODE\n       lambada explain FILE ENTRY [--mode MODE] [--stage STAGE] [--step N] [--format FORMAT]"
    )]
    Explain {
        /// The code of a message, such as E0301; or the program
        #[arg(value_name = "CODE|FILE")]
        what: PathBuf,
        /// The definition
        entry: Option<String>,
        /// Tangents along with values, or cotangents back through them
        #[arg(long, value_enum, default_value_t = Mode::Reverse, requires = "entry")]
        mode: Mode,
        /// Target language of the derivation
        #[arg(long, value_enum, default_value_t = Derived::Linear, requires = "entry")]
        stage: Derived,
        /// Only the step of this number
        #[arg(long, value_name = "N", requires = "entry")]
        step: Option<usize>,
        /// Text, a LaTeX document, a page for the browser, or data
        #[arg(long, value_enum, default_value_t = Format::Text, requires = "entry")]
        format: Format,
    },
    /// Describe a definition or a module of the standard library, or list all of them
    Doc {
        /// The definition, such as sum or random.normal, or the module, such as random
        name: Option<String>,
    },
    /// Print a definition as one of the compiler's intermediate forms
    Show {
        /// The program
        file: PathBuf,
        /// The definition (`main` unless named)
        #[arg(default_value = "main")]
        entry: String,
        /// Which form
        #[arg(long, value_enum)]
        stage: Stage,
        /// The definition itself or one of its derivatives
        #[arg(long, value_enum, default_value_t = Of::Value)]
        of: Of,
        #[command(flatten)]
        wrt: Wrt,
        /// For `--stage anf`: as it is when this pass of the optimizer has run for the last time
        /// (`none`: before the first)
        #[arg(long, value_name = "PASS")]
        after: Option<String>,
        /// As it is compiled for any processor, rather than for this one
        #[arg(long)]
        portable: bool,
    },
    /// Test the derivatives of a definition, or of all in a file, against differences and against
    /// each other
    #[command(override_usage = "lambada verify [OPTIONS] FILE [ENTRY] [[NAME=]VALUE]...")]
    Verify {
        /// The program
        file: PathBuf,
        /// The definition, and values of its parameters in JSON; points are drawn at random for
        /// definitions without values
        #[arg(value_name = "ENTRY|[NAME=]VALUE", allow_negative_numbers = true)]
        words: Vec<String>,
        /// Values by parameter name, from a .json, .npz or .npy file, or JSON from standard input
        /// (-); NAME=FILE is the value of one parameter. May be repeated
        #[arg(long = "data", value_name = "[NAME=]FILE")]
        files: Vec<PathBuf>,
        #[command(flatten)]
        wrt: Wrt,
        /// How to run the program
        #[arg(long, value_enum, default_value_t = Engine::Native)]
        engine: Engine,
    },
    /// Draw the values of a definition over a range of a parameter, an array over its index, or the
    /// draws of a posterior
    #[command(
        override_usage = "lambada plot [OPTIONS] FILE ENTRY [[NAME=]FROM..TO] [[NAME=]VALUE]...\n       lambada plot DRAWS [--kind KIND] [--of NAMES] --output FILE"
    )]
    Plot {
        /// The program; or the draws of `lambada sample`: a .nc, .parquet or .csv file
        #[arg(value_name = "FILE|DRAWS")]
        file: PathBuf,
        /// The definition
        entry: Option<String>,
        /// The range of one parameter (x=0..10), and values of the others in JSON, by name (x=1.5
        /// 'ys=[1, 2, 3]') or in their order
        #[arg(value_name = "[NAME=]VALUE")]
        words: Vec<String>,
        #[command(flatten)]
        drawing: Drawing,
    },
    /// Translate a Stan program to a program that people read
    FromStan {
        /// The Stan program
        file: PathBuf,
        /// Leave a comment in place of each statement without a translation
        #[arg(long)]
        partly: bool,
        /// Write the program to a file instead of standard output
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Run a definition for each draw of a posterior: replicated data, log likelihoods, other
    /// quantities
    #[command(override_usage = "lambada predict [OPTIONS] --draws FILE FILE ENTRY [NAME=VALUE]...")]
    Predict {
        #[command(flatten)]
        model: Model,
        #[command(flatten)]
        predicting: Predicting,
    },
    /// Find the values of parameters without data at which a definition has its smallest result
    #[command(override_usage = "lambada minimize [OPTIONS] FILE [ENTRY] [NAME=VALUE]...")]
    Minimize {
        #[command(flatten)]
        model: Model,
        #[command(flatten)]
        searching: Searching,
    },
    /// Draw from the posterior of a model: of the parameters of a log density that have no data
    #[command(override_usage = "lambada sample [OPTIONS] FILE [ENTRY] [NAME=VALUE]...")]
    Sample {
        #[command(flatten)]
        model: Model,
        #[command(flatten)]
        sampling: Sampling,
    },
    /// Compile definitions and their derivatives to a C library, with header, static and shared
    /// library, and pkg-config file; or to a module for browsers
    #[command(
        override_usage = "lambada build FILE ENTRY... [--grad W] [--jvp W] [--vjp W] [ENTRY...] [OPTIONS]",
        after_help = BUILD
    )]
    Build {
        /// The program
        file: PathBuf,
        #[command(flatten)]
        offered: Offered,
        /// The folder that the files are written to
        #[arg(long, short, value_name = "FOLDER", default_value = ".")]
        output: PathBuf,
        /// The name of the library, with which every name in it begins; the name of the program
        /// unless given
        #[arg(long)]
        name: Option<String>,
        /// Make code for all processors of this architecture, not only for this one's kind: in
        /// versions for several widths of vectors, of which calls use the widest that the processor
        /// has
        #[arg(long)]
        portable: bool,
        /// The machines that it is for
        #[arg(long, value_enum, value_name = "MACHINES", default_value_t = Machines::Native)]
        #[arg(conflicts_with = "portable")]
        target: Machines,
    },
    /// Measure a definition and its derivative: compilation, time, memory, operations, and the
    /// distance from the machine's limits
    Bench {
        #[command(flatten)]
        target: Target,
        /// Values by parameter name, from a .json, .npz, .npy, .csv or .parquet file, or JSON from
        /// standard input (-); NAME=FILE is the value of one parameter. May be repeated
        #[arg(long = "data", value_name = "[NAME=]FILE")]
        files: Vec<PathBuf>,
        #[command(flatten)]
        wrt: Wrt,
        /// Which derivative, with cotangents or tangents that are ones
        #[arg(long, value_enum, default_value_t = Measured::Reverse)]
        mode: Measured,
        /// Count all operations, however long that takes
        #[arg(long)]
        count: bool,
        /// Print JSON: seconds, bytes and operations
        #[arg(long)]
        json: bool,
    },
    /// Be a tool of the GradBench suite: a message per line on standard input, the answer per line
    /// on standard output
    Gradbench {
        /// The folder with a program for each eval
        #[arg(default_value = "examples/gradbench")]
        folder: PathBuf,
        /// How to run the programs
        #[arg(long, value_enum, default_value_t = Engine::Native)]
        engine: Engine,
    },
}

/// Choice of the measured derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Measured {
    /// The value, and the cotangents of the parameters
    Reverse,
    /// The value, and the tangent of the result
    Forward,
    /// The value alone
    Value,
}

/// The machines that a library is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Machines {
    /// This one, and those with a processor of its kind
    Native,
    /// Browsers, Node and others that run WebAssembly: a module, with a module of JavaScript and
    /// types for TypeScript
    Wasm,
    /// All with a compiler for C11, such as MSVC: a text and its header, without threads
    C11,
    /// As c11, without an operating system: all memory is the caller's
    Embedded,
}

/// A file and one of its definitions.
#[derive(Clone, Debug, ArgGroup)]
pub struct Target {
    /// The program
    pub file: PathBuf,
    /// The definition
    pub entry: String,
    /// Values of its parameters in JSON, by name (x=1.5 'ys=[1, 2, 3]') or in their order (1.5 '[1,
    /// 2, 3]')
    #[arg(value_name = "[NAME=]VALUE", allow_negative_numbers = true)]
    pub words: Vec<String>,
}

/// Where inputs come from and results go to.
#[derive(Clone, Debug, ArgGroup)]
pub struct DataArgs {
    /// Values by parameter name, from a .json, .npz, .npy, .csv or .parquet file, or JSON from
    /// standard input (-); NAME=FILE is the value of one parameter. May be repeated
    #[arg(long = "data", value_name = "[NAME=]FILE")]
    pub files: Vec<PathBuf>,
    /// Write the result to a .json, .npz, .csv, .parquet or .arrow file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// How to run the program
    #[arg(long, value_enum, default_value_t = Engine::Native)]
    pub engine: Engine,
    /// Fail at the first operation that makes a NaN out of numbers, and say where it is
    #[arg(long)]
    pub trap_nan: bool,
    #[command(flatten)]
    pub look: Look,
}

/// Inputs, derivatives and file of a plot.
#[derive(Clone, Debug, ArgGroup)]
pub struct Drawing {
    /// Values by parameter name, from a .json, .npz, .npy, .csv or .parquet file, or JSON from
    /// standard input (-); NAME=FILE is the value of one parameter. May be repeated
    #[arg(long = "data", value_name = "[NAME=]FILE")]
    pub files: Vec<PathBuf>,
    /// Which picture of draws
    #[arg(long, value_enum, conflicts_with = "grad")]
    pub kind: Option<Chart>,
    /// The variables to draw, separated by commas, such as mu,theta[2]; all unless given. May be
    /// repeated
    #[arg(long, value_name = "NAMES", value_parser = names, conflicts_with = "grad")]
    of: Vec<String>,
    /// Draw the derivative, too
    #[arg(long)]
    pub grad: bool,
    /// The parameters to differentiate with respect to, separated by commas; that of the range
    /// unless given. May be repeated
    #[arg(long, value_name = "NAMES", value_parser = names, requires = "grad")]
    wrt: Vec<String>,
    /// Derivatives by tangents along with values, or by cotangents back through them
    #[arg(long, value_enum, default_value_t = Mode::Forward, requires = "grad")]
    pub mode: Mode,
    /// Write the picture to an .svg file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// How to run the program
    #[arg(long, value_enum, default_value_t = Engine::Native)]
    pub engine: Engine,
}

impl Drawing {
    /// The variables to draw.
    pub fn of(&self) -> Vec<String> {
        self.of.iter().flat_map(|names| names.split(',')).map(|name| name.trim().into()).collect()
    }

    /// The parameters to differentiate with respect to.
    pub fn wrt(&self) -> Option<Vec<String>> {
        all_names(&self.wrt)
    }
}

impl DataArgs {
    /// Data from files; other options have their defaults.
    pub fn of(files: Vec<PathBuf>) -> DataArgs {
        let (output, engine, look) = (None, Engine::Native, Look::default());
        DataArgs { files, output, engine, trap_nan: false, look }
    }
}

/// How results look on standard output.
#[derive(Clone, Copy, Debug, Default, ArgGroup)]
pub struct Look {
    /// Print reals with at most so many significant digits
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=17))]
    pub digits: Option<u8>,
}

/// Parses `--precision`. Detects digits, because the option used to be the number of digits.
fn precision(text: &str) -> Result<Precision, String> {
    match Precision::from_name(text) {
        Some(precision) => Ok(precision),
        None if text.chars().all(|c| c.is_ascii_digit()) && !text.is_empty() => Err(format!(
            "reals are `f64` or `f32`; to print {text} significant digits, say `--digits {text}`"
        )),
        None => Err("reals are `f64` (64 bits) or `f32` (32 bits)".into()),
    }
}

fn memory(text: &str) -> Result<u64, String> {
    lambada::memory_size(text).map_err(|problem| {
        let hints: Vec<&str> = problem.hints.iter().map(|hint| &*hint.text).collect();
        hints.join("; ")
    })
}

/// Checks that names between commas are not empty.
fn names(text: &str) -> Result<String, String> {
    match lambada::split_names(text).iter().any(String::is_empty) {
        true => Err("a name is missing; they are separated by commas: `a,b`".into()),
        false => Ok(text.into()),
    }
}

/// The parameters to differentiate with respect to.
#[derive(Clone, Debug, ArgGroup)]
pub struct Wrt {
    /// The parameters to differentiate with respect to, separated by commas; all that hold reals
    /// unless given. May be repeated
    #[arg(long, value_name = "NAMES", value_parser = names)]
    wrt: Vec<String>,
}

impl Wrt {
    /// The names.
    pub fn names(&self) -> Option<Vec<String>> {
        all_names(&self.wrt)
    }
}

/// The names in lists of names, if there are any.
fn all_names(lists: &[String]) -> Option<Vec<String>> {
    let names: Vec<String> = lists.iter().flat_map(|names| lambada::split_names(names)).collect();
    (!names.is_empty()).then_some(names)
}

/// A mode of differentiation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// Tangents along with values
    Forward,
    /// Cotangents back through them
    Reverse,
}

/// Choice of the definition or a derivative for `show`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Of {
    /// The definition itself
    Value,
    /// Its value and gradient
    Grad,
    /// Its forward derivative
    Jvp,
    /// Its reverse derivative
    Vjp,
    /// Its value and Jacobian
    Jacobian,
    /// Its value and Hessian
    Hessian,
}

/// An intermediate form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Stage {
    /// As written, reprinted
    Surface,
    /// Typed and higher order
    Core,
    /// First-order array code
    Anf,
    /// Scalar definitions with their indices, and the passes over them
    Schedule,
    /// Loops over buffers
    Loops,
    /// The input of the C compiler
    C,
}

/// Choice between quick compilation and fast code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Effort {
    /// Code that is there soon
    Quick,
    /// Code that runs as fast as it can
    Full,
}

/// Engine that runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// Native code, made by the C compiler
    Native,
    /// Native code, made by Lambada itself: there at once
    Jit,
    /// The interpreter of loops
    Loops,
    /// The evaluator of array programs
    Anf,
    /// The evaluator that defines the language
    Core,
}
