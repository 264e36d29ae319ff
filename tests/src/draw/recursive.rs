//! Recursion: functions that call themselves, lists, trees, functions in data, continuations.
//!
//! Half of the programs have at most [`MOST`] of these forms, since each is code that derivatives
//! grow by. Depths are small numbers or lengths of small lists. The result of a call is bound by a
//! `let` before it is used, so no call of a function is inside a derivative that the function
//! itself takes.

use super::{Draw, Feature, Ty};

/// The greatest number of forms in a program.
pub(super) const MOST: usize = 2;

/// The types of recursive data.
pub(super) const TYPES: &str = "type list = Nil | Cons real list\n\
    type tree = Leaf real | Fork tree real tree\n\
    type action = Still | Move (real -> real) | Again action\n\
    type log = Empty | Entry int real bool log | Batch ([]int) (real, int) log\n";

type Scope = Vec<(String, Ty)>;

impl Draw {
    /// Whether another form may be drawn here.
    pub(super) fn may_recur(&self) -> bool {
        self.recursions < MOST
    }

    /// A value of a first-order type from a recursive function.
    pub(super) fn recursion(&mut self, ty: &Ty, size: usize, scope: &mut Scope) -> String {
        self.recursions += 1;
        self.has(Feature::Recursion);
        match self.random.below(10) {
            8 | 9 => self.by_data(ty, size, scope),
            0 => self.counted_recursion(ty, size, scope),
            1 => self.mutual_recursion(ty, size, scope),
            2 => self.continuations(ty, size, scope),
            3 | 4 => self.over_a_list(ty, size, scope),
            5 => self.along_a_list(ty, size, scope),
            6 => self.over_a_tree(ty, size, scope),
            _ => self.act(ty, size, scope),
        }
    }

    /// An expression with more variables in scope.
    fn with(&mut self, ty: &Ty, size: usize, scope: &mut Scope, more: &[(&str, &Ty)]) -> String {
        let before = scope.len();
        scope.extend(more.iter().map(|(name, ty)| (name.to_string(), (*ty).clone())));
        let drawn = self.expr(ty, size, scope);
        scope.truncate(before);
        drawn
    }

    /// How deep it goes: known when it is compiled, or at run time.
    pub(super) fn depth(&mut self) -> &'static str {
        self.pick(&["c", "(c + 1)", "2", "(length xs)", "(length is)"])
    }

    /// `g k s`, not in tail position.
    fn counted_recursion(&mut self, ty: &Ty, size: usize, scope: &mut Scope) -> String {
        let [g, k, s, r] = ["g", "k", "s", "r"].map(|hint| self.fresh(hint));
        let state = [(k.as_str(), &Ty::Int), (s.as_str(), ty)];
        let last = self.with(ty, size - 1, scope, &state);
        let next = self.with(ty, size - 1, scope, &state);
        let after = self.with(ty, size - 1, scope, &[state[0], state[1], (&r, ty)]);
        let (t, depth, start) = (self.print(ty), self.depth(), self.leaf(ty, scope));
        format!(
            "(let rec {g} ({k} : int) ({s} : {t}) : {t} = if {k} <= 0 then {last} else \
             (let {r} = {g} ({k} - 1) {next} in {after}) in {g} {depth} {start})"
        )
    }

    fn mutual_recursion(&mut self, ty: &Ty, size: usize, scope: &mut Scope) -> String {
        let [g, h, k, s, r] = ["g", "h", "k", "s", "r"].map(|hint| self.fresh(hint));
        let state = [(k.as_str(), &Ty::Int), (s.as_str(), ty)];
        let last = self.with(ty, size - 1, scope, &state);
        let odd = self.with(ty, size - 1, scope, &state);
        let even = self.with(ty, size - 1, scope, &[state[0], state[1], (&r, ty)]);
        let (t, depth, start) = (self.print(ty), self.depth(), self.leaf(ty, scope));
        format!(
            "(let rec {g} ({k} : int) ({s} : {t}) : {t} = if {k} <= 0 then {last} else {h} ({k} - 1) {odd} \
             and {h} ({k} : int) ({s} : {t}) : {t} = if {k} <= 0 then {s} else \
             (let {r} = {g} ({k} - 1) {s} in {even}) in {g} {depth} {start})"
        )
    }

    /// Continuation-passing style: the remaining work is an argument.
    fn continuations(&mut self, ty: &Ty, size: usize, scope: &mut Scope) -> String {
        self.has(Feature::HigherOrder);
        let [g, k, then, a] = ["g", "k", "then", "a"].map(|hint| self.fresh(hint));
        let first = self.with(ty, size - 1, scope, &[(&k, &Ty::Int)]);
        let step = self.with(ty, size - 1, scope, &[(&k, &Ty::Int), (&a, ty)]);
        let (t, depth) = (self.print(ty), self.depth());
        format!(
            "(let rec {g} ({k} : int) ({then} : {t} -> {t}) : {t} = if {k} <= 0 then {then} {first} else \
             {g} ({k} - 1) (\\({a} : {t}) -> {then} {step}) in {g} {depth} (\\({a} : {t}) -> {a}))"
        )
    }

    fn over_a_list(&mut self, ty: &Ty, size: usize, scope: &mut Scope) -> String {
        self.has(Feature::RecursiveData);
        let [g, l, x, rest, r] = ["g", "l", "x", "rest", "r"].map(|hint| self.fresh(hint));
        let empty = self.leaf(ty, scope);
        let more = self.with(ty, size - 1, scope, &[(&x, &Ty::Real), (&r, ty)]);
        let (t, list) = (self.print(ty), self.list(size - 1, scope));
        format!(
            "(let rec {g} ({l} : list) : {t} = match {l} | Nil -> {empty} | Cons {x} {rest} -> \
             (let {r} = {g} {rest} in {more}) in {g} {list})"
        )
    }

    /// In tail position, with a state.
    fn along_a_list(&mut self, ty: &Ty, size: usize, scope: &mut Scope) -> String {
        self.has(Feature::RecursiveData);
        let [g, l, s, x, rest] = ["g", "l", "s", "x", "rest"].map(|hint| self.fresh(hint));
        let next = self.with(ty, size - 1, scope, &[(&x, &Ty::Real), (&s, ty)]);
        let (t, start, list) = (self.print(ty), self.leaf(ty, scope), self.list(size - 1, scope));
        format!(
            "(let rec {g} ({l} : list) ({s} : {t}) : {t} = match {l} | Nil -> {s} | Cons {x} {rest} -> \
             {g} {rest} {next} in {g} {list} {start})"
        )
    }

    fn over_a_tree(&mut self, ty: &Ty, size: usize, scope: &mut Scope) -> String {
        self.has(Feature::RecursiveData);
        let [g, node, x, left, right, l, r] =
            ["g", "node", "x", "left", "right", "l", "r"].map(|hint| self.fresh(hint));
        let leaf = self.with(ty, size - 1, scope, &[(&x, &Ty::Real)]);
        let fork = self.with(ty, size - 1, scope, &[(&x, &Ty::Real), (&l, ty), (&r, ty)]);
        let (t, tree) = (self.print(ty), self.tree(size - 1, scope));
        format!(
            "(let rec {g} ({node} : tree) : {t} = match {node} | Leaf {x} -> {leaf} | Fork {left} {x} {right} -> \
             (let {l} = {g} {left} let {r} = {g} {right} in {fork}) in {g} {tree})"
        )
    }

    /// A derivative by data with integers, booleans and arrays in it, of a function that may not
    /// use it, and the total over that data.
    fn by_data(&mut self, ty: &Ty, size: usize, scope: &mut Scope) -> String {
        self.has(Feature::RecursiveData);
        self.has(Feature::DataInNodes);
        let [total, l, k, x, b, is, p, rest, r, y] =
            ["total", "l", "k", "x", "b", "is", "p", "rest", "r", "y"].map(|hint| self.fresh(hint));
        let entry = [(k.as_str(), &Ty::Int), (&x, &Ty::Real), (&b, &Ty::Bool), (&r, &Ty::Real)];
        let entry = self.with(&Ty::Real, size - 1, scope, &entry);
        let data = self.log(size - 1, scope);
        let derived = match self.random.below(5) {
            0 => format!("(jvp (\\({l} : log) -> {l}) {data} {data}).1"),
            1 => format!("(vjp (\\({l} : log) -> {l}) {data}).1 {data}"),
            2 => {
                let unused = self.expr(&Ty::Real, size - 1, scope);
                format!("grad (\\({l} : log) -> {unused}) {data}")
            }
            _ => format!("grad {total} {data}"),
        };
        let result = self.with(ty, size - 1, scope, &[(&y, &Ty::Real)]);
        format!(
            "(let rec {total} ({l} : log) : real = match {l} | Empty -> 0.5 | Entry {k} {x} {b} {rest} -> \
             (let {r} = {total} {rest} in tanh {entry} + real {k} * {x} + (if {b} then {x} else 0.1)) \
             | Batch {is} {p} {rest} -> real (sum {is}) * {p}.0 + real {p}.1 * sin {p}.0 + {total} {rest} in \
             (let {y} = tanh ({total} ({derived})) in {result}))"
        )
    }

    fn log(&mut self, size: usize, scope: &mut Scope) -> String {
        match self.random.below(if size > 0 { 5 } else { 1 }) {
            0 => "Empty".into(),
            1 => {
                let [k, x, b] = [Ty::Int, Ty::Real, Ty::Bool].map(|ty| self.leaf(&ty, scope));
                format!("(Entry {k} {x} {b} {})", self.log(size - 1, scope))
            }
            2 => {
                let [k, x] = [Ty::Int, Ty::Real].map(|ty| self.leaf(&ty, scope));
                format!("(Batch [{k}, 1] ({x}, {k}) {})", self.log(size - 1, scope))
            }
            3 => {
                let [build, k] = ["build", "k"].map(|hint| self.fresh(hint));
                let value = self.with(&Ty::Real, size - 1, scope, &[(&k, &Ty::Int)]);
                let (depth, rest) = (self.depth(), self.log(size - 1, scope));
                format!(
                    "(let rec {build} ({k} : int) : log = if {k} <= 0 then {rest} else \
                     Entry {k} {value} ({k} > 1) ({build} ({k} - 1)) in {build} {depth})"
                )
            }
            _ => {
                let condition = self.condition(0, scope);
                let (yes, no) = (self.log(size - 1, scope), self.log(size - 1, scope));
                format!("(if {condition} then {yes} else {no})")
            }
        }
    }

    /// Runs a function that data holds.
    fn act(&mut self, ty: &Ty, size: usize, scope: &mut Scope) -> String {
        self.has(Feature::RecursiveData);
        self.has(Feature::FunctionsInData);
        let [run, action, x, f, again, y] =
            ["run", "action", "x", "f", "again", "y"].map(|hint| self.fresh(hint));
        let (given, start) = (self.action(size - 1, scope), self.leaf(&Ty::Real, scope));
        let result = self.with(ty, size - 1, scope, &[(&y, &Ty::Real)]);
        format!(
            "(let rec {run} ({action} : action) ({x} : real) : real = match {action} | Still -> {x} \
             | Move {f} -> {f} {x} | Again {again} -> {run} {again} (tanh ({run} {again} {x})) in \
             (let {y} = {run} {given} {start} in {result}))"
        )
    }

    /// A list: written out, built by a recursion, or chosen at run time.
    pub(super) fn list(&mut self, size: usize, scope: &mut Scope) -> String {
        self.has(Feature::RecursiveData);
        match self.random.below(if size > 0 { 5 } else { 2 }) {
            0 => self.variable(&Ty::List, scope).unwrap_or_else(|| "Nil".into()),
            1 => {
                let (head, tail) = (self.leaf(&Ty::Real, scope), self.leaf(&Ty::List, scope));
                format!("(Cons {head} {tail})")
            }
            2 => {
                let (head, tail) =
                    (self.expr(&Ty::Real, size - 1, scope), self.list(size - 1, scope));
                format!("(Cons {head} {tail})")
            }
            3 => {
                let [build, k] = ["build", "k"].map(|hint| self.fresh(hint));
                let head = self.with(&Ty::Real, size - 1, scope, &[(&k, &Ty::Int)]);
                let (depth, tail) = (self.depth(), self.leaf(&Ty::List, scope));
                format!(
                    "(let rec {build} ({k} : int) : list = if {k} <= 0 then {tail} else \
                     Cons {head} ({build} ({k} - 1)) in {build} {depth})"
                )
            }
            _ => {
                let condition = self.condition(0, scope);
                let (yes, no) = (self.list(size - 1, scope), self.list(0, scope));
                format!("(if {condition} then {yes} else {no})")
            }
        }
    }

    fn tree(&mut self, size: usize, scope: &mut Scope) -> String {
        match self.random.below(if size > 0 { 3 } else { 1 }) {
            0 => format!("(Leaf {})", self.leaf(&Ty::Real, scope)),
            1 => {
                let (left, right) = (self.tree(size - 1, scope), self.tree(size - 1, scope));
                format!("(Fork {left} {} {right})", self.leaf(&Ty::Real, scope))
            }
            _ => {
                let [grow, k] = ["grow", "k"].map(|hint| self.fresh(hint));
                let leaf = self.with(&Ty::Real, size - 1, scope, &[(&k, &Ty::Int)]);
                let value = self.with(&Ty::Real, 0, scope, &[(&k, &Ty::Int)]);
                format!(
                    "(let rec {grow} ({k} : int) : tree = if {k} <= 0 then Leaf {leaf} else \
                     Fork ({grow} ({k} - 1)) {value} ({grow} ({k} - 2)) in {grow} c)"
                )
            }
        }
    }

    fn action(&mut self, size: usize, scope: &mut Scope) -> String {
        let function = Ty::Fun(Box::new(Ty::Real), Box::new(Ty::Real));
        match self.random.below(if size > 0 { 5 } else { 1 }) {
            0 => "Still".into(),
            1 | 2 => format!("(Move {})", self.expr(&function, size - 1, scope)),
            3 => format!("(Again {})", self.action(size - 1, scope)),
            _ => {
                let condition = self.condition(0, scope);
                let (yes, no) = (self.action(size - 1, scope), self.action(size - 1, scope));
                format!("(if {condition} then {yes} else {no})")
            }
        }
    }
}
