"""The package as others get it: a wheel built from the sdist, installed into an empty environment, used from another folder."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import llvmlite
import numpy
import pytest

import infimum

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ["pyproject.toml", "README.md", "LICENSE", "infimum", "tests", "bench", "examples", "docs"]
PACKAGE = {p.relative_to(ROOT).as_posix() for p in (ROOT / "infimum").rglob("*.py")} | {"infimum/py.typed"}


def run(*command: str | Path, cwd: Path) -> str:
    """The output of a command that must succeed, without this checkout on its path."""
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=cwd, env=outside, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(kind: str, source: Path) -> Path:
    """What the build backend named in pyproject.toml makes of a source folder."""
    asked = f"from setuptools import build_meta; print(build_meta.build_{kind}('out'))"
    return source / "out" / run(sys.executable, "-W", "ignore", "-c", asked, cwd=source).split()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built from the sdist, so that the sdist is shown to be complete too."""
    source, unpacked = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("unpacked")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, source)
    with tarfile.open(build("sdist", source)) as sdist:
        sdist.extractall(unpacked, filter="data")
    return build("wheel", next(unpacked.iterdir()))


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name for name in names if ".dist-info/" not in name} == PACKAGE
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_metadata(wheel):
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"infimum-{infimum.__version__}.dist-info/METADATA").decode()
    head, _, readme = text.partition("\n\n")
    fields = re.findall(r"^([A-Z][\w-]*): (.*)", head, re.M)
    assert {("Version", infimum.__version__), ("License-Expression", "Apache-2.0"), ("Requires-Python", ">=3.11"),
            ("Author", "The infimum developers"), ("Classifier", "Typing :: Typed")} <= set(fields)
    assert readme == (ROOT / "README.md").read_text()


def test_one_version_everywhere():
    assert f"\nversion: {infimum.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)[1] == infimum.__version__


def test_it_works_where_it_is_installed(wheel, tmp_path):
    """Dependencies are those of the present environment, by path; infimum itself is the wheel's."""
    home, work = tmp_path / "env", tmp_path / "work"
    work.mkdir()
    venv.create(home, symlinks=os.name != "nt")
    scripts = home / ("Scripts" if os.name == "nt" else "bin")
    site = Path(sysconfig.get_path("purelib", "venv", vars={"base": str(home)}))
    run(sys.executable, "-m", "pip", "--python", scripts / "python", "install", "--no-deps", "--no-index", wheel, cwd=work)
    (site / "dependencies.pth").write_text("\n".join(str(Path(package.__file__).parents[1]) for package in (numpy, llvmlite)))
    (work / "model.py").write_text("import numpy as np\n\ndef f(x):\n    return np.sum(x**2) + np.sin(5 * x[0])\n\n"
                                   "bounds = [(-2, 2)] * 2\n")
    assert run(scripts / "infimum", "--version", cwd=work) == f"infimum {infimum.__version__}\n"
    assert "PROVED" in run(scripts / "infimum", "minimize", "model.py", cwd=work)
    where = run(scripts / "python", "-c", "import infimum; print(infimum.__file__)", cwd=work)
    assert Path(where.strip()).is_relative_to(home)
