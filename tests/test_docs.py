"""Every Python example of the documents runs, their links lead somewhere, and the API reference is that of the code."""

import linecache
import re
from pathlib import Path

import pytest

import infimum
from docs.generate_api import DOCUMENT, document

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
PAGES = [p for p in DOCUMENTS if "```python" in p.read_text()]


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
    for page in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_document_is_in_the_index():
    index = (ROOT / "docs" / "README.md").read_text()
    missing = [p.name for p in (ROOT / "docs").glob("*.md") if p.name != "README.md" and f"({p.name})" not in index]
    missing += [p.name for p in (ROOT / "examples").glob("*.py") if f"(../examples/{p.name})" not in index]
    assert not missing


def test_the_api_reference_is_up_to_date():
    assert DOCUMENT.read_text(encoding="utf-8") == document(), "run `python dev.py docs`"


def test_the_api_reference_holds_every_public_name():
    text = document()
    assert [name for name in infimum.__all__ if not re.search(rf"^##.*`{name}`", text, re.M)] == []
    for sentence in ("* `PROVED`: the global minimum", "* `particles`", "`Evaluator.gradient(lo: Any, hi: Any) -> Derivative`",
                     "    * `UserFunctionError`", "engine: str = \"auto\"", "| `lower` | `float` |"):
        assert sentence in text
