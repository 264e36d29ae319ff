//! Functions with derivative rules, which are right by construction: they take the derivative of
//! the body.

use super::{Draw, Feature, Ty};

type Scope = Vec<(String, Ty)>;

impl Draw {
    /// A real from a function with rules for one mode or both.
    pub(super) fn ruled(&mut self, size: usize, scope: &mut Scope) -> String {
        self.has(Feature::Rules);
        if self.random.below(2) == 0 {
            self.of_numbers(size, scope)
        } else {
            self.of_a_function(size, scope)
        }
    }

    /// Which of two rules there are.
    fn some_rules(&mut self, jvp: &str, vjp: &str) -> String {
        match self.random.below(3) {
            0 => format!("with jvp {jvp}"),
            1 => format!("with vjp {vjp}"),
            _ => format!("with jvp {jvp} with vjp {vjp}"),
        }
    }

    /// Rules speak of parameters only, so the body mentions nothing else that is differentiated.
    fn of_numbers(&mut self, size: usize, scope: &mut Scope) -> String {
        let [h, a, b, p] = ["h", "a", "b", "p"].map(|hint| self.fresh(hint));
        let mut own = vec![
            (a.clone(), Ty::Real),
            (b.clone(), Ty::Real),
            ("is".to_string(), Ty::Ints),
            ("c".to_string(), Ty::Int),
        ];
        let body = self.expr(&Ty::Real, size.min(2), &mut own);
        // Some forms mention parameters of the program by name.
        let words = body.split(|letter: char| !letter.is_alphanumeric());
        if words.into_iter().any(|word| ["x", "y", "xs", "m"].contains(&word)) {
            return format!("(let ({a}, {b}) = (x, y) in {body})");
        }
        let of_pair = format!("(\\({p} : (real, real)) -> let ({a}, {b}) = {p} in {body})");
        let jvp = format!("(d{a}, d{b}) = (jvp {of_pair} ({a}, {b}) (d{a}, d{b})).1");
        let vjp = format!("dy{h} = (vjp {of_pair} ({a}, {b})).1 dy{h}");
        let rules = self.some_rules(&jvp, &vjp);
        let (x, y) = (self.expr(&Ty::Real, size, scope), self.leaf(&Ty::Real, scope));
        format!("(let {h} ({a} : real) ({b} : real) : real = {body} {rules} in {h} {x} {y})")
    }

    /// Captured variables of the function get their derivatives through the tangent of the
    /// function, or a sum of points with cotangents.
    fn of_a_function(&mut self, size: usize, scope: &mut Scope) -> String {
        let [h, f, a, t] = ["h", "f", "a", "t"].map(|hint| self.fresh(hint));
        let at = format!("let {t} = tanh {a} in");
        let slope = format!("(1 - {t} * {t})");
        let jvp = format!("(d{f}, d{a}) = {at} d{f} {t} + (jvp {f} {t} ({slope} * d{a})).1");
        let vjp = format!("dy{h} = {at} ([({t}, dy{h})], {slope} * (vjp {f} {t}).1 dy{h})");
        // Neither follows from the other where the function accumulates (E0541), so both are there.
        let (jvp, vjp) = (format!("with jvp {jvp}"), format!("with vjp {vjp}"));
        let rules =
            if self.random.below(2) == 0 { format!("{jvp} {vjp}") } else { format!("{vjp} {jvp}") };
        // A function that is chosen at run time, or comes out of data, is refused.
        let z = self.fresh("z");
        scope.push((z.clone(), Ty::Real));
        let body = self.expr(&Ty::Real, size, scope);
        scope.pop();
        let x = self.leaf(&Ty::Real, scope);
        format!(
            "(let {h} ({f} : real -> real) ({a} : real) : real = {f} (tanh {a}) {rules} in {h} (\\({z} : real) -> {body}) {x})"
        )
    }
}
