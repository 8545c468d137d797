"""Very many equations: what is called a box with a solution holds it, by Arb; and what has none is never taken."""

import numpy as np
import pytest
from flint import arb, ctx

import infimum
from infimum.certify import sparse_equation_solutions
from infimum.certify.equation_solutions import FailureReason, ProvedFeasible
from infimum.evaluation.compile import compile
from infimum.points.constrained_search import ConstrainedSearch
from infimum.structure.row_groups import row_groups
from tests.engine.constrained_systems import CASES
from tests.engine.test_feasible import NEVER, incumbent, is_feasible

WITH_EQUATIONS = {name: case for name, case in CASES.items()
                  if any(lower == upper for _, lower, upper in case.rows) and len(case.bounds) <= 6}


def holds(box: tuple[np.ndarray, np.ndarray], x: list[arb]) -> bool:
    return all(arb(float(lo)) <= v <= arb(float(hi)) for lo, hi, v in zip(*box, x, strict=True))


@pytest.mark.parametrize("name", WITH_EQUATIONS)
def test_small_systems_are_proved_in_the_same_way(name):
    case = WITH_EQUATIONS[name]
    best = incumbent(case)
    for _ in (search := ConstrainedSearch(best.evaluator, case.lo, case.hi)).rounds()[0]:
        pass
    best.offer(np.stack(search.candidates(), axis=1))
    found = sparse_equation_solutions.prove_feasible_sparse(best.evaluator, (case.lo, case.hi), best.x)
    if isinstance(found, ProvedFeasible):
        best._accept(found)
        assert is_feasible(case, best)
    else:  # too few variables may move, or an inequality needs a mean value form
        assert found in (FailureReason.OVERDETERMINED, FailureReason.DEPENDENT, FailureReason.TIGHT, FailureReason.ROUGH)


@pytest.mark.parametrize("name", [name for name, case in NEVER.items() if any(low == high for _, low, high in case.rows)])
def test_what_is_infeasible_is_never_taken(name):
    case, rng = NEVER[name], np.random.default_rng(0)
    evaluator, n = case.evaluator(), len(case.lo)
    near = [1e-10, 0.1, 0.2, 1 / 3, np.sqrt(2), 0.5, 0.0]
    points = np.concatenate([np.tile(near, (n, 1)), rng.uniform(case.lo[:, None], case.hi[:, None], (n, 16))], axis=1)
    for x in points.T:
        x = np.minimum(np.maximum(x, case.lo), case.hi)
        x[list(case.integers)] = np.rint(x[list(case.integers)])
        assert isinstance(sparse_equation_solutions.prove_feasible_sparse(evaluator, (case.lo, case.hi), x), FailureReason)


def pairs(x, n):
    """Of u and v in turn: u + v = 3 s and u v = 2 s² for s = 1 at first, and then cos v of the pair before: u = s or 2 s."""
    u, v = x[0::2], x[1::2]
    s = np.concatenate([np.ones(1), np.cos(v[:-1])])
    return np.concatenate([u + v - 3 * s, u * v - 2 * s**2])


def test_blocks_of_two():
    n = 80
    evaluator = compile(lambda x: np.sum(x), n, constraints=infimum.Constraint(lambda x: pairs(x, n), 0, 0))
    ctx.prec, true, s = 300, [], arb(1)
    for _ in range(n // 2):
        true += [s, 2 * s]
        s = (2 * s).cos()
    start = np.array([float(v) for v in true]) * (1 + 1e-9 * np.sin(np.arange(n)))
    bounds = np.full(n, -5.0), np.full(n, 5.0)
    basis = sparse_equation_solutions.SparseEquations(evaluator, bounds, start).basis
    assert [len(block.rows) for block in basis.larger] == [2] * (n // 2)
    right = np.sin(np.arange(n) + 1.0)
    matrix = np.zeros((n, n))
    matrix[basis.places.rows, basis.places.columns] = basis.values
    assert np.allclose(matrix @ basis.solve(right), right) and np.allclose(matrix.T @ basis.solve_transposed(right), right)
    found = sparse_equation_solutions.prove_feasible_sparse(evaluator, bounds, start)
    assert isinstance(found, ProvedFeasible) and holds(found[:2], true)
    assert (found.hi - found.lo).max() < 1e-9


@pytest.mark.parametrize("factor", [0.5, 1.0, 1.5])
def test_radii_grow_from_block_to_block(factor):
    """x[k + 1] = factor x[k] + x[k]² / 100, from 0.1 on: what is uncertain grows with it."""
    n = 60
    evaluator = compile(lambda x: x[-1], n, constraints=[lambda x: x[1:] == factor * x[:-1] + x[:-1] ** 2 / 128])
    ctx.prec, true = 300, [arb(0.1)]
    for _ in range(n - 1):
        true.append(arb(factor) * true[-1] + true[-1] ** 2 / 128)
    lo, hi = np.full(n, -1e60), np.full(n, 1e60)
    lo[0] = hi[0] = 0.1
    start = np.array([float(v) for v in true])
    found = sparse_equation_solutions.prove_feasible_sparse(evaluator, (lo, hi), start)
    if factor == 1.5:
        assert isinstance(found, FailureReason) or holds(found[:2], true)
    else:
        assert holds(found[:2], true) and (found.hi - found.lo)[1:].min() > 0


def test_derivatives_by_groups_are_those_of_the_rows():
    n = 12
    evaluator = compile(lambda x: np.sum(x**3), n, constraints=[
        lambda x: x[1:] * np.exp(x[:-1]) == 1, lambda x: x[0] + x[-1] == 2, lambda x: np.sum(x) <= 3])
    groups = row_groups(evaluator.system, n)
    assert groups.weights.shape[1] <= 3 and not groups.weights[[0, -1]].any()
    rng = np.random.default_rng(0)
    lo = rng.uniform(-1, 1, n)
    hi = lo + rng.uniform(0, 0.5, n)
    whole = evaluator.jacobian(lo, hi)
    equations = sparse_equation_solutions.SparseEquations(evaluator, (lo - 1, hi + 1), lo)
    for end, mine in zip((whole.lo, whole.hi), equations._enclosed_slopes(lo, hi), strict=True):
        assert np.allclose(end[1 + groups.rows, groups.columns], mine, rtol=1e-14)
        rest = end[1:][evaluator.system.equal].copy()
        rest[groups.rows, groups.columns] = 0.0
        assert not rest.any()


def test_dense_equations_have_no_groups():
    evaluator = compile(lambda x: x[0], 80, constraints=[lambda x: np.cumsum(x) == 1])
    assert row_groups(evaluator.system, 80) is None
    assert sparse_equation_solutions.prove_feasible_sparse(evaluator, (np.full(80, -1.0), np.full(80, 1.0)),
                                                           np.zeros(80)) is FailureReason.LARGE


def chain(x):
    return x[1:] == np.cos(x[:-1]) + 0.1 * x[:-1]


def test_a_long_chain_is_proved():
    n = 1000
    r = infimum.minimize(lambda x: np.sum(x), [(0.25, 0.25), *[(-10, 10)] * (n - 1)], constraints=[chain], progress=False)
    assert r.verdict.name == "PROVED"
    ctx.prec, true, tenth = 300, [arb(0.25)], arb(0.1)
    for _ in range(n - 1):
        true.append(true[-1].cos() + tenth * true[-1])
    assert holds(r.feasible, true) and arb(r.lower) <= sum(true, arb(0)) <= arb(r.upper)
    assert 0 < r.maxcv < 1e-12
    # f + Σ y c is flat: from the last variable on, y_k = -1 - y_(k+1) (sin x - 0.1)
    y, x = [c.multiplier for c in r.constraints], [float(v) for v in true]
    assert len(y) == n - 1 and y[-1] == pytest.approx(1.0)
    assert y[-2] == pytest.approx(1 - (np.sin(x[-2]) - 0.1) * y[-1])


def test_a_chain_with_a_free_start_has_feasible_points():
    n = 600
    r = infimum.feasible([(0, 1), *[(-10, 10)] * (n - 1)], [chain, lambda x: x[0] >= 0.5])
    assert r.verdict.name == "PROVED"
    lo, hi = r.feasible
    ctx.prec, true = 300, [arb(float(lo[0]))]
    assert lo[0] == hi[0] >= 0.5
    for _ in range(n - 1):
        true.append(true[-1].cos() + arb(0.1) * true[-1])
    assert holds((lo, hi), true)
