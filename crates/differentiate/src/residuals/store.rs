//! Rule 5: storing a value of the forward sweep in its home: an element of a tape for each
//! iteration, a field of the tape of a function, or a box.

use lambada_anf::{Atom, Exp, Op, Param, Stm, Ty, Var};
use lambada_prim::Scalar;

use super::{Boxed, Choice, EnclosingConstruct, Residual, SMALL};
use crate::flat::{Flat, Sizes};
use crate::tape::Layout;

impl Choice<'_> {
    /// Whether the forward sweep can hand out a value of this type at a cost that the body has
    /// already paid.
    pub(super) fn storable(&mut self, stm: &Stm, ty: &Ty) -> bool {
        let small = |size: &Atom| matches!(size, Atom::Lit(Scalar::Int(n)) if *n <= SMALL);
        let worth = match self.body.construct {
            EnclosingConstruct::Iteration { .. }
            | EnclosingConstruct::Branch { repeated: false }
            | EnclosingConstruct::Tape => true,
            EnclosingConstruct::Branch { repeated: true } => {
                ty.dims.iter().all(small) || self.mentions_state(stm)
            }
        };
        worth && ty.dims.iter().all(|size| self.outside_size(*size).is_some())
    }

    pub(super) fn mentions_state(&self, stm: &Stm) -> bool {
        let mentioned = stm.free_vars();
        mentioned.iter().any(|x| self.facts.is_state(*x))
    }

    /// Number of leading axes up to the last one whose size differs between iterations.
    pub(super) fn irregular_axes(&mut self, value: &Param) -> usize {
        let irregular: Vec<bool> =
            value.ty.dims.iter().map(|size| self.outside_size(*size).is_none()).collect();
        irregular.iter().rposition(|irregular| *irregular).map_or(0, |last| last + 1)
    }

    /// Whether the value can have a tape.
    pub(super) fn can_store_any(&mut self, value: &Param) -> bool {
        let axes = self.irregular_axes(value);
        axes == 0 || self.total(&value.ty.dims[..axes]).is_some()
    }

    /// Stores a value of any sizes.
    pub(super) fn store_any(&mut self, k: usize, value: &Param) {
        match self.irregular_axes(value) {
            0 => self.store(value),
            axes => self.store_flat(k, value, axes),
        }
    }

    /// The length of a flat tape of arrays with leading axes of sizes `leading`.
    pub(super) fn total(&mut self, leading: &[Atom]) -> Option<Stm> {
        let EnclosingConstruct::Iteration { index, extent, .. } = self.body.construct else {
            return None;
        };
        self.body.whole?;
        let (bound, binder, outside) = (&self.bound, &self.binder, &self.outside);
        let sizes = Sizes { index, extent, bound, binder, outside };
        sizes.total(self.names, leading)
    }

    pub(super) fn store_flat(&mut self, k: usize, value: &Param, axes: usize) {
        let EnclosingConstruct::Iteration { extent, .. } = self.body.construct else {
            unreachable!("flat tapes are of loops")
        };
        let (leading, rest) = value.ty.dims.split_at(axes);
        let hint = self.home_hint(value.var);
        let mut dims = Vec::new();
        dims.extend(rest.iter().map(|size| self.outside_size(*size).expect("it is regular")));
        // Flat tapes of arrays of the same sizes share the starts of their parts.
        let like = self.residuals.flat.iter().find(|flat| flat.sizes() == leading);
        let (total, start, starts) = match like {
            Some(flat) => (flat.home.ty.dims[0], flat.start.clone(), flat.starts.clone()),
            None => {
                let total = self.total(leading).expect("the sizes can be summed up");
                let length = total.binds[0].var.into();
                self.residuals.before.push(total);
                let mut fresh = |hint: String, ty: Ty| Param { var: self.names.fresh(hint), ty };
                let start = fresh(format!("{hint}_start"), Ty::int());
                let starts = fresh(format!("{hint}_starts"), Ty::int().array_of(extent));
                let stored = Residual { value: start.clone(), home: starts.clone() };
                self.residuals.stored.push(stored);
                (length, start, starts)
            }
        };
        dims.insert(0, total);
        let home = Param { var: self.names.fresh(hint), ty: Ty { elem: value.ty.elem, dims } };
        if self.undo.keeps(value.var) {
            [home.var, starts.var].into_iter().for_each(|x| self.undo.log(x));
        }
        let leading: Vec<Var> = leading.iter().filter_map(|size| size.as_var()).collect();
        self.demand(&leading);
        let flat = Flat { value: value.clone(), axes, home, start, starts };
        self.flats.entry(k).or_default().push(flat.clone());
        self.residuals.flat.push(flat);
    }

    /// The name hint of a home: `…_tape` in a `loop`; a `for` or an `if` keeps the name of the
    /// value.
    pub(super) fn home_hint(&self, x: Var) -> String {
        let name = self.names.hint(x);
        let is_tape = self.body.whole.is_some() && !name.ends_with("_tape");
        if is_tape { format!("{name}_tape") } else { name.to_string() }
    }

    /// Keeps an array of any sizes in a node, which is a scalar outside.
    pub(super) fn store_boxed(&mut self, at: usize, value: &Param) {
        let layout = Layout::of(self.names, std::slice::from_ref(value));
        let node = self.cx.boxed(layout.fields.clone());
        let hint = self.names.hint(value.var);
        let handle = Param { var: self.names.fresh(hint), ty: Ty::handle(node) };
        self.residuals.boxes.push((value.var, layout.make(node, handle.var)));
        let sizes: Vec<Var> = value.ty.dims.iter().filter_map(|size| size.as_var()).collect();
        self.demand(&sizes);
        self.store(&handle);
        let boxed = Boxed { value: value.clone(), handle: handle.var, layout };
        self.boxed.entry(at).or_default().push(boxed);
    }

    /// Keeps a value, and its sizes, on the tape.
    pub(super) fn store_on_tape(&mut self, value: &Param) {
        let sizes = value.ty.dims.iter().filter_map(|size| size.as_var());
        let sizes: Vec<Var> = sizes.filter(|x| self.bound.contains(x)).collect();
        self.sizes.extend(sizes.iter().filter(|x| !self.body.homes.contains_key(x)));
        self.demand(&sizes);
        let stored = || Residual { value: value.clone(), home: value.clone() };
        self.read.push(stored());
        self.residuals.stored.push(stored());
    }

    pub(super) fn store(&mut self, value: &Param) {
        if matches!(self.body.construct, EnclosingConstruct::Tape) {
            return self.store_on_tape(value);
        }
        let dims = value.ty.dims.iter().map(|size| {
            self.outside_size(*size).expect("what is stored has sizes that are known outside")
        });
        let mut ty = Ty { elem: value.ty.elem, dims: dims.collect() };
        if let EnclosingConstruct::Iteration { extent, .. } = self.body.construct {
            ty = ty.array_of(extent);
        }
        let hint = self.home_hint(value.var);
        let home = Param { var: self.names.fresh(hint), ty };
        if self.undo.keeps(value.var) {
            self.undo.log(home.var);
        }
        self.read.push(Residual { value: value.clone(), home: home.clone() });
        self.residuals.stored.push(Residual { value: value.clone(), home });
    }

    /// The size under a name in scope outside, or of a result next to the array.
    pub(super) fn outside_size(&mut self, size: Atom) -> Option<Atom> {
        let home = size.as_var().and_then(|x| self.body.homes.get(&x));
        match (&self.body.construct, home) {
            (EnclosingConstruct::Branch { .. }, Some(home)) => Some(home.var.into()),
            (EnclosingConstruct::Tape, _) => Some(size),
            (EnclosingConstruct::Branch { .. } | EnclosingConstruct::Iteration { .. }, _) => {
                self.before(size)
            }
        }
    }

    /// The size under a name in scope before the construct. Arithmetic on such sizes moves there.
    pub(super) fn before(&mut self, size: Atom) -> Option<Atom> {
        let Some(x) = size.as_var().filter(|x| self.bound.contains(x)) else { return Some(size) };
        if let Some(known) = self.outside_name(x) {
            return Some(known);
        }
        let stm = *self.binder.get(&x)?;
        let Exp::Op(Op::Prim(op, args)) = &stm.exp else { return None };
        let args: Vec<Atom> = args.iter().map(|arg| self.before(*arg)).collect::<Option<_>>()?;
        let var = self.names.again(x);
        self.residuals
            .before
            .push(Stm::new(vec![Param { var, ty: stm.binds[0].ty.clone() }], Op::Prim(*op, args)));
        self.outside.insert(x, var.into());
        Some(var.into())
    }

    pub(super) fn outside_name(&self, x: Var) -> Option<Atom> {
        Some(self.outside.atom(x.into())).filter(|name| *name != Atom::Var(x))
    }
}
