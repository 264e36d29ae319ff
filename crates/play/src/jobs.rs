//! Jobs, each in a child process with a deadline.

use std::collections::HashMap;
use std::io::{Read, Write as _};
use std::process::ExitStatus;
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::children::{Children, Pipes, Role, Worker};
use crate::job::{Done, Job};
use crate::messages;

/// Jobs that run at once.
const MOST: usize = 4;

/// Limit on the bytes of an answer.
const LARGEST: u64 = 1 << 26;

/// Limit on the bytes of a child's messages.
const SAID: u64 = 1 << 12;

/// The jobs of all pages.
#[derive(Clone)]
pub(crate) struct Jobs {
    worker: Worker,
    children: Children,
    state: Arc<(Mutex<State>, Condvar)>,
}

/// The jobs that wait and run. A lane has one of them: a newer one takes its place.
#[derive(Default)]
struct State {
    running: usize,
    last: u64,
    lanes: HashMap<String, Latest>,
}

/// The latest job of a lane.
struct Latest {
    ticket: u64,
    number: u64,
    child: Option<u64>,
}

impl State {
    fn is_latest(&self, lane: &str, ticket: u64) -> bool {
        self.lanes.get(lane).is_some_and(|latest| latest.ticket == ticket)
    }
}

impl Jobs {
    pub fn new(worker: Worker, children: Children) -> Jobs {
        Jobs { worker, children, state: Arc::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a job until it is done, stopped or superseded. The page numbers the jobs of a lane,
    /// because requests may overtake each other.
    pub fn done(&self, lane: &str, number: u64, job: &Job) -> Done {
        let Some(ticket) = self.turn(lane, number) else { return Done::Superseded };
        let done = self.run(lane, ticket, job);
        let mut state = self.state();
        state.running -= 1;
        if state.is_latest(lane, ticket) {
            state.lanes.remove(lane);
        }
        drop(state);
        self.state.1.notify_all();
        done
    }

    /// Takes the lane, ends the job that has it, and waits for a turn. `None` if a newer job has
    /// the lane.
    fn turn(&self, lane: &str, number: u64) -> Option<u64> {
        let mut state = self.state();
        if state.lanes.get(lane).is_some_and(|latest| latest.number > number) {
            return None;
        }
        state.last += 1;
        let ticket = state.last;
        let latest = Latest { ticket, number, child: None };
        if let Some(child) = state.lanes.insert(lane.to_string(), latest).and_then(|old| old.child)
        {
            self.children.end(child);
        }
        self.state.1.notify_all();
        while state.running >= MOST && state.is_latest(lane, ticket) {
            state = self.state.1.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if !state.is_latest(lane, ticket) {
            return None;
        }
        state.running += 1;
        Some(ticket)
    }

    /// Notes the child of a job, unless a newer job has its lane.
    fn note(&self, lane: &str, ticket: u64, child: u64) -> bool {
        match self.state().lanes.get_mut(lane) {
            Some(latest) if latest.ticket == ticket => {
                latest.child = Some(child);
                true
            }
            _ => false,
        }
    }

    fn is_latest(&self, lane: &str, ticket: u64) -> bool {
        self.state().is_latest(lane, ticket)
    }

    fn run(&self, lane: &str, ticket: u64, job: &Job) -> Done {
        let started = self.children.start(&self.worker, Role::Job);
        let (child, pipes) = match started {
            Ok(started) => started,
            Err(error) => return Done::Stopped(messages::failed("start a program", &error)),
        };
        if !self.note(lane, ticket, child.id()) {
            return Done::Superseded;
        }
        let Pipes { mut input, output, errors } = pipes;
        let (report, answer) = channel();
        let said = std::thread::spawn(move || read(errors, SAID));
        std::thread::spawn(move || report.send(read(output, LARGEST)));
        let text = serde_json::to_vec(job).unwrap_or_default();
        // A child that has ended does not read; its answer says why.
        _ = input.write_all(&text);
        drop(input);
        let limits = self.worker.limits;
        let Ok(answer) = answer.recv_timeout(limits.time) else {
            child.kill();
            return match self.is_latest(lane, ticket) {
                true => Done::Stopped(messages::out_of_time(limits.time)),
                false => Done::Superseded,
            };
        };
        if let Ok(done) = serde_json::from_slice(&answer) {
            return done;
        }
        if !self.is_latest(lane, ticket) {
            return Done::Superseded;
        }
        let status = child.wait().ok();
        let said = said.join().unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let no_memory = said.contains("memory allocation") || said.contains("no memory");
        if no_memory || status.is_some_and(is_killed) {
            return Done::Stopped(messages::out_of_memory(limits.memory));
        }
        Done::Stopped(messages::broken(&said))
    }
}

fn read(from: impl Read, most: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A broken pipe ends the text early.
    _ = from.take(most).read_to_end(&mut bytes);
    bytes
}

/// Whether a signal has ended the child: the system ends those that take all memory, and stacks
/// that cannot grow end in a fault.
#[cfg(unix)]
fn is_killed(status: ExitStatus) -> bool {
    std::os::unix::process::ExitStatusExt::signal(&status).is_some()
}

#[cfg(not(unix))]
fn is_killed(_: ExitStatus) -> bool {
    false
}
