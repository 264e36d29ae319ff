//! Loops over vectors: `for` becomes `map`, `zipWith`, …, an elementwise operation or `replicate`;
//! `loop` becomes `fold`.
//!
//! While the body is read, the index is known for each iteration, and `xs[i]` is a variable: the
//! element. The body may mention the index in no other way, so it is a function of elements. An
//! index that is computed from it makes a vector of the elements in that order.

use lambada_core as core;
use lambada_prim::Scalar;
use lambada_source::Span;

use super::known::{PartiallyStatic, lift};
use super::outside::{ELEMENTS, FOLDS, ROWS, SIZES, SMALLER};
use super::{CoreReader, LARGEST, Let, Outside, Read, component, outside, vector, wrap};
use crate::op::Op;
use crate::source::{
    Kind, REAL, Term, Var, abs, constant, fold, fst, lam, map, op, op_at, snd, tuple, var,
};
use crate::var::Env;

/// A loop whose body is being read.
pub struct Loop {
    /// The block of its body.
    depth: usize,
    /// The number of iterations.
    n: usize,
    /// The vectors that it goes over, each with the variable for its element.
    vectors: Vec<(Term, Var)>,
}

impl Loop {
    /// Names the variable of an element, if the term is one.
    pub fn call_element(&mut self, t: &Term, hint: &str) {
        if let Kind::Var(x) = t.kind()
            && let Some((_, element)) = self.vectors.iter_mut().find(|(_, element)| element == x)
        {
            element.hint = hint.into();
        }
    }

    /// The vectors whose elements the body mentions.
    fn used(&self, body: &Term) -> Vec<(Term, Var)> {
        self.vectors.iter().filter(|(_, element)| body.mentions(element)).cloned().collect()
    }
}

impl CoreReader<'_> {
    /// Reads the body of a loop, in which `bound` are bound too.
    fn body(
        &mut self,
        i: &core::Var,
        n: usize,
        body: &core::Term,
        bound: Vec<Var>,
    ) -> Result<(PartiallyStatic, Vec<Let>, Loop), Outside> {
        let (l, depth) = (self.loops.len(), self.blocks.len());
        self.loops.push(Loop { depth, n, vectors: vec![] });
        self.env.insert(i.id, PartiallyStatic::Each(l, (0..n as i64).map(Scalar::Int).collect()));
        let (known, lets) = self.block(bound, |reader| reader.read(body, vec![]))?;
        let around = self.loops.pop().expect("the loop that was pushed");
        Ok((known, lets, around))
    }

    fn count(&mut self, n: &core::Term) -> Result<usize, Outside> {
        match self.read(n, vec![])? {
            PartiallyStatic::Static(Scalar::Int(size)) => match usize::try_from(size.max(0)) {
                Ok(size) if size <= LARGEST => Ok(size),
                _ => {
                    outside(n.span(), format!("a loop of more than {LARGEST} iterations"), SMALLER)
                }
            },
            _ => outside(
                n.span(),
                "a size that is not known: arrays need a literal size such as `[3]real`",
                SIZES,
            ),
        }
    }

    /// `for i < n => body`
    pub fn for_(&mut self, i: &core::Var, n: &core::Term, body: &core::Term, span: Span) -> Read {
        let n = self.count(n)?;
        let (known, lets, around) = self.body(i, n, body, vec![])?;
        array(&around, &lets, known, span)
    }

    /// `loop state = init for i < n do body`
    pub fn fold(
        &mut self,
        state: &core::Var,
        init: &core::Term,
        (i, n): (&core::Var, &core::Term),
        body: &core::Term,
        span: Span,
    ) -> Read {
        if state.ty != core::Ty::REAL {
            return outside(span, "a `loop` whose state is not one real number", FOLDS);
        }
        let (init, n) = (self.read(init, vec![])?.term(span)?, self.count(n)?);
        let s = Var::fresh(&state.hint, REAL);
        self.env.insert(state.id, PartiallyStatic::Term(var(&s)));
        let (known, lets, around) = self.body(i, n, body, vec![s.clone()])?;
        let body = wrap(&lets, known.term(span)?);
        let (v, element) = match &around.used(&body)[..] {
            _ if n == 0 => return Ok(PartiallyStatic::Term(init)),
            [] => (constant(vec![0.0; n]), Var::fresh("x", REAL)),
            [(v, element)] => (v.clone(), element.clone()),
            _ => return outside(span, "a `loop` over several arrays", FOLDS),
        };
        let step = lam("p", REAL.times(REAL), |p| {
            body.substitute(&Env::default().with(&s, fst(p.clone())).with(&element, snd(p)))
        });
        Ok(PartiallyStatic::Term(fold(step, init, v)))
    }

    /// `array[indices]`
    pub fn index(
        &mut self,
        array: &PartiallyStatic,
        indices: &[PartiallyStatic],
        span: Span,
    ) -> Read {
        match array {
            PartiallyStatic::Array(v, dims) if dims.len() == indices.len() => {
                let size: usize = dims.iter().product();
                match lift(indices, |at| flat(dims, at)) {
                    Some(PartiallyStatic::Static(Scalar::Int(i))) => {
                        Ok(PartiallyStatic::Term(op(Op::Index(size, i as usize), v.clone())))
                    }
                    Some(PartiallyStatic::Each(l, places)) => {
                        let Some(v) = gathered(v, size, &places) else {
                            return outside(
                                span,
                                format!(
                                    "more than {MOST_GATHERED} elements that are not read in order"
                                ),
                                ELEMENTS,
                            );
                        };
                        Ok(PartiallyStatic::Term(self.element(l, v, span)?))
                    }
                    _ => outside(
                        span,
                        "an index that is out of range or depends on more than the index of one loop",
                        ELEMENTS,
                    ),
                }
            }
            PartiallyStatic::Array(..) => outside(span, "a row of a matrix", ROWS),
            PartiallyStatic::Rows(_, items) => Ok(PartiallyStatic::Tuple(
                items
                    .iter()
                    .map(|item| self.index(item, indices, span))
                    .collect::<Result<Vec<_>, _>>()?,
            )),
            PartiallyStatic::Table(values) => match lift(indices, |at| {
                flat(&[values.len()], at).map(|i| values[i.int() as usize])
            }) {
                Some(known) => Ok(known),
                None => outside(
                    span,
                    "an index that is out of range or depends on more than the index of one loop",
                    ELEMENTS,
                ),
            },
            PartiallyStatic::Term(_)
            | PartiallyStatic::Tuple(_)
            | PartiallyStatic::Static(_)
            | PartiallyStatic::Each(..)
            | PartiallyStatic::Code(..) => outside(span, "an index", ELEMENTS),
        }
    }

    /// The variable for the elements of a vector that a loop goes over.
    pub fn element(&mut self, l: usize, v: Term, span: Span) -> Result<Term, Outside> {
        let inner = self.blocks[self.loops[l].depth..].iter().flat_map(|block| &block.bound);
        let elements = self.loops[l..]
            .iter()
            .flat_map(|inner| inner.vectors.iter().map(|(_, element)| element));
        if inner.chain(elements).any(|x| v.mentions(x)) {
            return outside(
                span,
                "an index into an array that is made inside of the loop",
                ELEMENTS,
            );
        }
        let vectors = &mut self.loops[l].vectors;
        if let Some((_, element)) = vectors.iter().find(|(other, _)| *other == v) {
            return Ok(var(element));
        }
        let element = Var::fresh("x", REAL);
        vectors.push((v, element.clone()));
        Ok(var(&element))
    }
}

/// The place in row-major order, if it is in range.
fn flat(dims: &[usize], at: &[Scalar]) -> Option<Scalar> {
    let place = dims.iter().zip(at).try_fold(0, |place, (n, i)| {
        let i = usize::try_from(i.int()).ok().filter(|i| i < n)?;
        Some(place * n + i)
    });
    place.map(|place| Scalar::Int(place as i64))
}

/// The greatest number of gathered elements, because each is a term of its own.
const MOST_GATHERED: usize = 1024;

/// The vector of the elements at these places, if it is not too large to be written out.
fn gathered(v: &Term, size: usize, places: &[Scalar]) -> Option<Term> {
    if places.len() == size && places.iter().enumerate().all(|(k, place)| place.int() == k as i64) {
        return Some(v.clone());
    }
    let items = places.iter().map(|place| op(Op::Index(size, place.int() as usize), v.clone()));
    (places.len() <= MOST_GATHERED).then(|| vector(&items.collect::<Vec<_>>()))
}

/// The array of a loop body's values.
fn array(around: &Loop, lets: &[Let], known: PartiallyStatic, span: Span) -> Read {
    match known {
        PartiallyStatic::Tuple(items) => {
            let items = items
                .into_iter()
                .map(|item| array(around, lets, item, span))
                .collect::<Result<Vec<_>, _>>()?;
            Ok(PartiallyStatic::Rows(around.n, items))
        }
        PartiallyStatic::Term(t) if *t.ty() == REAL => {
            Ok(PartiallyStatic::Array(collected(around, wrap(lets, t)), vec![around.n]))
        }
        PartiallyStatic::Static(value) => Ok(PartiallyStatic::Table(vec![value; around.n])),
        PartiallyStatic::Each(_, values) => Ok(PartiallyStatic::Table(values)),
        PartiallyStatic::Term(_)
        | PartiallyStatic::Array(..)
        | PartiallyStatic::Rows(..)
        | PartiallyStatic::Table(_)
        | PartiallyStatic::Code(..) => {
            outside(span, "a `for` that makes something else than real numbers", ROWS)
        }
    }
}

/// The vector of a body's values.
fn collected(around: &Loop, body: Term) -> Term {
    let used = around.used(&body);
    let (vectors, elements): (Vec<Term>, Vec<Var>) = used.into_iter().unzip();
    if let Kind::Var(x) = body.kind()
        && elements.contains(x)
    {
        return vectors[0].clone();
    }
    if elements.is_empty() {
        return replicated(&body, around.n);
    }
    if let Some(t) = elementwise(&body, around.n, &vectors, &elements) {
        return t;
    }
    map(function(body, &elements), &vectors)
}

fn replicated(t: &Term, n: usize) -> Term {
    if let Kind::Op(Op::Const(values), _) = t.kind() {
        return constant(vec![values.0[0]; n]);
    }
    op(Op::Replicate(n), t.clone())
}

/// A primitive of the elements and of constants, elementwise.
fn elementwise(body: &Term, n: usize, vectors: &[Term], elements: &[Var]) -> Option<Term> {
    let Kind::Op(Op::Each(prim, _), t) = body.kind() else { return None };
    let vector = |t: &Term| {
        if let Kind::Var(x) = t.kind() {
            elements.iter().position(|element| element == x).map(|k| vectors[k].clone())
        } else if let Kind::Op(Op::Const(_), _) = t.kind() {
            Some(replicated(t, n))
        } else {
            None
        }
    };
    let args = match (prim.args().len(), t.kind()) {
        (1, _) => vec![vector(t)?],
        (2, Kind::Pair(a, b)) => vec![vector(a)?, vector(b)?],
        (_, _) => return None,
    };
    Some(op_at(Op::Each(*prim, n), &args))
}

/// The body as a function of the elements.
fn function(body: Term, elements: &[Var]) -> Term {
    if let ([element], Kind::App(f, s)) = (elements, body.kind())
        && *s == var(element)
        && !f.mentions(element)
        && !matches!(f.kind(), Kind::Lam(..))
    {
        return f.clone();
    }
    if let [element] = elements {
        return abs(element.clone(), body);
    }
    let types = tuple(&elements.iter().map(var).collect::<Vec<_>>()).ty().clone();
    lam("p", types, |p: Term| {
        let parts = elements.iter().enumerate();
        let env = parts.fold(Env::default(), |env, (k, element)| {
            env.with(element, component(p.clone(), k, elements.len()))
        });
        body.substitute(&env)
    })
}
