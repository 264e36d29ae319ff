"""Source text that notebooks show with colors."""

from __future__ import annotations

import html
import re

_KEYWORDS = (
    "def rec let in if then else match for loop do while with type import accumulate checkpoint true false not and"
).split()

_TOKEN = re.compile(
    r"(?P<comment>--[^\n]*)"
    r"|(?P<string>\"[^\"\n]*\")"
    r"|(?P<number>\b\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?\b)"
    rf"|(?P<keyword>\b(?:{'|'.join(_KEYWORDS)})\b)"
    r"|(?P<type>\b(?:real|int|bool)\b|\b[A-Z]\w*\b)"
    r"|(?P<name>\b\w+\b)"
)

_COLORS = {
    "comment": "#6a737d",
    "string": "#22863a",
    "number": "#005cc5",
    "keyword": "#d73a49",
    "type": "#6f42c1",
}


def highlighted(text: str) -> str:
    """The text as HTML, with colors."""
    out, at = [], 0
    for token in _TOKEN.finditer(text):
        out.append(html.escape(text[at : token.start()]))
        color = _COLORS.get(token.lastgroup or "")
        word = html.escape(token.group())
        out.append(f'<span style="color:{color}">{word}</span>' if color else word)
        at = token.end()
    out.append(html.escape(text[at:]))
    return '<pre style="line-height:1.3">' + "".join(out) + "</pre>"


class Source(str):
    """A text of the compiler: a derivative, or an intermediate form."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return highlighted(self)

    def _repr_markdown_(self) -> str:
        return f"```lambada\n{self}\n```"

    def _repr_pretty_(self, printer: object, cycle: bool) -> None:
        printer.text(str(self))  # type: ignore[attr-defined]


class Verification:
    """What comparing derivatives with others has found: a table, and what is wrong."""

    def __init__(self, table: str, wrong: list[str]) -> None:
        self.table = table
        #: What is wrong, a line each; empty if all is right.
        self.wrong = wrong

    def __bool__(self) -> bool:
        return not self.wrong

    def __repr__(self) -> str:
        return "\n".join([self.table.rstrip(), *self.wrong])

    def _repr_html_(self) -> str:
        head, *rows = (re.split(r"\s{2,}", line) for line in self.table.rstrip().splitlines())
        notes = [row[0] for row in rows if len(row) == 1] + self.wrong
        line = lambda tag, cells: "<tr>" + "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells) + "</tr>"
        body = "".join(line("td", row) for row in rows if len(row) > 1)
        return f"<table>{line('th', head)}{body}</table>" + "".join(f"<p>{html.escape(n)}</p>" for n in notes)
