//! Features that show something: hover, hints, lenses, symbols, tokens, derivatives.

use serde_json::{Value, json};

use crate::client::{Client, document, part, place};

const MODEL: &str = "--| Sum of squared errors.
def loss [n] (w : [n]real) (b : real) (xs : [n]real) : real =
  let errors = for (x, y) in zip xs w => x * y - b
  sum (for e in errors => e ** 2)

type shape = Circle real | Rect real real

def area s =
  match s
  | Circle r -> pi * r ** 2
  | Rect a b -> a * b

def main = loss [1, 2] 0.5 [3, 4]
";

/// The text of a hover at the first mention of a text, some bytes into it.
fn hover(client: &mut Client, uri: &str, text: &str, mention: &str, into: usize) -> String {
    let offset = text.find(mention).expect("it is there") + into;
    let line = text[..offset].matches('\n').count();
    let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    let character = text[start..offset].encode_utf16().count();
    let position = json!({"line": line, "character": character});
    let hover = client.request("textDocument/hover", place(uri, &position));
    hover["contents"]["value"].as_str().unwrap_or_default().to_string()
}

#[test]
fn hovers() {
    let mut client = Client::start();
    let uri = "untitled:a";
    client.open(uri, MODEL);
    let mut check = |mention: &str, into: usize, expect: &str| {
        let found = hover(&mut client, uri, MODEL, mention, into);
        assert!(found.contains(expect), "{mention}: {found}");
    };
    check("loss [n]", 0, "loss : [n]real -> real -> [n]real -> real");
    check("loss [n]", 0, "Sum of squared errors.");
    check("errors =", 1, "errors : [n]real");
    check("e ** 2", 0, "e : real");
    check("Circle r ->", 0, "type shape = Circle real | Rect real real");
    check("r ** 2\n", 0, "r : real");
    check("Circle r ->", 7, "r : real");
    check("area s", 5, "s : shape");
    check("sum (for", 0, "sum : [n]a -> a");
    check("sum (for", 0, "sum [1, 2, 3]");
    check("zip xs", 0, "zip ");
    check("pi *", 0, "pi : real");
    check("[n] (w", 1, "n : int");
    client.stop();
}

#[test]
fn derivatives() {
    let mut client = Client::start();
    let uri = "untitled:a";
    client.open(uri, MODEL);
    // A hover waits for the derivative only for a moment; the next one has it.
    let mut found = String::new();
    for _ in 0..100 {
        found = hover(&mut client, uri, MODEL, "b : real", 0);
        if found.contains("cotangent") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(found.contains("b : real") && found.contains("def loss_reverse"), "{found}");
    let params = |mode: &str, definition: &str| json!({"textDocument": {"uri": uri}, "definition": definition, "mode": mode, "wrt": ["b"]});
    let forward = client.request("lambada/derivative", params("forward", "loss"));
    assert!(forward["text"].as_str().unwrap().contains("def loss_forward"), "{forward}");
    let mut plain = params("reverse", "loss");
    plain.as_object_mut().unwrap().remove("wrt");
    plain.as_object_mut().unwrap().remove("mode");
    let reverse = client.request("lambada/derivative", plain);
    assert!(reverse["text"].as_str().unwrap().contains("def loss_reverse"), "{reverse}");
    assert!(client.refused("lambada/derivative", params("reverse", "none")).contains("none"));
    // It follows the text.
    client.change(uri, 2, "def loss (b : real) = sin b");
    let reverse = client.request("lambada/derivative", params("reverse", "loss"));
    assert!(reverse["text"].as_str().unwrap().contains("cos b"), "{reverse}");
    client.stop();
}

#[test]
fn lenses_and_commands() {
    let params = json!({"capabilities": {"window": {"showDocument": {"support": true}}}});
    let mut client = Client::with(params);
    let uri = "untitled:a";
    client.open(uri, MODEL);
    let lenses = client.request("textDocument/codeLens", document(uri));
    let lenses = lenses.as_array().unwrap().iter().map(|lens| {
        let command = &lens["command"];
        (command["title"].as_str().unwrap(), command["arguments"][1].as_str().unwrap())
    });
    let lenses: Vec<(&str, &str)> = lenses.collect();
    assert!(lenses.starts_with(&[("gradient", "loss"), ("derivative", "loss")]), "{lenses:?}");
    assert!(lenses.contains(&("run", "main")), "{lenses:?}");
    let command = |name: &str, arguments: Value| json!({"command": format!("lambada.{name}"), "arguments": arguments});
    let value = client.request("workspace/executeCommand", command("run", json!([uri, "main"])));
    assert_eq!(value, "62.5\n");
    assert_eq!(client.asked("window/showMessage")["message"], "62.5\n");
    let arguments = json!([uri, "loss", "w=[1, 2]", "b=0.5", "xs=[3, 4]"]);
    let value = client.request("workspace/executeCommand", command("gradient", arguments));
    let expect = "value = 62.5\ngradient = {w = [15.0, 60.0], b = -20.0, xs = [5.0, 30.0]}\n";
    assert_eq!(value, expect);
    let derivative = command("derivative", json!([uri, "area"]));
    let text = client.request("workspace/executeCommand", derivative);
    let shown = client.asked("window/showDocument");
    let path = shown["uri"].as_str().unwrap().strip_prefix("file://").unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), text.as_str().unwrap());
    let missing = command("gradient", json!([uri, "loss"]));
    assert!(client.refused("workspace/executeCommand", missing).contains("`loss`"));
    client.refused("workspace/executeCommand", command("other", json!([uri, "loss"])));
    client.refused("workspace/executeCommand", command("run", json!([])));
    client.stop();
}

#[test]
fn inlay_hints() {
    let text = "def f [n] (xs : [n]real) k =\n  let ys = for x in xs => x * k\n  let (a, b : real) = (ys, 1)\n  \
                loop s = 0.0 for i < n do s + a[i] * b\ndef g : int = 2\n";
    let mut client = Client::start();
    let uri = "untitled:a";
    client.open(uri, text);
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}});
    let params = json!({"textDocument": {"uri": uri}, "range": range});
    let hints = client.request("textDocument/inlayHint", params);
    let mut shown = text.to_string();
    let mut all: Vec<&Value> = hints.as_array().unwrap().iter().collect();
    all.sort_by_key(|hint| crate::client::offset(text, &hint["position"]));
    for hint in all.into_iter().rev() {
        let at = crate::client::offset(text, &hint["position"]);
        shown.insert_str(at, &format!("«{}»", hint["label"].as_str().unwrap()));
    }
    let expect = "def f [n] (xs : [n]real) k«: real»«→ real» =\n  let ys«: [n]real» = for x in xs => x * k\n  \
                  let (a«: [n]real», b : real) = (ys, 1)\n  \
                  loop s«: real» = 0.0 for i < n do s + a[i] * b\ndef g : int = 2\n";
    assert_eq!(shown, expect);
    client.stop();
}

#[test]
fn symbols_and_folding() {
    let mut client = Client::start();
    let uri = "untitled:a";
    client.open(uri, MODEL);
    let symbols = client.request("textDocument/documentSymbol", document(uri));
    let names = symbols.as_array().unwrap().iter().map(|symbol| symbol["name"].as_str().unwrap());
    assert_eq!(names.collect::<Vec<_>>(), ["loss", "shape", "area", "main"]);
    assert_eq!(symbols[0]["detail"], "[n]real -> real -> [n]real -> real");
    assert_eq!(symbols[1]["children"][1]["name"], "Rect");
    let folds = client.request("textDocument/foldingRange", document(uri));
    let lines = folds.as_array().unwrap().iter();
    let lines: Vec<(u64, u64)> = lines
        .map(|fold| (fold["startLine"].as_u64().unwrap(), fold["endLine"].as_u64().unwrap()))
        .collect();
    assert_eq!(lines, [(1, 3), (7, 10), (8, 10)]);
    let params = json!({"textDocument": {"uri": uri}, "positions": [{"line": 3, "character": 26}]});
    let ranges = client.request("textDocument/selectionRange", params);
    let (mut range, mut parts) = (&ranges[0], Vec::new());
    while range.is_object() {
        parts.push(part(MODEL, &range["range"]));
        range = &range["parent"];
    }
    assert_eq!(parts[..2], ["e", "e ** 2"], "{parts:?}");
    assert_eq!(parts.last(), Some(&MODEL));
    client.stop();
}

#[test]
fn semantic_tokens() {
    let text = "def f (x : real) = sin x + 2 -- 𝒳\nimport \"std/linalg\"\ntype t = A | B\ndef g m = linalg.svd m\n";
    let mut client = Client::start();
    let uri = "untitled:a";
    client.open(uri, text);
    let tokens = client.request("textDocument/semanticTokens/full", document(uri));
    let data: Vec<u64> =
        tokens["data"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    let names = [
        "namespace",
        "type",
        "parameter",
        "variable",
        "property",
        "member",
        "function",
        "keyword",
        "comment",
        "string",
        "number",
        "operator",
    ];
    let (mut line, mut column, mut found) = (0, 0, Vec::new());
    for token in data.chunks(5) {
        column = if token[0] == 0 { column + token[1] } else { token[1] };
        line += token[0];
        let end = json!({"line": line, "character": column + token[2]});
        let range = json!({"start": {"line": line, "character": column}, "end": end});
        found.push(format!("{} {}", part(text, &range), names[token[3] as usize]));
    }
    let expect = "def keyword, f function, x parameter, real type, sin function, x parameter, + operator, \
                  2 number, -- 𝒳 comment, import keyword, std/linalg namespace, type keyword, t type, A member, \
                  B member, def keyword, g function, m parameter, linalg namespace, svd function, m parameter";
    let found = found.join(", ").replace("\"std/linalg\" string", "std/linalg namespace");
    assert_eq!(found, expect);
    client.stop();
}
