"""What to tell a user who calls a NumPy function, method or argument without a rule: its name, and what to write instead."""

import difflib
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from infimum.trace.foreign_libraries import BY_TRIALS
from infimum.trace.user_source import fail

_DROP_TEST = "The function is only evaluated where it is defined: drop the test."
_ORDER = "The order of traced values is not known: use np.min, np.max, np.minimum or np.maximum."
_WHICH = "Which elements a condition selects is not known: keep all of them, np.where(condition, x, 0.0)."
_NEW_ARRAY = "Make a new array instead, with np.where, np.concatenate or np.stack."
_NO_NAN = "There are no NaNs to skip: use the function without the prefix nan."
_ALGEBRA = "Write the formula out with @, np.sum and the components."
_CLOSE = "Compare explicitly inside np.where, for instance np.abs(a - b) <= 1e-8."

CURES: dict[str, str] = {
    **dict.fromkeys(("isfinite", "isnan", "isinf", "isneginf", "isposinf", "nan_to_num"), _DROP_TEST),
    **dict.fromkeys(("sort", "argsort", "argmax", "argmin", "median", "percentile", "quantile", "partition", "unique",
                     "searchsorted", "digitize", "histogram"), _ORDER),
    **dict.fromkeys(("nonzero", "argwhere", "flatnonzero", "extract", "compress"), _WHICH),
    **dict.fromkeys(("copyto", "put", "place", "putmask", "fill", "fill_diagonal", "put_along_axis", "resize"), _NEW_ARRAY),
    **dict.fromkeys(("nansum", "nanmean", "nanmin", "nanmax", "nanprod", "nanvar", "nanstd"), _NO_NAN),
    **dict.fromkeys(("eig", "eigh", "eigvals", "eigvalsh", "svd", "svdvals", "cholesky", "qr", "cond", "matrix_rank"), _ALGEBRA),
    **dict.fromkeys(("lstsq", "pinv"), "Solve the normal equations: np.linalg.solve(a.T @ a, a.T @ b)."),
    "slogdet": "Use np.log(np.abs(np.linalg.det(a))) and np.sign(np.linalg.det(a)).",
    "matrix_power": "Multiply with @: a @ a @ a.",
    "kron": "Use np.outer for vectors; for matrices np.einsum(\"ij,kl->ikjl\", a, b), reshaped.",
    "angle": "Use np.arctan2(imaginary part, real part).",
    **dict.fromkeys(("isin", "in1d"), "Compare with each element: np.where((x == a) | (x == b), c, d)."),
    **dict.fromkeys(("beta", "betaln"), "Use scipy.special.gammaln: betaln(a, b) is gammaln(a) + gammaln(b) - gammaln(a + b)."),
    **dict.fromkeys(("factorial", "comb", "binom", "perm"), "Use scipy.special.gamma or gammaln: factorial(x) is gamma(x + 1)."),
    **dict.fromkeys(("isclose", "allclose", "array_equal"), _CLOSE),
    **dict.fromkeys(("gradient", "pad", "meshgrid", "vander", "cov", "corrcoef"), _ALGEBRA),
    **dict.fromkeys(("rad2deg", "degrees"), "Multiply by 180 / np.pi."),
    **dict.fromkeys(("deg2rad", "radians"), "Multiply by np.pi / 180."),
    **dict.fromkeys(("signbit", "copysign"), "Use np.sign(x), or np.where(x < 0, a, b)."),
    "fmod": "Write x - y * np.trunc(x / y).",
    "modf": "Use np.trunc(x) and x - np.trunc(x).",
    **dict.fromkeys(("fmin", "fmax"), "It skips NaN, which no traced value is: use np.minimum or np.maximum."),
    "sinc": "Away from 0 write np.sin(np.pi * x) / (np.pi * x); around 0 its quotient has no useful enclosure.",
    "correlate": "Use np.convolve(a, v[::-1], mode).",
    "ediff1d": "Use np.diff(x).",
    **dict.fromkeys(("savetxt", "save", "savez", "savez_compressed", "tofile", "tobytes", "dump", "dumps", "ctypes"), BY_TRIALS),
    "block": "Use np.concatenate, np.vstack and np.hstack.",
    "linspace": "Write start + (stop - start) * np.linspace(0.0, 1.0, number).",
    "logaddexp2": "Use np.logaddexp, or np.log2(np.exp2(a) + np.exp2(b)).",
}


def name_of(function: Any) -> str:
    """The name by which users call it."""
    name = function.__name__
    if getattr(np, name, None) is function:
        return f"np.{name}"
    if getattr(sys.modules.get("scipy.special"), name, None) is function:
        return f"scipy.special.{name}"
    module = getattr(function, "__module__", None)
    return f"{module.replace('numpy', 'np', 1)}.{name}" if module else name


def no_rule(name: str, supported: list[str]) -> tuple[str, str]:
    """The two sentences about a function without a rule: what is missing, and the cure or the nearest names that have one."""
    last = name.rpartition(".")[2]
    near = difflib.get_close_matches(last, supported, 3, 0.75)
    cure = CURES.get(last) or "Write it with arithmetic and elementary functions such as np.exp, np.sum and np.where."
    if last not in CURES and near:
        cure += f" Similar functions with a rule: {', '.join('np.' + n for n in near)}."
    return f"{name} has no rule for traced values.", cure


def refuse_function(function: Callable, method: str, supported: list[str]) -> NoReturn:
    """A NumPy function, ufunc or ufunc method that cannot be traced."""
    if not method:
        fail(*no_rule(name_of(function), supported))
    fail(f"{name_of(function)}{method} has no rule for traced values.", "Write it with np.sum, np.prod, np.where and slices.")


def refuse_method(name: str) -> NoReturn:
    """A method or attribute of ndarray that traced arrays lack."""
    fail(f"The method or attribute .{name} has no rule for traced arrays.",
         CURES.get(name) or "Write it with NumPy functions such as np.sum, np.where and np.concatenate.")


def refuse_argument(function: str, argument: str) -> NoReturn:
    """An optional argument that cannot be traced."""
    cures = {"out": "Use the returned value instead of `out=`.",
             "where": "Use np.where inside the function's argument instead of `where=`."}
    fail(f"The argument `{argument}` of {function} has no rule for traced values.",
         cures.get(argument, "Leave it out, or write what it does with NumPy functions."))


def refuse_dtype(function: str, dtype: Any) -> None:
    """Traced values are doubles (read as real numbers); another type would round or truncate."""
    if dtype is not None and np.dtype(dtype) != np.float64:
        fail(f"{function} was asked for the type {np.dtype(dtype)}, but traced values are real numbers.",
             "Drop the conversion, or use np.floor where integers are meant.")


def refuse_narrow(function: str, dtype: np.dtype) -> None:
    """Conditions count 1 and 0 in doubles and 64-bit integers; narrower integers wrap around, narrower floats round."""
    if not (dtype == np.int64 or (dtype.kind == "f" and dtype.itemsize >= 8)):
        fail(f"{function} was asked for the type {dtype} of a condition; such numbers wrap around or round.",
             "Use astype(float) to count with 1 and 0.")


def refuse_positional(function: str, names: tuple[str, ...], args: tuple) -> None:
    """`dtype` and `out` by position mean what they mean by name."""
    if len(args) < 3:
        return
    for name, value in zip(names, args, strict=False):
        if name == "dtype" and "_like" not in function:
            refuse_dtype(function, value)
        elif name == "out" and value is not None:
            refuse_argument(function, "out")


def accepted_keywords(name: str, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keyword arguments without those that change nothing; those that ask for what cannot be traced are refused."""
    if not kwargs:
        return kwargs
    rest = dict(kwargs)
    if name not in ("zeros_like", "ones_like", "empty_like", "full_like"):
        refuse_dtype(f"np.{name}", rest.pop("dtype", None))
    if rest.pop("where", True) is not True:
        refuse_argument(f"np.{name}", "where")
    if "out" in rest and not isinstance(rest["out"], tuple) and rest.pop("out") is not None:
        refuse_argument(f"np.{name}", "out")
    if rest.pop("signature", None) is not None:
        refuse_argument(f"np.{name}", "signature")
    for idle in ("casting", "subok", "copy"):
        rest.pop(idle, None)
    return rest
