//! Drawn programs that read neighbors, at sizes around those of vectors and beyond: the results of
//! nests, where each access is checked, agree with those of the evaluator of anf, for values and
//! gradients. `SEEDS=1000..1100` draws others.

use lambada::operators::Operator;
use lambada::vectors::numbers;
use lambada::{Data, Engine, Executable, Session, Tensor};
use lambada_prim::Data as Elements;
use lambada_testkit::{Random, Tolerance, all_close, parallel};
use lambada_tests::draw::neighbors;
use lambada_tests::seeds;

const PROGRAMS: u64 = 240;

/// How many indices the first axis has.
const SIZES: &[usize] = &[0, 1, 2, 7, 8, 9, 16, 17, 40, 71, 80, 150, 200];

/// And the second one.
const ROWS: &[usize] = &[1, 7, 9, 16, 24, 70, 90];

fn one(seed: u64) -> Result<(), String> {
    let drawn = neighbors(seed);
    let place = |e: String| format!("seed {seed}: {e}\n{}", drawn.text);
    let mut session = Session::new();
    let unit = session
        .load_text("neighbors.lam", &drawn.text, None)
        .map_err(|p| place(session.render(&p, false)))?;
    let mut random = Random(seed);
    let args: Vec<[Data; 2]> = (0..3).map(|_| arguments(drawn.rank, &mut random)).collect();
    for operator in [Operator::Value, Operator::Grad] {
        let call = unit.call("f", operator, None).map_err(|p| place(session.render(&p, false)))?;
        let executable = |engine| {
            Executable::new(call.program.clone(), call.entry, engine)
                .map_err(|p| place(session.render(&p, false)))
        };
        let (nests, plain) = (executable(Engine::Loops)?, executable(Engine::Anf)?);
        for args in &args {
            let [found, expected] = [&nests, &plain].map(|e| e.run(args).map_err(|f| f.message));
            let size = match &args[0] {
                Data::Tensor(tensor) => format!("{operator:?} at {:?}", tensor.dims),
                _ => unreachable!("the first argument is an array"),
            };
            match (found, expected) {
                (Ok(found), Ok(expected)) => {
                    let (found, expected) = (numbers(&found), numbers(&expected));
                    all_close(&size, &found, &expected, Tolerance::mixed(1e-9)).map_err(place)?;
                }
                (found, expected) if found.is_ok() || found != expected => {
                    return Err(place(format!("{size}: {found:?} and {expected:?}")));
                }
                (_, _) => {}
            }
        }
    }
    Ok(())
}

fn arguments(rank: usize, random: &mut Random) -> [Data; 2] {
    let mut dims = vec![random.pick(SIZES)];
    dims.extend((1..rank).map(|_| random.pick(ROWS)));
    if rank > 1 {
        dims[0] = dims[0].min(25);
    }
    let count = dims.iter().product();
    let elements = (0..count).map(|_| random.between(-1.0, 1.0)).collect();
    let steps = random.pick(&[0, 1, 3, 11]);
    [
        Data::Tensor(Tensor { dims, data: Elements::Real(elements) }),
        Data::Tensor(Tensor { dims: Vec::new(), data: Elements::Int(vec![steps]) }),
    ]
}

#[test]
fn neighbors_are_the_same_in_nests() {
    let complaints: Vec<String> =
        parallel(&seeds(PROGRAMS).collect::<Vec<_>>(), |seed| one(*seed).err())
            .into_iter()
            .flatten()
            .collect();
    let shown: Vec<&str> = complaints.iter().take(5).map(String::as_str).collect();
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), shown.join("\n"));
}
