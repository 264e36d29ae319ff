//! Generated C under the address and undefined-behavior sanitizers, or under that of threads; every
//! array in memory of exactly its size, parallel loops on several threads.
//!
//! Functions are compiled in few units to programs of their own, with a small driver: arguments are
//! data, results are data. A program that a sanitizer stops is restarted behind the call that
//! stopped it, so every bad call is reported, not only the first.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lambada::{Elements, Failure, Scalar, Tensor};
use lambada_codegen::{self as codegen, Memory, unit_with};
use lambada_loops::{self as loops, Function, Operand, Return};
use lambada_prim::ScalarTy;
use lambada_run::{Compiler, Target};

use crate::natives::{Complaint, Native, Unit, units};

/// The greatest number of functions in a unit.
const PER_UNIT: usize = 120;

/// After this many bad calls of one unit, the others are not tried; a complaint says how many are
/// left.
const MOST_BAD_CALLS: usize = 20;

/// How the units are compiled: rounding as in the interpreter, reports with lines.
const FLAGS: &[&str] = &[
    "-std=gnu11",
    "-O0",
    "-g1",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
    "-fno-math-errno",
    "-ffp-contract=off",
    "-fopenmp-simd",
    "-fwrapv",
    "-w",
];

/// The errors to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sanitizers {
    /// Accesses out of bounds, use of freed memory, undefined behavior.
    Memory,
    /// Races between threads.
    Threads,
}

impl Sanitizers {
    fn flags(self) -> &'static [&'static str] {
        match self {
            // Checks that the address sanitizer makes anyway, where the pointer is used, are left
            // out: they double the time of the C compiler. Accesses are checked by calls, which are
            // less code than checks in place; clang ignores that flag.
            Sanitizers::Memory => &[
                "-fsanitize=address,undefined",
                "-fno-sanitize=null,alignment,object-size,pointer-overflow",
                "--param=asan-instrumentation-with-call-threshold=0",
            ],
            Sanitizers::Threads => &["-fsanitize=thread"],
        }
    }
}

/// The part of the driver that is the same for all units. Each call is made twice in one context,
/// as kernels are used.
const DRIVER: &str = r#"
static void get(void *to, int64_t bytes) {
    if (bytes > 0 && fread(to, 1, bytes, stdin) != (size_t)bytes) exit(90);
}
static int64_t number(void) { int64_t x; get(&x, 8); return x; }
static void put(const void *from, int64_t bytes) {
    if (bytes > 0 && fwrite(from, 1, bytes, stdout) != (size_t)bytes) exit(91);
}
static void tell(int64_t x) { put(&x, 8); }

struct worker { void (*work)(void *, int64_t); void *team; int64_t number; };
static void *run(void *of) {
    struct worker *worker = of;
    worker->work(worker->team, worker->number);
    return 0;
}
static void fork_(void *pool, int64_t count, void (*work)(void *, int64_t), void *team) {
    pthread_t threads[THREADS];
    struct worker workers[THREADS];
    (void)pool;
    for (int64_t k = 0; k < count; k++) {
        workers[k] = (struct worker){work, team, k};
        if (pthread_create(&threads[k], 0, run, &workers[k])) exit(92);
    }
    for (int64_t k = 0; k < count; k++) pthread_join(threads[k], 0);
}

int main(void) {
    int64_t call;
    while (fread(&call, 8, 1, stdin) == 1) {
        tell(call);
        fflush(stdout);
        alarm(60);
        entry *function = entries[number()];
        int64_t count = number();
        union word *args = malloc(count * sizeof *args);
        void **arrays = calloc(count, sizeof *arrays);
        for (int64_t k = 0; k < count; k++) {
            int64_t bytes = number();
            if (bytes < 0) args[k].integer = number();
            else { arrays[k] = malloc(bytes); get(arrays[k], bytes); args[k].data = arrays[k]; }
        }
        int64_t words = number();
        union word *results = malloc(words * sizeof *results);
        struct lambada_context *context = lambada_context_open();
        if (lambada_context_threads && lambada_context_threads(context, THREADS, fork_, 0)) exit(93);
        function(context, args, results);
        int status = function(context, args, results);
        int64_t outputs = number();
        tell(status);
        if (status == 1) put(results, words * 8);
        for (int64_t k = 0, word = 0; k < outputs; k++) {
            int64_t rank = number(), size = number();
            if (status != 0) continue;
            if (rank < 0) { tell(results[word++].integer); continue; }
            const void *data = results[word++].data;
            int64_t bytes = size;
            for (int64_t axis = 0; axis < rank; axis++) { bytes *= results[word].integer; tell(results[word++].integer); }
            put(data, bytes);
        }
        lambada_context_close(context);
        for (int64_t k = 0; k < count; k++) free(arrays[k]);
        free(arrays); free(args); free(results);
        fflush(stdout);
    }
    return 0;
}
"#;

/// Runs all functions under the sanitizers and compares with the interpreter of loops. An error if
/// that is not possible here.
pub fn sanitized_complaints<'a>(
    natives: impl IntoIterator<Item = &'a Native>,
    sanitizers: Sanitizers,
) -> Result<Vec<Complaint>, String> {
    let compiler = Compiler::find().ok_or(lambada_testkit::NO_C_COMPILER)?;
    let folder = tempfile::tempdir().map_err(|e| format!("no folder for C files: {e}"))?;
    supported(compiler, sanitizers, folder.path())?;
    let mut complaints = Vec::new();
    for (k, unit) in units(natives, PER_UNIT).iter().enumerate() {
        let place = folder.path().join(format!("unit_{k}"));
        unit.write(&place)?;
        match compile((compiler, sanitizers), &[place.with_extension("c"), driver(&place)], &place)
        {
            Ok(()) => complaints.extend(unit.run(&place)?),
            Err(e) => complaints.push(unit.complaint(0, format!("its unit does not compile: {e}"))),
        }
    }
    Ok(complaints)
}

fn driver(place: &Path) -> PathBuf {
    place.with_extension("driver.c")
}

/// An error if this compiler cannot make programs with sanitizers, or they do not run.
fn supported(compiler: &Compiler, sanitizers: Sanitizers, folder: &Path) -> Result<(), String> {
    let (source, program) = (folder.join("probe.c"), folder.join("probe"));
    std::fs::write(&source, "int main(void) { return 0; }\n").map_err(|e| e.to_string())?;
    let missing = |why: &str| {
        format!(
            "the sanitizers do not work here: install libasan, libubsan and libtsan (with gcc: part of its libgcc-dev package; with clang: \
             compiler-rt), or set LAMBADA_CC to a compiler that has them\n{why}"
        )
    };
    compile((compiler, sanitizers), &[source], &program).map_err(|e| missing(&e))?;
    let run = Command::new(&program).output().map_err(|e| missing(&e.to_string()))?;
    if run.status.success() { Ok(()) } else { Err(missing(&String::from_utf8_lossy(&run.stderr))) }
}

fn compile(
    (compiler, sanitizers): (&Compiler, Sanitizers),
    sources: &[PathBuf],
    program: &Path,
) -> Result<(), String> {
    let output = compiler
        .command()
        .args(FLAGS)
        // Vectors of the machine's width: others are taken apart, which is half as much code again
        // for the C compiler.
        .args(Target::Here.flags())
        .args(sanitizers.flags())
        .args(sources)
        .arg("-o")
        .arg(program)
        .args(["-lm", "-pthread"])
        .stdin(Stdio::null())
        .output()
        .map_err(|e| e.to_string())?;
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

impl Unit<'_> {
    /// Writes the C files.
    fn write(&self, place: &Path) -> Result<(), String> {
        let unit = unit_with(&self.functions, Memory::Exact);
        let write = |path: &Path, text: &str| {
            std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
        };
        write(&place.with_extension("c"), &unit.text)?;
        write(&driver(place), &driver_text(&unit))
    }

    /// All calls.
    fn run(&self, program: &Path) -> Result<Vec<Complaint>, String> {
        let (mut complaints, mut next) = (Vec::new(), 0);
        for bad in 0.. {
            let Stopped { finished, report } = self.run_from(next, program, &mut complaints)?;
            let Some(report) = report else { break };
            complaints.push(self.complaint(finished, report));
            next = finished + 1;
            if bad == MOST_BAD_CALLS {
                let left = self.calls.len() - next;
                complaints
                    .push(self.complaint(finished, format!("{left} calls after it are not tried")));
                break;
            }
        }
        Ok(complaints)
    }

    /// Makes the calls from a number on until a sanitizer stops one.
    fn run_from(
        &self,
        from: usize,
        program: &Path,
        complaints: &mut Vec<Complaint>,
    ) -> Result<Stopped, String> {
        let calls = &self.calls[from..];
        let file = |extension: &str| -> PathBuf { program.with_extension(extension) };
        let failed = |e: std::io::Error| format!("{}: {e}", program.display());
        let mut input = Vec::new();
        calls.iter().for_each(|(number, function, native)| {
            encode(&mut input, *number, *function, native);
        });
        std::fs::write(file("in"), &input).map_err(failed)?;
        let status = Command::new(program)
            .env("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1")
            .env("UBSAN_OPTIONS", "print_stacktrace=1")
            .env("TSAN_OPTIONS", "halt_on_error=1")
            .stdin(File::open(file("in")).map_err(failed)?)
            .stdout(File::create(file("out")).map_err(failed)?)
            .stderr(File::create(file("err")).map_err(failed)?)
            .status()
            .map_err(failed)?;
        let output = std::fs::read(file("out")).map_err(failed)?;
        let mut reader = ReportReader(&output);
        for (call, (number, _, native)) in (from..).zip(calls) {
            let found = reader
                .number()
                .map(|told| assert_eq!(told, *number as i64))
                .and_then(|()| reader.results(&native.function));
            let Some(found) = found else {
                let errors = std::fs::read(file("err")).map_err(failed)?;
                let report = report(&String::from_utf8_lossy(&errors), &status.to_string());
                return Ok(Stopped { finished: call, report: Some(report) });
            };
            complaints.extend(self.compare(call, "sanitized against loops", found));
        }
        Ok(Stopped { finished: self.calls.len(), report: None })
    }
}

/// The number of the first call that did not end, and the report of its cause.
struct Stopped {
    finished: usize,
    report: Option<String>,
}

/// The lines of a report with the error and its place.
fn report(errors: &str, status: &str) -> String {
    let telling = |line: &&str| {
        line.contains("ERROR:")
            || line.contains("WARNING: ThreadSanitizer")
            || line.contains("runtime error:")
            || line.starts_with("READ of")
            || line.starts_with("WRITE of")
            || (line.trim_start().starts_with('#') && line.contains(" in kernel_"))
    };
    let lines: Vec<&str> = errors.lines().filter(telling).take(6).map(str::trim).collect();
    if lines.is_empty() { format!("stopped by {status}: {errors}") } else { lines.join("\n    ") }
}

fn driver_text(unit: &codegen::Unit) -> String {
    let declarations: String =
        unit.symbols.iter().map(|symbol| format!("extern entry {symbol};\n")).collect();
    format!(
        "#include <pthread.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n\
         union word {{ double real; int64_t integer; const void *data; }};\n\
         struct lambada_context;\n\
         struct lambada_context *lambada_context_open(void);\n\
         void lambada_context_close(struct lambada_context *);\n\
         #define THREADS 3\n\
         __attribute__((weak)) int lambada_context_threads(struct lambada_context *, int64_t, void (*)(void *, int64_t, void (*)(void *, int64_t), void *), void *);\n\
         typedef int entry(struct lambada_context *, const union word *, union word *);\n\
         {declarations}static entry *const entries[] = {{{}}};\n{DRIVER}",
        unit.symbols.join(", ")
    )
}

/// A call as the driver reads it.
fn encode(out: &mut Vec<u8>, number: usize, function: usize, native: &Native) {
    let tell = |value: i64, out: &mut Vec<u8>| out.extend(value.to_le_bytes());
    let params = loops::param_types(&native.function);
    tell(number as i64, out);
    tell(function as i64, out);
    tell(params.len() as i64, out);
    for ((_, scalar), arg) in params.into_iter().zip(&native.args) {
        if scalar {
            tell(-1, out);
            out.extend(match arg.data.get(0) {
                Scalar::Real(x) => x.to_le_bytes(),
                Scalar::Int(k) => k.to_le_bytes(),
                Scalar::Bool(b) => i64::from(b).to_le_bytes(),
            });
        } else {
            let bytes: Vec<u8> = match &arg.data {
                Elements::Real(values) => values.iter().flat_map(|x| x.to_le_bytes()).collect(),
                Elements::Int(values) => values.iter().flat_map(|k| k.to_le_bytes()).collect(),
                Elements::Bool(values) => values.iter().map(|b| u8::from(*b)).collect(),
            };
            tell(bytes.len() as i64, out);
            out.extend(bytes);
        }
    }
    tell(lambada_codegen::result_words(&native.function) as i64, out);
    tell(native.function.results.len() as i64, out);
    for result in &native.function.results {
        let (rank, elem) = output(&native.function, result);
        tell(rank.map_or(-1, |rank| rank as i64), out);
        tell(if elem == ScalarTy::Bool { 1 } else { 8 }, out);
    }
}

/// The number of axes of an array, and the elements.
fn output(function: &Function, result: &Return) -> (Option<usize>, ScalarTy) {
    match result {
        Return::Scalar(Operand::Reg(reg)) => (None, function.regs[reg.0 as usize].0.elem),
        Return::Scalar(Operand::Lit(value)) => (None, value.ty()),
        Return::Buffer(buf, dims) => (Some(dims.len()), function.bufs[buf.0 as usize].0),
    }
}

/// The unread rest of the driver's output.
struct ReportReader<'a>(&'a [u8]);

impl ReportReader<'_> {
    fn bytes(&mut self, count: usize) -> Option<&[u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    fn number(&mut self) -> Option<i64> {
        self.bytes(8).map(|bytes| i64::from_le_bytes(bytes.try_into().expect("eight bytes")))
    }

    /// The outcome of a call, if it came to its end.
    fn results(&mut self, function: &Function) -> Option<Result<Vec<Tensor>, Failure>> {
        match self.number()? {
            0 => {}
            1 => {
                let words = lambada_codegen::result_words(function);
                let words: Option<Vec<i64>> = (0..words).map(|_| self.number()).collect();
                let words = words?;
                let site = &function.all_sites()[words[0] as usize];
                return Some(Err(Failure { span: site.span, message: site.describe(&words[1..]) }));
            }
            // The programs of the run are small, so this is reported as a failure.
            _ => {
                let message = "out of memory".to_string();
                return Some(Err(Failure { span: Default::default(), message }));
            }
        }
        let mut tensors = Vec::new();
        for result in &function.results {
            let (rank, elem) = output(function, result);
            let Some(rank) = rank else {
                let word = self.number()?;
                tensors.push(Tensor::scalar(match elem {
                    ScalarTy::Real => Scalar::Real(f64::from_bits(word as u64)),
                    ScalarTy::Int => Scalar::Int(word),
                    ScalarTy::Bool => Scalar::Bool(word != 0),
                }));
                continue;
            };
            let dims: Option<Vec<usize>> =
                (0..rank).map(|_| self.number().map(|size| size as usize)).collect();
            let dims = dims?;
            let len: usize = dims.iter().product();
            let words = |bytes: &[u8]| -> Vec<[u8; 8]> {
                bytes.chunks_exact(8).map(|b| b.try_into().expect("eight bytes")).collect()
            };
            let data = match elem {
                ScalarTy::Real => Elements::Real(
                    words(self.bytes(8 * len)?).into_iter().map(f64::from_le_bytes).collect(),
                ),
                ScalarTy::Int => Elements::Int(
                    words(self.bytes(8 * len)?).into_iter().map(i64::from_le_bytes).collect(),
                ),
                ScalarTy::Bool => {
                    Elements::Bool(self.bytes(len)?.iter().map(|b| *b != 0).collect())
                }
            };
            tensors.push(Tensor { dims, data });
        }
        Some(Ok(tensors))
    }
}
