//! The functions of a program.

use std::rc::Rc;

use lambada_source::Problem;
use lambada_surface::build as make;

use super::parameters::arrays;
use super::scope::{Done, Scope, Signature, lambada_name};
use crate::ast::{Base, Expr, ExprKind, Function, Stmt, StmtKind, Type};
use crate::messages;
use crate::raise::{Bind, Raise, TARGET, built};
use crate::surface::Definition;
use crate::term::{Names, Term, call, index, var};
use crate::types::{Dim, Ty};

/// Functions of the prelude that translations call; a function of the program of such a name gets
/// another one.
const PRELUDE: [&str; 34] = [
    "concat",
    "cumsum",
    "diag",
    "diag_matrix",
    "dot",
    "erf",
    "erfc",
    "eye",
    "flatten",
    "inverse",
    "length",
    "linspace",
    "logaddexp",
    "logdet",
    "logsumexp",
    "maximum",
    "mean",
    "minimum",
    "norm",
    "ones",
    "outer",
    "product",
    "ravel",
    "replicate",
    "reverse",
    "sample_stddev",
    "sigmoid",
    "solve",
    "sort",
    "square",
    "sum",
    "tail",
    "transpose",
    "zeros",
];

/// Statements that end with a value.
struct Tail {
    binds: Vec<Bind>,
    end: End,
}

enum End {
    Value(Term),
    If(Term, Box<Tail>, Box<Tail>),
}

/// Functions in a scope.
pub(crate) struct Functions<'a>(pub &'a mut Scope);

impl Functions<'_> {
    /// The functions of the program; they may call each other.
    pub fn function_definitions(
        &mut self,
        functions: &[Function],
    ) -> Result<Vec<Definition>, Vec<Problem>> {
        for function in functions {
            let name = &function.name.text;
            let hides = PRELUDE.contains(&&**name);
            let known = Signature {
                name: if hides { format!("{name}_").into() } else { lambada_name(name) },
                params: function.params.iter().map(|(ty, _)| unsized_type(ty)).collect(),
                result: function.result.as_ref().map(unsized_type),
                random: name.ends_with("_rng"),
            };
            self.0.functions.insert(name.clone(), known);
        }
        let mut problems = Vec::new();
        let mut definitions = Vec::new();
        for function in functions {
            let Some(body) = &function.body else { continue };
            if function.result.is_none() && !function.name.text.ends_with("_lp") {
                continue;
            }
            match self.0.inner(|scope| Functions(scope).function(function, body)) {
                Ok(definition) => definitions.push(definition),
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() { Ok(definitions) } else { Err(problems) }
    }

    fn function(&mut self, function: &Function, body: &[Stmt]) -> Done<Definition> {
        let known = self.0.functions[&function.name.text].clone();
        let dims = self.0.dims.clone();
        let mut sizes: Vec<Rc<str>> = Vec::new();
        let mut params = Vec::new();
        if known.random {
            params.push((Rc::from("key"), Ty::Int, make::named_ty("random.key")));
        }
        for ((_, name), ty) in function.params.iter().zip(&known.params) {
            let ty = self.with_sizes(ty, &mut sizes);
            let info = self.0.declare(&name.text, ty.clone());
            let scalar = if ty.scalar() == Ty::Int { "int" } else { "real" };
            params.push((info.name, ty, make::named_ty(scalar)));
        }
        self.0.keys = (0, 2);
        let term = if function.result.is_none() {
            let binds = self.0.statements(body)?;
            Raise { dims: &self.0.dims }.sum(binds, &TARGET.into())
        } else {
            let Some(tail) = self.tail(body)? else {
                return Err(messages::no_return(&function.name.text, function.name.span));
            };
            Raise { dims: &self.0.dims }.tail(tail)
        };
        self.0.keys = (0, 0);
        self.0.dims = dims;
        // A size that only the signature mentions would forbid that it equals another one.
        let mut term = term;
        let mut owner: Option<Rc<str>> = None;
        for (name, ty, _) in &params {
            let own = |dim: &Option<Term>| match dim {
                Some(Term::Var(size)) => Some(size.clone()),
                _ => None,
            };
            let dims: Vec<Option<Rc<str>>> = ty.dims().iter().map(own).collect();
            for (axis, size) in dims.iter().enumerate() {
                let Some(size) = size else { continue };
                let is_named = term.mentions(size) && owner.as_ref().is_none_or(|one| one == name);
                if is_named {
                    owner = Some(name.clone());
                    continue;
                }
                let at = std::iter::repeat_n(Term::Int(0), axis).collect();
                term = term.replace(size, &call("length", [index(Term::Var(name.clone()), at)]));
                sizes.retain(|one| one != size);
            }
        }
        let open = |ty: &Ty| -> Vec<Dim> {
            let known =
                |dim: Dim| dim.filter(|dim| matches!(dim, Term::Var(size) if sizes.contains(size)));
            ty.dims().into_iter().map(known).collect()
        };
        let params = params
            .iter()
            .map(|(name, ty, scalar)| (name.clone(), arrays(&open(ty), scalar.clone())))
            .collect();
        let result = known.result.as_ref().map_or(make::named_ty("real"), |ty| {
            let scalar = if ty.scalar() == Ty::Int { "int" } else { "real" };
            arrays(&ty.dims(), make::named_ty(scalar))
        });
        let name = known.name.to_string();
        Ok(Definition {
            doc: function.doc.clone(),
            name,
            sizes,
            params,
            result: Some(result),
            body: term,
        })
    }

    /// The type with a new size variable for each size.
    fn with_sizes(&mut self, ty: &Ty, sizes: &mut Vec<Rc<str>>) -> Ty {
        let mut fresh = || -> Dim {
            let name = self.index_name_of_size(sizes);
            sizes.push(name.clone());
            Some(var(&name))
        };
        match ty {
            Ty::Bool | Ty::Int | Ty::Real => ty.clone(),
            Ty::Vector(_) => Ty::Vector(fresh()),
            Ty::Row(_) => Ty::Row(fresh()),
            Ty::Matrix(..) => {
                let n = fresh();
                Ty::Matrix(n, fresh())
            }
            Ty::Array(_, elem) => {
                let n = fresh();
                Ty::Array(n, Box::new(self.with_sizes(elem, sizes)))
            }
        }
    }

    fn index_name_of_size(&self, sizes: &[Rc<str>]) -> Rc<str> {
        let free = |name: &str| {
            !self.0.taken.contains(name)
                && !sizes.iter().any(|size| &**size == name)
                && !self.0.vars.iter().any(|vars| vars.contains_key(name))
        };
        let names = ["n", "m", "p", "q", "r", "s", "size"];
        let found = names.into_iter().find(|name| free(name)).map(String::from);
        let found = found.or_else(|| (1..).map(|k| format!("size_{k}")).find(|name| free(name)));
        found.unwrap_or_default().into()
    }

    /// Statements whose last ones are `return`; none if they may end without.
    fn tail(&mut self, stmts: &[Stmt]) -> Done<Option<Tail>> {
        let mut binds = Vec::new();
        for (k, stmt) in stmts.iter().enumerate() {
            let rest = &stmts[k + 1..];
            let followed =
                |first: &[Stmt]| -> Vec<Stmt> { first.iter().chain(rest).cloned().collect() };
            match &stmt.kind {
                StmtKind::Return(Some(value)) => {
                    let value = self.returned(value)?;
                    binds.append(&mut self.0.pending);
                    return Ok(Some(Tail { binds, end: End::Value(value) }));
                }
                StmtKind::Block(inner) if returns(inner) => {
                    let tail = self.tail(&followed(inner))?;
                    return Ok(tail.map(|mut tail| {
                        tail.binds.splice(0..0, binds);
                        tail
                    }));
                }
                StmtKind::If(condition, yes, no) if returns(yes) || returns(no) => {
                    let condition = self.0.condition(condition)?;
                    binds.append(&mut self.0.pending);
                    let yes = self.0.inner(|scope| Functions(scope).tail(&followed(yes)))?;
                    let no = self.0.inner(|scope| Functions(scope).tail(&followed(no)))?;
                    let end = match (yes, no) {
                        (Some(yes), Some(no)) => End::If(condition, Box::new(yes), Box::new(no)),
                        _ => return Ok(None),
                    };
                    return Ok(Some(Tail { binds, end }));
                }
                _ => binds.extend(self.0.statements(std::slice::from_ref(stmt))?),
            }
        }
        Ok(None)
    }

    fn returned(&mut self, value: &Expr) -> Done<Term> {
        match &value.kind {
            ExprKind::Tuple(_) => Err(messages::expression("a tuple", value.span)),
            _ => self.0.term(value),
        }
    }
}

impl Raise<'_> {
    fn tail(&self, tail: Tail) -> Term {
        let value = match tail.end {
            End::Value(value) => value,
            End::If(condition, yes, no) => {
                Term::If(Box::new(condition), Box::new(self.tail(*yes)), Box::new(self.tail(*no)))
            }
        };
        let mut live = value.free();
        let items = self.items(tail.binds, &mut live, &Names::new());
        built(items, value)
    }
}

fn returns(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Return(_) => true,
        StmtKind::Block(inner) => returns(inner),
        StmtKind::If(_, yes, no) => returns(yes) || returns(no),
        _ => false,
    })
}

/// A type without its sizes.
fn unsized_type(ty: &Type) -> Ty {
    let base = match ty.base {
        Base::Int => Ty::Int,
        Base::Real => Ty::Real,
        Base::RowVector => Ty::Row(None),
        Base::Matrix | Base::Corr | Base::Cov | Base::CholeskyCorr | Base::CholeskyCov => {
            Ty::Matrix(None, None)
        }
        Base::Vector
        | Base::Simplex
        | Base::UnitVector
        | Base::SumToZero
        | Base::Ordered
        | Base::PositiveOrdered => Ty::Vector(None),
    };
    ty.dims.iter().fold(base, |elem, _| Ty::Array(None, Box::new(elem)))
}
