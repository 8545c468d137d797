"""Evaluator: boxes in, enclosures out. The only way from engines to a machine."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.backend.cpu import CpuBackend
from infimum.backend.devices import place_of
from infimum.errors import ShapeError
from infimum.evaluation import programs
from infimum.evaluation.compiled_programs import CompiledPrograms
from infimum.evaluation.enclosures import Derivative, Enclosure, Hessian, LinearBounds, MeanValue
from infimum.evaluation.facts import Facts
from infimum.evaluation.programs import Kind
from infimum.expr.build import reshape
from infimum.expr.node import Expr, lines_of, restore_lines, var
from infimum.problem.system import System
from infimum.problem.text import counted
from infimum.support import environment
from infimum.support.lazy import LazyModule
from infimum.trace.number_constants import is_masked
from infimum.trace.trace import TracedFunction

if TYPE_CHECKING:
    from infimum.expr import listing, point_value, variable_reads
    from infimum.kernel import node_enclosures
    from infimum.structure import degree
else:
    degree, listing, point_value = LazyModule("structure.degree"), LazyModule("expr.listing"), LazyModule("expr.point_value")
    variable_reads = LazyModule("expr.variable_reads")
    node_enclosures = LazyModule("kernel.node_enclosures")


@environment.all_ours
class Evaluator(CompiledPrograms):
    """Kernels of one function of n variables, compiled when first used.

    Boxes are two float64 arrays `lo` and `hi` of shape (n, N), one box per column; a single box may have shape (n,), and results
    then lose their last axis. Points have the same shape. A box with lo > hi in some variable is empty, and so is its enclosure;
    one with a NaN gives [-inf, inf] and status 0. Results do not depend on the number of threads or SIMD lanes.

    >>> from infimum import compile
    >>> import numpy as np
    >>> f = compile(lambda x: np.sum(x**2) - x[0] * x[1], n=2)
    >>> r = f.value([[-1.0, 0.5], [0.0, 0.5]], [[1.0, 0.5], [2.0, 0.5]])
    >>> r.lo, r.hi
    (array([-2.  ,  0.25]), array([7.  , 0.25]))
    """

    linear_programs = LazyModule("backend.highs")  # solves them; its answers are estimates

    def __init__(self, f: Expr, n: int, backend: Any = None, fun: Callable[[np.ndarray], Any] | None = None,
                 system: System | None = None, functions: Sequence[TracedFunction] = (), numbers: np.ndarray | None = None):
        super().__init__(f, n, CpuBackend() if backend is None else backend, system)
        self.fun = fun  # the function that f was traced from, if there is one
        self.functions = tuple(functions)  # of the user's, as they were traced: f and the constraints
        self.numbers = numbers  # what the user calls the variables, where some of the user's were left out
        self.facts = Facts(f, n)
        self._lines: list[tuple[Expr, str]] = []

    def rewritten(self, f: Expr, system: System | None = None, fun: Callable[[np.ndarray], Any] | None = None) -> "Evaluator":
        """Of another form of the function, or of another function of the same variables, on the same machine."""
        return Evaluator(f, self.n, self.backend, fun, system, self.functions, self.numbers)

    def remember_lines(self) -> None:
        """Keeps the lines of the user's code: another function with the same operations takes them away when it is traced."""
        self._lines = lines_of([self.f, *(() if self.system is None else self.system.bodies)])

    def restore_lines(self) -> None:
        """Whatever is said from now on names these lines."""
        restore_lines(self._lines)

    def __repr__(self) -> str:
        self.restore_lines()
        return f"Evaluator of {counted(self.n, 'variable')} on {place_of(self.backend)}:\n{listing.listing(self.f)}"

    # ---- enclosures
    def value(self, lo: Any, hi: Any) -> Enclosure:
        """The natural enclosure of the function's range over each box."""
        out, shaped = self._run(programs.VALUE, lo, hi)
        return _enclosure(out, shaped)

    def mean_value(self, lo: Any, hi: Any) -> MeanValue:
        """The natural enclosure, and its intersection with the mean value form where the function is Lipschitz.

        >>> from infimum import compile
        >>> f = compile(lambda x: x[0] * (1 - x[0]), n=1)
        >>> r = f.mean_value([0.5], [0.625])
        >>> float(r.natural.lo), float(r.natural.hi), float(r.best.lo), float(r.best.hi)
        (0.1875, 0.3125, 0.23046875, 0.26171875)
        """
        out, shaped = self._run(programs.MEAN_VALUE, lo, hi)
        return MeanValue(_enclosure(out[:3], shaped), _enclosure(out[3:], shaped))

    def linear_bounds(self, lo: Any, hi: Any) -> LinearBounds:
        """Linear functions below and above the function on each box, and what they enclose. Composed backward through all
        operations, they know where a variable appears twice.

        >>> from infimum import compile
        >>> f = compile(lambda x: x[0] * (1 - x[0]), n=1)
        >>> r = f.linear_bounds([0.25], [0.5])
        >>> float(r.best.lo), float(r.best.hi), r.slopes_above, float(r.above)
        (0.1875, 0.28125, array([0.25]), 0.21875)
        """
        out, shaped = self._run(programs.LINEAR_ENCLOSURE, lo, hi)
        below, above = ((shaped(slopes), shaped(rest[0])) for slopes, rest in (out[3:5], out[5:7]))
        return LinearBounds(_enclosure(out, shaped), *below, *above)

    def gradient(self, lo: Any, hi: Any) -> Derivative:
        """The enclosure of the gradient (shape (n, N)) and of the value over each box.

        >>> from infimum import compile
        >>> f = compile(lambda x: x[0] ** 2 + abs(x[1]), n=2)
        >>> g = f.gradient([1.0, -1.0], [2.0, 1.0])
        >>> g.lo, g.hi, bool(g.value.lipschitz), bool(g.value.smooth)
        (array([ 2., -1.]), array([4., 1.]), True, False)
        """
        out, shaped = self._run(programs.GRADIENT, lo, hi)
        return Derivative(_enclosure(out[:3], shaped), shaped(out[3]), shaped(out[4]))

    def hessian(self, lo: Any, hi: Any) -> Hessian:
        """The enclosure of the Hessian (shape (n, n, N)), of the gradient and of the value over each box.

        >>> from infimum import compile
        >>> f = compile(lambda x: x[0] ** 3 + x[0] * x[1], n=2)
        >>> h = f.hessian([1.0, 0.0], [2.0, 1.0])
        >>> h.lo.tolist(), h.hi.tolist(), bool(h.value.smooth)
        ([[6.0, 1.0], [1.0, 0.0]], [[12.0, 1.0], [1.0, 0.0]], True)
        >>> h.gradient.lo.tolist(), h.gradient.hi.tolist()
        ([3.0, 1.0], [13.0, 2.0])
        """
        out, shaped = self._run(programs.HESSIAN, lo, hi)
        value, square = _enclosure(out[:3], shaped), np.empty((self.n, self.n), np.intp)
        rows, columns = np.triu_indices(self.n)
        square[rows, columns] = square[columns, rows] = np.arange(len(rows))  # of the triangle, which is all that is computed
        return Hessian(value, *(shaped(triangle[square]) for triangle in out[5:]),
                       gradient=Derivative(value, shaped(out[3]), shaped(out[4])))

    def curvature(self, lo: np.ndarray, hi: np.ndarray, directions: np.ndarray) -> tuple[Enclosure, np.ndarray, np.ndarray]:
        """The value, and lower and upper ends (n, n, N) of T H Tᵀ over each box (n, N), for the matrix T of directions, its rows.
        Where the function is not smooth, they say nothing."""
        out = self.run(programs.CURVATURE, [self._columns(lo), self._columns(hi)], parameters=directions.ravel())
        rows, columns = np.triu_indices(self.n, 1)
        square = np.diag(np.arange(self.n))
        square[rows, columns] = square[columns, rows] = self.n + np.arange(len(rows))
        return Enclosure(*(a[0] for a in out[:3])), out[3][square], out[4][square]

    def value_to_last_bit(self, x: np.ndarray) -> tuple[float, float] | None:
        """The tightest doubles around the function's value at one point, slowly; None where they cannot be told."""
        return point_value.enclose_at_point(self.f, x)

    def inside(self, lo: Any, hi: Any) -> dict[Expr, Enclosure]:
        """The enclosures of all operations inside the function, each of shape (elements, N)."""
        out, found, begin = self.run(programs.NODES, [self._columns(lo), self._columns(hi)]), {}, 0
        for node in node_enclosures.nodes_of(self.f):
            found[node] = Enclosure(*(a[begin:begin + node.size] for a in out))
            begin += node.size
        return found

    # ---- with constraints: row 0 is the function, the others are the constraints in their order
    def rows(self, lo: Any, hi: Any) -> Enclosure:
        """The natural enclosures of the function and of all constraints, of shape (1 + m, N)."""
        out, shaped = self._run(programs.ROWS, lo, hi)
        return Enclosure(*(shaped(a) for a in out))

    def violated(self, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
        """True for each box (n, N) in which no point meets all constraints: some row is undefined on all of it, or beyond an
        end."""
        rows, system = self.rows(lo, hi), self.system
        beyond = (rows.lo[1:] > system.upper[:, None]) | (rows.hi[1:] < system.lower[:, None])
        return rows.empty.any(axis=0) | beyond.any(axis=0)

    def jacobian(self, lo: Any, hi: Any) -> Derivative:
        """These, and the enclosures of their derivatives, of shape (1 + m, n, N)."""
        out, shaped = self._run(programs.JACOBIAN, lo, hi)
        slopes = (shaped(a.reshape(1 + self.system.m, self.n, a.shape[-1])) for a in out[3:])
        return Derivative(Enclosure(*(shaped(a) for a in out[:3])), *slopes)

    def estimate_jacobian(self, x: Any) -> tuple[np.ndarray, np.ndarray]:
        """The function and all constraints at each point, (1 + m, N), and their derivatives, (1 + m, n, N). Estimates."""
        out, shaped = self._run(programs.ESTIMATE_JACOBIAN, x)
        return shaped(out[0]), shaped(out[1].reshape(1 + self.system.m, self.n, out[1].shape[-1]))

    @cached_property
    def reads(self) -> np.ndarray:
        """Which variables each constraint reads, a row each."""
        rows = list(self.system.rows[1:])
        return variable_reads.reads(rows, var("x", (self.n,))) if rows else np.empty((0, self.n), bool)

    @cached_property
    def curved_rows(self) -> "tuple[np.ndarray, Evaluator | None]":
        """The numbers of the rows that may not be linear, and an Evaluator of these, the first of which is its function."""
        rows = self.system.rows
        numbers = np.flatnonzero([int(d) > 1 for d in degree.degrees(rows)])
        if not len(numbers):
            return numbers, None
        first, *others = (rows[k] for k in numbers)
        ends = np.zeros(len(others))
        return numbers, self.rewritten(first, System(first, tuple(reshape(row, (1,)) for row in others), ends, ends))

    def estimate_weighted(self, x: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The sum of all rows times weights (1 + m, N) at points (n, N), and its gradient (n, N). Estimates."""
        out = self.run(programs.ESTIMATE_WEIGHTED, [x, weights])
        return out[0][0], out[1]

    def weighted_slopes(self, lo: np.ndarray, hi: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ends (n, N) of the gradient of that sum over boxes (n, N); they mean something only where all `rows` are Lipschitz."""
        return tuple(self.run(programs.WEIGHTED_SLOPES, [lo, hi, weights]))

    # ---- estimates: no proof, the same upward arithmetic
    def estimate(self, x: Any) -> np.ndarray:
        """The function at each point, to about rounding error. An estimate, not a bound."""
        out, shaped = self._run(programs.ESTIMATE, x)
        return shaped(out[0][0])

    def estimate_gradient(self, x: Any) -> tuple[np.ndarray, np.ndarray]:
        """Value and gradient (shape (n, N)) at each point. Estimates, not bounds.

        >>> from infimum import compile
        >>> value, gradient = compile(lambda x: x[0] ** 2 + 3 * x[1], n=2).estimate_gradient([2.0, 1.0])
        >>> float(value), gradient.tolist()
        (7.0, [4.0, 3.0])
        """
        out, shaped = self._run(programs.ESTIMATE_GRADIENT, x)
        return shaped(out[0][0]), shaped(out[1])

    def estimate_hessian_vector(self, x: Any, v: Any) -> np.ndarray:
        """The Hessian at each point times the vector v of that point. An estimate, not a bound."""
        out, shaped = self._run(programs.ESTIMATE_HESSIAN_VECTOR, x, v)
        return shaped(out[0])

    def _run(self, kind: Kind, *arrays: Any) -> tuple[list[np.ndarray], Callable[[np.ndarray], np.ndarray]]:
        inputs = [self._columns(a) for a in arrays]
        single = np.ndim(arrays[0]) == 1
        if len({a.shape for a in inputs}) > 1:
            raise ShapeError(f"the arrays have different shapes: {', '.join(str(a.shape) for a in inputs)}")
        return self.run(kind, inputs), (lambda a: a[..., 0]) if single else (lambda a: a)

    def _columns(self, array: Any) -> np.ndarray:
        wanted = f"boxes and points are arrays of real numbers of shape ({self.n}, N) or ({self.n},)"
        try:
            given = np.asarray(array)
        except ValueError:
            raise ShapeError(f"{wanted}; the rows given have different lengths") from None
        if given.dtype.kind not in "fiu" or is_masked(array):
            raise ShapeError(f"{wanted}; this is a {type(array).__name__} of {given.dtype}")
        a = np.ascontiguousarray(given, dtype=np.float64)
        if given.dtype.itemsize > 4 and given.dtype != np.float64 and not _same(given, a):
            raise ShapeError(f"{wanted}; this array of {given.dtype} holds numbers that are not doubles")
        a = a[:, None] if a.ndim == 1 else a
        if a.ndim != 2 or a.shape[0] != self.n:
            raise ShapeError(f"expected an array of shape ({self.n}, N) or ({self.n},), got {np.shape(array)}")
        return np.ascontiguousarray(a)


def _same(given: np.ndarray, doubles: np.ndarray) -> bool:
    """Do the doubles hold exactly the numbers given (NaN aside)?"""
    if given.dtype.kind == "f":
        return bool(((doubles.astype(given.dtype) == given) | np.isnan(given)).all())
    large = np.abs(doubles) >= 2.0**53
    return all(int(d) == int(g) for d, g in zip(doubles[large], given[large], strict=True))


def _enclosure(out: list[np.ndarray], shaped: Callable) -> Enclosure:
    return Enclosure(*(shaped(a[0]) for a in out[:3]))
