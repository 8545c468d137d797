"""What a variable that is minimised is defined by, and which constraints it is no longer part of."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint

from infimum.evaluation.compile import compile
from infimum.evaluation.evaluator import Evaluator
from infimum.expr.node import var
from infimum.structure.defined_variable import definition

RNG = np.random.default_rng(7)


def curve(x):
    return (x[0] - 1.5) ** 2 * x[1] + np.exp(x[3] / 4)


def others(x):
    return [x[0] + x[1] * x[3] >= 1, x[0] ** 2 + x[3] ** 2 <= 9]


# (f, its factor, constraints): variable 2 is defined by `curve`, but for the factors and signs
FORMS = {
    "equation": (lambda x: x[2], 1.0, lambda x: [x[2] == curve(x), *others(x)]),
    "turned": (lambda x: x[2], 1.0, lambda x: [*others(x), curve(x) - x[2] == 0]),
    "times": (lambda x: 3 * x[2], 3.0, lambda x: [4 * x[2] - 4 * curve(x) == 0, *others(x)]),
    "among": (lambda x: x[2], 1.0, lambda x: [(x[0] - 1.5) ** 2 * x[1] - x[2] + np.exp(x[3] / 4) == 0, *others(x)]),
    "end": (lambda x: x[2], 1.0, lambda x: [curve(x) - x[2] + 7 == 7, *others(x)]),
    "inequality": (lambda x: x[2], 1.0, lambda x: [x[2] >= curve(x), *others(x)]),
    "largest": (lambda x: -x[2], -1.0, lambda x: [x[2] <= curve(x), *others(x)]),
    "sum": (lambda x: x[2], 1.0, lambda x: [np.array([2.0, -2.0, 1.0]) @ x[[0, 2, 3]] + 2 * curve(x) - 2 * x[0] - x[3] == 0,
                                            *others(x)]),
    "vector": (lambda x: x[2], 1.0, lambda x: np.stack([x[0] ** 2 + x[3] ** 2, curve(x) - x[2], -x[0] - x[1] * x[3]])
               <= np.array([9.0, 0.0, -1.0])),
}


@pytest.mark.parametrize("form", FORMS)
def test_definitions(form):
    f, factor, constraints = FORMS[form]
    evaluator = compile(f, 4, constraints=constraints)
    found = definition(evaluator.system, var("x", (4,)))
    assert found.number == 2 and found.system.m == 2
    x = RNG.uniform(0.5, 3, (4, 50))
    assert np.allclose(Evaluator(found.value, 4).estimate(x), curve(x), rtol=1e-12)
    moved = x.copy()
    moved[2] = RNG.uniform(-5, 5, 50)  # nothing reads the variable
    left = Evaluator(found.system.f, 4, None, None, found.system)
    (lo, hi), (its, _) = ((r.lo, r.hi) for r in (left.rows(x, x), left.rows(moved, moved)))
    assert np.array_equal(lo, its) and np.allclose(lo[0], factor * curve(x), rtol=1e-12) and (lo <= hi).all()
    left_ends = set(zip(found.system.lower.tolist(), found.system.upper.tolist(), strict=True))
    assert {e for pair in left_ends for e in pair if np.isfinite(e)} <= {1.0, -1.0, 9.0, 0.0}
    assert (found.least, found.most) == {"inequality": (False, True), "largest": (True, False), "vector": (False, True)}.get(
        form, (True, True))


@pytest.mark.parametrize(("f", "constraints"), [
    (lambda x: x[2], lambda x: [x[2] >= curve(x), x[2] >= x[0]]),                # the larger of two
    (lambda x: x[2], lambda x: x[2] <= curve(x)),                                # the wrong side
    (lambda x: -x[2], lambda x: x[2] >= curve(x)),
    (lambda x: x[2], lambda x: x[2] ** 3 == curve(x)),
    (lambda x: x[2], lambda x: x[2] * x[0] == curve(x)),
    (lambda x: x[2], lambda x: np.exp(x[2]) + x[2] == curve(x)),
    (lambda x: x[2] ** 2, lambda x: x[2] == curve(x)),
    (lambda x: x[2] + x[0], lambda x: x[2] == curve(x)),
    (lambda x: 0 * x[2], lambda x: x[2] == curve(x)),
    (lambda x: x[2], lambda x: curve(x) == 3),
])
def test_what_is_no_definition(f, constraints):
    assert definition(compile(f, 4, constraints=constraints).system, var("x", (4,))) is None


def test_rows_of_a_matrix():
    rows = LinearConstraint(np.array([[1.0, 2.0, 0.0, 3.0], [2.0, 4.0, -2.0, 1.0]]), [1, 0], [4, 0])
    found = definition(compile(lambda x: x[2], 4, constraints=rows).system, var("x", (4,)))
    x = RNG.uniform(-2, 2, (4, 20))
    assert np.allclose(Evaluator(found.value, 4).estimate(x), x[0] + 2 * x[1] + x[3] / 2)
    assert found.system.m == 1 and found.system.upper.tolist() == [4]
