//! A session and what the commands do with it: load, run, derive, print.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use lambada::paper;
use lambada::{
    Bench, Data, Ended, Engine, Executable, Expression, FieldOrder, Inputs, Operator, Options,
    Problem, RESULT, Session, Sparse, Stopped, Style, Unit, Verify,
};

use lambada_build::{Entry, Platform, Request};

use crate::args::{
    self, DataArgs, Derived, Format, Look, Measured, Mode, Of, PaperStage, Stage, Target, Wrt,
};
use crate::report::Report;
use crate::{messages, progress, report};

pub(crate) struct Shell {
    pub(crate) session: Session,
    pub(crate) color: bool,
    /// Whether pictures have colors.
    pub(crate) paints: bool,
    /// `--threads`, if given.
    pub(crate) threads: Option<std::num::NonZeroUsize>,
    /// The purpose for which standard input was read.
    pub(crate) input: Option<&'static str>,
}

impl Shell {
    pub(crate) fn told(&self, problems: impl Into<Vec<Problem>>) -> Report {
        report::problems(&self.session, &problems.into(), self.color)
    }

    pub(crate) fn load(&mut self, file: &Path) -> Result<Unit, Report> {
        self.reads(file, "the program");
        let unit = self.session.load(file).map_err(|p| self.told(p))?;
        report::tell(&self.told(unit.warnings.clone()));
        Ok(unit)
    }

    /// Notes the purpose of a file if it is standard input.
    fn reads(&mut self, file: &Path, what: &'static str) {
        if file == Path::new(lambada::STANDARD_INPUT) {
            self.input = Some(what);
        }
    }

    pub(crate) fn check(&mut self, file: &Path) -> Result<(), Report> {
        let unit = self.load(file)?;
        let lines = unit.definitions().into_iter().map(|d| format!("{} : {}\n", d.name, d.scheme));
        report::result(&lines.collect::<String>())
    }

    pub(crate) fn run(
        &mut self,
        file: &Path,
        words: Vec<String>,
        data: &DataArgs,
    ) -> Result<(), Report> {
        // The first word that is a name is the definition, at any position; all others are values.
        let mut words = words;
        self.assignments(&words)?;
        let unit = self.load(file)?;
        let has_main = unit.definitions().iter().any(|def| &*def.name == "main");
        let is_entry = |word: &String| {
            lambada::is_definition(word) || (!has_main && lambada::is_identifier(word))
        };
        let named = words.iter().position(is_entry);
        let entry = named.map_or_else(|| "main".to_string(), |k| words.remove(k));
        let target = Target { file: file.to_path_buf(), entry, words };
        let result = self.apply(&unit, &target, data, Operator::Value, None, |_, _| Ok(()))?;
        self.show_value(data, result.value, &result.fields)
    }

    /// Runs a derivative that takes only the definition's arguments.
    pub(crate) fn derivative(
        &mut self,
        target: &Target,
        data: &DataArgs,
        wrt: &Wrt,
        operator: Operator,
        name: &str,
    ) -> Result<(), Report> {
        let unit = self.load(&target.file)?;
        let result =
            self.apply(&unit, target, data, operator, wrt.names().as_deref(), |_, _| Ok(()))?;
        self.show_pair(data, result, name)
    }

    /// Runs a definition with a sparse matrix of derivatives.
    pub(crate) fn sparse(
        &mut self,
        target: &Target,
        data: &DataArgs,
        wrt: &Wrt,
        matrix: Sparse,
        name: &str,
    ) -> Result<(), Report> {
        let unit = self.load(&target.file)?;
        let (inputs, names) = (self.inputs(data, &target.words), wrt.names());
        let call = match &inputs {
            Ok(inputs) => unit.sparse_at(&target.entry, matrix, names.as_deref(), inputs),
            Err(_) => unit.sparse(&target.entry, matrix, names.as_deref()),
        };
        let call = call.map_err(|p| self.told(p))?;
        let result = self.run_call(call, &inputs?, data, Operator::Jacobian, |_, _| Ok(()))?;
        let (Data::Tuple(pair), Some(path)) = (&result.value, &data.output) else {
            return self.show_pair(data, result, name);
        };
        let precision = self.session.options().precision;
        lambada::write_sparse(path, name, &pair[0], &pair[1], precision).map_err(|p| self.told([p]))
    }

    pub(crate) fn jvp(
        &mut self,
        target: &Target,
        data: &DataArgs,
        wrt: &Wrt,
        tangents: &[String],
        file: Option<&Path>,
    ) -> Result<(), Report> {
        let mut inputs = Inputs::new();
        let read = tangents
            .iter()
            .try_for_each(|t| inputs.read_argument(t))
            .and_then(|()| file.map_or(Ok(()), |f| inputs.read_file(f)));
        read.map_err(|p| self.told([p]))?;
        file.into_iter().for_each(|file| self.reads(file, "the tangent"));
        let unit = self.load(&target.file)?;
        let result = self.apply(
            &unit,
            target,
            data,
            Operator::Jvp,
            wrt.names().as_deref(),
            |call, args| {
                args.push(call.tangent(&inputs, args)?);
                Ok(())
            },
        )?;
        self.show_pair(data, Outcome { names: Vec::new(), ..result }, "tangent")
    }

    pub(crate) fn vjp(
        &mut self,
        target: &Target,
        data: &DataArgs,
        wrt: &Wrt,
        text: Option<&str>,
        file: Option<&Path>,
    ) -> Result<(), Report> {
        let mut inputs = Inputs::new();
        let read = match (text, file) {
            (Some(text), _) => inputs.read_argument(&format!("cotangent={text}")),
            (None, Some(file)) => inputs.read_value("cotangent", file),
            (None, None) => Ok(()),
        };
        read.map_err(|p| self.told([p]))?;
        file.into_iter().for_each(|file| self.reads(file, "the cotangent"));
        let unit = self.load(&target.file)?;
        let result = self.apply(
            &unit,
            target,
            data,
            Operator::Vjp,
            wrt.names().as_deref(),
            |call, args| {
                args.push(call.cotangent(&inputs)?);
                Ok(())
            },
        )?;
        self.show_pair(data, result, "cotangent")
    }

    /// Evaluates an expression; the values that it mentions are its parameters.
    pub(crate) fn eval(
        &mut self,
        text: &str,
        words: &[String],
        data: &DataArgs,
    ) -> Result<(), Report> {
        let inputs = self.inputs(data, words)?;
        let expression = Expression { text, inputs: Some(&inputs), ..Expression::default() };
        let unit =
            self.session.load_expression("<expression>", &expression).map_err(|p| self.told(p))?;
        report::tell(&self.told(unit.warnings.clone()));
        let call = unit.call(RESULT, Operator::Value, None).map_err(|p| self.told(p))?;
        let fields = call.program.fields.clone();
        let value = self.value(call, &inputs, data.engine, data.trap_nan)?;
        self.show_value(data, value, &fields)
    }

    /// Runs a call that takes only the definition's arguments.
    pub(crate) fn value(
        &self,
        call: lambada::Call,
        inputs: &Inputs,
        choice: args::Engine,
        trap_nan: bool,
    ) -> Result<Data, Report> {
        let args = call.arguments(inputs).map_err(|p| self.told(p))?;
        call.assumed(inputs).iter().for_each(|note| report::tell(&messages::note(note)));
        let options =
            Options { engine: engine(choice), trap_nan, ..self.session.options().for_run(&args) };
        self.executed(call, &args, &options)
    }

    /// Compiles and runs a call.
    fn executed(
        &self,
        call: lambada::Call,
        args: &[Data],
        options: &Options,
    ) -> Result<Data, Report> {
        let session = self.session.clone();
        let counted = call.counted(args.iter().map(Some));
        let compiling = progress::working("compiling");
        let executable = Executable::with(call.program, call.entry, options)
            .map_err(|p| self.told(p))?
            .with_observer(Arc::new(move |site, value| {
                report::tell(&session.inspected(site, value));
            }));
        drop(compiling);
        let working = progress::working("running");
        let value = executable.run(args);
        drop(working);
        value.map_err(|f| report::failure(&self.session, &counted.explained(f), self.color))
    }

    /// Reads the data, compiles and runs. `complete` adds the arguments of the operator beyond
    /// those of the definition.
    fn apply(
        &mut self,
        unit: &Unit,
        target: &Target,
        data: &DataArgs,
        operator: Operator,
        wrt: Option<&[String]>,
        complete: impl FnOnce(&lambada::Call, &mut Vec<Data>) -> Result<(), Vec<Problem>>,
    ) -> Result<Outcome, Report> {
        // Problems of the program are reported before problems of the data.
        let inputs = self.inputs(data, &target.words);
        let call = match &inputs {
            Ok(inputs) => unit.call_at(&target.entry, operator, wrt, inputs),
            Err(_) => unit.call(&target.entry, operator, wrt),
        };
        let call = call.map_err(|p| self.told(p))?;
        self.run_call(call, &inputs?, data, operator, complete)
    }

    fn run_call(
        &mut self,
        call: lambada::Call,
        inputs: &Inputs,
        data: &DataArgs,
        operator: Operator,
        complete: impl FnOnce(&lambada::Call, &mut Vec<Data>) -> Result<(), Vec<Problem>>,
    ) -> Result<Outcome, Report> {
        let mut args = call.arguments(inputs).map_err(|p| self.told(p))?;
        call.assumed(inputs).iter().for_each(|note| report::tell(&messages::note(note)));
        complete(&call, &mut args).map_err(|p| self.told(p))?;
        let names = call.wrt_names();
        let options = self.options(data).for_run(&args);
        let fields = call.program.fields.clone();
        let value = self.executed(call, &args, &options)?;
        Ok(Outcome { operator, value, fields, names })
    }

    fn options(&self, data: &DataArgs) -> Options {
        let (engine, trap_nan) = (engine(data.engine), data.trap_nan);
        Options { engine, trap_nan, ..self.session.options().clone() }
    }

    /// Checks that spaces do not split assignments.
    fn assignments(&self, words: &[String]) -> Result<(), Report> {
        lambada::spaced_assignment(words).map_or(Ok(()), |problem| Err(self.told([problem])))
    }

    pub(crate) fn inputs(&self, data: &DataArgs, words: &[String]) -> Result<Inputs, Report> {
        let mut inputs = Inputs::new().with_memory(self.session.options().max_memory);
        if let Some(what) = self.input {
            inputs = inputs.with_input_as(what);
        }
        self.assignments(words)?;
        let mut wrong = Vec::new();
        wrong.extend(data.output.iter().filter_map(|path| lambada::check_output(path).err()));
        wrong.extend(data.files.iter().filter_map(|file| inputs.read_file(file).err()));
        wrong.extend(words.iter().filter_map(|word| inputs.read_argument(word).err()));
        if wrong.is_empty() { Ok(inputs) } else { Err(self.told(wrong)) }
    }

    /// The style of printed results.
    pub(crate) fn style(&self, look: Look) -> Style {
        report::style(look, self.session.options().precision)
    }

    fn show_value(&self, data: &DataArgs, value: Data, fields: &FieldOrder) -> Result<(), Report> {
        self.show_result(data, value, fields, |value| value.show(self.style(data.look)) + "\n")
    }

    /// Prints a result with record fields in alphabetical order, or writes it to a file with fields
    /// in declared order.
    fn show_result(
        &self,
        data: &DataArgs,
        mut value: Data,
        fields: &FieldOrder,
        print: impl FnOnce(&Data) -> String,
    ) -> Result<(), Report> {
        match &data.output {
            Some(path) => {
                fields.arrange(&mut value);
                lambada::write_file(path, &value, self.session.options().precision)
                    .map_err(|p| self.told([p]))
            }
            None => report::result(&print(&value)),
        }
    }

    /// Prints a value and a derivative, as `value = …` and one line or block for each parameter.
    fn show_pair(&self, data: &DataArgs, outcome: Outcome, derivative: &str) -> Result<(), Report> {
        let Data::Tuple(mut pair) = outcome.value else {
            unreachable!("derivatives come with the value")
        };
        let (second, first) =
            (pair.pop().expect("two components"), pair.pop().expect("two components"));
        let second = lambada::label(outcome.operator, &outcome.names, second);
        let both = Data::Record(vec![
            (derivative.into(), second.clone()),
            ("value".into(), first.clone()),
        ]);
        let style = self.style(data.look);
        self.show_result(data, both, &outcome.fields, |_| {
            let lines = match (&second, outcome.names.len() > 1) {
                (Data::Record(fields), true) => fields
                    .iter()
                    .map(|(name, value)| {
                        report::named(&format!("{derivative} {name}"), value, style) + "\n"
                    })
                    .collect(),
                _ => report::named(derivative, &second, style) + "\n",
            };
            format!("{}\n{lines}", report::named("value", &first, style))
        })
    }

    pub(crate) fn derive(
        &mut self,
        file: &Path,
        entry: &str,
        mode: Mode,
        stage: PaperStage,
        wrt: &Wrt,
    ) -> Result<(), Report> {
        let unit = self.load(file)?;
        let stage = match stage {
            PaperStage::Combinators => paper::PaperStage::Combinators,
            PaperStage::Linear => paper::PaperStage::Linear,
            PaperStage::Applied => paper::PaperStage::Applied,
            PaperStage::Shared => paper::PaperStage::Shared,
            PaperStage::Simplified => return self.simplified(&unit, entry, mode, wrt),
        };
        let text = unit
            .paper_stage(entry, paper_mode(mode), stage, wrt.names().as_deref())
            .map_err(|p| self.told(p))?;
        report::result(&text)
    }

    pub(crate) fn explain(
        &mut self,
        file: &Path,
        entry: &str,
        (mode, stage): (Mode, Derived),
        step: Option<usize>,
        format: Format,
    ) -> Result<(), Report> {
        let unit = self.load(file)?;
        let stage = match stage {
            Derived::Linear => paper::PaperStage::Linear,
            Derived::Applied => paper::PaperStage::Applied,
            Derived::Shared => paper::PaperStage::Shared,
        };
        let derivation = unit.derivation(entry, paper_mode(mode), stage, step);
        let derivation = derivation.map_err(|p| self.told(p))?;
        report::result(&match format {
            Format::Text => derivation.text(),
            Format::Latex => derivation.latex(),
            Format::Html => derivation.html(),
            Format::Json => derivation.json(),
        })
    }

    pub(crate) fn doc(&mut self, name: Option<&str>) -> Result<(), Report> {
        let text = lambada::manual(name).map_err(|p| self.told([p]))?;
        report::result(&text)
    }

    pub(crate) fn explain_code(&self, code: &Path) -> Result<(), Report> {
        let text = lambada::explain_code(&code.to_string_lossy()).map_err(|p| self.told([p]))?;
        report::result(&text)
    }

    fn simplified(&self, unit: &Unit, entry: &str, mode: Mode, wrt: &Wrt) -> Result<(), Report> {
        let operator = match mode {
            Mode::Forward => Operator::Jvp,
            Mode::Reverse => Operator::Vjp,
        };
        let text = unit
            .derivative_source(entry, operator, wrt.names().as_deref())
            .map_err(|p| self.told(p))?;
        report::result(&text)
    }

    pub(crate) fn verify(
        &mut self,
        file: &Path,
        mut words: Vec<String>,
        data: &DataArgs,
        wrt: &Wrt,
    ) -> Result<(), Report> {
        self.assignments(&words)?;
        let unit = self.load(file)?;
        let named = words.iter().position(|word| lambada::is_definition(word));
        let entry = named.map(|k| words.remove(k));
        let inputs = self.inputs(data, &words)?;
        let wrt = wrt.names();
        let working = progress::working("verifying");
        let what = Verify {
            entry: entry.as_deref(),
            wrt: wrt.as_deref(),
            inputs: &inputs,
            engine: engine(data.engine),
            drawing: &|definition| working.draws(definition),
        };
        let found = unit.verify(&what);
        drop(working);
        let found = found.map_err(|p| self.told(p))?;
        report::result(&found.to_string())?;
        let problems = found.problems();
        if problems.is_empty() { Ok(()) } else { Err(self.told(problems)) }
    }

    /// Builds a C library and prints the paths of its files.
    pub(crate) fn build(
        &mut self,
        file: &Path,
        entries: Vec<Entry>,
        folder: &Path,
        name: Option<String>,
        platform: Platform,
    ) -> Result<(), Report> {
        let unit = self.load(file)?;
        let name = name.unwrap_or_else(|| lambada_build::name_of(file));
        let request = Request { name, entries, platform };
        let source = file.display().to_string();
        let compiling = progress::working("compiling");
        let made = lambada_build::library(&self.session, &unit, &source, &request);
        drop(compiling);
        let made = made.map_err(|problems| self.told(problems))?;
        let files = lambada_build::write_library(&made, folder);
        let files = files.map_err(|problem| self.told([problem]))?;
        let lines = files.iter().map(|path| format!("{}\n", path.display()));
        report::result(&lines.collect::<String>())
    }

    pub(crate) fn bench(
        &mut self,
        target: &Target,
        files: Vec<PathBuf>,
        wrt: &Wrt,
        mode: Measured,
        count: bool,
        json: bool,
    ) -> Result<(), Report> {
        let start = Instant::now();
        let unit = self.load(&target.file)?;
        let checked = start.elapsed();
        let inputs = self.inputs(&DataArgs::of(files), &target.words)?;
        let wrt = wrt.names();
        let operator = match mode {
            Measured::Reverse => Operator::Vjp,
            Measured::Forward => Operator::Jvp,
            Measured::Value => Operator::Value,
        };
        let (entry, wrt, inputs) = (&*target.entry, wrt.as_deref(), &inputs);
        let working = progress::working("measuring");
        let found = unit.bench(&Bench { entry, operator, wrt, inputs, checked, count });
        drop(working);
        match found {
            Ok(found) => report::result(&if json { found.json() } else { found.to_string() }),
            Err(Stopped::Problems(problems)) => Err(self.told(problems)),
            Err(Stopped::Failure(failure)) => {
                Err(report::failure(&self.session, &failure, self.color))
            }
        }
    }

    pub(crate) fn gradbench(&self, folder: &Path, choice: args::Engine) -> Result<(), Report> {
        let (from, to) = (std::io::stdin().lock(), std::io::stdout().lock());
        let to = std::io::BufWriter::with_capacity(1 << 16, to);
        let options = Options { engine: engine(choice), ..self.session.options().clone() };
        match lambada::gradbench(folder, &options, from, to) {
            Ok(()) => Ok(()),
            Err(Ended::Problem(problem)) => Err(self.told([*problem])),
            Err(Ended::Io(error)) => report::ended(&error),
        }
    }

    pub(crate) fn show(
        &mut self,
        file: &Path,
        entry: &str,
        stage: Stage,
        of: Of,
        wrt: &Wrt,
        after: Option<&str>,
    ) -> Result<(), Report> {
        let unit = match self.load(file) {
            Err(report) if stage == Stage::Surface => {
                let survey = self.session.survey(file).ok();
                if let Some(text) = survey.and_then(|survey| survey.written(entry)) {
                    report::result(&text)?;
                }
                return Err(report);
            }
            loaded => loaded?,
        };
        let operator = match of {
            Of::Value => Operator::Value,
            Of::Grad => Operator::Grad,
            Of::Jvp => Operator::Jvp,
            Of::Vjp => Operator::Vjp,
            Of::Jacobian => Operator::Jacobian,
            Of::Hessian => Operator::Hessian,
        };
        let stage = match stage {
            Stage::Surface => lambada::Stage::Surface,
            Stage::Core => lambada::Stage::Core,
            Stage::Anf => lambada::Stage::Anf,
            Stage::Schedule => lambada::Stage::Schedule,
            Stage::Loops => lambada::Stage::Loops,
            Stage::C => lambada::Stage::C,
        };
        let text = unit
            .show(entry, stage, operator, wrt.names().as_deref(), after)
            .map_err(|p| self.told(p))?;
        report::result(&text)
    }
}

struct Outcome {
    operator: Operator,
    value: Data,
    /// The order of record fields in files.
    fields: FieldOrder,
    names: Vec<std::rc::Rc<str>>,
}

fn paper_mode(mode: Mode) -> paper::Mode {
    match mode {
        Mode::Forward => paper::Mode::Forward,
        Mode::Reverse => paper::Mode::Reverse,
    }
}

pub(crate) fn engine(choice: args::Engine) -> Engine {
    match choice {
        args::Engine::Native => Engine::Native,
        args::Engine::Jit => Engine::Jit,
        args::Engine::Loops => Engine::Loops,
        args::Engine::Anf => Engine::Anf,
        args::Engine::Core => Engine::Core,
    }
}
