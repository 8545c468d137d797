"""The package as others get it: a wheel built from the sdist, installed into an empty environment, used from another folder."""

import inspect
import os
import re
import shutil
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
from tests import children

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("infimum", "tests", "bench", "examples", "docs")
FILES = ("pyproject.toml", "MANIFEST.in", "LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "dev.py")
PACKAGE = {p.relative_to(ROOT).as_posix() for p in (ROOT / "infimum").rglob("*.py")} | {"infimum/py.typed"}


def run(*command: str | Path, cwd: Path) -> str:
    """The output of a command that must succeed, without this checkout on its path."""
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = children.run(*command, cwd=cwd, env=outside)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(kind: str, source: Path) -> Path:
    """What the build backend named in pyproject.toml makes of a source folder."""
    asked = f"from setuptools import build_meta; print(build_meta.build_{kind}('out'))"
    return source / "out" / run(sys.executable, "-W", "ignore", "-c", asked, cwd=source).split()[-1]


@pytest.fixture(scope="module")
def sdist(tmp_path_factory) -> Path:
    """Unpacked. It is built from a copy: building leaves files behind."""
    source, unpacked = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("unpacked")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, source)
    with tarfile.open(build("sdist", source)) as archive:
        archive.extractall(unpacked, filter="data")
    return unpacked / f"infimum-{infimum.__version__}"


@pytest.fixture(scope="module")
def wheel(sdist) -> Path:
    """Built from the sdist."""
    return build("wheel", sdist)


def test_the_sdist_is_the_project(sdist):
    missing = [name for name in FILES if not (sdist / name).is_file()]
    for folder in FOLDERS:
        paths = [p for p in (ROOT / folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts]
        missing += [str(p.relative_to(ROOT)) for p in paths if not (sdist / p.relative_to(ROOT)).is_file()]
    assert not missing


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


def test_public_functions_are_typed():
    """What `py.typed` promises: every argument and every result of a public function or method has a type."""
    public = [getattr(infimum, name) for name in infimum.__all__]
    functions = [thing for thing in public if inspect.isfunction(thing)]
    functions += [method for kind in public if inspect.isclass(kind) and kind.__module__.startswith("infimum")
                  for name, method in vars(kind).items() if inspect.isfunction(method) and not name.startswith("_")]
    assert len(functions) > 10
    for function in functions:
        arguments = [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]
        assert {*arguments, "return"} <= set(function.__annotations__), function.__qualname__


def test_one_version_everywhere():
    assert f"\nversion: {infimum.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert re.search(r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text(), re.M)[1] == infimum.__version__


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
