"""The tables of rules for NumPy's and SciPy's functions. The modules that fill them are imported when a rule is missing.

Most functions need two of these modules: a table imports one after the other until it has the rule that is asked for.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

_MODULES = ("ufuncs", "reductions", "selection", "array_views", "products", "rounding", "interpolation", "linear_algebra",
            "scipy_special")


class RuleTable(dict):
    """Rules by function, or by name."""

    def get(self, key: Any, default: Any = None) -> Any:
        """The rule; the default where no module has one."""
        if key not in self:
            for name in _MODULES:
                import_module(f"infimum.trace.numpy_functions.{name}")
                if key in self:
                    break
        return super().get(key, default)

    def __missing__(self, key: Any) -> Any:
        found = self.get(key)
        if found is None:
            raise KeyError(key)
        return found


UFUNCS: dict[np.ufunc, Callable[..., Any]] = RuleTable()
UFUNC_METHODS: dict[tuple[np.ufunc, str], Callable[..., Any]] = RuleTable()
FUNCTIONS: dict[Callable, Callable[..., Any]] = RuleTable()
SPECIAL: dict[str, Callable[..., Any]] = RuleTable()


def supported() -> list[str]:
    """The names of NumPy's functions that have a rule."""
    FUNCTIONS.get(None)  # imports all modules
    return sorted({function.__name__ for function in (*UFUNCS, *FUNCTIONS)})
