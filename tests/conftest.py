"""What every test may rely on."""

import flint
import pytest


@pytest.fixture(autouse=True)
def usual_precision():
    """Tests set Arb's precision as they need it; the next one starts from the usual one."""
    flint.ctx.prec = 53
    yield
    flint.ctx.prec = 53
