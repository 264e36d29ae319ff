//! The language server: answers editors over the Language Server Protocol.
//!
//! In reading order:
//!
//! - `server` takes messages one after the other; `transport` frames them, `requests` and
//!   `commands` name them, `capabilities` lists them.
//! - `world` has the open documents, over the files of `buffers`, and makes an `analysis` of each;
//!   `lines` and `uri` are the protocol's places; `library` is the standard library for editors.
//! - A file for each feature: `problems`, `hover`, `hints`, `completion`, `signature`,
//!   `navigation`, `rename`, `actions`, `layout`, `symbols`, `tokens`, `folding`, `lenses`; they
//!   share `describe`, `scope` and `edits`.
//! - `worker` derives and runs on threads of their own.
//!
//! Absent: any knowledge of the language that the façade or `surface` has.

mod actions;
mod analysis;
mod answer;
mod buffers;
mod capabilities;
mod commands;
mod completion;
mod describe;
mod edits;
mod fields;
mod folding;
mod hints;
mod hover;
mod layout;
mod lenses;
mod library;
mod lines;
mod navigation;
mod problems;
mod rename;
mod requests;
mod scope;
mod server;
mod signature;
mod symbols;
mod tokens;
mod transport;
mod uri;
mod worker;
mod world;

pub use server::{serve, serve_over};
