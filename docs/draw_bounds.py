"""The pictures of docs/bounds.md, drawn from what the library's kernels give: `python docs/draw_bounds.py`. Needs matplotlib."""

from pathlib import Path
from typing import Any

import numpy as np

import infimum
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import LIFTED
from infimum.problem.system import System

FOLDER = Path(__file__).resolve().parent / "pictures"
LOW, HIGH, CELLS = 0.0, 4.0, 4
NAMES = ("interval", "mean value", "linear", "LP")


def function(x: Any) -> Any:
    return x[0] ** 2 * np.exp(-x[0]) - np.tanh(2 * x[0] - 2) + 0.2 * x[0]


def evaluator() -> Evaluator:
    """The function as a system without constraints: what linear programs are made for."""
    f = infimum.compile(function, n=1)
    return Evaluator(f.f, 1, f.backend, function, System(f.f, (), np.empty(0), np.empty(0)))


def bounds(name: str, cells: int = CELLS) -> np.ndarray:
    """For each cell: its ends, the lower bound at both of them, the upper bound at both of them; the LP has no upper one."""
    f, ends = evaluator(), np.linspace(LOW, HIGH, cells + 1)
    lo, hi = ends[None, :-1], ends[None, 1:]
    if name == "interval":
        e = f.value(lo, hi)
        return np.stack([lo[0], hi[0], e.lo, e.lo, e.hi, e.hi])
    if name == "mean value":
        e = f.mean_value(lo, hi).best
        return np.stack([lo[0], hi[0], e.lo, e.lo, e.hi, e.hi])
    if name == "linear":
        e, width = f.linear_bounds(lo, hi), (hi - lo)[0]
        right = e.below + e.slopes_below[0] * width, e.above + e.slopes_above[0] * width
        return np.stack([lo[0], hi[0], e.below, right[0], e.above, right[1]])
    regions = np.concatenate([lo, hi, np.full_like(lo, -np.inf), np.zeros_like(lo), np.full_like(lo, 3.0)])
    found = f.run(LIFTED, [regions], parameters=np.array([np.inf, np.nan, 1.0]))[0][2]
    return np.stack([lo[0], hi[0], found, found, np.full_like(found, np.nan), np.full_like(found, np.nan)])


def draw(folder: Path = FOLDER) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "infimum", "svg.fonttype": "none"})  # the same file each time, with text as text
    from matplotlib import pyplot

    folder.mkdir(exist_ok=True)
    x = np.linspace(LOW, HIGH, 201)
    for name in NAMES:
        figure, axes = pyplot.subplots(figsize=(5, 2.8))
        for a, c, *ends in bounds(name).T:
            axes.fill_between([a, c], ends[:2], ends[2:], color="tab:blue", alpha=0.2, linewidth=0)
            axes.plot([a, c], ends[:2], color="tab:blue", linewidth=1)
            axes.plot([a, c], ends[2:], color="tab:blue", linewidth=1)
        axes.plot(x, function(x[None]), color="black", linewidth=1.5)
        axes.set_ylim(-0.8, 2.3)
        axes.set_title(f"{name} bounds", fontsize=10)
        figure.tight_layout()
        figure.savefig(folder / f"bounds_{name.replace(' ', '_').lower()}.svg", metadata={"Date": None})
        pyplot.close(figure)


if __name__ == "__main__":
    draw()
