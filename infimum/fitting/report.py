"""A fit as text."""

import html
import math
import re
import textwrap
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from typing import Any

import numpy as np

from infimum.fitting.plateau import NOTABLE_CHANGE
from infimum.problem.text import counted

_WIDTH, _FITS, _CORRELATED, _NEARLY_ALL = 100, 6, 0.1, 0.99
_ROUNDED = 1e-6                          # of a sum of squares: rounding errors, where a single square is about as large
_MOST_DIGITS, _LONGEST_PLAIN = 1200, 22  # that doubles may have, and that are written without an exponent
_EXCHANGED = r"The function seems to stay the same when (.*?) are exchanged: .*? leaves? out what is there ([\d,]+) times\."
_VARIABLE = r"\bx\[(\d+)\]"
_NARROWER = "a smaller xtol= narrows them", "an xtol= narrows them, given time"
_HEADS = ("parameter", "value", "std. error", "proved to lie in", "bounds")


def text(result: Any, correlated: float | None = _CORRELATED) -> str:
    """The report of a FitResult, with correlations of at least that size; None: without."""
    lines = _rows([("fit", _headline(result)), ("verdict", f"{result.verdict.name}: {_verdict(result)}"),
                   *_gap(result), ("best fits", uniqueness(result)), *_notes(result)])
    lines += ["", *_table(result), *_several(result)]
    return "\n".join([*lines, "", *_rows(_statistics(result, correlated))])


def html_text(result: Any) -> str:
    """The same for a notebook."""
    return f"<pre>{html.escape(text(result))}</pre>"


def known(result: Any, name: str) -> Any:
    """What was found out under that name by now; None if nobody has asked yet. Printing asks for nothing that takes long."""
    return vars(result).get(name)


def is_wide(result: Any) -> bool:
    """Is the least loss enclosed so widely that a user would notice, though the fit is not exact?"""
    return not result.exact and not result.least.width <= NOTABLE_CHANGE * result.least.hi


def uniqueness(result: Any) -> str:
    """What is known of the number of best fits."""
    known, where = result.minimisers, " in ascending order" if result.problem.groups else ""
    if result.unique:
        return f"exactly one within the bounds{where}, proved"
    if result.unique is False:
        return f"several that are equally good, proved: {len(result.fits)} within the bounds{where}"
    boxes = counted(len(result.fits), "box", "es")
    if known is None and result.success:
        return f"all in {boxes}; their number is not computed: r.find_minimisers()"
    if known is None:
        return "not known: nothing was proved" if result.minimum.boxes is None else \
            f"all in {boxes}; their number is not known, since the run ended before the proof did"
    if known.rest == 0 and known.may_be_global:
        return f"one or more of {len(result.fits)}, each alone in its box: their losses are too close to tell which is least"
    why = known.why and re.sub(_VARIABLE, lambda k: result.problem.parameters.free_names[int(k[1])], known.why)
    return f"all in {boxes}; their number is not known" + (f": {why.replace(*_NARROWER)}" if why else "")


def outward(lo: float, hi: float) -> str:
    """The interval in decimal digits that enclose it, as many as its width is worth.

    >>> outward(1.2345678901, 1.2345678912), outward(0.0, 0.0), outward(-2.0, math.inf)
    ('[1.23456789, 1.2345678912]', '[0, 0]', '[-2, inf]')
    """
    if not (math.isfinite(lo) and math.isfinite(hi)) or lo == hi:
        return f"[{lo + 0.0:.17g}, {hi + 0.0:.17g}]"
    with localcontext(prec=_MOST_DIGITS):
        unit = Decimal(10) ** ((Decimal(hi) - Decimal(lo)).adjusted() - 1)
        low, high = Decimal(lo).quantize(unit, ROUND_FLOOR), Decimal(hi).quantize(unit, ROUND_CEILING)
        return f"[{_plain(low.normalize())}, {_plain(high.normalize())}]"


def _plain(value: Decimal) -> str:
    """With an exponent where it is shorter that way."""
    written = format(value, "f")
    return "0" if not value else written if len(written) <= _LONGEST_PLAIN else format(value, "e")


def _headline(result: Any) -> str:
    model, data = result.problem.model, result.problem.data
    return f"{model.name}({model.variable}, {', '.join(model.names)}) to {counted(data.size, 'measurement')}"


def _verdict(result: Any) -> str:
    least, named = result.least, result.problem.loss.named
    between = f"the {named} of the best fit lies in {outward(least.lo, least.hi)}"
    if result.verdict.name == "PROVED":
        return between
    return f"{between}; {result.minimum.verdict.value}"


def _gap(result: Any) -> list[tuple[str, str]]:
    """How far a run that stopped has come."""
    least = result.least
    if result.verdict.name != "STOPPED" or not math.isfinite(least.width):
        return []
    part = f" ({100 * least.width / least.hi:.3g} % of the {result.problem.loss.named} at the best point)" if least.hi else ""
    return [("gap", f"{least.width:.3g}{part}; {result.message}")]


def advice(result: Any) -> str | None:
    """That of the search, in terms of the fit: parameters by name, and its own keywords."""
    told = result.minimum.advice
    if told is None:
        return None
    told, names = told.replace("x0=", "p0="), result.problem.parameters.free_names
    found = re.match(_EXCHANGED, told)
    if found is None:
        return told
    alike = [names[int(k)] for k in re.findall(_VARIABLE, found[1])]
    return f"The model seems to stay the same when {', '.join(alike[:-1])} and {alike[-1]} are exchanged: if so, " \
           f"symmetric={[(name,) for name in alike]!r} leaves out what is there {found[2]} times.{told[found.end():]}"


def _notes(result: Any) -> list[tuple[str, str]]:
    """What a user should know: flat directions, bounds that were reached, obstacles."""
    notes = []
    if result.exact:
        notes.append(("NOTE", "the model meets every measurement up to rounding errors: standard errors tell nothing"))
    elif result.success and is_wide(result):
        notes.append(("NOTE", f"the {result.problem.loss.named} is so small for these data that rounding errors, or "
                              "atol=, leave its enclosure wide"))
    notes += _dominating(result)
    plateaus = known(result, "plateaus") or {}
    for name in result.undetermined:
        p, flat = result.params[name], plateaus.get(name)
        said = f"no value in {outward(p.lo, p.hi)} could be excluded, of the bounds {_bounds(p)}" if flat is None else \
            f"the fit is best at its {p.at_bound} bound, but all values in [{flat.lo:.6g}, {flat.hi:.6g}] fit as well, to " \
            f"{NOTABLE_CHANGE:g} of the {result.problem.loss.named}, proved"
        notes.append(("NOTE", f"{name} is not determined by these data: {said}"))
    for p in result.params.values():
        if p.at_bound is not None and p.name not in result.undetermined:
            notes.append(("NOTE", f"{p.name} is at its {p.at_bound} bound: beyond it there may be better fits"))
    if known(result, "undefined") is not None:
        notes.append(("NOTE", f"not all parameters within the bounds are candidates: {result.undefined}"))
    if result.minimum.obstacle is not None:
        notes.append(("obstacle", result.minimum.obstacle.replace("x0=", "p0=")))
    if result.advice is not None:
        notes.append(("advice", result.advice))
    if result.problem.groups is not None:
        names = result.problem.parameters.free_names
        notes.append(("order", " <= ".join(names[group[0]] for group in result.problem.groups)))
    return notes


def _dominating(result: Any) -> list[tuple[str, str]]:
    """One measurement that makes up nearly all of the sum of squares, which then says nothing of the others."""
    s, data = result.statistics, result.problem.data
    if s is None or result.exact or s.degrees_of_freedom < 2:
        return []
    squares = ((result.residuals / data.unit) ** 2).ravel()
    worst = int(np.argmax(squares))
    if not _NEARLY_ALL * s.chi_square <= squares[worst] <= (1 + _ROUNDED) * s.chi_square:
        return []
    where = worst if data.y.ndim == 1 else list(map(int, np.unravel_index(worst, data.y.shape)))
    share = f"{squares[worst] / s.chi_square:.4%}"
    return [("NOTE", f"measurement {where} (counted from 0) makes up {share} of the sum of squares: is it an outlier, or its "
                     "sigma too small?")]


def _table(result: Any) -> list[str]:
    rows = [_HEADS]
    for p in result.params.values():
        if p.fixed:
            rows.append((p.name, f"{p.value:.10g}", "fixed", "", ""))
        else:
            rows.append((p.name, f"{p.value:.10g}", _error(p), outward(p.lo, p.hi), _bounds(p)))
    widths = [max(len(row[k]) for row in rows) for k in range(len(_HEADS))]
    return ["  ".join(cell.ljust(w) if k in (0, 3, 4) else cell.rjust(w) for k, (cell, w) in
                      enumerate(zip(row, widths, strict=True))).rstrip() for row in rows]


def _bounds(p: Any) -> str:
    return f"({p.bounds[0]:.6g}, {p.bounds[1]:.6g})"


def _error(p: Any) -> str:
    if p.stderr is None or not math.isfinite(p.stderr):
        return "none" if p.stderr is None else "infinite"
    part = f" ({abs(p.stderr / p.value):.2%})" if p.value else ""
    return f"{p.stderr:.4g}{part}"


def _several(result: Any) -> list[str]:
    """The boxes of the fits, if there are more than one."""
    if len(result.fits) == 1 or result.undetermined:
        return []
    lines = ["", "Every best fit is near one of" if result.fits[0].alone else "Every best fit lies in one of"]
    for fit in result.fits[:_FITS]:
        ends = [(p.name, float(lo), float(hi)) for p, lo, hi in zip(result.params.values(), fit.lo, fit.hi, strict=True)
                if not p.fixed]
        lines.append("  " + ", ".join(f"{name} = {lo / 2 + hi / 2:.10g}" if fit.alone else f"{name} in {outward(lo, hi)}"
                                      for name, lo, hi in ends))
    return lines + ([f"  and {len(result.fits) - _FITS:,} more"] if len(result.fits) > _FITS else [])


def _statistics(result: Any, correlated: float | None) -> list[tuple[str, str]]:
    s, rows = result.statistics, []
    if s is not None:
        free = f"{s.degrees_of_freedom:,} degree{'s' if s.degrees_of_freedom > 1 else ''} of freedom"
        reduced = f"reduced chi-square {s.reduced_chi_square:.6g} ({free})" if s.degrees_of_freedom else \
            f"{counted(s.data, 'measurement')} for {counted(s.parameters, 'parameter')} leave no degree of freedom"
        varies = math.isfinite(s.r_squared)
        explained = f"R² {round(s.r_squared, 12) + 0.0:.6g}" if varies else "no R², since the data do not vary"
        rows.append(("estimates", f"{reduced}, {explained}, AIC {s.aic:.6g}, BIC {s.bic:.6g}"))
        rows += [] if correlated is None else _correlations(result, s.correlation, correlated)
    minimum = result.minimum
    work = f"{counted(minimum.nfev, 'evaluation')}, {counted(minimum.nit, 'step')}, {minimum.seconds:.3f} s on {minimum.device}"
    return [*rows, ("work", work)]


def _correlations(result: Any, matrix: np.ndarray, least: float) -> list[tuple[str, str]]:
    """The strongest first."""
    names = result.problem.parameters.free_names
    pairs = [(abs(matrix[i, j]), f"{names[i]}, {names[j]} {matrix[i, j]:+.3f}") for i in range(len(names)) for j in range(i)
             if abs(matrix[i, j]) >= least]
    return [("correlation", "; ".join(said for _, said in sorted(pairs, reverse=True)[:2 * _FITS]))] if pairs else []


def _rows(rows: list[tuple[str, str]]) -> list[str]:
    lines = []
    for name, said in rows:
        parts = textwrap.wrap(said, _WIDTH, break_long_words=False, break_on_hyphens=False) or [""]
        lines += [f"{name if not k else '':<12} {part}" for k, part in enumerate(parts)]
    return lines
