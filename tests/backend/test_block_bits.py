"""A block of a real GPU's threads on one box gives the CPU's bits, whatever the shape of a launch.

    python -m pytest -m gpu
"""

from typing import Any

import numpy as np
import pytest

import infimum
from infimum.backend.cpu import CpuBackend
from infimum.backend.cuda import launch
from infimum.backend.cuda.cuda_backend import CudaBackend
from infimum.backend.cuda.work_sharing import WorkSharing
from infimum.kernel.ir import Kernel
from tests.backend.block_cases import RandomSharing, long_kernel, nested_kernel
from tests.backend.cases import EMPTY, PROGRAM_CASES, program_case, program_inputs, program_outputs
from tests.backend.test_cuda_bits import batch, explain, reference, why_not
from tests.random_kernels import example

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a GPU")]
SHAPES: list[dict[str, Any]] = [{}, {"block": 1}, {"block": 32, "grid": 1}, {"block": 100}, {"block": 256, "grid": 2},
                                {"block": 1024, "grid": 3}]


@pytest.fixture
def in_blocks(monkeypatch):
    """Whatever the boxes, blocks share them; by_chance(seed) leaves it to chance which loops are distributed."""
    monkeypatch.setattr(launch.BlockLaunch, "_pays", lambda self, count, busy: True)

    def by_chance(seed: int) -> None:
        monkeypatch.setattr(launch, "WorkSharing", lambda kernel: RandomSharing(kernel, seed))
    return by_chance


def check(kernel: Kernel, inputs: list[np.ndarray], expected: list[np.ndarray], data: np.ndarray, udata: np.ndarray,
          shapes: list[dict[str, Any]] = SHAPES) -> None:
    reference(kernel, inputs, expected, data, udata)
    for shape in shapes:
        backend = CudaBackend(**shape)
        found = [np.full_like(a, 12345.0) for a in expected]
        compiled = backend.compile(kernel)
        compiled.run(inputs, found, data, udata)
        assert "_function" in vars(compiled._blocks)
        problem = explain(kernel, backend, inputs, found, expected)
        assert not problem, problem


@pytest.mark.parametrize("seed", range(60))
def test_random_kernel(in_blocks, seed: int):
    case = example(seed)
    for n, boxes in enumerate((1, 5, 301)):
        if n:
            in_blocks(seed)
        inputs, expected = batch(case.columns, boxes), np.full((case.rows, boxes), 12345.0)
        check(case.kernel, [inputs], [expected], case.data, case.udata, [{}, SHAPES[1 + (seed + n) % 5]])


@pytest.mark.parametrize("count", (0, 1, 15, 16, 17, 31, 32, 33, 255, 256, 257, 1000, 65_537, 300_000))
def test_every_length(in_blocks, count: int):
    rng, limit = np.random.default_rng(count), count + count % 3
    inputs, data = rng.normal(size=(4, 3)), rng.normal(size=limit + 1)
    check(long_kernel(limit), [inputs], [np.full((limit + 4, 3), 12345.0)], data, np.array([count]))


@pytest.mark.parametrize(("rows", "columns"), [(3000, 40), (3, 70_000), (300, 300)])
def test_loops_inside_of_loops(in_blocks, rows: int, columns: int):
    rng = np.random.default_rng(rows)
    for seed in range(3):
        check(nested_kernel(rows, columns), [rng.normal(size=(4, 3))], [np.full((rows, 3), 12345.0)],
              rng.normal(size=rows + columns), EMPTY[1], SHAPES[2:])
        in_blocks(seed)


@pytest.mark.parametrize(("function", "n", "kind"), PROGRAM_CASES)
def test_program(in_blocks, function: str, n: int, kind: str):
    kernel, doubles, positions = program_case(function, n, kind)
    in_blocks(n)
    check(kernel, program_inputs(kernel, 3, n), program_outputs(kernel, 3), doubles, positions, [{}, {"block": 32, "grid": 2}])


def test_very_many_variables_share_a_block_of_their_own_accord():
    def waves(x):
        return np.sum(x**2 - 10 * np.cos(6 * x)) + np.max(np.abs(x)) - np.sum(np.cumsum(x) ** 2) / len(x)
    n, rng = 200_000, np.random.default_rng(0)
    on_cpu, on_gpu = (infimum.compile(waves, n, backend=backend) for backend in (CpuBackend(), CudaBackend()))
    for boxes in (1, 4):
        lo = rng.uniform(-2, 2, (n, boxes))
        for kind in ("value", "gradient", "mean_value"):
            for a, b in zip(on_gpu.run(kind, [lo, lo + 0.01]), on_cpu.run(kind, [lo, lo + 0.01]), strict=True):
                assert (a.view(np.int64) == b.view(np.int64)).all(), kind
            assert "_function" in vars(on_gpu.prepare(kind)[0]._blocks)


def test_little_memory_changes_nothing(in_blocks):
    kernel, rng = long_kernel(5000), np.random.default_rng(5)
    inputs, data, count = rng.normal(size=(4, 9)), rng.normal(size=5000), np.array([4999])
    each = 8 * WorkSharing(kernel).doubles(512)
    shapes = [{"memory_limit": 2 * limit} for limit in (each, 3 * each, 9 * each + 9 * 8 * 5008)]
    check(kernel, [inputs], [np.full((5004, 9), 12345.0)], data, count, shapes)
