//! The server as an editor sees it: each test talks to one over pipes, by the protocol.

mod client;
mod features;
mod lifecycle;
mod names;
mod problems;
mod writing;
