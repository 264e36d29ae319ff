//! Sums of columns of matrices, for people.

use lambada_anf::{Audience, Function, check, generate, print, read};
use lambada_optimize::optimize_observed;
use lambada_prim::Tensor;

use super::same;

/// `acc[i, j]` grows in loops over `j` and, in these, `i`; `other` is further code of these loops.
fn program(other: &str) -> Function {
    let text = format!(
        "f [n] [m] (a : [n][m]real) (b : [m][n]real) {{
  acc : [n][m]real = accumulator a
  s : real = for j < m (reduce add) {{
    x : real = for i < n (reduce add) {{
      t : real = b[j, i]
      u : real = mul t, t
      accumulate acc[i, j] += u
{other}      => t
    }}
    => x
  }}
  c : [n][m]real = freeze acc
  => s : real, c : [n][m]real
}}
"
    );
    let f = read(&text).unwrap_or_else(|message| panic!("{message}\n{text}"));
    check(&f).unwrap_or_else(|message| panic!("{message}\n{text}"));
    f
}

fn for_people(f: &Function) -> Function {
    let after = optimize_observed(f.clone(), Audience::People, &mut |_, _, _| {});
    check(&after).unwrap_or_else(|message| panic!("{message}\n{}", print(&after)));
    after
}

#[test]
fn an_accumulator_of_columns_is_a_sum_of_arrays() {
    let f = program("");
    let numbers = |k: f64| (0..6).map(|i| f64::from(i) * k - 1.0).collect();
    let args = [Tensor::reals(vec![2, 3], numbers(0.5)), Tensor::reals(vec![3, 2], numbers(0.7))];
    let after = for_people(&f);
    assert!(!print(&after).contains("accumul"), "{}", print(&after));
    same(&f, &after, &args, "columns");
}

#[test]
fn one_to_which_rows_are_added_as_well_stays() {
    let after = for_people(&program("      accumulate acc[i, 0] += t\n"));
    assert!(print(&after).contains("accumulate acc[i, 0]"), "{}", print(&after));
}

#[test]
fn the_form_for_people_keeps_generated_functions() {
    for seed in 0..200 {
        let (function, args) = generate(seed);
        same(&function, &for_people(&function), &args, &format!("seed {seed}"));
    }
}
