"""A node in the words of the user's code."""

import ast
import os

import numpy as np

from infimum.expr.formula import formula
from infimum.expr.node import Expr
from infimum.ops.vocabulary import Kind
from infimum.trace.user_source import SourceLine

_LONGEST_QUOTATION = 60


def quoted(node: Expr, element: int = 0, numbers: np.ndarray | None = None) -> str:
    """The text that made the node, and its line; where the source is not at hand, a formula of the element, in which variables
    have these numbers."""
    return f"`{_shortened(_text(node) or formula(node, element, numbers))}`{_place(node)}"


def operand(node: Expr, index: int, element: int = 0, numbers: np.ndarray | None = None) -> str | None:
    """The text of the operand with this number, if the node's own text is an operation or a call that has it; a formula where
    the node was made by no line of the user's."""
    if not node.line and node.kind is Kind.MAP and node.args[index].kind is not Kind.TEST:
        return f"`{_shortened(formula(node.args[index], element, numbers))}`"
    text = _text(node)
    try:
        tree = ast.parse(text or "", mode="eval").body
    except SyntaxError:  # a statement such as `total += x`
        return None
    parts = {ast.BinOp: lambda t: [t.left, t.right], ast.UnaryOp: lambda t: [t.operand], ast.Call: lambda t: t.args}
    found = parts.get(type(tree), lambda t: [])(tree)
    # a method's own object, and keyword arguments, are not counted: only what stands where the operation has its operands
    if not (len(found) > index and len(found) >= len(node.args)):
        return None
    return f"`{_shortened(ast.get_source_segment(text, found[index]) or '')}`"


def _text(node: Expr) -> str | None:
    return node.line.text if isinstance(node.line, SourceLine) else None


def _place(node: Expr) -> str:
    return f" ({os.path.basename(node.line)})" if node.line else ""


def _shortened(text: str) -> str:
    most = _LONGEST_QUOTATION
    return text if len(text) <= most else f"{text[:most // 2 - 1]} … {text[-most // 2 + 2:]}"
