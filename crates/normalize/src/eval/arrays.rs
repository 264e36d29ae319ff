//! Arrays: literals, sizes, indices, reductions, products. Indices are checked here, unless they
//! are evidently in range.

use lambada_anf::{Atom, NAMELESS, Op, Out, Ty, Var};
use lambada_core::{Term, Ty as CoreTy};
use lambada_prim::{ArrayPrim, Data, ReduceOp, Tensor};
use lambada_source::Span;

use super::{Evaluator, Hint, carried};
use crate::emit::{Emit, KnownContent};
use crate::guards::Guard;
use crate::merge::{LeafContext, Merge, joint_axes, map_leaves, merge};
use crate::val::{ArrayVal, Leaf, Val};
use crate::{Eval, ill_typed};

/// An array-valued term.
pub(super) fn array(of: &mut Evaluator, term: &Term) -> Eval<std::rc::Rc<ArrayVal>> {
    of.eval(term, None)?.as_array().cloned()
}

/// `[a, b, c]`
pub(super) fn literal(
    of: &mut Evaluator,
    items: &[Term],
    ty: &CoreTy,
    span: Span,
    hint: Hint,
) -> Eval<Val> {
    let CoreTy::Array(elem) = ty else { return Err(ill_typed()) };
    if items.is_empty() {
        return Ok(Val::array(Atom::int(0), of.absent(elem).same()));
    }
    let values = items.iter().map(|t| of.eval(t, None)).collect::<Eval<Vec<Val>>>()?;
    array_of(of, values, elem, span, hint)
}

/// An array of some values, at least one.
pub(super) fn array_of(
    of: &mut Evaluator,
    values: Vec<Val>,
    elem: &CoreTy,
    span: Span,
    hint: Hint,
) -> Eval<Val> {
    let count = values.len() as i64;
    let values = carried::with_other_sizes(of, values, elem)?;
    let parts: Vec<Option<&Val>> = values.iter().map(Some).collect();
    let elem = of.named(hint, |this| merge(&mut Items { span }, &mut this.emit, &parts))?;
    Ok(Val::array(Atom::int(count), elem))
}

/// `length xs`
pub(super) fn dim(of: &mut Evaluator, t: &Term, axis: usize) -> Eval<Val> {
    let mut array = array(of, t)?;
    for _ in 0..axis {
        array = array.elem.as_array()?.clone();
    }
    Ok(Val::scalar(array.extent))
}

/// `xs[i, j]`
pub(super) fn index(
    of: &mut Evaluator,
    t: &Term,
    at: &[Term],
    span: Span,
    hint: Hint,
) -> Eval<Val> {
    let mut value = of.eval(t, None)?;
    let at = of.scalars(at)?;
    for i in at {
        let array = value.as_array()?;
        of.emit.check_index(i, array.extent, span);
        value = array.elem.at(i);
    }
    of.named(hint, |this| Ok(this.settle(value)))
}

/// `⊕ xs`
pub(super) fn reduce(of: &mut Evaluator, op: ReduceOp, t: &Term, hint: Hint) -> Eval<Val> {
    let array = array(of, t)?;
    let rows = Rows { op, extent: array.extent };
    of.named(hint, |this| {
        map_leaves(&mut this.emit, &array.elem, &mut |emit, leaf, context| {
            let mask = &leaf.axes[1..];
            let ty = Ty { elem: context.elem, dims: Leaf::select(mask, &context.extents) };
            let atom = match ty.dims.is_empty() {
                true => rows.scalars(emit, leaf, ty),
                false => rows.rows(emit, leaf, ty),
            };
            Leaf { axes: mask.to_vec(), ..Leaf::scalar(atom) }
        })
    })
}

/// An array primitive, preceded by checks of its sizes.
pub(super) fn contraction(
    of: &mut Evaluator,
    prim: ArrayPrim,
    args: &[Term],
    span: Span,
    hint: Hint,
) -> Eval<Val> {
    let args = args.iter().map(|arg| of.eval(arg, None)).collect::<Eval<Vec<Val>>>()?;
    let (args, dims) = matrices(of, &args)?;
    let ranks: Vec<usize> = dims.iter().map(Vec::len).collect();
    let version = prim.version(&ranks).ok_or_else(ill_typed)?;
    for [(a, j), (b, k)] in version.equal_axes() {
        of.emit.check_equal(dims[a][j], dims[b][k], span, &prim.unequal_sizes());
    }
    array_prim(of, prim, args, &dims, hint)
}

/// An array primitive on arrays of matching sizes.
pub(super) fn array_prim(
    of: &mut Evaluator,
    prim: ArrayPrim,
    args: Vec<Var>,
    dims: &[Vec<Atom>],
    hint: Hint,
) -> Eval<Val> {
    let dims: Vec<&[Atom]> = dims.iter().map(|sizes| &sizes[..]).collect();
    let ranks: Vec<usize> = dims.iter().map(|sizes| sizes.len()).collect();
    let version = prim.version(&ranks).ok_or_else(ill_typed)?;
    let dims = version.result_dims(&dims);
    let elems = prim.row().results.iter();
    let types: Vec<Ty> = elems
        .zip(&dims)
        .map(|(elem, dims)| Ty { elem: (*elem).into(), dims: dims.clone() })
        .collect();
    let results = of.named(hint, |this| {
        let hint = this.emit.hint.take().unwrap_or_else(|| NAMELESS.into());
        let binds = this.emit.params(&hint, types);
        let vars: Vec<Var> = binds.iter().map(|p| p.var).collect();
        this.emit.push(binds, Op::ArrayPrim(prim, args));
        Ok(vars)
    })?;
    let mut values: Vec<Val> =
        results.iter().zip(&dims).map(|(var, dims)| stored((*var).into(), dims)).collect();
    Ok(if values.len() == 1 { values.remove(0) } else { Val::tuple(values) })
}

/// Arrays of scalars as variables, with their sizes.
pub(super) fn matrices(of: &mut Evaluator, values: &[Val]) -> Eval<(Vec<Var>, Vec<Vec<Atom>>)> {
    let (mut vars, mut dims) = (Vec::new(), Vec::new());
    for value in values {
        let (atom, sizes) = matrix(of, value)?;
        vars.push(atom.as_var().ok_or_else(ill_typed)?);
        dims.push(sizes);
    }
    Ok((vars, dims))
}

/// An array of scalars as an atom, with its sizes.
pub(super) fn matrix(of: &mut Evaluator, value: &Val) -> Eval<(Atom, Vec<Atom>)> {
    let (mut value, mut extents) = (value, Vec::new());
    while let Val::Array(array) = value {
        extents.push(array.extent);
        value = &array.elem;
    }
    Ok((of.emit.stored(value.as_leaf()?, &extents), extents))
}

/// The value of an atom with these sizes.
pub(crate) fn stored(atom: Atom, dims: &[Atom]) -> Val {
    let leaf = Val::Leaf(Leaf::stored(atom, dims.len()));
    dims.iter().rev().fold(leaf, |elem, extent| Val::array(*extent, elem))
}

/// The elements of a literal.
struct Items {
    span: Span,
}

impl Merge for Items {
    fn size(&mut self, emit: &mut Emit, parts: &[Option<Atom>], ways: &[Vec<Guard>]) -> Eval<Atom> {
        let hint = emit.hint.take();
        let sizes: Vec<(Atom, &[Guard])> =
            parts.iter().zip(ways).filter_map(|(p, way)| p.map(|size| (size, &way[..]))).collect();
        let size = emit.agree(&sizes, self.span, "elements have different sizes: {0} and {1}");
        emit.hint = hint;
        Ok(size)
    }

    fn leaf(
        &mut self,
        emit: &mut Emit,
        parts: &[Option<&Leaf>],
        context: &LeafContext,
    ) -> Eval<Leaf> {
        let first = parts[0];
        if parts.iter().all(|p| *p == first)
            && let Some(leaf) = first
        {
            let axes = std::iter::once(false).chain(leaf.axes.iter().copied()).collect();
            return Ok(Leaf { axes, ..leaf.clone() });
        }
        let hint = emit.hint.take();
        let mask = joint_axes(parts);
        let atoms: Vec<Atom> = parts
            .iter()
            .enumerate()
            .map(|(k, part)| emit.fit(*part, k, &mask, &[], context))
            .collect();
        emit.hint = hint;
        let dims = std::iter::once(Atom::int(atoms.len() as i64))
            .chain(Leaf::select(&mask, &context.extents))
            .collect();
        let atom = items(emit, atoms, Ty { elem: context.elem, dims });
        let axes = std::iter::once(true).chain(mask).collect();
        Ok(Leaf { axes, ..Leaf::scalar(atom) }.of(context.elem))
    }
}

/// An array of atoms: a constant if all of them are literals.
fn items(emit: &mut Emit, atoms: Vec<Atom>, ty: Ty) -> Atom {
    if let Some(tensor) = constant(emit, &atoms, &ty) {
        return emit.constant(tensor);
    }
    let array = emit.bind("xs", ty, Op::Array(atoms.clone()));
    emit.know(array, KnownContent::Items(atoms));
    array
}

fn constant(emit: &Emit, atoms: &[Atom], ty: &Ty) -> Option<Tensor> {
    let dims = ty
        .dims
        .iter()
        .map(|d| d.as_lit().map(|size| size.int() as usize))
        .collect::<Option<Vec<usize>>>()?;
    let mut tensor = Tensor { data: Data::zeros(ty.elem.scalar(), dims.iter().product()), dims };
    let mut at = 0;
    for atom in atoms {
        match (atom.as_lit(), emit.known(*atom)) {
            (Some(value), _) => {
                tensor.data.set(at, value);
                at += 1;
            }
            (None, Some(KnownContent::Constant(row))) if row.dims == tensor.dims[1..] => {
                (0..row.data.len()).for_each(|k| tensor.data.set(at + k, row.data.get(k)));
                at += row.data.len();
            }
            // Rows of other sizes fail at run time.
            (None, Some(KnownContent::Items(_) | KnownContent::Constant(_)) | None) => return None,
        }
    }
    Some(tensor)
}

/// A reduction over the outermost axis, separate for each leaf. Rows are summed into an
/// accumulator, in the order of memory.
struct Rows {
    op: ReduceOp,
    extent: Atom,
}

impl Rows {
    fn scalars(&self, emit: &mut Emit, leaf: &Leaf, ty: Ty) -> Atom {
        let hint = emit.hint.take().unwrap_or_else(|| "s".into());
        let index = emit.enter_for(self.extent);
        let element = emit.force(&leaf.at(index.into()));
        emit.leave_for(index, self.extent, (Out::Reduce(self.op), ty, hint), element)
    }

    fn rows(&self, emit: &mut Emit, leaf: &Leaf, ty: Ty) -> Atom {
        let hint = emit.hint.take().unwrap_or_else(|| "s".into());
        let zero = emit.fill(Atom::Lit(self.op.unit(ty.elem.scalar())), ty.dims.clone());
        let acc = emit.accumulator(&hint, ty.clone(), zero);
        let index = emit.enter_for(self.extent);
        let value = emit.force(&leaf.at(index.into()));
        emit.push(Vec::new(), Op::Accumulate { acc, index: Vec::new(), value });
        emit.leave_for_effect(index, self.extent);
        emit.bind(&hint, ty, Op::Freeze(acc))
    }
}
