"""Exponential functions and logarithms."""

from infimum.interval.calls import call
from infimum.interval.pair import Pair, exact
from infimum.ops.operation import Edge, Obstacle
from infimum.ops.rule_forms import Ends, by, divisor, elementary, factor, one_plus

_POSITIVE = (Edge(0.0, False), None)
_AT_ZERO = Obstacle("is not positive", "approaches 0", pole=True)


def _power_of_ten(b, y: Pair, own: Pair) -> Ends:
    return call(b, "pow", exact(b, 10.0), y)


RECORDS = (
    elementary("exp", "e**x", inverse=(by("log", low=0.0),), derivative=factor(lambda e, x, y: y),
               numpy=("exp",), least=0, curvature=1, increasing=True, tangents=True, taylor=(0.0, (1, 1, 1))),
    elementary("exp2", "2**x", inverse=(by("log2", low=0.0),), derivative=factor(lambda e, x, y: e.build("mul", e.LN2, y)),
               numpy=("exp2",), scipy=("exp2",), least=0, curvature=1, increasing=True, tangents=True),
    elementary("expm1", "e**x - 1", inverse=(by("log1p", low=-1.0),), derivative=factor(lambda e, x, y: e.build("exp", x)),
               numpy=("expm1",), scipy=("expm1",), curvature=1, increasing=True, tangents=True, taylor=(0.0, (0, 1, 1))),
    elementary("log", "natural logarithm, x > 0", _POSITIVE, inverse=(by("exp"),), derivative=divisor(lambda e, x, y: x),
               numpy=("log",), curvature=-1, increasing=True, tangents=True, taylor=(1.0, (0, 1, -1)), obstacle=_AT_ZERO),
    elementary("log2", "x > 0", _POSITIVE, inverse=(by("exp2"),), derivative=divisor(lambda e, x, y: e.build("mul", e.LN2, x)),
               numpy=("log2",), curvature=-1, increasing=True, tangents=True, obstacle=_AT_ZERO),
    elementary("log10", "x > 0", _POSITIVE, inverse=(_power_of_ten,),
               derivative=divisor(lambda e, x, y: e.build("mul", e.LN10, x)),
               numpy=("log10",), curvature=-1, increasing=True, tangents=True, obstacle=_AT_ZERO),
    elementary("log1p", "log(1 + x), x > -1", (Edge(-1.0, False), None), inverse=(by("expm1"),),
               derivative=divisor(lambda e, x, y: one_plus(e, x)),
               numpy=("log1p",), scipy=("log1p",), curvature=-1, increasing=True, tangents=True, taylor=(0.0, (0, 1, -1)),
               obstacle=Obstacle("is not above -1", "approaches -1", pole=True)),
)
