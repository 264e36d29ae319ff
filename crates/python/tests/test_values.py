"""What goes in, and what comes out."""

import collections
import dataclasses
import gc
import os
import resource
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import lambada


def test_arrays_go_in_from_whatever_holds_numbers(m):
    want = 2.0 * np.arange(6.0).reshape(2, 3)
    for x in (
        np.arange(6.0).reshape(2, 3),
        np.arange(6).reshape(2, 3),
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.arange(6.0).reshape(3, 2).T.copy().T.reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(12.0).reshape(2, 6)[:, ::2] / 2,
        np.arange(6.0).astype(">f8").reshape(2, 3),
        np.arange(5.0, -1.0, -1.0)[::-1].reshape(2, 3),
        np.frombuffer(b"." + np.arange(6.0).tobytes(), np.float64, offset=1).reshape(2, 3),
        [[0, 1, 2], [3, 4, 5]],
        [np.arange(3), (3.0, 4.0, 5.0)],
        memoryview(np.arange(6.0).reshape(2, 3)),
    ):
        got = m.twice(x)
        assert got.dtype == np.float64 and got.flags.c_contiguous and got.flags.writeable
        np.testing.assert_array_equal(got, want)


def test_strided_arrays_are_read_as_they_are_seen(m):
    x = np.arange(24.0).reshape(4, 6)
    for view in (x[::2, ::3], x[::-1, ::-2], x.T, x[1:3, 2:5], np.broadcast_to(x[0], (3, 6))):
        np.testing.assert_array_equal(m.twice(view), 2 * view)


def test_objects_with_array_or_dlpack(m):
    class Holds:
        def __array__(self, dtype=None, copy=None):
            return np.array([[1.0, 2.0]])

    class Lends:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **given):
            return self.array.__dlpack__(**given)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    np.testing.assert_array_equal(m.twice(Holds()), [[2.0, 4.0]])
    np.testing.assert_array_equal(m.twice(Lends(np.array([[1.0, 2.0]]))), [[2.0, 4.0]])


def test_scalars_of_all_kinds(m):
    for b in (True, np.bool_(True), np.array(True)):
        for k in (2, np.int32(2), np.uint8(2), np.array(2)):
            for r in (1.5, np.float32(1.5), np.array(1.5)):
                assert m.flag(b, k, r) == 3.5
    assert m.flag(False, 0, 7) == 7.0
    assert type(m.flag(False, 0, 7)) is float
    assert m.count([1, 2, 3]) == 6 and type(m.count([1, 2, 3])) is int
    assert m.either([False, True]) is True


def test_truth_values_are_numbers(m):
    assert m.flag(True, True, True) == 2.0
    assert m.count([True, False, True]) == m.count(np.array([True, False, True])) == 2
    assert m.loss(np.array([True, False]), [False, False]) == 0.5
    assert m.at({"slope": True, "offsets": [True, False]}, True) == 2.0


def test_truth_values_whose_bytes_are_neither_0_nor_1(m):
    strange = np.array([0, 2, 255], dtype=np.uint8).view(bool)
    assert m.either(strange) is True
    assert m.either(np.array([0, 0], dtype=np.uint8).view(bool)) is False


def test_nothing_at_all(m):
    assert m.twice([]).shape == (0, 0)
    assert m.twice(np.zeros((0, 3))).shape == (0, 3)
    assert m.twice(np.zeros((3, 0))).shape == (3, 0)
    assert m.count([]) == 0
    assert m.pairs([]) == 0.0
    assert m.loss([], []) == 0.0


def test_records_from_what_has_fields(m):
    @dataclasses.dataclass
    class Line:
        slope: float
        offsets: list

    Named = collections.namedtuple("Named", "offsets slope")
    for p in (
        {"slope": 2, "offsets": [1, 2]},
        Line(2.0, np.array([1.0, 2.0])),
        Named(slope=2.0, offsets=(1.0, 2.0)),
        lambada.Record(slope=2.0, offsets=[1, 2]),
    ):
        assert m.at(p, 3.0) == 9.0
    g = m.at.grad({"slope": 2, "offsets": [1, 2]}, 3.0, wrt="p")
    assert list(g) == ["slope", "offsets"] and g.slope == 3.0
    np.testing.assert_array_equal(g["offsets"], [1.0, 1.0])
    assert dict(g).keys() == {"slope", "offsets"}
    assert m.at(g, 1.0) == 5.0


def test_fields_of_records_are_differentiated_by_path(m):
    assert m.at.grad({"slope": 2, "offsets": [1, 2]}, 3.0, wrt="p.slope") == 3.0


def test_tuples_and_records_come_out(m):
    x, r = m.both(3.0)
    assert x == 3.0 and r.value == 6.0 and r["exact"] is True
    assert r == {"value": 6.0, "exact": True}
    assert repr(r) == "Record(value=6.0, exact=True)"


def test_variants(m):
    assert m.area(lambada.Variant("Box", (2, 3))) == 6.0
    assert m.area(lambada.Variant("Empty")) == 0.0
    match m.area.grad(lambada.Variant("Box", (2, 3)), wrt="s"):
        case lambada.Variant("Box", (a, b)):
            assert (a, b) == (3.0, 2.0)
        case other:
            raise AssertionError(other)


def test_recursive_data_of_any_depth(m):
    deep = lambada.Variant("Nil")
    for k in range(200_000):
        deep = lambada.Variant("Cons", (1.0, deep))
    assert m.total(deep) == 200_000.0
    out = m.upto(200_000)
    assert m.total(out) == 200_000 * 200_001 / 2
    assert out == m.upto(200_000)
    del deep, out


def test_arrays_of_structures(m):
    assert m.pairs([(1.0, 2), (3, 4)]) == 14.0
    table = {"x": [1.0, 2.0], "y": np.array([3.0, 4.0])}
    rows = [{"x": 1.0, "y": 3.0}, {"x": 2, "y": 4}]
    structured = np.array([(1.0, 3.0), (2.0, 4.0)], dtype=[("x", float), ("y", float)])
    assert m.points(table) == m.points(rows) == m.points(structured) == 11.0
    assert m.points.grad(rows, wrt="p") == [{"x": 3.0, "y": 1.0}, {"x": 4.0, "y": 2.0}]


def test_results_own_their_memory(m):
    x = m.twice(np.ones((2, 2)))
    y = m.twice(np.full((2, 2), 3.0))
    np.testing.assert_array_equal(x, np.full((2, 2), 2.0))
    y[0, 0] = 0.0
    np.testing.assert_array_equal(m.twice(np.full((2, 2), 3.0)), np.full((2, 2), 6.0))
    del m
    gc.collect()
    np.testing.assert_array_equal(x, np.full((2, 2), 2.0))


def test_results_are_written_where_they_belong(m):
    out = np.zeros((2, 3))
    assert m.twice(np.ones((2, 3)), out=out) is out
    np.testing.assert_array_equal(out, np.full((2, 3), 2.0))
    strided = np.zeros((4, 6))
    m.twice(np.ones((2, 3)), out=strided[::2, ::2])
    assert strided.sum() == 12.0 and strided[0, 0] == 2.0 and strided[0, 1] == 0.0
    number = np.array(0.0)
    m.loss([3.0], [1.0], out=number)
    assert number == 2.0
    gradient = {"w": np.zeros(1), "x": np.zeros(1)}
    value, same = m.loss.value_and_grad([3.0], [1.0], out=gradient)
    assert value == 2.0 and same is gradient and gradient["w"] == 2.0 and gradient["x"] == -2.0
    alone = np.zeros(1)
    assert m.loss.grad([3.0], [1.0], wrt="w", out=alone) is alone and alone == 2.0


def test_parts_of_out_that_are_none_are_new():
    m = lambada.compile(
        "def g [n] (x : [n]real) : ([n]real, (int, [n]int)) = (2.0 * x, (n, for i < n => i))\n"
        "def h (x : real) (p : {a : real, b : real}) : real = x * p.a * p.b\n"
        "def rows [n] (x : [n]real) : (real, [n]{a : real}) = (sum x, for v in x => {a = v})"
    )
    x, out = np.array([1.0, 2.0]), np.zeros(2)
    doubled, (n, places) = m.g(x, out=(out, None))
    assert doubled is out and list(out) == [2.0, 4.0] and n == 2 and list(places) == [0, 1]
    doubled, both = m.g(x, out=[None, (None, np.zeros(2, dtype=np.int64))])
    assert list(doubled) == [2.0, 4.0] and both[0] == 2 and list(both[1]) == [0, 1]
    assert m.g(x, out=None)[1][0] == 2
    given = {"w": np.zeros(1), "x": None}
    parts = compiled_loss().grad([3.0], [1.0], out=given)
    assert parts["w"] is given["w"] and given["x"] is None and list(parts["x"]) == [-2.0]
    with pytest.raises(TypeError, match=r"out\[1\] is None.*the result there is"):
        m.rows(x, out=(None, None))
    with pytest.raises(TypeError, match="result there is `{"):
        m.h.grad(1.0, {"a": 1.0, "b": 2.0}, out={"x": None, "p": None})


def compiled_loss():
    text = "def loss [n] (w : [n]real) (x : [n]real) : real = 0.5 * sum ((w - x) * (w - x))"
    return lambada.compile(text, engine="native").loss


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the system does not tell the resident memory")
def test_memory_is_given_back():
    # In a process of its own, whose memory nothing else has taken or left.
    text = """
        import resource, numpy as np, lambada
        def resident():
            return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
        f = lambada.compile("def f [n] (x : [n]real) = let s = sort x in s[0] + s[n - 1]", engine="native").f
        x = np.random.default_rng(0).random(2_000_000, dtype=np.float32)  # converted to 16 MB
        f(x[:10])
        before = resident()
        value = f(x)
        kept = resident() - before
        lambada.release()
        after = resident() - before
        assert kept > 24e6 and after < 8e6, (kept, after)
        assert f(x) == value
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(text)], check=True, timeout=300)


def test_memory_of_converted_arguments_is_taken_once():
    f = compiled_loss()
    w, out = np.ones(2_000_000, dtype=np.float32), np.zeros(2_000_000, dtype=np.float32)
    f.prepare()
    for _ in range(3):
        f.grad(w, w, wrt="w", out=out)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        f.grad(w, w, wrt="w", out=out)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 5000


def test_large_results_are_computed_where_they_belong():
    m = lambada.compile(
        "def f [n] (x : [n]real) : [n]real = for i < n => 2.0 * x[n - 1 - i]\n"
        "def g [n] (x : [n]real) : ([n]real, [n]real) = (2.0 * x, 3.0 * x)",
        engine="native",
    )
    n = 12_500_000  # 100 MB
    x, out = np.ones(n), np.ones(n)
    m.f(x[:10], out=out[:10])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert m.f(x, out=out) is out and out.min() == out.max() == 2.0
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 20_000  # kB
    # Where an argument lies in it, and where equally large results may be given in any order.
    x = np.arange(20_000.0)
    m.f(x, out=x)
    np.testing.assert_array_equal(x, 2.0 * np.arange(20_000.0)[::-1])
    x, both = np.arange(20_000.0), (np.zeros(20_000), np.zeros(20_000))
    for _ in range(2):
        m.g(x, out=both)
        np.testing.assert_array_equal(both[0], 2.0 * x)
        np.testing.assert_array_equal(both[1], 3.0 * x)


def test_large_arrays_are_lent(m):
    x = np.ones((1250, 10_000))  # 100 MB
    f = lambada.compile("def f [n] [m] (x : [n][m]real) : real = x[n - 1, m - 1]").f
    assert f(x) == 1.0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert f(x) == 1.0
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 20_000  # kB


def test_a_definition_without_parameters(m):
    assert m.answer() == 42.0


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.0, 5e-324, 1.7e308])
def test_every_number_goes_through(m, value):
    got = m.twice([[value]])
    np.testing.assert_array_equal(got, np.array([[2 * value]]))
    assert np.signbit(got[0, 0]) == np.signbit(value)


TABLES = """
    type kind = A | B
    def worth (r : {x : real, n : int, on : kind}) : real = match r.on | A -> r.x * real r.n | B -> 0.0
    def total [n] (rows : [n]{x : real, n : int, on : kind}) : real = sum (for i < n => worth rows[i])
    def first [n] (rows : [n]{x : real, v : []real}) : real = rows[0].x + sum rows[n - 1].v
    def count [n] (rows : [n]{x : real}) : real = sum (for i < n => if rows[i].x == rows[i].x then 0.0 else 1.0)
"""

COLUMNS = {"x": [1.5, 2.0, 4.0], "n": [2, 3, 5], "on": ["A", "B", "A"]}


def _frames(columns):
    """The columns as a table of whatever library for tables is there."""
    yield columns
    for library, name in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")):
        try:
            yield getattr(__import__(library), name)(columns)
        except ImportError:
            pass


def test_tables_are_arrays_of_records():
    m = lambada.compile(TABLES)
    for frame in _frames(COLUMNS):
        assert m.total(frame) == 23.0, type(frame)
    for frame in _frames({"x": [1.0, 2.0], "v": [[1.0, 2.0], [3.0, 4.0]]}):
        assert m.first(frame) == 8.0, type(frame)
    for frame in _frames({"x": [1.0, None, 3.0]}):
        assert m.count(frame) == 1.0, type(frame)


def test_tables_that_do_not_fit_are_told():
    m = lambada.compile(TABLES)
    for frame in _frames({**COLUMNS, "on": ["A", "C", "A"]}):
        with pytest.raises(TypeError, match=r"rows\.on\[1\].*constructor of `kind`"):
            m.total(frame)
    for frame in _frames({"x": [1.0], "n": [1]}):
        with pytest.raises(TypeError, match="without a column `on`"):
            m.total(frame)
    for frame in _frames({**COLUMNS, "n": [1, None, 2]}):
        with pytest.raises((TypeError, ValueError), match=r"rows\.n\[\d\]"):
            m.total(frame)


def test_columns_of_numbers_are_read_as_they_are():
    m = lambada.compile(
        "def f [n] (rows : [n]{x : real, v : [2]real, at : {k : int, on : bool}}) : real = "
        "sum (for r in rows => if r.at.on then r.x * real r.at.k + sum r.v else 0.0)"
    )
    n = 300_000
    at = {"k": np.arange(n), "on": np.ones(n, dtype=bool)}
    table = {"x": np.full(n, 2.0), "v": np.ones((n, 2)), "at": at, "more": ["words"] * n}
    expect = 2.0 * n + n * (n - 1.0)
    start = time.perf_counter()
    assert m.f(table) == expect
    assert m.f({**table, "x": [2] * n, "v": np.ones((n, 2), dtype=np.float32)}) == expect
    assert time.perf_counter() - start < 20.0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert m.f(table) == expect
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kB
    assert m.f({**table, "x": np.zeros(0), "v": np.zeros((0, 2)), "at": {"k": [], "on": []}}) == 0.0
    # Derivatives take tables, too.
    rows = m.f.grad({"x": [1.0], "v": [[1.0, 2.0]], "at": {"k": [3], "on": [True]}}, wrt="rows")
    assert rows[0].x == 3.0 and list(rows[0].v) == [1.0, 1.0]
    for wrong, said in (
        ({**table, "x": np.ones(n - 1)}, "column"),
        ({**table, "v": np.ones((n, 3))}, r"`rows` should be"),
        ({**table, "x": np.full(n, "a")}, r"rows\.x\[0\]"),
        ({**table, "at": {"k": [1.5] * n, "on": [True] * n}}, r"rows\.at\.k\[0\]"),
    ):
        with pytest.raises((TypeError, ValueError), match=said):
            m.f(wrong)
