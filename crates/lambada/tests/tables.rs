//! Tables that pandas and polars have written, read as arguments.

use lambada::{Engine, Executable, Inputs, Options, Session, json_text};

const PROGRAM: &str = "type sky = Clear | Cloudy

def warm [n] (temperature : [n]real) (day : [n]int) : real =
  sum (for i < n => real day[i] * temperature[i])
def clear (days : []{temperature : real, sky : sky}) : real =
  sum (for day in days => match day.sky | Clear -> day.temperature | Cloudy -> 0)
def weights [n] (w : [n][2]real) : real = sum (flatten w)
def rows (days : []{day : int, w : [2]real}) : real = sum (for d in days => real d.day * d.w[1])
def since (when : []real) : real = sum when
";

/// The result of a definition with a file as its data; or the codes of what is wrong.
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
        // pandas' table has no temperature on the second day.
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
        assert!(wrong.contains("a column of values of Arrow's type Timestamp"), "{wrong}");
    }
}
