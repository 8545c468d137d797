"""The tests of a search, made in the order of the table: the cheapest first, each about what those before it leave."""

from collections.abc import Sequence
from importlib import import_module

import numpy as np

from infimum.bounds.bound_table import ALL_TESTS, DELAYED_STEP, FUNCTION_TESTS, SYSTEM_TESTS
from infimum.bounds.interface import RegionTest
from infimum.bounds.start_faces import StartFaces
from infimum.evaluation.evaluator import Evaluator
from infimum.problem.start_boxes import StartBoxes


def classes_of(constrained: bool) -> list[type[RegionTest]]:
    """The classes of the table's rows that no engine or option has to ask for, imported when they are needed."""
    rows = SYSTEM_TESTS if constrained else FUNCTION_TESTS
    return [getattr(import_module(f"infimum.bounds.{row.module}"), row.kind) for row in rows.values() if not row.asked]


def region_tests_of(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, start: StartBoxes | None = None,
                    asked: Sequence[RegionTest] = ()) -> list[RegionTest]:
    """Those that can say something about this function, within the bounds or the start boxes, and those that were asked for."""
    tests = [kind(evaluator, lo, hi) for kind in classes_of(evaluator.system is not None)
             if kind.applies(evaluator) and (start is None or kind.knows_faces)]
    first = [test for test in tests if test.delays_others]
    for test in tests:
        if first and test not in first and test.payoff is not None:
            test.payoff.due = max(test.payoff.due, DELAYED_STEP)
    faces = None if start is None else StartFaces(evaluator, start)
    for test in tests:
        test.faces = faces
    return in_order([*tests, *asked])


def in_order(tests: Sequence[RegionTest]) -> list[RegionTest]:
    """In the order of the table."""
    place = {name: number for number, name in enumerate(ALL_TESTS)}
    return sorted(tests, key=lambda test: place.get(test.name, len(place)))
