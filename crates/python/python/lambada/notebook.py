"""``%%lambada`` in notebooks.

``%load_ext lambada``, then ``%%lambada NAME`` at the top of a cell binds its program to the name; without a name, its definitions are bound by theirs. Cells import
each other by name, and an error ends the run of the notebook.
"""

from __future__ import annotations

import ast
import sys
from typing import Any

from ._errors import colored
from ._model import compile

__all__ = ["load"]


def load(shell: Any) -> None:
    """Makes the magic known to a shell of IPython."""
    #: The texts of cells by name, which later cells may import.
    cells: dict[str, str] = {}

    def cell(line: str, text: str) -> Any:
        """%%lambada [NAME] [OPTION=VALUE…]: a program, bound to the name, or its definitions, bound to theirs. ``import "NAME"`` in it imports the
        cell of that name. Options are those of ``lambada.options``."""
        name, given = _words(line)
        imports = {other: source for other, source in cells.items() if other != name}
        # An error ends the run of a notebook, which shows it as the command prints it.
        model = compile(text, name=name or "<cell>", imports=imports, **given)
        for problem in model.problems:
            told = f"{problem.severity}[{problem.code}]: {problem.title} (line {problem.line})"
            print(colored(told), file=sys.stderr)
        if name:
            cells[name] = text
            shell.user_ns[name] = model
        else:
            shell.user_ns.update({definition: model[definition] for definition in model})
        return None

    shell.register_magic_function(cell, magic_kind="cell", magic_name="lambada")
    _highlight(shell)


def _words(line: str) -> tuple[str, dict[str, Any]]:
    """The name and the options of a line."""
    from IPython.core.error import UsageError

    name, given = "", {}
    for word in line.split():
        option, is_option, value = word.partition("=")
        if is_option and option.isidentifier():
            try:
                given[option] = ast.literal_eval(value)
            except (ValueError, SyntaxError):
                given[option] = value
        elif word.isidentifier() and not name:
            name = word
        else:
            raise UsageError(f"%%lambada takes the name to bind and options such as threads=2, which {word!r} is not")
    return name, given


_MODE = """
(function () {
  if (typeof window === "undefined" || !window.IPython || !window.IPython.CodeCell) return;
  window.IPython.CodeCell.options_default.highlight_modes["magic_haskell"] = {reg: ["^%%lambada"]};
})();
"""


def _highlight(shell: Any) -> None:
    """Classic notebooks, before Notebook 7, color such cells as Haskell, which is near enough.

    JupyterLab 4 and Notebook 7 have an extension for it, which is installed with the package; what is displayed here does nothing there.
    """
    if not hasattr(shell, "kernel"):
        return
    from IPython.display import Javascript, display

    display(Javascript(_MODE))
