"""Loops of an interpreted kernel in machine code: the few that most words are run in, and nothing else is compiled.

A linear program in a lane is a loop of some hundred words in a kernel of ten thousand. It is compiled as a function that finds
what it needs where the interpreter has put it, and leaves its results where the interpreter looks for them: `native` calls it in
the place of the loop's words. What it computes is written by the `Renderer` of compiled kernels, so that the bits are the same.
"""

from collections.abc import Callable

import numpy as np

from infimum.backend.bytecode import HEADER, NUMBER, LoopCode, Program
from infimum.backend.llvm_text import LEAVES, Renderer, Text
from infimum.backend.simd import SimdSpelling
from infimum.kernel.ir import Instr, Kernel, Loop, Value, walk

_SHARE, _MOST_WORDS = 0.75, 0.7  # parts of a kernel's cost that they are at least, and of its words at most, compiled well
_LEAST_TURNS = 1000              # turns of a word of theirs for each lane, about: with fewer, little is left when it pays
_MODULE_WORDS = 400              # that a module takes as long as, however short it is
_WELL = 2                        # times as long as in the plain way loops take to be compiled well, which they are at once
_PARAMETERS = "ptr %lists, ptr %data, ptr %udata, ptr %scratch, i64 %stride, i64 %k"


def hot_loops(program: Program, body: list, weight: Callable[[list], float]) -> list[LoopCode]:
    """The fewest that make up most of the kernel's `weight`, which is about what it costs; none if they are most of it."""
    weights, wanted, found = {code: weight([code.loop]) for code in program.loops}, _SHARE * weight(body), []
    for code in sorted(program.loops, key=lambda code: -weights[code]):
        found.append(code)
        if sum(weights[code] for code in found) >= wanted:
            often = 4 * sum(weights[code] for code in found) >= _LEAST_TURNS * sum(code.end - code.begin for code in found)
            return found if often and words_of(found) <= _MOST_WORDS * len(program.words) else []
    return []


def words_of(loops: list[LoopCode]) -> int:
    """What compiling them takes, in words of programs that are compiled in the plain way."""
    return _WELL * (_MODULE_WORDS + sum(code.end - code.begin for code in loops))


def definitions(spelling: SimdSpelling, kernel: Kernel, program: Program, loops: list[LoopCode]) -> list[str]:
    """Functions `loop0`, … in LLVM IR."""
    leaves = {i.results[0]: i for i in kernel.prologue if i.op in LEAVES}
    return [_definition(Renderer(spelling), f"loop{k}", code, program, kernel.inputs, leaves) for k, code in enumerate(loops)]


def _definition(r: Renderer, name: str, code: LoopCode, program: Program, inputs: int, leaves: dict[Value, Instr]) -> str:
    t, s = Text(r.s), r.s
    items = list(walk([code.loop]))
    memory = [i for i in items if i.__class__ is Instr and i.op in ("load", "store", "input", "output")]
    for buffer in dict.fromkeys(i.attr for i in memory if i.op in ("load", "store")):
        t.lines.append(f"  %buf{buffer} = getelementptr i8, ptr %scratch, i64 {program.buffers[buffer]}")
    for op, slot in dict.fromkeys((i.op, i.attr) for i in memory if i.op in ("input", "output")):
        array, at = (f"%in{slot}", slot) if op == "input" else (f"%out{slot}", inputs + slot)
        t.lines += [f"  {array}.at = getelementptr ptr, ptr %lists, i64 {at}", f"  {array} = load ptr, ptr {array}.at"]
    for value in _given(items):
        if value in leaves:
            r.instruction(t, leaves[value])
            continue
        at = t.let(f"getelementptr i8, ptr %scratch, i64 {program.places[value]}")
        t.names[value] = t.let(f"load i64, ptr {at}, align 8") if value.type == "u" else \
            s.from_double(t, value.type, t.let(f"load {s.lane}, ptr {at}"))
    r.loop(t, code.loop)
    for step, places in zip(code.loop.steps(), code.results, strict=True):
        for value, place in zip(step.results, places, strict=True):
            at = t.let(f"getelementptr i8, ptr %scratch, i64 {place}")
            t.lines.append(f"  store {s.lane} {t.of(value)}, ptr {at}")
    return "\n".join([f"define void @{name}({_PARAMETERS}) #0 {{", "entry:", *t.stacks, *t.lines, "  ret void", "}"])


def _given(items: list) -> list[Value]:
    """The values that a loop needs from before it."""
    used: dict[Value, None] = {}
    own: set[Value] = set()
    for item in items:
        used |= dict.fromkeys(item.operands)
        if item.__class__ is Instr:
            own.update(item.results)
        elif isinstance(item, Loop):
            own.add(item.index)
        else:
            own.update((*item.left, *item.right, *item.results, *item.prefix))
    return [v for v in used if v not in own]


def with_native(program: Program, loops: list[LoopCode], addresses: list[int]) -> Program:
    """The program that calls the functions at these addresses in the place of its loops."""
    words = program.words.copy()
    words[2:HEADER] = 0
    for code, address in zip(loops, addresses, strict=True):
        at = int(words[0]) + code.begin
        words[at:at + 5] = [NUMBER["native"], *np.array([address]).view(np.int32), NUMBER["jump"], code.end]
    left = [code for code in program.loops if code not in loops]
    return Program(words, program.doubles, words[2:HEADER].view(np.int64), left, program.places, program.buffers)
