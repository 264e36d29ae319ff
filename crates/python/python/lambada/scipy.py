"""Functions as objectives of ``scipy.optimize``: of one flat vector, with gradients, Hessians, and Hessians times vectors.

>>> fun = lambada.scipy.objective(m.loss, wrt=("w", "b"), x=x, y=y)
>>> found = scipy.optimize.minimize(fun, fun.pack(w=np.zeros(3), b=0.0), jac=True)
>>> fun.unpack(found.x)["w"]
"""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from ._model import Function
from ._tree import Flat

__all__ = ["Objective", "objective"]


def objective(f: Function, wrt: Union[str, Sequence[str], None] = None, **fixed: Any) -> Objective:
    """The function of the parameters ``wrt``, as one vector, where the others are ``fixed``.

    ``wrt`` may be left out: then it is all parameters that hold reals and are not fixed. It may name fields of a record, ``"p.mu"``, which is then among
    the ``fixed``: its fields that are not named stay as they are. For ``minimize(..., jac=True)`` the objective itself is called;
    ``.fun``, ``.jac``, ``.hess`` and ``.hessp`` are there by themselves. ``-f`` is minimized by ``objective(f, sign=-1)`` if ``f`` has no parameter ``sign``.
    """
    sign = 1.0
    if "sign" in fixed and "sign" not in f.parameters:
        sign = float(fixed.pop("sign"))
    return Objective(f, wrt, fixed, sign)


class Objective:
    """A function of a flat vector; see :func:`objective`."""

    def __init__(self, f: Function, wrt: Any, fixed: Mapping[str, Any], sign: float = 1.0) -> None:
        self.function = f
        self.sign = sign
        self.flat = Flat(f, wrt, fixed)
        self.names = self.flat.names

    def pack(self, values: Optional[Mapping[str, Any]] = None, /, **more: Any) -> np.ndarray:
        """The vector for values of the parameters, whose shapes it remembers. Fields of records that are left out are as they are in the record."""
        return self.flat.learn({**(values or {}), **more})

    def unpack(self, theta: Any) -> dict[str, Any]:
        """The values of the parameters in a vector."""
        return self.flat.unpack(theta)

    def __call__(self, theta: Any) -> tuple[float, np.ndarray]:
        value, gradient = self.function.value_and_grad(wrt=self.names, **self.flat.arguments(theta))
        return self.sign * value, self.sign * self.flat.pack(gradient)

    def fun(self, theta: Any) -> float:
        """The value."""
        return self.sign * self.function(**self.flat.arguments(theta))

    def jac(self, theta: Any) -> np.ndarray:
        """The gradient."""
        return self(theta)[1]

    def hessp(self, theta: Any, direction: Any) -> np.ndarray:
        """The Hessian times a vector, at a few times the cost of the value."""
        along = self.unpack(np.asarray(direction, dtype=float))
        product = self.function.hvp(v=along, wrt=self.names, **self.flat.arguments(theta))
        return self.sign * self.flat.pack(product)

    def hess(self, theta: Any) -> np.ndarray:
        """The Hessian."""
        values = self.unpack(theta)
        blocks = self.function.hessian(wrt=self.names, **self.flat.arguments(theta))
        sizes = {name: np.size(values[name]) for name in self.names}
        rows = [
            [np.reshape(blocks[a][b], (sizes[a], sizes[b])) for b in self.names] for a in self.names
        ]
        return self.sign * np.block(rows)

    def __repr__(self) -> str:
        return f"<objective of {', '.join(self.names)}: {self.function!r}>"
