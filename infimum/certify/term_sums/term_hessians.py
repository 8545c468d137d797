"""A function as a sum of small terms, and its second derivatives by structure.

f(x) = F(x, s) with s = G(x): F and G are sums of terms that read few variables, and those of F maybe the scalars s, of which most
functions have none. With λ = ∂F/∂s and J = ∂G/∂x, the chain rule gives for the Hessian of f

    A + B J + Jᵀ Bᵀ + Jᵀ C J,    A = ∂²F/∂x² + Σ λ_k ∂²G_k/∂x²,  B = ∂²F/∂x∂s,  C = ∂²F/∂s²,

where A is a sum of small matrices, one for each clique of the order of elimination, and the rest has low rank.
"""

from typing import NamedTuple

import numpy as np

from infimum.certify.term_sums.elimination_order import EliminationOrder, order_of
from infimum.evaluation.enclosures import SMOOTH
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import TERM_CURVATURE, TERM_HESSIAN, ProgramKind
from infimum.expr.node import var
from infimum.linear_algebra.interval_matrices import Interval, times
from infimum.linear_algebra.outward_sums import SumTargets
from infimum.search.policy.bounds import TERM_SUM_ISOLATION as POLICY
from infimum.structure.coupling_scalars import coupling_of
from infimum.structure.products_as_sums import with_logarithms
from infimum.structure.term_sums import TermFamily, families_of


class SecondOrderEnclosure(NamedTuple):
    """What is known on a box: is f smooth there, its gradient (n,) in the order of the variables, and the parts of its Hessian in
    the order of elimination: cliques (m, m, n), B and J (scalars, n), C (scalars, scalars). Without `smooth` the rest is void."""

    smooth: bool
    gradient: Interval
    cliques: Interval
    mixed: Interval
    slopes: Interval
    inner: Interval
    weights: Interval


class _CliqueTerms:
    """The terms of a family, each in its clique. `scalar` is the number k of the G_k that they belong to, None for F."""

    def __init__(self, family: TermFamily, n: int, order: EliminationOrder, backend: object):
        self.of_x = np.flatnonzero((family.variables < n).all(axis=1))
        self.of_s = np.flatnonzero((family.variables >= n).all(axis=1))
        weight = np.isnan(family.lower).any(axis=1)
        self.scalar = int(family.upper[weight, 0][0]) if weight.any() else None
        lower, upper = (np.where(weight[:, None], 1.0, table) for table in (family.lower, family.upper))
        self.k, self.variables, self.constants = len(family.variables), family.variables, np.concatenate([lower, upper])
        self.evaluator = Evaluator(family.value, self.k, backend)
        at = order.position[family.variables[self.of_x]]
        self.first = at.min(axis=0, initial=n - 1)
        self.at, self.slots = at, np.zeros_like(at)
        for k, others in enumerate(order.members[1:]):
            self.slots += (k + 1) * (others[self.first] == at)

    def run(self, program: str, lo: np.ndarray, hi: np.ndarray, *more: np.ndarray) -> list[np.ndarray]:
        """On boxes of all variables and scalars."""
        constants = [self.constants] if len(self.constants) else []
        return self.evaluator.run(program, [lo[self.variables], hi[self.variables], *constants, *more])

    @property
    def sizes(self) -> int:
        return len(self.constants) // 2


class TermSum:
    """The terms of a function of n variables, the order of elimination, and the scalars."""

    def __init__(self, evaluator: Evaluator, families: list[TermFamily], scalars: list[Evaluator], order: EliminationOrder):
        self.evaluator, self.order, self.scalars, self.n = evaluator, order, scalars, evaluator.n
        forms = [_CliqueTerms(family, self.n, order, evaluator.backend) for family in families]
        self.forms = [form for form in forms if len(form.of_x) or form.scalar is None]  # not -λ s
        n, m, count = self.n, order.width + 1, len(scalars)
        self.parts = m * m * n, count * n, count * count
        self.of_gradient = SumTargets([self._rows(form) for form in self.forms], n + count)
        self.of_hessian = SumTargets([self._pairs(form) for form in self.forms], sum(self.parts))
        self.of_slopes = SumTargets([form.scalar * n + form.at for form in self.forms if form.scalar is not None], count * n)
        above = np.triu_indices(m, 1)
        elements = [np.concatenate([np.arange(m), side]) for side in above]  # as the kernel writes them
        self.of_directions = SumTargets([(elements[0] * m + elements[1])[:, None] * n + form.first for form in self.forms],
                                        m * m * n)

    @classmethod
    def of(cls, evaluator: Evaluator) -> "TermSum | None":
        """None if the function has no such structure."""
        n, scalars = evaluator.n, []
        families = families_of(evaluator.f, var("x", (n,)), POLICY.most_variables)
        if families is None:
            coupling = coupling_of(evaluator.f, n) or coupling_of(with_logarithms(evaluator.f), n)
            if coupling is None or np.inf in coupling.above:
                return None
            families, scalars = coupling.families, [Evaluator(s, n, evaluator.backend) for s in coupling.scalars]
        families = [family for family in families if len(family.variables)]
        if len(families) > POLICY.most_forms:
            return None
        order = order_of([family.variables[(family.variables < n).all(axis=1)] for family in families], n)
        return None if order is None else cls(evaluator, families, scalars, order)

    # ---- where derivatives go
    def _rows(self, form: _CliqueTerms) -> np.ndarray:
        """The places of the gradient of each term: variables, then scalars."""
        rows = form.variables.copy()
        rows[form.of_x] = form.at
        return rows

    def _pairs(self, form: _CliqueTerms) -> np.ndarray:
        """The places of the upper triangle of the Hessian of each term: cliques, B, C."""
        n, m, count = self.n, self.order.width + 1, len(self.scalars)
        row = dict(zip(form.of_x.tolist(), range(len(form.of_x)), strict=True))
        found = []
        for pair in zip(*(side.tolist() for side in np.triu_indices(form.k)), strict=True):
            mine = [row[i] for i in pair if i in row]
            scalars = [form.variables[i] - n for i in pair if i not in row]
            if len(mine) == 2:
                one, other = (form.slots[i] for i in mine)
                found.append((np.minimum(one, other) * m + np.maximum(one, other)) * n + form.first)
            elif mine:
                found.append(self.parts[0] + scalars[0] * n + form.at[mine[0]])
            else:
                found.append(sum(self.parts[:2]) + np.minimum(*scalars) * count + np.maximum(*scalars))
        return np.stack(found)

    # ---- enclosures
    def enclose(self, lo: np.ndarray, hi: np.ndarray) -> SecondOrderEnclosure:
        """On a box (n,)."""
        n, m, count = self.n, self.order.width + 1, len(self.scalars)
        low, high = self._with_scalars(lo, hi)
        found = [form.run(ProgramKind.of(TERM_HESSIAN, constants=form.sizes), low, high) for form in self.forms]
        firsts, seconds = ([(part[k], part[k + 1]) for part in found] for k in (3, 5))
        weighed = [(form, first) for form, first in zip(self.forms, firsts, strict=True) if form.scalar is not None]
        slopes = self.of_slopes.total([tuple(end[form.of_x] for end in first) for form, first in weighed])
        of_f = [first if form.scalar is None else _zeros(first) for form, first in zip(self.forms, firsts, strict=True)]
        weights = tuple(end[n:] for end in self.of_gradient.total(of_f)) if count else _zeros((np.empty(0),) * 2)
        gradient = self.of_gradient.total(self._scaled(firsts, weights))
        whole = self.of_hessian.total(self._scaled(seconds, weights))
        cliques, mixed, inner = zip(*(np.split(end, np.cumsum(self.parts)[:-1]) for end in whole), strict=True)
        return SecondOrderEnclosure(all(bool((part[2] == SMOOTH).all()) for part in found),
                                    tuple(end[:n][self.order.position] for end in gradient), _symmetric(cliques, (m, m, n)),
                                    *(tuple(end.reshape(count, n) for end in ends) for ends in (mixed, slopes)),
                                    _symmetric(inner, (count, count)), weights)

    def enclose_along(self, lo: np.ndarray, hi: np.ndarray, directions: np.ndarray, weights: Interval) -> Interval:
        """T A Tᵀ for the matrix T of each clique, (m, m, n), on a box where f is smooth and λ lies in `weights`."""
        m, found, (low, high) = self.order.width + 1, [], self._with_scalars(lo, hi)
        for form in self.forms:
            mine = np.zeros((m, form.k, len(form.first)))
            for row, slots in zip(form.of_x, form.slots, strict=True):
                mine[:, row] = directions[:, slots, form.first]
            program = ProgramKind.of(TERM_CURVATURE, constants=form.sizes, count=m)
            found.append(form.run(program, low, high, mine.reshape(m * form.k, -1)))
        return _symmetric(self.of_directions.total(self._scaled(found, weights)), (m, m, self.n))

    def _with_scalars(self, lo: np.ndarray, hi: np.ndarray) -> Interval:
        known = [s.mean_value(lo, hi).best for s in self.scalars]
        return np.append(lo, [float(s.lo) for s in known]), np.append(hi, [float(s.hi) for s in known])

    def _scaled(self, parts: list[Interval], weights: Interval) -> list[Interval]:
        """Derivatives of terms of G_k times λ_k."""
        return [part if form.scalar is None else times(part, tuple(end[form.scalar] for end in weights))
                for form, part in zip(self.forms, parts, strict=True)]


def _zeros(part: Interval) -> Interval:
    return tuple(np.zeros_like(end) for end in part)


def _symmetric(ends: Interval, shape: tuple[int, ...]) -> Interval:
    """Matrices of which only the upper triangle was filled."""
    rows, columns = np.tril_indices(shape[0], -1)
    ends = tuple(end.reshape(shape).copy() for end in ends)
    for end in ends:
        end[rows, columns] = end[columns, rows]
    return ends
