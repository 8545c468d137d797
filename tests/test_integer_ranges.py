"""Integers that NumPy would let wrap around are refused: the trace means real numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import infimum
from infimum.trace.integer_ranges import IntegerRanges
from infimum.trace.trace import scalar, traced

BOX = [(-1, 2)] * 2
WRAPPING = {
    "pow": lambda x: np.where(x[0] > 1.98, 2, 1) ** 64 + 0.0,
    "mul": lambda x: np.where(x[0] > 1.98, 2**62, 1) * 4,
    "elements": lambda x: np.sum(np.where(x > 1.98, 2**62, 1) * np.array([2, 2])),
    "two": lambda x: np.where(x[0] > 1.98, 2**62, 1) * np.where(x[0] > 1.98, 4, 1) * 1.0,
    "sub": lambda x: np.where(x[0] > 1.98, 2**62, 1) - np.where(x[0] > 1.98, -2**62, 1),
    "sum": lambda x: np.sum(np.where(x > 1.98, 2**62, 1)),
    "prod": lambda x: np.where(x > 1.98, 2**32, 1).prod(),
    "dot": lambda x: np.dot(np.where(x > 1.98, 2**31, 1), np.where(x > 1.98, 2**31, 1)),
    "diff": lambda x: np.diff(np.where(x > 1.98, 2**62, -2**62))[0],
    "reduced": lambda x: np.multiply.reduce(np.where(x > 1.98, 2**32, 1)),
    "subtracted": lambda x: np.subtract(np.where(x[0] > 1.98, 2**62, 1), np.where(x[0] > 1.98, -2**62, 1)),
    "bool": lambda x: (x[0] > 1.98) * 2**62 * 3,
}
RIGHT = {
    "floats": lambda x: np.where(x[0] > 1.98, 1e20, 1.0) * np.where(x[0] > 1.98, 4.0, 1.0),
    "squared": lambda x: np.where(x[0] > 1.98, 1e10, 0.0) ** 2 + x[1] ** 2,
    "times a float": lambda x: (1.0 * np.where(x[0] > 1.98, 10**10, 0)) ** 2,
    "counts": lambda x: np.sum(x > 1.5) ** 2 - (x[0] > 0.5) * 3 + x[0] ** 2,
    "large": lambda x: np.where(x[0] > 1.98, 2**62, 1) - 1,
    "penalties": lambda x: 10**6 * np.sum(np.where(x > 1.5, 10, 0)) + x[0] ** 2,
}


@pytest.mark.parametrize("name", WRAPPING)
def test_integers_that_may_wrap_are_refused(name):
    with pytest.raises(infimum.AgreementError, match=r"test_integer_ranges\.py:\d+.*int64.*1\.0 for 1"):
        infimum.minimize(WRAPPING[name], BOX)


def test_integers_in_constraints_are_refused_too():
    with pytest.raises(infimum.AgreementError, match="constraint.*int64"):
        infimum.minimize(lambda x: x[0], BOX, constraints=lambda x: np.where(x[0] > 1.98, 2, 1) ** 64 >= 1)


@pytest.mark.parametrize("name", RIGHT)
def test_others_are_proved(name):
    r = infimum.minimize(RIGHT[name], BOX)
    assert r.verdict.name == "PROVED" and r.lower <= min(RIGHT[name](np.array(p)) for p in ((0.0, 0.0), (1.0, 0.0), (2.0, 2.0)))


_NUMBERS = st.integers(-2**40, 2**40)
_RULES = ["add", "subtract", "multiply", "minimum", "maximum"]
_STEPS = st.lists(st.tuples(st.sampled_from(_RULES), _NUMBERS, _NUMBERS), min_size=1, max_size=4)


@given(_NUMBERS, _NUMBERS, _STEPS)
def test_no_outcome_is_larger_than_the_bound(first, second, steps):
    """Exact integers for each way to decide the conditions are within the sizes; so nothing that wraps is missed."""
    def f(x):
        value = np.where(x[0] > 0, first, second)
        for k, (name, p, q) in enumerate(steps):
            value = getattr(np, name)(value, np.where(x[1 + k] > 0, p, q))
        return value * 1.0
    exact = {"add": int.__add__, "subtract": int.__sub__, "multiply": int.__mul__, "minimum": min, "maximum": max}
    values = [[first, second]]
    for name, p, q in steps:
        values.append([exact[name](v, w) for v in values[-1] for w in (p, q)])
    _, function = traced(f, 1 + len(steps), (), scalar)
    ranges = IntegerRanges()
    function.recording.replay(np.zeros(1 + len(steps)), ranges)
    if max(abs(v) for outcomes in values for v in outcomes) >= 2**63:
        assert ranges.wrapping is not None
    else:
        assert max(ranges.sizes.values()) >= max(abs(v) for outcomes in values for v in outcomes) * (1 - 1e-9)
