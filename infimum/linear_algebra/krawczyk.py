"""Krawczyk's operator: boxes around a point that hold exactly one stationary point. See docs/proofs/isolation.md."""

from typing import NamedTuple

import numpy as np

from infimum.linear_algebra.interval_matrices import Interval, exactly, matrix_product, minus, plus
from infimum.linear_algebra.lane_algebra import inverse


class KrawczykImage(NamedTuple):
    """Where the operator sends boxes, columns of arrays; `inside`: strictly into themselves."""

    lo: np.ndarray
    hi: np.ndarray
    inside: np.ndarray


def krawczyk(centre: np.ndarray, slope: Interval, curvature: Interval, factor: np.ndarray, box: Interval) -> KrawczykImage:
    """The operator for the derivatives of a function, Y being the inverse that `factor` gives."""
    return operator(centre, slope, curvature, inverse(factor), box)


def operator(centre: np.ndarray, slope: Interval, curvature: Interval, y: np.ndarray, box: Interval) -> KrawczykImage:
    """c - Y g(c) + (I - Y H(X)) (X - c) for boxes X, of shape (n, N), that contain the point c.

    `slope` encloses g(c), of shape (n, 1), and `curvature` the derivatives H(X), of shape (n, n, N), of g, which is continuously
    differentiable; Y has the shape (n, n, 1). A box that is sent strictly into itself holds exactly one point with g = 0, and
    what it is sent to holds that point.
    """
    n, y = len(centre), exactly(y)
    c = exactly(centre[:, None])
    rest = minus(exactly(np.eye(n)[..., None]), matrix_product(y, curvature))
    deviation = tuple(end[:, None] for end in minus(box, c))
    newton = matrix_product(y, tuple(end[:, None] for end in slope))
    lo, hi = (end[:, 0] for end in plus(minus(tuple(end[:, None] for end in c), newton), matrix_product(rest, deviation)))
    return KrawczykImage(lo, hi, ((lo > box[0]) & (hi < box[1])).all(axis=0))
