//! The result of elaboration, and queries on it.

use std::rc::Rc;

use lambada_core::{FieldOrder, Program};
use lambada_prim::ScalarTy;
use lambada_source::{Problem, Severity, Span};

use crate::infer::names::names;
use crate::infer::{Infer, MissingSize, State};
use crate::input::Input;
use crate::lints::lints;
use crate::messages;
use crate::names::Names;
use crate::solve::Solver;
use crate::solve::defaults::{DefaultInstance, Shape};
use crate::solve::scheme::Scheme;
use crate::solve::size::AtomKind;
use crate::solve::ty::{Node, Ty};
use crate::specialize::Specialize;
use crate::typed::{Function, FunctionId, GlobalId, Local};

/// An elaborated program, perhaps with problems.
pub struct Checked {
    pub(crate) elaborated: Elaborated,
    errors: Vec<Problem>,
    quotients: Vec<Quotient>,
    names: Names,
}

/// A definition of the main file, as users see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Its name.
    pub name: Rc<str>,
    /// Its doc comment.
    pub doc: Option<Rc<str>>,
    /// Its type: `[n]real -> real`. Overloads are listed before `=>`: `num a => a -> a` works for
    /// `int`, `real` and arrays of these.
    pub scheme: String,
    /// Where it is defined.
    pub span: Span,
    /// Whether it takes parameters.
    pub is_function: bool,
}

/// Typed definitions, and all that specialization needs of them.
#[derive(Clone)]
pub(crate) struct Elaborated {
    pub solver: Solver,
    pub locals: Vec<Local>,
    /// `None` for library definitions that the program does not use.
    globals: Vec<Option<Global>>,
    functions: Vec<(Rc<str>, Rc<Scheme>)>,
    pub missing: Vec<MissingSize>,
    /// Whether some function has rules for both modes, one of which is no derivative.
    pub modes_differ: bool,
    /// Whether some rule is no derivative, on purpose.
    pub pseudo: bool,
}

/// A typed definition.
#[derive(Clone)]
pub(crate) struct Global {
    pub name: Rc<str>,
    pub doc: Option<Rc<str>>,
    pub span: Span,
    pub scheme: Rc<Scheme>,
    pub function: Rc<Function>,
    pub default: Rc<DefaultInstance>,
    /// Whether it belongs to the library: a failure inside it blames the place of its use.
    pub library: bool,
    /// Whether it calls itself, directly or through others.
    pub recursive: bool,
    /// Whether it belongs to the main file.
    pub main: bool,
}

/// The operands of a `/` in a program from before it was a division of reals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quotient {
    /// The place of the dividend.
    pub dividend: Span,
    /// The place of the divisor.
    pub divisor: Span,
    /// The scalar type of the operands; `None` if callers choose it.
    pub scalar: Option<ScalarTy>,
}

/// Elaborates a program. Never fails: it returns all problems together, and definitions without
/// problems can still be queried.
pub fn elaborate(input: &Input) -> (Checked, Vec<Problem>) {
    let infer = Infer::run(input);
    let names = names(&infer);
    let main = infer.scopes.len() - 1;
    let mut problems = infer.problems;
    if problems.is_empty() {
        problems = lints(input.main);
    }
    problems.sort_by_key(|problem| problem.labels.first().map(|label| label.span));
    problems.dedup();
    let solver = &infer.solver;
    let quotient = |[(dividend, a), (divisor, b)]: &[(Span, Ty); 2]| {
        let scalars = [a, b].map(|ty| solver.as_scalar(solver.base(*ty)));
        let int = scalars.contains(&Some(ScalarTy::Int));
        let real = scalars.contains(&Some(ScalarTy::Real));
        let known = int.then_some(ScalarTy::Int).filter(|_| !real);
        let scalar = known.or(real.then_some(ScalarTy::Real));
        Quotient { dividend: *dividend, divisor: *divisor, scalar }
    };
    let quotients = infer.quotients.iter().map(quotient).collect();
    let global = |global: crate::infer::Global| {
        let done = match global.state {
            State::Done(done) => done,
            State::New => return None,
            State::Started(_) => unreachable!("what is started is done"),
        };
        Some(Global {
            name: global.name,
            doc: global.syntax.doc.clone(),
            span: global.syntax.span,
            scheme: done.scheme,
            function: done.function,
            default: done.default,
            library: infer.scopes[global.module].library,
            recursive: global.group.is_some(),
            main: global.module == main,
        })
    };
    let globals = infer.globals.into_iter().map(global).collect();
    let elaborated = Elaborated {
        solver: infer.solver,
        locals: infer.locals,
        globals,
        functions: infer.functions,
        missing: infer.missing,
        modes_differ: infer.modes_differ,
        pseudo: infer.pseudo,
    };
    let mut errors: Vec<Problem> =
        problems.iter().filter(|problem| problem.severity == Severity::Error).cloned().collect();
    if infer.incomplete && errors.is_empty() {
        errors.push(messages::incomplete());
    }
    (Checked { elaborated, errors, quotients, names }, problems)
}

impl Checked {
    /// The names of all modules, with their places.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The operators `/` of all modules, if [`Input::divides_ints`].
    pub fn quotients(&self) -> &[Quotient] {
        &self.quotients
    }

    /// The definitions of the main file, in its order.
    pub fn definitions(&self) -> Vec<Definition> {
        let main = self.elaborated.globals.iter().flatten().filter(|global| global.main);
        let definition = |global: &Global| Definition {
            name: global.name.clone(),
            doc: global.doc.clone(),
            scheme: self.elaborated.solver.show_scheme(&global.scheme),
            span: global.span,
            is_function: !global.function.params.is_empty()
                || self.elaborated.solver.is_function(global.scheme.ty),
        };
        main.map(definition).collect()
    }

    /// The order in which the program declares the fields of records.
    pub fn field_order(&self) -> &FieldOrder {
        &self.elaborated.solver.fields
    }

    /// The core program of a definition of the main file, which is its last definition. Undecided
    /// overloads become real. Fails with the problems of the program if it has any, or if no
    /// definition has this name.
    pub fn program(&self, entry: &str) -> Result<Program, Vec<Problem>> {
        if !self.errors.is_empty() {
            return Err(self.errors.clone());
        }
        let globals = &self.elaborated.globals;
        match self.position(entry) {
            Some(k) => {
                let default = self.elaborated.global(GlobalId(k as u32)).default.clone();
                Ok(Specialize::program(&self.elaborated, GlobalId(k as u32), &default))
            }
            None => {
                let known = globals.iter().flatten().filter(|global| global.main);
                let known = known.map(|global| &*global.name);
                Err(vec![messages::unknown_entry(entry, &known.collect::<Vec<_>>())])
            }
        }
    }

    /// The program at types inferred from values where the definition leaves them open: one shape
    /// per parameter. `None` if the definition leaves no type open, or if no instance accepts these
    /// shapes.
    pub fn program_at(&self, entry: &str, given: &[Shape]) -> Option<Program> {
        let id = GlobalId(self.position(entry).filter(|_| self.errors.is_empty())? as u32);
        let global = self.elaborated.global(id);
        if global.scheme.vars.is_empty() {
            return None;
        }
        let mut at_data = self.elaborated.clone();
        let named = (&*global.name, global.span);
        let instance = at_data.solver.default_instance(&global.scheme, named, given)?;
        Some(Specialize::program(&at_data, id, &instance))
    }

    /// Whether a definition leaves types of its parameters open.
    pub fn is_open(&self, entry: &str) -> bool {
        let id = self.position(entry).map(|k| GlobalId(k as u32));
        id.is_some_and(|id| !self.elaborated.global(id).scheme.vars.is_empty())
    }

    /// A definition of the main file.
    fn position(&self, entry: &str) -> Option<usize> {
        let meant = |global: &Global| global.main && &*global.name == entry;
        let mut globals = self.elaborated.globals.iter();
        globals.position(|global| global.as_ref().is_some_and(meant))
    }
}

impl Elaborated {
    pub fn global(&self, id: GlobalId) -> &Global {
        self.globals[id.0 as usize].as_ref().expect("what is used is elaborated")
    }

    /// The elaborated definitions of all modules.
    pub fn all(&self) -> impl Iterator<Item = &Global> {
        self.globals.iter().flatten()
    }

    /// The scheme of a local function.
    pub fn function_scheme(&self, id: FunctionId) -> Rc<Scheme> {
        self.functions[id.0 as usize].1.clone()
    }

    /// The name of a local function.
    pub fn function_name(&self, id: FunctionId) -> Rc<str> {
        self.functions[id.0 as usize].0.clone()
    }

    /// The unknowns that a local function's scheme quantifies.
    pub fn function_vars(&self, id: FunctionId) -> Vec<Ty> {
        self.functions[id.0 as usize].1.vars.clone()
    }

    /// The user's name of the size of an array along an axis, if it is one variable.
    pub fn size_name(&self, ty: Ty, axis: usize) -> Option<Rc<str>> {
        let Node::Array(size, elem) = self.solver.get(ty) else { return None };
        if axis > 0 {
            return self.size_name(*elem, axis - 1);
        }
        let mut atoms = Vec::new();
        self.solver.sizes.atoms(size, &mut atoms);
        let alone = atoms.len() == 1
            && self
                .solver
                .show_size(size, &mut Default::default())
                .chars()
                .all(|c| c.is_alphanumeric() || c == '_');
        match self.solver.sizes.kind(*atoms.first()?) {
            AtomKind::Named(name, _) | AtomKind::Value(name) if alone => Some(name.clone()),
            _ => None,
        }
    }
}
