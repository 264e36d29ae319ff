//! The requests, and their answers.

use std::io::{Cursor, Read as _, Write};

use lambada::Files as _;
use lsp_server::Message;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tiny_http::{Header, Method, Request, Response};

use crate::confined::{Confined, EXAMPLES, FOLDER};
use crate::editor::Editors;
use crate::guard::Guard;
use crate::job::{Job, Origin, Place};
use crate::jobs::Jobs;
use crate::messages;
use crate::page::asset;
use crate::shelf::Shelf;

/// Limit on the bytes of a request.
const LARGEST: u64 = 1 << 24;

/// Everything that requests ask.
#[derive(Clone)]
pub(crate) struct Routes {
    pub guard: Guard,
    pub folder: Option<std::path::PathBuf>,
    pub files: Confined,
    pub jobs: Jobs,
    pub editors: Editors,
}

/// A job, its lane, and its number in it.
#[derive(Deserialize)]
struct Wanted {
    lane: String,
    number: u64,
    #[serde(flatten)]
    job: Job,
}

/// Messages for a language server.
#[derive(Deserialize)]
struct Posted {
    session: u64,
    messages: Vec<Message>,
}

/// The text of a program.
#[derive(Serialize)]
struct Text {
    text: String,
}

/// The reply to a request: a status, its media type, and a body.
struct Reply(u16, &'static str, Vec<u8>);

const JSON: &str = "application/json";
const PLAIN: &str = "text/plain; charset=utf-8";

impl Reply {
    fn refused(status: u16, why: impl Into<String>) -> Reply {
        Reply(status, PLAIN, why.into().into_bytes())
    }

    fn json(value: &impl Serialize) -> Reply {
        match serde_json::to_vec(value) {
            Ok(text) => Reply(200, JSON, text),
            Err(error) => Reply::refused(500, error.to_string()),
        }
    }
}

/// Headers of all answers. The page loads nothing from elsewhere and cannot be put into a frame;
/// CodeMirror adds style sheets.
const HEADERS: [(&str, &str); 6] = [
    ("Cache-Control", "no-store"),
    (
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
];

impl Routes {
    /// Answers a request.
    pub fn answer(&self, mut request: Request) {
        let address = request.url().split(['?', '#']).next().unwrap_or_default().to_string();
        let reply = match self.reply(&address, &mut request) {
            Ok(reply) | Err(reply) => reply,
        };
        let Some(Reply(status, kind, body)) = reply else { return self.stream(request) };
        let length = body.len();
        let mut headers: Vec<Header> =
            HEADERS.iter().filter_map(|(name, value)| head(name, value)).collect();
        headers.extend(head("Content-Type", kind));
        let response = Response::new(status.into(), headers, Cursor::new(body), Some(length), None);
        // The page may be gone.
        _ = request.respond(response);
    }

    /// The reply; `None` for the stream of a language server.
    fn reply(&self, address: &str, request: &mut Request) -> Result<Option<Reply>, Option<Reply>> {
        let forbidden = |why: &str| Some(Reply::refused(403, why));
        self.guard.site(request).map_err(forbidden)?;
        let is_get = *request.method() == Method::Get;
        if let Some(asset) = asset(address) {
            let reply = Reply(200, asset.kind, asset.bytes.to_vec());
            let allowed = is_get || *request.method() == Method::Head;
            return Ok(Some(if allowed { reply } else { other_method() }));
        }
        self.guard.secret(request).map_err(forbidden)?;
        match (address, is_get, *request.method() == Method::Post) {
            ("/api/shelf", true, _) => Ok(Some(Reply::json(&Shelf::of(self.folder.as_deref())))),
            ("/api/editor", true, _) => Ok(None),
            ("/api/open", _, true) => self.open(&body(request)?).map(Some),
            ("/api/job", _, true) => {
                let Wanted { lane, number, job } = body(request)?;
                Ok(Some(Reply::json(&self.jobs.done(&lane, number, &job))))
            }
            ("/api/editor", _, true) => {
                let Posted { session, messages } = body(request)?;
                Ok(Some(match self.editors.post(session, &messages) {
                    Ok(()) => Reply::json(&()),
                    Err(why) => Reply::refused(410, why),
                }))
            }
            ("/api/shelf" | "/api/editor" | "/api/open" | "/api/job", _, _) => {
                Ok(Some(other_method()))
            }
            _ => Ok(Some(Reply::refused(404, messages::NOT_FOUND))),
        }
    }

    /// The text of a program.
    fn open(&self, place: &Place) -> Result<Reply, Option<Reply>> {
        let top = match place.origin {
            Origin::Folder => FOLDER,
            Origin::Examples => EXAMPLES,
            Origin::Text => return Err(Some(Reply::refused(404, messages::NOT_THERE))),
        };
        let path = std::path::Path::new(top).join(&place.path);
        // An absolute path would replace the top.
        let text = match path.starts_with(top) {
            true => self.files.read(&path),
            false => Err(std::io::Error::other(messages::NOT_THERE)),
        };
        match text {
            Ok(text) => Ok(Reply::json(&Text { text })),
            Err(error) => Err(Some(Reply::refused(404, error.to_string()))),
        }
    }

    /// Streams the messages of a language server.
    fn stream(&self, request: Request) {
        let session = self.editors.open();
        let mut to = request.into_writer();
        let (status, kind) = match &session {
            Ok(_) => ("200 OK", "text/event-stream"),
            Err(_) => ("503 Service Unavailable", PLAIN),
        };
        let mut head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n");
        HEADERS.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
        // The page may be gone.
        _ = match session {
            Ok(session) => {
                let begun = write!(to, "{head}Transfer-Encoding: chunked\r\n\r\n");
                begun.and_then(|()| session.stream(to))
            }
            Err(why) => write!(to, "{head}Content-Length: {}\r\n\r\n{why}", why.len())
                .and_then(|()| to.flush()),
        };
    }
}

fn other_method() -> Reply {
    Reply::refused(405, messages::OTHER_METHOD)
}

fn head(name: &str, value: &str) -> Option<Header> {
    Header::from_bytes(name, value).ok()
}

/// The body of a request.
fn body<T: DeserializeOwned>(request: &mut Request) -> Result<T, Option<Reply>> {
    let mut bytes = Vec::new();
    let read = request.as_reader().take(LARGEST + 1).read_to_end(&mut bytes);
    read.map_err(|error| Some(Reply::refused(400, messages::malformed(&error))))?;
    if bytes.len() as u64 > LARGEST {
        return Err(Some(Reply::refused(413, messages::TOO_LARGE)));
    }
    serde_json::from_slice(&bytes)
        .map_err(|error| Some(Reply::refused(400, messages::malformed(&error))))
}
