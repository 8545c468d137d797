"""What counts as 0 for data: in units of sigma, measurement by measurement."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import infimum
from infimum.fitting.zero_residuals import is_zero_residual, loss_that_counts_as_zero
from tests.fit.test_pinned import X, exactly, line, pinned, problem_of

Y = line(X, 1, 2) + 0.1 * np.cos(37 * X**2)


def zero(y=Y, sigma=None, loss="squares") -> float:
    return loss_that_counts_as_zero(problem_of(line, y, (-10, 10), sigma, loss))


@pytest.mark.parametrize("loss", infimum.fitting.losses.LOSSES)
def test_pinned_and_excluded_points_set_no_measure(loss: str):
    """One sigma of 1e-12 made all data huge: what counts as 0 exceeded the loss of any fit."""
    usual = zero(sigma=0.1, loss=loss)
    assert usual < 1e-8
    for at, sigma in ((0, 1e-12), ([3, 11], 1e-300), ([1, 2, 3, 4, 5, 6], 1e-9), (range(9), 1e9)):
        assert 1e-4 * usual < zero(sigma=pinned(list(at) if not isinstance(at, int) else at, sigma), loss=loss) < 3 * usual


@given(st.floats(-60, 60), st.floats(-60, 60))
def test_it_scales_with_the_data(of_y: float, of_sigma: float):
    """Squares, in units of sigma: y and sigma in other units change nothing, y alone its square."""
    a, b = 2.0 ** round(of_y), 2.0 ** round(of_sigma)
    assert np.isclose(zero(a * Y, a * b * np.ones(20)), zero(sigma=b * np.ones(20)), rtol=1e-12)
    assert np.isclose(zero(a * Y), a * a * zero(), rtol=1e-12)


def test_what_is_met():
    for y, sigma in ((Y, None), (1e-9 * Y, None), (Y, pinned(0, 1e-13)), (1e6 + Y, None), (Y, pinned(range(9), 1e9))):
        problem, size, spread = problem_of(line, y, (-10, 10), sigma), np.abs(y), np.ptp(y)
        assert is_zero_residual(problem, 1e-15 * size) and is_zero_residual(problem, 1e-12 * np.full(20, spread)
                                                                            * (sigma is None or sigma > 1e-10))
        assert not is_zero_residual(problem, np.where(np.arange(20) == 15, 1e-8 * spread, 0.0)), "a single one that is not"


def test_data_over_many_decades():
    """Errors of one percent of each: a small measurement that is off by one sigma is not met, however large others are."""
    y = 10.0 ** np.linspace(-6, 6, 20)
    problem = problem_of(line, y, (-10, 10), 0.01 * y)
    assert is_zero_residual(problem, 1e-13 * y) and not is_zero_residual(problem, np.where(np.arange(20) == 0, 0.01 * y, 0.0))
    assert loss_that_counts_as_zero(problem) < 1e-15


@pytest.mark.parametrize("scale, said", [(1e-160, "too small.*multiply.*1e100"), (1e170, "too large.*multiply.*1e-100")])
def test_squares_that_are_no_doubles(scale: float, said: str):
    with pytest.raises(infimum.DataError, match=said):
        infimum.fit(line, X, scale * Y, bounds=(-10 * scale, 10 * scale))
    assert infimum.fit(line, X, scale * Y, bounds=(-10 * scale, 10 * scale), sigma=scale).success


def test_nearly_exact_data():
    """Enclosed relative to the loss that is found, down to what rounding errors allow."""
    for noise in (1e-9, 1e-6):
        r = infimum.fit(line, X, line(X, 1, 2) + noise * np.cos(37 * X**2), bounds=(-10, 10))
        assert r.success and not r.exact and r.gap <= 1e-4 * r.upper


def test_a_tolerance_that_was_too_wide_is_made_smaller():
    """Most measurements are pinned, and lie on a line: what counts as 0 in units of their sigma exceeds the loss of others."""
    y, sigma = np.where(np.arange(20) < 12, line(X, 1, 2), Y), pinned(range(12), 1e-12)
    r = infimum.fit(line, X, y, bounds=(-10, 10), sigma=sigma)
    exact, least = exactly(X, y, sigma, 1)
    assert zero(y, sigma) > least > 1 and r.success and not r.exact and r.gap <= 1e-4 * r.upper and r.lower <= least <= r.upper
