"""minimize(..., start_boxes=...): search and proof are about the union of some boxes."""

import numpy as np
import pytest

import infimum
from infimum import Verdict
from infimum.certify import uniqueness_question
from infimum.errors import OptionError
from infimum.points.plain_call_search import by_plain_calls
from infimum.problem.problem import Problem

INF = np.inf
STAIRS = [[(0, 1), (0, 1)], [(0, 1), (1, 2)], [(1, 2), (1, 2)]]  # without [1, 2] x [0, 1]


def bowl(x):
    return np.sum((x - 1.5) ** 2)


def held(r: infimum.Result, *points) -> bool:
    """Each of the points lies in a region and in a box."""
    return all(p in r.regions and any(((lo <= p) & (p <= hi)).all() for lo, hi in r.boxes) for p in map(np.array, points))


# function, bounds, start boxes, the minimum over their union, all minimisers: on faces of the union, in corners, between boxes
CASES = {
    "inside a box": (bowl, [(-2, 3)] * 2, STAIRS, 0.0, [(1.5, 1.5)]),
    "at the corner that is missing": (lambda x: (x[0] - 1.5) ** 2 + x[1], [(-2, 3)] * 2, STAIRS, 0.25, [(1, 0)]),
    "in a reentrant corner": (lambda x: (x[0] - 1.2) ** 2 + (x[1] - 0.8) ** 2, [(-2, 3)] * 2, STAIRS, 0.04, [(1, 0.8), (1.2, 1)]),
    "on a face inside the bounds": (lambda x: -x[0] + (x[1] - 0.25) ** 2, [(-2, 3)] * 2, [[(0, 1), (0, 1)], [(0, 0.5), (1, 2)]],
                                    -1.0, [(1, 0.25)]),
    "where two boxes touch": (lambda x: (x[0] - 1) ** 2 + np.abs(x[1] - 0.5), [(0, 2)] * 2, [[(0, 1), (0, 1)], [(1, 2), (0, 1)]],
                              0.0, [(1, 0.5)]),
    "on the faces of two boxes apart": (lambda x: -np.abs(x[0]), [(-4, 4)], [[(-3, -1)], [(1, 3)]], -3.0, [(-3,), (3,)]),
    "between two boxes, in none": (lambda x: x[0] ** 2, [(-4, 4)], [[(-3, -1)], [(1, 3)]], 1.0, [(-1,), (1,)]),
    "in a box of one point": (lambda x: x[0] ** 2 + x[1], [(-1, 1)] * 2, [[(0.5, 0.5), (-1, -1)], [(0.9, 1), (0, 1)]], -0.75,
                              [(0.5, -1)]),
    "in boxes that overlap": (lambda x: -x[0] - x[1], [(0, 4)] * 2, [[(0, 2), (0, 1)], [(1, 3), (0, 1)]], -4.0, [(3, 1)]),
    "where one box is within another": (lambda x: -x[0], [(0, 4)], [[(0, 3)], [(1, 2)]], -3.0, [(3,)]),
    "of six variables": (lambda x: np.sum(np.cos(3 * x) + x), [(-9, 9)] * 6, [[(0, 1)] * 6, [(1, 1.5)] + [(-1, 0)] * 5], None,
                         []),
    "in infinite boxes": (lambda x: (x[0] - 0.5) ** 2 + np.exp(-np.abs(x[0])), [(-INF, INF)], [[(-INF, -1)], [(2, INF)]], None,
                          []),
}


@pytest.mark.parametrize("name", CASES)
def test_the_minimum_is_that_of_the_union(name):
    """Held against what is known, and against a run in each box alone."""
    f, bounds, boxes, minimum, minimisers = CASES[name]
    r = infimum.minimize(f, bounds, start_boxes=boxes, xtol=1e-3)
    each = [infimum.minimize(f, box, xtol=1e-3) for box in boxes]
    assert r.verdict is Verdict.PROVED and r.message.endswith(
        f"all this is about the union of the {len(boxes)} start boxes, not about the rest of the bounds")
    assert any(all(a <= v <= b for v, (a, b) in zip(r.x, box, strict=True)) for box in boxes)
    assert min(one.lower for one in each) <= r.upper and r.lower <= min(one.upper for one in each)
    assert minimum is None or r.lower <= minimum + 1e-15 and minimum <= r.upper + 1e-15
    assert held(r, *minimisers) and all(one.x in r.regions for one in each if one.upper <= r.lower)
    for lo, hi in r.regions:
        assert any((np.array(box).T[0] <= lo).all() and (hi <= np.array(box).T[1]).all() for box in boxes)


@pytest.mark.parametrize("seed", range(8))
def test_random_boxes(seed):
    """Minimisers of a wavy function over a union: those of each box, as far as their values tell."""
    rng = np.random.default_rng(seed)
    shift, turn = rng.uniform(-1, 1, 2), rng.uniform(0.5, 2)

    def f(x):
        return np.sum(np.sin(4 * x + shift)) + turn * (x[0] - x[1]) ** 2
    low = rng.integers(-4, 4, (5, 2)) / 2
    boxes = [list(zip(lo, lo + rng.integers(1, 4, 2) / 2, strict=True)) for lo in low]
    r = infimum.minimize(f, [(-2, 4)] * 2, start_boxes=boxes, xtol=1e-2, atol=1e-9, rtol=0.0)
    each = [infimum.minimize(f, box, xtol=1e-2, atol=1e-9, rtol=0.0) for box in boxes]
    assert r.verdict is Verdict.PROVED
    assert r.lower <= min(one.upper for one in each) and r.upper >= min(one.lower for one in each)
    assert r.upper <= min(one.upper for one in each) + 1e-9
    for one in each:
        if one.upper <= r.upper - 1e-8:
            raise AssertionError("a lower point in one of the boxes")
        if one.upper <= r.lower + 1e-12:
            near = [(lo <= one.x + 1e-6).all() and (one.x - 1e-6 <= hi).all() for lo, hi in r.regions]
            assert any(near)


def test_no_point_outside_is_an_upper_bound():
    """The whole box has its minimum where no start box is, and all descents lead there."""
    r = infimum.minimize(bowl, [(-3, 3)] * 2, start_boxes=[[(-3, 1), (-3, 1)], [(2, 3), (2, 3)]])
    assert r.verdict is Verdict.PROVED and r.lower <= 0.5 <= r.upper and held(r, (1, 1), (2, 2))


def test_the_user_of_an_array_and_of_one_box():
    one = infimum.minimize(bowl, [(-3, 3)] * 2, start_boxes=np.array([[[-3, 1], [-3, 1]]]))
    same = infimum.minimize(bowl, [(-3, 1)] * 2)
    assert (one.lower, one.upper, one.nfev, one.x.tolist(), one.regions) == (same.lower, same.upper, same.nfev, same.x.tolist(),
                                                                            same.regions)
    assert one.message == f"{same.message}; all this is about the start box, not about the rest of the bounds"
    for engine in ("swarm", "complete"):
        r = infimum.minimize(bowl, [(-3, 3)] * 2, start_boxes=[[(-3, 1), (-3, 1)]], engine=engine)
        assert (r.x <= 1).all()


@pytest.mark.parametrize(("boxes", "said"), [
    (3, "must be a list of boxes"), ("ab", "must be a list of boxes"), ([], "is empty"), ({}, "must be a list of boxes"),
    ([(0, 1), (0, 1)], "pair for each variable; box 0 is (0, 1)"), ([[(0, 1)]], "box 0 of start_boxes is wrong: 1 pair"),
    ([[(0, 1), (0, 1)], [(0, 1), (1, 0)]], "box 1 of start_boxes is wrong: the bounds of variable 1 are reversed"),
    ([[(0, 1), (0, 1, 2)]], "box 0 of start_boxes is wrong: the bounds of variable 1 must be a pair"),
    ([[(0, 1), (0, np.nan)]], "is NaN"), ([[(0, 1), 5]], "box 0 is [(0, 1), 5]"), ([None], "box 0 is None"),
    ([[(0, 1), (0, 4)]], "box 0 of start_boxes reaches beyond the bounds: variable 1 has (0.0, 4.0) there, its bounds are"),
])
def test_what_is_wrong_is_said(boxes, said):
    with pytest.raises(OptionError) as caught:
        infimum.minimize(bowl, [(-3, 3)] * 2, start_boxes=boxes)
    assert said in str(caught.value)


def test_points_and_engines_that_do_not_fit():
    with pytest.raises(OptionError, match=r"point 1 of x0 lies in none of the start_boxes: \[1.5, 0.5\]"):
        infimum.minimize(bowl, [(0, 2)] * 2, x0=[(0.5, 0.5), (1.5, 0.5)], start_boxes=STAIRS)
    with pytest.raises(OptionError, match="takes one box, and there are 3 start_boxes; engine 'auto' takes any number"):
        infimum.minimize(bowl, [(0, 2)] * 2, start_boxes=STAIRS, engine="swarm")


@pytest.mark.parametrize("engine", ("complete", "subdomain"))
@pytest.mark.parametrize("name", list(CASES)[:10])
def test_other_engines_know_the_union_as_well(name, engine):
    f, bounds, boxes, minimum, minimisers = CASES[name]
    r = infimum.minimize(f, bounds, start_boxes=boxes, xtol=1e-2, atol=1e-3, engine=engine)
    assert r.verdict is Verdict.PROVED and r.lower <= minimum + 1e-15 <= r.upper + 2e-15 and held(r, *minimisers)
    assert any(all(a <= v <= b for v, (a, b) in zip(r.x, box, strict=True)) for box in boxes)


def test_a_run_that_is_resumed_knows_its_boxes(tmp_path):
    def f(x):
        return np.sum(x**4 - 3 * x**2 * np.cos(5 * x)) + x[0] * x[1] * x[2]
    boxes, settings = [[(-2, 0), (0, 2), (-2, 2)], [(0, 2), (0, 1), (0, 2)], [(0, 2), (-1, 0), (-2, -1)]], {"xtol": 1e-4}
    whole = infimum.minimize(f, [(-2, 2)] * 3, start_boxes=boxes, batch=64, **settings)
    path = str(tmp_path / "run.inf")
    first = infimum.minimize(f, [(-2, 2)] * 3, start_boxes=boxes, batch=64, max_boxes=300, checkpoint=path, **settings)
    r = infimum.resume(path, f)
    assert whole.nit > first.nit and first.verdict is Verdict.STOPPED and r.verdict is Verdict.PROVED
    assert (r.lower, r.upper, r.nfev, r.x.tolist(), r.regions, r.message) == (
        whole.lower, whole.upper, whole.nfev, whole.x.tolist(), whole.regions, whole.message)


def test_what_is_known_before_anything_is_cut():
    """The regions are the boxes, not the box around them."""
    for stopped in (infimum.minimize(bowl, [(0, 2)] * 2, start_boxes=STAIRS, callback=lambda s: True),
                    by_plain_calls(Problem.read(bowl, [(0, 2)] * 2, start_boxes=STAIRS), bowl, None, "late", 0.0, 0, "auto")):
        assert stopped.regions.lo.tolist() == [[0, 0], [0, 1], [1, 1]] and stopped.regions.hi.tolist() == [[1, 1], [1, 2], [2, 2]]
        assert stopped.x in stopped.regions


def test_plain_calls_stay_in_the_boxes():
    problem = Problem.read(bowl, [(0, 2)] * 2, start_boxes=STAIRS)
    seen = []
    by_plain_calls(problem, lambda x: seen.append(x) or 1.0, None, "late", 0.05, 0, "auto")
    assert len(seen) > 3 and problem.start.holds(np.array(seen).T).all()


def test_where_the_function_is_defined_in_none_of_them():
    r = infimum.minimize(lambda x: np.sqrt(x[0]), [(-3, 3)], start_boxes=[[(-3, -2)], [(-1, -0.5)]])
    assert r.verdict is Verdict.INFEASIBLE and "about the union of the 2 start boxes" in r.message


def test_many_boxes_are_one_search():
    """A grid of a thousand boxes, of which a tenth is left out: the minimisers are those of the others."""
    rng = np.random.default_rng(1)
    grid = [[(i / 8, (i + 1) / 8), (j / 8, (j + 1) / 8)] for i in range(-16, 16) for j in range(-16, 16) if rng.random() < 0.9]
    r = infimum.minimize(lambda x: np.sum(x**4 - 2 * x**2), [(-2, 2)] * 2, start_boxes=grid, xtol=1e-3)
    assert r.verdict is Verdict.PROVED and r.lower <= -2 + 1e-6
    inside = [p for p in ((1, 1), (1, -1), (-1, 1), (-1, -1)) if any(all(a <= v <= b for v, (a, b) in zip(p, box, strict=True))
                                                                     for box in grid)]
    assert inside and held(r, *inside)


# ---- exactly one minimiser
def test_a_minimiser_inside_a_box_is_alone_there():
    r = infimum.minimize(bowl, [(-2, 3)] * 2, start_boxes=STAIRS, xtol=1e-2)
    one, = r.minimisers
    assert r.minimisers.exactly_one and (one.lo <= 1.5).all() and (one.hi >= 1.5).all()


@pytest.mark.parametrize(("boxes", "minimisers"), [([[(0, 1)], [(2, 3)]], [(1,), (2,)]), ([[(0, 1.5)], [(1.5, 3)]], [(1.5,)]),
                                                   ([[(0, 1)], [(1.5, 1.5)]], [(1.5,)]), ([[(0, 1)], [(1, 1.25)]], [(1.25,)]),
                                                   ([[(0, 1.5)], [(1.5, 2)], [(1.25, 1.75)]], [(1.5,)])])
def test_what_is_least_in_a_box_need_be_no_minimiser(boxes, minimisers):
    """A face of a box where the union goes on is no bound; one where it ends is one."""
    r = infimum.minimize(bowl, [(0, 3)], start_boxes=boxes, xtol=1e-2)
    assert r.verdict is Verdict.PROVED and held(r, *minimisers) and r.minimisers.rest == 0
    assert len(r.minimisers) == len(minimisers)
    assert all(any(m.lo <= v <= m.hi for m in r.minimisers) for v, in minimisers)


SQUARES = {"all four": [[(a, a + 2), (b, b + 2)] for a in (-2, 0) for b in (-2, 0)],
           "three": [[(-2, 0), (-2, 0)], [(-2, 0), (0, 2)], [(0, 2), (0, 2)]], "two": [[(-2, 0), (-2, 0)], [(0, 2), (0, 2)]]}


@pytest.mark.parametrize("name", SQUARES)
def test_a_corner_in_the_middle(name):
    """x² + y² is least in the corner of each square. Only where the union holds a box around it is it said to be alone; where
    the union is no box nearby, a closer look at each square is not enough."""
    found = infimum.minimize(lambda x: np.sum(x**2), [(-2, 2)] * 2, start_boxes=SQUARES[name], xtol=1e-2).minimisers
    assert found.exactly_one == (name == "all four") and (name == "all four" or (found.rest > 0 and "at a bound" in found.why))


@pytest.mark.parametrize(("f", "x"), [(lambda x: x[0] + x[1] ** 2, (0, 0)), (lambda x: x[0] ** 2 + x[1] ** 2, (0, 0)),
                                      (lambda x: (x[0] - 1) ** 2 + x[1] ** 2, (1, 0)), (lambda x: x[0] + x[1], (0, -1)),
                                      (lambda x: -x[0] - x[1], (2, 0.5))])
def test_faces_of_the_union_hold_minimisers(f, x):
    """Of two boxes that share a part of a face: where the union ends, and where it goes on."""
    r = infimum.minimize(f, [(-3, 3)] * 2, start_boxes=[[(0, 1), (-1, 1)], [(1, 2), (-0.5, 0.5)]], xtol=1e-2)
    one, = r.minimisers
    assert r.minimisers.exactly_one and (one.lo <= x).all() and (np.array(x) <= one.hi).all()


def test_boxes_that_regions_were_merged_to_may_reach_beyond_the_union(monkeypatch):
    """The middle of the box around both lies in none of them."""
    r = infimum.minimize(lambda x: 3.0 + 0 * x[0] * x[1], [(0, 3)] * 2, start_boxes=[[(0, 1), (0, 3)], [(1, 3), (0, 1)]])
    monkeypatch.setattr(uniqueness_question.POLICY, "most_regions", 1)
    assert len(r.boxes) == 1 and len(r.minimisers) == 0 and r.minimisers.rest > 0
