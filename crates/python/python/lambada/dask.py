"""Values and gradients summed over shards of the data, on the workers of a Dask cluster.

>>> value, g = lambada.dask.sum_value_and_grad(m.loss, sharded={"x": x, "y": y}, wrt=("w",), w=w)
"""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence, Union

import dask
import numpy as np
from dask.delayed import Delayed

from ._model import Function
from ._values import Parts, Record

__all__ = ["sum_value_and_grad", "lazy_sum_value_and_grad"]


def sum_value_and_grad(
    f: Function,
    sharded: Mapping[str, Any],
    wrt: Union[str, Sequence[str], None] = None,
    scheduler: Any = None,
    **shared: Any,
) -> tuple[float, Any]:
    """The sum of the values of ``f`` over the shards of the data, and its gradient by ``wrt``, which is among the ``shared`` parameters.

    ``sharded`` has Dask arrays, which are cut along their first axis, at the same places, or lists with a value for each shard. The sum is made as a tree
    whose shape depends on the number of shards alone: the result is the same to the last bit, however many workers there are and whichever of them dies.
    Each worker compiles the function once.
    """
    given = {} if scheduler is None else {"scheduler": scheduler}
    value, gradient = lazy_sum_value_and_grad(f, sharded, wrt, **shared).compute(**given)
    return value, gradient


def lazy_sum_value_and_grad(
    f: Function, sharded: Mapping[str, Any], wrt: Union[str, Sequence[str], None] = None, **shared: Any
) -> Delayed:
    """The same, to be computed later."""
    if not sharded:
        raise ValueError("sharded names no data; pass at least one Dask array")
    parameters = {name: real for name, _, real in f._parameters}
    for name in [*sharded, *shared]:
        if name not in parameters:
            raise TypeError(f"{f.__name__!r} has no parameter {name!r}; its parameters are {', '.join(parameters)}")
    both = sorted(set(sharded) & set(shared))
    if both:
        raise TypeError(f"{', '.join(both)} cannot be sharded and shared")
    missing = [name for name in parameters if name not in sharded and name not in shared]
    if missing:
        raise TypeError(f"{f.__name__!r} needs values for {', '.join(missing)}")
    if wrt is None:
        wrt = tuple(name for name, real in parameters.items() if real and name in shared)
    for name in (wrt,) if isinstance(wrt, str) else wrt:
        if name.split(".")[0] in sharded:
            raise ValueError(f"wrt names {name!r}, which is sharded; a gradient is summed over shards by what they share")
    shards = {name: _shards(name, data) for name, data in sharded.items()}
    counts = {name: len(parts) for name, parts in shards.items()}
    if len(set(counts.values())) != 1:
        told = ", ".join(f"{name!r} has {count}" for name, count in counts.items())
        raise ValueError(f"all data should be cut into as many shards, but {told}; use rechunk")
    sizes: dict[str, Any] = {n: d.chunks[0] for n, d in sharded.items() if hasattr(d, "chunks")}
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{name!r} into {chunks}" for name, chunks in sizes.items())
        raise ValueError(f"all data should be cut at the same places, but {told}; use rechunk")
    # What is shared is sent once, and not with each shard.
    function = dask.delayed(f, pure=True, traverse=False)
    common = dask.delayed(shared, pure=True, traverse=False)
    evaluate = dask.delayed(_evaluate, pure=True)
    count = next(iter(counts.values()))
    level = [evaluate(function, wrt, common, {n: parts[k] for n, parts in shards.items()}) for k in range(count)]
    plus = dask.delayed(_plus, pure=True)
    while len(level) > 1:
        odd = [level[-1]] if len(level) % 2 else []
        level = [plus(a, b) for a, b in zip(level[::2], level[1::2])] + odd
    return level[0]


def _shards(name: str, data: Any) -> list[Any]:
    """The shards, in order."""
    if isinstance(data, (list, tuple)):
        if not data:
            raise ValueError(f"{name!r} has no shards")
        return list(data)
    if not hasattr(data, "to_delayed"):
        raise TypeError(f"{name!r} should be a Dask array or a list with a value for each shard, but it is {type(data).__name__}")
    if data.ndim > 1 and any(len(chunks) != 1 for chunks in data.chunks[1:]):
        data = data.rechunk({axis: -1 for axis in range(1, data.ndim)})
    return list(data.to_delayed().ravel())


def _evaluate(f: Function, wrt: Any, shared: Mapping[str, Any], shard: Mapping[str, Any]) -> Any:
    return f.value_and_grad(wrt=wrt, **shared, **shard)


def _plus(a: Any, b: Any) -> Any:
    """The sum of two values of one structure."""
    if isinstance(a, dict):
        return Parts({name: _plus(a[name], b[name]) for name in a})
    if isinstance(a, Record):
        return Record(**{name: _plus(a[name], b[name]) for name in a})
    if isinstance(a, (tuple, list)):
        return type(a)(_plus(x, y) for x, y in zip(a, b))
    if isinstance(a, (float, int, np.ndarray)) and not isinstance(a, bool):
        return a + b
    raise TypeError(f"gradients that are {type(a).__name__} are not summed over shards")
