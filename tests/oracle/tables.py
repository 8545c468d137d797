"""Tables of splines for tests: of degrees 0 to 5, with jumps, with kinks, smooth ones, with a domain, with many pieces."""

from fractions import Fraction

import numpy as np

from infimum.expr.spline_knots import over_knots
from infimum.expr.spline_table import SplineTable


def _over(k: int, inner: list[float], seed: int, bounded: bool = False) -> SplineTable:
    """A spline of degree k with these inner knots, and coefficients that are no round numbers."""
    rng = np.random.default_rng(seed)
    knots = [Fraction(t) for t in [-2.0] * (k + 1) + inner + [2.0] * (k + 1)]
    points, pieces, smooth = over_knots(knots, [Fraction(v) for v in rng.normal(size=len(knots) - k - 1).tolist()], k)
    return SplineTable([float(p) for p in points], pieces, smooth, bounded)


TABLES = (
    _over(3, [-1.0, -0.25, 0.1, 0.5, 1.5], 1), _over(3, [-1.0, 0.3, 0.3, 1.25], 2), _over(1, [-0.5, 0.0, 0.75], 3),
    _over(2, [0.0, 0.0, 1.0], 4, bounded=True), _over(5, [-0.7, 0.7], 5), _over(0, [-1.0, 0.2, 0.9], 6),
    _over(3, [], 7, bounded=True), _over(3, np.linspace(-1.9, 1.9, 40).tolist(), 8),
)
