"""Very long straight-line programs are compiled in the plain way; kernels that are wanted soon are interpreted, then compiled
plainly, then well, as they have run for longer. The bits are the same."""

import numpy as np
import pytest

import infimum
from infimum.backend import cpu, processor
from infimum.backend.cpu import CpuBackend
from infimum.evaluation.evaluator import Derivative, Evaluator
from infimum.evaluation.programs import JACOBIAN
from infimum.kernel import routines
from infimum.kernel.ir import Builder
from infimum.support.clock import RunTimeOver, Watch, stoppable


def chain(x):
    total = x[0]
    for k in range(400):
        total = total * 0.75 + np.abs(x[k % 3] - 0.25) / 3
    return total


@pytest.fixture
def boxes() -> tuple[np.ndarray, np.ndarray]:
    infimum.evaluation.compiled_programs._lowered.clear()
    cpu._compiled.clear()
    lo = np.random.default_rng(0).uniform(-2, 2, (3, 100))
    return lo, lo + 0.1


def same(one: Derivative, other: Derivative) -> bool:
    pairs = (one.value.lo, other.value.lo), (one.value.hi, other.value.hi), (one.lo, other.lo), (one.hi, other.hi)
    return all((a.view(np.int64) == b.view(np.int64)).all() for a, b in pairs)


def test_long_programs_are_compiled_in_reasonable_time_and_give_the_same_bits(boxes, monkeypatch):
    usual = infimum.compile(chain, 3).gradient(*boxes)
    monkeypatch.setattr(processor, "PLAIN", 100)
    infimum.evaluation.compiled_programs._lowered.clear()
    cpu._compiled.clear()
    assert same(usual, infimum.compile(chain, 3).gradient(*boxes))


def constrained() -> Evaluator:
    return infimum.compile(chain, 3, constraints=lambda x: chain(x[::-1]) <= 1)


def test_kernels_of_systems_are_interpreted_and_compiled_once_they_have_run_for_long(boxes, monkeypatch):
    """The better code is cut into routines, which the plain one is not: it needs more scratch."""
    monkeypatch.setattr(routines, "LONG_CODE", 512)
    f = constrained()
    kernel = f.prepare(JACOBIAN)[0]
    kernel._worth = kernel._code[2].run(200 // kernel.lanes)
    found, ways = [], []
    for _ in range(5):
        found.append(f.jacobian(*boxes))
        ways.append("interpreted" if kernel._code[2] is not None else "plain" if kernel._module.plain else "well")
        if ways[-1] == "plain":
            kernel._worth = 400
    assert ways == ["interpreted", "plain", "plain", "well", "well"], "100 boxes a turn"
    assert all(same(found[0], other) for other in found[1:])
    jacobian = infimum.evaluation.programs.OF_SYSTEM[JACOBIAN]
    well = CpuBackend().compile(jacobian(f.system, infimum.expr.node.var("x", (3,))).kernel)
    assert kernel._code == well._code and not well._module.plain, "compiled once for all"


def test_what_loops_run_is_counted():
    """Turns of loops that end early, in every thread: by that it is decided when to compile."""
    b = Builder()
    left = b.state(1)
    b.store(left, 0, b.input(0, 0))
    with b.rounds(1000) as turn:
        now = b.sub(b.load(left, 0), 1.0)
        b.store(left, 0, now)
        turn.more = b.ogt(now, 0.0)
    b.output(0, 0, b.load(left, 0))
    backend, counts = CpuBackend(), []
    for turns in (10, 20, 40):
        kernel = backend.interpret(b.kernel(f"rounds{turns}", 1, 1))
        before = kernel._code[2].run(0)
        kernel.run([np.full((1, 64), float(turns))], [np.empty((1, 64))], np.zeros(1), np.zeros(1, np.int64), threads=2)
        counts.append((kernel._code[2].run(0) - before) * kernel.lanes // 64)
    assert counts[2] - counts[1] == 2 * (counts[1] - counts[0]) > 100


def test_one_long_turn_is_not_interpreted():
    """Loops whose single turn takes longer than compiling: it could not be cut, so it is not begun."""
    def kernel(turns: int) -> cpu.CompiledKernel:
        b = Builder()
        with b.loop(turns):
            found = b.step((0.0,), (b.input(0, 0),), lambda b, left, right: (b.add(left[0], right[0]),))
        b.output(0, 0, found.results[0])
        return CpuBackend().interpret(b.kernel(f"long{turns}", 1, 1))
    for turns, interpreted in ((20, True), (1 << 22, False)):
        short, out = kernel(turns), np.empty((1, 1))
        short.run([np.full((1, 1), 2.0**-20)], [out], np.zeros(1), np.zeros(1, np.int64))
        assert (short._code[2] is not None) == interpreted and out[0, 0] == turns * 2.0**-20


def test_what_is_very_long_stays_plain(boxes, monkeypatch):
    monkeypatch.setattr(cpu, "PLAIN", 100)
    assert constrained().prepare(JACOBIAN)[0]._better()._better is None


def test_better_code_waits_where_a_run_has_no_time_for_it(boxes):
    f = constrained()
    kernel = f.prepare(JACOBIAN)[0]
    kernel._improve()  # is interpreted no more
    kernel._worth = 1
    with Watch(whole=kernel._takes / 2):
        f.jacobian(*boxes)
        assert kernel._module.plain
    with Watch(whole=1e6):
        f.jacobian(*boxes)
        assert not kernel._module.plain


def test_kernels_hear_the_clock_where_nothing_is_lost(boxes):
    f = infimum.compile(chain, 3)
    f.gradient(*boxes)
    with Watch(whole=0.0):
        f.gradient(*boxes)
        with pytest.raises(RunTimeOver), stoppable():
            f.gradient(*boxes)
