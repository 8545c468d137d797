"""Every module of rules for NumPy's functions: to import this one fills the tables in `trace/tracer.py`."""

from infimum.trace.numpy_functions import (  # noqa: F401
    array_views,
    interpolation,
    linear_algebra,
    products,
    reductions,
    rounding,
    scipy_special,
    selection,
    ufuncs,
)
