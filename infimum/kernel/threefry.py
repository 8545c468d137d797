"""Threefry-2x64 with 20 rounds (Salmon et al. 2011) in a kernel: `points/random_numbers.py` makes the same numbers with NumPy."""

from collections.abc import Callable

import numpy as np

from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Value

PARITY = 0x1BD11BDAA9FC1A22
ROTATIONS = (16, 42, 12, 31, 16, 32, 24, 21)
ROUNDS = 20
KEY = 4  # parameters of a key
_LARGE, _LARGE_BITS = 2.0**52, 0x4330000000000000  # whole numbers below 2**32 are the last bits of this and them


def key_parameters(key: tuple[int, int]) -> np.ndarray:
    """The two words of a key as doubles that kernels read."""
    return np.array([_LARGE + (word >> shift & 0xFFFFFFFF) for word in key for shift in (32, 0)])


def uniform(b: Builder, data: Data, at: int, number: Value, rows: int) -> Callable[["int | Value"], Value]:
    """row -> a number in [0, 1): `engine.random.uniform` of the key at position `at` of the data, for particle `number`."""
    words = [_whole(b, b.data(at + k)) for k in range(KEY)]
    key = [b.ior(b.ishl(words[k], 32), words[k + 1]) for k in (0, 2)]
    schedule = [*key, b.ixor(b.ixor(PARITY, key[0]), key[1])]
    block = data.offset(_LARGE + np.arange(rows) // 2)
    is_odd = data.offset(np.arange(rows) % 2.0)

    def inject(i: int, x: Value, y: Value) -> tuple[Value, Value]:
        return b.iadd(x, schedule[i % 3]), b.iadd(y, b.iadd(schedule[(i + 1) % 3], i))

    def draw(row: "int | Value") -> Value:
        x, y = number, _whole(b, b.data(b.place("uadd", block, row)))
        for i in range(ROUNDS):
            if i % 4 == 0:
                x, y = inject(i // 4, x, y)
            turn = ROTATIONS[i % 8]
            x = b.iadd(x, y)
            y = b.ixor(b.ior(b.ishl(y, turn), b.ilshr(y, 64 - turn)), x)
        x, y = inject(ROUNDS // 4, x, y)
        return _unit(b, b.iselect(b.oeq(b.data(b.place("uadd", is_odd, row)), 0.0), x, y))
    return draw


def _whole(b: Builder, value: Value) -> Value:
    """The whole number below 2**32 that was added to 2**52."""
    return b.iand(b.bits(value), 0xFFFFFFFF)


def _unit(b: Builder, word: Value) -> Value:
    """The first 53 bits as a multiple of 2**-53, exactly."""
    high, low = b.ilshr(word, 43), b.iand(b.ilshr(word, 11), 0xFFFFFFFF)
    high, low = (b.sub(b.float(b.ior(part, _LARGE_BITS)), _LARGE) for part in (high, low))
    return b.fma(high, 2.0**-21, b.mul(low, 2.0**-53))
