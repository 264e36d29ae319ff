//! Modules of WebAssembly in Node, with values and derivatives of other engines beside theirs, and
//! in Chromium. Where Node, Chromium or a Clang for WebAssembly is absent, a test says so.

#[path = "build/tools.rs"]
mod tools;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use tools::{FOLDER, lambada, output, succeeds, text, there_is};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

/// Builds a module, in a new folder; none where a tool for it is absent, or `needed` is.
fn module(args: &str, needed: &str) -> Option<TempDir> {
    if !there_is(needed) {
        println!("skipped: no {needed}");
        return None;
    }
    let folder = TempDir::new().expect("a folder");
    let out = folder.path().display().to_string();
    let args: Vec<&str> = ["build"].into_iter().chain(args.split(' ')).collect();
    let mut command = lambada(&args);
    let made = output(command.args(["--target", "wasm", "-o", &out]));
    let told = text(&made.stderr);
    if told.contains("E0488") {
        println!("skipped: {told}");
        return None;
    }
    assert!(made.status.success(), "{told}");
    assert_eq!(text(&made.stdout).lines().count(), 3, "{}", text(&made.stdout));
    Some(folder)
}

fn node(script: &str, folder: &Path) -> Command {
    let mut command = Command::new("node");
    command.arg(format!("{FOLDER}/{script}")).arg(folder);
    command
}

#[test]
fn javascript_calls_all_that_is_offered() {
    let entries = "model.lam loss --grad w,b --jvp x area total --grad all positive --vjp xs areas turned pick table triangle wider depth careful swapped grown signs plus outer pairs small";
    let Some(folder) = module(entries, "node") else { return };
    assert_eq!(succeeds(&mut node("model.mjs", folder.path())), "all is well\n");
}

/// Reals of 32 bits are in a `Float32Array`.
#[test]
fn a_module_of_32_bits_takes_floats() {
    let Some(folder) = module("single.lam distance --grad x --precision f32", "node") else {
        return;
    };
    let script = "const { load } = await import(process.argv[1]); const single = await load();
        const [value, { x }] = single.distance_grad([3, 4], [0, 0], 1);
        if (value !== 12.5 || !(x instanceof Float32Array) || x[0] !== 3) throw new Error(`${value} ${x}`);";
    let mut command = Command::new("node");
    command.args(["--input-type=module", "--eval", script]);
    succeeds(command.arg(folder.path().join("single.mjs")));
}

/// Value and gradient of a mixture of normal distributions, which needs functions of the C library
/// and products that other engines may round once.
#[test]
fn values_and_gradients_are_those_of_the_evaluator() {
    let args = format!("{EXAMPLES}/gmm.lam objective --grad alpha,mu,q,l");
    let Some(folder) = module(&args, "node") else { return };
    let data = format!("{EXAMPLES}/data/gmm_d2_k5.json");
    let told = succeeds(node("gmm.mjs", folder.path()).arg(&data));
    let found = numbers(&told);
    let program = format!("{EXAMPLES}/gmm.lam");
    let with = ["objective", "--data", &data, "--engine", "core"];
    let mut command = lambada(&["grad", &program]);
    let said = succeeds(command.args(with).args(["--wrt", "alpha,mu,q,l"]));
    let wanted = numbers(&said);
    assert_eq!(found.len(), 1 + 5 + 10 + 10 + 5, "{told}");
    assert_eq!(found.len(), wanted.len(), "{said}");
    let largest = wanted.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
    for (a, b) in found.iter().zip(&wanted) {
        assert!((a - b).abs() <= 1e-12 * largest, "{a} is not {b}: {told} {said}");
    }
}

/// The numbers of a text.
fn numbers(text: &str) -> Vec<f64> {
    let part = |c: char| !(c.is_ascii_digit() || "+-.e".contains(c));
    text.split(part).filter_map(|word| word.parse().ok()).collect()
}

/// TypeScript accepts the types, and refuses arguments that are none.
#[test]
fn types_are_those_of_typescript() {
    let entries =
        "model.lam loss --grad w,b area total --grad all positive grown signs swapped pairs outer";
    let Some(folder) = module(entries, "tsc") else { return };
    let good = "import { load } from \"./model.mjs\";
const model = await load();
const [value, gradient]: [number, { w: Float64Array; b: number }] = model.loss_grad([1], 2, { data: [1], shape: [1, 1] }, new Float32Array(1));
const area: number = model.area({ Rect: [{ width: value, height: gradient.b }] });
const signs: (\"Plus\" | \"Minus\")[] = model.signs([area]);
const columns: { y: Float64Array; x: Float64Array } = model.swapped([{ x: 1, y: 2 }]);
model.swapped(columns).x.length + signs.length;
";
    let check = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("a file can be written");
        let mut command = Command::new("tsc");
        command.current_dir(folder.path());
        let flags =
            "--noEmit --strict --target es2022 --module nodenext --moduleResolution nodenext";
        output(command.args(flags.split(' ')).arg(name))
    };
    let told = check("good.mts", good);
    assert!(told.status.success(), "{}", text(&told.stdout));
    for wrong in ["model.area({ Square: [1] })", "model.loss([1], 2)", "model.positive(\"x\")"] {
        let text = format!(
            "import {{ load }} from \"./model.mjs\";\nconst model = await load();\n{wrong};\n"
        );
        assert!(!check("wrong.mts", &text).status.success(), "{wrong}");
    }
}

/// A process that is ended with its owner.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The example's page fits a model as its reader changes the data.
#[test]
fn a_page_fits_a_model_in_chromium() {
    let browser = std::env::var("CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_string());
    if !there_is(&browser) {
        return println!("skipped: no Chromium at {browser}");
    }
    let args = format!("{EXAMPLES}/wasm/curve.lam loss --grad p curve");
    let Some(folder) = module(&args, "node") else { return };
    std::fs::copy(format!("{EXAMPLES}/wasm/index.html"), folder.path().join("index.html"))
        .expect("the page is there");
    let mut server = Command::new("node");
    server.arg(format!("{FOLDER}/server.mjs")).arg(folder.path()).stdout(Stdio::piped());
    let mut server = Ended(server.spawn().expect("node starts"));
    let said = server.0.stdout.take().expect("its output");
    let mut lines = BufReader::new(said).lines().map(|line| line.expect("text"));
    let address = lines.next().expect("its address");
    let chromium = || {
        let profile = TempDir::new().expect("a folder");
        let mut command = Command::new(&browser);
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]);
        command.args(["--disable-background-networking", "--disable-component-update"]);
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        (command, profile)
    };
    let (mut command, _profile) = chromium();
    let running = command.args(["--remote-debugging-port=0", &address]).spawn();
    let _running = Ended(running.expect("Chromium starts"));
    // Height, rate and offset of the curve that is next to the data.
    let wanted = [1.991, 0.695, 0.512];
    let is_near = |line: &String| {
        let found = numbers(line);
        found.len() >= 3 && found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 0.002)
    };
    let fits = lines.find(is_near);
    assert!(fits.is_some(), "within a minute, the page has not found the curve");
    if let Ok(pictures) = std::env::var("PICTURES") {
        let (mut command, _profile) = chromium();
        command.args(["--window-size=1000,760", "--virtual-time-budget=60000", &address]);
        succeeds(command.arg(format!("--screenshot={pictures}/wasm.png")));
    }
}

#[test]
fn a_missing_tool_is_named() {
    let folder = TempDir::new().expect("a folder");
    let out = folder.path().join("out");
    let place = out.display().to_string();
    let args = ["build", "other.lam", "loss", "--target", "wasm", "-o", &place];
    let fails = |command: &mut Command, said: &[&str]| {
        let output = output(command);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(said.iter().all(|said| told.contains(said)), "{told}");
        assert!(!out.exists() && output.stdout.is_empty(), "{output:?}");
    };
    let named = ["E0488", "apt install clang lld wasi-libc libclang-rt-", "-dev-wasm32"];
    fails(lambada(&args).env("LAMBADA_WASM_CC", "no-such-clang"), &named);
    fails(lambada(&args).env("LAMBADA_WASM_CC", "true"), &named);
    let both = output(lambada(&args).arg("--portable"));
    assert!(
        !both.status.success() && text(&both.stderr).contains("cannot be used with"),
        "{both:?}"
    );
}
