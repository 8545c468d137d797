"""Functions that call programs, files and other libraries: the error names these, and what can be done."""

import array
import bisect
import copy
import ctypes
import ctypes.util
import decimal
import fractions
import functools
import importlib.util
import io
import json
import os
import socket
import sqlite3
import statistics
import struct
import subprocess
import time

import numpy as np
import pandas as pd
import pytest
import scipy.integrate
import scipy.optimize

from infimum.errors import TraceError, UserFunctionError
from infimum.trace.trace import trace

TABLE = sqlite3.connect(":memory:", check_same_thread=False)
COSINE = ctypes.CDLL(ctypes.util.find_library("m")).cos if os.name == "posix" else None
COSINE_OF_DOUBLES = ctypes.CDLL(ctypes.util.find_library("m")).cos if os.name == "posix" else None
if os.name == "posix":
    COSINE_OF_DOUBLES.argtypes = [ctypes.c_double]
GIVEN = {  # what is called, and what the message calls it
    "a program": ("subprocess", lambda x: subprocess.run(["echo", x[0]], capture_output=True)),
    "the input of a program": ("subprocess", lambda x: subprocess.run(["cat"], input=x[0], capture_output=True)),
    "a shell": ("os", lambda x: os.system(x[0])),
    "a path": ("os", lambda x: os.path.exists(x[0])),
    "the environment": ("os", lambda x: os.putenv("X0", x[0])),
    "the name of a file": ("a file", lambda x: open(x[0])),
    "text in a file": ("a file", lambda x: io.StringIO().write(x[0])),
    "bytes in a file": ("a file", lambda x: io.BytesIO().write(x)),
    "json": ("json", lambda x: json.dumps({"x": x.tolist()})),
    "a number of ctypes": ("ctypes", lambda x: ctypes.c_double(x[0])),
    "array": ("array", lambda x: array.array("d", x)),
    "socket": ("socket", lambda x: socket.inet_aton(x[0])),
    "a data base": ("sqlite3", lambda x: TABLE.execute("select ?", (x[0],))),
    "decimal": ("decimal", lambda x: decimal.Decimal(x[0])),
    "statistics": ("statistics", lambda x: statistics.mean(x)),
    "bisect": ("bisect", lambda x: bisect.bisect([1.0, 2.0], x[0])),
    "time": ("time", lambda x: time.sleep(x[0])),
    "pandas": ("pandas", lambda x: pd.cut(x, 2)),
}
RAISED = {  # the library says nothing of traced values
    "struct": ("struct", lambda x: struct.pack("d", x[0])),
    "fractions": ("fractions", lambda x: fractions.Fraction(x[0])),
    "pandas": ("pandas", lambda x: pd.DataFrame({"a": [x[0], x[1]]}).rolling(2).mean()),
    "a program that is not there": ("subprocess", lambda x: subprocess.run(["./no_such_program"]).returncode * x[0]),
}
if os.name == "posix":
    GIVEN["a function of C"] = ("ctypes", lambda x: COSINE(x[0]))
    GIVEN["a function of C that wants doubles"] = ("ctypes", lambda x: COSINE_OF_DOUBLES(x[0]))
WITH_NUMPY = r"Write the formula with NumPy functions\."


@pytest.mark.parametrize("name", GIVEN)
def test_a_traced_value_is_given_to_something_else(name):
    library, fun = GIVEN[name]
    with pytest.raises(TraceError, match=f"test_trace_outside.py:.*was given to {library}, which takes .*{WITH_NUMPY}"):
        trace(fun, 2)


@pytest.mark.parametrize("name", RAISED)
def test_something_else_raises(name):
    library, fun = RAISED[name]
    with pytest.raises(UserFunctionError, match=f"test_trace_outside.py:.*raised in a call of {library}, which .*{WITH_NUMPY}"):
        trace(fun, 2)


@pytest.mark.parametrize("fun", [lambda x: np.savetxt("x", x), lambda x: np.save("x", x), lambda x: x.tofile("x"),
                                 lambda x: x.tobytes(), lambda x: x.ctypes.data])
def test_files_and_bytes_of_numpy(fun):
    with pytest.raises(TraceError, match=WITH_NUMPY):
        trace(fun, 2)


@pytest.mark.parametrize(("name", "fun"), [
    ("solve_ivp", lambda x: scipy.integrate.solve_ivp(lambda t, y: -x[0] * y, (0, 1), [1.0]).y[0, -1]),
    ("quad", lambda x: scipy.integrate.quad(lambda t: t * x[0], 0, 1)[0]),
    ("minimize", lambda x: scipy.optimize.minimize(lambda t: (t[0] - x[0]) ** 2, [0.0]).fun)])
def test_scipys_functions_are_called_by_their_names(name, fun):
    with pytest.raises(TraceError, match=f"SciPy's function {name} has no rule for traced values.*{WITH_NUMPY}"):
        trace(fun, 2)


LIBRARY = """
def from_list(values):
    raise TypeError(f"from_list(): argument 'values' must be {name}, not {{type(values).__name__}}")

def wants_numbers(values):
    return float(values[0])

def quiet(values):
    raise ValueError("unsupported input")
"""


@pytest.mark.parametrize(("name", "cure"), [("torch", r"infimum.network\(model\)"), ("jax", "place of those of jax.numpy"),
                                            ("sympy", "sympy.lambdify"), ("simulator", "")])
def test_installed_libraries(name, cure, tmp_path):
    """Stand-ins under the names of others: what counts is where their files are."""
    path = tmp_path / "site-packages" / f"{name}.py"
    path.parent.mkdir()
    path.write_text(LIBRARY.format(name=name))
    spec = importlib.util.spec_from_file_location(f"stand_in_for_{name}", path)
    library = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(library)
    for fun in (lambda x: library.from_list(x), lambda x: library.wants_numbers(x)):
        with pytest.raises(TraceError, match=f"given to {name}, which .*{cure}.*{WITH_NUMPY}"):
            trace(fun, 2)
    with pytest.raises(UserFunctionError, match=f"raised in a call of {name}, which .*{cure}.*{WITH_NUMPY}"):
        trace(lambda x: library.quiet(x), 2)


def test_arrays_of_other_libraries():
    class Kind:
        def __repr__(self):
            return "torch.float32"

    class Tensor:
        dtype, shape = Kind(), (2,)
    with pytest.raises(TraceError, match=f"library other than NumPy.*{WITH_NUMPY}"):
        trace(lambda x: np.sum(x + Tensor()), 2)


def test_python_and_numpy_are_no_other_libraries():
    for fun in (lambda x: sorted(x)[0], lambda x: functools.reduce(lambda a, b: a if a < b else b, x), lambda x: {1.0: 2.0}[x[0]],
                lambda x: np.sort(x)[0], own):
        with pytest.raises(TraceError) as caught:
            trace(fun, 2)
        assert "engine=" not in str(caught.value)
    with pytest.raises(TraceError, match="leave out a cache"):
        trace(lambda x: cached(x[0]), 2)
    assert trace(lambda x: copy.deepcopy(x)[0], 2) is trace(lambda x: x[0], 2)


@functools.lru_cache
def cached(value):
    return value


def own(x):
    return x[0] if x[1] > 0 else x[1]
