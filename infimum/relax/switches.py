"""Lines of curves whose arguments a binary variable fixes, or nearly: an output that is 0 where its unit is off.

A line first a + second y <= rest holds wherever the region's box is. Where the binary variable z has the value `off`, a and y lie
in known ranges, in which first a + second y is at most E. With d = 0 there and 1 else, first a + second y <= E + (rest - E) d
holds as well, and is stronger between: the tangents of a perspective function.

Proof: docs/proofs/switches.md.
"""

from typing import NamedTuple

import numpy as np

from infimum.linear_algebra.interval_matrices import up


class Switches(NamedTuple):
    """Of each curve: the column of its binary variable, or that of its argument where it has none; the value of the variable that
    fixes it, NaN where it has none; and the ends of argument and curve there."""

    column: np.ndarray
    off: np.ndarray
    argument: tuple[np.ndarray, np.ndarray]
    curve: tuple[np.ndarray, np.ndarray]

    def lifted(self, first: np.ndarray, second: np.ndarray, rest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The coefficients of the binary variables and new right sides of lines; the last axis is that of curves."""
        with np.errstate(all="ignore"):
            most = up(_most(first, self.argument) + _most(second, self.curve))
            gap = up(rest - most)
            gains = np.isfinite(self.off) & (most < rest) & np.isfinite(gap) & np.isfinite(most)
            falls = self.off == 0.0
            factor = np.where(gains, np.where(falls, -gap, gap), 0.0)
            return factor, np.where(gains, np.where(falls, most, up(most + gap)), rest)


def _most(factor: np.ndarray, ends: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    low, high = (up(factor * end) for end in ends)
    return np.where(factor == 0.0, 0.0, np.maximum(low, high))
