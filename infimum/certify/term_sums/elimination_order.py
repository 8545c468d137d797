"""The order in which variables of a sum of small terms are eliminated, and the cliques that it makes.

The *clique* of a variable is it and those after it that are linked to it when its turn comes. All variables of a term lie in the
clique of that one of them that is eliminated first. In bands the order is that of the variables; elsewhere the variables with
fewest neighbours come first.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from infimum.chains.bags import edges_of, elimination
from infimum.search.policy.bounds import TERM_SUM_ISOLATION as POLICY


class EliminationOrder(NamedTuple):
    """Variables are numbered by `position`, their place in the order; `variable` is the inverse of that.

    members: (m, n), the positions of the variables of each clique, the eliminated one first; n where there are fewer.
    links: as `linear_algebra/sparse_elimination.py` wants them. where: (m, m, n), the place of each element of a clique's matrix
    among those of the whole: the diagonal, then the others, then a place for what is none.
    """

    position: np.ndarray
    variable: np.ndarray
    members: np.ndarray
    links: np.ndarray
    where: np.ndarray

    @property
    def width(self) -> int:
        return len(self.members) - 1

    @property
    def elements(self) -> int:
        """How many elements the whole matrix has, with the place for none."""
        return len(self.position) * (1 + self.width) + 1


def order_of(scopes: list[np.ndarray], n: int) -> EliminationOrder | None:
    """For terms whose variables are the columns of these arrays; None if the cliques would be too large.

    >>> order_of([np.array([[0, 1, 2], [1, 2, 3]])], 4).members.tolist()
    [[0, 1, 2, 3], [1, 2, 3, 4]]
    """
    edges = edges_of(scopes)
    reach = int((edges[1] - edges[0]).max(initial=0))
    if reach <= POLICY.most_links:
        position = np.arange(n)
        later = np.minimum(position + 1 + np.arange(reach)[:, None], n)
    else:
        found = elimination(scopes, n, POLICY.most_links)
        if found is None:
            return None
        position, later = _as_arrays(found, n)
    if (len(later) + 1) ** 3 * n > POLICY.most_operations:
        return None
    return _order(position, np.ascontiguousarray(later))


def _as_arrays(found: list[tuple[int, tuple[int, ...]]], n: int) -> tuple[np.ndarray, np.ndarray]:
    """(position of each variable, (width, n) positions of the links of each position)."""
    position, later = np.empty(n, np.int64), np.full((max(len(near) for _, near in found), n), n)
    position[[variable for variable, _ in found]] = np.arange(n)
    for k in range(len(later)):
        have = [place for place, (_, near) in enumerate(found) if len(near) > k]
        later[k, have] = position[[found[place][1][k] for place in have]]
    return position, later


def _order(position: np.ndarray, later: np.ndarray) -> EliminationOrder:
    width, n = later.shape
    members = np.concatenate([np.arange(n)[None], later])
    where = np.full((width + 1, width + 1, n), n * (width + 1))
    for a in range(width + 1):
        where[a, a] = np.where(members[a] < n, members[a], n * (width + 1))
    for k in range(width):
        where[0, k + 1] = where[k + 1, 0] = np.where(later[k] < n, n + width * np.arange(n) + k, n * (width + 1))
    for j, k in combinations(range(width), 2):
        low, high = np.minimum(later[j], later[k]), np.maximum(later[j], later[k])
        for m in range(width):
            met = (high < n) & (later[m][np.minimum(low, n - 1)] == high)
            where[j + 1, k + 1][met] = n + width * low[met] + m
        where[k + 1, j + 1] = where[j + 1, k + 1]
    between = [where[j + 1, k + 1] - n for j, k in combinations(range(width), 2)]
    links = np.stack([*later, *between]) if width else np.empty((0, n), np.int64)
    return EliminationOrder(position, np.argsort(position), members, np.ascontiguousarray(links), where)
