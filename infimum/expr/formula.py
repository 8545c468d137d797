"""One element of an expression as a formula of the variables, for messages about functions that have no source text."""

import numpy as np

from infimum.expr.build import VIEWS
from infimum.expr.node import Expr, call_text
from infimum.ops.vocabulary import Kind

_DEPTH = 8  # operations that are shown inside one another


def formula(node: Expr, element: int = 0, numbers: np.ndarray | None = None) -> str:
    """The element, in row-major order. `numbers`: which variables of the user's the variables are, if not the same.

    >>> from infimum.expr.build import build, index
    >>> from infimum.expr.node import const, var
    >>> x = var("x", (4,))
    >>> formula(build("div", const(1.0), index(x, 2))), formula(build("exp", index(x, slice(1, None))), 1)
    ('1 / x[2]', 'exp(x[2])')
    """
    return _bare(node, _text(node, element, numbers, _DEPTH))


def _bare(node: Expr, text: str) -> str:
    """Without the brackets around an operator."""
    return text[1:-1] if len(node.args) == 2 and text.startswith("(") else text


def _text(node: Expr, element: int, numbers: np.ndarray | None, depth: int) -> str:
    if node.op == "var":
        return f"{node['name']}[{element if numbers is None else numbers[element]}]"
    if node.op == "const":
        low, high = (float(end.flat[element]) for end in (node.lo, node.hi))
        return f"{low / 2 + high / 2:.6g}"
    if not depth:
        return "…"
    if node.op in VIEWS:
        argument, place = _seen(node, element)
        return _text(argument, place, numbers, depth)
    if node.kind in (Kind.MAP, Kind.TEST):
        parts = [_text(argument, element, numbers, depth - 1) for argument in node.args]
        if node.op in ("powi", "neg"):
            return f"{parts[0]}**{node['k']}" if node.op == "powi" else f"-{parts[0]}"
        return call_text(node, parts) if len(parts) == 2 else call_text(node, list(map(_bare, node.args, parts)))
    first = f"{_text(node.args[0], 0, numbers, depth - 1)}, " if node.size == 1 else ""
    return f"{node.op}({first}…)"


def _seen(view: Expr, element: int) -> tuple[Expr, int]:
    """The argument of a view, and its element, that an element of the view is."""
    ends = np.cumsum([argument.size for argument in view.args])
    places = [np.arange(end - argument.size, end).reshape(argument.shape) for argument, end in zip(view.args, ends, strict=True)]
    place = int(VIEWS[view.op](view, *places).flat[element])
    which = int(np.searchsorted(ends, place, side="right"))
    return view.args[which], place - int(ends[which]) + view.args[which].size
