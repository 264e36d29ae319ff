"""SciPy, PyTorch, JAX, nutpie, Dask, notebooks."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import lambada


REGRESSION = """
--| Half the sum of squares of a linear model, and a ridge.
def loss [n] [d] (w : [d]real) (b : real) (x : [n][d]real) (y : [n]real) (ridge : real) : real =
  let r = x @ w + b - y
  in 0.5 * dot r r + 0.5 * ridge * dot w w

def rosenbrock [n] (x : [n]real) : real =
  sum (for i < n - 1 => 100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2)

def record (p : {a : real, b : [2]real}) (k : int) : real = (p.a - 1) ** 2 + sum (p.b * p.b) + real k

def scores [n] [d] (w : [d]real) (x : [n][d]real) : [n]real = exp (x @ w)

def log_density [n] (mu : real) (z : [n]real) (y : [n]real) : real =
  -0.5 * mu * mu - 0.5 * sum (z * z) - 0.5 * sum ((y - mu - z) * (y - mu - z))
"""


@pytest.fixture(scope="module")
def r():
    return lambada.compile(REGRESSION)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(40, 3))
    return x, x @ [1.0, -2.0, 0.5] + 0.7 + 0.1 * rng.normal(size=40)


class TestSciPy:
    def test_least_squares_in_one_step(self, r, data):
        optimize = pytest.importorskip("scipy.optimize")
        x, y = data
        fun = lambada.scipy.objective(r.loss, wrt=("w", "b"), x=x, y=y, ridge=0.0)
        start = fun.pack(w=np.zeros(3), b=0.0)
        assert start.shape == (4,)
        found = optimize.minimize(fun, start, jac=True, method="BFGS")
        want = np.linalg.lstsq(np.c_[x, np.ones(40)], y, rcond=None)[0]
        got = fun.unpack(found.x)
        np.testing.assert_allclose(got["w"], want[:3], rtol=1e-5)
        assert np.isclose(got["b"], want[3], rtol=1e-5) and isinstance(got["b"], float)

    def test_hessians(self, r, data):
        optimize = pytest.importorskip("scipy.optimize")
        x, y = data
        fun = lambada.scipy.objective(r.loss, wrt=("w", "b"), x=x, y=y, ridge=2.0)
        theta = fun.pack({"w": [1.0, 2.0, 3.0], "b": 4.0})
        design = np.c_[x, np.ones(40)]
        hessian = design.T @ design + np.diag([2.0, 2.0, 2.0, 0.0])
        np.testing.assert_allclose(fun.hess(theta), hessian, rtol=1e-12)
        v = np.array([1.0, -1.0, 2.0, 0.5])
        np.testing.assert_allclose(fun.hessp(theta, v), hessian @ v, rtol=1e-12)
        assert optimize.check_grad(fun.fun, fun.jac, theta) < 1e-3
        found = optimize.minimize(fun.fun, theta, jac=fun.jac, hess=fun.hess, method="trust-exact")
        np.testing.assert_allclose(fun.jac(found.x), 0, atol=1e-5)

    def test_one_vector_needs_no_packing(self, r):
        optimize = pytest.importorskip("scipy.optimize")
        fun = lambada.scipy.objective(r.rosenbrock)
        found = optimize.minimize(fun, np.zeros(5), jac=True, hessp=fun.hessp, method="Newton-CG", tol=1e-10)
        np.testing.assert_allclose(found.x, np.ones(5), rtol=1e-4)

    def test_signs_and_records(self, r):
        fun = lambada.scipy.objective(r.record, wrt="p", sign=-1, k=2)
        theta = fun.pack(p={"a": 2.0, "b": [1.0, 2.0]})
        np.testing.assert_array_equal(theta, [2.0, 1.0, 2.0])
        value, gradient = fun(theta)
        assert value == -8.0
        np.testing.assert_array_equal(gradient, [-2.0, -2.0, -4.0])
        assert fun.unpack(theta)["p"].b[1] == 2.0

    def test_fields_of_records(self):
        optimize = pytest.importorskip("scipy.optimize")
        source = "def f (p : {mu : [2]real, s : real}) (x : real) = (x - 1.0) ** 2 + p.s * sum (map (\\m -> (m - p.s) ** 2) p.mu)"
        f = lambada.compile(source).f
        for p in ({"s": 3.0, "mu": [1.0, 2.0]}, lambada.Record(mu=np.ones(2), s=3.0)):
            fun = lambada.scipy.objective(f, wrt=("x", "p.mu"), p=p)
            theta = fun.pack({"x": 0.5, "p.mu": [1.0, 2.0]})
            value, gradient = fun(theta)
            assert value == 0.25 + 3.0 * 5.0
            np.testing.assert_allclose(gradient, [-1.0, -12.0, -6.0])
            np.testing.assert_allclose(fun.hess(theta), np.diag([2.0, 6.0, 6.0]))
            np.testing.assert_allclose(fun.hessp(theta, [1.0, 0.0, 1.0]), [2.0, 0.0, 6.0])
            found = optimize.minimize(fun, theta, jac=True)
            np.testing.assert_allclose(fun.unpack(found.x)["p.mu"], [3.0, 3.0], rtol=1e-4)
            # Where a field is all that varies, the record has its shape.
            alone = lambada.scipy.objective(f, wrt="p.mu", p=p, x=1.0)
            assert alone.fun(np.zeros(2)) == 3.0 * 18.0
            np.testing.assert_array_equal(alone.pack(), p["mu"])
        with pytest.raises(TypeError, match="give values for the other parameters of 'f': p"):
            lambada.scipy.objective(f, wrt="p.mu", x=1.0)
        with pytest.raises(ValueError, match="wrt names 'p.nu'"):
            lambada.scipy.objective(f, wrt="p.nu", p=p, x=1.0)

    @pytest.mark.parametrize(
        ("wrt", "fixed", "text"),
        [
            ("ww", {"x": 0}, "names 'ww'"),
            ("w", {}, "give values for the other parameters"),
            ("w", {"w": 1, "b": 0, "x": 0, "y": 0, "ridge": 0}, "fixed, and wrt"),
            ("w", {"z": 1}, "no parameter 'z'"),
            ((), {"w": 1, "b": 0, "x": 0, "y": 0, "ridge": 0}, "nothing to vary"),
        ],
    )
    def test_what_is_wrong_is_told(self, r, wrt, fixed, text):
        with pytest.raises((TypeError, ValueError), match=text):
            lambada.scipy.objective(r.loss, wrt=wrt, **fixed)

    def test_vectors_of_another_length(self, r, data):
        x, y = data
        fun = lambada.scipy.objective(r.loss, wrt=("w", "b"), x=x, y=y, ridge=0.0)
        with pytest.raises(ValueError, match="pack"):
            fun(np.zeros(4))
        fun.pack(w=np.zeros(3), b=0.0)
        with pytest.raises(ValueError, match="should have 4 elements"):
            fun(np.zeros(5))


class TestTorch:
    @pytest.fixture(autouse=True)
    def torch(self):
        self.torch = pytest.importorskip("torch")

    def test_gradients(self, r, data):
        torch, (x, y) = self.torch, data
        f = lambada.torch.function(r.loss)
        w = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
        b = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
        value = f(w, b, x, y, ridge=0.1) * 2
        value.backward()
        g = r.loss.grad(w.detach().numpy(), 0.5, x, y, 0.1)
        np.testing.assert_allclose(w.grad.numpy(), 2 * g["w"])
        np.testing.assert_allclose(b.grad.item(), 2 * g["b"])

    def test_gradcheck_of_first_and_second_order(self, r):
        torch = self.torch
        f = lambada.torch.function(r.rosenbrock)
        x = torch.tensor([0.3, -0.2, 0.4], dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(f, (x,))
        assert torch.autograd.gradgradcheck(f, (x,))

    def test_arrays_as_results(self, r, data):
        torch, (x, _) = self.torch, data
        f = lambada.torch.function(r.scores)
        w = torch.tensor([0.1, 0.2, 0.3], dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(lambda w: f(w, x), (w,))

    def test_types_of_tensors(self, r):
        torch = self.torch
        x = torch.tensor([0.3, -0.2], dtype=torch.float32, requires_grad=True)
        value = lambada.torch.function(r.rosenbrock)(x)
        assert value.dtype == torch.float32
        value.backward()
        assert x.grad.dtype == torch.float32


class TestJax:
    @pytest.fixture(autouse=True)
    def jax(self):
        self.jax = pytest.importorskip("jax")
        self.jax.config.update("jax_enable_x64", True)

    def test_gradients_inside_of_jit(self, r, data):
        jax, (x, y) = self.jax, data
        f = lambada.jax.function(r.loss)
        w = np.array([1.0, 2.0, 3.0])
        want = r.loss.grad(w, 0.5, x, y, 0.1, wrt=("w", "b"))
        got = jax.jit(jax.grad(lambda w, b: jax.numpy.sin(f(w, b, x, y, ridge=0.1)), argnums=(0, 1)))(w, 0.5)
        factor = np.cos(r.loss(w, 0.5, x, y, 0.1))
        np.testing.assert_allclose(got[0], factor * want["w"], rtol=1e-9)
        np.testing.assert_allclose(got[1], factor * want["b"], rtol=1e-9)

    def test_arrays_as_results_and_vmap(self, r, data):
        jax, (x, _) = self.jax, data
        f = lambada.jax.function(r.scores)
        w = np.array([0.1, 0.2, 0.3])
        np.testing.assert_allclose(jax.jacrev(f)(w, x), r.scores.jacobian(w, x, wrt="w"), rtol=1e-12)
        many = jax.vmap(f, in_axes=(0, None))(np.stack([w, 2 * w]), x)
        np.testing.assert_allclose(many[1], r.scores(2 * w, x), rtol=1e-12)


class TestNutpie:
    def test_a_normal_distribution(self, r):
        nutpie = pytest.importorskip("nutpie")
        y = np.array([1.0, 2.0, 3.0])
        model = lambada.sampling.compiled(r.log_density, {"mu": 0.0, "z": np.zeros(3)}, y=y)
        trace = nutpie.sample(model, draws=1000, tune=500, chains=2, seed=1, progress_bar=False)
        # mu and z are normal with a precision that is known.
        precision = np.eye(4)
        precision[1:, 1:] += np.eye(3)
        precision[0, 0] += 3
        precision[0, 1:] = precision[1:, 0] = 1
        mean = np.linalg.solve(precision, [y.sum(), *y])
        spread = np.sqrt(np.diag(np.linalg.inv(precision)))
        mu, z = trace.posterior["mu"].values.ravel(), trace.posterior["z"].values.reshape(-1, 3)
        assert trace.posterior["z"].shape == (2, 1000, 3)
        np.testing.assert_allclose(mu.mean(), mean[0], atol=0.12)
        np.testing.assert_allclose(z.mean(axis=0), mean[1:], atol=0.12)
        np.testing.assert_allclose(mu.std(), spread[0], rtol=0.12)

    def test_what_is_wrong_is_told(self, r):
        pytest.importorskip("nutpie")
        with pytest.raises(TypeError, match="give values for the other parameters"):
            lambada.sampling.compiled(r.log_density, {"mu": 0.0})
        with pytest.raises(ValueError, match="at the start"):
            lambada.sampling.compiled(r.log_density, {"mu": 0.0, "z": [0.0]}, y=[np.nan])


class TestDask:
    def test_sums_do_not_depend_on_workers(self, r, data):
        array = pytest.importorskip("dask.array")
        x, y = data
        w = np.array([1.0, 2.0, 3.0])
        sharded = {"x": array.from_array(x, chunks=(7, 2)), "y": array.from_array(y, chunks=7)}
        found = [
            lambada.dask.sum_value_and_grad(
                r.loss, sharded, wrt=("w", "b"), w=w, b=0.5, ridge=0.0, scheduler=scheduler
            )
            for scheduler in ("synchronous", "threads")
        ]
        (value, g), (again, same) = found
        assert value == again and np.array_equal(g["w"], same["w"]) and g["b"] == same["b"]
        want, gradient = r.loss.value_and_grad(w, 0.5, x, y, 0.0, wrt=("w", "b"))
        np.testing.assert_allclose(value, want, rtol=1e-12)
        np.testing.assert_allclose(g["w"], gradient["w"], rtol=1e-10)

    def test_processes_of_which_one_is_killed(self, r, data):
        pytest.importorskip("distributed")
        text = """
            import os, signal
            import dask.array, numpy as np
            from distributed import Client, LocalCluster
            import lambada

            def main():
                m = lambada.compile("def f [n] (w : real) (x : [n]real) : real = sum (sin (w * x))")
                x = np.linspace(0.0, 1.0, 4000)
                sharded = {"x": dask.array.from_array(x, chunks=100)}
                local = lambada.dask.sum_value_and_grad(m.f, sharded, wrt="w", w=2.0, scheduler="synchronous")
                with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
                    with Client(cluster) as client:
                        assert lambada.dask.sum_value_and_grad(m.f, sharded, wrt="w", w=2.0) == local
                        lazy = lambada.dask.lazy_sum_value_and_grad(m.f, sharded, wrt="w", w=2.0)
                        pids = list(client.run(os.getpid).values())
                        future = client.compute(lazy)
                        os.kill(pids[0], signal.SIGKILL)
                        assert future.result(timeout=120) == local
                print("same")

            if __name__ == "__main__":
                main()
        """
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=300)
        assert done.stdout.strip().endswith("same"), done.stderr[-3000:]

    def test_the_example_that_measures_how_it_scales(self):
        pytest.importorskip("distributed")
        repository = os.environ.get("LAMBADA_REPOSITORY")
        if not repository:
            pytest.skip("LAMBADA_REPOSITORY is not set")
        script = os.path.join(repository, "examples", "python", "scaling.py")
        given = ["--rows", "1000", "--shards", "2", "--workers", "1"]
        done = subprocess.run([sys.executable, script, *given], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[-3000:]
        assert "strong scaling" in done.stdout and "weak scaling" in done.stdout

    @pytest.mark.parametrize(
        ("sharded", "wrt", "text"),
        [
            ({}, "w", "names no data"),
            ({"x": 1.0, "y": [[1.0]]}, "w", "Dask array"),
            ({"z": [1.0]}, "w", "no parameter 'z'"),
            ({"x": [[[1.0]]], "y": [[1.0], [2.0]]}, "w", "as many shards"),
            ({"x": [[[1.0]]], "y": [[1.0]]}, "y", "sharded"),
            ({"x": [[[1.0]]]}, "w", "needs values for y"),
        ],
    )
    def test_what_is_wrong_is_told(self, r, sharded, wrt, text):
        pytest.importorskip("dask")
        with pytest.raises((TypeError, ValueError), match=text):
            lambada.dask.sum_value_and_grad(r.loss, sharded, wrt=wrt, w=[1.0], b=0.0, ridge=0.0)


class TestNotebook:
    @pytest.fixture
    def shell(self):
        testing = pytest.importorskip("IPython.testing.globalipapp")
        from IPython.core.interactiveshell import InteractiveShell

        shell = InteractiveShell.instance()
        shell.run_line_magic("load_ext", "lambada")
        return shell

    def test_cells_bind_programs(self, shell, monkeypatch):
        monkeypatch.delenv("NO_COLOR", raising=False)
        shell.run_cell_magic("lambada", "one", "def f (x : real) : real = x * x")
        assert shell.user_ns["one"].f(3.0) == 9.0
        shell.run_cell_magic("lambada", "", "def g (x : real) : real = 2.0 * x")
        assert shell.user_ns["g"](3.0) == 6.0
        with pytest.raises(lambada.Error) as failed:
            shell.run_cell_magic("lambada", "bad", "def f (x : real) : real = y")
        red, blue, end = "\x1b[1;91m", "\x1b[1;94m", "\x1b[0m"
        told = "\n".join(failed.value._render_traceback_())
        assert told.startswith(f"{red}error[E0101]{end}") and "bad" not in shell.user_ns
        assert f"{blue}1 |{end} def f" in told and f"{red}" + " " * 27 + "^ not defined" in told
        from IPython.core.error import UsageError

        with pytest.raises(UsageError, match="takes the name to bind and options"):
            shell.run_cell_magic("lambada", "no name", "def f (x : real) : real = x")
        html = shell.user_ns["one"].f.derive("reverse")._repr_html_()
        assert "<span" in html and "f_reverse" in html

    def test_cells_import_each_other_and_take_options(self, shell):
        shell.run_cell_magic("lambada", "base", "def f (x : real) : real = x * x")
        shell.run_cell_magic("lambada", "user precision=f32 threads=1", 'import "base"\ndef g (x : real) : real = 2.0 * base.f x')
        assert shell.user_ns["user"].g(3.0) == 18.0
        assert shell.user_ns["user"]._options["precision"] == "f32" and shell.user_ns["user"]._options["threads"] == 1
        # A cell that is run again sees the new text.
        shell.run_cell_magic("lambada", "base", "def f (x : real) : real = x")
        shell.run_cell_magic("lambada", "user", 'import "base"\ndef g (x : real) : real = 2.0 * base.f x')
        assert shell.user_ns["user"].g(3.0) == 6.0
        # What fails ends the run, and leaves what was bound.
        assert not shell.run_cell("%%lambada base\ndef f = nothing").success
        assert shell.user_ns["base"].f(3.0) == 3.0
