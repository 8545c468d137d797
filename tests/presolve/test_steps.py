"""Each presolve step by itself: the inner form has the values and the domain of the outer one, and the way back leads there."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from infimum.evaluation.evaluator import Enclosure, Evaluator
from infimum.presolve.defined_objective import DefinedObjective
from infimum.presolve.fixed_variables import FixedVariables
from infimum.presolve.maximisation import Maximisation, opposite
from infimum.presolve.presolve_stack import PresolveStep, RunBounds
from infimum.problem.constraint import ConstraintValue, ConstraintValues
from infimum.problem.cover import Cover
from infimum.problem.minimisers import Minimiser, Minimisers
from infimum.problem.problem import Interval
from infimum.problem.settings import Goal
from infimum.result import Answering, Result, Verdict
from tests.presolve.formulations import ROWS

EIGHTHS = st.lists(st.integers(-32, 32).map(lambda k: k / 8), min_size=8, max_size=8)  # whose sums and products are exact
APPLIED = {}


def applied(name):
    """The step, the outer and the inner form; made once, since kernels are compiled for them."""
    if name not in APPLIED:
        step, outer = ROWS[name].step(), ROWS[name].formulation()
        APPLIED[name] = step, outer, step.apply(outer)
    return APPLIED[name]


def point_of(problem, numbers):
    """A point within the bounds."""
    lo, hi = np.maximum(problem.lo, -4), np.minimum(problem.hi, 4)
    return np.minimum(np.maximum(np.array(numbers[:len(lo)]), lo), hi)


def rows(evaluator: Evaluator, lo, hi) -> Enclosure:
    if evaluator.system is not None:
        return evaluator.rows(lo, hi)
    value = evaluator.value(lo, hi)
    return Enclosure(*(np.array([part]) for part in (value.lo, value.hi, value.level)))


def is_violated(evaluator: Evaluator, known: Enclosure) -> bool:
    system = evaluator.system
    return system is not None and bool((known.lo[1:] > system.upper).any() or (known.hi[1:] < system.lower).any())


class StoredAnswer(Answering):
    """An answer that is known."""

    def __init__(self, answer):
        self.answer = answer

    def __call__(self, result):
        return self.answer


def result_at(y, value, minimisers=None, constraints=None) -> Result:
    """What a run may have found that knows one point."""
    box = y.copy(), y.copy()
    return Result(x=y, fun=value, success=True, status=0, message="the infimum lies within 0 below the value at x", nit=1, nfev=1,
                  verdict=Verdict.PROVED, lower=value, upper=value, boxes=[box], feasible=y,
                  regions=Cover(y[:, None], y[:, None], np.array([value])),
                  question=None if minimisers is None else StoredAnswer(minimisers),
                  inquiry=None if constraints is None else StoredAnswer(constraints))


@pytest.mark.parametrize("name", ROWS)
def test_every_row_uses_its_step(name):
    step, outer, inner = applied(name)
    assert inner is not None and (inner is not outer or name == "the constraint report")
    assert len(inner.problem.lo) == inner.evaluator.n


@pytest.mark.parametrize("name", ROWS)
@given(numbers=EIGHTHS)
@settings(max_examples=40)
def test_values_and_domain_are_kept(name, numbers):
    """At the point that a point of the inner form stands for, all functions have the same values, or the same are undefined."""
    step, outer, inner = applied(name)
    y = point_of(inner.problem, numbers)
    whole = [] if inner.evaluator.system is None else list(inner.evaluator.system.integers)
    y[whole] = np.rint(y[whole])
    (lo, hi), x, known = outer.problem.region, step.point(y), rows(inner.evaluator, y, y)
    assert (x[list(ROWS[name].integers)] == np.rint(x[list(ROWS[name].integers)])).all()
    box = (x, x) if not isinstance(step, (FixedVariables, DefinedObjective)) else step.postsolve(result_at(y, 0.0)).boxes[0]
    assert ((lo <= x) & (x <= hi)).all() and ((box[0] <= x) & (x <= box[1])).all()
    found = rows(outer.evaluator, *box)
    assert known.empty.any() == found.empty.any()
    if known.empty.any() or is_violated(inner.evaluator, known):
        return  # of a point that does not count, a step may say anything
    low, high = (-found.hi[0], -found.lo[0]) if isinstance(step, Maximisation) else (found.lo[0], found.hi[0])
    assert low <= known.hi[0] and known.lo[0] <= high
    if not isinstance(step, DefinedObjective):
        assert (found.lo[1:] <= known.hi[1:]).all() and (known.lo[1:] <= found.hi[1:]).all()


@given(numbers=EIGHTHS)
@settings(max_examples=40)
def test_points_of_the_outer_form_come_back(numbers):
    """Those of fixed variables: what is taken out is put back, and nothing else is touched."""
    step, outer, inner = applied("fixed variables")
    x, free = point_of(outer.problem, numbers), step.embedding.free
    y = x[free]
    assert free.tolist() == [0, 2, 3] and (inner.problem.lo <= y).all() and step.point(y).tobytes() == x.tobytes()
    found = step.postsolve(result_at(y, 1.0))
    points = [found.x, found.feasible, *found.boxes[0], found.regions.lo[0], found.regions.hi[0]]
    assert all(point.tobytes() == x.tobytes() for point in points)
    assert (found.lower, found.upper, found.regions.lower.tolist()) == (1.0, 1.0, [1.0])


@given(numbers=EIGHTHS)
@example(numbers=[1.0, 0.125] + [0.0] * 6)
@settings(max_examples=40)
def test_a_defined_objective_is_filled_in(numbers):
    """Wherever the inner form is feasible, the filled point or box is, and the value there is the verified one or worse."""
    step, outer, inner = applied("a defined objective")
    y = point_of(inner.problem, numbers)
    y[2] = inner.problem.lo[2]
    known = inner.evaluator.rows(y, y)
    if known.empty.any():
        return
    found = step.postsolve(result_at(y, float(known.hi[0])))
    lo, hi = found.feasible if isinstance(found.feasible, tuple) else (found.feasible, found.feasible)
    there = outer.evaluator.rows(lo, hi)
    assert there.lo[1] <= 0 <= there.hi[1] and found.upper >= known.hi[0] and found.upper >= there.hi[0]
    assert np.array_equal(found.x[:2], y[:2]) and ((lo <= found.x) & (found.x <= hi)).all()


@given(st.lists(st.floats(allow_nan=False), min_size=3, max_size=3))
def test_the_sign_turns_twice(numbers):
    step, known = Maximisation(), RunBounds(*numbers)
    assert step.bounds(step.bounds(known)) == known
    assert step.bounds(known) == (-known.value, -known.upper, -known.lower)
    value, lower, upper = numbers
    once = step.postsolve(replace(result_at(np.zeros(2), value), lower=lower, upper=upper))
    twice = step.postsolve(once)
    assert (once.fun, once.lower, once.upper) == (-value, -upper, -lower) and once.maximised
    assert (twice.fun, twice.lower, twice.upper) == (value, lower, upper)
    assert "supremum" in once.message and "above the value" in once.message and str(opposite(0.0)) == "0.0"


def test_questions_are_passed_on():
    """To the inner result, whose answers are translated by each step."""
    step, outer, inner = applied("fixed variables")
    y = np.array([1.0, 0.5, 2.0])
    row = ConstraintValue("a", 0, None, Interval(1.0, 2.0), 0.0, 3.0, True, -2.0)
    asked = result_at(y, 1.0, Minimisers([Minimiser(y, y, 1.0, 2.0, True)], 3, "why"), ConstraintValues([row], 0.5))
    found = Maximisation().postsolve(step.postsolve(asked))
    only, = found.minimisers
    assert only.lo.tolist() == [1.0, 0.5, 0.5, 2.0, -0.25] and (only.lower, only.upper) == (-2.0, -1.0)
    assert found.minimisers.rest == 3 and "maximiser" in str(found.minimisers) and "why" in str(found.minimisers)
    assert found.constraints[0] == replace(row, multiplier=2.0) or found.constraints[0].multiplier == 2.0
    assert found.constraints.violation == 0.5 and found.constraints[0].value.hi == 2.0
    assert pickle.loads(pickle.dumps(found)).constraints[0].name == "a"
    silent = Maximisation().postsolve(step.postsolve(result_at(y, 1.0)))
    assert silent.minimisers is None and silent.constraints is None


def test_what_a_step_leaves_alone():
    """Where it has nothing to do, a step says so."""
    plain = ROWS["an empty system"].formulation()
    for step in (FixedVariables(), DefinedObjective(Goal()), ROWS["completed squares"].step(), ROWS["a fixed exponent"].step()):
        assert step.apply(plain) is None
    assert DefinedObjective(Goal(xtol=1e-3)).apply(ROWS["a defined objective"].formulation()) is None
    assert ROWS["an empty system"].step().apply(ROWS["maximisation"].formulation()) is None


def test_variables_that_are_left_keep_their_numbers():
    step, outer, inner = applied("fixed variables")
    assert outer.evaluator.numbers is None and inner.evaluator.numbers.tolist() == [0, 2, 3]
    assert inner.evaluator.rewritten(inner.evaluator.f).numbers is inner.evaluator.numbers


def test_the_defaults_change_nothing():
    known, found, y = RunBounds(1.0, 0.0, 2.0), result_at(np.zeros(2), 0.0), np.zeros(2)
    step = PresolveStep()
    assert step.bounds(known) is known and step.postsolve(found) is found and step.point(y) is y
    with pytest.raises(NotImplementedError):
        step.apply(ROWS["maximisation"].formulation())
