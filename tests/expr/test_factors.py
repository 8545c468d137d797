"""Products of many factors as functions of sums: what is cut off, and from where on nothing is."""

from fractions import Fraction
from math import prod

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from infimum.expr.build import build, index
from infimum.expr.node import topological, var
from infimum.structure import products_as_sums
from infimum.structure.products_as_sums import as_sums, products_of
from infimum.trace.trace import trace
from tests.oracle.arb_values import settled_value

LOW, HIGH = np.array([-2.0, 0.0, 0.5, -3.0, 0.25]), np.array([1.0, 2.0, 4.0, -1.0, 0.25])
N = len(LOW)
inside = st.tuples(*(st.sampled_from((a, b, (a + b) / 2, min(max(0.0, a), b), a * 0.99 + b * 0.01, 1e-300 if a < 0 < b else b))
                     for a, b in zip(LOW.tolist(), HIGH.tolist(), strict=True)))


def rewritten(f, low=LOW, high=HIGH):
    """With factors that are the variables themselves."""
    both = var("x", (len(low) + 1,))
    return as_sums(f, products_of(f, len(low)), lambda _: (low, high), index(both, len(low)))


@given(inside, st.sampled_from((2.0**-60, 2.0**-3, 0.5)))
def test_what_is_cut_off(x, cut):
    """The product lies between the two numbers that the module promises, and the sum tells where it is not cut off."""
    before, products_as_sums._CUT = products_as_sums._CUT, cut
    try:
        found = rewritten(trace(np.prod, N))
    finally:
        products_as_sums._CUT = before
    (total, above), = found.cut.items()
    largest = [Fraction(float(m)) for m in np.maximum(-LOW, HIGH)]
    true = abs(prod(map(Fraction, x)))
    whole = prod(max(abs(Fraction(v)), Fraction(cut) * m) for v, m in zip(x, largest, strict=True))
    assert whole - Fraction(cut) * prod(largest) <= true <= whole
    remainder = next(node for node in topological([found.f]) if node.op == "const" and node.hi is not node.lo)
    assert remainder.lo == 0 and Fraction(float(remainder.hi)) >= whole - true
    if settled_value(total, np.array(x)) > arb(above):
        assert whole == true
    if whole > 3 * Fraction(cut) * prod(largest):
        assert settled_value(total, np.array(x)) > arb(above), "it tells, where the product is not near that"


def test_signs():
    ones = np.ones(N)
    assert rewritten(trace(np.prod, N)).signed is not None
    known = rewritten(trace(np.prod, N), np.array([1.0, -2, 1, -3, -4]), np.array([2.0, -1, 2, -2, -1]))
    assert known.signed is None and not known.cut
    value = settled_value(known.f, np.array([1.5, -1.5, 1.25, -2.5, -2.0]))
    assert abs(value - arb(1.5 * 1.5 * 1.25 * 2.5 * -2.0)) < 1e-20
    at_zero = rewritten(trace(np.prod, N), -ones, 0 * ones)
    assert at_zero.signed is None and at_zero.cut
    assert abs(settled_value(at_zero.f, np.full(N, -0.5)) + 0.5**N) < 1e-15, "five negative factors"


@pytest.mark.parametrize(("low", "high"), [(0, 0), (-1e200, 1e200), (-np.inf, np.inf), (0, 1e-200), (np.inf, -np.inf)])
def test_extreme_factors_are_left_alone(low, high):
    f = trace(np.prod, N)
    found = rewritten(f, np.full(N, float(low)), np.full(N, float(high)))
    assert found.f is f and not found.cut and found.signed is None


def test_which_products():
    assert len(products_of(trace(lambda x: np.prod(x) + np.prod(x[:3]) + np.prod(x[0] + np.arange(9.0)), N), N)) == 1
    assert products_of(trace(lambda x: np.sum(np.prod(x * np.ones((2, N)), axis=1)), N), N) == []
    assert build("prod", var("x", (N,)), axes=(0,)) in products_of(trace(np.prod, N), N)
