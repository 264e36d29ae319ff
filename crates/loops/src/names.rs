//! Names for users: from hints, made valid and unique among all names in scope, so that sibling
//! loops may both have an `i`.

use std::collections::{HashMap, HashSet};

/// The names in scope. Entering and leaving scopes mirrors the printed text.
#[derive(Debug, Default)]
pub struct Names {
    taken: HashSet<String>,
    /// By hint: the number to try next.
    next: HashMap<String, u32>,
    /// By open scope.
    scopes: Vec<Vec<ScopedName>>,
}

/// A name to be freed, and by hint the number to go back to.
type ScopedName = (String, Option<(String, u32)>);

impl Names {
    /// No names but the reserved ones, which are never used.
    pub fn new<'a>(reserved: impl IntoIterator<Item = &'a str>) -> Names {
        let taken = reserved.into_iter().map(str::to_string).collect();
        Names { taken, next: HashMap::new(), scopes: vec![Vec::new()] }
    }

    /// Opens a scope.
    pub fn enter(&mut self) {
        self.scopes.push(Vec::new());
    }

    /// Closes the innermost scope: its names are free again.
    pub fn leave(&mut self) {
        for (name, next) in self.scopes.pop().expect("a scope is open").into_iter().rev() {
            self.taken.remove(&name);
            if let Some((hint, number)) = next {
                self.next.insert(hint, number);
            }
        }
    }

    /// A new name like the hint, in the innermost scope.
    pub fn fresh(&mut self, hint: &str) -> String {
        let base = identifier(hint);
        if self.taken.insert(base.clone()) {
            self.remember(base.clone(), None);
            return base;
        }
        let first = self.next.get(&base).copied().unwrap_or(2);
        let mut number = first;
        loop {
            let name = format!("{base}_{number}");
            number += 1;
            if self.taken.insert(name.clone()) {
                self.next.insert(base.clone(), number);
                self.remember(name.clone(), Some((base, first)));
                return name;
            }
        }
    }

    fn remember(&mut self, name: String, next: Option<(String, u32)>) {
        self.scopes.last_mut().expect("a scope is open").push((name, next));
    }
}

/// The hint as an identifier of C: letters, digits and underscores, the first one a letter.
pub fn identifier(hint: &str) -> String {
    let text: String =
        hint.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let text = text.trim_matches('_');
    match text.chars().next() {
        None => "t".to_string(),
        Some(first) if first.is_ascii_digit() => format!("t{text}"),
        Some(_) => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_in_scope_and_used_again_outside() {
        let mut names = Names::new(["exp"]);
        assert_eq!(names.fresh("x"), "x");
        assert_eq!(names.fresh("x"), "x_2");
        assert_eq!(names.fresh("exp"), "exp_2");
        names.enter();
        assert_eq!(names.fresh("x"), "x_3");
        assert_eq!(names.fresh("i"), "i");
        names.leave();
        assert_eq!(names.fresh("i"), "i");
        assert_eq!(names.fresh("x"), "x_3");
    }

    #[test]
    fn hints_become_identifiers() {
        assert_eq!(identifier("x'"), "x");
        assert_eq!(identifier("3d"), "t3d");
        assert_eq!(identifier("α"), "t");
        assert_eq!(identifier("a.b"), "a_b");
    }
}
