"""Quantiles of chi-square and F, held against Arb's incomplete beta and gamma functions."""

import pytest
from flint import arb, ctx

from infimum.fitting.parameter_sets.quantiles import chi_square, f_ratio

LEVELS = (0.5, 0.6827, 0.95, 0.999)


@pytest.fixture(autouse=True)
def precise():
    before, ctx.prec = ctx.prec, 200
    yield
    ctx.prec = before


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("p", "others"), [(1, 1), (2, 12), (3, 7), (5, 3), (6, 54), (7, 2), (30, 5), (3, 1001), (4, 20_000)])
def test_f(level, p, others):
    found = f_ratio(level, p, others)

    def below(q):
        x = arb(q) * p / (arb(q) * p + others)
        return x.beta_lower(arb(p) / 2, arb(others) / 2, 1)
    assert below(found.lo) <= arb(level) <= below(found.hi) and found.hi - found.lo <= 1e-12 * found.lo


@pytest.mark.parametrize("level", (*LEVELS, 0.001))
@pytest.mark.parametrize("p", (1, 2, 3, 8, 51))
def test_chi_square(level, p):
    found = chi_square(level, p)

    def below(q):
        return (arb(q) / 2).gamma_lower(arb(p) / 2, 1)
    assert below(found.lo) <= arb(level) <= below(found.hi) and found.hi - found.lo <= 1e-12 * found.lo


def test_many_data():
    """F becomes chi-square by its degrees of freedom."""
    assert f_ratio(0.95, 3, 999_997).lo == pytest.approx(chi_square(0.95, 3).lo / 3, rel=1e-5)
