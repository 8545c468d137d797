"""Kinds: bags whose terms have one form and which are linked alike, so that their cells are worked on together."""

from dataclasses import dataclass

import numpy as np

from infimum.engine.parts.chain.bags import Bag
from infimum.evaluate import Evaluator
from infimum.expr.build import build, index, substituted
from infimum.expr.node import Expr, const, var
from infimum.expr.terms import C, Family, X
from infimum.lower.cells import FACTS, FROM, NATURAL, UNSHIFTED, steep_parts
from infimum.lower.programs import CELLS, SHIFT, STEEP


@dataclass(frozen=True, slots=True)
class Kind:
    """bags: their numbers, in order. variables: (k, bags). constants: (2m, bags), lower ends, then upper ends.

    shared: the positions among the k variables of those that a bag shares with its parent. links: for each child its number in
    every bag, and the positions of what is shared with it.
    """

    evaluator: Evaluator
    bags: np.ndarray
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

    def enclose(self, lo: np.ndarray, hi: np.ndarray, centre: np.ndarray, bag: np.ndarray) -> list[np.ndarray]:
        """What `lower/cells.py` finds on cells; `bag` are positions in `bags`."""
        if not self.k:
            return [np.zeros((3, len(bag))), np.empty((0, len(bag))), np.empty((0, len(bag)))]
        found = self._run(CELLS, [lo, hi, centre], bag)
        rough = np.flatnonzero((found[FROM][0] == -np.inf) & (found[FACTS][NATURAL] < np.inf))
        if len(rough) and steep_parts(self.evaluator.f):
            nlo = self._run(STEEP, [lo[:, rough], hi[:, rough]], bag[rough])[0][0]
            found[FACTS][NATURAL, rough] = np.fmax(found[FACTS][NATURAL, rough], -nlo)
            found[FACTS][UNSHIFTED, rough] = np.fmin(found[FACTS][UNSHIFTED, rough], nlo)
        return found

    def _run(self, program: str, boxes: list[np.ndarray], bag: np.ndarray) -> list[np.ndarray]:
        more = [np.take(self.constants, bag, axis=1)] if len(self.constants) else []
        return self.evaluator.run(f"{program}:{len(self.constants) // 2}", [*boxes, *more])

    def bound(self, found: list[np.ndarray], slopes: np.ndarray) -> np.ndarray:
        """Minus the lower bounds of the terms, less linear functions of these slopes: see `lower/cells.py`."""
        return self.evaluator.run(SHIFT, [*found, slopes])[0][0] if self.k else found[FACTS][UNSHIFTED]


def kinds_of(bags: list[Bag], families: list[Family], backend: object) -> list[Kind]:
    """The kinds of the bags."""
    groups: dict[tuple, list[int]] = {}
    for number, bag in enumerate(bags):
        groups.setdefault((_form(bag, families), *_links(bag, bags)), []).append(number)
    return [_kind(form, shared, links, numbers, bags, families, backend)
            for (form, shared, links), numbers in groups.items()]


def _places(bag: Bag, variables: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(bag.variables.index(v) for v in variables)


def _links(bag: Bag, bags: list[Bag]) -> tuple:
    return _places(bag, bag.shared), tuple(_places(bag, bags[child].shared) for child in bag.children)


def _form(bag: Bag, families: list[Family]) -> tuple:
    """The families of its terms, with the places of their variables among the bag's."""
    return (len(bag.variables), *((family, _places(bag, tuple(families[family].variables[:, term].tolist())))
                                  for family, term in bag.terms))


def _kind(form: tuple, shared: tuple, links: tuple, numbers: list[int], bags: list[Bag], families: list[Family],
          backend: object) -> Kind:
    k, *terms = form
    ends = [], []
    for place, (family, _) in enumerate(terms):
        chosen = np.array([bags[number].terms[place][1] for number in numbers])
        for rows, table in zip(ends, (families[family].lower, families[family].upper), strict=True):
            rows.append(table[:, chosen])
    constants = np.concatenate([*ends[0], *ends[1], np.empty((0, len(numbers)))])
    value = _value(k, terms, families)
    children = [(np.array([bags[number].children[i] for number in numbers]), places) for i, places in enumerate(links)]
    variables = np.array([bags[number].variables for number in numbers], dtype=np.int64).reshape(len(numbers), k).T
    return Kind(Evaluator(value, max(k, 1), backend), np.array(numbers), np.ascontiguousarray(variables), constants, shared,
                children)


def _value(k: int, terms: list[tuple], families: list[Family]) -> Expr:
    """The sum of the terms of a bag, in its own variables and constants."""
    total = sum(len(families[family].lower) for family, _ in terms)
    x, c, at, value = var(X, (k,)), var(C, (total,)), 0, const(0.0)
    for family, places in terms:
        form = families[family]
        new = _elements(X, len(places), [index(x, place) for place in places])
        if len(form.lower):
            new |= _elements(C, len(form.lower), [index(c, at + i) for i in range(len(form.lower))])
        value, at = build("add", value, substituted(form.value, new)), at + len(form.lower)
    return value


def _elements(name: str, count: int, new: list[Expr]) -> dict[Expr, Expr]:
    return {index(var(name, (count,)), i): node for i, node in enumerate(new)}
