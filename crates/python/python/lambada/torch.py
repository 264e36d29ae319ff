"""Functions as operations of PyTorch, with derivatives.

>>> f = lambada.torch.function(m.loss)
>>> f(w, x=x).backward()
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import torch

from ._model import Function

__all__ = ["function"]


def function(f: Function) -> Callable[..., Any]:
    """The function on tensors: its result is a tensor, or a tuple of tensors, that can be differentiated by those among the arguments that require it.

    Computation is on the CPU with 64-bit numbers; results are of the arguments' type, and go back to their device. A function whose result is a real may be
    differentiated twice.
    """
    types = f._types()
    names = list(types)
    real = {name for name, _, is_real in f._parameters if is_real}
    for name in real:
        if not _is_plain(types[name]):
            raise TypeError(f"the parameter {name!r} is {f.parameters[name]}; tensors can only be given for reals and arrays of reals")
    result = f._result
    scalar = result == "real"

    def call(*args: Any, **kwargs: Any) -> Any:
        given = dict(zip(names, args))
        if len(args) > len(names):
            raise TypeError(f"{f.__name__!r} takes {len(names)} arguments, but {len(args)} were given")
        for name, value in kwargs.items():
            if name in given:
                raise TypeError(f"{f.__name__!r} is given its parameter {name!r} twice")
            given[name] = value
        tensors = {n: v for n, v in given.items() if isinstance(v, torch.Tensor) and v.is_floating_point() and n in real}
        fixed = {n: _array(v) if isinstance(v, torch.Tensor) else v for n, v in given.items() if n not in tensors}
        return _Value.apply(f, scalar, tuple(tensors), fixed, *tensors.values())

    call.__name__ = f.__name__
    call.__doc__ = f.__doc__
    call.__signature__ = f.__signature__  # type: ignore[attr-defined]
    return call


def _array(tensor: torch.Tensor) -> Any:
    """The tensor where it is, if it lies on the CPU."""
    return tensor.detach().cpu().numpy()


def _point(names: tuple[str, ...], fixed: dict[str, Any], tensors: Any) -> dict[str, Any]:
    return {**fixed, **{name: _array(tensor) for name, tensor in zip(names, tensors)}}


def _like(value: Any, tensors: Any) -> Any:
    """The result as tensors of the arguments' type, where they are."""
    if isinstance(value, tuple):
        return tuple(_like(item, tensors) for item in value)
    kinds = [tensor.dtype for tensor in tensors] or [torch.float64]
    kind = kinds[0]
    for other in kinds[1:]:
        kind = torch.promote_types(kind, other)
    made = torch.as_tensor(np.asarray(value))
    made = made.to(kind) if made.is_floating_point() else made
    return made.to(tensors[0].device) if tensors else made


class _Value(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, f: Function, scalar: bool, names: Any, fixed: Any, *tensors: Any) -> Any:
        ctx.f, ctx.scalar, ctx.names, ctx.fixed = f, scalar, names, fixed
        ctx.save_for_backward(*tensors)
        return _like(f(**_point(names, fixed, tensors)), tensors)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        tensors = ctx.saved_tensors
        wanted = tuple(n for n, needed in zip(ctx.names, ctx.needs_input_grad[4:]) if needed)
        if ctx.scalar:
            parts = _Gradient.apply(ctx.f, ctx.names, wanted, ctx.fixed, cotangents[0], *tensors)
        else:
            parts = _Pullback.apply(ctx.f, ctx.names, wanted, ctx.fixed, len(cotangents), *cotangents, *tensors)
        found = dict(zip(wanted, parts))
        return (None, None, None, None, *(found.get(name) for name in ctx.names))


class _Gradient(torch.autograd.Function):
    """A cotangent times the gradient: linear in the cotangent, and with the Hessian as its derivative."""

    @staticmethod
    def forward(ctx: Any, f: Function, names: Any, wanted: Any, fixed: Any, cotangent: Any, *tensors: Any) -> Any:
        ctx.f, ctx.names, ctx.wanted, ctx.fixed = f, names, wanted, fixed
        gradient = f.grad(wrt=wanted, **_point(names, fixed, tensors))
        by_name = dict(zip(names, tensors))
        parts = tuple(_like(gradient[name], [by_name[name]]) for name in wanted)
        ctx.save_for_backward(cotangent, *tensors, *parts)
        return tuple(cotangent * part for part in parts)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *directions: Any) -> Any:
        cotangent, *rest = ctx.saved_tensors
        tensors, parts = rest[: len(ctx.names)], rest[len(ctx.names) :]
        by_cotangent = sum((d * p).sum() for d, p in zip(directions, parts))
        along = {name: _array(d) for name, d in zip(ctx.wanted, directions)}
        v = {name: along.get(name, np.zeros(t.shape)) for name, t in zip(ctx.names, tensors)}
        product = ctx.f.hvp(v=v, wrt=ctx.names, **_point(ctx.names, ctx.fixed, tensors))
        second = [cotangent * _like(product[name], [t]) for name, t in zip(ctx.names, tensors)]
        return (None, None, None, None, by_cotangent, *second)


class _Pullback(torch.autograd.Function):
    """Cotangents of parameters for cotangents of results that are no single real."""

    @staticmethod
    def forward(ctx: Any, f: Function, names: Any, wanted: Any, fixed: Any, count: int, *given: Any) -> Any:
        cotangents, tensors = given[:count], given[count:]
        _, pullback = f.vjp(wrt=wanted, **_point(names, fixed, tensors))
        arrays = tuple(_array(c) for c in cotangents)
        gradient = pullback(arrays[0] if count == 1 else arrays)
        by_name = dict(zip(names, tensors))
        return tuple(_like(gradient[name], [by_name[name]]) for name in wanted)

    @staticmethod
    def backward(ctx: Any, *directions: Any) -> Any:
        raise NotImplementedError("only a function whose result is a real can be differentiated twice in PyTorch")


def _is_plain(type_: Any) -> bool:
    return isinstance(type_, str) or (type_[0] == "array" and _is_plain(type_[1]))
