"""Options of the tests. They stand here so that they are known whichever folder is tested; see tests/selection.py."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="every case and every draw: see tests/selection.py")
    parser.addoption("--keep-durations", action="store_true", help="with --thorough: writes tests/durations.txt anew")
