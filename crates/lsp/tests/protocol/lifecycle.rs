//! Start, end, cancellation, and messages that are no requests.

use std::time::Instant;

use serde_json::json;

use crate::client::{Client, document};

#[test]
fn start_and_end() {
    let mut client = Client::new();
    assert_eq!(client.refused("textDocument/hover", json!({})), "not initialized");
    let params = json!({"capabilities": {"general": {"positionEncodings": ["utf-16", "utf-8"]}}});
    let result = client.request("initialize", params);
    assert_eq!(result["capabilities"]["positionEncoding"], "utf-8");
    assert_eq!(result["serverInfo"]["name"], "lambada");
    assert_eq!(client.refused("initialize", json!({})), "initialized already");
    client.request("shutdown", json!(null));
    assert_eq!(client.refused("textDocument/hover", json!({})), "shut down");
    assert_eq!(client.exit(), 0);
    assert_eq!(Client::start().exit(), 1, "without `shutdown`");
    assert_eq!(Client::start().hang_up(), 1);
    assert_eq!(Client::start().stop(), 0);
}

#[test]
fn nonsense_does_no_harm() {
    let mut client = Client::start();
    client.raw(b"nonsense\r\n\r\nContent-Length: 5\r\n\r\n{\"a\":Content-Length: 2\r\n\r\n[]");
    client.raw(b"Content-Length: 2\r\n\r\n{}");
    client.notify("textDocument/didOpen", json!({"textDocument": 3}));
    client.notify("textDocument/didChange", document("file:///nowhere.lam"));
    client.notify("unknown/note", json!([1]));
    assert!(client.refused("unknown/request", json!({})).contains("unknown/request"));
    assert!(!client.refused("textDocument/hover", json!({"position": 1})).is_empty());
    let far = json!({"line": 99, "character": 99});
    let uri = "untitled:a";
    client.open(uri, "def f (x : real) = ((((");
    client.notify(
        "textDocument/didChange",
        json!({
            "textDocument": {"uri": uri, "version": 2},
            "contentChanges": [{"range": {"start": far, "end": {"line": 0, "character": 0}}, "text": "é"}],
        }),
    );
    let place = json!({"textDocument": {"uri": uri}, "position": far});
    assert!(client.request("textDocument/hover", place).is_null());
    assert_eq!(client.stop(), 0);
}

/// Every request at every place of a broken text has an answer.
#[test]
fn broken_texts() {
    let text = "import \"std/linalg\"\ntype t = A real | B\n\
        def f [n] (x : [n]real) {y} = let g a = linalg. in match t | A v -> v + x[0 | B -> for i < n\n\
        def é = 𝒳 \"\ndef h r = r. + f (r";
    let mut client = Client::start();
    let uri = "untitled:broken";
    client.open(uri, text);
    for (line, content) in text.lines().enumerate() {
        for character in (0..=content.encode_utf16().count()).step_by(3) {
            let position = json!({"line": line, "character": character});
            let place = json!({"textDocument": {"uri": uri}, "position": position});
            for method in
                ["hover", "completion", "signatureHelp", "definition", "documentHighlight"]
            {
                client.request(&format!("textDocument/{method}"), place.clone());
            }
            let rename =
                json!({"textDocument": {"uri": uri}, "position": position, "newName": "z"});
            let id = client.ask("textDocument/rename", rename);
            let internal = client.response(id).is_err_and(|e| e.message.contains("internal"));
            assert!(!internal, "{position}");
        }
    }
    for method in
        ["documentSymbol", "foldingRange", "codeLens", "formatting", "semanticTokens/full"]
    {
        let options = json!({"tabSize": 2, "insertSpaces": true});
        let params = json!({"textDocument": {"uri": uri}, "options": options});
        client.request(&format!("textDocument/{method}"), params);
    }
    assert_eq!(client.stop(), 0);
}

/// A program that runs forever does not keep the server from answering, and can be cancelled.
#[test]
fn cancellation() {
    let mut client = Client::start();
    let uri = "untitled:forever";
    client.open(uri, "def main = loop x = 1.0 while x > 0 do x + 1");
    let params = json!({"command": "lambada.run", "arguments": [uri, "main"]});
    let id = client.ask("workspace/executeCommand", params);
    assert!(client.request("textDocument/documentSymbol", document(uri)).is_array());
    client.notify("$/cancelRequest", json!({"id": id}));
    let error = client.response(id).expect_err("it is cancelled");
    assert_eq!(error.code, -32800);
    let params = json!({"command": "lambada.run", "arguments": [uri, "none"]});
    assert!(client.refused("workspace/executeCommand", params).contains("none"));
    assert_eq!(client.stop(), 0);
}

/// A program of 1000 lines.
fn long() -> String {
    let one = |k: usize| {
        format!(
            "--| Number {k}.\ndef f{k} [n] (w : [n]real) (b : real) (xs : [n]real) : real =\n  \
             let s = sum (for (x, y) in zip xs w => x * y)\n  \
             let t = if s > b then tanh s else exp (s - b)\n  t * {k} + b\n"
        )
    };
    (0..200).map(one).collect()
}

/// The limits are for a busy machine and a build without optimization. Prints the times.
#[test]
fn latency() {
    let mut client = Client::start();
    let uri = "untitled:long";
    let text = long();
    client.open(uri, &text);
    assert_eq!(client.problems(uri), json!([]));
    for (version, broken) in [(2, "let t = if s >"), (3, "let t = if s > b")] {
        let new = text.replacen("let t = if s > b", broken, 1);
        let began = Instant::now();
        client.change(uri, version, &new);
        let problems = client.problems(uri);
        let took = began.elapsed();
        assert_eq!(problems.as_array().is_some_and(Vec::is_empty), version == 3, "{problems}");
        eprintln!("{took:?}");
        assert!(took.as_secs() < 10, "{took:?}");
    }
    let began = Instant::now();
    client.request("textDocument/semanticTokens/full", document(uri));
    assert!(began.elapsed().as_secs() < 10);
    assert_eq!(client.stop(), 0);
}
