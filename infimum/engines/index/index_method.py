"""The index method, as published: which trials to make, from those that were made.

`ask(p)` names p trials, `tell` takes what came of one, in any order; `done` says why to stop, `finish` what was found. Nothing
else is known of a trial: who makes it, where and how long is another matter. What is asked depends only on what was asked and
told before, in which order; `to_arrays` keeps that, and `from_arrays` goes through it again, to the same bits.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Self

import numpy as np

from infimum.engines.index.curve_intervals import Intervals
from infimum.engines.index.curves import Place, curves
from infimum.engines.index.interval_ranking import Ranking
from infimum.engines.index.trial_values import UNKNOWN, TrialFailure, TrialOutcome, TrialTable
from infimum.errors import OptionError
from infimum.search.policy.index import CURVE as POLICY
from infimum.support.lazy import dataclass


@dataclass(frozen=True, slots=True)
class MethodOptions:
    """What the method may be told; the defaults are those of the published code.

    Of each `local_every` trials one goes where a local ranking says, of the given sharpness; 0: none. `reserve` times the
    estimate of its constant is how far below 0 the target of a constraint is.
    """

    r: float = 4.0
    order: int = 12
    curve: str = "single"
    lines: int = 2
    first: int = 1
    accuracy: float = 0.0
    trials: int | None = None
    local_every: int = 0
    sharpness: float = 15.0
    reserve: float = 0.001

    def __post_init__(self) -> None:
        for name, holds, wanted in (("r", self.r > 1, "greater than 1"), ("first", self.first >= 1, "at least 1"),
                                    ("accuracy", 0 <= self.accuracy < 1, "at least 0 and less than 1"),
                                    ("trials", self.trials is None or self.trials >= 1, "at least 1"),
                                    ("local_every", self.local_every == 0 or self.local_every >= 2, "0, or at least 2"),
                                    ("reserve", self.reserve >= 0, "at least 0")):
            if not holds:
                raise OptionError(f"{name} of the index method is {wanted}, not {getattr(self, name)}")


@dataclass(frozen=True, slots=True)
class Trial:
    """A trial that was asked for: its number, and where, in the unit cube."""

    number: int
    point: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class BestTrial:
    """What the trials say: the best of the highest index, its point in the unit cube, and how many there were of each kind."""

    point: tuple[float, ...] | None
    outcome: TrialOutcome | None
    feasible: bool
    trials: int
    evaluations: tuple[int, ...]
    failures: dict[TrialFailure, int]


class IndexMethod:
    """One search, by its state: the trials told, the intervals between them, and the trials that are waited for."""

    def __init__(self, n: int, constraints: int = 0, options: MethodOptions | None = None):
        self.options = options or MethodOptions()
        self.curves = curves(self.options.curve, n, self.options.order, self.options.lines)
        self.trials = TrialTable(n, constraints)
        self.intervals = Intervals(self.trials, self.curves.cells, self.curves.lines, self.options.reserve)
        self.rankings = self._rankings()
        self.asked: list[Place] = []
        self.waiting: dict[int, Place] = {}
        self.events: list[int] = []                      # number + 1 of a trial asked, -(number + 1) of one told
        self._at: dict[int, list[tuple[int, int]]] = {}  # where those that are waited for are on the lines
        self._taken: set[Place] = set()
        self.begins: list[int] = []                      # of trials told: where the cell of each begins, on its first line
        self.given: set[int] = set()                     # trials whose places came from outside
        self._shortest = math.inf                        # of the intervals that were chosen
        self._chosen: tuple[int, int] | None = None
        self._full = False

    def _rankings(self) -> list[Ranking]:
        options = self.options
        found = [Ranking(self.intervals, options.r)]
        if options.local_every:
            found.append(Ranking(self.intervals, options.r, options.sharpness))
        return found

    def ask(self, p: int = 1) -> list[Trial]:
        """The next p trials; fewer where the budget, or the grid of the curve, ends."""
        most = math.inf if self.options.trials is None else self.options.trials
        found: list[Trial] = []
        while len(found) < p and len(self.asked) < most and not self._full:
            place = self._next()
            if place is None:
                self._full = not self.waiting and self.rankings[0].greatest() is None
                break
            found.append(self._ask(place))
        return found

    def ask_at(self, point: Sequence[float]) -> Trial | None:
        """A trial at the place that is nearest to a point of the unit cube, for those who know one; None if it was asked for."""
        place = self.curves.nearest(point)
        if place in self._taken:
            return None
        self.given.add(len(self.asked))
        self._chosen = None
        return IndexMethod._ask(self, place)

    def tell(self, number: int, told: TrialOutcome) -> None:
        """What came of a trial that was asked for, once."""
        if number not in self.waiting:
            raise OptionError(f"trial {number} was not asked for, or told already")
        if not isinstance(told, TrialOutcome):
            raise OptionError(f"what came of a trial is an Outcome, not {type(told).__name__}")
        place = self.waiting.pop(number)
        positions = self._at.pop(number)
        self.events.append(-(number + 1))
        entered, spare = self.trials.add(place, self.curves.point(place), told), self.intervals.spare
        self.begins.append(positions[0][1] >> spare << spare)
        for line, position in positions:
            self._divide(line, position, entered)

    def done(self) -> str | None:
        """Why there is nothing more to ask, if so."""
        if self._shortest < self.options.accuracy:
            return "accuracy"
        if self.options.trials is not None and len(self.asked) >= self.options.trials and not self.waiting:
            return "trials"
        return "grid" if self._full else None

    def finish(self) -> BestTrial:
        """What was found so far."""
        trials = self.trials
        best = None if trials.best < 0 else trials.best
        outcomes = trials.outcomes
        return BestTrial(point=None if best is None else tuple(trials.points[best].tolist()),
                         outcome=None if best is None else outcomes[best], feasible=trials.highest == trials.constraints,
                         trials=trials.count,
                         evaluations=tuple(sum(len(o.values) > k for o in outcomes) for k in range(trials.constraints + 1)),
                         failures={kind: count for kind in TrialFailure if (count := sum(o.failure is kind for o in outcomes))})

    # choosing

    def _next(self) -> Place | None:
        """The place of the next trial."""
        if len(self.asked) < self.options.first:
            return self._first(len(self.asked) + 1)
        return self._by_ranking(self._whose_turn())

    def _whose_turn(self) -> Ranking:
        every = self.options.local_every
        return self.rankings[1 if every and len(self.asked) % every == every - 1 else 0]

    def _first(self, j: int) -> Place | None:
        """The first trials are spread evenly over the first line."""
        place = self._place(0, self.intervals.end * j // (self.options.first + 1))
        return self._by_ranking(self.rankings[0]) if place is None or place in self._taken else place

    def _by_ranking(self, ranking: Ranking) -> Place | None:
        """Divides the interval that is ranked first; positions outside the cube are entered at once, and the next is asked."""
        for _ in range(POLICY.most_outside[bool(self.waiting)]):
            slot = ranking.greatest()
            if slot is None:
                break
            line, position = self._inside(slot, ranking.r)
            place = self._place(line, position)
            if place is None or place in self._taken:
                self._divide(line, position, UNKNOWN)
                continue
            self._shortest = min(self._shortest, self.intervals.row(slot)[0])
            return place
        return self._between_waiting()

    def _inside(self, slot: int, r: float) -> tuple[int, int]:
        """The position at which an interval is divided: its middle, moved toward the lower end."""
        its = self.intervals
        line, begin, end = its.ends(slot)
        position = (begin + end + 1) // 2
        width, index, other, left, right, _ = its.row(slot)
        if index == other >= 0 and left != right:
            share = min((abs(right - left) / (its.constant(index) * width)) ** its.n, 1.0) / (2 * r)
            move = (end - begin) * int(share * 2.0**62) >> 62
            position += -move if right > left else move
        one = 1 << its.spare
        return line, min(max(position, (begin // one + 1) * one), end // one * one - 1)

    def _between_waiting(self) -> Place | None:
        """Every interval that could be divided has a trial that is waited for: the widest gap between these is halved."""
        gaps = []
        for slot in sorted({s for ranking in self.rankings for s in ranking.barred}):
            line, begin, end = self.intervals.ends(slot)
            inside = sorted({q for positions in self._at.values() for where, q in positions if where == line and begin < q < end})
            stops = [begin, *inside, end]
            gaps += [(stops[k] - stops[k + 1], line, stops[k], stops[k + 1]) for k in range(len(stops) - 1)]
        for _, line, begin, end in sorted(gaps):
            place = self._place(line, (begin + end + 1) // 2) if end - begin > 1 else None
            if place is not None and place not in self._taken:
                return place
        return None

    def _place(self, line: int, position: int) -> Place | None:
        """The place at a position; which one it was is known until the trial is asked for."""
        self._chosen = line, position
        return self.curves.place(line, position >> self.intervals.spare)

    # entering

    def _ask(self, place: Place) -> Trial:
        number, spare = len(self.asked), self.intervals.spare
        self.asked.append(place)
        self._taken.add(place)
        self.waiting[number] = place
        self.events.append(number + 1)
        found = [(line, (2 * cell + 1 << spare) >> 1) for line, cell in self.curves.positions(place)]
        if (chosen := self._chosen) is not None:
            found = [chosen if (line, q >> spare) == (chosen[0], chosen[1] >> spare) else (line, q) for line, q in found]
        self._at[number], self._chosen = found, None
        for line, position in self._at[number]:
            slot = self.intervals.interval_at(line, position)
            for ranking in self.rankings if slot is not None else ():
                ranking.bar(slot)
        return Trial(number, self.curves.point(place))

    def _divide(self, line: int, position: int, trial: int) -> None:
        parts = self.intervals.enter(line, position, trial)
        if parts:
            self._mark(parts)

    def _mark(self, slots: tuple[int, ...]) -> None:
        """Intervals have other ends; those in which a trial is waited for are not divided."""
        busy: set[int] = set()
        if self._at:
            for slot in slots:
                line, begin, end = self.intervals.ends(slot)
                if any(where == line and begin < q < end for positions in self._at.values() for where, q in positions):
                    busy.add(slot)
        for ranking in self.rankings:
            ranking.barred.difference_update(slots)
            ranking.barred.update(busy)
            ranking.changed(slots)

    # keeping

    def to_arrays(self) -> dict[str, np.ndarray]:
        """All of the state: what was asked and told, in order."""
        levels = self.trials.constraints + 1
        values = np.full((self.trials.count, levels), math.nan)
        for row, told in zip(values, self.trials.outcomes, strict=True):
            row[:len(told.values)] = told.values
        return {"events": np.array(self.events, dtype=np.int64), "values": values,
                "computed": np.array([len(o.values) for o in self.trials.outcomes], dtype=np.int64),
                "failure": np.array([o.failure.value if o.failure else 0 for o in self.trials.outcomes], dtype=np.int64),
                "places": np.array(self.asked, dtype=np.uint64).reshape(-1, self.trials.n),
                "given": np.array(sorted(self.given), dtype=np.int64)}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray], n: int, constraints: int = 0, options: Any = None) -> Self:
        """The search in that state: every event again, and every place compared with what is asked now."""
        search, told, given = cls(n, constraints, options), 0, set(arrays["given"].tolist())
        for event in arrays["events"].tolist():
            if event - 1 in given:
                search.ask_at(search.curves.point(tuple(arrays["places"][event - 1].tolist())))
            elif event > 0:
                (trial,) = search.ask() or (None,)
                if trial is None or search.asked[-1] != tuple(arrays["places"][event - 1].tolist()):
                    raise OptionError("these trials were asked for by another search, or with other options")
            else:
                computed, failure = int(arrays["computed"][told]), int(arrays["failure"][told])
                search.tell(-event - 1, TrialOutcome(tuple(arrays["values"][told, :computed].tolist()),
                                                     TrialFailure(failure) if failure else None))
                told += 1
        return search


def options_of(keywords: dict[str, Any]) -> MethodOptions:
    """The options of keywords, with a message that names those there are."""
    known = asdict(MethodOptions())
    for name in keywords:
        if name not in known:
            raise OptionError(f"the index method has no option {name!r}; it has {', '.join(known)}")
    return MethodOptions(**keywords)


def to_box(point: Sequence[float], lo: Sequence[float], hi: Sequence[float]) -> np.ndarray:
    """A point of the unit cube, in a box; never outside it."""
    lo, hi = np.asarray(lo, dtype=float), np.asarray(hi, dtype=float)
    return np.clip(lo + (hi - lo) * np.asarray(point), lo, hi)
