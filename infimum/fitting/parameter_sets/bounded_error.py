"""Fits with bounded errors: all parameters for which the model meets every measurement to within its error bound.

Proof: docs/proofs/sublevel_sets.md.
"""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from infimum.api.keyword_errors import refuse
from infimum.errors import DataError, OptionError
from infimum.evaluation.compile import compile
from infimum.fitting.data import Data
from infimum.fitting.losses import LOSSES
from infimum.fitting.parameter_sets.confidence import PAVED
from infimum.fitting.problem import FitProblem
from infimum.fitting.sets import ParameterSet, found_by
from infimum.sets.bounded_errors import ErrorBandJudge, ErrorBandTest
from infimum.sets.covering import CoveringTests
from infimum.sets.set_run import run
from infimum.sets.sublevel_search import Accuracy, SmallerSet, SublevelSearch
from infimum.support import environment
from infimum.support.given_numbers import check_limits
from infimum.support.lazy import dataclass
from infimum.trace.agreement import Agreement, SampleBox

_VOLUME_SHARE = 0.05  # of the volume, by default


@environment.all_ours
@dataclass(frozen=True, eq=False, repr=False)
class BoundedError(ParameterSet):
    """All parameters within the bounds for which |model(x) - y| is at most the error bound at every measurement. Bounds that are
    no doubles are rounded outward.

    `feasible` is False if there are none, proved: then model, data or error bounds are wrong.
    """

    @property
    def title(self) -> str:
        """What set it is."""
        return "all measurements met within their error bounds"


def read_errors(x: Any, y: Any, errors: Any, sigma: Any, loss: str) -> Data:
    """The data with their error bounds, a number or one for each measurement, in the place of sigma."""
    if sigma is not None or loss != "squares":
        given = "sigma" if sigma is not None else "loss"
        raise OptionError(f"bounded_error says how far each measurement may be off, and {given} has no meaning beside it: leave "
                          "one of them out")
    try:
        return Data.read(x, y, errors)
    except DataError as error:
        raise DataError(str(error).replace("standard deviation", "error bound").replace("sigma", "bounded_error")) from None


def bounded_error(problem: FitProblem, volume_rtol: Any = "auto", principal: bool = True, time_limit: float | None = None,
                  max_boxes: float | None = 5_000_000, progress: bool | None = None, check: bool = True,
                  **unknown: Any) -> BoundedError:
    """The set, for a problem whose sigma are the error bounds."""
    refuse(unknown, bounded_error)
    check_limits(time_limit, max_boxes)
    parameters = problem.parameters
    (lo, hi), n = parameters.bounds.region, len(parameters.lo)
    evaluator = compile(problem.objective(), n, check=False)
    if check:
        Agreement(evaluator.functions).over(SampleBox.of(parameters.bounds))
    start = np.empty((n, 0)) if parameters.start is None else parameters.start[:, None]
    ratio = 1.0 + _VOLUME_SHARE if volume_rtol == "auto" and n <= PAVED else None if volume_rtol in ("auto",
                                                                                                     None) else 1.0 + volume_rtol
    accuracy, ordered = Accuracy(ratio, None, principal), tuple((a[0], b[0]) for a, b in pairwise(problem.groups or []))
    if ErrorBandTest.applies(evaluator):  # where each is at most 1, so is the sum of their squares at most their number
        tests = CoveringTests(evaluator, lo, hi, more=(ErrorBandTest(evaluator, lo, hi),))
        most = float(problem.data.size)
        smaller = SmallerSet(ErrorBandJudge(evaluator), tests)
        search = SublevelSearch(evaluator, (lo, hi), (most, most), start, accuracy, smaller, ordered)
    else:
        largest = compile(replace(problem, loss=LOSSES["maximum"]).objective(), n, check=False)
        search = SublevelSearch(largest, (lo, hi), (1.0, 1.0), start, accuracy, ordered=ordered)
    stopped = run(search, time_limit=time_limit, max_boxes=max_boxes, progress=progress)
    return BoundedError(**found_by(search, parameters.free_names, stopped))

