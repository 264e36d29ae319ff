//! Forms that only the campaign draws.

use super::{Draw, Feature, N, Ty};

/// The number of forms.
pub(super) const FORMS: usize = 6;

impl Draw {
    /// A real: a derivative by each of the operators, nested if it comes so; or an element at any
    /// index.
    pub(super) fn wild(
        &mut self,
        form: usize,
        size: usize,
        scope: &mut Vec<(String, Ty)>,
    ) -> String {
        if form == 0 {
            self.has(Feature::Arrays);
            self.has(Feature::MayFail);
            let (v, i) = (self.expr(&Ty::Vec(N), size, scope), self.leaf(&Ty::Int, scope));
            // A constant that is out of range would be refused by the compiler, which knows that
            // `c - c` is 0, but not that `c % 1` is.
            return format!("(({v})[{i} + c % 1])");
        }
        self.has(Feature::Derivatives);
        let x = self.fresh("z");
        let of = if form == 1 { Ty::Vec(N) } else { Ty::Real };
        scope.push((x.clone(), of.clone()));
        let body = self.expr(&Ty::Real, size, scope);
        scope.pop();
        let f = format!("(\\({x} : {}) -> {body})", self.print(&of));
        let at = self.leaf(&of, scope);
        match form {
            1 => format!("(tanh (sum (grad {f} {at})))"),
            2 => format!("(tanh (grad (\\t -> grad {f} (t * {})) {at}))", self.leaf(&of, scope)),
            3 => format!("(tanh (jvp {f} {at} {}).1)", self.leaf(&of, scope)),
            4 => format!("(tanh ((vjp {f} {at}).1 {}))", self.leaf(&of, scope)),
            _ => {
                format!("(tanh (jvp (\\t -> (vjp {f} t).1 {}) {at} 1.0).1)", self.leaf(&of, scope))
            }
        }
    }
}
