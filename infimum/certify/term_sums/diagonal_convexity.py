"""How much a sum of small terms bends at least, on a whole box: a diagonal matrix D for which H(x) - D is positive definite.

The Hessian A of the terms is the sum of the matrices of the cliques. None of these need be positive definite; but if A is, it can
be shared among the cliques anew so that each is. With any matrices Q_j of the cliques

    A = Σ (A_j + Q_j) - Σ Q_j.

Where each A_j + Q_j - D_j is positive definite, as it is shown of small matrices, and the rows of Σ Q_j are small, A - Σ D_j is
positive definite (docs/proofs/isolation_by_structure.md). The Q_j are chosen with the factors L D Lᵀ of the matrix at the middle
of the box, of which column j belongs to clique j. What is global is an estimate; what is proved is proved clique by clique.
"""

from typing import NamedTuple

import numpy as np

from infimum.certify.term_sums.term_hessians import SecondOrderEnclosure, TermSum
from infimum.linear_algebra.interval_matrices import Interval, down, exactly, matrix_product, minus, plus, size, transposed
from infimum.linear_algebra.lane_algebra import inverse_factor
from infimum.linear_algebra.low_rank import length, low_rank_loss
from infimum.linear_algebra.outward_sums import SumTargets
from infimum.linear_algebra.positive_definite import midpoint, positive_definite
from infimum.search.policy.bounds import TERM_SUM_ISOLATION as POLICY


class _Frame(NamedTuple):
    """Matrices T_j of the cliques, their rows directions, and about their inverses. Rows of variables that do not count are 0."""

    rows: np.ndarray
    back: np.ndarray


class HeldTermSum:
    """The function with some variables held: rows and columns of these do not count."""

    def __init__(self, terms: TermSum, held: np.ndarray):
        self.terms, self.order, self.n, self.m = terms, terms.order, terms.n, terms.order.width + 1
        self.held = held[self.order.variable]
        absent = np.append(self.held, True)[self.order.members]
        self.absent, self.both = absent, ~(absent[:, None] | absent[None])
        self.diagonal = np.arange(self.m)
        self.rows, self.columns = np.triu_indices(self.m)
        self.elements = SumTargets([self.order.where[self.rows, self.columns]], self.order.elements)
        self.of_members = SumTargets([self.order.members], self.n + 1)

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
        for part in POLICY.first_share * POLICY.share_reduction ** np.arange(POLICY.tries):
            known = arrays.factored(diagonal - part * np.where(self.held, 0.0, own), off, self.order.links)
            if (known.raw > 0).all():
                break
        else:
            return None
        columns = np.concatenate([np.ones((1, self.n)), known.parts.reshape(self.n, self.m - 1).T])
        need = np.where(self.absent, 0.0, radius.sum(axis=1))
        members, present = self.order.members, np.where(self.absent, 0.0, 1.0)
        needs, counts = (self.of_members.estimate([weight])[members] for weight in (need, present))
        slack = np.where(needs > 0, (1 - POLICY.even_share) * need / np.where(needs > 0, needs, 1.0), 0.0)
        slack += np.where(needs > 0, POLICY.even_share, 1.0) / np.maximum(counts, 1.0)
        slack *= part * np.append(own, 0.0)[members] * present
        wanted = known.pivots * columns[:, None] * columns[None]
        wanted[self.diagonal, self.diagonal] += slack
        change = np.where(self.both, wanted - middle, 0.0)
        change[self.columns, self.rows] = change[self.rows, self.columns]  # what is proved of it is about symmetric matrices
        return change, slack

    # ---- what is proved
    def length(self, gradient: Interval, least: np.ndarray) -> float:
        """√(Σ g_i² / D_i) over the variables that are not held, rounded up; both in the order of the variables."""
        free = ~self.held[self.order.position]
        return length(tuple(end[free] for end in gradient), least[free])

    def curvature_at_least(self, lo: np.ndarray, hi: np.ndarray, bends: SecondOrderEnclosure, part: float) -> np.ndarray | None:
        """D (n,), in the order of the variables, 0 where they are held: on the box [lo, hi], where `bends` are the derivatives,
        the Hessian less D is positive definite in the other variables. D is about this `part` of what can be shown, and None if
        nothing can."""
        if not bends.smooth:
            return None
        with np.errstate(all="ignore"):
            cliques = tuple(np.where(self.both, end, 0.0) for end in bends.cliques)
            least = self._by_entries(cliques, part)
            if isinstance(least, _Frame):
                least = self._along(lo, hi, least, bends.weights, part)
            least = None if least is None else self._coupled(bends, least)
        return None if least is None else np.where(self.held, 0.0, least)[self.order.position]

    def _by_entries(self, cliques: Interval, part: float) -> "np.ndarray | _Frame | None":
        """D from the enclosures of all entries; or the frame in which it may be shown."""
        middle = midpoint(cliques)
        found = self._shared_out(middle, cliques[1] - middle)
        if found is None:
            return None
        change, least = self._change(*found, part)
        matrices = self._with_ones(plus(cliques, change))
        centre = midpoint(matrices)
        factor = inverse_factor(centre)
        if positive_definite(matrices, factor).all():
            return least
        return _Frame(np.where(self.both, factor, 0.0), np.where(self.both, _product(centre, factor.swapaxes(0, 1)), 0.0))

    def _along(self, lo: np.ndarray, hi: np.ndarray, frame: "_Frame", weights: Interval, part: float) -> np.ndarray | None:
        """D from second derivatives along the rows of the T_j: T_j A_j(x) T_jᵀ is at least its middle less the sums of the radii
        in its rows, a single matrix for each clique. These are shared anew."""
        known = self.terms.enclose_along(lo, hi, frame.rows, weights)
        centre = midpoint(known)
        radius = size(minus(known, exactly(centre)))
        least = centre.copy()
        for a in range(self.m):
            sums = least[a, a]
            for b in range(self.m):
                sums = down(sums - radius[a, b])
            least[a, a] = sums
        found = self._shared_out(_product(_product(frame.back, least), frame.back.swapaxes(0, 1)), np.zeros_like(least))
        if found is None:
            return None
        change, asked = self._change(*found, part)
        rows = exactly(frame.rows)
        matrices = self._with_ones(plus(exactly(least), matrix_product(matrix_product(rows, change), transposed(rows))))
        return asked if positive_definite(matrices, inverse_factor(midpoint(matrices))).all() else None

    def _change(self, moved: np.ndarray, slack: np.ndarray, part: float) -> tuple[Interval, np.ndarray]:
        """(Q_j - D_j less what Σ Q_j may be, which a clique bears for the variable that it eliminates; Σ D_j, rounded down), with
        this part of the slack for D_j."""
        whole = size(self.elements.total([exactly(moved[self.rows, self.columns])]))[:-1]
        rest, asked = self._row_sums(whole[:self.n], whole[self.n:]), part * slack
        change = moved.copy(), moved.copy()
        for a in range(self.m):
            less = minus(exactly(moved[a, a]), exactly(asked[a]))
            change[0][a, a], change[1][a, a] = minus(less, exactly(rest)) if a == 0 else less
        return change, self.of_members.total([exactly(asked)])[0][:self.n]

    def _row_sums(self, diagonal: np.ndarray, off: np.ndarray) -> np.ndarray:
        """Upper bounds of the sums of the rows of a matrix that is not negative."""
        beside = off.reshape(self.n, self.m - 1).T
        places = SumTargets([np.arange(self.n), np.broadcast_to(np.arange(self.n), beside.shape), self.order.members[1:]],
                            self.n + 1)
        return places.total([exactly(diagonal), exactly(beside), exactly(beside)])[1][:self.n]

    def _with_ones(self, matrices: Interval) -> Interval:
        """1 on the diagonal for variables that do not count."""
        for end in matrices:
            end[self.diagonal, self.diagonal] = np.where(self.absent, 1.0, end[self.diagonal, self.diagonal])
        return matrices

    def _coupled(self, bends: SecondOrderEnclosure, least: np.ndarray) -> np.ndarray | None:
        """What is left of D with the part of low rank: that is not below -σ D."""
        if not self.terms.scalars:
            return least
        free = np.flatnonzero(~self.held)
        if not (least[free] > 0).all():
            return None
        mixed, slopes = (tuple(end[:, free] for end in ends) for ends in (bends.mixed, bends.slopes))
        loss = low_rank_loss(mixed, slopes, bends.inner, least[free])
        return down(down(1.0 - loss) * least) if loss < 1.0 else None


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of matrices (m, m, n), an estimate."""
    total = a[:, 0, None] * b[None, 0]
    for k in range(1, len(a)):
        total = total + a[:, k, None] * b[None, k]
    return total
