//! `cargo run --release -p lambada-benches`: compares the programs of examples/gradbench with
//! handwritten C code for the same values and derivatives (benches/baselines), called in turns in
//! one process. A result that differs from the C code ends the run, so nothing wrong is timed. Only
//! ratios are meaningful, because the machine may be busy.
//!
//! - `evals`: the evals with their workloads; `inputs`, `hands`: their inputs;
//! - `baseline`: the C code, compiled and called;
//! - `measure`: runs all contestants in turns and times them;
//! - `machine`: description of the machine; `table`, `plot`: presentation of results;
//! - `ablation`: the benefit of each mechanism of the scheduler.

mod ablation;
mod baseline;
mod evals;
mod hands;
mod inputs;
mod machine;
mod measure;
mod plot;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use measure::How;

/// Measures the programs of examples/gradbench against handwritten C code.
#[derive(Debug, Parser)]
struct Args {
    /// Smaller sizes, and less time for each
    #[arg(long)]
    quick: bool,
    /// Only evals whose names contain this
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// How programs are compiled, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WAYS", default_values_t = [Way::Native, Way::Jit])]
    ways: Vec<Way>,
    /// Flags of the C compiler for the handwritten code, in place of -O2 -march=native
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    cflags: Option<String>,
    /// Measure the benefit of each mechanism of the scheduler, with all others at work
    #[arg(long)]
    ablation: bool,
    /// Write the page of the book and the plot
    #[arg(long)]
    write: bool,
}

/// How programs are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Way {
    /// By the C compiler
    Native,
    /// Without a C compiler
    Jit,
    /// By the C compiler, without nests
    Plain,
}

impl Way {
    fn how(self) -> How {
        match self {
            Way::Native => How::Nests,
            Way::Jit => How::Jit,
            Way::Plain => How::Plain,
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("benches lie in the repository")
        .to_path_buf()
}

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), String> {
    let flags = args.cflags.as_deref().unwrap_or(baseline::FLAGS);
    let patience = Duration::from_millis(if args.quick { 150 } else { 500 });
    let chosen = |name: &str| args.only.as_deref().is_none_or(|only| name.contains(only));
    let evals: Vec<_> = evals::EVALS.iter().filter(|eval| chosen(eval.name)).collect();
    if evals.is_empty() {
        let names: Vec<&str> = evals::EVALS.iter().map(|eval| eval.name).collect();
        return Err(format!("--only names none of the evals, which are {}", names.join(", ")));
    }
    let page_of_book = root().join("docs/src/how-fast.md");
    if args.ablation {
        let table =
            ablation::measured(&evals, args.quick, patience, &machine::Machine::found(flags))?;
        println!("\n{table}");
        return match args.write {
            true => table::write(&page_of_book, "<!-- ablation -->", &table),
            false => Ok(()),
        };
    }
    let mut rows = Vec::new();
    let ways: Vec<How> = args.ways.iter().map(|way| way.how()).collect();
    for eval in evals {
        let contest = measure::Contest::new(&root(), eval, &ways, flags)?;
        for problem in (eval.problems)(args.quick) {
            let row = contest.run(&problem, patience)?;
            println!("{}", table::line(&row));
            rows.push(row);
        }
    }
    let machine = machine::Machine::found(flags);
    let page = table::page(&rows, &machine);
    println!("\n{page}");
    if args.write {
        table::write(&page_of_book, "<!-- measured -->", &page)?;
        let picture = root().join("docs/src/how-fast.svg");
        std::fs::write(&picture, plot::svg(&rows))
            .map_err(|error| format!("cannot write {}: {error}", picture.display()))?;
    }
    Ok(())
}
