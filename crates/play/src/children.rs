//! The child processes of the server. They end with it.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Limits;

/// How to start a child: the command, its options, and the folder.
#[derive(Clone, Debug)]
pub(crate) struct Worker {
    pub command: PathBuf,
    pub options: Vec<OsString>,
    pub folder: Option<PathBuf>,
    pub limits: Limits,
}

/// The task of a child.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Role {
    Job,
    Editor,
}

/// The children that run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Children(Arc<Mutex<Running>>);

#[derive(Debug, Default)]
struct Running {
    last: u64,
    all: HashMap<u64, Arc<Mutex<Child>>>,
    /// Whether the server ends, so that no child starts any more.
    ended: bool,
}

/// A child that runs. Dropping it ends the child.
#[derive(Debug)]
pub(crate) struct Started {
    id: u64,
    child: Arc<Mutex<Child>>,
    children: Children,
}

/// The ends of a child's pipes.
pub(crate) struct Pipes {
    pub input: ChildStdin,
    pub output: ChildStdout,
    pub errors: ChildStderr,
}

impl Children {
    fn running(&self) -> MutexGuard<'_, Running> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a child.
    pub fn start(&self, worker: &Worker, role: Role) -> io::Result<(Started, Pipes)> {
        let mut command = command(worker, role);
        let mut running = self.running();
        if running.ended {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "the server is ending"));
        }
        let mut child = command.spawn()?;
        let pipe = || io::Error::other("a pipe is missing");
        let input = child.stdin.take().ok_or_else(pipe)?;
        let output = child.stdout.take().ok_or_else(pipe)?;
        let errors = child.stderr.take().ok_or_else(pipe)?;
        running.last += 1;
        let (id, child) = (running.last, Arc::new(Mutex::new(child)));
        running.all.insert(id, child.clone());
        let children = self.clone();
        Ok((Started { id, child, children }, Pipes { input, output, errors }))
    }

    /// Ends a child, if it runs.
    pub fn end(&self, id: u64) {
        let child = self.running().all.get(&id).cloned();
        if let Some(child) = child {
            _ = locked(&child).kill();
        }
    }

    /// Ends all children, and lets none start.
    pub fn end_all(&self) {
        let all = {
            let mut running = self.running();
            running.ended = true;
            std::mem::take(&mut running.all)
        };
        for child in all.into_values() {
            let mut child = locked(&child);
            _ = child.kill();
            _ = child.wait();
        }
    }
}

fn locked(child: &Mutex<Child>) -> MutexGuard<'_, Child> {
    child.lock().unwrap_or_else(PoisonError::into_inner)
}

fn command(worker: &Worker, role: Role) -> Command {
    let mut command = Command::new(&worker.command);
    command.args(&worker.options).arg("play-worker").arg(match role {
        Role::Job => "job",
        Role::Editor => "editor",
    });
    command.arg("--seconds").arg(worker.limits.time.as_secs().to_string());
    command.arg("--max-memory").arg(worker.limits.memory.to_string());
    command.args(worker.folder.as_deref().map(Path::as_os_str));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Ctrl-C at the terminal is for the server, which ends its children.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
}

impl Started {
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Ends the child.
    pub fn kill(&self) {
        _ = locked(&self.child).kill();
    }

    /// Waits for the end of a child that has closed its output.
    pub fn wait(&self) -> io::Result<ExitStatus> {
        locked(&self.child).wait()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.children.running().all.remove(&self.id);
        self.kill();
        _ = self.wait();
    }
}
