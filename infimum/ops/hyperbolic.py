"""Hyperbolic functions and their inverses."""

from infimum.ops.operation import Edge, Inflection, Obstacle
from infimum.ops.rule_forms import by, either_sign, elementary

RECORDS = (
    elementary("sinh", "all x", inverse=by("arcsinh"), slope=lambda e, x, y: e.cosh(x),
               inflection=Inflection(-1, 0.52), taylor=(0.0, (0, 1, 0))),
    elementary("cosh", "all x", inverse=lambda b, y, own: either_sign(b, by("arccosh", low=1.0)(b, y, own), own),
               slope=lambda e, x, y: e.sinh(x), least=1, curvature=1, taylor=(0.0, (1, 0, 1))),
    elementary("tanh", "all x", inverse=by("arctanh", -1.0, 1.0),
               slope=lambda e, x, y: e.sub(1.0, e.powi(y, k=2)),
               unit=True, inflection=Inflection(1, 0.5, 0.16), taylor=(0.0, (0, 1, 0))),
    elementary("arcsinh", "all x", inverse=by("sinh"), reciprocal_slope=lambda e, x, y: e.hypot(x, 1.0),
               inflection=Inflection(1, 0.5, 0.13), taylor=(0.0, (0, 1, 0))),
    elementary("arccosh", "x >= 1", (Edge(1.0, True), None), inverse=by("cosh", low=0.0),
               reciprocal_slope=lambda e, x, y: e.sqrt(e.mul(e.sub(x, 1.0), e.add(1.0, x))),
               least=0, curvature=-1, increasing=True, obstacle=Obstacle("is below 1", "is 1"), tangents=False),
    elementary("arctanh", "-1 < x < 1", (Edge(-1.0, False), Edge(1.0, False)), inverse=by("tanh"),
               reciprocal_slope=lambda e, x, y: e.mul(e.sub(1.0, x), e.add(1.0, x)),
               inflection=Inflection(-1, 0.55), taylor=(0.0, (0, 1, 0)),
               obstacle=Obstacle("leaves (-1, 1)", "approaches -1 or 1", pole=True), tangents=False),
)
