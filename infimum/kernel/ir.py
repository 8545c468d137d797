"""Kernel: a program over one abstract lane, without a word of any machine.

A lane works on doubles (`f`), 64-bit integers (`i`) and truth values (`m`); loop counters and positions are uniform
integers (`u`), the same in every lane. All arithmetic on doubles rounds upward. The operations are those of `PRIMITIVES`,
calls of `Function`s, loads, stores, and loops. `backend/python.py` runs a Kernel exactly and so defines what it means.

**The tree.** A loop may combine values (`Step`). The shape of that combination is fixed here and is part of the meaning:
elements are taken in runs of `RUN`; a run is combined from left to right, beginning with the neutral element; run number c
is then merged like a binary counter, `while c is odd: value = combine(stack.pop(), value); c >>= 1`; what is on the stack
at the end is combined from its top to its bottom, `value = combine(deeper, value)`. A loop whose `limit` is at most RUN has one
run and no stack. A scan gives combine(all earlier runs, the run so far), and without a stack the run so far alone.

**Rounds.** The turns of a loop are independent but for its Steps, and a buffer is written once. Where a step depends on the last
there are `rounds` instead: turns one after the other, which hand on what they know in `state` buffers, whose loads and stores
happen in the order in which they are written. Such a loop ends early where no lane wants more, so that a turn must change nothing
of a lane that does not.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field

from infimum.support.clock import check_time
from infimum.support.lazy import dataclass

RUN = 16

# name -> (types of the operands, type of the result)
PRIMITIVES: dict[str, tuple[str, str]] = {
    "add": ("ff", "f"), "sub": ("ff", "f"), "mul": ("ff", "f"), "div": ("ff", "f"), "sqrt": ("f", "f"), "fma": ("fff", "f"),
    "neg": ("f", "f"), "abs": ("f", "f"), "floor": ("f", "f"), "roundeven": ("f", "f"),
    "olt": ("ff", "m"), "ole": ("ff", "m"), "oeq": ("ff", "m"), "ogt": ("ff", "m"), "oge": ("ff", "m"), "uno": ("ff", "m"),
    "select": ("mff", "f"), "iselect": ("mii", "i"), "mand": ("mm", "m"), "mor": ("mm", "m"), "mnot": ("m", "m"),
    "bits": ("f", "i"), "float": ("i", "f"),
    "iadd": ("ii", "i"), "isub": ("ii", "i"), "iand": ("ii", "i"), "ior": ("ii", "i"), "ixor": ("ii", "i"),
    "ishl": ("ii", "i"), "ilshr": ("ii", "i"), "iashr": ("ii", "i"),
    "ieq": ("ii", "m"), "ine": ("ii", "m"), "islt": ("ii", "m"),
    "uadd": ("uu", "u"), "usub": ("uu", "u"), "umul": ("uu", "u"), "umin": ("uu", "u"), "umax": ("uu", "u"),
    "udiv": ("uu", "u"), "umod": ("uu", "u"), "ule": ("uu", "m"), "ueq": ("uu", "m"),
}
# beside these, with an attribute: const (a double), iconst, uconst, data (position), udata (position), input (slot, row),
# load (buffer, position), call (function), call_where (function; a truth value, the results where it is false, the arguments);
# and the effects store (buffer, position, value), output (slot, row, value)
CALLS = ("call", "call_where")


class Value:
    """The result of an instruction, computed at nesting `depth`: 0 before the lanes, 1 per lane, 2 and more in loops."""

    __slots__ = ("type", "depth")

    def __init__(self, type: str, depth: int):
        self.type, self.depth = type, depth


class Instr:
    """One operation: `op`, a static attribute, operands, results."""

    __slots__ = ("op", "attr", "operands", "results")

    def __init__(self, op: str, attr: object, operands: tuple[Value, ...], results: tuple[Value, ...]):
        self.op, self.attr, self.operands, self.results = op, attr, operands, results


@dataclass(slots=True, eq=False)
class Step:
    """Combines `inputs` of each turn of a loop in the tree: `combined` is computed by `block` from `left` and `right`.

    `results` hold the combination after the loop; `prefix`, if asked for, the scan at this turn (`exclusive`: without it).
    """

    init: tuple[Value, ...]
    inputs: tuple[Value, ...]
    left: tuple[Value, ...]
    right: tuple[Value, ...]
    block: list
    combined: tuple[Value, ...]
    results: tuple[Value, ...]
    prefix: tuple[Value, ...] = ()
    exclusive: bool = False

    @property
    def operands(self) -> tuple[Value, ...]:
        """The values that it reads itself, some of them computed by its block."""
        return *self.init, *self.inputs, *self.combined


@dataclass(slots=True, eq=False)
class Loop:
    """`body` for index = 0 … count-1; `limit` is a static upper bound of count. Turns are independent but for their Steps.

    Rounds have no Steps, and `more`, a truth value of each turn: the last turn is the first in which it holds in no lane.
    """

    index: Value
    count: "Value"
    limit: int
    body: list = field(default_factory=list)
    more: "Value | None" = None

    @property
    def operands(self) -> "tuple[Value, ...]":
        """The values that it reads itself; `more` may be computed in its body or before the loop."""
        return (self.count,) if self.more is None else (self.count, self.more)

    def steps(self) -> list[Step]:
        return [item for item in self.body if isinstance(item, Step)]


@dataclass(slots=True, eq=False)
class Function:
    """A function of lane values, kept out of line: the elementary functions."""

    name: str
    params: tuple[Value, ...]
    body: list
    results: tuple[Value, ...]


@dataclass(slots=True, eq=False)
class Kernel:
    """A whole program: what runs before the lanes, what each lane runs, its buffers, how many arrays it reads and writes.

    Buffers have sizes and homes: one is filled anew in every turn of the loop whose nesting is its home, and a turn of a loop
    further in touches no element that another turn of that loop writes. `soon`: it had better be compiled soon than well.
    """

    name: str
    prologue: list
    body: list
    buffers: list[int]
    homes: list[int]
    inputs: int
    outputs: int
    soon: bool = False

    def functions(self) -> list[Function]:
        """The functions called, callees before callers."""
        found: dict[str, Function] = {}

        def visit(items: list) -> None:
            for item in items:
                if not isinstance(item, Instr):
                    visit(item.body if isinstance(item, Loop) else item.block)
                elif item.op in CALLS and item.attr.name not in found:
                    visit(item.attr.body)
                    found[item.attr.name] = item.attr
        visit(self.body)
        return list(found.values())


def walk(items: list) -> Iterator[Instr | Loop | Step]:
    """Every item, loops before their bodies."""
    for item in items:
        yield item
        if isinstance(item, Loop):
            yield from walk(item.body)
        elif isinstance(item, Step):
            yield from walk(item.block)


class _Scope:
    __slots__ = ("items", "memo")

    def __init__(self) -> None:
        self.items: list = []
        self.memo: dict[tuple, tuple[Value, ...]] = {}


class Builder:
    """Writes a Kernel or a Function. Equal instructions are written once; each is placed in the outermost loop it can be.

    Operands may be Values, Python floats (constants of a lane), and for positions Python ints.
    """

    def __init__(self) -> None:
        self.scopes = [_Scope(), _Scope()]
        self.buffers: list[int] = []
        self._homes: list[int] = []
        self._states: set[int] = set()
        self._constants: dict[float | tuple[float, float], Value] = {}
        self._positions: dict[int, Value] = {}
        self._negated: dict[Value, Value] = {}
        self.constants = None  # the `Data` of the kernel, for rules that read tables

    # ---- instructions
    def emit(self, op: str, attr: object, operands: tuple[Value, ...], types: str, least: int = 1) -> tuple[Value, ...]:
        """A pure instruction: memoised, placed as far out as its operands allow, at nesting `least` or deeper."""
        depth = least
        for v in operands:
            if v.depth > depth:
                depth = v.depth
        scope = self.scopes[depth]
        key = (op, attr, operands)
        found = scope.memo.get(key)
        if found is None:
            found = (Value(types, depth),) if len(types) == 1 else tuple([Value(t, depth) for t in types])
            scope.items.append(Instr(op, attr, operands, found))
            scope.memo[key] = found
        return found

    def const(self, value: float) -> Value:
        """A double in every lane."""
        key = value if value else (0.0, math.copysign(1.0, value))
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = self.emit("const", float(value).hex(), (), "f", 0)[0]
        return found

    def iconst(self, value: int) -> Value:
        """A 64-bit integer in every lane."""
        return self.emit("iconst", int(value), (), "i", 0)[0]

    def position(self, value: "int | Value") -> Value:
        """A uniform integer."""
        if value.__class__ is Value:
            return value
        found = self._positions.get(value)
        if found is None:
            found = self._positions[value] = self.emit("uconst", int(value), (), "u", 0)[0]
        return found

    def _operand(self, value: "float | int | Value", type: str) -> Value:
        if value.__class__ is Value:
            return value
        return self.const(value) if type == "f" else self.iconst(value) if type == "i" else self.position(value)

    def __getattr__(self, op: str) -> Callable[..., Value]:
        """b.add(x, y), b.fma(x, y, z), b.select(m, x, y), …: one method for each row of PRIMITIVES."""
        if op not in PRIMITIVES:
            raise AttributeError(op)
        takes, gives = PRIMITIVES[op]
        least = 0 if set(takes) == {"u"} else 1
        emit, operand, scopes, first, second = self.emit, self._operand, self.scopes, takes[0], takes[-1]

        def wrong() -> TypeError:
            return TypeError(f"{op} takes operands of types {takes}")

        def instruction(*operands: "float | int | Value") -> Value:
            values = [v if v.__class__ is Value else operand(v, t) for v, t in zip(operands, takes, strict=True)]
            if any([v.type != t for v, t in zip(values, takes, strict=True)]):
                raise wrong()
            return emit(op, None, tuple(values), gives, least)[0]

        def binary(a: "float | int | Value", b: "float | int | Value") -> Value:  # the same, `emit` included: most of a kernel
            if a.__class__ is not Value:
                a = operand(a, first)
            if b.__class__ is not Value:
                b = operand(b, second)
            if a.type != first or b.type != second:
                raise wrong()
            depth = a.depth if a.depth > b.depth else b.depth
            scope, key = scopes[depth if depth > least else least], (op, a, b)
            found = scope.memo.get(key)
            if found is None:
                value = Value(gives, depth if depth > least else least)
                scope.items.append(Instr(op, None, (a, b), (value,)))
                found = scope.memo[key] = (value,)
            return found[0]
        method = binary if len(takes) == 2 else instruction
        setattr(self, op, method)
        return method

    def _number(self, value: "float | Value") -> Value:
        found = self._operand(value, "f")
        if found.type != "f":
            raise TypeError(f"a double is needed, not a value of type {found.type}")
        return found

    def neg(self, a: "float | Value") -> Value:
        """The sign turned: that of a negated number is the number."""
        a = self._number(a)
        if a in self._negated:
            return self._negated[a]
        found, = self.emit("neg", None, (a,), "f")
        self._negated[found] = a
        return found

    def abs(self, a: "float | Value") -> Value:
        """The sign cleared, whichever it was."""
        a = self._number(a)
        return self.emit("abs", None, (self._negated.get(a, a),), "f")[0]

    def max(self, a: "float | Value", b: "float | Value") -> Value:
        """The larger; b if either is NaN."""
        return self.select(self.ogt(a, b), a, b)

    def min(self, a: "float | Value", b: "float | Value") -> Value:
        """The smaller; b if either is NaN."""
        return self.select(self.olt(a, b), a, b)

    def call(self, function: Function, *operands: "float | Value") -> tuple[Value, ...]:
        """Calls a function of lane values."""
        values = tuple(self._operand(v, "f") for v in operands)
        return self.emit("call", function, values, "".join(v.type for v in function.results))

    def outline(self, name: str, body: Callable, *operands: "float | Value") -> tuple[Value, ...]:
        """Calls the function `name`, whose code `body(b, *params)` is written once in a process and compiled out of line."""
        return self.call(_outline(name, len(operands), body), *operands)

    def call_where(self, function: Function, mask: Value, otherwise: "tuple[float | Value, ...]",
                   *operands: "float | Value") -> tuple[Value, ...]:
        """The function's results where the mask holds, else `otherwise`: nothing is computed where no lane needs it."""
        values = (mask, *(self._operand(v, "f") for v in (*otherwise, *operands)))
        return self.emit("call_where", function, values, "f" * len(function.results))

    def outline_where(self, name: str, body: Callable, mask: Value, otherwise: "tuple[float | Value, ...]",
                      *operands: "float | Value") -> tuple[Value, ...]:
        """As `outline`, where the mask holds."""
        return self.call_where(_outline(name, len(operands), body), mask, otherwise, *operands)

    # ---- positions: static integers fold
    def place(self, op: str, a: "int | Value", b: "int | Value") -> "int | Value":
        """uadd, usub, umul, umin, umax, udiv, umod on positions that may be static."""
        if isinstance(a, int) and isinstance(b, int):
            return _FOLD[op](a, b)
        if (op in ("uadd", "usub") and b == 0) or (op in ("umul", "udiv") and b == 1):
            return a
        if op == "uadd" and a == 0 or op == "umul" and a == 1:
            return b
        return getattr(self, op)(a, b)

    # ---- memory
    def input(self, slot: int, row: "int | Value") -> Value:
        """This lane's number in `row` of input array `slot`."""
        return self.emit("input", slot, (self.position(row),), "f")[0]

    def data(self, position: "int | Value") -> Value:
        """A constant of the problem, passed as an argument: the same in every lane."""
        return self.emit("data", None, (self.position(position),), "f")[0]

    def udata(self, position: "int | Value") -> Value:
        """A constant position, passed as an argument."""
        return self.emit("udata", None, (self.position(position),), "u", 0)[0]

    @property
    def depth(self) -> int:
        """How deep the loops are nested that are open now."""
        return len(self.scopes) - 1

    def buffer(self, size: int, depth: int | None = None) -> int:
        """A new per-lane array, filled anew in every turn of the loop at `depth` (the innermost): stored before it is loaded."""
        self.buffers.append(size)
        self._homes.append(self.depth if depth is None else depth)
        return len(self.buffers) - 1

    def state(self, size: int) -> int:
        """A new per-lane array that may be stored to again and again: a load gives what was stored last."""
        self._states.add(state := self.buffer(size, 1))
        return state

    def load(self, buffer: int, position: "int | Value") -> Value:
        if buffer in self._states:  # here and now
            value = Value("f", self.depth)
            self.scopes[-1].items.append(Instr("load", buffer, (self.position(position),), (value,)))
            return value
        return self.emit("load", buffer, (self.position(position),), "f", self._homes[buffer])[0]

    def _effect(self, op: str, attr: int, position: "int | Value", value: "float | Value") -> None:
        self.scopes[-1].items.append(Instr(op, attr, (self.position(position), self._operand(value, "f")), ()))

    def store(self, buffer: int, position: "int | Value", value: "float | Value") -> None:
        self._effect("store", buffer, position, value)

    def output(self, slot: int, row: "int | Value", value: "float | Value") -> None:
        self._effect("output", slot, row, value)

    # ---- loops
    @contextmanager
    def loop(self, count: "int | Value", limit: int | None = None) -> Iterator[Loop]:
        """with b.loop(n) as turn: … uses turn.index; `b.step` inside it combines values over the turns."""
        depth = len(self.scopes)
        item = Loop(Value("u", depth), self.position(count), count if limit is None else limit)
        scope = _Scope()
        scope.items = item.body
        self.scopes.append(scope)
        yield item
        self.scopes.pop()
        self.scopes[-1].items.append(item)

    @contextmanager
    def rounds(self, limit: int) -> Iterator[Loop]:
        """with b.rounds(limit) as turn: …, one turn after the other; sets `turn.more`, where a lane wants a further one."""
        with self.loop(limit) as item:
            yield item

    def step(self, init: tuple[float, ...], inputs: tuple[Value, ...], combine: Callable, scan: str | None = None) -> Step:
        """Combines `inputs` over the turns of the innermost loop; `scan` is None, "inclusive" or "exclusive".

        `combine(b, left, right)` writes the combination of two tuples of values.
        """
        depth = len(self.scopes)
        left, right = (tuple(Value("f", depth) for _ in init) for _ in range(2))
        scope = _Scope()
        self.scopes.append(scope)
        combined = tuple(self._operand(v, "f") for v in combine(self, left, right))
        self.scopes.pop()
        item = Step(tuple(self._operand(v, "f") for v in init), tuple(self._operand(v, "f") for v in inputs), left, right,
                    scope.items, combined, tuple(Value("f", depth - 2) for _ in init))
        if scan:
            item.prefix = tuple(Value("f", depth - 1) for _ in init)
            item.exclusive = scan == "exclusive"
        self.scopes[-1].items.append(item)
        return item

    # ---- results
    def kernel(self, name: str, inputs: int, outputs: int) -> Kernel:
        """The finished kernel, without what no output needs."""
        prologue, body = (scope.items for scope in self.scopes)
        live: set = set()
        body = _alive(body, live)
        return Kernel(name, _alive(prologue, live), body, self.buffers, self._homes, inputs, outputs)


_outlined: dict[str, Function] = {}
_FOLD: dict[str, Callable[[int, int], int]] = {
    "uadd": int.__add__, "usub": int.__sub__, "umul": int.__mul__, "umin": min, "umax": max,
    "udiv": int.__floordiv__, "umod": int.__mod__,
}


def _outline(name: str, arity: int, body: Callable) -> Function:
    if name not in _outlined:
        _outlined[name] = function(name, arity, body)
    return _outlined[name]


def function(name: str, arity: int, body: Callable[..., "Value | tuple[Value, ...]"]) -> Function:
    """A Function from Python code: `body(b, *params)` returns its result or results."""
    b = Builder()
    params = tuple(Value("f", 1) for _ in range(arity))
    results = body(b, *params)
    results = results if isinstance(results, tuple) else (results,)
    live: set = set(results)
    return Function(name, params, _alive(b.scopes[0].items + b.scopes[1].items, live), results)


def _alive(items: list, live: set) -> list:
    """The items that effects or live values need; `live` (Values, and numbers of buffers that are read) grows on the way."""
    kept = []
    for item in reversed(items):
        if not len(kept) & 4095:
            check_time()
        if item.__class__ is Instr:
            op, results = item.op, item.results
            if (len(results) == 1 and results[0] in live) or op == "output" or (op == "store" and item.attr in live) or \
                    not live.isdisjoint(results):
                live.update(item.operands)
                if op == "load":
                    live.add(item.attr)
                kept.append(item)
        elif isinstance(item, Step):
            if not live.isdisjoint(item.results + item.prefix):
                live.update(item.combined, item.inputs, item.init)
                item.block[:] = _alive(item.block, live)
                kept.append(item)
        else:
            if item.more is not None:  # the next turn reads what this one stores
                live.add(item.more)
                live.update(i.attr for i in walk(item.body) if isinstance(i, Instr) and i.op == "load")
            item.body[:] = _alive(item.body, live)
            if item.body:
                live.add(item.count)
                kept.append(item)
    return kept[::-1]
