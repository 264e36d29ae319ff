"""Values of several parameters as one flat vector, and back."""

from __future__ import annotations

from typing import Any, Iterator, Mapping, Sequence

import numpy as np

from ._model import Function
from ._values import Record


class Flat:
    """The real leaves of parameters of a function, in the order of the parameters, as one vector."""

    def __init__(self, f: Function, wrt: Any, fixed: Mapping[str, Any]) -> None:
        types = f._types()
        real = [name for name, _, is_real in f._parameters if is_real]
        for name in fixed:
            if name not in types:
                raise TypeError(f"{f.__name__!r} has no parameter {name!r}; its parameters are {', '.join(types)}")
        if wrt is None:
            names: Sequence[str] = [name for name in real if name not in fixed]
        else:
            names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
        for name in names:
            if name not in types:
                raise ValueError(f"wrt names {name!r}, but {f.__name__!r} has the parameters {', '.join(types)}")
            if name not in real:
                raise ValueError(f"wrt names {name!r}, which holds no reals")
            if name in fixed:
                raise TypeError(f"the parameter {name!r} is fixed, and wrt names it, too")
        if not names:
            raise ValueError(f"there is nothing to vary: all parameters of {f.__name__!r} that hold reals are fixed")
        missing = [name for name in types if name not in fixed and name not in names]
        if missing:
            raise TypeError(f"give values for the other parameters of {f.__name__!r}: {', '.join(missing)}")
        self.function = f
        self.names = tuple(names)
        self.types = {name: types[name] for name in self.names}
        self.template: dict[str, Any] = {}

    def learn(self, values: Mapping[str, Any]) -> np.ndarray:
        """The vector for values of all parameters, whose shapes are those of vectors from now on."""
        for name in values:
            if name not in self.types:
                raise TypeError(f"{name!r} is not varied; there are values for {', '.join(self.names)}")
        missing = [name for name in self.names if name not in values]
        if missing:
            raise TypeError(f"give a value for {', '.join(missing)}")
        self.template = {name: _copied(self.types[name], values[name], name) for name in self.names}
        return self.pack(self.template)

    def pack(self, values: Mapping[str, Any]) -> np.ndarray:
        """The vector for values whose shapes are known."""
        leaves = [leaf for name in self.names for leaf in _leaves(self.types[name], values[name])]
        return np.concatenate([np.ravel(leaf) for leaf in leaves]) if leaves else np.zeros(0)

    def unpack(self, theta: Any) -> dict[str, Any]:
        """The values in a vector."""
        theta = np.ascontiguousarray(theta, dtype=float)
        if theta.ndim != 1:
            raise ValueError(f"the parameters should be one vector, but have the shape {theta.shape}")
        if not self.template:
            self._guess(theta)
        wanted = sum(np.size(leaf) for name in self.names for leaf in _leaves(self.types[name], self.template[name]))
        if wanted != theta.size:
            raise ValueError(f"the vector should have {wanted} elements for {', '.join(self.names)}, but has {theta.size}")
        at = [0]
        return {name: _filled(self.types[name], self.template[name], theta, at) for name in self.names}

    def _guess(self, theta: np.ndarray) -> None:
        """Without values, shapes are evident where there are only reals, or where one vector is all that there is."""
        types = list(self.types.values())
        if all(type_ == "real" for type_ in types):
            self.template = dict.fromkeys(self.names, 0.0)
        elif len(types) == 1 and types[0] == ("array", "real"):
            self.template = {self.names[0]: np.zeros(theta.size)}
        else:
            raise ValueError(f"the shapes of {', '.join(self.names)} are not known; make the first vector by pack(...)")


def _leaves(type_: Any, value: Any) -> Iterator[Any]:
    """The reals in a value."""
    if _is_plain(type_):
        if _element(type_) == "real":
            yield value
    elif type_[0] == "tuple":
        for inner, item in zip(type_[1], value):
            yield from _leaves(inner, item)
    elif type_[0] == "record":
        for name, inner in type_[1].items():
            yield from _leaves(inner, _field(value, name))
    else:
        for item in value:
            yield from _leaves(type_[1], item)


def _copied(type_: Any, value: Any, place: str) -> Any:
    """A value of its own, with arrays as arrays."""
    if _is_plain(type_):
        if type_ == "real":
            return float(value)
        return np.array(value, dtype=float) if _element(type_) == "real" else value
    if type_[0] == "tuple":
        return tuple(_copied(inner, item, place) for inner, item in zip(type_[1], value))
    if type_[0] == "record":
        return Record(**{n: _copied(inner, _field(value, n), f"{place}.{n}") for n, inner in type_[1].items()})
    if type_[0] == "array":
        return [_copied(type_[1], item, place) for item in value]
    raise TypeError(f"{place!r} is of the variant type {type_[1]!r}, which is no flat vector of reals")


def _filled(type_: Any, template: Any, theta: np.ndarray, at: list[int]) -> Any:
    """The value of the shape of the template with the next elements of the vector."""
    if _is_plain(type_):
        if _element(type_) != "real":
            return template
        size, start = np.size(template), at[0]
        at[0] += size
        return float(theta[start]) if type_ == "real" else theta[start : start + size].reshape(np.shape(template))
    if type_[0] == "tuple":
        return tuple(_filled(inner, item, theta, at) for inner, item in zip(type_[1], template))
    if type_[0] == "record":
        return Record(**{n: _filled(inner, template[n], theta, at) for n, inner in type_[1].items()})
    return [_filled(type_[1], item, theta, at) for item in template]


def _is_plain(type_: Any) -> bool:
    return isinstance(type_, str) or (type_[0] == "array" and _is_plain(type_[1]))


def _element(type_: Any) -> str:
    return type_ if isinstance(type_, str) else _element(type_[1])


def _field(value: Any, name: str) -> Any:
    return value[name] if hasattr(value, "keys") else getattr(value, name)
