"""What tests know of each operation that works element by element, one row an operation, apart from the package itself.

A row says what the operation means in four ways that share no code with the package: in NumPy's doubles, in mpmath's numbers, on
Arb's balls and on power series of balls. It also says from where arguments are drawn, on which boxes the operation is smooth and
on which it is not, and which places are hard. The tests of values, derivatives, status, tracing and of random expressions take
their cases from here.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath
import numpy as np
import scipy.special
from flint import arb

from infimum.ops.vocabulary import OPS
from tests.oracle import ball_functions as ball
from tests.oracle import jet_functions as jet
from tests.oracle.walk import UNDECIDED

Side = tuple[float, float]
LARGE = (-1e3, 1e3)
TOUCHING = [(-1.0, 1.0), (0.0, 0.0), (0.0, 1.0), (-1.0, 0.0)]   # 0 inside, alone, at either end
AWAY = [(1e-300, 1.0), (-1.0, -5e-324)]


class Row(NamedTuple):
    """One operation. Parameters of the operation follow the arguments of its functions."""

    numpy: Callable                   # doubles; NaN or an infinity outside the domain
    mpmath: Callable                  # numbers of many digits
    ball: Callable | None             # balls of Arb; None: the walk over the expression knows it
    series: Callable | None           # series of balls, see `tests/oracle/arb_series.py`
    low: float = -2.0                 # arguments of tests of derivatives and of tracing are drawn between these
    high: float = 2.0
    smooth: list[tuple[Side, ...]] | None = None  # boxes on which it is smooth; None: all
    rough: list[tuple[Side, ...]] = []            # boxes on which it is not
    written: Callable | None = None   # as a user writes it, of a vector x; None: NumPy's or SciPy's function of the record
    drawn: str = ""                   # of which kind random arguments mostly are: "positive", "bounded" or "above one"
    hard: tuple[float, ...] = ()      # ends of intervals at which the enclosure chooses a case

    def as_written(self, op: str) -> Callable:
        """A function of a vector that has the operation."""
        if self.written is not None:
            return self.written
        module, names = (np, OPS[op].numpy) if OPS[op].numpy else (scipy.special, OPS[op].scipy)
        function = getattr(module, names.split()[0])
        return (lambda x: function(x[0])) if OPS[op].arity == 1 else (lambda x: function(x[0], x[1]))


def around(smooth: list[Side], rough: list[Side]) -> dict[str, list]:
    """Intervals of one variable on which it is smooth, and others on which it is not."""
    return {"smooth": [(side,) for side in smooth], "rough": [(side,) for side in rough]}


def beyond(edge: float, inside: Side) -> dict[str, list]:
    """Smooth inside, with an edge of the domain."""
    return around([inside], [(edge, edge), tuple(sorted((edge, inside[0]))), tuple(sorted((edge, inside[1])))])


def _power(x: Any, y: Any) -> np.ndarray:
    """As NumPy has it, but for 0 to a negative power."""
    return np.where((x == 0) & (y < 0), np.nan, np.power(x, y))


def _spline(x: Any, table: Any) -> Any:
    at = max(0, sum(1 for p in table.points[:-1] if p <= x) - 1)
    return sum(mpmath.mpf(c.numerator) / c.denominator * (x - table.points[at]) ** j for j, c in enumerate(table.pieces[at]))


def _sinc(x: Any, m: int) -> Any:
    """Spherical Bessel functions: sin(x)/x is j0, and (2n + 1) jn' = n j(n-1) - (n + 1) j(n+1)."""
    weights = {0: 1.0}
    for _ in range(m):
        found = dict.fromkeys(range(len(weights) + 1), 0.0)
        for n, w in weights.items():
            found[n + 1] -= w * (n + 1) / (2 * n + 1)
            if n:
                found[n - 1] += w * n / (2 * n + 1)
        weights = found
    return sum(w * scipy.special.spherical_jn(n, x) for n, w in weights.items())


def _undecided(*jets: Any) -> Any:
    """Generalised derivatives are no functions of the user: their own derivatives are met in Hessians only."""
    return UNDECIDED


_POSITIVE = {"low": 0.1, "high": 3.0, "drawn": "positive"}
_LOG = {**_POSITIVE, **beyond(0.0, (1e-300, 4.0)), "hard": (2.0**-1022, 0.5, 2.0)}
_UNIT = {"low": -0.9, "high": 0.9, "drawn": "bounded"}
_STEP = around([(0.25, 0.75)], [(1.0, 1.0), (0.5, 1.0), (1.0, 1.5)])
_EXTREMUM = {"smooth": [((0, 1), (1.5, 2))], "rough": [((0, 1), (1, 2)), ((0, 1), (0.5, 2)), ((1, 1), (1, 1))]}
ROWS: dict[str, Row] = {
    # ---- arithmetic
    "neg": Row(np.negative, lambda x: -x, lambda x: -x, jet.smooth(lambda x: -x), written=lambda x: -x[0]),
    "abs": Row(np.abs, abs, abs, jet.absolute, **around(AWAY, TOUCHING), written=lambda x: abs(x[0])),
    "add": Row(np.add, lambda x, y: x + y, lambda x, y: x + y, jet.smooth(lambda x, y: x + y), written=lambda x: x[0] + x[1]),
    "sub": Row(np.subtract, lambda x, y: x - y, lambda x, y: x - y, jet.smooth(lambda x, y: x - y),
               written=lambda x: x[0] - x[1]),
    "mul": Row(np.multiply, lambda x, y: x * y, lambda x, y: x * y, jet.smooth(lambda x, y: x * y),
               written=lambda x: x[0] * x[1]),
    "div": Row(np.divide, lambda x, y: x / y, ball.div, jet.div, 0.2, 2.0, **around(AWAY, TOUCHING), written=lambda x: 1 / x[0]),
    # ---- powers
    "sqrt": Row(np.sqrt, mpmath.sqrt, lambda x: ball.decide(x >= 0, x < 0, x.sqrt), lambda x: jet.square_root(x.s, x.kinked),
                **_POSITIVE, **beyond(0.0, (1e-300, 4.0))),
    "cbrt": Row(np.cbrt, lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), ball.cbrt, jet.cbrt, **around(AWAY, TOUCHING)),
    "powi": Row(lambda x, k: np.power(x, float(k)), lambda x, k: x**k, ball.integer_power, jet.whole_power,
                written=lambda x: x[0] ** 3),
    "pow": Row(_power, mpmath.power, ball.power, jet.power, 0.2, 2.5, **beyond(0.0, (1e-100, 4.0)),
               written=lambda x: x[0] ** 2.5),
    # ---- exponentials and logarithms
    "exp": Row(np.exp, mpmath.exp, lambda x: x.exp(), jet.smooth(lambda x: x.exp()), hard=(-708.4, 709.7, -745.2)),
    "exp2": Row(np.exp2, lambda x: mpmath.mpf(2) ** x,
                lambda x: (x * arb.const_log2()).exp() if not x.is_integer() else arb(2) ** x,
                jet.smooth(lambda x: (x * arb.const_log2()).exp()), hard=(-1074.0, -1022.0, 1024.0)),
    "expm1": Row(np.expm1, mpmath.expm1, lambda x: x.expm1(), jet.smooth(lambda x: x.exp() - 1), hard=(-37.5, 1e-8, -1e-8)),
    "log": Row(np.log, mpmath.log, lambda x: ball.above_pole(x, x.log), jet.inside(lambda x: x.log(), lambda x: x), **_LOG),
    "log2": Row(np.log2, lambda x: mpmath.log(x, 2), ball.scaled_log(arb.const_log2), jet.log_over(arb.const_log2), **_LOG),
    "log10": Row(np.log10, mpmath.log10, ball.scaled_log(arb.const_log10), jet.log_over(arb.const_log10), **_LOG),
    "log1p": Row(np.log1p, mpmath.log1p, lambda x: ball.above_pole(x + 1, x.log1p),
                 jet.inside(lambda x: (x + 1).log(), lambda x: x + 1), -0.8, 2.0, **beyond(-1.0, (-0.9, 4.0)), drawn="positive",
                 hard=(1e-8, -1e-8, -0.5)),
    # ---- trigonometric functions
    "sin": Row(np.sin, mpmath.sin, lambda x: x.sin(), jet.smooth(lambda x: x.sin()), hard=(np.pi, 1.5 * np.pi, -2 * np.pi)),
    "cos": Row(np.cos, mpmath.cos, lambda x: x.cos(), jet.smooth(lambda x: x.cos()), hard=(np.pi, 1.5 * np.pi, -2 * np.pi)),
    "sinc": Row(_sinc, lambda x, m: (mpmath.mpc(0, 1) ** m * mpmath.hyp1f1(m + 1, m + 2, mpmath.mpc(0, x))).real / (m + 1),
                ball.sinc, jet.sinc, written=lambda x: np.sinc(x[0]),
                hard=(0.0, 5e-324, 2.0**-27, 2.08157597, 3.0, np.pi, -2 * np.pi, 4.493409457909064, 7.725251836937707, 1e17)),
    "tan": Row(np.tan, mpmath.tan, ball.tan, jet.smooth(lambda x: x.tan()), -1.4, 1.4, **around([(-1.5, 1.5)], [(1.5, 1.6)]),
               hard=(np.pi / 2, -np.pi / 2, 1.5 * np.pi)),
    "arcsin": Row(np.arcsin, mpmath.asin, lambda x: ball.decide(abs(x) <= 1, abs(x) > 1, x.asin),
                  jet.inside(lambda x: x.asin(), lambda x: 1 - x, lambda x: 1 + x), **_UNIT, **beyond(1.0, (-0.9, 0.9))),
    "arccos": Row(np.arccos, mpmath.acos, lambda x: ball.decide(abs(x) <= 1, abs(x) > 1, x.acos),
                  jet.inside(lambda x: x.acos(), lambda x: 1 - x, lambda x: 1 + x), **_UNIT, **beyond(-1.0, (-0.9, 0.9))),
    "arctan": Row(np.arctan, mpmath.atan, lambda x: x.atan(), jet.smooth(lambda x: x.atan())),
    "arctan2": Row(np.arctan2, mpmath.atan2, ball.arctan2, jet.arctan2,
                   smooth=[((-1, 1), (0.5, 1)), ((0.5, 1), (-1, 1))],
                   rough=[((-1, 1), (-1, -0.5)), ((0, 0), (-1, -0.5)), ((0, 1), (0, 1)), ((0, 0), (0, 0)), ((-1, 0), (-2, 1))]),
    "hypot": Row(np.hypot, mpmath.hypot, ball.norm, jet.norm, smooth=[((-1, 1), (0.5, 1)), ((5e-324, 1), (0, 1))],
                 rough=[((0, 0), (0, 0)), ((-1, 1), (0, 1)), ((0, 1), (0, 1))]),
    # ---- hyperbolic functions
    "sinh": Row(np.sinh, mpmath.sinh, lambda x: x.sinh(), jet.smooth(lambda x: jet.half_sum(x, -1)), hard=(710.4, -710.4)),
    "cosh": Row(np.cosh, mpmath.cosh, lambda x: x.cosh(), jet.smooth(lambda x: jet.half_sum(x, 1)), hard=(710.4, -710.4)),
    "tanh": Row(np.tanh, mpmath.tanh, lambda x: x.tanh(), jet.smooth(jet.tanh), hard=(19.0, -19.0)),
    "arcsinh": Row(np.arcsinh, mpmath.asinh, lambda x: x.asinh(), jet.smooth(jet.arcsinh)),
    "arccosh": Row(np.arccosh, mpmath.acosh, lambda x: ball.decide(x >= 1, x < 1, x.acosh),
                   jet.inside(lambda x: (x + (x * x - 1).sqrt()).log(), lambda x: x - 1), 1.1, 4.0, **beyond(1.0, (1.1, 4.0)),
                   drawn="above one"),
    "arctanh": Row(np.arctanh, mpmath.atanh, lambda x: ball.above_pole(1 - abs(x), x.atanh),
                   jet.inside(lambda x: ((1 + x) / (1 - x)).log() / 2, lambda x: 1 - x, lambda x: 1 + x),
                   **_UNIT, **beyond(1.0, (-0.9, 0.9))),
    # ---- special functions
    "erf": Row(scipy.special.erf, mpmath.erf, lambda x: x.erf(), jet.smooth(lambda x: x.erf()), hard=(0.84375, 6.0, -6.0)),
    "erfc": Row(scipy.special.erfc, mpmath.erfc, lambda x: x.erfc(), jet.smooth(lambda x: x.erfc()), hard=(26.5, 27.3, -6.0)),
    "lgamma": Row(scipy.special.loggamma, mpmath.loggamma, lambda x: ball.above_pole(x, x.lgamma),
                  jet.inside(lambda x: x.lgamma(), lambda x: x), **_POSITIVE, **beyond(0.0, (0.1, 4.0)),
                  written=lambda x: scipy.special.gammaln(x[0]), hard=(1.0, 1.4616321449683623, 2.0)),
    "polygamma": Row(lambda x, m: scipy.special.polygamma(m, x), lambda x, m: mpmath.psi(m, x), ball.polygamma, jet.polygamma,
                     **beyond(0.0, (0.1, 4.0)), written=lambda x: scipy.special.digamma(x[0])),
    "expit": Row(scipy.special.expit, lambda x: 1 / (1 + mpmath.exp(-x)), ball.expit, jet.smooth(jet.expit), hard=(-745.2, 37.0)),
    "xlogx": Row(lambda x: -scipy.special.entr(x), lambda x: x * mpmath.log(x), ball.xlogx,
                 jet.inside(lambda x: x * x.log(), lambda x: x), **_POSITIVE, **beyond(0.0, (1e-3, 4.0)),
                 written=lambda x: scipy.special.xlogy(x[0], x[0]), hard=(0.36787944117144233, 1.0)),
    "logaddexp": Row(np.logaddexp, lambda x, y: mpmath.log(mpmath.exp(x) + mpmath.exp(y)), ball.logaddexp,
                     jet.smooth(jet.logaddexp)),
    # ---- steps, splines and extrema
    "sign": Row(np.sign, mpmath.sign, ball.sign, jet.sign, **around(AWAY, TOUCHING)),
    "floor": Row(np.floor, mpmath.floor, lambda x: ball.whole(x.floor()), jet.floor, **_STEP),
    "ceil": Row(np.ceil, mpmath.ceil, lambda x: ball.whole(x.ceil()), jet.ceil, **_STEP),
    "rint": Row(np.rint, mpmath.nint, ball.rint, jet.rint, **around([(-0.25, 0.25)], [(0.5, 0.5), (0.25, 0.5), (0.5, 0.75)]),
                hard=(-0.5, 1.5, 2.5)),
    "spline": Row(lambda x, table: table.at(x), _spline, ball.spline, jet.spline,
                  **around([(0.25, 0.75)], [(0.0, 0.5), (-0.5, 0.0), (0.0, 0.0)]),
                  written=lambda x: np.interp(x[0], [-1.0, 0.0, 1.0], [0.0, 1.0, -1.0])),
    "min": Row(np.minimum, min, lambda x, y: x.min(y), jet.extremum(-1), **_EXTREMUM, written=lambda x: np.minimum(x[0], x[1])),
    "max": Row(np.maximum, max, lambda x, y: x.max(y), jet.extremum(1), **_EXTREMUM, written=lambda x: np.maximum(x[0], x[1])),
    # ---- generalised derivatives
    "slope": Row(np.sign, mpmath.sign, ball.sign, _undecided),
    "step": Row(lambda x, y: np.where(x > y, 1.0, np.where(x < y, 0.0, 0.5)),
                lambda x, y: mpmath.mpf(1 if x > y else 0 if x < y else 0.5), ball.step, _undecided),
    "ratio": Row(lambda x, y: np.where(y == 0, 0.0, x / np.where(y == 0, 1.0, y)), lambda x, y: x / y, ball.ratio, _undecided),
    # ---- choices and tests
    "where": Row(np.where, lambda test, x, y: x if test else y, None, None, **around(AWAY, TOUCHING),
                 written=lambda x: np.where(x[0] < 0, x[0] ** 2, -(x[0] ** 2))),
    "lt": Row(np.less, lambda x, y: x < y, lambda x, y: ball.truth(x < y, x >= y), jet.compare(lambda s: s < 0),
              **around(AWAY, TOUCHING), written=lambda x: np.where(x[0] < 0, x[0], 1.0)),
    "le": Row(np.less_equal, lambda x, y: x <= y, lambda x, y: ball.truth(x <= y, x > y), jet.compare(lambda s: s < 0),
              **around(AWAY, TOUCHING), written=lambda x: np.where(x[0] <= 0, x[0], 1.0)),
    "eq": Row(np.equal, lambda x, y: x == y, lambda x, y: ball.truth(x == y, x != y), jet.compare(lambda s: False),
              **around(AWAY, TOUCHING), written=lambda x: np.where(x[0] == 0, 2.0, x[0])),
    "and": Row(np.logical_and, lambda x, y: x and y, lambda p, q: p and q, lambda p, q: p and q,
               smooth=[((-1, -0.5), (-1, -0.5)), ((0.5, 1), (-1, 1))], rough=[((-1, 0), (-1, -0.5)), ((-1, -0.5), (-1, 1))],
               written=lambda x: np.where((x[0] < 0) & (x[1] < 0), 2.0, x[0])),
    "or": Row(np.logical_or, lambda x, y: x or y, lambda p, q: p or q, lambda p, q: p or q,
              smooth=[((-1, -0.5), (-1, 1)), ((0.5, 1), (0.5, 1))], rough=[((-1, 0), (0.5, 1)), ((0, 1), (0.5, 1))],
              written=lambda x: np.where((x[0] < 0) | (x[1] < 0), 2.0, x[0])),
    "not": Row(np.logical_not, lambda x: not x, lambda p: not p, lambda p: not p, **around(AWAY, TOUCHING),
               written=lambda x: np.where(~(x[0] < 0), 2.0, x[0])),
}
