"""The GPU gives the CPU's bits, and the definition's, whatever the shape of a launch.

    python -m pytest -m gpu

Needs CuPy and an NVIDIA GPU, and nothing else beyond what the library itself needs, pytest and hypothesis.
"""

import json
from functools import cache
from typing import Any

import numpy as np
import pytest

from infimum.backend.cpu import CpuBackend
from infimum.backend.cuda.cuda_backend import CudaBackend
from infimum.backend.cuda.gpu import gpu
from infimum.errors import DeviceError
from infimum.interval import elementary
from infimum.kernel.ir import PRIMITIVES, Builder, Kernel
from tests.backend.cases import (
    EMPTY,
    LANE_PRIMITIVES,
    PROGRAM_CASES,
    ROUNDED,
    ROWS,
    UNIFORM_PRIMITIVES,
    constant_case,
    elementary_case,
    extrema_case,
    primitive_case,
    primitive_kernel,
    program_case,
    program_inputs,
    program_outputs,
    uniform_case,
)
from tests.evaluate.fingerprint import FUNCTIONS, KEPT, fingerprint
from tests.random_kernels import ADVERSARIAL, DATA, bit_patterns, example, same_bits
from tests.random_kernels import ROWS as RANDOM_ROWS


@cache
def why_not() -> str:
    """Why there is no GPU to test, or nothing."""
    try:
        gpu()
    except DeviceError as error:
        return str(error)
    return ""


pytestmark = [pytest.mark.gpu, pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a GPU")]

# blocks of 32, 128, 256 threads; grids that cover the boxes and smaller ones; a part of a warp
SHAPES: list[dict[str, Any]] = [{}, {"block": 32}, {"block": 128}, {"block": 256}, {"block": 32, "grid": 1},
                                {"block": 128, "grid": 3}, {"block": 256, "grid": 2}, {"block": 20, "grid": 7}]
BATCHES = (1, 2, 31, 33, 257, 1001)


def reference(kernel: Kernel, inputs: list[np.ndarray], outputs: list[np.ndarray], data: np.ndarray, udata: np.ndarray) -> None:
    CpuBackend().compile(kernel).run(inputs, outputs, data, udata)


def explain(kernel: Kernel, backend: CudaBackend, inputs: list[np.ndarray], found: list[np.ndarray],
            expected: list[np.ndarray]) -> str:
    """The first result that differs, as bits; nothing if all are equal."""
    for slot, (a, b) in enumerate(zip(found, expected, strict=True)):
        wrong = np.argwhere(~same_bits(a, b))
        if wrong.size:
            row, box = wrong[0]
            given = [x[:6, box].tolist() for x in inputs]
            return (f"{kernel.name} on {backend.name}, {a.shape[1]} boxes: {len(wrong)} of {a.size} results of output {slot} "
                    f"differ; first in row {row}, box {box}: {a[row, box]!r} = {a.view(np.int64)[row, box]:#x} on "
                    f"{backend.gpu.name}, {b[row, box]!r} = {b.view(np.int64)[row, box]:#x} expected; inputs begin with {given}")
    return ""


def check(kernel: Kernel, inputs: list[np.ndarray], expected: list[np.ndarray], data: np.ndarray, udata: np.ndarray,
          shapes: list[dict[str, Any]] = SHAPES) -> None:
    """Every shape of a launch gives the expected bits, and leaves alone what the kernel does not write."""
    for shape in shapes:
        backend = CudaBackend(**shape)
        found = [np.full_like(a, 12345.0) for a in expected]
        backend.compile(kernel).run(inputs, found, data, udata)
        problem = explain(kernel, backend, inputs, found, expected)
        assert not problem, problem


def batch(columns: np.ndarray, boxes: int) -> np.ndarray:
    """So many of these columns, in some order."""
    return np.ascontiguousarray(columns[:, np.random.default_rng(boxes).integers(0, columns.shape[1], boxes)])


def test_the_fingerprint_is_the_one_of_all_machines():
    assert fingerprint(CudaBackend()) == json.loads(KEPT.read_text())


# ---- primitives
@pytest.mark.parametrize("op", LANE_PRIMITIVES)
def test_primitive_equals_the_definition(op: str):
    kernel, operands, expected = primitive_case(op)
    check(kernel, [operands], [expected], *EMPTY)


@pytest.mark.parametrize("op", LANE_PRIMITIVES)
def test_primitive_equals_the_cpu_on_many_random_bits(op: str):
    kernel, rng = primitive_kernel(op), np.random.default_rng(7)
    arity = len(PRIMITIVES[op][0])
    operands = bit_patterns(rng, (arity, 1 << 18))
    near = rng.normal(size=operands.shape) * 2.0 ** rng.integers(-40, 40, operands.shape)
    operands[:, ::2] = near[:, ::2]
    operands[:, ::64] = rng.choice(ADVERSARIAL, operands[:, ::64].shape)
    if op == "bits":
        operands = np.where(np.isnan(operands), 1.0, operands)
    expected = np.full((2, operands.shape[1]), 12345.0)
    reference(kernel, [operands], [expected], *EMPTY)
    check(kernel, [operands], [expected], *EMPTY, shapes=[{}])


@pytest.mark.parametrize("op", ROUNDED)
def test_constant_operands_fold_upward(op: str):
    kernel, inputs, expected = constant_case(op)
    check(kernel, [inputs], [expected], *EMPTY, shapes=[{}])


@pytest.mark.parametrize("op", UNIFORM_PRIMITIVES)
def test_uniform_primitive(op: str):
    kernel, inputs, data, expected = uniform_case(op)
    check(kernel, [inputs], [expected], data, EMPTY[1], shapes=[{}, {"block": 4, "grid": 1}])


def test_minimum_and_maximum_keep_the_sign_of_zero():
    kernel, inputs = extrema_case()
    expected = np.full((6, inputs.shape[1]), 12345.0)
    reference(kernel, [inputs], [expected], *EMPTY)
    check(kernel, [inputs], [expected], *EMPTY, shapes=[{}])


# ---- whole kernels
@pytest.mark.parametrize("seed", range(60))
def test_random_kernel(seed: int):
    """Calls, nested loops, trees, scans, buffers: every shape, odd batches, against the definition and the CPU."""
    case = example(seed)
    check(case.kernel, [case.columns], [case.expected], case.data, case.udata)
    rng = np.random.default_rng(seed)
    columns = np.where(rng.random((RANDOM_ROWS, 400)) < 0.5, rng.normal(size=(RANDOM_ROWS, 400)),
                       rng.choice(ADVERSARIAL, (RANDOM_ROWS, 400)))
    assert case.data.size == DATA
    for n, boxes in enumerate(BATCHES):
        inputs, expected = batch(columns, boxes), np.full((case.rows, boxes), 12345.0)
        reference(case.kernel, [inputs], [expected], case.data, case.udata)
        check(case.kernel, [inputs], [expected], case.data, case.udata, shapes=[{}, SHAPES[1 + (seed + n) % 7]])


@pytest.mark.parametrize("name", elementary.NAMES)
def test_elementary_function(name: str):
    kernel, intervals, by_definition = elementary_case(name)
    check(kernel, [intervals], [by_definition], *EMPTY)
    rng = np.random.default_rng(len(name))
    ends = np.sort(rng.uniform(0.0, 1.0, (intervals.shape[0] // 2, 2, 50_001)), axis=1)
    if name not in ("arcsin", "arccos", "arctanh"):
        ends[:, :, ::2] *= 10.0 ** rng.integers(-300, 300, (ends.shape[0], 1, ends[:, :, ::2].shape[2]))
        ends[:, :, 1::4] *= 20.0
    ends += name == "arccosh"
    ends[:, 0, ::3] = ends[:, 1, ::3]
    if name in ("sin", "cos", "tan", "exp", "tanh", "sinh", "cosh", "arctan", "arcsinh", "cbrt", "expit", "erf", "erfc"):
        ends[:, :, ::5] = -ends[:, ::-1, ::5]
    ends[:, 0] *= -1.0
    inputs = np.ascontiguousarray(ends.reshape(intervals.shape[0], -1))
    expected = np.full((3, inputs.shape[1]), 12345.0)
    reference(kernel, [inputs], [expected], *EMPTY)
    check(kernel, [inputs], [expected], *EMPTY, shapes=[{}, {"block": 256, "grid": 5}])


@pytest.mark.parametrize(("function", "n", "kind"), PROGRAM_CASES)
def test_program(function: str, n: int, kind: str):
    """Every kernel of an Evaluator."""
    kernel, doubles, positions = program_case(function, n, kind)
    for boxes in (1, 257):
        inputs, expected = program_inputs(kernel, boxes, n), program_outputs(kernel, boxes)
        reference(kernel, inputs, expected, doubles, positions)
        forty_boxes = 2 * 40 * 8 * max(ROWS * (kernel.inputs + kernel.outputs), sum(kernel.buffers))
        shapes = [{}, {"block": 32, "grid": 2}, {"block": 256, "grid": 1}, {"memory_limit": forty_boxes}]
        check(kernel, inputs, expected, doubles, positions, shapes)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_evaluator(name: str):
    """Through the door that engines use: not a bit differs, and no NaN is stored, so bits are plain integers here."""
    import infimum

    n, rng = 7, np.random.default_rng(3)
    lo = rng.uniform(-2.0, 2.0, (n, 333))
    hi = lo + rng.uniform(0.0, 0.25, (n, 333))
    hi[0, ::7], lo[1, ::11] = np.inf, -np.inf
    on_cpu, on_gpu = (infimum.compile(FUNCTIONS[name], n, backend=backend) for backend in (CpuBackend(), CudaBackend()))
    for kind in ("value", "mean_value", "gradient", "hessian"):
        for a, b in zip(on_gpu.run(kind, [lo, hi]), on_cpu.run(kind, [lo, hi]), strict=True):
            differing = (a.view(np.int64) != b.view(np.int64)).sum()
            assert differing == 0, f"{kind} of {name}: {differing} of {a.size} numbers differ"


# ---- memory
def some_kernel() -> tuple[Kernel, list[np.ndarray], np.ndarray, np.ndarray, np.ndarray]:
    """(kernel with a buffer, inputs, data, udata, result of the CPU) on an odd number of boxes."""
    seed = next(seed for seed in range(60) if sum(example(seed).kernel.buffers) > 10)
    case = example(seed)
    inputs, expected = [batch(case.columns, 5003)], np.full((case.rows, 5003), 12345.0)
    reference(case.kernel, inputs, [expected], case.data, case.udata)
    return case.kernel, inputs, case.data, case.udata, expected


def test_little_memory_splits_launches_and_changes_nothing():
    kernel, inputs, data, udata, expected = some_kernel()
    bytes_a_box = 8 * (inputs[0].shape[0] + expected.shape[0])
    limits = [2 * (bytes_a_box * boxes + 8 * sum(kernel.buffers)) for boxes in (1000, 4999, 5003)]
    check(kernel, inputs, [expected], data, udata, shapes=[{"memory_limit": limit} for limit in limits])


def test_a_box_that_does_not_fit_is_refused():
    kernel, inputs, data, udata, expected = some_kernel()
    with pytest.raises(DeviceError, match="one box needs"):
        CudaBackend(memory_limit=64).compile(kernel).run(inputs, [expected.copy()], data, udata)


def test_arrays_on_the_device_are_worked_on_in_place():
    cupy = gpu().cupy
    kernel, inputs, data, udata, expected = some_kernel()
    there, out = cupy.empty(inputs[0].shape), cupy.empty(expected.shape)
    there.set(inputs[0])
    compiled = CudaBackend().compile(kernel)
    for given in ((data, udata), tuple(_sent(cupy, a) for a in (data, udata))):
        out.set(np.full_like(expected, 12345.0))
        compiled.run([there], [out], *given)
        assert same_bits(out.get(), expected).all()
    with cupy.cuda.Stream(non_blocking=True) as stream:
        out.set(np.full_like(expected, 12345.0))
        compiled.run([there], [out], data, udata)
        stream.synchronize()
        assert same_bits(out.get(), expected).all()


def _sent(cupy: Any, array: np.ndarray) -> Any:
    there = cupy.empty(array.shape, array.dtype)
    there.set(array)
    return there


def test_changed_constants_are_seen():
    b = Builder()
    b.output(0, 0, b.add(b.input(0, 0), b.data(0)))
    compiled = CudaBackend().compile(b.kernel("shifted", 1, 1))
    x, out, data = np.arange(100.0).reshape(1, 100), np.empty((1, 100)), np.zeros(2)
    for shift in (1.0, 1.0, -5.0):
        data[0] = shift
        compiled.run([x], [out], data, EMPTY[1])
        assert (out == x + shift).all()


def test_the_same_answers_from_several_threads():
    from concurrent.futures import ThreadPoolExecutor

    kernel, inputs, data, udata, expected = some_kernel()
    compiled = CudaBackend().compile(kernel)

    def work(n: int) -> int:
        found = np.full_like(expected, 12345.0)
        compiled.run(inputs, [found], data, udata)
        return int((~same_bits(found, expected)).sum())
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(12))) == [0] * 12
