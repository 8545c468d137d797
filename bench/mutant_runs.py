"""Runs of the tests against mutants, in copies of the working tree: see mutations.py."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import deque
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from threading import Lock

from bench import mutants
from bench.mutants import ROOT, Mutant

NEAREST = 10  # test files that are asked first
NETS = ("tests/nets/test_kernels.py", "tests/nets/test_runs.py")
LIMITS = {"default": 3600, "thorough": 4 * 3600}  # seconds
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


def imported(path: Path) -> set[str]:
    """The files of the project that a file imports by name."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            found |= {name.replace(".", "/") + ".py" for name in names if name.count(".")}
    return {name for name in found if (ROOT / name).exists()}


@cache
def importers() -> dict[str, set[str]]:
    """The files that import each file."""
    found: dict[str, set[str]] = {}
    for path in [*(ROOT / "tests").rglob("*.py"), *(ROOT / "infimum").rglob("*.py")]:
        for name in imported(path):
            found.setdefault(name, set()).add(path.relative_to(ROOT).as_posix())
    return found


def near_tests(file: str) -> list[str]:
    """Test files by how many imports lead from them to a file; of equals, those with more words of its name first."""
    distance, queue = {file: 0}, deque([file])
    while queue:
        here = queue.popleft()
        for name in importers().get(here, ()):
            if name not in distance:
                distance[name] = distance[here] + 1
                queue.append(name)
    words = set(re.split(r"[/_.]", file))
    tests = [name for name in distance if Path(name).name.startswith("test_") and name.startswith("tests/")]
    return sorted(tests, key=lambda name: (distance[name], -len(words & set(re.split(r"[/_.]", name))), name))


class Copies:
    """Copies of the working tree, one for each job, and the cache of machine code that they share."""

    def __init__(self, jobs: int):
        self.home = Path(tempfile.mkdtemp(prefix="infimum-mutations-"))
        self.free: SimpleQueue[Path] = SimpleQueue()
        files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
        for folder in ("unchanged", *map(str, range(jobs))):
            for name in files:
                target = self.home / folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, target)
        for job in range(jobs):
            self.free.put(self.home / str(job))
        self.sound: dict[str, bool] = {}  # does a test pass without any mistake?
        self.lock = Lock()

    def pytest(self, copy: Path, *arguments: str, limit: float) -> tuple[int, str]:
        """The exit code of a run of tests in a copy, and its output; 124 for a run that does not end."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(copy), os.environ.get("PYTHONPATH", "")]),
                       "INFIMUM_CACHE": str(self.home / "cache")}
        command = [sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=no", *arguments]
        process = subprocess.Popen(command, cwd=copy, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, start_new_session=True)
        try:
            output = process.communicate(timeout=limit)[0]
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)  # its workers and children too: it has a process group of its own
            process.communicate()
            return 124, ""

    def passes(self, test: str) -> bool:
        """Does a test pass in the copy without any mistake?"""
        with self.lock:
            if test not in self.sound:
                self.sound[test] = self.pytest(self.home / "unchanged", test, limit=LIMITS["default"])[0] == 0
            return self.sound[test]

    def noticed_by(self, copy: Path, mutant: Mutant, mode: str, near: bool) -> str | None:
        """The first test that notices the mistake, or None."""
        order = near_tests(mutant.file)
        first = list(dict.fromkeys([*order[:NEAREST // 2], *NETS, *order[NEAREST // 2:NEAREST]]))
        parts = [first] if near else [first, [f"--ignore={name}" for name in first]]
        while parts:
            failing = [f"--deselect={name}" for name, sound in self.sound.items() if not sound]
            code, output = self.pytest(copy, "-x", *failing, *(["--thorough"] if mode == "thorough" else []), *parts[0],
                                       limit=LIMITS[mode])
            if code in (0, 5):
                parts.pop(0)
                continue
            test = next(iter(FAILED.findall(output)), None)
            if test is None or "::" not in test or self.passes(test):
                return test or ("no end" if code == 124 else f"exit code {code}")
        return None

    def judged(self, mutant: Mutant, modes: list[str], near: bool) -> dict[str, str | None]:
        """What notices a mistake, by mode; a later mode is asked only if the earlier one notices nothing."""
        copy = self.free.get()
        target, found = copy / mutant.file, {}
        source = (ROOT / mutant.file).read_text(encoding="utf-8")
        try:
            target.write_text(mutants.mutated(source, mutant), encoding="utf-8")
            for mode in modes:
                found[mode] = self.noticed_by(copy, mutant, mode, near)
                if found[mode] is not None:
                    break
            return found
        finally:
            target.write_text(source, encoding="utf-8")
            self.free.put(copy)
