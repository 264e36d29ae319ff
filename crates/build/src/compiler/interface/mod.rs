//! From a definition or derivative to a library function: its arguments and results, and their
//! conversion to and from the words that the generated code takes and returns.
//!
//! Sizes come first, in the order of the signature: sizes that it binds in brackets, then sizes
//! that it only mentions, then unnamed ones. A size that is an `int` parameter is passed as that
//! parameter; a size that is an expression is computed. Tangents and cotangents contain only the
//! reals of their parameters; a tangent's truth values, integers and constructors are taken from
//! the parameter.

mod arguments;
mod parts;
mod results;

use std::collections::BTreeMap;
use std::ops::Range;

use lambada::{Arrays, Operator, Unit};
use lambada_anf::{Atom, Var};
use lambada_core::{FieldOrder, Size};
use lambada_normalize::{Layout, Shape};
use lambada_prim::ScalarTy;
use lambada_source::Problem;
use lambada_surface::ast::Item;

use super::describe::{Function, Input, Output, Rows, Whole};
use super::leaves::{Leaf, LeafKind};
use super::names::Names;
use super::sizes::{Extent, traced};

/// A function, and the interface to its code.
pub(crate) struct Interface {
    pub function: Function,
    /// The words that the code takes.
    pub words: Vec<Word>,
    /// For each result of the code: its number of words after the first, and the corresponding
    /// result of the function, if any.
    pub results: Vec<(usize, Option<usize>)>,
}

/// An argument of the code.
#[derive(Clone, Debug)]
pub(crate) enum Word {
    /// A size.
    Size(Extent),
    /// A scalar argument.
    Scalar(String, ScalarTy),
    /// An array argument.
    Array(String),
    /// Zeros, for a part of a cotangent without derivative.
    Zero(ScalarTy, Vec<Extent>),
}

/// The definition or derivative to wrap.
pub(crate) struct Target<'a> {
    pub unit: &'a Unit,
    pub entry: &'a str,
    pub operator: Operator,
    /// The parameters to differentiate with respect to.
    pub wrt: Vec<String>,
}

impl Target<'_> {
    /// The sizes that the definition binds in brackets, and its doc comment.
    fn written(&self) -> (Vec<String>, Option<String>) {
        let def = self.unit.module.items.iter().find_map(|item| {
            let Item::Def(def) = item else { return None };
            (*def.name.text == *self.entry).then_some(def)
        });
        let sizes = def.map(|def| def.sizes.iter().map(|name| name.text.to_string()).collect());
        (sizes.unwrap_or_default(), def.and_then(|def| def.doc.as_ref()).map(|doc| doc.to_string()))
    }

    /// The argument of the derivative after the parameters.
    fn extra(&self) -> Option<Extra> {
        match self.operator {
            Operator::Jvp => Some(Extra::Tangent),
            Operator::Vjp => Some(Extra::Cotangent),
            Operator::Value | Operator::Grad => None,
            Operator::Jacobian | Operator::Hessian => None,
        }
    }
}

/// An argument of a derivative besides the definition's.
enum Extra {
    Tangent,
    Cotangent,
}

/// A differentiated parameter, or a field of one.
struct Wrt {
    param: usize,
    /// Its leaves among the leaves of the parameter.
    leaves: Range<usize>,
    shape: Shape,
    /// Its name in C.
    name: String,
}

/// Wraps the code `arrays` of a target.
pub(crate) fn interface(
    target: &Target,
    name: &str,
    arrays: &Arrays,
) -> Result<Interface, Vec<Problem>> {
    let mut builder = Builder::new(target, arrays);
    builder.parameters();
    match target.extra() {
        Some(Extra::Tangent) => builder.tangent().map_err(|problem| vec![*problem])?,
        Some(Extra::Cotangent) => builder.cotangent(),
        None => {}
    }
    builder.results();
    Ok(builder.finish(name))
}

struct Builder<'a> {
    target: &'a Target<'a>,
    arrays: &'a Arrays,
    order: &'a FieldOrder,
    names: Names,
    doc: Option<String>,
    /// The sizes that the definition binds.
    bound: Vec<String>,
    /// Sizes of the code in terms of the arguments.
    sizes: BTreeMap<Var, Extent>,
    /// The size arguments; the others follow.
    size_inputs: Vec<Input>,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    words: Vec<Word>,
    results: Vec<(usize, Option<usize>)>,
    rows: Vec<Rows>,
    params: Vec<Whole>,
    wholes: Vec<Whole>,
    /// The names of `int` parameters that are sizes, with their names in C.
    passed: BTreeMap<String, String>,
    /// For each parameter: its leaves in the order of the code, with their names in C.
    points: Vec<Vec<(Leaf, String)>>,
}

impl<'a> Builder<'a> {
    fn new(target: &'a Target, arrays: &'a Arrays) -> Builder<'a> {
        let (bound, doc) = target.written();
        Builder {
            target,
            arrays,
            order: target.unit.checked.field_order(),
            names: Names::default(),
            doc,
            bound,
            sizes: BTreeMap::new(),
            size_inputs: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            words: Vec::new(),
            results: Vec::new(),
            rows: Vec::new(),
            params: Vec::new(),
            wholes: Vec::new(),
            passed: BTreeMap::new(),
            points: Vec::new(),
        }
    }

    /// The parameters of the definition, without tangents or a cotangent.
    fn own(&self) -> &'a [(impl AsRef<str> + 'a, Layout)] {
        let params = &self.arrays.normalized.params;
        &params[..params.len() - usize::from(self.target.extra().is_some())]
    }

    /// The sizes of a leaf in the code.
    fn dims(&self, place: usize) -> &'a [Atom] {
        &self.arrays.optimized.params[place].ty.dims
    }

    /// The differentiated parameters and fields.
    fn wrt(&self) -> Vec<Wrt> {
        self.target.wrt.iter().filter_map(|name| self.part(name)).collect()
    }

    fn part(&self, name: &str) -> Option<Wrt> {
        let place = |name: &str| self.own().iter().position(|(own, _)| own.as_ref() == name);
        if let Some(param) = place(name) {
            let leaves = 0..self.points[param].len();
            let shape = self.own()[param].1.shape().clone();
            return Some(Wrt { param, leaves, shape, name: self.point_name(param) });
        }
        let mut path = name.split('.').map(str::trim);
        let param = place(path.next()?)?;
        let (mut name, mut shape, mut start) =
            (self.point_name(param), self.own()[param].1.shape(), 0);
        for label in path {
            let Shape::Record(fields) = shape else { return None };
            let at = fields.iter().position(|(known, _)| **known == *label)?;
            start += fields[..at].iter().map(|(_, shape)| shape.leaf_count()).sum::<usize>();
            shape = &fields[at].1;
            name = format!("{name}_{label}");
        }
        let leaves = start..start + shape.leaf_count();
        Some(Wrt { param, leaves, shape: shape.clone(), name })
    }

    /// The name of a parameter.
    fn point_name(&self, k: usize) -> String {
        let name = self.own()[k].0.as_ref();
        if lambada::is_identifier(name) { name.to_string() } else { format!("argument_{}", k + 1) }
    }

    /// The size of a result, if the arguments determine it.
    fn known(&self, atom: &Atom) -> Option<Extent> {
        let function = &self.arrays.optimized;
        let mentioned = self.mentioned();
        let known = |var: Var| {
            if let Some(extent) = self.sizes.get(&var) {
                return Some(extent.clone());
            }
            // An integer parameter that the signature uses as a size.
            let place = function.params.iter().position(|param| param.var == var)?;
            let (leaf, name) = self.points.iter().flatten().nth(place)?;
            mentioned.contains(&leaf.name).then(|| Extent::Argument(name.clone()))
        };
        traced(atom, &function.body, &known)
    }

    /// The names of all sizes in the signature.
    fn mentioned(&self) -> Vec<String> {
        let mut names = Vec::new();
        let own = self.own().iter().map(|(_, layout)| layout);
        for layout in own.chain([&self.arrays.normalized.result]) {
            for leaf in layout.leaves() {
                for size in leaf.dims {
                    match size {
                        Size::Var(name) | Size::Expr(name) => {
                            let word = |c: char| !(c.is_alphanumeric() || c == '_' || c == '\'');
                            names.extend(name.split(word).map(str::to_string));
                        }
                        Size::Any | Size::Const(_) => {}
                    }
                }
            }
        }
        names
    }

    /// Adds the constructors of the recursive types of a value.
    fn rows(&mut self, name: &str, layout: &Layout) {
        let types = &layout.table().types;
        if types.is_empty() {
            return;
        }
        let type_name = |id| {
            let own = types.iter().find(|(known, _)| *known == id);
            let first = own.and_then(|(_, all)| all.first()).map(|(label, _)| label.to_string());
            first.map_or_else(|| "row".to_string(), |label| format!("row of a {label} or its kin"))
        };
        let constructors = types.iter().flat_map(|(_, all)| all).map(|(label, fields)| {
            (label.to_string(), fields.iter().map(|field| show(field, &type_name)).collect())
        });
        let constructors = constructors.collect();
        self.rows.push(Rows { name: name.to_string(), constructors });
    }

    fn finish(self, name: &str) -> Interface {
        let mut words: Vec<Word> = Vec::new();
        for var in &self.arrays.optimized.sizes {
            let extent = self.sizes.get(var).cloned().unwrap_or(Extent::Constant(0));
            words.push(Word::Size(extent));
        }
        words.extend(self.words);
        let definitions = self.target.unit.definitions();
        let own = definitions.iter().find(|def| *def.name == *self.target.entry);
        let sizes = self.size_inputs.len();
        let moved = |whole: &Whole| Whole {
            name: whole.name.clone(),
            parts: whole.parts.moved(sizes),
            columns: whole.columns.iter().map(|place| place + sizes).collect(),
        };
        let function = Function {
            name: name.to_string(),
            entry: self.target.entry.to_string(),
            operator: self.target.operator,
            doc: self.doc,
            ty: own.map(|def| def.scheme.clone()).unwrap_or_default(),
            inputs: self.size_inputs.into_iter().chain(self.inputs).collect(),
            outputs: self.outputs,
            rows: self.rows,
            params: self.params.iter().map(moved).collect(),
            results: self.wholes,
        };
        Interface { function, words, results: self.results }
    }
}

fn word(leaf: &Leaf, name: &str) -> Word {
    if leaf.axes.is_empty() {
        Word::Scalar(name.to_string(), leaf.elem)
    } else {
        Word::Array(name.to_string())
    }
}

fn constructors(leaf: &Leaf) -> Vec<String> {
    if let LeafKind::Tag(all) = &leaf.kind { all.clone() } else { Vec::new() }
}

/// The part `x` of a name `value_x`; empty for the value itself.
fn part_of(whole: &str, name: &str) -> String {
    name.strip_prefix(whole).unwrap_or(name).trim_start_matches('_').to_string()
}

/// Describes a field in a row.
fn show(shape: &Shape, type_name: &dyn Fn(lambada_core::TypeId) -> String) -> String {
    let all = |items: Vec<String>| items.join(", ");
    match shape {
        Shape::Scalar(elem) => elem.to_string(),
        Shape::Node(id) => type_name(*id),
        Shape::Array(_, elem) => format!("size, then of each: {}", show(elem, type_name)),
        Shape::Tuple(items) => all(items.iter().map(|item| show(item, type_name)).collect()),
        Shape::Record(fields) => {
            all(fields.iter().map(|(_, field)| show(field, type_name)).collect())
        }
        Shape::Variant(constructors) => {
            let fields = constructors.iter().flat_map(|(_, fields)| fields);
            let parts = fields.map(|field| show(field, type_name));
            format!("tag, {}", all(parts.collect()))
        }
    }
}
