"""What each operation becomes in a kernel, by name: the rules of the records, and those of two operations computed together."""

from collections.abc import Callable

from infimum.ops.trigonometric import TOGETHER
from infimum.ops.vocabulary import OPS

RULES: dict[str, Callable] = {name: row.enclose for name, row in OPS.items() if row.enclose is not None} \
    | {name: enclose for name, (enclose, _) in TOGETHER.items()}
ESTIMATES: dict[str, Callable] = {name: row.estimate for name, row in OPS.items() if row.estimate is not None} \
    | {name: estimate for name, (_, estimate) in TOGETHER.items()}
