"""Python: runs a Kernel slowly, one lane at a time, and so defines what a Kernel means.

**A double is its 64 bits**, an integer from 0 to 2**64 - 1, and so is a 64-bit integer of a lane. Everything here is exact
arithmetic on Python's integers: no floating-point instruction of the host is executed, so neither a compiler nor a maths
library nor the caller's control word can change the result. Truth values are Python's; uniform integers are signed, 64 bits.

**Upward**: a rounded operation gives the least double that is not below the exact result, the number 2**1024 and beyond being
+inf and everything below the least finite double being that double. An exact result of zero keeps IEEE 754's sign: the sum of
zeros is -0 only if all of them are -0. NaN comes out of 0*inf, inf-inf, 0/0, inf/inf, the root of a negative number and of every
NaN, and is always the same one; `neg`, `abs`, `select` and the bit operations move bits and look at nothing.
"""

from collections.abc import Callable, Sequence
from functools import cache
from math import isqrt
from struct import pack, unpack

import numpy as np

from infimum.backend.arrays import HostArrays
from infimum.kernel.ir import RUN, Function, Instr, Kernel, Loop, Step, Value

Env = dict[Value, int]

WORD = (1 << 64) - 1
SIGN = 1 << 63
INF = 0x7FF << 52
NAN = INF | 1 << 51
ONE = 0x3FF << 52
NEG_ZERO = SIGN


# ---- doubles as exact numbers
def _is_nan(x: int) -> bool:
    return x & ~SIGN > INF


def _is_inf(x: int) -> bool:
    return x & ~SIGN == INF


def _exact(x: int) -> tuple[int, int]:
    """(m, e) with x = m * 2**e, for a finite x; the sign of a zero is lost."""
    exponent, m = x >> 52 & 0x7FF, x & (1 << 52) - 1
    if exponent:
        m |= 1 << 52
    else:
        exponent = 1  # subnormal numbers have the exponent of the least normal ones
    return (-m if x & SIGN else m), exponent - 1075


def _round_up(n: int, e: int) -> int:
    """The least double that is not below n * 2**e, for n != 0."""
    ulp = max(e + abs(n).bit_length() - 53, -1074)  # the exponent of the last place of the result
    shift = ulp - e
    m = n << -shift if shift <= 0 else -(-n >> shift)  # >> is the floor, so this is the ceiling
    # With |m| <= 2**53, adding |m| to the field of the exponent is right for all: below 2**52 it is a subnormal number,
    # from 2**52 its leading bit counts the exponent up by one, and 2**53 carries once more.
    bits = (ulp + 1074 << 52) + abs(m)
    if n > 0:
        return min(bits, INF)
    return SIGN | min(bits, INF - 1)  # also for m = 0: a tiny negative number becomes -0


def _fma(x: int, y: int, z: int) -> int:
    """x*y + z, rounded once."""
    sign = (x ^ y) & SIGN  # of the product
    if x & INF == INF or y & INF == INF or z & INF == INF:
        return _fma_special(x, y, z, sign)
    (m, e), (my, ey), (mz, ez) = _exact(x), _exact(y), _exact(z)
    m, e = m * my, e + ey
    if e >= ez:
        n, e = (m << e - ez) + mz, ez
    else:
        n = m + (mz << ez - e)
    if n:
        return _round_up(n, e)
    # exactly zero: zeros of one sign keep it, anything else that cancels is +0 when rounding upward
    return NEG_ZERO if m == 0 and sign and z == NEG_ZERO else 0


def _fma_special(x: int, y: int, z: int, sign: int) -> int:
    """x*y + z where at least one is infinite or NaN; the product has this sign."""
    if _is_nan(x) or _is_nan(y) or _is_nan(z):
        return NAN
    if not (_is_inf(x) or _is_inf(y)):
        return z
    no_number = not x & ~SIGN or not y & ~SIGN or z == (sign ^ SIGN | INF)  # 0*inf or inf-inf
    return NAN if no_number else sign | INF


def _add(x: int, y: int) -> int:
    return _fma(x, ONE, y)


def _sub(x: int, y: int) -> int:
    return _fma(x, ONE, y ^ SIGN)


def _mul(x: int, y: int) -> int:
    return _fma(x, y, NEG_ZERO)  # adding -0 changes nothing, not even the sign of a zero


def _div(x: int, y: int) -> int:
    if _is_nan(x) or _is_nan(y) or (_is_inf(x) and _is_inf(y)) or not (x | y) & ~SIGN:
        return NAN
    sign = (x ^ y) & SIGN
    if _is_inf(x) or not y & ~SIGN:
        return sign | INF
    if _is_inf(y) or not x & ~SIGN:
        return sign
    (m, e), (d, f) = _exact(x), _exact(y)
    if d < 0:
        m, d = -m, -d
    # 120 more bits make the quotient longer than 64; one bit after it says whether something is left, which is all that a
    # rounding needs to know of it.
    quotient, rest = divmod(m << 120, d)
    return _round_up(2 * quotient + (rest > 0), e - f - 121)


def _sqrt(x: int) -> int:
    if x in (0, NEG_ZERO, INF):
        return x
    if _is_nan(x) or x & SIGN:
        return NAN
    m, e = _exact(x)
    m, e = m << 128 + e % 2, e - 128 - e % 2  # now e is even and the root has more than 64 bits
    root = isqrt(m)
    return _round_up(2 * root + (root * root < m), e // 2 - 1)


def _floor(x: int) -> int:
    return _to_integer(x, lambda m, places: m >> places)


def _roundeven(x: int) -> int:
    def nearest(m: int, places: int) -> int:
        whole, rest, half = m >> places, m & (1 << places) - 1, 1 << places - 1
        return whole + (rest > half or (rest == half and whole & 1))

    return _to_integer(x, nearest)


def _to_integer(x: int, choose: Callable[[int, int], int]) -> int:
    """The integer choose(m, places) for x = m / 2**places; a zero has the sign of x."""
    if _is_nan(x):
        return NAN
    m, e = (0, 0) if _is_inf(x) else _exact(x)
    if m == 0 or e >= 0:
        return x
    n = choose(m, -e)
    return _round_up(n, 0) if n else x & SIGN


# ---- comparisons and integers
def _ordered(test: Callable[[int, int], bool]) -> Callable[[int, int], bool]:
    """A comparison of doubles, false for NaN. The bits of a double are its place in the order, counted away from zero."""
    def compare(x: int, y: int) -> bool:
        if _is_nan(x) or _is_nan(y):
            return False
        return test(x if x < SIGN else SIGN - x, y if y < SIGN else SIGN - y)

    return compare


def _signed(x: int) -> int:
    return x - (x >> 63 << 64)


def _wrap(x: int) -> int:
    """A uniform integer: 64 bits, two's complement."""
    return _signed(x & WORD)


def _truncate(x: int, y: int) -> int:
    """The quotient, rounded toward zero."""
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


OPERATIONS: dict[str, Callable] = {
    "add": _add, "sub": _sub, "mul": _mul, "div": _div, "sqrt": _sqrt, "fma": _fma,
    "neg": lambda x: x ^ SIGN, "abs": lambda x: x & ~SIGN, "floor": _floor, "roundeven": _roundeven,
    "olt": _ordered(int.__lt__), "ole": _ordered(int.__le__), "oeq": _ordered(int.__eq__),
    "ogt": _ordered(int.__gt__), "oge": _ordered(int.__ge__), "uno": lambda x, y: _is_nan(x) or _is_nan(y),
    "select": lambda m, x, y: x if m else y, "iselect": lambda m, x, y: x if m else y,
    "mand": lambda p, q: p and q, "mor": lambda p, q: p or q, "mnot": lambda p: not p,
    "bits": lambda x: x, "float": lambda x: x,
    "iadd": lambda x, y: x + y & WORD, "isub": lambda x, y: x - y & WORD,
    "iand": int.__and__, "ior": int.__or__, "ixor": int.__xor__,
    "ishl": lambda x, n: x << n & WORD, "ilshr": int.__rshift__, "iashr": lambda x, n: _signed(x) >> n & WORD,
    "ieq": int.__eq__, "ine": int.__ne__, "islt": lambda x, y: x ^ SIGN < y ^ SIGN,
    "uadd": lambda x, y: _wrap(x + y), "usub": lambda x, y: _wrap(x - y), "umul": lambda x, y: _wrap(x * y),
    "umin": min, "umax": max, "udiv": _truncate, "umod": lambda x, y: x - _truncate(x, y) * y,
    "ule": int.__le__, "ueq": int.__eq__,
}


@cache
def _bits_of(hexadecimal: str) -> int:
    """The bits of a constant, written as float.hex writes it."""
    return unpack("<Q", pack("<d", float.fromhex(hexadecimal)))[0]


# ---- programs
def _at(row: Sequence[int], position: int) -> int:
    """An element; a position outside is a fault in the kernel, never a count from the end."""
    if position < 0:
        raise IndexError(f"position {position}")
    return row[position]


class _Lane:
    """One lane: its number, its buffers, and the arrays. A buffer holds NaN where nothing was stored."""

    def __init__(self, k: int, buffers: list[int], inputs: list, outputs: list, data: list[int], udata: list[int]):
        self.k, self.inputs, self.outputs, self.data, self.udata = k, inputs, outputs, data, udata
        self.buffers = [[NAN] * size for size in buffers]

    def block(self, items: list, env: Env) -> None:
        """Executes instructions and loops in their order; `env` holds the values computed so far and grows."""
        for item in items:
            if isinstance(item, Loop):
                self.loop(item, env)
                continue
            operation = OPERATIONS.get(item.op)
            if operation is None:
                self.special(item, env)
            else:
                env[item.results[0]] = operation(*[env[v] for v in item.operands])

    def special(self, item: Instr, env: Env) -> None:
        """The operations with an attribute: constants, memory, calls."""
        operands = [env[v] for v in item.operands]
        match item.op:
            case "const":
                result = _bits_of(item.attr)
            case "iconst":
                result = item.attr & WORD
            case "uconst":
                result = item.attr
            case "data":
                result = _at(self.data, operands[0])
            case "udata":
                result = _at(self.udata, operands[0])
            case "input":
                result = _at(self.inputs[item.attr], operands[0])[self.k]
            case "load":
                result = _at(self.buffers[item.attr], operands[0])
            case "call":
                env.update(zip(item.results, self.call(item.attr, operands), strict=True))
                return
            case "call_where":
                count = len(item.results)
                chosen = self.call(item.attr, operands[1 + count:]) if operands[0] else operands[1:1 + count]
                env.update(zip(item.results, chosen, strict=True))
                return
            case "store":
                _at(self.buffers[item.attr], operands[0])
                self.buffers[item.attr][operands[0]] = operands[1]
                return
            case "output":
                _at(self.outputs[item.attr], operands[0])[self.k] = operands[1]
                return
            case _:
                raise AssertionError(item.op)
        env[item.results[0]] = result

    def call(self, function: Function, operands: list[int]) -> list[int]:
        """A function sees its parameters and nothing else."""
        env: Env = dict(zip(function.params, operands, strict=True))
        self.block(function.body, env)
        return [env[v] for v in function.results]

    # ---- loops: the tree of kernel.py
    def loop(self, loop: Loop, env: Env) -> None:
        steps, count = loop.steps(), env[loop.count]
        assert count <= loop.limit, f"{count} turns of at most {loop.limit}"
        if loop.more is not None:
            assert not steps, "rounds hand on what they know in buffers"
            for env[loop.index] in range(count):
                self.block(loop.body, env)
                if not env[loop.more]:
                    return
            return
        if not steps or loop.limit <= RUN:
            for step, value in self.run(loop, env, range(count), {}).items():
                env.update(zip(step.results, value, strict=True))
            return
        stacks: dict[Step, list] = {step: [] for step in steps}
        for c, first in enumerate(range(0, count, RUN)):
            earlier = {step: self.fold(step, stacks[step], env) for step in steps if step.prefix}
            for step, value in self.run(loop, env, range(first, min(first + RUN, count)), earlier).items():
                merging = c
                while merging & 1:  # a binary counter: 1, 2, 4, … whole runs in a value
                    value = self.combine(step, stacks[step].pop(), value, env)
                    merging >>= 1
                stacks[step].append(value)
        for step in steps:
            env.update(zip(step.results, self.fold(step, stacks[step], env), strict=True))

    def run(self, loop: Loop, env: Env, turns: range, earlier: dict[Step, list[int]]) -> dict[Step, list[int]]:
        """One run from left to right: each step's combination of these turns. `earlier`: that of the runs before, for scans."""
        so_far = {step: [env[v] for v in step.init] for step in loop.steps()}
        for env[loop.index] in turns:
            for item in loop.body:
                if not isinstance(item, Step):
                    self.block([item], env)
                    continue
                before = so_far[item]
                so_far[item] = self.combine(item, before, [env[v] for v in item.inputs], env)
                if item.prefix:
                    scan = before if item.exclusive else so_far[item]
                    if item in earlier:
                        scan = self.combine(item, earlier[item], scan, env)
                    env.update(zip(item.prefix, scan, strict=True))
        return so_far

    def fold(self, step: Step, stack: list[list[int]], env: Env) -> list[int]:
        """What is on the stack, combined from its top to its bottom; the neutral element if there is nothing."""
        if not stack:
            return [env[v] for v in step.init]
        value = stack[-1]
        for deeper in stack[-2::-1]:
            value = self.combine(step, deeper, value, env)
        return value

    def combine(self, step: Step, left: list[int], right: list[int], env: Env) -> list[int]:
        env.update(zip(step.left, left, strict=True))
        env.update(zip(step.right, right, strict=True))
        self.block(step.block, env)
        return [env[v] for v in step.combined]


class PythonKernel:
    """A kernel that Python interprets; call `run`."""

    lanes = 1

    def __init__(self, kernel: Kernel):
        self.kernel, self.inputs, self.outputs = kernel, kernel.inputs, kernel.outputs

    def run(self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], data: np.ndarray, udata: np.ndarray,
            threads: int = 1, times: int = 1) -> None:
        """Runs every lane, `times` times to and fro. Arrays are float64 of shape (rows, N), all with the same N; `threads`
        changes nothing."""
        for k in range(times):
            self._once(*((inputs, outputs), (outputs, inputs))[k % 2], data, udata)

    def _once(self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], data: np.ndarray, udata: np.ndarray) -> None:
        read = [array.view(np.uint64).tolist() for array in inputs]
        written = [array.view(np.uint64) for array in outputs]
        constants, positions = data.view(np.uint64).tolist(), udata.tolist()
        shared: Env = {}
        _Lane(0, [], [], [], constants, positions).block(self.kernel.prologue, shared)
        for k in range((inputs[0] if inputs else outputs[0]).shape[1]):
            lane = _Lane(k, self.kernel.buffers, read, written, constants, positions)
            lane.block(self.kernel.body, dict(shared))


class PythonBackend:
    """Interprets kernels: slow, exact, anywhere."""

    name = "python"
    lanes = 1
    threads = 1
    arrays = HostArrays()

    def compile(self, kernel: Kernel) -> PythonKernel:
        return PythonKernel(kernel)
