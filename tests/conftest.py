"""What every test may rely on."""

import faulthandler
import math
import os
import threading
import time
from collections import OrderedDict
from contextlib import contextmanager
from pathlib import Path

import hypothesis
import pytest

try:
    import flint
except ImportError:  # on a machine with a GPU, `pytest -m gpu` runs without it
    flint = None

from tests import children, selection

os.environ.setdefault("INFIMUM_CACHE", "off")  # a test leaves nothing behind, and takes nothing that another has left
hypothesis.settings.register_profile("house", deadline=None, max_examples=60)  # a loaded machine must not fail a test
hypothesis.settings.register_profile("default", hypothesis.settings.get_profile("house"), derandomize=True, database=None)
PROCESSOR_SECONDS = "processor seconds"
TOO_LATE = "the minutes of --within are over"
LONGEST_TEST = 900.0  # seconds after which a test's process writes where each of its threads is, and ends: the test has failed
TERMINAL = pytest.StashKey[int]()
_begun = time.monotonic()
_seconds: dict[str, float] = {}  # by test, for --keep-durations


def pytest_configure(config: pytest.Config) -> None:
    config.stash[TERMINAL] = os.dup(2)  # while a test runs, 2 is a file of pytest
    if config.getoption("keep_durations") and not config.getoption("thorough"):
        raise pytest.UsageError("--keep-durations needs --thorough: a share of the cases has no duration to keep")
    hypothesis.settings.load_profile("house" if selection.everything(config) else "default")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if selection.everything(config):
        if config.getoption("within") < math.inf:
            items[:] = selection.left_out_first(items, selection.read())
        return
    kept = selection.kept(items, selection.read())
    selection.reduce_draws(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item):
    """A test that never returns fails instead of keeping its process, and with xdist the other tests run in a new one."""
    faulthandler.dump_traceback_later(LONGEST_TEST, exit=True, file=item.config.stash[TERMINAL])
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


def pytest_enter_pdb() -> None:
    faulthandler.cancel_dump_traceback_later()  # somebody looks at the test


def _processor_seconds() -> float:
    return time.process_time() + sum(os.times()[2:4])


@contextmanager
def _measured(item: pytest.Item):
    """Notes the processor seconds of a phase of a test, with those of the processes that it has waited for."""
    before = _processor_seconds()
    yield
    item.user_properties.append((PROCESSOR_SECONDS, _processor_seconds() - before))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item):
    if time.monotonic() > _begun + 60.0 * item.config.getoption("within"):
        pytest.skip(TOO_LATE)
    with _measured(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item):
    with _measured(item):
        return (yield)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "teardown":  # it knows what the other phases have taken
        _seconds[report.nodeid] = sum(seconds for name, seconds in report.user_properties if name == PROCESSOR_SECONDS)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    late = sum(TOO_LATE in str(report.longrepr) for report in terminalreporter.getreports("skipped"))
    if late:
        terminalreporter.write_line(f"{late} tests were skipped: {TOO_LATE}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("keep_durations") and not hasattr(session.config, "workerinput"):
        selection.write(_seconds)


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
def compiled_in_the_quickest_way(request, monkeypatch):
    """The default run compiles kernels in the way that takes least time, which changes no bit: tests/backend compares bits."""
    if not selection.everything(request.config) and "backend" not in request.path.parts:
        monkeypatch.setattr("infimum.backend.processor.PLAIN", 0)


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
    monkeypatch.setattr("infimum.evaluation.compiled_programs._lowered", OrderedDict())
