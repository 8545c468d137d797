"""Words of dynamic programs over intervals: special entries and offsets, and doubles as whole numbers in the same order."""

import struct

import numpy as np

NONE, TOP = 0, 1  # the entries for cells without a link, and without a parent
ALONE, SEVERAL = -2**62, -2**62 - 1  # instead of the offset of another bag with the variable: there is none, or more than one
SIGN, REST = 63, 2**63 - 1  # the place of a double's sign, and all its other bits


def key_of(number: float) -> int:
    """The key of a double that is not NaN, nor -0."""
    bits, = struct.unpack("<q", struct.pack("<d", number))
    return bits ^ (bits >> SIGN & REST)


def numbers_of(keys: np.ndarray) -> np.ndarray:
    """The doubles of keys."""
    return (keys ^ (keys >> SIGN & REST)).view(np.float64)
