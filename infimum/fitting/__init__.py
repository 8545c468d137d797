"""The best fit of a model to data, proved: `fit`, and `curve_fit` in the manner of SciPy."""

from infimum.fitting.entry import fit
from infimum.fitting.like_scipy import curve_fit
from infimum.fitting.parts import Fit, Parameter, Prediction
from infimum.fitting.result import FitResult

__all__ = ["Fit", "FitResult", "Parameter", "Prediction", "curve_fit", "fit"]
