"""Kernels as LLVM IR text. What differs between machines is a `Spelling`."""

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable

from infimum.kernel.ir import RUN, Function, Instr, Kernel, Loop, Step, Value

_INTEGER = {"iadd": "add", "isub": "sub", "iand": "and", "ior": "or", "ixor": "xor",
            "ishl": "shl", "ilshr": "lshr", "iashr": "ashr"}
_UNIFORM = {"uadd": "add", "usub": "sub", "umul": "mul", "udiv": "sdiv", "umod": "srem"}
_COMPARE = {"ieq": "eq", "ine": "ne", "islt": "slt"}
_ROUNDED = ("add", "sub", "mul", "div", "sqrt", "fma")


class Spelling(ABC):
    """How one machine writes a lane: types, rounded operations, broadcast of a uniform value."""

    lane: str       # a double of every lane
    integer: str    # a 64-bit integer of every lane
    truth: str      # a truth value of every lane
    bit = "i1"      # that of one lane; all its bits are alike

    @abstractmethod
    def declarations(self) -> str: ...

    @abstractmethod
    def upward(self, text: "Text", op: str, operands: list[str]) -> str:
        """The instruction text of an upward-rounded operation; what has to come before it is written to `text`."""

    @abstractmethod
    def exact(self, op: str, operand: str) -> str:
        """The instruction text of abs, floor or roundeven."""

    @abstractmethod
    def constant(self, bits: str, type: str) -> str:
        """A constant double (as bits, 0x…) or integer in every lane."""

    @abstractmethod
    def any(self, text: "Text", mask: str) -> str:
        """Whether a truth value holds in some lane, as an i1."""

    @abstractmethod
    def spread(self, text: "Text", scalar: str, type: str) -> str:
        """A uniform value of scalar type `type` ("double" or "i1") in every lane."""

    def element(self, text: "Text", buffer: str, position: str) -> str:
        """Where an element of a buffer lies: its doubles, one for each lane, side by side."""
        return text.let(f"getelementptr inbounds {self.lane}, ptr {buffer}, i64 {position}")

    def select(self, text: "Text", condition: str, yes: str, no: str) -> str:
        """The instruction text of a choice between two doubles: their bits, whatever they are."""
        return f"select {self.truth} {condition}, {self.lane} {yes}, {self.lane} {no}"

    def select_bits(self, text: "Text", condition: str, yes: str, no: str) -> str:
        """The same on bits, where LLVM must not see doubles: it takes x < 0 ? x : 0 for a minimum, and that of some machines
        prefers -0, where ours gives +0."""
        bits = [text.let(f"bitcast {self.lane} {x} to {self.integer}") for x in (yes, no)]
        return f"bitcast {self.integer} {text.let(self.choose(text, condition, *bits))} to {self.lane}"

    def choose(self, text: "Text", condition: str, yes: str, no: str) -> str:
        """The instruction text of a choice between two integers."""
        return f"select {self.truth} {condition}, {self.integer} {yes}, {self.integer} {no}"

    def mask(self, text: "Text", test: str) -> str:
        """The instruction text of a truth value, from that of a comparison."""
        return test

    def as_double(self, text: "Text", type: str, name: str) -> str:
        """A value as memory holds it, that of a double: truth values are 1 and 0, integers their bits."""
        if type == "m":
            one, zero = (self.constant(bits, "double") for bits in ("0x3FF0000000000000", "0x0000000000000000"))
            return text.let(self.select(text, name, one, zero))
        return text.let(f"bitcast {self.integer} {name} to {self.lane}") if type == "i" else name

    def from_double(self, text: "Text", type: str, name: str) -> str:
        """The value that memory holds so."""
        if type == "m":
            return text.let(self.mask(text, f"fcmp ogt {self.lane} {name}, {self.constant('0x0000000000000000', 'double')}"))
        return text.let(f"bitcast {self.lane} {name} to {self.integer}") if type == "i" else name


class Text:
    """Lines of one LLVM function, with fresh names and labels."""

    def __init__(self, spelling: Spelling):
        self.spelling = spelling
        self.lines: list[str] = []
        self.names: dict[Value, str] = {}
        self.count = 0
        self.label = "entry"
        self.stacks: list[str] = []
        self.open: dict[str, int] = {}  # the lines of phis that are not whole yet

    def let(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def fresh(self, word: str) -> str:
        self.count += 1
        return f"{word}{self.count}"

    def start(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.label = label

    def jump(self, label: str) -> None:
        self.lines.append(f"  br label %{label}")

    def branch(self, condition: str, yes: str, no: str) -> None:
        self.lines.append(f"  br i1 {condition}, label %{yes}, label %{no}")

    def phi(self, type: str, *arms: tuple[str, str]) -> str:
        """The value of the arm that is come from; one that begins with @ is filled in later by `patch`."""
        self.open |= {value: len(self.lines) for value, _ in arms if value.startswith("@")}
        return self.let(f"phi {type} " + ", ".join(f"[ {value}, %{label} ]" for value, label in arms))

    def patch(self, placeholder: str, value: str) -> None:
        """Fills in the arm of a phi whose value was not known yet."""
        i = self.open.pop(placeholder)
        self.lines[i] = self.lines[i].replace(placeholder, value)

    def of(self, value: Value) -> str:
        return self.names[value]


# (text, stacks, level, runs) -> what stands on each stack at that level when this number of runs has been merged
Read = Callable[[Text, list[list[str]], str, str], list[list[str]]]


class Renderer:
    """Writes the items of a kernel or function into a Text."""

    def __init__(self, spelling: Spelling):
        self.s = spelling

    def block(self, t: Text, items: list) -> None:
        for item in items:
            if isinstance(item, Instr):
                self.instruction(t, item)
            elif isinstance(item, Loop):
                self.loop(t, item)
            else:
                raise AssertionError("a Step stands outside its loop")

    # ---- instructions
    def instruction(self, t: Text, i: Instr) -> None:
        op, s = i.op, self.s
        if op in LEAVES:
            t.names[i.results[0]] = LEAVES[op](self, i.attr)
            return
        a = [t.names[v] for v in i.operands]
        if op in _ROUNDED:
            text = s.upward(t, op, a)
        elif op in ("abs", "floor", "roundeven"):
            text = s.exact(op, a[0])
        elif op == "neg":
            text = f"fneg {s.lane} {a[0]}"
        elif op in ("olt", "ole", "oeq", "ogt", "oge", "uno"):
            text = s.mask(t, f"fcmp {op} {s.lane} {a[0]}, {a[1]}")
        elif op == "select":
            text = s.select(t, *a)
        elif op == "iselect":
            text = s.choose(t, *a)
        elif op in ("mand", "mor"):
            text = f"{op[1:]} {s.truth} {a[0]}, {a[1]}"
        elif op == "mnot":
            text = f"xor {s.truth} {a[0]}, {s.constant('-1', s.bit)}"
        elif op == "bits":
            text = f"bitcast {s.lane} {a[0]} to {s.integer}"
        elif op == "float":
            text = f"bitcast {s.integer} {a[0]} to {s.lane}"
        elif op in _INTEGER:
            text = f"{_INTEGER[op]} {s.integer} {a[0]}, {a[1]}"
        elif op in _COMPARE:
            text = s.mask(t, f"icmp {_COMPARE[op]} {s.integer} {a[0]}, {a[1]}")
        elif op in _UNIFORM:
            text = f"{_UNIFORM[op]} i64 {a[0]}, {a[1]}"
        else:
            _MEMORY[op](self, t, i, a)
            return
        t.names[i.results[0]] = t.let(text)

    def _extremum(self, t: Text, i: Instr, a: list[str]) -> None:
        less = t.let(f"icmp {'slt' if i.op == 'umin' else 'sgt'} i64 {a[0]}, {a[1]}")
        t.names[i.results[0]] = t.let(f"select i1 {less}, i64 {a[0]}, i64 {a[1]}")

    def _uniform_test(self, t: Text, i: Instr, a: list[str]) -> None:
        test = t.let(f"icmp {'sle' if i.op == 'ule' else 'eq'} i64 {a[0]}, {a[1]}")
        t.names[i.results[0]] = self.s.spread(t, test, "i1")

    def _data(self, t: Text, i: Instr, a: list[str]) -> None:
        at = t.let(f"getelementptr inbounds double, ptr %data, i64 {a[0]}")
        t.names[i.results[0]] = self.s.spread(t, t.let(f"load double, ptr {at}, align 8"), "double")

    def _udata(self, t: Text, i: Instr, a: list[str]) -> None:
        at = t.let(f"getelementptr inbounds i64, ptr %udata, i64 {a[0]}")
        t.names[i.results[0]] = t.let(f"load i64, ptr {at}, align 8")

    def _cell(self, t: Text, array: str, row: str) -> str:
        offset = t.let(f"mul i64 %stride, {row}")
        place = t.let(f"add i64 {offset}, %k")
        return t.let(f"getelementptr inbounds double, ptr {array}, i64 {place}")

    def _input(self, t: Text, i: Instr, a: list[str]) -> None:
        t.names[i.results[0]] = t.let(f"load {self.s.lane}, ptr {self._cell(t, f'%in{i.attr}', a[0])}, align 8")

    def _output(self, t: Text, i: Instr, a: list[str]) -> None:
        t.lines.append(f"  store {self.s.lane} {a[1]}, ptr {self._cell(t, f'%out{i.attr}', a[0])}, align 8")

    def _load(self, t: Text, i: Instr, a: list[str]) -> None:
        t.names[i.results[0]] = t.let(f"load {self.s.lane}, ptr {self.s.element(t, f'%buf{i.attr}', a[0])}")

    def _store(self, t: Text, i: Instr, a: list[str]) -> None:
        t.lines.append(f"  store {self.s.lane} {a[1]}, ptr {self.s.element(t, f'%buf{i.attr}', a[0])}")

    def _call(self, t: Text, i: Instr, a: list[str]) -> None:
        t.names.update(zip(i.results, self._results_of(t, i.attr, a), strict=True))

    def _results_of(self, t: Text, f: Function, a: list[str]) -> list[str]:
        kind = result_type(self.s, f)
        r = t.let(f"call {kind} @{f.name}(" + ", ".join(f"{self.s.lane} {x}" for x in a) + ") #0")
        return [r] if len(f.results) == 1 else [t.let(f"extractvalue {kind} {r}, {n}") for n in range(len(f.results))]

    def _call_where(self, t: Text, i: Instr, a: list[str]) -> None:
        """The call is passed over where no lane needs it."""
        mask, otherwise, operands = a[0], a[1:1 + len(i.results)], a[1 + len(i.results):]
        before, some, done = t.label, t.fresh("some"), t.fresh("done")
        t.branch(self.s.any(t, mask), some, done)
        t.start(some)
        results = self._results_of(t, i.attr, operands)
        chosen = [t.let(self.s.select(t, mask, *pair)) for pair in zip(results, otherwise, strict=True)]
        t.jump(done)
        t.start(done)
        for v, old, new in zip(i.results, otherwise, chosen, strict=True):
            t.names[v] = t.phi(self.s.lane, (old, before), (new, some))

    # ---- loops
    def loop(self, t: Text, loop: Loop) -> None:
        steps = loop.steps()
        if loop.more is not None:
            self._rounds(t, loop)
            return
        if not steps or loop.limit <= RUN:
            finals = self._run(t, loop, steps, "0", t.of(loop.count), None)
        else:
            finals = self._tree(t, loop, steps)
        for step, values in zip(steps, finals, strict=True):
            t.names.update(zip(step.results, values, strict=True))

    def _run(self, t: Text, loop: Loop, steps: list[Step], first: str, end: str, earlier: list | None,
             by: str = "1") -> list[list[str]]:
        """The turns first, first + by, … below end, in this order; returns each step's accumulated values. `earlier`: prefixes
        for scans."""
        head, body, done = t.fresh("head"), t.fresh("body"), t.fresh("done")
        before = t.label
        t.jump(head)
        t.start(head)
        later = t.fresh("later")
        index = t.phi("i64", (first, before), (f"%next{later}", later))
        state = [[t.phi(self.s.lane, (t.of(v), before), (f"@{later}_{n}_{m}@", later)) for m, v in enumerate(step.init)]
                 for n, step in enumerate(steps)]
        more = t.let(f"icmp slt i64 {index}, {end}")
        t.branch(more, body, done)
        t.start(body)
        t.names[loop.index] = index
        nexts = self.turn(t, loop, steps, state, earlier)
        t.jump(later)
        t.start(later)
        t.lines.append(f"  %next{later} = add i64 {index}, {by}")
        t.jump(head)
        self._patch_rows(t, later, nexts)
        t.start(done)
        return state

    def _rounds(self, t: Text, loop: Loop) -> None:
        """Turns one after the other, while some lane wants more."""
        head, body, done, later, before = (*(t.fresh(w) for w in ("head", "body", "done", "later")), t.label)
        t.jump(head)
        t.start(head)
        index = t.names[loop.index] = t.phi("i64", ("0", before), (f"%next{later}", later))
        t.branch(t.let(f"icmp slt i64 {index}, {t.of(loop.count)}"), body, done)
        t.start(body)
        self.turn(t, loop, [], [], None)
        t.branch(self.s.any(t, t.of(loop.more)), later, done)
        t.start(later)
        t.lines.append(f"  %next{later} = add i64 {index}, 1")
        t.jump(head)
        t.start(done)

    def turn(self, t: Text, loop: Loop, steps: list[Step], state: list[list[str]], earlier: list | None) -> list[list[str]]:
        """One turn; returns each step's accumulated values after it."""
        nexts: dict[int, list[str]] = {}
        number = {step: n for n, step in enumerate(steps)}
        for item in loop.body:
            if not isinstance(item, Step):
                self.block(t, [item])
                continue
            n = number[item]
            nexts[n] = self.combine(t, item, state[n], [t.of(v) for v in item.inputs])
            if item.prefix:
                so_far = state[n] if item.exclusive else nexts[n]
                so_far = so_far if earlier is None else self.combine(t, item, earlier[n], so_far)
                t.names.update(zip(item.prefix, so_far, strict=True))
        return [nexts[n] for n in range(len(steps))]

    def combine(self, t: Text, step: Step, left: list[str], right: list[str]) -> list[str]:
        """Writes the combination of two tuples."""
        t.names.update(zip(step.left, left, strict=True))
        t.names.update(zip(step.right, right, strict=True))
        self.block(t, step.block)
        return [t.of(v) for v in step.combined]

    def _tree(self, t: Text, loop: Loop, steps: list[Step]) -> list[list[str]]:
        """Runs of RUN turns, merged like a binary counter on a stack in memory."""
        depth = max(1, (loop.limit // RUN).bit_length() + 1)
        stacks = [[self._stack(t, depth) for _ in step.init] for step in steps]
        count, runs = self._runs(t, loop)

        def one(run: str) -> None:
            earlier = self._earlier(t, steps, stacks, run, self._read)
            self._push(t, steps, stacks, run, self._run(t, loop, steps, *self._ends(t, run, count), earlier))
        self._each(t, "0", runs, "1", one)
        return self._fold(t, steps, stacks, runs, self._read)

    def _runs(self, t: Text, loop: Loop) -> tuple[str, str]:
        """(turns of a loop, runs of a loop)."""
        rounded = t.let(f"add i64 {t.of(loop.count)}, {RUN - 1}")
        return t.of(loop.count), t.let(f"sdiv i64 {rounded}, {RUN}")

    def _ends(self, t: Text, run: str, count: str) -> tuple[str, str]:
        """The first turn of a run, and that after its last."""
        first = t.let(f"mul i64 {run}, {RUN}")
        full = t.let(f"add i64 {first}, {RUN}")
        return first, t.let(f"select i1 {t.let(f'icmp slt i64 {full}, {count}')}, i64 {full}, i64 {count}")

    def _each(self, t: Text, first: str, end: str, by: str, body: Callable[[str], None]) -> None:
        """body(index) for index = first, first + by, … below end."""
        head, inside, done, later, before = (*(t.fresh(w) for w in ("head", "body", "done", "later")), t.label)
        t.jump(head)
        t.start(head)
        index = t.phi("i64", (first, before), (f"%next{later}", later))
        t.branch(t.let(f"icmp slt i64 {index}, {end}"), inside, done)
        t.start(inside)
        body(index)
        t.jump(later)
        t.start(later)
        t.lines.append(f"  %next{later} = add i64 {index}, {by}")
        t.jump(head)
        t.start(done)

    def _earlier(self, t: Text, steps: list[Step], stacks: list[list[str]], run: str, read: Read) -> list[list[str]]:
        """The combination of all earlier runs for each scan, nothing for other steps."""
        scans = [n for n, step in enumerate(steps) if step.prefix]
        folded = self._fold(t, [steps[n] for n in scans], [stacks[n] for n in scans], run, read) if scans else []
        return [folded[scans.index(n)] if n in scans else [] for n in range(len(steps))]

    def _stack(self, t: Text, depth: int) -> str:
        name = t.fresh("%stack")
        t.stacks.append(f"  {name} = alloca [{depth} x {self.s.lane}]")
        return name

    def _slot(self, t: Text, stack: str, level: str) -> str:
        return t.let(f"getelementptr inbounds {self.s.lane}, ptr {stack}, i64 {level}")

    def _read(self, t: Text, stacks: list[list[str]], level: str, runs: str = "") -> list[list[str]]:
        return [[t.let(f"load {self.s.lane}, ptr {self._slot(t, s, level)}") for s in stack] for stack in stacks]

    def _merge(self, t: Text, steps: list[Step], left: list[list[str]], right: list[list[str]]) -> list[list[str]]:
        return [self.combine(t, *row) for row in zip(steps, left, right, strict=True)]

    def _push(self, t: Text, steps: list[Step], stacks: list[list[str]], run: str, values: list[list[str]]) -> None:
        """while bit `level` of run is set: values = combine(stack[level], values), next level; then stack[level] = values."""
        head, body, done, later, before = (*(t.fresh(w) for w in ("head", "body", "done", "later")), t.label)
        t.jump(head)
        t.start(head)
        level = t.phi("i64", ("0", before), (f"%next{later}", later))
        state = [[t.phi(self.s.lane, (v, before), (f"@{later}_{n}_{m}@", later)) for m, v in enumerate(row)]
                 for n, row in enumerate(values)]
        bit = t.let(f"and i64 {t.let(f'lshr i64 {run}, {level}')}, 1")
        t.branch(t.let(f"icmp ne i64 {bit}, 0"), body, done)
        t.start(body)
        merged = self._merge(t, steps, self._read(t, stacks, level), state)
        self._patch_rows(t, later, merged)
        t.jump(later)
        t.start(later)
        t.lines.append(f"  %next{later} = add i64 {level}, 1")
        t.jump(head)
        t.start(done)
        for stack, row in zip(stacks, state, strict=True):
            for s, v in zip(stack, row, strict=True):
                t.lines.append(f"  store {self.s.lane} {v}, ptr {self._slot(t, s, level)}")

    def _patch_rows(self, t: Text, tag: str, rows: list[list[str]]) -> None:
        for n, row in enumerate(rows):
            for m, value in enumerate(row):
                t.patch(f"@{tag}_{n}_{m}@", value)

    def _fold(self, t: Text, steps: list[Step], stacks: list[list[str]], runs: str, read: Read) -> list[list[str]]:
        """The combination of `runs` runs from the stacks: from the lowest set bit of `runs` to the highest."""
        head, body, hit, miss, done = (t.fresh(w) for w in ("head", "body", "hit", "miss", "done"))
        before = t.label
        t.jump(head)
        t.start(head)
        level = t.phi("i64", ("0", before), (f"%next{miss}", miss))
        state = [[t.phi(self.s.lane, (t.of(v), before), (f"@{miss}_{n}_{m}@", miss)) for m, v in enumerate(step.init)]
                 for n, step in enumerate(steps)]
        some = t.phi("i1", ("false", before), (f"@{miss}_some@", miss))
        rest = t.let(f"lshr i64 {runs}, {level}")
        t.branch(t.let(f"icmp ne i64 {rest}, 0"), body, done)
        t.start(body)
        bit = t.let(f"and i64 {rest}, 1")
        t.branch(t.let(f"icmp ne i64 {bit}, 0"), hit, miss)
        t.start(hit)
        below = read(t, stacks, level, runs)
        merged = self._merge(t, steps, below, state)
        chosen = [[t.let(f"select i1 {some}, {self.s.lane} {new}, {self.s.lane} {old}") for new, old in zip(a, b, strict=True)]
                  for a, b in zip(merged, below, strict=True)]
        t.jump(miss)
        t.start(miss)
        joined = [[t.phi(self.s.lane, (old, body), (new, hit)) for old, new in zip(a, b, strict=True)]
                  for a, b in zip(state, chosen, strict=True)]
        t.patch(f"@{miss}_some@", t.phi("i1", (some, body), ("true", hit)))
        self._patch_rows(t, miss, joined)
        t.lines.append(f"  %next{miss} = add i64 {level}, 1")
        t.jump(head)
        t.start(done)
        return state

    # ---- whole functions
    def function(self, f: Function, linkage: str = "") -> str:
        """The definition of an out-of-line function."""
        t = Text(self.s)
        t.names = {v: f"%a{n}" for n, v in enumerate(f.params)}
        self.block(t, f.body)
        kind = result_type(self.s, f)
        last = t.of(f.results[0])
        if len(f.results) > 1:
            last = "poison"
            for n, v in enumerate(f.results):
                last = t.let(f"insertvalue {kind} {last}, {self.s.lane} {t.of(v)}, {n}")
        head = f"define {linkage} {kind} @{f.name}(" + ", ".join(f"{self.s.lane} %a{n}" for n in range(len(f.params))) + ") #0 {"
        return "\n".join([head, "entry:", *t.stacks, *t.lines, f"  ret {kind} {last}", "}"])

    def declare(self, f: Function) -> str:
        """The declaration of a function that is compiled elsewhere."""
        return f"declare {result_type(self.s, f)} @{f.name}(" + ", ".join([self.s.lane] * len(f.params)) + ") #0"


def result_type(s: Spelling, f: Function) -> str:
    return s.lane if len(f.results) == 1 else "{ " + ", ".join([s.lane] * len(f.results)) + " }"


def lane_body(r: Renderer, kernel: Kernel) -> tuple[list[str], list[str], list[str], str, str]:
    """(stack lines, prologue lines, lines of the lane's body, label at its start, label at its end)."""
    t = Text(r.s)
    r.block(t, kernel.prologue)
    prologue, t.lines, t.label = t.lines, [], "lane"
    r.block(t, kernel.body)
    return t.stacks, prologue, t.lines, "lane", t.label


def _double_bits(hexadecimal: str) -> str:
    return f"0x{struct.unpack('<Q', struct.pack('<d', float.fromhex(hexadecimal)))[0]:016X}"


LEAVES = {
    "const": lambda r, attr: r.s.constant(_double_bits(attr), "double"),
    "iconst": lambda r, attr: r.s.constant(str(attr), "i64"),
    "uconst": lambda r, attr: str(attr),
}
_MEMORY = {
    "umin": Renderer._extremum, "umax": Renderer._extremum, "ule": Renderer._uniform_test, "ueq": Renderer._uniform_test,
    "data": Renderer._data, "udata": Renderer._udata, "input": Renderer._input, "output": Renderer._output,
    "load": Renderer._load, "store": Renderer._store, "call": Renderer._call,
    "call_where": Renderer._call_where,
}
