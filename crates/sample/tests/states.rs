//! Chains that go on from the files of their states.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use lambada::{Engine, Given, Inputs, Model, Options, Posterior};
use lambada_draws::Draws;
use lambada_sample::{Metric, Resumed, Settings, Watch, remove_states, sample};

/// Stops all chains together after a number of draws, and notes how they began.
#[derive(Default)]
struct Stops {
    after: Option<u64>,
    made: AtomicU64,
    resumed: Mutex<Vec<String>>,
}

impl Stops {
    fn after(draws: u64) -> Stops {
        Stops { after: Some(draws), ..Stops::default() }
    }

    fn resumed(self) -> Vec<String> {
        self.resumed.into_inner().expect("no panic")
    }
}

impl Watch for Stops {
    fn drawn(&self, _chain: usize, _draw: u64, _diverging: bool) {
        self.made.fetch_add(1, Ordering::Relaxed);
    }

    fn stops(&self) -> bool {
        self.after.is_some_and(|after| self.made.load(Ordering::Relaxed) >= after)
    }

    fn resumed(&self, chain: usize, what: Resumed) {
        let what = match what {
            Resumed::After(draws) => format!("{chain} after {draws}"),
            Resumed::OtherChain => format!("{chain} anew"),
            Resumed::NotKept(why) => format!("{chain} not kept: {why}"),
        };
        self.resumed.lock().expect("no panic").push(what);
    }
}

/// Correlated, with a positive parameter, whose values are not its coordinates.
fn posterior(scale: f64) -> Posterior {
    let text = format!(
        "import \"std/space\"
def m [n] (x : [n]real) (s : space.positive) : real =
  -0.5 * sum (x * x) / {scale:?} - 2 * s - (x[0] - x[1]) ** 2"
    );
    let options = Options { engine: Engine::Jit, ..Options::default() };
    let model = Model::builder().options(options).compile("m.lam", &text).expect("a program");
    let mut given = Given { data: Inputs::new(), ..Given::default() };
    given.sizes.push(("n".into(), 3));
    model.function("m").expect("a definition").posterior(&given).expect("a density")
}

fn run(posterior: &Posterior, settings: &Settings, watch: &Stops) -> Draws {
    sample(posterior, settings, watch).unwrap_or_else(|why| panic!("{why:?}"))
}

fn kept(folder: &Path, metric: Metric) -> Settings {
    let states = Some(folder.join("states"));
    Settings { chains: 2, warmup: 120, draws: 80, metric, states, ..Settings::default() }
}

/// In the first windows, in the long ones, at the end of the warm-up, and between draws.
#[test]
fn chains_go_on_as_if_they_had_never_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let posterior = posterior(2.0);
    for metric in [Metric::Diagonal, Metric::Dense, Metric::LowRank] {
        let settings = kept(folder.path(), metric);
        let whole =
            run(&posterior, &Settings { states: None, ..settings.clone() }, &Stops::default());
        for parts in [[7, 30], [55, 50], [119, 1], [120, 40], [150, 60]] {
            for part in parts {
                let stops = Stops::after(part);
                run(&posterior, &settings, &stops);
                let told = stops.resumed();
                assert!(told.len() <= 2 && told.iter().all(|t| t.contains("after")), "{told:?}");
            }
            let rest = Stops::default();
            assert_eq!(run(&posterior, &settings, &rest), whole, "{metric:?} after {parts:?}");
            assert_eq!(rest.made.load(Ordering::Relaxed) + parts[0] + parts[1], 400);
            // The chains are complete now, and stay so.
            let again = Stops::default();
            assert_eq!(run(&posterior, &settings, &again), whole);
            assert_eq!(again.made.load(Ordering::Relaxed), 0);
            let folder = settings.states.as_deref().expect("a folder");
            remove_states(folder).expect("it is ours");
            assert!(!folder.exists());
        }
    }
}

#[test]
fn states_of_other_chains_are_not_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, settings) = (posterior(2.0), kept(folder.path(), Metric::Diagonal));
    let leaves = || {
        run(&first, &settings, &Stops::after(150));
    };
    let anew = |posterior: &Posterior, settings: &Settings| {
        let whole =
            run(posterior, &Settings { states: None, ..settings.clone() }, &Stops::default());
        let stops = Stops::default();
        assert_eq!(run(posterior, settings, &stops), whole);
        let mut told = stops.resumed();
        told.sort();
        assert_eq!(told, ["0 anew", "1 anew"]);
    };
    leaves();
    anew(&posterior(2.5), &settings);
    for other in [
        Settings { seed: 1, ..settings.clone() },
        Settings { warmup: 121, ..settings.clone() },
        Settings { target_accept: 0.9, ..settings.clone() },
        Settings { max_depth: 9, ..settings.clone() },
        Settings { metric: Metric::Dense, ..settings.clone() },
    ] {
        remove_states(settings.states.as_deref().expect("a folder")).expect("it is ours");
        leaves();
        anew(&first, &other);
    }
    // Half a file, and one of something else.
    let file = folder.path().join("states/chain-1");
    leaves();
    let bytes = std::fs::read(&file).expect("a state");
    for broken in [&bytes[..bytes.len() / 2], b"nothing".as_slice(), b""] {
        std::fs::write(&file, broken).expect("it can be written");
        let stops = Stops::default();
        run(&first, &settings, &stops);
        assert!(stops.resumed().contains(&"0 anew".into()));
    }
}

#[test]
fn more_draws_go_on_from_fewer() {
    let folder = tempfile::tempdir().expect("a folder");
    let (posterior, settings) = (posterior(2.0), kept(folder.path(), Metric::Diagonal));
    run(&posterior, &settings, &Stops::after(300));
    let more = Settings { draws: 150, ..settings.clone() };
    let whole = run(&posterior, &Settings { states: None, ..more.clone() }, &Stops::default());
    assert_eq!(run(&posterior, &more, &Stops::default()), whole);
}

#[cfg(unix)]
#[test]
fn a_folder_that_takes_no_files_stops_no_chain() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("states"), "a file").expect("it can be written");
    let (posterior, settings) = (posterior(2.0), kept(folder.path(), Metric::Diagonal));
    let stops = Stops::after(350);
    let draws = run(&posterior, &settings, &stops);
    assert!(draws.draws > 0);
    assert!(stops.resumed().iter().all(|told| told.contains("not kept")));
}
