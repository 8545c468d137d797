"""What a trial gave: the values of the constraints and the function, or one of five kinds of failure."""

import math
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import field, replace
from enum import Enum
from types import CodeType

from infimum.errors import InfimumError, TrialError
from infimum.problem.text import counted
from infimum.support import environment
from infimum.support.lazy import dataclass

_LONGEST = 1000  # characters of an exception's text that are kept


class OutcomeKind(Enum):
    """How a trial ended. All but VALUE are failures, which are never mixed with values."""

    VALUE = "value"
    NAN = "not a finite number"
    EXCEPTION = "exception"
    CRASH = "crash"
    TIMEOUT = "timeout"
    NO_NUMBER = "no number"


@dataclass(frozen=True, slots=True)
class InnerOutcome:
    """What a trial of a nested problem shows beside its value, which is the upper bound of the inner minimum. z: where that is
    attained; where the inner constraints cannot be met, where they are violated least. lower: what the inner minimum is proved
    not to be below. verdict: the name of the proof's. evaluations: how many it
    took, of points and boxes."""

    z: tuple[float, ...]
    lower: float
    verdict: str
    evaluations: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a trial gave. The functions are numbered from 1 in the order in which they are evaluated: g1, g2, …, and f last.

    values: all numbers that were computed, in that order. index: the number of the function that decided: the first constraint
    that is violated (> 0), or f; of a failure, the function that failed. text: what is known of a failure. seconds: the time
    that the trial took; it does not count when outcomes are compared. inner: of a nested problem, what was proved in the trial.

    >>> Outcome.of([-1.0, 0.5], constraints=2)  # g2 is violated, and f was not evaluated
    Outcome(kind=<OutcomeKind.VALUE: 'value'>, values=(-1.0, 0.5), index=2, text='')
    """

    kind: OutcomeKind
    values: tuple[float, ...]
    index: int
    text: str = ""
    seconds: float = field(default=0.0, compare=False, repr=False)
    inner: InnerOutcome | None = field(default=None, repr=False)

    @classmethod
    def of(cls, numbers: Sequence[float], constraints: int, seconds: float = 0.0) -> "Outcome":
        """From the numbers that were computed: all of them, or those up to a violated constraint. Numbers behind one are kept as
        far as they are finite."""
        finite = next((k for k, number in enumerate(numbers) if not math.isfinite(number)), len(numbers))
        values = tuple(float(number) for number in numbers[:finite])
        violated = next((k for k, number in enumerate(values[:constraints]) if number > 0), None)
        if violated is not None:
            return cls(OutcomeKind.VALUE, values, violated + 1, "", seconds)
        if finite < len(numbers):
            return cls(OutcomeKind.NAN, values, finite + 1, repr(float(numbers[finite])), seconds)
        return cls(OutcomeKind.VALUE, values, len(values), "", seconds)

    @classmethod
    def failed(cls, kind: OutcomeKind, text: str, values: Sequence[float] = (), seconds: float = 0.0) -> "Outcome":
        """A failure of the function behind those that gave the values."""
        return cls(kind, tuple(values), len(values) + 1, text, seconds)

    @property
    def failure(self) -> bool:
        return self.kind is not OutcomeKind.VALUE

    @property
    def value(self) -> float | None:
        """The value of the function that decided; None of a failure."""
        return None if self.failure else self.values[self.index - 1]

    def after(self, seconds: float) -> "Outcome":
        """The same, with the seconds that it took."""
        return replace(self, seconds=seconds)


def exception_text(error: BaseException, code: CodeType | None = None) -> str:
    """The last line of a traceback, and where the function with that code was: in its file, or else where the exception was
    raised; where that is our call of it, which it did not take, where it begins."""
    said = traceback.format_exception_only(error)[-1].strip()
    said = said if len(said) <= _LONGEST else f"{said[:_LONGEST]}…"
    if isinstance(error, InfimumError):  # which names the place itself, if there is one
        known = next(kind.__name__ for kind in type(error).__mro__ if not kind.__name__.startswith("_"))
        return f"{known}: {said.partition(': ')[2]}"
    file, line = (None, None) if code is None else (code.co_filename, code.co_firstlineno)
    frames = traceback.extract_tb(error.__traceback__)
    mine = [(frame.filename, frame.lineno) for frame in frames if frame.filename == file]
    if not mine and code is not None and frames and frames[-1].filename == environment.__file__:
        mine = [(file, line)]
    mine = mine or [(frame.filename, frame.lineno) for frame in frames[-1:]]
    return "{} ({}:{})".format(said, *mine[-1]) if mine else said


class Tally:
    """Counts outcomes, and raises where a function shows at its first return that it cannot be used at all.

    A function that has returned numbers before, and then something else, has failed at a point; one that has never returned a
    number is written wrongly, which is better said at once.
    """

    def __init__(self) -> None:
        self.kinds: Counter[OutcomeKind] = Counter()
        self.furthest = 0       # how many of the functions have returned a number
        self.first_failure = ""

    @property
    def trials(self) -> int:
        return sum(self.kinds.values())

    def add(self, outcome: Outcome) -> None:
        """Counts it, or raises TrialError."""
        if outcome.kind is OutcomeKind.NO_NUMBER and outcome.index > self.furthest:
            raise TrialError(outcome.text)
        self.kinds[outcome.kind] += 1
        self.furthest = max(self.furthest, len(outcome.values))
        if outcome.failure and not self.first_failure:
            self.first_failure = f"{outcome.kind.value}: {outcome.text}"

    @property
    def is_hopeless(self) -> str:
        """What to say where every trial has failed; empty if one has not.

        >>> tally = Tally()
        >>> tally.add(Outcome.failed(OutcomeKind.EXCEPTION, "NameError: name 'y' is not defined (model.py:3)"))
        >>> tally.is_hopeless
        "none of 1 trial gave a value; the first ended with exception: NameError: name 'y' is not defined (model.py:3)"
        """
        if not self.kinds or self.kinds[OutcomeKind.VALUE]:
            return ""
        return f"none of {counted(self.trials, 'trial')} gave a value; the first ended with {self.first_failure}"

    def __str__(self) -> str:
        """
        >>> str(Tally())
        '0 trials'
        """
        failures = [f"{count:,} {kind.value}" for kind, count in self.kinds.items() if kind is not OutcomeKind.VALUE]
        return counted(self.trials, "trial") + (f", of which failed: {', '.join(failures)}" if failures else "")
