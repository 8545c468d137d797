"""Small linear algebra: determinants, inverses and linear systems, cross products and convolutions.

A determinant is its expansion into products of entries, without divisions: elimination would divide by a pivot that may be 0
where the determinant is not. An inverse is the adjugate over the determinant: undefined exactly where that is 0.
"""

from itertools import combinations
from typing import Any

import numpy as np

from infimum.expr import build as b
from infimum.expr.node import Index, is_const
from infimum.expr.rationals import between_doubles, rational_inverse
from infimum.trace.tracer import FUNCTIONS, Tracer, lift
from infimum.trace.user_source import fail, user_line

LARGEST_DETERMINANT = 10  # n * 2**(n - 1) products
LARGEST_INVERSE = 8       # n times as many
LARGEST_KNOWN_MATRIX = 32  # of a linear system: inverted in rationals


def _matrices(a: Any, name: str, largest: int) -> tuple[Tracer, int]:
    x = Tracer(lift(a))
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise np.linalg.LinAlgError(f"np.linalg.{name}: an array of shape {x.shape} holds no square matrices")
    if x.shape[-1] > largest:
        fail(f"np.linalg.{name} of a traced {x.shape[-1]} x {x.shape[-1]} matrix would be written out into very many products; "
             f"the limit is {largest}.", "Write the formula out with @, np.sum and the components, as its structure allows.")
    return x, x.shape[-1]


def _minors(x: Tracer) -> Tracer:
    """The determinants of all rows (on the last axis but one) with every choice of as many columns, in the order of
    `combinations`: for each row those of one row more, by expansion along it."""
    rows, columns = x.shape[-2:]
    known = {(): 0}
    minors = Tracer(b.broadcast(lift(1.0), (*x.shape[:-2], 1)))
    for size in range(1, rows + 1):
        choices = list(combinations(range(columns), size))
        smaller = [[known[c[:at] + c[at + 1:]] for at in range(size)] for c in choices]
        signs = [1.0 if (size - 1 + at) % 2 == 0 else -1.0 for at in range(size)]
        minors = np.sum(signs * x[..., size - 1, np.array(choices)] * minors[..., np.array(smaller)], axis=-1)
        known = {c: i for i, c in enumerate(choices)}
    return minors


def _det(a: Any) -> Tracer:
    x, _ = _matrices(a, "det", LARGEST_DETERMINANT)
    return _minors(x)[..., 0].copy()


def _adjugate_and_det(x: Tracer, n: int) -> tuple[Tracer, Tracer]:
    """The matrix of cofactors, transposed, and the determinant, expanded along the first row with the same cofactors."""
    others = np.array([[k for k in range(n) if k != i] for i in range(n)], dtype=int).reshape(n, n - 1)
    minors = _minors(x[..., others, :])[..., ::-1]  # [i, j]: without row i and column j
    signs = (-1.0) ** np.add.outer(np.arange(n), np.arange(n))
    cofactors = signs * minors
    return np.swapaxes(cofactors, -1, -2), np.sum(x[..., 0, :] * cofactors[..., 0, :], axis=-1)


def _inv(a: Any) -> Tracer:
    x, n = _matrices(a, "inv", LARGEST_INVERSE)
    if not x.size:
        return x
    adjugate, det = _adjugate_and_det(x, n)
    return adjugate / np.expand_dims(det, (-2, -1))


def _solve(a: Any, b: Any) -> Tracer:
    matrix, right = lift(a), Tracer(lift(b))
    if len(matrix.shape) != 2 or right.ndim not in (1, 2):
        fail("np.linalg.solve is known for one matrix and a vector or matrix on the right.",
             "Solve stacks of systems one by one.")
    if right.shape[0] != matrix.shape[0]:
        raise ValueError(f"np.linalg.solve: shapes {matrix.shape} and {right.shape} do not match")
    if is_const(matrix) and matrix.lo is matrix.hi:
        _matrices(matrix, "solve", LARGEST_KNOWN_MATRIX)
        inverse = rational_inverse(matrix.lo)
        if inverse is None:
            raise np.linalg.LinAlgError("Singular matrix")
        return Tracer(between_doubles(inverse, matrix.shape)) @ right
    x, n = _matrices(matrix, "solve", LARGEST_INVERSE)
    adjugate, det = _adjugate_and_det(x, n)
    return adjugate @ right / det


def _cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Tracer:
    """The product of vectors of three components; of two vectors of two components the third component of theirs."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = (np.moveaxis(Tracer(lift(v)), at, -1) for v, at in ((a, axisa), (b, axisb)))
    sizes = x.shape[-1], y.shape[-1]
    if not set(sizes) <= {2, 3}:
        raise ValueError("incompatible dimensions for cross product (dimension must be 2 or 3)")
    third = x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]
    if sizes == (2, 2):
        return third
    x2, y2 = (v[..., 2] if v.shape[-1] == 3 else None for v in (x, y))
    first = _difference(x[..., 1], y2, x2, y[..., 1])
    second = _difference(x2, y[..., 0], x[..., 0], y2)
    return np.moveaxis(np.stack([first, second, third], axis=-1), -1, axisc).copy()


def _difference(p: Any, q: Any, r: Any, s: Any) -> Any:
    """p q - r s, where None stands for a component that a vector of two does not have."""
    if p is None or q is None:
        return -(r * s)
    return p * q if r is None or s is None else p * q - r * s


def _convolve(a: Any, v: Any, mode: str = "full") -> Tracer:
    """Each product of two elements lands at the sum of their positions; no zeros are laid around, whose products would count."""
    x, y = (b.reshape(e, (1,)) if not e.shape else e for e in (lift(a), lift(v)))
    if len(x.shape) > 1 or len(y.shape) > 1 or not x.size or not y.size:
        raise ValueError(f"np.convolve: arrays of shapes {x.shape} and {y.shape} are no vectors with elements")
    x, y = (y, x) if y.size > x.size else (x, y)
    long, short, line = x.size, y.size, user_line()
    products = b.build("mul", b.reshape(x, (long, 1), line), b.reshape(y, (1, short), line), line=line)
    places = Index(np.add.outer(np.arange(long), np.arange(short)))
    full = Tracer(b.build("scatter", b.reshape(products, (long * short,), line), index=places, size=long + short - 1, line=line))
    first, count = {"full": (0, long + short - 1), "same": ((short - 1) // 2, long), "valid": (short - 1, long - short + 1)}[mode]
    return full[first:first + count].copy()


FUNCTIONS.update({np.linalg.det: _det, np.linalg.inv: _inv, np.linalg.solve: _solve, np.cross: _cross, np.convolve: _convolve})
