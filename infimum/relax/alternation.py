"""Points of bilinear problems: variables fall into two classes, and products are of one of each, as proportions and flows are.
With those of one class fixed the problem is a linear program, and its solution is a point with which to fix the others.
Estimates: whoever takes these points proves what they are.
"""

from typing import NamedTuple

import numpy as np

from infimum.relax.program_bounds import LinearProgramBounding
from infimum.relax.relaxation import RegionPrograms, Relaxation
from infimum.relax.safe_conclusions import IntervalRows, LinearCost
from infimum.relax.scaling import scaled
from infimum.search.policy.bounds import LINEAR_PROGRAMS as POLICY
from infimum.support.clock import stop_if_over


class AlternationPoint(NamedTuple):
    """A point that is about feasible, and about f there."""

    value: float
    x: np.ndarray


class Alternation:
    """Of a problem for which `of` finds the two `kinds` of variables."""

    def __init__(self, bounding: LinearProgramBounding, kinds: np.ndarray):
        self.bounding, self.kinds = bounding, kinds
        relaxation, n = bounding.relaxation, len(kinds)
        system, forms = relaxation.evaluator.system, relaxation.lift.rows
        entries = [(row, *_factors(relaxation, k), float(c[0])) for row, form in enumerate(forms) for k, c in form.terms]
        row, first, second, value = np.array(entries, float).reshape(-1, 4).T
        self.row, self.value = row.astype(np.int64), value
        self.first, self.second = first.astype(np.int64), second.astype(np.int64)  # variables; n: the number 1
        self.constant, *constants = (float(form.constant[0]) for form in forms)
        self.ends = system.lower - np.array(constants), system.upper - np.array(constants)
        self.size = len(forms), n
        self.known: dict[bytes, AlternationPoint | None] = {}  # solutions of a session, by what was fixed: starts often meet

    @classmethod
    def of(cls, bounding: LinearProgramBounding) -> "Alternation | None":
        kinds = classes(bounding.relaxation)
        return None if kinds is None else cls(bounding, kinds)

    def session(self) -> None:
        """From here on nothing depends on what was solved before."""
        self.bounding.session()
        self.known.clear()

    def from_start(self, lo: np.ndarray, hi: np.ndarray, x: np.ndarray) -> AlternationPoint | None:
        """From x on, in the box [lo, hi]; None if nothing was found."""
        found = None
        for first in (0, 1):
            best, point = None, x
            for turn in range(POLICY.alternation_turns):
                now = self.with_fixed(self.kinds == (first + turn) % 2, np.minimum(np.maximum(point, lo), hi), lo, hi)
                if now is None:
                    break
                point = now.x
                better = best is None or now.value < best.value - POLICY.alternation_least_gain * max(1.0, abs(now.value))
                if best is None or now.value < best.value:
                    best = now
                if not better:
                    break
            if best is not None and (found is None or best.value < found.value):
                found = best
        return found

    def with_fixed(self, held: np.ndarray, x: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> AlternationPoint | None:
        """The solution with these variables as in x, in a box that is the same for all of a session."""
        known = np.append(np.where(held, x, np.nan), 1.0)
        key = known.tobytes()
        if key not in self.known:
            self.known[key] = self._with_fixed(held, known, x, lo, hi)
        return self.known[key]

    def _with_fixed(self, held: np.ndarray, known: np.ndarray, x: np.ndarray, lo: np.ndarray,
                    hi: np.ndarray) -> AlternationPoint | None:
        free = np.isnan(known[self.first])  # at most one of the two is: the other is a number
        value = self.value * np.where(free, known[self.second], known[self.first])
        column = np.where(free, self.first, self.second)
        return self._solved(self.row, column, value, np.where(held, x, lo), np.where(held, x, hi))

    def _solved(self, row: np.ndarray, column: np.ndarray, value: np.ndarray, low: np.ndarray,
                high: np.ndarray) -> AlternationPoint | None:
        """Of the linear program of these entries, those in column n constants, f in row 0."""
        stop_if_over()
        rows, n = self.size
        values = np.bincount(row * (n + 1) + column, value, rows * (n + 1)).reshape(rows, n + 1)
        cost, matrix, moved = values[0, :n], values[1:, :n], values[1:, n]
        row, column = np.nonzero(matrix)
        entries = matrix[row, column]
        ends = IntervalRows(row, column, entries[None], entries[None], *((end - moved)[None] for end in self.ends))
        programs = RegionPrograms(low[None], high[None], ends, LinearCost(cost, cost, 0.0), np.ones(1, bool))
        z = self.bounding.optimum(next(scaled(programs)))
        return None if z is None else AlternationPoint(float((cost * z).sum() + values[0, n] + self.constant), z)

    def improved(self, lo: np.ndarray, hi: np.ndarray, found: AlternationPoint, enough: float) -> AlternationPoint:
        """From the solutions of the linear programs of smaller and smaller boxes around what was found: in these the relaxation
        is close to the problem, and both classes move together. A value that is `enough` is not improved."""
        part = POLICY.alternation_largest_step
        while found.value > enough and part >= POLICY.alternation_smallest_step:
            reach = part * (hi - lo)
            z = self.bounding.solution(np.maximum(lo, found.x - reach), np.minimum(hi, found.x + reach))
            new = None if z is None else self.from_start(lo, hi, z[:len(lo)])
            better = new is not None and new.value < found.value - POLICY.alternation_least_gain * max(1.0, abs(found.value))
            found, part = (new, part) if better else (found, part / 4)
        return found


def _factors(relaxation: Relaxation, column: int) -> tuple[int, int]:
    """The variables that a column is the product of; n stands for 1."""
    return relaxation.lift.columns[column].factors or (column, relaxation.n)


def classes(relaxation: Relaxation) -> np.ndarray | None:
    """0 or 1 for each variable, -1 for those that are in no product; None if there are no such classes."""
    n = relaxation.n
    used = {k for form in relaxation.lift.rows for k, _ in form.terms if k >= n}
    pairs = [relaxation.lift.columns[k].factors for k in sorted(used)]
    if not pairs or any(pair is None or max(pair) >= n for pair in pairs):
        return None
    near: dict[int, list[int]] = {}
    for a, b in pairs:
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    found = np.full(n, -1)
    for first in sorted(near):
        waiting = [first] if found[first] < 0 else []
        found[first] = max(found[first], 0)
        while waiting:
            a = waiting.pop()
            for b in near[a]:
                if found[b] == found[a]:
                    return None
                if found[b] < 0:
                    found[b] = 1 - found[a]
                    waiting.append(b)
    return found
