"""Leaves, views, reductions and scans: what works on whole arrays. The kernels that write loops know what each of them means."""

from infimum.interval.pair import INF, LIPSCHITZ, SMOOTH
from infimum.ops.arithmetic import product_factor, term
from infimum.ops.operation import Kind, Obstacle, Operation
from infimum.ops.powers import leg
from infimum.ops.steps import larger, smaller


def _rows(kind: Kind, arity: int, cost: int, table: dict[str, str], whole: str = "") -> tuple[Operation, ...]:
    return tuple(Operation(name, meaning, arity, kind, status=SMOOTH, cost=cost, whole=whole) for name, meaning in table.items())


RECORDS = (
    *_rows(Kind.LEAF, 0, 1, {
        "var": "an input vector (params: name)",
        "const": "an array of real numbers, each known to lie between two doubles (equal where the number is a double)",
    }),
    *_rows(Kind.VIEW, 1, 0, {
        "reshape": "same elements in row-major order (its shape)",
        "transpose": "axes permuted (params: perm)",
        "broadcast": "repeated to a larger shape (its shape)",
        "slice": "along each axis `count` elements from `start` in steps of `step` (params: starts, steps, counts)",
        "embed": "zeros of a shape with the argument laid in: the adjoint of slice (params: starts, steps)",
        "gather": "elements of a vector by position (params: index, an `Index`)",
        "scatter": "element j is the sum of the elements i with index[i] == j: the adjoint of gather (params: index, size)",
    }, "kept"),
    *_rows(Kind.VIEW, -1, 0, {"concat": "vectors laid end to end"}, "kept"),
    Operation("sum", "sum (params: axes)", 1, Kind.REDUCE, inverse=(term,), status=SMOOTH, whole="kept", cost=2, of_two="add",
              neutral=(0.0, 0.0)),
    Operation("prod", "product (params: axes)", 1, Kind.REDUCE, inverse=(product_factor,), status=SMOOTH, whole="kept", cost=16,
              of_two="mul", neutral=(-1.0, 1.0)),
    Operation("amin", "smallest (params: axes)", 1, Kind.REDUCE, inverse=(smaller,), status=LIPSCHITZ, whole="kept", cost=6,
              of_two="min", neutral=(-INF, INF), obstacle=Obstacle("", "has two smallest elements")),
    Operation("amax", "largest (params: axes)", 1, Kind.REDUCE, inverse=(larger,), status=LIPSCHITZ, whole="kept", cost=6,
              of_two="max", neutral=(INF, -INF), obstacle=Obstacle("", "has two largest elements")),
    Operation("norm", "square root of the sum of squares (params: axes)", 1, Kind.REDUCE, inverse=(leg,), float_result=True,
              status=LIPSCHITZ, least=0, cost=7, of_two="hypot", neutral=(0.0, 0.0), obstacle=Obstacle("", "is 0")),
    *_rows(Kind.SCAN, 1, 24, {
        "cumsum": "running sum (params: reverse, exclusive)", "cumprod": "running product (params: reverse, exclusive)",
        "cummin": "running minimum (params: reverse, exclusive)", "cummax": "running maximum (params: reverse, exclusive)",
    }, "kept"),
    *_rows(Kind.SCAN, 2, 24, {"recur": "r[i] = a[i] + m[i] * r[i-1] for the arguments a and m (params: reverse)"}),
)
