"""The extension of JupyterLab and Notebook that colors `%%lambada` cells, as the wheel has installed it."""

import importlib.metadata
import json
import pathlib
import re
import shutil
import subprocess
import sysconfig

import pytest
from conftest import REPOSITORY
from lambada import _source

FOLDER = pathlib.Path(sysconfig.get_path("data")) / "share" / "jupyter" / "labextensions" / "lambada"
LEXER = REPOSITORY / "crates" / "surface" / "src" / "token.rs"


def package():
    return json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))


def script():
    return FOLDER / package()["jupyterlab"]["_build"]["load"]


def words(name):
    """A list of words in the script."""
    [body] = re.findall(rf"const {name} = \[(.*?)\];", script().read_text(encoding="utf-8"), re.DOTALL)
    return re.findall(r'"(\w+)"', body)


def node(program, data=None):
    """What a program that has loaded the script prints; `container` is what the script offers, `data` what it is given."""
    if shutil.which("node") is None:
        pytest.skip("needs Node.js")
    start = f"""
        globalThis.window = globalThis;
        require({json.dumps(str(script()))});
        const container = window._JUPYTERLAB.lambada;
        const data = JSON.parse(require("fs").readFileSync(0, "utf8"));
        (async () => {{ {program} }})().catch((error) => {{ console.error(error); process.exit(1); }});
    """
    run = subprocess.run(["node", "-e", start], input=json.dumps(data), capture_output=True, encoding="utf-8")
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def tokens(texts):
    """The tokens of texts by the script: kinds and words."""
    program = """
        const { tokens } = (await container.get("./tokens"))();
        console.log(JSON.stringify(data.map(tokens)));
    """
    return [[tuple(token) for token in text] for text in node(program, texts)]


def test_files():
    build = package()["jupyterlab"]["_build"]
    assert package()["name"] == FOLDER.name == "lambada"
    assert package()["version"] == importlib.metadata.version("lambada-lang")
    assert script().is_file()
    # Both are names of the script's own.
    assert f'"{build["extension"]}"' in script().read_text(encoding="utf-8")
    assert "_JUPYTERLAB.lambada" in script().read_text(encoding="utf-8")
    assert json.loads((FOLDER / "install.json").read_text(encoding="utf-8"))["packageName"] == "lambada"


def test_jupyter_looks_there():
    paths = pytest.importorskip("jupyter_core.paths")
    assert str(FOLDER.parent) in paths.jupyter_path("labextensions")


def test_jupyterlab_lists_it():
    labextensions = pytest.importorskip("jupyterlab_server.config")
    found = labextensions.get_federated_extensions([str(FOLDER.parent)])
    assert found["lambada"]["jupyterlab"]["_build"] == {"load": "static/remoteEntry.js", "extension": "./extension"}


def test_keywords_are_those_of_the_lexer():
    [table] = re.findall(r"pub const KEYWORDS\b.*?= &\[(.*?)\];", LEXER.read_text(encoding="utf-8"), re.DOTALL)
    expected = re.findall(r'\("(\w+)", Keyword::', table)
    assert len(expected) > 15
    assert words("KEYWORDS") == expected


def test_keywords_are_those_of_sources_in_color():
    assert sorted(words("KEYWORDS")) == sorted(_source._KEYWORDS)


def test_types():
    for name in words("TYPES"):
        assert _source._TOKEN.fullmatch(name).lastgroup == "type"
    assert words("TYPES") == ["real", "int", "bool"]


CASES = {
    "x' = 1_000.5e-3": [("plain", "x'"), ("plain", "="), ("number", "1_000.5e-3")],
    "def' rec in_ True' x2": [("plain", "def'"), ("keyword", "rec"), ("plain", "in_"), ("type", "True'"), ("plain", "x2")],
    'a--"b" c': [("plain", "a"), ("comment", '--"b" c')],
    '"a -- b" c': [("string", '"a -- b"'), ("plain", "c")],
    '"open -- b\nlet': [("string", '"open -- b'), ("keyword", "let")],
    "a - -b->c": [("plain", "a"), ("plain", "-"), ("plain", "-"), ("plain", "b"), ("plain", "->"), ("plain", "c")],
    "p.0 xs[2*i]": [("plain", "p"), ("plain", "."), ("number", "0"), ("plain", "xs"), ("plain", "["), ("number", "2"),
                    ("plain", "*"), ("plain", "i"), ("plain", "]")],
    "lambda print # class": [("plain", "lambda"), ("plain", "print"), ("plain", "#"), ("plain", "class")],
}


@pytest.mark.parametrize("text", CASES)
def test_tokens(text):
    assert tokens([text]) == [CASES[text]]


def test_tokens_of_programs():
    programs = [path.read_text(encoding="utf-8") for path in sorted(REPOSITORY.glob("*/*.lam"))]
    assert len(programs) > 10
    for program, found in zip(programs, tokens(programs)):
        # Nothing is left without a color, or Python's would show.
        assert re.sub(r"\s", "", "".join(word for _, word in found)) == re.sub(r"\s", "", program)
        rest = {"comment", "string", "number", "type"}
        expected = [(t.lastgroup, t.group()) for t in _source._TOKEN.finditer(program) if t.lastgroup in rest]
        assert [token for token in found if token[0] in rest] == expected


def test_plugin():
    """The copies of modules that it takes are those in use or, if none is, the newest."""
    program = """
        const copy = (module, loaded) => ({ loaded, get: async () => () => module });
        const codemirror = (version) => ({ EditorExtensionRegistry: {}, IEditorExtensionRegistry: version });
        const copies = data.map(([version, loaded]) => [version, copy(codemirror(version), loaded)]);
        container.init({
            "@codemirror/state": { "6.0.0": copy({}) },
            "@codemirror/view": { "6.0.0": copy({}) },
            "@jupyterlab/codemirror": Object.fromEntries(copies),
        });
        const extension = (await container.get("./extension"))();
        console.log(JSON.stringify([extension.__esModule, extension.default]));
    """
    module, plugin = node(program, [["4.9.0", 0], ["4.10.0", 0], ["4.2.0", 0]])
    assert module and plugin["id"] == "lambada:highlighting" and plugin["autoStart"]
    assert plugin["requires"] == ["4.10.0"]
    assert node(program, [["4.9.0", 0], ["4.2.0", 1], ["4.10.0", 0]])[1]["requires"] == ["4.2.0"]
    assert node(program, [["4.9.0", 1], ["4.10.0", 0]])[1]["requires"] == ["4.9.0"]


def test_notebook_of_the_book():
    """`examples/python/classes.ipynb` runs from its first cell to its last one, with its warning and its pictures."""
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    for module in ("ipykernel", "arviz", "matplotlib"):
        pytest.importorskip(module)
    notebook = nbformat.read(REPOSITORY / "examples" / "python" / "classes.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    texts = "".join(output.get("text", "") for output in outputs)
    assert "trajectories diverged" in texts and "non-centered" in texts, texts
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(pictures) == 2, outputs
