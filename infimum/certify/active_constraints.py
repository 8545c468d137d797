"""Proof that a feasible point lies near a point at which constraints hold with equality, or about so.

The active constraints are solved as equations. Linear ones are solved exactly in rational numbers, redundant ones found on the
way; where all are linear the point itself is rational, and polynomials there are compared exactly. Otherwise Krawczyk's operator
proves that the equations have a solution in a tiny box, and what follows from them exactly need not hold on all of it.

Proof: docs/proofs/feasible_points.md.
"""

import itertools
from fractions import Fraction

import numpy as np

from infimum.certify import equation_solutions
from infimum.certify.equation_solutions import EquationBasis, FailureReason, ProvedFeasible
from infimum.evaluation.evaluator import Derivative, Evaluator
from infimum.expr.exact_forms import (
    CONSTANT,
    Elimination,
    ExactForms,
    Form,
    enclosed,
    is_linear,
    number,
    plus,
    value_at,
    variable,
)
from infimum.linear_algebra.interval_matrices import Interval
from infimum.linear_algebra.lane_algebra import inverted, total
from infimum.search.policy.bounds import EXACT_FORMS as POLICY
from infimum.support.given_numbers import round_down, round_up
from infimum.support.lazy import dataclass

Box = tuple[np.ndarray, np.ndarray]


def prove_feasible_active(evaluator: Evaluator, bounds: Interval, x: np.ndarray) -> ProvedFeasible | FailureReason:
    """A box around about x, whose integers are whole, within the bounds that certainly holds a feasible point. What lies within
    some distance of its end counts as active, and if nothing comes of that, what lies within less; at last variables near 0 are
    held there as well, where equations are often linear in the others."""
    found: ProvedFeasible | FailureReason = FailureReason.FAR
    seen: set[bytes] = set()
    for at_zero, distance in itertools.product((False, True), POLICY.active_distances):
        with np.errstate(all="ignore"):
            face = _Face.of(evaluator, bounds, x, distance, at_zero)
            if face is None:
                continue
            key = face.x.tobytes() + face.side.tobytes()
            if key in seen:
                continue
            seen.add(key)
            found = face.proved_with_changes()
        if not isinstance(found, FailureReason):
            return found
    return found


@dataclass
class _Face:
    """Variables that are held where they are, and constraints that are to hold with equality: `side` is 1 at the upper end, -1 at
    the lower one or for an equation, 0 where a constraint is not active."""

    evaluator: Evaluator
    bounds: Interval
    x: np.ndarray
    free: np.ndarray
    side: np.ndarray
    jacobian: np.ndarray
    change: int = -1  # the variable that should leave its bound, or go to one, where nothing could be proved

    @classmethod
    def of(cls, evaluator: Evaluator, bounds: Interval, x: np.ndarray, distance: float, at_zero: bool) -> "_Face | None":
        """None where a constraint is violated by more than the distance, as part of its size."""
        system, (lo, hi) = evaluator.system, bounds
        unit = np.minimum(np.maximum(np.abs(x), 1.0), np.where(hi > lo, hi - lo, 1.0))
        x = np.where(x - lo <= distance * unit, lo, np.where(hi - x <= distance * unit, hi, x))
        x = np.where(at_zero & (np.abs(x) <= distance) & (lo < 0) & (0 < hi), 0.0, x)
        values, jacobian = evaluator.estimate_jacobian(x)
        c, terms = values[1:], np.abs(jacobian[1:] * np.where(np.isfinite(jacobian[1:]), x, 0.0))
        size = np.maximum(total(np.where(np.isfinite(terms), terms, 0.0).T), np.maximum(np.abs(c), POLICY.least_size))
        above, below = c - system.upper, system.lower - c
        if not np.isfinite([*c, *size]).all() or (np.maximum(above, below) > POLICY.farthest * size).any():
            return None
        side = np.where(above >= -distance * size, 1, np.where(below >= -distance * size, -1, 0))
        side = np.where(system.equal, -1, side)
        free = (x > lo) & (x < hi) & ~(at_zero & (x == 0))
        free[list(system.integers)] = False
        return cls(evaluator, bounds, x, free, side, jacobian[1:])

    @property
    def targets(self) -> np.ndarray:
        """The ends at which active constraints are to hold."""
        return np.where(self.side > 0, self.evaluator.system.upper, self.evaluator.system.lower)

    def proved_with_changes(self) -> ProvedFeasible | FailureReason:
        """The same, where variables leave their bounds if a constraint demands that, or go there if they would be beyond."""
        lo, hi = self.bounds
        can_move = lo < hi
        can_move[list(self.evaluator.system.integers)] = False
        for _ in range(POLICY.most_changes):
            self.change = -1
            found = self.proved()
            j = self.change
            if not isinstance(found, FailureReason) or j < 0 or not can_move[j]:
                break
            can_move[j] = False
            self.free[j] = not self.free[j]
            if not self.free[j]:
                self.x[j] = lo[j] if self.x[j] - lo[j] < hi[j] - self.x[j] else hi[j]
        return found

    def proved(self) -> ProvedFeasible | FailureReason:
        """A box that holds a point at which all active constraints hold with equality, or exactly within their ends."""
        self.forms = ExactForms({int(j): Fraction(float(self.x[j])) for j in np.flatnonzero(~self.free)})
        weight = np.where(self.free, equation_solutions.weights(self.bounds, self.x), 0.0)
        self.known = Elimination(lambda term: float(weight[term[0][0][1]]) if not term[0][0][0] else 0.0)
        linear, others = [], []
        for k in sorted(np.flatnonzero(self.side).tolist(), key=lambda k: not self.evaluator.system.equal[k]):
            form = self._form(k)
            if form is None or not is_linear(form):
                others.append(k)
                continue
            left = self.known.add(form)
            if left is None:
                linear.append(k)
            elif not self._obeys(k, left):
                pull = np.where(self.free, 0.0, np.abs(self.jacobian[k]) * (self.bounds[1] - self.bounds[0]))
                pull[list(self.evaluator.system.integers)] = 0.0
                self.change = int(np.argmax(pull)) if pull.any() else -1
                return FailureReason.OVERDETERMINED if self.evaluator.system.equal[k] else FailureReason.TIGHT
        point = self._rational_point()
        if not others:
            return point if isinstance(point, FailureReason) else self._judged_at(point)
        if isinstance(point, FailureReason):
            return point
        at_point = self._judged_at(point)  # a polynomial may hold there exactly, as where only integers are left in it
        if not isinstance(at_point, FailureReason):
            return at_point
        return self._solved(point, linear, others)

    def _form(self, k: int, end: float | None = None) -> Form | None:
        """Of the constraint minus its end."""
        form = self.forms.of(self.evaluator.system.rows[1 + k])
        end = Fraction(float(self.targets[k] if end is None else end))
        return None if form is None else plus(form, number(end), Fraction(-1))

    def _obeys(self, k: int, left: Form) -> bool:
        """Does the constraint hold where it differs from its end by this constant?"""
        apart, side = left.get(CONSTANT, Fraction(0)), self.side[k]
        system = self.evaluator.system
        if system.equal[k]:
            return apart == 0
        value = apart + Fraction(float(self.targets[k]))
        return bool(side) and _within(value, value, system.lower[k], system.upper[k])

    # ---- where all is linear
    def _rational_point(self) -> dict[int, Fraction] | FailureReason:
        """Where the linear ones hold, with the doubles of x in the variables for which none was solved."""
        x = {j: Fraction(float(value)) for j, value in enumerate(self.x)}
        for term, row in self.known.by.items():
            rest = {other: value for other, value in row.items() if other != term}
            value = value_at(rest, x)
            x[term[0][0][1]] = -value
        lo, hi = self.bounds
        for term in self.known.by:
            j = term[0][0][1]
            if not _within(x[j], x[j], lo[j], hi[j]):
                self.change = j
                return FailureReason.OUTSIDE
        return x

    def _judged_at(self, point: dict[int, Fraction]) -> ProvedFeasible | FailureReason:
        """Does everything hold at a rational point? By enclosures on the doubles around it, or exactly."""
        system = self.evaluator.system
        lo, hi = (np.array([rounded(point[j]) for j in range(len(self.x))]) for rounded in (round_down, round_up))
        rows = self.evaluator.rows(lo, hi)
        if not (rows.defined.all() and rows.hi[0] < np.inf):
            return FailureReason.UNDEFINED
        for k in np.flatnonzero(~((rows.lo[1:] >= system.lower) & (rows.hi[1:] <= system.upper))):
            form = self.forms.of(system.rows[1 + k])
            value = None if form is None else value_at(form, point)
            if value is None or not _within(value, value, system.lower[k], system.upper[k]):
                return FailureReason.TIGHT
        return ProvedFeasible(lo, hi, float(rows.hi[0]))

    # ---- where it is not
    def _solved(self, point: dict[int, Fraction], linear: list[int], others: list[int]) -> ProvedFeasible | FailureReason:
        """By Krawczyk's operator for the linear equations that were chosen and as many of the others as are independent.
        Variables that have one value by the linear equations alone are known between doubles."""
        constant = [term[0][0][1] for term, row in self.known.by.items() if all(other in (term, CONSTANT) for other in row)]
        basis = self._basis(linear, others, constant)
        if isinstance(basis, FailureReason):
            return basis
        x = np.minimum(np.maximum([float(point[j]) for j in range(len(self.x))], self.bounds[0]), self.bounds[1])
        x = equation_solutions.refined(self.evaluator, basis, x)
        if not ((x >= self.bounds[0]) & (x <= self.bounds[1])).all():
            self.change = int(np.argmax(np.maximum(self.bounds[0] - x, x - self.bounds[1])))
            return FailureReason.OUTSIDE
        around = x.copy(), x.copy()
        for j in constant:
            around[0][j], around[1][j] = round_down(point[j]), round_up(point[j])
        box = equation_solutions.solved(self.evaluator, self.bounds, basis, x, around)
        if isinstance(box, FailureReason):
            return box
        return self._judged_on(x, *box, around, np.union1d(basis.rows, np.array(linear, dtype=np.intp)))

    def _basis(self, linear: list[int], others: list[int], constant: list[int]) -> EquationBasis | FailureReason:
        """The linear equations in the variables that they were solved for, but those that have one value; of the other equations
        those with independent gradients along them, chosen by elimination with the largest pivots."""
        rows = {term[0][0][1]: row for term, row in self.known.by.items() if term[0][0][1] not in constant}
        pivots = np.array(list(rows), dtype=np.intp)
        chosen = independent(self.jacobian[np.ix_(linear, pivots)] * 1.0)[0] if len(pivots) else []
        held = np.concatenate([pivots, np.array(constant, dtype=np.intp)])
        rest = np.array([j for j in np.flatnonzero(self.free).tolist() if j not in set(held.tolist())], dtype=np.intp)
        tilt = np.zeros((len(pivots), len(rest)))  # of the pivots by the other variables
        for i, row in enumerate(rows.values()):
            tilt[i] = [-float(row.get(variable(int(j)), 0)) for j in rest]
        slopes = self.jacobian[others]
        if not np.isfinite(slopes[:, self.free]).all():
            return FailureReason.UNDEFINED
        along = slopes[:, rest].copy()
        for i, pivot in enumerate(pivots):
            along += slopes[:, pivot, None] * tilt[i]
        some, columns = independent(along * equation_solutions.weights(self.bounds, self.x)[rest])
        numbers = np.array([*(linear[i] for i in chosen), *(others[i] for i in some)], dtype=np.intp)
        variables = np.sort(np.concatenate([pivots, rest[columns]]))
        inverse = inverted(self.jacobian[np.ix_(numbers, variables)]) if len(numbers) == len(variables) else None
        if inverse is None:
            return FailureReason.DEPENDENT
        return EquationBasis(numbers, variables, inverse, self.free, self.targets[numbers])

    def _judged_on(self, x: np.ndarray, box: Box, slopes: Derivative, around: Box,
                   solved: np.ndarray) -> ProvedFeasible | FailureReason:
        """Does everything hold on all of the box but what was solved, or follow from that? `around`: x, and what is known of
        variables that are no doubles there."""
        (lo, hi), system = box, self.evaluator.system
        if not ((lo >= self.bounds[0]) & (hi <= self.bounds[1]) & (lo <= hi)).all():
            return FailureReason.OUTSIDE
        rows = self.evaluator.rows(lo, hi)
        if not (rows.defined.all() and rows.hi[0] < np.inf):
            return FailureReason.UNDEFINED
        rows = equation_solutions.tightened(rows, self.evaluator.rows(*around), slopes, box, x)
        holds = (rows.lo[1:] >= system.lower) & (rows.hi[1:] <= system.upper)
        holds[solved] = True
        failed = np.flatnonzero(~holds).tolist()
        if failed:
            follows = Elimination(lambda term: 1.0)
            for k in solved.tolist():
                form = self._form(k)
                if form is not None:
                    follows.add(form)
            for k in failed:
                form = self._form(k, 0.0)
                ends = None if form is None else enclosed(follows.reduced(form), lo, hi)
                if ends is None or not _within(*ends, system.lower[k], system.upper[k]):
                    return FailureReason.DEPENDENT if system.equal[k] else FailureReason.TIGHT
        return ProvedFeasible(lo, hi, float(rows.hi[0]))


def _within(low: Fraction, high: Fraction, lower: float, upper: float) -> bool:
    return (lower == -np.inf or low >= Fraction(float(lower))) and (upper == np.inf or high <= Fraction(float(upper)))


def independent(a: np.ndarray) -> tuple[list[int], list[int]]:
    """Rows of a matrix that are about independent, and as many columns, by elimination with the largest pivots of all."""
    largest = np.abs(a).max(axis=1, initial=0.0)
    a = a / np.where(largest > 0, largest, 1.0)[:, None]
    rows, columns = [], []
    for _ in range(min(a.shape)):
        i, j = divmod(int(np.argmax(np.abs(a))), a.shape[1])
        if not abs(a[i, j]) > POLICY.least_pivot:
            break
        rows.append(i)
        columns.append(j)
        pivot = a[i] / a[i, j]
        a = a - a[:, j, None] * pivot
        a[i], a[:, j] = 0.0, 0.0
    return rows, columns
