//! No access out of bounds: programs that the checker of indices accepts and rejects, by hand and
//! at random.

use std::collections::HashMap;

use lambada_prim::{Data, Scalar, Tensor};

use lambada_anf::*;

fn parsed(text: &str) -> Function {
    read(text).unwrap_or_else(|message| panic!("{message}\n{text}"))
}

/// A function over `xs`, `is`, `m` and `k`, from the lines of its body.
fn body(lines: &str) -> String {
    format!(
        "f [n] (xs : [n]real) (is : [n]int) (m : int) (k : int) {{\n{lines}\n  => m : int\n}}\n"
    )
}

fn accepts(lines: &str) {
    let text = body(lines);
    if let Err(message) = check(&parsed(&text)) {
        panic!("{message}\n{text}");
    }
}

/// Rejected, and accepted once it is guarded.
fn rejects(lines: &str) {
    let text = body(lines);
    let mut f = parsed(&text);
    let error = check(&f).expect_err(&text);
    assert!(error.contains("is not evidently in range for the size"), "{error}\n{text}");
    guard(&mut f);
    check(&f).unwrap_or_else(|message| panic!("{message}\n{}", print(&f)));
}

#[test]
fn the_index_of_a_loop_is_in_range() {
    accepts("for i < n () {\n e : real = xs[i]\n => \n}");
    rejects("for i < m () {\n e : real = xs[i]\n => \n}");
    // a neighbour
    accepts(
        "t : int = sub_int n, 1\nfor i < t () {\n j : int = add_int i, 1\n e : real = xs[j]\n => \n}",
    );
    rejects("for i < n () {\n j : int = add_int i, 1\n e : real = xs[j]\n => \n}");
    rejects("for i < n () {\n j : int = sub_int i, 1\n e : real = xs[j]\n => \n}");
    // mirrored
    accepts(
        "l : int = sub_int n, 1\nfor i < n () {\n j : int = sub_int l, i\n e : real = xs[j]\n => \n}",
    );
    rejects("for i < n () {\n j : int = sub_int n, i\n e : real = xs[j]\n => \n}");
    // an array of as many elements
    accepts(
        "ys : [m]int = for i < m (collect) {\n => i\n}\nfor i < m () {\n e : int = ys[i]\n => \n}",
    );
    // every other
    accepts(
        "h : int = div_int n, 2\nfor i < h () {\n t : int = mul_int 2, i\n j : int = add_int t, 1\n e : real = xs[j]\n => \n}",
    );
    rejects(
        "h : int = div_int n, 2\nfor i < h () {\n t : int = mul_int 2, i\n j : int = add_int t, 2\n e : real = xs[j]\n => \n}",
    );
    // as `normalize` writes `for i < n - 1`
    accepts(
        "t : int = sub_int n, 1\nl : int = max_int t, 0\nfor i < l () {\n j : int = add_int i, 1\n e : real = xs[j]\n => \n}",
    );
}

/// An index that is not the first one has a neighbor before it; one that is not the last one,
/// behind it.
#[test]
fn neighbors_of_what_is_not_at_the_end_are_in_range() {
    let neighbor = |step: i64, end: &str, before: &str| {
        format!(
            "{before}for i < n () {{\n t : bool = eq_int i, {end}\n if t {{\n  =>\n }} else {{\n  j : int = add_int i, {step}\n  e : real = xs[j]\n  =>\n }}\n =>\n}}"
        )
    };
    let last = "l : int = sub_int n, 1\n";
    accepts(&neighbor(-1, "0", ""));
    accepts(&neighbor(1, "l", last));
    rejects(&neighbor(1, "0", ""));
    rejects(&neighbor(-1, "l", last));
    rejects(&neighbor(-2, "0", ""));
    rejects(&neighbor(-1, "m", ""));
    // In the interior of a matrix, `i == 0 || i == n - 1` does not hold.
    accepts(
        "l : int = sub_int n, 1\nfor i < n () {\n a : bool = eq_int i, 0\n t : bool = if a {\n  => true\n } else {\n  b : bool = eq_int i, l\n  => b\n }\n if t {\n  =>\n } else {\n  j : int = add_int i, 1\n  e : real = xs[j]\n  k1 : int = sub_int i, 1\n  d : real = xs[k1]\n  =>\n }\n =>\n}",
    );
}

#[test]
fn the_rows_of_a_matrix_of_quotients_are_in_range() {
    let rows = |outer: &str, inner: &str, index: &str| {
        format!(
            "c : bool = lt_int 0, m\ncheck c \"none\" ()\nq : int = div_int n, m\n\
             for i < {outer} () {{\n for j < {inner} () {{\n  t : int = mul_int i, {inner}\n  \
             k1 : int = {index}\n  e : real = xs[k1]\n  => \n }}\n => \n}}"
        )
    };
    accepts(&rows("m", "q", "add_int t, j"));
    accepts(&rows("q", "m", "add_int t, j"));
    rejects(&rows("m", "q", "sub_int t, j"));
    // one row more than there are
    rejects(&rows("m", "q", "add_int n, j"));
    let more =
        rows("m", "q", "add_int t, j").replace("for i < m", "r : int = add_int m, 1\nfor i < r");
    rejects(&more);
}

#[test]
fn a_quotient_is_below_what_its_dividend_is_a_multiple_of() {
    let rows = |size: &str, lines: &str| {
        format!(
            "t : int = mul_int {size}, n\nfor e < t () {{\n{lines}\n y : real = xs[q]\n => \n}}"
        )
    };
    accepts(&rows("30", " q : int = div_int e, 30"));
    accepts(&rows("30", " q : int = div_int e, 31"));
    rejects(&rows("31", " q : int = div_int e, 30"));
    // the last one is 30 n + 29
    accepts(&rows("30", " u : int = add_int e, 0\n q : int = div_int u, 30"));
    rejects(&rows("30", " u : int = add_int e, 1\n q : int = div_int u, 30"));
    // a quotient of a quotient, as of an array that is flattened twice
    accepts(&rows("30", " u : int = div_int e, 15\n q : int = div_int u, 2"));
    rejects(&rows("30", " u : int = div_int e, 14\n q : int = div_int u, 2"));
    // in a branch
    accepts(
        "t : int = mul_int 31, n\ns : int = mul_int 30, n\nfor e < t () {\n c : bool = lt_int e, s\n if c {\n  q : int = div_int e, 30\n  y : real = xs[q]\n  => \n } else {\n  => \n }\n => \n}",
    );
}

#[test]
fn what_is_chosen_is_one_of_two() {
    // all but one, as the columns of a minor
    let minor = |other: &str| {
        format!(
            "t : int = sub_int n, 1\nl : int = max_int t, 0\nfor c < l () {{\n s : int = add_int c, {other}\n b : bool = lt_int c, k\n q : int = select_int b, c, s\n y : real = xs[q]\n => \n}}"
        )
    };
    accepts(&minor("1"));
    rejects(&minor("2"));
    rejects(&minor("-1"));
}

#[test]
fn the_same_operation_on_the_same_numbers_gives_the_same_size() {
    let access = "ys : [c]int = fill 1\nfor i < f () {\n y : int = ys[i]\n => \n}";
    accepts(&format!("x : real = to_real n\nc : int = to_int x\nf : int = to_int x\n{access}"));
    rejects(&format!("c : int = to_int 2.5\nf : int = to_int 3.5\n{access}"));
}

#[test]
fn a_check_dominates() {
    let checked = "a : bool = le_int 0, m\nb : bool = lt_int m, n\nc : bool = and a, b\ncheck c \"index {0}\" (m)\n";
    accepts(&format!("{checked}e : real = xs[m]"));
    // after the access, for another index, and in a loop that has ended
    rejects(&format!("e : real = xs[m]\n{checked}"));
    rejects(&format!("{checked}e : real = xs[k]"));
    rejects(&format!("for i < n () {{\n{checked} => \n}}\ne : real = xs[m]"));
    // one half
    rejects("b : bool = lt_int m, n\ncheck b \"index {0}\" (m)\ne : real = xs[m]");
    rejects("a : bool = le_int 0, m\ncheck a \"index {0}\" (m)\ne : real = xs[m]");
    // `or`, and `not`
    rejects(
        "a : bool = le_int 0, m\nb : bool = lt_int m, n\nc : bool = or a, b\ncheck c \"index {0}\" (m)\ne : real = xs[m]",
    );
    accepts(
        "a : bool = lt_int m, 0\nb : bool = le_int n, m\nc : bool = or a, b\nd : bool = not c\ncheck d \"index {0}\" (m)\ne : real = xs[m]",
    );
    // by transitivity
    accepts(
        "a : bool = le_int 0, m\nb : bool = lt_int m, k\nc : bool = le_int k, n\ncheck a \"a\" ()\ncheck b \"b\" ()\ncheck c \"c\" ()\ne : real = xs[m]",
    );
    // an equation
    accepts(
        "a : bool = eq_int m, 1\nb : bool = lt_int m, n\ncheck a \"a\" ()\ncheck b \"b\" ()\ne : real = xs[1]",
    );
}

#[test]
fn conditions_are_evidence_in_their_branch_only() {
    let conds = "a : bool = le_int 0, m\nb : bool = lt_int m, n\nc : bool = and a, b\n";
    accepts(&format!("{conds}if c {{\n e : real = xs[m]\n => \n}} else {{\n => \n}}"));
    rejects(&format!("{conds}if c {{\n => \n}} else {{\n e : real = xs[m]\n => \n}}"));
    rejects(&format!("{conds}if c {{\n => \n}} else {{\n => \n}}\ne : real = xs[m]"));
    // the result of a short-circuited `and`
    accepts(
        "a : bool = le_int 0, m\nc : bool = if a {\n b : bool = lt_int m, n\n => b\n} else {\n => false\n}\nif c {\n e : real = xs[m]\n => \n} else {\n => \n}",
    );
    // a condition of `while`
    accepts(
        "y : int = loop (p : int = 0) while {\n a : bool = lt_int p, n\n b : bool = le_int 0, p\n c : bool = and a, b\n => c\n} do {\n e : real = xs[p]\n q : int = add_int p, 1\n => q\n}",
    );
    rejects(
        "y : int = loop (p : int = 0) while {\n a : bool = lt_int p, n\n => a\n} do {\n e : real = xs[p]\n q : int = add_int p, 1\n => q\n}",
    );
}

#[test]
fn the_same_value_under_another_name_is_in_range() {
    let at = |name: &str, i: &str| format!(" {name} : int = is[{i}]\n");
    let checked = |name: &str| {
        format!(
            " a : bool = le_int 0, {name}\n b : bool = lt_int {name}, n\n c : bool = and a, b\n check c \"index {{0}}\" ({name})\n"
        )
    };
    let in_loop = |text: String| format!("l : int = sub_int n, 1\nfor i < n () {{\n{text} => \n}}");
    accepts(&in_loop(format!(
        "{}{}{} e : real = xs[q]\n",
        at("p", "i"),
        checked("p"),
        at("q", "i")
    )));
    // The mirrored element has not been checked: the defect that this judgement rules out.
    let mirrored = format!(
        "{}{} j : int = sub_int l, i\n{} e : real = xs[q]\n",
        at("p", "i"),
        checked("p"),
        at("q", "j")
    );
    rejects(&in_loop(mirrored));
}

#[test]
fn every_kind_of_access_is_looked_at() {
    rejects("ys : [n]real = xs with [m] = 1.0");
    rejects("acc : [n]real = accumulator xs\naccumulate acc[m] += 1.0\nys : [n]real = freeze acc");
    let matrix = "zs : [n][2]real = for i < n (collect) {\n row : [2]real = fill 0.0\n => row\n}\n";
    accepts(&format!(
        "{matrix}for i < n () {{\n row : [2]real = zs[i]\n e : real = row[1]\n => \n}}"
    ));
    rejects(&format!("{matrix}row : [2]real = zs[m]"));
    rejects(&format!("{matrix}for i < n () {{\n e : real = zs[i, m]\n => \n}}"));
    rejects(&format!("{matrix}for i < n () {{\n e : real = zs[i, 2]\n => \n}}"));
    rejects(&format!("{matrix}e : real = zs[0, 0]"));
    rejects("e : real = xs[0]");
    rejects("e : real = xs[-1]");
}

#[test]
fn what_wraps_is_no_evidence() {
    // 1 ≤ m + 1 where m + 1 wraps for the greatest m
    accepts(
        "j : int = add_int m, 1\na : bool = le_int 1, j\nb : bool = lt_int j, n\ncheck a \"a\" ()\ncheck b \"b\" ()\ne : real = xs[j]",
    );
    rejects(
        "j : int = sub_int m, 1\na : bool = lt_int j, n\ncheck a \"a\" ()\nb : bool = le_int 0, m\ncheck b \"b\" ()\ne : real = xs[j]",
    );
    // neither is negative, and still their sum may be
    rejects(
        "a : bool = le_int 0, m\ncheck a \"a\" ()\nj : int = add_int m, k\nb : bool = le_int 0, k\ncheck b \"b\" ()\nc : bool = lt_int j, n\ncheck c \"c\" ()\ne : real = xs[j]",
    );
    // the product of two extents may be smaller than one of them
    rejects(
        "t : int = mul_int m, k\nys : [t]int = for q < t (collect) {\n => q\n}\nfor i < m () {\n for j < k () {\n  p : int = mul_int i, k\n  at : int = add_int p, j\n  e : int = ys[at]\n  => \n }\n => \n}",
    );
    // that of two sizes of arguments is not
    accepts(
        "t : int = mul_int n, n\nys : [t]int = for q < t (collect) {\n => q\n}\nfor i < n () {\n for j < n () {\n  p : int = mul_int i, n\n  at : int = add_int p, j\n  e : int = ys[at]\n  => \n }\n => \n}",
    );
}

#[test]
fn an_array_of_a_negative_size_has_no_elements() {
    rejects(
        "ys : [m]int = for i < m (collect) {\n => i\n}\na : bool = lt_int m, n\ncheck a \"a\" ()\ne : real = xs[m]",
    );
}

#[test]
fn an_index_that_a_loop_carries_is_in_range() {
    let search = |next: &str| {
        format!(
            "some : bool = lt_int 0, n\nif some {{\n at : int = loop (best : int = 0) for i < n {{\n  e : int = is[i]\n  c : bool = lt_int e, m\n  t : int = {next}\n  => t\n }}\n y : real = xs[at]\n => \n}} else {{\n => \n}}"
        )
    };
    accepts(&search("select_int c, i, best"));
    rejects(&search("select_int c, e, best"));
    rejects(&search("add_int i, 1"));
}

#[test]
fn the_place_of_an_extremum_is_in_range() {
    let place = |cond: &str, other: &str| {
        format!(
            "last : int = sub_int n, 1\nsome : bool = {cond}\nif some {{\n at : int = for i < n (reduce min) {{\n  e : int = is[i]\n  c : bool = lt_int e, m\n  t : int = select_int c, i, {other}\n  => t\n }}\n y : real = xs[at]\n => \n}} else {{\n => \n}}"
        )
    };
    accepts(&place("lt_int 0, n", "last"));
    // an extremum over no iterations
    rejects(&place("lt_int 0, m", "last"));
    rejects(&place("lt_int 0, n", "e"));
    rejects(&place("lt_int 0, n", "n"));
}

/// Programs at random, as text, with indices near their bounds.
struct Draw {
    random: Random,
    text: String,
    next: usize,
}

impl Draw {
    fn new(seed: u64) -> Draw {
        Draw { random: Random(seed), text: String::new(), next: 0 }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn name(&mut self) -> String {
        self.next += 1;
        format!("v{}", self.next)
    }

    fn int(&mut self, ints: &[String]) -> String {
        const LITERALS: [i64; 8] = [0, 1, 2, -1, 3, i64::MAX, i64::MIN, 1 << 62];
        if self.random.once_in(4) {
            self.random.pick(&LITERALS).to_string()
        } else {
            let recent = &ints[ints.len().saturating_sub(5)..];
            let all = if self.random.once_in(2) { recent } else { ints };
            all[self.random.below(all.len())].clone()
        }
    }

    fn block(&mut self, ints: &mut Vec<String>, depth: usize) {
        for _ in 0..2 + self.random.below(5) {
            self.statement(ints, depth);
        }
        self.access(ints);
    }

    fn cond(&mut self, ints: &[String]) -> String {
        let (a, b) = (self.int(ints), self.int(ints));
        let (c, op) = (self.name(), self.random.pick(&["lt_int", "le_int", "eq_int", "ne_int"]));
        self.line(&format!("{c} : bool = {op} {a}, {b}"));
        c
    }

    /// A condition about one index, mostly; sometimes something else.
    fn range(&mut self, ints: &[String]) -> String {
        let i = self.int(ints);
        let (a, b, c) = (self.name(), self.name(), self.name());
        let (low, size) = (self.random.pick(&["0", "1", "-1"]), self.random.pick(&["n", "m", "k"]));
        let (first, second) = (
            self.random.pick(&["le_int", "lt_int"]),
            self.random.pick(&["lt_int", "lt_int", "le_int"]),
        );
        self.line(&format!("{a} : bool = {first} {low}, {i}"));
        self.line(&format!("{b} : bool = {second} {i}, {size}"));
        let connective = self.random.pick(&["and", "and", "and", "or"]);
        self.line(&format!("{c} : bool = {connective} {a}, {b}"));
        c
    }

    fn statement(&mut self, ints: &mut Vec<String>, depth: usize) {
        match self.random.below(13) {
            0..=3 => {
                let ops = [
                    "add_int", "sub_int", "mul_int", "min_int", "max_int", "div_int", "rem_int",
                    "neg_int", "abs_int",
                ];
                let op = self.random.pick(&ops);
                let unary = matches!(op, "neg_int" | "abs_int");
                let (a, b, v) = (self.int(ints), self.int(ints), self.name());
                let args = if unary { a } else { format!("{a}, {b}") };
                self.line(&format!("{v} : int = {op} {args}"));
                ints.push(v);
            }
            4 | 5 => {
                let c = if self.random.once_in(2) { self.range(ints) } else { self.cond(ints) };
                self.line(&format!("check {c} \"checked\" ()"));
            }
            6 => self.access(ints),
            7 | 8 if depth < 3 => {
                let extent = if self.random.once_in(2) {
                    "n".to_string()
                } else {
                    let (t, v) = (self.int(ints), self.name());
                    let most = self.random.pick(&["n", "4"]);
                    self.line(&format!("{v} : int = min_int {t}, {most}"));
                    ints.push(v.clone());
                    v
                };
                let i = self.name();
                self.line(&format!("for {i} < {extent} () {{"));
                let mut inner = ints.clone();
                inner.push(i);
                self.block(&mut inner, depth + 1);
                self.line("=> \n}");
            }
            9 | 10 if depth < 3 => {
                let c = if self.random.once_in(3) { self.cond(ints) } else { self.range(ints) };
                self.line(&format!("if {c} {{"));
                self.block(&mut ints.clone(), depth + 1);
                self.line("=> \n} else {");
                self.block(&mut ints.clone(), depth + 1);
                self.line("=> \n}");
            }
            11 => {
                // An extremum of indices.
                let (v, c, t) = (self.name(), self.cond(ints), self.name());
                let extent = if self.random.once_in(2) {
                    "n".to_string()
                } else {
                    let few = self.name();
                    self.line(&format!("{few} : int = min_int m, 4"));
                    few
                };
                let (op, other) = (self.random.pick(&["min", "max"]), self.int(ints));
                self.line(&format!("{v} : int = for i{v} < {extent} (reduce {op}) {{"));
                self.line(&format!("{t} : int = select_int {c}, i{v}, {other}\n=> {t}\n}}"));
                ints.push(v);
            }
            _ => {
                let (v, i) = (self.name(), self.int(ints));
                // Guarded, so that values of arrays are among the indices.
                let t = self.name();
                self.line(&format!("{t} : bool = lt_int 0, n"));
                self.line(&format!(
                    "{v} : int = if {t} {{\n w{v} : int = is[0]\n => w{v}\n}} else {{\n => {i}\n}}"
                ));
                ints.push(v);
            }
        }
    }

    fn access(&mut self, ints: &[String]) {
        let (i, v) = (self.int(ints), self.name());
        self.line(&format!("{v} : real = xs[{i}]"));
    }
}

/// Drops the accesses that the checker rejects; counts those that it accepts.
fn accepted(f: &mut Function) -> usize {
    let mut guarded = f.clone();
    guard(&mut guarded);
    fn guards(before: &Block, after: &Block, kept: &mut usize) -> Block {
        // The guard adds statements before an access; where it adds none, the access is evident.
        let mut stms = Vec::new();
        let mut added = false;
        let mut rest = before.stms.iter().peekable();
        for stm in &after.stms {
            let own = rest
                .peek()
                .is_some_and(|s| s.binds == stm.binds && same_construct(&s.exp, &stm.exp));
            if !own {
                added = true;
                continue;
            }
            let Some(old) = rest.next() else { continue };
            let access = matches!(&stm.exp, Exp::Op(Op::Index(..)));
            if access && added {
                added = false;
                continue;
            }
            added = false;
            *kept += usize::from(access);
            let mut new = old.clone();
            let inner: Vec<Block> = old
                .exp
                .blocks()
                .iter()
                .zip(stm.exp.blocks())
                .map(|(a, b)| guards(a, b, kept))
                .collect();
            new.exp.blocks_mut().into_iter().zip(inner).for_each(|(b, inner)| *b = inner);
            stms.push(new);
        }
        Block { stms, results: before.results.clone() }
    }
    let mut kept = 0;
    f.body = guards(&f.body, &guarded.body, &mut kept);
    kept
}

fn same_construct(a: &Exp, b: &Exp) -> bool {
    match (a, b) {
        (Exp::Op(Op::Check { site: s, .. }), Exp::Op(Op::Check { site: t, .. })) => s == t,
        (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}

#[test]
fn what_is_accepted_at_random_is_never_out_of_range() {
    let (mut evident, mut ran) = (0, 0);
    for seed in 0..2500 {
        let mut draw = Draw::new(seed);
        draw.block(&mut vec!["n".into(), "m".into(), "k".into()], 0);
        let mut f = parsed(&body(&draw.text));
        // An access that was evident by the guard of a dropped access is dropped next.
        let mut kept = accepted(&mut f);
        while check(&f).is_err() {
            let less = accepted(&mut f);
            assert!(less < kept, "{}", print(&f));
            kept = less;
        }
        evident += kept;
        for (len, m, k) in [
            (0, 0, 0),
            (1, 0, 1),
            (3, 2, -1),
            (4, 4, 3),
            (2, i64::MAX, 1),
            (5, i64::MIN, i64::MAX),
            (3, -1, 1 << 62),
        ] {
            let args = [
                Tensor::reals(vec![len], vec![1.0; len]),
                Tensor { dims: vec![len], data: Data::Int(vec![k; len]) },
                Tensor::scalar(Scalar::Int(m)),
                Tensor::scalar(Scalar::Int(k)),
            ];
            match eval(&f, &args) {
                Ok(_) => ran += 1,
                Err(failure) => assert_eq!(failure.message, "checked", "{}", print(&f)),
            }
        }
    }
    assert!(evident > 1000 && ran > 1000, "{evident} accesses, {ran} runs");
}

/// Without its k-th check, counted through all blocks.
fn without_check(block: &mut Block, k: &mut usize) {
    block.stms.retain(|stm| {
        let check = matches!(stm.exp, Exp::Op(Op::Check { .. }));
        let gone = check && *k == 0;
        *k = if check { k.wrapping_sub(1) } else { *k };
        !gone
    });
    block.stms.iter_mut().flat_map(|s| s.exp.blocks_mut()).for_each(|b| without_check(b, k));
}

#[test]
fn a_check_that_is_removed_is_missed_or_was_not_needed() {
    let mut verdicts: HashMap<bool, usize> = HashMap::new();
    for seed in 0..250 {
        let (f, args) = generate(seed);
        check(&f).unwrap_or_else(|message| panic!("{message}\n{}", print(&f)));
        for k in 0..12 {
            let (mut mutant, mut left) = (f.clone(), k);
            without_check(&mut mutant.body, &mut left);
            if mutant.body == f.body {
                break;
            }
            let accepted = check(&mutant).is_ok();
            *verdicts.entry(accepted).or_default() += 1;
            if accepted && let Err(failure) = eval(&mutant, &args) {
                assert!(
                    !failure.message.starts_with("internal"),
                    "{}\n{}",
                    failure.message,
                    print(&mutant)
                );
            }
        }
    }
    assert!(verdicts[&false] > 50, "{verdicts:?}");
}
