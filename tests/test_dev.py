"""dev.py: how it finds another version of Python, and what becomes of its arguments."""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OURS = f"{sys.version_info.major}.{sys.version_info.minor}"
posix = pytest.mark.skipif(os.name == "nt", reason="the stand-ins for interpreters are scripts of a Unix shell")


@pytest.fixture
def dev(monkeypatch, tmp_path):
    """dev.py, read anew, where there is no Python on the PATH and none in pyenv's folder."""
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    (tmp_path / "path").mkdir()
    spec = importlib.util.spec_from_file_location("dev_py", ROOT / "dev.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@posix
def test_an_interpreter_on_the_path(dev, tmp_path):
    script(tmp_path / f"path/python{OURS}", f'exec {sys.executable} "$@"')
    assert Path(dev.interpreter(OURS)).samefile(sys.executable)


@posix
def test_pyenv_has_one_where_its_shim_says_there_is_none(dev, tmp_path):
    script(tmp_path / f"path/python{OURS}", "echo 'pyenv: command not found' >&2; exit 127")
    script(tmp_path / f"pyenv/versions/{OURS}.7/bin/python", f'exec {sys.executable} "$@"')
    assert Path(dev.interpreter(OURS)).samefile(sys.executable)


@posix
def test_one_that_is_another_version_is_passed_over(dev, tmp_path):
    script(tmp_path / "path/python3.77", f'exec {sys.executable} "$@"')
    with pytest.raises(SystemExit, match=r"Python 3\.77 was not found: neither python3\.77 on the PATH nor"):
        dev.interpreter("3.77")


@pytest.mark.parametrize("version", ["3.10", "2.7", "3", "", "-c", "3.13.1"])
def test_what_is_no_version_or_too_old(dev, version):
    with pytest.raises(SystemExit, match="such as 3.13, and infimum needs Python 3.11 or newer"):
        dev.interpreter(version)


@pytest.mark.parametrize(("words", "rest", "version"), [
    (["tests/expr", "--python", "3.13", "-k", "sin"], ["tests/expr", "-k", "sin"], "3.13"),
    (["--python=3.13"], [], "3.13"),
    (["-x", "--python"], ["-x"], ""),
    (["-x"], ["-x"], None),
])
def test_the_version_is_taken_out_of_the_arguments(dev, words, rest, version):
    assert dev.without_python(words) == (rest, version)
