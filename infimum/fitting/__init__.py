"""The best fit of a model to data, proved: `fit`, and `curve_fit` in the manner of SciPy."""

from infimum.fitting.bounded_error import BoundedError
from infimum.fitting.confidence import Confidence
from infimum.fitting.entry import fit
from infimum.fitting.like_scipy import curve_fit
from infimum.fitting.result import Fit, FitResult, Parameter, Prediction
from infimum.fitting.sets import Boxes, ParameterSet, Part, Profile

__all__ = ["BoundedError", "Boxes", "Confidence", "Fit", "FitResult", "Parameter", "ParameterSet", "Part", "Prediction",
           "Profile", "curve_fit", "fit"]
