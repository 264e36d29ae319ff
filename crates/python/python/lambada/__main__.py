"""The command ``lambada``, which also runs as ``python -m lambada``."""

from __future__ import annotations

import signal
import sys

from ._lambada import command


def main() -> int:
    """Runs the command line of the process, and returns its exit code."""
    # The command handles Ctrl-C itself, unless there is a handler. An ignored signal stays ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return command(["lambada", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
