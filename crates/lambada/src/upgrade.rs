//! Programs from before `/` was a division of reals.

use std::path::PathBuf;

use lambada_elaborate::Quotient;
use lambada_prim::ScalarTy;
use lambada_source::{Problem, Severity, Span, stack};

use crate::Session;
use crate::messages::program as messages;
use crate::session::Text;

impl Session {
    /// The program with `//` for each `/` whose operands were ints, which was floor division. Also
    /// warnings, at operators whose type each caller chose.
    ///
    /// # Errors
    /// The text does not parse, or has no types.
    pub fn upgrade(
        &mut self,
        name: &str,
        text: &str,
        folder: Option<PathBuf>,
    ) -> Result<(String, Vec<Problem>), Vec<Problem>> {
        self.divides_ints = true;
        let folder = folder.unwrap_or_default();
        let (unit, problems) =
            stack::roomy(|| self.elaborated(Text::of(name, text), &folder, None));
        self.divides_ints = false;
        let errors = |problem: &Problem| problem.severity == Severity::Error;
        if problems.iter().any(errors) {
            return Err(problems.into_iter().filter(errors).collect());
        }
        let Some(file) = unit.module.items.first().map(|item| item.span().file) else {
            return Ok((text.to_string(), Vec::new()));
        };
        let mut open = Vec::new();
        let mut places = Vec::new();
        for quotient in unit.checked.quotients() {
            let Quotient { dividend, divisor, scalar } = *quotient;
            let (start, end) = around(dividend, divisor);
            if dividend.file != file || divisor.file != file || start > end {
                continue;
            }
            let Some(at) = text[start..end].find('/').map(|k| start + k) else { continue };
            match scalar {
                Some(ScalarTy::Int) => places.push(at),
                Some(_) => {}
                None => open.push(messages::open_quotient(dividend.to(divisor))),
            }
        }
        places.sort_unstable();
        places.dedup();
        let mut upgraded = text.to_string();
        places.iter().rev().for_each(|at| upgraded.insert(*at, '/'));
        open.dedup();
        Ok((upgraded, open))
    }
}

/// The part of the text between the operands. A section, `(/ b)` or `(a /)`, has the place of the
/// whole in the place of the operand that it lacks.
fn around(dividend: Span, divisor: Span) -> (usize, usize) {
    let start = if dividend.start <= divisor.start && divisor.end <= dividend.end {
        dividend.start
    } else {
        dividend.end
    };
    let end = if divisor.start <= dividend.start && dividend.end <= divisor.end {
        divisor.end
    } else {
        divisor.start
    };
    (start as usize, end as usize)
}

#[cfg(test)]
mod tests {
    use crate::Session;

    #[test]
    fn quotients_of_ints_and_their_sections() {
        let old = "def a (xs : []int) = map (/ 2) xs\n\
                   def b (xs : []int) = map (12 /) xs\n\
                   def c (n : int) (k : int) = (/) n k + n / k\n\
                   def d (xs : []real) = map (/ (4 / 2)) xs\n\
                   def e (xs : []int) = fold (/) 1000 xs\n";
        let (new, open) = Session::new().upgrade("old.lam", old, None).expect("it has types");
        let expected = "def a (xs : []int) = map (// 2) xs\n\
                        def b (xs : []int) = map (12 //) xs\n\
                        def c (n : int) (k : int) = (//) n k + n // k\n\
                        def d (xs : []real) = map (/ (4 / 2)) xs\n\
                        def e (xs : []int) = fold (//) 1000 xs\n";
        assert_eq!(new, expected);
        assert!(open.is_empty(), "{open:?}");
    }
}
