"""Every defect that is put back is found: see defects.py."""

from contextlib import nullcontext

import pytest

from bench.related.table import one_draw, relation_of
from tests.relations.defects import DEFECTS, SEED

MOST_DRAWS = 2000


@pytest.mark.parametrize("name", DEFECTS)
def test_relations_find(name: str):
    defect = DEFECTS[name]
    assert defect.draw < MOST_DRAWS and relation_of(defect.draw) == defect.relation
    with defect.put_back() if defect.repaired else nullcontext():
        assert one_draw(SEED, defect.draw, defect.relation).wrong
    if defect.repaired:
        repaired = one_draw(SEED, defect.draw, defect.relation)
        assert not repaired.wrong and (repaired.decided or "refused" in repaired.note)
