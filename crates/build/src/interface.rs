//! From a definition, or one of its derivatives, to a function of a library: which arguments its caller passes, which results are given, and how
//! these become the words that the generated code takes and gives.
//!
//! Sizes come first, in the order of the signature: those that it binds in brackets, then those that it only mentions, then those that have no name.
//! A size that is an `int` parameter is passed as that parameter, and one that is an expression is computed. Tangents and cotangents have what
//! is real of their points; truth values, integers and constructors of a tangent are those of the point.

use std::collections::BTreeMap;

use lambada::{Arrays, Operator, Unit};
use lambada_anf::{Atom, Var};
use lambada_core::Size;
use lambada_normalize::{Layout, Shape};
use lambada_prim::ScalarTy;
use lambada_source::Problem;
use lambada_surface::ast::Item;

use crate::describe::{Dims, Function, Input, Output, Role, Rows};
use crate::leaves::{Kind, Leaf, Order, components, leaves};
use crate::messages;
use crate::names::Names;
use crate::sizes::{Extent, traced, written};

/// A function, and how it calls its code.
pub(crate) struct Interface {
    pub function: Function,
    /// One per word that the code takes.
    pub words: Vec<Word>,
    /// By result of the code: how many words it takes after its first one, and which result of the function it is, if any.
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

/// The function of a target, whose code is `arrays`.
pub(crate) fn interface(
    target: &Target,
    name: &str,
    arrays: &Arrays,
) -> Result<Interface, Vec<Problem>> {
    let order = |labels: &[&str]| target.unit.field_order(labels);
    let mut builder = Builder::new(target, arrays, &order);
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
    order: Order<'a>,
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

/// What the parameters of a signature say of their sizes, before these have names.
struct Declared {
    var: Var,
    size: Size,
    label: String,
}

impl<'a> Builder<'a> {
    fn new(target: &'a Target, arrays: &'a Arrays, order: Order<'a>) -> Builder<'a> {
        let (bound, doc) = target.written();
        Builder {
            target,
            arrays,
            order,
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

    fn parameters(&mut self) {
        let params = self.own();
        let mut all = Vec::new();
        for (k, (name, layout)) in params.iter().enumerate() {
            let name = name.as_ref();
            let name = if lambada::is_identifier(name) {
                name.to_string()
            } else {
                format!("argument_{}", k + 1)
            };
            all.push((name.clone(), leaves(layout, &name, self.order)));
            self.rows(&name, layout);
        }
        self.own_sizes(&all);
        let mut before = 0;
        for (name, leaves) in all {
            let count = leaves.len();
            self.parameter(&name, leaves, before);
            before += count;
        }
    }

    /// Finds out what the sizes of the parameters are.
    fn own_sizes(&mut self, params: &[(String, Vec<Leaf>)]) {
        let declared = self.declared(params);
        let scalar = |name: &str| {
            let mut found = params.iter().filter(|(param, leaves)| {
                param == name
                    && matches!(&leaves[..], [leaf] if leaf.axes.is_empty() && leaf.elem == ScalarTy::Int)
            });
            found.next().is_some()
        };
        let mut order: Vec<&Declared> = declared.iter().collect();
        let place = |size: &Size| match size {
            Size::Var(name) => {
                self.bound.iter().position(|bound| **bound == **name).unwrap_or(self.bound.len())
            }
            Size::Any | Size::Const(_) | Size::Expr(_) => self.bound.len(),
        };
        order.sort_by_key(|declared| place(&declared.size));
        let mut named: BTreeMap<String, Extent> = BTreeMap::new();
        for Declared { var, size, .. } in order {
            let Size::Var(name) = size else { continue };
            let extent = if scalar(name) {
                let own = self.names.fresh(name);
                self.passed.insert(name.to_string(), own.clone());
                Extent::Argument(own)
            } else {
                self.size(name)
            };
            named.insert(name.to_string(), extent.clone());
            self.sizes.insert(*var, extent);
        }
        for Declared { var, size, label } in &declared {
            if self.sizes.contains_key(var) {
                continue;
            }
            let computed = if let Size::Expr(text) = size {
                written(text, &|name| named.get(name).cloned())
            } else {
                None
            };
            let extent = computed.unwrap_or_else(|| self.size(label));
            self.sizes.insert(*var, extent);
        }
    }

    /// The sizes of the parameters, each where it is met first.
    fn declared(&self, params: &[(String, Vec<Leaf>)]) -> Vec<Declared> {
        let mut declared: Vec<Declared> = Vec::new();
        let mut before = 0;
        for (_, leaves) in params {
            for leaf in leaves {
                let dims = self.dims(before + leaf.place);
                for (dim, (size, label)) in dims.iter().zip(&leaf.axes) {
                    let Atom::Var(var) = dim else { continue };
                    if declared.iter().all(|known| known.var != *var) {
                        let (size, label) = (size.clone(), label.clone());
                        declared.push(Declared { var: *var, size, label });
                    }
                }
            }
            before += leaves.len();
        }
        declared
    }

    /// A new argument that is a size.
    fn size(&mut self, label: &str) -> Extent {
        let name = self.names.fresh(label);
        self.size_inputs.push(Input {
            name: name.clone(),
            role: Role::Size,
            elem: ScalarTy::Int,
            dims: Vec::new(),
            constructors: Vec::new(),
        });
        Extent::Argument(name)
    }

    /// The sizes of a leaf, as the caller knows them.
    fn extents(&self, place: usize) -> Vec<Extent> {
        let body = &self.arrays.optimized.body;
        let known = |var: Var| self.sizes.get(&var).cloned();
        let dims = self.dims(place).iter();
        dims.map(|dim| traced(dim, body, &known).unwrap_or(Extent::Constant(0))).collect()
    }

    fn parameter(&mut self, param: &str, leaves: Vec<Leaf>, before: usize) {
        let mut point = Vec::with_capacity(leaves.len());
        for leaf in leaves {
            let dims = self.extents(before + leaf.place);
            let role = match leaf.kind {
                Kind::Data | Kind::Tag(_) => Role::Value(leaf.name.clone()),
                Kind::Number | Kind::Column => Role::Rows(param.to_string()),
            };
            let name = self.input(&leaf, &leaf.name, role, dims);
            point.push((leaf, name));
        }
        point.sort_by_key(|(leaf, _)| leaf.place);
        self.words.extend(point.iter().map(|(leaf, name)| word(leaf, name)));
        self.points.push(point);
    }

    /// A new argument; gives its name.
    fn input(&mut self, leaf: &Leaf, hint: &str, role: Role, dims: Vec<Extent>) -> String {
        let passed = self.passed.remove(hint);
        let name = passed.unwrap_or_else(|| self.names.fresh(hint));
        let (elem, constructors) = (leaf.elem, constructors(leaf));
        self.inputs.push(Input { name: name.clone(), role, elem, dims, constructors });
        name
    }

    /// The places of the parameters that are differentiated with respect to.
    fn wrt(&self) -> Vec<usize> {
        let place = |name: &String| self.own().iter().position(|(own, _)| own.as_ref() == name);
        self.target.wrt.iter().filter_map(place).collect()
    }

    /// The tangent: what is real of the point; the rest is that of the point.
    fn tangent(&mut self) -> Result<(), Box<Problem>> {
        let wrt = self.wrt();
        let layout = &self.arrays.normalized.params[self.own().len()].1;
        if wrt.len() > 1 && !layout.table().types.is_empty() {
            return Err(Box::new(messages::several_recursive(self.target.entry)));
        }
        let before: usize = self.points.iter().map(Vec::len).sum();
        let points: Vec<(Leaf, String)> =
            wrt.iter().flat_map(|k| self.points[*k].clone()).collect();
        // The tangent has the shape of the point, so its sizes are those of the point.
        let places: Vec<usize> = wrt.iter().flat_map(|k| self.places(*k)).collect();
        for (k, place) in places.iter().enumerate() {
            let extents = self.extents(*place);
            for (dim, extent) in self.dims(before + k).iter().zip(extents) {
                if let Atom::Var(var) = dim {
                    self.sizes.entry(*var).or_insert(extent);
                }
            }
        }
        let mut tangents: Vec<(usize, Word)> = Vec::new();
        for (k, (leaf, name)) in points.iter().enumerate() {
            if !leaf.is_real() {
                tangents.push((k, word(leaf, name)));
            }
        }
        // In the order of the declaration, as the parameters.
        for (place, name) in self.declared_order(&wrt) {
            let (leaf, _) = points[place].clone();
            if leaf.is_real() {
                let dims = self.extents(before + place);
                let role = Role::Tangent(name.clone());
                let input = self.input(&leaf, &format!("{name}_tan"), role, dims);
                tangents.push((place, word(&leaf, &input)));
            }
        }
        tangents.sort_by_key(|(k, _)| *k);
        self.words.extend(tangents.into_iter().map(|(_, word)| word));
        Ok(())
    }

    /// The leaves of a parameter among all leaves.
    fn places(&self, param: usize) -> std::ops::Range<usize> {
        let before: usize = self.points[..param].iter().map(Vec::len).sum();
        before..before + self.points[param].len()
    }

    /// The leaves of these parameters in the order in which they are passed: the place among them, and the name.
    fn declared_order(&self, wrt: &[usize]) -> Vec<(usize, String)> {
        let mut all = Vec::new();
        let mut before = 0;
        for k in wrt {
            let passed = |name: &String| self.inputs.iter().position(|input| input.name == *name);
            let mut leaves: Vec<(usize, String)> = self.points[*k]
                .iter()
                .enumerate()
                .map(|(place, (_, name))| (before + place, name.clone()))
                .collect();
            leaves.sort_by_key(|(_, name)| passed(name));
            before += leaves.len();
            all.extend(leaves);
        }
        all
    }

    /// The cotangent of the value.
    fn cotangent(&mut self) {
        let layout = &self.arrays.normalized.params[self.own().len()].1;
        let before: usize = self.points.iter().map(Vec::len).sum();
        let leaves = leaves(layout, "value", self.order);
        // Where the sizes of the value follow from the arguments, those of its cotangent do.
        for leaf in &leaves {
            let result = self.arrays.optimized.results.get(leaf.place).map(|ty| ty.dims.clone());
            let dims = self.dims(before + leaf.place);
            for (axis, (dim, (_, label))) in dims.iter().zip(&leaf.axes).enumerate() {
                let Atom::Var(var) = dim else { continue };
                if self.sizes.contains_key(var) {
                    continue;
                }
                let of_value = result.as_ref().and_then(|dims| self.known(dims.get(axis)?));
                let extent = of_value.unwrap_or_else(|| self.size(label));
                self.sizes.insert(*var, extent);
            }
        }
        let whole = !layout.table().types.is_empty();
        let mut words: Vec<(usize, Word)> = Vec::new();
        for leaf in leaves {
            let dims = self.extents(before + leaf.place);
            let needed = leaf.is_real() || whole || matches!(leaf.kind, Kind::Tag(_));
            let word = if needed {
                let role = Role::Cotangent(part_of("value", &leaf.name));
                let name = self.input(&leaf, &format!("{}_ct", leaf.name), role, dims);
                word(&leaf, &name)
            } else {
                Word::Zero(leaf.elem, dims)
            };
            words.push((leaf.place, word));
        }
        if whole {
            self.rows("value", layout);
        }
        words.sort_by_key(|(place, _)| *place);
        self.words.extend(words.into_iter().map(|(_, word)| word));
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

    fn results(&mut self) {
        let layout = &self.arrays.normalized.result;
        let wrt: Vec<String> = self.wrt().iter().map(|k| self.point_name(*k)).collect();
        let given: Vec<(Leaf, Role, String)> = match self.target.operator {
            Operator::Value => values(leaves(layout, "value", self.order)),
            Operator::Jvp => {
                let (mut parts, columns) = self.pair(layout, "value");
                let tangents = parts.pop().unwrap_or_default();
                let mut all = values(parts.pop().unwrap_or_default());
                all.extend(derivative(tangents, |leaf| {
                    let of = part_of("value", &leaf.name);
                    (Role::Tangent(of), format!("{}_tan", leaf.name))
                }));
                all.extend(values(columns));
                all
            }
            Operator::Grad | Operator::Vjp => {
                let (mut parts, columns) = self.pair(layout, "value");
                let point = parts.pop().unwrap_or_default();
                let mut all = values(parts.pop().unwrap_or_default());
                let cotangents = self.renamed(point, &wrt);
                all.extend(derivative(cotangents, |leaf| {
                    (Role::Cotangent(leaf.name.clone()), format!("{}_ct", leaf.name))
                }));
                all.extend(values(columns));
                all
            }
            Operator::Jacobian | Operator::Hessian => {
                let name = crate::request::suffix(self.target.operator).trim_start_matches('_');
                let names = ["value".to_string(), name.to_string()];
                let (parts, columns) = components(layout, &names, "rows", self.order);
                values(parts.into_iter().flatten().chain(columns).collect())
            }
        };
        self.rows("rows", layout);
        let types = &self.arrays.optimized.results;
        self.results = types.iter().map(|ty| (ty.dims.len(), None)).collect();
        for (leaf, role, hint) in given {
            self.output(leaf, role, &hint);
        }
    }

    /// The leaves of the value and of a derivative.
    fn pair(&self, layout: &Layout, second: &str) -> (Vec<Vec<Leaf>>, Vec<Leaf>) {
        components(layout, &["value".to_string(), second.to_string()], "rows", self.order)
    }

    /// What a parameter is called.
    fn point_name(&self, k: usize) -> String {
        let name = self.own()[k].0.as_ref();
        if lambada::is_identifier(name) { name.to_string() } else { format!("argument_{}", k + 1) }
    }

    /// The leaves of a cotangent, called as those of the parameters.
    fn renamed(&self, point: Vec<Leaf>, names: &[String]) -> Vec<Leaf> {
        let rename = |leaf: Leaf, name: &str, rest: &str| {
            let rest = leaf.name.strip_prefix(rest).unwrap_or_default().to_string();
            Leaf { name: format!("{name}{rest}"), ..leaf }
        };
        if let [name] = names {
            return point.into_iter().map(|leaf| rename(leaf, name, "value")).collect();
        }
        let of = |leaf: &Leaf| {
            let rest = leaf.name.strip_prefix("value_").unwrap_or_default();
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse::<usize>().ok().filter(|k| *k < names.len())
        };
        let named = |leaf: Leaf| match of(&leaf) {
            Some(k) => rename(leaf, &names[k], &format!("value_{k}")),
            None => leaf,
        };
        point.into_iter().map(named).collect()
    }

    fn output(&mut self, leaf: Leaf, role: Role, hint: &str) {
        let name = self.names.fresh(hint);
        let dims = &self.arrays.optimized.results[leaf.place].dims;
        let known: Option<Vec<Extent>> = dims.iter().map(|dim| self.known(dim)).collect();
        let dims = match known {
            Some(known) => Dims::Known(known),
            None => Dims::Found(self.found(&name, dims.len())),
        };
        self.results[leaf.place].1 = Some(self.outputs.len());
        let (elem, constructors) = (leaf.elem, constructors(&leaf));
        self.outputs.push(Output { name, role, elem, dims, constructors });
    }

    /// Names for the sizes of a result.
    fn found(&mut self, name: &str, rank: usize) -> Vec<String> {
        match rank {
            1 => vec![self.names.fresh(&format!("{name}_size"))],
            _ => (0..rank).map(|k| self.names.fresh(&format!("{name}_size_{k}"))).collect(),
        }
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

/// The leaves of the value.
fn values(leaves: Vec<Leaf>) -> Vec<(Leaf, Role, String)> {
    let value = |leaf: Leaf| {
        let role = match leaf.kind {
            Kind::Data | Kind::Tag(_) => Role::Value(part_of("value", &leaf.name)),
            Kind::Number => Role::Rows("value".to_string()),
            Kind::Column => Role::Rows("rows".to_string()),
        };
        let name = leaf.name.clone();
        (leaf, role, name)
    };
    leaves.into_iter().map(value).collect()
}

/// What carries derivatives of a tangent or a cotangent, and the numbers of rows.
fn derivative(
    leaves: Vec<Leaf>,
    name: impl Fn(&Leaf) -> (Role, String),
) -> Vec<(Leaf, Role, String)> {
    let shown = |leaf: &Leaf| leaf.is_real() || leaf.kind == Kind::Number;
    let named = |leaf: Leaf| {
        let (role, hint) = name(&leaf);
        (leaf, role, hint)
    };
    leaves.into_iter().filter(shown).map(named).collect()
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
