"""The kernel of a Newton step on random equations: a point that solves them in some lane stays, whatever the recipe.

The kernel knows nothing of a function, so that its equations can be drawn: a point x of the region, a matrix, and the slopes at
the centre for which x is a solution; then intervals around these numbers, some of them wide, so that divisors contain 0.
"""

import numpy as np
import pytest

from infimum.bounds.newton_kernel import NO_GAP, SweepPlan
from infimum.evaluation.compile import compile
from infimum.evaluation.programs import CONTRACT, ProgramKind

LANES = 4000
RECIPES = [SweepPlan(), SweepPlan(1, 0, 0, 1), SweepPlan(0, 1, 1, 1), SweepPlan(2, 2, 0, 1), SweepPlan(1, 1, 1, 0)]


class Drawn:
    """Equations of n variables in many lanes, and their solutions x; some variables are not free, and theirs do not hold."""

    def __init__(self, n: int, seed: int):
        rng = np.random.default_rng(seed)
        shape, square = (n, LANES), (n, n, LANES)
        self.n, self.lo = n, rng.uniform(-2, 0, shape)
        self.hi = self.lo + rng.choice([0.1, 1.0, 3.0], shape)
        self.c = 0.5 * (self.lo + self.hi)
        at = np.where(rng.random(shape) < 0.3, rng.integers(0, 2, shape), rng.uniform(0, 1, shape))  # ends among them
        self.x = np.clip(self.lo + at * (self.hi - self.lo), self.lo, self.hi)
        matrix = rng.normal(0, 1, square) + 3 * np.eye(n)[..., None] * rng.random(LANES)
        slope = -np.einsum("ijk,jk->ik", matrix, self.x - self.c)
        self.free = rng.random(shape) < 0.9
        slope = np.where(self.free, slope, rng.normal(0, 3, shape))
        size = rng.choice([1e-9, 0.1, 1.0], shape)
        self.slope = slope - size, slope + size * rng.random(shape)
        around = rng.choice([1e-9, 0.1, 1.0, 3.0], square)
        self.matrix = matrix - around * rng.random(square), matrix + around
        low, high = (pick(end, end.swapaxes(0, 1)) for pick, end in zip((np.minimum, np.maximum), self.matrix, strict=True))
        high[range(n), range(n)] = np.maximum(high[range(n), range(n)], 0.0)  # nowhere concave
        triangle = np.triu_indices(n)
        self.curvature = low[triangle], high[triangle]

    def run(self, recipe: SweepPlan) -> np.ndarray:
        """What the kernel says."""
        n = self.n
        regions = np.concatenate([self.lo, self.hi, np.zeros((3, LANES))])
        bounds = np.concatenate([np.where(self.free, -9.0, self.lo), np.full((n, LANES), 9.0)])
        square = [end.reshape(n * n, LANES) for end in self.matrix] if recipe.sequential else []
        inputs = [regions, np.full((1, LANES), 3.0), self.c, *self.slope, *self.curvature, *square, bounds]
        evaluator = compile(lambda x: np.sum(x**2), n)
        return evaluator.run(ProgramKind.of(CONTRACT, in_boxes=True, recipe=recipe), [np.ascontiguousarray(a) for a in inputs])[0]


@pytest.mark.parametrize("n", (1, 2, 4))
@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_no_solution_is_lost(recipe, n):
    drawn = Drawn(n, seed=n)
    ends = drawn.run(recipe)
    lo, hi, alive = ends[:n], ends[n:2 * n], ends[2 * n:3 * n]
    assert (alive == 1).all() and (lo <= drawn.x).all() and (drawn.x <= hi).all()
    assert (lo >= drawn.lo).all() and (hi <= drawn.hi).all() and ((lo > drawn.lo) | (hi < drawn.hi)).any(axis=0).mean() > 0.1
    assert ((lo == drawn.lo) & (hi == drawn.hi))[~drawn.free].all(), "at a bound there is no equation"
    if recipe.gaps:
        axis, left, right = ends[4 * n:]
        lanes = np.flatnonzero(axis != NO_GAP)
        which = axis[lanes].astype(int)
        x, free = drawn.x[which, lanes], drawn.free[which, lanes]
        assert len(lanes) > 20 and free.all() and (left[lanes] < right[lanes]).all()
        assert ((x <= left[lanes]) | (x >= right[lanes])).all(), "a solution in a gap"
        assert (x <= left[lanes]).any() and (x >= right[lanes]).any()
        assert ((lo[which, lanes] <= left[lanes]) & (right[lanes] <= hi[which, lanes])).all(), "a gap is inside what is left"


def test_pivots_leave_no_more_than_one_row_does():
    """Of two equations, only the other one tells about a variable."""
    drawn = Drawn(2, seed=0)
    by_pivots, by_inverse = (drawn.run(SweepPlan(*counts)) for counts in ((1, 0), (0, 1)))
    both = drawn.run(SweepPlan(1, 1))
    sizes = [np.log2(np.maximum(ends[2:4] - ends[:2], 1e-12)).mean() for ends in (by_pivots, by_inverse, both)]
    assert sizes[2] < min(sizes[:2])


def test_narrower_matrices_contract_more_but_are_not_asked_for_concavity():
    """A matrix of sequential arguments whose diagonal is negative discards nothing by that alone."""
    drawn = Drawn(2, seed=3)
    plain, sequential = drawn.run(SweepPlan(1, 1)), drawn.run(SweepPlan(1, 1, 1))
    assert (sequential[2:4] - sequential[:2]).mean() < 0.99 * (plain[2:4] - plain[:2]).mean()
    negative = (drawn.matrix[1][range(2), range(2)] < 0).any(axis=0)
    assert negative.any() and (sequential[4:6][:, negative] == 1).all()
