"""Routines: long straight-line code, cut into parts that are compiled once each.

A Python loop in the user's function becomes straight-line code. LLVM takes more than linear time in its length, and most of its
parts are equal but for where their numbers come from. So a long run of instructions is cut into routines of a few hundred, which
hand their values on in a buffer of slots; a table of positions tells each call of a routine where they lie. Equal parts are then
equal texts. Neither the instructions nor their order change, so that the bits are the same.

Cuts are placed by content: where a hash of the last instructions is least. So the turns of the loop are cut alike, wherever they
begin and however long they are.
"""

from dataclasses import field, replace
from zlib import crc32

from infimum.kernel.ir import CALLS, PRIMITIVES, Instr, Kernel, Loop, Step, Value
from infimum.support.clock import check_time
from infimum.support.lazy import dataclass

LONG_CODE = 4096  # straight-line code of more instructions is cut,
_LONG_IF_SOON = 1 << 14  # or of this number, where it is compiled plainly: that takes time in proportion, and slots take some too
_LEAST_INSTRUCTIONS, _MOST_INSTRUCTIONS = 128, 768  # instructions of a routine
_WINDOW = 8  # instructions that a cut depends on
_PLACED = frozenset(("data", "input", "load", "store", "output"))  # the first operand is a position
_UNIFORM = frozenset(("udata", *(op for op, (takes, _) in PRIMITIVES.items() if "u" in takes)))


@dataclass(slots=True, eq=False)
class RoutineBody:
    """Instructions of one routine, and the values of theirs that later ones need."""

    items: list[Instr]
    results: list[Value] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class RoutineSequence:
    """Parts one after the other. `slot` of each value that a part hands on; `given` are values from before the run, `kept` those
    that are needed after it."""

    parts: list[RoutineBody]
    slot: list[dict[Value, int]] = field(default_factory=list)  # of each part: its operands from elsewhere and its results
    given: list[tuple[Value, int]] = field(default_factory=list)
    kept: list[tuple[Value, int]] = field(default_factory=list)


def with_routines(kernel: Kernel) -> Kernel:
    """The kernel with its long runs cut, and one more buffer for their slots; the kernel itself if it has none."""
    leaves = {i.results[0]: i.op for i in kernel.prologue if i.op in ("const", "iconst", "uconst")}
    runs: list[RoutineSequence] = []
    body = _cut(kernel.body, leaves, runs, _LONG_IF_SOON if kernel.soon else LONG_CODE)
    if not runs:
        return kernel
    check_time()
    used = _used_outside(body)
    slots = max(_place(run, leaves, used) for run in runs)
    return replace(kernel, body=body, buffers=[*kernel.buffers, slots], homes=[*kernel.homes, 1])


def _cut(items: list, leaves: dict[Value, str], runs: list[RoutineSequence], long: int) -> list:
    result: list = []
    straight: list[Instr] = []

    def end() -> None:
        if len(straight) > long:
            runs.append(RoutineSequence([RoutineBody(straight[a:b]) for a, b in _cuts(straight)]))
            result.append(runs[-1])
        else:
            result.extend(straight)
        straight.clear()
    for item in items:
        if isinstance(item, Instr) and _fits(item, leaves):
            straight.append(item)
            continue
        end()
        result.append(replace(item, body=_cut(item.body, leaves, runs, long)) if isinstance(item, Loop) else item)
    end()
    return result


def _fits(item: Instr, leaves: dict[Value, str]) -> bool:
    """Can it stand in a routine? Positions must be known before, since slots hold no integers that are the same in all lanes."""
    return item.operands[0] in leaves if item.op in _PLACED else item.op not in _UNIFORM


def _cuts(items: list[Instr]) -> list[tuple[int, int]]:
    check_time()
    code: dict[tuple, bytes] = {}
    codes = []
    for item in items:
        key = (item.op, item.attr if item.op in CALLS else None)
        if key not in code:
            code[key] = crc32(f"{item.op} {item.attr.name if item.op in CALLS else ''}".encode()).to_bytes(4, "little")
        codes.append(code[key])
    text = b"".join(codes)
    hashes = [crc32(text[4 * (i - _WINDOW):4 * i]) for i in range(_WINDOW, len(items))]
    found, start = [], 0
    while len(items) - start > _MOST_INSTRUCTIONS:
        window = hashes[start + _LEAST_INSTRUCTIONS - _WINDOW:start + _MOST_INSTRUCTIONS - _WINDOW]
        end = start + _LEAST_INSTRUCTIONS + window.index(min(window))
        found.append((start, end))
        start = end
    return [*found, (start, len(items))]


def _used_outside(items: list) -> set[Value]:
    """The values that something outside runs needs, or several runs."""
    used: set[Value] = set()
    for item in items:
        if isinstance(item, RoutineSequence):
            inside = {v for part in item.parts for i in part.items for v in i.results}
            used |= {v for part in item.parts for i in part.items for v in i.operands} - inside
        elif isinstance(item, Loop):
            used |= _used_outside(item.body) | {*item.operands}
        elif isinstance(item, Step):
            used |= _used_outside(item.block) | {*item.operands}
        else:
            used.update(item.operands)
    return used


def _place(run: RoutineSequence, leaves: dict[Value, str], used: set[Value]) -> int:
    """Gives a slot to every value that is handed on, for as long as it is needed; returns how many slots there are."""
    check_time()
    home = {v: k for k, part in enumerate(run.parts) for i in part.items for v in i.results}
    last: dict[Value, int] = {}
    for k, part in enumerate(run.parts):
        for item in part.items:
            for v in item.operands:
                if v not in leaves and home.get(v, -1) != k:
                    last[v] = k
    kept = [v for v in home if v in used]
    last |= dict.fromkeys(kept, len(run.parts))
    ends: list[list[Value]] = [[] for _ in range(len(run.parts) + 1)]
    for v, k in last.items():
        ends[k].append(v)
    free: list[int] = []
    place: dict[Value, int] = {}
    count = 0
    given = [v for v in last if v not in home]
    for k in range(-1, len(run.parts)):
        part = run.parts[k] if k >= 0 else None
        if part is not None:
            run.slot.append({v: place[v] for i in part.items for v in i.operands if v in place})
            free += sorted((place[v] for v in ends[k]), reverse=True)
            part.results = [v for i in part.items for v in i.results if v in last]
        for v in given if part is None else part.results:
            if not free:
                free.append(count)
                count += 1
            place[v] = free.pop()
            if part is not None:
                run.slot[-1][v] = place[v]
    run.given = [(v, place[v]) for v in given]
    run.kept = [(v, place[v]) for v in kept]
    return count


def shape_of(part: RoutineBody, slots: dict[Value, int], places: dict[Value, int]) -> tuple[tuple, list[int]]:
    """(what a part does, apart from where its operands lie; these positions, as its routine reads them). `slots` and `places` are
    of values that it does not compute: those of the run, and positions that are known. All others are constants."""
    known: dict[Value, object] = {}
    positions: list[int] = []
    rows: list[tuple] = []
    for item in part.items:
        refs = []
        for v in item.operands:
            ref = known.get(v)
            if ref is None:
                at = slots.get(v, places.get(v))
                ref = known[v] = v if at is None else -len(positions) - 1
                if at is not None:
                    positions.append(at)
            refs.append(ref)
        for v in item.results:
            known[v] = len(known)
        rows.append((item.op, item.attr, *refs))
    rows.append(tuple([known[v] for v in part.results]))
    return tuple(rows), positions + [slots[v] for v in part.results]
