"""The functions of affine forms, judged in exact fractions: whatever x and y are within their forms, so is the result."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from infimum.backend.cpu import CpuBackend
from infimum.interval import affine_forms as affine
from infimum.kernel.ir import Builder

N, LANES = 2, 400
EMPTY = np.zeros(1), np.zeros(1, np.int64)
SIZES = (0.0, 5e-324, 2.0**-1060, 1e-200, 2.0**-40, 1.0, 3.0, 1e16, 1e150, 2.0**999, 1.7e308)


def run(what: Callable, inputs: np.ndarray) -> np.ndarray:
    b = Builder()
    for row, value in enumerate(what(b, *(b.input(0, k) for k in range(len(inputs))))):
        b.output(0, row, value)
    out = np.empty((N + 4, inputs.shape[1]))
    CpuBackend().compile(b.kernel(what.__name__, 1, 1)).run([inputs], [out], *EMPTY)
    return out


def forms(rng: np.random.Generator) -> np.ndarray:
    """Centres, slopes and errors: of all sizes, and of sizes that go together."""
    wild = rng.choice(SIZES, (N + 2, LANES)) * rng.uniform(-1, 1, (N + 2, LANES))
    tame = rng.uniform(-1, 1, (N + 2, LANES)) * 2.0 ** rng.integers(-30, 30, LANES)
    found = np.where(rng.random(LANES) < 0.5, wild, tame)
    found[1:, ::9] = 0.0
    found[0, :8] = rng.choice([-1.7e308, 1.7e308], 8)  # sums that overflow, upward to no infinity
    found[-1] = np.abs(found[-1]) * rng.choice([0.0, 2.0**-50, 1.0], LANES)
    return found


def value(form: np.ndarray, t: list[Fraction], part: Fraction) -> Fraction:
    c, *s, e = map(Fraction, form.tolist())
    return c + sum(p * q for p, q in zip(s, t, strict=True)) + part * e


def up(v: Fraction) -> float:
    """A double that is not below."""
    try:
        return float(np.nextafter(float(v), np.inf))
    except OverflowError:
        return np.inf if v > 0 else -1.7976931348623157e308


TWO = {affine.sum_of: lambda x, y: x + y, affine.difference_of: lambda x, y: x - y, affine.product_of: lambda x, y: x * y}


@pytest.mark.parametrize("what", TWO)
@pytest.mark.parametrize("known", [False, True])
def test_of_two(what, known):
    """`known`: the enclosures of the operands and of the result are as narrow as can be."""
    rng = np.random.default_rng(1)
    one, other = forms(rng), forms(rng)
    t = [[Fraction(int(v), 8) for v in row] for row in rng.integers(-8, 9, (LANES, N)).tolist()]
    parts = [[Fraction(v) for v in row] for row in rng.choice([-1, 1, 0], (LANES, 2)).tolist()]
    x, y = ([value(form[:, k], t[k], parts[k][i]) for k in range(LANES)] for i, form in enumerate((one, other)))
    exact = [TWO[what](p, q) for p, q in zip(x, y, strict=True)]
    enclosures = [exact, y] if what is affine.product_of else [exact]
    ends = [[up(side * v) if known else np.inf for v in numbers] for numbers in enclosures for side in (-1, 1)]
    out, said = run(what, np.concatenate([np.array(ends), one, other])), 0
    for k in range(LANES):
        nlo, hi, *form = out[:, k]
        assert not Fraction(exact[k]) < -Fraction(nlo) if np.isfinite(nlo) else nlo > 0
        assert not Fraction(exact[k]) > Fraction(hi) if np.isfinite(hi) else hi > 0
        if np.isfinite(form).all():
            said += 1
            c, *s, e = map(Fraction, form)
            assert abs(exact[k] - c - sum(p * q for p, q in zip(s, t[k], strict=True))) <= e
    assert said > LANES // 4


def test_along_a_line():
    """y = slope x + something between two ends."""
    rng = np.random.default_rng(2)
    form, slope = forms(rng), rng.choice(SIZES, LANES) * rng.uniform(-1, 1, LANES)
    below, above = (np.abs(rng.choice(SIZES, LANES)) * rng.uniform(-1, 1, LANES) for _ in range(2))
    above = np.maximum(above, -below)
    inputs = np.concatenate([np.full((2, LANES), np.inf), [slope, below, above], form])
    out, said = run(affine.along_line, inputs), 0
    for k in range(LANES):
        nlo, hi, *found = out[:, k]
        t = [Fraction(int(v), 8) for v in rng.integers(-8, 9, N)]
        for rest in (-Fraction(below[k]), Fraction(above[k])):
            y = Fraction(slope[k]) * value(form[:, k], t, Fraction(int(rng.integers(-1, 2)))) + rest
            assert not (np.isfinite(nlo) and y < -Fraction(nlo)) and not (np.isfinite(hi) and y > Fraction(hi))
            if np.isfinite(found).all():
                said += 1
                c, *s, e = map(Fraction, found)
                assert abs(y - c - sum(p * q for p, q in zip(s, t, strict=True))) <= e
    assert said > LANES // 4


def test_errors_do_not_outgrow_the_enclosure():
    """A form that says less than the enclosure loses its slopes, and keeps its centre."""
    given = np.array([[1.0, 2.0, 1.0, 2.0, 0.5, 1.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0]]).T  # y = 0 and [-1, 2] is known of the sum
    nlo, hi, c, *s, e = run(affine.sum_of, given[[0, 1, 4, 5, 6, 7, 8, 9, 10, 11]])[:, 0]
    assert (nlo, hi, c, s, e) == (1.0, 2.0, 0.5, [0.0, 0.0], 1.5)


def combination(b, nlo, hi, *given):
    """Σ w x as a sum over neurons is: multiples, added up one after the other, met with the enclosure at the end."""
    terms = [affine.multiple_of(b, given[k], given[k + 1:k + N + 3], affine.total(b, given[k + 1:k + N + 2]))
             for k in range(0, len(given), N + 3)]
    form, size = terms[0]
    for other, more in terms[1:]:
        form, size = affine.add_to(b, form, size, other, more)
    return affine.added_up(b, nlo, hi, size, *form)


@pytest.mark.parametrize("terms", [1, 2, 30])
@pytest.mark.parametrize("known", [False, True])
def test_combinations(terms, known):
    """Terms of all sizes, of like ones, and such as cancel."""
    rng = np.random.default_rng(terms)
    weights = rng.uniform(-1, 1, (terms, LANES)) * np.where(rng.random(LANES) < 0.3, rng.choice(SIZES, (terms, LANES)), 1.0)
    x = [forms(rng) for _ in range(terms)]
    for form in x:  # else one term of many is always too large
        form[:, ::2] = rng.uniform(-1, 1, (N + 2, LANES // 2)) * 2.0 ** rng.integers(-1070, 40, LANES // 2)
        form[-1] = np.abs(form[-1])
    for k in range(1, terms, 2):  # a term less the same term nearly
        weights[k, ::3], x[k][:, ::3] = -weights[k - 1, ::3], x[k - 1][:, ::3] * (1 + 2.0**-50)
    t = [[Fraction(int(v), 8) for v in row] for row in rng.integers(-8, 9, (LANES, N)).tolist()]
    parts = rng.choice([-1, 1, 0], (LANES, terms)).tolist()
    exact = [sum(Fraction(float(w[k])) * value(form[:, k], t[k], Fraction(parts[k][i]))
                 for i, (w, form) in enumerate(zip(weights, x, strict=True))) for k in range(LANES)]
    ends = [[up(side * v) if known else np.inf for v in exact] for side in (-1, 1)]
    inputs = np.concatenate([np.array(ends), *(np.concatenate([[w], form]) for w, form in zip(weights, x, strict=True))])
    out, said = run(combination, inputs), 0
    for k in range(LANES):
        nlo, hi, *form = out[:, k]
        assert exact[k] >= -Fraction(nlo) if np.isfinite(nlo) else nlo > 0
        assert exact[k] <= Fraction(hi) if np.isfinite(hi) else hi > 0
        if np.isfinite(form).all():
            said += 1
            c, *s, e = map(Fraction, form)
            assert abs(exact[k] - c - sum(p * q for p, q in zip(s, t[k], strict=True))) <= e
    assert said > LANES // 8


def test_errors_of_combinations_are_rounding_errors():
    """Without errors of the terms, no more than 2**-51 for each sum of the sizes."""
    rng = np.random.default_rng(5)
    x, weights = [rng.uniform(-1, 1, (N + 2, LANES)) for _ in range(20)], rng.uniform(-1, 1, (20, LANES))
    for form in x:
        form[-1] = 0.0
    inputs = np.concatenate([np.full((2, LANES), np.inf), *(np.concatenate([[w], f]) for w, f in zip(weights, x, strict=True))])
    size = sum(np.abs(w) * np.abs(form).sum(axis=0) for w, form in zip(weights, x, strict=True))
    assert (run(combination, inputs)[-1] <= 22 * 2.0**-51 * size).all()
