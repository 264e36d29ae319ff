//! Vectors and matrices: comprehensions, updates, accumulators, literals.

use super::{Draw, FOUR, Feature, K, N, Ty};

impl Draw {
    /// A vector of this size.
    pub(super) fn vector(
        &mut self,
        n: usize,
        size: usize,
        scope: &mut Vec<(String, Ty)>,
    ) -> String {
        self.features.insert(Feature::Arrays);
        let ty = Ty::Vec(n);
        match self.random.below(9) {
            0 | 1 => {
                let i = self.fresh("i");
                scope.push((i.clone(), Ty::Int));
                let body = self.expr(&Ty::Real, size, scope);
                scope.pop();
                format!("(for {i} < {} => {body})", self.size(n))
            }
            2 => {
                self.features.insert(Feature::HigherOrder);
                let f = self.expr(&Ty::Fun(Box::new(Ty::Real), Box::new(Ty::Real)), size, scope);
                format!("(map {f} {})", self.expr(&ty, size, scope))
            }
            3 => format!("({} + {})", self.expr(&ty, size, scope), self.leaf(&ty, scope)),
            4 => {
                format!("({} * tanh {})", self.expr(&Ty::Real, size, scope), self.leaf(&ty, scope))
            }
            5 => format!(
                "({} with [{}] = {})",
                self.expr(&ty, size, scope),
                self.index(n, scope),
                self.expr(&Ty::Real, size, scope)
            ),
            6 if n == N => {
                let m = self.expr(&Ty::Mat(K, N), size, scope);
                format!("(({m})[{}])", self.index(K, scope))
            }
            7 => {
                let (h, i) = (self.fresh("h"), self.fresh("i"));
                scope.push((i.clone(), Ty::Int));
                let (at, value) = (self.leaf(&Ty::Int, scope), self.expr(&Ty::Real, size, scope));
                scope.pop();
                let (start, n) = (self.leaf(&ty, scope), self.size(n));
                if self.symbolic && n != "4" {
                    self.has(Feature::MayFail);
                }
                format!(
                    "(accumulate {h} = {start} in for {i} < 4 => {h}[abs ({i} + {at}) % {n}] += {value})"
                )
            }
            _ if self.symbolic && n != FOUR => {
                let i = self.fresh("i");
                format!(
                    "(for {i} < {} => {} + 0.3 * real {i})",
                    self.size(n),
                    self.leaf(&Ty::Real, scope)
                )
            }
            _ => format!(
                "[{}]",
                (0..n).map(|_| self.leaf(&Ty::Real, scope)).collect::<Vec<_>>().join(", ")
            ),
        }
    }

    /// A matrix of these sizes.
    pub(super) fn matrix(
        &mut self,
        n: usize,
        m: usize,
        size: usize,
        scope: &mut Vec<(String, Ty)>,
    ) -> String {
        self.features.insert(Feature::Arrays);
        match self.random.below(4) {
            0 => {
                let (i, j) = (self.fresh("i"), self.fresh("j"));
                scope.push((i.clone(), Ty::Int));
                scope.push((j.clone(), Ty::Int));
                let body = self.expr(&Ty::Real, size, scope);
                scope.truncate(scope.len() - 2);
                format!("(for {i} < {}, {j} < {} => {body})", self.size(n), self.size(m))
            }
            1 => format!(
                "(outer {} {})",
                self.expr(&Ty::Vec(n), size, scope),
                self.leaf(&Ty::Vec(m), scope)
            ),
            2 => {
                let (row, at) = (self.expr(&Ty::Vec(m), size, scope), self.index(n, scope));
                format!("({} with [{at}] = {row})", self.leaf(&Ty::Mat(n, m), scope))
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
