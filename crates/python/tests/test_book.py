"""The page of the book and the examples are real: what they say that Python prints is what it prints."""

import doctest
import os
import pathlib
import re
import subprocess
import sys

import pytest

import lambada
from conftest import REPOSITORY


@pytest.mark.parametrize("page", ["docs/src/from-python.md"])
def test_sessions(page, monkeypatch):
    for name in ("scipy", "arviz", "jax"):
        pytest.importorskip(name)
    monkeypatch.chdir(REPOSITORY)
    text = (pathlib.Path(REPOSITORY) / page).read_text()
    # A fence ends what is printed.
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    session = doctest.DocTestParser().get_doctest("\n\n".join(blocks), {}, page, page, 0)
    assert len(session.examples) > 10
    said = []
    result = doctest.DocTestRunner().run(session, out=said.append)
    assert result.failed == 0, "".join(said)


def test_docstring():
    assert doctest.testmod(lambada).failed == 0


@pytest.mark.parametrize("name", ["beetles", "eight_schools"])
def test_examples(name, tmp_path):
    for needed in ("scipy", "arviz", "matplotlib"):
        pytest.importorskip(needed)
    program = pathlib.Path(REPOSITORY) / "examples" / "python" / f"{name}.py"
    picture = tmp_path / "picture.png"
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(program), str(picture)], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert picture.stat().st_size > 5000
    if name == "beetles":
        assert done.stdout == "a = 0.968 ± 0.145, b = 34.24 ± 2.91\n"
