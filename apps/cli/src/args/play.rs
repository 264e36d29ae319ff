//! Arguments of the playground, and of its workers.

use std::path::PathBuf;

use clap::{Args as ArgGroup, ValueEnum};

/// The wishes of a user.
#[derive(Clone, Debug, ArgGroup)]
pub struct Playing {
    /// The folder whose programs the page opens [default: none, only examples]
    pub folder: Option<PathBuf>,
    /// The port of 127.0.0.1; 0 is any that is free
    #[arg(long, default_value_t = 7420)]
    pub port: u16,
    /// Print the address and open no browser
    #[arg(long)]
    pub no_open: bool,
    #[command(flatten)]
    pub time: PlayTime,
}

/// The work of a child process.
#[derive(Clone, Debug, ArgGroup)]
pub struct PlayWorking {
    /// The work
    #[arg(value_enum)]
    pub role: PlayRole,
    /// The folder whose programs may be read
    pub folder: Option<PathBuf>,
    #[command(flatten)]
    pub time: PlayTime,
}

/// The time that a program of the page may take.
#[derive(Clone, Copy, Debug, ArgGroup)]
pub struct PlayTime {
    /// How many seconds a program may run
    #[arg(long, value_name = "N", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub seconds: u64,
}

/// The work of a child process of the playground.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlayRole {
    /// One job
    Job,
    /// The language server of a page
    Editor,
}
