"""Functions as operations of JAX, with reverse derivatives; they run on the host, inside of ``jit`` too.

>>> f = lambada.jax.function(m.loss)
>>> jax.jit(jax.grad(f))(w, x)
"""

from __future__ import annotations

import ast
import operator
from typing import Any, Callable, Mapping

import jax
import jax.numpy as jnp
import numpy as np

from ._model import Function

__all__ = ["function"]


def function(f: Function) -> Callable[..., Any]:
    """The function on arrays of JAX, to be transformed by ``jit``, ``grad``, ``vjp`` and ``vmap``.

    Computation is with 64-bit numbers; what JAX sees of it is rounded to 32 bits unless ``jax_enable_x64`` is set. Parameters are scalars and arrays.
    """
    types = f._types()
    names = list(types)
    for name, type_ in types.items():
        if not _is_plain(type_):
            raise TypeError(f"the parameter {name!r} is {f.parameters[name]}; arrays of JAX can only be given for scalars and arrays")
    real = tuple(name for name, _, is_real in f._parameters if is_real)
    parameter_sizes, result_sizes = f._sizes()
    if result_sizes is None:
        raise TypeError(f"the result of {f.__name__!r} is {f.result or 'not written'}; it should be a scalar or an array, and its signature say so")
    element = f.result.rsplit("]", 1)[-1]  # type: ignore[union-attr]

    def result_type(*args: Any) -> Any:
        sizes: dict[str, int] = {}
        for name, arg, written in zip(names, args, parameter_sizes):
            shape = jnp.shape(arg)
            assert written is not None  # all are plain
            if len(shape) != len(written):
                raise ValueError(f"{name!r} should be {f.parameters[name]!r}, but has the shape {shape}")
            sizes.update((size, n) for size, n in zip(written, shape) if size.isidentifier())
        shape = tuple(_size(f, size, sizes) for size in result_sizes)
        return jax.ShapeDtypeStruct(shape, _dtype(element))

    def on_host(*args: Any) -> Any:
        result = f(*map(np.asarray, args))
        return np.asarray(result, dtype=_dtype(element))

    def back_on_host(cotangent: Any, *args: Any) -> Any:
        _, pullback = f.vjp(*map(np.asarray, args), wrt=real)
        gradient = pullback(np.asarray(cotangent))
        return tuple(np.asarray(gradient[n], dtype=jnp.result_type(a)) for n, a in zip(names, args) if n in real)

    @jax.custom_vjp
    def call(*args: Any) -> Any:
        return jax.pure_callback(on_host, result_type(*args), *args, vmap_method="sequential")

    def forward(*args: Any) -> Any:
        return call(*args), args

    def backward(args: Any, cotangent: Any) -> Any:
        wanted = tuple(jax.ShapeDtypeStruct(jnp.shape(a), jnp.result_type(a)) for n, a in zip(names, args) if n in real)
        found = jax.pure_callback(back_on_host, wanted, cotangent, *args, vmap_method="sequential")
        by_name = dict(zip([n for n in names if n in real], found))
        none = lambda a: np.zeros(jnp.shape(a), dtype=jax.dtypes.float0)
        return tuple(by_name[n] if n in real else none(a) for n, a in zip(names, args))

    call.defvjp(forward, backward)

    def bound(*args: Any, **kwargs: Any) -> Any:
        given = f.__signature__.bind(*args, **kwargs).arguments.values()
        arrays = []
        for name, value in zip(names, given):
            value = jnp.asarray(value)
            # A real may be written as an integer.
            whole = name in real and not jnp.issubdtype(value.dtype, jnp.floating)
            arrays.append(value.astype(_dtype("real")) if whole else value)
        return call(*arrays)

    bound.__name__ = f.__name__
    bound.__doc__ = f.__doc__
    bound.__signature__ = f.__signature__  # type: ignore[attr-defined]
    return bound


def _dtype(element: str) -> Any:
    wide = jax.config.read("jax_enable_x64")
    return {
        "real": np.float64 if wide else np.float32,
        "int": np.int64 if wide else np.int32,
        "bool": np.bool_,
    }[element]


_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.floordiv}


def _size(f: Function, text: str, sizes: Mapping[str, int]) -> int:
    """A size of the result, from those of the arguments."""

    def value(node: ast.expr) -> int:
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.Name) and node.id in sizes:
            return sizes[node.id]
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](value(node.left), value(node.right))
        raise ValueError

    try:
        return value(ast.parse(text, mode="eval").body)
    except (ValueError, SyntaxError):
        written = f"[{text}]" if text else "which is not written"
        raise TypeError(f"JAX must know the size of the result of {f.__name__!r}, {written}, from those of the arguments") from None


def _is_plain(type_: Any) -> bool:
    return isinstance(type_, str) or (type_[0] == "array" and _is_plain(type_[1]))
