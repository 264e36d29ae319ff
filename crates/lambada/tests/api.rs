//! The Rust interface: results on native code and in the interpreter, and errors of wrong calls.

use lambada::{
    Arg, Args, Data, Derivation, Direction, Engine, ErrorKind, Function, Gradient, IntoArg, Model,
    Operator, Options, Precision, Stage, Target, Type, args, record, variant,
};
use ndarray::{Array1, Array2, Ix1, Ix2, Ix3, array, s};

/// The function `f` of a program on each engine.
fn functions(text: &str) -> [Function; 2] {
    [Engine::Native, Engine::Loops].map(|engine| {
        let options = Options { engine, ..Options::default() };
        let model = Model::builder().options(options).compile("m.lam", text);
        model.and_then(|model| model.function("f")).unwrap_or_else(|error| panic!("{error}"))
    })
}

/// The error message of a wrong call of `f`.
fn refused(text: &str, args: Args<'_>) -> String {
    let [native, loops] = functions(text);
    let error = native.call(args.clone()).expect_err("the call is wrong");
    assert_eq!(error.kind(), ErrorKind::Call);
    assert_eq!(error.to_string(), loops.call(args).unwrap_err().to_string());
    error.to_string().lines().next().unwrap_or_default().to_string()
}

const LOSS: &str = "--| A loss.\n\
    def f [n] [d] (w : [d]real) (x : [n][d]real) (gamma : real) (m : int) : real =\n\
    \x20 gamma * sum (for i < n => dot w x[i]) + real m";

/// Totals, and arrays that threads write in parts.
#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let text = "def f [n] [d] (w : [d]real) (x : [n][d]real) : real =\n\
        \x20 sum (for i < n => exp (tanh (dot w x[i])))";
    let (n, d) = (40_000, 24);
    let w = Array1::from_shape_fn(d, |k| (k as f64).sin());
    let x = Array2::from_shape_fn((n, d), |(i, k)| ((i * 37 + k * 11) % 101) as f64 / 50.0 - 1.0);
    let bits = |all: ndarray::ArrayViewD<'_, f64>| all.iter().map(|x| x.to_bits()).collect();
    let found = [1, 2, 3, 8].map(|threads| {
        let options = Options { threads: threads.try_into().unwrap(), ..Options::default() };
        let model = Model::builder().options(options).compile("m.lam", text).unwrap();
        let gradient = model.function("f").unwrap().value_and_grad(&["w", "x"]).unwrap();
        // The second call reuses the threads of the first.
        [0, 1].map(|_| {
            let (y, g) = gradient.call(args![&w, &x]).unwrap();
            let cts = ["w", "x"].map(|name| -> Vec<u64> { bits(g.get(name).unwrap().view()) });
            (f64::to_bits(y), cts)
        })
    });
    assert!(found.as_flattened().iter().all(|one| *one == found[0][0]));
}

/// A definition without types gets those of the arguments, in calls and in all derivatives, as on
/// the command line.
#[test]
fn arguments_decide_on_types_that_are_left_open() {
    for f in functions("def f w x b = tanh (w @ x + b)") {
        assert!(f.is_open() && f.parameters().len() == 3);
        let (w, x) = ([[1.0, 2.0], [3.0, 4.0]], [0.1, 0.2]);
        let vector = |value: lambada::Value| Vec::<f64>::try_from(value).unwrap();
        let close = |found: Vec<f64>, expected: [f64; 2]| {
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        };
        let expected = [0.5f64, 1.1 + 1.0].map(f64::tanh);
        close(vector(f.call(args![&w, &x, 0.0]).unwrap()), [0.5f64, 1.1].map(f64::tanh));
        close(vector(f.call(args![&w, &x, &[0.0, 1.0]]).unwrap()), expected);
        close(vector(f.call(args![b: &[0, 1], w: &w, x: &x]).unwrap()), expected);
        let mut out = vec![0.0; 2];
        f.call_into(&args![&w, &x, &[0.0, 1.0]], &mut out).unwrap();
        close(out, expected);
        // The derivative of `tanh` by the bias: a vector for a number, a diagonal matrix for a
        // vector.
        let slope = |y: f64| 1.0 - y * y;
        let by_b = f.jacobian(&["b"]).unwrap();
        let (_, g) = by_b.call(args![&w, &x, 1.0]).unwrap();
        let g = g.get("b").unwrap().view::<Ix1>().to_vec();
        close(g, [1.5f64, 2.1].map(f64::tanh).map(slope));
        let (_, g) = by_b.call(args![&w, &x, &[0.0, 1.0]]).unwrap();
        let g = g.get("b").unwrap().view::<Ix2>().to_owned();
        close(g.diag().to_vec(), expected.map(slope));
        assert_eq!((g[[0, 1]], g[[1, 0]]), (0.0, 0.0));
        let b = [0.0, 1.0];
        let (_, along) = f.jvp(&["b"]).unwrap().call(args![&w, &x, &b], args![b: &b]).unwrap();
        close(vector(along), [0.0, slope(expected[1])]);
        let (_, pullback) = f.vjp(&["b"]).unwrap().call(args![&w, &x, &b]).unwrap();
        let back = pullback.call([0.0, 1.0]).unwrap();
        close(back.get("b").unwrap().view::<Ix1>().to_vec(), [0.0, slope(expected[1])]);
        let (_, entries) = f.sparse_jacobian(&["b"]).unwrap().call(args![&w, &x, &b]).unwrap();
        assert_eq!((entries.rows, entries.cols), (vec![0, 1], vec![0, 1]));
        close(entries.values, expected.map(slope));
        let found = f.verify(&args![&w, &x, &b]).unwrap();
        assert!(found.problems().is_empty(), "{found}");
        let settled = f.at(&args![&w, &x, &b]).unwrap();
        assert!(!settled.is_open());
        assert_eq!(settled.to_string(), "f (w : [n][m]real) (x : [m]real) (b : [n]real) : [n]real");
    }
    for f in functions("def f c x = sum (c * x)") {
        let gradient = f.value_and_grad(&["c"]).unwrap();
        let (y, g) = gradient.call(args![3.0, &[1.0, 2.0]]).unwrap();
        assert_eq!((y, f64::try_from(g.get("c").unwrap().clone()).unwrap()), (9.0, 3.0));
        let (y, g) = gradient.call(args![&[3.0, 4.0], &[1.0, 2.0]]).unwrap();
        assert_eq!((y, g.get("c").unwrap().view::<Ix1>()[1]), (11.0, 2.0));
    }
    let error = refused("def f w x = w @ x", args![[1.0], [1.0], 2.0]);
    let told = "error[E0626]: `f` takes 2 arguments";
    assert!(error.starts_with(told), "{error}");
}

/// Lambada's own machine code and the interpreter ignore the C compiler's target and use their own
/// lanes. With other lanes the former would be a hundred times slower.
#[test]
fn lanes_are_those_of_what_runs() {
    let text = "def f [n] (x : [n]real) : real = sum (x * x)";
    let x: Array1<f64> = (0..1_000_000).map(|k| f64::from(k % 1000)).collect();
    for engine in [Engine::Jit, Engine::Loops] {
        let time = |target| {
            let options = Options { engine, target, ..Options::default() };
            let model = Model::builder().options(options).compile("m.lam", text).unwrap();
            let f = model.function("f").unwrap();
            let times = (0..5).map(|_| {
                let start = std::time::Instant::now();
                assert_eq!(f64::try_from(f.call(args![&x]).unwrap()).unwrap(), 332_833_500_000.0);
                start.elapsed().as_secs_f64()
            });
            times.fold(f64::INFINITY, f64::min)
        };
        let targets = [Target::Any, Target::Avx2, Target::Avx512];
        let [any, avx2, avx512] = targets.map(time);
        println!("{engine:?}: {any} {avx2} {avx512} s");
        let least = any.min(avx2).min(avx512);
        assert!(any.max(avx2).max(avx512) < 6.0 * least, "{engine:?}: {any} {avx2} {avx512}");
    }
}

#[test]
fn arguments_come_by_place_and_by_name() {
    let (w, x) = (array![1.0, 2.0], array![[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]);
    for f in functions(LOSS) {
        let call = |args: Args<'_>| f64::try_from(f.call(args).unwrap()).unwrap();
        assert_eq!(call(args![&w, &x, 2.0, 1]), 13.0);
        assert_eq!(call(args![m: 1, gamma: 2.0, x: x.view(), w: &w]), 13.0);
        assert_eq!(call(args![&w, gamma: 2, m: 1i64, x: &x]), 13.0);
        assert_eq!(call(args![m: 1, &w, &x, 2.0f32]), 13.0);
        assert_eq!(call(args![w.as_slice().unwrap(), [[1.0, 0.0], [0.0, 1.0]], 1.0, 0]), 3.0);
        assert_eq!(call(args![vec![1.0, 2.0], &[[1.0f64, 0.0]; 1], 1.0, 0u8]), 1.0);
    }
}

/// With 32-bit reals, arrays of `f32` pass unchanged, and arrays of `f64` are converted.
#[test]
fn arrays_of_32_bits() {
    for engine in [Engine::Native, Engine::Loops] {
        for precision in [Precision::F32, Precision::F64] {
            let options = Options { engine, precision, ..Options::default() };
            let text = "def f [n] (x : [n]real) (c : real) = (c * x, sum x)";
            let model = Model::builder().options(options).compile("m.lam", text).unwrap();
            let f = model.function("f").unwrap();
            let (x, wide) = (array![0.5f32, 0.1], array![0.5, 0.1]);
            let (y, sum): (Array1<f32>, f32) =
                f.call(args![&x, 3.0f32]).unwrap().try_into().unwrap();
            assert_eq!(y, array![1.5, 0.1f32 * 3.0]);
            assert_eq!(sum, 0.6);
            let (mut y, mut sum) = (Array1::<f32>::zeros(2), 0.0f32);
            f.call_into(&args![&wide, 3.0], &mut (&mut y, &mut sum)).unwrap();
            assert_eq!((y, sum), (array![1.5, 0.1f32 * 3.0], 0.6));
            let (mut y, mut sum) = (vec![0.0f64; 2], 0.0f64);
            f.call_into(&args![x.slice(s![..;-1]), 1.0], &mut (&mut y, &mut sum)).unwrap();
            assert_eq!(y, [f64::from(0.1f32), 0.5]);
            let gradient = model.function("f").unwrap().vjp(&["x"]);
            assert!(gradient.is_ok());
        }
    }
}

#[test]
fn strides_do_not_matter() {
    let whole = Array2::from_shape_fn((4, 6), |(i, j)| (10 * i + j) as f64);
    let views = [whole.slice(s![..;2, 1..3]), whole.slice(s![1..3, ..;-3])];
    for f in functions("def f (x : [][]real) = x") {
        for view in &views {
            let back: Array2<f64> = f.call(args![view.view()]).unwrap().try_into().unwrap();
            assert_eq!(back, view);
            let back: Array2<f64> = f.call(args![view.t()]).unwrap().try_into().unwrap();
            assert_eq!(back, view.t());
        }
    }
}

#[test]
fn a_function_tells_what_it_takes() {
    let [f, _] = functions(LOSS);
    assert_eq!(f.to_string(), "f (w : [d]real) (x : [n][d]real) (gamma : real) (m : int) : real");
    assert_eq!((f.name(), f.doc()), ("f", Some("A loss.")));
    assert_eq!(f.parameters()[0].ty, Type::Array("d".into(), Type::Real.into()));
    assert_eq!(
        f.parameters().iter().map(|p| p.is_real).collect::<Vec<_>>(),
        [true, true, true, false]
    );
    assert_eq!(f.result(), Some(&Type::Real));
    assert_eq!(f.engine().unwrap(), Engine::Native);
}

#[test]
fn gradients_have_the_names_of_parameters() {
    let (w, x) = (array![1.0, 2.0], array![[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]);
    for f in functions(LOSS) {
        let (y, g) =
            f.value_and_grad(&["gamma", "w"]).unwrap().call(args![&w, &x, 2.0, 1]).unwrap();
        assert_eq!(y, 13.0);
        assert_eq!(g.get("w").unwrap().view::<Ix1>(), array![4.0, 4.0]);
        assert_eq!(f64::try_from(g.get("gamma").unwrap().clone()).unwrap(), 6.0);
        assert_eq!(g.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["gamma", "w"]);
        let all = f.value_and_grad(&[]).unwrap().call(args![&w, &x, 2.0, 1]).unwrap().1;
        assert_eq!(all.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["w", "x", "gamma"]);
        assert_eq!(all.get("x").unwrap().view::<Ix2>()[[2, 1]], 4.0);
        let error = g.get("m").unwrap_err();
        assert_eq!(error.to_string(), "there is no derivative by `m`, but by `gamma` and `w`");
    }
}

#[test]
fn each_derivative_is_the_same_on_both_engines() {
    let text = "def f [n] (x : [n]real) (a : real) = a * sum (x * x * x)";
    let x = array![1.0, 2.0];
    for f in functions(text) {
        let (y, t) =
            f.jvp(&["x", "a"]).unwrap().call(args![&x, 2.0], args![x: &[1.0, 0.0]]).unwrap();
        assert_eq!((f64::try_from(y).unwrap(), f64::try_from(t).unwrap()), (18.0, 6.0));
        let (y, pullback) = f.vjp(&["x", "a"]).unwrap().call(args![&x, a: 2.0]).unwrap();
        assert_eq!(f64::try_from(y).unwrap(), 18.0);
        for cotangent in [1.0, -2.0] {
            let g = pullback.call(cotangent).unwrap();
            assert_eq!(g.get("x").unwrap().view::<Ix1>(), array![6.0, 24.0] * cotangent);
            assert_eq!(f64::try_from(g.get("a").unwrap().clone()).unwrap(), 9.0 * cotangent);
        }
        let (y, j) = f.jacobian(&["a"]).unwrap().call(args![&x, 2.0]).unwrap();
        assert_eq!(f64::try_from(y).unwrap(), 18.0);
        assert_eq!(f64::try_from(j.get("a").unwrap().clone()).unwrap(), 9.0);
        let (_, h) = f.hessian(&["x", "a"]).unwrap().call(args![&x, 2.0]).unwrap();
        assert_eq!(h.get("x", "x").unwrap().view::<Ix2>(), array![[12.0, 0.0], [0.0, 24.0]]);
        assert_eq!(h.get("x", "a").unwrap().view::<Ix1>(), array![3.0, 12.0]);
        assert!(h.get("x", "y").is_err() && h.get("y", "x").is_err());
        let v = array![1.0, -1.0];
        let hv = f.hvp(&["x"]).unwrap().call(args![&x, 2.0], args![x: &v]).unwrap();
        assert_eq!(hv.get("x").unwrap().view::<Ix1>(), array![12.0, -24.0]);
    }
}

#[test]
fn sparse_matrices_are_triplets() {
    for f in functions("def f [n] (x : [n]real) : [n]real = x * x") {
        let (_, m) = f.sparse_jacobian(&["x"]).unwrap().call(args![&[1.0, 2.0, 3.0]]).unwrap();
        assert_eq!((m.shape, &*m.values), ((3, 3), &[2.0, 4.0, 6.0][..]));
        assert_eq!((&*m.rows, &*m.cols), (&[0, 1, 2][..], &[0, 1, 2][..]));
    }
}

#[test]
fn structures_go_in_and_come_out() {
    let text = "type shape = Circle real | Rect real real\n\
        type list = Nil | Cons real list\n\
        type point = {y : real, x : real}\n\
        def area (s : shape) : real = match s | Circle r -> 3.0 * r * r | Rect a b -> a * b\n\
        def rec total (l : list) : real = match l | Nil -> 0.0 | Cons x rest -> x + total rest\n\
        def f (p : point) (s : shape) (l : list) (t : (int, [2]bool)) =\n\
        \x20 let (k, bs) = t in ({y = p.x, x = p.y + real k}, area s + total l, Rect 1.0 2.0, l, bs)";
    let list = variant!(Cons(1.5, variant!(Cons(2.5, variant!(Nil)))));
    for f in functions(text) {
        let point = record! { x: 1.0, y: 2 };
        let given = args![point, variant!(Circle(2.0)), &list, (3, [true, false])];
        let value = f.call(given).unwrap();
        assert_eq!(f64::try_from(value.item(0).unwrap().field("x").unwrap()).unwrap(), 5.0);
        assert_eq!(f64::try_from(value.item(1).unwrap()).unwrap(), 16.0);
        let rect = value.item(2).unwrap();
        let (name, args) = rect.constructor().unwrap();
        assert_eq!((name, args.len()), ("Rect", 2));
        assert_eq!(value.item(3).unwrap().to_string(), "Cons 1.5 (Cons 2.5 Nil)");
        assert_eq!(Vec::<bool>::try_from(value.item(4).unwrap()).unwrap(), [true, false]);
        assert_eq!(f.parameters()[0].ty.to_string(), "{y : real, x : real}");
        let back = f.call(args![
            value.item(0).unwrap(),
            &value.item(2).unwrap(),
            value.item(3).unwrap(),
            (0, [true, true])
        ]);
        assert_eq!(f64::try_from(back.unwrap().item(1).unwrap()).unwrap(), 6.0);
    }
}

#[test]
fn integers_are_reals_where_reals_belong() {
    let text = "type list = Nil | Cons real list\n\
        type point = {x : real, k : int}\n\
        def rec total (l : list) : real = match l | Nil -> 0.0 | Cons x rest -> x + total rest\n\
        def f (p : point) (l : list) (xs : []real) = p.x * real p.k + total l + sum xs";
    let f = Model::compile("f.lam", text).unwrap().function("f").unwrap();
    let mut list = variant!(Nil);
    for k in 0..20_000 {
        list = variant!(Cons(k % 3, list));
    }
    let y: f64 =
        f.call(args![record! {x: 2, k: 3}, &list, &[1_i64, 2][..]]).unwrap().try_into().unwrap();
    assert_eq!(y, 6.0 + 19_999.0 + 3.0);
}

#[test]
fn gradients_of_recursive_data() {
    let text = "type list = Nil | Cons real list\n\
        def rec f (l : list) : real = match l | Nil -> 0.0 | Cons x rest -> x * x + f rest";
    let list = variant!(Cons(1.5, variant!(Cons(2.5, variant!(Nil)))));
    for f in functions(text) {
        let (y, g) = f.value_and_grad(&["l"]).unwrap().call(args![&list]).unwrap();
        assert_eq!((y, g.into_value().to_string()), (8.5, "Cons 3.0 (Cons 5.0 Nil)".into()));
        let tangent = variant!(Cons(1.0, variant!(Cons(0.0, variant!(Nil)))));
        let (_, t) = f.jvp(&["l"]).unwrap().call(args![&list], args![tangent]).unwrap();
        assert_eq!(f64::try_from(t).unwrap(), 3.0);
    }
}

/// Results that are computed in the memory of their destinations: equally large ones, half as large
/// ones, and truth values, in both precisions.
#[test]
fn large_results_come_to_their_places() {
    let text = "def f [n] (x : [n]real) = (2 * x, 3 * x, for i < n // 2 => x[i], for e in x => e > 0.5, x)";
    for precision in [Precision::F32, Precision::F64] {
        let options = Options { engine: Engine::Native, precision, ..Options::default() };
        let f = Model::builder().options(options).compile("m.lam", text).unwrap();
        let f = f.function("f").unwrap();
        for n in [20_000, 40_000] {
            let x: Vec<f64> = (0..n).map(|i| f64::from(i % 8) / 8.0).collect();
            let n = x.len();
            let (mut two, mut three) = (vec![0.0; n], vec![0.0; n]);
            let (mut half, mut large, mut same) = (vec![0.0; n / 2], vec![false; n], vec![0.0; n]);
            let mut out = (&mut two, &mut three, &mut half, &mut large, &mut same);
            f.call_into(&args![&x], &mut out).unwrap();
            assert!(x.iter().zip(&two).all(|(x, y)| *y == 2.0 * x));
            assert!(x.iter().zip(&three).all(|(x, y)| *y == 3.0 * x));
            assert!(half == x[..n / 2] && same == x);
            assert!(x.iter().zip(&large).all(|(x, y)| *y == (*x > 0.5)));
        }
    }
}

#[test]
fn results_are_written_in_place() {
    for f in functions(
        "def f [n] (x : [n]real) = (sum x, for i < n => for j < n => x[i] * x[j], length x > 1)",
    ) {
        let (mut sum, mut all, mut many) = (0.0, Array2::zeros((0, 0)), false);
        f.call_into(&args![&[1.0, 2.0]], &mut (&mut sum, &mut all, &mut many)).unwrap();
        assert_eq!((sum, &all, many), (3.0, &array![[1.0, 2.0], [2.0, 4.0]], true));
        let mut wide = Array2::from_elem((4, 2), 7.0);
        let place = wide.slice_mut(s![..;2, ..]);
        f.call_into(&args![&[3.0, 1.0]], &mut (0.0, place, false)).unwrap();
        assert_eq!(wide, array![[9.0, 3.0], [7.0, 7.0], [3.0, 1.0], [7.0, 7.0]]);
        let error = f.call_into(&args![&[1.0]], &mut (0.0, wide.view_mut(), false)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a part of the result is `[1][1]real`, not an array of the sizes [4, 2]"
        );
        let mut single = 0.0;
        assert!(f.call_into(&args![&[1.0]], &mut single).is_err());
    }
}

#[test]
fn many_threads_call_one_function() {
    let text = "type list = Nil | Cons real list\n\
        def rec build (n : int) (x : real) : list = if n == 0 then Nil else Cons x (build (n - 1) x)\n\
        def rec total (l : list) : real = match l | Nil -> 0.0 | Cons x rest -> x + total rest\n\
        def f (n : int) (x : real) : real = total (build n (x * x))";
    for f in functions(text) {
        let gradient = f.value_and_grad(&["x"]).unwrap();
        std::thread::scope(|scope| {
            for k in 1..5i64 {
                let (f, gradient) = (f.clone(), &gradient);
                scope.spawn(move || {
                    for n in 0..50i64 {
                        let y = f64::try_from(f.call(args![n, k]).unwrap()).unwrap();
                        assert_eq!(y, (n * k * k) as f64);
                        let (_, g) = gradient.call(args![n, k]).unwrap();
                        assert_eq!(f64::try_from(g.into_value()).unwrap(), (2 * n * k) as f64);
                    }
                });
            }
        });
    }
}

#[test]
fn wrong_calls_are_told_with_the_parameter() {
    let (w, x) = (array![1.0, 2.0], Array2::<f64>::zeros((3, 2)));
    let said = |args| refused(LOSS, args);
    assert_eq!(
        said(args![&w, &x, 1.0]),
        "error[E0606]: `f` needs a value for its parameter `m : int`"
    );
    assert_eq!(
        said(args![&w, &x, 1.0, 2, 3]),
        "error[E0626]: `f` takes 4 arguments, and the last of the call is one more"
    );
    assert_eq!(
        said(args![&w, &x, 1.0, 2, w: 3.0]),
        "error[E0608]: the parameter `w` is given twice, by its place and by its name"
    );
    assert_eq!(
        said(args![&w, &x, gama: 1.0, m: 2]),
        "error[E0607]: `f` has no parameter `gama`, but the call gives it a value"
    );
    assert_eq!(
        said(args![&x, &x, 1.0, 2]),
        "error[E0609]: the parameter `w` should be `[d]real`, but the data has `[3][2]real`"
    );
    assert_eq!(
        said(args![&w, &x, 1.0, 2.5]),
        "error[E0609]: the parameter `m` should be `int`, but the data has `real`"
    );
    assert_eq!(
        said(args![&Array1::<f64>::zeros(3), &x, 1.0, 2]),
        "error[E0611]: the parameter `x` should be `[n][d]real`, but it has 2 where d = 3"
    );
    assert_eq!(
        refused("def f (x : [3]real) = x", args![&w]),
        "error[E0609]: the parameter `x` should be `[3]real`, but the data has the sizes [2]"
    );
    assert_eq!(
        refused("def f (x : {a : real}) = x", args![record! { b: 1.0 }]),
        "error[E0609]: the parameter `x` should be `{a : real}`, but the data has a record with `b`"
    );
}

#[test]
fn results_that_are_taken_for_others_are_told() {
    let [f, _] = functions("def f (x : real) = (x, for i < 2 => i)");
    let value = f.call(args![1.0]).unwrap();
    let said = |error: lambada::Error| error.to_string();
    assert_eq!(
        said(f64::try_from(value.clone()).unwrap_err()),
        "the result is a tuple of 2, not a real"
    );
    let ints = value.item(1).unwrap();
    assert_eq!(
        said(ints.try_view::<Ix1>().unwrap_err()),
        "the result is `[2]int`, not an array of reals with 1 axis"
    );
    assert_eq!(
        said(ints.ints::<Ix3>().unwrap_err()),
        "the result is `[2]int`, not an array of integers with 3 axes"
    );
    assert!(value.item(2).is_err() && value.field("x").is_err() && value.constructor().is_err());
}

#[test]
fn failures_of_the_program_are_told_with_their_place() {
    for f in functions("def f (x : []real) (k : int) = x[k]") {
        let error = f.call(args![&[1.0, 2.0], 5]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Running);
        let problem = &error.problems()[0];
        assert_eq!(
            (problem.code, problem.file.as_deref(), problem.line),
            ("E0700", Some("m.lam"), 1)
        );
        assert!(problem.label.contains("index 5"), "{problem:?}");
        assert_eq!(f64::try_from(f.call(args![&[1.0, 2.0], 1]).unwrap()).unwrap(), 2.0);
    }
}

#[test]
fn programs_that_cannot_be_differentiated_are_refused() {
    let [f, _] = functions("def f (k : int) : int = k");
    assert_eq!(f.value_and_grad(&[]).err().map(|e| e.kind()), Some(ErrorKind::Program));
    assert_eq!(f.jvp(&["q"]).err().map(|e| e.problems().len()), Some(1));
}

#[test]
fn files_may_be_in_memory_and_stay_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("main.lam");
    std::fs::write(&path, "import \"part\"\ndef f (x : real) = part.twice x").unwrap();
    std::fs::write(folder.path().join("part.lam"), "def twice (x : real) = 2.0 * x").unwrap();
    let model = Model::load(&path).unwrap();
    let copy = model.files().clone();
    drop(folder);
    let gradient = model.function("f").unwrap().value_and_grad(&["x"]).unwrap();
    assert_eq!(gradient.call(args![4.0]).unwrap().0, 8.0);
    let again = Model::builder().files(std::sync::Arc::new(copy)).load(&path).unwrap();
    let y: f64 = again.function("f").unwrap().call(args![4.0]).unwrap().try_into().unwrap();
    assert_eq!(y, 8.0);
    assert!(model.source().starts_with("import"));
}

#[test]
fn derivatives_can_be_read_and_verified() {
    let [f, _] = functions("def f (x : real) = sin x * x");
    let text = f.derive(Direction::Reverse, &["x"], Derivation::Simplified).unwrap();
    assert!(text.contains("def f_reverse") && text.contains("cos x"), "{text}");
    let c = f.show(Stage::C, Operator::Grad, &["x"]).unwrap();
    assert!(c.contains("cos("), "{c}");
    assert_eq!(f.verify(&Args::new()).unwrap().problems().len(), 0);
    assert_eq!(f.verify(&args![0.5]).unwrap().rows[0].drawn, 0);
}

#[test]
fn raw_slices_have_the_sizes_that_are_said() {
    let numbers = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    assert!(Arg::reals(&[2, 2], &numbers).is_none());
    for f in functions("def f (x : [][]real) = x[1, 0]") {
        let x = Arg::reals(&[2, 3], &numbers).unwrap();
        assert_eq!(f64::try_from(f.call(args![x]).unwrap()).unwrap(), 4.0);
    }
}

#[test]
fn axes_without_elements_hide_sizes() {
    for f in functions("def f [n] [m] (x : [n][m]real) (y : [m]real) = (n, m, length y)") {
        let x = Data::Tensor(lambada::Tensor::reals(vec![0, 0], vec![]));
        let (n, m, k): (i64, i64, i64) =
            f.call(args![&x, &[1.0, 2.0]]).unwrap().try_into().unwrap();
        assert_eq!((n, m, k), (0, 2, 2));
    }
}

#[test]
fn a_gradient_of_several_is_a_tuple() {
    let [f, _] = functions("def f (x : real) (y : real) = x * y");
    let g: Gradient = f.value_and_grad(&[]).unwrap().call(args![2.0, 3.0]).unwrap().1;
    assert_eq!(<(f64, f64)>::try_from(g.into_value()).unwrap(), (3.0, 2.0));
}

#[test]
fn fields_of_parameters_are_differentiated_by() {
    let text = "def f (p : {a : real, b : [2]real}) (x : real) = x * p.a * sum p.b";
    for f in functions(text) {
        let p = record([("a", 3.0.into_arg()), ("b", [1.0, 2.0].into_arg())]);
        let call = || args![&p, 2.0];
        let (value, g) = f.value_and_grad(&["p.a", "x"]).unwrap().call(call()).unwrap();
        assert_eq!((value, g.get("p.a").unwrap()), (18.0, &6.0.into()));
        assert_eq!(g.get("x").unwrap(), &9.0.into());
        let along = f.jvp(&["p.b"]).unwrap();
        let tangent = Args::new().with("p.b", [1.0, 0.0]);
        assert_eq!(f64::try_from(along.call(call(), tangent).unwrap().1).unwrap(), 6.0);
        let (_, pullback) = f.vjp(&["p.b"]).unwrap().call(call()).unwrap();
        let back = pullback.call(1.0).unwrap();
        assert_eq!(back.get("p.b").unwrap().view::<Ix1>(), array![6.0, 6.0]);
        let (_, both) = f.vjp(&["p.a"]).unwrap().at(call(), 2.0).unwrap();
        assert_eq!(both.get("p.a").unwrap(), &12.0.into());
        // The omitted tangent is zero.
        let along = f.hvp(&["p.a", "p.b"]).unwrap();
        let product = along.call(call(), Args::new().with("p.a", 1.0)).unwrap();
        assert_eq!(product.get("p.a").unwrap(), &0.0.into());
        assert_eq!(product.get("p.b").unwrap().view::<Ix1>(), array![2.0, 2.0]);
        // The tangent of a field is a tangent of its parameter, zero elsewhere.
        let along = f.hvp(&["p", "x"]).unwrap();
        let tangents = || Args::new().with("p.a", 1.0).with("p.b", [0.0, 1.0]).with("x", 1.0);
        let product = along.call(call(), tangents()).unwrap();
        assert_eq!(product.get("p").unwrap().field("a").unwrap(), 5.0.into());
        let b = product.get("p").unwrap().field("b").unwrap();
        assert_eq!(b.view::<Ix1>(), array![5.0, 5.0]);
        assert_eq!(product.get("x").unwrap(), &6.0.into());
        let (_, tangent) = f.jvp(&["p", "x"]).unwrap().call(call(), tangents()).unwrap();
        assert_eq!(f64::try_from(tangent).unwrap(), 6.0 + 6.0 + 9.0);
        let unknown = along.call(call(), Args::new().with("p.c", 1.0)).unwrap_err();
        assert!(unknown.to_string().contains("p.c"), "{unknown}");
        let twice = Args::new().with("p.a", 1.0).with("p", &p);
        assert!(along.call(call(), twice).is_err());
    }
}

#[test]
fn arrays_of_another_version_pass_as_sizes_and_elements() {
    use ndarray_of_users::{ArrayD, array};
    let [function, _] = functions(
        "def f [n] [m] (x : [n][m]real) (k : int) : [m][n]real = for j < m, i < n => x[i, j] * real k",
    );
    let x = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
    let lent = Arg::reals(x.shape(), x.as_slice().expect("it is dense")).expect("six elements");
    let value = function.call(args![&lent, 2]).expect("it runs");
    let expected = (x.t().to_owned() * 2.0).as_standard_layout().into_owned();
    let (dims, elements) = value.reals().expect("reals");
    assert_eq!((dims, elements), (expected.shape(), expected.as_slice().expect("it is dense")));
    let (dims, elements) = value.into_reals().expect("reals");
    assert_eq!(
        ArrayD::from_shape_vec(dims, elements).expect("a shape"),
        expected.clone().into_dyn()
    );
    let mut out = ndarray_of_users::Array2::<f64>::zeros((3, 2));
    let mut place = out.as_slice_mut().expect("it is dense");
    function.call_into(&args![&lent, 2], &mut place).expect("it runs");
    assert_eq!(out, expected);
    let [count, _] = functions("def f (x : real) : (int, real) = (1, x)");
    let pair = count.call(args![2.0]).expect("it runs");
    assert!(pair.reals().is_err() && pair.item(0).expect("a pair").into_reals().is_err());
    assert_eq!(pair.item(1).expect("a pair").reals().expect("a real"), (&[][..], &[2.0][..]));
}

/// Memory of converted arguments and of results is taken again after it was released.
#[test]
fn memory_is_released_between_calls() {
    let text = "def f [n] (x : [n]real) : real = let s = sort x in s[0] + s[n - 1]";
    let [native, loops] = functions(text);
    let x: Vec<f32> = (0..10_000).map(|k| (k * 7919 % 10_007) as f32).collect();
    for function in [native, loops] {
        for _ in 0..2 {
            let value: f64 = function.call(args![&x]).and_then(f64::try_from).expect("it runs");
            assert_eq!(value, 10_006.0);
            lambada::release_memory();
        }
    }
    std::thread::scope(|scope| {
        let [native, _] = functions(text);
        let x = &x;
        for _ in 0..3 {
            let native = native.clone();
            scope.spawn(move || {
                for _ in 0..50 {
                    let value = native.call(args![x]).and_then(f64::try_from).expect("it runs");
                    assert_eq!(value, 10_006.0);
                }
            });
        }
        (0..50).for_each(|_| lambada::release_memory());
    });
}

#[test]
fn columns_are_arrays_of_records() {
    let text = "def f [n] (ps : [n]{x : real, v : [2]real, at : {k : int}}) : real =\n\
        \x20 sum (for p in ps => p.x * real p.at.k + sum p.v)";
    let (x, k) = ([1.0, 2.0, 3.0], [4_i64, 5, 6]);
    let v = array![[1.0, 1.0], [0.5, 0.5], [0.0, 1.0]];
    let at = Arg::columns([("k".into(), (&k).into_arg())]).expect("a column");
    let columns = [("x".into(), (&x).into_arg()), ("v".into(), (&v).into_arg()), ("at".into(), at)];
    let table = Arg::columns(columns.clone()).expect("three elements each");
    for function in functions(text) {
        let value: f64 = function.call(args![&table]).and_then(f64::try_from).expect("it runs");
        assert_eq!(value, 36.0);
        // As rows, which have to be made.
        let value: f64 =
            function.call(args![table.to_data()]).and_then(f64::try_from).expect("it runs");
        assert_eq!(value, 36.0);
        let other = ["x", "k"].map(|name| (name.into(), (&x).into_arg()));
        let other = Arg::columns(other).expect("columns");
        let error = function.call(args![&other]).expect_err("the fields are others");
        assert!(error.to_string().contains("`ps` should be"), "{error}");
    }
    // Integers serve as reals, and sizes must be those that are declared.
    let ints = [("x".into(), (&k).into_arg()), columns[1].clone(), columns[2].clone()];
    let ints = Arg::columns(ints).expect("columns");
    let value = functions(text)[0].call(args![&ints]).and_then(f64::try_from).expect("it runs");
    assert_eq!(value, 81.0);
    let wide = Array2::<f64>::zeros((3, 3));
    let wide = [columns[0].clone(), ("v".into(), (&wide).into_arg()), columns[2].clone()];
    let wide = Arg::columns(wide).expect("columns");
    assert!(refused(text, args![&wide]).contains("sizes"));
    assert!(Arg::columns([("x".into(), (&x).into_arg()), ("y".into(), 1.0.into_arg())]).is_none());
    assert!(
        Arg::columns([("x".into(), (&x).into_arg()), ("y".into(), (&[1.0]).into_arg())]).is_none()
    );
    assert!(Arg::columns([]).is_none());
}
