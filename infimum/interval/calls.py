"""How a rule calls an elementary function."""

from typing import Any

from infimum.interval.elementary import row
from infimum.interval.pair import Pair


def call(b, name: str, *pairs: Pair) -> tuple[Any, Any]:
    """The enclosure of an elementary function, out of line unless it is short. At a single double it is that of the interval with
    two equal ends, to the last bit, and the ends share what they are computed from."""
    function, ends = row(name), tuple(end for p in pairs for end in (p.nlo, p.hi))
    if function.short:
        return function.enclose(b, *ends)
    if len(pairs) == 1 and pairs[0].point is not None:
        return b.outline(f"enclose_{name}_at", lambda b, v: function.enclose(b, b.neg(v), v), pairs[0].point)
    return b.outline(f"enclose_{name}", function.enclose, *ends)
