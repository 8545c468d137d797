"""The same bits as on the machine that kept the fingerprint, whatever the lanes and threads."""

import json

import pytest

from infimum.backend.cpu import CpuBackend, host
from tests.evaluate.fingerprint import KEPT, fingerprint


@pytest.mark.parametrize("lanes", host().widths())
def test_the_answers_are_those_that_were_kept(lanes):
    kept = json.loads(KEPT.read_text())
    found = fingerprint(CpuBackend(lanes=lanes, threads=2))
    assert found.keys() == kept.keys()
    assert {name for name in kept if kept[name] != found[name]} == set()
