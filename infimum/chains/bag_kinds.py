"""Kinds: bags whose terms have one form and which are linked alike, so that their cells are worked on together."""

from collections.abc import Callable, Sequence
from functools import cache, cached_property, partial
from typing import Any

import numpy as np

from infimum.chains.bags import Bag
from infimum.chains.cell_kernels import FACTS, FROM, NATURAL, UNSHIFTED, steep_terms
from infimum.evaluation.device_choice import Arrays
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import CELLS, OPTIMISTIC_BOUND, SECOND_ORDER_BOUND, SHIFTED_BOUND, STEEP_TERMS, ProgramKind
from infimum.expr.build import build, index, substituted
from infimum.expr.node import Expr, const, var
from infimum.structure.term_sums import C, TermFamily, X
from infimum.support.lazy import dataclass


@dataclass(frozen=True, eq=False)
class BagKind:
    """bags: their numbers, in order, and heights. variables: (k, bags). constants: (2m, bags), lower ends, then upper ends.

    shared: the positions among the k variables of those that a bag shares with its parent. links: for each child its number in
    every bag, and the positions of what is shared with it.
    """

    evaluator: Evaluator
    bags: np.ndarray
    heights: np.ndarray
    variables: np.ndarray
    constants: np.ndarray
    shared: tuple[int, ...]
    links: list[tuple[np.ndarray, tuple[int, ...]]]

    @property
    def k(self) -> int:
        return len(self.variables)

    @property
    def own(self) -> list[int]:
        """The positions of the others: for each variable there is one bag that does not share it with its parent."""
        return [place for place in range(self.k) if place not in self.shared]

    @cached_property
    def has_roots(self) -> bool:
        """Are there roots or powers, where cells may have no derivative?"""
        return bool(steep_terms(self.evaluator.f))

    def enclose(self, arrays: Arrays, boxes: list[Any], count: int) -> list[Any]:
        """What `chains/cell_kernels.py` finds on cells: `boxes` are their lower ends, upper ends, centres, and constants if there
        are any, in the memory of `arrays`."""
        if not self.k:
            return [arrays.zeros(3, count), arrays.empty(0, count), arrays.empty(0, count)]
        found = self._run(CELLS, boxes)
        if self.has_roots:
            facts, marks = found[FACTS], arrays.empty(1, count)
            arrays.each("rough", count, found[FROM], (facts, NATURAL * count), marks)
            rough, _ = arrays.lowest(marks, count + 1, below=0.5)
            if len(rough):
                lo, hi, _, *more = (arrays.gather(rows, rough) for rows in boxes)
                minus = self._run(STEEP_TERMS, [lo, hi, *more])[0]
                arrays.each("improve", len(rough), minus, rough, (facts, NATURAL * count), (facts, UNSHIFTED * count))
        return found

    def _run(self, program: str, boxes: list[Any]) -> list[Any]:
        return self.evaluator.run(ProgramKind.of(program, constants=len(self.constants) // 2), boxes)

    def second_order_bound(self, boxes: list[Any], slopes: Any) -> Any:
        """Minus the lower bounds of the second order."""
        return self._run(SECOND_ORDER_BOUND, [*boxes[:3], slopes, *boxes[3:]])[0]

    def optimistic_bound(self, found: list[Any]) -> Any:
        """What the cells may hold at best, to choose among them: see `chains/cell_kernels.py`."""
        return self.evaluator.run(OPTIMISTIC_BOUND, [found[FACTS]])[0]

    def bound(self, found: list[Any], slopes: Any) -> Any:
        """Minus the lower bounds of the terms, less linear functions of these slopes: see `chains/cell_kernels.py`."""
        return self.evaluator.run(SHIFTED_BOUND, [*found, slopes])[0]


def kinds_of(bags: list[Bag], families: list[TermFamily], backend: object) -> list[BagKind]:
    """The kinds of the bags."""
    groups: dict[tuple, list[int]] = {}
    for number, bag in enumerate(bags):
        groups.setdefault((_form(bag, families), *_links(bag, bags)), []).append(number)
    term = cache(partial(_term, families))  # those of several kinds are made once
    return [_kind(key, [(number, bags[number]) for number in numbers], families, term, backend)
            for key, numbers in groups.items()]


def _places(bag: Bag, variables: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(bag.variables.index(v) for v in variables)


def _links(bag: Bag, bags: list[Bag]) -> tuple:
    return _places(bag, bag.shared), tuple(_places(bag, bags[child].shared) for child in bag.children)


def _form(bag: Bag, families: list[TermFamily]) -> tuple:
    """The families of its terms, with the places of their variables among the bag's."""
    return (len(bag.variables), *((family, _places(bag, tuple(families[family].variables[:, term].tolist())))
                                  for family, term in bag.terms))


def _kind(key: tuple[tuple, tuple, tuple], members: list[tuple[int, Bag]], families: list[TermFamily],
          term: Callable[..., Expr], backend: object) -> BagKind:
    """The kind of these bags, which come with their numbers. `key`: the form that they share, the places of the variables that
    they share with their parents, and of those that each child shares with them."""
    (k, *terms), shared, links = key
    numbers, bags = [number for number, _ in members], [bag for _, bag in members]
    ends = [], []
    for place, (family, _) in enumerate(terms):
        chosen = np.array([bag.terms[place][1] for bag in bags])
        for rows, table in zip(ends, (families[family].lower, families[family].upper), strict=True):
            rows.append(table[:, chosen])
    constants = np.concatenate([*ends[0], *ends[1], np.empty((0, len(numbers)))])
    value = _value(k, terms, families, term)
    children = [(np.array([bag.children[i] for bag in bags]), places) for i, places in enumerate(links)]
    variables = np.array([bag.variables for bag in bags], dtype=np.int64).reshape(len(numbers), k).T
    return BagKind(Evaluator(value, max(k, 1), backend), np.array(numbers), np.array([bag.height for bag in bags]),
                   np.ascontiguousarray(variables), constants, shared, children)


def _value(k: int, terms: list[tuple], families: list[TermFamily], term: Callable[..., Expr]) -> Expr:
    """The sum of the terms of a bag, in its own variables and constants."""
    total, at, value = sum(len(families[family].lower) for family, _ in terms), 0, const(0.0)
    for family, places in terms:
        count = len(families[family].lower)
        value, at = build("add", value, term(family, k, places, total if count else 0, at if count else 0)), at + count
    return value


def _term(families: list[TermFamily], family: int, k: int, places: tuple[int, ...], total: int, at: int) -> Expr:
    """A term, with its variables at these places of k, and its constants from `at` on among `total`."""
    form = families[family]
    new = _elements(X, k, places) | _elements(C, total, range(at, at + len(form.lower)))
    return substituted(form.value, new)


def _elements(name: str, count: int, places: Sequence[int]) -> dict[Expr, Expr]:
    """For each element of a vector as long as `places`, the one at that place of a vector of `count` elements."""
    return {index(var(name, (len(places),)), i): index(var(name, (count,)), place) for i, place in enumerate(places)}
