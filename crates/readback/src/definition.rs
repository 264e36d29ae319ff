//! A function as a definition: its head, names of its results, and comments on its phases.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use lambada_anf::{
    Atom, Block, Exp, FnId, Function, NAMELESS, Nest, Op, Param, Role, Stm, Ty, Var, identifier,
};
use lambada_source::Span;
use lambada_surface::ast::{self, Def, Expr, ExprKind, TypeExpr, TypeKind};
use lambada_surface::build;
use lambada_surface::visit::children_mut;

use crate::checking::with_shown_values;
use crate::distributed::distribute;
use crate::fors::Fors;
use crate::interface::{Interface, Leaf, Reading};
use crate::lines::Line;
use crate::name_table::{Handles, NameTable};
use crate::names::Tokens;
use crate::phases::{self, Comment};
use crate::pieces::size_of;
use crate::printer::Printer;
use crate::reading::Each;
use crate::separate::separate;
use crate::unused::drop_unused;
use crate::uses::Uses;

/// Number of statements from which a definition gets comments; shorter ones are read at a glance.
const AT_A_GLANCE: usize = 12;

/// The function as a definition with the given interface. It must call no functions.
pub fn definition(function: &Function, interface: &Interface) -> Def {
    let mut function = function.clone();
    separate(&mut function);
    distribute(&mut function);
    definition_in(&function, interface, &NameTable::default(), 0)
}

/// A function of the library as a definition.
pub(crate) fn function_in(function: &Function, table: &NameTable, id: FnId) -> Def {
    let function = &with_sizes_of_its_own(function);
    let names = param_names(function);
    let size = |atom: Atom| names.get(&atom.as_var()?).map(|name| build::var(name.clone()));
    let result = |ty: &Ty| table.ty(ty, &size);
    // A size that is no parameter has no name in the head. Then inference finds the result type,
    // because recursive calls may return another size.
    let known = |ty: &Ty| ty.dims.iter().all(|dim| dim.as_var().is_none() || size(*dim).is_some());
    let known = function.results.iter().all(known);
    let compose = |results: Vec<Expr>| build::tuple(results);
    let params = function.params.iter();
    let interface = Interface {
        name: table.function(id),
        doc: None,
        sizes: function.sizes.iter().map(|size| names[size].clone()).collect(),
        params: params.map(|p| (names[&p.var].clone(), table.ty(&p.ty, &size))).collect(),
        leaves: (0..function.params.len())
            .map(|param| Leaf { param, reading: Reading::Whole })
            .collect(),
        result: known.then(|| build::tuple_ty(function.results.iter().map(result).collect())),
        results: Vec::new(),
        linear: true,
        compose: &compose,
        seeds: Vec::new(),
        types: Vec::new(),
        place: &|_| None,
    };
    let mut def = definition_in(function, &interface, table, id.0 as usize);
    def.recursive = table.library.circles(vec![id]).recursive.contains(&id);
    def
}

/// A function that others are given, with the sizes that its arrays tell in brackets, and without
/// those of its result: calls in the text do not mention them.
fn with_sizes_of_its_own(function: &Function) -> Function {
    let mut function = function.clone();
    let Some(known) = function.known.as_ref().filter(|known| known.is_defined()) else {
        return function;
    };
    let is_told = |role: &Role| matches!(role, Role::Component(_));
    let told: Vec<bool> = known.results.iter().map(is_told).collect();
    function.results = kept(&function.results, &told);
    function.body.results = kept(&function.body.results, &told);
    let is_size = |p: &Param| function.params.iter().any(|q| q.ty.dims.contains(&p.var.into()));
    let roles = known.params.iter().zip(&function.params);
    let is_param: Vec<bool> =
        roles.map(|(role, p)| *role != Role::Implicit || !is_size(p)).collect();
    let sizes = function.params.iter().zip(&is_param).filter(|(_, is_param)| !**is_param);
    function.sizes = sizes.map(|(p, _)| p.var).collect();
    function.params = kept(&function.params, &is_param);
    function
}

fn kept<T: Clone>(items: &[T], keep: &[bool]) -> Vec<T> {
    items.iter().zip(keep).filter(|(_, keep)| **keep).map(|(item, _)| item.clone()).collect()
}

/// The size of an axis in the text of a type, if it has one.
fn written_size(ty: &TypeExpr, axis: usize) -> Option<Expr> {
    match &ty.kind {
        TypeKind::Array(size, _) if axis == 0 => size.as_deref().cloned(),
        TypeKind::Array(_, elem) => written_size(elem, axis - 1),
        _ => None,
    }
}

/// A size of the head, as an expression of the body.
fn in_scope(mut size: Expr, interface: &Interface, params: &[ast::Param]) -> Option<Expr> {
    if let ExprKind::Var(name) = &size.kind {
        let param = interface.params.iter().position(|(known, _)| known == name);
        return match param.map(|k| &params[k].pattern.kind) {
            Some(ast::PatternKind::Var(token)) => Some(build::var(token.clone())),
            Some(_) => None,
            None => interface.sizes.contains(name).then_some(size),
        };
    }
    let mut is_known = true;
    children_mut(&mut size, &mut |child| {
        let inner = std::mem::replace(child, build::int(0));
        match in_scope(inner, interface, params) {
            Some(inner) => *child = inner,
            None => is_known = false,
        }
    });
    is_known.then_some(size)
}

/// Distinct names of the parameters: types mention sizes by these names.
fn param_names(function: &Function) -> HashMap<Var, Rc<str>> {
    let mut taken: HashSet<String> = HashSet::new();
    let name = |var: Var| {
        let hint = identifier(&function.names.hint(var)).to_string();
        let numbered = (1..).map(|k| format!("{hint}{k}"));
        let name = std::iter::once(hint.clone()).chain(numbered).find(|n| !taken.contains(n));
        let name = name.expect("there are more numbers than parameters");
        taken.insert(name.clone());
        (var, name.into())
    };
    function.sizes.iter().copied().chain(function.params.iter().map(|p| p.var)).map(name).collect()
}

/// The function as a definition, in a program with this library. `at`: its index in the library.
pub(crate) fn definition_in(
    function: &Function,
    interface: &Interface,
    table: &NameTable,
    at: usize,
) -> Def {
    let function = &with_shown_values(function);
    // A size that only the text needs gets a name, so the text is printed anew until it needs no
    // further one.
    let mut sizes = HashSet::new();
    loop {
        let (def, asked) = written(function, interface, table, at, &sizes);
        if asked.is_subset(&sizes) {
            return def;
        }
        sizes.extend(asked);
    }
}

/// The definition, and the variables that it mentions without a name. `named`: variables that must
/// get one.
fn written(
    function: &Function,
    interface: &Interface,
    table: &NameTable,
    at: usize,
    named: &HashSet<Var>,
) -> (Def, HashSet<Var>) {
    let locals = table.locals(at);
    let functions = || std::iter::once(function).chain(locals.iter().map(|l| &l.function));
    let fors = Fors::of(functions());
    let mut printer = Printer {
        table,
        locals,
        local_names: HashMap::new(),
        open: Vec::new(),
        handles: Handles::default(),
        names: &function.names,
        tokens: Tokens::new(&function.names),
        uses: Uses::new(functions().map(|f| &f.body), named, &table.silent, &fors),
        fors,
        inline: table.nulls(at),
        exported: HashSet::new(),
        ints: HashSet::new(),
        leaving: HashSet::new(),
        comments: Vec::new(),
        own: function.names.len() as u32,
        next: function.names.len() as u32,
    };
    if !interface.linear {
        printer.exported.extend(function.body.results.iter().filter_map(|a| a.as_var()));
    }
    let params = functions().flat_map(|f| &f.params);
    printer.handles.types.extend(params.filter_map(|p| Some((p.var, p.ty.elem.node()?))));
    let (sizes, declared) = printer.sizes(function, interface);
    let (params, mut lines) = printer.params(function, interface, &declared);
    printer.name_results(function, interface);
    let seeds: HashSet<Var> = leaves_of(function, interface, &interface.seeds).collect();
    let (body, forward) = phases::sweeps(&function.body, &seeds);
    printer.comment(&body, forward, interface);
    lines.extend(printer.lines(&body, &body.results, true));
    let results: Vec<Expr> = body.results.iter().map(|a| printer.decided(*a)).collect();
    let whole = (interface.compose)(results);
    let body = printer.finish_with(lines, &body.results, whole);
    let mut def = Def {
        doc: interface.doc.clone(),
        recursive: false,
        name: build::name(interface.name.clone()),
        sizes,
        params,
        result: interface.result.clone(),
        body,
        rules: Vec::new(),
        span: Span::default(),
    };
    let asked = printer.tokens.asked();
    drop_unused(&mut def, &table.shows());
    printer.tokens.settle(&mut def);
    (def, asked)
}

/// The parameters of the function that are parts of these parameters of the definition.
fn leaves_of<'f>(
    function: &'f Function,
    interface: &'f Interface,
    params: &'f [usize],
) -> impl Iterator<Item = Var> + 'f {
    let leaves = function.params.iter().zip(&interface.leaves);
    leaves.filter(|(_, leaf)| params.contains(&leaf.param)).map(|(p, _)| p.var)
}

impl Printer<'_> {
    /// Names and variables of the sizes in brackets. A size that no type distinguishes from others
    /// of its name is computed from a parameter instead.
    fn sizes(
        &mut self,
        function: &Function,
        interface: &Interface,
    ) -> (Vec<ast::Name>, HashSet<Var>) {
        let (mut names, mut declared) = (Vec::new(), HashSet::new());
        for size in &interface.sizes {
            let of_type = size_in_types(function, interface, size);
            let mut called =
                function.sizes.iter().copied().filter(|var| self.tokens.hint(*var) == *size);
            let only = called.next().filter(|_| called.next().is_none());
            if let Some(var) = of_type.or(only).filter(|var| declared.insert(*var)) {
                self.tokens.fix(var, size);
            }
            names.push(build::name(size.clone()));
        }
        (names, declared)
    }

    /// The parameters, and lines that name their parts and sizes.
    fn params(
        &mut self,
        function: &Function,
        interface: &Interface,
        declared: &HashSet<Var>,
    ) -> (Vec<ast::Param>, Vec<Line>) {
        let leaves: Vec<_> = function.params.iter().zip(&interface.leaves).collect();
        let mut params = Vec::new();
        for (k, (name, ty)) in interface.params.iter().enumerate() {
            let whole = leaves
                .iter()
                .find(|(_, leaf)| leaf.param == k && matches!(leaf.reading, Reading::Whole));
            let name = match whole {
                Some((p, _)) => self.tokens.bind_as(p.var, name),
                None => self.tokens.fresh(name),
            };
            let pattern = build::binds(name);
            params.push(ast::Param { pattern, ty: Some(ty.clone()) });
        }
        let mut lines = Vec::new();
        for (p, leaf) in &leaves {
            let base = build::expr(match &params[leaf.param].pattern.kind {
                ast::PatternKind::Var(name) => ExprKind::Var(name.clone()),
                _ => unreachable!("made above"),
            });
            match &leaf.reading {
                Reading::Whole => {}
                Reading::Path(of) => _ = self.inline.insert(p.var, of(base)),
                Reading::Computed(hint, of)
                    if self.uses.any(p.var) || mentions_size(function, p) =>
                {
                    let name = self.tokens.bind_as(p.var, hint);
                    lines.push(Line::named(&name, of(base), Some(p.var)));
                }
                Reading::Computed(..) => {}
            }
        }
        let computed: Vec<Var> = function
            .sizes
            .iter()
            .filter(|var| self.uses.any(**var) && !declared.contains(var))
            .copied()
            .collect();
        for size in computed {
            let found = function.params.iter().find_map(|p| {
                let axis = p.ty.dims.iter().position(|d| *d == Atom::Var(size))?;
                Some((p, axis))
            });
            let (p, axis) = found.expect("every size is the size of a parameter");
            let leaf = leaves.iter().find(|(q, _)| q.var == p.var).map(|(_, leaf)| *leaf);
            let leaf = leaf.filter(|leaf| matches!(leaf.reading, Reading::Whole));
            let elem = self.table.elem(p.ty.elem);
            let value = leaf
                .and_then(|leaf| written_size(&interface.params[leaf.param].1, axis))
                .and_then(|size| in_scope(size, interface, &params))
                .unwrap_or_else(|| size_of(self.atom(p.var.into()), axis, (elem, p.ty.rank())));
            let name = self.tokens.bind(size);
            lines.push(Line::named(&name, value, Some(size)));
        }
        (params, lines)
    }

    /// Gives the results their names from the interface, and also the values that become results.
    fn name_results(&mut self, function: &Function, interface: &Interface) {
        let inputs: HashSet<Var> = function.params.iter().map(|p| p.var).collect();
        let mut named = inputs;
        named.extend(&function.sizes);
        for (atom, name) in function.body.results.iter().zip(&interface.results) {
            if let Atom::Var(var) = atom {
                self.name_after(&function.body, *var, name, &mut named);
            }
        }
    }

    fn name_after(&mut self, block: &Block, var: Var, name: &Rc<str>, named: &mut HashSet<Var>) {
        if !named.insert(var) {
            return;
        }
        let Some((stm, k)) = block
            .stms
            .iter()
            .find_map(|stm| stm.binds.iter().position(|p| p.var == var).map(|k| (stm, k)))
        else {
            return;
        };
        self.tokens.rename(var, name.clone());
        match &stm.exp {
            // The author's names of the state are kept.
            Exp::Nest(Nest::Loop { params, body, .. }) => {
                if &*self.tokens.hint(params[k].var) == NAMELESS {
                    self.tokens.rename(params[k].var, name.clone());
                    if let Atom::Var(next) = body.results[k] {
                        self.name_after(body, next, name, named);
                    }
                }
            }
            Exp::Nest(Nest::If { then, otherwise, .. }) => {
                for branch in [then, otherwise] {
                    if let Atom::Var(value) = branch.results[k] {
                        self.name_after(branch, value, name, named);
                    }
                }
            }
            Exp::Op(Op::Freeze(acc)) => self.tokens.rename(*acc, name.clone()),
            Exp::Op(_) | Exp::Nest(Nest::For { .. }) => {}
        }
    }

    /// Comments that announce sweeps and loops. `forward`: number of statements in the forward
    /// sweep.
    fn comment(&mut self, body: &Block, forward: usize, interface: &Interface) {
        if interface.seeds.is_empty() || self.count(body) < AT_A_GLANCE {
            return;
        }
        let mut comments: BTreeMap<usize, Comment> = BTreeMap::new();
        if forward > 0 {
            comments.entry(0).or_default().phase = Some("forward");
            comments.entry(forward).or_default().phase = Some("reverse");
        }
        for (k, stm) in body.stms.iter().enumerate() {
            let is_tape = |var| self.tokens.hint(var).ends_with("_tape");
            if let Some(mut of_loop) = phases::of_loop(stm, k >= forward, is_tape)
                && self.uses.printed(stm)
                && *self.tokens.hint(of_loop.index) != *lambada_anf::NAMELESS
            {
                of_loop.place =
                    self.names.origin(of_loop.index).and_then(|span| (interface.place)(span));
                comments.entry(k).or_default().of_loop = Some(of_loop);
            }
        }
        self.comments = comments.into_iter().rev().collect();
    }

    /// Number of printed statements in a block, with nested ones. Arithmetic of arrays is one.
    fn count(&self, block: &Block) -> usize {
        let is_arithmetic = |stm: &Stm| {
            let each = Each::of(stm, &self.uses.kept(stm));
            each.is_some_and(|each| each.whole(&self.fors).is_some())
        };
        let of = |stm: &Stm| match is_arithmetic(stm) {
            true => 1,
            false => 1 + stm.exp.blocks().iter().map(|inner| self.count(inner)).sum::<usize>(),
        };
        block.stms.iter().filter(|stm| self.uses.printed(stm)).map(of).sum()
    }

    fn finish_with(&mut self, lines: Vec<Line>, results: &[Atom], whole: Expr) -> Expr {
        let is = |expr: &Expr, result: &Atom| matches!((&expr.kind, result), (ExprKind::Var(name), Atom::Var(var)) if self.tokens.known(*var).as_ref() == Some(name));
        let as_they_are = match (&whole.kind, results) {
            (ExprKind::Var(_), [Atom::Var(_)]) => true,
            (ExprKind::Tuple(items), _) => {
                items.len() == results.len() && items.iter().zip(results).all(|(e, r)| is(e, r))
            }
            (_, _) => false,
        };
        if as_they_are {
            self.finish(lines, results, false)
        } else {
            crate::printer::assembled(lines, whole)
        }
    }
}

/// The variable that is the size on an axis of a parameter, according to the parameter's type.
fn size_in_types(function: &Function, interface: &Interface, size: &Rc<str>) -> Option<Var> {
    function.params.iter().zip(&interface.leaves).find_map(|(p, leaf)| {
        let Reading::Whole = leaf.reading else { return None };
        let mut ty = &interface.params[leaf.param].1;
        for dim in &p.ty.dims {
            let TypeKind::Array(written, inner) = &ty.kind else { return None };
            let is = |e: &Expr| matches!(&e.kind, ExprKind::Var(name) if name == size);
            if written.as_deref().is_some_and(is) {
                return dim.as_var().filter(|var| function.sizes.contains(var));
            }
            ty = inner;
        }
        None
    })
}

/// Whether a type of this parameter mentions a size.
fn mentions_size(function: &Function, p: &lambada_anf::Param) -> bool {
    p.ty.dims.iter().any(|d| d.as_var().is_some_and(|v| function.sizes.contains(&v)))
}
