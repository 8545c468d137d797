"""What a step of a search changes beside its regions, as the step begins: where it is cut off, all of that is put back.

The best point that such a step has found stays: it is an answer. A checkpoint holds the one with which the step began, since the
step is repeated from there, and the better one beside it (`Incumbent.found_beside`).
"""

from typing import Any

_COUNTS = ("boxes", "steps", "cuts", "largest_step", "unbounded", "narrow", "ended", "overtaken")


class StepStart:
    """Counts, whether tests pay, what tests remember of regions, and the best point."""

    def __init__(self, branch: Any):
        self.counts = [(name, value) for name, value in vars(branch).items() if name in _COUNTS]
        self.discarded = dict(branch.discarded)
        tests = getattr(branch, "tests", ())
        self.payoffs = [(test.payoff, dict(vars(test.payoff))) for test in tests if test.payoff is not None]
        self.memories = [put_back for test in tests if (put_back := test.remembered()) is not None]
        self.best = branch.incumbent.arrays()

    def put_back(self, branch: Any) -> None:
        """All but the best point, which checkpoints are told of."""
        for name, value in self.counts:
            setattr(branch, name, value)
        branch.discarded = self.discarded
        for payoff, values in self.payoffs:
            vars(payoff).clear()
            vars(payoff).update(values)
        for put_back in self.memories:
            put_back()
        branch.known = self.best
