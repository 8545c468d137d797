"""The best fit of a model to data, proved: `fit`, and `curve_fit` in the manner of SciPy."""

from infimum.fitting.entry import fit
from infimum.fitting.like_scipy import curve_fit
from infimum.fitting.result import Fit, FitResult, Parameter, Prediction

__all__ = ["Fit", "FitResult", "Parameter", "Prediction", "curve_fit", "fit"]
