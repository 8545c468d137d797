"""Variables whose bounds are equal are eliminated: nobody sees it, and they cost nothing."""

import pickle
from fractions import Fraction

import numpy as np
import pytest

import infimum
from infimum.expr.fixing import VariableFixing
from infimum.expr.node import topological, var
from infimum.presolve.fixed_variables import Embedding, FixedVariables, Reduced
from infimum.presolve.presolve_stack import Formulation
from infimum.problem.fixed_values import FixedValues
from tests.engine.constrained.planted_systems import evaluator_of

MATRIX = np.arange(12.0).reshape(2, 6) / 8 - 0.5

FUNCTIONS = {
    "a sum": lambda x: np.sum(x**2 - np.cos(3 * x)),
    "scalars": lambda x: x[0] * x[1] + np.exp(x[2]) * x[3] - x[4] / (2 + x[5] ** 2),
    "a matrix": lambda x: np.sum(np.tanh(MATRIX @ x)),
    "extremes": lambda x: np.min(x**2) + np.max(x) * np.prod(1 + x / 4) + np.linalg.norm(x),
    "neighbours": lambda x: np.sum((x[1:] - x[:-1] ** 2) ** 2),
    "tests": lambda x: np.sum(np.where(x > 0.3, np.sqrt(np.abs(x)), x)),
    "two axes": lambda x: np.sum(np.max(np.sin(x[:, None] * np.arange(1.0, 4.0)), axis=1) * x),
    "running sums": lambda x: np.sum(np.cumsum(x) ** 2) + np.sum(x[::-1] * x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("free", [[1, 3], [0, 1, 2, 4, 5], [5]])
def test_the_same_function_of_fewer_variables(name, free):
    whole = infimum.compile(FUNCTIONS[name], 6)
    values, free = np.array([0.5, -0.25, 0.75, 0.1, -0.5, 0.3]), np.array(free)
    few, among, _ = Reduced.of(whole, Embedding(FixedValues.at(values), free))
    assert few.n == len(free) and {node.shape for node in topological([few.f]) if node.op == "var"} <= {(len(free),)}
    y = np.random.default_rng(0).uniform(-1, 1, (len(free), 20))
    points = among.whole(y)
    assert np.array_equal(points[free], y) and (np.delete(points, free, axis=0).T == np.delete(values, free)).all()
    for lo, hi in ((y, y), (y, y + 0.1)):
        a, b = few.gradient(lo, hi), whole.gradient(among.whole(lo), among.whole(hi))
        assert (a.value.lo <= b.value.hi).all() and (b.value.lo <= a.value.hi).all()
        assert (a.value.lipschitz >= b.value.lipschitz).all()
        assert (a.lo <= b.hi[free]).all() and (b.lo[free] <= a.hi).all()
        assert (a.value.hi - a.value.lo <= b.value.hi - b.value.lo + 1e-12).all()


def test_sums_are_taken_apart():
    fixing = VariableFixing(var("x", (6,)), *[np.full(6, 0.5)] * 2, np.array([1, 3]))
    for name, mixes in (("a sum", False), ("scalars", False), ("a matrix", False), ("tests", False), ("neighbours", True)):
        assert fixing.mixes(fixing([infimum.compile(FUNCTIONS[name], 6).f])) == mixes


def test_values_are_doubles():
    """10 * 0.1 - 1 is not 0 in real numbers, if 0.1 is a double."""
    whole = infimum.compile(lambda x: 10 * x[0] - 1 + 0 * x[1], 2)
    few = Reduced.of(whole, Embedding(FixedValues.at(np.array([0.1, 0.0])), np.array([1]))).evaluator
    value, exact = few.value([[0.5]], [[0.5]]), 10 * Fraction(0.1) - 1
    assert Fraction(value.lo[0]) <= exact <= Fraction(value.hi[0]) and value.lo[0] > 0


def _problem(n, free, lo, hi):
    bounds = [(0.25, 0.25)] * n
    for i in free:
        bounds[i] = (lo, hi)
    return bounds


@pytest.mark.parametrize("engine", ["auto", "complete", "newton", "subdomain", "swarm"])
@pytest.mark.parametrize("constraints", [None, lambda x: [x[1] + x[4] >= 0.5, x[0] >= 0]])
def test_results_have_all_variables(engine, constraints):
    bounds = _problem(6, (1, 4), -1, 1)
    seen = []
    r = infimum.minimize(lambda x: np.sum((x - 0.125) ** 2), bounds, constraints=constraints, engine=engine, atol=1e-4,
                         callback=lambda snapshot: seen.append(snapshot.x))
    best = 0.0625 + (2 * 0.125**2 if constraints else 0.0)
    assert r.success and r.lower <= best <= r.upper + 1e-12 and abs(r.fun - best) < 1e-3
    fixed = [0, 2, 3, 5]
    for x in [r.x, r.feasible, *(m.x for m in r.minima), *(end for box in r.boxes or [] for end in box),
              *(x for x in seen if x is not None)]:
        assert x.shape == (6,) and (x[fixed] == 0.25).all()
    if engine != "swarm":
        beyond = np.maximum(r.regions.lo - r.x, r.x - r.regions.hi).max(axis=1)  # x is feasible, and about a minimiser
        assert beyond.min() < 1e-6 and r.regions.lo.shape[1] == 6
        assert all(m.lo.shape == (6,) and (m.lo[fixed] == 0.25).all() for m in r.minimisers)
        assert r.minimisers.exactly_one or engine != "auto"
    assert (r.constraints is None) == (constraints is None) and str(r)
    assert pickle.loads(pickle.dumps(r)).x.shape == (6,)
    if constraints:
        assert [c.name for c in r.constraints] == ["x[1] + x[4] >= 0.5", "x[0] >= 0"]


def test_unions_have_all_variables():
    r = infimum.minimize(lambda x: np.sum(x**4 - 4 * x**2), _problem(40, range(5, 25), -3, 3))
    assert r.regions.count == 2**20 and len(r.regions.unions) == 40 and r.regions.unions[0].tolist() == [[0.25, 0.25]]
    point = np.full(40, 0.25)
    point[5:25] = np.sqrt(2)
    assert point in r.regions


def test_maxima_and_feasible_points():
    bounds = _problem(5, (0, 3), 0, 2)
    r = infimum.maximize(lambda x: x[0] * x[3] + x[1], bounds, constraints=lambda x: x[0] + x[3] + x[4] <= 2, atol=1e-3)
    assert r.lower <= 0.25 + 0.875**2 <= r.upper and r.x[1] == 0.25
    assert (r.regions.upper <= r.upper).all() and r.regions.lo.shape[1] == 5 and "maximiser" in str(r.minimisers)
    r = infimum.feasible(bounds, lambda x: x[0] + x[1] == 1.0)
    assert r.feasible is not None and infimum.feasible(bounds, lambda x: x[1] + x[2] >= 1).verdict.name == "INFEASIBLE"


def test_whole_numbers_start_boxes_and_points():
    r = infimum.minimize(lambda x: (x[0] - x[1] / 2) ** 2 + (x[2] - 0.3) ** 2, [(0, 5), (1, 1), (0, 5)], integrality=[1, 1, 0])
    assert r.x[:2].tolist() in ([0, 1], [1, 1]) and abs(r.fun - 0.25) < 1e-6
    r = infimum.minimize(lambda x: (x[0] - x[1]) ** 2, [(0, 5), (1, 1)], x0=[0.25, 1],
                         start_boxes=[[(0, 0.5), (1, 1)], [(3, 4), (1, 1)]])
    assert r.lower <= 0.25 <= r.upper and r.x.tolist() == [0.5, 1]


def test_an_evaluator_and_a_function_that_is_undefined():
    f = infimum.compile(lambda x: (x[0] - x[1]) ** 2 + np.log(x[2]), 3)
    assert infimum.minimize(f, [(0, 5), (1, 1), (1, 1)]).x.tolist() == [1, 1, 1]
    assert infimum.minimize(f, [(0, 5), (1, 1), (-1, -1)]).verdict.name == "INFEASIBLE"
    assert infimum.minimize(f, [(2, 2), (1, 1), (1, 1)]).lower == 1.0  # nothing is left


def test_a_run_is_resumed(tmp_path):
    def f(x):
        return np.sum(x**2 - np.cos(9 * x)) + x[2] * x[7] * np.sin(5 * x[2] * x[4])
    bounds, path = _problem(12, (2, 4, 7), -2, 3), tmp_path / "run.inf"
    whole = infimum.minimize(f, bounds, rtol=1e-6)
    infimum.minimize(f, bounds, rtol=1e-6, max_boxes=2000, checkpoint=path)
    r = infimum.resume(path, f)
    assert (r.lower, r.upper) == (whole.lower, whole.upper) and (r.x == whole.x).all() and r.x.shape == (12,)


def test_few_of_a_chain_are_held():
    """Slices of neighbours are easier to prove than arrays put together."""
    chain, evaluator = infimum.Problem.read(sum, [(0.5, 0.5)] + [(-2, 2)] * 9), infimum.compile(FUNCTIONS["neighbours"], 10)
    assert FixedVariables().apply(Formulation(chain, evaluator)) is None
    mostly = infimum.Problem.read(sum, [(0.5, 0.5)] * 6 + [(-2, 2)] * 4)
    assert FixedVariables().apply(Formulation(mostly, evaluator)).evaluator.n == 4


def test_constraints_of_fixed_variables_stay():
    rows = [(lambda x: x[1] ** 2, -np.inf, 4.0), (lambda x: x[0] * x[2], 0.0, 0.0)]
    system = evaluator_of(lambda x: x[0] + x[1], rows, 3, (0, 2))
    problem, few = FixedVariables().apply(Formulation(infimum.Problem.read(sum, [(0, 3), (1, 1), (2, 2)]), system))
    assert few.n == 1 and few.system.m == 2 and few.system.integers == (0,) and len(problem.lo) == 1
    assert few.rows([2.0], [2.0]).lo.tolist() == [3.0, 1.0, 4.0]


def test_numbers_of_fixed_variables_that_are_enclosed_alike_are_not_taken_for_one():
    rest = float(Fraction(0.1) * (Fraction(0.3) - Fraction(0.2)))  # 0.1 * 0.3 and 0.1 * 0.2 + rest differ by 1e-19
    one, other = (lambda x: x[1] * 0.3), (lambda x: x[1] * 0.2 + rest)
    assert Fraction(0.1) * Fraction(0.3) < Fraction(0.1) * Fraction(0.2) + Fraction(rest)
    sides = [(1, 9), (0.1, 0.1), (1, 9)]
    r = infimum.feasible(sides, [lambda x: x[0] * x[2] * one(x) == 1, lambda x: x[0] * x[2] * other(x) == 1], max_boxes=2000)
    assert r.feasible is None
    r = infimum.feasible(sides, lambda x: np.exp(x[0] * other(x) + x[2]) - np.exp(x[0] * one(x) + x[2]) >= 1e-19, max_boxes=2000)
    assert r.verdict.name != "INFEASIBLE"


def test_conditions_on_fixed_variables():
    r = infimum.minimize(lambda x: np.where(x[0] > 0.5, (x[1] - 1) ** 2, x[1]), [(1, 1), (-1, 3)])
    assert r.verdict.name == "PROVED" and 0 <= r.upper < 1e-6
    r = infimum.minimize(lambda x: x[1], [(1, 1), (-1, 3)],
                         constraints=lambda x: np.where((x[0] < 0) & (x[0] > -2), 9, x[1]) >= 0.5)
    assert r.verdict.name == "PROVED" and r.lower <= 0.5 <= r.upper
