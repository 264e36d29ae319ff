//! Distributions: densities, distribution functions and random numbers.

use lambada_source::Span;

use super::expr::Typed;
use super::scope::{Done, Scope};
use crate::ast::{Expr, ExprKind, Name};
use crate::functions::{Distribution, distribution, of_distribution};
use crate::messages;
use crate::term::{Clause, Op, Term, bin, call, for_range, index, simplify};
use crate::types::Ty;

/// Number of axes of an argument of a form.
fn rank(form: char) -> usize {
    match form {
        'v' | 'a' | 'c' => 1,
        'm' => 2,
        _ => 0,
    }
}

impl Scope {
    /// `value ~ name(args) T[lower, upper]` as a term of the log density.
    pub fn tilde(
        &mut self,
        value: &Expr,
        name: &Name,
        args: &[Expr],
        truncation: Option<&(Option<Expr>, Option<Expr>)>,
    ) -> Done<Term> {
        let all: Vec<Expr> = std::iter::once(value).chain(args).cloned().collect();
        for suffix in ["_lpdf", "_lpmf", "_log"] {
            let function = format!("{}{suffix}", name.text);
            if self.functions.contains_key(&function) {
                let name = Name { text: function, span: name.span };
                return self.call(&name, &all, name.span).map(|typed| typed.0);
            }
        }
        let Some(known) = distribution(&name.text) else {
            return Err(messages::function(&name.text, name.span));
        };
        let density = self.density(known, "_lpdf", &all, name.span)?;
        let Some((lower, upper)) = truncation else { return Ok(density) };
        let count = self.count(known, &all)?;
        let weight = self.weight(known, lower.as_ref(), upper.as_ref(), args, name.span)?;
        let weight = match (weight, count) {
            (weight, None) => weight,
            (weight, Some(count)) => bin(Op::Mul, count, weight),
        };
        Ok(bin(Op::Sub, density, weight))
    }

    /// The number of values of a vectorized density.
    fn count(&mut self, known: &Distribution, all: &[Expr]) -> Done<Option<Term>> {
        match self.ty(&all[0])?.rank() > rank(known.forms.chars().next().unwrap_or('r')) {
            true => self.length(&all[0]).map(Some),
            false => Ok(None),
        }
    }

    /// The logarithm of the probability between two bounds.
    fn weight(
        &mut self,
        known: &Distribution,
        lower: Option<&Expr>,
        upper: Option<&Expr>,
        args: &[Expr],
        span: Span,
    ) -> Done<Term> {
        let at = |scope: &mut Scope, suffix: &str, bound: &Expr, less: bool| -> Done<Term> {
            let mut bound = bound.clone();
            if less && known.is_discrete() {
                let one = Expr { kind: ExprKind::Int(1), span: bound.span };
                let (left, right) = (Box::new(bound.clone()), Box::new(one));
                bound.kind = ExprKind::Binary(crate::ast::BinaryOp::Sub, left, right);
            }
            let all: Vec<Expr> = std::iter::once(&bound).chain(args).cloned().collect();
            scope.density(known, suffix, &all, span)
        };
        Ok(match (lower, upper) {
            (None, None) => Term::Int(0),
            (Some(lower), None) => at(self, "_lccdf", lower, true)?,
            (None, Some(upper)) => at(self, "_lcdf", upper, false)?,
            (Some(lower), Some(upper)) => {
                let (high, low) =
                    (at(self, "_lcdf", upper, false)?, at(self, "_lcdf", lower, true)?);
                let rest = call("special.log1mexp", [bin(Op::Sub, low, high.clone())]);
                bin(Op::Add, high, rest)
            }
        })
    }

    /// `normal_lpdf` and the like, if the function is one of a distribution.
    pub fn distribution_call(
        &mut self,
        name: &str,
        args: &[Expr],
        span: Span,
    ) -> Done<Option<Typed>> {
        let Some((base, suffix)) = of_distribution(name) else { return Ok(None) };
        let Some(known) = distribution(base) else { return Ok(None) };
        Ok(Some(match suffix {
            "_rng" => self.random(known, args, span)?,
            "_cdf" => (call("exp", [self.density(known, "_lcdf", args, span)?]), Ty::Real),
            "_lcdf" | "_lccdf" => (self.density(known, suffix, args, span)?, Ty::Real),
            _ => (self.density(known, "_lpdf", args, span)?, Ty::Real),
        }))
    }

    /// The sum of a function of a distribution over all elements of its vectorized arguments.
    fn density(
        &mut self,
        known: &Distribution,
        suffix: &str,
        args: &[Expr],
        span: Span,
    ) -> Done<Term> {
        if args.len() != known.forms.len() {
            return Err(messages::arguments(&format!("{}{suffix}", known.name), args.len(), span));
        }
        let suffix = if suffix == "_lpdf" && known.is_discrete() { "_lpmf" } else { suffix };
        let function = format!("dist.{}{suffix}", known.name);
        let apply = |args: Vec<Term>| match known.name {
            // The library has the normal distribution with its parameters only.
            "std_normal" => {
                let rest = [Term::Int(0), Term::Int(1)];
                call(&format!("dist.normal{suffix}"), args.into_iter().chain(rest))
            }
            _ => call(&function, args),
        };
        let arrays = self.arrays(known, args)?;
        match &arrays[..] {
            [] => {
                let forms = known.forms.chars().zip(args);
                let terms = forms.map(|(form, arg)| self.argument(form, arg));
                Ok(apply(terms.collect::<Done<_>>()?))
            }
            [one] if self.ty(&args[*one])?.rank() == 1 + rank(form(known, *one)) => {
                self.over_one(known, args, *one, apply)
            }
            _ => {
                if let Some(terms) = self.whole(known, args, &arrays)? {
                    return Ok(call("sum", [apply(terms)]));
                }
                let name = self.index_name(&[]);
                let size = self.size_of(&arrays, args)?;
                let terms = self.elements(known, args, &arrays, &name)?;
                Ok(call("sum", [for_range(&name, size, apply(terms))]))
            }
        }
    }

    /// The arguments of an elementwise call: one with arrays of one size where the distribution
    /// has scalars. A comprehension is rather gone through as it is.
    fn whole(
        &mut self,
        known: &Distribution,
        args: &[Expr],
        arrays: &[usize],
    ) -> Done<Option<Vec<Term>>> {
        let mut sizes = Vec::new();
        for k in arrays {
            let ty = self.ty(&args[*k])?;
            if ty.rank() != 1 || rank(form(known, *k)) > 0 {
                return Ok(None);
            }
            sizes.extend(ty.outer().and_then(|(size, _)| size));
        }
        if sizes.iter().any(|size| *size != sizes[0]) {
            return Ok(None);
        }
        let mut terms = Vec::new();
        for (k, (form, arg)) in known.forms.chars().zip(args).enumerate() {
            let places = form == 'k' && arrays.contains(&k);
            terms.push(if places { self.places(arg)? } else { self.argument(form, arg)? });
        }
        let comprehension = arrays.iter().any(|k| terms[*k].comprehends());
        Ok(if comprehension { None } else { Some(terms) })
    }

    /// The sum over the elements of the only array among the arguments.
    fn over_one(
        &mut self,
        known: &Distribution,
        args: &[Expr],
        one: usize,
        apply: impl Fn(Vec<Term>) -> Term,
    ) -> Done<Term> {
        let category = matches!(form(known, one), 'k');
        let over = match &args[one].kind {
            ExprKind::Call(f, parts) if f.text == "to_vector" && parts.len() == 1 => {
                let (term, ty) = self.number(&parts[0])?;
                if ty.rank() == 2 { call("flatten", [term]) } else { term }
            }
            _ if category => self.places(&args[one])?,
            _ => self.term(&args[one])?,
        };
        // A comprehension is gone through as it is.
        let (clauses, element) = match over {
            Term::For(clauses, None, body) if clauses.len() == 1 => (clauses, *body),
            over if rank(form(known, one)) == 0 => (Vec::new(), over),
            over => {
                let name = self.element_name();
                (vec![Clause::In(name.clone(), Box::new(over))], Term::Var(name))
            }
        };
        let mut terms = Vec::new();
        for (k, (form, arg)) in known.forms.chars().zip(args).enumerate() {
            terms.push(if k == one { element.clone() } else { self.argument(form, arg)? });
        }
        let all = apply(terms);
        let elementwise = clauses.is_empty();
        Ok(call("sum", [if elementwise { all } else { Term::For(clauses, None, Box::new(all)) }]))
    }

    /// The arguments that are vectorized over.
    fn arrays(&mut self, known: &Distribution, args: &[Expr]) -> Done<Vec<usize>> {
        let mut arrays = Vec::new();
        for (k, arg) in args.iter().enumerate() {
            if self.ty(arg)?.rank() > rank(form(known, k)) {
                arrays.push(k);
            }
        }
        Ok(arrays)
    }

    fn size_of(&mut self, arrays: &[usize], args: &[Expr]) -> Done<Term> {
        for k in arrays {
            if let Some((Some(size), _)) = self.ty(&args[*k])?.outer() {
                return Ok(size);
            }
        }
        let whole = self.term(&args[arrays[0]])?;
        let whole = self.hoist(whole, "values");
        Ok(call("length", [whole]))
    }

    fn elements(
        &mut self,
        known: &Distribution,
        args: &[Expr],
        arrays: &[usize],
        name: &str,
    ) -> Done<Vec<Term>> {
        let at = Term::Var(name.into());
        let mut terms = Vec::new();
        for (k, (form, arg)) in known.forms.chars().zip(args).enumerate() {
            if !arrays.contains(&k) {
                terms.push(self.argument(form, arg)?);
                continue;
            }
            let elem = self.element(arg, &at, known.names[k])?;
            let less = form == 'k';
            terms.push(if less { simplify(bin(Op::Sub, elem, Term::Int(1))) } else { elem });
        }
        Ok(terms)
    }

    fn argument(&mut self, form: char, arg: &Expr) -> Done<Term> {
        match form {
            'k' => self.place(arg),
            'c' => self.places(arg),
            _ => self.term(arg),
        }
    }

    /// A draw, or an array of draws for vectorized arguments.
    fn random(&mut self, known: &Distribution, args: &[Expr], span: Span) -> Done<Typed> {
        // The value is the result.
        let rest =
            Distribution { name: known.name, forms: &known.forms[1..], names: &known.names[1..] };
        let wanted = if known.name == "multinomial" { 2 } else { rest.forms.len() };
        if args.len() != wanted {
            return Err(messages::arguments(&format!("{}_rng", known.name), args.len(), span));
        }
        let result = match known.forms.chars().next() {
            Some('i' | 'k') => Ty::Int,
            Some('a' | 'c') => Ty::Array(None, Box::new(Ty::Int)),
            Some('v') => Ty::Vector(None),
            Some('m') => Ty::Matrix(None, None),
            _ => Ty::Real,
        };
        let category = known.forms.starts_with('k');
        let draw = |key: Term, args: Vec<Term>| {
            let (name, extra) = match known.name {
                "std_normal" => ("normal", vec![Term::Int(0), Term::Int(1)]),
                name => (name, Vec::new()),
            };
            let args = std::iter::once(key).chain(args).chain(extra);
            let draw = call(&format!("dist.{name}_rng"), args);
            if category { bin(Op::Add, draw, Term::Int(1)) } else { draw }
        };
        if known.name == "multinomial" {
            let key = self.key(span, None)?;
            let args = args.iter().map(|arg| self.term(arg)).collect::<Done<_>>()?;
            return Ok((draw(key, args), result));
        }
        let arrays = self.arrays(&rest, args)?;
        if arrays.is_empty() {
            let forms = rest.forms.chars().zip(args);
            let terms = forms.map(|(form, arg)| self.argument(form, arg)).collect::<Done<_>>()?;
            let result = match (&result, args.first()) {
                (Ty::Vector(_), Some(first)) => {
                    Ty::Vector(self.ty(first)?.outer().and_then(|(dim, _)| dim))
                }
                _ => result,
            };
            return Ok((draw(self.key(span, None)?, terms), result));
        }
        let name = self.index_name(&[]);
        let size = self.size_of(&arrays, args)?;
        let terms = self.elements(&rest, args, &arrays, &name)?;
        let key = self.key(span, Some(&name))?;
        let draws = for_range(&name, size.clone(), draw(key, terms));
        Ok((draws, Ty::Array(Some(size), Box::new(result))))
    }

    /// `log_mix` of two densities, or of weights and densities.
    pub fn log_mix(&mut self, args: &[Expr], span: Span) -> Done<Typed> {
        match args {
            [p, a, b] => {
                let (p, a, b) = (self.term(p)?, self.term(a)?, self.term(b)?);
                Ok((call("dist.log_mix", [p, a, b]), Ty::Real))
            }
            [weights, densities] => {
                let (weights, densities) = (self.term(weights)?, self.term(densities)?);
                let sum = bin(Op::Add, call("log", [weights]), densities);
                Ok((call("logsumexp", [sum]), Ty::Real))
            }
            _ => Err(messages::arguments("log_mix", args.len(), span)),
        }
    }

    /// `dot_self(x)`, and the like: a name that is used twice is bound first.
    pub fn twice(&mut self, arg: &Expr, hint: &str) -> Done<Term> {
        let term = self.term(arg)?;
        Ok(self.hoist(term, hint))
    }
}

fn form(known: &Distribution, k: usize) -> char {
    known.forms.chars().nth(k).unwrap_or('r')
}

/// The last `count` elements.
pub(crate) fn last(array: Term, size: Term, count: Term) -> Term {
    let from = simplify(bin(Op::Sub, size, count));
    Term::Slice(Box::new(array), Some(Box::new(from)), None)
}

/// Column `j` of a matrix.
pub(crate) fn column(scope: &Scope, matrix: Term, (from, size): (Term, Term), j: Term) -> Term {
    let name = scope.index_name(&[]);
    let at = simplify(bin(Op::Add, from, Term::Var(name.clone())));
    for_range(&name, size, index(matrix, vec![at, j]))
}
