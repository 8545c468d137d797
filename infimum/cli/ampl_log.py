"""What a modelling system shows of a run that has not ended: plain lines on stdout, less often the longer it takes."""

from pathlib import Path

import numpy as np

import infimum
from infimum.ampl.model import Model
from infimum.problem.text import counted
from infimum.search.callbacks import Snapshot

# seconds before the first line; the factor to the next, and the least seconds between two
_FIRST_LINE_SECONDS, _PERIOD_GROWTH, _LEAST_PERIOD = 1.0, 1.5, 1.0


class Log:
    """Lines about a run, if they are wanted; as a callback of the run it keeps the last that was seen of it. A reader who has
    gone ends the lines, and not the run."""

    def __init__(self, wanted: bool):
        self._wanted, self._next, self._header, self.last = wanted, _FIRST_LINE_SECONDS, False, None

    def banner(self, path: Path, model: Model, number: int) -> None:
        whole = int(model.integrality.sum())
        integers = f" ({counted(whole, 'whole number')})" if whole else ""
        self.line(f"infimum {infimum.__version__}: {path.name}, {counted(model.n, 'variable')}{integers}, "
                  f"{counted(model.m, 'constraint')}; {_aim(model, number)}")

    def __call__(self, snapshot: Snapshot) -> None:
        self.last: Snapshot | None = snapshot
        if snapshot.seconds < self._next:
            return
        self._next = max(_PERIOD_GROWTH * snapshot.seconds, snapshot.seconds + _LEAST_PERIOD)
        if not self._header:
            self.line(f"{'seconds':>9}  {'lower bound':>18}  {'upper bound':>18}  {'gap':>9}  {'evaluations':>15}")
            self._header = True
        low, high = (f"{end:.12g}" if np.isfinite(end) else "none" for end in (snapshot.lower, snapshot.upper))
        gap = snapshot.upper - snapshot.lower
        self.line(f"{snapshot.seconds:>9.1f}  {low:>18}  {high:>18}  {f'{gap:.3g}' if np.isfinite(gap) else 'none':>9}  "
                  f"{snapshot.nfev:>15,}")

    def line(self, text: str) -> None:
        if not self._wanted:
            return
        try:
            print(text, flush=True)
        except (OSError, ValueError):  # the pipe is broken, or stdout is closed
            self._wanted = False


def _aim(model: Model, number: int) -> str:
    objective, names = model.objective(number), model.called.objectives
    if objective is None:
        return "looks for a feasible point"
    which = model.called.objective(number - 1) if names is not None else "" if len(model.objectives) == 1 else \
        f"objective {number} of {len(model.objectives)}"
    return f"{'maximises' if objective.maximise else 'minimises'} {which or 'the objective'}"
