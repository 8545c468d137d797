"""The best fit of a model to data, proved: `fit`, and `curve_fit` in the manner of SciPy."""

from infimum.fitting.entry import fit
from infimum.fitting.parameter_sets.bounded_error import BoundedError
from infimum.fitting.parameter_sets.confidence import Confidence
from infimum.fitting.result import Fit, FitResult, Parameter, Prediction
from infimum.fitting.scipy_curve_fit import curve_fit
from infimum.fitting.sets import Boxes, ParameterSet, Part, Profile

__all__ = ["BoundedError", "Boxes", "Confidence", "Fit", "FitResult", "Parameter", "ParameterSet", "Part", "Prediction",
           "Profile", "curve_fit", "fit"]
