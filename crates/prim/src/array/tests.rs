use super::*;

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
        assert_eq!((row.eval)(&version.sizes(prim, &dims, 1), &data), expected, "{}", row.name);
        let count: usize = version.result_dims(&dims).iter().product();
        assert_eq!(count, expected.len(), "{}", row.name);
    }
}

#[test]
fn versions_speak_of_the_axes_of_the_row() {
    for prim in ArrayPrim::all() {
        for version in prim.row().versions {
            assert!(version.axes().all(|(_, _, name)| prim.row().axes.contains(name)));
            let of_arguments = |name| version.axes().any(|(_, _, axis)| axis == name);
            assert!(version.result.chars().all(of_arguments), "{}", prim.name());
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
