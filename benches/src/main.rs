//! `cargo run --release -p lambada-benches`: compares the programs of examples/gradbench with
//! handwritten C code for the same values and derivatives (benches/baselines), called in turns in
//! one process. A result that differs from the C code ends the run, so nothing wrong is timed. Only
//! ratios are meaningful, because the machine may be busy.
//!
//! - `evals`: the evals with their workloads; `inputs`, `hands`: their inputs;
//! - `baseline`: the C code, compiled and called;
//! - `measure`: runs all contestants in turns and times them;
//! - `machine`: description of the machine; `table`, `plot`: presentation of results;
//! - `ablation`: the benefit of each mechanism of the scheduler;
//! - `workloads`: programs that people run, beside JAX, PyTorch and SciPy.

mod ablation;
mod baseline;
mod evals;
mod hands;
mod inputs;
mod machine;
mod measure;
mod plot;
mod table;
mod workloads;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use lambada::Precision;
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
    /// Measure the programs of examples/workloads beside other systems, if installed
    #[arg(long)]
    workloads: bool,
    /// Write the page of the book and the plot
    #[arg(long)]
    write: bool,
    /// Measure one workload in this process
    #[arg(long, hide = true, value_name = "NAME")]
    alone: Option<String>,
    #[arg(long, hide = true, default_value_t = 0)]
    at: usize,
    #[arg(long, hide = true, default_value_t = 64)]
    bits: u32,
    #[arg(long, hide = true, default_value_t = 0.5)]
    patience: f64,
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
    if let Some(name) = &args.alone {
        return alone(name, args);
    }
    if args.workloads {
        return compared(args);
    }
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
        std::fs::write(&picture, table::plot(&rows))
            .map_err(|error| format!("cannot write {}: {error}", picture.display()))?;
    }
    Ok(())
}

/// Measures a workload and prints the measurement as JSON.
fn alone(name: &str, args: &Args) -> Result<(), String> {
    let workload = workloads::WORKLOADS.iter().find(|workload| workload.name == name);
    let workload = workload.ok_or_else(|| format!("there is no workload `{name}`"))?;
    let precision = if args.bits == 32 { Precision::F32 } else { Precision::F64 };
    let measured = workloads::measured(&root(), workload, args.at, precision, args.patience)?;
    println!("{}", measured.to_json());
    Ok(())
}

/// Measures the workloads beside other systems.
fn compared(args: &Args) -> Result<(), String> {
    machine::pin();
    let root = root();
    let systems = workloads::systems(&root.join("benches/workloads/peers.py"));
    if systems.is_empty() {
        eprintln!("warning: `python3` has neither JAX nor PyTorch nor SciPy; nothing is compared");
    }
    let chosen = |name: &str| args.only.as_deref().is_none_or(|only| name.contains(only));
    let mut rows = Vec::new();
    for precision in [Precision::F64, Precision::F32] {
        for workload in workloads::WORKLOADS.iter().filter(|workload| chosen(workload.name)) {
            let count = if args.quick { 1 } else { (workload.problems)().len() };
            for at in 0..count {
                let patience = if args.quick { 0.2 } else { 0.4 };
                let row = workloads::run(&root, &systems, workload, at, precision, patience)?;
                println!("{}", workloads::line(&row, &systems));
                rows.push(row);
            }
        }
    }
    let machine = machine::Machine::found(baseline::FLAGS);
    let page = workloads::page(&rows, &systems, &machine, args.quick);
    println!("\n{page}");
    if args.write {
        table::write(&root.join("docs/src/workloads.md"), "<!-- measured -->", &page)?;
        let picture = root.join("docs/src/workloads.svg");
        let svg = plot::svg(workloads::TITLE, &workloads::SERIES, &workloads::lines(&rows));
        std::fs::write(&picture, svg)
            .map_err(|error| format!("cannot write {}: {error}", picture.display()))?;
    }
    Ok(())
}
