//! Derivations: every part of a program from the inside out, with the clause that applies, and its
//! result.
//!
//! In Appendices A and C the parts are combinators; in the shared form they are the subterms of the
//! program. Parts have the names of the program's variables and the places that they come from.

use lambada_core::{DefId, Program};
use lambada_source::{Sources, Span};

use super::clauses::{self, Equations};
use super::data::{Component, Derivation, Place, Rule, Step, Variable};
use super::{Context, LARGEST, Mode, Refusal, Stage, split, writable};
use crate::applied;
use crate::combinators::{self, Comb};
use crate::lambda::{self, Language};
use crate::linear;
use crate::pairs::{AppliedForward, AppliedReverse};
use crate::print;
use crate::shared;
use crate::source::{self, Kind, of_core};
use crate::var::Var;

impl Derivation {
    /// The steps of deriving a definition: all, or step number `only`, counted from 1.
    pub fn new(
        program: &Program,
        entry: DefId,
        (mode, stage): (Mode, Stage),
        sources: &Sources,
        only: Option<usize>,
    ) -> Result<Derivation, Refusal> {
        let def = program.def(entry);
        let (x, t) = of_core(program, entry)?;
        let names = source::parameters(program, entry);
        let deriver = Deriver { mode, stage, sources, file: def.span };
        let (count, steps) = match stage {
            Stage::Combinators => return Err(Refusal::NoDerivative),
            Stage::Linear | Stage::Applied => {
                let comb = combinators::of_definition(&x, &names, &t);
                deriver.combinators(&combinators::tidy(&comb), only)?
            }
            Stage::Shared => deriver.terms(&x, &names, &t, only)?,
        };
        let (variables, parts) = parameters(&x, &names);
        let file = sources.get(def.span.file);
        Ok(Derivation {
            definition: def.name.to_string(),
            mode,
            stage,
            parameters: variables.iter().map(variable).collect(),
            program: called(&t, &parts, &variables).lines(),
            ty: t.ty().to_string(),
            file: file.name.clone(),
            source: file.text[file.shown_from..].to_string(),
            count,
            steps,
        })
    }
}

fn variable<L: Language>(x: &lambda::Var<L>) -> Variable {
    Variable { name: x.hint.to_string(), ty: x.ty.to_string() }
}

/// Variables for the parameters, and the parameters as components of their tuple x.
fn parameters(
    x: &source::Var,
    names: &[std::rc::Rc<str>],
) -> (Vec<source::Var>, Vec<source::Term>) {
    let all =
        split(source::var(x), names.len(), |t| (source::fst(t.clone()), source::snd(t.clone())));
    (names.iter().zip(&all).map(|(name, t)| Var::fresh(name, t.ty().clone())).collect(), all)
}

/// A term whose parameters are variables.
fn called(t: &source::Term, parts: &[source::Term], variables: &[source::Var]) -> source::Term {
    match parts.iter().position(|part| part == t) {
        Some(k) => source::var(&variables[k]),
        None => t.map(&mut |t: &source::Term| called(t, parts, variables)),
    }
}

/// The steps found so far, with the places of each.
struct Found<T> {
    parts: Vec<T>,
    places: Vec<Vec<Span>>,
    children: Vec<Vec<usize>>,
}

impl<T> Found<T> {
    fn new() -> Found<T> {
        Found { parts: vec![], places: vec![], children: vec![] }
    }

    /// The index of a part, which is new unless one is `like` it.
    fn add(
        &mut self,
        part: T,
        children: Vec<usize>,
        place: Span,
        like: impl Fn(&T) -> bool,
    ) -> usize {
        let known = self.parts.iter().position(like);
        let index = known.unwrap_or(self.parts.len());
        if known.is_none() {
            self.parts.push(part);
            self.children.push(children);
            self.places.push(vec![]);
        }
        if !self.places[index].contains(&place) {
            self.places[index].push(place);
        }
        index
    }

    /// The parts to explain, by their indices.
    fn chosen(&self, only: Option<usize>) -> Result<Vec<usize>, Refusal> {
        let count = self.parts.len();
        match only {
            None => Ok((0..count).collect()),
            Some(number) if (1..=count).contains(&number) => Ok(vec![number - 1]),
            Some(_) => Err(Refusal::NoSuchStep(count)),
        }
    }
}

/// A part of combinators with the names in scope, if it has one.
fn alike(a: &Comb, b: &Comb) -> bool {
    a == b && a.scope() == b.scope()
}

/// The parts in postorder, each once.
fn collect(comb: &Comb, around: Span, found: &mut Found<Comb>) -> usize {
    let place = comb.name().place().unwrap_or(around);
    let children = comb.children().into_iter().map(|part| collect(part, place, found)).collect();
    found.add(comb.clone(), children, place, |other| alike(other, comb))
}

/// A subterm with the variables in scope: those of the term, and as they are printed.
#[derive(Clone)]
struct Subterm {
    t: source::Term,
    scope: Vec<(source::Var, applied::Term)>,
    printed: Vec<applied::Var>,
    /// The name of a parameter, which is a component of the first variable.
    parameter: Option<String>,
}

struct Deriver<'a> {
    mode: Mode,
    stage: Stage,
    sources: &'a Sources,
    /// The definition.
    file: Span,
}

impl Deriver<'_> {
    fn combinators(&self, comb: &Comb, only: Option<usize>) -> Result<(usize, Vec<Step>), Refusal> {
        let mut found = Found::new();
        collect(comb, self.file, &mut found);
        let chosen = found.chosen(only)?;
        if only.is_some() {
            writable(std::slice::from_ref(&found.parts[chosen[0]]))?;
        }
        writable(&found.parts[..if only.is_some() { 0 } else { found.parts.len() }]).map_err(
            |_| {
                let small = |step: &&Comb| writable(std::slice::from_ref(*step)).is_ok();
                Refusal::StepsTooLarge(found.parts.iter().take_while(small).count())
            },
        )?;
        let step = |k: usize| self.combinator(k, &found);
        Ok((found.parts.len(), chosen.into_iter().map(step).collect()))
    }

    fn combinator(&self, k: usize, found: &Found<Comb>) -> Step {
        let comb = &found.parts[k];
        let name = |k: usize| {
            let part: &Comb = &found.parts[k];
            if part.children().is_empty() { part.to_string() } else { format!("t{}", k + 1) }
        };
        let parts: Vec<String> = found.children[k].iter().map(|k| name(*k)).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let clause = |parts: &[&str]| match self.stage {
            Stage::Applied => clauses::applied(comb, self.mode, parts),
            Stage::Combinators | Stage::Linear | Stage::Shared => {
                clauses::linear(comb, self.mode, parts)
            }
        };
        let (general, special) = (clause(&["t", "s"]), clause(&parts));
        let names = comb.scope().map_or_else(|| vec!["x".into()], |scope| scope.to_vec());
        let context = Context::new(&names, comb, self.mode, None);
        let (variables, components) = match self.stage {
            Stage::Applied => {
                let (variables, first, second) = context.literal(comb, self.mode);
                let (one, two) = (applied::tidy(&first), applied::tidy(&second));
                let component = |ty: &applied::Ty, t: &applied::Term| Component {
                    linear: None,
                    ty: ty.to_string(),
                    term: t.page(&variables),
                };
                let components = vec![component(first.ty(), &one), component(second.ty(), &two)];
                (variables.iter().map(variable).collect(), components)
            }
            Stage::Combinators | Stage::Linear | Stage::Shared => {
                let (first, second) = context.linear(comb, self.mode);
                let (one, two) = (linear::tidy(&first), linear::tidy_linear(&second));
                let v = print::linear_name(&context.variables);
                let v = Variable { name: v, ty: second.from().to_string() };
                let first = Component {
                    linear: None,
                    ty: first.ty().to_string(),
                    term: one.page(&context.variables),
                };
                let second = Component {
                    linear: Some(v),
                    ty: second.to().to_string(),
                    term: two.page(&context.variables),
                };
                (context.variables.iter().map(variable).collect(), vec![first, second])
            }
        };
        let ty = format!("{} -> {}", comb.from(), comb.to());
        let compound = !parts.is_empty();
        self.step(k, found, (general, special), (clauses::rule(comb, self.stage, self.mode), ty))
            .with(compound, variables, components)
    }

    fn step<T>(
        &self,
        k: usize,
        found: &Found<T>,
        (general, special): (Equations, Equations),
        (rule, ty): (Rule, String),
    ) -> Step {
        // Places of the library say nothing about the program.
        let own = found.places[k].iter().filter(|place| place.file == self.file.file);
        Step {
            number: k + 1,
            name: Some(format!("t{}", k + 1)),
            part: special.whole.clone(),
            ty,
            rule,
            here: special.named(&format!("t{}", k + 1)),
            clause: general.equations,
            context: vec![],
            components: vec![],
            places: own.map(|place| self.place(*place)).collect(),
            parts: found.children[k].iter().map(|k| k + 1).collect(),
        }
    }

    fn place(&self, span: Span) -> Place {
        let (line, column) = self.sources.line_column(span);
        let (end_line, end_column) = self.sources.line_column(span.end());
        Place { line, column, end_line, end_column }
    }

    fn terms(
        &self,
        x: &source::Var,
        names: &[std::rc::Rc<str>],
        t: &source::Term,
        only: Option<usize>,
    ) -> Result<(usize, Vec<Step>), Refusal> {
        let (variables, parts) = parameters(x, names);
        let primal = |y: &source::Var| Var::fresh(&y.hint, self.primal_ty(&y.ty));
        let printed: Vec<applied::Var> = variables.iter().map(primal).collect();
        let tuple = printed.iter().map(applied::var).reduce(applied::pair);
        let scope = vec![(x.clone(), tuple.unwrap_or_else(applied::unit))];
        let mut found = Found::new();
        let whole = Subterm { t: t.clone(), scope, printed, parameter: None };
        self.subterms(whole, (&parts, &variables), self.file, &mut found);
        if found.parts.len() as f64 > LARGEST {
            return Err(Refusal::TooLarge(found.parts.len() as f64));
        }
        let chosen = found.chosen(only)?;
        Ok((found.parts.len(), chosen.into_iter().map(|k| self.subterm(k, &found)).collect()))
    }

    /// `D(T)_1`
    fn primal_ty(&self, ty: &source::Ty) -> applied::Ty {
        match self.mode {
            Mode::Forward => AppliedForward::primal_ty(ty),
            Mode::Reverse => AppliedReverse::primal_ty(ty),
        }
    }

    /// The subterms in postorder, each once in a scope.
    fn subterms(
        &self,
        whole: Subterm,
        named: (&[source::Term], &[source::Var]),
        around: Span,
        found: &mut Found<Subterm>,
    ) -> usize {
        let place = whole.t.name().place().unwrap_or(around);
        let mut part = |t: &source::Term, scope: &Subterm| {
            self.subterms(Subterm { t: t.clone(), ..scope.clone() }, named, place, found)
        };
        let parameter = named.0.iter().position(|part| *part == whole.t);
        let parameter = parameter.map(|k| named.1[k].hint.to_string());
        let children = match whole.t.kind() {
            _ if parameter.is_some() => vec![],
            Kind::Lam(x, body) => vec![part(body, &self.below(&whole, x))],
            Kind::App(f, s) if let Kind::Lam(x, body) = f.kind() => {
                vec![part(s, &whole), part(body, &self.below(&whole, x))]
            }
            // The argument of an operation is the tuple of its arguments.
            Kind::Var(_)
            | Kind::Op(..)
            | Kind::Prim(..)
            | Kind::Unit
            | Kind::Pair(..)
            | Kind::Fst(_)
            | Kind::Snd(_)
            | Kind::App(..) => whole.t.children().into_iter().map(|t| part(t, &whole)).collect(),
            Kind::Own(never) => match *never {},
        };
        let (t, names) = (whole.t.clone(), whole.printed.clone());
        let whole = Subterm { parameter, ..whole };
        found.add(whole, children, place, |other| other.t == t && other.printed == names)
    }

    /// The scope below a binder.
    fn below(&self, outer: &Subterm, x: &source::Var) -> Subterm {
        let mut inside = outer.clone();
        let taken = |name: &str| outer.printed.iter().any(|y| *y.hint == *name);
        let numbered = (2..).map(|k| format!("{}{k}", x.hint));
        let mut names = std::iter::once(x.hint.to_string()).chain(numbered);
        let name = names.find(|name| !taken(name)).unwrap_or_default();
        let y = Var::fresh(&name, self.primal_ty(&x.ty));
        inside.scope.push((x.clone(), applied::var(&y)));
        inside.printed.push(y);
        inside
    }

    fn subterm(&self, k: usize, found: &Found<Subterm>) -> Step {
        let Subterm { t, scope, printed, parameter } = &found.parts[k];
        let atom = |part: &Subterm| match (part.t.kind(), &part.parameter) {
            (_, Some(name)) => Some(name.clone()),
            (Kind::Var(x), _) => {
                let known = part.scope.iter().find(|(y, _)| y == x);
                known.map(|(_, primal)| primal.to_string())
            }
            (Kind::Op(crate::op::Op::Const(_), _), _) => Some(part.t.to_string()),
            (_, _) => None,
        };
        let name = |k: usize| atom(&found.parts[k]).unwrap_or_else(|| format!("t{}", k + 1));
        let parts: Vec<String> = found.children[k].iter().map(|k| name(*k)).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let own = atom(&found.parts[k]);
        let binder = printed.last().map_or("x", |x| &x.hint);
        let inner = found.children[k].last().map(|k| &found.parts[*k].printed);
        let binder = inner.and_then(|names| names.last()).map_or(binder, |x| &x.hint);
        let general = clauses::shared(
            t,
            self.mode,
            (parameter.as_deref().or(own.as_deref()), "x"),
            &["t", "s"],
        );
        let special = clauses::shared(t, self.mode, (own.as_deref(), binder), &parts);
        let both = match self.mode {
            Mode::Forward => shared::forward_under(scope, t),
            Mode::Reverse => shared::reverse_under(scope, t),
        };
        let tidied = applied::tidy(&both);
        let component =
            Component { linear: None, ty: both.ty().to_string(), term: tidied.page(printed) };
        let rule = clauses::shared_rule(t, parameter.is_some());
        let step = self.step(k, found, (general, special), (rule, t.ty().to_string()));
        step.with(own.is_none(), printed.iter().map(variable).collect(), vec![component])
    }
}

impl Step {
    /// With its result; an atom needs no name, and no clause for its parts.
    fn with(self, compound: bool, context: Vec<Variable>, components: Vec<Component>) -> Step {
        let name = self.name.filter(|_| compound);
        let here = if compound { self.here } else { vec![] };
        Step { name, here, context, components, ..self }
    }
}
