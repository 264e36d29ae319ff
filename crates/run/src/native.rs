//! Machine code: loading it, and calling it with the interface that `lambada_codegen` describes.

#![allow(unsafe_code)]

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use lambada_loops::{
    Buf, Function, Operand, Return, Seen, Step, Stmt, check_arguments, internal, param_types, sizes,
};
use lambada_prim::{Data, Memory, Scalar, ScalarTy, Tensor};
use lambada_source::{Failure, Site, Span};
use libloading::Library;

use crate::stack::Stack;
use crate::{CompileError, Compiler, Settings, cache, messages};

type Context = *mut c_void;
type Open = unsafe extern "C" fn() -> Context;
type Close = unsafe extern "C" fn(Context);
type Limit = unsafe extern "C" fn(Context, u64);
type Peak = unsafe extern "C" fn(Context) -> u64;
type SetStack = unsafe extern "C" fn(Context, u64);
type See = unsafe extern "C" fn(*const c_void, i64, *const u64);
type SetSeen = unsafe extern "C" fn(Context, Option<See>, *const c_void);
type Entry = unsafe extern "C" fn(Context, *const u64, *mut u64) -> i32;

/// A loaded function and its context.
#[derive(Debug)]
pub(crate) struct Native {
    name: String,
    entry: Entry,
    context: Context,
    close: Close,
    set_limit: Limit,
    peak: Peak,
    limit: Memory,
    /// Of a program whose functions call each other.
    deep: Option<Deep>,
    params: Vec<(ScalarTy, bool)>,
    results: Vec<Output>,
    /// Of the results, or of the numbers of a failing check.
    words: usize,
    sites: Vec<Site>,
    /// Of a program that shows values.
    shows: Option<Shows>,
    /// By buffer: the type of its elements, and what in the program makes it.
    arrays: Vec<(ScalarTy, Span)>,
    /// Keeps the code; shared by the functions of a unit.
    _library: Rc<Library>,
}

/// How a program whose functions call each other gets its stack, which is reserved when it is called first.
#[derive(Debug)]
struct Deep {
    set: SetStack,
    stack: OnceCell<Option<Stack>>,
}

/// How a program is told who is to see its values, and what these are, by number.
#[derive(Debug)]
struct Shows {
    set: SetSeen,
    values: BTreeMap<u32, Vec<Output>>,
}

/// Who sees the values of a call.
struct Watch<'a> {
    name: &'a str,
    values: &'a BTreeMap<u32, Vec<Output>>,
    seen: Seen<'a>,
}

/// What a result is.
#[derive(Debug)]
enum Output {
    Scalar(ScalarTy),
    /// The elements and the number of axes.
    Buffer(ScalarTy, usize),
}

/// Compiles and loads functions as one unit.
pub(crate) fn compile(
    compiler: &Compiler,
    functions: &[&Function],
    settings: Settings,
) -> Result<Vec<Native>, CompileError> {
    let unit = lambada_codegen::unit_in_parts(functions, settings.part);
    let library = Rc::new(open(compiler, &unit.text, settings.contract)?);
    functions
        .iter()
        .zip(&unit.symbols)
        .map(|(function, symbol)| Native::new(&library, function, symbol))
        .collect()
}

/// The library of a unit. An entry of the cache that cannot be loaded is made again.
fn open(compiler: &Compiler, text: &str, contract: bool) -> Result<Library, CompileError> {
    let entry = cache::library(compiler, text, contract)?;
    load(&entry.library).or_else(|_| {
        cache::forget(&entry);
        let entry = cache::library(compiler, text, contract)?;
        load(&entry.library).map_err(|error| messages::not_loaded(&entry.library, &error))
    })
}

fn load(path: &Path) -> Result<Library, libloading::Error> {
    // SAFETY: the library has been compiled from our text; nothing in it runs when it is loaded or unloaded.
    unsafe { Library::new(path) }
}

/// A symbol as a function of the type `T`.
fn symbol<T: Copy>(library: &Library, name: &str) -> Result<T, CompileError> {
    // SAFETY: the symbols that are asked for have the types above; `Native` keeps the library as long as it keeps them.
    let found = unsafe { library.get::<T>(name.as_bytes()) };
    found.map(|symbol| *symbol).map_err(|error| messages::no_symbol(name, &error))
}

impl Native {
    fn new(library: &Rc<Library>, function: &Function, name: &str) -> Result<Native, CompileError> {
        let (open, close) = (
            symbol::<Open>(library, "lambada_context_open")?,
            symbol::<Close>(library, "lambada_context_close")?,
        );
        let (set_limit, peak) = (
            symbol::<Limit>(library, "lambada_context_limit")?,
            symbol::<Peak>(library, "lambada_context_peak")?,
        );
        let entry = symbol::<Entry>(library, name)?;
        let deep = if function.library.functions.is_empty() {
            None
        } else {
            let set = symbol::<SetStack>(library, "lambada_context_stack")?;
            Some(Deep { set, stack: OnceCell::new() })
        };
        // SAFETY: it takes nothing and gives a context, or null.
        let context = unsafe { open() };
        if context.is_null() {
            return Err(messages::no_memory());
        }
        Ok(Native {
            name: function.name.clone(),
            entry,
            context,
            close,
            set_limit,
            peak,
            limit: Memory::default(),
            deep,
            params: param_types(function),
            results: function.results.iter().map(|result| Output::of(function, result)).collect(),
            words: lambada_codegen::result_words(function),
            sites: function.all_sites(),
            shows: Shows::of(library, function)?,
            arrays: function.all().flat_map(arrays).collect(),
            _library: library.clone(),
        })
    }

    pub fn call(&self, args: &[Tensor], seen: Seen) -> Result<Vec<Tensor>, Failure> {
        let Some(shows) = &self.shows else {
            return self.call_timed(args).map(|(results, _)| results);
        };
        let watch = Watch { name: &self.name, values: &shows.values, seen };
        // SAFETY: the context is open and ours. `see` is given `watch`, which outlives the call, and nothing after it.
        unsafe { (shows.set)(self.context, Some(see), (&raw const watch).cast()) };
        let results = self.call_timed(args);
        // SAFETY: as above.
        unsafe { (shows.set)(self.context, None, std::ptr::null()) };
        results.map(|(results, _)| results)
    }

    pub fn call_timed(&self, args: &[Tensor]) -> Result<(Vec<Tensor>, u64), Failure> {
        let mut words = vec![0; self.words];
        let nanoseconds = self.enter(&self.arguments(args)?, &mut words)?;
        Ok((outputs(&self.name, &self.results, &words)?, nanoseconds))
    }

    pub fn time(&self, args: &[Tensor], repetitions: usize) -> Result<Vec<u64>, Failure> {
        let args = self.arguments(args)?;
        let mut words = vec![0; self.words];
        (0..repetitions).map(|_| self.enter(&args, &mut words)).collect()
    }

    /// One word per argument. Arrays are lent: the words are good as long as the tensors.
    fn arguments(&self, args: &[Tensor]) -> Result<Vec<u64>, Failure> {
        check_arguments(&self.name, self.params.iter().copied(), args)?;
        let word = |((_, scalar), arg): (&(ScalarTy, bool), &Tensor)| {
            if *scalar { word(arg.data.get(0)) } else { address(&arg.data) }
        };
        Ok(self.params.iter().zip(args).map(word).collect())
    }

    /// Calls the function and gives the nanoseconds that it took.
    fn enter(&self, args: &[u64], words: &mut [u64]) -> Result<u64, Failure> {
        let stack = self.deep.as_ref().and_then(|deep| self.stack(deep));
        let start = Instant::now();
        // SAFETY: the context is ours alone, since `Native` is not `Sync`. There are as many arguments, of the types, as the function has, the
        // arrays among them outlive the call, and there is room for its results. It only touches these and the memory of its context: the
        // function has been checked, and its offsets are in range if the sizes are those of the arrays, as `Kernel::call` demands.
        let mut call = || unsafe { (self.entry)(self.context, args.as_ptr(), words.as_mut_ptr()) };
        let status = match stack {
            None => call(),
            Some(stack) => stack.run(call),
        };
        let nanoseconds = start.elapsed().as_nanos() as u64;
        match status {
            0 => Ok(nanoseconds),
            1 => Err(self.failure(words)),
            2 => Err(self.no_memory(words)),
            3 => Err(self.no_node(words)),
            status => Err(internal(format!("`{}` returned {status}", self.name))),
        }
    }

    /// The stack, of which the program may use as much as it may use of memory.
    fn stack<'a>(&self, deep: &'a Deep) -> Option<&'a Stack> {
        let stack = deep.stack.get_or_init(Stack::new).as_ref()?;
        let room = (stack.room() as u64).min(self.limit.limit);
        // SAFETY: the context is open and ours, and no call is using it.
        unsafe { (deep.set)(self.context, room) };
        Some(stack)
    }

    /// Limits the memory for arrays.
    pub fn limit(&mut self, limit: Memory) {
        self.limit = limit;
        // SAFETY: the context is open and ours, and no call is using it.
        unsafe { (self.set_limit)(self.context, limit.limit) }
    }

    /// The most bytes that arrays have taken at a time.
    pub fn peak(&self) -> u64 {
        // SAFETY: as above.
        unsafe { (self.peak)(self.context) }
    }

    fn no_memory(&self, words: &[u64]) -> Failure {
        let Some((elem, span)) = self.arrays.get(words[0] as usize) else {
            return internal(format!("`{}` has no memory for an unknown array", self.name));
        };
        let each = match elem {
            ScalarTy::Real | ScalarTy::Int => 8,
            ScalarTy::Bool => 1,
        };
        // The largest number stands for all that are too large.
        let array = (words[1] != i64::MAX as u64).then_some((words[1], each));
        Failure { span: *span, message: self.limit.refused(array, words[2]) }
    }

    fn no_node(&self, words: &[u64]) -> Failure {
        match self.sites.get(words[0] as usize) {
            Some(site) => {
                Failure { span: site.span, message: self.limit.refused_node(words[1], words[2]) }
            }
            None => internal(format!("`{}` has no memory for an unknown node", self.name)),
        }
    }

    fn failure(&self, words: &[u64]) -> Failure {
        let values: Vec<i64> = words[1..].iter().map(|word| *word as i64).collect();
        match self.sites.get(words[0] as usize) {
            Some(site) => Failure { span: site.span, message: site.describe(&values) },
            None => internal(format!("`{}` failed at an unknown check", self.name)),
        }
    }
}

/// Values from words.
fn outputs(name: &str, outputs: &[Output], words: &[u64]) -> Result<Vec<Tensor>, Failure> {
    let mut words = words.iter().copied();
    let mut next = || words.next().expect("as many words as results");
    let mut tensors = Vec::new();
    for result in outputs {
        tensors.push(match result {
            Output::Scalar(elem) => Tensor::scalar(scalar(*elem, next())),
            Output::Buffer(elem, rank) => {
                let data = next();
                let dims: Vec<i64> = (0..*rank).map(|_| next() as i64).collect();
                let (dims, len) = sizes(name, &dims)?;
                Tensor { dims, data: copy(*elem, data, len) }
            }
        });
    }
    Ok(tensors)
}

/// What machine code calls to show values.
unsafe extern "C" fn see(who: *const c_void, number: i64, words: *const u64) {
    // SAFETY: `Native::call` has given the address of a `Watch`, which it keeps until machine code has returned.
    let watch = unsafe { &*who.cast::<Watch>() };
    let Some(values) = u32::try_from(number).ok().and_then(|n| watch.values.get(&n)) else {
        return;
    };
    let count: usize = values.iter().map(Output::words).sum();
    let words = match count {
        0 => &[],
        // SAFETY: the code passes as many words as the values of this number take.
        _ => unsafe { std::slice::from_raw_parts(words, count) },
    };
    if let Ok(tensors) = outputs(watch.name, values, words) {
        (watch.seen)(number as u32, tensors);
    }
}

impl Shows {
    fn of(library: &Library, function: &Function) -> Result<Option<Shows>, CompileError> {
        let mut values = BTreeMap::new();
        for each in function.all() {
            lambada_loops::visit(&each.body, &mut |stmt| {
                if let Stmt::Step(Step::Inspect { number, values: shown }) = stmt {
                    let outputs = shown.iter().map(|value| Output::of(each, value)).collect();
                    values.insert(*number, outputs);
                }
            });
        }
        if values.is_empty() {
            return Ok(None);
        }
        Ok(Some(Shows { set: symbol::<SetSeen>(library, "lambada_context_seen")?, values }))
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        // SAFETY: the context has been opened by the same library, which is still loaded, and is closed once.
        unsafe { (self.close)(self.context) }
    }
}

impl Output {
    /// How many words it takes.
    fn words(&self) -> usize {
        match self {
            Output::Scalar(_) => 1,
            Output::Buffer(_, rank) => 1 + rank,
        }
    }

    fn of(function: &Function, result: &Return) -> Output {
        match result {
            Return::Scalar(Operand::Reg(reg)) => {
                Output::Scalar(function.regs[reg.0 as usize].0.elem)
            }
            Return::Scalar(Operand::Lit(value)) => Output::Scalar(value.ty()),
            Return::Buffer(buf, dims) => {
                Output::Buffer(function.bufs[buf.0 as usize].0, dims.len())
            }
        }
    }
}

/// By buffer of a function: the type of its elements, and what in the program makes it.
fn arrays(function: &Function) -> impl Iterator<Item = (ScalarTy, Span)> {
    let origin = |k| function.origins.get(&Buf(k)).copied().unwrap_or_default();
    (0..).zip(&function.bufs).map(move |(k, (elem, _))| (*elem, origin(k)))
}

fn word(value: Scalar) -> u64 {
    match value {
        Scalar::Real(value) => value.to_bits(),
        Scalar::Int(value) => value as u64,
        Scalar::Bool(value) => u64::from(value),
    }
}

fn scalar(elem: ScalarTy, word: u64) -> Scalar {
    match elem {
        ScalarTy::Real => Scalar::Real(f64::from_bits(word)),
        ScalarTy::Int => Scalar::Int(word as i64),
        ScalarTy::Bool => Scalar::Bool(word != 0),
    }
}

/// A `bool` of Rust is a byte that is 0 or 1, as in C.
fn address(data: &Data) -> u64 {
    match data {
        Data::Real(values) => values.as_ptr() as u64,
        Data::Int(values) => values.as_ptr() as u64,
        Data::Bool(values) => values.as_ptr() as u64,
    }
}

/// The elements of a result.
fn copy(elem: ScalarTy, data: u64, len: usize) -> Data {
    if len == 0 {
        return Data::zeros(elem, 0);
    }
    let data = data as *const c_void;
    // SAFETY: a function that returns 0 has stored a pointer to as many elements of the type as the sizes say, and they stay until the next call
    // or the end of the arguments, neither of which can happen before this returns.
    unsafe {
        match elem {
            ScalarTy::Real => {
                Data::Real(std::slice::from_raw_parts(data.cast::<f64>(), len).to_vec())
            }
            ScalarTy::Int => {
                Data::Int(std::slice::from_raw_parts(data.cast::<i64>(), len).to_vec())
            }
            ScalarTy::Bool => Data::Bool(
                std::slice::from_raw_parts(data.cast::<u8>(), len)
                    .iter()
                    .map(|byte| *byte != 0)
                    .collect(),
            ),
        }
    }
}
