//! Functions that only run time knows: functions returned by recursive functions, functions that
//! would contain their own code, and functions in nodes. Each type has one node type, with a
//! constructor for every λ that becomes such a function (its fields are the environment), and one
//! library function `apply`. Both grow while code is written, so `apply` is written after all other
//! code.

use std::rc::Rc;

use lambada_anf::{Atom, Elem, FnId, Op, Out, Ty};
use lambada_core::Ty as CoreTy;

use super::{Evaluator, Hint, nodes, sketches, slots};
use crate::messages;
use crate::sketch::{Filled, Sketch};
use crate::val::{Closure, CodeKind, FunVal, Leaf, NodeVal, Val};
use crate::{Eval, ill_typed};

impl Evaluator<'_> {
    // Making

    /// A function as a node; inside arrays, a family of them.
    pub(crate) fn dynamic_family(
        &mut self,
        fun: &FunVal,
        ty: &CoreTy,
        extents: &[Atom],
    ) -> Eval<Leaf> {
        let Some((extent, inner)) = extents.split_first() else { return self.dynamic(fun, ty) };
        let node = slots::node_type(self, ty);
        let index = self.emit.enter_for(*extent);
        let element = Val::Fun(Rc::new(fun.clone())).at(index.into());
        let handle = self.dynamic_family(element.as_fun()?, ty, inner)?;
        let ty = Ty { elem: Elem::Ref(node), dims: extents.to_vec() };
        let out = (Out::Collect, ty, "functions".into());
        let atom = self.emit.leave_for(index, *extent, out, handle.atom);
        Ok(Leaf::stored(atom, extents.len()).of(Elem::Ref(node)))
    }

    /// A function as a node.
    fn dynamic(&mut self, fun: &FunVal, ty: &CoreTy) -> Eval<Leaf> {
        if let Some(closure) = fun.known() {
            return self.dynamic_closure(closure, ty);
        }
        let node = slots::node_type(self, ty);
        if fun.alternatives.is_empty() {
            return Ok(Leaf::scalar(Atom::int(0)).of(Elem::Ref(node)));
        }
        let tag = self.emit.force(&fun.tag);
        let numbers: Vec<i64> = fun.alternatives.iter().map(|c| c.code.number).collect();
        let value = self.select(tag, &numbers, None, &mut |this, k| {
            let handle = this.dynamic_closure(&fun.alternatives[k], ty)?;
            Ok(sketches::node_val(this, ty, handle))
        })?;
        Ok(value.as_node()?.handle.clone())
    }

    fn dynamic_closure(&mut self, closure: &Closure, ty: &CoreTy) -> Eval<Leaf> {
        if closure.env.iter().any(|val| matches!(val, Val::Acc(_))) {
            return Err(Box::new(messages::adds_dynamically()));
        }
        let sketches = sketches::captured(self, closure)?;
        let fields = slots::filled(self, &sketches, &closure.env)?.atoms;
        let tag = self.dynamic_tag(closure, sketches, ty)?;
        let node = slots::node_type(self, ty);
        Ok(self.emit.node(node, tag, fields))
    }

    /// The constructor of a closure.
    fn dynamic_tag(
        &mut self,
        closure: &Closure,
        sketches: Vec<Sketch>,
        ty: &CoreTy,
    ) -> Eval<usize> {
        let node = slots::node_type(self, ty);
        let name_of_type = lambada_core::print_type(self.program, ty);
        let dynamic = self.library.dynamic(ty);
        let tag = dynamic.tag(closure.code.number, &sketches);
        if tag < dynamic.codes.len() {
            return Ok(tag);
        }
        dynamic.codes.push((closure.code.number, sketches.clone()));
        if dynamic.frozen {
            self.library.set_late();
            return Err(Box::new(messages::circle(&[&name_of_type])));
        }
        let name = match &closure.code.kind {
            CodeKind::Lambda { var, .. } => format!("Function_{}_{tag}", var.hint),
            CodeKind::Tangent { .. } => format!("Tangent_{tag}"),
            CodeKind::Adder { .. } => format!("Adder_{tag}"),
            CodeKind::Pullback(_) => format!("Pullback_{tag}"),
        };
        let constructor = slots::constructor_of(self, name, &sketches);
        self.emit.library.nodes[node.0 as usize].constructors.push(constructor);
        Ok(tag)
    }

    /// Turns functions into nodes where another value of the type has nodes.
    pub(super) fn reconciled(&mut self, val: Val, other: &Val) -> Eval<Val> {
        if !meets_node(&val, other) {
            return Ok(val);
        }
        self.reconcile(&val, other, &mut Vec::new())
    }

    /// [`Self::reconciled`] for the elements of arrays of sizes `extents`, with a value that
    /// replaces one of them.
    pub(super) fn reconciled_family(
        &mut self,
        elem: &Val,
        other: &Val,
        extents: &[Atom],
    ) -> Eval<Val> {
        if !meets_node(elem, other) {
            return Ok(elem.clone());
        }
        self.reconcile(elem, other, &mut extents.to_vec())
    }

    /// Makes all values have the same functions as nodes.
    pub(super) fn all_reconciled(&mut self, mut vals: Vec<Val>) -> Eval<Vec<Val>> {
        for k in 1..vals.len() {
            let (first, next) = (vals[0].clone(), vals[k].clone());
            vals[0] = self.reconciled(first, &next)?;
        }
        let first = vals.first().cloned();
        let rest = vals.into_iter().map(|val| match &first {
            Some(first) => self.reconciled(val, first),
            None => Ok(val),
        });
        rest.collect()
    }

    fn reconcile(&mut self, val: &Val, other: &Val, extents: &mut Vec<Atom>) -> Eval<Val> {
        if let (Val::Fun(fun), Val::Node(node)) = (val, other) {
            let handle = self.dynamic_family(fun, &node.ty, extents)?;
            return Ok(sketches::node_val(self, &node.ty, handle));
        }
        let depth = extents.len();
        extents.extend(val.as_array().ok().map(|array| array.extent));
        let value = val.try_zip_map(other, &mut |val, other| self.reconcile(val, other, extents));
        extents.truncate(depth);
        value
    }

    // Applying

    /// `f x` for a function that only run time knows.
    pub(super) fn apply_dynamic(&mut self, f: &NodeVal, x: &Val, hint: Hint) -> Eval<Val> {
        let CoreTy::Fun(from, to) = &f.ty else { return Err(ill_typed()) };
        let function = match self.library.dynamic(&f.ty).apply {
            Some((function, _)) => function,
            None => {
                let function = self.reserve()?;
                self.library.dynamic(&f.ty).apply = Some((function, None));
                function
            }
        };
        let mut arguments = Filled { atoms: vec![self.emit.force(&f.handle)], ..Filled::default() };
        slots::fill(self, &sketches::canonical(self, from), Some(x), &mut arguments)?;
        self.named(hint, |this| this.call_function(function, arguments, to))
    }

    /// Writes the `apply` functions, until they know all codes.
    pub(crate) fn complete(&mut self) -> Eval<()> {
        while let Some((ty, function)) = self.library.incomplete() {
            self.write_apply(&ty, function)?;
        }
        Ok(())
    }

    fn write_apply(&mut self, ty: &CoreTy, function: FnId) -> Eval<()> {
        let CoreTy::Fun(from, to) = ty else { return Err(ill_typed()) };
        let dynamic = self.library.dynamic(ty);
        let codes = dynamic.codes.clone();
        dynamic.apply = Some((function, Some(codes.len())));
        let sketches = [Sketch::Node(ty.clone()), sketches::canonical(self, from)];
        let hints = ["f".into(), "x".into()];
        self.function(function, "apply", &sketches, &hints, to, &mut |this, vals| {
            let [Val::Node(f), x] = &vals[..] else { return Err(ill_typed()) };
            if codes.is_empty() {
                return Ok(this.absent(to));
            }
            let handle = this.emit.force(&f.handle);
            let tag = match codes.len() {
                1 => Atom::int(0),
                _ => this.emit.bind("tag", Ty::int(), Op::Tag(handle)),
            };
            let numbers: Vec<i64> = (0..codes.len() as i64).collect();
            this.select(tag, &numbers, None, &mut |this, k| {
                let (number, sketches) = &codes[k];
                let env = nodes::fields(this, handle, k, sketches, &[])?;
                let f = Val::closure(this.codes.of(*number), env);
                let value = this.apply(&f, x.clone(), to, None)?;
                this.by_type(&value, to)
            })
        })
    }

    /// The value in the canonical form of its type.
    pub(super) fn by_type(&mut self, value: &Val, ty: &CoreTy) -> Eval<Val> {
        let sketch = [sketches::canonical(self, ty)];
        let atoms = slots::filled(self, &sketch, std::slice::from_ref(value))?.atoms;
        Ok(slots::instances(self, &sketch, atoms)?.remove(0))
    }
}

/// Whether a value has a function where the other has a node.
pub(super) fn meets_node(val: &Val, other: &Val) -> bool {
    let here = matches!((val, other), (Val::Fun(_), Val::Node(_)));
    here || val.zip(other).into_iter().any(|(val, other)| meets_node(val, other))
}
