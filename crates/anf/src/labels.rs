//! Labels: the names of a library's node types and functions in the text of a program, unique, and
//! as close to their own names as possible.

use std::collections::HashSet;

use crate::naming::numbered;
use crate::{FnId, Library, NodeId};

/// The names of a library.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    nodes: Vec<NodeLabels>,
    functions: Vec<String>,
}

#[derive(Clone, Debug, Default)]
struct NodeLabels {
    name: String,
    /// By tag: the name, and the names of the fields.
    constructors: Vec<(String, Vec<String>)>,
}

impl Labels {
    /// Labels other than the reserved words.
    pub fn new<'w>(library: &Library, reserved: impl IntoIterator<Item = &'w str>) -> Labels {
        let mut types: HashSet<String> = reserved.into_iter().map(String::from).collect();
        let mut functions = types.clone();
        let nodes = library.nodes.iter().map(|node| {
            let mut tags = HashSet::new();
            let constructors = node.constructors.iter().map(|constructor| {
                let mut taken = HashSet::new();
                let fields = constructor.fields.iter();
                let fields = fields.map(|f| unique(&f.name, "x", &mut taken)).collect();
                (unique(&constructor.name, "C", &mut tags), fields)
            });
            let constructors = constructors.collect();
            NodeLabels { name: unique(&node.name, "node", &mut types), constructors }
        });
        let nodes = nodes.collect();
        let name =
            |f: &Option<crate::Function>| f.as_ref().map_or(String::new(), |f| f.name.clone());
        let names = library.functions.iter().map(name);
        let functions = names.map(|name| unique(&name, "f", &mut functions)).collect();
        Labels { nodes, functions }
    }

    /// The label of a node type; by number, if the library does not have it.
    pub fn node(&self, id: NodeId) -> String {
        let known = self.nodes.get(id.0 as usize);
        known.map_or_else(|| format!("node_{}", id.0), |node| node.name.clone())
    }

    /// The label of a function; by number, if the library does not have it.
    pub fn function(&self, id: FnId) -> String {
        let known = self.functions.get(id.0 as usize);
        known.map_or_else(|| format!("f_{}", id.0), Clone::clone)
    }

    /// The label of a constructor.
    pub fn constructor(&self, id: NodeId, tag: u32) -> Option<&str> {
        Some(self.nodes.get(id.0 as usize)?.constructors.get(tag as usize)?.0.as_str())
    }

    /// The label of a field.
    pub fn field(&self, id: NodeId, tag: u32, field: u32) -> Option<&str> {
        let (_, fields) = self.nodes.get(id.0 as usize)?.constructors.get(tag as usize)?;
        fields.get(field as usize).map(String::as_str)
    }
}

/// The name as an identifier that is not taken yet.
fn unique(name: &str, default: &str, taken: &mut HashSet<String>) -> String {
    let base = spelled(name, default);
    let mut candidates = (0..).map(|k| numbered(&base, k).to_string());
    let name = candidates.find(|name| !taken.contains(name)).unwrap_or(base);
    taken.insert(name.clone());
    name
}

/// The letters, digits and underscores of a name, not starting with a digit.
fn spelled(name: &str, default: &str) -> String {
    let mut spelled = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            spelled.push(c);
        } else if !spelled.is_empty() && !spelled.ends_with('_') {
            spelled.push('_');
        }
    }
    let spelled = spelled.trim_end_matches('_');
    match spelled.chars().next() {
        None => default.into(),
        Some(c) if c.is_ascii_digit() => format!("{default}{spelled}"),
        Some(_) => spelled.into(),
    }
}
