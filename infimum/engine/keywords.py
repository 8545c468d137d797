"""Keywords that are not ours: an error that names what is."""

import inspect
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from infimum.errors import OptionError

_LIMITS = "use max_boxes= or time_limit="
_DERIVATIVES = "leave it out: derivatives are computed from the function itself"

# scipy's name -> what to do here
_SCIPY = {
    "method": "use engine='auto', 'complete' or 'swarm'",
    "jac": _DERIVATIVES, "hess": _DERIVATIVES, "hessp": _DERIVATIVES,
    "tol": "use atol= and rtol= for the value, xtol= for the regions",
    "ftol": "use atol= and rtol=", "gtol": "use atol= and rtol=",
    "maxiter": _LIMITS, "maxfev": _LIMITS, "maxfun": _LIMITS,
    "maxtime": "use time_limit=",
    "disp": "use progress=True, and print the result",
    "workers": "use threads=",
    "rng": "use seed=", "random_state": "use seed=",
    "popsize": "with engine='swarm' use options={'particles': …}",
    "integrality": "integer variables are not there yet",
    "constraints": "constraints are not there yet",
    "polish": "leave it out: points are always polished",
}


def refuse(unknown: dict[str, Any], function: Callable) -> None:
    """Raises an OptionError for keywords that the function does not have.

    >>> refuse({"tol": 1e-3}, refuse)
    Traceback (most recent call last):
        ...
    infimum.errors.OptionError: refuse has no argument 'tol': use atol= and rtol= for the value, xtol= for the regions
    """
    for name in unknown:
        known = [p.name for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_KEYWORD]
        near = get_close_matches(name, known, n=1)
        cure = _SCIPY.get(name) or (f"did you mean {near[0]}=?" if near else f"there are {', '.join(known)}")
        raise OptionError(f"{function.__name__} has no argument {name!r}: {cure}")
