"""The program, and a folder of the user's to run it in."""

from collections.abc import Callable

import pytest

from tests.cli.helpers import Program, program


@pytest.fixture
def infimum_(capsys) -> Program:
    """infimum_("minimize", "f.py", ...): the exit code and what was printed."""
    return program(capsys)


@pytest.fixture
def write(tmp_path, monkeypatch) -> Callable[[str, str], str]:
    """Writes a file into a fresh folder, which is the current one; returns its name."""
    monkeypatch.chdir(tmp_path)

    def put(text: str, name: str = "model.py") -> str:
        (tmp_path / name).write_text(text)
        return name
    return put
