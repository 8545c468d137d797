"""What a result that is not proved says of the obstacle: the operation, its line, the quantity, the place, and a cure."""

import numpy as np
import pytest

import infimum
from infimum.certify.obstacles import _RegionSurvey, obstacle
from infimum.problem.settings import Goal
from infimum.search.incumbent import Incumbent
from infimum.search.region_pool import Regions

UNIT = (-1.1, 1.3)


def lennard_jones(x):
    points, energy = np.reshape(x, (-1, 3)), 0
    for i in range(len(points)):
        for j in range(i):
            r2 = np.sum((points[i] - points[j])**2)
            energy += 4 * (r2**-6 - (1 + x[0]**2) * r2**-3)  # the coefficient depends on a variable
    return energy


def entropy(x):
    return np.sum(x[::-1] * np.log(x))


def reciprocal(x):
    return 1 / x[0]


def corner(x):
    return x[0]**2 * x[1] / (x[0]**4 + x[1]**2)


def overflow(x):
    return x[0] * x[1] - np.exp(x[1])


def endless(x):
    return x[0]**4 - 3 * x[0]**3 + x[1]**2 * x[0]


def partly_undefined(x):
    return x[0] - 0.5 * x[1] * x[0] + np.sqrt(1 - x[0]**2 - x[1]**2)


def nowhere_certain(x):
    return np.sqrt(x[0] - np.sin(x[1] + 0.3)) + np.sqrt(np.sin(x[1] + 0.3) - x[0])


def jump(x):
    return np.floor(5 * (x[0] + x[1])) - 5 * (x[0] + x[1])


def choice(x):
    r2 = x[0] ** 2 + x[1] ** 2
    return np.where(r2 < 0.5, x[0] + 2 * x[1], 10.0)


def steep(x):
    return 10 * np.sqrt(np.abs(x[1] - x[0]**2)) + x[1] - x[0]**2 + 1e-2 * np.sin(x[0])


def kink(x):
    return np.maximum(x[1] - x[0]**2, x[0] * x[0] - x[1]) + 1e-2 * np.sin(x[0])


def far_angle(x):
    return np.sin(1e20 * x[0]) + (x[0] - 1)**2


def flat_circle(x):
    return (x[0]**2 + x[1]**2 - 1)**2


def cancelling(x):
    return np.exp(30 + x[0]**2) - np.exp(30 - x[0]**2)


def line(fun, offset=1):
    return f"test_obstacles.py:{fun.__code__.co_firstlineno + offset}"


# function, bounds, settings, verdict, what the sentences contain
CASES = [
    (lennard_jones, [(-1.2, 1.2)] * 9, {"max_boxes": 3000}, "STOPPED",
     ["No lower bound was found: ", f"`r2**-3` ({line(lennard_jones, 5)}) has no finite enclosure where `r2` approaches 0",
      "Keep r2 away"]),
    (entropy, [(0, 1)] * 3, {"max_boxes": 3000}, "STOPPED",
     ["No lower bound was found",
      f"`np.log(x)` ({line(entropy)}) has no finite enclosure where `x` approaches 0 (element ", "np.maximum"]),
    (reciprocal, [(-1, 1)], {"max_boxes": 1000}, "STOPPED",
     [f"`1 / x[0]` ({line(reciprocal)}) has no finite enclosure where `x[0]` approaches 0, near x = (-", "be minus infinity"]),
    (corner, [UNIT] * 2, {"max_boxes": 1000}, "STOPPED",
     [f"`x[0]**2 * x[1] / (x[0]**4 + x[1]**2)` ({line(corner)})", "where `x[0]**4 + x[1]**2` approaches 0"]),
    (overflow, [(-1000, 1000)] * 2, {"max_boxes": 1000}, "UNDECIDED",
     [f"`np.exp(x[1])` ({line(overflow)}) exceeds the largest double", "Correct the function or the bounds"]),
    (endless, [(-np.inf, np.inf)] * 2, {"max_boxes": 2000}, "UNDECIDED",
     ["No lower bound was found: the bounds of x[", "are infinite", "Give finite bounds"]),
    (partly_undefined, [UNIT] * 2, {"max_boxes": 20_000}, "STOPPED",
     [f"`np.sqrt(1 - x[0]**2 - x[1]**2)` ({line(partly_undefined)}) is undefined where `1 - x[0]**2 - x[1]**2` is negative",
      "near x = (-0.9", "np.maximum or np.where"]),
    (nowhere_certain, [UNIT] * 2, {"max_boxes": 3000}, "STOPPED",
     ["No point was found at which the function is certainly defined", f"({line(nowhere_certain)}) is undefined where `x[",
      "Offer one as x0="]),
    (jump, [UNIT] * 2, {"max_boxes": 100_000}, "STOPPED",
     [f"`np.floor(5 * (x[0] + x[1]))` ({line(jump)}) jumps where `5 * (x[0] + x[1])` is an integer", "larger atol"]),
    (choice, [UNIT] * 2, {"max_boxes": 20_000, "atol": 1e-12, "rtol": 0}, "STOPPED",
     [f"({line(choice, 2)}) jumps where `r2 < 0.5` changes", "on either side"]),
    (steep, [UNIT] * 2, {"max_boxes": 50_000}, "STOPPED",
     [f"`np.sqrt(np.abs(x[1] - x[0]**2))` ({line(steep)}) has an infinite slope where `np.abs(x[1] - x[0]**2)` is 0"]),
    (kink, [UNIT] * 2, {"max_boxes": 20_000, "atol": 1e-9, "rtol": 0}, "STOPPED",
     [f"`np.maximum(x[1] - x[0]**2, x[0] * x[0] - x[1])` ({line(kink)}) has a kink where `x[1] - x[0]**2` equals the other"]),
    (far_angle, [(-3, 3)], {"max_boxes": 5000}, "STOPPED",
     [f"`np.sin(1e20 * x[0])` ({line(far_angle)}) is known only to lie in [-1, 1]", "Reduce the argument"]),
    (flat_circle, [UNIT] * 2, {"max_boxes": 5000, "xtol": 1e-9}, "STOPPED",
     ["The gap is closed, but", "regions are wider than xtol = 1e-09", "larger xtol"]),
    (cancelling, [(-1, 1)], {"atol": 1e-12, "rtol": 0}, "UNDECIDED",
     ["Rounding errors alone leave the value at x uncertain by", "the allowed gap is 1e-12. Ask for atol="]),
    (flat_circle, [UNIT] * 2, {"time_limit": 1e-9}, "STOPPED", ["ended before the first region was enclosed"]),
]


@pytest.mark.parametrize("fun, bounds, settings, verdict, said", CASES, ids=[f"{c[0].__name__}-{k}" for k, c in enumerate(CASES)])
def test_the_obstacle_is_named(fun, bounds, settings, verdict, said):
    r = infimum.minimize(fun, bounds, **settings)
    assert r.verdict.name == verdict
    for part in said:
        assert part in r.obstacle
    assert f"obstacle {r.obstacle} " in " ".join(str(r).split()) and r.to_dict()["obstacle"] == r.obstacle


def test_a_proof_has_no_obstacle():
    r = infimum.minimize(flat_circle, [UNIT] * 2)
    assert r.verdict.name == "PROVED" and r.obstacle is None and "obstacle" not in str(r)
    assert infimum.minimize(flat_circle, [UNIT] * 2, engine="swarm").obstacle is None


def test_the_complete_search_names_it_too():
    r = infimum.minimize(lambda x: np.sum(x * np.log(x)), [(0, 1)] * 4, engine="complete",
                         options={"partition": (4, 4), "iterations": 3})
    assert r.verdict.name == "STOPPED" and "`np.log(x)`" in r.obstacle


def test_a_large_search_says_how_far_it_came():
    r = infimum.minimize(lambda x: infimum.problems.get("trid", 10).fun(x), [(-100, 100)] * 10, max_boxes=5000)
    assert "of the bounds wide, where enclosures are" in r.obstacle
    assert "limit" in r.advice or "The gap has hardly moved" in r.advice, "the clock decides"
    assert f"({100 * r.gap / 210:.3g} %" in str(r)


def test_where_the_source_is_not_at_hand():
    names: dict = {"np": np}
    exec("def hidden(x): return np.log(x[0]) + x[1]", names)
    r = infimum.minimize(names["hidden"], [(0, 1)] * 2, max_boxes=1000)
    assert "(<string>:1) has no finite enclosure where its argument approaches 0" in r.obstacle


def cluster(x_at: float) -> str:
    """Many small regions around 0, and the best point there."""
    f = infimum.compile(lambda x: x[0]**2 + x[1]**2, 2)
    best = Incumbent(f, np.full(2, -1.0), np.full(2, 1.0))
    best.offer(np.full((2, 1), x_at))
    lo = np.stack([a.ravel() for a in np.meshgrid(*[np.linspace(-1e-3, 1e-3, 9)] * 2)])
    regions = Regions(lo, lo + 2.5e-4, np.full(81, -1e-3), np.zeros(81, np.int32), np.full(81, 3, np.int8))
    return obstacle(regions, -1e-3, best, Goal())


def test_a_cluster():
    assert "The lowest of 81 regions lie within 0.0023 of x, where the function is too flat" in cluster(0.0)
    assert "of x = (0.000125, 0.000125), where no point as low as the best one was found. Offer one there as x0=." in cluster(0.5)


def test_the_same_words_every_time():
    assert len({infimum.minimize(steep, [UNIT] * 2, max_boxes=5000).obstacle for _ in range(2)}) == 1


def test_of_regions_that_are_equally_low_the_first_are_looked_at(monkeypatch):
    """Which of them a partition takes is the library's choice, and not the same on all machines."""
    monkeypatch.setattr("infimum.certify.obstacles.POLICY.surveyed_regions", 5)
    lower = np.array([0.0, -np.inf, 2.0, -np.inf, 1.0, 0.0, -np.inf, 0.0, np.nan, 0.0])
    ends = np.arange(10.0)[None]
    regions = Regions(ends, ends + 1, lower, np.zeros(10, np.int32), np.zeros(10, np.int8))
    evaluator = infimum.compile(lambda x: x[0] ** 2, 1)
    look = _RegionSurvey.at(regions, Incumbent(evaluator, np.array([0.0]), np.array([11.0])))
    assert look.regions.lo[0].tolist() == [1.0, 3.0, 6.0, 8.0, 0.0]


def test_too_large_to_be_looked_into(monkeypatch):
    monkeypatch.setattr("infimum.certify.obstacles.POLICY.most_nodes", 0)
    for fun, settings in ((reciprocal, {}), (steep, {"max_boxes": 50_000}), (nowhere_certain, {})):
        r = infimum.minimize(fun, [UNIT] * (1 if fun is reciprocal else 2), **{"max_boxes": 1000, **settings})
        assert r.obstacle and "`" not in r.obstacle


def test_no_memory_left(monkeypatch):
    def full(*_):
        raise MemoryError
    monkeypatch.setattr("infimum.certify.obstacles._RegionSurvey.at", full)
    r = infimum.minimize(steep, [UNIT] * 2, max_boxes=1000)
    assert r.verdict.name == "STOPPED" and r.obstacle is None and "obstacle" not in str(r)


@pytest.mark.parametrize("fun", [lambda x: x[1], lambda x: x.copy()[0]])
def test_a_function_without_operations(fun):
    r = infimum.minimize(fun, [UNIT] * 2, engine="complete", max_boxes=1)
    assert r.verdict.name == "STOPPED" and "left" in r.obstacle
