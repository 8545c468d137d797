"""The table of programs: which function writes the kernel of each, and of what.

A program is named; one that is made for certain sizes or in a certain way is a `ProgramKind`, the name with these parameters,
such as `ProgramKind.of(CELLS, constants=2)`. What goes in and out is told where the kernel is written, and the parameters are
those of the function that writes it. A module is imported when a program of it is first needed: most runs need few of them.
"""

from collections.abc import Hashable
from enum import Enum, auto
from importlib import import_module
from operator import attrgetter
from typing import Any, NamedTuple

from infimum.expr.node import Expr
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Kernel
from infimum.problem.system import System
from infimum.support.lazy import dataclass

# of one function: its enclosures and estimates
VALUE, GRADIENT, HESSIAN, MEAN_VALUE, NODES = "value", "gradient", "hessian", "mean_value", "nodes"
CURVATURE, SEQUENTIAL, LINEAR_ENCLOSURE = "curvature", "sequential", "linear_enclosure"
ESTIMATE, ESTIMATE_GRADIENT, ESTIMATE_HESSIAN_VECTOR = "estimate", "estimate_gradient", "estimate_hessian_vector"
TERM_HESSIAN, TERM_CURVATURE = "term_hessian", "term_curvature"
# point searches
DESCENT_DENSE, DESCENT_LIMITED, PROBE = "descent_dense", "descent_limited", "probe"
SCATTER, FLIGHT, LEVENBERG, LOWEST = "scatter", "flight", "levenberg", "lowest"
# tests of regions, and what is done with regions
BOUND, BOUND_BY_PIECES, BRANCH, BRANCH_BY_PIECES = "bound", "bound_by_pieces", "branch", "branch_by_pieces"
REGION_OUTCOME, WIDE, FACES, SHAVING, CENTRE, CONTRACT = "region_outcome", "wide", "faces", "shaved", "centre", "contract"
TANGENT, AFFINE, LINEAR, PROJECTION, RESIDUALS, BANDS = "tangent", "affine", "linear", "projection", "residuals", "bands"
LOOP_TESTS, LOOP_SPLIT, TAYLOR = "loop_tests", "loop_split", "taylor"
# sweeps, chains, the complete search
CONTEXT, SWEEP, SPREAD, TERMS, REDUCED, TESTED = "context", "sweep", "spread", "terms", "reduced", "tested"
POINT_CONTEXT, SAMPLE, NEWTON = "point_context", "sample", "newton"
CELLS, STEEP_TERMS, SECOND_ORDER_BOUND, SHIFTED_BOUND = "cells", "steep_terms", "second_order_bound", "shift"
AT_POINTS, CURVES, OPTIMISTIC_BOUND = "at_points", "curves", "optimistic_bound"
BLOCK_CONTEXT, COMPLETE = "block_context", "complete"
# of a function and its constraints
ROWS, JACOBIAN, WEIGHTED_SLOPES, WEIGHTED_HESSIAN = "rows", "jacobian", "weighted_slopes", "weighted_hessian"
ESTIMATE_JACOBIAN, ESTIMATE_WEIGHTED, LINEAR_BOUNDS = "estimate_jacobian", "estimate_weighted", "linear_bounds"
PROPAGATE, SUBDOMAIN, LAGRANGIAN, GRADIENT_ROWS = "propagate", "subdomain", "lagrangian", "lines"
LINEAR_ROWS, LIFTED, COLUMNS, NEWTON_EQUATIONS = "linear_rows", "lifted", "columns", "newton_equations"
COMPLETE_SYSTEM = "complete_system"


class ProgramKind(NamedTuple):
    """A program with parameters."""

    name: str
    parameters: tuple[tuple[str, Hashable], ...] = ()

    @classmethod
    def of(cls, kind: "Kind", **parameters: Hashable) -> "ProgramKind":
        """That program with these parameters, beside those that it has."""
        name, known = cls.read(kind)
        return cls(name, (*known, *parameters.items()))

    @classmethod
    def read(cls, kind: "Kind") -> "ProgramKind":
        """A program that may be given by its name alone."""
        return cls(kind) if isinstance(kind, str) else kind


Kind = str | ProgramKind


@dataclass(slots=True)
class Program:
    """A kernel with its data. `rows` are the rows of each output array; what is given with each run lies at `at` in the
    doubles."""

    kernel: Kernel
    data: Data
    rows: tuple[int, ...]
    at: int = 0


class Subject(Enum):
    """What a program is written for."""

    FUNCTION = auto()
    SYSTEM = auto()
    COUNT = auto()    # only the number of variables
    NOTHING = auto()


class ProgramRow(NamedTuple):
    """The module and the function that write a kernel, for what, and arguments of the function that are always the same."""

    name: str
    module: str
    function: str
    subject: Subject
    fixed: dict[str, Any]

    def __call__(self, what: Expr | System, x: Expr, **parameters: Any) -> Program:
        write = attrgetter(self.function)(import_module(f"infimum.{self.module}"))
        subject = {Subject.COUNT: (x.size,), Subject.NOTHING: ()}.get(self.subject, (what, x))
        return Program(*write(self.name, *subject, **self.fixed, **parameters))


def _rows(subject: Subject, table: dict[str, tuple[Any, ...]]) -> dict[str, ProgramRow]:
    """Rows of a table that holds the module, the function, and perhaps (name, value) of arguments that never change."""
    return {name: ProgramRow(name, module, function, subject, dict(fixed)) for name, (module, function, *fixed) in table.items()}


_FIRST_ORDER, _PIECES, _SWEEP = "bounds.function_bounds.first_order_kernel", "bounds.function_bounds.piece_kernel", \
    "bounds.sweeps.sweep_kernel"
_FUNCTION, _CELLS, _HESSIAN, _SYSTEM = "kernel.function_kernels", "chains.cell_kernels", "kernel.hessian", "kernel.system_kernels"
PROGRAMS: dict[str, ProgramRow] = {
    **_rows(Subject.FUNCTION, {
        VALUE: (_FUNCTION, "value"), GRADIENT: (_FUNCTION, "gradient"), HESSIAN: (_HESSIAN, "hessian"),
        MEAN_VALUE: (_FUNCTION, "mean_value"), NODES: ("kernel.node_enclosures", "nodes"),
        CURVATURE: ("kernel.directional_curvature", "curvature"), TERM_HESSIAN: (_HESSIAN, "hessian"),
        TERM_CURVATURE: ("kernel.directional_curvature", "term_curvature"),
        ESTIMATE: (_FUNCTION, "estimate"), ESTIMATE_GRADIENT: (_FUNCTION, "estimate_gradient"),
        ESTIMATE_HESSIAN_VECTOR: (_FUNCTION, "estimate_hessian_vector"),
        DESCENT_DENSE: ("points.descent_kernel", "DenseDescent.program"),
        DESCENT_LIMITED: ("points.descent_kernel", "LimitedMemoryDescent.program"), PROBE: ("points.descent_kernel", "probe"),
        FLIGHT: ("points.swarm_kernel", "flight"),
        BOUND: (_FIRST_ORDER, "bound"), BOUND_BY_PIECES: (_FIRST_ORDER, "bound", ("by_pieces", True)),
        BRANCH: (_PIECES, "branch"), BRANCH_BY_PIECES: (_PIECES, "branch", ("by_pieces", True)),
        CONTEXT: (_SWEEP, "context"), SWEEP: (_SWEEP, "sweep"), SPREAD: ("bounds.sweeps.sweep_context_kernel", "spread"),
        TERMS: ("bounds.sweeps.refinement_kernel", "terms"), REDUCED: ("bounds.sweeps.refinement_kernel", "reduced"),
        TESTED: ("bounds.sweeps.refinement_kernel", "tested"), POINT_CONTEXT: (_SWEEP, "context", ("estimates", True)),
        SAMPLE: (_SWEEP, "sample"), NEWTON: (_SWEEP, "newton"), BLOCK_CONTEXT: (_SWEEP, "context"),
        CELLS: (_CELLS, "cells"), STEEP_TERMS: (_CELLS, "steep"), SECOND_ORDER_BOUND: (_CELLS, "second_order_bound"),
        LOWEST: ("points.quadratic_model_kernel", "lowest"), TANGENT: ("bounds.function_bounds.tangent_kernel", "tangent"),
        AFFINE: ("relax.affine_bound_kernel", "affine_bound"), LINEAR: ("relax.linear_rows_kernel", "linear"),
        LINEAR_ENCLOSURE: ("relax.backward_bound_kernel", "enclosure"), SEQUENTIAL: ("kernel.sequential_hessian", "sequential"),
        RESIDUALS: ("bounds.least_squares.gauss_newton_kernel", "residuals"),
        PROJECTION: ("bounds.least_squares.projection_kernel", "projection"), LEVENBERG: ("points.levenberg_kernel", "levenberg"),
        BANDS: ("sets.error_band_kernel", "bands"), AT_POINTS: (_CELLS, "at_points"),
        CURVES: (_CELLS, "at_points", ("curved", True)), COMPLETE: ("engines.complete_kernel", "complete")}),
    **_rows(Subject.COUNT, {
        SCATTER: ("points.swarm_kernel", "scatter"), FACES: ("kernel.start_face_kernel", "faces"),
        REGION_OUTCOME: ("kernel.region_cut", "region_outcome"), WIDE: ("kernel.region_cut", "wide"),
        SHAVING: ("bounds.shaving_kernel", "shaved"), SHIFTED_BOUND: (_CELLS, "shifted_bound"),
        CENTRE: ("bounds.newton_kernel", "centre"), CONTRACT: ("bounds.newton_kernel", "contract"),
        TAYLOR: ("bounds.function_bounds.taylor_kernel", "taylor"),
        LOOP_TESTS: ("engines.newton_loop_kernel", "tests"), LOOP_SPLIT: ("engines.newton_loop_kernel", "split")}),
    **_rows(Subject.NOTHING, {OPTIMISTIC_BOUND: (_CELLS, "optimistic_bound")}),
}
# those of a function and its constraints
OF_SYSTEM: dict[str, ProgramRow] = _rows(Subject.SYSTEM, {
    ROWS: (_SYSTEM, "values"), JACOBIAN: (_SYSTEM, "jacobian"), PROPAGATE: ("bounds.propagation_kernel", "propagate"),
    ESTIMATE_JACOBIAN: (_SYSTEM, "estimates"), LINEAR_BOUNDS: ("relax.linear_bounds_kernel", "linear_bounds"),
    COMPLETE_SYSTEM: ("engines.complete_system_kernel", "complete_system"),
    SUBDOMAIN: ("bounds.function_bounds.subdomain_kernel", "subdomain"), LAGRANGIAN: ("bounds.lagrangian_kernel", "lagrangian"),
    WEIGHTED_SLOPES: (_SYSTEM, "weighted_slopes"), ESTIMATE_WEIGHTED: (_SYSTEM, "weighted"),
    GRADIENT_ROWS: ("relax.gradient_rows_kernel", "gradient_rows"), LINEAR_ROWS: ("relax.linear_rows_kernel", "linear_rows"),
    LIFTED: ("relax.lifted_kernel", "lifted"), COLUMNS: ("relax.column_kernel", "columns"),
    NEWTON_EQUATIONS: ("bounds.newton_equations_kernel", "newton_equations"), WEIGHTED_HESSIAN: (_SYSTEM, "weighted_hessian"),
})
