"""Code that has run for long is compiled again, for more speed and the same bits; very long programs are not."""

import numpy as np
import pytest

import infimum
from infimum import evaluate
from infimum.backend import cpu
from infimum.lower.programs import GRADIENT
from infimum.watch import Watch


def chain(x):
    total = x[0]
    for k in range(400):
        total = total * 0.75 + np.abs(x[k % 3] - 0.25) / 3
    return total


@pytest.fixture
def boxes(monkeypatch: pytest.MonkeyPatch) -> tuple[np.ndarray, np.ndarray]:
    evaluate._lowered.clear()
    cpu._compiled.clear()
    monkeypatch.setattr(cpu, "_LINE", 0.0)  # any run finds it worth its price
    lo = np.random.default_rng(0).uniform(-2, 2, (3, 100))
    return lo, lo + 0.1


def same(one: evaluate.Derivative, other: evaluate.Derivative) -> bool:
    pairs = (one.value.lo, other.value.lo), (one.value.hi, other.value.hi), (one.lo, other.lo), (one.hi, other.hi)
    return all((a.view(np.int64) == b.view(np.int64)).all() for a, b in pairs)


def test_code_that_ran_for_long_is_compiled_again_with_the_same_bits(boxes):
    f = infimum.compile(chain, 3)
    code = f.prepare(GRADIENT)[0]
    code._spent = -1e9  # however slow the machine is
    first, before = f.gradient(*boxes), code._work
    assert code._module.plain and code._work == before
    code._spent = 0.0
    assert same(first, f.gradient(*boxes)) and not code._module.plain and code._work != before


def test_very_long_programs_stay_as_they_are(boxes, monkeypatch):
    monkeypatch.setattr(cpu, "_MOST", 100)
    f = infimum.compile(chain, 3)
    assert same(f.gradient(*boxes), f.gradient(*boxes)) and f.prepare(GRADIENT)[0]._module.plain


def test_nothing_is_compiled_again_when_the_time_is_over(boxes):
    f = infimum.compile(chain, 3)
    f.prepare(GRADIENT)
    with Watch(0.0):
        f.gradient(*boxes)
    assert f.prepare(GRADIENT)[0]._module.plain
