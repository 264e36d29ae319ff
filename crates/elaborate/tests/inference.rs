//! Types that inference finds.

mod common;

use common::{checked, program, run, scheme, sound};

fn check(text: &str, name: &str, expected: &str) {
    assert_eq!(scheme(text, name), expected, "{text}");
}

#[test]
fn plain_polymorphism() {
    check("def id x = x", "id", "a -> a");
    check("def k x y = x", "k", "a -> b -> a");
    check("def twice f = f >> f", "twice", "(a -> a) -> a -> a");
    check("def s f g x = f x (g x)", "s", "(a -> b -> c) -> (a -> b) -> a -> c");
    check("def swap (x, y) = (y, x)", "swap", "(a, b) -> (b, a)");
    check("def keep (x : elem) (f : elem -> b) : elem = x", "keep", "elem -> (elem -> b) -> elem");
    check(
        "def f = let pair x = (x, x) in (pair 1.0, pair true)",
        "f",
        "((real, real), (bool, bool))",
    );
}

#[test]
fn overloads_generalize() {
    check("def sq x = x * x", "sq", "num a => a -> a");
    check("def add x y = x + y", "add", "c = a + b => a -> b -> c");
    check("def f x y z = x * y + z", "f", "d = (a * b) + c => a -> b -> c -> d");
    check("def double x = 2 * x", "double", "num a => a -> a");
    check("def half x = x / 2.0", "half", "real a => a -> a");
    check("def f x = exp (sin x)", "f", "real a => a -> a");
    check("def f x = x ** 2", "f", "num a => a -> a");
    check("def p x y = x ** y", "p", "c = a ** b => a -> b -> c");
    check("def less x y = x < y", "less", "scalar num a => a -> a -> bool");
    check("def same x y = x == y", "same", "a -> a -> bool");
    check("def big x y = max x y", "big", "c = max a b => a -> b -> c");
    check("def total xs = sum xs", "total", "num a => [n]a -> a");
    check("def apply w x = w @ x", "apply", "c = a @ b => a -> b -> c");
}

#[test]
fn overloads_are_decided_by_what_is_known() {
    check("def f (n : int) = 2 * n", "f", "int -> int");
    check("def f (x : real) y = x + y", "f", "real a => real -> a -> a");
    check("def f [n] (x : [n]real) s = x * s", "f", "real a => [n]real -> a -> [n]real");
    check("def f x = sum (for i < 3 => x * real i)", "f", "real a => a -> a");
    check("def f = [1, 2, 3]", "f", "scalar num a => [3]a");
    check("def f (i : int) = [1, i]", "f", "int -> [2]int");
    check(
        "def f [n] [m] (a : [n][m]real) x = sum a @ x",
        "f",
        "b = [m]real @ a => [n][m]real -> a -> b",
    );
    check(
        "def f (a : [2][3]real) (b : [3][4]real) = a @ b",
        "f",
        "[2][3]real -> [3][4]real -> [2][4]real",
    );
    check("def f (x : real) = loop s = 0 for i < 3 do s + x", "f", "real -> real");
    check(
        "def f (x : real) (n : int) = (x ** n, n ** 2, x ** 0.5)",
        "f",
        "real -> int -> (real, int, real)",
    );
}

#[test]
fn records_and_components() {
    check(
        "def f (p : {y : real, x : int}) = {p with y = 2}",
        "f",
        "{y : real, x : int} -> {y : real, x : int}",
    );
    check(
        "def f [n] (ps : [n]{x : real, y : real}) = map (\\p -> p.x) ps",
        "f",
        "[n]{x : real, y : real} -> [n]real",
    );
    check("def f {x, y = (a, b)} = x + a * b", "f", "d = a + (b * c) => {x : a, y : (b, c)} -> d");
    check("def f (t : (int, (real, bool))) = t.1.0", "f", "(int, (real, bool)) -> real");
}

#[test]
fn sizes_are_polynomials() {
    check("def f (n : int) = for i < n + 1, j < 2 * n => 1.0", "f", "int -> [n + 1][2*n]real");
    check("def f [n] (x : [n]real) = concat x x", "f", "[n]real -> [2*n]real");
    check(
        "def f [n] (x : [n]real) = (x[1:], x[:2], x[n - 2:])",
        "f",
        "[n]real -> ([n - 1]real, [2]real, [2]real)",
    );
    check("def f x y = for i < length x => x[i] + y[0]", "f", "c = a + b => [n]a -> [m]b -> [n]c");
    check("def f = eye 3", "f", "[3][3]real");
    check("def f (k : int) = eye (k + 1)", "f", "int -> [k + 1][k + 1]real");
    check("def f [n] (x : [n]real) = map eye [1, 2]", "f", "[n]real -> [2][][]real");
    check(
        "def f [d] (l : [d*(d-1)//2]real) (x : [d]real) = l",
        "f",
        "[(d*d - d)//2]real -> [d]real -> [(d*d - d)//2]real",
    );
    check("def f xs = filter (\\x -> x > 0) xs", "f", "scalar num a => [n]a -> []a");
    check("def f (ks : [n]int) = for k in ks, j < k => j", "f", "[n]int -> [n][]int");
    check("def n = 3\ndef f (x : [n]real) = x", "f", "[3]real -> [3]real");
    check("def f x = let y = x + [1.0, 2.0] in x", "f", "real a => a -> a");
    check(
        "def f (a : [][]real) (b : [][]real) = a @ b",
        "f",
        "[n][m]real -> [m][k]real -> [n][k]real",
    );
}

#[test]
fn variants_and_aliases() {
    let option = "type option a = None | Some a\n";
    check(
        &format!("{option}def get x o = match o | None -> x | Some y -> y"),
        "get",
        "a -> option a -> a",
    );
    check(&format!("{option}def wrap = map Some"), "wrap", "[n]a -> [n](option a)");
    check("type vec3 = [3]real\ndef f (x : vec3) = sum x", "f", "[3]real -> real");
    check(
        "type pair a b = (a, b)\ndef f (p : pair int real) = p",
        "f",
        "(int, real) -> (int, real)",
    );
}

#[test]
fn derivatives() {
    check("def f = grad (\\x -> x * x)", "f", "real -> real");
    check("def g f x = grad f x", "g", "(a -> real) -> a -> a");
    check("def f (x : [2]real) = vjp (\\y -> sum y) x", "f", "[2]real -> (real, real -> [2]real)");
    check("def f [n] (x : [n]real) = jacobian (\\y -> y * y) x", "f", "[n]real -> [n][n]real");
    check("def f (x : real) = jacobian (\\y -> [y, y, y]) x", "f", "real -> [3]real");
    check(
        "def f (p : {a : real, b : [2]real}) = grad (\\q -> q.a * sum q.b) p",
        "f",
        "{a : real, b : [2]real} -> {a : real, b : [2]real}",
    );
}

#[test]
fn accumulators_give_themselves_or_both() {
    check(
        "def f [n] (x : [n]real) = accumulate h = 0.0 in for i < n => h += x[i]",
        "f",
        "[n]real -> real",
    );
    check(
        "def f [n] (x : [n]real) = accumulate h = 0.0 in (h += 1.0; h += 2.0)",
        "f",
        "[n]real -> real",
    );
    check(
        "def f [n] (x : [n]real) = accumulate h = x in (h[0] += 1.0; true)",
        "f",
        "[n]real -> (bool, [n]real)",
    );
}

#[test]
fn definitions_stand_in_any_order_and_shadow_the_prelude() {
    check("def f x = g x\ndef g (x : int) = x", "f", "int -> int");
    check("def map x = x + 1.0\ndef f (x : real) = map x", "f", "real -> real");
    check("def f (sum : real) = sum * 2", "f", "real -> real");
}

#[test]
fn schemes_do_not_repeat_what_their_constraints_imply() {
    let chain = "def f x y = x + y\ndef g x y = f (x * y) y\ndef h x y = g (x - y) (y * y)";
    check(chain, "h", "c = a - b => a -> b -> c");
    check("def f x y z = (x + y) * (y + z) + x", "f", "d = (a + b) * (b + c) => a -> b -> c -> d");
    check("def f x y z = (x + y) + (y + x) * z", "f", "d = (a + b) * c => a -> b -> c -> d");
    check("def f x y = (x @ y) + (x @ y)", "f", "c = a @ b => a -> b -> c");
    check("def f x = (2 * x) * 3", "f", "num a => a -> a");
}

/// Each definition calls the one before it: the scheme of the last must not hold the constraints of
/// all.
#[test]
fn a_chain_of_definitions_without_types_takes_linear_space() {
    for first in ["x + y", "x @ y", "2 * x + y", "x ** y"] {
        let mut text = format!("def f0 x y = {first}\n");
        for k in 1..600 {
            text += &format!("def f{k} x y = f{} (x * y) (2 * y)\n", k - 1);
        }
        let shown = scheme(&text, "f599");
        assert!(shown.len() < 100, "{first}: {shown}");
    }
}

#[test]
fn recursive_functions_are_generalized_together() {
    let list = "type list a = Nil | Cons a (list a)\n";
    let map = "def rec map_list f xs = match xs | Nil -> Nil | Cons x rest -> Cons (f x) (map_list f rest)";
    check(&format!("{list}{map}"), "map_list", "(a -> b) -> list a -> list b");
    let both = "def rec up x n = if n == 0 then x else down x (n - 1)
def rec down y n = if n == 0 then y + y else up y (n - 1)";
    check(both, "up", "num a, scalar num b => a -> b -> a");
    check(both, "down", "num a, scalar num b => a -> b -> a");
    let polymorphic =
        "def rec swap (x : a) (y : b) (n : int) : int = if n == 0 then 0 else swap y x (n - 1)";
    check(polymorphic, "swap", "a -> b -> int -> int");
    let local = "def f x = let rec g y n = if n == 0 then y else g y (n - 1) in (g x 1, g true 2)";
    check(local, "f", "a -> (a, bool)");
}

#[test]
fn signatures_of_a_group_may_share_a_type_of_which_something_is_asked() {
    let written = "def rec up (x : a) (n : int) : a = if n == 0 then x else down (x + x) (n - 1)
def rec down (y : b) (n : int) : b = if n == 0 then y * y else up y (n - 1)";
    check(written, "up", "num a => a -> int -> a");
    check(written, "down", "num a => a -> int -> a");
    let rules = "def sn (x : a) : a = sin x\n  with jvp (dx) = cs x * dx
def cs (x : a) : a = cos x\n  with jvp (dx) = - (sn x) * dx";
    check(rules, "sn", "real a => a -> a");
    let local =
        "def f x = let rec g (y : a) (n : int) : a = if n == 0 then y else h (y + y) (n - 1)
  and h (z : b) (n : int) : b = g z n in (g x 1, g 2 3)";
    check(local, "f", "num a, scalar num b => a -> (a, b)");
}

#[test]
fn recursive_calls_have_their_own_sizes() {
    let total =
        "def rec total [n] (xs : [n]real) : real = if n == 0 then 0.0 else xs[0] + total xs[1:]";
    check(total, "total", "[n]real -> real");
    let inferred = "def rec total xs = if length xs == 0 then 0.0 else xs[0] + total xs[1:]";
    check(inferred, "total", "[n]real -> real");
    let parameter =
        "def rec zeros (n : int) : [n]real = if n == 0 then [] else concat [0.0] (zeros (n - 1))";
    check(parameter, "zeros", "int -> [n]real");
}

#[test]
fn sizes_of_recursive_results_are_those_of_all_calls() {
    let kept = "def rec f [n] (xs : [n]real) (k : int) = if k == 0 then xs else f (for x in xs => sin x) (k - 1)";
    check(kept, "f", "[n]real -> int -> [n]real");
    let made = "def rec f (n : int) (k : int) = if k == 0 then (for i < n => 0.0) else f n (k - 1)";
    check(made, "f", "int -> int -> [n]real");
    let grown = "def rec f (n : int) (xs : [n]int) (k : int) = if k == 0 then xs else f (n + 1) (for i < n + 1 => i) (k - 1)
def g = (for i < 5 => i) + f 2 [1, 2] 3";
    check(grown, "f", "int -> [n]int -> int -> []int");
    check(grown, "g", "[5]int");
    let first =
        "def rec f xs = if length xs < 2 then xs else f (for i < length xs // 2 => xs[i] + 0.5)";
    check(first, "f", "real a => [n]a -> []a");
    let last = "def rec f (xs : [n]a) (k : int) = if k > 0 then f xs[1:] (k - 1) else xs";
    check(last, "f", "[n]a -> int -> []a");
    let one_of_two = "def rec f [n] [m] (xs : [n]real) (ys : [m]real) (k : int) = if k == 0 then (xs, ys) else f xs ys[1:] (k - 1)";
    check(one_of_two, "f", "[n]real -> [m]real -> int -> ([n]real, []real)");
    let swapped = "def rec f [n] [m] (xs : [n]real) (ys : [m]real) (k : int) = if k == 0 then xs else f ys xs (k - 1)";
    check(swapped, "f", "[n]real -> [m]real -> int -> []real");
    let mutual = "def rec even [n] (xs : [n]real) (k : int) = if k == 0 then xs else odd xs (k - 1)
def rec odd [n] (xs : [n]real) (k : int) = if k == 0 then for i < n + 1 => 1.0 else even xs (k - 1)";
    check(mutual, "even", "[n]real -> int -> []real");
    let local = "def f (k : int) = let rec g (n : int) (xs : [n]int) (k : int) = if k == 0 then xs else g (n + 1) (for i < n + 1 => i) (k - 1) in g 2 [1, 2] k + [0, 1, 2, 3, 4]";
    check(local, "f", "int -> []int");
    // `[]` gives no more information than a missing result type.
    let written = "def rec f [n] (xs : [n]real) (k : int) : []real = if k == 0 then xs else f (for i < n + 1 => 1.0) (k - 1)";
    check(written, "f", "[n]real -> int -> []real");
    let kept = "def rec f [n] (xs : [n]real) (k : int) : []real = if k == 0 then xs else f (for x in xs => sin x) (k - 1)";
    check(kept, "f", "[n]real -> int -> [n]real");
    let one = "def rec f [n] (xs : [n]real) (k : int) : ([n]real, []int) = if k == 0 then (xs, [k]) else let (ys, is) = f xs (k - 1) in (ys, concat is [k])";
    check(one, "f", "[n]real -> int -> ([n]real, []int)");
    let mutual = "def rec even (k : int) (xs : []real) : []real = if k == 0 then xs else odd (k - 1) xs
def rec odd (k : int) (xs : []real) : []real = if k == 0 then xs else even (k - 1) (for i < length xs + 1 => 1.0)";
    check(mutual, "even", "int -> [n]real -> []real");
}

#[test]
fn what_has_one_size_or_another_has_neither() {
    let either =
        "def f [n] (b : bool) (xs : [n]real) (k : int) = if b then xs else for i < k => 1.0
def g = f false [1, 2] 3 + [1, 2, 3]";
    check(either, "f", "bool -> [n]real -> int -> []real");
    check(either, "g", "[]real");
    let arms = "def f [n] (b : int) (xs : [n]real) (k : int) = match b | 0 -> xs | 1 -> xs | _ -> for i < k => 1.0";
    check(arms, "f", "int -> [n]real -> int -> []real");
    let same = "def f [n] (b : bool) (xs : [n]real) = if b then xs else for x in xs => 1.0";
    check(same, "f", "bool -> [n]real -> [n]real");
}

#[test]
fn sizes_of_types() {
    let params = "type params [d] [j] = {beta : [d]real, u : [j]real}\n";
    let f = |ty: &str| format!("{params}def f (p : {ty}) = p.u");
    check(&f("params [3] [m]"), "f", "{beta : [3]real, u : [m]real} -> [m]real");
    check(&f("params"), "f", "{beta : [n]real, u : [m]real} -> [m]real");
    check(&f("params [] [2]"), "f", "{beta : [n]real, u : [2]real} -> [2]real");
    let pair = "type pair [n] a = ([n]a, [n + 1]a)\ndef f (p : pair real) = p.1";
    check(pair, "f", "([n]real, [n + 1]real) -> [n + 1]real");
    check("type t a = T (list [3]a)\ntype list a = L a\ndef f (T x) = x", "f", "t a -> list [3]a");
}

/// Ranks of a definition's parameters at its default instance.
fn ranks(program: &lambada_core::Program) -> Vec<usize> {
    let rank = |mut ty: &lambada_core::SizedTy| {
        let mut rank = 0;
        while let lambada_core::SizedTy::Array(_, elem) = ty {
            (ty, rank) = (elem, rank + 1);
        }
        rank
    };
    let def = program.defs.last().expect("an entry");
    def.signature.params.iter().map(|(_, ty)| rank(ty)).collect()
}

#[test]
fn default_instances_satisfy_all_constraints_together() {
    for (text, expected) in [
        ("def f x w = (x @ w) + x", [1, 2].as_slice()),
        ("def f x w = let y = x @ w in y * y + x", &[1, 2]),
        ("def f a b = transpose (a @ b)", &[2, 2]),
        ("def f a b = (a @ b)[0, 1]", &[2, 2]),
        ("def f a b = for r in a @ b => sum r", &[2, 2]),
        ("def f a b = map softmax (a @ b)", &[2, 2]),
        ("def f a x = x @ (a @ x)", &[2, 1]),
        ("def f x w u = (x @ w) @ (x @ u)", &[2, 1, 1]),
        ("def f a p = a @ p @ transpose a + p", &[2, 1]),
        ("def f w x b = tanh (w @ x + b)", &[2, 1, 0]),
        ("def f a b = a * b + 1.0", &[0, 0]),
        ("def f x n = x ** n", &[0, 0]),
    ] {
        assert_eq!(ranks(&program(text, "f")), expected, "{text}");
    }
    let program = program("def f a p = a @ p @ a + a * p", "f");
    let signature = &program.defs.last().expect("an entry").signature;
    assert_eq!(signature.params[0].1, signature.params[1].1, "both are square, of one size");
}

#[test]
fn data_decide_what_a_definition_leaves_open() {
    use lambada_elaborate::Shape;
    let number = || Shape::Number;
    let list = |inner: Shape| Shape::List(vec![inner]);
    let layer = sound("def f w x b = tanh (w @ x + b)");
    let at = |given: &[Shape]| layer.program_at("f", given).map(|program| ranks(&program));
    let matrix = || list(list(number()));
    assert_eq!(at(&[matrix(), list(number()), list(number())]), Some(vec![2, 1, 1]));
    assert_eq!(at(&[matrix(), matrix(), matrix()]), Some(vec![2, 2, 2]));
    assert_eq!(at(&[Shape::Unknown, matrix(), Shape::Unknown]), Some(vec![1, 2, 0]));
    assert_eq!(at(&[Shape::Axes(2, Box::new(number()))]), Some(vec![2, 1, 0]));
    // A matrix and a vector are not added.
    assert_eq!(at(&[matrix(), matrix(), list(number())]), None);
    let closed = sound("def f (x : real) = x");
    assert!(!closed.is_open("f") && closed.program_at("f", &[number()]).is_none());
}

#[test]
fn what_no_types_fit_is_an_error() {
    for text in [
        "def f a b = (a * b) @ (dot a b * a)",
        "def f a = let v = sum (a - a) in (v @ v) - (v + a)",
    ] {
        let (_, _, problems) = checked("test.lam", text);
        let codes: Vec<&str> = problems.iter().map(|problem| problem.code).collect();
        assert_eq!(codes, ["E0290"], "{text}");
    }
}

#[test]
fn large_matches_are_compiled_in_bounded_space() {
    let columns = 24;
    let mut state = 3u64;
    let mut below = |count: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % count
    };
    let mut rows = |constructors: &[&str]| -> Vec<String> {
        let row = |_| {
            let cells: Vec<&str> =
                (0..columns).map(|_| constructors[below(constructors.len())]).collect();
            format!("  | ({}) -> 1.0\n", cells.join(", "))
        };
        (0..40).map(row).collect()
    };
    let some = rows(&["A", "B", "C", "_", "_", "_"]).concat();
    let ty = vec!["t"; columns].join(", ");
    let text =
        |rows: &str| format!("type t = A | B | C\ndef f (x : ({ty})) : real = match x\n{rows}");
    // Complete: the compiler makes a tree of bounded size.
    let complete = text(&format!("{some}  | _ -> 2.0\n"));
    let printed = lambada_core::print_program(&program(&complete, "f"));
    assert!(printed.len() < 1 << 22, "{} bytes", printed.len());
    let con = |tag: usize| lambada_core::Data::Con {
        name: ["A", "B", "C"][tag].into(),
        tag,
        args: Vec::new().into(),
    };
    for line in some.lines().take(20) {
        // A value that the row matches gives 1, unless one more row decides otherwise, which none
        // does.
        let names = line.trim_start_matches("  | (").split(") ->").next().expect("a row");
        let tag = |name| ["A", "B", "C"].iter().position(|c| *c == name).unwrap_or(1);
        let value = lambada_core::Data::Tuple(names.split(", ").map(|n| con(tag(n))).collect());
        assert_eq!(run(&complete, "f", &[value]), Ok(lambada_core::Data::from(1.0)));
    }
    let none = lambada_core::Data::Tuple((0..columns).map(|k| con(k % 3)).collect());
    assert_eq!(run(&complete, "f", &[none]), Ok(lambada_core::Data::from(2.0)));
    // Incomplete: the problem shows some value.
    let (_, _, problems) = checked("test.lam", &text(&some));
    let codes: Vec<&str> = problems.iter().map(|problem| problem.code).collect();
    assert_eq!(codes, ["E0401"]);
}

#[test]
fn one_mistake_is_one_message() {
    for (text, expected) in [
        (
            "def plus2 (x : real) (y : real) : real = x + y\ndef main : real = plus2 (1.0, 2.0, 3.0)",
            "E0201",
        ),
        ("def main = (\\x -> x + 1.0) true 2.0", "E0203"),
    ] {
        let (_, _, problems) = checked("test.lam", text);
        let codes: Vec<&str> = problems.iter().map(|problem| problem.code).collect();
        assert_eq!(codes, [expected], "{text}");
    }
}

/// A branch without elements says nothing of the size of the other one.
#[test]
fn empty_branches_have_no_say() {
    check("def f xs = if length xs == 0 then [] else xs", "f", "[n]a -> []a");
    check("def f xs = if length xs == 0 then xs else []", "f", "[n]a -> []a");
    check("def f (xs : []real) = if length xs == 0 then [] else 2 * xs", "f", "[n]real -> []real");
    check("def f xs = match xs with | [] -> [] | _ -> xs[1:]", "f", "[n]a -> []a");
    check("def f c = if c then [] else [1.0]", "f", "bool -> []real");
    check("def f (x : [n][3]real) c = if c then [] else x", "f", "[n][3]real -> bool -> [][3]real");
    check("def f c (x : [2]real) = sum (if c then [] else x)", "f", "bool -> [2]real -> real");
}
