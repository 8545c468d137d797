"""Random numbers by key and counter: each is a function of what it is for, there is no stream to share or to advance."""

import os
from typing import Any

import numpy as np

from infimum.errors import OptionError
from infimum.kernel.threefry import PARITY, ROTATIONS, ROUNDS
from infimum.search.policy.points import POLISHING as POLICY


def threefry(key: tuple[int, int], low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Threefry-2x64 with 20 rounds (Salmon et al. 2011): for each key a bijection of pairs of 64-bit words.

    `low` and `high` are uint64 counters, broadcast against each other; the two words of each block come back as uint64.
    """
    schedule = (*key, PARITY ^ key[0] ^ key[1])
    x, y = (np.array(a, np.uint64) for a in np.broadcast_arrays(low, high))
    turned = np.empty_like(y)
    for i in range(ROUNDS):
        if i % 4 == 0:
            _inject(schedule, i // 4, x, y)
        rotation = ROTATIONS[i % 8]
        x += y
        np.left_shift(y, np.uint64(rotation), out=turned)
        y >>= np.uint64(64 - rotation)
        y |= turned
        y ^= x
    _inject(schedule, ROUNDS // 4, x, y)
    return x, y


def _inject(schedule: tuple[int, int, int], i: int, x: np.ndarray, y: np.ndarray) -> None:
    """Adds the i-th key. Sums of key words are taken in Python: NumPy wraps arrays silently, but warns about scalars."""
    x += np.uint64(schedule[i % 3])
    y += np.uint64((schedule[(i + 1) % 3] + i) % 2**64)


def key_of(seed: int, stream: int, step: int) -> tuple[int, int]:
    """The key of one step of one stream: different triples have different keys."""
    return whole("seed", seed, 64), whole("stream", stream, 32) << 32 | whole("step", step, 32)


def read_seed(seed: Any) -> int:
    """The seed; one that is drawn for None."""
    seed = int.from_bytes(os.urandom(4), "little") if seed is None else seed
    try:
        key_of(seed, 0, 0)
    except ValueError as error:
        raise OptionError(str(error)) from None
    return int(seed)


def uniform(seed: int, stream: int, step: int, particles: np.ndarray | range, n: int) -> np.ndarray:
    """Numbers in [0, 1), multiples of 2**-53, of shape (n, N): n rows for each of N particles.

    Each depends on (seed, stream, step, particle, row) only: neither on n nor on which other particles are asked for.

    >>> bool((uniform(7, 0, 3, range(100), 4)[:2, 40:60] == uniform(7, 0, 3, range(40, 60), 2)).all())
    True
    """
    key, n = key_of(seed, stream, step), whole("number of rows", n, 63)
    counters = _counters(particles)
    result = np.empty((n, len(counters)))
    blocks = np.arange((n + 1) // 2, dtype=np.uint64)[:, None]
    width = max(1, POLICY.random_blocks_at_once // max(1, len(blocks)))
    for start in range(0, len(counters), width):
        part = result[:, start:start + width]
        even, odd = threefry(key, counters[start:start + width], blocks)
        np.multiply(even >> np.uint64(11), 2.0**-53, out=part[0::2])
        np.multiply(odd[:n // 2] >> np.uint64(11), 2.0**-53, out=part[1::2])
    return result


def _counters(particles: np.ndarray | range) -> np.ndarray:
    """The particles as uint64."""
    if isinstance(particles, range):
        if not particles:
            return np.empty(0, np.uint64)
        first = whole("first particle", particles[0], 64)
        whole("last particle", particles[-1], 64)
        # modulo 2**64, because the step may be negative
        return np.arange(len(particles), dtype=np.uint64) * np.uint64(particles.step % 2**64) + np.uint64(first)
    if particles.ndim != 1 or particles.dtype.kind not in "iu":
        raise ValueError(f"the particles must be a vector of integers, not {particles.dtype} of shape {particles.shape}")
    if particles.size and particles.min() < 0:
        raise ValueError(f"the particles must not be negative, as {particles.min()} is")
    return particles.astype(np.uint64)


def whole(name: str, value: int, bits: int) -> int:
    """The value, if it is an integer from 0 to 2**bits - 1."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= int(value) < 1 << bits:
        raise ValueError(f"the {name} must be an integer from 0 to 2**{bits} - 1, not {value!r}")
    return int(value)
