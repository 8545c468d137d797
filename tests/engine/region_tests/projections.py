"""What variable projection says of regions, held against the linear fit in Arb at points of them."""

from collections import Counter
from collections.abc import Callable

import numpy as np
from flint import arb, arb_mat

import infimum
from infimum.bounds.interface import Outcome, StepContext
from infimum.bounds.least_squares.variable_projection import VariableProjection
from infimum.evaluation.evaluator import Evaluator
from infimum.kernel.region_cut import DISCARDED_AXIS, NO_AXIS, rows
from infimum.search.region_pool import Regions, can_be_cut
from tests.oracle.arb_values import Balls, precision
from tests.oracle.check import position
from tests.oracle.walk import Special, elements

INF = np.inf
BITS = 500
WIDE = (-1e6, 1e6)
T = np.arange(1, 13) / 8
Y = np.array([3, 5, 2, 4, 1, 0, 2, -1, 0, 1, -2, 1]) / 4


def decay(x):
    return np.sum((x[0] * np.exp(-x[1] * T) + x[2] - Y) ** 2)


def poles(x):
    return np.sum(((x[2] + x[3] * T) / (1 + x[0] * T + x[1] * T**2) - Y) ** 2)


def equal(x):
    """Functions that become equal."""
    return np.sum((x[2] * np.exp(-x[0] * T) + x[3] * np.exp(-x[1] * T) - Y) ** 2)


def regions_of(evaluator: Evaluator, boxes: list) -> np.ndarray:
    """Boxes, lists of sides, as columns."""
    lo, hi = (np.ascontiguousarray(np.array([[side[k] for side in box] for box in boxes], dtype=float).T) for k in (0, 1))
    cut = can_be_cut(lo, hi)
    axis = np.where(cut.any(axis=0), np.argmax(cut, axis=0), NO_AXIS).astype(np.int32)
    return Regions(lo, hi, np.full(len(boxes), -INF), axis, evaluator.value(lo, hi).level.astype(np.int8)).columns()


def asked(f: "Callable | Evaluator", user: list, boxes: list, upper: float = INF, backend: object = None) -> Outcome:
    """What the part says of the boxes within the user's bounds."""
    evaluator = f if isinstance(f, Evaluator) else infimum.compile(f, len(user), backend=backend)
    assert VariableProjection.applies(evaluator)
    return VariableProjection(evaluator, *np.array(user, dtype=float).T).test(regions_of(evaluator, boxes), StepContext(upper))


def lower(outcome: Outcome) -> np.ndarray:
    return outcome.regions[rows((len(outcome.regions) - 3) // 2)[0]]


def is_gone(outcome: Outcome) -> np.ndarray:
    return outcome.regions[rows((len(outcome.regions) - 3) // 2)[1]] == DISCARDED_AXIS


class Fits:
    """Linear fits of a sum of squares at given nonlinear parameters."""

    def __init__(self, evaluator: Evaluator):
        self.evaluator, self.parts, self.n = evaluator, evaluator.facts.separable, evaluator.n
        self.known: dict[tuple, tuple | None] = {}

    def columns(self, point: np.ndarray) -> "tuple[list[arb], list[list[arb]]] | None":
        """rest, and the columns, at the nonlinear parameters of the point; None where something is undefined."""
        key = tuple(point[list(self.parts.nonlinear)])
        if key not in self.known:
            balls, parts = Balls(point), self.parts
            vectors = [elements(v, balls).tolist() for v in (parts.rest, *parts.functions)]
            data = [None if d is None else elements(d, balls).tolist() for d, _ in parts.columns]
            special = any(isinstance(v, Special) for row in (*vectors, *(d for d in data if d is not None)) for v in row)
            self.known[key] = None if special else (vectors[0], [
                vectors[1 + k] if d is None else [a * b for a, b in zip(d, vectors[1 + k], strict=True)]
                for d, (_, k) in zip(data, parts.columns, strict=True)])
        return self.known[key]

    def value(self, point: np.ndarray, kappa: list) -> arb:
        """The sum of squares with these coefficients."""
        rest, columns = self.columns(point)
        return sum((r + sum(c[i] * k for c, k in zip(columns, kappa, strict=True))) ** 2 for i, r in enumerate(rest))

    def best(self, point: np.ndarray) -> "list[arb] | None":
        """About the coefficients of the linear fit: where columns depend on each other, some of the best."""
        found = self.columns(point)
        if found is None:
            return None
        rest, columns = found
        sizes = [max((abs(v).mid() for v in c), default=arb(1)) for c in columns]
        scaled = [[v / s if s > 0 else v for v in c] for c, s in zip(columns, sizes, strict=True)]
        gram = [[sum(a * b for a, b in zip(c, d, strict=True)) + (arb(2) ** -180 if i == j else 0)
                 for j, d in enumerate(scaled)] for i, c in enumerate(scaled)]
        right = [[-sum(a * b for a, b in zip(c, rest, strict=True))] for c in scaled]
        solved = arb_mat(gram).solve(arb_mat(right), algorithm="approx")
        return [arb(solved[j, 0].mid()) / (s if s > 0 else 1) for j, s in enumerate(sizes)]

    def point(self, point: np.ndarray, kappa: list) -> np.ndarray:
        """The point with the linear parameters of a fit, as doubles; products do not say what their factors are."""
        found = point.copy()
        for m, k in zip(self.parts.products, kappa, strict=True):
            if len(m) == 1:
                found[m[0]] = float(k.mid())
        return found


def draw(rng: np.random.Generator, lo: np.ndarray, hi: np.ndarray, count: int) -> np.ndarray:
    """Points of a box: corners, the middle, others. Unbounded sides count up to 1e3."""
    low, high = np.clip(lo, -1e3, 1e3), np.clip(hi, -1e3, 1e3)
    low, high = np.where(low > high, hi, low), np.where(low > high, lo, high)
    share = rng.choice((0.0, 0.5, 1.0, 0.25), (count, len(lo)))
    share = np.where(rng.random(share.shape) < 0.5, rng.random(share.shape), share)
    return np.clip(low + share * (high - low), lo, hi)


def hold(f: "Callable | Evaluator", user: list, boxes: list, rng: np.random.Generator, per_box: int = 6) -> Counter:
    """Holds what the part says of the boxes, for several upper bounds, against fits at points of them."""
    evaluator = f if isinstance(f, Evaluator) else infimum.compile(f, len(user))
    fits, n, counts = Fits(evaluator), evaluator.n, Counter()
    before = regions_of(evaluator, boxes)
    with precision(BITS):
        tried = [[found for p in draw(rng, before[:n, k], before[n:2 * n, k], per_box)
                  for found in candidates(fits, p, before[:n, k], before[n:2 * n, k])] for k in range(len(boxes))]
        values = sorted(float(v.upper()) for found in tried for _, v in found)
        for upper in {INF, *values[:1], *values[len(values) // 2:len(values) // 2 + 1]}:
            outcome = asked(evaluator, user, boxes, upper)
            lo, hi, gone, least = outcome.regions[:n], outcome.regions[n:2 * n], is_gone(outcome), lower(outcome)
            for k, found in enumerate(tried):
                for p, v in found:
                    assert gone[k] or position(v, float(least[k]), INF) >= 0, (p, v, least[k])
                    if v <= upper:
                        assert not gone[k] and not least[k] > upper, (p, v, upper, "gone")
                        assert (lo[:, k] <= p).all() and (p <= hi[:, k]).all(), (p, v, upper, lo[:, k], hi[:, k])
                        counts["stays"] += 1
                counts["raised"] += bool(0 < least[k] < INF)
                counts["gone"] += bool(gone[k] or least[k] > upper)
                counts["narrower"] += bool((hi[:, k] < before[n:2 * n, k]).any() and not gone[k])
                if outcome.upper[0, k] < INF:
                    point = outcome.point[:, k]
                    assert all(a <= v <= b for v, (a, b) in zip(point, user, strict=True)), (point, user)
                    assert position(fits.value(point, monomials(fits, point)), -INF, float(outcome.upper[0, k])) >= 0, point
                    counts["uppers"] += 1
    return counts


def monomials(fits: Fits, point: np.ndarray) -> list[arb]:
    return [np.prod([arb(float(point[i])) for i in m]) for m in fits.parts.products]


def candidates(fits: Fits, p: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> list[tuple[np.ndarray, arb]]:
    """Points of the box with the nonlinear parameters of p, and their values: p itself, and its fit, cut to the box."""
    best = fits.best(p)
    if best is None:
        return []
    points = [p, np.clip(fits.point(p, best), lo, hi)]
    return [(q, fits.value(q, monomials(fits, q))) for q in points if np.isfinite(q).all()]


def random_regions(evaluator: Evaluator, rng: np.random.Generator, count: int) -> list:
    """Boxes that are small or points in nonlinear parameters, and wide in linear ones."""
    linear, n, boxes = {i for m in evaluator.facts.separable.products for i in m}, evaluator.n, []
    for _ in range(count):
        centre, width = rng.uniform(-2, 2, n), rng.choice((0, 1e-9, 1e-3, 0.03, 0.3), n)
        far = rng.choice((1.0, 100.0, 1e6, INF), n)
        boxes.append([(-far[i], far[i]) if i in linear else (centre[i] - width[i], centre[i] + width[i]) for i in range(n)])
    return boxes
