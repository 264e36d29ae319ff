//! The language servers of pages. A page listens to a stream of events, which begins with the
//! number of its session, and posts its own messages to that session.

use std::collections::HashMap;
use std::io::{self, BufReader, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lsp_server::Message;

use crate::children::{Children, Pipes, Role, Started, Worker};
use crate::messages;

/// Pages that may have a language server at once.
const MOST: usize = 16;

/// Time after which a stream says that it is there, which finds out pages that are gone.
const BEAT: Duration = Duration::from_secs(5);

/// The requests and notifications of a page. The others run programs, or write files.
const METHODS: [&str; 14] = [
    "$/cancelRequest",
    "completionItem/resolve",
    "exit",
    "initialize",
    "initialized",
    "shutdown",
    "textDocument/completion",
    "textDocument/didChange",
    "textDocument/didClose",
    "textDocument/didOpen",
    "textDocument/documentSymbol",
    "textDocument/formatting",
    "textDocument/hover",
    "textDocument/signatureHelp",
];

type Input = Arc<Mutex<Box<dyn Write + Send>>>;

/// The language servers.
#[derive(Clone)]
pub(crate) struct Editors {
    worker: Worker,
    children: Children,
    sessions: Arc<Mutex<HashMap<u64, Input>>>,
}

/// A language server whose messages go to a page.
pub(crate) struct Session {
    child: Started,
    messages: Receiver<Message>,
    editors: Editors,
}

impl Editors {
    pub fn new(worker: Worker, children: Children) -> Editors {
        Editors { worker, children, sessions: Arc::default() }
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<u64, Input>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a language server.
    pub fn open(&self) -> Result<Session, String> {
        if self.sessions().len() >= MOST {
            return Err(messages::too_many_pages(MOST));
        }
        let started = self.children.start(&self.worker, Role::Editor);
        let (child, pipes) =
            started.map_err(|error| messages::failed("start a language server", &error))?;
        let Pipes { input, output, mut errors } = pipes;
        self.sessions().insert(child.id(), Arc::new(Mutex::new(Box::new(input))));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Ok(Some(message)) = Message::read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        // A pipe that nobody reads would fill up.
        std::thread::spawn(move || io::copy(&mut errors, &mut io::sink()));
        Ok(Session { child, messages, editors: self.clone() })
    }

    /// Sends messages of a page to its language server.
    pub fn post(&self, session: u64, posted: &[Message]) -> Result<(), String> {
        let input = self.sessions().get(&session).cloned();
        let input = input.ok_or_else(|| messages::NO_EDITOR.to_string())?;
        let mut input = input.lock().unwrap_or_else(PoisonError::into_inner);
        for message in posted.iter().filter(|message| is_allowed(message)) {
            message.write(&mut *input).map_err(|_| messages::NO_EDITOR.to_string())?;
        }
        Ok(())
    }
}

fn is_allowed(message: &Message) -> bool {
    let method = match message {
        Message::Request(request) => &request.method,
        Message::Notification(note) => &note.method,
        Message::Response(_) => return true,
    };
    METHODS.contains(&&**method)
}

impl Session {
    /// Writes messages as events until the page or the language server is gone.
    pub fn stream(self, mut to: impl Write) -> io::Result<()> {
        event(&mut to, "session", &self.child.id().to_string())?;
        loop {
            match self.messages.recv_timeout(BEAT) {
                Ok(message) => {
                    let text = serde_json::to_string(&message).map_err(io::Error::other)?;
                    event(&mut to, "message", &text)?;
                }
                Err(RecvTimeoutError::Timeout) => chunk(&mut to, ":\n\n")?,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        event(&mut to, "end", "")?;
        to.write_all(b"0\r\n\r\n")?;
        to.flush()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.editors.sessions().remove(&self.child.id());
    }
}

/// An event of a stream; JSON has no line breaks.
fn event(to: &mut impl Write, name: &str, data: &str) -> io::Result<()> {
    chunk(to, &format!("event: {name}\ndata: {data}\n\n"))
}

/// A chunk of a body without a length.
fn chunk(to: &mut impl Write, text: &str) -> io::Result<()> {
    write!(to, "{:x}\r\n{text}\r\n", text.len())?;
    to.flush()
}
