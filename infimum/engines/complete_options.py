"""How the complete search cuts and samples: its options, and the ends of pieces."""

from typing import Any

import numpy as np

from infimum.errors import OptionError
from infimum.search.option_names import known_options
from infimum.support.lazy import dataclass

_MOST_PIECES = 256  # fixed: the kernel holds the ends of all pieces
_GOLDEN = 0.3819660112501051  # fixed: the lesser part of the golden section


@dataclass(frozen=True, slots=True)
class CompleteOptions:
    """Options of `engine="complete"`.

    partition: how many variables are cut per iteration, and into how many pieces each (a power of two). cuts: "uniform"; "log",
    in equal ratios where both ends have the same sign; or "golden", each part again by the golden ratio. samples: where each
    subregion is sampled: "diagonal" (`points` points on its diagonal), "centre" (one point) or "latin" (a Latin hypercube of
    `points` points). points: the number of samples per subregion. iterations: the largest number of iterations; None: no limit.
    """

    partition: tuple[int, int] = (10, 4)
    cuts: str = "uniform"
    samples: str = "diagonal"
    points: int = 10
    iterations: int | None = None

    @classmethod
    def read(cls, given: dict[str, Any] | None) -> "CompleteOptions":
        """Options from a dictionary, each checked."""
        given = known_options(cls, given)
        options = cls(**given)
        for name, value, choice in (("cuts", options.cuts, ENDS), ("samples", options.samples, ("diagonal", "centre", "latin"))):
            if value not in choice:
                raise OptionError(f"option {name!r} must be one of {', '.join(map(repr, choice))}, not {value!r}")
        m, p = options.partition if isinstance(options.partition, (tuple, list)) and len(options.partition) == 2 else (0, 0)
        if not (_whole(m) and _whole(p) and 1 <= m <= 30 and 2 <= p <= _MOST_PIECES and p & (p - 1) == 0 and p**m <= 2**30):
            raise OptionError(f"option 'partition' must be a pair (variables, pieces) with 2, 4, 8, … or {_MOST_PIECES} pieces "
                              f"and at most 2**30 subregions, not {options.partition!r}")
        for name in ("points", "iterations"):
            value = getattr(options, name)
            if value is not None and not (_whole(value) and 1 <= value <= (1000 if name == "points" else 2**31)):
                raise OptionError(f"option {name!r} must be a whole number from 1 on, not {value!r}")
        return options


def _whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


# ---- cuts: the ends of p pieces of [lo, hi], the first and the last the ends themselves, bit for bit
def _uniform(lo: float, hi: float, p: int) -> list[float]:
    return [lo, *(min(max(lo + (hi - lo) * (k / p), lo), hi) for k in range(1, p)), hi]


def _log(lo: float, hi: float, p: int) -> list[float]:
    """By geometric means: a square root is the same on every machine."""
    if p == 1 or not (lo > 0 or hi < 0):
        return _uniform(lo, hi, p)
    middle = float(np.sqrt(abs(lo)) * np.sqrt(abs(hi))) * (1.0 if lo > 0 else -1.0)
    middle = min(max(middle, lo), hi)
    return _log(lo, middle, p // 2)[:-1] + _log(middle, hi, p // 2)


def _golden(lo: float, hi: float, p: int) -> list[float]:
    if p == 1:
        return [lo, hi]
    middle = min(max(lo + (hi - lo) * _GOLDEN, lo), hi)
    return _golden(lo, middle, p // 2)[:-1] + _golden(middle, hi, p // 2)


ENDS = {"uniform": _uniform, "log": _log, "golden": _golden}
