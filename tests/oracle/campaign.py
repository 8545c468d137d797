"""One round of the oracle from one seed: an expression, its boxes and points, all claims checked. Tests and the soak share it."""

from collections.abc import Callable

import numpy as np

from infimum.ops.vocabulary import OPS
from infimum.trace.trace import trace
from tests.expr import user_functions
from tests.expr.user_functions import USER_FUNCTIONS
from tests.oracle.boxes import points_of, random_boxes
from tests.oracle.check import Checker
from tests.oracle.generate import Generator
from tests.oracle.tally import Tally, Violation

_SIZES, _CHANCES = (1, 2, 3, 4, 20, 45, 100), (0.18, 0.27, 0.22, 0.17, 0.1, 0.05, 0.01)
# they take any number of variables, so that loops and long reductions of real problems are met
ANY_LENGTH: tuple[Callable, ...] = tuple(getattr(user_functions, name) for name in (
    "rastrigin", "ackley", "levy", "griewank", "rosenbrock", "styblinski_tang", "zabinsky", "michalewicz", "sum_of_powers",
    "zakharov", "schwefel_2_22", "list_of_components", "piecewise", "masks"))
_NAMES = tuple(OPS)


def generated(seed: int, must: str | None = None, n: int | None = None) -> tuple[Checker, np.random.Generator]:
    """A random expression; `must` is an operation it shall contain (every seed has one of its own if not given)."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice(_SIZES, p=_CHANCES)) if n is None else n
    generator = Generator(rng, n)
    must = must if must is not None else _NAMES[seed // 2 % len(_NAMES)] if seed % 2 else None
    e = generator.scalar(int(rng.integers(1, 6 if n < 10 else 4)), must)
    return Checker(e.built, n, e.meant, fraction=float(rng.choice((0.0, 0.5, 1.0)))), rng


def written(seed: int) -> tuple[Checker, np.random.Generator]:
    """A function as users write it, traced."""
    rng = np.random.default_rng(seed)
    if rng.random() < 0.5:
        function, n, _, _ = USER_FUNCTIONS[sorted(USER_FUNCTIONS)[rng.integers(len(USER_FUNCTIONS))]]
    else:
        function, n = ANY_LENGTH[rng.integers(len(ANY_LENGTH))], int(rng.choice((2, 3, 5, 17, 33, 64)))
    return Checker(trace(function, n), n), rng


def one_round(seed: int, boxes: int = 120, per_box: int = 6, share: float = 0.1, must: str | None = None) -> Tally:
    """Draws and checks one expression; a Violation says which seed repeats it."""
    checker, rng = written(seed) if seed % 8 == 7 and must is None else generated(seed, must)
    try:
        if checker.n > 10:
            boxes, per_box = max(8, boxes // 8), min(per_box, 4)
        lo, hi = random_boxes(rng, checker.n, boxes)
        gentle = rng.random(boxes) < 0.3  # boxes of everyday size and place, where most claims are strong
        lo[:, gentle] = rng.uniform(-2, 2, size=(checker.n, gentle.sum()))
        hi[:, gentle] = lo[:, gentle] + rng.choice((0.0, 1e-9, 1e-3, 0.3, 1.0), size=(checker.n, gentle.sum()))
        points = [points_of(rng, lo[:, k], hi[:, k], per_box) for k in range(boxes)]
        return checker.check(lo, hi, points, rng, share)
    except Violation as violation:
        repeat = f"one_round({seed}, boxes={boxes}, per_box={per_box}, share={share}, must={must!r})"
        raise Violation(f"{violation}\nrepeat with tests.oracle.campaign.{repeat}") from None
