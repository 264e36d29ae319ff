//! No access out of bounds: if an index is out of range, the value and its derivatives fail on
//! every engine, as the semantics requires, with the place and message of the check.

use lambada::{Data, Engine, Executable, Operator, Session};

const PROGRAMS: &str = "
def counted [n] (x : [n]real) (is : []int) (m : int) : real = loop s = 0.0 for i < m do s + x[i]
def gathered [n] (x : [n]real) (is : []int) (m : int) : real = loop s = 0.0 for i in is do s + x[i]
def scaled [n] (x : [n]real) (is : []int) (m : int) : real = loop s = 0.0 for i in is do s + 3.0 * x[i]
def squares [n] (x : [n]real) (is : []int) (m : int) : real = loop s = 0.0 for i in is do s + x[i] ** 2.0
def product_of [n] (x : [n]real) (is : []int) (m : int) : real = loop p = 1.0 for i in is do p * x[i]
def column [n] (x : [n]real) (is : []int) (m : int) : real =
  let a = for v in x => [v, 2.0 * v] in loop s = 0.0 for i in is do s + a[i, 0]
def row [n] (x : [n]real) (is : []int) (m : int) : real =
  let a = [x, x] in loop s = 0.0 for i in is do s + a[0, i]
def nested [n] (x : [n]real) (is : []int) (m : int) : real =
  loop s = 0.0 for i in is do loop t = s for j < m do t + x[i] * x[j]
def summed [n] (x : [n]real) (is : []int) (m : int) : real = sum (for i in is => sin x[i])
def written [n] (x : [n]real) (is : []int) (m : int) : real =
  sum (loop y = x for i in is do y with [i] = 2.0 * x[i])
def chosen [n] (x : [n]real) (is : []int) (m : int) : real =
  loop s = 0.0 for i in is do if m > 1 then s + x[i] * s else s
";

fn args(is: &[i64], m: i64) -> Vec<Data> {
    vec![vec![1.0, 2.0].into(), is.to_vec().into(), m.into()]
}

/// The result of a definition on an engine: the data as text, or the place and message of the
/// failure.
fn run(
    text: &str,
    name: &str,
    operator: Operator,
    engine: Engine,
    args: &[Data],
) -> Result<String, String> {
    let unit = Session::new().load_text("f.lam", text, None).unwrap_or_else(|p| panic!("{p:?}"));
    let call = unit.call(name, operator, None).unwrap_or_else(|p| panic!("{p:?}"));
    let program = Executable::new(call.program, call.entry, engine)
        .unwrap_or_else(|p| panic!("{name} {operator:?} {engine:?}: {p:?}"));
    let result = program.run(args);
    result.map(|data| data.to_string()).map_err(|f| format!("{:?} {}", f.span, f.message))
}

/// Every definition, its gradient, and a product of its Hessian with a vector.
fn cases() -> Vec<(String, String, Operator)> {
    let names = PROGRAMS.lines().filter_map(|line| line.strip_prefix("def ")?.split(' ').next());
    let mut cases = Vec::new();
    for name in names {
        cases.push((PROGRAMS.to_string(), name.to_string(), Operator::Value));
        cases.push((PROGRAMS.to_string(), name.to_string(), Operator::Grad));
        let second = format!(
            "{PROGRAMS}\ndef second [n] (x : [n]real) (is : []int) (m : int) : real = sum (grad (\\y -> {name} y is m) x)\n"
        );
        cases.push((second, "second".to_string(), Operator::Grad));
    }
    cases
}

#[test]
fn an_index_out_of_range_fails_as_the_meaning_does() {
    let points = [
        args(&[0, 1, -100_000_000_000], 1_000_000),
        args(&[0, 2], 2),
        args(&[-1, 0], 2),
        args(&[2, 5, 0], 3),
        args(&[1, 0, 1], 2),
        args(&[], 0),
    ];
    for (text, name, operator) in cases() {
        for point in &points {
            let meaning = run(&text, &name, operator, Engine::Core, point);
            if let Err(message) = &meaning {
                assert!(message.contains("out of range for size 2"), "{name}: {message}");
            }
            for engine in [Engine::Anf, Engine::Loops] {
                let found = run(&text, &name, operator, engine, point);
                assert_eq!(found, meaning, "{name} {operator:?} {engine:?} {point:?}");
            }
        }
    }
}

#[test]
fn native_code_fails_too() {
    let far = args(&[0, 1, -100_000_000_000], 1_000_000);
    for (text, name, operator) in cases().into_iter().filter(|(_, _, op)| *op == Operator::Grad) {
        let meaning = run(&text, &name, operator, Engine::Core, &far);
        let found = run(&text, &name, operator, Engine::Native, &far);
        assert!(meaning.is_err(), "{name}");
        assert_eq!(found, meaning, "{name} {operator:?}");
    }
}
