"""What all drawings need: figures of matplotlib, where it is installed, their legends, and their PNG files."""

import io
from collections.abc import Callable
from typing import Any

from infimum.errors import OptionError


def figures(what: str) -> Callable[..., Any]:
    """What makes a figure."""
    try:
        import matplotlib.figure  # noqa: F401 (whether it is there)
    except ImportError:
        raise OptionError(f"{what} needs matplotlib: pip install infimum[plot]") from None
    from infimum.plotting.notebook_figure import NotebookFigure

    return NotebookFigure


def on(ax: Any, what: str, draws: Callable[[Any], None]) -> Any:
    """The figure with a drawing; or, where an Axes is given, that Axes."""
    new_figure = figures(what)
    if ax is not None:
        draws(ax)
        return ax
    figure = new_figure(figsize=(5, 4), layout="constrained")
    draws(figure.add_subplot())
    return figure


def legend(axis: Any) -> None:
    """Where something has a label."""
    if axis.get_legend_handles_labels()[1]:
        axis.legend(fontsize="small")


def png(draw: Callable[[], Any]) -> bytes | None:
    """The figure as a PNG file; None without matplotlib."""
    try:
        figure = draw()
    except OptionError:
        return None
    figure.was_shown = True  # it is part of something else
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=80)
    return file.getvalue()
