//! Well-typed programs drawn at random: higher-order code, arrays, tuples, records, variants, loops and branches, in Lambada's own syntax, so
//! that the front end is tested too. A seed always gives the same program.
//!
//! The definition is `def f (x : real) (y : real) (xs : [3]real) (m : [2][3]real) (n : int) : T = e` for a random first-order `T`. Everything is
//! smooth or has kinks that random points miss, and stays of moderate size: products pass through `tanh` or `sin` before they can grow.

use std::fmt::Write as _;

use crate::vectors::Numbers;

/// A type of the fragment that is drawn.
#[derive(Clone, Debug, PartialEq)]
enum Ty {
    Real,
    Int,
    Bool,
    Vec(usize),
    Mat(usize, usize),
    Pair(Box<Ty>, Box<Ty>),
    Record,
    Shape,
    Fun(Box<Ty>, Box<Ty>),
}

/// How often each construct that matters was drawn.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// Functions as arguments, results, captured or in data.
    pub higher_order: usize,
    /// `for`, indexing, updates, reductions.
    pub arrays: usize,
    /// `match`.
    pub variants: usize,
    /// `loop`.
    pub loops: usize,
    /// `if`.
    pub branches: usize,
}

/// A program with the JSON arguments of its definition `f`.
pub struct Drawn {
    /// The text.
    pub text: String,
    /// One JSON text per parameter.
    pub args: Vec<String>,
    /// What it exercises.
    pub coverage: Coverage,
}

const HEADER: &str = "type shape = Dot | Circle real | Rect real [3]real\n\n";

/// The program of a seed.
pub fn draw(seed: u64) -> Drawn {
    let mut d = Draw { numbers: Numbers::new(seed), next: 0, coverage: Coverage::default() };
    let params = [
        ("x", Ty::Real),
        ("y", Ty::Real),
        ("xs", Ty::Vec(3)),
        ("m", Ty::Mat(2, 3)),
        ("n", Ty::Int),
    ];
    let mut scope: Vec<(String, Ty)> =
        params.iter().map(|(n, t)| (n.to_string(), t.clone())).collect();
    let result = d.result_type();
    let size = 3 + d.numbers.below(4);
    let body = d.expr(&result, size, &mut scope);
    let mut text = String::from(HEADER);
    let _ = writeln!(
        text,
        "def f (x : real) (y : real) (xs : [3]real) (m : [2][3]real) (n : int) =\n  {body}"
    );
    let mut real = || format!("{:.3}", d.numbers.real() * 1.5);
    let args = vec![
        real(),
        real(),
        list(3, &mut real),
        list(2, &mut || list(3, &mut real)),
        "2".to_string(),
    ];
    Drawn { text, args, coverage: d.coverage }
}

fn list(n: usize, item: &mut dyn FnMut() -> String) -> String {
    format!("[{}]", (0..n).map(|_| item()).collect::<Vec<_>>().join(", "))
}

struct Draw {
    numbers: Numbers,
    next: usize,
    coverage: Coverage,
}

impl Draw {
    fn fresh(&mut self, hint: &str) -> String {
        self.next += 1;
        format!("{hint}{}", self.next)
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.numbers.below(items.len())].clone()
    }

    fn result_type(&mut self) -> Ty {
        match self.numbers.below(10) {
            0..=4 => Ty::Real,
            5 => Ty::Vec(3),
            6 => Ty::Mat(2, 3),
            7 => Ty::Pair(Box::new(Ty::Real), Box::new(Ty::Vec(3))),
            8 => Ty::Record,
            _ => Ty::Pair(Box::new(Ty::Shape), Box::new(Ty::Real)),
        }
    }

    fn print(ty: &Ty) -> String {
        match ty {
            Ty::Real => "real".into(),
            Ty::Int => "int".into(),
            Ty::Bool => "bool".into(),
            Ty::Vec(n) => format!("[{n}]real"),
            Ty::Mat(n, m) => format!("[{n}][{m}]real"),
            Ty::Pair(a, b) => format!("({}, {})", Self::print(a), Self::print(b)),
            Ty::Record => "{a : real, v : [3]real}".into(),
            Ty::Shape => "shape".into(),
            Ty::Fun(a, b) => format!("({} -> {})", Self::print(a), Self::print(b)),
        }
    }

    fn variable(&mut self, ty: &Ty, scope: &[(String, Ty)]) -> Option<String> {
        let fitting: Vec<&String> = scope.iter().filter(|(_, t)| t == ty).map(|(n, _)| n).collect();
        if fitting.is_empty() {
            None
        } else {
            Some(fitting[self.numbers.below(fitting.len())].clone())
        }
    }

    /// An expression that can stand anywhere: parenthesized unless it is a name or a literal.
    fn expr(&mut self, ty: &Ty, size: usize, scope: &mut Vec<(String, Ty)>) -> String {
        if size == 0 {
            return self.leaf(ty, scope);
        }
        match self.numbers.below(12) {
            0 | 1 => self.let_(ty, size, scope),
            2 => self.if_(ty, size, scope),
            3 => self.apply(ty, size, scope),
            4 if !matches!(ty, Ty::Fun(..)) => self.loop_(ty, size, scope),
            5 => self.match_(ty, size, scope),
            6 => self.project(ty, size, scope),
            _ => self.build(ty, size, scope),
        }
    }

    fn leaf(&mut self, ty: &Ty, scope: &mut Vec<(String, Ty)>) -> String {
        if let Some(x) = self.variable(ty, scope)
            && self.numbers.below(8) > 0
        {
            return x;
        }
        match ty {
            Ty::Real => format!("{:.2}", self.numbers.real().abs() + 0.1),
            Ty::Int => self.numbers.below(4).to_string(),
            Ty::Bool => self.pick(&["true", "false"]).into(),
            _ => self.build(ty, 0, scope),
        }
    }

    fn let_(&mut self, ty: &Ty, size: usize, scope: &mut Vec<(String, Ty)>) -> String {
        let bound = self.some_type(2);
        if matches!(bound, Ty::Fun(..)) {
            self.coverage.higher_order += 1;
        }
        let value = self.expr(&bound, size - 1, scope);
        let name = self.fresh("v");
        scope.push((name.clone(), bound));
        let body = self.expr(ty, size - 1, scope);
        scope.pop();
        format!("(let {name} = {value} in {body})")
    }

    fn if_(&mut self, ty: &Ty, size: usize, scope: &mut Vec<(String, Ty)>) -> String {
        self.coverage.branches += 1;
        if matches!(ty, Ty::Fun(..)) {
            self.coverage.higher_order += 1;
        }
        let c = self.expr(&Ty::Bool, size - 1, scope);
        let (a, b) = (self.expr(ty, size - 1, scope), self.expr(ty, size - 1, scope));
        format!("(if {c} then {a} else {b})")
    }

    fn apply(&mut self, ty: &Ty, size: usize, scope: &mut Vec<(String, Ty)>) -> String {
        self.coverage.higher_order += 1;
        let from = self.some_type(1);
        let f = self.expr(&Ty::Fun(Box::new(from.clone()), Box::new(ty.clone())), size - 1, scope);
        let x = self.expr(&from, size - 1, scope);
        if self.numbers.below(3) == 0 { format!("({x} |> {f})") } else { format!("({f} {x})") }
    }

    fn loop_(&mut self, ty: &Ty, size: usize, scope: &mut Vec<(String, Ty)>) -> String {
        self.coverage.loops += 1;
        let (state, i) = (self.fresh("s"), self.fresh("i"));
        let init = self.expr(ty, size - 1, scope);
        let trips = self.pick(&["n", "2", "3", "length xs"]);
        scope.push((state.clone(), ty.clone()));
        scope.push((i.clone(), Ty::Int));
        let body = self.expr(ty, size - 1, scope);
        scope.truncate(scope.len() - 2);
        format!("(loop {state} : {} = {init} for {i} < {trips} do {body})", Self::print(ty))
    }

    fn match_(&mut self, ty: &Ty, size: usize, scope: &mut Vec<(String, Ty)>) -> String {
        self.coverage.variants += 1;
        let scrutinee = self.expr(&Ty::Shape, size - 1, scope);
        let dot = self.expr(ty, size - 1, scope);
        let (r, w, v) = (self.fresh("r"), self.fresh("w"), self.fresh("v"));
        scope.push((r.clone(), Ty::Real));
        let circle = self.expr(ty, size - 1, scope);
        scope.pop();
        scope.push((w.clone(), Ty::Real));
        scope.push((v.clone(), Ty::Vec(3)));
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
            self.coverage.higher_order += 1;
        }
        if self.numbers.below(2) == 0 {
            format!("(let ({p}, {q}) = ({a}, {b}) in {p})")
        } else {
            format!("(({b}, {a}).1)")
        }
    }

    fn some_type(&mut self, functions: usize) -> Ty {
        match self.numbers.below(9 + functions * 2) {
            0..=2 => Ty::Real,
            3 => Ty::Int,
            4 => Ty::Vec(3),
            5 => Ty::Mat(2, 3),
            6 => Ty::Pair(Box::new(Ty::Real), Box::new(Ty::Real)),
            7 => Ty::Record,
            8 => Ty::Shape,
            9 => Ty::Fun(Box::new(Ty::Real), Box::new(Ty::Real)),
            10 => Ty::Fun(Box::new(Ty::Vec(3)), Box::new(Ty::Real)),
            11 => Ty::Fun(
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
                let op = self.pick(&["+", "*", "-"]);
                format!("({a} {op} {b})")
            }
            Ty::Bool => self.condition(smaller, scope),
            Ty::Vec(n) => self.vector(*n, smaller, scope),
            Ty::Mat(n, m) => self.matrix(*n, *m, smaller, scope),
            Ty::Pair(a, b) => {
                format!("({}, {})", self.expr(a, smaller, scope), self.expr(b, smaller, scope))
            }
            Ty::Record => {
                let (a, v) =
                    (self.expr(&Ty::Real, smaller, scope), self.expr(&Ty::Vec(3), smaller, scope));
                if self.numbers.below(3) == 0 {
                    format!("{{{{a = {a}, v = xs}} with v = {v}}}")
                } else {
                    format!("{{v = {v}, a = {a}}}")
                }
            }
            Ty::Shape => match self.numbers.below(3) {
                0 => "Dot".into(),
                1 => format!("(Circle {})", self.expr(&Ty::Real, smaller, scope)),
                _ => format!(
                    "(Rect {} {})",
                    self.expr(&Ty::Real, smaller, scope),
                    self.expr(&Ty::Vec(3), smaller, scope)
                ),
            },
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
        self.coverage.higher_order += 1;
        if from == to && size > 0 && self.numbers.below(3) == 0 {
            let same = Ty::Fun(Box::new(from.clone()), Box::new(to.clone()));
            let (f, g) = (self.expr(&same, size - 1, scope), self.expr(&same, size - 1, scope));
            return format!("({f} >> {g})");
        }
        if *from == Ty::Real && *to == Ty::Real && self.numbers.below(4) == 0 {
            return self.pick(&["sin", "tanh", "(0.5 *)", "(* x)", "(+ 0.3)"]).into();
        }
        let x = self.fresh("a");
        scope.push((x.clone(), from.clone()));
        let body = self.expr(to, size, scope);
        scope.pop();
        format!("(\\({x} : {}) -> {body})", Self::print(from))
    }

    fn condition(&mut self, size: usize, scope: &mut Vec<(String, Ty)>) -> String {
        match self.numbers.below(4) {
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
        match self.numbers.below(15) {
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
                self.coverage.arrays += 1;
                let op = self.pick(&["sum", "maximum", "minimum", "mean", "logsumexp"]);
                format!("({op} {})", self.expr(&Ty::Vec(3), size, scope))
            }
            10 => {
                self.coverage.arrays += 1;
                format!(
                    "(dot {} {})",
                    self.expr(&Ty::Vec(3), size, scope),
                    self.leaf(&Ty::Vec(3), scope)
                )
            }
            11 => {
                self.coverage.arrays += 1;
                let (v, i) = (self.expr(&Ty::Vec(3), size, scope), self.leaf(&Ty::Int, scope));
                format!("(({v})[abs {i} % 3])")
            }
            12 => {
                self.coverage.arrays += 1;
                self.coverage.higher_order += 1;
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
                    self.leaf(&Ty::Vec(3), scope)
                )
            }
            13 => format!("(sqrt (1 + {} ** 2))", self.expr(&Ty::Real, size, scope)),
            _ => format!("(0.1 * real {})", self.leaf(&Ty::Int, scope)),
        }
    }

    fn vector(&mut self, n: usize, size: usize, scope: &mut Vec<(String, Ty)>) -> String {
        self.coverage.arrays += 1;
        let ty = Ty::Vec(n);
        match self.numbers.below(9) {
            0 | 1 => {
                let i = self.fresh("i");
                scope.push((i.clone(), Ty::Int));
                let body = self.expr(&Ty::Real, size, scope);
                scope.pop();
                format!("(for {i} < {n} => {body})")
            }
            2 => {
                self.coverage.higher_order += 1;
                let f = self.expr(&Ty::Fun(Box::new(Ty::Real), Box::new(Ty::Real)), size, scope);
                format!("(map {f} {})", self.expr(&ty, size, scope))
            }
            3 => format!("({} + {})", self.expr(&ty, size, scope), self.leaf(&ty, scope)),
            4 => {
                format!("({} * tanh {})", self.expr(&Ty::Real, size, scope), self.leaf(&ty, scope))
            }
            5 => format!(
                "({} with [abs {} % {n}] = {})",
                self.expr(&ty, size, scope),
                self.leaf(&Ty::Int, scope),
                self.expr(&Ty::Real, size, scope)
            ),
            6 if n == 3 => format!(
                "(({})[abs {} % 2])",
                self.expr(&Ty::Mat(2, 3), size, scope),
                self.leaf(&Ty::Int, scope)
            ),
            7 => {
                let (h, i) = (self.fresh("h"), self.fresh("i"));
                scope.push((i.clone(), Ty::Int));
                let (at, value) = (self.leaf(&Ty::Int, scope), self.expr(&Ty::Real, size, scope));
                scope.pop();
                format!(
                    "(accumulate {h} = {} in for {i} < 4 => {h}[abs ({i} + {at}) % {n}] += {value})",
                    self.leaf(&ty, scope)
                )
            }
            _ => format!(
                "[{}]",
                (0..n).map(|_| self.leaf(&Ty::Real, scope)).collect::<Vec<_>>().join(", ")
            ),
        }
    }

    fn matrix(&mut self, n: usize, m: usize, size: usize, scope: &mut Vec<(String, Ty)>) -> String {
        self.coverage.arrays += 1;
        match self.numbers.below(4) {
            0 => {
                let (i, j) = (self.fresh("i"), self.fresh("j"));
                scope.push((i.clone(), Ty::Int));
                scope.push((j.clone(), Ty::Int));
                let body = self.expr(&Ty::Real, size, scope);
                scope.truncate(scope.len() - 2);
                format!("(for {i} < {n}, {j} < {m} => {body})")
            }
            1 => format!(
                "(outer [{}, x] {})",
                self.leaf(&Ty::Real, scope),
                self.leaf(&Ty::Vec(m), scope)
            ),
            2 => {
                let (row, k) = (self.expr(&Ty::Vec(m), size, scope), self.leaf(&Ty::Int, scope));
                format!("({} with [abs {k} % {n}] = {row})", self.leaf(&Ty::Mat(n, m), scope))
            }
            _ => {
                let row = self.fresh("row");
                scope.push((row.clone(), Ty::Vec(m)));
                let body = self.expr(&Ty::Vec(m), size, scope);
                scope.pop();
                format!("(for {row} in {} => {body})", self.leaf(&Ty::Mat(n, m), scope))
            }
        }
    }
}
