"""Log densities as models of nutpie, for those of its samplers and settings that :func:`lambada.sample` does not have.

>>> model = lambada.sampling.compiled(m.log_posterior, start={"mu": 0.0, "tau": np.zeros(8)}, y=y)
>>> trace = nutpie.sample(model, low_rank_modified_mass_matrix=True)
"""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence

import numpy as np

from ._errors import RuntimeError as _Failure
from ._model import Function
from ._tree import Flat, _is_plain

__all__ = ["compiled"]


def compiled(
    f: Function,
    start: Mapping[str, Any],
    *,
    dims: Optional[Mapping[str, Sequence[str]]] = None,
    coords: Optional[Mapping[str, Any]] = None,
    **fixed: Any,
) -> Any:
    """A model of nutpie of the parameters in ``start``, of which ``f`` gives the logarithm of a density up to a constant, where the others are ``fixed``.

    The parameters may be any reals, and chains start near ``start``. A point at which ``f`` fails counts as one of no density.
    """
    try:
        from nutpie.compiled_pyfunc import from_pyfunc
    except ImportError as error:
        raise ImportError("a model of nutpie needs nutpie: pip install nutpie") from error

    flat = Flat(f, tuple(start), fixed)
    first = flat.learn(start)
    for name, type_ in flat.types.items():
        if not _is_plain(type_):
            raise TypeError(f"{name!r} is {f.parameters.get(name, type_)}; draws are of reals and arrays of reals")
    if f.result != "real":
        raise TypeError(f"the result of {f.__name__!r} is {f.result}; it should be a real, the logarithm of a density")
    value = f(**flat.arguments(first))
    if not np.isfinite(value):
        raise ValueError(f"{f.__name__!r} is {value} at the start; begin where the density is not zero")

    def density() -> Any:
        def log_density(theta: np.ndarray) -> tuple[float, np.ndarray]:
            try:
                value, gradient = f.value_and_grad(wrt=flat.names, **flat.arguments(theta))
            except _Failure as error:
                raise _Outside(str(error)) from error
            if not np.isfinite(value):
                raise _Outside(f"the logarithm of the density is {value}")
            return value, flat.pack(gradient)

        return log_density

    def expand(_seed: Any, _more: Any, _chain: Any) -> Any:
        return lambda theta: {name: np.asarray(value) for name, value in flat.unpack(theta).items()}

    def near(seed: int) -> np.ndarray:
        return first + np.random.default_rng(seed).uniform(-0.1, 0.1, first.size)

    shapes = [np.shape(flat.template[name]) for name in flat.names]
    return from_pyfunc(
        first.size,
        density,
        expand,
        [np.dtype("float64")] * len(shapes),
        shapes,
        list(flat.names),
        dims={name: tuple(axes) for name, axes in (dims or {}).items()},
        coords=dict(coords or {}),
        make_initial_point_fn=near,
    )


class _Outside(ValueError):
    """The point has no density; the sampler turns back."""

    is_recoverable = True
