"""Functions as operations of JAX, with all of its transformations.

>>> f = lambada.jax.function(m.loss)
>>> jax.jit(jax.grad(f))(w, x)
>>> jax.hessian(f)(w, x)
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Sequence

import jax
import jax.core
import jax.extend.core
import jax.ffi
import jax.numpy as jnp
import numpy as np
from jax.interpreters import ad, batching, mlir

from . import _lambada
from ._derived import Leaf, Operation, flat, flattened, restored
from ._model import Function
from ._sizes import Sizes
from ._values import Parts, Record, Variant

__all__ = ["function"]


def function(f: Function) -> Callable[..., Any]:
    """The function on arrays of JAX, to be transformed by ``jit``, ``grad``, ``jvp``, ``jacfwd``, ``jacrev``, ``hessian``, ``vmap``, in any order and any
    number of times.

    Parameters and results are scalars, arrays, tuples and records of any nesting; an array of records is a record of arrays. Records are
    dictionaries, data classes, named tuples or :class:`lambada.Record`, which is a pytree, as :class:`lambada.Parts` is. XLA calls the compiled
    code itself on the CPU, and through the host on other devices. Computation is with 64-bit numbers; what JAX sees of it is rounded to 32 bits
    unless ``jax_enable_x64`` is set.
    """
    return _Called(f)


class _Called:
    """A function on arrays of JAX; it pickles as the function."""

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
            leaves += [(name, leaf) for leaf in flattened(type_, value, jnp.stack, name)]
        params = self._operation.params
        arrays = [_array(value, leaf, self.function, name) for (name, value), leaf in zip(leaves, params)]
        return restored(self._result, iter(_call.bind(*arrays, op=self._operation)))

    def __repr__(self) -> str:
        return f"<lambada.jax.function {self.function!r}>"

    def __reduce__(self) -> Any:
        return function, (self.function,)


def _array(value: Any, leaf: Leaf, f: Function, name: str) -> Any:
    """The argument with the type that the operation has."""
    value = jnp.asarray(value)
    fits = {"real": jnp.number, "int": jnp.integer, "bool": jnp.bool_}[leaf.element]
    if not (jnp.issubdtype(value.dtype, fits) or (leaf.element != "bool" and value.dtype == jnp.bool_)) or jnp.iscomplexobj(value):
        raise TypeError(f"{name!r} should be {f.parameters[name]}, but it is made of {value.dtype}")
    if value.ndim != len(leaf.sizes):
        raise ValueError(f"{name!r} should be {f.parameters[name]}, but has the shape {value.shape}")
    return value.astype(_dtype(leaf.element))


def _dtype(element: str) -> Any:
    wide = jax.config.read("jax_enable_x64")
    return {
        "real": np.dtype(np.float64 if wide else np.float32),
        "int": np.dtype(np.int64 if wide else np.int32),
        "bool": np.dtype(np.bool_),
    }[element]


_call = jax.extend.core.Primitive("lambada")
_call.multiple_results = True


@functools.lru_cache(maxsize=None)
def _jitted(op: Operation) -> Any:
    return jax.jit(lambda *args: _call.bind(*args, op=op))


@_call.def_impl
def _(*args: Any, op: Operation) -> Any:
    return _jitted(op)(*args)


def _shapes(op: Operation, shapes: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    sizes = Sizes(op.function.__name__)
    for (_, written), shape in zip(op.params, shapes):
        sizes.learn(written, shape)
    return [sizes.shape(leaf.sizes) for leaf in op.results]


@_call.def_abstract_eval
def _(*args: Any, op: Operation) -> Any:
    shapes = _shapes(op, [arg.shape for arg in args])
    return [jax.core.ShapedArray(shape, _dtype(leaf.element)) for shape, leaf in zip(shapes, op.results)]


def _on_cpu(ctx: Any, *operands: Any, op: Operation) -> Any:
    op.function._register(op.key)
    return jax.ffi.ffi_lowering("lambada")(ctx, *operands, key=op.key)


def _anywhere(*args: Any, op: Operation) -> Any:
    shapes = _shapes(op, [arg.shape for arg in args])
    wanted = [jax.ShapeDtypeStruct(shape, _dtype(leaf.element)) for shape, leaf in zip(shapes, op.results)]

    def on_host(*arrays: Any) -> Any:
        return [np.asarray(found, want.dtype) for found, want in zip(op(*map(np.asarray, arrays)), wanted)]

    return jax.pure_callback(on_host, wanted, *args)


jax.ffi.register_ffi_target("lambada", _lambada.xla_handler(), platform="cpu")
mlir.register_lowering(_call, mlir.lower_fun(_anywhere, multiple_results=True))
mlir.register_lowering(_call, _on_cpu, platform="cpu")


def _jvp(primals: Any, tangents: Any, *, op: Operation) -> Any:
    values = _call.bind(*primals, op=op)
    pairs = zip(op.params, tangents)
    wrt = tuple(k for k, (leaf, t) in enumerate(pairs) if leaf.element == "real" and type(t) is not ad.Zero)
    zeros = [ad.Zero(jax.typeof(value).to_tangent_aval()) for value in values]
    if not wrt or not op.real_results:
        return values, zeros
    found = iter(_call.bind(*primals, *(tangents[k] for k in wrt), op=op.jvp(wrt)))
    return values, [next(found) if k in op.real_results else zero for k, zero in enumerate(zeros)]


def _transpose(cotangents: Any, *args: Any, op: Operation) -> Any:
    if not op.linear:
        raise NotImplementedError(f"{op.name} is not linear")
    fixed = [arg for k, arg in enumerate(args) if k not in op.linear]
    turned, sums = op.transposed()
    found = _call.bind(*fixed, *map(ad.instantiate_zeros, cotangents), op=turned)
    back = dict(zip(op.linear, (jnp.sum(x, axis=axes) if axes else x for x, axes in zip(found, sums))))
    return [back[k] if ad.is_undefined_primal(arg) else None for k, arg in enumerate(args)]


def _batch(args: Any, dims: Any, *, op: Operation) -> Any:
    which = tuple(k for k, dim in enumerate(dims) if dim is not None)
    args = [jnp.moveaxis(arg, dim, 0) if k in which else arg for k, (arg, dim) in enumerate(zip(args, dims))]
    found = _call.bind(*args, op=op.batch(which))
    return found, [0] * len(found)


ad.primitive_jvps[_call] = _jvp
ad.primitive_transposes[_call] = _transpose
batching.primitive_batchers[_call] = _batch


def _keys(names: Any) -> Any:
    return tuple(map(jax.tree_util.DictKey, names))


# The checker of types finds no one type for keys of attributes and names.
_register: Any = jax.tree_util.register_pytree_with_keys
_register(
    Record,
    lambda r: (tuple(zip(map(jax.tree_util.GetAttrKey, r), r.values())), tuple(r)),
    lambda names, values: Record(**dict(zip(names, values))),
    lambda r: (tuple(r.values()), tuple(r)),
)
_register(
    Parts,
    lambda g: (tuple(zip(_keys(g), g.values())), tuple(g)),
    lambda names, values: Parts(zip(names, values)),
    lambda g: (tuple(g.values()), tuple(g)),
)
jax.tree_util.register_pytree_node(Variant, lambda v: (v.fields, v.name), lambda name, fields: Variant(name, tuple(fields)))
