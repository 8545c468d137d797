"""The data of a fit: independent variables, responses, and the standard deviations of these, checked."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from infimum.errors import DataError
from infimum.problem.text import counted
from infimum.support.lazy import dataclass
from infimum.trace.number_constants import is_masked

_SHOWN = 3  # bad places that a message names


class Columns:
    """Several independent variables by name: `x["t"]`, `x.t`, or in their order, `t, c = x`.

    >>> x = Columns({"t": [0, 1], "c": [2.5, 3.5]})
    >>> x["t"], x.c, len(x), [column.tolist() for column in x]
    (array([0., 1.]), array([2.5, 3.5]), 2, [[0.0, 1.0], [2.5, 3.5]])
    """

    def __init__(self, columns: Mapping):
        self._columns = {name: np.asarray(column, dtype=np.float64) for name, column in columns.items()}

    def __getitem__(self, name: Any) -> np.ndarray:
        return self._columns[name]

    def __getattr__(self, name: str) -> np.ndarray:
        columns = self.__dict__.get("_columns", {})
        if name not in columns:
            raise AttributeError(f"x has no column {name!r}; there are {', '.join(map(repr, columns))}")
        return columns[name]

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(self._columns.values())

    def __len__(self) -> int:
        return len(self._columns)

    def items(self) -> Any:
        return self._columns.items()


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """`x` as the model gets it, the responses `y`, of one axis or two, and `sigma` of the same shape, or None. `x_name` and
    `y_names`: what columns of the user's were called, where they had names."""

    x: Any
    y: np.ndarray
    sigma: np.ndarray | None
    x_name: str | None = None
    y_names: tuple[str, ...] = ()

    @classmethod
    def read(cls, x: Any, y: Any, sigma: Any = None) -> "Data":
        """From arrays, lists, columns and frames of pandas."""
        responses = _doubles("y", y)
        if responses.ndim not in (1, 2) or not responses.size:
            raise DataError(f"y must be an array of shape (N,), or (r, N) or (N, r) for r responses, and is of shape "
                            f"{responses.shape}")
        _check_finite("y", responses)
        x_names, x = _names(x), read_x(x)
        points = x.shape[0] if isinstance(x, np.ndarray) and x.ndim == 1 else None
        if points is not None and points not in responses.shape:
            raise DataError(f"x has {counted(points, 'point')} and y has the shape {responses.shape}: give one y for each x")
        return cls(x, responses, None if sigma is None else _sigma(sigma, responses),
                   x_names[0] if len(x_names) == 1 else None, _names(y))

    @property
    def size(self) -> int:
        """The number of measurements: of residuals."""
        return self.y.size

    @property
    def unit(self) -> np.ndarray | float:
        """In which residuals are measured: sigma, or 1."""
        return 1.0 if self.sigma is None else self.sigma

    @property
    def single_x(self) -> np.ndarray | None:
        """The independent variable, if there is one alone."""
        x = next(iter(self.x)) if isinstance(self.x, Columns) and len(self.x) == 1 else self.x
        return x if isinstance(x, np.ndarray) and x.ndim == 1 else None

    def by_response(self, values: np.ndarray) -> np.ndarray:
        """An array like y with a row for each response: transposed, if x tells that y has a column for each."""
        x = self.single_x if self.single_x is not None else next(iter(self.x), None) if isinstance(self.x, Columns) else self.x
        points = x.shape[-1] if isinstance(x, np.ndarray) and x.ndim else None
        by_column = values.ndim == 2 and values.shape[0] == points != values.shape[1]
        return np.atleast_2d(values.T if by_column else values)

    @property
    def total_squares(self) -> float:
        """The sum of squares, in units of sigma, that the best constants leave, one for each response: their weighted means."""
        y, unit = (self.by_response(np.broadcast_to(a, self.y.shape)) for a in (self.y, self.unit))
        weights = (unit.min(axis=1, keepdims=True) / unit) ** 2
        apart = y - y[:, :1]  # 0 for data that do not vary, without rounding errors
        means = np.sum(weights * apart, axis=1, keepdims=True) / np.sum(weights, axis=1, keepdims=True)
        return float(np.sum(((apart - means) / unit) ** 2))


def read_x(x: Any) -> Any:
    """The independent variables as the model gets them: doubles where they are numbers, anything else as it is."""
    if isinstance(x, (Columns, Mapping)) or hasattr(x, "columns"):
        found = x if isinstance(x, Columns) else Columns({name: _doubles(f"x[{name!r}]", x[name]) for name in _keys(x)})
        for name, column in found.items():
            _check_finite(f"x[{name!r}]", column)
        return found
    listed = isinstance(x, (list, tuple, np.ndarray, float, int, np.generic)) or hasattr(x, "to_numpy")
    if not listed or getattr(x, "dtype", None) is not None and np.asarray(x).dtype.kind not in "biufO":
        return x  # an object of the user's, which the model knows how to read
    array = _doubles("x", x)
    _check_finite("x", array)
    return array


def _keys(x: Any) -> list:
    return list(x.columns if hasattr(x, "columns") else x)


def _names(given: Any) -> tuple[str, ...]:
    """What the columns of a frame or dictionary are called, or one of pandas; none for anything else."""
    if isinstance(given, Mapping) or hasattr(given, "columns"):
        return tuple(map(str, _keys(given)))
    name = getattr(given, "name", None) if hasattr(given, "to_numpy") else None
    return () if name is None else (str(name),)


def _doubles(name: str, values: Any) -> np.ndarray:
    """The numbers as doubles."""
    if is_masked(values) and np.any(values.mask):
        raise DataError(f"{name} is a masked array that hides some of its elements: leave these rows out of x, y and sigma")
    wanted = f"{name} must hold real numbers, in an array or in lists of equal lengths; this is a {type(values).__name__}"
    try:
        array = np.asarray(values)
        doubles = np.ascontiguousarray(array, dtype=np.float64).reshape(array.shape)
    except (TypeError, ValueError):
        raise DataError(wanted) from None
    if array.dtype.kind not in "biufO":
        raise DataError(wanted)
    if array.dtype.kind in "iu" and (np.abs(doubles) > 2.0**53).any():
        raise DataError(f"{name} holds whole numbers beyond 2**53, which are no doubles: give {name}.astype(float) if the "
                        "rounded ones are meant")
    return doubles


def _check_finite(name: str, array: np.ndarray) -> None:
    bad = ~np.isfinite(array)
    if bad.any():
        what = "NaN" if np.isnan(array).any() else "an infinite number"
        raise DataError(f"{name} holds {what} {_places(bad)}: leave such rows out of x, y and sigma, as in "
                        "`keep = np.isfinite(y)`, `x[keep]`, `y[keep]`")


def _places(bad: np.ndarray) -> str:
    """Where, in words: rows count from 0."""
    where = np.argwhere(bad)
    rows = [str(row[0]) if bad.ndim == 1 else f"[{', '.join(map(str, row))}]" for row in where[:_SHOWN]]
    more = f" and {len(where) - _SHOWN:,} more" if len(where) > _SHOWN else ""
    return f"in row{'' if len(where) == 1 else 's'} {', '.join(rows)}{more} (counted from 0)"


def _sigma(sigma: Any, y: np.ndarray) -> np.ndarray:
    """The standard deviations, one for each response."""
    given = _doubles("sigma", sigma)
    if given.shape == (y.shape[0],) * 2 and y.ndim == 1 and y.size > 1:
        raise DataError("sigma is a matrix: covariances between the data are not supported. Give the standard deviations, an "
                        "array like y, or multiply model and data by a matrix that makes the errors independent")
    if y.ndim == 2 and given.shape == (y.shape[0],) and y.shape[0] != y.shape[1]:
        given = given[:, None]
    try:
        found = np.ascontiguousarray(np.broadcast_to(given, y.shape))
    except ValueError:
        raise DataError(f"sigma has the shape {given.shape} and y the shape {y.shape}: give one number, or one for each "
                        "y") from None
    _check_finite("sigma", found)
    if (found <= 0).any():
        what = "0" if (found[found <= 0] == 0).all() else "a negative number"
        raise DataError(f"sigma holds {what} {_places(found <= 0)}: a standard deviation is positive. Leave out rows that have "
                        "none, or give them a large one")
    return found
