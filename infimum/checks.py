"""Numbers that a user gives, checked."""

import os
from typing import Any

import numpy as np

from infimum.engine.points.random import key_of
from infimum.errors import OptionError


def check_number(name: str, value: Any, optional: bool, positive: bool = False) -> None:
    """Raises OptionError unless it is a number that is not negative, or positive, or None where that is allowed."""
    if value is None and optional:
        return
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not (value > 0 if positive else value >= 0):
        raise OptionError(f"{name} must be a {'positive number' if positive else 'number that is not negative'}"
                          f"{', or None' if optional else ''}, not {value!r}")


def read_seed(seed: Any) -> int:
    """The seed; one that is drawn for None."""
    seed = int.from_bytes(os.urandom(4), "little") if seed is None else seed
    try:
        key_of(seed, 0, 0)
    except ValueError as error:
        raise OptionError(str(error)) from None
    return int(seed)
