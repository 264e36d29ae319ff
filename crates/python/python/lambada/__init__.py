"""Lambada: a differentiable, higher-order functional language and its compiler.

>>> import lambada
>>> m = lambada.compile("def f [n] (x : [n]real) : real = sum (x * x)")
>>> m.f([1.0, 2.0])
5.0
>>> m.f.grad([1.0, 2.0], wrt="x")
array([2., 4.])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._draws import Draws, Finding, Summary
from ._errors import Error, Problem, RuntimeError, SamplingWarning, Warning
from ._lambada import VERSION as __version__, release
from ._model import Function, Model, compile, load, options
from ._sampling import Optimum, draws, minimize, predict, sample
from ._source import Source, Verification
from ._values import Parts, Record, Variant

if TYPE_CHECKING:
    from . import dask as dask, jax as jax, notebook as notebook, sampling as sampling, scipy as scipy, torch as torch

#: The same as :func:`compile`.
source = compile

__all__ = [
    "Draws",
    "Error",
    "Finding",
    "Function",
    "Model",
    "Optimum",
    "Parts",
    "Problem",
    "Record",
    "RuntimeError",
    "SamplingWarning",
    "Source",
    "Summary",
    "Variant",
    "Verification",
    "Warning",
    "compile",
    "draws",
    "load",
    "minimize",
    "options",
    "predict",
    "release",
    "sample",
    "source",
]

_ADAPTERS = ("dask", "jax", "notebook", "sampling", "scipy", "torch")


def __getattr__(name: str) -> Any:
    # Adapters are imported when they are used: each needs a package that others may not have.
    if name in _ADAPTERS:
        import importlib

        return importlib.import_module(f"lambada.{name}")
    raise AttributeError(f"module 'lambada' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_ADAPTERS])


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext lambada``"""
    from . import notebook

    notebook.load(shell)
