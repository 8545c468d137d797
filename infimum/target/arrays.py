"""Where a target keeps the arrays it works on, and the little that is asked of them beside kernels."""

from typing import Any, Protocol

import numpy as np


class Arrays(Protocol):
    """Arrays of doubles of shape (rows, N), in the memory of a target."""

    def send(self, array: np.ndarray) -> Any:
        """The array there."""

    def fetch(self, array: Any) -> np.ndarray:
        """The array here."""

    def empty(self, rows: int, count: int) -> Any:
        """Room for an array."""

    def least(self, row: Any) -> tuple[float, int]:
        """The least number of a single row (1, N), and where it stands; of equal ones the first."""


class HostArrays:
    """Arrays of NumPy."""

    def send(self, array: np.ndarray) -> np.ndarray:
        return array

    def fetch(self, array: np.ndarray) -> np.ndarray:
        return array

    def empty(self, rows: int, count: int) -> np.ndarray:
        return np.empty((rows, count))

    def least(self, row: np.ndarray) -> tuple[float, int]:
        at = int(np.argmin(row))
        return float(row[0, at]), at
