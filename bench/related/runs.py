"""Relations between runs of one question: threads, how kernels are made, doors, checkpoints, workers, files."""

import io
import json
import math
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import infimum
from bench.related.answers import answer_of, other_bits, same_infimum
from bench.related.asking import (
    SETTINGS,
    Judgement,
    Refused,
    all_threads_working,
    ask,
    compiling,
    interpreting,
    patched,
    refusing,
    run,
)
from bench.related.draws import Draw, problem
from bench.related.expressions import nl_lines
from bench.related.problems import Problem
from infimum.ampl import read as read_model
from infimum.ampl.model_run import solve as solve_model
from infimum.cli.main import main as command_line
from infimum.search import rounds

_TRIES = 12
_INF = math.inf
_THREADS = (1, 2, 5)
USAGE = 2  # the exit code of a command line that is refused


def _bits(q: Problem, results: Sequence[Any], how: Sequence[str]) -> Judgement:
    """Results that are to have the same bits."""
    note = results[0].verdict.name
    for other, name in zip(results[1:], how[1:], strict=True):
        wrong = other_bits(results[0], other)
        if wrong:
            return Judgement(True, f"{how[0]} and {name}: {wrong}\n{q.snippet()}", note)
    return Judgement(True, "", note)


def threads(d: Draw) -> Judgement:
    q, _ = problem(d)
    results = []
    with all_threads_working():
        for count in _THREADS:
            results.append(run(q, threads=count))
    return _bits(q, results, [f"{count} threads" for count in _THREADS])


def interpreter(d: Draw) -> Judgement:
    """Kernels that are only interpreted, and kernels that are compiled at once."""
    q, _ = problem(d)
    results = []
    for way in (interpreting(only=True), compiling()):
        with way:
            results.append(run(q, max_boxes=500))
    return _bits(q, results, ("interpreted", "compiled"))


def compiled(d: Draw) -> Judgement:
    """A function, and the Evaluator of it."""
    q, _ = problem(d)
    with refusing():
        evaluator = infimum.compile(q.fun, q.n, threads=1)
        settings = {k: v for k, v in SETTINGS.items() if k != "threads"}
        found = infimum.minimize(evaluator, q.box, **settings, **q.arguments)
    return _bits(q, [run(q), found], ("the function", "its Evaluator"))


def resumed(d: Draw) -> Judgement:
    """A run that is stopped by a limit on boxes and goes on, and one that is not stopped."""
    q, _ = problem(d)
    engine = d.one_of(("auto", "auto", "auto", "newton", "complete", "subdomain"))
    asked = {"constraints": q.constraints} if q.rows else {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.inf")
        whole = run(q, engine=engine)
        run(q, engine=engine, max_boxes=d.one_of((1, 3, 10, 30, 100)), checkpoint=path)
        with refusing():
            rest = infimum.resume(path, q.fun, max_boxes=SETTINGS["max_boxes"], threads=1, progress=False, **asked)
    if whole.verdict.name == "STOPPED" or rest.verdict.name == "STOPPED":  # limits count what a step takes
        wrong = same_infimum(answer_of(whole), answer_of(rest))
        return Judgement(False, wrong and f"{wrong}\n{q.snippet()}", "STOPPED")
    return _bits(q, [whole, rest], (f"engine {engine}, not stopped", "stopped and resumed"))


def workers(d: Draw) -> Judgement:
    """Any number of workers, with the same portions."""
    q, _ = problem(d, kinds=("hilly",), rows=0.3, least=2, hard=False)
    portions, counts = d.one_of((2, 4)), (1, d.one_of((2, 3)))
    asked = {"portions": portions, "batch": 32, "xtol": 0.01, "engine": d.one_of(("auto", "auto", "subdomain", "newton"))}
    soon = type("Soon", (rounds.POLICY,), {"before": 1 << 30, "regions_a_portion": 1})  # a round as soon as there are regions
    with patched(rounds, "POLICY", soon):
        results = [run(q, workers=count, **asked) for count in counts]
    found = _bits(q, results, [f"{count} workers, {asked}" for count in counts])
    wrong = found.wrong or same_infimum(ask(q), answer_of(results[0]))
    return Judgement(results[0].rounds["rounds"] > 0, wrong and f"{wrong}\n{q.snippet()}", found.note)


# ---- the command line
def shell(*words: str) -> tuple[int, str, str]:
    """The exit code of the program, and what it prints."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = command_line(list(words))
    return code, out.getvalue(), err.getvalue()


def on_command_line(d: Draw) -> Judgement:
    """A file, and the same functions in Python."""
    q, _ = problem(d)
    maximise, question = d.chance(0.3), q.question
    flags = [f"--{name.replace('_', '-')}={SETTINGS[name]!r}" for name in ("atol", "rtol", "max_boxes", "threads")]
    flags += ["--maximise"] if maximise else []
    if d.chance(0.5) and all(isinstance(end, float) for ends in q.bounds for end in ends):
        flags.append("--bounds=" + ";".join(f"{lo!r},{hi!r}" for lo, hi in q.bounds))
        del question["bounds"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "drawn.py")
        path.write_text("\n".join([q.source, *(f"{name} = {text}" for name, text in question.items()), ""]))
        code, out, err = shell("minimize", f"{path}:f", "--json", *flags)
    if code == USAGE:
        raise Refused(err)
    told, ours = json.loads(out), json.loads(run(q, "maximize" if maximise else "minimize").to_json())
    for name in ("verdict", "lower", "upper", "fun", "x", "nfev", "nit", "feasible", "boxes"):
        if told[name] != ours[name]:
            return Judgement(True, f"{name} is {told[name]!r} on the command line and {ours[name]!r} in Python\n{q.snippet()}",
                             told["verdict"])
    return Judgement(True, "", told["verdict"])


# ---- AMPL
def nl_text(q: Problem, maximise: bool) -> str | None:
    """The problem as a .nl file, whole numbers last; None where it cannot be written there."""
    order = sorted(range(q.n), key=q.is_whole)
    bodies = [nl_lines(e) for e in (q.f, *(row.e for row in q.rows))]
    ends = [*q.bounds, *((row.lo, row.hi) for row in q.rows)]
    if None in bodies or q.view is not None or any(not isinstance(end, (int, float)) for pair in ends for end in pair):
        return None
    place = {f"v{i}": f"v{k}" for k, i in enumerate(order)}
    body, *rows = [[place.get(line, line) for line in lines] for lines in bodies]
    n, m, whole = q.n, len(q.rows), sum(q.integers)
    equations = sum(row.lo == row.hi for row in q.rows)
    lines = ["g3 1 1 0", f" {n} {m} 1 0 {equations} 0", f" {m} 1", " 0 0", f" {n} {n} {n}", " 0 0 0 1", f" 0 0 {whole} 0 0",
             " 0 0", " 0 0", " 0 0 0 0 0"]
    for k, row in enumerate(rows):
        lines += [f"C{k}", *row]
    lines += [f"O0 {int(maximise)}", *(["o16", *body] if maximise else body)]
    lines += ["r", *(_range(row.lo, row.hi) for row in q.rows)] if m else []
    return "\n".join([*lines, "b", *(_range(*q.bounds[i]) for i in order), ""])


def _range(lo: float, hi: float) -> str:
    """Both ends of a constraint or a variable."""
    if lo == hi:
        return f"4 {lo!r}"
    if lo == -_INF:
        return "3" if hi == _INF else f"1 {hi!r}"
    return f"2 {lo!r}" if hi == _INF else f"0 {lo!r} {hi!r}"


def ampl(d: Draw) -> Judgement:
    """A model's file, and the same functions in Python."""
    for _ in range(_TRIES):
        q, _ = problem(d, kinds=("wild", "steps", "edges", "smooth", "powers"))
        text = nl_text(q, d.chance(0.3))
        if text is not None:
            break
    else:
        return Judgement(False, note="no .nl file")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "drawn.nl")
        path.write_text(text)
        with refusing():
            found, _ = solve_model(read_model(path), settings=dict(SETTINGS))
    ours, theirs = ask(q), answer_of(found)
    theirs = replace(theirs, boxes=None)  # their variables have another order
    wrong = same_infimum(ours, theirs)
    return Judgement(ours.ended and theirs.ended, wrong and f"{wrong}\n{q.snippet()}\n{text}", f"{ours.verdict} {theirs.verdict}")
