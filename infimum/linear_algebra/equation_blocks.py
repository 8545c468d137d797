"""The structure of sparse equations: variables in which they can be solved, and the order in which to do that, block by block.

Estimates and graphs: nothing that is proved relies on them.
"""

import heapq
from collections.abc import Iterable

INDEPENDENT = 2.0**-30  # pivots of rows whose largest element is 1

SparseRow = dict[int, float]


def pivots(rows: dict[int, SparseRow]) -> dict[int, int]:
    """Independent rows and a column for each, by elimination: the shortest row next, by its largest element.

    >>> pivots({7: {0: 0.5, 1: 1.0}, 8: {1: 1.0, 2: 0.25}, 9: {0: 1.0, 1: 2.0}})
    {7: 1, 8: 0}
    """
    rows, holders = {i: _unit(row) for i, row in rows.items()}, {}
    for i, row in rows.items():
        for j in row:
            holders.setdefault(j, set()).add(i)
    waiting = [(len(row), i) for i, row in rows.items()]
    heapq.heapify(waiting)
    found: dict[int, int] = {}
    done: set[int] = set()
    while waiting:
        length, i = heapq.heappop(waiting)
        if i in done or length != len(rows[i]):
            continue  # there is a newer entry
        done.add(i)
        row = rows[i]
        for j in row:
            holders[j].discard(i)
        pivot = min(row, key=lambda j: (-abs(row[j]), len(holders[j]), j), default=None)
        if pivot is None or not abs(row[pivot]) > INDEPENDENT:
            continue
        found[i] = pivot
        for k in sorted(holders[pivot]):
            other, factor = rows[k], rows[k][pivot] / row[pivot]
            for j, a in row.items():
                if j not in other:
                    holders[j].add(k)
                other[j] = other.get(j, 0.0) - factor * a
            del other[pivot]
            heapq.heappush(waiting, (len(other), k))
        holders[pivot] = set()
    return found


def _unit(row: SparseRow) -> SparseRow:
    """With 1 as its largest element, and without zeros."""
    largest = max(map(abs, row.values()), default=0.0)
    return {j: a / largest for j, a in row.items() if a}


def matched(rows: dict[int, list[int]], first: dict[int, int]) -> dict[int, int] | None:
    """A column of its own for each row, among those that it has; `first` is tried as it is. None if there is no such choice.

    >>> matched({0: [5, 6], 1: [5]}, {0: 5, 1: 6})
    {5: 1, 6: 0}
    """
    column = {i: j for i, j in first.items() if j in rows[i]}
    owner = {j: i for i, j in column.items()}
    for start in rows:
        if start in column:
            continue
        came, queue, free = {}, [start], None  # breadth first: the row that each column was reached from
        for row in queue:
            for j in rows[row]:
                if j not in came:
                    came[j] = row
                    if j not in owner:
                        free = j
                        break
                    queue.append(owner[j])
            if free is not None:
                break
        if free is None:
            return None
        while free is not None:
            row = came[free]
            owner[free], column[row], free = row, free, column.get(row)
    return owner


def blocks(rows: dict[int, list[int]], owner: dict[int, int]) -> list[list[int]]:
    """Rows in blocks, each of which needs its own columns and those of blocks before it: the strongly connected components of
    who needs whose column, by R. Tarjan's algorithm.

    >>> blocks({0: [0, 1], 1: [1], 2: [0, 2, 3], 3: [2, 3]}, {0: 0, 1: 1, 2: 2, 3: 3})
    [[1], [0], [2, 3]]
    """
    number: dict[int, int] = {}
    least: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[list[int]] = []

    def needs(i: int) -> Iterable[int]:
        return iter([owner[j] for j in rows[i]])
    for start in rows:
        if start in number:
            continue
        number[start] = least[start] = len(number)
        stack.append(start)
        on_stack.add(start)
        path = [(start, needs(start))]
        while path:
            i, rest = path[-1]
            for k in rest:
                if k not in number:
                    number[k] = least[k] = len(number)
                    stack.append(k)
                    on_stack.add(k)
                    path.append((k, needs(k)))
                    break
                if k in on_stack:
                    least[i] = min(least[i], number[k])
            else:
                path.pop()
                if path:
                    least[path[-1][0]] = min(least[path[-1][0]], least[i])
                if least[i] == number[i]:
                    block = [stack.pop()]
                    while block[-1] != i:
                        block.append(stack.pop())
                    on_stack.difference_update(block)
                    found.append(sorted(block))
    return found
