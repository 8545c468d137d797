"""The options of the interval Newton loop."""

from typing import Any

from infimum.bounds.newton_kernel import SweepPlan
from infimum.errors import OptionError
from infimum.search.option_names import known_options
from infimum.support.lazy import dataclass

VARIATIONS = ("IPF", "PF", "IF", "IP", "I", "P", "F", "N")
_MOST_SWEEPS = 8  # fixed: the kernel has no loops


@dataclass(frozen=True, slots=True)
class NewtonOptions:
    """Options of `engine="newton"`.

    variation: what the loop does beside its tests, one of IPF, PF, IF, IP, I, P, F, N. I: interval Newton steps with the inverse
    of the midpoint matrix as preconditioner; P: with pivoting over all rows; F: f at the midpoint of every box; N: nothing.
    ratio: a box of which a Newton step leaves at most this part of the volume is kept whole, any other is bisected. sweeps: how
    often the equations of a step are solved, one after the other. sequential: steps use second derivatives with sequential
    arguments (Hansen). gaps: a box in which a step finds a gap of at least an eighth of a side is divided there, not bisected.
    With constraints there is only sweeps.
    """

    variation: str = "IPF"
    ratio: float = 0.6
    sweeps: int = 1
    sequential: bool = False
    gaps: bool = False

    @classmethod
    def read(cls, given: dict[str, Any] | None) -> "NewtonOptions":
        """Options from a dictionary, each checked."""
        options = cls(**known_options(cls, given))
        if options.variation not in VARIATIONS:
            raise OptionError(f"option 'variation' must be one of {', '.join(map(repr, VARIATIONS))}, not {options.variation!r}")
        if isinstance(options.ratio, bool) or not isinstance(options.ratio, (int, float)) or not 0 <= options.ratio < 1:
            raise OptionError(f"option 'ratio' must be a number from 0 to less than 1, not {options.ratio!r}")
        if isinstance(options.sweeps, bool) or not isinstance(options.sweeps, int) or not 1 <= options.sweeps <= _MOST_SWEEPS:
            raise OptionError(f"option 'sweeps' must be a whole number from 1 to {_MOST_SWEEPS}, not {options.sweeps!r}")
        for name in ("sequential", "gaps"):
            if not isinstance(getattr(options, name), bool):
                raise OptionError(f"option {name!r} must be True or False, not {getattr(options, name)!r}")
        return options

    @property
    def samples(self) -> bool:
        """Is f looked at in the middle of boxes?"""
        return "F" in self.variation

    @property
    def recipe(self) -> SweepPlan:
        """Of its Newton steps."""
        pivots, inverse = (self.sweeps * (letter in self.variation) for letter in "PI")
        solves = bool(pivots or inverse)
        return SweepPlan(pivots, inverse, int(self.sequential and solves), int(self.gaps and solves))
