//! Forms that newcomers guess: integers as reals, `/` and `//`, equality and arithmetic of data,
//! checks, filters, `enumerate`, cases with alternatives and conditions, patterns of arrays.
//!
//! Texts of checks show integers, truth values and parameters, whose digits are the same in all
//! engines.

use super::{Draw, FOUR, Feature, K, N, Ty};

type Scope = Vec<(String, Ty)>;

/// The record whose fields are looked up without annotations.
pub(super) const TYPES: &str = "type ball = {height : real, speed : real}\n";

/// Reals.
pub(super) const REALS: [fn(&mut Draw, usize, &mut Scope) -> String; 12] = [
    Draw::converted,
    Draw::converted_arrays,
    Draw::of_elements,
    Draw::divided,
    Draw::filtered,
    Draw::enumerated,
    Draw::of_an_array_pattern,
    Draw::of_a_field,
    Draw::of_data,
    Draw::of_library,
    Draw::of_mixed_data,
    Draw::spelled,
];

/// Whether values can be added and scaled.
pub(super) fn is_vector_space(ty: &Ty) -> bool {
    match ty {
        Ty::Real | Ty::Vec(_) | Ty::Mat(..) | Ty::Record => true,
        Ty::Pair(a, b) => is_vector_space(a) && is_vector_space(b),
        Ty::Int | Ty::Bool | Ty::Ints | Ty::Shape | Ty::List | Ty::Fun(..) => false,
    }
}

fn pair(a: Ty, b: Ty) -> Ty {
    Ty::Pair(Box::new(a), Box::new(b))
}

impl Draw {
    /// An expression with more variables in scope.
    fn inside(&mut self, ty: &Ty, size: usize, scope: &mut Scope, more: &[(&str, Ty)]) -> String {
        let before = scope.len();
        scope.extend(more.iter().map(|(name, ty)| (name.to_string(), ty.clone())));
        let drawn = self.expr(ty, size, scope);
        scope.truncate(before);
        drawn
    }

    /// A condition with more variables in scope.
    fn test(&mut self, scope: &mut Scope, more: &[(&str, Ty)]) -> String {
        let before = scope.len();
        scope.extend(more.iter().map(|(name, ty)| (name.to_string(), ty.clone())));
        let drawn = self.condition(0, scope);
        scope.truncate(before);
        drawn
    }

    /// An integer where a real is wanted: an operand, argument, field, element, branch.
    fn converted(&mut self, size: usize, scope: &mut Scope) -> String {
        self.has(Feature::Conversions);
        let (i, e) = (self.leaf(&Ty::Int, scope), self.expr(&Ty::Real, size, scope));
        match self.random.below(14) {
            0 => format!("({i} + {e})"),
            1 => format!("({e} - {i})"),
            2 => format!("(0.3 * {i} * tanh {e})"),
            3 => format!("(sin {i} * {e})"),
            4 => format!("(max {i} {e})"),
            5 => format!("(if {} then {i} else {e})", self.condition(0, scope)),
            6 => format!("(sum [{i}, {e}, 0.5])"),
            7 => format!("(tanh ({e} / (1 + {i} ** 2)))"),
            8 => {
                let z = self.fresh("z");
                format!("((\\({z} : real) -> {z} * {z} + {e}) (tanh {i}) + ({i} : real))")
            }
            9 => {
                let [g, a, b] = ["g", "a", "b"].map(|hint| self.fresh(hint));
                let j = self.leaf(&Ty::Int, scope);
                format!("(let {g} {a} {b} = {a} * 0.1 + {b} in {g} {i} {e} + {g} {e} {j})")
            }
            10 => format!("({{a = {i}, v = xs}}.a + {e})"),
            11 => {
                let s = self.fresh("s");
                format!("(loop {s} : real = {i} for e in xs do tanh ({s} + {e} * e))")
            }
            12 => {
                let r = self.fresh("r");
                let list = self.leaf(&Ty::Shape, scope);
                format!("(match [Circle {i}, {list}] | [Circle {r}, _] -> {r} * {e} | _ -> {e})")
            }
            _ => {
                let v = self.fresh("v");
                format!("(let {v} : real = {i} in if {v} < {i} + 1 then {v} + {e} else 0)")
            }
        }
    }

    /// Arrays of integers where arrays of reals are wanted.
    fn converted_arrays(&mut self, size: usize, scope: &mut Scope) -> String {
        self.has(Feature::Conversions);
        let (is, e) = (self.leaf(&Ty::Ints, scope), self.expr(&Ty::Real, size, scope));
        match self.random.below(7) {
            0 => format!("(sum ({is} * {e}))"),
            1 => format!("(dot {is} (for i < length is => {e} + i))"),
            2 => format!("(mean {is} + {e})"),
            3 => format!("(sum (0.5 + {is}) * tanh {e})"),
            4 => format!("(norm ({is} + 0.5) - {e})"),
            5 => format!("(sum ({is} / 2) + {e})"),
            _ => {
                let row = self.fresh("row");
                format!("(sum (for {row} in m => sum {row} * {e}) + logsumexp {is})")
            }
        }
    }

    /// A function of numbers for arrays.
    fn of_elements(&mut self, size: usize, scope: &mut Scope) -> String {
        self.has(Feature::ElementwiseCalls);
        let [g, a, b] = ["g", "a", "b"].map(|hint| self.fresh(hint));
        let body = self.inside(&Ty::Real, size, scope, &[(&a, Ty::Real), (&b, Ty::Real)]);
        let e = self.leaf(&Ty::Real, scope);
        let xs = self.leaf(&Ty::Vec(N), scope);
        let total = match self.random.below(5) {
            0 => format!("sum ({g} {xs} {e})"),
            1 => format!("sum ({g} {e} {})", self.leaf(&Ty::Ints, scope)),
            2 => format!("sum ({g} {xs} {})", self.leaf(&Ty::Vec(N), scope)),
            3 => format!("sum (for row in {g} m {e} => sum row)"),
            _ => format!("sum ({g} ({g} {e} {xs}) {e})"),
        };
        format!("(let {g} ({a} : real) ({b} : real) : real = {body} in tanh ({total}))")
    }

    /// Quotients of integers: an integer.
    pub(super) fn quotient(&mut self, a: &str, b: &str) -> String {
        self.has(Feature::Quotients);
        match self.random.below(3) {
            0 => format!("({a} // 2)"),
            1 => format!("({a} // (1 + abs {b}))"),
            _ => format!("(({a} - 3) % (2 + abs {b}))"),
        }
    }

    /// Quotients of integers, and floors of quotients of reals: a real.
    fn divided(&mut self, size: usize, scope: &mut Scope) -> String {
        self.has(Feature::Quotients);
        let (i, j) = (self.leaf(&Ty::Int, scope), self.leaf(&Ty::Int, scope));
        let e = self.expr(&Ty::Real, size, scope);
        match self.random.below(6) {
            0 => format!("(tanh ({i} / 4) * {e})"),
            1 => format!("({e} + {i} / (1 + {j} * {j}))"),
            2 => format!("({e} / (2 + abs {i}))"),
            3 => format!("({e} + 0.2 * ({i} // 2))"),
            4 => format!("({e} + 0.1 * (tanh {e} // 0.37))"),
            _ => format!("({e} * (1 / (1 + {i} ** 2)))"),
        }
    }

    /// `==` on data.
    pub(super) fn equation(&mut self, scope: &mut Scope) -> String {
        self.has(Feature::DataEquality);
        let mut types = vec![
            Ty::Record,
            Ty::Shape,
            Ty::Vec(N),
            Ty::Mat(K, N),
            Ty::Ints,
            Ty::Bool,
            pair(Ty::Real, Ty::Real),
            pair(Ty::Shape, Ty::Int),
        ];
        if self.features.contains(&Feature::RecursiveData) {
            types.push(Ty::List);
        }
        let ty = self.pick(&types);
        let (a, b) = (self.leaf(&ty, scope), self.leaf(&ty, scope));
        let op = self.pick(&["==", "!="]);
        format!("({a} {op} {b})")
    }

    /// Arithmetic of vectors, tuples and records.
    pub(super) fn linear(&mut self, ty: &Ty, size: usize, scope: &mut Scope) -> String {
        if matches!(ty, Ty::Pair(..) | Ty::Record) {
            self.has(Feature::VectorSpaces);
        }
        let (a, b) = (self.expr(ty, size - 1, scope), self.leaf(ty, scope));
        match self.random.below(7) {
            0 => format!("({a} + {b})"),
            1 => format!("({a} - {b})"),
            2 => format!("(tanh {} * {a})", self.leaf(&Ty::Real, scope)),
            3 => format!("({a} * 0.5 - {b})"),
            4 => format!("(-{a} + {b} / 2)"),
            5 => format!("({a} / (1.5 + {} ** 2))", self.leaf(&Ty::Real, scope)),
            _ => self.descent(ty, size - 1, scope),
        }
    }

    /// Gradient descent on a value of a vector space.
    fn descent(&mut self, ty: &Ty, size: usize, scope: &mut Scope) -> String {
        if self.features.contains(&Feature::VectorSpaces) && !self.next.is_multiple_of(3) {
            return format!("({} + {})", self.leaf(ty, scope), self.leaf(ty, scope));
        }
        self.has(Feature::Derivatives);
        let [p, q] = ["p", "q"].map(|hint| self.fresh(hint));
        let start = self.leaf(ty, scope);
        let loss = self.inside(&Ty::Real, size.min(2), scope, &[(&q, ty.clone())]);
        let printed = self.print(ty);
        let slope = format!("grad (\\({q} : {printed}) -> tanh {loss}) {p}");
        format!("(loop {p} : {printed} = {start} for _i < 2 do {p} - 0.1 * {slope})")
    }

    /// A value under a condition, which nearly always holds.
    pub(super) fn checked(&mut self, ty: &Ty, size: usize, scope: &mut Scope) -> String {
        self.has(Feature::Checks);
        self.has(Feature::MayFail);
        let (i, b) = (self.leaf(&Ty::Int, scope), self.condition(0, scope));
        let text = match self.random.below(5) {
            0 => format!("after {{{i}}} steps"),
            1 => format!("{{{i}}} of {{length xs}}, {{x}}"),
            2 => format!("{{{{{{c > 1}}}}}} {{{i} + 1}}"),
            3 => "{y}: {c * 2} {x > y}".to_string(),
            _ => "never".to_string(),
        };
        let e = self.leaf(&Ty::Real, scope);
        let condition = match self.random.below(12) {
            0 => b,
            1 => format!("(not {b} || c < 3)"),
            2..=5 => format!("({b} || abs {e} < 40)"),
            _ => format!("({e} == {e})"),
        };
        let value = self.expr(ty, size - 1, scope);
        if self.random.once_in(5) {
            format!("({value} |> check \"{text}\" {condition})")
        } else {
            format!("(check \"{text}\" {condition} {value})")
        }
    }

    /// Sums of arrays with filters.
    fn filtered(&mut self, size: usize, scope: &mut Scope) -> String {
        self.has(Feature::Filters);
        self.has(Feature::ComputedSizes);
        let [e, i, s] = ["e", "i", "s"].map(|hint| self.fresh(hint));
        let v = self.expr(&Ty::Vec(N), size, scope);
        let (real, int) = ((e.as_str(), Ty::Real), (i.as_str(), Ty::Int));
        match self.random.below(7) {
            0 => {
                let c = self.test(scope, std::slice::from_ref(&real));
                let body = self.inside(&Ty::Real, size, scope, &[real]);
                format!("(sum (for {e} in {v} if {c} => {body}))")
            }
            1 => {
                let c = self.test(scope, std::slice::from_ref(&int));
                let body = self.inside(&Ty::Real, size, scope, &[int]);
                format!("(sum (for {i} < {} if {c} => {body}))", self.size(N))
            }
            2 => {
                let c = self.test(scope, &[real.clone(), int.clone()]);
                let body = self.inside(&Ty::Real, size, scope, &[real, int]);
                format!("(sum (for {e} in {v}, {i} < 2 if {c} => {body}))")
            }
            3 => {
                let c = self.test(scope, &[(&s, Ty::Real), real.clone()]);
                let body = self.inside(&Ty::Real, size, scope, &[(&s, Ty::Real), real]);
                let start = self.leaf(&Ty::Real, scope);
                format!("(loop {s} : real = {start} for {e} in {v} if {c} do {body})")
            }
            4 => {
                let c = self.test(scope, std::slice::from_ref(&real));
                let kept = self.inside(&pair(Ty::Real, Ty::Int), size, scope, &[real]);
                format!(
                    "(sum (for ({s}, {i}) in (for {e} in {v} if {c} => {kept}) => 0.2 * {i} + {s}))"
                )
            }
            5 => {
                let c = self.test(scope, std::slice::from_ref(&real));
                let row = self.inside(&Ty::Vec(N), size, scope, &[real]);
                format!("(sum (for {s} in (for {e} in {v} if {c} => {row}) => sum {s}))")
            }
            _ => {
                let c = self.test(scope, std::slice::from_ref(&real));
                format!(
                    "(0.1 * length (for {e} in {v} if {c} => {e}) + with_default 0.3 (find_first (\\{e} -> {c}) {v}))"
                )
            }
        }
    }

    /// `enumerate` in comprehensions and loops.
    fn enumerated(&mut self, size: usize, scope: &mut Scope) -> String {
        self.has(Feature::Enumerates);
        let [e, i, s] = ["e", "i", "s"].map(|hint| self.fresh(hint));
        let v = self.expr(&Ty::Vec(N), size, scope);
        let both = [(e.as_str(), Ty::Real), (i.as_str(), Ty::Int)];
        match self.random.below(4) {
            0 => {
                let body = self.inside(&Ty::Real, size, scope, &both);
                format!("(sum (for ({i}, {e}) in enumerate {v} => {body}))")
            }
            1 => {
                self.has(Feature::Filters);
                let c = self.test(scope, &both);
                let body = self.inside(&Ty::Real, size, scope, &both);
                format!("(sum (for ({i}, {e}) in enumerate {v} if {c} => {body}))")
            }
            2 => {
                let with_state = [&both[..], &[(s.as_str(), Ty::Real)]].concat();
                let body = self.inside(&Ty::Real, size, scope, &with_state);
                let start = self.leaf(&Ty::Real, scope);
                format!("(loop {s} : real = {start} for ({i}, {e}) in enumerate {v} do {body})")
            }
            _ => {
                let row = self.fresh("row");
                let more = [(row.as_str(), Ty::Vec(N)), (i.as_str(), Ty::Int)];
                let body = self.inside(&Ty::Real, size, scope, &more);
                let m = self.leaf(&Ty::Mat(K, N), scope);
                format!("(sum (for ({i}, {row}) in enumerate {m} => {body}))")
            }
        }
    }

    /// A `match` with alternatives, conditions, nested patterns, numbers and arrays.
    pub(super) fn match_guessed(&mut self, ty: &Ty, size: usize, scope: &mut Scope) -> String {
        let size = size - 1;
        let [r, v, k] = ["r", "v", "k"].map(|hint| self.fresh(hint));
        let (real, int) = ((r.as_str(), Ty::Real), (k.as_str(), Ty::Int));
        match self.random.below(7) {
            0 => {
                self.has(Feature::Alternatives);
                let shape = self.expr(&Ty::Shape, size, scope);
                let dot = self.expr(ty, size, scope);
                let either = self.inside(ty, size, scope, &[real]);
                format!("(match {shape} with | Dot -> {dot} | Circle {r} | Rect {r} _ -> {either})")
            }
            1 => {
                self.has(Feature::CasesWithConditions);
                self.has(Feature::Alternatives);
                let shape = self.expr(&Ty::Shape, size, scope);
                let c = self.test(scope, std::slice::from_ref(&real));
                let large = self.inside(ty, size, scope, &[real]);
                let w = [(r.as_str(), Ty::Real), (v.as_str(), Ty::Vec(FOUR))];
                let (rect, rest) = (self.inside(ty, size, scope, &w), self.expr(ty, size, scope));
                format!(
                    "(match {shape} | Circle {r} if {c} -> {large} | Rect {r} {v} -> {rect} | Circle _ | Dot -> {rest})"
                )
            }
            2 => {
                self.has(Feature::Alternatives);
                self.has(Feature::CasesWithConditions);
                let i = self.leaf(&Ty::Int, scope);
                let c = self.test(scope, std::slice::from_ref(&int));
                let [a, b] = [0, 1].map(|_| self.expr(ty, size, scope));
                let other = self.inside(ty, size, scope, &[int]);
                format!("(match {i} with | 0 | 1 -> {a} | {k} if {c} -> {other} | -2 | _ -> {b})")
            }
            3 => {
                self.has(Feature::Alternatives);
                let (shape, i) = (self.expr(&Ty::Shape, size, scope), self.leaf(&Ty::Int, scope));
                let [a, b] = [0, 1].map(|_| self.expr(ty, size, scope));
                let both = self.inside(ty, size, scope, &[real, int]);
                format!(
                    "(match ({shape}, {i}) | (Dot, 0 | 2) -> {a} | (Circle {r} | Rect {r} _, {k}) -> {both} | _ -> {b})"
                )
            }
            4 => {
                self.has(Feature::CasesWithConditions);
                let record = self.expr(&Ty::Record, size, scope);
                let fields = [(r.as_str(), Ty::Real), (v.as_str(), Ty::Vec(N))];
                let c = self.test(scope, &fields);
                let [a, b] = [0, 1].map(|_| self.inside(ty, size, scope, &fields));
                format!(
                    "(match {record} with | {{a = {r}, v = {v}}} if {c} -> {a} | {{a = {r}, v = {v}}} -> {b})"
                )
            }
            5 => self.match_option(ty, size, scope),
            _ => {
                self.has(Feature::ArrayPatterns);
                let w = self.fresh("w");
                let xs = self.expr(&Ty::Vec(N), size, scope);
                let bound = self.leaf(&Ty::Real, scope);
                let xs = if self.symbolic && self.random.once_in(2) {
                    xs
                } else {
                    format!("(filter (\\e -> e > {bound}) {xs})")
                };
                let two = [(r.as_str(), Ty::Real), (w.as_str(), Ty::Real)];
                let [none, more] = [0, 1].map(|_| self.expr(ty, size, scope));
                let one = self.inside(ty, size, scope, &two[..1]);
                let several = self.inside(ty, size, scope, &two);
                format!(
                    "(match {xs} with | [] -> {none} | [{r}] -> {one} | [{r}, {w}] | [{r}, _, {w}] -> {several} | _ -> {more})"
                )
            }
        }
    }

    /// `option` of the library.
    fn match_option(&mut self, ty: &Ty, size: usize, scope: &mut Scope) -> String {
        self.has(Feature::CasesWithConditions);
        let [o, r] = ["o", "r"].map(|hint| self.fresh(hint));
        let v = self.expr(&Ty::Vec(N), size, scope);
        let more = [(r.as_str(), Ty::Real)];
        let [keep, c] = [0, 1].map(|_| self.test(scope, &more));
        let [some, other] = [0, 1].map(|_| self.inside(ty, size, scope, &more));
        let none = self.expr(ty, size, scope);
        format!(
            "(let {o} = find_first (\\{r} -> {keep}) {v} in match {o} with | Some {r} if {c} -> {some} | None -> {none} \
             | Some {r} -> {other})"
        )
    }

    /// A real out of an array of a known length.
    fn of_an_array_pattern(&mut self, size: usize, scope: &mut Scope) -> String {
        self.has(Feature::ArrayPatterns);
        let names = ["a", "b", "d", "e"].map(|hint| self.fresh(hint));
        let [a, b, d, e] = &names;
        match self.random.below(3) {
            0 => {
                let v = self.expr(&Ty::Vec(FOUR), size, scope);
                let more = [(a.as_str(), Ty::Real), (d, Ty::Real), (e, Ty::Real)];
                let body = self.inside(&Ty::Real, size, scope, &more);
                format!("(let [{a}, _, {d}, {e}] = {v} in {body})")
            }
            1 => {
                let [first, second] = [0, 1].map(|_| self.expr(&Ty::Shape, size, scope));
                let more = [(a.as_str(), Ty::Real)];
                let [one, none] = [0, 1].map(|_| self.leaf(&Ty::Real, scope));
                let body = self.inside(&Ty::Real, size, scope, &more);
                format!(
                    "(match [{first}, {second}] | [Circle {a}, _] | [_, Circle {a}] -> {body} | [Dot, Dot] -> {one} | _ -> {none})"
                )
            }
            _ => {
                let [p, q] = [0, 1].map(|_| self.expr(&pair(Ty::Real, Ty::Real), size, scope));
                let more = [(a.as_str(), Ty::Real), (b, Ty::Real), (d, Ty::Real)];
                let body = self.inside(&Ty::Real, size, scope, &more);
                format!("((\\[({a}, {b}), ({d}, _)] -> {body}) [{p}, {q}])")
            }
        }
    }

    /// Functions of a record that do not say so.
    fn of_a_field(&mut self, size: usize, scope: &mut Scope) -> String {
        self.has(Feature::Fields);
        let [g, s, d] = ["g", "s", "d"].map(|hint| self.fresh(hint));
        let [a, b] = [0, 1].map(|_| self.expr(&Ty::Real, size, scope));
        let ball = format!("{{height = {a}, speed = {b}}}");
        match self.random.below(3) {
            0 => format!("(let {g} {s} = {s}.height * tanh {s}.speed in {g} {ball})"),
            1 => format!(
                "(let {g} {s} = {{{s} with height = {s}.height + 0.1 * {s}.speed}} in ({g} ({g} {ball})).height)"
            ),
            _ => {
                self.has(Feature::Derivatives);
                self.has(Feature::VectorSpaces);
                format!(
                    "(let {g} {s} = sin {s}.height + {s}.speed ** 2 let {d} = grad {g} {ball} in tanh (({d} + 0.5 * {d}).speed - {d}.height))"
                )
            }
        }
    }

    /// Arrays of variants, tuples and records.
    fn of_data(&mut self, size: usize, scope: &mut Scope) -> String {
        self.has(Feature::ArraysOfData);
        let [i, s, r, t] = ["i", "s", "r", "t"].map(|hint| self.fresh(hint));
        let ty = self.pick(&[Ty::Shape, Ty::Record, pair(Ty::Int, Ty::Real)]);
        let element = self.inside(&ty, size, scope, &[(&i, Ty::Int)]);
        let all = format!("(for {i} < {} => {element})", self.size(N));
        let value = match &ty {
            Ty::Shape => {
                let one = self.inside(&Ty::Real, size, scope, &[(&r, Ty::Real)]);
                format!("match {s} | Circle {r} | Rect {r} _ -> {one} | Dot -> 0.2")
            }
            Ty::Record => format!("{s}.a + 0.5 * sum {s}.v"),
            _ => format!("{s}.0 * 0.1 + {s}.1"),
        };
        if self.random.once_in(3) {
            return format!(
                "(let {t} = {all} in sum (for {s} in {t} if {s} != {t}[0] => {value}))"
            );
        }
        format!("(sum (for {s} in {all} => {value}))")
    }

    /// Functions of the library, with integers among their arguments.
    fn of_library(&mut self, size: usize, scope: &mut Scope) -> String {
        self.has(Feature::Library);
        let [z, s, g] = ["z", "s", "g"].map(|hint| self.fresh(hint));
        let (v, i) = (self.expr(&Ty::Vec(N), size, scope), self.leaf(&Ty::Int, scope));
        let body = self.inside(&Ty::Real, size.min(2), scope, &[(&z, Ty::Real), (&s, Ty::Real)]);
        let e = self.leaf(&Ty::Real, scope);
        match self.random.below(14) {
            0 => format!("(clamp {e} (-1) {i})"),
            1 => format!("(iterate 2 (\\{z} -> tanh ({z} / 2 + {e})) {i})"),
            2 => format!("(sum (cumsum {v} * {i}))"),
            3 => format!(
                "(let ({z}, {s}) = map_accum (\\{s} {z} -> (tanh ({s} + {z}), {s} * {z})) {i} {v} in {z} + sum {s})"
            ),
            4 => format!("(sum (scanl (\\{s} {z} -> tanh {body}) {i} {v}))"),
            5 => format!(
                "(sum (for {z} in windows 2 (concat {v} [{i}, {e}]) => {z}[0] * tanh {z}[1]))"
            ),
            6 => format!("(sum (for ({z}, {s}) in zip {v} (sort {v}) => {body}))"),
            7 => format!("(let {g} {s} = {s} + {s} in {g} {i} * 0.1 + {g} {e} + sum ({g} {v}))"),
            8 => format!(
                "(with_default {i} (map_option (\\{z} -> {z} * {z}) (find_first (\\{z} -> {z} > {e}) {v})))"
            ),
            9 => format!("(fold (\\{s} {z} -> tanh {body}) {i} {v})"),
            10 => format!("(sum (for ({z}, {s}) in zip [0, 1, 2] [{e}, {i}, 0.5] => {z} * {s}))"),
            11 => format!("(lerp {i} {e} 0.25 + relu {e})"),
            12 => format!(
                "(if any (\\{z} -> {z} > {i}) {v} then {e} else count (\\{z} -> {z} > 0) {v} / 2)"
            ),
            _ => format!("(median [{e}, {i}, 0.3])"),
        }
    }

    /// Derivatives by tuples and records with integers, and by nested ones.
    fn of_mixed_data(&mut self, size: usize, scope: &mut Scope) -> String {
        self.has(Feature::Derivatives);
        self.has(Feature::MixedData);
        let [z, d, a, k] = ["z", "d", "a", "k"].map(|hint| self.fresh(hint));
        let more = [(a.as_str(), Ty::Real), (k.as_str(), Ty::Int)];
        let body = self.inside(&Ty::Real, size.min(2), scope, &more);
        let (e, i) = (self.expr(&Ty::Real, size, scope), self.leaf(&Ty::Int, scope));
        match self.random.below(4) {
            0 => format!(
                "(let {d} = grad (\\(({a}, {k}) : (real, int)) -> {body}) ({e}, {i}) in tanh {d}.0 + {d}.1)"
            ),
            1 => format!(
                "(let {d} = grad (\\{z} -> let {a} = {z}.at let {k} = {z}.count in {body}) {{at = {e}, count = {i}}} in tanh {d}.at + {d}.count)"
            ),
            2 => {
                self.has(Feature::VectorSpaces);
                format!(
                    "(let {z} = ({{p = {e}, q = ({i}, xs)}} : {{p : real, q : (real, [{}]real)}}) let {d} = 0.5 * {z} + {z} / 3 - {z} in {d}.p * {d}.q.0 + sum {d}.q.1)",
                    self.size(N)
                )
            }
            _ => format!(
                "(let {d} = jvp (\\({a}, {k}) -> ({body}, {k})) ({e}, {i}) (0.3, 0) in tanh {d}.1.0 + {d}.1.1)"
            ),
        }
    }

    /// What the formatter writes otherwise.
    fn spelled(&mut self, size: usize, scope: &mut Scope) -> String {
        self.has(Feature::Spellings);
        let e = self.expr(&Ty::Real, size, scope);
        let (z, i) = (self.fresh("z"), self.leaf(&Ty::Int, scope));
        match self.random.below(8) {
            0 => format!("(tanh (2({e}) ^ 2))"),
            1 => format!("(if {i} = 1 or x > 0 and {i} < 3 then {e} else 0)"),
            2 => format!("(sum [0.3{z} * {e} for {z} in xs if {z} > 0])"),
            3 => format!("((fun {z} -> sin {z} + {e}) 0.2)"),
            4 => format!("(sum (for {z} in 1..4 => {z} / 3 * {e}))"),
            5 => format!("(sum ([x, y,] .* [{e}; 0.5]))"),
            6 => {
                let v = z.to_uppercase();
                format!("(let {v} = {e} let W = {v} + 1 in {v} * tanh W)")
            }
            _ => format!("(match {i} with {z} when {z} % 2 = 0 -> {e} | {z} -> {z} %/% 2 + 0.5)"),
        }
    }
}
