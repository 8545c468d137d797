"""The house rules that a reader relies on: imports point down, public names are exported once."""

import ast
from pathlib import Path

import infimum

ROOT = Path(infimum.__file__).parent
LAYERS = ["errors", "watch", "environment", "unions", "cover", "plain", "text", "problem", "plotting", "result", "problems",
          "expr", "interval", "lower", "backend", "evaluate", "engine", "solve", "cli", "__main__"]
# beyond the order: backends spell kernels, rules know no Expr, engines reach a machine through the Evaluator
NEVER = {"backend": {"expr", "interval"}, "interval": {"expr"}, "engine": {"backend", "interval"}}


def _imports(path: Path) -> set[str]:
    """The infimum modules a file imports, wherever in the file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "infimum":
            parts = node.module.split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("infimum.")}
    return found


def _files() -> list[tuple[str, Path]]:
    files = [p for p in ROOT.rglob("*.py") if p != ROOT / "__init__.py"]
    return [(p.relative_to(ROOT).parts[0].removesuffix(".py"), p) for p in files]


def test_every_file_belongs_to_a_layer():
    assert {layer for layer, _ in _files()} == set(LAYERS)


def test_imports_point_down():
    wrong = [f"{path.relative_to(ROOT)} imports {name}" for layer, path in _files() for name in _imports(path)
             if LAYERS.index(name) > LAYERS.index(layer) or name in NEVER.get(layer, ())]
    assert not wrong


def test_the_rule_would_notice():
    assert _imports(ROOT / "evaluate.py") >= {"backend", "lower", "expr", "problem"}
    assert LAYERS.index("backend") > LAYERS.index("expr")


def test_public_names_are_documented_and_exported_once():
    assert len(set(infimum.__all__)) == len(infimum.__all__)
    for name in infimum.__all__:
        thing = getattr(infimum, name)
        assert thing.__doc__, name


def test_files_stay_readable():
    long = [f"{p.relative_to(ROOT)}: {count}" for _, p in _files() if (count := p.read_text().count("\n")) > 500]
    assert not long


def test_the_gallery_is_there_by_name():
    assert infimum.problems.get("rastrigin", 3).n == 3
