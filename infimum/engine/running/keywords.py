"""Keywords that are not ours: an error that names what is."""

import inspect
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from infimum.errors import OptionError

_ENGINES = "use engine='auto', 'newton', 'complete', 'subdomain', 'swarm' or 'index'"
_LIMITS = "use max_boxes= or time_limit=, and with engine='index' max_trials="
_NEEDLESS = "leave it out: there is nothing like it here"
_DERIVATIVES = "leave it out: derivatives are computed from the function itself"

# scipy's name, or that of optimisers of black boxes -> what to do here
_SCIPY = {
    **dict.fromkeys(("method", "strategy", "sampling_method"), _ENGINES),
    "jac": _DERIVATIVES, "hess": _DERIVATIVES, "hessp": _DERIVATIVES,
    "tol": "use atol= and rtol= for the value, xtol= for the regions",
    **dict.fromkeys(("ftol", "fatol", "gtol", "f_tol", "vol_tol", "eps"), "use atol= and rtol="),
    **dict.fromkeys(("xatol", "len_tol"), "use xtol="),
    **dict.fromkeys(("maxiter", "maxfev", "maxfun", "maxls", "niter", "iters"), _LIMITS),
    **dict.fromkeys(("maxtime", "max_time"), "use time_limit="),
    **dict.fromkeys(("disp", "verbose"), "use progress=True, and print the result"),
    **dict.fromkeys(("n_trials", "n_calls", "max_evals", "max_evaluations"), "with engine='index' use max_trials="),
    **dict.fromkeys(("n_jobs", "max_workers", "n_workers"), "use workers="),
    **dict.fromkeys(("storage", "load_if_exists"), "with engine='index' use journal=, a file from which the same call goes on"),
    **dict.fromkeys(("f_min", "f_target", "fmin"), "with engine='index' use options={'target': …}"),
    **dict.fromkeys(("sampler", "pruner", "acq_func"), _NEEDLESS), "direction": "use infimum.maximize for a maximum",
    "maximise": "use infimum.maximize", "maximize": "use infimum.maximize",
    "ranges": "use bounds=",
    "rng": "use seed=", "random_state": "use seed=",
    "popsize": "with engine='swarm' use options={'particles': …}",
    "init": "with engine='swarm' use options={'start': 'sobol'}, and x0= for points of your own",
    **dict.fromkeys(("polish", "minimizer_kwargs", "local_search_options", "no_local_search", "finish"),
                    "leave it out: the best point is always improved by descents"),
    **dict.fromkeys(("vectorized", "updating"), "leave it out: boxes are always evaluated in batches"),
    **dict.fromkeys(("mutation", "recombination", "stepsize", "take_step", "accept_test", "T", "initial_temp", "visit", "accept",
                     "restart_temp_ratio", "locally_biased", "Ns", "full_output", "niter_success"), _NEEDLESS),
}


def refuse(unknown: dict[str, Any], function: Callable, like: Callable | None = None) -> None:
    """Raises an OptionError for keywords that the function does not have; `like` is another one, whose keywords it passes on.

    >>> refuse({"tol": 1e-3}, refuse)
    Traceback (most recent call last):
        ...
    infimum.errors.OptionError: refuse has no argument 'tol': use atol= and rtol= for the value, xtol= for the regions
    """
    for name in unknown:
        known = [p.name for p in inspect.signature(like or function).parameters.values() if p.kind is not p.VAR_KEYWORD]
        near = get_close_matches(name.lower(), known, n=1)
        cure = _SCIPY.get(name) or (f"did you mean {near[0]}=?" if near else f"there are {', '.join(known)}")
        raise OptionError(f"{function.__name__} has no argument {name!r}: {cure}")


# arguments of engine="index" alone -> what other engines have
_OF_TRIALS = {"max_trials": "max_boxes= or time_limit=", "timeout": "time_limit=",
              "journal": "checkpoint="}


def refuse_trials(engine: str, given: dict[str, Any]) -> None:
    """Raises for arguments that only engine="index" has."""
    for name, value in given.items():
        if value is not None:
            raise OptionError(f"{name}= is for engine='index', which makes trials; with engine {engine!r} use {_OF_TRIALS[name]}")
