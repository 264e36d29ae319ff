//! The command that the arguments name.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::sync::Arc;

use lambada::{Disk, Effort, Operator, Options, Session, Sparse};
use lambada_build::Platform;

use crate::args::{self, Args, Command, DataArgs, Machines};
use crate::interrupt::Interrupt;
use crate::report::{self, Report};
use crate::shell::Shell;
use crate::{messages, new, pages, play, repl};

/// Runs a command.
pub fn run(args: Args) -> Result<(), Report> {
    let mut shell = Shell {
        session: Session::new(),
        color: report::colored(args.color),
        paints: report::paints(args.color),
        threads: args.threads.and_then(|threads| NonZeroUsize::new(threads.into())),
        input: None,
    };
    if args.max_memory.is_none() {
        lambada::check_environment().map_err(|problem| shell.told([problem]))?;
    }
    let usual = Options::default();
    let options = Options {
        checks: args.check || usual.checks,
        max_memory: args.max_memory,
        precision: args.precision,
        nests: !args.no_nests,
        threads: shell.threads.unwrap_or(usual.threads),
        flush_subnormals: args.flush_subnormals,
        effort: args.effort.map(effort),
        quick: args.effort == Some(args::Effort::Quick),
        ..usual
    };
    shell.session = Session::with(Arc::new(Disk), options);
    let interactive = matches!(args.command, Command::Repl { .. }) && repl::is_interactive();
    let (command, timings, given) = (args.command, args.timings, args.given);
    let run = || {
        if !timings {
            return dispatch(&mut shell, command, given);
        }
        let (result, timings) = lambada::timed_passes(|| dispatch(&mut shell, command, given));
        report::tell(&timings);
        result
    };
    // At the prompt, Ctrl-C ends only an answer.
    if interactive { run() } else { Interrupt::of_process().ends(run) }
}

fn effort(effort: args::Effort) -> Effort {
    match effort {
        args::Effort::Quick => Effort::Quick,
        args::Effort::Full => Effort::Full,
    }
}

fn dispatch(shell: &mut Shell, command: Command, given: Vec<OsString>) -> Result<(), Report> {
    match command {
        Command::Check { file, fix: true } => shell.mend(&file).and_then(|()| shell.check(&file)),
        Command::Check { file, fix: false } => shell.check(&file),
        Command::Run { file, words, data } => shell.run(&file, words, &data),
        Command::Grad { target, data, wrt } => {
            shell.derivative(&target, &data, &wrt, Operator::Grad, "gradient")
        }
        Command::Jacobian { target, data, wrt, sparse: true } => {
            shell.sparse(&target, &data, &wrt, Sparse::Jacobian, "jacobian")
        }
        Command::Hessian { target, data, wrt, sparse: true } => {
            shell.sparse(&target, &data, &wrt, Sparse::Hessian, "hessian")
        }
        Command::Jacobian { target, data, wrt, sparse: false } => {
            shell.derivative(&target, &data, &wrt, Operator::Jacobian, "jacobian")
        }
        Command::Hessian { target, data, wrt, sparse: false } => {
            shell.derivative(&target, &data, &wrt, Operator::Hessian, "hessian")
        }
        Command::Jvp { target, data, wrt, tangents, tangents_data } => {
            shell.jvp(&target, &data, &wrt, &tangents, tangents_data.as_deref())
        }
        Command::Vjp { target, data, wrt, cotangent, cotangent_data } => {
            shell.vjp(&target, &data, &wrt, cotangent.as_deref(), cotangent_data.as_deref())
        }
        Command::Derive { file, entry, mode, stage, wrt } => {
            shell.derive(&file, &entry, mode, stage, &wrt)
        }
        Command::Eval { expression, words, data } => shell.eval(&expression, &words, &data),
        Command::Repl { file, engine, look } => repl::run(shell, file.as_deref(), engine, look),
        Command::Fmt { files, check, upgrade } => shell.format(&files, check, upgrade),
        Command::Lsp { stdio: _ } => lsp(shell.session.options().clone()),
        Command::Play(playing) => play::serve(shell.session.options(), playing, given),
        Command::PlayWorker(working) => play::work(shell.session.options(), &working),
        Command::New { name } => new::run(&name),
        Command::Completions { shell } => pages::completions(shell),
        Command::Man { folder } => pages::manual(folder.as_deref()),
        Command::Explain { what, entry: Some(entry), mode, stage, step, format } => {
            shell.explain(&what, &entry, (mode, stage), step, format)
        }
        Command::Explain { what, .. } => shell.explain_code(&what),
        Command::Doc { name } => shell.doc(name.as_deref()),
        Command::Show { file, entry, stage, of, wrt, after, portable } => {
            if portable {
                let options =
                    Options { target: lambada::Target::Any, ..shell.session.options().clone() };
                shell.session = Session::with(Arc::new(Disk), options);
            }
            shell.show(&file, &entry, stage, of, &wrt, after.as_deref())
        }
        Command::Verify { file, words, files, wrt, engine } => {
            shell.verify(&file, words, &DataArgs { engine, ..DataArgs::of(files) }, &wrt)
        }
        Command::Plot { file, entry, words, drawing } => match entry {
            Some(entry) => shell.plot(&file, &entry, words, &drawing),
            None => shell.plot_draws(&file, &drawing),
        },
        Command::FromStan { file, partly, output } => {
            shell.translate_stan(&file, partly, output.as_deref())
        }
        Command::Minimize { model, searching } => shell.minimize(&model, &searching),
        Command::Predict { model, predicting } => shell.predict(&model, &predicting),
        Command::Sample { model, sampling } => shell.sample(&model, &sampling),
        Command::Build { file, offered, output, name, portable, target } => {
            let platform = match target {
                Machines::Native if portable => Platform::Portable,
                Machines::Native => Platform::Native,
                Machines::Wasm => Platform::Wasm,
                Machines::C11 => Platform::C11,
                Machines::Embedded => Platform::Embedded,
            };
            shell.build(&file, offered.entries, &output, name, platform)
        }
        Command::Bench { target, files, wrt, mode, count, json } => {
            shell.bench(&target, files, &wrt, mode, count, json)
        }
        Command::Gradbench { folder, engine } => shell.gradbench(&folder, engine),
    }
}

/// Serves an editor.
fn lsp(options: Options) -> Result<(), Report> {
    match lambada_lsp::serve(std::io::stdin(), std::io::stdout(), options) {
        0 => Ok(()),
        _ => Err(messages::NO_SHUTDOWN.to_string()),
    }
}
