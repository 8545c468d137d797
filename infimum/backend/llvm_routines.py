"""Routines as LLVM functions: see `kernel/routines.py`. Equal parts have equal texts, so that each is compiled once."""


from infimum.backend.llvm_text import Renderer, Spelling, Text
from infimum.kernel.ir import Kernel, Value
from infimum.kernel.routines import RoutineBody, RoutineSequence, shape_of, with_routines
from infimum.support.clock import check_time
from infimum.support.digests import blake2b

TABLE = "@infimum_positions"


def declared(name: str) -> str:
    """The declaration of a routine."""
    return f"declare void @{name}(ptr, ptr) #0"


class RoutineRenderer(Renderer):
    """Writes a kernel with routines. `routines` has the text of each under its name, `table` the positions of all calls.

    `context` are the names, with their types, that a lane finds its arrays by. They are handed on in memory: LLVM takes long over
    a thousand calls with many arguments.
    """

    def __init__(self, spelling: Spelling, kernel: Kernel, context: dict[str, str]):
        super().__init__(spelling)
        self.kernel = with_routines(kernel)
        self.slots = f"%buf{len(kernel.buffers)}"
        self.places = {i.results[0]: i.attr for i in kernel.prologue if i.op == "uconst"}
        self.literals = {i.results[0] for i in kernel.prologue if i.op in ("const", "iconst")}
        self.routines: dict[str, str] = {}
        self.table: list[int] = []
        self._names: dict[tuple, str] = {}
        counts = {"in": kernel.inputs, "out": kernel.outputs, "buf": len(self.kernel.buffers)}
        self.context = context | {f"%{name}{i}": "ptr" for name, count in counts.items() for i in range(count)}
        self.head = "(ptr %positions, ptr %context) #0 {\nentry:\n" + "\n".join(
            f"  %at{k} = getelementptr inbounds i64, ptr %context, i64 {k}\n  {name} = load {kind}, ptr %at{k}, align 8"
            for k, (name, kind) in enumerate(self.context.items()))

    def block(self, t: Text, items: list) -> None:
        for item in items:
            if isinstance(item, RoutineSequence):
                self._run_of_routines(t, item)
            else:
                super().block(t, [item])

    def _run_of_routines(self, t: Text, run: RoutineSequence) -> None:
        context = t.fresh("%context")
        t.stacks.append(f"  {context} = alloca [{len(self.context)} x i64]")
        for k, (name, kind) in enumerate(self.context.items()):
            at = t.let(f"getelementptr inbounds i64, ptr {context}, i64 {k}")
            t.lines.append(f"  store {kind} {name}, ptr {at}, align 8")
        for value, slot in run.given:
            self._put(t, value, t.of(value), str(slot))
        for part, slots in zip(run.parts, run.slot, strict=True):
            check_time()
            name, positions = self._routine(t, part, slots)
            at = t.let(f"getelementptr inbounds i64, ptr {TABLE}, i64 {len(self.table)}")
            self.table += positions
            t.lines.append(f"  call void @{name}(ptr {at}, ptr {context}) #0")
        for value, slot in run.kept:
            t.names[value] = self._get(t, value, str(slot))

    def _routine(self, outer: Text, part: RoutineBody, slots: dict[Value, int]) -> tuple[str, list[int]]:
        """The name of the routine, written if there is no equal one, and the positions that this call of it reads."""
        shape, positions = shape_of(part, slots, self.places)
        if shape not in self._names:
            t = Text(self.s)
            t.names = _Names(self, t, outer)
            for item in part.items:
                self.instruction(t, item)
            for value in part.results:
                self._put(t, value, t.of(value), t.names.position())
            text = "\n".join([self.head, *t.lines, "  ret void", "}"])
            name = self._names[shape] = f"routine_{blake2b(text.encode(), digest_size=12).hexdigest()}"
            self.routines[name] = f"define void @{name}{text}"
        return self._names[shape], positions

    def declarations(self) -> list[str]:
        """What the text that calls the routines needs beside them."""
        if not self.routines:
            return []
        table = f"{TABLE} = private constant [{len(self.table)} x i64] [{', '.join(f'i64 {p}' for p in self.table)}]"
        return [table, *map(declared, self.routines)]

    # ---- slots hold doubles
    def _put(self, t: Text, value: Value, name: str, position: str) -> None:
        name = self.s.as_double(t, value.type, name)
        t.lines.append(f"  store {self.s.lane} {name}, ptr {self.s.element(t, self.slots, position)}")

    def _get(self, t: Text, value: Value, position: str) -> str:
        return self.s.from_double(t, value.type, t.let(f"load {self.s.lane}, ptr {self.s.element(t, self.slots, position)}"))


class _Names(dict):
    """The names of values in a routine. What it does not compute itself is read where it is first needed, in the order of
    `shape_of`."""

    def __init__(self, renderer: RoutineRenderer, text: Text, outer: Text):
        self.renderer, self.text, self.outer, self.count = renderer, text, outer, 0

    def position(self) -> str:
        """The next position from the table."""
        at = self.text.let(f"getelementptr inbounds i64, ptr %positions, i64 {self.count}")
        self.count += 1
        return self.text.let(f"load i64, ptr {at}, align 8")

    def __missing__(self, value: Value) -> str:
        if value in self.renderer.literals:
            name = self.outer.names[value]
        else:
            name = self.position()
            if value not in self.renderer.places:
                name = self.renderer._get(self.text, value, name)
        self[value] = name
        return name
