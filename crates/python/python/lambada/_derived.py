"""Definitions that call others, as text behind a program: of scalars and arrays alone, of derivatives, of batches.

The compiler differentiates and batches such definitions like every other, so adapters have derivatives of all orders. Names that are made here end in more primes than any name of the program, so they are nobody's.
"""

from __future__ import annotations

import functools
import re
from typing import Any, Callable, Iterator, NamedTuple, Optional, Sequence

import numpy as np

from ._model import Function, Model, _again
from ._tree import _field, _is_plain
from ._values import Record


class Leaf(NamedTuple):
    """A scalar or an array of scalars."""

    element: str
    #: As written: ``n``, ``2 * n``.
    sizes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "".join(f"[{size}]" for size in self.sizes) + self.element


def extended(model: Model, text: str) -> Model:
    """The program with more definitions."""
    name, is_file, files = model._native._texts()
    source = f"{model.source}\n{text}"
    files = tuple((path, source if path == name else old) for path, old in files)
    return _again((name, is_file, files), source, tuple(sorted(model._options.items())))


def primes(model: Model) -> str:
    """An ending of names that no name of the program has."""
    return "'" * (1 + max(map(len, re.findall(r"(?<=\w)'+", model.source)), default=0))


# Types as trees, as `Function._types` gives them: leaves, expressions, values.


def leaves_of(type_: Any, sizes: tuple[str, ...] = ()) -> Iterator[Leaf]:
    """The scalars and arrays of scalars that a value of the type is made of."""
    if isinstance(type_, str):
        yield Leaf(type_, sizes)
    elif type_[0] == "array":
        yield from leaves_of(type_[1], (*sizes, type_[2]))
    elif type_[0] == "variant":
        raise TypeError(f"values of the type {type_[1]} are not made of arrays")
    else:
        for inner in type_[1].values() if type_[0] == "record" else type_[1]:
            yield from leaves_of(inner, sizes)


def built(type_: Any, names: Iterator[str], depth: int = 0) -> str:
    """The expression that makes a value of the type from its leaves."""
    if _is_plain(type_):
        return next(names)
    if type_[0] == "tuple":
        return f"({', '.join(built(inner, names, depth) for inner in type_[1])})"
    if type_[0] == "record":
        return "{" + ", ".join(f"{name} = {built(inner, names, depth)}" for name, inner in type_[1].items()) + "}"
    count = len(list(leaves_of(type_[1])))
    own = [next(names) for _ in range(count)]
    index = f"i{depth}'"
    inner = built(type_[1], iter([f"{name}[{index}]" for name in own]), depth + 1)
    return f"(for {index} < {type_[2] or f'length {own[0]}'} => {inner})"


def taken(type_: Any, value: str, depth: int = 0) -> Iterator[str]:
    """Expressions for the leaves of a value, which is a name or its components."""
    if _is_plain(type_):
        yield value
    elif type_[0] == "tuple":
        for k, inner in enumerate(type_[1]):
            yield from taken(inner, f"{value}.{k}", depth)
    elif type_[0] == "record":
        for name, inner in type_[1].items():
            yield from taken(inner, f"{value}.{name}", depth)
    else:
        item = f"q{depth}'"
        yield from (f"(for {item} in {value} => {leaf})" for leaf in taken(type_[1], item, depth + 1))


def flattened(type_: Any, value: Any, stack: Callable[[list[Any]], Any], place: str) -> list[Any]:
    """The leaves of a value. Records in arrays are columns, or rows, which are stacked."""
    if _is_plain(type_):
        return [value]
    if type_[0] == "record":
        try:
            fields = [(name, inner, _field(value, name)) for name, inner in type_[1].items()]
        except (KeyError, AttributeError, TypeError):
            raise TypeError(f"{place!r} should be a record of {', '.join(type_[1])}, but it is a {type(value).__name__}") from None
        return [leaf for name, inner, item in fields for leaf in flattened(inner, item, stack, f"{place}.{name}")]
    if type_[0] == "tuple":
        if not isinstance(value, (tuple, list)) or len(value) != len(type_[1]):
            raise TypeError(f"{place!r} should be a tuple of {len(type_[1])}, but it is a {type(value).__name__}")
        items = enumerate(zip(type_[1], value))
        return [leaf for k, (inner, item) in items for leaf in flattened(inner, item, stack, f"{place}[{k}]")]
    if not isinstance(value, list):
        return flattened(type_[1], value, stack, place)
    rows = [flattened(type_[1], item, stack, f"{place}[{k}]") for k, item in enumerate(value)]
    if not rows:
        return [np.zeros((0,) * (1 + len(leaf.sizes))) for leaf in leaves_of(type_[1])]
    return [stack(list(column)) for column in zip(*rows)]


def restored(type_: Any, leaves: Iterator[Any]) -> Any:
    """The value that has these leaves; of an array of records, the columns."""
    if _is_plain(type_):
        return next(leaves)
    if type_[0] == "record":
        return Record(**{name: restored(inner, leaves) for name, inner in type_[1].items()})
    if type_[0] == "tuple":
        return tuple(restored(inner, leaves) for inner in type_[1])
    return restored(type_[1], leaves)


class Operation:
    """A definition from scalars and arrays of scalars to a tuple of such, or to one."""

    def __init__(self, model: Model, text: str, name: str, params: Sequence[Leaf], depth: int = 0) -> None:
        self.model = model
        self.text = text
        self.name = name
        self.params = tuple(params)
        #: Number of batches around batches.
        self.depth = depth
        self.parameters = tuple(f"a{k}{self.mark}" for k in range(len(self.params)))
        #: The parameters that it is linear in, and the operation that is its transpose in them, if there are any; made when it is wanted.
        self.linear: tuple[int, ...] = ()
        self._transpose: Optional[Callable[[], tuple[Operation, tuple[tuple[int, ...], ...]]]] = None
        self._made: dict[Any, Operation] = {}

    @functools.cached_property
    def mark(self) -> str:
        return primes(self.model)

    @functools.cached_property
    def function(self) -> Function:
        return extended(self.model, self.text)[self.name]

    @functools.cached_property
    def results(self) -> tuple[Leaf, ...]:
        return tuple(leaves_of(self.function._result_type()))

    @property
    def is_tuple(self) -> bool:
        return len(self.results) != 1

    @functools.cached_property
    def real_results(self) -> tuple[int, ...]:
        return tuple(k for k, leaf in enumerate(self.results) if leaf.element == "real")

    @functools.cached_property
    def key(self) -> str:
        """What names it in programs of XLA, which may outlive this process: all that it depends on."""
        import hashlib

        texts = repr((self.function.model._native._texts(), str(self.function.model.source), self.function.model._options, self.name))
        return hashlib.sha256(texts.encode()).hexdigest()

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        found = self.function(*arrays)
        return found if self.is_tuple else (found,)

    def __repr__(self) -> str:
        return f"<operation {self.function!r}>"

    def __reduce__(self) -> Any:
        return _operation_again, (self.model, self.text, self.name, self.params, self.depth)

    def once(self, kind: str, which: tuple[int, ...], make: Callable[[], Operation]) -> Operation:
        if (kind, which) not in self._made:
            self._made.setdefault((kind, which), make())
        return self._made[kind, which]

    def _derived(self, kind: str, which: tuple[int, ...], extra: Sequence[Leaf], body: str, depth: int = 0) -> Operation:
        name = f"{self.name.rstrip(chr(39))}_{kind}{''.join(f'_{k}' for k in which)}{self.mark}"
        params = (*self.params, *extra)
        made = Operation(self.model, "", name, params, depth or self.depth)
        made.text = f"{self.text}{definition(name, zip(made.parameters, params), body)}"
        return made

    def _of_reals(self) -> str:
        """The real results of a call with its parameters."""
        call = " ".join((self.name, *self.parameters))
        if len(self.real_results) == len(self.results):
            return call
        whole = f"r{self.mark}"
        return f"(let {whole} = {call} in {tupled([f'{whole}.{k}' for k in self.real_results])})"

    def jvp(self, wrt: tuple[int, ...]) -> Operation:
        """From a point and tangents of some parameters to tangents of the real results."""

        def make() -> Operation:
            tangents = [f"a{len(self.params) + k}{self.mark}" for k in range(len(wrt))]
            point = tupled([self.parameters[k] for k in wrt])
            body = f"(jvp (\\{point} -> {self._of_reals()}) {point} {tupled(tangents)}).1"
            made = self._derived("jvp", wrt, [self.params[k] for k in wrt], body)
            made.linear = tuple(range(len(self.params), len(made.params)))
            made._transpose = lambda: (self.vjp(wrt), ((),) * len(wrt))
            return made

        return self.once("jvp", wrt, make)

    def vjp(self, wrt: tuple[int, ...]) -> Operation:
        """From a point and cotangents of the real results to those of some parameters."""

        def make() -> Operation:
            extra = [self.results[k] for k in self.real_results]
            # A size that depends on values has no name of its own.
            extra = [Leaf(e, tuple(s or f"s{k}_{j}{self.mark}" for j, s in enumerate(sizes))) for k, (e, sizes) in enumerate(extra)]
            cotangents = [f"a{len(self.params) + k}{self.mark}" for k in range(len(extra))]
            point = tupled([self.parameters[k] for k in wrt])
            body = f"(vjp (\\{point} -> {self._of_reals()}) {point}).1 {tupled(cotangents)}"
            made = self._derived("vjp", wrt, extra, body)
            made.linear = tuple(range(len(self.params), len(made.params)))
            made._transpose = lambda: (self.jvp(wrt), ((),) * len(extra))
            return made

        return self.once("vjp", wrt, make)

    def batch(self, which: tuple[int, ...]) -> Operation:
        """Many calls at once: these parameters and all results have one more axis, the first."""

        def make() -> Operation:
            size, index, all_, item = (f"{letter}{self.mark}" for letter in (f"b{self.depth}", "i", "r", "q"))
            call = " ".join([self.name, *(f"{p}[{index}]" if k in which else p for k, p in enumerate(self.parameters))])
            calls = f"for {index} < {size} => {call}"
            if self.is_tuple:
                columns = [f"for {item} in {all_} => {item}.{k}" for k in range(len(self.results))]
                calls = f"let {all_} = {calls} in ({', '.join(columns)})"
            made = self._derived("batch", which, (), calls, self.depth + 1)
            made.params = tuple(Leaf(e, (size, *s)) if k in which else Leaf(e, s) for k, (e, s) in enumerate(self.params))
            made.text = f"{self.text}{definition(made.name, zip(made.parameters, made.params), calls)}"
            made.linear = self.linear
            made._transpose = lambda: self._batch_transposed(which)
            return made

        return self.once("batch", which, make)

    def _batch_transposed(self, which: tuple[int, ...]) -> tuple[Operation, tuple[tuple[int, ...], ...]]:
        inner, sums = self.transposed()
        fixed = [k for k in range(len(self.params)) if k not in self.linear]
        places = tuple(at for at, k in enumerate(fixed) if k in which)
        batched = (*places, *range(len(fixed), len(inner.params)))
        # What all calls share has the sum of their contributions.
        own = (() if k in which else (0,) for k in self.linear)
        return inner.batch(batched), tuple((*o, *(axis + 1 for axis in s)) for o, s in zip(own, sums))

    def transposed(self) -> tuple[Operation, tuple[tuple[int, ...], ...]]:
        """The transpose in the parameters that it is linear in: from the others and cotangents of the results to cotangents of these, and the axes
        of each over which they remain to be summed."""
        assert self._transpose is not None
        return self._transpose()


def _operation_again(model: Model, text: str, name: str, params: Any, depth: int) -> Operation:
    return Operation(model, text, name, params, depth)


def tupled(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"({', '.join(items)})"


def definition(name: str, parameters: Any, body: str) -> str:
    return f"def {name}{''.join(f' ({p} : {type_})' for p, type_ in parameters)} = {body}\n"


def flat(f: Function) -> Operation:
    """The function from the leaves of its parameters to those of its result."""
    known = f.__dict__.get("_flat")
    if known is None:
        known = f.__dict__["_flat"] = _flat(f)
    return known


def _flat(f: Function) -> Operation:
    params: list[Leaf] = []
    mark = primes(f.model)
    arguments = []
    for name, type_ in f._types().items():
        try:
            own = list(leaves_of(type_))
        except TypeError as error:
            raise TypeError(f"the parameter {name!r} is {f.parameters[name]}; {error}") from None
        first = len(params)
        params += [Leaf(e, tuple(size or f"s{first + k}_{j}{mark}" for j, size in enumerate(sizes))) for k, (e, sizes) in enumerate(own)]
        arguments.append(built(type_, iter([f"a{first + k}{mark}" for k in range(len(own))])))
    result = f._result_type()
    if result is None:
        raise TypeError(f"the result of {f.__name__!r} is not known; its signature should say it")
    try:
        count = len(list(leaves_of(result)))
    except TypeError as error:
        raise TypeError(f"the result of {f.__name__!r} is {f.result}; {error}") from None
    if count == 0:
        raise TypeError(f"the result of {f.__name__!r} is {f.result}, which holds nothing")
    whole = f"r{mark}"
    body = f"let {whole} = {' '.join([f.__name__, *arguments])} in {tupled(list(taken(result, whole)))}"
    name = f"{f.__name__.rstrip(chr(39))}_flat{mark}"
    made = Operation(f.model, "", name, params)
    made.text = definition(name, zip(made.parameters, params), body)
    return made


# Functions for users: of the parameters of another, with its names.


def written(type_: Any) -> str:
    """The type as text."""
    if isinstance(type_, str):
        return type_
    if type_[0] == "array":
        return f"[{type_[2]}]{written(type_[1])}"
    if type_[0] == "tuple":
        return f"({', '.join(map(written, type_[1]))})"
    if type_[0] == "record":
        return "{" + ", ".join(f"{name} : {written(inner)}" for name, inner in type_[1].items()) + "}"
    return str(type_[1])


def _inside(type_: Any, make: Callable[[Any, str], str], value: str, between: str = " = ") -> str:
    """The tuple or record with what is made of each part that is neither."""
    if not isinstance(type_, str) and type_[0] == "tuple":
        return f"({', '.join(_inside(t, make, value and f'{value}.{k}', between) for k, t in enumerate(type_[1]))})"
    if not isinstance(type_, str) and type_[0] == "record":
        fields = (f"{n}{between}{_inside(t, make, value and f'{value}.{n}', between)}" for n, t in type_[1].items())
        return "{" + ", ".join(fields) + "}"
    return make(type_, value)


def _named(f: Function) -> dict[str, Any]:
    """The types of the parameters, by names that definitions can have."""
    types = f._types()
    for name in types:
        if not re.fullmatch(r"[A-Za-z_]\w*'*", name):
            raise TypeError(f"the parameter {name!r} of {f.__name__!r} is a pattern; give it a name first")
    return types


def _free(name: str, used: Any) -> str:
    while name in used:
        name += "'"
    return name


def _chosen(f: Function, names: Any, what: str, possible: Sequence[str]) -> tuple[str, ...]:
    names = tuple(possible) if names is None else (names,) if isinstance(names, str) else tuple(names)
    for name in names:
        if name not in possible:
            raise ValueError(f"{what} names {name!r}, but it should be among {', '.join(possible) or 'no parameters'}")
    if not names:
        raise ValueError(f"{what} names no parameter of {f.__name__!r}")
    return names


def vmap(f: Function, over: Any) -> Function:
    """The function for many values of some of its parameters at once."""
    types = _named(f)
    over = _chosen(f, over, "over", list(types))
    if f._result_type() is None:
        raise TypeError(f"the result of {f.__name__!r} is not known; its signature should say it")
    mark = primes(f.model)
    used = {*types, *f.model, *re.findall(r"\w+'*", " ".join(map(written, types.values())))}
    size = _free("batch", used)
    index, all_, item = (f"{letter}{mark}" for letter in "irq")

    def column(type_: Any, value: str) -> str:
        return f"(for {item} in {all_} => {item}{value})"

    params, arguments = [], []
    for name, type_ in types.items():
        if name in over:
            params.append((name, _inside(type_, lambda t, _: f"[{size}]{written(t)}", "", " : ")))
            arguments.append(_inside(type_, lambda _, value: f"{value}[{index}]", name))
        else:
            params.append((name, written(type_)))
            arguments.append(name)
    calls = f"for {index} < {size} => {' '.join([f.__name__, *arguments])}"
    result = f._result_type()
    # Paths begin with a point, because the item stands before them.
    body = f"let {all_} = {calls} in {_columns(result, column, '')}"
    name = _free(f"{f.__name__}_vmap", f.model)
    doc = f"--| `{f.__name__}` for each of many values of {', '.join(f'`{n}`' for n in over)}.\n"
    return extended(f.model, doc + definition(name, params, body))[name]


def columns(f: Function, args: Any, kwargs: Any) -> Any:
    """A call with records in arrays as records of arrays."""
    operation = flat(f)
    given = f.__signature__.bind(*args, **kwargs).arguments.values()
    leaves = [leaf for (name, type_), value in zip(f._types().items(), given) for leaf in flattened(type_, value, np.stack, name)]
    return restored(f._result_type(), iter(operation(*leaves)))


def _columns(type_: Any, make: Callable[[Any, str], str], path: str) -> str:
    if not isinstance(type_, str) and type_[0] == "tuple":
        return f"({', '.join(_columns(t, make, f'{path}.{k}') for k, t in enumerate(type_[1]))})"
    if not isinstance(type_, str) and type_[0] == "record":
        return "{" + ", ".join(f"{n} = {_columns(t, make, f'{path}.{n}')}" for n, t in type_[1].items()) + "}"
    return make(type_, path)


def gradient(f: Function, wrt: Any) -> Function:
    """The function from its parameters to the gradient."""
    types = _named(f)
    real = [name for name, _, is_real in f._parameters if is_real]
    alone = isinstance(wrt, str)
    wrt = _chosen(f, wrt, "wrt", real)
    if f._result != "real":
        raise TypeError(f"{f.__name__!r} has no gradient, because its result is {f._result or 'not known'}")
    mark = primes(f.model)
    point = tupled(wrt)
    body = f"grad (\\{point} -> {' '.join([f.__name__, *types])}) {point}"
    if not alone:
        whole = f"r{mark}"
        parts = [whole] if len(wrt) == 1 else [f"{whole}.{k}" for k in range(len(wrt))]
        body = f"let {whole} = {body} in {{{', '.join(f'{n} = {part}' for n, part in zip(wrt, parts))}}}"
    name = _free(f"{f.__name__}_grad", f.model)
    doc = f"--| The gradient of `{f.__name__}` by {', '.join(f'`{n}`' for n in wrt)}.\n"
    return extended(f.model, doc + definition(name, [(n, written(t)) for n, t in types.items()], body))[name]
