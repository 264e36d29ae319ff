//! The interpreter and machine code agree on every primitive, on one lane and on several.

mod common;

use common::*;
use lambada_loops::{Function, Op, Return};
use lambada_prim::{Cost, Data, Precision, Prim, ReduceOp, ScalarTy, Tensor};

const REALS: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -2.5,
    3.7,
    1e-9,
    -1e9,
    1e300,
    0.3,
    7.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    2.5,
];
const INTS: [i64; 16] =
    [0, 1, -1, 2, -2, 3, 7, -7, 10, i64::MAX, i64::MIN, 1 << 53, -(1 << 40), 5, 100, -13];

fn values(elem: ScalarTy, count: usize, shift: usize) -> Tensor {
    let data = match elem {
        ScalarTy::Real => {
            Data::Real((0..count).map(|k| REALS[(k + shift * (1 + k / 16)) % 16]).collect())
        }
        ScalarTy::Int => {
            Data::Int((0..count).map(|k| INTS[(k + shift * (1 + k / 16)) % 16]).collect())
        }
        ScalarTy::Bool => Data::Bool((0..count).map(|k| (k >> shift) & 1 == 1).collect()),
    };
    Tensor { dims: vec![count], data }
}

/// Arguments of a primitive. Orders of polygamma are small, because the time is proportional to
/// them.
fn arguments(prim: Prim, count: usize) -> Vec<Tensor> {
    let arg = |(k, elem): (usize, &ScalarTy)| match (prim, k) {
        (Prim::Polygamma, 0) => Tensor {
            dims: vec![count],
            data: Data::Int((0..count as i64).map(|k| k % 7 - 1).collect()),
        },
        _ => values(*elem, count, k),
    };
    prim.args().iter().enumerate().map(arg).collect()
}

/// `for i { out[i] = prim(args[i] …) }`, with `lanes` lanes.
fn elementwise(prim: Prim, lanes: u16) -> Function {
    let mut b = Builder::new(&format!("{}_{lanes}", prim.name()));
    let n = b.size("n");
    let args: Vec<_> = prim.args().iter().map(|elem| b.buffer(*elem, "x")).collect();
    let out = b.alloc(prim.result(), n, "out");
    b.for_loop(int(0), n, i64::from(lanes), |b, i| {
        let args: Vec<_> = args.iter().map(|arg| b.load(*arg, i, lanes)).collect();
        let value = b.prim_lanes(prim, &args, lanes);
        b.store(out, i, value);
    });
    b.finish(vec![Return::Buffer(out, vec![n])])
}

/// Zero for exact primitives; others may differ in the last digits.
fn tolerance(prim: Prim) -> f64 {
    let exact = [
        Prim::Div,
        Prim::Sqrt,
        Prim::Rem,
        Prim::PowInt,
        Prim::DivInt,
        Prim::RemInt,
        Prim::PowIntInt,
    ];
    if prim.cost() == Cost::Cheap || exact.contains(&prim) { 0.0 } else { 1e-12 }
}

#[test]
fn all_primitives_on_all_lanes() {
    on_all_lanes(Precision::F64, tolerance);
}

/// Compares with the interpreter, which computes in 64 bits and rounds.
#[test]
fn all_primitives_on_all_lanes_of_32_bits() {
    on_all_lanes(Precision::F32, |prim| if tolerance(prim) == 0.0 { 0.0 } else { 1e-6 });
}

fn on_all_lanes(precision: Precision, tolerance: fn(Prim) -> f64) {
    const COUNT: usize = 256;
    for lanes in [1, 2, 4, 8, 16] {
        let functions: Vec<Function> = Prim::ALL
            .iter()
            .map(|prim| elementwise(*prim, lanes).with_precision(precision))
            .collect();
        let kernels = exact(&functions.iter().collect::<Vec<_>>());
        for ((prim, function), kernel) in Prim::ALL.iter().zip(&functions).zip(&kernels) {
            let mut args = vec![Tensor::scalar(lambada_prim::Scalar::Int(COUNT as i64))];
            args.extend(arguments(*prim, COUNT));
            compare(function, kernel, &args, tolerance(*prim)).unwrap();
        }
    }
}

/// Broadcasts an operand that is a constant or a scalar.
#[test]
fn broadcasts() {
    let mut functions = Vec::new();
    for prim in Prim::ALL.iter().filter(|prim| prim.args().len() >= 2 && **prim != Prim::Polygamma)
    {
        for single in 0..prim.args().len() {
            for constant in [false, true] {
                let mut b = Builder::new(&format!("{}_{single}_{constant}", prim.name()));
                let params: Vec<_> = prim
                    .args()
                    .iter()
                    .map(|elem| (b.buffer(*elem, "x"), b.scalar(*elem, "y")))
                    .collect();
                let literal = |elem| match elem {
                    ScalarTy::Real => real(2.5),
                    ScalarTy::Int => int(3),
                    ScalarTy::Bool => bool(true),
                };
                let args: Vec<_> = params
                    .iter()
                    .enumerate()
                    .map(|(k, (x, y))| match (k == single, constant) {
                        (false, _) => b.load(*x, int(0), 8),
                        (true, false) => *y,
                        (true, true) => literal(prim.args()[k]),
                    })
                    .collect();
                let value = b.prim(*prim, &args);
                let out = b.alloc(prim.result(), int(8), "out");
                b.store(out, int(0), value);
                functions.push((*prim, b.finish(vec![Return::Buffer(out, vec![int(8)])])));
            }
        }
    }
    let kernels = exact(&functions.iter().map(|(_, function)| function).collect::<Vec<_>>());
    for ((prim, function), kernel) in functions.iter().zip(&kernels) {
        let args: Vec<Tensor> = arguments(*prim, 8)
            .into_iter()
            .flat_map(|x| [x.clone(), Tensor::scalar(x.data.get(5))])
            .collect();
        compare(function, kernel, &args, tolerance(*prim)).unwrap();
    }
}

/// All operands are constants: C must not compute in `int`, and the result is broadcast.
#[test]
fn constants() {
    let large = int(3_000_000_000);
    let cases: &[(Prim, Vec<lambada_loops::Operand>)] = &[
        (Prim::MulInt, vec![int(2_000_000_000), int(2_000_000_000)]),
        (Prim::AddInt, vec![int(2_000_000_000), int(2_000_000_000)]),
        (Prim::SubInt, vec![int(-2_000_000_000), int(2_000_000_000)]),
        (Prim::NegInt, vec![int(i64::MIN)]),
        (Prim::NegInt, vec![int(-5)]),
        (Prim::BitAnd, vec![int(-2), int(5)]),
        (Prim::BitXor, vec![int(i64::MIN), int(5)]),
        (Prim::BitNot, vec![int(5)]),
        (Prim::ShiftLeft, vec![int(1), int(40)]),
        (Prim::ShiftLeft, vec![int(3), int(-1)]),
        (Prim::ShiftRight, vec![int(-1), int(64)]),
        (Prim::ShiftRight, vec![int(-1), int(1)]),
        (Prim::SelectInt, vec![bool(true), int(2_000_000_000), large]),
        (Prim::LtInt, vec![int(i64::MIN), int(i64::MAX)]),
        (Prim::Neg, vec![real(-0.0)]),
        (Prim::Sub, vec![real(1.5), real(-2.0)]),
        (Prim::Add, vec![real(f64::NEG_INFINITY), real(1e308)]),
        (Prim::Max, vec![real(f64::NAN), real(1.0)]),
        (Prim::ToReal, vec![int(i64::MIN)]),
        (Prim::ToInt, vec![real(-1e300)]),
        (Prim::And, vec![bool(true), bool(false)]),
        (Prim::Not, vec![bool(true)]),
        (Prim::EqBool, vec![bool(true), bool(true)]),
    ];
    let mut b = Builder::new("constants");
    let mut results = Vec::new();
    for (prim, args) in cases {
        let once = b.prim(*prim, args);
        results.push(Return::Scalar(once));
        let spread = b.prim_lanes(*prim, args, 4);
        let out = b.alloc(prim.result(), int(4), "out");
        b.store(out, int(0), spread);
        results.push(Return::Buffer(out, vec![int(4)]));
    }
    // `2000000000` inside a selected and then multiplied expression.
    let c = b.scalar(BOOL, "c");
    let chosen = b.prim(Prim::SelectInt, &[c, int(2_000_000_000), int(1)]);
    let product = b.prim(Prim::MulInt, &[chosen, int(2_000_000_000)]);
    results.push(Return::Scalar(product));
    let results =
        agree(&b.finish(results), &[Tensor::scalar(lambada_prim::Scalar::Bool(true))]).unwrap();
    assert_eq!(
        results.last().unwrap().as_scalar(),
        Some(lambada_prim::Scalar::Int(4_000_000_000_000_000_000))
    );
}

#[test]
fn folds_splices_and_iota() {
    let mut functions = Vec::new();
    for op in ReduceOp::ALL {
        for elem in [REAL, INT, BOOL].into_iter().filter(|elem| op.accepts(*elem)) {
            for lanes in [1, 2, 4, 8, 16] {
                let mut b = Builder::new(&format!("fold_{}_{elem}_{lanes}", op.name()));
                let x = b.buffer(elem, "x");
                let value = b.load(x, int(1), lanes);
                let folded = b.bind(elem, 1, "s", Op::Fold(op, value));
                let iota = b.bind(INT, lanes, "i", Op::Iota);
                let spliced: Vec<Return> = (1..lanes)
                    .map(|from| {
                        let next = b.load(x, int(0), lanes);
                        let spliced = b.bind(elem, lanes, "t", Op::Splice([value, next], from));
                        let out = b.alloc(elem, int(i64::from(lanes)), "spliced");
                        b.store(out, int(0), spliced);
                        Return::Buffer(out, vec![int(i64::from(lanes))])
                    })
                    .collect();
                let squares = b.prim(Prim::MulInt, &[iota, iota]);
                let out = b.alloc(INT, int(16), "out");
                b.put(lambada_loops::Step::Fill { buf: out, value: int(-1), len: int(16) }.into());
                b.store(out, int(0), squares);
                let first = [Return::Scalar(folded), Return::Buffer(out, vec![int(2), int(8)])];
                functions.push(b.finish(first.into_iter().chain(spliced).collect()));
            }
        }
    }
    let kernels = exact(&functions.iter().collect::<Vec<_>>());
    for (function, kernel) in functions.iter().zip(&kernels) {
        let (elem, _) = lambada_loops::param_types(function)[0];
        for shift in 0..4 {
            compare(function, kernel, &[values(elem, 32, shift)], 0.0).unwrap();
        }
        let rounded = Tensor::reals(vec![17], (0..17).map(|k| 0.1 * k as f64).collect());
        if elem == REAL {
            compare(function, kernel, &[rounded], 0.0).unwrap();
        }
    }
}
