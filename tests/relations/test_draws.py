"""Two hundred draws of bench/relations.py: random problems, asked in ways whose answers must agree."""

import pytest

from bench.related.table import RELATIONS, one_draw, relation_of

SEED, DRAWS, TOGETHER = 1, 200, 10
QUICK = tuple(name for name, relation in RELATIONS.items() if relation.soon)


@pytest.mark.parametrize("first", range(0, DRAWS, TOGETHER))
def test_no_two_answers_contradict_each_other(first: int):
    records = [one_draw(SEED, number, relation_of(number, QUICK)) for number in range(first, first + TOGETHER)]
    for record in records:
        assert not record.wrong, f"{record.wrong}\nrepeat with: {record.repeat(SEED)}"
    assert sum(record.decided for record in records) >= TOGETHER // 2, [(r.draw, r.relation, r.note) for r in records]


@pytest.mark.parametrize("name", sorted(RELATIONS.keys() - set(QUICK)))
def test_those_that_take_longer_work(name: str):
    record = one_draw(SEED, 0, name)
    assert not record.wrong, f"{record.wrong}\nrepeat with: {record.repeat(SEED)}"


def test_every_relation_comes():
    cycle = sum(relation.share for relation in RELATIONS.values())
    drawn = [relation_of(number) for number in range(cycle)]
    assert {name: drawn.count(name) for name in RELATIONS} == {name: r.share for name, r in RELATIONS.items()}


def test_a_draw_follows_from_its_numbers():
    first, second = (one_draw(SEED, 4, "permuted") for _ in range(2))
    assert first._replace(seconds=0.0) == second._replace(seconds=0.0)
