"""The constrained gallery keeps its word: every minimiser is feasible and has the recorded value, and nothing better is found."""

import math

import numpy as np
import pytest
from flint import arb
from scipy.optimize import minimize

import infimum
from infimum.errors import GalleryError
from infimum.problem.constraint import Constraint
from infimum.problems import constrained
from infimum.trace.trace import trace
from tests.oracle.arb_values import precision

EVERYTHING = constrained.all_problems()
FEASIBLE = [p for p in EVERYTHING if not p.infeasible]
NAMES = [p.name for p in FEASIBLE]

# as printed in the literature, to the digits given there; those of CEC 2006 with equalities are for exact ones, so not its own
PUBLISHED = {
    "g01": "-15", "g03": "-1", "g04": "-30665.5387", "g05": "5126.498", "g06": "-6961.8139", "g07": "24.3062", "g08": "-0.095825",
    "g09": "680.63006", "g10": "7049.248", "g11": "0.75", "g12": "-1", "g13": "0.0539498", "g15": "961.7152", "g16": "-1.905155",
    "g18": "-0.866025", "g19": "32.65559", "g21": "193.787", "g23": "-400", "g24": "-5.508013",
    "hs_7": "-1.73205", "hs_11": "-8.49846", "hs_12": "-30", "hs_14": "1.39346", "hs_15": "306.5", "hs_24": "-1",
    "hs_29": "-22.6274",
    "hs_33": "-4.58579", "hs_34": "-0.83403", "hs_43": "-44", "hs_60": "0.0325682", "hs_61": "-143.6461", "hs_62": "-26272.51",
    "hs_64": "6299.842", "hs_65": "0.953529", "hs_66": "0.518163", "hs_71": "17.01402", "hs_73": "29.8944", "hs_76": "-4.68182",
    "hs_77": "0.241505", "hs_78": "-2.91970", "hs_79": "0.0787768", "hs_93": "135.076", "hs_116": "97.5875",
}


def component_by_component(p: constrained.Constrained, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lower ends, values and upper ends of all constraints at a point."""
    parts = [np.broadcast_arrays(*(np.atleast_1d(part) for part in (c.lb, c.fun(x), c.ub))) for c in p.constraints]
    return tuple(np.concatenate([np.ravel(part[k]) for part in parts]) for k in range(3))


def violation(p: constrained.Constrained, x: np.ndarray) -> float:
    """Relative to the size of the ends where that is above 1."""
    lb, value, ub = component_by_component(p, x)
    over = [(a - b)[np.isfinite(a - b)] for a, b in ((lb, value), (value, ub))]
    ends = [end[np.isfinite(end)] for end in (lb, ub)]
    return max(float(np.max(gap / np.maximum(1, np.abs(end)), initial=0.0)) for gap, end in zip(over, ends, strict=True))


# ---- the list
def test_there_are_at_least_eighty_with_names_and_sources():
    assert len(EVERYTHING) >= 80
    assert [p.name for p in EVERYTHING] == constrained.names() and len(set(constrained.names())) == len(EVERYTHING)
    rows = [row.title for module in constrained._MODULES for row in module.TABLE]
    assert rows == constrained.names()  # no row shadows another of the same name
    for p in EVERYTHING:
        assert p.name.isidentifier() and len(p.source) > 8 and p.fun.__doc__ and p.constraints, p.name
    assert {p.n for p in EVERYTHING} >= set(range(2, 11)) and max(p.n for p in EVERYTHING) == 50
    assert sum(p.integrality is not None for p in EVERYTHING) >= 10 and sum(p.infeasible for p in EVERYTHING) >= 5


def test_a_name_that_does_not_exist_is_an_error_with_a_hint():
    with pytest.raises(GalleryError, match="did you mean .*hs_71"):
        constrained.get("hs71")


def test_the_gallery_is_there_by_name():
    p = infimum.problems.constrained.get("circle_on")
    assert repr(p).startswith("Constrained('circle_on', n=2, minimum=[-1.414213562373")
    assert isinstance(p.constraints[0], Constraint) and p.constraints[0].lb == p.constraints[0].ub == 1.0


def test_infeasible_problems_have_no_optimum_and_all_others_have_one():
    for p in EVERYTHING:
        assert (p.minimum is None) == (p.minimiser is None) == p.infeasible, p.name


# ---- every problem
@pytest.mark.parametrize("p", FEASIBLE, ids=NAMES)
def test_the_minimiser_is_feasible_and_has_the_value(p):
    x = p.minimiser
    assert x.shape == (p.n,) and (p.lo <= x).all() and (x <= p.hi).all()
    assert violation(p, x) < 1e-9
    if p.integrality is not None:
        whole = np.array(p.integrality, dtype=bool)
        assert whole.shape == (p.n,) and (x[whole] == np.rint(x[whole])).all()
    value = float(p.fun(x))
    assert p.minimum.lo <= p.minimum.hi and p.minimum.width <= 1e-9 * max(1.0, abs(value))
    assert value == pytest.approx(p.minimum.lo, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("p", EVERYTHING, ids=constrained.names())
def test_functions_can_be_traced(p):
    assert trace(p.fun, p.n).shape == ()
    for c in p.constraints:
        with np.errstate(all="ignore"):  # the middle of the bounds may lie outside the domain
            size = np.size(c.fun((p.lo + p.hi) / 2))
        assert trace(lambda x, c=c: np.sum(c.fun(x)), p.n).shape == () and np.broadcast(c.lb, c.ub).size in (1, size)
        assert np.all(np.asarray(c.lb) <= np.asarray(c.ub))


@pytest.mark.parametrize("p", EVERYTHING, ids=constrained.names())
def test_functions_work_on_arb_numbers(p):
    """So that the optima can be recomputed to any precision: a point inside, where all is defined."""
    x = p.lo + 0.37 * (p.hi - p.lo) if p.minimiser is None else p.minimiser
    with precision(200):
        balls = np.array([arb(float(v)) for v in x], dtype=object)
        pairs = [(p.fun(balls), p.fun(x)), *((c.fun(balls), c.fun(x)) for c in p.constraints)]
        for ball, number in pairs:
            for a, b in zip(np.ravel(ball), np.ravel(number), strict=True):
                assert math.isclose(float(arb(a)), float(b), rel_tol=1e-7, abs_tol=1e-6), p.name


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_values(name):
    digits = PUBLISHED[name]
    assert float(constrained.get(name).minimum.lo) == pytest.approx(float(digits), abs=10.0 ** -len(digits.partition(".")[2]))


@pytest.mark.parametrize("name", ["circle_on", "rastrigin_disc", "g06", "g11", "g24", "hs_14", "hs_23", "hs_29", "hs_65", "hs_71",
                                  "ex4_1_8", "cb2"])
def test_local_searches_find_nothing_better(name):
    p = constrained.get(name)
    rng, least = np.random.default_rng(1), math.inf
    # an end that does not matter is left out: SciPy makes two inequalities of a pair
    rows = [{"type": kind, "fun": lambda x, c=c, s=sign, e=end: np.ravel(s * (c.fun(x) - e))} for c in p.constraints
            for kind, sign, end in ([("eq", 1, c.lb)] if np.all(c.lb == c.ub) else [("ineq", 1, c.lb), ("ineq", -1, c.ub)])
            if np.all(np.isfinite(end))]
    for start in rng.uniform(p.lo, p.hi, (40, p.n)):
        found = minimize(p.fun, start, method="SLSQP", bounds=p.bounds, constraints=rows, options={"ftol": 1e-12})
        if violation(p, found.x) < 1e-8:
            least = min(least, found.fun)
    slack = 1e-6 * max(1.0, abs(p.minimum.lo))
    assert p.minimum.lo - slack <= least <= p.minimum.hi + slack
