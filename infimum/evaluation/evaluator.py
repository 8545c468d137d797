"""Evaluator: boxes in, enclosures out. The only way from engines to a machine."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.backend.arrays import Arrays, HostArrays
from infimum.backend.cpu import CpuBackend
from infimum.backend.devices import backend_of, place_of
from infimum.errors import OptionError, ShapeError
from infimum.evaluation import programs
from infimum.evaluation.enclosures import Derivative, Enclosure, Hessian, LinearBounds, MeanValue
from infimum.expr import rewriting_switches
from infimum.expr.node import Expr, var
from infimum.kernel.schedule import is_sum_over_data
from infimum.problem.problem import Interval
from infimum.problem.system import System
from infimum.problem.text import counted
from infimum.problem.variable_bounds import read_bounds
from infimum.structure.totals import is_costly
from infimum.support import environment
from infimum.support.clock import heed
from infimum.support.lazy import LazyModule
from infimum.trace.agreement import Agreement, SampleBox
from infimum.trace.constraint_reading import read_constraints
from infimum.trace.number_constants import is_masked
from infimum.trace.trace import TracedFunction, arguments, scalar, traced

if TYPE_CHECKING:
    from infimum.bounds.least_squares import gauss_newton_kernel
    from infimum.expr import listing, point_value
    from infimum.kernel import node_enclosures
    from infimum.relax import affine_bound_kernel
    from infimum.structure import arrange_reductions, gather_terms, local_form, single_quantity_pieces, term_sums
    from infimum.structure import outer_tangents as tangents
    from infimum.structure import separable_residuals as separable
    from infimum.structure.expansions import norm_quotients
else:
    arrange_reductions = LazyModule("structure.arrange_reductions")
    gather_terms = LazyModule("structure.gather_terms")
    local_form = LazyModule("structure.local_form")
    norm_quotients = LazyModule("structure.expansions.norm_quotients")
    single_quantity_pieces = LazyModule("structure.single_quantity_pieces")
    separable = LazyModule("structure.separable_residuals")
    listing = LazyModule("expr.listing")
    tangents = LazyModule("structure.outer_tangents")
    term_sums = LazyModule("structure.term_sums")
    affine_bound_kernel = LazyModule("relax.affine_bound_kernel")
    point_value = LazyModule("expr.point_value")
    node_enclosures = LazyModule("kernel.node_enclosures")
    gauss_newton_kernel = LazyModule("bounds.least_squares.gauss_newton_kernel")

_lowered: "OrderedDict[tuple, tuple]" = OrderedDict()
_facts: "OrderedDict[tuple, Any]" = OrderedDict()
_KEPT_KERNELS = 256
_BATCH = 1 << 13
WORTH_A_GPU = 1 << 16  # lanes per step, if a CPU could run them as well


def _fact(find: Callable) -> cached_property:
    """A property that the expression alone tells: an Evaluator of an equal function need not find it again, as with kernels."""
    @wraps(find)
    def known(self: "Evaluator") -> Any:
        key = self.f.key, find.__name__, self.n, rewriting_switches.state()
        if key not in _facts:
            _facts[key] = find(self)
            if len(_facts) > _KEPT_KERNELS:
                _facts.popitem(last=False)
        return _facts[key]
    return cached_property(known)


@environment.all_ours
class Evaluator:
    """Kernels of one function of n variables, compiled when first used.

    Boxes are two float64 arrays `lo` and `hi` of shape (n, N), one box per column; a single box may have shape (n,), and results
    then lose their last axis. Points have the same shape. A box with lo > hi in some variable is empty, and so is its enclosure;
    one with a NaN gives [-inf, inf] and status 0. Results do not depend on the number of threads or SIMD lanes.

    >>> import numpy as np
    >>> f = compile(lambda x: np.sum(x**2) - x[0] * x[1], n=2)
    >>> r = f.value([[-1.0, 0.5], [0.0, 0.5]], [[1.0, 0.5], [2.0, 0.5]])
    >>> r.lo, r.hi
    (array([-2.  ,  0.25]), array([7.  , 0.25]))
    """

    linear_programs = LazyModule("backend.highs")  # solves them; its answers are estimates

    def __init__(self, f: Expr, n: int, backend: Any = None, fun: Callable[[np.ndarray], Any] | None = None,
                 system: System | None = None, functions: Sequence[TracedFunction] = (), numbers: np.ndarray | None = None):
        self.f, self.n, self.fun = f, n, fun  # the expression, and the function it was traced from, if there is one
        self.functions = tuple(functions)  # of the user's, as they were traced: f and the constraints
        self.system = system  # the function with its constraints, if it has any
        self.numbers = numbers  # what the user calls the variables, where some of the user's were left out
        self.backend = CpuBackend() if backend is None else backend
        self._ready: dict[str, tuple] = {}
        self._parameters: dict[str, int] = {}

    def rewritten(self, f: Expr, system: System | None = None, fun: Callable[[np.ndarray], Any] | None = None) -> "Evaluator":
        """Of another form of the function, or of another function of the same variables, on the same machine."""
        return Evaluator(f, self.n, self.backend, fun, system, self.functions, self.numbers)

    def __repr__(self) -> str:
        return f"Evaluator of {counted(self.n, 'variable')} on {place_of(self.backend)}:\n{listing.listing(self.f)}"

    # ---- enclosures
    def value(self, lo: Any, hi: Any) -> Enclosure:
        """The natural enclosure of the function's range over each box."""
        out, shaped = self._run(programs.VALUE, lo, hi)
        return _enclosure(out, shaped)

    def mean_value(self, lo: Any, hi: Any) -> MeanValue:
        """The natural enclosure, and its intersection with the mean value form where the function is Lipschitz.

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

        >>> f = compile(lambda x: x[0] ** 2 + abs(x[1]), n=2)
        >>> g = f.gradient([1.0, -1.0], [2.0, 1.0])
        >>> g.lo, g.hi, bool(g.value.lipschitz), bool(g.value.smooth)
        (array([ 2., -1.]), array([4., 1.]), True, False)
        """
        out, shaped = self._run(programs.GRADIENT, lo, hi)
        return Derivative(_enclosure(out[:3], shaped), shaped(out[3]), shaped(out[4]))

    def hessian(self, lo: Any, hi: Any) -> Hessian:
        """The enclosure of the Hessian (shape (n, n, N)), of the gradient and of the value over each box.

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

    # ---- running
    def run(self, kind: str, inputs: list[np.ndarray], outputs: list[np.ndarray] | None = None,
            parameters: np.ndarray | None = None, times: int = 1, doubles: Any = None) -> list[np.ndarray]:
        """Runs a program on float64 arrays of shape (rows, N), NumPy's or those of `arrays`; the results are of the same kind.

        `parameters` are the same for all lanes. They may also be given as `doubles`, made by the method of that name, in any
        memory. `times` runs it that often, alternating between inputs and outputs, which then have the same shapes.
        """
        compiled, _, positions, rows = self.prepare(kind)
        here = isinstance(inputs[0], np.ndarray)
        inputs = [np.ascontiguousarray(a) for a in inputs] if here else inputs
        doubles = self.doubles(kind, parameters) if doubles is None else doubles
        if outputs is None:
            room = np.empty if here else (lambda shape: self.arrays.empty(*shape))
            outputs = [room((count, inputs[0].shape[1])) for count in rows]
        compiled.run(inputs, outputs, doubles, positions, threads=getattr(self.backend, "threads", 1), times=times)
        return outputs if times % 2 else inputs

    def doubles(self, kind: str, parameters: np.ndarray | None) -> np.ndarray:
        """The data of a program, including these parameters."""
        doubles = self.prepare(kind)[1]
        if parameters is None:
            return doubles
        doubles, at = doubles.copy(), self.parameters_at(kind)
        doubles[at:at + len(parameters)] = parameters
        return doubles

    def parameters_at(self, kind: str) -> int:
        """The position of the parameters in the data of a program."""
        self.prepare(kind)
        return self._parameters[kind]

    @property
    def arrays(self) -> Arrays:
        """The memory in which the backend works, and transfers to and from it."""
        return self.backend.arrays

    @property
    def host_arrays(self) -> Arrays:
        """The memory of this machine, and its threads."""
        return HostArrays(getattr(self.backend, "threads", 1))

    @property
    def batch(self) -> int:
        """The default number of lanes per step of a long search: enough to fill the machine."""
        return getattr(self.backend, "batch", _BATCH)

    @property
    def gpu_batch(self) -> int | None:
        """The same for a GPU to which a long search may move; None if there is no such GPU."""
        batch = getattr(self.backend, "gpu_batch", None)
        return batch if batch is not None and self.uses_gpu(batch) else None

    def arrays_for(self, batch: int, least: int = 1) -> Arrays:
        """The memory for a search with that many lanes per step: the GPU's, if there is enough work for it, or if the backend
        must stay on the GPU from `least` lanes on."""
        return self.arrays if self.uses_gpu(batch, least) else HostArrays()

    def uses_gpu(self, batch: int, least: int = 1) -> bool:
        """Does `arrays_for` choose the memory of a GPU, so that the CPU is free while kernels run?"""
        worth = least if getattr(self.backend, "resident", False) else WORTH_A_GPU
        return batch >= worth and not isinstance(self.arrays, HostArrays)

    def arrays_of(self, array: Any) -> Arrays:
        """The memory that holds this array."""
        return HostArrays() if isinstance(array, np.ndarray) else self.arrays

    @_fact
    def local(self) -> "local_form.LocalForm | None":
        """The function as seen from one variable, which sweeps need; None if it cannot be split."""
        return self.local_block(1)

    def local_block(self, block: int) -> "local_form.LocalForm | None":
        """The same for a block of variables."""
        return local_form.local_form(self.f, var("x", (self.n,)), block)

    @_fact
    def is_costly(self) -> bool:
        """Does the function hold so large a table of data that the evaluation itself takes nearly all of the time?"""
        return is_costly(self.f)

    @_fact
    def is_sum_over_data(self) -> bool:
        """Are all its second derivatives computed in one loop, at little more than the cost of the first ones?"""
        return is_sum_over_data(self.f, var("x", (self.n,)))

    @_fact
    def is_recurrence(self) -> bool:
        """Has it few variables, and several sums that can be collected?"""
        return affine_bound_kernel.is_recurrence(self.f, self.n)

    @cached_property
    def families(self) -> "list[term_sums.TermFamily] | None":
        """The terms of the sum that it is, by their forms; None if one of them has too many variables."""
        return term_sums.families_of(self.f, var("x", (self.n,)))

    @_fact
    def has_residuals(self) -> bool:
        """Is it a sum of squares over many data?"""
        return gauss_newton_kernel.residuals_of(self.f, var("x", (self.n,))) is not None

    @_fact
    def separable(self) -> "separable.SeparableResiduals | None":
        """The residuals of a sum of squares with their linear parameters apart; None if there are none."""
        e = separable.residual_vector(self.f)
        return None if e is None else separable.separable(e, var("x", (self.n,)))

    @_fact
    def sum_of_squares(self) -> "separable.SeparableResiduals | None":
        """The same, where there may be no linear parameters."""
        return self.separable or separable.sum_of_squares(self.f, var("x", (self.n,)))

    @_fact
    def has_pieces(self) -> bool:
        """Does some part of the function use one quantity more than once, or is it 0 / 0 by a norm? Enclosures by pieces are then
        tighter."""
        f = gather_terms.gathered(arrange_reductions.arranged(self.f, var("x", (self.n,))))
        return bool(single_quantity_pieces.pieces_of(f) or norm_quotients.norm_quotients(f))

    @_fact
    def tangents(self) -> "tangents.Tangents | None":
        """The function with tangents for its outer functions; None if it has none of these."""
        return tangents.tangents(self.f, var("x", (self.n,)))

    def prepare(self, kind: str) -> tuple:
        """(compiled kernel, doubles, positions, rows of the outputs) of a program, compiled on first use."""
        if kind not in self._ready:
            name, *sizes = kind.split(":")
            table, what = (programs.OF_SYSTEM, self.system) if name in programs.OF_SYSTEM else (programs.PROGRAMS, self.f)
            key = (what.key, kind, self.n, self.backend.name, getattr(self.backend, "lanes", 1), self.system is None,
                   rewriting_switches.state())
            if key not in _lowered:
                heed("compiling")
                with environment.collector_paused():
                    program = table[name](what, var("x", (self.n,)), *map(int, sizes))
                    data, program.kernel.soon = program.data, self.system is not None  # there are many kernels then
                    ready = self.backend.compile(program.kernel), data.doubles(), data.positions(), program.rows
                _lowered[key] = ready, program.at
                if len(_lowered) > _KEPT_KERNELS:
                    _lowered.popitem(last=False)
            self._ready[kind], self._parameters[kind] = _lowered[key]
        return self._ready[kind]

    def _run(self, kind: str, *arrays: Any) -> tuple[list[np.ndarray], Callable[[np.ndarray], np.ndarray]]:
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


@environment.ours
def compile(fun: Callable, n: int, args: Any = (), *, backend: Any = None, device: str = "cpu", threads: int | None = None,
            constraints: Any = (), check: bool = True) -> Evaluator:
    """Trace a NumPy function of n variables and return its kernels: see `Evaluator`.

    `device` is where they run: "cpu", "cuda" (or "cuda:1", …), "auto"; `threads` the number of CPU threads. The results have the
    same bits everywhere. With `constraints`, given as to `minimize`, `rows` and `jacobian` enclose the function and all of them
    together. What was traced is compared with calls of the functions with plain numbers, unless `check=False`.

    >>> import numpy as np
    >>> f = compile(lambda x: np.sum(np.cos(x)), n=3)
    >>> float(f.estimate([0.0, 0.0, 0.0]))
    3.0
    >>> compile(lambda x: x[0], n=2, constraints=lambda x: x[0] * x[1] >= 1).rows([1.0, 2.0], [2.0, 3.0]).hi
    array([2., 6.])
    """
    if backend is not None and (device != "cpu" or threads is not None):
        raise OptionError("a backend has its own device and threads: give either it or these")
    (f, function), backend = traced(fun, n, args, scalar), backend_of(device, threads=threads) if backend is None else backend
    read = read_constraints(constraints, n)
    found = Evaluator(f, n, backend, lambda x: fun(x, *arguments(args)), read.system(f), (function, *read.functions))
    if check:
        endless = np.full(n, np.inf)
        Agreement(found.functions).over(SampleBox(-endless, endless))
    return found


FORMS: dict[str, Callable[[Evaluator, np.ndarray, np.ndarray], Enclosure]] = {
    "natural": Evaluator.value, "mean value": lambda f, lo, hi: f.mean_value(lo, hi).best,
    "linear": lambda f, lo, hi: f.linear_bounds(lo, hi).best}
_BEST = "best"  # all of them


@environment.ours
def enclose(fun: Callable, bounds: Any, args: Any = (), *, n: int | None = None, form: str = "mean value",
            check: bool = True) -> Interval:
    """An interval that certainly contains every value of `fun` on the box `bounds`, rounding errors included.

    `form` is how it is found: "natural" by interval arithmetic alone; "mean value" met with the mean value form; "linear" met
    with linear functions below and above, which are better where variables appear many times, as in networks and recurrences;
    "best" all of them. `bounds` are (low, high) pairs, a scipy.optimize.Bounds, or one pair with `n=`; ends may be infinite. What
    was traced is compared with calls of the function with plain numbers, unless `check=False`.

    >>> import numpy as np
    >>> enclose(lambda x: x[0]**2 + np.exp(x[1]), [(-1, 2), (0, 0)])
    [1.0, 5.0]
    >>> enclose(lambda x: np.sin(x[0]) - x[0], [(0, 1)], form="natural").width > 1.5
    True
    >>> enclose(lambda x: np.sin(x[0]) - x[0], [(0, 1)], form="linear").width < 0.4
    True
    """
    box = read_bounds(bounds, n)
    lo, hi = box.region
    evaluator = compile(fun, len(lo), args, check=False)
    if check:
        Agreement(evaluator.functions).over(SampleBox.of(box))
    if form not in (*FORMS, _BEST):
        raise OptionError(f"there is no form {form!r}; there are {', '.join(map(repr, (*FORMS, _BEST)))}")
    found = [FORMS[name](evaluator, lo, hi) for name in (FORMS if form == _BEST else (form,))]
    return Interval(max(float(e.lo) for e in found), min(float(e.hi) for e in found), bool(found[0].defined))
