"""Certified fits lie in the enclosures."""

from decimal import Decimal

import numpy as np
import pytest

import infimum
from infimum.backend.cpu import CpuBackend
from tests.fit.nist import PROBLEMS


def meets(certified: str, lo: float, hi: float) -> bool:
    """May the number that was rounded to these digits lie between the ends?"""
    number = Decimal(certified)
    half = Decimal(1).scaleb(number.as_tuple().exponent) / 2
    return Decimal(lo) <= number + half and number - half <= Decimal(hi)


@pytest.mark.parametrize("name", PROBLEMS)
def test_certified_values(name: str):
    p = PROBLEMS[name]
    r = infimum.fit(p.model, p.x, p.y, bounds=p.bounds)
    assert r.verdict.name == "PROVED" and r.unique is True and len(r.fits) == 1 and r.fits[0].alone
    assert meets(p.sum_of_squares, r.sse.lo, r.sse.hi) and r.sse.width <= 1.1e-6 * r.sse.hi
    for parameter, certified, deviation in zip(r.params.values(), p.certified, p.deviations, strict=True):
        assert meets(certified, parameter.lo, parameter.hi)
        assert parameter.lo <= parameter.value <= parameter.hi and parameter.hi - parameter.lo < 1e-8 * abs(parameter.value)
        assert np.isclose(parameter.stderr, deviation, rtol=1e-6)
    assert np.isclose(np.sum(r.residuals**2), float(p.sum_of_squares), rtol=1e-9)
    assert np.isclose(r.statistics.reduced_chi_square, float(p.sum_of_squares) / (len(p.y) - len(p.bounds)), rtol=1e-9)


def test_new_data_need_no_new_code(monkeypatch: pytest.MonkeyPatch):
    """A second fit of as many data takes the kernels of the first."""
    p, compiled, compiles = PROBLEMS["BoxBOD"], [], CpuBackend._compile
    infimum.fit(p.model, p.x, p.y, bounds=p.bounds)
    monkeypatch.setattr(CpuBackend, "_compile", lambda self, kernel, *texts: compiled.append(kernel.name) or
                        compiles(self, kernel, *texts))
    r = infimum.fit(p.model, p.x, np.array(p.y) + 1.0, bounds=p.bounds)
    assert r.success and compiled == []
