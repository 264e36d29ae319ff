use lambada_testkit::Random;

use super::*;

/// A series that a Python script makes too. Sums of uniforms stand for normal draws, because they
/// need no function that two languages round differently.
fn series(kind: &str, chains: usize, draws: usize, seed: u64) -> Vec<f64> {
    let mut random = Random(seed);
    let mut values = Vec::new();
    for chain in 0..chains {
        let mut x = 0.0;
        for _ in 0..draws {
            let e = (0..12).fold(-6.0, |sum, _| sum + random.between(0.0, 1.0));
            let decay = match kind {
                "ar" => 0.75,
                "anti" => -0.5,
                _ => 0.5,
            };
            x = decay * x + e;
            values.push(match kind {
                "iid" => e,
                "ar" | "anti" => x,
                "shift" => x + 0.5 * chain as f64,
                "scale" => e * (1.0 + chain as f64),
                "heavy" => e * e * e * e * e,
                _ => (2.0 * e).floor(),
            });
        }
    }
    values
}

fn check(what: &str, found: f64, expect: f64) {
    let close = (found - expect).abs() <= 1e-12 * expect.abs().max(1.0);
    assert!(close || found.is_nan() && expect.is_nan(), "{what}: {found:?}, not {expect:?}");
}

#[test]
fn the_numbers_of_arviz() {
    // By ArviZ 0.23.4: mean, sd, bulk and tail ESS, MCSE of the mean, of the sd, of the quantiles
    // at 5 % and 50 %, R̂, ESS of the quantile at 30 %, E-BFMI of the first chain.
    #[rustfmt::skip]
    let rows: [(&str, usize, usize, u64, [f64; 11]); 11] = [
        ("iid", 4, 1000, 1, [-0.02870333739716387, 1.0154888924785614, 3974.95453051567, 3888.399861358435, 0.01609171019440531, 0.01065867517922839, 0.026556868535542844, 0.024774456159827984, 1.000240452446108, 3760.424986899653, 2.0960959540953015]),
        ("ar", 4, 1000, 2, [0.03799494702832433, 1.53560757329154, 491.531827130024, 1156.1031050271156, 0.06938885040446487, 0.03036857504374896, 0.06564359859211844, 0.0878369072040886, 1.0103430686103316, 807.4117016502402, 0.5018962041671519]),
        ("ar", 4, 101, 3, [-0.0763594723739428, 1.637684329688717, 54.850128774751575, 109.37633896426348, 0.22746317348944445, 0.16901701547608075, 0.3293259923304288, 0.19945350225081865, 1.0989961227473841, 99.18071849051962, 0.31104755695631037]),
        ("ar", 1, 500, 4, [-0.06782379819597967, 1.5649443435793664, 52.40115772462764, 139.9261823969681, 0.21871852958329208, 0.07495656398220846, 0.28847126427816594, 0.1833358176374792, f64::NAN, 63.6612948752474, 0.4861736353032233]),
        ("anti", 4, 500, 5, [0.011384492951116962, 1.1640205074911851, 6602.059991327962, 2101.5209214108504, 0.014325866460194459, 0.02281245096996947, 0.04590738989130427, 0.026472488689142926, 1.0002842033369852, 3487.2826780207142, 2.879180677951389]),
        ("shift", 3, 250, 6, [0.5056037229592274, 1.3336363305871417, 71.86471495114999, 350.235197229563, 0.1614920949575662, 0.04406529895923772, 0.12946813914884703, 0.1530693608673368, 1.0774914247958909, 100.53073442619925, 0.7257802808094767]),
        ("scale", 4, 333, 7, [-0.024685309577207742, 2.896069001599304, 1186.0195966152319, 254.26804386887025, 0.08380854886768455, 0.5603960218273172, 0.521419681759038, 0.06596304310968576, 1.2191635614923344, 122.17798937374037, 1.9906102914294241]),
        ("heavy", 2, 400, 8, [1.5711730009240348, 22.101431540493312, 822.3718877039312, 805.3991462420666, 0.7441170204839507, 3.294569748141892, 2.615307460711507, 1.6617091069919005e-05, 1.0001161855521739, 818.4379000392379, 1.9942868902065147]),
        ("ties", 4, 200, 9, [-0.54625, 1.9723650060641496, 923.6048197792928, 742.1216092326032, 0.06482594212806286, 0.04944372361704909, 0.0, 0.5, 0.9977770501105612, 810.6493273874053, 2.023638968481375]),
        ("iid", 2, 4, 10, [-0.015880502153334544, 0.5959427913729802, 7.224719895935548, 7.224719895935548, 0.22171448323564022, 0.1714593099194581, 0.6000958364990401, 0.17865366857091874, 1.261584750168261, 7.224719895935548, 0.9883958428656459]),
        ("ar", 2, 7, 11, [1.2383010917339956, 1.4396387599292186, 12.9501749525715, 12.9501749525715, 0.40005132484379385, 0.16698954035574518, 0.5546714523859448, 0.6775004483482048, 1.8879928420809824, 12.9501749525715, 0.8356219412217785]),
    ];
    for (kind, chains, draws, seed, expect) in rows {
        let values = series(kind, chains, draws, seed);
        let scalar = Scalar { values: &values, draws };
        let worth = Judge::of(scalar).worth(scalar);
        let found = [
            worth.mean,
            worth.sd,
            worth.ess_bulk,
            worth.ess_tail,
            worth.mcse_mean,
            worth.mcse_sd,
            mcse_quantile(scalar, 0.05),
            mcse_quantile(scalar, 0.5),
            worth.rhat,
            ess_quantile(scalar, 0.3),
            energy_fraction(&values[..draws]),
        ];
        for (k, (found, expect)) in found.into_iter().zip(expect).enumerate() {
            // ArviZ has no R̂ of one chain.
            if !(k == 8 && chains == 1) {
                check(&format!("{kind} {chains}x{draws}, number {k}"), found, expect);
            }
        }
        check("bulk alone", ess_bulk(scalar), worth.ess_bulk);
        check("R̂ alone", rhat(scalar), worth.rhat);
    }
}

#[test]
fn without_variance_or_numbers_nothing_is_known() {
    let constant = [0.1; 40];
    let scalar = Scalar { values: &constant, draws: 10 };
    let worth = Judge::of(scalar).worth(scalar);
    assert!(worth.constant && worth.rhat.is_nan() && worth.ess_bulk.is_nan());
    assert_eq!((worth.mean, worth.sd, worth.quantiles), (0.1, 0.0, [0.1; 3]));
    let mut broken = series("iid", 4, 10, 1);
    (broken[3], broken[7]) = (f64::NAN, f64::INFINITY);
    let scalar = Scalar { values: &broken, draws: 10 };
    let worth = Judge::of(scalar).worth(scalar);
    assert!(worth.not_finite == 2 && worth.rhat.is_nan() && worth.ess_tail.is_nan());
    assert!(worth.quantiles.iter().all(|q| q.is_nan()));
    for short in [0, 1, 3] {
        let values = series("iid", 2, short, 1);
        let scalar = Scalar { values: &values, draws: short };
        assert!(rhat(scalar).is_nan() && mcse_quantile(scalar, 0.5).is_nan());
    }
}

#[test]
fn one_chain_is_compared_with_itself() {
    let rising: Vec<f64> = (0..100).map(f64::from).collect();
    assert!(rhat(Scalar { values: &rising, draws: 100 }) > 1.5);
    let fair = series("iid", 1, 1000, 5);
    assert!(rhat(Scalar { values: &fair, draws: 1000 }) < 1.01);
}

#[test]
fn many_draws_take_near_linear_time() {
    let values = series("ar", 2, 100_000, 3);
    let scalar = Scalar { values: &values, draws: 100_000 };
    let worth = Judge::of(scalar).worth(scalar);
    // The autocorrelation time of the series is 7.
    assert!((worth.ess_bulk / (200_000.0 / 7.0) - 1.0).abs() < 0.05, "{}", worth.ess_bulk);
}
