//! Programs drawn at random through the whole oracle matrix. `SEEDS=1000..1100` draws others, `SHOW=1` prints them.

use lambada::operators::Operator;
use lambada::{Inputs, Raw, Session};
use lambada_tests::draw::{Coverage, draw};
use lambada_tests::on_big_stack;
use lambada_tests::oracle::{Case, Native, Verdict, native_complaints};

const PROGRAMS: u64 = 2000;

fn verdict(seed: u64, coverage: &mut Coverage) -> Verdict {
    let drawn = draw(seed);
    if std::env::var_os("SHOW").is_some() {
        println!("{}\n-- {:?}", drawn.text, drawn.args);
    }
    let mut session = Session::new();
    let unit =
        session.load_text("drawn.lam", &drawn.text, None).map_err(|p| session.render(&p, false))?;
    let call = unit.call("f", Operator::Value, None).map_err(|p| session.render(&p, false))?;
    let mut inputs = Inputs::new();
    for (name, value) in call.parameters().iter().zip(&drawn.args) {
        inputs.insert(
            &**name,
            Raw::Json(serde_json::from_str(value).expect("drawn arguments are JSON")),
            "the draw",
        );
    }
    let args = call.arguments(&inputs).map_err(|p| session.render(&p, false))?;
    let natives = Case::new(&unit, "f", args)?.verdict()?;
    let found = &drawn.coverage;
    coverage.higher_order += usize::from(found.higher_order > 0);
    coverage.arrays += usize::from(found.arrays > 0);
    coverage.variants += usize::from(found.variants > 0);
    coverage.loops += usize::from(found.loops > 0);
    coverage.branches += usize::from(found.branches > 0);
    Ok(natives)
}

fn seeds() -> std::ops::Range<u64> {
    let chosen = std::env::var("SEEDS").ok();
    let parse = |text: &str| {
        text.split_once("..").and_then(|(a, b)| Some(a.parse().ok()?..b.parse().ok()?))
    };
    chosen.and_then(|text| parse(&text)).unwrap_or(0..PROGRAMS)
}

#[test]
fn drawn_programs_agree_everywhere() {
    let complaints = on_big_stack(|| {
        let mut coverage = Coverage::default();
        let mut natives: Vec<Native> = Vec::new();
        let mut complaints = Vec::new();
        for seed in seeds() {
            match verdict(seed, &mut coverage) {
                // The value and the reverse derivative of every program go through the C compiler; the rest stays with the evaluators.
                Ok(found) => natives.extend(
                    found
                        .into_iter()
                        .filter(|n| n.name.ends_with(": value") || n.name.ends_with(": vjp"))
                        .map(|n| Native { name: format!("seed {seed}: {}", n.name), ..n }),
                ),
                Err(e) => complaints.push(format!("seed {seed}: {e}")),
            }
        }
        complaints.extend(native_complaints(&natives));
        println!("{coverage:?}; {} native functions compared", natives.len());
        complaints
    });
    let shown: Vec<&String> = complaints.iter().take(20).collect();
    assert!(
        complaints.is_empty(),
        "{} complaints, the first:\n{}",
        complaints.len(),
        shown.iter().map(|s| s.as_str()).collect::<Vec<_>>().join("\n")
    );
}
