"""Draws as ArviZ has them, in its versions before and from 1.0 on."""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np

from ._draws import Draws, of_arrays


def arviz() -> Any:
    """The package."""
    try:
        import arviz
    except ImportError as error:
        told = "an InferenceData is made by ArviZ: pip install arviz; lambada.draws needs NumPy only"
        raise ImportError(told) from error
    return arviz


def made(groups: Mapping[str, Mapping[str, np.ndarray]], attributes: Mapping[str, str]) -> Any:
    """ArviZ's data with those groups that are not empty."""
    given = {name: dict(arrays) for name, arrays in groups.items() if arrays}
    return _from_dict(given, attributes)


def _from_dict(given: dict[str, dict[str, np.ndarray]], attributes: Mapping[str, str]) -> Any:
    az = arviz()
    if hasattr(az, "InferenceData"):
        # Before 1.0.
        attrs = {"posterior_attrs": dict(attributes)} if "posterior" in given else {}
        return az.from_dict(**given, **attrs)
    return az.from_dict(given, attrs={"posterior": dict(attributes)} if "posterior" in given else None)


def is_inference_data(draws: Any) -> bool:
    """Whether it is ArviZ's data: both of its classes have groups."""
    return not isinstance(draws, Draws) and hasattr(draws, "groups") and hasattr(draws, "posterior")


def posterior(data: Any) -> Draws:
    """The posterior of ArviZ's data."""
    variables = data.posterior.data_vars
    return of_arrays([(str(name), x.transpose("chain", "draw", ...).values) for name, x in variables.items()])


def extend(data: Any, group: str, arrays: Mapping[str, np.ndarray]) -> None:
    """Adds variables to a group of ArviZ's data, in the place of those of the same names."""
    coords = {axis: data.posterior[axis] for axis in ("chain", "draw")}
    # `from_dict` takes the names of ArviZ's own groups only.
    usual = "posterior_predictive"
    new = _dataset(_from_dict({usual: dict(arrays)}, {}), usual).assign_coords(coords)
    # A method before 1.0, paths from then on.
    groups = data.groups() if callable(data.groups) else [path.strip("/") for path in data.groups]
    if group in groups:
        old = _dataset(data, group)
        kept = old.drop_vars([name for name in new.data_vars if name in old.data_vars])
        new = kept.merge(new)
    az = arviz()
    if hasattr(az, "InferenceData"):
        data.extend(az.InferenceData(**{group: new}), join="right")
    else:
        import xarray

        data[group] = xarray.DataTree(new)


def _dataset(data: Any, group: str) -> Any:
    found = data[group]
    return found.to_dataset() if hasattr(found, "to_dataset") and hasattr(found, "children") else found
