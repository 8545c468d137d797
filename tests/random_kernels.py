"""Random kernels, and the comparison of a backend with the definition, bit for bit."""

import random
from functools import cache

import numpy as np

from infimum.backend.cpu import CpuBackend
from infimum.backend.python import PythonBackend
from infimum.kernel.ir import PRIMITIVES, Builder, Function, Kernel, Value, function

COUNTS = (0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 48, 100, 257)  # around one run, two runs, whole and broken trees
CONSTANTS = (0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 0.1, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-300, 1e300, 2.0**52, float("inf"))
ADVERSARIAL = np.array(sorted({s * x for s in (1.0, -1.0) for x in (
    5e-324, 1e-310, 2.225073858507201e-308, 2.2250738585072014e-308, 1e-300, 1e-160, 0.1, 0.5, 1 - 2.0**-53, 1.0, 1 + 2.0**-52,
    1.5, 2.5, 3.0, 2.0**52 - 0.5, 2.0**52, 2.0**53, 1e160, 1e300, 8.98846567431158e307, 1.7976931348623157e308, np.inf)})
    + [0.0, -0.0, np.nan])
ROWS, DATA = 4, 300


def bit_patterns(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Doubles of every exponent, infinities and NaN among them."""
    return rng.integers(-(2**63), 2**63 - 1, shape, dtype=np.int64, endpoint=True).view(np.float64)


def same_bits(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where two arrays hold the same double; all NaN are one."""
    return (a.view(np.int64) == b.view(np.int64)) | (np.isnan(a) & np.isnan(b))


class Writer:
    """Writes one random kernel with a builder. `pool` holds the doubles in scope, `positions` the uniform integers."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        self.b = Builder()
        self.seed = seed
        self.pool: list[Value] = []
        self.positions: list[Value] = []  # each lies in 0 … 256
        self.udata: list[int] = []
        self.turns = 1  # of all the loops around
        self.outputs = 0
        self.functions: list[Function] = []

    def kernel(self) -> tuple[Kernel, int, np.ndarray]:
        """(kernel, rows of its output, udata)."""
        b, rng = self.b, self.rng
        for n in range(rng.randrange(3)):
            self.functions.append(function(f"random_{self.seed}_{n}", rng.randint(1, 3), self.function_body))
        self.pool = [b.input(0, row) for row in range(ROWS)] + [b.data(rng.randrange(DATA)), b.const(rng.choice(CONSTANTS))]
        for _ in range(rng.randint(2, 4)):
            self.operations(rng.randint(1, 8))
            if rng.random() < 0.8:
                self.loop()
        self.operations(3)
        for value in dict.fromkeys(self.pool):
            self.output(value)
        return b.kernel(f"random_{self.seed}", 1, 1), self.outputs, np.array(self.udata, np.int64)

    def output(self, value: Value, turn: "int | Value" = 0, turns: int = 1) -> None:
        """Stores a value, in a loop of at most `turns` turns one of each turn."""
        self.b.output(0, self.b.place("uadd", turn, self.outputs), value)
        self.outputs += turns

    def function_body(self, b: Builder, *params: Value) -> tuple[Value, ...]:
        outer = self.b, self.pool, self.positions
        self.b, self.pool, self.positions = b, list(params), []
        self.operations(self.rng.randint(2, 10))
        if self.rng.random() < 0.3:
            self.loop(static=True)
        results = tuple(self.pool[-self.rng.randint(1, 3):])
        self.b, self.pool, self.positions = outer
        return results

    # ---- straight code
    def pick(self, type: str) -> Value:
        b, rng = self.b, self.rng
        if type == "f":
            return rng.choice(self.pool) if rng.random() < 0.9 else b.const(rng.choice(CONSTANTS))
        if type == "i":
            x = rng.choice(self.pool)
            number = b.bits(b.select(b.uno(x, x), 1.0, x))  # the payload of a NaN is no part of the meaning
            return number if rng.random() < 0.6 else b.iconst(rng.choice((0, 1, -1, 2**52, -(2**63), rng.getrandbits(63))))
        if type == "m":
            if self.positions and rng.random() < 0.3:
                return getattr(b, rng.choice(("ule", "ueq")))(rng.choice(self.positions), rng.randrange(20))
            return getattr(b, rng.choice(("olt", "ole", "oeq", "ogt", "oge", "uno")))(self.pick("f"), self.pick("f"))
        raise AssertionError(type)

    def operations(self, count: int) -> None:
        """Adds `count` results to the pool, most of them tame enough that further operations still say something."""
        b, rng = self.b, self.rng
        for _ in range(count):
            if self.functions and rng.random() < 0.15:
                f = rng.choice(self.functions)
                operands = [self.pick("f") for _ in f.params]
                self.pool += b.call(f, *operands) if rng.random() < 0.5 else b.call_where(
                    f, self.pick("m"), tuple(self.pick("f") for _ in f.results), *operands)
                continue
            op = rng.choice([op for op in PRIMITIVES if "u" not in PRIMITIVES[op][0] + PRIMITIVES[op][1]])
            if rng.random() < 0.5:
                op = rng.choice(("add", "sub", "mul", "div", "sqrt", "fma", "neg"))
            takes, gives = PRIMITIVES[op]
            operands = [self.pick(type) for type in takes]
            if op in ("ishl", "ilshr", "iashr"):
                operands[1] = b.iand(operands[1], 63)
            if op == "sqrt" and rng.random() < 0.8:
                operands = [b.abs(operands[0])]
            value = getattr(b, op)(*operands)
            if gives == "i":
                value = b.float(value)
            elif gives == "m":
                value = b.select(b.mor(value, b.mnot(self.pick("m"))), self.pick("f"), self.pick("f"))
            if rng.random() < 0.7:
                value = b.select(b.olt(b.abs(value), 1e200), value, self.pick("f"))
            self.pool.append(value)

    # ---- loops
    def loop(self, static: bool = False) -> None:
        """A loop with steps, scans, a buffer and perhaps a loop inside; what comes out of it joins the pool."""
        b, rng = self.b, self.rng
        counts = [n for n in COUNTS if n * self.turns <= 300]
        count = limit = rng.choice(counts)
        if not static and rng.random() < 0.5:
            limit = count + rng.choice((0, 1, 15, 16, 40))
            self.udata.append(count)
            count = b.udata(len(self.udata) - 1)
        buffer = b.buffer(max(limit, 1)) if not static and rng.random() < 0.5 else None
        home, places, turns, outer = len(self.pool), len(self.positions), self.turns, list(self.pool)
        results: list[Value] = []
        with b.loop(count, limit) as turn:
            self.turns *= max(limit, 1)
            self.positions.append(turn.index)
            if not static:
                self.pool.append(b.data(b.place("umin", b.uadd(turn.index, rng.randrange(40)), DATA - 1)))
                self.pool.append(b.input(0, b.umod(turn.index, ROWS)))
            for _ in range(rng.randint(0, 3)):
                self.operations(rng.randint(1, 3))
                results += self.step()
            if self.turns <= 40 and rng.random() < 0.6:
                self.loop(static)
                results += self.step()
            if buffer is not None:
                b.store(buffer, turn.index, self.pool[-1])
            if turns == 1 and not static:
                self.output(self.pool[-1], turn.index, max(limit, 1))
        self.pool[home:], self.positions[places:], self.turns = results, [], turns
        if buffer is not None:
            self.read_back(buffer, count, limit)
        self.pool += outer[:2]  # keeps some numbers from outside likely

    def step(self) -> list[Value]:
        """One step of the innermost loop, sometimes a scan; returns its results, which exist after the loop."""
        b, rng = self.b, self.rng
        combine = rng.choice(_COMBINES)
        width = 2 if combine is _pairwise else 1
        scan = rng.choice((None, None, "inclusive", "exclusive"))
        init = tuple(rng.choice((0.0, -0.0, 1.0)) for _ in range(width))
        step = b.step(init, tuple(self.pick("f") for _ in range(width)), combine, scan)
        self.pool += step.prefix
        return list(step.results)

    def read_back(self, buffer: int, count: "int | Value", limit: int) -> None:
        """Sums what a loop stored, in the other direction."""
        b = self.b
        with b.loop(count, limit) as turn:
            mirrored = b.usub(b.usub(b.position(count), 1), turn.index)
            step = b.step((0.0,), (b.load(buffer, mirrored),), _sum)
        self.pool += step.results


def _sum(b, left, right):
    return (b.add(left[0], right[0]),)


def _product(b, left, right):
    product = b.mul(left[0], right[0])
    return (b.select(b.uno(product, product), 1.0, product),)


def _largest(b, left, right):
    return (b.max(left[0], right[0]),)


def _skew(b, left, right):
    """Not associative at all, so that every change of the tree shows."""
    return (b.fma(left[0], 0.75, b.sub(right[0], 0.1)),)


def _pairwise(b, left, right):
    return b.add(left[0], right[1]), b.max(b.neg(left[1]), right[0])


_COMBINES = (_sum, _product, _largest, _skew, _pairwise)


class Example:
    """A kernel with data, and its results on a few columns by the definition."""

    COLUMNS = 11

    def __init__(self, seed: int):
        rng = np.random.default_rng(seed)
        self.kernel, self.rows, udata = Writer(seed).kernel()
        self.udata = np.append(udata, 0)
        self.data = np.where(rng.random(DATA) < 0.2, rng.choice(ADVERSARIAL, DATA), rng.normal(size=DATA))
        shape = (ROWS, self.COLUMNS)
        self.columns = np.where(rng.random(shape) < 0.5, rng.normal(size=shape), rng.choice(ADVERSARIAL, shape))
        self.expected = np.full((self.rows, self.COLUMNS), 12345.0)  # what a loop that ends early leaves there
        PythonBackend().compile(self.kernel).run([self.columns], [self.expected], self.data, self.udata)

    def differing(self, backend: CpuBackend, boxes: int, threads: int) -> int:
        """How many results of a batch of these columns, in some order, differ from the definition."""
        order = np.random.default_rng(boxes).integers(0, self.COLUMNS, boxes)
        found = np.full((self.rows, boxes), 12345.0)
        batch = np.ascontiguousarray(self.columns[:, order])
        backend.compile(self.kernel).run([batch], [found], self.data, self.udata, threads)
        return int((~same_bits(found, np.ascontiguousarray(self.expected[:, order]))).sum())


@cache
def example(seed: int) -> Example:
    """The example of a seed, made once in a process."""
    return Example(seed)
