"""Slices that narrow towards 0: what matters of [0, 27] to r**-12 - r**-6 lies within the first of eight even ones, and of the
whole line to most functions within a few units."""

import numpy as np

from infimum.interval.pair import INF
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Value

_FIRST_SLICE_EXPONENT = 16  # the first slice of [0, h] ends at about 2**-16 h
_LEAST_RATIO = 16.0         # slices are graded where the upper end is at least this multiple of the lower one
_MIDDLE = 2.0**8            # where the upper end is infinite, the last slice begins at about this


class Grading:
    """The ends of graded slices."""

    def __init__(self, b: Builder, data: Data, count: int):
        halvings = _FIRST_SLICE_EXPONENT * (count - np.arange(count + 1)) / count
        whole = np.floor(halvings)
        self.b, self.parts = b, data.offset(np.ldexp(1 - (halvings - whole) / 2, -whole.astype(int)))
        place = np.arange(count + 1) - count // 2
        self.around = data.offset(np.sign(place) * np.ldexp(0.25, 3 * np.minimum(np.abs(place), 100)))

    def end(self, k: "int | Value", lo: Value, hi: Value) -> Value:
        """Between the first end and the last one, which are lo and hi themselves; one double for both neighbours."""
        b = self.b
        scale = b.select(b.olt(hi, INF), hi, _MIDDLE)
        return b.min(b.max(b.mul(scale, b.data(b.place("uadd", self.parts, k))), lo), hi)

    def unbounded_end(self, k: "int | Value", lo: Value, hi: Value) -> Value:
        """The same, of slices on both sides of 0 where an end is infinite."""
        return self.b.min(self.b.max(self.b.data(self.b.place("uadd", self.around, k)), lo), hi)

    def applies(self, lo: Value, hi: Value) -> Value:
        return self.b.mand(self.b.oge(lo, 0.0), self.b.olt(self.b.mul(_LEAST_RATIO, lo), hi))
