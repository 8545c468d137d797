"""The same problem written, cut or extended in another way: each transformation of a problem gives the one it is compared with
(itself, as a rule) and its variants, or None where it does not apply."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from bench.related.answers import Answer
from bench.related.balls import PI
from bench.related.draws import Draw, inside, replaced
from bench.related.problems import End, Problem, Row, View, down, narrower_than_doubles, up

_INF = math.inf
FAR = 1e6  # the bounds of a variable that stands for the objective


@dataclass(frozen=True)
class Variant:
    """A problem that is related to another, how it is asked, and how its answer becomes one about the other."""

    problem: Problem
    back: Callable[[Answer], Answer] = lambda answer: answer
    door: str = "minimize"
    settings: dict[str, Any] = field(default_factory=dict)


Transform = Callable[[Draw, Problem, list[float]], tuple[Problem, Sequence[Variant]] | None]


def exact_end(v: Fraction) -> End:
    """As a double where it is one."""
    return float(v) if float(v) == v else v


def _moved(end: End, scale: float, shift: float) -> End | None:
    """The end of y, where x = scale * y + shift; None where it cannot be written."""
    if end == PI:
        return end if (scale, shift) == (1.0, 0.0) else None
    if not math.isfinite(end):
        return end * scale
    try:
        return exact_end((Fraction(end) - Fraction(shift)) / Fraction(scale))
    except OverflowError:
        return None


def _seen(d: Draw, q: Problem, view: View) -> tuple[Problem, list[Variant]] | None:
    """The problem in variables y, of which the old ones are a view."""
    bounds: list[Any] = [None] * q.n
    for k, (i, scale, shift) in enumerate(zip(view.order, view.scale, view.shift, strict=True)):
        ends = [_moved(end, scale, shift) for end in q.bounds[k]]
        if None in ends or (not d.may("ends") and any(isinstance(e, Fraction) for e in ends)):
            return None
        bounds[i] = tuple(ends if scale > 0 else ends[::-1])
    integers = [0] * q.n
    for k, i in enumerate(view.order):
        integers[i] = int(q.is_whole(k))
    features = q.features | ({"ends"} if any(isinstance(e, Fraction) for ends in bounds for e in ends) else set())
    other = q.having(view=view, bounds=tuple(bounds), integers=tuple(integers) if q.integers else (), features=features)
    return q, [Variant(other, lambda a: a.through(view))]


def permuted(d: Draw, q: Problem, p: list[float]) -> Any:
    order = tuple(int(i) for i in d.rng.permutation(q.n))
    return None if q.n < 2 else _seen(d, q, View(order, (1.0,) * q.n, (0.0,) * q.n))


def shifted(d: Draw, q: Problem, p: list[float]) -> Any:
    def shift(i: int) -> float:
        return 0.0 if PI in q.bounds[i] else float(d.whole(-3, 3)) if q.is_whole(i) else d.whole(-12, 12) / 4
    shifts = tuple(shift(i) for i in range(q.n))
    return _seen(d, q, View(tuple(range(q.n)), (1.0,) * q.n, shifts)) if any(shifts) else None


def scaled(d: Draw, q: Problem, p: list[float]) -> Any:
    """Variables and the function, by powers of two; variables may change their sign."""
    def scale(i: int) -> float:
        sign = d.one_of((1.0, -1.0)) if PI not in q.bounds[i] else 1.0
        return sign if q.is_whole(i) or PI in q.bounds[i] else sign * 2.0 ** d.whole(-3, 3)
    found = _seen(d, q, View(tuple(range(q.n)), tuple(scale(i) for i in range(q.n)), (0.0,) * q.n))
    if found is None:
        return None
    factor, (variant,) = 2.0 ** d.whole(-4, 4), found[1]
    other = variant.problem.having(f=("mul", ("number", factor), q.f))
    return q, [Variant(other, lambda a: variant.back(a.times(Fraction(factor))))]


def negated(d: Draw, q: Problem, p: list[float]) -> Any:
    return q, [Variant(q.having(f=("neg", q.f)), door="maximize")]


def part(d: Draw, q: Problem, p: list[float]) -> Any:
    """A part of the box around p."""
    bounds, i = list(q.bounds), d.whole(0, q.n - 1)
    for k in {i, d.whole(0, q.n - 1)}:
        (lo, hi), whole = bounds[k], q.is_whole(k)
        if narrower_than_doubles(lo, hi):
            continue
        at = inside(d, lo, hi, whole)
        bounds[k] = (lo, max(at, p[k])) if d.chance(0.5) else (min(at, p[k]), hi)
    return q, [Variant(q.having(bounds=tuple(bounds)))]


def fixed(d: Draw, q: Problem, p: list[float]) -> Any:
    """Equal bounds, and an equation within wider ones."""
    i = d.whole(0, q.n - 1)
    lo, hi = q.bounds[i]
    if narrower_than_doubles(lo, hi):
        return None
    at = float(p[i])
    if not (up(lo) <= at <= down(hi)):
        return None
    if down(hi) - up(lo) < 1e-9 or d.chance(0.3):
        lo, hi = at - d.one_of((0.0, 0.5, 1.0)), at + d.one_of((0.5, 1.0))
    row = Row(("x", i), at, at, compared=d.chance(0.5))
    whole = q.integers if q.integers and not d.chance(0.5) else tuple(0 if k == i else w for k, w in enumerate(q.integers))
    base = q.having(bounds=replaced(q.bounds, i, (at, at)), integers=whole if any(whole) else ())
    return base, [Variant(base.having(bounds=replaced(q.bounds, i, (lo, hi)), rows=(*q.rows, row)))]


def redundant(d: Draw, q: Problem, p: list[float]) -> Any:
    """Constraints that say nothing new."""
    more: list[Row] = []
    i = d.whole(0, q.n - 1)
    lo, hi = q.bounds[i]
    if PI not in (lo, hi):
        more += [Row(("x", i), lo, _INF)] * (lo > -_INF) + [Row(("x", i), -_INF, hi)] * (hi < _INF)
    more += [Row(("zero_times", ("x", i)), -1.0, 1.0), Row(("square", ("x", i)), 0.0, _INF)]
    for row in q.rows:
        if not isinstance(row.lo, Fraction) and not isinstance(row.hi, Fraction):
            factor = 2.0 ** d.whole(-3, 3)
            more += [Row(row.e, row.lo - 1.0, row.hi + 1.0),
                     Row(("mul", ("number", factor), row.e), row.lo * factor, row.hi * factor)]
    rows = [*q.rows, *(d.one_of(more) for _ in range(d.whole(1, 2)))]
    return q, [Variant(q.having(rows=tuple(rows[k] for k in d.rng.permutation(len(rows)))))]


def _without_last(answer: Answer) -> Answer:
    """Without the last variable."""
    def shorter(box: tuple[list, list]) -> tuple[list, list]:
        return box[0][:-1], box[1][:-1]
    return Answer(answer.verdict, answer.lower, answer.upper, None if answer.point is None else shorter(answer.point),
                  None if answer.boxes is None else [shorter(box) for box in answer.boxes], answer.attained)


def moved(d: Draw, q: Problem, p: list[float]) -> Any:
    """The objective is a variable, which a constraint defines or bounds."""
    t = ("x", q.n)
    row = d.one_of((Row(("sub", t, q.f), 0.0, _INF), Row(("sub", t, q.f), 0.0, 0.0), Row(("sub", q.f, t), -_INF, 0.0)))
    ends = d.one_of(((-FAR, FAR), (-_INF, _INF)))
    other = q.having(f=t, bounds=(*q.bounds, ends), rows=(*q.rows, row), integers=(*q.integers, 0) if q.integers else ())
    return q, [Variant(other, _without_last)]


def unrelated(d: Draw, q: Problem, p: list[float]) -> Any:
    """A further variable, with a term of its own that is 0 at best."""
    z = ("x", q.n)
    term = d.one_of((("square", ("sub", z, ("number", 1.0))), ("abs", z), ("zero_times", z), ("max", z, ("number", 0.0)),
                     ("sub", ("number", 1.0), ("cos", z))))
    other = q.having(f=("add", q.f, term), bounds=(*q.bounds, d.one_of(((-2.0, 3.0), (0.0, 1.0), (-1.0, 1.0)))),
                     integers=(*q.integers, int(d.chance(0.3))) if q.integers else ())
    return q, [Variant(other, _without_last)]


def choice(d: Draw, q: Problem, p: list[float]) -> Any:
    """A whole number is one of a few: each by itself, as the roots of an equation, or as start boxes."""
    some = [i for i, w in enumerate(q.integers) if w]
    if not some:
        return None
    i = d.one_of(some)
    lo, hi = (math.ceil(up(q.bounds[i][0])), math.floor(down(q.bounds[i][1])))
    if not 0 <= hi - lo <= 5:
        return None
    values = [float(v) for v in range(lo, hi + 1)]
    loose = tuple(0 if k == i else w for k, w in enumerate(q.integers))
    loose = loose if any(loose) else ()
    kind = d.one_of(("each", "roots", "starts"))
    if kind == "each":
        return q, [Variant(q.having(bounds=replaced(q.bounds, i, (v, v)), integers=d.one_of((loose, q.integers))))
                   for v in values]
    ends = (values[0], values[-1])
    if kind == "roots":
        product = ("sub", ("x", i), ("number", values[0]))
        for v in values[1:]:
            product = ("mul", product, ("sub", ("x", i), ("number", v)))
        return q, [Variant(q.having(bounds=replaced(q.bounds, i, ends), integers=loose, rows=(*q.rows, Row(product, 0.0, 0.0))))]
    starts = tuple(replaced(q.bounds, i, (v, v)) for v in values)
    return q, [Variant(q.having(bounds=replaced(q.bounds, i, ends), integers=loose, start=starts))]


def split(d: Draw, q: Problem, p: list[float]) -> Any:
    """Two boxes, each by itself, or both as start boxes."""
    some = [i for i, (lo, hi) in enumerate(q.bounds) if not narrower_than_doubles(lo, hi) and up(lo) < down(hi)]
    if not some:
        return None
    i = d.one_of(some)
    (lo, hi), whole = q.bounds[i], q.is_whole(i)
    at = inside(d, lo, hi, whole)
    after = at + 1 if whole and at + 1 <= down(hi) else at
    boxes = replaced(q.bounds, i, (lo, at)), replaced(q.bounds, i, (after, hi))
    if d.chance(0.5):
        return q, [Variant(q.having(start=boxes))]
    return q, [Variant(q.having(bounds=box)) for box in boxes]


def started(d: Draw, q: Problem, p: list[float]) -> Any:
    """Bounds, and a start box within wider ones."""
    i = d.whole(0, q.n - 1)
    lo, hi = q.bounds[i]
    if PI in (lo, hi):
        return None
    wider = replaced(q.bounds, i, (lo - d.whole(0, 2), hi + d.whole(0, 2)))
    return q, [Variant(q.having(bounds=wider, start=(q.bounds,)))]


def possible(d: Draw, q: Problem, p: list[float]) -> Any:
    """The feasible set alone: points at which f is undefined do not belong to it."""
    rows = (*q.rows, Row(("zero_times", q.f), -1.0, 1.0))
    return q, [Variant(q.having(f=("number", 0.0), rows=rows), door="feasible")]


def coarse(d: Draw, q: Problem, p: list[float]) -> Any:
    """Other tolerances, limits and seeds."""
    settings = d.one_of(({"max_boxes": d.whole(1, 60)}, {"atol": 0.5, "rtol": 0.1}, {"atol": 1e-6, "rtol": 1e-6},
                         {"seed": d.whole(1, 99)}, {"xtol": 0.05}, {"batch": d.one_of((64, 256))}))
    return q, [Variant(q, settings=settings)]


def engine(name: str) -> Transform:
    """Another engine."""
    return lambda d, q, p: (q, [Variant(q, settings={"engine": name, **({"seed": d.whole(0, 9)} if name == "swarm" else {})})])


def linear_programs(d: Draw, q: Problem, p: list[float]) -> Any:
    return q, [Variant(q, settings={"options": {"lp": True}})]
