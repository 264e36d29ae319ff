//! `lambada play`: serves the page, and does its work in children.

use std::ffi::OsString;
use std::time::Duration;

use lambada::Options;
use lambada_play::{Limits, Server, Settings};

use crate::args::{PlayRole, PlayWorking, Playing};
use crate::report::Report;
use crate::{interrupt, messages, report};

/// Serves the page until Ctrl-C. Children take the options that this command was given.
pub(crate) fn serve(
    options: &Options,
    playing: Playing,
    given: Vec<OsString>,
) -> Result<(), Report> {
    let Playing { folder, port, no_open, time } = playing;
    let command = std::env::current_exe().map_err(|error| messages::no_command(&error))?;
    let settings =
        Settings { folder, port, limits: limits(options, time.seconds), command, options: given };
    interrupt::keeps(|| {
        let server = Server::new(settings)?;
        let address = server.address();
        report::result(&messages::plays(&address))?;
        if !no_open && let Err(error) = open::that_detached(&address) {
            report::tell(&messages::no_browser(&error));
        }
        server.serve(&interrupt::pressed)
    })
}

/// Runs a job, or serves the editor of a page.
pub(crate) fn work(options: &Options, working: &PlayWorking) -> Result<(), Report> {
    let limits = limits(options, working.time.seconds);
    let (folder, input, output) = (working.folder.as_deref(), std::io::stdin(), std::io::stdout());
    match working.role {
        PlayRole::Job => lambada_play::work(folder, options, limits, input, output),
        PlayRole::Editor => lambada_play::edit(folder, options, limits, input, output).map(|_| ()),
    }
}

fn limits(options: &Options, seconds: u64) -> Limits {
    let usual = Limits::default();
    Limits {
        time: Duration::from_secs(seconds),
        memory: options.max_memory.unwrap_or(usual.memory),
    }
}
