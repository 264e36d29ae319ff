//! Definitions, references and renaming.

use serde_json::{Value, json};

use crate::client::{CURSOR, Client, at, edited, folder, part, place, uri_of};

/// A text without its cursor, and the cursor's position.
fn cursor(text: &str) -> (String, Value) {
    (text.replace(CURSOR, ""), at(text))
}

/// The text and the line of the definition of the name at the cursor.
fn defined(client: &mut Client, uri: &str, version: i32, text: &str) -> String {
    let (text, position) = cursor(text);
    client.change(uri, version, &text);
    let place = client.request("textDocument/definition", place(uri, &position));
    if place.is_null() {
        return String::new();
    }
    let at = place["uri"].as_str().unwrap();
    let file = at.strip_prefix("file://").map(|path| std::fs::read_to_string(path).unwrap());
    let text = file.unwrap_or(text);
    let line = text.lines().nth(place["range"]["start"]["line"].as_u64().unwrap() as usize);
    format!("{} | {}", part(&text, &place["range"]), line.unwrap_or_default())
}

#[test]
fn definitions() {
    let mut client = Client::start();
    let uri = "untitled:a";
    client.open(uri, "");
    let mut check = |version: i32, text: &str, expect: &str| {
        let found = defined(&mut client, uri, version, text);
        assert!(found.starts_with(expect), "{text}: {found}");
    };
    check(2, "def f x = x\ndef g = ‸f 1", "f | def f x = x");
    check(3, "def f x =\n  let x = x + 1\n  x‸ * 2", "x |   let x = x + 1");
    check(4, "def f x =\n  let x = ‸x + 1\n  x * 2", "x | def f x =");
    check(5, "def f s = match s | Some v -> ‸v | None -> 0", "v | def f s = match");
    check(6, "type t = A | B real\ndef f = B‸ 1", "B | type t = A | B real");
    check(7, "type t = A | B real\ndef f (x : ‸t) = x", "t | type t = A | B real");
    check(8, "type p = {x : real, y : real}\ndef f (q : p) = q.‸x", "x | type p = {x");
    check(9, "def f xs = ‸mean xs", "mean | def mean ");
    check(10, "import \"std/linalg\" as la\ndef f m = la.‸svd m", "svd | def svd ");
    check(11, "import \"std/linalg\" (svd)\ndef f m = ‸svd m", "svd | def svd ");
    check(12, "def f [n] (xs : [n]real) (ys : [‸n]real) = xs + ys", "n | def f [n]");
    check(13, "def f x = (\\y -> ‸y) x", "y | def f x");
    check(14, "def f = accumulate h = zeros 3 in for i < 3 => ‸h[i] += 1.0", "h | def f");
    check(15, "def f = ‸sin 1", "");
    check(16, "def f x = ‸x + (", "x | def f x");
    client.stop();
}

#[test]
fn references_and_highlights() {
    let mut client = Client::start();
    let uri = "untitled:a";
    let text = "def f x = x\ndef g f = f 1\ndef h = f (f 2)\n";
    client.open(uri, text);
    let count = |client: &mut Client, line: u32, character: u32, declared: bool| {
        let mut params = place(uri, &json!({"line": line, "character": character}));
        params["context"] = json!({"includeDeclaration": declared});
        let found = client.request("textDocument/references", params);
        found.as_array().unwrap().len()
    };
    assert_eq!(count(&mut client, 0, 4, true), 3);
    assert_eq!(count(&mut client, 1, 6, true), 2);
    assert_eq!(count(&mut client, 1, 6, false), 1);
    let position = json!({"line": 2, "character": 8});
    let found = client.request("textDocument/documentHighlight", place(uri, &position));
    let kinds: Vec<u64> =
        found.as_array().unwrap().iter().map(|one| one["kind"].as_u64().unwrap()).collect();
    assert_eq!(kinds, [3, 2, 2]);
    client.stop();
}

#[test]
fn names_over_files() {
    let main = "import \"lib\" as l\ndef g x = l.wave x + l.wave 1\n";
    let other =
        "import \"lib\" (wave, shape, Circle)\ndef wave2 (s : shape) = wave 1\ndef c = Circle 1\n";
    let lib = "type shape = Circle real | Dot\ndef wave (x : real) = sin x\ndef twice x = wave (wave x)\n";
    let files =
        [("main.lam", main), ("other.lam", other), ("lib.lam", lib), ("alone.lam", "def wave = 1")];
    let folder = folder(&files);
    let [main_uri, other_uri, lib_uri] =
        ["main.lam", "other.lam", "lib.lam"].map(|name| uri_of(&folder.path().join(name)));
    let root = json!({"capabilities": {}, "rootUri": uri_of(folder.path())});
    let mut client = Client::with(root);
    client.open(&main_uri, main);
    let mut params = place(&main_uri, &json!({"line": 1, "character": 14}));
    params["context"] = json!({"includeDeclaration": true});
    let found = client.request("textDocument/references", params);
    assert_eq!(found.as_array().unwrap().len(), 7, "{found}");
    // A rename reaches them all.
    let mut params = place(&main_uri, &json!({"line": 1, "character": 14}));
    params["newName"] = json!("ripple");
    let edit = client.request("textDocument/rename", params.clone());
    let changes = &edit["changes"];
    assert_eq!(changes.as_object().unwrap().len(), 3, "{edit}");
    assert_eq!(edited(main, &changes[&main_uri]), main.replace("wave", "ripple"));
    assert_eq!(edited(lib, &changes[&lib_uri]), lib.replace("wave", "ripple"));
    let expect = other.replace("wave", "ripple").replace("ripple2", "wave2");
    assert_eq!(edited(other, &changes[&other_uri]), expect);
    // A name that is taken in one of the files.
    params["newName"] = json!("wave2");
    assert!(client.refused("textDocument/rename", params.clone()).contains("other.lam"));
    params["newName"] = json!("twice");
    assert!(client.refused("textDocument/rename", params).contains("lib.lam"));
    let found = client.request("workspace/symbol", json!({"query": "wv"}));
    let names = found.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap());
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    assert_eq!(names, ["wave", "wave", "wave2"]);
    client.stop();
}

#[test]
fn fields_are_renamed_in_all_programs_that_share_records() {
    let lib = "def at (p : {x : real, y : real}) = p.x\ndef other (q : {x : real}) = q.x\n";
    let main = "import \"lib.lam\" as lib\ndef f a = lib.at {x = a, y = 1.0} + lib.other {x = a}\n";
    let beside = "import \"lib.lam\"\ndef g = at {y = 2.0, x = 1.0}\n";
    let lonely = "def k (p : {x : real, y : real}) = p.x\n";
    let files =
        [("lib.lam", lib), ("main.lam", main), ("beside.lam", beside), ("lonely.lam", lonely)];
    let folder = folder(&files);
    let uri = |name: &str| uri_of(&folder.path().join(name));
    let mut client = Client::with(json!({"capabilities": {}, "rootUri": uri_of(folder.path())}));
    client.open(&uri("main.lam"), main);
    let mut params = place(&uri("main.lam"), &json!({"line": 1, "character": 18}));
    params["newName"] = json!("left");
    let found = client.request("textDocument/prepareRename", params.clone());
    assert_eq!(found["placeholder"], "x");
    let edit = client.request("textDocument/rename", params.clone());
    let changes = &edit["changes"];
    assert_eq!(changes.as_object().unwrap().len(), 3, "{edit}");
    let expect = [
        ("lib.lam", lib, lib.replace("x : real, y", "left : real, y").replace("p.x", "p.left")),
        ("main.lam", main, main.replace("{x = a, y", "{left = a, y")),
        ("beside.lam", beside, beside.replace("x = 1", "left = 1")),
    ];
    for (name, old, new) in expect {
        assert_eq!(edited(old, &changes[&uri(name)]), new);
    }
    params["newName"] = json!("y");
    assert!(client.refused("textDocument/rename", params).contains("a field `y` already"));
    client.stop();
}

#[test]
fn renaming() {
    let mut client = Client::start();
    let uri = "untitled:a";
    client.open(uri, "");
    let mut version = 1;
    let mut renamed = |text: &str, new: &str| -> Result<String, String> {
        version += 1;
        let (text, position) = cursor(text);
        client.change(uri, version, &text);
        let mut params = place(uri, &position);
        params["newName"] = json!(new);
        let id = client.ask("textDocument/rename", params);
        match client.response(id) {
            Ok(edit) => Ok(edited(&text, &edit["changes"][uri])),
            Err(error) => Err(error.message),
        }
    };
    let check =
        |found: Result<String, String>, expect: &str| assert_eq!(found.as_deref(), Ok(expect));
    check(
        renamed("-- é𝒳\ndef f ‸x = (check \"𝒳\" (x > 0) x) + x", "y"),
        "-- é𝒳\ndef f y = (check \"𝒳\" (y > 0) y) + y",
    );
    check(renamed("def f {x, y} = ‸x + y", "a"), "def f {x = a, y} = a + y");
    check(renamed("def f ‸x = {x, y = x}", "a"), "def f a = {x = a, y = a}");
    check(
        renamed("def f s = match s | A ‸v | B v -> v\ntype t = A real | B real", "w"),
        "def f s = match s | A w | B w -> w\ntype t = A real | B real",
    );
    check(
        renamed("def rec ‸f x = if x > 0 then f (x - 1) else x", "g"),
        "def rec g x = if x > 0 then g (x - 1) else x",
    );
    check(
        renamed("type t = ‸A | B\ndef f x = match x | A -> 1 | B -> 2", "First"),
        "type t = First | B\ndef f x = match x | First -> 1 | B -> 2",
    );
    // Fields: of records with the same fields, wherever they are.
    let point = |x: &str| {
        format!(
            "type point = {{{x} : real, y : real}}\n\
             def f (p : point) = let {{{x}{eq}, y}} = p in {{p with {x} = x + p.{x}}}\n\
             def g x = f {{{x}{eq}, y = 1.0}}\n\
             def h (r : {{x : real}}) = r.x",
            eq = if x == "x" { "" } else { " = x" },
        )
    };
    for at in ["‸x : real, y", "‸x = x + p", "p.‸x", "{‸x, y}"] {
        let text = point("x").replacen(&at.replace('‸', ""), at, 1);
        let found = renamed(&text, "left");
        // In `{x, y}` the cursor is on the variable.
        if at != "{‸x, y}" {
            check(found, &point("left"));
        }
    }
    check(
        renamed("def f = {a = 1}.‸a + {a = 2, b = 3}.a", "c"),
        "def f = {c = 1}.c + {a = 2, b = 3}.a",
    );
    assert!(
        renamed(&point("x").replacen("p.x", "p.‸x", 1), "y").unwrap_err().contains("field `y`")
    );
    assert!(renamed(&point("x").replacen("p.x", "p.‸x", 1), "Left").is_err());
    // Captures, names of another kind, and names that are not the user's.
    assert!(renamed("def f x = let y = 1 in ‸x + y", "y").is_err());
    assert!(renamed("def f ‸x = let y = 1 in x + y", "y").is_err());
    assert!(renamed("def ‸f x = x\ndef g h = f h", "h").is_err());
    assert!(renamed("def ‸f x = x\ndef g = f (mean [1])", "mean").is_err());
    for (text, new) in [
        ("def f ‸x = x", "let"),
        ("def f ‸x = x", "1a"),
        ("def f ‸x = x", "a b"),
        ("def f ‸x = x", ""),
        ("type t = ‸A", "a"),
        ("def f x = ‸sin x", "y"),
        ("def f x = ‸mean x", "y"),
        ("def f r = r.‸x", "y"),
        ("def f (r : {x : real}) = r.‸x", "1"),
    ] {
        let found = renamed(text, new);
        assert!(found.is_err(), "{text}: {found:?}");
    }
    let params = place(uri, &json!({"line": 0, "character": 6}));
    client.change(uri, 99, "def f x = x");
    let prepared = client.request("textDocument/prepareRename", params);
    assert_eq!(prepared["placeholder"], "x");
    client.stop();
}
