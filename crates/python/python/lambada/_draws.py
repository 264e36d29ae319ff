"""Draws of posteriors, and what is known of them."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Mapping
from typing import Any, Iterator, NamedTuple, Sequence, Union

import numpy as np

from . import _lambada


class Finding(NamedTuple):
    """A fault of chains, in words."""

    #: Its kind: ``"divergences"``, ``"rhat"``, ``"energy"``, ``"depth"``, ``"stuck"`` and others.
    kind: str
    #: The observation, in one sentence.
    title: str
    #: Its meaning.
    meaning: str
    #: Steps that may help, the first first.
    advice: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([self.title, f"  {self.meaning}", *(f"  - {step}" for step in self.advice)])


class Findings(list):  # type: ignore[type-arg]
    """Faults of chains, the gravest first; ``print`` shows them with advice."""

    def __str__(self) -> str:
        return "\n\n".join(map(str, self)) or "no faults were found"


def findings(found: list[Any]) -> Findings:
    """The findings of the extension module, with advice in the words of Python."""
    return Findings(Finding(kind, title, meaning, tuple(map(in_python, advice))) for kind, title, meaning, advice in found)


class Summary:
    """Estimates of all scalars: mean, standard deviation and Monte Carlo error, quantiles, effective sample sizes and R̂. It prints as a table."""

    def __init__(self, native: Any, whole: bool) -> None:
        self._native = native
        self._whole = whole

    def to_dict(self) -> dict[str, dict[str, float]]:
        """The estimates by the names of scalars: ``mean``, ``sd``, ``mcse_mean``, ``mcse_sd``, ``q5``, ``q50``, ``q95``, ``ess_bulk``, ``ess_tail``, ``rhat``."""
        rows = json.loads(self._native._json())
        unknown = float("nan")
        return {name: {key: unknown if x is None else x for key, x in row.items()} for name, row in rows.items()}

    def __repr__(self) -> str:
        return self._native._text(self._whole).rstrip("\n")

    def _repr_html_(self) -> str:
        head, *lines = self._native._text(self._whole).splitlines()
        cells = lambda line: [cell for cell in line.split("  ") if cell.strip()]
        names = ["", *cells(head)]
        row = lambda tag, all_: "<tr>" + "".join(f"<{tag}>{html.escape(x.strip())}</{tag}>" for x in all_) + "</tr>"
        body, notes = [], []
        for line in lines:
            found = cells(line)
            if len(found) == len(names):
                body.append(row("td", found))
            elif line.startswith("  "):
                body.append(f'<tr><td colspan="{len(names)}">{html.escape(line.strip())}</td></tr>')
            elif line.strip():
                notes.append(f"<p>{html.escape(line)}</p>")
        return f"<table>{row('th', names)}{''.join(body)}</table>{''.join(notes)}"


class Draws(Mapping):  # type: ignore[type-arg]
    """Draws of Markov chains: a mapping from the names of variables to arrays ``[chain, draw, …]``, which cannot be written to.

    A field of a record has a variable of its own, ``draws["p.scale"]``. :func:`lambada.draws` and :func:`lambada.predict` make them, and
    ``Draws.load`` reads what ``save``, ArviZ or the command have written.
    """

    def __init__(self, native: Any) -> None:
        self._native = native
        self._groups: dict[str, dict[str, np.ndarray]] = {}

    def _group(self, name: str) -> dict[str, np.ndarray]:
        if name not in self._groups:
            self._groups[name] = self._native._group(name)
        return self._groups[name]

    @classmethod
    def load(cls, path: Union[str, os.PathLike[str]]) -> Draws:
        """The draws of a file: ``.nc``, ``.parquet`` or ``.csv``."""
        return cls(_lambada.Draws._read(os.fspath(path)))

    def __getitem__(self, name: str) -> np.ndarray:
        return self._group("variables")[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._group("variables"))

    def __len__(self) -> int:
        return len(self._group("variables"))

    @property
    def chains(self) -> int:
        """Number of chains."""
        return self._native._counts[0]

    @property
    def draws(self) -> int:
        """Number of draws of each chain."""
        return self._native._counts[1]

    @property
    def statistics(self) -> Mapping[str, np.ndarray]:
        """What the sampler tells of each draw, by ArviZ's names: ``lp``, ``diverging``, ``tree_depth``, ``n_steps``, ``energy``, ``step_size``,
        ``acceptance_rate``."""
        if "typed" not in self._groups:
            types = {"diverging": bool, "tree_depth": np.int64, "n_steps": np.int64}
            statistics = self._group("statistics")
            self._groups["typed"] = {name: x.astype(types[name]) if name in types else x for name, x in statistics.items()}
        return self._groups["typed"]

    @property
    def predictive(self) -> Mapping[str, np.ndarray]:
        """Results that :meth:`with_results` has added, such as replicated data."""
        return self._group("predictive")

    @property
    def log_likelihood(self) -> Mapping[str, np.ndarray]:
        """Results that :meth:`with_results` has added whose names begin with ``log_lik``."""
        return self._group("log_likelihood")

    @property
    def observed(self) -> Mapping[str, np.ndarray]:
        """The data."""
        return self._group("observed")

    @property
    def attributes(self) -> dict[str, str]:
        """Facts about the run, such as the seed."""
        return dict(self._native._attributes)

    @property
    def warnings(self) -> list[Finding]:
        """Faults of the chains, the gravest first, with their meaning and advice; ``print(draws.warnings)`` shows all of it."""
        return findings(self._native._warnings())

    def summary(self, all: bool = False) -> Summary:  # noqa: A002
        """The table of estimates. Variables with more than 12 elements are abbreviated, unless ``all`` are wanted."""
        return Summary(self._native, all)

    def with_results(self, results: Draws) -> Draws:
        """Draws that also have what :func:`lambada.predict` has made of them: variables whose names begin with ``log_lik`` are log likelihoods, others are
        predictive. Files and ArviZ's data have them as groups."""
        if results._native._counts != self._native._counts:
            raise ValueError("the results are those of other draws: the numbers of chains or draws differ")
        return Draws(self._native._with_results(results._native))

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes a file: ``.nc`` has everything and opens in ArviZ, ``.parquet`` and ``.csv`` have a row for each draw."""
        self._native._save(os.fspath(path))

    def to_arviz(self) -> Any:
        """The draws as ArviZ's ``InferenceData`` (from ArviZ 1 on a ``DataTree``) with ``posterior``, ``sample_stats``, ``observed_data`` and, if there are
        results, ``posterior_predictive`` and ``log_likelihood``."""
        from ._arviz import made

        groups = {
            "posterior": dict(self),
            "sample_stats": self.statistics,
            "posterior_predictive": self.predictive,
            "log_likelihood": self.log_likelihood,
            "observed_data": self.observed,
        }
        return made(groups, self.attributes)

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        shapes = [f"{name}{list(x.shape[2:]) if x.ndim > 2 else ''}" for name, x in self.items()]
        count = lambda n, noun: f"{n} {noun}{'' if n == 1 else 's'}"
        return f"<lambada.Draws, {count(self.chains, 'chain')} of {count(self.draws, 'draw')}: {', '.join(shapes)}>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    def __reduce__(self) -> Any:
        return _again, (bytes(self._native._bytes()),)


#: Sentences of the command that Python says otherwise.
_SENTENCES = {
    "`--data FILE`, or `NAME=VALUE`": "`data`, or a keyword",
    "a member of the file, or `": "a member, or the keyword `",
    "`lambada predict FILE ENTRY --draws FILE`": "`lambada.predict(f, draws, data)`",
}


def in_python(text: str) -> str:
    """A message with the options of the command as Python has them: `--max-depth 12` is `max_depth=12`."""

    def option(found: re.Match[str]) -> str:
        name, value = found[1].replace("-", "_"), found[2]
        if name == "size":
            size, number = value.split("=")
            return f'`sizes={{"{size}": {number}}}`'
        if value is None:
            return f"`{name}`"
        return f"`{name}={value}`" if re.fullmatch(r"[\d.]+", value) else f'`{name}="{value}"`'

    for there, here in _SENTENCES.items():
        text = text.replace(there, here)
    return re.sub(r"`--([a-z-]+)(?: ([^` ]+))?`", option, text)


def _again(contents: bytes) -> Draws:
    return Draws(_lambada.Draws._again(contents))


def of_arrays(arrays: Sequence[tuple[str, Any]]) -> Draws:
    """Draws of arrays ``[chain, draw, …]`` of numbers."""
    dense = [(name, np.ascontiguousarray(array, dtype=float)) for name, array in arrays]
    counts = {array.shape[:2] for _, array in dense}
    if len(counts) > 1:
        raise ValueError("all variables should have the same numbers of chains and draws")
    return Draws(_lambada.Draws._of(dense))


for _class in (Finding, Findings, Summary, Draws):
    _class.__module__ = "lambada"
