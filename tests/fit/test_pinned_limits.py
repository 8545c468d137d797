"""Pinned fits within bounds that are no doubles, with huge residuals, and ended early by limits or Ctrl-C."""

import re
import signal
from fractions import Fraction

import numpy as np
import pytest

import infimum
from infimum.fitting.budget import Budget
from infimum.fitting.pinning import pinned_run
from infimum.fitting.pinning.pinned_run import PinnedProblem, scaled
from infimum.search.interrupts import Interrupts

X = np.linspace(0.0, 5.0, 12)
SIGMA = np.full(12, 0.1)
SIGMA[0] = 1e-12
THIRD = Fraction(31, 3)


def decaying(x, a, b, c):
    return a * np.exp(-b * x) + c


def line(x, a, b):
    return a + b * x


Y = decaying(X, 2.5, 1.1, 0.4) + 0.1 * np.cos(31 * X)
BOUNDS = [(0, 10), (0, 10), (-5, 5)]
LINEAR = 1 + 2 * X + 0.1 * np.cos(31 * X)


def fitted(**options) -> infimum.FitResult:
    return infimum.fit(decaying, X, Y, bounds=BOUNDS, sigma=SIGMA, **options)


def straight(**options) -> infimum.FitResult:
    return infimum.fit(line, X, LINEAR, bounds=(-10, 10), sigma=SIGMA, **options)


@pytest.fixture(scope="module")
def least() -> infimum.problem.problem.Interval:
    return straight().least


# ---- bounds that are no doubles
def test_exact_data_within_a_fraction():
    """The search of the plain sum of squares does not end."""
    r = infimum.fit(decaying, X, decaying(X, 2.0, 1.0, 0.5), bounds=[(0, THIRD), *BOUNDS[1:]], sigma=SIGMA, max_boxes=1 << 17)
    assert r.success and r.exact and np.allclose(r.x, [2, 1, 0.5], rtol=1e-9)


@pytest.mark.parametrize("high", [Fraction(11, 10), Fraction(9, 10), infimum.pi / 3])
def test_a_fraction_that_is_the_best_value(high):
    """The pinned point leaves one parameter, a: with a = high, or within the bounds, in rational arithmetic."""
    sigma, y = np.where(np.arange(12) == 11, 1e-13, 0.1), LINEAR
    r = infimum.fit(line, X, y, bounds=[(-100, high), (-100, 100)], sigma=sigma)
    weights = [1 / Fraction(s) ** 2 for s in sigma.tolist()]
    x, values = ([Fraction(v) for v in numbers.tolist()] for numbers in (X, y))

    def least(a):
        b = sum(w * t * (v - a) for w, t, v in zip(weights, x, values, strict=True)) / \
            sum(w * t * t for w, t in zip(weights, x, strict=True))
        return sum(w * (a + b * t - v) ** 2 for w, t, v in zip(weights, x, values, strict=True))
    ends = [Fraction(high)] * 2 if isinstance(high, Fraction) else [Fraction(high.lo), Fraction(high.hi)]
    s0, s1, s2 = (sum(w * t**k for w, t in zip(weights, x, strict=True)) for k in range(3))
    t0, t1 = (sum(w * v * t**k for w, v, t in zip(weights, values, x, strict=True)) for k in range(2))
    free = (t0 * s2 - t1 * s1) / (s0 * s2 - s1 * s1)
    bounds = [least(min(free, end)) for end in ends]
    assert r.success and Fraction(r.lower) <= max(bounds) and min(bounds) <= Fraction(r.upper)
    p = r.params["a"]
    assert Fraction(p.lo) <= max(min(free, end) for end in ends) and min(min(free, end) for end in ends) <= Fraction(p.hi)
    assert Fraction(p.value) <= ends[0] and Fraction(float(r.minimum.x[0])) <= ends[0], "claimed points lie within the bounds"


def test_bounds_are_scaled_exactly():
    bounds = infimum.problem.variable_bounds.read_bounds([(Fraction(-1, 3), 2.0**-900), (-2.0**300, 2.0**-1000), (0, infimum.pi)])
    found = scaled(bounds, np.array([4.0, 2.0**300, 0.5]))
    assert found.number(0, 0) == Fraction(-1, 12) and found.number(0, 1) == 2.0**-902 and found.number(1, 0) == -1.0
    assert found.number(1, 1) == Fraction(1, 2**1300) and found.region[1][1] > 0 == found.hi[1]
    assert found.number(2, 1).lo == 2 * infimum.pi.lo


def test_feasibility_does_not_relax_the_equations(least):
    assert straight(feasibility=0.5).least == least


# ---- residuals beyond what equations can hold
@pytest.mark.parametrize("sigma", [1e-151, 1e-153])
def test_residuals_that_are_too_large(sigma: float):
    r = infimum.fit(lambda x, a: a + 0 * x, np.arange(4.0), np.array([2, -1e9, -1e9, -1e9]), bounds=[(0, 1)],
                    sigma=np.array([sigma, 1, 1, 1]))
    exact = 1 / Fraction(sigma) ** 2 + 3 * (1 + 10**9) ** 2
    assert r.success and r.x[0] == 1 and Fraction(r.lower) <= exact <= Fraction(r.upper)


def test_a_loss_that_allows_any_residual():
    """Of a Cauchy loss of 700 and more, the residual is no double."""
    y = np.array([1e141, *LINEAR[1:]])
    r = infimum.fit(line, X, y, bounds=(-10, 10), sigma=SIGMA, loss="cauchy", max_boxes=100)
    assert r.lower <= r.upper and r.upper >= 704


# ---- limits
@pytest.mark.parametrize("most", [300, 2000, 8000])
def test_boxes_are_counted_over_all_searches(most: int):
    r = fitted(max_boxes=most)
    assert r.verdict.name == "STOPPED" and r.message.endswith(f"the limit is {most:,}")
    assert r.nfev <= max(most, 6000) + 4000 and "x0=" not in str(r)
    assert re.search(r"gap +\S+ \(\S+ % of the sum of squares", str(r)) and "advice" in str(r) and r.advice


def test_the_last_search_is_ended_by_the_clock(monkeypatch):
    """Its own limit, equations and start boxes are not what the user knows of."""
    def minimize(*args, **settings):
        if "constraints" in settings:
            settings["time_limit"] = 1e-9
        return infimum.minimize(*args, **settings)
    monkeypatch.setattr(pinned_run, "minimize", minimize)
    r = fitted(time_limit=500.0)
    assert r.verdict.name == "STOPPED" and r.message.startswith("the time limit of 500 s was reached")
    assert "feasible" not in r.message and "start box" not in r.message and r.upper < np.inf


def test_a_budget_leaves_no_more_than_there_is(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("infimum.fitting.budget.perf_counter", lambda: now[0])
    budget = Budget({"time_limit": 60.0, "max_boxes": None})
    now[0] += 59.99
    assert budget.seconds == 0.05 and budget.reached() is None and budget.boxes is None
    now[0] += 1.0
    assert budget.seconds == 0.05 and budget.reached() == "the time limit of 60 s was reached" and budget.is_late
    small = Budget({"time_limit": 0.01, "max_boxes": 100})
    small.spent = 150
    assert small.seconds == 0.01 and small.boxes == 1
    assert small.named("7 boxes were enclosed, the limit is 1") == "150 boxes and points were evaluated, the limit is 100"
    assert small.named("105 boxes were enclosed, the limit is 100") == "105 boxes were enclosed, the limit is 100"


# ---- Ctrl-C
@pytest.mark.parametrize("step", ["_attained", "_find_cover", "_last", "_shared", "_minimisers"])
def test_ctrl_c_between_the_searches(step: str, least, monkeypatch, ctrl_c_heard):
    monkeypatch.setattr(Interrupts, "_last", -np.inf)
    own = getattr(PinnedProblem, step)

    def pressed(self, *args):
        signal.raise_signal(signal.SIGINT)
        return own(self, *args)
    monkeypatch.setattr(PinnedProblem, step, pressed)
    r = straight()
    assert r.success or (r.message.startswith("interrupted") and step not in ("_shared", "_minimisers"))
    assert 0.99 * least.lo < r.lower <= least.hi and least.lo <= r.upper < (1e6 if step == "_attained" else 1.01 * least.hi)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_blocks_within_blocks_hear_ctrl_c(monkeypatch, ctrl_c_heard):
    monkeypatch.setattr(Interrupts, "_last", -np.inf)
    with Interrupts() as outer:
        with Interrupts() as inner:
            signal.raise_signal(signal.SIGINT)
            assert inner.heard and outer.heard and not inner.raised
        with Interrupts() as following:
            assert following.heard
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
            assert following.raised


# ---- what callbacks and the history tell
def test_callbacks_see_parameters_and_bounds_of_the_loss():
    seen = []
    r = straight(callback=seen.append)
    assert all(len(s.x) == 2 for s in seen if s.x is not None) and all(s.lower <= r.upper for s in seen)
    assert all(s.upper >= r.lower for s in seen) and all(entry.upper >= r.lower for entry in r.minimum.history)
