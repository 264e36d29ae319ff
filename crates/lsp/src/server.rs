//! The server: takes messages one after the other, and publishes problems whenever none waits.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use lambada::{Disk, Files, Options};
use lambada_source::stack;
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response, ResponseError};
use lsp_types::notification::{
    Cancel, DidChangeTextDocument, DidChangeWatchedFiles, DidChangeWorkspaceFolders,
    DidCloseTextDocument, DidOpenTextDocument, Exit, Initialized, Notification as Kind,
    PublishDiagnostics, ShowMessage,
};
use lsp_types::request::{
    ExecuteCommand, HoverRequest, Initialize, RegisterCapability, Request as RequestKind,
    ShowDocument, Shutdown,
};
use lsp_types::{
    Hover, InitializeParams, MessageType, NumberOrString, PublishDiagnosticsParams,
    ShowDocumentParams, ShowMessageParams, Uri,
};
use serde_json::Value;

use crate::buffers::Buffers;
use crate::capabilities::{Client, initialized, watch};
use crate::commands::{self, DerivativeRequest, DerivativeText};
use crate::hover::{Differentiated, hover, with_derivative};
use crate::problems::diagnostics;
use crate::requests::{Reply, error, params, reply};
use crate::transport;
use crate::uri::path_of;
use crate::worker::{Done, Mode, Task, Ticket, Work, Workers};
use crate::world::World;

/// Time that a hover waits for its derivative.
const HOVER: Duration = Duration::from_millis(250);

/// Serves a client until it says `exit` or its stream ends. Programs import files of the disk.
/// Returns the exit code: 0 after a `shutdown`, else 1.
pub fn serve(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    options: Options,
) -> u8 {
    serve_over(Arc::new(Disk), input, output, options)
}

/// As [`serve`], for programs that import other files.
pub fn serve_over(
    files: Arc<dyn Files>,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    options: Options,
) -> u8 {
    let (events, inbox) = channel();
    transport::read(input, events.clone(), Event::Message);
    let (outbox, writer) = transport::write(output);
    let world = World::new(files, options.clone());
    let report = Arc::new(move |ticket, done| _ = events.send(Event::Done(ticket, done)));
    let workers = Workers::new(world.buffers.clone(), options, report);
    let mut server = Server {
        inbox,
        outbox,
        queue: VecDeque::new(),
        world,
        workers,
        pending: Vec::new(),
        phase: Phase::New,
        client: Client::default(),
        asked: 0,
    };
    let code = server.run();
    // The writer ends with its channel.
    drop(server);
    _ = writer.join();
    code
}

/// A message of the client, or the end of its stream; the result of a task.
enum Event {
    Message(Option<Message>),
    Done(Ticket, Done),
}

/// A phase of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Before `initialize`.
    New,
    Serving,
    /// After `shutdown`.
    Down,
}

/// A request that waits for a task.
struct Pending {
    ticket: Ticket,
    id: RequestId,
    wish: Wish,
}

enum Wish {
    /// A hover, which is sent without the derivative when the time is over.
    Hover(Hover, Instant),
    /// The source of a derivative.
    Derivative,
    /// The result of a command, and the name of the file that shows it.
    Command(Option<String>),
}

struct Server {
    inbox: Receiver<Event>,
    outbox: Sender<Message>,
    queue: VecDeque<Event>,
    world: World,
    workers: Workers,
    pending: Vec<Pending>,
    phase: Phase,
    client: Client,
    /// Number of requests sent to the client.
    asked: i32,
}

impl Server {
    fn run(&mut self) -> u8 {
        loop {
            while let Ok(event) = self.inbox.try_recv() {
                self.receive(event);
            }
            if let Some(event) = self.queue.pop_front() {
                if let Some(code) = self.handle(event) {
                    return code;
                }
                continue;
            }
            if self.phase == Phase::Serving && self.publish_one() {
                continue;
            }
            self.expire();
            let deadline = self.pending.iter().filter_map(|pending| match &pending.wish {
                Wish::Hover(_, deadline) => Some(*deadline),
                Wish::Derivative | Wish::Command(_) => None,
            });
            let wait = deadline.min().map(|at| at.saturating_duration_since(Instant::now()));
            let event = match wait {
                Some(wait) => self.inbox.recv_timeout(wait),
                None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match event {
                Ok(event) => self.receive(event),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.code(),
            }
        }
    }

    fn code(&self) -> u8 {
        u8::from(self.phase != Phase::Down)
    }

    /// Queues an event; a cancellation takes effect on what waits.
    fn receive(&mut self, event: Event) {
        if let Event::Message(Some(Message::Notification(note))) = &event
            && note.method == Cancel::METHOD
        {
            self.cancel(note);
        } else {
            self.queue.push_back(event);
        }
    }

    fn cancel(&mut self, note: &Notification) {
        let Some(params) = noted::<Cancel>(note) else { return };
        let id: RequestId = match params.id {
            NumberOrString::Number(number) => number.into(),
            NumberOrString::String(text) => text.into(),
        };
        let meant = |event: &Event| matches!(event, Event::Message(Some(Message::Request(request))) if request.id == id);
        let queued = self.queue.iter().position(meant).and_then(|k| self.queue.remove(k));
        let waiting = self.pending.iter().position(|pending| pending.id == id);
        if let Some(k) = waiting {
            let Pending { ticket, wish, .. } = self.pending.remove(k);
            if let Wish::Command(_) = wish {
                self.workers.cancel(ticket);
            }
        }
        if queued.is_some() || waiting.is_some() {
            self.respond(id, Err(error(ErrorCode::RequestCanceled, "cancelled")));
        }
    }

    /// Handles an event; the exit code at the end.
    fn handle(&mut self, event: Event) -> Option<u8> {
        match event {
            Event::Message(None) => return Some(self.code()),
            Event::Message(Some(Message::Request(request))) => self.request(request),
            Event::Message(Some(Message::Notification(note))) => {
                if note.method == Exit::METHOD {
                    return Some(self.code());
                }
                if self.phase == Phase::Serving {
                    self.notification(&note);
                }
            }
            // The server does nothing with the answers of the client.
            Event::Message(Some(Message::Response(_))) => {}
            Event::Done(ticket, done) => self.done(ticket, &done),
        }
        None
    }

    fn send(&self, message: impl Into<Message>) {
        _ = self.outbox.send(message.into());
    }

    fn respond(&self, id: RequestId, reply: Reply) {
        self.send(Response { id, response_result: reply });
    }

    fn notify<K: Kind>(&self, params: K::Params) {
        self.send(Notification::new(K::METHOD.to_string(), params));
    }

    fn ask<K: RequestKind>(&mut self, params: K::Params) {
        self.asked += 1;
        self.send(Request::new(self.asked.into(), K::METHOD.to_string(), params));
    }

    fn request(&mut self, request: Request) {
        let id = request.id.clone();
        let refused = |code, why: &str| Some(Err(error(code, why)));
        let reply = match (self.phase, &*request.method) {
            (Phase::New, Initialize::METHOD) => Some(self.initialize(&request)),
            (Phase::New, _) => refused(ErrorCode::ServerNotInitialized, "not initialized"),
            (Phase::Down, _) => refused(ErrorCode::InvalidRequest, "shut down"),
            (Phase::Serving, Initialize::METHOD) => {
                refused(ErrorCode::InvalidRequest, "initialized already")
            }
            (Phase::Serving, Shutdown::METHOD) => {
                self.phase = Phase::Down;
                Some(Ok(Value::Null))
            }
            (Phase::Serving, _) => self.guarded(|server| server.serving(&request)),
        };
        if let Some(reply) = reply {
            self.respond(id, reply);
        }
    }

    /// Runs code that may have a bug: a panic is an error of one request.
    fn guarded(&mut self, run: impl FnOnce(&mut Server) -> Option<Reply>) -> Option<Reply> {
        let ran = catch_unwind(AssertUnwindSafe(|| stack::roomy(|| run(&mut *self))));
        ran.unwrap_or_else(|_| {
            self.world.forget_all();
            Some(Err(error(ErrorCode::InternalError, "internal error")))
        })
    }

    fn initialize(&mut self, request: &Request) -> Reply {
        let params = params::<Initialize>(request)?;
        self.client = Client::of(&params);
        self.world.encoding = self.client.encoding;
        self.world.roots = roots(&params);
        self.phase = Phase::Serving;
        serialized(initialized(self.client.encoding))
    }

    /// The answer to a request; `None` if it waits for a task.
    fn serving(&mut self, request: &Request) -> Option<Reply> {
        match &*request.method {
            HoverRequest::METHOD => self.hover(request),
            DerivativeRequest::METHOD => {
                let params = match params::<DerivativeRequest>(request) {
                    Ok(params) => params,
                    Err(wrong) => return Some(Err(wrong)),
                };
                let task = params.task();
                if let Some(done) = self.workers.known(&task) {
                    return Some(derivative(done));
                }
                let ticket = self.workers.derive(task);
                self.wait(request, ticket, Wish::Derivative)
            }
            ExecuteCommand::METHOD => {
                let task = params::<ExecuteCommand>(request).and_then(|params| {
                    commands::task(&params).map_err(|why| error(ErrorCode::InvalidParams, why.0))
                });
                let task = match task {
                    Ok(task) => task,
                    Err(wrong) => return Some(Err(wrong)),
                };
                let shown = match &task.work {
                    Work::Derivative(Mode::Reverse, _) => {
                        Some(format!("{}_reverse.lam", task.entry))
                    }
                    Work::Derivative(Mode::Forward, _) => {
                        Some(format!("{}_forward.lam", task.entry))
                    }
                    Work::Run(_) | Work::Gradient(_) => None,
                };
                let ticket = self.workers.begin(task);
                self.wait(request, ticket, Wish::Command(shown))
            }
            _ => Some(reply(&mut self.world, request)),
        }
    }

    fn wait(&mut self, request: &Request, ticket: Ticket, wish: Wish) -> Option<Reply> {
        self.pending.push(Pending { ticket, id: request.id.clone(), wish });
        None
    }

    fn hover(&mut self, request: &Request) -> Option<Reply> {
        let params = match params::<HoverRequest>(request) {
            Ok(params) => params,
            Err(wrong) => return Some(Err(wrong)),
        };
        let (hover, by) = hover(&mut self.world, &params);
        let (Some(hover), Some(by)) = (&hover, by) else { return Some(serialized(hover)) };
        let Differentiated { path, entry, parameter } = by;
        let work = Work::Derivative(Mode::Reverse, Some(vec![parameter]));
        let task = Task { path, entry: entry.to_string(), work };
        if let Some(done) = self.workers.known(&task) {
            return Some(serialized(completed(hover.clone(), done)));
        }
        let ticket = self.workers.derive(task);
        self.wait(request, ticket, Wish::Hover(hover.clone(), Instant::now() + HOVER))
    }

    /// Sends the hovers whose derivatives take too long.
    fn expire(&mut self) {
        let now = Instant::now();
        let late =
            |pending: &mut Pending| matches!(&pending.wish, Wish::Hover(_, at) if *at <= now);
        let late: Vec<Pending> = self.pending.extract_if(.., late).collect();
        for Pending { id, wish, .. } in late {
            if let Wish::Hover(hover, _) = wish {
                self.respond(id, serialized(Some(hover)));
            }
        }
    }

    fn done(&mut self, ticket: Ticket, done: &Done) {
        self.workers.done(ticket, done);
        let of = |pending: &mut Pending| pending.ticket == ticket;
        let waiting: Vec<Pending> = self.pending.extract_if(.., of).collect();
        for Pending { id, wish, .. } in waiting {
            let reply = match wish {
                Wish::Hover(hover, _) => serialized(completed(hover, done)),
                Wish::Derivative => derivative(done),
                Wish::Command(shown) => {
                    if let Ok(text) = done {
                        self.show(shown.as_deref(), text);
                    }
                    done.clone().map(Value::String).map_err(|why| failed(&why))
                }
            };
            self.respond(id, reply);
        }
    }

    /// Shows the result of a command, in a file of this name if there is one.
    fn show(&mut self, file: Option<&str>, text: &str) {
        if self.client.shows_results {
            return;
        }
        let path = file.and_then(|file| self.world.library().shown(file, text));
        match path {
            Some(path) if self.client.shows_documents => {
                let uri = self.world.uri(&path);
                self.ask::<ShowDocument>(ShowDocumentParams {
                    uri,
                    external: None,
                    take_focus: Some(false),
                    selection: None,
                });
            }
            Some(_) | None => self.notify::<ShowMessage>(ShowMessageParams {
                typ: MessageType::INFO,
                message: text.to_string(),
            }),
        }
    }

    fn notification(&mut self, note: &Notification) {
        match &*note.method {
            Initialized::METHOD if self.client.watches => self.ask::<RegisterCapability>(watch()),
            DidOpenTextDocument::METHOD => {
                let Some(params) = noted::<DidOpenTextDocument>(note) else { return };
                let document = params.text_document;
                self.world.open(document.uri, document.version, &document.text);
                self.workers.forget();
            }
            DidChangeTextDocument::METHOD => {
                let Some(params) = noted::<DidChangeTextDocument>(note) else { return };
                let document = params.text_document;
                self.world.change(&document.uri, document.version, params.content_changes);
                self.workers.forget();
            }
            DidCloseTextDocument::METHOD => {
                let Some(params) = noted::<DidCloseTextDocument>(note) else { return };
                let uri = params.text_document.uri;
                self.world.close(&uri);
                self.workers.forget();
                self.publish(uri, Vec::new(), None);
            }
            DidChangeWatchedFiles::METHOD => {
                self.world.forget_all();
                self.workers.forget();
            }
            DidChangeWorkspaceFolders::METHOD => {
                let Some(params) = noted::<DidChangeWorkspaceFolders>(note) else { return };
                let gone = params.event.removed.iter().map(|folder| root(&folder.uri));
                let gone: Vec<PathBuf> = gone.collect();
                self.world.roots.retain(|root| !gone.contains(root));
                let new = params.event.added.iter().map(|folder| root(&folder.uri));
                self.world.roots.extend(new);
            }
            _ => {}
        }
    }

    fn publish(&self, uri: Uri, problems: Vec<lsp_types::Diagnostic>, version: Option<i32>) {
        self.notify::<PublishDiagnostics>(PublishDiagnosticsParams::new(uri, problems, version));
    }

    /// Publishes the problems of one document; false if the client knows all.
    fn publish_one(&mut self) -> bool {
        let Some((path, uri, version)) = self.world.unpublished() else { return false };
        let world = &mut self.world;
        let find = AssertUnwindSafe(|| {
            stack::roomy(|| {
                let analysis = world.analysis(&path)?;
                Some(diagnostics(world, &analysis))
            })
        });
        if let Ok(Some(problems)) = catch_unwind(find) {
            self.publish(uri, problems, Some(version));
        }
        true
    }
}

/// The hover with its derivative, if there is one.
fn completed(hover: Hover, done: &Done) -> Option<Hover> {
    Some(match done {
        Ok(text) => with_derivative(hover, text),
        Err(_) => hover,
    })
}

fn derivative(done: &Done) -> Reply {
    match done {
        Ok(text) => serialized(DerivativeText { text: text.clone() }),
        Err(why) => Err(failed(why)),
    }
}

fn failed(why: &str) -> ResponseError {
    error(ErrorCode::RequestFailed, why)
}

fn serialized(value: impl serde::Serialize) -> Reply {
    serde_json::to_value(value).map_err(|why| error(ErrorCode::InternalError, why.to_string()))
}

/// The parameters of a notification; a wrong one is ignored.
fn noted<K: Kind>(note: &Notification) -> Option<K::Params> {
    serde_json::from_value(note.params.clone()).ok()
}

/// The folders of a workspace.
#[allow(deprecated)] // older clients have one folder
fn roots(params: &InitializeParams) -> Vec<PathBuf> {
    let folders = params.workspace_folders.iter().flatten().map(|folder| root(&folder.uri));
    let folders: Vec<PathBuf> = folders.collect();
    match (folders.is_empty(), &params.root_uri) {
        (true, Some(uri)) => vec![root(uri)],
        _ => folders,
    }
}

fn root(uri: &Uri) -> PathBuf {
    Buffers::settled(&path_of(uri))
}
