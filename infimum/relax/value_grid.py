"""Values that f can have: where it is a sum of whole numbers times coefficients that are about multiples of one number, every
value of f is about a multiple of that number, and a lower bound rises to the next one.

Proof: docs/proofs/linear_programs.md.
"""

from fractions import Fraction
from functools import cached_property
from math import ceil, gcd, lcm

import numpy as np

from infimum.relax.relaxation import Relaxation
from infimum.search.policy.bounds import VALUE_GRID as POLICY
from infimum.support.given_numbers import round_down
from infimum.support.lazy import dataclass

_ROUNDING = 2.0**-40  # fixed: relatively more than a few roundings are off by


@dataclass(frozen=True)
class ValueGrid:
    """All values of f at points of a box at which whole variables are whole lie within `off` of first + k step, k whole."""

    first: Fraction
    step: Fraction
    off: Fraction

    @classmethod
    def of(cls, relaxation: Relaxation, lo: np.ndarray, hi: np.ndarray) -> "ValueGrid | None":
        """For the box [lo, hi]; None if f has no such values there, or none that would say much."""
        form, whole = relaxation.f, _whole_columns(relaxation)
        if not form.terms or not all(whole[k] for k, _ in form.terms) or not np.isfinite([lo, hi]).all():
            return None
        more = relaxation.columns - relaxation.n
        low, high = relaxation.enclosed(np.append(lo, np.full(more, -np.inf)), np.append(hi, np.full(more, np.inf)))
        if not np.isfinite([(low[k], high[k]) for k, _ in form.terms]).all():
            return None
        near = [c[0].limit_denominator(POLICY.largest_denominator) for _, c in form.terms]
        if not all(near):
            return None
        together = lcm(*(q.denominator for q in near))
        step = Fraction(gcd(*(int(q * together) for q in near)), together)
        off = (form.constant[1] - form.constant[0]) + sum(
            max(abs(c[0] - q), abs(c[1] - q)) * Fraction(max(abs(low[k]), abs(high[k])))
            for (k, c), q in zip(form.terms, near, strict=True))
        return cls(form.constant[0], step, off) if off * POLICY.least_ratio <= step else None

    def raised(self, lower: float) -> float:
        """A lower bound of f that follows from this one."""
        if not np.isfinite(lower):
            return lower
        first, step, off = self._about
        near = (lower - first - off) / step
        wrong = _ROUNDING * (abs(near) + (abs(lower) + abs(first) + off) / step)  # by no more than that
        number = ceil(near) if np.isfinite(wrong) else 0
        if not near - (number - 1) > wrong:
            number = ceil((Fraction(lower) - self.first - self.off) / self.step)
        if number not in self._values:
            self._values[number] = round_down(self.first + number * self.step - self.off)
        return max(lower, self._values[number])

    @cached_property
    def _about(self) -> tuple[float, float, float]:
        return float(self.first), float(self.step), float(self.off)

    @cached_property
    def _values(self) -> dict[int, float]:
        """Lower bounds that were computed."""
        return {}

    def below(self, upper: float) -> float:
        """Values that are lower than this one by more than rounding are no more than this, about. An estimate."""
        return upper - float(self.step) / 2


def _whole_columns(relaxation: Relaxation) -> list[bool]:
    """Which columns are whole where the whole variables are."""
    found: list[bool] = []
    own = set(relaxation.whole.tolist())
    for k, column in enumerate(relaxation.lift.columns):
        if k < relaxation.n:
            found.append(k in own)
        elif column.factors is not None:
            found.append(all(found[j] for j in column.factors))
        else:
            power = column.curve is not None and column.curve[0] == "powi" and dict(column.curve[1])["k"] > 0
            found.append(power and found[column.argument])
    return found
