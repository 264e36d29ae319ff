//! The work of a child process: one job, or a language server.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lambada::paper::{self, PaperStage};
use lambada::{
    Answer, Data, Inputs, Operator, Options, Problem, Range, Session, Slopes, Stopped, Style,
    Sweep, Swept, Type, Unit, is_identifier, json_text,
};
use lambada_plot::{Picture, svg};

use crate::confined::{Confined, EXAMPLES, FOLDER};
use crate::job::{
    Along, Definition, Done, Form, Given, Job, Mode, Of, Origin, Parameter, Stage, Task,
};
use crate::{Limits, messages};

/// Columns of printed values.
const WIDTH: usize = 72;

/// Elements of an array that are printed.
const MOST: usize = 100;

/// Reads a job, does it, and writes the answer, both as JSON. Limits hold for this process from now
/// on.
///
/// # Errors
/// The job cannot be read or the answer cannot be written, as text for standard error.
pub fn work(
    folder: Option<&Path>,
    options: &Options,
    limits: Limits,
    mut input: impl Read,
    mut output: impl Write,
) -> Result<(), String> {
    limits.bound_job();
    let mut text = String::new();
    input.read_to_string(&mut text).map_err(|error| messages::failed("read a job", &error))?;
    let job: Job =
        serde_json::from_str(&text).map_err(|error| messages::failed("read a job", &error))?;
    let files = Confined::new(folder).map_err(|error| messages::failed("open", &error))?;
    let options = Options { max_memory: Some(limits.memory), ..options.clone() };
    let mut session = Session::with(Arc::new(files), options);
    let done = lambada::roomy(|| done(&mut session, &job));
    let answer =
        serde_json::to_vec(&done).map_err(|error| messages::failed("write an answer", &error))?;
    output
        .write_all(&answer)
        .and_then(|()| output.flush())
        .map_err(|error| messages::failed("write an answer", &error))
}

/// Serves the editor of a page. Limits hold for this process from now on. Returns the exit code of
/// the language server.
///
/// # Errors
/// The folder cannot be read, as text for standard error.
pub fn edit(
    folder: Option<&Path>,
    options: &Options,
    limits: Limits,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<u8, String> {
    limits.bound_editor();
    let files = Confined::new(folder).map_err(|error| messages::failed("open", &error))?;
    let options = Options { max_memory: Some(limits.memory), ..options.clone() };
    Ok(lambada_lsp::serve_over(Arc::new(files), input, output, options))
}

fn done(session: &mut Session, job: &Job) -> Done {
    attempt(session, job).unwrap_or_else(|stopped| {
        Done::Problems(match stopped {
            Stopped::Problems(problems) => session.render(&problems, false),
            Stopped::Failure(why) => session.render_failure(&why, false),
        })
    })
}

fn attempt(session: &mut Session, job: &Job) -> Result<Done, Stopped> {
    let path = Path::new(&job.place.path);
    let top = match job.place.origin {
        Origin::Folder => Some(FOLDER),
        Origin::Examples => Some(EXAMPLES),
        Origin::Text => None,
    };
    let folder = top.map(|top| Path::new(top).join(path.parent().unwrap_or(Path::new(""))));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let unit = session.load_text(&name, &job.text, Some(folder.unwrap_or_else(nowhere)))?;
    Ok(match &job.task {
        Task::Outline => Done::Outline(outline(&unit)),
        Task::Value { entry, values } => value(session, &unit, entry, values)?,
        Task::Derivative { entry, mode } => {
            let operator = match mode {
                Mode::Forward => Operator::Jvp,
                Mode::Reverse => Operator::Vjp,
            };
            Done::Text(unit.derivative_source(entry, operator, None)?)
        }
        Task::Stage { entry, mode, stage } => {
            Done::Text(unit.paper_stage(entry, paper_mode(*mode), paper_stage(*stage), None)?)
        }
        Task::Steps { entry, mode, stage } => {
            let stage = paper_stage(*stage);
            Done::Derivation(unit.derivation(entry, paper_mode(*mode), stage, None)?.into())
        }
        Task::Show { entry, form, of } => {
            Done::Text(unit.show(entry, stage(*form), operator(*of), None, None)?)
        }
        Task::Plot { entry, values, range, slopes } => {
            plot(session, &unit, entry, values, range.as_ref(), *slopes)?
        }
    })
}

/// A folder without files.
fn nowhere() -> PathBuf {
    PathBuf::from("text")
}

fn paper_mode(mode: Mode) -> paper::Mode {
    match mode {
        Mode::Forward => paper::Mode::Forward,
        Mode::Reverse => paper::Mode::Reverse,
    }
}

fn paper_stage(stage: Stage) -> PaperStage {
    match stage {
        Stage::Combinators => PaperStage::Combinators,
        Stage::Linear => PaperStage::Linear,
        Stage::Applied => PaperStage::Applied,
        Stage::Shared => PaperStage::Shared,
    }
}

fn stage(form: Form) -> lambada::Stage {
    match form {
        Form::Core => lambada::Stage::Core,
        Form::Anf => lambada::Stage::Anf,
        Form::Schedule => lambada::Stage::Schedule,
        Form::Loops => lambada::Stage::Loops,
        Form::C => lambada::Stage::C,
    }
}

fn operator(of: Of) -> Operator {
    match of {
        Of::Value => Operator::Value,
        Of::Grad => Operator::Grad,
        Of::Jvp => Operator::Jvp,
        Of::Vjp => Operator::Vjp,
    }
}

fn outline(unit: &Unit) -> Vec<Definition> {
    let definitions = unit.definitions().into_iter().map(|def| {
        let signature = lambada::signature(unit, &def.name);
        let (parameters, result, problem) = match signature {
            Ok((parameters, result)) => (Some(parameters), result, None),
            Err(problems) => (None, None, problems.into_iter().next().map(|one| one.title)),
        };
        let values = lambada::drawn_arguments(unit, &def.name).unwrap_or_default();
        let parameters = parameters.map(|parameters| {
            let with_values = parameters.iter().zip(&values);
            let parameter = with_values.map(|(parameter, value)| Parameter {
                name: parameter.name.to_string(),
                ty: parameter.ty.to_string(),
                real: parameter.is_real,
                value: json_text(value),
            });
            parameter.collect()
        });
        Definition {
            name: def.name.to_string(),
            doc: def.doc.map(|doc| doc.to_string()),
            scheme: def.scheme,
            parameters,
            problem,
            result: result.map(|ty| ty.to_string()),
        }
    });
    definitions.collect()
}

/// Values of parameters by name, or in their order if one has a pattern for a name.
fn inputs(session: &Session, values: &[Given]) -> Result<(Inputs, Vec<String>), Vec<Problem>> {
    let named = values.iter().all(|(name, _)| is_identifier(name));
    let word = |(name, value): &Given| match named {
        true => format!("{name}={value}"),
        false => value.clone(),
    };
    let words: Vec<String> = values.iter().map(word).collect();
    Ok((read(session, &words)?, words))
}

fn read(session: &Session, words: &[String]) -> Result<Inputs, Vec<Problem>> {
    let mut inputs = Inputs::new().with_memory(session.options().max_memory);
    let wrong: Vec<Problem> =
        words.iter().filter_map(|word| inputs.read_argument(word).err()).collect();
    if wrong.is_empty() { Ok(inputs) } else { Err(wrong) }
}

fn value(session: &Session, unit: &Unit, entry: &str, values: &[Given]) -> Result<Done, Stopped> {
    let (inputs, _) = inputs(session, values)?;
    let (parameters, result) = lambada::signature(unit, entry)?;
    let has_gradient = result == Some(Type::Real) && parameters.iter().any(|one| one.is_real);
    let operator = if has_gradient { Operator::Grad } else { Operator::Value };
    let Answer { value, derivative, wrt } = lambada::answer(unit, entry, operator, None, &inputs)?;
    let style = Style {
        width: Some(WIDTH),
        most: Some(MOST),
        reals: session.options().precision,
        ..Style::default()
    };
    let shown = |(name, data): (&str, &Data)| (name.to_string(), data.show(style));
    let gradient = match (&derivative, &wrt[..]) {
        (Some(derivative), [one]) => vec![shown((one, derivative))],
        (Some(Data::Record(fields)), _) => {
            fields.iter().map(|(name, data)| shown((name, data))).collect()
        }
        (_, _) => Vec::new(),
    };
    Ok(Done::Value { value: value.show(style), gradient })
}

fn plot(
    session: &Session,
    unit: &Unit,
    entry: &str,
    values: &[Given],
    along: Option<&Along>,
    slopes: bool,
) -> Result<Done, Stopped> {
    let (_, mut words) = inputs(session, values)?;
    let mut ends = None;
    if let Some(Along { parameter, low, high }) = along {
        let at = values.iter().position(|(name, _)| name == parameter);
        let range = format!("{parameter}={low}..{high}");
        match at {
            Some(at) => words[at] = range,
            None => words.push(range),
        }
        ends = Some((*low, *high));
    }
    let range = Range::take(&mut words).map_err(|p| vec![p])?;
    let mut inputs = read(session, &words)?;
    if let Some(range) = &range {
        inputs = inputs.with_argument_as(&range.number, &range.word);
    }
    let between = match (&range, ends) {
        (Some(range), Some((low, high))) => {
            Some((range, range.between(low, high).map_err(|p| vec![p])?))
        }
        (_, _) => None,
    };
    let what = lambada::Along {
        definition: entry,
        name: entry,
        range: between,
        inputs: &inputs,
        slopes: slopes.then_some(Slopes { wrt: None, reverse: false }),
    };
    let options = |args: &[Data]| session.options().for_run(args);
    let sweep = Sweep::new(unit, &what, options)?;
    let picture = match between {
        Some((_, ends)) => {
            let across = sweep.parameter().unwrap_or_default();
            let mut evaluate = |x: f64| sweep.at(x).map(Swept::panels);
            Picture::along(across, ends, sweep.is_whole(), &mut evaluate)?
        }
        None => {
            let lists = sweep.lists()?;
            if lists.values.is_empty() {
                return Err(vec![sweep.no_range()].into());
            }
            Picture::indexed(lists.panels())
        }
    };
    sweep.judge(picture.panels.len(), !picture.is_empty()).map_err(|p| vec![p])?;
    Ok(Done::Picture(svg(&picture)))
}
