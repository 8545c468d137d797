"""System: a function to minimise, and what its variables must obey."""

from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from infimum.expr.build import build, concat, index, reshape
from infimum.expr.differentiate import gradient
from infimum.expr.node import Expr, topological
from infimum.support.digests import blake2b
from infimum.support.lazy import dataclass


class Label(NamedTuple):
    """Where a constraint comes from: the number of the user's constraint, the element if that is an array, and what it is called,
    or how it is written. `moved`: the doubles around an end that was subtracted from the user's values, being none."""

    number: int
    element: int | None
    text: str
    moved: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, eq=False)
class System:
    """Minimise f over the points x at which every element of every body is defined and lies between its ends, and at which the
    variables numbered in `integers` are whole numbers.

    `bodies` are vectors over the variables; `lower` and `upper` hold the ends of all their elements, one body after the other.
    An equation has equal ends, an inequality one infinite end. No end is NaN, and lower <= upper. `labels`, if there are any, say
    what the user calls each of them.

    The last `orders` of the constraints have no ends. Of all points that differ by the order of exchangeable variables, one of
    the lowest is such that they are not negative there. Bounds of regions may rely on that (`with_orders`); points may be any.
    """

    f: Expr
    bodies: tuple[Expr, ...]
    lower: np.ndarray
    upper: np.ndarray
    integers: tuple[int, ...] = ()
    labels: tuple[Label, ...] = ()
    orders: int = 0

    @property
    def m(self) -> int:
        """How many constraints there are."""
        return len(self.lower)

    @cached_property
    def equal(self) -> np.ndarray:
        """Which of them are equations."""
        return self.lower == self.upper

    @cached_property
    def two_sided(self) -> np.ndarray:
        """The numbers of the constraints with two finite ends: equations, relaxed or not, and ranges."""
        return np.flatnonzero(np.isfinite(self.lower) & np.isfinite(self.upper))

    @cached_property
    def is_flat(self) -> bool:
        """Is f a constant, so that any feasible point will do?"""
        return all(node.op != "var" for node in topological([self.f]))

    def with_rows(self, body: Expr, lower: np.ndarray, upper: np.ndarray, text: str) -> "System":
        """With more constraints: the elements of a vector, all of them called like this."""
        labels = (Label(-1, None, text),) * body.size if self.labels or not self.m else ()
        return replace(self, bodies=(*self.bodies, body), lower=np.append(self.lower, lower), upper=np.append(self.upper, upper),
                       labels=(*self.labels, *labels))

    @property
    def with_orders(self) -> "System":
        """With the constraints that put exchangeable variables in order."""
        at = np.arange(self.m) >= self.m - self.orders
        return replace(self, lower=np.where(at, 0.0, self.lower), orders=0) if self.orders else self

    @cached_property
    def key(self) -> str:
        """Content key, as that of an Expr."""
        h = blake2b(digest_size=16)
        h.update(repr((self.f.key, [body.key for body in self.bodies], self.integers)).encode())
        h.update(self.lower.tobytes())
        h.update(self.upper.tobytes())
        return h.hexdigest()

    @cached_property
    def rows(self) -> tuple[Expr, ...]:
        """f and each constraint by itself, as scalars."""
        return self.f, *(index(body, k) for body in self.bodies for k in range(body.size))

    @cached_property
    def _jacobians(self) -> dict[Expr, tuple[Expr, ...]]:
        return {}

    def jacobian(self, x: Expr) -> tuple[Expr, ...]:
        """The gradients of the rows, of which several kernels are made."""
        if x not in self._jacobians:
            self._jacobians[x] = tuple(gradient(row, x) for row in self.rows)
        return self._jacobians[x]

    def weighted(self, weights: Expr) -> Expr:
        """The sum of the rows, each times its weight: with the weight 1 of f, a Lagrangian function."""
        together = concat([reshape(self.f, (1,)), *self.bodies])
        return build("sum", build("mul", weights, together), axes=(0,))
