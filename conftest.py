"""Options of the tests. They stand here so that they are known whichever folder is tested; see tests/selection.py."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="every case and every draw: see tests/selection.py")
    parser.addoption("--within", type=float, metavar="MINUTES", default=float("inf"),
                     help="with --thorough: first what the default run leaves out; what has not begun after that time is skipped")
    parser.addoption("--keep-durations", action="store_true", help="with --thorough: writes tests/durations.txt anew")
