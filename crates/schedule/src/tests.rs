//! Random programs: the graph agrees with the program, and so does the program restored from it.

mod axes;
mod carries;
mod factor;
mod fuse;
mod kernels;
mod phases;
mod placed;

use lambada_anf::{Atom, Function, Var, check, eval, generate, generate_with_library, print};
use lambada_prim::{Data, Scalar, Tensor};
use lambada_source::Failure;
use lambada_testkit::Tolerance;

use lambada_graph::Nominal;

use crate::{Leave, prepared, through_graphs, whole};
use lambada_graph::{self as graph, Graph};

fn close(a: &Tensor, b: &Tensor) -> bool {
    let equal = |x: &f64, y: &f64| Tolerance::mixed(1e-7).accepts(*x, *y);
    match (&a.data, &b.data) {
        (Data::Real(u), Data::Real(v)) => {
            a.dims == b.dims && u.iter().zip(v).all(|(x, y)| equal(x, y))
        }
        (Data::Int(_) | Data::Bool(_) | Data::Real(_), _) => a == b,
    }
}

/// Whether two runs have equal results, or fail alike.
pub(crate) fn agree(
    x: &Result<Vec<Tensor>, Failure>,
    y: &Result<Vec<Tensor>, Failure>,
) -> Result<(), String> {
    match (x, y) {
        (Ok(a), Ok(b)) if a.len() == b.len() && a.iter().zip(b).all(|(a, b)| close(a, b)) => Ok(()),
        (Err(a), Err(b)) if a == b => Ok(()),
        (_, _) => Err(format!("{x:?}\nis not\n{y:?}")),
    }
}

/// The inputs of a graph, for arguments of its function.
pub(crate) fn inputs_of(
    function: &Function,
    graph: &crate::Distributed,
    args: &[Tensor],
) -> Vec<Tensor> {
    let param = |var| function.params.iter().position(|p| p.var == var).map(|k| args[k].clone());
    let input = |v: &Var| param(*v).or_else(|| size_of(function, args, *v)).expect("an input");
    graph.inputs.iter().map(input).collect()
}

fn size_of(function: &Function, args: &[Tensor], var: Var) -> Option<Tensor> {
    function.params.iter().zip(args).find_map(|(p, arg)| {
        let k = p.ty.dims.iter().position(|d| *d == Atom::Var(var))?;
        Some(Tensor::scalar(Scalar::Int(arg.dims[k] as i64)))
    })
}

/// The results of a graph, for arguments of its function.
pub(crate) fn run_graph(
    function: &Function,
    graph: &crate::Distributed,
    args: &[Tensor],
) -> Result<Vec<Tensor>, Failure> {
    let size = |var| size_of(function, args, var);
    let param = |var| function.params.iter().position(|p| p.var == var).map(|k| args[k].clone());
    let inputs = inputs_of(function, graph, args);
    let found = graph::eval(&graph.graph, &inputs)?.results;
    let result = |atom: &Atom| match atom {
        Atom::Lit(value) => Tensor::scalar(*value),
        Atom::Var(var) => {
            let output = graph.outputs.iter().position(|known| known == var);
            let given = output.map(|k| found[k].clone());
            given.or_else(|| param(*var)).or_else(|| size(*var)).expect("a result")
        }
    };
    Ok(function.body.results.iter().map(result).collect())
}

/// A graph is well formed, and its text reads back.
pub(crate) fn well_formed(graph: &Graph) {
    let text = graph::print(graph);
    graph::check(graph).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let again = graph::read(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let again = graph::cleaned(&again);
    graph::check(&again).unwrap_or_else(|e| panic!("read: {e}\n{text}"));
    assert_eq!(graph::print(&again), text);
}

/// The program, its graph, and the program that the graph becomes agree.
pub(crate) fn agrees(f: &Function, args: &[Tensor], rewrite: &mut dyn FnMut(Graph) -> Graph) {
    let expected = eval(f, args).map(|o| o.results);
    let mut back = f.clone();
    through_graphs(&mut back, &mut |graph| {
        well_formed(&graph);
        let graph = rewrite(graph);
        well_formed(&graph);
        graph
    });
    check(&back).unwrap_or_else(|e| panic!("{e}\nbefore:\n{}\nafter:\n{}", print(f), print(&back)));
    let found = eval(&back, args).map(|o| o.results);
    agree(&expected, &found)
        .unwrap_or_else(|e| panic!("{e}\nbefore:\n{}\nafter:\n{}", print(f), print(&back)));
    if let Some(mut distributed) = whole(f) {
        distributed.graph = rewrite(distributed.graph);
        let given = run_graph(f, &distributed, args);
        agree(&expected, &given).unwrap_or_else(|e| {
            panic!("graph: {e}\n{}\n{}", print(f), graph::print(&distributed.graph))
        });
    }
}

#[test]
fn generated_programs_come_back() {
    for seed in 0..600 {
        let (f, args) = generate(seed);
        agrees(&f, &args, &mut |graph| graph);
    }
}

#[test]
fn generated_programs_are_prepared() {
    for seed in 2_000..2_600 {
        let (f, args) = generate(seed);
        agrees(&f, &args, &mut |graph| prepared(&graph, &Nominal::default(), Leave::Checked));
    }
}

#[test]
fn generated_programs_with_libraries_come_back() {
    for seed in 0..150 {
        let (f, args) = generate_with_library(seed);
        agrees(&f, &args, &mut |graph| graph);
    }
}
