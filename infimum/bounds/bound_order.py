"""The tests of a search, made in the order of the table: the cheapest first, each about what those before it leave."""

from importlib import import_module

import numpy as np

from infimum.bounds.bound_table import DELAYED_STEP, FUNCTION_TESTS, SYSTEM_TESTS
from infimum.bounds.interface import RegionTest
from infimum.bounds.start_faces import StartFaces
from infimum.evaluation.evaluator import Evaluator
from infimum.problem.start_boxes import StartBoxes


def classes_of(constrained: bool) -> list[type[RegionTest]]:
    """The classes of the table's rows, imported when they are needed."""
    rows = SYSTEM_TESTS if constrained else FUNCTION_TESTS
    return [getattr(import_module(f"infimum.bounds.{row.module}"), row.kind) for row in rows.values()]


def region_tests_of(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, start: StartBoxes | None = None) -> list[RegionTest]:
    """Those that can say something about this function, within the bounds or the start boxes."""
    parts = [part(evaluator, lo, hi) for part in classes_of(evaluator.system is not None)
             if part.applies(evaluator) and (start is None or part.knows_faces)]
    first = [part for part in parts if part.delays_others]
    for part in parts:
        if first and part not in first and part.payoff is not None:
            part.payoff.due = max(part.payoff.due, DELAYED_STEP)
    faces = None if start is None else StartFaces(evaluator, start)
    for part in parts:
        part.faces = faces
    return parts
