//! Tables of the functions of Stan and their counterparts.

use crate::term::{Op, Term, bin, call, neg};

/// Elementwise functions of one argument: the name in Stan, the name in Lambada, and whether that
/// takes arrays.
const UNARY: [(&str, &str, bool); 37] = [
    ("exp", "exp", true),
    ("log", "log", true),
    ("sqrt", "sqrt", true),
    ("square", "square", true),
    ("abs", "abs", true),
    ("fabs", "abs", true),
    ("inv_logit", "sigmoid", true),
    ("logit", "special.logit", false),
    ("log1p", "log1p", true),
    ("expm1", "expm1", true),
    ("sin", "sin", true),
    ("cos", "cos", true),
    ("tan", "tan", true),
    ("asin", "asin", true),
    ("acos", "acos", true),
    ("atan", "atan", true),
    ("sinh", "sinh", true),
    ("cosh", "cosh", true),
    ("tanh", "tanh", true),
    ("floor", "floor", true),
    ("ceil", "ceil", true),
    ("round", "round", true),
    ("log2", "log2", true),
    ("log10", "log10", true),
    ("lgamma", "lgamma", true),
    ("digamma", "digamma", true),
    ("erf", "erf", true),
    ("erfc", "erfc", true),
    ("log1p_exp", "special.log1pexp", false),
    ("log1m_exp", "special.log1mexp", false),
    ("lambert_w0", "special.lambert_w", false),
    ("bessel_first_kind_0", "special.bessel_j0", false),
    ("is_nan", "is_nan", false),
    ("is_inf", "is_inf", false),
    ("sign", "sign", true),
    ("std_normal_log_qf", "special.log_ndtr", false),
    ("std_normal_lcdf", "special.log_ndtr", false),
];

/// An elementwise function of one argument: its value at a term, and whether that may be an array.
pub fn unary(name: &str, x: Term) -> Option<(Term, bool)> {
    if let Some((_, lambada, arrays)) = UNARY.iter().find(|row| row.0 == name) {
        return Some((call(lambada, [x]), *arrays));
    }
    let one = Term::Int(1);
    Some(match name {
        "log1m" => (call("log1p", [neg(x)]), true),
        "log_inv_logit" => (neg(call("special.log1pexp", [neg(x)])), false),
        "log1m_inv_logit" => (neg(call("special.log1pexp", [x])), false),
        "inv" => (bin(Op::Div, one, x), true),
        "inv_sqrt" => (bin(Op::Div, one, call("sqrt", [x])), true),
        "inv_square" => (bin(Op::Div, one, call("square", [x])), true),
        "inv_cloglog" => (neg(call("expm1", [neg(call("exp", [x]))])), true),
        "exp2" => (bin(Op::Pow, Term::Int(2), x), true),
        "cbrt" => (bin(Op::Pow, x, bin(Op::Div, one, Term::Int(3))), true),
        "tgamma" => (call("exp", [call("lgamma", [x])]), true),
        "trigamma" => (call("polygamma", [one, x]), false),
        "Phi" => {
            let scaled = bin(Op::Div, neg(x), call("sqrt", [Term::Int(2)]));
            (bin(Op::Mul, Term::Real(0.5), call("erfc", [scaled])), true)
        }
        "Phi_approx" => {
            let cube = bin(Op::Mul, Term::Real(0.07056), bin(Op::Pow, x.clone(), Term::Int(3)));
            (call("sigmoid", [bin(Op::Add, cube, bin(Op::Mul, Term::Real(1.5976), x))]), true)
        }
        "inv_Phi" | "std_normal_qf" => {
            let doubled = bin(Op::Mul, Term::Int(2), x);
            let quantile = call("special.erfcinv", [doubled]);
            (neg(bin(Op::Mul, call("sqrt", [Term::Int(2)]), quantile)), false)
        }
        _ => return None,
    })
}

/// Functions of two numbers.
pub fn binary(name: &str, a: Term, b: Term) -> Option<Term> {
    Some(match name {
        "pow" => bin(Op::Pow, a, b),
        "fmax" | "max" => call("max", [a, b]),
        "fmin" | "min" => call("min", [a, b]),
        "fdim" => call("max", [bin(Op::Sub, a, b), Term::Int(0)]),
        "hypot" => call("hypot", [a, b]),
        "atan2" => call("atan2", [a, b]),
        "fmod" | "modulus" => bin(Op::Rem, a, b),
        "multiply_log" | "lmultiply" => call("special.xlogy", [a, b]),
        "log_sum_exp" => call("logaddexp", [a, b]),
        "log_diff_exp" => bin(Op::Add, a.clone(), call("special.log1mexp", [bin(Op::Sub, b, a)])),
        "lbeta" => call("special.lbeta", [a, b]),
        "beta" => call("exp", [call("special.lbeta", [a, b])]),
        "gamma_p" => call("special.gammainc", [a, b]),
        "gamma_q" => call("special.gammaincc", [a, b]),
        "lchoose" => {
            let more = |t: Term| bin(Op::Add, t, Term::Int(1));
            let rest = call("special.lbeta", [more(bin(Op::Sub, a.clone(), b.clone())), more(b)]);
            bin(Op::Sub, neg(call("log", [more(a)])), rest)
        }
        _ => return None,
    })
}

/// A distribution: its name, the forms of its arguments and their names.
///
/// Forms: `r` a real, `i` an integer, `k` a category, which counts from 1 in Stan, `v` a vector,
/// `a` an array of integers, `c` an array of categories, `m` a matrix. The first is that of the
/// value.
pub struct Distribution {
    /// Its name in Stan.
    pub name: &'static str,
    /// The forms of the value and the arguments.
    pub forms: &'static str,
    /// Names of the value and the arguments.
    pub names: &'static [&'static str],
}

impl Distribution {
    /// Whether its values are integers.
    pub fn is_discrete(&self) -> bool {
        self.forms.starts_with(['i', 'k', 'a', 'c'])
    }
}

const fn row(
    name: &'static str,
    forms: &'static str,
    names: &'static [&'static str],
) -> Distribution {
    Distribution { name, forms, names }
}

/// The distributions of `std/dist`.
static DISTRIBUTIONS: [Distribution; 58] = [
    row("normal", "rrr", &["y", "mu", "sigma"]),
    row("std_normal", "r", &["y"]),
    row("student_t", "rrrr", &["y", "nu", "mu", "sigma"]),
    row("cauchy", "rrr", &["y", "mu", "sigma"]),
    row("double_exponential", "rrr", &["y", "mu", "sigma"]),
    row("logistic", "rrr", &["y", "mu", "sigma"]),
    row("gumbel", "rrr", &["y", "mu", "beta"]),
    row("skew_normal", "rrrr", &["y", "xi", "omega", "alpha"]),
    row("exp_mod_normal", "rrrr", &["y", "mu", "sigma", "lambda"]),
    row("lognormal", "rrr", &["y", "mu", "sigma"]),
    row("exponential", "rr", &["y", "rate"]),
    row("gamma", "rrr", &["y", "shape", "rate"]),
    row("inv_gamma", "rrr", &["y", "shape", "scale"]),
    row("chi_square", "rr", &["y", "nu"]),
    row("inv_chi_square", "rr", &["y", "nu"]),
    row("scaled_inv_chi_square", "rrr", &["y", "nu", "sigma"]),
    row("weibull", "rrr", &["y", "shape", "scale"]),
    row("frechet", "rrr", &["y", "shape", "scale"]),
    row("rayleigh", "rr", &["y", "sigma"]),
    row("pareto", "rrr", &["y", "minimum", "shape"]),
    row("uniform", "rrr", &["y", "low", "high"]),
    row("beta", "rrr", &["y", "a", "b"]),
    row("beta_proportion", "rrr", &["y", "mu", "kappa"]),
    row("von_mises", "rrr", &["y", "mu", "kappa"]),
    row("dirichlet", "vv", &["y", "alpha"]),
    row("multi_normal", "vvm", &["y", "mu", "sigma"]),
    row("multi_normal_prec", "vvm", &["y", "mu", "omega"]),
    row("multi_normal_cholesky", "vvm", &["y", "mu", "l"]),
    row("multi_student_t", "vrvm", &["y", "nu", "mu", "sigma"]),
    row("multi_gp", "mmv", &["y", "sigma", "weights"]),
    row("wishart", "mrm", &["w", "nu", "s"]),
    row("inv_wishart", "mrm", &["w", "nu", "s"]),
    row("lkj_corr", "mr", &["r", "eta"]),
    row("lkj_corr_cholesky", "mr", &["l", "eta"]),
    row("bernoulli", "ir", &["y", "p"]),
    row("bernoulli_logit", "ir", &["y", "alpha"]),
    row("bernoulli_logit_glm", "amrv", &["y", "x", "alpha", "beta"]),
    row("binomial", "iir", &["y", "n", "p"]),
    row("binomial_logit", "iir", &["y", "n", "alpha"]),
    row("binomial_logit_glm", "aamrv", &["y", "n", "x", "alpha", "beta"]),
    row("beta_binomial", "iirr", &["y", "n", "a", "b"]),
    row("hypergeometric", "iiii", &["y", "n", "a", "b"]),
    row("poisson", "ir", &["y", "rate"]),
    row("poisson_log", "ir", &["y", "alpha"]),
    row("poisson_log_glm", "amrv", &["y", "x", "alpha", "beta"]),
    row("neg_binomial", "irr", &["y", "a", "b"]),
    row("neg_binomial_2", "irr", &["y", "mu", "phi"]),
    row("neg_binomial_2_log", "irr", &["y", "eta", "phi"]),
    row("neg_binomial_2_log_glm", "amrvr", &["y", "x", "alpha", "beta", "phi"]),
    row("geometric", "ir", &["y", "p"]),
    row("categorical", "kv", &["y", "p"]),
    row("categorical_logit", "kv", &["y", "eta"]),
    row("categorical_logit_glm", "cmvm", &["y", "x", "alpha", "beta"]),
    row("multinomial", "av", &["y", "p"]),
    row("ordered_logistic", "krv", &["y", "eta", "cuts"]),
    row("ordered_logistic_glm", "cmvv", &["y", "x", "beta", "cuts"]),
    row("ordered_probit", "krv", &["y", "eta", "cuts"]),
    row("normal_id_glm", "vmrvr", &["y", "x", "alpha", "beta", "sigma"]),
];

/// A distribution by its name.
pub fn distribution(name: &str) -> Option<&'static Distribution> {
    DISTRIBUTIONS.iter().find(|one| one.name == name)
}

/// A function of a distribution, such as `normal_lpdf`: the name of the distribution and the
/// suffix.
pub fn of_distribution(function: &str) -> Option<(&str, &str)> {
    let suffixes =
        ["_lpdf", "_lpmf", "_lupdf", "_lupmf", "_lcdf", "_lccdf", "_cdf", "_rng", "_log"];
    suffixes.iter().find_map(|suffix| Some((function.strip_suffix(suffix)?, *suffix)))
}
