//! A small editor: talks to a server over pipes, by the protocol.

use std::io::{PipeReader, PipeWriter, Write as _};
use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;

use lambada::{Engine, Options};
use lsp_server::{Message, Notification, Request, ResponseError};
use serde_json::{Value, json};

/// The sign for the cursor in texts.
pub const CURSOR: char = '‸';

pub struct Client {
    to: PipeWriter,
    inbox: std::sync::mpsc::Receiver<Message>,
    /// Messages that no call has taken yet.
    waiting: Vec<Message>,
    server: Option<JoinHandle<u8>>,
    last: i32,
}

/// Time that an answer may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

impl Client {
    /// A server that is initialized.
    pub fn start() -> Client {
        Client::with(json!({"capabilities": {}}))
    }

    /// A server initialized with these parameters.
    pub fn with(params: Value) -> Client {
        let mut client = Client::new();
        client.request("initialize", params);
        client.notify("initialized", json!({}));
        client
    }

    /// A server that is not initialized.
    pub fn new() -> Client {
        let (input, to) = std::io::pipe().expect("a pipe");
        let (from, output) = std::io::pipe().expect("a pipe");
        // Without the C compiler, and without the checks of every pass.
        let options = Options { engine: Engine::Loops, checks: false, ..Options::default() };
        let server = std::thread::spawn(move || lambada_lsp::serve(input, output, options));
        let (sender, inbox) = std::sync::mpsc::channel();
        let read = move |from: PipeReader| {
            let mut from = std::io::BufReader::new(from);
            while let Ok(Some(message)) = Message::read(&mut from) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        };
        std::thread::spawn(move || read(from));
        Client { to, inbox, waiting: Vec::new(), server: Some(server), last: 0 }
    }

    /// Sends bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.to.write_all(bytes).expect("the server reads");
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        let message = Message::from(Notification::new(method.to_string(), params));
        message.write(&mut self.to).expect("the server reads");
    }

    /// Sends a request and returns its id.
    pub fn ask(&mut self, method: &str, params: Value) -> i32 {
        self.last += 1;
        let message = Message::from(Request::new(self.last.into(), method.to_string(), params));
        message.write(&mut self.to).expect("the server reads");
        self.last
    }

    pub fn response(&mut self, id: i32) -> Result<Value, ResponseError> {
        let id = lsp_server::RequestId::from(id);
        let meant = |message: &Message| matches!(message, Message::Response(r) if r.id == id);
        let Message::Response(response) = self.take(meant) else { unreachable!() };
        response.response_result
    }

    /// The result of a request.
    #[track_caller]
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.response(id).unwrap_or_else(|error| panic!("{method}: {error:?}"))
    }

    /// The message of the error of a request.
    #[track_caller]
    pub fn refused(&mut self, method: &str, params: Value) -> String {
        let id = self.ask(method, params);
        self.response(id).expect_err(method).message
    }

    fn take(&mut self, meant: impl Fn(&Message) -> bool) -> Message {
        loop {
            if let Some(k) = self.waiting.iter().position(&meant) {
                return self.waiting.remove(k);
            }
            let message = self.inbox.recv_timeout(PATIENCE).expect("the server answers");
            self.waiting.push(message);
        }
    }

    /// Opens a text, whose cursors are removed; returns the position of the first one.
    pub fn open(&mut self, uri: &str, text: &str) -> Value {
        let document = json!({
            "uri": uri, "languageId": "lambada", "version": 1, "text": text.replace(CURSOR, ""),
        });
        self.notify("textDocument/didOpen", json!({"textDocument": document}));
        at(text)
    }

    /// Replaces a whole text.
    pub fn change(&mut self, uri: &str, version: i32, text: &str) {
        let document = json!({"uri": uri, "version": version});
        let changes = json!([{"text": text}]);
        let params = json!({"textDocument": document, "contentChanges": changes});
        self.notify("textDocument/didChange", params);
    }

    /// The next problems that the server publishes for a document.
    pub fn problems(&mut self, uri: &str) -> Value {
        let meant = |message: &Message| match message {
            Message::Notification(note) => {
                note.method == "textDocument/publishDiagnostics" && note.params["uri"] == uri
            }
            Message::Request(_) | Message::Response(_) => false,
        };
        let Message::Notification(note) = self.take(meant) else { unreachable!() };
        note.params["diagnostics"].clone()
    }

    /// The next request or notification of the server with this method.
    pub fn asked(&mut self, method: &str) -> Value {
        let meant = |message: &Message| match message {
            Message::Notification(note) => note.method == method,
            Message::Request(request) => request.method == method,
            Message::Response(_) => false,
        };
        match self.take(meant) {
            Message::Notification(note) => note.params,
            Message::Request(request) => request.params,
            Message::Response(_) => unreachable!(),
        }
    }

    /// Shuts the server down; returns its exit code.
    pub fn stop(mut self) -> u8 {
        self.request("shutdown", Value::Null);
        self.exit()
    }

    /// Says `exit`; returns the exit code of the server.
    pub fn exit(mut self) -> u8 {
        self.notify("exit", Value::Null);
        self.server.take().expect("it runs").join().expect("it does not panic")
    }

    /// Ends the stream; returns the exit code of the server.
    pub fn hang_up(self) -> u8 {
        let Client { to, server, .. } = self;
        drop(to);
        server.expect("it runs").join().expect("it does not panic")
    }
}

/// The position of the first cursor of a text.
pub fn at(text: &str) -> Value {
    let before = text.split(CURSOR).next().unwrap_or_default();
    let line = before.matches('\n').count();
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    json!({"line": line, "character": before[start..].encode_utf16().count()})
}

/// The parameters of a request at a place.
pub fn place(uri: &str, position: &Value) -> Value {
    json!({"textDocument": {"uri": uri}, "position": position})
}

pub fn document(uri: &str) -> Value {
    json!({"textDocument": {"uri": uri}})
}

pub fn uri_of(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// A folder with programs.
pub fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

/// A text after the edits of a server, which do not overlap.
pub fn edited(text: &str, edits: &Value) -> String {
    let mut edits: Vec<&Value> = edits.as_array().expect("edits").iter().collect();
    edits.sort_by_key(|edit| {
        let start = &edit["range"]["start"];
        (start["line"].as_u64(), start["character"].as_u64())
    });
    let mut text = text.to_string();
    for edit in edits.into_iter().rev() {
        let [start, end] = ["start", "end"].map(|side| offset(&text, &edit["range"][side]));
        text.replace_range(start..end, edit["newText"].as_str().expect("a text"));
    }
    text
}

/// The bytes before a position in UTF-16.
pub fn offset(text: &str, position: &Value) -> usize {
    let line = position["line"].as_u64().expect("a line") as usize;
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let mut left = position["character"].as_u64().expect("a column") as usize;
    for (k, c) in text[start..].char_indices() {
        if left == 0 {
            return start + k;
        }
        left -= c.len_utf16();
    }
    text.len()
}

/// The text in a range.
pub fn part<'t>(text: &'t str, range: &Value) -> &'t str {
    &text[offset(text, &range["start"])..offset(text, &range["end"])]
}
