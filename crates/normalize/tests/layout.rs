//! Layouts: values as arrays of scalars, and back.

use std::sync::Arc;

use lambada_core::{Data, Size};
use lambada_normalize::{Layout, Shape};
use lambada_prim::ScalarTy;

fn array(elem: Shape) -> Shape {
    Shape::Array(Size::Any, Arc::new(elem))
}

fn real() -> Shape {
    Shape::Scalar(ScalarTy::Real)
}

/// `Circle real | Poly []real | Dot`
fn figure() -> Shape {
    Shape::Variant(Arc::from([
        ("Circle".into(), vec![real()]),
        ("Poly".into(), vec![array(real())]),
        ("Dot".into(), vec![]),
    ]))
}

fn con(name: &str, tag: usize, args: Vec<Data>) -> Data {
    Data::Con { name: name.into(), tag, args: args.into() }
}

fn check(shape: Shape, data: Data, expect: &[&[usize]]) {
    let layout = Layout::new(shape);
    assert_eq!(layout.shape().leaf_count(), layout.shape().leaves().len());
    let tensors = layout.flatten(&data).expect("it fits");
    assert_eq!(tensors.iter().map(|t| &t.dims[..]).collect::<Vec<_>>(), expect);
    assert_eq!(layout.unflatten(&mut tensors.into_iter()), data);
}

fn check_error(shape: Shape, data: Data, expect: &str) {
    assert_eq!(Layout::new(shape).flatten(&data), Err(expect.to_string()));
}

#[test]
fn structures_of_arrays() {
    check(real(), 1.0.into(), &[&[]]);
    check(array(array(real())), Data::matrix(&[&[1.0, 2.0]]), &[&[1, 2]]);
    let pairs = Data::Array(vec![
        Data::Tuple(vec![1.0.into(), vec![1.0, 2.0].into()]),
        Data::Tuple(vec![2.0.into(), vec![3.0, 4.0].into()]),
    ]);
    check(array(Shape::Tuple(vec![real(), array(real())])), pairs, &[&[2], &[2, 2]]);
    check(Shape::Tuple(vec![]), Data::unit(), &[]);
}

#[test]
fn variants() {
    let (circle, dot) = (con("Circle", 0, vec![2.0.into()]), con("Dot", 2, vec![]));
    let poly = con("Poly", 1, vec![vec![1.0, 2.0].into()]);
    check(figure(), circle.clone(), &[&[], &[], &[0]]);
    check(figure(), poly.clone(), &[&[], &[], &[2]]);
    check(
        array(figure()),
        Data::Array(vec![dot.clone(), poly.clone(), circle.clone()]),
        &[&[3], &[3], &[3, 2]],
    );
    check(array(figure()), Data::Array(vec![]), &[&[0], &[0], &[0, 0]]);
    let nested = Data::Array(vec![Data::Array(vec![dot.clone()]), Data::Array(vec![poly])]);
    check(array(array(figure())), nested, &[&[2, 1], &[2, 1], &[2, 1, 2]]);
    check(
        array(array(figure())),
        Data::Array(vec![Data::Array(vec![]), Data::Array(vec![])]),
        &[&[2, 0], &[2, 0], &[2, 0, 0]],
    );
}

#[test]
fn misfits() {
    check_error(real(), 1.into(), "`real` was expected, not `int`");
    let poly = |values: Vec<f64>| con("Poly", 1, vec![values.into()]);
    let ragged = Data::Array(vec![poly(vec![1.0]), poly(vec![])]);
    check_error(
        array(figure()),
        ragged,
        "the elements of an array have different sizes: [1] and [0]",
    );
    check_error(
        figure(),
        con("Square", 0, vec![]),
        "`Square` with 0 arguments is not a constructor of this type",
    );
    check_error(
        figure(),
        Data::unit(),
        "`Circle` or `Poly` or `Dot` was expected, not a tuple of 0",
    );
}
