"""Forward-backward propagation of the function and its constraints (`lower/propagate.py`).

**Discards** a region on which a constraint is certainly violated, or the function or a constraint is defined nowhere; and one in
which no point obeys the constraints, the variables' integrality and f <= upper together: with an upper bound that counts as f
above it, without one as proved away. **Reduces** a region to a box around these points. **Raises** the lower bound to that of the
natural enclosure. **Costs** an enclosure of the function and all constraints, forward and backward, in each of its rounds.
"""

from typing import Any

import numpy as np

from infimum.engine.parts.part import CuttingPart, Outcome
from infimum.evaluate import Evaluator
from infimum.lower.branch import GONE, rows
from infimum.lower.programs import PROPAGATE

ROUNDS = 3           # of each test
_WHOLE = 0.0, 0.0, 1.0
_NEWS = 15 / 16      # a side that is cut to less than this part of it
_AT_ONCE = 8         # rounds between two looks at the widths


def _parameters(lo: np.ndarray, hi: np.ndarray, piece: tuple[float, float, float], narrow: float, upper: float) -> np.ndarray:
    return np.concatenate([lo, hi, np.arange(len(lo), dtype=float), piece, [narrow, upper]])


class Propagation(CuttingPart):
    """The test that cuts where there are constraints."""

    name, discards = "propagation", "constraints"

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        return evaluator.system is not None

    def cut(self, parents: Any, pieces: int) -> list[Outcome]:
        return [self._rounds(parents, (float(k), k / pieces, (k + 1) / pieces)) for k in range(pieces)]

    def _rounds(self, parents: Any, piece: tuple[float, float, float]) -> Outcome:
        """The first round cuts the piece out."""
        given = _parameters(self.lo, self.hi, piece, self.narrow, self.upper)
        regions, = self.evaluator.run(PROPAGATE, [parents], parameters=given)
        if ROUNDS > 1:
            given = _parameters(self.lo, self.hi, _WHOLE, self.narrow, self.upper)
            regions, = self.evaluator.run(PROPAGATE, [regions], parameters=given, times=ROUNDS - 1)
        return Outcome(regions, ROUNDS * parents.shape[1])


def propagate(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, upper: float = np.inf,
              rounds: int | None = None) -> tuple[np.ndarray, np.ndarray] | None:
    """What is left of the box [lo, hi] for points that obey the constraints and f <= upper; None if there are none.

    Rounds go on while they still cut a side to a smaller part of it, up to `rounds` of them (by default four for each variable,
    and some more: in a chain of equations each round tells one more variable).
    """
    n = len(lo)
    regions = np.concatenate([lo, hi, [-np.inf, 0.0, 0.0]])[:, None]
    given, most = _parameters(lo, hi, _WHOLE, 0.0, upper), 4 * n + 64 if rounds is None else rounds
    done, at_once = 0, _AT_ONCE
    while done < most:
        times, before = min(at_once, most - done), regions[:2 * n, 0].copy()
        regions, = evaluator.run(PROPAGATE, [regions], parameters=given, times=times)
        done, at_once = done + times, 2 * at_once
        low_row, axis_row, _ = rows(n)
        if regions[axis_row, 0] == GONE or regions[low_row, 0] > upper:
            return None
        if not _is_news(before[n:] - before[:n], regions[n:2 * n, 0] - regions[:n, 0]):
            break
    return regions[:n, 0].copy(), regions[n:2 * n, 0].copy()


def _is_news(before: np.ndarray, after: np.ndarray) -> bool:
    """Was a side cut to a smaller part of it?"""
    return bool(((after < _NEWS * before) | (np.isinf(before) & np.isfinite(after))).any())
