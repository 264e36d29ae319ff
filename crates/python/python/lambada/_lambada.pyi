"""The extension module; the package's classes are made of these."""

import os
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np

from ._values import Parts

Wrt = Union[str, Sequence[str], None]

VERSION: str

def command(words: list[str], /) -> int:
    """Runs a command line, and returns its exit code."""


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

def sample(f: Function, request: Request, how: Mapping[str, Any], doubt: Callable[[list[Any]], None], tell: Tell, /) -> Draws: ...
def minimize(
    f: Function, request: Request, maximize: bool, errors: bool, tries: int, seed: int, /
) -> tuple[dict[str, Any], Optional[dict[str, Any]], float, float, bool, list[float]]: ...
def predict(f: Function, draws: Draws, request: Request, seed: int, threads: Optional[int], /) -> Draws: ...

class Function:
    __name__: str
    _doc: Optional[str]
    _parameters: list[tuple[str, str, bool]]
    _result: Optional[str]
    def __new__(cls, model: Model, name: str, tell: Optional[Callable[[str, Any], object]] = None, /) -> Function: ...
    @property
    def engine(self) -> str:
        """What runs it: ``"native"``, ``"jit"`` or ``"interpreter"``. It is compiled first."""

    def prepare(self) -> None:
        """Compiles it, unless it has been."""

    def __call__(self, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        """The result: numbers, new arrays, tuples, :class:`Record`, :class:`Variant`; or ``out``, an array or a tuple of arrays that it is written into."""

    def value_and_grad(
        self, *args: Any, wrt: Wrt = None, out: Any = None, **kwargs: Any
    ) -> tuple[float, Any]:
        """The value and the gradient of a function whose result is a real."""

    def grad(self, *args: Any, wrt: Wrt = None, out: Any = None, **kwargs: Any) -> Any:
        """The gradient of a function whose result is a real."""

    def jvp(self, *args: Any, tangents: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The value, and its tangent along tangents of the parameters; those that are missing are zero."""

    def vjp(self, *args: Any, wrt: Wrt = None, **kwargs: Any) -> tuple[Any, Pullback]:
        """The value, and the pullback from cotangents of it to those of the parameters."""

    def jacobian(self, *args: Any, wrt: Wrt = None, **kwargs: Any) -> Any:
        """The Jacobian: the axes of the result, then those of the parameter."""

    def hessian(self, *args: Any, wrt: Wrt = None, **kwargs: Any) -> Any:
        """The Hessian, by pairs of parameters: ``h["a"]["b"]``, ``h["a", "b"]``."""

    def hvp(self, *args: Any, v: Any, wrt: Wrt = None, **kwargs: Any) -> Any:
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
