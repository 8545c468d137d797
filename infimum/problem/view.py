"""What drawings of a result need of its problem."""

from collections.abc import Callable

import numpy as np

from infimum.support.lazy import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The function, as estimates of points (n, N), and the bounds of the problem. Copies share the function; a pickle holds the
    bounds alone, since compiled kernels stay in their process."""

    estimate: Callable[[np.ndarray], np.ndarray] | None
    lo: np.ndarray
    hi: np.ndarray

    def __reduce__(self) -> tuple:
        return View, (None, self.lo, self.hi)

    def __deepcopy__(self, memo: dict) -> "View":
        return self
