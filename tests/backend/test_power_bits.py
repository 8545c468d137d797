"""Powers of every sign of base and every kind of exponent: one definition, the same bits on every machine."""

from functools import cache, partial
from itertools import product

import numpy as np
import pytest

from infimum.backend.code_lint import lint_assembly
from infimum.backend.cpu import CpuBackend
from infimum.backend.processor import host
from infimum.interval.pair import Pair, b_level
from infimum.kernel.ir import Builder, Kernel
from infimum.ops.rules import ESTIMATES, RULES
from infimum.ops.vocabulary import OPS
from tests.backend.cases import EMPTY, by_definition
from tests.backend.machines import MACHINES
from tests.backend.test_interpreter import Interpreting
from tests.backend.test_ptx import check as check_ptx
from tests.random_kernels import same_bits

BASES = [(-3.0, -2.0), (-3.0, 0.0), (-0.5, 4.0), (0.0, 0.0), (-0.0, 1e-320), (0.5, 7.0), (-np.inf, np.inf), (-5e-324, 5e-324)]
EXPONENTS = [(3.0, 3.0), (2.0, 2.0), (1.0, 1.0), (0.0, 0.0), (-1.0, -1.0), (2.25, 2.75), (2.5, 3.5), (-2.0, 2.0), (1e300, 1e300),
             (2.0**53, np.inf), (3.0, 3.0000000000000004), (-np.inf, np.inf), (-0.0, 0.5)]
RESULTS = 3 * 3 + 1 + 2 * 2


@cache
def power_case() -> tuple[Kernel, np.ndarray, np.ndarray]:
    """(kernel, ends, results by the definition): the enclosure and the level for exponents of which nothing is known, that are
    whole, and that are not; the estimate; what a result says of base and exponent."""
    b = Builder()
    ends = [b.input(0, k) for k in range(6)]
    x, y, z = (Pair(*ends[k:k + 2]) for k in (0, 2, 4))
    found = []
    for whole in (0, 1, -1):
        value = RULES["pow"](b, x, y.but(whole=whole))
        found += [value.nlo, value.hi, b_level(b, value.level)]
    found.append(ESTIMATES["pow"](b, x.hi, y.hi))
    base, exponent = OPS["pow"].inverse
    found += [*base(b, z, x, y), *exponent(b, z, y, x)]
    for row, value in enumerate(found):
        b.output(0, row, value)
    boxes = [(-x[0], x[1], -y[0], y[1], 0.125, 8.0) for x, y in product(BASES, EXPONENTS)]
    inputs = np.ascontiguousarray(np.array(boxes).T)
    return (kernel := b.kernel("powers", 1, 1)), inputs, by_definition(kernel, inputs, RESULTS)


@pytest.mark.parametrize("backend", [partial(CpuBackend, plain=False), partial(CpuBackend, plain=True), Interpreting],
                         ids=["compiled", "plain", "interpreted"])
def test_on_this_processor(backend):
    kernel, inputs, expected = power_case()
    for lanes in host().widths():
        found = np.empty_like(expected)
        backend(lanes).compile(kernel).run([inputs], [found], *EMPTY)
        wrong = np.flatnonzero(~same_bits(found, expected).all(axis=0))
        assert not wrong.size, f"{inputs[:, wrong[0]]}: {found[:, wrong[0]]}, not {expected[:, wrong[0]]}"


def test_on_a_gpu():
    kernel, inputs, expected = power_case()
    check_ptx(kernel, np.ascontiguousarray(inputs[:, ::3]), np.ascontiguousarray(expected[:, ::3]))


@pytest.mark.parametrize("machine", MACHINES)
def test_the_code_of_other_processors_has_no_fault(machine):
    kernel, _, _ = power_case()
    assert lint_assembly(MACHINES[machine].assembly(MACHINES[machine].module(kernel), 1)) == []


def test_the_cases_are_not_all_alike():
    _, _, expected = power_case()
    assert {-1.0, 1.0, 3.0} <= set(expected[2]) and {2.0, 3.0} <= set(expected[5]) and np.isneginf(expected[0]).any()
