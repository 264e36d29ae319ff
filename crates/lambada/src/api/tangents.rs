//! Tangents as arguments of a compiled derivative: by parameter or by field of a parameter
//! [default: zero].

use std::sync::Arc;

use lambada_core::Data;

use super::arg::{Arg, Args, IntoArg, Ordered};
use super::derivative::Derivative;
use super::error::Error;
use crate::call::zeros_like;
use crate::data::names_match;
use crate::fields::{inside, inside_mut};

impl Derivative {
    /// Number of parameters of the definition itself.
    fn own(&self) -> usize {
        let slots = &self.compiled.plan.slots;
        let names = self.wrt.len();
        let split = slots.len() >= names
            && slots[slots.len() - names..].iter().map(|slot| &slot.name).eq(self.wrt.iter());
        slots.len() - if split { names } else { 1 }
    }

    /// Runs `run` on arguments and tangents; missing tangents are zero.
    pub(super) fn along<R>(
        &self,
        args: &Args<'_>,
        tangents: &Args<'_>,
        run: impl FnOnce(&[Option<&Arg<'_>>]) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let (own, all) = (self.own(), self.compiled.plan.slots.len());
        let point = self.compiled.ordered(args, 0, own)?;
        if let Some(slot) = point.iter().position(Option::is_none) {
            return Err(self.compiled.missing(slot));
        }
        let gathered = self.gathered(tangents, &point);
        let tangents = gathered.as_ref().unwrap_or(tangents);
        let tangent = match all - own == self.wrt.len() {
            true => self.compiled.ordered(tangents, own, all)?,
            false => return self.packed(tangents, &point, run),
        };
        let missing = self.wrt.iter().zip(&tangent).filter(|(_, tangent)| tangent.is_none());
        let zeros: Vec<Arg> = missing.map(|(name, _)| self.zeros(name, &point)).collect();
        let mut zeros = zeros.iter();
        let tangents = tangent.iter().map(|given| given.or_else(|| zeros.next()));
        let given: Ordered = point.iter().copied().chain(tangents).collect();
        run(&given)
    }

    /// As [`along`](Derivative::along), if one tuple holds all tangents because they contain
    /// recursive data.
    fn packed<R>(
        &self,
        tangents: &Args<'_>,
        point: &Ordered<'_>,
        run: impl FnOnce(&[Option<&Arg<'_>>]) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let mut given = Ordered::new();
        let placed = tangents.in_order(self.wrt.iter().map(|name| &**name), &mut given);
        placed.map_err(|_| Error::misuse("a tangent belongs to none of the parameters".into()))?;
        let item = |(name, tangent): (&Arc<str>, &Option<&Arg>)| match tangent {
            Some(tangent) => tangent.data().into_owned(),
            None => self.zeros(name, point).data().into_owned(),
        };
        let items: Vec<Data> = self.wrt.iter().zip(&given).map(item).collect();
        let packed = Data::Tuple(items).into_arg();
        let given: Ordered = point.iter().copied().chain([Some(&packed)]).collect();
        run(&given)
    }

    /// The zero tangent of a parameter or field at `point`.
    fn zeros(&self, name: &Arc<str>, point: &Ordered<'_>) -> Arg<'static> {
        let slots = || self.compiled.plan.slots.iter().zip(point);
        let of = |name: &str| slots().find(|(slot, _)| names_match(&slot.name, name));
        let whole = |name: &str| Some((*of(name)?.1)?.to_data());
        let field = || {
            let mut path = name.split('.').map(str::trim);
            let root = whole(path.next()?)?;
            inside(&root, path).cloned()
        };
        let at = whole(name).or_else(field);
        at.map_or_else(|| Data::unit().into_arg(), |at| zeros_like(&at).into_arg())
    }

    /// Collects tangents of fields into a tangent of the whole parameter, zero elsewhere; `None` if
    /// no tangent names a field. Names that match no field stay, so that ordering the tangents
    /// reports them.
    fn gathered<'t>(&self, tangents: &'t Args<'_>, point: &Ordered<'_>) -> Option<Args<'t>> {
        let items = || tangents.iter();
        if !items().any(|(name, _)| name.is_some_and(|name| self.split(name).is_some())) {
            return None;
        }
        let mut wholes: Vec<(&Arc<str>, Data)> = Vec::new();
        let mut all = Args::new();
        for (name, arg) in items() {
            let Some(name) = name else {
                all.push(arg.clone());
                continue;
            };
            let placed = self.split(name).is_some_and(|(outer, path)| {
                let known = wholes.iter().position(|(known, _)| *known == outer);
                let at = known.unwrap_or_else(|| {
                    wholes.push((outer, self.zeros(outer, point).to_data()));
                    wholes.len() - 1
                });
                let field = inside_mut(&mut wholes[at].1, path.split('.').map(str::trim));
                field.map(|field| *field = arg.to_data()).is_some()
            });
            if !placed {
                all.insert(name.to_string(), arg.clone());
            }
        }
        for (name, whole) in wholes {
            all.insert(name.to_string(), whole);
        }
        Some(all)
    }

    /// The differentiated parameter that contains the field `name`, and the path to the field.
    fn split<'s>(&self, name: &'s str) -> Option<(&Arc<str>, &'s str)> {
        let is_own = |name: &str| self.wrt.iter().find(|known| names_match(known, name));
        if !name.contains('.') || is_own(name).is_some() {
            return None;
        }
        let dots = name.match_indices('.').map(|(at, _)| at);
        dots.rev().find_map(|at| Some((is_own(name[..at].trim())?, &name[at + 1..])))
    }
}
