"""The tests that compare bits, on 64-bit Arm: on this machine if it is one, otherwise in user-mode emulation.

    python3 dev.py arm                            the tests below
    python3 dev.py arm tests/evaluate -k waves    any others

For the emulation Debian's packages of Python for Arm and PyPI's wheels for it are unpacked in the folder .arm, once; nothing is
installed on this machine, which has to have apt-get and qemu-aarch64 (`apt-get install qemu-user-static`). A test that starts
another process is no good here.
"""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / ".arm"
PACKAGES = ["python3-minimal", "libpython3-stdlib", "libstdc++6"]
WHEELS = ["numpy", "llvmlite", "pytest", "hypothesis", "python-flint"]
TESTS = ["tests/evaluate/test_fingerprint.py", "tests/backend/test_bits.py", "tests/backend/test_arm.py",
         "tests/backend/test_lint.py", "tests/backend/test_control_word.py", "tests/test_environment.py", "--deselect",
         "tests/test_environment.py::test_a_process_that_flushed_before_it_imported"]


def emulator() -> str:
    found = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
    if found is None or shutil.which("apt-get") is None:
        sys.exit("64-bit Arm is emulated with Debian's packages: this needs apt-get and qemu-aarch64 "
                 "(apt-get install qemu-user-static)")
    return found


def run(*command: "str | Path") -> None:
    if subprocess.run(command).returncode:
        sys.exit(f"failed: {' '.join(map(str, command))}")


def unpack_python() -> Path:
    """Debian's Python for Arm with all it needs, unpacked; returns the program."""
    root, apt = HOME / "root", HOME / "apt"
    for folder in ("lists/partial", "cache/archives/partial", "state"):
        (apt / folder).mkdir(parents=True, exist_ok=True)
    (apt / "status").touch()  # nothing is installed, so that all that is needed is fetched
    places = {"State": "state", "State::lists": "lists", "State::status": "status", "Cache": "cache"}
    options = ["-o", "APT::Architecture=arm64", "-o", "APT::Architectures::=arm64"]
    options += [part for name, place in places.items() for part in ("-o", f"Dir::{name}={apt / place}")]
    run("apt-get", *options, "-qq", "update")
    run("apt-get", *options, "-qq", "-y", "--no-install-recommends", "--download-only", "install", *PACKAGES)
    for package in sorted((apt / "cache/archives").glob("*.deb")):
        run("dpkg", "-x", package, root)
    return program()


def program() -> Path:
    """The Python for Arm, if it is there."""
    return next((p for p in sorted((HOME / "root/usr/bin").glob("python3.*")) if p.name.count(".") == 1), HOME / "missing")


def unpack_wheels(python: Path) -> None:
    """The wheels for it."""
    kinds = [part for glibc in ("2_28", "2_27", "2_17") for part in ("--platform", f"manylinux_{glibc}_aarch64")]
    run(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:", *kinds,
        "--platform", "manylinux2014_aarch64", "--python-version", python.name.removeprefix("python"), "--implementation", "cp",
        "--upgrade", "--target", HOME / "site", *WHEELS)


def main() -> int:
    tests = ["-m", "pytest", "-p", "no:cacheprovider", "--thorough", *(sys.argv[1:] or TESTS)]
    if platform.machine().lower() in ("aarch64", "arm64"):
        return subprocess.run([sys.executable, *tests], cwd=ROOT).returncode
    arm, done = emulator(), HOME / "unpacked"
    if not done.exists():
        shutil.rmtree(HOME, ignore_errors=True)
        unpack_wheels(unpack_python())
        done.touch()
    settings = {**os.environ, "PYTHONPATH": str(HOME / "site"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([arm, "-L", HOME / "root", program(), *tests], cwd=ROOT, env=settings).returncode


if __name__ == "__main__":
    sys.exit(main())
