"""Newton steps for a sum of terms whose variables form a tree of bags, in a time that is linear in their number. Estimates only.

The Hessian has an element for each pair of variables of a bag, and eliminating variables in the order of the bags adds no others.
Quasi-Newton descents need the more steps, the longer and the worse conditioned a chain is; this needs a few.
"""

import numpy as np

from infimum.chains.bag_forms import BagForm
from infimum.chains.bag_kinds import BagKind
from infimum.search.policy.bounds import CHAIN_POINTS as POLICY


class TreeNewton:
    """The steps inside the bounds lo, hi."""

    def __init__(self, kinds: list[BagKind], forms: list[BagForm], lo: np.ndarray, hi: np.ndarray):
        self.forms, self.arrays, self.n = forms, kinds[0].evaluator.host_arrays, len(lo)
        self.position = _positions(kinds, self.n)
        self.order = np.argsort(self.position)
        self.lo, self.hi = lo[self.order], hi[self.order]
        self.links = self._links(kinds)
        self.places = [self._places(form) for form in forms]

    def steps(self, x: np.ndarray) -> np.ndarray:
        """Where the steps lead, one for each damping, (n, N). Variables whose derivatives do not exist stay, and so do those on
        a bound to which the gradient leads."""
        gradient, diagonal, off = self._model(x)
        x = x[self.order]
        held = ((x <= self.lo) & (gradient >= 0)) | ((x >= self.hi) & (gradient <= 0)) | ~np.isfinite(gradient + diagonal)
        gradient, diagonal = np.where(held, 0.0, gradient), np.where(held, 1.0, diagonal)
        some, size = np.append(held, False), np.append(np.abs(diagonal), 0.0)
        for row, link in zip(off, self.links, strict=False):
            row[held | some[link] | ~np.isfinite(row)] = 0.0
            size += np.bincount(link, np.abs(row), self.n + 1) + np.append(np.abs(row), 0.0)
        size = np.where(size > 0, size, 1.0)[:-1]
        off = np.ascontiguousarray(off.T).reshape(-1)
        found = [self.arrays.solve_tree(diagonal + part * size, off, gradient, size * POLICY.least_pivot, self.links)
                 for part in POLICY.damping]
        ends = np.minimum(np.maximum(x[:, None] - np.stack(found, axis=1), self.lo[:, None]), self.hi[:, None])
        return np.where(np.isfinite(ends), ends, x[:, None])[self.position]

    def _model(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The gradient, the diagonal of the Hessian, and its elements with the first and the second of the variables linked to
        each one (2, n), in the order of elimination."""
        found = [np.zeros(size) for size in (self.n, self.n, 2 * self.n)]
        for form, places in zip(self.forms, self.places, strict=True):
            slopes, hessian = form.derivatives(x)
            for i in range(form.k):
                for total, where, element in ((found[0], places[i][i], slopes[i]), (found[1], places[i][i], hessian[i, i]),
                                              *((found[2], places[i][j], hessian[i, j]) for j in range(i))):
                    total += np.bincount(where, element, len(total))
        return found[0], found[1], np.ascontiguousarray(found[2].reshape(-1, 2).T)

    # ---- the order of elimination
    def _links(self, kinds: list[BagKind]) -> np.ndarray:
        """The links of `solve_tree`."""
        later = np.full((2, self.n), self.n)
        for kind in kinds:
            for k, place in enumerate(kind.own):
                for slot, other in enumerate([*kind.own[k + 1:], *kind.shared]):
                    later[slot, self.position[kind.variables[place]]] = self.position[kind.variables[other]]
        low, high = later.min(axis=0), later.max(axis=0)
        between = np.where(high < self.n, _place(low, high, later[0]), 2 * self.n)
        return np.stack([*later, between])

    def _places(self, form: BagForm) -> list[list[np.ndarray]]:
        """Where the elements of the Hessians of the bags stand: on the diagonal, or among the others."""
        at = self.position[form.variables]
        return [[at[i] if i == j else _place(np.minimum(at[i], at[j]), np.maximum(at[i], at[j]), self.links[0])
                 for j in range(form.k)] for i in range(form.k)]


def _positions(kinds: list[BagKind], n: int) -> np.ndarray:
    """When each variable is eliminated: in the last of its bags."""
    bag, rank = np.empty(n, np.int64), np.empty(n, np.int64)
    for kind in kinds:
        for k, place in enumerate(kind.own):
            bag[kind.variables[place]], rank[kind.variables[place]] = kind.bags, k
    position = np.empty(n, np.int64)
    position[np.lexsort((rank, bag))] = np.arange(n)
    return position


def _place(low: np.ndarray, high: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Where the element of two variables stands: with the one that is eliminated first."""
    return 2 * low + (first[np.minimum(low, len(first) - 1)] != high)
