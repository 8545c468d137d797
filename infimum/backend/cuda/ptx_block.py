"""PTX in which a block of threads works on one box: for few boxes with long loops. `work_sharing` says who does what.

**The tree.** A run's values are node (0, run); node (level + 1, j) combines the nodes (level, 2j) and (level, 2j + 1), and is at
(2j + 1) 2**level - 1 among the numbers of its tree, a place for each. These are the merges of the Kernel's binary counter: on its
stack there is, after some runs, node (level, (runs >> level) - 1) for each bit of `runs` that is set. So the merges of a level
are done in any order, by any thread, and all threads fold the same stack.

**Barriers** stand in common code alone, which all threads of a block go through together. One comes before whatever touches a
shared array in a way that does not go with what was done since the last one (`SharedAccesses.meets`): so what threads do between
two of them can be done in any order.
"""

from infimum.backend import ptx
from infimum.backend.cuda.work_sharing import TREE, SharedAccesses, WorkSharing, levels_of, runs_of
from infimum.backend.llvm_text import Renderer, Spelling, Text
from infimum.kernel.ir import Instr, Kernel, Loop, Step

_BARRIER = "  call void @llvm.nvvm.barrier0()"


class BlockSpelling(ptx.CudaSpelling):
    """As for a lane, but most buffers lie once in a block."""

    def __init__(self, private: set[int]):
        self.private = {f"%buf{i}" for i in private}

    def declarations(self) -> str:
        return super().declarations() + "\ndeclare void @llvm.nvvm.barrier0()"

    def element(self, text: Text, buffer: str, position: str) -> str:
        if buffer in self.private:
            position = text.let(f"mul i64 %threads, {position}")
        return Spelling.element(self, text, buffer, position)


class BlockRenderer(Renderer):
    """Writes common code and distributed loops; inside of these (`alone`) a thread goes its own way."""

    def __init__(self, sharing: WorkSharing):
        super().__init__(BlockSpelling(sharing.private))
        self.sharing, self.alone, self.open = sharing, False, SharedAccesses()

    def barrier(self, t: Text) -> None:
        t.lines.append(_BARRIER)
        self.open = SharedAccesses()

    def meet(self, t: Text, items: list) -> None:
        """What comes next touches what these items touch."""
        now = self.sharing.touched(items)
        if self.open.meets(now):
            self.barrier(t)
        self.open |= now

    # ---- common code
    def instruction(self, t: Text, i: Instr) -> None:
        if self.alone or i.op not in ("load", "store", "output"):
            super().instruction(t, i)
            return
        self.meet(t, [i])
        if i.op == "load":
            super().instruction(t, i)
            return
        write, done = t.fresh("write"), t.fresh("done")
        t.branch("%first", write, done)
        t.start(write)
        super().instruction(t, i)
        t.jump(done)
        t.start(done)

    def loop(self, t: Text, loop: Loop) -> None:
        if self.alone:
            super().loop(t, loop)
        elif loop in self.sharing.distributed:
            self.meet(t, [loop])
            self.alone = True
            self._deal(t, loop)
            self.alone = False
        else:
            before = self.open
            super().loop(t, loop)
            self.open |= before  # there may have been no turn

    def turn(self, t: Text, loop: Loop, steps: list[Step], state: list[list[str]], earlier: list | None) -> list[list[str]]:
        """In common code a turn must not meet the one before."""
        if not self.alone and (touched := self.sharing.touched(loop.body)).meets(touched):
            self.barrier(t)
        return super().turn(t, loop, steps, state, earlier)

    # ---- distributed loops
    def _deal(self, t: Text, loop: Loop) -> None:
        steps, first = loop.steps(), self.sharing.distributed[loop]
        if not steps:
            self._run(t, loop, steps, "%in.block", t.of(loop.count), None, "%threads")
            return
        (count, runs), trees = self._runs(t, loop), self._trees(t, loop)
        scans, others = ([n for n, step in enumerate(steps) if bool(step.prefix) is wanted] for wanted in (True, False))
        if first is not None:
            self._totals(t, first, (count, runs), [trees[n] for n in scans])
            self.open |= self.sharing.touched([loop])

        def one(run: str) -> None:
            earlier = self._earlier(t, steps, trees, run, self._top)
            values = self._run(t, loop, steps, *self._ends(t, run, count), earlier)
            self._keep(t, [trees[n] for n in others], "0", run, [values[n] for n in others])
        self._each(t, "%in.block", runs, "%threads", one)
        if others:
            self._levels(t, loop, [steps[n] for n in others], [trees[n] for n in others], runs)
        for step, values in zip(steps, self._fold(t, steps, trees, runs, self._top), strict=True):
            t.names.update(zip(step.results, values, strict=True))
        self.open |= SharedAccesses(read={TREE})

    def _totals(self, t: Text, loop: Loop, sizes: tuple[str, str], trees: list[list[str]]) -> None:
        """The first pass of scans."""
        def one(run: str) -> None:
            self._keep(t, trees, "0", run, self._run(t, loop, loop.steps(), *self._ends(t, run, sizes[0]), None))
        self._each(t, "%in.block", sizes[1], "%threads", one)
        self._levels(t, loop, loop.steps(), trees, sizes[1])

    def _levels(self, t: Text, loop: Loop, steps: list[Step], trees: list[list[str]], runs: str) -> None:
        """All nodes above the runs. As many levels as there can be: those that a shorter loop has not are empty."""
        def one(level: str) -> None:
            self.barrier(t)
            above = t.let(f"add i64 {level}, 1")

            def merge(j: str) -> None:
                left = t.let(f"shl i64 {j}, 1")
                sides = [self._node(t, trees, level, n) for n in (left, t.let(f"add i64 {left}, 1"))]
                self._keep(t, trees, above, j, self._merge(t, steps, *sides))
            self._each(t, "%in.block", t.let(f"lshr i64 {runs}, {above}"), "%threads", merge)
        self._each(t, "0", str(levels_of(loop)), "1", one)
        self.barrier(t)

    # ---- nodes of trees
    def _trees(self, t: Text, loop: Loop) -> list[list[str]]:
        """Room for the tree of each number."""
        found, offset = [], 0
        for step in loop.steps():
            found.append([])
            for _ in step.init:
                found[-1].append(t.let(f"getelementptr inbounds double, ptr %tree, i64 {offset}"))
                offset += 2 * runs_of(loop)
        return found

    def _place(self, t: Text, level: str, number: str) -> str:
        odd = t.let(f"add i64 {t.let(f'shl i64 {number}, 1')}, 1")
        return t.let(f"add i64 {t.let(f'shl i64 {odd}, {level}')}, -1")

    def _node(self, t: Text, trees: list[list[str]], level: str, number: str) -> list[list[str]]:
        return self._read(t, trees, self._place(t, level, number))

    def _top(self, t: Text, trees: list[list[str]], level: str, runs: str) -> list[list[str]]:
        """What is on the stack at that level."""
        return self._node(t, trees, level, t.let(f"add i64 {t.let(f'lshr i64 {runs}, {level}')}, -1"))

    def _keep(self, t: Text, trees: list[list[str]], level: str, number: str, values: list[list[str]]) -> None:
        place = self._place(t, level, number)
        for tree, row in zip(trees, values, strict=True):
            for root, value in zip(tree, row, strict=True):
                t.lines.append(f"  store double {value}, ptr {self._slot(t, root, place)}")


def ir(sharing: WorkSharing) -> str:
    """The LLVM IR of a kernel whose boxes are done by blocks. Arguments as in `ptx`; a block has `sharing.doubles` of scratch."""
    kernel, private = sharing.kernel, sharing.private
    shared = [i for i in range(len(kernel.buffers)) if i not in private]
    offsets, offset, own = {}, 0, 0
    for i in shared:
        offsets[i] = offset
        offset += kernel.buffers[i]
    fixed = offset + sharing.tree
    setup = ["  %first = icmp eq i64 %in.block, 0", f"  %private = mul i64 %threads, {sum(kernel.buffers[i] for i in private)}",
             f"  %each = add i64 %private, {fixed}", "  %begin = mul i64 %block, %each",
             "  %base = getelementptr inbounds double, ptr %scratch, i64 %begin",
             f"  %tree = getelementptr inbounds double, ptr %base, i64 {offset}"]
    setup += [f"  %buf{i} = getelementptr inbounds double, ptr %base, i64 {offsets[i]}" for i in shared]
    for i in sorted(private):
        setup += [f"  %mine{i} = mul i64 %threads, {own}", f"  %own{i} = add i64 %mine{i}, %in.block",
                  f"  %place{i} = add i64 %own{i}, {fixed}",
                  f"  %buf{i} = getelementptr inbounds double, ptr %base, i64 %place{i}"]
        own += kernel.buffers[i]
    # scratch is not noalias: LLVM would take it that no other thread writes there
    return ptx.whole(kernel, BlockRenderer(sharing), setup, "ptr %scratch", "%block", "%blocks", _BARRIER)


def text(kernel: Kernel) -> str:
    """The PTX of a kernel whose boxes are done by blocks."""
    return ptx.assemble(ir(WorkSharing(kernel)))
