"""minimize: the one verb."""

from collections.abc import Callable
from typing import Any

import numpy as np

from infimum.engine.driver import drive
from infimum.engine.random import key_of
from infimum.engine.swarm import Swarm, SwarmOptions
from infimum.errors import OptionError
from infimum.evaluate import Evaluator, compile
from infimum.problem import Problem
from infimum.result import Result

ENGINES = ("swarm",)


def minimize(fun: Callable | Evaluator, bounds: Any, *, args: Any = (), n: int | None = None, x0: Any = None,
             engine: str = "swarm", options: dict[str, Any] | None = None, time_limit: float | None = None,
             progress: bool | None = None, callback: Callable | None = None, seed: int = 0) -> Result:
    """The smallest value of `fun`, an ordinary NumPy function of a vector, over the box `bounds`.

    `bounds` takes (low, high) pairs, a scipy.optimize.Bounds, or one pair with `n=`. `args` are passed on to `fun`, which may
    also be an Evaluator from `infimum.compile`. `x0` offers a point, or several, as a beginning. `engine="swarm"` searches with
    many descents at once and answers with verdict CANDIDATE: `result.upper` is verified, that nothing lies lower is not. Its
    `options` are those of `infimum.engine.swarm.SwarmOptions`. The same seed gives the same bits for any number of threads.
    `callback(snapshot)` stops the run by returning True or raising StopIteration; so do `time_limit` (seconds) and Ctrl-C, and
    the best so far is the result.

    >>> import numpy as np
    >>> r = minimize(lambda x: 100 * (x[1] - x[0]**2)**2 + (1 - x[0])**2, [(-5, 10), (-5, 10)])
    >>> r.verdict.name, r.success, r.upper < 1e-15, np.round(r.x, 6).tolist()
    ('CANDIDATE', True, True, [1.0, 1.0])
    """
    if engine not in ENGINES:
        raise OptionError(f"there is no engine {engine!r}; there is {', '.join(map(repr, ENGINES))}")
    if time_limit is not None and (isinstance(time_limit, (bool, str)) or not np.isreal(time_limit) or not time_limit > 0):
        raise OptionError(f"time_limit must be a positive number of seconds, not {time_limit!r}")
    if callback is not None and not callable(callback):
        raise OptionError(f"callback must be a function of a snapshot, not {callback!r}")
    try:
        key_of(seed, 0, 0)
    except ValueError as error:
        raise OptionError(str(error)) from None
    settings = SwarmOptions.read(options)
    problem = Problem.read(fun, bounds, n, x0)
    evaluator = _evaluator(fun, len(problem.lo), args)
    swarm = Swarm(problem, evaluator, settings, int(seed), limited=time_limit is not None)
    return drive(swarm, time_limit=time_limit, callback=callback, progress=progress)


def _evaluator(fun: Callable | Evaluator, n: int, args: Any) -> Evaluator:
    if not isinstance(fun, Evaluator):
        return compile(fun, n, args)
    if fun.n != n:
        raise OptionError(f"the Evaluator has {fun.n} variables, the bounds have {n}")
    if args != ():
        raise OptionError("args belong to a function; this Evaluator was compiled with its own")
    return fun
