"""What a run shows: a line on a terminal that is written over, a small table in a notebook, nothing in pipes."""

import os
import sys
from collections.abc import Callable
from typing import Protocol

import numpy as np

from infimum.search.policy.search import DISPLAY as POLICY

Figures = dict[str, str | int]  # name -> value, as shown; an integer is a count, shown with its rate


def bounds(lower: float, upper: float, value: float | None = None) -> Figures:
    """The enclosure, in the words of every engine that proves; the gap also relative to the best value, if that says something.
    `value`: the best value; `upper` unless it is given.

    >>> bounds(2.0, 3.0)["gap"], bounds(2.0, 3.0, 2.0)["gap"], bounds(-0.5, 0.0)["gap"]
    ('1 (33 %)', '1 (50 %)', '0.5')
    """
    gap, value = upper - lower, upper if value is None else value
    share = 100.0 * gap / abs(value) if value and np.isfinite(gap) else np.inf
    percent = f" ({share:.2g} %)" if share < 100.0 else ""
    return {"lower": f"{lower:.10g}", "upper": f"{upper:.10g}", "gap": f"{gap:.3g}{percent}"}


def known_bounds(lower: float, upper: float) -> Figures:
    """The bounds while one of them or both may not be known yet.

    >>> known_bounds(2.0, np.inf), known_bounds(-np.inf, np.inf)
    ({'lower': '2', 'upper': 'inf'}, {})
    """
    shown = bounds(lower, upper)
    return {} if np.isinf(lower) and np.isinf(upper) else {name: shown[name] for name in ("lower", "upper")}


def shown_value(value: float) -> str:
    """The best value, as shown; searches that have no point yet hold an infinity.

    >>> shown_value(0.5), shown_value(-np.inf)
    ('0.5', 'none')
    """
    return f"{value:.10g}" if np.isfinite(value) else "none"


def _with_rate(figure: str | int, seconds: float) -> str:
    return figure if isinstance(figure, str) else f"{figure:,} ({figure / max(seconds, 1e-9):.3g} a second)"


class ProgressSource(Protocol):
    """What is shown of an engine."""

    evaluations: int

    def figures(self) -> Figures: ...


class Display(Protocol):
    """A place to show figures, each time in place of the last."""

    def show(self, figures: dict[str, str]) -> None: ...

    def clear(self) -> None: ...


class StatusLine:
    """One line on stderr."""

    def __init__(self) -> None:
        self.width = 0

    def show(self, figures: dict[str, str]) -> None:
        columns = _columns()
        text = _fitted([f"{name} {value}" for name, value in figures.items()], columns)
        self.width = max(self.width, len(text)) if columns is None else min(max(self.width, len(text)), columns - 1)
        sys.stderr.write(f"\r{text:<{self.width}}")
        sys.stderr.flush()

    def clear(self) -> None:
        if self.width:
            sys.stderr.write(f"\r{'':<{self.width}}\r")
            sys.stderr.flush()


def _columns() -> int | None:
    """The width of the terminal that stderr goes to; None if it is none."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or None
    except (OSError, ValueError, AttributeError):  # a pipe, a file, or no file at all
        return None


def _fitted(figures: list[str], columns: int | None) -> str:
    """As many figures as fit before the last column: a line that wraps could not be written over.

    >>> _fitted(["time 1 s", "lower 0", "gap 1"], 18), _fitted(["time 1 s"], 6)
    ('time 1 s  lower 0', 'time ')
    """
    text = "  ".join(figures)
    while columns is not None and len(text) >= columns and len(figures) > 1:
        figures = figures[:-1]
        text = "  ".join(figures)
    return text if columns is None else text[:columns - 1]


class NotebookTable:
    """A table in the output of a notebook's cell."""

    def __init__(self) -> None:
        from IPython import display

        self.display, self.handle = display, None

    def show(self, figures: dict[str, str]) -> None:
        import html  # for notebooks alone

        rows = "".join(f"<tr><th style='text-align:left'>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>"
                       for name, value in figures.items())
        self._put(f"<table>{rows}</table>")

    def clear(self) -> None:
        if self.handle is not None:
            self._put("")

    def _put(self, text: str) -> None:
        page = self.display.HTML(text)
        if self.handle is None:
            self.handle = self.display.display(page, display_id=True)
        else:
            self.handle.update(page)


class ProgressDisplay:
    """Shows an engine now and then. `wanted` None: where somebody looks, from the first second on."""

    def __init__(self, wanted: bool | None):
        notebook = None
        if wanted is not False and "IPython" in sys.modules:
            from infimum.support.notebook import notebook_shell

            notebook = notebook_shell()
        watched = _is_terminal() if wanted is None else wanted and sys.stderr is not None
        self.display: Display | None = NotebookTable() if notebook is not None else StatusLine() if watched else None
        self.next = 0.0 if wanted else POLICY.quiet_seconds

    def show(self, engine: ProgressSource, seconds: float) -> None:
        if self.display is not None and seconds >= self.next:
            figures = engine.figures() | {"evaluations": engine.evaluations}
            self._show({"time": f"{seconds:.1f} s", **{name: _with_rate(figure, seconds) for name, figure in figures.items()}})
            self.next = seconds + POLICY.redraw_seconds

    def wait(self, phase: str, seconds: float) -> None:
        """Shows what there is to wait for, if it takes long."""
        if self.display is not None and seconds >= max(self.next, POLICY.quiet_seconds):
            self._show({"time": f"{seconds:.1f} s", "phase": phase})
            self.next = seconds + POLICY.redraw_seconds

    def clear(self) -> None:
        if self.display is not None:
            self._try(self.display.clear)

    def _show(self, figures: dict[str, str]) -> None:
        self._try(lambda: self.display.show(figures))

    def _try(self, shows: Callable[[], None]) -> None:
        """Nobody looks any more where stderr is closed, its reader has gone, or its disk is full: the run continues without."""
        try:
            shows()
        except (OSError, ValueError, AttributeError):
            self.display = None


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (ValueError, AttributeError):  # closed, or none at all
        return False
