"""infimum: global minima of nonlinear functions, with proof."""

from infimum.cover import Cover
from infimum.errors import (
    BoundsError,
    CheckpointError,
    DeviceError,
    DeviceMemoryError,
    GalleryError,
    HostError,
    InfimumError,
    InternalError,
    NotKeptError,
    NotLocalError,
    OptionError,
    ShapeError,
    TraceError,
    UndefinedError,
    UserFunctionError,
)
from infimum.evaluate import Derivative, Enclosure, Evaluator, MeanValue, compile, enclose
from infimum.expr.real import Real, e, pi
from infimum.problem import Interval, Problem
from infimum.result import Minimum, Result, Verdict
from infimum.solve import minimize, resume

__all__ = [
    "BoundsError", "CheckpointError", "Cover", "Derivative", "DeviceError", "DeviceMemoryError", "Enclosure", "Evaluator",
    "GalleryError", "HostError", "InfimumError", "InternalError", "Interval", "MeanValue", "Minimum", "NotKeptError",
    "NotLocalError", "OptionError", "Problem", "Real", "Result", "ShapeError", "TraceError", "UndefinedError",
    "UserFunctionError", "Verdict", "compile", "e", "enclose", "minimize", "pi", "resume",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """The gallery is there as `infimum.problems`, and imported when it is first asked for: most programs never do."""
    if name == "problems":
        from importlib import import_module

        return import_module("infimum.problems")
    raise AttributeError(f"module 'infimum' has no attribute {name!r}")
