"""The IR of every program is what it was: see `kernels.py`."""

import pytest

from tests.backend.cases import small_kernel
from tests.nets.kernels import KEPT, hashes, serial, table

pytestmark = pytest.mark.allowance(60)  # these records notice more mistakes in a second than most other tests


@pytest.mark.parametrize("case", table())
def test_the_ir_is_what_was_kept(case):
    wrong = KEPT.differences(case, hashes(case))
    assert not wrong, "\n".join(wrong)


def test_nothing_is_kept_for_cases_that_are_gone():
    assert set(KEPT.read()) == set(table())


def test_a_change_of_one_constant_is_noticed():
    first, second = small_kernel(), small_kernel()
    assert list(serial(first)) == list(serial(second))
    constant = next(item for item in second.prologue if item.op == "const")
    constant.attr = (float.fromhex(constant.attr) + 1.0).hex()
    assert list(serial(first)) != list(serial(second))
