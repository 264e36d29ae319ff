"""Functions as operations of PyTorch, with derivatives.

>>> f = lambada.torch.function(m.loss)
>>> f(w, x=x).backward()
>>> torch.func.hessian(f)(w, x)
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import torch
import torch.utils._pytree

from ._derived import Leaf, Operation, flat, flattened, restored
from ._model import Function
from ._values import Parts, Record, Variant

__all__ = ["function"]


def function(f: Function) -> Callable[..., Any]:
    """The function on tensors, to be differentiated by those among the arguments that require it, any number of times, in both modes, and by the
    transformations of ``torch.func``: ``grad``, ``jvp``, ``jacfwd``, ``jacrev``, ``hessian``, ``vmap``.

    Parameters and results are scalars, arrays, tuples and records of any nesting; an array of records is a record of tensors. Records are
    dictionaries, data classes, named tuples or :class:`lambada.Record`, which is a pytree, as :class:`lambada.Parts` is. Computation is on the CPU
    with 64-bit numbers; results are of the arguments' type, and go back to their device.
    """
    return _Called(f)


class _Called:
    """A function on tensors; it pickles as the function."""

    def __init__(self, f: Function) -> None:
        self.function = f
        self.__name__ = self.__qualname__ = f.__name__
        self.__doc__ = f.__doc__
        self.__signature__ = f.__signature__
        self._operation = flat(f)
        self._types = f._types()
        self._result = f._result_type()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = self.__signature__.bind(*args, **kwargs).arguments.values()
        leaves: list[Any] = []
        for (name, type_), value in zip(self._types.items(), given):
            leaves += [(name, leaf) for leaf in flattened(type_, value, _stacked, name)]
        tensors = [self._tensor(value, leaf, name) for (name, value), leaf in zip(leaves, self._operation.params)]
        given_types = [t for (_, value), t in zip(leaves, tensors) if isinstance(value, torch.Tensor) and t.is_floating_point()]
        kind = _common([t.dtype for t in given_types])
        device = next((value.device for _, value in leaves if isinstance(value, torch.Tensor)), None)
        found = (t.to(device=device, dtype=kind if t.is_floating_point() else None) for t in _run(self._operation, tensors))
        return restored(self._result, found)

    def _tensor(self, value: Any, leaf: Leaf, name: str) -> Any:
        tensor = value if isinstance(value, torch.Tensor) else torch.as_tensor(np.asarray(value))
        kind = "bool" if tensor.dtype == torch.bool else "real" if tensor.is_floating_point() else "int"
        fits = {"real": ("real", "int", "bool"), "int": ("int", "bool"), "bool": ("bool",)}[leaf.element]
        if tensor.is_complex() or kind not in fits:
            raise TypeError(f"{name!r} should be {self.function.parameters[name]}, but it is made of {tensor.dtype}")
        if tensor.ndim != len(leaf.sizes):
            raise ValueError(f"{name!r} should be {self.function.parameters[name]}, but has the shape {tuple(tensor.shape)}")
        return tensor

    def __repr__(self) -> str:
        return f"<lambada.torch.function {self.function!r}>"

    def __reduce__(self) -> Any:
        return function, (self.function,)


def _stacked(rows: list[Any]) -> Any:
    return torch.stack([row if isinstance(row, torch.Tensor) else torch.as_tensor(row) for row in rows])


def _common(kinds: list[Any]) -> Any:
    if not kinds:
        return torch.float64
    kind = kinds[0]
    for other in kinds[1:]:
        kind = torch.promote_types(kind, other)
    return kind


_ELEMENTS = {"real": torch.float64, "int": torch.int64, "bool": torch.bool}


def _run(op: Operation, tensors: Any) -> tuple[Any, ...]:
    wide = (t.to(device="cpu", dtype=_ELEMENTS[leaf.element]) for t, leaf in zip(tensors, op.params))
    found = _Operation.apply(op, *wide)
    return found if isinstance(found, tuple) else (found,)


class _Operation(torch.autograd.Function):
    """An operation on tensors of the CPU that have its types. Its derivatives are operations, too."""

    @staticmethod
    def forward(op: Operation, *tensors: Any) -> Any:
        found = op(*(t.detach().numpy() for t in tensors))
        made = tuple(torch.as_tensor(np.asarray(value)) for value in found)
        return made if op.is_tuple else made[0]

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        op, *tensors = inputs
        ctx.op = op
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        results = output if isinstance(output, tuple) else (output,)
        ctx.mark_non_differentiable(*(value for value, leaf in zip(results, op.results) if leaf.element != "real"))
        ctx.set_materialize_grads(False)
        ctx.likes = tuple((value.shape) for value in results)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        op = ctx.op
        wrt = tuple(k for k, leaf in enumerate(op.params) if leaf.element == "real" and ctx.needs_input_grad[1 + k])
        if not wrt or all(cotangents[k] is None for k in op.real_results):
            return (None,) * (1 + len(op.params))
        given = [_or_zero(cotangents[k], ctx.likes[k]) for k in op.real_results]
        found = dict(zip(wrt, _run(op.vjp(wrt), (*ctx.saved_tensors, *given))))
        return (None, *(found.get(k) for k in range(len(op.params))))

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> Any:
        op = ctx.op
        wrt = tuple(k for k, leaf in enumerate(op.params) if leaf.element == "real" and tangents[k] is not None)
        found: Any = iter(())
        if wrt and op.real_results:
            found = iter(_run(op.jvp(wrt), (*ctx.saved_tensors, *(tangents[k] for k in wrt))))
        made = tuple(next(found, None) if k in op.real_results else None for k in range(len(op.results)))
        return made if op.is_tuple else made[0]

    @staticmethod
    def vmap(info: Any, dims: Any, op: Operation, *tensors: Any) -> Any:
        which = tuple(k for k, dim in enumerate(dims[1:]) if dim is not None)
        moved = [t.movedim(dim, 0) if k in which else t for k, (t, dim) in enumerate(zip(tensors, dims[1:]))]
        found = _run(op.batch(which), moved)
        return (found, (0,) * len(found)) if op.is_tuple else (found[0], 0)


def _or_zero(tensor: Any, shape: Any) -> Any:
    return torch.zeros(shape, dtype=torch.float64) if tensor is None else tensor


for _class, _flatten, _unflatten in (
    (Record, lambda r: (list(r.values()), tuple(r)), lambda values, names: Record(**dict(zip(names, values)))),
    (Parts, lambda g: (list(g.values()), tuple(g)), lambda values, names: Parts(zip(names, values))),
    (Variant, lambda v: (list(v.fields), v.name), lambda fields, name: Variant(name, tuple(fields))),
):
    torch.utils._pytree.register_pytree_node(_class, _flatten, _unflatten, serialized_type_name=f"lambada.{_class.__name__}")
