"""Linear bounds of a function and its constraints lose no feasible point below the upper bound, and are worth having."""

import numpy as np
import pytest

import infimum
from infimum.backend.cpu import CpuBackend
from infimum.backend.python import PythonBackend
from infimum.bounds.interface import StepContext
from infimum.bounds.linear_rows import LinearRowsBound
from infimum.evaluation.evaluator import Evaluator
from infimum.kernel.region_cut import DISCARDED_AXIS
from infimum.relax import backward_bound_kernel, linear_rows_kernel
from tests.engine.region_tests.systems import INF, Case, Kernel, columns, random_case, random_regions
from tests.engine.region_tests.test_gradient_rows import Lost, campaign


class Rows:
    """The kernel, with no points, as `judge` wants it."""

    def __init__(self, case: Case):
        self.n, self.kernel = len(case.lo), Kernel(case, linear_rows_kernel.linear_rows, 1 / (case.hi - case.lo))

    def __call__(self, regions: np.ndarray, upper: float) -> list[np.ndarray]:
        left, worth = self.kernel(regions, upper)
        return [left, worth, np.full((1, regions.shape[1]), INF), np.zeros((self.n, regions.shape[1]))]


def test_no_feasible_point_is_lost(nothing_lowered):
    counts = campaign(range(200, 214), Rows)
    assert counts["kept"] > 2000 and min(counts[what] for what in ("gone", "above", "narrower", "raised")) > 30
    assert counts["lost"] == 0  # nothing is concluded from first order


def test_no_feasible_point_of_one_system_is_lost(nothing_lowered):
    """A case of the test above for the default run, which leaves that to the thorough one."""
    assert campaign(range(200, 201), Rows)["kept"] > 100


# ---- mutations
def spoilt(monkeypatch: pytest.MonkeyPatch, module: object, name: str, by: object) -> None:
    monkeypatch.setattr(module, name, by)
    with pytest.raises((Lost, AssertionError)):
        campaign(range(200, 240), Rows)


def test_a_line_that_is_too_high_is_caught(nothing_lowered, monkeypatch):
    down = backward_bound_kernel.BackwardBoundKernel._downward

    def higher(self, *given):
        line = down(self, *given)
        return line._replace(nlo=self.b.sub(line.nlo, 2.0**-10))
    spoilt(monkeypatch, backward_bound_kernel.BackwardBoundKernel, "_downward", higher)


def test_choosing_too_soon_is_caught(nothing_lowered, monkeypatch):
    """The first of two numbers wherever it may be the one."""
    chosen = backward_bound_kernel._choice

    def first(b, need, args, value):
        _, second, nlo, hi = chosen(b, need, args, value)
        rest = b.oeq(second, 0.0)
        return b.select(rest, 1.0, 0.0), second, b.select(rest, 0.0, nlo), b.select(rest, 0.0, hi)
    spoilt(monkeypatch, backward_bound_kernel, "_KNOWN", {**backward_bound_kernel._KNOWN, "choice": first})


def test_the_other_choice_is_caught(nothing_lowered, monkeypatch):
    def swapped(b, need, args, value):
        first, second, *rest = backward_bound_kernel._choice(b, need, args, value)
        return second, first, *rest
    spoilt(monkeypatch, backward_bound_kernel, "_KNOWN", {**backward_bound_kernel._KNOWN, "choice": swapped})


# ---- the same bits
def test_bits_are_those_of_the_definition():
    case = random_case(203)
    regions = random_regions(case, 203, 5)
    regions[0, 0] = -INF
    for upper in (INF, min((float(v) for v in case.values), default=0.0)):
        found = [LinearRowsBound(Evaluator(case.system.f, len(case.lo), backend, None, system=case.system), case.lo, case.hi)
                 .test(regions, StepContext(upper)) for backend in (CpuBackend(), PythonBackend())]
        for a, b in zip(found[0][:3:2], found[1][:3:2], strict=True):
            assert a.tobytes() == b.tobytes()


# ---- what it is for
def bowls(x):
    """A paraboloid, and a steeper one in a ball, the same on its boundary."""
    r = np.sum((x - 0.25) ** 2)
    return np.where(r < 0.16, 5 * r - 0.64, r)


def test_regions_are_cut_or_gone():
    """In the ball, across its boundary, outside of it; in the ball and across the boundary of the feasible set."""
    evaluator = infimum.compile(lambda x: x[0] - x[1], 2, constraints=[infimum.Constraint(bowls, ub=0.0)])
    lo = np.array([[0.2, 0.2], [0.5, 0.2], [0.8, -0.9], [0.49, 0.49]]).T
    out = LinearRowsBound(evaluator, -np.ones(2), np.ones(2)).test(columns(lo, lo + 0.04), StepContext(INF)).regions
    assert (out[5] == DISCARDED_AXIS).tolist() == [False, False, True, False]
    assert (out[2:4, :2] == lo[:, :2] + 0.04).all() and (out[2:4, 3] < lo[:, 3] + 0.04).all()


def test_it_is_asked_where_rows_choose_or_are_long():
    def asked(*constraints):
        evaluator = infimum.compile(lambda x: x[0], 2, constraints=[infimum.Constraint(g, ub=0.0) for g in constraints])
        return LinearRowsBound.applies(evaluator)
    assert asked(bowls) and asked(lambda x: x[0] - 1, bowls)
    assert not asked(lambda x: x[0] ** 2 - x[1]) and not asked(*[bowls] * 20)


def pits(x, *centres):
    """A paraboloid, and in balls with the radius 1/2 cubics that go over into it."""
    value = np.sum((x - 0.125) ** 2)
    for c in centres:
        r, along, depth = np.linalg.norm(x - c), np.sum((x - c) * (0.125 - c)), 3 * (0.125 - c) ** 2 + 0.5
        ball = (8 * along - 16 * depth * r) * r**2 + (1 + 12 * depth) * r**2 - 8 * along * r - 0.5
        value = np.where(r < 0.5, ball, value)
    return value


def test_a_proof_among_balls_takes_few_boxes(monkeypatch):
    def count() -> int:
        r = infimum.minimize(lambda x: pits(x, -0.5, 0.75) - 0.5 * np.tanh(8 * pits(x, -0.25, 0.5)), [(-1, 1)] * 3, atol=1e-2,
                             constraints=[infimum.Constraint(lambda x: pits(x, -0.25, 0.5), ub=-0.125)], time_limit=60)
        assert r.verdict.name == "PROVED"
        return r.nfev
    few = count()
    monkeypatch.setattr(LinearRowsBound, "applies", classmethod(lambda cls, evaluator: False))
    many = count()
    assert few < 0.5 * many
