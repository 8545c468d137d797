"""A lower bound over the whole box for quadratic functions with quadratic constraints: a Lagrangian function that products of
constraints make convex. See docs/proof.md.

At the feasible points of a box, the slacks s_i of bounds and linear inequalities are not negative, and h_k = 0 for linear
equations. So

    L(x) = f(x) + Σ w_k (g_k(x) - e_k) - Σ v_ij s_i(x) s_j(x) + Σ h_k(x) m_k·(x - c),    v_ij >= 0,

is at most f there, for any numbers w_k with the ends e_k, and any vectors m_k. It is quadratic: if its second derivatives, which
are the same everywhere, are positive definite with Σ t_i (x_i - c_i)² / 2 added, it lies above its tangent at c less that sum.
With the multipliers of a solution c and good weights (`products.py`), the bound is often f(c).
"""

from typing import NamedTuple

import numpy as np

from infimum.engine.constrained.products import Slacks, Weights, product
from infimum.engine.points.lanes import total
from infimum.engine.second_order.convex import midpoint, positive_definite
from infimum.engine.second_order.inverse import inverse_factor
from infimum.engine.second_order.outward import Interval, down, exactly, matrix_product, minus, plus, times, transposed, up
from infimum.evaluate import Evaluator
from infimum.expr.degree import degrees

_MOST, _ELEMENTS = 64, 1 << 18  # variables; numbers of all derivatives that are read
_AT_END, _SURELY = 2.0**-14, 2.0**-30  # slacks that may be 0 at a solution, and that are
_COMPLEMENT = 0.0625            # times a slack is a multiplier that says which
_FURTHEST = 500                 # exponent of points at which gradients are read
_DEPENDENT = 2.0**-20
_MORE, _TRIES = 4.0, 16         # what is added to the diagonal grows until it is proved to be enough
_ROUNDING = 2.0**-46            # of the curvature
_COLUMNS, _POWERS, _LENGTHS = 6, 30, (0.25, 0.75)  # of starts
_PASSES = 3                     # over the linear constraints
_PART = 0.25                    # of the gap that is asked for, that may be lost


class Coefficients(NamedTuple):
    """Of f and all constraints, rows of a system: enclosures of values (1 + m,) and gradients (1 + m, n) at a point, and of
    gradients at 0 and at `far` times each unit vector (1 + m, n, 1 + n). Which constraints are linear (m,)?"""

    value: Interval
    slope: Interval
    slopes: Interval
    far: float
    linear: np.ndarray


class Multipliers(NamedTuple):
    """What a Lagrangian function is made of: w (m,); weights of products (k, k) of slacks, those of lower bounds, of upper bounds
    and of the rows numbered `rows`; m_k (equations, n); and t (n,). Weights and t must not be negative."""

    w: np.ndarray
    products: np.ndarray
    rows: np.ndarray
    equations: np.ndarray
    added: np.ndarray


class Quadratic:
    """Of a system; `applies` if it is quadratic, and not too large."""

    def __init__(self, evaluator: Evaluator):
        self.evaluator, self.system, self.n = evaluator, evaluator.system, evaluator.n
        small = self.n <= _MOST and (1 + self.system.m) * self.n * (self.n + 2) <= _ELEMENTS
        found = degrees((self.system.f, *self.system.bodies)) if small else ()
        degree = np.concatenate([np.zeros(0, int), *(part.ravel() for part in found)])
        self.linear = degree[1:] <= 1 if small and (degree <= 2).all() else None

    @property
    def applies(self) -> bool:
        return self.linear is not None

    def bound(self, lo: np.ndarray, hi: np.ndarray, x: np.ndarray, multipliers: np.ndarray, gap: float) -> float:
        """f is certainly not below this at the feasible points of the bounded box [lo, hi]; -inf where nothing is known.

        `multipliers` (m) and the point x may be any; the bound is good if they belong to a solution. A bound that is off by less
        than `gap` is as good as any.
        """
        if not (np.isfinite(lo) & np.isfinite(hi)).all():
            return -np.inf
        with np.errstate(all="ignore"):
            self.starts, self.directions = None, None
            w = self._usable(multipliers)
            x = self._at_ends(lo, hi, np.minimum(np.maximum(x, lo), hi), w)
            read = None if x is None else self._read(x)
            if read is None:
                return -np.inf
            found = self._proved(read, lo, hi, x, self._sought(read, lo, hi, x, w, gap))
            if self.directions is not None and not found >= read.value[0][0] - gap:
                self.starts = _starts(self.directions, lo, hi, x)
            return found

    def _usable(self, w: np.ndarray) -> np.ndarray:
        """0 for multipliers whose constraint has no such end."""
        w = np.where(np.isfinite(w), w, 0.0)
        return np.where(np.isfinite(np.where(w > 0, self.system.upper, self.system.lower)), w, 0.0)

    def _at_ends(self, lo: np.ndarray, hi: np.ndarray, x: np.ndarray, w: np.ndarray) -> np.ndarray | None:
        """x, at its bounds where a solution is."""
        read, width = self._read(x), hi - lo
        if read is None:
            return None
        steep = total(midpoint(read.slope) * np.append(1.0, w)[:, None]) * width
        steep = steep / np.abs(midpoint(_curvature(read, w)) * width * width[:, None]).max(initial=0.0)
        x = np.where(_vanishes((x - lo) / width, steep), lo, x)
        return np.where(_vanishes((hi - x) / width, -steep), hi, x)

    def _read(self, x: np.ndarray) -> Coefficients | None:
        far = float(np.ldexp(1.0, min(int(np.frexp(np.abs(x).max(initial=1.0))[1]), _FURTHEST)))
        points = np.concatenate([x[:, None], np.zeros((self.n, 1)), far * np.eye(self.n)], axis=1)
        at = self.evaluator.jacobian(points, points)
        ends = at.value.lo, at.value.hi, at.lo, at.hi
        if not (at.value.lipschitz.all() and all(np.isfinite(end).all() for end in ends)):
            return None
        return Coefficients((at.value.lo[:, 0], at.value.hi[:, 0]), (at.lo[..., 0], at.hi[..., 0]),
                            (at.lo[..., 1:], at.hi[..., 1:]), far, self.linear)

    # ---- estimates
    def _sought(self, read: Coefficients, lo: np.ndarray, hi: np.ndarray, x: np.ndarray, w: np.ndarray,
                gap: float) -> Multipliers:
        """Good numbers, in units in which each variable has the width 1."""
        system, n, width = self.system, self.n, hi - lo
        values, slopes = midpoint(read.value)[1:], midpoint(read.slope)
        curvature = midpoint(_curvature(read, w)) * width * width[:, None]
        rows = np.flatnonzero(read.linear & ~system.equal)
        sign = np.where(np.isfinite(system.upper[rows]), -1.0, 1.0)  # of the slack
        beside = sign[:, None] * slopes[1 + rows] * width
        sizes = np.abs(beside).max(axis=1, initial=0.0)
        slack = sign * (values[rows] - np.where(sign > 0, system.lower[rows], system.upper[rows])) / sizes
        slack = np.where(_vanishes(slack, np.abs(w[rows]) * sizes / np.abs(curvature).max(initial=0.0)), 0.0, slack)
        steep = total(slopes * np.append(1.0, w)[:, None]) * width
        slacks = Slacks(beside / np.where(sizes > 0, sizes, 1.0)[:, None],
                        np.concatenate([(x - lo) / width, (hi - x) / width, slack]),
                        np.concatenate([np.maximum(steep, 0.0), np.maximum(-steep, 0.0), np.abs(w[rows]) * sizes]),
                        np.concatenate([width > 0, width > 0, sizes > 0]))
        across, mixed = _orthonormal(slopes[1:][read.linear & system.equal] * width)
        away = (lo - x) / np.where(width > 0, width, 1.0), (hi - x) / np.where(width > 0, width, 1.0)
        linear = np.flatnonzero(read.linear)
        tilts = self._tilts(np.zeros(n), *away, np.ones(n), slopes[1 + linear] * width, self._beyond(values, linear), linear)
        furthest = -_least(total(tilts[:, None] * slopes[1 + linear] * width), *away, np.ones(n)) - float(
            total(np.append(tilts * self._beyond(values, linear), 0.0)))
        search = Weights(curvature, slacks, across)
        v, delta = search.run(_PART * gap / max(furthest, _ROUNDING))
        self.directions = search.directions
        used = np.zeros(system.m)
        used[rows] = np.where(sizes > 0, total((v * np.where(slacks.known, slacks.values, 0.0)).T)[2 * n:] / sizes, 0.0)
        scale = np.concatenate([width, width, sizes])
        scale = np.where(slacks.known, 1.0 / scale, 0.0)
        free = np.where(width > 0, 1.0 / width, 0.0)
        equations = _decoupling(curvature - search.form(v), across, mixed) * free
        delta = max(delta, 0.0) + _ROUNDING * search.size
        return Multipliers(np.where(w > 0, np.maximum(w - used, 0.0), np.minimum(w + used, 0.0)), v * scale * scale[:, None],
                           rows, equations, np.where(width > 0, delta * free * free, 1.0))

    # ---- proof
    def _proved(self, read: Coefficients, lo: np.ndarray, hi: np.ndarray, x: np.ndarray, given: Multipliers) -> float:
        system, n, w, rows = self.system, self.n, given.w, given.rows
        v = np.where(given.products > 0, given.products, 0.0)
        v = exactly(np.maximum(v, v.T))
        equal, used = np.flatnonzero(read.linear & system.equal), np.flatnonzero(w)
        end = np.where(w > 0, system.upper, system.lower)
        value, slope = (read.value[0][0], read.value[1][0]), (read.slope[0][0], read.slope[1][0])
        for k in used:
            weight, there = exactly(w[k]), (read.value[0][1 + k], read.value[1][1 + k])
            value = plus(value, times(weight, minus(there, exactly(end[k]))))
            slope = plus(slope, times(weight, (read.slope[0][1 + k], read.slope[1][1 + k])))
        slacks, beside = self._slacks(read, lo, hi, x, rows)
        pulled = _column(matrix_product(_lanes(v), _lanes((slacks[0][:, None], slacks[1][:, None]))))  # V s
        for term in _each(times(slacks, pulled)):
            value = minus(value, times(exactly(0.5), term))
        slope = minus(slope, _turned(pulled, beside, n))
        curvature = minus(_curvature(read, w), _form(v, beside, n))
        for k, m in zip(equal, given.equations, strict=True):
            m, row = exactly(m), (read.slope[0][1 + k], read.slope[1][1 + k])
            off = minus((read.value[0][1 + k], read.value[1][1 + k]), exactly(system.lower[k]))
            slope = plus(slope, times(off, m))
            mixed = times((row[0][:, None], row[1][:, None]), m)
            curvature = plus(curvature, plus(mixed, transposed(mixed)))
        added = self._enough(curvature, given.added)
        if added is None:
            return -np.inf
        linear = np.flatnonzero(read.linear)
        tilts = self._tilts(midpoint(slope), lo - x, hi - x, added, midpoint(read.slope)[1 + linear],
                            self._beyond(midpoint(read.value)[1:], linear), linear)
        for k, y in zip(linear, tilts, strict=True):
            end = system.upper[k] if y > 0 else system.lower[k]
            if y != 0 and np.isfinite(end):
                value = plus(value, times(exactly(y), minus((read.value[0][1 + k], read.value[1][1 + k]), exactly(end))))
                slope = plus(slope, times(exactly(y), (read.slope[0][1 + k], read.slope[1][1 + k])))
        low, changes = float(value[0]), []
        for away in (minus(exactly(lo), exactly(x)), minus(exactly(hi), exactly(x))):
            far = np.maximum(np.abs(away[0]), np.abs(away[1]))
            changes.append(down(times(slope, away)[0] - up(0.5 * up(added * up(far * far)))))
        for change in np.minimum(*changes):  # hands NaN on
            low = float(down(low + change))
        return low if low > -np.inf else -np.inf  # NaN says nothing

    def _beyond(self, values: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """By how much rows exceed the end that they have."""
        system = self.system
        return values[rows] - np.where(np.isfinite(system.upper[rows]), system.upper[rows], system.lower[rows])

    def _tilts(self, slope: np.ndarray, low: np.ndarray, high: np.ndarray, bent: np.ndarray, rows: np.ndarray,
               beyond: np.ndarray, which: np.ndarray) -> np.ndarray:
        """Further multipliers of linear constraints, with which slope·d - Σ t_i d_i² / 2 is not so low in a corner of the box:
        each in turn, the best of the numbers at which a corner changes. Estimates."""
        found, system = np.zeros(len(which)), self.system
        for _ in range(_PASSES):
            for k, row in enumerate(rows):
                others = slope - found[k] * row
                turns = (0.5 * bent * (low + high) - others) / row
                trial = np.append(np.where(np.isfinite(turns), turns, 0.0), [0.0, found[k]])
                if not np.isfinite(system.upper[which[k]]):
                    trial = np.minimum(trial, 0.0)
                if not np.isfinite(system.lower[which[k]]):
                    trial = np.maximum(trial, 0.0)
                values = _least((others + trial[:, None] * row).T, low[:, None], high[:, None], bent[:, None]) + trial * beyond[k]
                best = float(trial[int(np.argmax(np.where(np.isnan(values), -np.inf, values)))])
                found[k], slope = best, others + best * row
        return found

    def _slacks(self, read: Coefficients, lo: np.ndarray, hi: np.ndarray, x: np.ndarray,
                rows: np.ndarray) -> tuple[Interval, Interval]:
        """Enclosures of all slacks at x, and of the gradients of those of rows."""
        system, upper = self.system, np.isfinite(self.system.upper[rows])
        ends = exactly(np.where(upper, system.upper[rows], system.lower[rows]))
        off = minus((read.value[0][1 + rows], read.value[1][1 + rows]), ends)
        slope = read.slope[0][1 + rows], read.slope[1][1 + rows]
        slack = np.where(upper, -off[1], off[0]), np.where(upper, -off[0], off[1])
        beside = np.where(upper[:, None], -slope[1], slope[0]), np.where(upper[:, None], -slope[0], slope[1])
        parts = minus(exactly(x), exactly(lo)), minus(exactly(hi), exactly(x)), slack
        return tuple(np.concatenate([part[side] for part in parts]) for side in range(2)), beside

    def _enough(self, curvature: Interval, added: np.ndarray) -> np.ndarray | None:
        """At least these numbers, with which on its diagonal the matrix is proved to be positive definite."""
        added = np.maximum(added, 0.0)  # hands NaN on
        for _ in range(_TRIES):
            whole = plus(curvature, exactly(np.diag(added)))
            factor = inverse_factor(midpoint(whole)[..., None])
            if np.isfinite(factor).all() and positive_definite(_lanes(whole), factor)[0]:
                return added
            added = _MORE * added
        return None


def _starts(directions: np.ndarray, lo: np.ndarray, hi: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Points (n, N) on the way from x along the largest of these directions, and the main one, both ways."""
    largest = np.argsort(-np.diag(directions), kind="stable")[:_COLUMNS]
    main = directions[:, largest[0]]
    for _ in range(_POWERS):
        main = total(directions * main[:, None])
        main = main / np.abs(main).max()
    ways = np.concatenate([main[:, None], -main[:, None], directions[:, largest] * np.where(x == hi, -1.0, 1.0)[largest]], axis=1)
    ways = ways / np.abs(ways).max(axis=0)
    points = x[:, None] + (hi - lo)[:, None] * np.concatenate([part * ways for part in _LENGTHS], axis=1)
    return np.minimum(np.maximum(points, lo[:, None]), hi[:, None])


def _vanishes(slack: np.ndarray, multiplier: np.ndarray) -> np.ndarray:
    """Is a slack 0 at a solution? Where neither it nor its multiplier is large, both are small at the end of a search."""
    return (slack <= _SURELY) | ((slack <= _AT_END) & (multiplier >= _COMPLEMENT * slack))


def _least(slope: np.ndarray, low: np.ndarray, high: np.ndarray, bent: np.ndarray) -> np.ndarray:
    """The least value of slope·d - Σ t_i d_i² / 2 between the corners. An estimate."""
    return total(np.minimum(*(slope * d - 0.5 * bent * d * d for d in (low, high))))


def _lanes(a: Interval) -> Interval:
    return a[0][..., None], a[1][..., None]


def _column(a: Interval) -> Interval:
    return a[0][:, 0, 0], a[1][:, 0, 0]


def _each(a: Interval) -> list[Interval]:
    return list(zip(*a, strict=True))


def _curvature(read: Coefficients, w: np.ndarray) -> Interval:
    """Second derivatives of f + w·g: differences of gradients, which are linear."""
    slopes = read.slopes[0][0], read.slopes[1][0]
    for k in np.flatnonzero(np.where(read.linear, 0.0, w)):
        slopes = plus(slopes, times(exactly(w[k]), (read.slopes[0][1 + k], read.slopes[1][1 + k])))
    return times(minus((slopes[0][:, 1:], slopes[1][:, 1:]), (slopes[0][:, :1], slopes[1][:, :1])), exactly(1.0 / read.far))


def _form(v: Interval, beside: Interval, n: int) -> Interval:
    """The second derivatives of Σ v_ij s_i s_j / 2: those of bounds have unit vectors as gradients, up to a sign."""
    low, high, rest = (slice(0, n), slice(n, 2 * n), slice(2 * n, None))

    def block(i: slice, j: slice) -> Interval:
        return v[0][i, j], v[1][i, j]
    found = plus(minus(block(low, low), block(low, high)), minus(block(high, high), block(high, low)))
    if beside[0].size:
        turned = transposed(_lanes(beside))
        mixed = _matrix(matrix_product(turned, _lanes(minus(block(rest, low), block(rest, high)))))
        both = _matrix(matrix_product(matrix_product(turned, _lanes(block(rest, rest))), _lanes(beside)))
        found = plus(plus(found, plus(mixed, transposed(mixed))), both)
    return found


def _matrix(a: Interval) -> Interval:
    return a[0][..., 0], a[1][..., 0]


def _turned(numbers: Interval, beside: Interval, n: int) -> Interval:
    """Σ of the slacks' gradients, each times its number."""
    found = minus((numbers[0][:n], numbers[1][:n]), (numbers[0][n:2 * n], numbers[1][n:2 * n]))
    for k, number in enumerate(_each((numbers[0][2 * n:], numbers[1][2 * n:]))):
        found = plus(found, times(number, (beside[0][k], beside[1][k])))
    return found


def _orthonormal(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal vectors (n, q) with the same span, and how they are made of the rows (q, rows)."""
    count, n = rows.shape
    vectors, mixed = [], []
    for k, row in enumerate(rows):
        vector, part = row.copy(), (np.arange(count) == k).astype(float)
        before = float(np.sqrt(total(vector * vector)))
        for _ in range(2):
            for known, how in zip(vectors, mixed, strict=True):
                along = float(total(vector * known))
                vector, part = vector - along * known, part - along * how
        length = float(np.sqrt(total(vector * vector)))
        if length > _DEPENDENT * before:
            vectors.append(vector / length)
            mixed.append(part / length)
    return np.array(vectors).reshape(len(vectors), n).T.copy(), np.array(mixed).reshape(len(vectors), count)


def _decoupling(matrix: np.ndarray, across: np.ndarray, mixed: np.ndarray) -> np.ndarray:
    """Vectors m_k (rows, n) with which the matrix plus Σ (h_k m_kᵀ + m_k h_kᵀ) is what it was along the equations, has their
    gradients as eigenvectors, and is as large across them."""
    turned, size = product(across.T, matrix), float(np.abs(matrix).max(initial=0.0))
    inner = product(turned, across)
    wanted = 0.5 * (size * across.T - product(inner, across.T)) - (turned - product(inner, across.T))
    return product(mixed.T, wanted)
