"""The gallery: classical test problems of global optimisation with bounds, minimum, minimisers and source.

>>> from infimum import problems
>>> p = problems.get("branin")
>>> p.minimum, len(p.minimisers)
([0.39788735772973793, 0.3978873577297384], 3)
>>> problems.get("rastrigin", 100).n, len(problems.names()) >= 60
(100, True)
"""

from difflib import get_close_matches

from infimum.errors import GalleryError
from infimum.problems import (
    complete_search,
    constrained,
    few_variables,
    scalable_bowls,
    scalable_waves,
    two_polynomials,
    two_radial,
    two_waves,
)
from infimum.problems.entry import Entry, GalleryProblem

__all__ = ["GalleryError", "GalleryProblem", "all_problems", "constrained", "get", "names", "sizes"]

_MODULES = (complete_search, scalable_bowls, scalable_waves, two_polynomials, two_waves, two_radial, few_variables)
_ENTRIES: dict[str, Entry] = {entry.title: entry for module in _MODULES for entry in module.TABLE}


def names() -> list[str]:
    """The names of all problems, in the order of the tables."""
    return list(_ENTRIES)


def get(name: str, n: int | None = None) -> GalleryProblem:
    """The problem of that name, with n variables if it is scalable.

    >>> p = get("rosenbrock", 3)
    >>> p.n, len(p.bounds), float(p.fun(p.points[0]))
    (3, 3, 0.0)
    """
    if name not in _ENTRIES:
        near = get_close_matches(str(name), _ENTRIES, n=3)
        hint = f"did you mean {', '.join(near)}?" if near else "names() lists all"
        raise GalleryError(f"the gallery has no problem {name!r}: {hint}")
    return _ENTRIES[name].problem(n)


def sizes(name: str) -> tuple[int, float]:
    """The smallest and the largest number of variables of the problem.

    >>> sizes("branin"), sizes("rastrigin")
    ((2, 2), (1, inf))
    """
    return _ENTRIES[name].sizes or (_ENTRIES[name].size,) * 2


def all_problems() -> list[GalleryProblem]:
    """Every problem, the scalable ones with their default number of variables."""
    return [entry.problem() for entry in _ENTRIES.values()]
