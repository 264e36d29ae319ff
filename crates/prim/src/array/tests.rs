use super::*;
use crate::{Precision, Scalar};

#[test]
fn rows_stand_in_the_order_of_the_primitives() {
    for (k, prim) in ArrayPrim::all().enumerate() {
        assert_eq!(prim as usize, k);
        assert_eq!(ArrayPrim::from_name(prim.name()), Some(prim));
        assert_eq!(crate::Prim::from_name(prim.name()), None, "{}", prim.name());
    }
}

#[test]
fn examples_are_true() {
    for prim in ArrayPrim::all() {
        let row = prim.row();
        let (args, expected) = row.example;
        let ranks: Vec<usize> = args.iter().map(|(dims, _)| dims.len()).collect();
        let version = prim.version(&ranks).expect("the example has a version");
        let dims: Vec<&[usize]> = args.iter().map(|(dims, _)| *dims).collect();
        for [(a, j), (b, k)] in version.equal_axes() {
            assert_eq!(dims[a][j], dims[b][k], "{}", row.name);
        }
        let data: Vec<&[f64]> = args.iter().map(|(_, data)| *data).collect();
        let found = (row.eval)(Precision::F64, &version.sizes(prim, &dims, 1), &data);
        let types: Vec<ScalarTy> = found.iter().map(Data::ty).collect();
        assert_eq!(types, row.results, "{}", row.name);
        let reals = |data: &Data| (0..data.len()).map(|k| real(data.get(k))).collect();
        assert_eq!(found.iter().map(reals).collect::<Vec<Vec<f64>>>(), expected, "{}", row.name);
        let dims = version.result_dims(&dims);
        let counts = dims.iter().map(|dims| dims.iter().product());
        let counts: Vec<usize> = counts.collect();
        assert_eq!(counts, expected.iter().map(|part| part.len()).collect::<Vec<usize>>());
    }
}

/// Twice the argument gives twice the value: the rows say so of those arguments, and of no others,
/// at the example.
#[test]
fn rows_say_in_which_arguments_they_are_linear() {
    for prim in ArrayPrim::all() {
        let row = prim.row();
        let (args, expected) = row.example;
        let dims: Vec<&[usize]> = args.iter().map(|(dims, _)| *dims).collect();
        let ranks: Vec<usize> = dims.iter().map(|dims| dims.len()).collect();
        let version = prim.version(&ranks).expect("the example has a version");
        let sizes = version.sizes(prim, &dims, 1);
        for k in 0..args.len() {
            let mut data: Vec<Vec<f64>> = args.iter().map(|(_, data)| data.to_vec()).collect();
            data[k].iter_mut().for_each(|x| *x *= 2.0);
            let data: Vec<&[f64]> = data.iter().map(Vec::as_slice).collect();
            let found = (row.eval)(Precision::F64, &sizes, &data);
            let doubled = found.iter().zip(expected).all(|(found, expected)| {
                (0..found.len()).all(|i| real(found.get(i)) == 2.0 * expected[i])
            });
            assert_eq!(doubled, row.linear.contains(&k), "{}, argument {k}", row.name);
        }
    }
}

#[test]
fn versions_speak_of_the_axes_of_the_row() {
    for prim in ArrayPrim::all() {
        for version in prim.row().versions {
            assert!(version.axes().all(|(_, _, name)| prim.row().axes.contains(name)));
            let of_arguments = |name| version.axes().any(|(_, _, axis)| axis == name);
            let axes = version.results.iter().flat_map(|axes| axes.chars());
            assert!(axes.into_iter().all(of_arguments), "{}", prim.name());
            assert_eq!(version.results.len(), prim.row().results.len(), "{}", prim.name());
            assert!(!prim.is_contraction() || version.results.len() == 1, "{}", prim.name());
            let transposes = if prim.is_contraction() { version.args.len() } else { 0 };
            assert_eq!(version.transposes.len(), transposes, "{}", prim.name());
        }
    }
}

#[test]
fn kernels_define_what_they_are_called() {
    for prim in ArrayPrim::all() {
        let kernel = &prim.row().kernel;
        let head = format!(" {}(", kernel.name);
        assert!(kernel.texts.last().is_some_and(|text| text.contains(&head)), "{}", kernel.name);
    }
}

/// A number as a real.
fn real(x: Scalar) -> f64 {
    match x {
        Scalar::Real(x) => x,
        Scalar::Int(k) => k as f64,
        Scalar::Bool(b) => f64::from(b),
    }
}
