//! Inference of the sizes of variants in data. Data contain `Leaf`, not `Leaf : tree [3] real`. The
//! size `d` of its type follows from arrays in the value, from other arguments, or from the type
//! itself. An undetermined size is 0, as in an empty list.

use std::collections::HashMap;
use std::sync::Arc;

use lambada_core::{Data, Program, Size, SizedTy, Ty, TypeId, sized};
use lambada_prim::{Tensor, tells};
use lambada_source::stack;

/// A size with two different values.
#[derive(Debug)]
pub(crate) struct Conflict {
    /// Index of the value with the conflict.
    pub value: usize,
    /// Name of the size in the type of the variant or in the signature.
    pub size: Arc<str>,
    /// The size found first.
    pub known: usize,
    /// The conflicting size.
    pub found: usize,
}

/// Adds the sizes that their types require to all variants in `values`. `known` maps size names to
/// values.
///
/// # Errors
/// Two sizes that must be equal differ.
pub(crate) fn complete(
    program: &Program,
    known: &HashMap<Arc<str>, usize>,
    values: &mut [(&SizedTy, &mut Data)],
) -> Result<(), Conflict> {
    if program.types.iter().all(|decl| decl.sizes.is_empty()) {
        return Ok(());
    }
    let mut this = Completion { program, known, cells: Vec::new(), next: 0, writes: false };
    for writes in [false, true] {
        (this.writes, this.next) = (writes, 0);
        let mut scope = Scope { names: HashMap::new(), outermost: true };
        for (value, (ty, data)) in values.iter_mut().enumerate() {
            let ty = this.named(ty, &mut scope);
            let visited = this.visit(&ty, data, &mut scope);
            visited.map_err(|conflict| Conflict { value, ..conflict })?;
        }
    }
    Ok(())
}

/// Marks a size that is still unknown.
const OPEN: usize = usize::MAX;

/// State of the inference. Both passes number the sizes alike.
struct Completion<'p> {
    program: &'p Program,
    known: &'p HashMap<Arc<str>, usize>,
    cells: Vec<Option<usize>>,
    next: usize,
    /// Whether this is the second pass, which writes the sizes that the first pass found.
    writes: bool,
}

/// Maps size names to cells.
struct Scope {
    names: HashMap<Arc<str>, usize>,
    outermost: bool,
}

impl Completion<'_> {
    fn fresh(&mut self, value: Option<usize>) -> usize {
        if self.next == self.cells.len() {
            self.cells.push(value);
        }
        self.next += 1;
        self.next - 1
    }

    fn cell(&mut self, size: &Size, scope: &mut Scope) -> usize {
        match size {
            Size::Const(value) => self.fresh(Some(*value as usize)),
            Size::Any | Size::Expr(_) => self.fresh(None),
            Size::Var(name) => match scope.names.get(name) {
                Some(cell) => *cell,
                None => {
                    let known = self.known.get(name).copied().filter(|_| scope.outermost);
                    let cell = self.fresh(known);
                    scope.names.insert(name.clone(), cell);
                    cell
                }
            },
        }
    }

    fn learn(&mut self, cell: usize, name: &str, found: usize) -> Result<(), Conflict> {
        if found == OPEN {
            return Ok(());
        }
        match *self.cells[cell].get_or_insert(found) {
            known if known == found => Ok(()),
            known => Err(Conflict { value: 0, size: name.into(), known, found }),
        }
    }

    /// The type with fresh names for open sizes of variants, so that all elements of an array share
    /// them.
    fn named(&mut self, ty: &SizedTy, scope: &mut Scope) -> SizedTy {
        match ty {
            SizedTy::Array(size, elem) => {
                SizedTy::Array(size.clone(), Box::new(self.named(elem, scope)))
            }
            SizedTy::Tuple(items) => {
                SizedTy::Tuple(items.iter().map(|ty| self.named(ty, scope)).collect())
            }
            SizedTy::Record(fields) => {
                let mut named = Vec::with_capacity(fields.len());
                for (label, ty) in fields {
                    let ty = match ty {
                        SizedTy::Array(Size::Any | Size::Expr(_), unit)
                            if sized::is_sized(std::iter::once(&**label)) =>
                        {
                            let cell = self.fresh(None);
                            // No name in a program contains a question mark.
                            let name: Arc<str> = format!("?{cell}").into();
                            scope.names.insert(name.clone(), cell);
                            SizedTy::Array(Size::Var(name), unit.clone())
                        }
                        ty => self.named(ty, scope),
                    };
                    named.push((label.clone(), ty));
                }
                SizedTy::Record(named)
            }
            SizedTy::Scalar(elem) => SizedTy::Scalar(*elem),
            SizedTy::Variant(id) => SizedTy::Variant(*id),
            SizedTy::Fun(..) => ty.clone(),
        }
    }

    fn visit(&mut self, ty: &SizedTy, data: &mut Data, scope: &mut Scope) -> Result<(), Conflict> {
        if let Some((sizes, id)) = sized::of(ty) {
            let cells: Vec<usize> = sizes.map(|size| self.cell(size, scope)).collect();
            return stack::deeper(|| self.variant(id, &cells, data));
        }
        match (ty, data) {
            (SizedTy::Array(..), Data::Tensor(tensor)) => self.tensor(ty, tensor, scope),
            (SizedTy::Array(size, elem), Data::Array(items)) => {
                if let Size::Var(name) = size {
                    let cell = self.cell(size, scope);
                    self.learn(cell, name, items.len())?;
                }
                items.iter_mut().try_for_each(|item| self.visit(elem, item, scope))
            }
            (SizedTy::Tuple(types), Data::Tuple(items)) => {
                let mut pairs = types.iter().zip(items);
                pairs.try_for_each(|(ty, item)| self.visit(ty, item, scope))
            }
            (SizedTy::Record(types), Data::Record(items)) => {
                let mut pairs = types.iter().zip(items);
                pairs.try_for_each(|((_, ty), (_, item))| self.visit(ty, item, scope))
            }
            (SizedTy::Variant(id), Data::Con { tag, args, .. }) => {
                let fields = self.program.type_decl(*id).constructors.get(*tag);
                let fields = fields.map_or(&[][..], |(_, fields)| fields);
                for (ty, arg) in fields.iter().zip(args.iter_mut()) {
                    let mut scope = Scope { names: HashMap::new(), outermost: false };
                    let ty = self.named(&unsized_ty(ty), &mut scope);
                    stack::deeper(|| self.visit(&ty, arg, &mut scope))?;
                }
                Ok(())
            }
            // Type checking reports data of the wrong type.
            (
                SizedTy::Scalar(_)
                | SizedTy::Array(..)
                | SizedTy::Tuple(_)
                | SizedTy::Record(_)
                | SizedTy::Fun(..)
                | SizedTy::Variant(_),
                _,
            ) => Ok(()),
        }
    }

    /// Learns the sizes of an array of scalars, or fills in the ones that an empty array leaves
    /// open.
    fn tensor(
        &mut self,
        ty: &SizedTy,
        tensor: &mut Tensor,
        scope: &mut Scope,
    ) -> Result<(), Conflict> {
        let mut at = ty;
        for axis in 0..tensor.dims.len() {
            let SizedTy::Array(size, elem) = at else { break };
            if let Size::Var(name) = size {
                let cell = self.cell(size, scope);
                if tells(&tensor.dims, axis) {
                    self.learn(cell, name, tensor.dims[axis])?;
                } else if self.writes {
                    tensor.dims[axis] = self.cells[cell].unwrap_or(tensor.dims[axis]);
                }
            }
            at = elem;
        }
        Ok(())
    }

    /// Visits a variant with or without sizes, and adds missing ones.
    fn variant(&mut self, id: TypeId, cells: &[usize], data: &mut Data) -> Result<(), Conflict> {
        let decl = self.program.type_decl(id);
        if let Data::Con { .. } = data {
            let value = std::mem::replace(data, Data::unit());
            let sizes = (0..cells.len()).map(|k| (sized::label(k).into(), Data::units(OPEN)));
            let value = std::iter::once((Arc::from(sized::VALUE), value));
            *data = Data::Record(sizes.chain(value).collect());
        }
        let Data::Record(fields) = data else { return Ok(()) };
        let Some(((_, value), sizes)) = fields.split_last_mut() else { return Ok(()) };
        for ((cell, name), (_, size)) in cells.iter().zip(&decl.sizes).zip(sizes) {
            if let Data::Tensor(tensor) = &*size {
                self.learn(*cell, name, tensor.dims[0])?;
            }
            if self.writes {
                *size = Data::units(self.cells[*cell].unwrap_or(0));
            }
        }
        let Data::Con { tag, args, .. } = value else { return Ok(()) };
        let Some(written) = decl.written.get(*tag) else { return Ok(()) };
        let names = decl.sizes.iter().map(|name| Arc::from(&**name));
        let mut scope =
            Scope { names: names.zip(cells.iter().copied()).collect(), outermost: false };
        for (ty, arg) in written.iter().zip(args.iter_mut()) {
            let ty = self.named(ty, &mut scope);
            self.visit(&ty, arg, &mut scope)?;
        }
        Ok(())
    }
}

/// A core type with unspecified sizes.
pub fn unsized_ty(ty: &Ty) -> SizedTy {
    match ty {
        Ty::Scalar(elem) => SizedTy::Scalar(*elem),
        Ty::Tuple(items) => SizedTy::Tuple(items.iter().map(unsized_ty).collect()),
        Ty::Record(fields) => {
            SizedTy::Record(fields.iter().map(|(n, t)| (n.clone(), unsized_ty(t))).collect())
        }
        Ty::Array(elem) => SizedTy::Array(Size::Any, Box::new(unsized_ty(elem))),
        Ty::Fun(from, to) => SizedTy::Fun(Box::new(unsized_ty(from)), Box::new(unsized_ty(to))),
        Ty::Variant(id) => SizedTy::Variant(*id),
    }
}
