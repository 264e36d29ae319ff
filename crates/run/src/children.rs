//! Child processes that end with this process, regardless of how it ends.
//!
//! A C compiler starts processes of its own, but a signal ends only one process. Therefore a
//! [`Children`] runs all programs in one process group. Its leader is a shell that waits for the
//! end of a pipe, which the system closes however this process ends, even by SIGKILL. The shell
//! then ends the group: with SIGTERM, so that compilers remove their temporary files, and after a
//! moment with SIGKILL.
//!
//! No child outlives [`Children::outputs`]. The leader is reaped last, so that no other process can
//! get the number of the group while it is in use.

#![allow(unsafe_code)]

use std::io;
use std::process::{Child, Command, Output, Stdio};

use crate::Cancel;

use group::Group;
pub use group::end_children;

/// Programs that run concurrently.
#[derive(Debug, Default)]
pub struct Children(Vec<Command>);

impl Children {
    /// A single program.
    pub fn one(command: Command) -> Children {
        Children(vec![command])
    }

    /// Adds a program.
    pub fn push(&mut self, command: Command) {
        self.0.push(command);
    }

    /// Runs all programs to completion, without standard input and output, and returns their
    /// standard error. If one does not start, or the call is cancelled, ends the others.
    pub fn outputs(self) -> Vec<io::Result<Output>> {
        let group = match Group::new() {
            Ok(group) => group,
            Err(error) => {
                let failed = |_| Err(io::Error::new(error.kind(), error.to_string()));
                return self.0.iter().map(failed).collect();
            }
        };
        let run = || {
            let start = |mut command: Command| {
                command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
                group.start(&mut command).inspect_err(|_| group.end())
            };
            let started: Vec<io::Result<Child>> = self.0.into_iter().map(start).collect();
            started.into_iter().map(|child| child.and_then(Child::wait_with_output)).collect()
        };
        match Cancel::current() {
            Some(cancel) => cancel.during(group.running(), run),
            None => run(),
        }
    }
}

#[cfg(unix)]
mod group {
    use std::io;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, ChildStdin, Command, Stdio};
    use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
    use std::time::Duration;

    use crate::running::Running;

    /// Waits for the end of standard input, then ends its group. Ignores signals to the group and
    /// of a terminal.
    const LEADER: &str =
        "trap '' HUP INT TERM; read -r _; kill -TERM 0; sleep 0.3 || sleep 1; kill -KILL 0";

    /// Time that an ending process waits for its children.
    const PATIENCE: Duration = Duration::from_millis(400);

    /// The end of a pipe that keeps a group alive.
    pub(crate) type Leash = Arc<Mutex<Option<ChildStdin>>>;

    /// The running groups, and whether new ones are refused.
    static GROUPS: Mutex<(Vec<Leash>, bool)> = Mutex::new((Vec::new(), false));
    static GONE: Condvar = Condvar::new();

    fn groups() -> MutexGuard<'static, (Vec<Leash>, bool)> {
        GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends a group.
    pub(crate) fn let_go(leash: &Leash) {
        drop(leash.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Ends all children of a process that is about to exit, and waits for them. Refuses new ones.
    pub fn end_children() {
        let mut groups = groups();
        groups.1 = true;
        groups.0.iter().for_each(let_go);
        // The threads that wait for children report their end; if that takes long, the shells will
        // end them.
        let _ = GONE.wait_timeout_while(groups, PATIENCE, |groups| !groups.0.is_empty());
    }

    /// A process group.
    #[derive(Debug)]
    pub(super) struct Group {
        leader: Child,
        leash: Leash,
    }

    impl Group {
        /// Starts a group with its leader.
        pub fn new() -> io::Result<Group> {
            let mut groups = groups();
            if groups.1 {
                return Err(io::Error::new(io::ErrorKind::Interrupted, "the process is ending"));
            }
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", LEADER]).process_group(0).stdin(Stdio::piped());
            let mut leader = shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
            let leash: Leash = Arc::new(Mutex::new(leader.stdin.take()));
            groups.0.push(leash.clone());
            Ok(Group { leader, leash })
        }

        /// Starts a program in the group, unless the group is ending.
        pub fn start(&self, command: &mut Command) -> io::Result<Child> {
            let leash = self.leash.lock().unwrap_or_else(PoisonError::into_inner);
            if leash.is_none() {
                return Err(io::Error::new(io::ErrorKind::Interrupted, "it is to end"));
            }
            command.process_group(self.number()).spawn()
        }

        /// Ends all programs of the group.
        pub fn end(&self) {
            let_go(&self.leash);
        }

        /// The handle that ends the group when a call is cancelled.
        pub fn running(&self) -> Running {
            Running::Children(self.leash.clone())
        }

        fn number(&self) -> i32 {
            self.leader.id().cast_signed()
        }
    }

    impl Drop for Group {
        fn drop(&mut self) {
            // SAFETY: the leader has not been waited for, so the number is that of this group.
            unsafe { libc::kill(-self.number(), libc::SIGKILL) };
            // Waiting fails where children are reaped automatically.
            let _ = self.leader.wait();
            groups().0.retain(|leash| !Arc::ptr_eq(leash, &self.leash));
            GONE.notify_all();
        }
    }
}

#[cfg(not(unix))]
mod group {
    use std::io;
    use std::process::{Child, Command};
    use std::sync::Arc;

    use crate::running::Running;

    /// No groups exist on this system.
    pub(crate) type Leash = Arc<()>;

    pub(crate) fn let_go(_: &Leash) {}

    /// A no-op.
    pub fn end_children() {}

    #[derive(Debug)]
    pub(super) struct Group;

    impl Group {
        pub fn new() -> io::Result<Group> {
            Ok(Group)
        }

        pub fn start(&self, command: &mut Command) -> io::Result<Child> {
            command.spawn()
        }

        pub fn end(&self) {}

        pub fn running(&self) -> Running {
            Running::Children(Arc::new(()))
        }
    }
}

pub(crate) use group::{Leash, let_go};

#[cfg(all(test, unix))]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn all_run_to_their_ends() {
        let mut children = Children::default();
        children.push(shell("echo one >&2"));
        children.push(shell("echo two >&2; exit 3"));
        let outputs: Vec<Output> = children.outputs().into_iter().map(Result::unwrap).collect();
        let told: Vec<_> = outputs.iter().map(|o| (o.status.code(), o.stderr.as_slice())).collect();
        assert_eq!(told, [(Some(0), b"one\n".as_slice()), (Some(3), b"two\n".as_slice())]);
    }

    /// Also ends grandchildren, which hold the pipe of standard error.
    #[test]
    fn if_one_does_not_start_the_others_are_ended() {
        let start = Instant::now();
        let mut children = Children::one(shell("sleep 100; true"));
        children.push(shell("trap '' TERM; sleep 100; sleep 100"));
        children.push(Command::new("/nonexistent/cc"));
        let outputs = children.outputs();
        assert!(outputs[2].is_err());
        let ended = |k: usize| outputs[k].as_ref().is_ok_and(|output| !output.status.success());
        assert!(ended(0) && ended(1), "{outputs:?}");
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }

    #[test]
    fn a_call_that_is_cancelled_ends_them() {
        let (start, cancel) = (Instant::now(), Cancel::new());
        let told = cancel.clone();
        let thread = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            told.cancel();
        });
        let outputs = cancel.run(|| Children::one(shell("sleep 100; true")).outputs());
        thread.join().unwrap();
        assert!(outputs[0].as_ref().is_ok_and(|output| !output.status.success()), "{outputs:?}");
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }
}
