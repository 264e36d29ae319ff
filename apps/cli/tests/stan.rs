//! The page *Coming from Stan*: each Lambada program has the log density of the Stan program above
//! it, up to a constant, and its gradient. The translation of `from-stan` stands for Stan's.

use std::path::Path;

use lambada::{Engine, Given, Inputs, Model, Options, Posterior};
use lambada_testkit::{Random, Tolerance, all_close, close};

/// Data files by the name of the program.
const DATA: [(&str, &str); 12] = [
    ("line", r#"{"N": 5, "x": [1, 2, 4, 7, 11], "y": [0.5, 1.7, 1.1, 3.9, 6.0]}"#),
    (
        "wells",
        r#"{"N": 4, "K": 2, "x": [[0.5, 1], [-1, 2], [0.3, -0.4], [2, 0]], "y": [0, 1, 1, 0]}"#,
    ),
    ("schools", r#"{"J": 4, "y": [28, 8, -3, 7], "sigma": [15, 10, 16, 11]}"#),
    ("effects", r#"{"J": 4, "y": [28, 8, -3, 7], "sigma": [15, 10, 16, 11]}"#),
    (
        "radon",
        r#"{"N": 5, "J": 3, "county": [1, 3, 2, 2, 1], "x": [0, 1, 1, 0, 1], "y": [1.1, 0.4, -0.3, 2, 0.8]}"#,
    ),
    ("mixture", r#"{"K": 3, "N": 5, "y": [-2.1, 0.3, 0.5, 4.2, 3.8]}"#),
    ("regimes", r#"{"T": 6, "y": [0.1, -0.4, 2.9, 3.3, 2.5, 0.2]}"#),
    (
        "predators",
        r#"{"N": 3, "ts": [0.5, 1, 2.5], "start": [8, 5], "y": [[9, 6], [7, 7], [4, 3]]}"#,
    ),
    ("process", r#"{"N": 4, "x": [0, 0.7, 1.9, 4], "y": [0.2, -0.5, 1.3, 0.8]}"#),
    (
        "counts",
        r#"{"N": 4, "y": [0, 3, 7, 2], "x": [-1, 0.5, 1.2, 0.1], "exposure": [1, 2, 2.5, 0.7]}"#,
    ),
    ("grades", r#"{"K": 4, "N": 5, "y": [1, 4, 2, 3, 2], "x": [0.3, 1.4, -0.6, 0.2, 0.9]}"#),
    ("walk", r#"{"T": 4, "y": [0.4, 1.1, 0.9, 2.0], "censored": [0, 0, 1, 0]}"#),
];

/// The blocks of a language whose first line names a file: the name without its ending, the text.
fn blocks(page: &str, language: &str, comment: &str) -> Vec<(String, String)> {
    let fence = format!("```{language}\n");
    let texts = page.split(&fence).skip(1).filter_map(|rest| Some(rest.split_once("\n```")?.0));
    let named = texts.filter_map(|text| {
        let name = text.lines().next()?.strip_prefix(comment)?.split_once('.')?.0;
        Some((name.to_string(), format!("{text}\n")))
    });
    named.collect()
}

fn posterior(name: &str, text: &str, data: &str) -> Posterior {
    let options = Options { engine: Engine::Jit, ..Options::default() };
    let model = Model::builder().options(options).compile(&format!("{name}.lam"), text);
    let function = model.and_then(|model| model.function(name));
    let function = function.unwrap_or_else(|why| panic!("{name}: {why}\n{text}"));
    let mut inputs = Inputs::new();
    inputs.read_json(data, "the data").expect("JSON");
    let given = Given { data: inputs, ..Given::default() };
    function.posterior(&given).unwrap_or_else(|why| panic!("{name}: {why}\n{text}"))
}

fn translation(name: &str, text: &str) -> String {
    let file = lambada_source::Sources::new().add(format!("{name}.stan"), text.to_string());
    let (program, problems) = lambada_stan::translate(text, file, name);
    assert!(problems.is_empty(), "{name}: {problems:?}");
    program
}

fn density(posterior: &Posterior, at: &[f64]) -> (f64, Vec<f64>) {
    let mut both = vec![0.0; posterior.dimension() + 1];
    posterior.density(at, &mut both).expect("a density");
    (both[0], both.split_off(1))
}

fn compare(name: &str, stan: &str, own: &str, data: &str) {
    let [stan, own] = [&translation(name, stan), own].map(|program| posterior(name, program, data));
    assert_eq!(stan.dimension(), own.dimension(), "{name}");
    let mut random = Random(3);
    let near = Tolerance { relative: 1e-9, absolute: 1e-9 };
    let mut constant = None;
    for _ in 0..5 {
        let at: Vec<f64> = (0..own.dimension()).map(|_| random.between(-1.0, 1.0)).collect();
        let ((a, slope_a), (b, slope_b)) = (density(&stan, &at), density(&own, &at));
        assert!(a.is_finite(), "{name}: {a} at {at:?}");
        let constant = *constant.get_or_insert(b - a);
        close(&name, b - constant, a, near).unwrap_or_else(|why| panic!("{name}: {why}"));
        all_close(&name, &slope_b, &slope_a, near).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
}

#[test]
fn programs_side_by_side_have_the_same_density() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/coming-from-stan.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let (stan, own) = (blocks(&page, "stan", "// "), blocks(&page, "lambada", "-- "));
    let names = |blocks: &[(String, String)]| -> Vec<String> {
        blocks.iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(&stan), names(&own));
    assert_eq!(names(&stan), DATA.map(|(name, _)| name.to_string()));
    for (((name, data), (_, stan)), (_, own)) in DATA.iter().zip(&stan).zip(&own) {
        compare(name, stan, own, data);
    }
}
