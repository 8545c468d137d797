"""Exponential functions and logarithms."""

from infimum.interval.arithmetic import call
from infimum.interval.pair import exact
from infimum.ops.operation import Edge, Obstacle
from infimum.ops.rule_forms import by, elementary

_POSITIVE = Edge(0.0, False), None
_AT_ZERO = Obstacle("is not positive", "approaches 0", pole=True)

RECORDS = (
    elementary("exp", "e**x", inverse=by("log", low=0.0), slope=lambda e, x, y: y,
               least=0, curvature=1, taylor=(0.0, (1, 1, 1))),
    elementary("exp2", "2**x", inverse=by("log2", low=0.0), slope=lambda e, x, y: e.mul(e.LN2, y),
               scipy="exp2", least=0, curvature=1),
    elementary("expm1", "e**x - 1", inverse=by("log1p", low=-1.0), slope=lambda e, x, y: e.exp(x),
               scipy="expm1", curvature=1, increasing=True, taylor=(0.0, (0, 1, 1))),
    elementary("log", "natural logarithm, x > 0", _POSITIVE, inverse=by("exp"), reciprocal_slope=lambda e, x, y: x,
               curvature=-1, taylor=(1.0, (0, 1, -1)), obstacle=_AT_ZERO),
    elementary("log2", "x > 0", _POSITIVE, inverse=by("exp2"), reciprocal_slope=lambda e, x, y: e.mul(e.LN2, x),
               curvature=-1, obstacle=_AT_ZERO),
    elementary("log10", "x > 0", _POSITIVE, inverse=lambda b, y, own: call(b, "pow", exact(b, 10.0), y),
               reciprocal_slope=lambda e, x, y: e.mul(e.LN10, x), curvature=-1, obstacle=_AT_ZERO),
    elementary("log1p", "log(1 + x), x > -1", (Edge(-1.0, False), None), inverse=by("expm1"),
               reciprocal_slope=lambda e, x, y: e.add(1.0, x),
               scipy="log1p", curvature=-1, increasing=True, taylor=(0.0, (0, 1, -1)),
               obstacle=Obstacle("is not above -1", "approaches -1", pole=True)),
)
