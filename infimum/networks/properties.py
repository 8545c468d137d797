"""Properties of networks, each a list of questions about the extremum of a function or about inequalities."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from infimum import environment
from infimum.errors import NetworkError, OptionError, ShapeError
from infimum.expr.real import round_down, round_up
from infimum.networks.network import Network
from infimum.networks.vnnlib import Linear, VnnLib
from infimum.problem import read_bounds

Box = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, slots=True, eq=False)
class Extremum:
    """Is `fun` at most the limit (`maximise`), or at least, everywhere in the box? If `strict`, less or more than the limit.
    limit None: only its bounds are asked for. inner: where a counterexample must lie, if not anywhere in the box."""

    text: str
    fun: Callable[[Any], Any]
    box: Box
    maximise: bool
    limit: float | None
    strict: bool = False
    inner: Box | None = None

    def met(self, lower: float, upper: float) -> bool:
        """Do the bounds of the extremum show that all values are on the right side?"""
        if self.limit is None:
            return False
        if self.maximise:
            return upper < self.limit or (not self.strict and upper == self.limit)
        return lower > self.limit or (not self.strict and lower == self.limit)

    def failed(self, lower: float, upper: float) -> bool:
        """Do the bounds of one value, or of the extremum, show that some value is on the wrong side?"""
        if self.limit is None:
            return False
        if self.maximise:
            return lower > self.limit or (self.strict and lower == self.limit)
        return upper < self.limit or (self.strict and upper == self.limit)


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """Is there no point of the box at which all functions are at most 0?"""

    text: str
    functions: tuple[Callable[[Any], Any], ...]
    box: Box


Question = Extremum | Together


def outputs_of(net: Network, x: Any) -> Any:
    """The outputs as a vector."""
    y = net(x)
    return np.stack([y]) if net.outputs == 1 else y.reshape(net.outputs)


def _number_of(net: Network, output: Any, what: str = "output") -> int:
    whole = isinstance(output, (int, np.integer)) and not isinstance(output, bool)
    if not whole or not 0 <= output < net.outputs:
        raise OptionError(f"{what} must be one of the {net.outputs} outputs of the network, counted from 0, not {output!r}")
    return int(output)


def _limit(value: Any) -> float | None:
    if value is None:
        return None
    if not isinstance(value, (int, float, np.integer, np.floating)) or isinstance(value, bool) or not math.isfinite(value) \
            or Fraction(float(value)) != Fraction(value.item() if isinstance(value, np.generic) else value):
        raise OptionError(f"limit must be a finite double, or None, not {value!r}")
    return float(value)


def _given(bounds: Any, net: Network) -> Box:
    if bounds is None:
        raise OptionError("bounds are missing: give a pair (low, high) for each input")
    lo, hi = read_bounds(bounds, net.inputs if np.shape(bounds) == (2,) and net.inputs > 1 else None)
    if len(lo) != net.inputs:
        raise ShapeError(f"there are bounds of {len(lo)} inputs, and the network has {net.inputs}")
    return lo, hi


@dataclass(frozen=True, slots=True, eq=False)
class OutputProperty:
    """Made by `largest` and `smallest`."""

    output: int
    limit: float | None
    maximise: bool

    def __str__(self) -> str:
        what = f"{'largest' if self.maximise else 'smallest'} output {self.output}"
        return what if self.limit is None else f"{what} is at {'most' if self.maximise else 'least'} {self.limit!r}"

    def questions(self, net: Network, bounds: Any) -> list[Question]:
        k = _number_of(net, self.output)
        return [Extremum(str(self), lambda x: outputs_of(net, x)[k], _given(bounds, net), self.maximise, _limit(self.limit))]


def largest(output: int = 0, limit: float | None = None) -> OutputProperty:
    """The largest value of an output; with a limit, the property that it is nowhere larger."""
    return OutputProperty(output, limit, True)


def smallest(output: int = 0, limit: float | None = None) -> OutputProperty:
    """The smallest value of an output; with a limit, the property that it is nowhere smaller."""
    return OutputProperty(output, limit, False)


@dataclass(frozen=True, slots=True, eq=False)
class ErrorProperty:
    """Made by `error`."""

    fun: Callable[[Any], Any]
    limit: float | None
    output: int

    def __str__(self) -> str:
        what = f"largest error |output {self.output} - {getattr(self.fun, '__name__', 'f')}|"
        return what if self.limit is None else f"{what} is at most {self.limit!r}"

    def questions(self, net: Network, bounds: Any) -> list[Question]:
        k, box, limit = _number_of(net, self.output), _given(bounds, net), _limit(self.limit)
        if not callable(self.fun):
            raise OptionError(f"error() takes the function that the network stands for, not {self.fun!r}")
        return [Extremum("output - function", lambda x: outputs_of(net, x)[k] - self.fun(x), box, True, limit),
                Extremum("function - output", lambda x: self.fun(x) - outputs_of(net, x)[k], box, True, limit)]


def error(fun: Callable[[Any], Any], limit: float | None = None, output: int = 0) -> ErrorProperty:
    """The largest |net(x) - fun(x)| for a NumPy function; with a limit, the property that it is nowhere larger."""
    return ErrorProperty(fun, limit, output)


@dataclass(frozen=True, slots=True, eq=False)
class RobustProperty:
    """Made by `robust`."""

    x0: Any
    radius: Any
    label: int | None

    def __str__(self) -> str:
        who = "the class at x0" if self.label is None else f"output {self.label}"
        return f"{who} stays the largest where no input is further than {self.radius!r} from x0"

    def questions(self, net: Network, bounds: Any) -> list[Question]:
        if net.outputs < 2:
            raise OptionError("robustness is about the largest of several outputs, and this network has one")
        outer, inner = self._boxes(net, bounds)
        label = int(np.argmax(outputs_of(net, np.asarray(self.x0, dtype=float)))) if self.label is None else \
            _number_of(net, self.label, "label")

        def margin(j: int) -> Callable[[Any], Any]:
            signs = np.zeros(net.outputs)  # as data of one kernel: all outputs share its code
            signs[j], signs[label] = 1.0, -1.0
            return lambda x: signs @ outputs_of(net, x)
        return [Extremum(f"output {j} - output {label} is negative", margin(j), outer, True, 0.0, True, inner)
                for j in range(net.outputs) if j != label]

    def _boxes(self, net: Network, bounds: Any) -> tuple[Box, Box]:
        """Around the ball, and inside it: its ends need not be doubles. Within the bounds, if there are any."""
        try:
            x0 = np.asarray(self.x0, dtype=np.float64).ravel()
            radius = np.broadcast_to(np.asarray(self.radius, dtype=np.float64), x0.shape)
        except (TypeError, ValueError):
            raise OptionError("robust() takes a point x0 and a radius, a number or one for each input") from None
        if len(x0) != net.inputs:
            raise ShapeError(f"x0 has {len(x0)} numbers, and the network has {net.inputs} inputs")
        if not (np.isfinite(x0).all() and np.isfinite(radius).all() and (radius >= 0).all()):
            raise OptionError("x0 and radius must be finite, and the radius not negative")
        least = [Fraction(a) - Fraction(r) for a, r in zip(x0.tolist(), radius.tolist(), strict=True)]
        most = [Fraction(a) + Fraction(r) for a, r in zip(x0.tolist(), radius.tolist(), strict=True)]
        outer = np.array([round_down(v) for v in least]), np.array([round_up(v) for v in most])
        inner = np.array([round_up(v) for v in least]), np.array([round_down(v) for v in most])
        if bounds is None:
            return outer, inner
        lo, hi = _given(bounds, net)
        outer, inner = ((np.maximum(a, lo), np.minimum(b, hi)) for a, b in (outer, inner))
        if (outer[0] > outer[1]).any():
            raise OptionError("the ball around x0 has no point in common with the bounds")
        return outer, inner


def robust(x0: Any, radius: Any, label: int | None = None) -> RobustProperty:
    """The property that output `label` (by default the one that is largest at x0) is larger than all others wherever no input is
    further than `radius` from x0. `radius` is a number, or one for each input; bounds, if given, are met as well."""
    return RobustProperty(x0, radius, label)


@dataclass(frozen=True, slots=True, eq=False)
class UnsafeProperty:
    """A VNN-LIB file: no input leads into its unsafe set."""

    file: VnnLib

    def __str__(self) -> str:
        return f"{self.file.name}: no input within its bounds leads into the unsafe set"

    def questions(self, net: Network, bounds: Any) -> list[Question]:
        file = self.file
        if (file.inputs, file.outputs) != (net.inputs, net.outputs):
            raise NetworkError(f"{file.name} is about {file.inputs} inputs and {file.outputs} outputs, and the network has "
                               f"{net.inputs} and {net.outputs}")
        given = None if bounds is None else _given(bounds, net)
        found: list[Question] = []
        for i, case in enumerate(file.cases):
            lo, hi = np.array(case.lo), np.array(case.hi)
            if given is not None:
                lo, hi = np.maximum(lo, given[0]), np.minimum(hi, given[1])
                if (lo > hi).any():
                    continue
            open_ = np.flatnonzero(np.isinf(lo) | np.isinf(hi))
            if open_.size:
                raise NetworkError(f"{file.name} gives no bounds of X_{open_[0]} in case {i + 1}: add them there, or give bounds")
            found.append(_unsafe(net, i, case.inequalities, (lo, hi)))
        return found


def _unsafe(net: Network, number: int, inequalities: Sequence[Linear], box: Box) -> Question:
    functions = tuple(_function(net, part) for part in inequalities)
    text = f"case {number + 1} cannot occur"
    if len(functions) == 1:
        return Extremum(text, functions[0], box, False, 0.0, True)
    return Together(text, functions, box)


def _function(net: Network, linear: Linear) -> Callable[[Any], Any]:
    """The sum as a function of the input, with exact coefficients where it is traced."""
    def fun(x: Any) -> Any:
        y = outputs_of(net, x) if linear.y else None
        total = None
        for values, factors in ((x, linear.x), (y, linear.y)):
            for k, factor in factors.items():
                part = values[k] if factor == 1 else -values[k] if factor == -1 else values[k] * _exact(factor, values)
                total = part if total is None else total + part
        return total if not linear.constant else total + _exact(linear.constant, x)
    return fun


def _exact(value: Fraction, beside: Any) -> Any:
    return float(value) if isinstance(beside, np.ndarray) and beside.dtype != object else value


@environment.ours
def unsafe(file: VnnLib) -> UnsafeProperty:
    """The property that a VNN-LIB file describes."""
    return UnsafeProperty(file)
