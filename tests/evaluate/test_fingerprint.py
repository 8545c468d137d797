"""The same bits as on the machine that kept the fingerprint, whatever the lanes, threads and control words."""

import json

from infimum.backend.cpu import CpuBackend, host
from tests.control_word import WORDS
from tests.evaluate.fingerprint import KEPT, fingerprint


def test_the_answers_are_those_that_were_kept(every_control_word):
    """With every number of lanes under the usual control word, and with the most under the others."""
    widths, kept = host().widths(), json.loads(KEPT.read_text())
    for lanes in widths if every_control_word == WORDS["nearest"] else widths[-1:]:
        found = fingerprint(CpuBackend(lanes=lanes, threads=2))
        assert found.keys() == kept.keys()
        assert {name for name in kept if kept[name] != found[name]} == set()
