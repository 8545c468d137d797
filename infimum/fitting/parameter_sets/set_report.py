"""A set of parameters as text and as drawings, which need matplotlib."""

from itertools import combinations
from typing import Any

import numpy as np

from infimum.plotting.figures import figures
from infimum.problem.text import counted

_DRAWN = 20_000  # boxes


def text(found: Any) -> str:
    """The report of a ParameterSet."""
    lines = [("set", found.title), ("shown", _shown(found))]
    if hasattr(found, "threshold"):
        lines.append(("threshold", f"sum of squares at most {found.threshold.lo:.10g}"))
    if found.parts:
        lines.append(("parts", f"{counted(len(found.parts), 'part')} that {'is' if len(found.parts) == 1 else 'are'} apart"))
        if len(found.inner):
            lines.append(("volume", f"between {found.volume_inner.lo:.6g} and {found.volume_outer.hi:.6g} (ratio "
                                    f"{found.volume_outer.hi / found.volume_inner.lo if found.volume_inner.lo else np.inf:.4g}), "
                                    f"{counted(len(found.inner), 'inner box', 'es')}, {len(found.outer):,} outer"))
    if found.stopped:
        lines.append(("stopped", f"{found.stopped}; all that is said holds"))
    rows = [f"{name:<12} {said}" for name, said in lines]
    return "\n".join([*rows, *(_table(found) if found.parts else [])])


def _shown(found: Any) -> str:
    if found.feasible is None:
        return "no point of it is known, and it was not shown to be empty"
    return "points of it are verified" if found.feasible else "INFEASIBLE: it is empty, proved"


def _table(found: Any) -> list[str]:
    rows = [("parameter", "values that are attained", "none lies outside of", "ratio")]
    for k, part in enumerate(found.parts):
        rows += [("", f"part {k + 1}", "", "")] if len(found.parts) > 1 else []
        for name, profile in part.profiles.items():
            inner, outer = profile.inner, profile.outer
            ratio = f"{(outer.hi - outer.lo) / (inner.hi - inner.lo):.6f}" if inner is not None and inner.hi > inner.lo else ""
            rows.append((name, "none known" if inner is None else f"[{inner.lo:.10g}, {inner.hi:.10g}]",
                         f"[{outer.lo:.10g}, {outer.hi:.10g}]", ratio))
    widths = [max(len(row[k]) for row in rows) for k in range(4)]
    return ["", *("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows)]


def outlines(boxes: Any, i: int, j: int) -> np.ndarray:
    """The boxes seen in two parameters, as quadrilaterals (N, 4, 2): exact for two parameters, else rectangles around them."""
    if boxes.lo.shape[1] == 2 and len(boxes):
        corners = _corners(boxes.lo, boxes.hi, 0, 1)
        placed = boxes.centres[boxes.part][:, None] + np.einsum("kij,kcj->kci", boxes.matrices[boxes.part], corners)
        return placed[..., [i, j]]
    lo, hi = boxes.place()
    return _corners(lo, hi, i, j)


def _corners(lo: np.ndarray, hi: np.ndarray, i: int, j: int) -> np.ndarray:
    around = ((lo, lo), (hi, lo), (hi, hi), (lo, hi))
    return np.stack([np.stack([a[:, i], b[:, j]], axis=1) for a, b in around], axis=1)


def draw(found: Any) -> Any:
    """The figure: a drawing for each pair of parameters; for a single one, its interval."""
    new_figure = figures("plot()")
    from matplotlib.collections import PolyCollection

    n = len(found.names)
    pairs = list(combinations(range(n), 2)) or [(0, 0)]
    side = max(1, n - 1)
    figure = new_figure(figsize=(max(4.0, 2.6 * side), max(4.0, 2.6 * side)), layout="constrained")
    figure.suptitle(found.title, fontsize="medium")
    for i, j in pairs:
        axis = figure.add_subplot(side, side, max(0, j - 1) * side + i + 1)
        for boxes, colour, alpha in ((found.outer, "tab:orange", 0.6), (found.inner, "tab:blue", 1.0)):
            axis.add_collection(PolyCollection(outlines(boxes, i, j)[:_DRAWN], facecolor=colour, edgecolor="none", alpha=alpha))
        axis.plot(found.points[:, i], found.points[:, j], ".", color="black", markersize=3)
        if found.parts:
            spans = [found.profiles[found.names[k]].outer for k in (i, j)]
            axis.set(xlim=_around(spans[0]), ylim=_around(spans[1]))
        axis.set(xlabel=found.names[i], ylabel=found.names[j])
    return figure


def _around(span: Any) -> tuple[float, float]:
    room = 0.08 * (span.hi - span.lo) or 1.0
    return span.lo - room, span.hi + room
