"""The swarm as a user meets it: minima of the gallery, the same bits for all threads, limits, interruptions, bad arguments."""


import numpy as np
import pytest

import infimum
from infimum import BoundsError, OptionError, Result, UndefinedError, Verdict, problems
from infimum.backend.cpu import CpuBackend
from infimum.points import sobol
from infimum.points.random_numbers import uniform
from infimum.points.swarm_options import SwarmOptions
from infimum.result import End
from tests.all_threads import all_threads_work  # noqa: F401

BOX = [(-1.0, 2.0)] * 2
ENDLESS = {"enough": None, "restarts": 10**6}


def sphere(x):
    return np.sum(x * x)


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def swarm(fun, bounds=BOX, **settings) -> Result:
    return infimum.minimize(fun, bounds, engine="swarm", **settings)


def everything(r: Result) -> tuple:
    """All that a seed decides; the time is not among it."""
    minima = [(m.value, m.x.tolist(), m.descents, m.share, m.status) for m in r.minima]
    return (r.x.tolist(), r.upper, r.fun, minima, r.nfev, r.nit, r.message, r.confidence, r.success, r.verdict,
            [(p.nfev, p.fun) for p in r.history])


# ---- what it finds
GALLERY = [("rosenbrock", 2), ("rosenbrock", 6), ("rastrigin", 5), ("ackley", 4), ("goldstein_price", None), ("griewank", 3),
           ("levy", 4), ("styblinski_tang", 4), ("schwefel_2_26", 3), ("hartmann_3", None), ("hartmann_6", None),
           ("shekel_5", None), ("michalewicz", 5), ("branin", None), ("camel_six_hump", None), ("easom", None), ("zakharov", 4),
           ("forrester", None)]
MANY_BASINS = ("rastrigin", "ackley", "griewank", "levy", "schwefel_2_26", "michalewicz", "easom")  # no descent meets another


@pytest.mark.parametrize("name, n", GALLERY)
def test_gallery(name, n):
    p = problems.get(name, n)
    r = swarm(p.fun, p.bounds)
    assert p.minimum.lo <= r.upper <= p.minimum.hi + 1e-6
    assert r.verdict is Verdict.CANDIDATE and r.lower == -np.inf and r.fun == r.upper
    assert r.success == ("CAUTION" not in r.message) == (name not in MANY_BASINS) and r.status == (0 if r.success else 1)
    assert (r.x >= p.lo).all() and (r.x <= p.hi).all()
    assert infimum.compile(p.fun, p.n).value(r.x, r.x).hi == r.upper
    assert r.minima[0].status is (End.KINK if name == "ackley" else End.CONVERGED)
    assert [m.value for m in r.minima] == sorted(m.value for m in r.minima) and abs(r.minima[0].value - r.upper) < 1e-6
    assert abs(sum(m.share for m in r.minima) - 1) < 1e-9 and r.engine == "swarm" and r.boxes is None and r.attained is None


def test_one_variable():
    r = swarm(lambda x: np.sin(3 * x[0]) + 0.1 * x[0] ** 2, [(-10.0, 10.0)])
    grid = np.linspace(-10, 10, 2_000_001)
    best = grid[np.argmin(np.sin(3 * grid) + 0.1 * grid**2)]
    assert r.x.shape == (1,) and abs(r.x[0] - best) < 1e-4 and r.success and len(r.minima) > 5


@pytest.mark.parametrize("name", ["rastrigin", "rosenbrock"])
def test_thousands_of_variables(name):
    p = problems.get(name, 2000)
    r = swarm(p.fun, p.bounds, callback=lambda s: s.nfev >= 150_000, options={"enough": None})
    assert r.nfev < 1_000_000
    middle = infimum.compile(p.fun, p.n).estimate((p.lo + p.hi) / 2)
    assert r.verdict is Verdict.CANDIDATE and r.x.shape == (2000,) and r.upper <= middle and r.upper < 3000


def test_undefined_half_is_no_obstacle():
    r = swarm(lambda x: np.sum(x * np.log(x)) + np.sqrt(x[1] - 0.125), [(-1.0, 1.0)] * 2)
    assert r.verdict is Verdict.CANDIDATE
    assert np.abs(r.x - [np.exp(-1.0), 0.125]).max() < 1e-6
    assert abs(r.upper - (-np.exp(-1.0) + 0.125 * np.log(0.125))) < 1e-6


def test_value_only_in_a_small_part_of_the_box():
    """The middle and all of the first starts are undefined; what a callback sees is a point where there is a value."""
    e = infimum.compile(lambda x: np.sum(x) - 9 + 0 * np.sqrt(0.01 - (x[0] - 0.7) ** 2 - (x[1] + 0.6) ** 2), 2)
    seen = []
    r = swarm(e, [(-1.0, 1.0)] * 2, callback=lambda s: seen.append((s.x.copy(), s.fun)))
    assert r.verdict is Verdict.CANDIDATE and abs(r.upper - (0.1 - 0.1 * 2**0.5 - 9)) < 1e-3
    assert not np.isfinite(e.estimate(2 * uniform(0, 0, 0, range(32), 2) - 1)).any()
    assert all(e.estimate(x) == value for x, value in seen if np.isfinite(value)) and np.isfinite(seen[-1][1])


def test_infinite_values_are_never_the_best():
    """-1/x is -inf at 0, a bound on which particles land."""
    r = swarm(lambda x: -1 / x[0] + x[1] ** 2, [(0.0, 1.0), (-1.0, 1.0)], options={"restarts": 0})
    assert r.x[0] > 0 and np.isfinite(r.upper) and all(np.isfinite(p.fun) for p in r.history)


def test_undefined_everywhere():
    lo, width = np.array([1.0, -2.0]), np.array([1.0, 4.0])
    for seed in (0, 5):
        first = lo + width * uniform(seed, 0, 0, range(1), 2)[:, 0]
        with pytest.raises(UndefinedError) as error:
            swarm(lambda x: np.log(-1 - x[0] ** 2) + x[1], [(1.0, 2.0), (-2.0, 2.0)], seed=seed)
        assert f"x = ({first[0]:.6g}, {first[1]:.6g}). Correct the function or the bounds" in str(error.value)


def test_undefined_everywhere_in_many_variables():
    with pytest.raises(UndefinedError, match=r"x = \((0\.\d+, ){6}…\)"):
        swarm(lambda x: np.sqrt(-1 - np.sum(x)), [(0.0, 1.0)] * 8)


def test_infinite_everywhere():
    with pytest.raises(UndefinedError, match="no finite value"):
        swarm(lambda x: np.exp(1e5 + x[0]), BOX)


def test_certainly_defined_nowhere():
    """The estimates have values, the enclosures cannot exclude that the root's argument is negative."""
    r = swarm(lambda x: np.sqrt(np.sin(x[0]) ** 2 + np.cos(x[0]) ** 2 - 1) + x[1], BOX, options={"restarts": 0})
    assert r.x is None and r.verdict is Verdict.UNDECIDED and not r.success and r.status == 1 and r.upper == np.inf
    assert r.message.endswith("; no point was found where the function is certainly defined")


def test_fixed_variable():
    r = swarm(lambda x: sphere(x) + x[0] * x[1], [(0.5, 0.5), (-1.0, 2.0), (-1.0, 2.0)])
    assert r.x[0] == 0.5 and np.abs(r.x[1:] - [-0.25, 0.0]).max() < 1e-6 and r.success
    assert all(m.x[0] == 0.5 for m in r.minima)


def test_minimum_in_a_corner():
    r = swarm(lambda x: x[0] - x[1], BOX)
    assert r.x.tolist() == [-1.0, 2.0] and r.upper == -3.0 and r.success and len(r.minima) == 1


def test_kink():
    r = swarm(lambda x: np.sum(np.abs(x - 0.3)), BOX)
    assert r.upper < 1e-12 and r.minima[0].status is End.KINK


def test_args():
    r = swarm(lambda x, a, b: sphere(x - a) + b, BOX, args=(np.array([0.5, 0.25]), 7.0))
    assert np.abs(r.x - [0.5, 0.25]).max() < 1e-6 and abs(r.upper - 7.0) < 1e-9


def test_bounds_for_all_variables():
    assert (swarm(sphere, (-1, 2), n=3).x.shape) == (3,)


# ---- the same bits
@pytest.mark.parametrize("f, n", [(problems.get("griewank", 3).fun, 3), (problems.get("ackley", 4).fun, 4),
                                  (lambda x: sphere(x) - np.sum(np.log(x)), 2), (rosenbrock, 40)])
def test_same_seed_same_bits_for_any_number_of_threads(f, n, all_threads_work):  # noqa: F811
    options = {"restarts": 1 if n < 40 else 0, "enough": None, "descent_steps": 40}
    found = []
    for threads in (1, 2, 3):
        e = infimum.compile(f, n, backend=CpuBackend(threads=threads))
        found.append(everything(swarm(e, (-9.0, 10.0), n=n, seed=3, options=options)))
    assert found[0] == found[1] == found[2] == everything(swarm(f, (-9.0, 10.0), n=n, seed=3, options=options))


def test_another_seed_differs():
    p = problems.get("rastrigin", 3)
    runs = [swarm(p.fun, p.bounds, seed=seed, options={"restarts": 0}) for seed in (0, 1, 2**64 - 1)]
    values = [[m.value for m in r.minima] for r in runs]
    assert values[0] != values[1] != values[2] != values[0] and [r.seed for r in runs] == [0, 1, 2**64 - 1]


def test_integers_of_numpy_are_seeds():
    assert everything(swarm(rosenbrock, seed=np.int64(4))) == everything(swarm(rosenbrock, seed=4))


# ---- options
def test_more_waves_until_enough_lanes_agree():
    p = problems.get("rastrigin", 4)
    few, many = (swarm(p.fun, p.bounds, options={"enough": enough}) for enough in (1, 40))
    assert few.nfev < many.nfev and few.minima[0].descents < 40 <= many.minima[0].descents
    assert "descents agree on the lowest minimum" in few.message and f"{many.minima[0].descents} descents agree" in many.message


@pytest.mark.parametrize("restarts, waves", [(0, 1), (2, 3)])
def test_restarts(restarts, waves):
    r = swarm(sphere, options={"enough": None, "restarts": restarts})
    assert r.message.startswith(f"{waves} wave")
    lanes = sum(min(512, 32 * 4**k) + min(512, 128 * 4**k) for k in range(waves))  # independent ones and particles
    assert lanes < sum(m.descents for m in r.minima) <= lanes + 2 * 4 * waves


def test_confidence_is_reached():
    r = swarm(sphere, options={"confidence": 0.99})
    assert 0.99 <= r.confidence < 1.0
    assert r.confidence > swarm(sphere).confidence == 0.9375  # (32-2)/32


def test_confidence_asks_for_no_number_of_lanes():
    """Unless that is given too."""
    wanted = SwarmOptions.read({"confidence": 0.9})
    assert wanted.enough is None and SwarmOptions.read({"confidence": 0.9, "enough": 5}).enough == 5
    assert SwarmOptions.read({"confidence": None}).enough == SwarmOptions.read(None).enough == 8
    both = swarm(sphere, options={"confidence": 0.999999, "enough": 8})
    assert both.confidence == 0.9375 and "descents agree" in both.message


def test_confidence_is_low_where_minima_are_many():
    r = swarm(problems.get("rastrigin", 3).fun, [(-5.12, 5.12)] * 3)
    assert r.confidence < 0.01 and "CAUTION" in r.message and "only once" in r.message


def test_particles():
    """A wave has no more lanes than that, of either kind."""
    r = swarm(sphere, options={"particles": 5, "enough": None, "restarts": 1})
    assert 20 < sum(m.descents for m in r.minima) <= 20 + 2 * 5


@pytest.mark.parametrize("option", [{"swarm_steps": 0}, {"swarm_steps": 20}, {"halvings": 1}, {"samples": 3}, {"inertia": 0},
                                    {"cognitive": 0.0}, {"social": np.float64(0.5)}, {"armijo": 0.5}, {"particles": np.int64(1)},
                                    {"start": "sobol"}])
def test_unusual_options_find_the_minimum_too(option):
    r = swarm(lambda x: rosenbrock(x) + 1, options=option)
    assert abs(r.upper - 1.0) < 1e-6 and np.abs(r.x - 1).max() < 1e-3
    assert everything(r) != everything(swarm(lambda x: rosenbrock(x) + 1))


def test_descents_that_are_too_short_are_told():
    r = swarm(lambda x: rosenbrock(x) + 1, options={"descent_steps": 1, "restarts": 0})
    assert r.minima[0].status is End.UNFINISHED and not r.success and r.status == 1
    assert "no descent has converged yet" in r.message
    assert r.verdict is Verdict.CANDIDATE and 1.0 <= r.upper < 2.0


def test_sobol_start_up_to_its_number_of_variables(monkeypatch):
    usual, even = swarm(rosenbrock), swarm(rosenbrock, options={"start": "sobol"})
    assert everything(usual) != everything(even)
    monkeypatch.setattr(sobol, "LIMIT", 1)
    assert everything(swarm(rosenbrock, options={"start": "sobol"})) == everything(usual)


WHOLE = ["particles", "swarm_steps", "descent_steps", "enough", "restarts", "halvings", "samples"]
REAL = ["confidence", "inertia", "cognitive", "social", "armijo"]


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("value", [-1, -(2**70), True, False, "5", 5.0, np.nan, [5], 1j, np.bool_(True)])
def test_whole_options(name, value):
    with pytest.raises(OptionError, match=rf"option '{name}' must be a whole number from \d+ on, not "):
        swarm(sphere, options={name: value})


@pytest.mark.parametrize("name, least", [("particles", 1), ("descent_steps", 1), ("enough", 1), ("halvings", 1), ("samples", 3)])
def test_least_values(name, least):
    with pytest.raises(OptionError, match=f"option '{name}' must be a whole number from {least} on, not {least - 1}"):
        swarm(sphere, options={name: least - 1})


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("value", [-0.1, 9, True, "0.4", np.nan, np.inf, 0.5j])
def test_real_options(name, value):
    with pytest.raises(OptionError, match=rf"option '{name}' must be a number from .* to .*, not "):
        swarm(sphere, options={name: value})


@pytest.mark.parametrize("value", ["x", "Sobol", "", None, 0, True, ["sobol"]])
def test_bad_start(value):
    with pytest.raises(OptionError, match="option 'start' must be 'uniform' or 'sobol', not "):
        swarm(sphere, options={"start": value})


@pytest.mark.parametrize("name", ["particels", "Particles", "", 5, None])
def test_unknown_option(name):
    with pytest.raises(OptionError) as error:
        swarm(sphere, options={"particles": 10, name: 1})
    assert f"no option {name!r}" in str(error.value)
    assert all(known in str(error.value) for known in [*WHOLE, *REAL, "start"])


def test_options_are_not_changed():
    given = {"confidence": 0.5}
    swarm(sphere, options=given)
    assert given == {"confidence": 0.5}


# ---- arguments
@pytest.mark.parametrize("bounds, variable", [([(0, 1), (-np.inf, 1)], 1), ([(0, np.inf), (0, 1)], 0), ([(None, 1), (0, 1)], 0),
                                              ([(0, 1), (None, None)], 1)])
def test_infinite_bounds(bounds, variable):
    with pytest.raises(BoundsError, match=f"the swarm needs finite bounds, and those of variable {variable} are .*inf"):
        swarm(sphere, bounds)


def test_reversed_bounds():
    with pytest.raises(BoundsError, match="reversed"):
        swarm(sphere, [(1, 0)])


def needle(x):
    return sphere(x - 1.5) - 5 * np.exp(-1e8 * sphere(x - 0.123456789))


@pytest.mark.parametrize("x0", [[0.1235, 0.1234], np.array([0.12341, 0.12341]), [[1.0, 1.0], [0.1235, 0.1235]],
                                ((0.1234, 0.1235),)])
def test_a_point_offered_is_descended_from(x0):
    assert swarm(needle).upper > -0.1
    r = swarm(needle, x0=x0)
    assert np.abs(r.x - 0.123456789).max() < 1e-6 and r.upper < -1.2


def test_a_point_offered_may_be_undefined():
    r = swarm(lambda x: np.sqrt(x[0]) + x[1], [(-1.0, 1.0)] * 2, x0=[[-0.5, 0.5], [0.5, 0.5]])
    assert r.upper < -0.999


def test_a_point_offered_may_be_the_only_one_that_is_certainly_defined():
    def f(x):
        return x[1] + np.sqrt(np.sin(x[0]) ** 2 + np.cos(x[0]) ** 2 - 1 + np.maximum(x[1] - 1.5, 0))
    assert swarm(f, options={"restarts": 0}).x is None
    r = swarm(f, x0=[[0.5, -1.0], [0.0, 1.75]], options={"restarts": 0})
    assert r.x.tolist() == [0.0, 1.75] and abs(r.upper - 2.25) < 1e-12 and r.verdict is Verdict.CANDIDATE


def test_points_on_the_bounds_are_inside():
    assert swarm(sphere, x0=[-1.0, 2.0]).success


@pytest.mark.parametrize("x0", [[0.5], [0.5] * 3, 0.5, [], [[]], [[0.5] * 3], [[[0.5, 0.5]]], np.zeros((2, 3))])
def test_points_of_the_wrong_shape(x0):
    with pytest.raises(OptionError, match=r"x0 must be a point of 2 numbers or a sequence of such points; its shape is \("):
        swarm(sphere, x0=x0)


@pytest.mark.parametrize("x0", ["ab", [1j, 0.0], [[0.5, 0.5], [0.5]], {"a": 1}, object()])
def test_points_that_are_none(x0):
    with pytest.raises(OptionError, match="x0 must be a point of 2 numbers or a sequence of such points, not "):
        swarm(sphere, x0=x0)


@pytest.mark.parametrize("x0, point, variable", [([0.0, 2.5], 0, 1), ([-1.0000000000000002, 0.0], 0, 0), ([0.0, np.nan], 0, 1),
                                                 ([[0.0, 0.0], [np.inf, 0.0]], 1, 0)])
def test_points_outside_the_bounds(x0, point, variable):
    why = "(inf, which is no number|.*its bounds are .-1.0, 2.0)"
    with pytest.raises(OptionError, match=rf"point {point} of x0 lies outside the bounds: variable {variable} is {why}"):
        swarm(sphere, x0=x0)


def test_evaluator_as_function():
    e = infimum.compile(lambda x, a: sphere(x - a), 2, (0.25,))
    assert everything(swarm(e)) == everything(swarm(lambda x, a: sphere(x - a), args=(0.25,)))


def test_evaluator_of_another_number_of_variables():
    with pytest.raises(OptionError, match="the Evaluator has 3 variables, the bounds have 2"):
        swarm(infimum.compile(sphere, 3))


def test_evaluator_with_args():
    with pytest.raises(OptionError, match="args belong to a function"):
        swarm(infimum.compile(sphere, 2), args=(1.0,))


@pytest.mark.parametrize("fun", [None, 5, "sphere", np.zeros(2)])
def test_no_function(fun):
    with pytest.raises(OptionError, match="fun must be a function"):
        swarm(fun)


def test_errors_of_the_function_are_told():
    with pytest.raises(infimum.UserFunctionError, match="IndexError"):
        swarm(lambda x: x[7])


@pytest.mark.parametrize("name", ["", "Swarm", "pso", None, 5])
def test_unknown_engine(name):
    with pytest.raises(OptionError, match="there is no engine .*'swarm'"):
        infimum.minimize(sphere, BOX, engine=name)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, "1", True, [1]])
def test_bad_seed(seed):
    with pytest.raises(OptionError, match=r"the seed must be an integer from 0 to 2\*\*64 - 1, not"):
        swarm(sphere, seed=seed)


@pytest.mark.parametrize("limit", [0, -1, 0.0, np.nan, True, "1", [1], 1j])
def test_bad_time_limit(limit):
    with pytest.raises(OptionError, match="time_limit must be a positive number.*, not "):
        swarm(sphere, time_limit=limit)


@pytest.mark.parametrize("callback", [5, "stop", True])
def test_bad_callback(callback):
    with pytest.raises(OptionError, match=r"callback must be a function, callback\(snapshot\), .*; not "):
        swarm(sphere, callback=callback)
