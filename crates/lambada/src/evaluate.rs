//! Stand-alone expressions: `e` with values for names in it becomes `def it x … = e`, called on
//! these values.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;

use lambada_prim::ScalarTy;
use lambada_source::{FileId, Problem, stack};
use lambada_surface::ast::{Item, Module};
use lambada_surface::free_variables;
use serde_json::Value;

use crate::data::{Column, Inputs, Raw, is_identifier};
use crate::session::Text;
use crate::{Session, Unit};

/// Name of the definition that an expression becomes.
pub const RESULT: &str = "this_expression";

/// The text of an expression and its environment.
#[derive(Clone, Debug, Default)]
pub struct Expression<'a> {
    /// The expression.
    pub text: &'a str,
    /// Items in scope, as text.
    pub definitions: &'a str,
    /// Values by name; those that the expression mentions become parameters.
    pub inputs: Option<&'a Inputs>,
    /// Folder that imports are relative to.
    pub folder: PathBuf,
}

impl Session {
    /// Checks an expression: a file that defines [`RESULT`].
    ///
    /// # Errors
    /// All problems of the expression.
    pub fn load_expression(
        &mut self,
        name: &str,
        expression: &Expression,
    ) -> Result<Unit, Vec<Problem>> {
        let parameters = stack::roomy(|| parameters(expression));
        let text = |choose: fn(&Parameter) -> &Option<String>| {
            let parameters = parameters.iter().map(|p| match choose(p) {
                Some(ty) => format!(" ({} : {ty})", p.name),
                None => format!(" {}", p.name),
            });
            let head = format!("def {RESULT}{} = ", parameters.collect::<String>());
            let text = format!("{head}{}\n\n{}", expression.text.trim(), expression.definitions);
            (text, head.len())
        };
        let mut load = |(text, shown_from): (String, usize)| {
            let text = Text { name, text: &text, shown_from };
            self.load_from(text, &expression.folder, None)
        };
        let first = load(text(|p| &p.real));
        if first.is_ok() || parameters.iter().all(|p| p.real == p.int) {
            return first;
        }
        // Only the expression decides whether numbers without fractions are integers.
        load(text(|p| &p.int)).or(first)
    }
}

impl Session {
    /// Checks a function that is an expression: a file that defines [`RESULT`], a function of one
    /// parameter.
    ///
    /// # Errors
    /// All problems of the expression.
    pub fn load_function(
        &mut self,
        name: &str,
        expression: &Expression,
    ) -> Result<Unit, Vec<Problem>> {
        let head = format!("def {RESULT} x = let given = ");
        let (own, definitions) = (expression.text.trim(), expression.definitions);
        let text = format!("{head}{own}\n  in given x\n\n{definitions}");
        let text = Text { name, text: &text, shown_from: head.len() };
        self.load_from(text, &expression.folder, None)
    }
}

/// Whether the text is a prefix of an expression or of items.
pub fn is_incomplete(text: &str) -> bool {
    stack::roomy(|| lambada_surface::is_incomplete(text))
}

/// The names that an item defines, and its range in the text.
pub type Place = (Vec<Rc<str>>, Range<usize>);

/// The names that items define, with the range of each item and its comments; `None` unless the
/// text consists of items.
pub fn items(text: &str) -> Option<Vec<Place>> {
    let (module, problems) = stack::roomy(|| lambada_surface::parse(text, FileId::default()));
    (problems.is_empty() && !module.items.is_empty()).then(|| places(&module, text))
}

fn places(module: &Module, text: &str) -> Vec<Place> {
    let mut end = 0;
    let mut all = Vec::new();
    for (k, item) in module.items.iter().enumerate() {
        let next = item.span().end as usize;
        let next = if k + 1 == module.items.len() { text.len() } else { next };
        all.push((lambada_surface::defined(item), end..next));
        end = next;
    }
    all
}

/// A name in the expression that has a value, with the type of the value under the assumption that
/// numbers are reals, and that they are integers.
struct Parameter {
    name: String,
    real: Option<String>,
    int: Option<String>,
}

fn parameters(expression: &Expression) -> Vec<Parameter> {
    let Some(inputs) = expression.inputs else { return Vec::new() };
    let text = format!("def {RESULT} = {}", expression.text);
    let (module, _) = lambada_surface::parse(&text, FileId::default());
    let mentioned: BTreeSet<Rc<str>> = match module.items.first() {
        Some(Item::Def(def)) => free_variables(def).into_iter().collect(),
        Some(Item::Type(_) | Item::Import(_)) | None => BTreeSet::new(),
    };
    let mut parameters: Vec<Parameter> = Vec::new();
    for entry in &inputs.entries {
        let Some(name) = entry.name.as_deref().filter(|name| is_identifier(name)) else { continue };
        let wanted = !entry.shared || mentioned.contains(name);
        if wanted && parameters.iter().all(|known| known.name != name) {
            let (real, int) = types(&entry.value);
            parameters.push(Parameter { name: name.to_string(), real, int });
        }
    }
    parameters
}

/// The type of a value, with numbers as reals and as integers; `None` if only the uses determine
/// it.
fn types(value: &Raw) -> (Option<String>, Option<String>) {
    let array = |rank: usize, elem: &str| Some(format!("{}{elem}", "[]".repeat(rank)));
    match value {
        Raw::Table(table) => {
            let matrix = table.columns.iter().all(|(_, c)| matches!(c, Column::Numbers(_)));
            let ty = (matrix && !table.head).then(|| "[][]real".to_string());
            (ty.clone(), ty)
        }
        Raw::Tensor(tensor) => {
            let rank = tensor.dims.len();
            let own = array(rank, &tensor.elem().to_string());
            match tensor.elem() {
                ScalarTy::Int => (array(rank, "real"), own),
                ScalarTy::Real | ScalarTy::Bool => (own.clone(), own),
            }
        }
        Raw::Foreign(_) => (None, None),
        Raw::Json(value) => {
            let mut rank = 0;
            let mut at: &Value = value;
            while let Value::Array(items) = at {
                rank += 1;
                match items.first() {
                    Some(first) => at = first,
                    None => return (array(rank, "real"), array(rank, "real")),
                }
            }
            match at {
                Value::Number(_) | Value::String(_) if rank > 0 => {
                    let numbers = matches!(at, Value::Number(_));
                    let int = if numbers && whole(value) { "int" } else { "real" };
                    (array(rank, "real"), array(rank, int))
                }
                Value::Bool(_) => (array(rank, "bool"), array(rank, "bool")),
                _ => (None, None),
            }
        }
    }
}

/// Whether all numbers in the value are integers.
fn whole(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().all(whole),
        Value::Number(number) => number.is_i64(),
        Value::Null | Value::Bool(_) => false,
        Value::String(_) | Value::Object(_) => false,
    }
}
