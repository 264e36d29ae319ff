//! Work that may take long, on threads beside the one that answers: derivatives on one, programs on
//! another, because a program may run forever. A derivation cannot be interrupted; one that takes
//! too long is left behind, and a new thread takes its place.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lambada::{Cancel, Inputs, Operator, Options, Problem, Session, Stopped, Style, Unit, answer};
use serde::{Deserialize, Serialize};

use crate::buffers::Buffers;

/// Time after which a derivation is left behind.
const PATIENCE: Duration = Duration::from_secs(20);

/// Limit on the threads that are left behind.
const MOST_LEFT: usize = 3;

/// Columns of printed values.
const WIDTH: usize = 100;

/// Elements of an array that are printed.
const MOST: usize = 100;

/// Work on a definition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Task {
    pub path: PathBuf,
    pub entry: String,
    pub work: Work,
}

/// A mode of differentiation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    #[default]
    Reverse,
    Forward,
}

impl Mode {
    pub fn operator(self) -> Operator {
        match self {
            Mode::Reverse => Operator::Vjp,
            Mode::Forward => Operator::Jvp,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Work {
    /// The derivative as source, by some parameters.
    Derivative(Mode, Option<Vec<String>>),
    /// The value, for values of the parameters in JSON.
    Run(Vec<String>),
    /// Value and gradient, likewise.
    Gradient(Vec<String>),
}

/// The text that a task results in, or its problems as text.
pub(crate) type Done = Result<String, String>;

/// A number that identifies a task.
pub(crate) type Ticket = u64;

struct Job {
    ticket: Ticket,
    task: Task,
}

/// Sends results to the server.
type Report = Arc<dyn Fn(Ticket, Done) + Send + Sync>;

/// A thread that does one task after the other.
struct Thread {
    jobs: Sender<Job>,
    cancel: Cancel,
    /// The tasks that it has, with the time at which the first one began.
    open: Vec<Ticket>,
    since: Instant,
}

/// The threads, and the derivatives of the current texts.
pub(crate) struct Workers {
    buffers: Arc<Buffers>,
    options: Options,
    report: Report,
    derives: Option<Thread>,
    runs: Option<Thread>,
    left: usize,
    next: Ticket,
    /// Derivatives of the current texts, and the tasks that will make more.
    known: HashMap<Task, Done>,
    making: HashMap<Ticket, Task>,
    cancelled: Cancelled,
}

/// The tasks that are cancelled before they have begun.
#[derive(Clone, Default)]
struct Cancelled(Arc<Mutex<HashSet<Ticket>>>);

impl Cancelled {
    fn all(&self) -> MutexGuard<'_, HashSet<Ticket>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Workers {
    pub fn new(buffers: Arc<Buffers>, options: Options, report: Report) -> Workers {
        Workers {
            buffers,
            options,
            report,
            derives: None,
            runs: None,
            left: 0,
            next: 0,
            known: HashMap::new(),
            making: HashMap::new(),
            cancelled: Cancelled::default(),
        }
    }

    /// The result of a derivation that is known already.
    pub fn known(&self, task: &Task) -> Option<&Done> {
        self.known.get(task)
    }

    /// Begins a task, whose result comes with the ticket.
    pub fn begin(&mut self, task: Task) -> Ticket {
        self.next += 1;
        let ticket = self.next;
        let derives = matches!(task.work, Work::Derivative(..));
        if derives {
            self.making.insert(ticket, task.clone());
        }
        let own = if derives { &mut self.derives } else { &mut self.runs };
        let late = |thread: &Thread| !thread.open.is_empty() && thread.since.elapsed() > PATIENCE;
        if derives && own.as_ref().is_some_and(late) && self.left < MOST_LEFT {
            self.left += 1;
            *own = None;
        }
        let thread = own.get_or_insert_with(|| {
            let session = (self.buffers.clone(), self.options.clone());
            started(session, self.report.clone(), self.cancelled.clone())
        });
        if thread.open.is_empty() {
            thread.since = Instant::now();
        }
        thread.open.push(ticket);
        _ = thread.jobs.send(Job { ticket, task });
        ticket
    }

    /// Notes that a task is done.
    pub fn done(&mut self, ticket: Ticket, done: &Done) {
        self.cancelled.all().remove(&ticket);
        for thread in [&mut self.derives, &mut self.runs].into_iter().flatten() {
            if thread.open.first() == Some(&ticket) {
                thread.since = Instant::now();
            }
            thread.open.retain(|open| *open != ticket);
        }
        if let Some(task) = self.making.remove(&ticket) {
            self.known.insert(task, done.clone());
        }
    }

    /// Begins a derivation, unless it is under way.
    pub fn derive(&mut self, task: Task) -> Ticket {
        let under_way = self.making.iter().find(|(_, known)| **known == task);
        under_way.map(|(ticket, _)| *ticket).unwrap_or_else(|| self.begin(task))
    }

    /// Ends a program that runs, or a task that waits.
    pub fn cancel(&mut self, ticket: Ticket) {
        self.making.remove(&ticket);
        self.cancelled.all().insert(ticket);
        if let Some(thread) = self.runs.as_ref().filter(|one| one.open.first() == Some(&ticket)) {
            thread.cancel.cancel();
        }
    }

    /// Forgets derivatives, because a text has changed.
    pub fn forget(&mut self) {
        self.known.clear();
        self.making.clear();
    }
}

fn started(
    (buffers, options): (Arc<Buffers>, Options),
    report: Report,
    cancelled: Cancelled,
) -> Thread {
    let (jobs, queue): (Sender<Job>, Receiver<Job>) = channel();
    let cancel = Cancel::new();
    let own = cancel.clone();
    let work = move || {
        let mut session = Session::with(buffers, options);
        for Job { ticket, task } in queue {
            own.reset();
            if cancelled.all().contains(&ticket) {
                report(ticket, Err("cancelled".to_string()));
                continue;
            }
            let attempt = || {
                let run = || own.run(|| finished(&mut session, &task));
                lambada::roomy(run)
            };
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(attempt));
            report(ticket, done.unwrap_or_else(|_| Err("internal error".to_string())));
        }
    };
    // Without a thread, the tasks have no results.
    _ = std::thread::Builder::new().name("worker".to_string()).spawn(work);
    Thread { jobs, cancel, open: Vec::new(), since: Instant::now() }
}

fn finished(session: &mut Session, task: &Task) -> Done {
    let told = |session: &Session, problems: &[Problem]| session.render(problems, false);
    let unit = session.load(&task.path).map_err(|problems| told(session, &problems))?;
    match &task.work {
        Work::Derivative(mode, wrt) => unit
            .derivative_source(&task.entry, mode.operator(), wrt.as_deref())
            .map_err(|problems| told(session, &problems)),
        Work::Run(values) => evaluated(session, &unit, &task.entry, values, Operator::Value),
        Work::Gradient(values) => evaluated(session, &unit, &task.entry, values, Operator::Grad),
    }
}

/// Runs a definition, or its gradient, on values in JSON.
fn evaluated(
    session: &Session,
    unit: &Unit,
    entry: &str,
    values: &[String],
    operator: Operator,
) -> Done {
    let told = |problems: Vec<Problem>| session.render(&problems, false);
    let mut inputs = Inputs::new();
    for value in values {
        inputs.read_argument(value).map_err(|problem| told(vec![problem]))?;
    }
    let answer = answer(unit, entry, operator, None, &inputs).map_err(|stopped| match stopped {
        Stopped::Problems(problems) => told(problems),
        Stopped::Failure(why) => session.render_failure(&why, false),
    })?;
    let style = Style {
        width: Some(WIDTH),
        most: Some(MOST),
        reals: session.options().precision,
        ..Style::default()
    };
    let value = answer.value.show(style);
    Ok(match answer.derivative {
        Some(gradient) => format!("value = {value}\ngradient = {}\n", gradient.show(style)),
        None => format!("{value}\n"),
    })
}
