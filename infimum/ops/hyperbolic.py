"""Hyperbolic functions and their inverses."""

from infimum.interval.pair import Pair
from infimum.ops.operation import Edge, Inflection, Obstacle
from infimum.ops.rule_forms import (
    Ends,
    by,
    divisor,
    either_sign,
    elementary,
    factor,
    minus_one,
    one_minus,
    one_plus,
    square,
)


def _inverse_cosh(b, y: Pair, own: Pair) -> Ends:
    return either_sign(b, by("arccosh", low=1.0)(b, y, own), own)


RECORDS = (
    elementary("sinh", "all x", inverse=(by("arcsinh"),), derivative=factor(lambda e, x, y: e.build("cosh", x)),
               numpy=("sinh",), curvature=0, increasing=True, inflection=Inflection(-1, 0.52), tangents=True,
               taylor=(0.0, (0, 1, 0))),
    elementary("cosh", "all x", inverse=(_inverse_cosh,), derivative=factor(lambda e, x, y: e.build("sinh", x)),
               numpy=("cosh",), least=1, curvature=1, tangents=True, taylor=(0.0, (1, 0, 1))),
    elementary("tanh", "all x", inverse=(by("arctanh", -1.0, 1.0),),
               derivative=factor(lambda e, x, y: one_minus(e, square(e, y))),
               numpy=("tanh",), unit=True, curvature=0, increasing=True, inflection=Inflection(1, 0.5, 0.16), tangents=True,
               taylor=(0.0, (0, 1, 0))),
    elementary("arcsinh", "all x", inverse=(by("sinh"),), derivative=divisor(lambda e, x, y: e.build("hypot", x, 1.0)),
               numpy=("arcsinh",), curvature=0, increasing=True, inflection=Inflection(1, 0.5, 0.13), tangents=True,
               taylor=(0.0, (0, 1, 0))),
    elementary("arccosh", "x >= 1", (Edge(1.0, True), None), inverse=(by("cosh", low=0.0),),
               derivative=divisor(lambda e, x, y: e.build("sqrt", e.build("mul", minus_one(e, x), one_plus(e, x)))),
               numpy=("arccosh",), least=0, curvature=-1, increasing=True, obstacle=Obstacle("is below 1", "is 1")),
    elementary("arctanh", "-1 < x < 1", (Edge(-1.0, False), Edge(1.0, False)), inverse=(by("tanh"),),
               derivative=divisor(lambda e, x, y: e.build("mul", one_minus(e, x), one_plus(e, x))),
               numpy=("arctanh",), curvature=0, increasing=True, inflection=Inflection(-1, 0.55), taylor=(0.0, (0, 1, 0)),
               obstacle=Obstacle("leaves (-1, 1)", "approaches -1 or 1", pole=True)),
)
