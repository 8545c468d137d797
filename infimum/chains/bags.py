"""Bags: the variables of a sum of small terms in the order in which they can be eliminated.

Variables that occur in one term are neighbours. A variable with at most two neighbours is eliminated: it and they are a *bag*,
and they become neighbours of each other. If that ends with no variable left, the tree width is at most 2, and otherwise it is
larger: no other order would do better. A bag hands on to its parent what it knows about the variables they share, its
*separator*. Chains, trees, rings and narrow bands are of this kind.
"""

from collections import deque
from dataclasses import field

import numpy as np

from infimum.support.clock import check_time
from infimum.support.lazy import dataclass

MOST_NEIGHBOURS = 2  # fixed: a cell has up to three variables; neighbours of a variable that is eliminated, and children of a bag


@dataclass(slots=True)
class Bag:
    """variables: at most three. shared: those that it shares with its parent, none in a root. terms: (family, number) of the
    terms that belong to it. children: numbers of bags, which come earlier. height: that of the tree of bags below it."""

    variables: tuple[int, ...]
    shared: tuple[int, ...] = ()
    terms: list[tuple[int, int]] = field(default_factory=list)
    children: list[int] = field(default_factory=list)
    height: int = 0


def bags_of(scopes: list[np.ndarray], n: int) -> list[Bag] | None:
    """The bags of terms whose variables are the columns of these arrays, children before parents; None if the width is above 2.

    >>> [bag.variables for bag in bags_of([np.array([[0, 1, 2], [1, 2, 3]])], 4)]
    [(0, 1), (1, 2), (3, 2)]
    """
    order = elimination(scopes, n)
    if order is None:
        return None
    place = {variable: k for k, (variable, _) in enumerate(order)}
    bags = [Bag((variable, *near), near) for variable, near in order]
    parents = [min((place[v] for v in near), default=-1) for _, near in order]
    places = np.array([place[v] for v in range(n)])
    for family, scope in enumerate(scopes):
        first = places[scope].min(axis=0) if len(scope) else np.arange(scope.shape[1]) % n  # constants belong to any
        for term, bag in enumerate(first.tolist()):
            bags[bag].terms.append((family, term))
    return _tree(bags, parents)


def edges_of(scopes: list[np.ndarray]) -> np.ndarray:
    """(2, edges): the pairs of variables that occur in one term, the smaller number first, each once."""
    pairs = [np.stack([scope[i], scope[j]]) for scope in scopes for i in range(len(scope)) for j in range(i)]
    ends = np.sort(np.concatenate([*pairs, np.empty((2, 0), np.int64)], axis=1), axis=0)
    if not ends.size:
        return ends
    first = int(ends.max()) + 1
    return np.stack(np.divmod(np.unique(ends[0] * first + ends[1]), first))


def elimination(scopes: list[np.ndarray], n: int, most: int = MOST_NEIGHBOURS) -> list[tuple[int, tuple[int, ...]]] | None:
    """(variable, its neighbours when it is eliminated), those with fewest neighbours first; None where there would be more than
    `most`, or their number is too large for any order."""
    edges = edges_of(scopes)
    if edges.shape[1] > most * n:
        return None
    near: list[set[int]] = [set() for _ in range(n)]
    for a, b in edges.T.tolist():
        near[a].add(b)
        near[b].add(a)
    waiting = [deque(v for v, others in enumerate(near) if len(others) == k) for k in range(most + 1)]
    done, order = [False] * len(near), []
    while any(waiting):
        check_time()
        k = next(k for k, some in enumerate(waiting) if some)
        variable = waiting[k].popleft()
        if done[variable] or len(near[variable]) != k:
            continue
        done[variable] = True
        others = tuple(sorted(near[variable]))
        order.append((variable, others))
        for v in others:
            near[v].discard(variable)
            near[v].update(w for w in others if w != v)
        for v in others:
            if len(near[v]) <= most:
                waiting[len(near[v])].append(v)
    return order if len(order) == len(near) else None


def _tree(bags: list[Bag], parents: list[int]) -> list[Bag]:
    """With children. A bag that holds all variables of its parent takes its place; roots become children of the last one, with
    which they share nothing."""
    last = len(bags) - 1
    for k, bag in enumerate(bags):
        parent = parents[k] if parents[k] >= 0 or k == last else last
        if parent < 0:
            break
        if bag.shared and set(bags[parent].variables) <= set(bag.variables):
            bag.shared, above = bags[parent].shared, bags[parent]
            bag.terms, bag.children = bag.terms + above.terms, bag.children + above.children
            bags[parent], bags[k] = bag, None
        else:
            bags[parent].children.append(k)
    return _renumbered(bags)


def _renumbered(bags: list[Bag | None]) -> list[Bag]:
    """With bags in between where there are many children, by their height: children come before parents."""
    found: list[Bag] = []
    number: dict[int, int] = {}
    for k, bag in enumerate(bags):
        if bag is not None:
            bag.children = _is_narrow(found, [number[child] for child in bag.children])
            number[k] = len(found)
            found.append(bag)
    for bag in found:
        bag.height = max((found[child].height + 1 for child in bag.children), default=0)
    order = sorted(range(len(found)), key=lambda k: found[k].height)
    place = {old: new for new, old in enumerate(order)}
    for bag in found:
        bag.children = [place[child] for child in bag.children]
    return [found[old] for old in order]


def _is_narrow(found: list[Bag], children: list[int]) -> list[int]:
    """At most two: others become children of bags without terms, first those that share the same variables."""
    while len(children) > MOST_NEIGHBOURS:
        children.sort(key=lambda child: found[child].shared)
        pairs = list(zip(children[::2], children[1::2], strict=False))
        equal = [pair for pair in pairs if found[pair[0]].shared == found[pair[1]].shared] or pairs[:1]
        for pair in equal:
            shared = tuple(sorted({v for child in pair for v in found[child].shared}))
            found.append(Bag(shared, shared, [], list(pair)))
        children = sorted(set(children) - {child for pair in equal for child in pair}) + \
            list(range(len(found) - len(equal), len(found)))
    return children
