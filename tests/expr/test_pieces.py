"""Pieces: what reads one quantity more than once, the largest such parts, and nothing else."""

import numpy as np
import pytest

import infimum
from infimum import problems
from infimum.expr.node import Expr
from infimum.structure.single_quantity_pieces import pieces_of
from tests.expr.evaluate_with_numpy import evaluate

N = 5
W = np.arange(1.0, N)

FOUND = {  # function, how many pieces, and the operation of the quantity that the first reads
    "a polynomial": (lambda x: np.sum(x**4 - 16 * x**2 + 5 * x), 1, "var"),
    "a product": (lambda x: np.prod(np.sqrt(x) * np.sin(x)), 1, "var"),
    "of a slice": (lambda x: np.sum(W * x[1:] * np.exp(-x[1:]) - x[:-1]), 1, "slice"),
    "of one variable": (lambda x: x[0] * np.sin(x[0]) + x[1], 1, "reshape"),
    "of a norm": (lambda x: 1 - np.cos(np.linalg.norm(x)) + 0.1 * np.linalg.norm(x), 1, "norm"),
    "of a sum": (lambda x: np.exp(x[0] + x[1]) - (x[0] + x[1]) ** 2 + x[2], 1, "add"),
    "a shared part": (lambda x: np.sum(np.sin(x) ** 2 + np.sin(x)) + x[0], 1, "var"),
    "by conditions": (lambda x: np.sum(np.where(x > 0.3, x**2 - x, 2 * x)), 1, "var"),
    "within a piece's quantity": (lambda x: np.sum(x**3 - x) * np.exp(-np.sum(x**3 - x)), 2, "var"),
    "two": (lambda x: np.sum(x[:2] ** 3 - x[:2]) * np.sum(x[2:] - np.cos(x[2:])), 2, "slice"),
}
NONE = {
    "each once": lambda x: np.sum((x - 1) ** 2) + np.exp(x[0]), "different variables": lambda x: x[0] * x[1] + x[1] * x[2] + x[0],
    "neighbours": lambda x: np.sum(x[1:] * x[:-1]), "constant": lambda x: 3.0 + 0 * x[0],
    "a test of several": lambda x: np.where(x[0] < x[1], x[2], x[3]),
}


@pytest.mark.parametrize("name", FOUND)
def test_pieces_are_found(name):
    f, count, op = FOUND[name]
    pieces = pieces_of(infimum.compile(f, N).f)
    assert len(pieces) == count and next(iter(pieces.values())).quantity.op == op


@pytest.mark.parametrize("name", NONE)
def test_what_is_none(name):
    assert not pieces_of(infimum.compile(NONE[name], N).f)


@pytest.mark.parametrize("f", [f for f, *_ in FOUND.values()])
def test_a_piece_of_its_quantity_is_the_node(f):
    """Put in for the variable, the quantity's value gives the node's; the slope is the difference quotient."""
    rng = np.random.default_rng(0)
    for node, piece in pieces_of(infimum.compile(f, N).f).items():
        assert isinstance(piece.quantity, Expr) and piece.variable.shape == piece.quantity.shape == node.shape
        for x in rng.uniform(0.4, 2.0, (5, N)):
            q = evaluate(piece.quantity, {"x": x})
            here = evaluate(piece.value, {piece.variable["name"]: q})
            assert np.allclose(here, evaluate(node, {"x": x}), rtol=1e-13, atol=1e-13)
            step = 1e-6
            up, down = (evaluate(piece.value, {piece.variable["name"]: q + s}) for s in (step, -step))
            slope = evaluate(piece.slope, {piece.variable["name"]: q})
            assert np.allclose(slope, (up - down) / (2 * step), rtol=1e-5, atol=1e-5)


def test_the_gallery_has_pieces_where_it_is_separable():
    for name in ("styblinski_tang", "schwefel_2_26", "michalewicz", "alpine_2", "rastrigin", "levy"):
        p = problems.get(name, 8)
        assert infimum.compile(p.fun, 8).facts.has_pieces
