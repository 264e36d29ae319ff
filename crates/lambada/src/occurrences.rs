//! The names of a file with their meanings, for editors: e.g. in `def f x = sin x` the name `f`
//! is bound, `x` is bound and mentioned, and `sin` is a mention of a builtin.

use std::collections::HashMap;
use std::rc::Rc;

use lambada_elaborate::{Meaning, Names};
use lambada_source::{FileId, Span, stack};
use lambada_surface::ast::{
    Expr, ExprKind, Import, Item, Name, Pattern, PatternKind, TypeBody, TypeDef, TypeExpr, TypeKind,
};
use lambada_surface::scopes::{Binder, Scopes, walk_scopes};
use lambada_surface::visit::{Visit, walk_pattern, walk_type};

use crate::survey::Survey;

/// A name in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The place of the name.
    pub span: Span,
    /// The meaning of the name.
    pub symbol: Symbol,
    /// Whether the name is bound or defined here.
    pub binds: bool,
}

/// The meaning of a name. Places are those of the names of definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// A name bound inside of a definition, and the construct that binds it.
    Local(Span, Binder),
    /// A definition of a file or of the library.
    Definition(Span),
    /// A type.
    Type(Span),
    /// A constructor.
    Constructor(Span),
    /// A field of records.
    Field(Rc<str>),
    /// An imported module; `None` for a file without items.
    Module(Option<FileId>),
    /// A name that the language itself defines.
    Builtin(Rc<str>),
}

impl Symbol {
    /// The place of the definition, if it has one.
    pub fn place(&self) -> Option<Span> {
        match self {
            Symbol::Local(place, _) => Some(*place),
            Symbol::Definition(place) | Symbol::Type(place) => Some(*place),
            Symbol::Constructor(place) => Some(*place),
            Symbol::Module(file) => file.map(|file| Span::new(file, 0, 0)),
            Symbol::Field(_) | Symbol::Builtin(_) => None,
        }
    }
}

impl Survey {
    /// All names of the file that have a meaning, in the order of their places. A field and a
    /// variable share a place in `{x}`; the variable comes first.
    pub fn occurrences(&self) -> Vec<Occurrence> {
        stack::roomy(|| {
            let mut walk = Walk {
                survey: self,
                names: self.names(),
                found: Vec::new(),
                bound: HashMap::new(),
                order: Vec::new(),
                scopes: Vec::new(),
                module_at: None,
            };
            self.module.items.iter().for_each(|item| walk.top(item));
            let mut found = walk.found;
            found.sort_by_key(|one| (one.span, matches!(one.symbol, Symbol::Field(_))));
            found.dedup();
            found
        })
    }
}

struct Walk<'s> {
    survey: &'s Survey,
    names: &'s Names,
    found: Vec<Occurrence>,
    /// The meanings in scope of each name, innermost last.
    bound: HashMap<Rc<str>, Vec<Symbol>>,
    /// The names of the open scopes, and the start of each scope.
    order: Vec<Rc<str>>,
    scopes: Vec<usize>,
    /// The last variable that names a module.
    module_at: Option<Span>,
}

impl Walk<'_> {
    fn top(&mut self, item: &Item) {
        match item {
            Item::Def(def) => {
                self.add(def.name.span, Symbol::Definition(def.name.span), true);
                walk_scopes(def, self);
            }
            Item::Type(def) => self.type_definition(def),
            Item::Import(import) => self.import(import),
        }
        Types { walk: self }.item(item);
    }

    fn add(&mut self, span: Span, symbol: Symbol, binds: bool) {
        // Passes leave names without places.
        if span.end > span.start {
            self.found.push(Occurrence { span, symbol, binds });
        }
    }

    fn meant(&mut self, span: Span, name: &Rc<str>, meaning: Option<Meaning>) {
        let symbol = match meaning {
            Some(Meaning::Value(place)) => Symbol::Definition(place),
            Some(Meaning::Type(place)) => Symbol::Type(place),
            Some(Meaning::Constructor(place)) => Symbol::Constructor(place),
            Some(Meaning::Builtin) => Symbol::Builtin(name.clone()),
            None => return,
        };
        self.add(span, symbol, false);
    }

    fn type_definition(&mut self, def: &TypeDef) {
        self.add(def.name.span, Symbol::Type(def.name.span), true);
        if let TypeBody::Variant(constructors) = &def.body {
            for (name, _) in constructors {
                self.add(name.span, Symbol::Constructor(name.span), true);
            }
        }
    }

    /// The path in quotes, the name after `as` and the listed names.
    fn import(&mut self, import: &Import) {
        let key = lambada_elaborate::import_key(None, &import.path);
        let Some(k) = self.survey.imports.iter().position(|(known, _)| **known == *key) else {
            return;
        };
        let symbol = self.module(k + 1);
        let text = self.survey.sources.text(import.span);
        if let (Some(start), Some(end)) = (text.find('"'), text.rfind('"')) {
            let at = import.span.start as usize;
            let path = Span::new(import.span.file, at + start + 1, at + end);
            self.add(path, symbol.clone(), false);
        }
        if let Some(alias) = &import.alias {
            self.add(alias.span, symbol, true);
        }
        for name in import.names.iter().flatten() {
            let meaning = self.names.member(k + 1, &name.text);
            self.meant(name.span, &name.text, meaning);
        }
    }

    fn module(&self, k: usize) -> Symbol {
        Symbol::Module(self.survey.tree(k).items.first().map(|item| item.span().file))
    }

    /// The module that a variable stands for.
    fn module_named(&self, name: &str) -> Option<usize> {
        let free = self.bound.get(name).is_none_or(Vec::is_empty);
        let main = self.names.main();
        if free { self.names.import(main, name) } else { None }
    }

    /// `shapes.Circle` in a pattern or a type: the module and its member.
    fn qualified(&mut self, name: &Name, meaning: Option<Meaning>) {
        let Some((module, _)) = name.text.split_once('.') else {
            return self.meant(name.span, &name.text, meaning);
        };
        let at = name.span.start as usize;
        if let Some(k) = self.names.import(self.names.main(), module) {
            let symbol = self.module(k);
            self.add(Span::new(name.span.file, at, at + module.len()), symbol, false);
        }
        let member = Span { start: name.span.start + module.len() as u32 + 1, ..name.span };
        self.meant(member, &name.text, meaning);
    }

    fn labels<'n>(&mut self, names: impl Iterator<Item = &'n Name>) {
        names.for_each(|name| self.add(name.span, Symbol::Field(name.text.clone()), false));
    }

    /// `record.name`, or `module.name`.
    fn field(&mut self, record: &Expr, name: &Name) {
        if let ExprKind::Var(module) = &record.kind
            && let Some(k) = self.module_named(module)
        {
            let symbol = self.module(k);
            self.add(record.span, symbol, false);
            self.module_at = Some(record.span);
            let builtin = || (k == 0).then(|| self.names.value(0, &name.text)).flatten();
            let meaning = self.names.member(k, &name.text).or_else(builtin);
            self.meant(name.span, &name.text, meaning);
        } else {
            self.add(name.span, Symbol::Field(name.text.clone()), false);
        }
    }
}

impl Scopes for Walk<'_> {
    fn enter(&mut self) {
        self.scopes.push(self.order.len());
    }

    fn leave(&mut self) {
        let start = self.scopes.pop().expect("leave follows enter");
        for name in self.order.drain(start..) {
            self.bound.get_mut(&name).expect("it is bound").pop();
        }
    }

    fn bind(&mut self, name: &Name, by: Binder) {
        let symbol = Symbol::Local(name.span, by);
        self.add(name.span, symbol.clone(), true);
        self.bound.entry(name.text.clone()).or_default().push(symbol);
        self.order.push(name.text.clone());
    }

    fn mention(&mut self, name: &Rc<str>, span: Span) {
        if let Some(symbol) = self.bound.get(name).and_then(|meanings| meanings.last()) {
            return self.add(span, symbol.clone(), false);
        }
        if self.module_at != Some(span) {
            self.meant(span, name, self.names.value(self.names.main(), name));
        }
    }

    fn at(&mut self, expr: &Expr) {
        if let ExprKind::Field(record, name) = &expr.kind {
            self.field(record, name);
        } else if let ExprKind::Con(name) = &expr.kind {
            let meaning = self.names.constructor(self.names.main(), name);
            self.meant(expr.span, name, meaning);
        } else if let ExprKind::Record(fields) | ExprKind::RecordUpdate(_, fields) = &expr.kind {
            self.labels(fields.iter().map(|(name, _)| name));
        }
    }
}

/// The names in types and patterns that no local scope binds.
struct Types<'w, 's> {
    walk: &'w mut Walk<'s>,
}

impl Types<'_, '_> {
    /// All alternatives bind the names of the first one.
    fn alternatives(&mut self, parts: &[Pattern]) {
        let Some((first, others)) = parts.split_first() else { return };
        let first = first.names();
        for name in others.iter().flat_map(Pattern::names) {
            if let Some(meant) = first.iter().find(|one| one.text == name.text) {
                let symbol = Symbol::Local(meant.span, Binder::Arm);
                self.walk.add(name.span, symbol, true);
            }
        }
    }
}

impl Visit for Types<'_, '_> {
    fn pattern(&mut self, pattern: &Pattern) {
        if let PatternKind::Con(name, _) = &pattern.kind {
            let meaning = self.walk.names.constructor(self.walk.names.main(), &name.text);
            self.walk.qualified(name, meaning);
        } else if let PatternKind::Record(fields) = &pattern.kind {
            self.walk.labels(fields.iter().map(|(name, _)| name));
        } else if let PatternKind::Or(parts) = &pattern.kind {
            self.alternatives(parts);
        }
        walk_pattern(self, pattern);
    }

    fn type_expr(&mut self, ty: &TypeExpr) {
        if let TypeKind::Name(name, ..) = &ty.kind {
            let meaning = self.walk.names.ty(self.walk.names.main(), &name.text);
            self.walk.qualified(name, meaning);
        } else if let TypeKind::Record(fields) = &ty.kind {
            self.walk.labels(fields.iter().map(|(name, _)| name));
        }
        walk_type(self, ty);
    }
}
