"""The error function, the gamma function's family, and the logistic function's."""

import math
from typing import TYPE_CHECKING, Any

from infimum.interval.arithmetic import call
from infimum.interval.pair import INF, SMOOTH, Pair, absorb, lowest
from infimum.ops.operation import Edge, Inflection, Operation
from infimum.ops.rule_forms import Ends, at_least, elementary, estimated, minus_factor, partial_rule
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.interval.elementary import gamma
else:
    gamma = LazyModule("interval.elementary.gamma")

_POSITIVE = Edge(0.0, False), None


# ---- enclosures
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


# ---- derivatives
def _bell(e, x, y):
    """2/sqrt(pi) exp(-x*x)."""
    return e.mul(e.TWO_OVER_ROOT_PI, e.exp(e.neg(e.powi(x, k=2))))


def _logistic_slope(e, x, y):
    """expit(x) * expit(-x), with one occurrence of x: 1 / (4 cosh(x/2)**2)."""
    return e.mul(0.25, e.powi(e.cosh(e.mul(0.5, x)), k=-2))


RECORDS = (
    elementary("erf", "2/sqrt(pi) times the integral of exp(-t*t) from 0 to x", slope=_bell,
               numpy="", scipy="erf", unit=True, inflection=Inflection(1, 0.5, 0.16), taylor=(0.0, (0,))),
    elementary("erfc", "1 - erf x", derivative=minus_factor(_bell),
               numpy="", scipy="erfc", least=0, inflection=Inflection(-1, 0.5, 0.16)),
    elementary("lgamma", "logarithm of the gamma function, x > 0", _POSITIVE, inverse=at_least(0.0),
               slope=lambda e, x, y: e.polygamma(x, m=0), numpy="", curvature=1,
               costly_inverse=False, tangents=False),
    Operation("polygamma", "derivative number m + 1 of lgamma (params: m >= 0), x > 0",
              enclose=partial_rule("polygamma", _POSITIVE, lambda b, x, m: gamma.enclose_polygamma(b, x.nlo, x.hi, m)),
              estimate=lambda b, x, m: b.select(b.ogt(x, 0.0), gamma.estimate_polygamma(b, x, m), math.nan),
              inverse=(at_least(0.0),),
              derivative=lambda e, node, a, i: e.times(a, e.polygamma(node.args[0], m=node["m"] + 1)),
              float_result=True),
    elementary("expit", "1 / (1 + e**-x)", inverse=_logit, slope=_logistic_slope,
               numpy="", scipy="expit", least=0, unit=True, inflection=Inflection(1, 0.5, 0.04)),
    elementary("xlogx", "x log x, x >= 0; 0 at 0", (Edge(0.0, True), None), inverse=at_least(0.0),
               slope=lambda e, x, y: e.add(1.0, e.log(x)),
               numpy="", curvature=1, costly_inverse=False),
    Operation("logaddexp", "log(e**x + e**y)", 2, enclose=_logaddexp, estimate=estimated("logaddexp"),
              inverse=(lambda b, y, own, other: (b.const(INF), y.hi),) * 2,  # neither argument is larger than the result
              derivative=lambda e, node, a, i: e.times(a, e.expit(e.sub(node.args[i], node.args[1 - i]))),
              numpy="logaddexp", float_result=True, status=SMOOTH, curvature=1, increasing=True),
)
