"""Sizes of results from those of arguments."""

from __future__ import annotations

import ast
import operator
from typing import Sequence

_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.floordiv, ast.FloorDiv: operator.floordiv}


class Sizes:
    """Sizes by name, as the shapes of arguments have them."""

    def __init__(self, function: str) -> None:
        self.function = function
        self.known: dict[str, int] = {}

    def learn(self, written: Sequence[str], shape: Sequence[int]) -> None:
        """Notes the shape of an array whose sizes are written so; the call itself reports sizes that differ."""
        for size, found in zip(written, shape):
            self.known.setdefault(size, found)

    def shape(self, written: Sequence[str]) -> tuple[int, ...]:
        """The shape of a result."""
        return tuple(map(self._size, written))

    def _size(self, text: str) -> int:
        if text in self.known:
            return self.known[text]
        try:
            # A name may end in primes, which no name of Python does.
            return self._value(ast.parse(text.replace("'", "ʹ"), mode="eval").body)
        except (ValueError, SyntaxError):
            written = f"[{text}]" if text else "which is not written"
            raise TypeError(
                f"the size of the result of {self.function!r}, {written}, should be one that the sizes of the arguments determine"
            ) from None

    def _value(self, node: ast.expr) -> int:
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.Name) and (name := node.id.replace("ʹ", "'")) in self.known:
            return self.known[name]
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](self._value(node.left), self._value(node.right))
        raise ValueError
