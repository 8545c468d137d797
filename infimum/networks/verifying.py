"""infimum.verify: proves or refutes a property of a network.

Proof: docs/proofs/networks.md.
"""

import inspect
import time
from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from infimum.api.solve import feasible, maximize, minimize
from infimum.errors import NetworkError, OptionError
from infimum.evaluation.compile import compile, enclose
from infimum.networks.exact_box import Box
from infimum.networks.network import Network
from infimum.networks.output_comparison import ComparisonProperty
from infimum.networks.properties import Extremum, JointInequalities, LabelProperty, Question, outputs_of, robust, unsafe
from infimum.networks.reading import network
from infimum.networks.verification import Check, Outcome, Verification
from infimum.networks.vnnlib import VnnLib, read_vnnlib
from infimum.problem.constraint import Constraint
from infimum.result import Result, Verdict
from infimum.support import environment

_SETTINGS = frozenset(("device", "threads", "seed", "max_boxes", "memory_limit", "batch", "progress", "callback", "engine",
                       "options", "atol", "rtol"))
_RADIUS = ("eps", "epsilon", "delta", "perturbation")  # as others call it
_FORMS = "give a comparison (lambda y: y[0] < 2), label=, a point x0 with a radius, the path of a VNN-LIB file, or one of " \
         "infimum.networks.largest, smallest, robust, error"
_DECIDED = 1e-9  # where a limit is given, a sign that is closer than this to it is left open
_UNDEFINED = "the network may be undefined somewhere within the bounds, where the property does not hold"
_MOST_PARTS = 2**12  # of a box, in each of which the network must be seen to be defined


@environment.ours
def verify(net: Network | Any, bounds: Any = None, property: Any = None, *, radius: Any = None, label: int | None = None,
           time_limit: float | None = None, **settings: Any) -> Verification:
    """Prove or refute a property of a network for all inputs within the bounds.

    `net` is a `Network` or what `infimum.network` takes. `bounds` are those of `minimize`. The property is one of these:

    * `verify(net, bounds, lambda y: y[0] < 2)`: a comparison of the outputs y holds everywhere, or several in a list.
      `lambda x, y: y[0] <= x[0]` compares outputs with inputs.
    * `verify(net, bounds, label=3)` or `verify(net, bounds, 3)`: output 3 is larger than all others everywhere.
    * `verify(net, x0, radius, label=3)`: the same wherever no input is further than `radius` from the point x0. Without a label
      the output that is largest at x0 is meant.
    * `verify(net, "safe.vnnlib")`: no input leads into the unsafe set of a VNN-LIB file, which has its own bounds. If bounds are
      given as well, `verify(net, bounds, "safe.vnnlib")`, both are met.
    * `infimum.networks.largest(output, limit)`, `smallest(output, limit)`, `robust(x0, radius, label)`, `error(fun, limit)`.

    The verdict HOLDS is proved for every real point within the bounds, and VIOLATED for the counterexample. A run ends as soon as
    the property is decided. `time_limit` is for all of it; the other settings (device, threads, seed, max_boxes, memory_limit,
    batch, progress, callback, engine, options, atol, rtol) go to each run of `minimize`.

    >>> net = network([np.array([[1.0, -1.0]]), np.array([0.0, 0.5])], activations=["tanh"])
    >>> verify(net, [(-1, 1)], lambda y: y[0] < 0.8).verdict.name
    'HOLDS'
    >>> found = verify(net, [1.0], 0.9, label=0)
    >>> found.verdict.name, found.counterexample is not None
    ('VIOLATED', True)
    """
    unknown = sorted(set(settings) - _SETTINGS)
    if unknown:
        cure = "; write radius=" if unknown[0] in _RADIUS else ""
        raise OptionError(f"verify has no argument {unknown[0]!r}{cure}. There are radius, label, time_limit, "
                          f"{', '.join(sorted(_SETTINGS))}")
    start = time.perf_counter()
    net = network(net)
    asked, bounds = _read(net, bounds, property, radius, label)
    questions = asked.questions(net, bounds)
    checks = [_at_once(question) for question in questions]
    for i in (i for i, check in enumerate(checks) if check is None):
        left = None if time_limit is None else time_limit - (time.perf_counter() - start)
        if left is not None and left <= 0:
            checks[i] = Check(questions[i].text, Outcome.UNKNOWN, -np.inf, np.inf)
            continue
        run = _extremum if isinstance(questions[i], Extremum) else _together
        checks[i] = run(questions[i], {**settings, **({} if left is None else {"time_limit": left})})
        if checks[i].outcome is Outcome.VIOLATED:
            break
    return _answer(net, str(asked), questions, checks, time.perf_counter() - start)


# ---- what is asked
def _read(net: Network, bounds: Any, property: Any, radius: Any, label: int | None) -> tuple[Any, Any]:
    """The property and its bounds, from all the forms in which they may be given."""
    if property is None and isinstance(bounds, (str, PathLike, VnnLib)):
        property, bounds = bounds, None
    shape = _shape(bounds)
    pairs = shape == (net.inputs, 2)
    if isinstance(property, (int, float, np.number)) and not isinstance(property, bool):
        is_label = pairs and isinstance(property, (int, np.integer))
        if (label if is_label else radius) is not None:
            raise OptionError(f"the {'label' if is_label else 'radius'} is given twice")
        property, radius, label = (None, radius, property) if is_label else (None, property, label)
    if property is None and radius is not None:
        if pairs:
            raise OptionError(f"{radius!r} is a radius around a point x0, and bounds were given: write verify(net, x0, "
                              f"{radius!r}), or verify(net, bounds, label=...) for the label of a class")
        return robust(bounds, radius, label), None
    if property is None and label is not None:
        if shape == (net.inputs,) and net.inputs != 2:  # of two inputs a point could as well be one pair of bounds for both
            raise OptionError(f"a point x0 needs a radius: write verify(net, x0, 0.1, label={label!r})")
        return LabelProperty(label), bounds
    if property is None:
        raise OptionError(f"what is to be proved is missing; {_FORMS}")
    if radius is not None or label is not None:
        raise OptionError("radius= and label= do not belong to this property, which says everything itself")
    return _property(property), bounds


def _shape(bounds: Any) -> tuple[int, ...]:
    try:
        return np.shape(bounds)
    except ValueError:  # a list of unequal parts, of which the reader of bounds tells more
        return ()


def _property(property: Any) -> Any:
    if isinstance(property, (str, PathLike)):
        return unsafe(read_vnnlib(property))
    if isinstance(property, VnnLib):
        return unsafe(property)
    if hasattr(property, "questions") and not inspect.isclass(property):
        return property
    if callable(property) and not inspect.isclass(property) and not isinstance(property, Network):
        return ComparisonProperty(property)
    raise OptionError(f"a {type(property).__name__} is no property; {_FORMS}")


def _answer(net: Network, text: str, questions: list[Question], asked: list[Check | None], seconds: float) -> Verification:
    """Of checks that were not made any more, None, nothing is known."""
    checks = [check for check in asked if check is not None]
    outcomes = [check.outcome for check in checks]
    verdict = next((o for o in (Outcome.VIOLATED, Outcome.UNKNOWN, Outcome.BOUNDED) if o in outcomes), Outcome.HOLDS)
    x = next((check.x for check in checks if check.outcome is Outcome.VIOLATED), None)
    with np.errstate(all="ignore"):
        outputs = None if x is None else np.asarray(outputs_of(net, x))
    lower, upper = -np.inf, np.inf
    if all(isinstance(question, Extremum) for question in questions) and len({question.side for question in questions}) == 1:
        best = max if questions[0].maximise else min
        ends = [(-np.inf, np.inf) if check is None else (check.lower, check.upper) for check in asked]
        lower, upper = best(lo for lo, _ in ends), best(hi for _, hi in ends)
    return Verification(verdict, text, x, outputs, lower, upper, tuple(checks), seconds)


def _pairs(box: Box) -> list[tuple[float, float]]:
    return list(zip(*(end.tolist() for end in box), strict=True))


def _at_once(question: Question) -> Check | None:
    """Where enclosures over the whole box decide: no point need be found."""
    if isinstance(question, JointInequalities):
        box = _pairs(question.exact.outer())
        never = any(_whole(part.fun, box, part.never_met) is not None for part in question.inequalities)
        return Check(question.text, Outcome.HOLDS, -np.inf, np.inf) if never else None
    whole = None if question.limit is None else _whole(question.fun, _pairs(question.box), question.met, question.everywhere)
    return None if whole is None else Check(question.text, Outcome.HOLDS, *question.shown(*whole))


def _whole(fun: Callable, box: list[tuple[float, float]], decides: Callable[[float, float], bool],
           everywhere: bool = False) -> tuple[float, float] | None:
    """The enclosure, if it is one and decides; if `everywhere`, only where the function is defined in the whole box."""
    found = enclose(fun, box, form="best")
    lo, hi = float(found.lo), float(found.hi)
    return (lo, hi) if lo <= hi and decides(lo, hi) and (found.defined or not everywhere) else None


def _is_defined(fun: Callable, box: Box) -> bool:
    """Is the function seen to be defined in the whole box, cut into a few thousand parts at most?"""
    evaluator, (lo, hi) = compile(fun, len(box[0])), (end[:, None] for end in box)
    left = _MOST_PARTS
    while lo.shape[1]:
        parts = lo.shape[1]
        open_ = ~evaluator.value(lo, hi).defined
        lo, hi, left = lo[:, open_], hi[:, open_], left - parts
        if left < 2 * lo.shape[1]:
            return False
        widest, each = np.argmax(hi - lo, axis=0), np.arange(lo.shape[1])
        middle = lo[widest, each] / 2 + hi[widest, each] / 2
        below, above = hi.copy(), lo.copy()
        below[widest, each] = above[widest, each] = middle
        lo, hi = np.concatenate([lo, above], axis=1), np.concatenate([below, hi], axis=1)
    return True


# ---- one extremum
def _extremum(question: Extremum, settings: dict[str, Any]) -> Check:
    return _checked(question, _run(question, settings))


def _run(question: Extremum, settings: dict[str, Any]) -> Result:
    """The run ends as soon as its bounds decide; a value that only an estimate had put on the wrong side ends it once."""
    decides = question.limit is not None
    asked = ({"atol": _DECIDED, "rtol": 0.0} if decides else {}) | settings
    solve = maximize if question.maximise else minimize
    begun = time.perf_counter()
    for trust in (True, False):
        if "time_limit" in settings:
            asked["time_limit"] = max(settings["time_limit"] - (time.perf_counter() - begun), 1e-3)
        stop = _StoppingCallback(question, settings.get("callback"), trust)
        result = solve(question.fun, _pairs(question.box), **(asked | ({"callback": stop} if decides else {})))
        if not (stop.by_value and not question.failed(result.lower, result.upper)):
            break
    if decides and result.verdict is Verdict.INFEASIBLE:
        raise NetworkError(f"{question.text}: the function is defined nowhere within the bounds")
    return result


class _StoppingCallback:
    """A callback that stops a run once its bounds decide, and asks the user's own."""

    def __init__(self, question: Extremum, own: Any, trust: bool):
        self.question, self.own, self.trust, self.by_value = question, own, trust, False

    def __call__(self, snapshot: Any) -> bool:
        if self.question.met(snapshot.lower, snapshot.upper):
            return True
        self.by_value = self.trust and self.question.failed(snapshot.lower, snapshot.upper)
        return self.by_value or (self.own is not None and self.own(snapshot) is True)


def _checked(question: Extremum, result: Result) -> Check:
    def check(outcome: Outcome, x: np.ndarray | None = None) -> Check:
        return Check(question.text, outcome, *question.shown(result.lower, result.upper), x, result)

    if question.limit is None:
        return check(Outcome.BOUNDED if result.verdict is Verdict.PROVED else Outcome.UNKNOWN)
    if question.met(result.lower, result.upper):
        if question.everywhere and not _is_defined(question.fun, question.box):
            return replace(check(Outcome.UNKNOWN), note=_UNDEFINED)
        return check(Outcome.HOLDS)
    if result.x is not None and question.failed(result.lower, result.upper):
        x = _inside(question, result)
        if x is not None:
            return check(Outcome.VIOLATED, x)
    return check(Outcome.UNKNOWN)


def _inside(question: Extremum, result: Result) -> np.ndarray | None:
    """The best point, if need be moved to where a counterexample must lie and proved there anew; None if it is none there."""
    x = result.x
    near = (x, x) if question.exact is None else question.exact.near(x)
    if all((end == x).all() for end in near) and question.failed(result.fun, result.fun):  # which is verified at x
        return x
    there = enclose(question.fun, _pairs(near))
    if not question.failed(float(there.lo), float(there.hi)):
        return None
    return x if question.exact is None else question.exact.shown(*near)


# ---- several inequalities
def _together(question: JointInequalities, settings: dict[str, Any]) -> Check:
    """The largest of all sums less their limits is minimised first, as functions without constraints are bounded best. Where that
    is too close to 0, points that meet the constraints are searched for."""
    if not question.inequalities:  # every point of the box is unsafe
        exact = question.exact
        return _of_all(question, Outcome.VIOLATED, exact.shown(*exact.near(exact.outer()[0])))
    begun, most = time.perf_counter(), question.largest()
    result = _run(most, settings)
    if most.met(result.lower, result.upper):
        return _of_all(question, Outcome.HOLDS, None, result)
    x = None if result.x is None else _unsafe_near(question, result.x)
    if x is not None:
        return _of_all(question, Outcome.VIOLATED, x, result)
    if result.verdict is Verdict.STOPPED and not most.failed(result.lower, result.upper):  # by a limit
        return _of_all(question, Outcome.UNKNOWN, None, result)
    if "time_limit" in settings:
        settings = settings | {"time_limit": max(settings["time_limit"] - (time.perf_counter() - begun), 1e-3)}
    return _by_constraints(question, settings)


def _of_all(question: JointInequalities, outcome: Outcome, x: np.ndarray | None = None, result: Result | None = None) -> Check:
    return Check(question.text, outcome, -np.inf, np.inf, x, result)


def _unsafe_near(question: JointInequalities, x: np.ndarray) -> np.ndarray | None:
    """The point, moved into the exact box if need be, if all inequalities are proved there."""
    near = question.exact.near(x)
    if all(part.met(float(enclose(part.fun, _pairs(near)).hi)) for part in question.inequalities):
        return question.exact.shown(*near)
    return None


def _by_constraints(question: JointInequalities, settings: dict[str, Any]) -> Check:
    """First in the doubles around the exact set: if no point there is unsafe, none is. A point that is found there need not
    belong to the exact set, nor what is near to it; then one is looked for among the doubles within that set."""
    exact, begun = question.exact, time.perf_counter()
    around = exact.outer(), [part.around for part in question.inequalities]
    within = exact.inner(), [part.within for part in question.inequalities]
    same = around[1] == within[1] and all(np.array_equal(a, b) for a, b in zip(around[0], within[0], strict=True))
    result = _search(question, *around, settings)
    if result.verdict is Verdict.INFEASIBLE:
        return _of_all(question, Outcome.HOLDS, None, result)
    if not isinstance(result.feasible, np.ndarray):
        return _of_all(question, Outcome.UNKNOWN, None, result)
    x = result.feasible if same else _unsafe_near(question, result.feasible)
    if x is not None:
        return _of_all(question, Outcome.VIOLATED, x, result)
    if (within[0][0] > within[0][1]).any() or min(within[1]) == -np.inf:
        return _of_all(question, Outcome.UNKNOWN, None, result)
    if "time_limit" in settings:
        settings = settings | {"time_limit": max(settings["time_limit"] - (time.perf_counter() - begun), 1e-3)}
    result = _search(question, *within, settings)
    x = result.feasible if isinstance(result.feasible, np.ndarray) else None
    return _of_all(question, Outcome.UNKNOWN if x is None else Outcome.VIOLATED, x, result)


def _search(question: JointInequalities, box: Box, limits: list[float], settings: dict[str, Any]) -> Result:
    return feasible(_pairs(box), [Constraint(part.fun, -np.inf, limit)
                                  for part, limit in zip(question.inequalities, limits, strict=True)], **settings)
