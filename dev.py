#!/usr/bin/env python3
"""Development tasks; needs only Python and a package index.

    python3 dev.py example    an example, from an ordinary function to a proved enclosure (or another one: example robot_arm)
    python3 dev.py test       ruff and the tests, within minutes (further arguments go to pytest; tests/selection.py)
    python3 dev.py test --thorough    every case and every draw: half an hour on two cores
    python3 dev.py bench ...  a benchmark: kernels, soak, …
    python3 dev.py docs       rewrites docs/api.md from the docstrings
    python3 dev.py arm        the tests that compare bits, on 64-bit Arm, emulated if need be: see tests/on_arm.py

Each creates the virtual environment .venv beside this file if it is missing, installs what it needs, and can be repeated.
With --python 3.13 a task runs with that version of Python, in the environment .venv-3.13.
"""

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
PYENV = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
EXTRAS = {"example": "", "test": "[test]", "bench": "[test,bench]", "docs": "", "arm": "[test]"}
EXAMPLES = sorted(p.stem for p in (ROOT / "examples").glob("*.py"))
BENCHMARKS = sorted(p.stem for p in (ROOT / "bench").glob("*.py") if "def main" in p.read_text(encoding="utf-8"))


def works(python: Path, *command: str) -> bool:
    """Does this command succeed with the environment's Python?"""
    return python.exists() and subprocess.run([python, *command], capture_output=True, cwd=python.parent).returncode == 0


def interpreter(version: str) -> str:
    """The path of a Python of this version, such as 3.13: on the PATH, known to Windows' launcher, or in pyenv's folder."""
    if not re.fullmatch(r"3\.\d+", version) or int(version[2:]) < 11:
        sys.exit(f"--python is a version such as 3.13, and infimum needs Python 3.11 or newer; not {version!r}")
    places = [[f"python{version}"], ["py", f"-{version}"], *([p / "bin/python"] for p in sorted(PYENV.glob(f"{version}.*")))]
    question = "import sys; print('%d.%d' % sys.version_info[:2]); print(sys.executable)"
    for place in places:  # each is asked: pyenv puts a python3.13 on the PATH that may only say that there is none
        try:
            answer = subprocess.run([*place, "-c", question], capture_output=True, text=True).stdout.splitlines()
        except OSError:
            continue
        if answer[:1] == [version]:
            return answer[1]
    sys.exit(f"Python {version} was not found: neither python{version} on the PATH nor a folder {version}.* in {PYENV}")


def prepare(extras: str, version: str | None = None) -> Path:
    """The Python of the environment, which is created, and in which the project is installed with these extras, unless it is."""
    home = ROOT / (".venv" if version is None else f".venv-{version}")
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    wanted = hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + f"{extras}{ROOT}".encode()).hexdigest()
    stamp = home / f"installed{extras.replace('[', '-').replace(']', '').replace(',', '-')}"
    if stamp.exists() and stamp.read_text() == wanted and works(python, "-c", "import infimum"):
        return python
    if not works(python, "-m", "pip", "--version"):  # missing, or incomplete
        source = sys.executable if version is None else interpreter(version)
        print(f"creating {home}", flush=True)
        if subprocess.run([source, "-m", "venv", "--clear", home]).returncode:
            sys.exit(f"creating {home} failed; the output above says why")
    print(f"installing infimum{extras}", flush=True)
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    project = ["--config-settings", "editable_mode=compat", "--editable", f"{ROOT}{extras}"]
    if subprocess.run([*install, *project]).returncode or not works(python, "-c", "import infimum"):
        sys.exit(f"installing failed; if the output above does not say why, delete {home} and try again")
    stamp.write_text(wanted)
    return python


def without_python(words: list[str]) -> tuple[list[str], str | None]:
    """The words that are left without --python and its version, and that version."""
    for i, word in enumerate(words):
        name, given, version = word.partition("=")
        if name == "--python":
            after = words[i + 1:]
            return words[:i] + (after if given else after[1:]), version if given else "".join(after[:1])
    return words, None


def commands(task: str, rest: list[str]) -> list[list[str]]:
    """The commands of a task, in order."""
    if task == "example":
        name = rest[0] if rest else "six_hump_camel"
        if name not in EXAMPLES:
            sys.exit("which example? " + ", ".join(EXAMPLES))
        return [[f"examples/{name}.py"]]
    if task == "test":
        return [["-m", "ruff", "check", "."], ["-m", "pytest", "-n", "auto", *rest]]
    if task == "docs":
        return [["docs/generate_api.py"]]
    if task == "arm":
        return [["-m", "tests.on_arm", *rest]]
    if not rest or rest[0] not in BENCHMARKS:
        sys.exit("which benchmark? " + ", ".join(BENCHMARKS))
    return [[f"bench/{rest[0]}.py", *rest[1:]]]


def main() -> int:
    if sys.version_info < (3, 11):  # noqa: UP036 - this file may be started by an older Python
        sys.exit("infimum needs Python 3.11 or newer")
    if len(sys.argv) < 2 or sys.argv[1] not in EXTRAS:
        print(__doc__)
        return 2
    task = sys.argv[1]
    rest, version = without_python(sys.argv[2:])
    todo = commands(task, rest)
    try:
        python = prepare(EXTRAS[task], version)
        for command in todo:
            code = subprocess.run([python, *command], cwd=ROOT).returncode
            if code:
                return code
    except KeyboardInterrupt:
        print("stopped; the same command continues where this one ended", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
