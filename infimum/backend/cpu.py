"""The CPU: a lane is an element of a SIMD vector, LLVM compiles, threads share the blocks of lanes."""

import ctypes
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextvars import Context
from dataclasses import replace
from functools import cache
from struct import pack
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakValueDictionary

import llvmlite.binding as llvm
import numpy as np

from infimum.backend import worker_threads as workers
from infimum.backend.arrays import HostArrays
from infimum.backend.bytecode import Program, encode
from infimum.backend.interpreter import interpreter
from infimum.backend.llvm_text import Renderer, lane_body
from infimum.backend.processor import ATTRIBUTES, LOCK, PARAMETERS, PLAIN, KernelWrapper, Module, address, host
from infimum.backend.simd import ArmSpelling, SimdSpelling
from infimum.backend.worker_threads import thread_count
from infimum.errors import InternalError
from infimum.kernel.ir import Function, Kernel, Loop
from infimum.support.clock import check_time, left, stop_if_over, stop_unless_left
from infimum.support.digests import blake2b
from infimum.support.lazy import LazyModule, dataclass

if TYPE_CHECKING:
    from infimum.backend import hot_loops
    from infimum.backend import llvm_routines as routines
else:
    hot_loops, routines = LazyModule("backend.hot_loops"), LazyModule("backend.llvm_routines")

_library: dict[str, "_LibraryEntry"] = {}  # by their symbols
_routines: "WeakValueDictionary[str, Module]" = WeakValueDictionary()  # by their symbols; the code that calls them holds them
_compiled: "OrderedDict[str, CompiledKernel]" = OrderedDict()
_KEPT_KERNELS = 256
_MODULE = 4000  # lines of LLVM IR that are compiled at once where there are many
_CONTEXT = {"%data": "ptr", "%udata": "ptr", "%stride": "i64", "%k": "i64"}  # what a routine needs beside arrays and buffers
_PIECE_SECONDS, _TURNS_SECONDS = 0.1, 0.05
# instructions that are run for each line before it is compiled again: about three times what that takes
_INSTRUCTIONS_A_LINE = 3 << 18
# words that are interpreted for each word of a program before it is compiled: half of what that takes
_INTERPRETED_WORDS_A_WORD = 3 << 11
_HOT_WEIGHT = 1 << 14    # instructions that a lane runs, about, before one asks whether a few loops are most of them
_WORDS_AN_INSTRUCTION = 4  # of interpreted programs: the operation, two or three operands, the result
_LINE_SECONDS = 3e-4     # that a line takes to be compiled in the better way, on a slow machine
_WORD_SECONDS = 6e-5     # that a word of an interpreted program takes to be compiled in the plain way, as well
_LOOPED_WORD_SECONDS = 1e-9  # that a word in a loop takes to be interpreted, as loops may end early
_FIRST_VECTORS = 8       # vectors for each thread that are interpreted before it is asked what that cost
_INTERPRETED_FACTOR = 16  # how much longer a box takes than by the first guess, which is one of machine code
_EARLY_END_FACTOR = 4    # times sooner than at their limit rounds end, about
# lanes and seconds: for as few boxes, each taking longer, narrow vectors are used, since idle lanes cost memory and time
_NARROW_LANES, _LONG_SECONDS = 2, 1e-3


@dataclass(frozen=True, slots=True)
class _LibraryEntry:
    """An elementary function in machine code, and the module that holds it."""

    function: Function
    module: Module


class _MachineCode(NamedTuple):
    """The module of a kernel, the modules whose code it uses, its doubles of scratch memory, and the program that an interpreter
    runs, if it is interpreted."""

    module: Module
    needs: list[Module]
    doubles: int
    program: Program | None = None


class _Improvement(NamedTuple):
    """How faster code is made, if it can be: once the kernel has done this amount of work, which is `worth` the time, and if
    there is time for what compiling `takes`, in seconds."""

    make: "Callable[[], CompiledKernel] | None"
    worth: float
    takes: float


class CompiledKernel:
    """A kernel in machine code; call `run`. Holds the modules whose code it uses.

    Where there is an `improvement`, it is compiled again, in the way that takes longer and makes faster code, once it has run for
    enough boxes. `narrow` makes the kernel for fewer lanes.
    """

    def __init__(self, kernel: Kernel, lanes: int, code: _MachineCode, narrow: Callable[[], "CompiledKernel"] | None,
                 improvement: _Improvement):
        self.lanes, self.ir, self._narrow = lanes, code.module.ir, narrow
        self._module, self._needs = code.module, code.needs
        self._code = code.module.address("work"), code.doubles, code.program
        weight = _weight(kernel.body)
        self._cost = 0.3e-9 * weight  # seconds a box: a guess until measured
        self._better, self._worth, self._takes = improvement
        self._boxes = 0
        # words that a vector runs in loops beside those of the program, about: a single one may take long, and is not cut
        self._looped = max(0.0, _WORDS_AN_INSTRUCTION * weight - len(code.program.words)) if code.program is not None else 0.0
        if code.program is None:
            self._worth /= weight

    def run(self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], data: np.ndarray, udata: np.ndarray,
            threads: int = 1, times: int = 1) -> None:
        """Runs every lane. Arrays are C-contiguous float64 of shape (rows, N), all with the same N; outputs overlap no input.

        `times`: so often, to and fro; the second time from the outputs to the inputs, whose shapes are then the same.
        """
        count = (inputs[0] if inputs else outputs[0]).shape[1]
        if count == 0 or times == 0:
            return
        self._boxes += max(count, self.lanes) * times
        self._improve_if_worth_it(self._looped)
        if self._code[2] is not None and self._takes >= left():
            stop_unless_left(_LOOPED_WORD_SECONDS * self._looped)
        if count < self.lanes:
            small = count > _NARROW_LANES or self._cost < _LONG_SECONDS or self._narrow is None or self._takes >= left()
            (self if small or self.lanes == _NARROW_LANES else self._narrow())._run_padded(inputs, outputs, data, udata, count,
                                                                                           times)
            return
        # long runs are cut: the clock and Ctrl-C are heard between the pieces, and what they were shows what the others will cost
        begin = 0
        while begin < count:
            stop_if_over()
            piece = max(self.lanes, int(_PIECE_SECONDS * threads / max(self._cost, 1e-12)))
            if self._code[2] is not None:
                vectors = int(_PIECE_SECONDS / (_INTERPRETED_FACTOR * self.lanes * max(self._cost, 1e-12)))
                piece = min(piece, max(min(max(vectors, 1), _FIRST_VECTORS) * self.lanes * threads, begin))
            end = count if count - begin < 2 * piece else begin + piece
            self._run_piece((inputs, outputs), (data, udata), range(begin, end), threads, times)
            begin = end
            if begin < count and self._code[2] is not None:
                self._improve_if_worth_it()

    def _run_piece(self, arrays: tuple[Sequence[np.ndarray], Sequence[np.ndarray]], data: tuple[np.ndarray, np.ndarray],
                   boxes: range, threads: int, times: int) -> None:
        """These boxes, at least as many as lanes. `arrays`: inputs and outputs; `data`: constant doubles and positions."""
        (inputs, outputs), begin, count = arrays, boxes.start, len(boxes)
        stride = (inputs[0] if inputs else outputs[0]).shape[1]
        threads, block = self._split(count, threads)
        there, back = [address(a) + 8 * begin for a in inputs], [address(a) + 8 * begin for a in outputs]
        counter, (work, doubles, program) = ctypes.c_int64(0), self._code
        words = [] if program is None else [address(program.words)]
        slots = f"{len(words) + len(there) + len(back)}q"
        first = second = pack(slots, *words, *there, *back)
        if times > 1:
            second = pack(slots, *words, *back, *there)
        scratch = [np.empty(doubles + 8) for _ in range(threads)]
        constants = address(data[0]), address(data[1])
        aligned = [-(-address(s) // 64) * 64 for s in scratch]
        # threads that share boxes meet after each time; one alone continues, but returns often enough for Ctrl-C
        most = 1 if threads > 1 else max(1, int(_TURNS_SECONDS / (count * max(self._cost, 1e-12))))
        while times:
            counter.value, turns = 0, min(most, times)
            seconds = workers.run(KernelWrapper.call,
                                  [(work, first, *constants, s, stride, count, block, ctypes.addressof(counter),
                                    second, turns) for s in aligned], shared=True)
            times -= turns
            first, second = (second, first) if turns % 2 else (first, second)
        if count >= 1024 or seconds > _LONG_SECONDS:
            self._cost = seconds * threads / (count * turns)

    def _improve_if_worth_it(self, ahead: float = 0.0) -> None:
        """By boxes; what is interpreted counts what it has run, and the words that are `ahead` at least."""
        if self._better is not None:
            program = self._code[2]
            run = self._boxes if program is None else program.run(self._boxes // self.lanes) + ahead
            if run >= self._worth and self._takes < left():
                self._improve()

    def _improve(self) -> None:
        """Takes the better code, which has the same bits. Another thread may be running what is here: it stays. Out of any run's
        watch: in the middle of a step nothing is given up. Nothing hears the clock meanwhile, so it must have the time."""
        make, self._better = self._better, None
        if make is not None:
            better = Context().run(make)
            self._needs = [*self._needs, self._module, *better._needs]
            self._module, self._code = better._module, better._code
            self._better, self._worth, self._takes, self._narrow = better._better, better._worth, better._takes, better._narrow
            self._looped = better._looped

    def _split(self, count: int, threads: int) -> tuple[int, int]:
        """How many threads share the boxes, and in blocks of how many: about a millisecond each, in whole vectors.

        A thread is woken only for work that takes longer than waking it. Both numbers change the speed, never a bit.
        """
        threads = max(1, min(threads, int(count * self._cost / 0.1e-3)))
        boxes = min(max(1, int(1e-3 / max(self._cost, 1e-10))), -(-count // threads))
        block = -(-boxes // self.lanes) * self.lanes
        return min(threads, -(-count // block)), block

    def _run_padded(self, inputs, outputs, data, udata, count: int, times: int) -> None:
        arrays, wide, begin = [*inputs, *outputs], [], 0
        room = np.empty((sum(map(len, arrays)), self.lanes))
        for a in arrays:
            wide.append(part := room[begin:begin + len(a)])
            part[:, :count] = a  # of the outputs too: a kernel need not write every row
            part[:, count:] = a[:, :1]
            begin += len(a)
        self.run(wide[:len(inputs)], wide[len(inputs):], data, udata, times=times)
        first = 0 if times > 1 else len(inputs)
        for part, a in zip(wide[first:], arrays[first:], strict=True):
            a[...] = part[:, :count]

    @property
    def cost(self) -> float:
        """Seconds a box, of one thread."""
        return self._cost

    def assembly(self) -> str:
        """The machine code as text, for tests that read it."""
        return self._module.assembly()


def _weight(items: list) -> float:
    """Roughly how many instructions a lane's turn costs."""
    return sum(_turns(item) * _weight(item.body) if isinstance(item, Loop) else 1 for item in items) or 1.0


def _interpreted(size: int, make: Callable[[], CompiledKernel]) -> _Improvement:
    """How a program is improved by compiling this number of its words."""
    return _Improvement(make, _INTERPRETED_WORDS_A_WORD * size, _WORD_SECONDS * size)


def _lines(work: str, routines: dict[str, str]) -> int:
    """Of LLVM IR that are compiled for a kernel."""
    return sum(text.count("\n") for text in (work, *routines.values()))


def _turns(loop: Loop) -> float:
    return max(1, loop.limit / (1 if loop.more is None else _EARLY_END_FACTOR))


def _kept(key: str, make: Callable[[], CompiledKernel]) -> CompiledKernel:
    """What an equal kernel has become before, or what is made now."""
    with LOCK:
        found = _compiled.get(key)
        if found is None:
            found = _compiled[key] = make()
            if len(_compiled) > _KEPT_KERNELS:
                _compiled.popitem(last=False)
        _compiled.move_to_end(key)
        return found


class CpuBackend:
    """Compiles kernels for this processor; `lanes`, `threads` and `plain`, LLVM's way that takes least, change the speed, never a
    bit."""

    name = "cpu"
    arrays = HostArrays()

    def __init__(self, lanes: int | None = None, threads: int | None = None, plain: bool = False):
        self.lanes, self.plain = lanes or host().lanes, plain
        # one lane is no vector: LLVM's scalar code takes a negation inside a rounding on 64-bit Arm
        if self.lanes < _NARROW_LANES:
            raise InternalError(f"the CPU's kernels have {_NARROW_LANES} lanes at least, not {self.lanes}")
        self.threads = thread_count(threads)
        self.spelling = (ArmSpelling if host().arm else SimdSpelling)(self.lanes)

    def compile(self, kernel: Kernel) -> CompiledKernel:
        """Machine code for the kernel, from the cache if an equal one was compiled before; if it is wanted soon, plain code until
        better one is worth its price."""
        if kernel.soon and not self.plain:
            return self.interpret(kernel)
        work, routines, doubles = self._texts(kernel)
        told = [work, *routines, str(kernel.buffers), str(self.plain), *host().settings()]  # sizes may not be in it
        key = blake2b("|".join(told).encode()).hexdigest()
        if not self.plain and key not in _compiled and left() < _LINE_SECONDS * _lines(work, routines):
            return self.interpret(kernel)  # nothing hears the clock while LLVM compiles
        return _kept(key, lambda: self._compile(kernel, work, routines, doubles))

    def interpret(self, kernel: Kernel) -> CompiledKernel:
        """A program for the interpreter, until plain code is worth its price."""
        plain = CpuBackend(self.lanes, self.threads, plain=True)
        program = encode(kernel, self.lanes)
        if program is None:
            return plain.compile(kernel)

        def make() -> CompiledKernel:
            code = _MachineCode(interpreter(self.spelling), [], program.doubles, program)
            hot = hot_loops.hot_loops(program, kernel.body, _weight) if _weight(kernel.body) > _HOT_WEIGHT else []
            improvement = _interpreted(hot_loops.words_of(hot), lambda: self._with_native(kernel, program, hot)) if hot else \
                _interpreted(len(program.words), lambda: plain.compile(kernel))
            return CompiledKernel(kernel, self.lanes, code, None, improvement)
        told = f"{self.lanes} {program.doubles} {kernel.inputs}".encode()
        return _kept(blake2b(program.words.tobytes() + told).hexdigest(), make)

    def _with_native(self, kernel: Kernel, program: Program, loops: list) -> CompiledKernel:
        """The program, still interpreted but for these loops, until the rest is worth its price as well."""
        plain = CpuBackend(self.lanes, self.threads, plain=True)
        rest = replace(kernel, body=[item for item in kernel.body if item not in [code.loop for code in loops]])
        functions = replace(kernel, body=[code.loop for code in loops]).functions()
        module = self._module(functions, self._frame(functions, *hot_loops.definitions(self.spelling, kernel, program, loops)))
        needs = [module, *(_library[self._symbol(f.name)].module for f in functions)]
        addresses = [module.address(self._symbol(f"loop{k}")) for k in range(len(loops))]
        code = _MachineCode(interpreter(self.spelling), needs, program.doubles, hot_loops.with_native(program, loops, addresses))
        return CompiledKernel(rest, self.lanes, code, None, _interpreted(len(program.words), lambda: plain.compile(kernel)))

    def _compile(self, kernel: Kernel, work: str, routines: dict[str, str], doubles: int) -> CompiledKernel:
        functions = kernel.functions()
        needs = self._routine_modules(functions, routines)
        module = self._module(functions, work)
        needs += [_library[self._symbol(f.name)].module for f in functions]
        lines = _lines(work, routines)
        better = (lambda: CpuBackend(self.lanes).compile(replace(kernel, soon=False))) if self.plain and lines <= PLAIN else None
        narrow = cache(lambda: CpuBackend(_NARROW_LANES, plain=self.plain).compile(kernel))
        improvement = _Improvement(better, _INSTRUCTIONS_A_LINE * lines, _LINE_SECONDS * lines)
        return CompiledKernel(kernel, self.lanes, _MachineCode(module, needs, doubles), narrow, improvement)

    def _routine_modules(self, functions: list[Function], routines: dict[str, str]) -> list[Module]:
        """The modules of the routines, those that are there already among them. Each is short: between two the clock is heard."""
        symbols = {self._symbol(name): text for name, text in routines.items()}
        found = {s: _routines[s] for s in symbols if s in _routines}
        new = [s for s in symbols if s not in found]
        plain = self.plain or sum(symbols[s].count("\n") for s in new) > PLAIN
        while new:
            check_time()
            some, lines = [], 0
            while new and lines < _MODULE:
                some.append(new.pop())
                lines += symbols[some[-1]].count("\n")
            module = self._module(functions, self._frame(functions, *(symbols[s] for s in some)), plain)
            for s in some:
                found[s] = _routines[s] = module
                llvm.add_symbol(s, module.address(s))
        return list(dict.fromkeys(found.values()))

    def _module(self, functions: list[Function], ir: str, plain: bool = False) -> Module:
        """Elementary functions that no earlier module brought along are compiled with this one and kept for all later ones."""
        new = [f for f in functions if not self._known(f)]
        module = Module(KernelWrapper.text() + self.defining(new, ir), plain or self.plain)
        KernelWrapper.found_in(module)
        for f in new:
            _library[self._symbol(f.name)] = _LibraryEntry(f, module)
            llvm.add_symbol(self._symbol(f.name), module.address(self._symbol(f.name)))
        return module

    def defining(self, functions: list[Function], ir: str) -> str:
        """The text with definitions of these functions in place of their declarations."""
        for f in functions:
            ir = ir.replace(self._named(Renderer(self.spelling).declare(f)), self._named(self._definition(f)))
        return ir

    def _known(self, f: Function) -> bool:
        entry = _library.get(self._symbol(f.name))
        if entry is not None and entry.function is not f and self._definition(entry.function) != self._definition(f):
            raise ValueError(f"two different functions are called {f.name}")
        return entry is not None

    def _definition(self, f: Function) -> str:
        return Renderer(self.spelling).function(f)

    def _symbol(self, name: str) -> str:
        return f"infimum_{name}_{self.lanes}{'_plain' if self.plain else ''}"

    def _named(self, ir: str) -> str:
        """Functions of the library carry their number of lanes in their symbol, and how they are compiled."""
        return re.sub(r"@(?!llvm\.|work\()(\w+)\(", lambda m: f"@{self._symbol(m[1])}(", ir)

    def text(self, kernel: Kernel) -> str:
        """The kernel's LLVM IR."""
        work, parts, _ = self._texts(kernel)
        for name, text in parts.items():
            work = work.replace(self._named(routines.declared(name)), self._named(text))
        return work

    def _texts(self, kernel: Kernel) -> tuple[str, dict[str, str], int]:
        """(the LLVM IR of the kernel but for its routines, the definition of each of these, the doubles of scratch)."""
        functions = kernel.functions()
        r = routines.RoutineRenderer(self.spelling, kernel, _CONTEXT)
        stacks, prologue, lane, start, end = lane_body(r, r.kernel)
        slots = [f"in{i}" for i in range(kernel.inputs)] + [f"out{i}" for i in range(kernel.outputs)]
        setup = []
        for i, name in enumerate(slots):
            setup += [f"  %at.{name} = getelementptr ptr, ptr %arrays, i64 {i}", f"  %{name} = load ptr, ptr %at.{name}"]
        offset = 0
        for i, size in enumerate(r.kernel.buffers):
            setup.append(f"  %buf{i} = getelementptr {self.spelling.lane}, ptr %scratch, i64 {offset}")
            offset += size
        body = _WORK.format(stacks="\n".join(stacks), setup="\n".join(setup + prologue), lanes=self.lanes, start=start,
                            lane="\n".join(lane), end=end, parameters=PARAMETERS)
        return self._frame(functions, *r.declarations(), body), r.routines, offset * self.lanes

    def _frame(self, functions: list[Function], *texts: str) -> str:
        """Definitions with all that they call."""
        r = Renderer(self.spelling)
        return self._named("\n".join([self.spelling.declarations(), *(r.declare(f) for f in functions), *texts, ATTRIBUTES]))


# Takes blocks from a shared counter until none is left. The last vector of the last block is moved back so that it ends
# with the last box: some boxes are then computed twice, with the same bits.
_WORK = """
define void @work({parameters}) #0 {{
entry:
{stacks}
{setup}
  %last = sub i64 %total, {lanes}
  br label %fetch
fetch:
  %number = atomicrmw add ptr %counter, i64 1 monotonic
  %first = mul i64 %number, %block
  %some = icmp slt i64 %first, %total
  br i1 %some, label %go, label %finish
go:
  %full = add i64 %first, %block
  %whole = icmp slt i64 %full, %total
  %stop = select i1 %whole, i64 %full, i64 %total
  br label %{start}
{start}:
  %at = phi i64 [ %first, %go ], [ %after, %{end}.next ]
  %back = icmp slt i64 %last, %at
  %k = select i1 %back, i64 %last, i64 %at
{lane}
  br label %{end}.next
{end}.next:
  %after = add i64 %at, {lanes}
  %again = icmp slt i64 %after, %stop
  br i1 %again, label %{start}, label %fetch
finish:
  ret void
}}"""
