"""Refinement: of every variable the slices that may hold its part of a minimiser, halved until they no longer limit the gap.

It pays where the function has sums, products or other reductions whose terms read one variable each. The bound on a slice then
has the extremes of every other term over the slices of its variable, not over the hull of these: branch and bound in one
dimension, for all variables at once. What is left holds every minimiser, even if these are 2**n.

Proof: docs/proofs/unions.md.
"""

from collections.abc import Iterator

import numpy as np

from infimum.bounds.sweeps.refinement_kernel import AT_MIDDLE, DEAD, LEFT, LEVEL, LOWER, RIGHT, reductions_of_terms
from infimum.bounds.sweeps.sweeps import Sweeper
from infimum.evaluation.enclosures import POLE
from infimum.evaluation.programs import REDUCED, TERMS, TESTED
from infimum.problem.settings import Goal
from infimum.problem.unions import Unions, widths
from infimum.search.incumbent import Incumbent
from infimum.search.policy.bounds import SLICE_REFINEMENT as POLICY
from infimum.structure.local_form import all_sources

_POLE = float(POLE)


class SliceRefinement:
    """One refinement of a box (n, 1). `unions` hold every minimiser that the box holds, and f is nowhere there below `lower`."""

    def __init__(self, sweeper: Sweeper, box: tuple[np.ndarray, np.ndarray], goal: Goal, incumbent: Incumbent):
        self.sweeper, self.evaluator, self.goal, self.incumbent = sweeper, sweeper.evaluator, goal, incumbent
        self.n, self.form, self.numbers = sweeper.n, sweeper.evaluator.facts.local, sweeper.numbers
        self.unions = Unions.of_box(*(end[:, 0] for end in box))
        self.lower, self.level, self.evaluations = -np.inf, 0, 0
        self.rounds: list[tuple[float, int]] = []  # the gap after each, and the slices that were left
        self.beyond = POLICY.rounds_after_goal
        nodes = all_sources(self.form)
        self.replaced = [nodes.index(node) for node in reductions_of_terms(self.form)]
        self.others = len(self.replaced) < len(nodes)  # are there numbers that come from the hull of the slices?

    @staticmethod
    def possible(sweeper: Sweeper) -> bool:
        few = POLICY.least_slices * sweeper.n <= POLICY.most_slices
        return sweeper.possible and bool(sweeper.evaluator.facts.local.terms) and few

    @property
    def empty(self) -> bool:
        """Is all of the box proved away?"""
        return not self.unions.counts.all()

    def steps(self) -> Iterator[None]:
        """The work, in rounds, until the goal is met, nothing is left, or it no longer pays."""
        every: Unions | None = self._first()
        while every is not None and len(every.lo) <= POLICY.most_slices:
            self.unions = every
            yield from self._round()
            every = None if self.empty else self._halved()

    def _halved(self) -> Unions | None:
        """The slices of the next round; None if this was the last."""
        self.rounds.append((self.incumbent.upper - self.lower, len(self.unions.lo)))
        width = 0.0
        if not self.goal.met(self.lower, self.incumbent.upper):
            if not self._pays():
                return None
        elif self.beyond and len(self.unions.lo) <= POLICY.first_slices * self.n:
            self.beyond -= 1
        else:
            width = np.inf if self.goal.xtol is None else self.goal.xtol
        every = self.unions.halved(widths(self.unions.lo, self.unions.hi) > width)
        return every if len(every.lo) > len(self.unions.lo) else None  # else all are narrow, or no double is left to cut at

    def _pays(self) -> bool:
        """Has the gap shrunk in the last rounds, or were at least many halves dropped in the last few?"""
        gap, count = self.rounds[-1]
        short, long = POLICY.short_patience_rounds, POLICY.patience_rounds
        if len(self.rounds) <= short or gap < POLICY.worth_gap_left * self.rounds[-1 - short][0]:
            return True
        if count > POLICY.large_growth * self.rounds[-1 - short][1]:
            return False
        return len(self.rounds) <= long or gap < POLICY.worth_gap_left * self.rounds[-1 - long][0]

    def _first(self) -> Unions:
        unions = self.unions
        while len(unions.lo) < min(POLICY.first_slices * self.n, POLICY.most_first_lanes):
            finer = unions.halved(np.ones(len(unions.lo), bool))
            if len(finer.lo) == len(unions.lo):
                break
            unions = finer
        return unions

    def _round(self) -> Iterator[None]:
        """Tests all slices against the product as it is before any of them is dropped."""
        unions, starts = self.unions, self.unions.starts[:-1]
        lo, hi = (end[:, None] for end in unions.hull)
        found = self._on_hull(lo, hi)
        out = yield from self._lanes(TERMS, unions, self._rows(lo, hi, found), None)
        vectors = []
        for k, (source, term) in enumerate(self.form.terms.items()):
            at = np.arange(source.size) - term.shift  # the variable that each term reads
            low, high, level = (reduce.reduceat(row, starts)[at]
                                for reduce, row in zip((np.minimum, np.maximum, np.minimum), out[3 * k:3 * k + 3], strict=True))
            nowhere = low > high
            vectors += [np.where(nowhere, none, row)[:, None]
                        for row, none in ((low, -np.inf), (high, np.inf), (level, _POLE))]
        rows = self.evaluator.run(REDUCED, vectors)
        for k, at in enumerate(self.replaced):
            found[3 * at:3 * at + 3] = rows[3 * k:3 * k + 3]
        bounded = bool(np.isfinite(lo).all() and np.isfinite(hi).all())
        user = np.stack([self.sweeper.lo, self.sweeper.hi, np.full(self.n, float(bounded))])
        out = yield from self._lanes(TESTED, unions, self._rows(lo, hi, found), user, np.array([self.incumbent.upper]))
        alive = out[DEAD] == 0
        self.unions = Unions(out[LEFT], out[RIGHT], unions.starts).keep(alive)
        if not self.empty:
            least = np.minimum.reduceat(out[LOWER][alive], self.unions.starts[:-1])
            level = np.minimum.reduceat(out[LEVEL][alive], self.unions.starts[:-1])
            self.lower, self.level = max(self.lower, float(least.max())), int(level.max())
            self._offer(out[LOWER][alive], out[AT_MIDDLE][alive])

    def _offer(self, lower: np.ndarray, at_middle: np.ndarray) -> None:
        """Points to try: of each variable the slice with the lowest middle, and the middle and ends of the one that is bounded
        lowest."""
        lo, hi = self.unions.lo, self.unions.hi
        middle = np.where(np.isfinite(lo), lo, 0.0) * 0.5 + np.where(np.isfinite(hi), hi, 0.0) * 0.5
        middle = np.minimum(np.maximum(middle, lo), hi)
        by_middle, by_bound = (_lowest(row, self.unions) for row in (at_middle, lower))
        points = np.stack([middle[by_middle], middle[by_bound], lo[by_bound], hi[by_bound]], axis=1)
        self.incumbent.offer(np.compress(np.isfinite(points).all(axis=0), points, axis=1))

    def _on_hull(self, lo: np.ndarray, hi: np.ndarray) -> list[np.ndarray]:
        """What the numbers are read from, on the hull of the slices; nothing is known of what the terms will say."""
        if self.others:
            return list(self.sweeper.context(lo, hi))
        found = []
        for node in all_sources(self.form):
            found += [np.full((node.size, 1), value) for value in (-np.inf, np.inf, _POLE)]
        return found

    def _rows(self, lo: np.ndarray, hi: np.ndarray, found: list[np.ndarray]) -> np.ndarray:
        """The numbers of every variable, in columns."""
        rows = [row for number in self.numbers.enclosures(self.sweeper.every, lo, hi, found) for row in number]
        return np.stack([np.broadcast_to(row, (self.n, 1))[:, 0] for row in rows]) if rows else np.zeros((1, self.n))

    def _lanes(self, kind: str, unions: Unions, numbers: np.ndarray, user: np.ndarray | None,
               parameters: np.ndarray | None = None) -> Iterator[None]:
        """Runs a kernel on all slices, some at a time; returns its rows."""
        variables, parts = unions.variables, []
        for begin in range(0, len(variables), POLICY.lanes_at_once):
            part = slice(begin, begin + POLICY.lanes_at_once)
            box, at = np.stack([unions.lo[part], unions.hi[part]]), variables[part]
            beside = box if user is None else np.take(user, at, axis=1)
            parts.append(self.evaluator.run(kind, [box, beside, np.take(numbers, at, axis=1)], parameters=parameters)[0])
            self.evaluations += len(at)
            yield
        return np.concatenate(parts, axis=1)


def _lowest(row: np.ndarray, unions: Unions) -> np.ndarray:
    """Of each variable the slice with the lowest number in the row, the first of equals."""
    variables = unions.variables
    at = np.flatnonzero(row == np.minimum.reduceat(row, unions.starts[:-1])[variables])
    return at[np.append(True, variables[at][1:] != variables[at][:-1])]
