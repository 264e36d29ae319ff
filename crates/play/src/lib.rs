//! The playground: a page in a browser, served on the loopback.
//!
//! In reading order:
//!
//! - `server` binds a port and answers requests, `routes` says which there are, `guard` refuses
//!   those of other sites, `page` has the files of the page;
//! - `shelf` lists the programs to open: the folder's, the examples, and the pages of the book;
//!   `confined` is the only file system that programs of the page see;
//! - `job` is a request about a program as data; `jobs` does each in a child process, which
//!   `children` ends and `limits` bounds; in the child, `work` does it;
//! - `editor` connects the page with a language server, a child process too.
//!
//! No program is compiled or run in the process of the server: a program that does not end, or that
//! takes all memory, costs a child. Absent: any knowledge of the language that the façade has.

mod children;
mod confined;
mod editor;
mod guard;
mod job;
mod jobs;
mod limits;
mod messages;
mod page;
mod routes;
mod server;
mod shelf;
mod work;

pub use limits::Limits;
pub use server::{Server, Settings};
pub use work::{edit, work};
