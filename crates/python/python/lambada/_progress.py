"""The progress of chains: a line on a terminal, a bar in a notebook."""

from __future__ import annotations

import html
import sys
import time
from typing import Any, Optional, Sequence

_WIDTH = 30


def progress(wanted: Optional[bool], chains: int, warmup: int, draws: int) -> Optional[Any]:
    """What is called with the draws of each chain and the divergences. ``None`` if nothing shows it, or if it is not ``wanted``."""
    if wanted is False:
        return None
    shell = _notebook()
    if shell is not None:
        return _Notebook(chains, warmup, draws)
    if wanted or (sys.stderr is not None and sys.stderr.isatty()):
        return _Terminal(chains, warmup, draws)
    return None


def _notebook() -> Optional[Any]:
    """The shell of a notebook, if this is one."""
    python = sys.modules.get("IPython")
    shell = python.get_ipython() if python is not None else None
    return shell if hasattr(shell, "kernel") else None


class _Bar:
    def __init__(self, chains: int, warmup: int, draws: int) -> None:
        self.chains = chains
        self.warmup = warmup
        self.each = warmup + draws
        self.begun = time.monotonic()

    def share(self, made: Sequence[int]) -> float:
        return min(sum(made) / max(self.chains * self.each, 1), 1.0)

    def words(self, made: Sequence[int], divergences: int) -> str:
        share, elapsed = self.share(made), time.monotonic() - self.begun
        # The last chain to leave its warm-up.
        begun = [draws for draws in made if draws > 0]
        parts = ["warm-up" if begun and min(begun) <= self.warmup else "draws", f"{100 * share:.0f} %"]
        if divergences:
            parts.append(f"{divergences} divergence{'' if divergences == 1 else 's'}")
        if 0.02 < share < 1.0 and elapsed > 1.0:
            parts.append(f"{_time(elapsed * (1.0 - share) / share)} left")
        else:
            parts.append(_time(elapsed))
        return ", ".join(parts)

    def close(self) -> None:
        pass


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class _Terminal(_Bar):
    def __call__(self, made: Sequence[int], divergences: int) -> None:
        done = round(_WIDTH * self.share(made))
        line = f"\rsampling {'━' * done}{'╌' * (_WIDTH - done)} {self.words(made, divergences)}\x1b[K"
        encoding = getattr(sys.stderr, "encoding", None) or "ascii"
        sys.stderr.write(line.encode(encoding, "replace").decode(encoding))
        sys.stderr.flush()

    def close(self) -> None:
        # The table and the findings say the rest.
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


class _Notebook(_Bar):
    def __init__(self, chains: int, warmup: int, draws: int) -> None:
        super().__init__(chains, warmup, draws)
        self.handle: Any = None

    def __call__(self, made: Sequence[int], divergences: int) -> None:
        from IPython.display import HTML, display

        words = html.escape(self.words(made, divergences))
        bar = HTML(f'<progress max="1" value="{self.share(made):.4f}" style="width:20em"></progress> {words}')
        if self.handle is None:
            self.handle = display(bar, display_id=True)
        else:
            self.handle.update(bar)
