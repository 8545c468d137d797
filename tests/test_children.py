"""Other processes are started by tests/children.py alone, which gives each a limit and a Ctrl-C that it hears."""

import re
import signal
import sys
import time
from pathlib import Path

import pytest

from tests import children

HERE = Path(__file__).parent
OTHERS = {"children.py", "on_arm.py",
          "trials/black_boxes.py", "expr/test_trace_outside.py"}  # processes that end by themselves, and calls that are traced
SLEEPS = (sys.executable, "-c", "import time; print('begun', flush=True); [time.sleep(0.1) for _ in range(600)]")


def test_every_process_of_a_test_has_a_limit():
    direct = re.compile(r"subprocess\.(run|Popen|call|check_\w+)\(|os\.(system|popen|spawn\w+)\(")
    found = {path.relative_to(HERE).as_posix() for path in HERE.rglob("*.py") if direct.search(path.read_text(encoding="utf-8"))}
    assert found <= OTHERS


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_child_hears_ctrl_c_where_it_is_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        child = children.start(*SLEEPS)
        assert child.stdout.readline() == "begun\n"
        child.send_signal(signal.SIGINT)
        assert "KeyboardInterrupt" in child.communicate(timeout=30)[1]
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_child_ends_at_its_limit_and_with_its_test(monkeypatch):
    kept = children.start(*SLEEPS)
    monkeypatch.setattr(children, "LIMIT", 0.2)
    began = time.monotonic()
    assert children.start(*SLEEPS).communicate()[1] == "" and time.monotonic() - began < 30 and kept.poll() is None
    children.end()
    assert kept.poll() is not None
