"""How many regions a proof tests, and what each test discards; with all tests of regions, or with some of them."""

import time
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from infimum.bounds import bound_order
from infimum.bounds.bound_table import FUNCTION_TESTS
from infimum.search.branch_and_bound import BranchAndBound


@dataclass
class Count:
    """Of branch and bound: what comes before it, points and sweeps, is not in it. The seconds are those of the tests, of all
    processors together and by the clock."""

    regions: int = 0
    cpu_seconds: float = 0.0
    seconds: float = 0.0
    discarded: Counter = field(default_factory=Counter)


@contextmanager
def counting() -> Iterator[Count]:
    """Counts what is done by this process within the block."""
    count, tested = Count(), BranchAndBound._tested

    def counted(branch: BranchAndBound, parents: Any, pieces: int) -> Any:
        count.regions += parents.shape[1] * pieces
        before, clock, cpu = Counter(branch.discarded), time.perf_counter(), time.process_time()
        found = tested(branch, parents, pieces)
        count.seconds, count.cpu_seconds = (count.seconds + time.perf_counter() - clock,
                                            count.cpu_seconds + time.process_time() - cpu)
        count.discarded.update(Counter(branch.discarded) - before)
        return found
    with mock.patch.object(BranchAndBound, "_tested", counted):
        yield count


def names() -> list[str]:
    """The tests of regions of a function without constraints."""
    return [name for name, row in FUNCTION_TESTS.items() if not row.asked]


@contextmanager
def only(kept: Collection[str]) -> Iterator[None]:
    """Proofs within the block use no other tests, if there are no constraints."""
    with mock.patch.object(bound_order, "FUNCTION_TESTS", {name: row for name, row in FUNCTION_TESTS.items() if name in kept}):
        yield
