"""The kernel of a step: pieces cover their parent without a gap, ends stay bit for bit, and the bounds are those of `bound`."""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import infimum
from infimum import problems
from infimum.backend.cpu import CpuBackend
from infimum.backend.python import PythonBackend
from infimum.bounds.function_bounds import first_order_kernel as bound
from infimum.evaluation.programs import BOUND, BOUND_BY_PIECES, BRANCH, BRANCH_BY_PIECES, REGION_OUTCOME, SHAVING, WIDE
from infimum.kernel.region_cut import ABOVE, DISCARDED, DISCARDED_AXIS, FAR, FINAL, NEAR, NO_AXIS, POINT, REGIONS, UPPER, rows
from infimum.problem.cover import widths
from infimum.search.region_pool import Regions, can_be_cut
from tests.engine.boxes import INF, MAX, TINY, intervals, one_region, some_regions
from tests.random_kernels import same_bits


@cache
def nothing_known(n: int) -> infimum.Evaluator:
    """Jumps everywhere: no test shrinks or discards a box, so that what comes out is the piece."""
    return infimum.compile(lambda x: np.sum(np.floor(x)) * 0.0, n, backend=CpuBackend(threads=1))


def run(f: infimum.Evaluator, kind: str, regions: Regions, k: int, pieces: int, lo=None, hi=None) -> list[np.ndarray]:
    lo, hi = (np.full(f.n, end) if given is None else given for end, given in ((-INF, lo), (INF, hi)))
    parameters = np.concatenate([lo, hi, np.arange(f.n), [k, k / pieces, (k + 1) / pieces]])
    return f.run(kind, [regions.columns()], parameters=parameters)


def split(regions: Regions, pieces: int) -> list[Regions]:
    """The pieces, with those that are gone marked in `axis`."""
    f = nothing_known(len(regions.lo))
    return [Regions.from_columns(run(f, BRANCH, regions, k, pieces)[REGIONS]) for k in range(pieces)]


def bits(x: float) -> int:
    return int(np.array(x, dtype=float).view(np.int64))


def real(pieces: list[Regions], k: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The pieces of parent k that are there."""
    return [(p.lo[:, k], p.hi[:, k]) for p in pieces if p.axis[k] != DISCARDED_AXIS]


@settings(max_examples=300)
@given(some_regions(), st.integers(2, 16))
@example(one_region([-MAX], [MAX]), 16)
@example(one_region([0.0], [TINY]), 3)
@example(one_region([-INF], [-MAX]), 2)
@example(one_region([MAX], [INF]), 4)
@example(one_region([-0.0], [0.0]), 7)
def test_pieces_cover_their_parent_without_a_gap(parents, pieces):
    found = split(parents, pieces)
    for k in range(len(parents)):
        mine, axis = real(found, k), parents.axis[k]
        unbounded = not np.isfinite([parents.lo[axis, k], parents.hi[axis, k]]).all()
        assert 1 <= len(mine) <= (2 if unbounded else pieces)
        assert len(mine) == 1 or all(lo[axis] < hi[axis] for lo, hi in mine), "no piece is a point of its neighbour"
        for i in range(len(parents.lo)):
            starts, stops = [lo[i] for lo, _ in mine], [hi[i] for _, hi in mine]
            if i != axis:
                assert set(map(bits, starts)) == {bits(parents.lo[i, k])} and set(map(bits, stops)) == {bits(parents.hi[i, k])}
            else:
                assert bits(starts[0]) == bits(parents.lo[i, k]) and bits(stops[-1]) == bits(parents.hi[i, k])
                assert list(map(bits, starts[1:])) == list(map(bits, stops[:-1])), "neighbours share one double"
                assert all(map(math.isfinite, starts[1:])) and not any(map(math.isnan, starts))


@settings(max_examples=100)
@given(some_regions(), st.integers(1, 16))
def test_a_piece_does_not_depend_on_its_company_nor_on_the_target(parents, pieces):
    exact = infimum.compile(lambda x: np.sum(np.floor(x)) * 0.0, len(parents.lo), backend=PythonBackend())
    k = pieces // 2
    together = run(nothing_known(len(parents.lo)), BRANCH, parents, k, pieces)
    for out, wanted in zip(together, run(exact, BRANCH, parents, k, pieces), strict=True):
        assert same_bits(out, wanted).all()
    for j in range(len(parents)):
        alone = run(nothing_known(len(parents.lo)), BRANCH, parents.at(np.array([j])), k, pieces)
        assert all(same_bits(a[:, j:j + 1], b).all() for a, b in zip(together, alone, strict=True))


@pytest.mark.parametrize("pieces", range(2, 17))
def test_ordinary_intervals_are_cut_evenly(pieces):
    for piece in split(one_region([-3.0, 1.0], [5.0, 2.0]), pieces):
        assert np.allclose(piece.hi[0] - piece.lo[0], 8 / pieces, rtol=1e-12, atol=0)
        assert (piece.lo[1] == 1).all() and (piece.hi[1] == 2).all()


@pytest.mark.parametrize("pieces", range(2, 17))
def test_intervals_wider_than_the_largest_double_are_cut_evenly(pieces):
    for end in (MAX, 1e308):
        for piece in split(one_region([-end], [end]), pieces):
            assert np.allclose(piece.hi[0] / end - piece.lo[0] / end, 2 / pieces, rtol=1e-12, atol=0)


@pytest.mark.parametrize(("interval", "at"), [
    ((-INF, INF), 0), ((-1, INF), 0), ((0, INF), 1), ((-0.0, INF), 1), ((0.5, INF), 1), ((3, INF), 6), ((-INF, 1), 0),
    ((-INF, 0), -1), ((-INF, -3), -6), ((1e308, INF), MAX), ((-INF, -1e308), -MAX), ((TINY, INF), 1), ((-TINY, INF), 0)])
@pytest.mark.parametrize("pieces", (2, 4, 16))
def test_unbounded_intervals_are_cut_in_two(interval, at, pieces):
    mine = real(split(one_region([float(interval[0])], [float(interval[1])]), pieces), 0)
    assert [(float(lo[0]), float(hi[0])) for lo, hi in mine] == [(interval[0], at), (at, interval[1])]


def test_halving_a_half_line_ends():
    """After at most some 1100 cuts no double is left beyond."""
    lo, cuts = 3.0, 0
    while len(mine := real(split(one_region([lo], [INF]), 2), 0)) == 2:
        lo, cuts = float(mine[1][0][0]), cuts + 1
    assert lo == MAX and cuts < 1100


@settings(max_examples=300)
@given(intervals(), st.sampled_from([2, 4, 8, 16]))
@example((1 - 2.0**-53, 1 + 2.0**-52), 2)
@example((-1 - 2.0**-52, -1 + 2.0**-53), 2)
def test_wherever_a_double_lies_inside_no_piece_is_its_parent(interval, pieces):
    """So cutting again and again ends, and it ends only where no double is left."""
    one = one_region([interval[0]], [interval[1]])
    found = split(one, pieces)
    inside = bool(can_be_cut(one.lo, one.hi)[0, 0])
    assert inside == (math.nextafter(interval[0], INF) < interval[1])
    if inside:
        assert len(real(found, 0)) >= 2
        assert all(lo[0] > interval[0] or hi[0] < interval[1] for lo, hi in real(found, 0))
    whole = run(nothing_known(1), BRANCH, one, 0, 1)[REGIONS]
    assert (whole[rows(1)[1], 0] == NO_AXIS) != inside


@pytest.mark.parametrize(("kind", "plain"), [(BRANCH, BOUND), (BRANCH_BY_PIECES, BOUND_BY_PIECES)])
@pytest.mark.parametrize(("name", "n"), [("goldstein_price", 2), ("levy", 4), ("shekel_5", 4), ("ackley", 3), ("trid", 7),
                                         ("michalewicz", 5), ("bukin_6", 2), ("rastrigin", 20)])
def test_a_piece_is_bounded_as_bound_does_it(name, n, kind, plain):
    """The tests of `bound` are those that the Judge has examined: on the same box the numbers are the same."""
    p = problems.get(name, n)
    f, rng = infimum.compile(p.fun, n), np.random.default_rng(1)
    ends = np.sort(rng.uniform(p.lo, p.hi, (400, 2, n)), axis=1)
    lo, hi = (np.ascontiguousarray(ends[:, k].T) for k in (0, 1))
    lo[:, ::7], hi[:, ::5] = p.lo[:, None], p.hi[:, None]
    known = rng.normal(size=400) * 100
    parents = Regions(lo, hi, known, rng.integers(0, n, 400).astype(np.int32), np.zeros(400, np.int8))
    pieces = split(parents, 4)
    for k in range(4):
        out = run(f, kind, parents, k, 4, p.lo, p.hi)
        regions, box = out[REGIONS], pieces[k]
        there = box.axis != DISCARDED_AXIS
        expected = f.run(plain, [box.lo, box.hi], parameters=np.concatenate([p.lo, p.hi, np.arange(n)]))
        facts = expected[bound.FACTS]
        assert same_bits(regions[:n], expected[bound.LO]).all() and same_bits(regions[n:2 * n], expected[bound.HI]).all()
        assert same_bits(out[POINT], expected[bound.POINT]).all()
        assert (regions[2 * n] == np.maximum(expected[bound.LOWER][0], known)).all()
        gone = ~there | (facts[bound.DISCARD] > 0)
        assert ((regions[2 * n + 1] == DISCARDED_AXIS) == gone).all() and there.mean() > 0.9
        cuttable = can_be_cut(regions[:n], regions[n:2 * n])
        axis = regions[2 * n + 1].astype(int)
        assert (cuttable.any(axis=0) | (axis < 0)).all() and cuttable[axis, np.arange(400)][axis >= 0].all()
        easy = cuttable.all(axis=0) & ~gone
        assert (axis == facts[bound.AXIS])[easy].all()
        assert (regions[2 * n + 2] == facts[bound.LEVEL]).all()
        assert (out[UPPER][0] == np.where(there, facts[bound.UPPER], INF)).all()


@pytest.mark.parametrize("backend", (CpuBackend, PythonBackend))
def test_a_lower_bound_that_is_nan_becomes_minus_infinity(backend):
    """Where regions are kept, NaN marks a gap: a region with such a bound would be lost."""
    f = infimum.compile(lambda x: np.sum(np.floor(x)), 2, backend=backend())
    parents = np.array([[0.0, 0.0, 0.25], [0.0, 0.0, 0.5], [1.0, 1.0, 0.5], [1.0, 1.0, 0.75], [np.nan, -INF, np.nan],
                        [0, 1, 0], [1, 1, 1]])
    for k in range(2):
        parameters = np.array([0.0, 0.0, 1.0, 1.0, 0, 1, k, k / 2, (k + 1) / 2])
        for kind in (BRANCH, BRANCH_BY_PIECES) if f.facts.has_pieces else (BRANCH,):
            found = f.run(kind, [parents], parameters=parameters)[REGIONS]
            assert found[4].tolist() == [0.0, 0.0, 0.0]
    said = np.concatenate([parents[:4], [[1.0] * 3] * 2, [[np.nan, -INF, 0.5]] * 2])  # by a sweep of each variable
    shaved = f.run(SHAVING, [parents, said], parameters=np.array([INF]))[0]
    assert shaved[4].tolist() == [-INF, -INF, 0.5] and (shaved[:4] == parents[:4]).all()


def test_what_becomes_of_a_region():
    lower = [1.0, 1.0, 2.0, np.nextafter(2.0, 3), 0.5, 5.0, 5.0, np.nan, -INF]
    axis = [0, 1, 0, 0, NO_AXIS, NO_AXIS, DISCARDED_AXIS, 0, 0]
    regions = np.zeros((7, len(lower)))
    regions[4], regions[5] = lower, axis
    f = nothing_known(2)
    fate = f.run(REGION_OUTCOME, [regions], parameters=np.array([2.0, 1.0]))[0][0]
    assert fate.astype(int).tolist() == [NEAR, NEAR, FAR, ABOVE, FINAL, ABOVE, DISCARDED, FAR, NEAR]
    fate = f.run(REGION_OUTCOME, [regions], parameters=np.array([INF, INF]))[0][0]
    assert fate.astype(int).tolist() == [NEAR, NEAR, NEAR, NEAR, FINAL, FINAL, DISCARDED, FAR, NEAR]


@settings(max_examples=300)
@given(st.lists(st.tuples(intervals(), intervals(), st.sampled_from([-INF, -1.0, 0.0, 5.0]), st.sampled_from([-1, 0, 1])),
                min_size=1, max_size=9),
       st.sampled_from([TINY, 1e-300, 1e-12, 2.0**-52, 0.5, 1.0, 1e9, MAX]))
@example([((0.0, 0.5), (1.0, 1.0), 0.0, 0)], 0.5)
@example([((-MAX, MAX), (0.0, TINY), 0.0, 1), ((-INF, 3.0), (1.0, 2.0), -1.0, 1)], MAX)
def test_what_is_too_wide(boxes, xtol):
    """No region that could be cut and is wider, as NumPy has it, is missed; one that counts is wider up to two last digits. It is
    cut where it is to be cut next, if that side is too wide, else at its widest side."""
    n, f = 2, nothing_known(2)
    lo, hi = (np.array([[box[k][side] for box in boxes] for k in range(n)]) for side in (0, 1))
    lower, wanted = np.array([box[2] for box in boxes]), np.array([box[3] for box in boxes], np.int32)
    regions = Regions(lo, hi, lower, wanted, np.zeros(len(lower), np.int8)).columns()
    keys, axes = (row[0] for row in f.run(WIDE, [regions], parameters=np.array([xtol])))
    again = infimum.evaluation.evaluator.Evaluator(f.f, n, PythonBackend()).run(WIDE, [regions], parameters=np.array([xtol]))
    assert same_bits(keys, again[0][0]).all() and same_bits(axes, again[1][0]).all()
    cuttable, found = can_be_cut(lo, hi), ~np.isnan(keys)
    missed = (cuttable & (widths(lo, hi) > xtol)).any(axis=0) & ~found
    assert not missed.any() and (keys[found] == lower[found]).all()
    for k in np.flatnonzero(found):
        axis = int(axes[k])
        with np.errstate(over="ignore"):
            assert cuttable[axis, k] and np.nextafter(widths(lo[:, k], hi[:, k])[axis], INF) > xtol
        sides = np.where(cuttable[:, k], widths(lo[:, k], hi[:, k]), -1.0)
        if wanted[k] >= 0 and sides[wanted[k]] > xtol:
            assert axis == wanted[k] or sides[axis] == INF
        else:
            assert sides[axis] >= np.nextafter(np.nextafter(sides.max(), 0), 0) or axis == wanted[k]
    assert (axes[~found] == NO_AXIS).all()


@pytest.mark.parametrize(("narrow", "axes"), [(0.0, [0, 0, 0]), (0.5, [1, 0, 0]), (0.9, [1, 0, 0]), (2.0, [0, 0, 0])])
def test_of_sides_that_are_too_wide_the_one_with_the_largest_smear_is_cut_next(narrow, axes):
    """f changes much faster with x[0] than with x[1] and x[2]; where no side is too wide, all count."""
    f = infimum.compile(lambda x: np.sum(np.array([100.0, 1.0, 0.5]) * np.sin(x) ** 2), 3)
    lo, hi = np.full((3, 3), -0.25), np.array([[0.0, 0.75, 1.0], [0.75, 0.75, 0.5], [1.0, 0.0, 1.0]])
    regions = Regions(lo, hi, np.zeros(3), np.zeros(3, np.int32), np.zeros(3, np.int8)).columns()
    user = [np.full(3, -INF), np.full(3, INF), np.arange(3.0), [0.0, 0.0, 1.0, narrow]]
    for evaluator in (f, infimum.evaluation.evaluator.Evaluator(f.f, 3, PythonBackend())):
        out = evaluator.run(BRANCH, [regions], parameters=np.concatenate(user))[0]
        assert out[7].tolist() == axes
