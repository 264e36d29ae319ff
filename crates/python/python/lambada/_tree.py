"""Values of several parameters as one flat vector, and back."""

from __future__ import annotations

from typing import Any, Iterator, Mapping, Sequence

import numpy as np

from ._model import Function
from ._values import Record


class Flat:
    """The real leaves of parameters of a function, in the order of the parameters, as one vector."""

    def __init__(self, f: Function, wrt: Any, fixed: Mapping[str, Any]) -> None:
        parameters = f._types()
        real = [name for name, _, is_real in f._parameters if is_real]
        for name in fixed:
            if name not in parameters:
                raise TypeError(f"{f.__name__!r} has no parameter {name!r}; its parameters are {', '.join(parameters)}")
        if wrt is None:
            names: Sequence[str] = [name for name in real if name not in fixed]
        else:
            names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
        types = {name: _type_at(parameters, name) for name in names}
        for name, type_ in types.items():
            if type_ is None:
                raise ValueError(f"wrt names {name!r}, but {f.__name__!r} has the parameters {', '.join(parameters)}")
            if not _holds_reals(type_) and name not in real:
                raise ValueError(f"wrt names {name!r}, which holds no reals")
            if name in fixed:
                raise TypeError(f"the parameter {name!r} is fixed, and wrt names it, too")
        if not names:
            raise ValueError(f"there is nothing to vary: all parameters of {f.__name__!r} that hold reals are fixed")
        missing = [name for name in parameters if name not in fixed and name not in names]
        if missing:
            raise TypeError(f"give values for the other parameters of {f.__name__!r}: {', '.join(missing)}")
        self.function = f
        self.names = tuple(names)
        self.types = types
        self.fixed = dict(fixed)
        # Fields of parameters have values in what is fixed.
        fields = {name: name.split(".") for name in names if name not in parameters}
        self.template: dict[str, Any] = {
            name: _copied(types[name], _inside(fixed[path[0]], path[1:], name), name) for name, path in fields.items()
        }

    def learn(self, values: Mapping[str, Any]) -> np.ndarray:
        """The vector for values of all parameters, whose shapes are those of vectors from now on."""
        for name in values:
            if name not in self.types:
                raise TypeError(f"{name!r} is not varied; there are values for {', '.join(self.names)}")
        known = {name: _copied(self.types[name], value, name) for name, value in values.items()}
        known = {**{name: value for name, value in self.template.items() if "." in name}, **known}
        missing = [name for name in self.names if name not in known]
        if missing:
            raise TypeError(f"give a value for {', '.join(missing)}")
        self.template = known
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
        if len(self.template) < len(self.names):
            self._guess(theta)
        wanted = sum(np.size(leaf) for name in self.names for leaf in _leaves(self.types[name], self.template[name]))
        if wanted != theta.size:
            raise ValueError(f"the vector should have {wanted} elements for {', '.join(self.names)}, but has {theta.size}")
        at = [0]
        return {name: _filled(self.types[name], self.template[name], theta, at) for name in self.names}

    def arguments(self, theta: Any) -> dict[str, Any]:
        """The arguments of the function, of which a vector has those that vary."""
        given = dict(self.fixed)
        for name, value in self.unpack(theta).items():
            first, *path = [name] if name in self.function.parameters else name.split(".")
            given[first] = _with(given[first], path, value) if path else value
        return given

    def _guess(self, theta: np.ndarray) -> None:
        """Without values, shapes are evident where there are only reals, or where one vector is all that there is besides."""
        unknown = {name: type_ for name, type_ in self.types.items() if name not in self.template}
        reals = [name for name, type_ in unknown.items() if type_ == "real"]
        vectors = [name for name, type_ in unknown.items() if type_[:2] == ("array", "real")]
        if len(reals) + len(vectors) < len(unknown) or len(vectors) > 1 or (vectors and len(unknown) > 1):
            raise ValueError(f"the shapes of {', '.join(unknown)} are not known; make the first vector by pack(...)")
        known = [leaf for name, value in self.template.items() for leaf in _leaves(self.types[name], value)]
        rest = max(theta.size - sum(map(np.size, known)), 0)
        self.template |= {**dict.fromkeys(reals, 0.0), **{name: np.zeros(rest) for name in vectors}}


def _type_at(types: Mapping[str, Any], name: str) -> Any:
    """The type of a parameter, or of a field of one; none if there is no such."""
    if name in types:
        return types[name]
    first, *path = name.split(".")
    at = types.get(first)
    for field in path:
        at = at[1].get(field) if isinstance(at, tuple) and at[0] == "record" else None
    return at


def _holds_reals(type_: Any) -> bool:
    if isinstance(type_, str):
        return type_ == "real"
    kind, inner = type_[:2]
    if kind == "array":
        return _holds_reals(inner)
    return kind != "variant" and any(map(_holds_reals, inner.values() if kind == "record" else inner))


def _inside(value: Any, path: Sequence[str], name: str) -> Any:
    for field in path:
        try:
            value = _field(value, field)
        except (KeyError, AttributeError):
            raise TypeError(f"wrt names {name!r}, but the value that is given has no field {field!r}") from None
    return value


def _with(value: Any, path: Sequence[str], inner: Any) -> Record:
    """A record with another value in the place of a field."""
    name, *rest = path
    return Record(**{**_fields(value), name: _with(_field(value, name), rest, inner) if rest else inner})


def _fields(value: Any) -> dict[str, Any]:
    """The fields of anything that is accepted for a record."""
    if hasattr(value, "keys"):
        return {name: value[name] for name in value.keys()}
    if getattr(getattr(value, "dtype", None), "names", None):
        return {name: value[name] for name in value.dtype.names}
    names = getattr(value, "_fields", None) or getattr(value, "__dataclass_fields__", None) or vars(value)
    return {name: getattr(value, name) for name in names}


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
    by_name = hasattr(value, "keys") or getattr(getattr(value, "dtype", None), "names", None)
    return value[name] if by_name else getattr(value, name)
