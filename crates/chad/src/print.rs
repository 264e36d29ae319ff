//! Printing of terms. A term provides its notation ([`Look`]); this file adds parentheses, names of
//! variables, names for repeated subterms, and lines.
//!
//! The macros substitute: `s_2[t_1]` holds `t_1` in several places. A subterm that occurs more than
//! once, up to the names of bound variables ([`Classes`]), is written once, `let t = .. in`, as far
//! outside as its variables allow. At linear terms this is an abbreviation of the printer: the
//! language itself has one linear variable only.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use lambada_source::Doc;

use crate::op::{Op, infix};
use crate::var::{Name, Names};

/// Width of a page, in columns.
const WIDTH: usize = 100;

/// The least weight of a subterm with a name. Lighter ones, such as variables, are repeated.
const LIGHTEST_NAMED: usize = 4;

/// The weight of a construct without its parts: a computation is worth a name.
fn weight<T>(look: &Look<T>) -> usize {
    match look {
        Look::Prefix(..) => 0,
        Look::Word(_)
        | Look::Variable(_)
        | Look::Linear
        | Look::Angles(..)
        | Look::Singleton(_)
        | Look::Tensor(..) => 1,
        // A pair of linear functions computes nothing.
        Look::Call(name, ..) if name == "lpair" => 1,
        Look::Apply(..) | Look::Call(..) | Look::Braces(..) | Look::Infix(..) => 3,
        // `\_v. 0` and `\_v. v` stay where they are.
        Look::LinearLambda(_) => 2,
        Look::Lambda(..) | Look::Let(..) | Look::Case(..) => 3,
    }
}

/// A binder of a Cartesian variable.
#[derive(Clone, Debug)]
pub struct Binder {
    pub id: u32,
    pub hint: Rc<str>,
}

impl<T> From<&crate::var::Var<T>> for Binder {
    fn from(x: &crate::var::Var<T>) -> Binder {
        Binder { id: x.id, hint: x.hint.clone() }
    }
}

/// The variables of a context.
pub(crate) fn binders<T>(context: &[crate::var::Var<T>]) -> Vec<Binder> {
    context.iter().map(Binder::from).collect()
}

/// The notation of a term. The parts are terms.
pub enum Look<T> {
    /// `lid`, `0`, `<>`, a constant
    Word(String),
    /// `x`
    Variable(Binder),
    /// `v`, the linear variable in scope
    Linear,
    /// `fst t`
    Prefix(&'static str, T),
    /// `t s`
    Apply(T, T),
    /// `op(t)`, `lop(t; l)`, `lpair(t, s)`
    Call(String, Vec<T>, &'static str),
    /// `<t, s>`
    Angles(T, T),
    /// `t{l}`
    Braces(T, T),
    /// `{(t,-)}`
    Singleton(T),
    /// `t + s`: how tightly it binds, and its operands
    Infix(u8, [(T, u8); 2], &'static str),
    /// `!t (x) l`
    Tensor(T, T),
    /// `\x. t`
    Lambda(Binder, T),
    /// `\_v. l`
    LinearLambda(T),
    /// `let x = t in s`, which is the call of `\x. s`, the last part
    Let(Binder, T, T, T),
    /// `case l of !y (x) w -> k`
    Case(T, Binder, T),
}

/// `op(t)`, `a + b`, `c`; `pair` has the components of `t`, if `t` is a pair.
pub(crate) fn operation<T>(op: &Op, t: T, pair: Option<[T; 2]>) -> Look<T> {
    match (op, pair) {
        (Op::Const(_), _) => Look::Word(op.to_string()),
        (Op::Each(prim, _), Some([a, b])) if let Some(symbol) = infix(*prim) => match symbol {
            "+" | "-" => Look::Infix(level::SUM, [(a, level::SUM), (b, level::THEN)], symbol),
            "*" | "/" => Look::Infix(level::THEN, [(a, level::THEN), (b, level::APPLY)], symbol),
            _ => Look::Infix(level::OPEN, [(a, level::ATOM), (b, level::ATOM)], symbol),
        },
        _ => Look::Call(op.to_string(), vec![t], ","),
    }
}

/// How tightly constructs bind, from the loosest.
pub(crate) mod level {
    /// λ, `let`, `case`, operations between their arguments.
    pub const OPEN: u8 = 0;
    /// `+`
    pub const SUM: u8 = 1;
    /// `;`, `;;`, `*`, `(x)`
    pub const THEN: u8 = 2;
    /// Application.
    pub const APPLY: u8 = 3;
    /// An argument.
    pub const ATOM: u8 = 4;
}

/// Something that can be written.
pub(crate) trait Written: Clone {
    /// The identity of the node in memory.
    fn node(&self) -> usize;
    /// Its notation.
    fn look(&self) -> Look<Self>;
    /// Its type: terms may look the same, as `\y. x` does for every type of `y`, and be different.
    fn typing(&self) -> String;
    /// The program's name for its value.
    fn name(&self) -> Name;
}

/// On one line, nothing named.
pub(crate) fn line<T: Written>(t: &T) -> String {
    let shared = Shared::default();
    Page { shared: &shared, lets: true }.scope(t, &Context::within(t, 0, &[])).render(usize::MAX)
}

/// In lines, nothing named.
pub(crate) fn lines<T: Written>(t: &T) -> String {
    let shared = Shared::default();
    Page { shared: &shared, lets: true }.scope(t, &Context::within(t, 0, &[])).render(WIDTH)
}

/// In lines, with names for subterms that occur more than once, under the variables of a context.
pub(crate) fn page<T: Written>(t: &T, context: &[Binder]) -> String {
    let shared = Shared::of(t);
    let context = Context::within(t, t.node(), context);
    Page { shared: &shared, lets: false }.scope(t, &context).render(WIDTH)
}

/// The name of the linear variable in a page under these variables.
pub(crate) fn linear_name<T>(context: &[crate::var::Var<T>]) -> String {
    let mut names = Names::default();
    for x in context {
        names.introduce(x.id, &x.hint);
    }
    names.choose(LINEAR)
}

/// The linear variable.
const LINEAR: &str = "v";

/// A class of equal terms, and the body of the linear variable's binder, or 0 without one.
type Key = (usize, usize);

/// Subterms that are written once, by the bodies of binders that name them.
struct Shared<T> {
    named: HashMap<usize, Vec<(Key, T)>>,
    /// The program's names for some of them.
    names: HashMap<Key, Name>,
    mentions: HashMap<usize, Rc<Mentions>>,
    classes: Classes,
}

impl<T> Default for Shared<T> {
    fn default() -> Shared<T> {
        Shared {
            named: HashMap::new(),
            names: HashMap::new(),
            mentions: HashMap::new(),
            classes: Classes::default(),
        }
    }
}

/// Hash consing up to the names of bound variables: terms are equal if they have the same class.
///
/// A variable that is bound inside of the term is identified by the height of its binder, that is,
/// the depth of the binders nested below it: copies have it in common. A free variable is
/// identified by its identifier. So the class of a term depends on the set of its variables that
/// are bound inside: `inside` below, restricted to the variables that the term mentions.
#[derive(Default)]
struct Classes {
    heights: HashMap<usize, usize>,
    known: HashMap<(usize, Vec<u32>), usize>,
    table: HashMap<(String, Vec<usize>), usize>,
    /// By variable: the height of its binder.
    binders: HashMap<u32, usize>,
}

/// The free variables of a term, and its weight when nothing in it is named.
struct Mentions {
    variables: BTreeSet<u32>,
    linear: bool,
    weight: usize,
}

/// A part, with the binders between it and the whole: of a Cartesian variable, of the linear one.
struct Subterm<T> {
    part: T,
    binder: Option<u32>,
    linear: bool,
}

/// In a page, a call of a λ prints as a call, because the function may have a name.
fn called<T>(look: Look<T>) -> Look<T> {
    if let Look::Let(_, t, _, f) = look { Look::Apply(f, t) } else { look }
}

fn parts<T>(look: Look<T>) -> Vec<Subterm<T>> {
    let plain = |part: T| Subterm { part, binder: None, linear: false };
    let below = |x: Binder, part: T| Subterm { part, binder: Some(x.id), linear: false };
    match look {
        Look::Word(_) | Look::Variable(_) | Look::Linear => vec![],
        Look::Prefix(_, t) | Look::Singleton(t) => vec![plain(t)],
        Look::Apply(t, s) | Look::Angles(t, s) | Look::Braces(t, s) | Look::Tensor(t, s) => {
            vec![plain(t), plain(s)]
        }
        Look::Call(_, items, _) => items.into_iter().map(plain).collect(),
        Look::Infix(_, [(t, _), (s, _)], _) => vec![plain(t), plain(s)],
        Look::Lambda(x, t) => vec![below(x, t)],
        Look::LinearLambda(l) => vec![Subterm { part: l, binder: None, linear: true }],
        Look::Let(x, t, s, _) => vec![plain(t), below(x, s)],
        Look::Case(l, y, k) => {
            vec![plain(l), Subterm { part: k, binder: Some(y.id), linear: true }]
        }
    }
}

/// The free variables of a term, each once, in the order of their identifiers; and the names of its
/// variables and, in the program, of its parts.
fn variables<T: Written>(t: &T) -> (Vec<Binder>, HashSet<String>) {
    let (mut seen, mut bound, mut variables) = (BTreeSet::new(), BTreeSet::new(), BTreeMap::new());
    let mut hints = HashSet::new();
    let mut rest = vec![t.clone()];
    while let Some(t) = rest.pop() {
        if !seen.insert(t.node()) {
            continue;
        }
        hints.extend(t.name().get().map(|name| name.to_string()));
        let look = t.look();
        if let Look::Variable(x) = &look {
            hints.insert(x.hint.to_string());
            variables.insert(x.id, x.clone());
        }
        for Subterm { part, binder, .. } in parts(look) {
            bound.extend(binder);
            rest.push(part);
        }
    }
    // A variable is bound once in a term, so nothing that is bound anywhere is free elsewhere.
    (variables.into_values().filter(|x| !bound.contains(&x.id)).collect(), hints)
}

/// Whether the term mentions the linear variable in scope.
fn is_linear<T: Written>(t: &T, known: &mut HashMap<usize, bool>) -> bool {
    if let Some(known) = known.get(&t.node()) {
        return *known;
    }
    let look = t.look();
    let found = matches!(look, Look::Linear)
        || parts(look).iter().any(|part| !part.linear && is_linear(&part.part, known));
    known.insert(t.node(), found);
    found
}

/// The traversal that finds subterms that occur more than once.
struct Search<T> {
    shared: Shared<T>,
    counts: HashMap<Key, usize>,
    /// Every node once, parts before wholes, with the body in which it can be named.
    order: Vec<(Key, T, usize)>,
    /// The bodies around: each with the Cartesian variable that is bound there.
    bodies: Vec<(usize, Option<u32>)>,
}

impl<T: Written> Shared<T> {
    fn of(t: &T) -> Shared<T> {
        let mut search = Search {
            shared: Shared::default(),
            counts: HashMap::new(),
            order: vec![],
            bodies: vec![(t.node(), None)],
        };
        search.visit(t, t.node());
        let Search { mut shared, counts, order, .. } = search;
        for (key, t, body) in order {
            let whole = t.node() == body;
            if counts[&key] > 1 && !whole && shared.mentions[&t.node()].weight >= LIGHTEST_NAMED {
                shared.named.entry(body).or_default().push((key, t));
            }
        }
        let named = std::mem::take(&mut shared.named);
        for (body, items) in named {
            let items = shared.functions_first(items);
            shared.named.insert(body, items);
        }
        shared
    }

    /// Functions before other terms, unless they mention one of these.
    fn functions_first(&self, items: Vec<(Key, T)>) -> Vec<(Key, T)> {
        let (mut functions, mut others) = (Vec::new(), Vec::new());
        let mut waiting = HashSet::new();
        for (key, t) in items {
            let is_function = matches!(t.look(), Look::Lambda(..) | Look::LinearLambda(_));
            if is_function && !self.contains(&t, &waiting) {
                functions.push((key, t));
            } else {
                waiting.insert(key.0);
                others.push((key, t));
            }
        }
        functions.extend(others);
        functions
    }

    /// Whether a part of the term is of one of these classes.
    fn contains(&self, t: &T, classes: &HashSet<usize>) -> bool {
        let (mut seen, mut rest) = (HashSet::new(), vec![t.clone()]);
        while let Some(t) = rest.pop() {
            if classes.contains(&self.key(&t, 0).0) {
                return true;
            }
            if seen.insert(t.node()) {
                rest.extend(parts(called(t.look())).into_iter().map(|part| part.part));
            }
        }
        false
    }

    fn mentions(&mut self, t: &T) -> Rc<Mentions> {
        if let Some(found) = self.mentions.get(&t.node()) {
            return found.clone();
        }
        let look = called(t.look());
        let mut all = Mentions {
            variables: BTreeSet::new(),
            linear: matches!(look, Look::Linear),
            weight: weight(&look),
        };
        if let Look::Variable(x) = &look {
            all.variables.insert(x.id);
        }
        for Subterm { part, binder, linear } in parts(look) {
            let inside = self.mentions(&part);
            all.variables.extend(inside.variables.iter().filter(|x| Some(**x) != binder));
            all.linear |= inside.linear && !linear;
            all.weight = all.weight.saturating_add(inside.weight);
        }
        let all = Rc::new(all);
        self.mentions.insert(t.node(), all.clone());
        all
    }

    fn key(&self, t: &T, linear_body: usize) -> Key {
        let linear = self.mentions.get(&t.node()).is_some_and(|found| found.linear);
        let class = self.classes.known.get(&(t.node(), Vec::new())).copied().unwrap_or(0);
        (class, if linear { linear_body } else { 0 })
    }

    /// How deeply binders of Cartesian variables are nested in a term.
    fn height(&mut self, t: &T) -> usize {
        if let Some(known) = self.classes.heights.get(&t.node()) {
            return *known;
        }
        let mut height = 0;
        for Subterm { part, binder, .. } in parts(called(t.look())) {
            let mut inside = self.height(&part);
            if let Some(x) = binder {
                inside += 1;
                self.classes.binders.insert(x, inside);
            }
            height = height.max(inside);
        }
        self.classes.heights.insert(t.node(), height);
        height
    }

    /// The class of a term; the compared term binds the variables `inside`, in order, around it.
    fn class(&mut self, t: &T, inside: &[u32]) -> usize {
        let mentions = self.mentions(t);
        let inside: Vec<u32> =
            inside.iter().copied().filter(|x| mentions.variables.contains(x)).collect();
        if let Some(known) = self.classes.known.get(&(t.node(), inside.clone())) {
            return *known;
        }
        self.height(t);
        let look = called(t.look());
        let head = match &look {
            Look::Variable(x) if inside.contains(&x.id) => {
                format!("bound {}", self.classes.binders[&x.id])
            }
            look => head(look, t),
        };
        let mut below = Vec::new();
        for Subterm { part, binder, .. } in parts(look) {
            let mut inside = inside.clone();
            inside.extend(binder);
            below.push(self.class(&part, &inside));
        }
        // 0 stands for no class.
        let next = self.classes.table.len() + 1;
        let class = *self.classes.table.entry((head, below)).or_insert(next);
        self.classes.known.insert((t.node(), inside), class);
        class
    }
}

/// A key of a construct without its parts, with the type where the parts do not determine it.
fn head<T: Written>(look: &Look<T>, t: &T) -> String {
    match look {
        Look::Word(word) => format!("word {word} : {}", t.typing()),
        Look::Variable(x) => format!("free {}", x.id),
        Look::Linear => format!("linear : {}", t.typing()),
        Look::Prefix(name, _) => format!("prefix {name}"),
        Look::Apply(..) => "apply".into(),
        Look::Call(name, _, separator) => format!("call {name} {separator}"),
        Look::Angles(..) => "angles".into(),
        Look::Braces(..) => "braces".into(),
        Look::Singleton(_) => "singleton".into(),
        Look::Infix(_, _, symbol) => format!("infix {symbol}"),
        Look::Tensor(..) => "tensor".into(),
        Look::Lambda(..) => format!("lambda : {}", t.typing()),
        Look::LinearLambda(_) => format!("linear lambda : {}", t.typing()),
        Look::Let(..) => "let".into(),
        Look::Case(..) => "case".into(),
    }
}

impl<T: Written> Search<T> {
    fn visit(&mut self, t: &T, linear_body: usize) {
        let mentions = self.shared.mentions(t);
        self.shared.class(t, &[]);
        let key = self.shared.key(t, linear_body);
        let name = self.shared.names.entry(key).or_default();
        *name = name.or(&t.name());
        let count = self.counts.entry(key).or_insert(0);
        *count += 1;
        if *count > 1 {
            return;
        }
        for Subterm { part, binder, linear } in parts(called(t.look())) {
            if binder.is_none() && !linear {
                self.visit(&part, linear_body);
            } else {
                self.bodies.push((part.node(), binder));
                self.visit(&part, if linear { part.node() } else { linear_body });
                self.bodies.pop();
            }
        }
        let bound_in = |(body, x): &(usize, Option<u32>)| {
            x.is_some_and(|x| mentions.variables.contains(&x))
                || (mentions.linear && *body == linear_body)
        };
        let innermost = self.bodies.iter().rfind(|body| bound_in(body));
        let body = innermost.unwrap_or(&self.bodies[0]).0;
        self.order.push((key, t.clone(), body));
    }
}

/// Where a term is written: the names in scope.
#[derive(Clone)]
struct Context {
    names: Names,
    linear: String,
    linear_body: usize,
    given: HashMap<Key, String>,
}

impl Context {
    /// For a whole term under variables: the names of these and of its other free variables are
    /// taken.
    fn within<T: Written>(t: &T, body: usize, context: &[Binder]) -> Context {
        let (others, hints) = variables(t);
        let mut names = Names::of(hints);
        let others = others.iter().filter(|x| context.iter().all(|y| x.id != y.id));
        for x in context.iter().chain(others) {
            names.introduce(x.id, &x.hint);
        }
        let linear =
            if is_linear(t, &mut HashMap::new()) { names.choose(LINEAR) } else { String::new() };
        Context { names, linear, linear_body: body, given: HashMap::new() }
    }

    fn bind(&self, x: &Binder) -> (Context, String) {
        let mut inside = self.clone();
        let name = inside.names.introduce(x.id, &x.hint);
        (inside, name)
    }

    fn bind_linear(&self, hint: &str, body: usize) -> (Context, String) {
        let mut inside = self.clone();
        inside.linear = inside.names.invent(hint);
        inside.linear_body = body;
        let name = inside.linear.clone();
        (inside, name)
    }
}

fn text(text: impl Into<String>) -> Doc {
    Doc::text(text)
}

fn parens(needed: bool, doc: Doc) -> Doc {
    if needed { text("(") + doc.nest(1) + text(")") } else { doc }
}

struct Page<'a, T> {
    shared: &'a Shared<T>,
    lets: bool,
}

impl<T: Written> Page<'_, T> {
    /// The body of a binder, or a whole term, after the `let`s for its named subterms.
    fn scope(&self, t: &T, context: &Context) -> Doc {
        let mut inside = context.clone();
        let mut lets = Vec::new();
        for (key, part) in self.shared.named.get(&t.node()).into_iter().flatten() {
            let name = match (self.shared.names.get(key).and_then(Name::get), key.1, part.look()) {
                (Some(name), ..) => inside.names.choose(name),
                (None, 0, Look::Lambda(..) | Look::LinearLambda(_)) => inside.names.invent("f"),
                (None, 0, _) => inside.names.invent("t"),
                (None, ..) => inside.names.invent("w"),
            };
            let definition = self.construct(part, level::OPEN, &inside);
            lets.extend([
                text(format!("let {name} ="))
                    + (Doc::line() + definition + text(" in")).nest(2).group(),
                Doc::hard_line(),
            ]);
            inside.given.insert(*key, name);
        }
        let body = self.doc(t, level::OPEN, &inside);
        Doc::concat(lets) + body
    }

    fn doc(&self, t: &T, level: u8, context: &Context) -> Doc {
        match context.given.get(&self.shared.key(t, context.linear_body)) {
            Some(name) => text(name),
            None => self.construct(t, level, context),
        }
    }

    fn construct(&self, t: &T, level: u8, context: &Context) -> Doc {
        let go = |t: &T, level: u8| self.doc(t, level, context);
        match if self.lets { t.look() } else { called(t.look()) } {
            Look::Word(word) => text(word),
            Look::Variable(x) => text(context.names.name(x.id, &x.hint)),
            Look::Linear => text(&context.linear),
            Look::Prefix(name, t) => {
                parens(level > level::APPLY, text(format!("{name} ")) + go(&t, level::ATOM))
            }
            Look::Apply(t, s) => {
                let both = go(&t, level::APPLY) + (Doc::line() + go(&s, level::ATOM)).nest(2);
                parens(level > level::APPLY, both.group())
            }
            Look::Call(name, items, separator) => {
                let inner = Doc::join(
                    &(text(separator) + Doc::line()),
                    items.iter().map(|item| go(item, level::OPEN)),
                );
                (text(format!("{name}(")) + (Doc::soft_line() + inner).nest(2) + text(")")).group()
            }
            Look::Angles(t, s) => {
                let inner = go(&t, level::OPEN) + text(",") + Doc::line() + go(&s, level::OPEN);
                (text("<") + inner.nest(1) + text(">")).group()
            }
            Look::Braces(t, l) => {
                go(&t, level::ATOM) + text("{") + go(&l, level::OPEN).nest(2) + text("}")
            }
            Look::Singleton(t) => text("{(") + go(&t, level::OPEN).nest(2) + text(",-)}"),
            Look::Infix(own, [(t, left), (s, right)], symbol) => {
                let between = match symbol {
                    ";" => text(";") + Doc::line(),
                    ";;" => text(";;") + Doc::soft_line(),
                    _ => Doc::line() + text(format!("{symbol} ")),
                };
                parens(level > own, (go(&t, left) + between + go(&s, right)).group())
            }
            Look::Tensor(t, l) => {
                let both = text("!")
                    + go(&t, level::ATOM)
                    + Doc::line()
                    + text("(x) ")
                    + go(&l, level::APPLY);
                parens(level > level::THEN, both.group())
            }
            look @ (Look::Lambda(..) | Look::LinearLambda(_) | Look::Let(..) | Look::Case(..)) => {
                parens(level > level::OPEN, self.binder(look, context))
            }
        }
    }

    fn binder(&self, look: Look<T>, context: &Context) -> Doc {
        let under = |head: String, body: Doc| (text(head) + (Doc::line() + body).nest(2)).group();
        match look {
            Look::Lambda(x, t) => {
                let (inside, x) = context.bind(&x);
                under(format!("\\{x}."), self.scope(&t, &inside))
            }
            Look::LinearLambda(l) => {
                let (inside, v) = context.bind_linear("v", l.node());
                under(format!("\\_{v}."), self.scope(&l, &inside))
            }
            Look::Let(x, t, s, _) => {
                let (inside, x) = context.bind(&x);
                let head =
                    under(format!("let {x} ="), self.doc(&t, level::OPEN, context) + text(" in"));
                (head + Doc::line() + self.scope(&s, &inside)).group()
            }
            Look::Case(l, y, k) => {
                let (inside, y) = context.bind(&y);
                let (inside, w) = inside.bind_linear("w", k.node());
                let head = text("case ")
                    + self.doc(&l, level::OPEN, context).nest(2)
                    + text(format!(" of !{y} (x) {w} ->"));
                (head + (Doc::line() + self.scope(&k, &inside)).nest(2)).group()
            }
            Look::Word(_)
            | Look::Variable(_)
            | Look::Linear
            | Look::Prefix(..)
            | Look::Apply(..)
            | Look::Call(..) => Doc::nil(),
            Look::Angles(..)
            | Look::Braces(..)
            | Look::Singleton(_)
            | Look::Infix(..)
            | Look::Tensor(..) => Doc::nil(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;
    use crate::lambda::{Node, Source};
    use crate::source::{Term, abs, normalize, pair};

    fn normal(t: &Node<Source>) -> Term {
        match t {
            Node::Term(t) => normalize(t),
            Node::Lin(never) => match *never {},
        }
    }

    fn subterms(t: &Node<Source>, all: &mut Vec<Node<Source>>) {
        all.push(t.clone());
        parts(called(t.look())).iter().for_each(|part| subterms(&part.part, all));
    }

    /// A wrong class would write one term where another stands.
    #[test]
    fn terms_of_one_class_are_equal() {
        let mut compared = 0;
        for seed in 0..300 {
            let (x, t) = Generator::new(seed).program();
            let (y, s) = Generator::new(seed).program();
            let both = Node::Term(pair(abs(x, t), abs(y, s)));
            let (mut shared, mut all) = (Shared::default(), Vec::new());
            subterms(&both, &mut all);
            let mut by_class: HashMap<usize, Node<Source>> = HashMap::new();
            for t in all.iter().take(400) {
                let first =
                    by_class.entry(shared.class(t, &[])).or_insert_with(|| t.clone()).clone();
                if first.node() != t.node() {
                    compared += 1;
                    assert_eq!(normal(&first), normal(t), "{}\n{}", line(&first), line(t));
                }
            }
        }
        assert!(compared > 1000, "{compared}");
    }

    /// A copy with other bound variables is written once.
    #[test]
    fn copies_are_of_one_class() {
        for seed in 0..300 {
            let (x, t) = Generator::new(seed).program();
            let (y, s) = Generator::new(seed).program();
            let (f, g) = (Node::Term(abs(x, t)), Node::Term(abs(y, s)));
            let mut shared = Shared::default();
            let classes = [shared.class(&f, &[]), shared.class(&g, &[])];
            assert_eq!(classes[0], classes[1], "{}\n{}", line(&f), line(&g));
        }
    }
}
