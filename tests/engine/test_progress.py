"""Progress: a line on a terminal, a table in a notebook, nothing where nobody looks; always gone in the end."""

import io
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import infimum
from infimum import problems
from infimum.search import progress
from tests.engine.test_swarm import rosenbrock, sphere, swarm
from tests.engine.test_swarm_callbacks import raising, stopper


def screen(text: str) -> str:
    """What a terminal shows in the end: a carriage return goes back to the beginning of the line."""
    shown: list[str] = []
    for part in text.split("\r"):
        shown[:len(part)] = part
    return "".join(shown).rstrip()


def test_progress_is_written_and_cleared(capsys):
    swarm(rosenbrock, progress=True)
    out, err = capsys.readouterr()
    assert out == "" and "\n" not in err and screen(err) == ""
    first = err.split("\r")[1]
    assert first.startswith("time ")
    for word in (" s ", "best ", "descents ", "converged", "running", "basins ", "wave 0", "evaluations "):
        assert word in first
    value = infimum.compile(rosenbrock, 2).estimate([0.5, 0.5])  # the middle of the bounds
    assert f"best {value:.10g} " in first


def test_progress_is_cleared_after_an_interrupt(capsys):
    swarm(rosenbrock, progress=True, callback=stopper(5, raising(KeyboardInterrupt())))
    err = capsys.readouterr().err
    assert "best" in err and screen(err) == ""


def test_errors_of_the_callback_come_through(capsys):
    with pytest.raises(ZeroDivisionError):
        swarm(rosenbrock, callback=stopper(3, lambda: 1 / 0), progress=True)
    assert screen(capsys.readouterr().err) == ""


@pytest.mark.parametrize("wanted", [None, False])
def test_no_progress_where_nobody_looks(capsys, wanted, monkeypatch):
    monkeypatch.setattr(progress.POLICY, "quiet_seconds", 0.0)
    swarm(sphere, progress=wanted)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("call", "known"), [
    (infimum.minimize, "lower 26  upper inf"), (infimum.maximize, "lower -inf  upper -26")])
def test_a_lower_bound_is_shown_before_a_point_is_known(call, known, monkeypatch, capsys):
    """Of a knapsack for which a first point is hard to find."""
    monkeypatch.setattr(progress.POLICY, "redraw_seconds", 0.0)
    weight, sign = np.array([7919.0, 10007, 6113, 3571, 9973, 8831]), 1.0 if call is infimum.minimize else -1.0
    call(lambda x: sign * np.sum(x), [(0, 50)] * 6, constraints=lambda x: weight @ x == 250001, integrality=1, max_boxes=2000,
         options={"lp": True}, progress=True)
    first = capsys.readouterr().err.split("\r")
    assert any(known in shown and "best none" in shown for shown in first)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("quiet, wanted, written", [(0.0, None, True), (1e9, None, False), (0.0, False, False),
                                                      (1e9, True, True)])
def test_progress_on_a_terminal_after_a_while(monkeypatch, quiet, wanted, written):
    monkeypatch.setattr(progress.POLICY, "quiet_seconds", quiet)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    swarm(sphere, progress=wanted)
    assert ("best" in terminal.getvalue()) == written and screen(terminal.getvalue()) == ""


def test_a_shorter_line_covers_a_longer_one(capsys, monkeypatch):
    monkeypatch.setattr(progress.POLICY, "redraw_seconds", 0.0)
    p = problems.get("rastrigin", 3)
    shown = []
    swarm(p.fun, p.bounds, progress=True, callback=lambda s: shown.append(screen(capsys.readouterr().err)))
    lines = [line for line in shown if line]
    assert len(lines) > 20 and all(line.count("best") == 1 and line.count("evaluations") == 1 for line in lines)


class Notebook:
    """IPython as far as it is used: what was displayed, one entry a cell output, and the last state of each."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, kernel: bool = True):
        self.outputs: list[list[str]] = []
        shell = SimpleNamespace(kernel=object()) if kernel else SimpleNamespace()
        module = SimpleNamespace(get_ipython=lambda: shell, display=SimpleNamespace(HTML=str, display=self.display))
        monkeypatch.setitem(sys.modules, "IPython", module)
        monkeypatch.setattr(progress.POLICY, "quiet_seconds", 0.0)

    def display(self, page: str, display_id: bool) -> SimpleNamespace:
        assert display_id
        states = [page]
        self.outputs.append(states)
        return SimpleNamespace(update=states.append)


@pytest.mark.parametrize("wanted", [None, True])
def test_a_notebook_gets_a_table(monkeypatch, capsys, wanted):
    notebook = Notebook(monkeypatch)
    p = problems.get("hartmann_6")
    infimum.minimize(p.fun, p.bounds, progress=wanted)
    states, = notebook.outputs
    assert states[-1] == "" and all(state.startswith("<table>") for state in states[:-1])
    assert all(word in states[0] for word in ("time", "evaluations", "a second", "best"))
    assert capsys.readouterr() == ("", "")


def test_a_notebook_gets_nothing_if_it_is_not_wanted(monkeypatch):
    notebook = Notebook(monkeypatch)
    infimum.minimize(sphere, [(-1, 2)] * 2, progress=False)
    assert notebook.outputs == []


def test_a_terminal_shell_of_ipython_is_no_notebook(monkeypatch, capsys):
    notebook = Notebook(monkeypatch, kernel=False)
    infimum.minimize(sphere, [(-1, 2)] * 2)
    assert notebook.outputs == [] and capsys.readouterr() == ("", "")


def test_the_bounds_are_shown_while_they_are_proved(monkeypatch, capsys):
    monkeypatch.setattr(progress.POLICY, "redraw_seconds", 0.0)
    infimum.minimize(lambda x: np.sin(3 * x[0]) * x[1] + x[0] ** 2 * np.cos(x[1]), [(-3, 3)] * 2, progress=True)
    last = [line for line in capsys.readouterr().err.split("\r") if line.strip()][-1]
    assert all(word in last for word in ("lower ", "upper ", "gap ", "regions ", "boxes ", "a second")), last


@pytest.mark.parametrize("columns", [20, 50, 80, 300])
def test_the_line_fits_the_terminal(monkeypatch, columns):
    """A line that is as wide as the terminal would wrap, and its carriage return would go to the second half."""
    monkeypatch.setattr(progress.POLICY, "redraw_seconds", 0.0)
    monkeypatch.setattr(progress, "_columns", lambda: columns)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    p = problems.get("hartmann_6")
    infimum.minimize(p.fun, p.bounds, progress=True)
    lines = terminal.getvalue().split("\r")
    assert len(lines) > 5 and max(map(len, lines)) < columns and screen(terminal.getvalue()) == ""
    assert all(line.startswith("time ") for line in lines if line.strip())
