"""Long straight-line code is cut into routines: the same bits, equal parts compiled once, clean code."""

import numpy as np
import pytest

import infimum
import infimum.evaluation.evaluator
from infimum.backend import cpu
from infimum.backend.code_lint import lint_assembly, lint_ir
from infimum.backend.cpu import CpuBackend
from infimum.backend.llvm_routines import RoutineRenderer
from infimum.backend.processor import host
from infimum.evaluation.programs import PROGRAMS
from infimum.expr.node import var
from infimum.kernel import routines
from infimum.support.clock import OutOfTime, Watch
from tests.backend.machines import MACHINES
from tests.random_kernels import example


@pytest.fixture
def short(monkeypatch):
    """Cut nearly everything, in small parts."""
    monkeypatch.setattr(routines, "LONG_CODE", 6)
    monkeypatch.setattr(routines, "_LEAST_INSTRUCTIONS", 8)
    monkeypatch.setattr(routines, "_MOST_INSTRUCTIONS", 20)


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(cpu, "_compiled", type(cpu._compiled)())
    monkeypatch.setattr(infimum.evaluation.compiled_programs, "_lowered", type(infimum.evaluation.compiled_programs._lowered)())


@pytest.mark.parametrize("seed", range(40))
def test_random_kernels_keep_their_bits(short, seed: int):
    for lanes in host().widths():
        assert example(seed).differing(CpuBackend(lanes), 17, 2) == 0


def test_random_kernels_are_cut(short):
    cut = [routines.with_routines(example(seed).kernel) is not example(seed).kernel for seed in range(40)]
    assert sum(cut) > 30


def growth(steps: int):
    def f(x):
        y, error = 0.1, 0.0
        for i in range(steps):
            y = y + 0.02 * x[0] * y * (1 - y / x[1])
            if i % 5 == 0:
                error = error + (y - 0.01 * i) ** 2
        return error
    return f


def kernel_of(steps: int, kind: str = "gradient"):
    return PROGRAMS[kind](infimum.compile(growth(steps), 2).f, var("x", (2,))).kernel


def test_equal_turns_of_a_loop_are_compiled_once():
    """Twice the turns: twice the calls, and no more code."""
    texts = [CpuBackend(2)._texts(kernel_of(steps)) for steps in (60, 120)]
    calls = [work.count("call void @infimum_routine") for work, _, _ in texts]
    assert calls[0] >= 20 and 1.7 * calls[0] <= calls[1] <= 2.3 * calls[0]
    assert len(texts[0][1]) < 20 and len(texts[1][1]) <= len(texts[0][1]) + 2


def test_short_programs_are_not_cut():
    assert not CpuBackend(2)._texts(kernel_of(3))[1]


@pytest.mark.parametrize("kind", ["value", "gradient", "mean_value", "estimate_gradient"])
def test_long_programs_keep_their_bits(monkeypatch, kind: str):
    rng = np.random.default_rng(0)
    lo = rng.uniform(0.2, 1.8, (2, 19))
    boxes = [lo] if kind.startswith("estimate") else [lo, lo + rng.uniform(0, 0.1, lo.shape)]
    monkeypatch.setattr(routines, "LONG_CODE", 300)
    cut = infimum.compile(growth(30), 2).run(kind, boxes)
    monkeypatch.setattr(routines, "LONG_CODE", 10**9)
    infimum.evaluation.compiled_programs._lowered.clear()
    whole = infimum.compile(growth(30), 2).run(kind, boxes)
    for a, b in zip(cut, whole, strict=True):
        assert (a.view(np.int64) == b.view(np.int64)).all()


def test_the_code_is_clean(short):
    compiled = CpuBackend().compile(kernel_of(10, "value"))
    assert not lint_ir(CpuBackend().text(kernel_of(10, "value")))
    assert not lint_ir(compiled.ir) and not lint_assembly(compiled.assembly())
    assert all(not lint_ir(module.ir) and not lint_assembly(module.assembly()) for module in compiled._needs)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("seed", range(6))
def test_the_code_of_every_machine_is_clean(short, machine: str, seed: int):
    """Truth values, too, go from one routine to another, and not every machine has them in one form."""
    ir = MACHINES[machine].module(example(seed).kernel)
    assert not lint_ir(ir) and not lint_assembly(MACHINES[machine].assembly(ir))


def test_slots_are_used_again():
    """A sum of many terms needs few values at a time."""
    kernel = PROGRAMS["value"](infimum.compile(growth(200), 2).f, var("x", (2,))).kernel
    assert RoutineRenderer(CpuBackend(2).spelling, kernel, {}).kernel.buffers[-1] < 200


def test_compiling_hears_the_clock_and_can_be_begun_again():
    backend, kernel = CpuBackend(2), kernel_of(60)
    with pytest.raises(OutOfTime), Watch(-1.0):
        backend.compile(kernel)
    assert backend.compile(kernel).lanes == 2
