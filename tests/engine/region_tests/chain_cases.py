"""Random sums over chains, trees, rings and bands whose minimisers are known exactly.

Every term is nowhere negative and 0 at one point `at`, whose coordinates are dyadic, so that slices are often cut right there. To
some terms a function is added that others subtract: as real numbers nothing changes, but no single term has its minimum at `at`.
So the minimum of f is 0, and `at` is a minimiser, on faces, at kinks, at jumps, at edges of the domain, on curves.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

INF = np.inf

# functions of the distances d of up to three variables from where they shall be, and of the place a; none is negative
PAIRS: list[Callable] = [
    lambda d, a: d[0] ** 2 + d[-1] ** 2,
    lambda d, a: np.abs(d[0]) + d[-1] ** 2 * 3,
    lambda d, a: np.abs(d[0] - 2 * d[-1]) * 0.3,
    lambda d, a: (d[0] * d[-1]) ** 2,
    lambda d, a: ((d[0] + a[0]) * (d[-1] + a[-1]) - a[0] * a[-1]) ** 2,
    lambda d, a: np.maximum(np.maximum(d[0], -d[-1]), 0),
    lambda d, a: np.maximum(np.abs(d[0]) - 0.25, 0) + np.maximum(d[-1] ** 2 - 0.125, 0),
    lambda d, a: 1 - np.cos(3 * d[0] + d[-1]),
    lambda d, a: 1 - np.cos(5 * d[0] * d[-1]),
    lambda d, a: np.floor(3 * d[0] ** 2) + np.abs(d[-1]),
    lambda d, a: np.where(d[0] < 0, 1 - d[-1] / 8, d[0]),
    lambda d, a: np.where(d[0] <= d[-1], (d[0] - d[-1]) ** 2, 2.0),
    lambda d, a: np.where(np.log(d[0] + 1) < 0.5, d[0] ** 2, 0.25 + d[-1] ** 2),
    lambda d, a: np.where(np.sqrt(d[0] - d[-1]) < 0.5, np.abs(d[0]), d[-1] ** 2),
    lambda d, a: np.sqrt(np.abs(d[0])) + d[-1] ** 2,
    lambda d, a: np.sqrt(d[0]) + np.abs(d[-1]),
    lambda d, a: np.sqrt(d[0] - d[-1]),
    lambda d, a: np.sqrt(d[0] ** 2 + d[-1] ** 2),
    lambda d, a: np.sqrt(1 + d[0]) * (d[-1] ** 2),
    lambda d, a: np.log(1 + d[0] ** 2) + np.log(1 + np.abs(d[-1])),
    lambda d, a: np.hypot(d[0], d[-1]),
    lambda d, a: np.abs(d[0]) ** 1.5 + np.cbrt(np.abs(d[-1])),
    lambda d, a: d[0] ** 4 + (d[0] * d[-1]) ** 4,
    lambda d, a: np.expm1(d[0] ** 2) / (1 + d[-1] ** 2),
    lambda d, a: d[0] ** 2 / np.abs(d[0] - d[-1] - 1),
    lambda d, a: (np.exp(d[0]) - np.exp(d[-1])) ** 2,
    lambda d, a: np.abs(np.sin(3 * d[0])) * np.abs(np.sin(2 * d[-1] + 1)),
    lambda d, a: np.abs(np.sign(d[0])) + d[-1] ** 2,
    lambda d, a: np.max(np.stack([*d, *[-v for v in d]])),
    lambda d, a: np.linalg.norm(np.stack(d)),
    lambda d, a: (sum(d)) ** 2,
    lambda d, a: np.arctan(d[0] ** 2) + np.tanh(d[-1]) ** 2,
    lambda d, a: 0 * d[0] * d[-1],
]
COUPLED = (2, 3, 4, 5, 7, 8, 10, 11, 12, 13, 16, 17, 18, 20, 22, 23, 24, 25, 26, 28, 29, 30)  # those that are no sums of others
SHIFTED: list[Callable] = [
    lambda x: x, lambda x: -3 * x, lambda x: np.sin(2 * x), lambda x: np.exp(x) / 4, lambda x: x * np.abs(x),
    lambda x: 7.5 * x**2, lambda x: np.abs(x + 0.3), lambda x: np.floor(x), lambda x: x**3 / 3,
]
STRUCTURES: dict[str, Callable[[int, np.random.Generator], list[tuple[int, ...]]]] = {
    "chain": lambda n, rng: [(i, i + 1) for i in range(n - 1)],
    "ring": lambda n, rng: [(i, (i + 1) % n) for i in range(n)],
    "star": lambda n, rng: [(0, i) for i in range(1, n)],
    "tree": lambda n, rng: [(int(rng.integers(i)), i) for i in range(1, n)],
    "band": lambda n, rng: [(i, i + 1, i + 2) for i in range(n - 2)],
    "fan": lambda n, rng: [(0, i, i + 1) for i in range(1, n - 1)],
    "book": lambda n, rng: [(0, 1, i) for i in range(2, n)],
    "pairs": lambda n, rng: [(i, i + 1) for i in range(0, n - 1, 2)],
    "triples": lambda n, rng: [(i, i + 1, i + 2) for i in range(0, n - 2, 3)],
    "pieces": lambda n, rng: [(i, i + 1) for i in range(n - 1) if i % 3 != 2],
}


@dataclass(slots=True)
class Case:
    """f on the user's bounds [low, high], a part [lo, hi] of them to look at, and a minimiser in it."""

    f: Callable
    low: np.ndarray
    high: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    at: np.ndarray
    text: str


def case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    n, name = int(rng.integers(3, 7)), str(rng.choice(list(STRUCTURES)))
    scopes = STRUCTURES[name](n, rng)
    new = rng.permutation(n)
    scopes = [tuple(int(v) for v in rng.permutation(new[list(scope)])) for scope in scopes]
    at = rng.integers(-8, 9, n) / 8 * float(rng.choice((1, 1, 1, 2.0**-6, 8)))
    low, high = at - rng.integers(0, 17, n) / 8, at + rng.integers(0, 17, n) / 8
    for v in range(n):
        match rng.integers(6):
            case 0:
                low[v] = at[v]
            case 1:
                high[v] = at[v]
            case 2:
                low[v] -= rng.random()
    inside = rng.random(n) < 0.2
    lo = np.minimum(np.where(inside, low + (at - low) * rng.integers(0, 3, n) / 2, low), at)
    hi = np.maximum(np.where(inside, at + (high - at) / 2, high), at)
    few = [int(rng.choice(COUPLED)), *rng.integers(len(PAIRS), size=rng.integers(0, 3))]  # several terms of one form
    chosen = [(scope, int(rng.choice(few))) for scope in scopes]
    faces = [(v, float(rng.integers(1, 4))) for v in range(n) if rng.random() < 0.3 and at[v] in (low[v], high[v])]
    shifts = []
    for v in range(n):
        holding = [k for k, scope in enumerate(scopes) if v in scope]
        if len(holding) > 1 and rng.random() < 0.6:
            plus, minus = rng.choice(holding, size=2, replace=False)
            shifts.append((v, int(plus), int(minus), int(rng.integers(len(SHIFTED)))))
    factor = float(rng.choice((1, 1, 2, 0.3, 1e-3, 1e3)))

    def f(x):
        terms = [PAIRS[k]([x[v] - at[v] for v in scope], [at[v] for v in scope]) for scope, k in chosen]
        for v, plus, minus, k in shifts:
            terms[plus] = terms[plus] + SHIFTED[k](x[v])
            terms[minus] = terms[minus] - SHIFTED[k](x[v])
        for v, slope in faces:
            terms.append(slope * (x[v] - at[v] if at[v] == low[v] else at[v] - x[v]))
        return factor * sum(terms)
    text = f"case({seed}): {name} of {n}, terms {chosen}, shifts {shifts}, faces {faces}, times {factor}, at {at.tolist()}, " \
        f"bounds {list(zip(low.tolist(), high.tolist(), strict=True))}, box {list(zip(lo.tolist(), hi.tolist(), strict=True))}"
    return Case(f, low, high, lo, hi, at, text)
