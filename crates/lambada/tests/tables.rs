//! Tables written by pandas and polars, as arguments.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

use lambada::{Engine, Executable, Inputs, Options, Session, json_text};
use lambada_testkit::Random;

/// The system's allocator, which refuses requests that no small file justifies.
struct Strict;

/// Limit for a request in bytes.
const ABSURD: usize = 1 << 28;

// SAFETY: all memory comes from the system's allocator.
unsafe impl GlobalAlloc for Strict {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match layout.size() > ABSURD {
            true => std::ptr::null_mut(),
            // SAFETY: as the caller promises.
            false => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Strict = Strict;

const PROGRAM: &str = "type sky = Clear | Cloudy

def warm [n] (temperature : [n]real) (day : [n]int) : real =
  sum (for i < n => real day[i] * temperature[i])
def clear (days : []{temperature : real, sky : sky}) : real =
  sum (for day in days => match day.sky | Clear -> day.temperature | Cloudy -> 0)
def weights [n] (w : [n][2]real) : real = sum (flatten w)
def rows (days : []{day : int, w : [2]real}) : real = sum (for d in days => real d.day * d.w[1])
def since (when : []real) : real = sum when
";

/// The result of a definition with a file as its data, or the codes of its problems.
fn run(entry: &str, file: &str) -> Result<String, String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables");
    let mut session = Session::new();
    let unit = session.load_text("weather.lam", PROGRAM, None).expect("it is well typed");
    let call = unit.call(entry, lambada::Operator::Value, None).expect("it is there");
    let mut inputs = Inputs::new();
    let whole = entry == "clear" || entry == "rows";
    match whole {
        true => inputs.read_value("days", &folder.join(file)),
        false => inputs.read_file(&folder.join(file)),
    }
    .map_err(|problem| problem.code.to_string())?;
    let args = call.arguments(&inputs).map_err(|problems| {
        problems
            .iter()
            .map(|problem| format!("{} {}", problem.code, problem.title))
            .collect::<String>()
    })?;
    let options = Options { engine: Engine::Loops, ..Options::default() };
    let executable = Executable::with(call.program, call.entry, &options).expect("it compiles");
    Ok(json_text(&executable.run(&args).expect("it runs")))
}

const FILES: [&str; 6] = [
    "pandas.parquet",
    "gzip.parquet",
    "pandas.feather",
    "polars.parquet",
    "polars.arrow",
    "stream.arrow",
];

#[test]
fn columns_are_read_by_name_and_rows_as_records() {
    for file in FILES {
        let missing = file.contains("pandas") || file == "gzip.parquet";
        // The table from pandas lacks the temperature of the second day.
        let warm = if missing { "\"nan\"" } else { "122.5" };
        assert_eq!(run("warm", file).as_deref(), Ok(warm), "{file}");
        assert_eq!(run("clear", file).as_deref(), Ok("42.5"), "{file}");
    }
}

#[test]
fn columns_of_lists_are_matrices_and_fields_that_are_vectors() {
    for file in ["polars.parquet", "polars.arrow", "stream.arrow"] {
        assert_eq!(run("weights", file).as_deref(), Ok("9.0"), "{file}");
        assert_eq!(run("rows", file).as_deref(), Ok("12.0"), "{file}");
    }
}

#[test]
fn a_column_of_dates_is_an_error_where_it_is_needed() {
    for file in ["pandas.parquet", "pandas.feather"] {
        let wrong = run("since", file).expect_err(file);
        assert!(wrong.contains("a column of points in time"), "{wrong}");
    }
}

/// Files with corrupted lengths, offsets and types. The libraries would panic on some, and allocate
/// by a corrupted length on others; both must be errors.
#[test]
fn broken_files_are_errors_and_take_no_memory() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables");
    let scratch = tempfile::tempdir().expect("there is room for small files");
    std::panic::set_hook(Box::new({
        let usual = std::panic::take_hook();
        move |panic| match lambada::panics_are_told() {
            true => {}
            false => usual(panic),
        }
    }));
    let mut random = Random(7);
    let (mut read, mut refused) = (0, 0);
    for file in FILES {
        let whole = std::fs::read(folder.join(file)).expect("it is there");
        let place = scratch.path().join(file);
        for round in 0..250 {
            let mut bytes = whole.clone();
            match round % 5 {
                // Corrupts every kind of number: a byte, an absurd length, a negative one, a shift,
                // an end.
                0 | 1 => (0..1 + random.below(3)).for_each(|_| {
                    let at = random.below(bytes.len());
                    bytes[at] ^= 1 << random.below(8);
                }),
                2 => {
                    let at = random.below(bytes.len() - 8);
                    bytes[at..at + 8]
                        .copy_from_slice(&(i64::MAX >> random.below(40)).to_le_bytes());
                }
                3 => {
                    let at = random.below(bytes.len() - 4);
                    bytes[at..at + 4].copy_from_slice(&(-1i32 << random.below(31)).to_le_bytes());
                }
                _ => bytes.truncate(random.below(bytes.len())),
            }
            std::fs::write(&place, &bytes).expect("there is room for a small file");
            let mut inputs = Inputs::new().with_memory(Some(1 << 26));
            match inputs.read_file(&place) {
                Ok(()) => read += 1,
                Err(problem) => {
                    refused += 1;
                    let known = ["E0601", "E0620", "E0661", "E0663"].contains(&problem.code);
                    assert!(known, "{file}, round {round}: {} {}", problem.code, problem.title);
                }
            }
        }
    }
    assert!(read > 100 && refused > 500, "{read} files were read, {refused} refused");
}
