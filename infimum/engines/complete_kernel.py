"""The kernel of the complete search: one subregion of the selected region a lane, derived from the lane's number alone.

A block of m consecutive variables is cut into p pieces each (p a power of two); digit k of the lane's number, to the base p, says
which piece of variable k is the lane's. What the function owes to the other variables is computed once for all lanes
(`structure.local_form`) and given as parameters, for the region and for each sample point. A lane encloses the function on its
subregion, its derivatives by the variables of the block, and its values at the sample points, where there are any.

Proof: docs/proofs/first_order.md.
"""

from collections.abc import Callable

import numpy as np

from infimum.expr.differentiate import gradient
from infimum.expr.node import Expr
from infimum.interval.pair import INF, Pair
from infimum.kernel.box_conclusions import best_lower, first_order, natural, upper_end, whole_if_unsound, with_lower
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Value
from infimum.kernel.lowering import Lowering
from infimum.kernel.meaning import Enclosures
from infimum.structure.local_form import LocalForm, block_variables, local_form

LOWER, LEFT, UPPER, SAMPLE = range(4)  # rows of the output; LEFT is the lower end, NaN where the subregion is ruled out
_COUNT = np.arange(1024, dtype=float)  # fixed: more than a variable has pieces


class Layout:
    """Where the parameters lie: the ends of the pieces (p + 1 for each variable), the user's bounds, what the region's lower end
    is known to be at least, the region's numbers of the form (lower end, upper end, level); then the parts of the width at which
    each sample lies (m a sample), and the numbers of each. So the parameters without samples are the first ones of those with
    samples."""

    def __init__(self, m: int, p: int, samples: int, numbers: int):
        self.m, self.samples, self.each = m, samples, 3 * numbers
        self.user = m * (p + 1)
        self.least = self.user + 2 * m
        self.region = self.least + 1
        self.parts = self.region + self.each
        self.sampled = self.parts + samples * m
        self.size = self.sampled + samples * self.each


class LanePieces:
    """What a lane derives from its number: the ends of its piece of each variable of the block. They are the first parameters."""

    def __init__(self, m: int, p: int, size: int):
        self.b, self.data = Builder(), Data()
        self.at = self.data.offset(np.zeros(size))
        number, bits = self.b.bits(self.b.input(0, 0)), p.bit_length() - 1
        self.digits = [self.b.iand(self.b.ilshr(number, bits * k), p - 1) for k in range(m)]
        self.ends = [self._piece(k, p) for k in range(m)]

    def given(self, position: "int | Value") -> Value:
        return self.b.data(self.b.place("uadd", self.at, position))

    def _piece(self, k: int, p: int) -> tuple[Value, Value]:
        """The ends of the lane's piece of variable k."""
        b, first = self.b, k * (p + 1)
        left, right = self.given(first), self.given(first + 1)
        for piece in range(1, p):
            here = b.ieq(self.digits[k], piece)
            left = b.select(here, self.given(first + piece), left)
            right = b.select(here, self.given(first + piece + 1), right)
        return left, right

    def number(self, turn: Value) -> Value:
        """The turn of a loop as a double of the lane."""
        return self.b.data(self.b.place("uadd", self.data.offset(_COUNT), turn))


class CompleteKernel(LanePieces):
    """Writes the kernel."""

    def __init__(self, f: Expr, x: Expr, m: int, p: int, samples: int):
        self.form: LocalForm = local_form(f, x, m)
        self.layout = Layout(m, p, samples, len(self.form.numbers))
        super().__init__(m, p, self.layout.size)
        gone, nlo = self._region()
        upper, sample = self._samples() if samples else (self.b.const(INF), self.b.const(-1.0))
        left = self.b.select(gone, float("nan"), best_lower(self.b, self.b.neg(nlo), self.given(self.layout.least)))
        for row, v in ((LOWER, self.b.neg(nlo)), (LEFT, left), (UPPER, upper), (SAMPLE, sample)):
            self.b.output(0, row, v)

    def _leaves(self, base: "int | Value", block: Callable[[int], Pair]) -> dict[str, Callable]:
        """The variables of the form: the numbers from position `base` on, and the block."""
        b, leaves = self.b, {}
        for i, number in enumerate(self.form.numbers):
            def leaf(_: int, i: int = i, least: int = 0 if number.kind == "others" else -1) -> Pair:
                lo, hi, level = (self.given(b.place("uadd", base, 3 * i + row)) for row in range(3))
                return Pair(b.neg(lo), hi, level, least=least)
            leaves[number.name] = leaf
        for k, y in enumerate(block_variables(self.layout.m)):
            leaves[y["name"]] = lambda _, k=k: block(k)
        return leaves

    def _values(self, leaves: dict[str, Callable], nodes: list[Expr]) -> list[Pair]:
        return Lowering(self.b, Enclosures(), leaves, self.data).values(nodes, straight=True)

    def _region(self) -> tuple[Value, Value]:
        """(whether the subregion is ruled out by derivatives or is empty, minus the lower end of the value)."""
        b, m, user = self.b, self.layout.m, self.layout.user
        leaves = self._leaves(self.layout.region, lambda k: Pair(b.neg(self.ends[k][0]), self.ends[k][1]))
        slopes = [gradient(self.form.value, y) for y in block_variables(m)] if self.form.exact else []
        value, *derivatives = self._values(leaves, [self.form.value, *slopes])
        known = natural(b, value)
        gone = known.empty
        for k, derivative in enumerate(derivatives):
            found = first_order(b, known.lipschitz(b), whole_if_unsound(b, derivative), *self.ends[k], self.given(user + 2 * k),
                                self.given(user + 2 * k + 1))
            gone = b.mor(gone, found.excluded)
        return gone, known.nlo

    def _samples(self) -> tuple[Value, Value]:
        """(the smallest upper end of the value at a sample point, the number of that sample)."""
        b, layout = self.b, self.layout
        with b.loop(layout.samples) as turn:
            s = turn.index
            parts = b.place("uadd", b.place("umul", s, layout.m), layout.parts)

            def point(k: int) -> Pair:
                left, right = self.ends[k]
                c = b.fma(b.sub(right, left), self.given(b.place("uadd", parts, k)), left)
                c = b.min(b.max(c, left), right)
                return Pair(b.neg(c), c)
            base = b.place("uadd", b.place("umul", s, layout.each), layout.sampled)
            value, = self._values(self._leaves(base, point), [self.form.value])
            best = b.step((INF, -1.0), (upper_end(b, value), self.number(s)), with_lower)
        return best.results


def complete(name: str, f: Expr, x: Expr, m: int, p: int, samples: int) -> tuple:
    """(kernel, data, rows of the output, where the parameters begin in the doubles). One input: the lane's number, as bits."""
    writer = CompleteKernel(f, x, m, p, samples)
    return writer.b.kernel(name, 1, 1), writer.data, (4,), writer.at
