"""What goes wrong, as exceptions and as data."""

from __future__ import annotations

import builtins
import errno
import os
import re
from typing import Any, NamedTuple, Optional


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


#: Options of the command, as arguments of Python.
_WORDS = (
    (r"`lambada derive --stage (\w+)`", r'`derive(stage="\1")`'),
    (r"`lambada derive` without --stage", "`derive()` without `stage=`"),
    (r"`lambada show --stage (\w+) --of (\w+)`", r'`show("\1", of="\2")`'),
    (r"`lambada grad`", "`grad`"),
    (r"`?--stage (\w+)`?", r'`stage="\1"`'),
    (r"`?--wrt`?", "`wrt=`"),
    (r"`?--max-memory`?", "`max_memory=`"),
)


def in_python(message: str) -> str:
    """A message of the command in Python's words; lines of source stay as they are."""

    def line(text: str) -> str:
        if not re.match(r"\s*\d+ \|", text):
            for words, own in _WORDS:
                text = re.sub(words, own, text)
        return text

    return "\n".join(map(line, message.split("\n")))


class _Told(Exception):
    def __init__(self, message: str = "", problems: tuple[Problem, ...] = ()) -> None:
        message = in_python(message)
        self.message = message
        self.problems = tuple(p._replace(title=in_python(p.title), hints=tuple(map(in_python, p.hints))) for p in problems)
        super().__init__(message, self.problems)

    def __str__(self) -> str:
        return self.message

    def _render_traceback_(self) -> list[str]:
        # In notebooks: what the command prints, without the frames of this package.
        return colored(self.message).splitlines()


_BOLD, _RED, _YELLOW, _BLUE, _END = "\x1b[1m", "\x1b[1;91m", "\x1b[1;93m", "\x1b[1;94m", "\x1b[0m"


def colored(message: str) -> str:
    """A message in the colors that the command has on a terminal; notebooks and IPython show them, too."""
    if os.environ.get("NO_COLOR"):
        return message
    return "\n".join(map(_colored, message.splitlines()))


def _colored(line: str) -> str:
    title = re.match(r"(error|warning)(\[\w+\])?:", line)
    if title:
        color = _RED if title[1] == "error" else _YELLOW
        return f"{color}{title[0][:-1]}{_END}{_BOLD}:{line[title.end():]}{_END}"
    margin = re.match(r"\s*(\d+ )?\s*(-->|\.\.\.|\||=|:::)", line)
    if not margin:
        return line
    rest = line[margin.end() :]
    # Marks stand under source, in lines without a number.
    mark = None if margin[1] or margin[2] != "|" else re.match(r"\s*([|\s]*)(\^+|-+|_+)", rest)
    if mark:
        rest = (_RED if "^" in mark[0] else _BLUE) + rest + _END
    return f"{_BLUE}{margin[0]}{_END}{rest}"


class Error(_Told, ValueError):
    """A program has mistakes, or what is asked of it makes no sense for it. ``str`` is what the command prints; ``problems`` has the same as data."""


class _NoFile(Error, FileNotFoundError):
    """A program's file that is not there."""

    def __init__(self, message: str, problems: tuple[Problem, ...], filename: str) -> None:
        super().__init__(message, problems)
        self.errno, self.filename = errno.ENOENT, filename

    def __reduce__(self) -> Any:
        return _NoFile, (self.message, self.problems, self.filename)


class RuntimeError(_Told, builtins.RuntimeError):  # noqa: A001 - the name is the contract's
    """A program failed when it ran: an index out of range, a check, no memory."""


class Warning(UserWarning):  # noqa: A001
    """Something is not as it could be: there is no C compiler, so that programs run slowly."""


class SamplingWarning(Warning):
    """Draws or an optimum that should not be trusted as they are: chains that diverge or differ, a search that did not converge, an interruption."""


for _class in (Problem, Error, RuntimeError, Warning, SamplingWarning):
    _class.__module__ = "lambada"
