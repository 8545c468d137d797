"""Rounds of the complete search: iterations on the lowest regions of the list, each by another worker.

A portion is one region, as a box, with where its block of variables begins, its start box, its lower end and the best point so
far. Who cuts it needs nothing of the list, and answers with what is left: numbers of subregions and their lower ends. Answers are
put together in the order of the regions. A region stays in the list until its pieces are there.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from infimum.engines.complete_search import CompleteSearch, RegionToCut
from infimum.engines.region_list import RegionPlace
from infimum.errors import InternalError
from infimum.search.checkpoint import State
from infimum.search.limit_messages import RoundEnded, boxes_reached, iterations_done
from infimum.search.policy.search import PUBLISHED_ENGINES as POLICY
from infimum.search.region_pool import can_be_cut
from infimum.search.rounds import LearnedArrays, Portion, PortionRounds
from infimum.support.clock import OutOfTime


class _RoundState(NamedTuple):
    """The regions of a round, where each is in the list, and what has come back."""

    regions: list[RegionToCut]
    places: list[RegionPlace]
    answers: dict[int, State]

    def count(self, what: str) -> int:
        return sum(answer.values[what] for answer in self.answers.values())


class OneIteration:
    """An iteration on a region of another search, worked off as other portions are."""

    is_between_steps = True

    def __init__(self, search: CompleteSearch, state: State):
        self.search, self.region, self.boxes, self.left = search, RegionToCut(**state.values, **_ends(state)), 0, state
        search.incumbent.restore(state.arrays)

    @property
    def done(self) -> bool:
        return self.boxes > 0

    def step(self) -> None:
        """The whole of it."""
        search, before, fetch = self.search, self.search.boxes, self.search.evaluator.arrays.fetch
        pieces = search.cut(self.region)
        lo, hi, found = (self.region.lo, self.region.hi, []) if pieces is None else pieces
        numbers = [fetch(numbers)[0].view(np.int64).astype(np.int32) for numbers, _, _ in found]
        lower = [fetch(lower)[0] for _, lower, _ in found]
        self.boxes = search.boxes - before
        counts = {"boxes": self.boxes, "iterations": int(pieces is not None)}
        self.left = State(counts, {"lo": lo, "hi": hi, "numbers": np.concatenate([np.empty(0, np.int32), *numbers]),
                                   "lower": np.concatenate([np.empty(0), *lower]), **search.incumbent.arrays()})

    def state(self) -> State:
        return self.left


def _ends(state: State) -> dict[str, np.ndarray]:
    return {name: state.arrays[name] for name in ("lo", "hi")}


class IterationRounds(PortionRounds):
    """Rounds with at most the given number of iterations."""

    def round(self, search: CompleteSearch, most: int | None, learnt: LearnedArrays = dict) -> Iterator[None]:
        """A round in place of an iteration, in pieces: between them all is as it was before. Gives back whether there was one:
        there is none where regions are few, or the lowest is too narrow to be cut. `most`: the boxes that may be enclosed in all;
        raises RoundEnded where they, or the iterations that were asked for, do not suffice for the round. No test learns here.
        """
        found = search.lowest(self.portions)
        can = [bool(can_be_cut(region.lo, region.hi).any()) for region, _ in found]
        if sum(can) < POLICY.least_regions or not can[0]:
            return False
        regions, places = zip(*(one for one, so in zip(found, can, strict=True) if so), strict=True)
        round_state = self._round_state = _RoundState(list(regions), list(places), {})
        while some := self._next(search, round_state, most):
            yield from self._run_portions(search, round_state, some)
        if len(round_state.answers) < len(regions):
            over = most is not None and search.boxes + round_state.count("boxes") >= most
            raise RoundEnded(boxes_reached(search.boxes + round_state.count("boxes"), most) if over
                             else iterations_done(search.options.iterations))
        self._round_state = None
        self._merge(search, round_state)
        return True

    def _next(self, search: CompleteSearch, round_state: _RoundState, most: int | None) -> list[int]:
        """The numbers of the regions for which there are boxes and iterations."""
        rest = len(round_state.regions) - len(round_state.answers)
        if most is not None:
            rest = min(rest, -((search.boxes + round_state.count("boxes") - most) // search.pieces**search.block))
        if search.options.iterations is not None:
            rest = min(rest, search.options.iterations - len(search.taken) - round_state.count("iterations"))
        return list(range(len(round_state.answers), len(round_state.answers) + max(0, rest)))

    def _run_portions(self, search: CompleteSearch, round_state: _RoundState, numbers: list[int]) -> Iterator[None]:
        known = search.incumbent.arrays()

        def portion(which: int) -> Portion:
            values = round_state.regions[numbers[which]]._asdict()
            ends = {name: values.pop(name) for name in ("lo", "hi")}
            return Portion(State(values, ends | known), 1)
        for answer in self.runner.run_portions(len(numbers), portion):
            if answer is not None:
                round_state.answers[numbers[answer[0]]] = answer[1]
            yield
        if len(round_state.answers) <= numbers[-1]:
            raise InternalError(f"of {numbers[-1] + 1} portions {len(round_state.answers)} came back")

    def end(self, search: CompleteSearch) -> None:
        """Where a run ends in the midst of a round, what has come back counts; the other regions stay as they are."""
        round_state, self._round_state = self._round_state, None
        if round_state is not None and round_state.answers:
            with suppress(MemoryError, OutOfTime):  # what is proved so far stays
                self._merge(search, round_state)

    def _merge(self, search: CompleteSearch, round_state: _RoundState) -> None:
        answers = sorted(round_state.answers.items())
        best = min((answer for _, answer in answers), key=lambda answer: answer.arrays["incumbent"][0])
        if best.arrays["incumbent"][0] < search.incumbent.upper:
            search.incumbent.restore(best.arrays)
        for number, answer in answers:
            search.boxes += answer.values["boxes"]
            if answer.values["iterations"]:
                region = round_state.regions[number]._replace(**_ends(answer))
                search.keep(region, answer.arrays["numbers"], answer.arrays["lower"])
            search.list.remove(round_state.places[number])
        search.prune()
        self.done += 1
