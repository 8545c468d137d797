"""Double-double operations against exact fractions: the stated bounds hold where they are tried."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from against_arb import compiled

from infimum.interval.elementary import doubledouble as dd

COUNT = 4000
NUMBERS = itertools.count()


def pairs(rng: np.random.Generator, spread: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Normal double-doubles with |l| <= 4u*|h|; every eighth with a vanishing or a lonely low bit."""
    h = np.ldexp(rng.uniform(1, 2, COUNT), rng.integers(-spread, spread + 1, COUNT)) * rng.choice([-1.0, 1.0], COUNT)
    low = h * rng.uniform(-4, 4, COUNT) * 2.0**-52
    low[::8] = 0.0
    low[1::8] = h[1::8] * 2.0**-52
    h[::16] = np.round(h[::16] * 4) / 4 + np.copysign(0.5, h[::16])
    return h, low


def run(code, *columns: np.ndarray) -> tuple[list[Fraction], np.ndarray]:
    """The sums of the two results of code(b, *values) as fractions; and the second results."""
    arity = (len(columns) + 1) // 2
    columns = columns if len(columns) % 2 == 0 else (*columns, columns[-1])
    name = f"dd{next(NUMBERS)}"

    def wrapped(b, *values):
        signed = [b.neg(v) if i % 2 == 0 else v for i, v in enumerate(values)]
        h, low = code(b, *signed)
        return b.neg(h), low
    h, low = compiled(name, wrapped, arity)(*columns)
    return [Fraction(a) + Fraction(c) for a, c in zip(h.tolist(), low.tolist(), strict=True)], low


def fractions(pair: tuple[np.ndarray, np.ndarray]) -> list[Fraction]:
    return [Fraction(a) + Fraction(c) for a, c in zip(pair[0].tolist(), pair[1].tolist(), strict=True)]


def assert_near(found: list[Fraction], exact: list[Fraction], bits: int, scale: list[Fraction] | None = None) -> None:
    for f, e, s in zip(found, exact, scale or exact, strict=True):
        assert abs(f - e) <= abs(s) * Fraction(1, 2**bits), (f, e)


def test_sums_and_products_of_doubles():
    rng = np.random.default_rng(41)
    x, y = (np.ldexp(rng.uniform(-2, 2, COUNT), rng.integers(-60, 60, COUNT)) for _ in range(2))
    y[::5] = -x[::5] * (1 + rng.integers(-9, 9, len(x[::5])) * 2.0**-52)
    product, lost = run(lambda b, x, y: dd.two_prod(b, x, y), x, y)
    assert product == [Fraction(a) * Fraction(c) for a, c in zip(x.tolist(), y.tolist(), strict=True)] and np.all(lost <= 0)
    exact = [Fraction(a) + Fraction(c) for a, c in zip(x.tolist(), y.tolist(), strict=True)]
    assert_near(run(lambda b, x, y: dd.two_sum(b, x, y), x, y)[0], exact, 104)
    big, small = np.where(abs(x) >= abs(y), x, y), np.where(abs(x) >= abs(y), y, x)
    assert_near(run(lambda b, x, y: dd.fast_two_sum(b, x, y), big, small)[0], exact, 104)
    zero = np.zeros(COUNT)
    assert_near(run(lambda b, x, y: dd.fast_two_sum(b, x, y), zero, y)[0], fractions((zero, y)), 1000)


BITS = {"dd_mul": 98, "dd_div": 97, "dd_add": 99, "dd_square": 98, "dd_mul_d": 100, "dd_sqrt": 97, "dd_add_d": 99,
        "d_add_dd": 99}


@pytest.mark.always
@pytest.mark.parametrize("name, bits", BITS.items())
def test_bounds(name, bits):
    rng = np.random.default_rng(42)
    x, y = pairs(rng), pairs(rng)
    if name in ("dd_add", "dd_add_d", "d_add_dd"):
        swap = abs(x[0]) < abs(y[0])
        x, y = ([np.where(swap == s, b, a) for a, b in zip(x, y, strict=True)] for s in (True, False))
        far = abs(x[0] + y[0]) >= 2.0**-40 * abs(x[0])
        x = tuple(np.where(far, v, 1.0 if i == 0 else 0.0) for i, v in enumerate(x))
    if "sqrt" in name:
        x = tuple(np.where(x[0] < 0, -v, v) for v in x)
    operation, fx, fy = getattr(dd, name), fractions(x), fractions(y)
    double_x, double_y = [Fraction(v) for v in x[0].tolist()], [Fraction(v) for v in y[0].tolist()]
    scale = None
    if name in ("dd_mul", "dd_div", "dd_add"):
        found = run(lambda b, a, c, d, e: operation(b, (a, c), (d, e)), *x, *y)[0]
        rule = {"dd_mul": Fraction.__mul__, "dd_div": Fraction.__truediv__, "dd_add": Fraction.__add__}[name]
        exact = [rule(a, c) for a, c in zip(fx, fy, strict=True)]
    elif name == "d_add_dd":
        found = run(lambda b, a, c, d, e: operation(b, a, (d, e)), *x, *y)[0]
        exact = [a + c for a, c in zip(double_x, fy, strict=True)]
    elif name.endswith("_d"):
        found = run(lambda b, a, c, d, e: operation(b, (a, c), d), *x, *y)[0]
        rule = {"dd_mul_d": Fraction.__mul__, "dd_add_d": Fraction.__add__}[name]
        exact = [rule(a, c) for a, c in zip(fx, double_y, strict=True)]
    elif name == "dd_square":
        found, exact = run(lambda b, a, c: operation(b, (a, c)), *x)[0], [a * a for a in fx]
    else:
        found = run(lambda b, a, c: operation(b, (a, c)), *x)[0]
        assert_near([f * f for f in found], fx, bits - 1)
        return
    if "add" in name:
        scale = [abs(a) + abs(c) for a, c in zip(double_x, double_y, strict=True)]
    assert_near(found, exact, bits, scale)
