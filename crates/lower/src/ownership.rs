//! The ownership of array parameters and the destinations of results: a fixed point over the
//! library, because functions call each other.
//!
//! *Gives* the least ownership: a parameter is the function's own only if the function, or a callee
//! that it passes the array to, updates it.

use lambada_anf::{Function, Library, Param};

use crate::facts::Facts;
use crate::signatures::{Signature, Signatures, Way, each};

impl Signatures {
    /// The signatures of a library, the least fixed point.
    pub(crate) fn of(library: &Library) -> Signatures {
        let first = |f: &Option<Function>| f.as_ref().map(Signature::first).unwrap_or_default();
        let mut signatures = Signatures(library.functions.iter().map(first).collect());
        loop {
            let next = |(f, old): (&Option<Function>, &Signature)| {
                f.as_ref().map(|f| signatures.next(f, old)).unwrap_or_default()
            };
            let next = library.functions.iter().zip(&signatures.0).map(next).collect();
            let next = Signatures(next);
            if next == signatures {
                return signatures;
            }
            signatures = next;
        }
    }

    /// The next approximation of a function's signature, from those of its callees. It only grows.
    fn next(&self, function: &Function, old: &Signature) -> Signature {
        let facts = Facts::new(function, self);
        let mut signature = old.clone();
        signature.makes_nodes |= self.makes_nodes(&function.body);
        each(&function.body, &mut |stm| {
            self.consumed(&stm.exp, &mut |var| {
                for origin in facts.origins(var) {
                    if let Some(k) = function.params.iter().position(|p| p.var == origin) {
                        signature.owned[k] = true;
                    }
                }
            });
        });
        for (k, result) in function.body.results.iter().enumerate() {
            if signature.ways[k] == Way::Destination {
                let origins = facts.origins_of(*result);
                let fits = |(p, param): &(usize, &Param)| {
                    signature.owned[*p]
                        && param.ty == function.results[k]
                        && origins.contains(&param.var)
                        && !signature.ways.contains(&Way::InPlace(*p))
                };
                if let Some((p, _)) = function.params.iter().enumerate().find(fits) {
                    signature.ways[k] = Way::InPlace(p);
                }
            }
        }
        signature
    }
}
