"""What goes wrong, as exceptions and as data."""

from __future__ import annotations

import builtins
from typing import NamedTuple, Optional


class Problem(NamedTuple):
    """A problem as data: what a person sees, for editors and other programs."""

    #: A stable code such as ``E0203``, which ``lambada explain`` explains.
    code: str
    #: What is wrong, in a line.
    title: str
    #: The file; ``None`` if the problem is in none.
    file: Optional[str] = None
    #: The line where it begins, from 1; 0 without a file.
    line: int = 0
    #: The character where it begins, from 1.
    column: int = 0
    #: The line where it ends.
    end_line: int = 0
    #: The character behind its end.
    end_column: int = 0
    #: What to do about it.
    hints: tuple[str, ...] = ()
    #: What is said at the place.
    label: str = ""
    #: ``"error"`` or ``"warning"``.
    severity: str = "error"


class _Told(Exception):
    def __init__(self, message: str = "", problems: tuple[Problem, ...] = ()) -> None:
        super().__init__(message, problems)
        self.message = message
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return self.message

    def _render_traceback_(self) -> list[str]:
        # In notebooks: what the command prints, without the frames of this package.
        return self.message.splitlines()


class Error(_Told, ValueError):
    """A program has mistakes, or what is asked of it makes no sense for it. ``str`` is what the command prints; ``problems`` has the same as data."""


class RuntimeError(_Told, builtins.RuntimeError):  # noqa: A001 - the name is the contract's
    """A program failed when it ran: an index out of range, a check, no memory."""


class Warning(UserWarning):  # noqa: A001
    """Something is not as it could be: there is no C compiler, so that programs run slowly."""


for _class in (Problem, Error, RuntimeError, Warning):
    _class.__module__ = "lambada"
