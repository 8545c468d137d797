"""Journals that infimum 0.2 wrote continue, with a warning of what they do not say."""

import json
import shutil
import warnings
from functools import partial

import numpy as np
import pytest

import infimum
from infimum.blackbox.journal_reading import read_journal
from infimum.support.output_files import FileWarning
from tests.trials.journals_0_2 import EXAMPLES, FOLDER, SQUARE, left_half, of_index, scaled, waves


@pytest.fixture
def old(tmp_path):
    """old(name) is a copy of a journal of that version."""
    def copy(name):
        return shutil.copy(FOLDER / f"{name}.jsonl", tmp_path / "run.jsonl")
    return copy


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_journal_of_0_2_continues(name, old):
    path = old(name)
    before = read_journal(path)
    assert before.form == 1 and len(before.trials) == 12
    noted = "its program" if name == "command" else "the values that its functions are bound to"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        r = EXAMPLES[name](str(path), 15)
    assert r.trials.count == 15 and read_journal(path).trials[:12] == before.trials
    assert [(one.category, noted in str(one.message)) for one in said] == [(FileWarning, True)] * (name != "study")
    assert json.loads(path.read_text().splitlines()[0])["infimum journal"] == 1, "lines are added to it, and nothing else"


@pytest.mark.parametrize(("name", "call", "said"), [
    ("partial", lambda path: of_index(partial(scaled, c=0.8), SQUARE, path, 15), "evaluated again it gives f = "),
    ("args", lambda path: of_index(scaled, SQUARE, path, 15, args=(0.5,)), r"args\[0\] was '0.25', and is '0.5'"),
    ("function", lambda path: of_index(waves, SQUARE, path, 15, constraints=[lambda x: left_half(x)]), "was `left_half`, and is"),
    ("function", lambda path: of_index(lambda x: waves(x), SQUARE, path, 15, constraints=[left_half]), "was `waves`, and is"),
    ("asynchronous", lambda path: of_index(np.sum, SQUARE, path, 15, options={"asynchronous": True}), "was `waves`, and is")])
def test_what_0_2_refused_or_should_have(name, call, said, old):
    path = old(name)
    before = path.read_bytes()
    with warnings.catch_warnings(), pytest.raises(infimum.JournalError, match=said):
        warnings.simplefilter("ignore", FileWarning)
        call(str(path))
    assert path.read_bytes() == before
