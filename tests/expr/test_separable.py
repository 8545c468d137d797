"""Residuals by their linear parameters: which these are, and that the sum of the columns is what it was, where it was defined."""

from itertools import product

import numpy as np
import pytest
from flint import arb

import infimum
from infimum.expr.build import build, substituted
from infimum.expr.node import Expr, const, var
from infimum.structure.separable_residuals import SeparableResiduals, residual_vector, separable
from infimum.trace.trace import trace
from tests.expr.separable_models import random_model, random_residuals, sum_of_squares
from tests.oracle.arb_series import along
from tests.oracle.arb_values import Balls, precision
from tests.oracle.walk import UNDECIDED, Special, elements

T = np.arange(1, 9) / 4
ONES = np.ones_like(T)


def parts_of(f, n: int) -> SeparableResiduals | None:
    e = residual_vector(trace(f, n, ()))
    return None if e is None else separable(e, var("x", (n,)))


@pytest.mark.parametrize(("model", "n", "products", "nonlinear"), [
    (lambda x: x[0] * (1 - np.exp(-x[1] * T)), 2, {(0,)}, {1}),
    (lambda x: x[0] + x[1] * T, 2, {(0,), (1,)}, set()),
    (lambda x: x[0] * (T + x[1]) / (1 + x[2] * T), 3, {(0,), (0, 1)}, {2}),                # products of parameters
    (lambda x: (x[0] + x[1]) * (T + x[2] * x[3]), 4, {(0,), (1,), (0, 2, 3), (1, 2, 3)}, set()),
    (lambda x: x[0] * x[1] / x[2] + T, 3, {(0, 1)}, {2}),                                   # what is divided by is not linear
    (lambda x: x[0] * T / (x[0] + x[1]), 2, None, None),
    (lambda x: x[0] * x[0] + x[1] * T, 2, {(1,)}, {0}),                                     # nor what is squared
    (lambda x: x[0] * np.abs(x[1] - T) + np.maximum(x[2], T), 3, {(0,)}, {1, 2}),
    (lambda x: np.where(x[0] > T, x[1], x[1] * T), 2, None, None),                          # nor what is chosen
    (lambda x: -x[0] * np.cos(x[1] * T) - x[2] + x[3] * ONES / 3, 4, {(0,), (2,), (3,)}, {1}),
    (lambda x: infimum.pi * x[0] * np.sin(x[1] * T), 2, {(0,)}, {1}),
    (lambda x: x[0] * np.float32(0.1) * np.exp(-x[1] * T.astype(np.float32)), 2, {(0,)}, {1}),
    (lambda x: np.exp(-x[0] * T), 1, None, None),                                           # nothing is linear
    (lambda x: x[0] * T + 0 * np.sum(x), 2, None, None),                                    # a sum within each residual
    (lambda x: x[0] * T, 2, None, None),                                                    # a variable that has no part in it
    (lambda x: x @ np.stack([T, ONES]), 2, None, None),
    (lambda x: np.concatenate([x[0] * T, x[1] * np.exp(-x[0] * T)]), 2, {(1,)}, {0}),
])
def test_which_parameters_are_linear(model, n, products, nonlinear):
    found = parts_of(lambda x: np.sum((model(x) - np.resize(T**2, model(np.ones(n)).shape)) ** 2), n)
    if products is None:
        assert found is None
    else:
        assert set(found.products) == products and set(found.nonlinear) == nonlinear


def test_columns_share_functions():
    found = parts_of(lambda x: np.sum(((x[0] + x[1] * T + x[2] * T**2) / (1 + x[3] * T) - T) ** 2), 4)
    assert len(found.functions) == 1 and len(found.columns) == 3 and len(found.multiplied) == 3
    found = parts_of(lambda x: np.sum((x[0] * np.exp(-x[2] * T) + x[1] * np.exp(-x[3] * T) - T) ** 2), 4)
    assert len(found.functions) == 2 and found.multiplied == () and [len(f.members) for f in found.families] == [2]


def test_many_products_are_fewer_than_all():
    """Six parameters in 32 products: some of them are taken for nonlinear ones."""
    found = parts_of(lambda x: np.sum(((x[0] + T) * (x[1] + T) * (x[2] + T) * (x[3] + T) * (x[4] + T) * x[5] - T) ** 2), 6)
    assert 0 < len(found.products) <= 10 and found.nonlinear


# ---- values
def values(e: Expr, point: np.ndarray) -> np.ndarray:
    return elements(e, Balls(point))


def summed(parts: SeparableResiduals, point: np.ndarray, multiplied: bool = False) -> np.ndarray:
    """rest + Σ data f κ, each row a ball or special."""
    rest, *functions = parts.multiplied[1:] if multiplied else (parts.rest, *parts.functions)
    total = list(values(rest, point))
    for (data, place), variables in zip(parts.columns, parts.products, strict=True):
        column = values(functions[place], point)
        factors = [arb(1)] * len(total) if data is None else values(data, point)
        kappa = np.prod([arb(float(point[i])) for i in variables])
        for i, row in enumerate(zip(column, factors, strict=True)):
            special = next((v for v in (total[i], *row) if isinstance(v, Special)), None)
            total[i] = total[i] + row[0] * row[1] * kappa if special is None else special
    return total


def random_parts(seed: int) -> tuple[Expr, SeparableResiduals | None, int]:
    """What the residuals mean, and their parts."""
    rng = np.random.default_rng(seed)
    if seed % 2:
        f, n = random_model(rng)
        e = residual_vector(trace(f, n, ()))
        return e, None if e is None else separable(e, var("x", (n,))), n
    e, n = random_residuals(rng)
    built = residual_vector(sum_of_squares(e)[0])
    return e.meant, None if built is None else separable(built, var("x", (n,))), n


@pytest.mark.parametrize("first", range(0, 120, 30))
def test_the_columns_add_up_to_the_residuals(first):
    """Where one is defined the other is, element by element, and there they are equal; multiplied by a denominator too."""
    counts = {"same": 0, "undefined": 0, "multiplied": 0}
    for seed in range(first, first + 30):
        e, parts, n = random_parts(seed)
        if parts is None:
            continue
        assert not any(i in parts.nonlinear for m in parts.products for i in m)
        for point in points(seed, n):
            with precision(700):
                meant, found = values(e, point), summed(parts, point)
                denominators = values(parts.multiplied[0], point) if parts.multiplied else ()
                times = zip(denominators, summed(parts, point, True), strict=True) if parts.multiplied else ()
                for one, other in zip(meant, found, strict=True):
                    if one is UNDECIDED or other is UNDECIDED:
                        continue
                    assert isinstance(one, Special) == isinstance(other, Special), (seed, point, one, other)
                    counts["undefined" if isinstance(one, Special) else "same"] += 1
                    assert isinstance(one, Special) or one.overlaps(other), (seed, point, one, other)
                for one, (denominator, row) in zip(meant, times, strict=False):
                    if not any(isinstance(v, Special) for v in (one, denominator, row)):
                        counts["multiplied"] += 1
                        assert (one * denominator).overlaps(row), (seed, point)
    assert counts["same"] > 100 and counts["undefined"] and (counts["multiplied"] or first), counts


def points(seed: int, n: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.uniform(-2, 3, (4, n)), rng.choice((0.0, 1.0, -0.5, 2.0), (4, n))])


def test_families_are_their_members_and_have_their_derivatives():
    counted = 0
    for seed in range(1, 160, 2):
        _, parts, n = random_parts(seed)
        for family in () if parts is None else parts.families:
            functions = [parts.functions[place] for place, _ in family.members]
            for point, (function, (_, i)) in product(points(seed, n)[:3], zip(functions, family.members, strict=True)):
                if family.inverse and point[i] not in (0.5, 1.0, -0.5, 2.0):
                    point[i] = 0.5  # its inverse is a double
                counted += same_function(function, point, family.derivatives, 1 / point[i] if family.inverse else point[i])
    assert counted > 50


def same_function(function: Expr, point: np.ndarray, derivatives: tuple[Expr, ...], u: float) -> bool:
    with precision(700):
        for one, other in zip(values(function, point), values(derivatives[0], [u]), strict=True):
            if isinstance(one, Special):
                return False
            assert one.overlaps(other)
        weights = const(np.arange(1.0, 1.0 + function.size))
        for g, slope in zip(derivatives, derivatives[1:], strict=False):
            g, slope = (build("sum", build("mul", v, weights), axes=(0,)) for v in (g, slope))
            jet, found = along(g, [u], [1.0], 700, 0.5), values(slope, [u])[()]
            if isinstance(jet, Special) or isinstance(found, Special) or jet.kinked or jet.s.prec < 2:
                return False
            assert jet.s[1].overlaps(found)
    return True


def test_gauges_take_a_factor_away():
    found = parts_of(lambda x: np.sum((x[0] * np.exp(-x[1] * T) + x[2] * np.exp(x[3] / (T + x[4])) - T) ** 2), 5)
    assert [place for place, _ in found.gauges] == [0, 1]
    for point, (place, gauge), g in product(points(0, 5), found.gauges, (0.0, 30.0, -400.0)):
        with precision(700):
            less = values(substituted(gauge.function, {var(gauge.name, ()): const(g)}), point)
            for one, other in zip(less, values(found.functions[place], point), strict=True):
                assert isinstance(one, Special) == isinstance(other, Special)
                assert isinstance(one, Special) or (one * arb(g).exp()).overlaps(other)
