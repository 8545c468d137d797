"""Expressions as text."""

from infimum.expr.node import Expr, topological

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "eq": "=="}


def _leaf(node: Expr) -> str | None:
    if node.op == "var":
        return node["name"]
    if node.op != "const":
        return None
    if node.size == 1 and node.lo is node.hi:
        return f"{float(node.lo.flat[0])!r}"
    if node.size == 1:
        return f"[{float(node.lo.flat[0])!r}, {float(node.hi.flat[0])!r}]"
    return f"const{list(node.shape)}"


def _call(node: Expr, names: list[str]) -> str:
    if node.op in _INFIX and len(names) == 2:
        return f"({names[0]} {_INFIX[node.op]} {names[1]})"
    params = [f"{k}={v!r}" for k, v in node.params]
    return f"{node.op}({', '.join([*names, *params])})"


def one_line(root: Expr, limit: int = 400) -> str:
    """The expression as one formula; a long one is cut in the middle."""
    text: dict[int, str] = {}
    for node in topological([root]):
        text[id(node)] = _leaf(node) or _call(node, [text[id(a)] for a in node.args])
        if len(text[id(node)]) > limit:
            text[id(node)] = text[id(node)][: limit // 2 - 2] + " ... " + text[id(node)][-limit // 2 + 3:]
    return text[id(root)]


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
        leaf = _leaf(node)
        if leaf is None:
            leaf = f"%{len(lines)}"
            lines.append((f"{leaf} = {_call(node, [names[id(a)] for a in node.args])}", str(list(node.shape)), node.line or ""))
        names[id(node)] = leaf
    width = max([33, *(len(row[0]) for row in lines)])
    body = [f"{a:<{width}} {b:<8} {c}".rstrip() for a, b, c in lines]
    return "\n".join([*body, "return " + ", ".join(names[id(r)] for r in roots)])
