//! Definitions that are not functions: one that a recursive function mentions is evaluated before
//! it is called, once, and passed.

use lambada_anf::Stm;
use lambada_core::{DefId, Term, TermKind};

use super::Evaluator;
use crate::Eval;
use crate::sketch::Sketch;
use crate::val::{CodeKind, Val};

impl Evaluator<'_> {
    /// The definitions to pass to a code that is called with arguments of these sketches, and their
    /// values.
    pub(super) fn shared(
        &mut self,
        number: i64,
        sketches: &[Sketch],
    ) -> Eval<(Vec<DefId>, Vec<Val>)> {
        let mut codes = vec![number];
        sketches.iter().for_each(|sketch| codes_in(sketch, &mut codes));
        let (mut visited, mut ids) = (Vec::new(), Vec::new());
        for number in codes {
            if let CodeKind::Lambda { body, .. } = &self.codes.of(number).kind {
                self.constants_in(body, &mut visited, &mut ids);
            }
        }
        let (mut shared, mut vals) = (Vec::new(), Vec::new());
        for id in ids {
            if let Some(val) = self.constant(id)? {
                shared.push(id);
                vals.push(val);
            }
        }
        Ok((shared, vals))
    }

    /// Adds the definitions that are not functions, and that a term mentions or a function that it
    /// mentions.
    fn constants_in(&self, term: &Term, visited: &mut Vec<DefId>, found: &mut Vec<DefId>) {
        for id in term.globals() {
            if visited.contains(&id) {
                continue;
            }
            visited.push(id);
            let body = &self.program.def(id).body;
            if !self.types.is_data(self.program, body.ty()) {
                self.constants_in(body, visited, found);
            } else if !matches!(body.kind(), TermKind::Lit(_)) {
                found.push(id);
            }
        }
    }

    /// The value of a definition that is not a function, if it cannot fail.
    fn constant(&mut self, id: DefId) -> Eval<Option<Val>> {
        if let Some(value) = self.evaluated(id) {
            return Ok(Some(value.clone()));
        }
        if self.emit.level() > 0 {
            let value = self.at_the_beginning(&self.program.def(id).body)?;
            if value.is_some() {
                self.local.env.set_constant(id, value.clone());
            }
            return Ok(value);
        }
        let mark = self.emit.checkpoint();
        let before = self.local.env.constant(id).cloned();
        let value = self.global(id)?;
        if !self.emit.stms()[mark.stms..].iter().any(Stm::may_not_return) {
            return Ok(Some(value));
        }
        self.emit.rewind(mark);
        self.local.env.set_constant(id, before);
        Ok(None)
    }

    /// The value of a definition that has been evaluated where it is visible here.
    pub(super) fn evaluated(&self, id: DefId) -> Option<&Val> {
        self.local.env.constant(id).filter(|value| self.is_visible(value))
    }
}

/// Adds the codes of the functions in a sketch.
fn codes_in(sketch: &Sketch, codes: &mut Vec<i64>) {
    match sketch {
        Sketch::Leaf(_) | Sketch::Zero(_) | Sketch::Adds(_) | Sketch::Node(_) | Sketch::Acc(_) => {}
        Sketch::Tuple(items) => items.iter().for_each(|s| codes_in(s, codes)),
        Sketch::Array(elem) => codes_in(elem, codes),
        Sketch::Variant { fields, .. } => {
            fields.iter().flatten().flatten().for_each(|s| codes_in(s, codes));
        }
        Sketch::Fun { alternatives, .. } => {
            for (number, env) in alternatives {
                codes.push(*number);
                env.iter().for_each(|s| codes_in(s, codes));
            }
        }
    }
}
