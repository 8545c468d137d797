"""The mistakes that bench/mutations.py makes: each changes one place, and the kept ones are still there."""

import ast

import pytest

from bench import mutants

SOURCE = '''
def outer(x: int = 1):
    """A text with 1 < 2."""
    if not x.lo < 2:
        raise ValueError(f"{1 + 1}")
    return up(max(x.hi,
                  x.lo)) - 1.5
'''
MISTAKES = {
    "condition 0": "not x.lo < 2", "comparison 0": "x.lo < 2", "constant 0": "2", "constant 1": "1.5", "end 0": "x.lo",
    "end 1": "x.hi", "end 2": "x.lo", "extreme 0": "max", "sign 0": "up(max(x.hi, x.lo)) - 1.5",
    "term 0": "up(max(x.hi, x.lo)) - 1.5", "rounding 0": "up", "rounding dropped 0": "up(max(x.hi, x.lo))"}


def test_no_mistake_is_made_in_texts_types_defaults_and_errors():
    found = mutants.mutants_of("a.py", SOURCE)
    assert {f"{m.kind} {m.number}": m.was for m in found} == MISTAKES
    assert {m.function for m in found} == {"outer"}


@pytest.mark.parametrize("mutant", mutants.mutants_of("a.py", SOURCE), ids=lambda m: f"{m.kind} {m.number}")
def test_a_mistake_changes_one_place_and_no_line(mutant):
    text = mutants.mutated(SOURCE, mutant)
    assert text.count("\n") == SOURCE.count("\n")
    assert ast.dump(ast.parse(text)) != ast.dump(ast.parse(SOURCE))
    assert ast.dump(ast.parse(text.replace(mutant.text, mutant.was, 1))) == ast.dump(ast.parse(SOURCE))


def test_the_kept_places_are_still_there():
    """At least most of them: a place that an edit has removed is reported by the benchmark, and does not count."""
    names = [line.partition(": ")[0] for line in mutants.KEPT.read_text(encoding="utf-8").splitlines()]
    assert len(names) == len(set(names)) == 300
    files = {name.partition(" ")[0] for name in names}
    present = {m.name for file in files if (mutants.ROOT / file).exists()
               for m in mutants.mutants_of(file, (mutants.ROOT / file).read_text(encoding="utf-8"))}
    assert len(present & set(names)) >= 250
