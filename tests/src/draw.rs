//! Well-typed programs drawn at random: higher-order code, arrays, tuples, records, variants, loops
//! and branches, in Lambada's own syntax, so that the front end is tested too. A seed always gives
//! the same program.
//!
//! The definition is
//! `def f (x : real) (y : real) (xs : [3]real) (m : [2][3]real) (is : [2]int) (c : int) = e` for an
//! `e` of a random first-order type, or in most programs the same with sizes `n` and `k` that are
//! known at run time, 0 among them. Everything is smooth or has kinks that random points miss, and
//! stays of moderate size: products pass through `tanh` or `sin` before they can grow. Some indices
//! and slices are out of range, so some programs fail.

mod arrays;
mod case;
mod derived;
mod features;
mod guessed;
mod neighbors;
mod recursive;
mod ruled;
mod wild;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use lambada_testkit::Random;

pub use case::{canonical, case, case_with, of_nothing};
pub use features::Feature;
pub use neighbors::{Neighbors, neighbors};

/// A type of the fragment that is drawn.
#[derive(Clone, Debug, PartialEq)]
enum Ty {
    Real,
    Int,
    Bool,
    Ints,
    Vec(usize),
    Mat(usize, usize),
    Pair(Box<Ty>, Box<Ty>),
    Record,
    Shape,
    List,
    Fun(Box<Ty>, Box<Ty>),
}

/// A program with the JSON arguments of its definition `f`.
pub struct Drawn {
    /// The text.
    pub text: String,
    /// One JSON text per parameter.
    pub args: Vec<String>,
    /// The features that it exercises.
    pub features: BTreeSet<Feature>,
}

const HEADER: &str = "type shape = Dot | Circle real | Rect real [4]real\n";

/// In the names of types: the size of `xs` and of the rows of `m`; 3 where sizes are constants.
const N: usize = 3;
/// The number of rows of `m` and of indices; 2 where sizes are constants.
const K: usize = 2;
/// A size that is always a constant.
const FOUR: usize = 4;

/// One program in this many may have functions with rules.
const RULES: u64 = 4;

/// One program in this many has mostly guessed forms.
const GUESSES: u64 = 3;

/// The program of a seed.
pub fn draw(seed: u64) -> Drawn {
    program(seed, false)
}

/// The program of a seed, with all operators of differentiation, nested, and with more indices out
/// of range.
pub fn draw_wild(seed: u64) -> Drawn {
    program(seed, true)
}

fn program(seed: u64, wild: bool) -> Drawn {
    let mut random = Random(Random(seed).bits());
    let symbolic = !random.once_in(3);
    let recursions = if random.once_in(2) { 0 } else { recursive::MOST };
    let (rules, guesses) = (seed.is_multiple_of(RULES), seed.is_multiple_of(GUESSES));
    let features = BTreeSet::new();
    let mut d = Draw { random, next: 0, symbolic, wild, rules, guesses, recursions, features };
    let params = [
        ("x", Ty::Real),
        ("y", Ty::Real),
        ("xs", Ty::Vec(N)),
        ("m", Ty::Mat(K, N)),
        ("is", Ty::Ints),
        ("c", Ty::Int),
    ];
    let mut scope: Vec<(String, Ty)> =
        params.iter().map(|(n, t)| (n.to_string(), t.clone())).collect();
    let result = d.result_type();
    let size = 3 + d.random.below(4);
    let body = d.expr(&result, size, &mut scope);
    let mut text = String::from(HEADER);
    if d.features.contains(&Feature::Fields) {
        text.push_str(guessed::TYPES);
    }
    if d.features.contains(&Feature::RecursiveData) {
        text.push_str(recursive::TYPES);
    }
    text.push('\n');
    let (sizes, n, k) = if symbolic { (" [n] [k]", "n", "k") } else { ("", "3", "2") };
    let _ = writeln!(
        text,
        "def f{sizes} (x : real) (y : real) (xs : [{n}]real) (m : [{k}][{n}]real) (is : [{k}]int) (c : int) =\n  {body}"
    );
    let (n, k) = if symbolic {
        d.features.insert(Feature::SymbolicSizes);
        // The evaluator of core does not know how long the rows of a matrix are that has none, so
        // there is one at least.
        (d.random.pick(&[0, 1, 2, 3, 3, 4, 5]), d.random.pick(&[1, 1, 2, 2, 3]))
    } else {
        (3, 2)
    };
    if n == 0 || k == 0 {
        d.features.insert(Feature::Empty);
    }
    let random = &mut d.random;
    let real = |random: &mut Random| format!("{:.3}", random.between(-1.5, 1.5));
    let row = |random: &mut Random| list(n, &mut || real(random));
    // Nearly always in range of an array of n.
    let index = |random: &mut Random| {
        let past = usize::from(n == 0 || random.once_in(12));
        random.below(n + past).to_string()
    };
    let args = vec![
        real(random),
        real(random),
        row(random),
        list(k, &mut || row(random)),
        list(k, &mut || index(random)),
        random.below(4).to_string(),
    ];
    Drawn { text, args, features: d.features }
}

fn list(n: usize, item: &mut dyn FnMut() -> String) -> String {
    format!("[{}]", (0..n).map(|_| item()).collect::<Vec<_>>().join(", "))
}

struct Draw {
    random: Random,
    next: usize,
    /// Whether sizes are known at run time only.
    symbolic: bool,
    /// Whether all forms are drawn.
    wild: bool,
    /// Whether it has functions with rules, where it is not wild.
    rules: bool,
    /// Whether reals are mostly of guessed forms.
    guesses: bool,
    /// How many recursive functions it has.
    recursions: usize,
    features: BTreeSet<Feature>,
}

impl Draw {
    fn fresh(&mut self, hint: &str) -> String {
        self.next += 1;
        format!("{hint}{}", self.next)
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        self.random.pick(items)
    }

    fn has(&mut self, feature: Feature) {
        self.features.insert(feature);
    }

    /// A size as it is written.
    fn size(&self, size: usize) -> &'static str {
        match (size, self.symbolic) {
            (N, true) => "n",
            (K, true) => "k",
            (N, false) => "3",
            (K, false) => "2",
            _ => "4",
        }
    }

    /// An index of an array of this size; now and then any number.
    fn index(&mut self, size: usize, scope: &mut Vec<(String, Ty)>) -> String {
        let index = self.leaf(&Ty::Int, scope);
        if self.random.once_in(6) {
            self.has(Feature::MayFail);
            return not_evident(&index, "c");
        }
        if self.symbolic && size != FOUR {
            self.has(Feature::MayFail); // there may be no element at all
        }
        format!("abs {index} % {}", self.size(size))
    }

    fn result_type(&mut self) -> Ty {
        match self.random.below(11) {
            0..=4 => Ty::Real,
            5 => Ty::Vec(N),
            6 => Ty::Mat(K, N),
            7 => Ty::Pair(Box::new(Ty::Real), Box::new(Ty::Vec(N))),
            8 => Ty::Record,
            9 => Ty::Pair(Box::new(Ty::Shape), Box::new(Ty::Real)),
            _ => Ty::Pair(Box::new(Ty::Real), Box::new(Ty::List)),
        }
    }

    fn print(&self, ty: &Ty) -> String {
        match ty {
            Ty::Real => "real".into(),
            Ty::Int => "int".into(),
            Ty::Bool => "bool".into(),
            Ty::Ints => format!("[{}]int", self.size(K)),
            Ty::Vec(n) => format!("[{}]real", self.size(*n)),
            Ty::Mat(n, m) => format!("[{}][{}]real", self.size(*n), self.size(*m)),
            Ty::Pair(a, b) => format!("({}, {})", self.print(a), self.print(b)),
            Ty::Record => format!("{{a : real, v : [{}]real}}", self.size(N)),
            Ty::Shape => "shape".into(),
            Ty::List => "list".into(),
            Ty::Fun(a, b) => format!("({} -> {})", self.print(a), self.print(b)),
        }
    }

    fn variable(&mut self, ty: &Ty, scope: &[(String, Ty)]) -> Option<String> {
        let fitting: Vec<&String> = scope.iter().filter(|(_, t)| t == ty).map(|(n, _)| n).collect();
        if fitting.is_empty() {
            None
        } else {
            Some(fitting[self.random.below(fitting.len())].clone())
        }
    }

    /// An expression that can stand anywhere: parenthesized unless it is a name or a literal.
    fn expr(&mut self, ty: &Ty, size: usize, scope: &mut Vec<(String, Ty)>) -> String {
        if size == 0 {
            return self.leaf(ty, scope);
        }
        match self.random.below(16) {
            14 if !matches!(ty, Ty::Fun(..)) => self.checked(ty, size, scope),
            15 if guessed::is_vector_space(ty) => self.linear(ty, size, scope),
            0 | 1 => self.let_(ty, size, scope),
            2 => self.if_(ty, size, scope),
            3 => self.apply(ty, size, scope),
            4 if !matches!(ty, Ty::Fun(..)) => self.loop_(ty, size, scope),
            5 => self.match_(ty, size, scope),
            6 => self.project(ty, size, scope),
            7 | 8 if self.may_recur() && !matches!(ty, Ty::Fun(..)) => {
                self.recursion(ty, size, scope)
            }
            _ => self.build(ty, size, scope),
        }
    }

    fn leaf(&mut self, ty: &Ty, scope: &mut Vec<(String, Ty)>) -> String {
        if let Some(x) = self.variable(ty, scope)
            && self.random.below(8) > 0
        {
            return x;
        }
        match ty {
            Ty::Real => format!("{:.2}", self.random.between(0.0, 1.0) + 0.1),
            Ty::Int => self.random.below(4).to_string(),
            Ty::Bool => self.pick(&["true", "false"]).into(),
            _ => self.build(ty, 0, scope),
        }
    }

    fn let_(&mut self, ty: &Ty, size: usize, scope: &mut Vec<(String, Ty)>) -> String {
        let bound = self.some_type(2);
        if matches!(bound, Ty::Fun(..)) {
            self.features.insert(Feature::HigherOrder);
        }
        let value = self.expr(&bound, size - 1, scope);
        let name = self.fresh("v");
        scope.push((name.clone(), bound));
        let body = self.expr(ty, size - 1, scope);
        scope.pop();
        format!("(let {name} = {value} in {body})")
    }

    fn if_(&mut self, ty: &Ty, size: usize, scope: &mut Vec<(String, Ty)>) -> String {
        self.features.insert(Feature::Branches);
        if matches!(ty, Ty::Fun(..)) {
            self.features.insert(Feature::HigherOrder);
        }
        let c = self.expr(&Ty::Bool, size - 1, scope);
        let (a, b) = (self.expr(ty, size - 1, scope), self.expr(ty, size - 1, scope));
        format!("(if {c} then {a} else {b})")
    }

    fn apply(&mut self, ty: &Ty, size: usize, scope: &mut Vec<(String, Ty)>) -> String {
        self.features.insert(Feature::HigherOrder);
        let from = self.some_type(1);
        let f = self.expr(&Ty::Fun(Box::new(from.clone()), Box::new(ty.clone())), size - 1, scope);
        let x = self.expr(&from, size - 1, scope);
        if self.random.below(3) == 0 { format!("({x} |> {f})") } else { format!("({f} {x})") }
    }

    fn loop_(&mut self, ty: &Ty, size: usize, scope: &mut Vec<(String, Ty)>) -> String {
        if self.random.once_in(3) {
            return self.while_(ty, size, scope);
        }
        self.has(Feature::Loops);
        let (state, i) = (self.fresh("s"), self.fresh("i"));
        let init = self.expr(ty, size - 1, scope);
        let trips = self.pick(&["c", "2", "3", "length xs", "length is"]);
        scope.push((state.clone(), ty.clone()));
        scope.push((i.clone(), Ty::Int));
        let body = match ty {
            Ty::Vec(n) if self.random.below(2) == 0 => {
                self.has(Feature::UpdateInLoop);
                let (at, value) = (self.index(*n, scope), self.expr(&Ty::Real, size - 1, scope));
                format!("({state} with [{at}] = {value})")
            }
            _ => self.expr(ty, size - 1, scope),
        };
        scope.truncate(scope.len() - 2);
        let policy = self.checkpoint();
        let ty = self.print(ty);
        format!("(loop {state} : {ty} = {init} for {i} < {trips}{policy} do {body})")
    }

    /// The checkpoint policy of one loop in every other program: code for several nested ones would
    /// be very long. The last number may be too small.
    fn checkpoint(&mut self) -> String {
        if self.features.contains(&Feature::Checkpoints) {
            return String::new();
        }
        let policy = ["sqrt", "1", "2", "(length is)"].get(self.next % 8);
        policy.iter().for_each(|_| self.has(Feature::Checkpoints));
        policy.map_or(String::new(), |policy| format!(" checkpoint {policy}"))
    }

    /// A `while` with a counter, so that it ends, and perhaps another condition.
    fn while_(&mut self, ty: &Ty, size: usize, scope: &mut Vec<(String, Ty)>) -> String {
        self.has(Feature::While);
        let (state, i) = (self.fresh("s"), self.fresh("i"));
        let init = self.expr(ty, size - 1, scope);
        let trips = self.pick(&["c", "3", "length xs"]);
        scope.push((state.clone(), ty.clone()));
        scope.push((i.clone(), Ty::Int));
        let more = if self.random.below(2) == 0 {
            format!(" && {}", self.condition(0, scope))
        } else {
            String::new()
        };
        let body = self.expr(ty, size - 1, scope);
        scope.truncate(scope.len() - 2);
        format!(
            "((loop ({state}, {i}) = ({init}, 0) while {i} < {trips}{more} do ({body}, {i} + 1)).0)"
        )
    }

    fn match_(&mut self, ty: &Ty, size: usize, scope: &mut Vec<(String, Ty)>) -> String {
        self.features.insert(Feature::Variants);
        if self.random.once_in(2) {
            return self.match_guessed(ty, size, scope);
        }
        let scrutinee = self.expr(&Ty::Shape, size - 1, scope);
        let dot = self.expr(ty, size - 1, scope);
        let (r, w, v) = (self.fresh("r"), self.fresh("w"), self.fresh("v"));
        scope.push((r.clone(), Ty::Real));
        let circle = self.expr(ty, size - 1, scope);
        scope.pop();
        scope.push((w.clone(), Ty::Real));
        scope.push((v.clone(), Ty::Vec(FOUR)));
        let rect = self.expr(ty, size - 1, scope);
        scope.truncate(scope.len() - 2);
        format!(
            "(match {scrutinee} | Dot -> {dot} | Circle {r} -> {circle} | Rect {w} {v} -> {rect})"
        )
    }

    fn project(&mut self, ty: &Ty, size: usize, scope: &mut Vec<(String, Ty)>) -> String {
        let other = self.some_type(1);
        let (a, b) = (self.expr(ty, size - 1, scope), self.expr(&other, size - 1, scope));
        let (p, q) = (self.fresh("p"), self.fresh("q"));
        if matches!(ty, Ty::Fun(..)) || matches!(other, Ty::Fun(..)) {
            self.features.insert(Feature::HigherOrder);
        }
        if self.random.below(2) == 0 {
            format!("(let ({p}, {q}) = ({a}, {b}) in {p})")
        } else {
            format!("(({b}, {a}).1)")
        }
    }

    fn some_type(&mut self, functions: usize) -> Ty {
        match self.random.below(10 + functions * 2) {
            0..=2 => Ty::Real,
            3 => Ty::Int,
            4 => Ty::Vec(N),
            5 => Ty::Mat(K, N),
            6 => Ty::Pair(Box::new(Ty::Real), Box::new(Ty::Real)),
            7 => Ty::Record,
            8 => Ty::Shape,
            9 => Ty::List,
            10 => Ty::Fun(Box::new(Ty::Real), Box::new(Ty::Real)),
            11 => Ty::Fun(Box::new(Ty::Vec(N)), Box::new(Ty::Real)),
            12 => Ty::Fun(
                Box::new(Ty::Fun(Box::new(Ty::Real), Box::new(Ty::Real))),
                Box::new(Ty::Real),
            ),
            _ => Ty::Fun(
                Box::new(Ty::Real),
                Box::new(Ty::Fun(Box::new(Ty::Real), Box::new(Ty::Real))),
            ),
        }
    }

    /// The introduction forms of a type, and operations that give it.
    fn build(&mut self, ty: &Ty, size: usize, scope: &mut Vec<(String, Ty)>) -> String {
        let smaller = size.saturating_sub(1);
        match ty {
            Ty::Real => self.real(smaller, scope),
            Ty::Int => {
                let (a, b) = (self.leaf(&Ty::Int, scope), self.leaf(&Ty::Int, scope));
                if self.random.once_in(3) {
                    return self.quotient(&a, &b);
                }
                let op = self.pick(&["+", "*", "-"]);
                format!("({a} {op} {b})")
            }
            Ty::Bool => self.condition(smaller, scope),
            Ty::Ints => {
                let i = self.fresh("i");
                scope.push((i.clone(), Ty::Int));
                let body = self.index(N, scope);
                scope.pop();
                format!("(for {i} < {} => {body})", self.size(K))
            }
            Ty::Vec(n) => self.vector(*n, smaller, scope),
            Ty::Mat(n, m) => self.matrix(*n, *m, smaller, scope),
            Ty::Pair(a, b) => {
                format!("({}, {})", self.expr(a, smaller, scope), self.expr(b, smaller, scope))
            }
            Ty::Record => {
                let (a, v) =
                    (self.expr(&Ty::Real, smaller, scope), self.expr(&Ty::Vec(N), smaller, scope));
                if self.random.below(3) == 0 {
                    format!("{{{{a = {a}, v = xs}} with v = {v}}}")
                } else {
                    format!("{{v = {v}, a = {a}}}")
                }
            }
            Ty::Shape => match self.random.below(3) {
                0 => "Dot".into(),
                1 => format!("(Circle {})", self.expr(&Ty::Real, smaller, scope)),
                _ => format!(
                    "(Rect {} {})",
                    self.expr(&Ty::Real, smaller, scope),
                    self.expr(&Ty::Vec(FOUR), smaller, scope)
                ),
            },
            Ty::List => self.list(smaller, scope),
            Ty::Fun(a, b) => self.function(a, b, smaller, scope),
        }
    }

    fn function(
        &mut self,
        from: &Ty,
        to: &Ty,
        size: usize,
        scope: &mut Vec<(String, Ty)>,
    ) -> String {
        self.features.insert(Feature::HigherOrder);
        if from == to && size > 0 && self.random.below(3) == 0 {
            let same = Ty::Fun(Box::new(from.clone()), Box::new(to.clone()));
            let (f, g) = (self.expr(&same, size - 1, scope), self.expr(&same, size - 1, scope));
            return format!("({f} >> {g})");
        }
        if *from == Ty::Real && *to == Ty::Real && self.random.below(4) == 0 {
            return self.pick(&["sin", "tanh", "(0.5 *)", "(* x)", "(+ 0.3)"]).into();
        }
        let x = self.fresh("a");
        scope.push((x.clone(), from.clone()));
        let body = self.expr(to, size, scope);
        scope.pop();
        format!("(\\({x} : {}) -> {body})", self.print(from))
    }

    fn condition(&mut self, size: usize, scope: &mut Vec<(String, Ty)>) -> String {
        match self.random.below(5) {
            4 => self.equation(scope),
            0 => format!("({} < {})", self.leaf(&Ty::Int, scope), self.leaf(&Ty::Int, scope)),
            1 => format!("(not {} || {})", self.leaf(&Ty::Bool, scope), self.condition(0, scope)),
            _ => {
                let op = self.pick(&["<", ">", "<=", ">="]);
                format!(
                    "({} {op} {})",
                    self.expr(&Ty::Real, size, scope),
                    self.leaf(&Ty::Real, scope)
                )
            }
        }
    }

    fn real(&mut self, size: usize, scope: &mut Vec<(String, Ty)>) -> String {
        let (derived, guessed) = (derived::FORMS, guessed::REALS);
        let forms = if self.wild { 20 + wild::FORMS } else { 19 + usize::from(self.rules) };
        let all = forms + derived.len();
        if self.guesses && self.random.once_in(2) {
            return self.pick(&guessed)(self, size, scope);
        }
        match self.random.below(all + guessed.len()) {
            form if form >= all => guessed[form - all](self, size, scope),
            form if form >= forms => self.derived(derived[form - forms], size, scope),
            form @ 20.. => self.wild(form - 20, size, scope),
            19 => self.ruled(size, scope),
            0 | 1 => format!(
                "({} + {})",
                self.expr(&Ty::Real, size, scope),
                self.expr(&Ty::Real, size, scope)
            ),
            2 => format!(
                "({} - {})",
                self.expr(&Ty::Real, size, scope),
                self.expr(&Ty::Real, size, scope)
            ),
            3 => format!(
                "(tanh {} * {})",
                self.expr(&Ty::Real, size, scope),
                self.expr(&Ty::Real, size, scope)
            ),
            4 => format!("(sin {})", self.expr(&Ty::Real, size, scope)),
            5 => format!("(exp (-({} ** 2)))", self.expr(&Ty::Real, size, scope)),
            6 => format!("(log (1 + {} ** 2))", self.expr(&Ty::Real, size, scope)),
            7 => format!(
                "({} / (1.5 + cos {}))",
                self.expr(&Ty::Real, size, scope),
                self.expr(&Ty::Real, size, scope)
            ),
            8 => format!(
                "(max {} {})",
                self.expr(&Ty::Real, size, scope),
                self.leaf(&Ty::Real, scope)
            ),
            9 => {
                self.features.insert(Feature::Arrays);
                let op = self.pick(&["sum", "maximum", "minimum", "mean", "logsumexp"]);
                format!("({op} {})", self.expr(&Ty::Vec(N), size, scope))
            }
            10 => {
                self.features.insert(Feature::Arrays);
                format!(
                    "(dot {} {})",
                    self.expr(&Ty::Vec(N), size, scope),
                    self.leaf(&Ty::Vec(N), scope)
                )
            }
            11 => {
                self.features.insert(Feature::Arrays);
                let (v, i) = (self.expr(&Ty::Vec(N), size, scope), self.index(N, scope));
                format!("(({v})[{i}])")
            }
            12 => {
                self.features.insert(Feature::Arrays);
                self.features.insert(Feature::HigherOrder);
                let f = self.expr(
                    &Ty::Fun(
                        Box::new(Ty::Real),
                        Box::new(Ty::Fun(Box::new(Ty::Real), Box::new(Ty::Real))),
                    ),
                    size,
                    scope,
                );
                format!(
                    "(fold (\\acc e -> tanh (acc + {f} acc e)) {} {})",
                    self.leaf(&Ty::Real, scope),
                    self.leaf(&Ty::Vec(N), scope)
                )
            }
            13 => format!("(sqrt (1 + {} ** 2))", self.expr(&Ty::Real, size, scope)),
            14 => {
                self.has(Feature::Slices);
                let v = self.expr(&Ty::Vec(N), size, scope);
                let (a, b) = (self.leaf(&Ty::Int, scope), self.leaf(&Ty::Int, scope));
                let slice = match self.random.below(4) {
                    0 => format!("min (abs {a}) (length xs):"),
                    1 => format!(":min (abs {b}) (length xs)"),
                    2 => "1:".to_string(),
                    _ => format!("{}:{}", not_evident(&a, "c"), not_evident(&b, "c * c")),
                };
                self.has(Feature::MayFail);
                format!("(sum (({v})[{slice}]))")
            }
            15 => {
                self.has(Feature::ComputedSizes);
                let (v, bound) = (self.expr(&Ty::Vec(N), size, scope), self.leaf(&Ty::Real, scope));
                format!("(sum (filter (\\e -> e > {bound}) {v}))")
            }
            16 => {
                self.has(Feature::Derivatives);
                let z = self.fresh("z");
                scope.push((z.clone(), Ty::Real));
                let body = self.expr(&Ty::Real, size, scope);
                scope.pop();
                format!("(tanh (grad (\\({z} : real) -> {body}) {}))", self.leaf(&Ty::Real, scope))
            }
            17 if self.random.once_in(2) => {
                // More reads than elements: costly functions of elements come from tables.
                self.has(Feature::Gathers);
                let (v, k) = (self.expr(&Ty::Vec(FOUR), size, scope), self.leaf(&Ty::Int, scope));
                let (t, q) = (self.fresh("t"), self.fresh("q"));
                let e = format!("{t}[({q} * {q} + abs {k}) % 4]");
                let f = self.pick(&["exp (-(E * E)) + E", "log (1 + E * E)", "c / (2 + E * E)"]);
                let c = self.leaf(&Ty::Real, scope);
                let f = f.replace('c', &c).replace('E', &e);
                format!("(let {t} = {v} in sum (for {q} < 19 => {f} * sin (0.3 * {q})))")
            }
            17 => {
                self.has(Feature::Gathers);
                let (v, is) = (self.expr(&Ty::Vec(N), size, scope), self.leaf(&Ty::Ints, scope));
                let (i, taken) = (self.fresh("i"), self.fresh("t"));
                self.has(Feature::MayFail);
                format!("(let {taken} = {v} in sum (for {i} in {is} => {taken}[{i}] ** 2))")
            }
            _ => format!("(0.1 * real {})", self.leaf(&Ty::Int, scope)),
        }
    }
}

/// An integer that may be out of range without the compiler knowing: it would refuse a constant,
/// and a slice of two constants or of two bounds whose difference it knows. `one` is an expression
/// whose value is 1 where `c` is 1.
fn not_evident(index: &str, one: &str) -> String {
    match index {
        "c" => one.to_string(),
        _ if index.parse::<usize>().is_ok() => format!("{one} + {index} - 1"),
        _ => index.to_string(),
    }
}
