//! Sparse Jacobians and Hessians of whole definitions: choice of the parameter, all engines, and
//! files.

use lambada::{
    Data, Engine, Executable, Inputs, Precision, Session, Sparse, to_json, write_sparse,
};
use serde_json::{Value, json};

/// Definitions and parameters that clash with names of the prelude and of the generated definition.
const PROGRAM: &str =
    "def chain [n] (x : [n]real) (scale : real) : [n]real = for i < n => scale * x[i] ** 2 - (if i > 0 then x[i - 1] else 0.0)
def energy [n] (scale : real) (x : [n]real) : real = sum (for i < n => scale * x[i] ** 3)
def table (x : [2]real) : [2][2]real = for i < 2, j < 2 => x[i] * x[j]
def pair (x : (real, real)) : [2]real = [x.0, x.1]
def sparse_jacobian x = 2 * x
def _chain_0 [n] (_chain_0 : [n]real) : [n]real = for i < n => _chain_0[i] * sparse_jacobian 1.0
";

fn pair(
    entry: &str,
    matrix: Sparse,
    wrt: Option<&str>,
    args: &str,
    engine: Engine,
) -> Result<[Data; 2], String> {
    let mut session = Session::new();
    let unit = session.load_text("sparse.lam", PROGRAM, None).expect("it is well typed");
    let wrt = wrt.map(|name| vec![name.to_string()]);
    let call = unit.sparse(entry, matrix, wrt.as_deref());
    let call = call.map_err(|problems| problems[0].code.to_string())?;
    let mut inputs = Inputs::new();
    inputs.read_json(args, "the arguments").expect("JSON");
    let args = call.arguments(&inputs).expect("they fit");
    let executable = Executable::new(call.program, call.entry, engine).expect("it compiles");
    let Data::Tuple(pair) = executable.run(&args).expect("it runs") else {
        panic!("derivatives come with the value")
    };
    Ok(pair.try_into().expect("two"))
}

fn check(entry: &str, matrix: Sparse, wrt: Option<&str>, args: &str, expected: &Value) {
    for engine in [Engine::Native, Engine::Loops, Engine::Anf, Engine::Core] {
        let [_, found] = pair(entry, matrix, wrt, args, engine).expect("it has one");
        assert_eq!(to_json(&found), *expected, "{entry} on {engine:?}");
    }
}

#[test]
fn entries_of_a_definition() {
    let band = json!({"cols": [0, 0, 1, 1, 2], "rows": [0, 1, 1, 2, 2], "shape": [3, 3], "values": [4.0, -1.0, 8.0, -1.0, 12.0]});
    check("chain", Sparse::Jacobian, Some("x"), r#"{"x": [1, 2, 3], "scale": 2}"#, &band);
    let diagonal = json!({"cols": [0, 1], "rows": [0, 1], "shape": [2, 2], "values": [12.0, 24.0]});
    check("energy", Sparse::Hessian, Some("x"), r#"{"x": [1, 2], "scale": 2}"#, &diagonal);
    let twice = json!({"cols": [0, 1], "rows": [0, 1], "shape": [2, 2], "values": [2.0, 2.0]});
    check("_chain_0", Sparse::Jacobian, None, r#"{"_chain_0": [1, 2]}"#, &twice);
}

#[test]
fn what_has_no_sparse_matrix() {
    let code =
        |entry, matrix, wrt| pair(entry, matrix, wrt, "{}", Engine::Core).expect_err("it has none");
    assert_eq!(code("chain", Sparse::Jacobian, None), "E0476");
    assert_eq!(code("chain", Sparse::Jacobian, Some("scale")), "E0476");
    assert_eq!(code("pair", Sparse::Jacobian, None), "E0476");
    assert_eq!(code("table", Sparse::Jacobian, None), "E0477");
    assert_eq!(code("chain", Sparse::Hessian, Some("x")), "E0474");
}

/// The archive equals the one that `numpy.save` and `scipy.sparse.save_npz` write for the parts of
/// a `coo_array`.
#[test]
fn an_archive_for_scipy() {
    let [value, matrix] =
        pair("chain", Sparse::Jacobian, Some("x"), r#"{"x": [1, 2, 3], "scale": 2}"#, Engine::Core)
            .expect("it has one");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("chain.npz");
    write_sparse(&path, "jacobian", &value, &matrix, Precision::F64).expect("it is written");
    let file = std::fs::File::open(&path).expect("it is there");
    let mut archive = zip::ZipArchive::new(file).expect("an archive");
    let mut read = |name: &str| {
        let mut bytes = Vec::new();
        let mut part = archive.by_name(&format!("{name}.npy")).expect("it is there");
        std::io::copy(&mut part, &mut bytes).expect("it can be read");
        let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        assert_eq!(header % 64, 0, "{name}");
        let text = String::from_utf8_lossy(&bytes[10..header]).into_owned();
        (text, bytes[header..].to_vec())
    };
    let (header, word) = read("format");
    assert!(header.starts_with("{'descr': '|S3', 'fortran_order': False, 'shape': (), }"));
    assert_eq!(word, b"coo");
    let ints = |values: &[i64]| values.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
    let reals = |values: &[f64]| values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    assert_eq!(read("row").1, ints(&[0, 1, 1, 2, 2]));
    assert_eq!(read("col").1, ints(&[0, 0, 1, 1, 2]));
    assert_eq!(read("shape").1, ints(&[3, 3]));
    assert_eq!(read("data").1, reals(&[4.0, -1.0, 8.0, -1.0, 12.0]));
    assert_eq!(read("value").1, reals(&[2.0, 7.0, 16.0]));
    assert_eq!(read("_is_array").1, [1]);
}
