"""From a NumPy function to its kernels, and to an enclosure of its values: `compile` and `enclose`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from infimum.backend.devices import backend_of
from infimum.errors import OptionError
from infimum.evaluation.enclosures import Enclosure
from infimum.evaluation.evaluator import Evaluator
from infimum.expr.node import var
from infimum.problem.problem import Interval
from infimum.problem.variable_bounds import read_bounds
from infimum.support import environment
from infimum.trace.agreement import Agreement, SampleBox
from infimum.trace.constraint_reading import in_vectors, read_constraints
from infimum.trace.trace import arguments, scalar, traced


@environment.ours
def compile(fun: Callable, n: int, args: Any = (), *, backend: Any = None, device: str = "cpu", threads: int | None = None,
            constraints: Any = (), check: bool = True) -> Evaluator:
    """Trace a NumPy function of n variables and return its kernels: see `Evaluator`.

    `device` is where they run: "cpu", "cuda" (or "cuda:1", …), "auto"; `threads` the number of CPU threads. The results have the
    same bits everywhere. With `constraints`, given as to `minimize`, `rows` and `jacobian` enclose the function and all of them
    together. What was traced is compared with calls of the functions with plain numbers, unless `check=False`.

    >>> import numpy as np
    >>> f = compile(lambda x: np.sum(np.cos(x)), n=3)
    >>> float(f.estimate([0.0, 0.0, 0.0]))
    3.0
    >>> compile(lambda x: x[0], n=2, constraints=lambda x: x[0] * x[1] >= 1).rows([1.0, 2.0], [2.0, 3.0]).hi
    array([2., 6.])
    """
    if backend is not None and (device != "cpu" or threads is not None):
        raise OptionError("a backend has its own device and threads: give either it or these")
    (f, function), backend = traced(fun, n, args, scalar), backend_of(device, threads=threads) if backend is None else backend
    f, read = in_vectors(f, var("x", (n,))), read_constraints(constraints, n)
    found = Evaluator(f, n, backend, lambda x: fun(x, *arguments(args)), read.system(f), (function, *read.functions))
    found.remember_lines()
    if check:
        endless = np.full(n, np.inf)
        Agreement(found.functions).over(SampleBox(-endless, endless))
    return found


FORMS: dict[str, Callable[[Evaluator, np.ndarray, np.ndarray], Enclosure]] = {
    "natural": Evaluator.value, "mean value": lambda f, lo, hi: f.mean_value(lo, hi).best,
    "linear": lambda f, lo, hi: f.linear_bounds(lo, hi).best}
_BEST = "best"  # all of them


@environment.ours
def enclose(fun: Callable, bounds: Any, args: Any = (), *, n: int | None = None, form: str = "mean value",
            check: bool = True) -> Interval:
    """An interval that certainly contains every value of `fun` on the box `bounds`, rounding errors included.

    `form` is how it is found: "natural" by interval arithmetic alone; "mean value" met with the mean value form; "linear" met
    with linear functions below and above, which are better where variables appear many times, as in networks and recurrences;
    "best" all of them. `bounds` are (low, high) pairs, a scipy.optimize.Bounds, or one pair with `n=`; ends may be infinite. What
    was traced is compared with calls of the function with plain numbers, unless `check=False`.

    >>> import numpy as np
    >>> enclose(lambda x: x[0]**2 + np.exp(x[1]), [(-1, 2), (0, 0)])
    [1.0, 5.0]
    >>> enclose(lambda x: np.sin(x[0]) - x[0], [(0, 1)], form="natural").width > 1.5
    True
    >>> enclose(lambda x: np.sin(x[0]) - x[0], [(0, 1)], form="linear").width < 0.4
    True
    """
    box = read_bounds(bounds, n)
    lo, hi = box.region
    evaluator = compile(fun, len(lo), args, check=False)
    if check:
        Agreement(evaluator.functions).over(SampleBox.of(box))
    if form not in (*FORMS, _BEST):
        raise OptionError(f"there is no form {form!r}; there are {', '.join(map(repr, (*FORMS, _BEST)))}")
    found = [FORMS[name](evaluator, lo, hi) for name in (FORMS if form == _BEST else (form,))]
    return Interval(max(float(e.lo) for e in found), min(float(e.hi) for e in found), bool(found[0].defined))
