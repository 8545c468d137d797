"""The kernel that encloses second derivatives with sequential arguments (Hansen), for contraction alone.

Let c be a point of the box X. Going from c to x one variable after the other, the first one first, g_i changes by the sum over j
of H_ij (x_j - c_j) with H_ij taken at points of B_j: the variables up to j in X, those behind j at c. So column j of the matrix
is the Hessian times the j-th unit vector, on B_j. Such a matrix need not hold the Hessians of X: it proves neither convexity nor
that a stationary point is the only one.

Proof: docs/proofs/second_order.md.
"""

from infimum.expr.differentiate import hessian_vector
from infimum.expr.node import Expr, topological, var
from infimum.interval.pair import Pair, exact
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Value
from infimum.kernel.lowering import Lowering, write_pair
from infimum.kernel.meaning import Enclosures
from infimum.kernel.schedule import STRAIGHT_LINE_COST, straight_cost
from infimum.kernel.view_positions import At

LO, HI, CENTRE = range(3)  # the inputs


def sequential(name: str, f: Expr, x: Expr) -> tuple:
    """(kernel, data, rows of the outputs): lo and hi of the matrix, row by row, on boxes around which f is smooth."""
    b, data, n, v = Builder(), Data(), x.size, var("v", x.shape)
    product, write = hessian_vector(f, x, v), write_pair(b, 0)

    def column(j: "int | Value", straight: bool) -> None:
        def argument(i: "int | Value") -> Pair:
            if isinstance(i, int) and isinstance(j, int):
                lo, hi = (b.input(LO, i), b.input(HI, i)) if i <= j else (b.input(CENTRE, i),) * 2
            else:
                early = b.ule(i, j)
                lo, hi = (b.select(early, b.input(end, i), b.input(CENTRE, i)) for end in (LO, HI))
            return Pair(b.neg(lo), hi)

        def unit(i: "int | Value") -> Pair:
            if isinstance(i, int) and isinstance(j, int):
                return exact(b, float(i == j))
            one = b.select(b.ueq(i, j), 1.0, 0.0)
            return Pair(b.neg(one), one, least=0)

        def put(at: At, value: Pair) -> None:
            write(b.place("uadd", b.place("umul", at[0], n), j), value)
        Lowering(b, Enclosures(), {"x": argument, "v": unit}, data).run([(product, put)], straight=straight)
    if n * straight_cost(list(topological([product]))) <= 4 * STRAIGHT_LINE_COST:
        for j in range(n):
            column(j, True)
    else:
        with b.loop(n) as turn:
            column(turn.index, False)
    return b.kernel(name, 3, 2), data, (n * n, n * n)
