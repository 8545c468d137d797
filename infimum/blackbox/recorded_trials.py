"""Trials that are kept: no outcome reaches the search before it is in the journal, and a resumed search meets the old ones again.

A search is deterministic in what it is told, so its journal replays it: it asks for the same points, and gets the outcomes that
are kept, in the order in which they came. Then the run continues. A trial that was running when the process was killed is run
again. In rounds the order in which trials end steers nothing, so there a trial may also be missing in the middle of a journal, as
`salvage` leaves it: it is run again too.
"""

from collections import OrderedDict, deque
from collections.abc import Sequence
from typing import Any

from infimum.blackbox.journal import Journal
from infimum.blackbox.journal_lines import Trial
from infimum.blackbox.outcome import Outcome, OutcomeKind, Tally
from infimum.blackbox.trial_workers import Workers
from infimum.errors import JournalError


class Recorded:
    """Workers with a journal, or without one. A search loops: `submit` as many points as `wanted` says, then take one trial with
    `finished`; or it runs rounds with `run`. `tally` counts what came."""

    def __init__(self, workers: Workers, journal: Journal | None = None):
        self.workers, self.journal, self.tally = workers, journal, Tally()
        self.asked = 0                                    # trials asked for so far
        self._kept = OrderedDict((trial.ticket, trial) for trial in (journal.trials if journal is not None else ()))
        self._points: dict[int, tuple[float, ...]] = {}   # of trials that were asked for and have not come yet
        self._unbegun: deque[int] = deque()               # of these, which the workers have not got
        self._tickets: dict[int, int] = {}                # of the workers, and ours
        self.arrived: dict[int, tuple[Trial, bool]] = {}  # of a round that is not whole yet; True: from the journal

    @property
    def replaying(self) -> bool:
        """Do outcomes still come from the journal?"""
        return bool(self._kept)

    @property
    def outstanding(self) -> int:
        """Trials that were asked for and have not come yet."""
        return len(self._points)

    @property
    def wanted(self) -> int:
        """How many trials an asynchronous search is to ask for before it takes the next: as many as could begin at once, or as
        many as it did then."""
        if self._kept:
            return max(0, next(iter(self._kept.values())).asked - self.asked)
        return max(0, self.workers.count - self.outstanding)

    def submit(self, x: Sequence[float]) -> int:
        """Asks for a trial; returns its ticket."""
        ticket, self.asked = self.asked, self.asked + 1
        self._points[ticket] = tuple(float(v) for v in x)
        self._unbegun.append(ticket)
        self._begin()
        return ticket

    def _begin(self, all_of_them: bool = False) -> None:
        """Gives the workers what they do not have yet, once the journal has no more outcomes for it."""
        while self._unbegun and (all_of_them or not self._kept):
            ticket = self._unbegun.popleft()
            if ticket in self._points:
                self._tickets[self.workers.submit(self._points[ticket])] = ticket

    def finished(self, timeout: float | None = None) -> Trial | None:
        """The next trial: from the journal, or from the workers, and then it is in the journal now. None if none ends within
        `timeout` seconds, or none is outstanding. Raises TrialError if it shows that the function cannot be used."""
        old, trial = self.replaying, self._next(timeout)
        if trial is not None:
            self._count(trial, old)
        return trial

    def _next(self, timeout: float | None = None) -> Trial | None:
        """The next trial, which is in the journal, unless it shows that a function is written wrongly: that is for `_count`."""
        if self._kept:
            return self._again(next(iter(self._kept)))
        self._begin()
        return self._ended(timeout)

    def _again(self, ticket: int) -> Trial:
        """A trial of the journal, which the search has asked for again."""
        trial = self._kept.pop(ticket)
        self._check(trial)
        del self._points[ticket]
        return trial

    def _ended(self, timeout: float | None = None) -> Trial | None:
        """The next trial of the workers."""
        ended = self.workers.next_finished(timeout)
        if ended is None:
            return None
        ticket = self._tickets.pop(ended.ticket)
        trial = Trial(ticket, self.asked, self._points.pop(ticket), ended.outcome)
        if ended.outcome.kind is not OutcomeKind.NO_NUMBER:
            self._keep(trial)
        return trial

    def _keep(self, trial: Trial) -> None:
        if self.journal is not None:
            self.journal.append(trial)

    def _count(self, trial: Trial, old: bool) -> None:
        self.tally.add(trial.outcome)
        if trial.outcome.kind is OutcomeKind.NO_NUMBER and not old:
            self._keep(trial)

    def _check(self, trial: Trial) -> None:
        """Raises if the journal and the search do not agree."""
        x = self._points.get(trial.ticket)
        if x is None or [v.hex() for v in x] != [v.hex() for v in trial.x]:
            asks = "has not asked for it" if x is None else f"asks for {list(x)!r}"
            raise JournalError(f"the journal {self.journal.path} was written by another search: its trial {trial.ticket} is at "
                               f"{list(trial.x)!r}, and this one {asks}. Give the settings it was begun with, and the version of "
                               "infimum; or begin a new journal, with this one as warm start")

    def run(self, points: Sequence[Any]) -> list[Outcome]:
        """A round: the outcomes of all points, in their order. Each is in the journal as soon as it comes."""
        tickets = [self.submit(x) for x in points]
        found = self.arrived
        for ticket in tickets:
            if ticket in self._kept:
                found[ticket] = self._again(ticket), True
        self._begin(all_of_them=True)
        while len(found) < len(tickets):
            trial = self._ended()
            found[trial.ticket] = trial, False
        for ticket in tickets:  # counted in their order, so that what is raised does not depend on who was first
            self._count(*found[ticket])
        self.arrived = {}
        return [found[ticket][0].outcome for ticket in tickets]
