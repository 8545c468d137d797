"""Points with whole numbers, by the solver's integer programs: the relaxation of a region with whole columns is solved as one,
and then again with variables fixed at that solution that are factors of all products and arguments of all curves. With these
fixed the relaxation is exact, but for rounding errors, and its solution a point of the problem. These are estimates: whoever
takes such a point proves what it is.
"""

import numpy as np

from infimum.bounds.linear_programs.rounding_cuts import whole_columns
from infimum.bounds.propagation import propagate
from infimum.relax.program_bounds import LinearProgramBounding
from infimum.relax.relaxation import RegionPrograms, Relaxation
from infimum.search.policy.cuts import INTEGER_GUIDE as POLICY
from infimum.support.clock import left, stop_if_over

Box = tuple[np.ndarray, np.ndarray]


class IntegerGuide:
    """Of one problem. `holds`: sets of variables that are fixed in turn."""

    def __init__(self, bounding: LinearProgramBounding):
        self.bounding, self.relaxation, self.n = bounding, bounding.relaxation, bounding.relaxation.n
        self.whole = whole_columns(self.relaxation.lift.columns, self.relaxation.whole.tolist())
        first = _factors_of_all(self.relaxation, np.zeros(self.n, bool))
        self.holds = [first, _factors_of_all(self.relaxation, first)]

    @property
    def applies(self) -> bool:
        """Are programs small?"""
        return self.relaxation.columns <= POLICY.most_columns and self.relaxation.entries <= POLICY.most_entries

    def points(self, lo: np.ndarray, hi: np.ndarray, upper: float) -> list[np.ndarray]:
        """Points of the box [lo, hi], each from the one before, with f below `upper` about."""
        guide = self._solved((lo, hi), upper)
        if guide is None:
            return []
        found = [guide]
        for held in self.holds:
            point = guide
            for turn in range(POLICY.turns):
                fixed = held if turn % 2 == 0 else self.holds[held is self.holds[0]]
                box = self._with((lo, hi), fixed, point, upper)
                new = None if box is None else self._solved(box, upper)
                if new is None:
                    break
                found.append(new)
                if np.array_equal(new, point):
                    break
                point = new
        return found

    def _with(self, box: Box, held: np.ndarray, x: np.ndarray, upper: float) -> Box | None:
        lo, hi = box[0].copy(), box[1].copy()
        lo[held] = hi[held] = np.minimum(np.maximum(x[held], lo[held]), hi[held])
        return propagate(self.relaxation.evaluator, lo, hi, upper)

    def _solved(self, box: Box, upper: float) -> np.ndarray | None:
        """The variables at the solution of the integer program of a box, if one was found."""
        stop_if_over()
        low, high = (end[None] for end in self.bounding.columns_of(*box))
        region = self.relaxation.at(low, high, upper, self.bounding.touches(low, high, [None]))
        if not region.known[0] or (region.low > region.high).any() or not np.isfinite([region.low, region.high]).all():
            return None
        if not _is_within_reach(region.at(0), self.whole):
            return None
        z = self.bounding.solver.whole_solution(region.at(0), self.whole, POLICY.most_nodes, max(0.0, left()))
        stop_if_over()  # what the time limit of a run has cut off depends on the clock
        if z is None or not np.isfinite(z).all():
            return None
        x = np.minimum(np.maximum(z[:self.n], box[0]), box[1])
        x[self.relaxation.whole] = np.rint(x[self.relaxation.whole])
        return x


def _is_within_reach(program: RegionPrograms, whole: np.ndarray) -> bool:
    """Are its numbers of a size with which the solver comes to an end? Where whole columns are very long, or columns that follow
    from them, it may go on for ever and hears neither a time limit nor Ctrl-C."""
    rows, reach = program.rows, np.maximum(np.abs(program.low), np.abs(program.high))
    with np.errstate(over="ignore"):
        terms = np.concatenate([np.abs(rows.low) * reach[rows.column], np.abs(program.cost.low) * reach])
    return bool((reach[whole] <= POLICY.farthest_whole).all() and (terms <= POLICY.largest_term).all())


def _factors_of_all(relaxation: Relaxation, last: np.ndarray) -> np.ndarray:
    """Variables that are one factor at least of each product and all that curves are of; those marked are `last` to be taken, and
    then those with most products."""
    lift, held = relaxation.lift, np.zeros(relaxation.n, bool)
    for k in relaxation.arguments:
        held |= lift.reads[k]
    pairs = [tuple(np.flatnonzero(lift.reads[j]) for j in pair) for pair in relaxation.factors]
    pairs = [pair for pair in pairs if not any(held[part].all() for part in pair)]
    while pairs:
        count = np.zeros(relaxation.n)
        for pair in pairs:
            for part in pair:
                count[part] += 1.0
        pair = pairs[0]
        part = max(pair, key=lambda part: (not last[part].any(), count[part].sum() / len(part)))
        held[part] = True
        pairs = [pair for pair in pairs if not any(held[part].all() for part in pair)]
    return held
