"""Arrays in the memory of a GPU."""

from functools import cache
from typing import Any

import numpy as np

from infimum.lower.reduce import least

_ROWS = 128  # a row of many numbers is looked through by a thread for each 128 of them


class GpuArrays:
    """Arrays of CuPy on the GPU of a CudaTarget."""

    def __init__(self, target: Any):
        self.target, self.gpu = target, target.gpu
        self._least = cache(self._least_of)

    def send(self, array: np.ndarray) -> Any:
        with self.gpu.use():
            there = self.gpu.cupy.empty(array.shape)
            there.set(np.ascontiguousarray(array))
            return there

    def fetch(self, array: Any) -> np.ndarray:
        """Through pinned memory, which the GPU writes without a detour."""
        with self.gpu.use():
            memory = self.gpu.cupy.cuda.alloc_pinned_memory(max(array.nbytes, 8))
            here = np.frombuffer(memory, np.float64, array.size).reshape(array.shape)
            array.get(out=here)
            return here

    def empty(self, rows: int, count: int) -> Any:
        with self.gpu.use():
            return self.gpu.cupy.empty((rows, count))

    def least(self, row: Any) -> tuple[float, int]:
        count = row.shape[1]
        rows = np.gcd(count, _ROWS)  # whole rows of equal length
        found = self.empty(2, count // rows)
        run, data = self._least(int(rows))
        run([row.reshape(rows, count // rows)], [found], *data)
        value, first = self.fetch(found)
        lowest = np.flatnonzero(value == value.min())
        at = first[lowest].astype(np.int64) * (count // rows) + lowest
        return float(value.min()), int(at.min())

    def _least_of(self, rows: int) -> tuple:
        kernel, data = least(rows)
        return self.target.compile(kernel).run, (data.doubles(), data.positions())
