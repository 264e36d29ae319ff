//! The oracle matrix of the executable paper: a generated term of its source language,
//! differentiated in every way that there is.
//!
//! | way | modes |
//! |---|---|
//! | Appendix A, as it is and through `†` | both |
//! | Appendix C, by its meaning and by the big-step rules | both |
//! | shared, with encoded and with primitive `let`s | both |
//! | closure-converted | reverse |
//! | `core::eval` of the term as a program: dual numbers, a tape | both |
//! | the compiler: before and after optimization, as loops, (by the caller) natively | both |
//! | the compiler from the program's text, through the front end | both |

use std::fmt;

use lambada::operators::{self, Operator};
use lambada::{Engine, Executable, Session};
use lambada_chad::combinators::{self, Comb};
use lambada_chad::generate::Generator;
use lambada_chad::literal::{self, Applied, Derived};
use lambada_chad::shared::{self, Lets};
use lambada_chad::source::{self, Term, Var};
use lambada_chad::value::Value;
use lambada_chad::{Env, applied, closures, operational};
use lambada_core::{Data, DefId, Program, print_program};
use lambada_testkit::{Tolerance, all_close};

use crate::natives::{Native, What};
use crate::oracle::{Stages, agreed};
use lambada::vectors::reals;

/// How many nodes a literal derivative may have (E26): most programs that call captured functions
/// have tens of thousands.
const LARGEST: f64 = 1e5;

/// How many nodes the big-step rules, which substitute, still run in milliseconds.
const LARGEST_RUN: f64 = 2e4;

/// How much two ways may differ, relative to the numbers and to 1.
const TOLERANCE: Tolerance = Tolerance::mixed(1e-9);

/// A generated term between first-order types, with a point, a tangent and a cotangent.
pub struct Subject {
    /// The seed that it comes from.
    pub seed: u64,
    /// `x : T`
    pub x: Var,
    /// `x : T ⊢ t : S`
    pub term: Term,
    comb: Comb,
    size: f64,
    point: Value,
    tangent: Value,
    cotangent: Value,
}

/// Forward or reverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Forward,
    Reverse,
}

/// The answer of one way: the value, and the derivative applied to the tangent or the cotangent.
struct Answer {
    way: &'static str,
    mode: Mode,
    value: Vec<f64>,
    derivative: Vec<f64>,
}

/// A macro that gives primal and linear function together.
type Share = fn(&Var, &Term, Lets) -> (applied::Var, applied::Term);

impl Answer {
    fn new(way: &'static str, mode: Mode, value: &Value, derivative: &Value) -> Answer {
        Answer { way, mode, value: numbers(value), derivative: numbers(derivative) }
    }
}

impl Subject {
    /// The seeds of the generated terms whose literal derivatives are of bearable size.
    pub fn seeds() -> impl Iterator<Item = u64> {
        (0..).filter(|seed| Subject::new(*seed).is_some())
    }

    /// The generated term of a seed, unless its literal derivatives are too large.
    pub fn new(seed: u64) -> Option<Subject> {
        let mut g = Generator::new(seed);
        let (x, term) = g.program();
        Subject::with(seed, g, x, term)
    }

    /// A definition of a program, if it is in the language of the paper and its literal derivatives
    /// are not too large; a seed for the point.
    pub fn of(program: &Program, entry: DefId, seed: u64) -> Option<Subject> {
        let (x, term) = source::of_core(program, entry).ok()?;
        Subject::with(seed, Generator::new(seed), x, term)
    }

    fn with(seed: u64, mut g: Generator, x: Var, term: Term) -> Option<Subject> {
        let comb = combinators::of_term(&x, &term);
        let (point, tangent, cotangent) = (g.value(&x.ty), g.value(&x.ty), g.value(term.ty()));
        let size = literal::size(&comb);
        (size < LARGEST).then_some(Subject { seed, x, term, comb, size, point, tangent, cotangent })
    }

    /// Whether it is small enough for the big-step rules.
    pub fn is_run(&self) -> bool {
        self.size < LARGEST_RUN
    }

    /// Runs the whole matrix.
    pub fn verdict(&self) -> Result<Vec<Native>, String> {
        let mut natives = Vec::new();
        self.compare(&mut natives).map_err(|complaint| format!("{self}{complaint}"))?;
        Ok(natives)
    }

    /// Everything against the meaning of the term and of Appendix A.
    fn compare(&self, natives: &mut Vec<Native>) -> Result<(), String> {
        let value =
            numbers(&source::eval(&self.term, &Env::default().with(&self.x, self.point.clone())));
        let text = self.elaborated()?;
        for (mode, mut answers) in
            [(Mode::Forward, self.forward()?), (Mode::Reverse, self.reverse()?)]
        {
            answers.extend(self.production(mode, &text, natives)?);
            for answer in &answers {
                let what = |what: &str| format!("{}, {:?}, {what}", answer.way, answer.mode);
                all_close(&what("value"), &answer.value, &value, TOLERANCE)?;
                all_close(
                    &what("derivative"),
                    &answer.derivative,
                    &answers[0].derivative,
                    TOLERANCE,
                )?;
            }
        }
        Ok(())
    }

    /// Appendix A is the first.
    fn forward(&self) -> Result<Vec<Answer>, String> {
        let mut answers = self.literal(
            Mode::Forward,
            &Derived::forward(&self.comb),
            &Applied::forward(&self.comb),
            &self.tangent,
        )?;
        answers.extend(self.shared(Mode::Forward, shared::forward, &self.tangent));
        Ok(answers)
    }

    /// Appendix A is the first.
    fn reverse(&self) -> Result<Vec<Answer>, String> {
        let mut answers = self.literal(
            Mode::Reverse,
            &Derived::reverse(&self.comb),
            &Applied::reverse(&self.comb),
            &self.cotangent,
        )?;
        answers.extend(self.shared(Mode::Reverse, shared::reverse, &self.cotangent));
        let (value, pulled) = closures::reverse(&self.x, &self.term, &self.point, &self.cotangent);
        answers.push(Answer::new("closure-converted", Mode::Reverse, &value, &pulled));
        Ok(answers)
    }

    /// The primal once, both kinds of `let`.
    fn shared(&self, mode: Mode, derive: Share, v: &Value) -> [Answer; 2] {
        [("shared, encoded lets", Lets::Encoded), ("shared, primitive lets", Lets::Primitive)].map(
            |(way, lets)| {
                let (x, both) = derive(&self.x, &self.term, lets);
                let both = applied::eval(&both, &Env::default().with(&x, self.point.clone()));
                Answer::new(way, mode, &both.fst(), &both.snd().linear().lapp(v))
            },
        )
    }

    /// The appendices.
    fn literal(
        &self,
        mode: Mode,
        a: &Derived,
        c: &Applied,
        v: &Value,
    ) -> Result<Vec<Answer>, String> {
        let (x, through) = (&self.point, a.dagger());
        let mut answers = vec![
            Answer::new("Appendix A", mode, &a.first(x), &a.second(x, v)),
            Answer::new(
                "Appendix A through the dagger",
                mode,
                &through.first(x),
                &through.second(x, v),
            ),
            Answer::new("Appendix C", mode, &c.first(x), &c.second(x, v)),
        ];
        if self.is_run() {
            let observe = |t: &applied::Term| {
                operational::observe(t)
                    .ok_or(format!("the big-step rules give no numbers at {}", t.ty()))
            };
            let (value, derivative) = (observe(&c.first_at(x))?, observe(&c.second_at(x, v))?);
            answers.push(Answer {
                way: "Appendix C by the big-step rules",
                mode,
                value,
                derivative,
            });
        }
        Ok(answers)
    }

    /// The compiler's derivative: first that on which all of its evaluators and `core::eval` agree,
    /// then that of the program's text.
    fn production(
        &self,
        mode: Mode,
        text: &(Program, DefId),
        natives: &mut Vec<Native>,
    ) -> Result<[Answer; 2], String> {
        let (operator, what, seed) = match mode {
            Mode::Forward => (Operator::Jvp, What::Jvp, &self.tangent),
            Mode::Reverse => (Operator::Vjp, What::Vjp, &self.cotangent),
        };
        let (name, args) = (format!("seed {}", self.seed), [data(&self.point), data(seed)]);
        let (program, entry) = derived(self.program()?, operator)?;
        let stages = Stages::new(&program, entry).map_err(|e| format!("{name}: {what}: {e}"))?;
        let found = agreed((&name, what), (&program, entry), &stages, &args, natives)?
            .map_err(|message| format!("{name}: {what} fails: {message}"))?;
        let name = format!("{name}: {what}");
        let (program, entry) = derived(text.clone(), operator)?;
        let executable = Executable::new(program, entry, Engine::Anf)
            .map_err(|p| format!("{name}, from text: {p:?}"))?;
        let from_text = executable
            .run(&args)
            .map_err(|f| format!("{name}, from text: fails with {}", f.message))?;
        Ok([
            answer("the compiler", mode, found)?,
            answer("the compiler, from text", mode, from_text)?,
        ])
    }

    /// The program in Lambada. `core` prints as users write, but for reductions: to users, the one
    /// by `+` is the prelude's `sum`.
    pub fn text(&self) -> Result<String, String> {
        Ok(print_program(&self.program()?.0).replace("reduce (+)", "sum"))
    }

    /// The text as the front end understands it.
    fn elaborated(&self) -> Result<(Program, DefId), String> {
        let (text, mut session) = (self.text()?, Session::new());
        let checked =
            session.load_text("generated.lam", &text, None).and_then(|unit| unit.definition("f"));
        checked.map_err(|problems| session.render(&problems, false))
    }

    /// The term as a program of the compiler.
    fn program(&self) -> Result<(Program, DefId), String> {
        let mut program = Program::default();
        let entry = source::define(&mut program, "f", std::slice::from_ref(&self.x), &self.term)?;
        Ok((program, entry))
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}: {} : {} |- {}", self.seed, self.x.hint, self.x.ty, self.term)?;
        match self.text() {
            Ok(text) => write!(f, "{text}")?,
            Err(complaint) => writeln!(f, "(not a program: {complaint})")?,
        }
        writeln!(
            f,
            "at {:?}, tangent {:?}, cotangent {:?}",
            self.point, self.tangent, self.cotangent
        )
    }
}

/// Adds a derivative of a definition by its only parameter, which may hold no reals.
fn derived(
    (mut program, entry): (Program, DefId),
    operator: Operator,
) -> Result<(Program, DefId), String> {
    let derived = operators::derive(&mut program, entry, operator, &[0])
        .map_err(|p| format!("{operator:?}: {p:?}"))?;
    Ok((program, derived))
}

/// A value and a derivative as the compiler gives them.
fn answer(way: &'static str, mode: Mode, found: Data) -> Result<Answer, String> {
    match found {
        Data::Tuple(both) if both.len() == 2 => {
            Ok(Answer { way, mode, value: reals(&both[0]), derivative: reals(&both[1]) })
        }
        other => Err(format!("{way}, {mode:?}: {other} is not a value and a derivative")),
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.flatten().expect("the values of a first-order type")
}

fn data(value: &Value) -> Data {
    source::data(value).expect("the values of a first-order type")
}
