"""Values in the terms of JSON."""

import math
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from infimum.problem.constraint import ConstraintValues
from infimum.problem.cover import Cover
from infimum.problem.minimisers import Minimisers


def plain(value: Any) -> Any:
    """The value as dicts, lists, numbers, strings and None: arrays as lists, enums as their names, of a Cover
    how many regions it has, or where they are a product the intervals of each variable.

    >>> plain({"x": np.array([1.0, -np.inf]), "count": np.int64(3)})
    {'x': [1.0, -inf], 'count': 3}
    """
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, dict):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple, ConstraintValues)):
        return [plain(entry) for entry in value]
    if isinstance(value, Cover):
        if value.unions is None:
            return value.count
        return {"unions": [value.unions[i].tolist() for i in range(len(value.unions))]}
    if isinstance(value, Minimisers):
        return {"found": plain(list(value)), "rest": value.rest, "why": value.why}
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def strict(value: Any) -> Any:
    """The same for JSON, which knows finite numbers only: infinities and NaN are the strings "inf", "-inf" and "nan".

    >>> strict({"x": np.array([1.0, -np.inf])})
    {'x': [1.0, '-inf']}
    """
    def finite(entry: Any) -> Any:
        if isinstance(entry, dict):
            return {name: finite(part) for name, part in entry.items()}
        if isinstance(entry, list):
            return [finite(part) for part in entry]
        return str(entry) if isinstance(entry, float) and not math.isfinite(entry) else entry
    return finite(plain(value))
