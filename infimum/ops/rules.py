"""What each operation becomes in a kernel, by name: the rules of the records, and those of two operations computed together."""

from collections.abc import Callable

from infimum.ops.trigonometric import TOGETHER
from infimum.ops.vocabulary import OPS

_COMPUTED = {name: row for name, row in (OPS | TOGETHER).items() if row.enclose is not None}
RULES: dict[str, Callable] = {name: row.enclose for name, row in _COMPUTED.items()}
ESTIMATES: dict[str, Callable] = {name: row.estimate for name, row in _COMPUTED.items()}
