"""Notebooks, by executing one: figures appear once, and errors of ours are short."""

import re
import sys
from types import SimpleNamespace

import nbclient
import nbformat
import pytest

import infimum
from infimum.support.notebook import notebook_shell, short_traceback

FIRST = """
import math
import numpy as np
import infimum
r = infimum.minimize(lambda x: (x[0] - 0.25)**2 + x[1]**2, [(-1, 1)] * 2)
t = np.linspace(0, 3, 9)
fit = infimum.fit(lambda x, a, b: a * np.exp(-b * x), t, 2 * np.exp(-t), bounds={"a": (0, 9), "b": (0, 9)})
"""
CELLS = {  # cells, and how many images they show
    "first": (FIRST, 0),
    "value of a cell": ("r.plot()", 1),
    "in the middle of a cell": ("r.plot()\nprint('after')", 1),
    "in a loop": ("for one in (r, fit):\n    one.plot()", 2),
    "kept and saved": ("figure = r.plot()\nwith open('f.png', 'wb') as file:\n    figure.savefig(file)\nfigure", 1),
    "shown later": ("figure", 1),
    "of a fit": ("fit.plot()", 1),
    "of a set": ("fit.confidence().plot()", 1),
    "of trials": ("infimum.plotting.history_of_trials([3.0, None, 2.5])", 1),
    "a table": ("r", 0),
    "a report": ("fit", 0),
    "drawn alone": ("infimum.plotting.png(r.plot) is None", 0),
    "beside pyplot": ("import matplotlib.pyplot as plt\nr.plot()", 1),
    "after the magic word": ("%matplotlib inline\nr.plot()", 1),
    "in another format": ("%config InlineBackend.figure_formats = ['svg']\nfit.plot()", 1),
    "on an axis of the user": ("axis = plt.subplots()[1]\nr.plot(axis)", 1),
    "an error of tracing": ("def f(x):\n    return math.sin(x[0])\n\ninfimum.minimize(f, [(0, 1)])", 0),
    "an error of the function": ("def g(x):\n    return x[7]\n\ninfimum.minimize(g, [(0, 1)])", 0),
    "another error": ("infimum.minimize(np.sum, [(1, 0)])", 0),
    "an error of the user": ("1 / 0", 0),
}


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """The outputs of each cell. The kernel is this Python, whatever others the user has."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("jupyter")
        for name in ("JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
            patch.setenv(name, str(folder))
        patch.setenv("JUPYTER_PREFER_ENV_PATH", "1")
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text, _ in CELLS.values()])
        nbclient.NotebookClient(notebook, timeout=120, allow_errors=True, resources={"metadata": {"path": folder}}).execute()
    return {name: cell.outputs for name, cell in zip(CELLS, notebook.cells, strict=True)}


def images(outputs) -> int:
    return sum("image/png" in data or "image/svg+xml" in data for data in (output.get("data", {}) for output in outputs))


@pytest.mark.parametrize("name", CELLS)
def test_figures_appear_once(executed, name):
    assert images(executed[name]) == CELLS[name][1]


def test_a_table_has_its_figure_in_it(executed):
    for name in ("a table", "a report"):
        output, = executed[name]
        assert output["data"]["text/html"].count("<img") == 1


@pytest.mark.parametrize(("name", "cell", "says"), [
    ("an error of tracing", 17, r"TraceError: Cell In\[17\], line 2, in `math.sin\(x\[0\]\)`: .*np.sin instead of math.sin"),
    ("an error of the function", 18, r"UserFunctionError: Cell In\[18\], line 2, in `x\[7\]`: The function raised IndexError"),
    ("another error", 19, "BoundsError: .* are reversed")])
def test_an_error_of_ours_is_short(executed, name, cell, says):
    """Where the user called infimum, and the message: none of our frames."""
    error, = executed[name]
    lines = error["traceback"]
    assert len(lines) == 3 and re.match(rf"Cell In\[{cell}\], line \d", lines[0]) and "infimum.minimize(" in lines[1]
    assert re.match(says, lines[2]), lines[2]


def test_errors_of_others_are_as_usual(executed):
    assert "ZeroDivisionError" in "".join(executed["an error of the user"][0]["traceback"])


def test_a_module_of_the_user_is_named_by_its_file():
    with pytest.raises(infimum.TraceError) as caught:
        infimum.minimize(lambda x: float(x[0]), [(0, 1)])
    *places, message = short_traceback(caught.value)
    assert len(places) == 2 and places[0].startswith(__file__) and places[1].startswith("    infimum.minimize(lambda")
    assert message == f"TraceError: {caught.value}"


def test_a_contradiction_keeps_its_whole_traceback():
    def inner():
        raise infimum.errors.InternalError("lower > upper")
    with pytest.raises(infimum.errors.InternalError) as caught:
        inner()
    assert "in inner" in "".join(caught.value._render_traceback_())


@pytest.mark.parametrize(("shell", "is_one"), [(None, False), (SimpleNamespace(), False), (SimpleNamespace(kernel=1), True)])
def test_a_terminal_is_no_notebook(monkeypatch, shell, is_one):
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert (notebook_shell() is not None) == is_one
