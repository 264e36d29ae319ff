"""Derivatives, against each other and against equations."""

import pickle

import numpy as np
import pytest

import lambada


def test_gradients_by_one_by_several_and_by_all(m):
    w, x = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    value, g = m.loss.value_and_grad(w, x)
    assert value == 6.5 and list(g) == ["w", "x"]
    np.testing.assert_array_equal(g["w"], w - x)
    np.testing.assert_array_equal(m.loss.grad(w, x=x, wrt="w"), w - x)
    g = m.loss.grad(x=x, w=w, wrt=("x",))
    assert list(g) == ["x"]
    np.testing.assert_array_equal(g["x"], x - w)
    np.testing.assert_array_equal(np.asarray(g), x - w)


def test_integers_are_left_out(m):
    g = m.flag.grad(True, 2, 3.0)
    assert list(g) == ["r"] and g["r"] == 1.0


def test_results_are_rounded_to_arrays_of_float32(m):
    w = m.loss.grad([0.3], [0.1], wrt="w")
    out = np.zeros(1, dtype=np.float32)
    assert m.loss.grad([0.3], [0.1], wrt="w", out=out) is out
    np.testing.assert_array_equal(out, w.astype(np.float32))


def test_forward_and_reverse_agree(m):
    rng = np.random.default_rng(1)
    x, dx, ct = rng.normal(size=(3, 5))
    y, along = m.chained.jvp(x, tangents={"x": dx})
    y2, pullback = m.chained.vjp(x)
    np.testing.assert_array_equal(y, y2)
    back = pullback(ct)["x"]
    assert np.isclose(ct @ along, back @ dx, rtol=1e-14)
    np.testing.assert_array_equal(pullback(ct)["x"], back)
    jacobian = m.chained.jacobian(x, wrt="x")
    np.testing.assert_allclose(jacobian @ dx, along, rtol=1e-14)
    sparse = m.chained.sparse_jacobian(x)
    assert sparse.shape == (5, 5) and sparse.nnz == 9
    np.testing.assert_allclose(sparse.toarray(), jacobian, rtol=1e-14)


def test_missing_tangents_are_zero(m):
    w, x = [1.0, 2.0], [3.0, 5.0]
    _, t = m.loss.jvp(w, x, tangents={"w": [1.0, 0.0]})
    assert t == -2.0
    _, t = m.loss.jvp(w, x, tangents={})
    assert t == 0.0
    assert m.at.jvp({"slope": 1, "offsets": [0, 0]}, 2.0, tangents={"x": 1.0}) == (2.0, 1.0)


def test_second_derivatives(m):
    w, x = [1.0, 2.0], [3.0, 5.0]
    h = m.loss.hessian(w, x)
    np.testing.assert_array_equal(h["w"]["x"], -np.eye(2))
    np.testing.assert_array_equal(h["w", "w"], np.eye(2))
    np.testing.assert_array_equal(m.loss.hessian(w, x, wrt="w"), np.eye(2))
    v = m.loss.hvp(w, x, v={"w": [1.0, 0.0]})
    np.testing.assert_array_equal(v["x"], [-1.0, 0.0])
    np.testing.assert_array_equal(m.loss.hvp(w, x, v=[1.0, 0.0], wrt="w"), [1.0, 0.0])
    f = lambada.compile("def f [n] (x : [n]real) : real = sum (for i < n - 1 => x[i] * x[i + 1] ** 2)").f
    sparse = f.sparse_hessian(np.arange(1.0, 5.0))
    np.testing.assert_allclose(sparse.toarray(), f.hessian(np.arange(1.0, 5.0), wrt="x"))


def test_fields_of_records(m):
    f = lambada.compile("def f (p : {a : real, b : [2]real}) (x : real) = x * p.a * sum p.b").f
    p = {"a": 3.0, "b": [1.0, 2.0]}
    np.testing.assert_array_equal(f.grad(p, 2.0, wrt="p.b"), [6.0, 6.0])
    along = f.hvp(p, 2.0, v={"p.b": [0.0, 1.0]})
    assert along["p"].a == 2.0 and along["x"] == 3.0
    np.testing.assert_array_equal(along["p"].b, [0.0, 0.0])
    assert f.hvp(p, 2.0, v={"p.b": [0.0, 1.0]}, wrt=("p",)) == {"p": along["p"]}
    np.testing.assert_array_equal(f.hvp(p, 2.0, v={"p.a": 1.0}, wrt=("p.a", "p.b"))["p.b"], [2.0, 2.0])
    with pytest.raises(ValueError, match="`p.a`, but it is by `x`"):
        f.hvp(p, 2.0, v={"p.a": 1.0}, wrt="x")


@pytest.mark.parametrize("wrt", [None, "p.b", ("x", "p")])
def test_pullbacks_are_pickled(wrt):
    f = lambada.compile("def f (p : {b : [2]real, a : real}) (x : real) = map ((*) (x * p.a)) p.b").f
    _, pullback = f.vjp({"a": 3.0, "b": [1.0, 2.0]}, 2.0, wrt=wrt)
    again = pickle.loads(pickle.dumps(pullback))
    assert repr(again) == repr(pullback)
    before, after = pullback([1.0, 0.0]), again([1.0, 0.0])
    np.testing.assert_equal(after if wrt == "p.b" else dict(after), before if wrt == "p.b" else dict(before))


def test_pullbacks_keep_their_point(m):
    x = np.array([1.0, 2.0, 3.0])
    _, pullback = m.chained.vjp(x, wrt="x")
    x[:] = 0.0
    np.testing.assert_array_equal(pullback([1.0, 0.0, 0.0]), [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(pullback([0, 0, 1]), [0.0, 3.0, 2.0])


def test_derivatives_as_source(m):
    text = m.loss.derive("reverse", wrt=("w",))
    assert text.startswith("--| Value of `loss`") and "loss_reverse" in text
    again = lambada.compile(str(text))
    value, g = again.loss_reverse([1.0, 2.0], [3.0, 5.0], 1.0)
    assert value == 6.5
    np.testing.assert_array_equal(g, [-2.0, -3.0])
    assert "tangent" in m.loss.derive("forward")
    assert "<pre" in text._repr_html_() and "```" in text._repr_markdown_()


@pytest.mark.parametrize("stage", ["combinators", "linear", "applied", "shared"])
def test_the_stages_of_the_paper(stage):
    f = lambada.compile("def f (x : real) (y : real) : real = x * sin y").f
    assert f.derive("reverse", stage=stage)


@pytest.mark.parametrize("stage", ["surface", "core", "anf", "schedule", "loops", "c"])
def test_every_form_is_shown(m, stage):
    assert m.loss.show(stage, of="value" if stage == "surface" else "grad")


def test_verify(m):
    found = m.loss.verify([1.0, 2.0], [3.0, 5.0])
    assert found and found.wrong == [] and "loss" in repr(found) and "<table>" in found._repr_html_()
    assert m.chained.verify()
