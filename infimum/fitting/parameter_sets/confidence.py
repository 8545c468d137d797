"""The confidence set of a fit by least squares: all parameters whose sum of squares is below a threshold.

Proof: docs/proofs/sublevel_sets.md.
"""

from fractions import Fraction
from itertools import pairwise
from typing import Any

from infimum.errors import OptionError
from infimum.evaluation.compile import compile
from infimum.expr.real import round_down, round_up
from infimum.fitting.parameter_sets.quantiles import chi_square, f_ratio
from infimum.fitting.pinning.pinned_data import PinnedData
from infimum.fitting.problem import FitProblem
from infimum.fitting.sets import ParameterSet, found_by
from infimum.problem.problem import Interval
from infimum.problem.text import counted
from infimum.sets.paving import SublevelJudge
from infimum.sets.set_run import run
from infimum.sets.sublevel_search import Accuracy, SmallerSet, SublevelSearch
from infimum.support import environment
from infimum.support.lazy import dataclass

PAVED = 3  # parameters up to which a set is paved without being asked


@environment.all_ours
@dataclass(frozen=True, eq=False, repr=False)
class Confidence(ParameterSet):
    """All parameters within the bounds whose sum of squares is at most the `threshold`, for the confidence `level`. Bounds that
    are no doubles are rounded outward.

    The threshold is an enclosure, as the least sum of squares is: inner boxes and points lie below its lower end, what is left
    out lies above its upper end.
    """

    level: float
    joint: bool
    threshold: Interval

    @property
    def title(self) -> str:
        """What set it is."""
        kind = "all parameters together" if self.joint else "each parameter alone"
        return f"{100 * self.level:.6g} % confidence, for {kind}"


def quantile_of(level: float, asked: int, data: int, parameters: int, absolute_sigma: bool) -> Interval:
    """By how much a sum of squares may exceed the least one, where `asked` parameters are asked about: the quantile of chi-square
    where sigma is known, otherwise that of F, to be multiplied by the mean square."""
    if isinstance(level, bool) or not isinstance(level, (int, float)) or not 0 < level < 1:
        raise OptionError(f"level must be a probability between 0 and 1, such as 0.95, not {level!r}")
    if absolute_sigma:
        return chi_square(float(level), asked)
    if data <= parameters:
        raise OptionError(f"{counted(data, 'measurement')} and {counted(parameters, 'parameter')} leave nothing to estimate "
                          "sigma from: give sigma= with absolute_sigma=True, measure more, or hold some parameters with fixed=")
    return f_ratio(float(level), asked, data - parameters)


def threshold_of(least: Interval, level: float, data: int, parameters: int, joint: bool, absolute_sigma: bool) -> Interval:
    """The sum of squares below which the set lies: SSE (1 + p/(N-n) F_{p,N-n}), where p is n, or 1 for one parameter alone; where
    sigma is known, SSE + chi-square of p degrees of freedom."""
    asked = parameters if joint else 1
    quantile = quantile_of(level, asked, data, parameters, absolute_sigma)
    pairs = (least.lo, quantile.lo), (least.hi, quantile.hi)
    if absolute_sigma:
        ends = [Fraction(s) + Fraction(q) for s, q in pairs]
    else:
        ends = [Fraction(s) * (1 + Fraction(asked, data - parameters) * Fraction(q)) for s, q in pairs]
    return Interval(round_down(ends[0]), round_up(ends[1]))


def confidence(problem: FitProblem, x: Any, threshold: Interval, level: float, joint: bool, volume_rtol: float | None,
               profile_rtol: float | None, principal: bool, limits: dict[str, Any]) -> Confidence:
    """The set, searched from the best point x. Where measurements are pinned, it is as thin as their standard deviations, and is
    covered alone: by the set of a relaxed sum of squares, which holds it."""
    parameters = problem.parameters
    n = len(parameters.lo)
    # compared when it was fitted
    loss, pinned = compile(problem.objective(), n, check=False), PinnedData.of(problem, problem.rows())
    if pinned is not None:
        volume_rtol = profile_rtol = None
    accuracy = Accuracy(None if volume_rtol is None else 1.0 + volume_rtol, None if profile_rtol is None else 1.0 + profile_rtol,
                        principal)
    thresholds = threshold.lo, threshold.hi
    search = SublevelSearch(loss if pinned is None else compile(pinned.relaxed(), n, check=False), parameters.bounds.region,
                            thresholds, x[:, None], accuracy, None if pinned is None
                            else SmallerSet(SublevelJudge(loss, *thresholds)),
                            tuple((a[0], b[0]) for a, b in pairwise(problem.groups or [])))
    stopped = run(search, **limits)
    return Confidence(**found_by(search, parameters.free_names, stopped), level=float(level), joint=joint, threshold=threshold)
