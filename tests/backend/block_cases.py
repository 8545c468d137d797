"""Kernels with long loops, and every way to distribute their turns out to threads."""

import random

from infimum.backend.cuda.work_sharing import WorkSharing
from infimum.kernel.ir import Builder, Kernel, Loop


class RandomSharing(WorkSharing):
    """Deals what can be distributed so often, and goes inside otherwise."""

    def __init__(self, kernel: Kernel, seed: int, often: float = 0.7):
        self.rng, self.often = random.Random(seed), often
        super().__init__(kernel)

    def _choose(self, items: list) -> tuple[float, dict]:
        distributed: dict = {}
        for item in items:
            if isinstance(item, Loop):
                way, first = self._deal(item)
                can = way < float("inf")
                distributed |= {item: first} if can and self.rng.random() < self.often else self._choose(item.body)[1]
        return 0.0, distributed


def skew(b: Builder, left: tuple, right: tuple) -> tuple:
    """Not associative at all, so that every change of the tree shows."""
    return (b.fma(left[0], 0.75, b.sub(right[0], 0.1)),)


def long_kernel(limit: int) -> Kernel:
    """As many turns as udata[0] says: combinations, both kinds of scans, buffers read in the other direction, outputs."""
    b = Builder()
    count, kept = b.udata(0), b.buffer(max(limit, 1))
    with b.loop(count, limit) as turn:
        term = b.fma(b.input(0, b.umod(turn.index, 4)), b.data(turn.index), 0.3)
        scans = [b.step((0.5,), (b.mul(term, factor),), skew, kind) for factor, kind in ((1.0, "inclusive"), (-2.0, "exclusive"))]
        b.store(kept, turn.index, b.add(scans[0].prefix[0], scans[1].prefix[0]))
        plain = b.step((0.0,), (b.mul(scans[1].prefix[0], term),), skew)
    with b.loop(count, limit) as turn:
        mirrored = b.load(kept, b.usub(b.usub(count, 1), turn.index))
        again = b.step((0.0,), (b.sub(mirrored, plain.results[0]),), skew)
        b.output(0, b.uadd(turn.index, 4), mirrored)
    with b.loop(count, limit) as turn:
        b.store(kept, turn.index, b.mul(b.load(kept, turn.index), again.results[0]))
    with b.loop(count, limit) as turn:
        last = b.step((0.0,), (b.load(kept, turn.index),), lambda b, left, right: (b.max(left[0], right[0]),))
    for row, value in enumerate((scans[0].results[0], scans[1].results[0], again.results[0], last.results[0])):
        b.output(0, row, value)
    return b.kernel("long", 1, 1)


def nested_kernel(rows: int, columns: int) -> Kernel:
    """A table of rows, each with a buffer of its own that it fills anew; and their sums in a buffer of all."""
    b = Builder()
    sums = b.buffer(rows)
    with b.loop(rows) as row:
        mine = b.buffer(columns)
        with b.loop(columns) as column:
            b.store(mine, column.index, b.mul(b.input(0, b.umod(column.index, 4)), b.data(b.uadd(row.index, column.index))))
        with b.loop(columns) as column:
            mirrored = b.load(mine, b.usub(columns - 1, column.index))
            total = b.step((0.0,), (b.sub(mirrored, b.load(mine, 0)),), skew)
        b.store(sums, row.index, total.results[0])
    with b.loop(rows) as row:
        b.output(0, row.index, b.sub(b.load(sums, b.usub(rows - 1, row.index)), b.load(sums, 0)))
    return b.kernel("nested", 1, 1)


def rounds_kernel(limit: int, size: int) -> Kernel:
    """A balance: each round the largest of some numbers gives to all others, until it is small; lanes end at different times.

    Outputs the numbers, and how many rounds a lane wanted."""
    b = Builder()
    numbers, facts = b.state(size), b.state(2)
    with b.loop(size) as turn:
        b.store(numbers, turn.index, b.mul(b.abs(b.input(0, b.umod(turn.index, 4))), b.data(b.uadd(turn.index, 1))))
    b.store(facts, 0, 1.0)
    b.store(facts, 1, 0.0)
    with b.rounds(limit) as turn:
        going, mine = b.ogt(b.load(facts, 0), 0.0), b.buffer(size)
        with b.loop(size) as inner:
            value = b.load(numbers, inner.index)
            b.store(mine, inner.index, value)
            largest = b.step((0.0, -1.0), (value, b.data(inner.index)), lambda b, p, q: tuple(
                b.select(b.ogt(q[0], p[0]), v, u) for u, v in zip(p, q, strict=True)))
        most, place = largest.results
        ends = b.olt(most, 2.0)
        moves = b.mand(going, b.mnot(ends))
        with b.loop(size) as inner:
            mirrored = b.load(mine, b.usub(size - 1, inner.index))
            given = b.select(b.oeq(place, b.data(inner.index)), b.mul(most, -0.75), b.mul(mirrored, -0.001))
            old = b.load(numbers, inner.index)
            b.store(numbers, inner.index, b.select(moves, b.add(old, given), old))
        b.store(facts, 0, b.select(moves, 1.0, 0.0))
        b.store(facts, 1, b.select(moves, b.add(b.load(facts, 1), 1.0), b.load(facts, 1)))
        turn.more = moves
    with b.loop(size) as turn:
        b.output(0, turn.index, b.load(numbers, turn.index))
    b.output(0, size, b.load(facts, 1))
    return b.kernel("rounds", 1, 1)
