"""Every defect that is put back is found: see defects.py."""

import pytest

from bench.related.table import one_draw, relation_of
from tests.relations.defects import DEFECTS, MOST_DRAWS, SEED


@pytest.mark.parametrize("name", DEFECTS)
def test_relations_find(name: str):
    defect = DEFECTS[name]
    assert defect.draw < MOST_DRAWS and relation_of(defect.draw) == defect.relation
    assert defect.shown(defect.draw).wrong
    without = one_draw(SEED, defect.draw, defect.relation)
    assert not without.wrong and without.decided
