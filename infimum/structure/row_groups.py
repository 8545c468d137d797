"""Constraints in groups of which no two read the same variable: a gradient of the sum of a group holds the gradients of all."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from infimum.expr.node import var
from infimum.expr.variable_reads import reads
from infimum.problem.system import System
from infimum.search.policy.search import RECOGNITION as POLICY


class RowGroups(NamedTuple):
    """The places where derivatives of equations may differ from 0, row by row: `rows` are numbers of constraints, `columns` those
    of variables, `group` the group of the row. `weights` (1 + m, groups) sum up the rows of each group."""

    rows: np.ndarray
    columns: np.ndarray
    group: np.ndarray
    weights: np.ndarray


@lru_cache(maxsize=8)
def row_groups(system: System, n: int) -> RowGroups | None:
    """The equations of a system; None if there would be too many groups."""
    equations = np.flatnonzero(system.equal)
    pattern = reads(list(system.bodies), var("x", (n,)))[equations]
    taken, chosen = np.zeros((0, n), bool), np.empty(len(equations), np.intp)
    for k, row in enumerate(pattern):
        apart = np.flatnonzero(~taken[:, row].any(axis=1))
        if len(apart):
            chosen[k] = apart[0]
            taken[apart[0]] |= row
        elif len(taken) == POLICY.most_row_groups:
            return None
        else:
            chosen[k], taken = len(taken), np.concatenate([taken, row[None]])
    weights = np.zeros((1 + system.m, len(taken)))
    weights[1 + equations, chosen] = 1.0
    rows, columns = np.nonzero(pattern)
    return RowGroups(equations[rows], columns, chosen[rows], weights)
