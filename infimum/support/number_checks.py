"""Numbers that a user gives, checked."""

from typing import Any

import numpy as np

from infimum.errors import OptionError


def check_number(name: str, value: Any, optional: bool, positive: bool = False) -> None:
    """Raises OptionError unless it is a number that is not negative, or positive, or None where that is allowed."""
    if value is None and optional:
        return
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not (value > 0 if positive else value >= 0):
        raise OptionError(f"{name} must be a {'positive number' if positive else 'number that is not negative'}"
                          f"{', or None' if optional else ''}, not {value!r}")


def check_limits(time_limit: Any, max_boxes: Any) -> None:
    """Raises OptionError unless both are positive numbers or None."""
    for name, limit in (("time_limit", time_limit), ("max_boxes", max_boxes)):
        check_number(name, limit, optional=True, positive=True)


def whole(name: str, value: Any) -> int:
    """A positive whole number, checked."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise OptionError(f"{name} must be a positive whole number, not {value!r}")
    return int(value)
