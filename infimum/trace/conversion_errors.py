"""What to tell a user whose code asks a symbol for its value: `if x[0] > 0`, `math.sin(x[0])`, `float(x[0])`, `y[0] = x[0]`."""

import ast
import builtins
import re
from contextvars import ContextVar
from typing import NoReturn

import numpy as np

from infimum.trace.unsupported_calls import CURES
from infimum.trace.user_source import SourceLocation, fail

_NUMPY_NAME = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh", "acosh": "arccosh",
    "atanh": "arctanh", "pow": "power", "fabs": "abs", "fsum": "sum", "dist": "linalg.norm", "sumprod": "dot",
}
_TEST_OF_DEFINEDNESS = ("isnan", "isinf", "isfinite", "isclose")
FLOATS_HOLD_NO_SYMBOLS = ("An array of floats cannot hold traced values: collect them in a list and use np.stack(list) or "
                          "np.array(list), or make the array with dtype=object.")
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
        "Compute the value with NumPy alone. A function that needs its argument as text, for a program or a file, can be " \
        'minimised by trials, without a proof: engine="index".'
    fail("Text was made of a traced value, which stands for all points of a region.", cure)


def refuse_bytes() -> NoReturn:
    """`pickle.dumps(traced)`: as of text."""
    fail("A traced value, which stands for all points of a region, was to be pickled.",
         'Compute the value with NumPy alone, without a cache or another process; or use engine="index".')


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
        return "The function is only evaluated where it is defined: drop the test."
    if name == "log":
        return "Use np.log(x) instead of math.log(x), np.log2(x), np.log10(x) for those bases, np.log(x) / np.log(b) for others."
    if name in CURES:
        return CURES[name]
    numpy_name = _NUMPY_NAME.get(name, name)
    if getattr(np, numpy_name.partition(".")[0], None) is None:
        return f"math.{name} has no counterpart in NumPy: write it out with NumPy functions."
    return f"Use np.{numpy_name} instead of math.{name}."
