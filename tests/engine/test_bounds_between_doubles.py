"""Bounds whose ends are no doubles, against minima that are known in rational numbers: every engine, with maxima, whole numbers,
constraints and start boxes."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import infimum
from infimum import Constraint
from infimum.support.given_numbers import round_down, round_up

INF = math.inf
PROVERS = ("auto", "newton", "complete", "subdomain")
QUICKLY = settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
Pair = tuple[Fraction, Fraction]
tiny = st.sampled_from([sign * Fraction(1, 10**k) for k in (17, 20, 40) for sign in (-1, 1)])


# ---- numbers between doubles
def _near_doubles() -> st.SearchStrategy[Fraction]:
    return st.builds(lambda x, d: Fraction(x) + d, st.sampled_from([-2.0, -1.0, 0.0, 0.1, 0.5, 1.0, 3.0]), tiny)


numbers = st.one_of(st.builds(Fraction, st.integers(-20, 20), st.sampled_from([1, 3, 7, 10])), _near_doubles(),
                    st.sampled_from([Fraction(1, 10**330), Fraction(-1, 10**330), Fraction(2**53 + 1, 2**50)]))


@st.composite
def pairs(draw: Any, wide: bool = False) -> Pair:
    """Wide ones, or also points, and numbers that are less than a double apart."""
    widths = [st.builds(Fraction, st.integers(1, 30), st.sampled_from([1, 3, 7]))]
    widths += [] if wide else [st.just(Fraction(0)), tiny.map(abs), st.just(Fraction(1, 10**16))]
    low = draw(numbers)
    return low, low + draw(st.one_of(widths))


def near(number: Fraction) -> st.SearchStrategy[Fraction]:
    """The number, one that doubles do not tell from it, or a double next to it."""
    return st.one_of(st.just(number), tiny.map(lambda d: number + d), st.just(Fraction(round_down(number))),
                     st.just(Fraction(round_up(number))))


def written(number: Fraction) -> Fraction | float:
    """As a user would write it in a formula."""
    return float(number) if Fraction(float(number)) == number else number


# ---- functions of a variable, and their least values between two numbers
class Term(NamedTuple):
    """A function of a variable and a number c. `stationary`: where it may be least inside of an interval."""

    value: Callable[[Any, Any], Any]
    stationary: Callable[[Fraction], list[Fraction]] = lambda c: []

    def least(self, c: Fraction, low: Fraction, high: Fraction, whole: bool = False) -> tuple[Fraction, list[Fraction]]:
        if whole:
            places = [Fraction(k) for k in range(math.ceil(low), math.floor(high) + 1)]
        else:
            places = sorted({low, high, *(x for x in self.stationary(c) if low <= x <= high)})
        values = [self.value(x, c) for x in places]
        return min(values), [x for x, v in zip(places, values, strict=True) if v == min(values)]


TERMS = {"bowl": Term(lambda x, c: (x - c) ** 2, lambda c: [c]), "hill": Term(lambda x, c: -((x - c) ** 2)),
         "rising": Term(lambda x, c: 3 * x + c),
         "two valleys": Term(lambda x, c: ((x - c) ** 2 - 1) ** 2, lambda c: [c - 1, c + 1])}
FORMS = [("bowl", "rising"), ("hill", "two valleys")]  # few, since each is compiled for each engine


class Sum(NamedTuple):
    """A sum of terms in its variables."""

    names: tuple[str, ...]
    constants: tuple[Fraction, ...]

    def __call__(self, x: Any) -> Any:
        parts = [TERMS[name].value(x[i], written(c)) for i, (name, c) in enumerate(zip(self.names, self.constants, strict=True))]
        return sum(parts[1:], start=parts[0])

    def least(self, boxes: list[list[Pair]], whole: bool = False) -> tuple[Fraction, list[tuple[Fraction, ...]]] | None:
        """The minimum over the union of the boxes and all minimisers; None if these hold nothing."""
        found: list[tuple[Fraction, tuple[Fraction, ...]]] = []
        for box in boxes:
            if any(math.ceil(a) > math.floor(b) if whole else a > b for a, b in box):
                continue
            each = [TERMS[name].least(c, *pair, whole) for name, c, pair in zip(self.names, self.constants, box, strict=True)]
            found += [(sum(value for value, _ in each), x) for x in product(*(places for _, places in each))]
        return None if not found else (min(v for v, _ in found), [x for v, x in found if v == min(v for v, _ in found)])


@st.composite
def sums(draw: Any, wide: bool = False) -> tuple[Sum, list[Pair]]:
    """A function and bounds, with constants at their ends, between them and elsewhere."""
    names = draw(st.sampled_from(FORMS))
    bounds = [draw(pairs(wide)) for _ in names]
    constants = [draw(st.one_of(numbers, near(a), near(b), st.just((a + b) / 2))) for a, b in bounds]
    return Sum(names, tuple(constants)), bounds


# ---- what a result claims
def holds(r: infimum.Result, least: Fraction, minimisers: list[tuple[Fraction, ...]], boxes: list[list[Pair]]) -> None:
    """No claim is false. `boxes`: exactly the points that are feasible."""
    lower, upper = (-r.upper, -r.lower) if r.maximised else (r.lower, r.upper)
    assert r.verdict.name != "INFEASIBLE"
    assert lower == -INF or Fraction(lower) <= least
    assert upper == INF or least <= Fraction(upper)
    if r.feasible is not None:
        lo, hi = r.feasible if isinstance(r.feasible, tuple) else (r.feasible,) * 2
        assert any(all(max(a, Fraction(p)) <= min(b, Fraction(q)) for (a, b), p, q in zip(box, lo, hi, strict=True))
                   for box in boxes)
        assert all(p <= x <= q for p, x, q in zip(lo, r.x, hi, strict=True))
    if r.boxes is not None:
        for x in minimisers:
            assert any(all(Fraction(p) <= v <= Fraction(q) for p, v, q in zip(lo, x, hi, strict=True)) for lo, hi in r.boxes)
    _holds_of_minimisers(r, minimisers)


def _holds_of_minimisers(r: infimum.Result, minimisers: list[tuple[Fraction, ...]]) -> None:
    found = r.minimisers
    for m in found or ():
        inside = {x for x in minimisers if all(Fraction(p) <= v <= Fraction(q) for p, v, q in zip(m.lo, x, m.hi, strict=True))}
        assert len(inside) <= 1
        assert inside or not (found.exactly_one and m.may_be_global)
    assert found is None or not found.exactly_one or len(set(minimisers)) == 1


def asked(f: Callable | None, bounds: Any, engine: str, maximise: bool = False, **more: Any) -> infimum.Result:
    """With settings that make engines quick; f is None for a feasible point."""
    quick = {"auto": {"particles": 8}, "swarm": {"particles": 8, "restarts": 0}, "complete": {"partition": (len(bounds), 2)}}
    more |= {"engine": engine, "options": quick.get(engine)}
    if f is None:
        return infimum.feasible(bounds, **more)
    return infimum.maximize(lambda x: -f(x), bounds, **more) if maximise else infimum.minimize(f, bounds, **more)


@pytest.mark.parametrize("engine", PROVERS)
@QUICKLY
@given(problem=sums(), maximise=st.booleans(), xtol=st.sampled_from([None, 1e-3]))
def test_minima_within_rational_bounds(engine, problem, maximise, xtol):
    f, bounds = problem
    r = asked(f, bounds, engine, maximise, xtol=xtol, max_boxes=2000)
    holds(r, *f.least([bounds]), [bounds])
    assert r.verdict.name == "PROVED"


@QUICKLY
@given(problem=sums(), wide=sums(wide=True))
def test_points_of_searches_lie_within_rational_bounds(problem, wide):
    f, bounds = problem
    r = asked(f, bounds, "swarm")
    holds(r, *f.least([bounds]), [bounds])
    f, bounds = wide
    r = infimum.minimize(lambda x: float(f([Fraction(v) for v in x.tolist()])), bounds, engine="index", max_trials=12)
    assert all(a <= Fraction(v) <= b for (a, b), v in zip(bounds, r.x.tolist(), strict=True))


@pytest.mark.parametrize("engine", PROVERS)
@QUICKLY
@given(problem=sums())
def test_whole_numbers_within_rational_bounds(engine, problem):
    f, bounds = problem
    truth = f.least([bounds], whole=True)
    r = asked(f, bounds, engine, integrality=1, max_boxes=2000)
    assert (r.verdict.name == "INFEASIBLE") == (truth is None)
    if truth is not None:
        holds(r, *truth, [[(Fraction(math.ceil(a)), Fraction(math.floor(b))) for a, b in bounds]])
        assert r.verdict.name == "PROVED" and (r.x == np.rint(r.x)).all()


@pytest.mark.parametrize("engine", PROVERS)
@QUICKLY
@given(problem=sums(), data=st.data())
def test_constraints_that_end_where_the_bounds_do(engine, problem, data):
    """Exactly there, beyond by less than doubles tell, or at the double next to it."""
    f, bounds = problem
    end, sign = data.draw(st.one_of(*map(near, bounds[0]))), data.draw(st.sampled_from(["<=", ">=", "=="]))
    low, high = (-INF if sign == "<=" else written(end)), (INF if sign == ">=" else written(end))
    row = Constraint(lambda x: x[0], low, high)
    left = [(max(bounds[0][0], end) if sign != "<=" else bounds[0][0], min(bounds[0][1], end) if sign != ">=" else bounds[0][1]),
            *bounds[1:]]
    truth = f.least([left])
    r, only = (asked(what, bounds, engine, constraints=row, max_boxes=40 if engine == "complete" else 300) for what in (f, None))
    if truth is None:
        assert r.feasible is None and only.feasible is None and "PROVED" not in (r.verdict.name, only.verdict.name)
        tells = Fraction(float(end)) == end and sign != "==" and round_up(bounds[0][0]) < round_down(bounds[0][1])
        assert not tells or r.verdict.name == only.verdict.name == "INFEASIBLE"
    else:
        holds(r, *truth, [left])
        assert only.verdict.name != "INFEASIBLE"


@st.composite
def start_boxes(draw: Any, bounds: list[Pair]) -> list[list[Pair]]:
    """Boxes that touch, overlap, or are less than a double apart."""
    def inside(pair: Pair) -> st.SearchStrategy[Fraction]:
        middle = (pair[0] + pair[1]) / 2
        return st.one_of(*map(st.just, pair), st.just(middle), near(middle)).map(lambda v: min(max(v, pair[0]), pair[1]))
    return [[tuple(sorted((draw(inside(pair)), draw(inside(pair))))) for pair in bounds] for _ in range(draw(st.integers(1, 3)))]


@pytest.mark.parametrize("engine", PROVERS)
@QUICKLY
@given(problem=sums(wide=True), data=st.data(), xtol=st.sampled_from([None, 1e-3]))
def test_start_boxes_with_rational_ends(engine, problem, data, xtol):
    f, bounds = problem
    boxes = data.draw(start_boxes(bounds))
    try:
        r = asked(f, bounds, engine, start_boxes=boxes, xtol=xtol, max_boxes=2000)
    except infimum.OptionError as error:  # nothing is claimed
        assert "differ in variable" in str(error) and any(len({box[i] for box in boxes}) > 1 for i in range(len(bounds)))
        return
    holds(r, *f.least(boxes), boxes)


# ---- two variables and a row that reads both
def candidates(bounds: list[Pair], target: tuple[Fraction, Fraction], end: Fraction) -> Iterator[tuple[Fraction, Fraction]]:
    """Where (x - p)² + (y - q)² can be least if x + y <= end: inside, on a side, on the row, and where two of these meet."""
    (p, q), (xs, ys) = target, bounds
    yield p, q
    yield from product(xs, (q, *ys))
    yield from product((p, *xs), ys)
    yield p - (p + q - end) / 2, q - (p + q - end) / 2
    yield from ((x, end - x) for x in xs)
    yield from ((end - y, y) for y in ys)


@pytest.mark.parametrize("engine", PROVERS)
@QUICKLY
@given(bounds=st.tuples(pairs(), pairs()).map(list), target=st.tuples(numbers, numbers), data=st.data())
def test_a_row_that_reads_two_variables(engine, bounds, target, data):
    corners = [x + y for x, y in product(*bounds)]
    end = data.draw(st.one_of(numbers, *map(near, corners)))
    inside = [x for x in candidates(bounds, target, end) if sum(x) <= end and all(a <= v <= b for (a, b), v in
                                                                              zip(bounds, x, strict=True))]
    f = Sum(("bowl", "bowl"), target)
    r = asked(f, bounds, engine, constraints=Constraint(lambda x: x[0] + x[1], -INF, written(end)),
              max_boxes=40 if engine == "complete" else 200, xtol=data.draw(st.sampled_from([None, 1e-2])))
    if not inside:
        assert r.verdict.name != "PROVED" and r.feasible is None
        return
    values = [sum(TERMS["bowl"].value(v, c) for v, c in zip(x, target, strict=True)) for x in inside]
    best = [x for x, v in zip(inside, values, strict=True) if v == min(values)]
    assert r.verdict.name != "INFEASIBLE" and (r.lower == -INF or Fraction(r.lower) <= min(values))
    assert r.upper == INF or min(values) <= Fraction(r.upper)
    assert any(all(Fraction(p) <= v <= Fraction(q) for p, v, q in zip(lo, best[0], hi, strict=True)) for lo, hi in r.boxes)
    if isinstance(r.feasible, np.ndarray):
        x = [Fraction(v) for v in r.feasible.tolist()]
        assert sum(x) <= end and all(a <= v <= b for (a, b), v in zip(bounds, x, strict=True))
    _holds_of_minimisers(r, best)
