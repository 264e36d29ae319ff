//! From a definition, or one of its derivatives, to a function of a library: which arguments its
//! caller passes, which results are given, and how these become the words that the generated code
//! takes and gives.
//!
//! Sizes come first, in the order of the signature: those that it binds in brackets, then those
//! that it only mentions, then those that have no name. A size that is an `int` parameter is passed
//! as that parameter, and one that is an expression is computed. Tangents and cotangents have what
//! is real of their points; truth values, integers and constructors of a tangent are those of the
//! point.

mod arguments;
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

use super::describe::{Function, Input, Output, Rows};
use super::leaves::{Kind, Leaf};
use super::names::Names;
use super::sizes::{Extent, traced};

/// A function, and how it calls its code.
pub(crate) struct Interface {
    pub function: Function,
    /// One per word that the code takes.
    pub words: Vec<Word>,
    /// By result of the code: how many words it takes after its first one, and which result of the
    /// function it is, if any.
    pub results: Vec<(usize, Option<usize>)>,
}

/// What the code is passed.
#[derive(Clone, Debug)]
pub(crate) enum Word {
    /// A size.
    Size(Extent),
    /// A scalar argument.
    Scalar(String, ScalarTy),
    /// An array argument.
    Array(String),
    /// Nothing but zeros: a part of a cotangent that counts for nothing.
    Zero(ScalarTy, Vec<Extent>),
}

/// Which derivative of which definition.
pub(crate) struct Target<'a> {
    pub unit: &'a Unit,
    pub entry: &'a str,
    pub operator: Operator,
    /// The parameters to differentiate with respect to.
    pub wrt: Vec<String>,
}

impl Target<'_> {
    /// The sizes that the definition binds in brackets, and its documentation.
    fn written(&self) -> (Vec<String>, Option<String>) {
        let def = self.unit.module.items.iter().find_map(|item| {
            let Item::Def(def) = item else { return None };
            (*def.name.text == *self.entry).then_some(def)
        });
        let sizes = def.map(|def| def.sizes.iter().map(|name| name.text.to_string()).collect());
        (sizes.unwrap_or_default(), def.and_then(|def| def.doc.as_ref()).map(|doc| doc.to_string()))
    }

    /// What the derivative takes after the parameters.
    fn extra(&self) -> Option<Extra> {
        match self.operator {
            Operator::Jvp => Some(Extra::Tangent),
            Operator::Vjp => Some(Extra::Cotangent),
            Operator::Value | Operator::Grad => None,
            Operator::Jacobian | Operator::Hessian => None,
        }
    }
}

/// An argument that a definition does not have, but its derivative.
enum Extra {
    Tangent,
    Cotangent,
}

/// What is differentiated with respect to: a parameter, or a field of one.
struct Wrt {
    param: usize,
    /// Its leaves among those of the parameter.
    leaves: Range<usize>,
    /// What it is called in C.
    name: String,
}

/// The function of a target, whose code is `arrays`.
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
    /// What the sizes of the code are.
    sizes: BTreeMap<Var, Extent>,
    /// The arguments that are sizes, and the others.
    size_inputs: Vec<Input>,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    words: Vec<Word>,
    results: Vec<(usize, Option<usize>)>,
    rows: Vec<Rows>,
    /// The names of parameters that are sizes.
    passed: BTreeMap<String, String>,
    /// By parameter: its leaves, in the order of the code, and the names that they have in C.
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
            passed: BTreeMap::new(),
            points: Vec::new(),
        }
    }

    /// The parameters of the definition, without the tangent or the cotangent.
    fn own(&self) -> &'a [(impl AsRef<str> + 'a, Layout)] {
        let params = &self.arrays.normalized.params;
        &params[..params.len() - usize::from(self.target.extra().is_some())]
    }

    /// The sizes of a leaf of the code.
    fn dims(&self, place: usize) -> &'a [Atom] {
        &self.arrays.optimized.params[place].ty.dims
    }

    /// What is differentiated with respect to: parameters and fields of parameters.
    fn wrt(&self) -> Vec<Wrt> {
        self.target.wrt.iter().filter_map(|name| self.part(name)).collect()
    }

    fn part(&self, name: &str) -> Option<Wrt> {
        let place = |name: &str| self.own().iter().position(|(own, _)| own.as_ref() == name);
        if let Some(param) = place(name) {
            let leaves = 0..self.points[param].len();
            return Some(Wrt { param, leaves, name: self.point_name(param) });
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
        Some(Wrt { param, leaves: start..start + shape.leaf_count(), name })
    }

    /// What a parameter is called.
    fn point_name(&self, k: usize) -> String {
        let name = self.own()[k].0.as_ref();
        if lambada::is_identifier(name) { name.to_string() } else { format!("argument_{}", k + 1) }
    }

    /// A size of a result, if it follows from the arguments.
    fn known(&self, atom: &Atom) -> Option<Extent> {
        let function = &self.arrays.optimized;
        let mentioned = self.mentioned();
        let known = |var: Var| {
            if let Some(extent) = self.sizes.get(&var) {
                return Some(extent.clone());
            }
            // An integer that the signature calls a size.
            let place = function.params.iter().position(|param| param.var == var)?;
            let (leaf, name) = self.points.iter().flatten().nth(place)?;
            mentioned.contains(&leaf.name).then(|| Extent::Argument(name.clone()))
        };
        traced(atom, &function.body, &known)
    }

    /// The names of the sizes in the signature.
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

    /// Remembers the constructors of the recursive types of a value.
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
        let function = Function {
            name: name.to_string(),
            entry: self.target.entry.to_string(),
            operator: self.target.operator,
            doc: self.doc,
            ty: own.map(|def| def.scheme.clone()).unwrap_or_default(),
            inputs: self.size_inputs.into_iter().chain(self.inputs).collect(),
            outputs: self.outputs,
            rows: self.rows,
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
    if let Kind::Tag(all) = &leaf.kind { all.clone() } else { Vec::new() }
}

/// Of `value_x` the part `x`; nothing of the value itself.
fn part_of(whole: &str, name: &str) -> String {
    name.strip_prefix(whole).unwrap_or(name).trim_start_matches('_').to_string()
}

/// A field as it stands in a row.
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
