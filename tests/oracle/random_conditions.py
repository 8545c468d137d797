"""Random functions that choose by conditions whose operands are undefined somewhere: plain NumPy code, to be run by NumPy itself.

Points and constants are multiples of a quarter, so that edges and poles are met exactly, and so that operands that are not equal
differ by far more than NumPy's roundings: which branch NumPy chooses is then beyond doubt.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

GRID = np.arange(-12, 13) / 4
Function = Callable[[Any], Any]

# operands with an edge, where NumPy has NaN beyond
_EDGES: tuple[Function, ...] = (
    np.sqrt, lambda x: np.sqrt(x) + 1, np.arcsin, np.arccos, np.arccosh, lambda x: np.sqrt(x - 1) * 0, lambda x: -np.sqrt(1 - x),
    lambda x: np.floor(np.sqrt(x)), lambda x: np.sign(np.arcsin(x)), lambda x: np.maximum(np.sqrt(x), 1), lambda x: x**1.5,
    lambda x: np.heaviside(np.sqrt(x), 0.5), lambda x: np.clip(np.sqrt(x), 0.25, 1), lambda x: np.trunc(np.sqrt(x) * 1.5),
    lambda x: np.linalg.norm(np.stack([np.sqrt(x), x]), axis=0), lambda x: np.max(np.stack([x, np.sqrt(x)]), axis=0))
# operands at whose poles NumPy goes on, with an infinity or with what became of one
_POLES: tuple[Function, ...] = (
    np.log, np.log2, np.log1p, np.arctanh, lambda x: 1 / x, lambda x: x**-2, lambda x: np.exp(-(x**-2.0)), lambda x: x**-1 + 1,
    lambda x: np.arctan(1 / x), lambda x: np.sqrt(x) ** 0, lambda x: np.exp(np.log(x)), lambda x: np.tanh(np.log(x)),
    lambda x: np.minimum(1 / x, 1), lambda x: 1 / np.log(x), lambda x: np.heaviside(1 / x, 0.5))
_PAIRS: tuple[Callable[[Any, Any], Any], ...] = (
    lambda x, y: x / y, lambda x, y: np.arctan2(x, y), lambda x, y: np.sqrt(x * y), lambda x, y: np.hypot(np.sqrt(x), 1 / y),
    lambda x, y: np.sqrt(x) - np.log(y), lambda x, y: np.where(x > y, np.sqrt(x), 1 / y), lambda x, y: np.sqrt(x) * np.sqrt(y),
    lambda x, y: np.abs(x) ** y, lambda x, y: np.sum(np.sqrt(np.stack([x, y])), axis=0),
    lambda x, y: np.min(1 / np.stack([x, y]), axis=0))
_COMPARISONS = (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)


class Conditions:
    """Draws them. A function takes a pair x, of numbers or of arrays: then it is applied element by element."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)

    def pick(self, items: Any) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def operand(self) -> Function:
        i, kind = int(self.rng.integers(2)), self.rng.random()
        if kind < 0.15:
            return lambda x: x[i]
        if kind < 0.75:
            f = self.pick(_EDGES if kind < 0.5 else _POLES)
            return lambda x: f(x[i])
        pair = self.pick(_PAIRS)
        return lambda x: pair(x[i], x[1 - i])

    def comparison(self) -> Function:
        compare, left = self.pick(_COMPARISONS), self.operand()
        if self.rng.random() < 0.7:
            c = float(self.pick(GRID))
            return (lambda x: compare(left(x), c)) if self.rng.random() < 0.7 else (lambda x: compare(c, left(x)))
        right = self.operand()
        return lambda x: compare(left(x), right(x))

    def condition(self, depth: int = 2) -> Function:
        kind = self.rng.random()
        if depth == 0 or kind < 0.4:
            return self.comparison()
        if kind < 0.55:
            inner = self.condition(depth - 1)
            return lambda x: ~inner(x)
        if kind < 0.6:
            number = self.operand()
            return lambda x: np.logical_not(number(x))
        join = self.pick((np.logical_and, np.logical_or, np.logical_xor))
        p, q = self.condition(depth - 1), self.condition(depth - 1)
        return lambda x: join(p(x), q(x))

    def branch(self) -> Function:
        c, i = float(self.pick(GRID)), int(self.rng.integers(2))
        return self.pick((lambda x: c, lambda x: x[i] + c, lambda x: x[i] * x[1 - i], lambda x: np.sqrt(x[i]) - 4))

    def function(self) -> Function:
        """A choice, or what is made of several."""
        test, yes, no = self.condition(), self.branch(), self.branch()
        kind = self.rng.random()
        if kind < 0.7:
            return lambda x: np.where(test(x), yes(x), no(x))
        if kind < 0.85:
            return lambda x: 1.0 * test(x) + no(x)
        other = self.condition(1)
        return lambda x: np.select([test(x), other(x)], [yes(x), 2.0], no(x))


def chain(f: Function) -> Function:
    """The sum of f over neighbouring variables."""
    return lambda x: np.sum(f((x[:-1], x[1:])) + 0.0 * x[1:])


def by_numpy(f: Function, points: np.ndarray) -> np.ndarray:
    """What NumPy computes at the points, the columns."""
    with np.errstate(all="ignore"):
        return np.array([float(f(p)) for p in points.T])
