//! Findings before the first draw: on models that have a fault, and on models that have none.

use lambada::{Engine, Given, Inputs, Model, Options};
use lambada_draws::Kind;
use lambada_sample::lints;

/// The kinds of the findings about a model, and their titles.
fn found(text: &str, words: &[&str]) -> Vec<(Kind, String)> {
    let text = format!("import \"std/dist\"\nimport \"std/space\"\n{text}");
    let options = Options { engine: Engine::Jit, ..Options::default() };
    let model = Model::builder().options(options).compile("m.lam", &text);
    let function = model.and_then(|model| model.function("m")).unwrap_or_else(|e| panic!("{e}"));
    let mut data = Inputs::new();
    words.iter().for_each(|word| data.read_argument(word).expect("JSON"));
    let given = Given { data, ..Given::default() };
    let posterior = function.posterior(&given).unwrap_or_else(|e| panic!("{e}"));
    let lints = lints(&posterior, 0);
    assert_eq!(lints.looked, posterior.dimension());
    lints.findings.into_iter().map(|f| (f.kind, f.title)).collect()
}

/// The title of the only finding, which is of this kind.
fn one(kind: Kind, text: &str, words: &[&str]) -> String {
    let found = found(text, words);
    let [(other, title)] = &found[..] else { panic!("{text}: {found:?}") };
    assert_eq!(*other, kind, "{text}: {title}");
    title.clone()
}

#[test]
fn parameters_that_the_density_does_not_mention() {
    let text = "def ignore (x : real) (y : real) : real = y
def m (a : real) (b : real) (s : space.unit) (y : real) : real = dist.normal_lpdf a y 1 + ignore b 0";
    assert!(one(Kind::Unmentioned, text, &["y=1"]).contains("`b` and `s`"));
}

#[test]
fn data_that_no_parameter_meets() {
    let text = "def m [n] (k : int) (a : real) (y : [n]real) (z : [n]real) (w : [n]int) : real =
  sum (dist.normal_lpdf y a 1) + sum (for x in z => x * x) + sum w";
    let title = one(Kind::Unmet, text, &["k=2", "y=[1, 2]", "z=[1, 2]", "w=[1, 2]"]);
    assert!(title.contains("`z` and `w`"), "{title}");
}

#[test]
fn densities_that_do_not_fall() {
    // A flat prior, and data that separate perfectly.
    let text = "def m [n] (a : real) (b : real) (x : [n]real) (y : [n]int) : real =
  dist.normal_lpdf a 0 1 + sum (dist.bernoulli_logit_lpmf y (a + b * x))";
    let title = one(Kind::Improper, text, &["x=[-2, -1, 1, 2]", "y=[0, 0, 1, 1]"]);
    assert!(title.contains("`b` towards ∞"), "{title}");
    assert_eq!(found(text, &["x=[-2, -1, 1, 2]", "y=[0, 1, 0, 1]"]), []);
    // The scale of one observation, with the flat prior that Stan gives.
    let text = "def m [n] (s : space.positive) (y : [n]real) : real = sum (dist.normal_lpdf y 0 s)";
    let title = one(Kind::Improper, text, &["y=[1]"]);
    assert!(title.contains("`s` towards an end"), "{title}");
    assert_eq!(found(text, &["y=[1, 2]"]), []);
    // A group without data.
    let text = "def m [n] (a : [3]real) (g : [n]space.one_based) (y : [n]real) : real =
  sum (for (g, y) in zip g y => dist.normal_lpdf y a[g] 1)";
    let title = one(Kind::Improper, text, &["g=[1, 3, 3]", "y=[1, 2, 3]"]);
    assert!(title.contains("`a[1]` towards −∞ and ∞"), "{title}");
    // A mixture whose second component may leave.
    let text = "def m [n] (a : real) (b : real) (y : [n]real) : real =
  dist.normal_lpdf a 0 1 + sum (for y in y => dist.log_mix 0.5 (dist.normal_lpdf y a 1) (dist.normal_lpdf y b 1))";
    let title = one(Kind::Improper, text, &["y=[1, 2]"]);
    assert!(title.contains("`b`"), "{title}");
}

#[test]
fn heavy_tails_and_wide_priors_are_proper() {
    let text = "def m (a : real) (b : real) (v : space.positive) (w : [2]space.positive) (p : space.simplex [3]) (l : space.cholesky_corr [3]) (o : space.ordered [2]) (u : space.unit_vector [2]) (h : space.unit) : real =
  dist.student_t_lpdf a 0.5 0 1 + dist.normal_lpdf b 0 1e6 + dist.inv_gamma_lpdf v 0.001 0.001
    + sum (dist.cauchy_lpdf w 0 5) + sum (dist.normal_lpdf o 0 100)";
    let found = found(text, &[]);
    // Spaces of finite size need no prior.
    let [(Kind::Unmentioned, title)] = &found[..] else { panic!("{found:?}") };
    assert!(title.contains("`p`, `l`, `u` and `h`"), "{title}");
    let text =
        "def m (l : space.cholesky_corr [3]) (p : space.simplex [3]) (h : space.unit) : real =
  dist.lkj_corr_cholesky_lpdf l 1 + dist.beta_lpdf h 0.1 0.1 + 0.1 * log p[0]";
    assert_eq!(self::found(text, &[]), []);
}
