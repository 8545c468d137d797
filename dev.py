#!/usr/bin/env python3
"""Set-up and errands of the project; needs only Python and a package index.

    python3 dev.py example    a real example, from an ordinary function to a proved enclosure
    python3 dev.py test       ruff and all tests (further arguments go to pytest)
    python3 dev.py bench ...  a benchmark: kernels, soak, …

Each creates the virtual environment .venv beside this file if it is missing, installs what it needs, and can be repeated.
"""

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
HOME = ROOT / ".venv"
PYTHON = HOME / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
EXTRAS = {"example": "", "test": "[test]", "bench": "[test,bench]"}


def prepare(extras: str) -> None:
    """Creates the environment, and installs the project unless these extras of this pyproject.toml are in it already."""
    wanted = hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + extras.encode()).hexdigest()
    stamp = HOME / f"installed{extras.replace('[', '-').replace(']', '').replace(',', '-')}"
    if PYTHON.exists() and stamp.exists() and stamp.read_text() == wanted:
        return
    if not PYTHON.exists():
        print(f"creating {HOME}", flush=True)
        venv.EnvBuilder(with_pip=True, clear=HOME.exists()).create(HOME)
    print(f"installing infimum{extras}", flush=True)
    subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--editable", f"{ROOT}{extras}"],
                   check=True)
    stamp.write_text(wanted)


def commands(errand: str, rest: list[str]) -> list[list[str]]:
    """What an errand runs, in order."""
    if errand == "example":
        return [["examples/six_hump_camel.py", *rest]]
    if errand == "test":
        return [["-m", "ruff", "check", "."], ["-m", "pytest", "-n", "auto", *rest]]
    if not rest:
        sys.exit("which benchmark? " + ", ".join(sorted(p.stem for p in (ROOT / "bench").glob("*.py"))))
    return [[f"bench/{rest[0]}.py", *rest[1:]]]


def main() -> int:
    if sys.version_info < (3, 11):  # noqa: UP036 - this file may be started by an older Python
        sys.exit("infimum needs Python 3.11 or newer")
    if len(sys.argv) < 2 or sys.argv[1] not in EXTRAS:
        print(__doc__)
        return 2
    errand, rest = sys.argv[1], sys.argv[2:]
    prepare(EXTRAS[errand])
    for command in commands(errand, rest):
        code = subprocess.run([PYTHON, *command], cwd=ROOT).returncode
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
