"""How much a function given by small terms bends at least, on a whole box: a diagonal matrix D with H(x) - D positive definite.

The Hessian A of the terms is the sum of the matrices of the cliques. None of these need be positive definite; but if A is, it can be
shared among the cliques anew so that each is. With any matrices Q_j of the cliques,

    A = Σ (A_j + Q_j) - Σ Q_j,

and where each A_j + Q_j - D_j is positive definite, as small matrices are shown to be, and |Σ Q_j| has small rows, so is A - Σ D_j
(docs/proof.md). The Q_j are chosen with the factors L D Lᵀ of the matrix at the middle of the box: column j of them belongs to
clique j. All that is global is an estimate; what is proved is proved clique by clique.
"""

import numpy as np

from infimum.engine.second_order.convex import diagonally_dominant, midpoint, positive_definite
from infimum.engine.second_order.inverse import inverse_factor
from infimum.engine.second_order.outward import (Interval, down, exactly, matrix_product, minus, plus, size, times, transposed,
                                                 up)
from infimum.engine.second_order.structure.sums import Places, total
from infimum.engine.second_order.structure.terms import Bends, Terms

_LESS, _TRIES = 0.75, 32  # the part of the curvature that cliques share: 1 is too much, then so many times less
_EVENLY = 0.125           # of it belongs to all cliques of a variable alike, the rest goes where the matrix is uncertain


class Held:
    """The function with some variables held: rows and columns of these do not count."""

    def __init__(self, terms: Terms, held: np.ndarray):
        self.terms, self.order, self.n, self.m = terms, terms.order, terms.n, terms.order.width + 1
        self.held = held[self.order.variable]
        absent = np.append(self.held, True)[self.order.members]
        self.absent, self.both = absent, ~(absent[:, None] | absent[None])
        self.diagonal = np.arange(self.m)
        self.rows, self.columns = np.triu_indices(self.m)
        self.elements = Places([self.order.where[self.rows, self.columns]], self.order.elements)
        self.of_members = Places([self.order.members], self.n + 1)

    # ---- estimates
    def matrix(self, cliques: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(diagonal, elements beside it) of the sum of the cliques' matrices, that of held variables 1."""
        found = self.elements.estimate([np.where(self.both, cliques, 0.0)[self.rows, self.columns]])
        diagonal, off = found[:self.n], found[self.n:-1]
        return np.where(self.held, 1.0, diagonal), off

    def solve(self, cliques: np.ndarray, right: np.ndarray) -> np.ndarray:
        """About the inverse of the matrix, its pivots made positive, times the vector (n,), in the order of elimination."""
        diagonal, off = self.matrix(cliques)
        least = np.full(self.n, 2.0**-40 * float(np.abs(diagonal).max()))
        right = np.where(self.held, 0.0, right)
        return self.terms.evaluator.host_arrays.solve_tree(diagonal, off, right, least, self.order.links)

    def _shared_out(self, middle: np.ndarray, radius: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """(Q, slack): with Q the matrix of clique j becomes column j of the factors plus a diagonal matrix, the slack (m, n)."""
        arrays, (diagonal, off) = self.terms.evaluator.host_arrays, self.matrix(middle)
        known = arrays.factored(diagonal, off, self.order.links)
        if not (known.raw > 0).all():
            return None
        own = 1.0 / arrays.inverse_diagonal(known, self.order.links)
        part = 1.0
        for _ in range(_TRIES):
            part *= _LESS
            known = arrays.factored(diagonal - part * np.where(self.held, 0.0, own), off, self.order.links)
            if (known.raw > 0).all():
                break
        else:
            return None
        columns = np.concatenate([np.ones((1, self.n)), known.parts.reshape(self.n, self.m - 1).T])
        need = np.where(self.absent, 0.0, radius.sum(axis=1))
        members, present = self.order.members, np.where(self.absent, 0.0, 1.0)
        needs, counts = (self.of_members.estimate([weight])[members] for weight in (need, present))
        slack = np.where(needs > 0, (1 - _EVENLY) * need / np.where(needs > 0, needs, 1.0), 0.0)
        slack += np.where(needs > 0, _EVENLY, 1.0) / np.maximum(counts, 1.0)
        slack *= part * np.append(own, 0.0)[members] * present
        wanted = known.pivots * columns[:, None] * columns[None]
        wanted[self.diagonal, self.diagonal] += slack
        return np.where(self.both, wanted - middle, 0.0), slack

    # ---- what is proved
    def length(self, gradient: Interval, least: np.ndarray) -> float:
        """√(Σ g_i² / D_i) over the variables that are not held, rounded up; both in the order of the variables."""
        free = ~self.held[self.order.position]
        return _length(tuple(end[free] for end in gradient), least[free])

    def bends_at_least(self, lo: np.ndarray, hi: np.ndarray, bends: Bends, part: float) -> np.ndarray | None:
        """D (n,), in the order of the variables, 0 where they are held: on the box [lo, hi], on which `bends` are the derivatives,
        the Hessian less D is positive definite in the other variables. About this part of what could be said. None: not shown."""
        if not bends.smooth:
            return None
        with np.errstate(all="ignore"):
            cliques = tuple(np.where(self.both, end, 0.0) for end in bends.cliques)
            middle = midpoint(cliques)
            found = self._shared_out(middle, cliques[1] - middle)
            if found is None:
                return None
            moved, slack = found
            asked = part * slack
            change = self._change(moved, asked)
            if not self._definite(lo, hi, cliques, change, bends):
                return None
            least = self.of_members.total([exactly(asked)])[0][:self.n]
            least = self._coupled(bends, least)
        return None if least is None else least[self.order.position]

    def _change(self, moved: np.ndarray, asked: np.ndarray) -> Interval:
        """Q_j - D_j less what Σ Q_j may be, which a clique bears for the variable that it eliminates."""
        whole = size(self.elements.total([exactly(moved[self.rows, self.columns])]))[:-1]
        rest = self._row_sums(whole[:self.n], whole[self.n:])
        change = tuple(end.copy() for end in exactly(moved))
        for a in range(self.m):
            less = minus(exactly(moved[a, a]), exactly(asked[a]))
            less = minus(less, exactly(rest)) if a == 0 else less
            change[0][a, a], change[1][a, a] = less
        return change

    def _row_sums(self, diagonal: np.ndarray, off: np.ndarray) -> np.ndarray:
        """Upper bounds of the sums of the rows of a matrix that is not negative."""
        beside = off.reshape(self.n, self.m - 1).T
        places = Places([np.arange(self.n), np.broadcast_to(np.arange(self.n), beside.shape), self.order.members[1:]], self.n + 1)
        return places.total([exactly(diagonal), exactly(beside), exactly(beside)])[1][:self.n]

    def _definite(self, lo: np.ndarray, hi: np.ndarray, cliques: Interval, change: Interval, bends: Bends) -> bool:
        """Is A_j plus the change positive definite on the box in every clique? By entries, or along directions."""
        matrices = self._with_ones(plus(cliques, change))
        factor = inverse_factor(midpoint(matrices))
        if positive_definite(matrices, factor).all():
            return True
        along = np.where(self.both, factor, 0.0)
        known = self.terms.enclose_along(lo, hi, along, bends.weights)
        shared = matrix_product(matrix_product(exactly(along), change), transposed(exactly(along)))
        return bool(diagonally_dominant(self._with_ones(plus(known, shared))).all())

    def _with_ones(self, matrices: Interval) -> Interval:
        """1 on the diagonal for variables that do not count."""
        for end in matrices:
            end[self.diagonal, self.diagonal] = np.where(self.absent, 1.0, end[self.diagonal, self.diagonal])
        return matrices

    def _coupled(self, bends: Bends, least: np.ndarray) -> np.ndarray | None:
        """What is left of D with the part of low rank: it is not below -σ D, for the best σ of two."""
        if not self.terms.scalars:
            return least
        loss = self._loss(bends, least)
        return np.where(self.held, 0.0, down(down(1.0 - loss) * least)) if loss < 1.0 else None

    def _loss(self, bends: Bends, least: np.ndarray) -> float:
        """σ >= 0 with B J + Jᵀ Bᵀ + Jᵀ C J + σ D positive semidefinite."""
        free = np.flatnonzero(~self.held)
        weight = least[free]
        mixed, slopes = (tuple(end[:, free] for end in ends) for ends in (bends.mixed, bends.slopes))
        count, j = len(mixed[0]), [tuple(end[k] for end in slopes) for k in range(len(slopes[0]))]
        b = [tuple(end[k] for end in mixed) for k in range(count)]
        c = [[tuple(end[k, m] for end in bends.inner) for m in range(count)] for k in range(count)]
        lengths = [_length(part, weight) for part in j]
        apart = [_indefinite(b[k], j[k], weight) for k in range(count)]
        apart += [_product(_negative(c[k][k]), lengths[k], lengths[k]) for k in range(count)]
        apart += [_product(2 * float(size(c[k][m])), lengths[k], lengths[m]) for k in range(count) for m in range(k)]
        joined = []
        for k in range(count):  # C is shared between B and Bᵀ
            whole = b[k]
            for m in range(count):
                whole = plus(whole, times(j[m], tuple(0.5 * end for end in c[k][m])))
            joined.append(_indefinite(whole, j[k], weight))
        return float(np.fmin(_sum(apart), _sum(joined)))


def _sum(numbers: list[float]) -> float:
    """Not below the sum."""
    return total(exactly(np.array([0.0, *numbers])))[1]


def _indefinite(b: Interval, j: Interval, weight: np.ndarray) -> float:
    """σ >= 0 with b jᵀ + j bᵀ + σ D positive semidefinite: its eigenvalues are b·j ± |b| |j|, with D for the unit matrix."""
    products = times(b, j)
    inner = total((down(products[0] / weight), up(products[1] / weight)))[0]
    return float(np.maximum(up(_product(_length(b, weight), _length(j, weight)) - inner), 0.0))


def _length(a: Interval, weight: np.ndarray) -> float:
    """The largest of √(Σ a_i² / D_i), rounded up."""
    largest = size(a)
    return float(up(np.sqrt(total(exactly(up(up(largest * largest) / weight)))[1])))


def _negative(c: Interval) -> float:
    return float(np.maximum(-c[0], 0.0))


def _product(*factors: float) -> float:
    """Of numbers that are not negative, rounded up."""
    value = 1.0
    for factor in factors:
        value = float(up(value * factor))
    return value
