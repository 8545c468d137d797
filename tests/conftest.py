"""What every test may rely on."""

import math
import os
import threading
from collections import OrderedDict
from pathlib import Path

import hypothesis
import pytest

try:
    import flint
except ImportError:  # on a machine with a GPU, `pytest -m gpu` runs without it
    flint = None

from tests import children

os.environ.setdefault("INFIMUM_CACHE", "off")  # a test leaves nothing behind, and takes nothing that another has left
hypothesis.settings.register_profile("house", deadline=None, max_examples=60)  # a loaded machine must not fail a test
hypothesis.settings.load_profile("house")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`-m gpu` looks only at files that have such tests: the others may need packages that a machine with a GPU lacks."""
    if config.getoption("markexpr") == "gpu" and collection_path.suffix == ".py" and collection_path.name != "__init__.py":
        return "pytest.mark.gpu" not in collection_path.read_text() or None
    return None


@pytest.fixture(autouse=True)
def usual_precision():
    """Tests set Arb's precision as they need it; the next one starts from the usual one."""
    if flint is None:
        yield
        return
    flint.ctx.prec = 53
    yield
    flint.ctx.prec = 53


@pytest.fixture(autouse=True)
def tables_take_their_time(monkeypatch):
    """What a table shows does not depend on how busy the machine is."""
    monkeypatch.setattr("infimum.result.MOMENT", math.inf)


@pytest.fixture(autouse=True)
def no_child_is_left():
    yield
    children.end()


@pytest.fixture
def ctrl_c_heard():
    """SIGINT raises KeyboardInterrupt as in any program, whatever the test runner made of it, or whoever started that."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals are heard in the main thread only")
    with children.ctrl_c_heard():
        yield


@pytest.fixture
def nothing_lowered(monkeypatch):
    """For tests that spoil what writes kernels: they take no kernel that another test has left, and leave none."""
    monkeypatch.setattr("infimum.evaluation.evaluator._lowered", OrderedDict())
