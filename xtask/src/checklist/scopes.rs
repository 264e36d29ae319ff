//! The parts of a Rust file that a citation can belong to: modules, items, members, arms of `match`, rows of tables of equations; and tests.

use std::ops::Range;

use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Lit, Member, Meta, Pat, Token, Type};

use super::cite::Id;

/// What stands in a scope is there to be used, or to test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// Compiled into the library.
    Code,
    /// Compiled for tests alone, and no test itself.
    Support,
    /// In a test, with its path.
    Test(String),
}

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Its bytes, attributes and documentation included.
    pub range: Range<usize>,
    /// Is it a module with contents?
    pub module: bool,
    /// The innermost item, `LinFun::lcur_inv`; empty for a module.
    pub item: String,
    /// The arm or row of it, if it is one.
    pub detail: Option<String>,
    /// What it is there for.
    pub role: Role,
}

/// What a file has.
#[derive(Debug, Default)]
pub struct Scopes {
    /// The parts, each after those that it is in; the first is the file.
    pub scopes: Vec<Scope>,
    /// The rows of tables of equations: which id, and which scope.
    pub rows: Vec<(Id, usize)>,
    /// The modules in files of their own, and whether they are compiled for tests alone.
    pub children: Vec<(String, bool)>,
}

/// The parts of a file, which is the module `path`.
pub fn scopes(text: &str, file: &syn::File, path: &str, support: bool) -> Scopes {
    let role = if support { Role::Support } else { Role::Code };
    let whole =
        Scope { range: 0..text.len(), module: true, item: String::new(), detail: None, role };
    let mut walk = Walk {
        text,
        path: path.to_string(),
        found: Scopes { scopes: vec![whole.clone()], ..Scopes::default() },
        at: whole,
    };
    walk.visit_file(file);
    walk.found
}

struct Walk<'a> {
    text: &'a str,
    /// The module.
    path: String,
    found: Scopes,
    /// The innermost scope.
    at: Scope,
}

/// `a::b`, or one of them if the other is empty.
pub fn join(path: &str, name: &str) -> String {
    if path.is_empty() || name.is_empty() {
        format!("{path}{name}")
    } else {
        format!("{path}::{name}")
    }
}

impl Walk<'_> {
    fn scope(&mut self, scope: Scope, inside: impl FnOnce(&mut Self)) {
        self.found.scopes.push(scope.clone());
        let around = std::mem::replace(&mut self.at, scope);
        inside(self);
        self.at = around;
    }

    fn item(
        &mut self,
        node: &impl Spanned,
        attrs: &[Attribute],
        name: &str,
        inside: impl FnOnce(&mut Self),
    ) {
        let item = join(&self.at.item, name);
        let role = match &self.at.role {
            Role::Test(test) => Role::Test(test.clone()),
            Role::Code | Role::Support if attrs.iter().any(is_test) => {
                Role::Test(join(&self.path, &item))
            }
            Role::Code if attrs.iter().any(is_for_tests) => Role::Support,
            Role::Code | Role::Support => self.at.role.clone(),
        };
        let scope =
            Scope { range: node.span().byte_range(), module: false, item, detail: None, role };
        self.scope(scope, inside);
    }

    fn part(&mut self, node: &impl Spanned, detail: String, inside: impl FnOnce(&mut Self)) {
        let scope = Scope {
            range: node.span().byte_range(),
            module: false,
            detail: Some(detail),
            ..self.at.clone()
        };
        self.scope(scope, inside);
    }

    /// The constructors that a pattern is about.
    fn pattern(&self, pattern: &Pat) -> String {
        let source = |node: &dyn Fn() -> Range<usize>| {
            self.text[node()].split_whitespace().collect::<Vec<_>>().join(" ")
        };
        match pattern {
            Pat::Or(or) => {
                or.cases.iter().map(|case| self.pattern(case)).collect::<Vec<_>>().join(" | ")
            }
            Pat::TupleStruct(node) => source(&|| node.path.span().byte_range()),
            Pat::Struct(node) => source(&|| node.path.span().byte_range()),
            other => source(&|| other.span().byte_range()),
        }
    }
}

macro_rules! items {
    ($($visit:ident: $node:ty, $name:expr;)*) => {
        $(fn $visit(&mut self, node: &'ast $node) {
            let name: fn(&$node) -> String = $name;
            self.item(node, &node.attrs, &name(node), |walk| visit::$visit(walk, node));
        })*
    };
}

impl<'ast> Visit<'ast> for Walk<'_> {
    items! {
        visit_item_fn: syn::ItemFn, |node| node.sig.ident.to_string();
        visit_impl_item_fn: syn::ImplItemFn, |node| node.sig.ident.to_string();
        visit_trait_item_fn: syn::TraitItemFn, |node| node.sig.ident.to_string();
        visit_impl_item_const: syn::ImplItemConst, |node| node.ident.to_string();
        visit_impl_item_type: syn::ImplItemType, |node| node.ident.to_string();
        visit_trait_item_type: syn::TraitItemType, |node| node.ident.to_string();
        visit_item_impl: syn::ItemImpl, |node| type_name(&node.self_ty);
        visit_item_enum: syn::ItemEnum, |node| node.ident.to_string();
        visit_item_struct: syn::ItemStruct, |node| node.ident.to_string();
        visit_item_trait: syn::ItemTrait, |node| node.ident.to_string();
        visit_item_type: syn::ItemType, |node| node.ident.to_string();
        visit_item_const: syn::ItemConst, |node| node.ident.to_string();
        visit_item_static: syn::ItemStatic, |node| node.ident.to_string();
        visit_variant: syn::Variant, |node| node.ident.to_string();
        visit_field: syn::Field, |node| node.ident.as_ref().map(ToString::to_string).unwrap_or_default();
    }

    fn visit_item_mod(&mut self, node: &'ast syn::ItemMod) {
        let support = self.at.role != Role::Code || node.attrs.iter().any(is_for_tests);
        let name = node.ident.to_string();
        if node.content.is_none() {
            self.found.children.push((name.clone(), support));
            self.item(node, &node.attrs, &name, |_| {});
            return;
        }
        let role = if support { Role::Support } else { Role::Code };
        let scope = Scope {
            range: node.span().byte_range(),
            module: true,
            item: String::new(),
            detail: None,
            role,
        };
        let path = join(&self.path, &name);
        let around = std::mem::replace(&mut self.path, path);
        self.scope(scope, |walk| visit::visit_item_mod(walk, node));
        self.path = around;
    }

    fn visit_arm(&mut self, node: &'ast syn::Arm) {
        self.part(node, self.pattern(&node.pat), |walk| visit::visit_arm(walk, node));
    }

    fn visit_expr_struct(&mut self, node: &'ast syn::ExprStruct) {
        let Some(id) = field(node, "id").and_then(|id| Id::parse(&id)) else {
            return visit::visit_expr_struct(self, node);
        };
        self.found.rows.push((id, self.found.scopes.len()));
        let name = field(node, "name").unwrap_or_else(|| id.to_string());
        self.part(node, name, |walk| visit::visit_expr_struct(walk, node));
    }
}

/// The text of a field that is one.
fn field(node: &syn::ExprStruct, name: &str) -> Option<String> {
    let named = |member: &Member| matches!(member, Member::Named(ident) if ident == name);
    let Expr::Lit(value) = &node.fields.iter().find(|field| named(&field.member))?.expr else {
        return None;
    };
    let Lit::Str(text) = &value.lit else { return None };
    Some(text.value())
}

fn type_name(ty: &Type) -> String {
    let last = if let Type::Path(ty) = ty { ty.path.segments.last() } else { None };
    last.map(|segment| segment.ident.to_string()).unwrap_or_default()
}

fn is_test(attr: &Attribute) -> bool {
    attr.path().segments.last().is_some_and(|last| last.ident == "test")
}

/// `#[cfg(test)]`, also as one condition of several.
fn is_for_tests(attr: &Attribute) -> bool {
    attr.path().is_ident("cfg")
        && attr.parse_args::<Meta>().is_ok_and(|condition| needs_tests(&condition))
}

fn needs_tests(condition: &Meta) -> bool {
    let Meta::List(list) = condition else { return condition.path().is_ident("test") };
    let parts =
        list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).unwrap_or_default();
    (list.path.is_ident("all") && parts.iter().any(needs_tests))
        || (list.path.is_ident("any") && parts.iter().all(needs_tests))
}
