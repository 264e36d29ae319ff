//! Binding of raw values to the parameters of a signature: matches names, and converts values to
//! the declared types and shapes.

mod ragged;
mod reals;
mod tables;

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use lambada_core::data::Data;
use lambada_core::{Program, Signature, Size, SizedTy, TypeId, sized};
use lambada_prim::{Data as Elements, Precision, Scalar, ScalarTy, Tensor, tells};
use lambada_source::{Problem, stack, suggest};
use serde_json::Value;

use super::raw::InputEntry;
use super::sizes::{Conflict, complete, unsized_ty};
use super::table::Lines;
use super::{Inputs, Raw, is_identifier, json, names_match};
use crate::messages::data as messages;

/// Returns one value for each parameter in order, or all problems of the inputs. `otherwise` has
/// values for parameters that the inputs do not mention; `inferred` tells whether a parameter lacks
/// a type annotation.
pub fn bind_or(
    program: &Program,
    definition: &str,
    signature: &Signature,
    inputs: &Inputs,
    otherwise: Vec<Option<Data>>,
    inferred: &dyn Fn(usize) -> bool,
) -> Result<Vec<Data>, Vec<Problem>> {
    let names: Vec<&str> = signature.params.iter().map(|(name, _)| &**name).collect();
    let mut wrong = Vec::new();
    let given = by_name(definition, &names, inputs, &mut wrong);
    let mut sizes = Sizes::default();
    let mut values = Vec::new();
    // Scalars first, because sizes of other parameters may mention `int` parameters.
    let scalars_first = |ty: &SizedTy| !matches!(ty, SizedTy::Scalar(_));
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|k| scalars_first(&signature.params[*k].1));
    for k in order {
        let (name, ty) = &signature.params[k];
        match (given.get(&**name), &otherwise[k]) {
            (None, None) => {
                let near = misspelled(name, &names, inputs);
                let file = unused(&names, inputs).find_map(|entry| entry.file.as_deref());
                let file = file.and_then(Path::to_str);
                let (expected, plain) = (print_type(program, ty), is_identifier(name));
                wrong.push(messages::missing(definition, name, &expected, plain, near, file));
            }
            (None, Some(value)) => values.push((k, value.clone())),
            (Some(entry), _) => match one(program, name, ty, entry.place(), &mut sizes) {
                Ok(data) => values.push((k, data)),
                Err(problem) => wrong.push(match rank_of(&entry.value) {
                    rank @ 1.. if inferred(k) && *ty == SizedTy::Scalar(ScalarTy::Real) => {
                        problem.hint(messages::unannotated(name, rank))
                    }
                    _ => problem,
                }),
            },
        }
    }
    values.sort_by_key(|(k, _)| *k);
    for (k, data) in &mut values {
        sizes.fill_in(&signature.params[*k].1, data);
    }
    if wrong.is_empty() {
        let pairs = values.iter_mut().map(|(k, data)| (&signature.params[*k].1, data));
        if let Err(conflict) = sizes.complete(program, &mut pairs.collect::<Vec<_>>()) {
            wrong.push(variant_sizes(program, signature, &conflict));
        }
    }
    if wrong.is_empty() {
        Ok(values.into_iter().map(|(_, data)| data).collect())
    } else {
        Err(wrong)
    }
}

/// Whether the inputs have a value for each of the parameters.
pub(crate) fn given(names: &[&str], inputs: &Inputs) -> Vec<bool> {
    let given = by_name("", names, inputs, &mut Vec::new());
    names.iter().map(|name| given.contains_key(name)).collect()
}

/// Matches inputs with parameters by name; unnamed inputs fill the parameters in order.
pub(super) fn by_name<'i>(
    definition: &str,
    names: &[&'i str],
    inputs: &'i Inputs,
    wrong: &mut Vec<Problem>,
) -> HashMap<&'i str, &'i InputEntry> {
    let mut given: HashMap<&str, &InputEntry> = HashMap::new();
    let mut places = names.iter();
    for entry in &inputs.entries {
        let name = match &entry.name {
            Some(name) => names.iter().find(|known| names_match(known, name)),
            None => places.next(),
        };
        match (name, &entry.name) {
            (Some(name), _) => {
                if let Some(first) = given.insert(name, entry) {
                    wrong.push(messages::twice(name, &first.origin, &entry.origin));
                }
            }
            (None, Some(_)) if entry.shared => {}
            (None, Some(name)) => {
                wrong.push(messages::unknown(definition, name, &entry.origin, names))
            }
            (None, None) => wrong.push(messages::too_many(definition, &entry.origin, names)),
        }
    }
    for (name, entry) in renamed(names, inputs) {
        given.entry(name).or_insert(entry);
    }
    given
}

/// Parameters without a value for which a file has a member of the same letters, `N` for `n`, if
/// there is one such parameter and one such member.
pub(crate) fn renamed<'i>(names: &[&'i str], inputs: &'i Inputs) -> Vec<(&'i str, &'i InputEntry)> {
    let has = |name: &str| {
        inputs.entries.iter().any(|e| e.name.as_deref().is_some_and(|n| names_match(name, n)))
    };
    let open: Vec<&str> = names.iter().copied().filter(|name| !has(name)).collect();
    let free: Vec<&InputEntry> = unused(names, inputs).filter(|entry| entry.shared).collect();
    let alike = |name: &str, entry: &InputEntry| {
        entry.name.as_deref().is_some_and(|n| n.to_lowercase() == name.to_lowercase())
    };
    let only = |name: &&'i str| {
        let mut fitting = free.iter().copied().filter(|entry| alike(name, entry));
        let entry = fitting.next().filter(|_| fitting.next().is_none())?;
        let wanted = open.iter().filter(|other| alike(other, entry)).count();
        (wanted == 1).then_some((*name, entry))
    };
    let unnamed = inputs.entries.iter().any(|entry| entry.name.is_none());
    if unnamed { Vec::new() } else { open.iter().filter_map(only).collect() }
}

/// The named values that match no parameter.
fn unused<'i>(names: &[&str], inputs: &'i Inputs) -> impl Iterator<Item = &'i InputEntry> {
    let known = |entry: &InputEntry| {
        let known = |other: &str| names.iter().any(|name| names_match(name, other));
        entry.name.as_deref().is_none_or(known)
    };
    inputs.entries.iter().filter(move |entry| !known(entry))
}

/// An unmatched member of a file whose name resembles the parameter's, with its origin.
fn misspelled<'i>(name: &str, names: &[&str], inputs: &'i Inputs) -> Option<(&'i str, String)> {
    let unused: Vec<&InputEntry> = unused(names, inputs).filter(|entry| entry.shared).collect();
    let near = suggest(name, unused.iter().filter_map(|entry| entry.name.as_deref()))?;
    let entry = unused.into_iter().find(|entry| entry.name.as_deref() == Some(&*near))?;
    Some((&entry.origin, near))
}

/// Nesting depth of the lists in a value.
fn rank_of(value: &Raw) -> usize {
    match value {
        Raw::Tensor(tensor) => tensor.dims.len(),
        Raw::Table(_) | Raw::Foreign(_) => 1,
        Raw::Json(value) => json::rank(value),
    }
}

/// Converts one value, called `name` in messages: a tangent or a cotangent. Its sizes are not
/// compared with others.
pub fn bind_one(program: &Program, name: &str, ty: &SizedTy, value: &Raw) -> Result<Data, Problem> {
    let mut sizes = Sizes::default();
    let mut data = one(program, name, ty, (value, None), &mut sizes)?;
    match sizes.complete(program, &mut [(ty, &mut data)]) {
        Ok(()) => Ok(data),
        Err(Conflict { size, known, found, .. }) => {
            Err(messages::variant_sizes(name, &print_type(program, ty), &size, known, found))
        }
    }
}

fn variant_sizes(program: &Program, signature: &Signature, conflict: &Conflict) -> Problem {
    let Conflict { value, size, known, found } = conflict;
    let (name, ty) = &signature.params[*value];
    messages::variant_sizes(name, &print_type(program, ty), size, *known, *found)
}

fn one(
    program: &Program,
    name: &str,
    ty: &SizedTy,
    (value, lines): (&Raw, Option<&Lines>),
    sizes: &mut Sizes,
) -> Result<Data, Problem> {
    let expected = print_type(program, ty);
    let reader = DataReader { program, name, expected: &expected, path: None, lines };
    let data = reader.raw(ty, value)?;
    if program.precision == Precision::F32
        && let Some((place, x)) = reals::beyond(&data)
    {
        return Err(messages::beyond_single(name, &expected, &place, x));
    }
    if let (SizedTy::Scalar(ScalarTy::Int), Data::Tensor(tensor)) = (ty, &data)
        && let Some(Scalar::Int(n)) = tensor.as_scalar()
        && n >= 0
    {
        sizes.known.entry(name.into()).or_insert((n as usize, format!("the value of `{name}`")));
    }
    sizes.compare(&reader, ty, &data)?;
    Ok(data)
}

/// Prints a type as in source.
pub fn print_type(program: &Program, ty: &SizedTy) -> String {
    if let Some((sizes, id)) = sized::of(ty) {
        let sizes = sizes.map(|size| format!(" [{}]", print_size(size)));
        return program.type_decl(id).name_with(&sizes.collect::<String>());
    }
    match ty {
        SizedTy::Scalar(elem) => elem.to_string(),
        SizedTy::Tuple(items) => format!(
            "({})",
            items.iter().map(|t| print_type(program, t)).collect::<Vec<_>>().join(", ")
        ),
        SizedTy::Record(fields) => {
            let mut fields: Vec<&(Rc<str>, SizedTy)> = fields.iter().collect();
            program.fields.sort(&mut fields, |(name, _)| name);
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, t)| format!("{name} : {}", print_type(program, t)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        SizedTy::Array(size, elem) => {
            format!("[{}]{}", print_size(size), print_type(program, elem))
        }
        SizedTy::Fun(from, to) => {
            format!("({} -> {})", print_type(program, from), print_type(program, to))
        }
        SizedTy::Variant(id) => program.type_decl(*id).name.to_string(),
    }
}

fn print_size(size: &Size) -> String {
    match size {
        Size::Any => String::new(),
        Size::Const(n) => n.to_string(),
        Size::Var(name) | Size::Expr(name) => name.to_string(),
    }
}

/// Values of size variables, and their origins.
#[derive(Default)]
struct Sizes {
    known: HashMap<Arc<str>, (usize, String)>,
}

impl Sizes {
    /// Adds sizes to variants, as their types require.
    fn complete(
        &self,
        program: &Program,
        values: &mut [(&SizedTy, &mut Data)],
    ) -> Result<(), Conflict> {
        let known = self.known.iter().map(|(name, (value, _))| (name.clone(), *value));
        complete(program, &known.collect(), values)
    }

    fn compare(&mut self, reader: &DataReader, ty: &SizedTy, data: &Data) -> Result<(), Problem> {
        match (ty, data) {
            (SizedTy::Array(..), Data::Tensor(tensor)) => {
                let mut at = ty;
                for (k, found) in tensor.dims.iter().enumerate() {
                    let SizedTy::Array(size, elem) = at else { break };
                    if tells(&tensor.dims, k) {
                        self.size(reader, size, *found)?;
                    }
                    at = elem;
                }
                Ok(())
            }
            (SizedTy::Array(size, elem), Data::Array(items)) => {
                self.size(reader, size, items.len())?;
                items.iter().try_for_each(|item| self.compare(reader, elem, item))
            }
            (SizedTy::Tuple(types), Data::Tuple(items)) => {
                types.iter().zip(items).try_for_each(|(t, d)| self.compare(reader, t, d))
            }
            (SizedTy::Record(types), Data::Record(items)) => {
                types.iter().zip(items).try_for_each(|((_, t), (_, d))| self.compare(reader, t, d))
            }
            _ => Ok(()),
        }
    }

    /// Fills in the inner sizes of an empty list from the sizes that other values determine.
    fn fill_in(&self, ty: &SizedTy, data: &mut Data) {
        match (ty, data) {
            (SizedTy::Array(..), Data::Tensor(tensor)) => {
                let mut at = ty;
                for k in 0..tensor.dims.len() {
                    let SizedTy::Array(size, elem) = at else { return };
                    let known = match size {
                        Size::Const(n) => Some(*n as usize),
                        Size::Var(name) => self.known.get(name).map(|(n, _)| *n),
                        Size::Any | Size::Expr(_) => None,
                    };
                    if !tells(&tensor.dims, k) {
                        tensor.dims[k] = known.unwrap_or(0);
                    }
                    at = elem;
                }
            }
            (SizedTy::Tuple(types), Data::Tuple(items)) => {
                types.iter().zip(items).for_each(|(t, d)| self.fill_in(t, d))
            }
            (SizedTy::Record(types), Data::Record(items)) => {
                types.iter().zip(items).for_each(|((_, t), (_, d))| self.fill_in(t, d))
            }
            (SizedTy::Array(_, elem), Data::Array(items)) => {
                items.iter_mut().for_each(|d| self.fill_in(elem, d))
            }
            _ => {}
        }
    }

    fn size(&mut self, reader: &DataReader, size: &Size, found: usize) -> Result<(), Problem> {
        match size {
            Size::Any | Size::Expr(_) => Ok(()),
            Size::Const(n) if *n as usize == found => Ok(()),
            Size::Const(n) => Err(reader.mismatch(format!(
                "an array with {} where {n} belong",
                lambada_source::counted(found, "element")
            ))),
            Size::Var(name) => {
                let from = || format!("the shape of `{}`", reader.name);
                let (value, origin) =
                    self.known.entry(name.clone()).or_insert_with(|| (found, from()));
                if *value == found {
                    return Ok(());
                }
                Err(messages::size_conflict(
                    reader.name,
                    reader.expected,
                    found,
                    name,
                    *value,
                    origin,
                ))
            }
        }
    }
}

#[derive(Clone, Copy)]
struct DataReader<'a> {
    program: &'a Program,
    name: &'a str,
    expected: &'a str,
    /// The current position in the value.
    path: Option<&'a ValuePath<'a>>,
    /// Line numbers of the elements, for data from text.
    lines: Option<&'a Lines>,
}

/// The position of a nested value.
struct ValuePath<'a> {
    outer: Option<&'a ValuePath<'a>>,
    step: At<'a>,
}

enum At<'a> {
    /// An element of a list.
    Index(usize),
    /// A member of an object.
    Field(&'a str),
}

impl ValuePath<'_> {
    /// Index of the outermost list element that contains the position.
    fn row(&self) -> Option<usize> {
        match (self.outer, &self.step) {
            (Some(outer), _) => outer.row(),
            (None, At::Index(row)) => Some(*row),
            (None, At::Field(_)) => None,
        }
    }
}

impl std::fmt::Display for ValuePath<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(outer) = self.outer {
            write!(f, "{outer}")?;
        }
        match self.step {
            At::Index(k) => write!(f, "[{k}]"),
            At::Field(name) => write!(f, ".{name}"),
        }
    }
}

impl DataReader<'_> {
    fn mismatch(&self, found: impl Into<String>) -> Problem {
        messages::mismatch(self.name, self.expected, &self.found(found))
    }

    /// Describes a value with its position.
    fn found(&self, found: impl Into<String>) -> String {
        let found = found.into();
        match self.path {
            Some(path) => {
                let line = self.lines.and_then(|lines| Some((path.row()?, lines)));
                let line = line.and_then(|(row, lines)| Some((lines.of.get(row)?, &lines.origin)));
                let line = line.map(|(line, origin)| format!(", line {line} of {origin}"));
                format!("{found} at `{}{path}`{}", self.name, line.unwrap_or_default())
            }
            None => found,
        }
    }

    /// Reads a nested value.
    fn inside<R>(&self, step: At, read: impl FnOnce(&DataReader) -> R) -> R {
        read(&DataReader { path: Some(&ValuePath { outer: self.path, step }), ..*self })
    }

    /// Reads the elements of a list.
    fn each<T, R>(
        &self,
        items: impl IntoIterator<Item = T>,
        mut read: impl FnMut(&DataReader, T) -> Result<R, Problem>,
    ) -> Result<Vec<R>, Problem> {
        let items = items.into_iter().enumerate();
        items.map(|(k, item)| self.inside(At::Index(k), |inner| read(inner, item))).collect()
    }

    /// The problem with the first non-integral element of a text column.
    fn fraction(&self, values: &[f64], column: Option<&str>) -> Option<Problem> {
        let is_one = |x: &f64| json::int(&Value::from(*x)).is_some();
        let row = values.iter().position(|x| !is_one(x))?;
        let told = |inner: &DataReader| {
            let found = inner.found(values[row].to_string());
            messages::not_integral(self.name, self.expected, &found)
        };
        Some(self.inside(At::Index(row), |inner| match column {
            Some(name) => inner.inside(At::Field(name), told),
            None => told(inner),
        }))
    }

    fn raw(&self, ty: &SizedTy, value: &Raw) -> Result<Data, Problem> {
        match value {
            Raw::Json(value) => self.json(ty, value),
            Raw::Tensor(tensor) => self.tensor(ty, tensor),
            Raw::Table(table) => self.table(ty, table),
            Raw::Foreign(what) => Err(self.mismatch(format!("a column of {what}"))),
        }
    }

    fn json(&self, ty: &SizedTy, value: &Value) -> Result<Data, Problem> {
        if let Some((_, id)) = sized::of(ty) {
            return self.variant(id, value);
        }
        match ty {
            SizedTy::Scalar(elem) => Ok(Data::Tensor(Tensor::scalar(self.scalar(*elem, value)?))),
            SizedTy::Array(..) => match scalar_leaf(ty) {
                Some((elem, rank)) => self.dense(elem, rank, value).map(Data::Tensor),
                None => self.list(ty, value),
            },
            SizedTy::Tuple(types) => match value {
                Value::Array(items) if items.len() == types.len() => {
                    let items = types.iter().zip(items);
                    self.each(items, |inner, (t, v)| inner.json(t, v)).map(Data::Tuple)
                }
                other => Err(self.mismatch(json::describe(other))),
            },
            SizedTy::Record(types) => self.record(types, value),
            SizedTy::Variant(id) => self.variant(*id, value),
            SizedTy::Fun(..) => Err(self.mismatch(format!(
                "{}; a function cannot be given as data",
                json::describe(value)
            ))),
        }
    }

    fn list(&self, ty: &SizedTy, value: &Value) -> Result<Data, Problem> {
        let SizedTy::Array(_, elem) = ty else { return Err(self.mismatch(json::describe(value))) };
        let Value::Array(items) = value else { return Err(self.mismatch(json::describe(value))) };
        self.each(items, |inner, item| inner.json(elem, item)).map(Data::Array)
    }

    fn scalar(&self, elem: ScalarTy, value: &Value) -> Result<Scalar, Problem> {
        let read = match elem {
            ScalarTy::Real => json::real(value).map(Scalar::Real),
            ScalarTy::Int => json::int(value).map(Scalar::Int),
            ScalarTy::Bool => value.as_bool().map(Scalar::Bool),
        };
        match (read, elem, value) {
            (Some(scalar), ..) => Ok(scalar),
            (None, ScalarTy::Int, Value::Number(n)) => {
                let found = self.found(n.to_string());
                Err(messages::not_integral(self.name, self.expected, &found))
            }
            _ => {
                let problem = self.mismatch(json::describe(value));
                Err(match json::spelling(elem, value) {
                    Some(spelling) if value.as_str().is_some_and(json::overflows) => {
                        problem.hint(messages::overflows(spelling))
                    }
                    Some(spelling) => problem.hint(messages::spelled(spelling)),
                    None => problem,
                })
            }
        }
    }

    /// Reads nested lists of scalars of depth `rank`, which must be regular.
    fn dense(&self, elem: ScalarTy, rank: usize, value: &Value) -> Result<Tensor, Problem> {
        let mut dims = vec![None; rank];
        let mut data = Elements::zeros(elem, 0);
        self.gather(elem, value, 0, &mut dims, &mut data, value)?;
        Ok(Tensor { dims: dims.into_iter().map(|d| d.unwrap_or(0)).collect(), data })
    }

    fn gather(
        &self,
        elem: ScalarTy,
        value: &Value,
        axis: usize,
        dims: &mut [Option<usize>],
        data: &mut Elements,
        whole: &Value,
    ) -> Result<(), Problem> {
        if axis == dims.len() {
            push(
                data,
                match self.scalar(elem, value) {
                    Err(_) if axis > 0 && matches!(value, Value::Array(_)) => {
                        return Err(self.misshapen(axis, whole));
                    }
                    read => read?,
                },
            );
            return Ok(());
        }
        let Value::Array(items) = value else {
            return Err(self.misshapen(axis, whole));
        };
        match dims[axis] {
            Some(first) if first != items.len() => {
                let place = self.found("a list");
                return Err(messages::ragged(self.name, self.expected, &place, items.len(), first));
            }
            _ => dims[axis] = Some(items.len()),
        }
        items.iter().enumerate().try_for_each(|(k, item)| {
            self.inside(At::Index(k), |inner| inner.gather(elem, item, axis + 1, dims, data, whole))
        })
    }

    /// The problem of a list with the wrong depth. Describes the outermost list, not the place
    /// `depth` levels inside.
    fn misshapen(&self, depth: usize, whole: &Value) -> Problem {
        let mut path = self.path;
        for _ in 0..depth {
            path = path.and_then(|path| path.outer);
        }
        DataReader { path, ..*self }.mismatch(json::describe(whole))
    }

    fn record(&self, types: &[(Rc<str>, SizedTy)], value: &Value) -> Result<Data, Problem> {
        if let (Value::Array(lists), Some(values)) = (value, ragged::values(types)) {
            return self.ragged(values, types, lists);
        }
        let Value::Object(members) = value else {
            return Err(self.mismatch(json::describe(value)));
        };
        let missing: Vec<&str> =
            types.iter().map(|(n, _)| &**n).filter(|n| !members.contains_key(*n)).collect();
        let extra: Vec<&str> = members
            .keys()
            .map(String::as_str)
            .filter(|n| !types.iter().any(|(t, _)| &**t == *n))
            .collect();
        if !missing.is_empty() || !extra.is_empty() {
            return Err(messages::fields(self.name, self.expected, &missing, &extra));
        }
        types
            .iter()
            .map(|(n, t)| {
                let value = self.inside(At::Field(n), |inner| inner.json(t, &members[&**n]))?;
                Ok((Arc::from(&**n), value))
            })
            .collect::<Result<_, _>>()
            .map(Data::Record)
    }

    fn variant(&self, id: TypeId, value: &Value) -> Result<Data, Problem> {
        let decl = self.program.type_decl(id);
        let no_arguments = Vec::new();
        let (found, args) = match value {
            Value::String(name) => (name.as_str(), &no_arguments),
            Value::Object(members) if members.len() == 1 => match members.iter().next() {
                Some((name, Value::Array(args))) => (name.as_str(), args),
                Some((name, _)) if decl.constructors.iter().any(|(known, _)| **known == **name) => {
                    let problem = self.mismatch(json::describe(value));
                    return Err(problem.hint(messages::arguments_in_brackets(name)));
                }
                _ => return Err(self.mismatch(json::describe(value))),
            },
            other => return Err(self.mismatch(json::describe(other))),
        };
        let known: Vec<&str> = decl.constructors.iter().map(|(n, _)| &**n).collect();
        let Some(tag) = known.iter().position(|n| *n == found) else {
            let found = (found, &*self.found(""));
            return Err(messages::no_constructor(self.name, &decl.name, found, &known));
        };
        let (constructor, types) = &decl.constructors[tag];
        if types.len() != args.len() {
            return Err(self.mismatch(format!(
                "`{found}` with {} instead of {}",
                lambada_source::counted(args.len(), "argument"),
                types.len()
            )));
        }
        let args = self.inside(At::Field(found), |inner| {
            let args = types.iter().zip(args);
            inner.each(args, |inner, (t, v)| stack::deeper(|| inner.json(&unsized_ty(t), v)))
        })?;
        Ok(Data::Con { name: Arc::from(&**constructor), tag, args: args.into() })
    }

    fn tensor(&self, ty: &SizedTy, tensor: &Tensor) -> Result<Data, Problem> {
        let found = || {
            let dims: String = tensor.dims.iter().map(|n| format!("[{n}]")).collect();
            if dims.is_empty() {
                format!("a number of type {}", tensor.elem())
            } else {
                format!("an array of shape {dims} of type {}", tensor.elem())
            }
        };
        let (elem, rank) = scalar_leaf(ty).ok_or_else(|| self.mismatch(found()))?;
        if tensor.dims.len() != rank {
            return Err(self.mismatch(found()));
        }
        let data = match (elem, &tensor.data) {
            (ScalarTy::Real, Elements::Int(v)) => {
                Elements::Real(v.iter().map(|x| *x as f64).collect())
            }
            (_, data) if data.ty() == elem => data.clone(),
            (ScalarTy::Int, Elements::Real(v)) if self.lines.is_some() => {
                match self.fraction(v, None) {
                    None => Elements::Int(v.iter().map(|x| *x as i64).collect()),
                    Some(problem) => return Err(problem),
                }
            }
            _ => return Err(self.mismatch(found())),
        };
        Ok(Data::Tensor(Tensor { dims: tensor.dims.clone(), data }))
    }
}

fn push(data: &mut Elements, value: Scalar) {
    match data {
        Elements::Real(v) => v.push(value.real()),
        Elements::Int(v) => v.push(value.int()),
        Elements::Bool(v) => v.push(value.bool()),
    }
}

/// Element type and rank of a scalar or an array of scalars.
pub fn scalar_leaf(ty: &SizedTy) -> Option<(ScalarTy, usize)> {
    match ty {
        SizedTy::Scalar(elem) => Some((*elem, 0)),
        SizedTy::Array(_, elem) => scalar_leaf(elem).map(|(leaf, rank)| (leaf, rank + 1)),
        SizedTy::Tuple(_) | SizedTy::Record(_) | SizedTy::Fun(..) | SizedTy::Variant(_) => None,
    }
}
