//! Help while writing: completion, signatures, formatting.

use serde_json::{Value, json};

use crate::client::{CURSOR, Client, at, edited, folder, place, uri_of};

/// The completions at the cursor.
fn completions(client: &mut Client, uri: &str, version: i32, text: &str) -> Vec<Value> {
    client.change(uri, version, &text.replace(CURSOR, ""));
    let list = client.request("textDocument/completion", place(uri, &at(text)));
    list["items"].as_array().unwrap().clone()
}

fn labels(items: &[Value]) -> Vec<&str> {
    items.iter().map(|item| item["label"].as_str().unwrap()).collect()
}

#[test]
fn completion() {
    let mut client = Client::start();
    let uri = "untitled:a";
    client.open(uri, "");
    let text =
        "type t = Up | Down\ndef twice x = 2 * x\ndef f (speed : real) =\n  let slow = 1\n  s‸";
    let items = completions(&mut client, uri, 2, text);
    let all = labels(&items);
    for name in ["speed", "slow", "twice", "Up", "t", "f", "sum", "sin", "mean", "let", "match"] {
        assert!(all.contains(&name), "{name}: {all:?}");
    }
    assert!(!all.contains(&"x"), "{all:?}");
    let speed = items.iter().find(|item| item["label"] == "speed").unwrap();
    assert_eq!(speed["detail"], "real");
    let sum = items.iter().find(|item| item["label"] == "sum").unwrap();
    assert!(sum["documentation"]["value"].as_str().unwrap().contains("elements"));
    // The import comes with the name.
    let text = "--| A file.\n\ndef f m = normal_lp‸";
    let items = completions(&mut client, uri, 3, text);
    let one = items.iter().find(|item| item["label"] == "dist.normal_lpdf").unwrap();
    let plain = text.replace(CURSOR, "");
    let new = edited(&plain, &one["additionalTextEdits"]);
    assert_eq!(new, "--| A file.\n\nimport \"std/dist\"\n\ndef f m = normal_lp");
    // Members, fields, paths, and nothing in comments.
    let items = completions(&mut client, uri, 4, "import \"std/linalg\" as la\ndef f m = la.sv‸");
    assert!(labels(&items).contains(&"svd"), "{items:?}");
    assert!(!labels(&items).iter().any(|label| label.starts_with('_')));
    let record = "def f (p : {mass : real, at : [3]real}) (x : real) =\n  let y = p.‸ + x\n  y";
    let items = completions(&mut client, uri, 5, record);
    assert_eq!(labels(&items), ["mass", "at"]);
    assert_eq!(items[1]["detail"], "[3]real");
    let items = completions(&mut client, uri, 6, "import \"std/li‸");
    assert_eq!(labels(&items), ["std/linalg"]);
    assert_eq!(completions(&mut client, uri, 7, "-- s‸"), Vec::<Value>::new());
    client.stop();
}

#[test]
fn paths_of_files() {
    let folder = folder(&[("main.lam", ""), ("shapes.lam", "def f = 1")]);
    let uri = uri_of(&folder.path().join("main.lam"));
    let mut client = Client::start();
    client.open(&uri, "");
    let items = completions(&mut client, &uri, 2, "import \"‸\"");
    assert!(labels(&items).contains(&"shapes") && !labels(&items).contains(&"main"));
    client.stop();
}

#[test]
fn signatures() {
    let mut client = Client::start();
    let uri = "untitled:a";
    client.open(uri, "");
    let mut version = 1;
    let mut check = |text: &str, expect: Option<(&str, &str)>| {
        version += 1;
        client.change(uri, version, &text.replace(CURSOR, ""));
        let help = client.request("textDocument/signatureHelp", place(uri, &at(text)));
        let found = (!help.is_null()).then(|| {
            let one = &help["signatures"][0];
            let label = one["label"].as_str().unwrap();
            let active = help["activeParameter"].as_u64().unwrap() as usize;
            let part = &one["parameters"][active]["label"];
            let [from, to] = [0, 1].map(|k| part[k].as_u64().unwrap() as usize);
            (label.to_string(), label[from..to].to_string())
        });
        let found = found.as_ref().map(|(label, part)| (&label[..], &part[..]));
        assert_eq!(found, expect, "{text}");
    };
    let def = "def wave (k : int) (x : real) : real = x\n";
    let wave = "wave : int -> real -> real";
    check(&format!("{def}def g = wave ‸"), Some((wave, "int")));
    check(&format!("{def}def g = wave 1 ‸"), Some((wave, "real")));
    check(&format!("{def}def g = wave (1 + 2) 1.5‸"), Some((wave, "real")));
    check(&format!("{def}def g = 1 + wave (length [1]) ‸"), Some((wave, "real")));
    check("def g xs = for x in xs => map ‸", Some(("map f xs", "f")));
    check("def g = 1 + ‸", None);
    client.stop();
}

#[test]
fn formatting() {
    let mut client = Client::start();
    let uri = "untitled:a";
    let text = "-- é\ndef f x =\n    let y=x\n    y\ndef g = 1\n";
    client.open(uri, text);
    let options = json!({"tabSize": 2, "insertSpaces": true});
    let params = json!({"textDocument": {"uri": uri}, "options": options});
    let edits = client.request("textDocument/formatting", params.clone());
    assert_eq!(edited(text, &edits), "-- é\ndef f x =\n  let y = x\n  y\n\ndef g = 1\n");
    client.change(uri, 2, "def f = 1\n");
    assert_eq!(client.request("textDocument/formatting", params.clone()), json!([]));
    client.change(uri, 3, "def f = (\n");
    assert!(client.request("textDocument/formatting", params).is_null());
    client.stop();
}

#[test]
fn formatting_of_a_range() {
    let mut client = Client::start();
    let uri = "untitled:a";
    client.open(uri, "");
    let mut version = 1;
    let mut formatted = |text: &str, (from, to): (u32, u32)| -> Option<String> {
        version += 1;
        client.change(uri, version, text);
        let range = json!({
            "start": {"line": from, "character": 0}, "end": {"line": to, "character": 0},
        });
        let options = json!({"tabSize": 2, "insertSpaces": true});
        let params = json!({"textDocument": {"uri": uri}, "range": range, "options": options});
        let edits = client.request("textDocument/rangeFormatting", params);
        (!edits.is_null()).then(|| edited(text, &edits))
    };
    let text = "def a=1\n\ndef b  x =\n    let y=x -- é\n    y\n\n\n\n--  c\ndef c  = 3\n";
    let b = "def b x =\n  let y = x -- é\n  y\n";
    let only = |part: &str, new: &str| Some(text.replace(part, new));
    let old = "def b  x =\n    let y=x -- é\n    y\n";
    // A line of a definition, all of it, and with the first line of the next range excluded.
    for range in [(3, 3), (3, 4), (2, 5), (4, 4)] {
        assert_eq!(formatted(text, range), only(old, b), "{range:?}");
    }
    assert_eq!(formatted(text, (0, 1)), only("def a=1", "def a = 1"));
    assert_eq!(formatted(text, (9, 9)), only("def c  =", "def c ="));
    // Between two definitions.
    assert_eq!(formatted(text, (6, 6)), only("\n\n\n\n", "\n\n"));
    let both = text.replace("def a=1", "def a = 1").replace(old, b);
    assert_eq!(formatted(text, (0, 3)), Some(both));
    // A comment that moves behind its definition, and a text that stays.
    let comment = "def t = [1, -- one\n 2 -- two\n -- end\n]\ndef u=1\n";
    let expect = "def t =\n  [1, -- one\n   2] -- two\n\n-- end\ndef u=1\n";
    assert_eq!(formatted(comment, (1, 1)).as_deref(), Some(expect));
    assert_eq!(formatted("def f = 1\n", (0, 1)).as_deref(), Some("def f = 1\n"));
    assert_eq!(formatted("def f = (\n", (0, 1)), None);
    assert_eq!(formatted("", (0, 0)).as_deref(), Some(""));
    client.stop();
}
