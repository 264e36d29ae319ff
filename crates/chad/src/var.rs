//! Variables, the environments that give them meanings, and the names they print under. Shared by
//! the three languages.

use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_source::Span;

/// A variable: identified by `id` alone; `hint` is its name, unless another variable in scope has
/// it.
#[derive(Clone, Debug)]
pub struct Var<T> {
    /// Its identity.
    pub id: u32,
    /// For printing.
    pub hint: Rc<str>,
    /// Its type.
    pub ty: T,
}

/// The identifiers below this one are de Bruijn levels: the bound variables of canonical terms.
const FIRST_FRESH: u32 = 1 << 16;

thread_local! {
    static NEXT: Cell<u32> = const { Cell::new(FIRST_FRESH) };
}

impl<T> Var<T> {
    /// A variable that occurs nowhere yet. The paper's `#x`.
    pub fn fresh(hint: &str, ty: T) -> Var<T> {
        let id = NEXT.with(|next| next.replace(next.get() + 1));
        Var { id, hint: hint.into(), ty }
    }

    /// The bound variable of a canonical term below `level` other binders.
    pub(crate) fn at_level(&self, level: u32) -> Var<T>
    where
        T: Clone,
    {
        Var { id: level, hint: self.hint.clone(), ty: self.ty.clone() }
    }

    /// A fresh variable with the same name.
    pub(crate) fn refresh(&self) -> Var<T>
    where
        T: Clone,
    {
        Var::fresh(&self.hint, self.ty.clone())
    }
}

impl<T> PartialEq for Var<T> {
    fn eq(&self, other: &Var<T>) -> bool {
        self.id == other.id
    }
}

impl<T> Eq for Var<T> {}

impl<T> PartialOrd for Var<T> {
    fn partial_cmp(&self, other: &Var<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Var<T> {
    fn cmp(&self, other: &Var<T>) -> Ordering {
        self.id.cmp(&other.id)
    }
}

/// A remark for printing: all remarks compare as equal.
#[derive(Clone, Debug, Default)]
pub struct Remark<T>(pub(crate) T);

impl<T> PartialEq for Remark<T> {
    fn eq(&self, _: &Remark<T>) -> bool {
        true
    }
}

impl<T> Eq for Remark<T> {}

impl<T> PartialOrd for Remark<T> {
    fn partial_cmp(&self, other: &Remark<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Remark<T> {
    fn cmp(&self, _: &Remark<T>) -> Ordering {
        Ordering::Equal
    }
}

/// The program's name for the value of a term, and the place in the program, as far as there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name(Remark<(Option<Rc<str>>, Option<Span>)>);

impl Name {
    /// A name that the program gives.
    pub fn new(name: &Rc<str>) -> Name {
        Name(Remark((Some(name.clone()), None)))
    }

    /// The place of a value without a name.
    pub fn at(place: Span) -> Name {
        Name(Remark((None, Some(place))))
    }

    /// The name, if there is one.
    pub fn get(&self) -> Option<&Rc<str>> {
        self.0.0.0.as_ref()
    }

    /// The place, if it is known.
    pub fn place(&self) -> Option<Span> {
        self.0.0.1
    }

    /// This name and place, or those of the other one where there are none.
    pub(crate) fn or(&self, other: &Name) -> Name {
        let (name, place) = &self.0.0;
        let name = name.clone().or_else(|| other.get().cloned());
        Name(Remark((name, place.or(other.place()))))
    }
}

/// Values of variables: a persistent list, innermost binding first.
#[derive(Debug)]
pub struct Env<V>(Option<Rc<Binding<V>>>);

#[derive(Debug)]
struct Binding<V> {
    id: u32,
    value: V,
    outer: Env<V>,
}

impl<V> Clone for Env<V> {
    fn clone(&self) -> Env<V> {
        Env(self.0.clone())
    }
}

impl<V> Default for Env<V> {
    fn default() -> Env<V> {
        Env(None)
    }
}

impl<V: Clone> Env<V> {
    /// The environment that also gives `x` a value.
    pub fn with<T>(&self, x: &Var<T>, value: V) -> Env<V> {
        Env(Some(Rc::new(Binding { id: x.id, value, outer: self.clone() })))
    }

    /// The value of a variable, if it has one.
    pub fn get<T>(&self, x: &Var<T>) -> Option<V> {
        let mut rest = self;
        while let Some(binding) = &rest.0 {
            if binding.id == x.id {
                return Some(binding.value.clone());
            }
            rest = &binding.outer;
        }
        None
    }

    /// The value of a variable that is in scope.
    pub(crate) fn expect<T>(&self, x: &Var<T>) -> V {
        self.get(x).unwrap_or_else(|| panic!("the variable {}{} has no value", x.hint, x.id))
    }
}

/// The names under which variables print: the hint, with a number if an enclosing binder has the
/// hint already.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    taken: HashMap<String, usize>,
    names: HashMap<u32, String>,
    /// The names of the term's variables: no invented name is one of these.
    hints: Rc<HashSet<String>>,
}

impl Names {
    /// For a term whose variables have these hints.
    pub fn of(hints: HashSet<String>) -> Names {
        Names { hints: Rc::new(hints), ..Names::default() }
    }

    /// A name that nothing has and no variable wants: the hint, or the hint with a number.
    pub fn invent(&mut self, hint: &str) -> String {
        let wanted = self.hints.clone();
        loop {
            let name = self.choose(hint);
            if !wanted.contains(&name) {
                return name;
            }
        }
    }

    /// The name of a variable that a binder introduces, from here on.
    pub fn introduce(&mut self, id: u32, hint: &str) -> String {
        let name = self.choose(hint);
        self.names.insert(id, name.clone());
        name
    }

    /// Reserves a name that nothing has yet: the hint, or the hint with a number.
    pub fn choose(&mut self, hint: &str) -> String {
        let mut count = self.taken.get(hint).copied().unwrap_or(0);
        let name = loop {
            count += 1;
            let name = if count == 1 { hint.to_string() } else { format!("{hint}{count}") };
            if count == 1 || !self.taken.contains_key(&name) {
                break name;
            }
        };
        self.taken.insert(name.clone(), 1);
        self.taken.insert(hint.to_string(), count);
        name
    }

    /// The name of a variable; free variables are called by their hints.
    pub fn name(&self, id: u32, hint: &str) -> String {
        self.names.get(&id).cloned().unwrap_or_else(|| hint.to_string())
    }
}

/// Puts parentheses around a text that binds less tightly than its place demands.
pub(crate) fn parens(needed: bool, text: String) -> String {
    if needed { format!("({text})") } else { text }
}
