"""Programs and their functions."""

from __future__ import annotations

import collections
import contextvars
import difflib
import inspect
import keyword
import os
import threading
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Optional, Sequence, TypedDict, TypeVar, Union

if TYPE_CHECKING:
    from typing_extensions import Unpack
else:
    # From Python 3.11 on; before, hints at run time say less.
    from typing import Optional as Unpack

    try:
        from typing import Unpack
    except ImportError:
        pass

from . import _lambada
from ._errors import Error, _NoFile
from ._source import Source, Verification, highlighted

Wrt = Union[str, Sequence[str], None]
Tell = Callable[[str, Any], object]
R = TypeVar("R")

_options: contextvars.ContextVar[Optional[dict[str, Any]]] = contextvars.ContextVar(
    "lambada_options", default=None
)
_usual: dict[str, Any] = {}


class Options(TypedDict, total=False):
    """The options of a program; see :class:`options`."""

    engine: str
    cache: Optional[Union[str, os.PathLike[str]]]
    max_memory: Union[int, str, None]
    trap_nan: bool
    checks: bool
    nests: bool
    threads: Optional[int]
    precision: str
    flush_subnormals: bool


class options:
    """Options of programs that are loaded from now on, or inside of a ``with`` block.

    ``engine``: ``"native"``, by the C compiler, ``"jit"``, without it, or ``"interpreter"``; unless given, calls run without the C compiler until its code is there; ``cache``: the folder where compiled units are kept; ``max_memory``: bytes that arrays may take, or a size
    such as ``"4GB"``; ``trap_nan``: fail at the first operation that makes a NaN; ``checks``: check the compiler after every pass; ``nests``: run
    arithmetic over arrays as nests with lanes; ``threads``: on how many threads a call may run, which no result depends on; ``precision``: ``"f64"``, or
    ``"f32"`` for programs all of whose reals have 32 bits; then arrays that they give are of ``float32``; ``flush_subnormals``: arithmetic may take
    subnormal numbers for zeros, which is faster where there are any.
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        given: dict[str, Any] = dict(options)
        if given.get("cache") is not None:
            given["cache"] = os.fspath(given["cache"])
        _lambada.check_options(given)
        self._given = given
        self._usual = dict(_usual)
        self._token: Any = None
        _usual.update(given)

    def __enter__(self) -> options:
        # What holds for a block holds for its thread only.
        _usual.clear()
        _usual.update(self._usual)
        self._token = _options.set({**(_options.get() or {}), **self._given})
        return self

    def __exit__(self, *_: object) -> None:
        _options.reset(self._token)


def current_options() -> dict[str, Any]:
    """The options that a program would be loaded with now."""
    return {**_usual, **(_options.get() or {})}


class Model:
    """A checked program: its definitions are its attributes, and items by name.

    It is made by :func:`load` and :func:`compile`, may be used from many threads, and pickles as its source.
    """

    def __init__(self, native: Any, given: Mapping[str, Any]) -> None:
        self._native = native
        self._options = dict(given)
        self._defined = {name: (scheme, doc) for name, scheme, doc, _ in native._definitions}
        self._functions: dict[str, Function] = {}

    @property
    def source(self) -> Source:
        """The text of the program's own file."""
        return Source(self._native.source)

    @property
    def problems(self) -> tuple[Any, ...]:
        """What is doubtful but not wrong, as data."""
        return self._native.problems

    @property
    def definitions(self) -> dict[str, str]:
        """The type of each definition."""
        return {name: scheme for name, (scheme, _) in self._defined.items()}

    def __getitem__(self, name: str) -> Function:
        found = self._functions.get(name)
        if found is None:
            if name not in self._defined:
                raise KeyError(self._unknown(name))
            found = self._functions.setdefault(name, Function(self, name))
        return found

    def __getattr__(self, name: str) -> Function:
        if name.startswith("__") or "_defined" not in self.__dict__:
            raise AttributeError(name)
        if name not in self._defined:
            raise AttributeError(self._unknown(name), name=name, obj=self)
        return self[name]

    def _unknown(self, name: str) -> str:
        near = difflib.get_close_matches(name, self._defined, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"it defines {', '.join(self._defined) or 'nothing'}"
        return f"the program {self._native.name!r} has no definition {name!r}; {hint}"

    def __contains__(self, name: object) -> bool:
        return name in self._defined

    def __iter__(self) -> Iterator[str]:
        return iter(self._defined)

    def __len__(self) -> int:
        return len(self._defined)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._defined})

    def __repr__(self) -> str:
        return f"<lambada.Model {self._native.name!r}: {', '.join(self._defined)}>"

    def _repr_html_(self) -> str:
        return highlighted(self.source)

    def __reduce__(self) -> Any:
        name, is_file, texts = self._native._texts()
        return _again, ((name, is_file, tuple(texts)), str(self.source), tuple(sorted(self._options.items())))


class Function(_lambada.Function[R]):
    """A definition of a program, to be called and differentiated; see :class:`Model`.

    Arguments are passed by position or by name: numbers, nested lists, arrays of NumPy, anything with ``__array__`` or ``__dlpack__``; dictionaries,
    dataclasses and named tuples for records; :class:`Variant` for variants. Arrays that are dense, row-major and of 64-bit elements are not copied.
    ``wrt`` names parameters to differentiate by: one for its derivative alone, several for a dictionary, none for all that hold reals.

    For checkers of types, ``f: lambada.Function[float] = m.f`` says the type of results.
    """

    _model: Model
    __signature__: inspect.Signature

    def __new__(cls, model: Model, name: str, tell: Optional[Tell] = None) -> Function[Any]:  # type: ignore[misc]
        made: Any = super().__new__(cls, model._native, name, tell)
        made._model = model
        # A class of its own has the doc comment and the signature where `help` looks for them, beside the methods.
        own = {"__doc__": made._doc, "__signature__": made._signature(), "__module__": "lambada"}
        made.__class__ = type(made.__name__, (cls,), own)
        return made

    def __init__(self, model: Model, name: str, tell: Optional[Tell] = None) -> None:
        pass

    def inspecting(self, tell: Tell) -> Function[R]:
        """The same function, which calls ``tell(name, value)`` for each value that the program inspects, in the order of evaluation, in derivatives too;
        the name is empty where ``inspect`` is given none. What ``tell`` raises is reported and does not end the call. It pickles without ``tell``.
        Long work can show how far it is in this way: ``f.inspecting(lambda name, value: bar.update())``."""
        if not callable(tell):
            raise TypeError(f"what is told of values should be callable, but it is {tell!r}")
        return Function(self._model, self.__name__, tell)

    @property
    def model(self) -> Model:
        """The program that it is of."""
        return self._model

    def _signature(self) -> inspect.Signature:
        by_name: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
        made: list[inspect.Parameter] = []
        for k, (name, type_, _) in reversed(list(enumerate(self._parameters))):
            if not name.isidentifier() or keyword.iskeyword(name):
                # A pattern is passed by position only, and so is all in front of it.
                name, by_name = f"argument_{k + 1}", inspect.Parameter.POSITIONAL_ONLY
            made.append(inspect.Parameter(name, by_name, annotation=type_))
        result: Any = inspect.Signature.empty if self._result is None else self._result
        return inspect.Signature(made[::-1], return_annotation=result)

    @property
    def parameters(self) -> dict[str, str]:
        """The type of each parameter."""
        return {name: type_ for name, type_, _ in self._parameters}

    @property
    def result(self) -> Optional[str]:
        """The type of the result."""
        return self._result

    def vmap(self, over: Wrt = None) -> Function:
        """The function for many values of the parameters ``over`` at once, or of all. These, and the results, have one more axis, the first; inside of
        tuples and records each part has it. It is a definition like every other: the compiler fuses its calls, and it has derivatives."""
        from ._derived import vmap

        return vmap(self, over)

    def columns(self, *args: Any, **kwargs: Any) -> Any:
        """The result, with records in arrays as records of arrays: ``{"x": xs, "y": ys}`` instead of a list of records, in arguments too. Nothing is
        made for each row."""
        from ._derived import columns

        return columns(self, args, kwargs)

    def gradient(self, wrt: Wrt = None) -> Function:
        """The gradient as a function of the same parameters, a definition like every other: ``f.gradient("w").vmap("x")`` has a gradient for each ``x``.
        Its result is as that of :meth:`grad`."""
        from ._derived import gradient

        return gradient(self, wrt)

    def sparse_jacobian(self, *args: Any, wrt: Wrt = None, **kwargs: Any) -> Any:
        """The Jacobian of a function from a vector to a vector, as a ``scipy.sparse.coo_array``."""
        return self._matrix(False, wrt, args, kwargs)

    def sparse_hessian(self, *args: Any, wrt: Wrt = None, **kwargs: Any) -> Any:
        """The Hessian of a function from a vector to a real, as a ``scipy.sparse.coo_array``."""
        return self._matrix(True, wrt, args, kwargs)

    def _matrix(self, hessian: bool, wrt: Wrt, args: Any, kwargs: Any) -> Any:
        try:
            from scipy.sparse import coo_array
        except ImportError as error:
            raise ImportError("sparse matrices are SciPy's: pip install scipy") from error
        shape, rows, cols, values = self._sparse(hessian, wrt, args, kwargs)
        return coo_array((values, (rows, cols)), shape=shape)

    def derive(self, mode: str = "reverse", wrt: Wrt = None, stage: str = "simplified") -> Source:
        """Its derivative as source text; ``mode`` is ``"reverse"`` or ``"forward"``, and ``stage`` one of the paper's: ``"combinators"``, ``"linear"``,
        ``"applied"``, ``"shared"``, or ``"simplified"``."""
        return Source(self._derive(mode, wrt, stage).rstrip("\n"))

    def show(self, stage: str = "surface", of: str = "value", wrt: Wrt = None) -> Source:
        """It, or what is derived of it, in one form of the compiler: ``"surface"``, ``"core"``, ``"anf"``, ``"schedule"``, ``"loops"``, ``"c"``."""
        return Source(self._show(stage, of, wrt).rstrip("\n"))

    def verify(self, *args: Any, **kwargs: Any) -> Verification:
        """Compares its derivatives with others that share nothing with them: at the arguments, or at points drawn at random if there are none."""
        return Verification(*self._verify(args, kwargs))

    def __repr__(self) -> str:
        return f"<lambada.Function {self._declaration()}>"

    def __reduce__(self) -> Any:
        return _function_again, (self._model, self.__name__)


def load(path: Union[str, os.PathLike[str]], **options: Unpack[Options]) -> Model:
    """Reads and checks a file and all that it imports; keywords are as those of :class:`options`. Functions are compiled when they are called first."""
    given = {**current_options(), **options}
    path = os.fspath(path)
    try:
        return Model(_lambada.Model._load(path, given), given)
    except Error as error:
        if os.path.exists(path):
            raise
        raise _NoFile(error.message, error.problems, path) from None


def compile(  # noqa: A001 - the name is the contract's
    source: str, *, name: str = "<string>", imports: Optional[Mapping[str, str]] = None, **options: Unpack[Options]
) -> Model:
    """Checks a program that is a text; ``name`` is what messages call it, ``imports`` has texts by the names that it imports them under."""
    given = {**current_options(), **options}
    if not isinstance(source, str):
        raise TypeError(f"the source should be a str, but it is {source!r}; lambada.load reads files")
    return Model(_lambada.Model._compile(source, name, list((imports or {}).items()), given), given)


#: Programs that have been unpickled, so that a worker compiles each once.
_known: collections.OrderedDict[Any, Model] = collections.OrderedDict()
_lock = threading.Lock()


def _again(texts: Any, source: str, given: tuple[tuple[str, Any], ...]) -> Model:
    key = (texts, source, given)
    with _lock:
        if key not in _known:
            name, is_file, files = texts
            made = _lambada.Model._again((name, is_file, list(files)), source, dict(given))
            _known[key] = Model(made, dict(given))
            if len(_known) > 64:
                _known.popitem(last=False)
        _known.move_to_end(key)
        return _known[key]


def _function_again(model: Model, name: str) -> Function:
    return model[name]


def _pullback_again(f: Function, point: tuple[Any, ...], wrt: Wrt) -> Any:
    return f.vjp(*point, wrt=wrt)[1]


for _class in (Model, Function, options):
    _class.__module__ = "lambada"
