//! The library under construction: its functions and node types with their keys, and facts about
//! unfinished functions.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_anf::{self as anf, Atom, Exp, FnId, Nest, NodeId, Op, Ty};
use lambada_core::{DefId, Ty as CoreTy, TypeId};
use lambada_prim::Prim;

use crate::sketch::Sketch;

/// Specialization key: the code, the definitions that are passed to it, and the sketches of these,
/// the environment and the arguments.
pub(super) type Key = (i64, Vec<DefId>, Vec<Sketch>);

/// The functions of a type that only run time knows.
#[derive(Debug, Default)]
pub(super) struct Dynamic {
    /// By constructor: the code, and the sketches of its captured values.
    pub codes: Vec<(i64, Vec<Sketch>)>,
    /// The function that applies them, if any call exists, and the number of codes that it knows.
    pub apply: Option<(FnId, Option<usize>)>,
    /// Whether the type has been differentiated in its current form.
    pub frozen: bool,
}

impl Dynamic {
    /// The constructor of a code with this environment, or the number of the next constructor.
    pub fn tag(&self, number: i64, sketches: &[Sketch]) -> usize {
        let known = self.codes.iter().position(|(n, s)| *n == number && s == sketches);
        known.unwrap_or(self.codes.len())
    }
}

/// The tables of the library, without the code itself.
#[derive(Default)]
pub(super) struct Library {
    /// The types of nodes, of recursive variants and of functions that only run time knows.
    nodes: HashMap<CoreTy, NodeId>,
    dynamics: HashMap<CoreTy, Dynamic>,
    /// The functions, by specialization key.
    copies: HashMap<Key, FnId>,
    /// Functions under construction, outermost first, with their names.
    open: Vec<(FnId, Rc<str>)>,
    /// Expected results of functions that are written a second time.
    expected: HashMap<FnId, Vec<Option<FixedResult>>>,
    /// The number of functions begun so far.
    homes: usize,
    /// Whether a function became known after its type had been differentiated.
    is_late: bool,
}

impl Library {
    /// An empty library that knows from the start which functions only run time knows: those whose
    /// codes are kept.
    pub fn again(self, is_kept: &dyn Fn(i64) -> bool) -> Library {
        let dynamics = self.dynamics.into_iter().map(|(ty, Dynamic { mut codes, .. })| {
            codes.retain(|(number, _)| is_kept(*number));
            (ty, Dynamic { codes, ..Dynamic::default() })
        });
        Library { dynamics: dynamics.collect(), ..Library::default() }
    }

    // Nodes

    /// The node type of a type.
    pub fn node(&self, ty: &CoreTy) -> Option<NodeId> {
        self.nodes.get(ty).copied()
    }

    /// Sets the node type of a type.
    pub fn add_node(&mut self, ty: &CoreTy, node: NodeId) {
        self.nodes.insert(ty.clone(), node);
    }

    /// The recursive type of nodes; `None` for functions.
    pub fn variant_of(&self, node: NodeId) -> Option<TypeId> {
        let (ty, _) = self.nodes.iter().find(|(_, known)| **known == node)?;
        if let CoreTy::Variant(id) = ty { Some(*id) } else { None }
    }

    /// The functions of a type that only run time knows.
    pub fn dynamic(&mut self, ty: &CoreTy) -> &mut Dynamic {
        self.dynamics.entry(ty.clone()).or_default()
    }

    /// The codes of a type so far.
    pub fn codes(&self, ty: &CoreTy) -> Vec<(i64, Vec<Sketch>)> {
        self.dynamics.get(ty).map(|dynamic| dynamic.codes.clone()).unwrap_or_default()
    }

    /// A function that applies functions of a type without knowing all their codes.
    pub fn incomplete(&self) -> Option<(CoreTy, FnId)> {
        self.dynamics.iter().find_map(|(ty, dynamic)| {
            let (function, known) = dynamic.apply?;
            (known != Some(dynamic.codes.len())).then(|| (ty.clone(), function))
        })
    }

    /// Closes the known types, because a derivative of a function that applies them exists.
    pub fn freeze(&mut self) {
        self.dynamics.values_mut().for_each(|dynamic| dynamic.frozen = true);
    }

    /// Records a function of a closed type.
    pub fn set_late(&mut self) {
        self.is_late = true;
    }

    /// Whether a function of a closed type was found.
    pub fn is_late(&self) -> bool {
        self.is_late
    }

    // Functions

    /// The function of a key.
    pub fn copy(&self, key: &Key) -> Option<FnId> {
        self.copies.get(key).copied()
    }

    /// Sets the function of a key.
    pub fn add_copy(&mut self, key: Key, id: FnId) {
        self.copies.insert(key, id);
    }

    /// Drops the keys of functions from number `first` on, because nothing calls them any more.
    pub fn forget_from(&mut self, first: usize) {
        self.copies.retain(|_, id| (id.0 as usize) < first);
    }

    /// Begins a function.
    pub fn begin(&mut self, id: FnId, name: &str) {
        self.open.push((id, name.into()));
    }

    /// Ends the innermost function under construction.
    pub fn end(&mut self) {
        self.open.pop();
    }

    /// Whether a function is under construction.
    pub fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// The functions under construction from the outermost reached one on.
    pub fn circle(&self, reached: &HashSet<FnId>) -> Option<Vec<&str>> {
        let first = self.open.iter().position(|(id, _)| reached.contains(id))?;
        Some(self.open[first..].iter().map(|(_, name)| &**name).collect())
    }

    /// Expected results of a function under construction.
    pub fn expected(&self, id: FnId) -> Vec<Option<FixedResult>> {
        self.expected.get(&id).cloned().unwrap_or_default()
    }

    /// Sets the expected results of a function.
    pub fn expect(&mut self, id: FnId, known: Vec<Option<FixedResult>>) {
        self.expected.insert(id, known);
    }

    /// The number of the next function that is begun.
    pub fn next_home(&mut self) -> usize {
        self.homes += 1;
        self.homes
    }
}

/// A result that is equal in every call of a function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FixedResult {
    /// The parameter at this position.
    Parameter(usize),
    Constant(Atom),
}

impl FixedResult {
    /// The atom, for the arguments `params`.
    pub fn among(self, params: &[Atom]) -> Atom {
        match self {
            FixedResult::Parameter(k) => params[k],
            FixedResult::Constant(value) => value,
        }
    }
}

/// Known sizes among the results of a function: parameters and constants.
pub fn known_results(function: &anf::Function) -> Vec<Option<FixedResult>> {
    let known = |(atom, ty): (&Atom, &anf::Ty)| match atom {
        _ if *ty != anf::Ty::int() => None,
        Atom::Lit(_) => Some(FixedResult::Constant(*atom)),
        Atom::Var(x) => {
            function.params.iter().position(|p| p.var == *x).map(FixedResult::Parameter)
        }
    };
    function.body.results.iter().zip(&function.results).map(known).collect()
}

/// Sizes among the results of a function on which all branches that do not call it agree.
pub fn expected_results(function: &anf::Function, id: FnId) -> Vec<Option<FixedResult>> {
    let mut made = HashMap::new();
    function.body.each(&mut |stm| {
        made.extend(stm.binds.iter().enumerate().map(|(k, p)| (p.var, (stm.exp.clone(), k))));
    });
    let expected = |(k, ty): (usize, &Ty)| {
        if *ty != Ty::int() {
            return None;
        }
        let (mut open, mut found) = (vec![function.body.results[k]], None);
        while let Some(atom) = open.pop() {
            let known = match atom {
                Atom::Lit(_) => Some(FixedResult::Constant(atom)),
                Atom::Var(x) => {
                    function.params.iter().position(|p| p.var == x).map(FixedResult::Parameter)
                }
            };
            if known.is_some() {
                if found.is_some() && found != known {
                    return None;
                }
                found = known;
                continue;
            }
            match atom.as_var().and_then(|x| made.get(&x)) {
                Some((Exp::Op(Op::Prim(Prim::SelectInt, args)), _)) => open.extend(&args[1..]),
                Some((Exp::Nest(Nest::If { then, otherwise, .. }), j)) => {
                    open.extend([then.results[*j], otherwise.results[*j]]);
                }
                Some((Exp::Op(Op::Call { function, .. }), j)) if *function == id && *j == k => {}
                Some((Exp::Op(_) | Exp::Nest(_), _)) | None => return None,
            }
        }
        found
    };
    function.results.iter().enumerate().map(expected).collect()
}
