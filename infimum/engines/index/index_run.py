"""A search of a black box as an engine: trials in rounds, or as workers become free, until a limit, a goal, or the last point."""

import math
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from infimum.blackbox.journal_lines import Trial
from infimum.blackbox.journal_reading import maximises
from infimum.blackbox.outcome import Outcome
from infimum.blackbox.recorded_trials import Recorded
from infimum.blackbox.trial_workers import BlackBox, LocalWorkers
from infimum.engines.index.black_box_search import BlackBoxSearch
from infimum.engines.index.index_options import IndexOptions
from infimum.errors import JournalError, TrialError
from infimum.problem.settings import Trials
from infimum.problem.text import counted, point
from infimum.result import Progress, Result, Verdict
from infimum.search.progress import Figures, shown_value
from infimum.support import clock


class BlackBoxRun:
    """`trials`: how they are made, with the number of all and of those in a round. `target` is in the signs of what is minimised.
    If the best trial of a journal is made again first, a difference is an error."""

    name, lower = "index", -math.inf

    def __init__(self, search: BlackBoxSearch, recorded: Recorded, options: IndexOptions, trials: Trials,
                 target: float | None = None, seed: int = 0):
        self.search, self.recorded, self.options = search, recorded, options
        kept = recorded.journal.trials if recorded.journal is not None else []
        self.budget = trials.max_trials
        self.most = max([self.budget, *(trial.ticket + 1 for trial in kept)])   # what a journal holds is never thrown away
        self.batch, self.target, self.seed, self.rounds = trials.batch, target, seed, 0
        self.ended: str | None = None                                    # why, if by itself
        self.reached = False                                             # a goal
        self.unchecked = best_of(kept) if trials.check else None         # the trial that is to be made again

    # ---- what the driver sees
    @property
    def x(self) -> np.ndarray | None:
        point = self.search.book.point
        return None if point is None else np.array(point)

    @property
    def value(self) -> float:
        return self.search.book.value

    @property
    def evaluations(self) -> int:
        return self.search.book.evaluations[-1]

    def figures(self) -> Figures:
        """What a reader of the progress sees."""
        book, of = self.search.book, "" if self.most == math.inf else f" of {int(self.most):,}"
        failed = sum(book.failures.values())
        return {"trials": f"{book.count:,}{of}", "best": shown_value(book.value), **({"failed": f"{failed:,}"} if failed else {})}

    def steps(self) -> Iterator[None]:
        """A round, or a trial, each."""
        if self.unchecked is not None:
            self._check(self.unchecked)
            self.unchecked = None
        step = self._next_finished if self.options.asynchronous else self._round
        while not self._over() and step():
            self.rounds += 1
            yield

    def _check(self, best: Trial) -> None:
        """Makes the best trial of the journal again, which neither counts nor is kept; raises if it gives something else."""
        with clock.stoppable():
            outcome, = self.recorded.workers.run([best.x])
        if (outcome.kind, outcome.index, outcome.values) != (best.outcome.kind, best.outcome.index, best.outcome.values):
            was, now = (self._outcome_text(one, best.outcome, outcome) for one in (best.outcome, outcome))
            raise JournalError(f"the journal {self.recorded.journal.path} is not of this function: its best trial, at "
                               f"{list(best.x)!r}, gave {was}, and evaluated again it gives {now}. Continue it with the function "
                               "it was begun with, or give another file (this one can be its warm start); if the function is "
                               "noisy, or the last digits differ on another machine, give check=False")

    def _outcome_text(self, outcome: Outcome, *others: Outcome) -> str:
        """What came of a trial, where it first differs from what came of others."""
        if outcome.failure:
            return f"no value ({outcome.kind.value}{': ' if outcome.text else ''}{outcome.text})"
        k = next((k for k, values in enumerate(zip(*(one.values for one in others), strict=False)) if len(set(values)) > 1),
                 outcome.index - 1)
        of_f = k == self.search.constraints
        value = -outcome.values[k] if of_f and maximises(self.recorded.journal.problem) else outcome.values[k]
        return f"{'f' if of_f else f'g{k + 1}'} = {value!r}"

    def _over(self) -> bool:
        book, search = self.search.book, self.search
        if book.is_hopeless and (book.count >= self.options.patience or book.count >= self.most or search.exhausted):
            raise TrialError(book.why_hopeless())
        if self.target is not None and book.value <= self.target:
            self.ended, self.reached = "the target is reached", True
        elif search.accurate and book.x is not None:
            self.ended, self.reached = f"the accuracy of {self.options.accuracy:g} of the bounds' widths is reached", True
        elif search.exhausted and not search.waiting:
            self.ended, self.reached = f"all {counted(book.count, 'point')} there are were tried" if book.count != 1 else \
                "the only point there is was tried", True
        elif book.count >= self.most:
            self.ended = f"the budget of {counted(int(self.most), 'trial')} is used up" if self.most == self.budget else \
                f"the journal holds {counted(book.count, 'trial')}, and the budget is {int(self.budget):,}"
        return self.ended is not None

    def _round(self) -> bool:
        asked = []
        with clock.stoppable():
            while len(asked) < self.batch and self.search.asked < self.most and (proposal := self.search.ask()) is not None:
                asked.append(proposal)
                clock.stop_if_over()
            outcomes = self.recorded.run([proposal.x for proposal in asked])
        for proposal, outcome in zip(asked, outcomes, strict=True):
            self.search.tell(proposal.number, outcome)
        return bool(asked)

    def _next_finished(self) -> bool:
        with clock.stoppable():
            for _ in range(int(min(self.recorded.wanted, self.most - self.search.asked))):
                proposal = self.search.ask()
                if proposal is None:
                    break
                self.recorded.submit(proposal.x)
                clock.stop_if_over()
            trial = self.recorded.finished()
        if trial is not None:
            self.search.tell(trial.ticket, trial.outcome)
        return trial is not None

    # ---- the answer
    def finish(self, stopped: str | None, seconds: float, history: list[Progress]) -> Result:
        """What the trials gave. Those of a round that was left in its middle count too, although the search has not met them."""
        for ticket, (trial, _) in sorted(self.recorded.arrived.items()):
            self.search.tell(ticket, trial.outcome)
        if stopped is None:
            self._over()
        journal, why = self.recorded.journal, (stopped or self.ended or "stopped") + self._missed()
        if self.unchecked is not None:
            why += "; the best trial of the journal was being made again, before anything else"
        if journal is not None and journal.unwritten:
            why += f"; of the trials, {journal.unwritten:,} could not be written to the journal"
        return result_of(self.search, why, self._success(stopped), None if journal is None else journal.path, history=history,
                         seconds=seconds, nit=self.rounds, seed=self.seed)

    def _missed(self) -> str:
        """Which goals were set, if none of them was reached."""
        asked = self.options
        goals = [] if asked.target is None else [f"the target of {asked.target:g}"]
        goals += [f"the accuracy of {asked.accuracy:g} of the bounds' widths"] if asked.accuracy > 0 else []
        return f"; {' or '.join(goals)} was not reached" if goals and not self.reached else ""

    def _success(self, stopped: str | None) -> bool:
        """Goals that were set are reached; without any, the budget was used up."""
        goal = self.target is not None or self.options.accuracy > 0
        timed = stopped is not None and stopped.startswith("the time limit") and self.most == math.inf
        return self.reached or (not goal and (stopped is None or timed))


def best_of(trials: list[Trial]) -> Trial | None:
    """The best of them: the least value of those that violate the fewest constraints; None if all failed."""
    return min((one for one in trials if not one.outcome.failure), key=lambda one: (-one.outcome.index, one.outcome.value),
               default=None)


def result_of(search: BlackBoxSearch, why: str, success: bool, journal: str | None = None, **more: Any) -> Result:
    """The result of the trials so far, as of a minimum: nothing in it is proved."""
    book, variables = search.book, search.variables
    x = None if book.point is None else np.array(book.point)
    if x is None and book.nearest is not None:
        at, which, by = book.nearest
        why += f"; no trial met all constraints: the nearest, at {point(np.array(at), 6)}, violates g{which} by {by:.6g}"
    elif x is None and book.count:
        why += f"; {book.why_hopeless()}"
    if journal is not None:
        why += f"; the same call continues from {journal}" + (", with a larger max_trials=" if "budget" in why else "")
    shown = variables.argument(np.array(book.x)) if x is not None and variables.choices else None
    success = success and x is not None
    return Result(x=x, fun=book.value, success=success, status=0 if success else 1, message=why,
                  nfev=book.evaluations[-1], verdict=Verdict.UNDECIDED if x is None else Verdict.CANDIDATE, lower=-math.inf,
                  upper=book.value, engine="nested" if book.verdicts else "index", trials=book.summary(shown, journal), **more)


class LocalTrials(LocalWorkers):
    """Trials in this process, where Ctrl-C ends the one that is running at once: its outcome is not known, and nothing else is
    lost. Who hears Ctrl-C is changed once, at the first trial, since that costs as much as many other parts of a trial."""

    def __init__(self, box: BlackBox):
        super().__init__(box)
        self._trying, self._looked = False, False
        self._before: Callable[..., Any] | None = None      # who heard it, of those that let a run go on

    def _await(self, seconds: float) -> None:
        if not self._looked:
            self._looked = True
            self._listen()
        try:
            self._trying = True
            super()._await(seconds)
        finally:
            self._trying = False

    def _listen(self) -> None:
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            if callable(before) and before is not signal.default_int_handler:
                self._before = before
                signal.signal(signal.SIGINT, self._hear)

    def _hear(self, *args: Any) -> None:
        self._before(*args)
        if self._trying:
            raise clock.RunTimeOver

    def _end(self) -> None:
        if self._before is not None and signal.getsignal(signal.SIGINT) == self._hear:
            signal.signal(signal.SIGINT, self._before)
