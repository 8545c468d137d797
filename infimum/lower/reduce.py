"""Reductions over boxes, for targets whose arrays lie elsewhere: a row of many numbers is laid out in several rows."""

import numpy as np

from infimum.interval.pair import INF
from infimum.lower.data import Data
from infimum.lower.kernel import Builder, Kernel
from infimum.lower.proof import with_lower


def least(rows: int) -> tuple[Kernel, Data]:
    """A kernel that finds in each lane the least of so many rows, and the number of the first row that has it."""
    b, data = Builder(), Data()
    at = data.offset(np.arange(rows, dtype=float))
    with b.loop(rows) as turn:
        best = b.step((INF, 0.0), (b.input(0, turn.index), b.data(b.place("uadd", at, turn.index))), with_lower)
    for row, value in enumerate(best.results):
        b.output(0, row, value)
    return b.kernel(f"least_of_{rows}", 1, 1), data
