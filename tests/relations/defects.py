"""Defects that infimum had, each put back by a switch, and a draw of bench/relations.py that finds it.

A switch gives a function its old behaviour, or leaves out a check.

    python -m tests.relations.defects    # finds the draws anew, after a change of what is drawn
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np

from bench.related.asking import patched
from bench.related.problems import down, up
from bench.related.table import Record, one_draw, relation_of

SEED, MOST_DRAWS = 0, 2000


@dataclass(frozen=True)
class Defect:
    """`draw`: the number of a draw in which the defect shows, less than 2,000, so that a run of as many draws finds it, and its
    relation."""

    put_back: Callable[[], AbstractContextManager]
    draw: int
    relation: str

    def shown(self, draw: int) -> Record:
        """What becomes of a draw where the defect is there."""
        with self.put_back():
            return one_draw(SEED, draw, self.relation)


# ---- powers
@contextmanager
def _positive_bases() -> Iterator[None]:
    """x**y is undefined for every x < 0, unless rewriting has made the exponent an integer of the formula."""
    rules, pair, calls = (import_module(f"infimum.{name}") for name in ("ops.rules", "interval.pair", "interval.arithmetic"))

    def power(b: Any, x: Any, y: Any) -> Any:
        lo, inside = x.lo(b), x.but(nlo=b.min(x.nlo, 0.0), hi=b.max(x.hi, 0.0))
        nlo, hi = calls.call(b, "pow", inside, y)
        at_zero = pair.where_level(b, b.olt(y.nlo, 0.0), pair.DEFINED, pair.POLE)
        level = pair.where_level(b, b.ogt(lo, 0.0), pair.SMOOTH, pair.where_level(b, b.oeq(lo, 0.0), at_zero, pair.POLE))
        nothing = b.mor(b.olt(x.hi, 0.0), b.mand(b.oeq(x.hi, 0.0), b.ole(y.hi, 0.0)))
        level = pair.lowest(b, pair.forgets_nan(b, pair.lowest(b, x.level, y.level)), level)
        return pair.absorb(b, pair.cut(b, pair.Pair(nlo, hi, level, least=0), nothing), x, y)
    kernels, usual = import_module("infimum.evaluation.compiled_programs")._lowered, rules.RULES["pow"]
    kernels.clear()  # those of equal functions are kept
    rules.RULES["pow"] = power
    try:
        yield
    finally:
        rules.RULES["pow"] = usual
        kernels.clear()


# ---- bounds
def _outward_ends() -> AbstractContextManager:
    """Ends that are no doubles are rounded outward when they are read, and forgotten."""
    module = import_module("infimum.problem.problem")
    usual = module.read_bounds

    def outward(bounds: Any, n: int | None = None) -> Any:
        return usual([(_rounded(low, down), _rounded(high, up)) for low, high in bounds], n)
    return patched(module, "read_bounds", outward)


def _rounded(end: Any, towards: Callable[[Any], float]) -> Any:
    if hasattr(end, "lo"):  # infimum.pi
        return towards("pi")
    return towards(end) if isinstance(end, Fraction) or (isinstance(end, int) and abs(end) > 2**53) else end


# ---- networks
def _without_last_windows() -> AbstractContextManager:
    """A window beyond the last element of the image is none, even if it lies within the padding."""
    windows = import_module("infimum.networks.windows")
    usual = windows._counts

    def counts(node: Any, size: int, pads: tuple[int, int], span: int, stride: int) -> int:
        count = usual(node, size, pads, span, stride)
        return count - ((count - 1) * stride >= size + pads[0])
    return patched(windows, "_counts", counts)


def _integers_as_reals() -> AbstractContextManager:
    """Quotients, remainders and powers of integers are those of real numbers."""
    return patched(import_module("infimum.networks.arithmetic"), "is_integer", lambda x: False)


@contextmanager
def _modules_by_name() -> Iterator[None]:
    """A module is known by the name of its class or of one that it is derived from; its own forward and hooks are not read."""
    modules = import_module("infimum.networks.torch_modules")

    def kind(module: Any) -> str | None:
        return next((base.__name__ for base in type(module).__mro__ if base.__name__ in (*modules.MODULES, "Sequential")), None)
    with patched(modules, "_kind", kind), patched(modules, "_check_call", lambda part: None):
        yield


# ---- journals
@contextmanager
def _functions_by_source() -> Iterator[None]:
    """A journal knows a function by its source alone, and its best point is not tried again."""
    box, callables = import_module("infimum.api.black_box"), import_module("infimum.blackbox.callables")
    usual = box.BlackBoxRun
    with patched(callables, "identity", lambda *args: {}), patched(
            box, "BlackBoxRun", lambda *args: usual(*args[:3], replace(args[3], check=False), *args[4:])):
        yield


# ---- fits
@contextmanager
def _tolerance_of_the_data() -> Iterator[None]:
    """What counts as 0 is made of the data in units of sigma, one of which may be as small as 1e-12; measurements that are pinned
    so are squares like others, and nobody is warned."""
    scipy_like, search = import_module("infimum.fitting.scipy_curve_fit"), import_module("infimum.fitting.search")
    usual, none_pinned = scipy_like.fit, SimpleNamespace(of=lambda *args: None)

    def fit(model: Any, x: Any, y: Any, *, sigma: Any = None, **more: Any) -> Any:
        weighted = np.asarray(y) / (1.0 if sigma is None else np.asarray(sigma))
        slack = 1e-20 * np.sum((weighted - weighted.mean()) ** 2) + 1e-28 * np.sum(weighted**2)
        return usual(model, x, y, sigma=sigma, **{"atol": float(slack), **more})
    quiet = patched(scipy_like, "_warn", lambda *args: None)
    with patched(scipy_like, "fit", fit), quiet, patched(search, "PinnedData", none_pinned):
        yield


# ---- tracing
@contextmanager
def _unchecked_traces() -> Iterator[None]:
    """A traced value has text, and no plain call is compared with what was traced."""
    agreement, tracer = import_module("infimum.trace.agreement").Agreement, import_module("infimum.trace.tracer")
    with patched(agreement, "over", lambda *args, **more: None), patched(agreement, "at", lambda *args, **more: None), \
            patched(tracer, "refuse_text", lambda: None):
        yield


DEFECTS: dict[str, Defect] = {
    "text of a traced value": Defect(_unchecked_traces, 78, "escapes"),
    "the type of a traced value": Defect(_unchecked_traces, 29, "escapes"),
    "powers of positive bases alone": Defect(_positive_bases, 119, "bound fixed"),
    "whole numbers beyond exact ends": Defect(_outward_ends, 405, "part of the box"),
    "points beyond exact ends": Defect(_outward_ends, 203, "scaled"),
    "the last window of a convolution": Defect(_without_last_windows, 721, "networks"),
    "integers of networks as real numbers": Defect(_integers_as_reals, 160, "networks"),
    "modules by their names": Defect(_modules_by_name, 403, "networks"),
    "a tolerance made of weighted data": Defect(_tolerance_of_the_data, 683, "curve_fit"),
    "journals of other functions": Defect(_functions_by_source, 32, "journal"),
}


if __name__ == "__main__":
    for name, defect in DEFECTS.items():
        own = (number for number in range(MOST_DRAWS) if relation_of(number) == defect.relation)
        found = next((number for number in own if defect.shown(number).wrong), None)
        print(f"{name}: draw {found}, {defect.relation}", flush=True)
