"""Linear programs by HiGHS, the only place that knows it. What it returns is an estimate: nothing of it is believed.

It runs in one thread, without presolving, by a simplex method, with fixed seeds and no clock: the same sequence of calls of one
build gives the same bits.

Proof: docs/proofs/linear_programs.md.
"""

import importlib
from collections.abc import Iterator
from functools import cache, cached_property
from importlib.util import find_spec
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from infimum.errors import SolverError

# programs are scaled before, small, and begin near their end: pricing without weights that would have to be computed at first
_OPTIONS = {"output_flag": False, "threads": 1, "parallel": "off", "random_seed": 0, "presolve": "off", "solver": "simplex",
            "simplex_dual_edge_weight_strategy": 1, "simplex_scale_strategy": 0, "dual_simplex_cost_perturbation_multiplier": 0.0}
_INTEGER_OPTIONS = {"output_flag": False, "threads": 1, "parallel": "off", "random_seed": 0}
_DUAL, _PRIMAL = 1, 4  # simplex strategies
SOLVED, NO_POINT, ABOVE, LIMITED, FAILED = "solved", "no point", "above", "iterations", "failed"
_MEANING = {"kOptimal": SOLVED, "kInfeasible": NO_POINT, "kObjectiveBound": ABOVE, "kIterationLimit": LIMITED}


class Matrix(NamedTuple):
    """Of a linear program, row by row: where each row begins, and the column and value of each entry."""

    begin: np.ndarray
    column: np.ndarray
    value: np.ndarray


class LinearProgramSolution(NamedTuple):
    """How it ended; multipliers of the rows, a ray of them where there is no point; the solution, if there is one; its cost."""

    status: str
    multipliers: np.ndarray | None
    point: np.ndarray | None
    iterations: int
    cost: float = 0.0


class Basis:
    """As HiGHS has it, and of how many columns and rows together."""

    def __init__(self, own: Any, size: int):
        self.own, self.size = own, size

    @cached_property
    def numbers(self) -> np.ndarray:
        """Columns first."""
        return np.array([int(status) for status in (*self.own.col_status, *self.own.row_status)], np.int8)


def numbers(basis: Basis | np.ndarray | None) -> np.ndarray | None:
    """What can be kept of a basis."""
    return basis.numbers if isinstance(basis, Basis) else basis


@cache
def _library() -> ModuleType:
    try:
        library = importlib.import_module("highspy")
        if not hasattr(library.Highs, "getDualRay"):
            raise ImportError(f"version {library.Highs().version()} is older than 1.10")
        return library
    except ImportError as error:
        reason = str(error).strip().split("\n")[0]
        raise SolverError(f'options={{"lp": True}} needs HiGHS, and importing highspy fails ({reason}): pip install highspy; '
                          'without "lp" proofs go on by bounds of infimum itself') from error


def is_available() -> bool:
    """Can it be used? It is imported where it seems to be there."""
    try:
        return find_spec("highspy") is not None and bool(_library())
    except (SolverError, ValueError):  # ValueError: a module that was made by hand
        return False


def version() -> str:
    """Of HiGHS, and of the source it was built from."""
    known = _library().Highs()
    return f"HiGHS {known.version()} ({known.githash()})"


class Highs:
    """Min cost·z subject to lower <= matrix z <= upper and 0 <= z <= 1."""

    def __init__(self):
        self.library, self.set = _library(), {}
        self.highs = self.library.Highs()
        self.meaning = {getattr(self.library.HighsModelStatus, name): found for name, found in _MEANING.items()}
        for name, value in _OPTIONS.items():
            self.highs.setOptionValue(name, value)

    def load(self, cost: np.ndarray, matrix: Matrix, lower: np.ndarray, upper: np.ndarray) -> bool:
        """False if the library refuses it."""
        n, begin = len(cost), matrix.begin
        found = self.highs.passModel(n, len(lower), len(matrix.value), int(self.library.MatrixFormat.kRowwise),
                                     int(self.library.ObjSense.kMinimize), 0.0, cost, np.zeros(n), np.ones(n), lower, upper,
                                     begin, matrix.column, matrix.value, np.zeros(n, np.int32))  # continuous
        return found != self.library.HighsStatus.kError

    def _option(self, name: str, value: int | float) -> None:
        if self.set.get(name) != value:
            self.highs.setOptionValue(name, value)
            self.set[name] = value

    def start_from(self, basis: "Basis | np.ndarray | None", columns: int) -> None:
        """A basis of an earlier program, or its `numbers`; with more rows, those are in it."""
        if basis is None:
            return
        size = columns + self.highs.getNumRow()
        same = isinstance(basis, Basis) and basis.size == size
        self.highs.setBasis(basis.own if same else self._of_numbers(numbers(basis), columns, size))

    def _of_numbers(self, known: np.ndarray, columns: int, size: int) -> Any:
        given, kinds = self.library.HighsBasis(), self._kinds
        status = [kinds[k] for k in known.tolist()] + [self.library.HighsBasisStatus.kBasic] * (size - len(known))
        given.col_status, given.row_status = status[:columns], status[columns:size]
        given.valid, given.alien = True, len(known) != size
        return given

    def basis(self) -> Basis:
        """Of the last program."""
        return Basis(self.highs.getBasis(), self.highs.getNumCol() + self.highs.getNumRow())

    def whole_solution(self, program: Any, whole: np.ndarray, nodes: int, seconds: float) -> np.ndarray | None:
        """The best point that branch and bound finds in this number of nodes for a program with low <= z <= high, in which these
        columns are whole. It may never come back, whatever the time, where numbers are huge: the caller refuses those."""
        rows, count, n = program.rows, len(program.rows.lower), len(program.low)
        order = np.argsort(rows.row, kind="stable")
        order = order[rows.low[order] != 0.0]
        begin = np.append(0, np.cumsum(np.bincount(rows.row[order], minlength=count))).astype(np.int32)
        own = self.library.Highs()
        for name, value in {**_INTEGER_OPTIONS, "mip_max_nodes": nodes, "time_limit": min(seconds, 1e9)}.items():
            own.setOptionValue(name, value)
        own.passModel(n, count, len(order), int(self.library.MatrixFormat.kRowwise), int(self.library.ObjSense.kMinimize), 0.0,
                      program.cost.low, program.low, program.high, rows.lower, rows.upper, begin,
                      rows.column[order].astype(np.int32), rows.low[order], whole.astype(np.int32))
        own.run()
        found = np.array(own.getSolution().col_value, float)
        return found if own.getInfo().primal_solution_status == 2 and found.shape == (n,) else None

    def tableau_rows(self, columns: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """For each of these columns that is basic the weights of all rows whose sum has it with factor 1, and no other basic
        column or basic row."""
        _, basic = self.highs.getBasicVariables()
        places = {int(column): k for k, column in enumerate(basic)}
        for j in columns.tolist():
            if j in places:
                _, weights = self.highs.getBasisInverseRow(places[j])
                yield j, np.array(weights, float)

    @cached_property
    def _kinds(self) -> dict[int, Any]:
        kinds = self.library.HighsBasisStatus
        return {int(kind): kind for kind in (kinds.kLower, kinds.kBasic, kinds.kUpper, kinds.kZero, kinds.kNonbasic)}

    def change_cost(self, cost: np.ndarray) -> None:
        self.highs.changeColsCost(len(cost), np.arange(len(cost), dtype=np.int32), cost)

    def cost_within(self, column: int, low: float, high: float, iterations: int) -> tuple[float, int]:
        """About the least cost where the column lies between these, infinite where nothing does, and the iterations it took.
        The program, which was solved, stays as it is, and so does the basis."""
        basis = self.highs.getBasis()
        self.highs.changeColBounds(column, low, high)
        status = self._run(iterations, _DUAL)
        info = self.highs.getInfo()
        cost = {NO_POINT: np.inf, FAILED: np.nan}.get(status, float(info.objective_function_value))
        self.highs.changeColBounds(column, 0.0, 1.0)
        self.highs.setBasis(basis)
        return cost, int(info.simplex_iteration_count)

    def _run(self, iterations: int, strategy: int, enough: float = np.inf) -> str:
        self._option("simplex_strategy", strategy)
        self._option("simplex_iteration_limit", int(iterations))
        self._option("objective_bound", float(enough))
        self.highs.run()
        return self.meaning.get(self.highs.getModelStatus(), FAILED)

    def solve(self, iterations: int, primal: bool = False, enough: float = np.inf) -> LinearProgramSolution:
        """In at most the given number of iterations; `primal` where the last solution is still one, as after another cost. It may
        end where the cost is known to be above `enough`."""
        status = self._run(iterations, _PRIMAL if primal else _DUAL, enough)
        info = self.highs.getInfo()
        done = int(info.simplex_iteration_count)
        if status == FAILED:
            return LinearProgramSolution(FAILED, None, None, done)
        if status == NO_POINT:
            _, there, ray = self.highs.getDualRay()
            return LinearProgramSolution(NO_POINT, -np.array(ray, float), None,
                                         done) if there else LinearProgramSolution(FAILED, None, None, done)
        found = self.highs.getSolution()
        return LinearProgramSolution(status, -np.array(found.row_dual, float), np.array(found.col_value, float), done,
                                     float(info.objective_function_value))
