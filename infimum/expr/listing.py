"""Expressions as a list of operations."""

from infimum.expr.node import Expr, call_text, leaf_text, topological


def listing(*roots: Expr) -> str:
    """One operation a line, shared parts named once, with shape and the user's line.

    >>> from infimum.expr.build import build
    >>> from infimum.expr.node import var
    >>> t = var("t", (3,))
    >>> print(listing(build("sum", build("sin", t), axes=(0,))))
    %0 = sin(t)                       [3]
    %1 = sum(%0, axes=(0,))           []
    return %1
    """
    names: dict[int, str] = {}
    lines = []
    for node in topological(list(roots)):
        leaf = leaf_text(node)
        if leaf is None:
            leaf = f"%{len(lines)}"
            text = call_text(node, [names[id(a)] for a in node.args])
            lines.append((f"{leaf} = {text}", str(list(node.shape)), node.line or ""))
        names[id(node)] = leaf
    width = max([33, *(len(row[0]) for row in lines)])
    body = [f"{a:<{width}} {b:<8} {c}".rstrip() for a, b, c in lines]
    return "\n".join([*body, "return " + ", ".join(names[id(r)] for r in roots)])
