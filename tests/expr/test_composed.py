"""Linear functions composed backward, as expressions: judged in exact fractions.

At a point every line that is asked for is made by hand: through the value there, or below it. Then f is the linear function's
value, or above it, whatever slopes the lines have.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from infimum.expr.build import build, index
from infimum.expr.node import Expr, topological, var
from infimum.ops.vocabulary import OPS
from infimum.relax.backward_composition import CHOICE, CURVE, OPAQUE, PARTS, PRODUCT, BackwardComposition, compose_backward
from infimum.trace.trace import trace
from tests.oracle.walk import POLE, Algebra, elements

CURVES = frozenset({"powi", "abs"})  # those that are rational


class Rational(Algebra):
    """Elements are fractions. `known` are the arrays of all variables by name."""

    def __init__(self, known: dict[str, list[Fraction]]):
        self.known = known
        self.rows = {
            "neg": lambda x: -x, "abs": abs, "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y,
            "div": lambda x, y: x / y if y else POLE, "min": min, "max": max, "floor": lambda x: Fraction(x.__floor__()),
            "sign": lambda x: Fraction((x > 0) - (x < 0)), "lt": lambda x, y: x < y, "le": lambda x, y: x <= y,
        }

    def constant(self, lo: float, hi: float) -> Fraction:
        return Fraction(lo) + (Fraction(hi) - Fraction(lo)) / 3

    def variable(self, position: int) -> Fraction:
        return self.known["x"][position]

    def named(self, name: str, position: int) -> Fraction:
        return self.known[name][position]

    def power(self, x: Fraction, k: int) -> Any:
        return x**k if k >= 0 or x else POLE


W = np.arange(-6, 6).reshape(3, 4) / 4

FUNCTIONS = {
    "layers": (lambda x: np.sum(np.abs(W @ np.maximum(W.T @ x[:3], 0.25 * x[0]) - 1) * [1, -2, 0.5]), 4),
    "hinges": (lambda x: np.sum(np.minimum(x[1:] * 2, x[:-1]) - np.maximum(x[1:], -x[:-1])) ** 3, 4),
    "hinges of one number": (lambda x: np.minimum(x[0], 2 * x[1] + x[0]) + np.maximum(x[0] * x[1], x[0]), 2),
    "stencil": (lambda x: np.sum((x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2) / 3, 5),
    "products": (lambda x: np.sum(x[::2] * x[1::2]) * x[0] - np.prod(x[1:]) + (x @ np.arange(16.0).reshape(4, 4)) @ x, 4),
    "quotients": (lambda x: x[0] / (x[1] ** 2 + 1) - np.sum(x) / (3 + x[2]) + 1 / x[0], 3),
    "running": (lambda x: np.sum(np.cumsum(x**2)[::-1] * np.array([1, -1, 2, 0.5])) + np.cumsum(x * x[::-1])[2], 4),
    "opaque": (lambda x: np.sum(np.floor(x) * x) + np.max(x * x) - np.sum(np.where(x > 0, x, x**2)) + np.sum(np.sign(x)), 3),
    "choices": (lambda x: np.sum(np.where(x > 0, x**2 - x[0], np.where(x[::-1] * x < 1, 3 * x, -1.0)))
                - np.where(x[1] < x[2], x[1], 2.0), 3),
    "views": (lambda x: np.sum(np.stack([x, x[::-1] ** 2]).T[[0, 2, 2, 1]] * np.arange(8.0).reshape(4, 2)), 3),
    "constants": (lambda x: np.sum(2.5 - x) + 7, 3),
    "cancel": (lambda x: (x[0] * x[1] + x[2]) - x[0] * x[1], 3),
}


def made(composed: BackwardComposition, x: list[Fraction], rng: np.random.Generator, room: int) -> dict[str, list[Fraction]]:
    """All that is needed, valid at x; lines keep up to `room` away from the values."""
    known, algebra = {"x": x}, Rational({"x": x})

    def some() -> Fraction:
        return Fraction(int(rng.integers(-12, 13)), int(rng.integers(1, 9)))
    for need in composed.needs.values():
        y, *args = (elements(node, algebra).reshape(-1) for node in (need.node, *need.node.args))
        rows = []
        for k, value in enumerate(y):
            if need.kind == CURVE:
                op = need.curve[0]
                u = args[0][k] - args[1][k] if op == "relu" else args[0][k]
                value = max(u, Fraction(0)) if op == "relu" else value
                s, t = some(), some()
                rows.append((s, value - s * u - room * abs(some()), t, value - t * u + room * abs(some())))
            elif need.kind == PRODUCT:
                alpha, beta = some(), some()
                rows.append((alpha, beta, (args[0][k] - beta) * (args[1][k] - alpha)))
            elif need.kind == CHOICE:  # decided, or not
                chosen = Fraction(bool(args[0][k])), Fraction(not args[0][k]), Fraction(0)
                rows.append(chosen if rng.integers(2) else (Fraction(0), Fraction(0), value))
            else:
                rows.append((value,))
        assert len(need.names) == len(PARTS[need.kind])
        known |= dict(zip(need.names, (list(column) for column in zip(*rows, strict=True)), strict=True))
    return known


@pytest.mark.parametrize("room", (0, 1))
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_function_is_never_below(name, room):
    """Equal where lines go through the values: all shares are counted, none twice."""
    fun, n = FUNCTIONS[name]
    f, rng, strict = trace(fun, n), np.random.default_rng(len(name)), 0
    composed = BackwardComposition(f, var("x", (n,)), CURVES)
    for _ in range(8):
        x = [Fraction(int(v), 16) for v in rng.integers(-40, 41, n)]
        value = elements(f, Rational({"x": x})).item()
        if value is POLE:
            continue
        known = Rational(made(composed, x, rng, room))
        slopes, rest = elements(composed.slopes, known).reshape(-1), elements(composed.rest, known).item()
        line = sum((s * v for s, v in zip(slopes, x, strict=True)), rest)
        assert value == line if room == 0 else value >= line
        strict += value > line
    kinds = {need.kind for need in composed.needs.values()}
    assert strict or room == 0 or CURVE not in kinds


def test_every_kind_is_needed():
    composed = (BackwardComposition(trace(fun, n), var("x", (n,)), CURVES) for fun, n in FUNCTIONS.values())
    found = {need.kind for each in composed for need in each.needs.values()}
    assert found == {CURVE, PRODUCT, CHOICE, OPAQUE}


def test_an_argument_may_come_twice():
    """logaddexp(u, u) is log 2 + u; NumPy's maximum of a number and itself is simplified away, this is not."""
    u = index(var("x", (1,)), 0)
    composed = BackwardComposition(build("logaddexp", u, u), var("x", (1,)), CURVES)
    (need,) = composed.needs.values()
    names = need.names
    known = {"x": [Fraction(3)], **{name: [Fraction(v)] for name, v in zip(names, (1, 2, 1, 2), strict=True)}}
    assert elements(composed.slopes, Rational(known)).item() == 1
    assert elements(composed.rest, Rational(known)).item() == 2


def ops(f: Expr) -> set[str]:
    return {node.op for node in topological([f])}


def test_taken_apart():
    x = var("x", (3,))

    def apart(fun) -> set[str]:
        return ops(compose_backward(trace(fun, 3), x))
    assert "expit" in apart(lambda x: 1 / (1 + np.exp(-x[0]))) and "exp" not in apart(lambda x: x[1] / (1 + np.exp(-x[0])))
    assert "expit" in apart(lambda x: np.sum((np.exp(x) + 1) ** -2))
    assert "expit" not in apart(lambda x: 1 / (2 + np.exp(x[0]))) | apart(lambda x: 1 + np.exp(x[0]))
    assert "div" not in apart(lambda x: x[0] / x[1]) and "div" in apart(lambda x: x[0] / 3)
    assert "norm" not in apart(np.linalg.norm) and {"sqrt", "powi"} <= apart(np.linalg.norm)
    assert "prod" not in apart(np.prod) and "mul" in apart(np.prod)
    assert "prod" in ops(compose_backward(trace(np.prod, 40), var("x", (40,))))  # too many factors


def test_curves_that_are_not_asked_for_are_opaque():
    composed = BackwardComposition(trace(lambda x: np.tanh(x[0]) + x[1] ** 2, 2), var("x", (2,)), frozenset({"powi"}))
    assert [(need.kind, need.node.op) for need in composed.needs.values()].count((OPAQUE, "tanh")) == 1
    assert all(op in OPS for op in CURVES)
