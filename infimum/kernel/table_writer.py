"""What writers of kernels with tables have in common."""

from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Value


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
