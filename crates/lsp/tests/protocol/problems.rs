//! Problems, their places and their fixes.

use serde_json::{Value, json};

use crate::client::{Client, document, edited, folder, part, uri_of};

#[test]
fn problems_as_one_types() {
    let mut client = Client::start();
    let uri = "untitled:a";
    let text = "def area r = pi * r * r\ndef area w h = w * h\ndef f x =\n  let unused = 1\n  x\n";
    client.open(uri, text);
    let problems = client.problems(uri);
    assert_eq!(problems.as_array().unwrap().len(), 1, "{problems}");
    let one = &problems[0];
    assert_eq!(
        (&one["severity"], &one["code"], &one["source"]),
        (&json!(1), &json!("E0102"), &json!("lambada"))
    );
    assert_eq!(part(text, &one["range"]), "area");
    let link = one["codeDescription"]["href"].as_str().unwrap();
    assert!(
        link.ends_with("crates/lambada/errors/names.md#e0102-two-definitions-of-one-name"),
        "{link}"
    );
    let related = &one["relatedInformation"][0];
    assert_eq!(
        (&related["location"]["uri"], &related["location"]["range"]["start"]["line"]),
        (&json!(uri), &json!(0))
    );
    // Without the second definition, warnings remain.
    let range = json!({"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}});
    client.notify(
        "textDocument/didChange",
        json!({
            "textDocument": {"uri": uri, "version": 2},
            "contentChanges": [{"range": range, "text": ""}],
        }),
    );
    let problems = client.problems(uri);
    let one = &problems[0];
    assert_eq!(
        (&one["severity"], &one["code"], &one["tags"]),
        (&json!(2), &json!("E0801"), &json!([1]))
    );
    client.notify("textDocument/didClose", document(uri));
    assert_eq!(client.problems(uri), json!([]));
    assert_eq!(client.stop(), 0);
}

#[test]
fn columns() {
    let text = "-- é 𝒳\ndef f (x : real) = (check \"é𝒳\" (x > 0) x) + yy\n";
    let mut client = Client::start();
    client.open("untitled:a", text);
    let range = client.problems("untitled:a")[0]["range"].clone();
    assert_eq!((part(text, &range), &range["start"]["character"]), ("yy", &json!(45)));
    let mut client =
        Client::with(json!({"capabilities": {"general": {"positionEncodings": ["utf-8"]}}}));
    client.open("untitled:a", text);
    let range = client.problems("untitled:a")[0]["range"].clone();
    assert_eq!(range["start"]["character"], 48);
}

#[test]
fn imports_of_open_and_closed_files() {
    let folder = folder(&[
        ("main.lam", "import \"lib\"\ndef g (x : real) = lib.f x\n"),
        ("lib.lam", "def f (x : real) = x * x\n"),
    ]);
    let [main, lib] = ["main.lam", "lib.lam"].map(|name| uri_of(&folder.path().join(name)));
    let mut client = Client::start();
    client.open(&main, "import \"lib\"\ndef g (x : real) = lib.f x\n");
    assert_eq!(client.problems(&main), json!([]));
    // The buffer wins over the disk, and the importing file follows it.
    client.open(&lib, "def f (x : real) (y : real) = x * y\n");
    client.problems(&lib);
    client.problems(&main);
    client.change(&lib, 2, "def h (x : real) = x\n");
    let problems = client.problems(&main);
    assert!(problems[0]["message"].as_str().unwrap().contains("`f`"), "{problems}");
    client.change(&lib, 3, "def f (x : real) = x +\n");
    let problems = client.problems(&main);
    let text = problems[0]["message"].as_str().unwrap();
    assert!(text.starts_with("in lib.lam: "), "{text}");
    assert_eq!(problems[0]["range"]["start"]["line"], 0);
    let place = &problems[0]["relatedInformation"][0]["location"]["uri"];
    assert_eq!(place, &json!(lib));
    client.notify("textDocument/didClose", document(&lib));
    loop {
        if client.problems(&main) == json!([]) {
            break;
        }
    }
    assert_eq!(client.stop(), 0);
}

#[test]
fn fixes() {
    let mut client = Client::start();
    let uri = "untitled:a";
    let text = "def f (x : real) = sinn x\ndef g (m : [2][2]real) = solve m [1, 2]\n";
    client.open(uri, text);
    client.problems(uri);
    let actions = |client: &mut Client, line: u32, only: Value| {
        let place = json!({"line": line, "character": 20});
        let range = json!({"start": place, "end": place});
        let context = json!({"diagnostics": [], "only": only});
        let params = json!({"textDocument": {"uri": uri}, "range": range, "context": context});
        client.request("textDocument/codeAction", params)
    };
    let all = actions(&mut client, 0, json!(["quickfix"]));
    let one = &all[0];
    assert_eq!(one["diagnostics"][0]["code"], "E0101", "{all}");
    let new = edited(text, &one["edit"]["changes"][uri]);
    assert!(new.starts_with("def f (x : real) = sign x\n"), "{new}");
    // A name of a module that is not imported: the import and the qualified name.
    let all = actions(&mut client, 1, json!(null));
    let fixed =
        all.as_array().unwrap().iter().map(|one| edited(text, &one["edit"]["changes"][uri]));
    let fixed: Vec<String> = fixed.collect();
    assert!(fixed.iter().all(|new| new.len() > text.len()), "{fixed:?}");
    // All certain fixes of a file.
    client.change(uri, 2, "def f(x : real) = x ^ 2 ;\ndef g = let x = 1 in x\n");
    let all = actions(&mut client, 0, json!(["source.fixAll"]));
    assert!(all.as_array().unwrap().len() <= 1, "{all}");
    assert_eq!(client.stop(), 0);
}
