//! Derivatives as Lambada source: one definition with the parameters and types of the program.
//! `readback` prints array code; this module adds tuples, records and variants, which array code
//! passes as separate parts.

use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

use lambada_anf::{Atom, Function, Ty, name_values};
use lambada_core::{self as core, Signature, Size, SizedTy, sized};
use lambada_elaborate::messages::is_of_sizes;
use lambada_readback::{Declared, Interface, Leaf, Reading, items};
use lambada_source::{FileId, Problem, Sources, Span, stack};
use lambada_surface::ast::{Def, Expr, Import, Item, Module, TypeExpr, TypeKind};
use lambada_surface::{build, free_variables, print_module};

use crate::data::is_identifier;
use crate::messages::running as messages;
use crate::operators::Operator;
use crate::parts::{ABSENT, Parts};
use crate::pipeline::readable_arrays;
use crate::recursive::declared;
use crate::types::{Files, size_variables};
use crate::{Call, Session, Unit};

impl Unit {
    /// The forward or reverse derivative as a definition: `f_forward` takes a tangent after the
    /// parameters, `f_reverse` a cotangent. Both return the value and the derivative.
    pub fn derivative_source(
        &self,
        entry: &str,
        operator: Operator,
        wrt: Option<&[String]>,
    ) -> Result<String, Vec<Problem>> {
        stack::roomy(|| self.derived(entry, operator, wrt))
    }

    /// The name by which people know a definition: a public one of the library, `norm` or
    /// `linalg.lu`. A module of the program may have the name of one of the library.
    fn known_name(&self, def: &core::Def) -> Option<Rc<str>> {
        let file = &self.sources.get(def.span.file).name;
        let module = file.strip_prefix("<std>/");
        if def.name.starts_with('_') || module.is_none() && file != "<prelude>" {
            return None;
        }
        Some(module.map_or(def.name.clone(), |module| format!("{module}.{}", def.name).into()))
    }

    fn derived(
        &self,
        entry: &str,
        operator: Operator,
        wrt: Option<&[String]>,
    ) -> Result<String, Vec<Problem>> {
        let call = self.call(entry, operator, wrt)?;
        let signature = &call.program.def(call.entry).signature;
        let types = || signature.params.iter().map(|(_, ty)| ty).chain(&signature.result);
        let declared = declared(&call.program, types())
            .map_err(|why| vec![messages::no_source_form(entry, &why)])?;
        let mut function =
            readable_arrays(&call.program, call.entry, &|def| self.known_name(def), &self.options)?;
        let parts = Parts { program: &call.program, files: &Files::of(self) };
        if let Some(result) = &signature.result {
            without_sizes(&mut function, &parts.sizes(result));
        }
        call_sweeps_without_tape(&mut function);
        let Function { names, body, library, .. } = &mut function;
        name_values(names, body);
        for called in library.functions.iter_mut().flatten() {
            name_values(&mut called.names, &called.body);
        }
        let files = Files::of(self);
        let source = Source {
            call: &call,
            sources: &self.sources,
            files: &files,
            written: files.entry(entry),
            signature,
            declared,
        };
        let (library, def) = source
            .definition(&function, entry, operator)
            .map_err(|why| vec![messages::no_source_form(entry, &why)])?;
        let head: Vec<TypeExpr> =
            def.params.iter().filter_map(|p| p.ty.clone()).chain(def.result.clone()).collect();
        let mut items = self
            .type_definitions(&call.program, types(), &head)
            .map_err(|problem| vec![problem])?;
        items.extend(library);
        items.push(Item::Def(def));
        let print = |items| print_module(&Module { items, ..Module::default() });
        let text = print(items.clone());
        items.splice(..0, imports(&function, &text));
        let text = print(items);
        // The printed text must check.
        match Session::new().load_text("derivative.lam", &text, None) {
            Ok(_) => Ok(text),
            Err(problems) => {
                let first = problems.first();
                let why = first.map_or("it has no types", |problem| &problem.title);
                // A branch that is never taken may contain an array without elements.
                let of_size = first.is_some_and(is_of_sizes);
                let no_form = || format!("an array has a size there that the types refuse: {why}");
                Err(vec![match of_size {
                    true => messages::no_source_form(entry, &no_form()),
                    false => messages::broken_source(entry, why),
                }])
            }
        }
    }
}

/// Inputs of a derivative's source.
struct Source<'a> {
    call: &'a Call,
    sources: &'a Sources,
    files: &'a Files<'a>,
    /// The source definition.
    written: Option<&'a Def>,
    /// The signature of the derivative.
    signature: &'a Signature,
    /// The recursive types in the signature.
    declared: Vec<Declared>,
}

impl Source<'_> {
    /// The definitions that the derivative calls, and the derivative; or a construct without source
    /// form.
    fn definition(
        &self,
        function: &Function,
        entry: &str,
        operator: Operator,
    ) -> Result<(Vec<Item>, Def), String> {
        let program = &self.call.program;
        let parts = Parts { program, files: self.files };
        let (params, result) = self.types(operator);
        let names: Vec<Rc<str>> = self.signature.params.iter().map(|(n, _)| n.clone()).collect();
        let mut sizes = BTreeSet::new();
        params.iter().for_each(|ty| size_variables(ty, &mut sizes));
        names.iter().for_each(|name| _ = sizes.remove(name));
        // Sizes that no parameter determines have no name in the head, so the result type is left
        // to inference.
        let result = result.filter(|ty| {
            let mut mentioned = BTreeSet::new();
            size_variables(ty, &mut mentioned);
            mentioned.iter().all(|name| sizes.contains(name) || names.contains(name))
        });
        let mut leaves = Vec::new();
        for (k, (_, ty)) in self.signature.params.iter().enumerate() {
            let hints = parts.names(ty, &identifier(k, &names[k]));
            for (part, hint) in parts.of(ty).into_iter().zip(hints) {
                let reading = if parts.is_plain(ty) {
                    Reading::Whole
                } else if part.cheap {
                    Reading::Path(part.of)
                } else {
                    Reading::Computed(hint.into(), part.of)
                };
                leaves.push(Leaf { param: k, reading });
            }
        }
        let value = self.signature.result.clone();
        let compose = |results: Vec<Expr>| match &value {
            Some(ty) if !self.reads_flat(ty) => {
                let given = results.into_iter().zip(&function.results);
                let mut given = given.map(|(e, ty)| absent_field(&e, ty).unwrap_or(e));
                parts.put_together(ty, &mut given, 0)
            }
            Some(_) | None => build::tuple(results),
        };
        let interface = Interface {
            name: format!("{entry}_{}", word(operator)).into(),
            doc: Some(self.doc(entry, operator).into()),
            sizes: self.ordered(sizes),
            params: names.iter().enumerate().map(|(k, n)| identifier(k, n)).zip(params).collect(),
            leaves,
            result,
            results: self.result_names(&parts, operator),
            linear: self
                .signature
                .result
                .as_ref()
                .is_none_or(|ty| self.reads_flat(ty) || parts.linear(ty)),
            compose: &compose,
            types: self.declared.clone(),
            place: &|span| self.place(span),
            seeds: if operator == Operator::Vjp {
                vec![self.signature.params.len() - 1]
            } else {
                Vec::new()
            },
        };
        let mut library = items(function, &interface)?;
        let Some(Item::Def(mut def)) = library.pop() else {
            return Err("there is no entry".into());
        };
        if free_variables(&def).iter().any(|name| &**name == ABSENT) {
            let unknown = build::if_(bool_(true), build::int(0), build::int(1));
            let body = build::expr(build::kind(std::mem::replace(&mut def.body, bool_(true))));
            def.body = build::let_(build::binds(ABSENT), unknown, body);
        }
        Ok((library, def))
    }

    /// `ode.lam:19`, for code in a file.
    fn place(&self, span: Span) -> Option<String> {
        let file = &self.sources.get(span.file).name;
        let name = Path::new(file).file_name().filter(|_| !file.starts_with('<'))?;
        Some(format!("{}:{}", name.to_string_lossy(), self.sources.line_column(span).0))
    }

    fn doc(&self, entry: &str, operator: Operator) -> String {
        let names: Vec<String> = self.call.wrt_names().iter().map(|n| format!("`{n}`")).collect();
        let names = names.join(", ");
        match operator {
            Operator::Jvp => {
                format!("Value of `{entry}` and its tangent, for a tangent of {names}.")
            }
            Operator::Vjp
            | Operator::Grad
            | Operator::Jacobian
            | Operator::Hessian
            | Operator::Value => format!(
                "Value of `{entry}` and the cotangents of {names}, for a cotangent of the value."
            ),
        }
    }

    /// The types of parameters and result, as written in the program if they are self-contained.
    fn types(&self, operator: Operator) -> (Vec<TypeExpr>, Option<TypeExpr>) {
        let count = self.signature.params.len() - 1;
        let written = self.written.filter(|def| def.params.len() == count);
        let ints = self.signature.params[..count].iter().map(|(name, _)| name.clone());
        let sizes = written.iter().flat_map(|def| &def.sizes).map(|size| size.text.clone());
        let known: BTreeSet<Rc<str>> = ints.chain(sizes).collect();
        let choose = |written: Option<&TypeExpr>, ty: &SizedTy| {
            let portable = written.and_then(|ty| self.files.portable(ty, &known));
            portable.unwrap_or_else(|| self.ty(ty))
        };
        let mut params: Vec<TypeExpr> = Vec::with_capacity(count + 1);
        for (k, (_, ty)) in self.signature.params[..count].iter().enumerate() {
            params.push(choose(written.and_then(|def| def.params[k].ty.as_ref()), ty));
        }
        let value = match (&self.signature.result, operator) {
            (Some(SizedTy::Tuple(items)), _) => {
                let annotated = written.and_then(|def| def.result.as_ref());
                Some(choose(annotated, &items[0]))
            }
            (_, _) => None,
        };
        // A seed may mention a size that the program writes nowhere: `xs : []real` becomes
        // `xs : [n]real` for a value of type `[n - k]real`.
        let sizes_of = |ty: &TypeExpr| {
            let mut sizes = BTreeSet::new();
            size_variables(ty, &mut sizes);
            sizes
        };
        let named: BTreeSet<Rc<str>> = params.iter().flat_map(sizes_of).collect();
        let wanted: BTreeSet<Rc<str>> =
            value.iter().flat_map(sizes_of).filter(|size| !named.contains(size)).collect();
        for (param, (_, ty)) in params.iter_mut().zip(&self.signature.params) {
            let full = self.ty(ty);
            if !sizes_of(&full).is_disjoint(&wanted) {
                *param = full;
            }
        }
        let point = self.call.chosen().iter().map(|(name, ty)| match self.parameter(name) {
            Some(k) => params[k].clone(),
            None => self.ty(ty),
        });
        let point: Vec<TypeExpr> = point.collect();
        let (seed, derivative) = match operator {
            Operator::Jvp => (Some(build::tuple_ty(point)), value.clone().map(|ty| vec![ty])),
            Operator::Vjp
            | Operator::Grad
            | Operator::Jacobian
            | Operator::Hessian
            | Operator::Value => (value.clone(), Some(point)),
        };
        params.push(seed.unwrap_or_else(|| self.ty(&self.signature.params[count].1)));
        let flat = self.signature.result.as_ref().is_some_and(|ty| self.reads_flat(ty));
        let result = value.zip(derivative).map(|(value, derivative)| {
            if flat {
                let parts = std::iter::once(value).chain(derivative);
                return build::tuple_ty(parts.collect());
            }
            build::tuple_ty(vec![value, build::tuple_ty(derivative)])
        });
        (params, result)
    }

    /// Index of the parameter `name`; `None` for a field.
    fn parameter(&self, name: &str) -> Option<usize> {
        self.call.signature().params.iter().position(|(known, _)| **known == *name)
    }

    /// Whether value and derivatives are plain, `(value, (x_ct, y_ct))`, so that the flat tuple of
    /// array code is more readable. Nested tuples would merge with the others.
    fn reads_flat(&self, result: &SizedTy) -> bool {
        let parts = Parts { program: &self.call.program, files: self.files };
        let is_plain = |ty: &SizedTy| parts.is_plain(ty);
        match result {
            SizedTy::Tuple(items) => match &items[..] {
                [value, SizedTy::Tuple(derivatives)] if self.call.wrt_names().len() > 1 => {
                    is_plain(value) && derivatives.iter().all(is_plain)
                }
                items => items.iter().all(is_plain),
            },
            other => is_plain(other),
        }
    }

    /// A type as source, with the program's alias if there is one.
    fn ty(&self, ty: &SizedTy) -> TypeExpr {
        if sized::of(ty).is_some() {
            let written = crate::data::print_type(&self.call.program, ty);
            return lambada_surface::parse_type(&written)
                .unwrap_or_else(|| build::named_ty(written));
        }
        match ty {
            SizedTy::Scalar(elem) => build::named_ty(elem.to_string()),
            SizedTy::Tuple(items) => {
                build::ty(TypeKind::Tuple(items.iter().map(|ty| self.ty(ty)).collect()))
            }
            SizedTy::Record(fields) => {
                let mut fields: Vec<&(Rc<str>, SizedTy)> = fields.iter().collect();
                self.call.program.fields.sort(&mut fields, |(label, _)| label);
                let field =
                    |(label, ty): &(Rc<str>, SizedTy)| (build::name(label.clone()), self.ty(ty));
                let whole = build::ty(TypeKind::Record(fields.into_iter().map(field).collect()));
                self.files.alias(&whole).unwrap_or(whole)
            }
            SizedTy::Array(size, elem) => {
                let size = match size {
                    Size::Any => None,
                    Size::Const(n) => Some(build::int(i64::try_from(*n).unwrap_or(i64::MAX))),
                    Size::Var(name) => Some(build::var(&**name)),
                    Size::Expr(text) => Some(lambada_surface::parse_expr(text, FileId(0)).0),
                };
                build::ty(TypeKind::Array(size.map(Box::new), Box::new(self.ty(elem))))
            }
            SizedTy::Fun(from, to) => {
                build::ty(TypeKind::Function(Box::new(self.ty(from)), Box::new(self.ty(to))))
            }
            SizedTy::Variant(id) => {
                let name = &self.call.program.type_decl(*id).name;
                let written = lambada_surface::parse_type(name);
                written.unwrap_or_else(|| build::named_ty(name.clone()))
            }
        }
    }

    /// Orders sizes as in the program, then the rest.
    fn ordered(&self, sizes: BTreeSet<Rc<str>>) -> Vec<Rc<str>> {
        let written = self.written.iter().flat_map(|def| &def.sizes).map(|size| size.text.clone());
        let mut all: Vec<Rc<str>> = written.filter(|size| sizes.contains(size)).collect();
        let rest: Vec<Rc<str>> = sizes.into_iter().filter(|size| !all.contains(size)).collect();
        all.extend(rest);
        all
    }

    /// `value`, and `x_ct` for each parameter or field `x`, or `value_tan`.
    fn result_names(&self, parts: &Parts, operator: Operator) -> Vec<Rc<str>> {
        let Some(SizedTy::Tuple(items)) = &self.signature.result else { return Vec::new() };
        let value = &items[0];
        let named = |ty: &SizedTy, base: &str| {
            let names = parts.names(ty, base).into_iter().zip(parts.sizes(ty));
            names.filter(|(_, is_size)| !is_size).map(|(name, _)| name).collect::<Vec<String>>()
        };
        let mut names = named(value, "value");
        match operator {
            Operator::Jvp => {
                names.extend(named(&items[1], "value").iter().map(|n| format!("{n}_tan")));
            }
            Operator::Vjp
            | Operator::Grad
            | Operator::Jacobian
            | Operator::Hessian
            | Operator::Value => {
                for (k, (name, ty)) in self.call.chosen().iter().enumerate() {
                    let k = self.parameter(name).unwrap_or(k);
                    // A field gets its own name, without the path to it.
                    let own = name.rsplit('.').next().unwrap_or(name);
                    let leaves = named(ty, &identifier(k, &own.into()));
                    names.extend(leaves.iter().map(|n| format!("{n}_ct")));
                }
            }
        }
        names.into_iter().map(Rc::from).collect()
    }
}

/// The imports of the modules of known functions that the text mentions.
fn imports(function: &Function, text: &str) -> Vec<Item> {
    let known = function.library.functions.iter().flatten().filter_map(|f| f.known.as_ref());
    let modules =
        known.filter_map(|known| known.text.name.split_once('.').map(|(module, _)| module));
    let is_mentioned = |module: &&str| text.contains(&format!("{module}."));
    let modules: BTreeSet<&str> = modules.filter(is_mentioned).collect();
    let import = |module: &str| {
        Item::Import(Import {
            path: format!("std/{module}").into(),
            alias: None,
            names: None,
            span: Span::default(),
        })
    };
    modules.into_iter().map(import).collect()
}

/// Removes results that are sizes of variants.
fn without_sizes(function: &mut Function, is_size: &[bool]) {
    if !is_size.contains(&true) {
        return;
    }
    let kept = |k: &usize| !is_size.get(*k).copied().unwrap_or(false);
    let indices: Vec<usize> = (0..function.results.len()).filter(kept).collect();
    function.results = indices.iter().map(|k| function.results[*k].clone()).collect();
    function.body.results = indices.iter().map(|k| function.body.results[*k]).collect();
    for pass in lambada_optimize::passes().filter(|pass| pass.name == "dead-code") {
        pass.run(function);
    }
}

/// Renames a forward sweep without a tape, because it equals the function itself.
fn call_sweeps_without_tape(function: &mut Function) {
    let library = &function.library;
    let names: BTreeSet<String> =
        library.functions.iter().flatten().map(|f| f.name.clone()).collect();
    let gives_tape = |f: &Function| {
        let mut nodes = f.results.iter().filter_map(|ty| ty.elem.node());
        nodes.any(|node| library.node(node).name.ends_with("_tape"))
    };
    let own = |f: &Function| {
        let own = f.name.strip_suffix("_forward")?;
        (!gives_tape(f) && !names.contains(own)).then(|| own.to_string())
    };
    let own: Vec<Option<String>> =
        library.functions.iter().map(|f| f.as_ref().and_then(own)).collect();
    for (f, own) in function.library.functions.iter_mut().zip(own) {
        if let (Some(f), Some(own)) = (f, own) {
            f.name = own;
        }
    }
}

fn word(operator: Operator) -> &'static str {
    match operator {
        Operator::Jvp => "forward",
        Operator::Vjp
        | Operator::Grad
        | Operator::Jacobian
        | Operator::Hessian
        | Operator::Value => "reverse",
    }
}

fn identifier(k: usize, name: &Rc<str>) -> Rc<str> {
    if is_identifier(name) { name.clone() } else { format!("argument{k}").into() }
}

fn bool_(value: bool) -> Expr {
    build::expr(lambada_surface::ast::ExprKind::Bool(value))
}

/// A field of an inactive constructor contains empty arrays. Returns the placeholder of such an
/// array in the value that is never built.
fn absent_field(leaf: &Expr, ty: &Ty) -> Option<Expr> {
    ty.dims.iter().find(|d| d.as_lit().is_some_and(|k| k.int() == 0))?;
    let size = |(axis, dim): (usize, &Atom)| match dim {
        Atom::Lit(k) if k.int() > 0 => build::int(k.int()),
        Atom::Var(_) if axis == 0 => build::call(build::var("length"), [leaf.clone()]),
        Atom::Lit(_) | Atom::Var(_) => build::var(ABSENT),
    };
    let zero = crate::parts::zero(ty.elem.scalar());
    let clauses = ty.dims.iter().enumerate().map(|(axis, dim)| {
        let index = build::name(format!("_i{axis}"));
        lambada_surface::ast::Clause::Range(index, size((axis, dim)))
    });
    Some(clauses.rev().fold(zero, |body, clause| build::for_(clause, body)))
}
