"""Keywords that are not ours, and arguments in another order: an error that says what to write."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from infimum.errors import OptionError
from infimum.support.other_libraries import KEYWORDS, OF_MINIMIZE


def refuse(unknown: dict[str, Any], function: Callable, *like: Callable) -> None:
    """Raises an OptionError for keywords that the function does not have; `like` are others, whose keywords it passes on.

    >>> refuse({"tol": 1e-3}, refuse)
    Traceback (most recent call last):
        ...
    infimum.errors.OptionError: refuse has no argument 'tol': use atol= and rtol= for the value, xtol= for the regions
    """
    cures = OF_MINIMIZE | KEYWORDS.get(function.__name__, {})
    for name in unknown:
        known = [known for known in keywords_of(*(like or (function,))) if known not in KEYWORDS.get(function.__name__, {})]
        from difflib import get_close_matches  # for this message alone
        near = get_close_matches(name.lower(), known, n=1)
        cure = cures.get(name) or (f"did you mean {near[0]}=?" if near else f"there are {', '.join(known)}")
        raise OptionError(f"{function.__name__} has no argument {name!r}: {cure}")


def keywords_of(*functions: Callable) -> list[str]:
    """The names of their arguments."""
    every = [p for function in functions for p in inspect.signature(function).parameters.values()]
    return list(dict.fromkeys(p.name for p in every if p.kind is not p.VAR_KEYWORD))


def by_place(example: str) -> Callable[[Callable], Callable]:
    """Of a function whose first arguments are given by place and all others by name: who mixes them up is shown the example."""
    def decorate(function: Callable) -> Callable:
        parameters = inspect.signature(function).parameters.values()
        names = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]

        @wraps(function)
        def checked(*args: Any, **settings: Any) -> Any:
            twice = [name for name in names[:len(args)] if name in settings]
            missing = [name for name in names[len(args):] if name not in settings]
            if len(args) > len(names) or twice or missing:
                what = f"has {twice[0]} twice, by place and by name" if twice else f"has no {missing[0]}" if missing else \
                    f"has {len(args)} arguments by place"
                raise OptionError(f"this call of {function.__name__} {what}: write {example}")
            return function(*args, **settings)
        return checked
    return decorate


# arguments of engine="index" alone -> what other engines have
_OF_TRIALS = {"max_trials": "max_boxes= or time_limit=", "timeout": "time_limit=",
              "journal": "checkpoint="}


def refuse_trials(engine: str, given: dict[str, Any]) -> None:
    """Raises for arguments that only engine="index" has."""
    for name, value in given.items():
        if value is not None:
            raise OptionError(f"{name}= is for engine='index', which makes trials; with engine {engine!r} use {_OF_TRIALS[name]}")
