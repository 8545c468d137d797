"""The constrained gallery: test problems with equalities, inequalities and integers, each with optimum and source.

>>> from infimum.problems import constrained
>>> p = constrained.get("hs_71")
>>> p.n, len(p.constraints), round(p.minimum.lo, 4)
(4, 2, 17.014)
>>> len(constrained.names()) >= 80
True
"""

from difflib import get_close_matches

from infimum.errors import GalleryError
from infimum.problems.constrained import (
    bilinear,
    cec_2006,
    cec_2006_long,
    chains,
    equilibrium,
    estimation,
    hock_four_more,
    hock_two_three,
    integer,
    process,
    quadratic,
    robust,
    small,
)
from infimum.problems.constrained.entry import Constrained, Row

__all__ = ["Constrained", "all_problems", "get", "names"]

_MODULES = (small, cec_2006, cec_2006_long, hock_two_three, hock_four_more, quadratic, bilinear, process, equilibrium, estimation,
            robust, chains, integer)
_ROWS: dict[str, Row] = {row.title: row for module in _MODULES for row in module.TABLE}


def names() -> list[str]:
    """The names of all constrained problems, in the order of the tables."""
    return list(_ROWS)


def get(name: str) -> Constrained:
    """The constrained problem of that name.

    >>> get("g11").minimum
    [0.7499999999999996, 0.7500000000000004]
    """
    if name not in _ROWS:
        near = get_close_matches(str(name), _ROWS, n=3)
        hint = f"did you mean {', '.join(near)}?" if near else "names() lists all"
        raise GalleryError(f"the constrained gallery has no problem {name!r}: {hint}")
    return _ROWS[name].problem()


def all_problems() -> list[Constrained]:
    """Every constrained problem."""
    return [row.problem() for row in _ROWS.values()]
