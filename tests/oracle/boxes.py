"""Boxes that are hard to get right, and points of boxes."""

from collections.abc import Callable

import numpy as np

MAX = float(np.finfo(float).max)
TINY = 5e-324
Side = tuple[float, float]


def _near(rng: np.random.Generator, centre: float) -> Side:
    """A short interval at a double: on it, beside it, or one ulp wide."""
    steps = rng.integers(0, 4, size=2)
    lo = hi = centre
    for _ in range(steps[0]):
        lo = np.nextafter(lo, -np.inf)
    for _ in range(steps[1]):
        hi = np.nextafter(hi, np.inf)
    if rng.random() < 0.3:  # beside, not around
        shift = rng.choice((-1.0, 1.0)) * abs(centre) * 2.0**-40
        lo, hi = lo + shift, hi + shift
    return float(lo), float(hi)


def _point(rng: np.random.Generator) -> Side:
    x = float(rng.choice((0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 3.0, rng.normal(), rng.normal() * 100)))
    return x, x


def _ulp(rng: np.random.Generator) -> Side:
    x = float(rng.normal() * 10.0 ** rng.integers(-3, 4))
    return x, float(np.nextafter(x, np.inf))


def _narrow(rng: np.random.Generator) -> Side:
    x = float(rng.normal() * 3)
    return x, x + 10.0 ** rng.uniform(-16, -1)


def _wide(rng: np.random.Generator) -> Side:
    a, b = np.sort(rng.normal(size=2) * 10.0 ** rng.uniform(-2, 2))
    return float(a), float(b)


def _at_zero(rng: np.random.Generator) -> Side:
    a = float(10.0 ** rng.uniform(-5, 3))
    return ((0.0, a), (-a, 0.0), (-0.0, a), (-a, -0.0), (-a, a), (0.0, TINY), (-TINY, 0.0), (0.0, 0.0))[rng.integers(8)]


def _at_edge(rng: np.random.Generator) -> Side:
    """Ends at +-1, where arcsin, arccos, arccosh, arctanh and log1p end, and at integers, where floor jumps."""
    edge = float(rng.choice((1.0, -1.0, 2.0, -3.0, 0.5)))
    a = float(10.0 ** rng.uniform(-8, 0))
    return ((edge, edge + a), (edge - a, edge), _near(rng, edge), (edge - a, edge + a), (-1.0, 1.0))[rng.integers(5)]


def _unbounded(rng: np.random.Generator) -> Side:
    a = float(rng.choice((0.0, 1.0, -1.0, rng.normal() * 5, 1e300)))
    return ((a, np.inf), (-np.inf, a), (-np.inf, np.inf))[rng.integers(3)]


def _subnormal(rng: np.random.Generator) -> Side:
    a, b = np.sort(rng.integers(-20, 20, size=2) * TINY * 10.0 ** rng.integers(0, 12))
    return float(a), float(b)


def _huge(rng: np.random.Generator) -> Side:
    a = float(10.0 ** rng.uniform(150, 308))
    return ((a, MAX), (-MAX, a), (a, a * 1.5 if a < 1e308 else a), (-a, a), (MAX, MAX), _near(rng, 1e300))[rng.integers(6)]


def _at_extremum(rng: np.random.Generator) -> Side:
    """Beside a multiple of pi/2 of the size of 1e5, 1e9 or 1e15: extrema of sin and cos, poles of tan."""
    size = float(rng.choice((1.0, 10.0, 1e5, 1e9, 1e15))) * rng.uniform(1, 5)
    k = np.floor(size / (np.pi / 2))
    return _near(rng, float(rng.choice((-1.0, 1.0)) * k * (np.pi / 2)))


STYLES: dict[str, tuple[float, Callable[[np.random.Generator], Side]]] = {
    "point": (1, _point), "one ulp": (1, _ulp), "narrow": (3, _narrow), "wide": (4, _wide), "at zero": (2, _at_zero),
    "at an edge": (1.5, _at_edge), "unbounded": (1, _unbounded), "subnormal": (0.7, _subnormal), "huge": (0.7, _huge),
    "at an extremum": (1, _at_extremum),
}
_NAMES = tuple(STYLES)
_WEIGHTS = np.array([w for w, _ in STYLES.values()])
_WEIGHTS /= _WEIGHTS.sum()


def random_boxes(rng: np.random.Generator, n: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """lo and hi of shape (n, count): some of one style throughout, most mixed; a few empty."""
    lo, hi = np.empty((n, count)), np.empty((n, count))
    for k in range(count):
        if rng.random() < 0.5:
            styles = [_NAMES[rng.choice(len(_NAMES), p=_WEIGHTS)]] * n
        else:
            styles = [_NAMES[i] for i in rng.choice(len(_NAMES), p=_WEIGHTS, size=n)]
        for i, style in enumerate(styles):
            lo[i, k], hi[i, k] = STYLES[style][1](rng)
        if rng.random() < 0.02:
            i = rng.integers(n)
            lo[i, k], hi[i, k] = rng.choice((1.0, np.inf, 2.0)), rng.choice((0.0, -np.inf))
    return lo, hi


def coordinates(rng: np.random.Generator, lo: float, hi: float) -> list[float]:
    """Finite doubles of one side: the ends and their neighbours, zeros, large ones where it is unbounded, random ones."""
    a, b = max(lo, -MAX), min(hi, MAX)
    found = [a, b, float(np.nextafter(a, b)), float(np.nextafter(b, a))]
    found += [v for v in (0.0, -0.0, 1.0, -1.0, 1e-300, 1e5, -1e9, 1e300) if lo <= v <= hi]
    with np.errstate(over="ignore"):
        span = b - a
    found += [min(max(a + t * span, a), b) for t in (0.5, rng.random(), rng.random())] if span < np.inf else [a / 2 + b / 2]
    found += [min(max(v, a), b) for v in (rng.normal(), 100 * rng.normal())]
    return found


def points_of(rng: np.random.Generator, lo: np.ndarray, hi: np.ndarray, count: int) -> np.ndarray:
    """Up to `count` points of a box, as rows; every second one differs from the one before in a single coordinate."""
    if not (lo <= hi).all():
        return np.empty((0, len(lo)))
    sides = [coordinates(rng, float(a), float(b)) for a, b in zip(lo, hi, strict=True)]
    rows = []
    while len(rows) < count:
        point = [side[rng.integers(len(side))] for side in sides]
        rows.append(list(point))
        if len(rows) < count:
            i = rng.integers(len(lo))
            point[i] = sides[i][rng.integers(len(sides[i]))]
            rows.append(point)
    return np.unique(np.array(rows), axis=0) if np.array_equal(lo, hi) else np.array(rows)
