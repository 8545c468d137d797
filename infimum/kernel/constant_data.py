"""Data: the constants of a problem, laid out for the kernel's data arguments, and how kernels read tables of them."""

import numpy as np

from infimum.kernel.ir import Builder, Value


class Data:
    """Collects constant doubles and positions. Kernels hold only offsets and signs, so equal programs share machine code."""

    def __init__(self) -> None:
        self._doubles: list[np.ndarray] = []
        self._positions: list[np.ndarray] = []
        self._offsets: dict[tuple, int] = {}
        self._sizes = [0, 0]
        self._kept: list[np.ndarray] = []
        self.tables: dict[tuple, tuple] = {}

    def _place(self, kind: int, rows: list[np.ndarray], array: np.ndarray) -> int:
        key = (kind, id(array))
        if key not in self._offsets:
            self._kept.append(array)  # keeps the identity alive
            self._offsets[key] = self._sizes[kind]
            rows.append(array.reshape(-1))
            self._sizes[kind] += array.size
        return self._offsets[key]

    def offset(self, array: np.ndarray) -> int:
        """Where the doubles of `array` begin."""
        return self._place(0, self._doubles, array)

    def position_offset(self, array: np.ndarray) -> int:
        """Where the positions of `array` begin."""
        return self._place(1, self._positions, array)

    def whole(self, lo: np.ndarray, hi: np.ndarray, position: "int | Value") -> int:
        """1 if the number between these ends, or each of them if the position is not static, is a whole number; -1 if it is
        certainly none; 0 where that is not known."""
        key = ("whole", id(lo), id(hi))
        if key not in self.tables:
            some = np.ceil(lo) <= np.floor(hi)
            self.tables[key] = np.where(some & (lo == hi), 1, np.where(some, 0, -1)).reshape(-1), (lo, hi)  # keeps the identities
        known = self.tables[key][0]
        if isinstance(position, int):
            return int(known[position])
        return int(known[0]) if known.size and (known == known[0]).all() else 0

    def signs(self, array: np.ndarray, position: "int | Value") -> tuple[int, int, bool]:
        """(least, most, nonzero) of the element, or of all elements if the position is not static."""
        if isinstance(position, int):
            number = array.item(position)
            sign = (number > 0) - (number < 0)
            return sign, sign, number != 0
        low, high = array.min(), array.max()
        return int(np.sign(low)) if low >= 0 else -1, int(np.sign(high)) if high <= 0 else 1, bool((array != 0).all())

    def doubles(self) -> np.ndarray:
        return np.concatenate([*self._doubles, np.zeros(1)])

    def positions(self) -> np.ndarray:
        return np.concatenate([*self._positions, np.zeros(1, np.int64)]).astype(np.int64)


class Writer:
    """Reads tables of the data, and finds places in tables and buffers."""

    b: Builder
    data: Data

    def _table(self, at: int, k: "int | Value") -> Value:
        return self.b.data(self.b.place("uadd", at, k))

    def _place(self, *terms: "int | Value") -> "int | Value":
        total: int | Value = 0
        for term in terms:
            total = self.b.place("uadd", total, term)
        return total

    def _times(self, k: "int | Value", size: int) -> "int | Value":
        return self.b.place("umul", k, size)

    def _rounded(self, whole: Value, left: Value, right: Value) -> tuple[Value, Value]:
        """The ends of a side, which of a `whole` number are the outermost whole numbers between them."""
        b = self.b
        return b.select(whole, b.neg(b.floor(b.neg(left))), left), b.select(whole, b.floor(right), right)
