//! Functions in the state of a loop that an iteration makes anew, so that only run time knows them:
//! they are nodes from the start.
//!
//! ```text
//!   loop g = id for k < n do (\x -> 2 * g x)
//!       the code of each function would contain that of the one before
//!   loop g = id for k < n do (let xs = for i < k => … in \x -> x * sum xs)
//!       the captured array has another size each time
//! ```
//!
//! *Gives* the initial state with these functions as nodes; all others stay static. The module also
//! serves functions that are elements of an array, because each may capture arrays of its own
//! sizes:
//!
//! ```text
//!   for k < n => (let xs = for i < k => … in \x -> x * sum xs)
//! ```

use std::collections::HashSet;
use std::rc::Rc;

use lambada_anf::Atom;
use lambada_core::Ty as CoreTy;

use super::changing::{Carried, differing};
use super::{Evaluator, sketches};
use crate::Eval;
use crate::emit::Emit;
use crate::guards::guarded_extents;
use crate::val::{FunVal, Val, part};

/// The functions of a state that an iteration changes, by their address in the state.
pub(super) type Changed = HashSet<*const FunVal>;

/// The functions in a state that an iteration changes, among those that can be nodes.
pub(super) fn changed(
    state: &Val,
    next: &Val,
    test: &mut dyn FnMut(&Val, &Val) -> bool,
) -> Changed {
    let mut found = Changed::new();
    collect(state, next, test, &mut found);
    found
}

fn collect(state: &Val, next: &Val, test: &mut dyn FnMut(&Val, &Val) -> bool, into: &mut Changed) {
    if let (Val::Fun(function), Val::Fun(_)) = (state, next)
        && !adds(state)
        && !adds(next)
        && test(state, next)
    {
        into.insert(Rc::as_ptr(function));
    }
    state.zip(next).into_iter().for_each(|(s, n)| collect(s, n, test, into));
}

/// Whether captured arrays may have other sizes after the iteration. A size that is state must stay
/// equal, too.
pub(super) fn captures_other_sizes(emit: &Emit, state: &Val, next: &Val) -> bool {
    !differing(emit, state, next, &Carried::new()).is_empty()
}

/// Whether the value has an accumulator: a function that adds to one cannot be a node.
fn adds(val: &Val) -> bool {
    matches!(val, Val::Acc(_)) || val.children().into_iter().any(adds)
}

/// An element of an array that the innermost block computes. Functions that capture arrays of sizes
/// known only to this block become nodes.
pub(super) fn with_own_sizes(of: &mut Evaluator, element: Val, ty: &CoreTy) -> Eval<Val> {
    let (emit, level) = (&of.emit, of.emit.level());
    let own = changed(&element, &element, &mut |function, _| {
        let is_own = |size: Atom| {
            !emit.is_outside(size, level) && !emit.poly_is_outside(&emit.facts.poly(size), level)
        };
        guarded_extents(function).into_iter().any(|(size, _)| is_own(size))
    });
    if own.is_empty() {
        return Ok(element);
    }
    let nodes = with_nodes(of, &element, (&element, &element), ty, &own)?;
    Ok(nodes.unwrap_or(element))
}

/// Elements of an array. Functions that capture arrays of different sizes become nodes.
pub(super) fn with_other_sizes(
    of: &mut Evaluator,
    mut elements: Vec<Val>,
    ty: &CoreTy,
) -> Eval<Vec<Val>> {
    for k in 1..elements.len() {
        let emit = &of.emit;
        let differ =
            changed(&elements[0], &elements[k], &mut |a, b| captures_other_sizes(emit, a, b));
        let (first, other) = (elements[0].clone(), elements[k].clone());
        if !differ.is_empty()
            && let Some(nodes) = with_nodes(of, &first, (&first, &other), ty, &differ)?
        {
            elements[0] = nodes;
        }
    }
    of.all_reconciled(elements)
}

/// The initial state with the `changed` functions as nodes; `None` if it has none.
pub(super) fn with_nodes(
    of: &mut Evaluator,
    init: &Val,
    (state, next): (&Val, &Val),
    ty: &CoreTy,
    changed: &Changed,
) -> Eval<Option<Val>> {
    let mut nodes = Nodes { changed, extents: Vec::new(), found: false };
    let init = nodes.value(of, Some(init), (state, next), ty)?;
    Ok(nodes.found.then_some(init).flatten())
}

struct Nodes<'c> {
    changed: &'c Changed,
    /// The sizes of the enclosing arrays.
    extents: Vec<Atom>,
    found: bool,
}

impl Nodes<'_> {
    /// The value with nodes, or an absent value if the initial state lacks it; `None` if no value
    /// is needed.
    fn value(
        &mut self,
        of: &mut Evaluator,
        init: Option<&Val>,
        (state, next): (&Val, &Val),
        ty: &CoreTy,
    ) -> Eval<Option<Val>> {
        match (state, next, ty) {
            (Val::Fun(s), Val::Fun(_), _) => {
                if !self.changed.contains(&Rc::as_ptr(s)) {
                    return Ok(init.cloned());
                }
                self.found = true;
                let absent = self.absent(of, ty);
                let Val::Fun(fun) = init.unwrap_or(&absent) else { return Ok(init.cloned()) };
                let handle = of.dynamic_family(fun, ty, &self.extents)?;
                Ok(Some(sketches::node_val(of, ty, handle)))
            }
            (Val::Tuple(s), Val::Tuple(n), CoreTy::Tuple(_) | CoreTy::Record(_)) => {
                let init = part(init, Val::as_tuple)?;
                let items = self.list(of, init, (s, n), &ty.components())?;
                Ok(items.map(Val::tuple))
            }
            (Val::Array(s), Val::Array(n), CoreTy::Array(elem)) => {
                let array = part(init, Val::as_array)?;
                let extent = array.map_or(Atom::int(0), |array| array.extent);
                self.extents.push(extent);
                let inner = self.value(of, array.map(|a| &a.elem), (&s.elem, &n.elem), elem)?;
                self.extents.pop();
                Ok(inner.map(|elem| Val::array(extent, elem)))
            }
            (Val::Variant(s), Val::Variant(n), CoreTy::Variant(id)) => {
                let absent = self.absent(of, ty);
                let own = init.unwrap_or(&absent).as_variant()?;
                let mut fields = Vec::new();
                for (k, (_, types)) in of.program.type_decl(*id).constructors.iter().enumerate() {
                    let own = own.fields[k].as_deref();
                    fields.push(match (&s.fields[k], &n.fields[k]) {
                        (Some(s), Some(n)) => self.list(of, own, (s, n), types)?,
                        (None, _) | (_, None) => own.map(<[Val]>::to_vec),
                    });
                }
                let is_there = init.is_some() || fields.iter().any(Option::is_some);
                Ok(is_there.then(|| Val::variant(own.tag.clone(), fields)))
            }
            (..) => Ok(init.cloned()),
        }
    }

    /// Values of a list: if one is present, absent values fill the rest.
    fn list(
        &mut self,
        of: &mut Evaluator,
        init: Option<&[Val]>,
        (state, next): (&[Val], &[Val]),
        types: &[CoreTy],
    ) -> Eval<Option<Vec<Val>>> {
        let mut found = Vec::with_capacity(types.len());
        for (k, ty) in types.iter().enumerate() {
            let own = init.map(|vals| &vals[k]);
            found.push(self.value(of, own, (&state[k], &next[k]), ty)?);
        }
        if found.iter().all(Option::is_none) {
            return Ok(None);
        }
        let filled = found.into_iter().zip(types);
        Ok(Some(filled.map(|(val, ty)| val.unwrap_or_else(|| self.absent(of, ty))).collect()))
    }

    /// An absent value, equal for all elements of the enclosing arrays.
    fn absent(&self, of: &mut Evaluator, ty: &CoreTy) -> Val {
        self.extents.iter().fold(of.absent(ty), |val, _| val.same())
    }
}
