"""Work sharing: how the threads of a block share one box, and what that takes. Needs neither a GPU nor CuPy.

The turns of a loop are independent but for its Steps. In a loop that is *distributed* they go to different threads: single
turns, or whole runs where there are Steps, whose values are then merged in the Kernel's tree. All other code is *common*: every
thread computes it, with the same numbers, and the first one alone writes. A loop is distributed, or common with the loops inside
it distributed or common in their turn, whichever makes the way of a thread shorter.

A scan is distributed in two passes: the first finds what each run combines to, the second begins each run with all earlier ones.
"""

from dataclasses import field, replace

from infimum.kernel.ir import RUN, Function, Instr, Kernel, Loop, Step, walk
from infimum.support.lazy import dataclass

THREADS = 256   # of a block, as far as choices depend on it
_BARRIER = 40.0  # instructions in the time of one
TREE = "tree", 0


@dataclass(slots=True)
class SharedAccesses:
    """The arrays that threads of a block share, touched since a barrier: read, written by the first thread, and by many."""

    read: set = field(default_factory=set)
    by_first: set = field(default_factory=set)
    by_many: set = field(default_factory=set)

    def __or__(self, other: "SharedAccesses") -> "SharedAccesses":
        return SharedAccesses(self.read | other.read, self.by_first | other.by_first, self.by_many | other.by_many)

    def meets(self, later: "SharedAccesses") -> bool:
        """Would a thread touch what another one wrote, or write what another one touched, if no barrier came between?"""
        return bool(self.by_many & (later.read | later.by_first | later.by_many) or self.by_first & (later.read | later.by_many)
                    or self.read & (later.by_first | later.by_many))


class WorkSharing:
    """What is distributed in a kernel. `distributed` has for each such loop the loop of its first pass, or None without a scan.

    `weight` counts the instructions of a box, `way` those that a thread of a block executes; `widest`: threads that find work.
    """

    def __init__(self, kernel: Kernel):
        self.kernel = kernel
        self._calls: dict[Function, float] = {}
        self.weight = max(1.0, self._weight(kernel.body))
        self.way, self.distributed = self._choose(kernel.body)
        self.private = {i.attr for loop in self.distributed for i in walk(loop.body) if isinstance(i, Instr)
                        and i.op in ("load", "store") and kernel.homes[i.attr] >= loop.index.depth}
        self.widest = max([runs_of(loop) if loop.steps() else loop.limit for loop in self.distributed], default=1)
        self.tree = max([rows_of(loop) * 2 * runs_of(loop) for loop in self.distributed], default=0)

    def doubles(self, threads: int) -> int:
        """The scratch of a block: shared buffers, the nodes of a tree, and for each thread the buffers of its own."""
        own = sum(self.kernel.buffers[i] for i in self.private)
        return sum(self.kernel.buffers) - own + self.tree + own * threads

    def touched(self, items: list, distributed: bool = False) -> SharedAccesses:
        """What these items touch."""
        found = SharedAccesses()
        for item in items:
            if isinstance(item, Loop):
                distribute = item in self.distributed
                found |= self.touched(item.body, distributed or distribute)
                if distribute and item.steps():
                    found |= SharedAccesses(read={TREE}, by_many={TREE})
            elif isinstance(item, Instr) and item.op == "output":
                (found.by_many if distributed else found.by_first).add(("output", item.attr))
            elif isinstance(item, Instr) and item.op in ("load", "store") and item.attr not in self.private:
                (found.read if item.op == "load" else found.by_many if distributed else found.by_first).add(("buffer", item.attr))
        return found

    # ---- the choice
    def _weight(self, items: list) -> float:
        """Roughly how many instructions a thread executes that does all of it."""
        total = 0.0
        for item in items:
            if isinstance(item, Loop):
                total += max(1, item.limit) * self._weight(item.body)
            elif isinstance(item, Step):
                total += self._weight(item.block)
            elif item.op == "call":
                if item.attr not in self._calls:
                    self._calls[item.attr] = self._weight(item.attr.body)
                total += self._calls[item.attr]
            else:
                total += 1.0
        return total

    def _choose(self, items: list) -> tuple[float, dict[Loop, Loop | None]]:
        """(way of a thread through the items, loops that are distributed)."""
        way, distributed = 0.0, {}
        for item in items:
            if not isinstance(item, Loop):
                way += self._weight([item])
                continue
            inside, choice = self._choose(item.body)
            common = max(1, item.limit) * inside
            alone, first = self._deal(item)
            distributed |= {item: first} if alone < common else choice
            way += min(alone, common)
        return way, distributed

    def _deal(self, loop: Loop) -> tuple[float, Loop | None]:
        """(way of a thread through the loop if it is distributed, the loop of a first pass)."""
        steps, body = loop.steps(), self._weight(loop.body)
        if loop.more is not None:  # one turn needs the other
            return float("inf"), None
        if not steps:
            return -(-loop.limit // THREADS) * body + _BARRIER, None
        runs, scans = runs_of(loop), [step for step in steps if step.prefix]
        mine, levels, merge = -(-runs // THREADS), levels_of(loop), self._weight(steps)
        way = mine * RUN * body + (levels + 1) * (_BARRIER + merge) + (mine + levels) * merge
        first = first_pass(loop) if scans else None
        if runs < 2 or (scans and first is None):
            return float("inf"), None
        if first is not None:
            way += mine * (RUN * self._weight(first.body) + levels * merge) + (levels + 1) * (_BARRIER + merge)
        return way, first


def runs_of(loop: Loop) -> int:
    """At most this number."""
    return -(-loop.limit // RUN)


def levels_of(loop: Loop) -> int:
    """The levels of the tree above the runs."""
    return runs_of(loop).bit_length() - 1


def rows_of(loop: Loop) -> int:
    """The numbers that a turn combines."""
    return sum(len(step.init) for step in loop.steps())


def first_pass(loop: Loop) -> Loop | None:
    """The loop with what its scans combine and nothing else; None where that needs a scan or what a turn has stored."""
    needed: set = set()
    kept: list = []
    stored = {item.attr for item in walk(loop.body) if isinstance(item, Instr) and item.op == "store"}
    for item in reversed(loop.body):
        if isinstance(item, Step):
            if needed & set(item.prefix):
                return None
            if item.prefix:
                needed |= set(item.inputs)
                kept.append(replace(item, prefix=()))
            continue
        inside = list(walk([item]))
        if not any(needed & set(i.results) for i in inside if not isinstance(i, Loop)):
            continue
        for i in inside:
            if isinstance(i, Instr) and (i.op in ("store", "output") or (i.op == "load" and i.attr in stored)):
                return None
            needed |= set(i.operands)
        kept.append(item)
    return Loop(loop.index, loop.count, loop.limit, kept[::-1])
