"""The text of a function, and what its text says: which global names it reads, and what it changes by itself.

A function is known by its own text where there is one, so that it is the same function for every version of Python. Code that has
no text (typed at a prompt, made by `exec`) is known by its instructions, which only the same version of Python writes alike.
"""

import ast
import dis
import inspect
import sys
import textwrap
import warnings
from functools import lru_cache
from hashlib import blake2b
from types import CodeType

# Methods of the usual containers that change them.
_CHANGING = {"add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem", "popleft", "push", "put",
             "remove", "reverse", "setdefault", "sort", "update", "write", "writelines"}


def digest(content: str | bytes) -> str:
    """A short name for a long text."""
    return blake2b(content if isinstance(content, bytes) else content.encode(errors="surrogatepass"), digest_size=8).hexdigest()


def text_of(code: CodeType) -> str | None:
    """The text of one function: of a lambda its own part of the line. None where there is no text, where it does not tell which
    of several lambdas is meant, and where it is that of something else: the file was edited, or shares its name ("<string>")."""
    try:
        if code.co_name != "<lambda>":
            text = textwrap.dedent(inspect.getsource(code))
            return text if _defines(_tree(text).body[0], code) else None
        lines, _ = inspect.findsource(code)
        return _of_lambda("".join(lines), code)
    except (OSError, TypeError, SyntaxError, ValueError, IndexError):
        return None


def _defines(node: ast.AST, code: CodeType) -> bool:
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or node.name != code.co_name:
        return False
    own = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    return len(own) == code.co_argcount and all(ours.endswith(its) for ours, its in zip(code.co_varnames, own, strict=False))


def _of_lambda(text: str, code: CodeType) -> str | None:
    places = [(line, column, last, end) for line, last, column, end in code.co_positions() if column is not None and end]
    if not places:  # Python was told to keep no columns
        return None
    begin, end = min(place[:2] for place in places), max(place[2:] for place in places)
    around = [(node.end_lineno - node.lineno, node.end_col_offset - node.col_offset, text)
              for node, text in _lambdas(text)
              if (node.lineno, node.col_offset) <= begin and end <= (node.end_lineno, node.end_col_offset)]
    return min(around)[2] if around else None


@lru_cache(maxsize=64)
def _tree(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python has warned of it before
        return ast.parse(text)


@lru_cache(maxsize=4)
def _lambdas(text: str) -> list[tuple[ast.Lambda, str]]:
    nodes = [node for node in ast.walk(_tree(text)) if isinstance(node, ast.Lambda)]
    return [(node, ast.get_source_segment(text, node) or "") for node in nodes]


def code_of(code: CodeType) -> str:
    """What tells the function's own code from that of others: a digest of its text, or of its instructions."""
    text = text_of(code)
    if text is not None:
        return f"text {digest(text)}"
    version = ".".join(map(str, sys.version_info[:2]))
    return f"instructions of Python {version} {digest(repr(_instructions(code)))}"


def _instructions(code: CodeType) -> tuple:
    """Without the places in files, which say nothing about what is computed."""
    constants = tuple(_instructions(one) if isinstance(one, CodeType) else
                      repr(sorted(map(repr, one))) if isinstance(one, frozenset) else repr(one) for one in code.co_consts)
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars


def comparable(code: str, other: str) -> bool:
    """Were two answers of `code_of` found in the same way?"""
    return code.rpartition(" ")[0] == other.rpartition(" ")[0]


def global_names(code: CodeType) -> dict[str, set[str]]:
    """The global names that a function reads, each with the attributes that it reads of that (`settings.width`)."""
    found: dict[str, set[str]] = {}
    for one in _nested(code):
        before = None
        for instruction in dis.get_instructions(one):
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                before = instruction.argval
                found.setdefault(before, set())
                continue
            if instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and before is not None:
                found[before].add(instruction.argval)
            before = None
    return found


def _nested(code: CodeType) -> list[CodeType]:
    """A function's code, and that of all functions within it."""
    return [code, *(inner for one in code.co_consts if isinstance(one, CodeType) for inner in _nested(one))]


def changed_names(code: CodeType) -> set[str] | None:
    """What a function changes by itself: `count` (declared nonlocal or global), `log` (`log.append(x)`, `best[0] = y`),
    `self.calls`. Such a value is a record of the run and no parameter. None where there is no text to see it in."""
    stored = {instruction.argval for one in _nested(code) for instruction in dis.get_instructions(one)
              if instruction.opname in ("STORE_GLOBAL", "STORE_DEREF", "DELETE_GLOBAL", "DELETE_DEREF")}
    text = text_of(code)
    try:
        tree = None if text is None else _tree(f"({text})" if code.co_name == "<lambda>" else text)
    except SyntaxError:  # a part of a statement, such as a property's lambda
        tree = None
    return None if tree is None else stored.union(*map(_changed_by, ast.walk(tree)))


def _changed_by(node: ast.AST) -> set[str]:
    """The names whose values a node changes: an assignment to an attribute or an element, a method that changes a container, an
    array that is given as `out=`."""
    if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
        return _names_of(node if isinstance(node, ast.Attribute) else node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGING:
        return _names_of(node.func.value)
    return _names_of(node.value) if isinstance(node, ast.keyword) and node.arg == "out" else set()


def _names_of(place: ast.AST) -> set[str]:
    """Of `a.b[c].d` the names `a` and `a.b`."""
    attribute = None
    while isinstance(place, (ast.Attribute, ast.Subscript)):
        attribute = place.attr if isinstance(place, ast.Attribute) else None
        place = place.value
    if not isinstance(place, ast.Name):
        return set()
    return {place.id} if attribute is None else {place.id, f"{place.id}.{attribute}"}
