"""check: every claim of the library about an expression on boxes, held against Arb at points of the boxes.

A claim fails only by a certain contradiction: balls are compared with doubles exactly, at more bits until they part.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb

from infimum.evaluation.evaluator import Derivative, Enclosure, Evaluator
from infimum.expr.listing import listing
from infimum.expr.node import Expr, topological
from tests.oracle.arb_series import along
from tests.oracle.arb_values import PRECISIONS, precision, value
from tests.oracle.boxes import points_of
from tests.oracle.generate import NO_DERIVATIVE, NO_STATUS, operations
from tests.oracle.tally import Tally, Violation
from tests.oracle.walk import UNDECIDED, UNDEFINED

_LARGEST_HESSIAN = 20


@dataclass(slots=True)
class Claims:
    """What the library says of every box."""

    values: dict[str, Enclosure]
    gradient: Derivative | None
    hessian: Derivative | None

    def level(self, k: int) -> int:
        return int(max(e.level[k] for e in self.values.values()))


def position(v: arb, lo: float, hi: float) -> int:
    """1: the ball certainly lies in [lo, hi]; -1: it certainly lies outside; 0: this precision cannot tell."""
    lo, hi = float(lo), float(hi)
    if lo > hi:
        return -1
    low, high = lo == -np.inf or arb(lo) <= v, hi == np.inf or v <= arb(hi)
    if low and high:
        return 1
    return -1 if (not low and v < arb(lo)) or (not high and v > arb(hi)) else 0


class Checker:
    """Checks one expression. `meant` is what the oracle evaluates, if not the expression itself."""

    def __init__(self, expr: Expr, n: int, meant: Expr | None = None, fraction: float = 0.5, derivatives: bool = True):
        self.expr, self.n, self.meant, self.fraction = expr, n, expr if meant is None else meant, fraction
        self.evaluator = Evaluator(expr, n)
        names = set(operations(expr)) | set(operations(self.meant))
        self.has_status = not names & NO_STATUS
        self.derivatives = derivatives and not names & NO_DERIVATIVE
        self.extreme = any(np.abs(c.hi[c.hi != 0]).max(initial=1) > 1e6 or np.abs(c.hi[c.hi != 0]).min(initial=1) < 1e-6
                           for c in topological([expr]) if c.op == "const")
        self.tally = Tally(expressions=1)
        self.tally.operations.update(operations(expr))

    def fail(self, what: str, lo: np.ndarray, hi: np.ndarray, point: Any = None, details: str = "") -> None:
        box = ", ".join(f"[{a!r}, {b!r}]" for a, b in zip(lo.tolist(), hi.tolist(), strict=True))
        at = "" if point is None else f"\npoint: {[float(v) for v in point]}"
        raise Violation(f"{what}\n{details}\nbox: {box}{at}\nexpression:\n{listing(self.expr)}\nmeant:\n{listing(self.meant)}")

    # ---- what is claimed
    def claims(self, lo: np.ndarray, hi: np.ndarray) -> Claims:
        ev = self.evaluator
        values = {"value": ev.value(lo, hi)}
        gradient = hessian = None
        if self.derivatives:
            mean = ev.mean_value(lo, hi)
            gradient = ev.gradient(lo, hi)
            values |= {"mean value form": mean.best, "natural of mean value": mean.natural, "value of gradient": gradient.value}
            if self.n <= _LARGEST_HESSIAN and self.has_status:
                hessian = ev.hessian(lo, hi)
                values["value of hessian"] = hessian.value
        found = Claims(values, gradient, hessian)
        self._well_formed(found, lo, hi)
        return found

    def _well_formed(self, claims: Claims, lo: np.ndarray, hi: np.ndarray) -> None:
        empty = (lo > hi).any(axis=0)
        for name, e in claims.values.items():
            bad = np.isnan(e.lo) | np.isnan(e.hi) | ~np.isin(e.level, (0, 1, 2, 3))
            bad |= empty & ~e.empty
            bad |= ~e.empty & (np.isposinf(e.lo) | np.isneginf(e.hi))
            if self.has_status:
                bad |= e.empty & ((e.lo != np.inf) | (e.hi != -np.inf) | (e.level != 0))
            for k in np.flatnonzero(bad)[:1]:
                self.fail(f"{name}: no enclosure", lo[:, k], hi[:, k], details=f"[{e.lo[k]!r}, {e.hi[k]!r}] level {e.level[k]}")
        for name, d in (("gradient", claims.gradient), ("hessian", claims.hessian)):
            if d is None:
                continue
            bad = np.isnan(d.lo) | np.isnan(d.hi) | ((d.lo > d.hi) & (d.value.level >= 2) & self.has_status)
            for k in np.flatnonzero(bad.reshape(-1, lo.shape[1]).any(axis=0))[:1]:
                self.fail(f"{name}: NaN or reversed ends", lo[:, k], hi[:, k], details=f"{d.lo[..., k]} {d.hi[..., k]}")

    # ---- values
    def check(self, lo: np.ndarray, hi: np.ndarray, points: list[np.ndarray], rng: np.random.Generator, share: float) -> Tally:
        """All claims on boxes (columns) at their points (rows of `points[k]`); derivatives at a share of the points."""
        claims = self.claims(lo, hi)
        self.tally.boxes += lo.shape[1]
        for k in range(lo.shape[1]):
            level = claims.level(k) if self.has_status else 0
            self.tally.levels[level] += 1
            self._box(claims, k, level, lo[:, k], hi[:, k], points[k], rng, share)
        self._points(np.concatenate(points))
        return self.tally

    def _box(self, claims: Claims, k: int, level: int, lo: np.ndarray, hi: np.ndarray, points: np.ndarray,
             rng: np.random.Generator, share: float) -> None:
        low = max(float(e.lo[k]) for e in claims.values.values())
        high = min(float(e.hi[k]) for e in claims.values.values())
        before = None
        for p in points:
            v = self._settled(p, low, high)
            if v is UNDEFINED:
                self.tally.undefined += 1
                if level >= 1:
                    self.fail("claimed `defined`, but the function is undefined at a point", lo, hi, p, f"level {level}")
            elif v is UNDECIDED:
                self.tally.undecided += 1
            else:
                self.tally.values += 1
                self._inside(claims, k, v, low, high, lo, hi, p)
                if level >= 2 and claims.gradient is not None:
                    if before is not None:
                        self._slope(claims.gradient, k, lo, hi, before, (p, v))
                    if rng.random() < share:
                        self._derivative(claims, k, lo, hi, p, v, rng)
                before = p, v
                continue
            before = None

    def _settled(self, p: np.ndarray, low: float, high: float) -> Any:
        """The value at the first precision that places it; a ball that never parts from an end is returned as it is."""
        v: Any = UNDECIDED
        for bits in PRECISIONS:
            found = value(self.meant, p, bits, self.fraction)
            if found is UNDEFINED:
                return UNDEFINED
            if found is not UNDECIDED:
                v = found
                if position(v, low, high):
                    return v
        if v is not UNDECIDED:
            self.tally.touching += 1
        return v

    def _inside(self, claims: Claims, k: int, v: arb, low: float, high: float, lo, hi, p) -> None:
        if position(v, low, high) >= 0:
            return
        for name, e in claims.values.items():
            if position(v, float(e.lo[k]), float(e.hi[k])) < 0:
                self.fail(f"{name}: the enclosure loses a value", lo, hi, p,
                          f"value {v.str(30)} not in [{e.lo[k]!r}, {e.hi[k]!r}], level {e.level[k]}")

    # ---- derivatives
    def _slope(self, gradient: Derivative, k: int, lo, hi, one: tuple, two: tuple) -> None:
        """Lebourg: the slope between two points of a box that differ in x_i lies in the enclosure of the i-th derivative."""
        i = np.flatnonzero(one[0] != two[0])
        if len(i) != 1 or gradient.value.level[k] < 2:
            return
        i = int(i[0])
        with precision(PRECISIONS[1]):
            slope = (one[1] - two[1]) / (arb(float(one[0][i])) - arb(float(two[0][i])))
            self.tally.slopes += 1
            if position(slope, float(gradient.lo[i, k]), float(gradient.hi[i, k])) < 0:
                self.fail(f"a slope along x[{i}] is outside the gradient", lo, hi, two[0],
                          f"slope {slope.str(25)} from {one[0].tolist()}, not in [{gradient.lo[i, k]!r}, {gradient.hi[i, k]!r}]")

    def _derivative(self, claims: Claims, k: int, lo, hi, p: np.ndarray, v: arb, rng: np.random.Generator) -> None:
        gradient = claims.gradient
        level = int(gradient.value.level[k])
        if level < 2:
            return
        plain = {}
        for i in range(self.n) if self.n <= 4 else rng.integers(self.n, size=2):
            i, sides, curvatures = int(i), [], []
            for side in (1.0, -1.0):
                jet = self._along(p, {i: side}, lo, hi, v, float(gradient.lo[i, k]), float(gradient.hi[i, k]))
                if jet is UNDECIDED:
                    continue
                sides.append(jet.s[1] * side)
                curvatures += [jet.s[2]] if jet.s.prec > 2 else []
                if side > 0 and not jet.kinked and jet.s.prec > 2:
                    plain[i] = jet.s[2]
            for order, found in (("first", sides), ("second", curvatures)):
                if level == 3 and len(found) == 2 and not found[0].overlaps(found[1]):
                    self.fail(f"claimed `smooth`, but the {order} derivatives along x[{i}] from both sides differ", lo, hi, p,
                              f"{found}")
        if level == 3 and claims.hessian is not None and claims.hessian.value.level[k] == 3:
            self._second(claims.hessian, k, lo, hi, p, v, plain)

    def _along(self, p: np.ndarray, direction: dict[int, float], lo, hi, v: arb, low: float, high: float) -> Any:
        """The series along a direction that leaves p, with the claim `lipschitz` held against it."""
        d = np.zeros(self.n)
        for i, side in direction.items():
            d[i] = side
        jet: Any = UNDECIDED
        for bits in PRECISIONS[:2]:
            jet = along(self.meant, p, d, bits, self.fraction)
            if jet is UNDEFINED:
                self.fail("claimed `lipschitz`, but undefined beside the point", lo, hi, p, f"direction {direction}")
            if jet is not UNDECIDED and jet.s.prec >= 2 and position(jet.s[1] * sum(direction.values()), low, high):
                break
        if jet is UNDECIDED or jet.s.prec < 2:
            self.tally.undecided_derivatives += 1
            return UNDECIDED
        if not jet.first.overlaps(v):
            self.fail("claimed `lipschitz`, but the function jumps", lo, hi, p,
                      f"direction {direction}: {v.str(20)} becomes {jet.first.str(20)}")
        self.tally.derivatives += 1
        slope = jet.s[1] * sum(direction.values())
        if len(direction) == 1 and position(slope, low, high) < 0:
            self.fail(f"the gradient loses a derivative along {direction}", lo, hi, p,
                      f"{slope.str(25)} not in [{low!r}, {high!r}]")
        return jet

    def _second(self, hessian: Derivative, k: int, lo, hi, p, v: arb, plain: dict[int, arb]) -> None:
        """Second derivatives from the series along e_i, and by polarisation along e_i + e_j."""
        for i in plain:
            for j in plain:
                if j > i:
                    jet = self._along(p, {i: 0.5, j: 0.5}, lo, hi, v, -np.inf, np.inf)
                    if jet is UNDECIDED or jet.kinked or jet.s.prec < 3:
                        continue
                    with precision(PRECISIONS[1]):
                        entry = jet.s[2] * 4 - plain[i] - plain[j]
                elif i == j:
                    entry = plain[i] * 2
                else:
                    continue
                self.tally.second += 1
                for a, b in {(i, j), (j, i)}:
                    low, high = float(hessian.lo[a, b, k]), float(hessian.hi[a, b, k])
                    if position(entry, low, high) < 0:
                        self.fail(f"the Hessian loses entry {a}, {b}", lo, hi, p, f"{entry.str(25)} not in [{low!r}, {high!r}]")

    # ---- boxes that are points, and estimates
    def _points(self, points: np.ndarray) -> None:
        """Estimates lie near the enclosure of the point, and that of the gradient where the function is smooth.

        They promise no more than plain arithmetic does: numbers that may overflow on the way are left out.
        """
        points = points[((np.abs(points) < 100) & ((np.abs(points) > 1e-6) | (points == 0))).all(axis=1)]
        if not len(points) or self.extreme or not self.has_status:
            return
        x = np.ascontiguousarray(points.T)
        exact, guess = self.evaluator.value(x, x), self.evaluator.estimate(x)
        self._near("estimate", guess, exact.lo, exact.hi, (exact.level >= 1), points)
        if self.derivatives:
            exact, (guess, slopes) = self.evaluator.gradient(x, x), self.evaluator.estimate_gradient(x)
            for i in range(self.n):
                self._near(f"estimate of derivative {i}", slopes[i], exact.lo[i], exact.hi[i], exact.value.smooth, points)

    def _near(self, name: str, guess: Any, lo: Any, hi: Any, claimed: Any, points: np.ndarray) -> None:
        with np.errstate(all="ignore"):
            room = 1e3 * (hi - lo) + 1e-6 * (1 + np.maximum(np.abs(lo), np.abs(hi)))
            sure = claimed & np.isfinite(guess) & np.isfinite(lo) & np.isfinite(hi) & (hi - lo <= 1e-3 * np.abs(lo))
            far = sure & ~((guess >= lo - room) & (guess <= hi + room))
        self.tally.estimates += int(sure.sum())
        for k in np.flatnonzero(far)[:1]:
            self.fail(f"{name} is off", points[k], points[k], points[k], f"{guess[k]!r}, enclosure [{lo[k]!r}, {hi[k]!r}]")


def check(expr: Expr, n: int, boxes: tuple[np.ndarray, np.ndarray], points: Any = None, *, meant: Expr | None = None,
          seed: int = 0, per_box: int = 6, share: float = 0.3, fraction: float = 0.5, derivatives: bool = True) -> Tally:
    """Checks the expression on boxes (lo, hi of shape (n, N)) at `points` (a list of rows for each box; drawn if None)."""
    rng = np.random.default_rng(seed)
    lo, hi = (np.asarray(a, dtype=float) for a in boxes)
    if points is None:
        points = [points_of(rng, lo[:, k], hi[:, k], per_box) for k in range(lo.shape[1])]
    return Checker(expr, n, meant, fraction, derivatives).check(lo, hi, points, rng, share)
