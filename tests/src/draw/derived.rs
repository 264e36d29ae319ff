//! Derivatives that programs take: by unused variables, at special values that a branch keeps out,
//! sparse ones, in recursions and of themselves.
//!
//! The points are constants where they are special, so the program is as smooth in its arguments as
//! any other.

use super::{Draw, Feature, K, N, Ty};

type Scope = Vec<(String, Ty)>;

/// A form: the feature of programs with it, and the function that draws it.
type Form = (Feature, fn(&mut Draw, usize, &mut Scope) -> String);

/// Each form is in a program once at most, since each is code that derivatives grow by.
pub(super) const FORMS: [Form; 4] = [
    (Feature::Unused, Draw::unused),
    (Feature::Guarded, Draw::guarded),
    (Feature::Sparse, Draw::sparse),
    (Feature::NestedInRecursion, Draw::nested_in_recursion),
];

impl Draw {
    /// A real that is made of a derivative.
    pub(super) fn derived(
        &mut self,
        (feature, form): Form,
        size: usize,
        scope: &mut Scope,
    ) -> String {
        if self.features.contains(&feature) {
            return format!("(0.2 * {})", self.leaf(&Ty::Real, scope));
        }
        self.has(feature);
        self.has(Feature::Derivatives);
        form(self, size, scope)
    }

    /// A derivative by data that is not used, or in one branch only.
    fn unused(&mut self, size: usize, scope: &mut Scope) -> String {
        let pair = Ty::Pair(Box::new(Ty::Real), Box::new(Ty::Vec(N)));
        let ty = self.pick(&[Ty::List, Ty::Shape, Ty::Record, Ty::Vec(N), Ty::Mat(K, N), pair]);
        let [z, d] = ["z", "d"].map(|hint| self.fresh(hint));
        let (data, body) = (self.expr(&ty, size.min(2), scope), self.expr(&Ty::Real, size, scope));
        let body = match self.random.below(3) {
            0 => {
                format!("if {} then {} else {body}", self.condition(0, scope), self.weight(&ty, &z))
            }
            _ => body,
        };
        let (printed, weight) = (self.print(&ty), self.weight(&ty, &d));
        format!("(let {d} = grad (\\({z} : {printed}) -> {body}) {data} in tanh {weight})")
    }

    /// A real of all reals of a value by this name.
    fn weight(&mut self, ty: &Ty, name: &str) -> String {
        let [total, l, x, rest] = ["total", "l", "x", "rest"].map(|hint| self.fresh(hint));
        match ty {
            Ty::Vec(_) => format!("(sum {name})"),
            Ty::Mat(..) => format!("(sum (for {x} in {name} => sum {x}))"),
            Ty::Pair(..) => format!("({name}.0 - 0.5 * sum {name}.1)"),
            Ty::Record => format!("({name}.a + sum {name}.v)"),
            Ty::Shape => format!(
                "(match {name} | Dot -> 0.4 | Circle {x} -> {x} | Rect {x} {rest} -> {x} - sum {rest})"
            ),
            Ty::List => format!(
                "(let rec {total} ({l} : list) : real = match {l} | Nil -> 0.3 | Cons {x} {rest} -> \
                 {x} + 0.5 * {total} {rest} in {total} {name})"
            ),
            Ty::Real | Ty::Int | Ty::Bool | Ty::Ints | Ty::Fun(..) => name.to_string(),
        }
    }

    /// The derivative at a zero, a tiny number, an infinity or NaN of a function with a branch that
    /// keeps the value out whose derivative is infinite or NaN there; or at a tie.
    fn guarded(&mut self, size: usize, scope: &mut Scope) -> String {
        let [z, r] = ["z", "r"].map(|hint| self.fresh(hint));
        if self.random.once_in(3) {
            return self.behind_rules(size, scope);
        }
        let tiny = self.pick(&["0.0", "(-0.0)", "5e-324", "1e-310", "(-1e-320)"]);
        let (at, value) = match self.random.below(4) {
            0 => {
                let at = self.pick(&["(1.0 / 0.0)", "(-1.0 / 0.0)", "(0.0 / 0.0)", "1e308"]);
                (at, self.pick(&["Z * 0.0", "Z - Z", "exp Z", "Z * Z", "sin Z / Z"]))
            }
            1 => {
                (tiny, self.pick(&["max Z 0.0", "min 0.0 Z", "abs Z", "max Z (-Z)", "hypot Z 0.0"]))
            }
            _ => (
                tiny,
                self.pick(&["sqrt Z", "log Z", "1.0 / Z", "sin Z / Z", "Z ** 0.5", "atan2 Z 0.0"]),
            ),
        };
        let value = value.replace('Z', &z);
        let before = scope.len();
        let other = self.expr(&Ty::Real, size, scope);
        scope.push((r.clone(), Ty::Real));
        let inside = self.expr(&Ty::Real, size, scope);
        scope.truncate(before);
        // The other term depends on the variable only at finite points, and is differentiable at a
        // tie.
        let other = if at == tiny && self.random.once_in(2) {
            format!("{other} * ({z} + 0.5)")
        } else {
            other
        };
        let is_tie = ["max", "min", "abs", "hypot"].iter().any(|name| value.starts_with(name));
        let f = if is_tie {
            format!("let {r} = {value} in tanh {inside} + {other}")
        } else if self.random.once_in(2) {
            format!("let {r} = {value} in if {z} > 0.25 && {z} < 4.0 then {inside} else {other}")
        } else {
            let choice = format!("if {z} > 0.25 && {z} < 4.0 then {r} else 0.5");
            format!("let {r} = {value} in let {r} = {choice} in {inside} + {other}")
        };
        format!("(tanh (grad (\\({z} : real) -> {f}) {at}))")
    }

    /// The derivative of a value with an infinite derivative that goes through a rule, of the
    /// program or of the library, which computes a zero for it or leaves it out. Whether the result
    /// is NaN is part of the program's value.
    fn behind_rules(&mut self, size: usize, scope: &mut Scope) -> String {
        self.has(Feature::Rules);
        let [h, a, b, z, r, d] = ["h", "a", "b", "z", "r", "d"].map(|hint| self.fresh(hint));
        let steep = self.pick(&["sqrt Z", "log Z", "log1p (-Z) + log Z", "(-(Z ** 0.5))"]);
        let (steep, at) = (steep.replace('Z', &z), self.pick(&["0.0", "(-0.0)", "1.0", "0.25"]));
        let weight = self.pick(&[
            "(if A > B then 1.0 else 0.0)",
            "(0.0 * A)",
            "(B - B)",
            "(exp (A - 800.0))",
            "(vjp (\\(t : real) -> if t > B then t else 0.3) A).1 1.0",
            "(vjp (\\(t : real) -> t * (A - A)) B).1 1.0",
        ]);
        let weight = weight.replace('A', &a).replace('B', &b);
        let by = self.pick(&["(W * dy, 0.5 * dy)", "(if W > 0.0 then W * dy else 0.0, dy)"]);
        let counted = "(if length (filter (\\t -> t > 0.4) [A, B]) == 1 then 0.0 else W * dy, dy)";
        let by = self.pick(&[
            by,
            "(0.0, dy)",
            "((vjp (\\(t : real) -> W * t) A).1 dy, dy)",
            counted,
            "(W, dy)",
        ]);
        let by = by.replace('A', &a).replace('B', &b).replace("dy", &format!("dy{h}"));
        let rule = format!("with vjp dy{h} = {}", by.replace('W', &weight));
        let other = self.expr(&Ty::Real, size.min(2), scope);
        let told = |d: &str| {
            format!("(if abs {d} < 1e300 then tanh {d} else if {d} == {d} then 0.4 else 0.6)")
        };
        if self.random.below(3) == 0 {
            let [zs, i] = ["zs", "i"].map(|hint| self.fresh(hint));
            let by = self.pick(&[
                "[W * dy, 0.0]",
                "[0.0, dy]",
                "(for I < 2 => if I == 0 then W * dy else 0.0)",
                "(if W > 0.0 then [dy, W * dy] else [0.0, dy])",
                "([dy, 0.5] with [1] = 0.0)",
            ]);
            let by = by.replace('W', &weight.replace(&a, &format!("{a}[0]")));
            let by = by.replace("dy", &format!("dy{h}")).replace('I', &i);
            let next = self.pick(&["0.0", "0.25", "1.0"]);
            let parts = [0, 1].map(|k| told(&format!("{d}[{k}]")));
            return format!(
                "(let {h} ({a} : [2]real) ({b} : real) : real = 0.5 * {b} with vjp dy{h} = ({by}, dy{h}) in \
                 let {d} = grad (\\{zs} -> let {r} = (for {z} in {zs} => {steep}) in {h} {r} {zs}[1] + \
                 {other} * {zs}[0]) [{at}, {next}] in {} + 0.3 * {})",
                parts[0], parts[1]
            );
        }
        let value = match self.random.below(7) {
            0 => format!("logsumexp [{r}, log (1.0 - {z})]"),
            1 => format!("(softmax [{r}, {z}, {r}])[1]"),
            2 => format!("norm [{z}, {r}]"),
            _ => format!("{h} {r} {z}"),
        };
        format!(
            "(let {h} ({a} : real) ({b} : real) : real = 0.5 * {b} {rule} in \
             let {d} = grad (\\({z} : real) -> let {r} = {steep} in {value} + {other} * {z}) {at} in {})",
            told(&d)
        )
    }

    /// All entries of a sparse Jacobian or Hessian. Engines may have other entries that are zero.
    fn sparse(&mut self, size: usize, scope: &mut Scope) -> String {
        let [z, s, k] = ["z", "s", "k"].map(|hint| self.fresh(hint));
        let (operator, to) = match self.random.below(3) {
            0 => ("sparse_hessian", Ty::Real),
            _ => ("sparse_jacobian", Ty::Vec(N)),
        };
        scope.push((z.clone(), Ty::Vec(N)));
        let body = self.expr(&to, size.min(2), scope);
        scope.pop();
        let (at, from) = (self.leaf(&Ty::Vec(N), scope), self.print(&Ty::Vec(N)));
        format!(
            "(let {s} = {operator} (\\({z} : {from}) -> {body}) {at} in tanh (sum (for {k} < length {s}.values => \
             {s}.values[{k}] * (1.0 + real {s}.rows[{k}] + 0.5 * real {s}.cols[{k}]))))"
        )
    }

    /// A recursion that takes a derivative at each call, of another function or of itself, or whose
    /// derivative is taken.
    fn nested_in_recursion(&mut self, size: usize, scope: &mut Scope) -> String {
        self.has(Feature::Recursion);
        let [d, k, f, z, s] = ["d", "k", "f", "z", "s"].map(|hint| self.fresh(hint));
        let mut inner = |this: &mut Draw, name: &str| {
            scope.push((name.to_string(), Ty::Real));
            let body = this.expr(&Ty::Real, size.min(2), scope);
            scope.pop();
            body
        };
        match self.random.below(3) {
            0 => {
                let (body, depth) = (inner(self, &z), self.pick(&["1", "2"]));
                let at = self.leaf(&Ty::Real, scope);
                format!(
                    "(let rec {d} ({k} : int) ({f} : real -> real) ({s} : real) : real = if {k} <= 0 then {f} {s} else \
                     grad ({d} ({k} - 1) {f}) {s} in tanh ({d} {depth} (\\({z} : real) -> {body}) {at}))"
                )
            }
            1 => {
                let (body, depth) = (inner(self, &z), self.depth());
                let at = self.leaf(&Ty::Real, scope);
                format!(
                    "(let rec {d} ({k} : int) ({s} : real) : real = if {k} <= 0 then {s} else \
                     sin ({d} ({k} - 1) (tanh (grad (\\({z} : real) -> {s} * {body}) {s}))) in {d} {depth} {at})"
                )
            }
            _ => {
                let (body, depth) = (inner(self, &s), self.depth());
                let at = self.leaf(&Ty::Real, scope);
                format!(
                    "(tanh (grad (\\({z} : real) -> let rec {d} ({k} : int) ({s} : real) : real = if {k} <= 0 then {s} * {z} else \
                     tanh ({d} ({k} - 1) {body}) in {d} {depth} {z}) {at}))"
                )
            }
        }
    }
}
