"""docs/numpy.md tells the truth about what can be traced."""

import re
from pathlib import Path

import numpy as np

from infimum.trace import trace  # noqa: F401 (knows what fills the tables)
from infimum.trace.tracer import FUNCTIONS, SPECIAL, UFUNCS, fill_tables

fill_tables()  # tracing does so when a rule is not found
TEXT = (Path(__file__).parents[2] / "docs" / "numpy.md").read_text()


def _listed(heading: str) -> set[str]:
    return set(re.search(rf"\*\*{heading}\*\*: (.*?)\n\n", TEXT, re.S)[1].split())


def test_every_ufunc_is_listed():
    assert _listed("Element by element") == {f.__name__ for f in UFUNCS}


def test_every_special_function_is_listed():
    assert _listed("Of scipy.special") == set(SPECIAL)


def test_every_array_function_is_listed():
    names = {("linalg." if f.__module__ == "numpy.linalg" else "") + f.__name__ for f in FUNCTIONS}
    listed = _listed("Array functions")
    lacking = {name for name in listed if "." not in name and not hasattr(np, name)}
    assert listed - lacking == names - {"trapz"}  # which NumPy 2.0 has called trapezoid, and 2.4 has given up
