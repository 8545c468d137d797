"""The house rules that a reader relies on: imports point down, public names are exported once."""

import ast
from pathlib import Path

import infimum

ROOT = Path(infimum.__file__).parent
LAYERS = ["late", "notebook", "errors", "checks", "habits", "files", "watch", "environment", "constraint", "unions", "cover",
          "text", "minimisers", "exact", "bounds", "start_boxes", "problem", "integrality", "trials", "constraint_table", "plain",
          "plotting", "result", "maximised", "problems", "expr", "interval", "lower", "backend", "enclosures", "agreement",
          "evaluate", "reduced", "engine", "objective", "black_box", "ask_tell", "provers", "portions", "solve",
          "inner", "nesting", "fitting", "ampl", "pyomo", "networks", "cli", "__main__"]
# beyond the order: backends spell kernels, rules know no Expr, engines reach a machine through the Evaluator
NEVER = {"backend": {"expr", "interval"}, "interval": {"expr"}, "engine": {"backend", "interval"}}


# folders and files of the engine in the order in which they may use one another: everybody may know the best point so far
ENGINE = ["goal", "running", "regions", "points.descent", "points.incumbent", "parts", "second_order.outward",
          "linear_programs", "points", "second_order", "answer", "branch", "localisation", "rounds", "root", "newton", "complete",
          "constrained", "subdomain", "sublevel", "auto", "substituted", "index"]


def _name(path: Path) -> str:
    """The module that a file holds."""
    return ".".join(("infimum", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


MODULES = {_name(path): path for path in ROOT.rglob("*.py")}


def imports_of(text: str) -> set[str]:
    """The modules of infimum that a text imports, wherever in it: inside functions and for type checkers too."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "infimum":
            names = {alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            found |= {full if full in MODULES else f"infimum.{name}" if node.module == "infimum" else node.module
                      for name, full in names.items()}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.split(".")[0] == "infimum"}
    return found


IMPORTS = {name: imports_of(path.read_text()) for name, path in MODULES.items()}


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Nodes of which each leads to the next, and the last to the first; empty if there are none."""
    done: set[str] = set()

    def walk(path: list[str]) -> list[str]:
        for following in sorted(graph.get(path[-1], ())):
            if following in path:
                return path[path.index(following):]
            if following not in done and (found := walk([*path, following])):
                return found
        done.add(path[-1])
        return []
    return next((found for name in graph if (found := walk([name]))), [])


def _imports(path: Path) -> set[str]:
    """The layers that a file imports from."""
    return {name.split(".")[1] for name in IMPORTS[_name(path)] if name != "infimum"}


def _files() -> list[tuple[str, Path]]:
    files = [p for p in MODULES.values() if p != ROOT / "__init__.py"]
    return [(p.relative_to(ROOT).parts[0].removesuffix(".py"), p) for p in files]


def test_no_module_hides_a_public_name():
    """A module that is imported becomes an attribute of its package, in place of a function of the same name."""
    assert not {name for name in infimum.__all__ if f"infimum.{name}" in MODULES}


def test_every_file_belongs_to_a_layer():
    assert {layer for layer, _ in _files()} == set(LAYERS)


def test_imports_point_down():
    wrong = [f"{path.relative_to(ROOT)} imports {name}" for layer, path in _files() for name in _imports(path)
             if LAYERS.index(name) > LAYERS.index(layer) or name in NEVER.get(layer, ())]
    assert not wrong


def test_the_rule_would_notice():
    assert _imports(ROOT / "evaluate.py") >= {"backend", "lower", "expr", "problem"}
    assert LAYERS.index("backend") > LAYERS.index("expr")


def test_no_modules_import_each_other():
    """Neither directly nor by way of others, and nowhere in a file. The package itself only says where public names live."""
    graph = {name: found - {"infimum"} for name, found in IMPORTS.items() if name != "infimum"}
    assert circle(graph) == []


def test_a_circle_would_be_noticed():
    late = "def f():\n    from infimum.b import g\n"
    typing = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from infimum.expr import node\n"
    assert imports_of(late) == {"infimum.b"} and imports_of(typing) == {"infimum.expr.node"}
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"d", "b"}, "d": set()}) == ["b", "c"]


def test_the_engine_points_down():
    prefix = "infimum.engine."
    engine = {name.removeprefix(prefix): found for name, found in IMPORTS.items() if name.startswith(prefix)}

    def place(name: str) -> str | None:
        return max((row for row in ENGINE if f"{name}.".startswith(f"{row}.")), key=len, default=None)
    assert {place(name) for name in engine} == set(ENGINE)
    used = {name: {other.removeprefix(prefix) for other in found} & set(engine) for name, found in engine.items()}
    assert not [f"{name} imports {other}" for name, found in used.items() for other in found
                if ENGINE.index(place(other)) > ENGINE.index(place(name))]


def test_public_names_are_documented_and_exported_once():
    assert len(set(infimum.__all__)) == len(infimum.__all__)
    for name in infimum.__all__:
        thing = getattr(infimum, name)
        assert thing.__doc__, name


def test_errors_that_users_see_have_public_names():
    """All of ours stand in infimum.errors and are exported. Commands print theirs, without its name."""
    found = {"infimum.errors": set()}
    for name, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text())):
            bases = {getattr(base, "id", getattr(base, "attr", "")) for base in getattr(node, "bases", ())}
            if isinstance(node, ast.ClassDef) and (bases & set(vars(infimum.errors)) or node.name == "InfimumError"):
                found.setdefault(name, set()).add(node.name)
    assert found.pop("infimum.cli.command") == {"CommandError"}
    assert found.pop("infimum.errors") <= set(infimum.__all__) and not found


def test_files_stay_readable():
    long = [f"{p.relative_to(ROOT)}: {count}" for _, p in _files() if (count := p.read_text().count("\n")) > 500]
    assert not long


def test_the_gallery_is_there_by_name():
    assert infimum.problems.get("rastrigin", 3).n == 3
