"""Ask and tell: a search of a black box whose trials somebody else makes.

Proof: docs/proofs/trials.md.
"""

import math
import secrets
from collections import deque
from collections.abc import Sequence
from dataclasses import field, replace
from os import PathLike
from time import perf_counter
from typing import Any

import numpy as np

from infimum.api.black_box import digest_of, open_journal, start_points, trials_of
from infimum.api.keyword_errors import by_place, refuse
from infimum.blackbox.journal_lines import Trial
from infimum.blackbox.outcome import Outcome, OutcomeKind, exception_text
from infimum.blackbox.trial_functions import NotANumber, TrialFunction
from infimum.blackbox.variables import Variables
from infimum.engines.index.black_box_search import BlackBoxSearch, Proposal
from infimum.engines.index.index_options import IndexOptions
from infimum.engines.index.index_run import result_of
from infimum.errors import JournalError, OptionError
from infimum.presolve.maximisation import Maximisation, opposite
from infimum.problem.problem import View
from infimum.problem.text import counted
from infimum.result import Progress, Result
from infimum.support import environment
from infimum.support.given_numbers import whole
from infimum.support.lazy import dataclass
from infimum.support.other_libraries import STUDY_NAMES, TRIAL_NAMES, no_attribute


@dataclass(frozen=True, slots=True, eq=False)
class StudyTrial:
    """A trial that a study asks for. number: counted from 0. x: the point, an array; with choices a list that holds the chosen
    values. study: what tells its study from others, so that no other one takes its value."""

    number: int
    x: np.ndarray | list
    point: tuple[float, ...] = field(repr=False, default=())
    study: str = field(repr=False, default="")

    def __getattr__(self, name: str) -> Any:
        raise no_attribute("a trial of a study", name, TRIAL_NAMES)


@environment.all_ours
class Study:
    """A search that says where the next trial is to be made, and is told what came of it; made by `infimum.study`.

    Any number of trials may be asked for before the first is told, and they may be told in any order: what is asked depends on
    the order of asking and telling alone.
    """

    def __init__(self, variables: Variables, constraints: int, options: IndexOptions, starts: list[tuple[float, ...]],
                 max_trials: int | None, maximise: bool, journal: Any):
        others = trials_of(options.warm_start, variables, constraints, maximise)
        self._search = BlackBoxSearch(variables, constraints, options, starts, others)
        self._variables, self._maximise, self._begun = variables, maximise, perf_counter()
        self._most = math.inf if max_trials is None else max_trials
        self._target = None if options.target is None else (-options.target if maximise else options.target)
        self._history: list[Progress] = []
        self._again: deque[Proposal] = deque()   # asked for in an earlier run, and not told
        self._journal, self._name = None, secrets.token_hex(8)
        if journal is not None:
            problem = {**variables.describe(), "constraints": constraints, "study": True, "maximise": maximise}
            settings = {**options.of_journal(), "warm_start": digest_of(others), "x0": [list(x) for x in starts]}
            self._journal = open_journal(journal, problem, settings, {"study": self._name})
            self._name = self._journal.settings.get("study", self._name)
            try:
                self._replay(self._journal.trials)
            except BaseException:
                self.close()
                raise

    def __getattr__(self, name: str) -> Any:
        raise no_attribute("a study", name, STUDY_NAMES)

    def _replay(self, trials: list[Trial]) -> None:
        for trial in trials:
            while self._search.asked < trial.asked:
                if self._search.ask() is None:
                    break
            if self._search.waiting.get(trial.ticket) != trial.x:
                raise JournalError(f"the journal {self._journal.path} was written by another search: give the settings and the "
                                   "version of infimum it was begun with, or another file")
            self._enter(trial.ticket, trial.outcome)
        self._again.extend(Proposal(*one) for one in sorted(self._search.waiting.items()))

    @property
    @environment.ours
    def done(self) -> str | None:
        """Why there is nothing more to ask for; None if there is."""
        search = self._search
        if self._target is not None and search.book.value <= self._target:
            return "the target is reached"
        if search.accurate and search.book.x is not None:
            return "the accuracy is reached"
        if not self._again and search.asked >= self._most:
            return f"the budget of {int(self._most):,} trials is used up"
        return "every point was asked for" if not self._again and search.exhausted else None

    def ask(self) -> StudyTrial | None:
        """The next trial; None when there is none any more, and `done` says why."""
        if self.done is not None:
            return None
        proposal = self._again.popleft() if self._again else self._search.ask()
        if proposal is None:  # and `done` says so now
            return None
        return StudyTrial(proposal.number, self._variables.argument(np.array(proposal.x)), proposal.x, self._name)

    def tell(self, trial: StudyTrial | int, value: float | None = None, *, constraints: Sequence[float] = (),
             failure: str | BaseException | None = None) -> None:
        """What came of a trial: the value of the function, and the numbers of the constraints, <= 0 where they hold, in their
        order. Behind one that is violated nothing is needed. Or a failure: a text, or the exception. A NaN is a failure too."""
        number = trial.number if isinstance(trial, StudyTrial) else trial
        if isinstance(trial, StudyTrial) and trial.study != self._name:
            raise OptionError(f"trial {number!r} was asked for by another study: tell each trial to the study that asked for it")
        if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or int(number) not in self._search.waiting:
            raise OptionError(f"trial {number!r} was not asked for, or was told already")
        outcome = self._outcome(value, constraints, failure)
        if self._journal is not None:
            self._journal.append(Trial(int(number), self._search.asked, self._search.waiting[int(number)], outcome))
        self._again = deque(one for one in self._again if one.number != number)
        self._enter(int(number), outcome)

    def _outcome(self, value: Any, constraints: Any, failure: Any) -> Outcome:
        count = self._search.constraints
        numbers = [_number(g, f"constraint {k}") for k, g in enumerate(np.atleast_1d(np.asarray(constraints, dtype=object)))]
        violated = any(g > 0 for g in numbers)
        if len(numbers) > count or len(numbers) < count and not violated and failure is None:
            raise OptionError(f"this study has {counted(count, 'constraint')}, and {counted(len(numbers), 'number')} came: "
                              "tell(trial, value, constraints=[g1, g2, …])")
        if failure is not None:
            if value is not None:
                raise OptionError("tell a value or a failure, not both")
            finite = next((k for k, g in enumerate(numbers) if not math.isfinite(g)), len(numbers))
            said = exception_text(failure) if isinstance(failure, BaseException) else str(failure)
            return Outcome.failed(OutcomeKind.EXCEPTION, said, numbers[:finite])
        if not violated:
            if value is None:
                raise OptionError("no value was told: tell(trial, value), or tell(trial, failure=\"why there is none\")")
            numbers.append((-1.0 if self._maximise else 1.0) * _number(value, "the value"))
        return Outcome.of(numbers, count)

    def _enter(self, number: int, outcome: Outcome) -> None:
        book = self._search.book
        before = book.value
        self._search.tell(number, outcome)
        if book.value < before:
            shown = opposite(book.value) if self._maximise else book.value
            bounds = (shown, math.inf) if self._maximise else (-math.inf, shown)
            self._history.append(Progress(perf_counter() - self._begun, book.evaluations[-1], shown, *bounds))

    @property
    @environment.ours
    def outstanding(self) -> int:
        """How many trials were asked for and not told yet."""
        return len(self._search.waiting)

    def result(self) -> Result:
        """What the trials told so far gave; as of `minimize`, with nothing proved."""
        book, done = self._search.book, self.done
        said = f"{counted(book.count, 'trial')} told" + (f"; {done}" if done else "")
        found = result_of(self._search, said, book.x is not None, None if self._journal is None else self._journal.path,
                          nit=book.count, history=list(self._history), seconds=perf_counter() - self._begun)
        found = replace(found, view=View(None, self._variables.lo, self._variables.hi))
        return Maximisation().postsolve(found) if self._maximise else found

    @environment.ours
    def __repr__(self) -> str:
        book = self._search.book
        best = "" if book.x is None else f", the best {opposite(book.value) if self._maximise else book.value!r}"
        return f"Study({counted(book.count, 'trial')} told, {self.outstanding:,} asked for and not told{best})"

    def close(self) -> None:
        """Lets others have the journal. A study without one need not be closed."""
        if self._journal is not None:
            self._journal.close()

    def __enter__(self) -> "Study":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@environment.ours
@by_place("study(bounds, max_trials=100), with (low, high) pairs or lists of values as bounds")
def study(bounds: Any, *, n: int | None = None, constraints: int = 0, integrality: Any = None, x0: Any = None,
          options: dict[str, Any] | None = None, max_trials: int | None = None, maximise: bool = False,
          journal: str | PathLike | None = None, **unknown: Any) -> Study:
    """A search by asking and telling, for functions that somebody else evaluates: another program, a laboratory.

    `bounds`, `n`, `integrality` and `x0` are those of `minimize`; an entry of `bounds` may be a list of values to choose from.
    `constraints` is how many numbers are told beside the value. `options` are the fields of `IndexOptions`. With `journal`, a
    file, every trial is kept, and a study of the same problem on the same file continues where the last one ended: trials that
    were asked for and not told are asked for again.

    >>> s = study([(-1, 3)], max_trials=20)
    >>> while (t := s.ask()) is not None:
    ...     s.tell(t, (t.x[0] - 1)**2)
    >>> r = s.result()
    >>> r.verdict.name, r.x.round(3).tolist(), r.lower
    ('CANDIDATE', [1.0], -inf)
    """
    refuse(unknown, study)
    if isinstance(constraints, bool) or not isinstance(constraints, (int, np.integer)) or constraints < 0:
        raise OptionError(f"constraints of a study is how many numbers are told beside the value, not {constraints!r}")
    variables = Variables.read(bounds, integrality, n)
    return Study(variables, int(constraints), IndexOptions.read(options), start_points(x0, variables),
                 None if max_trials is None else whole("max_trials", max_trials), bool(maximise), journal)


def _number(given: Any, what: str) -> float:
    try:
        return TrialFunction(None, what.capitalize()).measure(given)
    except NotANumber as error:
        raise OptionError(str(error).replace(" returned ", " told is ").replace("return ", "tell ")) from None
