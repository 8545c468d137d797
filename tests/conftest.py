"""What every test may rely on."""

import flint
import hypothesis
import pytest

hypothesis.settings.register_profile("house", deadline=None)  # a loaded machine must not fail a test
hypothesis.settings.load_profile("house")


@pytest.fixture(autouse=True)
def usual_precision():
    """Tests set Arb's precision as they need it; the next one starts from the usual one."""
    flint.ctx.prec = 53
    yield
    flint.ctx.prec = 53
