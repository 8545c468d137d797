"""infimum: global minima of nonlinear functions, with proof."""

import gc
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for editors and type checkers, which do not look into tables
    from infimum import networks as networks
    from infimum import problems as problems
    from infimum.api.nested import nested as nested
    from infimum.api.solve import feasible as feasible
    from infimum.api.solve import maximize as maximize
    from infimum.api.solve import minimize as minimize
    from infimum.api.solve import resume as resume
    from infimum.api.study import Study as Study
    from infimum.api.study import StudyTrial as StudyTrial
    from infimum.api.study import study as study
    from infimum.blackbox.summary import InnerSummary as InnerSummary
    from infimum.blackbox.summary import TrialSummary as TrialSummary
    from infimum.blackbox.variables import Choices as Choices
    from infimum.errors import AgreementError as AgreementError
    from infimum.errors import BoundsError as BoundsError
    from infimum.errors import CheckpointError as CheckpointError
    from infimum.errors import DataError as DataError
    from infimum.errors import DeviceError as DeviceError
    from infimum.errors import DeviceMemoryError as DeviceMemoryError
    from infimum.errors import GalleryError as GalleryError
    from infimum.errors import HostError as HostError
    from infimum.errors import InfimumError as InfimumError
    from infimum.errors import InternalError as InternalError
    from infimum.errors import JournalError as JournalError
    from infimum.errors import ModelFileError as ModelFileError
    from infimum.errors import NetworkError as NetworkError
    from infimum.errors import NotKeptError as NotKeptError
    from infimum.errors import NotLocalError as NotLocalError
    from infimum.errors import OptionError as OptionError
    from infimum.errors import ShapeError as ShapeError
    from infimum.errors import SolverError as SolverError
    from infimum.errors import TraceError as TraceError
    from infimum.errors import TrialError as TrialError
    from infimum.errors import UndefinedError as UndefinedError
    from infimum.errors import UserFunctionError as UserFunctionError
    from infimum.evaluation.compile import compile as compile
    from infimum.evaluation.compile import enclose as enclose
    from infimum.evaluation.enclosures import Derivative as Derivative
    from infimum.evaluation.enclosures import Enclosure as Enclosure
    from infimum.evaluation.enclosures import Hessian as Hessian
    from infimum.evaluation.enclosures import LinearBounds as LinearBounds
    from infimum.evaluation.enclosures import MeanValue as MeanValue
    from infimum.evaluation.evaluator import Evaluator as Evaluator
    from infimum.expr.real import Real as Real
    from infimum.expr.real import e as e
    from infimum.expr.real import pi as pi
    from infimum.fitting import BoundedError as BoundedError
    from infimum.fitting import Boxes as Boxes
    from infimum.fitting import Confidence as Confidence
    from infimum.fitting import Fit as Fit
    from infimum.fitting import FitResult as FitResult
    from infimum.fitting import Parameter as Parameter
    from infimum.fitting import ParameterSet as ParameterSet
    from infimum.fitting import Part as Part
    from infimum.fitting import Prediction as Prediction
    from infimum.fitting import Profile as Profile
    from infimum.fitting import curve_fit as curve_fit
    from infimum.fitting import fit as fit
    from infimum.networks import Network as Network
    from infimum.networks import Verification as Verification
    from infimum.networks import network as network
    from infimum.networks import verify as verify
    from infimum.problem.constraint import Constraint as Constraint
    from infimum.problem.constraint import ConstraintValue as ConstraintValue
    from infimum.problem.constraint import ConstraintValues as ConstraintValues
    from infimum.problem.cover import Cover as Cover
    from infimum.problem.minimisers import Minimiser as Minimiser
    from infimum.problem.minimisers import Minimisers as Minimisers
    from infimum.problem.problem import Interval as Interval
    from infimum.problem.problem import Problem as Problem
    from infimum.problem.unions import Unions as Unions
    from infimum.result import Minimum as Minimum
    from infimum.result import RankedPoint as RankedPoint
    from infimum.result import Result as Result
    from infimum.result import Verdict as Verdict
    from infimum.trace.splines import Spline as Spline
    from infimum.trace.splines import spline as spline

__version__ = "0.3.0"

# Where the public names live. A module is imported when one of its names is first asked for, so that `import infimum` and
# `infimum --help` take no time, and Ctrl-C during the rest of the imports is the program's to answer.
_HOMES = {
    "api.study": "Study StudyTrial study",
    "problem.constraint": "Constraint ConstraintValue ConstraintValues",
    "problem.cover": "Cover",
    "errors": "AgreementError BoundsError CheckpointError DataError DeviceError DeviceMemoryError GalleryError HostError "
              "InfimumError InternalError JournalError ModelFileError NetworkError NotKeptError NotLocalError OptionError "
              "ShapeError SolverError TraceError TrialError UndefinedError UserFunctionError",
    "evaluation.enclosures": "Derivative Enclosure Hessian LinearBounds MeanValue",
    "evaluation.compile": "compile enclose",
    "evaluation.evaluator": "Evaluator",
    "trace.trace": "Real e pi",  # NumPy's functions of them are recorded, by tables that are filled there
    "trace.splines": "Spline spline",
    "fitting": "BoundedError Boxes Confidence Fit FitResult Parameter ParameterSet Part Prediction Profile curve_fit fit",
    "api.nested": "nested",
    "networks": "Network Verification network verify",
    "problem.problem": "Interval Problem",
    "problem.minimisers": "Minimiser Minimisers",
    "result": "Minimum RankedPoint Result Verdict",
    "api.solve": "feasible maximize minimize resume",
    "blackbox.summary": "InnerSummary TrialSummary",
    "blackbox.variables": "Choices",
    "problem.unions": "Unions",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}
__all__ = sorted(_HOME_OF)
_PACKAGES = ("networks", "problems")  # properties of networks; the gallery


def __getattr__(name: str) -> object:
    if name in _PACKAGES:
        return import_module(f"infimum.{name}")
    if name not in _HOME_OF:
        from infimum.support.other_libraries import NAMES, no_attribute

        raise no_attribute("module 'infimum'", name, NAMES)
    enabled = gc.isenabled()
    gc.disable()  # looking for garbage among what is imported takes a tenth of the time, and there is none
    try:
        value = globals()[name] = getattr(import_module(f"infimum.{_HOME_OF[name]}"), name)
    finally:
        if enabled:
            gc.enable()
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PACKAGES})
