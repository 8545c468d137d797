"""Sweeps: a box shrinks in all variables at once, at a cost that is linear in their number."""

from typing import Any

import numpy as np

from infimum.bounds.sweeps.local_context import ContextNumbers
from infimum.bounds.sweeps.sweep_kernel import ALIVE, LEAST, NEW_HI, NEW_LO
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import CONTEXT, NEWTON, POINT_CONTEXT, SAMPLE, SHAVING, SPREAD, SWEEP, ProgramKind
from infimum.search.policy.bounds import SWEEPS as POLICY


class Sweeper:
    """Sweeps of boxes, and of points. `possible` is False where the function cannot be taken apart.

    The user's bounds are lo and hi. What the other variables contribute is enclosed by pieces of `slices` slices (0: naturally).
    """

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, slices: int = 0):
        self.evaluator, self.lo, self.hi, self.n = evaluator, lo, hi, len(lo)
        self.possible = evaluator.facts.local is not None
        self.numbers = ContextNumbers(evaluator.facts.local) if self.possible else None
        self.slices = slices if evaluator.facts.has_pieces else 0
        self.every, self.parts = np.arange(self.n), np.arange(POLICY.slices + 1) / POLICY.slices

    def sweep(self, lo: np.ndarray, hi: np.ndarray, upper: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(lo, hi, lower): what is left of the boxes (n, N), and a lower bound of f on each. A box that is proved away has lo >
        hi."""
        count, found = lo.shape[1], self.context(lo, hi)
        rows = [row for number in self.numbers.enclosures(self.every, lo, hi, found) for row in number]
        numbers = np.empty((max(1, len(rows)), self.n * count))
        for k, row in enumerate(rows):
            numbers[k].reshape(self.n, count)[...] = row
        bounded = (np.isfinite(lo) & np.isfinite(hi)).all(axis=0)
        user = np.empty((3, self.n * count))
        for k, row in enumerate((self.lo[:, None], self.hi[:, None], bounded)):
            user[k].reshape(self.n, count)[...] = row
        box = np.stack([lo.ravel(), hi.ravel()])
        out = self._slices(box, user, numbers, upper)
        new_lo, new_hi, alive, least = (out[row].reshape(self.n, count) for row in (NEW_LO, NEW_HI, ALIVE, LEAST))
        dead = (alive == 0).any(axis=0)
        return np.where(dead, np.inf, new_lo), np.where(dead, -np.inf, new_hi), least.max(axis=0)

    def shave(self, regions: Any, upper: float, bounds: Any = None) -> tuple[Any, Any]:
        """Sweeps regions, columns of one array (see `kernel/region_cut.py`), in the memory where they lie. What is left of them,
        and a row that says of each if that was worth it. `bounds` are those of each region, where they are not the user's."""
        n, count = self.n, regions.shape[1]
        found = self.context(regions[:n], regions[n:2 * n])
        kind, own = (SPREAD, []) if bounds is None else (ProgramKind.of(SPREAD, in_boxes=True), [bounds])
        user, numbers = self.evaluator.run(kind, [regions, *found, *own], parameters=np.concatenate([self.lo, self.hi]))
        out = self._slices(*(a.reshape(a.shape[0] // n, n * count) for a in (regions[:2 * n], user, numbers)), upper)
        return tuple(self.evaluator.run(SHAVING, [regions, out.reshape(4 * n, count)], parameters=np.array([upper])))

    def context(self, lo: Any, hi: Any) -> list[Any]:
        """What the numbers of the boxes are read from."""
        kind = ProgramKind.of(CONTEXT, slices=self.slices) if self.slices else CONTEXT
        return self.evaluator.run(kind, [lo, hi]) if self.numbers.needs_context else []

    def _slices(self, box: Any, user: Any, numbers: Any, upper: float) -> Any:
        """What is left of each variable of each box."""
        return self.evaluator.run(SWEEP, [box, user, numbers], parameters=np.concatenate([[upper], self.parts]))[0]

    def refine(self) -> bool:
        """From now on encloses pieces by more slices. False if there are none, or by as many as one can pay for."""
        finer = 16 * self.slices or POLICY.slices
        too_many = finer > POLICY.most_slices or self.n * finer > POLICY.most_slices_times_variables
        if not self.evaluator.facts.has_pieces or too_many:
            return False
        self.slices = finer
        return True

    def sample(self, x: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, ...]:
        """For every variable alone, of evenly spaced places in its window: the lowest and f there, the highest and f there.
        Estimates."""
        window = np.stack([lo, hi])
        out, = self.evaluator.run(SAMPLE, [window, window, self._at(x)], parameters=np.concatenate([[0.0], self.parts]))
        return tuple(out)

    def newton(self, x: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, bool]:
        """A Newton step of every variable alone, within the bounds; and whether f is convex along all of them. An estimate."""
        out, = self.evaluator.run(NEWTON, [np.stack([lo, hi]), x[None], self._at(x)])
        return out[0], bool(out[1].all())

    def _at(self, x: np.ndarray) -> np.ndarray:
        """The numbers of every variable at the point."""
        found = self.evaluator.run(POINT_CONTEXT, [np.ascontiguousarray(x[:, None])]) if self.numbers.needs_context else []
        rows = self.numbers.estimates(self.every, x, found)
        return np.stack(rows) if rows else np.zeros((1, self.n))
