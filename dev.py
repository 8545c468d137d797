#!/usr/bin/env python3
"""Development tasks; needs only Python and a package index.

    python3 dev.py example    an example, from an ordinary function to a proved enclosure (or another one: example robot_arm)
    python3 dev.py test       ruff and all tests (further arguments go to pytest)
    python3 dev.py bench ...  a benchmark: kernels, soak, …
    python3 dev.py docs       rewrites docs/api.md from the docstrings
    python3 dev.py arm        the tests that compare bits, on 64-bit Arm, emulated if need be: see tests/on_arm.py

Each creates the virtual environment .venv beside this file if it is missing, installs what it needs, and can be repeated.
"""

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
EXTRAS = {"example": "", "test": "[test]", "bench": "[test,bench]", "docs": "", "arm": "[test]"}
EXAMPLES = sorted(p.stem for p in (ROOT / "examples").glob("*.py"))
BENCHMARKS = sorted(p.stem for p in (ROOT / "bench").glob("*.py") if "def main" in p.read_text())


def works(*command: str) -> bool:
    """Does this command succeed with the environment's Python?"""
    return PYTHON.exists() and subprocess.run([PYTHON, *command], capture_output=True, cwd=VENV).returncode == 0


def prepare(extras: str) -> None:
    """Creates the environment, and installs the project unless it is already there, with these extras and working."""
    wanted = hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + f"{extras}{ROOT}".encode()).hexdigest()
    stamp = VENV / f"installed{extras.replace('[', '-').replace(']', '').replace(',', '-')}"
    if stamp.exists() and stamp.read_text() == wanted and works("-c", "import infimum"):
        return
    if not works("-m", "pip", "--version"):  # missing, or incomplete
        print(f"creating {VENV}", flush=True)
        venv.EnvBuilder(with_pip=True, clear=True).create(VENV)
    print(f"installing infimum{extras}", flush=True)
    install = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    project = ["--config-settings", "editable_mode=compat", "--editable", f"{ROOT}{extras}"]
    if subprocess.run([*install, *project]).returncode or not works("-c", "import infimum"):
        sys.exit(f"installing failed; if the output above does not say why, delete {VENV} and try again")
    stamp.write_text(wanted)


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
    task, rest = sys.argv[1], sys.argv[2:]
    todo = commands(task, rest)
    try:
        prepare(EXTRAS[task])
        for command in todo:
            code = subprocess.run([PYTHON, *command], cwd=ROOT).returncode
            if code:
                return code
    except KeyboardInterrupt:
        print("stopped; the same command continues where this one ended", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
