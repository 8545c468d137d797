"""Newton steps for a sum of terms whose variables form a tree of bags, in a time that is linear in their number. Estimates only.

The Hessian has an element for each pair of variables of a bag, and eliminating variables in the order of the bags adds no others.
Quasi-Newton descents need the more steps, the longer and the worse conditioned a chain is; this needs a few.
"""

import numpy as np

from infimum.backend.arrays import Arrays
from infimum.engine.parts.chain.kinds import Kind

DAMPING = (0.0, 2.0**-6, 1.0, 64.0)  # of the sum of a row of the matrix
_LEAST = 2.0**-40                    # of it is a pivot at least


class Newton:
    """The steps inside the bounds lo, hi."""

    def __init__(self, kinds: list[Kind], lo: np.ndarray, hi: np.ndarray):
        self.kinds, self.arrays, self.n = kinds, kinds[0].evaluator.arrays.here, len(lo)
        self.position = self._positions()
        self.order = np.argsort(self.position)
        self.lo, self.hi = lo[self.order], hi[self.order]
        self.links = self._links()
        self.places = [self._places(kind) for kind in kinds]

    def steps(self, x: np.ndarray) -> np.ndarray | None:
        """Where the steps lead, one for each damping, (n, N); None where there is no Hessian."""
        gradient, diagonal, off = self._model(x)
        if not all(np.isfinite(a).all() for a in (gradient, diagonal, off)):
            return None
        x = x[self.order]
        held = ((x <= self.lo) & (gradient > 0)) | ((x >= self.hi) & (gradient < 0)) | (self.lo == self.hi)
        first, second, _ = self.links
        some = np.append(held, False)
        off = np.where(np.stack([held | some[first], held | some[second]], axis=1).reshape(-1), 0.0, off)
        gradient, diagonal = np.where(held, 0.0, gradient), np.where(held, 1.0, diagonal)
        size = np.append(np.abs(diagonal), 0.0)
        for row, link in zip(np.abs(off).reshape(-1, 2).T, (first, second), strict=True):
            size += np.bincount(link, row, self.n + 1) + np.append(row, 0.0)
        size = np.where(size > 0, size, 1.0)[:-1]
        found = [self.arrays.solve_tree(diagonal + part * size, off, gradient, size * _LEAST, self.links) for part in DAMPING]
        ends = np.minimum(np.maximum(x[:, None] - np.stack(found, axis=1), self.lo[:, None]), self.hi[:, None])
        return np.where(np.isfinite(ends), ends, x[:, None])[self.position]

    def _model(self, x: np.ndarray) -> list[np.ndarray]:
        """The gradient, the diagonal of the Hessian and its other elements, in the order of elimination."""
        found = [([], [], size) for size in (self.n, self.n, 2 * self.n)]
        for kind, places in zip(self.kinds, self.places, strict=True):
            slopes, hessian = kind.curvature(x[kind.variables])
            for i in range(kind.k):
                for (at, elements, _), element in zip(found, (slopes[i], hessian[i, i]), strict=False):
                    at.append(places[i][i])
                    elements.append(element)
                for j in range(i):
                    found[2][0].append(places[i][j])
                    found[2][1].append(hessian[i, j])
        return [np.bincount(np.concatenate(at), np.concatenate(elements), size) if at else np.zeros(size)
                for at, elements, size in found]

    # ---- the order of elimination
    def _positions(self) -> np.ndarray:
        """When each variable is eliminated: in the last of its bags."""
        bag, rank = np.empty(self.n, np.int64), np.empty(self.n, np.int64)
        for kind in self.kinds:
            for k, place in enumerate(_own(kind)):
                bag[kind.variables[place]], rank[kind.variables[place]] = kind.bags, k
        position = np.empty(self.n, np.int64)
        position[np.lexsort((rank, bag))] = np.arange(self.n)
        return position

    def _links(self) -> tuple[np.ndarray, ...]:
        """The links of `solve_tree`."""
        later = np.full((2, self.n), self.n)
        for kind in self.kinds:
            own = _own(kind)
            for k, place in enumerate(own):
                for slot, other in enumerate([*own[k + 1:], *kind.shared]):
                    later[slot, self.position[kind.variables[place]]] = self.position[kind.variables[other]]
        low, high = later.min(axis=0), later.max(axis=0)
        between = np.where(high < self.n, _place(low, high, later[0]), 2 * self.n)
        return tuple(row.astype(np.int32) for row in (*later, between))

    def _places(self, kind: Kind) -> list[list[np.ndarray]]:
        """Where the elements of the Hessians of the bags stand: on the diagonal, or among the others."""
        at = self.position[kind.variables]
        return [[at[i] if i == j else _place(np.minimum(at[i], at[j]), np.maximum(at[i], at[j]), self.links[0])
                 for j in range(kind.k)] for i in range(kind.k)]


def _own(kind: Kind) -> list[int]:
    """The places of the variables that a bag does not share with its parent."""
    return [place for place in range(kind.k) if place not in kind.shared]


def _place(low: np.ndarray, high: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Where the element of two variables stands: with the one that is eliminated first."""
    return 2 * low + (first[np.minimum(low, len(first) - 1)] != high)
