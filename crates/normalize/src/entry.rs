//! Entry points: parameters and result are flattened into arrays of scalars.

use std::collections::HashMap;
use std::sync::Arc;

use lambada_anf::{Atom, Derivatives, Elem, Function, Param, Ty, Var};
use lambada_core::{Def, DefId, Program, Size, Term, TermKind, Ty as CoreTy};
use lambada_prim::ScalarTy;
use lambada_source::{Problem, Site, Span};

use crate::counts;
use crate::eval::outputs::{Results, flatten, replaced};
use crate::eval::trees::plant;
use crate::eval::trees::{Root, Rows};
use crate::eval::{Evaluator, sketches, slots};
use crate::layout::Layout;
use crate::repeated::repeated;
use crate::shape::{Shape, Table, Unfit};
use crate::val::{Leaf, Val};
use crate::{Eval, lambdas, messages};

/// A first-order function, and the conversion of data to its arguments and from its results.
#[derive(Clone, Debug)]
pub struct Normalized {
    /// The code. Its parameters are the leaves of `params` in order, its results those of `result`.
    pub function: Function,
    /// The parameters of the entry point.
    pub params: Vec<(Arc<str>, Layout)>,
    /// Its result.
    pub result: Layout,
    /// The inspections of the program, by number.
    pub inspections: Vec<Inspection>,
}

/// An `inspect` of the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Inspection {
    /// The place, and the name of the value if it has one.
    pub site: Site,
    /// The layout of the shown value.
    pub layout: Layout,
}

/// The layouts of an entry point's parameters and result.
///
/// # Errors
/// Functions among the parameters or in the result, and data without a layout.
pub fn layouts(program: &Program, entry: DefId) -> Result<Layouts, Vec<Problem>> {
    let Interface { params, result, .. } = Interface::of(program, program.def(entry))?;
    Ok((params, result))
}

/// The layouts of parameters, with their names, and that of the result.
pub type Layouts = (Vec<(Arc<str>, Layout)>, Layout);

/// The entry point as first-order code.
///
/// Sizes with one name in the signature are one size variable of the function, and constant sizes
/// are constants. The caller compares the arguments with the signature, and reports misfits, before
/// it calls.
///
/// # Errors
/// Functions among the parameters or in the result, data without a layout, and functions that
/// control flow makes without bound.
pub fn normalize(
    program: &Program,
    entry: DefId,
    derivatives: &dyn Derivatives,
) -> Result<Normalized, Vec<Problem>> {
    normalize_with(program, entry, derivatives, Crossing::Rows)
}

/// [`normalize`] for source: values of recursive types cross as handles. No engine calls such a
/// function.
///
/// # Errors
/// Errors of [`normalize`].
pub fn normalize_for_source(
    program: &Program,
    entry: DefId,
    derivatives: &dyn Derivatives,
) -> Result<Function, Vec<Problem>> {
    normalize_with(program, entry, derivatives, Crossing::Handles).map(|made| made.function)
}

/// The form in which values of recursive types cross the entry point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Crossing {
    /// As rows of flat arrays: engines exchange arrays only.
    #[default]
    Rows,
    /// Unchanged, as handles.
    Handles,
}

fn normalize_with(
    program: &Program,
    entry: DefId,
    derivatives: &dyn Derivatives,
    crossing: Crossing,
) -> Result<Normalized, Vec<Problem>> {
    let def = program.def(entry);
    let Interface { params, result, result_ty } = Interface::of(program, def)?;
    let attempt = |evaluator| {
        let mut evaluator: Evaluator = evaluator;
        evaluator.for_people = crossing == Crossing::Handles;
        evaluator.repeated = repeated(program, &evaluator.types, entry);
        let mut inputs = Inputs { crossing, ..Inputs::default() };
        let mut results = inputs.run(&mut evaluator, entry, &params, &result, &result_ty);
        for _ in 0..ATTEMPTS {
            if results.is_ok() || !evaluator.is_late() {
                break;
            }
            evaluator = evaluator.again();
            inputs = Inputs { crossing, ..Inputs::default() };
            results = inputs.run(&mut evaluator, entry, &params, &result, &result_ty);
        }
        (evaluator, inputs, results)
    };
    let mut made = attempt(Evaluator::new(program, derivatives));
    if made.2.as_ref().is_err_and(|problem| messages::is_circle(problem)) {
        let again = attempt(Evaluator::by_order(program, derivatives));
        if again.2.is_ok() {
            made = again;
        }
    }
    let (mut evaluator, inputs, results) = made;
    let results =
        results.map_err(|problem| vec![at(counts::explained(program, entry, *problem), def)])?;
    let inspections = std::mem::take(&mut evaluator.inspections).into_iter();
    let inspections = inspections.map(|(site, layout)| Inspection { site, layout }).collect();
    let function =
        evaluator.emit.function(def.name.to_string(), inputs.sizes, inputs.params, results);
    Ok(Normalized { function, params, result, inspections })
}

fn at(problem: Problem, def: &Def) -> Problem {
    if problem.labels.is_empty() { problem.label(def.span, "") } else { problem }
}

/// Maximal number of attempts to write a program. An attempt fails if it differentiates a function
/// before it finds that only run time knows the function.
const ATTEMPTS: usize = 8;

/// Parameters and result of an entry point.
struct Interface {
    params: Vec<(Arc<str>, Layout)>,
    result: Layout,
    result_ty: CoreTy,
}

impl Interface {
    fn of(program: &Program, def: &Def) -> Result<Interface, Vec<Problem>> {
        let (mut params, mut problems) = (Vec::new(), Vec::new());
        let mut ty = def.body.ty();
        let (names, _) = lambdas(def.body.without_rules());
        while let CoreTy::Fun(from, to) = ty {
            // A parameter without a λ has no name.
            let hint = names.get(params.len()).map(|x| x.hint.clone());
            let (name, shape) = match def.signature.params.get(params.len()) {
                Some((name, sized)) => (name.clone(), Shape::of_sized(program, sized)),
                None => (
                    hint.unwrap_or_else(|| format!("argument {}", params.len() + 1).into()),
                    Shape::of_ty(program, from),
                ),
            };
            match shape.and_then(|shape| layout(program, shape)) {
                Ok(layout) => params.push((Arc::from(&*name), layout)),
                Err(unfit) => {
                    problems.push(unfit_problem(
                        unfit,
                        &format!("the parameter `{name}` of `{}`", def.name),
                        def,
                    ));
                    params.push((Arc::from(&*name), Layout::new(Shape::Tuple(Vec::new()))));
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
        match result.and_then(|shape| layout(program, shape)) {
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

fn layout(program: &Program, shape: Shape) -> Result<Layout, Unfit> {
    let table = Table::of(program, &shape)?;
    Ok(Layout::with_table(shape, table))
}

fn unfit_problem(unfit: Unfit, what: &str, def: &Def) -> Problem {
    match unfit {
        Unfit::Function => messages::holds_function(what, def.span),
        Unfit::ArrayOfNothing => messages::array_of_nothing(what, def.span),
    }
}

/// The place of a definition's result.
fn result_span(body: &Term) -> Span {
    let mut term = body.without_rules();
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
    crossing: Crossing,
    sizes: Vec<Var>,
    named: HashMap<Arc<str>, Var>,
    params: Vec<Param>,
}

impl Inputs {
    /// Applies the entry point to its parameters; returns the leaves of its result.
    fn run(
        &mut self,
        evaluator: &mut Evaluator,
        entry: DefId,
        params: &[(Arc<str>, Layout)],
        result: &Layout,
        result_ty: &CoreTy,
    ) -> Eval<Vec<Atom>> {
        let span = evaluator.program.def(entry).span;
        let mut arguments = Vec::with_capacity(params.len());
        for (name, layout) in params {
            let val = self.param(evaluator, layout.shape(), name, &mut Vec::new());
            arguments.push((val, self.rows(evaluator, layout, name)));
        }
        let mut vals = Vec::with_capacity(params.len());
        for ((_, layout), (val, rows)) in params.iter().zip(arguments) {
            vals.push(match rows {
                None => val,
                Some(rows) => {
                    let nodes = plant::plant(evaluator, layout.table(), &rows, span)?;
                    replaced(layout.shape(), &val, &mut |shape, val, extents, is_optional| {
                        let (Shape::Node(id), Val::Leaf(leaf)) = (shape, val) else { return None };
                        // An enclosing variant has constructors that lack it.
                        let numbers = (leaf, i64::from(!is_optional));
                        Some(plant::planted(evaluator, numbers, *id, nodes[id], extents, span))
                    })?
                }
            });
        }
        let value = evaluator.entry(entry, vals, result_ty)?;
        evaluator.complete()?;
        // The deferred code from here on is made for the result.
        evaluator.emit.names.come_from(result_span(&evaluator.program.def(entry).body));
        let mut to = Results::default();
        flatten(evaluator, result.shape(), Some(&value), &mut Vec::new(), &mut to)?;
        if self.crossing == Crossing::Rows {
            return to.with_rows(evaluator, result.table());
        }
        for (place, Root { handle, extents, .. }) in to.roots {
            to.leaves[place] = evaluator.emit.stored(&handle, &extents);
        }
        Ok(to.leaves)
    }

    /// The rows of the values of recursive types in a parameter.
    fn rows(&mut self, evaluator: &mut Evaluator, layout: &Layout, name: &str) -> Option<Rows> {
        if layout.table().types.is_empty() || self.crossing == Crossing::Handles {
            return None;
        }
        let sizes = [(); 3].map(|()| self.size(evaluator, &Size::Any));
        let mut column = |part: &str, elem, size: usize| {
            let name = format!("{name}_{part}");
            self.leaf(evaluator, Elem::Scalar(elem), &name, &[sizes[size]]).atom
        };
        Some(Rows {
            tags: column("rows", ScalarTy::Int, 0),
            ints_at: column("ints_at", ScalarTy::Int, 0),
            reals_at: column("reals_at", ScalarTy::Int, 0),
            ints: column("ints", ScalarTy::Int, 1),
            reals: column("reals", ScalarTy::Real, 2),
            sizes,
        })
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
        let var = evaluator.emit.fresh(name.as_deref().unwrap_or("n"), Ty::int());
        evaluator.emit.facts.size(var);
        self.sizes.push(var);
        self.named.extend(name.map(|n| (n, var)));
        var.into()
    }

    fn leaf(&mut self, evaluator: &mut Evaluator, elem: Elem, name: &str, axes: &[Atom]) -> Leaf {
        let ty = Ty { elem, dims: axes.to_vec() };
        let p = evaluator.emit.param(name, ty);
        let leaf = Leaf::stored(p.var.into(), axes.len()).of(elem);
        self.params.push(p);
        leaf
    }

    /// A parameter of a shape, inside arrays of sizes `axes`.
    fn param(
        &mut self,
        evaluator: &mut Evaluator,
        shape: &Shape,
        name: &str,
        axes: &mut Vec<Atom>,
    ) -> Val {
        match shape {
            Shape::Scalar(elem) => Val::Leaf(self.leaf(evaluator, Elem::Scalar(*elem), name, axes)),
            Shape::Node(_) if self.crossing == Crossing::Rows => {
                Val::Leaf(self.leaf(evaluator, Elem::INT, name, axes))
            }
            Shape::Node(id) => {
                let ty = CoreTy::Variant(*id);
                let elem = Elem::Ref(slots::node_type(evaluator, &ty));
                let handle = self.leaf(evaluator, elem, name, axes);
                sketches::node_val(evaluator, &ty, handle)
            }
            Shape::Tuple(items) => {
                let items = items.iter().enumerate();
                let items =
                    items.map(|(k, t)| self.param(evaluator, t, &format!("{name}_{k}"), axes));
                Val::Tuple(items.collect())
            }
            Shape::Record(fields) => {
                let fields = fields.iter();
                let fields =
                    fields.map(|(k, t)| self.param(evaluator, t, &format!("{name}_{k}"), axes));
                Val::Tuple(fields.collect())
            }
            Shape::Array(size, elem) => {
                let extent = self.size(evaluator, size);
                axes.push(extent);
                if elem.is_empty() {
                    let axes = [&axes[..], &[Atom::int(0)]].concat();
                    self.leaf(evaluator, Elem::Scalar(ScalarTy::Bool), name, &axes);
                }
                let elem = self.param(evaluator, elem, name, axes);
                axes.pop();
                Val::array(extent, elem)
            }
            Shape::Variant(constructors) => {
                let tag = self.leaf(evaluator, Elem::INT, name, axes);
                let mut fields = Vec::with_capacity(constructors.len());
                for (label, shapes) in constructors.iter() {
                    let label = format!("{name}_{}", label.to_lowercase());
                    fields.push(Some(
                        shapes.iter().map(|t| self.param(evaluator, t, &label, axes)).collect(),
                    ));
                }
                Val::variant(tag, fields)
            }
        }
    }
}
