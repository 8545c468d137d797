"""Kernels with operands that tell backends apart, and their results by the definition (the python backend)."""

from functools import cache
from itertools import product
from typing import Any

import numpy as np

from infimum.backend.python import PythonBackend
from infimum.bounds.newton_kernel import SweepPlan
from infimum.evaluation import programs
from infimum.expr.build import build, index, reshape
from infimum.expr.node import var
from infimum.interval import elementary
from infimum.kernel.ir import PRIMITIVES, Builder, Kernel, Value
from infimum.ops.vocabulary import OPS
from infimum.problem.system import System
from infimum.trace.trace import trace
from infimum.trace.tracer import Tracer
from tests.evaluate.fingerprint import FUNCTIONS, dyadic
from tests.oracle.tables import TABLES
from tests.random_kernels import ADVERSARIAL, bit_patterns

EMPTY = np.zeros(1), np.zeros(1, np.int64)
LANE_PRIMITIVES = [op for op in PRIMITIVES if "u" not in PRIMITIVES[op][0]]
UNIFORM_PRIMITIVES = [op for op in PRIMITIVES if "u" in PRIMITIVES[op][0]]
ROUNDED = ("add", "sub", "mul", "div", "sqrt", "fma")


def by_definition(kernel: Kernel, inputs: np.ndarray, rows: int, data: np.ndarray = EMPTY[0]) -> np.ndarray:
    """The only output of a kernel with one input."""
    expected = np.empty((rows, inputs.shape[1]))
    PythonBackend().compile(kernel).run([inputs], [expected], data, EMPTY[1])
    return expected


def output_halves(b: Builder, row: int, number: Value) -> None:
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


def constant_case(op: str) -> tuple[Kernel, np.ndarray, np.ndarray]:
    """(kernel, an input that it does not read, results): a rounded operation on constants, which a compiler may do itself."""
    b, row = Builder(), 0
    for operands in product((0.1, 3.0, -0.3, 5e-324, 1.7976931348623157e308, -0.0), repeat=len(PRIMITIVES[op][0])):
        b.output(0, row, getattr(b, op)(*operands))
        b.output(0, row + 1, b.neg(getattr(b, op)(*map(b.neg, map(b.const, operands)))))
        row += 2
    inputs = np.zeros((1, 9))
    return (kernel := b.kernel(f"constant_{op}", 1, 1)), inputs, by_definition(kernel, inputs, row)


def uniform_case(op: str) -> tuple[Kernel, np.ndarray, np.ndarray, np.ndarray]:
    """(kernel, an input that it does not read, data, results): operands 0 … 19 (divisors from 1), shown by what they point to."""
    size, b = 20, Builder()
    with b.loop(size) as i, b.loop(size) as j:
        right = b.umax(j.index, 1) if op in ("udiv", "umod") else j.index
        result = getattr(b, op)(i.index, right)
        value = b.select(result, 1.0, 0.0) if PRIMITIVES[op][1] == "m" else b.data(b.uadd(result, size))
        b.output(0, b.uadd(b.umul(i.index, size), j.index), value)
    kernel = b.kernel(op, 1, 1)
    inputs, data = np.zeros((1, 9)), np.arange(-size, size * size, dtype=float)
    return kernel, inputs, data, by_definition(kernel, inputs, size * size, data)


def elementary_kernel(name: str) -> Kernel:
    """The enclosure and the estimate at its upper ends."""
    row = elementary.row(name)
    b = Builder()
    operands = [b.input(0, i) for i in range(2 * OPS[name].arity)]
    for i, value in enumerate((*row.enclose(b, *operands), row.estimate(b, *operands[1::2]))):
        b.output(0, i, value)
    return b.kernel(f"elementary_{name}", 1, 1)


@cache
def elementary_case(name: str) -> tuple[Kernel, np.ndarray, np.ndarray]:
    """(kernel, intervals as pairs (-lo, hi), results by the definition): intervals inside the domain, some of one point."""
    kernel = elementary_kernel(name)
    rng = np.random.default_rng(len(name))
    ends = rng.uniform(0.0, 1.0, (OPS[name].arity, 2, 24))
    ends[:, :, :8] = rng.choice([0.0, 5e-324, 1e-310, 1e-200, 0.5, 1 - 2.0**-53, 1.0], (OPS[name].arity, 2, 8))
    if name not in ("arcsin", "arccos", "arctanh"):
        ends[:, :, 8:14] *= 10.0 ** rng.integers(-300, 300, (OPS[name].arity, 1, 6))
    ends += name == "arccosh"
    ends.sort(axis=1)
    ends[:, 0, ::3] = ends[:, 1, ::3]
    ends[:, 0] *= -1.0
    inputs = np.ascontiguousarray(ends.reshape(2 * OPS[name].arity, 24))
    return kernel, inputs, by_definition(kernel, inputs, 3)


# ---- the kernels of an Evaluator
ROWS = 512  # more than any of the programs below reads or writes
# the parameters of programs, by the numbers behind their names, which are those of the cases
_PARAMETERS = {programs.BRANCH: ("in_boxes", "alike"), programs.BRANCH_BY_PIECES: ("unbounded", "in_boxes", "alike"),
               programs.BLOCK_CONTEXT: ("block",), programs.COMPLETE: ("m", "p", "samples"), programs.CELLS: ("constants",),
               programs.STEEP_TERMS: ("constants",), programs.SECOND_ORDER_BOUND: ("constants",),
               programs.AT_POINTS: ("constants",), programs.CURVES: ("constants",), programs.FACES: ("boxes", "between"),
               programs.TERM_HESSIAN: ("constants",), programs.TERM_CURVATURE: ("constants", "count"),
               programs.SUBDOMAIN: ("pieces", "divided", "form", "choice"), programs.COMPLETE_SYSTEM: ("m", "p", "samples"),
               programs.REGION_OUTCOME: ("boxes",), programs.CONTEXT: ("slices",), programs.SPREAD: ("in_boxes",),
               programs.LOOP_TESTS: ("in_boxes",), programs.LOOP_SPLIT: ("gaps",), programs.LEVENBERG: ("stride",),
               programs.PROPAGATE: ("written_out",), programs.LAGRANGIAN: ("curved", "logarithmic")}
_SIZES = {programs.BRANCH_BY_PIECES: (1,), programs.BLOCK_CONTEXT: (2,), programs.COMPLETE: (2, 4, 2), programs.CELLS: (0,),
          programs.STEEP_TERMS: (0,), programs.SECOND_ORDER_BOUND: (0,), programs.AT_POINTS: (0,), programs.CURVES: (0,),
          programs.FACES: (3,),
          programs.TERM_HESSIAN: (0,), programs.TERM_CURVATURE: (0, 2), programs.SUBDOMAIN: (2, 2, 1, 1),
          programs.COMPLETE_SYSTEM: (2, 4, 2)}


def parameters_of(program: str, numbers: tuple[int, ...]) -> dict[str, Any]:
    """The parameters of a program that these numbers stand for."""
    if program == programs.CONTRACT and numbers:
        return {"in_boxes": bool(numbers[0]), "recipe": SweepPlan(*numbers[1:])}
    return dict(zip(_PARAMETERS.get(program, ()), numbers, strict=False))


_NEEDS_NO_LOCAL_FORM = (programs.VALUE, programs.GRADIENT, programs.HESSIAN, programs.MEAN_VALUE, programs.ESTIMATE,
                        programs.ESTIMATE_GRADIENT, programs.ESTIMATE_HESSIAN_VECTOR, programs.DESCENT_DENSE,
                        programs.DESCENT_LIMITED, programs.PROBE, programs.BOUND)
_NEEDS_TERMS = (programs.TERMS, programs.REDUCED)  # of one variable each, which a stencil has not
_FEW_VARIABLES = (programs.CONTRACT, programs.LOWEST, programs.AFFINE, programs.CURVES)  # this has three variables at most,
# the others have no loops
_NEEDS_TANGENTS = (programs.TANGENT,)  # of functions of several variables, which waves have not
_LEAST_SQUARES = (programs.RESIDUALS, programs.BANDS, programs.PROJECTION, programs.LEVENBERG)
_LONG = (programs.LINEAR, programs.LINEAR_ENCLOSURE)  # with affine forms of many variables
_NOT_FOR_WAVES = _FEW_VARIABLES + _NEEDS_TANGENTS + _LEAST_SQUARES + _LONG
_SECOND_ORDER = (programs.HESSIAN, programs.CURVATURE, programs.TERM_HESSIAN, programs.TERM_CURVATURE)  # grow with n**2
# to simulate on a block of threads
_COSTLY = _SECOND_ORDER + (programs.SECOND_ORDER_BOUND, programs.BRANCH_BY_PIECES, programs.SEQUENTIAL)
PROGRAM_CASES = [("waves", 6 if kind in _COSTLY else 20, kind) for kind in programs.PROGRAMS if kind not in _NOT_FOR_WAVES]
PROGRAM_CASES += [("stencil", 5, kind) for kind in programs.PROGRAMS if kind not in _NEEDS_TERMS + _LEAST_SQUARES + _LONG]
PROGRAM_CASES += [("fit", 3, kind) for kind in (programs.HESSIAN, *_LEAST_SQUARES, f"{programs.LEVENBERG}:3")]
PROGRAM_CASES += [("waves", 20, f"{kind}:1") for kind in (programs.BRANCH, programs.SPREAD)]
PROGRAM_CASES += [("waves", 4, f"{programs.CONTRACT}:1"), ("waves", 4, f"{programs.CONTRACT}:1:2:1:1:1")]
PROGRAM_CASES += [("waves", 4, f"{kind}:1") for kind in (programs.LOOP_TESTS, programs.LOOP_SPLIT)]
PROGRAM_CASES += [(f, 5, kind) for f in ("kinks", "network")
                  for kind in (*_NEEDS_NO_LOCAL_FORM, programs.CELLS, programs.STEEP_TERMS)]
PROGRAM_CASES += [("kinks", 3, kind) for kind in (programs.AT_POINTS, programs.CURVES)]
PROGRAM_CASES += [("splined", 3, kind) for kind in (programs.VALUE, programs.HESSIAN, programs.BOUND, programs.DESCENT_LIMITED,
                                                    programs.CURVES)]
PROGRAM_CASES += [(f, 4, programs.LINEAR) for f in ("kinks", "network", "hinges")] + [("network", 2, programs.LINEAR_ENCLOSURE)]
PROGRAM_CASES += [("stencil", 33, programs.LINEAR)]  # without affine forms
PROGRAM_CASES += [("system", 4, kind) for kind in programs.OF_SYSTEM]
_WITHOUT_BRANCHES = (programs.LIFTED, programs.COLUMNS)
PROGRAM_CASES += [("constrained", 4, kind) for kind in programs.OF_SYSTEM if kind not in _WITHOUT_BRANCHES]
PROGRAM_CASES += [("constrained", 17, f"{programs.PROPAGATE}:0")]
PROGRAM_CASES += [("system", 4, f"{programs.SUBDOMAIN}:3:2:0:0")]


def fit(x):
    """A sum of squares over data."""
    t = dyadic(1, 40, 3)[0]
    return np.sum((x[0] * np.exp(-x[1] * t) + x[2] / (1 + t) - dyadic(1, 40, 5)[0]) ** 2)


def splined(x):
    """Splines: smooth, with kinks and a domain, with many pieces."""
    return sum(np.sum(Tracer(build("spline", x.expr, table=table)) * x) for table in (TABLES[0], TABLES[3], TABLES[7]))


def hinges(x):
    """Two layers of a network, whose functions bend at one point or have an inflection, of sums over neighbours and products."""
    n = len(x)
    first = np.maximum(x[1:] - 0.5 * x[:-1], 0.125 * x[1:]) * np.sin(x[:-1])
    second = np.logaddexp((dyadic(3, n - 1, 9) * 2 - 1) @ first, 0.0) - 1 / (1 + np.exp(-x[0]))
    return np.sum(np.minimum(second, np.arctan(x[-1])) * (dyadic(1, 3, 11)[0] - 0.5)) + np.linalg.norm(first) / (1 + x[0] ** 2)


def small_system(n: int) -> System:
    """An equation, a constraint from both sides, two that are bounded on one side, and a whole number."""
    f, ring, product = (trace(g, n, ()) for g in (
        lambda x: np.sum((x - 1) ** 2) + x[0] * x[1], lambda x: x[0] ** 2 + x[1] ** 2, lambda x: x[0] * x[2] - x[3]))
    x = var("x", (n,))
    roots = build("sqrt", build("add", build("abs", index(x, slice(2, 4))), 1.0))
    vector = build("sub", build("mul", 3.0, index(x, slice(2))), roots)
    return System(f, (reshape(ring, (1,)), reshape(product, (1,)), vector), np.array([0.5, 1.0, -np.inf, 0.0]),
                  np.array([2.0, 1.0, 0.75, np.inf]), (3,))


def constrained(n: int) -> System:
    """A function and constraints with arrays, branches and domains."""
    x = var("x", (n,))
    first, second = (build("slice", x, starts=(k,), steps=(1,), counts=(n - 1,)) for k in (0, 1))
    waves = build("sub", build("mul", first, build("sin", second)), build("sqrt", build("add", first, 1.0)))
    choice = build("where", build("lt", first, second), build("exp", first), build("div", second, first))
    sums = [build("reshape", build(op, e, axes=(0,)), shape=(1,)) for op, e in (("norm", x), ("prod", second), ("amax", choice))]
    bodies = waves, choice, *sums
    rows = sum(body.size for body in bodies)
    return System(build("sum", build("powi", x, k=2), axes=(0,)), bodies, np.full(rows, -1.5), np.full(rows, 2.0), (1,))


SYSTEMS = {"system": small_system, "constrained": constrained}


@cache
def program_case(function: str, n: int, kind: str) -> tuple[Kernel, np.ndarray, np.ndarray]:
    """(kernel, doubles, positions) of a program; what is given with each run is some numbers."""
    name, *sizes = kind.split(":")
    table = programs.OF_SYSTEM if function in SYSTEMS else programs.PROGRAMS
    functions = FUNCTIONS | {"fit": fit, "splined": splined, "hinges": hinges}
    what = SYSTEMS[function](n) if function in SYSTEMS else trace(functions[function], n, ())
    numbers = tuple(map(int, sizes)) if sizes else _SIZES.get(kind, ())
    program = table[name](what, var("x", (n,)), **parameters_of(name, numbers))
    doubles = program.data.doubles()
    return program.kernel, np.where(doubles == 0.0, np.arange(doubles.size) % 7 - 2.5, doubles), program.data.positions()


def program_inputs(kernel: Kernel, boxes: int, n: int) -> list[np.ndarray]:
    """Numbers for every input: later slots are larger, so that (lo, hi) are boxes; some whole, some adversarial. Linear bounds
    are asked about regions, of which the upper ends are rows as well."""
    rng = np.random.default_rng(boxes)
    first = np.where(rng.random((ROWS, boxes)) < 0.3, rng.integers(-3, 6, (ROWS, boxes)), rng.uniform(-2.0, 2.0, (ROWS, boxes)))
    first[:, ::5] = np.where(rng.random(first[:, ::5].shape) < 0.05, rng.choice(ADVERSARIAL, first[:, ::5].shape), first[:, ::5])
    if kernel.name == programs.LINEAR:
        first[n:2 * n] = first[:n] + np.abs(first[n:2 * n]) * 2.0 ** -rng.integers(0, 8, boxes)
    return [first + slot / 16 for slot in range(kernel.inputs)]


def program_outputs(kernel: Kernel, boxes: int) -> list[np.ndarray]:
    """What a kernel leaves alone stays 12345."""
    return [np.full((ROWS, boxes), 12345.0) for _ in range(kernel.outputs)]


def small_kernel() -> Kernel:
    """A loop, its sum, and a function: what the readers of text are tried on."""
    b = Builder()
    x = b.input(0, 0)
    with b.loop(40) as turn:
        term = b.fma(x, b.data(turn.index), b.sqrt(b.abs(x)))
        step = b.step((0.0,), (term,), lambda b, left, right: (b.add(left[0], right[0]),))
    b.output(0, 0, b.outline("small_part", lambda b, y: b.floor(b.div(y, 3.0)), step.results[0])[0])
    return b.kernel("small", 1, 1)


def extrema_case() -> tuple[Kernel, np.ndarray]:
    """Minima and maxima of pairs in which the sign of a zero, or NaN, decides: (kernel with six outputs, its input)."""
    b = Builder()
    x, y = b.input(0, 0), b.input(0, 1)
    for row, value in enumerate((b.min(x, 0.0), b.max(x, -0.0), b.min(x, y), b.max(x, y), b.min(0.0, x), b.max(b.neg(x), 0.0))):
        b.output(0, row, value)
    ends = (0.0, -0.0, 1.0, -1.0, np.nan, np.inf)
    return b.kernel("extrema", 1, 1), np.array([(x, y) for x in ends for y in ends]).T.copy()
