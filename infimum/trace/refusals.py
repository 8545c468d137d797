"""What to tell a user who calls a NumPy function, method or argument without a rule, or asks a traced value for what it does
not have, such as a truth value: what was asked, and what to write instead."""

import ast
import builtins
import re
import sys
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, NoReturn

import numpy as np

from infimum.support.other_libraries import WITH_NUMPY
from infimum.trace.user_source import SourceLocation, fail

_DROP_TEST = "Say by a comparison where it is defined, as in np.where(x > 0, np.log(x), value). Drop the test only if points " \
    "at which the function is undefined are not meant: they are left out."
_ORDER = "The order of traced values is not known: use np.min, np.max, np.minimum or np.maximum."
_WHICH = "Which elements a condition selects is not known: keep all of them, np.where(condition, x, 0.0)."
_NEW_ARRAY = "Make a new array instead, with np.where, np.concatenate or np.stack."
_NO_NAN = "Traced values are never NaN: points at which the function is undefined are left out. Choose what is to be skipped " \
    "by np.where with a comparison; where nothing is, use the function without the prefix nan."
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
    "correlate": "Use np.convolve(a, v[::-1], mode).",
    "ediff1d": "Use np.diff(x).",
    **dict.fromkeys(("savetxt", "save", "savez", "savez_compressed", "tofile", "tobytes", "dump", "dumps", "ctypes"), WITH_NUMPY),
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
    from difflib import get_close_matches  # for this message alone
    near = get_close_matches(last, supported, 3, 0.75)
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


_NUMPY_NAME = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh", "acosh": "arccosh",
    "atanh": "arctanh", "pow": "power", "fabs": "abs", "fsum": "sum", "dist": "linalg.norm", "sumprod": "dot",
}
_TEST_OF_DEFINEDNESS = ("isnan", "isinf", "isfinite", "isclose")
FLOATS_HOLD_NO_SYMBOLS = ("An array of numbers cannot hold traced values (and one of integers cuts what it is given): collect "
                          "them in a list and use np.stack(list) or np.array(list), or make the array with dtype=object.")
CHOOSING: ContextVar[bool] = ContextVar("choosing", default=True)  # conditions choose between values; else they are constraints
_OBJECTS = "compare the argument itself, without np.asarray or np.array, and join traced numbers with np.stack([...])."


def refuse_truth(is_test: bool) -> NoReturn:
    """`bool(traced)`: an `if`, `while`, `and`, `or`, `not`, a builtin `min` or `max`, or a comparison in an object array."""
    place = SourceLocation.now()
    what = f"Whether a traced {'condition' if is_test else 'value'} is true is not known while the function is traced."
    builtin = place is not None and place.called() in (builtins.min, builtins.max)
    fail(what, _truth_cure(place), again=builtin or (place is not None and not place.branches))


def _truth_cure(place: SourceLocation | None) -> str:
    called = None if place is None else place.called()
    text = "" if place is None else place.text
    statement = "" if place is None else place.statement
    chain = _chained(text)
    if not CHOOSING.get() and (chain is not None or re.search(r"\band\b", text) or called is builtins.all):
        parts = ", ".join(chain or ["a", "b"])
        return f"Return a list of comparisons, [{parts}], or give the two ends: infimum.Constraint(fun, lb, ub)."
    if not CHOOSING.get() and (re.search(r"\bor\b", text) or called is builtins.any):
        return "All comparisons of a constraint hold together. For `g <= 0 or h <= 0` write np.minimum(g, h) <= 0."
    if not CHOOSING.get() and re.search(r"\bnot\b", text):
        return "Write the opposite comparison, with <= or >=."
    if chain is not None:
        return f"A chained comparison asks for truth: write {' & '.join(f'({part})' for part in chain)}, and " \
               "np.where(condition, a, b) to choose between values."
    if called in (builtins.min, builtins.max):
        name = called.__name__
        return f"Use np.{name}imum(a, b) for the {name} of two values, or np.{name}(np.stack([...])) for more."
    if called in (builtins.any, builtins.all):
        return "Combine conditions with np.logical_and and np.logical_or inside np.where(condition, a, b)."
    if called is builtins.sorted:
        return "The order of traced values is not known: use np.min, np.max, np.minimum or np.maximum."
    if isinstance(called, np.ufunc) or (getattr(called, "__module__", None) or "").partition(".")[0] == "numpy":
        return f"NumPy compares the elements of an array of objects here: {_OBJECTS}"
    if re.search(r"\b(and|or|not)\b", text) or re.match(r".*\S\s+(and|or)\s", statement):
        return ("Use np.logical_and(a, b), np.logical_or(a, b) or np.logical_not(a) (or &, |, ~ with parentheses), "
                "and np.where(condition, a, b) to choose between values.")
    if statement.startswith("assert "):
        return "Drop the assertion, or make it about the shape: a traced value has no value to test."
    if statement.startswith("while "):
        return "Use a loop with a known number of steps, and np.where(condition, a, b) inside it."
    if place is not None and not place.branches and called is not builtins.bool:
        return f"NumPy compares the elements of an array of objects here: {_OBJECTS}"
    return "Use np.where(condition, a, b) to choose between values, np.minimum and np.maximum for the smaller and the larger."


def _chained(text: str) -> list[str] | None:
    """`a < x < b` as `a < x` and `x < b`; None if the text is something else."""
    tree = _parsed(text)
    if not isinstance(tree, ast.Compare) or len(tree.ops) < 2:
        return None
    operands = [tree.left, *tree.comparators]
    pairs = zip(operands, tree.ops, operands[1:], strict=False)
    return [ast.unparse(ast.Compare(a, [op], [c])) for a, op, c in pairs]


def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None


def refuse_conversion(dtype: np.dtype) -> NoReturn:
    """np.asarray(traced, dtype=float), or a traced array assigned to a part of an array of floats."""
    place = SourceLocation.now()
    cure = ("Drop the conversion (np.asarray, dtype=...): the argument already behaves as a float array; "
            "join traced numbers with np.stack([...]).")
    fail(f"A traced array cannot be converted to numbers of type {dtype}.",
         FLOATS_HOLD_NO_SYMBOLS if place is not None and place.assigns else cure, again=True)


def refuse_value(asked: str) -> NoReturn:
    """`float(traced)` and its relatives, whoever asks."""
    place = SourceLocation.now()
    tree = None if place is None or asked != "index" else _parsed(place.text)
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Pow):
        raise TypeError("a traced exponent is no index")  # NumPy 2.1 asks in `np.array(2.0) ** x[0]`, and takes no for an answer
    fail("A traced value stands for all points of a region and has no single value.", _value_cure(place, asked),
         again=place is not None and (place.assigns or place.called() in (np.array, np.asarray)))


def refuse_lookup() -> NoReturn:
    """`x[0] in {0.0, 1.0}`, `table[x[0]]`, `hash(x[0])`: a symbol is none of the keys, whatever its values are."""
    fail("A traced value stands for all points of a region, and cannot be looked up in a set or dictionary.",
         "Compare it inside np.where(condition, a, b); leave out a cache such as functools.lru_cache.")


def refuse_text() -> NoReturn:
    """`str(traced)`, f"{traced}", `print(traced)`: text of a symbol is not the text of a number, and what becomes of it is not
    seen: it may be counted, written into a file or passed to a program."""
    place = SourceLocation.now()
    cure = "Leave print out; to look at values, call the function with plain numbers." \
        if place is not None and place.called() is builtins.print else \
        "Compute the value with NumPy alone, without text for a program or a file."
    fail("Text was made of a traced value, which stands for all points of a region.", cure)


def refuse_bytes() -> NoReturn:
    """`pickle.dumps(traced)`: as of text."""
    fail("A traced value, which stands for all points of a region, was to be pickled.",
         "Compute the value with NumPy alone, without a cache or another process.")


def refuse_rounding() -> NoReturn:
    """`float(infimum.pi)`, `math.sin(infimum.pi)`, `y[0] = infimum.pi`: a rounded number would be another one."""
    fail("infimum.pi, infimum.e and what is made of them are exact constants, and one was to become a double.",
         "Use NumPy's functions (np.sin, not math.sin), make arrays by arithmetic (infimum.pi * np.arange(3.0)), write np.pi or "
         "np.e where the nearest double is meant, and infimum.enclose(f, [(x, x), ...]) for the value of f at a point.",
         again=True)


def _value_cure(place: SourceLocation | None, asked: str) -> str:
    called = None if place is None else place.called()
    text = "" if place is None else place.text
    statement = "" if place is None else place.statement
    found = re.search(r"\bc?math\.(\w+)", text) or re.search(r"\bc?math\.(\w+)", statement)
    if getattr(called, "__module__", None) in ("math", "cmath"):
        return _math_cure(called.__name__)
    if place is not None and place.assigns:
        return FLOATS_HOLD_NO_SYMBOLS
    if called is builtins.int:
        return "Use np.trunc(...) instead of int(...)."
    if called in (builtins.float, builtins.complex):
        return f"Drop the conversion `{called.__name__}(...)`: the value already behaves as a float."
    if called is builtins.range or asked == "index":
        return "An index or a number of steps must be a known integer: choose between values with np.where."
    if found is not None:
        return _math_cure(found[1])
    return ("Drop the conversion to a plain number: use NumPy's functions (np.sin, not math.sin), "
            "and np.stack([...]) to join traced numbers into an array.")


def _math_cure(name: str) -> str:
    if name in _TEST_OF_DEFINEDNESS:
        return _DROP_TEST
    if name == "log":
        return "Use np.log(x) instead of math.log(x), np.log2(x), np.log10(x) for those bases, np.log(x) / np.log(b) for others."
    if name in CURES:
        return CURES[name]
    numpy_name = _NUMPY_NAME.get(name, name)
    if getattr(np, numpy_name.partition(".")[0], None) is None:
        return f"math.{name} has no counterpart in NumPy: write it out with NumPy functions."
    return f"Use np.{numpy_name} instead of math.{name}."
