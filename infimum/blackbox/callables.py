"""A Python function, with constraints, as what is tried."""

import hashlib
import inspect
import textwrap
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from infimum.blackbox.identity import identity
from infimum.blackbox.outcome import Outcome, OutcomeKind, exception_text
from infimum.blackbox.trial_functions import NotANumber, TrialFunction, inner, read_constraints, title
from infimum.blackbox.variables import Variables
from infimum.errors import OptionError
from infimum.support import environment


class PythonFunctions:
    """The constraints in their order, and then the function. Each is called with the point, as `Variables.argument` makes it, a
    copy of its own; the first constraint that is violated is the last that is called. With `maximise` the values are those of -f.

    >>> box = PythonFunctions(lambda x: x[0] ** 2, Variables.read([(-1, 1)]), constraints=[lambda x: 0.5 - x[0]])
    >>> box.evaluate([0.75]).values, box.evaluate([0.25]).index
    ((-0.25, 0.5625), 1)
    """

    def __init__(self, fun: Callable[..., Any], variables: Variables, constraints: Any = (), args: Any = (),
                 maximise: bool = False):
        if not callable(fun):
            raise OptionError(f"fun must be a function of an array, not {fun!r}")
        args = tuple(args) if isinstance(args, (tuple, list)) else (args,) if args is not None else ()
        own = TrialFunction(fun, title(fun, "The function"), args, -1.0 if maximise else 1.0)
        self.variables, self.maximise = variables, maximise
        self.parts = (*read_constraints(constraints, len(variables)), own)

    @property
    def constraints(self) -> int:
        """How many there are."""
        return len(self.parts) - 1

    def evaluate(self, x: Sequence[float], note: Callable[[float], None] | None = None) -> Outcome:
        """Runs a trial. `note` is told the number of each constraint that holds, before the next function is called."""
        start, values, x = perf_counter(), [], np.asarray(x, dtype=np.float64)
        for part in self.parts:
            try:
                returned = environment.call(part.fun, self.variables.argument(x), *part.args)
            except (Exception, SystemExit) as error:
                said = exception_text(error, getattr(inner(part.fun), "__code__", None))
                return Outcome.failed(OutcomeKind.EXCEPTION, said, values, perf_counter() - start)
            try:
                values.append(part.measure(returned))
            except NotANumber as error:
                return Outcome.failed(OutcomeKind.NO_NUMBER, str(error), values, perf_counter() - start)
            if not values[-1] <= 0 or values[-1] == -np.inf:  # violated, or not finite
                break
            if note is not None and part.constrains:
                note(values[-1])
        return Outcome.of(values, self.constraints, perf_counter() - start)

    def describe(self) -> dict[str, Any]:
        """What tells this problem from others, in the terms of JSON: the variables, and of each function what it is."""
        return {**self.variables.describe(), "constraints": self.constraints,
                "functions": [described(part) for part in self.parts]}


def described(part: TrialFunction) -> dict[str, Any]:
    """The name of a function, and what tells it from others. `source` is what infimum 0.2 knew of it, see `identity`."""
    fun = inner(part.fun)
    name = getattr(fun, "__qualname__", type(fun).__qualname__)
    found = {"name": name, "source": _source(fun), "identity": identity(part.fun, part.args)}
    if part.ends is not None:
        found["ends"] = [[str(v) for v in np.ravel(end)] for end in part.ends]
    if part.sign < 0:
        found["maximise"] = True
    return found


def _source(fun: Any) -> str | None:
    """The digest of a function's source; None where there is none, as of functions written in C."""
    code = fun if hasattr(fun, "__code__") else type(fun)
    try:
        text = inspect.getsource(code)
    except (OSError, TypeError):
        return None
    return hashlib.sha256(textwrap.dedent(text).encode()).hexdigest()[:16]
