"""Does a costly test pay? Judged by what it discards, never by a clock, so that every machine judges alike."""

import numpy as np


class Payoff:
    """A test is tried on one step now and then, and used in the steps between if that was worth it.

    `first` is the number of the first step it is tried in, `period` how many steps a judgement holds, `worth` the part of the
    regions it must discard. Where regions shrink with each step, what is judged early holds less long, if it is `soon` outdated:
    no longer than there have been steps.
    """

    def __init__(self, first: int, period: int, worth: float, soon: bool = False):
        self.period, self.worth, self.soon = period, worth, soon
        self.due, self.pays, self.tried, self.gained = first, False, 0, 0

    def is_due(self, step: int) -> bool:
        return step >= self.due

    def judge(self, step: int, regions: int, gone: float) -> None:
        """The test was tried on `regions` and discarded `gone` of them."""
        self.tried, self.gained = self.tried + regions, self.gained + int(gone)
        self.pays = gone >= self.worth * regions
        self.due = step + (min(self.period, max(1, step)) if self.soon and not self.pays else self.period)

    def has_paid(self, step: int) -> None:
        """It was used without a trial, and was worth it."""
        self.pays, self.due = True, step + self.period

    def state(self) -> np.ndarray:
        return np.array([self.due, self.pays, self.tried, self.gained], np.int64)

    def restore(self, state: np.ndarray) -> None:
        self.due, self.pays, self.tried, self.gained = int(state[0]), bool(state[1]), int(state[2]), int(state[3])
