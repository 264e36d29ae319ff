//! The declaration order of record fields. In types they are sets; they are displayed in this
//! order.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::data::Data;

/// Record fields in declaration order, by their alphabetical order. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldOrder(Arc<HashMap<String, Box<[Box<str>]>>>);

impl FieldOrder {
    /// Declares fields in this order; an earlier declaration takes precedence.
    pub fn declare<'n>(&mut self, names: impl Iterator<Item = &'n Rc<str>>) {
        let names: Box<[Box<str>]> = names.map(|name| Box::from(&**name)).collect();
        let key = key(names.iter().map(|name| &**name).collect());
        if !self.0.contains_key(&key) {
            Arc::make_mut(&mut self.0).insert(key, names);
        }
    }

    /// Whether a declared record has this field.
    pub fn declares(&self, name: &str) -> bool {
        self.0.values().flatten().any(|known| **known == *name)
    }

    /// Sorts the fields of a record by their declaration. Undeclared ones keep their order.
    pub fn sort<T>(&self, fields: &mut [T], name: impl Fn(&T) -> &str) {
        if fields.len() < 2 || self.0.is_empty() {
            return;
        }
        if let Some(order) = self.0.get(&key(fields.iter().map(&name).collect())) {
            fields.sort_by_key(|field| order.iter().position(|known| **known == *name(field)));
        }
    }

    /// Sorts the fields of all records of a value by their declaration, for display; programs need
    /// them in alphabetical order.
    pub fn arrange(&self, data: &mut Data) {
        if self.0.is_empty() {
            return;
        }
        // Iterates, because lists may be long, and their elements are nested.
        let mut pending = vec![data];
        while let Some(data) = pending.pop() {
            match data {
                Data::Tensor(_) => {}
                Data::Tuple(items) | Data::Array(items) => pending.extend(items),
                Data::Con { args, .. } => pending.extend(args.iter_mut()),
                Data::Record(fields) => {
                    self.sort(fields, |(name, _)| name);
                    pending.extend(fields.iter_mut().map(|(_, field)| field));
                }
            }
        }
    }
}

fn key(mut names: Vec<&str>) -> String {
    names.sort_unstable();
    names.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(declared: &[&[&str]]) -> FieldOrder {
        let mut order = FieldOrder::default();
        for names in declared {
            let names: Vec<Rc<str>> = names.iter().map(|name| Rc::from(*name)).collect();
            order.declare(names.iter());
        }
        order
    }

    fn sorted<'n>(order: &FieldOrder, names: &[&'n str]) -> Vec<&'n str> {
        let mut names = names.to_vec();
        order.sort(&mut names, |name| name);
        names
    }

    #[test]
    fn the_first_declaration_counts() {
        let order = order(&[&["z", "a"], &["z", "a", "b"], &["b", "z", "a"]]);
        assert_eq!(sorted(&order, &["a", "z"]), ["z", "a"]);
        assert_eq!(sorted(&order, &["a", "b", "z"]), ["z", "a", "b"]);
        assert_eq!(sorted(&order, &["c", "a"]), ["c", "a"]);
    }

    #[test]
    fn values_are_arranged_inside_of_each_other() {
        let record = |fields: [(&str, Data); 2]| {
            Data::Record(fields.map(|(name, value)| (name.into(), value)).to_vec())
        };
        let inner = |swapped: bool| {
            let [a, z] = [("a", Data::from(1.0)), ("z", Data::from(2.0))];
            record(if swapped { [z, a] } else { [a, z] })
        };
        let mut all = Data::Array(vec![Data::Tuple(vec![record([
            ("p", inner(false)),
            ("q", Data::from(3.0)),
        ])])]);
        order(&[&["z", "a"], &["q", "p"]]).arrange(&mut all);
        let q = ("q", Data::from(3.0));
        let wanted = Data::Array(vec![Data::Tuple(vec![record([q, ("p", inner(true))])])]);
        assert_eq!(all, wanted);
    }
}
