"""Properties of networks, each a list of questions about the extremum of a function or about inequalities.

Proof: docs/proofs/networks.md.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from infimum.errors import NetworkError, OptionError, ShapeError
from infimum.networks.exact_box import Box, ExactBox, ExactEnd
from infimum.networks.network import Network
from infimum.networks.vnnlib import LinearInequality, VnnLib
from infimum.problem.variable_bounds import read_bounds
from infimum.support import environment
from infimum.support.given_numbers import round_down, round_up
from infimum.support.lazy import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Extremum:
    """Is `fun` at most the limit (`maximise`), or at least, everywhere in the box? If `strict`, less or more than the limit.
    limit None: only its bounds are asked for. exact: where a counterexample must lie, if not anywhere in the box. relative: are
    its bounds shown less the limit? everywhere: must the function be defined in the whole box? A value that is not defined is on
    no side of a limit."""

    text: str
    fun: Callable[[Any], Any]
    box: Box
    maximise: bool
    limit: float | Fraction | None
    strict: bool = False
    exact: ExactBox | None = None
    relative: bool = False
    everywhere: bool = True

    @property
    def side(self) -> tuple[bool, Any]:
        """Extrema of one side have a largest or a smallest one among them that says something."""
        return self.maximise, None if self.relative else self.limit

    def shown(self, lower: float, upper: float) -> tuple[float, float]:
        """The bounds as they are reported."""
        if not self.relative:
            return lower, upper
        return tuple(rounded(Fraction(end) - self.limit) if math.isfinite(end) else end
                     for rounded, end in ((round_down, lower), (round_up, upper)))

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


class Inequality(NamedTuple):
    """fun(x) is at most the limit; if `strict`, less."""

    fun: Callable[[Any], Any]
    limit: Fraction
    strict: bool

    def met(self, upper: float) -> bool:
        """Does an upper bound of the function show it?"""
        return upper < self.limit or (not self.strict and upper == self.limit)

    def never_met(self, lower: float, upper: float) -> bool:
        """Do bounds of the function show that it is met nowhere?"""
        return lower > self.limit or (self.strict and lower == self.limit)

    @property
    def around(self) -> float:
        """The least double for which the function is at most that wherever the inequality is met."""
        return round_up(self.limit)

    @property
    def within(self) -> float:
        """The largest double for which the inequality is met wherever the function is at most that."""
        most = round_down(self.limit)
        return math.nextafter(most, -math.inf) if self.strict and most == self.limit else most


@dataclass(frozen=True, slots=True, eq=False)
class JointInequalities:
    """Is there no point of the exact box at which all inequalities are met?"""

    text: str
    inequalities: tuple[Inequality, ...]
    exact: ExactBox

    def largest(self) -> Extremum:
        """Is the largest of all functions less their limits above 0 everywhere? Then there is no such point; nor is there one if
        it may be 0, and all inequalities are strict."""
        def fun(x: Any) -> Any:
            found = None
            for part in self.inequalities:
                value = part.fun(x)
                value = value - _exact(part.limit, value) if part.limit else value
                found = value if found is None else np.maximum(found, value)
            return found
        return Extremum(self.text, fun, self.exact.outer(), False, 0.0, not all(part.strict for part in self.inequalities),
                        everywhere=False)


Question = Extremum | JointInequalities
_MOST_BITS = 1000  # bits of a limit, which must be less than the largest double


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


def given_box(bounds: Any, net: Network) -> Box:
    """The bounds of the inputs, as `minimize` takes them: doubles; where some ends are none, all of them as the numbers that they
    are, in arrays of objects."""
    if bounds is None:
        raise OptionError("bounds are missing: give a pair (low, high) for each input")
    box = read_bounds(bounds, net.inputs if np.shape(bounds) == (2,) and net.inputs > 1 else None)
    if len(box.lo) != net.inputs:
        raise ShapeError(f"there are bounds of {len(box.lo)} inputs, and the network has {net.inputs}")
    if box.outer is None:
        return box.lo, box.hi
    return tuple(np.array(ends, dtype=object) for ends in zip(*box.pairs(), strict=True))


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
        return [Extremum(str(self), lambda x: outputs_of(net, x)[k], given_box(bounds, net), self.maximise, _limit(self.limit))]


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
        k, box, limit = _number_of(net, self.output), given_box(bounds, net), _limit(self.limit)
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
        _check_classes(net)
        ball = self._ball(net, bounds)
        label = int(np.argmax(outputs_of(net, np.asarray(self.x0, dtype=float)))) if self.label is None else self.label
        return _margins(net, label, ball)

    def _ball(self, net: Network, bounds: Any) -> ExactBox:
        """Its ends need not be doubles. Within the bounds, if there are any."""
        try:
            x0 = np.asarray(self.x0, dtype=np.float64).ravel()
            radius = np.broadcast_to(np.asarray(self.radius, dtype=np.float64), x0.shape)
        except (TypeError, ValueError):
            raise OptionError("robust() takes a point x0 and a radius, a number or one for each input") from None
        if len(x0) != net.inputs:
            raise ShapeError(f"x0 has {len(x0)} numbers, and the network has {net.inputs} inputs")
        if not (np.isfinite(x0).all() and np.isfinite(radius).all() and (radius >= 0).all()):
            raise OptionError("x0 and radius must be finite, and the radius not negative")
        ball = ExactBox(*(tuple(ExactEnd(Fraction(a) + sign * Fraction(r)) for a,
                                r in zip(x0.tolist(), radius.tolist(), strict=True))
                          for sign in (-1, 1)))
        if bounds is not None:
            ball = ball.met(ExactBox.of(*given_box(bounds, net)))
        if ball.is_empty:
            raise OptionError("the ball around x0 has no point in common with the bounds")
        return ball


def _check_classes(net: Network) -> None:
    if net.outputs < 2:
        raise OptionError("a label is about the largest of several outputs, and this network has one")


def _margins(net: Network, label: Any, exact: ExactBox) -> list[Question]:
    """Is output `label` larger than each other one?"""
    label = _number_of(net, label, "label")

    def margin(j: int) -> Callable[[Any], Any]:
        signs = np.zeros(net.outputs)  # as data of one kernel: all outputs share its code
        signs[j], signs[label] = 1.0, -1.0
        return lambda x: signs @ outputs_of(net, x)
    return [Extremum(f"output {j} - output {label} is negative", margin(j), exact.outer(), True, 0.0, True, exact)
            for j in range(net.outputs) if j != label]


def robust(x0: Any, radius: Any, label: int | None = None) -> RobustProperty:
    """The property that output `label` (by default the one that is largest at x0) is larger than all others wherever no input is
    further than `radius` from x0. `radius` is a number, or one for each input; bounds, if given, are met as well."""
    return RobustProperty(x0, radius, label)


@dataclass(frozen=True, slots=True, eq=False)
class LabelProperty:
    """Output `label` is larger than all others everywhere within the bounds."""

    label: int

    def __str__(self) -> str:
        return f"output {self.label} is the largest within the bounds"

    def questions(self, net: Network, bounds: Any) -> list[Question]:
        _check_classes(net)
        return _margins(net, self.label, ExactBox.of(*given_box(bounds, net)))


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
        given = None if bounds is None else ExactBox.of(*given_box(bounds, net))
        found: list[Question] = []
        for i, case in enumerate(file.cases):
            exact = case.box if given is None else case.box.met(given)
            if exact.is_empty:
                continue
            lo, hi = exact.outer()
            open_ = np.flatnonzero(np.isinf(lo) | np.isinf(hi))
            if open_.size:
                raise NetworkError(f"{file.name} gives no bounds of X_{open_[0]} in case {i + 1}: add them there, or give bounds")
            found.append(_unsafe(net, i, case.inequalities, exact))
        return found


def _unsafe(net: Network, number: int, inequalities: Sequence[LinearInequality], exact: ExactBox) -> Question:
    found, text = tuple(_inequality(net, part) for part in inequalities), f"case {number + 1} cannot occur"
    if len(found) != 1:
        return JointInequalities(text, found, exact)
    return Extremum(text, found[0].fun, exact.outer(), False, found[0].limit, not found[0].strict, exact, True, False)


def _inequality(net: Network, linear: LinearInequality) -> Inequality:
    """The sum as a function of the input, with exact coefficients where it is traced, and its constant as the limit."""
    scale = _scale([*linear.x.values(), *linear.y.values()])
    scale /= 2 ** max(math.ceil(abs(linear.constant * scale)).bit_length() - _MOST_BITS, 0)
    in_x, in_y = ({k: factor * scale for k, factor in factors.items()} for factors in (linear.x, linear.y))
    at_once = len(in_y) > 1 and all(map(_is_double, in_y.values()))
    weights = np.array([float(in_y.get(k, 0)) for k in range(net.outputs)]) if at_once else None

    def fun(x: Any) -> Any:
        y = outputs_of(net, x) if in_y else None
        parts = [] if weights is None else [weights @ y]  # as data of one kernel: cases share its code
        for values, factors in ((x, in_x), (y, in_y if weights is None else {})):
            parts += [values[k] if factor == 1 else -values[k] if factor == -1 else values[k] * _exact(factor, values)
                      for k, factor in factors.items()]
        return sum(parts[1:], start=parts[0])
    return Inequality(fun, -linear.constant * scale, linear.strict)


def _scale(factors: Sequence[Fraction]) -> Fraction:
    """What the inequality is multiplied with: 1 if its factors are doubles, else what makes them integers without a common
    divisor, times a power of 2, so that the largest is at most 1."""
    if all(map(_is_double, factors)):
        return Fraction(1)
    common = Fraction(math.gcd(*(v.numerator for v in factors)), math.lcm(*(v.denominator for v in factors)))
    most = max(abs(v / common) for v in factors).numerator
    return 1 / (common * 2 ** (most - 1).bit_length())


def _is_double(value: Fraction) -> bool:
    return round_down(value) == round_up(value)


def _exact(value: Fraction, beside: Any) -> Any:
    """An exact constant where the function is traced, and a double where NumPy computes."""
    return float(value) if isinstance(beside, float) or isinstance(beside, np.ndarray) and beside.dtype != object else value


@environment.ours
def unsafe(file: VnnLib) -> UnsafeProperty:
    """The property that a VNN-LIB file describes."""
    return UnsafeProperty(file)
