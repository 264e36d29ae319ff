"""Functions under the transformations of JAX and PyTorch: all orders, batches, any structure; and the package's own batches and gradients."""

import dataclasses
import os
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import lambada

PROGRAM = """
type line = {slope : real, offsets : [2]real, k : int}

def rosenbrock [n] (x : [n]real) : real = sum (for i < n - 1 => 100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2)

def scores [n] [d] (w : [d]real) (x : [n][d]real) : [n]real = exp (x @ w)

def on (p : line) (x : real) = {v = p.slope * x ** 2 + sum p.offsets * real p.k, w = (p.offsets * p.offsets * x, p.k)}

def products [n] (p : [n]{x : real, y : real}) : [n]{s : real, t : (real, int)} = for q in p => {s = q.x * q.y, t = (q.x ** 2, 1)}

def pad [n] (x : [n]real) (b : bool) : [n + 1]real = for i < n + 1 => if i < n && b then x[i] ** 2 else 1.0

def pick [n] (x : [n]real) (k : int) : real = x[k] ** 2

def first [n] (x : [n]real) : [n]real = for i < n => check "x[{i}] is {x[i]}" (x[i] > 0.0) (sqrt x[i])

type shape = Circle real | Empty

def area (s : shape) : real = match s | Circle r -> r * r | Empty -> 0.0
"""


@pytest.fixture(scope="module")
def m():
    return lambada.compile(PROGRAM)


X = np.array([0.3, -0.2, 0.4])
W = np.array([0.1, 0.2, 0.3])
ROWS = np.arange(12.0).reshape(4, 3) / 10
LINE = {"slope": 2.0, "offsets": np.array([1.0, 3.0]), "k": 4}


class TestJax:
    @pytest.fixture(autouse=True)
    def jax(self):
        self.jax = pytest.importorskip("jax")
        self.jax.config.update("jax_enable_x64", True)

    def rosenbrock(self, x):
        return sum(100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2 for i in range(x.shape[0] - 1))

    def test_derivatives_of_all_orders_in_all_modes(self, m):
        jax = self.jax
        f, g = lambada.jax.function(m.rosenbrock), self.rosenbrock
        forward, reverse = jax.jacfwd, jax.jacrev
        for first in (forward, reverse, jax.grad):
            np.testing.assert_allclose(first(f)(X), first(g)(X), rtol=1e-12)
            for second in (forward, reverse):
                np.testing.assert_allclose(second(first(f))(X), second(first(g))(X), rtol=1e-12)
                np.testing.assert_allclose(jax.jit(second(first(f)))(X), second(first(g))(X), rtol=1e-12)
        np.testing.assert_allclose(jax.hessian(f)(X), jax.hessian(g)(X), rtol=1e-12)
        third = jax.jacfwd(jax.hessian(f))(X)
        np.testing.assert_allclose(third, jax.jacfwd(jax.hessian(g))(X), rtol=1e-12, atol=1e-12)
        value, tangent = jax.jvp(f, (X,), (np.array([1.0, 2.0, 3.0]),))
        want, along = jax.jvp(g, (X,), (np.array([1.0, 2.0, 3.0]),))
        np.testing.assert_allclose((value, tangent), (want, along), rtol=1e-12)
        nested = jax.grad(lambda s: jax.grad(lambda t: f(t * s * X))(2.0))(0.5)
        np.testing.assert_allclose(nested, jax.grad(lambda s: jax.grad(lambda t: g(t * s * X))(2.0))(0.5), rtol=1e-12)
        from jax.test_util import check_grads

        check_grads(f, (X,), order=2)

    def test_batches(self, m):
        jax, np_ = self.jax, self.jax.numpy
        f = lambada.jax.function(m.scores)
        g = lambda w, x: np_.exp(x @ w)
        many = np.stack([W, 2 * W])
        both = np.stack([ROWS, ROWS + 1])
        for axes, args in (((0, None), (many, ROWS)), ((None, 0), (W, both)), ((0, 0), (many, both)), ((1, None), (many.T, ROWS))):
            np.testing.assert_allclose(jax.vmap(f, axes)(*args), jax.vmap(g, axes)(*args), rtol=1e-12)
            for derived in (jax.jacfwd, jax.jacrev):
                np.testing.assert_allclose(jax.vmap(derived(f), axes)(*args), jax.vmap(derived(g), axes)(*args), rtol=1e-12)
        # The transpose of a batch that shares an argument.
        total = lambda h: lambda w: np_.sum(jax.vmap(lambda x: np_.sum(h(w, x) ** 2))(both))
        np.testing.assert_allclose(jax.grad(total(f))(W), jax.grad(total(g))(W), rtol=1e-12)
        np.testing.assert_allclose(jax.hessian(total(f))(W), jax.hessian(total(g))(W), rtol=1e-12)
        pushed = lambda h: jax.vmap(lambda x: jax.linearize(lambda w: h(w, x), W)[1](W))(both)
        np.testing.assert_allclose(pushed(f), pushed(g), rtol=1e-12)
        nested = lambda h: jax.vmap(lambda w: jax.vmap(lambda x: h(w, x))(both))(many)
        np.testing.assert_allclose(nested(f), nested(g), rtol=1e-12)
        shared = lambda h: jax.grad(lambda w: np_.sum(jax.vmap(lambda x, s: jax.jvp(lambda w: h(w, x), (W,), (w * s,))[1])(both, np.arange(2.0))))
        np.testing.assert_allclose(shared(f)(W), shared(g)(W), rtol=1e-12)

    def test_structures(self, m):
        jax = self.jax
        on = lambada.jax.function(m.on)

        @dataclasses.dataclass
        class Line:
            slope: float
            offsets: object
            k: int

        for line in (LINE, Line(**LINE), lambada.Record(**LINE)):
            out = on(line, 3.0)
            assert isinstance(out, lambada.Record) and list(out) == ["v", "w"]
            assert out.v == 34.0 and out.w[1] == 4
            np.testing.assert_allclose(out.w[0], [3.0, 27.0])
        # Records are pytrees: they go through transformations, in and out.
        g = jax.jit(jax.grad(lambda p, x: on(p, x).v + on(p, x).w[0].sum(), allow_int=True))(lambada.Record(**LINE), 3.0)
        assert isinstance(g, lambada.Record) and g.slope == 9.0
        np.testing.assert_allclose(g.offsets, [4.0 + 6.0, 4.0 + 18.0])
        tangents = jax.jvp(lambda s: on({**LINE, "slope": s}, 3.0), (2.0,), (1.0,))[1]
        assert tangents.v == 9.0 and tangents.w[1].dtype == jax.dtypes.float0
        assert jax.tree_util.tree_map(lambda x: x * 2, m.on({**LINE}, 3.0)).v == 68.0
        leaves = jax.tree_util.tree_leaves(m.rosenbrock.grad(X))
        assert len(leaves) == 1 and leaves[0].shape == (3,)
        paths = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(out)]
        assert paths == [".v", ".w[0]", ".w[1]"]

    def test_arrays_of_records_are_columns(self, m):
        jax = self.jax
        f = lambada.jax.function(m.products)
        columns = {"x": np.array([1.0, 2.0]), "y": np.array([3.0, 4.0])}
        for table in (columns, [{"x": 1.0, "y": 3.0}, {"x": 2.0, "y": 4.0}]):
            out = f(table)
            np.testing.assert_allclose(out.s, [3.0, 8.0])
            np.testing.assert_allclose(out.t[0], [1.0, 4.0])
            np.testing.assert_array_equal(out.t[1], [1, 1])
        g = jax.grad(lambda p: f(p).s.sum())(columns)
        np.testing.assert_allclose(g["x"], [3.0, 4.0])

    def test_sizes_and_other_elements(self, m):
        jax = self.jax
        pad = jax.jit(lambada.jax.function(m.pad))
        np.testing.assert_allclose(pad(X, True), [*X**2, 1.0])
        np.testing.assert_allclose(jax.jacrev(pad)(X, True)[:3], np.diag(2 * X))
        pick = lambada.jax.function(m.pick)
        np.testing.assert_allclose(jax.vmap(pick, (None, 0))(X, np.array([2, 0])), X[[2, 0]] ** 2)
        assert lambada.jax.function(m.scores)(W, np.zeros((0, 3))).shape == (0,)

    def test_32_bits(self, m):
        text = """
            import jax, numpy as np, lambada
            text = "def f [n] (x : [n]real) (k : int) : (real, [n]int) = (sum (x * x) * real k, for i < n => i + k)\\n"
            m = lambada.compile(text + "def loss [n] (w : [n]real) (x : [n]real) = sum ((w - x) ** 2)", engine="native")
            f = lambada.jax.function(m.f)
            value, places = jax.jit(f)(np.array([1.0, 2.0], np.float32), 3)
            assert value.dtype == np.float32 and value == 15.0, value
            assert places.dtype == np.int32 and list(places) == [3, 4], places
            g = jax.grad(lambda x: f(x, 3)[0])(np.array([1.0, 2.0], np.float32))
            assert g.dtype == np.float32 and list(g) == [6.0, 12.0], g
            # Memory of converted arguments is taken once.
            import resource
            many = jax.numpy.ones(2_000_000, np.float32)
            grad = jax.jit(jax.grad(lambada.jax.function(m.loss)))
            faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            for _ in range(3):
                grad(many, many).block_until_ready()
            before = faults()
            for _ in range(10):
                grad(many, many).block_until_ready()
            assert faults() - before < 40_000, faults() - before
            print("well")
        """
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=300)
        assert done.stdout.strip() == "well", done.stderr[-3000:]

    def test_large_arrays_on_one_core(self, m):
        text = """
            import os
            os.sched_setaffinity(0, {next(iter(os.sched_getaffinity(0)))})
            import jax, numpy as np, lambada
            m = lambada.compile("def f [n] [d] (w : [d]real) (x : [n][d]real) : real = sum (map (\\\\r -> dot w r) x)")
            f = jax.jit(jax.grad(lambada.jax.function(m.f)))
            x = np.ones((100_000, 50))
            for _ in range(3):
                assert f(np.ones(50), x)[0] == 100_000
            print("well")
        """
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=300)
        assert done.stdout.strip() == "well", done.stderr[-3000:]

    def test_failures_and_wrong_arguments(self, m):
        jax = self.jax
        f = lambada.jax.function(m.first)
        with pytest.raises(Exception, match=r"x\[1\] is -1"):
            jax.block_until_ready(f(np.array([1.0, -1.0])))
        np.testing.assert_allclose(f(np.array([4.0])), [2.0])
        scores = lambada.jax.function(m.scores)
        with pytest.raises(ValueError, match="'x' should be .* shape"):
            scores(W, W)
        with pytest.raises(Exception, match="where d = 3|d = 2"):
            jax.block_until_ready(scores(W, np.zeros((4, 2))))
        with pytest.raises(TypeError, match="'w' should be"):
            scores(1j * W, ROWS)
        with pytest.raises(TypeError, match="'p' should be a record of slope, offsets, k"):
            lambada.jax.function(m.on)(3.0, 3.0)
        with pytest.raises(TypeError, match="'s' is shape"):
            lambada.jax.function(m.area)

    def test_without_the_interface_of_xla(self, m):
        """The way on other devices."""
        jax = self.jax
        from lambada import jax as adapter

        f = lambada.jax.function(m.rosenbrock)
        called = jax.jit(lambda x: adapter._anywhere(x, op=f._operation)[0])
        np.testing.assert_allclose(called(X), m.rosenbrock(X))

    def test_pickles(self, m):
        f = pickle.loads(pickle.dumps(lambada.jax.function(m.rosenbrock)))
        np.testing.assert_allclose(f(X), m.rosenbrock(X))


class TestTorch:
    @pytest.fixture(autouse=True)
    def torch(self):
        self.torch = pytest.importorskip("torch")

    def rosenbrock(self, x):
        return sum(100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2 for i in range(x.shape[0] - 1))

    def test_functions_of_torch_func(self, m):
        torch = self.torch
        func = torch.func
        f, g = lambada.torch.function(m.rosenbrock), self.rosenbrock
        x = torch.tensor(X)
        for derived in (
            func.grad,
            func.jacrev,
            func.jacfwd,
            func.hessian,
            lambda h: func.jacrev(func.jacrev(h)),
            lambda h: func.jacfwd(func.jacfwd(h)),
            lambda h: func.jacrev(func.jacfwd(h)),
            lambda h: lambda x: torch.stack(func.jvp(h, (x,), (2 * x,))),
            lambda h: lambda x: func.jvp(func.grad(h), (x,), (2 * x,))[1],
        ):
            torch.testing.assert_close(derived(f)(x), derived(g)(x))

    def test_batches(self, m):
        torch = self.torch
        func = torch.func
        f, g = lambada.torch.function(m.scores), lambda w, x: torch.exp(x @ w)
        w, x = torch.tensor(W), torch.tensor(ROWS)
        many, both = torch.stack([w, 2 * w]), torch.stack([x, x + 1])
        for axes, args in (((0, None), (many, x)), ((None, 0), (w, both)), ((0, 0), (many, both)), ((1, None), (many.T, x))):
            torch.testing.assert_close(func.vmap(f, axes)(*args), func.vmap(g, axes)(*args))
            torch.testing.assert_close(func.vmap(func.jacrev(f), axes)(*args), func.vmap(func.jacrev(g), axes)(*args))
        each = lambda h: func.vmap(func.grad(lambda w, x: h(w, x).sum()), (None, 0))(w, both)
        torch.testing.assert_close(each(f), each(g))

    def test_arrays_of_any_order(self, m):
        torch = self.torch
        f = lambada.torch.function(m.scores)
        w = torch.tensor(W, requires_grad=True)
        x = torch.tensor(ROWS, requires_grad=True)
        assert torch.autograd.gradcheck(f, (w, x), check_forward_ad=True)
        assert torch.autograd.gradgradcheck(f, (w, x))

    def test_structures(self, m):
        torch = self.torch
        on = lambada.torch.function(m.on)
        slope = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
        offsets = torch.tensor([1.0, 3.0], dtype=torch.float64, requires_grad=True)
        out = on({"slope": slope, "offsets": offsets, "k": 4}, 3.0)
        assert out.v.item() == 34.0 and out.w[1].item() == 4 and not out.w[1].requires_grad
        (out.v + out.w[0].sum()).backward()
        assert slope.grad.item() == 9.0
        torch.testing.assert_close(offsets.grad, torch.tensor([10.0, 22.0], dtype=torch.float64))
        point = lambada.Record(slope=slope.detach(), offsets=offsets.detach())
        g = torch.func.grad(lambda p: on({**p, "k": 4}, 3.0).v)(point)
        assert isinstance(g, lambada.Record) and g.slope.item() == 9.0
        columns = {"x": torch.tensor([1.0, 2.0]), "y": torch.tensor([3.0, 4.0])}
        out = lambada.torch.function(m.products)(columns)
        assert out.s.tolist() == [3.0, 8.0] and out.s.dtype == torch.float32 and out.t[1].tolist() == [1, 1]

    def test_wrong_arguments_and_pickles(self, m):
        torch = self.torch
        scores = lambada.torch.function(m.scores)
        with pytest.raises(ValueError, match="'x' should be .* shape"):
            scores(torch.tensor(W), torch.tensor(W))
        with pytest.raises(TypeError, match="'w' should be"):
            scores(torch.tensor(1j * W), torch.tensor(ROWS))
        with pytest.raises(lambada.RuntimeError, match=r"x\[0\] is -1"):
            lambada.torch.function(m.first)(torch.tensor([-1.0]))
        again = pickle.loads(pickle.dumps(scores))
        torch.testing.assert_close(again(torch.tensor(W), torch.tensor(ROWS)), scores(torch.tensor(W), torch.tensor(ROWS)))


class TestFunctions:
    def test_batches(self, m):
        many = m.rosenbrock.vmap("x")
        xs = np.stack([X, 2 * X])
        np.testing.assert_allclose(many(xs), [m.rosenbrock(x) for x in xs])
        assert many.parameters == {"x": "[batch][n]real"} and many.result == "[batch]real"
        assert "each of many values of `x`" in many.__doc__
        # It is a function like every other.
        _, pullback = many.vjp(xs, wrt="x")
        np.testing.assert_allclose(pullback([1.0, 1.0]), [m.rosenbrock.grad(x, wrt="x") for x in xs])
        np.testing.assert_allclose(many.vmap()(xs[None]), [many(xs)])
        again = pickle.loads(pickle.dumps(many))
        np.testing.assert_allclose(again(xs), many(xs))

    def test_what_is_shared(self, m):
        ws = np.stack([W, 2 * W])
        np.testing.assert_allclose(m.scores.vmap("w")(ws, ROWS), [m.scores(w, ROWS) for w in ws])
        np.testing.assert_allclose(m.scores.vmap(("x",))(W, [ROWS, 2 * ROWS]), [m.scores(W, x) for x in (ROWS, 2 * ROWS)])

    def test_structures(self, m):
        lines = {"slope": [1.0, 2.0], "offsets": [[1.0, 3.0], [1.0, 3.0]], "k": [4, 4]}
        out = m.on.vmap("p")(lines, 3.0)
        np.testing.assert_allclose(out.v, [25.0, 34.0])
        assert out.w[0].shape == (2, 2) and list(out.w[1]) == [4, 4]
        shapes = [lambada.Variant("Circle", 2.0), lambada.Variant("Empty")]
        np.testing.assert_allclose(m.area.vmap()(shapes), [4.0, 0.0])

    def test_records_in_arrays_as_columns(self, m):
        n = 200_000
        table = {"x": np.arange(float(n)), "y": np.ones(n)}
        out = m.products.columns(table)
        assert isinstance(out, lambada.Record) and isinstance(out.s, np.ndarray)
        np.testing.assert_array_equal(out.s, table["x"])
        np.testing.assert_array_equal(out.t[0], table["x"] ** 2)
        rows = m.products.columns([{"x": 1.0, "y": 3.0}, {"x": 2.0, "y": 4.0}])
        assert rows == {"s": np.array([3.0, 8.0]), "t": (np.array([1.0, 4.0]), np.array([1, 1]))}
        assert m.products.columns([]).s.shape == (0,)
        assert np.isclose(m.rosenbrock.columns(X), m.rosenbrock(X), rtol=1e-14)

    def test_gradients_as_functions(self, m):
        f = m.rosenbrock.gradient("x")
        np.testing.assert_allclose(f(X), m.rosenbrock.grad(X, wrt="x"))
        np.testing.assert_allclose(f.vmap("x")([X, 2 * X]), [f(X), f(2 * X)])
        np.testing.assert_allclose(f.jacobian(X, wrt="x"), m.rosenbrock.hessian(X, wrt="x"))
        both = lambada.compile("def f (a : real) (k : int) (b : real) : real = a * a * b * real k").f.gradient()
        assert both(2.0, 1, 3.0) == {"a": 12.0, "b": 4.0}

    def test_what_is_wrong_is_told(self, m):
        with pytest.raises(ValueError, match="over names 'y', but it should be among x"):
            m.rosenbrock.vmap("y")
        with pytest.raises(TypeError, match="no gradient, because its result is"):
            m.scores.gradient("w")
        with pytest.raises(ValueError, match="wrt names 'k', but it should be among x"):
            m.pick.gradient("k")
