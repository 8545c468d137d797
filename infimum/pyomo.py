"""infimum as a solver of Pyomo, with limits, bounds and termination conditions in Pyomo's own terms: `import infimum.pyomo`.

    import pyomo.environ as pyo
    import infimum.pyomo

    results = pyo.SolverFactory("infimum").solve(model, timelimit=60, tee=True)
    results.problem.lower_bound, results.problem.upper_bound, results.problem.gap

Without this import Pyomo finds the program on the path and takes it for any other solver of AMPL models: it kills it when
`timelimit` is over, and knows no bounds. Nothing else of infimum imports Pyomo.
"""

import logging
import re
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path
from typing import Any

import pyomo.environ  # noqa: F401 (solvers and writers are registered)
from pyomo.common.tee import TeeStream
from pyomo.core import Objective
from pyomo.opt import ProblemSense, SolverFactory, SolverResults, SolverStatus, TerminationCondition
from pyomo.solvers.plugins.solvers.ASL import ASL

import infimum
from infimum.ampl.solution import read_summary

_PATIENCE = 5.0  # seconds for which a run may write what it has after Ctrl-C
_START = "import sys; sys.path.append({!r}); from infimum.cli.main import main; sys.exit(main())"
_LIMIT, _WITHOUT_POINT = 400, 70  # the codes of limits, and what is added to them where there is no feasible point
_logger = logging.getLogger("pyomo.solvers")

# AMPL's solve_result_num, or its hundred -> how Pyomo calls it
_CONDITIONS = {
    0: TerminationCondition.optimal, 100: TerminationCondition.feasible, 200: TerminationCondition.infeasible,
    300: TerminationCondition.unbounded, 401: TerminationCondition.userInterrupt, 402: TerminationCondition.maxTimeLimit,
    403: TerminationCondition.maxIterations, 404: TerminationCondition.maxEvaluations,
    410: TerminationCondition.resourceInterrupt, 400: TerminationCondition.other, 500: TerminationCondition.error,
}


@SolverFactory.register("infimum", doc="infimum: global optima of nonlinear models, with proof")
class Infimum(ASL):
    """The solver. It runs the infimum that was imported, in a process of its own; `executable=` names another one.

    `timelimit=` of `solve` is the time limit of the search: what is proved by then is the result. Messages speak of variables and
    constraints by their names, unless `symbolic_solver_labels=False`. Ctrl-C ends the run and loads what it has.
    """

    def __init__(self, **settings: Any):
        super().__init__(**{"type": "infimum", **settings})

    def _default_executable(self) -> str:
        return sys.executable

    def _get_version(self) -> tuple[int, ...] | None:
        if self._user_executable is not None:
            return super()._get_version()
        return (*map(int, re.findall(r"\d+", infimum.__version__)[:3]), 0)

    def _presolve(self, *args: Any, **settings: Any) -> None:
        objectives = getattr(args[0], "component_data_objects", lambda *_, **__: ())(Objective, active=True)
        senses = {aim.sense for aim in objectives}
        self._sense = senses.pop() if len(senses) == 1 else ProblemSense.unknown
        limit = settings.pop("timelimit", None)
        if limit is not None:
            self.options["time_limit"] = limit
        super()._presolve(*args, **{"symbolic_solver_labels": True, **settings})

    def create_command_line(self, executable: str, problem_files: Any) -> Any:
        """The command, its environment and its log file."""
        self.options.solver = "infimum"  # what files are named after
        command = super().create_command_line(executable, problem_files)
        if self._user_executable is None:
            home = str(Path(infimum.__file__).parent.parent)
            command.cmd[:1] = [sys.executable, "-P", "-c", _START.format(home)]
        return command

    def _execute_command(self, command: Any) -> list:
        """Runs it. Pyomo itself would kill it when it hears Ctrl-C, and with it what is proved."""
        began, log = time.time(), StringIO()
        with TeeStream(log, *([sys.stdout] if self._tee else [])) as streams:
            with subprocess.Popen(command.cmd, env=command.env, stdout=streams.STDOUT, stderr=streams.STDERR,
                                  stdin=subprocess.DEVNULL) as process:
                code = _waited(process)
        self._last_solve_time = time.time() - began
        return [code, log.getvalue()]

    def process_output(self, rc: int | None) -> SolverResults:
        """What Pyomo reads from the .sol file, and what it leaves out."""
        results = super().process_output(rc)
        told, solver, problem = read_summary(Path(self._soln_file)), results.solver, results.problem
        has_point = bool(problem.number_of_variables)
        solver.termination_condition, solver.status = _ended(told.code, has_point)
        solver.name, solver.wallclock_time = self.name, self._last_solve_time
        problem.number_of_variables, problem.number_of_constraints = told.variables, told.constraints
        problem.sense, problem.gap = self._sense, told.suffixes.get("absmipgap")  # None if nothing is minimised
        if told.suffixes:
            problem.lower_bound, problem.upper_bound = sorted((told.suffixes["bestbound"], told.suffixes["bestvalue"]))
        if not has_point:
            results.solution.clear()
        if solver.status is SolverStatus.error:
            _logger.error("%s", solver.message)  # the ValueError that Pyomo raises does not hold it
        return results


def _ended(code: int, has_point: bool) -> tuple[TerminationCondition, SolverStatus]:
    """How Pyomo calls the end of a run."""
    hundred = code // 100 * 100
    condition = _CONDITIONS.get(code - _WITHOUT_POINT if hundred == _LIMIT and not has_point else code, _CONDITIONS[hundred])
    if condition is TerminationCondition.other and not has_point:
        condition = TerminationCondition.noSolution
    status = TerminationCondition.to_solver_status(condition)
    return condition, SolverStatus.warning if status is SolverStatus.ok and not has_point else status


def _waited(process: subprocess.Popen) -> int:
    """The exit code. After Ctrl-C, which reaches the process too, or else SIGTERM, it writes what it has; a second Ctrl-C
    ends it at once."""
    try:
        return process.wait()
    except KeyboardInterrupt:
        try:
            return process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.terminate()
            return process.wait()
        except KeyboardInterrupt:
            process.kill()
            raise
