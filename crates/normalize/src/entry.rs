//! Entry points: parameters are flattened into arrays of scalars, and so is the result.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_anf::{Atom, Derivatives, Function, Param, Ty, Var};
use lambada_core::{Def, DefId, Program, Size, Term, TermKind, Ty as CoreTy};
use lambada_prim::ScalarTy;
use lambada_source::{Problem, Span};

use crate::Eval;
use crate::eval::Evaluator;
use crate::layout::Layout;
use crate::merge::{ill_typed, zeros};
use crate::messages;
use crate::shape::{Shape, Unfit};
use crate::val::{Leaf, Val, VariantVal};

/// A first-order function, and how data becomes its arguments and its results become data.
#[derive(Clone, Debug)]
pub struct Normalized {
    /// The code. Its parameters are the leaves of `params` in order, its results those of `result`.
    pub function: Function,
    /// The parameters of the entry point.
    pub params: Vec<(Rc<str>, Layout)>,
    /// Its result.
    pub result: Layout,
}

/// How data becomes the arguments of an entry point, by parameter, and its results become data.
///
/// # Errors
/// Functions among the parameters or in the result, and data without a layout.
pub fn layouts(program: &Program, entry: DefId) -> Result<Layouts, Vec<Problem>> {
    let Interface { params, result, .. } = Interface::of(program, program.def(entry))?;
    let params = params.into_iter().map(|(name, shape)| (name, Layout::new(shape))).collect();
    Ok((params, Layout::new(result)))
}

/// The layouts of parameters, with their names, and that of the result.
pub type Layouts = (Vec<(Rc<str>, Layout)>, Layout);

/// The entry point as first-order code.
///
/// Sizes that the signature calls by one name are one size variable of the function, and constant sizes are constants: the caller
/// compares the arguments with the signature, and reports those that do not fit, before it calls.
///
/// # Errors
/// Functions among the parameters or in the result, data without a layout, and functions that control flow makes without bound.
pub fn normalize(
    program: &Program,
    entry: DefId,
    derivatives: &dyn Derivatives,
) -> Result<Normalized, Vec<Problem>> {
    let def = program.def(entry);
    let Interface { params, result, result_ty } = Interface::of(program, def)?;
    let mut evaluator = Evaluator::new(program, derivatives);
    let mut inputs = Inputs::default();
    let function = inputs.run(&mut evaluator, entry, &params, &result, &result_ty);
    let results = function.map_err(|problem| vec![at(*problem, def)])?;
    let function =
        evaluator.emit.function(def.name.to_string(), inputs.sizes, inputs.params, results);
    let params = params.into_iter().map(|(name, shape)| (name, Layout::new(shape))).collect();
    Ok(Normalized { function, params, result: Layout::new(result) })
}

fn at(problem: Problem, def: &Def) -> Problem {
    if problem.labels.is_empty() { problem.label(def.span, "") } else { problem }
}

/// What an entry point takes and gives.
struct Interface {
    params: Vec<(Rc<str>, Shape)>,
    result: Shape,
    result_ty: CoreTy,
}

impl Interface {
    fn of(program: &Program, def: &Def) -> Result<Interface, Vec<Problem>> {
        let (mut params, mut problems) = (Vec::new(), Vec::new());
        let mut ty = def.body.ty();
        let mut body = Some(&def.body);
        while let CoreTy::Fun(from, to) = ty {
            // where there is no λ, the parameter has no name
            let lambda = body.and_then(|b| {
                if let TermKind::Lam(x, inner) = b.kind() {
                    Some((x.hint.clone(), inner))
                } else {
                    None
                }
            });
            body = lambda.as_ref().map(|(_, inner)| *inner);
            let hint = lambda.map(|(hint, _)| hint);
            let (name, shape) = match def.signature.params.get(params.len()) {
                Some((name, sized)) => (name.clone(), Shape::of_sized(program, sized)),
                None => (
                    hint.unwrap_or_else(|| format!("argument {}", params.len() + 1).into()),
                    Shape::of_ty(program, from),
                ),
            };
            match shape {
                Ok(shape) => params.push((name, shape)),
                Err(unfit) => {
                    problems.push(unfit_problem(
                        unfit,
                        &format!("the parameter `{name}` of `{}`", def.name),
                        def,
                    ));
                    params.push((name, Shape::Tuple(Vec::new())));
                }
            }
            ty = to;
        }
        let sized =
            def.signature.result.as_ref().filter(|_| def.signature.params.len() == params.len());
        let result = match sized {
            Some(sized) => Shape::of_sized(program, sized),
            None => Shape::of_ty(program, ty),
        };
        match result {
            Ok(result) if problems.is_empty() => {
                Ok(Interface { params, result, result_ty: ty.clone() })
            }
            Ok(_) => Err(problems),
            Err(unfit) => {
                problems.push(unfit_problem(unfit, &format!("the result of `{}`", def.name), def));
                Err(problems)
            }
        }
    }
}

fn unfit_problem(unfit: Unfit, what: &str, def: &Def) -> Problem {
    match unfit {
        Unfit::Function => messages::holds_function(what, def.span),
        Unfit::Recursive => messages::recursive(what, def.span),
        Unfit::ArrayOfNothing => messages::array_of_nothing(what, def.span),
    }
}

/// The place of what a definition gives.
fn result_span(body: &Term) -> Span {
    let mut term = body;
    while let TermKind::Lam(_, body) | TermKind::Let(_, _, body) | TermKind::Check { body, .. } =
        term.kind()
    {
        term = body;
    }
    term.span()
}

/// The parameters of the function under construction.
#[derive(Default)]
struct Inputs {
    sizes: Vec<Var>,
    named: HashMap<Rc<str>, Var>,
    params: Vec<Param>,
}

impl Inputs {
    /// Applies the entry point to its parameters, and gives the leaves of its result.
    fn run(
        &mut self,
        evaluator: &mut Evaluator,
        entry: DefId,
        params: &[(Rc<str>, Shape)],
        result: &Shape,
        result_ty: &CoreTy,
    ) -> Eval<Vec<Atom>> {
        let arguments: Vec<Val> = params
            .iter()
            .map(|(name, shape)| self.param(evaluator, shape, name, &mut Vec::new()))
            .collect();
        let value = evaluator.entry(entry, arguments, result_ty)?;
        // What has been put off until now is made for the result.
        evaluator.emit.names.come_from(result_span(&evaluator.program.def(entry).body));
        let mut results = Vec::new();
        flatten(evaluator, result, Some(&value), &mut Vec::new(), &mut results)?;
        Ok(results)
    }

    fn size(&mut self, evaluator: &mut Evaluator, size: &Size) -> Atom {
        let name = match size {
            Size::Const(value) => return Atom::int(*value as i64),
            Size::Var(name) => Some(name.clone()),
            Size::Any | Size::Expr(_) => None,
        };
        if let Some(var) = name.as_ref().and_then(|n| self.named.get(n)) {
            return (*var).into();
        }
        let var = evaluator.emit.fresh(name.clone().unwrap_or_else(|| "n".into()), Ty::int());
        evaluator.emit.facts.size(var);
        self.sizes.push(var);
        self.named.extend(name.map(|n| (n, var)));
        var.into()
    }

    fn leaf(
        &mut self,
        evaluator: &mut Evaluator,
        elem: ScalarTy,
        name: &str,
        axes: &[Atom],
    ) -> Leaf {
        let ty = Ty { elem: elem.into(), dims: axes.to_vec() };
        let var = evaluator.emit.fresh(name, ty.clone());
        self.params.push(Param { var, ty });
        Leaf::stored(var.into(), axes.len())
    }

    /// A parameter of a shape, inside of arrays of the given sizes.
    fn param(
        &mut self,
        evaluator: &mut Evaluator,
        shape: &Shape,
        name: &str,
        axes: &mut Vec<Atom>,
    ) -> Val {
        match shape {
            Shape::Scalar(elem) => Val::Leaf(self.leaf(evaluator, *elem, name, axes)),
            Shape::Tuple(items) => {
                let mut item = |(k, t)| self.param(evaluator, t, &format!("{name}_{k}"), axes);
                Val::tuple(items.iter().enumerate().map(&mut item).collect::<Vec<_>>())
            }
            Shape::Record(fields) => {
                let mut field = |(label, t): &(Rc<str>, Shape)| {
                    self.param(evaluator, t, &format!("{name}_{label}"), axes)
                };
                Val::tuple(fields.iter().map(&mut field).collect::<Vec<_>>())
            }
            Shape::Array(size, elem) => {
                let extent = self.size(evaluator, size);
                axes.push(extent);
                let elem = self.param(evaluator, elem, name, axes);
                axes.pop();
                Val::array(extent, elem)
            }
            Shape::Variant(constructors) => {
                let tag = self.leaf(evaluator, ScalarTy::Int, name, axes);
                let mut fields = Vec::with_capacity(constructors.len());
                for (label, shapes) in constructors.iter() {
                    let label = format!("{name}_{}", label.to_lowercase());
                    fields.push(Some(
                        shapes.iter().map(|t| self.param(evaluator, t, &label, axes)).collect(),
                    ));
                }
                Val::Variant(Rc::new(VariantVal { tag, fields }))
            }
        }
    }
}

/// The leaves of a value, stored; what is absent becomes zeros.
fn flatten(
    evaluator: &mut Evaluator,
    shape: &Shape,
    value: Option<&Val>,
    extents: &mut Vec<Atom>,
    leaves: &mut Vec<Atom>,
) -> Eval<()> {
    let mut store =
        |elem: ScalarTy, leaf: Option<&Leaf>, extents: &[Atom], evaluator: &mut Evaluator| {
            let mask = vec![true; extents.len()];
            leaves.push(match leaf {
                Some(leaf) => evaluator.emit.broadcast(leaf, &mask, extents),
                None => zeros(&mut evaluator.emit, elem.into(), &mask, extents),
            });
        };
    match (shape, value) {
        (Shape::Scalar(elem), Some(Val::Leaf(leaf))) => {
            store(*elem, Some(leaf), extents, evaluator)
        }
        (Shape::Scalar(elem), None) => store(*elem, None, extents, evaluator),
        (Shape::Tuple(items), value) => {
            let parts = components(value, items.len())?;
            items
                .iter()
                .zip(parts)
                .try_for_each(|(t, part)| flatten(evaluator, t, part, extents, leaves))?;
        }
        (Shape::Record(fields), value) => {
            let parts = components(value, fields.len())?;
            fields
                .iter()
                .zip(parts)
                .try_for_each(|((_, t), part)| flatten(evaluator, t, part, extents, leaves))?;
        }
        (Shape::Array(_, elem), value) => {
            let array = match value {
                Some(Val::Array(array)) => Some(array),
                None => None,
                Some(
                    Val::Leaf(_) | Val::Tuple(_) | Val::Variant(_) | Val::Fun(_) | Val::Acc(_),
                ) => return Err(ill_typed()),
            };
            extents.push(array.map_or(Atom::int(0), |a| a.extent));
            flatten(evaluator, elem, array.map(|a| &a.elem), extents, leaves)?;
            extents.pop();
        }
        (Shape::Variant(constructors), value) => {
            let variant = match value {
                Some(Val::Variant(variant)) => Some(variant),
                None => None,
                Some(Val::Leaf(_) | Val::Tuple(_) | Val::Array(_) | Val::Fun(_) | Val::Acc(_)) => {
                    return Err(ill_typed());
                }
            };
            store(ScalarTy::Int, variant.map(|v| &v.tag), extents, evaluator);
            for (c, (_, shapes)) in constructors.iter().enumerate() {
                let fields = variant.and_then(|v| v.fields[c].as_ref());
                for (k, t) in shapes.iter().enumerate() {
                    flatten(evaluator, t, fields.map(|f| &f[k]), extents, leaves)?;
                }
            }
        }
        (
            Shape::Scalar(_),
            Some(Val::Tuple(_) | Val::Array(_) | Val::Variant(_) | Val::Fun(_) | Val::Acc(_)),
        ) => return Err(ill_typed()),
    }
    Ok(())
}

fn components(value: Option<&Val>, count: usize) -> Eval<Vec<Option<&Val>>> {
    match value {
        None => Ok(vec![None; count]),
        Some(Val::Tuple(items)) => Ok(items.iter().map(Some).collect()),
        Some(Val::Leaf(_) | Val::Array(_) | Val::Variant(_) | Val::Fun(_) | Val::Acc(_)) => {
            Err(ill_typed())
        }
    }
}
