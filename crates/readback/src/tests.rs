use lambada_anf::{
    Atom, Builder, Checkpoint, Function, LoopKind, Names, Nest, Op, Out, Param, Ty, Var, check,
    generate,
};
use lambada_prim::{Prim, ReduceOp, Scalar, ScalarTy};
use lambada_source::FileId;
use lambada_surface::ast::{Expr, TypeKind};
use lambada_surface::{build, parse, print_def};

use crate::{Interface, Leaf, Reading, definition};

mod library;
mod locals;
mod unused;

/// The function with its own parameters and results.
fn shown(f: &Function, seeds: &[usize]) -> String {
    if let Err(message) = check(f) {
        panic!("{message}\n{}", lambada_anf::print(f));
    }
    let size = |atom: &Atom| match atom {
        Atom::Lit(Scalar::Int(k)) => Some(build::int(*k)),
        Atom::Lit(_) => None,
        Atom::Var(var) => f.sizes.contains(var).then(|| build::var(f.names.hint(*var))),
    };
    let ty = |ty: &Ty| {
        ty.dims.iter().rev().fold(build::named_ty(ty.elem.to_string()), |elem, dim| {
            build::ty(TypeKind::Array(size(dim).map(Box::new), Box::new(elem)))
        })
    };
    let compose = |results: Vec<Expr>| build::tuple(results);
    let interface = Interface {
        name: "g".into(),
        doc: None,
        sizes: f.sizes.iter().map(|s| f.names.hint(*s)).collect(),
        params: f.params.iter().map(|p| (f.names.hint(p.var), ty(&p.ty))).collect(),
        leaves: (0..f.params.len()).map(|param| Leaf { param, reading: Reading::Whole }).collect(),
        result: Some(build::tuple_ty(f.results.iter().map(ty).collect())),
        results: Vec::new(),
        linear: true,
        compose: &compose,
        seeds: seeds.to_vec(),
        types: Vec::new(),
        place: &|_| None,
    };
    let text = print_def(&definition(f, &interface));
    let (_, problems) = parse(&text, FileId(0));
    assert!(problems.is_empty(), "{problems:?}\n{text}");
    text
}

/// `f [n] (xs : [n]real) (x : real)` whose body is built by the closure, which gives the results
/// and their types.
fn function(build: impl FnOnce(&mut Builder, Var, Var, Var) -> Vec<(Atom, Ty)>) -> Function {
    let mut names = Names::default();
    let (n, xs, x) = (names.fresh("n"), names.fresh("xs"), names.fresh("x"));
    let mut b = Builder::new(&mut names);
    let (results, types) = build(&mut b, n, xs, x).into_iter().unzip();
    let body = b.finish(results);
    let params = vec![
        Param { var: xs, ty: Ty::real().array_of(n.into()) },
        Param { var: x, ty: Ty::real() },
    ];
    Function {
        name: "f".into(),
        sizes: vec![n],
        params,
        results: types,
        body,
        names,
        ..Function::default()
    }
}

/// `for i < n (outs) { build }`
fn for_(
    b: &mut Builder,
    extent: Atom,
    outs: Vec<(Out, Ty)>,
    build: impl FnOnce(&mut Builder, Atom) -> Vec<Atom>,
) -> Vec<Atom> {
    let index = b.names.fresh("i");
    let body = b.block(|b| build(b, index.into()));
    let (outs, types): (Vec<Out>, Vec<Ty>) = outs.into_iter().unzip();
    b.bind_all(
        types.into_iter().map(|ty| ("ys".into(), ty)).collect(),
        Nest::For { index, extent, outs, body },
    )
}

#[test]
fn what_is_generated_parses() {
    for seed in 0..400 {
        let (f, _) = generate(seed);
        shown(&f, &[]);
        // Any parameter may be called a cotangent: the statements keep their order where they need
        // it.
        shown(&f, &[0]);
    }
}

#[test]
fn nothing_is_listed_twice() {
    let f = function(|b, n, xs, x| {
        let ty = Ty::real().array_of(n.into());
        let outs = vec![(Out::Collect, ty.clone()), (Out::Reduce(ReduceOp::Add), Ty::real())];
        let both = for_(b, n.into(), outs, |b, i| {
            let e = b.index(xs, &ty, vec![i]);
            let t = b.prim(Prim::Mul, [x.into(), e]);
            vec![t, t]
        });
        vec![(both[0], ty), (both[1], Ty::real())]
    });
    assert_eq!(
        shown(&f, &[]),
        "def g [n] (xs : [n]real) (x : real) : ([n]real, real) =
  let ys = for i < n => x * xs[i]
  in (ys, sum ys)"
    );
}

#[test]
fn several_results() {
    let f = function(|b, n, xs, x| {
        let ty = Ty::real().array_of(n.into());
        let outs = vec![(Out::Collect, ty.clone()), (Out::Reduce(ReduceOp::Add), Ty::real())];
        let both = for_(b, n.into(), outs, |b, i| {
            let e = b.index(xs, &ty, vec![i]);
            let t = b.prim(Prim::Mul, [x.into(), e]);
            vec![e, t]
        });
        vec![(both[0], ty), (both[1], Ty::real())]
    });
    assert_eq!(
        shown(&f, &[]),
        "def g [n] (xs : [n]real) (x : real) : ([n]real, real) =
  let (ys, ys_terms) = unzip (for i < n => (xs[i], x * xs[i]))
  in (ys, sum ys_terms)"
    );
}

#[test]
fn accumulators_share_a_region() {
    let f = function(|b, n, xs, x| {
        let ty = Ty::real().array_of(n.into());
        let zeros = b.zero(&ty);
        let acc = b.bind("h", ty.clone(), Op::Accumulator(zeros)).as_var().unwrap();
        let total = b.bind("total", Ty::real(), Op::Accumulator(Atom::real(1.0))).as_var().unwrap();
        for_(b, n.into(), vec![], |b, i| {
            let e = b.index(xs, &ty, vec![i]);
            let t = b.prim(Prim::Mul, [x.into(), e]);
            b.effect(Op::Accumulate { acc, index: vec![i], value: t });
            b.effect(Op::Accumulate { acc: total, index: vec![], value: t });
            vec![]
        });
        let h = b.bind("h", ty.clone(), Op::Freeze(acc));
        let s = b.bind("s", Ty::real(), Op::Freeze(total));
        vec![(h, ty), (s, Ty::real())]
    });
    assert_eq!(
        shown(&f, &[]),
        "def g [n] (xs : [n]real) (x : real) : ([n]real, real) =
  accumulate h = for _ < n => 0.0, total = 1.0 in
    for i < n =>
      let t = x * xs[i]
      in h[i] += t; total += t"
    );
}

#[test]
fn scalars() {
    let f = function(|b, n, xs, x| {
        let ty = Ty::real().array_of(n.into());
        let m = for_(b, n.into(), vec![(Out::Reduce(ReduceOp::Max), Ty::real())], |b, i| {
            vec![b.index(xs, &ty, vec![i])]
        })[0];
        let s = for_(b, n.into(), vec![(Out::Reduce(ReduceOp::Add), Ty::real())], |b, i| {
            let e = b.index(xs, &ty, vec![i]);
            let d = b.prim(Prim::Sub, [e, m]);
            vec![b.prim(Prim::Exp, [d])]
        })[0];
        let l = b.prim(Prim::Log, [s]);
        let y = b.prim(Prim::Add, [m, l]);
        let z = b.prim(Prim::Neg, [y]);
        let c = b.prim(Prim::Lt, [z, Atom::real(-1.0)]);
        let w = b.prim(Prim::Select, [c, x.into(), z]);
        vec![(w, Ty::real())]
    });
    assert_eq!(
        shown(&f, &[]),
        "def g [n] (xs : [n]real) (x : real) : real =
  let ys = reduce max (-inf) xs
  let t = -(ys + log (sum (for i < n => exp (xs[i] - ys))))
  in if t < -1.0 then x else t"
    );
}

#[test]
fn conditions_are_joined() {
    let f = function(|b, _, _, x| {
        let truth = Ty::bool();
        let less = |b: &mut Builder, bound: f64| b.prim(Prim::Lt, [x.into(), Atom::real(bound)]);
        let either = |b: &mut Builder, cond: Atom, known: bool, bound: f64| {
            let constant = b.block(|_| vec![Atom::bool(known)]);
            let other = b.block(|b| vec![less(b, bound)]);
            let (then, otherwise) = if known { (constant, other) } else { (other, constant) };
            b.bind("t", truth.clone(), Nest::If { cond, then, otherwise })
        };
        let first = less(b, 1.0);
        let both = either(b, first, false, 2.0);
        let any = either(b, both, true, 3.0);
        vec![(any, truth.clone())]
    });
    assert_eq!(
        shown(&f, &[]),
        "def g [n] (xs : [n]real) (x : real) : bool = x < 1.0 && x < 2.0 || x < 3.0"
    );
}

#[test]
fn names_that_are_called_are_not_taken() {
    let mut f = function(|b, n, xs, x| {
        let ty = Ty::real().array_of(n.into());
        let s = for_(b, n.into(), vec![(Out::Reduce(ReduceOp::Add), Ty::real())], |b, i| {
            vec![b.index(xs, &ty, vec![i])]
        })[0];
        let e = b.prim(Prim::Exp, [x.into()]);
        vec![(b.prim(Prim::Add, [s, e]), Ty::real())]
    });
    f.names.rename(Var(2), "exp");
    f.names.rename(Var(1), "sum");
    assert_eq!(
        shown(&f, &[]),
        "def g [n] (sum1 : [n]real) (exp1 : real) : real = sum sum1 + exp exp1"
    );
}

/// The state of a loop is called as what it starts from where nobody means that any more, and has a
/// number where somebody does.
#[test]
fn names_are_used_again() {
    let text = |kept: bool| {
        let f = function(|b, n, xs, x| {
            let ty = Ty::real().array_of(n.into());
            let start = b.bind("s", Ty::real(), Op::Prim(Prim::Sin, vec![x.into()]));
            let (s, i) = (b.names.fresh("s"), b.names.fresh("i"));
            let body = b.block(|b| {
                let e = b.index(xs, &ty, vec![i.into()]);
                let other = if kept { start } else { x.into() };
                let t = b.prim(Prim::Mul, [e, other]);
                vec![b.prim(Prim::Add, [s.into(), t])]
            });
            let kind = LoopKind::For { index: i, extent: n.into(), checkpoint: Checkpoint::All };
            let params = vec![Param { var: s, ty: Ty::real() }];
            let exp = Nest::Loop { params, inits: vec![start], kind, body };
            vec![(b.bind("s", Ty::real(), exp), Ty::real())]
        });
        shown(&f, &[])
    };
    assert!(text(false).contains("loop s = sin x for i < n do s + xs[i] * x"), "{}", text(false));
    assert_eq!(
        text(true),
        "def g [n] (xs : [n]real) (x : real) : real =
  let s = sin x
  in loop s1 = s for i < n do s1 + xs[i] * s"
    );
}

/// A size in a type of the head is a parameter, which keeps its name.
#[test]
fn parameters_that_are_sizes_keep_their_names() {
    let mut names = Names::default();
    let (n, xs) = (names.fresh("n"), names.fresh("xs"));
    let mut b = Builder::new(&mut names);
    let m = b.prim(Prim::AddInt, [n.into(), Atom::int(1)]);
    let body = b.finish(vec![m]);
    let params =
        vec![Param { var: n, ty: Ty::int() }, Param { var: xs, ty: Ty::real().array_of(n.into()) }];
    let f = Function {
        name: "f".into(),
        sizes: vec![],
        params,
        results: vec![Ty::int()],
        body,
        names,
        ..Function::default()
    };
    let compose = |results: Vec<Expr>| build::tuple(results);
    let size = Some(Box::new(build::var("n")));
    let array = build::ty(TypeKind::Array(size, Box::new(build::named_ty("real"))));
    let interface = Interface {
        name: "g".into(),
        doc: None,
        sizes: Vec::new(),
        params: vec![("n".into(), build::named_ty("int")), ("xs".into(), array)],
        leaves: (0..2).map(|param| Leaf { param, reading: Reading::Whole }).collect(),
        result: Some(build::named_ty("int")),
        results: Vec::new(),
        linear: true,
        compose: &compose,
        seeds: Vec::new(),
        types: Vec::new(),
        place: &|_| None,
    };
    assert_eq!(
        print_def(&definition(&f, &interface)),
        "def g (n : int) (xs : [n]real) : int = n + 1"
    );
}

/// A value that is written where it is used means what it meant where it was computed, whatever is
/// called so there.
#[test]
fn nothing_is_captured() {
    let f = function(|b, n, xs, x| {
        let ty = Ty::real().array_of(n.into());
        let s = b.bind("s", Ty::real(), Op::Prim(Prim::Sin, vec![x.into()]));
        let used_once = b.prim(Prim::Exp, [s]);
        let (inner, i) = (b.names.fresh("s"), b.names.fresh("i"));
        let body = b.block(|b| {
            let e = b.index(xs, &ty, vec![i.into()]);
            vec![b.prim(Prim::Mul, [inner.into(), e])]
        });
        let kind = LoopKind::For { index: i, extent: n.into(), checkpoint: Checkpoint::All };
        let params = vec![Param { var: inner, ty: Ty::real() }];
        let exp = Nest::Loop { params, inits: vec![s], kind, body };
        let last = b.bind("s", Ty::real(), exp);
        vec![(last, Ty::real()), (used_once, Ty::real())]
    });
    assert_eq!(
        shown(&f, &[]),
        "def g [n] (xs : [n]real) (x : real) : (real, real) =
  let s = sin x
  let s1 = loop s = s for i < n do s * xs[i]
  in (s1, exp s)"
    );
}

/// What does not depend on the cotangent comes first, and comments say which loop is which.
#[test]
fn sweeps_are_apart() {
    let f = function(|b, n, xs, x| {
        let ty = Ty::real().array_of(n.into());
        let seeded = b.prim(Prim::Mul, [x.into(), Atom::real(2.0)]);
        let (s, i) = (b.names.fresh("s"), b.names.fresh("_k"));
        let body = b.block(|b| {
            let e = b.index(xs, &ty, vec![i.into()]);
            let mut t = b.prim(Prim::Add, [s.into(), e]);
            for _ in 0..6 {
                t = b.prim(Prim::Sin, [t]);
            }
            vec![t]
        });
        let kind = LoopKind::counted(i, n.into());
        let params = vec![Param { var: s, ty: Ty::real() }];
        let inits = vec![Atom::real(0.0)];
        let value = b.bind("s", Ty::real(), Nest::Loop { params, inits, kind, body });
        let last = b.prim(Prim::SubInt, [n.into(), Atom::int(1)]);
        let (c, up) = (b.names.fresh("x_ct"), b.names.fresh("k"));
        let body = b.block(|b| {
            let k = b.bind(
                "_k",
                Ty::scalar(ScalarTy::Int),
                Op::Prim(Prim::SubInt, vec![last, up.into()]),
            );
            let e = b.index(xs, &ty, vec![k]);
            vec![b.prim(Prim::Mul, [c.into(), e])]
        });
        let kind = LoopKind::counted(up, n.into());
        let params = vec![Param { var: c, ty: Ty::real() }];
        let ct = b.bind("x_ct", Ty::real(), Nest::Loop { params, inits: vec![seeded], kind, body });
        vec![(value, Ty::real()), (ct, Ty::real())]
    });
    let text = shown(&f, &[1]);
    let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what} in\n{text}"));
    assert!(place("-- forward\n") < place("for k < n do"));
    assert!(place("for k < n do") < place("-- reverse of the loop over k\n"));
    assert!(!text.contains("_k"), "{text}");
}

/// One value in a line of its own follows the other: where a program is long, text is long, and not
/// deep.
#[test]
fn deep_and_long() {
    let run = || {
        let f = function(|b, _, _, x| {
            let mut y: Atom = x.into();
            for _ in 0..20_000 {
                y = b.prim(Prim::Sin, [y]);
            }
            vec![(y, Ty::real())]
        });
        assert!(print_length(&f) > 20_000);
    };
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(run).unwrap();
    thread.join().unwrap();
}

fn print_length(f: &Function) -> usize {
    let compose = |results: Vec<Expr>| build::tuple(results);
    let real = || build::named_ty("real");
    let interface = Interface {
        name: "g".into(),
        doc: None,
        sizes: Vec::new(),
        params: vec![("xs".into(), real()), ("x".into(), real())],
        leaves: (0..2).map(|param| Leaf { param, reading: Reading::Whole }).collect(),
        result: Some(real()),
        results: Vec::new(),
        linear: true,
        compose: &compose,
        seeds: Vec::new(),
        types: Vec::new(),
        place: &|_| None,
    };
    print_def(&definition(f, &interface)).len()
}
