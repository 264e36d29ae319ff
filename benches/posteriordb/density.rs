//! The log density of a model and its gradient, for beside.py: `posterior-density FILE ENTRY DATA`
//! answers the lines of standard input with a line each.

use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Instant;

use lambada::{Given, Inputs, Model, Posterior};

fn main() {
    let mut args = std::env::args().skip(1);
    let mut next = || args.next().expect("posterior-density FILE ENTRY DATA");
    let (file, entry, data) = (next(), next(), next());
    let begun = Instant::now();
    let posterior = compiled(&file, &entry, &data);
    let took = begun.elapsed().as_secs_f64();
    println!("{took} {}", posterior.dimension());
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("text");
        println!("{}", answer(&posterior, &line).unwrap_or_else(|why| format!("error: {why}")));
        std::io::stdout().flush().expect("a reader");
    }
}

fn compiled(file: &str, entry: &str, data: &str) -> Posterior {
    let mut inputs = Inputs::new();
    inputs.read_file(Path::new(data)).expect("data");
    let model = Model::load(file).expect("a program");
    let function = model.function(entry).expect("a definition");
    function.posterior(&Given { data: inputs, ..Given::default() }).expect("a log density")
}

/// The answer to `variables`, `at X…`, `values X…` or `time N X…`.
fn answer(posterior: &Posterior, line: &str) -> Result<String, String> {
    let mut words = line.split_whitespace();
    let command = words.next().unwrap_or_default();
    let times: usize = match command {
        "time" => words.next().and_then(|word| word.parse().ok()).ok_or("no number")?,
        _ => 1,
    };
    let at: Result<Vec<f64>, _> = words.map(str::parse).collect();
    let at = at.map_err(|why| why.to_string())?;
    let mut both = vec![0.0; posterior.dimension() + 1];
    match command {
        "variables" => {
            let one = |v: &lambada::Variable| format!("{}:{:?}", v.name, v.dims).replace(' ', "");
            Ok(posterior.variables().iter().map(one).collect::<Vec<_>>().join(" "))
        }
        "at" => {
            posterior.density(&at, &mut both).map_err(|failure| failure.message.to_string())?;
            Ok(joined(&both))
        }
        "values" => {
            let mut values = vec![0.0; posterior.count()];
            posterior.values(&at, &mut values).map_err(|failure| failure.message.to_string())?;
            Ok(joined(&values))
        }
        "time" => {
            let begun = Instant::now();
            for _ in 0..times {
                posterior.density(&at, &mut both).map_err(|failure| failure.message.to_string())?;
            }
            Ok(begun.elapsed().as_secs_f64().to_string())
        }
        other => Err(format!("no command `{other}`")),
    }
}

fn joined(numbers: &[f64]) -> String {
    numbers.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(" ")
}
