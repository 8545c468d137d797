"""Variables that may be exchanged are put in order: of points that differ by their order alone, regions keep one, and what is
proved of it is given back for all orders.

Proof: docs/proofs/exchanges.md.
"""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import factorial, prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.expr.build import index, substituted
from infimum.expr.node import var
from infimum.expr.rewriting_switches import step
from infimum.presolve.presolve_stack import Formulation, PresolveStep
from infimum.problem.cover import MOST_KEPT_NUMBERS, Cover
from infimum.problem.settings import Goal
from infimum.problem.text import counted
from infimum.result import Result, Verdict
from infimum.search.policy.search import EXCHANGES as POLICY
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.bounds import propagation
    from infimum.certify import uniqueness_question, verdict
    from infimum.expr import exact_forms
    from infimum.search import region_pool
    from infimum.structure.exact_rows import exchanges, row_expressions
else:
    propagation, exact_forms = LazyModule("bounds.propagation"), LazyModule("expr.exact_forms")
    uniqueness_question, verdict = LazyModule("certify.uniqueness_question"), LazyModule("certify.verdict")
    region_pool = LazyModule("search.region_pool")
    exchanges = LazyModule("structure.exact_rows.exchanges")
    row_expressions = LazyModule("structure.exact_rows.row_expressions")

Row = dict[int, Fraction]  # a sum of multiples of variables that is not negative
Boxes = tuple[np.ndarray, np.ndarray]
Ends = tuple[np.ndarray, np.ndarray, np.ndarray]  # of boxes in columns, and a lower bound of f on each


class Family(NamedTuple):
    """Blocks of variables, the rows of `blocks`, of which each has at column `key` no less than the next one."""

    blocks: np.ndarray
    key: int

    @property
    def rows(self) -> Iterator[Row]:
        for i, j in itertools.pairwise(self.blocks[:, self.key].tolist()):
            yield {i: Fraction(1), j: Fraction(-1)}


class OrderedBlocks(PresolveStep):
    """Where narrow regions are asked for by `goal`, with few orders alone."""

    def __init__(self, goal: Goal):
        self.goal = goal

    @step("exchanges", lambda self, given: None)
    def apply(self, given: Formulation) -> Formulation | None:
        problem, system, n = given.problem, given.evaluator.system, given.evaluator.n
        if system is None or problem.outer is not None or problem.start is not None:
            return None
        fewest = POLICY.least_blocks if system.integers else POLICY.least_real_blocks
        if not fewest <= n <= POLICY.most_variables:
            return None
        search = exchanges.ExchangeSearch(system, problem.lo, problem.hi)
        found = list(search.exchanges())
        if not found:
            return None
        self.given = given
        self.families = self._families([(blocks, chain) for blocks, chain in exchanges.families_of(found)
                                        if len(blocks) >= fewest])
        if not self.families and not system.integers:
            return None
        gains = {tuple(sorted(row.items())): row for one in found if (row := _unit_row(one.gain)) is not None}
        rows = [*gains.values(), *(row for family in self.families for row in family.rows)]
        if not rows:
            return None
        body = row_expressions.linear_rows(rows, var("x", (n,)))
        endless = np.full(len(rows), np.inf)
        inner = replace(system.with_rows(body, -endless, endless, "an order of exchangeable variables"), orders=len(rows))
        moved = {j for one in found if one.gain for j in one.moved} | {j for family in self.families for j in family.blocks.flat}
        self.said = f"{counted(len(moved), 'variable')} put in order, since they may be exchanged"
        return given.with_system(inner)

    def _families(self, found: "list[tuple[np.ndarray, list[exchanges.Exchange]]]") -> list[Family]:
        """Each with the column that has most values of those by which blocks may be put in order, where there is one."""
        problem, whole, families = self.given.problem, set(self.given.evaluator.system.integers), []
        asked = [blocks for blocks, chain in found if any(one.gain for one in chain)]
        left = self._in_wrong_order([pair for blocks in asked for pair in zip(*blocks[:2].tolist(), strict=True)])
        orders = 1
        for blocks, chain in found:
            if self.goal.xtol is not None and orders * factorial(len(blocks)) > POLICY.most_orders:
                continue
            width = (problem.hi - problem.lo)[blocks[0]]
            for key in sorted(range(blocks.shape[1]), key=lambda k: (blocks[0, k] not in whole, -width[k], k)):
                pair = tuple(blocks[:2, key].tolist())
                if pair not in left or left[pair] is None or self._is_harmless(blocks, chain, left[pair]):
                    families.append(Family(blocks, key))
                    orders *= factorial(len(blocks))
                    break
        return families

    def _in_wrong_order(self, pairs: list[tuple[int, int]]) -> dict[tuple[int, int], Boxes | None]:
        """What is left of the bounds where x[i] < x[j], for each pair (i, j), if anything. The difference is a variable more, so
        that one kernel serves all pairs."""
        (problem, evaluator), count = self.given, len(pairs)
        if not pairs:
            return {}
        system, n = evaluator.system, evaluator.n
        x, zeros = var("x", (n + count,)), np.zeros(count)
        own = {var("x", (n,)): index(x, slice(0, n))}
        rows = [{j: Fraction(1), i: Fraction(-1), n + k: Fraction(-1)} for k, (i, j) in enumerate(pairs)]
        wider = replace(system, f=substituted(system.f, own), bodies=tuple(substituted(body, own) for body in system.bodies))
        wider = wider.with_rows(row_expressions.linear_rows(rows, x), zeros, zeros, "the wrong order")
        lo, hi = (np.concatenate([np.repeat(end[:, None], count, axis=1), np.full((count, count), endless)])
                  for end, endless in ((problem.lo, -np.inf), (problem.hi, np.inf)))
        lo[n:][np.diag_indices(count)] = [float(i in system.integers and j in system.integers) for i, j in pairs]
        lo, hi, lost = propagation.propagate_lanes(Evaluator(wider.f, n + count, evaluator.backend, system=wider), lo, hi)
        return {pair: None if lost[k] else (lo[:n, k], hi[:n, k]) for k, pair in enumerate(pairs)}

    def _is_harmless(self, blocks: np.ndarray, chain: "list[exchanges.Exchange]", left: Boxes) -> bool:
        """Is f certainly not larger after each of these exchanges, wherever the key of the first block is less than that of the
        second? Where two blocks may be is the same for all pairs of them."""
        n = self.given.evaluator.n
        for k, one in enumerate(chain):
            lo, hi = np.full((2, n), [[-np.inf], [np.inf]])
            lo[blocks[k:k + 2]], hi[blocks[k:k + 2]] = (end[blocks[:2]] for end in left)
            used = [j for term in one.gain for (_, j), _ in term]
            if not (np.isfinite(lo[used]) & np.isfinite(hi[used])).all() or exact_forms.enclosed(one.gain, lo, hi)[1] > 0:
                return False
        return True

    # ---- the way back
    def postsolve(self, result: Result) -> Result:
        if not self.families:
            return result
        problem, evaluator = self.given
        boxes, cover = result.boxes, result.regions
        if boxes:
            lo, hi, lower = self._images(*(np.stack(ends, axis=1) for ends in zip(*boxes, strict=True)), np.zeros(len(boxes)))
            zeros = np.zeros(len(lower), np.int32)
            boxes = verdict.merged(region_pool.Regions(lo, hi, lower, zeros, zeros))
        if cover is not None and (cover.kept or cover.unions is not None):
            if cover.unions is not None:
                cover = Cover(*(end[:, None] for end in cover.unions.hull), np.array([result.lower]))
            narrow = self.goal.xtol is not None and result.verdict is Verdict.PROVED
            cover = self._all_of(cover) if narrow else Cover(*self._images(cover.lo.T, cover.hi.T, cover.lower))
        return replace(result, boxes=boxes, regions=cover, question=uniqueness_question.UniquenessQuestion(
            evaluator, problem.lo, problem.hi, outer=problem.outer))

    @property
    def _orders(self) -> int:
        return prod(factorial(len(blocks)) for blocks, _ in self.families)

    def _images(self, lo: np.ndarray, hi: np.ndarray, lower: np.ndarray) -> Ends:
        """Boxes (n, N) in all orders, each once, or boxes around those, if there would be many."""
        if len(lower) * self._orders <= POLICY.most_images:
            return self._in_all_orders(lo, hi, lower)
        lo, hi = lo.copy(), hi.copy()
        for blocks, _ in self.families:
            lo[blocks], hi[blocks] = lo[blocks].min(axis=0), hi[blocks].max(axis=0)
        return lo, hi, lower

    def _all_of(self, cover: Cover) -> Cover:
        """Narrow regions in all orders: as narrow, if they are kept."""
        count, n = cover.count * self._orders, len(self.given.problem.lo)
        if count * (2 * n + 1) > MOST_KEPT_NUMBERS:
            return Cover.counted(count)
        return Cover(*self._in_all_orders(cover.lo.T, cover.hi.T, cover.lower))

    def _in_all_orders(self, lo: np.ndarray, hi: np.ndarray, lower: np.ndarray) -> Ends:
        for blocks, _ in self.families:
            orders = list(itertools.permutations(range(len(blocks))))
            places = np.tile(np.arange(len(lo)), (len(orders), 1))
            for place, order in zip(places, orders, strict=True):
                place[blocks] = blocks[list(order)]
            lo, hi = (np.concatenate([end[place] for place in places], axis=1) for end in (lo, hi))
            once = _first_of_equal(lo, hi)
            lo, hi, lower = lo[:, once], hi[:, once], np.tile(lower, len(orders))[once]
        return lo, hi, lower


def _first_of_equal(lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """Marks of boxes (n, N) that no earlier one is equal to. Digests are compared first: to sort whole boxes takes long."""
    rows = [*lo, *hi]
    weights = np.random.default_rng(0).integers(1 << 62, size=len(rows), dtype=np.uint64) * 2 + 1
    digests = sum(np.ascontiguousarray(row).view(np.uint64) * weight for row, weight in zip(rows, weights, strict=True))
    _, first, which = np.unique(digests, return_index=True, return_inverse=True)
    earlier, equal = first[which], np.ones(len(digests), bool)
    for row in rows:
        equal &= row[earlier] == row
    return ~equal | (earlier == np.arange(len(digests)))


def _unit_row(gain: "exact_forms.Form") -> Row | None:
    """A sum of multiples of variables that has the sign of this one, its largest factor 1; None where it is none."""
    if not gain:
        return None
    most = max(abs(c) for c in gain.values())
    return {j: c / most for term, c in gain.items() for (_, j), _ in term}
