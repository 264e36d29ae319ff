//! Γ ⊢ e ⇒ t : τ with constraints. Resolves names, infers types and sizes, and reports every
//! problem where it is.
//!
//! *Assumes*: syntax trees whose syntax errors the parser has reported.
//! *Gives*: for each definition a typed tree and a scheme; after a problem, the error type, which
//! equals every other type.
//! *Keeps*: the structure of the program; overloads are decided by specialization.

mod apply;
mod arrays;
mod blocks;
mod builtins;
mod calls;
mod construct;
mod conversions;
mod declare;
mod env;
mod expr;
mod fields;
mod fixes;
mod functions;
mod missing;
pub(crate) mod names;
mod operators;
mod patterns;
mod records;
mod recursion;
mod report;
mod results;
mod rules;
mod sizes;
mod sums;
mod types;
mod uses;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_source::{Problem, Span};
use lambada_surface::ast::{self, Def, Item, Module};

use crate::input::{Input, library_module};
use crate::messages;
use crate::solve::Solver;
use crate::solve::constraint::Failed;
use crate::solve::defaults::DefaultInstance;
use crate::solve::scheme::Scheme;
use crate::solve::size::{Atom, Poly};
use crate::solve::ty::{Ty, VariantId};
use crate::typed::{Claim, Function, GlobalId, Local, LocalId};
pub(crate) use env::{Env, LocalMeaning};
use env::{OwnCall, Provisional, SizedCall};
use fixes::Written;
pub(crate) use missing::MissingSize;
use sums::Sums;
use uses::Use;

/// A top-level definition.
pub(crate) struct Global<'a> {
    pub name: Rc<str>,
    pub module: usize,
    pub syntax: &'a Def,
    pub state: State,
    /// The recursive group of the definition, itself included; `None` if it does not call itself.
    pub group: Option<Rc<[GlobalId]>>,
}

/// Progress of a definition.
#[derive(Clone)]
pub(crate) enum State {
    New,
    /// Being elaborated; recursive calls rely on its signature.
    Started(Option<Rc<Provisional>>),
    Done(Done),
}

/// A typed definition.
#[derive(Clone)]
pub(crate) struct Done {
    pub scheme: Rc<Scheme>,
    pub function: Rc<Function>,
    /// The types at which it runs by itself: undecided overloads become real.
    pub default: Rc<DefaultInstance>,
    /// Its value as a size, for constants.
    pub size: Option<i64>,
}

/// The names of a module.
#[derive(Default)]
pub(crate) struct Scope<'a> {
    pub defs: HashMap<Rc<str>, GlobalId>,
    pub types: HashMap<Rc<str>, TypeEntry<'a>>,
    pub constructors: HashMap<Rc<str>, (VariantId, usize)>,
    /// Imported modules by the names before their members.
    pub imports: HashMap<Rc<str>, usize>,
    /// Names shared by several imports, whose members are therefore not resolved.
    pub ambiguous: HashSet<Rc<str>>,
    /// The modules of the names that imports list. A listed type brings its constructors along.
    pub listed: HashMap<Rc<str>, usize>,
    /// Whether the module belongs to the library.
    pub library: bool,
}

/// A type of a module.
#[derive(Clone, Copy)]
pub(crate) enum TypeEntry<'a> {
    Alias(&'a ast::TypeDef),
    Variant(VariantId),
}

/// The state of inference.
pub(crate) struct Infer<'a> {
    pub solver: Solver,
    pub problems: Vec<Problem>,
    /// The prelude first, the main module last.
    pub scopes: Vec<Scope<'a>>,
    pub globals: Vec<Global<'a>>,
    pub locals: Vec<Local>,
    /// Names and schemes of local functions.
    pub functions: Vec<(Rc<str>, Rc<Scheme>)>,
    /// Sizes of variants that no constructor argument determines.
    pub missing: Vec<MissingSize>,
    /// The definitions of the variants, and their modules.
    variant_defs: Vec<(usize, &'a ast::TypeDef)>,
    signatures: u32,
    module: usize,
    env: Env,
    /// For each open scope, the sizes that are constant in it.
    regions: Vec<Vec<Atom>>,
    /// The type variables of the signatures around, and whether new ones are rigid.
    type_vars: HashMap<Rc<str>, Ty>,
    rigid: bool,
    /// Claims on the sizes of the parameters that are being read.
    claims: Vec<Claim>,
    /// Size variables that no type determines yet.
    unbound: Vec<(LocalId, Span)>,
    /// Aliases that are being expanded, with their modules.
    expanding: Vec<(usize, Rc<str>)>,
    /// Whether the alias being expanded is too large; then the rest of it is skipped.
    too_large: bool,
    /// Number of `match` arms around.
    arms: usize,
    /// Whether the pattern of a case is being elaborated.
    in_case: bool,
    /// Calls inside of the recursive group that is being elaborated, at types of their own.
    own_calls: Vec<OwnCall>,
    /// Calls inside of the recursive groups that are being elaborated, with incomplete signatures.
    sized_calls: Vec<SizedCall>,
    /// Sums over several indices, for the hints of problems about them.
    sums: Sums,
    /// Whether the current elaboration is an attempt; attempts do not nest.
    trying: bool,
    /// Whether the parser has left something out.
    pub incomplete: bool,
    /// Whether some function has rules for both modes, one of which is no derivative.
    pub modes_differ: bool,
    /// Whether some rule is no derivative, on purpose.
    pub pseudo: bool,
    /// Whether `/` of ints is a floor division, as in programs before it was real.
    divides_ints: bool,
    /// The operators `/` of a program from before, by the places and types of their operands.
    pub quotients: Vec<[(Span, Ty); 2]>,
    /// Constructors that a parameter or a variable was given the name of.
    pub misnamed: HashSet<Rc<str>>,
    /// The uses of polymorphic definitions.
    uses: Vec<Use>,
    /// The text of the program, for the fixes of its problems.
    written: Written,
}

impl<'a> Infer<'a> {
    /// Elaborates all modules, the library as far as it is used.
    pub fn run(input: &Input<'a>) -> Infer<'a> {
        let mut infer = Infer {
            solver: Solver::default(),
            problems: Vec::new(),
            scopes: Vec::new(),
            globals: Vec::new(),
            locals: Vec::new(),
            functions: Vec::new(),
            missing: Vec::new(),
            variant_defs: Vec::new(),
            signatures: 0,
            module: 0,
            env: Env::default(),
            regions: vec![Vec::new()],
            type_vars: HashMap::new(),
            rigid: false,
            claims: Vec::new(),
            unbound: Vec::new(),
            expanding: Vec::new(),
            too_large: false,
            own_calls: Vec::new(),
            sized_calls: Vec::new(),
            sums: Sums::default(),
            trying: false,
            incomplete: false,
            arms: 0,
            in_case: false,
            modes_differ: false,
            pseudo: false,
            divides_ints: input.divides_ints,
            quotients: Vec::new(),
            misnamed: HashSet::new(),
            uses: Vec::new(),
            written: Written::of(input.main),
        };
        let mut modules: Vec<(Rc<str>, &'a Module)> = vec![("prelude".into(), input.prelude)];
        modules.extend(input.imports.iter().map(|(name, module)| (name.clone(), *module)));
        modules.push(("main".into(), input.main));
        infer.declare(&modules, input.whole_library);
        for id in 0..infer.globals.len() {
            let module = infer.globals[id].module;
            if input.whole_library || !infer.scopes[module].library {
                infer.global(GlobalId(id as u32));
            }
        }
        uses::take_types_of_uses(&mut infer);
        infer
    }

    fn declare(&mut self, modules: &[(Rc<str>, &'a Module)], whole_library: bool) {
        for (k, (_, module)) in modules.iter().enumerate() {
            let library = k == 0 || library_module(&modules[k].0).is_some();
            self.scopes.push(Scope { library, ..Scope::default() });
            for item in &module.items {
                match item {
                    Item::Def(def) => self.declare_def(k, def),
                    Item::Type(_) => {}
                    Item::Import(_) => {}
                }
            }
            self.declare_types(k, module);
        }
        self.declare_imports(modules);
        self.resolve_constructors(modules);
        // The program's own file first, then the imports.
        modules
            .iter()
            .rev()
            .for_each(|(_, module)| fields::declare(module, &mut self.solver.fields));
        for k in 0..modules.len() {
            self.find_recursion(k, self.scopes[k].library && !whole_library);
        }
        self.module = modules.len() - 1;
    }

    fn declare_def(&mut self, module: usize, def: &'a Def) {
        if let Some(first) = self.scopes[module].defs.get(&def.name.text) {
            let first = self.globals[first.0 as usize].syntax.name.span;
            self.problems.push(messages::duplicate_definition(
                &def.name.text,
                def.name.span,
                first,
            ));
            return;
        }
        let id = GlobalId(self.globals.len() as u32);
        self.globals.push(Global {
            name: def.name.text.clone(),
            module,
            syntax: def,
            state: State::New,
            group: None,
        });
        self.scopes[module].defs.insert(def.name.text.clone(), id);
    }

    /// A definition, elaborated now if it has not been; `None` while it is being elaborated.
    fn global(&mut self, id: GlobalId) -> Option<Done> {
        match &self.globals[id.0 as usize].state {
            State::Done(done) => return Some(done.clone()),
            State::Started(_) => return None,
            // An attempt leaves nothing behind, so it fails instead of elaborating a definition.
            State::New if self.trying => return None,
            State::New => {}
        }
        if let Some(members) = self.globals[id.0 as usize].group.clone() {
            self.define_group(&members);
            return self.global(id);
        }
        self.globals[id.0 as usize].state = State::Started(None);
        let outside = self.leave();
        let done = self.definition(id);
        self.enter(outside);
        self.globals[id.0 as usize].state = State::Done(done.clone());
        Some(done)
    }

    /// Leaves all scopes to elaborate a definition that is needed first.
    fn leave(&mut self) -> Outside {
        Outside {
            env: std::mem::take(&mut self.env),
            regions: std::mem::replace(&mut self.regions, vec![Vec::new()]),
            type_vars: std::mem::take(&mut self.type_vars),
            rigid: std::mem::take(&mut self.rigid),
            claims: std::mem::take(&mut self.claims),
            unbound: std::mem::take(&mut self.unbound),
            expanding: std::mem::take(&mut self.expanding),
            module: self.module,
            level: std::mem::take(&mut self.solver.level),
            here: self.solver.here,
            undecided: std::mem::take(&mut self.solver.undecided),
            failed: std::mem::take(&mut self.solver.failed),
        }
    }

    /// A copy of the scopes around, for [`Infer::enter`].
    fn scopes_around(&self) -> Outside {
        Outside {
            env: self.env.clone(),
            regions: self.regions.clone(),
            type_vars: self.type_vars.clone(),
            rigid: self.rigid,
            claims: self.claims.clone(),
            unbound: self.unbound.clone(),
            expanding: self.expanding.clone(),
            module: self.module,
            level: self.solver.level,
            here: self.solver.here,
            undecided: self.solver.undecided.clone(),
            failed: self.solver.failed.clone(),
        }
    }

    /// Restores the result of `leave` or `scopes_around`.
    fn enter(&mut self, outside: Outside) {
        self.env = outside.env;
        self.regions = outside.regions;
        self.type_vars = outside.type_vars;
        self.rigid = outside.rigid;
        self.claims = outside.claims;
        self.unbound = outside.unbound;
        self.expanding = outside.expanding;
        self.module = outside.module;
        self.solver.level = outside.level;
        self.solver.here = outside.here;
        self.solver.undecided = outside.undecided;
        self.solver.failed = outside.failed;
    }

    fn in_library(&self) -> bool {
        self.scopes[self.module].library
    }
}

struct Outside {
    env: Env,
    regions: Vec<Vec<Atom>>,
    type_vars: HashMap<Rc<str>, Ty>,
    rigid: bool,
    claims: Vec<Claim>,
    unbound: Vec<(LocalId, Span)>,
    expanding: Vec<(usize, Rc<str>)>,
    module: usize,
    level: u32,
    here: Span,
    undecided: Vec<(Poly, Poly, Span)>,
    /// Failures of the outer definition: they are reported with it, and do not make the inner one
    /// fail.
    failed: Vec<Failed>,
}
