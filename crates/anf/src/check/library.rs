//! The library: node types are well formed, and calls and nodes agree with its types.
//!
//! * A field is a scalar, a handle or an array whose sizes are constants or `int` fields before it;
//!   a cell is a number or an array of numbers.
//! * A function of the library is checked as the entry is, in the scope of its parameters. Nothing
//!   is known of its sizes but by its own checks: the arrays of a program may have sizes that are
//!   negative, and then no elements.
//! * A call has the arguments, accumulators and results of the signature, with the arguments for
//!   the parameters in all sizes.
//! * The program gives the sizes of the bindings of `field`, `open` and `cell`, so that null has
//!   some; engines check that a node has the same sizes, and the expected constructor.

use lambada_prim::ScalarTy;

use super::{Check, Checker, ScopeEntry};
use crate::{
    Atom, Constructor, Elem, Field, FnId, Function, Library, NodeId, Op, Param, Renaming, Stm, Ty,
    Var,
};

/// Checks all parts of a program besides its entry.
pub(super) fn library(library: &Library) -> Check {
    for node in &library.nodes {
        for constructor in &node.constructors {
            fields(library, constructor)
                .map_err(|e| format!("{}.{}: {e}", node.name, constructor.name))?;
        }
    }
    for function in library.functions.iter().flatten() {
        let mut checker = Checker::new(function, library);
        let checked = checker.callee().and_then(|()| super::rules::rules(library, function));
        checked.map_err(|message| format!("{}: {message}", function.name))?;
    }
    Ok(())
}

fn fields(library: &Library, constructor: &Constructor) -> Check {
    for (k, field) in constructor.fields.iter().enumerate() {
        field_ty(library, &constructor.fields[..k], field)
            .map_err(|e| format!("{}: {e}", field.name))?;
    }
    Ok(())
}

fn field_ty(library: &Library, before: &[Field], field: &Field) -> Check {
    match field.ty.elem {
        Elem::Ref(NodeId(id)) if id as usize >= library.nodes.len() => {
            return Err(format!("there is no node type {id}"));
        }
        Elem::Ref(_) | Elem::Scalar(ScalarTy::Bool) if field.cell => {
            return Err("a cell holds numbers".into());
        }
        Elem::Ref(_) | Elem::Scalar(_) => {}
    }
    let is_size = |dim: &Atom| match dim {
        Atom::Lit(size) => size.ty() == ScalarTy::Int,
        Atom::Var(Var(k)) => before.get(*k as usize).is_some_and(|f| f.ty == Ty::int() && !f.cell),
    };
    if field.ty.dims.iter().all(is_size) {
        Ok(())
    } else {
        Err("its sizes are constants or `int` fields before it".into())
    }
}

impl Checker<'_> {
    /// Checks a callee: `⊢ function` with its sizes among its parameters.
    pub(super) fn callee(&mut self) -> Check {
        let function = self.function;
        if !function.sizes.is_empty() || !function.library.is_empty() {
            return Err("a function of the library has sizes or a library of its own".into());
        }
        self.params(&function.params)?;
        let named = |p: &Param| {
            let ints = function.params.iter().filter(|q| q.ty == Ty::int());
            let fine = |d: &Atom| d.as_var().is_none_or(|v| ints.clone().any(|q| q.var == v));
            p.ty.dims.iter().all(fine)
        };
        for p in &function.accumulators {
            self.well_formed(&p.ty)?;
            self.sums(p.ty.elem)?;
            self.bind(
                p.var,
                ScopeEntry::Accumulator { ty: p.ty.clone(), block: None, frozen: false },
            )?;
        }
        if !function.params.iter().chain(&function.accumulators).all(named) {
            return Err("the sizes of parameters are constants or `int` parameters".into());
        }
        self.result_sizes(function)?;
        self.body(function)
    }

    /// The sizes of results are constants, `int` parameters, or `int` results that stand before.
    fn result_sizes(&self, function: &Function) -> Check {
        for (k, ty) in function.results.iter().enumerate() {
            let before = function.body.results.iter().zip(&function.results).take(k);
            let known = |d: &Atom| {
                d.as_lit().is_some()
                    || function.params.iter().any(|p| Atom::Var(p.var) == *d)
                    || before.clone().any(|(atom, ty)| atom == d && *ty == Ty::int())
            };
            if !ty.dims.iter().all(known) {
                return Err(format!(
                    "a size of the result {} is neither constant, nor a parameter, nor a result before it",
                    self.show_ty(ty)
                ));
            }
        }
        Ok(())
    }

    pub(super) fn call(
        &mut self,
        stm: &Stm,
        function: FnId,
        args: &[Atom],
        accumulators: &[Var],
    ) -> Check {
        let Some(callee) = self.library.function(function) else {
            return Err(format!("there is no function {} yet", function.0));
        };
        self.against(&format!("the arguments of {}", callee.name), args, &callee.params)?;
        let mut renaming = Renaming::new();
        callee.params.iter().zip(args).for_each(|(p, a)| renaming.insert(p.var, *a));
        if accumulators.len() != callee.accumulators.len() {
            return Err(format!(
                "{} accumulators, not {}",
                accumulators.len(),
                callee.accumulators.len()
            ));
        }
        for (acc, p) in accumulators.iter().zip(&callee.accumulators) {
            let (ty, _) = self.open(*acc)?;
            let what = self.show(*acc);
            self.same_ty(&what, &ty, &renaming.ty(&p.ty))?;
        }
        if stm.binds.len() != callee.results.len() {
            return Err(format!("{} results, not {}", stm.binds.len(), callee.results.len()));
        }
        for (k, (bind, ty)) in stm.binds.iter().zip(&callee.results).enumerate() {
            let (what, before) = (self.show(bind.var), &stm.binds[..k]);
            let expected = returned_sizes(&renaming.ty(ty), ty, &bind.ty, before, callee);
            self.same_ty(&what, &bind.ty, &expected)?;
            if let Atom::Var(var) = callee.body.results[k]
                && *ty == Ty::int()
                && !callee.params.iter().any(|p| p.var == var)
            {
                renaming.insert(var, bind.var.into());
            }
        }
        self.bind_values(&stm.binds)
    }

    pub(super) fn node(&mut self, stm: &Stm, op: &Op) -> Check {
        let Op::Node { node, tag, fields, cells } = op else { return Ok(()) };
        let library = self.library;
        let Some(ty) = library.nodes.get(node.0 as usize) else {
            return Err(format!("there is no node type {}", node.0));
        };
        let Some(constructor) = ty.constructors.get(*tag as usize) else {
            return Err(format!("{} has no constructor {tag}", ty.name));
        };
        if *cells != ty.has_cells() {
            return Err(format!("that {} has cells is {}", ty.name, ty.has_cells()));
        }
        if fields.len() != constructor.fields.len() {
            return Err(format!("{} fields, not {}", fields.len(), constructor.fields.len()));
        }
        for (field, value) in constructor.fields.iter().zip(fields) {
            let expected = sized(&field.ty, fields);
            self.fits(&format!("the field {}", field.name), *value, &expected)?;
        }
        self.value(stm, &Ty::handle(*node))
    }

    pub(super) fn tag(&mut self, stm: &Stm, of: Atom) -> Check {
        self.handle(of)?;
        self.value(stm, &Ty::int())
    }

    /// The type of the node, if it is not null.
    fn handle(&self, atom: Atom) -> Check<Option<NodeId>> {
        match self.atom_ty(atom)? {
            Ty { elem: Elem::Ref(node), dims } if dims.is_empty() => Ok(Some(node)),
            _ if atom == Atom::int(0) => Ok(None),
            ty => Err(format!("{} is {}, not a handle", self.show_atom(atom), self.show_ty(&ty))),
        }
    }

    /// A field of a node is bound with its type, in sizes of the program.
    pub(super) fn field(&mut self, stm: &Stm, of: Atom, tag: u32, field: u32, cell: bool) -> Check {
        let bind = self.one(stm)?;
        self.well_formed(&bind.ty)?;
        // All fields of null are zero.
        let Some(node) = self.handle(of)? else { return Ok(()) };
        let ty = self.library.node(node);
        let constructor = ty.constructors.get(tag as usize);
        let Some(found) = constructor.and_then(|c| c.fields.get(field as usize)) else {
            return Err(format!("{} has no field {tag}.{field}", ty.name));
        };
        if found.cell != cell {
            return Err(format!("that {}.{} is a cell is {}", ty.name, found.name, found.cell));
        }
        let constant = |(a, b): (&Atom, &Atom)| b.as_lit().is_none() || a == b;
        let sizes = bind.ty.dims.iter().zip(&found.ty.dims).all(constant);
        if bind.ty.elem == found.ty.elem && bind.ty.rank() == found.ty.rank() && sizes {
            return Ok(());
        }
        Err(format!("the field {} is bound as {}", found.name, self.show_ty(&bind.ty)))
    }

    /// A cell is an accumulator that is never frozen.
    pub(super) fn open_cell(&mut self, stm: &Stm, of: Atom, tag: u32, field: u32) -> Check {
        self.field(stm, of, tag, field, true)?;
        let bind = self.one(stm)?;
        self.sums(bind.ty.elem)?;
        self.bind(
            bind.var,
            ScopeEntry::Accumulator { ty: bind.ty.clone(), block: None, frozen: false },
        )
    }
}

/// The type of a field of a node with these fields.
fn sized(ty: &Ty, fields: &[Atom]) -> Ty {
    let size = |d: &Atom| match d {
        Atom::Var(Var(k)) => fields[*k as usize],
        Atom::Lit(_) => *d,
    };
    Ty { elem: ty.elem, dims: ty.dims.iter().map(size).collect() }
}

/// The type of a result of a call: a size that the callee also returns may be the returned value,
/// though the signature knows it.
fn returned_sizes(expected: &Ty, ty: &Ty, bound: &Ty, before: &[Param], callee: &Function) -> Ty {
    let mut expected = expected.clone();
    for ((to, of), bound) in expected.dims.iter_mut().zip(&ty.dims).zip(&bound.dims) {
        let mut returned = before.iter().zip(&callee.body.results);
        if returned.any(|(p, result)| Atom::Var(p.var) == *bound && result == of) {
            *to = *bound;
        }
    }
    expected
}
