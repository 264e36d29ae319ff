//! Tests: the lowered function agrees with the evaluator of anf, bit for bit, and makes no unneeded
//! copy.

mod aliasing;
mod copies;
mod cost;
mod library;
mod random;
mod split;
mod traps;

use lambada_anf::{Atom, Builder, Function, Names, Nest, Op, Param, Ty, Var};
use lambada_loops::{self as loops, Step, Stmt, visit};
use lambada_prim::{Data, Scalar, Tensor};
use lambada_source::Failure;

use lambada_lower::lower;

/// The arguments of a lowered function: sizes, then arrays.
fn with_sizes(f: &Function, args: &[Tensor]) -> Vec<Tensor> {
    let size = |var: &Var| {
        let found = f.params.iter().zip(args).find_map(|(p, arg)| {
            p.ty.dims.iter().position(|d| *d == Atom::Var(*var)).map(|k| arg.dims[k])
        });
        Tensor::scalar(Scalar::Int(found.expect("a size occurs in a parameter") as i64))
    };
    f.sizes.iter().map(size).chain(args.iter().cloned()).collect()
}

/// The sizes and the elements of a tensor.
type Bits = (Vec<usize>, Vec<u64>);

/// The results, with reals as bits and all NaNs equal.
fn bits(results: Result<Vec<Tensor>, Failure>) -> Result<Vec<Bits>, Failure> {
    let word = |x: f64| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() };
    let words = |data: &Data| match data {
        Data::Real(v) => v.iter().map(|x| word(*x)).collect(),
        Data::Int(v) => v.iter().map(|x| *x as u64).collect(),
        Data::Bool(v) => v.iter().map(|x| u64::from(*x)).collect(),
    };
    Ok(results?.iter().map(|t| (t.dims.clone(), words(&t.data))).collect())
}

/// Lowers, checks, runs, compares; returns the lowered function. Accesses that are not evidently in
/// range get checks first.
fn agrees(f: &Function, args: &[Tensor]) -> lambada_loops::Function {
    let mut guarded = f.clone();
    lambada_anf::guard(&mut guarded);
    let f = &guarded;
    lambada_anf::check(f).unwrap_or_else(|e| panic!("{e}\n{}", lambada_anf::print(f)));
    let lowered = lower(f);
    let text =
        || format!("{}\n{}\n{args:?}", lambada_anf::print(f), lambada_loops::print(&lowered));
    lambada_loops::check(&lowered).unwrap_or_else(|e| panic!("{e}\n{}", text()));
    let printed = lambada_loops::print(&lowered);
    let again = lambada_loops::read(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
    assert_eq!(lambada_loops::print(&again), printed, "what is printed reads back");
    lambada_loops::check(&again).unwrap_or_else(|e| panic!("{e}\n{printed}"));
    let expected = bits(lambada_anf::eval(f, args).map(|outcome| outcome.results));
    let found = bits(lambada_loops::eval(&lowered, &with_sizes(f, args)));
    assert!(found == expected, "{found:?}\nis not\n{expected:?}\n{}", text());
    lowered
}

/// A function of arrays of reals and real scalars over sizes `n` and `m`; `dims` lists the
/// parameters' sizes.
fn function(
    dims: &[&[&str]],
    build: impl FnOnce(&mut Builder, &[Var], &[Atom]) -> Vec<(Atom, Ty)>,
) -> Function {
    let mut names = Names::default();
    let sizes = [names.fresh("n"), names.fresh("m")];
    let size = |name: &&str| match *name {
        "n" => Atom::Var(sizes[0]),
        "m" => Atom::Var(sizes[1]),
        other => Atom::int(other.parse().expect("a size")),
    };
    let types: Vec<Ty> = dims
        .iter()
        .map(|dims| Ty { elem: lambada_anf::Elem::REAL, dims: dims.iter().map(size).collect() })
        .collect();
    let params: Vec<Param> = types
        .into_iter()
        .zip(["x", "y", "z", "u", "v"])
        .map(|(ty, hint)| Param { var: names.fresh(hint), ty })
        .collect();
    let vars: Vec<Var> = params.iter().map(|p| p.var).collect();
    let used: Vec<Var> = sizes
        .into_iter()
        .filter(|s| params.iter().any(|p| p.ty.dims.contains(&Atom::Var(*s))))
        .collect();
    let mut b = Builder::new(&mut names);
    let (results, types) = build(&mut b, &vars, &sizes.map(Atom::Var)).into_iter().unzip();
    let body = b.finish(results);
    Function {
        name: "f".into(),
        sizes: used,
        params,
        results: types,
        body,
        names,
        ..Function::default()
    }
}

/// `[extent]real`
fn vector(extent: Atom) -> Ty {
    Ty::real().array_of(extent)
}

fn var(atom: Atom) -> Var {
    atom.as_var().expect("a variable")
}

/// Distinct reals, as an argument.
fn numbers(dims: &[usize]) -> Tensor {
    let len: usize = dims.iter().product();
    Tensor::reals(dims.to_vec(), (0..len).map(|k| 0.25 + k as f64).collect())
}

/// `loop (params = inits) for i < extent { build(i, params) }`
fn loop_for(
    b: &mut Builder,
    extent: Atom,
    states: Vec<(Atom, Ty)>,
    build: impl FnOnce(&mut Builder, Atom, &[Var]) -> Vec<Atom>,
) -> Vec<Atom> {
    let index = b.names.fresh("i");
    let params: Vec<Param> =
        states.iter().map(|(_, ty)| Param { var: b.names.fresh("s"), ty: ty.clone() }).collect();
    let vars: Vec<Var> = params.iter().map(|p| p.var).collect();
    let body = b.block(|b| build(b, index.into(), &vars));
    let binds = states.iter().map(|(_, ty)| ("r".into(), ty.clone())).collect();
    let inits = states.into_iter().map(|(init, _)| init).collect();
    b.bind_all(
        binds,
        Nest::Loop { params, inits, kind: lambada_anf::LoopKind::counted(index, extent), body },
    )
}

/// `for i < extent { build(i) }`, collected.
fn collect(
    b: &mut Builder,
    extent: Atom,
    elem: &Ty,
    build: impl FnOnce(&mut Builder, Atom) -> Atom,
) -> Atom {
    let index = b.names.fresh("i");
    let body = b.block(|b| vec![build(b, index.into())]);
    b.bind(
        "ys",
        elem.array_of(extent),
        Nest::For { index, extent, outs: vec![lambada_anf::Out::Collect], body },
    )
}

/// `for i < extent { build(i) }`, for its additions.
fn each(b: &mut Builder, extent: Atom, build: impl FnOnce(&mut Builder, Atom)) {
    let index = b.names.fresh("i");
    let body = b.block(|b| {
        build(b, index.into());
        Vec::new()
    });
    b.effect(Nest::For { index, extent, outs: Vec::new(), body });
}

fn update(b: &mut Builder, ty: &Ty, array: Atom, index: &[Atom], value: Atom) -> Atom {
    b.bind("u", ty.clone(), Op::Update { array: var(array), index: index.to_vec(), value })
}

/// The number of statements of a kind, at any depth.
fn count(body: &[Stmt], is: impl Fn(&Stmt) -> bool) -> usize {
    let mut count = 0;
    visit(body, &mut |stmt| count += usize::from(is(stmt)));
    count
}

fn copies(body: &[Stmt]) -> usize {
    count(body, |stmt| matches!(stmt, Stmt::Step(Step::Copy { .. })))
}

fn allocs(body: &[Stmt]) -> usize {
    count(body, |stmt| matches!(stmt, Stmt::Step(Step::Alloc { .. })))
}

/// The bodies of the loops at the top level.
fn loop_bodies(f: &loops::Function) -> Vec<&[Stmt]> {
    let bodies = f.body.iter().filter_map(|stmt| match stmt {
        Stmt::Nest(loops::Nest::For { body, .. } | loops::Nest::While { body, .. }) => {
            Some(&body[..])
        }
        Stmt::Step(_)
        | Stmt::Nest(
            loops::Nest::If { .. } | loops::Nest::Scope(..) | loops::Nest::Parallel { .. },
        ) => None,
    });
    bodies.collect()
}
