//! A program that calls the module.

include!(concat!(env!("MODEL"), "/model.rs"));

use model::{Error, ErrorKind};
use ndarray::{Array1, Array2, array};

fn main() -> Result<(), Error> {
    let (w, y) = (array![1.0, 2.0], array![1.0, 2.0, 3.0]);
    let x = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
    let value: f64 = model::loss(w.view(), 0.5, x.view(), y.view())?;
    assert_eq!(value, (4.5 * 4.5 + 9.5 * 9.5 + 14.5 * 14.5) / 3.0);
    let (again, g): (f64, model::LossGrad) = model::loss_grad(w.view(), 0.5, x.view(), y.view())?;
    assert_eq!((again, g.b), (value, 19.0));
    assert!((g.w[1] - 2.0 * (9.0 + 38.0 + 87.0) / 3.0).abs() < 1e-12);
    // The result does not depend on strides.
    let columns: Array2<f64> = x.t().to_owned();
    assert_eq!(model::loss(w.view(), 0.5, columns.t(), y.view())?, value);
    let mut dx = Array2::zeros((3, 2));
    dx[[0, 0]] = 1.0;
    let (_, tangent) = model::loss_jvp(w.view(), 0.5, x.view(), y.view(), dx.view())?;
    assert!((tangent - 3.0).abs() < 1e-12);
    let found: Array1<f64> = model::positive(array![-1.0, 2.0, -3.0, 4.0].view())?;
    assert_eq!(found, array![2.0, 4.0]);
    assert_eq!(model::positive(array![-1.0].view())?.len(), 0);
    let (found, back) = model::positive_vjp(array![-1.0, 2.0].view(), array![7.0].view())?;
    assert_eq!((found, back.xs), (array![2.0], array![0.0, 7.0]));
    let p = model::turned(1.0, 2.0)?;
    assert_eq!((p.y, p.x), (2.0, -1.0));
    let picked = model::pick(y.view(), 1)?;
    assert_eq!((picked._0, picked._1, picked._2), (2.0, true, 1));
    assert_eq!(model::triangle(y.view(), y.view())?, 12.0);
    assert_eq!(model::table(3)?, array![0.0, 1.0, 2.0]);

    for bits in [128, 256, 512] {
        assert!(model::vector_bits(bits) <= bits);
        assert_eq!(model::loss(w.view(), 0.5, x.view(), y.view())?, value);
    }

    let failed = model::pick(y.view(), 7).unwrap_err();
    assert_eq!(failed.kind, ErrorKind::Check);
    assert!(failed.to_string().ends_with("index 7 is out of range for size 3"), "{failed}");
    let failed = model::loss(array![1.0].view(), 0.5, x.view(), y.view()).unwrap_err();
    assert_eq!(failed.kind, ErrorKind::Size);
    assert_eq!(failed.to_string(), "axis 1 of `x` has size 2, and d is 1");

    std::thread::scope(|scope| {
        let each = || (0..500).all(|_| model::loss(w.view(), 0.5, x.view(), y.view()) == Ok(value));
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(each)).collect();
        assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
    });
    Ok(())
}
