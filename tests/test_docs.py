"""Every Python example of the documents runs, their links lead somewhere, and the API reference is that of the code."""

import linecache
import re
from pathlib import Path

import pytest

import infimum
from docs.generate_api import DOCUMENT, document

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "bench").rglob("*.md")])
PROOFS = sorted((ROOT / "docs" / "proofs").glob("*.md"))
PAGES = [p for p in DOCUMENTS if "```python" in p.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
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


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub makes of the headings of a page."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M)
    headings = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line) for line in re.findall(r"^#+ +(.*)$", text, re.M)]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_and_anchors_lead_somewhere(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" not in target:
            path, _, anchor = target.partition("#")
            linked = page.parent / path if path else page
            assert linked.exists(), target
            assert not anchor or anchor in anchors(linked), target


def test_every_proof_is_linked_from_the_argument_and_from_the_files_that_use_it():
    """Each page names the modules that use it, and these name the page."""
    argument = (ROOT / "docs" / "proof.md").read_text()
    for page in PROOFS:
        text, name = page.read_text(), f"docs/proofs/{page.name}"
        assert f"(proofs/{page.name})" in argument, name
        assert "\n**Statement.** " in text, name
        modules = re.findall(r"`([\w/]+\.py)`", re.search(r"^Used by (.*?)\.\s+Index:", text, re.S | re.M)[1])
        assert modules, name
        for module in modules:
            assert name in (ROOT / "infimum" / module).read_text(), f"{module} does not name {name}"
    named = {m for path in (ROOT / "infimum").rglob("*.py") for m in re.findall(r"docs/[\w/-]+\.md", path.read_text())}
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 130


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
