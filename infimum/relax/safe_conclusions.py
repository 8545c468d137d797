"""What any multipliers prove (docs/proofs/linear_programs.md): bounds, and what is left of the sides of a box.

Let l <= z <= u and lower_r <= a_r·z <= upper_r. For any numbers y_r, with e_r = upper_r where y_r > 0 and lower_r where y_r < 0,

    c·z >= c·z + Σ y_r (a_r·z - e_r) = Σ r_j z_j - Σ y_r e_r,    r = c + Σ y_r a_r,

and the right side is bounded below term by term (Neumaier and Shcherbina, 2004). Nothing is asked of y: what a solver found,
rounded as it comes. Coefficients are known between doubles. Sums are taken one term after the other, and a sum of k products is
off by less than k roundings of the sum of their absolute values, and k of the smallest doubles.
"""

from typing import NamedTuple

import numpy as np

from infimum.linear_algebra.interval_matrices import down, up

# fixed: twice what a rounding is off by, relatively; more than products may lose where they vanish
_ULP, _TINY = 2.0**-52, 2.0**-1000


class IntervalRows(NamedTuple):
    """Inequalities: the entries of the matrix, row after row, each between two doubles, and the ends of all rows. Of several
    regions numbers have an axis before the last one, and entries stand at the same places."""

    row: np.ndarray
    column: np.ndarray
    low: np.ndarray
    high: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


class LinearCost(NamedTuple):
    """A linear function c·z + constant: c between two doubles, the constant from below."""

    low: np.ndarray
    high: np.ndarray
    constant: float


class LinearUnderestimator(NamedTuple):
    """r·z + constant, r between two doubles, is not above the cost wherever the inequalities hold."""

    low: np.ndarray
    high: np.ndarray
    constant: np.ndarray | float


def usable(rows: IntervalRows, y: np.ndarray) -> np.ndarray:
    """Multipliers of which something follows: 0 in the place of NaN, of infinite ones, and of a sign whose end is infinite."""
    y = np.where(np.isfinite(y), y, 0.0)
    return np.where(np.isfinite(np.where(y > 0, rows.upper, rows.lower)), y, 0.0)


def weighted(rows: IntervalRows, y: np.ndarray, cost: LinearCost) -> LinearUnderestimator:
    """The cost plus all rows times these multipliers, which are `usable`. Products with 0 are left out."""
    shape, count = y.shape[:-1], cost.low.shape[-1]
    multipliers, low, high = (np.atleast_2d(a) for a in (y, rows.low, rows.high))
    with np.errstate(all="ignore"):
        lane, entry = np.nonzero((multipliers != 0.0)[:, rows.row] & ((low != 0.0) | (high != 0.0)))
        places, each = lane * count + rows.column[entry], multipliers[lane, rows.row[entry]]
        below, above = low[lane, entry], high[lane, entry]

        def sums(numbers: np.ndarray | None) -> np.ndarray:
            return np.bincount(places, numbers, len(multipliers) * count).reshape(*shape, count)

        products, terms = each * below, sums(None).astype(float)
        found, off = sums(products), _error(sums(np.abs(products)), terms)
        if (below != above).any():
            spread = sums(np.abs(each) * np.where(below == above, 0.0, up(above - below)))
            off = up(up(off + spread) + _error(spread, terms))  # spread has no negative terms
        none = terms == 0.0  # then the cost is all that there is, and may be 0 where the column is unbounded
        least = np.where(none, cost.low, down(down(found - off) + cost.low))
        most = np.where(none, cost.high, up(up(found + off) + cost.high))
        ends = np.where(y > 0, rows.upper, rows.lower)
        products = np.where(y == 0.0, 0.0, y * np.where(y == 0.0, 0.0, ends))
        total, off = _total(products)
        constant = down(down(down(-total) - off) + cost.constant)
    return LinearUnderestimator(least, most, constant)


def _total(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sum along the last axis, one term after the other, and what it is off by at most where each term is a product."""
    if not numbers.shape[-1]:
        return np.zeros(numbers.shape[:-1]), np.zeros(numbers.shape[:-1])
    total, size = (np.cumsum(part, axis=-1)[..., -1] for part in (numbers, np.abs(numbers)))
    return total, _error(size, np.float64(numbers.shape[-1]))


def _error(size: np.ndarray, terms: np.ndarray) -> np.ndarray:
    """An upper bound of the rounding errors of sums of this number of products."""
    return up(up(size * (_ULP * (terms + 4.0))) + terms * _TINY)


def least_terms(line: LinearUnderestimator, l: np.ndarray, u: np.ndarray) -> np.ndarray:  # noqa: E741
    """Below each r_j z_j for l <= z <= u. NaN where that is not known."""
    with np.errstate(all="ignore"):
        products = [np.where((r == 0.0) | (z == 0.0), 0.0, r * z) for r in (line.low, line.high) for z in (l, u)]
        least = np.minimum(np.minimum(products[0], products[1]), np.minimum(products[2], products[3]))
        return np.where(least == 0.0, np.where((line.low >= 0) & (l >= 0), 0.0, -_TINY), down(least))


def lowest(line: LinearUnderestimator, l: np.ndarray, u: np.ndarray) -> np.ndarray:  # noqa: E741
    """The line is nowhere below this for l <= z <= u; -inf where nothing is known."""
    return _added(line.constant, least_terms(line, l, u))


def _added(constant: np.ndarray | float, terms: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        total, off = _total(terms)
        found = down(down(total - off) + constant)
    return np.where((found > -np.inf) & np.isfinite(total), found, -np.inf)[()]


def contracted(line: LinearUnderestimator, upper: float, l: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # noqa: E741
    """What line <= upper leaves of l <= z <= u, each variable by itself; where that is nothing, an end lies beyond the other."""
    if not np.isfinite(upper):
        return l, u
    terms = least_terms(line, l, u)
    below = _added(line.constant, terms)
    known = np.isfinite(below)[..., None]
    with np.errstate(all="ignore"):
        own = up(up(upper - below)[..., None] + terms)  # r_j z_j is at most that: the others are not below their terms
        most = up(np.maximum(own / line.low, own / line.high))
        least = down(np.minimum(own / line.low, own / line.high))
        new_u = np.where(known & (line.low > 0) & (most < u), most, u)
        new_l = np.where(known & (line.high < 0) & (least > l), least, l)
    return new_l, new_u
