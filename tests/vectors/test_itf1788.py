"""The ITF1788 vectors: every tightest enclosure is contained in ours, ours is as narrow as documented, and claims no more."""

import numpy as np
import pytest

from infimum.interval.pair import DEFINED, LIPSCHITZ
from tests.vectors.accuracy import DOCUMENT, document
from tests.vectors.enclosures import OPERATIONS, Measured, evaluated, measured, same_power, vectors
from tests.vectors.extract_itf1788 import statements

each_operation = pytest.mark.parametrize("name", OPERATIONS)


def failures(found: Measured, wrong: np.ndarray) -> list[str]:
    """The rows where `wrong` holds, readable."""
    return [found.describe(i) for i in np.flatnonzero(wrong)]


def test_no_operation_of_the_table_is_left_out():
    assert set(vectors()) == {operation.rows or name for name, operation in OPERATIONS.items()}


@each_operation
def test_the_tightest_enclosure_is_contained(name):
    found = measured(name)
    lost = ~found.expected_empty & (found.empty | (found.below < 0) | (found.above < 0))
    assert not failures(found, lost)


def test_powers_of_negative_bases_and_of_zero_contain_those_of_the_standard():
    found = evaluated("pow", [row for row in vectors()["pow"] if not same_power(row)])
    lost = ~found.expected_empty & (found.empty | (found.below < 0) | (found.above < 0))
    assert len(found.rows) > 100 and not failures(found, lost)


@each_operation
def test_no_end_is_further_out_than_documented(name):
    """An end that should be finite must be finite, however few ulps infinity is away, and what should be empty must be empty."""
    found, ulps = measured(name), OPERATIONS[name].ulps
    unbounded = (np.isinf(found.lo) != np.isinf(found.expected_lo)) | (np.isinf(found.hi) != np.isinf(found.expected_hi))
    wide = (found.empty != found.expected_empty) | unbounded
    if ulps is not None:
        wide |= (found.below > ulps) | (found.above > ulps)
    assert not failures(found, wide)


@each_operation
def test_the_enclosure_of_a_point_is_no_wider_than_documented(name):
    """For the operations with the tightest ends this follows from the ends."""
    found, ulps = measured(name), OPERATIONS[name].ulps
    if ulps:
        points = np.array([row.point for row in found.rows])
        assert not failures(found, points & (found.width > ulps))


@each_operation
def test_defined_where_the_decoration_says_so(name):
    """com, dac and def: the operation is defined on the whole box."""
    found = measured(name)
    decorated = np.array([row.decoration in ("com", "dac", "def") for row in found.rows])
    assert not failures(found, decorated & (found.level < DEFINED))


@each_operation
def test_no_more_is_claimed_than_the_decoration_allows(name):
    """trv: somewhere undefined, unless the arguments brought that decoration along; an operation on Empty is never defined.

    def: a jump inside the box, so not Lipschitz, again unless the arguments brought it along. A decoration speaks of the
    box, our status of a neighbourhood too, so it may be lower where the decoration is com or dac.
    """
    found = measured(name)
    undefined = np.array([row.empty_argument or (row.decoration == "trv" and row.given != "trv") for row in found.rows])
    jump = np.array([row.decoration == "def" and row.given in ("com", "dac") for row in found.rows])
    undefined |= found.expected_empty
    assert not failures(found, (undefined & (found.level >= DEFINED)) | (jump & (found.level >= LIPSCHITZ)))


def test_the_document_has_the_figures_of_the_code():
    assert DOCUMENT.read_text(encoding="utf-8") == document()


def test_statements_are_read_as_they_are_meant():
    text = """/* sin [1.0, 2.0] = [entire]; */ testcase some.name {
        mul [0X1.8P+0, infinity]_com [-0.0, 0x10p-4]_def = [entire]_trv; // mul [empty] [empty] = [empty];
        pown [nai] 3 = [nai]; pown [2.0, 2.0] -3 = [0.125, 0.125]; sinRev [empty] = [empty]; rootn [16.0, 16.0] 4 = [2.0, 2.0];
        add [0x1p-60, 1.0]
            [3.5, 3.5] = [0x3923456789abcdp-52, -0x3923456789abcdp-52]; }"""
    product, power, total = statements(text)
    assert (product.operation, product.given, product.decoration) == ("mul", "def", "trv")
    assert product.box == ((1.5, np.inf), (0.0, 1.0)) and np.signbit(product.box[1][0]) and product.result == (-np.inf, np.inf)
    assert (power.operation, power.box, power.result, power.decoration) == ("pown -3", ((2.0, 2.0),), (0.125, 0.125), "")
    assert total.result == (float.fromhex("0x3923456789abccp-52"), -float.fromhex("0x3923456789abccp-52"))
