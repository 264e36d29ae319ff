//! Loading machine code, and calling it through the interface that `lambada_codegen` defines.

#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use lambada_loops::{CANCELLED, Seen, internal};
use lambada_prim::{Memory, Precision, Scalar, ScalarTy, Tensor};
use lambada_source::{Failure, Site, Span};
use libloading::Library;

use crate::cancel::Cancel;
use crate::described::Described;
use crate::elements::{Argument, Converted, Elements, Got};
use crate::hosted::{self, Destination, Hosted};
use crate::output::{ResultType, Results, are_possible, word};
use crate::pool::Pool;
use crate::running::{Running, SetCancelled};
use crate::stack::Stack;
use crate::subnormals::Mode;
use crate::threads::{SetThreads, Threads};
use crate::{CompileError, Settings, messages};

type Context = *mut c_void;
type Open = unsafe extern "C" fn() -> Context;
type Close = unsafe extern "C" fn(Context);
type Limit = unsafe extern "C" fn(Context, u64);
type Peak = unsafe extern "C" fn(Context) -> u64;
type SetStack = unsafe extern "C" fn(Context, u64);
type See = unsafe extern "C" fn(*const c_void, i64, *const u64);
type Host = unsafe extern "C" fn(*mut c_void, i64) -> *mut c_void;
type SetHost = unsafe extern "C" fn(Context, Option<Host>, *mut c_void);
type SetSeen = unsafe extern "C" fn(Context, Option<See>, *const c_void);
type EntryPoint = unsafe extern "C" fn(Context, *const u64, *mut u64) -> i32;

/// A loaded function. Concurrent calls have separate contexts.
#[derive(Debug)]
pub(crate) struct Native {
    name: String,
    entry: EntryPoint,
    open: Open,
    close: Close,
    set_limit: Limit,
    peak: Peak,
    set_cancelled: SetCancelled,
    /// Bytes that arrays may take.
    limit: AtomicU64,
    /// For programs with library functions.
    set_stack: Option<SetStack>,
    /// For programs with array results, which request memory from the host.
    set_host: Option<SetHost>,
    /// For programs with parallel loops on several threads.
    threads: Option<(SetThreads, Threads)>,
    /// Width of reals.
    precision: Precision,
    /// Whether arithmetic may flush subnormal numbers to zero.
    flushes: bool,
    params: Vec<(ScalarTy, bool)>,
    results: Vec<ResultType>,
    /// Number of words for results, or for the numbers of a failing check.
    words: usize,
    sites: Vec<Site>,
    /// For programs that inspect values.
    shows: Option<Shows>,
    /// Element type and source construct of each buffer.
    arrays: Vec<(ScalarTy, Span)>,
    /// The idle contexts.
    idle: Arc<Pool<Owned>>,
    /// Keeps the code loaded; shared by the functions of a unit.
    library: Arc<Library>,
}

/// A context: the memory of a call, which the next call reuses.
#[derive(Debug)]
struct Owned {
    context: Context,
    close: Close,
    /// For programs with library functions; reserved by the first call.
    stack: Option<Stack>,
    /// One word for each argument.
    args: Box<[u64]>,
    /// Memory of arguments that have another precision than the program.
    converted: Box<[Converted]>,
    /// The results, or the numbers of a failing check.
    words: Box<[u64]>,
    _library: Arc<Library>,
}

// SAFETY: nothing else refers to a context, and machine code keeps nothing outside of it, so one
// thread after another may use it.
unsafe impl Send for Owned {}

impl Drop for Owned {
    fn drop(&mut self) {
        if !self.context.is_null() {
            // SAFETY: the context has been opened by the library, which is still loaded, and is
            // closed once.
            unsafe { (self.close)(self.context) }
        }
    }
}

/// The idle contexts of all functions.
static POOLS: Mutex<Vec<Weak<Pool<Owned>>>> = Mutex::new(Vec::new());

/// A pool whose contexts [`release`] finds.
fn registered() -> Arc<Pool<Owned>> {
    let (pool, mut pools) = (Arc::default(), pools());
    pools.retain(|pool| pool.strong_count() > 0);
    pools.push(Arc::downgrade(&pool));
    pool
}

fn pools() -> MutexGuard<'static, Vec<Weak<Pool<Owned>>>> {
    POOLS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives the memory back to the system that compiled functions keep from call to call: of arrays,
/// of converted arguments and of stacks. Calls that run keep theirs; the next ones take new memory.
pub fn release() {
    let pools: Vec<_> = pools().iter().filter_map(Weak::upgrade).collect();
    pools.iter().for_each(|pool| pool.clear());
    // Smaller pieces stay with the allocator unless it is asked for them.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it frees no memory that is in use, and holds the locks of the allocator.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Registers the observer of a call; and the layout of inspected values by number.
#[derive(Debug)]
struct Shows {
    set: SetSeen,
    values: BTreeMap<u32, Vec<ResultType>>,
}

/// The observer of a call.
struct Watch<'a> {
    precision: Precision,
    values: &'a BTreeMap<u32, Vec<ResultType>>,
    seen: Seen<'a>,
}

/// Loads a library.
pub(crate) fn load(path: &Path) -> Result<Library, libloading::Error> {
    // SAFETY: the library was compiled from our text; loading or unloading it runs no code of it.
    unsafe { Library::new(path) }
}

/// A symbol as a function of the type `T`.
fn symbol<T: Copy>(library: &Library, name: &str) -> Result<T, CompileError> {
    // SAFETY: the requested symbols have the types above; `Native` keeps the library as long as it
    // keeps them.
    let found = unsafe { library.get::<T>(name.as_bytes()) };
    found.map(|symbol| *symbol).map_err(|error| messages::no_symbol(name, &error))
}

impl Native {
    pub(crate) fn new(
        library: &Arc<Library>,
        function: Described,
        settings: Settings,
    ) -> Result<Native, CompileError> {
        let set_stack = match function.has_library {
            true => Some(symbol::<SetStack>(library, "lambada_context_stack")?),
            false => None,
        };
        let threads = match Threads::new(settings.threads).filter(|_| function.is_parallel) {
            Some(threads) => {
                Some((symbol::<SetThreads>(library, "lambada_context_threads")?, threads))
            }
            None => None,
        };
        let is_array = |result: &ResultType| matches!(result, ResultType::Buffer(..));
        let has_arrays = function.results.iter().any(is_array);
        let set_host = has_arrays.then(|| symbol(library, "lambada_context_host").ok()).flatten();
        let shows = match function.inspected.is_empty() {
            true => None,
            false => Some(Shows {
                set: symbol::<SetSeen>(library, "lambada_context_seen")?,
                values: function.inspected,
            }),
        };
        let native = Native {
            name: function.name,
            entry: symbol::<EntryPoint>(library, &function.symbol)?,
            open: symbol::<Open>(library, "lambada_context_open")?,
            close: symbol::<Close>(library, "lambada_context_close")?,
            set_limit: symbol::<Limit>(library, "lambada_context_limit")?,
            peak: symbol::<Peak>(library, "lambada_context_peak")?,
            set_cancelled: symbol::<SetCancelled>(library, "lambada_context_cancel")?,
            limit: AtomicU64::new(Memory::default().limit),
            set_stack,
            set_host,
            threads,
            precision: function.precision,
            flushes: settings.flush_subnormals,
            params: function.params,
            results: function.results,
            words: function.words,
            sites: function.sites,
            shows,
            arrays: function.arrays,
            idle: registered(),
            library: library.clone(),
        };
        let context = native.opened().ok_or_else(messages::no_memory)?;
        native.put_back(context);
        Ok(native)
    }

    /// A new context, if the system has memory for it.
    fn opened(&self) -> Option<Box<Owned>> {
        let context = self.new_context();
        if context.is_null() {
            return None;
        }
        Some(Box::new(Owned {
            context,
            close: self.close,
            stack: None,
            args: vec![0; self.params.len()].into(),
            converted: self.params.iter().map(|_| Converted::default()).collect(),
            words: vec![0; self.words].into(),
            _library: self.library.clone(),
        }))
    }

    /// A new context, or null.
    fn new_context(&self) -> Context {
        // SAFETY: the function takes nothing and returns a context or null.
        let context = unsafe { (self.open)() };
        if context.is_null() {
            return context;
        }
        // SAFETY: the context is open and ours, and no call is using it.
        unsafe { (self.set_limit)(context, self.memory().limit) };
        if let Some((set, threads)) = &self.threads {
            // SAFETY: the context is ours, no call is using it, and `self`, which keeps the
            // threads, outlives all calls.
            unsafe { threads.give(*set, context) };
        }
        context
    }

    #[inline]
    fn put_back(&self, context: Box<Owned>) {
        if !context.context.is_null() {
            self.idle.put(context);
        }
    }

    /// Frees all memory of a call that ran out of it, because the message needs some. The context
    /// is null if even that does not suffice.
    fn renew(&self, owned: &mut Owned) {
        // SAFETY: the context is open and ours, and no call uses it now or later.
        unsafe { (self.close)(owned.context) };
        owned.context = self.new_context();
    }

    /// Begins a call with these sizes and borrowed arguments. Reals of another precision are
    /// converted.
    #[inline]
    pub fn begin<'a>(
        &'a self,
        sizes: impl ExactSizeIterator<Item = i64>,
        args: impl ExactSizeIterator<Item = Argument<'a>> + Clone,
    ) -> Result<NativeCall<'a>, Failure> {
        let owned = self.idle.take().or_else(|| self.opened());
        let owned = owned.ok_or_else(|| failed_to_open(&self.name))?;
        let mut call = NativeCall { native: self, owned: Some(owned), blocks: Vec::new() };
        let given = sizes.len();
        let mut fits = given + args.len() == self.params.len();
        if fits {
            for (k, size) in sizes.enumerate() {
                fits &= call.give(k, Argument::Scalar(Scalar::Int(size)));
            }
            for (k, arg) in args.clone().enumerate() {
                fits &= call.give(given + k, arg);
            }
        }
        if fits { Ok(call) } else { Err(self.misfit(given, &args.collect::<Vec<_>>())) }
    }

    #[cold]
    fn misfit(&self, sizes: usize, args: &[Argument]) -> Failure {
        let of = |(elem, scalar): (ScalarTy, bool)| match scalar {
            true => elem.to_string(),
            false => format!("[]{elem}"),
        };
        let listed = |types: &mut dyn Iterator<Item = (ScalarTy, bool)>| {
            types.map(of).collect::<Vec<_>>().join(", ")
        };
        let given = std::iter::repeat_n((ScalarTy::Int, true), sizes);
        let given = listed(&mut given.chain(args.iter().map(|arg| arg.ty())));
        let taken = listed(&mut self.params.iter().copied());
        internal(format!("`{}` takes ({taken}) but is given ({given})", self.name))
    }

    /// Limits the memory for arrays.
    pub fn limit(&self, limit: Memory) {
        self.limit.store(limit.limit, Ordering::Relaxed);
        // SAFETY: the context is open and ours, and no call is using it.
        self.idle.each(|owned| unsafe { (self.set_limit)(owned.context, limit.limit) });
    }

    fn memory(&self) -> Memory {
        Memory { limit: self.limit.load(Ordering::Relaxed) }
    }

    /// Peak of the bytes of arrays.
    pub fn peak(&self) -> u64 {
        let mut peak = 0;
        // SAFETY: as above.
        self.idle.each(|owned| peak = peak.max(unsafe { (self.peak)(owned.context) }));
        peak
    }

    /// The failure of a call with this status.
    #[cold]
    fn why(&self, status: i32, words: &[u64]) -> Failure {
        match status {
            0 => internal(format!("`{}` gives an array of impossible sizes", self.name)),
            1 => self.failure(words),
            2 => self.no_memory(words),
            3 => self.no_node(words),
            4 => Failure { span: Span::default(), message: CANCELLED.into() },
            status => internal(format!("`{}` returned {status}", self.name)),
        }
    }

    fn no_memory(&self, words: &[u64]) -> Failure {
        let Some((elem, span)) = self.arrays.get(words[0] as usize) else {
            return internal(format!("`{}` has no memory for an unknown array", self.name));
        };
        let each = u64::from(self.precision.bytes(*elem));
        // The largest integer stands for any size that overflows.
        let array = (words[1] != i64::MAX as u64).then_some((words[1], each));
        Failure { span: *span, message: self.memory().refused(array, words[2]) }
    }

    fn no_node(&self, words: &[u64]) -> Failure {
        match self.sites.get(words[0] as usize) {
            Some(site) => {
                Failure { span: site.span, message: self.memory().refused_node(words[1], words[2]) }
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

fn failed_to_open(name: &str) -> Failure {
    Failure {
        span: Span::default(),
        message: format!("out of memory: the system has none for a call of `{name}`"),
    }
}

/// A call before or after its run. Returns its context to the pool when dropped.
pub(crate) struct NativeCall<'a> {
    native: &'a Native,
    /// `None` only while being dropped.
    owned: Option<Box<Owned>>,
    /// Memory of results outside of the context.
    blocks: Vec<Vec<u64>>,
}

impl Drop for NativeCall<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(owned) = self.owned.take() {
            self.native.put_back(owned);
        }
    }
}

impl<'a> NativeCall<'a> {
    #[inline]
    fn owned(&mut self) -> &mut Owned {
        self.owned.as_mut().expect("the context is there until the call is dropped")
    }

    /// Sets an argument; returns false if its type differs from the parameter's.
    #[inline(always)]
    fn give(&mut self, k: usize, arg: Argument<'a>) -> bool {
        let precision = self.native.precision;
        let owned = self.owned();
        owned.args[k] = match arg {
            Argument::Scalar(value) => word(precision, value),
            Argument::Array(_, elements) => elements.address_in(precision, &mut owned.converted[k]),
        };
        self.native.params[k] == arg.ty()
    }

    /// Calls the function and passes inspected values to `seen`.
    pub fn run(&mut self, seen: Seen) -> Result<(), Failure> {
        let Some(shows) = &self.native.shows else { return self.enter() };
        let precision = self.native.precision;
        let watch = Watch { precision, values: &shows.values, seen };
        if let Some(context) = self.context() {
            // SAFETY: the context is open and ours. `see` receives `watch`, which outlives the
            // call, and is reset below.
            unsafe { (shows.set)(context, Some(see), (&raw const watch).cast()) };
        }
        let ended = self.enter();
        if let Some(context) = self.context() {
            // SAFETY: as above; it may be another context than before.
            unsafe { (shows.set)(context, None, std::ptr::null()) };
        }
        ended
    }

    /// Calls the function and passes its results to `then`. Large results are built in memory that
    /// their tensors own.
    pub fn take<R>(
        &mut self,
        seen: Seen,
        then: impl FnOnce(&mut dyn Iterator<Item = Tensor>) -> R,
    ) -> Result<R, Failure> {
        let mut hosted = Hosted::default();
        let set = self.native.set_host;
        if let (Some(set), Some(context)) = (set, self.context()) {
            // SAFETY: the context is open and ours. `hosted::give` receives `hosted`, which
            // outlives the call, and is reset below.
            unsafe { set(context, Some(hosted::give), (&raw mut hosted).cast()) };
        }
        let ended = self.run(seen);
        if let (Some(set), Some(context)) = (set, self.context()) {
            // SAFETY: as above; it may be another context than before.
            unsafe { set(context, None, std::ptr::null_mut()) };
        }
        ended?;
        if hosted.is_empty() {
            return Ok(then(&mut self.results().map(Got::tensor)));
        }
        // SAFETY: the call has returned these results.
        Ok(then(&mut unsafe { hosted.tensors(self.results()) }.into_iter()))
    }

    /// As [`run`](NativeCall::run), and computes large results where the caller wants them, with an
    /// entry for each result. A result that lies elsewhere afterwards is read as always. Elements
    /// must have the size of words, so that a destination is taken for the result alone that has
    /// its number of elements.
    pub fn run_into(
        &mut self,
        seen: Seen,
        destinations: &[Option<Destination<'_>>],
    ) -> Result<(), Failure> {
        let narrow = |result: &ResultType| matches!(result, ResultType::Buffer(ScalarTy::Bool, _));
        let is_narrow =
            self.native.precision != Precision::F64 || self.native.results.iter().any(narrow);
        let Some(set) = self.native.set_host.filter(|_| !is_narrow) else { return self.run(seen) };
        let mut offered = destinations.to_vec();
        let mut hosted = Hosted::offering(&mut offered);
        if let Some(context) = self.context() {
            // SAFETY: as in `take`.
            unsafe { set(context, Some(hosted::give), (&raw mut hosted).cast()) };
        }
        let ended = self.run(seen);
        if let Some(context) = self.context() {
            // SAFETY: as in `take`.
            unsafe { set(context, None, std::ptr::null_mut()) };
        }
        self.blocks = hosted.into_blocks();
        ended?;
        self.sort_out(destinations);
        Ok(())
    }

    /// Moves results out of the destinations of others: equally large ones may have been given in
    /// any order.
    fn sort_out(&mut self, destinations: &[Option<Destination<'_>>]) {
        let mut at = 0;
        let mut misplaced = Vec::new();
        for (k, (result, got)) in self.native.results.iter().zip(self.results()).enumerate() {
            let word = at;
            at += result.words();
            let address = self.owned.as_ref().map_or(0, |owned| owned.words[word]);
            let is_here = |place: &Option<Destination<'_>>| {
                place.is_some_and(|place| place.memory as u64 == address)
            };
            if destinations.iter().enumerate().any(|(j, place)| j != k && is_here(place)) {
                let words: Vec<u64> = match got {
                    Got::Array(_, Elements::Real(values)) => {
                        values.iter().map(|x| x.to_bits()).collect()
                    }
                    Got::Array(_, Elements::Int(values)) => {
                        values.iter().map(|x| *x as u64).collect()
                    }
                    Got::Array(..) | Got::Scalar(_) => continue, // no address of such elements
                };
                misplaced.push((word, words));
            }
        }
        for (word, words) in misplaced {
            self.owned().words[word] = words.as_ptr() as u64;
            self.blocks.push(words);
        }
    }

    /// The context, unless the system had no memory for a new one.
    fn context(&mut self) -> Option<Context> {
        Some(self.owned().context).filter(|context| !context.is_null())
    }

    /// Calls the function and returns the elapsed nanoseconds.
    pub fn timed(&mut self) -> Result<u64, Failure> {
        let start = Instant::now();
        self.enter()?;
        Ok(start.elapsed().as_nanos() as u64)
    }

    fn enter(&mut self) -> Result<(), Failure> {
        let native = self.native;
        let owned = self.owned();
        if owned.context.is_null() {
            return Err(failed_to_open(&native.name));
        }
        if let Some(set) = native.set_stack {
            owned.reserve(set, native.memory());
        }
        let (context, args) = (owned.context, owned.args.as_ptr());
        let words = owned.words.as_mut_ptr();
        // SAFETY: this call owns the context. The arguments have the number and types that the
        // function requires, arrays among them outlive the call, and `words` has room for the
        // results. The function only accesses these and the memory of its context: it has been
        // checked, and its offsets are in range if the sizes are those of the arrays, as
        // `Kernel::with` demands.
        let call = || unsafe { (native.entry)(context, args, words) };
        let call = || match native.flushes {
            true => Mode::current().flushing().during(call),
            false => call(),
        };
        let run = || match &owned.stack {
            None => call(),
            Some(stack) => stack.run(call),
        };
        let status = match Cancel::current() {
            None => run(),
            Some(cancel) => {
                // SAFETY: the context stays open while the call runs in it.
                let running = unsafe { Running::code(context, native.set_cancelled) };
                let status = cancel.during(running, run);
                // SAFETY: the context is open and ours, and `cancel` no longer refers to it.
                unsafe { (native.set_cancelled)(context, 0) };
                status
            }
        };
        if status == 0 && are_possible(&native.results, &owned.words) {
            return Ok(());
        }
        if let 2..=4 = status {
            native.renew(owned);
        }
        let failure = native.why(status, &owned.words);
        // Reading results despite the failure yields zeros and empty arrays.
        owned.words.fill(0);
        Err(failure)
    }

    /// The results of the run in order, in place.
    #[inline]
    pub fn results(&self) -> Results<'_> {
        let words = self.owned.as_ref().map_or(&[][..], |owned| &owned.words);
        let Native { precision, results, .. } = self.native;
        Results { precision: *precision, outputs: results.iter(), words }
    }
}

impl Owned {
    /// Reserves the stack; the program may use as much of it as its memory limit allows.
    fn reserve(&mut self, set: SetStack, limit: Memory) {
        if self.stack.is_none() {
            self.stack = Stack::new();
        }
        if let Some(stack) = &self.stack {
            // SAFETY: the context is open and ours, and no call is using it.
            unsafe { set(self.context, (stack.room() as u64).min(limit.limit)) };
        }
    }
}

/// Callback of machine code for inspected values.
unsafe extern "C" fn see(who: *const c_void, number: i64, words: *const u64) {
    // SAFETY: `NativeCall::run` passes the address of a `Watch`, which it keeps until machine code
    // has returned.
    let watch = unsafe { &*who.cast::<Watch>() };
    let Some(values) = u32::try_from(number).ok().and_then(|n| watch.values.get(&n)) else {
        return;
    };
    let count: usize = values.iter().map(ResultType::words).sum();
    let words = match count {
        0 => &[],
        // SAFETY: the code passes as many words as the values of this number take.
        _ => unsafe { std::slice::from_raw_parts(words, count) },
    };
    if are_possible(values, words) {
        let parts = Results { precision: watch.precision, outputs: values.iter(), words };
        // Observers see subnormal numbers even if the call flushes them to zero.
        let tell = || (watch.seen)(number as u32, parts.map(Got::tensor).collect());
        Mode::current().keeping().during(tell);
    }
}
