"""What linear bounds claim, held against point enclosures, many points at a time, and against Arb, where it is installed.

A claim fails only by a certain contradiction. Of point enclosures the upper end counts: where f is defined at a point, the line
there is at most that; what is lost by adding up in plain arithmetic is counted in the claim's favour.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

import numpy as np

from infimum.backend.cpu import CpuBackend
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import LINEAR
from infimum.expr.listing import listing
from infimum.expr.node import Expr, var
from infimum.interval.pair import Pair
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder
from infimum.kernel.region_cut import DISCARDED_AXIS, rows
from infimum.relax.backward_bound_kernel import BackwardBoundKernel
from tests.oracle.linear_functions import Sample, boxes, points, sample

HAS_ARB = find_spec("flint") is not None
_UNIT = 2.0**-51


@dataclass(slots=True)
class LinearTally:
    """Counts of what was held; nothing that was skipped is hidden."""

    functions: int = 0
    boxes: int = 0
    points: int = 0         # at which a value is known: compared with the line, the lower bound and what is left
    nowhere: int = 0        # points at which the function is undefined, or not known to be defined
    by_arb: int = 0         # of these points, those that Arb judged as well
    undecided: int = 0      # by Arb
    lines: int = 0          # boxes with a finite line
    higher: int = 0         # where its bound is above the natural one
    bounded: int = 0        # boxes with a finite line and a finite natural bound and values,
    looseness: float = 0.0  # and the sum of the distance of the bound to the least value seen, in that of the natural one
    below: int = 0          # points that are not above the upper bound and must be left
    cut: int = 0            # boxes that were made smaller, or discarded

    def add(self, other: "LinearTally") -> "LinearTally":
        for f in fields(self):
            setattr(self, f.name, getattr(self, f.name) + getattr(other, f.name))
        return self

    def table(self) -> str:
        rows = [(f.name.replace("_", " "), getattr(self, f.name)) for f in fields(self) if f.name != "looseness"]
        lines = [f"{name:>12}  {count:,}" for name, count in rows]
        lines.append(f"{'looseness':>12}  {self.looseness / max(self.bounded, 1):.3f} of the natural bound's, on average")
        return "\n".join(lines)


class LinearViolation(AssertionError):
    """A claim of a linear bound that does not hold."""


class Lines:
    """The linear functions below an expression: f(x) >= slopes·(x - lo) - nlo."""

    def __init__(self, f: Expr, n: int, backend: Any = None):
        b, data, self.n = Builder(), Data(), n
        written = BackwardBoundKernel(b, data, lambda i: Pair(b.neg(b.input(0, i)), b.input(1, i)), [f], var("x", (n,)))
        found, = written.lines
        with b.loop(n) as turn:
            b.output(0, turn.index, found.slope(turn.index))
        b.output(1, 0, found.nlo)
        b.output(1, 1, written.natural[0].nlo)
        self.compiled = (backend or CpuBackend(threads=1)).compile(b.kernel("line", 2, 2))
        self.data = data.doubles(), data.positions()

    def __call__(self, lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Slopes (n, N), minus the constants (N), and the lower bounds (N) of the enclosures that the lines were made with."""
        slopes, rest = np.empty(lo.shape), np.empty((2, lo.shape[1]))
        self.compiled.run([np.ascontiguousarray(lo), np.ascontiguousarray(hi)], [slopes, rest], *self.data)
        return slopes, rest[0], -rest[1]


class LinearClaims:
    """The claims about one function on boxes (n, N)."""

    def __init__(self, f: Sample, lo: np.ndarray, hi: np.ndarray):
        self.f, self.n, self.lo, self.hi = f, f.n, lo, hi
        self.evaluator = Evaluator(f.built.built, f.n, CpuBackend(threads=1))
        self.slopes, self.nlo, _ = Lines(f.built.built, f.n)(lo, hi)
        natural = self.evaluator.value(lo, hi)
        self.natural = np.where(natural.empty, -np.inf, natural.lo)
        self.usable = np.isfinite(self.slopes).all(axis=0) & np.isfinite(self.nlo) & np.isfinite(lo).all(axis=0)
        self.tally = LinearTally(functions=1, boxes=lo.shape[1], lines=int(self.usable.sum()))

    def left(self, upper: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Lower and upper ends, lower bounds, and where nothing is left, of the boxes by an upper bound."""
        n, count = self.n, self.lo.shape[1]
        regions = np.concatenate([self.lo, self.hi, np.full((1, count), -np.inf), np.zeros((1, count)), np.full((1, count), 3.0)])
        given = np.append(upper, np.ones(n))
        out = self.evaluator.run(LINEAR, [regions], parameters=given)[0]
        lower_row, axis_row, _ = rows(n)
        return out[:n], out[n:2 * n], out[lower_row], out[axis_row] == DISCARDED_AXIS

    def fail(self, what: str, k: int, x: np.ndarray, details: str) -> None:
        sides = ", ".join(f"[{a!r}, {b!r}]" for a, b in zip(self.lo[:, k].tolist(), self.hi[:, k].tolist(), strict=True))
        raise LinearViolation(f"{what}\n{details}\nbox: {sides}\npoint: {x.tolist()}\nexpression:\n{listing(self.f.built.built)}")

    # ---- by point enclosures
    def by_enclosures(self, x: np.ndarray, each: int) -> np.ndarray:
        """Holds the claims at points (n, N · each), those of a box side by side; returns where values are known."""
        with np.errstate(all="ignore"):
            values = self.evaluator.value(x, x)
        known = values.defined & (values.lo <= values.hi)
        self.tally.points += int(known.sum())
        self.tally.nowhere += int((~known).sum())
        above = np.where(known, values.hi, np.inf).reshape(-1, each)
        self._below_the_values(x, above, each)
        best = above.min(axis=1)
        self._looseness(best)
        finite = best[np.isfinite(best)]
        if finite.size:
            self._kept(x, above, float(np.sort(finite)[finite.size // 2]), each)
        self._kept(x, above, np.inf, each)
        return known

    def _below_the_values(self, x: np.ndarray, above: np.ndarray, each: int) -> None:
        with np.errstate(all="ignore"):
            terms = self.slopes[:, :, None] * (x.reshape(self.n, -1, each) - self.lo[:, :, None])
            line, size = terms.sum(axis=0) - self.nlo[:, None], np.abs(terms).sum(axis=0) + np.abs(self.nlo)[:, None]
            surely = line - (self.n + 4) * _UNIT * size - 1e-300
            wrong = self.usable[:, None] & np.isfinite(size) & (surely > above)
        for k, j in np.argwhere(wrong)[:1]:
            self.fail("a line above the function", k, x[:, k * each + j],
                      f"at least {surely[k, j]!r} by the line, at most {above[k, j]!r} by the enclosure of the point")

    def _looseness(self, best: np.ndarray) -> None:
        """How far bounds are below the least values that were seen."""
        with np.errstate(all="ignore"):
            least = np.where(self.usable, np.minimum(self.slopes * (self.hi - self.lo), 0.0).sum(axis=0) - self.nlo, -np.inf)
            both = np.isfinite(least) & np.isfinite(self.natural) & np.isfinite(best) & (best > self.natural)
            share = np.clip((best - np.maximum(least, self.natural)) / (best - self.natural), 0.0, 1.0)
        self.tally.higher += int((both & (least > self.natural)).sum())
        self.tally.bounded += int(both.sum())
        self.tally.looseness += float(share[both].sum())

    def _kept(self, x: np.ndarray, above: np.ndarray, upper: float, each: int) -> None:
        """No point that is at most `upper` is cut off, and no lower bound is above a value."""
        lo, hi, lower, gone = self.left(upper)
        needed = (above <= upper) & np.isfinite(above)
        at = x.reshape(self.n, -1, each)
        inside = ((lo[:, :, None] <= at) & (at <= hi[:, :, None])).all(axis=0) & ~gone[:, None]
        for what, wrong in (("a point that is not above the upper bound is cut off", needed & ~inside),
                            ("a lower bound above the function", lower[:, None] > above)):
            for k, j in np.argwhere(wrong)[:1]:
                self.fail(what, k, x[:, k * each + j], f"upper bound {upper!r}, lower bound {lower[k]!r}, value at most "
                          f"{above[k, j]!r}, left {lo[:, k].tolist()} to {hi[:, k].tolist()}, gone {gone[k]}")
        self.tally.below += int(needed.sum())
        self.tally.cut += int(((lo > self.lo) | (hi < self.hi)).any(axis=0).sum() + gone.sum())

    # ---- by Arb
    def by_arb(self, x: np.ndarray, each: int, chosen: Iterable[int]) -> None:
        """The same exactly, at the points of these numbers."""
        from tests.oracle.arb_values import PRECISIONS, value
        from tests.oracle.walk import Special

        lower = self.left(np.inf)[2]
        for number in chosen:
            k, p, settled = number // each, x[:, number], False
            bounds = [Fraction(float(lower[k]))] if np.isfinite(lower[k]) else []
            if self.usable[k]:
                bounds.append(_exact_line(self.slopes[:, k], self.nlo[k], p, self.lo[:, k]))
            for bits in PRECISIONS:
                found: Any = value(self.f.built.meant, p, bits)
                if not isinstance(found, Special):
                    settled = self._held(found, bounds, bits, k, p)
                if settled:
                    break
            self.tally.by_arb += settled
            self.tally.undecided += not settled

    def _held(self, found: Any, bounds: list[Fraction], bits: int, k: int, p: np.ndarray) -> bool:
        """Does the ball lie above all bounds?"""
        from flint import arb

        from tests.oracle.arb_values import precision

        with precision(bits):
            balls = [arb(v.numerator) / arb(v.denominator) for v in bounds]
            if any(found < v for v in balls):
                self.fail("a bound above the value that Arb finds", k, p, f"{found.str(30)}, bounds {[v.str(30) for v in balls]}")
            return all(found >= v for v in balls)


def _exact_line(slopes: np.ndarray, nlo: float, x: np.ndarray, lo: np.ndarray) -> Fraction:
    """The line at x, exactly."""
    terms = (Fraction(s) * (Fraction(p) - Fraction(q)) for s, p, q in zip(slopes.tolist(), x.tolist(), lo.tolist(), strict=True))
    return sum(terms, -Fraction(float(nlo)))


def one_round(seed: int, count: int = 400, each: int = 256, judged: int = 60) -> LinearTally:
    """One random function on so many boxes, at so many points of each; so many of these by Arb."""
    f, rng = sample(seed)
    claims = LinearClaims(f, *boxes(rng, f, count))
    x = points(rng, claims.lo, claims.hi, each, f.places)
    known = np.flatnonzero(claims.by_enclosures(x, each))
    if HAS_ARB and judged and known.size:
        claims.by_arb(x, each, rng.choice(known, min(judged, known.size), replace=False).tolist())
    return claims.tally
