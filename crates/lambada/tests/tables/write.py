"""Writes the tables that other tests read: `python write.py`, with pyarrow. It also reads what Lambada has written (`written.arrow`)."""

from decimal import Decimal

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet

reals = pa.list_(pa.float64())
pairs = pa.list_(pa.float64(), 2)
words = [f"{k:010}" for k in range(100)]
long = "a word that is longer than a view has room for"

TABLES = {
    "kinds": {
        "x": pa.array([0.5, None, 2.0], pa.float32()),
        "n": pa.array([1, 2, 3], pa.uint64()),
        "some": pa.array([1, None, 3], pa.int64()),
        "ok": pa.array([True, False, True]),
        "kind": pa.array(["b", "a", "b"]).dictionary_encode(),
        "even": pa.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], reals),
        "ragged": pa.array([[1.0], [], [2.0]], reals),
        "holes": pa.array([[1.0], None, [2.0]], reals),
        "day": pa.array([1, 2, 3], pa.date32()),
        "huge": pa.array([2**64 - 1, 2, 3], pa.uint64()),
        "cents": pa.array([Decimal("1.25"), Decimal("2.50"), Decimal("-0.05")], pa.decimal128(9, 2)),
    },
    "words": {"kind": pa.array([words[k % 100] for k in range(2000)]).dictionary_encode()},
    "no_rows": {"x": pa.array([], pa.float64())},
    "lists": {
        "a": pa.array([[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], [[6.0, 7.0], [8.0, 9.0], [10.0, 11.0]]], pa.list_(pairs)),
        "w": pa.array(["short", long], pa.string_view()),
    },
}

for name, columns in TABLES.items():
    table = pa.table(columns)
    feather.write_feather(table, f"{name}.arrow", compression="uncompressed")
    feather.write_feather(table, f"{name}.lz4.arrow", compression="lz4")
    feather.write_feather(table, f"{name}.zstd.arrow", compression="zstd")
    parquet.write_table(table, f"{name}.parquet")

try:
    print(feather.read_table("written.arrow"))
except FileNotFoundError:
    pass
