"""Choices and truth values on 64-bit Arm: nothing there has another opinion about the zeros or NaN."""

import re
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from infimum.backend.code_lint import lint_assembly
from infimum.backend.cpu import CpuBackend
from infimum.backend.processor import host
from infimum.backend.simd import SimdSpelling
from infimum.kernel.ir import Builder, Kernel, Value
from tests.backend.cases import EMPTY, by_definition
from tests.backend.machines import MACHINES
from tests.random_kernels import example, same_bits

ARM = MACHINES["Arm"]
TESTS = ("olt", "ole", "ogt", "oge", "oeq", "uno")
SIGNALLING = np.array([0x7FF1 << 48, 0xFFF0000000000001], np.uint64).view(np.float64)
NUMBERS = np.concatenate([SIGNALLING, [np.nan, -np.inf, 0.0, -0.0, 1.0]])
WAYS: dict[str, Callable[[Builder, Value, Value], Value]] = {  # to combine truth values
    "or": lambda b, p, q: b.mor(p, q),
    "and": lambda b, p, q: b.mand(p, q),
    "nor": lambda b, p, q: b.mnot(b.mor(p, q)),
    "or of negations": lambda b, p, q: b.mor(b.mnot(p), b.mnot(q)),
    "and of negations": lambda b, p, q: b.mand(b.mnot(p), b.mnot(q)),
    "implication": lambda b, p, q: b.mor(b.mnot(p), q),
    "choice": lambda b, p, q: b.ogt(b.select(p, 1.0, b.select(q, 1.0, 0.0)), 0.0),
    "choice of bits": lambda b, p, q: b.ine(b.iselect(p, b.iselect(q, 1, 0), 0), 0),
}


PAIRS = [(first, second, order) for first, second in product(TESTS, repeat=2) for order in range(3)]


def masks(way: str) -> Kernel:
    """Every pair of comparisons with a common operand, combined in one way. Each reads three inputs of its own: LLVM leaves a
    comparison alone that is used twice."""
    b = Builder()
    for row, (first, second, order) in enumerate(PAIRS):
        x, y, z = (b.input(0, 3 * row + k) for k in range(3))
        left, right = (((x, z), (y, z)), ((x, z), (z, y)), ((z, x), (z, y)))[order]
        b.output(0, row, b.select(WAYS[way](b, getattr(b, first)(*left), getattr(b, second)(*right)), 1.0, 0.0))
    return b.kernel("masks", 1, 1)


@pytest.mark.parametrize("way", WAYS)
def test_truth_values_are_not_minima(way: str):
    ir = ARM.module(masks(way))
    for level in range(2):
        assert lint_assembly(ARM.assembly(ir, level)) == []


@pytest.mark.parametrize("way", WAYS)
def test_truth_values_with_signalling_nan(way: str):
    """On the machine that runs the tests, whichever it is."""
    kernel, inputs = masks(way), np.tile(np.array(list(product(NUMBERS, repeat=3))).T, (len(PAIRS), 1))
    expected = by_definition(kernel, inputs, len(PAIRS))
    for lanes in host().widths():
        found = np.empty_like(expected)
        CpuBackend(lanes).compile(kernel).run([inputs], [found], *EMPTY)
        assert same_bits(found, expected).all()


@pytest.mark.parametrize("seed", range(8))
def test_a_choice_is_no_minimum(seed: int):
    assert lint_assembly(ARM.assembly(ARM.module(example(seed).kernel), 2)) == []


def test_otherwise_they_would_be():
    """Written as for x86, choices and truth values become Arm's minima; the reader of assembly sees it."""
    plain = CpuBackend(2)
    plain.spelling = SimdSpelling(2)
    for kernels in ([example(seed).kernel for seed in range(8)], [masks("or")]):
        texts = [ARM.assembly(plain.defining(k.functions(), plain.text(k))) for k in kernels]
        problems = [problem for text in texts for problem in lint_assembly(text)]
        assert any(re.search(r"\bf(?:min|max)(?:nm)?\b", problem) for problem in problems)
