"""Sweeps: a box shrinks in all variables at once, at a cost that is linear in their number."""

import numpy as np

from infimum.evaluate import Evaluator
from infimum.expr.hoist import Number, all_sources, sources
from infimum.lower.programs import CONTEXT, POINT_CONTEXT, SAMPLE, SWEEP
from infimum.lower.sweep import ALIVE, LANES, LEAST, NEW_HI, NEW_LO, SLICES

_NEUTRAL = {"sum": 0.0, "prod": 1.0, "amin": np.inf, "amax": -np.inf, "norm": 0.0}


def _up(values: np.ndarray) -> np.ndarray:
    return np.nextafter(values, np.inf)


def _down(values: np.ndarray) -> np.ndarray:
    return np.nextafter(values, -np.inf)


class Sweeper:
    """Sweeps of boxes, and of points. `possible` is False where the function cannot be taken apart."""

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        self.evaluator, self.lo, self.hi, self.n = evaluator, lo, hi, len(lo)
        self.form = evaluator.local
        self.possible = self.form is not None
        if self.possible:
            nodes = all_sources(self.form)
            self.reads = {number.name: [nodes.index(node) for node in sources(number)] for number in self.form.numbers}
        self.parts = np.arange(SLICES + 1) / SLICES

    # ---- boxes
    def sweep(self, lo: np.ndarray, hi: np.ndarray, upper: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(lo, hi, lower): what is left of the boxes (n, N), and a lower bound of f on each. A box that is proved away has lo >
        hi."""
        count = lo.shape[1]
        found = self.evaluator.run(CONTEXT, [lo, hi])
        rows = [row for number in self.form.numbers for row in self._rows(number, lo, hi, found)]
        numbers = np.empty((max(1, len(rows)), self.n * count))
        for k, row in enumerate(rows):
            numbers[k].reshape(self.n, count)[...] = row
        user = np.empty((2, self.n * count))
        user[0].reshape(self.n, count)[...], user[1].reshape(self.n, count)[...] = self.lo[:, None], self.hi[:, None]
        box = np.stack([lo.ravel(), hi.ravel()])
        out, = self.evaluator.run(SWEEP, [box, user, numbers], parameters=np.concatenate([[upper], self.parts]))
        new_lo, new_hi, alive, least = (out[row].reshape(self.n, count) for row in (NEW_LO, NEW_HI, ALIVE, LEAST))
        dead = (alive == 0).any(axis=0)
        return np.where(dead, np.inf, new_lo), np.where(dead, -np.inf, new_hi), least.max(axis=0)

    def _rows(self, number: Number, lo: np.ndarray, hi: np.ndarray, found: list[np.ndarray]) -> list[np.ndarray]:
        """Lower ends, upper ends and levels of a number for every variable (n, N); one row where it is exact."""
        if number.kind in LANES:
            return [self._exact(number)[:, None]]
        parts = [found[3 * k:3 * k + 3] for k in self.reads[number.name]]
        if number.kind == "array" and not parts:
            return [np.take(a, self._at(number), axis=0) for a in (lo, hi, np.full((number.size, 1), 3.0))]
        if number.kind == "array":
            return [np.take(a, self._at(number), axis=0) for a in parts[0]]
        if number.kind == "scalar":
            return list(parts[0])
        if number.kind == "others":
            before, after = self._before(number, number.shift, parts), self._after(number, number.stop, parts)
            low, high = _down(before[0] + after[0]), _up(before[1] + after[1])
            level = np.minimum(before[2], after[2])
            return [np.maximum(_down(np.sqrt(np.maximum(low, 0.0))), 0.0), _up(np.sqrt(np.maximum(high, 0.0))), level]
        return (self._before if number.kind == "before" else self._after)(number, number.shift, parts)

    def _exact(self, number: Number) -> np.ndarray:
        if number.kind == "constant":
            return number.source[self._at(number)]
        position = np.arange(self.n) + number.shift
        return ((position >= 0) & (position < number.size)).astype(float)

    def _at(self, number: Number) -> np.ndarray:
        return np.clip(np.arange(self.n) + number.shift, 0, number.size - 1)

    def _before(self, number: Number, shift: int, parts: list) -> list[np.ndarray]:
        """What a reduction has before position j + shift: nothing, the running combination there, or everything."""
        position = np.arange(self.n) + shift
        return self._pieces(position <= 0, position >= number.size, np.clip(position, 0, number.size - 1), parts[0], parts[2],
                            number)

    def _after(self, number: Number, shift: int, parts: list) -> list[np.ndarray]:
        """What it has from position j + shift on."""
        position = np.arange(self.n) + shift
        return self._pieces(position >= number.size, position <= 0, np.clip(position - 1, 0, number.size - 1), parts[1], parts[2],
                            number)

    @staticmethod
    def _pieces(nothing: np.ndarray, everything: np.ndarray, at: np.ndarray, scan: list, whole: list, number: Number) -> list:
        rows, neutral = [], _NEUTRAL[number.op]
        for k, (running, total) in enumerate(zip(scan, whole, strict=True)):
            row = np.take(running, at, axis=0)
            row[everything] = total
            row[nothing] = neutral if k < 2 else 3.0
            rows.append(row)
        return rows

    # ---- points
    def sample(self, x: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, ...]:
        """For every variable alone, of evenly spaced places in its window: the lowest and f there, the highest and f there.
        Estimates."""
        found = [[a] for a in self.evaluator.run(POINT_CONTEXT, [np.ascontiguousarray(x[:, None])])] if self._needs() else []
        rows = []
        for number in self.form.numbers:
            if number.kind in LANES:
                rows.append(self._exact(number))
                continue
            parts = [found[k] for k in self.reads[number.name]]
            if number.kind == "array":
                rows.append((parts[0][0][:, 0] if parts else x)[self._at(number)])
            elif number.kind == "scalar":
                rows.append(np.full(self.n, parts[0][0][0, 0]))
            elif number.kind == "others":
                squares = self._before(number, number.shift, parts)[0] + self._after(number, number.stop, parts)[0]
                rows.append(np.sqrt(np.maximum(squares[:, 0], 0.0)))
            else:
                rows.append((self._before if number.kind == "before" else self._after)(number, number.shift, parts)[0][:, 0])
        numbers = np.stack(rows) if rows else np.zeros((1, self.n))
        window = np.stack([lo, hi])
        out, = self.evaluator.run(SAMPLE, [window, window, numbers], parameters=np.concatenate([[0.0], self.parts]))
        return tuple(out)

    def _needs(self) -> bool:
        return any(self.reads[number.name] for number in self.form.numbers)
