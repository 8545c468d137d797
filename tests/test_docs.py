"""Every Python example of the README and the documents runs."""

import linecache
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(p for p in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")] if "```python" in p.read_text())


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_examples_run(page, capsys, monkeypatch):
    """The blocks of a page share their names, as a reader's session does."""
    names: dict = {}
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.S)
    for k, block in enumerate(blocks):
        name = f"{page.name}, example {k + 1}"
        monkeypatch.setitem(linecache.cache, name, (len(block), None, block.splitlines(True), name))  # as notebooks do
        exec(compile(block, name, "exec"), names)
    assert blocks


def test_the_readme_shows_what_is_printed(capsys):
    """Every digit, the time and the device aside."""
    example, shown = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", (ROOT / "README.md").read_text(), re.S).groups()
    exec(example, {})
    said, shown = (re.sub(r"[\d.]+ s\n|on \S+\n", "", text) for text in (capsys.readouterr().out, shown))
    assert said == shown


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"
