"""Expressions taken apart into their elements, for whoever writes each of them out as a number of its own."""

from collections.abc import Callable
from itertools import product
from typing import Any

from infimum.expr.node import Expr
from infimum.kernel.view_positions import VIEWS, At, ElementWriter
from infimum.ops.vocabulary import Kind

Place = tuple[Expr, At]


def summands_or_factors(e: ElementWriter, node: Expr, at: At) -> list[Place] | None:
    """The elements that one of a view or of a sum is the sum of, or one of a product the product; None for anything else."""
    if node.kind is Kind.VIEW:
        return list(VIEWS[node.op](e, node, at)[0])
    if node.kind is Kind.REDUCE and node.op in ("sum", "prod"):
        x, rest = node.args[0], iter(at)
        spans = [range(d) if axis in node["axes"] else (next(rest),) for axis, d in enumerate(x.shape)]
        return [(x, place) for place in product(*spans)]
    return None


def made_in_order(here: Place, known: dict[Place, Any], needs: Callable[..., list[Place]], make: Callable[..., Any]) -> Any:
    """What is made of an element, and first of all that it needs: these wait on a list, not on Python's stack."""
    waiting = [here]
    while waiting:
        place = waiting[-1]
        if place not in known:
            needed = needs(*place)
            missing = [need for need in needed if need not in known]
            if missing:
                waiting += missing
                continue
            known[place] = make(*place, [known[need] for need in needed])
        waiting.pop()
    return known[here]
