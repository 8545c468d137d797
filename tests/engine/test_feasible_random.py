"""Random polynomial constraints with a planted point: what is called feasible is, and what is infeasible by one ulp never is."""

from collections.abc import Callable

import numpy as np
import pytest

from infimum.points.constrained_search import ConstrainedSearch
from infimum.search.feasible_incumbent import FeasibleIncumbent
from tests.engine.constrained_systems import INF, Case
from tests.engine.test_feasible import is_feasible


def polynomial(rng: np.random.Generator, n: int) -> Callable:
    """With small dyadic coefficients, so that it can be written in another way exactly."""
    terms = [(float(rng.integers(-16, 17)) / 8, rng.integers(0, n, rng.integers(1, 4)).tolist())
             for _ in range(rng.integers(2, 6))]

    def p(x):
        total = 0
        for c, factors in terms:
            term = c
            for i in factors:
                term = term * x[i]
            total = total + term
        return total
    return p


def random_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    planted, rows = rng.uniform(-1, 1, n), []
    for _ in range(rng.integers(1, n)):
        p = polynomial(rng, n)
        rows.append((p, *[float(p(planted))] * 2))
    p = polynomial(rng, n)
    rows.append((p, -INF, float(p(planted)) + 0.1))
    return Case(polynomial(rng, n), rows, [(-1, 1)] * n)


def offered(case: Case) -> FeasibleIncumbent:
    best = FeasibleIncumbent(case.evaluator(), case.lo, case.hi)
    search = ConstrainedSearch(best.evaluator, case.lo, case.hi)
    for _ in search.rounds()[0]:
        pass
    best.offer(np.stack(search.candidates(), axis=1))
    return best


@pytest.mark.parametrize("seed", range(6))
def test_a_planted_point_leads_to_a_proof(seed):
    case = random_case(seed)
    best = offered(case)
    assert best.upper < INF, best.why_not
    assert is_feasible(case, best)


@pytest.mark.parametrize("seed", range(6, 10))
def test_one_ulp_is_enough_to_be_infeasible(seed):
    """The first equation is written again, with another right side."""
    case, rng = random_case(seed), np.random.default_rng(seed)
    (p, value, _), q = case.rows[0], polynomial(rng, len(case.bounds))
    again = (lambda x: (p(x) + q(x)) - q(x), np.nextafter(value, INF), INF)
    assert offered(case._replace(rows=[*case.rows, again])).upper == INF


EDGES = {
    "no function": (Case(lambda x: 0 * x[0], [(lambda x: x[0] ** 2 + x[1] ** 2, 1, 1)], [(-2, 2)] * 2), 0.0),
    "no constraints": (Case(lambda x: (x[0] - 3.6) ** 2 + (x[1] - 0.5) ** 2, [], [(0, 9), (0, 1)], integers=(0,)), 0.16),
    "all fixed": (Case(lambda x: x[0], [(lambda x: x[0] + x[1], 3, 3)], [(1, 1), (2, 2)]), 1.0),
    "fixed elsewhere": (Case(lambda x: x[0], [(lambda x: x[0] + x[1], 3.5, 3.5)], [(1, 1), (2, 2)]), INF),
    "a row without ends": (Case(lambda x: x[0], [(lambda x: x[0], -INF, INF), (lambda x: x[0], 0.5, INF)], [(0, 1)]), 0.5),
    "a constant row": (Case(lambda x: x[0], [(lambda x: 0 * x[0] + 1, 1, 1)], [(0, 1)]), 0.0),
    "no whole number": (Case(lambda x: x[0], [(lambda x: x[0], 0.2, 5)], [(0.1, 0.9)], integers=(0,)), INF),
    "two doubles": (Case(lambda x: x[0], [(lambda x: x[0] ** 2, 1, 1)], [(1, np.nextafter(1, 2))]), 1.0),
    "a kink": (Case(lambda x: np.maximum(x[0], x[1]), [(lambda x: x[0] * x[1], 1, 1)], [(0.1, 3)] * 2), 1.0),
    "tiny numbers": (Case(lambda x: 1e-12 * x[0], [(lambda x: 1e-9 * (x[0] ** 2 + x[1] ** 2), -INF, 1e-9)], [(-2, 2)] * 2),
                     -1e-12),
}


@pytest.mark.parametrize("name", EDGES)
def test_edges(name):
    case, best = EDGES[name]
    assert offered(case).upper == pytest.approx(best, rel=1e-8, abs=1e-20 if 0 < abs(best) < 1e-6 else 1e-10)
