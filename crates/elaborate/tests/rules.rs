//! Custom derivatives, by the evaluator that defines the language: which rule is used, its
//! arguments, and its own derivatives.

mod common;

use common::run;
use lambada_core::Data;

fn reals(text: &str, expected: &[f64]) {
    let found = run(text, "f", &[]).unwrap_or_else(|failure| panic!("{failure}\n{text}"));
    found
        .close(&Data::from(expected.to_vec()), 1e-9)
        .unwrap_or_else(|difference| panic!("{difference}\n{text}"));
}

fn fails(text: &str, message: &str) {
    assert_eq!(run(text, "f", &[]), Err(message.to_string()), "{text}");
}

/// The rules of a definition one by one and together.
fn with_each(definition: &str, jvp: &str, vjp: &str, uses: &str, expected: &[f64]) {
    for rules in [format!("  {jvp}\n"), format!("  {vjp}\n"), format!("  {jvp}\n  {vjp}\n")] {
        reals(&format!("{definition}\n{rules}{uses}"), expected);
    }
}

#[test]
fn every_mode_follows_from_each_rule() {
    let s = |x: f64| 1.0 / (1.0 + (-x).exp());
    let expected =
        [(1.0 + 0.5f64.exp()).ln(), s(0.5), s(0.5), 2.0 * s(0.5), s(0.5) * (1.0 - s(0.5)), 3.0];
    with_each(
        "def softplus (x : real) : real = if x > 30 then x else log1p (exp x)",
        "with jvp dx = sigmoid x * dx",
        "with vjp dy = sigmoid x * dy",
        "def f =
           let (_, push) = linearize softplus 0.5
           in [softplus 0.5, (jvp softplus 0.5 1.0).1, grad softplus 0.5, push 2.0,
               (grad softplus >> (\\x -> x)) 0.5 * (1 - sigmoid 0.5), softplus 3.0 - log1p (exp 3.0) + 3.0]",
        &expected,
    );
}

#[test]
fn rules_are_differentiated_for_higher_orders() {
    let text = "def cube (x : real) : real = x * x * x";
    let uses = "def twice d = \\x -> d (d cube) x
def forward g = \\x -> (jvp g x 1.0).1
def reverse g = \\x -> grad g x
def f = [twice forward 2.0, twice reverse 2.0, forward (reverse cube) 2.0, reverse (forward cube) 2.0,
         reverse (forward (reverse cube)) 2.0, forward (reverse (forward cube)) 2.0, reverse (reverse (reverse cube)) 2.0,
         hvp (\\x -> cube x[0]) [2.0] [1.0] |> sum]";
    let expected = [12.0, 12.0, 12.0, 12.0, 6.0, 6.0, 6.0, 12.0];
    with_each(
        text,
        "with jvp dx = 3 * x * x * dx",
        "with vjp dy = dy * 3 * x * x",
        uses,
        &expected,
    );
}

#[test]
fn rules_that_disagree_are_followed_by_their_own_modes() {
    reals(
        "def id (x : real) : real = x
  with pseudo jvp dx = 10 * dx
  with pseudo vjp dy = 20 * x * dy
def f = [(jvp id 2.0 1.0).1, grad id 2.0, (linearize id 2.0).1 1.0, (vjp id 2.0).1 1.0,
         (hvp (\\x -> id x[0]) [2.0] [1.0])[0], (jvp (\\x -> grad (\\y -> id (id y)) x) 2.0 1.0).1]",
        // grad of id ∘ id: 20 (id x) · 20 x; its tangent: 20 · 10 · 20 x + 20 x · 20.
        &[10.0, 40.0, 10.0, 40.0, 20.0, 20.0 * 10.0 * 20.0 * 2.0 + 20.0 * 2.0 * 20.0],
    );
}

#[test]
fn a_jacobian_is_a_reverse_derivative_where_the_modes_differ() {
    reals(
        "def spread (x : real) : []real = [x, x, x]
  with pseudo jvp dx = [10 * dx, dx, dx]
  with pseudo vjp dy = 20 * dy[0]
def f = concat (jacobian spread 2.0) (jacobian (\\v -> spread v[0]) [2.0])[0]",
        &[20.0, 0.0, 0.0, 20.0],
    );
}

#[test]
fn the_value_is_given_to_rules() {
    let text = "def half_exp (x : real) : (real, real) = (exp x, exp x / 2)";
    with_each(
        text,
        "with jvp dx of y = (y.0 * dx, y.1 * dx)",
        "with vjp (a, b) of (y, z) = y * a + z * b",
        "def f = let (_, back) = vjp half_exp 1.0
        in [back (1.0, 1.0) / exp 1.0, (jvp half_exp 1.0 2.0).1.1 / exp 1.0, grad (grad (\\x -> (half_exp x).0)) 1.0 / exp 1.0]",
        &[1.5, 1.0, 1.0],
    );
}

#[test]
fn tangents_of_several_parameters_are_a_tuple() {
    with_each(
        "def power (x : real) (n : int) (up : bool) : real = if up then x ** n else x",
        "with jvp (dx, _, _) = if up then real n * x ** (n - 1) * dx else dx",
        "with vjp dy = ((if up then real n * x ** (n - 1) else 1) * dy, 0, false)",
        "def f = [grad (\\x -> power x 3 true) 2.0, (jvp (\\x -> power x 3 false) 2.0 1.0).1, (jvp (\\(x, n) -> power x n true) (2.0, 3) (1.0, 0)).1]",
        &[12.0, 1.0, 12.0],
    );
    with_each(
        "def weighted [n] (w : [n]real) (p : {x : real, y : real}) : [n]real = (p.x * p.y) * w",
        "with jvp d = let (dw, dp) = d in (p.x * p.y) * dw + (dp.x * p.y + p.x * dp.y) * w",
        "with vjp dy = ((p.x * p.y) * dy, {x = p.y * dot w dy, y = p.x * dot w dy})",
        "def f = let g = \\(w, p) -> sum (weighted w p)
        let (dw, dp) = grad g ([1.0, 2.0], {x = 3.0, y = 5.0})
        in concat dw [dp.x, dp.y, (jvp g ([1.0, 2.0], {x = 3.0, y = 5.0}) ([1.0, 0.0], {x = 1.0, y = 0.0})).1]",
        &[15.0, 15.0, 15.0, 9.0, 15.0 + 15.0],
    );
}

const INTEGRATE: &str = "def integrate (g : real -> real) (a : real) (b : real) : real =
  let h = (b - a) / 10 in h * sum (for i < 10 => g (a + (real i + 0.5) * h))";

#[test]
fn parameters_that_are_functions_have_tangents_and_formal_sums() {
    // Midpoints do not integrate exactly, so the ends show that the rule is used.
    let jvp = "with jvp (dg, da, db) =
    let h = (b - a) / 10
    in h * sum (for i < 10 => dg (a + (real i + 0.5) * h)) + g b * db - g a * da";
    let vjp = "with vjp dy =
    let h = (b - a) / 10
    in (for i < 10 => (a + (real i + 0.5) * h, h * dy), -(g a) * dy, g b * dy)";
    let uses = "def area k b = integrate (\\x -> k * x * k) 0.0 b
def f = [(jvp (\\k -> area k 2.0) 3.0 1.0).1, grad (\\k -> area k 2.0) 3.0, grad (\\b -> area 3.0 b) 2.0, grad (\\k -> grad (\\b -> area k b) 2.0) 3.0,
         grad (grad (\\k -> area k 2.0)) 3.0, (jvp (\\k -> grad (\\k -> area k 2.0) k) 3.0 1.0).1, grad (\\k -> (jvp (\\k -> area k 2.0) k 1.0).1) 3.0,
         grad (\\b -> area b b) 2.0]";
    let expected = [12.0, 12.0, 18.0, 12.0, 4.0, 4.0, 4.0, 16.0];
    with_each(INTEGRATE, jvp, vjp, uses, &expected);
}

#[test]
fn a_rule_may_apply_its_function_to_tangents() {
    let uses = "def area k b = integrate (\\x -> k * x * k) 0.0 b\n";
    let jvp = "  with jvp (dg, da, db) = integrate dg a b + g b * db - g a * da\n";
    let vjp = "  with vjp dy =
    let h = (b - a) / 10
    in (for i < 10 => (a + (real i + 0.5) * h, h * dy), -(g a) * dy, g b * dy)\n";
    let all = "def f = [(jvp (\\k -> area k 2.0) 3.0 1.0).1, (jvp (\\k -> (jvp (\\k -> area k 2.0) k 1.0).1) 3.0 1.0).1]";
    reals(&format!("{INTEGRATE}\n{jvp}{uses}{all}"), &[12.0, 4.0]);
    let all = "def f = [grad (\\k -> area k 2.0) 3.0, grad (grad (\\k -> area k 2.0)) 3.0, grad (\\k -> (jvp (\\k -> area k 2.0) k 1.0).1) 3.0]";
    reals(&format!("{INTEGRATE}\n{jvp}{vjp}{uses}{all}"), &[12.0, 4.0, 4.0]);
    // The transposition of `jvp` contains itself, so the program must give `with vjp`, or the
    // recursion must end.
    let all = "def f = grad (\\k -> area k 2.0) 3.0";
    fails(
        &format!("{INTEGRATE}\n{jvp}{uses}{all}"),
        "the rule `jvp` of `integrate` is transposed again inside of its own transposition, more than 50 times; give `with vjp`, too",
    );
    reals(
        "def rec down (x : real) (n : int) : real = if n == 0 then 3 * x else down x (n - 1)
  with jvp (dx, _) = if n == 0 then 3 * dx else down dx (n - 1)
def f = [grad (\\x -> down x 20) 1.0]",
        &[3.0],
    );
}

#[test]
fn functions_pass_through_several_functions_with_rules() {
    // The rule of the outer one calls the inner one with its `df`, and a pullback is a function,
    // too.
    let inner = "def apply (g : real -> real) (x : real) : real = g x
  with jvp (dg, dx) = dg x + (jvp g x dx).1\n";
    let text =
        format!("{inner}def outer (g : real -> real) (x : real) : real = apply g (apply g x)");
    let uses = "def f = [grad (\\k -> outer (\\x -> k * x * x) 2.0) 3.0, (jvp (\\k -> outer (\\x -> k * x * x) k) 3.0 1.0).1,
         grad (\\k -> grad (\\x -> outer (\\y -> k * y * y) x) 2.0) 3.0,
         grad (\\k -> apply (vjp (\\x -> k * x * x) 5.0).1 k) 3.0,
         grad (\\k -> grad (\\l -> apply (vjp (\\x -> k * l * x) l).1 k) 2.0) 3.0]";
    // outer = k · (k x²)² = k³ x⁴
    let expected = [3.0 * 9.0 * 16.0, 7.0 * 729.0, 3.0 * 9.0 * 4.0 * 8.0, 60.0, 6.0];
    with_each(
        &text,
        "with jvp (dg, dx) = let y = apply g x in apply dg y + (jvp g y (apply dg x + (jvp g x dx).1)).1",
        "with vjp dy = let y = apply g x let by = (vjp g y).1 dy in ([(y, dy), (x, by)], (vjp g x).1 by)",
        uses,
        &expected,
    );
}

#[test]
fn an_implicit_root_has_the_derivative_of_the_theorem() {
    with_each(
        "def root (g : real -> real) (start : real) : real =
  loop x = start for _i < 50 do x - g x / (jvp g x 1.0).1",
        "with jvp (dg, _) of x = -(dg x) / grad g x",
        "with vjp dy of x = ([(x, -dy / grad g x)], 0.0)",
        "def cube_root a = root (\\x -> x * x * x - a) 1.0
def f = [cube_root 8.0, grad cube_root 8.0, (jvp cube_root 8.0 1.0).1, grad (grad cube_root) 8.0, grad (grad (grad cube_root)) 1.0,
         grad (\\s -> root (\\x -> x * x - 2) s) 1.0]",
        &[2.0, 1.0 / 12.0, 1.0 / 12.0, -2.0 / 9.0 * 8f64.powf(-5.0 / 3.0), 10.0 / 27.0, 0.0],
    );
}

#[test]
fn local_and_recursive_functions_have_rules() {
    reals(
        "def f = [grad (\\x -> let clip g = g with pseudo vjp dy = max (-1.0) (min 1.0 dy) in 5 * clip x) 1.0,
         grad (\\x -> let rec p (y : real) (n : int) : real = if n == 0 then 1 else y * p y (n - 1)
                         with jvp (dy, _) = if n == 0 then 0 else real n * p y (n - 1) * dy
                      in p x 3) 2.0]",
        &[1.0, 12.0],
    );
    with_each(
        "def rec power (x : real) (n : int) : real = if n == 0 then 1 else x * power x (n - 1)",
        "with jvp (dx, _) = if n == 0 then 0 else real n * power x (n - 1) * dx",
        "with vjp dy = (if n == 0 then 0 else real n * power x (n - 1) * dy, 0)",
        "def f = [grad (\\x -> power x 3) 2.0, (jvp (\\x -> power x 3) 2.0 1.0).1, grad (grad (\\x -> power x 4)) 2.0]",
        &[12.0, 12.0, 48.0],
    );
    // A rule may mention its own function; only a body that does is recursive.
    with_each(
        "def e (x : real) : real = exp x",
        "with jvp dx = e x * dx",
        "with vjp dy = e x * dy",
        "def f = [grad (grad e) 0.0, (jvp (grad e) 0.0 1.0).1]",
        &[1.0, 1.0],
    );
}

#[test]
fn rules_are_as_general_as_their_functions() {
    with_each(
        "def twice x = 2 * x",
        "with jvp dx = 2 * dx",
        "with vjp dy = 2 * dy",
        "def f = [grad twice 1.0, sum (grad (\\xs -> sum (twice xs)) [1.0, 2.0]), real (twice (int 3.0))]",
        &[2.0, 4.0, 6.0],
    );
    with_each(
        "def through (g : a -> a) (x : a) : a = g x",
        "with jvp (dg, dx) = dg x |> (\\t -> t)",
        "with vjp dy = ([(x, dy)], dy)",
        "def f = [(jvp (\\k -> through (* k) 3.0) 2.0 1.0).1]",
        &[3.0],
    );
}

#[test]
fn sizes_are_checked_at_the_rule() {
    reals(
        "def double [n] (xs : [n]real) : [n]real = 2 * xs\n  with jvp ds = 2 * ds\n  with vjp ys = for i < n => 2 * ys[i]
def f = grad (double >> sum) [1.0, 2.0]",
        &[2.0, 2.0],
    );
    fails(
        "def pick (xs : []real) : real = sum xs\n  with vjp dy = filter (\\x -> x > 1.0) xs
def f = grad pick [1.0, 2.0]",
        "sizes differ: the cotangent of `xs` has size 1, `xs` has size 2",
    );
    fails(
        "def pick (xs : []real) : []real = filter (\\x -> x > 1.0) xs\n  with jvp ds = ds
def f = (jvp pick [1.0, 2.0] [1.0, 1.0]).1",
        "sizes differ: the tangent has size 2, the value has size 1",
    );
}

#[test]
fn what_a_rule_does_not_speak_of_is_not_differentiated() {
    fails(
        "def f = grad (\\w -> let g x = w * x\n  with jvp dx = w * dx\n in g 2.0) 3.0",
        "`g` has a derivative rule and captures what is being differentiated; make that a parameter",
    );
    reals(
        "def f = let w = 3.0 in [grad (\\x -> let g x = w * x\n  with jvp dx = w * dx\n in g x) 2.0]",
        &[3.0],
    );
    fails(
        "def run (g : real -> ()) (x : real) : real = let _ = g x in x\n  with jvp (_, dx) = dx
def f = grad (\\x -> accumulate h = 0.0 in run (\\y -> h += y) x |> (\\_ -> ())) 3.0",
        "`run` has a derivative rule and is given a function that adds to an accumulator",
    );
}

/// A loop that hands cotangents to a function has an effect.
#[test]
fn a_loop_that_adds_is_no_doubt() {
    let text = "
def f (g : real -> real) (n : int) : real = sum (for i < n => g (real i))
  with vjp dy = \\add ->
    let _ = for i < n => add (real i, dy)
    in ((), 0)
";
    let (_, _, problems) = common::checked("test.lam", text);
    assert!(problems.is_empty(), "{problems:?}");
}
