//! The server: a port of the loopback, and a thread for each request.

use std::ffi::OsString;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::time::Duration;

use crate::children::{Children, Worker};
use crate::confined::Confined;
use crate::editor::Editors;
use crate::guard::Guard;
use crate::jobs::Jobs;
use crate::routes::Routes;
use crate::{Limits, messages};

/// Time between two looks at whether to end.
const LOOK: Duration = Duration::from_millis(100);

/// The wishes of a user.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder whose programs the page opens [default: none].
    pub folder: Option<PathBuf>,
    /// The port; 0 is any that is free.
    pub port: u16,
    /// The limits on each job.
    pub limits: Limits,
    /// The command whose `play-worker` does jobs.
    pub command: PathBuf,
    /// Options of the command.
    pub options: Vec<OsString>,
}

/// A server that has its port.
pub struct Server {
    listener: tiny_http::Server,
    routes: Routes,
    children: Children,
    port: u16,
}

impl Server {
    /// Takes the port.
    ///
    /// # Errors
    /// The port is in use, or the folder cannot be read, as text for standard error.
    pub fn new(settings: Settings) -> Result<Server, String> {
        let Settings { folder, port, limits, command, options } = settings;
        if let Some(folder) = folder.as_deref().filter(|folder| folder.exists())
            && !folder.is_dir()
        {
            return Err(messages::is_no_folder(folder));
        }
        let files = Confined::new(folder.as_deref()).map_err(|error| {
            messages::no_folder(folder.as_deref().unwrap_or("".as_ref()), &error)
        })?;
        // A folder is named as it is, not `.`, and survives a change of the working directory.
        let folder = folder.map(|folder| folder.canonicalize().unwrap_or(folder));
        let no_port = |error| messages::no_port(port, &error);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(no_port)?;
        let port = listener.local_addr().map_err(no_port)?.port();
        let listener = tiny_http::Server::from_listener(listener, None)
            .map_err(|error| messages::failed("listen", &error))?;
        let children = Children::default();
        let worker = Worker { command, options, folder: folder.clone(), limits };
        let routes = Routes {
            guard: Guard::new(port)?,
            folder,
            files,
            jobs: Jobs::new(worker.clone(), children.clone()),
            editors: Editors::new(worker, children.clone()),
        };
        Ok(Server { listener, routes, children, port })
    }

    /// The address to open. Browsers send nothing after `#`, so the secret stays on the machine.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/#token={}", self.port, self.routes.guard.token())
    }

    /// Serves until `ends` says so. All children have ended afterwards.
    ///
    /// # Errors
    /// The port fails, as text for standard error.
    pub fn serve(self, ends: &dyn Fn() -> bool) -> Result<(), String> {
        let served = loop {
            if ends() {
                break Ok(());
            }
            match self.listener.recv_timeout(LOOK) {
                Ok(Some(request)) => {
                    let routes = self.routes.clone();
                    let answer = move || routes.answer(request);
                    let started = std::thread::Builder::new().spawn(answer);
                    if let Err(error) = started {
                        break Err(messages::failed("start a thread", &error));
                    }
                }
                Ok(None) => {}
                Err(error) => break Err(messages::failed("listen", &error)),
            }
        };
        self.children.end_all();
        served
    }
}
