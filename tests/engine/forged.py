"""Values that no run has written, for files that pass their checksum."""

import hypothesis.strategies as st
import numpy as np

ODD = st.sampled_from([None, True, -1, 0, 1, 3, 2**31, 2**63, 10**400, -0.0, 0.5, 1e308, float("inf"), float("nan"), "", "1",
                       "x" * 50, [], [1], [[0]], [None, "a"], {}, {"a": 1}, {"1": [2]}, [[[[]]]]])


def _replaced(tree, path, value):
    """The tree with another value at a path of keys."""
    if not path:
        return value
    key, *rest = path
    if isinstance(tree, dict):
        return {**tree, key: _replaced(tree[key], rest, value)}
    return [_replaced(one, rest, value) if k == key else one for k, one in enumerate(tree)]


def _removed(tree, path):
    key, *rest = path
    if rest:
        return _replaced(tree, [key], _removed(tree[key], rest))
    return {name: one for name, one in tree.items() if name != key} if isinstance(tree, dict) else tree[:key] + tree[key + 1:]


def _paths(tree, path=()):
    """The paths to all parts of a tree of JSON."""
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [path, *(found for key, one in inner for found in _paths(one, (*path, key)))]


@st.composite
def trees(draw, tree):
    """The tree with one to three parts replaced by odd ones, or removed."""
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(_paths(tree)))
        tree = _removed(tree, path) if path and draw(st.booleans()) else _replaced(tree, path, draw(ODD))
    return tree


@st.composite
def arrays(draw, array):
    """Another array: of another type or shape, or with other numbers in it."""
    how = draw(st.sampled_from(["type", "shape", "longer", "shorter", "number", "empty", "numbers"]))
    odd = draw(st.sampled_from([np.nan, np.inf, -np.inf, -1, 0, 1e300, 1e9, 127, 5e-324]))
    with np.errstate(all="ignore"):
        if how == "type":
            return array.astype(draw(st.sampled_from(["f8", "f4", "i8", "i1", "u1", "b1", ">f8"])))
        odd = np.asarray(odd).astype(array.dtype)
    if how == "shape":
        return array.ravel() if array.ndim > 1 else array[None]
    if how == "longer":
        return np.concatenate([array, array], axis=draw(st.integers(0, array.ndim - 1)))
    if how in ("shorter", "empty"):
        return array[:-1] if how == "shorter" else array[..., :0]
    array = array.copy()
    if how == "numbers":
        array[...] = odd
    elif array.size:
        array.flat[draw(st.integers(0, array.size - 1))] = odd
    return array
