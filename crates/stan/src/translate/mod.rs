//! Stan programs → definitions.
//!
//! A program becomes a log density named after the file, whose arguments are its parameters and the
//! data that it uses; a definition for its transformed parameters, if the density needs them; and
//! `generated`, a record of the quantities of each draw.

mod calls;
mod densities;
mod expr;
mod functions;
mod indices;
mod parameters;
mod scope;
mod statements;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_source::{FileId, Problem, Span};
use lambada_surface::ast::TypeExpr;
use lambada_surface::build as make;

use crate::ast::{Program, Stmt, StmtKind};
use crate::messages;
use crate::raise::{Bind, Dims, Item, Raise, TARGET, built, summed};
use crate::surface::Definition;
use crate::term::{Names, Op, Pat, Term, call};
use crate::types::Ty;
use functions::Functions;
use parameters::{External, Parameters};
use scope::{Done, Info, Scope, lambada_name};

/// The definitions of a program. With its text in `partly`, statements without a translation become
/// comments, and their problems are returned too.
///
/// # Errors
/// Statements and expressions without a translation.
pub(crate) fn program(
    program: &Program,
    file: FileId,
    name: &str,
    partly: Option<Rc<str>>,
) -> Result<(Vec<Definition>, Vec<Problem>), Vec<Problem>> {
    if program.parameters.is_empty() && program.model.is_empty() {
        return Err(vec![messages::no_model(Span::new(file, 0, 0))]);
    }
    let zero_based = indices::zero_based(program);
    let mut scope = Scope { zero_based, partly, ..Scope::default() };
    scope.vars.push(HashMap::new());
    scope.taken = names(program);
    let mut definitions = Functions(&mut scope).function_definitions(&program.functions)?;
    let whole = Whole::new(&mut scope, program).map_err(|problem| vec![problem])?;
    definitions.extend(whole.definitions(program, &mut scope, name));
    Ok((definitions, scope.problems))
}

/// All names of variables that the program declares.
fn names(program: &Program) -> HashSet<String> {
    fn declared(stmts: &[Stmt], names: &mut HashSet<String>) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Declare(decl) => {
                    names.insert(decl.name.text.clone());
                }
                StmtKind::For { body, .. } | StmtKind::Each { body, .. } => declared(body, names),
                StmtKind::While(_, body) | StmtKind::Block(body) => declared(body, names),
                StmtKind::If(_, yes, no) => {
                    declared(yes, names);
                    declared(no, names);
                }
                _ => {}
            }
        }
    }
    let mut all: HashSet<String> = ["key".to_string()].into();
    all.extend(program.data.iter().chain(&program.parameters).map(|decl| decl.name.text.clone()));
    let blocks = [
        &program.transformed_data,
        &program.transformed_parameters,
        &program.model,
        &program.generated,
    ];
    blocks.into_iter().for_each(|block| declared(block, &mut all));
    for function in &program.functions {
        all.insert(function.name.text.clone());
        all.extend(function.params.iter().map(|(_, name)| name.text.clone()));
        let body = function.body.as_deref().unwrap_or(&[]);
        declared(body, &mut all);
        // Sizes of parameters must differ from these.
        loop_variables(body, &mut all);
    }
    all
}

fn loop_variables(stmts: &[Stmt], names: &mut HashSet<String>) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::For { var, body, .. } | StmtKind::Each { var, body, .. } => {
                names.insert(var.text.clone());
                loop_variables(body, names);
            }
            StmtKind::While(_, body) | StmtKind::Block(body) => loop_variables(body, names),
            StmtKind::If(_, yes, no) => {
                loop_variables(yes, names);
                loop_variables(no, names);
            }
            _ => {}
        }
    }
}

/// The blocks of a program as statements.
struct Whole {
    externals: Vec<External>,
    /// Names of data that are single integers.
    integers: Names,
    /// Bounded parameters from those without bounds.
    bounded: Vec<Bind>,
    /// Names of parameters that `bounded` binds.
    constrained: Vec<Rc<str>>,
    transformed_data: Vec<Bind>,
    transformed: Vec<Bind>,
    model: Vec<Bind>,
    generated: Vec<Bind>,
    random: bool,
    dims: Dims,
    /// Comments about parameters and data.
    notes: Vec<String>,
}

impl Whole {
    fn new(scope: &mut Scope, program: &Program) -> Done<Whole> {
        let mut externals = Vec::new();
        let mut integers = Names::new();
        let mut notes = Vec::new();
        for decl in &program.data {
            let ty = scope.declared(&decl.ty)?;
            let info = scope.declare(&decl.name.text, ty);
            if info.ty == Ty::Int {
                integers.insert(info.name.clone());
            }
            externals.push(External::data(&info));
            let mut doc = decl.doc.clone();
            if *info.name != *decl.name.text {
                doc.push(format!("(`{}` in the Stan program)", decl.name.text));
            }
            note(&mut notes, &info.name, &doc);
        }
        let (rest, simple) = constants(scope, &program.transformed_data, &integers)?;
        let transformed_data = scope.statements(&rest)?;
        let mut known = integers.clone();
        known.extend(simple);
        let mut parameters = Vec::new();
        let mut bounded = Vec::new();
        let mut constrained = Vec::new();
        let mut raw = Vec::new();
        for decl in &program.parameters {
            let (external, binds) = Parameters(scope).parameter(decl, &known)?;
            let name = lambada_name(&decl.name.text);
            let binds_are_empty = binds.is_empty();
            if !binds_are_empty {
                constrained.push(name.clone());
                let affine = decl.ty.bounds.offset.is_some() || decl.ty.bounds.multiplier.is_some();
                let text =
                    if affine { "before its offset and multiplier" } else { "without its bounds" };
                raw.push(format!("- `{}`: `{name}` {text}", external.name));
            }
            bounded.extend(binds);
            parameters.push(external);
            if !binds_are_empty {
                // Definitions that `bounded` does not precede take the parameter itself.
                parameters.push(External::plain(scope.find(&decl.name.text, decl.name.span)?));
            }
            note(&mut notes, &name, &decl.doc);
        }
        notes.extend(raw);
        parameters.extend(externals);
        let transformed = scope.statements(&program.transformed_parameters)?;
        let model = scope.inner(|scope| scope.statements(&program.model))?;
        let mut dims = scope.dims.clone();
        // The first translation counts the random numbers.
        let taken = scope.taken.clone();
        scope.keys = (0, 2);
        scope.statements(&program.generated)?;
        scope.keys = (0, scope.keys.0);
        scope.taken = taken;
        let generated = scope.statements(&program.generated)?;
        dims.extend(scope.dims.clone());
        Ok(Whole {
            externals: parameters,
            integers,
            bounded,
            constrained,
            transformed_data,
            transformed,
            model,
            generated,
            random: scope.keys.1 > 0,
            dims,
            notes,
        })
    }

    fn definitions(&self, program: &Program, scope: &mut Scope, name: &str) -> Vec<Definition> {
        let mut out = Vec::new();
        let entry = entry_name(name, scope);
        let raise = Raise { dims: &self.dims };
        let declared = |binds: &[Bind]| -> Vec<Rc<str>> {
            let all = binds.iter().filter_map(|bind| match bind {
                Bind::Let { name, declares: true, .. } | Bind::Blank { name, .. } => {
                    Some(name.clone())
                }
                _ => None,
            });
            all.collect()
        };
        let own = |stmts: &[Stmt]| -> Vec<Rc<str>> {
            let all = stmts.iter().filter_map(|stmt| match &stmt.kind {
                StmtKind::Declare(decl) => Some(lambada_name(&decl.name.text)),
                _ => None,
            });
            all.collect()
        };
        let (of_parameters, of_generated) =
            (own(&program.transformed_parameters), own(&program.generated));
        let of_data = declared(&self.transformed_data);
        // The transformed data that each part needs.
        let needs_of = |binds: &[Bind], wanted: &[Rc<str>], sums: &Names| {
            let mut live: Names = wanted.iter().cloned().collect();
            raise.items(binds.to_vec(), &mut live, sums);
            live
        };
        let target = Names::from([Rc::from(TARGET)]);
        let of_model = needs_of(&joined(&[&self.bounded, &self.model]), &[], &target);
        let is_used = of_parameters.iter().any(|name| of_model.contains(name));
        let mut wanted: Vec<Rc<str>> = self.constrained.clone();
        wanted.extend(of_parameters.iter().chain(&of_generated).cloned());
        let after = |used: bool| {
            if used {
                joined(&[&self.bounded, &self.generated])
            } else {
                joined(&[&self.bounded, &self.transformed, &self.generated])
            }
        };
        let mut needed: Vec<Names> =
            vec![of_model, needs_of(&after(is_used), &wanted, &Names::new())];
        if is_used {
            needed.push(needs_of(&self.transformed, &of_parameters, &Names::new()));
        }
        let is_shared =
            |name: &Rc<str>| needed.iter().filter(|need| need.contains(name)).count() > 1;
        let shared: Vec<Rc<str>> = of_data
            .iter()
            .filter(|name| needed.iter().any(|need| need.contains(*name)))
            .cloned()
            .collect();
        let users = of_data.iter().any(is_shared);
        let long = self
            .transformed_data
            .iter()
            .any(|bind| matches!(bind, Bind::For { .. } | Bind::While { .. } | Bind::If { .. }));
        let data = if users && (long || self.transformed_data.len() > 4) {
            let helper = match &shared[..] {
                [one] if !scope.taken.contains(&format!("{one}_of")) && starts_small(one) => {
                    format!("{one}_of")
                }
                _ => "transformed_data".to_string(),
            };
            let def = self.helper(
                &helper,
                "The data's transformation.",
                &shared,
                self.transformed_data.clone(),
                scope,
            );
            let call = def.0;
            out.push(def.1);
            vec![call]
        } else {
            self.transformed_data.clone()
        };
        let transformed = if is_used {
            let text = match &of_parameters[..] {
                [_] => "The transformed parameter.",
                _ => "The transformed parameters.",
            };
            let helper = match &of_parameters[..] {
                [one] if !scope.taken.contains(&format!("{one}_of")) && starts_small(one) => {
                    format!("{one}_of")
                }
                _ => "transformed".to_string(),
            };
            let binds = joined(&[&data, &self.transformed]);
            let (call, def) = self.helper(&helper, text, &of_parameters, binds, scope);
            out.push(def);
            vec![call]
        } else {
            self.transformed.clone()
        };
        let binds =
            joined(&[&data, &self.bounded, if is_used { &transformed } else { &[] }, &self.model]);
        let items = raise.items(binds, &mut Names::new(), &target);
        let body = summed(items);
        let mut doc = program.doc.clone();
        if doc.is_empty() {
            doc.push(format!("The log density of the Stan program `{name}`."));
        }
        if !self.notes.is_empty() {
            doc.push(String::new());
            doc.extend(self.notes.iter().cloned());
        }
        let mut model = self.definition(&entry, doc, body, false, None);
        model.result = Some(make::named_ty("real"));
        out.push(model);
        if !wanted.is_empty() {
            let binds = joined(&[&data, &self.bounded, &transformed, &self.generated]);
            let mut live: Names = wanted.iter().cloned().collect();
            let items = raise.items(binds, &mut live, &Names::new());
            let items = items.into_iter().filter(|item| !matches!(item, Item::Add(..))).collect();
            let fields = fields(&wanted).into_iter().map(|(field, name)| (field, Term::Var(name)));
            let body = built(items, Term::Record(fields.collect()));
            let key = self.random.then(|| make::named_ty("random.key"));
            let text = "The quantities of each draw, by the names of the Stan program.".to_string();
            out.push(self.definition("generated", vec![text], body, true, key));
        }
        out
    }

    /// A definition of the values of names after statements, and its call in others.
    fn helper(
        &self,
        name: &str,
        doc: &str,
        values: &[Rc<str>],
        binds: Vec<Bind>,
        scope: &mut Scope,
    ) -> (Bind, Definition) {
        let name = scope.fresh(name);
        let mut live: Names = values.iter().cloned().collect();
        let items = Raise { dims: &self.dims }.items(binds, &mut live, &Names::new());
        let (value, pat) = match values {
            [one] => (Term::Var(one.clone()), Pat::Names(vec![one.clone()])),
            _ => {
                let fields = fields(values);
                let parts =
                    fields.iter().map(|(field, name)| (field.clone(), Term::Var(name.clone())));
                (Term::Record(parts.collect()), Pat::Record(fields.clone()))
            }
        };
        let def = self.definition(&name, vec![doc.to_string()], built(items, value), true, None);
        let args = def.params.iter().map(|(name, _)| Term::Var(name.clone()));
        (Bind::Several { pat, value: call(&name, args) }, def)
    }

    /// A definition with the arguments that its body needs.
    fn definition(
        &self,
        name: &str,
        doc: Vec<String>,
        body: Term,
        sizes_of_parameters: bool,
        key: Option<TypeExpr>,
    ) -> Definition {
        let free = body.free();
        let used: Vec<&External> = self
            .externals
            .iter()
            .filter(|one| free.contains(&one.name) && !self.integers.contains(&one.name))
            .collect();
        let mut numbers: Names =
            free.iter().filter(|name| self.integers.contains(*name)).cloned().collect();
        let mut sizes: Vec<Rc<str>> = Vec::new();
        for one in &used {
            for dim in one.ty.dims().into_iter().flatten() {
                numbers.extend(dim.free());
                if let Term::Var(size) = &dim
                    && !sizes.contains(size)
                    && (!one.is_parameter || sizes_of_parameters || !self.integers.contains(size))
                {
                    sizes.push(size.clone());
                }
            }
        }
        let mut params: Vec<(Rc<str>, TypeExpr)> = Vec::new();
        params.extend(key.map(|key| (Rc::from("key"), key)));
        let int = |one: &&External| numbers.contains(&one.name) && !sizes.contains(&one.name);
        let ints: Vec<&External> = self
            .externals
            .iter()
            .filter(|one| self.integers.contains(&one.name))
            .filter(int)
            .collect();
        let in_types = |name: &Rc<str>| {
            used.iter().any(|one| one.ty.dims().into_iter().flatten().any(|dim| dim.mentions(name)))
        };
        let (first, last): (Vec<&External>, Vec<&External>) =
            ints.into_iter().partition(|one| in_types(&one.name));
        let all = first.into_iter().chain(used.iter().copied()).chain(last);
        params.extend(all.map(|one| (one.name.clone(), one.written.clone())));
        Definition { doc, name: name.into(), sizes, params, result: None, body }
    }
}

fn joined(parts: &[&[Bind]]) -> Vec<Bind> {
    parts.iter().flat_map(|part| part.iter().cloned()).collect()
}

fn note(notes: &mut Vec<String>, name: &str, doc: &[String]) {
    if !doc.is_empty() {
        notes.push(format!("- `{name}`: {}", doc.join(" ")));
    }
}

fn starts_small(name: &str) -> bool {
    name.starts_with(|c: char| c.is_lowercase())
}

/// Fields for names: with a small first letter.
fn fields(names: &[Rc<str>]) -> Vec<(Rc<str>, Rc<str>)> {
    let mut out: Vec<(Rc<str>, Rc<str>)> = Vec::new();
    for name in names {
        let mut field = if starts_small(name) {
            name.to_string()
        } else {
            let mut chars = name.chars();
            let first =
                chars.next().map(|c| c.to_lowercase().collect::<String>()).unwrap_or_default();
            first + chars.as_str()
        };
        let taken = |field: &str| {
            out.iter().any(|(one, _)| &**one == field)
                || (*field != **name && names.iter().any(|one| &**one == field))
        };
        while taken(&field) {
            field.push('_');
        }
        out.push((field.into(), name.clone()));
    }
    out
}

/// The name of the log density: that of the file as a name of the language.
fn entry_name(name: &str, scope: &Scope) -> String {
    let clean: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let clean = clean.trim_matches('_').to_string();
    let valid = clean.starts_with(|c: char| c.is_ascii_alphabetic())
        && lambada_name(&clean).as_ref() == clean
        && !scope.taken.contains(&clean)
        && clean != "generated";
    match (valid, clean.is_empty()) {
        (true, _) => clean,
        (false, true) => "model".into(),
        (false, false) => format!("model_{clean}"),
    }
}

/// Transformed data without integers that are sums of sizes, which are written out where they are
/// used; the names of those.
fn constants(scope: &mut Scope, stmts: &[Stmt], integers: &Names) -> Done<(Vec<Stmt>, Names)> {
    let mut rest = Vec::new();
    let mut simple = Names::new();
    for stmt in stmts {
        if let StmtKind::Declare(decl) = &stmt.kind
            && let Some(value) = &decl.value
            && decl.ty.base == crate::ast::Base::Int
            && decl.ty.dims.is_empty()
            && !is_assigned(stmts, &decl.name.text)
        {
            let term = scope.term(value)?;
            if is_size(&term, integers) {
                let info = Info {
                    ty: Ty::Int,
                    name: lambada_name(&decl.name.text),
                    term: Some(term),
                    zero_based: false,
                };
                scope.bind(&decl.name.text, info);
                simple.insert(lambada_name(&decl.name.text));
                continue;
            }
        }
        if let StmtKind::Declare(decl) = &stmt.kind {
            // Later constants may mention it.
            let ty = scope.declared(&decl.ty)?;
            scope.declare(&decl.name.text, ty);
        }
        rest.push(stmt.clone());
    }
    Ok((rest, simple))
}

fn is_assigned(stmts: &[Stmt], name: &str) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Assign { target, .. } => target.text == name,
        StmtKind::For { body, .. } | StmtKind::Each { body, .. } => is_assigned(body, name),
        StmtKind::While(_, body) | StmtKind::Block(body) => is_assigned(body, name),
        StmtKind::If(_, yes, no) => is_assigned(yes, name) || is_assigned(no, name),
        _ => false,
    })
}

/// Whether a term may be a size in a signature: a polynomial of integers of the data.
fn is_size(term: &Term, integers: &Names) -> bool {
    match term {
        Term::Int(_) => true,
        Term::Var(name) => integers.contains(name),
        Term::Bin(Op::Add | Op::Sub | Op::Mul, a, b) => {
            is_size(a, integers) && is_size(b, integers)
        }
        _ => false,
    }
}
