"""Wrong calls and wrong programs: each is told clearly, with the parameter, its type and what came; nothing crashes."""

import os
import signal
import subprocess
import sys
import textwrap
import time
import types

import numpy as np
import pytest

import lambada
from lambada import Variant

CALLS = [
    # (function, arguments, named arguments, exception, what is told)
    ("loss", (), {}, TypeError, r"needs a value for its parameters `w : \[n\]real`, `x : \[n\]real`"),
    ("loss", ([1.0],), {}, TypeError, r"needs a value for its parameter `x : \[n\]real`"),
    ("loss", ([1.0], [1.0], [1.0]), {}, TypeError, r"takes 2 arguments, `w`, `x`, but 3 were given"),
    ("loss", ([1.0], [1.0]), {"w": [1.0]}, TypeError, r"`w` twice"),
    ("loss", ([1.0],), {"xx": [1.0]}, TypeError, r"no parameter `xx`; did you mean `x`"),
    ("loss", ([1.0],), {"X": [1.0]}, TypeError, r"no parameter `X`"),
    ("loss", ([1.0], [1.0, 2.0]), {}, ValueError, r"`x` should be `\[n\]real`, but it has 2 where n = 1"),
    ("loss", (1.0, [1.0]), {}, TypeError, r"`w` should be `\[n\]real`, but it is a float, 1.0"),
    ("loss", (None, [1.0]), {}, TypeError, r"but it is None"),
    ("loss", ("1.0", [1.0]), {}, TypeError, r"but it is a str, '1.0'"),
    ("loss", (["a", "b"], [1.0]), {}, TypeError, r"`w` should be `\[n\]real`, but it is a list, \['a', 'b'\]"),
    ("loss", ([[1.0]], [1.0]), {}, ValueError, r"float64 of the shape \(1, 1\)"),
    ("loss", ([1.0, [2.0]], [1.0]), {}, ValueError, r"no regular array"),
    ("loss", ([None], [1.0]), {}, TypeError, r"`w` should be"),
    ("loss", ([1 + 2j], [1.0]), {}, TypeError, r"complex128"),
    ("loss", (np.array([1 + 2j]), [1.0]), {}, TypeError, r"an array of complex128 of the shape \(1,\)"),
    ("loss", (np.array([object()]), [1.0]), {}, TypeError, r"an array of object"),
    ("loss", (np.array(["a"]), [1.0]), {}, TypeError, r"an array of <U1"),
    ("loss", (np.array(["2020-01-01"], dtype="M8[D]"), [1.0]), {}, TypeError, r"datetime64"),
    ("loss", ({"a": 1.0}, [1.0]), {}, TypeError, r"but it is a dict"),
    ("loss", ({1.0, 2.0}, [1.0]), {}, TypeError, r"but it is a set"),
    ("loss", (b"12345678", [1.0]), {}, TypeError, r"but it is a bytes"),
    ("loss", (np.ma.masked_array([1.0, 2.0], [0, 1]), [1.0, 2.0]), {}, ValueError, r"masked"),
    ("loss", (np.float64, [1.0]), {}, TypeError, r"`w` should be"),
    ("twice", (np.zeros(3),), {}, ValueError, r"`x` should be `\[n\]\[m\]real`, but it is an array of float64 of the shape \(3,\)"),
    ("twice", (np.zeros((1, 2, 3)),), {}, ValueError, r"of the shape \(1, 2, 3\)"),
    ("twice", ([[1.0], [1.0, 2.0]],), {}, ValueError, r"no regular array"),
    ("count", ([1.5],), {}, TypeError, r"`k` should be `\[n\]int`, but it is a list, \[1.5\] that makes an array of float64"),
    ("count", (np.array([2**64 - 1], dtype=np.uint64),), {}, ValueError, r"not a 64-bit integer"),
    ("count", ([2**70],), {}, TypeError, r"`k` should be `\[n\]int`"),
    ("either", ([0, 1],), {}, TypeError, r"`b` should be `\[n\]bool`"),
    ("flag", (1, 2, 3.0), {}, TypeError, r"`b` should be `bool`, but it is an int, 1"),
    ("flag", (True, 2.0, 3.0), {}, TypeError, r"`k` should be `int`, but it is a float, 2.0"),
    ("flag", (True, 2**63, 3.0), {}, ValueError, r"9223372036854775808, which is not a 64-bit integer"),
    ("flag", (True, 1, "3"), {}, TypeError, r"`r` should be `real`, but it is a str, '3'"),
    ("flag", (True, 1, 1j), {}, TypeError, r"`r` should be `real`, but it is a complex"),
    ("flag", (True, 1, [3.0]), {}, TypeError, r"`r` should be `real`, but it is a list"),
    ("flag", (True, 1, np.zeros(1)), {}, ValueError, r"`r` should be `real`, but it is an array of the shape \(1\)"),
    ("flag", (True, 1, 10**400), {}, TypeError, r"`r` should be `real`"),
    ("at", ({"slope": 1.0}, 1.0), {}, TypeError, r"a dict that lacks `offsets`"),
    ("at", ({"slope": 1.0, "offset": [1, 2]}, 1.0), {}, TypeError, r"lacks `offsets` and has `offset`, which the type has not"),
    ("at", ({"slope": 1.0, "offsets": "no"}, 1.0), {}, TypeError, r"but `p.offsets` is a str, 'no'"),
    ("at", ({"slope": 1.0, "offsets": [1.0]}, 1.0), {}, ValueError, r"`p`.*\[2\]"),
    ("at", ([1.0, [1, 2]], 1.0), {}, TypeError, r"`p` should be `\{slope : real, offsets : \[2\]real\}`, but it is a list"),
    ("at", (types.SimpleNamespace(slope=1.0), 1.0), {}, TypeError, r"lacks `offsets`"),
    ("pairs", ([(1.0, 2, 3)],), {}, ValueError, r"`p\[0\]` is a tuple of 3 items where there are 2"),
    ("pairs", ([(1.0, 2), (1.0, 2.5)],), {}, TypeError, r"`p\[1\]\[1\]` is a float, 2.5"),
    ("pairs", (3,), {}, TypeError, r"`p` should be `\[n\]\(real, int\)`"),
    ("pairs", ({"a": 1},), {}, TypeError, r"`p` should be"),
    ("points", ({"x": [1.0]},), {}, TypeError, r"a table without a column `y`"),
    ("points", ({"x": [1.0], "y": [1.0, 2.0]},), {}, ValueError, r"column `y` has 2 rows where others have 1"),
    ("area", (Variant("Circl", 1.0),), {}, TypeError, r"`Circl`, which is no constructor of `shape`; did you mean `Circle`"),
    ("area", (Variant("Box", 1.0),), {}, TypeError, r"`Box` with 1 field where it takes 2"),
    ("area", (Variant("Circle", "r"),), {}, TypeError, r"`s.fields\[0\]` is a str, 'r'"),
    ("area", ("Circle",), {}, TypeError, r"`s` should be `shape`, but it is a str"),
    ("total", (Variant("Cons", (1.0, None)),), {}, TypeError, r"`c.fields\[1\]` is None"),
]


@pytest.mark.parametrize(("name", "args", "kwargs", "kind", "told"), CALLS)
def test_wrong_arguments(m, name, args, kwargs, kind, told):
    with pytest.raises(kind, match=told):
        m[name](*args, **kwargs)


DERIVATIVES = [
    (lambda f: f.grad([1.0], [1.0], wrt="z"), lambada.Error, "`z`"),
    (lambda f: f.grad([1.0], [1.0], wrt=()), ValueError, "wrt names no parameter"),
    (lambda f: f.grad([1.0], [1.0], wrt=3), TypeError, "wrt should be the name of a parameter"),
    (lambda f: f.grad([1.0], [1.0], wrt=(1, 2)), TypeError, "wrt should be the name of a parameter"),
    (lambda f: f.grad([1.0], wrt="w"), TypeError, "needs a value"),
    (lambda f: f.jvp([1.0], [1.0], tangents={"z": 1.0}), ValueError, "`z`"),
    (lambda f: f.jvp([1.0], [1.0], tangents=[1.0]), TypeError, "tangents should be a dict"),
    (lambda f: f.jvp([1.0], [1.0], tangents={"w": [1.0, 2.0]}), ValueError, "2 where n = 1"),
    (lambda f: f.jvp([1.0], [1.0], tangents={"w": "a"}), TypeError, r'tangents\["w"\]'),
    (lambda f: f.hvp([1.0], [1.0], v={"w": [[1.0]]}), ValueError, r'v\["w"\]'),
    (lambda f: f.vjp([1.0], [1.0])[1]("a"), TypeError, "the cotangent"),
    (lambda f: f.vjp([1.0], [1.0])[1]([1.0]), TypeError, "the cotangent"),
    (lambda f: f.derive("sideways"), ValueError, "no mode"),
    (lambda f: f.derive("reverse", stage="simplifed"), ValueError, "did you mean \"simplified\""),
    (lambda f: f.show("assembly"), ValueError, "it is one of"),
    (lambda f: f.show("c", of="gradient"), ValueError, "it is one of"),
    (lambda f: f([1.0], [1.0], out=[1.0]), TypeError, "out"),
    (lambda f: f([1.0], [1.0], out=np.zeros(1)), TypeError, "part of the result"),
    (lambda f: f.grad([1.0], [1.0], out=np.zeros(1)), TypeError, "out should be a dict"),
    (lambda f: f.grad([1.0], [1.0], out={"w": np.zeros(1)}), ValueError, "out has no array for `x`"),
    (lambda f: f.grad([1.0], [1.0], wrt="w", out=np.zeros(2)), (TypeError, ValueError), r"sizes \[2\]"),
    (lambda f: f.grad([1.0], [1.0], wrt="w", out=np.zeros(1, dtype=np.int32)), TypeError, "float64"),
    (lambda f: f.grad([1.0], [1.0], wrt="w", out=np.broadcast_to(0.0, 1)), TypeError, "written to"),
]


@pytest.mark.parametrize(("call", "kind", "told"), DERIVATIVES)
def test_wrong_uses_of_derivatives(m, call, kind, told):
    with pytest.raises(kind, match=told):
        call(m.loss)


def test_what_cannot_be_differentiated(m):
    with pytest.raises(lambada.Error, match="real"):
        m.twice.grad(np.zeros((1, 1)))
    with pytest.raises(lambada.Error):
        m.count.grad([1])


PROGRAMS = [
    ("def f (x : real) = x + yy", "E0101", 1),
    ("def f (x : real) : int = x", None, 1),
    ("def f (x : real = x", None, 1),
    ("\n\ndef f (x : real) = x +", None, 3),
    ("def f (x : [n]real) = x\ndef f (x : real) = x", None, 2),
    ('import "nowhere"', None, 1),
    ("def f [n] [m] (x : [n]real) (y : [m]real) = x + sum y + true", None, 1),
    ("\0", None, 1),
    ("def f = " + "(" * 100_000, None, 1),
]


@pytest.mark.parametrize(("text", "code", "line"), PROGRAMS)
def test_wrong_programs(text, code, line):
    with pytest.raises(lambada.Error) as caught:
        lambada.compile(text, name="wrong.lam")
    first = caught.value.problems[0]
    assert str(caught.value).startswith(f"error[{first.code}]")
    assert code in (None, first.code)
    assert first.file == "wrong.lam" and first.line >= line and first.column >= 1
    assert isinstance(caught.value, ValueError)


def test_files_that_cannot_be_read(tmp_path):
    for path in (tmp_path / "none.lam", tmp_path):
        with pytest.raises(lambada.Error, match=path.name):
            lambada.load(path)
    (tmp_path / "binary.lam").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(lambada.Error, match="binary.lam"):
        lambada.load(tmp_path / "binary.lam")
    with pytest.raises(TypeError):
        lambada.load(3)
    with pytest.raises(TypeError, match="lambada.load reads files"):
        lambada.compile(b"def f = 1.0")


def test_names_that_are_none(m):
    with pytest.raises(AttributeError, match="did you mean 'loss'"):
        m.los
    with pytest.raises(KeyError, match="no definition"):
        m["nothing"]
    assert not hasattr(m, "__array__") and not hasattr(m, "nothing")


def test_failures_at_run_time(m):
    with pytest.raises(lambada.RuntimeError) as caught:
        m.pick([1.0, 2.0], 5)
    problem = caught.value.problems[0]
    assert problem.file == "tests.lam" and problem.line > 1
    assert "tests.lam" in str(caught.value) and "5" in str(caught.value)
    assert isinstance(caught.value, RuntimeError)
    assert m.pick([1.0, 2.0], 1) == 2.0


def test_more_memory_than_is_allowed():
    f = lambada.compile("def f (n : int) : [n]real = for i < n => real i", max_memory="1MB").f
    assert f(10)[9] == 9.0
    with pytest.raises(lambada.RuntimeError, match="memory"):
        f(10_000_000)
    assert f(10)[9] == 9.0


def test_values_that_contain_themselves():
    m = lambada.compile(
        "type rose = Rose real ([]rose)\n"
        "def rec total (t : rose) : real = match t | Rose x ts -> x + sum (map total ts)\n"
    )
    children = []
    rose = Variant("Rose", (1.0, children))
    assert m.total(Variant("Rose", (1.0, [rose, rose]))) == 3.0
    children.append(Variant("Rose", (2.0, [rose])))
    with pytest.raises(ValueError, match="a value that contains itself"):
        m.total(rose)


def test_functions_of_functions_are_told():
    m = lambada.compile("def f (g : real -> real) : real = g 1.0")
    with pytest.raises(lambada.Error, match="g"):
        m.f
    with pytest.raises(lambada.Error):
        m["f"]


INTERRUPT = """
    import os, signal, threading, time
    import lambada

    # Whoever runs the tests in the background has interrupts ignored, and what they start inherits that.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    m = lambada.compile({source!r}, engine={engine!r})
    for _ in range(3):
        m.f(10)

    def is_idle():
        # What has been cancelled takes no time of the processor any more, soon, however many others want it.
        for _ in range(200):
            before = time.process_time()
            time.sleep(0.1)
            if time.process_time() - before < 0.02:
                return True
        return False

    for _ in range(2):
        try:
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            m.f(10**15)
            print("ended")
        except KeyboardInterrupt:
            print(is_idle())
    print(m.f(10) > 0)
"""

ENDLESS = {
    "loop": "def f (n : int) : real = loop s = 0.0 for i < n do s + sin (real i)",
    "while": "def f (n : int) : real = loop s = 1.0 while s < real n && n > 0 do s + exp (-s)",
    "recursion": "def rec g (n : int) : int = if n < 2 then n else g (n - 1) + g (n - 2)\n"
    "def f (n : int) : real = real (g (if n < 90 then n else 90))",
}


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")
@pytest.mark.parametrize("engine", ["native", "interpreter"])
@pytest.mark.parametrize("source", ENDLESS.values(), ids=ENDLESS)
def test_interrupts_end_what_runs(engine, source):
    # None of these ends by itself; on a machine that does nothing else, each does within a tenth of a second.
    text = textwrap.dedent(INTERRUPT.format(engine=engine, source=source))
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=200)
    assert done.stdout.split() == ["True", "True", "True"], done.stdout + done.stderr
