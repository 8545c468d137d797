"""Random models against a plain recursive evaluation, and damaged files: nothing but errors of ours."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import infimum
from infimum.errors import ModelFileError
from tests.ampl.helpers import binary, model_of, nl

N = 5
Tree = tuple  # (operator, operands ...), ("n", value) or ("v", index)
BINARY: dict[int, Callable] = {0: lambda a, b: a + b, 1: lambda a, b: a - b, 2: lambda a, b: a * b, 12: max, 11: min,
                               3: lambda a, b: a / (2 + abs(b))}  # written so that it is defined
UNARY: dict[int, Callable] = {16: lambda a: -a, 41: math.sin, 49: math.atan, 15: abs, 37: math.tanh, 77: lambda a: a * a}

LEAVES = st.one_of(st.tuples(st.just("v"), st.integers(0, N - 1)),
                   st.tuples(st.just("n"), st.sampled_from([-2.0, 0.5, 0.0, 3.0])))
TREES = st.recursive(LEAVES, lambda inner: st.one_of(
    st.tuples(st.sampled_from(sorted(BINARY)), inner, inner), st.tuples(st.sampled_from(sorted(UNARY)), inner),
    st.lists(inner, min_size=1, max_size=6).map(lambda some: (54, *some))), max_leaves=12)


def lines_of(tree: Tree, shift: int = 0) -> list[str]:
    """The tree in prefix notation, with its variables moved on."""
    kind, *rest = tree
    if kind == "v":
        return [f"v{(rest[0] + shift) % N}"]
    if kind == "n":
        return [f"n{rest[0]!r}"]
    inner = [lines_of(part, shift) for part in rest]
    if kind == 3:
        return ["o3", *inner[0], "o0", "n2", "o15", *inner[1]]
    count = [str(len(rest))] if kind in (11, 12, 54) else []
    return [f"o{kind}", *count, *(line for part in inner for line in part)]


def value_of(tree: Tree, x: np.ndarray, shift: int = 0) -> float:
    kind, *rest = tree
    if kind == "v":
        return float(x[(rest[0] + shift) % N])
    if kind == "n":
        return rest[0]
    inner = [value_of(part, x, shift) for part in rest]
    return math.fsum(inner) if kind == 54 else (BINARY | UNARY)[kind](*inner)


QUIET = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@QUIET
@given(tree=TREES, other=TREES, seed=st.integers(0, 2**32 - 1))
def test_groups_mean_what_their_members_do(tmp_path, tree, other, seed):
    """A sum of the same tree over shifted variables, with another in between; and constraints of both."""
    body = [*(lines_of(tree, k) for k in range(N)), lines_of(other)]
    text = nl(["o54", str(len(body)), *(line for part in body for line in part)], n=N, constraints=body,
              defined=[lines_of(other)], rows=[[(0, 1.5)]] * (N + 1))
    model = model_of(tmp_path, text)
    x = np.random.default_rng(seed).uniform(-2, 2, N)
    values = [*(value_of(tree, x, k) for k in range(N)), value_of(other, x)]
    size = 1 + max(map(abs, values))
    assert model.fun(x) == pytest.approx(math.fsum(values), rel=1e-11, abs=1e-11 * size)
    for constraint, rows in zip(model.constraints, model.rows, strict=True):
        assert constraint.fun(x) == pytest.approx([values[i] + 1.5 * x[0] for i in rows], rel=1e-11, abs=1e-11 * size)
    assert model_of(tmp_path, binary(text)).fun(x) == model.fun(x)


@settings(parent=QUIET, max_examples=15)
@given(tree=TREES, seed=st.integers(0, 2**32 - 1))
def test_enclosures_contain_values(tmp_path, tree, seed):
    fun = model_of(tmp_path, nl(lines_of(tree), n=N)).fun
    x = np.random.default_rng(seed).uniform(-2, 2, N)
    around = infimum.enclose(fun, [(v - 0.01, v + 0.01) for v in x])
    wanted = value_of(tree, x)
    assert around.lo - 1e-12 * abs(wanted) <= wanted <= around.hi + 1e-12 * abs(wanted)


TEXT = nl(["o54", "4", "v0", "o35", "o22", "v0", "n1", "v1", "n2", "o64", "2", "n1", "n0", "n2", "v0", "v2"], n=2,
          defined=[["o5", "v0", "n2"]], constraints=[["o41", "v1"], ["o44", "v2"]], rows=[[(0, 1.0)], [(1, 2.5)]],
          gradient=[(0, 1.0)], more=["x1", "0 0.5", "S4 1 weight", "1 2.5", "k1", "1"])
FILES = [TEXT.encode(), binary(TEXT), binary(TEXT, big_endian=True)]


def _survives(tmp_path, data: bytes) -> None:
    """The file is a model, whose functions have values, or an error of ours."""
    try:
        model = model_of(tmp_path, data)
    except ModelFileError as error:
        assert "model.nl, " in str(error)
        return
    for fun in (model.fun, *(constraint.fun for constraint in model.constraints)):
        fun(np.full(model.n, 0.5))


@pytest.mark.parametrize("data", FILES, ids=["text", "little-endian", "big-endian"])
def test_no_part_of_a_file_is_a_model(tmp_path, data):
    model_of(tmp_path, data)
    for end in range(len(data) - 1):
        if data[:1] == b"g" and data[end:].strip(b"0.\n") == b"":
            continue  # only the digits behind the point, or the last line's end, are missing
        with pytest.raises(ModelFileError):
            model_of(tmp_path, data[:end])


@settings(parent=QUIET, max_examples=300)
@given(which=st.sampled_from(range(len(FILES))), data=st.data())
def test_damaged_files(tmp_path, which, data):
    damaged = bytearray(FILES[which])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        how = data.draw(st.sampled_from(["change", "remove", "insert", "repeat"]))
        if how == "change":
            damaged[at] = data.draw(st.integers(0, 255))
        elif how == "remove":
            del damaged[at:at + data.draw(st.integers(1, 8))]
        elif how == "insert":
            damaged[at:at] = data.draw(st.sampled_from([b"\n", b"9", b"-", b"o54\n3\n", b"v0\n", b"\xff", b"1e999", b"nan"]))
        else:
            damaged[at:at] = damaged[at:at + data.draw(st.integers(1, 30))]
    _survives(tmp_path, bytes(damaged))
