"""Options of an engine, as a user gives them."""

from dataclasses import fields
from typing import Any

from infimum.errors import OptionError


def known_options(settings: type, given: Any) -> dict[str, Any]:
    """A dictionary of options that the settings have; anything else is an error that lists them."""
    if given is not None and not isinstance(given, dict):
        raise OptionError(f"options must be a dictionary, not {given!r}")
    known = [f.name for f in fields(settings)]
    for name in given or {}:
        if name not in known:
            raise OptionError(f"there is no option {name!r}; there are {', '.join(known)}")
    return dict(given or {})
