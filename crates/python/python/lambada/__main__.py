"""The command ``lambada``, which also runs as ``python -m lambada``."""

from __future__ import annotations

import sys

from ._lambada import command


def main() -> int:
    """Runs the command line of the process, and returns its exit code."""
    return command(["lambada", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
