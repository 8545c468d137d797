"""A machine that runs PTX, one thread after another, in exact arithmetic: the GPU backend's text is tested where no GPU is.

It knows the instructions that LLVM writes for our kernels and refuses any other. A register holds 64 bits as an integer from 0 to
2**64 - 1 or a truth value; doubles are computed as `backend/python.py` defines them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from infimum.backend.code_lint import calls_on_one_line
from infimum.backend.python import OPERATIONS, WORD

Operand = int | str | tuple  # a number, the name of a register or symbol, (base, offset) of an address, or a list of registers

_ADDED = -2      # instead of the thread that touched a word: any number of them added to it, or raised it
_LOCAL = 1 << 60  # where the stacks of threads begin: no address of an array


def _signed(x: int, bits: int = 64) -> int:
    x &= (1 << bits) - 1
    return x - (x >> bits - 1 << bits)


def _quotient(x: int, y: int) -> int:
    x, y = _signed(x), _signed(y)
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def _comparisons() -> dict[str, Callable]:
    """setp: doubles (false for NaN, or true with a u at the end) and integers."""
    either = OPERATIONS["uno"]
    plain = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq"}
    tests = {word: OPERATIONS[op] for word, op in plain.items()}
    tests["ne"] = lambda x, y: not either(x, y) and not OPERATIONS["oeq"](x, y)
    found: dict[str, Callable] = {"setp.nan.f64": either, "setp.num.f64": lambda x, y: not either(x, y)}
    for word, test in tests.items():
        found[f"setp.{word}.f64"] = test
        found[f"setp.{word}u.f64"] = lambda x, y, test=test: either(x, y) or test(x, y)
    whole = {"lt": int.__lt__, "le": int.__le__, "gt": int.__gt__, "ge": int.__ge__, "eq": int.__eq__, "ne": int.__ne__}
    for word, test in whole.items():
        for bits in (32, 64):
            found[f"setp.{word}.s{bits}"] = lambda x, y, test=test, bits=bits: test(_signed(x, bits), _signed(y, bits))
            for kind in "ub":
                found[f"setp.{word}.{kind}{bits}"] = lambda x, y, test=test, m=(1 << bits) - 1: test(x & m, y & m)
    return found


_COMPUTE: dict[str, Callable] = {
    **{f"{op}.rp.f64": OPERATIONS[op] for op in ("add", "sub", "mul", "div", "sqrt", "fma")},
    "abs.f64": OPERATIONS["abs"], "neg.f64": OPERATIONS["neg"],
    "cvt.rmi.f64.f64": OPERATIONS["floor"], "cvt.rni.f64.f64": OPERATIONS["roundeven"],
    **_comparisons(),
    **{f"selp.{kind}": lambda x, y, p: x if p else y for kind in ("b64", "f64", "b32", "u64", "s64")},
    **{f"mov.{kind}": lambda x: x for kind in ("b64", "u64", "f64", "b32", "u32")}, "mov.pred": lambda x: bool(x),
    "and.pred": lambda p, q: p and q, "or.pred": lambda p, q: p or q, "xor.pred": lambda p, q: p != q,
    "not.pred": lambda p: not p,
    **{f"add.{kind}": lambda x, y: x + y for kind in ("s64", "u64")}, "sub.s64": lambda x, y: x - y, "neg.s64": lambda x: -x,
    "mul.lo.s64": lambda x, y: x * y, "mad.lo.s64": lambda x, y, z: x * y + z,
    "mul.wide.u32": lambda x, y: (x & 0xFFFFFFFF) * (y & 0xFFFFFFFF),
    "div.s64": _quotient, "rem.s64": lambda x, y: _signed(x) - _quotient(x, y) * _signed(y),
    "div.u32": lambda x, y: (x & 0xFFFFFFFF) // (y & 0xFFFFFFFF), "rem.u32": lambda x, y: (x & 0xFFFFFFFF) % (y & 0xFFFFFFFF),
    "min.s64": lambda x, y: min(_signed(x), _signed(y)), "max.s64": lambda x, y: max(_signed(x), _signed(y)),
    "min.u64": min, "max.u64": max,
    "and.b64": int.__and__, "or.b64": int.__or__, "xor.b64": int.__xor__, "not.b64": lambda x: ~x,
    "and.b32": lambda x, y: x & y & 0xFFFFFFFF,
    "shl.b32": lambda x, n: (x & 0xFFFFFFFF) << min(n & 0xFFFFFFFF, 32) & 0xFFFFFFFF,
    "shf.l.wrap.b32": lambda low, high, n: (high << 32 | low & 0xFFFFFFFF) << (n & 31) >> 32 & 0xFFFFFFFF,
    "shl.b64": lambda x, n: x << min(n & 0xFFFFFFFF, 64), "shr.u64": lambda x, n: x >> min(n & 0xFFFFFFFF, 64),
    "shr.s64": lambda x, n: _signed(x) >> min(n & 0xFFFFFFFF, 63),
    "bfe.u64": lambda x, at, size: x >> (at & 0xFF) & (1 << (size & 0xFF)) - 1,
    "cvt.u32.u64": lambda x: x & 0xFFFFFFFF, "cvt.u64.u32": lambda x: x & 0xFFFFFFFF, "cvta.to.global.u64": lambda x: x,
}


class Memory:
    """Global memory: words of 64 bits at addresses that are multiples of 8. What was never written holds a strange number.

    Threads of a launch run at the same time on a GPU and one after another here; so it is an error if one of them touches a word
    that another one writes, unless both are of one block and a barrier came between.
    """

    def __init__(self) -> None:
        self.words: dict[int, int] = {}
        self.end = 1 << 20
        self.thread = self.block = 0
        self.begin()

    def allocate(self, count: int) -> int:
        """The address of `count` words, with a gap after them that no one may touch."""
        address = self.end
        self.end += 8 * count + 4096
        for i in range(count):
            self.words[address + 8 * i] = 0x7FF4DEAD00000000 + i
        return address

    def free(self, address: int, count: int) -> None:
        """Whoever uses these words from now on is told."""
        for i in range(count):
            del self.words[address + 8 * i]

    # ---- of the host
    def write(self, address: int, array: np.ndarray) -> None:
        for i, word in enumerate(np.ascontiguousarray(array).view(np.uint64).reshape(-1).tolist()):
            self.words[address + 8 * i] = word

    def read(self, address: int, array: np.ndarray) -> None:
        """Fills the array."""
        words = [self.words[address + 8 * i] for i in range(array.size)]
        array.view(np.uint64).reshape(-1)[:] = np.array(words, np.uint64)

    # ---- of the threads
    def begin(self) -> None:
        """A launch begins."""
        self._of_blocks = _Touched()
        self.barrier()

    def barrier(self) -> None:
        """The threads of a block have met."""
        self._of_threads = _Touched()

    def __getitem__(self, address: int) -> int:
        self._of_threads.read(address, self.thread)
        self._of_blocks.read(address, self.block)
        return self.words[address]

    def add(self, address: int, word: int) -> None:
        """Adds to a word, which others may add to, and nobody read or write."""
        self._of_threads.add(address, self.thread)
        self.words[address] = self.words[address] + word & WORD

    def raise_to(self, address: int, word: int) -> None:
        """Makes a word, which others may raise too, and nobody read or write, the larger of two signed ones."""
        self._of_threads.add(address, self.thread)
        self.words[address] = max(self.words[address], word & WORD, key=_signed)

    def __setitem__(self, address: int, word: int) -> None:
        if address not in self.words:
            raise IndexError(f"a store to {address:#x}, which belongs to no array")
        self._of_threads.write(address, self.thread)
        self._of_blocks.write(address, self.block)
        self.words[address] = word


class _Touched:
    """Who read and wrote which words, threads or blocks."""

    def __init__(self) -> None:
        self._readers: dict[int, int] = {}  # -1: several
        self._writers: dict[int, int] = {}

    def _alone(self, address: int, who: int, others: dict[int, int]) -> None:
        if others.get(address, who) != who:
            raise AssertionError(f"threads or blocks {who} and {others[address]} meet at {address:#x}")

    def read(self, address: int, who: int) -> None:
        self._alone(address, who, self._writers)
        self._readers[address] = who if self._readers.get(address, who) == who else -1

    def write(self, address: int, who: int) -> None:
        self._alone(address, who, self._writers)
        self._alone(address, who, self._readers)
        self._writers[address] = who

    def add(self, address: int, who: int) -> None:
        if self._readers.get(address, _ADDED) != _ADDED or self._writers.get(address, _ADDED) != _ADDED:
            raise AssertionError(f"thread {who} adds to {address:#x}, which another one reads or writes")
        self._readers[address] = self._writers[address] = _ADDED


@dataclass(slots=True)
class Statement:
    """One instruction: `guard` is the predicate's register or None, `wanted` the value with which it runs."""

    guard: str | None
    wanted: bool
    op: str
    operands: list[Operand]
    line: str


@dataclass(slots=True)
class Code:
    """A function: its statements, and where its labels stand."""

    statements: list[Statement] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)


def _operand(text: str) -> Operand:
    if text.startswith("["):
        base, _, offset = text[1:-1].partition("+")
        return base, int(offset or 0)
    if text.startswith(("{", "(")):
        return tuple(_operand(part.strip()) for part in text[1:-1].split(",") if part.strip())
    if text.startswith("0d"):
        return int(text[2:], 16)
    return int(text, 0) & WORD if re.fullmatch(r"-?(0x)?[0-9a-fA-F]+", text) and text[0] in "-0123456789" else text


class Module:
    """A module of PTX; `launch` runs its kernel."""

    def __init__(self, ptx: str):
        self.functions: dict[str, Code] = {}
        self.parameters: dict[str, int] = {}
        for head, body in re.findall(r"\.(?:entry|func)\s+((?:\([^)]*\)\s*)?\w+\s*\([^)]*\))\s*\{\n(.*?)\n\}\n", ptx, re.S):
            name, _, parameters = re.sub(r"^\([^)]*\)\s*", "", head).partition("(")
            self.functions[name.strip()], self.parameters[name.strip()] = self._parse(body), parameters.count(".param")

    def _parse(self, body: str) -> Code:
        code = Code()
        for line in calls_on_one_line(body).splitlines():
            line = line.split("//")[0].strip()
            if label := re.fullmatch(r"(\$\w+):", line):
                code.labels[label[1]] = len(code.statements)
            elif line and line not in "{}" and not line.startswith("."):
                m = re.fullmatch(r"(?:@(!?)(%p\d+)\s+)?([\w.]+)\s*(.*?);", line)
                if not m:
                    raise SyntaxError(line)
                parts = re.findall(r"\[[^\]]*\]|\{[^}]*\}|\([^)]*\)|[^,\s]+", m[4])
                code.statements.append(Statement(m[2], not m[1], m[3], [_operand(part) for part in parts], line))
        return code

    def launch(self, grid: int, block: int, arguments: Sequence[int], memory: Memory, entry: str = "work",
               order: Callable[[list[int]], list[int]] = lambda threads: threads[::-1]) -> None:
        """Every thread of every block, from the last to the first: nothing may depend on their order.

        A block's threads run one after another from one barrier to the next, each time in this `order` of their numbers.
        """
        memory.begin()
        given = {(f"{entry}_param_{i}", 0): value & WORD for i, value in enumerate(arguments)}
        for number in reversed(range(grid)):
            memory.block = number
            registers = {"%ctaid.x": number, "%ntid.x": block, "%nctaid.x": grid}
            threads = [self._run(entry, dict(given), registers | {"%tid.x": n}, memory) for n in range(block)]
            met = {-1}
            while met != {None}:
                met = set()
                for n in order(list(range(block))):
                    memory.thread = number * block + n
                    met.add(next(threads[n], None))
                if len(met) > 1:
                    raise AssertionError(f"threads of a block part: some wait at the statements {met}, where None has ended")
                if met != {None}:
                    memory.barrier()

    def _run(self, name: str, params: dict[tuple[str, int], int], special: dict[str, int], memory: Memory) -> Iterator[int]:
        """Runs a thread; each barrier gives its place."""
        code, registers = self.functions[name], dict(special)
        local: dict[int, int] = {}
        registers |= {f"__local_depot{i}": _LOCAL for i in range(len(self.functions))}

        def get(x: Operand) -> int:
            return registers[x] if isinstance(x, str) else x

        at = 0
        while True:
            s = code.statements[at]
            at += 1
            if s.guard and registers[s.guard] is not s.wanted:
                continue
            op, operands = s.op, s.operands
            compute = _COMPUTE.get(op)
            if op == "mov.b64" and isinstance(operands[0], tuple):  # two halves, the lower one first
                word = get(operands[1])
                registers.update(zip(operands[0], (word & 0xFFFFFFFF, word >> 32), strict=True))
            elif op == "mov.b64" and isinstance(operands[1], tuple):
                low, high = (get(x) & 0xFFFFFFFF for x in operands[1])
                registers[operands[0]] = high << 32 | low
            elif compute:
                value = compute(*[get(x) for x in operands[1:]])
                registers[operands[0]] = value if isinstance(value, bool) else value & WORD
            elif op == "ret":
                return
            elif op in ("bra", "bra.uni"):
                at = code.labels[operands[0]]
            elif op == "bar.sync" and operands == [0]:
                yield at
            elif op == "call.uni":
                self._call(operands, params, memory)
            elif op == "atom.global.add.u64":
                memory.add(registers[operands[1][0]] + operands[1][1], get(operands[2]))
            elif op == "atom.global.max.s64":
                memory.raise_to(registers[operands[1][0]] + operands[1][1], get(operands[2]))
            elif op == "ld.volatile.global.b64":
                registers[operands[0]] = memory.words[registers[operands[1][0]] + operands[1][1]]  # while others may raise it
            elif op.startswith(("ld.", "st.")):
                value, place = operands if op.startswith("ld.") else reversed(operands)
                values = value if isinstance(value, tuple) else (value,)
                for i, x in enumerate(values):
                    cell, key = self._cell(op, place, 8 * i, registers, params, local, memory)
                    if op.startswith("ld."):
                        registers[x] = cell[key] & (0xFFFFFFFF if op.endswith(".b32") else WORD)
                    else:
                        cell[key] = get(x)
            else:
                raise ValueError(f"LLVM writes no such instruction for our kernels: {s.line}")

    def _cell(self, op: str, place: tuple, more: int, registers: dict, params: dict, local: dict, memory: Memory) -> tuple:
        base, offset = place[0], place[1] + more
        space = op.split(".")[1]
        if space == "param":
            return params, (base, offset)
        address = registers[base] + offset
        if address % 8 or (space == "local") != (address >= _LOCAL):
            raise IndexError(f"{op} at {address:#x}")
        return (local if space == "local" else memory), address

    def _call(self, operands: list, params: dict, memory: Memory) -> None:
        results, callee, arguments = operands
        frame = {(f"{callee}_param_{i}", 0): params[name, 0] for i, name in enumerate(arguments)}
        for _ in self._run(callee, frame, {}, memory):
            raise AssertionError("a barrier in a function")
        params.update({(results[0], offset): value for (name, offset), value in frame.items() if name == "func_retval0"})
