//! Descriptions of the command for other programs: shell completions, manual pages.

use std::path::Path;

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::args::Args;
use crate::report::Report;
use crate::{messages, report};

/// Prints completions for a shell.
pub fn completions(shell: Shell) -> Result<(), Report> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "lambada", &mut text);
    report::result(&String::from_utf8_lossy(&text))
}

/// Prints the manual page of the command itself, or writes those of all commands to a folder.
pub fn manual(folder: Option<&Path>) -> Result<(), Report> {
    let mut command = Args::command();
    command.build();
    let page = |command: &clap::Command| {
        let mut page = Vec::new();
        clap_mangen::Man::new(command.clone()).render(&mut page).map(|()| page)
    };
    let Some(folder) = folder else {
        let page = page(&command).map_err(|error| messages::not_printed(&error))?;
        return report::result(&String::from_utf8_lossy(&page));
    };
    let write = |name: &str, command: &clap::Command| {
        let path = folder.join(format!("{name}.1"));
        page(command)
            .and_then(|page| lambada::replace_file(&path, &page))
            .map_err(|error| messages::not_written(&path.display().to_string(), &error))
    };
    std::fs::create_dir_all(folder)
        .map_err(|error| messages::not_written(&folder.display().to_string(), &error))?;
    write("lambada", &command)?;
    let is_page = |one: &&clap::Command| one.get_name() != "help" && !one.is_hide_set();
    for one in command.get_subcommands().filter(is_page) {
        let name = format!("lambada-{}", one.get_name());
        write(&name, one)?;
    }
    Ok(())
}
