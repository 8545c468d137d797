"""The house rules that a reader relies on: imports point down, public names are exported once."""

import ast
import re
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import infimum
from infimum.bounds.bound_table import ALL_TESTS
from infimum.engines import registry
from infimum.evaluation.programs import OF_SYSTEM, PROGRAMS

ROOT = Path(infimum.__file__).parent
# Folders and modules in the order in which they may import one another: each those of its own row and of the rows above it. A row
# names whole folders; files of a folder that stand in a row of their own are used by what lies between.
ORDER = """
errors support search.policy
interval
ops
plotting
trace.user_source trace.refusals
expr
problem
problems
blackbox
result problem.settings
structure
trace
kernel
backend.processor backend.disk_cache backend.worker_threads
linear_algebra
backend
KERNELS
evaluation
relax
search.callbacks search.checkpoint search.checkpoint_content search.interrupts search.limit_messages search.progress
search.driver search.option_names search.overlapped_work
search.region_outcomes search.region_heap search.region_pool
points.random_numbers points.descents points.interior_shift points.barrier_problem
points.sobol points.interior_point points.restoration
certify.equation_solutions certify.sparse_equation_solutions certify.dependent_equations certify.constraints_at_point
certify.active_constraints
search.incumbent search.feasible_incumbent
bounds
chains
points
certify
search
presolve
sets
engines
parallel
parallel.proofs
api
fitting
ampl
pyomo
networks
cli
__main__
""".split("\n")[1:-1]
# Kernels of bounds, relaxations, searches and engines, which the table of programs names: files `*_kernel.py` and `*_kernels.py`,
# and what only they are made of.
KERNEL_FILES = """
relax.affine_meaning relax.curve_lines relax.backward_composition relax.lifting relax.column_enclosures relax.lane_relaxation
relax.lane_simplex bounds.backward_propagation bounds.backward_intervals bounds.least_squares.residual_basis
bounds.least_squares.residual_slopes bounds.least_squares.residual_expansion bounds.least_squares.linear_fit
bounds.least_squares.lane_quadratic
""".split()
ROW = {name: k for k, row in enumerate(ORDER) for name in row.split()}
# beyond the order: backends spell kernels, rules know no Expr, what searches reaches a machine through the Evaluator
UPPER = ("relax", "bounds", "chains", "points", "certify", "search", "presolve", "sets", "engines")
NEVER = {"backend": {"expr", "interval", "structure", "trace"}, "interval": {"expr"}, "ops": {"expr"},
         **dict.fromkeys(UPPER, {"backend", "interval", "trace", "ops.rules", "ops.inverse_rules", "ops.line_rules",
                                 "ops.rule_forms"})}
NAMED_ONCE = ("search", "bounds", "relax", "points", "certify", "presolve", "engines")  # no base name twice among these
MOST_FILES = 25  # in a folder, beside its __init__.py
TOP_LEVEL = {"__init__", "__main__", "errors", "result", "pyomo"}

MOST_PARAMETERS = 7  # of a function, beside self and cls
# with the flat keywords of users
ENTRANCES = {"minimize", "nested", "resume", "study", "fit", "curve_fit", "compile", "confidence"}
NUMPY_SIGNATURES = {"_var", "_std"}  # with NumPy's own keywords


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


def is_kernel(name: str) -> bool:
    """Is it a kernel that the table of programs names, or only used by such kernels? `name`: without `infimum.`."""
    return name in KERNEL_FILES or (name.split(".")[0] in UPPER and name.endswith(("_kernel", "_kernels")))


def row_of(name: str) -> int | None:
    """The place of a module in the order: that of the longest of its prefixes that stands there."""
    if is_kernel(name):
        return ROW["KERNELS"]
    parts = name.split(".")
    return next((ROW[".".join(parts[:k])] for k in range(len(parts), 0, -1) if ".".join(parts[:k]) in ROW), None)


def upward(imports: dict[str, set[str]]) -> list[str]:
    """Imports that do not point down, or that are never allowed."""
    wrong = []
    for name, found in imports.items():
        own, folder = name.removeprefix("infimum."), name.split(".")[1]
        for other in (module.removeprefix("infimum.") for module in found - {"infimum"}):
            never = any(f"{other}.".startswith(f"{one}.") for one in NEVER.get(folder, ())) and not is_kernel(own)
            if row_of(other) > row_of(own) or never:
                wrong.append(f"{own} imports {other}")
    return wrong


@cache
def inside() -> dict[str, set[str]]:
    """What each module of the package imports; read when a test asks, since every worker of a run collects every file."""
    found = {name: imports_of(path.read_text()) for name, path in MODULES.items() if name != "infimum"}
    for name, modules in named_in_tables().items():
        found[name] |= {f"infimum.{module}" for module in modules}
    return found


def named_in_tables() -> dict[str, set[str]]:
    """Modules that are imported since a row of a table names them."""
    return {"infimum.evaluation.programs": {row.module for row in (PROGRAMS | OF_SYSTEM).values()},
            "infimum.bounds.bound_order": {f"bounds.{row.module}" for row in ALL_TESTS.values()},
            "infimum.engines.registry": {module for rows in (*registry._RUNS.values(), registry._OPTIONS.values())
                                         for module, _ in rows}}


def test_modules_that_tables_name_are_there():
    assert not [module for modules in named_in_tables().values() for module in modules if f"infimum.{module}" not in MODULES]


def missing_names(file: Path) -> list[str]:
    """Names of the package and of the benchmarks that a file uses and that are not there. No test runs the benchmarks."""
    tree, modules, missing = ast.parse(file.read_text(encoding="utf-8")), {}, []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in ("infimum", "bench"):
            for alias in node.names:
                holder, name = import_module(node.module), f"{node.module}.{alias.name}"
                if hasattr(holder, "__path__") and find_spec(name) is not None:
                    modules[alias.asname or alias.name] = import_module(name)
                elif not hasattr(holder, alias.name):
                    missing.append(f"{file.name}:{node.lineno} {name}")
    return missing + [f"{file.name}:{node.lineno} {modules[node.value.id].__name__}.{node.attr}" for node in ast.walk(tree)
                      if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules
                      and not hasattr(modules[node.value.id], node.attr)]


def test_benchmarks_use_names_that_are_there(tmp_path):
    files = sorted((ROOT.parent / "bench").glob("*.py"))
    assert len(files) > 50 and not [name for file in files for name in missing_names(file)]
    stale = tmp_path / "stale.py"
    stale.write_text("from infimum.bounds import bound_order\nfrom infimum.expr.node import Nothing\nbound_order.tests()\n")
    assert missing_names(stale) == ["stale.py:2 infimum.expr.node.Nothing", "stale.py:3 infimum.bounds.bound_order.tests"]


def test_no_module_hides_a_public_name():
    """A module that is imported becomes an attribute of its package, in place of a function of the same name."""
    assert not {name for name in infimum.__all__ if f"infimum.{name}" in MODULES}


def test_every_module_has_a_place_in_the_order_and_every_row_a_module():
    names = {name.removeprefix("infimum.") for name in inside()}
    assert not [name for name in names if row_of(name) is None]
    assert not [row for row in [*ROW, *KERNEL_FILES] if row not in names and row != "KERNELS"]


def test_imports_point_down():
    assert not upward(inside())


def test_an_import_that_points_up_would_be_noticed():
    assert upward({"infimum.expr.node": {"infimum.bounds.interface"}}) == ["expr.node imports bounds.interface"]
    assert upward({"infimum.search.checkpoint": {"infimum.search.rounds"}}) == ["search.checkpoint imports search.rounds"]
    assert upward({"infimum.bounds.shaving_kernel": {"infimum.evaluation.evaluator"}}), "a kernel is below the Evaluator"
    assert upward({"infimum.bounds.interface": {"infimum.backend.cpu"}}) and not upward({"infimum.bounds.interface": set()})
    assert inside()["infimum.evaluation.evaluator"] >= {"infimum.backend.cpu", "infimum.expr.node", "infimum.problem.system"}


def test_folders_can_be_looked_through():
    """No more files side by side than one takes in, and hardly any beside the folders."""
    count: dict[str, int] = {}
    for path in MODULES.values():
        folder = path.parent.relative_to(ROOT).as_posix()
        count[folder] = count.get(folder, 0) + (path.name != "__init__.py")
    assert not {folder: number for folder, number in count.items() if number > MOST_FILES}
    assert {path.stem for path in MODULES.values() if path.parent == ROOT} == TOP_LEVEL


def test_a_base_name_of_the_upper_half_says_which_file_is_meant():
    names = [path.name for path in MODULES.values() if path.name != "__init__.py"
             and path.relative_to(ROOT).parts[0] in NAMED_ONCE]
    assert len(names) > 100 and sorted({name for name in names if names.count(name) > 1}) == []


def test_no_modules_import_each_other():
    """Neither directly nor by way of others, and nowhere in a file. The package itself only says where public names live."""
    assert circle({name: found - {"infimum"} for name, found in inside().items()}) == []


def test_a_circle_would_be_noticed():
    late = "def f():\n    from infimum.b import g\n"
    typing = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from infimum.expr import node\n"
    assert imports_of(late) == {"infimum.b"} and imports_of(typing) == {"infimum.expr.node"}
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"d", "b"}, "d": set()}) == ["b", "c"]


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
    long = [f"{p.relative_to(ROOT)}: {count}" for p in MODULES.values() if (count := p.read_text().count("\n")) > 500]
    assert not long


def test_paths_that_users_import_stay():
    users = "ampl errors fitting networks plotting problems problems.constrained pyomo result __main__ cli.main"
    assert {f"infimum.{name}" for name in users.split()} <= set(MODULES)


def test_the_gallery_is_there_by_name():
    assert infimum.problems.get("rastrigin", 3).n == 3


# ---- parameters, and what a newcomer asks
def parameters_of(text):
    """How many parameters each function of a text has, beside self and cls."""
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    listed = [(f.name, [a.arg for a in (*f.args.posonlyargs, *f.args.args, *f.args.kwonlyargs)]) for f in functions]
    return [(name, len([a for a in names if a not in ("self", "cls")])) for name, names in listed]


def test_functions_below_the_entrances_take_few_parameters():
    found = {path.relative_to(ROOT).as_posix(): parameters_of(path.read_text()) for path in ROOT.rglob("*.py")}
    long = {file for file, functions in found.items()
            if any(count > MOST_PARAMETERS and name not in ENTRANCES | NUMPY_SIGNATURES for name, count in functions)}
    assert not long
    assert ("minimize", 31) in found["api/solve.py"]


# ---- numbers that steer a search
STEERED = ("relax", "points", "certify", "chains", "sets", "structure", "presolve", "bounds", "evaluation", "search", "engines")
TABLES = ("search/policy/", "bounds/bound_table.py")  # where such numbers stand


def loose_numbers(text: str) -> list[int]:
    """Lines of constants of a module that are numbers, or made of numbers, and neither read the policy nor say what fixes them.

    What fixes a number is said by a comment `fixed:` on its line or in the comment directly above. `range(n)` names positions.
    """
    lines, found = text.splitlines(), []
    for node in ast.parse(text).body:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if value is None or (isinstance(value, ast.Call) and getattr(value.func, "id", "") == "range"):
            continue
        inside = list(ast.walk(value))
        numbers = any(isinstance(n, ast.Constant) and type(n.value) in (int, float) for n in inside)
        other = any(isinstance(n, ast.Dict | ast.DictComp | ast.Lambda) or getattr(n, "id", "") == "POLICY"
                    or (isinstance(n, ast.Constant) and isinstance(n.value, str)) for n in inside)
        first = node.lineno
        while first > 1 and lines[first - 2].startswith("#"):
            first -= 1
        if numbers and not other and "# fixed: " not in "\n".join(lines[first - 1:node.end_lineno]):
            found.append(node.lineno)
    return found


def test_numbers_that_steer_a_search_stand_in_the_policy():
    files = [path for folder in STEERED for path in (ROOT / folder).rglob("*.py")]
    assert len(files) > 200
    loose = {name: found for path in files if not (name := path.relative_to(ROOT).as_posix()).startswith(TABLES)
             and (found := loose_numbers(path.read_text()))}
    assert not loose, "move these into infimum/search/policy, or say in a comment `# fixed: …` what fixes them"


def test_a_loose_number_would_be_noticed():
    loose = "_STEPS = 12\n_PARTS = 0.5, 2.0**-3  # of a step\n_BACK = np.arange(8.0)\n_MOST: int = 1 << 20\n"
    assert loose_numbers(loose) == [1, 2, 3, 4]
    assert not loose_numbers("_LOW, _HIGH = range(2)\n_NAMES = 'a', 'b'\n_HALF = POLICY.steps // 2\n"
                             "_ULP = 2.0**-52  # fixed: the rounding of doubles\n# fixed: a table,\n# of two rows\n_T = 1, 2\n")


def test_every_group_of_the_policy_says_what_shows_its_worth():
    """Each constant has a comment, on its line or above; each group names a bench that is there, or the notes and its file do."""
    for path in (ROOT / "search" / "policy").glob("*.py"):
        text, bench = path.read_text(), re.compile(r"`(bench/\w+\.py)")
        lines, tree = text.splitlines(), ast.parse(text)
        assert all((ROOT.parent / name).exists() for name in bench.findall(text)), path.name
        assert all((ROOT.parent / "bench" / "notes" / f"{name}.md").exists() for name in re.findall(r"2026-11-[\w-]+", text))
        for group in (node for node in tree.body if isinstance(node, ast.ClassDef)):
            named = bench.search(ast.get_docstring(group)) or bench.search(ast.get_docstring(tree))
            assert named or "No bench" in ast.get_docstring(group), group.name
            plain = [row.lineno for row in group.body[1:] if "  # " not in lines[row.lineno - 1]
                     and not lines[row.lineno - 2].startswith("    # ")]
            assert not plain, (path.name, plain)


def test_the_questions_of_a_newcomer_are_answered():
    text = (ROOT.parent / "CONTRIBUTING.md").read_text()
    table = text[text.index("## Questions of a newcomer"):text.index("## Glossary")]
    found = re.findall(r"`([\w/]+(?:\.py|/))`(?: \(`(\w+)`\))?", table)
    assert len(found) >= 10
    for path, name in found:
        file = ROOT / path
        assert file.exists() and (not name or re.search(rf"\b{name}\b", file.read_text())), (path, name)


def test_the_glossary_can_be_learned():
    text = (ROOT.parent / "CONTRIBUTING.md").read_text()
    rows = text[text.index("## Glossary"):text.index("## The rules of rigour")].splitlines()
    assert 10 < sum(row.startswith("| ") for row in rows) - 1 <= 25
