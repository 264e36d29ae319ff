//! Programs compute the right values, by the evaluator that defines the language.

mod common;

use common::run;
use lambada_core::Data;

fn value(text: &str) -> Data {
    run(text, "f", &[]).unwrap_or_else(|failure| panic!("{failure}\n{text}"))
}

fn real(text: &str, expected: f64) {
    let found = value(text);
    let Data::Tensor(tensor) = &found else { panic!("{found:?}") };
    let found = tensor.as_scalar().expect("a scalar").real();
    assert!(
        (found - expected).abs() <= 1e-12 * expected.abs().max(1.0) || found == expected,
        "{text}\ngives {found}, not {expected}"
    );
}

fn ints(text: &str, expected: &[i64]) {
    assert_eq!(value(text), Data::from(expected.to_vec()), "{text}");
}

fn reals(text: &str, expected: &[f64]) {
    assert_eq!(value(text), Data::from(expected.to_vec()), "{text}");
}

fn fails(text: &str, args: &[Data], message: &str) {
    assert_eq!(run(text, "f", args), Err(message.to_string()), "{text}");
}

#[test]
fn overloads_are_specialized() {
    real("def sq x = x * x\ndef f = sum (sq [1.0, 2.0]) + real (sq 3) + sq 0.5", 14.25);
    ints("def sq x = x * x\ndef f = sq [1 + int 0.0, 2]", &[1, 4]);
    ints("def f = [7 // 2, (-7) // 2, (-7) % 3, 2 ** 10, int 2.9]", &[3, -4, 2, 1024, 2]);
    reals(
        "def f = [7 / 2.0, 2 ** -1, 2.0 ** 0.5 ** 2, -2 ** 2]",
        &[3.5, 0.5, 2f64.powf(0.25), -4.0],
    );
    reals("def f = 2 * [1.0, 2.0] - [1, 1] / 2", &[1.5, 3.5]);
    reals("def f = max [1.0, 5.0] 3 + min 0 [2.0, -2.0]", &[3.0, 3.0]);
    reals("def f = sum [[1.0, 2.0], [3.0, 4.0]]", &[4.0, 6.0]);
    reals("def f = [1.0, 2.0] @ [[1.0, 2.0], [3.0, 4.0]]", &[7.0, 10.0]);
    ints(
        "def f = for b in [1 < 2, 2 >= 3, 1.5 != 1.5, true == true] => if b then 1 + int 0.0 else 0",
        &[1, 0, 0, 1],
    );
}

#[test]
fn functions_are_values() {
    real("def twice f = f >> f\ndef f = twice (twice (* 2)) 1", 16.0);
    real("def f = 3 |> (\\x -> x + 1) |> (2 *) |> (/ 4) |> (** 2)", 4.0);
    real("def f = fold (+) 0 (map (\\x -> x * x) [1, 2, 3])", 14.0);
    real("def f = let ops = [sin, cos, \\x -> x * 2] in ops[2] 4", 8.0);
    real("def compose f g = \\x -> f (g x)\ndef f = (compose exp log) 5", 5.0);
    real(
        "type t = F (real -> real) | G real\ndef f = let call t = match t | F g -> g 2 | G x -> x in call (F (\\x -> x * 3)) + call (G 1)",
        7.0,
    );
    real("def add (x : real) (y : real) = x + y\ndef f = let inc = add 1 in inc (inc 1)", 3.0);
}

#[test]
fn local_functions_are_polymorphic() {
    real(
        "def f = let pick (a, b) = a let n = pick (2, true) in real (pick (3, n)) + pick (0.5, ())",
        3.5,
    );
    real("def f = let sq x = x * x let quad x = sq (sq x) in quad 2 + real (quad 2)", 32.0);
    real(
        "def f = let k = 2.0 let g = \\x -> let h y = y * k in (h x, h [x]) let (a, b) = g 3 in a + b[0]",
        12.0,
    );
}

#[test]
fn matches_take_the_first_arm_that_fits() {
    let t = "type t = A real | B (t2) int | C\ntype t2 = X | Y real\n";
    let g = "def g v = match v | (A 0.0, _) -> 1 | (A x, true) -> x | (B (Y y) 3, b) -> y | (B _ n, _) -> real n | (_, false) -> 7 | (C, true) -> 9\n";
    let body = "def f = [g (A 0, true), g (A 5, true), g (B (Y 6) 3, true), g (B X 3, false), g (C, false), g (A 5, false), g (C, true)]";
    reals(&format!("{t}{g}{body}"), &[1.0, 5.0, 6.0, 3.0, 7.0, 7.0, 9.0]);
    ints(
        "def g n = match n | 0 -> 10 + int 0.0 | -1 -> 20 | _ -> n\ndef f = [g 0, g (-1), g 5]",
        &[10, 20, 5],
    );
    real(
        "type p = P real real\ndef g (P x y) = x - y\ndef f = let P a b = P 5 3 in g (P a 1) + b",
        7.0,
    );
}

#[test]
fn arms_that_several_ways_lead_to() {
    let t = "type c = R | G | B\n";
    real(
        &format!(
            "{t}def g a b = match (a, b) | (R, R) -> 1 | (_, G) -> 2 | (G, x) -> 3 | (_, y) -> 4\ndef f = g R R + 10 * g B G + 100 * g G B + 1000 * g B R"
        ),
        4321.0,
    );
}

#[test]
fn arrays_and_slices() {
    ints("def f = (iota 6)[1:5] with [1:3] = [9, 8] with [0] = 7", &[7, 9, 8, 4]);
    reals(
        "def f = let a = [[1.0, 2.0], [3.0, 4.0]] with [0, 1] = 5 with [1] = [6, 7] in flatten a",
        &[1.0, 5.0, 6.0, 7.0],
    );
    ints("def f = for (a, b) in zip [1, 2] [3, 4] => a * b + int 0.0", &[3, 8]);
    ints("def f = filter (\\x -> x % 2 == 0) [1, 2, 3, 4, int 6.0]", &[2, 4, 6]);
    ints("def f = concat (reverse (iota 3)) (scan (+) 0 [1, 2, int 3.0])", &[2, 1, 0, 1, 3, 6]);
    ints(
        "def f = [argmax [1, 3, 3], argmin [2, 1, 1], length [1.0], maximum [1, int 4.0]]",
        &[1, 1, 1, 4],
    );
    ints("def f = concat (argsort [3, 1, 2, 1, 5, 0, 4]) (argsort [2])", &[5, 1, 3, 2, 0, 6, 4, 0]);
    reals("def f = sort [3, 1, 2, -inf, 5, 1]", &[f64::NEG_INFINITY, 1.0, 1.0, 2.0, 3.0, 5.0]);
    reals("def f = grad (\\x -> dot (sort x) [1, 10, 100]) [3.0, 1, 2]", &[100.0, 1.0, 10.0]);
    real("def f = trace (eye 3) + norm [3, 4] + mean [1, 2, 3] + product [2, 3]", 16.0);
    reals("def f = cumsum [1.0, 2, 3]", &[1.0, 3.0, 6.0]);
    reals("def f = diag (outer [1.0, 2] [3, 4])", &[3.0, 8.0]);
    reals("def f = histogram 3 [0, 2, 2] [1, 2, 3]", &[1.0, 0.0, 5.0]);
    reals("def f = scatter_add [1.0, 1, 1] [0, 2] [2, 3]", &[3.0, 1.0, 4.0]);
}

#[test]
fn corners() {
    real(
        "def a2 [n] (x : [n]real) = let y : [m]real = concat x x in (m, sum y)\ndef f = let (m, s) = a2 [1, 2] in real m + s",
        10.0,
    );
    real(
        "def f = let (p, q) = (1, 2.5) in let h [k] (z : [k]real) : [k]real = z * q in (h [1.0])[0] + (h [1, 2])[1] + p",
        8.5,
    );
    ints(
        "def g (n : int) = (loop (a, b) = (0, n - n + 1) for _i < n do (b, a + b)).0\ndef f = [g 10]",
        &[55],
    );
    real("def f = (loop (k, y) = (0, 1.5) while k < 5 && y < 10 do (k + 1, y * 2)).1", 12.0);
    real("def f = let {x, y = (u, _)} = {x = 1, y = (2.0, true), z = 3} in x + u", 3.0);
    reals("def f = map (\\(x : real) y -> x + y) [1, 2] |> map (\\g -> g 1)", &[2.0, 3.0]);
    real(
        "def f = accumulate s = 0.0 in ((for i < 3 => (s += real i; s += 1)); for i < 2 => s += 10)",
        26.0,
    );
    real("def g x = let s = (2 *) let t = s in t x\ndef f = g 4 + real (g 2)", 12.0);
    reals(
        "def f = let g f x = (x, f x) let h = g in for (a, b) in [h sin 0.0, h (* 2) 1] => a + b",
        &[0.0, 3.0],
    );
    real("def f = 0 |> fold (\\f g -> \\y -> g (f y)) (\\y -> y) (replicate 3 (+ 1))", 3.0);
    ints("def f = for i < 2 => (let g y = y + i in (let (a, _) = (g 1, [real i]) in a))", &[1, 2]);
    real("def f = loop y = 1 for (a, b) in zip [1, 2] [3, 4] do y * a + b", 12.0);
    ints(
        "def n = 3\ndef g (x : [n]real) = for i < n => i + length x\ndef f = g [1, 2, 3]",
        &[3, 4, 5],
    );
    real("def f = -[1.0, 2][1] ** 2", -4.0);
    real("type box = Box [2]real\ndef g (Box x) = sum x\ndef f = g (Box [1, 2])", 3.0);
    fails(
        "type box = Box [2]real\ndef g (Box x) = sum x\ndef f (k : int) = g (Box (replicate k 1.0))",
        &[Data::from(3)],
        "sizes differ: this has size 3, its type says 2",
    );
    fails(
        "def f (k : int) = sum ((replicate k 1.0 : [2]real))",
        &[Data::from(3)],
        "sizes differ: this has size 3, its type says 2",
    );
    fails(
        "def f (k : int) = let x : [2]real = replicate k 1.0 in sum x",
        &[Data::from(3)],
        "sizes differ: x has size 3, its type says 2",
    );
}

#[test]
fn empty_arrays() {
    let empty = "def none = filter (\\x -> x > 5) [1.0]\n";
    real(&format!("{empty}def f = sum none + product none"), 1.0);
    real(&format!("{empty}def f = logsumexp none"), f64::NEG_INFINITY);
    real("def f = logsumexp [-inf, -inf]", f64::NEG_INFINITY);
    real("def f = logsumexp [inf, 0]", f64::INFINITY);
    for name in ["maximum", "minimum", "mean", "argmax", "argmin"] {
        fails(&format!("{empty}def f = {name} none"), &[], &format!("{name} of an empty array"));
    }
}

#[test]
fn exponentials_are_stable() {
    real("def f = logsumexp [1000, 1000.5]", 1000.0 + (1.0 + 0.5f64.exp()).ln());
    real("def f = sum (softmax [1000, 1000.5, -1000])", 1.0);
    real("def f = sigmoid (-800)", (-700f64).exp());
    reals("def f = grad logsumexp [0.0, 0.0]", &[0.5, 0.5]);
    reals("def f = sigmoid [0.0, 0]", &[0.5, 0.5]);
    real("def f = grad sigmoid (-1000)", 0.0);
}

#[test]
fn derivatives() {
    real("def sq x = x * x\ndef f = grad sq 3", 6.0);
    real("def f = grad (\\x -> grad (\\y -> x * y * y) x) 3.0", 12.0);
    reals("def f = flatten (hessian (\\x -> x[0] ** 2 * x[1]) [2.0, 3])", &[6.0, 4.0, 4.0, 0.0]);
    reals(
        "def f = flatten (jacobian (\\x -> [x[0] * x[1], x[1], x[0]]) [2.0, 3])",
        &[3.0, 2.0, 0.0, 1.0, 1.0, 0.0],
    );
    reals("def f = flatten (jacobian (\\x -> [x[0] * x[1]]) [2.0, 3])", &[3.0, 2.0]);
    reals("def f = jacobian (\\x -> x[0] * x[1]) [2.0, 3]", &[3.0, 2.0]);
    reals("def f = jacobian (\\x -> [x, x * x]) 3.0", &[1.0, 6.0]);
    reals("def f = hvp (\\x -> x[0] * x[1]) [2.0, 3] [1.0, 0]", &[0.0, 1.0]);
    real("def f = let (y, push) = linearize (\\x -> x ** 3) 2 in y + push 1", 20.0);
    real(
        "def f = let (y, g) = value_and_grad (\\(a, b) -> a * b) (2, 3) in y + g.0 * 10 + g.1 * 100",
        236.0,
    );
}

#[test]
fn checks_name_sizes_and_values() {
    let x = |n: usize| Data::from(vec![1.0; n]);
    fails(
        "def f [n] (x : [n]real) (y : [n]real) = x",
        &[x(2), x(3)],
        "sizes differ: y has size 3, its type says n = 2",
    );
    fails("def f (x : [3]real) = x", &[x(2)], "sizes differ: x has size 2, its type says 3");
    fails(
        "def f (l : [d*(d+1)//2]real) (d : int) = l",
        &[x(2), Data::from(2)],
        "sizes differ: l has size 2, its type says d * (d + 1) // 2 = 3",
    );
    fails(
        "def f [n] (x : [n]real) (k : int) = x + replicate k 1.0",
        &[x(2), Data::from(4)],
        "sizes differ: n is 2, k is 4",
    );
    fails(
        "def f [n] (x : [n]real) (k : int) = x + replicate (k * k) 1.0",
        &[x(2), Data::from(2)],
        "sizes differ: 2 and 4",
    );
    fails(
        "def f [n] (x : [n]real) (k : int) : [n]real = replicate k 1.0",
        &[x(2), Data::from(4)],
        "sizes differ: the result has size 4, its type says n = 2",
    );
    fails(
        "def f [n] (x : [n]real) (k : int) = dot x (replicate k 1.0)",
        &[x(2), Data::from(4)],
        "sizes differ: y has size 4, its type says n = 2",
    );
    fails(
        "def f (x : []real) (i : int) = x[i]",
        &[x(2), Data::from(2)],
        "index 2 is out of range for size 2",
    );
    fails(
        "def f (x : []real) (i : int) = x[i:]",
        &[x(2), Data::from(3)],
        "slice 3:2 is out of range for size 2",
    );
    fails("def f (i : int) = 1 // i", &[Data::from(0)], "division by zero");
    fails(
        "def f (x : []real) (n : int) = x with [1:n] = [1.0]",
        &[x(3), Data::from(3)],
        "the new value has size 1, the old one 2",
    );
}

#[test]
fn evident_equations_are_not_checked() {
    let text = "def f [n] (x : [n]real) (y : [n]real) = let z = for i < n => x[i] in (x + y) * z - exp (x * 2)";
    let program = common::program(text, "f");
    let shown = lambada_core::print_program(&program);
    assert_eq!(shown.matches("check").count(), 1, "{shown}");
}

#[test]
fn branches_may_have_no_elements() {
    let merge = "def rec merge xs ys =
  if length xs == 0 then ys
  else if length ys == 0 then xs
  else if xs[0] < ys[0] then concat [xs[0]] (merge xs[1:] ys)
  else concat [ys[0]] (merge xs ys[1:])
";
    reals(&format!("{merge}def f = merge [1.0, 3.0] [2.0, 4.0]"), &[1.0, 2.0, 3.0, 4.0]);
    let twice = "def twice (xs : []real) = if length xs == 0 then [] else 2 * xs\n";
    reals(&format!("{twice}def f = twice [1, 2]"), &[2.0, 4.0]);
    real(&format!("{twice}def f = sum (twice []) + sum (twice [3])"), 6.0);
}
