"""The error function, the gamma function's family, and the logistic function's."""

import math
from typing import TYPE_CHECKING, Any

from infimum.interval.calls import call
from infimum.interval.pair import INF, SMOOTH, Pair, absorb, lowest
from infimum.ops.operation import Edge, Inflection, Kind, Operation
from infimum.ops.rule_forms import (
    Ends,
    at_least,
    elementary,
    estimated,
    factor,
    minus_factor,
    one_plus,
    partial_rule,
    square,
)
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.interval.elementary import gamma
else:
    gamma = LazyModule("interval.elementary.gamma")

_POSITIVE = Edge(0.0, False), None


# ---- enclosures and estimates
def _polygamma_ends(b, x: Pair, m: int) -> Ends:
    return gamma.enclose_polygamma(b, x.nlo, x.hi, m)


def _estimate_polygamma(b, x: Any, m: int) -> Any:
    return b.select(b.ogt(x, 0.0), gamma.estimate_polygamma(b, x, m), math.nan)


def _logaddexp(b, x: Pair, y: Pair) -> Pair:
    nlo, hi = call(b, "logaddexp", x, y)
    return absorb(b, Pair(nlo, hi, lowest(b, x.level, y.level)), x, y)


# ---- inverses
def _logit(b, y: Pair, own: Pair) -> Ends:
    """log(y) - log1p(-y)."""
    def logit(v: Any) -> tuple[Pair, Pair]:
        v = b.min(b.max(v, 0.0), 1.0)
        return Pair(*call(b, "log", Pair(b.neg(v), v))), Pair(*call(b, "log1p", Pair(v, b.neg(v))))
    (low, low_rest), (high, high_rest) = logit(b.neg(y.nlo)), logit(y.hi)
    return b.add(low.nlo, low_rest.hi), b.add(high.hi, high_rest.nlo)


def _no_larger(b, y: Pair, own: Pair, other: Pair) -> Ends:
    """Neither argument of logaddexp is larger than the result."""
    return b.const(INF), y.hi


# ---- derivatives
def _bell(e: Any, x: Any, y: Any) -> Any:
    """2/sqrt(pi) exp(-x*x)."""
    return e.build("mul", e.TWO_OVER_ROOT_PI, e.build("exp", e.build("neg", square(e, x))))


def _logistic_slope(e: Any, x: Any, y: Any) -> Any:
    """expit(x) * expit(-x), with one occurrence of x: 1 / (4 cosh(x/2)**2)."""
    return e.build("mul", 0.25, e.build("powi", e.build("cosh", e.build("mul", 0.5, x)), k=-2))


RECORDS = (
    elementary("erf", "2/sqrt(pi) times the integral of exp(-t*t) from 0 to x", derivative=factor(_bell),
               scipy=("erf",), unit=True, curvature=0, increasing=True, inflection=Inflection(1, 0.5, 0.16), tangents=True,
               taylor=(0.0, (0,))),
    elementary("erfc", "1 - erf x", derivative=minus_factor(_bell),
               scipy=("erfc",), least=0, curvature=0, inflection=Inflection(-1, 0.5, 0.16), tangents=True),
    elementary("lgamma", "logarithm of the gamma function, x > 0", _POSITIVE, inverse=(at_least(0.0),),
               derivative=factor(lambda e, x, y: e.build("polygamma", x, m=0)), curvature=1, costly_inverse=False),
    Operation("polygamma", Kind.MAP, 1, "derivative number m + 1 of lgamma (params: m >= 0), x > 0",
              enclose=partial_rule("polygamma", _POSITIVE, _polygamma_ends), estimate=_estimate_polygamma,
              inverse=(at_least(0.0),),
              derivative=lambda e, node, a, i: e.times(a, e.build("polygamma", node.args[0], m=node["m"] + 1)),
              float_result=True),
    elementary("expit", "1 / (1 + e**-x)", inverse=(_logit,), derivative=factor(_logistic_slope),
               scipy=("expit",), least=0, unit=True, curvature=0, increasing=True, inflection=Inflection(1, 0.5, 0.04),
               tangents=True),
    elementary("xlogx", "x log x, x >= 0; 0 at 0", (Edge(0.0, True), None), inverse=(at_least(0.0),),
               derivative=factor(lambda e, x, y: one_plus(e, e.build("log", x))),
               curvature=1, tangents=True, costly_inverse=False),
    Operation("logaddexp", Kind.MAP, 2, "log(e**x + e**y)", enclose=_logaddexp, estimate=estimated("logaddexp"),
              inverse=(_no_larger, _no_larger),
              derivative=lambda e, node, a, i: e.times(a, e.build("expit", e.build("sub", node.args[i], node.args[1 - i]))),
              numpy=("logaddexp",), float_result=True, status=SMOOTH, curvature=1, increasing=True),
)
