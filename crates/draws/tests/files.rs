//! Files of draws: written and read back, read from other programs, and broken.

use lambada_draws::{Array, Chain, Draws, Format, Variable, Wrong, names};
use lambada_testkit::Random;

const ALL: [Format; 3] = [Format::Csv, Format::Parquet, Format::NetCdf];

/// Draws with arrays, statistics and special numbers.
fn draws(chains: usize, length: usize) -> Draws {
    let mut random = Random(4);
    let shapes = [
        ("mu".to_string(), vec![]),
        ("theta".to_string(), vec![3]),
        ("l".to_string(), vec![2, 2]),
        ("none".to_string(), vec![0]),
    ];
    let mut chain = |k: usize| Chain {
        values: (0..8 * length).map(|_| random.between(-1e3, 1e3)).collect(),
        statistics: vec![
            (names::LP.into(), (0..length).map(|_| random.between(-9.0, 0.0)).collect()),
            (names::DIVERGING.into(), (0..length).map(|d| f64::from(u8::from(d == k))).collect()),
            (names::TREE_DEPTH.into(), (0..length).map(|d| (d % 9) as f64).collect()),
            ("own".into(), vec![0.5; length]),
        ],
    };
    let chains: Vec<Chain> = (0..chains).map(&mut chain).collect();
    let mut draws = Draws::new(&shapes, &chains).expect("the shapes agree");
    if let [first, second, third, ..] = &mut draws.variables[0].values[..] {
        (*first, *second, *third) = (f64::NAN, f64::INFINITY, -1e-300);
    }
    draws.attributes =
        vec![("seed".into(), "17".into()), ("model".into(), "y = x,\n\"two\" \\ lines é".into())];
    draws
}

/// Equality in which NaN equals NaN.
fn same(a: &Draws, b: &Draws) -> bool {
    format!("{a:?}") == format!("{b:?}")
}

#[test]
fn files_are_read_as_they_were_written() {
    for (chains, length) in [(1, 1), (4, 25), (3, 1000)] {
        let mut draws = draws(chains, length);
        draws.dropped = 12;
        for format in ALL {
            let mut expect = draws.clone();
            // A table has no column for a variable without elements.
            if format != Format::NetCdf {
                expect.variables.pop();
            }
            let bytes = format.write(&expect).expect("it can be written");
            let read = format.read(&bytes).expect("it can be read");
            assert!(same(&read, &expect), "{format:?} {chains} {length}\n{read:?}");
        }
    }
}

#[test]
fn netcdf_holds_data_and_predictions() {
    let mut draws = draws(2, 10);
    let variable = |name: &str| Variable {
        name: name.into(),
        dims: vec![4],
        values: (0..80).map(f64::from).collect(),
    };
    draws.predictive = vec![variable("y")];
    draws.log_likelihood = vec![variable("y")];
    draws.observed = vec![
        Array { name: "y".into(), dims: vec![4], values: vec![1.0, 2.0, 3.0, 4.0] },
        Array { name: "n".into(), dims: vec![], values: vec![4.0] },
    ];
    let bytes = Format::NetCdf.write(&draws).expect("it can be written");
    assert!(same(&Format::NetCdf.read(&bytes).expect("it can be read"), &draws));
}

#[test]
fn many_variables_are_written() {
    let variable =
        |k: usize| Variable { name: format!("v{k}"), dims: vec![2], values: vec![k as f64; 4] };
    let variables = (0..3000).map(variable).collect();
    let draws = Draws { chains: 1, draws: 2, variables, ..Draws::default() };
    let bytes = Format::NetCdf.write(&draws).expect("it can be written");
    assert!(same(&Format::NetCdf.read(&bytes).expect("it can be read"), &draws));
}

#[test]
fn tables_say_where_they_are_wrong() {
    let check = |text: &str, expect: &str| {
        let wrong = Format::Csv.read(text.as_bytes()).expect_err("it is broken");
        assert_eq!(wrong.to_string(), expect, "{text}");
    };
    check("", "it lacks a line with the names of the columns");
    check(
        "chain,draw,mu\n0,0,1.5\n0,1,x\n",
        "line 3, column 3: `x` in the column `mu` is no number",
    );
    check("# seed = 1\nchain,draw,mu\n0,0\n", "line 3: 2 fields, where the head has 3");
    check("chain,mu,mu\n", "line 1, column 3: a second column is called `mu`");
    check("chain,t[0],t[2]\n0,1,2\n", "it lacks some elements of `t`: there are 2 of 3");
    check(
        "chain,t[0],t[99999999999]\n0,1,2\n",
        "it lacks some elements of `t`: there are 2 of 100000000000",
    );
    check("chain,t[0],\"t[0,1]\"\n", "the columns of `t` differ in the number of indices");
    check(
        "chain,\"m[0,0]\",\"m[1,1]\",\"m[0,1]\",\"m[0, 1]\"\n",
        "two columns are the same element of `m`",
    );
}

#[test]
fn tables_of_cmdstan_are_read() {
    let text = "# model = eight_schools\n#     seed = 7 (Default)\nlp__,accept_stat__,theta.1,theta.2,l.1.1,l.2.1\n-1,0.9,1,2,3,4\n# Adaptation terminated\n-2,0.8,5,6,7,8\n#  Elapsed Time: 1 s\n";
    let draws = Format::Csv.read(text.as_bytes()).expect("it can be read");
    assert_eq!((draws.chains, draws.draws), (1, 2));
    assert_eq!(draws.attribute("model"), Some("eight_schools"));
    assert_eq!(draws.statistic(names::ACCEPTANCE_RATE), Some(&[0.9, 0.8][..]));
    let names: Vec<String> = draws.elements().map(|element| element.name()).collect();
    assert_eq!(names, ["theta[0]", "theta[1]", "l[0,0]", "l[1,0]"]);
}

#[test]
fn rows_of_chains_may_be_mixed_and_short() {
    let text = "mu,chain\n1,5\n2,7\n3,5\n4,7\n5,5\n";
    let draws = Format::Csv.read(text.as_bytes()).expect("it can be read");
    assert_eq!((draws.chains, draws.draws, draws.dropped), (2, 2, 1));
    assert_eq!(draws.variables[0].values, [1.0, 3.0, 2.0, 4.0]);
}

/// Files that `data/make.py` wrote by other libraries: old and new groups, with few and with many
/// links; plain, chunked, shuffled and deflated arrays; numbers of 4 bytes; both byte orders.
#[test]
fn files_of_other_programs_are_read() {
    for name in ["arviz.nc", "h5netcdf.nc", "h5py.nc", "h5py_many.nc"] {
        let path = format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
        let bytes = std::fs::read(path).expect("the file is there");
        let draws = Format::NetCdf.read(&bytes).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
        assert_eq!((draws.chains, draws.draws), (2, 50), "{name}");
        let theta = draws.variable("theta").expect("it has theta");
        assert_eq!(theta.dims, [3]);
        for (k, x) in theta.values.iter().enumerate() {
            assert_eq!(*x, (k as f64) / 8.0 - 7.0, "{name} {k}");
        }
        let diverging = draws.statistic(names::DIVERGING).expect("it has divergences");
        assert!(diverging.iter().enumerate().all(|(k, x)| *x == f64::from(u8::from(k % 7 == 0))));
        let depth = draws.statistic(names::TREE_DEPTH).expect("it has depths");
        assert!(depth.iter().enumerate().all(|(k, x)| *x == (k % 5) as f64 - 1.0), "{name}");
        assert_eq!(draws.observed[0].values, [1.0, 2.5, -3.0], "{name}");
        assert_eq!(draws.attribute("seed"), Some("17"), "{name}");
        if name.contains("many") {
            assert_eq!(draws.variables.len(), 201);
            let last = draws.variable("v199").expect("it has v199");
            assert!(last.values.iter().all(|x| *x == 199.0), "{name}");
        }
        if name.contains("arviz") {
            assert_eq!(draws.variables.len(), 14, "{name}");
        }
    }
}

#[test]
fn broken_files_are_refused() {
    let whole = draws(2, 10);
    let mut random = Random(11);
    for format in [Format::Parquet, Format::NetCdf] {
        let bytes = format.write(&whole).expect("it can be written");
        for length in [0, 1, 7, 8, 40, 100, bytes.len() / 2, bytes.len() - 1] {
            assert!(format.read(&bytes[..length]).is_err(), "{format:?} {length}");
        }
    }
    // No input makes the reader fail otherwise than by a message.
    let names = ["arviz.nc", "h5netcdf.nc", "h5py.nc", "h5py_many.nc"];
    let path = |name: &str| format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<Vec<u8>> =
        names.iter().map(|name| std::fs::read(path(name)).expect("the file is there")).collect();
    files.push(Format::NetCdf.write(&whole).expect("it can be written"));
    for file in files {
        let rounds = std::env::var("DRAWS_ROUNDS").ok().and_then(|text| text.parse().ok());
        for _ in 0..rounds.unwrap_or(100) {
            let mut bytes = file.clone();
            for _ in 0..1 + random.below(20) {
                let place = random.below(bytes.len());
                bytes[place] = random.pick(&[0, 1, 0xff, random.clone().bits() as u8]);
            }
            let _ = Format::NetCdf.read(&bytes);
        }
    }
    let wrong = Format::NetCdf.read(b"CDF\x01 and more").expect_err("it is of version 3");
    assert!(wrong.to_string().contains("version 3"), "{wrong}");
    let empty = Draws::default();
    let bytes = Format::NetCdf.write(&empty).expect("it can be written");
    assert!(same(&Format::NetCdf.read(&bytes).expect("it can be read"), &empty));
    let uneven = Draws { chains: 1, draws: 3, variables: whole.variables.clone(), ..empty };
    assert!(matches!(Format::Csv.write(&uneven), Err(Wrong::Shape { .. })));
}

/// Writes files into the folder DRAWS_OUT, if there is one: `data/check.py` reads them by other
/// libraries.
#[test]
fn files_for_other_programs() {
    let Ok(folder) = std::env::var("DRAWS_OUT") else { return };
    let mut draws = draws(4, 250);
    draws.predictive = vec![Variable { name: "y".into(), dims: vec![4], values: vec![1.5; 4000] }];
    draws.log_likelihood = draws.predictive.clone();
    draws.observed =
        vec![Array { name: "y".into(), dims: vec![4], values: vec![1.0, 2.0, 3.0, 4.0] }];
    draws.variables.pop();
    for (format, name) in ALL.into_iter().zip(["d.csv", "d.parquet", "d.nc"]) {
        let bytes = format.write(&draws).expect("it can be written");
        std::fs::write(format!("{folder}/{name}"), bytes).expect("the folder is there");
    }
}
