//! The playground, as its page and as others talk to it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use lambada_testkit::interruptible;
use serde_json::{Value, json};

/// Longer than any answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

const PROGRAM: &str = "--| A wave.
def wave (x : real) (k : real) : real = sin (k * x)
def product (x : real) (y : real) : real = x * y
def list (n : int) : [n]real = for i < n => sqrt i
def forever (n : int) : int = loop k = n while k >= 0 do (k + 1) % 7
def large (n : int) : real = let xs = for i < n => sin i in sum (sort xs) + xs[0]
";

/// A playground that runs.
struct Play {
    child: Child,
    port: u16,
    token: String,
}

impl Play {
    /// With time enough for a busy machine.
    fn start(arguments: &[&str]) -> Play {
        Play::within(PATIENCE.as_secs(), arguments)
    }

    fn within(seconds: u64, arguments: &[&str]) -> Play {
        let command = interruptible(env!("CARGO_BIN_EXE_lambada"));
        Play::started(command, seconds, arguments)
    }

    /// With a cache of its own.
    fn with(seconds: u64, arguments: &[&str], cache: &Path) -> Play {
        let mut command = interruptible(env!("CARGO_BIN_EXE_lambada"));
        command.env("LAMBADA_CACHE", cache);
        Play::started(command, seconds, arguments)
    }

    fn started(mut command: Command, seconds: u64, arguments: &[&str]) -> Play {
        let mut child = command
            .args(["play", "--no-open", "--port", "0", "--seconds", &seconds.to_string()])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut line = String::new();
        let out = child.stdout.take().expect("its output");
        BufReader::new(out).read_line(&mut line).expect("an address");
        let rest = line.trim().strip_prefix("http://127.0.0.1:").expect("an address");
        let (port, token) = rest.split_once("/#token=").expect("a port and a token");
        Play { child, port: port.parse().expect("a port"), token: token.to_string() }
    }

    /// Sends a request; the status, the head and the body.
    fn raw(
        &self,
        method: &str,
        path: &str,
        headers: &[String],
        body: &str,
    ) -> (u16, String, String) {
        let mut stream = self.connect();
        let head: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\n{head}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
        .expect("it listens");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("an answer");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok());
        (status.expect("a status"), head.to_string(), body.to_string())
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream
    }

    /// The headers of the page.
    fn headers(&self) -> Vec<String> {
        let port = self.port;
        vec![
            format!("Host: 127.0.0.1:{port}"),
            format!("Origin: http://127.0.0.1:{port}"),
            format!("Authorization: Bearer {}", self.token),
        ]
    }

    fn post(&self, path: &str, body: &Value) -> (u16, String) {
        let (status, _, body) = self.raw("POST", path, &self.headers(), &body.to_string());
        (status, body)
    }

    fn job_of(&self, lane: &str, number: u64, task: &Value) -> Value {
        let job = json!({"lane": lane, "number": number, "origin": "text", "path": "p.lam", "text": PROGRAM, "task": task});
        let (status, body) = self.post("/api/job", &job);
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).expect("JSON")
    }

    fn job(&self, task: &Value) -> Value {
        self.job_of("test", 1, task)
    }

    /// The text of an answer.
    fn text(&self, task: &Value) -> String {
        let answer = self.job(task);
        answer["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}")).to_string()
    }

    /// Sends Ctrl-C; the exit code.
    #[cfg(unix)]
    fn interrupt(mut self) -> Option<i32> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Play {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

#[test]
fn every_view_of_a_definition() {
    let play = Play::start(&[]);
    let outline = play.job(&json!({"kind": "outline"}));
    let wave = &outline["outline"][0];
    assert_eq!(wave["name"], "wave");
    assert_eq!(wave["doc"], "A wave.");
    assert_eq!(wave["result"], "real");
    assert_eq!(wave["parameters"][1]["name"], "k");
    assert_eq!(wave["parameters"][1]["type"], "real");
    assert_eq!(outline["outline"].as_array().map(Vec::len), Some(5));

    let values = json!([["x", "3"], ["y", "5"]]);
    let value = play.job(&json!({"kind": "value", "entry": "product", "values": values}));
    assert_eq!(value["value"]["value"], "15.0");
    assert_eq!(value["value"]["gradient"], json!([["x", "5.0"], ["y", "3.0"]]));
    let value = play.job(&json!({"kind": "value", "entry": "list", "values": [["n", "2"]]}));
    assert_eq!(value["value"], json!({"value": "[0.0, 1.0]", "gradient": []}));
    let wrong = play.job(&json!({"kind": "value", "entry": "list", "values": [["n", "[]"]]}));
    assert!(wrong["problems"].as_str().unwrap().contains("error["), "{wrong}");

    for (mode, name) in [("reverse", "wave_reverse"), ("forward", "wave_forward")] {
        let source = play.text(&json!({"kind": "derivative", "entry": "wave", "mode": mode}));
        assert!(source.contains(&format!("def {name}")), "{source}");
        for (stage, sign) in
            [("combinators", "->"), ("linear", "|-"), ("applied", "|-"), ("shared", "|-")]
        {
            let task = json!({"kind": "stage", "entry": "product", "mode": mode, "stage": stage});
            let text = play.text(&task);
            assert!(text.contains(sign), "{stage}: {text}");
        }
        for stage in ["linear", "applied", "shared"] {
            let task = json!({"kind": "steps", "entry": "product", "mode": mode, "stage": stage});
            let steps = play.job(&task)["derivation"]["steps"].clone();
            let last = steps.as_array().and_then(|steps| steps.last()).expect("steps");
            assert_eq!(last["number"], json!(steps.as_array().map(Vec::len)), "{last}");
            assert!(last["places"][0]["line"].is_number(), "{last}");
        }
    }
    let c = play.text(&json!({"kind": "show", "entry": "wave", "form": "c", "of": "grad"}));
    assert!(c.contains("lambada_wave"), "{c}");
    let task = json!({"kind": "show", "entry": "list", "form": "schedule", "of": "value"});
    assert!(play.text(&task).contains('n'));

    let range = json!({"parameter": "x", "low": -3.0, "high": 3.0});
    let values = json!([["x", "0"], ["k", "2"]]);
    let task =
        json!({"kind": "plot", "entry": "wave", "values": values, "range": range, "slopes": true});
    let picture = play.job(&task);
    let picture = picture["picture"].as_str().unwrap_or_else(|| panic!("{picture}"));
    assert!(picture.starts_with("<svg") && picture.contains("d wave/d x"), "{picture}");
    let task = json!({"kind": "plot", "entry": "list", "values": [["n", "9"]], "range": null, "slopes": false});
    let picture = play.job(&task);
    assert!(picture["picture"].as_str().unwrap().contains("index"), "{picture}");
}

/// The effort decides whether the child runs the C compiler, which the cache shows.
#[test]
fn options_reach_the_children() {
    let units = |options: &[&str]| {
        let cache = tempfile::tempdir().expect("a folder");
        let folder = cache.path().join("units");
        let play = Play::with(PATIENCE.as_secs(), options, &folder);
        let values = json!([["x", "3"], ["y", "5"]]);
        let value = play.job(&json!({"kind": "value", "entry": "product", "values": values}));
        assert_eq!(value["value"]["value"], "15.0", "{value}");
        std::fs::read_dir(&folder)
            .map_or(0, |all| all.flatten().filter(|one| one.path().is_dir()).count())
    };
    assert!(units(&["--effort", "full"]) > 0);
    if cfg!(target_arch = "x86_64") {
        assert_eq!(units(&["--effort", "quick"]), 0);
    }
}

#[test]
fn programs_end_that_would_not() {
    let play = Play::within(2, &[]);
    let begin = Instant::now();
    let task = json!({"kind": "value", "entry": "forever", "values": [["n", "1"]]});
    let stopped = play.job(&task);
    assert!(stopped["stopped"].as_str().unwrap().contains("2 s"), "{stopped}");
    assert!(begin.elapsed() < Duration::from_secs(30));
    let small = Play::start(&["--max-memory", "64MB"]);
    let task = json!({"kind": "value", "entry": "large", "values": [["n", "100000000"]]});
    let refused = small.job(&task).to_string();
    assert!(refused.contains("memory"), "{refused}");

    // A newer job ends an older one in its lane, and not those in others.
    let task = json!({"kind": "value", "entry": "forever", "values": [["n", "1"]]});
    std::thread::scope(|scope| {
        let old = scope.spawn(|| small.job_of("lane", 1, &task));
        std::thread::sleep(Duration::from_secs(1));
        let new = json!({"kind": "value", "entry": "product", "values": [["x", "1"], ["y", "2"]]});
        let new = small.job_of("lane", 2, &new);
        assert_eq!(old.join().unwrap(), "superseded");
        assert_eq!(new["value"]["value"], "2.0");
    });
}

#[test]
fn only_the_own_page_is_answered() {
    let play = Play::start(&[]);
    let port = play.port;
    let (host, token) =
        (format!("Host: 127.0.0.1:{port}"), format!("Authorization: Bearer {}", play.token));
    let status = |method: &str, path: &str, headers: &[&str]| {
        let headers: Vec<String> = headers.iter().map(ToString::to_string).collect();
        play.raw(method, path, &headers, "{}").0
    };
    for page in ["/", "/app.js", "/app.css", "/icon.svg", "/licenses.txt"] {
        assert_eq!(status("GET", page, &[&host]), 200);
    }
    assert_eq!(status("GET", "/api/shelf", &[&host, &token]), 200);
    assert_eq!(status("GET", "/api/shelf", &[&format!("Host: localhost:{port}"), &token]), 200);
    assert_eq!(status("GET", "/api/shelf", &[&host]), 403);
    assert_eq!(status("GET", "/api/shelf", &[&host, "Authorization: Bearer 00"]), 403);
    for other in [&*format!("Host: evil.example:{port}"), "Host: 127.0.0.1", "Host: 127.0.0.1:1"] {
        assert_eq!(status("GET", "/api/shelf", &[other, &token]), 403, "{other}");
        assert_eq!(status("GET", "/", &[other]), 403, "{other}");
    }
    for other in ["Origin: http://evil.example", "Origin: null", "Origin: http://127.0.0.1:1"] {
        assert_eq!(status("POST", "/api/job", &[&host, &token, other]), 403, "{other}");
    }
    assert_eq!(status("POST", "/api/job", &[&host, &token]), 400);
    assert_eq!(status("GET", "/api/job", &[&host, &token]), 405);
    assert_eq!(status("GET", "/../Cargo.toml", &[&host, &token]), 404);
    let (_, head, body) = play.raw("GET", "/", &[host], "");
    assert!(head.contains("default-src 'none'") && head.contains("nosniff"), "{head}");
    assert!(body.contains("app.js"), "{body}");
}

#[test]
fn only_the_programs_of_the_folder_are_read() {
    let outer = tempfile::tempdir().expect("a folder");
    let folder = outer.path().join("own");
    std::fs::create_dir_all(folder.join("deep")).expect("a folder");
    let write = |path: &str, text: &str| std::fs::write(outer.path().join(path), text).unwrap();
    write("secret.lam", "def secret : real = 1");
    write("own/main.lam", "import \"deep/part\"\ndef f (x : real) : real = part.g x");
    write("own/deep/part.lam", "def g (x : real) : real = 2 * x");
    write("own/notes.txt", "no program");
    let play = Play::start(&[&folder.to_string_lossy()]);
    let (_, _, shelf) = play.raw("GET", "/api/shelf", &play.headers(), "");
    let shelf: Value = serde_json::from_str(&shelf).unwrap();
    assert_eq!(shelf["folder"], "own");
    assert_eq!(shelf["files"], json!(["deep/part.lam", "main.lam"]));
    assert!(shelf["book"].as_array().unwrap().len() > 60);
    let open =
        |origin: &str, path: &str| play.post("/api/open", &json!({"origin": origin, "path": path}));
    let (status, text) = open("folder", "deep/part.lam");
    assert!(status == 200 && text.contains("2 * x"), "{text}");
    assert_eq!(open("examples", "chad.lam").0, 200);
    let absolute = outer.path().join("secret.lam");
    let others =
        ["../secret.lam", "deep/../../secret.lam", "notes.txt", &*absolute.to_string_lossy()];
    for path in others {
        assert_eq!(open("folder", path).0, 404, "{path}");
        assert_eq!(open("examples", path).0, 404, "{path}");
    }
    // So it is with imports.
    let value = json!({"kind": "value", "entry": "f", "values": [["x", "4"]]});
    let ran = |text: &str| {
        let place = json!({"lane": "a", "number": 1, "origin": "folder", "path": "main.lam", "text": text, "task": value});
        play.post("/api/job", &place).1
    };
    let text = "import \"deep/part\"\ndef f (x : real) : real = part.g x";
    assert!(ran(text).contains("8.0"), "{}", ran(text));
    let path = absolute.with_extension("");
    for path in ["../secret", "deep/../../secret", &*path.to_string_lossy()] {
        let text = format!("import \"{path}\"\ndef f (x : real) : real = x");
        let answer = ran(&text);
        assert!(answer.contains("problems") && !answer.contains("def secret"), "{answer}");
    }
}

/// The events of a stream, up to one that fits.
fn until(stream: &mut impl std::io::BufRead, fits: impl Fn(&str) -> bool) -> String {
    let begin = Instant::now();
    let mut line = String::new();
    while begin.elapsed() < PATIENCE {
        line.clear();
        assert!(stream.read_line(&mut line).expect("it streams") > 0, "the stream has ended");
        if let Some(data) = line.strip_prefix("data: ")
            && fits(data)
        {
            return data.trim().to_string();
        }
    }
    panic!("no such event");
}

#[test]
fn the_editor_has_problems_hover_and_completion() {
    let play = Play::start(&[]);
    let mut to = play.connect();
    let head: String = play.headers().iter().map(|line| format!("{line}\r\n")).collect();
    write!(to, "GET /api/editor HTTP/1.1\r\n{head}\r\n").unwrap();
    let mut stream = BufReader::new(to);
    let session: u64 = until(&mut stream, |_| true).parse().expect("a session");
    let post = |messages: Value| {
        play.post("/api/editor", &json!({"session": session, "messages": messages})).0
    };
    let request = |id: i32, method: &str, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let note =
        |method: &str, params: Value| json!({"jsonrpc": "2.0", "method": method, "params": params});
    let begun = json!([
        request(1, "initialize", json!({"capabilities": {}})),
        note("initialized", json!({})),
    ]);
    assert_eq!(post(begun), 200);
    until(&mut stream, |data| data.contains("hoverProvider"));
    let uri = "play:/text/program.lam";
    let text = "def f (x : real) : real = sinn x\ndef g (x : real) : real = x";
    let document = json!({"uri": uri, "languageId": "lambada", "version": 1, "text": text});
    assert_eq!(post(json!([note("textDocument/didOpen", json!({"textDocument": document}))])), 200);
    let found = until(&mut stream, |data| data.contains("publishDiagnostics"));
    assert!(found.contains("`sinn`") && found.contains("E0101"), "{found}");
    let at = |line: u32, character: u32| json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": character}});
    assert_eq!(post(json!([request(2, "textDocument/hover", at(1, 26))])), 200);
    let hover = until(&mut stream, |data| data.contains("\"id\":2"));
    assert!(hover.contains("real"), "{hover}");
    assert_eq!(post(json!([request(3, "textDocument/completion", at(0, 29))])), 200);
    let offered = until(&mut stream, |data| data.contains("\"id\":3"));
    assert!(offered.contains("\"sinh\""), "{offered}");
    // Programs run under limits only, so the commands that run them are not passed on.
    let run = json!({"command": "lambada.run", "arguments": [uri, "g", "1"]});
    let last = request(5, "textDocument/hover", at(1, 26));
    assert_eq!(post(json!([request(4, "workspace/executeCommand", run), last])), 200);
    until(&mut stream, |data| {
        assert!(!data.contains("\"id\":4"), "{data}");
        data.contains("\"id\":5")
    });
    assert_eq!(play.post("/api/editor", &json!({"session": 0, "messages": []})).0, 410);
}

/// The processes that mention a text.
#[cfg(target_os = "linux")]
fn processes_with(text: &str) -> usize {
    let own = std::process::id().to_string();
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let all = all.filter(|entry| entry.file_name().to_string_lossy() != own);
    let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(text)).count()
}

#[test]
#[cfg(target_os = "linux")]
fn no_child_outlives_the_playground() {
    let outer = tempfile::tempdir().expect("a folder");
    let folder = outer.path().to_string_lossy().into_owned();
    let start = || {
        let play = Play::start(&[&folder]);
        let mut to = play.connect();
        let head: String = play.headers().iter().map(|line| format!("{line}\r\n")).collect();
        write!(to, "GET /api/editor HTTP/1.1\r\n{head}\r\n").unwrap();
        let values = json!([["n", "1"]]);
        let task = json!({"kind": "value", "entry": "forever", "values": values});
        let job = json!({"lane": "a", "number": 1, "origin": "text", "path": "p.lam", "text": PROGRAM, "task": task});
        let (job, mut other) = (job.to_string(), play.connect());
        let length = job.len();
        write!(other, "POST /api/job HTTP/1.1\r\n{head}Content-Length: {length}\r\n\r\n{job}")
            .unwrap();
        let begin = Instant::now();
        while processes_with(&folder) < 3 && begin.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(processes_with(&folder), 3, "the server, an editor and a job");
        (play, to, other)
    };
    let none = || {
        let begin = Instant::now();
        while processes_with(&folder) > 0 && begin.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(processes_with(&folder), 0);
    };
    let (play, _to, _other) = start();
    assert_eq!(play.interrupt(), Some(0));
    none();
    // Not even if the server is killed.
    let (play, _to, _other) = start();
    drop(play);
    none();
}

#[test]
fn a_port_in_use_and_a_missing_folder_have_messages() {
    let play = Play::start(&[]);
    let run = |arguments: &[&str]| {
        let command = Command::new(env!("CARGO_BIN_EXE_lambada"))
            .args(["play", "--no-open"])
            .args(arguments)
            .output()
            .expect("the command runs");
        (command.status.code(), String::from_utf8_lossy(&command.stderr).into_owned())
    };
    let (code, told) = run(&["--port", &play.port.to_string()]);
    assert_eq!(code, Some(1));
    assert!(told.contains("is in use") && told.contains("--port"), "{told}");
    let (code, told) = run(&["--port", "0", "no-such-folder"]);
    assert_eq!(code, Some(1));
    assert!(told.contains("`no-such-folder`"), "{told}");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let (code, told) = run(&["--port", "0", &file.to_string_lossy()]);
    assert_eq!(code, Some(1));
    assert!(told.contains("is no folder"), "{told}");
}
