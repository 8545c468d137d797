"""The search of a black box by asking and telling: the method on its cube, whole numbers, points to start from, and the polish.

What is asked depends only on what was asked and told before, and in which order: neither on a budget nor on the clock. So a
journal of outcomes replays a search, and a larger budget continues where a smaller one ended.
"""

from collections import deque
from collections.abc import Iterable
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from infimum.blackbox.outcome import Outcome, OutcomeKind
from infimum.blackbox.summary import TrialCounter
from infimum.blackbox.variables import Variables
from infimum.engines.index.index_options import IndexOptions
from infimum.engines.index.index_search import IndexSearch
from infimum.engines.index.trial_polish import TrialPolish
from infimum.engines.index.trial_values import TrialFailure, row_of
from infimum.engines.index.trial_values import TrialOutcome as Told
from infimum.engines.index.unit_cube import Point, UnitCube
from infimum.search.policy.index import CURVE as POLICY

_FAILURES = {OutcomeKind.NAN: TrialFailure.NAN, OutcomeKind.EXCEPTION: TrialFailure.EXCEPTION,
             OutcomeKind.CRASH: TrialFailure.CRASH, OutcomeKind.TIMEOUT: TrialFailure.TIMEOUT,
             OutcomeKind.NO_NUMBER: TrialFailure.EXCEPTION}


class Proposal(NamedTuple):
    """A trial to be made: its number, counted from 0, and where."""

    number: int
    x: Point


class BlackBoxSearch:
    """No point is asked for twice: where the method names one again, it is told what is known."""

    def __init__(self, variables: Variables, constraints: int, options: IndexOptions, starts: Iterable[Point] = (),
                 others: Iterable[tuple[Point, Outcome]] = ()):
        self.variables, self.cube, self.constraints = variables, UnitCube(variables), constraints
        self.method = IndexSearch(self.cube.n, constraints, options.of_search(self.cube.order))
        self.polish = TrialPolish(self.cube) if options.polish else None
        self.book = TrialCounter(constraints)
        self.asked = 0
        self.waiting: dict[int, Point] = {}
        self._starts = deque(tuple(map(float, x)) for x in starts)
        self._known: dict[Point, np.ndarray | None] = {}     # what was computed there; None after a failure
        self._told: dict[Point, Told] = {}
        self._owners: dict[Point, list[int]] = {}            # which trials of the method wait for a point
        self._scattered, self._every, self._looked_through = self.cube.scattered(), self.cube.every(), False
        self._learn(others)

    def _learn(self, others: Iterable[tuple[Point, Outcome]]) -> None:
        """Trials of another run, maybe of another function: they steer the method, and the best of them is tried here too."""
        book = TrialCounter(self.constraints)
        for x, outcome in others:
            book.add(x, outcome)
            trial = self.method.ask_at(self.cube.unit(x))
            if trial is not None:
                self.method.tell(trial.number, _told(outcome))
        if book.x is not None:
            self._starts.append(book.x)

    @property
    def exhausted(self) -> bool:
        """Has every point been asked for?"""
        return self._looked_through or len(self._told) + len(self.waiting) >= self.cube.points

    @property
    def accurate(self) -> bool:
        """Has the method divided an interval as short as it was told?"""
        return self.method.done() == "accuracy"

    def ask(self) -> Proposal | None:
        """The next trial; None if there is no point left to try."""
        if self.exhausted:
            return None
        while self._starts:
            x = self._starts.popleft()
            if x not in self._owners and x not in self._told:
                trial = self.method.ask_at(self.cube.unit(x))
                return self._propose(x, [] if trial is None else [trial.number])
        x = self._of_polish()
        if x is not None:
            self.polish.ask(self.asked)
            return self._propose(x, [])
        return self._of_method()

    def _of_method(self) -> Proposal | None:
        for _ in range(POLICY.most_repeats):
            for trial in self.method.ask():
                x = self.cube.point(trial.point)
                if x in self._told:
                    self.method.tell(trial.number, self._told[x])
                elif x in self._owners:
                    self._owners[x].append(trial.number)
                else:
                    return self._propose(x, [trial.number])
        return self._of_all()

    def _of_all(self) -> Proposal | None:
        """A point that is new, wherever it is; None if there is none. The order of all points is gone through once in a run, so
        that a trial costs a few looks, however many points were tried."""
        scattered = () if self.cube.whole.all() else islice(self._scattered, POLICY.scattered_points)
        for x in chain(scattered, self._every):
            if x not in self._told and x not in self._owners:
                return self._propose(x, [])
        self._looked_through = True
        return None

    def _of_polish(self) -> Point | None:
        if self.polish is None or not self.polish.wants(self.asked, self.book.value):
            return None
        descent = self.method.descent
        if descent is not None and descent.value <= self.book.value:  # it is on its way
            return None
        x = self.polish.next(self.book.x, self._known, self.method.trials)
        return None if x in self._owners else x

    def _propose(self, x: Point, owners: list[int]) -> Proposal:
        number, self.asked = self.asked, self.asked + 1
        self.waiting[number], self._owners[x] = x, owners
        return Proposal(number, x)

    def tell(self, number: int, outcome: Outcome) -> None:
        """What came of a trial that was asked for."""
        x = self.waiting.pop(number)
        told = _told(outcome)
        self._told[x], self._known[x] = told, None if told.failure else row_of(told.values, self.constraints)
        self.book.add(x, outcome)
        for owner in self._owners.pop(x):
            self.method.tell(owner, told)
        if self.polish is not None:
            self.polish.tell(number, x, self._known[x])


def _told(outcome: Outcome) -> Told:
    """In the method's terms."""
    return Told(outcome.values, _FAILURES[outcome.kind]) if outcome.failure else Told(outcome.values[:outcome.index])
