"""Checkpoints and journals that earlier versions wrote are continued: see `old_files.py`."""

import pytest

from tests.nets.old_files import FOLDER, KEPT, continued, file_of, names

pytestmark = pytest.mark.allowance(5)  # these records notice more mistakes in a second than most other tests


@pytest.mark.parametrize("name", names())
def test_a_run_continues_from_the_file(name):
    before = file_of(name).read_bytes()
    wrong = KEPT.differences(name, continued(name))
    assert not wrong, "\n".join(wrong)
    assert file_of(name).read_bytes() == before, "a copy is continued, not the file"


def test_every_file_has_its_record():
    assert set(KEPT.read()) == set(names())
    assert {path.name for path in FOLDER.iterdir()} == {file_of(name).name for name in names() if file_of(name).parent == FOLDER}


def test_the_files_are_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 300_000
