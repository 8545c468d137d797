"""A point or a tiny box is called feasible only if it is: judged in exact arithmetic, or by Arb at many more digits."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, arb_mat, ctx

from infimum.certify.equation_solutions import FailureReason, ProvedFeasible, prove_feasible
from infimum.points.constrained_search import ConstrainedSearch
from infimum.search.feasible_incumbent import FeasibleIncumbent
from tests.engine.constrained_systems import CASES, INF, Case

BITS = 400


def incumbent(case: Case) -> FeasibleIncumbent:
    return FeasibleIncumbent(case.evaluator(), case.lo, case.hi)


def is_feasible(case: Case, best: FeasibleIncumbent) -> bool:
    """Newton's method with very many digits from the middle of the box, in the variables in which it has a width: is there a
    solution within the box that obeys everything, and is f there at most `upper`?"""
    lo, hi = best.box
    if not ((lo >= case.lo).all() and (hi <= case.hi).all() and all(x == round(x) for x in lo[list(case.integers)])):
        return False
    moving, equations = np.flatnonzero(lo < hi), [row for row in case.rows if row[1] == row[2]]
    ctx.prec = BITS
    x = np.array([arb(float(v)) for v in best.x], object)
    step = arb(2) ** (-BITS // 3)
    for _ in range(12 if len(moving) else 0):
        columns = []
        for j in moving:
            ahead = x.copy()
            ahead[j] += step
            columns.append([(c(ahead) - c(x)) / step for c, _, _ in equations])
        chosen = _independent(columns)
        matrix = arb_mat([[columns[j][i] for j in range(len(moving))] for i in chosen])
        right = arb_mat([[equations[i][0](x) - arb(float(equations[i][1]))] for i in chosen])
        change = matrix.solve(right)
        for k, j in enumerate(moving):
            x[j] = (x[j] - change[k, 0]).mid()
    tiny = arb(2) ** -200
    inside = all(arb(float(a)) <= v <= arb(float(b)) for a, v, b in zip(lo, x, hi, strict=True))
    obeys = all(arb(float(a)) - tiny <= c(x) if np.isfinite(a) else True for c, a, _ in case.rows) and \
        all(c(x) <= arb(float(b)) + tiny if np.isfinite(b) else True for c, _, b in case.rows)
    return inside and obeys and bool(case.f(x) <= arb(float(best.upper)) + tiny)


def _independent(columns: list[list[arb]]) -> list[int]:
    """As many equations as there are variables, whose derivatives are independent."""
    rows, chosen, basis = list(zip(*columns, strict=True)), [], []
    for i, row in enumerate(rows):
        rest = np.array([float(v) for v in row])
        for b in basis:
            rest = rest - (rest @ b) * b
        if np.linalg.norm(rest) > 1e-9 * max(1e-300, np.linalg.norm([float(v) for v in row])):
            chosen.append(i)
            basis.append(rest / np.linalg.norm(rest))
    return chosen[:len(columns)]


@pytest.mark.parametrize("name", CASES)
def test_good_points_are_found_and_proved(name):
    case = CASES[name]
    best, search = incumbent(case), ConstrainedSearch(case.evaluator(), case.lo, case.hi)
    for _ in search.rounds()[0]:
        pass
    assert best.offer(np.stack(search.candidates(), axis=1)), best.why_not
    assert best.why_not is None
    assert is_feasible(case, best)
    assert abs(best.upper - case.best) <= 1e-9 * max(1.0, abs(case.best))


# what seems to hold, and does not
NEVER = {
    "no root": Case(lambda x: x[0], [(lambda x: x[0] ** 2 + 1e-20, 0, 0)], [(-1, 1)]),
    "hardly a root": Case(lambda x: x[0], [(lambda x: x[0] ** 2, -5e-324, -5e-324)], [(-1, 1)]),
    "irrational double root": Case(lambda x: x[0], [(lambda x: (x[0] ** 2 - 2) ** 2 + 1e-40, 0, 0)], [(1, 2)]),
    "jump over 0": Case(lambda x: x[0], [(lambda x: np.floor(x[0]) + 0.5, 0, 0)], [(-1, 1)]),
    "jump and slope": Case(lambda x: x[0], [(lambda x: np.sign(x[0] - 0.1) + x[0], 0, 0)], [(-0.5, 0.5)]),
    "undefined constraint": Case(lambda x: x[0], [(lambda x: np.log(x[0]), -INF, 0)], [(-1, 0)]),
    "undefined equation": Case(lambda x: x[0], [(lambda x: np.sqrt(x[0]) + x[0], 0, 0)], [(-1, -1e-300)]),
    "undefined function": Case(lambda x: np.sqrt(x[0] - 1), [(lambda x: x[0] ** 2, 0.25, 0.25)], [(0, 1)]),
    "root just outside": Case(lambda x: x[0], [(lambda x: 3 * x[0], 1, 1)], [(0, 0.3333333333333333)]),
    "irrational integer": Case(lambda x: x[0], [(lambda x: x[0] ** 2, 2, 2)], [(0, 3)], integers=(0,)),
    "contradiction": Case(lambda x: x[0], [(lambda x: x[0] + x[1], 1, 1), (lambda x: 3 * x[0] + 3 * x[1], 3, 3 + 0),
                                           (lambda x: 2 * x[0] + 2 * x[1], 2 + 2**-51, 2 + 2**-51)], [(-3, 3)] * 2),
    "three lines": Case(lambda x: x[0], [(lambda x: x[0], 0.1, 0.1), (lambda x: x[1], 0.2, 0.2),
                                         (lambda x: x[0] + x[1], 0.3, 0.3)], [(-3, 3)] * 2),
    "tangent from outside": Case(lambda x: x[0], [(lambda x: x[0] ** 2 + x[1] ** 2, -INF, 0.1),
                                                  (lambda x: x[0] + x[1], 0.4472135955, INF)], [(-1, 1)] * 2),
    "equation above an inequality": Case(lambda x: x[0], [(lambda x: x[0] ** 2, 2, 2), (lambda x: x[0], -INF, 1.414213562373095)],
                                         [(0, 2)]),
}


@pytest.mark.parametrize("name", NEVER)
def test_what_is_infeasible_is_never_taken(name):
    case = NEVER[name]
    best, n = incumbent(case), len(case.lo)
    search = ConstrainedSearch(best.evaluator, case.lo, case.hi)
    for _ in search.rounds()[0]:
        pass
    rng = np.random.default_rng(0)
    places = [1e-10, 0.1, 0.2, 1 / 3, 0.4472135955 / 2, np.sqrt(2), 0.5, 0.0]
    near = np.concatenate([np.nextafter(places, k * np.inf) for k in (-1, 1)] + [places] + [-np.array(places)])
    drawn = rng.uniform(case.lo[:, None], case.hi[:, None], (n, 64))
    points = np.concatenate([np.stack(search.candidates(), axis=1), np.tile(near, (n, 1)), drawn], axis=1)
    assert not best.offer(points) and best.upper == INF and best.x is None and best.box is None
    for x in points.T:
        clipped = np.minimum(np.maximum(x, case.lo), case.hi)
        assert isinstance(prove_feasible(best.evaluator, (case.lo, case.hi), clipped), FailureReason)


def test_the_judge_would_notice():
    case = CASES["circle"]
    best = incumbent(case)
    best.offer(np.array([[-0.7], [-0.7]]))
    assert is_feasible(case, best)
    best._accept(ProvedFeasible(best.box[0] + 1e-9, best.box[1] + 1e-9, best.upper))
    assert not is_feasible(case, best)


def test_a_third_lies_in_the_box():
    case = Case(lambda x: -x[0], [(lambda x: 3 * x[0], 1, 1)], [(0, 1)])
    best = incumbent(case)
    assert best.offer(np.array([[0.33]]))
    (lo,), (hi,) = best.box
    assert Fraction(lo) < Fraction(1, 3) < Fraction(hi) and hi - lo < 1e-15 and Fraction(best.upper) >= Fraction(-1, 3)


def test_points_outside_the_bounds_are_moved_to_them_and_integers_rounded():
    case = Case(lambda x: x[0] + x[1], [(lambda x: x[0] - x[1], -INF, 5)], [(0.1, 1), (-2.5, 2.5)], integers=(1,))
    best = incumbent(case)
    assert best.offer(np.array([[np.nextafter(0.1, 0), np.nan, np.inf], [-1.9, 0, 0]]))
    assert best.x.tolist() == [0.1, -2.0] and Fraction(best.upper) >= Fraction(0.1) - 2


def test_whoever_takes_a_point_is_not_believed():
    best = incumbent(Case(lambda x: x[0], [(lambda x: x[0], 0.5, INF)], [(0, 1)]))
    best.take(np.array([0.25]), 0.25)
    assert best.x is None and best.upper == INF
    best.take(np.array([0.75]), 0.0)
    assert best.upper == 0.75
    best.take(np.array([0.5]), -7.0)
    best.sharpen(1e-300)
    assert best.upper == 0.5


def test_the_middle_of_a_box_is_not_sharpened():
    """f at the middle is less than at the solution."""
    best = incumbent(Case(lambda x: x[0], [(lambda x: x[0] ** 2, 2, 2)], [(0, 2)]))
    assert best.offer(np.array([[1.4]]))
    before = best.upper
    best.sharpen(0.0)
    assert best.upper == before and Fraction(before) ** 2 > 2


def test_a_checkpoint_keeps_the_box():
    case = CASES["circle"]
    best, other = incumbent(case), incumbent(case)
    assert not other.arrays().keys() & {"incumbent.box"}
    best.offer(np.array([[-0.7], [-0.7]]))
    other.restore(best.arrays())
    assert other.upper == best.upper and np.array_equal(other.x, best.x) and np.array_equal(other.box, best.box)
    other.restore(incumbent(case).arrays())
    assert other.box is None and other.x is None and other.upper == INF


DEGENERATE = {
    FailureReason.DEPENDENT: Case(lambda x: x[0], [(lambda x: (x[0] - x[1] / 3) ** 2, 0, 0)], [(-1, 1), (0.7, 0.7)]),
    FailureReason.OVERDETERMINED: Case(lambda x: x[0], [(lambda x: x[0] * x[1], 0.3, 0.3), (lambda x: x[0] + x[1], 1.3, 1.3)],
                                       [(1, 1), (0.3, 0.3)]),
    FailureReason.ROUGH: Case(lambda x: x[0], [(lambda x: np.floor(x[0]) * x[1] + 0.1, 0, 0)], [(-1, 1), (-1, 1)]),
    FailureReason.FAR: Case(lambda x: x[0], [(lambda x: x[0] ** 2 + 1, 0, 0)], [(-1, 1)]),
}


def test_degenerate_cases_are_said():
    said = {}
    for reason, case in DEGENERATE.items():
        best = incumbent(case)
        best.offer(np.array([[1e-9, 0.7 / 3, 0.5], [0.3, 0.7, -0.1]])[:len(case.lo)])
        said[reason] = best.why_not
        assert best.upper == INF
    assert set(said.values()) <= set(FailureReason) and said[FailureReason.OVERDETERMINED] is FailureReason.OVERDETERMINED
