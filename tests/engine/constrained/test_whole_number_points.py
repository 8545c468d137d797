"""Points with whole numbers: dives fix them within the constraints, walks never leave the feasible set, and searches find points
where relaxations and roundings find none."""

import itertools

import numpy as np
import pytest

import infimum
from infimum.evaluation.evaluator import Evaluator
from infimum.points.diving.dives import Dives
from infimum.points.diving.whole_number_walks import WholeNumberWalks
from infimum.trace.constraint_reading import read_constraints
from infimum.trace.trace import trace


def evaluator_of(f, constraints, n, integers):
    system = read_constraints(constraints, n).system(trace(f, n), integers)
    return Evaluator(system.f, n, system=system)


def cutting_stock(x):
    """Two patterns of three kinds of pieces, of which 9, 7 and 5 are wanted; x: how often, and the pieces of each."""
    times, pieces = x[:2], x[2:]
    return [times[0] * pieces[0] + times[1] * pieces[3] >= 9, times[0] * pieces[1] + times[1] * pieces[4] >= 7,
            times[0] * pieces[2] + times[1] * pieces[5] >= 5, 3 * pieces[0] + 4 * pieces[1] + 5 * pieces[2] <= 21,
            3 * pieces[3] + 4 * pieces[4] + 5 * pieces[5] <= 21]


STOCK = [lambda x, k=k: cutting_stock(x)[k] for k in range(5)]
BOX = np.zeros(8), np.array([9.0, 9, 5, 5, 4, 5, 5, 4])


def run(dives, lanes=24, guide=np.nan, upper=np.inf):
    lo, hi = (np.repeat(end[:, None], lanes, axis=1) for end in dives.root)
    for _ in dives.run(lo, hi, np.full(lo.shape, guide), upper):
        pass
    return dives.ends


def test_dives_end_at_different_assignments_that_obey_the_constraints():
    made = evaluator_of(lambda x: x[0] + x[1], STOCK, 8, tuple(range(8)))
    ends = run(Dives(made, made, BOX, 0, 0))
    assert ends.start.shape[1] > 3 and len(np.unique(ends.start, axis=1).T) == ends.start.shape[1]
    rows = made.rows(ends.start, ends.start)
    assert (ends.start == np.rint(ends.start)).all()
    assert ((rows.lo[1:] >= made.system.lower[:, None]) & (rows.hi[1:] <= made.system.upper[:, None])).all()
    again = run(Dives(made, made, BOX, 0, 0))
    assert np.array_equal(ends.start, again.start) and not np.array_equal(ends.start, run(Dives(made, made, BOX, 0, 1)).start)
    assert run(Dives(made, made, BOX, 0, 0), upper=1.0).start.shape[1] == 0


def test_the_other_variables_are_narrowed_towards_the_constraints():
    made = evaluator_of(lambda x: x[1], [lambda x: x[0] * x[1] * x[2] == 7, lambda x: x[1] + x[2] == 4.5], 3, (0,))
    ends = run(Dives(made, made, (np.zeros(3), np.full(3, 9.0)), 0, 0))
    assert ends.start.shape[1] and (ends.lo[0] == ends.hi[0]).all()
    values = made.estimate_jacobian(ends.start)[0][1:]
    assert (np.abs(values - [[7], [4.5]]).max(axis=0) < 0.5).any()


@pytest.mark.parametrize("seed", [0, 1])
def test_walks_stay_feasible_and_find_the_minimum_of_a_small_problem(seed):
    weights = np.random.default_rng(seed).integers(1, 9, 6)
    f = lambda x: (weights @ x - 11.5) ** 2 + x[0] * x[5]  # noqa: E731
    made = evaluator_of(f, [lambda x: x.sum() <= 7], 6, tuple(range(6)))
    walks = WholeNumberWalks(made, (np.zeros(6), np.full(6, 3.0)), np.zeros((6, 2)), (seed, 0))
    for _ in walks.run():
        assert (walks.x.sum(axis=0) <= 7).all() and (walks.x >= 0).all() and (walks.x <= 3).all()
    least = min(f(np.array(x)) for x in itertools.product(range(4), repeat=6) if sum(x) <= 7)
    assert np.isclose(walks.lowest.min(), least) and walks.evaluations <= 2 * walks.most


def test_products_of_whole_numbers_have_points_from_the_beginning():
    r = infimum.minimize(lambda x: x[0] + x[1] + 0.1 * x[2:].sum(), list(zip(*BOX, strict=True)), constraints=STOCK,
                         integrality=[1] * 8, max_boxes=2000)
    assert r.x is not None and r.upper <= 9


def test_equations_with_whole_numbers_beside_other_variables():
    rows = [lambda x: x[10] * x[:10].sum() == 12.5, lambda x: x[11] ** 2 + x[10] * x[0] == 9, lambda x: x[:5].sum() == 3 * x[5]]
    r = infimum.minimize(lambda x: x[11] - x[10], [(0, 4)] * 10 + [(0, 10), (0, 10)], constraints=rows,
                         integrality=[1] * 10 + [0, 0], max_boxes=2000)
    assert r.x is not None and r.upper < 0
