//! The oracle matrix for one definition at one point:
//!
//! - evaluated by the meaning of the language = as array code, before and after optimization = as
//!   loops = (by the caller) natively;
//! - forward derivative = central differences, component by component; forward against reverse,
//!   ⟨Jv, w⟩ = ⟨v, Jᵀw⟩, and for single coordinates v, so that a small component counts as much as
//!   a large one; both keep the value;
//! - once nested: the forward and the reverse derivative of the reverse derivative against
//!   differences of it, and against each other;
//! - where the value fails, so do its derivatives, with the same words.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use lambada::operators::{self, Operator};
use lambada::{Data, Executable, Failure, Tensor, Unit};
use lambada_core as core;
use lambada_core::{DefId, Program, SizedTy};
use lambada_loops as loops;

use lambada_prim::{Precision, ScalarTy};
use lambada_testkit::{Confirmed, Random, Tolerance, all_close, confirm};

use crate::natives::{Native, What};
use crate::nests;
use lambada::vectors::{inner, moved, reals, with_reals};

/// A definition with one value per parameter.
pub struct Case {
    /// For messages.
    pub name: String,
    /// The program.
    pub program: Program,
    /// The definition.
    pub entry: DefId,
    /// The arguments.
    pub args: Vec<Data>,
    /// Which parameters to differentiate with respect to; none for programs without reals.
    pub wrt: Vec<usize>,
    compiled: Ladder,
}

/// The value and the derivatives of one definition, as far as they are compiled.
type Ladder = Rc<RefCell<HashMap<What, Rc<Stages>>>>;

/// The definitions of a file, each compiled once for all points.
pub struct Cases<'a> {
    unit: &'a Unit,
    compiled: HashMap<String, Ladder>,
}

impl Cases<'_> {
    /// Nothing is compiled yet.
    pub fn of(unit: &Unit) -> Cases<'_> {
        Cases { unit, compiled: HashMap::new() }
    }

    /// A definition at arguments.
    pub fn at(&mut self, entry: &str, args: Vec<Data>) -> Result<Case, String> {
        let compiled = self.compiled.entry(entry.to_string()).or_default().clone();
        Ok(Case { compiled, ..Case::new(self.unit, entry, args)? })
    }
}

/// A case on which all agree.
#[derive(Default)]
pub struct Agreement {
    /// The expected results of native code.
    pub natives: Vec<Native>,
    /// How many components differences could decide, of first and second derivatives.
    pub differences: Confirmed,
    /// Whether the value and its derivatives fail.
    pub fails: bool,
}

/// The verdict on a case: agreement, or the disagreement.
pub type Verdict = Result<Agreement, String>;

/// The greatest number of coordinates of a gradient that are compared one by one.
const COORDINATES: usize = 8;

impl Case {
    /// A definition of a checked file at arguments.
    pub fn new(unit: &Unit, entry: &str, args: Vec<Data>) -> Result<Case, String> {
        let (program, id) = unit.definition(entry).map_err(|p| format!("{p:?}"))?;
        let wrt = differentiable(&program, id)?;
        let compiled = Ladder::default();
        Ok(Case { name: entry.to_string(), program, entry: id, args, wrt, compiled })
    }

    /// Runs the whole matrix.
    pub fn verdict(&self) -> Verdict {
        let mut agreement = Agreement::default();
        let told = |e: String| format!("{}: {e}", self.name);
        match self.outcome(
            self.program.clone(),
            self.entry,
            &self.args,
            What::Value,
            &mut agreement,
        )? {
            Ok(value) if self.wrt.is_empty() || reals(&value).is_empty() => {}
            Ok(value) => self.derivatives(&value, &mut agreement).map_err(told)?,
            Err(message) => {
                agreement.fails = true;
                if !self.wrt.is_empty() {
                    self.failures(&message, &mut agreement).map_err(told)?;
                }
            }
        }
        Ok(agreement)
    }

    /// Evaluators against each other, on the value and the reverse derivative: all that can be
    /// asked for where reals have 32 bits.
    pub fn evaluators(&self) -> Verdict {
        let mut agreement = Agreement::default();
        let program = self.program.clone();
        let value = self.outcome(program, self.entry, &self.args, What::Value, &mut agreement)?;
        agreement.fails = value.is_err();
        if let Ok(value) = value
            && !self.wrt.is_empty()
            && !reals(&value).is_empty()
        {
            let mut random = Random(7);
            let cotangent = with_reals(&value, &mut || f64::from(random.between(-1.0, 1.0) as f32));
            let (program, vjp) = self.derived(self.program.clone(), self.entry, Operator::Vjp)?;
            let args = with(&self.args, &cotangent);
            self.agreed(program, vjp, &args, What::Vjp, &mut agreement)?;
        }
        Ok(agreement)
    }

    /// The value or the message on which all agree.
    fn outcome(
        &self,
        program: Program,
        entry: DefId,
        args: &[Data],
        what: What,
        agreement: &mut Agreement,
    ) -> Result<Result<Data, String>, String> {
        let known = self.compiled.borrow().get(&what).cloned();
        let stages = match known {
            Some(stages) => stages,
            None => {
                let stages = Stages::new(&program, entry)
                    .map_err(|e| format!("{}: {what}: {e}", self.name))?;
                let stages = Rc::new(stages);
                self.compiled.borrow_mut().insert(what, stages.clone());
                stages
            }
        };
        agreed((&self.name, what), (&program, entry), &stages, args, &mut agreement.natives)
    }

    /// The value on which all agree, of a derivative of a definition that does not fail.
    fn agreed(
        &self,
        program: Program,
        entry: DefId,
        args: &[Data],
        what: What,
        agreement: &mut Agreement,
    ) -> Result<Data, String> {
        self.outcome(program, entry, args, what, agreement)?
            .map_err(|message| format!("{what} fails where the value does not: {message}"))
    }

    /// Where the value fails, so do the derivatives.
    fn failures(&self, message: &str, agreement: &mut Agreement) -> Result<(), String> {
        let mut random = Random(7);
        let tangent = with_reals(&self.point(), &mut || random.between(-1.0, 1.0));
        let (program, jvp) = self.derived(self.program.clone(), self.entry, Operator::Jvp)?;
        let mut derivatives = vec![(What::Jvp, program, jvp, tangent)];
        let (program, vjp) = self.derived(self.program.clone(), self.entry, Operator::Vjp)?;
        // Only the sizes of a single number are known without the value.
        let cotangent = program.def(vjp).signature.params.last().map(|(_, ty)| ty.clone());
        if cotangent == Some(SizedTy::Scalar(ScalarTy::Real)) {
            derivatives.push((What::Vjp, program, vjp, Data::from(1.0)));
        }
        for (what, program, entry, seed) in derivatives {
            let args = with(&self.args, &seed);
            match self.outcome(program, entry, &args, what, agreement)? {
                Err(found) if found == message => {}
                Err(found) => {
                    return Err(format!("{what} fails with {found:?} instead of {message:?}"));
                }
                Ok(value) => {
                    return Err(format!("{what} gives {value} where the value fails: {message}"));
                }
            }
        }
        Ok(())
    }

    fn derivatives(&self, value: &Data, agreement: &mut Agreement) -> Result<(), String> {
        let mut random = Random(7);
        let mut draw = |data: &Data| with_reals(data, &mut || random.between(-1.0, 1.0));
        let tangent = draw(&self.point());
        let cotangent = draw(value);

        let (jvp_program, jvp) = self.derived(self.program.clone(), self.entry, Operator::Jvp)?;
        let args = with(&self.args, &tangent);
        let (kept, pushed) =
            pair(self.agreed(jvp_program.clone(), jvp, &args, What::Jvp, agreement)?)?;
        all_close(&"value of jvp", &reals(&kept), &reals(value), Tolerance::mixed(1e-12))?;

        let (vjp_program, vjp) = self.derived(self.program.clone(), self.entry, Operator::Vjp)?;
        let outer = with(&self.args, &cotangent);
        let (kept, pulled) =
            pair(self.agreed(vjp_program.clone(), vjp, &outer, What::Vjp, agreement)?)?;
        all_close(&"value of vjp", &reals(&kept), &reals(value), Tolerance::mixed(1e-12))?;

        let (pushed, pulled) = (reals(&pushed), reals(&pulled));
        transposed(
            "⟨Jv, w⟩ against ⟨v, Jᵀw⟩",
            &pushed,
            &reals(&cotangent),
            &reals(&tangent),
            &pulled,
        )?;
        self.coordinates(&jvp_program, jvp, &cotangent, &pulled)?;
        self.differences("jvp", &tangent, &pushed, agreement, |args| {
            core::eval::run(&self.program, self.entry, args).ok()
        })?;

        let mut along = |program, jvp, args: &[Data], tangent: &Data, what| {
            let drawn = [tangent.clone(), draw(tangent), draw(tangent)];
            let (program, entry) = along_rows(program, jvp);
            self.agreed(program, entry, &with(args, &stacked(&drawn)), what, agreement)
        };
        along(jvp_program, jvp, &self.args, &tangent, What::Jvps)?;

        // Once nested: g(x) = Jᵀ(x) w, with w fixed.
        let gradient = |args: &[Data]| {
            let both = core::eval::run(&vjp_program, vjp, &with(args, &cotangent));
            both.ok().and_then(|both| pair(both).ok()).map(|(_, gradient)| gradient)
        };
        let (program, entry) = self.derived(vjp_program.clone(), vjp, Operator::Jvp)?;
        along(program.clone(), entry, &outer, &tangent, What::JvpsOfVjp)?;
        let args = with(&outer, &tangent);
        let second = self.agreed(program, entry, &args, What::JvpOfVjp, agreement)?;
        let (_, second) = pair(pair(second)?.1)?;
        let second = reals(&second);
        self.differences("jvp of vjp", &tangent, &second, agreement, gradient)?;

        let (program, entry) = self.derived(vjp_program, vjp, Operator::Vjp)?;
        let seeds = Data::Tuple(vec![with_reals(value, &mut || 0.0), tangent.clone()]);
        let args = with(&outer, &seeds);
        let back = pair(self.agreed(program, entry, &args, What::VjpOfVjp, agreement)?)?.1;
        // The Hessian of ⟨w, f⟩ is symmetric: Hv forward over reverse is vᵀH reverse over reverse.
        let tolerance = Tolerance::relative(1e-8).and_absolute(1e-11 * largest(&second));
        all_close(&"vjp of vjp against jvp of vjp", &reals(&back), &second, tolerance)
    }

    /// Coordinates of the gradient of ⟨w, f⟩ against the forward derivative along each: small
    /// coordinates do not hide behind large ones.
    fn coordinates(
        &self,
        jvp_program: &Program,
        jvp: DefId,
        cotangent: &Data,
        gradient: &[f64],
    ) -> Result<(), String> {
        let mut random = Random(9);
        let count = gradient.len();
        let chosen: Vec<usize> = if count <= COORDINATES {
            (0..count).collect()
        } else {
            (0..COORDINATES).map(|_| random.below(count)).collect()
        };
        let point = self.point();
        for k in chosen {
            let mut place = 0..;
            let along = with_reals(&point, &mut || f64::from(u8::from(place.next() == Some(k))));
            let both = core::eval::run(jvp_program, jvp, &with(&self.args, &along))
                .map_err(|f| format!("jvp along coordinate {k} fails: {}", f.message))?;
            let pushed = reals(&pair(both)?.1);
            let unit = (0..count).map(|i| f64::from(u8::from(i == k))).collect::<Vec<_>>();
            transposed(
                &format!("coordinate {k} of the gradient"),
                &pushed,
                &reals(cotangent),
                &unit,
                gradient,
            )?;
        }
        Ok(())
    }

    fn derived(
        &self,
        mut program: Program,
        entry: DefId,
        operator: Operator,
    ) -> Result<(Program, DefId), String> {
        let id = operators::derive(&mut program, entry, operator, &self.wrt)
            .map_err(|p| format!("{p:?}"))?;
        Ok((program, id))
    }

    /// The arguments that are differentiated with respect to, packed as the operators pack them.
    pub(crate) fn point(&self) -> Data {
        match &self.wrt[..] {
            [single] => self.args[*single].clone(),
            several => Data::Tuple(several.iter().map(|k| self.args[*k].clone()).collect()),
        }
    }

    fn at(&self, point: &Data) -> Vec<Data> {
        let mut args = self.args.clone();
        match (&self.wrt[..], point) {
            ([single], point) => args[*single] = point.clone(),
            (several, Data::Tuple(items)) => {
                several.iter().zip(items).for_each(|(k, item)| args[*k] = item.clone())
            }
            _ => unreachable!("several parameters make a tuple"),
        }
        args
    }

    /// Differences along the tangent, component by component.
    fn differences(
        &self,
        what: &str,
        tangent: &Data,
        derivative: &[f64],
        agreement: &mut Agreement,
        f: impl Fn(&[Data]) -> Option<Data>,
    ) -> Result<(), String> {
        let point = self.point();
        let mut moving =
            |h: f64| f(&self.at(&moved(&point, h, tangent))).map(|value| reals(&value));
        let confirmed = confirm(derivative, &mut moving)
            .map_err(|e| format!("{what} against differences: {e}"))?;
        agreement.differences.add(confirmed);
        Ok(())
    }
}

/// `\a₁ … aₙ tangents -> for j < length tangents => jvp a₁ … aₙ tangents[j]`, for a definition
/// whose last parameter is the tangent: core takes one direction after the other, all that is
/// compiled takes them at once.
fn along_rows(mut program: Program, jvp: DefId) -> (Program, DefId) {
    let def = program.def(jvp).clone();
    let (mut at, mut params) = (def.body.ty().clone(), Vec::new());
    for (name, _) in &def.signature.params {
        let core::Ty::Fun(from, to) = at else { panic!("{name} is no parameter") };
        params.push(program.fresh(name, (*from).clone()));
        at = (*to).clone();
    }
    let tangent = params.pop().expect("the tangent is a parameter");
    let tangents = program.fresh("tangents", core::Ty::array(tangent.ty));
    let j = program.fresh("j", core::Ty::INT);
    let row = core::index(core::var(&tangents), vec![core::var(&j)], def.span);
    let f = core::Term::new(core::TermKind::Global(jvp), def.body.ty().clone(), def.span);
    let args = params.iter().map(core::var).chain([row]);
    let both = args.fold(f, core::app);
    let all = core::for_(j, core::dim(core::var(&tangents), 0), both);
    let body = params.into_iter().chain([tangents]).rev().fold(all, |body, x| core::lam(x, body));
    let mut signature = def.signature.clone();
    if let Some((_, ty)) = signature.params.last_mut() {
        *ty = SizedTy::Array(core::Size::Any, Box::new(ty.clone()));
    }
    signature.result = None;
    let entry = program.define(def.name, body, signature, def.span);
    (program, entry)
}

/// An array of values of one shape.
fn stacked(items: &[Data]) -> Data {
    let Data::Tensor(first) = &items[0] else { return Data::Array(items.to_vec()) };
    let len = first.data.len();
    let mut all = lambada::Tensor {
        dims: [&[items.len()], &first.dims[..]].concat(),
        data: lambada::Elements::zeros(first.elem(), items.len() * len),
    };
    for (k, item) in items.iter().enumerate() {
        let Data::Tensor(item) = item else { panic!("{item} is no array of scalars") };
        (0..len).for_each(|i| all.data.set(k * len + i, item.data.get(i)));
    }
    Data::Tensor(all)
}

/// ⟨Jv, w⟩ = ⟨v, Jᵀw⟩, up to the rounding of the sums.
fn transposed(
    what: &str,
    pushed: &[f64],
    cotangent: &[f64],
    tangent: &[f64],
    pulled: &[f64],
) -> Result<(), String> {
    let absolute = |xs: &[f64]| xs.iter().map(|x| x.abs()).collect::<Vec<_>>();
    let size = inner(&absolute(pushed), &absolute(cotangent));
    let (forward, reverse) = (inner(pushed, cotangent), inner(tangent, pulled));
    let other = inner(&absolute(tangent), &absolute(pulled));
    let finite = [size, other].into_iter().filter(|size| size.is_finite()).fold(0.0, f64::max);
    let tolerance = Tolerance::relative(1e-9).and_absolute(1e-9 * finite + 1e-12);
    lambada_testkit::close(&what, reverse, forward, tolerance)
}

/// The size of the largest finite number, at least 1.
fn largest(xs: &[f64]) -> f64 {
    xs.iter().map(|x| x.abs()).filter(|x| x.is_finite()).fold(1.0, f64::max)
}

/// The parameters that hold reals: none if there is no such parameter, an error if the definition
/// cannot be differentiated for another reason.
pub fn differentiable(program: &Program, entry: DefId) -> Result<Vec<usize>, String> {
    match operators::choose(program, entry, None) {
        Ok(wrt) => Ok(wrt),
        Err(problem) if problem.code == "E0512" => Ok(Vec::new()),
        Err(problem) => Err(format!("{problem:?}")),
    }
}

/// A definition at all stages of the compiler.
pub struct Stages {
    /// As arrays, before and after optimization, and as loops.
    executables: [Executable; 3],
    /// As loops, one element after the other.
    plain: loops::Function,
    /// With nests wherever there can be any.
    nests: loops::Function,
    /// `nests` as machine code.
    translated: loops::Program,
}

impl Stages {
    /// Compiles a definition.
    pub fn new(program: &Program, entry: DefId) -> Result<Stages, String> {
        let arrays = lambada::arrays(program, entry).map_err(|p| format!("{p:?}"))?;
        let nests = nests::everywhere(&arrays);
        Ok(Stages {
            executables: Executable::stages(&arrays),
            plain: lambada::lower(&arrays),
            translated: translated(&nests),
            nests,
        })
    }
}

/// The value that all evaluators agree on, or the message where all fail. Native code is left to
/// the caller, who compiles many at once.
pub fn agreed(
    (name, what): (&str, What),
    (program, entry): (&Program, DefId),
    stages: &Stages,
    args: &[Data],
    natives: &mut Vec<Native>,
) -> Result<Result<Data, String>, String> {
    let name = format!("{name}: {what}");
    let precision = program.precision;
    let expected = core::eval::run(program, entry, args);
    let [unoptimized, optimized, lowered] = &stages.executables;
    for (stage, executable) in
        [("normalized", unoptimized), ("optimized", optimized), ("as loops", lowered)]
    {
        let found = executable.run(args);
        same(precision, &format!("{name}, {stage} against core"), &expected, &found)?;
    }
    let tensors = lowered.tensors(args).map_err(|f| format!("{name}: {}", f.message))?;
    let result = loops::eval(&stages.nests, &tensors);
    let plain = loops::eval(&stages.plain, &tensors);
    close(precision, &format!("{name}, with nests"), &plain, &result)?;
    let run = stages.translated.run(&tensors);
    close(precision, &format!("{name}, translated"), &result, &run)?;
    let function = stages.nests.clone();
    natives.push(Native { name, what, function, args: tensors, expected: result });
    Ok(expected.map_err(|failure| failure.message))
}

/// Machine code that is made here, where the processor has the instructions.
pub fn translated(function: &loops::Function) -> loops::Program {
    match lambada_jit::translator(true) {
        Some(translator) => loops::Program::translated(function, translator),
        None => loops::Program::new(function),
    }
}

/// Compares results, up to the order of sums, and failures.
fn close(
    precision: Precision,
    what: &str,
    expected: &Results,
    found: &Results,
) -> Result<(), String> {
    match (expected, found) {
        (Ok(a), Ok(b)) => {
            let whole =
                |all: &[Tensor]| Data::Tuple(all.iter().cloned().map(Data::Tensor).collect());
            let close = core::data::close(&whole(a), &whole(b), rounding(precision));
            close.map_err(|e| format!("{what}: {e}"))
        }
        (Err(a), Err(b)) if a.message == b.message => Ok(()),
        (_, _) => Err(format!("{what}: {found:?} instead of {expected:?}")),
    }
}

type Results = Result<Vec<Tensor>, Failure>;

/// The arguments and one more.
fn with(args: &[Data], last: &Data) -> Vec<Data> {
    args.iter().cloned().chain([last.clone()]).collect()
}

fn pair(data: Data) -> Result<(Data, Data), String> {
    match data {
        Data::Tuple(items) => <[Data; 2]>::try_from(items)
            .map(|[a, b]| (a, b))
            .map_err(|items| format!("a pair, not {items:?}")),
        other => Err(format!("a pair was expected, not {other:?}")),
    }
}

/// How far apart results may be, because sums are taken in any order.
fn rounding(precision: Precision) -> f64 {
    match precision {
        Precision::F64 => 1e-9,
        Precision::F32 => 2e-3,
    }
}

/// Equal up to the order of floating-point sums, or both failures with the same words.
pub fn same(
    precision: Precision,
    what: &str,
    expected: &Result<Data, lambada::Failure>,
    found: &Result<Data, lambada::Failure>,
) -> Result<(), String> {
    match (expected, found) {
        (Ok(a), Ok(b)) => {
            core::data::close(a, b, rounding(precision)).map_err(|e| format!("{what}: {e}"))
        }
        (Err(a), Err(b)) if a.message == b.message => Ok(()),
        (Err(a), Err(b)) => {
            Err(format!("{what}: fails with {:?} instead of {:?}", b.message, a.message))
        }
        (Ok(a), Err(b)) => Err(format!("{what}: fails with {:?} instead of giving {a}", b.message)),
        (Err(a), Ok(b)) => {
            Err(format!("{what}: gives {b} instead of failing with {:?}", a.message))
        }
    }
}
