"""Sobol points: a sequence that fills the unit cube evenly, scrambled by key."""

import functools
import itertools

import numpy as np

from infimum.points.random_numbers import key_of, threefry, whole

BITS = 52   # fixed: bits of a double below 1
DEGREE = 8  # fixed: of the largest polynomials used
LIMIT = 53  # fixed: coordinates: one without a polynomial, 52 with one
_BLOCK = 8  # fixed: points are computed in blocks of 2**_BLOCK

# fixed: initial direction numbers of coordinates 1 to 18: S. Joe and F. Y. Kuo, "Constructing Sobol sequences with better
# two-dimensional projections", SIAM J. Sci. Comput. 30 (2008), table "new-joe-kuo-6".
_JOE_KUO = (
    (1,), (1, 3), (1, 3, 1), (1, 1, 1), (1, 1, 3, 3), (1, 3, 5, 13),
    (1, 1, 5, 5, 17), (1, 1, 5, 5, 5), (1, 1, 7, 11, 19), (1, 1, 5, 1, 1), (1, 1, 1, 3, 11), (1, 3, 5, 5, 31),
    (1, 3, 3, 9, 7, 49), (1, 1, 1, 15, 21, 21), (1, 3, 1, 13, 27, 49), (1, 1, 1, 15, 7, 5), (1, 3, 1, 15, 13, 25),
    (1, 1, 5, 5, 19, 61),
)
# fixed: the key of the other initial direction numbers: of (0, 0), ..., (0, 255) the one whose worst pair of coordinates is best
# in the first 2**12 points (t = 8, least sum of 2**t).
_KEY = (0, 125)


def points(seed: int, stream: int, first: int, count: int, n: int) -> np.ndarray:
    """Points first, ..., first + count - 1 of the sequence, of shape (n, count): in [0, 1), multiples of 2**-52.

    The direction numbers belong to the primitive polynomials over GF(2) in ascending order; their initial ones are Joe and
    Kuo's up to degree 6, and beyond it fixed draws. The sequence is scrambled by a random lower triangular matrix and a random
    digital shift in each coordinate, both functions of (seed, stream, coordinate). That preserves: of 2**k consecutive points
    beginning at a multiple of 2**k, each interval [j, j+1) / 2**k holds exactly one, in every coordinate (k <= 52); and more
    generally how many points of such a block lie in an elementary box, up to a permutation of the boxes of that shape.
    Each number depends on (seed, stream, coordinate, position in the sequence) only.

    >>> sorted((points(7, 0, 8, 4, 2)[1] * 4).astype(int).tolist())
    [0, 1, 2, 3]
    """
    n, first, count = whole("number of coordinates", n, 63), whole("first point", first, 63), whole("number of points", count, 63)
    if n > LIMIT:
        raise ValueError(f"Sobol points have at most {LIMIT} coordinates, not {n}: use infimum.points.random_numbers.uniform")
    end = first + count
    if end > 1 << BITS:
        raise ValueError(f"the sequence ends after 2**{BITS} points: there is no point {end - 1}")
    directions, shift = _scrambled(seed, stream, n)
    blocks = np.arange(first >> _BLOCK, (end - 1 >> _BLOCK) + 1, dtype=np.uint64)
    high = _sums(directions[:, _BLOCK:], blocks) ^ shift
    low = _sums(directions[:, :_BLOCK], np.arange(1 << _BLOCK, dtype=np.uint64))
    start = first % (1 << _BLOCK)
    return (high[:, :, None] ^ low[:, None, :]).reshape(n, len(blocks) << _BLOCK)[:, start:start + count] * 2.0**-BITS


def _sums(columns: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Over GF(2), for each row of `columns` and each index: the sum of the columns at the binary ones of the index."""
    result = np.zeros((len(columns), len(index)), np.uint64)
    for k in range(int(index.max(initial=0)).bit_length()):
        result ^= columns[:, k, None] * (index >> np.uint64(k) & np.uint64(1))
    return result


def _scrambled(seed: int, stream: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The direction numbers of n coordinates times the matrix of each, of shape (n, BITS), and the shifts, of shape (n, 1)."""
    # counters from 2**63 on: `uniform` with the same key never gets there
    counters = np.arange(n, dtype=np.uint64)[:, None] | np.uint64(1 << 63)
    words = threefry(key_of(seed, stream, 0), np.arange(BITS + 1, dtype=np.uint64), counters)[0] >> np.uint64(64 - BITS)
    directions = _directions(n)
    result = np.zeros_like(directions)
    for k in range(BITS):  # column k of the matrix: 1 at bit k, random at the bits below
        column = words[:, k, None] & np.uint64((1 << k) - 1) | np.uint64(1 << k)
        result ^= column * (directions >> np.uint64(k) & np.uint64(1))
    return result, words[:, BITS:]


@functools.cache
def _directions(count: int = LIMIT) -> np.ndarray:
    """The direction numbers of the first coordinates, of shape (count, BITS): entry k is an odd number below 2**(k+1), as a
    fraction of 2**(k+1) in BITS bits."""
    odd = [[1] * BITS]
    polynomials = (p for degree in range(1, DEGREE + 1) for p in primitive_polynomials(degree))
    for polynomial in itertools.islice(polynomials, max(count, 1) - 1):  # the last ones take longest
        coordinate, degree = len(odd), polynomial.bit_length() - 1
        m = list(_JOE_KUO[coordinate - 1] if coordinate <= len(_JOE_KUO) else _draws(coordinate, degree))
        for k in range(degree, BITS):
            m.append(m[k - degree])
            for i in range(1, degree + 1):
                m[k] ^= (polynomial >> (degree - i) & 1) * m[k - i] << i
        odd.append(m)
    result = np.array(odd, np.uint64) << np.arange(BITS - 1, -1, -1, dtype=np.uint64)
    result.setflags(write=False)
    return result[:count]


def _draws(coordinate: int, count: int) -> list[int]:
    """Initial direction numbers: `count` odd numbers, the k-th below 2**(k+1)."""
    words = threefry(_KEY, np.arange(count, dtype=np.uint64), np.uint64(coordinate))[0]
    return [int(word) >> 63 - k | 1 for k, word in enumerate(words)]


def primitive_polynomials(degree: int) -> list[int]:
    """The primitive polynomials over GF(2) of that degree, ascending. Bit i is the coefficient of x**i."""
    return [p for p in range(1 << degree | 1, 2 << degree, 2) if _order(p) == (1 << degree) - 1]


def _order(polynomial: int) -> int:
    """The least k > 0 with x**k = 1 modulo the polynomial, whose constant coefficient is 1."""
    power, k = 1, 0
    while k == 0 or power != 1:
        power <<= 1
        power ^= polynomial * (power >> polynomial.bit_length() - 1)
        k += 1
    return k
