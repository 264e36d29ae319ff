//! Code under construction: a stack of open blocks, a table of variables, and the statements that
//! `normalize` writes.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lambada_anf::bounds::Frame;
use lambada_anf::{
    Atom, Block, Elem, Exp, FnId, Function, Lambda, Library, NAMELESS, Names, Nest, NodeId, Op,
    Out, Param, Stm, Subject, Ty, Var,
};
use lambada_prim::{Precision, Prim, Scalar, Tensor};
use lambada_source::{Site, Span};

use crate::facts::Facts;
use crate::sketch::Slots;
use crate::tail::loop_of_tail_calls;
use crate::val::Leaf;

/// Where a variable is bound, and its type.
#[derive(Clone, Debug)]
struct Info {
    ty: Ty,
    block: u32,
    level: usize,
}

/// A block that receives statements.
#[derive(Debug)]
struct Open {
    id: u32,
    /// The statements so far.
    stms: Vec<Stm>,
}

/// A block that has been left, and may be reopened to append to it.
#[derive(Debug)]
pub(crate) struct Closed(Open, Frame);

/// Inner blocks, while code is appended to an outer one.
#[derive(Debug)]
pub(crate) struct Suspended(Vec<Open>, Vec<Frame>);

impl Closed {
    /// Whether the block has no statements.
    pub fn is_empty(&self) -> bool {
        self.0.stms.is_empty()
    }

    /// The finished block.
    pub fn finish(self, results: Vec<Atom>) -> Block {
        Block { stms: self.0.stms, results }
    }
}

/// A state of the innermost block, to return to.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    /// The number of its statements.
    pub stms: usize,
    names: usize,
    frame: Frame,
}

/// The known content of a variable.
#[derive(Clone, Debug)]
pub(crate) enum KnownContent {
    /// `[a, b, c]`
    Items(Vec<Atom>),
    /// A constant array.
    Constant(Rc<Tensor>),
}

/// The emitter.
#[derive(Debug, Default)]
pub(crate) struct Emit {
    /// The supply of variables.
    pub names: Names,
    /// The functions and node types that calls and handles refer to.
    pub library: Library,
    /// Facts about integers.
    pub facts: Facts,
    /// The name hint of the next statement, if it computes the value of a `let`.
    pub hint: Option<Rc<str>>,
    infos: Vec<Option<Info>>,
    /// The open blocks, outermost first.
    open: Vec<Open>,
    /// The number of statements written so far.
    pub written: usize,
    blocks: u32,
    /// Reads and integer arithmetic already emitted.
    loads: HashMap<(Var, Vec<Atom>), Atom>,
    pub prims: HashMap<(Prim, Vec<Atom>), Atom>,
    known: HashMap<Var, KnownContent>,
    /// The nodes that are values of recursive types, not functions.
    pub variants: HashSet<NodeId>,
    /// Functions under construction whose results have sizes that an empty `for` would need.
    pub awaited: HashSet<FnId>,
    /// Functions of the library, each with its copy that cannot fail.
    pub rehearsed: HashMap<FnId, FnId>,
}

/// Maximal length of a tuple hint that names all its parts.
const TUPLE: usize = 64;

impl Emit {
    /// An emitter without code, for a function with reals of this precision.
    pub fn with(precision: Precision) -> Emit {
        Emit { names: Names::with(precision), ..Emit::default() }
    }

    /// The parts of a function to derive.
    pub fn subject<'a>(&'a mut self, f: &'a Lambda, captured: &'a [Param]) -> Subject<'a> {
        Subject { library: &mut self.library, names: &mut self.names, f, captured }
    }

    // Blocks

    /// Opens a nested block.
    pub fn enter(&mut self) {
        let block = self.new_block();
        self.reopen(block);
    }

    fn new_block(&mut self) -> Closed {
        self.blocks += 1;
        Closed(Open { id: self.blocks, stms: Vec::new() }, Frame::default())
    }

    fn reopen(&mut self, Closed(open, frame): Closed) {
        self.open.push(open);
        self.facts.enter(frame);
    }

    /// Leaves the innermost block.
    pub fn leave(&mut self) -> Closed {
        Closed(self.open.pop().expect("a block is open"), self.facts.leave())
    }

    /// Appends to a block that has been left.
    pub fn within<T>(&mut self, block: &mut Closed, fill: impl FnOnce(&mut Emit) -> T) -> T {
        let placeholder = self.new_block(); // of its own, while the block is taken out
        self.reopen(std::mem::replace(block, placeholder));
        let result = fill(self);
        *block = self.leave();
        result
    }

    /// Opens a block that has been left.
    pub fn open_again(&mut self, block: &mut Closed) {
        let placeholder = self.new_block();
        self.reopen(std::mem::replace(block, placeholder));
    }

    /// Appends to the enclosing block of level `level`.
    pub fn outside<T>(&mut self, level: usize, fill: impl FnOnce(&mut Emit) -> T) -> T {
        let inner = self.suspend(level);
        let result = fill(self);
        self.resume(inner);
        result
    }

    /// Returns to the enclosing block of level `level`.
    pub fn suspend(&mut self, level: usize) -> Suspended {
        Suspended(self.open.split_off(level + 1), self.facts.suspend(level + 1))
    }

    /// Continues in the inner blocks.
    pub fn resume(&mut self, Suspended(open, frames): Suspended) {
        self.open.extend(open);
        self.facts.resume(frames);
    }

    /// The level of the innermost block; 0 is the body of the function.
    pub fn level(&self) -> usize {
        self.open.len() - 1
    }

    /// A point to return to.
    pub fn checkpoint(&self) -> Checkpoint {
        let top = &self.open[self.open.len() - 1];
        Checkpoint { stms: top.stms.len(), names: self.names.len(), frame: self.facts.frame() }
    }

    /// Undoes everything appended to the innermost block since the checkpoint.
    pub fn rewind(&mut self, to: Checkpoint) {
        self.top().stms.truncate(to.stms);
        self.facts.forget_to(to.frame);
        self.infos.iter_mut().skip(to.names).for_each(|info| *info = None);
    }

    /// Leaves the blocks inside level `level` after a failure, and undoes the statements appended
    /// there since the checkpoint.
    pub fn abandon(&mut self, level: usize, to: Checkpoint) {
        drop(self.suspend(level));
        self.rewind(to);
    }

    fn top(&mut self) -> &mut Open {
        self.open.last_mut().expect("a block is open")
    }

    /// The statements of the innermost block so far.
    pub fn stms(&self) -> &[Stm] {
        &self.open[self.open.len() - 1].stms
    }

    // Variables

    /// A new variable of the innermost block.
    pub fn fresh(&mut self, hint: impl Into<Rc<str>>, ty: Ty) -> Var {
        let level = self.level();
        self.fresh_at(level, hint, ty)
    }

    /// A new variable of the block of level `level`.
    pub fn fresh_at(&mut self, level: usize, hint: impl Into<Rc<str>>, ty: Ty) -> Var {
        let hint: Rc<str> = hint.into();
        // A part of a long tuple does not take all names of the tuple, because the text would be
        // quadratic in its size.
        let long = hint.starts_with('(') && hint.len() > TUPLE;
        let var = self.names.fresh(if long { NAMELESS.into() } else { hint });
        self.declare(level, var, ty);
        var
    }

    /// A new variable of the innermost block, with its type.
    pub fn param(&mut self, hint: impl Into<Rc<str>>, ty: Ty) -> Param {
        Param { var: self.fresh(hint, ty.clone()), ty }
    }

    /// New variables of the innermost block.
    pub fn params(&mut self, hint: &str, types: impl IntoIterator<Item = Ty>) -> Vec<Param> {
        types.into_iter().map(|ty| self.param(hint, ty)).collect()
    }

    /// Declares that the block of level `level` binds the variable.
    pub fn declare(&mut self, level: usize, var: Var, ty: Ty) {
        let k = var.0 as usize;
        if self.infos.len() <= k {
            self.infos.resize(k + 1, None);
        }
        for dim in ty.dims.iter().filter_map(|d| d.as_var()) {
            self.facts.size_of_array(dim, level);
        }
        self.infos[k] = Some(Info { ty, block: self.open[level].id, level });
    }

    fn info(&self, var: Var) -> &Info {
        self.infos.get(var.0 as usize).and_then(Option::as_ref).expect("the variable is declared")
    }

    /// The type of an atom.
    pub fn ty(&self, atom: Atom) -> Ty {
        match atom {
            Atom::Var(var) => self.info(var).ty.clone(),
            Atom::Lit(value) => Ty::scalar(value.ty()),
        }
    }

    /// The type of the scalars in an atom.
    pub fn elem(&self, atom: Atom) -> Elem {
        match atom {
            Atom::Var(var) => self.info(var).ty.elem,
            Atom::Lit(value) => value.ty().into(),
        }
    }

    /// The type of the scalars in a leaf.
    pub fn elem_of(&self, leaf: &Leaf) -> Elem {
        leaf.node.map_or_else(|| self.elem(leaf.atom), Elem::Ref)
    }

    /// The hint of an atom; constants have no name.
    pub fn hint_of(&self, atom: Atom) -> Rc<str> {
        atom.as_var().map_or_else(|| NAMELESS.into(), |v| self.names.hint(v))
    }

    /// Whether the variable is in scope in the innermost block.
    pub fn in_scope(&self, var: Var) -> bool {
        let Some(Some(info)) = self.infos.get(var.0 as usize) else { return false };
        self.open.get(info.level).is_some_and(|open| open.id == info.block)
    }

    /// Whether the atom is bound outside the block of level `level`.
    pub fn is_outside(&self, atom: Atom, level: usize) -> bool {
        atom.as_var().is_none_or(|v| self.in_scope(v) && self.info(v).level < level)
    }

    /// Whether the leaf is valid outside the block of level `level`: its atoms are bound there, and
    /// its sizes are known there to equal those of the arrays around it.
    pub fn is_static(&self, leaf: &Leaf, extents: &[Atom], level: usize) -> bool {
        if !leaf.atoms().all(|a| self.is_outside(a, level)) {
            return false;
        }
        let dims = &self.ty(leaf.atom).dims;
        let pairs = dims.iter().skip(leaf.prefix.len()).zip(Leaf::select(&leaf.axes, extents));
        pairs.into_iter().all(|(dim, extent)| {
            *dim == extent
                || self.is_outside(extent, level) && self.facts.equal_outside(*dim, extent, level)
        })
    }

    // Statements

    /// Appends a statement whose variables are declared.
    pub fn push(&mut self, binds: Vec<Param>, exp: impl Into<Exp>) {
        self.written += 1;
        self.top().stms.push(Stm::new(binds, exp));
    }

    /// Appends a statement made elsewhere, and declares its variables.
    pub fn adopt(&mut self, stm: Stm) {
        self.written += stm.size();
        let level = self.level();
        for p in &stm.binds {
            self.declare(level, p.var, p.ty.clone());
        }
        if let Exp::Op(Op::Prim(op, args)) = &stm.exp {
            self.facts.computes(stm.binds[0].var, *op, args);
        }
        let learned =
            if let Exp::Op(Op::Check { cond, .. }) = &stm.exp { Some(*cond) } else { None };
        self.top().stms.push(stm);
        learned.into_iter().for_each(|cond| self.learn(cond, true));
    }

    /// `hint : ty = exp`
    pub fn bind(&mut self, hint: &str, ty: Ty, exp: impl Into<Exp>) -> Atom {
        let hint = self.hint.take().unwrap_or_else(|| hint.into());
        let p = self.param(hint, ty);
        let atom = p.var.into();
        self.push(vec![p], exp);
        atom
    }

    /// Records the content of an array.
    pub fn know(&mut self, array: Atom, known: KnownContent) {
        if let Atom::Var(var) = array {
            self.known.insert(var, known);
        }
    }

    /// The content of an array, if known.
    pub fn known(&self, array: Atom) -> Option<&KnownContent> {
        self.known.get(&array.as_var()?)
    }

    /// A constant array.
    pub fn constant(&mut self, tensor: Tensor) -> Atom {
        let ty = Ty {
            elem: tensor.elem().into(),
            dims: tensor.dims.iter().map(|d| Atom::int(*d as i64)).collect(),
        };
        let tensor = Rc::new(tensor);
        let atom = self.bind("xs", ty, Op::Constant(tensor.clone()));
        self.know(atom, KnownContent::Constant(tensor));
        atom
    }

    /// An array of equal scalars; without sizes, the scalar.
    pub fn fill(&mut self, value: Atom, dims: Vec<Atom>) -> Atom {
        self.fill_of(self.elem(value), value, dims)
    }

    /// [`Self::fill`] for scalars whose type the value alone does not determine.
    pub fn fill_of(&mut self, elem: Elem, value: Atom, dims: Vec<Atom>) -> Atom {
        if dims.is_empty() {
            return value;
        }
        let ty = Ty { elem, dims };
        self.bind("xs", ty, Op::Fill(value))
    }

    /// `x[index]`, read at most once in a scope, and not at all where `x` is a literal.
    pub fn load(&mut self, x: Atom, index: &[Atom]) -> Atom {
        let Some(first) = index.first() else { return x };
        if let (Some(known), Some(Scalar::Int(i))) = (self.known(x), first.as_lit()) {
            match known {
                KnownContent::Items(items) if i >= 0 && (i as usize) < items.len() => {
                    let item = items[i as usize];
                    return self.load(item, &index[1..]);
                }
                KnownContent::Constant(tensor)
                    if tensor.dims.len() == 1 && i >= 0 && (i as usize) < tensor.dims[0] =>
                {
                    return Atom::Lit(tensor.data.get(i as usize));
                }
                KnownContent::Items(_) | KnownContent::Constant(_) => {}
            }
        }
        let var = x.as_var().expect("an array is a variable");
        let key = (var, index.to_vec());
        if let Some(atom) = self.loads.get(&key)
            && self.is_visible(*atom)
        {
            return *atom;
        }
        let (hint, ty) = (self.names.hint(var), self.info(var).ty.indexed(index.len()));
        let atom = self.bind(&hint, ty, Op::Index(var, index.to_vec()));
        self.loads.insert(key, atom);
        atom
    }

    /// A constant, or a variable in scope.
    pub fn is_visible(&self, atom: Atom) -> bool {
        atom.as_var().is_none_or(|v| self.in_scope(v))
    }

    /// The leaf as an atom that has the axes of the leaf.
    pub fn force(&mut self, leaf: &Leaf) -> Atom {
        self.load(leaf.atom, &leaf.prefix)
    }

    /// The leaf as an atom with the axes of `mask`, of sizes `extents`. The mask includes the axes
    /// of the leaf.
    pub fn broadcast(&mut self, leaf: &Leaf, mask: &[bool], extents: &[Atom]) -> Atom {
        if leaf.axes == mask {
            return self.force(leaf);
        }
        if leaf.axes.iter().all(|has| !has)
            && leaf.prefix.is_empty()
            && self.ty(leaf.atom).dims.is_empty()
        {
            return self.fill_of(self.elem_of(leaf), leaf.atom, Leaf::select(mask, extents));
        }
        if !mask[0] {
            let inner = Leaf { axes: leaf.axes[1..].to_vec(), ..leaf.clone() };
            return self.broadcast(&inner, &mask[1..], &extents[1..]);
        }
        let ty = Ty { elem: self.elem_of(leaf), dims: Leaf::select(mask, extents) };
        let name = self.hint.take().unwrap_or_else(|| self.hint_of(leaf.atom));
        let index = self.enter_for(extents[0]);
        let result = self.broadcast(&leaf.at(index.into()), &mask[1..], &extents[1..]);
        self.leave_for(index, extents[0], (Out::Collect, ty, name), result)
    }

    /// The leaf as an array of these sizes with all axes.
    pub fn stored(&mut self, leaf: &Leaf, extents: &[Atom]) -> Atom {
        self.broadcast(leaf, &vec![true; extents.len()], extents)
    }

    /// A new accumulator with the initial value `first`.
    pub fn accumulator(&mut self, hint: &str, ty: Ty, first: Atom) -> Var {
        let p = self.param(hint, ty);
        self.push(vec![p.clone()], Op::Accumulator(first));
        p.var
    }

    /// Opens the body of a `for`; returns its index.
    pub fn enter_for(&mut self, extent: Atom) -> Var {
        self.enter();
        self.index("i", extent)
    }

    /// Ends the body of a `for` and binds its results.
    pub fn leave_for(
        &mut self,
        index: Var,
        extent: Atom,
        out: (Out, Ty, Rc<str>),
        result: Atom,
    ) -> Atom {
        let body = self.leave().finish(vec![result]);
        let (out, ty, hint) = out;
        let p = self.param(hint, ty);
        let atom = p.var.into();
        self.push(vec![p], Nest::For { index, extent, outs: vec![out], body });
        atom
    }

    /// Ends the body of a `for` without results.
    pub fn leave_for_effect(&mut self, index: Var, extent: Atom) {
        let body = self.leave().finish(Vec::new());
        self.push(Vec::new(), Nest::For { index, extent, outs: Vec::new(), body });
    }

    /// A new index variable of the innermost block, below the extent.
    pub fn index(&mut self, hint: &str, extent: Atom) -> Var {
        let var = self.fresh(hint, Ty::int());
        self.facts.bounded(var, extent);
        var
    }

    /// Fails unless the condition holds.
    pub fn check(&mut self, cond: Atom, span: Span, message: &str, values: Vec<Atom>) {
        self.check_at(cond, &Site::new(span, message), values);
    }

    /// Fails at the site unless the condition holds.
    pub fn check_at(&mut self, cond: Atom, site: &Site, values: Vec<Atom>) {
        if cond != Atom::bool(true) {
            self.push(Vec::new(), Op::Check { cond, site: site.clone(), values });
            self.learn(cond, true);
        }
    }

    /// Fails unless the two sizes are equal.
    pub fn check_equal(&mut self, a: Atom, b: Atom, span: Span, message: &str) {
        if !self.facts.equal(a, b) {
            let cond = self.prim(Prim::EqInt, &[a, b]);
            self.check(cond, span, message, vec![a, b]);
        }
    }

    /// Fails unless `0 <= i < size`.
    pub fn check_index(&mut self, i: Atom, size: Atom, span: Span) {
        self.check_in(i, size, span, "index {0} is out of range for size {1}");
    }

    /// Fails with this message, of index and size, unless `0 <= i < size`.
    pub fn check_in(&mut self, i: Atom, size: Atom, span: Span, message: &str) {
        if self.facts.is_index(i, size) {
            return;
        }
        let low = self.prim(Prim::LeInt, &[Atom::int(0), i]);
        let high = self.prim(Prim::LtInt, &[i, size]);
        let cond = self.prim(Prim::And, &[low, high]);
        self.check(cond, span, message, vec![i, size]);
    }

    /// A new node.
    pub fn node(&mut self, node: NodeId, tag: usize, fields: Vec<Atom>) -> Leaf {
        let op = Op::Node { node, tag: tag as u32, fields, cells: false };
        let atom = self.bind("node", Ty::handle(node), op);
        Leaf::scalar(atom).of(Elem::Ref(node))
    }

    /// All fields of a node that has this constructor.
    pub fn fields(&mut self, of: Atom, tag: usize, slots: &Slots) -> Vec<Atom> {
        let mut atoms: Vec<Atom> = Vec::with_capacity(slots.values.len());
        for (field, slot) in slots.values.iter().enumerate() {
            let op = Op::Field { of, tag: tag as u32, field: field as u32 };
            atoms.push(self.bind(&slot.name, Slots::ty(slot, &atoms), op));
        }
        atoms
    }

    /// A function of the library, with the innermost block as its body.
    pub fn library_function(
        self,
        (id, name): (FnId, String),
        params: Vec<Param>,
        accumulators: Vec<Param>,
        results: Vec<(Atom, Ty)>,
    ) -> Function {
        let mut function = Function { accumulators, ..self.finished(name, params, results) };
        loop_of_tail_calls(&mut function, id);
        lambada_anf::guard(&mut function);
        function
    }

    fn finished(self, name: String, params: Vec<Param>, results: Vec<(Atom, Ty)>) -> Function {
        let mut emit = self;
        let (atoms, results) = results.into_iter().unzip();
        let body = emit.leave().finish(atoms);
        emit.names.come_from(Span::default());
        Function { name, params, results, body, names: emit.names, ..Function::default() }
    }

    /// The function, with the innermost block as its body. Every access in it is evidently in
    /// range.
    pub fn function(
        mut self,
        name: String,
        sizes: Vec<Var>,
        params: Vec<Param>,
        results: Vec<Atom>,
    ) -> Function {
        let results = results.iter().map(|a| (*a, self.ty(*a))).collect();
        let library = std::mem::take(&mut self.library);
        let mut function = Function { sizes, library, ..self.finished(name, params, results) };
        // The code of derivatives lacks the checks that their forward sweeps have made, so the
        // guard adds missing ones.
        lambada_anf::guard(&mut function);
        function
    }
}
