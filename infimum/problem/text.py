"""Counts, points, boxes and results as text."""

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from infimum.problem.cover import Cover
from infimum.problem.unions import Unions, number_of

_SHOWN, _SOLUTIONS, _WIDTH = 6, 10, 110  # boxes and minima of a table; its best points; where long texts are broken
_VARIABLES, _NAME = 20, 40  # of a table with names, and letters of a name

Names = Sequence[str] | None


def counted(count: int, word: str, plural: str = "s") -> str:
    """The number and the noun.

    >>> counted(1, "variable"), counted(2000, "box", "es")
    ('1 variable', '2,000 boxes')
    """
    return f"{count:,} {word}{'' if count == 1 else plural}"


def memory(size: float) -> str:
    """A number of bytes, the larger ones in units of their own.

    >>> memory(8e9), memory(1.25e6), memory(20_000)
    ('8 GB', '1.25 MB', '20,000 bytes')
    """
    unit, name = next((row for row in ((1e9, "GB"), (1e6, "MB")) if size >= row[0]), (1.0, "bytes"))
    return f"{round(size / unit, 2):,.10g} {name}"


def printable(name: str) -> str:
    r"""A name of the user's as a terminal may have it: no control characters, and not too long. The ends of long names differ
    more often than their middles.

    >>> printable("a\x1b[2J"), len(printable("a" * 100))
    ('a\\x1b[2J', 40)
    """
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
    return text if len(text) <= _NAME else f"{text[:_NAME // 2]}…{text[1 - _NAME // 2:]}"


def box(lo: np.ndarray, hi: np.ndarray, names: Names = None, most: int = 4) -> str:
    """The box as a product of intervals, or as the interval of each variable if these have names; a long one is shortened.

    >>> box(np.zeros(2), np.ones(2)), box(np.zeros(2), np.array([1.0, np.inf]), ["a", "b"])
    ('[0, 1] x [0, 1]', 'a in [0, 1], b in [0, inf)')
    """
    shown = [_interval(a, b) for a, b in zip(lo[:most], hi[:most], strict=True)]
    if names is not None:
        shown = [f"{printable(name)} in {interval}" for name, interval in zip(names, shown, strict=False)]
    between = " x " if names is None else ", "
    return between.join(shown) + (f"{between}… {len(lo):,} in all" if len(lo) > most else "")


def _interval(a: float, b: float) -> str:
    """An interval; an infinite end is none of its numbers."""
    return f"{'[' if a > -np.inf else '('}{a:.9g}, {b:.9g}{']' if b < np.inf else ')'}"


def union(intervals: np.ndarray, most: int = 4) -> str:
    """Intervals, rows of an array, as their union; a long one is shortened.

    >>> union(np.array([[-2.0, -1.0], [1.0, 2.0]]))
    '[-2, -1] ∪ [1, 2]'
    """
    shown = " ∪ ".join(_interval(a, b) for a, b in intervals[:most])
    return shown + (f" ∪ … {len(intervals):,} in all" if len(intervals) > most else "")


def replaced_ends(before: Sequence[np.ndarray], now: Sequence[np.ndarray]) -> str | None:
    """What is said of a box that was put in the place of another; None if no infinite end of that is finite now.

    >>> replaced_ends((np.zeros(1), np.full(1, np.inf)), (np.zeros(1), np.ones(1)))
    '1 of 1 infinite bound replaced by finite ones that follow'
    """
    open_before, open_now = (sum(int(np.isinf(end).sum()) for end in box) for box in (before, now))
    if open_now >= open_before:
        return None
    return f"{open_before - open_now} of {counted(open_before, 'infinite bound')} replaced by finite ones that follow"


def point(x: np.ndarray | None, most: int = 10) -> str:
    """The point; a long one is shortened.

    >>> point(np.arange(3.0), most=2)
    '(0, 1, … 3 in all)'
    """
    if x is None:
        return "none"
    shown = ", ".join(f"{v:.10g}" for v in x[:most])
    return f"({shown}{f', … {len(x):,} in all' if len(x) > most else ''})"


# what verdicts mean where the question is another one
_SENTENCES = {
    ("minimise", "CANDIDATE"): "a search found this point; upper is verified, but lower values may exist",
    ("maximise", "PROVED"): "the global maximum is proved to lie between lower and upper",
    ("maximise", "CANDIDATE"): "a search found this point; lower is verified, but higher values may exist",
    ("feasible", "PROVED"): "a feasible point is proved",
    ("feasible", "STOPPED"): "the run ended before anything was proved",
    ("feasible", "UNDECIDED"): "no region can be cut any further, and nothing was proved",
}


_OF_TRIALS = {
    ("minimise", "CANDIDATE"): "a search found this point; upper is a value that was returned, and lower values may exist",
    ("maximise", "CANDIDATE"): "a search found this point; lower is a value that was returned, and higher values may exist",
    ("minimise", "UNDECIDED"): "no trial gave a value that counts, and nothing is known where none was made",
}
_OF_TRIALS["maximise", "UNDECIDED"] = _OF_TRIALS["minimise", "UNDECIDED"]
_NESTED = "y was found by trials, and {} values may exist at others; of this y the {} over z is enclosed, with proof"


def sentence(result: Any) -> str:
    """What the verdict of a Result means."""
    if result.engine == "nested" and result.x is not None:
        return _NESTED.format(*("higher", "maximum") if result.maximised else ("lower", "minimum"))
    if result.trials is not None:
        return _OF_TRIALS[result.purpose, result.verdict.name]
    said = _without_bounds(result) or _SENTENCES.get((result.purpose, result.verdict.name), result.verdict.value)
    return said if not result.feasibility else f"{said} (equations are relaxed: they may be off by {result.feasibility:g})"


def _without_bounds(result: Any) -> str | None:
    """What is said of an open proof that knows no bound on the far side of the value at x; None of others."""
    far, near = ("upper", "lower") if result.maximised else ("lower", "upper")
    if result.verdict.name not in ("STOPPED", "UNDECIDED") or result.purpose == "feasible" or np.isfinite(getattr(result, far)):
        return None
    if np.isfinite(getattr(result, near)):
        return f"no {far} bound was found; the {near} bound holds"
    return "nothing is proved of the values" if result.verdict.name == "STOPPED" else None


def rows(result: Any) -> list[tuple[str, str]]:
    """The rows of a Result's table; those without a name belong to the one above."""
    shown = [("verdict", f"{result.verdict.name}: {sentence(result)}"), ("success", "yes" if result.success else "NO"),
             ("message", result.message)]
    for name, told in (("obstacle", result.obstacle), ("advice", result.advice)):
        if told is not None:
            shown += zip([name, *[""] * len(told)], textwrap.wrap(told, _WIDTH), strict=False)
    if result.purpose != "feasible":
        shown += [*_bounds(result), *_gap(result)]
    shown += [*_point(result.x, result.names), *_solutions(result.solutions or ()), *_trials(result), *_constraints(result),
              *_boxes(result), *_minima(result)]
    shown.append(("work", f"{counted(result.nfev, 'evaluation')}, {counted(result.nit, 'step')}, {result.seconds:.3f} s"))
    shown += [("presolve", "; ".join(result.presolve))] if result.presolve else []
    shown.append(("run", f"engine {result.engine}, seed {result.seed}, on {result.device}"))
    return [*shown, *_compared(result), *_rounds(result)]


def _point(x: np.ndarray | None, names: Names) -> list[tuple[str, str]]:
    """The point; where variables have names, a row for each."""
    if x is None or names is None:
        return [("x", point(x))]
    shown = [printable(name) for name in names[:_VARIABLES]]
    wide = max(map(len, shown))
    lines = [f"{name:<{wide}}  {value:.10g}" for name, value in zip(shown, x, strict=False)]
    lines += [f"and {len(x) - _VARIABLES:,} more"] if len(x) > _VARIABLES else []
    return list(zip(["x", *[""] * len(lines)], lines, strict=False))


def _solutions(ranked: Sequence[Any]) -> list[tuple[str, str]]:
    """The best points in their order."""
    lines = [f"{k}. {entry.fun:.10g} at {point(entry.x, 8)}{'' if entry.verdict.name == 'PROVED' else ', ' + entry.verdict.name}"
             for k, entry in enumerate(ranked[:_SOLUTIONS], start=1)]
    lines += [f"… {len(ranked):,} in all"] if len(ranked) > _SOLUTIONS else []
    return list(zip(["solutions", *[""] * len(lines)], lines, strict=False))


def _gap(result: Any) -> list[tuple[str, str]]:
    """How far a run that stopped has come, and how that changed in the last quarter of its time."""
    if result.verdict.name != "STOPPED" or not np.isfinite(result.gap):
        return []
    value = abs(result.lower if result.maximised else result.upper)
    part = f" ({100 * result.gap / value:.3g} % of the value at x)" if value else ""
    before = next((entry for entry in reversed(result.history) if entry.seconds <= 0.75 * result.seconds), None)
    gap = np.inf if before is None else before.upper - before.lower
    moved = "there was none before the last quarter of the time" if not np.isfinite(gap) else \
        f"{gap:.3g} after three quarters of the time" if gap > result.gap else "as after three quarters of the time"
    return [("gap", f"{result.gap:.3g}{part}; {moved}")]


def _compared(result: Any) -> list[tuple[str, str]]:
    """Whether what was traced is the function that the user calls."""
    if result.plain_calls is None:
        return []
    if not result.plain_calls:
        return [("checked", "NO: what was traced was not compared with plain calls (check=False)")]
    agree = "agrees" if result.plain_calls == 1 else "agree"
    return [("checked", f"{counted(result.plain_calls, 'plain call')} {agree} with what was traced")]


def _bounds(result: Any) -> list[tuple[str, str]]:
    """The two bounds, the one that a point has first."""
    names = ("lower", "upper") if result.maximised else ("upper", "lower")
    reached, proved = (getattr(result, name) + 0.0 for name in names)  # no -0.0
    where = "in the box that is proved to hold a feasible point" if isinstance(result.feasible, tuple) else "at x"
    how = "returned" if result.trials is not None and result.trials.inner is None else "verified"
    at_x = "none" if result.x is None else f"{reached!r} ({how} {where})" if np.isfinite(reached) else \
        f"none; the value at x is about {result.fun!r}"
    return [(f"{names[0]} bound", at_x), (f"{names[1]} bound", "none" if np.isinf(proved) else f"{proved!r} (proved)")]


def _rounds(result: Any) -> list[tuple[str, str]]:
    """Where regions were dealt to workers, how many there were of all."""
    if result.rounds is None:
        return []
    many = result.rounds
    lost = f", {many['redone']:,} of them lost and redone" if many["redone"] else ""
    return [("workers", f"{many['workers']:,}, {counted(many['rounds'], 'round')} of {many['portions']:,} portions{lost}")]


def _trials(result: Any) -> list[tuple[str, str]]:
    """The trials of a black box: what was chosen, the constraints, counts, failures."""
    made = result.trials
    if made is None:
        return []
    shown = [] if made.point is None else [("point", ", ".join(map(repr, made.point)))]
    if made.constraints:
        values = [f"g{k} = {value:.6g}" for k, value in enumerate(made.constraints[:_SHOWN], start=1)]
        more = f", … {len(made.constraints):,} in all" if len(made.constraints) > _SHOWN else ""
        shown.append(("constraints", f"{', '.join(values)}{more} (returned at x)"))
    lines = made.lines() + ([] if made.journal is None else [f"kept in {made.journal}"])
    wrapped = [part for line in lines for part in textwrap.wrap(line, _WIDTH)]
    return shown + list(zip(["trials", *[""] * len(wrapped)], wrapped, strict=False))


def _constraints(result: Any) -> list[tuple[str, str]]:
    """The feasible point and the constraints there; nothing without constraints."""
    table = result.constraints
    if table is None:
        return []
    shown = []
    if isinstance(result.feasible, tuple):
        shown = [("feasible", f"a point in {box(*result.feasible, result.names)}")]
    return shown + list(zip(["constraints", *[""] * len(table)], table.lines(_SHOWN), strict=False))


def table(result: Any) -> str:
    """The table of a Result."""
    return "\n".join(f"{name:<12} {text}" for name, text in rows(result))


def html_table(result: Any) -> str:
    """The same for a notebook."""
    left = "style='text-align:left;white-space:pre-wrap'"
    import html  # for notebooks alone

    lines = "".join(f"<tr><th {left}>{html.escape(name)}</th><td {left}>{html.escape(text)}</td></tr>"
                    for name, text in rows(result))
    return f"<table>{lines}</table>"


def _boxes(result: Any) -> list[tuple[str, str]]:
    name = "maximisers" if result.maximised else "minimisers"
    if result.boxes is None or result.purpose == "feasible":
        return []
    if not result.boxes:
        return [(name, "none")]
    if result.regions is not None and result.regions.unions is not None and result.regions.count > _SHOWN:
        return _product(name, result.regions.unions.merged(), result.names)
    few = len(result.boxes) <= _SHOWN or "minimisers" in vars(result)
    known = result["minimisers"] if result.success and few else None
    if known is not None and known.rest == 0 and known.may_be_global:
        return _alone(name, known.may_be_global, result.names)
    found = [(name, f"all in {counted(len(result.boxes), 'box', 'es')}{_merged_from(result.regions)}, {_widest(result)}")]
    found += [("", box(*ends, result.names)) for ends in _with_x_first(result.boxes, result.x)[:_SHOWN]]
    if len(result.boxes) > _SHOWN:
        found.append(("", f"and {len(result.boxes) - _SHOWN:,} more"))
    if known is not None and known.why is not None:
        found.append(("", f"how many is not shown: {known.why}"))
    elif known is None and result.success and result.question is not None:
        found.append(("", f"r.find_minimisers(time_limit=...) looks for {name} that are proved to be alone"))
    return found


def _widest(result: Any) -> str:
    """How wide what is left is, and what makes it narrower."""
    with np.errstate(over="ignore"):
        widest = max(float((hi - lo).max()) for lo, hi in result.boxes)
    wide = f"{'the widest ' if len(result.boxes) > 1 else ''}{widest:.3g} wide"
    one = "it" if len(result.boxes) == 1 else "them"
    return f"{wide}; a smaller xtol= may narrow {one}" if result.success and 0 < widest < np.inf else wide


def _alone(name: str, minimisers: list[Any], names: Names) -> list[tuple[str, str]]:
    """Boxes with one minimiser each that may be global, and no other elsewhere."""
    if len(minimisers) == 1:
        return [(name, f"exactly one, in {box(minimisers[0].lo, minimisers[0].hi, names)}")]
    found = [(name, f"at least one of {len(minimisers)} local ones, each alone in its box")]
    found += [("", box(m.lo, m.hi, names)) for m in minimisers[:_SHOWN]]
    return [*found, ("", f"and {len(minimisers) - _SHOWN:,} more")] if len(minimisers) > _SHOWN else found


def _product(name: str, unions: Unions, names: Names) -> list[tuple[str, str]]:
    """The union of each variable; one line where all are equal."""
    n, count = len(unions), unions.count
    found = [(name, f"all in a product of unions, {number_of(count)} box{'es' if count != 1 else ''}")]
    sizes = unions.counts
    if n > 1 and (sizes == sizes[0]).all() and all((ends.reshape(n, -1) == ends[:sizes[0]]).all()
                                                   for ends in (unions.lo, unions.hi)):
        return [*found, ("", f"each variable in {union(unions[0])}")]
    found += [("", f"{f'x[{i}]' if names is None else printable(names[i])} in {union(unions[i])}") for i in range(min(n, _SHOWN))]
    if n > _SHOWN:
        found.append(("", f"… {n:,} variables in all, the widest interval {unions.width:.3g}"))
    return found


def _merged_from(regions: Cover | None) -> str:
    if regions is None:
        return ""
    wide = f", the widest {regions.width:.3g}" if regions.kept and len(regions) > 1 else ""
    return f" ({counted(len(regions), 'region')}{wide})"


def _with_x_first(boxes: list, x: np.ndarray | None) -> list:
    """The boxes, first the one that holds x, if one does."""
    holds = next((k for k, (lo, hi) in enumerate(boxes) if x is not None and ((lo <= x) & (x <= hi)).all()), None)
    return boxes if holds is None else [boxes[holds], *boxes[:holds], *boxes[holds + 1:]]


def _minima(result: Any) -> list[tuple[str, str]]:
    found = []
    if result.confidence is not None:
        found.append(("confidence", f"{result.confidence:.3g} that no basin is unseen (an estimate)"))
    if result.minima:
        found.append(("maxima" if result.maximised else "minima", f"{'value':>22} {'descents':>8} {'share':>6}  {'ended':<10} x"))
        for m in result.minima[:_SHOWN]:
            found.append(("", f"{m.value:>22.15g} {m.descents:>8} {m.share:>6.1%}  {m.status.name:<10} {point(m.x, 4)}"))
        if len(result.minima) > _SHOWN:
            found.append(("", f"{f'and {len(result.minima) - _SHOWN:,} more':>22}"))
    return found
