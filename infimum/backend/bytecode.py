"""Kernels as bytecode, which `backend/interpreter.py` runs: there is no text for LLVM, and nothing has to be compiled.

A program is a list of 32-bit words: an operation, where its operands lie, where its result goes. All values lie in the scratch
memory of a thread, one vector of lanes each; a place is a distance in bytes from its beginning. What no later instruction needs
makes room for others. Constants come first and are set once for all lanes. Functions are subroutines: what they are given, what
they compute and what they return has places of its own, since none calls itself.
"""

from collections.abc import Callable, Iterator
from dataclasses import field
from struct import pack, unpack

import numpy as np

from infimum.kernel.ir import CALLS, PRIMITIVES, RUN, Function, Instr, Kernel, Loop, Step, Value
from infimum.support.clock import check_time
from infimum.support.lazy import dataclass

# beside the primitives, with the words that follow: u and f places of an integer and of a vector, n a number, t a word to go to
OTHERS: dict[str, str] = {
    "constant": "nnf", "uconstant": "nnu",  # the lower and the upper half of the bits
    "data": "uf", "udata": "uu", "input": "nuf", "output": "nuf", "load": "nuf", "store": "nuf",  # at a position that lies there
    "data_at": "nf", "input_at": "nnf", "output_at": "nnf",  # at this position
    "data_sum": "uuf", "load_sum": "nuuf", "store_sum": "nuuf",  # at the sum of two
    "move": "ff", "umove": "uu",
    "native": "nn",  # the function at this address: see `backend/hot_loops.py`
    "turn": "uut",  # the next number, back to where the loop begins while it is below the other
    "jump": "t", "again": "t", "unless_below": "uut", "unless_any": "ft", "call": "ut", "return": "u",
    "fetch": "", "end": "",  # go on with the next boxes: after the constants, after the lane
}
LANE = [op for op, (takes, _) in PRIMITIVES.items() if "u" not in takes]  # on vectors alone: three operands, used or not
NUMBER = {op: k for k, op in enumerate((*LANE, *(op for op in PRIMITIVES if op not in LANE), *OTHERS))}
WORDS = 5  # of each of the first
_FROM_SUMS = {"data", "load", "store"}  # may find their position as the sum of two
_PADDED = {op: (NUMBER[op], [0] * (3 - len(PRIMITIVES[op][0]))) for op in LANE}
HEADER = 4  # words in front: where the lanes' program begins, one that is free, and two for the words that loops have run
_MOST_SCRATCH_BYTES = 1 << 30  # bytes of scratch that places can tell apart


@dataclass(frozen=True, slots=True, eq=False)
class LoopCode:
    """A loop that is in no other one: its first word and that after its last, and where the results of its steps lie."""

    loop: Loop
    begin: int
    end: int
    results: list[list[int]]


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """The words, the doubles of scratch memory that they work on, and the word in which it is counted what loops have run; the
    outermost loops, and the places of values and buffers."""

    words: np.ndarray
    doubles: int
    looped: np.ndarray
    loops: list[LoopCode]
    places: dict[Value, int]
    buffers: list[int]

    def run(self, vectors: int) -> int:
        """How many words have been run, for this number of vectors of lanes."""
        return vectors * len(self.words) + int(self.looped[0])


def encode(kernel: Kernel, lanes: int) -> Program | None:
    """The kernel as a program for vectors of this number of lanes; None if it needs too much memory."""
    if 8 * lanes * sum(kernel.buffers) > _MOST_SCRATCH_BYTES // 2:
        return None
    writer = _Writer(kernel, 8 * lanes)
    head = [*writer.head, NUMBER["fetch"]]
    words = np.array([HEADER + len(head), 0, 0, 0, *head, *writer.words], np.int32)
    if writer.top > _MOST_SCRATCH_BYTES:
        return None
    return Program(words, writer.top // 8, words[2:HEADER].view(np.int64), writer.loops, writer.at, writer.buffers)


@dataclass(slots=True, eq=False)
class _Subroutine:
    function: Function
    params: list[int]
    results: list[int]
    link: int  # where the word to return to lies
    calls: list[int] = field(default_factory=list)  # the words that are to hold where it begins
    begin: int = 0


class _Writer:
    """Writes one kernel: `head` is run once, `words` for each vector of lanes."""

    def __init__(self, kernel: Kernel, wide: int):
        self.wide, self.inputs = wide, kernel.inputs
        self.top = 0
        self.free: list[int] = []
        self.uniform: list[int] = []
        self.at: dict[Value, int] = {}
        self.known: dict[Value, int] = {}  # positions that are constants
        self.sums: dict[Value, tuple[int, int]] = {}  # those that are added where they are used
        self.constants: dict[tuple, int] = {}
        self.subroutines: dict[str, _Subroutine] = {}
        self.called: list[_Subroutine] = []
        self.loops: list[LoopCode] = []
        self.is_outermost = True
        self.buffers = [self._room(size) for size in kernel.buffers]
        self.head: list[int] = []
        self.words = self.head
        for item in kernel.prologue:
            self._instruction(item)
        self.words: list[int] = []
        self._block(kernel.body)
        self._say("end")
        self.is_outermost = False
        for subroutine in self.called:  # more may be added meanwhile
            self._define(subroutine)
        for subroutine in self.called:
            for word in subroutine.calls:
                self.words[word] = subroutine.begin

    # ---- places
    def _room(self, count: int = 1) -> int:
        """So many vectors side by side, for good."""
        self.top += count * self.wide
        return self.top - count * self.wide

    def _place(self) -> int:
        return self.free.pop() if self.free else self._room()

    def _uniform(self) -> int:
        if not self.uniform:
            begin = self._room()
            self.uniform = list(range(begin, begin + self.wide, 8))
        return self.uniform.pop()

    def _new(self, value: Value) -> int:
        place = self.at[value] = self._uniform() if value.type == "u" else self._place()
        return place

    def _constant(self, op: str, attr: object) -> int:
        place = self.constants.get((op, attr))
        if place is None:
            bits = pack("<d", float.fromhex(attr)) if op == "const" else (attr & (1 << 64) - 1).to_bytes(8, "little")
            place = self.constants[op, attr] = self._uniform() if op == "uconst" else self._room()
            self.head += [NUMBER["uconstant" if op == "uconst" else "constant"], *unpack("<ii", bits), place]
        return place

    def _number(self, value: int) -> int:
        return self._constant("uconst", value)

    # ---- instructions
    def _say(self, op: str, *words: int) -> None:
        self.words.append(NUMBER[op])
        self.words += words

    def _instruction(self, i: Instr) -> None:
        op, at = i.op, self.at
        if op in PRIMITIVES:
            self._say(op, *[at[v] for v in i.operands], self._new(i.results[0]))
        elif op in ("const", "iconst", "uconst"):
            at[i.results[0]] = self._constant(op, i.attr)
            if op == "uconst" and 0 <= i.attr < _MOST_SCRATCH_BYTES // self.wide:
                self.known[i.results[0]] = i.attr
        elif op in CALLS:
            self._call(i)
        else:
            self._memory(i)

    def _memory(self, i: Instr) -> None:
        op, position = i.op, i.operands[0]
        known, added = self.known.get(position), self.sums.get(position)
        other = self._new(i.results[0]) if i.results else self.at[i.operands[1]]
        if op in ("load", "store"):
            array = [self.buffers[i.attr]]
            if known is not None:
                element = array[0] + known * self.wide
                self._say("move", *((element, other) if op == "load" else (other, element)))
                return
        else:
            array = [i.attr] if op == "input" else [self.inputs + i.attr] if op == "output" else []
            if known is not None and op != "udata":
                self._say(f"{op}_at", *array, known, other)
                return
        if added is None:
            self._say(op, *array, self.at[position], other)
        else:
            self._say(f"{op}_sum", *array, *added, other)

    def _moves(self, sources: list[int], targets: list[int]) -> None:
        for source, target in zip(sources, targets, strict=True):
            self._say("move", source, target)

    # ---- functions
    def _call(self, i: Instr) -> None:
        f, where = i.attr, i.op == "call_where"
        if f.name not in self.subroutines:
            places = [[self._room() for _ in values] for values in (f.params, f.results)]
            self.subroutines[f.name] = _Subroutine(f, *places, self._uniform())
            self.called.append(self.subroutines[f.name])
        subroutine, operands = self.subroutines[f.name], [self.at[v] for v in i.operands]
        results = [self._new(v) for v in i.results]
        if where:
            mask, otherwise, operands = operands[0], operands[1:1 + len(results)], operands[1 + len(results):]
            self._moves(otherwise, results)
            skip = self._jump("unless_any", mask)
        self._moves(operands, subroutine.params)
        subroutine.calls.append(self._jump("call", subroutine.link))
        if where:
            for found, result in zip(subroutine.results, results, strict=True):
                self._say("select", mask, found, result, result)
            self._land(skip)
        else:
            self._moves(subroutine.results, results)

    def _define(self, subroutine: _Subroutine) -> None:
        self.free.clear()  # those are its callers'
        f, subroutine.begin = subroutine.function, len(self.words)
        self.at.update(zip(f.params, subroutine.params, strict=True))
        self._block(f.body, f.results)
        self._moves([self.at[v] for v in f.results], subroutine.results)
        self._say("return", subroutine.link)

    # ---- blocks
    def _block(self, items: list, needed: tuple[Value, ...] = (), step: Callable[[Step], None] | None = None,
               into: dict[Value, int] | None = None) -> list[int]:
        """Writes the items, Steps by `step`. The places of values that are `needed` afterwards are the caller's to give back, but
        for those that are to be computed `into` places that are theirs."""
        check_time()
        last: dict[Value, int] = {}
        for k, item in enumerate(items):
            for v in item.operands if item.__class__ is Instr else _used_values(item):
                last[v] = k
        last |= dict.fromkeys(needed, len(items))
        ends: list[list[int]] = [[] for _ in range(len(items) + 1)]
        at, words, free, added = self.at, self.words, self.free, _only_positions(items)
        for k, item in enumerate(items):
            if item.__class__ is Instr and item.op in _PADDED:  # most of a kernel
                (number, padding), result = _PADDED[item.op], item.results[0]
                places = [at[v] for v in item.operands]
                if into and result in into:
                    place = at[result] = into[result]
                else:
                    place = at[result] = free.pop() if free else self._room()
                    ends[last.get(result, k)].append(place)
                words += (number, *places, *padding, place)
            elif isinstance(item, Instr):
                if added and item.results and item.results[0] in added:
                    a, b = item.operands
                    self.sums[item.results[0]] = at[a], at[b]
                    continue
                self._instruction(item)
                for v in item.results:
                    if v.type != "u" and item.op not in ("const", "iconst"):
                        ends[last.get(v, k)].append(self.at[v])
            elif isinstance(item, Loop):
                self._loop(item)
            else:
                step(item)
            if ends[k]:
                free += ends[k]
        return ends[-1]

    # ---- loops
    def _jump(self, op: str, *words: int) -> int:
        """A jump to what is not written yet; the word to be filled in."""
        self._say(op, *words, 0)
        return len(self.words) - 1

    def _land(self, *jumps: int) -> None:
        for word in jumps:
            self.words[word] = len(self.words)

    def _let(self, op: str, *operands: int) -> int:
        """A new position, computed from others."""
        place = self._uniform()
        self._say(op, *operands, place)
        return place

    def _loop(self, loop: Loop) -> None:
        steps, count, begin, is_outermost = loop.steps(), self.at[loop.count], len(self.words), self.is_outermost
        sums, self.is_outermost = [[self._room() for _ in step.init] for step in steps], False
        if steps and loop.limit > RUN:
            self._tree(loop, steps, sums, count)
        else:
            self._run(loop, steps, sums, self._number(0), count)
        for step, places in zip(steps, sums, strict=True):
            self.at.update(zip(step.results, places, strict=True))
        if is_outermost:
            self.loops.append(LoopCode(loop, begin, len(self.words), sums))
        self.is_outermost = is_outermost

    def _counted(self, first: int, end: int, body: Callable[[int], list[int]]) -> None:
        """body(index) for index = first … end - 1; it returns the jumps that leave the loop."""
        index = self._let("umove", first)
        leave, begin = [self._jump("unless_below", index, end)], len(self.words)
        leave += body(index)
        self._say("turn", index, end, begin)
        self._land(*leave)

    def _run(self, loop: Loop, steps: list[Step], sums: list[list[int]], first: int, end: int,
             earlier: dict[Step, list[int]] | None = None) -> None:
        """The turns first … end - 1 in this order; `sums` are what each step has combined, `earlier` what scans begin with."""
        now, direct = dict(zip(steps, sums, strict=True)), {step for step in steps if not step.prefix and _in_place(step)}
        later = {step: self._rooms(step) for step in steps if step not in direct}
        for step in steps:
            self._moves([self.at[v] for v in step.init], now[step])

        def combine(step: Step) -> None:
            if step in direct:
                self._combine(step, now[step], [self.at[v] for v in step.inputs], now[step])
                return
            self._combine(step, now[step], [self.at[v] for v in step.inputs], later[step])
            if step.prefix:
                so_far = (now if step.exclusive else later)[step]
                if earlier is not None:
                    so_far, right = self._rooms(step), so_far
                    self._combine(step, earlier[step], right, so_far)
                self.at.update(zip(step.prefix, so_far, strict=True))

        def turn(index: int) -> list[int]:
            self.at[loop.index] = index
            more = () if loop.more is None else (loop.more,)
            kept = self._block(loop.body, more, combine)
            leave = [self._jump("unless_any", self.at[v]) for v in more]
            self.free += kept
            for step, places in later.items():
                self._moves(places, now[step])
            return leave
        self._counted(first, end, turn)

    def _rooms(self, step: Step) -> list[int]:
        return [self._room() for _ in step.init]

    def _combine(self, step: Step, left: list[int], right: list[int], into: list[int]) -> None:
        """`into` are places of their own, or those of `left` where a step may work in place."""
        self.at.update(zip(step.left, left, strict=True))
        self.at.update(zip(step.right, right, strict=True))
        if left is into:
            self.free += self._block(step.block, step.combined, into=dict(zip(step.combined, into, strict=True)))
            return
        kept = self._block(step.block, step.combined)
        self._moves([self.at[v] for v in step.combined], into)
        self.free += kept

    # ---- the tree of a long loop: see `kernel/ir.py`
    def _tree(self, loop: Loop, steps: list[Step], sums: list[list[int]], count: int) -> None:
        depth = max(1, (loop.limit // RUN).bit_length() + 1)
        stacks = [[self._room(depth) for _ in step.init] for step in steps]
        runs = self._let("udiv", self._let("uadd", count, self._number(RUN - 1)), self._number(RUN))
        trees = list(zip(steps, stacks, sums, strict=True))

        def one(run: int) -> list[int]:
            first = self._let("umul", run, self._number(RUN))
            end = self._let("umin", self._let("uadd", first, self._number(RUN)), count)
            scans = [(step, stack, self._rooms(step)) for step, stack, _ in trees if step.prefix]
            self._fold(scans, run)
            self._run(loop, steps, sums, first, end, {step: places for step, _, places in scans})
            self._push(trees, run)
            return []
        self._counted(self._number(0), runs, one)
        self._fold(trees, runs)

    def _levels(self, runs: int, body: Callable[[int, int, int], list[int]]) -> int:
        """body(level, the bit of `runs` there, all from there on) for each level; the one at which its jumps have left."""
        rest, level = self._let("umove", runs), self._let("umove", self._number(0))
        begin = len(self.words)
        leave = body(level, self._let("umod", rest, self._number(2)), rest)
        self._say("udiv", rest, self._number(2), rest)
        self._say("uadd", level, self._number(1), level)
        self._say("again", begin)
        self._land(*leave)
        return level

    def _push(self, trees: list[tuple[Step, list[int], list[int]]], run: int) -> None:
        """While the bit of `run` is set: the value is combined with what lies there; then it is put there."""
        def merge(level: int, bit: int, rest: int) -> list[int]:
            leave = self._jump("unless_below", self._number(0), bit)
            self._merge(trees, level)
            return [leave]
        level = self._levels(run, merge)
        for _, stack, values in trees:
            for base, value in zip(stack, values, strict=True):
                self._say("store", base, level, value)

    def _fold(self, trees: list[tuple[Step, list[int], list[int]]], runs: int) -> None:
        """The combination of this number of runs, from the lowest bit that is set to the highest; of none, the neutral
        element.
        """
        some = self._let("umove", self._number(0))
        for step, _, values in trees:
            self._moves([self.at[v] for v in step.init], values)

        def merge(level: int, bit: int, rest: int) -> list[int]:
            leave = self._jump("unless_below", self._number(0), rest)
            clear = self._jump("unless_below", self._number(0), bit)
            first = self._jump("unless_below", self._number(0), some)
            self._merge(trees, level)
            done = self._jump("jump")
            self._land(first)
            for _, stack, values in trees:
                for base, value in zip(stack, values, strict=True):
                    self._say("load", base, level, value)
            self._say("umove", self._number(1), some)
            self._land(done, clear)
            return [leave]
        self._levels(runs, merge)

    def _merge(self, trees: list[tuple[Step, list[int], list[int]]], level: int) -> None:
        """Combines what lies at this level with the values."""
        for step, stack, values in trees:
            below, merged = self._rooms(step), self._rooms(step)
            for base, place in zip(stack, below, strict=True):
                self._say("load", base, level, place)
            self._combine(step, below, values, merged)
            self._moves(merged, values)


def _used_values(item: Loop | Step) -> Iterator[Value]:
    """What an item needs from before it, and more."""
    yield from item.operands
    for inner in item.body if isinstance(item, Loop) else item.block:
        if inner.__class__ is Instr:
            yield from inner.operands
        else:
            yield from _used_values(inner)


def _only_positions(items: list) -> set[Value]:
    """Sums that nothing needs but as positions in memory, in this block."""
    found: set[Value] = {item.results[0] for item in items if item.__class__ is Instr and item.op == "uadd"}
    if found:
        for item in items:
            if item.__class__ is not Instr:
                found.difference_update(_used_values(item))
            elif item.op not in _FROM_SUMS:
                found.difference_update(item.operands)
    return found


def _in_place(step: Step) -> bool:
    """May each result be written where that lies which it is combined with? Nothing reads it after the result's instruction."""
    written = {item.results[0]: k for k, item in enumerate(step.block) if item.__class__ is Instr and item.op in _PADDED}
    if len(set(step.combined)) < len(step.combined) or any(v not in written for v in step.combined):
        return False
    ends = {left: written[v] for left, v in zip(step.left, step.combined, strict=True)}
    return all(k <= ends.get(v, k) for k, item in enumerate(step.block)
               for v in (item.operands if item.__class__ is Instr else _used_values(item)))
