"""``%%lambada`` in notebooks.

``%load_ext lambada``, then ``%%lambada NAME`` at the top of a cell binds its program to the name; without a name, its definitions are bound by theirs.
"""

from __future__ import annotations

import sys
from typing import Any

from ._errors import Error, colored
from ._model import compile

__all__ = ["load"]


def load(shell: Any) -> None:
    """Makes the magic known to a shell of IPython."""

    def cell(line: str, text: str) -> Any:
        """%%lambada [NAME]: a program, bound to the name, or its definitions, bound to theirs."""
        name = line.strip()
        if name and not name.isidentifier():
            print(f"%%lambada takes the name to bind, which {name!r} is not", file=sys.stderr)
            return None
        try:
            model = compile(text, name=name or "<cell>")
        except Error as error:
            # As the command prints it: the cell itself is what the message shows, so frames of Python say nothing.
            print(colored(str(error)), file=sys.stderr)
            return None
        for problem in model.problems:
            told = f"{problem.severity}[{problem.code}]: {problem.title} (line {problem.line})"
            print(colored(told), file=sys.stderr)
        if name:
            shell.user_ns[name] = model
        else:
            shell.user_ns.update({definition: model[definition] for definition in model})
        return None

    shell.register_magic_function(cell, magic_kind="cell", magic_name="lambada")
    _highlight(shell)


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
