"""The extension module; the package's classes are made of these."""

import os
from typing import Any, Callable, Generic, Mapping, Optional, Sequence, TypeVar, Union, overload

import numpy as np

from ._values import Parts

Wrt = Union[str, Sequence[str], None]
Several = Union[list[str], tuple[str, ...], None]

#: The type of results; not known unless the user writes it: ``f: Function[float] = m.f``.
R = TypeVar("R")
#: A dictionary of arrays.
D = TypeVar("D", bound=dict[str, Any])

VERSION: str

def command(words: list[str], /) -> int:
    """Runs a command line, and returns its exit code."""


def release() -> None:
    """Gives the memory that functions keep from call to call back to the system: of arrays, and of arguments that are converted. Calls that run
    keep theirs. Results are the caller's, and are not concerned."""

def xla_handler() -> object:
    """A capsule with the handler that XLA calls."""

def check_options(given: dict[str, Any], /) -> None: ...

class Model:
    source: str
    name: str
    problems: tuple[Any, ...]
    _definitions: list[tuple[str, str, Optional[str], bool]]
    @staticmethod
    def _load(path: Union[str, os.PathLike[str]], options: dict[str, Any], /) -> Model: ...
    @staticmethod
    def _compile(
        source: str, name: str, imports: list[tuple[str, str]], options: dict[str, Any], /
    ) -> Model: ...
    @staticmethod
    def _again(
        texts: tuple[str, bool, list[tuple[str, str]]], source: str, options: dict[str, Any], /
    ) -> Model: ...
    def _texts(self) -> tuple[str, bool, list[tuple[str, str]]]: ...

class Pullback:
    """From cotangents of a result to those of parameters, at the arguments of a call; may be called any number of times."""

    def __call__(self, cotangent: Any, /) -> Any: ...

class Draws:
    _counts: tuple[int, int]
    _attributes: list[tuple[str, str]]
    @staticmethod
    def _of(variables: list[tuple[str, np.ndarray]], /) -> Draws: ...
    @staticmethod
    def _read(path: str, /) -> Draws: ...
    @staticmethod
    def _again(contents: bytes, /) -> Draws: ...
    def _save(self, path: str, /) -> None: ...
    def _bytes(self) -> bytes: ...
    def _group(self, group: str, /) -> dict[str, np.ndarray]: ...
    def _text(self, all: bool, /) -> str: ...
    def _json(self) -> str: ...
    def _warnings(self) -> list[tuple[str, str, str, list[str]]]: ...
    def _with_results(self, results: Draws, /) -> Draws: ...

Request = tuple[dict[str, Any], dict[str, Any], list[tuple[str, int]], Optional[dict[str, Any]]]
Tell = Optional[Callable[[list[int], int], object]]

def sample(f: Function[Any], request: Request, how: Mapping[str, Any], doubt: Callable[[list[Any]], None], tell: Tell, /) -> Draws: ...
def minimize(
    f: Function[Any], request: Request, maximize: bool, errors: bool, tries: int, seed: int, /
) -> tuple[dict[str, Any], Optional[dict[str, Any]], float, float, bool, list[float]]: ...
def predict(f: Function[Any], draws: Draws, request: Request, seed: int, threads: Optional[int], /) -> Draws: ...

class Function(Generic[R]):
    __name__: str
    _doc: Optional[str]
    _parameters: list[tuple[str, str, bool]]
    _result: Optional[str]
    def __new__(cls, model: Model, name: str, tell: Optional[Callable[[str, Any], object]] = None, /) -> Function[Any]: ...
    @property
    def engine(self) -> str:
        """What runs it: ``"native"``, ``"jit"`` or ``"interpreter"``. It is compiled first."""

    def prepare(self) -> None:
        """Compiles it, unless it has been."""

    def __call__(self, *args: Any, out: Any = None, **kwargs: Any) -> R:
        """The result: numbers, new arrays, tuples, :class:`Record`, :class:`Variant`; or ``out``, an array or a tuple of arrays that it is written into,
        with new arrays where it has ``None``."""

    # The derivative by one parameter has the parameter's type, which a checker does not know.
    @overload
    def value_and_grad(self, *args: Any, wrt: str, out: Any = None, **kwargs: Any) -> tuple[float, Any]: ...
    @overload
    def value_and_grad(self, *args: Any, wrt: Several = None, out: None = None, **kwargs: Any) -> tuple[float, Parts]:
        """The value and the gradient of a function whose result is a real."""

    @overload
    def value_and_grad(self, *args: Any, wrt: Several = None, out: D, **kwargs: Any) -> tuple[float, D]: ...
    @overload
    def grad(self, *args: Any, wrt: str, out: Any = None, **kwargs: Any) -> Any: ...
    @overload
    def grad(self, *args: Any, wrt: Several = None, out: None = None, **kwargs: Any) -> Parts:
        """The gradient of a function whose result is a real."""

    @overload
    def grad(self, *args: Any, wrt: Several = None, out: D, **kwargs: Any) -> D: ...
    def jvp(self, *args: Any, tangents: Any, **kwargs: Any) -> tuple[R, R]:
        """The value, and its tangent along tangents of the parameters; those that are missing are zero."""

    def vjp(self, *args: Any, wrt: Wrt = None, **kwargs: Any) -> tuple[R, Pullback]:
        """The value, and the pullback from cotangents of it to those of the parameters."""

    @overload
    def jacobian(self, *args: Any, wrt: str, **kwargs: Any) -> Any: ...
    @overload
    def jacobian(self, *args: Any, wrt: Several = None, **kwargs: Any) -> Parts:
        """The Jacobian: the axes of the result, then those of the parameter."""

    @overload
    def hessian(self, *args: Any, wrt: str, **kwargs: Any) -> Any: ...
    @overload
    def hessian(self, *args: Any, wrt: Several = None, **kwargs: Any) -> Parts:
        """The Hessian, by pairs of parameters: ``h["a"]["b"]``, ``h["a", "b"]``."""

    @overload
    def hvp(self, *args: Any, v: Any, wrt: str, **kwargs: Any) -> Any: ...
    @overload
    def hvp(self, *args: Any, v: Any, wrt: Several = None, **kwargs: Any) -> Parts:
        """The Hessian times a tangent, at a few times the cost of the value."""

    def _types(self) -> dict[str, Any]: ...
    def _result_type(self) -> Any: ...
    def _register(self, key: str, /) -> None: ...
    def _sizes(self) -> tuple[list[Optional[list[str]]], Optional[list[str]]]: ...
    def _declaration(self) -> str: ...
    def _derive(self, mode: str, wrt: Wrt, stage: str, /) -> str: ...
    def _show(self, stage: str, of: str, wrt: Wrt, /) -> str: ...
    def _verify(self, args: tuple[Any, ...], kwargs: dict[str, Any], /) -> tuple[str, list[str]]: ...
    def _sparse(
        self, hessian: bool, wrt: Wrt, args: tuple[Any, ...], kwargs: dict[str, Any], /
    ) -> tuple[tuple[int, int], np.ndarray, np.ndarray, np.ndarray]: ...
