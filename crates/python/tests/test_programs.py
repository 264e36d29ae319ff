"""Programs: loading, options, pickling, threads, docstrings."""

import concurrent.futures
import inspect
import multiprocessing
import pickle
import platform
import pydoc
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import lambada
from conftest import PROGRAM, REPOSITORY


def test_functions_say_what_they_are(m):
    assert m.loss.__doc__ == "Half the squared distance."
    assert m.loss.__name__ == "loss"
    signature = inspect.signature(m.loss)
    assert str(signature) == "(w: '[n]real', x: '[n]real') -> 'real'"
    assert m.loss.parameters == {"w": "[n]real", "x": "[n]real"} and m.loss.result == "real"
    assert "loss" in dir(m) and "loss" in m and list(m)[0] == "loss"
    assert m["loss"] is m.loss
    assert m.source == PROGRAM and m.problems == ()
    assert m.definitions["loss"].endswith("real")


def test_patterns_are_parameters_by_position():
    f = lambada.compile("def f ((a, b) : (real, real)) (x : real) : real = a * b + x").f
    assert f((2, 3), 1) == 7.0
    assert list(inspect.signature(f).parameters) == ["argument_1", "x"]


def test_files_and_their_imports(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "kernel.lam").write_text("def k (x : real) : real = exp (-x * x)")
    path = tmp_path / "main.lam"
    path.write_text('import "lib/kernel"\ndef f (x : real) : real = 2.0 * kernel.k x')
    for place in (path, str(path)):
        assert lambada.load(place).f(0.0) == 2.0
    kept = pickle.dumps(lambada.load(path).f)
    path.unlink()
    assert pickle.loads(kept)(0.0) == 2.0


def test_texts_and_their_imports():
    main = 'import "kernel"\ndef f (x : real) : real = 2.0 * kernel.k x'
    m = lambada.compile(main, imports={"kernel": "def k (x : real) : real = exp (-x * x)"})
    assert m.f(0.0) == 2.0
    assert pickle.loads(pickle.dumps(m)).f(0.0) == 2.0


def test_the_examples_of_the_repository():
    m = lambada.load(REPOSITORY / "examples" / "gmm.lam")
    rng = np.random.default_rng(0)
    args = (rng.normal(size=2), rng.normal(size=(2, 3)), rng.normal(size=(2, 3)), rng.normal(size=(2, 3)))
    x = rng.normal(size=(50, 3))
    value, g = m.objective.value_and_grad(*args, x, 1.0, 0, wrt=("alpha", "mu"))
    assert value == m.objective(*args, x=x, gamma=1.0, m=0)
    step = 1e-6
    shifted = args[0] + step * np.eye(2)[0]
    difference = (m.objective(shifted, *args[1:], x, 1.0, 0) - value) / step
    assert np.isclose(g["alpha"][0], difference, rtol=1e-4)


def test_warnings_are_data():
    m = lambada.compile("def f (x : real) : real = let y = x + 1.0 in x")
    assert [p.severity for p in m.problems] == ["warning"]
    assert m.problems[0].code == "E0801" and m.problems[0].line == 1


def replaced(f, seconds=60.0):
    """Waits until the code of the C compiler is there."""
    end = time.monotonic() + seconds
    while f.engine != "native":
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_run_that_lasts_goes_on_in_code_of_the_c_compiler(tmp_path):
    source = "def f (n : int) : real = loop x = 0.0 for i < n do x + sin (real i)"
    m = lambada.compile(source, cache=tmp_path)
    once = m.f(3)
    lasting = m.f(100_000_000)
    assert m.f.engine == "native"
    waited = lambada.compile(source, cache=tmp_path, engine="native").f
    assert waited.engine == "native"
    assert once == pytest.approx(waited(3)) and lasting == waited(100_000_000)


def test_options(tmp_path):
    careful = lambada.compile("def f (x : real) : real = log x", trap_nan=True)
    with pytest.raises(lambada.RuntimeError, match="NaN|nan"):
        careful.f(-1.0)
    with lambada.options(engine="interpreter"):
        inside = lambada.compile("def f (x : real) : real = x + 1.0")
    assert inside.f.engine == "interpreter" and inside.f(1.0) == 2.0
    outside = lambada.compile("def f (x : real) : real = x + 1.0", cache=tmp_path)
    assert outside.f.engine in ("native", "jit") and outside.f(1.0) == 2.0
    replaced(outside.f)
    assert any(tmp_path.iterdir()) and outside.f(1.0) == 2.0
    assert pickle.loads(pickle.dumps(inside)).f.engine == "interpreter"


def test_subnormal_numbers_may_be_zeros():
    text = "def f [n] (xs : [n]real) : real = sum (for x in xs => 0.5 * x)"
    least = np.full(1024, np.finfo(float).tiny / 512)
    usual = lambada.compile(text).f(least)
    assert usual == np.finfo(float).tiny
    if platform.machine().lower() in ("x86_64", "amd64", "arm64", "aarch64"):
        # The code that runs until the C compiler is done keeps them.
        flushing, end = lambada.compile(text, flush_subnormals=True).f, time.monotonic() + 60
        while flushing(least) != 0.0 and time.monotonic() < end:
            time.sleep(0.1)
        assert flushing(least) == 0.0
    assert least[0] * 0.5 > 0.0
    with pytest.raises(TypeError, match="True or False"):
        lambada.compile(text, flush_subnormals="yes")


def test_options_of_all_programs_to_come():
    text = "import lambada; lambada.options(engine='interpreter'); print(lambada.compile('def f (x : real) : real = x').f.engine)"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == "interpreter\n"


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"engin": "native"}, "did you mean `engine`"),
        ({"engine": "gpu"}, "it is one of"),
        ({"precision": "f16"}, "f32"),
        ({"threads": 0}, "positive"),
        ({"checks": "yes"}, "True or False"),
        ({"max_memory": "lots"}, "bytes"),
    ],
)
def test_wrong_options(given, text):
    with pytest.raises((TypeError, ValueError), match=text):
        lambada.options(**given)


def test_without_a_compiler_programs_run_and_it_says_so_once():
    text = (
        "import lambada, warnings\n"
        "with warnings.catch_warnings(record=True) as told:\n"
        "    warnings.simplefilter('always')\n"
        "    m = lambada.compile('def f (x : real) : real = x + 1.0\\ndef g (x : real) : real = x')\n"
        "    print(m.f(1.0), m.g(2.0), m.f.grad(1.0, wrt='x'), m.f.engine)\n"
        "print([(w.category.__name__, 'compiler' in str(w.message)) for w in told])\n"
    )
    import os

    environment = {**os.environ, "LAMBADA_CC": "no-such-compiler", "PATH": ""}
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=environment)
    engine = done.stdout.split()[3]
    assert engine in ("jit", "interpreter")
    assert done.stdout == f"2.0 2.0 1.0 {engine}\n[('Warning', True)]\n", done.stderr
    assert done.stderr == ""


def test_pickled_functions_run_in_other_processes(m):
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(m.loss, [[1.0], [2.0], [3.0]], [[0.0]] * 3)) == [0.5, 2.0, 4.5]


def test_unpickling_twice_compiles_once(m):
    kept = pickle.dumps(m.loss)
    assert pickle.loads(kept).model is pickle.loads(kept).model


def test_threads_share_functions(m):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(64, 100))

    def both(x):
        value, g = m.loss.value_and_grad(x, np.zeros(100), wrt="w")
        return value, g

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for x, (value, g) in zip(points, pool.map(both, points)):
            assert np.isclose(value, 0.5 * x @ x) and np.array_equal(g, x)


def test_results_do_not_depend_on_the_number_of_threads():
    text = "def f [n] [d] (w : [d]real) (x : [n][d]real) : real = sum (for i < n => exp (tanh (dot w x[i])))"
    rng = np.random.default_rng(0)
    w, x = rng.normal(size=24), rng.normal(size=(40_000, 24))
    found = [lambada.compile(text, threads=threads).f.value_and_grad(w, x) for threads in (1, 2, 3)]
    for value, g in found:
        assert value == found[0][0] and all(np.array_equal(g[name], found[0][1][name]) for name in ("w", "x"))


def test_other_threads_run_while_a_kernel_does():
    f = lambada.compile("def f (n : int) : real = loop s = 0.0 for i < n do s + sin (real i)").f
    f(10)
    steps = []
    thread = threading.Thread(target=f, args=(40_000_000,))
    thread.start()
    while thread.is_alive():
        steps.append(time.perf_counter())
        time.sleep(0.001)
    thread.join()
    assert len(steps) > 10


def test_functions_of_one_text_are_independent():
    a, b = lambada.compile("def f (x : real) : real = x"), lambada.compile("def f (x : real) : real = 2.0 * x")
    assert a.f(1.0) == 1.0 and b.f(1.0) == 2.0


def test_types_are_consistent():
    mypy = pytest.importorskip("mypy.api")
    package = str(next(iter(lambada.__path__)))
    # What is installed is checked by its name, what is not by its place.
    what = ["-p", "lambada"] if "site-packages" in package else [package]
    said, errors, status = mypy.run(["--ignore-missing-imports", *what])
    assert status == 0, said + errors


def test_what_a_call_costs():
    m = lambada.compile("def f [n] (x : [n]real) (a : real) : real = a * sum x", trap_nan=False)
    x = np.arange(100.0)
    m.f(x, 2.0)

    def least(call):
        times = []
        for _ in range(20):
            start = time.perf_counter()
            for _ in range(1000):
                call()
            times.append((time.perf_counter() - start) / 1000)
        return min(times)

    # The kernel takes a tenth of a microsecond; NumPy's own sum, of 1.5 µs where nothing else runs, says how fast the machine is now.
    own, numpys = least(lambda: m.f(x, 2.0)), least(lambda: np.sum(x))
    print(f"call {own * 1e6:.2f} µs, numpy.sum {numpys * 1e6:.2f} µs")
    assert own < 1.4 * numpys


def test_values_that_are_inspected_are_told():
    m = lambada.compile(
        "type step = Small | Large real\n"
        "def f (x : [2]real) : real =\n"
        "  let y = inspect (2.0 * x)\n"
        "  let s = inspect (Large y[0])\n"
        "  in match s | Large z -> z * y[1] | Small -> 0.0"
    )
    told = []
    f = m.f.inspecting(lambda name, value: told.append((name, value)))
    assert f([1.0, 2.0]) == 8.0 and m.f([1.0, 2.0]) == 8.0
    assert len(told) == 2
    np.testing.assert_array_equal(told[0][1], [2.0, 4.0])
    assert told[1][1] == lambada.Variant("Large", 2.0)
    np.testing.assert_array_equal(f.grad([1.0, 2.0], wrt="x"), [8.0, 4.0])
    assert len(told) == 4
    assert pickle.loads(pickle.dumps(f))([1.0, 2.0]) == 8.0
    with pytest.raises(TypeError, match="callable"):
        m.f.inspecting(3)


def test_what_is_told_of_values_does_not_end_a_call(monkeypatch):
    raised = []
    monkeypatch.setattr(sys, "unraisablehook", lambda it: raised.append(it.exc_type))
    m = lambada.compile("def f (x : real) : real = inspect x")
    assert m.f.inspecting(lambda name, value: 1 / 0)(3.0) == 3.0
    assert raised == [ZeroDivisionError]


def test_reals_of_32_bits():
    with lambada.options(precision="f32"):
        program = lambada.compile("def f [n] (x : [n]real) (c : real) = (c * x, sum x)")
    x = np.array([0.5, 0.1], dtype=np.float32)
    y, total = program.f(x, 3.0)
    assert y.dtype == np.float32 and (y == np.float32(3) * x).all()
    assert total == np.float32(0.6)
    y, _ = program.f(x.astype(np.float64), 1.0)
    assert y.dtype == np.float32 and (y == x).all()
    usual = lambada.compile("def f [n] (x : [n]real) = 2 * x")
    assert usual.f(x).dtype == np.float64


def test_help_has_the_signature_and_the_methods(m):
    text = pydoc.render_doc(m.loss, renderer=pydoc.plaintext)
    for part in ("loss(w: '[n]real', x: '[n]real') -> 'real'", "Half the squared distance.", "value_and_grad(", "vmap(", "derive("):
        assert part in text
    assert isinstance(m.loss, lambada.Function) and lambada.Function.__doc__.startswith("A definition")


def test_files_that_are_missing_are_told_as_in_python(tmp_path):
    with pytest.raises(FileNotFoundError, match="cannot read") as failed:
        lambada.load(tmp_path / "none.lam")
    assert isinstance(failed.value, lambada.Error) and failed.value.filename.endswith("none.lam") and failed.value.problems
    again = pickle.loads(pickle.dumps(failed.value))
    assert str(again) == str(failed.value) and again.filename == failed.value.filename


def test_errors_speak_of_arguments_and_not_of_options(m):
    with pytest.raises(lambada.Error, match=r"`derive\(\)` without `stage=`") as failed:
        m.loss.derive(stage="combinators")
    assert "--" not in failed.value.problems[0].hints[-1]
