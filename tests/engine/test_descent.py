"""Descents: their kernels are the definition's bit for bit, no value rises, no lane leaves the bounds or hears of another."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infimum
from infimum.backend.cpu import CpuBackend
from infimum.backend.processor import host
from infimum.backend.python import PythonBackend
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import DESCENT_DENSE, DESCENT_LIMITED, PROBE, PROGRAMS, Program
from infimum.expr.node import var
from infimum.points.descent_kernel import PARAMETERS, SCALARS, LaneState
from infimum.points.descents import DescentEnds, DescentRules, Descents
from infimum.search.policy.points import DESCENTS
from tests.all_threads import all_threads_work  # noqa: F401
from tests.random_kernels import ADVERSARIAL, same_bits

KINDS = DESCENT_DENSE, DESCENT_LIMITED
ENDED = LaneState.CONVERGED, LaneState.KINK, LaneState.DEAD
LAST = 0.3, 20.0, 1e-24, 1e-4  # the parameters after the bounds, in the order of PARAMETERS
VALUE, STATE = SCALARS.index("value"), SCALARS.index("state")


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def wavy(x):
    return np.sum(np.sin(5 * x) + x * x) + x[0] * x[-1] + np.sum(np.abs(x - 0.3))


def partial(x):
    """Undefined for negative x[0], a pole at x[-1] = 0."""
    return np.log(x[0]) ** 2 + 1 / x[-1] ** 2 + np.sum(np.sqrt(x[0]) * x)


def random_starts(lo: np.ndarray, hi: np.ndarray, count: int, seed: int = 0) -> np.ndarray:
    return lo[:, None] + (hi - lo)[:, None] * np.random.default_rng(seed).random((len(lo), count))


def descend(f: "Callable | Evaluator", lo, hi, starts, threads: int | None = None, **rules) -> DescentEnds:
    lo, hi = np.array(lo, float), np.array(hi, float)
    e = f if isinstance(f, Evaluator) else infimum.compile(f, len(lo), backend=CpuBackend(threads=threads))
    return Descents(e, lo, hi, np.array(starts, float), DescentRules(**rules)).run()


def in_every_bit(a: DescentEnds, b: DescentEnds) -> bool:
    return all(same_bits(np.ascontiguousarray(getattr(a, name), float), np.ascontiguousarray(getattr(b, name), float)).all()
               for name in ("x", "value", "state"))


# ---- the kernels
def program_of(kind: str, f: Callable, n: int) -> Program:
    return PROGRAMS[kind](infimum.compile(f, n).f, var("x", (n,)))


def doubles_of(program: Program, parameters: np.ndarray) -> np.ndarray:
    doubles = program.data.doubles()
    doubles[program.at:program.at + len(parameters)] = parameters
    return doubles


def outcome(compiled, program: Program, inputs: list[np.ndarray], doubles: np.ndarray, before: float) -> list[np.ndarray]:
    """One run; what the kernel does not write remains `before`."""
    found = [np.full((rows, inputs[0].shape[1]), before) for rows in program.rows]
    compiled.run(inputs, found, doubles, program.data.positions())
    return found


def differing(program: Program, inputs: list[np.ndarray], doubles: np.ndarray) -> tuple[list[np.ndarray], list[str]]:
    """(the results by the definition, where the CPU has others)."""
    expected = outcome(PythonBackend().compile(program.kernel), program, inputs, doubles, 12345.0)
    wrong = []
    for lanes in host().widths():
        found = outcome(CpuBackend(lanes).compile(program.kernel), program, inputs, doubles, np.nan)
        wrong += [f"array {slot}, {lanes} SIMD lanes" for slot, (a, b) in enumerate(zip(found, expected, strict=True))
                  if not same_bits(a, b).all()]
    return expected, wrong


def bounds_with_a_fixed_variable(n: int) -> tuple[np.ndarray, np.ndarray]:
    lo, hi = np.linspace(-2.0, -1.0, n), np.linspace(1.0, 2.5, n)
    if n > 2:
        lo[1] = hi[1] = 0.625
    return lo, hi


def lanes_to_begin_with(program: Program, lo: np.ndarray, hi: np.ndarray) -> list[np.ndarray]:
    """Fresh lanes: in both corners, on the pole, outside the bounds, inside."""
    starts = random_starts(lo, hi, 11, seed=len(lo))
    starts[:, 0], starts[:, 1], starts[-1, 2], starts[0, 3] = lo, hi, 0.0, 9.0
    lanes = [np.zeros((rows, 11)) for rows in program.rows]
    lanes[0][...] = starts
    return lanes


@pytest.mark.parametrize("f, n", [(rosenbrock, 2), (rosenbrock, 3), (wavy, 3), (partial, 3), (wavy, 1), (partial, 4)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_trial_is_the_definition(kind, f, n):
    """Trial by trial, from the start on: the states that lanes really come to."""
    program, (lo, hi) = program_of(kind, f, n), bounds_with_a_fixed_variable(n)
    doubles = doubles_of(program, np.concatenate([lo, hi, hi - lo, LAST]))
    lanes, seen = lanes_to_begin_with(program, lo, hi), set()
    for trial in range(10):
        lanes, wrong = differing(program, lanes, doubles)
        assert not wrong, f"trial {trial}: {wrong}"
        seen |= set(lanes[-1][STATE])
    assert {LaneState.PLAIN, LaneState.LEARNED} <= seen and (LaneState.DEAD in seen) == (f is partial)
    assert all((lanes[0][i] == lo[i]).all() for i in np.flatnonzero(lo == hi))


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_a_trial_is_the_definition_for_any_numbers(kind, n):
    """Every state, any step, NaN and infinities anywhere, short limits: every branch of the kernel."""
    program, (lo, hi) = program_of(kind, wavy, n), bounds_with_a_fixed_variable(n)
    doubles = doubles_of(program, np.concatenate([lo, hi, hi - lo, (0.3, 2.0, 1e-24, 1e-4)]))
    rng = np.random.default_rng(n)
    lanes = [rng.normal(size=(rows, 60)) for rows in program.rows]
    for array in lanes:
        array[rng.random(array.shape) < 0.02] = rng.choice(ADVERSARIAL)
    scalars = lanes[-1]
    for name, choice in {"state": range(6), "tries": range(4), "step": (0.0, 2.0**-20, 1.0), "value": (-5.0, 50.0, 1e9)}.items():
        scalars[SCALARS.index(name)] = rng.choice(choice, 60)
    expected, wrong = differing(program, lanes, doubles)
    assert not wrong
    changes = set(zip(scalars[STATE], expected[-1][STATE], strict=True))
    assert {(s, s) for s in ENDED} <= changes and len(changes) >= 9


@pytest.mark.parametrize("n", [1, 4])
def test_a_probe_is_the_definition(n):
    program, (lo, hi) = program_of(PROBE, partial, n), bounds_with_a_fixed_variable(n)
    rng = np.random.default_rng(n)
    doubles = doubles_of(program, np.concatenate([rng.normal(size=2 * n), lo, hi, np.arange(float(n))]))
    lanes = rng.normal(size=(5, 45))
    lanes[0], lanes[2] = rng.integers(-1, n + 1, 45), rng.integers(-1, n + 1, 45)
    lanes[1, :6] = np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324
    expected, wrong = differing(program, [lanes], doubles)
    assert not wrong and np.isnan(expected[0]).any() and np.isfinite(expected[0]).any()


def test_the_parameters_are_in_this_order():
    assert PARAMETERS == ("armijo", "limit", "floor", "small") and SCALARS[VALUE] == "value"


# ---- the metric
def trials_of(kind: str, f: Callable, lo: np.ndarray, hi: np.ndarray, starts: np.ndarray, count: int) -> list[list[np.ndarray]]:
    """The arrays of the lanes before the first trial and after each."""
    e = infimum.compile(f, len(lo))
    lanes = [np.zeros((rows, starts.shape[1])) for rows in e.prepare(kind)[3]]
    lanes[0][...] = starts
    seen = [lanes]
    for _ in range(count):
        seen.append(e.run(kind, seen[-1], parameters=np.concatenate([lo, hi, hi - lo, LAST])))
    return seen


def coupled(x):
    return np.sum((x - 0.2) ** 4) + 3 * (x[0] - x[1]) ** 2 + np.sum(np.exp(x))


def test_the_dense_metric_maps_the_last_change_of_the_gradient_to_the_step():
    """The secant equation of BFGS; the metric is symmetric and positive, the direction is its product with -gradient."""
    n = 4
    lo, hi, checked = np.full(n, -3.0), np.full(n, 3.0), 0
    seen = trials_of(DESCENT_DENSE, coupled, lo, hi, random_starts(0.5 * lo, 0.5 * hi, 12), 14)
    for before, after in zip(seen, seen[1:], strict=False):
        x, g, direction, metric = after[:4]
        for k in np.flatnonzero((after[-1][STATE] == LaneState.LEARNED) & (x != before[0]).any(axis=0)):
            h, s, y = metric[:, k].reshape(n, n), x[:, k] - before[0][:, k], g[:, k] - before[1][:, k]
            assert np.abs(h @ y - s).max() < 1e-6 * np.abs(s).max()
            assert np.abs(h - h.T).max() < 1e-9 * np.abs(h).max() and np.linalg.eigvalsh((h + h.T) / 2).min() > 0
            assert np.abs(direction[:, k] + h @ g[:, k]).max() < 1e-9 * np.abs(h).max() * np.abs(g[:, k]).max()
            checked += 1
    assert checked > 50


def test_the_limited_metric_is_the_two_loop_recursion():
    """On the pairs kept: the last steps and changes of the gradient, the newest last."""
    n = 4
    lo, hi, kept, checked = np.full(n, -3.0), np.full(n, 3.0), [], 0
    seen = trials_of(DESCENT_LIMITED, coupled, lo, hi, random_starts(0.5 * lo, 0.5 * hi, 1, seed=3), 24)
    for before, after in zip(seen[1:], seen[2:], strict=False):
        x, g, direction, steps, changes, weights, scalars = (a[..., 0] for a in after)
        if scalars[STATE] != LaneState.LEARNED or (x == before[0][:, 0]).all():
            continue
        kept = [*kept, (x - before[0][:, 0], g - before[1][:, 0])][-DESCENTS.remembered_steps:]
        count = len(kept)
        assert (weights[:DESCENTS.remembered_steps - count] == 0).all()
        for (s, y), row, other, weight in zip(kept, steps.reshape(DESCENTS.remembered_steps, n)[-count:],
                                              changes.reshape(DESCENTS.remembered_steps, n)[-count:],
                                              weights[-count:], strict=True):
            assert np.abs(row - s).max() <= 1e-15 * np.abs(x).max() and np.abs(other - y).max() <= 1e-12 * np.abs(g).max()
            assert abs(weight * (row @ other) - 1) < 1e-9
        rest, parts = g.copy(), []
        for row, other in zip(steps.reshape(DESCENTS.remembered_steps, n)[::-1][:count],
                              changes.reshape(DESCENTS.remembered_steps, n)[::-1][:count], strict=True):
            parts.append(row @ rest / (row @ other))
            rest -= parts[-1] * other
        row, other = steps.reshape(DESCENTS.remembered_steps, n)[-1], changes.reshape(DESCENTS.remembered_steps, n)[-1]
        rest *= row @ other / (other @ other)  # all widths are equal
        for row, other in zip(steps.reshape(DESCENTS.remembered_steps, n)[-count:],
                              changes.reshape(DESCENTS.remembered_steps, n)[-count:], strict=True):
            rest += row * (parts.pop() - other @ rest / (row @ other))
        assert np.abs(direction + rest).max() < 1e-9 * np.abs(rest).max()
        checked += 1
    assert checked > DESCENTS.remembered_steps


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_learnt_where_the_curvature_is_negative(kind):
    lo, hi = np.full(3, -1.0), np.full(3, 2.0)
    seen = trials_of(kind, lambda x: -np.sum((x - 0.4) ** 2), lo, hi, random_starts(lo, hi, 10), 12)
    moved = 0
    for before, after in zip(seen[1:], seen[2:], strict=False):
        assert not (after[-1][STATE] == LaneState.LEARNED).any()
        moved += int((after[0] != before[0]).any(axis=0).sum())
        if kind == DESCENT_LIMITED:
            assert all((array == 0).all() for array in after[3:6])
        else:
            assert (after[3].reshape(3, 3, -1)[~np.eye(3, dtype=bool)] == 0).all()
    assert moved > 10 and (seen[-1][-1][STATE] == LaneState.CONVERGED).all()


# ---- what holds at every trial
def _quadratic(x, a, c, b):
    return np.sum((a @ (x - c)) ** 2) + b @ x


def _quartic(x, a, c, b):
    return np.sum((a @ x - b) ** 4) + np.sum((x - c) ** 2)


def _soft(x, a, c, b):
    return np.log(np.sum(np.exp(a @ x - b))) + 0.1 * np.sum((x - c) ** 2)


def _waves(x, a, c, b):
    return np.sum(np.sin(3 * (a @ x) + b)) + 0.2 * np.sum((x - c) ** 2)


def _kinks(x, a, c, b):
    return np.max(np.abs(a @ (x - c))) + np.sum(np.abs(x - b)) - 0.5 * np.sum(x * x)


def _products(x, a, c, b):
    return np.prod(np.cos(a @ x + b)) + np.sum(1 / (1 + (x - c) ** 2))


@st.composite
def boxes_with_functions(draw):
    """(function, lo, hi, starts): coefficients and boxes of several sizes, fixed variables, starts on the bounds."""
    n, seed = draw(st.integers(1, 5)), draw(st.integers(0, 2**32))
    family = draw(st.sampled_from([_quadratic, _quartic, _soft, _waves, _kinks, _products]))
    rng = np.random.default_rng(seed)
    a, c, b = rng.normal(size=(n, n)), rng.normal(size=n), rng.normal(size=n)
    lo = rng.normal(size=n) * draw(st.sampled_from([0.01, 1.0, 3.0])) - 0.5
    hi = lo + rng.uniform(0.0, 4.0, n) * draw(st.sampled_from([1e-6, 1.0, 2.0]))
    hi = np.where(rng.random(n) < draw(st.sampled_from([0.0, 0.3])), lo, hi)
    starts = random_starts(lo, hi, 8, seed)
    at_bound = rng.random(starts.shape)
    starts = np.where(at_bound < 0.15, lo[:, None], np.where(at_bound > 0.85, hi[:, None], starts))
    return (lambda x: family(x, a, c, b)), lo, hi, np.clip(starts, lo[:, None], hi[:, None])


@settings(max_examples=40)
@given(boxes_with_functions(), st.sampled_from(KINDS))
def test_no_value_rises_and_no_point_leaves_the_bounds(problem, kind):
    f, lo, hi, starts = problem
    e = infimum.compile(f, len(lo), backend=CpuBackend(threads=1))
    lanes = [np.zeros((rows, starts.shape[1])) for rows in e.prepare(kind)[3]]
    lanes[0][...] = starts
    parameters = np.concatenate([lo, hi, hi - lo, LAST])
    for trial in range(120):
        before, lanes = lanes, e.run(kind, lanes, parameters=parameters)
        x, value, state = lanes[0], lanes[-1][VALUE], lanes[-1][STATE]
        assert ((x >= lo[:, None]) & (x <= hi[:, None])).all()
        assert (same_bits(value, e.estimate(x))).all()  # the value belongs to the point
        if trial:
            assert (value <= before[-1][VALUE]).all()
            ended = before[-1][STATE] >= LaneState.CONVERGED
            assert (state[ended] == before[-1][STATE][ended]).all() and (x == before[0])[:, ended].all()
        else:
            assert (x == starts).all()


# ---- lanes are alone
@pytest.mark.parametrize("f, n", [(wavy, 2), (partial, 3), (rosenbrock, DESCENTS.most_dense_variables + 1)])
def test_an_end_does_not_depend_on_the_other_lanes(f, n):
    lo, hi = np.full(n, -0.75), np.full(n, 2.0)
    starts = random_starts(lo, hi, 300)
    together = descend(f, lo, hi, starts, trials=200)
    backward = descend(f, lo, hi, starts[:, ::-1], trials=200)
    turned = replace(backward, x=backward.x[:, ::-1], value=backward.value[::-1], state=backward.state[::-1])
    assert in_every_bit(together, turned)
    for part in (slice(0, 1), slice(7, 8), slice(3, 10), slice(299, 300), slice(255, 275)):
        alone = descend(f, lo, hi, starts[:, part], trials=200)
        theirs = replace(together, x=together.x[:, part], value=together.value[part], state=together.state[part])
        assert in_every_bit(alone, theirs)
    assert len(set(together.state)) > 1 or n > DESCENTS.most_dense_variables


@pytest.mark.parametrize("f, n", [(wavy, 3), (partial, 2), (rosenbrock, DESCENTS.most_dense_variables + 1)])
def test_an_end_does_not_depend_on_the_threads(f, n, all_threads_work):  # noqa: F811
    lo, hi = np.full(n, -0.75), np.full(n, 2.0)
    starts = random_starts(lo, hi, 90)
    one = descend(f, lo, hi, starts, threads=1, trials=100)
    for threads in (2, 3, 7):
        assert in_every_bit(one, descend(f, lo, hi, starts, threads=threads, trials=100))


@pytest.mark.parametrize("f, n", [(wavy, 3), (rosenbrock, DESCENTS.most_dense_variables + 1)])
def test_an_end_does_not_depend_on_the_looks(f, n):
    """Ended lanes stay as they are until somebody looks."""
    lo, hi = np.full(n, -0.75), np.full(n, 2.0)
    starts = random_starts(lo, hi, 40)
    often, once = (Descents(infimum.compile(f, n), lo, hi, starts, DescentRules(trials=96)) for _ in range(2))
    while not often.done:
        often.advance(1)
    once.advance(96)
    a, b = often.ends(), once.ends()
    assert once.done and in_every_bit(a, b) and (a.evaluations, a.longest) == (b.evaluations, b.longest)


# ---- known minima
@pytest.mark.parametrize("n", [2, 10])
def test_rosenbrock(n):
    lo, hi = np.full(n, -5.0), np.full(n, 10.0)
    ends = descend(rosenbrock, lo, hi, random_starts(lo, hi, 50))
    assert (ends.state == LaneState.CONVERGED).all()
    at_one = np.abs(ends.x - 1).max(axis=0) < 1e-6
    assert at_one.sum() >= (50 if n == 2 else 40) and (ends.value[at_one] < 1e-15).all()
    assert (np.abs(ends.value[~at_one] - 3.9866) < 1e-3).all()  # the only other minimum


def test_minimum_in_a_corner():
    lo, hi = np.array([0.5, -1.0, 2.0]), np.array([2.0, 3.0, 5.0])
    ends = descend(lambda x: (x[0] + 1) ** 2 + np.exp(-x[1]) + x[2] ** 3, lo, hi, random_starts(lo, hi, 30))
    assert (ends.state == LaneState.CONVERGED).all() and (ends.x == np.array([[0.5], [3.0], [2.0]])).all()


@pytest.mark.parametrize("n", [3, DESCENTS.most_dense_variables + 1])
def test_minimum_on_some_of_the_bounds(n):
    """sum((x - c)**2) with every other c outside."""
    c = np.where(np.arange(n) % 2, 0.25, 7.0)
    ends = descend(lambda x: np.sum((x - c) ** 2), -np.ones(n), np.ones(n), random_starts(-np.ones(n), np.ones(n), 12))
    assert (ends.state == LaneState.CONVERGED).all()
    assert (ends.x[::2] == 1.0).all() and np.abs(ends.x[1::2] - 0.25).max() < 1e-9


@pytest.mark.parametrize("n", [1, 4, DESCENTS.most_dense_variables + 1])
def test_linear_function(n):
    slope = np.where(np.arange(n) % 3, 2.0, -0.01)
    ends = descend(lambda x: slope @ x, -np.ones(n), 2 * np.ones(n), random_starts(-np.ones(n), 2 * np.ones(n), 9))
    assert (ends.state == LaneState.CONVERGED).all() and (ends.x == np.where(slope > 0, -1.0, 2.0)[:, None]).all()


@pytest.mark.parametrize("n", [3, DESCENTS.most_dense_variables + 2])
def test_fixed_variable(n):
    lo, hi = -np.ones(n), np.ones(n)
    lo[1] = hi[1] = 0.7
    ends = descend(lambda x: np.sum(x * x) + x[0] * x[1], lo, hi, random_starts(lo, hi, 12))
    assert (ends.state == LaneState.CONVERGED).all() and (ends.x[1] == 0.7).all()
    assert np.abs(ends.x[0] + 0.35).max() < 1e-9 and np.abs(ends.x[2:]).max() < 1e-9


@pytest.mark.parametrize("n", [2, DESCENTS.most_dense_variables + 1])
def test_all_variables_fixed(n):
    lo = np.linspace(0.0, 1.0, n)
    ends = descend(rosenbrock, lo, lo, np.repeat(lo[:, None], 3, axis=1))
    assert (ends.state == LaneState.CONVERGED).all() and (ends.x == lo[:, None]).all()


@pytest.mark.parametrize("n", [2, DESCENTS.most_dense_variables + 1])
def test_flat_function_ends_at_once(n):
    starts = random_starts(-np.ones(n), np.ones(n), 20)
    d = Descents(infimum.compile(lambda x: 3.0 + 0 * x[0], n), -np.ones(n), np.ones(n), starts, DescentRules())
    assert d.advance(1) == 20 and d.done
    ends = d.ends()
    assert ends.longest == 1 and ends.evaluations == 20
    assert (ends.state == LaneState.CONVERGED).all() and (ends.value == 3.0).all() and (ends.x == starts).all()


def test_a_start_at_the_minimum_stays_there():
    ends = descend(lambda x: np.sum((x - 0.5) ** 2), [0.0, 0.0], [1.0, 1.0], [[0.5], [0.5]])
    assert ends.state[0] == LaneState.CONVERGED and (ends.x == 0.5).all() and ends.value[0] == 0.0


def test_a_scaled_problem_converges_alike():
    """Lengths are measured in widths: the same function on a box 2**40 times as wide and values 2**30 times as large."""
    starts = random_starts(-np.ones(2), np.ones(2), 20)
    near = descend(lambda x: np.sum(np.cos(4 * x) + x * x), -np.ones(2), np.ones(2), starts)
    far = descend(lambda x: 2.0**30 * np.sum(np.cos(4 * (x * 2.0**-40)) + (x * 2.0**-40) ** 2), -np.ones(2) * 2.0**40,
                  np.ones(2) * 2.0**40, starts * 2.0**40, spread=2.0**30)
    assert (near.state == LaneState.CONVERGED).all() and (far.state == LaneState.CONVERGED).all()
    assert (far.x == near.x * 2.0**40).all() and (far.value == near.value * 2.0**30).all()


# ---- kinks
@pytest.mark.parametrize("f, minimiser, share", [
    (lambda x: np.abs(x[0] ** 2 - 2), (2.0**0.5,), 1.0),
    (lambda x: np.maximum(3 * x[0], 1 - x[0]), (0.25,), 1.0),
    (lambda x: np.maximum(x[0], -2 * x[0]) + np.maximum(x[1], 1 - x[1]), (0.0, 0.5), 0.75),
    (lambda x: np.maximum(x[0], -2 * x[0]) + (x[1] - 0.25) ** 2, (0.0, 0.25), 0.75),
    (lambda x: np.abs(x[0] ** 2 - 2) + np.abs(x[1] ** 2 - 3), (2.0**0.5, 3.0**0.5), 0.75),
])
def test_kinks(f, minimiser, share):
    """Lanes end at the kink, in two variables some of them on the way along it."""
    n = len(minimiser)
    lo, hi = np.full(n, -0.5), np.full(n, 3.0)
    ends = descend(f, lo, hi, random_starts(np.full(n, 0.25), hi, 40))
    away = np.abs(ends.x - np.array(minimiser)[:, None]).max(axis=0)
    assert (away < 1e-3).mean() >= share and np.median(away) < 1e-6 and away.min() < 1e-12
    assert (ends.state[away < 1e-3] == LaneState.KINK).all() and not (ends.state == LaneState.CONVERGED).any()


# ---- starts without a value
DEAD_STARTS = {
    "logarithm of a negative number": (lambda x: np.log(x[0]) ** 2 + np.sum((x - 1) ** 2), (-0.5, 0.5)),
    "pole": (lambda x: (1 / x[0] - 1) ** 2 + np.sum((x - 1) ** 2), (0.0, 0.5)),
    "infinite gradient": (lambda x: np.sqrt(x[0]) + np.sum((x - 1) ** 2), (0.0, 0.5)),
    "overflow": (lambda x: np.exp(250 * x[0] * x[1]) + np.sum((x - 1) ** 2), (1.75, 1.75)),
}


@pytest.mark.parametrize("f, dead", DEAD_STARTS.values(), ids=DEAD_STARTS)
def test_starts_without_a_value_are_dead_and_disturb_nobody(f, dead):
    lo, hi = -np.ones(2), 2 * np.ones(2)
    alive = random_starts(np.full(2, 0.25), np.ones(2), 14)
    alone = descend(f, lo, hi, alive)
    assert not (alone.state == LaneState.DEAD).any()
    mixed = np.repeat(alive, 2, axis=1)
    mixed[:, ::2] = np.array(dead)[:, None]
    ends = descend(f, lo, hi, mixed)
    assert (ends.state[::2] == LaneState.DEAD).all()
    assert same_bits(np.ascontiguousarray(ends.x[:, ::2]), np.ascontiguousarray(mixed[:, ::2])).all()
    assert in_every_bit(alone, replace(ends, x=ends.x[:, 1::2], value=ends.value[1::2], state=ends.state[1::2]))


def test_all_dead():
    ends = descend(lambda x: np.log(x[0]), [-2.0], [-1.0], [[-1.5, -1.25]])
    assert ends.state.tolist() == [LaneState.DEAD] * 2


def test_a_trial_without_a_value_is_no_end():
    """The first steps lead out of the domain: they are halved until they do not."""
    ends = descend(lambda x: x[0] - np.log(x[0] - 1e-3), [-1e3], [1e3], [[500.0, 2.0, 0.01]])
    assert (ends.state == LaneState.CONVERGED).all() and np.abs(ends.x - 1.001).max() < 1e-6
