"""The command of the package, as a script and as a module."""

import importlib.metadata
import os
import pathlib
import signal
import subprocess
import sys
import sysconfig
import time

import pytest

import lambada

SCRIPT = pathlib.Path(sysconfig.get_path("scripts")) / "lambada"
WAYS = [[sys.executable, "-m", "lambada"], [str(SCRIPT)]]


def run(way, *words, **options):
    return subprocess.run([*way, *words], capture_output=True, text=True, timeout=120, **options)


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "wave.lam"
    path.write_text('import "std/special"\ndef wave (k : real) : real = sin k + special.erf 0.0\n')
    return path


def test_the_distribution_has_the_version_of_the_module():
    assert importlib.metadata.version("lambada-lang") == lambada.__version__


@pytest.mark.parametrize("way", WAYS)
def test_it_runs(way, program):
    assert run(way, "--version").stdout == f"lambada {lambada.__version__}\n"
    found = run(way, "grad", str(program), "wave", "k=0")
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout == "value = 0.0\ngradient = 1.0\n"


@pytest.mark.parametrize("way", WAYS)
def test_mistakes_are_messages_and_exit_codes(way, program):
    wrong = run(way, "run", str(program), "nothing")
    assert wrong.returncode == 1
    assert "error" in wrong.stderr and "Traceback" not in wrong.stderr
    unknown = run(way, "no-such-command")
    assert unknown.returncode == 2
    assert "Usage: lambada" in unknown.stderr


def test_output_without_a_last_line_break_is_written(program):
    # Python does not flush Rust's buffers.
    shown = run(WAYS[0], "completions", "bash")
    assert shown.returncode == 0 and "_lambada" in shown.stdout


def test_a_closed_pipe_ends_it(program):
    reader, writer = os.pipe()
    os.close(reader)
    child = subprocess.run(
        [*WAYS[0], "completions", "bash"], stdout=writer, stderr=subprocess.PIPE, text=True, timeout=120
    )
    os.close(writer)
    assert "Traceback" not in child.stderr and "panic" not in child.stderr


def test_an_interrupt_ends_it(tmp_path):
    path = tmp_path / "endless.lam"
    path.write_text("def f (x : real) : real = loop y = x while y < 1e300 do y * 1.0\n")
    child = subprocess.Popen(
        [*WAYS[0], "run", str(path), "f", "x=1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    time.sleep(3)
    assert child.poll() is None
    child.send_signal(signal.SIGINT)
    try:
        _, told = child.communicate(timeout=30)
    finally:
        child.kill()
    assert child.returncode == 130
    assert "Traceback" not in told
