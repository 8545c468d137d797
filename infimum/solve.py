"""minimize: the one verb."""

from collections.abc import Callable
from typing import Any

import numpy as np

from infimum.engine.auto import Auto
from infimum.engine.branch import Goal
from infimum.engine.complete import CompleteOptions, CompleteRun
from infimum.engine.driver import drive
from infimum.engine.random import key_of
from infimum.engine.swarm import Swarm, SwarmOptions
from infimum.errors import OptionError
from infimum.evaluate import Evaluator, compile
from infimum.problem import Problem
from infimum.result import Result

ENGINES = ("auto", "complete", "swarm")


def minimize(fun: Callable | Evaluator, bounds: Any, *, args: Any = (), n: int | None = None, x0: Any = None,
             engine: str = "auto", options: dict[str, Any] | None = None, atol: float = 1e-6, rtol: float = 1e-6,
             xtol: float | None = None, time_limit: float | None = None, max_boxes: int | None = None,
             memory_limit: float | None = 8e9, progress: bool | None = None, callback: Callable | None = None,
             seed: int = 0) -> Result:
    """The smallest value of `fun`, an ordinary NumPy function of a vector, over the box `bounds`.

    `bounds` takes (low, high) pairs, a scipy.optimize.Bounds, or one pair with `n=`. `args` are passed on to `fun`, which may
    also be an Evaluator from `infimum.compile`. `x0` offers a point, or several, as a beginning.

    `engine="auto"` proves: it goes on until `upper - lower <= max(atol, rtol * |upper|)` and, if `xtol` is given, no region that
    may hold a minimiser is wider than that. `time_limit` (seconds), `max_boxes`, `memory_limit` (bytes), the callback and Ctrl-C
    stop it early, and the enclosure reached so far is the result. `engine="swarm"` searches with many descents at once and
    answers with verdict CANDIDATE: `result.upper` is verified, that nothing lies lower is not.

    `engine="complete"` is the complete search of Zhang, Shan and Cagan in its own form.

    `options` are those of `infimum.engine.swarm.SwarmOptions`, for "complete" of `infimum.engine.complete.CompleteOptions`.
    The same seed gives the same bits for any number of threads. `callback(snapshot)` stops the run by returning True or raising StopIteration.

    >>> import numpy as np
    >>> r = minimize(lambda x: 100 * (x[1] - x[0]**2)**2 + (1 - x[0])**2, [(-5, 10), (-5, 10)])
    >>> r.verdict.name, r.lower >= -1e-6, r.upper < 1e-6, np.round(r.x, 6).tolist()
    ('PROVED', True, True, [1.0, 1.0])
    """
    if engine not in ENGINES:
        raise OptionError(f"there is no engine {engine!r}; there are {', '.join(map(repr, ENGINES))}")
    if callback is not None and not callable(callback):
        raise OptionError(f"callback must be a function of a snapshot, not {callback!r}")
    for name, value, least in (("atol", atol, 0), ("rtol", rtol, 0), ("xtol", xtol, 0)):
        _check_number(name, value, least, optional=name == "xtol")
    for name, value in (("time_limit", time_limit), ("max_boxes", max_boxes), ("memory_limit", memory_limit)):
        _check_number(name, value, 0, True, strict=True)
    try:
        key_of(seed, 0, 0)
    except ValueError as error:
        raise OptionError(str(error)) from None
    settings = (CompleteOptions if engine == "complete" else SwarmOptions).read(options)
    problem = Problem.read(fun, bounds, n, x0)
    evaluator = _evaluator(fun, len(problem.lo), args)
    if engine == "swarm":
        run = Swarm(problem, evaluator, settings, int(seed), limited=time_limit is not None)
    else:
        prover = CompleteRun if engine == "complete" else Auto
        run = prover(problem, evaluator, settings, Goal(atol, rtol, xtol), int(seed), max_boxes, memory_limit)
    return drive(run, time_limit=time_limit, callback=callback, progress=progress)


def _check_number(name: str, value: Any, least: float, optional: bool, strict: bool = False) -> None:
    if value is None and optional:
        return
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not (value > least if strict else value >= least):
        raise OptionError(f"{name} must be a {'positive number' if strict else 'number that is not negative'}"
                          f"{', or None' if optional else ''}, not {value!r}")


def _evaluator(fun: Callable | Evaluator, n: int, args: Any) -> Evaluator:
    if not isinstance(fun, Evaluator):
        return compile(fun, n, args)
    if fun.n != n:
        raise OptionError(f"the Evaluator has {fun.n} variables, the bounds have {n}")
    if args != ():
        raise OptionError("args belong to a function; this Evaluator was compiled with its own")
    return fun
