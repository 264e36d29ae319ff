//! Conversion of Python values to arguments, driven by the types of the parameters. Errors state
//! the parameter, its type, the position in it, and the value found.

use std::collections::HashSet;
use std::sync::Arc;

use lambada::{Arg, Data, IntoArg, Type, Variant};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};

use crate::arrays::{self, Element, Unfit, said};
use crate::classes;

/// Stack space required to read a part of a value.
const ROOM: usize = 128 * 1024;

/// Size of an additional stack segment.
const MORE: usize = 4 * 1024 * 1024;

/// Reads the value of a parameter.
pub(crate) struct Reader<'a, 'py> {
    /// Its name in messages: `x`, or `the tangent of x`.
    pub name: &'a str,
    pub ty: &'a Type,
    pub variants: &'a [Variant],
    /// Objects that must outlive the call.
    pub kept: &'a mut Vec<Bound<'py, PyAny>>,
    /// The variants being read, by address, because none may contain itself.
    pub inside: HashSet<usize>,
}

/// Element type and rank of an array of scalars.
pub(crate) fn plain(ty: &Type) -> Option<(Element, usize)> {
    let (mut ty, mut rank) = (ty, 0);
    while let Type::Array(_, elem) = ty {
        (ty, rank) = (elem, rank + 1);
    }
    let elements =
        [(Type::Real, Element::Real), (Type::Int, Element::Int), (Type::Bool, Element::Bool)];
    let found = elements.into_iter().find(|(known, _)| known == ty);
    found.map(|(_, element)| (element, rank))
}

impl<'py> Reader<'_, 'py> {
    /// Reads the argument. Arrays are borrowed if possible, so the value must outlive the argument.
    pub fn arg(&mut self, value: &Bound<'py, PyAny>) -> PyResult<Arg<'static>> {
        match plain(self.ty) {
            Some((Element::Real, 0)) if value.is_exact_instance_of::<PyFloat>() => {
                Ok(value.extract::<f64>()?.into_arg())
            }
            Some((element, 0)) => self.scalar(value, element, ""),
            Some((element, rank)) => {
                if let Ok(array) = value.cast_exact::<PyUntypedArray>()
                    && array.ndim() == rank
                    && let Some(arg) = arrays::lent(array, element)
                {
                    return Ok(arg);
                }
                self.array(value, element, rank, "")
            }
            None => match self.columns(self.ty, value)? {
                Some(arg) => Ok(arg),
                None => Ok(self.data(self.ty, value, "")?.into_arg()),
            },
        }
    }

    /// Reads a table whose columns are arrays of numbers, for an array of records. `None` for all
    /// else, and for columns that have to be read cell by cell.
    fn columns(&mut self, ty: &Type, value: &Bound<'py, PyAny>) -> PyResult<Option<Arg<'static>>> {
        let Type::Array(_, elem) = ty else { return Ok(None) };
        match (&**elem, is_table(value)) {
            (Type::Record(fields), true) => self.columns_of(fields, value),
            _ => Ok(None),
        }
    }

    fn columns_of(
        &mut self,
        fields: &[(Arc<str>, Type)],
        value: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Arg<'static>>> {
        let names = column_names(value)?;
        let mut columns = Vec::with_capacity(fields.len());
        for (name, ty) in fields {
            if !names.iter().any(|known| **known == **name) {
                return Ok(None);
            }
            let column = value.get_item(&**name)?;
            let arg = match (plain(ty), ty) {
                (Some((element, rank)), _) if !is_no_sequence(&column) => {
                    let array = arrays::converted(&column, element, rank + 1).ok();
                    let arg = array.as_ref().and_then(|array| arrays::lent(array, element));
                    self.kept.extend(array.map(Bound::into_any));
                    arg
                }
                (None, Type::Record(inner)) if is_table(&column) => {
                    self.columns_of(inner, &column)?
                }
                _ => None,
            };
            let Some(arg) = arg else { return Ok(None) };
            columns.push((name.clone(), arg));
        }
        Ok(Arg::columns(columns))
    }

    fn array(
        &mut self,
        value: &Bound<'py, PyAny>,
        element: Element,
        rank: usize,
        place: &str,
    ) -> PyResult<Arg<'static>> {
        if is_no_sequence(value) {
            return Err(self.wrong(value, place));
        }
        let array = arrays::converted(value, element, rank).map_err(|unfit| match unfit {
            Unfit::Type(found) => PyTypeError::new_err(self.message(&found, place)),
            Unfit::Value(found) => PyValueError::new_err(self.message(&found, place)),
        })?;
        let arg = arrays::lent(&array, element);
        self.kept.push(array.into_any());
        arg.ok_or_else(|| self.wrong(value, place))
    }

    fn scalar(
        &mut self,
        value: &Bound<'py, PyAny>,
        element: Element,
        place: &str,
    ) -> PyResult<Arg<'static>> {
        if let Ok(array) = value.cast::<PyUntypedArray>() {
            if array.ndim() == 0 {
                let item = array.call_method0(intern!(value.py(), "item"))?;
                return self.scalar(&item, element, place);
            }
            let sizes: Vec<String> = array.shape().iter().map(ToString::to_string).collect();
            let found = format!("an array of the shape ({})", sizes.join(", "));
            return Err(PyValueError::new_err(self.message(&found, place)));
        }
        let is_bool = value.is_instance_of::<PyBool>() || is_numpy_bool(value);
        let found = match element {
            Element::Bool if is_bool => Some(value.is_truthy()?.into_arg()),
            Element::Bool => None,
            Element::Real if is_bool => Some(f64::from(value.is_truthy()?).into_arg()),
            Element::Int if is_bool => Some(i64::from(value.is_truthy()?).into_arg()),
            _ if value.is_instance_of::<PyString>() => None,
            Element::Real => value.extract::<f64>().ok().map(IntoArg::into_arg),
            Element::Int if value.is_instance_of::<PyFloat>() => None,
            Element::Int => match value.extract::<i64>() {
                Ok(number) => Some(number.into_arg()),
                Err(_) if value.is_instance_of::<PyInt>() => {
                    let found = format!("{value}, which is not a 64-bit integer");
                    return Err(PyValueError::new_err(self.message(&found, place)));
                }
                Err(_) => None,
            },
        };
        match found {
            Some(arg) => Ok(arg),
            None => Err(self.wrong(value, place)),
        }
    }

    /// Reads a value of any type as owned data.
    fn data(&mut self, ty: &Type, value: &Bound<'py, PyAny>, place: &str) -> PyResult<Data> {
        stacker::maybe_grow(ROOM, MORE, || self.data_of(ty, value, place))
    }

    fn data_of(&mut self, ty: &Type, value: &Bound<'py, PyAny>, place: &str) -> PyResult<Data> {
        if let Some((element, rank)) = plain(ty) {
            let arg = match rank {
                0 => self.scalar(value, element, place)?,
                _ => self.array(value, element, rank, place)?,
            };
            return Ok(arg.to_data());
        }
        match ty {
            Type::Tuple(types) => self.tuple(types, value, place),
            Type::Record(fields) => self.record(fields, value, place),
            Type::Array(_, elem) => self.elements(elem, value, place),
            Type::Variant(name) => self.variant(name, value, place),
            Type::Real | Type::Int | Type::Bool | Type::Function(..) => {
                Err(self.wrong(value, place))
            }
        }
    }

    fn tuple(&mut self, types: &[Type], value: &Bound<'py, PyAny>, place: &str) -> PyResult<Data> {
        let is_sequence = value.is_instance_of::<PyTuple>()
            || value.is_instance_of::<PyList>()
            || value.is_instance_of::<PyUntypedArray>();
        if !is_sequence {
            return Err(self.wrong(value, place));
        }
        let items: Vec<Bound<'py, PyAny>> = value.try_iter()?.collect::<PyResult<_>>()?;
        if items.len() != types.len() {
            let found =
                format!("{} of {} items where there are {}", kind(value), items.len(), types.len());
            return Err(PyValueError::new_err(self.message(&found, place)));
        }
        let mut all = Vec::with_capacity(items.len());
        for (k, (ty, item)) in types.iter().zip(&items).enumerate() {
            all.push(self.data(ty, item, &format!("{place}[{k}]"))?);
        }
        Ok(Data::Tuple(all))
    }

    /// Reads a mapping, or an object with attributes: dataclasses, named tuples, namespaces.
    fn record(
        &mut self,
        fields: &[(Arc<str>, Type)],
        value: &Bound<'py, PyAny>,
        place: &str,
    ) -> PyResult<Data> {
        let Some(names) = field_names(value)? else { return Err(self.wrong(value, place)) };
        let missing: Vec<&str> = fields
            .iter()
            .map(|(name, _)| &**name)
            .filter(|name| !names.iter().any(|known| known == name))
            .collect();
        let extra: Vec<&String> = names
            .iter()
            .filter(|name| !fields.iter().any(|(known, _)| **known == ***name))
            .collect();
        if !missing.is_empty() || !extra.is_empty() {
            let mut found = format!("{} that", kind(value));
            if !missing.is_empty() {
                found += &format!(" lacks {}", listed(&missing));
            }
            if !extra.is_empty() {
                let joint = if missing.is_empty() { "" } else { " and" };
                found += &format!("{joint} has {}, which the type has not", listed(&extra));
            }
            return Err(PyTypeError::new_err(self.message(&found, place)));
        }
        let mut all = Vec::with_capacity(fields.len());
        for (name, ty) in fields {
            let item = field(value, name)?;
            all.push((name.clone(), self.data(ty, &item, &format!("{place}.{name}"))?));
        }
        all.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(Data::Record(all))
    }

    /// Reads an array of structures: a sequence, or a table whose columns have the names of the
    /// fields.
    fn elements(&mut self, elem: &Type, value: &Bound<'py, PyAny>, place: &str) -> PyResult<Data> {
        if let (Type::Record(fields), true) = (elem, is_table(value)) {
            return self.table(fields, value, place);
        }
        if is_no_sequence(value) || value.is_instance_of::<PyDict>() {
            return Err(self.wrong(value, place));
        }
        let Ok(items) = value.try_iter() else { return Err(self.wrong(value, place)) };
        let mut all = Vec::new();
        for (k, item) in items.enumerate() {
            all.push(self.data(elem, &item?, &format!("{place}[{k}]"))?);
        }
        Ok(Data::Array(all))
    }

    fn table(
        &mut self,
        fields: &[(Arc<str>, Type)],
        value: &Bound<'py, PyAny>,
        place: &str,
    ) -> PyResult<Data> {
        let names = column_names(value)?;
        let mut columns: Vec<(&Arc<str>, &Type, Cells<'py>)> = Vec::new();
        for (name, ty) in fields {
            if !names.iter().any(|known| **known == **name) {
                let found = format!("a table without a column `{name}`");
                return Err(PyTypeError::new_err(self.message(&found, place)));
            }
            let column = value.get_item(&**name)?;
            let cells = match ty {
                // A table in a table, whose rows are records.
                Type::Record(inner) if is_table(&column) => {
                    match self.table(inner, &column, &format!("{place}.{name}"))? {
                        Data::Array(rows) => Cells::Read(rows.into_iter()),
                        other => return Ok(other),
                    }
                }
                _ => Cells::Objects(cells(&column)?.into_iter()),
            };
            columns.push((name, ty, cells));
        }
        let rows = columns.first().map_or(0, |(_, _, items)| items.len());
        if let Some((name, _, items)) = columns.iter().find(|(_, _, items)| items.len() != rows) {
            let found = format!(
                "a table whose column `{name}` has {} rows where others have {rows}",
                items.len()
            );
            return Err(PyValueError::new_err(self.message(&found, place)));
        }
        let mut all = Vec::with_capacity(rows);
        for row in 0..rows {
            let mut record = Vec::with_capacity(columns.len());
            for (name, ty, items) in &mut columns {
                let item = match items {
                    Cells::Objects(items) => items
                        .next()
                        .map(|item| self.cell(ty, &item, &format!("{place}.{name}[{row}]"))),
                    Cells::Read(items) => items.next().map(Ok),
                };
                record.extend(item.transpose()?.map(|item| ((*name).clone(), item)));
            }
            record.sort_by(|a, b| a.0.cmp(&b.0));
            all.push(Data::Record(record));
        }
        Ok(Data::Array(all))
    }

    /// Reads a cell of a table as in files: a missing real is a NaN, and a word is a constructor
    /// without fields.
    fn cell(&mut self, ty: &Type, value: &Bound<'py, PyAny>, place: &str) -> PyResult<Data> {
        match ty {
            Type::Real if is_missing(value) => Ok(Data::from(f64::NAN)),
            Type::Variant(_) if value.is_instance_of::<PyString>() => {
                let variant = classes::variant(value.py())?.call1((value,))?;
                self.data(ty, &variant, place)
            }
            _ => self.data(ty, value, place),
        }
    }

    /// Reads a variant. Only variants are checked for cycles, because values of all other types are
    /// finite.
    fn variant(&mut self, name: &str, value: &Bound<'py, PyAny>, place: &str) -> PyResult<Data> {
        let address = value.as_ptr() as usize;
        if !self.inside.insert(address) {
            return Err(PyValueError::new_err(self.message("a value that contains itself", place)));
        }
        let data = self.variant_of(name, value, place);
        self.inside.remove(&address);
        data
    }

    fn variant_of(&mut self, name: &str, value: &Bound<'py, PyAny>, place: &str) -> PyResult<Data> {
        let known = self.variants.iter().find(|variant| *variant.name == *name);
        let (Some(known), true) = (known, value.is_instance(classes::variant(value.py())?)?) else {
            return Err(self.wrong(value, place));
        };
        let constructor: String = value.getattr(intern!(value.py(), "name"))?.extract()?;
        let fields = value.getattr(intern!(value.py(), "fields"))?;
        let fields: Vec<Bound<'py, PyAny>> = fields.try_iter()?.collect::<PyResult<_>>()?;
        let names: Vec<&str> = known.constructors.iter().map(|(name, _)| &**name).collect();
        let Some(tag) = names.iter().position(|known| *known == constructor) else {
            let near = lambada::suggest(&constructor, names.iter().copied());
            let hint = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("its constructors are {}", listed(&names)),
            };
            let found = format!("`{constructor}`, which is no constructor of `{name}`; {hint}");
            return Err(PyTypeError::new_err(self.message(&found, place)));
        };
        let (constructor, types) = &known.constructors[tag];
        if types.len() != fields.len() {
            let found = format!(
                "`{constructor}` with {} where it takes {}",
                counted(fields.len()),
                types.len()
            );
            return Err(PyTypeError::new_err(self.message(&found, place)));
        }
        let mut args = Vec::with_capacity(fields.len());
        for (k, (ty, item)) in types.iter().zip(&fields).enumerate() {
            // Omits the position in long lists, which are equally deep.
            let inside =
                if place.len() < 60 { format!("{place}.fields[{k}]") } else { place.to_string() };
            args.push(self.data(ty, item, &inside)?);
        }
        Ok(Data::Con { name: constructor.clone(), tag, args: args.into() })
    }

    fn wrong(&self, value: &Bound<'py, PyAny>, place: &str) -> PyErr {
        PyTypeError::new_err(self.message(&said(value), place))
    }

    fn message(&self, found: &str, place: &str) -> String {
        let Reader { name, ty, .. } = self;
        match place {
            "" => format!("`{name}` should be `{ty}`, but it is {found}"),
            _ => format!("`{name}` should be `{ty}`, but `{name}{place}` is {found}"),
        }
    }
}

/// Converts a value of unspecified type.
pub(crate) fn natural(value: &Bound<'_, PyAny>) -> PyResult<Data> {
    natural_inside(value, &mut HashSet::new())
}

/// As [`natural`], inside of values given by address.
fn natural_inside(value: &Bound<'_, PyAny>, inside: &mut HashSet<usize>) -> PyResult<Data> {
    let address = value.as_ptr() as usize;
    if !inside.insert(address) {
        return Err(PyValueError::new_err("a value that contains itself is no value of Lambada"));
    }
    let data = stacker::maybe_grow(ROOM, MORE, || natural_data(value, inside));
    inside.remove(&address);
    data
}

fn items(value: &Bound<'_, PyAny>, inside: &mut HashSet<usize>) -> PyResult<Vec<Data>> {
    value.try_iter()?.map(|item| natural_inside(&item?, inside)).collect()
}

fn natural_data(value: &Bound<'_, PyAny>, inside: &mut HashSet<usize>) -> PyResult<Data> {
    let py = value.py();
    if value.is_instance_of::<PyBool>() || is_numpy_bool(value) {
        return Ok(Data::from(value.is_truthy()?));
    }
    if value.is_instance(classes::variant(py)?)? {
        let name: String = value.getattr("name")?.extract()?;
        let args = items(&value.getattr("fields")?, inside)?;
        return Ok(Data::Con { name: name.into(), tag: 0, args: args.into() });
    }
    if let Some(names) = field_names(value)? {
        let mut all: Vec<(Arc<str>, Data)> = Vec::new();
        for name in names {
            let item = natural_inside(&field(value, &name)?, inside)?;
            all.push((Arc::from(name), item));
        }
        all.sort_by(|a, b| a.0.cmp(&b.0));
        return Ok(Data::Record(all));
    }
    if value.is_instance_of::<PyTuple>() {
        return Ok(Data::Tuple(items(value, inside)?));
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(Data::from(value.extract::<i64>()?));
    }
    if value.hasattr("__float__")? && !value.hasattr("__len__")? {
        return Ok(Data::from(value.extract::<f64>()?));
    }
    let numpy = py.import("numpy")?.call_method1("asarray", (value,));
    let array = numpy.ok().and_then(|array| array.cast_into::<PyUntypedArray>().ok());
    for element in [Element::Bool, Element::Int, Element::Real] {
        let Some(array) = &array else { break };
        if let Ok(array) = arrays::converted(array.as_any(), element, array.ndim())
            && let Some(arg) = arrays::lent(&array, element)
        {
            return Ok(arg.to_data());
        }
    }
    match value.is_instance_of::<PyList>() {
        true => Ok(Data::Array(items(value, inside)?)),
        false => Err(PyTypeError::new_err(format!("{} is no value of Lambada", said(value)))),
    }
}

fn is_no_sequence(value: &Bound<'_, PyAny>) -> bool {
    value.is_none()
        || value.is_instance_of::<PyString>()
        || value.is_instance_of::<pyo3::types::PyBytes>()
        || value.is_instance_of::<PyDict>()
        || value.is_instance_of::<pyo3::types::PySet>()
}

fn is_numpy_bool(value: &Bound<'_, PyAny>) -> bool {
    let class = value.get_type();
    class.name().is_ok_and(|name| name == "bool_" || name == "bool")
        && value.hasattr("dtype").unwrap_or(false)
}

/// Whether the value has named columns.
fn is_table(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyDict>()
        || (value.hasattr("columns").unwrap_or(false)
            && value.hasattr("__getitem__").unwrap_or(false))
}

/// The column names of a table of pandas (which has keys like a dictionary), pyarrow or polars.
fn column_names(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if let Some(names) = field_names(value)? {
        return Ok(names);
    }
    let names = match value.hasattr("column_names")? {
        true => value.getattr("column_names")?,
        false => value.getattr("columns")?,
    };
    names.try_iter()?.map(|name| Ok(name?.str()?.to_string())).collect()
}

/// The cells of a column: as they are, or read.
enum Cells<'py> {
    Objects(std::vec::IntoIter<Bound<'py, PyAny>>),
    Read(std::vec::IntoIter<Data>),
}

impl Cells<'_> {
    fn len(&self) -> usize {
        match self {
            Cells::Objects(items) => items.len(),
            Cells::Read(items) => items.len(),
        }
    }
}

/// The cells of a column, as Python values.
fn cells<'py>(column: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    for list in ["to_pylist", "to_list"] {
        if column.hasattr(list)? {
            return column.call_method0(list)?.try_iter()?.collect();
        }
    }
    column.try_iter()?.collect()
}

/// Whether the value represents a missing one: `None`, or `NA` of pandas.
fn is_missing(value: &Bound<'_, PyAny>) -> bool {
    value.is_none() || value.get_type().name().is_ok_and(|name| name == "NAType")
}

/// The field names of an object with fields.
fn field_names(value: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
    let strings = |names: Bound<'_, PyAny>| -> PyResult<Vec<String>> {
        names.try_iter()?.map(|name| Ok(name?.str()?.to_string())).collect()
    };
    if value.cast::<PyMapping>().is_ok() || value.hasattr("keys")? {
        return Ok(Some(strings(value.call_method0("keys")?)?));
    }
    if value.hasattr("_fields")? {
        return Ok(Some(strings(value.getattr("_fields")?)?));
    }
    if value.hasattr("__dataclass_fields__")? {
        return Ok(Some(strings(value.getattr("__dataclass_fields__")?)?));
    }
    // A row of a structured array.
    if value.hasattr("dtype")? {
        let names = value.getattr("dtype")?.getattr("names")?;
        return if names.is_none() { Ok(None) } else { Ok(Some(strings(names)?)) };
    }
    let namespace = value.py().import("types")?.getattr("SimpleNamespace")?;
    match value.is_instance(&namespace)? {
        true => Ok(Some(strings(value.getattr("__dict__")?)?)),
        false => Ok(None),
    }
}

fn field<'py>(value: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let by_key = value.hasattr("keys")? || value.hasattr("dtype")?;
    if by_key { value.get_item(name) } else { value.getattr(name) }
}

fn kind(value: &Bound<'_, PyAny>) -> String {
    let class = value.get_type();
    let class = class.name().map_or_else(|_| "object".to_string(), |name| name.to_string());
    let article = if class.starts_with(['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O', 'U']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {class}")
}

fn counted(count: usize) -> String {
    if count == 1 { "1 field".into() } else { format!("{count} fields") }
}

pub(crate) fn listed(names: &[impl AsRef<str>]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    names.join(", ")
}
