"""Local minima of constrained problems: many starts of SLSQP, and one of them made precise to hundreds of bits.

`polish` solves the first-order conditions over the constraints that are active at a point, by Newton steps whose residuals are
computed in Arb, so the value is right to the last digit if the active set is. Everything is checked: constraints at the polished
point, and that its value is the one that the local solver saw.
"""

import math
import time
import warnings
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from flint import arb, ctx
from scipy.optimize import minimize

from infimum.problems.constrained import Constrained

BITS, STEP = 600, 2.0**-150
STEEP = 1e-30  # the imaginary step of complex differentiation


@dataclass(frozen=True)
class Sides:
    """The constraints of a problem as one vector with ends."""

    problem: Constrained
    lb: np.ndarray
    ub: np.ndarray

    @classmethod
    def of(cls, p: Constrained) -> "Sides":
        """The ends of all components, in the order of `values`."""
        x = (p.lo + p.hi) / 2 if p.minimiser is None else p.minimiser
        with np.errstate(all="ignore"):
            shapes = [np.shape(c.fun(x)) for c in p.constraints]
        lb, ub = (np.concatenate([np.ravel(np.broadcast_to(np.asarray(end, dtype=float), shape))
                                  for end, shape in zip(ends, shapes, strict=True)]) if shapes else np.zeros(0)
                  for ends in ([c.lb for c in p.constraints], [c.ub for c in p.constraints]))
        return cls(p, lb, ub)

    @property
    def equality(self) -> np.ndarray:
        """Which components are equalities."""
        return self.lb == self.ub

    def values(self, x: Any) -> np.ndarray:
        """All components at a point of floats, complex numbers or Arb's."""
        parts = [np.ravel(np.asarray(c.fun(x))) for c in self.problem.constraints]
        return np.concatenate(parts) if parts else np.zeros(0)

    def violation(self, x: Any, values: np.ndarray | None = None) -> float:
        """By how much a constraint or a bound is violated at most, relative to the size of its end where that is above 1."""
        values = self.values(x) if values is None else values
        low, high = np.isfinite(self.lb), np.isfinite(self.ub)
        over = np.concatenate([(self.lb - values)[low] / np.maximum(1, np.abs(self.lb[low])),
                               (values - self.ub)[high] / np.maximum(1, np.abs(self.ub[high])),
                               self.problem.lo - x, x - self.problem.hi])
        return float(np.max(over, initial=0.0)) if not np.isnan(over).any() else math.inf


def slope(fun: Any, x: np.ndarray) -> np.ndarray:
    """The derivative of a number or a vector by complex steps, exact to rounding."""
    columns = []
    for i in range(len(x)):
        moved = x.astype(complex)
        moved[i] += 1j * STEEP
        columns.append(np.imag(fun(moved)) / STEEP)
    return np.stack(columns, axis=-1)


def descend(p: Constrained, sides: Sides, start: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Where SLSQP ends; the integer variables stay where they are."""
    lo, hi = np.where(whole, start, p.lo), np.where(whole, start, p.hi)
    one, low, high = sides.equality, np.isfinite(sides.lb) & ~sides.equality, np.isfinite(sides.ub) & ~sides.equality
    scale = max(1.0, abs(float(p.fun(start)))) if np.isfinite(p.fun(start)) else 1.0
    parts = [("eq", one, sides.lb, 1), ("ineq", low, sides.lb, 1), ("ineq", high, sides.ub, -1)]
    constraints = [{"type": kind, "fun": lambda x, m=mask, e=end, s=sign: s * (sides.values(x) - e)[m],
                    "jac": lambda x, m=mask, s=sign: s * slope(sides.values, x)[m]}
                   for kind, mask, end, sign in parts if mask.any()]
    found = minimize(lambda x: float(p.fun(x)) / scale, start, jac=lambda x: slope(p.fun, x) / scale, method="SLSQP",
                     bounds=list(zip(lo, hi, strict=True)), constraints=constraints, options={"ftol": 1e-15, "maxiter": 300})
    return np.clip(found.x, lo, hi)


def starts(p: Constrained, count: int, rng: np.random.Generator) -> Any:
    """Random points, spread over orders of magnitude where a positive variable has many of them."""
    lo, hi = p.lo, p.hi
    steep = (lo > 0) & (hi > 100 * lo)
    whole = np.zeros(p.n, dtype=bool) if p.integrality is None else np.array(p.integrality, dtype=bool)
    for _ in range(count):
        u = rng.random(p.n)
        x = lo + u * (hi - lo)
        x[steep] = lo[steep] * (hi[steep] / lo[steep]) ** u[steep]
        if whole.any():
            x[whole] = rng.integers(lo[whole].astype(int), hi[whole].astype(int) + 1)
        yield x


def search(p: Constrained, count: int, extra: Any = (), seconds: float = 6.0) -> list[tuple[float, np.ndarray]]:
    """Feasible ends of the descents, the best first; after the given time none is begun."""
    began = time.monotonic()
    sides, rng, ends = Sides.of(p), np.random.default_rng(20260101), []
    whole = np.zeros(p.n, dtype=bool) if p.integrality is None else np.array(p.integrality, dtype=bool)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = [np.clip(np.where(whole, np.rint(x), x), p.lo, p.hi) for x in map(np.asarray, extra)]
        ends += [(float(p.fun(x)), x) for x in given if sides.violation(x) < 1e-6]
        for start in [*extra, *starts(p, count, rng)]:
            if time.monotonic() - began > seconds:
                break
            try:
                x = descend(p, sides, np.clip(np.asarray(start, dtype=float), p.lo, p.hi), whole)
                value = float(p.fun(x))
            except (ValueError, ZeroDivisionError):  # SLSQP met a NaN
                continue
            if sides.violation(x) < 1e-7 and math.isfinite(value):
                ends.append((value, x))
    return sorted(ends, key=lambda end: end[0])


# ---- precision
def exact(x: Any) -> np.ndarray:
    """Arb numbers without radius."""
    return np.array([arb(v).mid() for v in x], dtype=object)


def _all(p: Constrained, sides: Sides, x: np.ndarray) -> np.ndarray:
    """f and all components of the constraints."""
    values = [arb(p.fun(x)), *(arb(v) for v in sides.values(x))]
    return np.array([v.mid() for v in values], dtype=object)


def _slopes(p: Constrained, sides: Sides, x: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Their derivatives by the free variables, by central differences at high precision."""
    columns = []
    for i in free:
        up, down = x.copy(), x.copy()
        up[i], down[i] = (x[i] + STEP).mid(), (x[i] - STEP).mid()
        columns.append((_all(p, sides, up) - _all(p, sides, down)) / (2 * STEP))
    rows = 1 + len(sides.lb)
    return np.stack(columns, axis=1) if columns else np.zeros((rows, 0), dtype=object)


def _float(a: Any) -> np.ndarray:
    return np.array([float(arb(v).mid()) for v in np.ravel(a)]).reshape(np.shape(a))


def polish(p: Constrained, point: np.ndarray, near: float, cut: float,
           without: int | None = None) -> tuple[arb, np.ndarray] | None:
    """Value and point that satisfy the first-order conditions with all that is active within `near`; None if that fails.

    Singular values below `cut` are left out.
    `without` leaves one active inequality or bound out: where more are active than there are variables, doubles such as 0.1 for
    a tenth rarely let all of them meet in one point.
    """
    sides = Sides.of(p)
    values, span = sides.values(point), np.maximum(1, np.abs(point))
    low, high = (np.isfinite(end) & ~sides.equality & (np.abs(values - end) <= near * np.maximum(1, np.abs(end)))
                 for end in (sides.lb, sides.ub))
    at = np.where(point - p.lo <= near * span, p.lo, np.where(p.hi - point <= near * span, p.hi, point))
    fixed = (at == p.lo) | (at == p.hi)
    if without is not None:
        tight, bound = np.flatnonzero(low | high), np.flatnonzero(fixed & (p.lo < p.hi))
        if without >= len(tight) + len(bound):
            return None
        if without < len(tight):
            low[tight[without]] = high[tight[without]] = False
        else:
            fixed[bound[without - len(tight)]] = False
    active = np.flatnonzero(low | high | sides.equality)
    end = exact(np.where(high, sides.ub, sides.lb)[active])
    if p.integrality is not None:
        whole = np.array(p.integrality, dtype=bool)
        at[whole], fixed = np.rint(at[whole]), fixed | whole
    free = np.flatnonzero(~fixed)
    x, scale = exact(at), np.maximum(1e-3, np.abs(at))[free]
    multipliers = None
    for turn in range(60):
        both, slopes = _all(p, sides, x), _slopes(p, sides, x, free)
        gradient, jacobian, gap = slopes[0], slopes[1:][active], both[1:][active] - end
        rows = _float(jacobian) * scale
        size = np.maximum(np.abs(rows).max(axis=1, initial=0), 1e-12) if len(free) else np.ones(len(active))
        if multipliers is None:
            multipliers = exact(np.linalg.lstsq(_float(jacobian).T, -_float(gradient), rcond=1e-10)[0] if len(free)
                                else np.zeros(len(active)))
        left = gradient + (multipliers @ jacobian if len(active) else 0)
        if turn % 6 == 0:
            fast = _float(multipliers)

            def lagrangian(z: np.ndarray, fast: np.ndarray = fast) -> Any:
                return slope(lambda y: p.fun(y) + (fast @ sides.values(y)[active] if len(active) else 0), z)[free]
            here, hessian = _float(x), np.zeros((len(free), len(free)))
            for k, i in enumerate(free):
                h = 1e-6 * max(1e-3, abs(here[i]))
                up, down = here.copy(), here.copy()
                up[i], down[i] = here[i] + h, here[i] - h
                hessian[:, k] = (lagrangian(up) - lagrangian(down)) / (2 * h)
            hessian = (hessian + hessian.T) / 2 * np.outer(scale, scale)
        weight = max(float(np.abs(hessian).max(initial=0)), 1e-12)
        matrix = np.block([[hessian / weight, (rows / size[:, None]).T],
                           [rows / size[:, None], np.zeros((len(active), len(active)))]])
        right = -np.concatenate([_float(left) * scale / weight, _float(gap) / size])
        if not np.isfinite(matrix).all() or not np.isfinite(right).all():
            return None
        step = np.linalg.lstsq(matrix, right, rcond=cut)[0]
        move = step[:len(free)] * scale
        x = x.copy()
        x[free] = [(a + b).mid() for a, b in zip(x[free], exact(move), strict=True)]
        multipliers = exact(multipliers + exact(step[len(free):] * weight / size)) if len(active) else multipliers
        if np.abs(move / scale).max(initial=0) < 1e-60 and np.abs(right).max(initial=0) < 1e-50:
            break
        if turn == 20 and np.abs(right).max(initial=0) > 1e-30:  # does not converge
            return None
    else:
        return None
    return accept(p, sides, x)


def accept(p: Constrained, sides: Sides, x: np.ndarray) -> tuple[arb, np.ndarray] | None:
    """Value and point if every constraint holds at the precise point to 40 digits."""
    values = _all(p, sides, x)
    over = [v for end, value in zip(exact(np.where(np.isfinite(sides.lb), sides.lb, 0)), values[1:], strict=True)
            for v in [end - value]]
    under = [value - end for end, value in zip(exact(np.where(np.isfinite(sides.ub), sides.ub, 0)), values[1:], strict=True)]
    over = np.array(over, dtype=object)[np.isfinite(sides.lb)]
    under = np.array(under, dtype=object)[np.isfinite(sides.ub)]
    bounds = [*(exact(p.lo) - x), *(x - exact(p.hi))]
    worst = max((float(arb(v)) for v in [*over, *under, *bounds]), default=0.0)
    size = max(1.0, *(abs(float(v)) for v in values[1:])) if len(values) > 1 else 1.0
    return (values[0], x) if worst <= 1e-40 * size else None


def precise(p: Constrained, point: np.ndarray, seen: float) -> tuple[arb, np.ndarray] | None:
    """The best polished point near a local minimiser, over several ideas of what is active."""
    before, ctx.prec, began = ctx.prec, BITS, time.monotonic()
    try:
        found = []
        ways = [*product((1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3), (1e-13, 1e-7), (None,)),
                *product((1e-8, 1e-6), (1e-13, 1e-7), range(p.n + len(Sides.of(p).lb)))]
        for near, cut, without in ways:
            if (without is not None and found) or time.monotonic() - began > 25:
                continue
            try:
                polished = polish(p, point, near, cut, without)
            except (ValueError, ZeroDivisionError, OverflowError, np.linalg.LinAlgError):
                polished = None
            if polished and abs(float(polished[0]) - seen) <= 1e-6 * max(1.0, abs(seen)):
                found.append(polished)
        if not found:
            for digits in range(0, 9):
                snapped = accept(p, Sides.of(p), exact(np.clip(np.round(point, digits), p.lo, p.hi)))
                if snapped and abs(float(snapped[0]) - seen) <= 1e-3 * max(1.0, abs(seen)):  # at a cusp no more is seen
                    return snapped
            return None
        return min(found, key=lambda pair: float(pair[0]))
    finally:
        ctx.prec = before
