"""Kernels of a refinement: every variable is a union of slices, and all slices of all variables are tested at once, one a lane.

What the other variables contribute to a reduction whose terms read one variable each is the reduction of the hulls of these
terms: `terms` encloses them on each slice, and between the kernels their hulls over the slices of each variable are taken, which
are as tight as the slices are narrow, whatever the gaps between them. `reduced` combines these hulls, from both sides of each
variable, as `context` does for a box. `tested` is the test of a sweep for one slice.
"""

from dataclasses import replace

import numpy as np

from infimum.bounds.sweeps.sweep_kernel import BOX, enclosures_to, number_leaves, slice_test
from infimum.expr.node import Expr, var
from infimum.interval.pair import Pair
from infimum.kernel.constant_data import Data
from infimum.kernel.forms.sliced_pieces import PieceSlices
from infimum.kernel.ir import Builder
from infimum.kernel.lowering import Lowering
from infimum.kernel.meaning import Enclosures
from infimum.structure.local_form import LocalForm, Y, all_sources, local_form, sources
from infimum.structure.single_quantity_pieces import Piece

LEFT, RIGHT, DEAD, LOWER, LEVEL, AT_MIDDLE = range(6)  # rows of the output of `tested`


def terms(name: str, f: Expr, x: Expr) -> tuple:
    """The terms of each reduction on a slice: for each a row of lower ends, upper ends and levels; lo > hi where it is undefined.
    Inputs as those of a sweep; the user's bounds are not read."""
    form, b, data, y = local_form(f, x), Builder(), Data(), var(Y, ())
    leaves = number_leaves(b, form)
    for k, term in enumerate(form.terms.values()):
        piece = PieceSlices(b, Piece(term.value, y, y), data, 1, leaves)
        for row, value in enumerate(piece.of_slice(b.input(BOX, 0), b.input(BOX, 1))):
            b.output(0, 3 * k + row, value)
    return b.kernel(name, 3, 1), data, (3 * len(form.terms),), 0


def reductions_of_terms(form: LocalForm) -> dict[Expr, Expr]:
    """The sources of numbers that are reductions of terms of one variable each, and the same of variables in place of terms."""
    stand_in = {source: var(f"t{k}", source.shape) for k, source in enumerate(form.terms)}
    found = {}
    for number in form.numbers:
        if number.kind in ("before", "after", "others") and number.source in stand_in:
            found.update(zip(sources(number), sources(replace(number, source=stand_in[number.source])), strict=True))
    return {node: found[node] for node in all_sources(form) if node in found}


def reduced(name: str, f: Expr, x: Expr) -> tuple:
    """The reductions of terms. Inputs: of each vector of terms the lower ends, upper ends and levels; outputs likewise."""
    form, b, data = local_form(f, x), Builder(), Data()
    nodes = list(reductions_of_terms(form).values())
    leaves = {f"t{k}": (lambda i, at=3 * k: Pair(b.neg(b.input(at, i)), b.input(at + 1, i), b.input(at + 2, i)))
              for k in range(len(form.terms))}
    Lowering(b, Enclosures(), leaves, data).run([(node, enclosures_to(b, 3 * k)) for k, node in enumerate(nodes)], straight=False)
    rows = tuple(node.size for node in nodes for _ in range(3))
    return b.kernel(name, 3 * len(form.terms), len(rows)), data, rows, 0


def tested(name: str, f: Expr, x: Expr) -> tuple:
    """What is left of each slice. Inputs as those of a sweep. Parameter: the verified upper bound."""
    form, b, data = local_form(f, x), Builder(), Data()
    at = data.offset(np.zeros(1))
    dead, left, right, nlo, level, at_middle = slice_test(b, form, data, b.data(at))(b.input(BOX, 0), b.input(BOX, 1))
    for row, value in ((LEFT, left), (RIGHT, right), (DEAD, b.select(dead, 1.0, 0.0)), (LOWER, b.neg(nlo)), (LEVEL, level),
                       (AT_MIDDLE, at_middle)):
        b.output(0, row, value)
    return b.kernel(name, 3, 1), data, (6,), at
