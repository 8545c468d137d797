"""Options of an engine, as a user gives them."""

from dataclasses import fields
from typing import Any

import numpy as np

from infimum.errors import OptionError
from infimum.support.other_libraries import OF_MINIMIZE


def known_options(settings: type, given: Any) -> dict[str, Any]:
    """A dictionary of options that the settings have; anything else is an error that lists them."""
    if given is not None and not isinstance(given, dict):
        raise OptionError(f"options must be a dictionary, not {given!r}")
    known = [f.name for f in fields(settings)]
    for name in given or {}:
        if name not in known:
            cure = OF_MINIMIZE.get(name, f"there are {', '.join(known)}")
            raise OptionError(f"there is no option {name!r}; {'beside options, ' if cure.startswith('use ') else ''}{cure}")
    return {name: _plain_value(value) for name, value in (given or {}).items()}


def _plain_value(value: Any) -> Any:
    """Python's own numbers in place of NumPy's, also in tuples: a checkpoint holds them as text."""
    if isinstance(value, (tuple, list)):
        return type(value)(_plain_value(v) for v in value)
    return value.item() if isinstance(value, np.generic) else value
