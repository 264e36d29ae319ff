"""Definitions as statistical models: draws, optima, and definitions for each draw."""

from __future__ import annotations

import operator
import warnings
from contextlib import contextmanager
from typing import Any, Iterator, Mapping, Optional

import numpy as np

from . import _lambada
from ._arviz import arviz, extend, is_inference_data, posterior
from ._draws import Draws, findings, in_python
from ._errors import Error, SamplingWarning
from ._model import Function
from ._progress import progress as bar


def draws(
    f: Function,
    data: Optional[Mapping[str, Any]] = None,
    *,
    chains: int = 4,
    warmup: int = 1000,
    draws: int = 1000,
    seed: int = 0,
    target_accept: float = 0.8,
    max_depth: int = 10,
    metric: str = "diag",
    sizes: Optional[Mapping[str, int]] = None,
    init: Optional[Mapping[str, Any]] = None,
    threads: Optional[int] = None,
    progress: Optional[bool] = None,
    **more_data: Any,
) -> Draws:
    """Draws from the posterior whose log density ``f`` is, by the No-U-Turn sampler.

    ``f`` is a log density of those of its parameters that ``data`` does not give. ``data`` has values by the names of parameters: numbers, arrays, nested
    lists, dictionaries for records, a frame of pandas for columns; members that no parameter has are ignored, as those of files are. Keywords are data, too,
    and have to name parameters. As in files, indices of the type ``space.one_based`` count from 1.

    ``warmup`` draws of each chain adapt the sampler and are not kept. The same ``seed`` gives the same draws for any number of ``threads``, which is that of
    the cores unless given. ``target_accept``, below 1, is higher for smaller steps; a draw takes at most two to the power of ``max_depth`` steps; ``metric``
    is ``"diag"``, ``"dense"`` for few parameters that are correlated, or ``"low-rank"`` for many. ``sizes`` has sizes that no data have, ``init`` values of the parameters to begin
    at. ``progress`` is shown on terminals and in notebooks, unless it is ``False``.

    Faults of the model that are seen before the first draw, and those of the chains, are given as warnings of the class :class:`SamplingWarning`; the latter
    are ``.warnings`` of the result, too. Ctrl-C ends the chains: the result
    has the draws made so far.
    """
    how = _how(chains, warmup, draws, seed, target_accept, max_depth, metric, threads)
    return _drawn(f, _request(f, data, more_data, sizes, init), how, progress)


def sample(
    f: Function,
    data: Optional[Mapping[str, Any]] = None,
    *,
    chains: int = 4,
    warmup: int = 1000,
    draws: int = 1000,
    seed: int = 0,
    target_accept: float = 0.8,
    max_depth: int = 10,
    metric: str = "diag",
    sizes: Optional[Mapping[str, int]] = None,
    init: Optional[Mapping[str, Any]] = None,
    threads: Optional[int] = None,
    progress: Optional[bool] = None,
    **more_data: Any,
) -> Any:
    """The draws of :func:`draws`, which explains the arguments, as ArviZ's ``InferenceData`` (from ArviZ 1 on a ``DataTree``): ``posterior``,
    ``sample_stats``, ``observed_data``."""
    # A missing package is told before the time that sampling takes.
    arviz()
    how = _how(chains, warmup, draws, seed, target_accept, max_depth, metric, threads)
    return _drawn(f, _request(f, data, more_data, sizes, init), how, progress).to_arviz()


def minimize(
    f: Function,
    data: Optional[Mapping[str, Any]] = None,
    *,
    maximize: bool = False,
    errors: bool = False,
    tries: int = 4,
    seed: int = 0,
    init: Optional[Mapping[str, Any]] = None,
    sizes: Optional[Mapping[str, int]] = None,
    **more_data: Any,
) -> Optimum:
    """The values of those parameters that ``data`` does not give at which ``f`` is smallest, or largest: ``maximize`` finds the mode of a log density.

    Parameters stay in their spaces. The best of the ends of ``tries`` searches is taken, which begin at random points, or of one from ``init``. ``errors``
    adds standard errors from the curvature: those of a log density at its mode. ``data``, ``sizes`` and keywords are as those of :func:`draws`.
    """
    request = _request(f, data, more_data, sizes, init)
    with _told_in_python():
        found = _lambada.minimize(
            f, request, bool(maximize), bool(errors), _count("tries", tries, 1), _count("seed", seed, 0)
        )
    optimum = Optimum(*found)
    if not optimum.converged:
        text = f"the search did not converge: the norm of the gradient at its end is {optimum.gradient_norm:.2e}"
        if not maximize:
            text += "; the mode of a log density is found by maximize=True"
        warnings.warn(text, SamplingWarning, stacklevel=2)
    elif errors and optimum.errors is None:
        text = (
            "there are no standard errors: the curvature is not positive in all directions; they are those of a log density at its largest "
            "value (maximize=True), which depends on all parameters"
        )
        warnings.warn(text, SamplingWarning, stacklevel=2)
    if optimum.converged and optimum.others:
        others = "another optimum" if len(optimum.others) == 1 else "other optima"
        text = f"searches from other points converged to {others}, with the result {optimum.others[0]}"
        warnings.warn(text, SamplingWarning, stacklevel=2)
    return optimum


def predict(
    f: Function,
    draws: Any,
    data: Optional[Mapping[str, Any]] = None,
    *,
    seed: int = 0,
    sizes: Optional[Mapping[str, int]] = None,
    group: Optional[str] = None,
    threads: Optional[int] = None,
    **more_data: Any,
) -> Any:
    """The results of ``f`` for each draw: replicated data, log likelihoods, other quantities.

    Parameters of ``f`` that neither ``data`` nor keywords give come from the draws, by their names. A parameter of the type ``random.key`` is another key
    for each draw, and the same for the same ``seed``. A result that is a record makes a variable of each field, another one a variable of the name of ``f``.

    For :class:`Draws` the results are :class:`Draws`, which ``draws.with_results(…)`` joins. An ``InferenceData`` is extended, as by its own ``extend``, and
    returned: results come into the ``group`` that is named; unless given, those whose names begin with ``log_lik`` into ``log_likelihood``, where
    ``arviz.loo`` looks for them, and others into ``posterior_predictive``.
    """
    is_inference = is_inference_data(draws)
    if not is_inference and not isinstance(draws, Draws):
        raise TypeError(f"the draws should be Draws or an InferenceData, but they are {type(draws).__name__!r}")
    if group is not None and not is_inference:
        raise TypeError("a group is that of an InferenceData; draws.with_results(…) joins Draws")
    known = posterior(draws) if is_inference else draws
    request = _request(f, data, more_data, sizes, None)
    count = None if threads is None else _count("threads", threads, 1)
    with _told_in_python():
        results = Draws(_lambada.predict(f, known._native, request, _count("seed", seed, 0), count))
    if not is_inference:
        return results
    groups: dict[str, dict[str, Any]] = {}
    for name, array in results.items():
        usual = "log_likelihood" if name.startswith("log_lik") else "posterior_predictive"
        groups.setdefault(group or usual, {})[name] = array
    for name, arrays in groups.items():
        extend(draws, name, arrays)
    return draws


class Optimum:
    """Where a search ended; see :func:`minimize`."""

    def __init__(
        self,
        x: dict[str, Any],
        errors: Optional[dict[str, Any]],
        fun: float,
        gradient_norm: float,
        converged: bool,
        others: list[float],
    ) -> None:
        #: The values of the parameters.
        self.x = x
        #: Their standard errors, if they were asked for and there are any.
        self.errors = errors
        #: The result of the function.
        self.fun = fun
        #: The norm of its gradient, by coordinates without constraints.
        self.gradient_norm = gradient_norm
        #: Whether the search converged.
        self.converged = converged
        #: The results at other optima that searches converged to, the best first.
        self.others = others

    def __repr__(self) -> str:
        lines = [f"fun = {self.fun:.10g}" + ("" if self.converged else "  (not converged)")]
        for name, value in self.x.items():
            lines.append(f"{name} = {_shown(value)}")
            if self.errors is not None:
                lines.append(f"{' ' * len(name)} ± {_shown(self.errors[name])}")
        return "\n".join(lines)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, np.ndarray):
        return np.array2string(value, precision=6, threshold=20, separator=", ").replace("\n", "\n  ")
    return repr(value)


def _drawn(f: Function, request: Any, how: Mapping[str, Any], progress: Optional[bool]) -> Draws:
    def doubt(found: list[Any]) -> None:
        # A density without a maximum, say, is told before the chains get lost.
        for finding in findings(found):
            warnings.warn(str(finding), SamplingWarning, stacklevel=4)

    tell = bar(progress, how["chains"], how["warmup"], how["draws"])
    with _told_in_python():
        try:
            made = Draws(_lambada.sample(f, request, how, doubt, tell))
        finally:
            if tell is not None:
                tell.close()
    if made.draws == 0:
        # Interrupted in the warm-up.
        raise KeyboardInterrupt
    if made.draws < how["draws"]:
        text = f"interrupted: each chain has {made.draws} of {how['draws']} draws"
        warnings.warn(text, SamplingWarning, stacklevel=3)
    for finding in made.warnings:
        warnings.warn(str(finding), SamplingWarning, stacklevel=3)
    return made


def _how(
    chains: int, warmup: int, draws: int, seed: int, target_accept: float, max_depth: int, metric: str, threads: Optional[int]
) -> dict[str, Any]:
    if not isinstance(target_accept, (int, float)) or not 0.0 < target_accept < 1.0:
        raise ValueError(f"target_accept should be between 0 and 1, but it is {target_accept!r}")
    return {
        "chains": _count("chains", chains, 1),
        "warmup": _count("warmup", warmup, 0),
        "draws": _count("draws", draws, 1),
        "seed": _count("seed", seed, 0),
        "target_accept": float(target_accept),
        "max_depth": _count("max_depth", max_depth, 1, 20),
        "metric": metric,
        "threads": None if threads is None else _count("threads", threads, 1),
    }


def _count(name: str, value: Any, least: int, most: int = 2**63 - 1) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} should be an integer, but it is {value!r}") from None
    if not least <= number <= most:
        bounds = f"of at least {least}" if most > 20 else f"from {least} to {most}"
        raise ValueError(f"{name} should be an integer {bounds}, but it is {value!r}")
    return number


def _request(f: Function, data: Any, more_data: dict[str, Any], sizes: Any, init: Any) -> Any:
    """What the extension module makes a model from."""
    if not isinstance(f, Function):
        raise TypeError(f"a model is a lambada.Function, but it is {type(f).__name__!r}")
    known = [(name, _count(f"sizes[{name!r}]", size, 0)) for name, size in (sizes or {}).items()]
    return _members("data", data), more_data, known, None if init is None else _members("init", init)


def _members(what: str, given: Any) -> dict[str, Any]:
    """A dictionary of anything that has values by name."""
    if given is None:
        return {}
    if hasattr(given, "keys"):
        return {str(name): given[name] for name in given.keys()}
    if hasattr(given, "columns") and hasattr(given, "__getitem__"):
        # Frames of polars, tables of pyarrow.
        return {str(name): given[name] for name in getattr(given, "column_names", given.columns)}
    raise TypeError(f"{what} should be a mapping from names of parameters to values, but it is {type(given).__name__!r}")


@contextmanager
def _told_in_python() -> Iterator[None]:
    """Says options of the command as Python has them."""
    try:
        yield
    except Error as error:
        problems = tuple(p._replace(hints=tuple(map(in_python, p.hints))) for p in error.problems)
        raise Error(in_python(error.message), problems) from None


Optimum.__module__ = "lambada"
