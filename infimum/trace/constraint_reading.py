"""The user's constraints, in all the forms they may have, as bodies between ends."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from infimum.errors import InfimumError, OptionError, ShapeError
from infimum.expr.build import build, ends_of, reshape, take
from infimum.expr.node import Expr, Shape, between, const, operations, var
from infimum.expr.real import Real
from infimum.problem.constraint import Constraint
from infimum.problem.system import Label, System
from infimum.search.policy.search import REARRANGEMENT as POLICY
from infimum.structure.roll_loops import rolled_apart
from infimum.support.lazy import LazyModule
from infimum.trace.comparisons import ConstraintEnds, comparisons, of_comparisons, read_ends, same
from infimum.trace.number_constants import exact_doubles
from infimum.trace.trace import TracedFunction, home, traced
from infimum.trace.tracer import Tracer, lift
from infimum.trace.user_source import form_error

if TYPE_CHECKING:
    from infimum.trace import quadratic_vectors
else:  # most functions are short
    quadratic_vectors = LazyModule("trace.quadratic_vectors")

_FORMS = "a function that returns a comparison (lambda x: x[0] + x[1] >= 12), infimum.Constraint(fun, lb, ub), SciPy's " \
         "NonlinearConstraint, LinearConstraint or Bounds, or a dict {'type': 'ineq', 'fun': g}"
_TYPES = ("eq", "ineq")


class ConstraintBody(NamedTuple):
    """A vector of constraints with their ends, and what they are called."""

    expr: Expr
    lower: np.ndarray
    upper: np.ndarray
    labels: list[Label]


class Constraints(NamedTuple):
    """All bodies, what is to be said of constraints that are left out, and the user's functions that were traced."""

    bodies: list[ConstraintBody]
    notes: list[str]
    functions: list[TracedFunction]

    @classmethod
    def of(cls, system: System) -> "Constraints":
        """Those of a system."""
        ends = np.cumsum([body.size for body in system.bodies])
        parts = (slice(end - body.size, end) for end, body in zip(ends, system.bodies, strict=True))
        return cls([ConstraintBody(body, system.lower[at], system.upper[at], list(system.labels[at]))
                    for body, at in zip(system.bodies, parts, strict=True)], [], [])

    @property
    def has_equations(self) -> bool:
        return any((body.lower == body.upper).any() for body in self.bodies)

    def system(self, f: Expr, integers: tuple[int, ...] = (), feasibility: float = 0.0) -> System | None:
        """With the function to minimise; None if nothing constrains the variables."""
        if not self.bodies and not integers:
            return None
        lower, upper = (np.concatenate([np.zeros(0), *(getattr(body, end) for body in self.bodies)])
                        for end in ("lower", "upper"))
        return System(f, tuple(body.expr for body in self.bodies), *_relaxed(lower, upper, feasibility), integers,
                      tuple(label for body in self.bodies for label in body.labels))


def read_constraints(given: Any, n: int) -> Constraints:
    """The constraints on n variables; an error names the number of the constraint that is wrong."""
    read = Constraints([], [], [])
    for number, one in enumerate(_listed(given)):
        known = len(read.functions)
        try:
            for body in _read(one, number, n, read.functions):
                _add(read, body)
            for function in read.functions[known:]:
                function.role = f"constraint {number}: "
        except InfimumError as error:
            rows = _row_numbers(one)
            error.args = (f"constraint {number if rows is None else rows[0]}: {error}", *error.args[1:])
            raise
    return read._replace(bodies=_rolled(read.bodies, n))


def impossible(text: str, number: int = -1) -> ConstraintBody:
    """A constraint that no point meets."""
    return ConstraintBody(const(np.zeros(1)), np.ones(1), np.full(1, np.inf), [Label(number, None, text)])


def _listed(given: Any) -> list:
    if isinstance(given, (str, bytes)):
        raise OptionError(f"constraints must be one or a list of these: {_FORMS}; not {given!r}")
    single = isinstance(given, Mapping) or callable(given) or hasattr(given, "lb") or not isinstance(given, Iterable)
    return [] if given is None else [given] if single else list(given)


# ---- the forms
def _read(one: Any, number: int, n: int, functions: list[TracedFunction]) -> Iterator[ConstraintBody]:
    """The bodies of one constraint; its function, if it has one, is added to those that were traced."""
    if isinstance(one, Mapping):
        yield from _of_dict(one, number, n, functions)
    elif hasattr(one, "lb") and hasattr(one, "ub"):
        yield from _of_ends(one, number, n, functions)
    elif callable(one):
        with of_comparisons():
            found, function = traced(one, n, (), comparisons)
        functions.append(function)
        texts = [part.text or _name(one, number) for part in found]
        often = Counter(texts)
        for k, (body, lower, upper, *_) in enumerate(found):
            labels = _labels(number, body.shape, texts[k])
            if not body.shape and often[texts[k]] > 1:  # written in a loop
                labels = [Label(number, k, texts[k])]
            yield from _bodies(body, tuple(ConstraintEnds(end, end, end) for end in (lower, upper)), labels)
    else:
        raise OptionError(f"it is of type {type(one).__name__}; give {_FORMS}")


def _of_dict(one: Mapping, number: int, n: int, functions: list[TracedFunction]) -> Iterator[ConstraintBody]:
    kind, fun = one.get("type"), one.get("fun")
    if not isinstance(kind, str) or kind.lower() not in _TYPES:
        raise OptionError(f"the type of a constraint is 'eq' (fun(x) == 0) or 'ineq' (fun(x) >= 0), not {kind!r}")
    unknown = set(one) - {"type", "fun", "args", "jac", "hess"}
    if unknown:
        raise OptionError(f"a constraint has the keys 'type', 'fun' and 'args', not {sorted(map(str, unknown))[0]!r}")
    body = _values(fun, n, one.get("args", ()), functions)
    ends = read_ends(0.0, 0.0 if kind.lower() == "eq" else np.inf, body.shape)
    yield from _bodies(body, ends, _labels(number, body.shape, _name(fun, number)))


def _of_ends(one: Any, number: int, n: int, functions: list[TracedFunction]) -> Iterator[ConstraintBody]:
    if hasattr(one, "A"):
        yield from _linear(one, number, n)
        return
    fun = getattr(one, "fun", None)
    if fun is None and isinstance(one, Constraint):
        raise OptionError("the function of the Constraint is None: give Constraint(fun, lb, ub)")
    body = var("x", (n,)) if fun is None else _values(fun, n, (), functions)
    rows = _row_numbers(one)
    labels = _labels(number, body.shape, "x" if fun is None else _name(fun, number)) if rows is None else \
        [Label(int(row), None, f"constraint {row}") for row in rows]
    yield from _bodies(body, read_ends(one.lb, one.ub, body.shape), labels)


def _linear(one: Any, number: int, n: int) -> Iterator[ConstraintBody]:
    """lb <= A x <= ub; rows with equally many coefficients are one body, and coefficients that are 0 have no part in it."""
    rows, columns, values, m = _coefficients(one.A, n)
    lower, upper = read_ends(one.lb, one.ub, (m,))
    x = var("x", (n,))
    counts = np.bincount(rows, minlength=m)
    order = np.argsort(rows, kind="stable")
    starts = np.cumsum(counts) - counts
    for count in np.flatnonzero(np.bincount(counts)):  # `np.unique` would import numpy.ma, which takes longer
        mine = np.flatnonzero((counts == count) & (np.isfinite(lower.lo) | np.isfinite(upper.hi)))
        if not len(mine):
            continue
        at = order[starts[mine][:, None] + np.arange(count)]
        whole = count == n and bool((columns[at] == np.arange(n)).all())
        terms = build("mul", const(values[at]), x if whole else take(x, columns[at]))
        body = const(np.zeros(len(mine))) if not count else reshape(terms, (len(mine),)) if count == 1 else \
            build("sum", terms, axes=(1,))
        labels = [Label(number, int(k), f"constraint {number}") for k in mine]
        yield from _bodies(body, tuple(ends.at(mine) for ends in (lower, upper)), labels)


def _coefficients(matrix: Any, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Rows, columns and values of the coefficients that are not 0, and the number of rows; sparse matrices of SciPy are known by
    their method `tocoo`. Entries given twice stay two, since adding them up would round."""
    sparse = matrix.tocoo() if hasattr(matrix, "tocoo") else None
    if sparse is None:
        dense = np.atleast_2d(exact_doubles(np.asarray(matrix)))
        shape, (rows, columns) = dense.shape, np.nonzero(dense) if dense.ndim == 2 else ((), ())
        values = dense[rows, columns] if dense.ndim == 2 else dense
    else:
        shape, rows, columns, values = sparse.shape, sparse.row, sparse.col, exact_doubles(sparse.data)
    if len(shape) != 2 or shape[1] != n:
        raise ShapeError(f"the matrix A has the shape {tuple(shape)}, and there are {n:,} variables: it must have {n:,} columns")
    return np.asarray(rows, np.intp), np.asarray(columns, np.intp), values, shape[0]


def _values(fun: Any, n: int, args: Any, functions: list[TracedFunction]) -> Expr:
    """What a function of the variables returns, a number or an array."""
    if not callable(fun):
        raise OptionError(f"fun must be a function of an array, not {fun!r}")
    found, function = traced(fun, n, args, _numbers)
    functions.append(function)
    return found


def _numbers(fun: Callable, value: Any) -> Expr:
    if isinstance(value, Tracer) and value.is_truth or isinstance(value, (bool, np.bool_)):
        raise form_error(f"{home(fun)}: The function returned a comparison, and its values are wanted here, since its ends are "
                         "given beside it. Return the values, or give the function by itself, without ends.")
    if not isinstance(value, (Tracer, Real, int, float, list, tuple, np.ndarray, np.generic)):
        raise form_error(f"{home(fun)}: The function returned {'None' if value is None else f'a {type(value).__name__}'}. Return "
                         "a number or an array of numbers.")
    try:
        return lift(value)
    except ValueError as error:
        raise ShapeError(f"{home(fun)}: In the returned value: {error}. Join arrays with np.concatenate.") from None


# ---- bodies
def _bodies(body: Expr, ends: tuple[ConstraintEnds, ConstraintEnds], labels: list[Label]) -> Iterator[ConstraintBody]:
    """The body between its ends. Ends that are no doubles move into it: body - end is compared with 0, which is exact."""
    flat = reshape(body, (body.size,))
    lower, upper = (end.flat() for end in ends)
    if not flat.size:
        return
    if lower.exact and upper.exact:
        yield ConstraintBody(flat, lower.lo, upper.lo, labels)
        return
    free = np.flatnonzero(~np.isfinite(lower.lo) & ~np.isfinite(upper.lo))  # which must be defined, and no more
    if len(free):
        endless = np.full(len(free), np.inf)
        yield ConstraintBody(take(flat, free), -endless, endless, [labels[k] for k in free])
    equal = same(lower, upper)
    for group, sides in ((equal, (lower,)), (~equal, (lower, upper))):
        for side in sides:
            at = np.flatnonzero(group & np.isfinite(side.lo))
            if len(at):
                moved = build("sub", flat if len(at) == flat.size else take(flat, at), between(side.lo[at], side.hi[at]))
                zero, endless = np.zeros(len(at)), np.full(len(at), np.inf)
                yield ConstraintBody(moved, -endless if side is upper else zero, zero if side is upper or group is equal
                                     else endless,
                                     [labels[k]._replace(moved=(float(side.lo[k]), float(side.hi[k]))) for k in at])


def _add(read: Constraints, body: ConstraintBody) -> None:
    """Keeps what constrains: of constant elements those that hold are noted and left out."""
    ends = ends_of(body.expr)
    if ends is None:
        read.bodies.append(body)
        return
    holds = (body.lower <= ends[0]) & (ends[1] <= body.upper)
    read.notes.extend(f"{named(body.labels[k])} holds everywhere" for k in np.flatnonzero(holds))
    at = np.flatnonzero(~holds)
    if len(at):
        kept = const(ends[0][at], ends[1][at])
        read.bodies.append(ConstraintBody(kept, body.lower[at], body.upper[at], [body.labels[k] for k in at]))


def _rolled(bodies: list[ConstraintBody], n: int) -> list[ConstraintBody]:
    """The bodies, with constraints that were written one by one in a loop as vectors."""
    x, single = var("x", (n,)), [k for k, body in enumerate(bodies) if body.expr.size == 1]
    found = {k: body for k, body in enumerate(bodies) if body.expr.size > 1}
    for vector, which in rolled_apart([in_vectors(reshape(bodies[k].expr, ()), x) for k in single], x):
        mine = [bodies[single[k]] for k in which]
        ends = (np.concatenate([getattr(body, end) for body in mine]) for end in ("lower", "upper"))
        found[single[which[0]]] = ConstraintBody(vector, *ends, [label for body in mine for label in body.labels])
    return [found[k] for k in sorted(found)]


def in_vectors(f: Expr, x: Expr) -> Expr:
    """f, a function of x, with long quadratic sums as vectors."""
    return quadratic_vectors.with_quadratic_vectors(f, x) if operations(f) >= POLICY.least_vector else f


def named(label: Label) -> str:
    """What a constraint is called in a sentence."""
    element = "" if label.element is None else f"[{label.element}]"
    return label.text + element if label.text.startswith("constraint ") else f"`{label.text}`{element}"


def _labels(number: int, shape: Shape, text: str) -> list[Label]:
    return [Label(number, k, text) for k in range(int(np.prod(shape)))] if shape else [Label(number, None, text)]


def _row_numbers(one: Any) -> Sequence[int] | None:
    """What numbers the elements of a constraint have in the file that it comes from, if it comes from one."""
    return getattr(getattr(one, "fun", None), "row_numbers", None)


def _name(fun: Any, number: int) -> str:
    name = getattr(fun, "__name__", "<lambda>")
    return f"constraint {number}" if name == "<lambda>" else name


def _relaxed(lower: np.ndarray, upper: np.ndarray, feasibility: float) -> tuple[np.ndarray, np.ndarray]:
    """The ends, those of equations moved apart by `feasibility` to both sides, rounded outward."""
    equal = lower == upper
    if not feasibility or not equal.any():
        return lower, upper
    return np.where(equal, -_sum_up(-lower, feasibility), lower), np.where(equal, _sum_up(upper, feasibility), upper)


def _sum_up(a: np.ndarray, b: float) -> np.ndarray:
    """a + b, rounded up."""
    total = a + b
    back = total - a
    lost = (a - (total - back)) + (b - back)  # the rounding error, exactly (Knuth)
    return np.where(lost > 0, np.nextafter(total, np.inf), total)
