"""Is a journal of the problem that is to be solved? Two descriptions compared, and what differs said for people."""

import json
from collections.abc import Iterator
from typing import Any

from infimum.blackbox.identity import differences
from infimum.errors import JournalError

_WHERE_BOTH = {"choice_values", "program"}  # known of some problems, and not to infimum 0.2


def refuse_other_problem(path: str, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    """Raises if two descriptions differ, and says in what."""
    said = "; ".join(_differences(theirs, json.loads(json.dumps(ours))))
    if said:
        raise JournalError(f"the journal {path} is of another problem: {said}. Give another file; its trials can be used for a "
                           "warm start")


def has_identities(problem: dict[str, Any]) -> bool:
    """Does a journal say what its functions were bound to? Those of infimum 0.2 do not."""
    return all("identity" in part for part in problem.get("functions", ()))


def _differences(theirs: dict[str, Any], ours: dict[str, Any]) -> Iterator[str]:
    for name in {**theirs, **ours}:
        was, now = theirs.get(name), ours.get(name)
        if was == now or name in _WHERE_BOTH and None in (was, now) or name == "args" and has_identities(theirs):
            continue
        if name == "functions" and was and now:
            yield from _of_functions(was, now, "the functions")
        elif name == "inner" and was and now:
            yield from _of_inner(was, now)
        elif name == "program":
            yield f"the program {now.rpartition(' ')[0]} has changed"
        elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
            i = next(k for k, (a, b) in enumerate(zip(was, now, strict=True)) if a != b)
            yield f"{name}[{i}] was {was[i]!r}, and is {now[i]!r}"
        else:
            yield f"{name} was {was!r}, and is {now!r}"


def _of_inner(theirs: dict[str, Any], ours: dict[str, Any]) -> Iterator[str]:
    """Of nested problems; an option that one of two versions does not have is none. An option lp that is left out was False once,
    and is None: both prove the same minima."""
    for name in {**theirs, **ours}:
        was, now = theirs.get(name), ours.get(name)
        if name == "options":
            yield from (f"inner option {key} was {was[key]!r}, and is {now[key]!r}"
                        for key in now if key in (was or {}) and was[key] != now[key]
                        and (key, was[key], now[key]) != ("lp", False, None))
        elif name == "constraints":
            yield from _of_functions(was, now, "the inner constraints")
        elif name == "simulate" and was and now:
            yield from _of_functions([was], [now], "simulate")
        elif was != now:
            yield f"inner {name} was {was!r}, and is {now!r}"


def _of_functions(theirs: list[dict[str, Any]], ours: list[dict[str, Any]], what: str) -> Iterator[str]:
    if len(theirs) != len(ours):
        yield "{} were {}, and are {}".format(what, *(", ".join(f"`{part['name']}`" for part in parts) or "none"
                                                      for parts in (theirs, ours)))
        return
    changes = [change for a, b in zip(theirs, ours, strict=True) for change in _of_function(a, b)]
    yield from dict.fromkeys(changes)  # of a nested problem, one function may stand for two


def _of_function(theirs: dict[str, Any], ours: dict[str, Any]) -> Iterator[str]:
    """What is another of a function."""
    name, was, now = ours["name"], *("maximum" if part.get("maximise") else "minimum" for part in (theirs, ours))
    if theirs["name"] != name:
        yield f"the function was `{theirs['name']}`, and is `{name}`"
        return
    if "identity" in theirs:
        yield from (f"of `{name}`, {one}" if one != "its source has changed" else f"the source of `{name}` has changed"
                    for one in differences(theirs["identity"], ours["identity"]))
    elif theirs["source"] != ours["source"]:
        yield f"the source of `{name}` has changed"
    elif theirs.get("args") != ours.get("args"):
        yield f"the args of `{name}` were {theirs.get('args')}, and are {ours.get('args')}"
    if was != now:
        yield f"the {was} of `{name}` was searched for, and now it is the {now}"
    if theirs.get("ends") != ours.get("ends"):
        yield f"the ends of `{name}` have changed"
