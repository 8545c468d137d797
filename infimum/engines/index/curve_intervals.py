"""The intervals between trials on the lines, with the estimates of Hölder constants that they give, as arrays.

Positions on a line are finer than the cells of its curve, by `spare` bits: where in a cell an interval is divided changes what
is divided later, and published figures depend on it. No cell has two trials: an interval without a cell between its ends is
closed, and lengths count as one cell at least where constants are estimated.
"""

import math
from bisect import bisect_left, insort

import numpy as np

from infimum.engines.index.trial_values import UNKNOWN, TrialTable
from infimum.search.policy.index import CURVE as POLICY

_COLUMNS = {"width": float, "left_index": np.int8, "right_index": np.int8, "left": float, "right": float, "open": bool}


class CurveTrials:
    """The positions of trials on one line, in order; `slot[p]` is the interval that begins at p."""

    def __init__(self, end: int, levels: int, slot: int):
        self.at = [-1, end]                              # both ends are beyond the first and the last cell
        self.trial: dict[int, int] = {-1: UNKNOWN, end: UNKNOWN}
        self.slot = {-1: slot}
        self.levels: list[list[int]] = [[] for _ in range(levels)]   # of trials of at least that index


class Intervals:
    """Intervals of all lines in one set of arrays: what a characteristic needs of each, and what it needs of all."""

    def __init__(self, trials: TrialTable, cells: int, lines: int, reserve: float):
        self.trials, self.n = trials, trials.n
        self.spare = max(POLICY.fineness - cells.bit_length(), 0)
        self.bits, self.end = cells.bit_length() - 1 + self.spare, cells << self.spare
        self.levels, self.reserve, self.count = trials.constraints + 1, reserve, 0
        self._arrays = {name: np.zeros(64, dtype=kind) for name, kind in _COLUMNS.items()}
        self._begins: list[tuple[int, int]] = []         # line and position where each begins
        self._rows: list[tuple] = []                     # what the arrays have of each, for who wants one of them
        self.steepest = [0.0] * self.levels             # greatest quotient seen of each function; 0: none
        self.version = 0                                 # counts changes of what all characteristics depend on
        self.lines: list[CurveTrials] = []
        for line in range(lines):
            self.lines.append(CurveTrials(self.end, self.levels, self._new(line, -1)))
            self._fill(line, -1, self.end)

    def __getattr__(self, name: str) -> np.ndarray:
        if name in _COLUMNS:
            return self._arrays[name][:self.count]
        raise AttributeError(name)

    def row(self, slot: int) -> tuple:
        """One interval: its length, indices and values of its ends, whether it is open."""
        return self._rows[slot]

    def constant(self, level: int) -> float:
        """The estimate of a Hölder constant: 1 where nothing is known."""
        return self.steepest[level] or 1.0

    def target(self, level: int) -> float:
        """z* of an index: the least value of the highest, just below 0 for constraints that hold somewhere."""
        return self.trials.least if level == self.trials.highest else -self.reserve * self.constant(level)

    @property
    def constants(self) -> np.ndarray:
        """Estimates of all constants."""
        return np.array([self.constant(level) for level in range(self.levels)])

    @property
    def targets(self) -> np.ndarray:
        """All targets."""
        return np.array([self.target(level) for level in range(self.levels)])

    def ends(self, slot: int) -> tuple[int, int, int]:
        """The line of an interval, and the positions of its ends."""
        line, begin = self._begins[slot]
        at = self.lines[line].at
        return line, begin, at[bisect_left(at, begin) + 1]

    def interval_at(self, line: int, position: int) -> int | None:
        """The interval that holds a position; None where a trial is."""
        this = self.lines[line]
        place = bisect_left(this.at, position)
        return None if this.at[place] == position else this.slot[this.at[place - 1]]

    def enter(self, line: int, position: int, trial: int) -> tuple[int, int] | tuple[()]:
        """Divides the interval that holds the position; both parts. `trial` may be `UNKNOWN`: a position outside the cube."""
        this = self.lines[line]
        place = bisect_left(this.at, position)
        if this.at[place] == position:
            return ()
        begin, end = this.at[place - 1], this.at[place]
        this.at.insert(place, position)
        this.trial[position] = trial
        old, new = this.slot[begin], self._new(line, position)
        this.slot[position] = new
        if trial != UNKNOWN:
            self._learn(this, position, trial)
        self._fill(line, begin, position)
        self._fill(line, position, end)
        return old, new

    def _new(self, line: int, begin: int) -> int:
        if self.count == len(self._arrays["open"]):
            self._arrays = {name: np.concatenate([a, np.zeros_like(a)]) for name, a in self._arrays.items()}
        self._begins.append((line, begin))
        self._rows.append(())
        self.count += 1
        return self.count - 1

    def _fill(self, line: int, begin: int, end: int) -> None:
        this = self.lines[line]
        slot = this.slot[begin]
        (left_index, left), (right_index, right) = self._end(this.trial[begin]), self._end(this.trial[end])
        is_open = (end >> self.spare) - (begin >> self.spare) > 1
        self._rows[slot] = self._length(end - begin), left_index, right_index, left, right, is_open
        for column, value in zip(self._arrays.values(), self._rows[slot], strict=True):
            column[slot] = value

    def _end(self, trial: int) -> tuple[int, float]:
        """Index and value of an end."""
        outcome = self.trials.outcomes[trial] if trial != UNKNOWN else None
        index = UNKNOWN if outcome is None else outcome.index
        return index, outcome.values[index] if index >= 0 else 0.0

    def _length(self, steps: int) -> float:
        return 2.0 ** ((math.log2(steps) - self.bits) / self.n)

    def _learn(self, line: CurveTrials, position: int, trial: int) -> None:
        """Quotients of each function between the trial and the nearest ones on both sides where it was computed."""
        outcome = self.trials.outcomes[trial]
        for level in range(outcome.index + 1):
            at = line.levels[level]
            place = bisect_left(at, position)
            for other in at[max(place - 1, 0):place + 1]:
                rise = abs(self.trials.outcomes[line.trial[other]].values[level] - outcome.values[level])
                quotient = rise / self._length(max(abs(other - position), 1 << self.spare))
                if quotient > self.steepest[level]:
                    self.steepest[level] = quotient
                    self.version += 1
            insort(at, position)
