//! Programs with libraries, drawn at random and written by hand: machine code does as the
//! interpreter of loops, in large and small C functions, and touches nothing that is not its own.

use lambada::{Scalar, Tensor};
use lambada_anf::{Atom, Function};
use lambada_loops as loops;
use lambada_testkit::parallel;
use lambada_tests::natives::{Native, What, native_complaints};
use lambada_tests::sanitizer::{Sanitizers, sanitized_complaints};
use lambada_tests::seeds;

/// The sizes of the arguments, then the arguments.
fn with_sizes(f: &Function, args: Vec<Tensor>) -> Vec<Tensor> {
    let size = |var: &lambada_anf::Var| {
        let found = f.params.iter().zip(&args).find_map(|(p, arg)| {
            p.ty.dims.iter().position(|d| *d == Atom::Var(*var)).map(|k| arg.dims[k])
        });
        Tensor::scalar(Scalar::Int(found.expect("a size occurs in a parameter") as i64))
    };
    let sizes: Vec<Tensor> = f.sizes.iter().map(size).collect();
    sizes.into_iter().chain(args).collect()
}

fn native(name: String, function: loops::Function, args: Vec<Tensor>) -> Native {
    loops::check(&function).unwrap_or_else(|e| panic!("{name}: {e}"));
    let expected = loops::eval(&function, &args);
    Native { name, what: What::Value, function, args, expected }
}

fn drawn(seed: u64) -> Native {
    let (mut f, args) = lambada_anf::generate_with_library(seed);
    lambada_anf::guard(&mut f);
    let args = with_sizes(&f, args);
    native(format!("seed {seed}"), lambada_lower::lower(&f), args)
}

fn written() -> Vec<Native> {
    let programs = [
        ("factorial", include_str!("../../crates/loops/tests/programs/factorial.loops")),
        ("parity", include_str!("../../crates/loops/tests/programs/parity.loops")),
        ("list", include_str!("../../crates/loops/tests/programs/list.loops")),
        ("vectors", include_str!("../../crates/loops/tests/programs/vectors.loops")),
        ("scopes", include_str!("../../crates/loops/tests/programs/scopes.loops")),
    ];
    let at = |(name, text): (&str, &str), n: i64| {
        let function = loops::read(text).unwrap_or_else(|e| panic!("{name}: {e}"));
        native(format!("{name} {n}"), function, vec![Tensor::scalar(Scalar::Int(n))])
    };
    programs.into_iter().flat_map(|program| [0, 1, 5, 20].map(|n| at(program, n))).collect()
}

fn told(complaints: Vec<lambada_tests::natives::Complaint>) {
    let shown: Vec<String> = complaints.iter().take(10).map(ToString::to_string).collect();
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), shown.join("\n"));
}

#[test]
fn machine_code_does_as_the_interpreter() {
    let seeds: Vec<u64> = seeds(80).collect();
    let found = parallel(&seeds.chunks(20).collect::<Vec<_>>(), |seeds| {
        native_complaints(&seeds.iter().copied().map(drawn).collect::<Vec<_>>())
    });
    told(found.into_iter().flatten().collect());
}

#[test]
fn no_program_touches_what_is_not_its_own() {
    if lambada_run::Compiler::find().is_none() && lambada_testkit::may_lack_c_compiler() {
        return;
    }
    let mut natives = written();
    natives.extend(seeds(50).map(drawn));
    told(sanitized_complaints(&natives, Sanitizers::Memory).unwrap_or_else(|e| panic!("{e}")));
}

#[test]
fn drawn_programs_call_and_make_nodes() {
    let natives: Vec<Native> = seeds(100).map(drawn).collect();
    let succeed = natives.iter().filter(|native| native.expected.is_ok()).count();
    let has = |is: fn(&loops::Step) -> bool| {
        let in_some = |native: &&Native| {
            let mut found = false;
            for function in native.function.all() {
                loops::visit(&function.body, &mut |stmt| match stmt {
                    loops::Stmt::Step(step) => found |= is(step),
                    loops::Stmt::Nest(_) => {}
                });
            }
            found
        };
        natives.iter().filter(in_some).count()
    };
    assert!(2 * succeed >= natives.len(), "{succeed} succeed");
    assert!(has(|step| matches!(step, loops::Step::Call { .. })) >= 50);
    assert!(has(|step| matches!(step, loops::Step::Node { .. })) >= 30);
    assert!(has(|step| matches!(step, loops::Step::Open { .. })) >= 20);
}
