"""The CPU equals the definition (the python target) bit for bit, for all widths, threads, batches, words of the caller."""

from functools import cache
from itertools import product

import numpy as np
import pytest

from infimum.interval import elementary
from infimum.lower.kernel import PRIMITIVES, Builder, Kernel
from infimum.target.cpu import CpuTarget
from infimum.target.host import host
from infimum.target.python import PythonTarget
from tests.all_threads import all_threads_work  # noqa: F401
from tests.control_word import USUAL, every_control_word  # noqa: F401
from tests.random_kernels import ADVERSARIAL, bit_patterns, example, same_bits

WIDTHS = host().widths()
BATCHES = (1, 2, 3, 7, 8, 9, 15, 17, 100, 1001)
FEW_BATCHES = (3, 17, 100)
EMPTY = np.zeros(1), np.zeros(1, np.int64)

LANE_PRIMITIVES = [op for op in PRIMITIVES if "u" not in PRIMITIVES[op][0]]
UNIFORM_PRIMITIVES = [op for op in PRIMITIVES if "u" in PRIMITIVES[op][0]]
ROUNDED = ("add", "sub", "mul", "div", "sqrt", "fma")


@pytest.fixture(autouse=True)
def caller_word(every_control_word: int, all_threads_work: None) -> int:  # noqa: F811
    """Every test below runs under every control word of the caller, and threads are threads even in small batches."""
    return every_control_word


def output_halves(b: Builder, row: int, number) -> None:
    """Stores a 64-bit integer as two doubles, 2**52 + each half: as one double it could be a NaN, which has no bits."""
    for half in (b.iand(number, 0xFFFFFFFF), b.ilshr(number, 32)):
        b.output(0, row, b.float(b.ior(half, 0x433 << 52)))
        row += 1


def primitive_kernel(op: str) -> Kernel:
    """One primitive on inputs; truth values are read as x > 0, integers as the bits of a double."""
    takes, gives = PRIMITIVES[op]
    b = Builder()
    operands = []
    for row, type in enumerate(takes):
        x = b.input(0, row)
        operands.append({"f": x, "i": b.bits(x), "m": b.ogt(x, 0.0)}[type])
    if op in ("ishl", "ilshr", "iashr"):
        operands[1] = b.iand(operands[1], 63)
    result = getattr(b, op)(*operands)
    if gives == "i":
        output_halves(b, 0, result)
    else:
        b.output(0, 0, b.select(result, 1.0, 0.0) if gives == "m" else result)
        b.output(0, 1, b.neg(result) if gives == "f" else 0.0)  # a negation must never slip inside a rounding
    return b.kernel(op, 1, 1)


@cache
def primitive_case(op: str) -> tuple[Kernel, np.ndarray, np.ndarray]:
    """(kernel, operands, results by the definition): all pairs or triples of adversarial numbers, and random bits."""
    arity = len(PRIMITIVES[op][0])
    rng = np.random.default_rng(len(op))
    some = np.concatenate([ADVERSARIAL, bit_patterns(rng, (30,))]) if arity < 3 else rng.permutation(ADVERSARIAL)[:27]
    if arity == 3:
        some[:8] = (0.0, -0.0, 5e-324, -5e-324, np.inf, -np.inf, np.nan, 1.0)
    everything = np.array(list(product(some, repeat=arity))).T
    near = rng.choice([1.0, -1.0], (arity, 2000)) * rng.uniform(0.5, 1.0, (arity, 2000))  # sums that cancel
    operands = np.concatenate([everything, bit_patterns(rng, (arity, 2000)), near], axis=1)
    if op == "bits":
        operands = np.where(np.isnan(operands), 1.0, operands)  # the payload of a NaN is no part of the meaning
    return (kernel := primitive_kernel(op)), operands, by_definition(kernel, operands, 2)


def by_definition(kernel: Kernel, inputs: np.ndarray, rows: int) -> np.ndarray:
    expected = np.empty((rows, inputs.shape[1]))
    PythonTarget().compile(kernel).run([inputs], [expected], *EMPTY)
    return expected


@pytest.mark.parametrize("op", LANE_PRIMITIVES)
def test_primitive(op: str):
    kernel, operands, expected = primitive_case(op)
    for lanes in WIDTHS:
        found = np.empty_like(expected)
        CpuTarget(lanes).compile(kernel).run([operands], [found], *EMPTY)
        wrong = np.flatnonzero(~same_bits(found, expected).all(axis=0))
        assert not wrong.size, f"{op}{tuple(operands[:, wrong[0]])} = {found[:, wrong[0]]}, not {expected[:, wrong[0]]}"


@pytest.mark.parametrize("op", ROUNDED)
def test_constant_operands_fold_upward(op: str):
    """Where the compiler computes at compile time, it rounds upward too."""
    arity = len(PRIMITIVES[op][0])
    b = Builder()
    row = 0
    for operands in product((0.1, 3.0, -0.3, 5e-324, 1.7976931348623157e308, -0.0), repeat=arity):
        b.output(0, row, getattr(b, op)(*operands))
        b.output(0, row + 1, b.neg(getattr(b, op)(*map(b.neg, map(b.const, operands)))))
        row += 2
    kernel = b.kernel(f"constant_{op}", 1, 1)
    inputs = np.zeros((1, 9))
    expected, found = by_definition(kernel, inputs, row), np.empty((row, 9))
    CpuTarget().compile(kernel).run([inputs], [found], *EMPTY)
    assert same_bits(found, expected).all()


@pytest.mark.parametrize("op", UNIFORM_PRIMITIVES)
def test_uniform_primitive(op: str):
    """Operands 0 … 19 (divisors from 1), shown through the data they point to."""
    size = 20
    b = Builder()
    with b.loop(size) as i, b.loop(size) as j:
        right = b.umax(j.index, 1) if op in ("udiv", "umod") else j.index
        result = getattr(b, op)(i.index, right)
        value = b.select(result, 1.0, 0.0) if PRIMITIVES[op][1] == "m" else b.data(b.uadd(result, size))
        b.output(0, b.uadd(b.umul(i.index, size), j.index), value)
    kernel = b.kernel(op, 1, 1)
    inputs, data = np.zeros((1, 9)), np.arange(-size, size * size, dtype=float)
    expected, found = (np.empty((size * size, 9)) for _ in range(2))
    PythonTarget().compile(kernel).run([inputs], [expected], data, EMPTY[1])
    CpuTarget().compile(kernel).run([inputs], [found], data, EMPTY[1])
    assert same_bits(found, expected).all()


@pytest.mark.parametrize("seed", range(60))
def test_random_kernel(seed: int, caller_word: int):
    """Calls, nested loops, trees, scans, buffers: the same bits for every width, every batch, one and two threads."""
    batches = BATCHES if caller_word == USUAL else FEW_BATCHES
    for lanes, boxes, threads in product(WIDTHS, batches, (1, 2)):
        differing = example(seed).differing(CpuTarget(lanes), boxes, threads)
        assert differing == 0, f"{lanes} lanes, {boxes} boxes, {threads} threads: {differing} results differ"


@cache
def elementary_case(name: str) -> tuple[Kernel, np.ndarray, np.ndarray]:
    """(kernel, intervals as pairs (-lo, hi), results by the definition): intervals inside the domain, some of one point."""
    row = elementary.row(name)
    b = Builder()
    operands = [b.input(0, i) for i in range(2 * row.arity)]
    for i, value in enumerate((*row.enclose(b, *operands), row.estimate(b, *operands[1::2]))):
        b.output(0, i, value)
    kernel = b.kernel(f"elementary_{name}", 1, 1)
    rng = np.random.default_rng(len(name))
    ends = rng.uniform(0.0, 1.0, (row.arity, 2, 24))
    ends[:, :, :8] = rng.choice([0.0, 5e-324, 1e-310, 1e-200, 0.5, 1 - 2.0**-53, 1.0], (row.arity, 2, 8))
    if name not in ("arcsin", "arccos", "arctanh"):
        ends[:, :, 8:14] *= 10.0 ** rng.integers(-300, 300, (row.arity, 1, 6))
    ends += name == "arccosh"
    ends.sort(axis=1)
    ends[:, 0, ::3] = ends[:, 1, ::3]
    ends[:, 0] *= -1.0
    inputs = np.ascontiguousarray(ends.reshape(2 * row.arity, 24))
    return kernel, inputs, by_definition(kernel, inputs, 3)


@pytest.mark.parametrize("name", elementary.NAMES)
def test_elementary_function(name: str):
    kernel, inputs, expected = elementary_case(name)
    for lanes in WIDTHS:
        found = np.empty_like(expected)
        CpuTarget(lanes).compile(kernel).run([inputs], [found], *EMPTY)
        wrong = np.flatnonzero(~same_bits(found, expected).all(axis=0))
        assert not wrong.size, f"{name} of {inputs[:, wrong[0]]} = {found[:, wrong[0]]}, not {expected[:, wrong[0]]}"
