"""What programs of regions leave to the regions within them, and that many regions are bounded like each by itself."""

import numpy as np
import pytest

import infimum
from infimum.bounds.linear_programs.program_starts import ProgramStarts
from infimum.relax.program_bounds import LinearProgramBounding, ProgramStart, TightenedRegion
from infimum.relax.relaxation import Relaxation
from infimum.search.policy.bounds import LINEAR_PROGRAMS as POLICY

pytest.importorskip("highspy")


def kept(starts, rng, count):
    boxes = []
    for k in range(count):
        lo, hi = np.sort(rng.integers(0, 6, (2, 3)), axis=0).astype(float)
        boxes.append((lo, hi))
        starts.keep(lo, hi, ProgramStart(np.array([k], np.int8), np.array([float(k)]) if k % 3 else None, np.full((2, 3), k), k))
    return boxes


@pytest.mark.parametrize("count", [5, 40])
def test_the_last_box_around_a_box_is_found(monkeypatch, count):
    monkeypatch.setattr(POLICY, "kept_starts", 16)
    rng, starts = np.random.default_rng(0), ProgramStarts(3, lambda basis: basis)
    boxes = kept(starts, rng, count)
    lo, hi = np.sort(rng.integers(0, 6, (2, 3, 50)), axis=0).astype(float)
    again = ProgramStarts(3, lambda basis: basis)
    again.restore(starts.state(), 2)
    for k, (found, other) in enumerate(zip(starts.around(lo, hi), again.around(lo, hi), strict=True)):
        around = [j for j, (a, b) in enumerate(boxes) if (a <= lo[:, k]).all() and (b >= hi[:, k]).all() and j >= count - 16]
        assert (found.turn if found else -1) == (other.turn if other else -1) == max(around, default=-1)
        if found:
            assert (found.weights is None) == (other.weights is None) and np.array_equal(found.points, other.points)
    assert len(starts) == min(count, 16)


@pytest.mark.parametrize("count", [5, 40])
def test_what_a_step_has_kept_can_be_undone(monkeypatch, count):
    monkeypatch.setattr(POLICY, "kept_starts", 16)
    rng, starts = np.random.default_rng(0), ProgramStarts(3, lambda basis: basis)
    kept(starts, rng, count)
    before = starts.state()
    starts.mark()
    kept(starts, rng, 20)
    starts.undo()
    assert starts.next == max(0, count - 16) % 16 and all(np.array_equal(starts.state()[name], before[name]) for name in before)


def bounding():
    evaluator = infimum.compile(lambda x: x[0] * x[1] + np.exp(x[2]) - x[2] * x[0], 3, constraints=[
        lambda x: x[0] + x[1] + x[2] >= 1, lambda x: x[0] ** 2 + x[1] <= 4])
    found = LinearProgramBounding(Relaxation(evaluator), evaluator.linear_programs)
    found.session()
    return found


def test_many_regions_are_bounded_like_each_alone():
    rng, together = np.random.default_rng(1), bounding()
    ends = np.sort(rng.uniform(-2, 2, (8, 2, 3)), axis=1)
    regions = [TightenedRegion(*together.columns_of(lo, hi), -np.inf) for lo, hi in ends]
    for region, left in zip(regions, together.bound_each(regions, 5.0, 2), strict=True):
        alone, = bounding().bound_each([region], 5.0, 2)
        gone = [found.empty or found.lower > 5.0 for found in (alone, left)]
        assert gone[0] == gone[1]
        assert gone[0] or (np.isclose(alone.lower, left.lower) and np.allclose(alone.low[:3], left.low[:3], atol=1e-6))


def test_known_multipliers_spare_programs():
    solver, box = bounding(), (np.zeros(3), np.full(3, 2.0))
    left, = solver.bound_each([TightenedRegion(*solver.columns_of(*box), -np.inf)], 50.0, 2)
    within = TightenedRegion(*solver.columns_of(np.full(3, 0.5), np.full(3, 1.5)), -np.inf, start=left.start)
    solved = solver.counts.solved
    again, = solver.bound_each([within], left.lower - 1e-3, 2)
    assert again.lower > left.lower - 1e-3 and solver.counts.solved == solved and solver.counts.spared == 1
