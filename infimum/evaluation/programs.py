"""The kernels that an Evaluator runs: which numbers go in, which come out."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from infimum.expr.build import build
from infimum.expr.differentiate import gradient, hessian_vector
from infimum.expr.node import Expr, var
from infimum.interval.arithmetic import add, sub
from infimum.interval.pair import INF, LIPSCHITZ, Pair, b_level
from infimum.kernel import region_cut
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Kernel, Value
from infimum.kernel.lowering import LaneBox, Lowering, write_pair
from infimum.kernel.meaning import Enclosures, Estimates
from infimum.support.lazy import LazyModule, dataclass

if TYPE_CHECKING:
    from infimum.bounds import lagrangian_kernel, newton_equations_kernel, newton_kernel, propagation_kernel, shaving_kernel
    from infimum.bounds.function_bounds import first_order_kernel, piece_kernel, subdomain_kernel, tangent_kernel
    from infimum.bounds.least_squares import gauss_newton_kernel
    from infimum.bounds.least_squares import projection_kernel as projection
    from infimum.bounds.sweeps import refinement_kernel, sweep_context_kernel, sweep_kernel
    from infimum.chains import cell_kernels
    from infimum.engines import complete_kernel, complete_system_kernel, newton_loop_kernel
    from infimum.kernel import directional_curvature as curvature
    from infimum.kernel import hessian, node_enclosures, sequential_hessian, start_face_kernel, system_kernels
    from infimum.points import descent_kernel, quadratic_model_kernel, swarm_kernel
    from infimum.points import levenberg_kernel as levenberg
    from infimum.relax import (
        affine_bound_kernel,
        backward_bound_kernel,
        column_kernel,
        gradient_rows_kernel,
        lifted_kernel,
        linear_bounds_kernel,
        linear_rows_kernel,
    )
    from infimum.sets import error_band_kernel
    from infimum.structure import separable_residuals as separable
    from infimum.structure import term_sums
else:  # by far most runs need few of them
    separable = LazyModule("structure.separable_residuals")
    affine_bound_kernel = LazyModule("relax.affine_bound_kernel")
    error_band_kernel = LazyModule("sets.error_band_kernel")
    backward_bound_kernel = LazyModule("relax.backward_bound_kernel")
    first_order_kernel = LazyModule("bounds.function_bounds.first_order_kernel")
    cell_kernels = LazyModule("chains.cell_kernels")
    column_kernel = LazyModule("relax.column_kernel")
    complete_kernel = LazyModule("engines.complete_kernel")
    complete_system_kernel = LazyModule("engines.complete_system_kernel")
    newton_kernel = LazyModule("bounds.newton_kernel")
    curvature = LazyModule("kernel.directional_curvature")
    descent_kernel = LazyModule("points.descent_kernel")
    start_face_kernel = LazyModule("kernel.start_face_kernel")
    swarm_kernel = LazyModule("points.swarm_kernel")
    hessian = LazyModule("kernel.hessian")
    levenberg = LazyModule("points.levenberg_kernel")
    linear_bounds_kernel = LazyModule("relax.linear_bounds_kernel")
    linear_rows_kernel = LazyModule("relax.linear_rows_kernel")
    quadratic_model_kernel = LazyModule("points.quadratic_model_kernel")
    newton_loop_kernel = LazyModule("engines.newton_loop_kernel")
    node_enclosures = LazyModule("kernel.node_enclosures")
    piece_kernel = LazyModule("bounds.function_bounds.piece_kernel")
    projection = LazyModule("bounds.least_squares.projection_kernel")
    refinement_kernel = LazyModule("bounds.sweeps.refinement_kernel")
    gauss_newton_kernel = LazyModule("bounds.least_squares.gauss_newton_kernel")
    sequential_hessian = LazyModule("kernel.sequential_hessian")
    sweep_context_kernel = LazyModule("bounds.sweeps.sweep_context_kernel")
    newton_equations_kernel = LazyModule("bounds.newton_equations_kernel")
    subdomain_kernel = LazyModule("bounds.function_bounds.subdomain_kernel")
    sweep_kernel = LazyModule("bounds.sweeps.sweep_kernel")
    tangent_kernel = LazyModule("bounds.function_bounds.tangent_kernel")
    term_sums = LazyModule("structure.term_sums")
    gradient_rows_kernel = LazyModule("relax.gradient_rows_kernel")
    lagrangian_kernel = LazyModule("bounds.lagrangian_kernel")
    propagation_kernel = LazyModule("bounds.propagation_kernel")
    shaving_kernel = LazyModule("bounds.shaving_kernel")
    system_kernels = LazyModule("kernel.system_kernels")
    lifted_kernel = LazyModule("relax.lifted_kernel")

VALUE, GRADIENT, HESSIAN, MEAN_VALUE, NODES = "value", "gradient", "hessian", "mean_value", "nodes"
CURVATURE = "curvature"
# "term_hessian:2" has two constants; ":2:3" also three directions
TERM_HESSIAN, TERM_CURVATURE = "term_hessian", "term_curvature"
ESTIMATE, ESTIMATE_GRADIENT, ESTIMATE_HESSIAN_VECTOR = "estimate", "estimate_gradient", "estimate_hessian_vector"
DESCENT_DENSE, DESCENT_LIMITED, PROBE = "descent_dense", "descent_limited", "probe"
SCATTER, FLIGHT = "scatter", "flight"
BOUND, BOUND_BY_PIECES = "bound", "bound_by_pieces"
BRANCH, BRANCH_BY_PIECES, REGION_OUTCOME, WIDE = "branch", "branch_by_pieces", "fate", "wide"  # "branch:1" in start boxes,
FACES = "faces"  # "faces:3" is for three start boxes; "branch_by_pieces:1:0" for infinite bounds
# "fate:3" and "faces:3:1" where ends of these boxes, or of the bounds, are no doubles
CONTEXT, SWEEP = "context", "sweep"  # "context:64" encloses pieces by 64 slices
SPREAD, SHAVING = "spread", "shaved"
TERMS, REDUCED, TESTED = "terms", "reduced", "tested"
POINT_CONTEXT, SAMPLE, NEWTON = "point_context", "sample", "newton"
CELLS, STEEP_TERMS, SECOND_ORDER_BOUND, SHIFTED_BOUND = "cells", "steep", "bend", "shift"  # "cells:2" has two constants
AT_POINTS, CURVES, OPTIMISTIC_BOUND = "at_points", "curves", "hope"
LOWEST, TANGENT = "lowest", "tangent"
AFFINE, LINEAR, LINEAR_ENCLOSURE = "affine", "linear", "linear_enclosure"
CENTRE, CONTRACT, SEQUENTIAL = "centre", "contract", "sequential"  # "contract:0:1:2:0:0" by such a `SweepPlan`
LOOP_TESTS, LOOP_SPLIT = "loop_tests", "loop_split"
PROJECTION = "projection"
LEVENBERG = "levenberg"  # "levenberg:16" looks at one of 16 residuals
RESIDUALS, BANDS = "residuals", "bands"
BLOCK_CONTEXT, COMPLETE = "block_context", "complete"  # with sizes: "complete:10:4:10"
COMPLETE_SYSTEM = "complete_system"  # the same sizes
ROWS, JACOBIAN, WEIGHTED_SLOPES = "rows", "jacobian", "weighted_slopes"  # of a function and its constraints
LINEAR_BOUNDS = "linear_bounds"
SUBDOMAIN = "subdomain"  # "subdomain:2:4:1:0" by pieces, variables, form, choice
LAGRANGIAN = "lagrangian"  # "lagrangian:0:1" does not ask whether it is convex, of the logarithm of a product
PROPAGATE = "propagate"  # "propagate:0" always has loops
ESTIMATE_JACOBIAN, ESTIMATE_WEIGHTED = "estimate_jacobian", "estimate_weighted"
WEIGHTED_HESSIAN = "weighted_hessian"
GRADIENT_ROWS, LINEAR_ROWS = "lines", "linear_rows"
LIFTED = "lifted"
COLUMNS = "columns"
NEWTON_EQUATIONS = "square"


@dataclass(slots=True)
class Program:
    """A kernel with its data. `rows` are the rows of each output array; what is given with each run lies at `at` in the
    doubles."""

    kernel: Kernel
    data: Data
    rows: tuple[int, ...]
    at: int = 0


def _value(f: Expr, x: Expr) -> Program:
    b, data, out = Builder(), Data(), {}
    box = LaneBox(b, x.size)
    Lowering(b, Enclosures(), {"x": box}, data).run([(f, lambda at, v: out.setdefault("f", v))], box.guard)
    box.write(0, out["f"])
    return Program(b.kernel(VALUE, 2, 3), data, (1, 1, 1))


def _nodes(f: Expr, x: Expr) -> Program:
    b = Builder()
    return Program(*node_enclosures.nodes(NODES, f, LaneBox(b, x.size), b))


def _gradient(f: Expr, x: Expr) -> Program:
    b, data, out = Builder(), Data(), {}
    box, write = LaneBox(b, x.size), write_pair(b, 3)
    Lowering(b, Enclosures(), {"x": box}, data).run(
        [(f, lambda at, v: out.setdefault("f", v)), (gradient(f, x), lambda at, v: write(at[0], v))], box.guard)
    box.write(0, out["f"])
    return Program(b.kernel(GRADIENT, 2, 5), data, (1, 1, 1, x.size, x.size))


def _mean_value(f: Expr, x: Expr) -> Program:
    """Natural enclosure, and its intersection with f(c) + g(X)(X - c) where f is Lipschitz on the box."""
    b, data, out = Builder(), Data(), {}
    box = LaneBox(b, x.size)

    def centre(i: "int | Value") -> Pair:
        """A double inside the interval; for unbounded ones the end that is finite, or 0."""
        lo, hi = b.input(0, i), b.input(1, i)
        middle = b.add(b.mul(lo, 0.5), b.mul(hi, 0.5))
        middle = b.min(b.max(middle, lo), hi)
        finite_lo, finite_hi = b.ogt(lo, -INF), b.olt(hi, INF)
        half_line = b.select(finite_lo, lo, b.select(finite_hi, hi, 0.0))
        c = b.select(b.mand(finite_lo, finite_hi), middle, half_line)
        return Pair(b.neg(c), c)
    # X - c is a variable of its own, so that no simplification can mistake it for the argument of the gradient
    deviation = var("d", x.shape)
    tilt = build("sum", build("mul", gradient(f, x), deviation), axes=(0,))
    leaves = {"x": box, "d": lambda i: sub(b, box(i), centre(i))}
    Lowering(b, Enclosures(), {"x": centre}, data).run([(f, lambda at, v: out.setdefault("centre", v))])
    Lowering(b, Enclosures(), leaves, data).run(
        [(f, lambda at, v: out.setdefault("f", v)), (tilt, lambda at, v: out.setdefault("tilt", v))], box.guard)
    natural, tilted = out["f"], add(b, out["centre"], out["tilt"])
    sound = b.mand(b.ogt(tilted.nlo, -INF), b.ogt(tilted.hi, -INF))  # neither NaN nor empty
    usable = b.mand(b.oge(b_level(b, natural.level), float(LIPSCHITZ)), sound)
    best = natural.but(nlo=b.select(usable, b.min(tilted.nlo, natural.nlo), natural.nlo),
                       hi=b.select(usable, b.min(tilted.hi, natural.hi), natural.hi))
    box.write(0, best)
    box.write(3, natural)
    return Program(b.kernel(MEAN_VALUE, 2, 6), data, (1,) * 6)


def _estimate(name: str, outputs: list[Expr], inputs: int) -> Program:
    b, data = Builder(), Data()
    leaves = {"x": lambda i: b.input(0, i), "v": lambda i: b.input(1, i)}

    def writer(slot: int) -> Callable:
        return lambda at, v: b.output(slot, at[0] if at else 0, v)
    Lowering(b, Estimates(), leaves, data).run([(node, writer(slot)) for slot, node in enumerate(outputs)])
    return Program(b.kernel(name, inputs, len(outputs)), data, tuple(node.size for node in outputs))


PROGRAMS: dict[str, Callable[..., Program]] = {
    VALUE: _value, GRADIENT: _gradient, HESSIAN: lambda f, x: Program(*hessian.hessian(HESSIAN, f, x)),
    MEAN_VALUE: _mean_value, NODES: _nodes,
    CURVATURE: lambda f, x: Program(*curvature.curvature(CURVATURE, f, x)),
    TERM_HESSIAN: lambda f, x, constants: Program(*hessian.hessian(TERM_HESSIAN, f, x, constants)),
    TERM_CURVATURE: lambda f, x, constants, count: Program(*curvature.term_curvature(TERM_CURVATURE, f, x, constants, count)),
    ESTIMATE: lambda f, x: _estimate(ESTIMATE, [f], 1),
    ESTIMATE_GRADIENT: lambda f, x: _estimate(ESTIMATE_GRADIENT, [f, gradient(f, x)], 1),
    ESTIMATE_HESSIAN_VECTOR: lambda f, x: _estimate(ESTIMATE_HESSIAN_VECTOR, [hessian_vector(f, x, var("v", x.shape))], 2),
    DESCENT_DENSE: lambda f, x: Program(*descent_kernel.DenseDescent.program(DESCENT_DENSE, f, x)),
    DESCENT_LIMITED: lambda f, x: Program(*descent_kernel.LimitedMemoryDescent.program(DESCENT_LIMITED, f, x)),
    PROBE: lambda f, x: Program(*descent_kernel.probe(PROBE, f, x)),
    SCATTER: lambda f, x: Program(*swarm_kernel.scatter(SCATTER, x.size)),
    FLIGHT: lambda f, x: Program(*swarm_kernel.flight(FLIGHT, f, x)),
    BOUND: lambda f, x: Program(*first_order_kernel.bound(BOUND, f, x)),
    BOUND_BY_PIECES: lambda f, x: Program(*first_order_kernel.bound(BOUND_BY_PIECES, f, x, by_pieces=True)),
    BRANCH: lambda f, x, in_boxes=0, alike=0: Program(
        *piece_kernel.branch(BRANCH, f, x, in_boxes=bool(in_boxes), alike=bool(alike))),
    BRANCH_BY_PIECES: lambda f, x, unbounded=0, in_boxes=0, alike=0: Program(
        *piece_kernel.branch(BRANCH_BY_PIECES, f, x, True, bool(unbounded), bool(in_boxes), bool(alike))),
    FACES: lambda f, x, boxes, between=0: Program(*start_face_kernel.faces(FACES, x.size, boxes, bool(between))),
    REGION_OUTCOME: lambda f, x, boxes=0: Program(*region_cut.region_outcome(REGION_OUTCOME, x.size, boxes)),
    WIDE: lambda f, x: Program(*region_cut.wide(WIDE, x.size)),
    CONTEXT: lambda f, x, slices=0: Program(*sweep_kernel.context(CONTEXT, f, x, slices=slices)),
    SWEEP: lambda f, x: Program(*sweep_kernel.sweep(SWEEP, f, x)),
    SPREAD: lambda f, x, in_boxes=0: Program(*sweep_context_kernel.spread(SPREAD, f, x, bool(in_boxes))),
    SHAVING: lambda f, x: Program(*shaving_kernel.shaved(SHAVING, x.size)),
    TERMS: lambda f, x: Program(*refinement_kernel.terms(TERMS, f, x)),
    REDUCED: lambda f, x: Program(*refinement_kernel.reduced(REDUCED, f, x)),
    TESTED: lambda f, x: Program(*refinement_kernel.tested(TESTED, f, x)),
    POINT_CONTEXT: lambda f, x: Program(*sweep_kernel.context(POINT_CONTEXT, f, x, estimates=True)),
    SAMPLE: lambda f, x: Program(*sweep_kernel.sample(SAMPLE, f, x)),
    NEWTON: lambda f, x: Program(*sweep_kernel.newton(NEWTON, f, x)),
    BLOCK_CONTEXT: lambda f, x, m: Program(*sweep_kernel.context(BLOCK_CONTEXT, f, x, block=m)),
    CELLS: lambda f, x, constants: Program(*cell_kernels.cells(CELLS, f, x, constants)),
    STEEP_TERMS: lambda f, x, constants: Program(*cell_kernels.steep(STEEP_TERMS, f, x, constants)),
    SECOND_ORDER_BOUND: lambda f, x, constants: Program(*cell_kernels.second_order_bound(SECOND_ORDER_BOUND, f, x, constants)),
    SHIFTED_BOUND: lambda f, x: Program(*cell_kernels.shifted_bound(SHIFTED_BOUND, x.size)),
    CENTRE: lambda f, x: Program(*newton_kernel.centre(CENTRE, x.size)),
    LOWEST: lambda f, x: Program(*quadratic_model_kernel.lowest(LOWEST, f, x)),
    TANGENT: lambda f, x: Program(*tangent_kernel.tangent(TANGENT, f, x)),
    AFFINE: lambda f, x: Program(*affine_bound_kernel.affine_bound(AFFINE, f, x)),
    LINEAR: lambda f, x: Program(*backward_bound_kernel.linear(LINEAR, f, x)),
    LINEAR_ENCLOSURE: lambda f, x: Program(*backward_bound_kernel.enclosure(LINEAR_ENCLOSURE, f, x)),
    CONTRACT: lambda f, x, in_boxes=0, *recipe: Program(
        *newton_kernel.contract(CONTRACT, x.size, bool(in_boxes), newton_kernel.SweepPlan(*recipe))),
    SEQUENTIAL: lambda f, x: Program(*sequential_hessian.sequential(SEQUENTIAL, f, x)),
    LOOP_TESTS: lambda f, x, in_boxes=0: Program(*newton_loop_kernel.tests(LOOP_TESTS, x.size, bool(in_boxes))),
    LOOP_SPLIT: lambda f, x, gaps=0: Program(*newton_loop_kernel.split(LOOP_SPLIT, x.size, bool(gaps))),
    RESIDUALS: lambda f, x: Program(*gauss_newton_kernel.residuals(RESIDUALS, f, x)),
    PROJECTION: lambda f, x: Program(
        *projection.projection(PROJECTION, separable.separable(separable.residual_vector(f), x), x.size)),
    LEVENBERG: lambda f, x, stride=1: Program(*levenberg.levenberg(LEVENBERG, separable.sum_of_squares(f, x), stride)),
    BANDS: lambda f, x: Program(*error_band_kernel.bands(BANDS, f, x)),
    OPTIMISTIC_BOUND: lambda f, x: Program(*cell_kernels.optimistic_bound(OPTIMISTIC_BOUND)),
    AT_POINTS: lambda f, x, constants: Program(*cell_kernels.at_points(AT_POINTS, f, x, constants)),
    CURVES: lambda f, x, constants: Program(*cell_kernels.at_points(CURVES, f, x, constants, curved=True)),
    COMPLETE: lambda f, x, m, p, samples: Program(*complete_kernel.complete(COMPLETE, f, x, m, p, samples)),
}

# those of a function and its constraints
OF_SYSTEM: dict[str, Callable[..., Program]] = {
    ROWS: lambda s, x: Program(*system_kernels.values(ROWS, s, x)),
    JACOBIAN: lambda s, x: Program(*system_kernels.jacobian(JACOBIAN, s, x)),
    PROPAGATE: lambda s, x, *written_out: Program(*propagation_kernel.propagate(PROPAGATE, s, x, *written_out)),
    ESTIMATE_JACOBIAN: lambda s, x: Program(*system_kernels.estimates(ESTIMATE_JACOBIAN, s, x)),
    LINEAR_BOUNDS: lambda s, x: Program(*linear_bounds_kernel.linear_bounds(LINEAR_BOUNDS, s, x)),
    COMPLETE_SYSTEM: lambda s, x, m, p, samples: Program(
        *complete_system_kernel.complete_system(COMPLETE_SYSTEM, s, x, m, p, samples)),
    SUBDOMAIN: lambda s, x, *how: Program(*subdomain_kernel.subdomain(SUBDOMAIN, s, x, *how)),
    LAGRANGIAN: lambda s, x, *how: Program(*lagrangian_kernel.lagrangian(LAGRANGIAN, s, x, *how)),
    WEIGHTED_SLOPES: lambda s, x: Program(*system_kernels.weighted_slopes(WEIGHTED_SLOPES, s, x)),
    ESTIMATE_WEIGHTED: lambda s, x: Program(*system_kernels.weighted(ESTIMATE_WEIGHTED, s, x)),
    GRADIENT_ROWS: lambda s, x: Program(*gradient_rows_kernel.gradient_rows(GRADIENT_ROWS, s, x)),
    LINEAR_ROWS: lambda s, x: Program(*linear_rows_kernel.linear_rows(LINEAR_ROWS, s, x)),
    LIFTED: lambda s, x: Program(*lifted_kernel.lifted(LIFTED, s, x)),
    COLUMNS: lambda s, x: Program(*column_kernel.columns(COLUMNS, s, x)),
    NEWTON_EQUATIONS: lambda s, x: Program(*newton_equations_kernel.newton_equations(NEWTON_EQUATIONS, s, x)),
    WEIGHTED_HESSIAN: lambda s, x: Program(*hessian.hessian(
        WEIGHTED_HESSIAN, s.weighted(var(term_sums.C, (1 + s.m,))), x, 1 + s.m)),
}
