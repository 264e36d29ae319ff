use lambada_testkit::Random;

use super::*;
use crate::draws::{Chain, names};

/// A normal draw, nearly: twelve uniforms.
fn normal(random: &mut Random) -> f64 {
    (0..12).fold(-6.0, |sum, _| sum + random.between(0.0, 1.0))
}

/// Chains with one value for each draw and the statistics of a good run.
fn chains(
    count: usize,
    length: usize,
    seed: u64,
    mut each: impl FnMut(usize, usize, f64) -> Vec<f64>,
) -> Vec<Chain> {
    let mut random = Random(seed);
    let chain = |chain: usize| {
        let mut values = Vec::new();
        let mut energies = Vec::new();
        for draw in 0..length {
            values.extend(each(chain, draw, normal(&mut random)));
            energies.push(normal(&mut random) + 10.0);
        }
        let statistics = vec![
            (names::LP.to_string(), energies.iter().map(|e| -e).collect()),
            (names::DIVERGING.to_string(), vec![0.0; length]),
            (names::TREE_DEPTH.to_string(), vec![3.0; length]),
            (names::ENERGY.to_string(), energies),
            (names::ACCEPTANCE_RATE.to_string(), vec![0.85; length]),
        ];
        Chain { values, statistics }
    };
    (0..count).map(chain).collect()
}

fn draws(chains: &[Chain], width: usize) -> Draws {
    let shapes: Vec<_> =
        ["mu", "tau", "nu"][..width].iter().map(|n| (n.to_string(), vec![])).collect();
    Draws::new(&shapes, chains).expect("the shapes agree")
}

fn found(draws: &Draws) -> Vec<Finding> {
    warnings(draws, &Summary::of(draws))
}

#[track_caller]
fn check(draws: &Draws, expect: &[Kind]) -> String {
    let found = found(draws);
    let text = found.iter().map(|finding| format!("{finding}\n")).collect::<String>();
    assert_eq!(found.iter().map(|finding| finding.kind).collect::<Vec<_>>(), expect, "{text}");
    text
}

/// The statistic of all chains, changed.
fn set(draws: &mut Draws, name: &str, value: impl Fn(usize) -> f64) {
    let statistic = draws.statistics.iter_mut().find(|s| s.name == name).expect("it is there");
    statistic.values.iter_mut().enumerate().for_each(|(k, x)| *x = value(k));
}

#[test]
fn good_chains_have_no_warnings() {
    for seed in 0..50 {
        let independent = chains(4, 1000, seed, |_, _, z| vec![z, 5.0 + 1e7 * z, z.exp()]);
        check(&draws(&independent, 3), &[]);
        // At 0.7, R̂ exceeds 1.01 by chance for one seed of twenty.
        for decay in [0.5, -0.6, 0.3] {
            let mut x = 0.0;
            let correlated = chains(4, 1000, seed, |_, draw, z| {
                x = if draw == 0 { z } else { decay * x + z };
                vec![x]
            });
            check(&draws(&correlated, 1), &[]);
        }
    }
}

#[test]
fn heavy_tails_and_bounds_are_no_fault() {
    for seed in 0..50 {
        let mut random = Random(seed ^ 99);
        let heavy = chains(4, 1000, seed, |_, _, z| {
            // Cauchy, a positive scale of many magnitudes, and a constant.
            vec![z / normal(&mut random), (2.0 * z).exp(), 1.0]
        });
        check(&draws(&heavy, 3), &[]);
    }
}

#[test]
fn divergences_have_a_place() {
    let mut random = Random(7);
    let each = |_, _, z: f64| vec![normal(&mut random), (z - 1.0).exp()];
    let mut draws = draws(&chains(4, 1000, 1, each), 2);
    let tau = draws.variables[1].values.clone();
    set(&mut draws, names::DIVERGING, |k| f64::from(u8::from(tau[k] < 0.1 && k % 2 == 0)));
    let text = check(&draws, &[Kind::Divergences]);
    assert!(
        text.contains("trajectories diverged (") && text.contains("where `tau` is below 0."),
        "{text}"
    );
    assert!(text.contains("0.95 or 0.99"), "{text}");
    draws.attributes.push(("target_accept".into(), "0.95".into()));
    assert!(check(&draws, &[Kind::Divergences]).contains("to 0.99"));
    set(&mut draws, names::DIVERGING, |k| f64::from(u8::from(k % 300 == 0)));
    let text = check(&draws, &[Kind::Divergences]);
    assert!(
        text.starts_with("14 of 4000 trajectories diverged (0.4 %)\n")
            && !text.contains(" lie where"),
        "{text}"
    );
    set(&mut draws, names::DIVERGING, |k| f64::from(u8::from(k == 0)));
    let text = check(&draws, &[Kind::Divergences]);
    assert!(text.starts_with("1 of 4000 trajectories diverged"), "{text}");
}

#[test]
fn depth_and_energy() {
    let mut draws = draws(&chains(4, 500, 1, |_, _, z| vec![z]), 1);
    set(&mut draws, names::TREE_DEPTH, |k| if k % 10 == 0 { 12.0 } else { 4.0 });
    draws.attributes.push((names::MAX_DEPTH.into(), "12".into()));
    let text = check(&draws, &[Kind::Depth]);
    assert!(text.contains("200 of 2000") && text.contains("--max-depth 14"), "{text}");
    set(&mut draws, names::TREE_DEPTH, |_| 4.0);
    set(
        &mut draws,
        names::ENERGY,
        |k| if k < 500 { (k as f64 / 50.0).sin() } else { (k % 7) as f64 },
    );
    let text = check(&draws, &[Kind::Energy]);
    assert!(text.starts_with("E-BFMI is below 0.3 in chain 0: 0.00\n"), "{text}");
}

#[test]
fn a_chain_in_another_mode() {
    let mut draws =
        draws(&chains(4, 1000, 1, |c, _, z| vec![z + if c == 2 { 9.0 } else { 0.0 }, z]), 2);
    set(&mut draws, names::LP, |k| (k % 5) as f64 - if k / 1000 == 2 { 14.0 } else { 0.0 });
    let text = check(&draws, &[Kind::Modes]);
    assert!(text.starts_with("Chains 0, 1 and 3 and chain 2 stay in different places"), "{text}");
    assert!(text.contains("higher by 14 in chains 0, 1 and 3 than in chain 2"), "{text}");
}

#[test]
fn chains_that_do_not_move() {
    let mut stuck = chains(4, 200, 1, |_, _, z| vec![z, 2.0 * z]);
    stuck[1].values = [0.5, 0.1].repeat(200);
    let draws = draws(&stuck, 2);
    let text = check(&draws, &[Kind::Stuck]);
    assert!(text.starts_with("Chain 1 does not move\n  All draws are equal."), "{text}");
    let all = chains(2, 200, 1, |_, _, _| vec![1.0]);
    let text = check(&super::tests::draws(&all, 1), &[Kind::Stuck]);
    assert!(text.starts_with("Chains 0 and 1 do not move"), "{text}");
    let mut slow = super::tests::draws(&chains(4, 500, 1, |_, _, z| vec![z]), 1);
    set(&mut slow, names::ACCEPTANCE_RATE, |k| if k < 500 { 0.01 } else { 0.8 });
    assert!(check(&slow, &[Kind::Stuck]).contains("mean acceptance is 0.010"));
}

#[test]
fn an_improper_posterior() {
    let mut x = [0.0; 4];
    let mut step = 1.0;
    let walk = chains(4, 1000, 3, |c, _, z| {
        step *= 1.005;
        x[c] += 1e4 * step * z;
        vec![x[c], z]
    });
    let mut walk = draws(&walk, 2);
    set(&mut walk, names::TREE_DEPTH, |_| 10.0);
    let kinds = [Kind::Wandering, Kind::Depth];
    let text = check(&walk, &kinds);
    assert!(
        text.starts_with("`mu` wanders without bound; 5 % of the draws of `mu` are beyond "),
        "{text}"
    );
    // A slow chain of a large scale is not improper.
    let mut x = [0.0; 4];
    let slow = chains(4, 1000, 3, |c, _, z| {
        x[c] = 0.99 * x[c] + 1e6 * z;
        vec![x[c]]
    });
    let found = found(&draws(&slow, 1));
    assert!(found.iter().all(|finding| finding.kind != Kind::Wandering), "{found:?}");
}

#[test]
fn broken_and_short_runs() {
    let mut broken = chains(4, 200, 1, |_, _, z| vec![z, z]);
    broken[0].values[6] = f64::NAN;
    let text = check(&draws(&broken, 2), &[Kind::NotFinite]);
    assert!(text.starts_with("`mu` is NaN or infinite in some draws, it in 1 of them"), "{text}");
    check(&draws(&chains(4, 3, 1, |_, _, z| vec![z]), 1), &[Kind::TooShort]);
    check(&Draws::default(), &[]);
    let mut uneven = chains(4, 1000, 1, |_, _, z| vec![z]);
    uneven[1].values.truncate(900);
    uneven[1].statistics.iter_mut().for_each(|(_, values)| values.truncate(900));
    let text = check(&draws(&uneven, 1), &[Kind::Cut]);
    assert!(text.contains("cut to 900 draws, and 300 draws"), "{text}");
}

#[test]
fn slow_chains() {
    let mut x = 0.0;
    let slow = chains(4, 1000, 1, |_, draw, z| {
        x = if draw == 0 { 5.0 * z } else { 0.98 * x + z };
        vec![x]
    });
    let text = check(&draws(&slow, 1), &[Kind::Rhat, Kind::FewEffective]);
    assert!(text.contains("The chains differ by more than chance"), "{text}");
    assert!(text.contains("more draws alone would take too long"), "{text}");
}

#[test]
fn all_findings_read_aloud() {
    // Prints one of each for a person: `cargo test read_aloud -- --nocapture`.
    let mut bad =
        draws(&chains(4, 300, 1, |c, _, z| vec![z + 8.0 * (c / 2) as f64, z.exp(), z]), 3);
    let tau = bad.variables[1].values.clone();
    set(&mut bad, names::DIVERGING, |k| f64::from(u8::from(tau[k] < 0.4)));
    set(&mut bad, names::TREE_DEPTH, |_| 10.0);
    set(&mut bad, names::ENERGY, |k| (k as f64 / 50.0).sin());
    for finding in found(&bad) {
        println!("{finding}\n");
        assert!(!finding.title.ends_with('.') && finding.meaning.ends_with('.'), "{finding}");
        assert!(!finding.advice.is_empty() || finding.kind == Kind::Cut, "{finding}");
    }
}
