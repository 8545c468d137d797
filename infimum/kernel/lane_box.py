"""The box of a lane: leaves of an expression, and the writers of what was enclosed on it."""

from collections.abc import Callable

from infimum.interval.pair import INF, UNDEFINED, Pair, is_empty
from infimum.kernel.box_conclusions import shown_level
from infimum.kernel.ir import Builder, Value
from infimum.kernel.lowering import SideSum


class LaneBox:
    """The box of a lane as leaves of an expression, and the guard against boxes that are none."""

    def __init__(self, b: Builder, n: int):
        self.b = b
        self.guard = SideSum(n, self._gap)

    def __call__(self, i: "int | Value") -> Pair:
        return Pair(self.b.neg(self.b.input(0, i)), self.b.input(1, i))

    def _gap(self, i: "int | Value") -> Value:
        """max(0, lo - hi): 0 for an interval, positive for an empty one, NaN for NaN ends and for points at infinity."""
        b = self.b
        return b.max(0.0, b.sub(b.input(0, i), b.input(1, i)))

    def write(self, slot: int, value: Pair) -> None:
        """Outputs lo, hi and level of the value at slot …: Empty for an empty box, everything and undefined for no box or NaN."""
        b, gap = self.b, self.guard.value
        empty, broken = b.ogt(gap, 0.0), b.mor(b.uno(gap, gap), b.uno(value.nlo, value.hi))
        ends = [b.select(empty, -INF, b.select(broken, INF, end)) for end in (value.nlo, value.hi)]
        bad = b.mor(empty, broken)
        b.output(slot, 0, b.neg(ends[0]))
        b.output(slot + 1, 0, ends[1])
        b.output(slot + 2, 0, b.select(bad, float(UNDEFINED), shown_level(b, value.level)))


def constant_leaf(b: Builder, slot: int, count: int) -> Callable[["int | Value"], Pair]:
    """Constants that are a lane's own: their lower ends are the first rows of an input, their upper ends the others."""
    return lambda i: Pair(b.neg(b.input(slot, i)), b.input(slot, b.place("uadd", i, count)))


def write_pair(b: Builder, slot: int) -> Callable[["int | Value", Pair], None]:
    """A writer of derivative enclosures. NaN and Empty become the whole line: the value's status tells what they are worth."""
    def write(row: "int | Value", value: Pair) -> None:
        broken = b.uno(value.nlo, value.hi)
        if value.may_be_empty:
            broken = b.mor(broken, is_empty(b, value))
        b.output(slot, row, b.neg(b.select(broken, INF, value.nlo)))
        b.output(slot + 1, row, b.select(broken, INF, value.hi))
    return write
