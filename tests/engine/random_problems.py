"""Random small problems whose domains matter: powers of every kind, roots, logarithms, quotients and choices, with variables that
are fixed, or whole numbers, and with constraints. Drawn from a seed, as functions that users could have written."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

SIDES = [(-2.0, 3.0), (0.0, 2.0), (-1.5, 1.5), (0.25, 2.0), (-2.0, -0.5)]
FIXED = [2.0, 3.0, -1.0, 0.5, 0.0]


@dataclass(frozen=True)
class Problem:
    """What `minimize` is given."""

    fun: Callable[[Any], Any]
    bounds: list[tuple[float, float]]
    integrality: list[int]
    constraints: Any = ()

    def settings(self) -> dict[str, Any]:
        whole = {"integrality": self.integrality} if any(self.integrality) else {}
        return {"constraints": self.constraints, **whole}


def _affine(rng: np.random.Generator, n: int) -> Callable:
    i, a, c = int(rng.integers(n)), float(rng.choice([1.0, -1.0, 2.0, 0.5])), float(rng.choice([0.0, 0.0, 1.0, -0.5]))
    return lambda x: a * x[i] + c


def _power(rng: np.random.Generator, n: int) -> Callable:
    base, i, j = _affine(rng, n), int(rng.integers(n)), int(rng.integers(n))
    k = float(rng.choice([2.0, 3.0, -1.0, 1.5, 0.0]))
    kinds = [
        lambda x: base(x) ** x[i], lambda x: base(x) ** k, lambda x: base(x) ** (k + 0 * x[i]),
        lambda x: base(x) ** np.floor(x[i]), lambda x: (base(x) * x[j]) ** x[i], lambda x: np.abs(base(x)) ** x[i],
        lambda x: (-2.0) ** x[i], lambda x: base(x) ** (0.1 * (30 + 0 * x[i])), lambda x: (base(x) ** 2) ** 1.5]
    return kinds[int(rng.integers(len(kinds)))]


def _term(rng: np.random.Generator, n: int) -> Callable:
    u, v = _affine(rng, n), _affine(rng, n)
    kinds = [
        _power(rng, n), _power(rng, n), lambda x: u(x) * np.sqrt(v(x)), lambda x: u(x) * np.log(v(x)),
        lambda x: u(x) / v(x) + v(x) ** 2, lambda x: np.where(u(x) > 0.5, np.sqrt(u(x)), v(x) ** 2),
        lambda x: np.where(u(x) > 0, np.log(u(x)), np.sqrt(-u(x))), lambda x: np.exp(-u(x)) * v(x),
        lambda x: np.sqrt(u(x)) ** 2 + v(x), lambda x: np.exp(np.log(u(x))) - v(x), lambda x: u(x) ** 2 - 3 * u(x),
        lambda x: (np.rint(u(x)) - 0.3) ** 2 * v(x)]
    return kinds[int(rng.integers(len(kinds)))]


def problem(seed: int) -> Problem:
    """The problem of a seed."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 4))
    bounds, integrality = [], []
    for _ in range(n):
        roll = rng.random()
        value = float(rng.choice(FIXED))
        whole = 0.2 < roll < 0.45
        bounds.append((value, value) if roll < 0.2 else (-2.0, 3.0) if whole else SIDES[int(rng.integers(len(SIDES)))])
        integrality.append(int(whole))
    terms = [_term(rng, n) for _ in range(int(rng.integers(1, 4)))]

    def fun(x: Any) -> Any:
        return sum(term(x) for term in terms)
    kind = rng.random()
    if kind < 0.55:
        return Problem(fun, bounds, integrality)
    if kind < 0.8:
        u, c = _term(rng, n), float(rng.choice([0.5, -0.5, 1.0]))
        return Problem(fun, bounds, integrality, lambda x: u(x) >= c)
    # the last variable is f
    return Problem(lambda x: x[n], [*bounds, (-200.0, 200.0)], [*integrality, 0], lambda x: x[n] == fun(x))
