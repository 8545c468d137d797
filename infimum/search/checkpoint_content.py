"""What a checkpoint may hold: names, types, shapes and ranges, checked before a run is restored from it.

The checksum of a file says that it is as it was written. It does not say by whom: a file that was made by hand can have the right
one. So a run is never restored from arrays that do not fit the problem: kernels would read past their ends, and a proof would
speak of other regions. What is checked here makes sure that a run can continue from the file, not that the file tells the truth:
whoever writes a checkpoint decides what a proof that continues from it says.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from infimum.errors import BoundsError, CheckpointError, InfimumError, InternalError, OptionError
from infimum.problem.problem import Problem
from infimum.problem.variable_bounds import OuterBox
from infimum.search.checkpoint import State, memory_suffices

_MOST = 1 << 62  # fixed: what a count in a file may be
_FOREIGN = (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


class _Wrong(ValueError):
    """What is wrong with the content of a checkpoint."""


@contextmanager
def content_of(path: str) -> Iterator[None]:
    """What goes wrong while the content of a checkpoint is read becomes an error that names the file."""
    try:
        with memory_suffices(path):
            yield
    except _FOREIGN as error:
        if isinstance(error, InfimumError) and not isinstance(error, (OptionError, BoundsError)):  # such as a full GPU
            raise
        own = isinstance(error, (_Wrong, InfimumError))
        why = str(error) if own else f"{type(error).__name__}: {error}"
        raise CheckpointError(f"no run can continue from the checkpoint {path}: its content does not fit together ({why}). Put "
                              "the file back from a copy, or begin anew") from error


@contextmanager
def contradicts(path: str) -> Iterator[None]:
    """A contradiction in the results of a run that continues from a checkpoint most likely comes from there."""
    try:
        yield
    except InternalError as error:
        raise CheckpointError(f"what continues from the checkpoint {path} contradicts itself ({error}): the file is damaged, or "
                              "was changed. If it is as infimum wrote it, please report this") from error


# ---- plain values
def _whole(value: Any) -> bool:
    return type(value) is int and -_MOST < value < _MOST


def _number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= math.inf and (type(value) is float or _whole(value))


def _truth(value: Any) -> bool:
    return isinstance(value, bool)


def _positive(value: Any) -> bool:
    return _number(value) and value > 0


def _batch(value: Any) -> bool:
    return _whole(value) and 0 < value <= 1 << 30


def _or_none(valid: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or valid(value)


def _goal(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(_number(v) and v >= 0 for v in value[:2]) and \
        (value[2] is None or _number(value[2]) and value[2] >= 0)


_VALUES: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("boxes", "steps", "before", "cuts", "judged", "next_look", "looked", "sweeps", "slices", "refined",
                     "largest_step", "quadratic_steps", "start_rounds", "start_misses", "closings"), _whole),
    **dict.fromkeys(("floor", "asked", "boxes_each", "closed_with"), _number),
    **dict.fromkeys(("ended", "alike", "looking", "may_move_to_gpu", "quadratic_waits", "programs_wait", "eliminated"),
                    _truth),
    "programs_marks": lambda value: isinstance(value, list) and len(value) == 4 and all(_number(v) and v >= 0 for v in value),
    "batch": _batch, "step_to_end": _or_none(_truth), "lp": lambda value: isinstance(value, str),
    "discarded": lambda value: isinstance(value, dict) and all(map(_whole, value.values())),
}
_SETTINGS: dict[str, Callable[[Any], bool]] = {
    "engine": lambda value: isinstance(value, str), "options": lambda value: isinstance(value, dict), "goal": _goal,
    "seed": lambda value: _whole(value) and value >= 0, "memory_limit": _or_none(_positive), "batch": _or_none(_batch),
    "may_move_to_gpu": _truth, "key": lambda value: isinstance(value, str),
    "purpose": lambda value: value in ("minimise", "maximise", "feasible"), "reduces": _truth, "derives_bounds": _truth,
    "whole_rows": _truth,
    "integers": lambda value: isinstance(value, list) and all(_whole(v) and v >= 0 for v in value),
    "feasibility": lambda value: _number(value) and 0 <= value < math.inf,
    "system": _or_none(lambda value: isinstance(value, str)), "portions": _or_none(_batch),
}
_NEEDED = ("engine", "options", "goal", "seed", "memory_limit", "batch", "key")


def _check_values(values: Any, table: dict[str, Callable[[Any], bool]], needed: tuple[str, ...] = ()) -> None:
    if not isinstance(values, dict):
        raise _Wrong("its values are no table")
    for name in needed:
        if name not in values:
            raise _Wrong(f"{name!r} is missing")
    for name, value in values.items():
        if name in table and not table[name](value):
            raise _Wrong(f"{name!r} is {str(value)[:40]}")


def settings_of(whole: State) -> dict[str, Any]:
    """The settings of the run, checked, and with them the arrays of the problem."""
    _check_values(whole.values, {"state": lambda value: value is None or isinstance(value, dict)}, ("settings", "state"))
    _check_values(whole.values["settings"], _SETTINGS, _NEEDED)
    settings, arrays = whole.values["settings"], whole.arrays
    lo, hi = _ends_of(arrays, "settings.", "the bounds")
    if not len(lo) or any(i >= len(lo) for i in settings.get("integers", ())):
        raise _Wrong("the whole numbers are no variables")
    for name in ("x0", "start.lo", "start.hi"):
        _check_array(f"settings.{name}", arrays.get(f"settings.{name}"), "f8", (len(lo), None))
    if "settings.start.lo" in arrays:
        _ends_of(arrays, "settings.start.", "a start box", lo[:, None], hi[:, None])
    return settings


def _ends_of(arrays: dict[str, np.ndarray], whose: str, what: str, *within: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The box around bounds, checked; that within, which may be empty, where both are stored because some ends are no doubles."""
    inner = arrays[f"{whose}lo"], arrays[f"{whose}hi"]
    if f"{whose}outer.lo" not in arrays:
        _check_box(*inner, what, *within)
        return inner
    lo, hi, least, most = outer = [arrays[f"{whose}outer.{name}"] for name in OuterBox._fields]
    _check_box(lo, hi, what, *within)
    if any(end.dtype != np.float64 or end.shape != lo.shape for end in (*inner, *outer)):
        raise _Wrong(f"the ends of {what} are no numbers, or not as many")
    if not ((lo <= least) & (least <= inner[0]) & (inner[1] <= most) & (most <= hi)).all():
        raise _Wrong(f"the ends of {what} are rounded in the wrong direction")
    return lo, hi


# ---- arrays: their type, and their sizes: of n variables, m constraints and `rows` bounded ones; None: any
def _sizes(n: int, m: int, rows: int) -> dict[str, tuple[str, tuple[Any, ...]]]:
    box, columns, lagrangian_size = ("f8", (2, n)), ("f8", (2 * n + 3, None)), n + 2 * rows + 1
    return {
        "pool": ("f8", (2,)), "pool.front": columns, "pool.waiting": columns, "solved": columns, "root": ("f8", (2 * n + 1,)),
        "incumbent": ("f8", ((1, n + 1),)), "incumbent.box": box, "incumbent.misses": ("f8", ((1,),)),
        "found": ("f8", (n + 1,)), "found.box": box,
        "final.lo": ("f8", (n, "final")), "final.hi": ("f8", (n, "final")), "final.lower": ("f8", ("final",)),
        "final.axis": ("i4", ("final",)), "final.level": ("i1", ("final",)),
        "final.iteration": ("i8", ("final",)), "final.subregion": ("i4", ("final",)), "final.wide": ("b1", ("final",)),
        "list.iteration": ("i8", ("list",)), "list.subregion": ("i4", ("list",)), "list.lower": ("f8", ("list",)),
        "list.wide": ("b1", ("list",)),
        "taken.lo": ("f8", ("taken", n)), "taken.hi": ("f8", ("taken", n)), "taken.start": ("i8", ("taken",)),
        "taken.home": ("i8", ("taken",)),
        "search": ("f8", (n + m + 2,)), "search.begin": box, "search.better": box,
        "taught.lagrangian": ("f8", ((lagrangian_size, lagrangian_size + 2 * n + 2 * n * n),)), "taught.lifted": ("f8", (n,)),
        "lp.counts": ("i8", ((4, 5),)), "lp.turn": ("f8", (6,)),
        "lp.mark": ("f8", (3,)),  # in files of earlier versions, whose turns were judged otherwise: not read
        "lp.basis": ("i1", (None,)), "lp.gains": ("f8", (2, 2, n)),
    }


def restore(engine: Any, state: State) -> None:
    """Has the engine continue from a state, if it can be one of it."""
    systems = engine.incumbent.evaluator.system, getattr(engine, "bounding", engine.incumbent.evaluator).system
    _check_state(state, engine.problem, *(0 if system is None else system.m for system in systems))
    engine.restore(state)
    for name in ("incumbent", "found"):
        best, box = state.arrays.get(name, np.empty(0)), state.arrays.get(f"{name}.box")
        if len(best) > 1 or box is not None:
            _check_best(engine.incumbent, float(best[0]), (best[1:], best[1:]) if box is None else box)


def _check_best(incumbent: Any, value: float, box: Any) -> None:
    """Raises if a best value is below all values at its point, or in the box in which that is proved to lie: it would discard
    regions that hold the minimum."""
    if not incumbent.enclosed(*box).lo <= value:
        raise _Wrong("the best value is below all values that the function has at its point")


def _check_state(state: State, problem: Problem, m: int, rows: int) -> None:
    """Raises if a search of this problem, as the engine has it, cannot have this state. `m`: how many constraints there are;
    `rows`: how many as they are bounded."""
    _check_values(state.values, _VALUES)
    (lo, hi), n = problem.region, len(problem.lo)
    sizes, known = _sizes(n, m, rows), {}
    for name, array in state.arrays.items():
        if name.startswith("payoff."):
            _check_array(name, array, "i8", ((4, 5, 6),))
        elif name in sizes:
            _check_array(name, array, *sizes[name], known)
    found = state.arrays
    for name in ("pool.front", "pool.waiting", "solved"):
        if name in found:
            _check_columns(found[name], n, lo, hi)
    for name in ("incumbent.box", "found.box", "search.begin", "search.better"):
        if name in found:
            _check_box(*found[name], name, lo, hi)
    if "pool" in found:
        _check_range("pool", found["pool"][1:], 0, 1 << 53)
    if "final.lo" in found:
        _check_box(found["final.lo"], found["final.hi"], "a region", lo[:, None], hi[:, None])
        _check_range("final.axis", found["final.axis"], -2, n - 1)
    if "taken.lo" in found:
        _check_iterations(found, lo, hi, 1 if problem.several is None else len(problem.several))
    for name in ("incumbent", "found"):
        if len(best := found.get(name, ())) > 1:
            _check_box(best[1:], best[1:], "the best point", problem.lo, problem.hi)
    if len(found.get("incumbent", ())) > 1 and not any(found[name].shape[-1] for name in _REGIONS if name in found):
        raise _Wrong("there is a point, and no region that may hold it")


_REGIONS = ("pool.front", "pool.waiting", "solved", "final.lower", "list.lower")


def _check_array(name: str, array: np.ndarray | None, kind: str, shape: tuple[Any, ...],
                 known: dict[str, int] | None = None) -> None:
    """Raises if an array has another type or shape. A size may be a choice of numbers, or a name: the same wherever it occurs."""
    if array is None:
        return
    fits = array.dtype == np.dtype(kind) and array.ndim == len(shape)
    for size, wanted in zip(array.shape, shape, strict=False):
        wanted = (known if known is not None else {}).setdefault(wanted, size) if isinstance(wanted, str) else wanted
        fits = fits and (wanted is None or size == wanted or isinstance(wanted, tuple) and size in wanted)
    if not fits:
        raise _Wrong(f"{name!r} is an array of {array.dtype} with the shape {array.shape}")


def _check_box(lo: np.ndarray, hi: np.ndarray, what: str, least: Any = -math.inf, most: Any = math.inf) -> None:
    if lo.dtype != np.float64 or hi.dtype != np.float64 or lo.shape != hi.shape:
        raise _Wrong(f"the ends of {what} are no numbers, or not as many")
    if not ((lo <= hi) & (least <= lo) & (hi <= most)).all():
        raise _Wrong(f"{what} is empty, or not within the bounds")


def _check_range(name: str, numbers: np.ndarray, least: int, most: int) -> None:
    if numbers.size and not (least <= numbers.min() and numbers.max() <= most):
        raise _Wrong(f"{name!r} is out of range")


def _check_columns(columns: np.ndarray, n: int, lo: np.ndarray, hi: np.ndarray) -> None:
    """Regions in columns, see `kernel/region_cut.py`: ends, a lower bound, the variable to cut, the status."""
    _check_box(columns[:n], columns[n:2 * n], "a region", lo[:, None], hi[:, None])
    axis, level = columns[2 * n + 1:]
    if not (np.isin(axis, np.arange(-2, n)).all() and np.isin(level, np.arange(-8, 9)).all()):
        raise _Wrong("the variable to cut of a region, or its status, is none")


def _check_iterations(arrays: dict[str, np.ndarray], lo: np.ndarray, hi: np.ndarray, homes: int) -> None:
    """Of the complete search: the regions that were cut, and those that are left of each."""
    _check_box(arrays["taken.lo"], arrays["taken.hi"], "a region", lo, hi)
    _check_range("taken.start", arrays["taken.start"], 0, len(lo) - 1)
    _check_range("taken.home", arrays.get("taken.home", np.empty(0)), 0, homes - 1)
    for name in ("list", "final"):
        _check_range(f"{name}.iteration", arrays[f"{name}.iteration"], -1, len(arrays["taken.lo"]) - 1)
        _check_range(f"{name}.subregion", arrays[f"{name}.subregion"], 0, _MOST)
        whole = arrays[f"{name}.iteration"] < 0  # start boxes that were not cut, by their numbers
        _check_range(f"{name}.subregion", arrays[f"{name}.subregion"][whole], 0, homes - 1)
