//! Calls of functions, by name.

use lambada_source::Span;

use super::densities::{column, last};
use super::expr::{Typed, tabulated};
use super::scope::{Done, Scope};
use crate::ast::{Expr, ExprKind, Name};
use crate::functions::{binary, unary};
use crate::messages;
use crate::term::{Clause, Op, Term, bin, call, filled, for_, for_range, index, simplify, var};
use crate::types::{Dim, Ty};

impl Scope {
    pub fn call(&mut self, name: &Name, args: &[Expr], span: Span) -> Done<Typed> {
        if let Some(typed) = self.own_call(&name.text, args, span)? {
            return Ok(typed);
        }
        if let Some(typed) = self.distribution_call(&name.text, args, span)? {
            return Ok(typed);
        }
        if let [arg] = args
            && unary(&name.text, Term::Int(0)).is_some()
        {
            return self.elementwise(&name.text, arg);
        }
        if let Some(typed) = self.solver(&name.text, args, span)? {
            return Ok(typed);
        }
        let types = args.iter().map(|arg| self.ty(arg)).collect::<Done<Vec<_>>>()?;
        if let ([a, b], [left, right]) = (args, &types[..])
            && left.rank() == 0
            && right.rank() == 0
            && let Some(term) = binary(&name.text, self.term(a)?, self.term(b)?)
        {
            let ints = *left == Ty::Int && *right == Ty::Int;
            let ty = if ints && ["max", "min"].contains(&&*name.text) { Ty::Int } else { Ty::Real };
            return Ok((term, ty));
        }
        if let Some(typed) = self.shaped(&name.text, args, &types)? {
            return Ok(typed);
        }
        let known = self.reduced(&name.text, args, &types)?;
        let known = match known {
            None => self.of_matrices(&name.text, args, &types)?,
            known => known,
        };
        known.ok_or_else(|| messages::function(&name.text, name.span))
    }

    /// A call of a function of the program.
    fn own_call(&mut self, name: &str, args: &[Expr], span: Span) -> Done<Option<Typed>> {
        let Some(found) = self.functions.get(name).cloned() else { return Ok(None) };
        let mut terms = Vec::new();
        if found.random {
            terms.push(self.key(span, None)?);
        }
        for arg in args {
            terms.push(self.term(arg)?);
        }
        let ty = found.result.unwrap_or(Ty::Real);
        Ok(Some((Term::Call(found.name, terms), ty)))
    }

    /// An elementwise function of one argument.
    fn elementwise(&mut self, name: &str, arg: &Expr) -> Done<Typed> {
        let (term, ty) = self.number(arg)?;
        let apply = |term: Term| unary(name, term).map_or(Term::Int(0), |(term, _)| term);
        let arrays = unary(name, Term::Int(0)).is_some_and(|(_, arrays)| arrays);
        let conditional = matches!(name, "is_nan" | "is_inf");
        if arrays || ty.rank() == 0 {
            let kept = ty == Ty::Int && matches!(name, "abs" | "square");
            let result = if conditional { Ty::Bool } else { ty.real() };
            return Ok((apply(term), if kept { Ty::Int } else { result }));
        }
        let name = self.element_name();
        let x = var(&name);
        let body = match ty.rank() {
            1 => apply(x),
            _ => for_(Clause::In("v".into(), Box::new(x)), apply(var("v"))),
        };
        Ok((for_(Clause::In(name, Box::new(term)), body), ty.real()))
    }

    /// The element of the value of a function that works element by element.
    pub fn element_of_call(
        &mut self,
        name: &str,
        args: &[Expr],
        at: &Term,
        hint: &str,
    ) -> Done<Option<Term>> {
        if self.functions.contains_key(name) {
            return Ok(None);
        }
        match (name, args) {
            ("rep_vector" | "rep_row_vector", [x, _]) => self.term(x).map(Some),
            ("to_vector" | "to_row_vector" | "to_array_1d", [x]) if self.ty(x)?.rank() == 1 => {
                self.element(x, at, hint).map(Some)
            }
            ("col", [m, j]) if matches!(m.kind, ExprKind::Name(_)) => {
                let (m, j) = (self.term(m)?, self.place(j)?);
                Ok(Some(index(m, vec![at.clone(), j])))
            }
            (_, [x]) => match unary(name, Term::Int(0)) {
                None => Ok(None),
                Some(_) => {
                    let x = self.element(x, at, hint)?;
                    Ok(unary(name, x).map(|(term, _)| term))
                }
            },
            ("pow" | "fmax" | "fmin", [a, b]) => {
                let (a, b) = (self.element(a, at, hint)?, self.element(b, at, hint)?);
                Ok(binary(name, a, b))
            }
            _ => Ok(None),
        }
    }

    /// Constants, sizes, and functions that make arrays of numbers.
    fn shaped(&mut self, name: &str, args: &[Expr], types: &[Ty]) -> Done<Option<Typed>> {
        let mut terms =
            args.iter().map(|arg| self.term(arg)).collect::<Done<Vec<_>>>()?.into_iter();
        let mut next = move || terms.next().unwrap_or(Term::Int(0));
        let int = |term: Term| (term, Ty::Int);
        let outer = |k: usize| types.get(k).and_then(Ty::outer);
        Ok(Some(match (name, args.len()) {
            ("pi", 0) => (call("pi", []), Ty::Real),
            ("e", 0) => (Term::Real(std::f64::consts::E), Ty::Real),
            ("sqrt2", 0) => (call("sqrt", [Term::Int(2)]), Ty::Real),
            ("log2", 0) => (call("log", [Term::Int(2)]), Ty::Real),
            ("log10", 0) => (call("log", [Term::Int(10)]), Ty::Real),
            ("negative_infinity", 0) => (Term::Neg(Box::new(call("inf", []))), Ty::Real),
            ("positive_infinity", 0) => (call("inf", []), Ty::Real),
            ("not_a_number", 0) => (call("nan", []), Ty::Real),
            ("machine_precision", 0) => (call("epsilon", []), Ty::Real),
            ("rep_vector" | "rep_row_vector", 2) => {
                let (x, n) = (next(), next());
                let size = Some(n.clone());
                let ty = if name == "rep_vector" { Ty::Vector(size) } else { Ty::Row(size) };
                (filled(&[n], x), ty)
            }
            ("rep_array", 2..) => {
                let x = next();
                let sizes: Vec<Term> = (1..args.len()).map(|_| next()).collect();
                let elem = types[0].clone();
                let ty =
                    sizes.iter().rev().fold(elem, |ty, n| Ty::Array(Some(n.clone()), Box::new(ty)));
                (filled(&sizes, x), ty)
            }
            ("rep_matrix", 3) => {
                let (x, n, m) = (next(), next(), next());
                (filled(&[n.clone(), m.clone()], x), Ty::Matrix(Some(n), Some(m)))
            }
            ("rep_matrix", 2) => {
                let (x, n) = (next(), next());
                let inner = outer(0).and_then(|(dim, _)| dim);
                match types[0] {
                    Ty::Row(_) => (call("replicate", [n.clone(), x]), Ty::Matrix(Some(n), inner)),
                    _ => {
                        let name = self.element_name();
                        let row = call("replicate", [n.clone(), var(&name)]);
                        (for_(Clause::In(name, Box::new(x)), row), Ty::Matrix(inner, Some(n)))
                    }
                }
            }
            ("zeros_vector" | "zeros_array" | "zeros_int_array", 1) => {
                let n = next();
                (call("zeros", [n.clone()]), Ty::Vector(Some(n)))
            }
            ("zeros_row_vector", 1) => {
                let n = next();
                (call("zeros", [n.clone()]), Ty::Row(Some(n)))
            }
            ("ones_vector" | "ones_array", 1) => {
                let n = next();
                (call("ones", [n.clone()]), Ty::Vector(Some(n)))
            }
            ("ones_row_vector", 1) => {
                let n = next();
                (call("ones", [n.clone()]), Ty::Row(Some(n)))
            }
            ("linspaced_vector" | "linspaced_array" | "linspaced_row_vector", 3) => {
                let (n, a, b) = (next(), next(), next());
                (call("linspace", [a, b, n.clone()]), Ty::Vector(Some(n)))
            }
            ("identity_matrix", 1) => {
                let n = next();
                (call("eye", [n.clone()]), Ty::Matrix(Some(n.clone()), Some(n)))
            }
            ("rows" | "size" | "num_elements", 1)
                if types[0].rank() == 1 || name != "num_elements" =>
            {
                let x = next();
                int(outer(0).and_then(|(dim, _)| dim).unwrap_or_else(|| call("length", [x])))
            }
            ("cols", 1) => {
                let x = next();
                let dim = types[0].dims().pop().flatten();
                int(dim.unwrap_or_else(|| call("length", [index(x, vec![Term::Int(0)])])))
            }
            ("num_elements", 1) => int(call("length", [call("ravel", [next()])])),
            ("dims", 1) => {
                let dims: Option<Vec<Term>> = types[0].dims().into_iter().collect();
                let Some(dims) = dims else { return Ok(None) };
                let size = Some(Term::Int(dims.len() as i64));
                (Term::Array(dims), Ty::Array(size, Box::new(Ty::Int)))
            }
            _ => return self.taken_apart(name, args, types),
        }))
    }

    /// Functions that make other arrays of arrays.
    fn taken_apart(&mut self, name: &str, args: &[Expr], types: &[Ty]) -> Done<Option<Typed>> {
        let terms = args.iter().map(|arg| self.term(arg)).collect::<Done<Vec<_>>>()?;
        let mut terms = terms.into_iter();
        let mut next = move || terms.next().unwrap_or(Term::Int(0));
        let outer = |k: usize| types.get(k).and_then(Ty::outer);
        Ok(Some(match (name, args.len()) {
            ("to_vector" | "to_row_vector" | "to_array_1d", 1) => {
                let x = next();
                let flat = |size: Dim| match name {
                    "to_vector" => Ty::Vector(size),
                    "to_row_vector" => Ty::Row(size),
                    _ => Ty::Array(size, Box::new(types[0].scalar())),
                };
                match (&types[0], types[0].rank()) {
                    (_, 1) => (x, flat(outer(0).and_then(|(dim, _)| dim))),
                    // Stan's matrices are stored by columns.
                    (Ty::Matrix(..), _) => (call("flatten", [call("transpose", [x])]), flat(None)),
                    (_, 2) => (call("flatten", [x]), flat(None)),
                    _ => (call("ravel", [x]), flat(None)),
                }
            }
            ("to_matrix", 1) if types[0].rank() == 2 => {
                let dims = types[0].dims();
                (next(), Ty::Matrix(dims[0].clone(), dims[1].clone()))
            }
            ("to_array_2d", 1) => {
                let dims = types[0].dims();
                let row = Ty::Array(dims.get(1).cloned().flatten(), Box::new(Ty::Real));
                (next(), Ty::Array(dims[0].clone(), Box::new(row)))
            }
            ("to_matrix", 3) if types[0].rank() == 1 => {
                let (x, n, m) = (next(), next(), next());
                let (i, j) = (self.index_name(&[]), self.index_name(&[self.index_name(&[])]));
                let place = bin(Op::Add, bin(Op::Mul, var(&j), n.clone()), var(&i));
                let rows =
                    for_range(&i, n.clone(), for_range(&j, m.clone(), index(x, vec![place])));
                (rows, Ty::Matrix(Some(n), Some(m)))
            }
            ("segment", 3) => {
                let (x, from, n) = (next(), next(), next());
                let from = simplify(bin(Op::Sub, from, Term::Int(1)));
                let to = simplify(bin(Op::Add, from.clone(), n.clone()));
                let slice = Term::Slice(Box::new(x), Some(Box::new(from)), Some(Box::new(to)));
                (slice, types[0].resized(Some(n)))
            }
            ("head", 2) => {
                let (x, n) = (next(), next());
                let slice = Term::Slice(Box::new(x), None, Some(Box::new(n.clone())));
                (slice, types[0].resized(Some(n)))
            }
            ("tail", 2) => {
                let (x, n) = (next(), next());
                let size = outer(0).and_then(|(dim, _)| dim);
                let size = size.unwrap_or_else(|| call("length", [x.clone()]));
                (last(x, size, n.clone()), types[0].resized(Some(n)))
            }
            ("row", 2) => {
                let (m, i) = (next(), next());
                let at = simplify(bin(Op::Sub, i, Term::Int(1)));
                (index(m, vec![at]), outer(0).map_or(Ty::Row(None), |(_, row)| row))
            }
            ("col", 2) => {
                let (m, j) = (next(), next());
                let size = outer(0).and_then(|(dim, _)| dim);
                let at = simplify(bin(Op::Sub, j, Term::Int(1)));
                let n = size.clone().unwrap_or_else(|| call("length", [m.clone()]));
                (column(self, m, (Term::Int(0), n), at), Ty::Vector(size))
            }
            ("sub_col", 4) => {
                let (m, i, j, n) = (next(), next(), next(), next());
                let less = |t: Term| simplify(bin(Op::Sub, t, Term::Int(1)));
                (column(self, m, (less(i), n.clone()), less(j)), Ty::Vector(Some(n)))
            }
            ("append_row" | "append_array", 2) => {
                let (a, b) = (next(), next());
                self.appended(name, (a, &types[0]), (b, &types[1]))
            }
            ("append_col", 2) => {
                let (a, b) = (next(), next());
                if types[0].rank() <= 1
                    && types[1].rank() <= 1
                    && !(matches!(types[0], Ty::Vector(_)))
                {
                    return Ok(Some(self.appended(name, (a, &types[0]), (b, &types[1]))));
                }
                let (a, b) = (self.hoist(a, "left"), self.hoist(b, "right"));
                let size = [0, 1].into_iter().find_map(|k| outer(k).and_then(|(dim, _)| dim));
                let Some(size) = size else { return Ok(None) };
                let width = |k: usize| match &types[k] {
                    Ty::Matrix(_, m) => m.clone(),
                    _ => Some(Term::Int(1)),
                };
                let part = |array: Term, ty: &Ty, at: Term| match ty {
                    Ty::Matrix(..) => index(array, vec![at]),
                    Ty::Vector(_) => Term::Array(vec![index(array, vec![at])]),
                    _ => Term::Array(vec![array]),
                };
                let name = self.index_name(&[]);
                let rows = tabulated(&name, size.clone(), |at| {
                    call("concat", [part(a, &types[0], at.clone()), part(b, &types[1], at)])
                });
                let m = width(0).zip(width(1)).map(|(a, b)| simplify(bin(Op::Add, a, b)));
                (rows, Ty::Matrix(Some(size), m))
            }
            ("reverse", 1) => (call("reverse", [next()]), types[0].clone()),
            ("sort_asc", 1) => (call("sort", [next()]), types[0].clone()),
            ("sort_desc", 1) => (call("reverse", [call("sort", [next()])]), types[0].clone()),
            ("cumulative_sum", 1) => (call("cumsum", [next()]), types[0].clone()),
            ("softmax", 1) => (call("softmax", [next()]), types[0].clone()),
            ("log_softmax", 1) => (call("log_softmax", [next()]), types[0].clone()),
            ("if_else", 3) => {
                let (c, a, b) = (next(), next(), next());
                let c = bin(Op::Ne, c, Term::Int(0));
                (Term::If(Box::new(c), Box::new(a), Box::new(b)), types[1].clone())
            }
            ("fma", 3) => {
                let (a, b, c) = (next(), next(), next());
                (bin(Op::Add, bin(Op::Mul, a, b), c), Ty::Real)
            }
            ("inc_beta", 3) => (call("special.betainc", [next(), next(), next()]), Ty::Real),
            _ => return Ok(None),
        }))
    }

    fn appended(&self, name: &str, (a, left): (Term, &Ty), (b, right): (Term, &Ty)) -> Typed {
        // A number beside a vector, or a row beside a matrix, is one element.
        let rank = left.rank().max(right.rank());
        let rows =
            |term: Term, ty: &Ty| if ty.rank() < rank { Term::Array(vec![term]) } else { term };
        let count = |ty: &Ty| {
            if ty.rank() < rank { Some(Term::Int(1)) } else { ty.outer().and_then(|(dim, _)| dim) }
        };
        let size = count(left).zip(count(right)).map(|(a, b)| simplify(bin(Op::Add, a, b)));
        let whole = if left.rank() == rank { left } else { right };
        let ty = match (name, whole) {
            ("append_row", Ty::Real | Ty::Int) => Ty::Vector(size),
            ("append_col", Ty::Real | Ty::Int) => Ty::Row(size),
            (_, whole) => whole.resized(size),
        };
        (call("concat", [rows(a, left), rows(b, right)]), ty)
    }

    /// Functions whose value is a number.
    fn reduced(&mut self, name: &str, args: &[Expr], types: &[Ty]) -> Done<Option<Typed>> {
        let one = |f: &str, term: Term| Some((call(f, [term]), Ty::Real));
        let [x, rest @ ..] = args else { return Ok(None) };
        let flat = |term: Term| if types[0].rank() == 2 { call("flatten", [term]) } else { term };
        Ok(match (name, rest) {
            ("sum" | "prod" | "min" | "max", []) => {
                let f = match name {
                    "sum" => "sum",
                    "prod" => "product",
                    "min" => "minimum",
                    _ => "maximum",
                };
                let ty = if types[0].scalar() == Ty::Int { Ty::Int } else { Ty::Real };
                Some((call(f, [flat(self.term(x)?)]), ty))
            }
            ("mean", []) => one("mean", flat(self.term(x)?)),
            ("sd", []) => one("sample_stddev", flat(self.term(x)?)),
            ("variance", []) => one("sample_variance", flat(self.term(x)?)),
            ("log_sum_exp", []) => one("logsumexp", flat(self.term(x)?)),
            ("norm2", []) => one("norm", self.term(x)?),
            ("norm1", []) => Some((call("sum", [call("abs", [self.term(x)?])]), Ty::Real)),
            ("dot_self", []) => {
                let x = self.twice(x, "difference")?;
                Some((call("dot", [x.clone(), x]), Ty::Real))
            }
            ("dot_product", [y]) => Some((call("dot", [self.term(x)?, self.term(y)?]), Ty::Real)),
            ("distance", [y]) => one("norm", bin(Op::Sub, self.term(x)?, self.term(y)?)),
            ("squared_distance", [y]) => {
                let difference = bin(Op::Sub, self.term(x)?, self.term(y)?);
                let difference = self.hoist(difference, "difference");
                Some((call("dot", [difference.clone(), difference]), Ty::Real))
            }
            ("log_mix", _) => Some(self.log_mix(args, x.span)?),
            ("log_determinant" | "log_determinant_spd", []) => one("logdet", self.term(x)?),
            ("determinant", []) => one("det", self.term(x)?),
            ("trace", []) => one("trace", self.term(x)?),
            ("quantile", [p]) => Some((call("quantile", [self.term(p)?, self.term(x)?]), Ty::Real)),
            ("hmm_marginal", [gamma, rho]) => {
                let args = [self.term(x)?, self.term(gamma)?, self.term(rho)?];
                Some((call("dist.hmm_marginal", args), Ty::Real))
            }
            _ => None,
        })
    }

    /// Functions of matrices.
    fn of_matrices(&mut self, name: &str, args: &[Expr], types: &[Ty]) -> Done<Option<Typed>> {
        let terms = args.iter().map(|arg| self.term(arg)).collect::<Done<Vec<_>>>()?;
        let dim = |k: usize, axis: usize| types[k].dims().get(axis).cloned().flatten();
        let same = types.first().cloned().unwrap_or(Ty::Real);
        let typed = |term: Term, ty: Ty| Some((term, ty));
        Ok(match (name, &terms[..]) {
            ("transpose", [a]) => Some(super::expr::transpose(a.clone(), &types[0], args[0].span)?),
            ("cholesky_decompose", [a]) => typed(call("cholesky", [a.clone()]), same),
            ("inverse" | "inverse_spd", [a]) => typed(call("inverse", [a.clone()]), same),
            ("matrix_exp", [a]) => typed(call("linalg.expm", [a.clone()]), same),
            ("diag_matrix", [v]) => {
                let n = dim(0, 0);
                typed(call("diag_matrix", [v.clone()]), Ty::Matrix(n.clone(), n))
            }
            ("diagonal", [m]) => typed(call("diag", [m.clone()]), Ty::Vector(dim(0, 0))),
            ("multiply_lower_tri_self_transpose" | "tcrossprod", [_]) => {
                let l = self.twice(&args[0], "factor")?;
                let n = dim(0, 0);
                typed(bin(Op::MatMul, l.clone(), call("transpose", [l])), Ty::Matrix(n.clone(), n))
            }
            ("crossprod", [_]) => {
                let x = self.twice(&args[0], "factor")?;
                let n = dim(0, 1);
                typed(bin(Op::MatMul, call("transpose", [x.clone()]), x), Ty::Matrix(n.clone(), n))
            }
            ("quad_form" | "quad_form_sym", [a, _]) => {
                let b = self.twice(&args[1], "factor")?;
                let product = bin(Op::MatMul, a.clone(), b.clone());
                if types[1].rank() == 1 {
                    return Ok(typed(call("dot", [b, product]), Ty::Real));
                }
                let m = dim(1, 1);
                typed(bin(Op::MatMul, call("transpose", [b]), product), Ty::Matrix(m.clone(), m))
            }
            ("quad_form_diag", [m, v]) => {
                let (m, v) = (self.hoist(m.clone(), "matrix"), self.hoist(v.clone(), "scales"));
                let i = self.index_name(&[]);
                let j = self.index_name(std::slice::from_ref(&i));
                let at = |name: &str| index(v.clone(), vec![var(name)]);
                let entry = index(m.clone(), vec![var(&i), var(&j)]);
                let entry = bin(Op::Mul, bin(Op::Mul, at(&i), entry), at(&j));
                let Some(n) = dim(0, 0).or(dim(1, 0)) else { return Ok(None) };
                typed(for_range(&i, n.clone(), for_range(&j, n, entry)), same)
            }
            ("diag_pre_multiply", [v, m]) => {
                let (m, v) = (self.hoist(m.clone(), "matrix"), self.hoist(v.clone(), "scales"));
                let Some(n) = dim(0, 0).or(dim(1, 0)) else { return Ok(None) };
                let i = self.index_name(&[]);
                let row = |array: Term| index(array, vec![var(&i)]);
                typed(for_range(&i, n, bin(Op::Mul, row(v), row(m))), types[1].clone())
            }
            ("diag_post_multiply", [m, v]) => {
                let v = self.hoist(v.clone(), "scales");
                let row = self.index_name(&[]);
                let body = bin(Op::Mul, var(&row), v);
                typed(for_(Clause::In(row, Box::new(m.clone())), body), same)
            }
            ("add_diag", [m, x]) => {
                let Some(n) = dim(0, 0) else { return Ok(None) };
                let diagonal = match types[1].rank() {
                    0 => bin(Op::Mul, x.clone(), call("eye", [n])),
                    _ => call("diag_matrix", [x.clone()]),
                };
                typed(bin(Op::Add, m.clone(), diagonal), same)
            }
            ("mdivide_left" | "mdivide_left_spd", [a, b]) => {
                typed(call("solve", [a.clone(), b.clone()]), types[1].clone())
            }
            ("mdivide_left_tri_low", [a, b]) => {
                typed(call("triangular_solve", [a.clone(), b.clone()]), types[1].clone())
            }
            ("eigenvalues_sym", [a]) => {
                let values = Term::Component(Box::new(call("linalg.eigh", [a.clone()])), 0);
                typed(values, Ty::Vector(dim(0, 0)))
            }
            ("eigenvectors_sym", [a]) => {
                typed(Term::Component(Box::new(call("linalg.eigh", [a.clone()])), 1), same)
            }
            (
                "gp_exp_quad_cov" | "cov_exp_quad" | "gp_exponential_cov" | "gp_matern32_cov"
                | "gp_matern52_cov",
                [x, sigma, scale],
            ) => {
                let f = if name == "cov_exp_quad" { "gp_exp_quad_cov" } else { name };
                let n = dim(0, 0);
                let args = [x.clone(), sigma.clone(), scale.clone()];
                typed(call(&format!("dist.{f}"), args), Ty::Matrix(n.clone(), n))
            }
            ("gp_periodic_cov", [x, sigma, scale, period]) => {
                let n = dim(0, 0);
                let args = [x.clone(), sigma.clone(), scale.clone(), period.clone()];
                typed(call("dist.gp_periodic_cov", args), Ty::Matrix(n.clone(), n))
            }
            _ => None,
        })
    }

    /// Solvers of differential equations.
    fn solver(&mut self, name: &str, args: &[Expr], span: Span) -> Done<Option<Typed>> {
        let (old, plain) = match name.strip_prefix("integrate_ode_") {
            Some(plain) => (true, plain),
            None => match name.strip_prefix("ode_") {
                Some(plain) => (false, plain),
                None => return Ok(None),
            },
        };
        let (method, tolerant) = match plain.strip_suffix("_tol") {
            Some(method) => (method, true),
            None => (plain, false),
        };
        let solver = match method {
            "rk45" | "ckrk" | "adams" => "ode.dopri5",
            "bdf" => "ode.rosenbrock",
            _ => return Ok(None),
        };
        let ([f, y0, t0, ts, rest @ ..], true) = (args, args.len() >= 4) else {
            return Err(messages::arguments(name, args.len(), span));
        };
        // The old form has its three settings last, the new one first.
        let (settings, rest) = match (old, tolerant, rest.len()) {
            (true, _, 6..) => (&rest[3..], &rest[..3]),
            (true, ..) => (&rest[..0], rest),
            (false, true, 3..) => rest.split_at(3),
            (false, ..) => rest.split_at(0),
        };
        let ExprKind::Name(function) = &f.kind else {
            return Err(messages::expression("this function as an argument", f.span));
        };
        let Some(found) = self.functions.get(function).cloned() else {
            return Err(messages::unknown(function, f.span));
        };
        let (y, t) = (self.fresh("state"), self.fresh("time"));
        let mut inner = vec![var(&t), var(&y)];
        for arg in rest {
            inner.push(self.term(arg)?);
        }
        let slope = Term::Lambda(vec![y, t], Box::new(Term::Call(found.name, inner)));
        let default = [Term::Real(1e-6), Term::Real(1e-6)];
        let tolerances = match settings {
            [relative, absolute, ..] => [self.term(relative)?, self.term(absolute)?],
            _ => default,
        };
        let (start, state) = self.number(y0)?;
        let times = call("concat", [Term::Array(vec![self.term(t0)?]), self.term(ts)?]);
        let size = self.ty(ts)?.outer().and_then(|(dim, _)| dim);
        let all = tolerances.into_iter().chain([slope, start, times]);
        let rows = call("tail", [call(solver, all)]);
        Ok(Some((rows, Ty::Array(size, Box::new(state.real())))))
    }
}
