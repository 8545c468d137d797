"""A local method for a function with constraints: a primal-dual interior point method, many lanes at once. Estimates.

Minimise f over x between its bounds, with c(x) = b for the equations and c(x) = s for the inequalities, s between their ends. A
barrier of weight μ keeps x and s strictly between; the conditions of first order are solved by Newton's method while μ goes
to 0. After A. Wächter and L. T. Biegler, "On the implementation of an interior-point filter line-search algorithm for
large-scale nonlinear programming", Math. Program. 106 (2006), with a merit function instead of the filter. Its ends lie strictly
inside the inequalities, by about μ over the multiplier, which is what a proof of feasibility needs.
"""

from dataclasses import dataclass, fields

import numpy as np

from infimum.engine.points.lanes import applied, gram, log_of_product, solve, total
from infimum.evaluate import Evaluator

_FIRST, _LAST = 0.1, 2.0**-37      # μ
_SLOWER, _FASTER = 0.2, 1.5        # μ becomes the lesser of _SLOWER μ and μ**_FASTER
_SOLVED = 10.0                     # times μ is the error with which the next μ is taken
_PUSHED = 2.0**-7                  # from their bounds, at the beginning
_TO_BOUNDARY = 0.99                # at most that part of the way
_STEP = 2.0**-24                   # of differences that give second derivatives
_ARMIJO, _ROUNDING = 1e-4, 2.0**-48
_SHORTER = 2.0 ** -np.arange(1.0, 11.0, 1.5)  # parts of a step that are tried where the whole is too long
_CLOSER = 0.9                      # a step that reduces the error by that is good as well
_CURVED, _FEWEST, _MORE, _LESS, _TRIES = 2.0**-13, 2.0**-40, 8.0, 1 / 3, 12  # what is added to the diagonal until it is convex
_WEIGHT = 10.0                     # of squared equations in the matrix, as part of its largest element
_REGULAR = 2.0**-34
_LARGE = 1e10                      # μ over z and gap at most
_MANY = 1 << 22                    # numbers of all jacobians that second derivatives take; beyond it by another kernel


@dataclass
class Lanes:
    """What belongs to each lane, its last axis. w are x and the slacks s together, z the multipliers of their bounds, y those of
    the constraints."""

    number: np.ndarray
    lo: np.ndarray       # of w
    hi: np.ndarray
    w: np.ndarray
    z_lo: np.ndarray
    z_hi: np.ndarray
    y: np.ndarray
    mu: np.ndarray
    penalty: np.ndarray
    curved: np.ndarray
    values: np.ndarray   # of all rows, scaled
    jacobian: np.ndarray
    error: np.ndarray

    def some(self, these: np.ndarray) -> "Lanes":
        return Lanes(*(np.compress(these, getattr(self, f.name), axis=-1) for f in fields(self)))


class Interior:
    """Begins at points x (n, N), between bounds (n, N) of their own; variables whose bounds are equal are held.

    After `run`: points `x`, multipliers `y` (m, N) of the constraints, for which ∇f + Σ y ∇c vanishes but for what bounds take, and
    the `error` of all conditions together, relative to the scales of the rows.
    """

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, x: np.ndarray):
        self.evaluator, self.n = evaluator, len(lo)
        system, count = evaluator.system, x.shape[1]
        self.used = np.flatnonzero(np.isfinite(system.lower) | np.isfinite(system.upper))
        self.equal = system.equal[self.used]
        self.lower, self.upper = (end[self.used, None] for end in (system.lower, system.upper))
        self.m = len(self.used)
        self.x, self.y, self.error = x.copy(), np.zeros((system.m, count)), np.full(count, np.inf)
        self.value = np.full(count, np.inf)
        self.evaluations = 0
        self.lanes = self._begin(lo, hi, x)

    @property
    def scale(self) -> np.ndarray:
        """Of all rows, unused ones too (1 + m, 1): the largest derivative times its variable's unit."""
        found = np.ones((1 + self.evaluator.system.m, 1))
        found[np.concatenate([[0], 1 + self.used])] = self.sigma
        return found

    def _begin(self, lo: np.ndarray, hi: np.ndarray, x: np.ndarray) -> Lanes:
        with np.errstate(all="ignore"):
            width = hi - lo
            push_lo, push_hi = (np.minimum(_PUSHED * np.maximum(1.0, np.abs(end)), _PUSHED * width) for end in (lo, hi))
            x = np.where(hi > lo, np.minimum(np.maximum(x, lo + np.where(lo > -np.inf, push_lo, 0.0)),
                                             hi - np.where(hi < np.inf, push_hi, 0.0)), lo)
            self.unit = np.where(width > 0, np.minimum(width, np.maximum(1.0, np.abs(x))), 1.0)
            values, jacobian = self._raw(x)
            steep = np.abs(jacobian * self.unit).max(axis=1)
            known = np.isfinite(steep).all(axis=0) & np.isfinite(values).all(axis=0)
            middle = np.sort(np.compress(known, steep, axis=1), axis=1)
            middle = middle[:, middle.shape[1] // 2:][:, :1] if middle.shape[1] else np.ones((1 + self.m, 1))
            self.sigma = np.where(middle > 0, middle, 1.0)
            values, jacobian = values / self.sigma, jacobian / self.sigma[:, None]
            ends = [(end / self.sigma[1:])[~self.equal] for end in (self.lower, self.upper)]
            lo, hi = (np.concatenate([a, np.broadcast_to(b, (len(b), x.shape[1]))]) for a, b in zip((lo, hi), ends, strict=True))
            s, (low, high) = values[1:][~self.equal], ends
            push = _PUSHED * np.minimum(1.0, high - low)
            s = np.minimum(np.maximum(s, low + push), high - push)
            w = np.concatenate([x, s])
            mu = np.full(x.shape[1], _FIRST)
            z_lo, z_hi = (np.where(gap < np.inf, mu / gap, 0.0) for gap in (w - lo, hi - w))
            z_lo[:self.n], z_hi[:self.n] = (np.where(width > 0, z[:self.n], 0.0) for z in (z_lo, z_hi))
        whole = Lanes(np.arange(x.shape[1]), lo, hi, w, z_lo, z_hi, np.zeros((self.m, x.shape[1])), mu, np.full_like(mu, 1.0),
                      np.zeros_like(mu), values, jacobian, np.full_like(mu, np.inf))
        self.unit = np.where(known, self.unit, 1.0)
        return whole.some(known)

    def _raw(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rows that are used at points (n, N), and their derivatives."""
        self.evaluations += x.shape[1]
        values, jacobian = self.evaluator.estimate_jacobian(x)
        rows = np.concatenate([[0], 1 + self.used])
        return values[rows], jacobian[rows]

    def _look(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, jacobian = self._raw(x)
        with np.errstate(all="ignore"):
            return values / self.sigma, jacobian / self.sigma[:, None]

    # ---- the iteration
    def run(self, steps: int) -> None:
        """Up to so many steps of all lanes."""
        with np.errstate(all="ignore"):
            for _ in range(steps):
                if not len(self.lanes.number):
                    return
                self._step()
            self._store(self.lanes)

    def _step(self) -> None:
        a = self.lanes
        self._lower_mu(a)
        ended = a.error <= _LAST * 2
        if ended.any():
            self._store(a.some(ended))
            a = self.lanes = a.some(~ended)
            if not len(a.number):
                return
        step_w, y, step_lo, step_hi, good = self._direction(a)
        longest = _part(np.concatenate([a.w - a.lo, a.hi - a.w]), np.concatenate([step_w, -step_w]), a.mu)
        part_z = _part(np.concatenate([a.z_lo, a.z_hi]), np.concatenate([step_lo, step_hi]), a.mu)
        taken = self._search(a, step_w, y, part_z * step_lo, part_z * step_hi, longest)
        alive = good & (taken > 0)
        if not alive.all():
            self._store(a.some(~alive))
            self.lanes = a.some(alive)

    def _lower_mu(self, a: Lanes) -> None:
        for _ in range(4):
            error = self._error(a, a.mu)
            lower = (error <= _SOLVED * a.mu) & (a.mu > _LAST)
            if not lower.any():
                break
            a.mu = np.where(lower, np.maximum(_LAST, np.minimum(_SLOWER * a.mu, a.mu * np.sqrt(a.mu))), a.mu)
            a.penalty = np.where(lower, 1.0, a.penalty)
        a.error = np.maximum(self._error(a, np.zeros_like(a.mu)), 0.0)

    def _residual(self, values: np.ndarray, w: np.ndarray) -> np.ndarray:
        """c - b, or c - s."""
        found = values[1:].copy()
        found[self.equal] -= self.lower[self.equal] / self.sigma[1:][self.equal]
        found[~self.equal] -= w[self.n:]
        return found

    def _error(self, a: Lanes, mu: np.ndarray) -> np.ndarray:
        """Of all conditions with this μ."""
        unit, free = self.unit[:, a.number], a.lo[:self.n] < a.hi[:self.n]
        slope = (a.jacobian[0] + total(a.jacobian[1:] * a.y[:, None]) - a.z_lo[:self.n] + a.z_hi[:self.n]) * unit
        slack = -a.y[~self.equal] - a.z_lo[self.n:] + a.z_hi[self.n:]
        gaps = np.concatenate([_product(a.z_lo, a.w - a.lo), _product(a.z_hi, a.hi - a.w)])
        bounded = np.concatenate([a.lo > -np.inf, a.hi < np.inf]) & np.concatenate([a.hi > a.lo] * 2)
        multipliers = total(np.abs(a.y)) + total(np.abs(a.z_lo)) + total(np.abs(a.z_hi))
        size = np.maximum(100.0, multipliers / max(1, len(a.y) + 2 * len(a.w))) / 100
        worst = np.zeros_like(mu)
        for part in (np.where(free, slope, 0.0) / size, slack / size, self._residual(a.values, a.w),
                     np.where(bounded, gaps - mu, 0.0) / size):
            worst = np.maximum(worst, np.abs(part).max(axis=0, initial=0.0))
        return worst

    def _direction(self, a: Lanes) -> tuple[np.ndarray, ...]:
        """Newton's step of w, the new y, steps of the multipliers of bounds, and where there is one."""
        n, unit, equal = self.n, self.unit[:, a.number], self.equal
        free = a.lo[:n] < a.hi[:n]
        gap_lo, gap_hi = a.w - a.lo, a.hi - a.w
        pull_lo, pull_hi = (np.where(gap < np.inf, a.mu / gap, 0.0) for gap in (gap_lo, gap_hi))
        sigma = np.where(gap_lo < np.inf, a.z_lo / gap_lo, 0.0) + np.where(gap_hi < np.inf, a.z_hi / gap_hi, 0.0)
        pull = pull_lo - pull_hi
        jacobian = np.where(free, a.jacobian * unit, 0.0)
        residual, (among, beside) = self._residual(a.values, a.w), (jacobian[1:][equal], jacobian[1:][~equal])
        matrix = self._curvature(a, unit)
        matrix = np.where(free[:, None] & free, matrix, 0.0) + gram(beside, sigma[n:])
        each, count = np.arange(n), len(among)
        matrix[each, each] += np.where(free, np.where(free, sigma[:n], 0.0) * unit * unit, 1.0)
        right = -np.where(free, jacobian[0] - pull[:n] * unit, 0.0)
        right -= total(beside * (sigma[n:] * residual[~equal] - pull[n:])[:, None])
        size = np.maximum(np.abs(matrix[each, each]).max(axis=0), _FEWEST)
        steep = np.maximum(total((among * among).swapaxes(0, 1)), _FEWEST)
        weight = _WEIGHT * size / steep
        matrix += gram(among, weight)
        right -= total(among * (weight * residual[equal])[:, None])
        whole = np.zeros((n + count, n + count, len(a.number)))
        whole[:n, :n], whole[:n, n:], whole[n:, :n] = matrix, among.swapaxes(0, 1), among
        small = _REGULAR * steep / size
        whole[np.arange(n, n + count), np.arange(n, n + count)] = -small
        right = np.concatenate([right, -residual[equal] - small * a.y[equal]])
        found, good, added = np.zeros_like(right), np.zeros(len(a.number), bool), np.zeros_like(a.mu)
        for trial in range(_TRIES):
            todo = np.flatnonzero(~good)
            if not len(todo):
                break
            more = whole[..., todo]
            more[each, each] += added[todo]
            found[:, todo], good[todo] = solve(more, right[:, todo], n)
            fresh = np.maximum(_CURVED * size, _LESS * a.curved) if trial == 0 else _MORE * added
            added = np.where(good, added, fresh)
        a.curved = np.where(added > 0, added, a.curved * _LESS)
        y = np.empty_like(a.y)
        step = np.where(free, unit * found[:n], 0.0)
        moved = applied(beside, found[:n]) + residual[~equal]
        y[equal], y[~equal] = found[n:], sigma[n:] * moved - pull[n:]
        step_w = np.concatenate([step, moved])
        step_lo = np.where(gap_lo < np.inf, pull_lo - a.z_lo - a.z_lo / gap_lo * step_w, 0.0)
        step_hi = np.where(gap_hi < np.inf, pull_hi - a.z_hi + a.z_hi / gap_hi * step_w, 0.0)
        held = np.concatenate([~free, np.zeros((len(step_w) - n, step_w.shape[1]), bool)])
        return step_w, y, np.where(held, 0.0, step_lo), np.where(held, 0.0, step_hi), good

    def _curvature(self, a: Lanes, unit: np.ndarray) -> np.ndarray:
        """Second derivatives of f + Σ y c by differences of first ones, in units of the variables, away from the nearer bound."""
        n, lanes = self.n, len(a.number)
        x, each = a.w[:n], np.arange(n)
        inward = np.where(a.w[:n] - a.lo[:n] > a.hi[:n] - a.w[:n], -1.0, 1.0)
        places = np.repeat(x[:, None], n, axis=1)
        places[each, each] += inward * _STEP * np.maximum(np.abs(x), unit)
        apart = places[each, each] - x
        weights = np.concatenate([np.ones((1, lanes)), a.y]) / self.sigma
        if (1 + self.m) * n * n * lanes > _MANY:
            slopes = self._weighted(places.reshape(n, -1), np.tile(weights, n)).reshape(n, n, lanes)
        else:
            jacobian = self._raw(places.reshape(n, -1))[1].reshape(1 + self.m, n, n, lanes)
            slopes = total(jacobian * weights[:, None, None])
        here = total(a.jacobian * np.concatenate([np.ones((1, lanes)), a.y])[:, None])
        matrix = (slopes - here[:, None]) / apart * unit[:, None] * unit
        matrix = np.where(np.isfinite(matrix), matrix, 0.0)
        return (matrix + matrix.swapaxes(0, 1)) / 2

    def _weighted(self, x: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The gradient of the sum of all rows times weights."""
        self.evaluations += x.shape[1]
        every = np.zeros((1 + self.evaluator.system.m, x.shape[1]))
        every[np.concatenate([[0], 1 + self.used])] = weights
        return self.evaluator.estimate_weighted(x, every)[1]

    # ---- how far
    def _search(self, a: Lanes, step: np.ndarray, y: np.ndarray, step_lo: np.ndarray, step_hi: np.ndarray,
                longest: np.ndarray) -> np.ndarray:
        """Moves the lanes; which part of its step each has taken, 0 where none is good."""
        before = self._residual(a.values, a.w)
        broken = total(np.abs(before))
        a.penalty = np.maximum(a.penalty, 1.5 * np.abs(y).max(axis=0, initial=0.0))
        gap_lo, gap_hi = a.w - a.lo, a.hi - a.w
        slope = total(a.jacobian[0] * step[:self.n]) - a.mu * total(
            np.where(gap_lo < np.inf, step / gap_lo, 0.0) - np.where(gap_hi < np.inf, step / gap_hi, 0.0)) - a.penalty * broken
        merit = self._merit(a, a.w, a.values, broken)
        error = self._error(a, a.mu)
        taken = np.zeros_like(longest)
        todo = np.arange(len(a.number))
        for parts in (np.ones(1), _SHORTER):
            if not len(todo):
                break
            new = self._tried(a, todo, parts, longest, step)
            good = np.zeros((len(parts), len(todo)), bool)
            for k, (part, w, values, jacobian) in enumerate(new):
                some = a.some(np.isin(np.arange(len(a.number)), todo))
                value = self._merit(some, w, values, total(np.abs(self._residual(values, w))))
                enough = merit[todo] + _ARMIJO * part * np.minimum(slope[todo], 0.0) + _ROUNDING * np.abs(merit[todo])
                good[k] = value <= enough
                if k == 0 and len(parts) == 1:
                    there = Lanes(some.number, some.lo, some.hi, w, some.z_lo + step_lo[:, todo], some.z_hi + step_hi[:, todo],
                                  y[:, todo], some.mu, some.penalty, some.curved, values, jacobian, some.error)
                    good[k] |= self._error(there, some.mu) <= _CLOSER * error[todo]
                good[k] &= np.isfinite(values).all(axis=0) & np.isfinite(jacobian).all(axis=(0, 1))
            first = np.argmax(good, axis=0)
            for k, (part, w, values, jacobian) in enumerate(new):
                chosen = good[k] & (first == k)
                at = todo[chosen]
                taken[at] = part[chosen]
                for mine, now in ((a.w, w), (a.values, values), (a.jacobian, jacobian)):
                    mine[..., at] = now[..., chosen]
                a.y[:, at] += part[chosen] / longest[at] * (y[:, at] - a.y[:, at]) if len(parts) > 1 else y[:, at] - a.y[:, at]
            todo = todo[~good.any(axis=0)]
        moved = taken > 0
        a.z_lo, a.z_hi = (_near(np.where(moved, z + change, z), gap, a.mu) for z, change, gap in
                          ((a.z_lo, step_lo, a.w - a.lo), (a.z_hi, step_hi, a.hi - a.w)))
        return taken

    def _tried(self, a: Lanes, todo: np.ndarray, parts: np.ndarray, longest: np.ndarray, step: np.ndarray) -> list[tuple]:
        """Trials of some lanes: the part of the step, the place, the rows there and their derivatives."""
        taken = [part * longest[todo] for part in parts]
        places = [np.minimum(np.maximum(a.w[:, todo] + t * step[:, todo], a.lo[:, todo]), a.hi[:, todo]) for t in taken]
        values, jacobian = self._look(np.concatenate([w[:self.n] for w in places], axis=1))
        split = len(places)
        return list(zip(taken, places, np.split(values, split, axis=-1), np.split(jacobian, split, axis=-1), strict=True))

    def _merit(self, a: Lanes, w: np.ndarray, values: np.ndarray, broken: np.ndarray) -> np.ndarray:
        gaps = np.concatenate([np.where(a.hi > a.lo, gap, 1.0) for gap in (w - a.lo, a.hi - w)])
        return values[0] - a.mu * log_of_product(np.where(gaps < np.inf, gaps, 1.0)) + a.penalty * broken

    def _store(self, a: Lanes) -> None:
        at = a.number
        self.x[:, at] = a.w[:self.n]
        self.y[np.ix_(self.used, at)] = a.y / self.sigma[1:] * self.sigma[0]
        self.error[at], self.value[at] = a.error, a.values[0] * self.sigma[0]


def _part(gaps: np.ndarray, steps: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """The largest part of the steps, at most 1, that leaves something of every gap."""
    most = np.maximum(_TO_BOUNDARY, 1 - mu)
    return np.minimum(1.0, np.where(steps < 0, -most * gaps / steps, np.inf).min(axis=0, initial=np.inf))


def _product(z: np.ndarray, gap: np.ndarray) -> np.ndarray:
    return np.where(gap < np.inf, z * gap, 0.0)


def _near(z: np.ndarray, gap: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """Multipliers that differ from μ / gap by no more than a large factor."""
    at = mu / gap
    return np.where((gap < np.inf) & (gap > 0), np.minimum(np.maximum(z, at / _LARGE), at * _LARGE), 0.0)
