"""What results are made of besides numbers, tuples and arrays of NumPy."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Iterator

import numpy as np


class Record(SimpleNamespace):
    """A record: its fields are attributes, and items by name; ``dict(r)`` makes a dictionary."""

    def keys(self) -> Any:
        return self.__dict__.keys()

    def values(self) -> Any:
        return self.__dict__.values()

    def items(self) -> Any:
        return self.__dict__.items()

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__)

    def __len__(self) -> int:
        return len(self.__dict__)

    def __contains__(self, name: object) -> bool:
        return name in self.__dict__

    def __getitem__(self, name: str) -> Any:
        return self.__dict__[name]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Record, dict)):
            return NotImplemented
        fields = other if isinstance(other, dict) else other.__dict__
        return self.__dict__.keys() == fields.keys() and all(same(self[k], fields[k]) for k in self)

    __hash__ = None  # type: ignore[assignment]


class Variant:
    """A value of a variant type: the name of a constructor, and what it takes.

    >>> match Variant("Circle", 2.0):
    ...     case Variant("Circle", (r,)): print(r)
    2.0
    """

    __slots__ = ("name", "fields")
    __match_args__ = ("name", "fields")

    name: str
    fields: tuple[Any, ...]

    def __init__(self, name: str, fields: Any = ()) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of a constructor should be a str, but it is {name!r}")
        self.name = name
        self.fields = tuple(fields) if isinstance(fields, (tuple, list)) else (fields,)

    def __repr__(self) -> str:
        return f"Variant({self.name!r}, {self.fields!r})" if self.fields else f"Variant({self.name!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Variant):
            return NotImplemented
        # In a loop: a list may be a million constructors deep.
        pending = [(self, other)]
        while pending:
            a, b = pending.pop()
            if a.name != b.name or len(a.fields) != len(b.fields):
                return False
            for x, y in zip(a.fields, b.fields):
                if isinstance(x, Variant) and isinstance(y, Variant):
                    pending.append((x, y))
                elif not same(x, y):
                    return False
        return True

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return Variant, (self.name, self.fields)


class Parts(dict[str, Any]):
    """Derivatives by parameter. If there is one only, it is also an array: ``np.asarray(g)``."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        if len(self) != 1:
            names = ", ".join(map(repr, self))
            raise TypeError(f"these are derivatives by {names}; take one of them, or ask for one by wrt=")
        (only,) = self.values()
        return np.array(only, dtype=dtype) if copy else np.asarray(only, dtype=dtype)

    def __getitem__(self, name: Any) -> Any:
        if isinstance(name, tuple):
            row, column = name
            return self[row][column]
        return super().__getitem__(name)


def same(a: Any, b: Any) -> bool:
    """Are two values equal, arrays by all of their elements?"""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.shape(a) == np.shape(b) and bool(np.all(np.asarray(a) == np.asarray(b)))
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return bool(a == b)


for _class in (Record, Variant, Parts):
    _class.__module__ = "lambada"
