"""The machine that runs bytecode (`backend/bytecode.py`): one LLVM module for all kernels.

Each operation is a block of code that reads where its operands lie, computes, and writes its result. What it computes is written
by the `Renderer` that writes compiled kernels, so that the bits are the same. It runs a few times as long as compiled code, and
nothing has to be compiled: kernels that are asked about a few thousand boxes take less time in all.
"""

from infimum.backend.bytecode import HEADER, LANE, NUMBER, OTHERS, WORDS
from infimum.backend.llvm_text import Renderer, Text
from infimum.backend.processor import ATTRIBUTES, PARAMETERS, KernelWrapper, Module
from infimum.backend.simd import SimdSpelling
from infimum.kernel.ir import PRIMITIVES, Instr, Value

_modules: dict[int, Module] = {}  # by lanes


def interpreter(spelling: SimdSpelling) -> Module:
    """The machine for vectors of this number of lanes: its function `work` finds the program in front of the arrays. Within
    LOCK.
    """
    if spelling.lanes not in _modules:
        module = _modules[spelling.lanes] = Module(KernelWrapper.text() + text(spelling))
        KernelWrapper.found_in(module)
    return _modules[spelling.lanes]


def text(spelling: SimdSpelling) -> str:
    """Its LLVM IR."""
    blocks = {op: _Block(spelling, op) for op in NUMBER}
    cases = [f"    i32 {NUMBER[op]}, label %do.{op}" for op in blocks]
    results = ", ".join(f"[ {b.result}, %{b.t.label} ]" for op, b in blocks.items() if op in LANE)
    arms = ", ".join(f"[ {b.next}, %{b.t.label} ]" for b in blocks.values() if b.next is not None)
    work = _WORK.format(
        parameters=PARAMETERS, header=HEADER, lane=spelling.lane, lanes=spelling.lanes, primitives=len(LANE), words=WORDS,
        cases="\n".join(cases[:len(LANE)]), others="\n".join(cases[len(LANE):]), results=results, arms=arms,
        places="\n".join(_place(k, name) for k, name in enumerate(("a", "b", "c", "result"), start=1)),
        blocks="\n".join(line for b in blocks.values() for line in b.t.lines))
    return "\n".join([spelling.declarations(), work, ATTRIBUTES])


def _place(k: int, name: str) -> str:
    """Lines that find a place by the k-th word."""
    return "\n".join([f"  %at.{name} = getelementptr i32, ptr %pc, i64 {k}",
                      f"  %word.{name} = load i32, ptr %at.{name}, align 4",
                      f"  %place.{name} = getelementptr i8, ptr %scratch, i32 %word.{name}"])


class _Block:
    """The code of one operation. That of a primitive on lanes has a `result`; `next` is where the next operation lies, where
    another one does not go elsewhere by itself."""

    def __init__(self, spelling: SimdSpelling, op: str):
        self.s, self.t = spelling, Text(spelling)
        self.t.count = 1000 * NUMBER[op]  # names are those of the whole function
        self.t.start(f"do.{op}")
        self.next: str | None = None
        if op in PRIMITIVES:
            self._primitive(op, *PRIMITIVES[op])
        else:
            words = [self._word(k) for k in range(len(OTHERS[op]))]
            self.next = self.t.let(f"getelementptr i32, ptr %pc, i64 {1 + len(words)}")
            getattr(self, "return_" if op == "return" else op)(*words)
            if self.next is not None:
                self.t.jump("next")

    def _primitive(self, op: str, takes: str, gives: str) -> None:
        operands, result = tuple(Value(type, 1) for type in takes), Value(gives, 1)
        lane, words = op in LANE, [] if op in LANE else [self._word(k) for k in range(len(takes) + 1)]
        for k, v in enumerate(operands):
            self.t.names[v] = self.s.from_double(self.t, v.type, f"%{'abc'[k]}") if lane else self.read("u", words[k])
        Renderer(self.s).instruction(self.t, Instr(op, None, operands, (result,)))
        if lane:
            self.result = self.s.as_double(self.t, gives, self.t.of(result))
            self.t.jump("done")
        else:
            self.write(gives, words[-1], self.t.of(result))
            self.next = self.t.let(f"getelementptr i32, ptr %pc, i64 {1 + len(words)}")
            self.t.jump("next")

    def _word(self, k: int) -> str:
        at = self.t.let(f"getelementptr i32, ptr %pc, i64 {1 + k}")
        return self.t.let(f"sext i32 {self.t.let(f'load i32, ptr {at}, align 4')} to i64")

    def place(self, word: str) -> str:
        return self.t.let(f"getelementptr i8, ptr %scratch, i64 {word}")

    def read(self, type: str, word: str) -> str:
        if type == "u":
            return self.t.let(f"load i64, ptr {self.place(word)}, align 8")
        return self.s.from_double(self.t, type, self.t.let(f"load {self.s.lane}, ptr {self.place(word)}"))

    def write(self, type: str, word: str, name: str) -> None:
        if type == "u":
            self.t.lines.append(f"  store i64 {name}, ptr {self.place(word)}, align 8")
        else:
            self.t.lines.append(f"  store {self.s.lane} {self.s.as_double(self.t, type, name)}, ptr {self.place(word)}")

    # ---- what is not a primitive
    def _bits(self, low: str, high: str) -> str:
        return self.t.let(f"or i64 {self.t.let(f'and i64 {low}, {0xFFFFFFFF}')}, {self.t.let(f'shl i64 {high}, 32')}")

    def constant(self, low: str, high: str, into: str) -> None:
        bits = self.s.spread(self.t, self._bits(low, high), "i64")
        self.write("f", into, self.t.let(f"bitcast {self.s.integer} {bits} to {self.s.lane}"))

    def uconstant(self, low: str, high: str, into: str) -> None:
        self.write("u", into, self._bits(low, high))

    def _sum(self, one: str, other: str) -> str:
        return self.t.let(f"add i64 {self.read('u', one)}, {self.read('u', other)}")

    def data_at(self, position: str, into: str) -> None:
        at = self.t.let(f"getelementptr double, ptr %data, i64 {position}")
        self.write("f", into, self.s.spread(self.t, self.t.let(f"load double, ptr {at}, align 8"), "double"))

    def data(self, position: str, into: str) -> None:
        self.data_at(self.read("u", position), into)

    def data_sum(self, one: str, other: str, into: str) -> None:
        self.data_at(self._sum(one, other), into)

    def udata(self, position: str, into: str) -> None:
        at = self.t.let(f"getelementptr i64, ptr %udata, i64 {self.read('u', position)}")
        self.write("u", into, self.t.let(f"load i64, ptr {at}, align 8"))

    def _cell(self, array: str, row: str) -> str:
        list_ = self.t.let(f"load ptr, ptr {self.t.let(f'getelementptr ptr, ptr %lists, i64 {array}')}, align 8")
        begin = self.t.let(f"mul i64 %stride, {row}")
        place = self.t.let(f"add i64 {begin}, {self.t.let('load i64, ptr %box, align 8')}")
        return self.t.let(f"getelementptr double, ptr {list_}, i64 {place}")

    def input_at(self, array: str, row: str, into: str) -> None:
        self.write("f", into, self.t.let(f"load {self.s.lane}, ptr {self._cell(array, row)}, align 8"))

    def input(self, array: str, row: str, into: str) -> None:
        self.input_at(array, self.read("u", row), into)

    def output_at(self, array: str, row: str, value: str) -> None:
        self.t.lines.append(f"  store {self.s.lane} {self.read('f', value)}, ptr {self._cell(array, row)}, align 8")

    def output(self, array: str, row: str, value: str) -> None:
        self.output_at(array, self.read("u", row), value)

    def _element(self, buffer: str, position: str) -> str:
        distance = self.t.let(f"mul i64 {position}, {8 * self.s.lanes}")
        return self.t.let(f"add i64 {buffer}, {distance}")

    def load(self, buffer: str, position: str, into: str) -> None:
        self.write("f", into, self.read("f", self._element(buffer, self.read("u", position))))

    def load_sum(self, buffer: str, one: str, other: str, into: str) -> None:
        self.write("f", into, self.read("f", self._element(buffer, self._sum(one, other))))

    def store(self, buffer: str, position: str, value: str) -> None:
        self.write("f", self._element(buffer, self.read("u", position)), self.read("f", value))

    def store_sum(self, buffer: str, one: str, other: str, value: str) -> None:
        self.write("f", self._element(buffer, self._sum(one, other)), self.read("f", value))

    def move(self, source: str, into: str) -> None:
        self.write("f", into, self.read("f", source))

    def umove(self, source: str, into: str) -> None:
        self.write("u", into, self.read("u", source))

    def native(self, low: str, high: str) -> None:
        """Volatile, so that the call is one of a register: `code_lint.py` permits none through memory."""
        at, box = self.t.let("getelementptr i32, ptr %pc, i64 1"), self.t.let("load i64, ptr %box, align 8")
        self.t.lines += [f"  %work = inttoptr i64 {self.t.let(f'load volatile i64, ptr {at}, align 4')} to ptr",
                         f"  call void %work(ptr %lists, ptr %data, ptr %udata, ptr %scratch, i64 %stride, i64 {box}) #0"]

    # ---- what comes next
    def _goes_to(self, word: str) -> str:
        return self.t.let(f"getelementptr i32, ptr %lanes, i64 {word}")

    def jump(self, word: str) -> None:
        self.next = self._goes_to(word)

    def again(self, word: str) -> None:
        """Back to where a loop begins: what was run meanwhile is counted."""
        self.next = self._goes_to(word)
        self._count()

    def turn(self, index: str, end: str, word: str) -> None:
        value = self.t.let(f"add i64 {self.read('u', index)}, 1")
        self.write("u", index, value)
        after, back = self.next, self._goes_to(word)
        below = self.t.let(f"icmp slt i64 {value}, {self.read('u', end)}")
        self.next = self.t.let(f"select i1 {below}, ptr {back}, ptr {after}")
        self._count()

    def _count(self) -> None:
        """What was run since the word that comes next."""
        here, there = (self.t.let(f"ptrtoint ptr {x} to i64") for x in ("%pc", self.next))
        so_far = self.t.let("load i64, ptr %turned, align 8")
        more = self.t.let(f"add i64 {so_far}, {self.t.let(f'sub i64 {here}, {there}')}")
        self.t.lines.append(f"  store i64 {more}, ptr %turned, align 8")

    def _unless(self, test: str, word: str) -> None:
        self.next = self.t.let(f"select i1 {test}, ptr {self.next}, ptr {self._goes_to(word)}")

    def unless_below(self, a: str, b: str, word: str) -> None:
        self._unless(self.t.let(f"icmp slt i64 {self.read('u', a)}, {self.read('u', b)}"), word)

    def unless_any(self, mask: str, word: str) -> None:
        self._unless(self.s.any(self.t, self.read("m", mask)), word)

    def call(self, link: str, word: str) -> None:
        self.write("u", link, self.t.let(f"ptrtoint ptr {self.next} to i64"))
        self.jump(word)

    def return_(self, link: str) -> None:
        self.next = self.t.let(f"inttoptr i64 {self.read('u', link)} to ptr")

    def fetch(self) -> None:
        self.next = None
        self.t.jump("boxes")

    def end(self) -> None:
        self.next = None
        self.t.jump("after")


# As the frame of a compiled kernel in `backend/cpu.py`, around the loop over the words of the program.
_WORK = """
define void @work({parameters}) #0 {{
entry:
  %box = alloca i64
  %here = alloca i64
  %until = alloca i64
  %turned = alloca i64
  store i64 0, ptr %turned, align 8
  %program = load ptr, ptr %arrays, align 8
  %lists = getelementptr ptr, ptr %arrays, i64 1
  %constants = getelementptr i32, ptr %program, i64 {header}
  %before = load i32, ptr %program, align 4
  %lanes = getelementptr i32, ptr %program, i32 %before
  %last = sub i64 %total, {lanes}
  br label %next
next:
  %pc = phi ptr [ %constants, %entry ], [ %lanes, %lane ], [ %following, %done ], {arms}
  %op = load i32, ptr %pc, align 4
  %primitive = icmp ult i32 %op, {primitives}
  br i1 %primitive, label %primitives, label %others
primitives:
{places}
  %a = load {lane}, ptr %place.a
  %b = load {lane}, ptr %place.b
  %c = load {lane}, ptr %place.c
  switch i32 %op, label %finish [
{cases}
  ]
others:
  switch i32 %op, label %finish [
{others}
  ]
{blocks}
done:
  %result = phi {lane} {results}
  store {lane} %result, ptr %place.result
  %following = getelementptr i32, ptr %pc, i64 {words}
  br label %next
boxes:
  %number = atomicrmw add ptr %counter, i64 1 monotonic
  %first = mul i64 %number, %block
  %some = icmp slt i64 %first, %total
  br i1 %some, label %go, label %finish
go:
  %full = add i64 %first, %block
  %whole = icmp slt i64 %full, %total
  %stop = select i1 %whole, i64 %full, i64 %total
  store i64 %stop, ptr %until, align 8
  br label %lane
after:
  %old = load i64, ptr %here, align 8
  %new = add i64 %old, {lanes}
  %end.of.block = load i64, ptr %until, align 8
  %again = icmp slt i64 %new, %end.of.block
  br i1 %again, label %lane, label %boxes
lane:
  %at = phi i64 [ %first, %go ], [ %new, %after ]
  store i64 %at, ptr %here, align 8
  %back = icmp slt i64 %last, %at
  %k = select i1 %back, i64 %last, i64 %at
  store i64 %k, ptr %box, align 8
  br label %next
finish:
  %bytes = load i64, ptr %turned, align 8
  %words = lshr i64 %bytes, 2
  %tally = getelementptr i64, ptr %program, i64 1
  %sum = atomicrmw add ptr %tally, i64 %words monotonic
  ret void
}}"""
