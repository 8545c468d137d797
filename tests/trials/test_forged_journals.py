"""Journals that are damaged, or that somebody has made: an error of ours that names the file, or a run that ends; no other
exception, and no work without end. INFIMUM_FORGED=2000 tries as many, not a few."""

import json
import os
import shutil
import warnings
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

import infimum
from infimum.blackbox import journal_lines
from infimum.blackbox.journal import salvage
from infimum.blackbox.journal_reading import parsed, read_journal
from infimum.blackbox.journal_resume import resume_hint
from infimum.support.output_files import FileWarning
from tests.engine.forged import trees
from tests.trials.journals_0_2 import EXAMPLES

DRAWS = int(os.environ.get("INFIMUM_FORGED", 0))
FORGED = settings(max_examples=DRAWS or 25, suppress_health_check=list(HealthCheck), derandomize=not DRAWS)
TRIALS = 6


KINDS = ["function", "args", "choices", "asynchronous", "study", *(["command", "nested"] if DRAWS else [])]


@pytest.fixture(scope="module", params=KINDS)
def kept(request, tmp_path_factory):
    """A journal of this version, its lines without checksums, and the call that continues it."""
    path, call = str(tmp_path_factory.mktemp("kept") / "run.jsonl"), EXAMPLES[request.param]
    call(path, TRIALS)
    return path, lines_of(path), call


def lines_of(path):
    """What its lines say."""
    lines = map(json.loads, Path(path).read_bytes().splitlines())
    return [{name: one for name, one in line.items() if name != "check"} for line in lines]


def write(path, lines):
    """A journal of these lines, each with its right checksum."""
    check = 0
    with open(path, "wb") as file:
        for line in lines:
            text = json.dumps(line)  # with NaN and Infinity, which Python reads
            check = journal_lines.zlib.crc32(text[:-1].encode(), check)
            file.write(text[:-1].encode() + f', "check": "{check:08x}"}}\n'.encode())


def refused(path, what):
    """What the call returns; None where the file is refused by name."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FileWarning)  # a journal that says it is of version 0.2
            return what()
    except infimum.JournalError as error:
        assert path in str(error)
        return None


@FORGED
@given(st.data())
def test_lines_that_no_run_has_written(kept, data):
    path, lines, call = kept
    number = data.draw(st.integers(0, len(lines) - 1))
    forged = data.draw(trees(lines[number]))
    if data.draw(st.booleans()):
        lines = [*lines[:number], forged, *lines[number + 1:]]
    else:
        lines = [*lines[:number], *lines[number + 1:]]
    write(path, lines)
    for what in (lambda: call(path, TRIALS + 1), lambda: resume_hint(path), lambda: read_journal(path)):
        refused(path, what)


@FORGED
@given(st.data())
def test_bytes_that_are_changed_or_cut_off(kept, data):
    path, lines, _ = kept
    write(path, lines)
    whole = Path(path).read_bytes()
    at, other = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.binary(max_size=9))
    changed = data.draw(st.sampled_from([whole[:at], whole[:at] + other + whole[at + 1:], whole[:at] + whole]))
    try:
        trials = parsed("run.jsonl", changed).trials
    except infimum.JournalError as error:
        assert "run.jsonl" in str(error)
    else:
        assert trials == parsed("run.jsonl", whole).trials[:len(trials)]


@pytest.mark.parametrize("change", [
    {"asked": 10**12}, {"trial": 10**12, "asked": 10**13}, {"x": [10**400, 0]}, {"x": "00"}, {"x": [True, 0]}, {"x": [0.5]},
    {"x": [[[[0]]], 1]}, {"values": [float("nan")]}, {"values": [1.0, 2.0, 3.0], "index": 3}, {"values": [-1.0], "index": 1},
    {"index": True}, {"seconds": "long"}, {"text": 3}, {"kind": ["value"]}, {"kind": {}}, {"inner": []},
    {"inner": {"z": 1, "verdict": "PROVED", "evaluations": 1}}])
def test_numbers_that_cannot_be(change, tmp_path):
    path = str(tmp_path / "run.jsonl")
    EXAMPLES["function"](path, 2)
    header, *lines = lines_of(path)
    write(path, [header, {**lines[0], **change}, lines[1]])
    with pytest.raises(infimum.JournalError, match="is damaged: line 2 of 3 was changed"):
        EXAMPLES["function"](path, 3)


@pytest.mark.parametrize("header", [
    b"{}", b"[]", b"null", b"{" * 10**5, b'{"infimum journal": 2}', b'{"infimum journal": NaN, "version": 3}',
    b'{"infimum journal": 2, "problem": [], "settings": {}}', b'{"infimum journal": [[]]}',
    b'{"infimum journal": 2, "problem": {}, "settings": {"batch": 1000000000000}}',
    b'{"infimum journal": 2, "problem": {}, "settings": {}, "started": {"words": [1], "folder": ""}}',
    b'{"infimum journal": 2, "problem": {"bounds": [[0, Infinity]]}, "settings": {}}'])
def test_first_lines_that_say_nothing(header, tmp_path):
    path = tmp_path / "run.jsonl"
    text = header.removesuffix(b"}")
    path.write_bytes(text + f', "check": "{journal_lines.zlib.crc32(text):08x}"}}\n'.encode())
    for what in (lambda: EXAMPLES["function"](str(path), 3), lambda: infimum.resume(str(path), None),
                 lambda: salvage(path, tmp_path / "new")):
        with pytest.raises((infimum.JournalError, infimum.CheckpointError), match="run.jsonl"):
            what()


def test_a_changed_line_is_never_signed_anew(tmp_path):
    """The value of a trial, altered by hand: it is refused, and salvage leaves it out and names it."""
    path, new = tmp_path / "run.jsonl", tmp_path / "new.jsonl"
    EXAMPLES["function"](str(path), TRIALS)
    good = read_journal(path).trials
    lines = path.read_bytes().split(b"\n")
    lines[3] = lines[3].replace(b'"values": [', b'"values": [-')
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(infimum.JournalError, match="line 4 of 7 was changed"):
        EXAMPLES["function"](str(path), TRIALS)
    with pytest.warns(RuntimeWarning, match=r"1 line of .* not taken: line 4 \(its checksum is wrong\)"):
        assert salvage(path, new) == 1
    assert read_journal(new).trials == good[:2] + good[3:]
    assert EXAMPLES["function"](str(new), TRIALS + 2).trials.count == TRIALS + 2  # the lost trial is made again
    shutil.copy(new, path)
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([*lines[:2], *lines[3:]]))  # a line that is gone
    with pytest.warns(RuntimeWarning, match=r"not taken: line 3 \(its checksum is wrong\)"):
        assert salvage(path, tmp_path / "newer.jsonl") == 1
