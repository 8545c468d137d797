"""Every test of this folder runs its kernels under each control word that a caller may have left."""

import pytest

from tests.control_word import every_control_word  # noqa: F401


@pytest.fixture(autouse=True)
def _under_every_control_word(every_control_word: int) -> int:  # noqa: F811
    return every_control_word
