"""infimum: global minima of nonlinear functions, with proof."""

from infimum.errors import BoundsError, GalleryError, HostError, InfimumError, ShapeError, TraceError, UserFunctionError
from infimum.evaluate import Derivative, Enclosure, Evaluator, MeanValue, compile, enclose
from infimum.expr.real import Real, e, pi
from infimum.problem import Interval

__all__ = [
    "BoundsError", "Derivative", "Enclosure", "Evaluator", "GalleryError", "HostError", "InfimumError", "Interval", "MeanValue",
    "Real", "ShapeError", "TraceError", "UserFunctionError", "compile", "e", "enclose", "pi",
]
__version__ = "0.1.0"
