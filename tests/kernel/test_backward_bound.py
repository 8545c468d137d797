"""Linear bounds: no point with f <= U is cut off, no line and no lower bound is above f, judged by Arb at points of boxes."""

import numpy as np
import pytest

import infimum
from infimum.backend.cpu import CpuBackend
from infimum.backend.processor import host
from infimum.backend.python import PythonBackend
from infimum.evaluation import programs
from infimum.expr.node import var
from infimum.kernel.region_cut import DISCARDED_AXIS, NO_AXIS, rows
from infimum.relax import backward_bound_kernel
from infimum.trace.trace import trace
from tests.backend.test_interpreter import Interpreting
from tests.oracle.generate import Twin
from tests.oracle.linear_claims import LinearClaims, LinearViolation, Lines, one_round
from tests.oracle.linear_functions import Sample, boxes, points
from tests.random_kernels import same_bits

PLACES = (0.0, 1.0, -1.0, 0.25, np.pi / 2, np.pi)


def weights(rows: int, columns: int) -> np.ndarray:
    return np.sin(np.arange(1.0, rows * columns + 1)).reshape(rows, columns) * 2


def layers(x):
    first = np.tanh(weights(5, len(x)) @ x + 0.5)
    second = np.maximum(weights(4, 5) @ first, 0.1 * (weights(4, 5) @ first))
    return np.sum(1 / (1 + np.exp(-second))) - np.logaddexp(second[0], 0.0)


FUNCTIONS = {
    "layers of 1": (layers, 1), "layers of 3": (layers, 3), "layers of 20": (layers, 20), "layers of 33": (layers, 33),
    "convolution": (lambda x: np.sum(np.maximum(x[2:] - 2 * x[1:-1] + x[:-2], 0.0) * np.sin(x[1:-1])), 6),
    "products": (lambda x: np.sum(x[1:] * x[:-1]) * x[0] - np.prod(np.cos(x)), 4),
    "quotients": (lambda x: x[0] / (1 + x[1] ** 2) - np.sum(x) / (x[2] - 5), 3),
    "norms and running sums": (lambda x: np.linalg.norm(x - 0.25) - np.sum(np.cumsum(np.tanh(x))[::-1] * x), 4),
    "recurrence": (lambda x: recurrence(x), 3),
    "opaque": (lambda x: np.max(np.sin(x)) * x[0] + np.sum(np.floor(2 * x) * x) - np.sum(np.sign(x) * np.exp(x)), 3),
    "branches": (lambda x: np.sum(np.where(x > 0.25, np.sqrt(np.abs(x)), x**3)) - np.min(x) * x[1], 3),
    "choices": (lambda x: np.sum(np.where(np.sin(x) > x[::-1], np.where(x > 0, np.log(x), x**2), np.exp(-x))) * x[0], 3),
    "choices of what is undefined": (lambda x: np.where(np.log(x[0]) < 0, np.sqrt(x[1]), x[0] * x[1]) - np.where(
        1 / x[0] > x[1], x[1] ** 2, np.arcsin(x[0])), 2),
    "between doubles": (lambda x: infimum.pi * np.tanh(x[0] / infimum.pi) - np.cos(infimum.pi * x[1]) / 3, 2),
    "clipped": (lambda x: np.sum(np.clip(x, -1, 1) * x[::-1]) + np.abs(np.minimum(x[0], x[1]) - 0.5), 3),
    "undefined": (lambda x: np.sum(np.log(x + 1)) - np.sqrt(2 - x[0]) + np.arcsin(x[1] - 0.5), 2),
    "poles": (lambda x: 1 / x[0] + np.exp(-1 / x[1] ** 2) / (x[0] - x[1]), 2),
    "zeroth power": (lambda x: x[0] + np.sqrt(x[0]) ** 0 - np.sin(x[1]), 2),
    "overflow": (lambda x: -np.sqrt(1 + (1 - np.exp(400 * x[0])) ** 8) + np.tanh(1e200 * x[1]), 2),
    "one number twice": (lambda x: np.logaddexp(x[0], x[0]) - np.maximum(x[1], x[1] + 0 * x[0]), 2),
    "small and large": (lambda x: 1e300 * x[0] * x[1] - 1e-300 * np.sin(x[0]) + x[1] * 5e-324, 2),
}


def recurrence(x):
    u = x[1]
    for _ in range(8):
        u = u + 0.25 * x[0] * u * (1 - u) - 0.125 * x[2]
    return (u - 0.5) ** 2


def sample_of(fun, n: int) -> Sample:
    f = trace(fun, n)
    return Sample(Twin(f, f), n, "written", PLACES)


def claims_of(fun, n: int, count: int = 60, seed: int = 0) -> LinearClaims:
    f = sample_of(fun, n)
    return LinearClaims(f, *boxes(np.random.default_rng(seed + n), f, count))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nothing_is_lost(name):
    claims, rng = claims_of(*FUNCTIONS[name]), np.random.default_rng(len(name))
    x = points(rng, claims.lo, claims.hi, 24, PLACES)
    known = np.flatnonzero(claims.by_enclosures(x, 24))
    claims.by_arb(x, 24, rng.choice(known, min(known.size, 150), replace=False).tolist())
    assert claims.tally.lines > 5 and claims.tally.by_arb > 60 and claims.tally.cut


@pytest.mark.parametrize("seed", range(9))
def test_random_functions(seed):
    tally = one_round(seed, count=50, each=24, judged=60)
    assert tally.boxes == 50


# ---- what would be caught
def spoilt(**change) -> None:
    """A function of which the line is changed before it is held against values."""
    claims = claims_of(*FUNCTIONS["layers of 3"])
    rng = np.random.default_rng(5)
    for name, by in change.items():
        setattr(claims, name, by(getattr(claims, name)))
    x = points(rng, claims.lo, claims.hi, 24, PLACES)
    known = np.flatnonzero(claims.by_enclosures(x, 24))
    claims.by_arb(x, 24, known[:400].tolist())


@pytest.mark.parametrize("change", [
    {"nlo": lambda v: v - 1e-2}, {"nlo": lambda v: v - 1e-11 * np.abs(v)}, {"slopes": lambda v: v + 0.5},
    {"slopes": lambda v: -v},
    {"left": lambda left: lambda upper: [*left(upper)[:2], left(upper)[2] + 1e-9, left(upper)[3]]},
    {"left": lambda left: lambda upper: [left(upper)[0] + 1e-9, *left(upper)[1:]]},
    {"left": lambda left: lambda upper: [*left(upper)[:3], left(upper)[2] > -1e300]}])
def test_a_wrong_line_is_caught(change):
    spoilt()
    with pytest.raises(LinearViolation):
        spoilt(**change)


# ---- how good they are
def least(fun, n: int, lo, hi) -> tuple[float, float]:
    """The bound by the line, and that of the enclosures it was made with."""
    lo, hi = np.array(lo, float)[:, None], np.array(hi, float)[:, None]
    slopes, nlo, natural = Lines(trace(fun, n), n)(lo, hi)
    return float(np.minimum(slopes * (hi - lo), 0.0).sum() - nlo[0]), float(natural[0])


def test_what_cancels_cancels():
    """Over arrays, before anything is enclosed."""
    bound, natural = least(lambda x: (np.sum(x[:3] * x[3:]) + x[0]) - np.sum(x[:3] * x[3:]), 6, [-1] * 6, [1] * 6)
    assert natural == -7.0 and bound == pytest.approx(-1.0, abs=1e-12)


def test_a_number_that_is_used_twice_is_remembered():
    def net(x):
        hidden = np.tanh(weights(8, 3) @ x)
        return weights(1, 8)[0] @ hidden
    lo, hi = np.array([0.1, -0.2, 0.3]), np.array([0.2, -0.1, 0.4])
    bound, natural = least(net, 3, lo, hi)
    exact = min(net(lo + t * (hi - lo)) for t in np.random.default_rng(1).random((4000, 3)))
    assert bound <= exact and exact - bound < 0.25 * (exact - natural)


@pytest.mark.parametrize(("fun", "most"), [
    (lambda u: 1 / (1 + np.exp(-u)), 0.2), (lambda u: -3 / (np.exp(u) + 1), 0.6), (lambda u: np.logaddexp(u, 0.0), 0.75),
    (lambda u: np.maximum(u, 0.5), 2.0), (lambda u: -np.minimum(u, 0.5), 2.0), (np.sin, 0.9),
    (lambda u: np.abs(u) - 0.3 * u, 3.0)])
def test_lines_of_one_curve_touch_it(fun, most):
    """However it is written: nowhere above, nearly equal somewhere, so that no better line is parallel to it, nowhere far."""
    lo, hi = np.array([[-1.5]]), np.array([[2.5]])
    slopes, nlo, _ = Lines(trace(lambda x: fun(x[0]), 1), 1)(lo, hi)
    u = np.linspace(-1.5, 2.5, 8001)
    gap = fun(u) - (slopes[0, 0] * (u + 1.5) - nlo[0])
    assert -1e-15 <= gap.min() < 1e-2 and gap.max() <= most


def test_what_is_chosen_in_the_whole_box_is_as_good_as_written_alone():
    def ball(x):
        r = np.linalg.norm(x - 0.25)
        return r**3 - 4 * r * x[0]

    def chosen(x):
        return np.where(np.sum((x - 0.25) ** 2) < 0.16, ball(x), np.where(x[0] > 2, np.sqrt(x[0] - 2), np.sum(x**2)))
    for lo, alone in (([0.2, 0.3], ball), ([0.9, -0.9], lambda x: np.sum(x**2))):
        hi = np.array(lo) + 0.1
        assert least(chosen, 2, lo, hi) == least(alone, 2, lo, hi)
    bound, natural = least(chosen, 2, [0.5, 0.3], [0.7, 0.5])  # not decided: no better than the enclosure
    assert bound == natural


def test_affine_forms_make_layers_tighter(monkeypatch):
    """Enclosures of the second layer remember the variables."""
    lo, hi = np.full(3, -0.25), np.full(3, 0.25)
    with_forms, _ = least(layers, 3, lo, hi)
    monkeypatch.setattr(backward_bound_kernel.POLICY, "most_affine_variables", 0)
    assert with_forms > least(layers, 3, lo, hi)[0] + 1e-3


# ---- the kernel
def told(fun, lo, hi, upper: float, known: float = -np.inf, axis: float = 0.0) -> tuple[np.ndarray, float]:
    """The region that is left, and whether it was worth it."""
    n = len(lo)
    region = np.concatenate([lo, hi, [known, axis, 3.0]])[:, None]
    given = np.append(upper, np.ones(n))
    left, worth = infimum.compile(fun, n).run(programs.LINEAR, [region], parameters=given)
    return left[:, 0], float(worth[0, 0])


def test_regions_are_cut_or_gone():
    def slope(x):
        return 2 * x[0] - x[1] + np.tanh(x[0])
    lower, axis, level = rows(2)
    left, worth = told(slope, [0.0, 0.0], [1.0, 1.0], -0.5)
    assert left[0] == 0.0 and left[3] == 1.0 and 0.16 < left[2] < 0.25 and 0.49 < left[1] <= 0.5 and worth
    assert left[lower] == pytest.approx(-1.0) and left[axis] in (0.0, 1.0) and left[level] == 3.0
    left, worth = told(slope, [0.0, 0.0], [1.0, 1.0], -1.5)
    assert left[axis] == DISCARDED_AXIS and left[lower] > -1.5 and worth
    left, _ = told(slope, [0.0, 0.0], [1.0, 1.0], np.inf, known=-0.75)
    assert left[lower] == -0.75 and (left[:2] == 0.0).all() and (left[2:4] == 1.0).all()
    assert told(slope, [0.0, 0.0], [1.0, 1.0], np.inf, axis=DISCARDED_AXIS)[0][axis] == DISCARDED_AXIS
    assert told(slope, [0.5, 0.5], [0.5, 0.5], np.inf)[0][axis] == NO_AXIS


@pytest.mark.parametrize(("lo", "hi"), [
    ([-np.inf, 0.0], [np.inf, 1.0]), ([-1.7e308, 0.0], [1.7e308, 1.0]), ([0.0, 5e-324], [5e-324, 1e-310])])
def test_boxes_without_size_or_end(lo, hi):
    """Nothing is said of what has no end; bounds of what is tiny stay bounds."""
    left, _ = told(lambda x: np.tanh(x[0]) * x[1] + x[0], lo, hi, 0.25)
    assert not np.isnan(left).any() and (left[:2] <= left[2:4]).all() and left[rows(2)[0]] <= 0.0


@pytest.mark.parametrize(("name", "n"), [("layers of 3", 3), ("convolution", 6), ("opaque", 3), ("layers of 20", 20)])
def test_the_same_bits(name, n):
    """All widths of a vector, interpreted, and by the definition."""
    program = programs.PROGRAMS[programs.LINEAR](trace(FUNCTIONS[name][0], n), var("x", (n,)))
    doubles, f = program.data.doubles(), sample_of(*FUNCTIONS[name])
    doubles[program.at:program.at + n + 1] = np.append(0.5, np.ones(n))
    lo, hi = boxes(np.random.default_rng(2), f, 8)
    regions = np.concatenate([lo, hi, np.full((1, 8), -np.inf), np.zeros((1, 8)), np.full((1, 8), 3.0)])
    outputs = [[np.zeros((count, 8)) for count in program.rows] for _ in range(2 + len(host().widths()))]
    backends = [PythonBackend(), Interpreting(), *(CpuBackend(lanes) for lanes in host().widths())]
    for backend, out in zip(backends, outputs, strict=True):
        backend.compile(program.kernel).run([regions], out, doubles, program.data.positions())
        assert all(same_bits(a, b).all() for a, b in zip(outputs[0], out, strict=True))
