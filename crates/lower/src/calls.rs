//! Calls: arguments by reference, and results in their wanted places; see [`crate::signatures`].

use std::rc::Rc;

use lambada_anf::{Atom, FnId, Function, Stm, Ty, Var};
use lambada_loops::{Arg, Operand, Release, ResultTarget};
use lambada_prim::TOO_DEEP;

use crate::Lower;
use crate::memory::{LoweredValue, Place};
use crate::signatures::{Signature, Way};

/// A call during lowering.
struct Call<'a> {
    stm: &'a Stm,
    callee: &'a Function,
    signature: &'a Signature,
    /// The arguments.
    values: Vec<LoweredValue>,
    /// Places that the function may write to, as decided so far.
    taken: Vec<Place>,
}

impl<'a> Lower<'a> {
    pub(crate) fn call(
        &mut self,
        stm: &'a Stm,
        function: FnId,
        args: &'a [Atom],
        accumulators: &[Var],
    ) {
        let callee = self.library.function(function).expect("what is called is complete");
        let signature = self.signatures.get(function);
        let values: Vec<LoweredValue> = args.iter().map(|arg| self.env.value(*arg)).collect();
        let mut call = Call { stm, callee, signature, values, taken: Vec::new() };
        let (mut passed, places) = self.arguments(&mut call);
        for acc in accumulators {
            let place = self.env.place((*acc).into());
            passed.push(Arg::Buffer(self.pointer(&place)));
        }
        // By result: its place, or the destination that receives it.
        let mut results: Vec<Result<Place, ResultTarget>> = Vec::new();
        for (k, way) in signature.ways.iter().enumerate() {
            results.push(match way {
                Way::InPlace(p) => {
                    Ok(places[*p].clone().expect("an array has been made the function's own"))
                }
                Way::Destination => {
                    let place = self.destination(&call, k);
                    call.taken.push(place.clone());
                    passed.push(Arg::Buffer(self.pointer(&place)));
                    Ok(place)
                }
                Way::Scalar | Way::HandedOut => Err(self.taker(&call, k, *way)),
            });
        }
        let given = results.iter().filter_map(|result| result.as_ref().err().copied()).collect();
        let origin = stm.binds.first().and_then(|bind| self.env.origin(bind.var));
        let blame = (TOO_DEEP.into(), origin, signature.releases() != Some(Release::All));
        self.code.call(lambada_loops::FnId(function.0), passed, given, blame);
        self.bind_results(stm, results);
    }

    /// The arguments of the call; by parameter, the place of an array that becomes the function's
    /// own.
    fn arguments(&mut self, call: &mut Call<'a>) -> (Vec<Arg>, Vec<Option<Place>>) {
        let (mut passed, mut places) = (Vec::new(), Vec::new());
        for k in 0..call.values.len() {
            let (arg, own) = match call.values[k].clone() {
                LoweredValue::Scalar(value) => (Arg::Scalar(value), None),
                LoweredValue::Array(place) if call.signature.owned[k] => {
                    let own = self.own(call, k, &place);
                    call.taken.push(own.clone());
                    (Arg::Buffer(self.pointer(&own)), Some(own))
                }
                LoweredValue::Array(place) => (Arg::Buffer(self.pointer(&place)), None),
                LoweredValue::Elements(_) | LoweredValue::Cell(_) => {
                    unreachable!("an argument is a value")
                }
            };
            passed.push(arg);
            places.push(own);
        }
        (passed, places)
    }

    /// An argument for the function to overwrite: its memory if no other code needs it, else a
    /// copy.
    fn own(&mut self, call: &Call<'a>, k: usize, place: &Place) -> Place {
        let is_alone = call.values.iter().enumerate().all(|(j, other)| match other {
            LoweredValue::Array(other) => {
                j == k || !self.memory.overlap(other.storage, place.storage)
            }
            LoweredValue::Scalar(_) | LoweredValue::Elements(_) | LoweredValue::Cell(_) => true,
        });
        if is_alone && self.is_apart(place, &call.taken) && self.take_but_rows(place) {
            return place.clone();
        }
        let result = call.signature.ways.iter().position(|way| *way == Way::InPlace(k));
        let copy = match result.and_then(|r| self.wanted_apart(call, r)) {
            Some(wanted) => Place { dims: place.dims.clone(), ..wanted },
            None => return self.duplicate(place),
        };
        self.copy(place, &copy);
        copy
    }

    /// The wanted place of a result, if the function may write there.
    fn wanted_apart(&self, call: &Call<'a>, k: usize) -> Option<Place> {
        let wanted = self.memory.wanted(call.stm.binds[k].var)?;
        (self.is_free(wanted, &[]) && self.is_apart(wanted, &call.taken)).then(|| wanted.clone())
    }

    /// Memory for a result whose sizes follow from the arguments.
    fn destination(&mut self, call: &Call<'a>, k: usize) -> Place {
        let ty: &Ty = &call.callee.results[k];
        let size = |dim: &Atom| match dim {
            Atom::Lit(value) => Operand::Lit(*value),
            Atom::Var(var) => {
                let p = call.callee.params.iter().position(|p| p.var == *var);
                match &call.values[p.expect("the size is a parameter")] {
                    LoweredValue::Scalar(value) => *value,
                    LoweredValue::Array(_) | LoweredValue::Elements(_) | LoweredValue::Cell(_) => {
                        unreachable!("a size is a scalar")
                    }
                }
            }
        };
        let dims: Rc<[Operand]> = ty.dims.iter().map(size).collect();
        if let Some(wanted) = self.wanted_apart(call, k) {
            return Place { dims, ..wanted };
        }
        let var = call.stm.binds[k].var;
        let (hint, origin) = (self.env.hint(var), self.env.origin(var));
        self.alloc_at(self.code.level(), ty.elem.scalar(), dims, hint, origin)
    }

    /// The destination of a result that the function hands out.
    fn taker(&mut self, call: &Call<'a>, k: usize, way: Way) -> ResultTarget {
        let (bind, elem) = (&call.stm.binds[k], call.callee.results[k].elem.scalar());
        let hint = self.env.hint(bind.var);
        if way == Way::Scalar {
            return ResultTarget::Cell(self.code.cell(elem, Operand::Lit(elem.zero()), hint));
        }
        let (level, nothing) = (self.code.level(), [Operand::int(0)]);
        ResultTarget::Buffer(self.code.alloc(level, elem, &nothing, hint, None))
    }

    /// Binds the results, scalars first, because they are the sizes of arrays.
    fn bind_results(&mut self, stm: &Stm, results: Vec<Result<Place, ResultTarget>>) {
        let mut arrays = Vec::new();
        for (bind, result) in stm.binds.iter().zip(results) {
            match result {
                Err(ResultTarget::Cell(cell)) => {
                    let value = self.code.get(cell);
                    self.bind(bind.var, LoweredValue::Scalar(value));
                }
                Err(ResultTarget::Buffer(_)) | Ok(_) => arrays.push((bind, result)),
            }
        }
        for (bind, result) in arrays {
            let place = match result {
                Ok(place) => Place { dims: self.env.dims(&bind.ty), ..place },
                Err(ResultTarget::Buffer(buf)) => self.named(buf, bind),
                Err(ResultTarget::Cell(_)) => unreachable!("scalars have been bound"),
            };
            self.bind(bind.var, LoweredValue::Array(place));
        }
    }
}
