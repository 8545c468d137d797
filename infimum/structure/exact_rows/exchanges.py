"""Exchanges: permutations of the variables that leave bounds and constraints as they are, where items, machines or patterns are
alike. They are found by colours of variables and constraints, and proved by comparing exact forms.

Proof: docs/proofs/exchanges.md.
"""

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from infimum.expr.exact_forms import Form, is_linear, plus, variable
from infimum.expr.node import Expr, topological, var
from infimum.expr.variable_reads import readers
from infimum.problem.system import System
from infimum.search.policy.search import EXCHANGES as POLICY
from infimum.structure.exact_rows.structural_forms import STRICT, StructuralForms
from infimum.structure.exact_rows.whole_rows import may_be_undefined
from infimum.support.clock import stop_if_over

Row = tuple[frozenset, float, float]


class Exchange(NamedTuple):
    """A permutation: variable j takes the place of variable image[j]. `gain`, a linear form, is f there less f."""

    image: tuple[int, ...]
    gain: Form

    @property
    def moved(self) -> list[int]:
        return [j for j, k in enumerate(self.image) if j != k]


class ExchangeSearch:
    """Looks for exchanges of a system within bounds, under which f changes by a linear form at most. Variables that are read by
    what forms do not look into stay where they are."""

    def __init__(self, system: System, lo: np.ndarray, hi: np.ndarray):
        self.n, self.looked = len(lo), 0
        self.forms, elements = StructuralForms(), sum(node.size for node in topological(system.rows))
        found = [self.forms.of(row) for row in system.rows] if elements <= POLICY.most_elements else [None]
        if any(form is None for form in found) or sum(map(len, found)) > POLICY.most_terms:
            found = []
        self.f, *bodies = found or [{}]
        curved = {term: c for term, c in self.f.items() if not is_linear({term: c})}
        self.rows = [(form, float(a), float(b)) for form, a, b in zip(bodies, system.lower, system.upper, strict=bool(found))]
        self.rows += [(curved, np.inf, -np.inf)] if curved else []  # ends that no constraint has
        # where forms are too long, all variables stay
        self.fixed = _held(system, self.forms, found, var("x", (self.n,))) if found else np.ones(self.n, bool)
        whole = set(system.integers)
        self.kinds = [(float(lo[j]), float(hi[j]), j in whole, j if self.fixed[j] else -1) for j in range(self.n)]

    @cached_property
    def known(self) -> dict[Row, int]:
        """Each row, and how often it is there."""
        count: dict[Row, int] = defaultdict(int)
        for form, *ends in self.rows:
            count[frozenset(form.items()), *ends] += 1
        return dict(count)

    def exchanges(self) -> Iterator[Exchange]:
        """Of two variables that look alike to the constraints, and of others as far as that takes them along."""
        colours, = self._refined([list(self.kinds)])
        alike = defaultdict(list)
        for j, colour in enumerate(colours):
            if not self.fixed[j]:
                alike[colour].append(j)
        weight = {j: self.f.get(variable(j), Fraction(0)) for j in range(self.n)}
        done, tries = set(), 0
        groups = [sorted(group, key=lambda j: (weight[j], j)) for group in alike.values() if len(group) > 1]
        for group in sorted(groups, key=lambda group: (weight[group[0]] == weight[group[-1]], len(group), group)):
            for i, j in zip(group, group[1:], strict=False):
                if (i, j) in done:
                    continue
                tries += 1
                if tries > POLICY.most_tries or self.looked > POLICY.most_looks:
                    return
                image = self._image(colours, i, j)
                if image is not None:
                    done |= {pair for a, b in enumerate(image) if a != b for pair in ((a, b), (b, a))}
                    linear = {variable(k): weight[k] for k in range(self.n) if weight[k]}
                    yield Exchange(image, plus(self.forms.renamed(linear, image), linear, Fraction(-1)))

    # ---- a guess, and its proof
    def _image(self, colours: list[int], i: int, j: int) -> tuple[int, ...] | None:
        """A permutation that takes i to j and is proved to leave the constraints as they are."""
        pairs = [(i, j), (j, i)]
        for _ in range(POLICY.most_marks):
            starts = [[(colour, *(k for k, pair in enumerate(pairs) if pair[side] == a)) for a, colour in enumerate(colours)]
                      for side in (0, 1)]
            one, other = self._refined(starts)
            places, left = defaultdict(list), defaultdict(list)
            image = [-1] * self.n
            for a in range(self.n):
                if one[a] == other[a]:
                    image[a] = a
                else:
                    places[other[a]].append(a)
                    left[one[a]].append(a)
            if any(len(left[colour]) != len(places[colour]) for colour in {*left, *places}):
                return None
            for colour, mine in left.items():
                for a, b in zip(mine, places[colour], strict=True):
                    image[a] = b
            if self.is_exchange(image):
                return tuple(image)
            many = [(mine, places[colour]) for colour, mine in left.items() if len(mine) > 1]
            if not many:
                return None
            (a, *_), (b, *_) = min(many, key=lambda pair: (len(pair[0]), pair[0]))
            pairs += [(a, b), (b, a)]
            if self.looked > POLICY.most_looks:
                break
        return None

    def is_exchange(self, image: list[int]) -> bool:
        """Is all but the linear part of f certainly the same after it, and is it its own inverse?"""
        if any(image[image[j]] != j or self.kinds[j] != self.kinds[image[j]] for j in range(self.n)):
            return False
        count: dict[Row, int] = defaultdict(int)
        for form, *ends in self.rows:
            row = frozenset(self.forms.renamed(form, image).items()), *ends
            count[row] += 1
            if count[row] > self.known.get(row, 0):
                return False
        return True

    def _refined(self, starts: list[list]) -> list[list[int]]:
        """Colours of the variables: two have the same only if rows of the same colours hold them in the same way. Several starts
        are refined together, so that their colours can be compared."""
        numbers: dict = {}
        found = [[numbers.setdefault(("begin", colour), len(numbers)) for colour in start] for start in starts]
        count = 0
        while True:
            stop_if_over()
            found = [self._next(colours, numbers) for colours in found]
            before, count = count, len({colour for colours in found for colour in colours})
            if count == before:
                return found

    def _next(self, colours: list[int], numbers: dict) -> list[int]:
        seen: list[list] = [[] for _ in range(self.n)]
        for form, *ends in self.rows:
            self.looked += len(form)
            kind, marks = self.forms.colours(form, colours, lambda key: numbers.setdefault(key, len(numbers)))
            row = numbers.setdefault(("row", *ends, kind), len(numbers))
            for j, mark in marks:
                seen[j].append((row, *mark))
        return [numbers.setdefault(("variable", colours[j], tuple(sorted(seen[j]))), len(numbers)) for j in range(self.n)]


def _held(system: System, forms: StructuralForms, rows: list[Form], x: Expr) -> np.ndarray:
    """Which variables are read by what stays as it is in forms, or by what may be undefined and is in no form."""
    found, factors = np.zeros(x.size, bool), forms.factors(rows)
    kept = {factor for factor in factors if factor[0] and factor[0] not in forms.parts}
    nodes = list(topological(system.rows))
    if kept or any(node.op not in STRICT and may_be_undefined(node) for node in nodes):
        reads, by_key = readers(list(system.rows), x), {node.key: node for node in nodes}
        for key, k in kept:
            found |= reads[by_key[key]].reshape(-1, x.size)[k]
        for node in nodes:
            if node.op not in STRICT and may_be_undefined(node):
                found |= reads[node].reshape(-1, x.size).any(axis=0)
    lost = [form for name, (_, args) in forms.parts.items() if (name, 0) not in factors for form in args]
    for a, j in forms.factors(lost):  # what is in no form may be undefined all the same
        found |= np.arange(x.size) == j if not a else a not in forms.parts
    return found


def families_of(exchanges: list[Exchange]) -> Iterator[tuple[np.ndarray, list[Exchange]]]:
    """Blocks of variables, the rows of an array, and exchanges of each with the next one. No variable is in two families."""
    used: set[int] = set()
    left = list(exchanges)
    while left:
        first, *left = left
        chain = [first]
        for other in left:
            if _joined([*chain, other]) is not None:
                chain.append(other)
        blocks = _joined(chain)
        variables = set(blocks.ravel().tolist())
        if not used & variables:
            used |= variables
            yield blocks, chain


def _joined(chain: list[Exchange]) -> np.ndarray | None:
    """Blocks of which each exchange swaps two neighbours; None if they are no such chain."""
    first = chain[0]
    low = [j for j in first.moved if j < first.image[j]]
    if len(chain) == 1:
        return np.array([low, [first.image[j] for j in low]])
    shared = set(first.moved) & set(chain[1].moved)
    if 2 * len(shared) != len(first.moved):
        return None
    begin = [j for j in first.moved if j not in shared]
    blocks = [begin, [first.image[j] for j in begin]]
    if set(blocks[1]) != shared:
        return None
    for exchange in chain[1:]:
        new = [exchange.image[j] for j in blocks[-1]]
        if set(exchange.moved) != {*blocks[-1], *new} or set(new) & {j for block in blocks for j in block}:
            return None
        blocks.append(new)
    return np.array(blocks)
